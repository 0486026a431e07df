"""The report as text: what it says, that names stay names, that it is written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
import mnlearn.visual.report
from mnlearn.errors import FileError, MissingDependencyError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.results import Learned
from mnlearn.simulate.catalogue import example
from mnlearn.visual.figure_data import figure_data_of
from mnlearn.visual.report import render_report, run_again
from mnlearn.visual.report_text import cautions, quoted_list, summary_sentences
from report_networks import HOSTILE, hostile, large, ordinary


class Page(HTMLParser):
    """Texts, tags and scripts of a page, as a browser takes them apart."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: dict[str, str] = {}
        self._script = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self._script = dict(attrs).get("id") or f"code{len(self.scripts)}"

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = ""

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        else:
            self.texts.append(data)

    @property
    def words(self) -> str:
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def survey() -> Learned:
    return ordinary()


@pytest.fixture(scope="module")
def page(survey: Learned) -> Page:
    return Page(render_report(survey, source="survey.csv", title="Sleep & work"))


def test_it_says_what_was_learned(page: Page, survey: Learned) -> None:
    edges = survey.graph.n_edges
    assert f"The network has {edges} edges among 12 variables. It was learned from 1,000 rows" in page.words
    assert "Sleep & work" in page.texts
    assert "“poor_sleep” has the most neighbours" in page.words
    rows = [attributes for tag, attributes in page.tags if tag == "tr" and "data-edge" in attributes]
    assert len(rows) == edges
    assert f"mnlearn {mn.__version__}" in " ".join(page.words.split())
    assert "mn.learn(\n    'survey.csv',\n    method='sep'," in page.words


def test_scripts_get_all_names_edges_and_numbers(page: Page, survey: Learned) -> None:
    data = json.loads(page.scripts["page-data"])
    assert data["names"] == list(survey.names)
    assert [tuple(edge) for edge in data["edges"]] == list(survey.graph.edges)
    assert [scale["label"] for scale in data["measures"]] == ["probability", "log odds", "|log odds ratio|"]
    assert data["measures"][1]["values"] == [survey.result.support[edge] for edge in survey.graph.edges]


def test_centralities_are_those_of_the_table(page: Page, survey: Learned) -> None:
    assert "The centrality of the variables" in page.words
    table = survey.centrality(frame="pandas").sort_values("strength", ascending=False)
    shown = page.words[page.words.index("The centrality of the variables") :]
    assert shown.index(table["variable"].iloc[0]) < shown.index(table["variable"].iloc[1])
    for name in ("strength", "expected_influence", "closeness"):
        assert f"{table[name].iloc[0]:.3g}" in shown


@pytest.mark.parametrize("make", [ordinary, hostile])
def test_nothing_is_asked_of_a_network_and_only_our_scripts_may_run(make: Any) -> None:
    text = render_report(make())
    page = Page(text)
    for tag, attributes in page.tags:
        assert "src" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#"), tag
        assert tag not in {"link", "iframe", "img", "object", "form", "base"}
    (policy,) = (a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    code = [script for name, script in page.scripts.items() if name.startswith("code")]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in code]
    assert digests == allowed
    assert "\r" not in text


def test_names_are_text_wherever_they_stand() -> None:
    page = Page(render_report(hostile(), title="<script>title</script>"))
    assert [tag for tag, _ in page.tags].count("script") == 6
    assert json.loads(page.scripts["page-data"])["names"] == list(HOSTILE)
    assert "<i>method</i>" in page.words
    assert "<script>title</script>" in page.texts
    for name in HOSTILE:
        assert name in page.texts
        assert {"value": name} in [attributes for tag, attributes in page.tags if tag == "option"]


def test_a_network_without_data_has_a_report_too() -> None:
    page = Page(render_report(large(80)))
    assert "The data are not at hand" in page.words
    assert "Score -1.5" in page.words


@pytest.mark.parametrize(("names", "edges"), [(("a",), []), (("a", "b"), []), (("a", "b"), [(0, 1)])])
def test_the_smallest_networks(names: tuple[str, ...], edges: list[tuple[int, int]]) -> None:
    found = Result(Graph(len(names), edges), None, {}, True, {})
    words = Page(render_report(Learned("gsmn", names, found))).words
    assert ("The network is empty" in words) == (not edges)


def titles(learned: Learned) -> list[str]:
    return [caution.title for caution in cautions(learned)]


def of(data: Any, edges: list[tuple[int, int]], **more: Any) -> Learned:
    dataset = mn.read(data, **more)
    return Learned("gsmn", dataset.names, Result(Graph(len(dataset.names), edges), None, {}, True, {}), dataset)


FINE = {name: [k // step % 2 for k in range(200)] for name, step in (("a", 1), ("b", 2), ("c", 4))}


def test_nothing_to_caution_about() -> None:
    assert titles(of(FINE, [(0, 1)])) == []


def test_cautions_about_the_search() -> None:
    fine = of(FINE, [(0, 1)])
    assert titles(replace(fine, result=replace(fine.result, converged=False))) == ["The search was stopped early"]
    assert titles(of(FINE, [])) == ["The network is empty"]
    everyone = [(u, v) for v in range(7) for u in range(v)]
    dense = Learned("x", tuple("abcdefg"), Result(Graph(7, everyone), None, {}, True, {}))
    assert titles(dense) == ["The network is dense"]


def test_cautions_about_the_data() -> None:
    few = {"a": [0, 1] * 9, "b": [0, 0, 1] * 6, "c": [0, 0, 0, 0, 0, 0, 1, 1, 1] * 2}
    assert titles(of(few, [(0, 1), (0, 2)])) == ["Few rows for some neighbourhoods"]
    assert titles(of(few, [(0, 1)])) == ["Few rows for some neighbourhoods"]
    assert titles(of(FINE | {"same": ["x"] * 200}, [(0, 1)])) == ["Constant variables"]
    assert titles(of(FINE | {"copy": FINE["a"]}, [(0, 1)])) == ["The same variable twice"]
    assert titles(of(FINE | {"rare": ["x"] * 197 + ["y"] * 3}, [(0, 1)])) == ["Rare categories"]
    gaps = FINE | {"gap": [None, *FINE["a"][1:-1], 0]}
    assert titles(of(gaps, [(0, 1)], missing="drop_rows"))[-1] == "Missing values"
    assert titles(of(gaps, [(0, 1)], missing="category"))[-1] == "Missing values"


def test_cautions_about_the_tests() -> None:
    columns = example(200, seed=1).columns()
    learned = mn.learn(columns, "gsmn*")
    (caution,) = (caution for caution in cautions(learned) if caution.title.startswith("Small expected counts"))
    low = [
        (u, v)
        for u, v in learned.graph.edges
        if any(test.warning for test in learned.why(learned.names[u], learned.names[v]).tests)
    ]
    assert caution.title == f"Small expected counts behind {len(low)} edges"
    assert "more than 20 % of the expected counts of chi2 are below 5 (Cochran's rule)" in caution.text
    assert caution.title in Page(render_report(learned)).words
    assert "The independence test was chi2 (alpha 0.01, dof observed)." in Page(render_report(learned)).words
    for quiet in (mn.learn(columns, "gsmn*", test="bayes"), mn.learn(columns), replace(learned, data=None)):
        assert "Small expected" not in " ".join(titles(quiet))


def test_levels_without_rows_are_named() -> None:
    frame = pd.DataFrame(FINE).astype({"a": pd.CategoricalDtype([0, 1, 2, 3])})
    assert "levels without rows: 2" in Page(render_report(of(frame, [(0, 1)]))).words
    assert "levels without rows" not in Page(render_report(of(FINE, [(0, 1)]))).words


def test_continuous_neighbourhoods_want_ten_rows_for_each() -> None:
    table = {name: [((k * p) % 97) / 7 for k in range(25)] for name, p in (("a", 3), ("b", 5), ("c", 7))}
    assert titles(of(table, [(0, 1)])) == []
    assert titles(of(table, [(0, 1), (0, 2)])) == ["Few rows for some neighbourhoods"]


def test_cautions_about_resamples() -> None:
    found = replace(of(FINE, [(0, 1), (1, 2)]), frequencies={(0, 1): 0.9, (0, 2): 0.7})
    assert titles(found) == ["1 edge unstable", "1 pair came close"]
    texts = [caution.text for caution in cautions(found)]
    assert "“b – c”" in texts[0]
    assert "“a – c”" in texts[1]


def test_sentences(survey: Learned) -> None:
    assert quoted_list(["a"]) == "“a”"
    assert quoted_list(["a", "b", "c"]) == "“a”, “b” and “c”"
    assert quoted_list(list("abcdefgh"), 2) == "“a”, “b” and 6 more"
    odds = {(0, 1): 2.0, (1, 2): 1.0, (2, 3): 2.0}
    shares = replace(large(4), result=Result(Graph(4, odds), None, odds, True, {}, support_scale="log_odds"))
    assert "2 edges share the first place (log odds 2.000)" in summary_sentences(shares, figure_data_of(shares))[1]
    equal = replace(shares, result=replace(shares.result, support=dict.fromkeys(odds, 1.5)))
    assert (
        summary_sentences(equal, figure_data_of(equal))[1]
        == "All of them have the same log odds 1.500, to three digits."
    )
    lonely = of(FINE, [(0, 1)])
    assert summary_sentences(lonely, figure_data_of(lonely))[-1] == "“c” is joined with no other variable."


@pytest.mark.parametrize(
    ("method", "settings"),
    [("sep", {}), ("gsimn", {"alpha": 0.01}), ("mpl", {"required": [["stress", "left_handed"]]}), ("hillclimb", {})],
)
def test_the_call_it_shows_learns_the_same(tmp_path: Path, method: str, settings: dict[str, Any]) -> None:
    table = example(300, seed=3).columns()
    path = tmp_path / "survey.csv"
    lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    learned = mn.learn(path, method, columns=list(table)[1:], **settings)
    space: dict[str, Any] = {}
    exec(run_again(learned, str(path)), space)
    assert space["result"].graph == learned.graph
    assert space["result"].names == learned.names


def test_the_call_it_shows_names_arrays_and_own_scores() -> None:
    class Pairs(mn.CustomScore):
        def local(self, x: int, blanket: frozenset[int]) -> float:
            return float(-abs(len(blanket) - x))

    codes = np.random.default_rng(1).integers(0, 2, (40, 3))
    learned = mn.learn(codes, "hillclimb", score=Pairs, names=["a", "b", "c"])
    space: dict[str, Any] = {"your_array": codes, "Pairs": Pairs}
    exec(run_again(learned, None), space)
    assert (space["result"].graph, space["result"].names) == (learned.graph, learned.names)


def test_the_call_it_shows_draws_and_chooses_the_same(tmp_path: Path) -> None:
    table = example(200, seed=3).columns()
    learned = mn.learn(table, "mpl").bootstrap(6, sampling="halves", seed=4, n_jobs=1).stable(0.9)
    space: dict[str, Any] = {"table": table}
    exec(run_again(learned, "TABLE").replace("'TABLE'", "table"), space)
    assert space["result"].graph == learned.graph
    assert space["result"].resampling == learned.resampling
    assert space["result"].frequencies == learned.frequencies


def test_it_is_written_whole_or_not_at_all(survey: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey.report(tmp_path / "out.html")
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    with pytest.raises(FileError, match=r"path must end in .html; got '.*out.pdf'"):
        survey.report(tmp_path / "out.pdf")
    with pytest.raises(FileError, match=r"nowhere.*cannot be written"):
        survey.report(tmp_path / "nowhere" / "out.html")
    before = (tmp_path / "out.html").read_bytes()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FileError, match="No space left on device"):
        survey.report(tmp_path / "out.html")
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert (tmp_path / "out.html").read_bytes() == before


def test_without_bokeh_the_extra_is_named(survey: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str, extra: str) -> None:
        raise MissingDependencyError(f"{module} {extra}")

    monkeypatch.setattr(mnlearn.visual.report, "require", missing)
    with pytest.raises(MissingDependencyError, match="jinja2 report"):
        render_report(survey)


def test_a_name_that_is_no_text_in_any_encoding_is_replaced(tmp_path: Path) -> None:
    found = Result(Graph(2, [(0, 1)]), None, {}, True, {})
    Learned("gsmn", ("half \ud83d", "b"), found).report(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_bytes().decode("utf-8")
    assert "half " in page
    assert "\ud83d" not in page


def incomplete(n_rows: int = 400) -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    ward, sex = rng.choice(list("abc"), n_rows), rng.choice(["f", "m"], n_rows)
    age = rng.normal(50.0, 9.0, n_rows) + 8.0 * (sex == "f")
    lacks = rng.random(n_rows) < np.where(ward == "a", 0.5, 0.05)
    return {
        "age": [None if gap else value for gap, value in zip(lacks, age.tolist(), strict=True)],
        "ward": ward.tolist(),
        "sex": sex.tolist(),
        "visits": rng.poisson(1.0, n_rows).tolist(),
    }


def test_missing_values_have_a_section() -> None:
    learned = mn.learn(incomplete(), missing="testwise", types={"visits": "count"})
    gaps = sum(value is None for value in incomplete()["age"])
    words = Page(render_report(learned)).words
    assert f"{gaps} values of 1,600 ({gaps / 1600:.1%}) were missing, in 1 column of 4." in words
    assert "Each test and each local model used the rows in which all its own variables have a value." in words
    assert f"{400 - gaps} rows of 400 are complete." in words
    assert f"Both ends of an edge have a value in at least {400 - gaps} rows" in words
    assert "Whether “age” is missing depends on “ward”." in words
    assert "What the evidence assumes" in words
    assert "the variables are of several kinds, with missing values" in words
    for kind in ("nominal", "continuous", "count", "declared", "words"):
        assert kind in words
    assert "nan" not in words.lower().split()


def test_gaps_that_depend_on_two_columns_are_a_caution() -> None:
    columns = incomplete()
    columns["age"] = [
        None if ward == "a" and sex == "f" else 30.5 + k % 17
        for k, (ward, sex) in enumerate(zip(columns["ward"], columns["sex"], strict=True))
    ]
    learned = mn.learn(columns, missing="testwise")
    assert titles(learned)[-3:] == ["Missing values", "Gaps depend on other columns", "What the evidence assumes"]
    assert "of “age” on “ward” and “sex”" in cautions(learned)[-2].text


def test_a_gap_is_not_a_rare_category() -> None:
    columns = FINE | {"gap": [None, *FINE["a"][1:]]}
    assert "Rare categories" not in titles(of(columns, [(0, 1)], missing="testwise"))
    never = {"a": ["x", None] * 100, "b": [None, "y"] * 100, "c": ["u", "v", "v", "u"] * 50}
    assert "Columns without a common row" in titles(of(never, [], missing="testwise"))


def test_shares_of_the_most_common_are_of_the_observed_values() -> None:
    columns = FINE | {"gap": [None] * 100 + ["x"] * 60 + ["y"] * 40}
    assert "x (60%)" in Page(render_report(of(columns, [(0, 1)], missing="testwise"))).words


def test_dropped_rows_and_states_for_gaps_have_a_section_too() -> None:
    gaps = FINE | {"gap": [None, *FINE["a"][1:-1], 0]}
    for policy, done in (("drop_rows", "1 row with a gap was left out"), ("category", "Gaps count as a category")):
        page = Page(render_report(of(gaps, [(0, 1)], missing=policy)))
        assert "1 value of 800 (0.1%) was missing, in 1 column of 4." in page.words
        assert done in page.words
