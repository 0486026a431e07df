"""The battery: halves, budgets, journals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.errors import UnknownNameError
from mnlearn.graphs import Graph
from mnlearn_papers.accuracy import Battery, Budget
from mnlearn_papers.experiment import Method, WithLogOdds


def nothing(data: Dataset) -> Mapping[str, Graph]:
    return {"nothing": Graph(data.n_variables)}


def everything(data: Dataset) -> Mapping[str, Graph | WithLogOdds]:
    n = data.n_variables
    return {"everything": WithLogOdds(Graph.complete(n), np.full((n, n), 2.0))}


METHODS: Mapping[str, Method] = {"nothing": nothing, "everything": everything}
ONLY = ("parity", "independent, wide")


def test_every_learner_sees_every_data_set_of_its_budget(tmp_path: Path) -> None:
    budgets = {"everything": Budget(draws=1, rows=20, leave_out=("parity",))}
    battery = Battery("development", METHODS, sizes=(20, 30), draws=2, budgets=budgets, only=ONLY)
    rows = battery.run(journal=tmp_path / "runs.jsonl")
    assert len([row for row in rows if row.learner == "nothing"]) == 2 * 2 * 2
    (lone,) = [row for row in rows if row.learner == "everything"]
    assert (lone.source, lone.n_rows, lone.repetition, lone.hamming) == ("independent, wide", 20, 0, 45)
    assert lone.reliability is not None
    assert sum(lone.reliability.pairs) == 45
    assert sum(lone.reliability.edges) == 0
    assert "reliability" not in lone.tidy()
    assert [row.source for row in rows] == sorted((row.source for row in rows), key=ONLY.index)


def test_a_journal_is_not_run_again_and_keeps_the_probabilities(tmp_path: Path) -> None:
    def never(data: Dataset) -> Mapping[str, Graph]:
        raise AssertionError(data)

    idle: Mapping[str, Method] = dict.fromkeys(METHODS, never)
    first, again = (
        Battery("held-out", methods, sizes=(20,), draws=1, only=ONLY).run(journal=tmp_path / "runs.jsonl")
        for methods in (METHODS, idle)
    )
    assert again == first


def test_the_halves_share_no_data() -> None:
    seen: list[bytes] = []

    def keep(data: Dataset) -> Mapping[str, Graph]:
        seen.append(np.stack(data.columns).tobytes())
        return nothing(data)

    Battery("development", {"nothing": keep}, sizes=(50,), draws=2, only=("parity",)).run()
    Battery("held-out", {"nothing": keep}, sizes=(50,), draws=2, only=("parity",)).run()
    assert len(set(seen)) == 4


def test_an_unknown_half_or_kind_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="half 'test' does not exist"):
        Battery("test", METHODS)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="source 'karote' does not exist"):
        Battery("development", METHODS, only=("karote",)).run()
