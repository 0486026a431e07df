"""maximize and minimize: why they stop, who evaluates, what becomes of failures, and where they go on."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn_papers.optimize import FitnessError, Generation, MarkovEDA, maximize, minimize, onemax, royal_road

SMALL = MarkovEDA(population=40)


def ones(x: np.ndarray) -> float:
    return float(x.sum())


def key_of(result: Any) -> list[Any]:
    """A history without its seconds."""
    return [line[:5] for line in result.history]


def test_single_and_vectorized_functions_in_any_number_of_jobs_give_the_same_run() -> None:
    options: Any = {"algorithm": SMALL, "seed": 3, "max_generations": 4, "target": 16}
    alone = maximize(ones, 16, **options)
    for jobs in (2, 3):
        assert key_of(maximize(ones, 16, n_jobs=jobs, **options)) == key_of(alone)
    assert key_of(maximize(lambda rows: rows.sum(axis=1), 16, vectorized=True, **options)) == key_of(alone)
    together = maximize(lambda rows: rows.sum(axis=1), 16, vectorized=True, n_jobs=2, **options)
    assert key_of(together) == key_of(alone)
    assert np.array_equal(together.individual, alone.individual)


def test_processes_give_the_same_run() -> None:
    options: Any = {"algorithm": SMALL, "seed": 3, "max_generations": 1}
    assert key_of(maximize(onemax(12), n_jobs=2, backend="processes", **options)) == key_of(
        maximize(onemax(12), **options)
    )


def test_why_a_run_ends() -> None:
    slow = MarkovEDA(population=10)
    assert maximize(ones, 12, target=12, seed=1).reason == "target"
    assert minimize(ones, 12, target=0, seed=1).reason == "target"
    few = maximize(ones, 60, algorithm=slow, max_generations=3)
    assert (few.reason, few.generations) == ("generations", 3)
    bounded = maximize(ones, 60, algorithm=slow, max_evaluations=33)
    assert (bounded.reason, bounded.evaluations) == ("evaluations", 30)
    flat = maximize(lambda _: 1.0, 60, algorithm=slow, patience=4)
    assert (flat.reason, flat.generations) == ("patience", 4)
    assert maximize(lambda _: 0.0, 1, states=1, algorithm=slow).reason == "uniform"
    assert maximize(ones, 30, max_generations=0).generations == 0
    assert not few.reached


def test_callbacks_hear_every_generation_and_may_stop() -> None:
    heard: list[Generation] = []

    def stop(line: Generation) -> bool:
        heard.append(line)
        return line.number == 2

    found = maximize(ones, 60, algorithm=SMALL, callbacks=[stop, lambda _: None])
    assert found.reason == "callback"
    assert [line.number for line in heard] == [0, 1, 2]
    assert heard == list(found.history)


class Impatient:
    """A monitor that stops after some calls, and remembers what it heard."""

    def __init__(self, after: int) -> None:
        self.after, self.heard = after, []  # type: ignore[var-annotated]

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.heard.append((done, total, message))

    def cancelled(self) -> bool:
        return len(self.heard) >= self.after


def test_a_monitor_hears_progress_and_may_stop() -> None:
    monitor = Impatient(3)
    found = maximize(ones, 60, algorithm=SMALL, monitor=monitor)
    assert found.reason == "cancelled"
    assert [done for done, _, _ in monitor.heard] == [0, 1, 2]
    assert monitor.heard[0][1] == 100
    assert "best" in monitor.heard[0][2]
    with pytest.raises(InputError, match="first population"):
        maximize(ones, 60, monitor=Impatient(0))


def test_ctrl_c_gives_the_best_so_far() -> None:
    calls = []

    def fitness(x: np.ndarray) -> float:
        calls.append(1)
        if len(calls) > 70:
            raise KeyboardInterrupt
        return float(x.sum())

    found = maximize(fitness, 60, algorithm=SMALL)
    assert (found.reason, found.generations) == ("interrupted", 1)
    calls.extend([1] * 70)
    with pytest.raises(KeyboardInterrupt):
        maximize(fitness, 60, algorithm=SMALL)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_comes_with_the_individual_and_the_history(jobs: int) -> None:
    def fitness(x: np.ndarray) -> float:
        if x.sum() >= 19:
            raise RuntimeError("too many ones")
        return float(x.sum())

    with pytest.raises(FitnessError, match="raised RuntimeError: too many ones for the individual") as caught:
        maximize(fitness, 20, algorithm=SMALL, seed=1, n_jobs=jobs)
    error = caught.value
    assert error.individual is not None
    assert error.individual.sum() >= 19
    assert isinstance(error.__cause__, RuntimeError)
    assert error.result is not None
    assert error.result.reason == "failed"
    assert error.result.fitness == max(line.best for line in error.result.history)


def test_a_vectorized_function_that_fails_is_asked_row_by_row() -> None:
    def fitness(rows: np.ndarray) -> Any:
        if (rows.sum(axis=1) == 0).any():
            raise ZeroDivisionError
        return 1 / rows.sum(axis=1)

    with pytest.raises(FitnessError, match=r"\[0, 0, 0\]") as caught:
        maximize(fitness, 3, algorithm=SMALL, vectorized=True)
    assert caught.value.individual is not None
    assert caught.value.individual.tolist() == [0, 0, 0]
    assert caught.value.result is None

    def together(rows: np.ndarray) -> Any:
        if len(rows) > 1:
            raise MemoryError
        return rows.sum(axis=1)

    with pytest.raises(FitnessError, match="for none of them alone"):
        maximize(together, 3, algorithm=SMALL, vectorized=True)


@pytest.mark.parametrize(
    ("fitness", "vectorized", "rule"),
    [
        (lambda _: float("nan"), False, "got NaN for the individual"),
        (lambda x: x, False, r"one number; got the shape \(5,\)"),
        (lambda _: "good", False, "one number; got 'good'"),
        (lambda _: None, False, "one number; got None"),
        (lambda _: 1j, False, "one number; got 1j"),
        (lambda rows: rows, True, r"array of 40 numbers.*got the shape \(40, 5\)"),
        (lambda _: 1.0, True, r"got the shape \(\)"),
        (lambda rows: np.full(len(rows), np.nan), True, "got NaN for the individual"),
        (lambda _: [[1], [2, 3]], True, "array of 40 numbers"),
    ],
)
def test_what_is_no_fitness_is_refused(fitness: Any, vectorized: bool, rule: str) -> None:
    with pytest.raises(FitnessError, match=rule):
        maximize(fitness, 5, algorithm=SMALL, vectorized=vectorized)


def test_what_is_not_allowed_may_be_infinitely_bad() -> None:
    found = maximize(lambda x: -np.inf if x[0] else float(x.sum()), 8, algorithm=SMALL, seed=1, target=7)
    assert found.fitness == 7.0
    assert all(np.isfinite(line.mean) for line in found.history)


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    options: Any = {"algorithm": MarkovEDA(population=30), "seed": 2, "patience": 9}
    whole = maximize(ones, 40, max_generations=8, **options)
    part = maximize(ones, 40, max_generations=3, checkpoint=path, **options)
    calls = []

    def counted(x: np.ndarray) -> float:
        calls.append(1)
        return float(x.sum())

    again = maximize(counted, 40, max_generations=8, checkpoint=path, **options)
    assert key_of(part) == key_of(whole)[:4]
    assert key_of(again) == key_of(whole)
    assert len(calls) == whole.evaluations - part.evaluations
    assert np.array_equal(again.individual, whole.individual)
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_a_checkpoint_of_another_run_or_none_at_all_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    maximize(ones, 10, algorithm=SMALL, max_generations=1, checkpoint=path)
    with pytest.raises(FileError, match="of one with other settings, genes or seed"):
        maximize(ones, 10, algorithm=SMALL, seed=1, checkpoint=path)
    with pytest.raises(FileError, match="of one with other settings"):
        maximize(ones, 10, algorithm=MarkovEDA(population=41), checkpoint=path)
    with pytest.raises(FileError, match="of one with other settings"):
        minimize(ones, 10, algorithm=SMALL, checkpoint=path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FileError, match="none, or damaged"):
        maximize(ones, 10, algorithm=SMALL, checkpoint=path)
    with pytest.raises(FileError, match="a folder that exists"):
        maximize(ones, 10, checkpoint=tmp_path / "no" / "run.npz")
    with pytest.raises(FileError, match="is a folder"):
        maximize(ones, 10, checkpoint=tmp_path)


def test_a_checkpoint_of_another_problem_is_refused(tmp_path: Path) -> None:
    options: Any = {"algorithm": SMALL, "max_generations": 2, "target": None, "checkpoint": tmp_path / "run.npz"}
    maximize(onemax(12), **options)
    assert maximize(onemax(12), **options).generations == 2
    with pytest.raises(FileError, match="checkpoint must be of the same problem"):
        maximize(royal_road(12), **options)


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_checkpoint_is_refused_or_sound(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "run.npz"
    options: Any = {"algorithm": SMALL, "max_generations": 1, "checkpoint": path}
    whole, rng = maximize(ones, 10, **options), np.random.default_rng(seed)
    content = path.read_bytes()
    altered = bytearray(content)
    altered[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    archive_version = bytearray(content)
    archive_version[content.index(b"PK\x01\x02") + 6] = 173
    for damaged in (b"", content[: rng.integers(len(content))], bytes(altered), bytes(archive_version)):
        path.write_bytes(damaged)
        try:
            assert key_of(maximize(ones, 10, **options)) == key_of(whole)
        except FileError as error:
            assert "none, or damaged" in str(error)  # noqa: PT017 - a flipped bit may be one that is never read


def crafted(path: Path, **changes: Any) -> None:
    """Write other arrays into a checkpoint, with right checksums."""
    with np.load(path) as archive:
        arrays = dict(archive)
    told = json.loads(str(arrays["told"])) | changes.pop("told", {})
    np.savez(path, **{**arrays, "told": np.array(json.dumps(told)), **changes})


def test_a_crafted_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    options: Any = {"algorithm": SMALL, "max_generations": 1, "checkpoint": path}
    maximize(ones, 10, **options)
    content = path.read_bytes()
    changes: Any
    for changes in (
        {"individuals": np.full((SMALL.population, 10), 7, dtype=np.uint8)},
        {"individuals": np.zeros((2, 10), dtype=np.uint8)},
        {"fitness": np.zeros(SMALL.population, dtype=np.int64)},
        {"best": np.full(10, -1)},
        {"told": {"history": []}},
        {"told": {"history": [[1]], "edges": [None]}},
        {"told": {"edges": [None, [[0, 99]]]}},
        {"told": {"best_fitness": None}},
    ):
        path.write_bytes(content)
        crafted(path, **changes)
        with pytest.raises(FileError, match="none, or damaged"):
            maximize(ones, 10, **options)
    crafted(path, told={"version": "0.0"})
    with pytest.raises(FileError, match=r"must be of this version of mnlearn, .* was written by 0\.0"):
        maximize(ones, 10, **options)


def test_a_checkpoint_is_used_by_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"

    def nested(x: np.ndarray) -> float:
        with pytest.raises(FileError, match="checkpoint must be used by one process at a time"):
            maximize(ones, 10, algorithm=SMALL, checkpoint=path)
        return float(x.sum())

    (tmp_path / ".run.npz.lock").write_text("")  # of a run that was killed
    maximize(nested, 10, algorithm=SMALL, max_generations=1, checkpoint=path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_a_full_disk_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    options: Any = {"algorithm": SMALL, "max_generations": 3}
    whole = maximize(ones, 20, **options)
    with monkeypatch.context() as patched:
        patched.setattr(np, "savez", full)
        found = maximize(ones, 20, checkpoint=tmp_path / "run.npz", **options)
    assert key_of(found) == key_of(whole)
    assert [record.getMessage().partition("run.npz ")[2] for record in caplog.records] == [
        "cannot be written: No space left on device. The run goes on without it",
        "is not of the last generation: No space left on device",
    ]
    assert list(tmp_path.iterdir()) == []


def wasteful(x: np.ndarray) -> float:
    found = float(x.sum())
    x[:] = 0
    return found


def wasteful_with_many(rows: np.ndarray) -> Any:
    found = rows.sum(axis=1)
    rows[:] = 0
    return found


def test_a_function_that_writes_into_its_individuals_changes_no_run() -> None:
    options: Any = {"algorithm": SMALL, "seed": 3, "max_generations": 3}
    alone = maximize(ones, 16, **options)
    assert key_of(maximize(wasteful, 16, **options)) == key_of(alone)
    assert key_of(maximize(wasteful, 16, n_jobs=2, **options)) == key_of(alone)
    assert key_of(maximize(wasteful_with_many, 16, vectorized=True, **options)) == key_of(alone)


class StubbornError(Exception):
    """Cannot be made again from its words alone."""

    def __init__(self, place: int, why: str) -> None:
        super().__init__(f"{why} at {place}")


def stubborn(x: np.ndarray) -> float:
    if x[0]:
        raise StubbornError(0, "no")
    return 1.0


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_exceptions_that_cannot_travel_reach_the_user_too(backend: Any) -> None:
    with pytest.raises(FitnessError, match="StubbornError: no at 0 for the individual") as caught:
        maximize(stubborn, 8, algorithm=SMALL, n_jobs=2, backend=backend)
    assert caught.value.individual is not None
    assert caught.value.individual[0] == 1
    assert isinstance(caught.value.__cause__, StubbornError if backend == "threads" else RuntimeError)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"target": float("nan")}, "target must be a number"),
        ({"max_generations": -1}, "max_generations must be"),
        ({"max_evaluations": 0}, "max_evaluations must be"),
        ({"max_evaluations": 20}, "must allow the first population, 40"),
        ({"patience": 0}, "patience must be"),
        ({"vectorized": "no"}, "vectorized must be true or false"),
        ({"callbacks": print}, "callbacks must be a list"),
        ({"backend": "gpu"}, "backend 'gpu' does not exist"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"seed": -1}, "seed must be"),
        ({"generations": 5}, "option 'generations' does not exist"),
        ({"algorithm": "moa"}, "algorithm must be a MarkovEDA"),
    ],
)
def test_options_that_break_a_rule_are_refused(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        maximize(ones, 5, **{"algorithm": SMALL, **options})


def test_functions_and_problems_are_told_apart() -> None:
    with pytest.raises(InputError, match="n_variables must be given"):
        maximize(ones)
    with pytest.raises(InputError, match="fitness must be a function; got a int"):
        maximize(3, 4)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_variables must be 8"):
        maximize(onemax(8), 9)
    with pytest.raises(InputError, match="states is set by a Problem"):
        maximize(onemax(8), states=3)
    with pytest.raises(InputError, match="Use maximize"):
        minimize(onemax(8))
    assert maximize(onemax(8), target=None, algorithm=SMALL, max_generations=2).reason == "generations"


def test_history_is_a_data_frame_in_three_libraries() -> None:
    found = maximize(royal_road(8), algorithm=SMALL, seed=1, max_generations=3, target=None)
    frame, polars, arrow = found.frame(), found.frame("polars"), found.frame("pyarrow")
    assert frame["best"].tolist() == polars["best"].to_list() == arrow["best"].to_pylist()
    assert frame["number"].tolist() == [0, 1, 2, 3]
    assert frame["evaluations"].tolist() == [40, 60, 80, 100]
    assert frame["edges"][1] == [list(edge) for edge in found.history[1].graph.edges]  # type: ignore[union-attr]
    assert arrow["n_edges"].to_pylist()[0] is None
    with pytest.raises(UnknownNameError, match="library 'numpy'"):
        found.frame("numpy")  # type: ignore[arg-type]
