"""Delimited text: all cells of a column decide its type, independent of the blocks of the file."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.tables import assert_same, write_text
from mnlearn.data import read
from mnlearn.data import text as csv
from mnlearn.data.text import Kind, kind_of
from mnlearn.errors import DataError, FileError, MnlearnError

BLOCKS = [8, 16, 64, 1 << 20]


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """Read files in blocks of this many bytes."""
    monkeypatch.setattr(csv, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(csv, "HEADERS_PER_BLOCK", 1)
    return int(request.param)


def column(folder: Path, cells: list[str], **options: object) -> tuple[Hashable, ...] | list[float] | None:
    """Read a file with one column of these cells, and return its levels or its numbers."""
    text = "a,b\n" + "".join(f"{cell},{k % 2}\n" for k, cell in enumerate(cells))
    data = read(write_text(folder, text), **options)  # type: ignore[arg-type]
    return data.levels[0] if data.levels[0] is not None else [float(value) for value in data.columns[0]]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        *((cell, Kind.WHOLE) for cell in ("0", "-1", "+7", "007")),
        *((cell, Kind.DECIMAL) for cell in ("1.5", ".5", "1.", "-1e5", "1E-3")),
        *((cell, Kind.FLAG) for cell in ("true", "FALSE", "True")),
        *((cell, Kind.DOUBT) for cell in ("NA", "N/A", "null", "<NA>")),
        *((cell, Kind.WORD) for cell in ("a", "1.2.3", "e5", "none", "-", "٣")),
        ("NaN", Kind.NAN),
        ("-Infinity", Kind.INFINITE),
        *((cell, Kind.NOTATION) for cell in ("3,14", "1_000", "0x10", "1,234.5", "1.234.567")),
    ],
)
def test_kinds_of_cells(cell: str, kind: Kind) -> None:
    assert kind_of(cell) is kind


@pytest.mark.parametrize("block", BLOCKS, indirect=True)
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"] * 20, (1, 2)),
        (["10", "9"] * 20, (9, 10)),
        (["1"] * 40 + ["2.5"], [1.0] * 40 + [2.5]),
        (["2.5"] + ["1"] * 40, [2.5] + [1.0] * 40),
        (["true", "FALSE"] * 20, (False, True)),
        (["true"] * 40 + ["maybe"], ("maybe", "true")),
        (["+1", "1", "01", "2"] * 10, (1, 2)),
        (["é", "日本", "a"] * 10, ("a", "é", "日本")),
        (['"two\nlines"', '"with, comma"', '"with ""quotes"""'] * 9, ("two\nlines", 'with "quotes"', "with, comma")),
    ],
)
def test_types_hold_for_blocks_of_any_size(block: int, cells: list[str], expected: object, tmp_path: Path) -> None:
    assert column(tmp_path, cells) == expected


@pytest.mark.parametrize("block", BLOCKS, indirect=True)
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1"] * 40 + ["word"], r"numbers \('1', data row 1\) and text \('word', data row 41\)"),
        (["word"] * 40 + ["1"], r"text \('word', data row 1\) and numbers \('1', data row 41\)"),
        (["1.5"] * 40 + ["word"], r"numbers \('1.5', data row 1\) and text \('word', data row 41\)"),
        (["1"] * 20 + ["1.5"] * 20 + ["true"], r"numbers \('1', data row 1\) and text \('true', data row 41\)"),
    ],
)
def test_mixtures_are_found_in_blocks_of_any_size(block: int, cells: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        column(tmp_path, cells)
    assert column(tmp_path, cells, types={"a": "categorical"}) == tuple(sorted(set(cells)))


CELLS = st.sampled_from(["1", "2", "-3", "0.5", "1e3", "x", "true", "", "?", "NA", "nan", " 1", "inf"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120, deadline=None)
@given(
    cells=st.lists(CELLS, min_size=2, max_size=12),
    size=st.integers(8, 40),
    kind=st.sampled_from([None, "categorical", "continuous"]),
)
def test_the_result_does_not_depend_on_the_block_size(
    cells: list[str], size: int, kind: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_text(tmp_path, "a,b\n" + "".join(f"{cell},{k}\n" for k, cell in enumerate(cells)))
    options = {"missing_values": ["?"], "missing": "drop_rows", "types": {"a": kind} if kind else None}
    outcomes = []
    for block_bytes in (1 << 20, size):
        monkeypatch.setattr(csv, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(csv, "HEADERS_PER_BLOCK", 1)
        try:
            outcomes.append(read(path, **options))  # type: ignore[arg-type]
        except MnlearnError as error:
            outcomes.append(str(error))  # type: ignore[arg-type]
    if isinstance(outcomes[0], str) or isinstance(outcomes[1], str):
        assert outcomes[0] == outcomes[1]
    else:
        assert_same(*outcomes)


def test_blanks_around_cells_and_names_are_ignored(tmp_path: Path) -> None:
    data = read(write_text(tmp_path, " a , b\n yes, 1\nyes ,2\n no,1\n"))
    assert data.names == ("a", "b")
    assert data.levels == (("no", "yes"), (1, 2))


def test_byte_order_mark_line_ends_and_blank_lines(tmp_path: Path) -> None:
    plain = read(write_text(tmp_path, "a,b\n1,x\n2,y\n"))
    for text in ("\ufeffa,b\n1,x\n2,y\n", "a,b\r\n1,x\r\n2,y", "\n\na,b\n\n1,x\n\n\n2,y\n\n", 'a,"b"\n"1",x\n2,"y"\n'):
        assert_same(read(write_text(tmp_path, text)), plain)


def test_header_over_two_lines(tmp_path: Path) -> None:
    assert read(write_text(tmp_path, '"a\nb",c\n1,2\n3,4\n')).names == ("a\nb", "c")


def test_delimiters(tmp_path: Path) -> None:
    plain = read(write_text(tmp_path, "a,b\n1,x\n2,y\n"))
    assert_same(read(write_text(tmp_path, "a;b\n1;x\n2;y\n"), delimiter=";"), plain)
    assert_same(read(write_text(tmp_path, "a|b\n1|x\n2|y\n", "t.txt"), delimiter="|"), plain)
    assert_same(read(write_text(tmp_path, "a\tb\n1\tx\n2\ty\n", "t.TAB.GZ".lower())), plain)


def test_rows_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "BLOCK_BYTES", 32)
    monkeypatch.setattr(csv, "HEADERS_PER_BLOCK", 1)
    path = write_text(tmp_path, "a,b\n1,x\n" + f"2,{'y' * 500}\n" * 3)
    assert read(path).cards == (2, 2)
    monkeypatch.setattr(csv, "LONGEST_ROW", 64)
    with pytest.raises(FileError, match="cannot be read: a row takes more than"):
        read(path)
    with pytest.raises(DataError, match="a quote is never closed in the row that begins on line 3"):
        read(write_text(tmp_path, 'a,b\n1,x\n2,"y' + "y\n" * 500))


@pytest.mark.parametrize("row", [0, 1])
def test_a_long_cell_can_be_in_any_row(row: int, tmp_path: Path) -> None:
    cells = ["short", "brief"]
    cells[row] = "long" * 50_000
    data = read(write_text(tmp_path, "a,b\n" + "".join(f"{cell},{k}\n" for k, cell in enumerate(cells))))
    assert data.levels[0] == tuple(sorted(cells))


def test_quotes_inside_and_over_lines(tmp_path: Path) -> None:
    path = write_text(tmp_path, 'a,b\n5" disk,"x, y"\n"two\nlines","say ""no"""\n3" disk,"last\ncell"\n')
    data = read(path)
    assert data.levels == (('3" disk', '5" disk', "two\nlines"), ("last\ncell", 'say "no"', "x, y"))
    assert read(path, columns=["a", "b"]).n_rows == 3


def test_damage_below_a_suspect_cell_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "BLOCK_BYTES", 16)
    monkeypatch.setattr(csv, "HEADERS_PER_BLOCK", 1)
    path = write_text(tmp_path, b'a,b\n1,"x\ny"\nz,"x\ny"\n' + b"1,2\n" * 90 + b"1,\xff\n")
    with pytest.raises(FileError, match="UTF-8 text; line 96"):
        read(path)


def test_an_open_quote_is_found_in_a_column_that_is_left_out(tmp_path: Path) -> None:
    path = write_text(tmp_path, 'a,b,c\n1,2,x\n3,4,"y\n5,6,z\n')
    with pytest.raises(DataError, match="never closed in the row that begins on line 3"):
        read(path, columns=["a", "b"])


def test_a_wide_file(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).integers(0, 3, (20, 3000))
    text = ",".join(f"v{j}" for j in range(3000)) + "\n" + "\n".join(",".join(map(str, row)) for row in codes)
    data = read(write_text(tmp_path, text, "wide.csv.gz"))
    assert data.n_variables == 3000
    labels = [np.array(levels)[column] for levels, column in zip(data.levels, data.columns, strict=True)]
    np.testing.assert_array_equal(np.column_stack(labels), codes)


def test_more_than_256_states_take_two_bytes(tmp_path: Path) -> None:
    for n_states, kind in ((255, np.uint8), (256, np.uint8), (257, np.uint16), (5000, np.uint16)):
        text = "a,b\n" + "".join(f"s{k:04d},{k % 2}\n" for k in range(n_states))
        data = read(write_text(tmp_path, text))
        assert data.cards[0] == n_states
        assert data.columns[0].dtype == kind
        assert data.columns[0].tolist() == list(range(n_states))


def test_many_decimals_in_one_block_are_not_categories(tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f"{k / 8},{k}.25\n" for k in range(80_000))
    assert read(write_text(tmp_path, text)).cards == (0, 0)


def test_unusual_forms_of_numbers(tmp_path: Path) -> None:
    assert column(tmp_path, [" 1.5", "+2", "1e2 ", "3."]) == [1.5, 2.0, 100.0, 3.0]
    assert column(tmp_path, ["1.5", "2", "NaN", ""], missing="drop_rows") == [1.5, 2.0]
    assert column(tmp_path, ["1", "2", "nan"], missing="category") == (1, 2, None)
    assert column(tmp_path, ["up", "inf"]) == ("inf", "up")


def test_decimal_commas_are_not_labels(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a;b\n1,5;x\n2;y\n2,5;y\n")
    with pytest.raises(DataError, match=r"data row 1 holds '1,5'. .* use decimal=','"):
        read(path, delimiter=";")
    path = write_text(tmp_path, "a;b\n1,5;x\n2,5;y\n")
    with pytest.raises(DataError, match=r"decimal point and nothing between digits; data row 1 holds '1,5'"):
        read(path, delimiter=";")
    assert read(path, delimiter=";", types={"a": "categorical"}).levels[0] == ("1,5", "2,5")


def test_declared_levels_are_matched_as_strings_then_as_values(tmp_path: Path) -> None:
    assert column(tmp_path, ["1", "2", "1.0"], levels={"a": [2, 1, 0]}) == (2, 1, 0)
    assert column(tmp_path, ["1.50", "2"], levels={"a": [1.5, 2.0]}) == (1.5, 2.0)
    assert column(tmp_path, ["TRUE", "false"], levels={"a": [True, False]}) == (True, False)
    assert column(tmp_path, ["1", "x"], levels={"a": ["x", "1"]}) == ("x", "1")
    assert column(tmp_path, ["1", "x", "nan"], levels={"a": ["x", 1]}, missing="drop_rows") == ("x", 1)
    with pytest.raises(DataError, match=r"also hold '3', '4'"):
        column(tmp_path, ["1", "3", "4"], levels={"a": [1, 2]})


BIG = 2**53  # beyond it, a float does not have every whole number


def test_large_whole_numbers_stay_different(tmp_path: Path) -> None:
    cells = [str(BIG), str(BIG + 1), str(BIG + 2)]
    assert column(tmp_path, cells) == (BIG, BIG + 1, BIG + 2)
    mixed = column(tmp_path, [*cells, "0.5", f"{BIG + 1}.0"], types={"a": "categorical"})
    assert mixed == (0.5, BIG, BIG + 1, BIG + 2)
    levels = [BIG, BIG + 1, BIG + 2]
    path = write_text(tmp_path, "a,b\n" + "".join(f"{cell}.0,1\n" for cell in cells))
    assert read(path, levels={"a": levels}).columns[0].tolist() == [0, 1, 2]
    for markers in ([str(BIG + 1)], [BIG + 1]):
        assert column(tmp_path, cells, missing_values=markers, missing="drop_rows") == (BIG, BIG + 2)
        data = read({"a": levels, "b": [1, 2, 3]}, missing_values=markers, missing="drop_rows")
        assert data.levels[0] == (BIG, BIG + 2)
    assert read({"a": [0.5, 1e9], "b": [1, 2]}, missing_values=[10**400, float("inf")]).cards == (0, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [("0.1", "0.10000000000000000001"), ("1e400", "1e500"), (f"{BIG}.5", str(BIG)), ("1e400", "inf")],
)
def test_numbers_that_a_float_cannot_tell_apart_are_refused(tmp_path: Path, one: str, other: str) -> None:
    with pytest.raises(DataError, match=r"column 'a' must hold labels that differ as 64-bit numbers; .*levels="):
        column(tmp_path, [one, other, "1.5"], types={"a": "categorical"})
    levels = {"a": [one, other, "1.5"]}
    assert column(tmp_path, [one, other, "1.5"], levels=levels) == tuple(levels["a"])
    assert column(tmp_path, ["1", "1.0", "1e0", "+1", "2.50", "2.5"], types={"a": "categorical"}) == (1.0, 2.5)
