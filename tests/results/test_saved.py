"""Whole results in files: read back equal, by this version and later ones; damaged and newer ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnlearn as mn
from mnlearn.graphs import Graph
from mnlearn.protocols import Result
from mnlearn.results import Learned
from mnlearn.results.files import parse, render
from mnlearn.simulate import example

COLUMNS = example(300, seed=4).columns()
FEW = {name: COLUMNS[name] for name in list(COLUMNS)[:4]}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sep": (COLUMNS, {"keep_pairs": True}),
    "gsimn": (COLUMNS, {"keep_trace": True, "alpha": 0.01}),
    "pc": (COLUMNS, {}),
    "bjp": (COLUMNS, {"keep_steps": True, "keep_absent": True}),
    "mpl": (COLUMNS, {"required": [("stress", "left_handed")], "sample_size": np.float64(1.0)}),
    "exhaustive": (FEW, {"averaging": True, "score": "mpl"}),
    "hillclimb": (COLUMNS, {"start": [("stress", "fatigue")]}),
}


@pytest.mark.parametrize("method", CASES)
def test_a_result_comes_back_whole(method: str, tmp_path: Path) -> None:
    columns, settings = CASES[method]
    learned = mn.learn(columns, method, **settings)
    learned.save(tmp_path / "net.json")
    back = mn.load(tmp_path / "net.json")
    assert back.to_dict() == json.loads(json.dumps(learned.to_dict()))
    assert (back.graph, back.names, back.n_rows) == (learned.graph, learned.names, 300)
    assert back.trace == learned.trace
    assert dict(back.result.support) == dict(learned.result.support)
    if learned.result.log_odds is not None:
        assert np.array_equal(back.probabilities(), learned.probabilities())
    assert back.result.alternatives == learned.result.alternatives
    assert back.result.steps == learned.result.steps
    assert mn.read_graph(tmp_path / "net.json").graph == learned.graph
    with pytest.raises(mn.InputError, match="why needs the data"):
        back.why("stress", "late_coffee") if method != "exhaustive" else back.why(*back.names[:2])
    pair = back.names[:2]
    assert back.with_data(columns).why(*pair) == learned.why(*pair)


def test_frequencies_and_what_was_chosen_come_back(tmp_path: Path) -> None:
    learned = mn.learn(COLUMNS).bootstrap(4, sampling="halves", n_jobs=1)
    learned.save(tmp_path / "net.json")
    back = mn.load(tmp_path / "net.json")
    assert (back.frequencies, back.resampling, back.choice) == (learned.frequencies, learned.resampling, learned.choice)
    assert back.edge_list() == learned.edge_list()
    assert back.with_data(COLUMNS).bootstrap(4, sampling="halves", n_jobs=1).frequencies == learned.frequencies
    kept = mn.read_graph(tmp_path / "net.json").attributes
    assert all(set(numbers) == {"weight", "support", "probability", "frequency"} for numbers in kept.values())


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3, unique=True),
    st.floats(allow_nan=False),
    st.text(),
)
def test_any_name_and_any_number_come_back(names: list[str], value: float, word: str) -> None:
    graph = Graph(3, [(0, 2)])
    found = Result(graph, value, {(0, 2): -inf}, False, {"seconds": 1.5}, {"limit": value, "word": word, "inf": "inf"})
    back = parse(render(Learned("any", tuple(names), found), {}))
    assert (back.names, back.score, back.converged) == (tuple(names), value, False)
    assert back.settings == found.settings
    assert back.result.support == found.support


def _written(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    path = tmp_path / "net.json"
    mn.learn(FEW, "gsmn").save(path)
    return path, json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("result"), r"got a graph alone\. Read it with mnlearn\.read_graph"),
        (lambda d: d["result"].update(version=2), "at most 1 for this mnlearn; got 2, written by a newer one"),
        (lambda d: d["result"].update(version="1"), "must be a positive integer; got '1'"),
        (lambda d: d["result"].update(converged=False), "its digest does not match"),
        (lambda d: d["edges"].pop(), "edge_attributes|digest"),
        (lambda d: d["variables"].reverse(), "its digest does not match"),
        (lambda d: d.update(format="other"), "not an mnlearn graph"),
        (lambda d: d.update(version=9), "written by a newer one"),
    ],
)
def test_altered_and_newer_files_are_refused(tmp_path: Path, change: Any, message: str) -> None:
    path, document = _written(tmp_path)
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(mn.FileError, match=message) as refusal:
        mn.load(path)
    assert "net.json' cannot be read as a result" in str(refusal.value)


def test_other_white_space_is_no_change(tmp_path: Path) -> None:
    path, document = _written(tmp_path)
    path.write_text(json.dumps(document), encoding="utf-8")
    assert mn.load(path).method == "gsmn"


def test_cut_short_and_absent_files_are_refused(tmp_path: Path) -> None:
    path, _ = _written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with pytest.raises(mn.FileError, match="damaged or of another kind"):
        mn.load(path)
    with pytest.raises(mn.FileError, match="there is no"):
        mn.load(tmp_path / "nothing.json")


def test_version_1_is_read_for_ever() -> None:
    learned = mn.load(Path(__file__).parent / "result_version_1.json")
    assert str(learned) == "sep: 3 edges among 4 variables"
    assert learned.blanket("wet") == ("rain", "slippery")
    assert [edge.frequency for edge in learned.edge_list()] == [1.0, 0.75, 0.5]
    assert learned.resampling is not None
    assert learned.resampling.sampling == "halves"
    assert len(learned.pair_list()) == 6
    assert learned.settings["effort"] == "thorough"


def test_what_no_file_can_tell_is_refused_when_it_is_needed(tmp_path: Path) -> None:
    learned = mn.learn(COLUMNS, "mpl", graph_prior=lambda size: -0.1 * size)
    learned.save(tmp_path / "net.json")
    back = mn.load(tmp_path / "net.json")
    assert back.graph == learned.graph
    with pytest.raises(mn.MnlearnError, match="graph_prior"):
        back.with_data(COLUMNS).why("stress", "fatigue")


def test_a_network_of_another_origin_can_be_saved(tmp_path: Path) -> None:
    learned = mn.learn(FEW, "gsmn")
    bare = replace(learned, recipe=None, data=None, n_rows=None)
    bare.save(tmp_path / "net.json")
    assert mn.load(tmp_path / "net.json").graph == learned.graph
    with pytest.raises(mn.InputError, match="with_data needs a method and settings that this mnlearn knows"):
        bare.with_data(FEW)


def test_a_network_by_an_unknown_method_says_why_it_cannot_explain_itself(tmp_path: Path) -> None:
    learned = mn.learn({"a": [0, 1] * 30, "b": [0, 1] * 30}, "gsmn")
    result = replace(learned.result, settings={**learned.settings, "method": "mine"})
    replace(learned, result=result, method="mine").save(tmp_path / "mine.json")
    with pytest.raises(mn.InputError, match=r"why needs a method and settings .* got a network by 'mine'"):
        mn.load(tmp_path / "mine.json").why("a", "b")


def test_files_without_the_level_have_the_defaults_of_the_test(tmp_path: Path) -> None:
    before = mn.learn(COLUMNS, "gsmn*", test="chi2", alpha=0.05, dof="adjusted")
    settings = {name: value for name, value in before.settings.items() if name not in ("alpha", "dof")}
    replace(before, result=replace(before.result, settings=settings)).save(tmp_path / "net.json")
    back = mn.load(tmp_path / "net.json").with_data(COLUMNS)
    assert back.why("stress", "fatigue") == before.why("stress", "fatigue")
    assert back.bootstrap(3, n_jobs=1).frequencies == before.bootstrap(3, n_jobs=1).frequencies


def test_weights_of_a_file_stay_when_its_data_are_attached(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(200, 4)) + rng.normal(size=(200, 1))
    learned = mn.learn({f"v{k}": rows[:, k] for k in range(4)}, "glasso")
    assert learned.weights is not None
    learned.save(tmp_path / "net.json")
    loaded = mn.load(tmp_path / "net.json").with_data({f"v{k}": rows[:, k] for k in range(4)})
    assert loaded.weights is not None
    assert dict(loaded.weights.values) == dict(learned.weights.values)  # shrunk, as the method estimated them


def test_other_edges_do_not_have_the_weights_of_a_file(tmp_path: Path) -> None:
    learned = mn.learn(COLUMNS, "mpl").bootstrap(6, n_jobs=1)
    learned.save(tmp_path / "net.json")
    loaded = mn.load(tmp_path / "net.json")
    stable = learned.stable(0.1)
    assert stable.graph.n_edges > learned.graph.n_edges
    assert loaded.stable(0.1).weights is None
    assert loaded.with_data(COLUMNS).stable(0.1).weights == stable.weights


def test_a_graph_of_another_format_is_no_result(tmp_path: Path) -> None:
    mn.learn(FEW, "mpl").save(tmp_path / "net.graphml")
    with pytest.raises(mn.FileError, match=r"For a graph in another format, use mnlearn\.read_graph\."):
        mn.load(tmp_path / "net.graphml")
