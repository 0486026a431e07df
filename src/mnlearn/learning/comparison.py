"""Comparison of several methods on the same data with the true network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple, cast

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_listed, check_methods, check_name, check_path, is_number
from mnlearn.evaluation.metrics import Confusion, compare_edges
from mnlearn.evaluation.subgraphs import align
from mnlearn.graphs.formats import read_graph
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.learning.api import learn
from mnlearn.learning.inputs import check_dataset
from mnlearn.learning.own_judge import TestLike
from mnlearn.learning.registry import METHODS, named_or_own
from mnlearn.protocols import SILENT, Monitor
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
