"""Appendix B of BJP18, in small: four orders of the blankets, and what a larger conditioning set costs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.independence import BayesianTest
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts
from mnlearn_papers import bjp18 as orders
from mnlearn_papers.reproduction import Comparison, Request


def by_key(lines: list[Comparison]) -> dict[tuple[int, str], Comparison]:
    return {(line.n_rows, line.learner): line for line in lines}


def test_each_pair_is_weighed_by_whoever_comes_first() -> None:
    data = sample(uniform_factors(orders.HUB, 3), 300, 3).dataset()
    posterior = BayesianTest(Counts(data))
    found = dict(orders.values(data))
    for name, order in orders.ORDERS.items():
        total = 0.0
        for x, y in combinations(order, 2):
            odds = posterior.log_odds(x, np.array([y]), orders.HUB.neighbors(x) - {y})
            total += float((odds.dependent if orders.HUB.has_edge(x, y) else odds.independent)[0])
        assert found[f"order {name}"] == pytest.approx(total)
        if name != orders.SMALL_FIRST:
            assert found[f"gain {name}"] == pytest.approx(found[f"order {orders.SMALL_FIRST}"] - total)
    given = posterior.log_odds(1, np.array([2]), frozenset({0, 3})).independent[0]
    assert found["assertion 1,2 given 0,3"] == pytest.approx(given)


def test_the_larger_conditioning_set_needs_more_rows() -> None:
    methods = ("assertion 1,2 given 0", "assertion 1,2 given 0,3")
    lines = by_key(orders.ORDERINGS.measure(Request(sizes=(250, 8000), methods=methods, repetitions=40)))
    assert len(lines) == 4
    for n_rows in (250, 8000):
        assert lines[n_rows, methods[1]].ours < lines[n_rows, methods[0]].ours
    assert lines[8000, methods[0]].ours > lines[250, methods[0]].ours
    assert all(line.published is None and line.n == 40 for line in lines.values())


def test_the_order_matters_less_with_many_rows() -> None:
    gain = "gain 0,1,2,3"
    lines = by_key(orders.ORDERINGS.measure(Request(sizes=(250, 100_000), methods=(gain,), repetitions=10)))
    assert lines[100_000, gain].sd < lines[250, gain].sd


def test_a_smaller_data_set_is_the_beginning_of_a_larger_one() -> None:
    small, large = (orders.simulate_hub(size, np.random.default_rng(2)) for size in (50, 200))
    network = uniform_factors(orders.HUB, (rng := np.random.default_rng(2)))
    codes = sample(network, orders.ORDER_SIZES[-1], rng).codes
    for found, size in ((small, 50), (large, 200)):
        told = dict(orders.values(Dataset.from_codes(codes[:size], cards=network.cards)))
        assert {name: measured.value for name, measured in found.items()} == told
    everything = orders.ORDERINGS.measure(Request(sizes=(50,), repetitions=2))
    assert [line.learner for line in everything] == list(orders.NUMBERS)


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="source 'orders' does not exist"):
        orders.ORDERINGS.measure(Request(sources=("orders",)))
    with pytest.raises(UnknownNameError, match="method 'bjp' does not exist"):
        orders.ORDERINGS.measure(Request(methods=("bjp",)))
    with pytest.raises(InputError, match="repetitions"):
        orders.ORDERINGS.measure(Request(repetitions=0))
