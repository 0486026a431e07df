"""Samples of Bayesian networks against their joint distribution, multiplied out here table by table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.simulate import BayesianNetwork


def joint(network: BayesianNetwork) -> dict[tuple[int, ...], float]:
    """p(x) for every x: the product of its table entries."""
    probability = {}
    for x in product(*map(range, network.cards)):
        p = 1.0
        for j, table in enumerate(network.tables):
            p *= float(table[tuple(x[i] for i in network.parents[j])][x[j]])
        probability[x] = p
    return probability


def drawn_row_by_row(network: BayesianNetwork, n_rows: int, seed: int) -> NDArray[np.int64]:
    """The slow twin: the same uniform numbers, variable by variable, one row at a time."""
    uniform = np.random.default_rng(seed).random((network.n_variables, n_rows))
    codes = np.zeros((n_rows, network.n_variables), dtype=np.int64)
    for place, x in enumerate(network.order):
        for row in range(n_rows):
            weights = network.tables[x][tuple(codes[row, j] for j in network.parents[x])].tolist()
            below = 0.0
            for state, weight in enumerate(weights):
                below += weight
                if uniform[place, row] < below / sum(weights):
                    codes[row, x] = state
                    break
    return codes


@st.composite
def networks(draw: st.DrawFn) -> BayesianNetwork:
    """A few variables of 1 to 4 states, arcs from anywhere to anywhere along a hidden order; some zeros."""
    n = draw(st.integers(1, 5))
    cards = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    hidden = draw(st.permutations(range(n)))
    parents: list[tuple[int, ...]] = [()] * n
    for place, x in enumerate(hidden):
        parents[x] = tuple(j for j in hidden[:place] if draw(st.booleans()))[:3]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    tables = []
    for x in range(n):
        weights = rng.random([cards[j] for j in (*parents[x], x)])
        weights[..., 1:] *= rng.random(weights[..., 1:].shape) < 0.7
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    states = tuple(tuple(map(str, range(card))) for card in cards)
    return BayesianNetwork(tuple(f"v{x}" for x in range(n)), states, tuple(parents), tuple(tables))


def collider(**changes: Any) -> BayesianNetwork:
    """a → c ← b, c → d."""
    parts: dict[str, Any] = {
        "names": ("a", "b", "c", "d"),
        "states": (("no", "yes"), ("lo", "mid", "hi"), ("no", "yes"), ("no", "yes")),
        "parents": ((), (), (0, 1), (2,)),
        "tables": (
            [0.3, 0.7],
            [0.2, 0.5, 0.3],
            [[[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], [[0.4, 0.6], [0.3, 0.7], [0.6, 0.4]]],
            [[0.8, 0.2], [0.1, 0.9]],
        ),
    }
    return BayesianNetwork(**(parts | changes))


@given(networks(), st.integers(0, 1000))
def test_rows_are_those_of_the_slow_twin(network: BayesianNetwork, seed: int) -> None:
    data = network.sample(40, seed)
    np.testing.assert_array_equal(np.column_stack(data.columns), drawn_row_by_row(network, 40, seed))


def test_rows_have_the_joint_distribution() -> None:
    network, rows = collider(), 40_000
    observed = dict.fromkeys(joint(network), 0)
    for x in zip(*(column.tolist() for column in network.sample(rows, seed=5).columns), strict=True):
        observed[x] += 1
    statistic = sum((observed[x] - rows * p) ** 2 / (rows * p) for x, p in joint(network).items())
    assert statistic < 49.7  # chi-square with 23 degrees of freedom: above it with probability 0.001


@given(networks())
def test_what_is_impossible_is_never_drawn(network: BayesianNetwork) -> None:
    probability = joint(network)
    assert sum(probability.values()) == pytest.approx(1)
    for x in zip(*(column.tolist() for column in network.sample(200, seed=1).columns), strict=True):
        assert probability[x] > 0


def test_a_draw_next_to_one_does_not_fall_behind_the_last_possible_state() -> None:
    class AlmostOne(np.random.Generator):
        def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
            return np.full(size, np.nextafter(1, 0))

    network = BayesianNetwork(("a",), (("x", "y", "z"),), ((),), (np.array([0.1, 0.9 - 4e-4, 0.0]),))
    assert network.sample(3, AlmostOne(np.random.PCG64(1))).columns[0].tolist() == [1, 1, 1]


def test_the_same_seed_gives_the_same_rows_everywhere() -> None:
    data = collider().sample(6, seed=2)
    assert np.column_stack(data.columns).tolist() == np.column_stack(collider().sample(6, 2).columns).tolist()
    assert [column.tolist() for column in data.columns] == [
        [0, 0, 1, 0, 1, 1],
        [0, 0, 1, 1, 1, 0],
        [0, 0, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 1],
    ]
    assert (np.column_stack(data.columns) != np.column_stack(collider().sample(6, 3).columns)).any()


def test_a_data_set_keeps_names_states_and_those_never_drawn() -> None:
    data = collider(tables=([0, 1], [1, 0, 0], *collider().tables[2:])).sample(10, seed=1)
    assert data.names == ("a", "b", "c", "d")
    assert data.cards == (2, 3, 2, 2)
    assert data.levels[1] == ("lo", "mid", "hi")


def test_moralisation_marries_parents() -> None:
    assert collider().moral_graph() == Graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)])


def test_counts() -> None:
    network = collider()
    assert (network.n_arcs, network.n_parameters) == (3, 1 + 2 + 6 + 2)
    assert repr(network) == "<BayesianNetwork: 4 variables, 3 arcs, 11 parameters>"


def test_decimals_that_just_miss_one_are_normalised() -> None:
    network = BayesianNetwork(("a",), (("x", "y", "z"),), ((),), (np.array([0.3333, 0.3333, 0.3333]),))
    assert network.tables[0].tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        network.tables[0][0] = 1


BAD: list[tuple[dict[str, Any], str]] = [
    ({"names": ("a", "b", "a", "d")}, r"names must hold at least one name and none twice; got 'a' twice"),
    ({"names": (), "states": (), "parents": (), "tables": ()}, "names must hold at least one name .* got none at all"),
    ({"states": (("no",),) * 3}, "states must have one entry for each of 4 variables; got 3"),
    ({"states": (("no", "no"), ("1", "2", "3"), ("n", "y"), ("n", "y"))}, "none twice; 'a' has"),
    ({"parents": ((), (), (0, 4), (2,))}, r"parents must be different variables, 0 to 3; those of 'c' are \(0, 4\)"),
    ({"tables": ([0.3, 0.7],) * 4}, r"that of 'b' must be of shape \(3,\), got \(2,\)"),
    ({"tables": ([0.3, 0.8], *collider().tables[1:])}, r"sum to 1 up to 0.001; that of 'a' sums to 1.1"),
    ({"tables": ([1.3, -0.3], *collider().tables[1:])}, r"must hold probabilities; that of 'a' holds -0.3"),
    ({"tables": ([np.nan, 1], *collider().tables[1:])}, r"must hold probabilities; that of 'a' holds nan"),
    (
        {"tables": (*collider().tables[:3], [[0.8, 0.2], [0.0, 0.0]])},
        r"that of 'd' given the parents' states \(1,\) sums to 0. Correct it; a table that sums to 0 was",
    ),
    (
        {"parents": ((3,), (), (0, 1), (2,)), "tables": ([[0.3, 0.7]] * 2, *collider().tables[1:])},
        r"parents must not run in a circle; got .* → .* → .* → .*\. Take one of these arcs out",
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        collider(**changes)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: collider().sample(0, 1), "n_rows must be a whole number, at least 1; got 0"),
        (lambda: collider().sample(2.5, 1), "n_rows must be a whole number, at least 1; got 2.5"),  # type: ignore[arg-type]
        (lambda: collider().sample(5, -1), "seed must be an integer of at least 0"),
    ],
)
def test_bad_requests_are_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()
