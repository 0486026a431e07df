"""Conditional entropy, and the extended BIC that makes entropies of unequal blankets comparable.

Roy, Lane & Werner-Washburne, ICML (2009)  [MBS09], Sec. 2.4: the best blanket of a variable has the least
conditional entropy H(X | M). A larger blanket never has more, so a penalty is needed: that of the search
(`mnlearn.algorithms.mbs` has the paper's λ log |M|), or one for every parameter, as in the extended BIC of Foygel &
Drton (2010)  [FD10], here of each variable given its blanket, and summed.

Conditional entropies of variables of several kinds: what the extended BIC of a mixed table is made of.

−N H(x | z) is the maximised log likelihood of the regression of x on z (`mnlearn.statistics.likelihoods`): one
parameter for each feature of a neighbour and each statistic of x, not one for each configuration of z.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import fsum, pi, prod
from typing import ClassVar, Protocol, cast

import numpy as np

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.data.rows import take
from mnlearn.errors import InputError, UnsuitableError, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray, Indices, Score, Statistics, VarSet
from mnlearn.scores.local import Decomposed, as_set, require_complete
from mnlearn.scores.mpl import MPL
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.evidence import as_numbers
from mnlearn.statistics.likelihoods import Fits, MixedLikelihoods
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.scaling import products


@dataclass(frozen=True)
class MixedEntropies:
    """−l(x | z) / N by the regressions of `MixedLikelihoods`; of a number, with log(2πe var) / 2 without neighbours.

    A model that cannot be fitted counts as one that explains nothing with its many parameters.
    """

    likelihoods: MixedLikelihoods

    def __post_init__(self) -> None:
        check_no_gaps(
            self.likelihoods.dataset,
            "ExtendedBIC, whose terms must be of the same rows,",
            "sep, or pc, gsmn*, gsimn or hhc-mn (test='mixed')",
        )

    @property
    def n_variables(self) -> int:
        return self.likelihoods.n_variables

    @property
    def n_rows(self) -> int:
        return self.likelihoods.n_rows

    @property
    def most_given(self) -> int:
        """One for every ten rows: with more, states are separated by chance."""
        return max(1, self.n_rows // 10)

    @property
    def constant(self) -> VarSet:
        return frozenset(np.flatnonzero(np.isneginf(self._unexplained)).tolist())

    @cached
    def _unexplained(self) -> FloatArray:
        """The log likelihood of each variable without neighbours; −inf for a constant one."""
        data, n = self.likelihoods.dataset, self.n_rows
        xs = range(self.n_variables)
        alone = self.likelihoods.local(xs, [frozenset()] * len(xs)).log_likelihood
        for x in xs:
            column = as_numbers(data, x)
            if (column == column[:1]).all():
                alone[x] = -np.inf
            elif not data.cards[x]:
                mean = np.average(column, weights=data.repeats)
                variance = float(np.average((column - mean) ** 2, weights=data.repeats))
                alone[x] = -0.5 * n * (log(2.0 * pi * variance) + 1.0)
        return np.asarray(alone)

    def given(self, x: int, z: VarSet) -> float:
        return float(self._entropies([x], self.likelihoods.local([x], [z]))[0])

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        found = self.likelihoods.additions(xs, zs, yss)
        return [self._entropies([int(x)] * len(fits[0]), fits) for x, fits in zip(xs, found, strict=True)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        asked = [(int(x), z - {m}) for x, z in zip(xs, zs, strict=True) for m in sorted(z)]
        if not asked:
            return [np.empty(0) for _ in zs]
        ends = [x for x, _ in asked]
        found = self._entropies(ends, self.likelihoods.local(ends, [z for _, z in asked]))
        return np.split(found, np.cumsum([len(z) for z in zs])[:-1])

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        rest = [z - {m} for m in sorted(z)]
        return np.array(self.additions([x] * len(rest), rest, [ys] * len(rest))).reshape(len(rest), len(ys))

    def parameters(self, x: int, z: VarSet) -> float:
        return float(self._widths[x] * sum(self._widths[y] for y in z))

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        width = self._widths[x]
        return np.array([self.parameters(x, z) + width * self._widths[int(y)] for y in ys], dtype=np.float64)

    def exchanged_parameters(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        found = [self.parameters_with(x, z - {m}, ys) for m in sorted(z)]
        return np.array(found).reshape(len(z), len(ys))

    @cached
    def _widths(self) -> tuple[int, ...]:
        """Features of each variable: states that occur less 1 if it is nominal, else 1; of a constant one 0."""
        data, constant = self.likelihoods.dataset, self.constant
        states = [len(np.unique(column)) if card else 2 for card, column in zip(data.cards, data.columns, strict=True)]
        return tuple(
            0 if v in constant else (states[v] - 1 if kind == "nominal" else 1) for v, kind in enumerate(data.kinds)
        )

    def _entropies(self, xs: Sequence[int], fits: Fits) -> FloatArray:
        """Return −l / N; where there is no fit, that without neighbours."""
        data = self.likelihoods.dataset
        alone = np.where(np.isneginf(self._unexplained), 0.0, self._unexplained)[list(xs)]
        relative = np.array([not data.cards[x] for x in xs], dtype=np.bool_)
        found = fits.log_likelihood + np.where(relative, alone, 0.0)
        return np.asarray(-np.where(np.isnan(found), alone, found) / self.n_rows)


class _ByEntropies(Decomposed):
    """Base class of both scores: entropies and facts about the data."""

    _entropies: Entropies

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._entropies.n_variables

    @property
    def most_neighbors(self) -> int:
        """Largest number of neighbours that the rows allow: N / 2 for a Gaussian, log₂ N for tables."""
        return self._entropies.most_given

    @property
    def constant(self) -> VarSet:
        """Constant variables; the score does not keep a search from giving them neighbours."""
        return self._entropies.constant


@dataclass(frozen=True)
class Entropy(_ByEntropies):
    """−Σ_i H(X_i | M_i), in nats per row  [MBS09, Sec. 2.4].

    Parameters
    ----------
    statistics
        `Counts` for categorical variables: H by relative frequencies. `Moments` for continuous ones:
        H = log(2πe var(X | M)) / 2 as if they were Gaussian, from the covariance with divisor N.
    rows
        The data themselves, which only cross-validation needs (`folds`).

    Raises
    ------
    UnsuitableError
        If the statistics have no entropies.

    Notes
    -----
    It has no penalty: by itself it is best on the complete graph. N times it is the maximised log pseudo-likelihood.
    A Gaussian variance below 1e-10 of the variable's own counts as that much, so that no entropy is infinite.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> score = Entropy(Moments.from_covariance([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]], n_rows=100))
    >>> gain = score(Graph(3, [(0, 1)])) - score(Graph.empty(3))  # each end gains −log(1 − 0.6²) / 2
    >>> round(gain, 4)
    0.4463
    """

    name: ClassVar[str] = "entropy"
    statistics: Statistics | Moments
    _: KW_ONLY
    rows: Dataset | None = field(default=None, repr=False, compare=False)
    _entropies: Entropies = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_entropies", entropies_of("Entropy", self.statistics))

    @property
    def n_rows(self) -> int:
        """Number of rows that the entropies are estimated from."""
        return self._entropies.n_rows

    def local(self, x: int, blanket: VarSet) -> float:
        """−H(x | blanket)."""
        return -self._entropies.given(x, blanket)

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y."""
        return [-found for found in self._entropies.additions(xs, blankets, yss)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, in ascending order."""
        return [-found for found in self._entropies.removals(xs, blankets)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """Return local(x, blanket − m + y): one row per member m in ascending order, one column per y."""
        return -self._entropies.exchanges(x, blanket, ys)

    def criterion(self, gamma: float) -> ExtendedBIC:
        """Return the extended BIC by these statistics, which can compare blankets of different sizes."""
        return ExtendedBIC(self.statistics, gamma=gamma)

    def folds(self, n_folds: int, seed: int) -> list[tuple[Entropy, Score]]:
        """Return for each fold the entropies of the other rows and the log pseudo-likelihood of a graph on the fold."""
        if self.rows is None:
            raise InputError(
                "rows are needed for cross-validation; got none. Give the data set: Entropy(statistics, rows=dataset)."
            )
        found: list[tuple[Entropy, Score]] = []
        for train, test in folds_of(self.rows, n_folds, seed):
            statistics = Moments(train) if isinstance(self.statistics, Moments) else Counts(train)
            found.append((Entropy(statistics), heldout_score(self.rows, train, test)))
        return found


@dataclass(frozen=True)
class ExtendedBIC(_ByEntropies):
    """Σ_i [−N H(X_i | M_i) − d_i/2 log N − γ |M_i| log(n − 1)], in nats  [FD10, of each variable].

    Parameters
    ----------
    statistics
        As in `Entropy`; or `MixedLikelihoods` for complete data of several kinds, whose regressions give −N H.
    gamma
        γ: 0 is the ordinary BIC; larger values penalise each neighbour more if there are many candidates.

    Raises
    ------
    InputError
        If γ is not a number, or negative.
    UnsuitableError
        If the statistics have no entropies.

    Notes
    -----
    d_i is how many parameters p(X_i | M_i) has beyond those of p(X_i): |M_i| for a Gaussian, (r_i − 1)(q_i − 1) for
    tables, by declared states; w_i Σ_j w_j for regressions, where a nominal variable has w = r − 1 features, any other
    one. An edge is a parameter of both its ends and is penalised at both.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> score = ExtendedBIC(Moments.from_covariance([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]], n_rows=100))
    >>> empty = score(Graph.empty(3))
    >>> [round(score(Graph(3, [edge])) - empty, 2) for edge in [(0, 1), (1, 2)]]
    [39.33, -5.3]
    """

    name: ClassVar[str] = "ebic"
    statistics: Statistics | Moments | MixedLikelihoods
    _: KW_ONLY
    gamma: float = 0.5
    _entropies: Entropies = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number, 0 or more; got {self.gamma!r}. Usual are 0, 0.5 and 1.")
        object.__setattr__(self, "_entropies", entropies_of("ExtendedBIC", self.statistics))

    def local(self, x: int, blanket: VarSet) -> float:
        """Return −N H(x | blanket) minus the penalty of the blanket."""
        blanket = as_set(blanket)
        entropy = np.array(self._entropies.given(x, blanket))  # checks the indices
        return float(self._less(entropy, np.array(self._entropies.parameters(x, blanket)), len(blanket)))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y."""
        found = self._entropies.additions(xs, blankets, yss)
        with_y = map(self._entropies.parameters_with, map(int, xs), blankets, yss)
        return [self._less(h, d, len(z) + 1) for h, d, z in zip(found, with_y, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, in ascending order."""
        found = self._entropies.removals(xs, blankets)
        left = (
            [self._entropies.parameters(int(x), z - {m}) for m in sorted(z)] for x, z in zip(xs, blankets, strict=True)
        )
        return [self._less(h, np.array(d), len(z) - 1) for h, d, z in zip(found, left, blankets, strict=True)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """Return local(x, blanket − m + y): one row per member m in ascending order, one column per y."""
        parameters = self._entropies.exchanged_parameters(x, blanket, ys)
        return self._less(self._entropies.exchanges(x, blanket, ys), parameters, len(blanket))

    def _less(self, entropy: FloatArray, parameters: FloatArray, size: int) -> FloatArray:
        """Return −N H minus the two penalties."""
        n_rows, others = self._entropies.n_rows, max(self.n_variables - 1, 1)
        return np.asarray(-n_rows * entropy - 0.5 * log(n_rows) * parameters - self.gamma * size * log(others))


# Conditional entropies behind one protocol: from counts, or from a covariance as if Gaussian.


_KERNEL = kernels.entropy()
_MOST_CONFIGURATIONS = 1e280  # a cap, so that no number of parameters is infinite


class Entropies(Protocol):
    """H(x | z) in nats per row, in the batches of a `LocalScore`, and the number of parameters of p(x | z)."""

    @property
    def n_variables(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def most_given(self) -> int:
        """Largest conditioning set that leaves rows to estimate from."""
        ...

    @property
    def constant(self) -> VarSet:
        """Constant variables, which are independent of all others."""
        ...

    def given(self, x: int, z: VarSet) -> float: ...
    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]: ...
    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]: ...
    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        """H(x | z − m + y): one row per member m in ascending order, one column per y."""
        ...

    def parameters(self, x: int, z: VarSet) -> float:
        """Return the number of free parameters of p(x | z) beyond those of p(x)."""
        ...

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        """Return `parameters(x, z + y)` for each y."""
        ...

    def exchanged_parameters(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        """Return `parameters(x, z − m + y)` as `exchanges` does, or one number if all are equal."""
        ...


@dataclass(frozen=True)
class GaussianEntropies:
    """log(2πe var(x | z)) / 2, from `Moments`."""

    moments: Moments

    @property
    def n_variables(self) -> int:
        return self.moments.n_variables

    @property
    def n_rows(self) -> int:
        return self.moments.n_rows

    @property
    def most_given(self) -> int:
        """One for every two rows: with as many variables as rows every fit is perfect."""
        return min(max(1, (self.n_rows - 1) // 2), max(0, self.n_rows - 2))

    @property
    def constant(self) -> VarSet:
        return frozenset(np.flatnonzero(np.diag(self.moments.correlation) == 0.0).tolist())

    def given(self, x: int, z: VarSet) -> float:
        return self.moments.conditional_entropy(x, z)

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [self.moments.conditional_entropies(int(x), ys, z) for x, z, ys in zip(xs, zs, yss, strict=True)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        return [self.moments.exchanged_entropies(int(x), (), z)[0] for x, z in zip(xs, zs, strict=True)]

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        return self.moments.exchanged_entropies(x, ys, z)[1]

    def parameters(self, x: int, z: VarSet) -> float:  # noqa: ARG002 - a slope each, whatever x is
        return float(len(z))

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:  # noqa: ARG002 - as above
        return np.full(len(ys), len(z) + 1.0)

    def exchanged_parameters(self, x: int, z: VarSet, ys: Indices) -> FloatArray:  # noqa: ARG002 - as above
        return np.array(float(len(z)))


@dataclass(frozen=True)
class DiscreteEntropies:
    """−Σ p(x, z) log p(x | z) by relative frequencies, from `Counts`."""

    counts: Statistics

    @property
    def n_variables(self) -> int:
        return len(self.counts.cards)

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def most_given(self) -> int:
        """log₂ N: with more variables of two states each there are more configurations than rows."""
        return max(1, self.n_rows.bit_length() - 1)

    @property
    def constant(self) -> VarSet:
        return frozenset(x for x in range(self.n_variables) if self.given(x, frozenset()) == 0.0)

    def given(self, x: int, z: VarSet) -> float:
        return float(self.counts.local(_KERNEL, x, z)[0])

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [scan[0] for scan in self.counts.reduce_many(_KERNEL, xs, yss, zs)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        return [scan[0] for scan in self.counts.without(_KERNEL, xs, zs)]

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        rest = [z - {m} for m in sorted(z)]
        scans = self.counts.reduce_many(_KERNEL, [x] * len(rest), [ys] * len(rest), rest)
        return np.array([scan[0] for scan in scans]).reshape(len(rest), len(ys))

    def parameters(self, x: int, z: VarSet) -> float:
        return (self.counts.cards[x] - 1) * (self._configurations(z) - 1.0)

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        cards = np.array(self.counts.cards, dtype=np.float64)
        configurations = np.minimum(
            cards[np.asarray(ys, dtype=np.intp)] * self._configurations(z), _MOST_CONFIGURATIONS
        )
        return np.asarray((cards[x] - 1.0) * (configurations - 1.0))

    def exchanged_parameters(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        found = [self.parameters_with(x, z - {m}, ys) for m in sorted(z)]
        return np.array(found).reshape(len(z), len(ys))

    def _configurations(self, z: VarSet) -> float:
        """Return the number of configurations of z by declared states."""
        return float(min(prod(self.counts.cards[y] for y in z), _MOST_CONFIGURATIONS))


def entropies_of(score: str, statistics: object) -> Entropies:
    """Return the entropies of these statistics, or raise UnsuitableError in the name of the score."""
    if isinstance(statistics, Moments):
        return GaussianEntropies(statistics)
    if isinstance(statistics, MixedLikelihoods):
        return MixedEntropies(statistics)
    for method in ("reduce_many", "without", "local"):
        if not hasattr(statistics, method):
            raise UnsuitableError(
                f"{score} cannot score by a {type(statistics).__name__}, which has no {method}. Use Counts for "
                "categorical variables, Moments for continuous ones, or MixedLikelihoods for several kinds."
            )
    require_complete(score, statistics)
    return DiscreteEntropies(cast(Statistics, statistics))


# Cross-validation: the log pseudo-likelihood of held-out rows.


_LEAST_SHARE = 1e-10  # the share of a variance that counts as something left, as in `Moments`


def folds_of(rows: Dataset, n_folds: int, seed: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield the rows without each fold, and the fold; repeats of a row stay together."""
    whole_number("n_folds", n_folds, least=2, hint="Usual are 5 and 10.")
    if rows.n_records < 2 * n_folds:
        raise InputError(
            f"n_folds must leave at least 2 different rows in each fold; got {n_folds} for {rows.n_records} rows. Take "
            "fewer folds, or choose by the criterion (choose='ebic')."
        )
    order = np.random.default_rng(seed).permutation(rows.n_records)
    for fold in range(n_folds):
        held = np.zeros(rows.n_records, dtype=np.bool_)
        held[order[fold::n_folds]] = True
        yield take(rows, np.flatnonzero(~held)), take(rows, np.flatnonzero(held))


def heldout_score(rows: Dataset, train: Dataset, test: Dataset) -> Score:
    """The score of graphs by what they foretell of the test rows; `rows` are both together."""
    return _Tables(rows, train) if any(rows.cards) else _Regressions(train, test)


class _Regressions:
    """Σ_i Σ_rows log N(x_i; its regression on M_i): coefficients and variances from the training rows."""

    def __init__(self, train: Dataset, test: Dataset) -> None:
        origin, weights = _matrix(train)[0], _weights(train)
        reach = np.abs(_matrix(train) - origin).max(axis=0)  # of the order of 1 from here on: squares keep to floats
        reach[reach == 0.0] = 1.0
        rows, new = ((_matrix(part) - origin) / reach for part in (train, test))
        mean = np.average(rows, axis=0, weights=weights)
        spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))
        unit = np.where(spread > 0.0, spread, 1.0)
        known = (rows - mean) / unit * np.sqrt(weights / weights.sum())[:, None]
        self.n_variables = train.n_variables
        self._covariance, self._log_unit = products(known.T), log(unit) + log(reach)
        self._new, self._weights = (new - mean) / unit, _weights(test)

    def __call__(self, graph: Graph) -> float:
        return fsum(self._local(x, sorted(graph.neighbors(x))) for x in range(self.n_variables))

    def _local(self, x: int, blanket: list[int]) -> float:
        """The log density of the new values of x given those of its blanket."""
        shared = self._covariance[blanket, x]
        slopes = np.linalg.lstsq(self._covariance[np.ix_(blanket, blanket)], shared, rcond=_LEAST_SHARE)[0]
        variance = max(float(self._covariance[x, x] - slopes @ shared), _LEAST_SHARE)
        missed = self._new[:, x] - self._new[:, blanket] @ slopes
        constant = 0.5 * log(2.0 * np.pi * variance) + self._log_unit[x]
        return -float((self._weights * (constant + 0.5 * missed**2 / variance)).sum())


class _Tables:
    """log p(test rows | training rows), Dirichlet priors of 1/2: what MPL says of all less of those."""

    def __init__(self, rows: Dataset, train: Dataset) -> None:
        self.n_variables = rows.n_variables
        self._all, self._train = (MPL(Counts(part), graph_prior=None) for part in (rows, train))

    def __call__(self, graph: Graph) -> float:
        return self._all(graph) - self._train(graph)


def _matrix(rows: Dataset) -> FloatArray:
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in rows.columns])


def _weights(rows: Dataset) -> FloatArray:
    return np.ones(rows.n_records) if rows.repeats is None else rows.repeats.astype(np.float64)
