"""Sections of the report about analyses of a network: intervals of weights, stability, and groups of rows.

Pictures are SVG in the address of an image, where a browser runs no script and follows no link.

Section and warnings of the report about missing values: how many, where, what was done, and what may follow.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mnlearn.data.dataset import Dataset, costly_columns
from mnlearn.data.overviews import LEVEL, Missingness
from mnlearn.errors import InputError, MissingDependencyError, require
from mnlearn.evaluation.centrality import CENTRALITIES
from mnlearn.graphs.graph import Graph
from mnlearn.visual.canvas import svg_of
from mnlearn.visual.figure_data import FigureData
from mnlearn.visual.report_text import Caution, count_of, decimal, quoted_list, rows_with

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.analysis.groups import CentralityDifference, GroupComparison, PairDifference
    from mnlearn.analysis.intervals import Intervals
    from mnlearn.analysis.stability import Stability
    from mnlearn.results.learned import Learned


_LEVEL = 0.05  # of corrected p-values
_MOST_ROWS = 200  # pairs or variables of a comparison
_DRAWN_EDGES = 1_000  # intervals in a picture: beyond, its lines cannot be told apart
_DRAWN_VARIABLES = 200  # of a comparison: beyond, the layouts take seconds
_COMPARED = 3  # groups with a picture of every difference
_GOOD, _FAIR = 0.5, 0.25  # CS coefficients  [EBF18]
_ROUNDING = 1e-9
_OFTEN = 0.5  # share of the samples


ReportRow: TypeAlias = tuple[list[str], list[tuple[str, float | None]]]  # texts; numbers as text and as value


class ReportTable(NamedTuple):
    """A sortable table: columns of text, then columns of numbers."""

    key: str
    title: str
    headings: list[str]
    number_headings: list[str]
    rows: list[ReportRow]


class ReportPicture(NamedTuple):
    """A picture as the address of an image, and its description."""

    address: str
    description: str


class ReportSection(NamedTuple):
    """One section of the page."""

    key: str
    title: str
    link: str
    sentences: list[str]
    pictures: list[ReportPicture]
    tables: list[ReportTable]


@dataclass(frozen=True, eq=False)
class Computed:
    """Analyses of a network that its report shows, if they were made; see `Learned.report`."""

    intervals: Intervals | None = None
    stability: Stability | None = None
    comparison: GroupComparison | None = None

    def check(self, learned: Learned) -> None:
        """Raise InputError for an analysis of another network."""
        if self.intervals is not None:
            _check_network("intervals", self.intervals.learned, learned)
        if self.stability is not None:
            _check_network("stability", self.stability.learned, learned)
        if self.comparison is not None:
            _check_variables(self.comparison, learned)

    def sections(self, picture: FigureData, seed: int) -> list[ReportSection]:
        """Return the sections of the page, in its order."""
        if (self.intervals, self.stability, self.comparison) == (None, None, None):
            return []
        gallery, found = _Gallery(), []
        if self.intervals is not None:
            found.append(_interval_section(self.intervals, gallery))
        if self.stability is not None:
            found.append(_stability_section(self.stability, gallery))
        if self.comparison is not None:
            found.append(_group_section(self.comparison, picture, seed, gallery))
        return found

    def limits(self, picture: FigureData) -> dict[tuple[int, int], tuple[float, float]]:
        """Return the ends of the interval of each edge; none without intervals."""
        if self.intervals is None:
            return {}
        place = {name: x for x, name in enumerate(picture.names)}
        rows = [row for row in self.intervals.edges("pyarrow").to_pylist() if row["edge"]]
        ends = [sorted((place[row["u"]], place[row["v"]])) for row in rows]
        return {(u, v): (row["low"], row["high"]) for (u, v), row in zip(ends, rows, strict=True)}


@dataclass(frozen=True)
class _Gallery:
    """Draws pictures; without matplotlib it has a sentence on how to install it instead."""

    missing: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            require("matplotlib", "plot")
        except MissingDependencyError as error:
            self.missing.append(f"There are no pictures in this section: {error}")

    def draw(self, description: str, drawn: Callable[[], Figure]) -> list[ReportPicture]:
        """Return the picture, if it can be drawn."""
        if self.missing:
            return []
        return [
            ReportPicture(f"data:image/svg+xml;base64,{base64.b64encode(svg_of(drawn)).decode('ascii')}", description)
        ]


def new_gallery() -> _Gallery:
    """Return an object that draws pictures, if matplotlib is installed."""
    return _Gallery()


def _check_network(argument: str, other: Learned, learned: Learned) -> None:
    """Raise InputError unless an analysis is one of this network: same variables, edges and rows."""
    strange = sorted(set(other.names) ^ set(learned.names))
    way_out = f"Compute them for this one: learned.{argument}()."
    if strange:
        raise InputError(
            f"{argument} must be of this network; only one of the two has the variable {strange[0]!r}. {way_out}"
        )
    edges = _edges_by_name(other) ^ _edges_by_name(learned)
    if edges:
        u, v = min(sorted(edge) for edge in edges)
        raise InputError(f"{argument} must be of this network; only one of the two joins {u!r} and {v!r}. {way_out}")
    if None not in (other.n_rows, learned.n_rows) and other.n_rows != learned.n_rows:
        raise InputError(
            f"{argument} must be of this network, learned from {learned.n_rows:,} rows; got one learned from "
            f"{other.n_rows:,}. {way_out}"
        )


def _edges_by_name(learned: Learned) -> set[frozenset[str]]:
    return {frozenset((learned.names[u], learned.names[v])) for u, v in learned.graph.edges}


def _check_variables(comparison: GroupComparison, learned: Learned) -> None:
    """Raise InputError unless groups have the variables of the network, which may also have those that divide them."""
    beside = {comparison.by, *(() if comparison.adjustment is None else comparison.adjustment.covariates)}
    strange = sorted((set(comparison.networks[0].names) ^ set(learned.names)) - beside)
    if strange:
        raise InputError(
            f"comparison must have the variables of this network; only one of the two has {strange[0]!r}. Compare the "
            "groups of the same columns."
        )


def _interval_section(found: Intervals, gallery: _Gallery) -> ReportSection:
    """Return the section on the intervals of the weights."""
    rows = found.edges("pyarrow").to_pylist()
    inside = [row for row in rows if row["edge"]]
    clear = sum(not row["low"] <= 0.0 <= row["high"] for row in inside)
    noun = "bootstrap samples" if found.sampling == "bootstrap" else "random halves of the rows"
    how = "the network was learned again" if found.relearn else "the weights of the same edges were estimated again"
    sentences = [
        f"In {found.done:,} {noun} (seed {found.seed}) {how}. The middle {found.level:.0%} of the weights of an edge "
        "are its interval, the columns “low” and “high” in the table of edges.",
        f"{clear:,} of {count_of(len(inside), 'interval')} leave{'s' * (clear == 1)} out 0.",
    ]
    known = {} if found.learned.weights is None else found.learned.weights.values
    pairs = zip(found.weights.pairs, found.weights.observed, strict=True)
    if any(abs(known.get(pair, 0.0) - value) > _ROUNDING for pair, value in pairs):
        sentences.append(
            "The method shrinks its weights and the intervals are of weights without shrinkage: the points of the "
            "picture, not the column “weight”."
        )
    sentences += _stopped(found.done, found.weights.asked)
    often = [f"{row['u']} – {row['v']}" for row in rows if not row["edge"] and row["frequency"] >= _OFTEN]
    if often:
        verb = "is an edge" if len(often) == 1 else "are edges"
        sentences.append(f"{quoted_list(often)} {verb} in at least half of the samples, but not in the network.")
    pictures: list[ReportPicture] = []
    if 0 < len(inside) <= _DRAWN_EDGES:
        pictures = gallery.draw("The weights of the edges with their intervals", lambda: found.plot(title=""))
    return ReportSection(
        "intervals", "How sure are the weights", "Intervals", [*sentences, *gallery.missing], pictures, []
    )


def _stopped(done: int, asked: int) -> list[str]:
    """Return a sentence if a run was cancelled."""
    return [f"The run was stopped after {done:,} of {asked:,} samples."] if done < asked else []


def _stability_section(found: Stability, gallery: _Gallery) -> ReportSection:
    """Return the section on the CS coefficients."""
    how = "the network was learned again" if found.relearn else "the weights of the same edges were estimated again"
    sentences = [
        f"In {found.done:,} samples (seed {found.seed}) 10 to 75 % of the rows were dropped, and {how} from the rest.",
        "The CS coefficient of a measure is the largest share of the rows that can be dropped such that its values "
        f"still correlate with those of all rows by at least {found.correlation:g} in 95 % of the samples. It should "
        f"be at least {_FAIR:g}, better {_GOOD:g}.",
        *_stopped(found.done, found.asked),
    ]
    titles = {"weight": "weights of the edges", **CENTRALITIES}
    known = {name: cs for name, cs in found.cs_coefficient.items() if not np.isnan(found.correlations[name]).all()}
    verdicts: dict[str, list[str]] = {}
    for name, share in known.items():
        verdicts.setdefault(_verdict(share), []).append(titles[name])
    sentences += [f"{verdict[:1].upper()}{verdict[1:]}: {'; '.join(names)}." for verdict, names in verdicts.items()]
    rows: list[ReportRow] = []
    for name, title in titles.items():
        cs = known.get(name)
        if cs is None:
            rows.append(([title, "not known: all values are equal"], [("", None)]))
        else:
            rows.append(([title, _verdict(cs)], [(f"{cs:.2f}", cs)]))
    table = ReportTable("stability", "", ["measure", "in words"], ["CS coefficient"], rows)
    pictures = gallery.draw(
        "Correlation of the centralities with those of all rows, by the share of rows kept",
        lambda: found.plot(title=""),
    )
    title = "How stable are the centralities"
    return ReportSection("stability", title, "Stability", [*sentences, *gallery.missing], pictures, [table])


def _verdict(cs: float) -> str:
    """Return a CS coefficient in words."""
    if cs >= _GOOD:
        return f"stable ({_GOOD:g} or more)"
    return f"to interpret with care ({_FAIR:g} to {_GOOD:g})" if cs >= _FAIR else f"not stable (below {_FAIR:g})"


def _group_section(found: GroupComparison, picture: FigureData, seed: int, gallery: _Gallery) -> ReportSection:
    """Return the section on the networks of groups of rows."""
    p = "p" if found.correction == "none" else f"p corrected by {found.correction}"
    named = list(dict.fromkeys(f"{pair.u} – {pair.v}" for pair in found.pairs if pair.p_corrected <= _LEVEL))
    sentences = [*found.headlines(), *found.remarks()]
    if named:
        verb = "differs" if len(named) == 1 else "differ"
        sentences.append(
            f"{count_of(len(named), 'pair')} {verb} between groups ({p} ≤ {_LEVEL:g}): {quoted_list(named)}."
        )
    else:
        sentences.append(f"No pair differs between groups at the level {_LEVEL:g} ({p}).")
    pictures: list[ReportPicture] = []
    if len(found.networks[0].names) <= _DRAWN_VARIABLES:
        pictures = _group_pictures(found, picture, seed, gallery)
    tables = [_statistic_table(found), _pair_table(found.pairs), _centrality_table(found.centralities)]
    return ReportSection("groups", "Groups", "Groups", [*sentences, *gallery.missing], pictures, tables)


def _group_pictures(found: GroupComparison, picture: FigureData, seed: int, gallery: _Gallery) -> list[ReportPicture]:
    """Return the networks side by side, and the difference of every two of a few groups."""
    variables = set(found.networks[0].names)
    colours = {
        group: [
            name for name, k in zip(picture.names, picture.groups, strict=True) if k == number and name in variables
        ]
        for number, group in enumerate(picture.group_names)
    }
    groups = {group: names for group, names in colours.items() if names} or None
    pictures = gallery.draw(
        "The networks of the groups side by side", lambda: found.plot(kind="networks", seed=seed, groups=groups)
    )
    for both in combinations(found.groups, 2) if len(found.groups) <= _COMPARED else ():
        pictures += gallery.draw(
            f"Differences of the weights: {both[0]} minus {both[1]}",
            lambda both=both: found.plot(kind="difference", between=both, seed=seed, groups=groups),  # type: ignore[misc]
        )
    return pictures


def _statistic_table(found: GroupComparison) -> ReportTable:
    rows = [
        (
            [one.words, ", ".join(one.groups)],
            _numbers((one.value, one.p, one.p_corrected)),
        )
        for one in found.statistics
    ]
    return ReportTable(
        "tests", "Tests of whole networks", ["statistic", "groups"], ["value", "p", "p, corrected"], rows
    )


def _pair_table(pairs: Iterable[PairDifference]) -> ReportTable:
    rows = [
        ([", ".join(one.groups), one.u, one.v], _numbers((*one.weights, one.difference, one.p, one.p_corrected)))
        for one in pairs
    ]
    headings = ["weight in the first", "in the second", "difference", "p", "p, corrected"]
    return _shortened("group-pair", "Pairs, the smallest p first", ["groups", "variable", "variable"], headings, rows)


def _centrality_table(centralities: Iterable[CentralityDifference]) -> ReportTable:
    rows = [
        (
            [", ".join(one.groups), one.variable, CENTRALITIES.get(one.measure, one.measure)],
            _numbers((*one.values, one.difference, one.p, one.p_corrected)),
        )
        for one in centralities
    ]
    headings = ["value in the first", "in the second", "difference", "p", "p, corrected"]
    return _shortened(
        "group-centrality", "Centralities, the smallest p first", ["groups", "variable", "measure"], headings, rows
    )


def _shortened(key: str, title: str, headings: list[str], numbers: list[str], rows: list[ReportRow]) -> ReportTable:
    """Return a table of the first rows, whose title says so."""
    more = f" (the first {_MOST_ROWS} of {len(rows):,})" if len(rows) > _MOST_ROWS else ""
    return ReportTable(key, title + more, headings, numbers, rows[:_MOST_ROWS])


def _numbers(values: Iterable[float]) -> list[tuple[str, float | None]]:
    """Return each number as text and as value; undefined ones are empty."""
    return [(decimal(value), None if np.isnan(value) else float(value)) for value in values]


_SHOWN = 10  # tests in the table, besides those that are significant
_MOST_SHOWN = 50


class EdgeRows(NamedTuple):
    """Rows behind an edge: those with both ends, and those with all neighbours of an end too."""

    both: int
    neighbourhood: int


def rows_behind(data: Dataset, graph: Graph) -> dict[tuple[int, int], EdgeRows]:
    """Return the rows behind each edge; the second number is of the end with fewer rows, repeats included."""
    around = [rows_with(data, (x, *graph.neighbors(x))) if graph.degree(x) else 0 for x in range(data.n_variables)]
    return {(u, v): EdgeRows(rows_with(data, (u, v)), min(around[u], around[v])) for u, v in graph.edges}


def missing_section(data: Dataset, graph: Graph, found: Missingness | None) -> ReportSection | None:
    """Return the section on missing values; None if there were none. `found` is known if gaps were kept."""
    counts = data.missing.counts
    if not counts:
        return None
    before = data.n_records + data.missing.rows_dropped
    sentences = [_where(data), done_about_gaps(data)]
    tables = [_counts_table(data, before)]
    if found is not None:
        sentences += [*_rows_sentences(data, graph, found), *_dependence_sentences(found)]
        tables.append(_dependence_table(found))
    return ReportSection("missing", "Missing values", "Missing values", sentences, [], tables)


def _where(data: Dataset) -> str:
    """Return how many values were missing in how many columns."""
    counts = data.missing.counts
    cells = (data.n_records + data.missing.rows_dropped) * data.n_variables
    total = sum(counts.values())
    verb = "was" if total == 1 else "were"
    return (
        f"{count_of(total, 'value')} of {cells:,} ({total / cells:.1%}) {verb} missing, in "
        f"{count_of(len(counts), 'column')} of {data.n_variables:,}."
    )


def done_about_gaps(data: Dataset) -> str:
    """Return how missing values were handled, and what follows from it."""
    policy, rows = data.missing.policy, data.missing.rows_dropped
    if policy == "drop_rows":
        left_out = f"{count_of(rows, 'row')} with a gap {'was' if rows == 1 else 'were'} left out"
        costly = costly_columns(data.missing.alone, rows)
        alone = "".join(f" {count_of(n, 'row')} of them lack only {name!r}." for name, n in costly.items())
        return f"{left_out}, which is harmless only if gaps are unrelated to the values.{alone}"
    if policy == "testwise":
        empty = f" {count_of(rows, 'row')} without any value {'was' if rows == 1 else 'were'} left out." if rows else ""
        return f"Each test and each local model used the rows in which all its own variables have a value.{empty}"
    return "Gaps count as a category of their own, which can join variables that share their gaps."


def _rows_sentences(data: Dataset, graph: Graph, found: Missingness) -> Iterator[str]:
    """Yield the number of complete rows, and of the rows behind the edges."""
    yield f"{count_of(found.complete_rows, 'row')} of {found.n_rows:,} are complete."
    if found.fewest is not None:
        first, second, n_rows = found.fewest
        yield f"“{first}” and “{second}” have the fewest common rows: {n_rows:,}."
    rows = rows_behind(data, graph)
    if rows:
        u, v = min(rows, key=lambda edge: (rows[edge].neighbourhood, edge))
        yield (
            f"Both ends of an edge have a value in at least {min(one.both for one in rows.values()):,} rows, and both "
            f"ends with all neighbours of one of them in at least {rows[u, v].neighbourhood:,} "
            f"(“{data.names[u]}” – “{data.names[v]}”)."
        )


def _dependence_sentences(found: Missingness) -> Iterator[str]:
    """Yield which gaps go with other columns."""
    if not found.dependences:
        return
    depends = found.depends()
    for column, others in list(depends.items())[:5]:
        yield f"Whether “{column}” is missing depends on {quoted_list(others, 4)}."
    if len(depends) > 5:
        yield f"So it does for {count_of(len(depends) - 5, 'other column')}; the table has the clearest."
    if not depends:
        yield "No sign that gaps depend on the values of other columns was found."


def _counts_table(data: Dataset, before: int) -> ReportTable:
    counts, alone = data.missing.counts, data.missing.alone
    rows: list[ReportRow] = [
        (
            [name],
            [
                (f"{n:,}", float(n)),
                (f"{n / before:.1%}", n / before),
                (f"{alone.get(name, 0):,}", float(alone.get(name, 0))),
            ],
        )
        for name, n in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return ReportTable(
        "missing-count",
        "Columns with gaps",
        ["variable"],
        ["missing", "share of the rows", "only this one missing"],
        rows,
    )


def _dependence_table(found: Missingness) -> ReportTable:
    """Return the clearest tests of gaps against other columns."""
    clear = sum(one.p_corrected <= LEVEL for one in found.dependences)
    shown = found.dependences[: min(max(clear, _SHOWN), _MOST_SHOWN)]
    rows: list[ReportRow] = [
        ([one.column, one.other], [(f"{one.strength:.2f}", one.strength), (_small(one.p_corrected), one.p_corrected)])
        for one in shown
    ]
    title = f"Do gaps depend on other columns? The {len(shown)} clearest of {count_of(len(found.dependences), 'test')}"
    return ReportTable("missing-dependence", title, ["missing", "depends on"], ["strength", "p, corrected"], rows)


def _small(p: float) -> str:
    """Return a p-value with two digits."""
    return "< 1e-99" if p < 1e-99 else f"{p:.2g}"


def missing_cautions(data: Dataset, found: Missingness | None) -> Iterator[Caution]:
    """Yield the warnings on missing values."""
    counts = data.missing.counts
    if not counts:
        return
    yield Caution("Missing values", f"In {quoted_list(list(counts))}. {done_about_gaps(data)}")
    if found is None:
        return
    if found.fewest is not None and not found.fewest[2]:
        yield Caution(
            "Columns without a common row",
            f"“{found.fewest[0]}” and “{found.fewest[1]}” are never observed together, so nothing can be learned about "
            "an edge between them.",
        )
    several = {column: others for column, others in found.depends().items() if len(others) > 1}
    if several:
        column, others = next(iter(several.items()))
        yield Caution(
            "Gaps depend on other columns",
            f"Whether a value of {quoted_list(list(several))} is missing depends on two or more other columns, of "
            f"“{column}” on {quoted_list(others, 4)}. One of these may only stand for another, and gaps that depend "
            "on one column are harmless. If they depend on two, the rows with a value can join these two: check the "
            "edges between them.",
        )
    yield Caution(
        "What the evidence assumes",
        "Given the variables of a question, a value is not missing because of what it is. No data can show that.",
    )
