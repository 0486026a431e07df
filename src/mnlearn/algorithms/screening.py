"""Candidates of a search among many variables: the strongest partners of each, and what is found on the way.

A search over n variables that looks at every pair takes time and memory of n². A screen lists the strongest partners of
each variable by marginal evidence, in one pass that stores no matrix. What has no marginal trace is found later: given
the first partner of each variable, among the neighbours of its neighbours, and given its whole blanket.
"""

from __future__ import annotations

from dataclasses import dataclass

from mnlearn.errors import true_or_false, whole_number
from mnlearn.graphs.candidates import Candidates, check_candidates
from mnlearn.protocols import Monitor, ScreeningJudge


@dataclass(frozen=True, kw_only=True)
class Screening:
    """How the candidates of a search are found.

    Parameters
    ----------
    k
        Number of the strongest partners of each variable by marginal evidence.
    rescans
        Whether to scan all variables again given the first partner of each, and given its blanket. It takes most of
        the time, and finds neighbours that depend on a variable only given others.
    listed
        The strongest partners, where they are known already; None to screen.

    Examples
    --------
    >>> Screening(k=10, rescans=False)
    Screening(k=10, rescans=False, listed=None)
    """

    k: int = 20
    rescans: bool = True
    listed: Candidates | None = None

    def __post_init__(self) -> None:
        whole_number("k", self.k, least=1, hint="20 is usual.")
        true_or_false(rescans=self.rescans)

    def strongest(self, judge: ScreeningJudge, monitor: Monitor) -> Candidates:
        """Return the pairs that are among the k strongest of either variable."""
        if self.listed is None:
            return judge.strongest(self.k, monitor)
        check_candidates(self.listed, judge.n_variables)
        return self.listed
