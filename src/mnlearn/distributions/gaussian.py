"""Sparse Gaussian networks: a precision matrix with zeros where the graph has no edge, and exact rows from it.

    x ~ N(0, Θ⁻¹),   Θ_uv ≠ 0 exactly where u and v are neighbours

The partial correlation of u and v given all others is −Θ_uv / √(Θ_uu Θ_vv). Any graph gives the shape: a path a band,
a star or `hubs` a few dense rows, `grid` a lattice, `barabasi_albert` a scale-free one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_room, is_number, is_one_of, real_array, whole_number
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.numbers import Seed, rng_from
from mnlearn.protocols import FloatArray


@dataclass(frozen=True, eq=False)
class GaussianNetwork:
    """A normal distribution with mean zero, by its precision matrix.

    Parameters
    ----------
    precision
        Θ: symmetric and positive definite. Entries that are exactly zero are the missing edges.

    Examples
    --------
    >>> chain = GaussianNetwork([[1.0, -0.4, 0.0], [-0.4, 1.0, -0.4], [0.0, -0.4, 1.0]])
    >>> chain.graph.edges
    ((0, 1), (1, 2))
    >>> chain.sample(5, seed=1).shape
    (5, 3)
    """

    precision: FloatArray = field(repr=False)
    graph: Graph = field(init=False)
    _root: FloatArray = field(init=False, repr=False)  # lower triangular, its product with its transpose is Θ

    def __post_init__(self) -> None:
        theta = real_array("precision", self.precision, "Give a square matrix.")
        if theta.ndim != 2 or theta.shape[0] != theta.shape[1] or not theta.size or not np.isfinite(theta).all():
            raise InputError(f"precision must be a square matrix of finite numbers; got the shape {theta.shape}.")
        if not np.array_equal(theta, theta.T):
            raise InputError("precision must be symmetric; got a matrix that is not. Take (Θ + Θᵀ) / 2.")
        try:
            root = np.linalg.cholesky(theta)
        except np.linalg.LinAlgError:
            low = float(np.linalg.eigvalsh(theta)[0])
            raise InputError(
                f"precision must be positive definite; its smallest eigenvalue is {low:.3g}. Make the edges weaker, or "
                f"the diagonal larger."
            ) from None
        theta.flags.writeable = root.flags.writeable = False
        object.__setattr__(self, "precision", theta)
        object.__setattr__(self, "_root", root)
        u, v = np.nonzero(np.triu(theta, 1))
        object.__setattr__(self, "graph", Graph(len(theta), zip(u.tolist(), v.tolist(), strict=True)))

    def covariance(self) -> FloatArray:
        """Σ = Θ⁻¹."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self._root, True), np.eye(len(self.precision))))

    def partial_correlations(self) -> FloatArray:
        """−Θ_uv / √(Θ_uu Θ_vv), with ones on the diagonal."""
        scale = np.sqrt(np.diag(self.precision))
        partial = -self.precision / np.outer(scale, scale)
        np.fill_diagonal(partial, 1.0)
        return np.asarray(partial)

    def sample(self, n_rows: int, seed: Seed) -> FloatArray:
        """Draw independent rows: Lᵀ x = z for z standard normal and Θ = L Lᵀ.

        A seed gives equal rows on every run, up to the rounding of the linear algebra of the machine.
        """
        from scipy.linalg import solve_triangular

        rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
        check_room("n_rows", 8.0 * rows * len(self.precision), f"{rows:,} rows", "Draw fewer rows.")
        z = rng_from(seed).standard_normal((rows, len(self.precision)))
        return np.ascontiguousarray(solve_triangular(self._root, z.T, lower=True, trans="T").T)

    def dataset(self, n_rows: int, seed: Seed, names: Sequence[str] | None = None) -> Dataset:
        """Rows as a data set of continuous variables; names are x0, x1, ... when left out."""
        return continuous_dataset(self.sample(n_rows, seed), names)


def sparse_gaussian(
    graph: Graph, seed: Seed, *, weakest: float = 0.3, strongest: float = 0.8, signs: Literal["mixed", "same"] = "mixed"
) -> GaussianNetwork:
    """Return a network with edges of random strength and sign and unit variances.

    Off the diagonal |Θ_uv| is uniform between `weakest` and `strongest`, its sign random; the diagonal is the same for
    all, just large enough that the smallest eigenvalue is a tenth of `strongest`; then rows and columns are scaled so
    that every variable has variance 1.

    Parameters
    ----------
    graph
        The independence structure.
    seed
        An integer, or a generator to draw from.
    weakest, strongest
        The range of |Θ_uv| before scaling, positive.
    signs
        "same" makes all partial correlations positive.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> network = sparse_gaussian(grid(4, 4), seed=1)
    >>> network.graph == grid(4, 4), bool(np.allclose(np.diag(network.covariance()), 1.0))
    (True, True)
    """
    check_graph("graph", graph)
    if not (is_number(weakest) and is_number(strongest) and 0 < weakest <= strongest):
        raise InputError(f"weakest and strongest must satisfy 0 < weakest <= strongest; got {weakest} and {strongest}.")
    if not is_one_of(signs, ("mixed", "same")):
        raise InputError(f"signs must be 'mixed' or 'same'; got {signs!r}. Use one of the two.")
    rng, n = rng_from(seed), graph.n_variables
    theta = np.zeros((n, n))
    strengths = rng.uniform(weakest, strongest, graph.n_edges)
    flipped = rng.random(graph.n_edges) < 0.5 if signs == "mixed" else np.ones(graph.n_edges, dtype=bool)
    for (u, v), strength in zip(graph.edges, np.where(flipped, -strengths, strengths).tolist(), strict=True):
        theta[u, v] = theta[v, u] = strength
    lowest = float(np.linalg.eigvalsh(theta)[0])
    np.fill_diagonal(theta, max(1e-12, -lowest) + 0.1 * strongest)
    deviations = np.sqrt(np.diag(np.linalg.inv(theta)))
    scaled = theta * np.outer(deviations, deviations)
    return GaussianNetwork(np.triu(scaled) + np.triu(scaled, 1).T)  # symmetric to the last bit


def equal_partial_correlations(graph: Graph, correlation: float) -> GaussianNetwork:
    """Return a network with partial correlation ρ on every edge: Θ = I − ρ A, with A the adjacency matrix.

    Positive definite only while ρ stays within what the graph bears: below 1 / λ_max(A) for ρ > 0.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> equal_partial_correlations(path(3), 0.4).precision[0].tolist()
    [1.0, -0.4, 0.0]
    """
    check_graph("graph", graph)
    if not is_number(correlation) or abs(correlation) >= 1:
        raise InputError(f"correlation must be between -1 and 1; got {correlation!r}. Use for example 0.2.")
    adjacency = graph.adjacency().toarray().astype(np.float64)
    eigenvalues = np.linalg.eigvalsh(adjacency)
    extreme = float(eigenvalues[-1] if correlation > 0 else -eigenvalues[0])
    if abs(correlation) * extreme >= 1:
        raise InputError(
            f"correlation must stay below {1 / extreme:.4f} in absolute value on this graph; got {correlation}. Take a "
            f"smaller one, or sparse_gaussian."
        )
    return GaussianNetwork(np.eye(graph.n_variables) - correlation * adjacency + 0.0)


def continuous_dataset(values: FloatArray, names: Sequence[str] | None = None) -> Dataset:
    """Rows of numbers as a data set of continuous variables; names are x0, x1, ... when left out."""
    n = values.shape[1]
    labels = tuple(f"x{x}" for x in range(n)) if names is None else tuple(names)
    columns = tuple(np.ascontiguousarray(column) for column in values.T)
    return Dataset(labels, (0,) * n, columns, (None,) * n)
