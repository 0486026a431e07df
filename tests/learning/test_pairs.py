"""Tests of one pair and of all pairs in one call."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mnlearn import learning
from mnlearn.data import Dataset, read
from mnlearn.errors import DataError, InputError, UnknownNameError, UnsuitableError
from mnlearn.independence import BayesianTest, ChiSquare, MutualInformation, PartialCorrelation
from mnlearn.learning import DEFAULT_ALPHA, TESTS, make_test
from mnlearn.learning.tests import TestResult, dependences, independence_test
from mnlearn.protocols import Evidence, ExplainedTest
from mnlearn.results.explain import cochran_warning
from mnlearn.statistics import Counts, Moments

CONTINUOUS_TESTS = {"pcor", "bayes-pcor"}
KEYS = ["x", "y", "given", "test", "independent", "log_p", "statistic", "dof", "log_independent", "log_dependent"]
KEYS += ["low_expected", "transform", "n_rows", "n_incomplete", "warning"]


def _survey(n_rows: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """A chain cause - middle - effect, a coin, a constant; and two linked numbers beside them."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 2, n_rows)
    middle = np.where(rng.random(n_rows) < 0.9, cause, 1 - cause)
    effect = np.where(rng.random(n_rows) < 0.9, middle, 1 - middle)
    height = rng.normal(size=n_rows)
    return {
        "cause": ["no" if value == 0 else "yes" for value in cause],
        "middle": middle.tolist(),
        "effect": effect.tolist(),
        "coin": rng.integers(0, 2, n_rows).tolist(),
        "fixed": ["same"] * n_rows,
        "height": height.tolist(),
        "weight": (0.6 * height + rng.normal(size=n_rows)).tolist(),
        "level": [0.5] * n_rows,
    }


SURVEY = _survey()
DISCRETE = read({name: SURVEY[name] for name in ("cause", "middle", "effect", "coin")})
CONTINUOUS = read({name: SURVEY[name] for name in ("height", "weight", "level")})


def test_every_named_test_is_made_and_explains_itself() -> None:
    for name in TESTS:
        judge = make_test(name, CONTINUOUS if name in CONTINUOUS_TESTS else DISCRETE)
        assert isinstance(judge, ExplainedTest)
        assert judge.name == name
        assert not judge(0, 1, frozenset()).independent


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("chi2", {"alpha": 0.01, "dof": "all"}, {"alpha": 0.01, "dof": "all"}),
        ("g2", {"alpha": 0.2, "dof": "observed"}, {"alpha": 0.2, "dof": "observed"}),
        ("mi", {"alpha": 0.2, "n_permutations": 19, "seed": 7}, {"decide": "permutation", "n_permutations": 19}),
        ("mi", {"threshold": 0.5}, {"decide": "threshold", "threshold": 0.5}),
        ("bayes", {"prior": 0.9}, {"prior": 0.9, "alpha": 1.0}),
        ("pcor", {"alpha": 0.2}, {"alpha": 0.2}),
    ],
)
def test_settings_reach_their_test(name: str, settings: Any, expected: dict[str, object]) -> None:
    judge = make_test(name, CONTINUOUS if name in CONTINUOUS_TESTS else DISCRETE, **settings)
    assert {key: getattr(judge, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bayes", {"alpha": 0.05}, r"bayes has no setting 'alpha'; it accepts prior\."),
        ("chi2", {"prior": 0.5}, r"chi2 has no setting 'prior'; it accepts alpha, dof\."),
        ("chi2", {"colour": 1}, r"chi2 has no setting 'colour'"),
        ("pcor", {"dof": "all"}, r"pcor has no setting 'dof'; it accepts alpha\."),
        ("mi", {"threshold": 0.1, "seed": 1}, r"threshold excludes seed"),
        ("chi2", {"alpha": 1.5}, r"alpha must be between 0 and 1"),
        ("g2", {"dof": "al"}, r"dof rule 'al' does not exist\. Did you mean 'all'\?"),
        ("bayes", {"prior": 0.0}, r"prior must lie between 0 and 1"),
        ("mi", {"n_permutations": 0}, r"n_permutations must be a whole number, at least 1"),
    ],
)
def test_unsuitable_settings_are_refused(name: str, settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_test(name, CONTINUOUS if name in CONTINUOUS_TESTS else DISCRETE, **settings)


def test_unknown_test_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"test 'chi' does not exist\. Did you mean 'chi2'\?.*'pcor'"):
        make_test("chi", DISCRETE)


def test_default_test_follows_the_types() -> None:
    assert make_test(None, DISCRETE).name == "chi2"
    assert make_test(None, CONTINUOUS).name in CONTINUOUS_TESTS
    assert independence_test(SURVEY, "cause", "effect").test == "chi2"
    assert independence_test(SURVEY, "height", "weight").test == "pcor"
    assert independence_test(SURVEY, "height", "coin").test == "mixed"
    assert make_test(None, read({"a": [1, 2, 3] * 9, "b": [3, 2, 1] * 9}, types="ordinal")).name == "mixed"


@pytest.mark.parametrize("name", ["chi2", "g2", "mi", "bayes"])
def test_a_continuous_column_in_a_discrete_test_is_refused(name: str) -> None:
    with pytest.raises(UnsuitableError, match=rf"{name} needs categorical variables; 'height' is continuous\. Discret"):
        independence_test(SURVEY, "cause", "effect", ["height"], test=name)


def test_a_categorical_column_in_a_continuous_test_is_refused() -> None:
    with pytest.raises(UnsuitableError, match=r"pcor needs continuous variables; 'coin' is categorical with 2 states"):
        independence_test(SURVEY, "height", "coin", test="pcor")
    as_number = independence_test(SURVEY, "height", "coin", test="pcor", types={"coin": "continuous"})
    assert as_number.independent


def test_default_alpha_is_every_tests_default() -> None:
    assert ChiSquare(Counts(DISCRETE)).alpha == DEFAULT_ALPHA
    assert MutualInformation(Counts(DISCRETE)).alpha == DEFAULT_ALPHA
    assert PartialCorrelation(Moments(CONTINUOUS)).alpha == DEFAULT_ALPHA


def test_ends_of_a_chain_are_independent_given_its_middle() -> None:
    for name in ("chi2", "g2", "mi", "bayes"):
        assert not independence_test(SURVEY, "cause", "effect", test=name).independent
        assert independence_test(SURVEY, "cause", "effect", ["middle"], test=name).independent


def test_numbers_are_those_of_scipy() -> None:
    found = independence_test(SURVEY, "cause", "effect")
    table = np.zeros((2, 2))
    np.add.at(table, ([int(answer == "yes") for answer in SURVEY["cause"]], SURVEY["effect"]), 1)
    expected = stats.chi2_contingency(table.astype(int), correction=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.dof == expected.dof
    assert found.log_p == pytest.approx(math.log(expected.pvalue))


def test_only_the_tested_columns_are_read() -> None:
    frame = {**SURVEY, "hole": [None] * 400, "half": [1, None] * 200, "mixed": ["a", 1] * 200}
    assert independence_test(frame, "cause", "effect") == independence_test(SURVEY, "cause", "effect")
    with pytest.raises(DataError, match="'half' 200"):
        independence_test(frame, "cause", "half")
    with pytest.raises(DataError, match="'hole' is missing in all"):
        independence_test(frame, "cause", "hole")


def test_a_dataset_is_accepted() -> None:
    assert independence_test(read(SURVEY), "effect", "cause") == independence_test(SURVEY, "effect", "cause")


def test_reading_options_are_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    frame = {"a": [0, 1, 0, 1, "?"], "b": [0, 1, 0, 1, 0], "w": [3, 3, 3, 3, 9]}
    with caplog.at_level(logging.INFO, logger="mnlearn"):
        found = independence_test(frame, "a", "b", missing="drop_rows", missing_values=["?"], repeats="w")
    assert found.statistic == pytest.approx(12.0)
    assert caplog.messages == ["missing: 'a' 1; rows dropped: 1"]
    three = independence_test(frame, "a", "b", missing="category", missing_values=["?"])
    assert three.dof == 2
    declared = independence_test(frame, "b", "w", levels={"w": [3, 9, 27]}, dof="all")
    assert declared.dof == 2


def test_continuous_columns_can_be_discretised() -> None:
    mixed = independence_test(SURVEY, "height", "weight", ["coin"], discretize="frequency", bins=3, dof="all")
    assert (mixed.test, mixed.dof, mixed.independent) == ("chi2", 8, False)
    with pytest.raises(InputError, match=r"bins is for discretize=.*got 3"):
        independence_test(SURVEY, "height", "weight", bins=3)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("cause", "cause", ()), "x and y must be two different columns; got 'cause' twice"),
        (("cause", "effect", ("effect",)), "given must not contain x or y; got 'effect' in both"),
        (("cause", "effect", ("cause",)), "given must not contain x or y; got 'cause' in both"),
        (("cause", "effect", ("coin", "coin")), "given must name each column once; got 'coin' twice"),
        (("cause", "effect", "coin"), r"given must be a list of columns, not a string; got 'coin'\. Use \['coin'\]"),
        (("caus", "effect", ()), r"^column 'caus' does not exist\. Did you mean 'cause'"),
        (("cause", "efect", ()), r"^column 'efect' does not exist\. Did you mean 'effect'"),
        (("cause", "effect", ("midle",)), r"^column 'midle' does not exist\. Did you mean 'middle'"),
    ],
)
@pytest.mark.parametrize("source", [dict, read], ids=["columns", "dataset"])
def test_impossible_tests_are_refused(
    question: tuple[str, str, Any], message: str, source: Callable[[dict[str, list[Any]]], object]
) -> None:
    with pytest.raises(InputError, match=message):
        independence_test(source(SURVEY), *question)


def test_the_column_of_repeats_is_not_a_variable() -> None:
    with pytest.raises(InputError, match="repeats must name a column that is not tested; got 'coin' in both"):
        independence_test(SURVEY, "cause", "effect", ["coin"], repeats="coin")


@pytest.mark.parametrize("name", TESTS)
def test_a_constant_column_is_independent_of_everything(name: str) -> None:
    constant, other = ("level", "height") if name in CONTINUOUS_TESTS else ("fixed", "coin")
    found = independence_test(SURVEY, constant, other, test=name)
    if name == "bayes":
        assert not found.independent  # an exact tie
        assert found.log_independent == pytest.approx(math.log(0.5))
        assert found.log_dependent == pytest.approx(math.log(0.5))
    elif name in ("score", "bayes-pcor"):
        assert found.independent
        assert found.log_independent is not None
        assert found.log_independent >= math.log(0.5) - 1e-12
    else:
        assert found.independent
        assert (found.log_p, found.statistic) == (0.0, 0.0)


@settings(max_examples=25)
@given(st.sampled_from(sorted(set(TESTS) - CONTINUOUS_TESTS)), st.permutations(["cause", "middle", "effect", "coin"]))
def test_order_of_x_y_and_given_changes_nothing(name: str, order: list[str]) -> None:
    x, y, *others = order
    found = independence_test(SURVEY, x, y, others, test=name)
    turned = independence_test(DISCRETE.select(order), y, x, others[::-1], test=name)
    numbers = [key for key in KEYS if key not in ("x", "y", "given")]
    assert [getattr(found, key) for key in numbers] == [getattr(turned, key) for key in numbers]


@pytest.mark.parametrize(
    ("name", "computed"),
    [
        ("chi2", {"log_p", "statistic", "dof", "low_expected"}),
        ("g2", {"log_p", "statistic", "dof", "low_expected"}),
        ("mi", {"log_p", "statistic", "dof"}),
        ("bayes", {"log_independent", "log_dependent"}),
        ("score", {"log_independent", "log_dependent"}),
        ("pcor", {"log_p", "statistic", "dof"}),
        ("bayes-pcor", {"log_independent", "log_dependent"}),
    ],
)
def test_result_is_strict_json_with_exactly_the_keys(name: str, computed: set[str]) -> None:
    x, y = ("height", "weight") if name in CONTINUOUS_TESTS else ("cause", "effect")
    plain = independence_test(SURVEY, x, y, test=name).to_dict()
    assert list(plain) == KEYS
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert {key for key in KEYS[5:] if plain[key] is not None} == {*computed, "n_rows", "n_incomplete"}
    assert plain["given"] == []
    assert isinstance(plain["independent"], bool)
    assert plain["dof"] is None or isinstance(plain["dof"], int)


def test_a_threshold_has_no_p_value() -> None:
    found = independence_test(SURVEY, "cause", "effect", test="mi", threshold=0.01)
    assert not found.independent
    assert found.log_p is None
    assert found.statistic is not None
    assert found.statistic > 0.01


def test_numbers_that_are_not_finite_become_none() -> None:
    evidence = Evidence(np.array([False]), statistic=np.array([np.inf]), dof=np.array([np.nan]), log_p=np.array([-0.0]))
    plain = TestResult.of(evidence, 0, ("a", "b", ("c",)), "chi2").to_dict()
    assert (plain["statistic"], plain["dof"], plain["given"]) == (None, None, ["c"])
    assert str(plain["log_p"]) == "0.0"


def test_small_expected_counts_are_warned_of() -> None:
    fine = independence_test(SURVEY, "cause", "effect")
    assert (fine.low_expected, fine.warning, fine.to_dict()["warning"]) == (0.0, None, None)
    few = {name: column[:12] for name, column in SURVEY.items()}
    found = independence_test(few, "cause", "effect", ["middle", "coin"], test="g2")
    assert found.low_expected == 1.0
    assert found.warning == "100 % of the expected counts are below 5, so p is rough: Cochran's rule allows 20 %"
    assert found.to_dict()["warning"] == found.warning
    assert str(found).endswith(f"; {found.warning}")
    assert "below 5" not in str(fine)
    assert independence_test(few, "cause", "effect", ["middle", "coin"], test="bayes").low_expected is None


@pytest.mark.parametrize(("share", "said"), [(0.2, None), (0.2004, "21 %"), (0.35, "35 %"), (0.999, "99 %")])
def test_the_warning_never_rounds_to_the_rule(share: float, said: str | None) -> None:
    warning = cochran_warning(share)
    assert (warning is None) if said is None else (warning or "").startswith(said)


def test_result_reads_as_a_sentence() -> None:
    found = independence_test(SURVEY, "cause", "effect", ["middle"])
    assert str(found).startswith("cause and effect are independent given middle (chi2: statistic ")
    assert str(independence_test(SURVEY, "cause", "effect", test="bayes")).startswith(
        "cause and effect are dependent (bayes: log P(independent) -"
    )


def test_tiny_p_values_stay_finite() -> None:
    copies = {"a": [0, 1] * 50_000, "b": [0, 1] * 50_000, "c": [0.5, 1.5] * 50_000, "d": [0.5, 1.5] * 50_000}
    for name in TESTS:
        x, y = ("c", "d") if name in CONTINUOUS_TESTS else ("a", "b")
        found = independence_test(copies, x, y, test=name)
        support = found.log_p if found.log_p is not None else found.log_independent
        assert support is not None
        assert math.isfinite(support)
        assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", sorted(set(TESTS) - CONTINUOUS_TESTS))
def test_dependences_are_all_pairs_strongest_first(name: str) -> None:
    found = dependences(DISCRETE, test=name)
    assert len(found) == 6
    assert {(pair.x, pair.y) for pair in found[:2]} == {("cause", "middle"), ("middle", "effect")}
    for pair in found:
        alone = make_test(name, DISCRETE)(DISCRETE.index(pair.x), DISCRETE.index(pair.y), frozenset())
        assert alone.independent == pair.independent
    assert dependences(DISCRETE, test=name, top=2) == found[:2]
    support = [pair.log_independent if pair.log_p is None else pair.log_p for pair in found]
    assert support == sorted(support)  # type: ignore[type-var]


def test_dependences_of_numbers_and_by_threshold() -> None:
    first = dependences(CONTINUOUS)[0]
    assert (first.x, first.y, first.test) == ("height", "weight", "pcor")
    by_threshold = dependences(DISCRETE, test="mi", threshold=0.05)
    assert [pair.independent for pair in by_threshold] == sorted(pair.independent for pair in by_threshold)
    assert by_threshold[0].statistic == max(pair.statistic or 0.0 for pair in by_threshold)


def test_ties_of_dependences_are_broken_by_position() -> None:
    equal = Dataset.from_codes([[0, 1] * 10] * 4)
    assert [(pair.x, pair.y) for pair in dependences(equal)] == [
        (f"x{u}", f"x{v}") for u in range(4) for v in range(u + 1, 4)
    ]


def test_dependences_need_a_positive_top() -> None:
    with pytest.raises(InputError, match=r"top must be a whole number, at least 1; got 0\. Leave it out for all pairs"):
        dependences(DISCRETE, top=0)


def test_bayes_has_its_own_cell_priors() -> None:
    judge = make_test("bayes", DISCRETE, prior=0.2)
    assert isinstance(judge, BayesianTest)
    assert (judge.alpha, judge.beta, judge.gamma) == (1.0, 1.0, 1.0)


def test_public_names_exist() -> None:
    assert all(hasattr(learning, name) for name in learning.__all__)


@pytest.mark.parametrize("test", ["chi2", "bayes"])
def test_the_top_pairs_are_the_first_of_all_pairs(test: str) -> None:
    rng = np.random.default_rng(5)
    data = Dataset.from_codes(rng.integers(0, 2, (60, 30)))
    everything = dependences(data, test=test)
    assert len(everything) == 435
    assert dependences(data, test=test, top=7) == everything[:7]


def test_one_variable_has_no_pairs() -> None:
    with pytest.raises(InputError, match="at least 2 variables; got 1"):
        dependences(Dataset.from_codes([[0, 1, 0]]))
    wrong: Any = "5"
    with pytest.raises(InputError, match="top must be a whole number"):
        dependences(Dataset.from_codes([[0, 1, 0], [0, 1, 0]]), top=wrong)


@pytest.mark.parametrize("test", ["chi2", "g2"])
@pytest.mark.parametrize("top", [1, 7, 60])
def test_a_screen_before_the_tests_changes_nothing(test: str, top: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, np.resize([2, 3, 4], 40)[:, None], (40, 50))  # few rows: many equal statistics
    codes[1:6] = codes[0] % 2
    data = Dataset.from_codes(list(codes))
    want = dependences(data, test=test, top=top)
    monkeypatch.setattr("mnlearn.learning.tests.SCREENED_FROM", 2)
    assert dependences(data, test=test, top=top) == want
