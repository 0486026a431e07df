"""Logarithms of tail probabilities, exact where the probabilities themselves underflow.

Variables are ordered by log p, and a p of 1e-10000 must still order. The native core computes 1 to 40,000 degrees of
freedom in microseconds. For others SciPy's survival functions are used wherever their value is a normal number; beyond
that, the continued fraction of the incomplete gamma function, with a prefactor that does not cancel for many degrees of
freedom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.errors import InputError
from mnlearn.numbers import erf, exp, expm1, log, log1p, log_gamma
from mnlearn.statistics.kernels import log_chi2_tails

if TYPE_CHECKING:
    from mnlearn.protocols import FloatArray

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
