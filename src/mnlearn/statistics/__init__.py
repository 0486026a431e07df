"""Statistics: counts, moments and rows, the only readers of the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.statistics import kernels
    from mnlearn.statistics.counts import Counts
    from mnlearn.statistics.likelihoods import MixedLikelihoods
    from mnlearn.statistics.moments import Moments, TestwiseMoments
    from mnlearn.statistics.row_data import Rows
    from mnlearn.statistics.shards import Shard, ShardedCounts, row_shards
    from mnlearn.statistics.tables import add_tables, score_tables

__all__ = [
    "Counts",
    "MixedLikelihoods",
    "Moments",
    "Rows",
    "Shard",
    "ShardedCounts",
    "TestwiseMoments",
    "add_tables",
    "kernels",
    "row_shards",
    "score_tables",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("kernels", "counts", "likelihoods", "moments", "row_data", "tables", "shards")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
