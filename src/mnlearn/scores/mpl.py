"""MPL: the marginal pseudo-likelihood of a structure.

Pensar, Nyman, Niiranen & Corander, Bayesian Analysis (2017)  [MPL17]. The pseudo-likelihood (Eq. 3) multiplies the
conditional probabilities of each variable given its neighbours; new here is that their parameters are integrated
out under Dirichlet priors (Eq. 4), which has a closed form for every graph, chordal or not, and penalises complexity
by itself. The score is a sum over variables (Eq. 7), so a flip changes two terms of it (Eq. 9).

PIC: the pseudo-Bayesian information criterion, maximised pseudo-likelihood less a penalty.

Csiszár & Talata, Annals of Statistics 34 (2006), 123-145  [PIC06], as compared in [MPL17], which proves that MPL
tends to it. Which multiple of log n is meant the comparison does not say; its published figures come from
q_j log n without a graph prior, the default here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import prod
from typing import ClassVar, Literal, get_args

import numpy as np

from mnlearn.errors import check_name
from mnlearn.graphs.candidates import Candidates
from mnlearn.numbers import log
from mnlearn.protocols import SILENT, FloatArray, Indices, Kernel, Monitor, Statistics, VarSet
from mnlearn.protocols.judges import LocalClimbs
from mnlearn.scores.local import (
    BlanketPrior,
    Decomposed,
    GraphPrior,
    as_set,
    count_climbs,
    require_counts,
    screened_pairs,
)
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


Penalty = Literal["configurations", "parameters"]
Cardinalities = Literal["declared", "observed"]

_KERNEL = kernels.entropy()
_MOST_CONFIGURATIONS = 1e280  # beyond any data; larger numbers of configurations count as this many, never infinite


@dataclass(frozen=True)
class PIC(Decomposed):
    """Σ_j [Σ_l Σ_i n_ijl log(n_ijl / n_jl) − q_j log n]: fit less the number of blanket configurations.

    Parameters
    ----------
    statistics
        Where the tables come from, usually `Counts`.
    penalty
        ``"configurations"``: q_j log n. ``"parameters"``: (r_j − 1) q_j / 2 log n, half a log for each free
        parameter as in the Bayesian information criterion.
    cardinalities
        Which states count for r_j and q_j: all that are ``"declared"``, or those ``"observed"`` in the data.
    graph_prior
        As in `MPL`; none by default.

    Raises
    ------
    InputError
        If a setting is invalid.
    UnsuitableError
        If the statistics cannot count.

    Notes
    -----
    q_j is the number of all configurations of the blanket, seen or not. More than 1e280 count as 1e280.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.graphs import Graph
    >>> from mnlearn.statistics import Counts
    >>> score = PIC(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> round(score(Graph(3, [(0, 1)])) - score(Graph.empty(3)), 2)
    48.07
    """

    name: ClassVar[str] = "pic"
    statistics: Statistics
    _: KW_ONLY
    penalty: Penalty = "configurations"
    cardinalities: Cardinalities = "declared"
    graph_prior: float | BlanketPrior | None = None
    _cards: FloatArray = field(init=False, repr=False, compare=False)
    _weights: FloatArray = field(init=False, repr=False, compare=False)
    _log_prior: GraphPrior = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_counts("PIC", self.statistics)
        check_name("penalty", self.penalty, get_args(Penalty))
        check_name("cardinalities", self.cardinalities, get_args(Cardinalities))
        cards = observed_cards(self.statistics) if self.cardinalities == "observed" else self.statistics.cards
        each = (np.array(cards) - 1) / 2 if self.penalty == "parameters" else np.ones(len(cards))
        object.__setattr__(self, "_cards", np.array(cards, dtype=np.float64))
        object.__setattr__(self, "_weights", each * log(self.statistics.n_rows))
        object.__setattr__(self, "_log_prior", GraphPrior(self.n_variables, self.graph_prior))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.statistics.cards)

    def local(self, x: int, blanket: VarSet) -> float:
        """max_θ log p(x_j | x_mb(j), θ) − q_j log n."""
        blanket = as_set(blanket)
        entropy = float(self.statistics.local(_KERNEL, x, blanket)[0])
        return float(self._score(x, entropy, self._configurations(blanket))) + self._log_prior(len(blanket))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y."""
        scans = self.statistics.reduce_many(_KERNEL, xs, yss, blankets)
        return [
            self._score(int(x), scan[0], self._configurations(blanket) * self._cards[np.asarray(ys, dtype=np.intp)])
            + self._log_prior(len(blanket) + 1)
            for x, blanket, ys, scan in zip(xs, blankets, yss, scans, strict=True)
        ]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, in ascending order."""
        scans = self.statistics.without(_KERNEL, xs, blankets)
        return [
            self._score(int(x), scan[0], np.array([self._configurations(blanket - {y}) for y in sorted(blanket)]))
            + self._log_prior(len(blanket) - 1)
            for x, blanket, scan in zip(xs, blankets, scans, strict=True)
        ]

    def climbs(self) -> LocalClimbs | None:
        """Return climbs for many variables in one call, where the statistics have them; None for a derived class."""
        if type(self) is not PIC:  # it may score otherwise
            return None
        price = {"weights": self._weights, "cards": self._cards}
        scale = -float(self.statistics.n_rows)
        return count_climbs(self.statistics, _KERNEL, self._log_prior, scale=scale, **price)

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs that are among the k strongest of either variable by G²."""
        return screened_pairs(self.statistics, k, monitor)

    def _score(self, x: int, entropy: FloatArray | float, configurations: FloatArray | float) -> FloatArray:
        """−N H(x | mb) is the maximised log-likelihood of x."""
        penalty = self._weights[x] * np.minimum(configurations, _MOST_CONFIGURATIONS)
        return np.asarray(-self.statistics.n_rows * entropy - penalty, dtype=np.float64)

    def _configurations(self, blanket: VarSet) -> float:
        """q_j, the number of all configurations."""
        return float(min(prod(self._cards[[int(y) for y in blanket]].tolist()), _MOST_CONFIGURATIONS))


def observed_cards(statistics: Statistics) -> tuple[int, ...]:
    """Return the number of states of each variable that occur; of a single variable, the declared ones."""
    n = len(statistics.cards)
    if n < 2:
        return statistics.cards
    return tuple(len(statistics.tables(int(x == 0), [], frozenset({x})).strata) for x in range(n))
