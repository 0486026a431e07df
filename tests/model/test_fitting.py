"""From graph and data to a model, and from the model back to the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn import Dataset, Graph, InputError, UnknownNameError, UnsuitableError
from mnlearn.graphs import grid, random_graph
from mnlearn.model import DiscreteModel, GaussianModel, fit
from mnlearn.simulate import sample, sparse_gaussian, with_log_odds


def binary(graph: Graph, n_rows: int, seed: int = 1) -> Dataset:
    return sample(with_log_odds(graph, 1.5, seed, signs="mixed"), n_rows, seed).dataset()


def test_the_type_of_the_data_chooses_the_method() -> None:
    assert fit(grid(2, 2), binary(grid(2, 2), 100)).report.method == "pseudolikelihood"
    assert fit(grid(2, 2), sparse_gaussian(grid(2, 2), seed=1).dataset(100, seed=1)).report.method == "gaussian"


@pytest.mark.parametrize("method", ["canonical", "pseudolikelihood"])
def test_learning_from_a_discrete_models_own_rows_returns_its_graph(method: str) -> None:
    graph = random_graph(10, 3, seed=4)
    fitted = fit(graph, binary(graph, 20_000), method)
    again = mn.learn(fitted.sample_dataset(40_000, seed=7), "mpl")
    assert again.graph == graph


def test_learning_from_a_gaussian_models_own_rows_returns_its_graph() -> None:
    graph = random_graph(12, 3, seed=4)
    fitted = fit(graph, sparse_gaussian(graph, seed=2).dataset(2000, seed=1))
    again = mn.learn(fitted.sample_dataset(50_000, seed=7), "gsimn", alpha=1e-4)
    assert again.graph == graph


def test_the_methods_agree_where_there_are_many_rows() -> None:
    graph = grid(2, 3)
    data = binary(graph, 200_000)
    first, second = (fit(graph, data, method) for method in ("canonical", "pseudolikelihood"))
    by_edge = {(e.u, e.v): e for e in second.strengths()}
    for edge in first.strengths():
        if edge.sign is not None:
            assert edge.strength == pytest.approx(by_edge[edge.u, edge.v].strength, abs=0.1)
            assert edge.strength == pytest.approx(1.5, abs=0.1)


def test_a_default_assignment_is_given_by_labels() -> None:
    data = mn.read({"a": ["x", "x", "y"], "b": ["p", "q", "q"]})
    told = fit(Graph(2, [(0, 1)]), data, "canonical", default={"a": "y"})
    assert told.report.settings == {"smoothing": 0.5, "default": {"a": "y", "b": "q"}}
    assert isinstance(told, DiscreteModel)
    assert np.abs(told.network.factors[-1].log_values[1]).max() < 1e-12
    with pytest.raises(InputError, match="default must hold labels of the data; 'a' has 'x', 'y', got 'z'"):
        fit(Graph.empty(2), data, "canonical", default={"a": "z"})
    with pytest.raises(UnknownNameError, match="column 'c' does not exist"):
        fit(Graph.empty(2), data, "canonical", default={"c": "z"})
    with pytest.raises(InputError, match=r"default must be labels by name; got 'x'\. Write for example \{'a': 'x'\}"):
        fit(Graph.empty(2), data, "canonical", default="x")


def test_what_rests_on_the_prior_is_noted() -> None:
    data = Dataset.from_codes(np.array([[0, 0], [1, 0], [1, 0]]), cards=[3, 2])
    notes = fit(Graph(2, [(0, 1)]), data).report.notes
    assert notes == (
        "'x0' has 1 states that no row has; they rest on the prior alone",
        "'x1' never changes: its other 1 states rest on the prior alone",
    )
    assert any(
        "not converged" in note for note in fit(grid(2, 2), binary(grid(2, 2), 99), max_iterations=1).report.notes
    )
    small = sparse_gaussian(grid(3, 3), seed=1).dataset(5, seed=1)
    assert fit(grid(3, 3), small).report.notes == (
        "the correlations are singular: shrunk by a ridge of 1 / (N + 1) = 0.167",
    )


def test_constants_copies_and_few_rows_give_a_usable_discrete_model() -> None:
    codes = np.array([[0, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    for method in ("canonical", "pseudolikelihood"):
        fitted = fit(Graph.complete(4), Dataset.from_codes(codes, cards=[2] * 4), method)
        assert isinstance(fitted, DiscreteModel)
        assert np.isfinite(fitted.log_likelihood(fitted.sample_dataset(20, seed=1)))
        assert all(np.isfinite(edge.strength) for edge in fitted.strengths())


def test_the_document_is_plain() -> None:
    import json

    fitted = fit(grid(2, 2), sparse_gaussian(grid(2, 2), seed=1).dataset(50, seed=1))
    assert isinstance(fitted, GaussianModel)
    document = json.loads(json.dumps(fitted.to_dict(), allow_nan=False))
    assert document["kind"] == "gaussian"
    assert len(document["edges"]) == len(document["strength"]) == len(document["sign"]) == 4
    assert (document["rows"], document["converged"], document["parameters"]) == (50, True, 12)


@pytest.mark.parametrize(
    ("method", "settings", "error", "message"),
    [
        ("canon", {}, UnknownNameError, "method 'canon' does not exist. Did you mean 'canonical'"),
        (
            "canonical",
            {"ridge": 1},
            InputError,
            "canonical has no setting .ridge.; it accepts smoothing, default",
        ),
        (None, {"smoothing": 1}, InputError, "pseudolikelihood has no setting .smoothing."),
        ("gaussian", {}, UnsuitableError, "'gaussian' needs continuous variables"),
    ],
)
def test_bad_settings_raise(method: Any, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit(grid(2, 2), binary(grid(2, 2), 20), method, **settings)


def test_the_method_follows_the_kinds_of_the_variables() -> None:
    data = mn.read({"a": [0.5, 1.5, 2.5], "b": ["x", "y", "x"]})
    assert fit(Graph.empty(2), data).kind == "mixed"
    codes = Dataset.from_codes([[0, 1, 2, 1], [0, 1, 1, 0]])
    assert fit(Graph.empty(2), codes).report.method == "pseudolikelihood"
    assert fit(Graph.empty(2), codes._with(ordinal=frozenset({"x0"}))).kind == "mixed"
    with pytest.raises(UnsuitableError, match="'pseudolikelihood' needs categorical variables; 'a' is continuous"):
        fit(Graph.empty(2), data, "pseudolikelihood")
