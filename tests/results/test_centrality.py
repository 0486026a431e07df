"""Weighted centralities: hand-computed examples, and networkx as the slow twin."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from mnlearn.errors import InputError, UnknownNameError
from mnlearn.evaluation.centrality import CENTRALITIES, centralities
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.regression.weights import EdgeWeights
from mnlearn.results import Learned

# a -0.5- b -(-0.25)- c, and d alone with e: two components.
EDGES = ((0, 1), (1, 2), (3, 4))
WEIGHTS = {(0, 1): 0.5, (1, 2): -0.25, (3, 4): 1.0}
NAMES = ("a", "b", "c", "d", "e")


@pytest.fixture
def learned() -> Learned:
    weights = EdgeWeights("partial correlation", WEIGHTS, (True,) * 5)
    return Learned("gsmn", NAMES, Result(Graph(5, EDGES), None, {}, True, {}), saved_weights=weights)


def columns(table: Any) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in table.to_pydict().items()}


def test_the_formulas_by_hand(learned: Learned) -> None:
    found = columns(learned.centrality({"one": ["a", "b"], "two": ["c", "d", "e"]}, frame="pyarrow"))
    assert found["variable"] == list(NAMES)
    assert found["group"] == ["one", "one", "two", "two", "two"]
    assert found["strength"] == [0.5, 0.75, 0.25, 1.0, 1.0]
    assert found["expected_influence"] == [0.5, 0.25, -0.25, 1.0, 1.0]
    # EI2 of a: 0.5 + 0.5 * 0.25; of b: 0.25 + 0.5 * 0.5 - 0.25 * (-0.25); of c: -0.25 - 0.25 * 0.25
    assert found["expected_influence_2"] == pytest.approx([0.625, 0.5625, -0.3125, 2.0, 2.0])
    # lengths 2, 4 and 1; a reaches b (2) and c (6)
    assert found["closeness"] == pytest.approx([0.25 / 8, 0.25 / 6, 0.25 / 10, 1 / 16, 1 / 16])
    assert found["betweenness"] == [0, 1, 0, 0, 0]
    assert found["bridge_strength"] == [0, 0.25, 0.25, 0, 0]
    assert found["bridge_expected_influence"] == [0, -0.25, -0.25, 0, 0]


def test_z_scores_have_mean_0_and_deviation_1(learned: Learned) -> None:
    found = columns(learned.centrality(dict.fromkeys(NAMES, "one"), z_scores=True, frame="pyarrow"))
    for name in ("strength", "expected_influence", "closeness", "betweenness"):
        assert np.mean(found[name]) == pytest.approx(0.0, abs=1e-12)
        assert np.std(found[name], ddof=1) == pytest.approx(1.0)
    assert found["bridge_strength"] == [0.0] * 5  # all equal


@pytest.mark.parametrize("seed", range(12))
def test_paths_are_those_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    edges = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.4]
    weights = rng.choice([1.0, 0.5, -0.5, 0.25, 0.0, 0.3, -0.123], size=(3, len(edges)))  # ties and absent edges
    found = centralities(n, edges, weights, np.zeros(n, dtype=np.int64))
    for row in range(3):
        slow = nx.Graph()
        slow.add_nodes_from(range(n))
        known = zip(edges, weights[row], strict=True)
        slow.add_weighted_edges_from([(u, v, 1 / abs(w)) for (u, v), w in known if w])
        between = nx.betweenness_centrality(slow, weight="weight", normalized=False)
        near = nx.closeness_centrality(slow, distance="weight")
        np.testing.assert_allclose(found["betweenness"][row], [between[x] for x in range(n)], atol=1e-9)
        np.testing.assert_allclose(found["closeness"][row] * (n - 1), [near[x] for x in range(n)], atol=1e-9)


def test_the_order_of_variables_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    edges = [(u, v) for u in range(8) for v in range(u + 1, 8) if rng.random() < 0.5]
    weights, groups, order = rng.normal(size=(1, len(edges))), rng.integers(0, 2, 8), rng.permutation(8)
    found = centralities(8, edges, weights, groups)
    moved = centralities(8, [(order[u], order[v]) for u, v in edges], weights, groups[np.argsort(order)])
    for name in CENTRALITIES:
        np.testing.assert_allclose(moved[name][0, order], found[name][0], atol=1e-12)


def test_groups_by_default_are_communities(learned: Learned) -> None:
    found = columns(learned.centrality(frame="pyarrow"))
    assert found["group"] == ["1", "1", "1", "2", "2"]
    assert found["bridge_strength"] == [0.0] * 5


def test_networks_without_edges_and_without_weights() -> None:
    nothing = EdgeWeights("partial correlation", {}, (True,) * 3)
    empty = Learned("gsmn", ("a", "b", "c"), Result(Graph(3), None, {}, True, {}), saved_weights=nothing)
    found = columns(empty.centrality(frame="pyarrow"))
    assert found["group"] == [None] * 3
    assert all(found[name] == [0.0] * 3 for name in CENTRALITIES)
    unweighted = Learned("gsmn", ("a", "b"), Result(Graph(2, [(0, 1)]), None, {}, True, {}))
    with pytest.raises(InputError, match=r"centrality needs the weights.*with_data"):
        unweighted.centrality()


def test_a_variable_without_a_group_is_one_of_its_own(learned: Learned) -> None:
    found = columns(learned.centrality({"one": ["a", "b"], "two": ["d", "e"]}, frame="pyarrow"))
    assert found["group"] == ["one", "one", None, "two", "two"]
    assert found["bridge_strength"] == [0, 0.25, 0.25, 0, 0]


def test_bad_arguments_are_refused(learned: Learned) -> None:
    with pytest.raises(UnknownNameError, match="'f' does not exist"):
        learned.centrality({"one": [*NAMES, "f"]})
    with pytest.raises(InputError, match="every variable once; got 'a' twice"):
        learned.centrality({"one": ["a"], "two": ["a"]})
    with pytest.raises(InputError, match="z_scores must be"):
        learned.centrality(z_scores=1)  # type: ignore[arg-type]
