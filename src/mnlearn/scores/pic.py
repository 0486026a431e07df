"""PIC: the pseudo-Bayesian information criterion, maximised pseudo-likelihood less a penalty.

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
from mnlearn.protocols import SILENT, FloatArray, Indices, Monitor, Statistics, VarSet
from mnlearn.protocols.climbs import LocalClimbs
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
