"""Results: learned networks with the names of the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.results.edges import LearnedEdge
    from mnlearn.results.explain import Why
    from mnlearn.results.learned import Learned
    from mnlearn.results.measures import Predictability
    from mnlearn.results.summary import NetworkDifference
    from mnlearn.results.targets import Blanket, BlanketMember, Screened

__all__ = [
    "Blanket",
    "BlanketMember",
    "Learned",
    "LearnedEdge",
    "NetworkDifference",
    "Predictability",
    "Screened",
    "Why",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("targets", "summary", "edges", "explain", "learned", "measures")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
