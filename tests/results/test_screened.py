"""Saved screens: written and read to the bit; damaged, foreign and newer files are refused."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.errors import FileError, InputError, UnknownNameError

NAMES = [f"größe {k}" for k in range(30)]


@pytest.fixture(scope="module")
def screened() -> mn.Screened:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (30, 200))
    columns[1::2] = np.where(rng.random((15, 200)) < 0.7, columns[::2], columns[1::2])
    return mn.screen({name: column.tolist() for name, column in zip(NAMES, columns, strict=True)}, k=3)


def test_round_trip(screened: mn.Screened, tmp_path: Path) -> None:
    screened.save(tmp_path / "screen.mns")
    again = mn.load_screen(tmp_path / "screen.mns")
    assert again.names == screened.names
    assert (again.rule, again.n_rows, again.least) == (screened.rule, screened.n_rows, screened.least)
    for name in ("starts", "partners", "evidence"):
        one, other = getattr(again.partners, name), getattr(screened.partners, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    again.save(tmp_path / "twice.mns")
    assert (tmp_path / "twice.mns").read_bytes() == (tmp_path / "screen.mns").read_bytes()


@pytest.mark.parametrize("place", [0, 9, 13, 40, -200, -5, -1])
def test_any_damaged_byte_is_found(screened: mn.Screened, tmp_path: Path, place: int) -> None:
    path = tmp_path / "screen.mns"
    screened.save(path)
    content = bytearray(path.read_bytes())
    content[place] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(FileError, match="path must be"):
        mn.load_screen(path)


@pytest.mark.parametrize("length", [0, 8, 15, 100, -1])
def test_cut_files_are_refused(screened: mn.Screened, tmp_path: Path, length: int) -> None:
    path = tmp_path / "screen.mns"
    screened.save(path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(FileError, match="path must be"):
        mn.load_screen(path)


def test_newer_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "screen.mns"
    path.write_bytes(b"MNSCREEN" + struct.pack("<II", 99, 0) + b"0000")
    with pytest.raises(FileError, match="version 99"):
        mn.load_screen(path)
    for header in (b"{}", b"[]", b"nonsense", b'{"names": ["a"], "entries": 4}'):
        content = b"MNSCREEN" + struct.pack("<II", 1, len(header)) + header
        path.write_bytes(content + struct.pack("<I", zlib.crc32(content)))
        with pytest.raises(FileError, match="is not one"):
            mn.load_screen(path)
    with pytest.raises(FileError, match="there is no"):
        mn.load_screen(tmp_path / "absent.mns")


def rewritten(path: Path, header: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> None:
    """Write a screen with a right checksum."""
    text = json.dumps(header).encode()
    content = b"MNSCREEN" + struct.pack("<II", 1, len(text)) + text + b"".join(array.tobytes() for array in arrays)
    path.write_bytes(content + struct.pack("<I", zlib.crc32(content)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _, arrays: arrays[1].__setitem__(0, 0), "not in order"),
        (lambda _, arrays: arrays[1].__setitem__(0, arrays[1][1]), "not in order"),
        (lambda _, arrays: arrays[1].__setitem__(slice(2), arrays[1][1::-1].copy()), "not in order"),
        (lambda _, arrays: arrays[1].__setitem__(-1, 30), "not a variable"),
        (lambda _, arrays: arrays[0].__setitem__(1, -1), "do not follow"),
        (lambda _, arrays: arrays[2].__setitem__(0, np.nan), "evidence"),
        (lambda _, arrays: arrays[2].__setitem__(0, 1e9), "evidence"),
        (lambda header, _: header.update(names="".join(chr(65 + k) for k in range(30))), "names"),
        (lambda header, _: header.update(n_rows=float("inf")), "number of the header"),
        (lambda header, _: header.update(n_rows=-1), "number of the header"),
        (lambda header, _: header.update(least=float("nan")), "number of the header"),
        (lambda header, _: header.update(complete="no"), "does not fit"),
        (lambda header, _: header.update(rule={"k": 0}), "k must be"),
    ],
)
def test_lists_that_no_screen_has_are_refused(
    screened: mn.Screened,
    tmp_path: Path,
    change: Callable[[dict[str, Any], list[np.ndarray[Any, Any]]], None],
    says: str,
) -> None:
    path, lists = tmp_path / "screen.mns", screened.partners
    screened.save(path)
    (length,) = struct.unpack_from("<I", path.read_bytes(), 12)
    header = json.loads(path.read_bytes()[16 : 16 + length])
    arrays: list[np.ndarray[Any, Any]] = [lists.starts.copy(), lists.partners.copy(), lists.evidence.copy()]
    rewritten(path, header, arrays)
    mn.load_screen(path)
    change(header, arrays)
    rewritten(path, header, arrays)
    with pytest.raises(FileError, match=says):
        mn.load_screen(path)


def test_views(screened: mn.Screened) -> None:
    table = screened.pairs("pyarrow").to_pylist()
    assert len(table) == screened.n_pairs
    values = [row["evidence"] for row in table]
    assert values == sorted(values, reverse=True)
    assert screened.pairs("pyarrow", top=2).to_pylist() == table[:2]
    matrix = screened.to_scipy()
    np.testing.assert_array_equal(matrix.toarray(), matrix.toarray().T)
    first = table[0]
    assert matrix[NAMES.index(first["u"]), NAMES.index(first["v"])] == first["evidence"]
    assert screened.strongest(first["u"])[0] == (first["v"], first["evidence"])
    network = screened.graph(threshold=values[4])
    assert {tuple(sorted((u, v))) for u, v, _ in network.named_edges()} == {
        tuple(sorted((row["u"], row["v"]))) for row in table[:5]
    }
    assert len(screened.candidates().keys) == screened.n_pairs
    assert "30 variables" in repr(screened)
    assert first["u"] in str(screened)


def test_bad_arguments(screened: mn.Screened, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        screened.strongest("v99")
    with pytest.raises(InputError, match="threshold"):
        screened.graph(threshold="high")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="top"):
        screened.pairs(top=0)
    with pytest.raises(FileError, match="cannot be written"):
        screened.save(tmp_path / "absent" / "screen.mns")
