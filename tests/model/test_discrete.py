"""Discrete models: probabilities against listing all states, samples, predictions, strengths."""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import DataError, Dataset, Graph, InputError, MnlearnWarning, UnknownNameError, UnsuitableError, discretize
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.graphs import grid
from mnlearn.model import DiscreteModel, FitReport, fit
from mnlearn.simulate import Factor, FactorNetwork, GibbsPlan, agreement_factors, uniform_factors

from references import model as slow
from references.sampling import distribution

GRAPH = Graph(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
CARDS = (2, 3, 2, 2)
LABELS = (("no", "yes"), ("a", "b", "c"), (1, 2), (False, True))
NAMES = ("rain", "kind", "count", "flag")


def model(seed: int = 5) -> DiscreteModel:
    return DiscreteModel(NAMES, LABELS, uniform_factors(GRAPH, seed, cards=CARDS), FitReport("by hand", 0))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_conditionals_are_those_of_listing_all_states(data: Any) -> None:
    n = data.draw(st.integers(1, 5))
    pairs = list(combinations(range(n), 2))
    graph = Graph(n, data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    cards = tuple(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    network = uniform_factors(graph, data.draw(st.integers(0, 100)), cards=cards)
    named = DiscreteModel(
        tuple(f"v{x}" for x in range(n)), tuple(tuple(range(c)) for c in cards), network, FitReport("by hand", 0)
    )
    x = data.draw(st.integers(0, n - 1))
    others = data.draw(st.lists(st.sampled_from([y for y in range(n) if y != x]), unique=True)) if n > 1 else []
    evidence = {y: data.draw(st.integers(0, cards[y] - 1)) for y in others}
    found = named.conditional(f"v{x}", {f"v{y}": code for y, code in evidence.items()})
    assert list(found.values()) == pytest.approx(slow.posterior(network, x, evidence), abs=1e-12)
    assert list(found) == list(range(cards[x]))


def test_likelihoods_are_those_of_listing_all_states() -> None:
    fitted = model()
    rows = fitted.sample_dataset(50, seed=1)
    exact = distribution(fitted.network)
    codes = np.stack(rows.columns, 1).tolist()
    assert fitted.log_likelihood(rows) == pytest.approx(sum(log(exact[tuple(row)]) for row in codes))
    each = [[slow.log_conditional(fitted.network, x, row) for x in range(4)] for row in codes]
    np.testing.assert_allclose(fitted.log_conditionals(rows), each, atol=1e-12)
    assert fitted.log_pseudolikelihood(rows) == pytest.approx(np.sum(each))
    assert fitted.log_pseudolikelihood(rows.compact()) == pytest.approx(np.sum(each))
    assert fitted.log_likelihood(rows.compact()) == pytest.approx(fitted.log_likelihood(rows))


def test_rows_may_be_raw_in_any_order_of_columns_with_others_among_them() -> None:
    fitted = model()
    rows = fitted.sample_dataset(30, seed=2)
    raw = {
        name: [labels[code] for code in column]
        for name, labels, column in zip(NAMES, LABELS, rows.columns, strict=True)
    }
    turned: dict[str, list[Any]] = {"note": ["same"] * 30, **dict(reversed(raw.items()))}
    assert fitted.log_likelihood(turned) == fitted.log_likelihood(rows)


def test_a_wide_model_names_its_width_and_still_has_a_pseudo_likelihood() -> None:
    wide = DiscreteModel(
        tuple(f"v{x}" for x in range(576)), (("0", "1"),) * 576, agreement_factors(grid(24, 24), 0.2), FitReport("x", 0)
    )
    rows = wide.sample_dataset(400, seed=1, plan=GibbsPlan(burn_in=200, thin=10))
    assert np.isfinite(wide.log_pseudolikelihood(rows))
    with pytest.raises(InputError, match=r"low tree-width .*; its width is about \d+ and needs one of"):
        wide.log_likelihood(rows)
    with pytest.raises(InputError, match="Give the neighbours of 'v300' as evidence, or use to_pyagrum"):
        wide.conditional("v300")
    near = {f"v{y}": "1" for y in wide.graph.neighbors(300)}
    assert wide.conditional("v300", near)["1"] == pytest.approx(1 / (1 + np.exp(-0.4)))


def test_samples_have_names_labels_and_the_right_shares() -> None:
    fitted = model()
    rows = fitted.sample_dataset(100_000, seed=3)
    assert (rows.names, rows.levels, rows.cards) == (NAMES, LABELS, CARDS)
    exact = distribution(fitted.network)
    shares = np.zeros(CARDS)
    np.add.at(shares, tuple(column.astype(int) for column in rows.columns), 1 / rows.n_rows)
    assert max(abs(shares[x] - p) for x, p in exact.items()) < 0.01
    again = fitted.sample_dataset(100_000, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(rows.columns, again.columns, strict=True))


def test_gibbs_rows_follow_the_same_distribution_and_stuck_chains_are_warned_of() -> None:
    fitted = model()
    rows = fitted.sample_dataset(40_000, seed=3, method="gibbs")
    mean = np.mean(rows.columns[1] == 0)
    assert mean == pytest.approx(fitted.conditional("kind")["a"], abs=0.02)
    frozen = DiscreteModel(("a", "b"), ((0, 1), (0, 1)), agreement_factors(Graph(2, [(0, 1)]), 60.0), FitReport("x", 0))
    with pytest.warns(MnlearnWarning, match="NOT converged"):
        frozen.sample_dataset(400, seed=2, method="gibbs", plan=GibbsPlan(burn_in=10, thin=1))


def test_predictions_are_the_conditionals_given_the_neighbours() -> None:
    fitted = model()
    rows = fitted.sample_dataset(20, seed=4)
    chances = fitted.predict_proba(rows, "count")
    for k in range(20):
        evidence = {
            name: labels[column[k]]
            for name, labels, column in zip(NAMES, LABELS, rows.columns, strict=True)
            if name != "count"
        }
        assert list(fitted.conditional("count", evidence).values()) == pytest.approx(chances[k].tolist(), abs=1e-12)
    best = [LABELS[2][k] for k in chances.argmax(1)]
    assert fitted.predict(rows, "count").tolist() == best
    assert fitted.predict({"count": [1]}, "flag").tolist() in ([False], [True])


def test_one_row_and_one_neighbour_are_enough_and_a_lonely_column_needs_none() -> None:
    fitted = fit(Graph(3, [(0, 1)]), Dataset.from_codes(np.array([[0, 0, 1]] * 8 + [[1, 1, 1]] * 9), cards=[2, 2, 2]))
    assert fitted.predict({"x1": [1]}, "x0").tolist() == [1]
    assert fitted.predict({"x0": [0, 1], "x1": [0, 0]}, "x2").tolist() == [1, 1]


def test_labels_are_matched_whatever_their_codes_were() -> None:
    fitted = model()
    other = Dataset(
        ("kind", "rain", "count"),
        (2, 3, 1),
        (np.array([0, 1], dtype=np.uint8), np.array([0, 2], dtype=np.uint8), np.zeros(2, dtype=np.uint8)),
        (("c", "a"), ("yes", "maybe", "no"), (2,)),
    )
    by_label = fitted.predict_proba({"count": [2, 2]}, "flag")
    np.testing.assert_array_equal(fitted.predict_proba(other, "flag"), by_label)
    strange = Dataset(("count",), (1,), (np.zeros(2, dtype=np.uint8),), ((7,),))
    with pytest.raises(DataError, match=r"states that the model knows in column 'count' \(1, 2\); got 7"):
        fitted.predict(strange, "flag")
    with pytest.raises(DataError, match=r"states that the model knows in column 'count' \(1, 2\); got 9. Empty these"):
        fitted.predict({"count": [1, 9]}, "flag")
    with pytest.raises(UnsuitableError, match="got numbers"):
        fitted.predict(Dataset(("count",), (0,), (np.zeros(2),), (None,)), "flag")


def test_numbers_are_cut_where_the_data_of_the_model_were() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    values = np.stack([a, a + 0.3 * rng.normal(size=500)], 1)
    cut = discretize(continuous_dataset(values, ["a", "b"]), bins=3)
    fitted = fit(Graph(2, [(0, 1)]), cut)
    from_labels = fitted.predict(cut, "b")
    assert fitted.predict(continuous_dataset(values, ["a", "b"]), "b").tolist() == from_labels.tolist()
    assert fitted.predict({"a": values[:, 0]}, "b").tolist() == from_labels.tolist()
    labels = [cut.levels[0][code] for code in cut.columns[0]]  # type: ignore[index]
    assert fitted.predict({"a": labels}, "b").tolist() == from_labels.tolist()
    assert fitted.predict({"a": [-100, 100]}, "b").tolist() == [cut.levels[1][0], cut.levels[1][-1]]  # type: ignore[index]
    for value, code in zip(values[:5, 0].tolist(), cut.columns[0], strict=False):
        assert fitted.conditional("b", {"a": value}) == fitted.conditional("b", {"a": cut.levels[0][code]})  # type: ignore[index]
    with pytest.raises(InputError, match=r"evidence must hold labels of the model; 'a' has .*, got nan"):
        fitted.conditional("b", {"a": float("nan")})
    with pytest.raises(DataError, match="numbers, or the intervals of the model, in column 'a'; got 'low'"):
        fitted.predict({"a": ["low"]}, "b")


def test_missing_values_as_a_state_are_met_again() -> None:
    import mnlearn as mn

    data = mn.read({"a": ["x", None, "y", None], "b": [0, 1, 0, 1]}, missing="category")
    fitted = fit(Graph(2, [(0, 1)]), data)
    assert fitted.predict({"a": ["x", None]}, "b").tolist() == [0, 1]


def test_a_binary_edge_has_its_log_odds_ratio_and_its_sign() -> None:
    pair = agreement_factors(Graph(2, [(0, 1)]), -1.7)
    (edge,) = DiscreteModel(("a", "b"), ((0, 1), (0, 1)), pair, FitReport("x", 0)).strengths()
    assert (edge.u, edge.v, edge.sign) == ("a", "b", -1)
    assert edge.strength == pytest.approx(1.7)


def test_strengths_are_root_mean_squares_of_all_log_odds_ratios() -> None:
    network = FactorNetwork((2, 3, 2), [Factor((0, 1, 2), np.random.default_rng(1).normal(size=(2, 3, 2)))])
    named = DiscreteModel(("a", "b", "c"), ((0, 1), (0, 1, 2), (0, 1)), network, FitReport("x", 0))
    table = network.factors[0].log_values
    squares = [
        (table[a, b, c] - table[e, b, c] - table[a, d, c] + table[e, d, c]) ** 2
        for a, e in ((0, 1), (1, 0))
        for b in range(3)
        for d in range(3)
        if b != d
        for c in range(2)
    ]
    (strength,) = [edge.strength for edge in named.strengths() if (edge.u, edge.v) == ("a", "b")]
    assert strength == pytest.approx(np.sqrt(np.mean(squares)))


def test_a_sign_that_others_turn_round_is_none() -> None:
    signs = np.array([1.0, -1.0])
    parity = signs[:, None, None] * signs[:, None] * signs
    pure = FactorNetwork((2, 2, 2), [Factor((0, 1, 2), parity)])
    named = DiscreteModel(("a", "b", "c"), ((0, 1),) * 3, pure, FitReport("x", 0))
    assert {(edge.strength, edge.sign) for edge in named.strengths()} == {(4.0, None)}
    mostly = FactorNetwork((2, 2, 2), [Factor((0, 1, 2), 0.1 * parity), Factor((0, 1), np.eye(2))])
    edges = {
        (e.u, e.v): e for e in DiscreteModel(("a", "b", "c"), ((0, 1),) * 3, mostly, FitReport("x", 0)).strengths()
    }
    assert edges["a", "b"].sign == 1
    assert edges["a", "c"].sign is None


def test_the_strongest_edge_comes_first_and_the_text_counts() -> None:
    fitted = model()
    strengths = [edge.strength for edge in fitted.strengths()]
    assert strengths == sorted(strengths, reverse=True)
    assert repr(fitted) == "<DiscreteModel: 4 variables, 4 edges, 13 parameters, fitted by by hand to 0 rows>"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.conditional("rian"), UnknownNameError, "x: variable 'rian' does not exist. Did you mean 'rain'"),
        (lambda m: m.conditional("rain", {"kind": "d"}), InputError, "'kind' has 'a', 'b', 'c', got 'd'"),
        (lambda m: m.conditional("rain", {"rain": "no"}), InputError, "evidence must not hold x itself; got 'rain'"),
        (lambda m: m.conditional("rain", {"wind": 1}), UnknownNameError, "evidence: variable 'wind' does not exist"),
        (lambda m: m.predict({"rain": ["no"]}, "wind"), UnknownNameError, "column: variable 'wind' does not exist"),
        (lambda m: m.predict({"kind": ["a"]}, "rain"), UnknownNameError, "'count'"),
        (lambda m: m.sample_dataset(0, 1), InputError, "n_rows must be a whole number, at least 1; got 0"),
        (lambda m: m.sample_dataset(5, 1, method="magic"), UnknownNameError, "method 'magic' does not exist"),
    ],
)
def test_bad_questions_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(model())


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="names and levels must have one entry per variable of the network"):
        DiscreteModel(("a",), ((0, 1),), FactorNetwork((2, 2)), FitReport("x", 0))
    with pytest.raises(InputError, match="one label per state"):
        DiscreteModel(("a", "b"), ((0, 1), (0,)), FactorNetwork((2, 2)), FitReport("x", 0))
