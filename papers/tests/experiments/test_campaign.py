"""All experiments within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mnlearn.data.dataset import Dataset
from mnlearn.errors import FileError, InputError
from mnlearn.graphs import path
from mnlearn.graphs.graph import Graph
from mnlearn_papers import campaign
from mnlearn_papers.campaign import run_campaign
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.experiment import Case, Experiment, RunCell
from mnlearn_papers.journal import Journal, read_records
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.reproduction import Key, Published, Reproduction, Request, TableOfDistances
from mnlearn_papers.reproduction_page import draw_figures, overview_figures, unfinished_lines, write_page


def coins(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
    return {"heads": Measured(float(rng.binomial(size, 0.5)), 0.001), "heads f1": Measured(0.5, 0.001)}


def too_large(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
    raise MemoryError


def endless(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
    time.sleep(60)
    return {}


def chain(n_rows: int, rng: np.random.Generator) -> Case:
    return Case(Dataset.from_codes(np.cumsum(rng.random((n_rows, 3)) < 0.2, axis=1) % 2), path(3))


def nothing(data: Dataset) -> Mapping[str, Graph]:
    return {"nothing": Graph(data.n_variables)}


def measurement(name: str, repetitions: int, **trials: Trial) -> Reproduction:
    published = {Key(source, 10, "heads"): Published(5.0, 1.6, 100) for source in trials}
    measure = Measurement(name, lambda _data: trials, ("heads", "heads f1"), (10, 20), repetitions, published)
    return Reproduction(f"ABC01 {name}", measure, alternatives=frozenset({"second"}))


def distances(name: str, repetitions: int) -> Reproduction:
    experiment = Experiment(name, {"chain": chain}, {"nothing": nothing})
    published = {
        Key("chain", 5, "nothing"): Published(2.0, 0.0, 10),
        Key("chain", 9, "nothing"): Published(0.0, 0.0, 10),
    }
    return Reproduction("DEF02: chains", TableOfDistances(name, lambda _: experiment, published, (5, 9), repetitions))


def needs_data(_data: Path | None) -> Mapping[str, Trial]:
    raise FileError("data must be the folder that holds x; got none. Name it.")


def runs(folder: Path, name: str) -> list[tuple[str, int, int]]:
    return [(r["source"], r["n_rows"], r["repetition"]) for r in read_records(name, folder / f"{name}.jsonl", ())]


SMALL = {"coins": measurement("coins", 7, first=coins, second=coins), "chains": distances("chains", 3)}


def test_every_experiment_gets_one_data_set_before_any_gets_two(tmp_path: Path) -> None:
    finished: list[str] = []

    class Watch:
        def progress(self, _done: float, _total: float | None, message: str = "") -> None:
            finished.append(message.partition(":")[0])

        def cancelled(self) -> bool:
            return False

    state = run_campaign(SMALL, Request(out=tmp_path, monitor=Watch()))
    assert finished[:6].count("coins") == 4
    assert finished[:6].count("chains") == 2
    assert all(cell.done == cell.of for cell in state.cells)
    assert {cell.of for cell in state.cells} == {3, 7}
    assert (state.failed, state.without_data) == ((), ())
    found = runs(tmp_path, "coins")
    assert [k for _, _, k in found] == sorted(k for _, _, k in found)
    assert len(found) == 2 * 2 * 7
    before = (tmp_path / "coins.jsonl").read_text()
    assert run_campaign(SMALL, Request(out=tmp_path)) == state
    assert (tmp_path / "coins.jsonl").read_text() == before  # nothing is run twice


def test_repetitions_are_the_most_data_sets(tmp_path: Path) -> None:
    state = run_campaign(SMALL, Request(out=tmp_path, repetitions=2))
    assert {(cell.done, cell.of) for cell in state.cells} == {(2, 2)}
    assert {k for _, _, k in runs(tmp_path, "coins")} == {0, 1}


def test_a_stopped_campaign_continues(tmp_path: Path) -> None:
    class Stop:
        def progress(self, done: float, total: float | None, message: str = "") -> None: ...

        def cancelled(self) -> bool:
            return len(list(tmp_path.glob("*.jsonl"))) > 0 and len(runs(tmp_path, "coins")) > 2

    state = run_campaign(SMALL, Request(out=tmp_path, monitor=Stop()))
    assert 0 < sum(cell.done for cell in state.cells) < 10
    assert unfinished_lines(state.cells)[0].startswith("coins: 4 of 4 cells have 0 to 1 of 7 data sets")
    assert all(cell.done == cell.of for cell in run_campaign(SMALL, Request(out=tmp_path)).cells)


def test_data_and_memory_that_are_missing_are_named(tmp_path: Path) -> None:
    absent = replace(SMALL["coins"], measure=Measurement("absent", needs_data, ("heads",), (10,), 3))
    broken = measurement("broken", 2, first=coins, large=too_large)
    state = run_campaign({"absent": absent, "broken": broken}, Request(out=tmp_path))
    assert state.without_data == ("absent",)
    assert [item[:2] for item in state.failed] == [("broken", "large")]
    assert {(cell.cell.source, cell.done) for cell in state.cells} == {("first", 2)}
    with pytest.raises(InputError, match="out must be a folder"):
        run_campaign(SMALL, Request())


def test_a_run_without_an_end_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    slow = {"slow": measurement("slow", 2, first=coins, hangs=endless), **SMALL}
    started = time.monotonic()
    state = run_campaign(slow, Request(out=tmp_path), seconds=4)
    assert time.monotonic() - started < 6
    by_name = {(cell.experiment, cell.cell.source): cell.done for cell in state.cells}
    assert by_name["slow", "hangs"] == 0
    assert by_name["coins", "first"] == 7
    assert by_name["chains", "chain"] == 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_lost_in_a_finalizer_comes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Sleeps:
        def __del__(self) -> None:
            time.sleep(1)

    def loses_the_alarm(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        del [Sleeps()][0]
        return endless(size, rng)

    monkeypatch.setattr(campaign, "ALARM_AGAIN", 0.3)
    slow = {"slow": measurement("slow", 1, hangs=loses_the_alarm)}
    assert [cell.done for cell in run_campaign(slow, Request(out=tmp_path), seconds=1).cells] == [0, 0]


def test_cells_that_do_not_fit_the_limit_are_skipped(tmp_path: Path) -> None:
    costly = {"costly": measurement("costly", 4, cheap=coins, dear=coins)}
    with Journal("costly", tmp_path / "costly.jsonl", ("values",)) as book:
        for source, seconds in (("cheap", 0.01), ("dear", 300.0)):
            key = {"source": source, "n_rows": 10, "repetition": 0, "method": "all"}
            book.add([{**key, "seconds": seconds, "values": {"heads": [5.0, seconds]}}])
    state = run_campaign(costly, Request(out=tmp_path), seconds=60)
    done = {(cell.cell.source, cell.cell.n_rows): cell.done for cell in state.cells}
    assert done == {("cheap", 10): 4, ("cheap", 20): 4, ("dear", 10): 1, ("dear", 20): 0}
    assert unfinished_lines(state.cells) == ["costly: 2 of 4 cells have 0 to 1 of 4 data sets: dear all"]


def test_the_page_opens_with_one_table_and_one_picture(tmp_path: Path) -> None:
    state = run_campaign(SMALL, Request(out=tmp_path, repetitions=3))
    figures = {name: item.measure.recorded(tmp_path) for name, item in SMALL.items()}
    overview = overview_figures(SMALL, figures, [])
    numbers = {(line.source, line.learner): line.ours for line in overview}
    assert numbers["coins", "figures"] == 1  # the second source is another reading of the same figure
    assert (numbers["chains", "figures"], numbers["all", "figures"]) == (2, 3)
    write_page(SMALL, {**figures, "overview": overview}, state, tmp_path)
    page = (tmp_path / "reproduction.md").read_text()
    head, _, rest = page.partition("## coins")
    assert "| experiment | figures compared | within 3 |" in head
    assert "| chains | 2 | 1 |" in head
    assert "![Published figures and those of mnlearn](reproduction.svg)" in head
    assert "of 3 published figures" in rest or "of 2 published figures" in rest
    assert "| first | 10 | 3 |" in rest
    assert "## Not complete" not in page
    picture = (tmp_path / "reproduction.svg").read_text()
    assert picture == draw_figures(SMALL, figures)
    assert picture.count("h0") == 2  # the figure of 0 has no place on a logarithmic axis
    assert "ABC01: 1 of 1 within 3" in picture
    assert "DEF02: 1 of 2 within 3" in picture


def test_what_is_missing_is_on_the_page(tmp_path: Path) -> None:
    known = {**SMALL, "broken": measurement("broken", 2, first=coins, large=too_large)}
    state = run_campaign(known, Request(out=tmp_path, repetitions=1))
    state = state._replace(cells=tuple(cell._replace(of=7) for cell in state.cells), without_data=("absent",))
    write_page(known, {"coins": SMALL["coins"].measure.recorded(tmp_path)}, state, tmp_path)
    page = (tmp_path / "reproduction.md").read_text()
    assert "- absent: its data are missing" in page
    assert "- broken: large cannot be run: not enough memory" in page
    assert "- coins: 4 of 4 cells have 1 of 7 data sets" in page


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_every_experiment_names_its_cells(name: str) -> None:
    measure = REPRODUCTIONS[name].measure
    cells: Callable[[], list[RunCell]] = partial(measure.cells, None)
    if REPRODUCTIONS[name].needs_data:
        with pytest.raises(FileError):
            cells()
    else:
        assert {cell.n_rows for cell in cells()} == set(measure.sizes)
        assert len(set(cells())) == len(cells())
