"""The options candidates, k and rescans of `learn`."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs.candidates import Candidates, every_pair
from mnlearn.learning import pairs as option
from mnlearn.learning.registry import METHODS
from mnlearn.learning.spec import resolve
from mnlearn.simulate import example
from mnlearn.statistics import Counts

SURVEY = example(400, seed=1).columns()
NAMES = list(SURVEY)
FEW = [("stress", "low_mood"), ("headaches", "stress"), ("fatigue", "exercise")]
CATEGORICAL = [
    name
    for name, entry in METHODS.items()
    if "candidates" in entry.settings and name not in ("lasso", "l1mb", "exhaustive")
]


def learned_again(data: Any, given: Any) -> mn.Learned:
    """Learn by the settings of a result."""
    return mn.learn(data, **given)


class Screen:
    """A screen of the survey, with its columns in another order."""

    def __init__(self, pairs: list[tuple[str, str]], names: list[str] | None = None) -> None:
        self.names = names or NAMES[::-1]
        self._pairs = pairs

    def candidates(self) -> Candidates:
        n = len(self.names)
        ends = (sorted(map(self.names.index, pair)) for pair in self._pairs)
        return Candidates(n, np.array(sorted(u * n + v for u, v in ends), dtype=np.int64))


@pytest.mark.parametrize("method", CATEGORICAL)
def test_pairs_of_names_are_the_only_edges(method: str) -> None:
    found = mn.learn(SURVEY, method, candidates=FEW)
    assert {frozenset((edge.u, edge.v)) for edge in found.edge_list()} <= set(map(frozenset, FEW))
    by_lists = mn.learn(
        SURVEY, method, candidates={"stress": ["low_mood", "headaches"], "exercise": ["fatigue"], "low_mood": []}
    )
    assert by_lists.graph == found.graph
    assert by_lists.settings == found.settings
    pairs = [tuple(map(NAMES.index, pair)) for pair in FEW]
    by_graph = mn.learn(SURVEY, method, candidates=mn.NamedGraph(mn.Graph(len(NAMES), pairs), tuple(NAMES)))
    assert by_graph.settings == found.settings


@pytest.mark.parametrize("method", CATEGORICAL)
@pytest.mark.parametrize("given", [{"candidates": "screen", "k": 3}, {"candidates": FEW}, {"candidates": "all"}])
def test_settings_are_enough_to_learn_again(method: str, given: dict[str, Any], tmp_path: Path) -> None:
    learned = mn.learn(SURVEY, method, **given)
    learned.save(tmp_path / "network.json")
    loaded = mn.load(tmp_path / "network.json")
    again = learned_again(SURVEY, loaded.settings)
    assert again.graph == learned.graph
    assert again.settings == learned.settings
    assert loaded.settings["candidates"] == learned.settings["candidates"]


@pytest.mark.parametrize("kind", ["pairs", "screen"])
def test_many_pairs_are_stated_as_one_string(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(option, "MOST_NAMED", 2)
    learned = mn.learn(SURVEY, "pc", candidates=FEW if kind == "pairs" else Screen(FEW))
    assert str(learned.settings["candidates"]).startswith("pairs:" if kind == "pairs" else "screened:")
    learned.save(tmp_path / "network.json")
    again = learned_again(SURVEY, mn.load(tmp_path / "network.json").settings)
    assert again.graph == learned.graph
    assert again.settings == learned.settings
    others = {name: SURVEY[name] for name in NAMES[::-1]}
    with pytest.raises(InputError, match="candidates must be of the columns of the data in their order"):
        learned_again(others, learned.settings)
    broken = f"{learned.settings['candidates']}x"
    with pytest.raises(InputError, match="which was changed"):
        mn.learn(SURVEY, "pc", candidates=broken)


@pytest.mark.parametrize("keys", [[3, 1], [2, 2], [0], [-5], [8 * len(NAMES)], [len(NAMES) ** 2 + 1], [1 << 62, 5]])
def test_a_string_with_other_numbers_than_pairs_is_refused(keys: list[int]) -> None:
    text = option._packed(Candidates(len(NAMES), np.array(keys, dtype=np.int64)), NAMES)
    for method in ("pc", "mpl"):
        with pytest.raises(InputError, match="which was changed"):
            mn.learn(SURVEY, method, candidates=text)


def test_a_result_of_screen_gives_what_a_screen_gives() -> None:
    screened = mn.screen(SURVEY, k=3, statistic="g2")
    for method in ("hhc-mn", "aracne", "l1lr", "gsmn*"):
        test = {"test": "g2"} if METHODS[method].judge == "test" else {}
        found = mn.learn(SURVEY, method, candidates=screened, **test)  # type: ignore[arg-type]
        assert found.graph == mn.learn(SURVEY, method, candidates="screen", k=3, **test).graph  # type: ignore[arg-type]
    cancelled = replace(screened, partners=replace(screened.partners, complete=False))
    with pytest.raises(InputError, match="a screen that was not cancelled"):
        mn.learn(SURVEY, "pc", candidates=cancelled)


def test_a_screen_is_matched_by_name() -> None:
    found = mn.learn(SURVEY, "hhc-mn", candidates=Screen(FEW))
    assert found.graph == mn.learn(SURVEY, "hhc-mn", candidates=FEW).graph
    with pytest.raises(UnknownNameError, match="screened from the columns of the data"):
        mn.learn(SURVEY, "pc", candidates=Screen([], ["stress", "other"]))
    with pytest.raises(InputError, match="screened from all columns of the data"):
        mn.learn(SURVEY, "pc", candidates=Screen([], ["stress", "fatigue"]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": 3}, "k is for candidates='screen'; got k=3 with no candidates"),
        ({"candidates": "all", "k": 3}, "with candidates='all'"),
        ({"candidates": FEW, "k": 3}, "with listed candidates"),
        ({"candidates": "screen", "k": 0}, "k must be a whole number, at least 1; got 0"),
        ({"candidates": "screen", "k": True}, "k must be a whole number, at least 1; got True"),
        ({"candidates": "screen", "k": 2.5}, "k must be a whole number"),
        ({"candidates": "screen", "rescans": 1}, "rescans must be true or false"),
        ({"candidates": FEW, "rescans": False}, "rescans is for a screen"),
        ({"candidates": "all", "rescans": False}, "rescans is for a screen"),
        ({"candidates": "scren"}, "candidates must be 'all' or 'screen'"),
        ({"candidates": 7}, "candidates must hold pairs of names; got a int"),
        ({"candidates": True}, "candidates must hold pairs of names; got a bool"),
        ({"candidates": {"stress": "fatigue"}}, "candidates must hold a list of names for each variable"),
        ({"candidates": [("stress", "stress")]}, "pairs of two different variables"),
        ({"candidates": ["stress"]}, "pairs of two different variables"),
        ({"candidates": [("stress", "fatigue", "exercise")]}, "pairs of two different variables"),
        ({"candidates": [("stress", "fatige")]}, "candidates: variable 'fatige' does not exist"),
        ({"candidates": [("stress", 3)]}, "candidates: variable 3 does not exist"),
    ],
)
def test_other_values_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=words.replace("(", r"\(")):
        mn.learn(SURVEY, "pc", **given)


def test_methods_without_candidates_say_which_have_them() -> None:
    with pytest.raises(InputError, match=r"candidates is for methods that search among pairs \(.*pc.*\); glasso takes"):
        mn.learn(SURVEY, "glasso", candidates="screen")
    with pytest.raises(InputError, match="candidates is for whole networks"):
        mn.blanket(SURVEY, "stress", candidates="screen")


def test_many_variables_are_screened_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(option, "MOST_FOR_ALL_PAIRS", 11)
    monkeypatch.setattr("mnlearn.learning.spec.MOST_FOR_ALL_PAIRS", 11)
    with caplog.at_level(logging.INFO, "mnlearn.learning"):
        learned = mn.learn(SURVEY, "pc")
    assert "pc: a screen chooses the pairs that may be edges, because there are more than 11 variables" in caplog.text
    assert learned.settings["candidates"] == "screen"
    assert learned.settings["k"] == 20
    caplog.clear()
    with caplog.at_level(logging.INFO, "mnlearn.learning"):
        assert mn.learn(SURVEY, "pc", candidates="all").settings["candidates"] == "all"
    assert "screen chooses" not in caplog.text
    assert mn.learn(SURVEY, "pc", rescans=False).settings["rescans"] is False


@pytest.mark.parametrize("method", ["lasso", "l1mb", "aracne", "pc", "mbs"])
def test_continuous_columns_are_screened(method: str) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(8, 200))
    for x in range(1, 8):
        values[x] += 0.9 * values[x - 1]
    columns = {f"v{x}": column for x, column in enumerate(values)}
    found = mn.learn(columns, method, candidates="screen", k=2)
    assert {("v0", "v1"), ("v6", "v7")} <= {(edge.u, edge.v) for edge in found.edge_list()}
    assert mn.learn(columns, method, candidates="screen", k=7).graph == mn.learn(columns, method).graph


def test_a_setting_k_of_a_judge_of_the_caller_stays_its_own() -> None:
    class Nearest(mn.GTest):
        """A test with a setting of that name."""

        def __init__(self, data: Any, k: int = 1) -> None:
            super().__init__(Counts(data), alpha=0.05 / k)

    for given in ({}, {"candidates": "screen"}):
        learned = mn.learn(SURVEY, "pc", test=Nearest, k=5, **given)  # type: ignore[arg-type]
        assert learned.settings["k"] == 5
    with pytest.raises(InputError, match="k is for candidates='screen'"):
        mn.learn(SURVEY, "pc", test="g2", k=5)


def test_few_variables_have_no_candidates_in_their_settings() -> None:
    assert not {"candidates", "k", "rescans"} & set(mn.learn(SURVEY, "pc").settings)


def test_fingerprints_tell_candidates_apart_and_are_short() -> None:
    pairs = list(combinations(NAMES, 2))
    made = [
        resolve({"method": "pc", "candidates": given}).fingerprint()
        for given in (None, "all", "screen", pairs, pairs[1:], Screen(FEW), Screen(FEW[1:]))
    ]
    assert len(set(made)) == len(made)
    assert max(map(len, made)) < 2000
    assert made[3] == resolve({"method": "pc", "candidates": iter(pairs)}).fingerprint()


def test_bootstrap_and_groups_learn_by_the_same_candidates() -> None:
    learned = mn.learn(SURVEY, "hhc-mn", candidates=FEW).bootstrap(3)
    assert {frozenset((edge.u, edge.v)) for edge in learned.edge_list()} <= set(map(frozenset, FEW))
    columns = {name: SURVEY[name] for name in ("stress", "low_mood", "headaches", "night_shifts")}
    found = mn.compare_groups(
        columns, "night_shifts", method="hhc-mn", candidates=[("stress", "low_mood")], n_permutations=3
    )
    assert max(learned.graph.n_edges for learned in found.networks) <= 1


def test_estimators_take_candidates_among_their_settings() -> None:
    pytest.importorskip("sklearn")
    from mnlearn.estimators import MarkovNetworkLearner

    X = np.column_stack(list(example(300, seed=2).codes))
    fitted = MarkovNetworkLearner("pc", settings={"candidates": [("x0", "x1")]}).fit(X)
    assert fitted.adjacency_.nnz <= 2


def test_all_pairs_by_name_change_nothing() -> None:
    for method in ("gsmn*", "l1lr"):
        every = mn.learn(SURVEY, method, candidates=combinations(NAMES, 2))
        assert every.result.support == mn.learn(SURVEY, method).result.support
    assert len(every_pair(3).keys) == 3
