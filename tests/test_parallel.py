"""Work split into items: equal answers by threads, processes and workers; failures, cancelling and lost workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clusters import kill, lonely_workers
from default_signals import with_default_signals
from mnlearn import parallel
from mnlearn.data import Dataset
from mnlearn.errors import InputError, MnlearnError, UnsuitableError
from mnlearn.parallel import Backend, ahead, cores, job_count, joined, run
from mnlearn.statistics import Counts
from profiles import few


class Recorder:
    """A monitor that remembers, and stops after some items."""

    def __init__(self, stop_after: float = float("inf")) -> None:
        self.heard: list[tuple[float, float | None]] = []
        self.stop_after = stop_after

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.heard.append((done, total))

    def cancelled(self) -> bool:
        return len(self.heard) >= self.stop_after


def slower_first(item: int) -> int:
    time.sleep(0.02 if item == 0 else 0)
    return item * item


def refuses_three(item: int) -> int:
    if item == 3:
        raise InputError("no threes")
    return item


def killed(item: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return item


def where(item: int) -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def inner_cores(item: int) -> tuple[int, int, int]:
    return cores(), job_count(None), job_count(7)


BACKENDS: list[Backend] = ["threads", "processes"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_answers_come_in_the_order_of_the_items(backend: Backend, n_jobs: int) -> None:
    monitor = Recorder()
    assert list(run(slower_first, range(40), n_jobs=n_jobs, backend=backend, monitor=monitor)) == [
        k * k for k in range(40)
    ]
    assert monitor.heard == [(k + 1, 40) for k in range(40)]


def test_a_cluster_gives_the_same(client: Any) -> None:
    monitor = Recorder()
    assert list(run(slower_first, range(40), client=client, monitor=monitor)) == [k * k for k in range(40)]
    assert monitor.heard == [(k + 1, 40) for k in range(40)]
    assert {pid for pid, _ in run(where, range(8), client=client)}.isdisjoint({os.getpid()})


def test_one_job_is_a_plain_loop() -> None:
    assert set(run(where, range(3), n_jobs=1, backend="processes")) == {where(0)}
    assert list(run(where, [1], n_jobs=4)) == [where(0)]
    assert list(run(where, [])) == []


def test_threads_and_processes_are_what_they_are_called() -> None:
    threads = list(run(where, range(20), n_jobs=2))
    assert {pid for pid, _ in threads} == {os.getpid()}
    assert threading.get_ident() not in {thread for _, thread in threads}
    assert os.getpid() not in {pid for pid, _ in run(where, range(20), n_jobs=2, backend="processes")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_as_they_come_all_come(backend: Backend) -> None:
    found = list(run(slower_first, range(30), n_jobs=2, backend=backend, in_order=False))
    assert sorted(found) == [k * k for k in range(30)]


def test_as_they_come_a_slow_one_holds_nobody_up() -> None:
    gate = threading.Event()
    answers = run(lambda item: gate.wait(10) if item == 0 else bool(item), range(5), n_jobs=2, in_order=False)
    first = [next(answers) for _ in range(4)]
    gate.set()
    assert first == [True] * 4
    assert list(answers) == [True]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_first_failure_reaches_the_caller_in_its_place(backend: Backend, n_jobs: int) -> None:
    found = []
    with pytest.raises(InputError, match="no threes"):  # noqa: PT012 - what came before it is the point
        for answer in run(refuses_three, range(100), n_jobs=n_jobs, backend=backend):
            found += [answer]
    assert found == [0, 1, 2]


def test_a_failure_on_a_cluster_reaches_the_caller(client: Any) -> None:
    with pytest.raises(InputError, match="no threes"):
        list(run(refuses_three, range(10), client=client))


def test_a_failure_does_not_cost_what_the_others_have_under_way() -> None:
    begun = threading.Event()

    def one_fails(item: int) -> int:
        if item == 0:
            begun.wait(10)
            raise InputError("the first")
        begun.set()
        time.sleep(0.3)
        return item

    found = []
    with pytest.raises(InputError, match="the first"):  # noqa: PT012 - what came before it is the point
        for answer in run(one_fails, range(10), n_jobs=2, in_order=False):
            found += [answer]
    assert 1 in found


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_monitor_stops_it(backend: Backend, n_jobs: int) -> None:
    found = list(run(partial(pow, 2), range(1000), n_jobs=n_jobs, backend=backend, monitor=Recorder(5)))
    assert 5 <= len(found) < 100
    assert found == [2**k for k in range(len(found))]


def test_a_monitor_stops_a_cluster(client: Any) -> None:
    found = list(run(slower_first, range(1000), client=client, monitor=Recorder(5)))
    assert 5 <= len(found) < 100


def test_leaving_the_loop_calls_off_the_rest() -> None:
    begun: list[int] = []

    def note(item: int) -> int:
        begun.append(item)
        time.sleep(0.01)
        return item

    for answer in run(note, range(1000), n_jobs=2):
        if answer == 3:
            break
    time.sleep(0.1)
    assert len(begun) < 100


def test_a_process_that_dies_is_an_error_with_a_way_out_and_the_next_call_works() -> None:
    with pytest.raises(MnlearnError, match=r"a worker process must live .* one of 2 was killed or ran out of memory"):
        list(run(killed, range(4), n_jobs=2, backend="processes"))
    assert list(run(slower_first, range(4), n_jobs=2, backend="processes")) == [0, 1, 4, 9]


@pytest.mark.parametrize("backend", BACKENDS)
def test_work_inside_work_has_its_share_of_the_cores(backend: Backend) -> None:
    share = max(1, cores() // 2)
    assert set(run(inner_cores, range(6), n_jobs=2, backend=backend)) == {(share, share, min(7, share))}
    assert job_count(7) == 7  # outside, the given number
    assert job_count(-1) == job_count(None) == cores()


def test_work_inside_a_cluster_has_one_core(client: Any) -> None:
    assert set(run(inner_cores, range(4), client=client)) == {(1, 1, 1)}


def test_counts_inside_a_job_take_their_share() -> None:
    data = Dataset.from_codes([[0, 1, 1], [1, 1, 0]])
    share = max(1, cores() // 2)
    assert set(run(lambda _: Counts(data, n_jobs=64)._threads, range(4), n_jobs=2)) == {share}


def test_ctrl_c_ends_it_without_waiting_for_the_rest() -> None:
    program = """
import os, sys, time
from mnlearn.parallel import run
def item(k):
    os.write(1, b"begun\\n")
    time.sleep(1.0)
try:
    list(run(item, range(1000), n_jobs=2, backend=sys.argv[1]))
except KeyboardInterrupt:
    os.write(1, b"stopped\\n")
"""
    for backend in BACKENDS:
        command = with_default_signals([sys.executable, "-c", program, backend])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            if backend == "threads":
                assert process.stdout.readline() == "begun\n"
            else:
                time.sleep(2.5)  # both at work: Ctrl-C while they begin is another case
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
            assert "stopped\n" in said
            assert time.monotonic() - started < 30


def test_the_next_item_is_made_while_this_one_is_used() -> None:
    made = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for k in range(3):
            made.release()
            yield k
        raise InputError("no more")

    coming = ahead(items())
    for k in range(3):
        assert next(coming) == k
        assert made.acquire(timeout=30)
    assert not made.acquire(blocking=False)
    with pytest.raises(InputError, match="no more"):
        next(coming)
    begun = ahead(items())
    assert next(begun) == 0
    begun.close()  # type: ignore[attr-defined]
    assert list(ahead([])) == []


def test_bad_settings_are_refused_before_any_work() -> None:
    def never(item: int) -> int:
        raise AssertionError(item)

    with pytest.raises(InputError, match=r"backend must be 'threads' or 'processes'; got 'fork'"):
        run(never, [1], backend="fork")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_jobs must be a whole number, at least 1; got 0"):
        run(never, [1], n_jobs=0)
    with pytest.raises(UnsuitableError, match=r"client must be a distributed.Client; got a str"):
        run(never, [1], client="tcp://here")


def test_workers_that_die_print_no_traceback() -> None:
    program = """
import logging, os, signal, sys
from pathlib import Path
import dask
from mnlearn.errors import MnlearnError
from clusters import lonely_workers
from mnlearn.parallel import joined, run
def dies(item):
    os.kill(os.getpid(), signal.SIGKILL)
def dies_once(path):
    if not Path(path).exists():
        Path(path).touch()
        dies(path)
    return 7
if __name__ == "__main__":
    shown, log = logging.StreamHandler(), logging.getLogger("mnlearn")
    shown.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with lonely_workers(3) as (first, _), joined(first.scheduler.address) as client:
        print(*run(dies_once, [sys.argv[1]], client=client))
        try:
            list(run(dies, [0], client=client))
        except MnlearnError as error:
            print(error)
"""
    with TemporaryDirectory() as folder:
        script, mark = Path(folder, "script.py"), Path(folder, "mark")
        script.write_text(program)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(script), str(mark)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    answer, error = done.stdout.splitlines()
    assert answer == "7"
    assert error.startswith("a worker must live until its work is done; 2 were killed or ran out of memory at the same")
    lines = done.stderr.splitlines()
    assert all(line.startswith("mnlearn.parallel: lost 1 of ") for line in lines), done.stderr


def slow(item: int) -> int:
    time.sleep(1.0)
    return item


@pytest.mark.parametrize("in_order", few([True, False], 1))
def test_a_cluster_without_workers_ends_with_an_error(monkeypatch: pytest.MonkeyPatch, in_order: bool) -> None:
    monkeypatch.setattr(parallel, "PATIENCE", 1.0)
    with lonely_workers(1) as (joined, (worker,)):
        answers = run(slow, range(50), client=joined, in_order=in_order)
        assert next(answers) in range(50)
        kill(joined, worker)
        with pytest.raises(MnlearnError, match="client must have at least one worker; it has none, and none came"):
            list(answers)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_stopped_worker_is_named(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(parallel, "SILENCE", 3.0)
    with lonely_workers(2) as (joined, (stopped, _)):
        answers = run(slow, range(4), client=joined)
        woken = threading.Timer(9.0, stopped.send_signal, [signal.SIGCONT])
        stopped.send_signal(signal.SIGSTOP)
        woken.start()
        try:
            assert list(answers) == list(range(4))
        finally:
            stopped.send_signal(signal.SIGCONT)
            woken.join()
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert re.match(r"waiting for worker tcp://127\.0\.0\.1:\d+, silent for \d s\. Wake it, or end it", told)


def test_clusters_are_joined_by_address(client: Any) -> None:
    with joined(client.scheduler.address) as other:
        assert list(run(slower_first, [2], client=other)) == [4]


def test_an_address_where_something_else_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def garbage(*_: Any, **__: Any) -> None:
        raise MemoryError("3 EiB")  # what a reply of another kind is taken for: the size of a message

    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "Client", garbage)
    words = r"cluster must be the address of a Dask scheduler; nothing answers at 'tcp://x"
    with pytest.raises(InputError, match=words), joined("tcp://x:1"):
        pass
