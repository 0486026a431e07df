"""The tables of a page of Markdown, made from the files of runs.

A table stands between two comments. The first names the experiment and says what the table shows; what is between them
is replaced by the figures of `NAME.csv`, as `mnlearn reproduce NAME --out DIR` writes it:

    <!-- table bjp-table3
    lines: source = network, n_rows = rows, n = data sets
    column: gsmn = GSMN, Bayesian test
    column: bjp = BJP | mean 2
    cell: compared 1
    -->
    <!-- end -->

| setting    |                                                                                                 |
|------------|-------------------------------------------------------------------------------------------------|
| `lines`    | what tells the lines apart: source, n_rows, quantity; and n, the number of runs                 |
| `column`   | a learner, its heading, and behind a bar how its cells are written if not as the others'        |
| `cell`     | how cells are written, and their decimals: see below                                            |
| `only`     | the sources that are shown; else all                                                            |
| `quantity` | only the learners whose name ends so, as "tests" in "gsimn tests"                               |

Cells: `beside` is published / ours; `compared` the same with the standard errors between them in brackets; `error` is
ours ± its standard error; `mean` and `percent` are ours alone.

With `quantity`, or with it among the lines, the first word of a learner is its name, and the rest the quantity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, sqrt
from pathlib import Path
from typing import NamedTuple

from mnlearn.errors import InputError, unknown_name
from mnlearn.evaluation.reproduction import Comparison, read_comparisons

_BEGIN = re.compile(r"<!-- table (?P<name>\S+)\n(?P<settings>.*?)-->\n", re.DOTALL)
_END = "<!-- end -->"
_HEADINGS = {"source": "source", "n_rows": "rows", "quantity": "quantity", "n": "runs"}


class Page(NamedTuple):
    """A page with its tables, which of them were made anew, and which stayed since there are no runs of them."""

    text: str
    filled: tuple[str, ...]
    kept: tuple[str, ...]


def fill_page(text: str, folder: Path) -> Page:
    """Make every table of a page whose runs are in the folder; leave all else as it is.

    Parameters
    ----------
    text
        The page, in Markdown; see the module for how tables are marked.
    folder
        Where `NAME.csv` of the experiments is.

    Raises
    ------
    InputError
        If a table has no end, or a setting that is not known, or a column that its file does not have.
    """
    parts: list[str] = []
    filled, kept, place = [], [], 0
    for begin in _BEGIN.finditer(text):
        name, end = begin["name"], text.find(_END, begin.end())
        if end < 0 or _BEGIN.search(text, begin.end(), end):
            raise InputError(f"page must have {_END} after each table; that of {name} has none. Add it.")
        layout, file = Layout.of(name, begin["settings"]), folder / f"{name}.csv"
        parts.append(text[place : begin.end()])
        if file.exists():
            parts.append(layout.table(read_comparisons(file)) + "\n")
            filled.append(name)
        else:
            parts.append(text[begin.end() : end])
            kept.append(name)
        place = end
    return Page("".join([*parts, text[place:]]), tuple(filled), tuple(kept))


@dataclass(frozen=True)
class Layout:
    """What one table shows: its lines, columns and cells."""

    name: str
    lines: Mapping[str, str] = field(default_factory=lambda: {"source": "source", "n_rows": "rows", "n": "runs"})
    columns: Mapping[str, str] = field(default_factory=dict)
    cell: str = "compared 2"
    cells: Mapping[str, str] = field(default_factory=dict)  # of columns that are written in another way
    only: Sequence[str] = ()
    quantity: str = ""

    @classmethod
    def of(cls, name: str, text: str) -> Layout:
        """From the settings of a marker, one a line."""
        given: dict[str, list[str]] = {}
        for line in filter(None, map(str.strip, text.split("\n"))):
            key, _, value = line.partition(":")
            if key not in ("lines", "column", "cell", "only", "quantity"):
                raise unknown_name(f"setting of table {name}", key, ("lines", "column", "cell", "only", "quantity"))
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
            only=tuple(source.strip() for source in ",".join(given.get("only", [])).split(",") if source.strip()),
            quantity=given.get("quantity", [""])[0],
        )

    def table(self, figures: Sequence[Comparison]) -> str:
        """The table in Markdown; lines in the order in which the file has them."""
        groups: dict[tuple[str, ...], dict[str, Comparison]] = {}
        for figure in figures:
            learner, quantity = self._parts(figure)
            if (not self.only or figure.source in self.only) and self.quantity in ("", quantity):
                told = {"source": figure.source, "n_rows": str(figure.n_rows), "quantity": quantity}
                groups.setdefault(tuple(told[key] for key in self.lines if key != "n"), {})[learner] = figure
        learners = list(dict.fromkeys(learner for group in groups.values() for learner in group))
        columns = self.columns or {learner: learner for learner in learners}
        for learner in columns:
            if learner not in learners:
                raise unknown_name(f"column of table {self.name}", learner, learners)
        header = [*self.lines.values(), *columns.values()]
        body = [self._line(told, group, list(columns)) for told, group in groups.items()]
        return "\n".join("| " + " | ".join(line) + " |" for line in [header, *body]).replace(
            "\n", "\n" + "|---" * len(header) + "|\n", 1
        )

    def _line(self, told: Sequence[str], group: Mapping[str, Comparison], columns: Sequence[str]) -> list[str]:
        """One line: what tells it from others, then its cells."""
        values = iter(told)
        runs = "/".join(map(str, sorted({group[learner].n for learner in columns if learner in group})))
        first = [runs if key == "n" else next(values) for key in self.lines]
        return first + [self._cell(learner, group[learner]) if learner in group else "" for learner in columns]

    def _cell(self, learner: str, figure: Comparison) -> str:
        """One figure."""
        kind, _, digits = self.cells.get(learner, self.cell).partition(" ")
        if kind not in _CELLS:
            raise unknown_name(f"cell of table {self.name}", kind, _CELLS)
        if not (digits or "0").isdecimal():
            raise InputError(f"cell of table {self.name} must end in its decimals; got {digits!r}. Write {kind} 2.")
        return _CELLS[kind](figure, int(digits or "2"))

    def _parts(self, figure: Comparison) -> tuple[str, str]:
        """The column of a figure, and its quantity."""
        if not (self.quantity or "quantity" in self.lines):
            return figure.learner, ""
        learner, _, quantity = figure.learner.partition(" ")
        return learner, quantity


def _named(text: str) -> tuple[str, str]:
    """`key = heading`; a key alone is its own heading."""
    key, _, heading = (part.strip() for part in text.partition(" = "))
    return key, heading or key


def _beside(figure: Comparison, digits: int) -> str:
    published = "" if figure.published is None else f"{figure.published:.{digits}f} / "
    return f"{published}{figure.ours:.{digits}f}"


def _compared(figure: Comparison, digits: int) -> str:
    away = "" if figure.standard_errors is None else f" ({figure.standard_errors:+.1f})"
    return f"{_beside(figure, digits)}{away}"


def _with_error(figure: Comparison, digits: int) -> str:
    ours = f"{figure.ours:.{digits}f}"
    return ours if isnan(figure.sd) else f"{ours} ± {figure.sd / sqrt(figure.n):.{digits}f}"


_CELLS: Mapping[str, Callable[[Comparison, int], str]] = {
    "beside": _beside,
    "compared": _compared,
    "error": _with_error,
    "mean": lambda figure, digits: f"{figure.ours:.{digits}f}",
    "percent": lambda figure, digits: f"{100 * figure.ours:.{digits}f} %",
}
