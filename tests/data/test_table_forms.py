"""Tables as people have them: chosen columns, names of rows, variables in rows, decimal commas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mnlearn as mn
from mnlearn.data import overview, pack, read
from mnlearn.errors import DataError, FileError, InputError, UnknownNameError

ITEMS = {name: [0, 1, 1, 0] for name in ("A1", "A2", "C1", "O5", "a:b", "x,y")}


@pytest.mark.parametrize(
    ("columns", "drop", "expected"),
    [
        (["A2:O5"], (), ("A2", "C1", "O5")),
        (["A2:O5", "A1"], (), ("A2", "C1", "O5", "A1")),
        (["A1:A2,O5"], (), ("A1", "A2", "O5")),
        (["A1 : A2, O5"], (), ("A1", "A2", "O5")),
        ([":A2"], (), ("A1", "A2")),
        (["O5:"], (), ("O5", "a:b", "x,y")),
        (["A1:A2", "A2:C1", "A1"], (), ("A1", "A2", "C1")),
        (["a:b", "x,y"], (), ("a:b", "x,y")),
        (['A1,"x,y",a:b'], (), ("A1", "x,y", "a:b")),
        (["C1:a:b"], (), ("C1", "O5", "a:b")),
        (None, ["A1:O5"], ("a:b", "x,y")),
        (["A1:O5"], ["A2", "C1"], ("A1", "O5")),
        (None, ["A2,C1", "a:b", "x,y"], ("A1", "O5")),
    ],
)
def test_columns_by_name_range_and_list(columns: Any, drop: Any, expected: tuple[str, ...], tmp_path: Path) -> None:
    pd.DataFrame(ITEMS).to_csv(tmp_path / "t.csv", index=False)
    for source in (ITEMS, tmp_path / "t.csv", read(ITEMS), pack(ITEMS, tmp_path / "t.mnpack")):
        assert read(source, columns=columns, drop=drop).names == expected
        assert tuple(v.name for v in overview(source, columns=columns, drop=drop).variables) == expected


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"columns": ["A1:O6"]}, UnknownNameError, "columns: column 'O6' does not exist"),
        ({"columns": ["B1:O6"]}, UnknownNameError, "columns: column 'B1:O6' does not exist"),
        ({"columns": ["A1,B2"]}, UnknownNameError, "columns: column 'B2' does not exist"),
        ({"columns": ["A1\n,A2"]}, UnknownNameError, "does not exist"),
        ({"columns": ["O5:A1"]}, InputError, "before the last; got 'O5:A1'. Use 'A1:O5'"),
        ({"columns": ["A1", "A1"]}, InputError, "columns must name each column once"),
        ({"columns": ["A1", "A2"], "drop": ["A1"]}, InputError, "must not share a column; both name 'A1'"),
        ({"drop": ["Age"]}, UnknownNameError, "drop: column 'Age' does not exist"),
        ({"drop": "A1"}, InputError, "drop must be a list of names"),
        ({"drop": [":C1", "O5:a:b"]}, DataError, "at least 2 variables"),
    ],
)
def test_wrong_columns(options: dict[str, Any], error: type[Exception], told: str) -> None:
    for source in (ITEMS, read(ITEMS)):
        with pytest.raises(error, match=told):
            read(source, **options)


def test_types_and_levels_of_ranges() -> None:
    numbers = {name: [0, 1, 2, 1] for name in ("a", "b", "c", "d")}
    assert read(numbers, types={":": "continuous", "c": "categorical"}).cards == (0, 0, 3, 0)
    assert read(numbers, types={":b": "continuous", "c:": "categorical"}).cards == (0, 0, 3, 3)
    assert read(numbers, levels={"b:c": [0, 1, 2, 3], "c": [2, 1, 0]}).levels[1:3] == ((0, 1, 2, 3), (2, 1, 0))
    with pytest.raises(InputError, match="types must hold one value for each column; 'b' is named twice"):
        read(numbers, types={"a,b": "categorical", "b": "continuous"})
    with pytest.raises(InputError, match="types must hold one value for each column; 'b' is in two ranges"):
        read(numbers, types={":b": "continuous", "b:": "categorical"})
    with pytest.raises(InputError, match=r"levels\['a'\] cannot be declared for a column of type 'continuous'"):
        read(numbers, types={":": "continuous"}, levels={"a": [0, 1, 2]})


@pytest.mark.parametrize(
    "text",
    [
        ",a,b\n0,1,x\n1,2,y\n2,1,y\n",  # pandas
        '"","a","b"\n"61617",1,"x"\n"61618",2,"y"\n"61620",1,"y"\n',  # write.csv
        'a,b\n"61617",1,x\n"61618",2,y\n"61620",1,y\n',  # write.table
        "id,a,b\np1,1,x\np2,2,y\np3,1,y\n",
    ],
)
def test_names_of_rows(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = read(path, row_names=True)
    assert (found.names, found.levels) == (("a", "b"), ((1, 2), ("x", "y")))
    assert found.columns[0].tolist() == [0, 1, 0]
    assert read(path, row_names=True, columns=["b:", "a"]).names == ("b", "a")
    assert pack(path, tmp_path / "t.mnpack", row_names=True).names == ("a", "b")
    if not text.startswith("id"):
        with pytest.raises(DataError, match="use row_names=True"):
            read(path)


def test_names_of_rows_in_memory() -> None:
    frame = pd.DataFrame({"id": ["p", "q", "r"], "a": [1, 2, 1], "b": [0, 1, 1]})
    assert read(frame, row_names=True).names == ("a", "b")
    assert read(frame.to_dict("records"), row_names=True, columns=["b", "a"]).names == ("b", "a")
    with pytest.raises(InputError, match="row_names must be true or false"):
        read(frame, row_names="id")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="row_names cannot be applied to a Dataset"):
        read(read(frame), row_names=True)


EXPRESSION = pd.DataFrame(
    {"s1": [0.5, 2.5, 3.0], "s2": [1.5, 2.0, 1.0], "s3": [0.5, 7.5, 4.0], "s4": [2.0, 1.0, 1.5]},
    index=pd.Index(["TP53", "MYC", "GATA1"], name="gene"),
)


@pytest.mark.parametrize("form", ["csv", "corner", "tsv.gz", "parquet", "index", "column", "polars", "dict", "records"])
def test_variables_in_rows(form: str, tmp_path: Path) -> None:
    flat = EXPRESSION.reset_index()
    flat.to_csv(tmp_path / "t.csv", index=False)
    flat.to_csv(tmp_path / "t.tsv.gz", index=False, sep="\t")
    flat.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "r.csv").write_text(EXPRESSION.to_csv().replace("gene,", "", 1))
    sources: dict[str, Any] = {
        "csv": tmp_path / "t.csv",
        "corner": tmp_path / "r.csv",
        "tsv.gz": tmp_path / "t.tsv.gz",
        "parquet": tmp_path / "t.parquet",
        "index": EXPRESSION,
        "column": flat,
        "polars": pl.from_pandas(flat),
        "dict": flat.to_dict("list"),
        "records": flat.to_dict("records"),
    }
    found = read(sources[form], transpose=True)
    assert (found.names, found.cards, found.n_rows) == (("TP53", "MYC", "GATA1"), (0, 0, 0), 4)
    assert np.array_equal(np.array(found.columns), EXPRESSION.to_numpy())
    assert read(sources[form], transpose=True, columns=["MYC:"]).names == ("MYC", "GATA1")
    assert pack(sources[form], tmp_path / "t.mnpack", transpose=True).names == found.names


def test_transposed_columns_have_types_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,s1,s2,s3,s4\nsex,m,f,m,f\nscore,1,,3,1\nheight,1.5,2,NaN,1\n")
    found = read(path, transpose=True, missing="drop_rows")
    assert (found.names, found.cards, found.n_rows) == (("sex", "score", "height"), (2, 1, 0), 2)
    mixed = {"name": ["sex", "score"], "s1": ["m", 1], "s2": ["f", 2], "s3": ["f", 1]}
    assert read(mixed, transpose=True).levels == (("f", "m"), (1, 2))
    assert read(EXPRESSION.to_numpy(), transpose=True).names == ("x0", "x1", "x2")
    assert read(pd.DataFrame(EXPRESSION.to_numpy()), transpose=True).names == ("x0", "x1", "x2")
    numbered = pd.DataFrame(EXPRESSION.to_numpy(), index=[7157, 4609, 2623])
    assert read(numbered, transpose=True).names == ("7157", "4609", "2623")


def test_gaps_in_one_row_do_not_change_the_others() -> None:
    frame = pd.DataFrame({"s1": [1, np.nan], "s2": [2.0, 1.0], "s3": [1, 2]}, index=["i1", "i2"])  # rows of decimals
    found = read(frame, transpose=True, missing="category")
    assert found.levels == ((1, 2), (1, 2, None))
    assert read(frame.to_numpy(), transpose=True, missing="category").levels == found.levels
    assert read(frame.to_numpy().T, missing="category").levels == found.levels
    assert read(frame.to_numpy().T + 0.5, missing="drop_rows").cards == (0, 0)


def test_an_index_that_arrow_stores_last_names_the_variables(tmp_path: Path) -> None:
    EXPRESSION.to_parquet(tmp_path / "genes.parquet")
    for source in (tmp_path / "genes.parquet", pa.Table.from_pandas(EXPRESSION)):
        found = read(source, transpose=True)
        assert found.names == tuple(EXPRESSION.index)
        assert [column.tolist() for column in found.columns] == EXPRESSION.to_numpy().tolist()


def test_an_index_that_arrow_stores_last_is_no_variable(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]}, index=["p", "q", "r"])
    frame.to_parquet(tmp_path / "people.parquet")
    for source in (tmp_path / "people.parquet", pa.Table.from_pandas(frame)):
        with pytest.raises(DataError, match=r"column 3 has none. If it holds names .* use row_names=True"):
            read(source)
        assert read(source, row_names=True).names == read(source, columns=["a", "b"]).names == ("a", "b")


def test_transposed_dicts_are_matched_by_their_keys() -> None:
    records = [{"gene": "a", "s1": 1.5, "s2": 2.5, "s3": 0.5}, {"s3": 3.5, "s1": 4.5, "gene": "b", "s2": 0.0}]
    found = read(records, transpose=True)
    assert found.names == ("a", "b")
    assert [column.tolist() for column in found.columns] == [[1.5, 2.5, 0.5], [4.5, 0.0, 3.5]]
    with pytest.raises(DataError, match="dicts with the same keys"):
        read([records[0], {"gene": "b", "s1": 1.0, "s2": 2.0, "other": 3.0}], transpose=True)


def test_wrong_transposed_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("gene,s1,s2\na,1,2\nb,1\n")
    with pytest.raises(DataError, match=r"must have 3 cells in every row, .*; line 3 has 2"):
        read(path, transpose=True)
    path.write_text("gene,s1,s2\na,1,2\na,1,1\n")
    for source in (path, pd.read_csv(path)):
        with pytest.raises(DataError, match="'a' occurs more than once"):
            read(source, transpose=True)
    path.write_text('gene,s1,s2\na,1,2\nb,"1,1\n')
    with pytest.raises(DataError, match="a quote is never closed in the row that begins on line 3"):
        read(path, transpose=True)
    path.write_text("gene,s1,s2\na,1,2\nb,1,x\n")
    with pytest.raises(DataError, match="column 'b' must hold one type of value"):
        read(path, transpose=True)
    with pytest.raises(InputError, match="transpose is for files"):
        read(object(), transpose=True)
    with pytest.raises(InputError, match="transpose is for one file at a time"):
        pack([path, path], tmp_path / "t.mnpack", transpose=True)


@pytest.mark.parametrize("mark", [";", "\t", ","])
def test_decimal_commas(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [("wert", "ort", "note"), ("1,5", "A", "1"), ("-2", "B", "2"), ("1,25E2", "A", "1"), (" ,5", "3,5 kg", "2")]
    path.write_text("\n".join(mark.join(f'"{cell}"' for cell in row) for row in rows) + "\n")
    found = read(path, decimal=",")
    assert found.columns[0].tolist() == [1.5, -2.0, 125.0, 0.5]
    assert found.levels[1:] == (("3,5 kg", "A", "B"), (1, 2))
    assert read(path, decimal=",", missing_values=["1,5"], missing="drop_rows").n_rows == 3
    assert read(path, decimal=",", levels={"wert": [1.5, -2, 125, 0.5]}).columns[0].tolist() == [0, 1, 2, 3]


def test_decimal_commas_are_told_from_other_marks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("wert;ort\n1,5;A\n2,5;B\n")
    with pytest.raises(DataError, match=r"pass delimiter=';', or decimal=',' if"):
        read(path)
    with pytest.raises(DataError, match=r"holds '1,5'\. Write 1234\.5, use decimal=','"):
        read(path, delimiter=";")
    path.write_text("wert;ort\n1,5;A\n1.234;B\n3;B\n")  # the second is 1234 or 1.234
    for kind in (None, {"wert": "continuous"}):
        with pytest.raises(DataError, match=r"data row 2 holds '1\.234'"):
            read(path, decimal=",", types=kind)  # type: ignore[arg-type]
    path.write_text("tag;ort\n3.5.2020;A\n4.5.2020;B\n")
    assert read(path, decimal=",").levels[0] == ("3.5.2020", "4.5.2020")
    path.write_text("tag;ort\n3.5;A\n4.5;B\n")
    assert read(path, decimal=",", types={"tag": "categorical"}).levels[0] == (3.5, 4.5)
    with pytest.raises(InputError, match=r"decimal must be '\.' or ','; got ';'"):
        read(path, decimal=";")
    with pytest.raises(InputError, match="decimal and delimiter must differ"):
        read(path, decimal=",", delimiter=",")
    with pytest.raises(InputError, match="decimal is for text files; got a dict"):
        read(ITEMS, decimal=",")
    with pytest.raises(FileError, match="there is no"):
        read(tmp_path / "none.csv", decimal=",")
    EXPRESSION.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match="decimal is for delimited text"):
        read(tmp_path / "t.parquet", decimal=",")


def test_transposed_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    EXPRESSION.to_csv(path, sep=";", decimal=",")
    found = read(path, transpose=True, decimal=",")
    assert np.array_equal(np.array(found.columns), EXPRESSION.to_numpy())


def test_all_calls_take_the_options(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 200))
    frame = pd.DataFrame({"a": a, "b": a ^ (b & rng.integers(0, 2, 200)), "c": b, "group": rng.integers(0, 2, 200)})
    path, late = tmp_path / "t.csv", tmp_path / "late.csv"
    for file in (path, late):
        frame.assign(age=range(200)).to_csv(file, sep=";")
    form: dict[str, Any] = {"row_names": True, "delimiter": ";", "drop": ["age"]}
    learned = mn.learn(path, "mpl", columns=["a:group"], **form)
    assert learned.names == ("a", "b", "c", "group")
    assert learned.settings["drop"] == ("age",)
    learned.save(tmp_path / "net.json")
    assert mn.load(tmp_path / "net.json").with_data(path).why("a", "b").tests
    assert mn.score(path, [("a", "b")], **form).value < 0
    assert not mn.independence_test(path, "a", "b", **form).independent
    found = mn.compare_groups(path, "group", "mpl", columns=["a:group"], n_permutations=2, n_jobs=1, **form)
    assert found.networks[0].names == ("a", "b", "c")
    assert mn.validate(learned, late, n_triplets=10, **form).notes == ()
    assert mn.validate(learned, late, n_triplets=10, row_names=True, delimiter=";").notes == (
        "ignored 1 column not in the graph: 'age'",
    )
    assert mn.fit_parameters(learned, path, columns=["a:group"], **form).names == learned.names


def test_workbooks_take_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    EXPRESSION.reset_index().to_excel(path, index=False)
    found = read(path, transpose=True)
    assert found.names == ("TP53", "MYC", "GATA1")
    assert np.array_equal(np.array(found.columns), EXPRESSION.to_numpy())
    assert read(path, row_names=True).names == ("s1", "s2", "s3", "s4")
    with pytest.raises(FileError, match="decimal is for delimited text"):
        read(path, decimal=",")
