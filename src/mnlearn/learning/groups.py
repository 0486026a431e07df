"""Permutation tests of whether two or more groups have the same network  [NCT22].

A network is learned from each group. Their differences are measured on the signed weights of the edges
(`mnlearn.regression.weights`); a pair without an edge has weight 0. Then the rows are assigned to groups of the
same sizes at random, and networks are learned and compared again, `n_permutations` times. `analysis/permutations.py`
has the statistics and their p-values.

[NCT22] compares weights of a penalised regression. Here any method and any type of variable will do. With more than
two groups, one test compares all of them, and then every two of them are compared by permutations of their own rows:
permutations of all rows would not be valid for two groups that are equal while a third one differs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from time import process_time
from typing import Any, cast, get_args

import numpy as np

from mnlearn.analysis.groups import (
    STATISTICS,
    Adjustment,
    CentralityDifference,
    GroupComparison,
    Invariance,
    PairDifference,
)
from mnlearn.analysis.permutations import Correction, NetworkTests, Tested, WeightedEdges, corrected, network_tests
from mnlearn.data.dataset import Dataset
from mnlearn.data.options import NUMERIC, VariableType
from mnlearn.data.readers import already_coded
from mnlearn.data.rows import covariate_strata, regroup, take, without_foreign_levels
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
from mnlearn.learning.inputs import DataOptions, load_data
from mnlearn.learning.spec import LearnSpec, resolve
from mnlearn.parallel import run
from mnlearn.protocols import SILENT, IntArray, Monitor
from mnlearn.regression.weights import EdgeWeights
from mnlearn.results.edges import kind_of_frame
from mnlearn.results.learned import Learned

_MOST_GROUPS = 10  # a permutation learns as many networks as the square of the number of groups
_LONG = 10.0  # seconds of CPU time that are worth a note
_log = logging.getLogger("mnlearn.learning")


def compare_groups(
    data: object,
    by: str,
    method: str | None = None,
    *,
    groups: Sequence[object] | None = None,
    adjust: Sequence[str] = (),
    n_permutations: int = 200,
    correction: Correction = "max",
    seed: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    monitor: Monitor = SILENT,
    **options: Any,
) -> GroupComparison:
    """Learn the network of each of two or more groups, and test by permutation whether they differ.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts; all rows of all groups.
    by
        Column that holds the group of each row; not a variable of the networks.
    method
        As for `mnlearn.learn`.
    groups
        Labels of that column, at least two; all of them by default. Needed if there are more than ten.
    adjust
        Columns with covariates, not variables of the networks. Rows are permuted among those with similar covariates.
        Numbers with more than five values are divided into five bins, unless `types` declares the column categorical.
    n_permutations
        Number of random assignments of the rows. No p-value is smaller than 1 / (1 + n_permutations).
    correction
        Correction of p-values for the number of pairs, and of variables: ``"max"``, the share of permutations whose
        largest difference is as large [WY93]; ``"holm"``; ``"fdr"`` [BH95]; or ``"none"``.
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
        The networks; p-values of three statistics of the networks, of every pair that is an edge in one of them, and of
        the strength and the expected influence of every variable.

    Raises
    ------
    InputError
        If the column has one label or more than ten and `groups` is not given, or a setting breaks its rule.

    Notes
    -----
    The states of a variable are those that occur in the rows of all compared groups, or that `levels` declares; the
    measure of the weights depends on these states only. Two networks are learned per permutation for two groups, and
    k² for k > 2 groups. The p-values of the whole networks are exact if the groups do not differ, given the strata of
    the covariates. That of a single pair is approximate if other pairs differ  [NCT22].

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
        check_listed("groups", groups, "labels")
    covariates = _covariates(adjust, by)
    spec = resolve({**options, "method": method})
    rows = _divided(_read(spec, data, by, covariates), by, groups, covariates, _labels(spec))
    spec = spec.decided(rows.pool)
    networks, seconds = _networks(spec, rows, n_jobs)
    compared = _comparisons(len(networks))
    n_networks = wanted * sum(map(len, compared))
    if n_networks * seconds >= _LONG:
        _log.info("%d networks to learn, about %.0f s of CPU time", n_networks, n_networks * seconds)
    permutation = _Permutation(cast(LearnSpec, networks[0].recipe), rows, compared)
    seeds = np.random.SeedSequence(seed).spawn(wanted)
    permuted = list(run(permutation, seeds, n_jobs=n_jobs, client=client, backend="processes", monitor=monitor))
    if not permuted:
        raise MnlearnError("the test was cancelled before the first permutation ended. Let it run longer.")
    weights = cast(EdgeWeights, networks[0].weights)
    tables = _Tables(rows.labels, networks[0].names, _tests(networks, compared, permuted), correction)
    return GroupComparison(
        by,
        rows.labels,
        tuple(replace(network, frame=kind_of_frame(data)) for network in networks),
        weights.measure,
        tables.statistics(),
        tables.pairs(networks),
        tables.centralities(("strength", "expected_influence") if all(weights.ordered) else ("strength",)),
        correction,
        rows.adjustment(covariates),
        wanted,
        len(permuted),
        seed,
    )


# Reading.


@dataclass(frozen=True)
class _GroupedRows:
    """The rows of all groups, without the columns of groups and covariates."""

    labels: tuple[str, ...]
    pool: Dataset
    groups: IntArray  # of each stored row
    strata: IntArray

    def of(self, some: Sequence[int]) -> _GroupedRows:
        """Return the rows of some groups, which are numbered from 0 in this order."""
        if len(some) == len(self.labels):
            return self
        place = np.full(len(self.labels), -1)
        place[list(some)] = np.arange(len(some))
        kept = np.flatnonzero(np.isin(self.groups, some))
        labels = tuple(self.labels[k] for k in some)
        return _GroupedRows(labels, take(self.pool, kept), place[self.groups[kept]], self.strata[kept])

    def parts(self) -> list[Dataset]:
        return [take(self.pool, np.flatnonzero(self.groups == k)) for k in range(len(self.labels))]

    def adjustment(self, covariates: tuple[str, ...]) -> Adjustment | None:
        """Return the number of strata, and of rows that a permutation may assign to another group."""
        if not covariates:
            return None
        mixed = _mixed_strata(self.groups, self.strata)
        repeats = self.pool.repeats
        movable = mixed[self.strata]
        n_rows = int(movable.sum() if repeats is None else repeats[movable].sum())
        return Adjustment(covariates, len(mixed), n_rows)


def _covariates(adjust: Sequence[str], by: str) -> tuple[str, ...]:
    """Return the names of the covariates."""
    check_listed("adjust", adjust, "names of columns")
    names = tuple_of("adjust", adjust, "names of columns")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"adjust must be a list of names of columns; got {name!r}. Names are strings.")
    if by in names or len(set(names)) < len(names):
        raise InputError(f"adjust must name columns other than by, each once; got {list(names)}. Drop the others.")
    return names


def _labels(spec: LearnSpec) -> set[str]:
    """Return the columns that the caller declares categorical, or whose states the caller lists."""
    types, levels = _types(spec.reading), spec.reading.get("levels") or {}
    return {*levels, *(name for name, kind in types.items() if kind not in NUMERIC)}


def _types(reading: DataOptions) -> Mapping[str, VariableType]:
    """Return the declared types by column, or by the range of all columns."""
    types = reading.get("types") or {}
    return {":": types} if isinstance(types, str) else types


def _read(spec: LearnSpec, data: object, by: str, covariates: Sequence[str]) -> Dataset:
    """Read the chosen columns, the one with the groups and the covariates; these are categorical unless declared."""
    reading = spec.reading.copy()
    if reading.get("weights") is not None or (isinstance(data, Dataset) and data.weighting is not None):
        raise InputError(
            "weights cannot be used to compare groups, whose rows are exchanged between them; got weights. Learn the "
            "network of each group (learn(..., weights=...)), and use compare."
        )
    coded = already_coded(data)
    if coded is None:
        labels: dict[str, VariableType] = dict.fromkeys(covariates, "categorical")
        reading["types"] = {**labels, **_types(reading), by: "categorical"}
    columns, more = reading.get("columns"), (*covariates, by)
    reading["columns"] = None if columns is None else [*(name for name in columns if name not in more), *more]
    try:
        return load_data(data if coded is None else coded, **reading)
    except UnknownNameError as error:
        named = str(error)
        for option, name in (("by", by), *(("adjust", name) for name in covariates)):
            named = re.sub(rf"^(types|columns): column (?={re.escape(repr(name))})", f"{option}: column ", named)
        raise UnknownNameError(named) from error


def _divided(
    data: Dataset, by: str, groups: Sequence[object] | None, covariates: Sequence[str], as_labels: set[str]
) -> _GroupedRows:
    """Return the rows of the chosen groups."""
    for option, name in (("by", by), *(("adjust", name) for name in covariates)):
        if name not in data.names:
            raise unknown_name(f"{option}: column", name, data.names)
    index = data.index(by)
    column, labels = data.columns[index], data.levels[index]
    if labels is None:
        raise DataError(f"by must name a categorical column; {by!r} is continuous. Name another, or discretise it.")
    present = [label for code, label in enumerate(labels) if (column == code).any()]
    chosen = present if groups is None else [_label(label, present, by) for label in tuple_of("groups", groups, "")]
    if not 2 <= len(chosen) <= _MOST_GROUPS or len(set(chosen)) < len(chosen):
        shown = ", ".join(map(repr, chosen[:8])) + ", ..." * (len(chosen) > 8)
        raise InputError(
            f"groups must be 2 to {_MOST_GROUPS} different labels of {by!r}; got {len(chosen)}: {shown}. Name some: "
            "groups=[...]."
        )
    others = [name for name in data.names if name not in (by, *covariates)]
    if len(others) < 2:
        beside = " and ".join(map(repr, (by, *covariates)))
        raise DataError(f"data must have at least 2 columns beside {beside}; got {len(others)}. Add columns.")
    codes = [labels.index(label) for label in chosen]
    kept = np.flatnonzero(np.isin(column, codes))
    place = np.full(len(labels), -1)
    place[codes] = np.arange(len(codes))
    rows = data.select(others)
    of_rows, strata = place[column[kept]], covariate_strata(take(data, kept), covariates, labels=as_labels)
    if covariates and not _mixed_strata(of_rows, strata).any():
        raise DataError(
            f"adjust must leave strata with rows of several groups; of the {strata.max() + 1} combinations of "
            f"{', '.join(map(repr, covariates))}, each occurs in one group only. Adjust for fewer columns."
        )
    pool = without_foreign_levels(take(rows, kept), rows)
    return _GroupedRows(tuple(map(str, chosen)), pool, of_rows, strata)


def _mixed_strata(groups: IntArray, strata: IntArray) -> Any:
    """Return whether each stratum has rows of several groups."""
    found = np.zeros((int(strata.max()) + 1, int(groups.max()) + 1), dtype=np.bool_)
    found[strata, groups] = True
    return found.sum(axis=1) > 1


def _label(wanted: object, labels: Sequence[object], by: str) -> object:
    """Return the label that equals the wanted one, or has the same string."""
    for label in labels:
        if str(label) == str(wanted) or (not isinstance(wanted, np.ndarray) and label == wanted):
            return label
    raise unknown_name(f"groups: label of {by!r}", wanted, [str(label) for label in labels])


# Learning.


def _networks(spec: LearnSpec, rows: _GroupedRows, n_jobs: int | None) -> tuple[list[Learned], float]:
    """Learn the network of each group by the same method with the same settings; also return the CPU time of one."""
    began = process_time()
    first, *parts = rows.parts()
    one = spec.learn(first, n_jobs=n_jobs)
    others = [cast(LearnSpec, one.recipe).learn(part, n_jobs=n_jobs) for part in parts]
    return [one, *(replace(other, choice=one.choice) for other in others)], (process_time() - began) / len(rows.labels)


def _comparisons(n_groups: int) -> list[tuple[int, ...]]:
    """Return the sets of groups to compare: all of them, then every two."""
    pairs: list[tuple[int, ...]] = list(combinations(range(n_groups), 2))
    return pairs if n_groups == 2 else [tuple(range(n_groups)), *pairs]


def _weighted(network: Learned) -> WeightedEdges:
    """Return the edges with their weights; 0 for a weight that is undefined."""
    known = cast(EdgeWeights, network.weights).values
    edges = list(network.graph.edges)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return WeightedEdges(ends, np.array([known.get(edge, 0.0) for edge in edges], dtype=np.float64))


@dataclass(frozen=True)
class _Permutation:
    """Task for another process: assign the rows at random and learn the networks, for each comparison."""

    spec: LearnSpec
    rows: _GroupedRows
    compared: Sequence[tuple[int, ...]]

    def __call__(self, seed: np.random.SeedSequence) -> list[list[WeightedEdges]]:
        each = iter([_weighted(self.spec.learn(part, n_jobs=1)) for part in self._parts(seed)])
        return [[next(each) for _ in some] for some in self.compared]

    def _parts(self, seed: np.random.SeedSequence) -> list[Dataset]:
        """Assign the rows to the groups of each comparison."""
        generator, found = np.random.default_rng(seed), list[Dataset]()
        for some in self.compared:
            rows = self.rows.of(some)
            found += regroup(rows.pool, rows.groups, rows.strata, generator)
        return found


# Tables of the tests, by name.


def _tests(
    networks: Sequence[Learned],
    compared: Sequence[tuple[int, ...]],
    permuted: Sequence[Sequence[list[WeightedEdges]]],
) -> dict[tuple[int, ...], NetworkTests]:
    """Return the tests of each comparison."""
    real, n = [_weighted(network) for network in networks], len(networks[0].names)
    found = {}
    for k, some in enumerate(compared):
        assignments = [[real[g] for g in some], *(networks_of[k] for networks_of in permuted)]
        found[some] = network_tests(assignments, [networks[g].n_rows or 0 for g in some], n)
    return found


@dataclass(frozen=True)
class _Tables:
    """The tests of all comparisons with the names of groups and variables."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    tests: Mapping[tuple[int, ...], NetworkTests]
    correction: Correction

    @property
    def twos(self) -> dict[tuple[int, int], NetworkTests]:
        """The comparisons of two groups."""
        return {(some[0], some[1]): tests for some, tests in self.tests.items() if len(some) == 2}

    def statistics(self) -> tuple[Invariance, ...]:
        """Return the statistics of whole networks: of all groups, then of every two; these are corrected."""
        fixed = {
            name: iter(corrected(np.array([tests.whole[name][1] for tests in self.twos.values()]), self.correction))
            for name in STATISTICS
        }
        listed = []
        for some, tests in self.tests.items():
            for name, (value, p) in tests.whole.items():
                p_corrected = float(next(fixed[name])) if len(some) == 2 else p
                listed.append(Invariance(name, tuple(self.labels[g] for g in some), value, p, p_corrected))
        return tuple(listed)

    def pairs(self, networks: Sequence[Learned]) -> tuple[PairDifference, ...]:
        """Return the pairs that are an edge in one of two groups, sorted by p, then by the size of the difference."""
        n = len(self.names)
        p, fixed = map(iter, self._corrected([tests.weights for tests in self.twos.values()], n * (n - 1) // 2))
        listed = []
        for (g, h), tests in self.twos.items():
            groups = (self.labels[g], self.labels[h])
            for (u, v), (first, second) in zip(tests.edges.tolist(), tests.weights.values.T.tolist(), strict=True):
                edges = (networks[g].graph.has_edge(u, v), networks[h].graph.has_edge(u, v))
                ends = (self.names[u], self.names[v])
                listed.append(PairDifference(groups, *ends, (first, second), edges, next(p), next(fixed)))
        return tuple(sorted(listed, key=lambda pair: (pair.p, -abs(pair.difference))))

    def centralities(self, measures: Sequence[str]) -> tuple[CentralityDifference, ...]:
        """Return these centralities of each variable in every two groups, sorted like pairs."""
        listed = []
        for measure in measures:
            tested = [tests.centralities[measure] for tests in self.twos.values()]
            p, fixed = map(iter, self._corrected(tested, len(self.names)))
            for (g, h), found in zip(self.twos, tested, strict=True):
                groups = (self.labels[g], self.labels[h])
                for name, (first, second) in zip(self.names, found.values.T.tolist(), strict=True):
                    listed.append(CentralityDifference(groups, name, measure, (first, second), next(p), next(fixed)))
        return tuple(sorted(listed, key=lambda one: (one.p, -abs(one.difference))))

    def _corrected(self, tested: Sequence[Tested], n_tests: int) -> tuple[list[float], list[float]]:
        """Return the p-values of all comparisons of two groups, and the corrected ones."""
        p = np.concatenate([one.p for one in tested])
        if self.correction == "max":
            fixed = np.minimum(np.concatenate([one.p_max for one in tested]) * len(tested), 1.0)
        else:
            fixed = corrected(p, self.correction, n_tests * len(tested))
        return p.tolist(), fixed.tolist()
