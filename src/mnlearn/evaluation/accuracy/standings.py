"""What the errors say about the learners: against one of them, data set by data set, and cell by cell.

A cell is a kind of network and a number of rows. All learners see the same data sets, so what counts are differences on
the same data set: their mean, and its standard error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from mnlearn.errors import check_name
from mnlearn.evaluation.experiment import Row

DataSet: TypeAlias = tuple[str, int, int]  # kind, rows, draw
CLEARLY, MUCH = 2.0, 0.1
"""Better in a cell: by more than so many standard errors, and by more than this share of the errors."""


class Difference(NamedTuple):
    """The mean of paired differences."""

    mean: float
    standard_error: float
    n: int

    @classmethod
    def of(cls, differences: Sequence[float]) -> Difference:
        """From the differences; one alone has no standard error."""
        n = len(differences)
        spread = float(np.std(differences, ddof=1)) / sqrt(n) if n > 1 else inf
        return cls(float(np.mean(differences)), spread, n)


class Standing(NamedTuple):
    """One learner over all its data sets, and against the reference on those that both have seen."""

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
        The learner that the others are held against.

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
            Whom to look at; all others when empty.
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
        """The learner's errors less those of the reference, on each data set that both have seen."""
        both = [self._errors[row.source, row.n_rows, row.repetition] for row in rows]
        return [float(errors[name] - errors[self.reference]) for errors in both if self.reference in errors]

    @cached_property
    def _errors(self) -> Mapping[DataSet, Mapping[str, int]]:
        """Of each data set: what each learner got wrong."""
        known: dict[DataSet, dict[str, int]] = defaultdict(dict)
        for row in self.rows:
            known[row.source, row.n_rows, row.repetition][row.learner] = row.hamming
        return known


_COUNTS = ("hamming", "false_positives", "false_negatives")


def _by(rows: Iterable[Row], what: str) -> dict[str, list[Row]]:
    """The rows of each learner or kind, in the order in which they are met."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, what)].append(row)
    return dict(grouped)
