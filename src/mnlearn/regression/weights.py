"""Signed weights of edges: one measure for each kind of data.

- All variables binary: the log odds ratio of x and y given the other neighbours z, the same for all z in a pairwise
  model. It is the coefficient of y in a logistic regression of x on its neighbours, averaged over both ends. A
  log-F(1, 1) prior on every coefficient [GM15] keeps it finite if a cell is empty.
- All variables ordered (numbers, numeric states, intervals, or binary): the partial correlation given the neighbours of
  both ends. Numeric states count as the numbers that they are.
- Both states and numbers, or ordinal variables beside nominal ones of three and more states: the standardised
  interaction (`regression.joint`).
- Some other variable without an order: the conditional mutual information in nats per row given the other neighbours
  of one end, averaged over both ends, minus its expectation dof / (2 N) under independence, at least 0. It has a sign
  only between two ordered variables: that of the partial correlation.

A pair without an edge has weight 0. With gaps the weight of an edge has the rows in which both ends and all their
neighbours are observed.

Weights of the edges of tables with variables of several kinds: standardised interactions.

- Two numbers (continuous or counts): the partial correlation given the neighbours of both ends, with states as
  indicators.
- Else the interaction of a pairwise model of all variables, fitted by penalised pseudo-likelihood, between features of
  mean square 1 (`edge_value`). Of two binary variables it is a quarter of the log odds ratio; between states and a
  number the mean of the coefficients of both ends.

Signed weights of the edges of a learned network, from its data, its method or its file.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import observed_rows
from mnlearn.data.transforms import normal_scores
from mnlearn.errors import InputError
from mnlearn.graphs.named import EdgeNumbers
from mnlearn.numbers import log, log1p, logistic
from mnlearn.protocols.statistics import FloatArray, IntArray
from mnlearn.regression.features import Pair
from mnlearn.regression.joint import edge_value, fit_interactions
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.scaling import inverses, products

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mnlearn.results.learned import Learned


WeightMeasure: TypeAlias = Literal[
    "log odds ratio",
    "partial correlation",
    "penalised partial correlation",
    "mutual information",
    "standardised interaction",
]
Neighbors: TypeAlias = Sequence[Collection[int]]

_WHOLE_UP_TO = 2000  # variables: all their correlations take 32 MB
_BLOCK = 2_000_000  # numbers held at a time
_SAME = 1e-9  # share of a variance; less is rounding
_ITERATIONS, _PRECISION, _LARGEST_STEP = 100, 1e-10, 4.0
_FEWEST_ROWS = 4  # with which an edge of data with gaps has a weight
_MOST_STATES = 20  # of a variable without an order that is held fixed


@dataclass(frozen=True)
class EdgeWeights:
    """Weights of the edges of a network.

    Attributes
    ----------
    measure
        ``"log odds ratio"``, ``"partial correlation"``, ``"penalised partial correlation"`` (of the graphical lasso),
        ``"mutual information"`` or ``"standardised interaction"``.
    values
        The weight of each edge (u, v) with u < v; an edge whose weight is undefined, as between a variable and a copy
        of its neighbour, is left out.
    ordered
        Whether each variable has an order; an edge has a sign if both ends have one.

    Examples
    --------
    >>> weights = EdgeWeights("partial correlation", {(0, 1): -0.4}, (True, True))
    >>> weights.sign((0, 1))
    -1
    """

    measure: WeightMeasure
    values: Mapping[tuple[int, int], float]
    ordered: tuple[bool, ...]

    @property
    def words(self) -> str:
        """The measure in words."""
        return words_of_measure(self.measure)

    def sign(self, edge: tuple[int, int]) -> int:
        """Return 1 for a positive, −1 for a negative association, 0 without a sign."""
        u, v = edge
        return int(np.sign(self.values.get(edge, 0.0))) if self.ordered[u] and self.ordered[v] else 0


_WORDS: Mapping[WeightMeasure, str] = {
    "log odds ratio": "log odds ratios given the other neighbours",
    "partial correlation": "partial correlations given the neighbours of both ends",
    "penalised partial correlation": "partial correlations given all others, shrunk by the penalty",
    "mutual information": "mutual information given the other neighbours, in nats; only ordered variables have a sign",
    "standardised interaction": "standardised interactions given the other neighbours, partial correlations between "
    "numbers; nominal variables of three and more states have no sign",
}


def words_of_measure(measure: WeightMeasure) -> str:
    """Return what the weights are, in words.

    Examples
    --------
    >>> words_of_measure("log odds ratio")
    'log odds ratios given the other neighbours'
    """
    return _WORDS[measure]


def edge_weights(data: Dataset, neighbors: Neighbors) -> EdgeWeights:
    """Return the weights of all edges.

    Parameters
    ----------
    data
        The data, as the method saw them.
    neighbors
        The neighbours of each variable.

    Examples
    --------
    >>> data = Dataset.from_codes([[0] * 30 + [1] * 30, [0] * 20 + [1] * 10 + [0] * 10 + [1] * 20])
    >>> found = edge_weights(data, [{1}, {0}])
    >>> found.measure, round(found.values[0, 1], 2), round(float(np.log(4)), 2)
    ('log odds ratio', 1.3, 1.39)
    """
    ordered = ordered_variables(data)
    if is_mixed(data):
        signed = tuple(kind != "nominal" or card <= 2 for kind, card in zip(data.kinds, data.cards, strict=True))
        return EdgeWeights("standardised interaction", interactions(data, neighbors, signed), signed)
    measure: WeightMeasure = "partial correlation" if all(ordered) else "mutual information"
    if all(card in (1, 2) for card in data.cards):
        measure = "log odds ratio"
    find = _values_with_gaps if data.gaps else _values
    return EdgeWeights(measure, find(measure, data, neighbors, ordered), ordered)


def _values(
    measure: WeightMeasure, data: Dataset, neighbors: Neighbors, ordered: tuple[bool, ...]
) -> dict[tuple[int, int], float]:
    """Return the weights of all edges by one measure."""
    if measure == "log odds ratio":
        return _log_odds_ratios([data], neighbors)[0]
    partial = _partial_correlations(data, neighbors, ordered)
    if measure == "partial correlation":
        return partial
    strength = mutual_information(data, neighbors)
    return {(u, v): float(np.copysign(strength[u, v], partial.get((u, v), 1.0))) for u, v in edges_of(neighbors)}


def sampled_edge_weights(samples: Sequence[Dataset], neighbors: Neighbors) -> list[EdgeWeights]:
    """Return the weights of the same edges in several samples of one table, those of binary variables in one go.

    Examples
    --------
    >>> rows = Dataset.from_codes([[0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0]])
    >>> [found.measure for found in sampled_edge_weights([rows, rows], [{1}, {0}])]
    ['log odds ratio', 'log odds ratio']
    """
    if not samples or samples[0].gaps or not all(card in (1, 2) for card in samples[0].cards):
        return [edge_weights(data, neighbors) for data in samples]
    ordered = ordered_variables(samples[0])
    return [EdgeWeights("log odds ratio", values, ordered) for values in _log_odds_ratios(samples, neighbors)]


def is_mixed(data: Dataset) -> bool:
    """Return whether there are states and numbers, or ordinal and nominal variables of three and more states."""
    kinds = {kind for kind, card in zip(data.kinds, data.cards, strict=True) if card > 2}
    return (any(data.cards) and not all(data.cards)) or {"nominal", "ordinal"} <= kinds


def _values_with_gaps(
    measure: WeightMeasure, data: Dataset, neighbors: Neighbors, ordered: tuple[bool, ...]
) -> dict[tuple[int, int], float]:
    """Return the weight of each edge from the rows in which its ends and their neighbours are observed."""
    values: dict[tuple[int, int], float] = {}
    for u, v in edges_of(neighbors):
        family = [u, v, *sorted((set(neighbors[u]) | set(neighbors[v])) - {u, v})]
        rows = observed_rows(data.select(family), range(len(family)))
        if rows.n_records < _FEWEST_ROWS:
            continue
        place = {x: k for k, x in enumerate(family)}
        around = [{place[y] for y in neighbors[x]} for x in (u, v)] + [set()] * (len(family) - 2)
        found = _values(measure, rows, around, tuple(ordered[x] for x in family))
        if (0, 1) in found:
            values[u, v] = found[0, 1]
    return values


MOST_VARIABLES = 5_000  # with more, weights are computed only if their work is small
_MOST_STEPS = 300_000_000  # about half a minute
_MOST_FITTED = 200_000  # edges


def takes_long(data: Dataset, neighbors: Neighbors) -> bool:
    """Return whether the weights of a network of many variables take more than about half a minute.

    A regression of a binary variable on d others takes time in proportion to its configurations times (d + 1)².
    """
    if len(neighbors) <= MOST_VARIABLES:
        return False
    degrees: list[int] = np.bincount([len(around) for around in neighbors]).tolist()
    if not all(card in (1, 2) for card in data.cards):
        return sum(d * count for d, count in enumerate(degrees)) // 2 > _MOST_FITTED
    cells = (count * min(data.n_records, 2 ** min(d, 40)) * (d + 1) ** 2 for d, count in enumerate(degrees))
    return bool(sum(cells) > _MOST_STEPS)


def ordered_variables(data: Dataset) -> tuple[bool, ...]:
    """Return whether each variable has an order: numeric, binary, ordinal, discretised, or with numeric states."""
    return tuple(
        levels is None or len(levels) <= 2 or name in data.cuts or name in data.ordinal or all(map(_is_number, levels))
        for name, levels in zip(data.names, data.levels, strict=True)
    )


def numbers_of(data: Dataset, x: int, *, ordered: bool) -> FloatArray:
    """Return x as columns: values, log(1 + count), ordinal scores, numeric states, ordered codes, or indicators."""
    values, levels = data.columns[x], data.levels[x]
    if levels is None:
        numbers = values.astype(np.float64)[:, None]
        return log1p(numbers) if data.names[x] in data.counted else numbers
    if data.names[x] in data.ordinal:
        return data.level_scores(x)[values.astype(np.int64)][:, None]
    codes = values.astype(np.int64)
    if all(map(_is_number, levels)):
        return np.asarray([float(level) for level in levels])[codes][:, None]  # type: ignore[arg-type]
    return codes[:, None].astype(np.float64) if ordered else np.eye(len(levels))[codes][:, 1:]


def mutual_information(data: Dataset, neighbors: Neighbors) -> dict[tuple[int, int], float]:
    """Return I(x; y | other neighbours of x) − dof / (2 N) of every edge, averaged over both ends, at least 0."""
    joined = [x for x, around in enumerate(neighbors) if around]
    found = dict.fromkeys(edges_of(neighbors), 0.0)
    members = Counts(data, n_jobs=1).members(kernels.mi(), joined, [frozenset(neighbors[x]) for x in joined])
    for x, (information, dof) in zip(joined, members, strict=True):
        for y, value in zip(sorted(neighbors[x]), (information - dof / (2 * data.n_rows)).tolist(), strict=True):
            edge = (min(x, y), max(x, y))
            found[edge] = found.get(edge, 0.0) + value
    return {edge: max(value / 2, 0.0) for edge, value in found.items()}


def edges_of(neighbors: Neighbors) -> list[tuple[int, int]]:
    return [(u, v) for u, around in enumerate(neighbors) for v in sorted(around) if u < v]


def _is_number(level: Hashable) -> bool:
    """Return whether a state is a number; bools count."""
    return isinstance(level, int | float | np.integer | np.floating)


# Log odds ratios.


def _log_odds_ratios(samples: Sequence[Dataset], neighbors: Neighbors) -> list[dict[tuple[int, int], float]]:
    """Return the coefficient of each edge in each sample, averaged over the regressions of both ends."""
    found: list[dict[tuple[int, int], float]] = [{} for _ in samples]
    for batch in _batches(samples, neighbors):
        fitted = iter(_fitted([_cells(data, *one) for data in samples for one in batch]).tolist())
        for values in found:
            for x, members in batch:
                for y, value in zip(members, next(fitted), strict=True):
                    edge = (min(x, y), max(x, y))
                    values[edge] = values.get(edge, 0.0) + value / 2
    return [{edge: values[edge] for edge in edges_of(neighbors)} for values in found]


def _batches(samples: Sequence[Dataset], neighbors: Neighbors) -> Iterator[list[tuple[int, list[int]]]]:
    """Yield variables and their neighbours in groups with the same number of neighbours, of limited size."""
    by_degree: dict[int, list[tuple[int, list[int]]]] = {}
    for x, around in enumerate(neighbors):
        if around:
            by_degree.setdefault(len(around), []).append((x, sorted(around)))
    for degree, variables in by_degree.items():
        cells = sum(min(data.n_records, 2 ** min(degree, 40)) for data in samples) * (degree + 1)
        size = max(1, _BLOCK // cells)
        yield from (variables[k : k + size] for k in range(0, len(variables), size))


def _cells(data: Dataset, x: int, members: list[int]) -> tuple[FloatArray, FloatArray]:
    """Return the distinct configurations of some binary variables, and how often x is 0 and 1 in each."""
    rows = np.stack([data.columns[y] for y in members], axis=1).astype(np.uint8)
    size = 2 ** len(members)
    if len(members) <= 40 and size <= 4 * len(rows) + 64:
        place = rows @ (1 << np.arange(len(members), dtype=np.int64))
        kept = np.arange(size)
        configurations = ((kept[:, None] >> np.arange(len(members))) & 1).astype(np.float64)
    else:
        packed = np.ascontiguousarray(np.packbits(rows, axis=1))
        _, first, place = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
        configurations, size = rows[first].astype(np.float64), len(first)
    counted = [np.bincount(place[rows_of], weights, size) for rows_of, weights in _halves(data, x)]
    counts = np.stack(counted, axis=1).astype(np.float64)
    seen = counts.any(axis=1)
    return configurations[seen], counts[seen]


def _halves(data: Dataset, x: int) -> Iterator[tuple[IntArray, FloatArray | None]]:
    """Yield the rows in which x is 0, then those in which it is 1, with their repeats."""
    for state in (0, 1):
        rows = np.flatnonzero(data.columns[x] == state)
        yield rows, None if data.repeats is None else data.repeats[rows].astype(np.float64)


def _fitted(tables: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return the coefficients of logistic regressions with as many regressors each, one row each, by Newton steps."""
    most, degree = max(len(counts) for _, counts in tables), tables[0][0].shape[1]
    design = np.zeros((len(tables), most, degree + 1))
    counts = np.zeros((len(tables), most, 2))
    for k, (configurations, counted) in enumerate(tables):
        design[k, : len(counted), 0], design[k, : len(counted), 1:] = 1.0, configurations
        counts[k, : len(counted)] = counted
    totals, ones = counts.sum(axis=2), counts[:, :, 1]
    beta = np.zeros((len(tables), degree + 1))
    beta[:, 0] = log((ones.sum(axis=1) + 0.5) / ((totals - ones).sum(axis=1) + 0.5))
    open_ = np.arange(len(tables))
    for _ in range(_ITERATIONS):
        step = _newton_step(design[open_], totals[open_], ones[open_], beta[open_])
        beta[open_] += step
        open_ = open_[np.abs(step).max(axis=1) > _PRECISION]
        if not len(open_):
            break
    return beta[:, 1:]


def _newton_step(design: FloatArray, totals: FloatArray, ones: FloatArray, beta: FloatArray) -> FloatArray:
    """Return one step, of limited length: the penalised likelihood is concave, but a long step may overshoot."""
    chance = logistic((design * beta[:, None, :]).sum(axis=2))
    prior = logistic(beta[:, 1:])
    slope = ((ones - totals * chance)[:, :, None] * design).sum(axis=1)
    slope[:, 1:] += 0.5 - prior
    weight = totals * chance * (1.0 - chance)
    curvature = np.empty((len(beta), beta.shape[1], beta.shape[1]))
    for k in range(beta.shape[1]):
        curvature[:, k] = ((weight * design[:, :, k])[:, :, None] * design).sum(axis=1)
    own = np.arange(beta.shape[1])
    curvature[:, own, own] += 1e-12  # for a variable that never changes
    curvature[:, own[1:], own[1:]] += prior * (1.0 - prior)
    step = (inverses(curvature) * slope[:, None, :]).sum(axis=2)
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, _LARGEST_STEP / np.maximum(longest, 1e-300)))


# Partial correlations.


def _partial_correlations(
    data: Dataset, neighbors: Neighbors, ordered: tuple[bool, ...]
) -> dict[tuple[int, int], float]:
    """Return the partial correlation of each edge of ordered variables, given the neighbours of both ends."""
    table = NumberTable(data, ordered)
    given = {
        (u, v): sorted((set(neighbors[u]) | set(neighbors[v])) - {u, v})
        for u, v in edges_of(neighbors)
        if ordered[u] and ordered[v]
    }
    found: dict[tuple[int, int], float] = {}
    if all(ordered) and len(ordered) <= _WHOLE_UP_TO:
        found = _from_correlations(table.correlations(), given, data.n_records)
    for (u, v), others in given.items():
        if (u, v) not in found:
            value = table.partial(u, v, others)
            if value is not None:
                found[u, v] = value
    return {edge: found[edge] for edge in given if edge in found}


def _from_correlations(
    correlation: FloatArray, given: Mapping[tuple[int, int], list[int]], n_rows: int
) -> dict[tuple[int, int], float]:
    """Return the partial correlations of which the correlation matrix has the digits, many in one call."""
    by_size: dict[int, list[tuple[int, int]]] = {}
    for edge, others in given.items():
        if len(others) < n_rows - 2:
            by_size.setdefault(len(others) + 2, []).append(edge)
    found: dict[tuple[int, int], float] = {}
    for size, edges in by_size.items():
        at_once = max(1, _BLOCK // size**2)
        for k in range(0, len(edges), at_once):
            batch = edges[k : k + at_once]
            places = np.array([[*edge, *given[edge]] for edge in batch])
            blocks = correlation[places[:, :, None], places[:, None, :]]
            found |= {edge: r for edge, r in zip(batch, _partials(blocks), strict=True) if r is not None}
    return found


def _partials(blocks: FloatArray) -> list[float | None]:
    """Return the partial correlation of the first two variables of each matrix; None if it is near singular."""
    inverse = inverses(blocks)  # NaN of a singular one: the rows decide
    own = np.diagonal(inverse, axis1=1, axis2=2)
    clear = [bool(((one > 0) & (one < 1 / _SAME)).all()) for one in own]  # NaN fails both
    r = np.clip(-inverse[:, 0, 1] / np.sqrt(np.abs(own[:, 0] * own[:, 1])), -1.0, 1.0).tolist()
    return [value if known else None for value, known in zip(r, clear, strict=True)]


class NumberTable:
    """Columns as numbers: standardised if ordered, else one indicator column per state."""

    def __init__(self, data: Dataset, ordered: tuple[bool, ...]) -> None:
        self._ordered = ordered
        self._data = data
        repeats = np.ones(data.n_records) if data.repeats is None else data.repeats.astype(np.float64)
        self._root_weights = np.sqrt(repeats / repeats.sum())
        self._blocks: dict[int, FloatArray] = {}

    def correlations(self) -> FloatArray:
        """Return the correlations of all variables, all of them ordered; NaN for a constant one."""
        n, n_records = len(self._ordered), self._data.n_records
        found = np.zeros((n, n))
        size = max(1, _BLOCK // max(n_records, 1))
        blocks = [range(k, min(k + size, n)) for k in range(0, n, size)]
        for i, rows in enumerate(blocks):
            left = self._wide(rows)
            for columns in blocks[i:]:
                right = left if columns is rows else self._wide(columns)
                found[np.ix_(rows, columns)] = products(left.T, right.T)
                found[np.ix_(columns, rows)] = found[np.ix_(rows, columns)].T
        constant = np.diagonal(found) == 0
        np.fill_diagonal(found, 1.0)
        found[constant] = found[:, constant] = np.nan
        return found

    def _wide(self, variables: Collection[int]) -> FloatArray:
        """Return one standardised column per variable; zeros for a constant one."""
        columns = [self._standardised(numbers_of(self._data, x, ordered=self._ordered[x])) for x in variables]
        empty = np.zeros((self._data.n_records, 1))
        return np.concatenate([column if column.shape[1] else empty for column in columns], axis=1)

    def partial(self, u: int, v: int, given: list[int]) -> float | None:
        """Return the correlation of the residuals of u and v after a linear regression on the given variables."""
        pair = np.concatenate([self._block(u), self._block(v)], axis=1)
        if pair.shape[1] < 2:
            return None  # one of them never changes
        held = [self._block(w) for w in given if self._ordered[w] or self._data.cards[w] <= _MOST_STATES]
        basis = np.concatenate(held, axis=1) if held else pair[:, :0]
        if basis.shape[1] >= len(pair) - 2:
            basis = pair[:, :0]  # more regressors than rows: no residual would be left
        both = np.concatenate([pair, basis], axis=1)
        (fast,) = _partials(products(both.T)[None])  # a hundred times as fast as a decomposition of the rows
        if fast is not None:
            return fast
        coefficients = np.linalg.lstsq(basis, pair, rcond=1e-8)[0]
        left = pair - basis @ coefficients
        (uu, uv), (_, vv) = left.T @ left
        return float(np.clip(uv / np.sqrt(uu * vv), -1.0, 1.0)) if min(uu, vv) > _SAME else None

    def _block(self, x: int) -> FloatArray:
        """Return the columns of x, centred and weighted; none if x never changes."""
        if x not in self._blocks:
            if sum(block.size for block in self._blocks.values()) > 10 * _BLOCK:
                self._blocks.clear()
            self._blocks[x] = self._standardised(numbers_of(self._data, x, ordered=self._ordered[x]))
        return self._blocks[x]

    def _standardised(self, columns: FloatArray) -> FloatArray:
        """Return columns of weighted mean 0 and length 1; constant columns are left out."""
        weights = self._root_weights[:, None]
        centred = (columns - (weights**2 * columns).sum(axis=0)) * weights
        length = np.sqrt((centred**2).sum(axis=0))
        kept = length > 1e-12 * (1.0 + np.abs(columns).max(axis=0))
        return np.asarray(centred[:, kept] / length[kept])


def interactions(data: Dataset, neighbors: Neighbors, signed: Sequence[bool]) -> dict[Pair, float]:
    """Return the standardised interaction of every edge; those with a variable that never changes have none.

    Parameters
    ----------
    data
        Variables of any kind. With gaps the part of each variable in the model has the rows in which it and its
        neighbours are observed; a partial correlation those in which both ends and all their neighbours are.
    neighbors
        The neighbours of each variable.
    signed
        Whether each variable has one feature.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(2, size=500)
    >>> data = Dataset(("a", "b"), (2, 0), (a.astype(np.uint8), rng.normal(2.0 * a)), ((0, 1), None))
    >>> interactions(data, [{1}, {0}], (True, True))[0, 1] > 0.5
    True
    """
    edges = edges_of(neighbors)
    if not edges:
        return {}
    fitted = fit_interactions(data, edges, precise=False)
    found = {}
    for u, v in edges:
        weights = fitted.interactions.weights[u, v]
        if not weights.size:
            continue
        value: float | None
        if data.cards[u] or data.cards[v]:
            ends = (fitted.features[u], fitted.features[v])
            curvature = fitted.interactions.curvature
            value = edge_value(ends, weights, (float(curvature[u]), float(curvature[v])))
        else:
            value = _partial_correlation(data, neighbors, signed, (u, v))
        if value is not None:
            found[u, v] = value
    return found


def _partial_correlation(data: Dataset, neighbors: Neighbors, signed: Sequence[bool], edge: Pair) -> float | None:
    """Return the partial correlation of two numbers given the neighbours of both; None if it is undefined."""
    family = [*edge, *sorted((set(neighbors[edge[0]]) | set(neighbors[edge[1]])) - set(edge))]
    rows = observed_rows(data.select(family), range(len(family)))
    if rows.n_records < 3:
        return None
    return NumberTable(rows, tuple(signed[x] for x in family)).partial(0, 1, list(range(2, len(family))))


_log = logging.getLogger("mnlearn.results")
TOO_MANY = "they would take minutes; learned.around(names) has those near some variables"


def weights_of(learned: Learned) -> EdgeWeights | None:
    """Return the weights: those of the file, those that the method estimated, or those that follow from the data."""
    own, n = learned.result.partial_correlations, len(learned.names)
    if learned.saved_weights is not None:
        return learned.saved_weights
    if own is not None:
        return EdgeWeights(
            "penalised partial correlation", {edge: own[edge] for edge in learned.graph.edges}, (True,) * n
        )
    if learned.data is None:
        return None
    data, neighbors = learned.data, [learned.graph.neighbors(x) for x in range(n)]
    if takes_long(data, neighbors):
        _log.warning("no weights of %d edges among %d variables: %s", learned.graph.n_edges, n, TOO_MANY)
        return None
    if learned.settings.get("transform") == "normal_scores":
        data = normal_scores(data)
    return edge_weights(data, neighbors)


def weighted_adjacency(ones: csr_array, weights: EdgeWeights | None) -> Any:
    """Return the adjacency matrix with weights for ones; NaN where a weight is undefined."""
    if weights is None:
        raise InputError(
            "weighted needs the data of the network or a file that holds weights; got neither, or too many edges. "
            "Attach the data: learned.with_data(data); of a large network, use learned.around(names)."
        )
    found = ones.astype(np.float64)
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    ends = zip(rows.tolist(), found.indices.tolist(), strict=True)
    found.data = np.array([weights.values.get((min(u, v), max(u, v)), np.nan) for u, v in ends], dtype=np.float64)
    return found


def weights_alone(numbers: EdgeNumbers) -> EdgeNumbers | None:
    """Return the weights of the edges without their other numbers, for formats with room for one; None without any."""
    return numbers.only("weight") if "weight" in numbers.columns else None
