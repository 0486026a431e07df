"""Parts of a network, and the numbers of large ones."""

from __future__ import annotations

import logging
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import Result
from mnlearn.regression import weights as weights_module
from mnlearn.results import Learned
from mnlearn.results.edges import LearnedEdge, first_edges
from mnlearn.simulate import example, simulate


@pytest.fixture(scope="module")
def survey() -> Learned:
    return mn.learn(example(1000, seed=1).columns(), "sep")


@pytest.mark.parametrize("distance", [1, 2, 9])
def test_surroundings_have_the_numbers_of_the_whole(survey: Learned, distance: int) -> None:
    near = survey.around("fatigue", distance=distance)
    kept = set(near.names)
    expected = {(edge.u, edge.v): edge for edge in survey.edge_list() if {edge.u, edge.v} <= kept}
    found = {(edge.u, edge.v): edge for edge in near.edge_list()}
    assert found.keys() == expected.keys()
    for pair, edge in found.items():
        assert edge.weight == pytest.approx(expected[pair].weight)
        assert edge[3:] == expected[pair][3:]
    assert set(survey.blanket("fatigue")) <= kept
    assert near.data is None
    if distance == 1:
        assert kept == {"fatigue", *survey.blanket("fatigue")}


@pytest.mark.parametrize(
    ("distribution", "method"), [("gaussian", "lasso"), ("potts:states=3", "mpl"), ("mixed", "sep"), ("odds", "mpl")]
)
def test_weights_of_a_part_are_those_of_the_whole(distribution: str, method: str) -> None:
    drawn = simulate("tree:n=12", distribution, n_rows=300, seed=3)
    learned = mn.learn(drawn.data, method)
    fresh = replace(learned)  # without weights
    name = max(learned.names, key=lambda one: len(learned.blanket(one)))
    near = fresh.around(name)
    assert near.weights is not None
    assert learned.weights is not None
    assert near.weights.measure == learned.weights.measure
    whole = {(edge.u, edge.v): edge.weight for edge in learned.edge_list()}
    part = {(edge.u, edge.v): edge.weight for edge in near.edge_list()}
    assert part == pytest.approx({pair: whole[pair] for pair in part})


def test_several_variables_and_wrong_ones(survey: Learned) -> None:
    both = survey.around(["fatigue", "stress"])
    assert {"fatigue", "stress", *survey.blanket("fatigue"), *survey.blanket("stress")} == set(both.names)
    assert both.names == tuple(name for name in survey.names if name in set(both.names))
    with pytest.raises(UnknownNameError, match="fatigu"):
        survey.around("fatigu")
    with pytest.raises(InputError, match="distance must be"):
        survey.around("fatigue", distance=0)
    with pytest.raises(InputError, match="names must hold at least one"):
        survey.around([])
    with pytest.raises(InputError, match="names must"):
        survey.around(3)  # type: ignore[arg-type]


def ranked_one_by_one(learned: Learned) -> list[LearnedEdge]:
    """The order of the edges, edge by edge."""
    sign = -1.0 if learned.support_scale == "log_odds" else 1.0
    found: dict[Edge, LearnedEdge] = {}
    for u, v in learned.graph.edges:
        support = learned.result.support.get((u, v))
        chance = None if support is None or not learned.result.probabilistic else float(1 / (1 + np.exp(-support)))
        often = None if learned.frequencies is None else learned.frequencies.get((u, v), 0.0)
        found[u, v] = LearnedEdge(learned.names[u], learned.names[v], None, support, chance, often)

    def key(edge: Edge) -> tuple[float, float, Edge]:
        pair = found[edge]
        known = [value for value in (pair.probability, pair.frequency) if value is not None]
        return (inf if pair.support is None else sign * pair.support, -(known or [0.0])[0], edge)

    return [found[edge] for edge in sorted(found, key=key)]


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_edges_are_ranked_as_one_by_one(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 7))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1])
    graph = Graph(n, data.draw(st.lists(pairs, max_size=15)))
    few: Any = st.sampled_from([-2.0, 0.0, -0.0, 1.0, 3.5])
    support = {edge: data.draw(few) for edge in graph.edges if data.draw(st.booleans())}
    often = (
        {edge: data.draw(st.sampled_from([0.0, 0.5, 1.0])) for edge in graph.edges}
        if data.draw(st.booleans())
        else None
    )
    scale: Any = data.draw(st.sampled_from(["log_odds", "log_independence"]))
    result = Result(graph, None, support, True, {}, support_scale=scale, probabilistic=data.draw(st.booleans()))
    learned = Learned("mpl", tuple(f"v{x}" for x in range(n)), result, frequencies=often)
    expected = ranked_one_by_one(learned)
    found = learned.edge_list()
    assert [edge._replace(probability=None) for edge in found] == [e._replace(probability=None) for e in expected]
    assert [edge.probability for edge in found] == pytest.approx([edge.probability for edge in expected])
    assert first_edges(learned, 3) == found[:3]


def many(n: int, degree: int) -> Learned:
    """A ring of n binary variables with edges to the next ones, with data."""
    rng = np.random.default_rng(0)
    base = np.arange(n)
    pairs = np.concatenate([np.stack([base, (base + k) % n], axis=1) for k in range(1, degree // 2 + 1)])
    graph = Graph(n, pairs)
    data = Dataset.from_codes(list(rng.integers(0, 2, (n, 40), dtype=np.uint8)), cards=[2] * n)
    return Learned("mpl", data.names, Result(graph, None, {}, True, {}, support_scale="log_odds"), data, n_rows=40)


def test_weights_that_take_long_are_left_out_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learned = many(60, 4)
    assert learned.weights is not None
    monkeypatch.setattr(weights_module, "MOST_VARIABLES", 50)
    monkeypatch.setattr(weights_module, "_MOST_STEPS", 60 * 16 * 25 - 1)
    caplog.set_level(logging.WARNING, "mnlearn")
    fresh = replace(learned)
    assert fresh.weights is None
    assert "no weights of 120 edges among 60 variables: they would take minutes; learned.around(names)" in caplog.text
    assert "weights:    not computed: they would take minutes" in fresh.summary()
    near = fresh.around("x7")
    assert near.weights is not None
    known = {(learned.names[u], learned.names[v]): w for (u, v), w in learned.weights.values.items()}
    assert {(e.u, e.v): e.weight for e in near.edge_list()} == {(e.u, e.v): known[e.u, e.v] for e in near.edge_list()}
    with pytest.raises(InputError, match=r"learned.around\(names\)"):
        fresh.centrality()
    with pytest.raises(InputError, match=r"learned.around\(names\)"):
        fresh.adjacency(weighted=True)
    monkeypatch.setattr(weights_module, "_MOST_STEPS", 60 * 16 * 25)
    assert replace(learned).weights == learned.weights


def test_centralities_without_paths_beyond_a_size(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    learned = many(60, 4)
    whole = learned.centrality(groups=["a", "b"] * 30, frame="pandas")
    monkeypatch.setattr("mnlearn.evaluation.centrality.MOST_BY_PATHS", 50)
    monkeypatch.setattr("mnlearn.results.measures.MOST_BY_PATHS", 50)
    part = learned.centrality(groups=["a", "b"] * 30, frame="pandas")
    assert part["closeness"].isna().all()
    assert part["betweenness"].isna().all()
    assert (part["bridge_strength"] == whole["bridge_strength"]).all()
    assert "no closeness and betweenness of more than 50 variables" in caplog.text
    alone = learned.centrality(frame="pandas")
    assert alone["bridge_strength"].isna().all()
    assert (alone["strength"] == whole["strength"]).all()
