"""Tables of a page from the files of runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from math import nan
from pathlib import Path

import pytest

from mnlearn.errors import InputError
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.page import Page, fill_page
from mnlearn_papers.reproduction import Comparison
from mnlearn_papers.summaries import recorded_figures, write_comparisons, write_tables

FIGURES = [
    Comparison("hub1", 250, "bjp", 7.76, 10.5, 3.0, 9, 2.56, 0.1),
    Comparison("hub1", 250, "mpl", None, 10.25, 2.0, 4, None, 0.1),
    Comparison("hub2", 250, "bjp", 25.1, 21.0, nan, 1, None, nan),
]
DOCS = Path(__file__).parents[3] / "docs"
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


def filled(page: str, figures: Sequence[Comparison] = FIGURES, name: str = "small") -> Page:
    return fill_page(page, lambda asked: figures if asked == name else [])


def rows_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("|")]


def test_a_table_is_made_anew_and_nothing_else_is_touched() -> None:
    page = filled(PAGE)
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
    assert filled(page.text).text == page.text


def test_without_its_runs_a_table_stays() -> None:
    assert filled(PAGE, []) == (PAGE, (), ("small",))


def test_sources_may_be_chosen_and_all_columns_are_shown_when_none_is_named() -> None:
    page = filled("<!-- table small\nonly: hub2\nlines: n_rows\ncell: mean 0\n-->\n<!-- end -->\n")
    assert rows_of(page.text) == ["| rows | bjp |", "|---|---|", "| 250 | 21 |"]


def test_published_and_ours_may_stand_side_by_side() -> None:
    page = filled("<!-- table small\nlines: source\ncell: beside 1\n-->\n<!-- end -->\n")
    assert rows_of(page.text)[2:] == ["| hub1 | 7.8 / 10.5 | 10.2 |", "| hub2 | 25.1 / 21.0 |  |"]


def test_quantities_are_lines_or_chosen() -> None:
    figures = [Comparison("car", 9, name, None, 0.5, nan, 1, None, nan) for name in ("a tests", "b tests", "a V 1N")]
    by_line = filled("<!-- table two\nlines: source, quantity\ncell: percent 0\n-->\n<!-- end -->", figures, "two")
    assert rows_of(by_line.text)[2:] == ["| car | tests | 50 % | 50 % |", "| car | V 1N | 50 % |  |"]
    chosen = filled("<!-- table two\nlines: source = table\nquantity: V 1N\n-->\n<!-- end -->", figures, "two")
    assert rows_of(chosen.text) == ["| table | a |", "|---|---|", "| car | 0.50 |"]


def test_several_quantities_are_counted_together() -> None:
    figures = [Comparison("car", 9, f"a {name}", 1.0, 1.0, 0.1, 3, 4.0, nan) for name in ("tests", "accuracy, all")]
    count = "<!-- near two column: a; quantity: tests; quantity: accuracy, all -->{}<!-- end -->"
    assert filled(count, figures, "two").text == count.format("0 of 2")
    alone = count.replace("; quantity: tests", "")
    assert filled(alone, figures, "two").text == alone.format("0 of 1")


def uci(source: str, size: int, learner: str, ours: float) -> Comparison:
    return Comparison(source, size, learner, None, ours, 0.2, 4, None, nan)


def test_sources_may_be_pooled_and_leaders_counted() -> None:
    figures = [
        uci(source, size, name, ours)
        for source, size, all_ours in (("car", 25, (0.5, 0.7, 0.9)), ("flag", 25, (0.6, 0.6, 0.1)),
                                       ("car", 50, (0.8, 0.2, 0.4)))
        for name, ours in zip(("a", "b", "none"), all_ours, strict=True)
    ]  # fmt: skip
    columns = "column: a\ncolumn: b | error 2\ncolumn: none | mean 1"
    page = f"<!-- table small\nlines: n_rows, sources = tables, n\n{columns}\ncell: leading 2\n-->\n<!-- end -->"
    assert rows_of(filled(page, figures).text)[2:] == [
        "| 25 | 2 | 4 | 0.55 (2) | 0.65 ± 0.07 | 0.5 |",
        "| 50 | 1 | 4 | 0.80 (1) | 0.20 ± 0.10 | 0.4 |",
    ]
    both = page.replace("column: b | error 2", "column: b").replace("lines:", "sizes: 25\nlines:")
    assert rows_of(filled(both, figures).text)[2:] == ["| 25 | 2 | 4 | 0.55 (1) | 0.65 (2) | 0.5 |"]


def test_agreement_is_in_sentences() -> None:
    page = "<!-- agreement small -->\nold\n<!-- end -->\n\n<!-- agreement small\ncolumn: mpl\n-->\n<!-- end -->\n"
    first, second = filled(page).text.split("\n\n")
    assert "1 of 1 published figures are within 3 standard errors; the largest difference is 2.6.\n" in first
    assert "Chi-square is 6.6 on 1 degrees of freedom (p = 0.01).\n<!-- end -->" in first
    assert "There is no published figure to compare with." in second
    assert filled(filled(page).text).text == filled(page).text


def test_a_count_stands_within_a_line() -> None:
    page = "| all | <!-- near small -->old<!-- end --> | <!-- near small column: mpl; only: hub1 --><!-- end --> |\n"
    done = filled(page)
    assert done.filled == ("small", "small")
    assert done.text == page.replace("old", "1 of 1").replace("--><!-- end", "-->none<!-- end")
    assert filled(done.text).text == done.text


def test_pages_with_figures_are_written_and_those_that_stay_are_not_touched(tmp_path: Path) -> None:
    layouts, runs, target = (tmp_path / name for name in ("layouts", "runs", "pages/all"))
    layouts.mkdir()
    (layouts / "a.md").write_text("<!-- table bjp-table3\nlines: source\ncell: beside 1\n-->\n<!-- end -->\n")
    with pytest.raises(InputError, match=r"a\.md has bjp-table3"):
        write_tables(layouts, runs, target)
    runs.mkdir()
    write_comparisons(FIGURES, runs / "bjp-table3.csv")
    (page,) = write_tables(layouts, runs, target)
    assert rows_of(page.read_text())[2:] == ["| hub1 | 7.8 / 10.5 | 10.2 |", "| hub2 | 25.1 / 21.0 |  |"]
    assert rows_of((layouts / "a.md").read_text()) == []
    os.utime(page, (1, 1))
    assert write_tables(layouts, runs, target) == [page]
    assert page.stat().st_mtime == 1


def test_spread_is_shown_alone() -> None:
    page = filled("<!-- table small\nonly: hub1\nlines: source\ncell: sd 1\n-->\n<!-- end -->")
    assert rows_of(page.text)[2:] == ["| hub1 | 3.0 | 2.0 |"]


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
def test_bad_markers_are_refused(page: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        filled(page)


PAGES = (DOCS / "reproduction.md", *sorted((DOCS / "reproduction").glob("*.md")))
LAYOUTS, RUNS = DOCS / "reproduction" / "tables", DOCS / "reproduction" / "runs"
VERDICTS = ("met", "met in part", "contradicted")


def verdicts(page: Path) -> list[str]:
    """Return the second column of the table that a page opens with."""
    table = page.read_text(encoding="utf-8").split("\n\n")[1]
    return [line.split(" | ")[1] for line in rows_of(table)[2:]]


def test_every_table_of_the_docs_is_of_a_known_experiment() -> None:
    tables: set[str] = set()
    for page in (*PAGES, *LAYOUTS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        same, made, kept = fill_page(text, lambda _: [])
        assert (same, made) == (text, ())
        tables.update(kept)
    assert tables <= {*REPRODUCTIONS, "costs", "overview"}
    assert {"mpl-table1", "mpl-table3", "bjp-table1", "bjp-orders", "ibmap-uci", "gsimn-figures8-9"} <= tables


def test_the_tables_of_the_docs_are_made_from_the_summaries(tmp_path: Path) -> None:
    assert [page.stem for page in write_tables(LAYOUTS, RUNS, tmp_path)] == [
        *("bjp18", "ibmap14", "jair09", "mbs09", "mpl17", "overview")
    ]
    for layout in LAYOUTS.glob("*.md"):
        assert rows_of(layout.read_text(encoding="utf-8")) == [], f"{layout.name} must have no figures"
    assert "| all | 980 | 567 |" in (tmp_path / "overview.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_count_of_the_docs_is_that_of_its_summary(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = fill_page(text, partial(recorded_figures, folder=RUNS)).text
    assert made == text, f"run mnlearn reproduce --page {page.relative_to(DOCS.parent)} --out docs/reproduction/runs"


def test_the_verdicts_of_the_papers_are_counted() -> None:
    first, *papers = PAGES
    counts = {}
    for paper in papers:
        assert set(verdicts(paper)) <= set(VERDICTS)
        counts[paper.name] = [str(verdicts(paper).count(verdict)) for verdict in VERDICTS]
    lines = [line.split(" | ") for line in rows_of(first.read_text(encoding="utf-8")) if "](reproduction/" in line]
    assert {line[0].split("/")[1].rstrip(")"): line[1:4] for line in lines} == counts
