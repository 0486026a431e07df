"""Tables of a page from the files of runs."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest

from mnlearn.errors import FileError, InputError
from mnlearn.evaluation.reproduction import Comparison, read_comparisons, write_comparisons
from mnlearn.evaluation.tables import fill_page

FIGURES = [
    Comparison("hub1", 250, "bjp", 7.76, 10.5, 3.0, 9, 2.56, 0.1),
    Comparison("hub1", 250, "mpl", None, 10.25, 2.0, 4, None, 0.1),
    Comparison("hub2", 250, "bjp", 25.1, 21.0, nan, 1, None, nan),
]
PAGE = """# A page

<!-- table small
lines: source = network, n_rows = rows, n = data sets
column: mpl = MPL, N′ = 1 | error 1
column: bjp = BJP
cell: compared 1
-->
something old
<!-- end -->

Words after it.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_comparisons(FIGURES, tmp_path / "small.csv")
    return tmp_path


def rows_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("|")]


def test_figures_are_read_as_they_were_written(folder: Path) -> None:
    assert repr(read_comparisons(folder / "small.csv")) == repr(FIGURES)


def test_a_table_is_made_anew_and_nothing_else_is_touched(folder: Path) -> None:
    page = fill_page(PAGE, folder)
    assert page.filled == ("small",)
    assert rows_of(page.text) == [
        "| network | rows | data sets | MPL, N′ = 1 | BJP |",
        "|---|---|---|---|---|",
        "| hub1 | 250 | 4/9 | 10.2 ± 1.0 | 7.8 / 10.5 (+2.6) |",
        "| hub2 | 250 | 1 |  | 25.1 / 21.0 |",
    ]
    before, _, after = PAGE.partition("something old")
    assert page.text.startswith(before)
    assert page.text.endswith(after)
    assert fill_page(page.text, folder).text == page.text


def test_without_its_runs_a_table_stays(tmp_path: Path) -> None:
    assert fill_page(PAGE, tmp_path) == (PAGE, (), ("small",))


def test_sources_may_be_chosen_and_all_columns_are_shown_when_none_is_named(folder: Path) -> None:
    page = fill_page("<!-- table small\nonly: hub2\nlines: n_rows\ncell: mean 0\n-->\n<!-- end -->\n", folder)
    assert rows_of(page.text) == ["| rows | bjp |", "|---|---|", "| 250 | 21 |"]


def test_published_and_ours_may_stand_side_by_side(folder: Path) -> None:
    page = fill_page("<!-- table small\nlines: source\ncell: beside 1\n-->\n<!-- end -->\n", folder)
    assert rows_of(page.text)[2:] == ["| hub1 | 7.8 / 10.5 | 10.2 |", "| hub2 | 25.1 / 21.0 |  |"]


def test_quantities_are_lines_or_chosen(tmp_path: Path) -> None:
    figures = [Comparison("car", 9, name, None, 0.5, nan, 1, None, nan) for name in ("a tests", "b tests", "a V 1N")]
    write_comparisons(figures, tmp_path / "two.csv")
    by_line = fill_page("<!-- table two\nlines: source, quantity\ncell: percent 0\n-->\n<!-- end -->", tmp_path)
    assert rows_of(by_line.text)[2:] == ["| car | tests | 50 % | 50 % |", "| car | V 1N | 50 % |  |"]
    chosen = fill_page("<!-- table two\nlines: source = table\nquantity: V 1N\n-->\n<!-- end -->", tmp_path)
    assert rows_of(chosen.text) == ["| table | a |", "|---|---|", "| car | 0.50 |"]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<!-- table small\n-->\n| old |\n", "page must have <!-- end --> after each table; that of small has none"),
        (f"<!-- table small\n-->\n{PAGE}", "page must have <!-- end --> after each table; that of small has none"),
        ("<!-- table small\ncolour: red\n-->\n<!-- end -->", "setting of table small 'colour' does not exist"),
        ("<!-- table small\nlines: rows\n-->\n<!-- end -->", "lines of table small 'rows' does not exist"),
        ("<!-- table small\ncolumn: ib\n-->\n<!-- end -->", "column of table small 'ib' does not exist"),
        ("<!-- table small\ncell: median\n-->\n<!-- end -->", "cell of table small 'median' does not exist"),
        (
            "<!-- table small\ncell: mean two\n-->\n<!-- end -->",
            "cell of table small must end in its decimals; got 'two'",
        ),
    ],
)
def test_bad_markers_are_refused(folder: Path, page: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fill_page(page, folder)


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "source,n_rows,learner,published,ours,sd,n,standard_errors,seconds\nx,y\n"]
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "small.csv").write_text(text)
    with pytest.raises(FileError, match=r"small\.csv must be figures that mnlearn reproduce wrote; line 2 of"):
        fill_page(PAGE, tmp_path)
