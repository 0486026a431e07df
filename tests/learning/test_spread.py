"""Neighbourhoods by several processes or workers: the same bits as one after the other."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.errors import InputError, MnlearnError
from mnlearn.protocols import Neighborhood, SpreadNeighborhoods, VarSet
from mnlearn.statistics import opening as counting
from mnlearn.statistics.opening import ParallelNeighborhoods
from monitors import Stopping

N = 9
QUESTIONS = [(x, frozenset(range(N)) - {x}, frozenset({(x + 1) % N})) for x in range(N)]


class Plain:
    """Answers from the question alone."""

    n_variables = N

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        return Neighborhood({y: x + 0.1 * len(candidates) for y in required}, x)


def expected() -> list[Neighborhood]:
    return [Plain().neighborhood(*question) for question in QUESTIONS]


def test_who_answers_changes_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(ParallelNeighborhoods(Plain()), SpreadNeighborhoods)
    assert list(ParallelNeighborhoods(Plain(), n_jobs=1).spread(QUESTIONS)) == expected()
    assert list(ParallelNeighborhoods(Plain(), client=client).spread(QUESTIONS)) == expected()
    monkeypatch.setattr(counting, "WORTH", 0.0)  # by processes from the second on
    assert list(ParallelNeighborhoods(Plain(), n_jobs=2).spread(QUESTIONS)) == expected()
    assert list(ParallelNeighborhoods(Plain(), n_jobs=2).spread([])) == []


def test_processes_begin_only_when_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def noting(ask: Any, groups: Any, **_: Any) -> Any:
        begun.append(len(groups))
        return map(ask, groups)

    monkeypatch.setattr(counting, "run", noting)
    assert list(ParallelNeighborhoods(Plain(), n_jobs=2).spread(QUESTIONS)) == expected()
    assert begun == []
    monkeypatch.setattr(counting, "WORTH", 0.0)
    assert list(ParallelNeighborhoods(Plain(), n_jobs=2).spread(QUESTIONS)) == expected()
    assert begun == [8]


def test_a_monitor_stops_it() -> None:
    monitor, found = Stopping(4), []
    for answer in ParallelNeighborhoods(Plain(), 1).spread(QUESTIONS, monitor):
        found.append(answer)
        monitor.progress(len(found), N)
    assert found == expected()[:4]


@pytest.mark.parametrize("method", ["l1lr", "lasso", "l1mb"])
def test_the_methods_learn_the_same(client: Any, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 8))
    values[:, 1:] += values[:, :-1]
    data = Dataset.from_codes((values > 0).astype(int)) if method == "l1lr" else values
    alone = mn.learn(data, method, n_jobs=1)
    monkeypatch.setattr(counting, "WORTH", 0.0)
    for found in (mn.learn(data, method, n_jobs=2), mn.learn(data, method, client=client)):
        assert found.graph == alone.graph
        assert found.result.support == alone.result.support
        assert found.cost["fitted"] == alone.cost["fitted"]


def test_methods_without_neighbourhoods_have_no_use_for_a_client(client: Any) -> None:
    with pytest.raises(InputError, match=r"client is for tables of a packed file; it does not help this method"):
        mn.learn(np.random.default_rng(0).normal(size=(50, 3)), "glasso", client=client)


def test_a_score_of_the_caller_goes_to_other_processes() -> None:
    class Fewest(mn.CustomScore):  # as in a notebook: no process can import it
        def local(self, x: int, blanket: VarSet) -> float:
            return float(self.table(x, blanket).max(axis=1).sum() - 9 * len(blanket))

    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 200)
    learned = mn.learn({"a": first, "b": first, "c": rng.integers(0, 2, 200)}, "hillclimb", score=Fewest)
    one, two = (learned.bootstrap(4, n_jobs=n_jobs).frequencies for n_jobs in (1, 2))
    assert one == two == {(0, 1): 1.0}
    lock = Lock()

    class Locked(Fewest):
        def local(self, x: int, blanket: VarSet) -> float:
            with lock:
                return super().local(x, blanket)

    locked = mn.learn({"a": first, "b": first}, "hillclimb", score=Locked)
    with pytest.raises(MnlearnError, match=r"must be picklable; .* use one process \(n_jobs=1\)"):
        locked.bootstrap(2, n_jobs=2)
