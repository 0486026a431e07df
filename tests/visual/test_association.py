"""The sign of an edge, beside the inverse of a covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset, read
from mnlearn.graphs.graph import Graph
from mnlearn.visual.figure_data import ordered_variables, partial_correlations


def slow_partial(columns: np.ndarray[Any, Any], u: int, v: int, given: list[int]) -> float:
    """From the inverse of the covariance of u, v and the given, written out."""
    chosen = [u, v, *given]
    precision = np.linalg.inv(np.cov(columns[:, chosen].T))
    return float(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))


def mixed(seed: int, rows: int = 60) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(rows, 5)) + rng.normal(size=(rows, 1))
    latent[:, 1] = latent[:, 1] > 0
    latent[:, 2] = np.clip(latent[:, 2].round(), -1, 2)
    return latent


@settings(max_examples=40)
@given(st.integers(0, 200), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, unique=True))
def test_it_is_what_the_inverse_covariance_says(seed: int, pairs: list[tuple[int, int]]) -> None:
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1]}
    graph, table = Graph(5, edges), mixed(seed)
    data = read({f"v{k}": table[:, k].tolist() for k in range(5)}, types={"v1": "categorical", "v2": "categorical"})
    found = partial_correlations(data, graph)
    assert set(found) == edges
    for u, v in edges:
        given_ = sorted((graph.neighbors(u) | graph.neighbors(v)) - {u, v})
        assert found[u, v] == pytest.approx(slow_partial(table, u, v, given_), abs=1e-9)


def test_repeats_count_as_rows() -> None:
    codes = np.random.default_rng(2).integers(0, 2, size=(40, 3))
    repeats = np.random.default_rng(3).integers(1, 5, size=40)
    graph = Graph(3, [(0, 1), (1, 2)])
    weighted = partial_correlations(Dataset.from_codes(codes, repeats=repeats), graph)
    spelled = partial_correlations(Dataset.from_codes(np.repeat(codes, repeats, axis=0)), graph)
    assert weighted == pytest.approx(spelled)


def test_a_neighbour_without_order_is_held_fixed_too() -> None:
    """Region makes a and b rise together; within a region they go against each other."""
    rng = np.random.default_rng(0)
    region = rng.integers(0, 3, size=900)
    a = 5.0 * region + rng.normal(size=900)
    b = 10.0 * region - a + rng.normal(size=900)
    data = read({"a": a, "b": b, "region": [("north", "south", "west")[r] for r in region]})
    alone = partial_correlations(data, Graph(3, [(0, 1)]))
    fixed = partial_correlations(data, Graph(3, [(0, 1), (0, 2), (1, 2)]))
    assert alone[0, 1] > 0.5
    assert fixed[0, 1] < -0.5
    assert set(fixed) == {(0, 1)}


def test_what_has_no_order_or_never_changes_has_no_sign() -> None:
    data = read({"yes": ["no", "yes"] * 6, "word": ["a", "b", "c", "c"] * 3, "same": [1.5] * 12, "n": [1, 2, 4] * 4})
    assert ordered_variables(data) == [True, False, True, True]
    assert set(partial_correlations(data, Graph(4, [(0, 1), (0, 2), (0, 3), (2, 3)]))) == {(0, 3)}


def test_copies_and_more_neighbours_than_rows_do_no_harm() -> None:
    data = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, size=(4, 8)), cards=[2] * 8)
    full = Graph(8, [(u, v) for v in range(8) for u in range(v)])
    assert all(np.isfinite(list(partial_correlations(data, full).values())))
    twice = Dataset.from_codes(np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]] * 5))
    found = partial_correlations(twice, Graph(3, [(0, 1), (1, 2), (0, 2)]))
    assert (0, 2) not in found  # nothing is left of 0 once its copy 1 is known
