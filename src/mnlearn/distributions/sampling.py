"""Sampling from discrete networks: exact where the tables fit in memory, by Gibbs chains elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed, rng_from
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.elimination import LARGEST_TABLE, as_bayesian_network, joint_log_values, largest_table
from mnlearn.distributions.factors import FactorNetwork
from mnlearn.errors import InputError, check_instance, check_name, check_room, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import exp
from mnlearn.parallel import job_count
from mnlearn.protocols import FloatArray
from mnlearn.simulate.gibbs import USUAL_PLAN, Convergence, GibbsPlan, judge_chains, sample_gibbs
from mnlearn.simulate.pairwise import PairwiseNetwork

Method = Literal["auto", "enumerate", "eliminate", "gibbs"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of codes with the network's graph, and how they were drawn.

    Attributes
    ----------
    codes
        One row per record, one column per variable.
    cards
        The number of states of each variable.
    graph
        The structure behind the rows.
    method
        "enumerate" and "eliminate" are exact and give independent rows; "gibbs" is neither.
    convergence
        Diagnostics of the Gibbs chains; None for exact rows, and for fewer than four rows per chain.
    """

    codes: NDArray[np.uint8] = field(repr=False)
    cards: tuple[int, ...]
    graph: Graph
    method: str
    convergence: Convergence | None = None

    def dataset(self, names: Sequence[str] | None = None) -> Dataset:
        """The rows as a data set; names are x0, x1, ... when left out."""
        return Dataset.from_codes(self.codes, cards=self.cards, names=names)


def sample(
    network: FactorNetwork | PairwiseNetwork,
    n_rows: int,
    seed: Seed,
    *,
    method: Method = "auto",
    plan: GibbsPlan = USUAL_PLAN,
    n_jobs: int | None = None,
) -> Sample:
    """Draw rows from a discrete Markov network.

    Parameters
    ----------
    network
        The distribution.
    n_rows
        Number of rows, at least 1.
    seed
        An integer, or a generator to draw from; the same seed gives the same rows, on every machine.
    method
        "enumerate" lists the states of every connected component (up to 2^20). "eliminate" needs tables of the
        tree-width (up to 2^20 cells). "gibbs" runs chains. "auto" eliminates where that is possible.
    plan
        The chains of method "gibbs".
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> from mnlearn.distributions.factors import uniform_factors
    >>> drawn = sample(uniform_factors(grid(6, 6), seed=1), 500, seed=2)
    >>> drawn.codes.shape, drawn.method
    ((500, 36), 'eliminate')
    """
    rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
    check_name("method", method, METHODS)
    job_count(n_jobs)  # raises
    factors = network.to_factors() if isinstance(network, PairwiseNetwork) else network
    check_instance("network", factors, FactorNetwork, "Make one, such as uniform_factors(graph, seed).")
    check_instance("plan", plan, GibbsPlan, "Leave it out, or use GibbsPlan(chains=4).")
    check_room("n_rows", 8.0 * rows * len(factors.cards), f"{rows:,} rows", "Draw fewer rows.")
    cards, graph = tuple(factors.cards), factors.graph
    if method == "auto":
        method = "eliminate" if largest_table(graph, cards) <= LARGEST_TABLE else "gibbs"
    if method == "gibbs":
        codes = sample_gibbs(factors, rows, seed, plan, n_jobs=n_jobs)
        judged = judge_chains(codes, graph, plan.chains) if rows >= 4 * plan.chains else None
        return Sample(codes, cards, graph, method, judged)
    if method == "enumerate":
        return Sample(_enumerated(factors, rows, seed), cards, graph, method)
    columns = as_bayesian_network(factors).sample(rows, seed).columns
    return Sample(np.stack(columns, axis=1).astype(np.uint8), cards, graph, method)


def component_probabilities(network: FactorNetwork, component: Sequence[int]) -> FloatArray:
    """The probability of every state of one connected component: a table with one axis for each of its variables.

    Examples
    --------
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> pair = agreement_factors(Graph(2, [(0, 1)]), 2 * np.log(3.0))
    >>> component_probabilities(pair, (0, 1)).round(3).tolist()
    [[0.375, 0.125], [0.125, 0.375]]
    """
    cells = prod(network.cards[x] for x in component)
    if cells > LARGEST_TABLE:
        raise InputError(
            f"network must have components of at most {LARGEST_TABLE} states to be listed; got one of {cells}. Use "
            f"method='eliminate' or 'gibbs'."
        )
    inside = set(component)
    if any(not inside.issuperset(network.graph.neighbors(x)) for x in component):
        raise InputError("component must be closed under neighbours; take it from network.graph.components().")
    mine = [factor for factor in network.factors if factor.variables[0] in inside]
    logs = joint_log_values(mine, component, network.cards)
    weights = exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _enumerated(network: FactorNetwork, n_rows: int, seed: Seed) -> NDArray[np.uint8]:
    """One uniform number per row and component picks a state from the list of all."""
    rng = rng_from(seed)
    codes: NDArray[np.uint8] = np.zeros((n_rows, network.n_variables), dtype=np.uint8)
    for component in network.graph.components():
        probabilities = component_probabilities(network, component)
        sums = np.cumsum(probabilities)
        states = np.searchsorted(sums / sums[-1], rng.random(n_rows), side="right")
        for x, column in zip(component, np.unravel_index(states, probabilities.shape), strict=True):
            codes[:, x] = column
    return codes
