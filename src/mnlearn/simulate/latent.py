"""Ordinal, count and continuous variables as monotone functions of a latent Gaussian network.

    z ~ N(0, Σ),  Σ = Θ⁻¹ scaled to unit variances,    x_u = F_u⁻¹(Φ(z_u))

F_u is the distribution of the margin. An ordinal variable is its latent value cut into classes, a continuous one is the
latent value itself. The graph is that of Θ. Classes and counts lose part of the latent value, so separation by them is
not exact: two variables with a common neighbour stay weakly dependent given its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed, rng_from
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.gaussian import GaussianNetwork
from mnlearn.errors import InputError, check_instance
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.simulate.margins import Margin, mixed_dataset
from mnlearn.simulate.mixed import check_strengths


@dataclass(frozen=True, eq=False)
class LatentNetwork:
    """A Gaussian network and the margin of each variable.

    Parameters
    ----------
    gaussian
        The latent network.
    margins
        One per variable; none is nominal.

    Examples
    --------
    >>> latent = GaussianNetwork([[1.0, -0.4], [-0.4, 1.0]])
    >>> LatentNetwork(latent, (Margin("ordinal", states=5), Margin("count"))).dataset(10, seed=1).kinds
    ('ordinal', 'count')
    """

    gaussian: GaussianNetwork
    margins: tuple[Margin, ...]

    def __post_init__(self) -> None:
        check_instance("gaussian", self.gaussian, GaussianNetwork, "Make one with sparse_gaussian.")
        object.__setattr__(self, "margins", tuple(self.margins))
        n = self.gaussian.graph.n_variables
        if len(self.margins) != n:
            raise InputError(f"margins must have one entry for each of {n} variables; got {len(self.margins)}.")
        for margin in self.margins:
            check_instance("margins", margin, Margin, "Use for example Margin('ordinal', states=5).")
            if margin.kind == "nominal":
                raise InputError("margins must be ordinal, count or continuous; got 'nominal'. Use mixed_network.")

    @property
    def graph(self) -> Graph:
        """The graph of the latent variables."""
        return self.gaussian.graph

    def sample(self, n_rows: int, seed: Seed) -> tuple[NDArray[Any], ...]:
        """Draw independent rows and return one array per variable."""
        from scipy.stats import norm

        deviations = np.sqrt(np.diag(self.gaussian.covariance()))
        latent = (self.gaussian.sample(n_rows, seed) / deviations).T
        columns: list[NDArray[Any]] = []
        for margin, values in zip(self.margins, latent, strict=True):
            cuts = norm.ppf(np.minimum(np.cumsum(margin.shares())[:-1], 1.0))
            columns.append(values if margin.kind == "continuous" else np.searchsorted(cuts, values))
        return tuple(columns)

    def dataset(self, n_rows: int, seed: Seed, names: Sequence[str] | None = None) -> Dataset:
        """Return rows as a data set with the kinds of the margins; names are x0, x1, ... when left out."""
        return mixed_dataset(self.margins, self.sample(n_rows, seed), names)


def latent_network(
    graph: Graph, margins: Sequence[Margin], seed: Seed, *, weakest: float = 0.2, strongest: float = 0.4
) -> LatentNetwork:
    """Return a latent Gaussian network with edges of random strength and sign.

    Θ has a unit diagonal and ± a number uniform between `weakest` and `strongest` for every edge. Where that is not
    positive definite, the diagonal is raised until the smallest eigenvalue is 0.1.

    Parameters
    ----------
    graph
        The independence structure.
    margins
        One per variable; none is nominal.
    seed
        An integer, or a generator to draw from.
    weakest, strongest
        The range of the strengths, positive.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> latent_network(grid(3, 3), [Margin("ordinal", states=5)] * 9, seed=1).dataset(100, seed=2).cards
    (5, 5, 5, 5, 5, 5, 5, 5, 5)
    """
    check_graph("graph", graph)
    check_strengths(weakest, strongest)
    rng = rng_from(seed)
    theta = np.zeros((graph.n_variables, graph.n_variables))
    strengths = rng.uniform(weakest, strongest, graph.n_edges) * rng.choice([-1.0, 1.0], graph.n_edges)
    for (u, v), strength in zip(graph.edges, strengths.tolist(), strict=True):
        theta[u, v] = theta[v, u] = strength
    np.fill_diagonal(theta, max(1.0, 0.1 - float(np.linalg.eigvalsh(theta)[0])))
    return LatentNetwork(GaussianNetwork(theta), tuple(margins))
