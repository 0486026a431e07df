"""New rows from old ones and a structure: bit for bit as the slow twin, and with the right law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, random_graph
from mnlearn.simulate import sample_markovian
from mnlearn.simulate.markovian import Weighing

from references.markovian import markovian


def old_rows(n_rows: int, cards: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(cards, size=(n_rows, len(cards))).astype(np.uint8)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 5), min_size=2, max_size=5),
    st.integers(1, 12),
    st.sampled_from(["conditional", "joint", "plain"]),
    st.floats(0, 30),
)
def test_the_bits_are_those_of_the_twin(seed: int, cards: list[int], n_rows: int, weighing: Weighing, b: float) -> None:
    sizes = tuple(cards)
    graph = random_graph(len(sizes), min(2, len(sizes) - 1), seed)
    old, key = old_rows(n_rows, sizes, seed), int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
    new = sample_markovian(graph, old, 70, seed, cards=sizes, n_updates=9, inverse_temperature=b, weighing=weighing)
    assert np.array_equal(new, markovian(graph, old, 70, key, sizes, 9, weighing, b))


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.sampled_from([3, 64, 100, 200, 300, 530]),
    st.sampled_from(["conditional", "joint", "plain"]),
    st.floats(0, 30),
)
def test_binary_rows_are_those_of_their_own_twin(seed: int, n: int, n_new: int, weighing: Weighing, b: float) -> None:
    graph = random_graph(n, min(3, n - 1), seed)
    old, key = old_rows(9, (2,) * n, seed), int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
    options: dict[str, Any] = {"cards": (2,) * n, "n_updates": 4, "inverse_temperature": b, "weighing": weighing}
    new = sample_markovian(graph, old, n_new, seed, **options)
    assert np.array_equal(new, markovian(graph, old, n_new, key, (2,) * n, 4, weighing, b))


@pytest.mark.parametrize("n", [5, 7, 14])  # a mask for each configuration, a place for each, a tree
def test_binary_rows_with_many_neighbours_are_those_of_the_twin(n: int) -> None:
    graph = Graph(n, [(0, y) for y in range(1, n)] + [(1, 2)])
    old, key = old_rows(30, (2,) * n, 4), int(np.random.default_rng(8).integers(2**64, dtype=np.uint64))
    new = sample_markovian(graph, old, 70, 8, cards=(2,) * n, n_updates=50, inverse_temperature=6.0)
    assert np.array_equal(new, markovian(graph, old, 70, key, (2,) * n, 50, "conditional", 6.0))


def test_every_code_path_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    old, graph, rows = old_rows(50, (2,) * 12, 1), random_graph(12, 4, 1), []
    for level in _core.levels():
        monkeypatch.setenv("MNLEARN_CORE", level)
        rows.append(
            [sample_markovian(graph, old, k, 2, cards=(2,) * 12, n_updates=60).tobytes() for k in (60, 130, 999)]
        )
    assert all(some == rows[0] for some in rows)


def test_many_configurations_go_into_a_tree_and_give_the_same_bits() -> None:
    cards = (3, 2, 4, 2, 2, 3, 2, 2, 5, 2, 2)  # around the first: 46,080 configurations, and 40 rows
    graph = Graph(len(cards), [(0, y) for y in range(1, len(cards))] + [(1, 2), (3, 4)])
    old, key = old_rows(40, cards, 3), int(np.random.default_rng(5).integers(2**64, dtype=np.uint64))
    old = np.repeat(old[:6], 7, axis=0)  # so that some new rows do meet old configurations
    new = sample_markovian(graph, old, 64, 5, cards=cards, n_updates=60, inverse_temperature=8.0)
    assert np.array_equal(new, markovian(graph, old, 64, key, cards, 60, "conditional", 8.0))


def test_any_number_of_threads_gives_the_same_rows() -> None:
    old = old_rows(300, (2,) * 40, 1)
    graph = random_graph(40, 4, 1)
    rows = [sample_markovian(graph, old, 3000, 2, cards=(2,) * 40, n_updates=200, n_threads=k) for k in (1, 2, 5)]
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])


def test_fewer_rows_are_the_first_of_more() -> None:
    old, graph = old_rows(30, (2, 3, 2), 1), Graph(3, [(0, 1)])  # binary rows: among those of as many words
    few, many = (sample_markovian(graph, old, k, 2, cards=(2, 3, 2), n_updates=10) for k in (70, 300))
    assert np.array_equal(few, many[:70])


def test_without_edges_values_follow_their_weights() -> None:
    old = np.repeat(np.array([[0, 0], [1, 2]], dtype=np.uint8), [30, 10], axis=0)
    cooled = sample_markovian(Graph.empty(2), old, 20_000, 1, cards=(2, 3), n_updates=40, inverse_temperature=2.0)
    plain = sample_markovian(Graph.empty(2), old, 20_000, 1, cards=(2, 3), n_updates=40, weighing="plain")
    assert plain[:, 0].mean() == pytest.approx(0.25, abs=0.015)
    assert np.bincount(plain[:, 1], minlength=3).tolist()[1] < 10  # only rows that were never drawn again
    weights = np.exp(2.0 * np.array([0.75, 0.0, 0.25]))
    assert np.bincount(cooled[:, 1], minlength=3) / 20_000 == pytest.approx(weights / weights.sum(), abs=0.015)


def test_neighbours_that_no_old_row_has_give_equal_odds() -> None:
    old = np.zeros((5, 2), dtype=np.uint8)  # nothing is known of x0 where x1 is 1
    new = sample_markovian(Graph(2, [(0, 1)]), old, 20_000, 1, cards=(2, 2), n_updates=1, inverse_temperature=50.0)
    start = sample_markovian(Graph(2, [(0, 1)]), old, 20_000, 1, cards=(2, 2), n_updates=0)
    assert start.mean() == pytest.approx(0.5, abs=0.02)
    other_is_one = np.where((new[:, 0] != start[:, 0]) | (new[:, 1] == start[:, 1]), start[:, 1], start[:, 0]) == 1
    assert new[other_is_one].sum() > 0


def test_bad_input_is_refused_by_name() -> None:
    old, graph = old_rows(10, (2, 2), 1), Graph.empty(2)

    def draw(graph: Graph = graph, codes: object = old, n_rows: int = 5, **settings: object) -> None:
        sample_markovian(graph, codes, n_rows, 1, **{"cards": (2, 2), "n_updates": 3, **settings})  # type: ignore[arg-type]

    with pytest.raises(InputError, match="codes must be a 2-D array of type uint8"):
        draw(codes=old.astype(np.int64))
    with pytest.raises(InputError, match="at least one row"):
        draw(codes=old[:0])
    with pytest.raises(InputError, match="codes must be below their cards"):
        draw(codes=old + np.uint8(1))
    with pytest.raises(InputError, match="3 variables of the graph; got 2 and 2"):
        draw(graph=Graph.empty(3))
    with pytest.raises(InputError, match="cards must be from 1 to 256"):
        draw(cards=(2, 300))
    with pytest.raises(InputError, match="inverse_temperature must be"):
        draw(inverse_temperature=float("inf"))
    with pytest.raises(InputError, match="weighing 'odd' does not exist"):
        draw(weighing="odd")
    with pytest.raises(InputError, match="n_updates must be"):
        draw(n_updates=-1)
    with pytest.raises(InputError, match="n_rows must be"):
        draw(n_rows=-1)
