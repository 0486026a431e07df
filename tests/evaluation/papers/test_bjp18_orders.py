"""Appendix B of BJP18, in small: four orders of the blankets, and what a larger conditioning set costs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mnlearn.errors import InputError, UnknownNameError
from mnlearn.evaluation.papers import bjp18_orders as orders
from mnlearn.evaluation.reproduction import Comparison, Request
from mnlearn.independence import BayesianTest
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts


def by_key(lines: list[Comparison]) -> dict[tuple[str, int, str], Comparison]:
    return {(line.source, line.n_rows, line.learner): line for line in lines}


def test_each_pair_is_weighed_by_whoever_comes_first() -> None:
    data = sample(uniform_factors(orders.HUB, 3), 300, 3).dataset()
    posterior = BayesianTest(Counts(data))
    found = {(source, name): value for source, name, value in orders.values(data)}
    for name, order in orders.ORDERS.items():
        total = 0.0
        for x, y in combinations(order, 2):
            odds = posterior.log_odds(x, np.array([y]), orders.HUB.neighbors(x) - {y})
            total += float((odds.dependent if orders.HUB.has_edge(x, y) else odds.independent)[0])
        assert found["order", name] == pytest.approx(total)
        assert found["gain", name] == pytest.approx(found["order", orders.SMALL_FIRST] - total)
    given = posterior.log_odds(1, np.array([2]), frozenset({0, 3})).independent[0]
    assert found["assertion", "1_2|0,3"] == pytest.approx(given)


def test_the_larger_conditioning_set_needs_more_rows() -> None:
    lines = by_key(orders.measure(Request(sizes=(250, 8000), sources=("assertion",), repetitions=40)))
    assert len(lines) == 4
    for n_rows in (250, 8000):
        assert lines["assertion", n_rows, "1_2|0,3"].ours < lines["assertion", n_rows, "1_2|0"].ours
    assert lines["assertion", 8000, "1_2|0"].ours > lines["assertion", 250, "1_2|0"].ours
    assert all(line.published is None and line.n == 40 for line in lines.values())


def test_the_order_matters_less_with_many_rows() -> None:
    lines = by_key(orders.measure(Request(sizes=(250, 100_000), sources=("gain",), repetitions=10)))
    assert lines["gain", 100_000, "0,1,2,3"].sd < lines["gain", 250, "0,1,2,3"].sd


def test_what_is_asked_for_is_what_comes_and_always_the_same() -> None:
    (line,) = orders.measure(Request(sizes=(50,), sources=("order",), methods=("0,1,2,3",), repetitions=2))
    everything = by_key(orders.measure(Request(sizes=(50,), repetitions=2)))
    assert len(everything) == 2 + 4 + 3
    again = everything["order", 50, "0,1,2,3"]
    assert (line.ours, line.sd, line.n) == (again.ours, again.sd, 2)


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="source 'orders' does not exist"):
        orders.measure(Request(sources=("orders",)))
    with pytest.raises(UnknownNameError, match="method 'bjp' does not exist"):
        orders.measure(Request(methods=("bjp",)))
    with pytest.raises(InputError, match="methods must belong to the sources"):
        orders.measure(Request(sources=("gain",), methods=("1_2|0",)))
    with pytest.raises(InputError, match="repetitions"):
        orders.measure(Request(repetitions=0))
