"""Excel workbooks and files of SPSS and Stata."""

from __future__ import annotations

import gzip
import sys
import zlib
from base64 import b85decode
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from mnlearn.data import Dataset, overview, pack, read
from mnlearn.errors import DataError, FileError, InputError, MissingDependencyError, UnknownNameError

openpyxl: Any = pytest.importorskip("openpyxl")
pyreadstat: Any = pytest.importorskip("pyreadstat")


# Excel


def workbook(path: Path, sheets: Mapping[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS: list[list[Any]] = [["item", "size ", "name"], [1, 1.5, "a"], [2, 2, " b"], [1, 3, "a"]]


def test_workbook_reads_as_the_csv_file(tmp_path: Path) -> None:
    data = read(workbook(tmp_path / "a.xlsx", {"One": [[], ["", *ROWS[0]], *(["", *row] for row in ROWS[1:])]}))
    assert data.names == ("item", "size", "name")
    assert data.levels == ((1, 2), None, ("a", "b"))
    assert data.columns[1].tolist() == [1.5, 2.0, 3.0]


def test_workbook_leaves_out_empty_rows_and_knows_missing_cells(tmp_path: Path) -> None:
    rows = [*ROWS, [], [2, None, "#DIV/0!"], [2, 2.5, date(2024, 1, 1)]]
    book = workbook(tmp_path / "a.xlsx", {"One": rows[:-1]})
    data = read(book, missing="drop_rows")
    assert data.n_rows == 3
    assert dict(data.missing.counts) == {"size": 1, "name": 1}
    with pytest.raises(DataError, match="column 'name' must hold one type of value; it mixes text"):
        read(workbook(tmp_path / "b.xlsx", {"One": rows}))


def test_sheets_by_name(tmp_path: Path) -> None:
    other: list[list[Any]] = [["p", "q"], [True, False], [False, False]]
    book = workbook(tmp_path / "a.xlsx", {"One": ROWS, "Two": other, "None": []})
    assert read(book).names == ("item", "size", "name")
    assert read(book, sheet="Two").levels == ((False, True), (False,))
    assert [variable.name for variable in overview(book, sheet="Two").variables] == ["p", "q"]
    with pytest.raises(
        UnknownNameError, match=r"sheet 'two' does not exist\. Did you mean 'Two'\? Known: 'One', 'Two'"
    ):
        read(book, sheet="two")
    with pytest.raises(FileError, match=r"sheet 'None' of .* is empty"):
        read(book, sheet="None")
    with pytest.raises(InputError, match="sheet must be the name of a sheet; got 2"):
        read(book, sheet=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"sheet is for workbooks \(\.xlsx\); got a dict"):
        read({"a": [1, 2], "b": [1, 2]}, sheet="One")
    with pytest.raises(InputError, match="sheet cannot be applied to a Dataset"):
        read(read(book), sheet="One")


def test_workbook_with_bad_names(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column names must differ; 'a' occurs"):
        read(workbook(tmp_path / "a.xlsx", {"One": [["a", "a"], [1, 2], [2, 1]]}))
    nameless = workbook(tmp_path / "b.xlsx", {"One": [["a", None, "c"], [1, 2, 3], [2, 1, 3]]})
    with pytest.raises(DataError, match="every column must have a name; column 2 has none"):
        read(nameless)
    assert read(nameless, columns=["a", "c"]).names == ("a", "c")


# SPSS and Stata


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    frame = pd.DataFrame(
        {
            "sex": [2, 1, 9, 1, 2],
            "item": [1, 2, 7, 99, 2],
            "scale": [1, 2, 1, 2, 1],
            "height": [1.5, 2, np.nan, 1.7, 1.8],
            "town": ["a", "b", "", "a", "b"],
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        variable_value_labels={
            "sex": {1: "female", 2: "male", 3: "other", 9: "refused"},
            "item": {1: "never", 7: "always", 99: "no answer"},
            "scale": {1: "same", 2: "same"},
        },
        missing_ranges={"sex": [9], "item": [{"lo": 90, "hi": 99}]},
    )
    return tmp_path / "a.sav"


def test_labels_of_spss_are_levels_where_every_value_has_one(spss: Path) -> None:
    data = read(spss, columns=["sex", "item", "scale"], missing="category")
    assert data.levels == (("female", "male", None), (1, 2, 7, None), (1, 2))
    assert data.unused == {"sex": ("other",)}


def test_declared_missing_values_of_spss_are_missing(spss: Path) -> None:
    data = read(spss, missing="drop_rows")
    assert dict(data.missing.counts) == {"sex": 1, "item": 1, "height": 1, "town": 1}
    assert data.n_rows == 3


def test_labels_are_left_aside_for_a_continuous_column(spss: Path) -> None:
    data = read(spss, columns=["sex", "scale"], types={"sex": "continuous"}, missing="drop_rows")
    assert data.columns[0].tolist() == [2, 1, 1, 2]


def test_variables_that_spss_measures_as_ordinal_are_ordinal(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"size": [2, 1, 3, np.nan], "item": [5.0, 1, 2, np.nan], "town": ["a", "b", "a", "c"], "sex": [1, 2, 1, 2]}
    )
    labels = {"size": {1: "small", 2: "middle", 3: "large"}, "sex": {1: "female", 2: "male"}}
    measures = dict.fromkeys(("size", "item", "town"), "ordinal") | {"sex": "nominal"}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels, variable_measure=measures)
    data = read(tmp_path / "a.sav", missing="testwise")
    assert data.kinds == ("ordinal", "ordinal", "nominal", "nominal")
    assert data.levels[:2] == (("small", "middle", "large"), (1, 2, 5))
    assert data.gaps == {"size", "item"}
    assert data.reasons == dict.fromkeys(("size", "item"), "ordered in the source")
    declared = read(tmp_path / "a.sav", missing="testwise", types={"size": "nominal", "item": "continuous"})
    assert declared.kinds[:2] == ("nominal", "continuous")
    everything = read(tmp_path / "a.sav", missing="testwise", types={"size:item": "count"})
    assert everything.kinds[:2] == ("count", "count")


def test_value_labels_have_the_order_of_the_values_if_declared_ordinal(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [2, 1, 3, 1], "n": [3, 1, 2, 1]})
    labels = {"size": {1: "small", 2: "middle", 3: "large"}}
    pyreadstat.write_dta(frame, tmp_path / "a.dta", variable_value_labels=labels)
    assert read(tmp_path / "a.dta").kinds == ("nominal", "nominal")
    data = read(tmp_path / "a.dta", types="ordinal")
    assert data.kinds == ("ordinal", "ordinal")
    assert data.levels[0] == ("small", "middle", "large")


def test_a_workbook_keeps_its_gaps(tmp_path: Path) -> None:
    book = workbook(tmp_path / "a.xlsx", {"One": [["a", "b"], [1, None], [2, "x"], [None, "y"], [1, "x"]]})
    assert read(book, missing="testwise").gaps == {"a", "b"}


def test_stata(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1, 2, "a", 2], "n": [3, 1, 2, 1], "x": [1.5, 2.5, 3.0, 4.0]})
    pyreadstat.write_dta(
        frame,
        tmp_path / "a.dta",
        variable_value_labels={"sex": {1: "female", 2: "male", "a": "refused"}},
        missing_user_values={"sex": ["a"]},
    )
    data = read(tmp_path / "a.dta", missing="drop_rows")
    assert data.levels == (("female", "male"), (1, 3), None)
    assert not data.unused


# Bad files, and the rest of the library


@pytest.fixture
def sound(tmp_path: Path, spss: Path) -> dict[str, Path]:
    pyreadstat.write_dta(pd.DataFrame({"a": [1, 2, 1], "b": [1, 1, 2]}), tmp_path / "a.dta")
    return {
        "xlsx": workbook(tmp_path / "a.xlsx", {"One": ROWS}),
        "sav": spss,
        "dta": tmp_path / "a.dta",
    }


@pytest.mark.parametrize("kind", ["xlsx", "sav", "dta"])
@pytest.mark.parametrize(
    ("replaced", "share"),
    [(b"", 0.0), (b"a,b\n1,2\n" * 40, 0.0), (b"", 0.5)],
    ids=["empty", "text", "cut"],
)
def test_bad_files(kind: str, replaced: bytes, share: float, sound: dict[str, Path], tmp_path: Path) -> None:
    bad = tmp_path / f"bad.{kind}"
    content = sound[kind].read_bytes()
    bad.write_bytes(replaced + content[: int(share * len(content))])
    with pytest.raises(FileError, match=r"path must be an? .* that is intact; .*bad\.\w+ is damaged, cut short or of"):
        read(bad)


CRASHES = (  # an SPSS file with two wrong bytes, at which pyreadstat ends the process
    "c-m8O^D%PJP}Wok4hRlbaB&QARB-e3aaGV&$S5f(D7MnqPtPpLC{5B!&d=2k&#X!;O7Trh)(=WeObISYEKy)$U|?WoKmb-aE7HNx"
    "LcuS;Ou@*^(7?*rz{<!-fkFT@l?ll%Mi8Ha6^w&jBVbB^K*<4F9Rrd&52#U0Q2hwQ7{NFgD$k7KuMhT&X$nZ@GdM8jDxlcMSOnp-"
    "K+Of>rR-2MKw=y~EP`a+e;{Cl`2mQX|1vPJBdKMEs`>x_{eLK3{}0M%hnmF*4e!tpH(d*mAUD(iPN*duNS;Jzg8)bmFI1c#h=GA<"
    "Tbx?K>0z6}8Ejh&k`{m}M-DGo96v{ncwiVo=pXip3aDWPqmxj?Vd^;?lCi26a6mOj2`VlEHwOR$pjzh"
)


def test_file_that_crashes_its_reader(tmp_path: Path) -> None:
    (tmp_path / "a.sav").write_bytes(zlib.decompress(b85decode(CRASHES)))
    with pytest.raises(FileError, match=r"must be an SPSS file that is intact; .* is damaged"):
        read(tmp_path / "a.sav")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process")
def test_a_cell_far_from_the_table(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"One": [*ROWS, [None]]})
    book = openpyxl.load_workbook(path)
    book["One"]["XFD1048576"] = 1
    book.save(path)
    with pytest.raises(FileError, match=r"a\.xlsx is not: it needs more than 2 GiB\. Delete what is far"):
        read(path)


@pytest.mark.parametrize("reference", [b"ZZZZZZ4294967295", b"A99999999999999999999", b"4"])
def test_references_of_cells_that_are_none(reference: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sound = workbook(tmp_path / "a.xlsx", {"One": ROWS})
    with ZipFile(sound) as parts, ZipFile(tmp_path / "bad.xlsx", "w") as bad:
        for part in parts.namelist():
            bad.writestr(part, parts.read(part).replace(b'r="B3"', b'r="' + reference + b'"'))
    with pytest.raises(
        FileError, match=r"path must be an Excel workbook (that is intact|of a size that its table needs)"
    ):
        read(tmp_path / "bad.xlsx")
    assert capfd.readouterr() == ("", "")


def test_archives_that_claim_to_be_huge(sound: dict[str, Path], tmp_path: Path) -> None:
    content = bytearray(sound["xlsx"].read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = b"\xf0\xff\xff\xff"  # the size of its first part
    (tmp_path / "bad.xlsx").write_bytes(content)
    with pytest.raises(FileError, match="its parts claim to be 4,29"):
        read(tmp_path / "bad.xlsx")


def test_workbook_with_a_password(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    with pytest.raises(FileError, match="must be an Excel workbook without a password"):
        read(tmp_path / "a.xlsx")


def test_damaged_cell_of_a_workbook(sound: dict[str, Path], tmp_path: Path) -> None:
    content = bytearray(sound["xlsx"].read_bytes())
    place = content.index(b"xl/worksheets/sheet1.xml") + 60
    content[place : place + 4] = bytes(4)
    (tmp_path / "bad.xlsx").write_bytes(content)
    with pytest.raises(FileError, match="is damaged"):
        read(tmp_path / "bad.xlsx")


def test_options_of_other_files_are_refused(sound: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"delimiter is for delimited text; .* is an SPSS file by its name"):
        read(sound["sav"], delimiter=",")
    with pytest.raises(FileError, match=r"sheet is for workbooks \(\.xlsx\); .* is a Stata file by its name"):
        read(sound["dta"], sheet="One")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n2,1\n")
    with pytest.raises(InputError, match=r"sheet is for workbooks \(\.xlsx\); got a\.csv"):
        read(tmp_path / "a.csv", sheet="One")
    (tmp_path / "a.xlsx.gz").write_bytes(gzip.compress(sound["xlsx"].read_bytes()))
    with pytest.raises(FileError, match=r"must be an Excel workbook as it was saved; .* is gzipped"):
        read(tmp_path / "a.xlsx.gz")


@pytest.mark.parametrize("name", ["a.rds", "a.RData", "a.rds.gz"])
def test_files_of_r_name_what_to_save(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"X\n")
    with pytest.raises(
        FileError, match=r"is a file of R\. Save it in R with arrow::write_parquet or write\.csv, or use"
    ):
        read(tmp_path / name)


@pytest.mark.parametrize(("kind", "module"), [("xlsx", "python_calamine"), ("sav", "pyreadstat")])
def test_without_the_extra(kind: str, module: str, sound: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf"{module} is needed .*pip install 'mnlearn\[files\]'"):
        read(sound[kind])


def test_packs_of_other_files(sound: dict[str, Path], tmp_path: Path) -> None:
    packed = pack(sound["xlsx"], tmp_path / "a.mnpack", sheet="One")
    _same(packed, read(sound["xlsx"]))
    more = pack([tmp_path / "a.mnpack", sound["xlsx"]], tmp_path / "b.mnpack")
    assert more.n_rows == 2 * packed.n_rows
    with pytest.raises(InputError, match=r"or one file of another kind; got 2 files with 'a\.xlsx'"):
        pack([sound["xlsx"], sound["sav"]], tmp_path / "b.mnpack")


def _same(one: Dataset, other: Dataset) -> None:
    assert (one.names, one.levels) == (other.names, other.levels)
    for a, b in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a, b)
