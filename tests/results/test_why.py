"""The evidence behind one pair."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.learning import METHODS
from mnlearn.simulate import example

SURVEY = example(1000, seed=1)
COLUMNS = SURVEY.columns()
QUICK: dict[str, dict[str, Any]] = {"l1lr": {"n_penalties": 20, "smallest": 0.01, "patience": 3}}


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"exhaustive"}))
def test_every_method_can_say_why(method: str) -> None:
    try:
        learned = mn.learn(COLUMNS, method, **QUICK.get(method, {}))
    except mn.UnsuitableError:
        pytest.skip("not for categorical data")
    joined, apart = learned.why("fatigue", "poor_sleep"), learned.why("night_shifts", "fatigue")
    assert joined.edge
    assert [t.given for t in joined.tests[:1]] == [()]
    for why in (joined, apart):
        assert why.edge == learned.graph.has_edge(learned.names.index(why.x), learned.names.index(why.y))
        assert str(why).startswith(f"{why.x} - {why.y} is {'an edge' if why.edge else 'not an edge'} by {method}")
        json.dumps(why.to_dict(), allow_nan=False)
    assert not joined.tests[0].independent


def test_tests_are_those_of_the_single_question() -> None:
    learned = mn.learn(COLUMNS, "gsimn", test="g2", alpha=0.01)
    why = learned.why("fatigue", "night_shifts")
    blankets = {frozenset(learned.blanket(end)) - {why.x, why.y} for end in (why.x, why.y)}
    assert {frozenset(test.given) for test in why.tests} == {frozenset(), *blankets}
    for test in why.tests:
        answer = mn.independence_test(COLUMNS, why.x, why.y, test.given, test="g2", alpha=0.01)
        assert (test.test, test.independent) == ("g2", answer.independent)
        assert test.log_support == pytest.approx(answer.log_p)
        assert test.statistic == pytest.approx(answer.statistic)


def test_a_search_that_kept_its_questions_tells_them() -> None:
    learned = mn.learn(COLUMNS, "gsimn", keep_trace=True)
    why = learned.why("night_shifts", "fatigue")
    ends = {learned.names.index(name) for name in (why.x, why.y)}
    asked = [question for question in learned.trace or () if {question.x, question.y} == ends]
    kept = [test for test in why.tests if test.asked != "now"]
    assert [(t.independent, t.log_support, t.source) for t in kept] == [
        (q.independent, q.log_support, q.source) for q in asked
    ]
    assert "(asked in " in str(why)


@pytest.mark.parametrize("method", ["mpl", "pic", "ib", "bjp"])
def test_the_score_is_that_of_the_two_graphs(method: str) -> None:
    learned = mn.learn(COLUMNS, method)
    pairs = [(edge.u, edge.v) for edge in learned.edge_list()]
    for x, y in (pairs[-1], ("left_handed", "stress")):
        why = learned.why(x, y)
        assert why.score is not None
        others = [pair for pair in pairs if set(pair) != {x, y}]
        present, absent = (mn.score(COLUMNS, graph, method).value for graph in ([*others, (x, y)], others))
        assert why.score.present == pytest.approx(present)
        assert why.score.absent == pytest.approx(absent)
        assert why.score.gain == pytest.approx(present - absent)


@pytest.mark.parametrize("effort", ["standard", "thorough"])
def test_separators_add_up_to_the_log_odds_of_the_result(effort: str) -> None:
    learned = mn.learn(COLUMNS, "sep", effort=effort, keep_pairs=True)
    for pair in learned.pair_list()[:16]:  # edges, and the doubtful pairs, which are weighed by fits too
        why = learned.why(pair.u, pair.v)
        assert why.separators is not None
        for side in why.separators.sides:
            assert not {pair.u, pair.v} & set(side.given)
        if why.edge:
            assert why.separators.log_odds == pytest.approx(pair.support, abs=1e-6)
    assert why.probability is not None


def test_the_order_of_the_ends_does_not_matter() -> None:
    learned = mn.learn(COLUMNS, "sep")
    assert learned.why("stress", "fatigue") == learned.why("fatigue", "stress")


def test_continuous_variables_and_frequencies() -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=200)
    columns = {"a": a, "b": a + rng.normal(size=200), "c": rng.normal(size=200)}
    why = mn.learn(columns).bootstrap(10, n_jobs=1).why("a", "b")
    assert (why.tests[0].test, why.frequency) == ("pcor", 1.0)
    assert "in 100% of the samples" in str(why)


def test_names_are_printed_as_text() -> None:
    data = {"\x1b[31m": [0, 1] * 30, "b": [0, 1] * 30}
    assert "\x1b" not in str(mn.learn(data, "gsmn").why("b", "\x1b[31m"))


def test_what_cannot_be_explained_is_refused() -> None:
    learned = mn.learn(COLUMNS, "gsmn")
    with pytest.raises(mn.UnknownNameError, match=r"variable 'fatige' does not exist\. Did you mean 'fatigue'"):
        learned.why("fatige", "stress")
    with pytest.raises(mn.InputError, match="x and y must be two different variables"):
        learned.why("stress", "stress")
    with pytest.raises(mn.InputError, match=r"why needs the data, which are not in files.*with_data"):
        replace(learned, data=None).why("stress", "fatigue")


def test_data_can_be_given_to_a_network_that_has_none() -> None:
    learned = mn.learn(COLUMNS, "gsmn", columns=list(COLUMNS)[:5])
    bare = replace(learned, data=None)
    assert bare.with_data(COLUMNS).why("stress", "poor_sleep") == learned.why("stress", "poor_sleep")
    with pytest.raises(mn.DataError, match="1000 rows; got 100"):
        bare.with_data(example(100, seed=2).columns())
    with pytest.raises(mn.DataError, match="data must have the variables of the network"):
        replace(mn.learn(COLUMNS, "gsmn"), data=None).with_data({n: COLUMNS[n] for n in list(COLUMNS)[:3]})


def test_small_expected_counts_are_warned_of() -> None:
    few = {name: column[:120] for name, column in COLUMNS.items()}
    why = mn.learn(few, "gsmn*", keep_trace=True).why("fatigue", "poor_sleep")
    alone, *deeper = (test for test in why.tests if test.asked == "now")
    assert (alone.low_expected, alone.warning) == (0.0, None)
    low = mn.independence_test(few, why.x, why.y, deeper[0].given).low_expected
    assert low is not None
    assert low > 0.2
    assert {test.low_expected for test in deeper if test.given == deeper[0].given} == {low}
    warning = f"{round(100 * low)} % of the expected counts are below 5, so p is rough: Cochran's rule allows 20 %"
    assert f"; {warning}" in str(why)
    tests: Any = why.to_dict()["tests"]
    assert [test["warning"] for test in tests] == [test.warning for test in why.tests]
    assert warning in [test["warning"] for test in tests]
    asked = [test for test in why.tests if test.asked != "now"]
    assert all((test.low_expected is None) == (test.source != "data") for test in asked)
    by_posterior = mn.learn(few, "gsmn*", test="bayes").why("fatigue", "poor_sleep")
    assert [test.low_expected for test in by_posterior.tests] == [None] * len(by_posterior.tests)
