"""The separation oracle: answers from a known graph, for tests of searches and for counting their questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mnlearn.errors import InputError, true_or_false
from mnlearn.graphs.graph import Graph
from mnlearn.independence._asking import Explained
from mnlearn.protocols import Evidence, Indices, VarSet


@dataclass(frozen=True)
class SeparationOracle(Explained):
    """x ⟂ y | z iff z separates x from y in the graph: a sound search must then return this graph.

    Parameters
    ----------
    graph
        The truth.
    monotone
        Whether to tell searches that whatever separates two variables still does when more is given (strong union).
        Those that try all subsets of a set then ask about the set itself, and their account holds what was asked.
        False for the account of their papers, question by question. Changes no graph.

    Notes
    -----
    A scan floods once from x. log p is 0 for independent and -inf for dependent pairs: the oracle has no doubt.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> chain = SeparationOracle(Graph.from_edges(3, [(0, 1), (1, 2)]))
    >>> chain(0, 2, frozenset()).independent, chain(0, 2, frozenset({1})).independent
    (False, True)
    """

    name: ClassVar[str] = "oracle"
    graph: Graph
    monotone: bool = True

    def __post_init__(self) -> None:
        true_or_false(monotone=self.monotone)

    @property
    def n_variables(self) -> int:
        """How many variables the graph has."""
        return self.graph.n_variables

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """The decisions; the only number behind them is certainty."""
        candidates = [int(y) for y in ys]
        for y in candidates:
            if y == x or y in z or not 0 <= y < self.n_variables:
                raise InputError(
                    f"y must be a variable other than x and outside z; got x={x}, y={y}, z={sorted(z)}. "
                    "Ask about two different variables, neither of them in z."
                )
        reached = self.graph.reachable(x, z)
        independent = np.array([y not in reached for y in candidates], dtype=np.bool_)
        return Evidence(independent, log_p=np.where(independent, 0.0, -np.inf))
