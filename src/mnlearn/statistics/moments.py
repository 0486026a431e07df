"""Covariance, partial correlations and Gaussian entropies of continuous variables.

The covariance is computed once. Every question about (x, many y | z) is then one factor of the block of z and one
triangular solve for all the y together: no row of the data is read again.

Partial correlations of continuous variables with gaps: each question from the rows in which it is observed.

A covariance from pairs of columns would mix rows, and need not be positive definite. Here the rows that have values of
x, y and all of z make one small correlation matrix for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Sized
from functools import partial
from math import sqrt
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from mnlearn import _core
from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.data.rows import Observed
from mnlearn.errors import (
    InputError,
    UnsuitableError,
    check_room,
    check_unmasked,
    is_masked_array,
    is_number,
    real_array,
    tuple_of,
)
from mnlearn.numbers import log
from mnlearn.parallel import job_count
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import BoolArray, FloatArray, Indices, IntArray
from mnlearn.statistics.scaling import (
    correlation_of_covariance,
    correlation_of_rows,
    pivoted_cholesky,
    products,
    solve_lower,
    standardized_columns,
)
from mnlearn.statistics.screens import RowScreen, ScreenRule, ScreenStatistic, StrongestPartners, run
from mnlearn.statistics.searches import UNREADABLE, SubsetScans, check_level, question

MATRICES = 3  # of n² numbers that are in memory at once while correlations are computed
EXPLAINED = 1e-10
"""Share of its own variance below which the residual of a variable given others counts as zero.

The entries of a correlation matrix are known to about 1e-16, so a remainder of this share is known to about
six digits, and a smaller one to fewer.
"""

LARGEST = 1.0 - 2.0**-53
"""Largest |r| that is reported: its Fisher z is still finite."""

_ROUNDING = (
    100.0 * 2.0**-52
)  # residual share per member of z, over the smallest share of a member: less may be rounding
_FEW_ROWS = 400  # of more, the standard error of a correlation is smaller, and so must be what rounding adds
_residual_shares = partial(_core.residual_shares, explained=EXPLAINED)
_exchanged_shares = partial(_core.exchanged_shares, explained=EXPLAINED)
_PLAIN = (frozenset, set, list, tuple, np.ndarray)  # read by the core; others are checked first
_HALF_LOG_2PIE = 0.5 * (1.0 + float(log(2.0 * np.pi)))
_Factor = tuple[tuple[int, ...], IntArray, FloatArray]  # z, its members but redundant ones, their Cholesky factor


class Moments:
    """Covariance of continuous variables, and the statistics that follow from it.

    Parameters
    ----------
    dataset
        Continuous variables only. `repeats` count as that many equal rows.
    n_jobs
        Number of threads of searches over sets and of lasso paths: None or −1 for all cores, else that many. Any number
        gives the same result.

    Raises
    ------
    UnsuitableError
        If a variable is categorical.

    Notes
    -----
    Every column is centred twice and scaled to unit variance before anything is multiplied. So units do not matter, and
    a large common offset costs no more digits than storing it did: 1e12 + noise of size 1 leaves the noise its first
    four decimals.

    A covariance tells variables from near-copies down to about 1e-6 of their size. What is left of a closer one is
    rounding, and the answer is NaN, as for exact copies: it cannot be told.

    A member of z whose residual given the others is below `EXPLAINED` of its variance is dropped from z; so is a
    constant one. Where either of two members could be dropped, the variable with the larger
    residual stays, ties by index. For exact copies and sums the results do not depend on the choice.

    Examples
    --------
    >>> moments = Moments.from_covariance([[4.0, 2.0, 1.0], [2.0, 3.0, 0.5], [1.0, 0.5, 1.0]], n_rows=100)
    >>> moments.partial_correlations(0, [1, 2], frozenset()).round(4).tolist()
    [0.5774, 0.5]
    >>> moments.partial_correlations(1, [2], {0}).round(4).tolist()
    [0.0]
    """

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None) -> None:
        if not isinstance(dataset, Dataset):
            raise UnsuitableError(
                f"Moments needs a Dataset; got a {type(dataset).__name__}. Read it first: Moments(mnlearn.read(...))."
            )
        for name, card in zip(dataset.names, dataset.cards, strict=True):
            if card:
                raise UnsuitableError(
                    f"Moments needs continuous variables; {name!r} has {card} state{'s' if card > 1 else ''}. "
                    "Select the continuous columns, or use Counts."
                )
        check_no_gaps(dataset, "Moments", "TestwiseMoments, by which pcor and bayes-pcor test")
        check_room(
            "dataset",
            8.0 * MATRICES * dataset.n_variables**2,
            f"the correlations of all pairs of {dataset.n_variables:,} variables",
            "Select fewer variables: the strongest partners of each can be screened without a matrix.",
        )
        correlation, scale = correlation_of_rows(dataset)
        self._set(dataset.names, dataset.n_rows, correlation, scale, n_jobs)
        self._dataset: Dataset | None = dataset

    @classmethod
    def from_covariance(cls, covariance: ArrayLike, n_rows: int, names: Sequence[str] | None = None) -> Moments:
        """Make moments from a covariance matrix, without rows.

        Parameters
        ----------
        covariance
            Symmetric and positive semi-definite, within 1e-8 in units of a correlation. With a correlation matrix,
            entropies are those of the standardized variables.
        n_rows
            Number of rows it was computed from, which tests need.
        names
            The names of the variables; x0, x1, ... if left out.
        """
        correlation, scale = correlation_of_covariance(real_array("covariance", covariance, "Give a square matrix."))
        labels = tuple(f"x{j}" for j in range(scale.size)) if names is None else tuple_of("names", names, "names")
        if not all(isinstance(name, str) for name in labels):
            raise InputError(f"names must be strings; got {labels!r:.80}. Use str(...).")
        if len(labels) != scale.size or len(set(labels)) != len(labels):
            raise InputError(
                f"names must be {scale.size} different names, one per variable; got {len(labels)}, {len(set(labels))} "
                "different. Leave names out to number the variables."
            )
        if not is_number(n_rows) or not n_rows >= 1 or n_rows % 1:
            raise InputError(
                f"n_rows must be a whole number from 1; got {n_rows!r}. Give the rows behind the covariance."
            )
        moments = cls.__new__(cls)
        moments._set(labels, int(n_rows), correlation, scale, None)
        return moments

    def _set(
        self, names: tuple[str, ...], n_rows: int, correlation: FloatArray, scale: FloatArray, n_jobs: int | None
    ) -> None:
        """Set the attributes, for both constructors; a constant variable has scale 0 and a zero row."""
        job_count(n_jobs)  # raises
        self._names, self._n_rows, self._n_jobs = names, n_rows, n_jobs
        self._correlation, self._scale = np.ascontiguousarray(correlation), scale
        self._varies: FloatArray = (scale > 0.0).astype(np.float64)
        self._last: _Factor | None = None
        self._dataset = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self._names

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return self._n_rows

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._scale.size

    @property
    def n_threads(self) -> int:
        """Number of threads for work that can be split."""
        return job_count(self._n_jobs)

    @cached
    def covariance(self) -> FloatArray:
        """Covariance matrix with divisor N; read-only. Entries beyond the range of numbers are infinite."""
        with np.errstate(over="ignore"):
            matrix = self._correlation * self._scale[:, None] * self._scale
        matrix.flags.writeable = False
        return matrix

    @cached
    def correlation(self) -> FloatArray:
        """Correlation matrix, within ±`LARGEST` off the diagonal, zeros for a constant variable; read-only."""
        matrix = np.clip(self._correlation, -LARGEST, LARGEST)
        np.fill_diagonal(matrix, self._varies)
        matrix.flags.writeable = False
        return matrix

    def correlations_all(self) -> FloatArray:
        """Return the correlations of all pairs x < y, in lexicographic order."""
        rows = [self._correlation[x, x + 1 :] for x in range(self.n_variables)]
        return np.clip(np.concatenate(rows), -LARGEST, LARGEST)

    def partial_correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return the partial correlation of x with each y given z.

        Parameters
        ----------
        x
            A variable.
        ys
            Other variables, not in z; may be empty.
        z
            The conditioning set, without x.

        Returns
        -------
        One number per y within ±`LARGEST`; 0 where x or y is constant, NaN where z explains x or y but for rounding.

        Raises
        ------
        InputError
            If x is in ys or z, a y is in z, or there is no such variable.

        Notes
        -----
        Cost: |z|³/3 for the factor, then |z|² per y. A y whose residual share is below 1e-6 is solved once more, with
        an estimate of its rounding; all are if x or a member of z is such a variable.
        """
        r, ys, z = self._ask(_core.partial_correlations, x, ys, z)
        unclear = np.isnan(r)
        if unclear.any():
            r[unclear] = self._unclear(x, np.asarray(ys)[unclear], z)
        return r

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable by marginal correlation, as `Counts.screen` does.

        The evidence is −N log(1 − r²), the likelihood ratio of two Gaussian variables. A `CorrelationScreen` finds the
        same without the correlation matrix that these moments hold.
        """
        from mnlearn.statistics.screens import CorrelationScreen, RowScreen

        rule = ScreenRule(k=k, threshold=threshold, statistic=statistic)
        rows = self._dataset
        return run(RowScreen(self, rule) if rows is None else CorrelationScreen(rows, rule), monitor)

    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlations of x with each y given z, and the number of rows behind each."""
        r = self.partial_correlations(x, ys, z)
        return r, np.full(len(r), self.n_rows, dtype=np.int64)

    def measured_members(self, x: int, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return `member_correlations`, and the number of rows behind each."""
        r = self.member_correlations(x, z)
        return r, np.full(len(r), self.n_rows, dtype=np.int64)

    def measured_pairs(self) -> tuple[FloatArray, IntArray]:
        """Return `correlations_all`, and the number of rows behind each."""
        r = self.correlations_all()
        return r, np.full(len(r), self.n_rows, dtype=np.int64)

    def subsets(self, level: float) -> SubsetScans:
        """Return the search over conditioning sets for Fisher's z test: a `SubsetWalk`.

        Parameters
        ----------
        level
            A pair is dependent iff its log p-value is at most this.
        """
        check_level(level)
        tests = _core.correlation_tests(self._correlation, self._n_rows, level, self._unclear)
        return SubsetScans(tests, n_threads=self.n_threads)

    def _unclear(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return partial correlations of which the correlation matrix has few digits; NaN where rounding is left."""
        others, given = np.asarray(ys, dtype=np.int64), tuple(sorted(set(z)))
        least = _ROUNDING * (len(given) + 1) * max(1.0, sqrt(self._n_rows / _FEW_ROWS))
        r, left_x, left_y = self._partial(x, others, given, least)
        r[np.minimum(left_y, left_x) * self._smallest_share(given) <= least] = np.nan
        return r

    def member_correlations(self, x: int, z: Collection[int]) -> FloatArray:
        """Return the partial correlation of x with every member of z, in ascending order, given the other members.

        One inverse of the block of x and z gives them all, −P_xy / √(P_xx P_yy), unless the residual share of some
        variable is below 1e-6: then each is computed by `partial_correlations`.
        """
        r, _, given = self._ask(lambda matrix, x, _, z: _core.member_correlations(matrix, x, z), x, (), z)
        if len(r) == len(set(given)):
            return r
        rest = frozenset(given)
        return np.array([self.partial_correlations(x, (y,), rest - {y})[0] for y in sorted(rest)], dtype=np.float64)

    def conditional_correlation(self, variables: Sequence[int], z: Collection[int] = ()) -> FloatArray:
        """Return the partial correlation matrix of some variables given z.

        Parameters
        ----------
        variables
            Different variables, at least one, none of them in z.
        z
            The conditioning set.

        Returns
        -------
        A symmetric matrix in the order of `variables`, within ±1; a variable that is constant or explained by z (up to
        `EXPLAINED`) has zeros, also on the diagonal, where all others have 1.
        """
        listed: object = variables
        sequence = isinstance(listed, Sequence | np.ndarray) and not isinstance(listed, str | bytes)
        if not sequence or getattr(listed, "ndim", 1) != 1 or not len(variables):
            raise InputError(f"variables must be a list of indices, at least one; got {variables!r:.80}. Give some.")
        others, given = self._question(variables[0], variables[1:], z)
        chosen = np.concatenate(([variables[0]], others))
        shared = self._correlation[np.ix_(chosen, chosen)]
        _, basis, factor = self._factor(given)
        if basis.size:
            block = self._correlation[basis[:, None], chosen]
            shared -= products(solve_lower(factor, block).T)
        left = np.diag(shared).copy()
        varies = left > EXPLAINED
        unit = np.where(varies, 1.0 / np.sqrt(np.maximum(left, EXPLAINED)), 0.0)
        matrix: FloatArray = np.clip(shared * unit[:, None] * unit, -LARGEST, LARGEST)
        np.fill_diagonal(matrix, varies)
        return matrix

    def explained(self) -> tuple[int, ...]:
        """Return the redundant variables: constant, copied or linear combinations of others."""
        from scipy.linalg.lapack import dpstrf

        _, order, rank, _ = dpstrf(self._correlation, tol=EXPLAINED, lower=1)
        return tuple(sorted((order[rank:] - 1).tolist()))

    def conditional_entropies(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return H(x | z + y) = log(2 pi e var(x | z + y)) / 2 in nats for each y, as if the variables were Gaussian.

        The residual variance is at least `EXPLAINED` times the variance of x (times 1, if x is constant), so that no
        entropy is infinite. Arguments and errors are those of `partial_correlations`.
        """
        return self._entropy(x, self._ask(_residual_shares, x, ys, z)[0][:-1])

    def conditional_entropy(self, x: int, z: Collection[int]) -> float:
        """Return H(x | z) in nats, with the floor of `conditional_entropies`."""
        return float(self._entropy(x, self._ask(_residual_shares, x, (), z)[0])[0])

    def log_shares(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return log(1 − R²) of x regressed on z and each y; at the end on z alone.

        At least log `EXPLAINED`; 0 for a constant x. Arguments and errors are those of `partial_correlations`.
        """
        shares = self._ask(_residual_shares, x, ys, z)[0]
        return np.asarray(log(np.maximum(shares, EXPLAINED)) if self._scale[x] > 0.0 else np.zeros_like(shares))

    def best_pair(self, x: int, ys: Indices, z: Collection[int], *, rounding: float) -> tuple[int, int, float]:
        """Return the two of ys that explain most of x given z together, and the share of what z leaves of x.

        Of pairs within rounding of the best, those that explain most of x one by one; then the first. At least two ys,
        ascending; other arguments and errors are those of `partial_correlations`.
        """
        others, given = self._question(x, ys, z)
        return _core.best_pair(self._correlation, x, others, given, EXPLAINED, rounding)

    def exchanged_entropies(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, FloatArray]:
        """Return H(x | z − m) for each member m of z, ascending; and H(x | z − m + y), a row per m, a column per y.

        One factor serves all by rank-one updates, unless the residual share of some member is below 1e-6: then each
        is computed by `conditional_entropies`. Arguments and errors are those of `partial_correlations`.
        """
        found, others, given = self._ask(_exchanged_shares, x, ys, z)
        members = sorted(set(given))
        if len(found) == len(members):
            entropies = self._entropy(x, found)
            return entropies[:, 0], entropies[:, 1:]
        rest = [frozenset(members) - {m} for m in members]
        without = np.array([self.conditional_entropy(x, r) for r in rest])
        instead = [self.conditional_entropies(x, others, r) for r in rest]
        return without, np.array(instead).reshape(len(members), len(others))

    def _entropy(self, x: int, share: FloatArray) -> FloatArray:
        """Return the entropy of a Gaussian with this share of the variance of x."""
        log_scale = log(self._scale[x]) if self._scale[x] > 0.0 else 0.0
        return np.asarray(_HALF_LOG_2PIE + log_scale + 0.5 * log(np.maximum(share, EXPLAINED)))

    def _ask(
        self, compute: Callable[..., FloatArray], x: int, ys: Indices, z: Collection[int]
    ) -> tuple[FloatArray, Indices, Collection[int]]:
        """Return what a function of the core computes, and ys and z as it read them; see `_question` for the errors."""
        if type(z) in _PLAIN and type(ys) in _PLAIN[2:]:
            try:
                return compute(self._correlation, x, ys, z), ys, z
            except (InputError, *UNREADABLE):
                pass
        others, given = self._question(x, ys, z)  # raises, or turns them into what the core reads
        return compute(self._correlation, x, others, given), others, given

    def _question(self, x: int, ys: Indices, z: Collection[int]) -> tuple[IntArray, tuple[int, ...]]:
        """Check (x, ys | z); return the ys as an array and z in ascending order."""
        if getattr(ys, "ndim", 1) == 0 or not isinstance(ys, Sized):
            raise InputError(f"ys must be a sequence of variable indices; got {ys!r}. Put a single one into a list.")
        try:
            others = np.asarray(ys) if len(ys) else np.empty(0, dtype=np.int64)
        except ValueError:  # ragged
            raise InputError(f"ys must be a sequence of variable indices; got {ys!r}. Give whole numbers.") from None
        try:
            x, given = index(None if isinstance(x, bool) else x), tuple(sorted({index(v) for v in z}))  # type: ignore[arg-type]
        except TypeError:
            raise InputError(f"x and z must be variable indices; got x={x!r}, z={z!r}. Give whole numbers.") from None
        if others.ndim != 1 or others.dtype.kind not in "iu":
            raise InputError(f"ys must be a sequence of variable indices; got {ys!r}. Give whole numbers.")
        asked = [x, *given[:1], *given[-1:]]
        asked += [int(others.min()), int(others.max())] if others.size else []
        if min(asked) < 0 or max(asked) >= self.n_variables:
            raise InputError(
                f"x, ys and z must be variables 0..{self.n_variables - 1}; "
                f"got {min(asked) if min(asked) < 0 else max(asked)}. Look the index up in names."
            )
        if is_masked_array(ys):
            check_unmasked("ys", ys)
        if x in given:
            raise InputError(f"z must not contain x or y; got x={x}, z={set(given)}. Leave it out of z.")
        taken = np.zeros(self.n_variables, dtype=np.bool_)
        taken[[x, *given]] = True
        if taken[others].any():
            y = int(others[taken[others]][0])
            where = "x" if y == x else f"a member of z={set(given)}"
            raise InputError(f"ys must not contain x or a member of z; got y={y}, which is {where}. Leave it out.")
        return others.astype(np.int64, copy=False), given

    def _smallest_share(self, z: tuple[int, ...]) -> float:
        """Return the smallest residual share of a member of z given others, without redundant ones."""
        return float(np.square(np.diag(self._factor(z)[2])).min(initial=1.0))

    def _partial(
        self, x: int, ys: IntArray, z: tuple[int, ...], least: float = EXPLAINED
    ) -> tuple[FloatArray, float, FloatArray]:
        """Return the partial correlations, 0 where explained, and the residual shares of x and of each y given z."""
        shared, left_y, left_x = self._correlation[x].take(ys), self._varies.take(ys), float(self._varies[x])
        _, basis, factor = self._factor(z)
        if basis.size:
            block = self._correlation[basis[:, None], np.concatenate((ys, (x,)))]
            solved = solve_lower(factor, block)
            shared -= (solved[:, :-1] * solved[:, -1:]).sum(axis=0)
            used = np.square(solved).sum(axis=0)
            left_y -= used[:-1]
            left_x -= float(used[-1])
        if left_x <= least:
            return np.zeros(ys.size), left_x, left_y
        explained: BoolArray = left_y <= least
        shared /= np.sqrt(np.maximum(left_y, least) * left_x)
        shared[explained] = 0.0
        return np.minimum(np.maximum(shared, -LARGEST), LARGEST), left_x, left_y

    def _factor(self, z: tuple[int, ...]) -> _Factor:
        """Return the members of z that are not redundant, and their factor; the last one is cached."""
        last = self._last  # read once: another thread may replace it meanwhile
        if last is not None and last[0] == z:
            return last
        members = np.array(z, dtype=np.int64)
        if members.size == 0:
            return (z, members, np.empty((0, 0)))
        factor, order = pivoted_cholesky(self._correlation[np.ix_(members, members)], EXPLAINED)
        self._last = last = (z, members[order], factor)
        return last


class TestwiseMoments:
    """Partial correlations of continuous variables with missing values, test by test.

    Parameters
    ----------
    dataset
        Continuous variables, some of them with gaps. `repeats` count as that many equal rows.
    n_jobs
        Number of threads of searches over sets: None or −1 for all cores, else that many. Any number gives the same
        result.

    Notes
    -----
    A question costs |z|² for each row that x and z have in common, then |z| for each of these and each y. Rows that a y
    lacks are taken out of the sums of x and z, which all y share. Where the digits do not suffice, as for near copies,
    the complete rows of a question are given to `Moments`. A question without rows has r = 0.

    Examples
    --------
    >>> a = np.array([0.0, 1.0, 2.0, 3.0, np.nan])
    >>> b = np.array([0.0, 1.0, np.nan, 3.0, 4.0])
    >>> data = Dataset(("a", "b"), (0, 0), (a, b), (None, None), gaps=frozenset({"a", "b"}))
    >>> moments = TestwiseMoments(data)
    >>> moments.question_rows(0, [1], ()).tolist(), moments.partial_correlations(0, [1], ()).round(3).tolist()
    ([3], [1.0])
    """

    __test__ = False  # not a class of tests, whatever its name begins with

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None) -> None:
        odd = next((name for name, card in zip(dataset.names, dataset.cards, strict=True) if card), None)
        if odd is not None:
            raise UnsuitableError(
                f"TestwiseMoments needs continuous variables; {odd!r} has states. Select the continuous columns, or "
                "use Counts."
            )
        job_count(n_jobs)  # raises
        self.names, self.n_rows, self._n_jobs = dataset.names, dataset.n_rows, n_jobs
        self._observed = Observed(dataset)
        weights = None if dataset.repeats is None else np.ascontiguousarray(dataset.repeats, dtype=np.float64)
        missing = [self._observed.missing_rows(v) for v in range(dataset.n_variables)]
        first = np.cumsum([0, *map(len, missing)], dtype=np.int64)
        self._columns = (standardized_columns(dataset), weights, first, np.concatenate(missing))
        self.without_rows = 0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_threads(self) -> int:
        """Number of threads for work that can be split."""
        return job_count(self._n_jobs)

    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlation of x with each y given z, and the number of rows behind each.

        Arguments, errors and the meaning of NaN are those of `Moments.partial_correlations`; 0 without rows.
        """
        first, others, given = question(x, ys, frozenset(z))
        r, weights = _core.testwise_correlations(*self._columns, first, others, given)
        unclear = np.isnan(r)
        if unclear.any():
            r[unclear] = self._from_rows(first, others[unclear].tolist(), given.tolist())
        return r, np.rint(weights).astype(np.int64)

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable, each pair from its own rows, as `Moments.screen` does."""
        return run(RowScreen(self, ScreenRule(k=k, threshold=threshold, statistic=statistic)), monitor)

    def partial_correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return the partial correlation of x with each y given z, each from its own rows."""
        return self.measured(x, ys, z)[0]

    def question_rows(self, x: int, ys: Indices, z: Collection[int]) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y are observed."""
        first, others, given = question(x, ys, frozenset(z))
        return self._observed.rows(first, others.tolist(), given.tolist())

    def measured_members(self, x: int, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlation of x with every member of z given the others, ascending, and their rows."""
        rest = frozenset(z)
        found = [self.measured(x, (y,), rest - {y}) for y in sorted(rest)]
        r, rows = (np.array([one[k][0] for one in found]) for k in (0, 1))
        return r.astype(np.float64), rows.astype(np.int64)

    def measured_pairs(self) -> tuple[FloatArray, IntArray]:
        """Return the correlation of every pair x < y, in lexicographic order, and the rows behind each."""
        n = self.n_variables
        found = [self.measured(x, range(x + 1, n), ()) for x in range(n)]
        return np.concatenate([r for r, _ in found]), np.concatenate([rows for _, rows in found])

    def correlations_all(self) -> FloatArray:
        """Return the correlations of all pairs x < y, in lexicographic order."""
        return self.measured_pairs()[0]

    def subsets(self, level: float) -> SubsetScans:
        """Return the search over conditioning sets for Fisher's z test, as `Moments.subsets` does."""
        check_level(level)
        tests = _core.testwise_tests(*self._columns, level, self._from_rows)
        return SubsetScans(tests, n_threads=self.n_threads)

    def _from_rows(self, x: int, ys: list[int], z: list[int]) -> FloatArray:
        """Return partial correlations that need more digits, or have no rows."""
        found = np.zeros(len(ys))
        for k, y in enumerate(ys):
            variables = sorted({x, y, *z})
            rows = self._observed.complete(variables)
            if rows is None:
                self.without_rows += 1
                continue
            place = {v: i for i, v in enumerate(variables)}
            found[k] = Moments(rows).partial_correlations(place[x], [place[y]], {place[v] for v in z})[0]
        return found
