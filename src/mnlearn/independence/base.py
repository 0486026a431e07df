"""Base classes of the conditional independence tests: what follows from evidence, from counts, from one kernel.

Logarithms of tail probabilities, exact where the probabilities themselves underflow.

Variables are ordered by log p, and a p of 1e-10000 must still order. The native core computes 1 to 40,000 degrees of
freedom in microseconds. For others SciPy's survival functions are used wherever their value is a normal number; beyond
that, the continued fraction of the incomplete gamma function, with a prefactor that does not cancel for many degrees of
freedom.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.errors import InputError, UnsuitableError, is_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.numbers import erf, exp, expm1, log, log1p, log_gamma
from mnlearn.protocols import (
    NO_TURNS,
    SILENT,
    BaseTest,
    Evidence,
    FloatArray,
    Indices,
    IntArray,
    Kernel,
    Knowledge,
    Monitor,
    Statistics,
    SubsetWalk,
    Turns,
    VarSet,
    Verdicts,
)
from mnlearn.statistics.kernels import log_chi2_tails
from mnlearn.statistics.screens import ScreenStatistic, StrongestPartners

_LARGEST_TOGETHER = 12  # a larger blanket has about as many configurations as rows: one table for all saves nothing
_SUGGESTIONS = {
    "Use Counts(dataset) for categorical data.": ("reduce", "reduce_many", "reduce_all"),
    "Use Moments(dataset) for continuous data.": ("partial_correlations", "correlations_all"),
    "Use Rows(dataset) for continuous data.": ("ranks",),
    "Use MixedLikelihoods(dataset) for variables of several kinds.": ("ratios",),
}


def log_level(alpha: float) -> float:
    """Return log(alpha), after checking that alpha is a level."""
    if not (is_number(alpha) and 0.0 < alpha < 1.0):
        raise InputError(f"alpha must be between 0 and 1, both excluded; got {alpha!r}. Usual values: 0.05, 0.01.")
    return log(alpha)


def require_method(judge: object, statistics: object, method: str) -> None:
    """Raise UnsuitableError, when a judge is made, unless its statistics have the method that it needs."""
    if not hasattr(statistics, method):
        suggestion = next(hint for hint, methods in _SUGGESTIONS.items() if method in methods)
        raise UnsuitableError(
            f"{type(judge).__name__} cannot use a {type(statistics).__name__}, which has no {method}. {suggestion}"
        )


def question_rows(statistics: Statistics, x: int, ys: Indices, z: VarSet) -> IntArray:
    """Return the number of rows behind each y of a scan: with gaps, those in which x, y and z are observed."""
    find = getattr(statistics, "question_rows", None)
    if find is None:
        return np.full(len(ys), statistics.n_rows, dtype=np.int64)
    rows: IntArray = find(x, ys, z)
    return rows


def has_gaps(statistics: Statistics) -> bool:
    """Whether the statistics are of data with missing values."""
    return any(getattr(statistics, "gaps", ()))


def pair_scores(statistics: Statistics, kernel: Kernel) -> Iterator[tuple[range, FloatArray]]:
    """Score every pair x < y given nothing: in blocks where the statistics have them, to save memory."""
    blocks = getattr(statistics, "all_pairs_blocks", None)
    if blocks is not None:
        yield from blocks(kernel)
    else:
        yield range(len(statistics.cards) - 1), statistics.reduce_all(kernel)


class Strongest(Protocol):
    """Function that returns the pairs that are among the k strongest of either variable by marginal evidence."""

    def __call__(self, k: int, monitor: Monitor = SILENT) -> Candidates: ...


class EvidenceTest(BaseTest):
    """Conditional independence test whose decisions are read off its evidence."""

    @abstractmethod
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decision for each y and the numbers behind it."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z; the support is log p, or the log posterior of independence."""
        evidence = self.evidence(x, ys, z)
        support = evidence.log_p if evidence.log_p is not None else evidence.log_independent
        assert support is not None, "a test computes one of the two"
        return Verdicts(evidence.independent, support)


def screen_of(statistics: object, statistic: ScreenStatistic) -> Strongest:
    """Return the `strongest` of a judge on these statistics: by their screen, where they have one.

    Raises
    ------
    AttributeError
        If they have none, so that the judge has no attribute `strongest`.
    """
    screen = statistics.screen  # type: ignore[attr-defined]

    def strongest(k: int, monitor: Monitor = SILENT) -> Candidates:
        found: StrongestPartners = screen(k, statistic=statistic, monitor=monitor)
        return found.candidates()

    return strongest


class CountsTest(EvidenceTest):
    """Conditional independence test of categorical variables."""

    statistics: Statistics
    _screened_by: ClassVar[ScreenStatistic] = "g2"

    @property
    def strongest(self) -> Strongest:
        """Function that returns the pairs among the k strongest of either variable; see `ScreeningJudge`."""
        return screen_of(self.statistics, self._screened_by)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.statistics.cards)


class KernelTest(CountsTest):
    """Test by one kernel: x ⟂ y | z iff the support computed from its outputs is above a level.

    Whole blankets and searches over conditioning sets are left to the statistics, if these can run them.
    """

    batched = True
    _kernel: Kernel
    _level: float

    @abstractmethod
    def _decide(self, scores: FloatArray) -> Verdicts:
        """Return the decisions that the outputs of the kernel lead to."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z, in a third of the time that `evidence` takes for a few y."""
        return self._decide(self.statistics.reduce(self._kernel, x, ys, z))

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Return the `scan` of each x with its ys and its z, in one pass of the statistics."""
        found = self.statistics.reduce_many(self._kernel, xs, yss, zs)
        return _split(self._decide(np.concatenate(found, axis=1)), (one.shape[1] for one in found)) if found else []

    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Test x against every y in z, in ascending order, given the rest of z: all from one table of x and z."""
        return self._decide(self.statistics.members(self._kernel, [x], [z])[0])

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """Test every pair given nothing, in as few passes of the statistics as memory allows."""
        return ((xs, self._decide(scores)) for xs, scores in pair_scores(self.statistics, self._kernel))

    def scan_growing(
        self, x: int, ys: Indices, z: VarSet, *, to_first: bool = False, ahead: int = 1, known: Knowledge | None = None
    ) -> Turns:
        """Test each y in turn given z and the dependent ones before it, as many as the statistics answer at once."""
        grow = getattr(self.statistics, "grow", None)
        if grow is None:
            return NO_TURNS
        turns: Turns = grow(self._kernel, self._level, x, ys, z, to_first=to_first, ahead=ahead, known=known)
        return turns

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:
        """Test each y in turn, a member of z, given the rest of z without the independent ones before it.

        Statistics that cannot shrink give one table, which answers up to the first y that leaves z.
        """
        shrink = getattr(self.statistics, "shrink", None)
        turns: Turns = NO_TURNS if shrink is None else shrink(self._kernel, self._level, x, ys, z, known=known)
        if turns.independent or not len(ys) or known is not None or len(z) > _LARGEST_TOGETHER:
            return turns
        members, order = self.scan_members(x, z), {v: k for k, v in enumerate(sorted(z))}
        places = [order[int(y)] for y in ys]
        leaving = np.flatnonzero(members.independent[places])
        used = places if not len(leaving) else places[: leaving[0] + 1]
        support, n, others = members.log_support[used].tolist(), len(used), len(z) - 1
        return Turns(members.independent[used].tolist(), support, [0] * n, n, n * (2 + others), others, n)

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:
        """Return an empty knowledge base for the two methods above, if the statistics can reason."""
        make = getattr(self.statistics, "knowledge", None)
        known: Knowledge | None = None if make is None else make(mirrored=mirrored)
        return known

    def subsets(self) -> SubsetWalk | None:
        """Return the search over conditioning sets that the statistics run, if they can."""
        make = getattr(self.statistics, "subsets", None)
        walk: SubsetWalk | None = None if make is None else make(self._kernel, self._level)
        return walk


def _split(verdicts: Verdicts, lengths: Iterable[int]) -> list[Verdicts]:
    """Return the answers to scans that were joined, one by one."""
    ends = list(accumulate(lengths, initial=0))
    return [Verdicts(verdicts.independent[a:b], verdicts.log_support[a:b]) for a, b in pairwise(ends)]


_SMALLEST_DIRECT = 1e-290  # below it gammaincc nears the subnormal numbers, and there it loses digits
_LOG_2 = log(2.0)
_HALF_LOG_2PI = 0.5 * log(2.0 * np.pi)
_STIRLING_FROM = 20.0  # from here on four terms of Stirling's remainder are exact to 2e-15
_MAX_TERMS = 1_000  # never reached: 6 are enough for any p < 1e-290, measured for dof from 2e-101 to 1e18
_SMALLEST_DOF = 1e-100  # with fewer the deep tail would reach statistics where the fraction converges slowly


def log_chi2_sf(statistic: ArrayLike, dof: ArrayLike) -> FloatArray:
    """Return log Pr[chi²(dof) > statistic] = log Q(dof / 2, statistic / 2), element by element.

    Parameters
    ----------
    statistic
        The statistics; below 0 counts as 0, +inf gives -inf.
    dof
        The degrees of freedom, broadcast against `statistic`: any number >= 0, whole or not (below 1e-100 counts as
        1e-100). With 0 or infinitely many of them no statistic is evidence, and log p is 0.

    Returns
    -------
    The natural logarithms, at most 0, never NaN.

    Raises
    ------
    InputError
        If a statistic is NaN, or a number of degrees of freedom is negative or NaN.

    Notes
    -----
    The relative error of log p is 1e-12 or less, also where p itself underflows and where p is so near 1 that log p is
    -1e-300. Closer to 1, log p nears the subnormal numbers and then rounds to 0.

    Examples
    --------
    >>> float(log_chi2_sf(100_000.0, 10).round(6))
    -49959.898861
    """
    t, nu = np.asarray(statistic, dtype=np.float64), np.asarray(dof, dtype=np.float64)
    if t.ndim != 1 or t.shape != nu.shape:
        shape = np.broadcast_shapes(t.shape, nu.shape)
        pairs = (np.ascontiguousarray(np.broadcast_to(given, shape)).reshape(-1) for given in (t, nu))
        return log_chi2_sf(*pairs).reshape(shape)
    log_p, complete = log_chi2_tails(t, nu)
    if not complete:
        _check_statistic(t, nu)
        left = np.isnan(log_p)
        log_p[left] = _log_gamma_tail(0.5 * np.maximum(nu[left], _SMALLEST_DOF), 0.5 * t[left])
    return log_p


def _check_statistic(t: FloatArray, nu: FloatArray) -> None:
    """Raise InputError for NaN statistics and for negative or NaN degrees of freedom."""
    if np.isnan(t).any():
        raise InputError("statistic must not be NaN; got NaN. Leave out the tables that have no statistic.")
    if not (nu >= 0.0).all():
        raise InputError(f"dof must be 0 or more; got {nu[~(nu >= 0.0)].flat[0]}. Count the degrees of freedom again.")


def log_two_sided_normal(z: ArrayLike) -> FloatArray:
    """Return log Pr[|Z| > |z|] for a standard normal Z, element by element; at most 0.

    Raises
    ------
    InputError
        If a z is NaN.
    """
    size = np.abs(np.asarray(z, dtype=np.float64))
    if np.isnan(size).any():
        raise InputError("z must not be NaN; got NaN. Leave out the pairs that have no statistic.")
    near = log1p(-erf(np.minimum(size, 1.0) / np.sqrt(2.0)))  # the sum below loses its digits near p = 1
    far, _ = log_chi2_tails(size.reshape(-1) ** 2, np.ones(size.size))  # Z² has one degree of freedom
    return np.asarray(np.where(size < 1.0, near, far.reshape(size.shape)) + 0.0)


def log1mexp(log_p: ArrayLike) -> FloatArray:
    """Return log(1 - exp(log_p)) for log_p <= 0, element by element, without cancellation at either end.

    Raises
    ------
    InputError
        If a log_p is positive or NaN.
    """
    given = np.asarray(log_p, dtype=np.float64)
    if not (given <= 0.0).all():
        raise InputError(
            f"log_p must be 0 or less; got {given[~(given <= 0.0)].flat[0]}. Cap it at 0 if that is a rounding error."
        )
    near_one = given > -_LOG_2
    if not near_one.any():  # usual for neighbours: a third of the work
        return np.asarray(log1p(-exp(given)) + 0.0)
    with np.errstate(divide="ignore"):  # log_p = 0: the answer is -inf
        near = log(-expm1(np.where(near_one, given, -1.0)))
    return np.asarray(np.where(near_one, near, log1p(-exp(np.where(near_one, -1.0, given)))) + 0.0)


def _log_gamma_tail(a: FloatArray, x: FloatArray) -> FloatArray:
    """Return log Q(a, x) for finite a > 0 and x > 0 (x may be infinite)."""
    from scipy.special import gammainc, gammaincc

    q = gammaincc(a, x)
    q = np.where(np.isnan(q), 0.5 - 0.5 * np.sign(x - a), q)  # SciPy overflows from a = 1e306 on
    likely, deep = q > 0.5, (q < _SMALLEST_DIRECT) & (x > a) & np.isfinite(x)
    with np.errstate(divide="ignore"):  # x = inf: the answer is -inf
        log_q = log(q)
    if likely.any():
        log_q[likely] = log1p(-np.nan_to_num(gammainc(a[likely], x[likely]), nan=0.0))
    if deep.any():  # rare, and most of the work in a scan of few pairs
        log_q[deep] = _log_prefactor(a[deep], x[deep]) + _log_fraction(a[deep], x[deep])
    return np.asarray(np.minimum(log_q, 0.0) + 0.0)  # no negative zeros


def _log_prefactor(a: FloatArray, x: FloatArray) -> FloatArray:
    """Return log(x^a e^-x / Gamma(a)) for x > a."""
    few = a < _STIRLING_FROM
    if few.all():  # fewer than 40 degrees of freedom: the usual scan, for which the series below is most of the work
        return np.asarray(a * log(x) - x - log_gamma(a))
    many = np.where(few, _STIRLING_FROM, a)
    excess = np.maximum(x - many, 0.0) / many
    inverse = 1.0 / many
    square = inverse * inverse
    remainder = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    by_stirling = many * _log1p_minus(excess) + (0.5 * log(many) - _HALF_LOG_2PI - remainder)
    small = np.where(few, a, 1.0)
    return np.asarray(np.where(few, small * log(x) - x - log_gamma(small), by_stirling))


def _log1p_minus(u: FloatArray) -> FloatArray:
    """Return log(1 + u) - u for u >= 0, without its cancellation for small u."""
    s = np.minimum(u, 1.0)
    s = s / (2.0 + s)  # log(1 + u) = 2 artanh(s), and 2 s - u = -u s
    square, odd = s * s, np.zeros_like(s)
    for k in range(35, 1, -2):  # s <= 1/3: the term left out is below 1e-18 of the sum
        odd = odd * square + 1.0 / k
    return np.asarray(np.where(u <= 1.0, 2.0 * s * square * odd - u * s, log1p(u) - u))


def _log_fraction(a: FloatArray, x: FloatArray) -> FloatArray:
    """Return the log of Gamma(a, x) / (x^a e^-x): Legendre's continued fraction by Lentz's method."""
    b = x - a + 1.0
    d = 1.0 / b
    c, value = np.full_like(b, np.inf), d.copy()
    for n in range(1, _MAX_TERMS):
        b = b + 2.0
        d = 1.0 / (b + (a - n) * (n * d))
        c = b + (a - n) * (n / c)
        step = c * d
        value *= step
        if (np.abs(step - 1.0) <= 1e-15).all():
            break
    return np.asarray(log(value))
