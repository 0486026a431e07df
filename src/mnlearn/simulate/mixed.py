"""Pairwise networks of nominal, ordinal, count and continuous variables, and rows from them.

    p(x) ∝ exp( Σ_u log w_u(x_u) + Σ_(u,v)∈E φ_u(x_u)ᵀ B_uv φ_v(x_v) )

| kind | weight w(a) | features φ |
|---|---|---|
| nominal, r states | e^(threshold of a − skew a) | r − 1 Helmert contrasts |
| ordinal, r states | e^(threshold of a − skew a) | score, 1 |
| count | Poisson | (min(a, R) − λ) / √λ, R = λ + 3 √λ rounded up |
| continuous | standard normal | value, 1 |

Features of states have mean 0 and variance 1 if all states are equally frequent. Given all others, an ordinal variable
follows an adjacent-categories logit, a count up to R a Poisson law with log link, and continuous variables together a
normal law whose covariance is the same in all states. The bound R makes positive couplings of counts normalisable.

Ordinal, count and continuous variables as monotone functions of a latent Gaussian network.

    z ~ N(0, Σ),  Σ = Θ⁻¹ scaled to unit variances,    x_u = F_u⁻¹(Φ(z_u))

F_u is the distribution of the margin. An ordinal variable is its latent value cut into classes, a continuous one is the
latent value itself. The graph is that of Θ. Classes and counts lose part of the latent value, so separation by them is
not exact: two variables with a common neighbour stay weakly dependent given its class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.gaussian import GaussianNetwork
from mnlearn.errors import InputError, check_instance, check_number, check_room, real_array, whole_number
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import Seed, exp, log, rng_from
from mnlearn.protocols import FloatArray
from mnlearn.simulate.margins import Margin, mixed_dataset, random_thresholds

LARGEST_JOINT = 1 << 20
SWEEPS = 100


@dataclass(frozen=True, eq=False)
class MixedNetwork:
    """A graph with the margin of every variable and a block of coefficients for every edge.

    Parameters
    ----------
    graph
        The independence structure.
    margins
        One per variable.
    blocks
        B_uv for every edge (u, v), u < v: one row per feature of u, one column per feature of v. The matrix
        1 − B of the continuous variables must be positive definite.

    Examples
    --------
    >>> pair = MixedNetwork(
    ...     Graph(2, [(0, 1)]), (Margin("ordinal", states=5), Margin("continuous")), {(0, 1): [[0.3]]}
    ... )
    >>> pair.dataset(4, seed=1).kinds
    ('ordinal', 'continuous')
    """

    graph: Graph
    margins: tuple[Margin, ...]
    blocks: Mapping[Edge, FloatArray] = field(repr=False)
    covariance: FloatArray = field(init=False, repr=False)
    """Covariance of the continuous variables given the others."""

    def __post_init__(self) -> None:
        check_graph("graph", self.graph)
        object.__setattr__(self, "margins", tuple(self.margins))
        _check_margins(self.graph, self.margins)
        object.__setattr__(self, "blocks", _checked_blocks(self.graph, self.margins, self.blocks))
        numbers = self._of_kind(continuous=True)
        precision = np.eye(len(numbers))
        for i, u in enumerate(numbers):
            for j, v in enumerate(numbers):
                if (u, v) in self.blocks:
                    precision[i, j] = precision[j, i] = -self.blocks[u, v][0, 0]
        lowest = float(np.linalg.eigvalsh(precision)[0]) if numbers else 1.0
        if lowest <= 1e-9:
            raise InputError(
                f"blocks must leave 1 - B of the continuous variables positive definite; its smallest eigenvalue is "
                f"{lowest:.3g}. Make these coefficients smaller."
            )
        object.__setattr__(self, "covariance", np.linalg.inv(precision))

    def probabilities(self) -> FloatArray:
        """Return the exact joint distribution of all variables that are not continuous, one axis for each.

        Continuous variables are integrated out. Limited to 2^20 cells.
        """
        states, numbers = self._of_kind(continuous=False), self._of_kind(continuous=True)
        sizes = [len(self.margins[x].shares()) for x in states]
        if prod(sizes) > LARGEST_JOINT:
            raise InputError(
                f"network must have at most {LARGEST_JOINT:,} states to be listed; got {prod(sizes):,}. Use sample."
            )
        codes = np.indices(sizes).reshape(len(sizes), prod(sizes))
        known = {x: self.margins[x].features()[codes[i]].T for i, x in enumerate(states)}
        logs = np.zeros(prod(sizes))
        for i, x in enumerate(states):
            logs += _log(self.margins[x].shares())[codes[i]]
        for (u, v), block in self.blocks.items():
            if u in known and v in known:
                logs += ((block.T @ known[u]) * known[v]).sum(axis=0)
        if numbers:
            pulls = np.concatenate([self._pull(x, known) + np.zeros((1, prod(sizes))) for x in numbers])
            logs += 0.5 * ((self.covariance @ pulls) * pulls).sum(axis=0)
        weights = exp(logs - logs.max())
        return np.asarray((weights / weights.sum()).reshape(sizes))

    def sample(self, n_rows: int, seed: Seed, *, sweeps: int = SWEEPS) -> tuple[NDArray[Any], ...]:
        """Draw independent rows, each from a Gibbs chain of its own, and return one array per variable.

        Parameters
        ----------
        n_rows
            Number of rows, at least 1.
        seed
            An integer, or a generator to draw from.
        sweeps
            Updates of every variable before a row is taken. Continuous variables are updated together.
        """
        rows = whole_number("n_rows", n_rows, least=1, hint="Use at least one row.")
        turns = whole_number("sweeps", sweeps, least=1, hint="Use at least one sweep.")
        width = sum(margin.n_features + 1 for margin in self.margins) + 32
        check_room("n_rows", 8.0 * rows * width, f"{rows:,} rows", "Draw fewer rows.")
        rng = rng_from(seed)
        states, numbers = self._of_kind(continuous=False), self._of_kind(continuous=True)
        tables = {x: (_log(self.margins[x].shares())[:, None], self.margins[x].features()) for x in states}
        root = np.linalg.cholesky(self.covariance) if numbers else np.empty((0, 0))
        codes: dict[int, NDArray[Any]] = {}
        known: dict[int, FloatArray] = {}
        for _ in range(turns if self.graph.n_edges else 1):
            for x in states:
                log_shares, features = tables[x]
                codes[x] = _drawn_states(log_shares + features @ self._pull(x, known), rng.random(rows))
                known[x] = features[codes[x]].T
            if numbers:
                given = {x: known[x] for x in states}
                pulls = np.concatenate([self._pull(x, given) + np.zeros((1, rows)) for x in numbers])
                drawn = self.covariance @ pulls + root @ rng.standard_normal((len(numbers), rows))
                known.update({x: drawn[i : i + 1] for i, x in enumerate(numbers)})
        codes.update({x: known[x][0] for x in numbers})
        return tuple(codes[x] for x in range(len(self.margins)))

    def dataset(self, n_rows: int, seed: Seed, names: Sequence[str] | None = None, *, sweeps: int = SWEEPS) -> Dataset:
        """Return rows as a data set with the kinds of the margins; names are x0, x1, ... when left out."""
        return mixed_dataset(self.margins, self.sample(n_rows, seed, sweeps=sweeps), names)

    def _of_kind(self, *, continuous: bool) -> list[int]:
        """Return the variables that are continuous, or those that are not."""
        return [x for x, margin in enumerate(self.margins) if (margin.kind == "continuous") is continuous]

    def _pull(self, x: int, known: Mapping[int, FloatArray]) -> FloatArray:
        """Return Σ_z B_xz φ_z over the neighbours whose features are known: one row per feature of x."""
        total: FloatArray = np.zeros((self.margins[x].n_features, 1))
        for z in sorted(self.graph.neighbors(x)):
            if z in known:
                total = total + (self.blocks[x, z] if x < z else self.blocks[z, x].T) @ known[z]
        return total


def mixed_network(
    graph: Graph, margins: Sequence[Margin], seed: Seed, *, weakest: float = 0.12, strongest: float = 0.35
) -> MixedNetwork:
    """Return a network with edges of random strength and sign.

    The strength of an edge, the root of the summed squares of its block, is uniform between `weakest` and `strongest`.
    A block of one coefficient has a random sign, the entries of a larger one have a random direction. So weak edges of
    all kinds carry about the same information, strength² / 2 nats if states are equally frequent. Coefficients
    between continuous variables are divided by a common factor where the normal law would not exist: the smallest
    eigenvalue of its precision is then 0.1.

    Parameters
    ----------
    graph
        The independence structure.
    margins
        One per variable.
    seed
        An integer, or a generator to draw from.
    weakest, strongest
        The range of the strengths, positive.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> kinds = ("nominal", "ordinal", "count", "continuous")
    >>> chain = mixed_network(path(4), [Margin(kind) for kind in kinds], seed=1)
    >>> chain.blocks[0, 1].shape, chain.probabilities().shape
    ((2, 1), (3, 3, 26))
    """
    check_graph("graph", graph)
    chosen = tuple(margins)
    _check_margins(graph, chosen)
    check_strengths(weakest, strongest)
    rng = rng_from(seed)
    blocks: dict[Edge, FloatArray] = {}
    for u, v in graph.edges:
        entries = rng.standard_normal((chosen[u].n_features, chosen[v].n_features))
        strength = rng.uniform(weakest, strongest)
        blocks[u, v] = entries * (strength / np.sqrt((entries**2).sum()))
    numbers = {x for x, margin in enumerate(chosen) if margin.kind == "continuous"}
    inside = [edge for edge in graph.edges if numbers.issuperset(edge)]
    coupled = np.zeros((graph.n_variables, graph.n_variables))
    for u, v in inside:
        coupled[u, v] = coupled[v, u] = blocks[u, v][0, 0]
    excess = max(1.0, float(np.linalg.eigvalsh(coupled)[-1]) / 0.9)
    return MixedNetwork(graph, chosen, {**blocks, **{edge: blocks[edge] / excess for edge in inside}})


def ordinal_field(
    graph: Graph,
    seed: Seed,
    *,
    states: int = 5,
    weakest: float = 0.12,
    strongest: float = 0.35,
    skew: float = 0.0,
    thresholds: float = 0.0,
) -> MixedNetwork:
    """Return an ordinal Markov random field: one slope per edge for standardised scores.

    Parameters
    ----------
    graph, seed, weakest, strongest
        As for `mixed_network`.
    states
        Number of states of every variable.
    skew
        As for `Margin`; every variable takes it with a random sign.
    thresholds
        Standard deviation of the thresholds of all states, which are normal; 0 for equal shares.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> set(ordinal_field(grid(3, 3), seed=1).dataset(10, seed=2).kinds)
    {'ordinal'}
    """
    check_graph("graph", graph)
    rng = rng_from(seed)
    margins = [Margin("ordinal", states=states, skew=skew * sign) for sign in rng.choice([-1, 1], graph.n_variables)]
    return mixed_network(graph, random_thresholds(margins, thresholds, rng), rng, weakest=weakest, strongest=strongest)


def check_strengths(weakest: float, strongest: float) -> None:
    """Raise InputError unless 0 < weakest <= strongest."""
    check_number("weakest", weakest, "Use for example 0.12.")
    check_number("strongest", strongest, "Use for example 0.35.")
    if not 0 < weakest <= strongest:
        raise InputError(
            f"weakest and strongest must satisfy 0 < weakest <= strongest; got {weakest} and {strongest}. Swap them."
        )


def _log(shares: FloatArray) -> FloatArray:
    """Return logarithms; shares too small for a double are taken as the smallest one."""
    return log(np.maximum(shares, np.finfo(np.float64).tiny))


def _drawn_states(logits: FloatArray, uniform: FloatArray) -> NDArray[np.int64]:
    """Return the state in which each uniform number falls; one row of logits per state."""
    if logits.shape[1] == 1:
        logits = np.broadcast_to(logits, (len(logits), len(uniform)))
    sums = np.cumsum(exp(logits - logits.max(axis=0)), axis=0)
    return np.asarray((sums[:-1] <= uniform * sums[-1]).sum(axis=0))


def _check_margins(graph: Graph, margins: Sequence[Margin]) -> None:
    """Raise InputError unless there is one margin per variable."""
    if len(margins) != graph.n_variables:
        raise InputError(
            f"margins must have one entry for each of {graph.n_variables} variables; got {len(margins)}. Use "
            f"spread_margins."
        )
    for margin in margins:
        check_instance("margins", margin, Margin, "Use for example Margin('ordinal', states=5).")


def _checked_blocks(graph: Graph, margins: Sequence[Margin], blocks: Mapping[Edge, Any]) -> dict[Edge, FloatArray]:
    """Return a block of the right shape for every edge, or raise InputError."""
    if set(blocks) != set(graph.edges):
        odd = sorted(set(blocks) ^ set(graph.edges))[0]
        raise InputError(f"blocks must have one entry for every edge (u, v), u < v, and no other; check {odd}.")
    found = {}
    for u, v in graph.edges:
        block = real_array(f"blocks[{u}, {v}]", blocks[u, v], "Use a matrix.")
        shape = (margins[u].n_features, margins[v].n_features)
        if block.shape != shape or not np.isfinite(block).all():
            raise InputError(f"blocks[{u}, {v}] must be finite and of shape {shape}; got {block.shape}. Correct it.")
        block.flags.writeable = False
        found[u, v] = block
    return found


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
