"""Results: learned networks with the names of the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.results.blanket import Blanket, BlanketMember
    from mnlearn.results.difference import NetworkDifference
    from mnlearn.results.edges import LearnedEdge
    from mnlearn.results.explain import Why
    from mnlearn.results.groups import GroupComparison
    from mnlearn.results.intervals import DifferenceTest, Intervals
    from mnlearn.results.learned import Learned
    from mnlearn.results.predictability import Predictability
    from mnlearn.results.resampling import Resampling
    from mnlearn.results.screened import Screened
    from mnlearn.results.stability import Stability

__all__ = [
    "Blanket",
    "BlanketMember",
    "DifferenceTest",
    "GroupComparison",
    "Intervals",
    "Learned",
    "LearnedEdge",
    "NetworkDifference",
    "Predictability",
    "Resampling",
    "Screened",
    "Stability",
    "Why",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = (
        *("blanket", "difference", "edges", "explain", "groups", "intervals", "learned", "predictability"),
        *("resampling", "screened", "stability"),
    )
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
