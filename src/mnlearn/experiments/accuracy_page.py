"""Results of the accuracy battery as a page of Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from mnlearn.errors import check_name
from mnlearn.evaluation.calibration import LIMITS, Bin, bins
from mnlearn.experiments.accuracy import FAMILIES
from mnlearn.experiments.experiment import Row

TENTHS = tuple(limit for limit in LIMITS if round(limit * 10) == limit * 10)
FEWEST = 100
"""Bins with fewer pairs are not judged."""


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
        "### Mean errors by family",
        "Learners that ran on all data sets.",
        _of_families(rows, standings),
        "### Which method when",
        _of_kinds(standings),
        f"### Where another method is better than {reference}",
        _of_losses(standings),
        *_of_probabilities(rows, reference),
        *_of_silence(rows),
    ]
    return "\n\n".join(parts) + "\n"


def seen_by(learner: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the data sets on which a learner ran: means over others are not comparable."""
    seen = {(row.source, row.n_rows, row.repetition) for row in rows if row.learner == learner}
    return [row for row in rows if (row.source, row.n_rows, row.repetition) in seen]


def table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with text in the first column and numbers in the others."""
    cells = [header, ["---", *["---:"] * (len(header) - 1)], *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in cells)


def _of_learners(standings: Standings) -> str:
    header = ("learner", "data sets", "Hamming", "false +", "false −", "rank", "ratio to best", "difference", "seconds")
    lines = []
    for line in standings.learners():
        behind = (
            "" if line.learner == standings.reference else f"{line.behind.mean:+.2f} ± {line.behind.standard_error:.2f}"
        )
        figures = (line.hamming, line.false_positives, line.false_negatives, line.rank, line.ratio)
        lines.append(
            (line.learner, line.behind.n, *(f"{figure:.2f}" for figure in figures), behind, f"{line.seconds:.2g}")
        )
    return table(header, lines)


def _of_families(rows: Sequence[Row], standings: Standings) -> str:
    standing = standings.learners()
    names = [line.learner for line in standing if line.behind.n == max(other.behind.n for other in standing)]
    lines = []
    for family, kinds in FAMILIES.items():
        mine = [row for row in rows if row.source in kinds]
        if mine:
            lines.append((family, *(_mean(row.hamming for row in mine if row.learner == name) for name in names)))
    return table(("family", *names), lines)


def _mean(numbers: Iterable[int]) -> str:
    found = list(numbers)
    return f"{sum(found) / len(found):.1f}" if found else ""


def _of_kinds(standings: Standings) -> str:
    """Return for each cell the errors of the reference and of the best other learner, with their difference."""
    lines = []
    for cell in standings.cells():
        others = {n: h for n, h in cell.hamming.items() if not n.startswith(standings.reference)}
        if not others or standings.reference not in cell.hamming:
            continue
        best = min(others, key=others.__getitem__)
        behind = cell.behind[best]
        spread = f" ± {behind.standard_error:.1f}" if behind.n > 1 else ""
        ours = f"{cell.hamming[standings.reference]:.1f}"
        lines.append((cell.kind, cell.n_rows, ours, best, f"{others[best]:.1f}", f"{behind.mean:+.1f}{spread}"))
    return table(("kind", "rows", standings.reference, "best other", "its errors", "difference"), lines)


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


def _of_probabilities(rows: Sequence[Row], reference: str) -> list[str]:
    found = [row.reliability for row in rows if row.learner == reference and row.reliability is not None]
    if not found:
        return []
    fine, tenths = bins(found), bins(found, TENTHS)
    far = [line for line in (*fine, *tenths) if line.pairs >= FEWEST and abs(line.gap) > 0.1]
    where = f"In {len(far)} bins" if far else "In every bin"
    said = "differs by more than 0.1 from" if far else "is within 0.1 of"
    counted = f"{where} with at least {FEWEST} pairs the share of edges {said} the mean probability."
    return [f"### Probabilities of {reference}", counted, _of_bins(fine)]


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
        """Return the mean and standard error of differences; NaN for a single one."""
        n = len(differences)
        spread = float(np.std(differences, ddof=1)) / sqrt(n) if n > 1 else inf
        return cls(float(np.mean(differences)), spread, n)


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
