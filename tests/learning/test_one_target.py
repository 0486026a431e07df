"""`blanket`: the Markov blanket of one variable without the whole network."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.algorithms import GSMN, HHCMN, GSMNStar, SeparatorEvidence, one_target
from mnlearn.algorithms.one_target import evidence_target, grow_shrink_target, hiton_target
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import cycle, random_graph
from mnlearn.independence import SeparationOracle
from mnlearn.learning import BLANKET_METHODS
from mnlearn.simulate import example, simulate
from monitors import Stopping

SURVEY = example(2000, seed=1)
TREE = simulate("tree:n=80", "odds", n_rows=800, seed=1)
GAUSSIAN = simulate("random:n=80,degree=2", "gaussian", n_rows=400, seed=2)


@pytest.mark.parametrize("method", BLANKET_METHODS)
def test_finds_the_blanket_of_the_example(method: str) -> None:
    found = mn.blanket(SURVEY.columns(), "fatigue", method)
    assert set(found.names) == {"poor_sleep", "exercise"}
    assert (found.target, found.method, found.n_variables, found.n_rows) == ("fatigue", method, 12, 2000)
    assert found.converged
    support: list[Any] = [member.support for member in found.members]
    assert support == sorted(support, reverse=found.support_scale == "log_odds")


@pytest.mark.parametrize("drawn", [TREE, GAUSSIAN], ids=["tree", "gaussian"])
def test_agrees_with_the_whole_network(drawn: Any) -> None:
    whole = mn.learn(drawn.data, n_jobs=1)
    targets = drawn.data.names[::8]
    same = [{*mn.blanket(drawn.data, target, n_jobs=1).names} == {*whole.blanket(target)} for target in targets]
    assert sum(same) >= len(targets) - 2


def test_few_variables_give_the_blanket_of_the_whole_network() -> None:
    data = SURVEY.columns()
    whole = mn.learn(data, keep_pairs=True, n_jobs=1)
    found = mn.blanket(data, "stress", n_jobs=1)
    all_odds: Any = whole.result.log_odds
    known = {whole.names[y]: odds for y, odds in enumerate(all_odds[whole.names.index("stress")])}
    assert {*found.names} == {*whole.blanket("stress")}
    weighed = {one.name: one.support for one in (*found.members, *found.others)}
    assert weighed == {name: pytest.approx(odds) for name, odds in known.items() if name != "stress"}


def test_hiton_gives_the_neighbours_in_its_network() -> None:
    whole = mn.learn(GAUSSIAN.data, "hhc-mn", n_jobs=1)
    for target in GAUSSIAN.data.names[::20]:
        assert {*mn.blanket(GAUSSIAN.data, target, "hhc-mn").names} == {*whole.blanket(target)}


def test_grow_shrink_gives_the_blanket_of_its_own_method() -> None:
    graph = random_graph(9, 2.5, 3)
    for x in range(9):
        for learner in (GSMN(), GSMNStar(), GSMNStar(skip_marginal=False)):
            found = grow_shrink_target(SeparationOracle(graph), x, learner)
            assert found.graph.neighbors(x) == graph.neighbors(x)
            assert found.graph.n_edges == graph.degree(x)
        for rule in ("and", "or"):
            assert hiton_target(SeparationOracle(graph), x, HHCMN(combine=rule)).graph.neighbors(x) == (
                graph.neighbors(x)
            )
    assert grow_shrink_target(SeparationOracle(cycle(5)), 0, GSMNStar()).cost["initial_asked"] == 4


def test_neither_the_order_of_columns_nor_of_rows_matters() -> None:
    data, rng = GAUSSIAN.data, np.random.default_rng(1)
    target = data.names[3]
    first = mn.blanket(data, target, n_jobs=1)
    rows = rng.permutation(data.n_rows)
    shuffled = {name: data.columns[data.index(name)][rows] for name in rng.permutation(data.names).tolist()}
    again = mn.blanket(shuffled, target, n_jobs=2)
    assert again.names == first.names
    assert [one.support for one in again.members] == pytest.approx([one.support for one in first.members])


def test_of_many_variables_weak_members_are_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = GAUSSIAN.data.names[::20]
    before = {target: {*mn.blanket(GAUSSIAN.data, target).names} for target in targets}
    for module in (one_target, _candidate_pairs):
        monkeypatch.setattr(module, "MOST_FOR_ALL_PAIRS", 70)
    for target in targets:
        found = mn.blanket(GAUSSIAN.data, target)
        assert {*found.names} <= before[target]
        assert all(one.support is not None and one.support > 0 for one in found.members)
        monkeypatch.setattr(one_target, "SURE", np.inf)  # each member must be one given its own blanket
        assert {*mn.blanket(GAUSSIAN.data, target).names} <= {*found.names}


def test_copies_are_joined_as_in_the_whole_network() -> None:
    data = dict(zip(TREE.data.names, (column.tolist() for column in TREE.data.columns), strict=True))
    target = "x10"
    member = mn.blanket(data, target).names[0]
    data |= {"copy": list(data[target]), "other": list(data[member])}
    assert "copy" in mn.blanket(data, target).names
    assert "other" not in mn.blanket(data, target).names
    assert mn.blanket(data, "copy").names == (target,)


@pytest.mark.parametrize("method", BLANKET_METHODS)
def test_a_cancelled_search_gives_what_is_known(method: str) -> None:
    found = mn.blanket(TREE.data, "x10", method, monitor=Stopping(0))
    assert not found.converged
    assert str(found).endswith("stopped before its end")
    whole = mn.blanket(TREE.data, "x10", "hhc-mn")
    half = mn.blanket(TREE.data, "x10", "hhc-mn", monitor=Stopping(1))  # its neighbours are not examined
    assert not half.converged
    assert {*half.names} >= {*whole.names}


def test_a_cancelled_climb_gives_its_members() -> None:
    class Late(Stopping):
        def cancelled(self) -> bool:
            self.left -= 1
            return self.left <= 0

    judge: Any = mn.make_score("evidence", TREE.data)
    found = [evidence_target(judge, 10, SeparatorEvidence(), lambda _: judge, Late(k)) for k in (1, 4)]
    assert [result.converged for result in found] == [False, False]
    assert found[0].graph.n_edges < found[1].graph.n_edges


def test_the_result_is_a_table_a_text_and_a_document() -> None:
    pandas = pytest.importorskip("pandas")
    found = mn.blanket(pandas.DataFrame(SURVEY.columns()), "fatigue", columns=["poor_sleep", "exercise", "stress"])
    table = found.table()
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["name", "member", "support", "probability"]
    assert list(table[table["member"]]["name"]) == list(found.names)
    assert str(found).startswith("blanket of fatigue: 2 of 3 variables, by sep from 2,000 rows\nmember")
    assert repr(found) == "<Blanket of 'fatigue': 'poor_sleep', 'exercise', by sep>"
    assert "<td>poor_sleep</td>" in found._repr_html_()
    assert [one["name"] for one in json.loads(json.dumps(found.to_dict()))["members"]] == list(found.names)
    by_tests = mn.blanket(SURVEY.columns(), "fatigue", alpha=0.001)
    assert (by_tests.method, by_tests.test) == ("gsmn*", "chi2 (alpha 0.001, dof observed)")
    assert list(by_tests.table("pyarrow").column_names) == ["name", "member", "support"]


def test_a_constant_target_and_independent_data_have_no_members(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(1)
    data = {f"x{k}": rng.integers(0, 2, 200) for k in range(70)} | {"y": [1] * 200}
    for method in BLANKET_METHODS:
        assert mn.blanket(data, "y", method).members == ()
    assert "'y' has the same value in all rows" in caplog.text
    assert mn.blanket(data, "x0").members == ()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"target": "fatige"}, UnknownNameError, "target: column 'fatige' does not exist. Did you mean 'fatigue'"),
        ({"target": 3}, InputError, "target must be the name of a column; got 3"),
        ({"method": "mpl"}, InputError, "method must be one of sep, gsmn, gsmn\\*, hhc-mn for one target; mpl learns"),
        ({"method": "magic"}, UnknownNameError, "method 'magic' does not exist"),
        ({"required": [("a", "b")]}, InputError, "required is for whole networks"),
        ({"method": "sep", "alpha": 0.1}, InputError, "sep has no setting 'alpha'"),
        ({"alpha": 2}, InputError, "alpha must be"),
    ],
)
def test_bad_arguments_are_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        mn.blanket(**{"data": SURVEY.columns(), "target": "fatigue", **given})
