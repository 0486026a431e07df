"""Comparison of several methods on the same data with the true network.

Judge a graph by held-out data: its independences, and the pseudo-likelihood of the model fitted on it.

Where no true graph is known, rows that the learner has not seen can still speak for or against a graph. They are asked
random independences (x, y, z), as many for each size of z  [JAIR09, Sec. 5.2], and how probable they are under the
graph's model, given by the conditionals log p(x_j | all others).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from math import sqrt
from time import process_time
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.options import ColumnNames, ColumnSelection, ReadOptions, TableOptions
from mnlearn.data.readers import already_coded, load_table
from mnlearn.errors import (
    InputError,
    UnknownNameError,
    check_listed,
    check_methods,
    check_name,
    check_path,
    is_number,
    whole_number,
)
from mnlearn.evaluation.metrics import Confusion, compare_edges
from mnlearn.evaluation.subgraphs import Accuracy, align, count_agreements, sample_triplets
from mnlearn.graphs.formats import read_graph
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.learning.api import learn
from mnlearn.learning.custom import TestLike
from mnlearn.learning.inputs import (
    DataOptions,
    GraphLike,
    check_dataset,
    decide_transform,
    graph_over,
    is_continuous,
    load_data,
    split_options,
    transformed,
)
from mnlearn.learning.registry import METHODS, TESTS, make_test, named_or_own
from mnlearn.model.base import MarkovModel
from mnlearn.model.fitting import fit
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.results.learned import Learned
from mnlearn.statistics.opening import Counting


class MethodResult(NamedTuple):
    """Network that one method learned, with its errors; or, as `refusal`, why it does not accept the data."""

    method: str
    learned: Learned | None
    edges: Confusion | None
    seconds: float  # processor time of this process
    refusal: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return one line of `mnlearn compare --json`."""
        if self.learned is None or self.edges is None:
            return {"method": self.method, "error": self.refusal}
        found, cost = self.edges, self.learned.cost
        return {
            "method": self.method,
            "edges": self.learned.graph.n_edges,
            "hamming": found.hamming,
            "fp": found.false_positives,
            "fn": found.false_negatives,
            "precision": found.precision,
            "recall": found.recall,
            "f1": found.f1,
            "normalized_hamming": found.normalized_hamming,
            "settings": self.learned.to_dict()["settings"],
            "cost": dict(cost),
            "converged": self.learned.converged,
            "seconds": self.seconds,
        }


def compare(
    data: Dataset,
    truth: NamedGraph | str | os.PathLike[str],
    methods: Sequence[str],
    *,
    test: TestLike | None = None,
    alpha: float | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    monitor: Monitor = SILENT,
) -> list[MethodResult]:
    """Learn by several methods and compare each network with the true one.

    Parameters
    ----------
    data
        A `Dataset`, as `mnlearn.read` returns it.
    truth
        The true graph over the same names, or a file with it.
    methods
        Names of `METHODS`, each once.
    test, alpha
        For the methods that use tests; the others ignore them.
    n_jobs
        Number of threads or processes: None or −1 for all cores, else that many. Any number gives the same result.
    client
        As for `learn`.
    monitor
        Receives the progress of each method in turn, and can cancel.

    Returns
    -------
    list of MethodResult
        In the order of `methods`. A method that does not accept the data has a `refusal` instead of a network.

    Examples
    --------
    >>> from mnlearn.simulate import simulate
    >>> drawn = simulate("path:n=5", "odds:theta=2.5", n_rows=2000, seed=1)
    >>> [(line.method, line.edges.hamming) for line in compare(drawn.data, drawn.truth, ["gsmn", "mpl"])]
    [('gsmn', 0), ('mpl', 0)]
    """
    check_dataset("data", data)
    known = truth if isinstance(truth, NamedGraph) else _read_truth(truth)
    _check_methods(methods)
    _check_settings(test, alpha, n_jobs, client, monitor)
    align(NamedGraph(Graph.empty(data.n_variables), data.names), known)
    of_test = {name: value for name, value in (("test", test), ("alpha", alpha)) if value is not None}
    found = []
    for method in methods:
        if monitor.cancelled():
            break
        settings: dict[str, Any] = {"n_jobs": n_jobs, "client": client, "monitor": monitor}
        settings |= of_test if METHODS[method].judge == "test" else {}
        found.append(_result(data, known, method, settings))
    return found


def _read_truth(truth: object) -> NamedGraph:
    check_path("truth", truth)
    return read_graph(cast("str", truth))


def _check_settings(test: object, alpha: object, n_jobs: int | None, client: object, monitor: object) -> None:
    """Check once, before the first method, what would be wrong for all of them."""
    if test is not None:
        named_or_own("test", test)  # raises
    if alpha is not None and not (is_number(alpha) and 0 < cast("float", alpha) < 1):
        raise InputError(f"alpha must be between 0 and 1, both excluded; got {alpha!r}. Usual values: 0.05, 0.01.")
    Counting(n_jobs, client)  # raises
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")


def _result(data: Dataset, truth: NamedGraph, method: str, settings: dict[str, Any]) -> MethodResult:
    """Learn by one method and compare; or catch why the method does not accept the data."""
    start = process_time()
    try:
        learned = learn(data, method, **settings)
    except InputError as error:
        return MethodResult(method, None, None, process_time() - start, str(error))
    seconds = process_time() - start
    found, true = align(NamedGraph(learned.graph, learned.names), truth)
    return MethodResult(method, learned, compare_edges(found, true), seconds)


def _check_methods(methods: Sequence[str]) -> None:
    """Raise InputError unless there is at least one method, each known and none twice."""
    check_listed("methods", methods, "methods")
    if not isinstance(methods, Sequence):
        raise InputError(f"methods must be a list of methods; got {methods!r:.80}. Use list(...).")
    for place, method in enumerate(methods):
        check_name("method", method, METHODS, shown=30)
        if method in methods[:place]:
            raise InputError(f"methods must be named once each; got {method!r} twice. Drop one.")
    if not methods:
        raise InputError(f"methods must name at least one method; got none. Known: {', '.join(METHODS)}.")


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    standard_error: float


class SizeAccuracy(NamedTuple):
    """Agreement of graph and data on the triplets with conditioning sets of one size."""

    size: int
    n_triplets: int
    agreement: float
    standard_error: float


@dataclass(frozen=True)
class Validation:
    """A graph judged by held-out data.

    Attributes
    ----------
    variables, edges, rows
        Size of the graph, and number of held-out rows.
    train_rows, folds
        Number of rows that the parameters were fitted to; or, without such rows, the number of folds of the
        cross-validation. The other is None.
    test
        Name of the independence test.
    triplets
        Agreement of graph and data on all triplets, by outcome.
    accuracy
        Share of triplets on which they agree; its standard error is that of the draw of triplets.
    by_size
        Accuracy for each size of the conditioning set.
    pseudolikelihood, empty, gain
        Mean over the held-out rows of Σ_j log p(x_j | all others), in nats: under the model of this graph, under that
        of the graph without edges, and their difference.
    notes
        Remarks, such as columns that are not in the graph.
    """

    variables: int
    edges: int
    rows: int
    train_rows: int | None
    folds: int | None
    test: str
    triplets: Accuracy
    accuracy: Estimate
    by_size: tuple[SizeAccuracy, ...]
    pseudolikelihood: Estimate
    empty: Estimate
    gain: Estimate
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn evaluate --data --json` prints under "held_out"."""
        return {
            "variables": self.variables,
            "edges": self.edges,
            "rows": self.rows,
            "train_rows": self.train_rows,
            "folds": self.folds,
            "test": self.test,
            "triplets": asdict(self.triplets),
            "accuracy": self.accuracy._asdict(),
            "by_size": [each._asdict() for each in self.by_size],
            "pseudolikelihood": self.pseudolikelihood._asdict(),
            "empty": self.empty._asdict(),
            "gain": self.gain._asdict(),
            "notes": list(self.notes),
        }


def validate(
    graph: GraphLike,
    data: object,
    *,
    train: object = None,
    test: TestLike | None = None,
    n_triplets: int = 10_000,
    folds: int = 5,
    interactions: Literal["cliques", "pairwise"] = "cliques",
    seed: int = 0,
    n_jobs: int | None = None,
    **options: Any,
) -> Validation:
    """Judge a graph by data that it was not learned from.

    Parameters
    ----------
    graph
        A file that `mnlearn.read_graph` reads, a `NamedGraph` or a result of `learn`: variables are matched by name,
        and other columns of the data are ignored. Or pairs of names, or a `Graph`, over all columns.
    data
        Held-out rows: anything that `mnlearn.read` accepts; all variables of the graph of one type.
    train
        Rows to fit the parameters to. Without them, each fold of the held-out rows is predicted from the others.
    test
        As for `mnlearn.independence_test`.
    n_triplets
        Number of independences (x, y, z), spread evenly over the sizes of z; 10,000 in [JAIR09].
    folds
        Number of folds of the cross-validation, at least 2.
    interactions
        Factors of a categorical model: on the cliques of the graph, or on its edges only. Continuous variables have a
        Gaussian model.
    seed
        Seed of the triplets and folds.
    n_jobs
        Number of threads of the test: None or −1 for all cores, else that many. Any number gives the same result.
    **options
        How the data are read, as for `mnlearn.learn`; ``transform``, which only the tests use. Others are settings of
        the test, such as ``alpha``.

    Raises
    ------
    UnknownNameError
        If the data lack a variable of the graph, or there is no such test.
    InputError
        If an option is invalid, or `discretize` is given with `train`.

    Notes
    -----
    10,000 tests; without `train`, twice as many fits as there are folds. A state that occurs in the held-out rows only
    is an error with `train`; folds share all states.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> survey, later = example(1000, seed=1), example(500, seed=2)
    >>> graph = NamedGraph(survey.graph, survey.names)
    >>> found = validate(graph, later.columns(), train=survey.columns(), n_triplets=1000)
    >>> empty = validate(NamedGraph(Graph.empty(12), survey.names), later.columns(), n_triplets=1000)
    >>> found.accuracy.mean > empty.accuracy.mean, found.gain.mean > empty.gain.mean
    (True, True)
    """
    reading, settings = split_options(options)
    whole_number("folds", folds, least=2, hint="Use for example 5, or give the rows to fit to (train).")
    whole_number("seed", seed, least=0, hint="Use for example 0.")
    if train is not None and reading.get("discretize") is not None:
        raise InputError(
            "discretize cannot be given with train, since the two would be cut at different points; got both. "
            "Discretise them together before, or drop train."
        )
    rows, over, notes = _held_out(graph, data, reading)
    if isinstance(test, str) and test in TESTS and "seed" in TESTS[test].settings:
        settings.setdefault("seed", seed)
    transform = decide_transform(rows, settings.pop("transform", "auto"))
    if transform:
        notes = (*notes, "the tests use normal scores of the ranks, the model uses the values")
    judge = make_test(test, transformed(rows, transform), n_jobs=n_jobs, **settings)
    fitting = {} if is_continuous(rows, "a model") else {"interactions": interactions}
    by_size = _accuracies(over, judge, n_triplets, seed)
    triplets = Accuracy(*np.sum([list(asdict(each).values()) for each in by_size.values()], axis=0).tolist())
    known = None if train is None else _read("train", train, {**reading, "columns": rows.names})
    parts = _folds(rows, folds, seed) if known is None else [(known, rows)]
    weights, full, bare = _row_scores(over, parts, fitting)
    return Validation(
        rows.n_variables,
        over.n_edges,
        rows.n_rows,
        None if known is None else known.n_rows,
        folds if known is None else None,
        judge.name,
        triplets,
        _share(triplets),
        tuple(SizeAccuracy(size, each.n_triplets, *_share(each)) for size, each in by_size.items()),
        _mean(full, weights),
        _mean(bare, weights),
        _mean(full - bare, weights),
        notes,
    )


def _held_out(graph: GraphLike, data: object, reading: DataOptions) -> tuple[Dataset, Graph, tuple[str, ...]]:
    """Return the rows with the variables of the graph, the graph over them, and a note about other columns."""
    if isinstance(graph, str | os.PathLike):
        graph = read_graph(graph)
    if not isinstance(graph, NamedGraph | Learned) or reading.get("columns") is not None:
        rows = _read("data", data, reading)
        return rows, graph_over(rows, graph), ()
    rows = _read("data", data, {**reading, "columns": graph.names})
    others = [name for name in _column_names(data, reading, graph.names[0]) if name not in set(graph.names)]
    notes = []
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        notes.append(f"ignored {len(others)} column{'s' * (len(others) > 1)} not in the graph: {others[0]!r}{more}")
    return rows, graph_over(rows, graph), tuple(notes)


def _read(argument: str, data: object, reading: DataOptions) -> Dataset:
    """Read rows; the error for a missing column names the argument instead of an option."""
    try:
        return load_data(data, **reading)
    except UnknownNameError as error:
        if not str(error).startswith("columns: "):
            raise
        raise UnknownNameError(
            f"{argument} must have a column for each variable of the graph: {str(error).removeprefix('columns: ')}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class _ListingOptions(TableOptions):
    """Options of a reader that also list the columns of the source."""

    listed: list[str] = field(default_factory=list)

    def select(self, names: Sequence[object]) -> ColumnSelection:
        """Match the options with the columns of a source, and list these."""
        apart = self._place_of_row_names(names)
        self.listed[:] = [str(name) for k, name in enumerate(names) if k != apart]
        return super().select(names)


def _column_names(data: object, reading: DataOptions, known: str) -> list[str]:
    """Return the names of all columns but that of repeats or weights; none for sources that can be read only once.

    Of a file, only the column `known` is read, because nothing is known of how to read the others.
    """
    coded = already_coded(data)
    if coded is not None:
        names: Sequence[object] = coded.names
    elif isinstance(data, str | os.PathLike):
        form: Any = {name: value for name, value in reading.items() if name in ReadOptions.__annotations__}
        options = _ListingOptions(**form | {"columns": [known]})
        load_table(data, options)
        names = ColumnNames(options.listed).choose(None, options.drop)
    elif reading.get("transpose"):
        names = ()
    else:
        names = list(data) if isinstance(data, Mapping) else list(getattr(data, "columns", ()))
    return [
        name for name in names if isinstance(name, str) and name not in (reading.get("repeats"), reading.get("weights"))
    ]


def _accuracies(graph: Graph, judge: Any, n_triplets: int, seed: int) -> dict[int, Accuracy]:
    """Return the agreements by size of the conditioning set."""
    drawn = sample_triplets(graph.n_variables, n_triplets, seed=seed)
    return {
        size: count_agreements(graph, judge, triplets) for size, triplets in groupby(drawn, lambda each: len(each.z))
    }


def _share(counted: Accuracy) -> Estimate:
    """Return the share of agreements and its standard error, which is not 0 where all triplets happen to agree."""
    n = counted.n_triplets
    likely = (counted.agreement * n + 1) / (n + 2)
    return Estimate(counted.agreement, sqrt(likely * (1 - likely) / n))


def _mean(values: FloatArray, weights: FloatArray) -> Estimate:
    """Return the mean over rows with these repeats, and its standard error."""
    n = weights.sum()
    mean = float((values * weights).sum() / n)
    spread = float((weights * (values - mean) ** 2).sum()) / (n - 1) if n > 1 and np.isfinite(mean) else float("nan")
    return Estimate(mean, sqrt(spread / n))


def _row_scores(
    graph: Graph, parts: Iterable[tuple[Dataset, Dataset]], settings: dict[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the repeats of held-out rows and their log pseudo-likelihoods with and without the edges.

    Each part has the rows to fit to and the held-out rows.
    """
    empty, found = Graph.empty(graph.n_variables), []
    for known, unseen in parts:
        models: list[MarkovModel] = [fit(each, known, **settings) for each in (graph, empty)]
        repeats = np.ones(unseen.n_records) if unseen.repeats is None else unseen.repeats.astype(np.float64)
        found.append((repeats, *(model.log_conditionals(unseen).sum(1) for model in models)))
    weights, full, bare = (np.concatenate(each) for each in zip(*found, strict=True))
    return weights, full, bare


def _folds(rows: Dataset, folds: int, seed: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield for each fold the rows outside and inside."""
    if rows.n_rows < folds:
        raise InputError(
            f"data must have at least as many rows as folds; got {rows.n_rows} and {folds}. Use fewer folds, or give "
            "the rows to fit to (train)."
        )
    rng = np.random.default_rng(seed)
    if rows.repeats is None or rows.is_weighted:
        repeats, fold = np.ones(rows.n_records, dtype=np.int64), rng.permutation(rows.n_records) % folds
        parts = (fold[:, None] == np.arange(folds)).astype(np.int64)
        if rows.repeats is not None:  # a weighted row is in one fold
            repeats, parts = rows.repeats, parts * rows.repeats[:, None]
    else:
        repeats, parts = rows.repeats, rng.multinomial(rows.repeats, np.full(folds, 1 / folds))
    for part in parts.T:
        if part.any():
            yield _weighted(rows, repeats - part), _weighted(rows, part)


def _weighted(rows: Dataset, repeats: np.ndarray) -> Dataset:
    """Return the rows with these repeats, with all declared states."""
    kept = np.flatnonzero(repeats)
    columns = tuple(column[kept] for column in rows.columns)
    return Dataset(rows.names, rows.cards, columns, rows.levels, repeats[kept], weighting=rows.weighting)
