"""MPL: the marginal pseudo-likelihood of a structure.

Pensar, Nyman, Niiranen & Corander, Bayesian Analysis (2017)  [MPL17]. The pseudo-likelihood (Eq. 3) multiplies the
conditional probabilities of each variable given its neighbours; new here is that their parameters are integrated
out under Dirichlet priors (Eq. 4), which has a closed form for every graph, chordal or not, and penalises complexity
by itself. The score is a sum over variables (Eq. 7), so a flip changes two terms of it (Eq. 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from mnlearn.graphs.candidates import Candidates
from mnlearn.protocols import SILENT, FloatArray, Indices, Kernel, Monitor, Statistics, VarSet
from mnlearn.protocols.climbs import LocalClimbs
from mnlearn.scores.local import BlanketPrior, Decomposed, GraphPrior, count_climbs, require_counts, screened_pairs
from mnlearn.statistics import kernels


@dataclass(frozen=True)
class MPL(Decomposed):
    """Σ_j Σ_l [log Γ(α_jl) / Γ(n_jl + α_jl) + Σ_i log Γ(n_ijl + α_ijl) / Γ(α_ijl)] + log p(G)  [MPL17, Sec. 4.1].

    Parameters
    ----------
    statistics
        Where the tables come from, usually `Counts`.
    prior_cell
        The prior α_ijl of every cell; 1/2 (Jeffreys) when nothing is given, as in [MPL17].
    sample_size
        Instead: an equivalent sample size N′ spread over all cells, α_ijl = N′ / (r_j q_j), as in [BJP18, Eq. 4].
    graph_prior
        The strength s of log p(G) = −s |E| log d: 1 in the paper, None for no prior. Or a function of a blanket's
        size that gives its log prior; half of an edge's belongs to each end.

    Raises
    ------
    InputError
        If a setting is invalid.
    UnsuitableError
        If the statistics cannot count.

    Notes
    -----
    r_j and q_j go by declared states: to score by the states that occur, declare those. A configuration of the
    blanket that does not occur contributes nothing, so a blanket of any size costs no more than the rows allow.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.graphs import Graph
    >>> from mnlearn.statistics import Counts
    >>> score = MPL(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> round(score(Graph(3, [(0, 1)])) - score(Graph.empty(3)), 2)
    50.2
    """

    name: ClassVar[str] = "mpl"
    statistics: Statistics
    _: KW_ONLY
    prior_cell: float | None = None
    sample_size: float | None = None
    graph_prior: float | BlanketPrior | None = 1.0
    _kernel: Kernel = field(init=False, repr=False)
    _log_prior: GraphPrior = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_counts("MPL", self.statistics)
        object.__setattr__(self, "_kernel", kernels.dirichlet(self.prior_cell, sample_size=self.sample_size))
        object.__setattr__(self, "_log_prior", GraphPrior(self.n_variables, self.graph_prior))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.statistics.cards)

    def local(self, x: int, blanket: VarSet) -> float:
        """log p(x_j | x_mb(j)) + log p(mb(j)), the local MPL of x with its prior  [MPL17, Eq. 7, 10]."""
        return float(self.statistics.local(self._kernel, x, blanket)[0]) + self._log_prior(len(blanket))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y."""
        scans = self.statistics.reduce_many(self._kernel, xs, yss, blankets)
        return [scan[0] + self._log_prior(len(blanket) + 1) for scan, blanket in zip(scans, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, in ascending order."""
        scans = self.statistics.without(self._kernel, xs, blankets)
        return [scan[0] + self._log_prior(len(blanket) - 1) for scan, blanket in zip(scans, blankets, strict=True)]

    def climbs(self) -> LocalClimbs | None:
        """Return climbs for many variables in one call, where the statistics have them; None for a derived class."""
        if type(self) is not MPL:  # it may score otherwise
            return None
        return count_climbs(self.statistics, self._kernel, self._log_prior)

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs that are among the k strongest of either variable by G²."""
        return screened_pairs(self.statistics, k, monitor)
