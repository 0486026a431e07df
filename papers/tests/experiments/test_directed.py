"""Blankets as constraints of pyAgrum's directed search."""

from __future__ import annotations

import sys
import warnings
from itertools import permutations

import numpy as np
import pytest

from mnlearn.algorithms.mbs import MBS
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.errors import InputError, MissingDependencyError, UnknownNameError, UnsuitableError
from mnlearn.evaluation import hamming
from mnlearn.graphs import Graph
from mnlearn.scores import ExtendedBIC
from mnlearn.statistics import Counts
from mnlearn_papers.directed import Criterion, DirectedNetwork, learn_directed

TRUTH = DirectedNetwork(6, ((0, 2), (1, 2), (2, 3), (3, 4)))  # a child with two parents, a tail, and one alone


@pytest.fixture(autouse=True)
def pyagrum() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pytest.importorskip("pyagrum")


def rows(n_rows: int = 3000, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    a, b, f = rng.integers(0, 2, (3, n_rows))
    noise = rng.random((3, n_rows)) < 0.12
    c = (a & b) ^ noise[0]
    d = c ^ noise[1]
    return Dataset.from_codes([a, b, c, d, d ^ noise[2], f], cards=[2] * 6, names=["a,b", 'q"', "c", "d", "e", "f"])


def test_the_moral_graph_marries_parents() -> None:
    assert TRUTH.moral_graph().edges == ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4))
    assert TRUTH.parents(2) == (0, 1)
    assert DirectedNetwork(2, ()).moral_graph() == Graph.empty(2)


def test_without_constraints_it_finds_the_network() -> None:
    criteria: tuple[Criterion, ...] = ("bic", "bdeu", "k2")
    for criterion in criteria:
        assert hamming(learn_directed(rows(), criterion=criterion).moral_graph(), TRUTH.moral_graph()) <= 1


def test_arcs_stay_within_the_blankets_and_learned_blankets_lead_to_the_network() -> None:
    data = rows()
    learned = MBS().learn(ExtendedBIC(Counts(data))).graph
    found = learn_directed(data, learned)
    assert all(learned.has_edge(u, v) for u, v in found.arcs)
    assert found.moral_graph() == TRUTH.moral_graph()
    few = Graph(6, [(0, 2), (4, 5)])
    assert {tuple(sorted(arc)) for arc in learn_directed(data, few).arcs} <= set(few.edges)
    assert learn_directed(data, Graph.empty(6)).arcs == ()


def test_arcs_run_in_no_circle_and_respect_the_number_of_parents() -> None:
    found = learn_directed(rows(), criterion="k2", max_parents=1)
    assert max(len(found.parents(x)) for x in range(6)) == 1
    assert not [(u, v) for (u, v) in permutations(range(6), 2) if (u, v) in found.arcs and (v, u) in found.arcs]


def test_repeats_count_as_rows_and_unseen_states_are_no_trouble() -> None:
    plain = rows(600)
    assert learn_directed(plain.compact()).moral_graph() == learn_directed(plain).moral_graph()
    wide = Dataset.from_codes([[0, 1] * 30, [0, 1] * 30, [0] * 60], cards=[4, 2, 1])
    assert learn_directed(wide).moral_graph() == Graph(3, [(0, 1)])


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="learn_directed needs categorical variables; 'x0' is continuous"):
        learn_directed(continuous_dataset(np.eye(3), None))
    with pytest.raises(InputError, match="blankets must be a graph over the 6 variables of the data; got one over 5"):
        learn_directed(rows(20), Graph.empty(5))
    with pytest.raises(UnknownNameError, match="criterion 'aic' does not exist"):
        learn_directed(rows(20), criterion="aic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_parents must be a whole number, at least 1"):
        learn_directed(rows(20), max_parents=0)


def test_without_pyagrum_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(MissingDependencyError, match=r"mnlearn\[inference\]"):
        learn_directed(rows(20))
