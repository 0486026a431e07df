"""Evidence for variables of several kinds, and for data with gaps: the judge of separator evidence on mixed tables.

The counterpart of `evidence.py` (nominal variables) and `gaussian_evidence.py` (continuous ones). A variable x with
neighbours S has up to five local models, all with their parameters integrated out:

- F and P, the full table and the pairwise conditional of `evidence.py`, where x and S are categorical;
- A, the ordered reading: an ordinal variable is its standardised score, both as x and as a neighbour. Between two
  scores this is the adjacent-categories logit, the conditional of an ordinal Markov field: one parameter an edge.
- Q, the curved reading: an ordinal variable is its score and the square of it, made orthogonal. Answers to
  questionnaires bend at the ends of their scales, which four parameters an edge describe better than 25 of B.
- B, the nominal reading: an ordinal variable is the contrasts of its states.

In A, Q and B a continuous neighbour is its standardised value, and a nominal one the contrasts of its states. A
categorical x has thresholds N(0, 100) and log-linear weights (Laplace evidence at the mode); a continuous x is a linear
regression with b given s² ~ N(0, s² v), flat in the constant and log s, whose evidence is closed. Prior variances v:
0.2² between scores and values, 0.245 for a block with contrasts on one side, 1 with contrasts on both sides, as in P.

    H(x | S) = max(F − gift, P, A, Q) where x and S are categorical, else max(A, Q, B), less the same of {}
    ev(x, y | S) = [H(x | S + y) − H(x | S) + H(y | S + x) − H(y | S)] / 2

The better model is taken on both sides of each difference: the maximum of two finished Bayes factors would weigh y
against a poor model of S. In ev the coefficients b of y between scores and values have the moment prior of
`gaussian_evidence.py`, which adds ln((b'b + tr V) / (d 0.2²)), d their number and V their posterior covariance: an edge
is not arbitrarily weak. Counts are log(1 + count). Readings of ordinal variables that explain x by each neighbour alone
clearly worse than another, added up over S, are not fitted.

With gaps each question uses the rows in which x, y and S are observed, all its models the same rows. Values of sets on
different rows cannot be compared, so blankets are then judged by what each variable adds (`relative`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from math import inf
from typing import ClassVar

import numpy as np

from mnlearn.data.copies import copied_columns
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import FloatArray, Indices, PairEvidence, VarSet
from mnlearn.scores.local import Decomposed, Work
from mnlearn.statistics.mixed_scans import MixedScans


@dataclass(frozen=True)
class MixedEvidence(Decomposed):
    """H(x | S) of variables of any kinds, and the evidence of single edges.

    Parameters
    ----------
    data
        Variables of any kinds; values may be missing (``missing="testwise"``).
    n_jobs
        Number of threads: None or −1 for all cores. Any number gives the same result.
    three_way
        Whether models of up to eight categorical neighbours may have three-way terms.

    Raises
    ------
    UnsuitableError
        If the rows have weights.

    Notes
    -----
    A constant variable has no evidence for anything. A pair without common rows has ev = 0. A model of more than 256
    parameters is not fitted, and `work["fallbacks"]` counts it; where no model of S can be fitted, ev = 0. The prior
    keeps every fit finite, also where a neighbour separates the states of x.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> data = read({"dose": [0.1, 0.4, 0.5, 0.9, 1.1, 1.3] * 9, "ill": list("nnnyyy") * 9, "day": list("abccba") * 9})
    >>> judge = MixedEvidence(data)
    >>> judge.pairs([0], [frozenset()], [[1, 2]])[0].log_factor.round(1).tolist()
    [28.7, -1.6]
    """

    name: ClassVar[str] = "mixed_evidence"
    data: Dataset
    _: KW_ONLY
    n_jobs: int | None = None
    three_way: bool = True
    work: Work = field(init=False, repr=False, compare=False, default_factory=Work)
    _scans: MixedScans = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scans", MixedScans(self.data, n_jobs=self.n_jobs))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.data.n_variables

    @property
    def relative(self) -> bool:
        """Whether values are relative to the blanket at hand, because sets of variables have their own rows."""
        return bool(self.data.gaps)

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """The original of each variable that is a copy of an earlier one."""
        return copied_columns(self.data.columns, self.data.cards)

    def with_three_way(self, use: bool) -> MixedEvidence:
        """Return this judge with or without three-way terms and with fresh counters."""
        other = copy(self)
        object.__setattr__(other, "three_way", use)
        object.__setattr__(other, "work", Work())
        return other

    def local(self, x: int, blanket: VarSet) -> float:
        """Return the evidence of x with this blanket against the empty one.

        Raises
        ------
        UnsuitableError
            If values are missing: the evidence of other blankets is that of other rows.
        """
        check_no_gaps(self.data, "the score evidence of a graph", "the method sep, which compares on the same rows")
        return float(self.locals([x], [blanket])[0])

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return the evidence of each x with its blanket; 0 if values are relative."""
        if self.relative:
            return np.zeros(len(blankets))
        rows = self._ask("local", xs, blankets, [()] * len(blankets))
        self._book(0, rows)
        return np.asarray(rows[0])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y; if values are relative, what y adds on the rows that have it."""
        return self._values("additions", xs, blankets, yss)

    def estimates(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return `additions` to first order: one Newton step from the fit without y."""
        return self._values("estimates", xs, blankets, yss)

    def leaders(
        self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices], above: FloatArray
    ) -> list[PairEvidence]:
        """Return `estimates`; for each x the largest, and what ties with it, fitted while it exceeds its bound."""
        rows = self._ask("leaders", xs, blankets, yss, above)
        self._book(len(blankets), rows)
        values = rows[0] if self.relative else rows[0] + rows[3]
        return [PairEvidence(*part) for part in zip(*(_split(row, yss) for row in (values, rows[1] > 0)), strict=True)]

    def removals(
        self,
        xs: Indices,
        blankets: Sequence[VarSet],
        fit_above: FloatArray | None = None,
    ) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, ascending; exact where it may exceed `fit_above` of x.

        If values are relative, these are differences to the blanket.
        """
        bound = -inf if fit_above is None else fit_above
        rows = self._ask("removals", xs, blankets, [()] * len(blankets), bound)
        self._book(0, rows)
        return _split(rows[0] if self.relative else rows[0] + rows[3], [sorted(blanket) for blanket in blankets])

    def pairs(
        self, xs: Indices, separators: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float | FloatArray = -inf
    ) -> list[PairEvidence]:
        """ev(x, y | S) of each x with its S, for each y; to first order where that does not exceed `fit_above`."""
        rows = self._ask("pairs", xs, separators, yss, fit_above)
        self._book(len(separators), rows)
        return [PairEvidence(*part) for part in zip(*(_split(row, yss) for row in (rows[0], rows[1] > 0)), strict=True)]

    def best_pair(self, x: int, blanket: VarSet, candidates: Indices) -> tuple[Edge, float] | None:
        """Return None: pairs of variables are not searched."""

    def _values(
        self, question: str, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]
    ) -> list[FloatArray]:
        rows = self._ask(question, xs, blankets, yss)
        self._book(len(blankets), rows)
        return _split(rows[0] if self.relative else rows[0] + rows[3], yss)

    def _book(self, scans: int, rows: FloatArray) -> None:
        self.work.book(scans=scans, fits=int(np.count_nonzero(rows[1])), fallbacks=int(rows[2].sum()))

    def _ask(
        self,
        question: str,
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
        thresholds: float | FloatArray = inf,
    ) -> FloatArray:
        return self._scans.rows(
            question, xs, zs, yss, three_way=self.three_way, thresholds=thresholds, relative=self.relative
        )


def _split(row: FloatArray, yss: Sequence[Indices]) -> list[FloatArray]:
    """Return the part of each question."""
    return np.split(row, np.cumsum([len(ys) for ys in yss])[:-1]) if yss else []
