"""Options for tables as people have them, and the messages where one is forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return a table as R's write.csv writes it: names of rows, items, NA, an age."""
    rng = np.random.default_rng(5)
    items, ages = rng.integers(1, 5, (80, 4)).astype(str), rng.integers(18, 80, 80).astype(str)
    items[:12, 3], items[10:13, 0] = "NA", "NA"
    lines = ['"","i1","i2","i3","school","age"']
    lines += [f'"p{k}",{",".join(row)},{age}' for k, (row, age) in enumerate(zip(items, ages, strict=True))]
    path = tmp_path / "study.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_each_refusal_names_the_next_option(run: Any, study: Path) -> None:
    words: list[str] = []
    for told, more in (
        ("use --row-names", ["--row-names"]),
        ("--missing-value NA", ["--missing-value", "NA", "--drop", "age"]),
        ("13 of 80 rows, 10 of them only because of 'school' (--drop school)", ["--missing", "drop_rows"]),
    ):
        assert told in run("learn", study, "--method", "mpl", *words).refusal()
        words += more
    done = run("learn", study, "--method", "mpl", *words)
    assert done.code == 0
    assert done.err == "note: missing: 'school' 12, 'i1' 3; rows dropped: 13; --drop school keeps 10 of them\n"


def test_columns_by_range(run: Any, study: Path) -> None:
    form = ["--row-names", "--missing-value", "NA", "--missing", "drop_rows"]
    first = run("learn", study, "--method", "mpl", "--columns", "i2:school,i1", "--drop", "i3", *form, "--json")
    assert first.document()["variables"] == ["i2", "school", "i1"]
    assert "--column: column 'i9'" in run("learn", study, "--columns", "i1:i9", *form).refusal()
    assert "--drop: column 'id' does not exist" in run("learn", study, "--drop", "id", *form).refusal()
    tested = run("test", study, "i1", "age", "--continuous", "i1:", *form, "--json")
    assert tested.document()["test"] == "pcor"
    assert run("why", study, "i1", "i2", "--method", "mpl", "--columns", ":i3", *form).code == 0


def test_info_says_what_each_column_will_be(run: Any, study: Path) -> None:
    shown = run("info", study, "--row-names", "--missing-value", "NA", "--columns", "i1,school:")
    lines = {line.split()[0]: line for line in shown.out.splitlines() if line.strip()}
    assert "continuous   many whole numbers" in lines["age"]
    assert "nominal      whole numbers " in lines["i1"]
    assert " 3 (4%) " in lines["i1"]
    assert "complete rows: 67 of 80\n" in shown.out
    assert "incomplete rows: 13 of 80; --drop school keeps 10\n" in shown.out
    assert "continuous   declared" in run("info", study, "--row-names", "--continuous", "age").out
    declared = run("info", study, "--row-names", "--missing-value", "NA", "--ordinal", "i1:i3", "--count", "age").out
    assert re.search(r"i1 +ordinal +declared", declared)
    assert re.search(r"age +count +declared", declared)
    document = run("info", study, "--row-names", "--missing-value", "NA", "--ordinal", "i1", "--json").document()
    assert document["variables"][0]["kind"] == "ordinal"
    assert document["variables"][0]["missing_share"] == 3 / 80
    assert (document["complete_rows"], document["incomplete_rows"]) == (67, 13)


def test_row_numbers_are_named_by_info(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,b\n" + "".join(f"{k},{k % 2}\n" for k in range(30)))
    assert "to be declared: id; use --drop for row numbers, --continuous for a quantity" in run("info", path).out
    assert "Use --drop id, or --continuous id or --categorical id" in run("learn", path).refusal()


def test_levels_and_testwise_on_the_command_line(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("size,b\n" + "low,0\nhigh,1\n,1\nmiddle,0\nlow,\n" * 5)
    options = ["--ordinal", "size", "--missing", "testwise"]
    assert "Use --levels COL=A,B, or an ordered categorical" in run("info", path, *options).refusal()
    shown = run("info", path, *options, "--levels", "size=low,middle,high")
    assert re.search(r"size +ordinal +declared +3 +5 \(20%\)", shown.out)
    assert "each test and model uses the rows in which all its variables are observed" in shown.err
    assert "--levels must have the form COL=A,B" in run("info", path, "--levels", "size").refusal()


def test_variables_in_rows_and_decimal_commas(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "genes.csv"
    values = np.random.default_rng(1).normal(size=(3, 30))
    lines = [";".join(["gene", *(f"s{k}" for k in range(30))])]
    lines += [";".join([f"g{k}", *(f"{v:.4f}".replace(".", ",") for v in row)]) for k, row in enumerate(values)]
    path.write_text("\n".join(lines) + "\n")
    assert "pass --delimiter ';', or --decimal , if" in run("info", path).refusal()
    assert "use --decimal , if" in run("learn", path, "--delimiter", ";").refusal()
    assert "use --row-names, or --transpose if" in run("learn", path, "--decimal", ",").refusal()
    done = run("learn", path, "--decimal", ",", "--transpose", "--json")
    assert done.document()["variables"] == ["g0", "g1", "g2"]
    assert "--decimal must be '.' or ','" in run("learn", path, "--decimal", ";").refusal()


def test_notes_name_options(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.0,0\n2.0,1\n,0\n" * 9)
    done = run("learn", path, "--missing", "drop_rows", "--method", "mpl")
    assert (
        "note: read as categories, because all values are whole and some are missing: 'a'. --continuous a" in done.err
    )
