"""Contract of every method: names, labels and the order of the columns do not decide, least of all where scores tie.

The tables have ties in plenty: few rows, copied columns, columns that are functions of others, constant columns. Other
labels must give the same graph. Another order of the columns must give the same graph up to an exchange of variables
that no association of two columns tells apart, such as copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn.learning import learn
from mnlearn.learning.registry import METHODS
from profiles import few

Codes = NDArray[np.int64]
KINDS = ("plain", "copied", "function", "constant")
BY_ORDER = {"gsmn", "mbs"}  # their papers visit the variables by index: their pages say so
FIRST_OF_ALL = {"exhaustive"}  # of graphs that tie by score, size and association it takes the first
BY_TESTS, TESTS = ("gsmn*", "pc"), ("bayes", "g2", "mi", "score")  # besides the default
CONTINUOUS_ONLY = {"lasso", "l1mb", "glasso"}
CONTINUOUS = ("aracne", "glasso", "gsmn*", "hhc-mn", "l1mb", "lasso", "pc", "sep")


def table(kind: str, seed: int, largest: int) -> Codes:
    """A table of few rows: each column may follow an earlier one; then what the kind adds, in a random place."""
    rng = np.random.default_rng([KINDS.index(kind), seed, largest])
    n_rows, columns = int(rng.choice([8, 12, 16, 60])), list[Codes]()
    for j in range(int(rng.integers(4, 6))):
        card = int(rng.integers(2, largest + 1))
        column = rng.integers(0, card, n_rows)
        if j and rng.random() < 0.8:
            column = np.where(rng.random(n_rows) < 0.8, columns[int(rng.integers(0, j))] % card, column)
        columns.append(column)
    a, b = (columns[k] for k in rng.choice(len(columns), 2, replace=False))
    added = {"plain": [], "copied": [a], "function": [(a ^ b) % 2, (a > 0) & (b > 0)], "constant": [0 * a]}
    codes = np.column_stack([*columns, *added[kind]]).astype(np.int64)
    return coded(codes[:, rng.permutation(codes.shape[1])])


def coded(codes: Codes) -> Codes:
    """The codes 0, 1, ... of the values that occur in each column."""
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T])


def learned(method: str, codes: Codes) -> set[tuple[int, int]]:
    """The edges by a method; one such as "pc by mi" names the test."""
    name, *by = method.split(" by ")
    settings: dict[str, Any] = {"test": by[0]} if by else {"n_penalties": 8} if name == "l1lr" else {}
    return set(learn(Dataset.from_codes([*codes.T]), name, n_jobs=1, **settings).graph.edges)


def relabelled(codes: Codes, rng: np.random.Generator) -> Codes:
    return np.column_stack([rng.permutation(column.max() + 1)[column] for column in codes.T])


def orders(n: int, rng: np.random.Generator) -> Iterator[list[int]]:
    yield list(range(n))[::-1]
    yield rng.permutation(n).tolist()


def renamed(edges: set[tuple[int, int]], names: list[int]) -> set[tuple[int, int]]:
    return set(Graph(len(names), [(names[u], names[v]) for u, v in edges]).edges)


def information(codes: Codes) -> NDArray[np.float64]:
    """The entropy of each column on the diagonal, and of each pair of columns together."""
    n = codes.shape[1]
    joint = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            share = np.unique(codes[:, [i, j]], axis=0, return_counts=True)[1] / len(codes)
            joint[i, j] = -(share * np.log(share)).sum()
    return joint


def same_but_for_twins(
    found: set[tuple[int, int]], expected: set[tuple[int, int]], association: NDArray[np.float64]
) -> bool:
    """Whether the graphs are equal after an exchange of variables that changes no association."""
    if found == expected:
        return True
    for order in map(list, permutations(range(len(association)))):
        if renamed(found, order) == expected and np.allclose(association[np.ix_(order, order)], association):
            return True
    return False


def discrete() -> list[str]:
    return sorted(set(METHODS) - CONTINUOUS_ONLY | {f"{method} by {test}" for method in BY_TESTS for test in TESTS})


def cases() -> list[tuple[str, int, int]]:
    return [(kind, seed, largest) for seed in range(8) for kind in KINDS for largest in (2, 4)]


def enough(method: str) -> list[tuple[str, int, int]]:
    """Fewer tables for the slow methods."""
    return few(cases(), {"exhaustive": 4, "l1lr": 3}.get(method, 3 if "mi" in method else 12))


@pytest.mark.parametrize("method", discrete())
def test_other_labels_give_the_same_graph(method: str) -> None:
    for case in enough(method):
        codes, rng = table(*case), np.random.default_rng(case[1])
        expected = learned(method, codes)
        for _ in range(2):
            assert learned(method, relabelled(codes, rng)) == expected, case


@pytest.mark.parametrize("method", sorted(set(discrete()) - BY_ORDER - FIRST_OF_ALL))
def test_another_order_of_the_columns_gives_the_same_graph(method: str) -> None:
    for case in enough(method):
        codes, rng = table(*case), np.random.default_rng(case[1])
        expected, association = learned(method, codes), information(codes)
        for order in orders(codes.shape[1], rng):
            found = renamed(learned(method, codes[:, order]), order)
            assert same_but_for_twins(found, expected, association), (case, order)


def numbers(kind: str, seed: int) -> NDArray[np.float64]:
    """Columns of numbers that follow one another, and one of them again, as it is or on another scale."""
    rng = np.random.default_rng([seed, 7])
    columns = [rng.normal(size=40)]
    for _ in range(3):
        columns.append(rng.normal(size=40) + columns[int(rng.integers(0, len(columns)))])
    again = columns[int(rng.integers(0, 4))]
    added = {"plain": [], "copied": [again.copy()], "scaled": [1 - 2.5 * again]}[kind]
    return np.column_stack([*columns, *added])[:, rng.permutation(4 + len(added))]


@pytest.mark.parametrize("method", CONTINUOUS)
@pytest.mark.parametrize("kind", ["plain", "copied", "scaled"])
def test_another_order_of_numbers_gives_the_same_graph(method: str, kind: str) -> None:
    for seed in few(range(12), 2):
        rows, rng = numbers(kind, seed), np.random.default_rng(seed)
        n, association = rows.shape[1], np.abs(np.corrcoef(rows.T))
        expected = set(learn(rows, method=method).graph.edges)
        for order in orders(n, rng):
            found = renamed(set(learn(rows[:, order], method=method).graph.edges), order)
            assert same_but_for_twins(found, expected, association), (seed, order)
