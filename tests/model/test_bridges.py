"""Discrete models in pyAgrum and pgmpy: the same distribution there as here."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mnlearn import Graph, InputError, MissingDependencyError
from mnlearn.model import DiscreteModel, FitReport
from mnlearn.simulate import FactorNetwork, uniform_factors

GRAPH = Graph(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
CARDS = (2, 3, 2, 2, 2)


def model() -> DiscreteModel:
    labels = (("no", "yes"), ("a", "b", "c d"), (1, 2), (False, True), ("x", None))
    network = uniform_factors(GRAPH, 5, cards=CARDS)
    return DiscreteModel(("rain", "kind", 'co"unt', "flag", "lonely one"), labels, network, FitReport("x", 0))


def load_pyagrum() -> Any:
    """pyAgrum with its parts, whose imports warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        gum = pytest.importorskip("pyagrum")
        gum.ShaferShenoyMRFInference(gum.MarkovRandomField())
    return gum


def test_pyagrum_infers_the_same_probabilities_with_evidence() -> None:
    gum = load_pyagrum()
    fitted = model()
    inference = gum.ShaferShenoyMRFInference(fitted.to_pyagrum())
    inference.setEvidence({"flag": "True"})
    inference.makeInference()
    for name in fitted.names:
        if name != "flag":
            mine = fitted.conditional(name, {"flag": True})
            np.testing.assert_allclose(inference.posterior(name).toarray(), list(mine.values()), atol=1e-9)


def test_pyagrum_has_the_names_and_the_edges() -> None:
    load_pyagrum()
    field = model().to_pyagrum()
    assert set(field.names()) == set(model().names)
    assert field.sizeEdges() == GRAPH.n_edges
    assert field.variable("kind").labels() == ("a", "b", "c d")


def test_labels_that_are_one_text_are_refused() -> None:
    load_pyagrum()
    twins = DiscreteModel(("a",), ((1, "1"),), FactorNetwork((2,)), FitReport("x", 0))
    with pytest.raises(InputError, match="labels must differ as strings; those of 'a' are"):
        twins.to_pyagrum()


class FakeNetwork:
    """The part of pgmpy's class that is used."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str]] = []
        self.factors: list[Any] = []

    def add_nodes_from(self, nodes: Any) -> None:
        self.nodes += nodes

    def add_edges_from(self, edges: Any) -> None:
        self.edges += edges

    def add_factors(self, *factors: Any) -> None:
        self.factors += factors


class FakeFactor:
    """pgmpy's signature; values lie with the last variable fastest."""

    def __init__(self, variables: Any, cardinality: Any, values: Any, state_names: Any = None) -> None:
        self.variables, self.states = variables, state_names
        self.values = np.array(values, dtype=float).reshape(cardinality)


@pytest.fixture(params=["DiscreteMarkovNetwork", "MarkovNetwork"])
def fake_pgmpy(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package, models = ModuleType("pgmpy"), ModuleType("pgmpy.models")
    factors, discrete = ModuleType("pgmpy.factors"), ModuleType("pgmpy.factors.discrete")
    setattr(models, request.param, FakeNetwork)
    discrete.DiscreteFactor = FakeFactor  # type: ignore[attr-defined]
    for module in (package, models, factors, discrete):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("fake_pgmpy")
def test_pgmpy_gets_every_factor_with_its_states() -> None:
    fitted = model()
    network = fitted.to_pgmpy()
    assert tuple(network.nodes) == fitted.names
    assert len(network.edges) == GRAPH.n_edges
    for mine, theirs in zip(fitted.network.factors, network.factors, strict=True):
        assert [fitted.names[x] for x in mine.variables] == theirs.variables
        expected = np.exp(mine.log_values - mine.log_values.max())
        np.testing.assert_allclose(theirs.values, expected)
        assert theirs.states[theirs.variables[0]][0] == str(fitted.levels[mine.variables[0]][0])


def test_without_pgmpy_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pgmpy.models", None)
    with pytest.raises(MissingDependencyError, match="pgmpy is needed for this and is not installed"):
        model().to_pgmpy()
