"""Every call that opens a file, with every kind of path that cannot be read, ends in an error of the library."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import mnlearn as mn
from mnlearn.data import overview, pack
from mnlearn.data.dataset import PROGRAM_FILES
from mnlearn.distributions.bif import read_bif
from mnlearn.errors import InputError, MissingDependencyError
from mnlearn.graphs.formats import read_graph
from mnlearn.learning.targets import load_screen
from mnlearn.model import load_model

Call = Callable[[Path], object]

TABLES = (".csv", ".tsv", ".csv.gz", ".parquet", ".mnpack", *PROGRAM_FILES)
CALLS: dict[str, tuple[Call, tuple[str, ...]]] = {
    "read": (mn.read, TABLES),
    "overview": (overview, TABLES),
    "pack": (lambda path: pack(path, path.with_name("out.mnpack")), TABLES),
    "learn": (lambda path: mn.learn(path, "mpl"), TABLES),
    "screen": (mn.screen, (".csv", ".mnpack", ".xlsx", ".sav")),
    "load": (mn.load, (".json", "")),
    "load_model": (load_model, ("",)),
    "read_bif": (read_bif, (".bif",)),
    "load_screen": (load_screen, (".mns",)),
    "read_graph": (read_graph, (".graphml", ".gexf", ".edges", ".csv", ".txt")),
    "checkpoint": (lambda path: mn.screen({"a": [0, 1] * 9, "b": [0, 1] * 9}, checkpoint=path, resume=True), ("",)),
}

BAD: dict[str, Callable[[Path], object]] = {
    "missing": os.fspath,
    "empty": lambda path: path.write_bytes(b""),
    "a folder": lambda path: path.mkdir(),
    "a dangling link": lambda path: path.symlink_to(path.with_name("gone")),
    "a link to itself": lambda path: path.symlink_to(path),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 8),
    "zeros": lambda path: path.write_bytes(bytes(4096)),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    ("call", "suffix"), [(call, suffix) for call, (_, suffixes) in CALLS.items() for suffix in suffixes]
)
def test_what_cannot_be_read_is_refused(call: str, suffix: str, bad: str, tmp_path: Path) -> None:
    path = tmp_path / f"bad{suffix}"
    if (call, bad) == ("checkpoint", "a folder"):
        pytest.skip("an empty folder is a checkpoint that has just begun")
    BAD[bad](path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(InputError) as caught:
        CALLS[call][0](path)
    assert not isinstance(caught.value, MissingDependencyError)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("path", ["a\0b.csv", "a" * 5000 + ".csv", "\ud800.csv", ""])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_path_is_refused(call: str, path: str) -> None:
    opened: Callable[[str], object] = CALLS[call][0]  # type: ignore[assignment]
    if call == "pack":
        with pytest.raises(InputError):
            pack(path, "out.mnpack")
        return
    with pytest.raises(InputError):
        opened(path)
