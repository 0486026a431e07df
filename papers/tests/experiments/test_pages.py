"""Charts and tables of the documentation follow the runs."""

from __future__ import annotations

from functools import partial

from mnlearn_papers.learners import recorded_times
from mnlearn_papers.learners_page import draw_times
from mnlearn_papers.page import fill_page
from mnlearn_papers.summaries import recorded_figures
from test_pictures import DOCS, check_pictures


def test_the_committed_charts_are_up_to_date() -> None:
    check_pictures("charts")


def test_the_tables_of_learners_are_up_to_date() -> None:
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    filled = fill_page(page, partial(recorded_figures, folder=DOCS / "benchmarks"))
    assert filled.filled == ("learners",) * 4
    assert filled.text == page, "run mnlearn bench learners --out docs/benchmarks --page docs/benchmarks.md"
    drawn = (DOCS / "benchmarks" / "learners.svg").read_text(encoding="utf-8")
    assert drawn == draw_times(recorded_times(DOCS / "benchmarks" / "learners.jsonl"))
