"""Section and warnings of the report about missing values: how many, where, what was done, and what may follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mnlearn.data.dataset import Dataset, costly_columns
from mnlearn.data.missingness import LEVEL, Missingness
from mnlearn.graphs.graph import Graph
from mnlearn.visual.report_sections import ReportRow, ReportSection, ReportTable
from mnlearn.visual.report_text import Caution, count_of, quoted_list, rows_with

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
