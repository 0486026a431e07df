"""The report with groups of variables, intervals, stability, and a comparison of groups of rows."""

from __future__ import annotations

import base64
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.analysis.stability import Stability
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.results import Learned
from mnlearn.visual.figure_data import Appearance, figure_data_of
from mnlearn.visual.report import render_report
from mnlearn.visual.report_sections import Computed, ReportSection
from report_networks import HOSTILE, hostile_columns

GROUPS = {"first": ["a", "b"], "second": ["c"]}  # d has none


def chain(n_rows: int = 240) -> dict[str, Any]:
    """Return numbers a - b - c - d in two groups of rows; a - b has another sign in each."""
    rng = np.random.default_rng(5)
    group = np.arange(n_rows) % 2
    a = rng.normal(size=n_rows)
    b = np.where(group, 1.0, -1.0) * a + rng.normal(size=n_rows)
    c = b + rng.normal(size=n_rows)
    return {"a": a, "b": b, "c": c, "d": c + rng.normal(size=n_rows), "group": group.astype(str)}


def numbers() -> dict[str, Any]:
    return {name: values for name, values in chain().items() if name != "group"}


@pytest.fixture(scope="module")
def learned() -> Learned:
    return mn.learn(numbers(), "glasso", n_jobs=1)


@pytest.fixture(scope="module")
def computed(learned: Learned) -> Computed:
    comparison = mn.compare_groups(chain(), "group", "pc", n_permutations=39, n_jobs=1)
    halves: dict[str, Any] = {"relearn": False, "n_jobs": 1}
    return Computed(learned.intervals(30, **halves), learned.stability(28, **halves), comparison)


@pytest.fixture(scope="module")
def sections(learned: Learned, computed: Computed) -> list[ReportSection]:
    return computed.sections(figure_data_of(learned, 0, Appearance(groups=GROUPS)), 0)


def pictures(text: str) -> list[str]:
    """Return the SVG of every image of a page."""
    start = 'src="data:image/svg+xml;base64,'
    return [base64.b64decode(part.partition('"')[0]).decode("utf-8") for part in text.split(start)[1:]]


def test_the_page_has_a_section_for_each_analysis(
    learned: Learned, computed: Computed, sections: list[ReportSection], tmp_path: Path
) -> None:
    parts: dict[str, Any] = {name: getattr(computed, name) for name in ("intervals", "stability", "comparison")}
    learned.report(tmp_path / "out.html", groups=GROUPS, **parts)
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    for key, title in (
        ("intervals", "How sure are the weights"),
        ("stability", "How stable are the centralities"),
        ("groups", "Groups"),
    ):
        assert f'<h2 id="{key}-title">{title}</h2>' in text
        assert f'<a href="#{key}-section">' in text
    drawn = pictures(text)
    assert len(drawn) == 4
    assert all("<svg" in one and "<dc:date>" not in one for one in drawn)
    assert "img-src data:" in text
    assert pictures(" ".join(f'src="{one.address}"' for section in sections for one in section.pictures)) == drawn
    assert "<img" not in render_report(learned)


def test_groups_of_variables_have_colours_names_and_bridges(learned: Learned) -> None:
    text = render_report(learned, groups=GROUPS)
    assert "In the picture each group of variables has a colour: “first” and “second”." in text
    assert "<bdi>first</bdi></span>" in text
    assert "<bdi>other</bdi></span>" in text
    assert "one community" not in text
    assert "<td><bdi>second</bdi></td>" in text
    table = learned.centrality(GROUPS, frame="pyarrow").to_pylist()
    assert table[3]["bridge_strength"] == pytest.approx(table[3]["strength"])  # d is a group of its own
    for row in table:
        assert f'data-value="{row["bridge_strength"]}"' in text
    assert "one colour: one community" in render_report(learned)


def test_intervals_are_columns_of_the_edges(
    learned: Learned, computed: Computed, sections: list[ReportSection]
) -> None:
    assert computed.intervals is not None
    text = render_report(learned, computed=replace(computed, stability=None, comparison=None))
    assert '<button type="button">low</button></th><th scope="col" class="number"><button type="button">high' in text
    for row in computed.intervals.edges("pyarrow").to_pylist():
        assert f'data-value="{row["low"]}">{row["low"]:.3f}</td>' in text
    words = " ".join(sections[0].sentences)
    assert "In 30 bootstrap samples (seed 0) the weights of the same edges were estimated again." in words
    assert "the intervals are of weights without shrinkage" in words
    stopped = replace(computed.intervals, weights=computed.intervals.weights._replace(asked=50))
    (section,) = Computed(stopped).sections(figure_data_of(learned), 0)
    assert "The run was stopped after 30 of 50 samples." in section.sentences


def test_cs_coefficients_are_put_in_words(learned: Learned, computed: Computed, sections: list[ReportSection]) -> None:
    assert computed.stability is not None
    (table,) = sections[1].tables
    shown = {texts[0]: cells[0][1] for texts, cells in table.rows}
    assert shown["strength"] == computed.stability.cs_coefficient["strength"]
    ones = np.ones(28)
    known = {"weight": ones, "strength": np.where(computed.stability.dropped <= 0.4, 1.0, 0.0), "closeness": 0 * ones}
    correlations = {name: known.get(name, np.full(28, np.nan)) for name in computed.stability.correlations}
    made: Stability = replace(computed.stability, correlations=correlations)
    (section,) = Computed(stability=made).sections(figure_data_of(learned), 0)
    assert section.sentences[-3:] == [
        "Stable (0.5 or more): weights of the edges.",
        "To interpret with care (0.25 to 0.5): strength.",
        "Not stable (below 0.25): closeness.",
    ]
    assert (["betweenness", "not known: all values are equal"], [("", None)]) in section.tables[0].rows


def test_groups_of_rows_with_their_tests_and_pairs(computed: Computed, sections: list[ReportSection]) -> None:
    assert computed.comparison is not None
    section = sections[2]
    tests, pairs, centralities = section.tables
    assert section.sentences[0].startswith("group = 0 (120 rows, ")
    assert "1 pair differs between groups (p corrected by max ≤ 0.05): “a – b”." in section.sentences
    assert [cells[0][1] for _, cells in tests.rows] == [one.value for one in computed.comparison.statistics]
    assert pairs.rows[0][0] == ["0, 1", "a", "b"]
    assert pairs.rows[0][1][2][1] == computed.comparison.pairs[0].difference
    assert len(centralities.rows) == len(computed.comparison.centralities)
    assert [picture.description for picture in section.pictures] == [
        "The networks of the groups side by side",
        "Differences of the weights: 0 minus 1",
    ]


def test_without_matplotlib_the_tables_stand(
    learned: Learned, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = computed.sections(figure_data_of(learned), 0)
    assert [len(section.tables) for section in found] == [0, 1, 3]
    for section in found:
        assert not section.pictures
        assert "pip install 'mnlearn[plot]'" in section.sentences[-1]


def test_an_empty_network_has_its_sections(computed: Computed) -> None:
    rng = np.random.default_rng(0)
    empty = mn.learn({name: rng.normal(size=60) for name in "ab"}, "glasso", n_jobs=1)
    assert not empty.graph.n_edges
    halves: dict[str, Any] = {"relearn": False, "n_jobs": 1}
    made = Computed(empty.intervals(3, **halves), empty.stability(14, **halves))
    text = render_report(empty, computed=made)
    assert "0 of 0 intervals leave out 0." in text
    assert "not known: all values are equal" in text


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("intervals", "intervals must be of this network; only one of the two has the variable 'a'. Compute them for "),
        ("stability", "stability must be of this network; only one of the two has the variable 'a'. Compute them for "),
        ("comparison", "comparison must have the variables of this network; only one of the two has 'a'. Compare the"),
    ],
)
def test_analyses_of_another_network_are_refused(
    learned: Learned, computed: Computed, part: str, message: str, tmp_path: Path
) -> None:
    other = mn.learn({name: numbers()[name] for name in "bcd"}, "glasso", n_jobs=1)
    with pytest.raises(InputError, match=message):
        other.report(tmp_path / "out.html", **cast(Any, {part: getattr(computed, part)}))
    with pytest.raises(InputError, match=rf"{part} must be what .*{part[:5]}.* returned; got 7. Leave it out"):
        learned.report(tmp_path / "out.html", **cast(Any, {part: 7}))
    assert not list(tmp_path.iterdir())


def test_another_structure_or_other_rows_are_refused(learned: Learned, computed: Computed) -> None:
    fewer = replace(learned, result=replace(learned.result, graph=learned.graph.flip(0, 1)))
    with pytest.raises(InputError, match="intervals must be of this network; only one of the two joins 'a' and 'b'"):
        render_report(fewer, computed=computed)
    with pytest.raises(InputError, match="learned from 100 rows; got one learned from 240"):
        render_report(replace(learned, n_rows=100), computed=computed)
    with pytest.raises(UnknownNameError, match="groups: variable 'x' does not exist"):
        render_report(learned, groups={"first": ["x"]})


def test_the_network_may_have_the_column_that_divides_the_rows(computed: Computed) -> None:
    beside = mn.learn(chain(), "mpl", n_jobs=1, discretize="frequency")
    made = Computed(comparison=computed.comparison)
    made.check(beside)
    groups = {"rows": ["group"], "first": ["a", "b", "c", "d"]}
    text = render_report(beside, groups=groups, computed=made)
    assert len(pictures(text)) == 2


def test_hostile_names_are_text_in_every_section() -> None:
    columns = hostile_columns()
    learned = mn.learn({name: columns[name] for name in HOSTILE}, "mpl", n_jobs=1)
    assert learned.graph.n_edges > 5
    halves: dict[str, Any] = {"relearn": False, "n_jobs": 1}
    comparison = mn.compare_groups(columns, "<u>by</u>", "mpl", n_permutations=1, n_jobs=1)
    computed = Computed(learned.intervals(5, **halves), learned.stability(14, **halves), comparison)
    groups = {"<script>alert(8)</script>": list(HOSTILE[:8]), '" onload=alert(9) x="': list(HOSTILE[8:])}
    text = render_report(learned, groups=groups, computed=computed)
    plain = render_report(learned)
    assert text.count("<script") == plain.count("<script")
    for marker in ("<script>alert", 'onload=alert(9) x=">', "<u>by", "</td><i>0", "<img src=x", "<svg onload"):
        assert marker not in text, marker
    assert "&lt;u&gt;by&lt;/u&gt; = &lt;/td&gt;&lt;i&gt;0&lt;/i&gt;" in text
    assert "<bdi>&lt;script&gt;alert(8)&lt;/script&gt;</bdi>" in text
    for picture in pictures(text):
        assert "<script" not in picture
