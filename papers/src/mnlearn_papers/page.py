"""The tables of a page of Markdown, made from the journals of runs.

A table stands between two comments. The first names the experiment and says what the table shows; what is between them
is replaced by the figures of all runs that `mnlearn reproduce NAME --out DIR` has left:

    <!-- table bjp-table3
    lines: source = network, n_rows = rows, n = data sets
    column: gsmn = GSMN, Bayesian test
    column: bjp = BJP | mean 2
    cell: compared 1
    -->
    <!-- end -->

Settings stand on lines of their own, or on one with semicolons between.

| setting    |                                                                                                 |
|------------|-------------------------------------------------------------------------------------------------|
| `lines`    | what distinguishes the lines: source, n_rows, quantity; and n, the number of runs, or sources     |
| `column`   | a learner, its heading, and behind a bar how its cells are written if not as the others'        |
| `cell`     | how cells are written, and their decimals: see below                                            |
| `only`     | the sources that are shown; else all                                                            |
| `sizes`    | the sizes that are shown; else all                                                              |
| `quantity` | only the learners whose name ends so, as "tests" in "gsimn tests"; several are possible          |

Cells: `beside` is published / ours; `compared` the same with the standard errors between them in brackets; `error` is
ours ± its standard error; `mean`, `percent` and `sd` are ours alone; `digits` is ours with so many significant digits,
and so is `seconds`, with a dash where a run did not end; `duration` is ours in seconds, minutes or hours; `p` is a
p-value. A cell that is not a number is empty.

A marker with `agreement` in place of `table` gives sentences: how many of the figures are within 3 standard errors, the
chi-square over all of them, and the smallest difference that could be seen. One with `near` stands within a line, not
at its beginning, where Markdown would end the paragraph, and gives the first count alone, "35 of 36":

    <!-- near mpl-table3 column: mpl; column: pic -->71 of 72<!-- end -->

With `quantity`, or with it among the lines, the first word of a learner is its name, and the rest the quantity. Lines
that are not told apart by their source are means over the sources, `sources` is how many there are, and `leading` cells
are the mean and, in brackets, on how many of the sources the learner has the highest figure of all `leading` columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, sqrt
from statistics import fmean
from typing import NamedTuple

from mnlearn.errors import InputError, unknown_name
from mnlearn_papers.agreement import agreement, agreement_text
from mnlearn_papers.reproduction import Comparison, without_details

_BEGIN = re.compile(
    r"<!-- (?:(?P<kind>table|agreement)|near) (?P<name>\S+)\s(?P<settings>.*?)-->(?(kind)\n)", re.DOTALL
)
_END = "<!-- end -->"
_HEADINGS = {"source": "source", "n_rows": "rows", "quantity": "quantity", "n": "runs", "sources": "sources"}
_COUNTS = ("n", "sources")  # shown for a line, but not part of its key
_SETTINGS = ("lines", "column", "cell", "only", "sizes", "quantity")


class Page(NamedTuple):
    """A page with its tables, which of them were made anew, and which stayed since there are no runs of them."""

    text: str
    filled: tuple[str, ...]
    kept: tuple[str, ...]


def fill_page(text: str, figures: Callable[[str], Sequence[Comparison]]) -> Page:
    """Make every table of a page that has figures; leave all else as it is.

    Parameters
    ----------
    text
        The page, in Markdown; see the module for how tables are marked.
    figures
        The figures of an experiment by its name; none where there are no runs.

    Raises
    ------
    InputError
        If a table has no end, or a setting that is not known, or a column that its figures do not have.
    """
    parts: list[str] = []
    filled: list[str] = []
    kept: list[str] = []
    place = 0
    for begin in _BEGIN.finditer(text):
        name, end = begin["name"], text.find(_END, begin.end())
        if end < 0 or _BEGIN.search(text, begin.end(), end):
            raise InputError(f"page must have {_END} after each table; that of {name} has none. Add it.")
        found = figures(name)
        parts.append(text[place : begin.end()])
        parts.append(_made(begin, found) if found else text[begin.end() : end])
        (filled if found else kept).append(name)
        place = end
    return Page("".join([*parts, text[place:]]), tuple(filled), tuple(kept))


def _made(begin: re.Match[str], figures: Sequence[Comparison]) -> str:
    """Return what stands between a marker and its end."""
    layout = Layout.of(begin["name"], begin["settings"])
    if begin["kind"] is None:
        return layout.near(figures)
    return (layout.table(figures) if begin["kind"] == "table" else layout.agreement(figures)) + "\n"


Group = Mapping[str, Sequence[Comparison]]
"""The figures of one line by learner: one each, or one for every source."""


@dataclass(frozen=True)
class Layout:
    """Definition of one table: its lines, columns and cells."""

    name: str
    lines: Mapping[str, str] = field(default_factory=lambda: {"source": "source", "n_rows": "rows", "n": "runs"})
    columns: Mapping[str, str] = field(default_factory=dict)
    cell: str = "compared 2"
    cells: Mapping[str, str] = field(default_factory=dict)  # of columns that are written in another way
    only: Sequence[str] = ()
    sizes: Sequence[str] = ()
    quantities: Sequence[str] = ()

    @classmethod
    def of(cls, name: str, text: str) -> Layout:
        """From the settings of a marker."""
        given: dict[str, list[str]] = {}
        for setting in filter(None, map(str.strip, re.split("[\n;]", text))):
            key, _, value = setting.partition(":")
            if key not in _SETTINGS:
                raise unknown_name(f"setting of table {name}", key, _SETTINGS)
            given.setdefault(key, []).append(value.strip())
        lines = dict(_named(part) for part in given.get("lines", ["source, n_rows, n"])[0].split(","))
        for key in lines:
            if key not in _HEADINGS:
                raise unknown_name(f"lines of table {name}", key, _HEADINGS)
        shown = [column.partition("|") for column in given.get("column", [])]
        cell = given.get("cell", ["compared 2"])[0]
        return cls(
            name=name,
            lines={key: heading if heading != key else _HEADINGS[key] for key, heading in lines.items()},
            columns=dict(_named(column) for column, _, _ in shown),
            cell=cell,
            cells={_named(column)[0]: written.strip() for column, _, written in shown if written},
            only=_several(given.get("only", [])),
            sizes=_several(given.get("sizes", [])),
            quantities=given.get("quantity", ()),
        )

    def table(self, figures: Sequence[Comparison]) -> str:
        """The table in Markdown; lines in the order in which the figures come."""
        groups: dict[tuple[str, ...], dict[str, list[Comparison]]] = {}
        details = bool(self.columns or self.quantities or "quantity" in self.lines)
        for figure in filter(self._shown, figures if details else without_details(figures)):
            learner, quantity = self._parts(figure)
            told = {"source": figure.source, "n_rows": str(figure.n_rows), "quantity": quantity}
            group = groups.setdefault(tuple(told[key] for key in self.lines if key not in _COUNTS), {})
            group.setdefault(learner, []).append(figure)
        learners = list(dict.fromkeys(learner for group in groups.values() for learner in group))
        columns = self.columns or {learner: learner for learner in learners}
        for learner in columns:
            if learner not in learners:
                raise unknown_name(f"column of table {self.name}", learner, learners)
        header = [*self.lines.values(), *columns.values()]
        shown = {told: {c: group[c] for c in columns if c in group} for told, group in groups.items()}
        body = [self._line(told, group, list(columns)) for told, group in shown.items() if group]
        return "\n".join("| " + " | ".join(line) + " |" for line in [header, *body]).replace(
            "\n", "\n" + "|---" * len(header) + "|\n", 1
        )

    def agreement(self, figures: Sequence[Comparison]) -> str:
        """Return sentences on how the figures of the table agree with the published ones, one a line."""
        return "\n".join(agreement_text(agreement(self._compared(figures))))

    def near(self, figures: Sequence[Comparison]) -> str:
        """Return how many of the published figures are within 3 standard errors, as "35 of 36"."""
        result = agreement(self._compared(figures))
        return f"{result.near} of {result.figures}" if result else "none"

    def _compared(self, figures: Sequence[Comparison]) -> list[Comparison]:
        """Return the figures of the columns; of all where none is named."""
        shown = filter(self._shown, figures)
        return [figure for figure in shown if not self.columns or self._parts(figure)[0] in self.columns]

    def _shown(self, figure: Comparison) -> bool:
        """Whether the table has a place for it."""
        return (
            (not self.only or figure.source in self.only)
            and (not self.sizes or str(figure.n_rows) in self.sizes)
            and (not self.quantities or self._parts(figure)[1] in self.quantities)
        )

    def _line(self, told: Sequence[str], group: Group, columns: Sequence[str]) -> list[str]:
        """One line: what distinguishes it, then its cells."""
        values = iter(told)
        counts = {
            "n": "/".join(map(str, sorted({figure.n for several in group.values() for figure in several}))),
            "sources": str(max(len({figure.source for figure in several}) for several in group.values())),
        }
        first = [counts[key] if key in counts else next(values) for key in self.lines]
        return first + [self._cell(learner, group) if learner in group else "" for learner in columns]

    def _cell(self, learner: str, group: Group) -> str:
        """The figure of a learner, or the mean of its figures."""
        kind, _, digits = self.cells.get(learner, self.cell).partition(" ")
        if kind not in (*_CELLS, "leading"):
            raise unknown_name(f"cell of table {self.name}", kind, (*_CELLS, "leading"))
        if not (digits or "0").isdecimal():
            raise InputError(f"cell of table {self.name} must end in its decimals; got {digits!r}. Write {kind} 2.")
        figure = _mean(group[learner])
        if isnan(figure.ours) and kind != "seconds":
            return ""
        if kind != "leading":
            return _CELLS[kind](figure, int(digits or "2"))
        rivals = [name for name in group if self.cells.get(name, self.cell).startswith("leading")]
        return f"{figure.ours:.{digits or 2}f} ({_led(learner, group, rivals)})"

    def _parts(self, figure: Comparison) -> tuple[str, str]:
        """The column of a figure, and its quantity."""
        if not (self.quantities or "quantity" in self.lines):
            return figure.learner, ""
        learner, _, quantity = figure.learner.partition(" ")
        return learner, quantity


def _named(text: str) -> tuple[str, str]:
    """`key = heading`; a key alone is its own heading."""
    key, _, heading = (part.strip() for part in text.partition(" = "))
    return key, heading or key


def _several(lines: Sequence[str]) -> tuple[str, ...]:
    """Names with commas between, on one line or on several."""
    return tuple(name.strip() for name in ",".join(lines).split(",") if name.strip())


def _mean(figures: Sequence[Comparison]) -> Comparison:
    """The mean over some sources; its error is that of a sum of independent figures."""
    if len(figures) == 1:
        return figures[0]
    first, n = figures[0], sum(figure.n for figure in figures)
    known = [figure.published for figure in figures if figure.published is not None]
    error = sqrt(sum(figure.sd**2 / figure.n for figure in figures)) / len(figures)
    return first._replace(
        published=fmean(known) if len(known) == len(figures) else None,
        ours=fmean(figure.ours for figure in figures),
        sd=error * sqrt(n),
        n=n,
        standard_errors=None,
    )


def _led(learner: str, group: Group, rivals: Sequence[str]) -> int:
    """On how many sources a learner has the highest figure, alone or with others."""
    best: dict[str, float] = {}
    for figure in (figure for rival in rivals for figure in group[rival]):
        best[figure.source] = max(figure.ours, best.get(figure.source, figure.ours))
    return sum(figure.ours == best[figure.source] for figure in group[learner])


def _beside(figure: Comparison, digits: int) -> str:
    published = "" if figure.published is None else f"{figure.published:.{digits}f} / "
    return f"{published}{figure.ours:.{digits}f}"


def _compared(figure: Comparison, digits: int) -> str:
    away = "" if figure.standard_errors is None else f" ({figure.standard_errors:+.1f})"
    return f"{_beside(figure, digits)}{away}"


def _with_error(figure: Comparison, digits: int) -> str:
    ours = f"{figure.ours:.{digits}f}"
    return ours if isnan(figure.sd) else f"{ours} ± {figure.sd / sqrt(figure.n):.{digits}f}"


def _seconds(figure: Comparison, digits: int) -> str:
    if isnan(figure.ours):
        return "failed"
    return f"{float(f'{figure.ours:.{digits}g}'):.6g}" if isfinite(figure.ours) else "—"


def _duration(figure: Comparison, _digits: int) -> str:
    for unit, seconds in (("h", 3600), ("min", 60)):
        if figure.ours >= seconds:
            many = figure.ours / seconds
            return f"{many:.1f} {unit}" if many < 10 else f"{many:.0f} {unit}"
    return f"{figure.ours:.2g} s"


_CELLS: Mapping[str, Callable[[Comparison, int], str]] = {
    "beside": _beside,
    "compared": _compared,
    "error": _with_error,
    "mean": lambda figure, digits: f"{figure.ours:.{digits}f}",
    "sd": lambda figure, digits: f"{figure.sd:.{digits}f}",
    "percent": lambda figure, digits: f"{100 * figure.ours:.{digits}f} %",
    "seconds": _seconds,
    "digits": _seconds,
    "duration": _duration,
    "p": lambda figure, digits: f"{figure.ours:.{digits}g}" if figure.ours >= 1e-4 else "< 0.0001",
}
