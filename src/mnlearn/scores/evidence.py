"""Local evidence: how well a set of neighbours explains a variable, all parameters integrated out.

Of a variable x with neighbours S, u running over the observed configurations of S and r over states that occur:

- F(x | S), the full table: in every u a multinomial with Jeffreys prior, the local score of [MPL17] (Eq. 6). It sees
  interactions of any order and pays for each configuration.
- P(x | S), the pairwise log-linear conditional: P(x = a | u) ∝ exp(C_x[a] · (b0 + Σ_z B_z C_z[u_z])) with orthonormal
  contrasts C, vec(B_z) ~ N(0, s_z² I), b0 ~ N(0, 100): the Laplace approximation of its evidence at the posterior mode,
  shifted so that P(x | {}) = F(x | {}). A hub pays a linear price for its neighbours. s_z = 1; or 4 for a neighbour of
  large weights, such as one that determines x, if the evidence rises by more than ln 2, which it pays: under the narrow
  prior two copies of such a neighbour, each with half of its weights, would beat one. Up to eight neighbours may have
  three-way terms √2 C_y[u_y] ⊗ C_z[u_z]: taken greedily by their one-step gain, kept if the refitted evidence rises by
  more than ln(|S| (|S| − 1) / 2) + 0.01, which it pays; then these may have the wide prior, too.
- H = max(F − gift, P), which has the strengths of both; for the empty set all three are the same.

The gift of x is what a table of mostly empty configurations gives x for nothing. With a row or none in each, the table
says of x that all its r states are equally likely, whatever the data; where they nearly are, that beats the one
distribution that F(x | {}) has to learn, and independent data show edges. So F of a set that is not empty pays by how
much a prior that is nearer to uniform explains x better: the largest ln DM(n; a, …, a) over a = 1, 2, 4, … and −N ln r,
less F(x | {}), which has a = 1/2; or nothing, if that is negative (DM: the Dirichlet-multinomial distribution).

The one-step gain of a neighbour is what one Newton step from the fit without it promises: g' S⁻¹ g / 2 − ln det(S) / 2
with the gradient g and the Schur complement S of the information, prior included. It needs the tables of a scan and no
new fit, so a search ranks all candidates by it and fits the leaders.

Evidence for variables of several kinds, and for data with gaps: the judge of separator evidence on mixed tables.

The counterpart for variables of several kinds. Continuous ones alone are in `gaussian_evidence.py`. A variable x with
neighbours S has up to five local models, all with their parameters integrated out:

- F and P, the full table and the pairwise conditional above, where x and S are categorical;
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
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from typing import ClassVar, Protocol

import numpy as np

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, check_no_gaps, copied_columns
from mnlearn.errors import UnsuitableError
from mnlearn.graphs.candidates import Candidates, keys_of
from mnlearn.graphs.graph import Edge
from mnlearn.numbers import first_best, log, tolerance
from mnlearn.protocols import SILENT, FloatArray, Indices, IntArray, Monitor, PairEvidence, VarSet
from mnlearn.scores.local import Decomposed, Work, screened_pairs
from mnlearn.statistics.evidence import EvidenceScans, LocalFits, MixedScans

RANKED_TOGETHER = 1 << 25  # pairs that are ranked between two looks at the monitor


class FittingStatistics(Protocol):
    """Statistics that can fit conditional models: `Counts`."""

    @property
    def cards(self) -> tuple[int, ...]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def copies(self) -> Mapping[int, int]: ...
    def evidence(self, *, three_way: bool = True) -> EvidenceScans: ...


@dataclass(frozen=True)
class HybridEvidence(Decomposed):
    """H(x | S) = max(F − gift, P), the evidence used by separator evidence.

    Parameters
    ----------
    statistics
        Where the tables come from: `Counts`.
    three_way
        Whether up to eight neighbours may have three-way terms.

    Raises
    ------
    UnsuitableError
        If the statistics cannot fit models.

    Notes
    -----
    The evidence of an edge, ev(x, y | S) = [H(x | S + y) − H(x | S) + H(y | S + x) − H(y | S)] / 2, is a log Bayes
    factor. `pairs` gives it in scans: one table of (S, x, y) serves both directions. A column with one state has
    ev = 0 with everything.

    A model P of more than 256 parameters, or one that Newton's method cannot fit, is not used: P falls back to F less
    the gift, and `work["fallbacks"]` counts it. The value is never NaN or infinite, whatever the data.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> judge = HybridEvidence(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> judge.pairs([0], [frozenset()], [[1, 2]])[0].log_factor.round(1).tolist()
    [26.8, -1.2]
    """

    name: ClassVar[str] = "hybrid_evidence"
    statistics: FittingStatistics
    _: KW_ONLY
    three_way: bool = True
    work: Work = field(init=False, repr=False, compare=False, default_factory=Work)
    _scans: EvidenceScans = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not hasattr(self.statistics, "evidence"):
            raise UnsuitableError(
                f"{type(self).__name__} cannot fit models by a {type(self.statistics).__name__}. Use Counts; "
                "continuous variables must be discretised first."
            )
        object.__setattr__(self, "_scans", self.statistics.evidence(three_way=self.three_way))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.statistics.cards)

    def _choose(self, fits: LocalFits) -> FloatArray:
        return np.maximum(fits.full_table, fits.pairwise)

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """The evidence of each x with its blanket."""
        fits = self._scans.local(xs, blankets)
        self.work.book(scans=0, fits=len(blankets), fallbacks=int(fits.fell_back.sum()))
        return self._choose(fits)

    def local(self, x: int, blanket: VarSet) -> float:
        """The evidence of x with this blanket."""
        return float(self.locals([x], [blanket])[0])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each y."""
        found = self._scans.additions(xs, blankets, yss)
        n_fits = sum(len(fits.fell_back) + 1 for fits in found)
        self.work.book(scans=len(found), fits=n_fits, fallbacks=sum(int(fits.fell_back.sum()) for fits in found))
        return [self._choose(fits) for fits in found]

    @property
    def copies(self) -> Mapping[int, int]:
        """The original of each variable that is a copy of an earlier one."""
        return self.statistics.copies

    def with_three_way(self, use: bool) -> HybridEvidence:
        """Return this judge with or without three-way terms and with fresh counters."""
        return replace(self, three_way=use)

    def estimates(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return `additions` with P to first order: one Newton step from the fit without y."""
        found = self._scans.additions(xs, blankets, yss, exact=False)
        self.work.book(scans=len(found), fits=len(found), fallbacks=sum(int(f.fell_back.sum()) for f in found))
        return [self._choose(fits) for fits in found]

    def rankings(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return numbers that rank the y of each x given its blanket: full tables, or estimates where those are wide.

        The estimates of a binary x cost no more than its tables, and are always used.
        """
        n_states = self._scans.n_states
        widths = [(n_states[x] - 1) * np.prod(n_states[sorted(z)]) for x, z in zip(xs, blankets, strict=True)]
        narrow = (np.array([n_states[x] for x in xs]) > 2) & (9 * np.array(widths) <= self.statistics.n_rows)
        found: list[FloatArray] = [np.empty(0)] * len(xs)
        for ask, chosen in ((self._scans.full_tables, narrow), (self.estimates, ~narrow)):
            places = np.flatnonzero(chosen).tolist()
            rows = ask([int(xs[k]) for k in places], [blankets[k] for k in places], [yss[k] for k in places])
            for k, row in zip(places, rows, strict=True):
                found[k] = row
        self.work.book(scans=int(narrow.sum()), fits=0, fallbacks=0)
        return found

    @property
    def can_screen(self) -> bool:
        """Whether the statistics find the strongest partners by themselves."""
        return hasattr(self.statistics, "screen")

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs that are among the k strongest of either variable by G²."""
        return screened_pairs(self.statistics, k, monitor)

    def strongest_given(self, xs: Indices, blankets: Sequence[VarSet], k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs of each x with the k variables that promise most given its blanket.

        Of binary variables, given at most six others, the promise is an approximation of the gain of H: chi-square in
        the strata of the blanket, less what a parameter costs; it exceeds half of ln n. Else `rankings` are used. If
        the monitor cancels, the pairs found so far are returned.
        """
        n, found = self.n_variables, [np.empty((0, 2), dtype=np.int64)]
        quick = np.array([self._scans.ranks_all(z) for z in blankets], dtype=np.bool_)
        for ask, places, size in (
            (self._promising, np.flatnonzero(quick), max(32, RANKED_TOGETHER // n)),
            (self._ranked, np.flatnonzero(~quick), max(1, RANKED_TOGETHER // n // 64)),
        ):
            for begin in range(0, len(places), size):
                if monitor.cancelled():
                    break
                monitor.progress(begin, len(places), "screen given blankets")
                some = places[begin : begin + size].tolist()
                found.append(ask([int(xs[j]) for j in some], [blankets[j] for j in some], k))
        self.work.book(scans=len(xs), fits=0, fallbacks=0)
        return Candidates(n, keys_of(n, np.concatenate(found)))

    def _promising(self, xs: Indices, blankets: Sequence[VarSet], k: int) -> IntArray:
        starts, ys = self._scans.most_promising(xs, blankets, k, log(self.n_variables) / 2)
        return np.stack([np.repeat(np.asarray(xs, dtype=np.int64), np.diff(starts)), ys], axis=1)

    def _ranked(self, xs: Indices, blankets: Sequence[VarSet], k: int) -> IntArray:
        everyone, pairs = np.flatnonzero(self._scans.n_states > 1).astype(np.int32), []
        yss = [everyone[~np.isin(everyone, [x, *z])] for x, z in zip(xs, blankets, strict=True)]
        for x, ys, row in zip(xs, yss, self.rankings(xs, blankets, yss), strict=True):
            best = ys[np.argsort(-row, kind="stable")[:k]]
            pairs.append(np.stack([np.full(len(best), x), best], axis=1).astype(np.int64))
        return np.concatenate(pairs)

    def leaders(
        self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices], above: FloatArray
    ) -> list[PairEvidence]:
        """Return `estimates`; for each x the largest, and what ties with it, fitted while it exceeds its bound."""
        found = self._scans.leaders(xs, blankets, yss, above.tolist())
        n_fits = sum(1 + int(np.count_nonzero(fits.exact)) for fits in found)
        self.work.book(scans=len(found), fits=n_fits, fallbacks=sum(fits.fell_back for fits in found))
        return [PairEvidence(fits.log_factor, fits.exact) for fits in found]

    def removals(
        self, xs: Indices, blankets: Sequence[VarSet], fit_above: FloatArray | None = None
    ) -> list[FloatArray]:
        """Return local(x, blanket − y) for each member y, ascending; exact where it may exceed `fit_above` of x."""
        if fit_above is None:
            sizes = [len(blanket) for blanket in blankets]
            smaller = [blanket - {y} for blanket in blankets for y in sorted(blanket)]
            values = self.locals(np.repeat(np.asarray(xs, dtype=np.int32), sizes), smaller)
            return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []
        found = self._scans.removals(xs, blankets, fit_above.tolist())
        n_fits = sum(1 + int(np.count_nonzero(fits.exact)) for fits in found)
        self.work.book(scans=0, fits=n_fits, fallbacks=sum(fits.fell_back for fits in found))
        return [fits.log_factor for fits in found]

    def pairs(
        self, xs: Indices, separators: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float | FloatArray = -inf
    ) -> list[PairEvidence]:
        """ev(x, y | S) of each x with its S, for each y; to first order where that does not exceed `fit_above`.

        The bound is one number, or one for each x. Estimates far below it are those of the end of x alone.
        """
        found = self._scans.pairs(xs, separators, yss, fit_above=fit_above)
        n_fits = sum(1 + 3 * int(np.count_nonzero(fits.exact)) for fits in found)
        self.work.book(scans=len(found), fits=n_fits, fallbacks=sum(fits.fell_back for fits in found))
        return [PairEvidence(fits.log_factor, fits.exact) for fits in found]

    def best_pair(self, x: int, blanket: VarSet, candidates: Indices) -> tuple[Edge, float] | None:
        """The y < z of the candidates with the largest F(x | blanket + y + z), and that less the gift.

        Tables of more parameters than rows are left out: they cannot show what two variables explain together. Of
        equals the pair is taken that explains more of x one by one, given nothing; then the first.
        """
        ys = np.unique(np.asarray(candidates, dtype=np.int32))
        n_states = self._scans.n_states
        most = self.statistics.n_rows / max(1.0, (n_states[x] - 1) * np.prod(n_states[sorted(blanket)]))
        later = [ys[k + 1 :] for k in range(len(ys))]
        if not len(ys) or n_states[ys].max() ** 2 <= most:
            yss = later
        else:
            yss = [row[n_states[row] * n_states[y] <= most] for y, row in zip(ys, later, strict=True)]
        asked = [k for k, row in enumerate(yss) if len(row)]
        if not asked:
            return None
        starts = [blanket | {int(ys[k])} for k in asked]
        values = self._scans.full_tables([x] * len(starts), starts, [yss[k] for k in asked])
        self.work.book(scans=len(starts), fits=0, fallbacks=0)
        found = np.concatenate(values)
        firsts = np.repeat(ys[asked], [len(row) for row in values])
        seconds = np.concatenate([yss[k] for k in asked])

        def pairs_at(places: IntArray) -> IntArray:
            return np.stack([firsts[places], seconds[places]])

        ties = (lambda tied: self._alone(x, pairs_at(tied)),)
        best = first_best(found, -inf, tolerance([float(found.max())]), *ties)
        assert best is not None, "the evidence is finite"
        y, z = pairs_at(np.array([best])).ravel().tolist()
        return (y, z), float(found[best]) - float(self._scans.gift[x])

    def _alone(self, x: int, pairs: IntArray) -> FloatArray:
        """Return the evidence for x − y and x − z given nothing, summed, of each pair y, z (a column)."""
        ys, places = np.unique(pairs, return_inverse=True)
        factors = self.pairs([x], [frozenset()], [ys])[0].log_factor
        return np.asarray(factors[places.reshape(pairs.shape)].sum(axis=0))


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

    @cached
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
