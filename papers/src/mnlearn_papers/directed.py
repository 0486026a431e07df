"""Learned blankets as constraints of a directed search  [MBS09, Sec. 3.2].

How good blankets are shows in what they are good for: a search over directed acyclic graphs, in which every variable
may have its parents in its own blanket only. The better the blankets, the nearer the result, moralised, comes to the
true network. The directed search is pyAgrum's; nothing of it is written here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_instance, check_name, require, whole_number
from mnlearn.graphs.graph import Edge, Graph, check_graph

Criterion = Literal["bic", "bdeu", "k2"]


@dataclass(frozen=True)
class DirectedNetwork:
    """A directed acyclic graph, as a directed search found it.

    Attributes
    ----------
    n_variables
        Number of variables.
    arcs
        (parent, child), in ascending order.

    Examples
    --------
    >>> DirectedNetwork(3, ((0, 2), (1, 2))).moral_graph().edges
    ((0, 1), (0, 2), (1, 2))
    """

    n_variables: int
    arcs: tuple[Edge, ...]

    def parents(self, x: int) -> tuple[int, ...]:
        """The parents of a variable."""
        return tuple(u for u, v in self.arcs if v == x)

    def moral_graph(self) -> Graph:
        """Return the moral graph: arcs without directions, and the parents of every child joined."""
        families = [(x, *self.parents(x)) for x in range(self.n_variables)]
        return Graph(self.n_variables, {pair for family in families for pair in combinations(family, 2)})


def learn_directed(
    dataset: Dataset, blankets: Graph | None = None, *, criterion: Criterion = "bic", max_parents: int | None = None
) -> DirectedNetwork:
    """Search for a directed network in which each variable has its parents in its blanket.

    Parameters
    ----------
    dataset
        Categorical variables.
    blankets
        A graph over the same variables, the one that a method learned: only neighbours may be joined by an arc. None
        for no constraint.
    criterion
        What greedy hill climbing maximises: ``"bic"``, ``"bdeu"`` or ``"k2"``.
    max_parents
        The most parents of a variable; None for no limit.

    Returns
    -------
    DirectedNetwork
        Compare its `moral_graph` with the truth.

    Raises
    ------
    InputError
        If the graph is not over these variables, or a setting is invalid.
    UnsuitableError
        If a variable is continuous.
    MissingDependencyError
        If pyAgrum is not installed.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 40, [0, 1] * 40, [0, 0, 1, 1] * 20])
    >>> learn_directed(data).moral_graph().edges
    ((0, 1),)
    >>> learn_directed(data, Graph(3, [(0, 2), (1, 2)])).arcs
    ()
    """
    _check(dataset, blankets, criterion, max_parents)
    if blankets is not None and not blankets.n_edges:  # which pyAgrum would take for no constraint
        return DirectedNetwork(dataset.n_variables, ())
    with warnings.catch_warnings():  # its import warns of types that SWIG made
        warnings.simplefilter("ignore", DeprecationWarning)
        gum = require("pyagrum", "inference")
        with TemporaryDirectory() as folder:
            learner = _learner(gum, dataset, Path(folder, "rows.csv"))
            {"bic": learner.useScoreBIC, "bdeu": learner.useScoreBDeu, "k2": learner.useScoreK2}[criterion]()
            if max_parents is not None:
                learner.setMaxIndegree(max_parents)
            if blankets is not None:
                learner.setPossibleSkeleton(_skeleton(gum, blankets))
            arcs = learner.learnDAG().arcs()
    return DirectedNetwork(dataset.n_variables, tuple(sorted((int(u), int(v)) for u, v in arcs)))


def _learner(gum: Any, dataset: Dataset, file: Path) -> Any:
    """Run greedy hill climbing on one thread, so that the arcs are reproducible."""
    _write(file, dataset)
    learner = gum.BNLearner(str(file), _template(gum, dataset))
    if dataset.repeats is not None:
        for row, repeats in enumerate(dataset.repeats.tolist()):
            learner.setRecordWeight(row, float(repeats))
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    return learner


def _skeleton(gum: Any, blankets: Graph) -> Any:
    """The pairs that an arc may join."""
    skeleton = gum.UndiGraph()
    for _ in range(blankets.n_variables):
        skeleton.addNode()
    for u, v in blankets.edges:
        skeleton.addEdge(u, v)
    return skeleton


def _write(file: Path, dataset: Dataset) -> None:
    """The codes as a table with plain names: labels may hold anything."""
    header = ",".join(f"x{k}" for k in range(dataset.n_variables))
    codes = np.column_stack([np.asarray(column, dtype=np.int64) for column in dataset.columns])
    np.savetxt(file, codes, fmt="%d", delimiter=",", header=header, comments="", encoding="utf-8")


def _template(gum: Any, dataset: Dataset) -> Any:
    """All declared states, so that none depends on what the rows happen to show."""
    template = gum.BayesNet()
    for k, card in enumerate(dataset.cards):
        template.add(gum.LabelizedVariable(f"x{k}", f"x{k}", [str(state) for state in range(max(card, 2))]))
    return template


def _check(dataset: Dataset, blankets: Graph | None, criterion: str, max_parents: int | None) -> None:
    """Raise InputError for unsuitable arguments before anything is imported."""
    check_instance("dataset", dataset, Dataset, "Read it first: mnlearn.read(...).")
    if blankets is not None:
        check_graph("blankets", blankets)
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"learn_directed needs categorical variables; {name!r} is continuous. Discretise it first "
                "(mnlearn.discretize)."
            )
    if blankets is not None and blankets.n_variables != dataset.n_variables:
        raise InputError(
            f"blankets must be a graph over the {dataset.n_variables} variables of the data; got one over "
            f"{blankets.n_variables}. Learn it from the same columns."
        )
    check_name("criterion", criterion, get_args(Criterion))
    if max_parents is not None:
        whole_number("max_parents", max_parents, least=1, most=2**31 - 1, hint="None means no limit.")
