"""The registry: settings come from signatures, one line adds a score, and a call is resolved once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.learning import METHODS, SCORES, TESTS
from mnlearn.learning.registry import JudgeEntry
from mnlearn.learning.spec import LearnSpec, resolve
from mnlearn.simulate import example

SURVEY = example(500, seed=1).columns()


@pytest.mark.parametrize("entry", [*METHODS.values(), *TESTS.values(), *SCORES.values()], ids=lambda entry: entry.help)
def test_help_is_one_line(entry: Any) -> None:
    assert 5 < len(entry.help) < 80
    assert "\n" not in entry.help
    assert not entry.help.endswith(".")


def test_settings_are_those_of_the_classes() -> None:
    assert TESTS["chi2"].settings == ("alpha", "dof")
    assert TESTS["bayes"].settings == ("prior",)
    assert SCORES["mpl"].settings == ("prior_cell", "sample_size", "graph_prior")
    assert SCORES["bjp"].settings == ("prior", "order")
    assert SCORES["entropy"].settings == SCORES["evidence"].settings == ()
    assert METHODS["gsmn"].settings == {"ahead": 1024, "keep_trace": False, "candidates": None}
    assert METHODS["mbs"].judge_settings("ebic") == ("gamma",)
    assert METHODS["glasso"].judge_settings(None) == ("gamma", "n_penalties", "smallest")
    assert METHODS["lasso"].judge_settings(None) == ("penalty", "gamma", "alpha")
    assert "n_permutations" in METHODS["pc"].judge_settings(None)


def test_one_line_adds_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strict(mn.ExtendedBIC):
        """A score of the user."""

    monkeypatch.setitem(SCORES, "strict", JudgeEntry("extended BIC", Strict))
    learned = mn.learn(SURVEY, "hillclimb", score="strict", gamma=1.0)
    assert learned.settings["score"] == "strict"
    assert learned.score == pytest.approx(mn.score(SURVEY, learned, "strict", gamma=1.0).value)
    assert learned.graph == mn.learn(SURVEY, "hillclimb", score="ebic", gamma=1.0).graph
    with pytest.raises(mn.InputError, match="strict has no setting 'prior'; it accepts gamma"):
        mn.score(SURVEY, learned, "strict", prior=0.5)
    with pytest.raises(mn.UnsuitableError, match=r"strict needs categorical variables.* continuous variables: ib, bjp"):
        mn.score({"a": [0.5, 1.5, 2.5], "b": [1.5, 0.5, 3.5]}, [], "strict")


def test_a_call_builds_its_learner_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Built(mn.TwoPhase):
        count: ClassVar[list[int]] = []

        def __post_init__(self) -> None:
            super().__post_init__()
            self.count.append(1)

    monkeypatch.setitem(METHODS, "mpl", replace(METHODS["mpl"], learner=Built))
    learned = mn.learn(SURVEY, "mpl")
    assert len(Built.count) == 1
    learned.bootstrap(2, n_jobs=1)
    learned.why("fatigue", "stress")
    assert len(Built.count) == 1


def test_a_result_keeps_its_resolved_call() -> None:
    learned = mn.learn(SURVEY, columns=["fatigue", "stress", "poor_sleep"])
    spec = learned.recipe
    assert isinstance(spec, LearnSpec)
    assert (spec.method, spec.reason) == ("sep", None)
    assert learned.choice is not None
    assert resolve(learned.settings).reading.get("columns") == ("fatigue", "stress", "poor_sleep")
    assert resolve({"alpha": 0.1, "test": "g2"}).fingerprint() == resolve({"test": "g2", "alpha": 0.1}).fingerprint()


def test_reading_options_are_split_from_settings() -> None:
    data = {"a": ["0", "1", "?"] * 20, "b": ["0", "1", "1"] * 20}
    options: dict[str, Any] = {"missing": "drop_rows", "missing_values": ["?"]}
    assert mn.score(data, [], "mpl", prior_cell=0.5, **options).score == "mpl"
    assert mn.fit_parameters([("a", "b")], data, ridge=0.1, **options).names == ("a", "b")
    assert not mn.independence_test(data, "a", "b", alpha=0.01, **options).independent
    with pytest.raises(mn.InputError, match="columns are those of x, y and given"):
        mn.independence_test(data, "a", "b", columns=["a"])
    with pytest.raises(mn.InputError, match="chi2 has no setting 'mising'"):
        mn.independence_test(data, "a", "b", mising="drop_rows")


BY_BLANKETS: dict[str, Any] = {"test": "chi2", "alpha": 0.01, "dof": "observed"}
BY_SUBSETS: dict[str, Any] = {"test": "g2", "alpha": 0.05, "dof": "adjusted"}
TEST_DEFAULTS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("gsmn", "gsmn*", "gsimn", "gsimn-fch"), BY_BLANKETS),
    **dict.fromkeys(("pc", "hhc-mn"), BY_SUBSETS),
}


@pytest.mark.parametrize("method", [name for name, entry in METHODS.items() if entry.judge == "test"])
def test_methods_by_tests_have_default_tests(method: str) -> None:
    defaults = TEST_DEFAULTS[method]
    assert METHODS[method].test_defaults == defaults
    learned = mn.learn(SURVEY, method)
    assert {name: learned.settings[name] for name in defaults} == defaults
    assert mn.learn(SURVEY, method, **defaults).result.support == learned.result.support
    assert learned.to_dict()["settings"] == dict(learned.settings)
    test = f"{defaults['test']} (alpha {defaults['alpha']}, dof {defaults['dof']})"
    assert f"\ntest:       {test}\n" in learned.summary()


def settings_of_test(learned: mn.Learned) -> dict[str, object]:
    return {name: learned.settings[name] for name in (*BY_SUBSETS, "threshold", "prior") if name in learned.settings}


def test_a_named_test_keeps_the_defaults_that_it_has() -> None:
    few = {name: SURVEY[name] for name in list(SURVEY)[:4]}
    assert settings_of_test(mn.learn(few, "gsmn*", test="g2")) == {**BY_BLANKETS, "test": "g2"}
    assert settings_of_test(mn.learn(few, "gsmn*", test="g2", alpha=0.1)) == {**BY_BLANKETS, "test": "g2", "alpha": 0.1}
    assert settings_of_test(mn.learn(few, "pc", test="chi2", dof="all")) == {**BY_SUBSETS, "test": "chi2", "dof": "all"}
    assert settings_of_test(mn.learn(few, "gsimn", test="mi")) == {"test": "mi", "alpha": 0.01}
    assert settings_of_test(mn.learn(few, "gsimn", test="mi", threshold=0.01)) == {"test": "mi", "threshold": 0.01}
    assert settings_of_test(mn.learn(few, "gsimn", test="bayes", prior=0.4)) == {"test": "bayes", "prior": 0.4}


def test_continuous_variables_have_partial_correlations_at_the_level_of_the_method() -> None:
    numbers = np.random.default_rng(1).normal(size=(60, 4))
    assert settings_of_test(mn.learn(numbers, "gsmn*")) == {"test": "pcor", "alpha": 0.01}
    assert settings_of_test(mn.learn(numbers, "pc")) == {"test": "pcor", "alpha": 0.05}
    assert settings_of_test(mn.learn(numbers, "pc", test="bayes-pcor")) == {"test": "bayes-pcor"}


def test_a_single_test_has_the_defaults_of_its_class() -> None:
    alone = mn.independence_test(SURVEY, "fatigue", "stress", ["poor_sleep"])
    assert alone == mn.independence_test(
        SURVEY, "fatigue", "stress", ["poor_sleep"], test="chi2", alpha=0.05, dof="adjusted"
    )


@pytest.mark.parametrize("method", ["gsmn*", "pc"])
def test_explanations_and_samples_use_the_settings_of_the_learning(method: str) -> None:
    by_default, given = mn.learn(SURVEY, method), mn.learn(SURVEY, method, **TEST_DEFAULTS[method])
    pair = ("fatigue", "night_shifts")
    assert by_default.why(*pair) == given.why(*pair)
    frequencies = by_default.bootstrap(4, n_jobs=1).frequencies
    assert frequencies == given.bootstrap(4, n_jobs=1).frequencies
    for test in by_default.why(*pair).tests:
        alone = mn.independence_test(SURVEY, *pair, test.given, **TEST_DEFAULTS[method])
        assert (test.test, test.dof, test.independent) == (alone.test, alone.dof, alone.independent)
