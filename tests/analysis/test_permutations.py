"""Permutation p-values of differences between networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from mnlearn.analysis import permutations as group_tests
from mnlearn.analysis.permutations import WeightedEdges, corrected, network_tests


def network(weights: dict[tuple[int, int], float]) -> WeightedEdges:
    return WeightedEdges(np.array(list(weights), dtype=np.int64).reshape(-1, 2), np.array(list(weights.values())))


def random_networks(rng: np.random.Generator, n: int) -> WeightedEdges:
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.5]
    return network({pair: float(rng.normal()) for pair in pairs})


def dense(one: WeightedEdges, n: int) -> np.ndarray:
    found = np.zeros((n, n))
    for (u, v), weight in zip(one.ends.tolist(), one.weights.tolist(), strict=True):
        found[u, v] = found[v, u] = weight
    return found


@pytest.mark.parametrize("block", [4, 4_000_000])
def test_two_groups_match_the_definitions(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reference: dense matrices, |difference minus its mean|, one p-value at a time."""
    monkeypatch.setattr(group_tests, "_BLOCK", block)
    rng, n = np.random.default_rng(1), 5
    assignments = [[random_networks(rng, n) for _ in range(2)] for _ in range(20)]
    found = network_tests(assignments, [30, 70], n)
    weights = np.array([[dense(one, n) for one in both] for both in assignments])
    difference = weights[:, 0] - weights[:, 1]
    excess = np.abs(difference - difference.mean(axis=0))
    totals = np.abs(weights).sum(axis=(2, 3)) / 2
    strength = totals[:, 0] - totals[:, 1]
    above = np.abs(strength - strength.mean())
    largest = excess.max(axis=(1, 2))
    assert found.whole["strength"] == pytest.approx((abs(strength[0]), np.mean(above >= above[0])))
    assert found.whole["largest"] == pytest.approx((np.abs(difference[0]).max(), np.mean(largest >= largest[0])))
    for k, (u, v) in enumerate(found.edges.tolist()):
        assert found.weights.values[:, k].tolist() == weights[0, :, u, v].tolist()
        assert found.weights.p[k] == pytest.approx(np.mean(excess[:, u, v] >= excess[0, u, v] - 1e-9))
        assert found.weights.p_max[k] == pytest.approx(np.mean(largest >= excess[0, u, v] - 1e-9))
    influence = weights.sum(axis=3)
    gap = influence[:, 0] - influence[:, 1]
    gap = np.abs(gap - gap.mean(axis=0))
    tested = found.centralities["expected_influence"]
    assert tested.values == pytest.approx(influence[0])
    assert tested.p == pytest.approx((gap >= gap[0] - 1e-9).mean(axis=0))
    assert found.centralities["strength"].values == pytest.approx(np.abs(weights[0]).sum(axis=2))


def test_p_values_are_uniform_whichever_assignment_is_the_real_one() -> None:
    rng, n = np.random.default_rng(2), 4
    assignments = [[random_networks(rng, n) for _ in range(3)] for _ in range(20)]
    ranks = []
    for k in range(20):
        turned = [assignments[k], *assignments[:k], *assignments[k + 1 :]]
        ranks.append(network_tests(turned, [10, 20, 30], n).whole["largest"][1])
    assert sorted(ranks) == pytest.approx(np.arange(1, 21) / 20)


def test_networks_without_edges_do_not_differ() -> None:
    found = network_tests([[network({}), network({})]] * 3, [5, 5], 3)
    assert found.whole == {"edges": (0.0, 1.0), "strength": (0.0, 1.0), "largest": (0.0, 1.0)}
    assert found.weights.p.tolist() == []
    assert found.centralities["strength"].p.tolist() == [1.0] * 3


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=12))
def test_corrections_match_the_definitions(p: list[float]) -> None:
    values = np.array(p)
    assert corrected(values, "fdr") == pytest.approx(false_discovery_control(values))
    holm = [max(min(1.0, sum(q >= r for q in p) * r) for r in p if r <= own) for own in p]
    if len(set(p)) == len(p):
        assert corrected(values, "holm") == pytest.approx(holm)
    assert corrected(values, "none").tolist() == p
    padded = np.array([*p, 1.0, 1.0, 1.0])
    for correction in ("holm", "fdr"):
        assert corrected(values, correction, len(padded)) == pytest.approx(corrected(padded, correction)[: len(p)])
