"""Checkpoints: items kept and looked up, records cut off, other work refused; runs killed and resumed."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from inspect import getsource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mnlearn as mn
from mnlearn import checkpoint as checkpoints
from mnlearn.checkpoint import Checkpoint, decoded, encoded, fingerprint_of, key_of
from mnlearn.data import Dataset
from mnlearn.errors import FileError, InputError
from monitors import Stopping
from profiles import few

KILLS = int(os.environ.get("MNLEARN_KILLS", "10"))  # 200 take some ten minutes


def never(items: list[Any]) -> Any:
    assert not items, "asked again"
    return []


def as_is(answer: Any) -> Any:
    return answer


def fives(items: list[int]) -> Any:
    """Return five times the number of each item."""
    return (np.full(5, item) for item in items)


def kept_items(folder: Path, n: int) -> Path:
    """Store n items one by one and return the file."""
    with Checkpoint(folder, "f") as kept:
        assert len(list(kept.items(fives, range(n), as_is))) == n
    return kept.path


def n_known(kept: Checkpoint) -> int:
    return len(kept._known)


def survey(n_rows: int = 600, n: int = 8, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    hidden = np.cumsum(rng.random((n_rows, n)) < 0.25, axis=1) % 2
    return Dataset.from_codes(np.where(rng.random((n_rows, n)) < 0.1, 1 - hidden, hidden))


kinds = st.sampled_from([np.float64, np.int64, np.uint8, np.bool_])
arrays = hnp.arrays(kinds, hnp.array_shapes(max_dims=3, min_side=0))
plain = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.text())


@given(st.recursive(arrays | plain, lambda inside: st.lists(inside, max_size=4), max_leaves=8))
def test_answers_come_back(answer: Any) -> None:
    def same(one: Any, other: Any) -> bool:
        if isinstance(one, list):
            return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
        if isinstance(one, np.ndarray):
            return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
        return bool(one == other)

    assert same(answer, decoded(encoded(answer)))


def test_a_name_is_what_it_says() -> None:
    assert key_of(("item", 1)) == key_of(("item", 1))
    assert len({key_of(name) for name in [("item", 1), ("item", 2), ("screen", 1)]}) == 3


def test_what_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with Checkpoint(folder, "f") as kept:
        first = list(kept.items(lambda items: ([item, "two", np.arange(3.0)] for item in items), [7, 8], list))
        kept.store("apart", 1)
        assert kept.stored("apart", as_is) is None  # not when it was opened
    with Checkpoint(folder, "f", resume=True) as kept:
        again = list(kept.items(never, [7, 8], list))
        assert [(one[:2], one[2].tolist()) for one in again] == [(one[:2], one[2].tolist()) for one in first]
        assert kept.stored("apart", as_is) == 1
    with Checkpoint(folder, "f", resume=True) as kept:  # more items
        assert list(kept.items(iter, [7, 8, 9], as_is))[2] == 9


def test_fewer_answers_end_the_items(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "f") as kept:
        assert len(list(kept.items(lambda items: fives(items[:2]), range(5), as_is))) == 2
    with Checkpoint(tmp_path, "f", resume=True) as kept:
        assert [one[0] for one in kept.items(fives, range(5), as_is)] == [0, 1, 2, 3, 4]


def test_other_work_is_refused(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "one") as kept:
        kept.store("this", 1)
        with pytest.raises(FileError, match="checkpoint must be used by one process at a time"):
            Checkpoint(tmp_path, "one", resume=True)
    with pytest.raises(FileError, match=r"checkpoint must be an empty folder, or be resumed; .* Use resume=True"):
        Checkpoint(tmp_path, "one")
    with pytest.raises(FileError, match="checkpoint must be of the same data and settings"):
        Checkpoint(tmp_path, "other", resume=True)
    (tmp_path / checkpoints.FILE).write_bytes(b"something else entirely, and long enough to be read")
    with pytest.raises(FileError, match="checkpoint must be a folder made by mnlearn"):
        Checkpoint(tmp_path, "one", resume=True)
    with pytest.raises(FileError, match="checkpoint must be a folder that can be written"):
        Checkpoint("/proc/self/nowhere", "one")


def test_what_is_no_folder_is_refused_before_the_data_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name, what in (("file", "a file"), ("link", "a link that leads nowhere")):
        with pytest.raises(FileError, match=rf"checkpoint must be a folder; '.*{name}' is {what}\. Name another"):
            mn.learning.screen(tmp_path / "no data.csv", checkpoint=tmp_path / name)


def test_a_file_cut_anywhere_loses_the_end_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    path = kept_items(tmp_path, 6)
    content = path.read_bytes()
    for size in range(len(content) + 1):
        path.write_bytes(content[:size])
        with Checkpoint(tmp_path, "f", resume=True) as cut:
            known = n_known(cut)
            assert [answer.tolist() for answer in cut.items(never, range(known), as_is)] == [
                [k] * 5 for k in range(known)
            ]
            cut.store("new", 7)
        with Checkpoint(tmp_path, "f", resume=True) as again:  # what is appended after the cut is read
            assert n_known(again) == known + 1
    assert known == 6


def whole_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the bytes of a checkpoint with three records after the first."""
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    return kept_items(folder, 3).read_bytes()


def test_a_damaged_byte_is_an_error_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = whole_file(tmp_path, monkeypatch)
    for place in range(len(content)):
        for flip in (1, 0xFF):
            damaged = bytearray(content)
            damaged[place] ^= flip
            (tmp_path / checkpoints.FILE).write_bytes(damaged)
            for resume in (True, False):
                with pytest.raises(
                    FileError, match=r"checkpoint must be (as mnlearn wrote it|a folder made|of this version)"
                ):
                    Checkpoint(tmp_path, "f", resume=resume)
            assert (tmp_path / checkpoints.FILE).read_bytes() == damaged


def test_a_record_of_another_run_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = whole_file(tmp_path / "one", monkeypatch)
    with Checkpoint(tmp_path / "two", "g") as other:
        pass
    head = len(other.path.read_bytes())
    other.path.write_bytes(other.path.read_bytes() + content[head:])
    with pytest.raises(FileError, match=r"is damaged\. Restore the file, or delete it"):
        Checkpoint(tmp_path / "two", "g", resume=True)


def test_bytes_that_were_removed_inside_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = whole_file(tmp_path, monkeypatch)
    (tmp_path / checkpoints.FILE).write_bytes(content[:-40] + content[-30:])
    with Checkpoint(tmp_path, "f", resume=True) as kept:  # no other than a record that was cut off
        assert n_known(kept) == 2
    (tmp_path / checkpoints.FILE).write_bytes(content[:90] + content[100:])
    with pytest.raises(FileError, match="is damaged"):
        Checkpoint(tmp_path, "f", resume=True)


def test_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = whole_file(tmp_path, monkeypatch)
    monkeypatch.setattr(mn, "__version__", "99.1")
    with pytest.raises(FileError, match=r"must be of this version of mnlearn, 99\.1; .* was written by \d"):
        Checkpoint(tmp_path, "f", resume=True)
    (tmp_path / checkpoints.FILE).write_bytes(b"MNCHECK1" + content[8:])
    with pytest.raises(FileError, match="must be of this version of mnlearn"):
        Checkpoint(tmp_path, "f", resume=True)


def test_a_run_that_is_not_there_is_not_resumed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(
        FileError, match=r"resume needs a checkpoint to continue from; there is no folder .* resume=True"
    ):
        mn.screen(survey(), checkpoint=tmp_path / "typo", resume=True)
    assert not (tmp_path / "typo").exists()
    with Checkpoint(tmp_path, "f", resume=True):
        pass
    assert "there are no answers in" in caplog.text


def test_a_crafted_answer_is_an_error(tmp_path: Path) -> None:
    forms = [
        b"[" * 9999,
        b'{"array": ["<f8", [-1]]}',
        b'{"array": ["|O", [1]]}',
        b'{"array": ["<f8", [9]]}',
        b'{"x": 1}',
    ]
    forms += [b'{"array": ["<f8", [1000000000000, 1000000000000]]}', b'{"array": 3}', b"{}", b"\xff"]
    for k, form in enumerate(forms):
        with Checkpoint(tmp_path / str(k), "f") as kept:
            kept._known[key_of(1)] = len(form).to_bytes(4, "little") + form
            with pytest.raises(FileError, match="is damaged"):
                kept.stored(1, as_is)


class Disk:
    """A disk on which there is room for some writes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
        self._write, self.left = os.write, writes
        monkeypatch.setattr(os, "write", self.write)

    def write(self, handle: int, content: Any) -> int:
        self.left -= 1
        if self.left < 0:
            self._write(handle, bytes(content[: len(content) // 2]))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(handle, content)


@pytest.mark.parametrize("writes", [0, 1, 3])
def test_a_full_disk_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, writes: int
) -> None:
    draw = partial(mn.learn(survey(), "mpl").bootstrap, 6, n_jobs=1)
    expected = draw().frequencies
    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
        Disk(patched, writes)
        assert draw(checkpoint=tmp_path).frequencies == expected
    texts = [record.getMessage() for record in caplog.records if record.name == "mnlearn.checkpoint"]
    assert len(texts) == 2
    assert "cannot be written: No space left on device. The run goes on without it" in texts[0]
    assert "is incomplete: No space left on device" in texts[1]
    assert draw(checkpoint=tmp_path, resume=True).frequencies == expected


def test_a_disk_without_room_for_a_folder_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    assert mn.screen(survey(), checkpoint=tmp_path / "run").n_variables == 8
    assert "The run goes on without it" in caplog.text


@pytest.mark.parametrize("tail", [b"\0" * 5, b"\0" * 8, b"\0" * 4096])
def test_zeros_that_a_lost_write_left_are_cut_off(tmp_path: Path, tail: bytes) -> None:
    with Checkpoint(tmp_path, "this") as kept:
        kept.store("two", 2.0)
    whole = kept.path.read_bytes()
    kept.path.write_bytes(whole + tail)
    with Checkpoint(tmp_path, "this", resume=True) as kept:
        assert kept.stored("two", as_is) == 2.0
    assert kept.path.read_bytes() == whole
    kept.path.write_bytes(checkpoints.MARK + tail)
    with Checkpoint(tmp_path, "this", resume=True) as kept:
        assert n_known(kept) == 0


def test_work_that_failed_before_its_first_answer_leaves_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Checkpoint(tmp_path, "one"):
        raise ZeroDivisionError
    with Checkpoint(tmp_path, "other") as kept:
        assert n_known(kept) == 0


def test_fingerprints_tell_data_apart() -> None:
    data = survey()
    prints = [
        data.fingerprint(),
        survey(seed=1).fingerprint(),
        data.select(list(data.names[::-1])).fingerprint(),
        data.compact().fingerprint(),
        fingerprint_of(data.fingerprint(), "more"),
    ]
    assert len(set(prints)) == 5
    assert survey().fingerprint() == prints[0]


class Killed(BaseException):
    """The power failed."""


@pytest.mark.parametrize("sampling", ["subsamples", "halves"])
def test_a_run_killed_after_any_number_of_items_is_the_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampling: Any
) -> None:
    draw = partial(mn.learn(survey(n=6), "gsimn").bootstrap, 8, sampling=sampling, n_jobs=1)
    expected = draw()
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    store, left = Checkpoint.store, 0

    def dying(self: Checkpoint, name: object, answer: Any) -> bytes:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return store(self, name, answer)

    monkeypatch.setattr(Checkpoint, "store", dying)
    for attempt in range(9):
        left = attempt % 3 + 1
        try:
            found = draw(checkpoint=tmp_path, resume=attempt > 0)
        except Killed:
            continue
        assert (found.frequencies, found.resampling) == (expected.frequencies, expected.resampling)
        assert attempt > 0
        break
    else:
        pytest.fail("never came to an end")
    left = 0
    assert draw(checkpoint=tmp_path, resume=True).frequencies == expected.frequencies  # all from the file


def test_one_network_has_no_checkpoint() -> None:
    table = {"a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 0, 1, 1] * 15}
    words = r"checkpoint is for work of many parts, .* Use learned.bootstrap\(checkpoint=...\) or mn.screen"
    for call in (mn.learn, partial(mn.blanket, target="a"), partial(mn.compare_groups, by="c")):
        with pytest.raises(InputError, match=words):
            call(table, method="gsmn*", checkpoint="run")
    with pytest.raises(InputError, match="resume is for work of many parts"):
        mn.learn(table, resume=True)


def test_other_data_or_settings_are_refused(tmp_path: Path) -> None:
    def draw(data: Dataset, method: str, *, resume: bool = True, **options: Any) -> None:
        mn.learn(data, method, **options).bootstrap(2, n_jobs=1, checkpoint=tmp_path, resume=resume)

    draw(survey(), "mpl", resume=False)
    others: list[tuple[Dataset, str, dict[str, Any]]] = [
        (survey(seed=1), "mpl", {}),
        (survey(), "pic", {}),
        (survey(), "mpl", {"prior_cell": 1.0}),
    ]
    for data, method, options in others:
        with pytest.raises(FileError, match="checkpoint must be of the same data and settings"):
            draw(data, method, **options)
    with pytest.raises(InputError, match="resume needs a checkpoint to continue from; got none"):
        mn.screen(survey(), resume=True)


def test_resampling_goes_on_from_the_samples_that_are_done(tmp_path: Path) -> None:
    learned = mn.learn(survey(n=5), "mpl")
    whole = learned.bootstrap(12, n_jobs=1)
    part = learned.bootstrap(12, n_jobs=1, checkpoint=tmp_path, monitor=Stopping(5))
    assert part.resampling is not None
    assert part.resampling.done == 5
    fresh = Stopping(10**9)
    again = learned.bootstrap(12, n_jobs=1, checkpoint=tmp_path, resume=True, monitor=fresh)
    assert 10**9 - fresh.left == 7  # samples that were not done yet
    assert again.frequencies == whole.frequencies
    assert again.resampling == whole.resampling
    with pytest.raises(FileError, match="checkpoint must be of the same data and settings"):
        learned.bootstrap(12, n_jobs=1, checkpoint=tmp_path, resume=True, seed=1)


PROGRAM = f"""
import sys, time, json
import numpy as np
import mnlearn as mn
from mnlearn import checkpoint
from mnlearn.data import Dataset
from mnlearn.learning.spec import LearnSpec

checkpoint.FLUSH_SECONDS = 0.02
{getsource(survey)}
learned = mn.learn(survey(), sys.argv[2])
learned.bootstrap(2, n_jobs=1)  # everything is imported now
def slow(self, *args, _inside=LearnSpec.learn, **options):
    time.sleep(0.03)
    return _inside(self, *args, **options)
LearnSpec.learn = slow
print("ready", flush=True)
found = learned.bootstrap(30, n_jobs=1, checkpoint=sys.argv[1], resume=True)
print(json.dumps(sorted(found.frequencies.items())), flush=True)
"""


@pytest.mark.parametrize("method", ["bjp", "gsimn"])
def test_killed_at_random_moments_nothing_is_lost(tmp_path: Path, method: str) -> None:
    expected = mn.learn(survey(), method).bootstrap(30, n_jobs=1).frequencies
    assert expected is not None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    rng = np.random.default_rng(KILLS)
    program = [sys.executable, "-c", PROGRAM, str(tmp_path), method]
    kept = []
    for _ in few(range(KILLS // 2), 2):
        with subprocess.Popen(program, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
        kept.append((tmp_path / checkpoints.FILE).stat().st_size if (tmp_path / checkpoints.FILE).exists() else 0)
    assert kept[-1] > 100  # samples were kept from run to run
    done = subprocess.run(program, capture_output=True, env=environment, check=True, text=True)
    assert [(tuple(edge), share) for edge, share in json.loads(done.stdout.splitlines()[-1])] == sorted(
        expected.items()
    )
