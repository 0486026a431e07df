"""Results of the accuracy battery as a page of Markdown."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from mnlearn.errors import FileError, check_name
from mnlearn.evaluation.metrics import LIMITS, Bin, bins
from mnlearn_papers.accuracy import FAMILIES
from mnlearn_papers.experiment import Row

TENTHS = tuple(limit for limit in LIMITS if round(limit * 10) == limit * 10)
FEWEST, NEAR = 100, 0.05
"""Bins with fewer pairs are not judged; largest difference of a bin between its probabilities and its edges."""


def page(rows: Sequence[Row], *, title: str, reference: str = "sep") -> str:
    """Return all tables of one half of the battery as Markdown.

    Parameters
    ----------
    rows
        Results of the battery. Data sets on which the reference did not run are left out.
    title
        The heading.
    reference
        The learner with which the others are compared.

    Examples
    --------
    >>> rows = [Row("parity", 250, 0, name, h, 0, h, 0.1) for name, h in (("sep", 2), ("mpl", 24))]
    >>> print(page(rows, title="One data set").splitlines()[0])
    ## One data set
    """
    rows = seen_by(reference, rows)
    standings = Standings(rows, reference)
    draws = len({(row.source, row.n_rows, row.repetition) for row in rows})
    kinds = len({row.source for row in rows})
    parts = [
        f"## {title}",
        f"{draws} data sets of {kinds} kinds of networks, {len(rows)} learned graphs.",
        "### All data sets together",
        _of_learners(standings),
        "### By family",
        f"Mean errors of {reference}; of each other learner its errors minus those of {reference} on common data sets.",
        _of_groups("family", _by_family(rows), standings),
        "### By number of rows",
        _of_groups("rows", _by_rows(rows), standings),
        "### The best other method in each cell",
        f"Mean errors of {reference}; the other learner with the fewest errors, and the difference to {reference}.",
        _of_kinds(standings),
        f"### Where another method is better than {reference}",
        _of_losses(standings),
        *of_probabilities(rows, reference),
        *_of_silence(rows),
    ]
    return "\n\n".join(parts) + "\n"


def read_errors(path: Path) -> list[Row]:
    """Return the runs of a table of errors, without their probabilities and true edges.

    Parameters
    ----------
    path
        CSV with the columns `source`, `n_rows`, `repetition`, `learner`, `false_positives`, `false_negatives` and
        `seconds`.

    Raises
    ------
    FileError
        If it is not such a table.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_run_of(line) for line in csv.DictReader(file)]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise FileError(
            f"path must be a table of errors with one line for each run; {path}: {error!r}. Name another."
        ) from error


def _run_of(line: Mapping[str, str]) -> Row:
    """Return one run from its line."""
    added, missed = int(line["false_positives"]), int(line["false_negatives"])
    data_set = line["source"], int(line["n_rows"]), int(line["repetition"])
    return Row(*data_set, line["learner"], added + missed, added, missed, float(line["seconds"]))


def seen_by(learner: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the data sets on which a learner ran: means over others are not comparable."""
    seen = {(row.source, row.n_rows, row.repetition) for row in rows if row.learner == learner}
    return [row for row in rows if (row.source, row.n_rows, row.repetition) in seen]


def is_other(learner: str, reference: str) -> bool:
    """Return whether a learner is neither the reference nor a variant of it, such as "sep-fast" of "sep"."""
    return learner != reference and not learner.startswith(f"{reference}-")


def table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with text in the first column and numbers in the others."""
    cells = [header, ["---", *["---:"] * (len(header) - 1)], *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in cells)


def _of_learners(standings: Standings) -> str:
    """Return one line for each learner, over the data sets that it and the reference ran on."""
    ours = standings.reference
    errors = ("errors", f"errors of {ours}", "difference", "false +", "false −", "ratio to best")
    lines = []
    for line in standings.learners():
        behind = "" if line.learner == ours else line.behind.shown(2)
        both = (f"{line.hamming:.2f}", f"{line.hamming - line.behind.mean:.2f}", behind)
        figures = (f"{figure:.2f}" for figure in (line.false_positives, line.false_negatives, line.ratio))
        lines.append((line.learner, line.behind.n, *both, *figures, f"{line.seconds:.2g}"))
    return table(("learner", "data sets", *errors, "seconds"), lines)


def _by_family(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found = {family: [row for row in rows if row.source in kinds] for family, kinds in FAMILIES.items()}
    return {family: mine for family, mine in found.items() if mine}


def _by_rows(rows: Sequence[Row]) -> dict[str, list[Row]]:
    sizes = sorted({row.n_rows for row in rows})
    return {f"{size:,}": [row for row in rows if row.n_rows == size] for size in sizes}


def _of_groups(title: str, groups: Mapping[str, Sequence[Row]], standings: Standings) -> str:
    """Return the errors of the reference in each group of rows, and the paired differences of the others."""
    ours = standings.reference
    names = [line.learner for line in standings.learners() if is_other(line.learner, ours)]
    lines = []
    for group, rows in groups.items():
        found = {line.learner: line for line in Standings(rows, ours).learners()}
        shown = (found[name].behind.shown(1) if name in found else "" for name in names)
        lines.append((group, found[ours].behind.n, f"{found[ours].hamming:.1f}", *shown))
    return table((title, "data sets", ours, *names), lines)


def _of_kinds(standings: Standings) -> str:
    """Return for each kind and number of rows the errors of the reference, and the best other learner."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for cell in standings.cells():
        others = {name: behind for name, behind in cell.behind.items() if is_other(name, standings.reference)}
        if others and standings.reference in cell.hamming:
            best = min(others, key=lambda name: others[name].mean)
            ours = f"{cell.hamming[standings.reference]:.1f}"
            found[cell.kind][cell.n_rows] = f"{ours}; {best} {others[best].shown(1)}"
    sizes = sorted({size for cells in found.values() for size in cells})
    lines = [(kind, *(cells.get(size, "") for size in sizes)) for kind, cells in found.items()]
    return table(("kind", *(f"{size:,} rows" for size in sizes)), lines)


def _of_losses(standings: Standings) -> str:
    lines = [
        (loss.kind, loss.n_rows, loss.learner, f"{loss.theirs:.1f}", f"{loss.ours:.1f}", loss.behind.n)
        for loss in standings.losses()
    ]
    if not lines:
        return "In no cell by more than two standard errors and 10 %."
    said = "By more than two standard errors of the paired difference and 10 %:"
    header = ("kind", "rows", "learner", "its errors", f"errors of {standings.reference}", "data sets")
    return f"{said}\n\n{table(header, lines)}"


def of_probabilities(rows: Sequence[Row], reference: str = "sep") -> list[str]:
    """Return the part of the page on the probabilities of the reference; nothing if the runs have none."""
    found = [row.reliability for row in rows if row.learner == reference and row.reliability is not None]
    if not found:
        return []
    fine, tenths = bins(found), bins(found, TENTHS)
    far = {line for line in (*fine, *tenths) if line.pairs >= FEWEST and abs(line.gap) > NEAR}  # many are in both
    where = f"In {len(far)} bins" if len(far) > 1 else "In one bin" if far else "In every bin"
    said = f"differs by more than {NEAR:g} from" if far else f"is within {NEAR:g} of"
    counted = f"{where} with at least {FEWEST} pairs the share of edges {said} the mean probability."
    drawn = [line for line in fine if line.low >= 0.5]
    wrong = sum(line.pairs * (1 - line.observed) for line in drawn)
    expected = sum(line.pairs * (1 - line.mean) for line in drawn)
    return [
        f"### Probabilities of {reference}",
        f"{counted} Of the pairs with a probability above one half {wrong:.0f} are no edges; by their probabilities "
        f"{expected:.0f} are expected.",
        _of_bins(fine),
    ]


def _of_bins(lines: Sequence[Bin]) -> str:
    header = ("probability", "pairs", "mean", "share of edges", "difference", "standard error")
    return table(
        header,
        [
            (
                f"{b.low:g} to {b.high:g}",
                b.pairs,
                f"{b.mean:.3f}",
                f"{b.observed:.3f}",
                f"{b.gap:+.3f}",
                f"{b.standard_error:.3f}",
            )
            for b in lines
        ],
    )


def _of_silence(rows: Sequence[Row]) -> list[str]:
    """Return how often learners add no edge to independent data."""
    lone = [row for row in rows if row.source in FAMILIES["independent"]]
    if not lone:
        return []
    lines = []
    for name in dict.fromkeys(row.learner for row in lone):
        mine = [row for row in lone if row.learner == name]
        silent = sum(row.hamming == 0 for row in mine)
        lines.append(
            (name, len(mine), f"{100 * silent / len(mine):.0f} %", f"{sum(r.hamming for r in mine) / len(mine):.2f}")
        )
    return ["### Independent data", table(("learner", "data sets", "without a false edge", "false edges"), lines)]


# What the errors say about the learners: against one of them, data set by data set, and cell by cell.
#
# A cell is a kind of network and a number of rows. All learners see the same data sets, so what counts are
# differences on the same data set: their mean, and its standard error.


DataSet: TypeAlias = tuple[str, int, int]  # kind, rows, draw
CLEARLY, MUCH = 2.0, 0.1
"""Better in a cell: by more than so many standard errors, and by more than this share of the errors."""


class Difference(NamedTuple):
    """Mean of paired differences with its standard error."""

    mean: float
    standard_error: float
    n: int

    @classmethod
    def of(cls, differences: Sequence[float]) -> Difference:
        """Return the mean and standard error of differences; that of a single one is infinite."""
        n = len(differences)
        spread = float(np.std(differences, ddof=1)) / sqrt(n) if n > 1 else inf
        return cls(float(np.mean(differences)), spread, n)

    def shown(self, digits: int) -> str:
        """Return the mean and, of several, its standard error as text."""
        spread = f" ± {self.standard_error:.{digits}f}" if self.n > 1 else ""
        return f"{self.mean:+.{digits}f}{spread}"


class Standing(NamedTuple):
    """One learner over all its data sets, and paired with the reference on common ones."""

    learner: str
    hamming: float
    false_positives: float
    false_negatives: float
    rank: float  # mean, among those that saw the data set; ties share their ranks
    ratio: float  # to the best on each data set: geometric mean of (errors + 1) / (errors of the best + 1)
    seconds: float  # median of processor time
    behind: Difference  # its errors less those of the reference


class Cell(NamedTuple):
    """One kind and number of rows: the mean errors of each learner, and of each how it differs from the reference."""

    kind: str
    n_rows: int
    hamming: Mapping[str, float]
    behind: Mapping[str, Difference]


class Loss(NamedTuple):
    """A cell where another learner is better than the reference, beyond chance and by more than a tenth."""

    kind: str
    n_rows: int
    learner: str
    ours: float
    theirs: float
    behind: Difference


@dataclass(frozen=True)
class Standings:
    """The rows of a battery, seen from one learner.

    Parameters
    ----------
    rows
        What the battery found.
    reference
        The learner with which the others are compared.

    Examples
    --------
    >>> rows = [Row("path", 100, d, name, h, 0, h, 0.1) for d in (0, 1) for name, h in (("sep", 2), ("mpl", 3 + d))]
    >>> [(line.learner, line.hamming, line.behind.mean) for line in Standings(rows).learners()]
    [('sep', 2.0, 0.0), ('mpl', 3.5, 1.5)]
    """

    rows: Sequence[Row]
    reference: str = "sep"

    def __post_init__(self) -> None:
        names = list(dict.fromkeys(row.learner for row in self.rows))
        check_name("reference", self.reference, names)

    def learners(self) -> list[Standing]:
        """One line for each learner, the fewest errors relative to the reference first."""
        lines = [self._standing(name, rows) for name, rows in _by(self.rows, "learner").items()]
        return sorted(lines, key=lambda line: line.behind.mean)

    def cells(self) -> list[Cell]:
        """One line for each kind and number of rows, in the order of the rows."""
        grouped: dict[tuple[str, int], list[Row]] = defaultdict(list)
        for row in self.rows:
            grouped[row.source, row.n_rows].append(row)
        return [self._cell(*key, rows) for key, rows in grouped.items()]

    def losses(self, among: Iterable[str] = ()) -> list[Loss]:
        """Every cell where another is better than the reference by more than two standard errors and a tenth.

        Parameters
        ----------
        among
            Learners to show; all if empty.
        """
        wanted, found = set(among), []
        for cell in self.cells():
            ours = cell.hamming.get(self.reference)
            for name, behind in cell.behind.items():
                if ours is None or name == self.reference or (wanted and name not in wanted):
                    continue
                if behind.mean < -CLEARLY * behind.standard_error and -behind.mean > MUCH * ours:
                    found.append(Loss(cell.kind, cell.n_rows, name, ours, cell.hamming[name], behind))
        return found

    def _standing(self, name: str, rows: Sequence[Row]) -> Standing:
        ranks, ratios = [], []
        for row in rows:
            all_errors = self._errors[row.source, row.n_rows, row.repetition]
            better = sum(errors < row.hamming for errors in all_errors.values())
            equal = sum(errors == row.hamming for errors in all_errors.values())
            ranks.append(better + (equal + 1) / 2)
            ratios.append(log((row.hamming + 1) / (min(all_errors.values()) + 1)))
        wrong, added, missed = (float(np.mean([getattr(row, what) for row in rows])) for what in _COUNTS)
        seconds = float(np.median([row.seconds for row in rows]))
        behind = Difference.of(self._differences(name, rows))
        rank, ratio = float(np.mean(ranks)), exp(float(np.mean(ratios)))
        return Standing(name, wrong, added, missed, rank, ratio, seconds, behind)

    def _cell(self, kind: str, n_rows: int, rows: Sequence[Row]) -> Cell:
        learners = _by(rows, "learner")
        hamming = {name: float(np.mean([row.hamming for row in mine])) for name, mine in learners.items()}
        apart = {name: self._differences(name, mine) for name, mine in learners.items()}
        return Cell(kind, n_rows, hamming, {name: Difference.of(d) for name, d in apart.items() if d})

    def _differences(self, name: str, rows: Iterable[Row]) -> list[float]:
        """Return the errors of a learner minus those of the reference, on common data sets."""
        both = [self._errors[row.source, row.n_rows, row.repetition] for row in rows]
        return [float(errors[name] - errors[self.reference]) for errors in both if self.reference in errors]

    @cached_property
    def _errors(self) -> Mapping[DataSet, Mapping[str, int]]:
        """Return the errors of each learner by data set."""
        known: dict[DataSet, dict[str, int]] = defaultdict(dict)
        for row in self.rows:
            known[row.source, row.n_rows, row.repetition][row.learner] = row.hamming
        return known


_COUNTS = ("hamming", "false_positives", "false_negatives")


def _by(rows: Iterable[Row], what: str) -> dict[str, list[Row]]:
    """Group rows by learner or kind, in order of appearance."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, what)].append(row)
    return dict(grouped)
