"""Packed files: equal to the result of `read`, checked when they are opened."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.tables import assert_same
from mnlearn.data import Dataset, missing, pack, pack_writer, read
from mnlearn.data import packs as pack_format
from mnlearn.data.packs import NO_PLANE, plane_layout
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, UnknownNameError
from profiles import few


def frame(n_rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "letter": rng.choice(["b", "a", "ö"], n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "many": np.char.mod("m%03d", rng.integers(0, 600, n_rows)),
            "height": rng.normal(size=n_rows),
        }
    )


def plane_bits(data: Dataset) -> dict[tuple[int, int], list[bool]]:
    """Return every plane of a pack by a slow reference: (variable, state) to its rows."""
    assert data.pack is not None
    assert data.pack.planes is not None
    words = -(-data.n_records // 64)
    lanes = data.pack.planes.reshape(-1, words, 8)
    found = {}
    for variable, first in enumerate(plane_layout(data.cards).first):
        for state in range(data.cards[variable] - 1) if first != NO_PLANE else ():
            plane = first + state
            bits = [(int(lanes[plane // 8, row // 64, plane % 8]) >> (row % 64)) & 1 for row in range(words * 64)]
            assert not any(bits[data.n_records :])
            found[variable, state] = [bool(bit) for bit in bits[: data.n_records]]
    return found


@pytest.mark.parametrize("rows_together", [1, 16])
@pytest.mark.parametrize("n_rows", [2, 63, 64, 65, 1000])
def test_every_source_packs_what_read_returns(
    tmp_path: Path, n_rows: int, rows_together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "CHUNKS_TOGETHER", rows_together)
    monkeypatch.setattr("mnlearn.data.columns.BATCH_ROWS", 50)
    monkeypatch.setattr("mnlearn.data.typed.BATCH_ROWS", 50)
    monkeypatch.setattr("mnlearn.data.text.BLOCK_BYTES", 300)
    monkeypatch.setattr("mnlearn.data.text.HEADERS_PER_BLOCK", 1)
    monkeypatch.setattr(pack_writer, "BLOCK_ROWS", 70)
    table = frame(n_rows)
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    expected = read(tmp_path / "t.csv")
    sources: list[Any] = [tmp_path / "t.csv", tmp_path / "t.parquet", arrow, arrow.to_reader(40), table, expected]
    prints = set()
    for source in sources:
        packed = pack(source, tmp_path / "t.mnpack")
        assert_same(packed, expected)
        assert packed.pack is not None
        prints.add(packed.pack.fingerprint)
    assert len(prints) == 1  # equal bytes for every source


@pytest.mark.parametrize("n_rows", [2, 63, 64, 65, 200])
def test_planes_hold_the_rows_of_each_state(tmp_path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    cards = [2, 3, 9, 10, 1, 4]
    data = Dataset.from_codes([rng.integers(0, card, n_rows) for card in cards], cards=cards)
    packed = pack(data, tmp_path / "t.mnpack")
    planes = plane_bits(packed)
    assert {variable for variable, _ in planes} == {0, 1, 2, 5}
    for (variable, state), bits in planes.items():
        assert bits == (data.columns[variable] == state).tolist()
    assert packed.pack is not None
    assert packed.pack.plane_totals is not None
    assert packed.pack.plane_totals.tolist() == [sum(bits) for bits in planes.values()]


def test_no_variable_crosses_a_block_of_planes() -> None:
    layout = plane_layout([9] * 100)
    assert all(first // 512 == (first + 7) // 512 for first in layout.first)
    assert plane_layout([1, 10, 2]).first == (NO_PLANE, NO_PLANE, 0)


cells = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(cells, cells, st.integers(0, 3)), min_size=1, max_size=30),
    missing=st.sampled_from(["error", "drop_rows", "category"]),
    weighted=st.booleans(),
)
def test_missing_values_and_repeats_equal_those_of_read(
    tmp_path: Path, rows: list[tuple[Any, ...]], missing: Any, weighted: bool
) -> None:
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate("xyw")})
    pq.write_table(table, tmp_path / "t.parquet")
    options: dict[str, Any] = {"missing": missing, "repeats": "w" if weighted else None}
    try:
        expected = read(tmp_path / "t.parquet", **options)
    except DataError as error:
        with pytest.raises(DataError, match=re.escape(str(error))):
            pack(tmp_path / "t.parquet", tmp_path / "t.mnpack", **options)
        return
    packed = pack(tmp_path / "t.parquet", tmp_path / "t.mnpack", **options)
    assert_same(packed, expected)
    assert packed.missing == expected.missing


def test_many_files_a_folder_and_a_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table = frame(300)
    for k in range(3):
        part = table.iloc[100 * k : 100 * k + 100]
        (part if k != 1 else part[part.columns[::-1]]).to_csv(folder / f"part-{k}.csv", index=False)  # any order
    (folder / "_SUCCESS").touch()
    table.to_csv(tmp_path / "whole.csv", index=False)
    expected = read(tmp_path / "whole.csv")
    listed = [folder / f"part-{k}.csv" for k in range(3)]
    for source in (folder, str(folder / "part-*.csv"), listed):
        assert_same(pack(source, tmp_path / "t.mnpack"), expected)


def test_files_that_do_not_match_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n0,1\n1,0\n")
    (tmp_path / "b.csv").write_text("x,z\n0,1\n1,0\n")
    out = tmp_path / "t.mnpack"
    with pytest.raises(DataError, match=r"all files must have the same columns; .*b.csv lacks it: 'y'"):
        pack([tmp_path / "a.csv", tmp_path / "b.csv"], out)
    pq.write_table(pa.table({"x": [0, 1], "y": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["0", "1"], "y": [0, 1]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"column 'x' must have one type in all files; it is int64 .* string in"):
        pack([tmp_path / "a.parquet", tmp_path / "b.parquet"], out)
    with pytest.raises(InputError, match=r"source must be files of one kind; got text \(a.csv\) and Parquet"):
        pack([tmp_path / "a.csv", tmp_path / "a.parquet"], out)
    with pytest.raises(FileError, match=r"source must match at least one file; '.*\*.csv.gz' matches none"):
        pack(str(tmp_path / "*.csv.gz"), out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match=r"source must hold files of data; the folder .*empty has none"):
        pack(tmp_path / "empty", out)
    assert not out.exists()
    assert [p.name for p in tmp_path.iterdir() if "part" in p.name or "mnpack" in p.name] == []


def test_a_long_row_is_read_in_larger_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.data.text.BLOCK_BYTES", 64)
    monkeypatch.setattr("mnlearn.data.text.HEADERS_PER_BLOCK", 1)
    (tmp_path / "t.csv").write_text("x,y\na,b\nb,a\n" + "c" * 200 + ",a\n" + "a,b\n" * 50)
    assert_same(pack(tmp_path / "t.csv", tmp_path / "t.mnpack"), read(tmp_path / "t.csv"))


def test_labels_of_every_type_are_restored(tmp_path: Path) -> None:
    labels: list[list[Any]] = [
        [None, "a"],
        [dt.date(2020, 1, 1), dt.date(2021, 2, 3)],
        [dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC), dt.datetime(2020, 1, 2, tzinfo=dt.UTC)],
        [dt.timedelta(days=1, microseconds=3), dt.timedelta(0)],
        [b"\x00\xff", b""],
        [("a", 1), ("b", 2)],
        [True, False],
        [0.5, 1e300],
        [np.int64(3), 10**30],
    ]
    columns = tuple(np.array([0, 1, 1], dtype=np.uint8) for _ in labels)
    data = Dataset(tuple(f"v{k}" for k in range(len(labels))), (2,) * len(labels), columns, tuple(map(tuple, labels)))
    assert pack(data, tmp_path / "t.mnpack").levels == data.levels
    odd = Dataset(("x",), (2,), (columns[0],), ((frozenset({1}), frozenset({2})),))
    with pytest.raises(DataError, match=r"labels must be strings, numbers, .* got frozenset\(\{1\}\)"):
        pack(odd, tmp_path / "odd.mnpack")


def test_a_pack_and_new_rows_equal_all_rows(tmp_path: Path) -> None:
    table = frame(500)
    table["letter"] = np.where(np.arange(500) < 200, "b", table["letter"])  # new letters come later
    table.iloc[:200].to_csv(tmp_path / "one.csv", index=False)
    table.iloc[200:].to_csv(tmp_path / "two.csv", index=False)
    first = pack(tmp_path / "one.csv", tmp_path / "t.mnpack")
    both = pack([tmp_path / "t.mnpack", tmp_path / "two.csv"], tmp_path / "both.mnpack")
    whole = pack([tmp_path / "one.csv", tmp_path / "two.csv"], tmp_path / "whole.mnpack")
    assert_same(both, whole)
    assert both.pack is not None
    assert whole.pack is not None
    assert both.pack.fingerprint == whole.pack.fingerprint
    assert first.columns[0].tolist() == [0] * 200
    table.iloc[200:350].to_csv(tmp_path / "two.csv", index=False)
    table.iloc[350:].to_csv(tmp_path / "three.csv", index=False)
    for source in (
        [tmp_path / "t.mnpack", tmp_path / "two.csv", tmp_path / "three.csv"],
        [str(tmp_path / "t.mnpack"), str(tmp_path / "tw*.csv"), table.iloc[350:]],
        (tmp_path / "t.mnpack", read(tmp_path / "two.csv"), read(tmp_path / "three.csv")),
    ):
        pack(source, tmp_path / "both.mnpack")
        assert (tmp_path / "both.mnpack").read_bytes() == (tmp_path / "whole.mnpack").read_bytes()
    chosen = pack([tmp_path / "t.mnpack", tmp_path / "two.csv"], tmp_path / "both.mnpack", columns=["many", "flag"])
    assert_same(chosen, read(table.iloc[:350], columns=["many", "flag"]))


def test_a_single_row_can_be_added(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("x,y\na,0\nb,1\n", encoding="utf-8")
    (tmp_path / "one.csv").write_text("y,x\n2,a\n", encoding="utf-8")
    pack(tmp_path / "two.csv", tmp_path / "t.mnpack")
    more = pack([tmp_path / "t.mnpack", tmp_path / "one.csv"], tmp_path / "more.mnpack")
    assert [column.tolist() for column in more.columns] == [[0, 1, 0], [0, 1, 2]]
    stream = pa.table({"x": ["b"], "y": [0]}).to_reader()
    assert pack([tmp_path / "more.mnpack", stream], tmp_path / "t.mnpack").n_rows == 4
    with pytest.raises(DataError, match="data must have at least 2 rows"):
        pack(tmp_path / "one.csv", tmp_path / "t.mnpack")


def test_joining_keeps_declared_levels_and_repeats(tmp_path: Path) -> None:
    out, more_out = tmp_path / "t.mnpack", tmp_path / "more.mnpack"
    pack({"x": ["b", "a"], "y": [0, 1]}, out, levels={"x": ["b", "a"]})
    with pytest.raises(DataError, match=r"levels\['x'\] must list every value of the column; the data also hold 'c'"):
        pack([out, {"x": ["c", "a"], "y": [0, 1]}], more_out)
    with pytest.raises(DataError, match=r"column 'y' must hold one type of value in old .* got 0 and 'u'"):
        pack([out, {"x": ["a", "a"], "y": ["u", "u"]}], more_out)
    with pytest.raises(UnknownNameError, match="columns: column 'y' does not exist"):
        pack([out, {"x": ["a", "a"], "z": [0, 0]}], more_out)
    assert not more_out.exists()
    more = pack([out, {"x": ["a", "b"], "y": [1, 1], "n": [3, 4]}], more_out, repeats="n")
    assert more.levels[0] == ("b", "a")
    assert more.repeats is not None
    assert more.repeats.tolist() == [1, 1, 3, 4]
    again = pack([more_out, {"x": ["a", "b"], "y": [None, 1]}], out, missing="category")
    assert again.levels[1] == (0, 1, None)
    assert again.columns[1].tolist() == [0, 1, 1, 1, 2, 1]
    assert again.missing.counts == {"y": 1}


def test_bad_settings_are_refused(tmp_path: Path) -> None:
    table = {"x": [0, 1], "y": [0, 1]}
    with pytest.raises(FileError, match=r"out must end in .mnpack; got 't.csv'. Use 't.mnpack'"):
        pack(table, tmp_path / "t.csv")
    with pytest.raises(FileError, match="out must be in an existing folder; there is no"):
        pack(table, tmp_path / "no" / "t.mnpack")
    with pytest.raises(InputError, match=r"missing must be one of 'error', 'drop_rows', 'category', .*; got 'no'"):
        pack(table, tmp_path / "t.mnpack", missing="no")  # type: ignore[arg-type]
    pack(table, tmp_path / "t.mnpack")
    with pytest.raises(InputError, match="types cannot be applied to a Dataset or a pack"):
        pack([tmp_path / "t.mnpack", table], tmp_path / "more.mnpack", types={"x": "categorical"})
    with pytest.raises(InputError, match="types cannot be applied to a Dataset or a pack"):
        read(tmp_path / "t.mnpack", types={"x": "categorical"})
    with pytest.raises(InputError, match="delimiter is for text files; got a dict"):
        pack(table, tmp_path / "t.mnpack", delimiter=";")


class Stopped:
    """Monitor that cancels at once."""

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore it."""

    def cancelled(self) -> bool:
        return True


def test_cancelling_leaves_no_file(tmp_path: Path) -> None:
    frame(50).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(MnlearnError):
        pack(tmp_path / "t.csv", tmp_path / "t.mnpack", monitor=Stopped())
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    pack(frame(500), tmp_path / "t.mnpack")
    return tmp_path / "t.mnpack"


def test_a_file_cut_anywhere_is_refused(packed: Path) -> None:
    content = packed.read_bytes()
    rng = np.random.default_rng(0)
    for size in [0, 1, 8, 63, 64, len(content) - 1, *rng.integers(0, len(content), 30).tolist()]:
        packed.write_bytes(content[:size])
        with pytest.raises(FileError, match=r"path must be an? (intact )?pack"):
            read(packed)
    packed.write_bytes(content + b"\0")
    with pytest.raises(FileError, match="1 bytes were added to it"):
        read(packed)


@pytest.mark.parametrize("at_once", [0, 1 << 30])
def test_a_file_altered_anywhere_is_refused_before_it_is_counted(
    packed: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_format, "AT_ONCE", at_once)
    content = bytearray(packed.read_bytes())
    data = read(packed)
    assert data.pack is not None
    inside = [place for s in data.pack._sections.values() for place in (s.start, s.start + s.length - 1)]
    places = [0, 9, 20, 40, 60, len(content) - 2, *inside]
    for place in places:
        content[place] ^= 0x10
        packed.write_bytes(content)
        with pytest.raises(FileError, match="path must be a"):
            read(packed).verify()
        content[place] ^= 0x10
    packed.write_bytes(content)
    read(packed).verify()


def test_a_newer_version_is_refused_by_its_number(packed: Path) -> None:
    content = bytearray(packed.read_bytes())
    content[8] = pack_format.VERSION + 1
    packed.write_bytes(content)
    with pytest.raises(FileError, match=r"path must be a pack of version 2 or older; .* has version 3. Update mnlearn"):
        read(packed)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.mnpack").write_bytes(b"PAR1 and more")
    with pytest.raises(FileError, match=r"path must be a pack, written by mnlearn pack; .* has other first bytes"):
        read(tmp_path / "t.mnpack")
    with pytest.raises(FileError, match=r"path must be an existing file; .* Did you mean 't.mnpack'"):
        read(tmp_path / "u.mnpack")


def test_opening_reads_the_description_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.from_codes(np.random.default_rng(0).integers(0, 4, (500_000, 40)))
    pack(data, tmp_path / "t.mnpack")
    monkeypatch.setattr(pack_format, "_blocks", None)  # 25 MB are not verified at once
    opened = read(tmp_path / "t.mnpack")
    assert opened.n_rows == 500_000
    assert not opened.columns[0].flags.writeable
    with pytest.raises(TypeError):
        opened.verify()


def test_columns_are_pickled_as_a_path(packed: Path) -> None:
    data = read(packed)
    for sent in (data, data.select(["many", "letter"])):
        message = pickle.dumps(sent)
        assert len(message) < 1000
        assert_same(pickle.loads(message), sent)
    rows = data.sample(20, 0)
    assert rows.pack is None
    assert_same(pickle.loads(pickle.dumps(rows)), rows)
    message = pickle.dumps(data)
    pack(frame(501), packed)
    with pytest.raises(FileError, match=r"path must be the file that was pickled; .* was replaced since"):
        pickle.loads(message)


def test_planes_are_those_of_all_columns_in_order_only(packed: Path) -> None:
    data = read(packed)
    assert data.pack is not None
    assert data.pack.planes_of(data.columns) is not None
    assert data.pack.planes_of(data.select(["flag", "letter", "many", "height"]).columns) is None
    assert data.pack.planes_of(data.select(["letter"]).columns) is None
    assert data.pack.planes_of(tuple(column.copy() for column in data.columns)) is None


PROGRAM = """
import sys
from mnlearn.data import pack
print("ready", flush=True)
while True:
    pack(sys.argv[1], sys.argv[2])
    pack([sys.argv[3], sys.argv[1]], sys.argv[2])
"""


def test_a_killed_writer_leaves_a_complete_file(tmp_path: Path) -> None:
    frame(30_000).to_parquet(tmp_path / "t.parquet")
    out = tmp_path / "t.mnpack"
    pack(tmp_path / "t.parquet", out)
    once = shutil.copy(out, tmp_path / "once.mnpack")
    rng = np.random.default_rng(1)
    for _ in few(range(4), 1):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "t.parquet"), str(out), str(once)],
            stdout=subprocess.PIPE,
            env={**os.environ},
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0.02, 0.4))
            process.send_signal(signal.SIGKILL)
        found = read(out)
        found.verify()
        assert found.n_rows in (30_000, 60_000)


def test_packs_are_joined(tmp_path: Path) -> None:
    one, two = tmp_path / "one.mnpack", tmp_path / "two.mnpack"
    first: dict[str, list[Any]] = {"x": ["a", "c", "a"], "y": [1, 2, 1], "f": [0.5, 1.5, 2.5]}
    second: dict[str, list[Any]] = {"y": [3, 1], "f": [1.0, 2.0], "x": ["b", "c"], "more": [0, 1]}
    pack(first, one)
    pack(second, two)
    joined = {name: [*first[name], *second[name]] for name in first}
    assert_same(pack([one, two], tmp_path / "both.mnpack"), read(joined))
    thrice = read({name: [*joined[name], *second[name]] for name in first})
    assert_same(pack([one, two, read(two)], tmp_path / "all.mnpack"), thrice)
    assert_same(pack([one, two, second], tmp_path / "all.mnpack"), thrice)
    assert_same(pack([tmp_path / "both.mnpack", two], tmp_path / "all.mnpack"), thrice)
    (tmp_path / "all.mnpack").unlink()
    for name in ("both", "two"):
        (tmp_path / f"{name}.mnpack").rename(tmp_path / f"year-{name}.mnpack")
    assert_same(pack(str(tmp_path / "year-*.mnpack"), tmp_path / "all.mnpack"), thrice)


def test_a_pack_that_does_not_match_raises_the_right_error(tmp_path: Path) -> None:
    one, two, out = (tmp_path / f"{name}.mnpack" for name in ("one", "two", "out"))
    pack({"x": ["a", "b"], "y": [1, 2]}, one, levels={"x": ["b", "a"]})
    pack({"x": ["a", "c"], "y": [1, 2]}, two)
    with pytest.raises(DataError, match=r"levels\['x'\] were fixed when the first pack .* also hold 'c'"):
        pack([one, two], out)
    pack({"x": ["a", "b"], "y": [0.5, 1.5]}, two)
    with pytest.raises(DataError, match=r"column 'y' must have one type .* nominal in the first .* continuous in"):
        pack([one, two], out)
    pack({"x": ["a", "b"], "z": [1, 2]}, two)
    with pytest.raises(UnknownNameError, match="'y'"):
        pack([one, two], out)
    with pytest.raises(InputError, match="missing_values cannot be applied to a Dataset or a pack"):
        pack([one, two], out, missing_values=["?"])
    damaged = bytearray(one.read_bytes())
    damaged[4096] ^= 1
    two.write_bytes(damaged)
    with pytest.raises(FileError, match="was altered or damaged in column 0"):
        pack([one, two], out)
    assert not out.exists()
    pack({"x": ["a", "a"], "y": [3, 4]}, two)
    declared = pack([one, two], out)
    assert declared.levels == (("b", "a"), (1, 2, 3, 4))
    assert declared.pack is not None
    assert declared.pack.declared == (True, False)


@pytest.mark.parametrize("repeats", [None, "w"])
def test_a_pack_of_a_pack_is_equal_to_it(tmp_path: Path, repeats: str | None) -> None:
    one, two = tmp_path / "one.mnpack", tmp_path / "two.mnpack"
    table = {"x": ["a", None, "a", "c"], "y": [1, 2, 1, 1], "f": [0.5, 1.5, 2.5, 0.0], "w": [1, 2, 3, 4]}
    levels = {"x": ["c", "b", "a"], "y": [2, 1, 0]}
    options: dict[str, Any] = {"levels": levels, "missing": "category", "repeats": repeats}
    packed = pack(table, one, **options)
    assert packed.declared == levels.keys()
    for source in (one, str(one), [one], (str(one),), str(tmp_path / "on*.mnpack"), packed, read(table, **options)):
        assert pack(source, two).declared == levels.keys()
        assert two.read_bytes() == one.read_bytes()
    pack(table, one, columns=["f", "y"], levels={"y": [2, 1, 0]}, missing="category", repeats=repeats)
    pack(packed, two, columns=["f", "y"])
    assert two.read_bytes() == one.read_bytes()
    with pytest.raises(DataError, match=r"levels\['y'\] must list every value of the column; the data also hold 7"):
        pack([two, {"x": ["a", "a"], "y": [7, 1], "f": [1.5, 1.5], "w": [1, 1]}], one, repeats=repeats)


def test_packs_come_first_and_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        pack({"x": [0, 1], "y": [0, 1]}, tmp_path / f"{name}.mnpack")
    (tmp_path / "t.csv").write_text("x,y\n0,1\n1,0\n")
    with pytest.raises(InputError, match=r"a packed file first, .* got 'one\.mnpack' after 1 other\. Name it first"):
        pack([tmp_path / "t.csv", tmp_path / "one.mnpack"], tmp_path / "all.mnpack")
    (tmp_path / "t.csv").unlink()
    with pytest.raises(FileError, match=r"It holds packs: name one, such as 'one\.mnpack'"):
        pack(tmp_path, tmp_path / "all.mnpack")
    assert not (tmp_path / "all.mnpack").exists()
    with gzip.open(tmp_path / "t.mnpack.gz", "wb") as file:
        file.write((tmp_path / "one.mnpack").read_bytes())
    with pytest.raises(FileError, match=r"must be a pack as it was written; .* is gzipped\. Unpack it with gunzip"):
        read(tmp_path / "t.mnpack.gz")


def test_missing_values_are_treated_once(tmp_path: Path) -> None:
    table = {"x": ["a", None, "a", "c"], "y": [1, 2, 1, 1]}
    packed = pack(table, tmp_path / "t.mnpack", missing="category")
    assert read(packed, missing="category") is packed
    for source in (packed, tmp_path / "t.mnpack", read(table, missing="category")):
        with pytest.raises(InputError, match=r"missing='drop_rows' cannot be applied .* read with missing='category'"):
            read(source, missing="drop_rows")
    assert read(pack({"x": [1, 2], "y": [1, 2]}, tmp_path / "t.mnpack"), missing="drop_rows").n_rows == 2


@pytest.mark.parametrize("make", [pd.to_datetime, pd.to_timedelta])
def test_labels_that_a_file_would_change_are_refused(make: Any, tmp_path: Path) -> None:
    out = tmp_path / "t.mnpack"
    old = pack({"x": [0, 1], "y": [0, 1]}, out).fingerprint()
    with pytest.raises(DataError, match=r"labels must keep their value in a file, times in microseconds; got Time"):
        pack(pd.DataFrame({"x": make([1, 2, 3000]), "y": [1, 2, 3]}), out)
    assert read(out).fingerprint() == old
    kept = pack(pd.DataFrame({"x": make([1000, 2000, 3000]), "y": [1, 2, 3]}), out)
    assert kept.levels[0] == tuple(make([1000, 2000, 3000]))


@pytest.mark.parametrize(
    ("old", "new"),
    [([0, 1], [True, False]), ([True, False], [1, 0]), ([dt.date(2020, 1, 1)] * 2, [dt.datetime(2020, 1, 1)] * 2)],
)
def test_new_labels_of_another_type_are_refused(old: list[Any], new: list[Any], tmp_path: Path) -> None:
    out = tmp_path / "t.mnpack"
    pack({"x": old, "y": [0, 1]}, out)
    with pytest.raises(DataError, match="column 'x' must hold one type of value in old and new rows; got"):
        pack([out, {"x": new, "y": [0, 1]}], tmp_path / "more.mnpack")


def test_labels_of_several_types_can_be_joined(tmp_path: Path) -> None:
    out = tmp_path / "t.mnpack"
    pack({"x": ["a", 1], "y": [0, 1]}, out, types={"x": "categorical"})
    assert pack([out, {"x": ["a", 2], "y": [0, 1]}], tmp_path / "more.mnpack").levels[0] == (1, 2, "a")
