"""Analyses that learn or weigh again: samples, intervals, stability, groups."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.analysis.groups import GroupComparison
    from mnlearn.analysis.intervals import DifferenceTest, Intervals
    from mnlearn.analysis.samples import Resampling
    from mnlearn.analysis.stability import Stability

__all__ = ["DifferenceTest", "GroupComparison", "Intervals", "Resampling", "Stability"]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("intervals", "groups", "samples", "stability")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
