"""The likelihood-ratio test of variables of any kinds: its slow twin, closed forms, invariances, calibration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.data.rows import take
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs.graph import Graph
from mnlearn.independence import ChiSquare, MixedTest
from mnlearn.independence.base import log_chi2_sf
from mnlearn.simulate import Margin, mixed_network, random_gaps
from mnlearn.statistics import Counts, MixedLikelihoods, Moments

from references import mixed_likelihoods as slow

KINDS = ("nominal", "ordinal", "continuous", "count", "ordinal", "nominal")


def table(n_rows: int, seed: int, *, share: float = 0.0, states: int = 4) -> Dataset:
    """Return columns of all kinds with edges between most of them."""
    margins = [Margin(kind, states=states) for kind in KINDS]  # type: ignore[arg-type]
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 4), (0, 2)]
    data = mixed_network(Graph(6, edges), margins, seed, weakest=0.2, strongest=0.5).dataset(n_rows, seed=seed + 1)
    return random_gaps(data, share, seed=seed + 2) if share else data


def judge(data: Dataset, **settings: Any) -> MixedTest:
    return MixedTest(MixedLikelihoods(data, n_jobs=1), **settings)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), gaps=st.booleans(), states=st.integers(3, 4), order=st.permutations(range(6)))
def test_it_is_its_slow_twin(seed: int, gaps: bool, states: int, order: list[int]) -> None:
    data = table(150, seed, share=0.1 * gaps, states=states)
    x, y, *rest = order
    z = rest[: seed % 3]
    found = judge(data).evidence(x, [y], frozenset(z))
    statistic, dof, n_rows = slow.ratio(data, x, y, z)
    assert found.statistic is not None
    assert found.dof is not None
    assert found.n_rows is not None
    assert found.statistic[0] == pytest.approx(statistic, rel=1e-3, abs=2e-3)  # the ridge, and tables that have none
    assert (found.dof[0], found.n_rows[0]) == (dof, n_rows)


def test_between_numbers_it_is_a_partial_correlation() -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4))
    data = mn.read(rows)
    for z in (frozenset[int](), frozenset({2}), frozenset({2, 3})):
        r = Moments(data).partial_correlations(0, [1], z)[0]
        found = judge(data).evidence(0, [1], z)
        assert found.statistic is not None
        assert found.statistic[0] == pytest.approx(-(60 - len(z) - 2.5) * np.log1p(-r * r), rel=1e-8)
        # Bartlett's factor makes it nearly the exact t test
        exact = 2 * student.sf(abs(r) * np.sqrt((58 - len(z)) / (1 - r * r)), 58 - len(z))
        assert found.log_p is not None
        assert found.log_p[0] == pytest.approx(np.log(exact), rel=2e-2, abs=1e-4)


def test_between_nominal_variables_it_is_g2_with_a_factor() -> None:
    rng = np.random.default_rng(2)
    data = Dataset.from_codes(np.stack([rng.integers(0, 3, 200), rng.integers(0, 4, 200)], axis=1))
    g2 = mn.GTest(Counts(data)).evidence(0, [1], frozenset()).statistic
    found = judge(data).evidence(0, [1], frozenset())
    assert g2 is not None
    assert found.statistic is not None
    assert found.dof is not None
    assert found.statistic[0] == pytest.approx(g2[0] * (200 - 1 - 3) / 200, rel=1e-9)
    assert found.dof[0] == 6


def test_order_brings_power_and_costs_one_parameter() -> None:
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal(200)
    cut = {
        name: pd.Categorical(np.digitize(0.6 * hidden + rng.standard_normal(200), [-1, -0.3, 0.3, 1]), ordered=True)
        for name in "ab"
    }
    ordered = mn.read(pd.DataFrame(cut))
    assert ordered.kinds == ("ordinal", "ordinal")
    found = judge(ordered).evidence(0, [1], frozenset())
    nominal = ChiSquare(Counts(ordered)).evidence(0, [1], frozenset())
    assert found.dof is not None
    assert found.log_p is not None
    assert nominal.log_p is not None
    assert found.dof[0] == 1
    assert found.log_p[0] < nominal.log_p[0]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), gaps=st.booleans())
def test_what_must_not_change_it(seed: int, gaps: bool) -> None:
    data = table(120, seed, share=0.1 * gaps)
    rng = np.random.default_rng(seed)
    z = frozenset({2, 5})
    before = judge(data).evidence(0, [1, 3, 4], z)
    rows, order = rng.permutation(120), rng.permutation(6)
    place = {int(v): k for k, v in enumerate(order)}
    moved = data.select([data.names[v] for v in order])
    moved = take(moved, rows)
    after = judge(moved).evidence(place[0], [place[1], place[3], place[4]], frozenset(place[v] for v in z))
    assert before.log_p is not None
    assert after.log_p is not None
    assert after.log_p == pytest.approx(before.log_p, rel=1e-7, abs=1e-9)
    one = judge(data)(0, 3, z)
    assert one == judge(data)(3, 0, z)
    assert one.log_support == before.log_p[1]
    threads = MixedTest(MixedLikelihoods(data, n_jobs=3))
    asked: Any = ([0, 3, 5] * 9, [[1, 4]] * 27, [z - {5}] * 27)
    alone = [judge(data).scan(*question) for question in zip(*asked, strict=True)]
    for found, expected in zip(threads.scan_many(*asked), alone, strict=True):
        assert found.log_support.tobytes() == expected.log_support.tobytes()


def test_repeats_are_rows() -> None:
    data = table(100, 4)
    repeats = np.random.default_rng(4).integers(1, 4, 100)
    counted = replace(data, repeats=repeats)
    written = take(data, np.repeat(np.arange(100), repeats))
    for z in (frozenset[int](), frozenset({1, 2})):
        found, expected = (judge(each).evidence(0, [3, 4, 5], z) for each in (counted, written))
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-8, abs=1e-10)
        assert found.n_rows is not None
        assert found.n_rows.tolist() == [repeats.sum()] * 3


def independent(n_rows: int, rng: np.random.Generator) -> Dataset:
    """Return two columns of each kind, all independent."""
    found: dict[str, Any] = {}
    for end in "ab":
        found[f"nominal {end}"] = rng.choice(list("pqrs"), n_rows, p=[0.4, 0.3, 0.2, 0.1])
        found[f"binary {end}"] = rng.choice(list("yn"), n_rows, p=[0.8, 0.2])
        found[f"ordinal {end}"] = pd.Categorical(rng.choice(5, n_rows, p=[0.3, 0.3, 0.2, 0.1, 0.1]), ordered=True)
        found[f"count {end}"] = rng.poisson(3, n_rows)
        found[f"number {end}"] = rng.standard_normal(n_rows)
    return mn.read(pd.DataFrame(found), types={"count a": "count", "count b": "count"})


@pytest.mark.parametrize("n_rows", [200, 500])
@pytest.mark.parametrize("given_others", [False, True])
def test_p_values_of_independent_variables_are_uniform(n_rows: int, given_others: bool) -> None:
    rng, p_values = np.random.default_rng(n_rows), []
    for _ in range(200):
        test = judge(independent(n_rows, rng))
        rest = [frozenset(v for v in range(5) if v != x) if given_others else frozenset[int]() for x in range(5)]
        p_values.append([found.log_support for found in test.scan_many(range(5), [range(5, 10)] * 5, rest)])
    p = np.exp(np.array(p_values))  # draw, x, y
    for x, y in product(range(5), range(5)):  # each has a standard error of 0.02 and 0.015
        assert p[:, x, y].mean() == pytest.approx(0.5, abs=0.09)
        assert (p[:, x, y] < 0.05).mean() < 0.11
    assert p.mean() == pytest.approx(0.5, abs=0.015)
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.012)
    assert (p < 0.01).mean() == pytest.approx(0.01, abs=0.006)


def test_copies_and_separated_states_stay_finite() -> None:
    rng = np.random.default_rng(5)
    value = rng.standard_normal(400)
    states = np.where(value > 0, "high", "low")
    data = mn.read({"value": value, "copy": value, "again": 2 * value + 1, "state": states, "same": states})
    test = judge(data)
    for x, y in ((0, 1), (0, 3), (3, 4)):
        found = test.evidence(x, [y], frozenset())
        assert found.log_p is not None
        assert -1e6 < found.log_p[0] < -100
    for x, y, z in ((0, 1, {2}), (0, 3, {1}), (1, 2, {0, 4}), (3, 4, {0})):
        found = test.evidence(x, [y], frozenset(z))
        assert found.independent[0] or (x, y) == (3, 4)
        assert found.log_p is not None
        assert np.isfinite(found.log_p).all()


def test_log_p_stays_finite_below_the_smallest_double() -> None:
    value = np.random.default_rng(6).standard_normal(5000)
    data = mn.read({"a": value, "b": value + 1e-4 * np.random.default_rng(7).standard_normal(5000)})
    found = judge(data).evidence(0, [1], frozenset())
    assert found.log_p is not None
    assert found.statistic is not None
    assert -np.inf < found.log_p[0] < -10_000
    assert found.log_p[0] == log_chi2_sf(found.statistic, [1.0])[0]


def test_constant_columns_few_rows_and_pairs_without_common_rows() -> None:
    data = mn.read({"a": [1.0, 2.5, 0.5, 4.5], "b": list("xxxx"), "c": list("xyxy"), "d": [0.5, 0.1, 0.2, 0.9]})
    found = judge(data).evidence(0, [1, 2, 3], frozenset())
    assert found.dof is not None
    assert found.log_p is not None
    assert found.dof.tolist() == [0, 1, 1]
    assert found.log_p[0] == 0
    assert judge(data).evidence(0, [2], frozenset({1, 3})).independent[0]
    gaps = mn.read({"a": [1.0, 2.5, None, None], "b": [None, None, "x", "y"]}, missing="testwise")
    apart = judge(gaps)
    found = apart.evidence(0, [1], frozenset())
    assert found.n_rows is not None
    assert found.log_p is not None
    assert (found.n_rows[0], found.log_p[0], bool(found.independent[0])) == (0, 0.0, True)
    assert apart.likelihoods.without_rows == 1


def test_models_of_too_many_parameters_are_counted() -> None:
    rng = np.random.default_rng(8)
    wide = rng.integers(0, 30, 3000)
    data = mn.read({"a": wide.astype(str), "b": ((wide + rng.integers(0, 2, 3000)) % 30).astype(str), "c": wide / 7.0})
    test = judge(data)
    assert not test(0, 1, frozenset()).independent  # a table needs no fit
    assert not test(0, 2, frozenset()).independent
    assert test.likelihoods.fallbacks == 0
    found = test.evidence(0, [1], frozenset({2}))
    assert found.log_p is not None
    assert (found.log_p[0], test.likelihoods.fallbacks) == (0.0, 2)


@pytest.mark.parametrize(("n_rows", "fallbacks"), [(400, 1), (4000, 0)])  # of many rows it is left out
def test_one_end_decides_where_the_other_has_too_many_parameters(n_rows: int, fallbacks: int) -> None:
    rng = np.random.default_rng(9)
    wide = rng.permutation(np.arange(n_rows) % 100)
    others = {f"n{k}": rng.standard_normal(n_rows) for k in range(3)}
    data = mn.read({"wide": wide.astype(str), "x": wide / 20 + rng.standard_normal(n_rows), **others})
    test = judge(data)
    assert not test(0, 1, frozenset({2, 3, 4})).independent
    assert test.likelihoods.fallbacks == fallbacks
    assert test(0, 1, frozenset({2})) == test(1, 0, frozenset({2}))


def test_it_is_refused_what_it_cannot_do() -> None:
    data = table(60, 1)
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="alpha must be between 0 and 1"):
            judge(data, alpha=wrong)
    with pytest.raises(UnsuitableError, match=r"MixedTest cannot use a Counts.*Use MixedLikelihoods"):
        MixedTest(Counts(Dataset.from_codes([[0, 1], [1, 0]])))  # type: ignore[arg-type]
    with pytest.raises(UnsuitableError, match="need a Dataset; got a list"):
        MixedLikelihoods([1, 2])  # type: ignore[arg-type]
    for x, y, z in ((0, 0, set()), (0, 1, {0}), (0, 1, {1}), (0, 9, set()), (-1, 1, set())):
        with pytest.raises(InputError):
            judge(data)(x, y, frozenset(z))
