"""Models in the real pgmpy, where it is installed (`make test-pgmpy`): the same distribution there as here."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

from mnlearn import Graph, InputError
from mnlearn.data import read
from mnlearn.model import DiscreteModel, FitReport, fit
from mnlearn.simulate import example, uniform_factors

pytestmark = pytest.mark.filterwarnings("default::FutureWarning", "default::DeprecationWarning")

CONNECTED = Graph(5, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])
APART = Graph(5, [(0, 1), (2, 3)])
NAMES = ("rain", "kind of day", 'co"unt', "flag", "last")
LEVELS = (("no", "yes"), ("a", "b", "c d"), (1, 2), (False, True), ("x", None))


@pytest.fixture(scope="module")
def inference() -> Any:
    """Return pgmpy's module of inference, whose imports warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pgmpy.inference")


def model(graph: Graph, seed: int) -> DiscreteModel:
    """Return a model with random factors."""
    network = uniform_factors(graph, seed, cards=tuple(map(len, LEVELS)))
    return DiscreteModel(NAMES, LEVELS, network, FitReport("x", 0))


def partition(fitted: DiscreteModel) -> float:
    """Return the sum of the products of the factors, each scaled to 1 at most, by enumeration."""
    total = 0.0
    for states in product(*map(range, fitted.network.cards)):
        values = (
            f.log_values[tuple(states[x] for x in f.variables)] - f.log_values.max() for f in fitted.network.factors
        )
        total += float(np.exp(sum(values)))
    return total


@pytest.mark.parametrize("graph", [CONNECTED, APART])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_distribution_is_the_same(inference: Any, graph: Graph, seed: int) -> None:
    fitted = model(graph, seed)
    network = fitted.to_pgmpy()
    assert network.check_model()
    assert list(network.nodes()) == list(NAMES)
    assert network.get_partition_function() == pytest.approx(partition(fitted), rel=1e-12)
    solver = inference.VariableElimination(network)
    for target in range(5):
        for given in ({}, {(target + 1) % 5: 1}, {(target + 1) % 5: 0, (target + 3) % 5: 1}):
            mine = fitted.conditional(NAMES[target], {NAMES[x]: LEVELS[x][k] for x, k in given.items()})
            evidence = {NAMES[x]: str(LEVELS[x][k]) for x, k in given.items()}
            found = solver.query([NAMES[target]], evidence=evidence, show_progress=False)
            found.normalize()
            assert found.state_names[NAMES[target]] == [str(label) for label in LEVELS[target]]
            np.testing.assert_allclose(found.values, list(mine.values()), atol=1e-12)


def test_several_variables_and_the_most_probable_state(inference: Any) -> None:
    fitted = model(CONNECTED, 3)
    solver = inference.VariableElimination(fitted.to_pgmpy())
    found = solver.query(["flag", "rain"], evidence={"last": "None"}, show_progress=False)
    found.normalize()
    for flag, rain in product((False, True), ("no", "yes")):
        one = (
            fitted.conditional("flag", {"last": None})[flag]
            * fitted.conditional("rain", {"last": None, "flag": flag})[rain]
        )
        assert found.get_value(flag=str(flag), rain=rain) == pytest.approx(one, rel=1e-12)
    best = solver.map_query(["flag"], evidence={"rain": "yes"}, show_progress=False)
    mine = fitted.conditional("flag", {"rain": "yes"})
    assert best == {"flag": str(max(mine, key=lambda label: mine[label]))}


def test_belief_propagation_needs_a_connected_graph(inference: Any) -> None:
    fitted = model(CONNECTED, 4)
    found = inference.BeliefPropagation(fitted.to_pgmpy()).query(
        ["last"], evidence={"rain": "yes"}, show_progress=False
    )
    found.normalize()
    np.testing.assert_allclose(found.values, list(fitted.conditional("last", {"rain": "yes"}).values()), atol=1e-12)
    with pytest.raises(ValueError, match=r"sepset|connected"):
        inference.BeliefPropagation(model(APART, 4).to_pgmpy()).query(["last"], show_progress=False)


@pytest.mark.parametrize("interactions", ["cliques", "pairwise"])
def test_a_fitted_survey(inference: Any, interactions: Any) -> None:
    survey = example(300, seed=1)
    fitted = fit(survey.graph, read(survey.columns()), interactions=interactions)
    assert isinstance(fitted, DiscreteModel)
    network = fitted.to_pgmpy()
    assert network.check_model()
    solver, names = inference.VariableElimination(network), fitted.names
    found = solver.query([names[0]], evidence={names[5]: str(fitted.levels[5][0])}, show_progress=False)
    found.normalize()
    mine = fitted.conditional(names[0], {names[5]: fitted.levels[5][0]})
    np.testing.assert_allclose(found.values, list(mine.values()), atol=1e-10)


@pytest.mark.usefixtures("inference")
def test_evidence_is_strings_and_labels_must_differ_as_strings() -> None:
    from pgmpy.inference import VariableElimination

    fitted = model(CONNECTED, 5)
    with pytest.raises(KeyError):
        VariableElimination(fitted.to_pgmpy()).query(["rain"], evidence={'co"unt': 1}, show_progress=False)
    network = uniform_factors(Graph(1), 1, cards=(2,))
    with pytest.raises(InputError, match="labels must differ as strings"):
        DiscreteModel(("x",), ((1, "1"),), network, FitReport("x", 0)).to_pgmpy()
