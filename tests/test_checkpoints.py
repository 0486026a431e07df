"""Checkpoints: answers kept and looked up, records cut off, other work refused; searches killed and resumed."""

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
from mnlearn.protocols import SetLevel
from mnlearn.statistics import Counts, kernels
from mnlearn.statistics.stored import CheckpointedSubsets
from monitors import Stopping
from profiles import few

KILLS = int(os.environ.get("MNLEARN_KILLS", "10"))  # 200 take some ten minutes


def never() -> Any:
    raise AssertionError("asked again")


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


def test_dicts_keep_the_types_of_their_keys() -> None:
    assert decoded(encoded({3: -1.5, (1, 2): "x"})) == {3: -1.5, (1, 2): "x"}


def test_a_question_is_what_it_asks() -> None:
    z = frozenset({1, 20, 3})
    same: list[Any] = [("reduce", 0, [1, 2], z), ("reduce", 0, range(1, 3), z)]
    same.append(("reduce", np.int64(0), np.array([1, 2]), {3, 20, 1}))
    assert len({key_of(question) for question in same}) == 1
    assert key_of(("reduce", 0, [2, 1], z)) != key_of(same[0])
    assert key_of(("members", 0, [1, 2], z)) != key_of(same[0])


def test_what_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    with Checkpoint(tmp_path / "new" / "folder", "f") as kept:
        first = kept.recall(("q", 1), lambda: np.arange(3.0))
        assert kept.recall(("q", 2), lambda: [1, "two"]) == [1, "two"]
    with Checkpoint(tmp_path / "new" / "folder", "f", resume=True) as kept:
        assert kept.n_known == 2
        assert kept.recall(("q", 1), never).tolist() == first.tolist()
        assert kept.recall(("q", 2), never) == [1, "two"]
        kept.recall(("q", 3), lambda: 3)
    with Checkpoint(tmp_path / "new" / "folder", "f", resume=True) as kept:
        assert kept.n_known == 3


def test_other_work_is_refused(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "one") as kept:
        kept.recall(1, lambda: 1)
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


def test_a_file_cut_anywhere_loses_the_end_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    with Checkpoint(tmp_path, "f") as kept:
        for k in range(6):
            kept.recall(k, partial(np.full, 5, k))
    content = kept.path.read_bytes()
    for size in range(len(content) + 1):
        kept.path.write_bytes(content[:size])
        with Checkpoint(tmp_path, "f", resume=True) as cut:
            known = cut.n_known
            assert all(cut.recall(k, never).tolist() == [k] * 5 for k in range(known))
            cut.recall("new", lambda: 7)
        with Checkpoint(tmp_path, "f", resume=True) as again:  # what is appended after the cut is read
            assert again.n_known == known + 1
    assert known == 6


def whole_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return the bytes of a checkpoint with three records after the first."""
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    with Checkpoint(folder, "f") as kept:
        for k in range(3):
            kept.recall(k, partial(np.full, 5, k))
    return kept.path.read_bytes()


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
        assert kept.n_known == 2
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
        mn.learn(survey(), "mpl", checkpoint=tmp_path / "typo", resume=True)
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
                kept.recall(1, never)


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
    expected = comparable(mn.learn(survey(), "bjp"))
    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
        Disk(patched, writes)
        assert comparable(mn.learn(survey(), "bjp", checkpoint=tmp_path)) == expected
    texts = [record.getMessage() for record in caplog.records if record.name == "mnlearn.checkpoint"]
    assert len(texts) == 2
    assert "cannot be written: No space left on device. The run goes on without it" in texts[0]
    assert "is incomplete: No space left on device" in texts[1]
    assert comparable(mn.learn(survey(), "bjp", checkpoint=tmp_path, resume=True)) == expected


def test_a_disk_without_room_for_a_folder_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    assert mn.learn(survey(), "mpl", checkpoint=tmp_path / "run").graph.n_variables == 8
    assert "The run goes on without it" in caplog.text


@pytest.mark.parametrize("tail", [b"\0" * 5, b"\0" * 8, b"\0" * 4096])
def test_zeros_that_a_lost_write_left_are_cut_off(tmp_path: Path, tail: bytes) -> None:
    with Checkpoint(tmp_path, "this") as kept:
        kept.recall("two", lambda: 2.0)
    whole = kept.path.read_bytes()
    kept.path.write_bytes(whole + tail)
    with Checkpoint(tmp_path, "this", resume=True) as kept:
        assert kept.recall("two", never) == 2.0
    assert kept.path.read_bytes() == whole
    kept.path.write_bytes(checkpoints.MARK + tail)
    with Checkpoint(tmp_path, "this", resume=True) as kept:
        assert kept.n_known == 0


def test_work_that_failed_before_its_first_answer_leaves_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="alpha"):
        mn.learn(survey(), "pc", alpha=7, checkpoint=tmp_path / "run")
    assert mn.learn(survey(), "pc", alpha=0.01, checkpoint=tmp_path / "run").cost["asked"]


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


def comparable(learned: mn.Learned) -> dict[str, Any]:
    found: dict[str, Any] = learned.to_dict()
    found["cost"].pop("seconds", None)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


METHODS = ["gsmn", "gsmn*", "gsimn", "hhc-mn", "pc", "ib", "bjp", "mpl", "pic", "l1lr", "aracne", "hillclimb", "sep"]


@pytest.mark.parametrize("method", METHODS)
def test_a_run_resumed_after_any_number_of_answers_is_the_whole_run(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = survey(n=6)
    expected = comparable(mn.learn(data, method))
    monkeypatch.setattr(checkpoints, "FLUSH_SECONDS", 0.0)
    recall = Checkpoint.recall
    left = 0

    class Killed(BaseException):
        """The power failed."""

    def dying(self: Checkpoint, question: object, find: Any) -> Any:
        def found() -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return find()

        return recall(self, question, found)

    monkeypatch.setattr(Checkpoint, "recall", dying)
    for attempt in range(200):
        left = attempt + 1
        try:
            learned = mn.learn(data, method, checkpoint=tmp_path, resume=attempt > 0)
        except Killed:
            continue
        assert comparable(learned) == expected
        assert attempt > 0
        break
    else:
        pytest.fail("never came to an end")
    left = 0
    assert comparable(mn.learn(data, method, checkpoint=tmp_path, resume=True)) == expected  # all from the file


def test_continuous_variables_are_kept_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 5))
    values[:, 1] += values[:, 0]
    table = {f"v{k}": values[:, k] for k in range(5)}
    expected = comparable(mn.learn(table, "gsimn"))
    for resume in (False, True):
        assert comparable(mn.learn(table, "gsimn", checkpoint=tmp_path / "gsimn", resume=resume)) == expected
    expected = comparable(mn.learn(table, "hillclimb", score="ebic"))
    for resume in (False, True):
        kept = mn.learn(table, "hillclimb", score="ebic", checkpoint=tmp_path / "ebic", resume=resume)
        assert comparable(kept) == expected


def test_other_data_or_settings_are_refused(tmp_path: Path) -> None:
    mn.learn(survey(), "mpl", checkpoint=tmp_path)
    others: list[tuple[Dataset, str, dict[str, Any]]] = [
        (survey(seed=1), "mpl", {}),
        (survey(), "pic", {}),
        (survey(), "mpl", {"prior_cell": 1.0}),
    ]
    for data, method, options in others:
        with pytest.raises(FileError, match="checkpoint must be of the same data and settings"):
            mn.learn(data, method, checkpoint=tmp_path, resume=True, **options)
    with pytest.raises(InputError, match="resume needs a checkpoint to continue from; got none"):
        mn.learn(survey(), "mpl", resume=True)


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
from mnlearn.statistics import Counts
from mnlearn.data import Dataset

checkpoint.FLUSH_SECONDS = 0.02
{getsource(survey)}
for name in ("reduce", "reduce_many", "members", "without", "local"):
    def slow(self, *args, _inside=getattr(Counts, name)):
        time.sleep(0.03)
        return _inside(self, *args)
    setattr(Counts, name, slow)
mn.learn(survey(20, 3), sys.argv[2])  # everything is imported now
print("ready", flush=True)
learned = mn.learn(survey(), sys.argv[2], checkpoint=sys.argv[1], resume=True)
found = learned.to_dict()
found["cost"].pop("seconds", None)
print(json.dumps(found), flush=True)
"""


@pytest.mark.parametrize("method", ["bjp", "gsimn"])
def test_killed_at_random_moments_nothing_is_lost(tmp_path: Path, method: str) -> None:
    expected = comparable(mn.learn(survey(), method))
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
    assert kept[-1] > 100  # answers were kept from run to run
    done = subprocess.run(program, capture_output=True, env=environment, check=True, text=True)
    assert json.loads(done.stdout.splitlines()[-1]) == expected


def test_a_walk_over_sets_that_is_stopped_is_not_kept_as_a_whole_one(tmp_path: Path) -> None:
    data = survey(n=40)
    expected = comparable(mn.learn(data, "pc", alpha=0.2))
    stopped = mn.learn(data, "pc", alpha=0.2, checkpoint=tmp_path, monitor=Stopping(2))
    assert not stopped.converged
    assert comparable(mn.learn(data, "pc", alpha=0.2, checkpoint=tmp_path, resume=True)) == expected


def test_a_walk_over_no_variables_finds_nothing(tmp_path: Path) -> None:
    counts = Counts(Dataset.from_codes([[0, 1] * 9, [0, 1] * 9, [0, 0, 1] * 6]))
    inside, test = counts.subsets(kernels.chi2(), -3.0), (kernels.chi2(), -3.0)
    pairs = ~np.eye(3, dtype=bool)
    with Checkpoint(tmp_path, "work") as checkpoint:
        level = SetLevel(1, pairs, pairs.copy(), np.full((3, 3), np.nan))
        found = CheckpointedSubsets(inside, checkpoint, test).separate(level, range(2, 2), lambda _: True)
    assert found is not None
    assert (found.sets.shape, found.asked, found.finished) == ((0, 3), 0, True)
    assert level.left.tolist() == pairs.tolist()


def test_copies_of_variables_are_known_with_a_checkpoint(tmp_path: Path) -> None:
    first = [0, 0, 1, 1] * 40
    nearly = [1, *first[1:]]
    data = {"a": first, "b": first, "c": nearly}
    plain = mn.learn(data, "sep")
    stored = mn.learn(data, "sep", checkpoint=tmp_path)
    assert stored.graph == plain.graph
    assert stored.result.support == plain.result.support
