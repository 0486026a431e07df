"""Packed files with right checksums and wrong contents: refused by name, never trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from fuzz.packs import PackParts, take_apart
from mnlearn import _core
from mnlearn.data import Dataset, pack, read
from mnlearn.data import packs as pack_format
from mnlearn.errors import FileError, InputError
from mnlearn.statistics import Counts

N_ROWS = 130  # two words and two rows
Change = Callable[[PackParts], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PackParts]:
    """Packs of categories, of categories with repeats, of numbers, and of all kinds with gaps."""
    folder, rng = tmp_path_factory.mktemp("packs"), np.random.default_rng(3)
    codes = Dataset.from_codes([rng.integers(0, card, N_ROWS) for card in (2, 3, 4, 300)], cards=(2, 3, 4, 300))
    pack(codes, folder / "codes.mnpack")
    pack(codes.compact(), folder / "repeats.mnpack")
    pack({"a": rng.normal(size=N_ROWS), "b": rng.normal(size=N_ROWS)}, folder / "numbers.mnpack")
    holes: dict[str, Any] = {
        "size": [None, *rng.integers(0, 3, N_ROWS - 1).tolist()],
        "visits": [None, *rng.poisson(2, N_ROWS - 1).tolist()],
        "dose": [None, *rng.normal(size=N_ROWS - 1).tolist()],
        "group": rng.integers(0, 2, N_ROWS),
    }
    pack(holes, folder / "gaps.mnpack", missing="testwise", types={"size": "ordinal", "visits": "count"})
    return {kind: take_apart(folder / f"{kind}.mnpack") for kind in ("codes", "repeats", "numbers", "gaps")}


def written(tmp_path: Path, parts: PackParts, change: Change | None = None) -> Path:
    """Return a crafted file."""
    crafted = parts.copy()
    if change is not None:
        change(crafted)
    path = tmp_path / "crafted.mnpack"
    path.write_bytes(bytes(crafted))
    return path


def patched(name: str, place: int, value: bytes) -> Change:
    """Return a change of some bytes of a part."""

    def change(parts: PackParts) -> None:
        old = parts.content[name]
        at = place % len(old)
        parts.content[name] = old[:at] + value + old[at + len(value) :]

    return change


def described(*keys: Any, to: Any) -> Change:
    """Return a change of one value of the description."""

    def change(parts: PackParts) -> None:
        where = parts.described
        for key in keys[:-1]:
            where = where[key]
        where[keys[-1]] = to

    return change


def section(name: str, to: Any) -> Change:
    """Return a change of a position, by default to none."""
    return lambda parts: parts.changed.update({name: to})


def preamble(place: int, to: int) -> Change:
    """Return a change of a number of the preamble."""
    return lambda parts: parts.preamble.update({place: to})


def test_what_is_taken_apart_is_put_together(tmp_path: Path, sound: dict[str, PackParts]) -> None:
    for kind, parts in sound.items():
        data = read(written(tmp_path, parts))
        assert data.n_rows == N_ROWS
        assert (data.repeats is not None) == (kind == "repeats")


BROKEN_DESCRIPTIONS: dict[str, Change] = {
    "no rows": described("n_records", to=0),
    "more rows": described("n_records", to=10**12),
    "half a row": described("n_records", to=130.5),
    "true rows": described("n_records", to=True),
    "no variables": described("variables", to=[]),
    "fewer variables": lambda parts: parts.described["variables"].pop(),
    "variables by name": described("variables", to={"a": 1}),
    "a name twice": described("variables", 1, "name", to="x0"),
    "a number as a name": described("variables", 1, "name", to=7),
    "a lone surrogate": described("variables", 1, "name", to="\ud800"),
    "a label twice": described("variables", 0, "levels", to=["a", "a"]),
    "one and true": described("variables", 0, "levels", to=[1, True]),
    "a list as a label": described("variables", 0, "levels", to=["a", []]),
    "an object as a label": described("variables", 0, "levels", to=["a", {"pickle": "x"}]),
    "NaN as a label": described("variables", 0, "levels", to=["a", float("nan")]),
    "a bad decimal": described("variables", 0, "levels", to=["a", {"decimal": "x"}]),
    "a signalling decimal": described("variables", 0, "levels", to=["a", {"decimal": "sNaN"}]),
    "a long time": described("variables", 0, "levels", to=["a", {"timedelta": [10**300]}]),
    "no levels": described("variables", 0, "levels", to=[]),
    "a string as levels": described("variables", 0, "levels", to="ab"),
    "too many levels": described("variables", 3, "levels", to=list(range(70_000))),
    "fewer levels": described("variables", 1, "levels", to=["a", "b"]),
    "declared in words": described("variables", 0, "declared", to="no"),
    "an unknown policy": described("missing", "policy", to="guess"),
    "missing counts as a list": described("missing", "counts", to=[1]),
    "negative missing counts": described("missing", "counts", to={"x0": -1}),
    "cuts of another variable": described("cuts", to={"z": [1.0]}),
    "descending cuts": described("cuts", to={"x0": [2.0, 1.0]}),
    "cuts in words": described("cuts", to={"x0": ["a"]}),
    "huge cuts": described("cuts", to={"x0": [10**400]}),
    "fewer totals": described("plane_totals", to=[1]),
    "negative totals": described("plane_totals", 0, to=-1),
    "totals above all rows": described("plane_totals", 0, to=N_ROWS + 1),
    "totals above 32 bits": described("plane_totals", 0, to=2**40),
    "no missing values": lambda parts: parts.described.pop("missing"),
    "a list": lambda parts: setattr(parts, "described", [1, 2]),
    "no JSON": lambda parts: setattr(parts, "described", b"{"),
    "not UTF-8": lambda parts: setattr(parts, "described", b'{"\xff": 1}'),
    "deep JSON": lambda parts: setattr(parts, "described", b"[" * 100_000),
    "many digits": lambda parts: setattr(parts, "described", b'{"n_records": ' + b"9" * 5000 + b"}"),
    "a key twice": lambda parts: setattr(parts, "described", b'{"n_records": 1, "n_records": 2}'),
    "an unknown kind": described("variables", 0, "kind", to="ordered"),
    "a list as a kind": described("variables", 0, "kind", to=["ordinal"]),
    "a count with levels": described("variables", 0, "kind", to="count"),
    "gaps in words": described("variables", 0, "gaps", to="yes"),
    "gaps beside planes": described("variables", 0, "gaps", to=True),
    "gaps that need two bytes": lambda parts: parts.described["variables"][0].update(
        {"gaps": True, "levels": list(range(256))}
    ),
    "a number as a reason": described("variables", 0, "reason", to=7),
    "a section less": section("column 1", None),
    "a section of two numbers": section("column 1", [4096, 130]),
    "a section outside": section("column 1", [2**40, 130, 0]),
    "a section before the file": section("column 1", [-4096, 130, 0]),
    "a section over the preamble": section("column 1", [0, 130, 0]),
    "sections that overlap": section("column 1", [4096, 130, 0]),
    "a section that is not aligned": section("column 3", [4 * 4096 + 1, 260, 0]),
    "planes apart": section("planes 0", [4096 * 10, 192, 0]),
    "a longer section": section("column 1", [8192, 131, 0]),
    "a shorter file": preamble(5, 100),
    "a description before the file": preamble(3, 0),
    "a description behind the file": preamble(3, 2**63),
    "a long description": preamble(4, 2**63 - 1),
    "version 0": preamble(1, 0),
}


@pytest.mark.parametrize("what", BROKEN_DESCRIPTIONS)
def test_a_description_that_does_not_fit_is_refused(tmp_path: Path, sound: dict[str, PackParts], what: str) -> None:
    path = written(tmp_path, sound["codes"], BROKEN_DESCRIPTIONS[what])
    with pytest.raises(FileError, match=r"crafted\.mnpack.*(Pack|pack) the data again"):
        read(path)


BROKEN_VALUES: dict[str, tuple[str, Change]] = {
    "a code beyond its levels": ("codes", patched("column 0", 5, b"\2")),
    "a last code beyond its levels": ("codes", patched("column 2", -1, b"\xff")),
    "a code of two bytes": ("codes", patched("column 3", 10, b"\xff\xff")),
    "no repeats": ("repeats", patched("repeats", 0, bytes(8))),
    "negative repeats": ("repeats", patched("repeats", 8, b"\xff" * 8)),
    "repeats that overflow": ("repeats", patched("repeats", 8, b"\xff" * 7 + b"\x7f")),
    "NaN": ("numbers", patched("column 0", 8, np.float64(np.nan).tobytes())),
    "a code beyond a gap": ("gaps", patched("column 0", 5, b"\4")),
    "a gap in a complete column": ("gaps", patched("column 3", 5, b"\2")),
    "half a count": ("gaps", patched("column 1", 8, np.float64(0.5).tobytes())),
    "a negative count": ("gaps", patched("column 1", 8, np.float64(-1).tobytes())),
    "an infinite count": ("gaps", patched("column 1", 8, np.float64(np.inf).tobytes())),
    "infinity beside gaps": ("gaps", patched("column 2", 8, np.float64(np.inf).tobytes())),
    "infinity": ("numbers", patched("column 1", -8, np.float64(np.inf).tobytes())),
}


@pytest.mark.parametrize("at_once", [pack_format.AT_ONCE, 0], ids=["small", "large"])
@pytest.mark.parametrize("what", BROKEN_VALUES)
def test_values_beyond_their_range_are_refused(
    tmp_path: Path, sound: dict[str, PackParts], what: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_format, "AT_ONCE", at_once)
    kind, change = BROKEN_VALUES[what]
    path = written(tmp_path, sound[kind], change)
    with pytest.raises(FileError, match=r"break a rule of data sets in (column|repeats)"):
        read(path).verify()


def test_kinds_and_gaps_come_back(tmp_path: Path, sound: dict[str, PackParts]) -> None:
    data = read(written(tmp_path, sound["gaps"]))
    assert data.kinds == ("ordinal", "count", "continuous", "nominal")
    assert data.gaps == {"size", "visits", "dose"}
    with pytest.raises(FileError, match=r"has 0 levels|is of the kind 'ordinal'"):
        read(written(tmp_path, sound["gaps"], described("variables", 2, "kind", to="ordinal")))


def test_only_packs_with_kinds_or_gaps_need_a_new_reader(tmp_path: Path) -> None:
    plain, kinds = tmp_path / "a.mnpack", tmp_path / "b.mnpack"
    pack({"a": [1, 2, 1], "b": [0, 1, 1]}, plain)
    pack({"a": [1, 2, 1], "b": [0, 1, 1]}, kinds, types={"a": "ordinal"})
    assert [int.from_bytes(path.read_bytes()[8:12], "little") for path in (plain, kinds)] == [1, 2]


BROKEN_PLANES: dict[str, Change] = {
    "totals": described("plane_totals", 0, to=1),
    "totals of a last plane": described("plane_totals", -1, to=130),
    "a bit": patched("planes 0", 0, b"\xff" * 8),
    "states that are not disjoint": patched("planes 0", 0, b"\xff" * 64),
    "rows beyond the last": patched("planes 0", 64 * 2, b"\xff" * 8),
    "a lane without a plane": patched("planes 0", 8 * 7, b"\1"),
    "everything": patched("planes 0", 0, b"\xff" * 192),
}


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("what", BROKEN_PLANES)
def test_planes_that_are_not_those_of_the_codes_are_refused(
    tmp_path: Path, sound: dict[str, PackParts], what: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNLEARN_CORE", level)
    path = written(tmp_path, sound["codes"], BROKEN_PLANES[what])
    with pytest.raises(FileError, match=r"bit-planes in .*crafted\.mnpack are not those of its codes"):
        Counts(read(path))


@pytest.mark.parametrize("method", ["mpl", "sep", "gsmn", "pc", "ib", "mbs", "aracne", "pic"])
def test_no_method_counts_crafted_planes(tmp_path: Path, sound: dict[str, PackParts], method: str) -> None:
    path = written(tmp_path, sound["codes"], described("plane_totals", to=[129, 1, 129, 129, 1, 129]))
    with pytest.raises(FileError, match="bit-planes"):
        mn.learn(path, method=method)


def test_planes_across_blocks_are_compared(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = Dataset.from_codes([rng.integers(0, card, 10_001) for card in (2, 9, 5, 9, 2)], cards=(2, 9, 5, 9, 2))
    parts = take_apart(pack(data, tmp_path / "t.mnpack").pack.path)  # type: ignore[union-attr]
    Counts(read(written(tmp_path, parts)))
    for group in (name for name in parts.content if name.startswith("planes")):
        for place in rng.integers(0, len(parts.content[group]), 20).tolist():
            byte = parts.content[group][place] ^ 1
            with pytest.raises(FileError, match="bit-planes"):
                Counts(read(written(tmp_path, parts, patched(group, place, bytes([byte])))))


def test_the_core_refuses_columns_that_do_not_fit() -> None:
    codes, zeros = np.array([0, 1, 1], dtype=np.uint8), np.zeros(3, dtype=np.int64)
    for cards, repeats, n_records in (([2], zeros, 3), ([2], zeros[:2], 3), ([2**31], None, 3), ([1], None, 3)):
        with pytest.raises(InputError, match="must"):
            _core.Store([codes], cards, repeats, n_records)
    with pytest.raises(InputError, match="same number of rows"):
        _core.Store([], [], zeros, 2)
