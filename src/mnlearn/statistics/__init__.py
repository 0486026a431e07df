"""Statistics: the only readers of the data."""

from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts, add_tables, score_tables
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.rows import Rows

__all__ = ["Counts", "Moments", "Rows", "add_tables", "kernels", "score_tables"]
