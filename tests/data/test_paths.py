"""Paths of files to read: every reader names what is wrong with a path, and none waits for a pipe."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import mnlearn as mn
from mnlearn.cli.app import main
from mnlearn.data import parquet
from mnlearn.data import text as csv_reader
from mnlearn.data import text_errors as csv_errors
from mnlearn.errors import DataError, FileError, InputError, MnlearnError
from mnlearn.simulate import read_bif

READERS: dict[str, tuple[Callable[[Any], object], str]] = {
    "csv": (mn.read, "t.csv"),
    "gzip": (mn.read, "t.csv.gz"),
    "parquet": (mn.read, "t.parquet"),
    "pack": (mn.read, "t.mnpack"),
    "overview": (mn.overview, "t.csv"),
    "graph": (mn.read_graph, "t.graphml"),
    "result": (mn.load, "t.json"),
    "model": (mn.load_model, "model"),
    "bif": (read_bif, "t.bif"),
    "truth": (lambda path: mn.score({"a": [0, 1], "b": [0, 1]}, path), "t.json"),
}
NOT_FILES = {name: reader for name, reader in READERS.items() if name != "model"}


def refused(reader: str, path: object) -> str:
    with pytest.raises(MnlearnError) as error:
        READERS[reader][0](path)
    return str(error.value)


@pytest.mark.parametrize("reader", READERS)
def test_nothing_is_there(reader: str, tmp_path: Path) -> None:
    name = READERS[reader][1]
    (tmp_path / f"u{name[1:]}").touch()
    said = refused(reader, tmp_path / name)
    if reader == "model":
        assert f"{str(tmp_path / name)!r} has no model.json. Make one" in said
    else:
        assert f"there is no {tmp_path / name}. Did you mean 'u{name[1:]}'?" in said


@pytest.mark.parametrize("reader", READERS)
def test_a_link_to_nothing_is_named(reader: str, tmp_path: Path) -> None:
    path = tmp_path / READERS[reader][1]
    path.symlink_to(tmp_path / "gone")
    assert f"{path} is a link to {tmp_path / 'gone'}, where there is nothing. Correct the link" in refused(reader, path)
    around = path.with_name(f"2{path.name}")
    around.symlink_to(around)
    assert "is a link to" in refused(reader, around)


@pytest.mark.parametrize("reader", NOT_FILES)
def test_folders_pipes_and_devices(reader: str, tmp_path: Path) -> None:
    folder, pipe = tmp_path / READERS[reader][1], tmp_path / f"pipe_{READERS[reader][1]}"
    folder.mkdir()
    assert "is a directory" in refused(reader, folder)
    os.mkfifo(pipe)
    assert "is a pipe or a device. Save it to disk first" in refused(reader, pipe)
    device = tmp_path / f"device_{READERS[reader][1]}"
    device.symlink_to("/dev/null")
    assert "is a pipe or a device" in refused(reader, device)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("path", ["", "a\0b", 3, None, object(), 1.5, ["x"]])
def test_what_is_no_path_is_refused(reader: str, path: object) -> None:
    assert refused(reader, path)


@pytest.mark.parametrize("reader", READERS)
def test_empty_and_binary_files(reader: str, tmp_path: Path) -> None:
    path = tmp_path / READERS[reader][1]
    for content in (b"", b"\x00" * 100, bytes(range(256)), b"\x1f\x8b" + b"x" * 50, "a,b\n1,2\n".encode("utf-16")):
        path.write_bytes(content)
        assert refused(reader, path)


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n2,3\n")
    assert mn.read(path).names == ("a", "b")


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    assert mn.read(tmp_path / "link.csv").n_rows == 2


FAULTS: dict[str, tuple[BaseException, str]] = {
    "arrow": (pa.ArrowMemoryError("malloc of size 64 failed"), "must fit into memory; there is not enough of it"),
    "python": (MemoryError(), "must fit into memory; there is not enough of it"),
    "system": (OSError(errno.ENOMEM, "Cannot allocate memory"), "must fit into memory"),
    "disk": (OSError(errno.ENOSPC, "No space left on device"), "No space left on device. Check the disk"),
    "drive": (OSError(errno.EIO, "Input/output error"), "Input/output error. Check the disk"),
}


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_of_the_system_is_not_blamed_on_the_file(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error, said = FAULTS[fault]
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n2,3\n")
    with gzip.open(tmp_path / "t.csv.gz", "wt") as packed:
        packed.write("a,b\n1,2\n2,3\n")
    for place, name in ((csv_reader, "_open_reader"), (csv_errors, "_open_bytes")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, failing(error))
            for file in (path, path.with_suffix(".csv.gz")):
                with pytest.raises(InputError, match=said) as found:
                    mn.read(file)
                assert "must be delimited text" not in str(found.value)
                assert "intact" not in str(found.value)
            assert main(["info", str(path)]) == 2
            assert "This is a bug" not in capsys.readouterr().err


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("part", ["table", "batches"])
def test_nor_on_a_parquet_file(part: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error, said = FAULTS[fault]
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), path)
    monkeypatch.setattr(parquet.ParquetSource, part, failing(error))
    if part == "batches":
        monkeypatch.setattr(parquet, "batch_rows", lambda _: 1)
    with pytest.raises(FileError, match=said):
        mn.read(path)


def test_memory_that_runs_out_on_data_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.data.missing._cleaned", failing(MemoryError()))
    with pytest.raises(DataError, match=r"source must fit into memory; .* to read a ndarray\. Read fewer columns"):
        mn.read(np.zeros((4, 2), dtype=int))
