"""The registry: settings come from signatures, one line adds a score, and a call is resolved once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

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
    assert METHODS["gsmn"].settings == {"ahead": 1024, "keep_trace": False}
    assert METHODS["mbs"].judge_settings("ebic") == ("gamma",)
    assert METHODS["glasso"].judge_settings(None)[:2] == ("penalty", "gamma")
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
