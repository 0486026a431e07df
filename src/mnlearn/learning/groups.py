"""Permutation test of whether two groups have the same network  [NCT22].

A network is learned from each group. Three statistics measure their difference: the number of edges in only one of
them, the difference of total strength, and the largest difference of strength of a pair. Then the rows are assigned to
two groups of the same sizes at random, and networks are learned and compared again, `n_permutations` times. A p-value
is the share of assignments, the real one included, whose difference is at least as large as the real one.

[NCT22] compares weights of a penalised regression. Here any method and any type of variable will do: the strength of
an edge is the mutual information of its ends in nats per row given the other neighbours of one end, averaged over both
ends, minus its expectation dof / (2 N) under independence. A pair without an edge has strength 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import already_coded
from mnlearn.data.resample import split, take, without_foreign_levels
from mnlearn.errors import (
    DataError,
    InputError,
    MnlearnError,
    UnknownNameError,
    check_listed,
    check_name,
    tuple_of,
    unknown_name,
    whole_number,
)
from mnlearn.graphs.graph import Edge
from mnlearn.learning.inputs import is_continuous, load_data
from mnlearn.learning.spec import LearnSpec, resolve
from mnlearn.parallel import run
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.results.edges import kind_of_frame
from mnlearn.results.groups import GroupComparison, Invariance, PairDifference
from mnlearn.results.learned import Learned
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.moments import Moments

Correction: TypeAlias = Literal["holm", "fdr", "none"]
_ROUNDING = 1e-9  # differences as large as the real one up to this count as reaching it


class _Distances(NamedTuple):
    """Differences of two networks."""

    edges: float
    strength: float
    largest: float
    pairs: FloatArray  # |difference of strengths| of each tested pair


def compare_groups(
    data: object,
    by: str,
    method: str | None = None,
    *,
    groups: Sequence[object] | None = None,
    n_permutations: int = 200,
    correction: Correction = "holm",
    seed: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    monitor: Monitor = SILENT,
    **options: Any,
) -> GroupComparison:
    """Learn the network of each of two groups, and test by permutation whether they differ.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts; all rows of both groups.
    by
        Column that holds the group of each row; not a variable of the networks.
    method
        As for `mnlearn.learn`.
    groups
        Two labels of that column; needed if it has more than two.
    n_permutations
        Number of random assignments of the rows. No p-value is smaller than 1 / (1 + n_permutations).
    correction
        Correction of the p-values of pairs for their number: ``"holm"``, ``"fdr"`` (Benjamini and Hochberg) or
        ``"none"``.
    seed
        Seed of the permutations; it determines the p-values for any number of jobs.
    n_jobs
        Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
    client
        A `distributed.Client`, whose workers are used instead.
    monitor
        Receives the progress, and can cancel: the p-values are then those of the permutations so far.
    **options
        Other options of `mnlearn.learn`.

    Returns
    -------
    GroupComparison
        Both networks, the p-values of the three statistics, and that of every pair that is an edge in one of them.

    Raises
    ------
    InputError
        If the column has more than two labels and `groups` is not given, or a setting breaks its rule.

    Notes
    -----
    The states of a variable are those that occur in the rows of both groups together, or that `levels` declares. Two
    networks are learned per permutation. The p-value of a pair is exact if the groups do not differ at all; if
    other pairs differ, it is the usual approximation  [NCT22].

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y, group = (rng.integers(0, 2, 400) for _ in range(3))
    >>> data = {"x": x, "y": np.where(group == 1, x, y), "z": rng.integers(0, 2, 400), "group": group}
    >>> found = compare_groups(data, "group", n_permutations=50, n_jobs=1)
    >>> found.difference.only_there, found.statistics[2].p < 0.05
    ((('x', 'y'),), True)
    """
    wanted = whole_number("n_permutations", n_permutations, least=1, most=10**7, hint="200 are usual.")
    whole_number("seed", seed, least=0, hint="Leave it out for 0.")
    check_name("correction", correction, get_args(Correction))
    if not isinstance(by, str):
        raise InputError(f"by must be the name of a column; got {by!r}. Names are strings.")
    if groups is not None:
        check_listed("groups", groups, "two labels")
    spec = resolve({**options, "method": method})
    labels, parts, pool = _divided(_read(spec, data, by), by, groups)
    spec = spec.decided(pool)
    one, two = networks = _networks(spec, parts, n_jobs)
    pairs = sorted({*one.graph.edges, *two.graph.edges})
    strengths = [strength(network, spec.prepared(part)) for network, part in zip(networks, parts, strict=True)]
    real = _distances(networks, strengths, pairs)
    permutation = _Permutation(cast(LearnSpec, one.recipe), pool, parts[0].n_rows, tuple(pairs))
    seeds = np.random.SeedSequence(seed).spawn(wanted)
    permuted = list(run(permutation, seeds, n_jobs=n_jobs, client=client, backend="processes", monitor=monitor))
    if not permuted:
        raise MnlearnError("the test was cancelled before the first permutation ended. Let it run longer.")
    p = _p_values(real.pairs, np.array([distances.pairs for distances in permuted]))
    statistics = tuple(_invariance(name, real, permuted) for name in ("edges", "strength", "largest"))
    listed = _pairs(networks, strengths, pairs, p, correction)
    one, two = (replace(network, frame=kind_of_frame(data)) for network in networks)
    return GroupComparison(by, labels, (one, two), statistics, listed, correction, wanted, len(permuted), seed)


def _read(spec: LearnSpec, data: object, by: str) -> Dataset:
    """Read the chosen columns and the one with the groups, which is always categorical."""
    reading = spec.reading.copy()
    if reading.get("weights") is not None or (isinstance(data, Dataset) and data.weighting is not None):
        raise InputError(
            "weights cannot be used to compare groups, whose rows are exchanged between them; got weights. Learn the "
            "network of each group (learn(..., weights=...)), and use compare."
        )
    coded = already_coded(data)
    if coded is None:
        reading["types"] = {**(reading.get("types") or {}), by: "categorical"}
    columns = reading.get("columns")
    reading["columns"] = None if columns is None else [*(name for name in columns if name != by), by]
    try:
        return load_data(data if coded is None else coded, **reading)
    except UnknownNameError as error:
        named = re.sub(rf"^(types|columns): column (?={re.escape(repr(by))})", "by: column ", str(error))
        raise UnknownNameError(named) from error


def _networks(spec: LearnSpec, parts: Sequence[Dataset], n_jobs: int | None) -> tuple[Learned, Learned]:
    """Learn the network of each group by the same method with the same settings."""
    one = spec.learn(parts[0], n_jobs=n_jobs)
    two = cast(LearnSpec, one.recipe).learn(parts[1], n_jobs=n_jobs)
    return one, replace(two, choice=one.choice)


@dataclass(frozen=True)
class _Permutation:
    """Task for another process: assign the rows at random, learn two networks, compare them."""

    spec: LearnSpec
    rows: Dataset
    n_first: int
    pairs: tuple[Edge, ...]

    def __call__(self, seed: np.random.SeedSequence) -> _Distances:
        parts = split(self.rows, self.n_first, np.random.default_rng(seed))
        networks = [self.spec.learn(part, n_jobs=1) for part in parts]
        strengths = [strength(network, self.spec.prepared(part)) for network, part in zip(networks, parts, strict=True)]
        return _distances(networks, strengths, self.pairs)


def strength(network: Learned, data: Dataset) -> FloatArray:
    """Return I(x; y | other neighbours of x) − dof / (2 N) of every edge, averaged over both ends; 0 elsewhere."""
    n, n_rows = len(network.names), data.n_rows
    blankets = [network.graph.neighbors(x) for x in range(n)]
    found = np.zeros((n, n))
    if is_continuous(data, "the strength of an edge"):
        moments = Moments(data)
        for x, blanket in enumerate(blankets):
            r = np.nan_to_num(moments.member_correlations(x, blanket)) if blanket else np.empty(0)  # NaN: a copy
            found[x, sorted(blanket)] = -0.5 * np.log1p(-(r**2)) - 0.5 / n_rows
    else:
        members = Counts(data, n_jobs=1).members(kernels.mi(), range(n), blankets)
        for x, (information, dof) in enumerate(members):
            found[x, sorted(blankets[x])] = information - dof / (2 * n_rows)
    return np.maximum((found + found.T) / 2, 0.0)


def _distances(networks: Sequence[Learned], strengths: Sequence[FloatArray], pairs: Sequence[Edge]) -> _Distances:
    """Return the number of edges in only one; |Σ s₁ − Σ s₂|; max |s₁ − s₂|; and |s₁ − s₂| of these pairs."""
    first, second = (set(network.graph.edges) for network in networks)
    difference = np.abs(strengths[0] - strengths[1])
    totals = [float(np.triu(matrix).sum()) for matrix in strengths]
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    largest = float(difference.max(initial=0.0))
    return _Distances(len(first ^ second), abs(totals[0] - totals[1]), largest, difference[ends[:, 0], ends[:, 1]])


def _invariance(name: str, real: _Distances, permuted: Sequence[_Distances]) -> Invariance:
    """Return one statistic of the whole networks with its p-value."""
    value = float(getattr(real, name))
    by_chance = np.array([[getattr(distances, name)] for distances in permuted])
    return Invariance(name, value, float(_p_values(np.array([value]), by_chance)[0]))


def _p_values(real: FloatArray, permuted: FloatArray) -> FloatArray:
    """Return (1 + permutations that reach the real value) / (1 + permutations) for each column."""
    slack = _ROUNDING * np.maximum(1.0, np.abs(real))
    reached: NDArray[np.int64] = (permuted >= real - slack).sum(axis=0)
    return np.asarray((1.0 + reached) / (1.0 + len(permuted)), dtype=np.float64)


def _pairs(
    networks: Sequence[Learned], strengths: Sequence[FloatArray], pairs: Sequence[Edge], p: FloatArray, correction: str
) -> tuple[PairDifference, ...]:
    """Return the pairs by name, sorted by p, then by the size of the difference."""
    names, corrected = networks[0].names, _corrected(p, correction)
    listed = []
    for k, (u, v) in enumerate(pairs):
        both = (float(strengths[0][u, v]), float(strengths[1][u, v]))
        edges = (networks[0].graph.has_edge(u, v), networks[1].graph.has_edge(u, v))
        listed.append(PairDifference(names[u], names[v], both, edges, float(p[k]), float(corrected[k])))
    return tuple(sorted(listed, key=lambda pair: (pair.p, -abs(pair.strengths[0] - pair.strengths[1]))))


def _corrected(p: FloatArray, correction: str) -> FloatArray:
    """Correct p-values by Holm's step down or by the false discovery rate of Benjamini and Hochberg."""
    m = len(p)
    if correction == "none" or not m:
        return p
    order = np.argsort(p, kind="stable")
    corrected = np.empty(m)
    if correction == "holm":
        corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(m, 0, -1)), 1.0)
    else:
        stepped = np.minimum.accumulate((p[order] * m / np.arange(1, m + 1))[::-1])[::-1]
        corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _divided(
    data: Dataset, by: str, groups: Sequence[object] | None
) -> tuple[tuple[str, str], tuple[Dataset, Dataset], Dataset]:
    """Return the labels of the two groups; the rows of each, and of both, without the column of the groups."""
    if by not in data.names:
        raise unknown_name("by: column", by, data.names)
    index = data.index(by)
    column, labels = data.columns[index], data.levels[index]
    if labels is None:
        raise DataError(f"by must name a categorical column; {by!r} is continuous. Name another, or discretise it.")
    present = [label for code, label in enumerate(labels) if (column == code).any()]
    named = None if groups is None else tuple_of("groups", groups, "labels")
    chosen = present if named is None else [_label(label, present, by) for label in named]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        shown = ", ".join(map(repr, chosen[:8]))
        raise InputError(
            f"groups must be two different labels of {by!r}; got {len(chosen)}: {shown}. Name two: groups=(..., ...)."
        )
    others = [name for name in data.names if name != by]
    if len(others) < 2:
        raise DataError(f"data must have at least 2 columns beside {by!r}; got {len(others)}. Add columns.")
    codes = [labels.index(label) for label in chosen]
    rows = data.select(others)
    groups_of_rows = np.flatnonzero(np.isin(column, codes))
    pool = without_foreign_levels(take(rows, groups_of_rows), rows)
    one, two = (take(pool, np.flatnonzero(column[groups_of_rows] == code)) for code in codes)
    return (str(chosen[0]), str(chosen[1])), (one, two), pool


def _label(wanted: object, labels: Sequence[object], by: str) -> object:
    """Return the label that equals the wanted one, or has the same string."""
    for label in labels:
        if str(label) == str(wanted) or (not isinstance(wanted, np.ndarray) and label == wanted):
            return label
    raise unknown_name(f"groups: label of {by!r}", wanted, [str(label) for label in labels])
