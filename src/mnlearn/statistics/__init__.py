"""Statistics: the only readers of the data."""

from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.rows import Rows
from mnlearn.statistics.sharded import Shard, ShardedCounts, row_shards
from mnlearn.statistics.tables import add_tables, score_tables

__all__ = [
    "Counts",
    "Moments",
    "Rows",
    "Shard",
    "ShardedCounts",
    "add_tables",
    "kernels",
    "row_shards",
    "score_tables",
]
