"""What is left of a variable once one member of its conditioning set leaves, or makes room for another variable.

For a set z let W be its block of the correlation matrix R, P = W⁻¹, and B = P R[z, ·] the coefficients of every
variable on it. Without the member m the covariances given the set change by one rank:

    cov(a, b | z − m) = cov(a, b | z) + B[m, a] B[m, b] / P[m, m]

and with y in its place var(x | z − m + y) = var(x | z − m) − cov(x, y | z − m)² / var(y | z − m). One factor of W
serves all members and all y; nothing is fitted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mnlearn.protocols import FloatArray, IntArray


class Exchange(NamedTuple):
    """For each member of z, in the order of its factor: what x has left without it, and with each y in its place."""

    without: FloatArray
    instead: FloatArray


def exchange(
    correlation: FloatArray,
    varies: FloatArray,
    question: tuple[int, IntArray, IntArray],
    *,
    factor: FloatArray,
    explained: float,
    clear: float,
) -> Exchange | None:
    """Answer (x, ys, z) by rank-one updates; None where the members explain each other too well for that."""
    from scipy.linalg.blas import dtrsm
    from scipy.linalg.lapack import dpotri

    x, ys, z = question
    precision = np.diag(dpotri(factor, lower=1)[0])
    if not (precision * clear < 1.0).all():
        return None
    asked = np.concatenate((ys, (x,)))
    block = correlation[z[:, None], asked].T  # one row per variable asked about, as BLAS wants it
    solved = dtrsm(1.0, factor, block, side=1, lower=1, trans_a=1, overwrite_b=1)
    left = varies[asked] - np.einsum("ij,ij->i", solved, solved)
    shared = correlation[x, ys] - solved[:-1] @ solved[-1]
    weights = dtrsm(1.0, factor, solved, side=1, lower=1, overwrite_b=1).T / np.sqrt(precision)[:, None]  # B / √P
    without = left[-1] + weights[:, -1] ** 2
    covariance = shared + weights[:, :-1] * weights[:, -1:]
    left_y = left[:-1] + weights[:, :-1] ** 2
    np.square(covariance, out=covariance)
    covariance /= np.maximum(left_y, explained)
    covariance[left_y <= explained] = 0.0
    return Exchange(without, without[:, None] - covariance)
