"""Sampling from discrete networks: exact where the tables fit in memory, by Gibbs chains elsewhere.

Gibbs sampling with convergence diagnostics, for networks too large for exact sampling.

Several chains start at random states. A sweep visits the variables in order of their index and draws each one given the
present values of its neighbours. After `burn_in` sweeps every `thin`-th state is a row; the chains alternate.
The sweeps are native (`native/sampling/gibbs.cpp`) and draw from Philox streams, one per chain: a seed gives the same
rows on every machine and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.elimination import LARGEST_TABLE, as_bayesian_network, joint_log_values, largest_table
from mnlearn.distributions.factors import Factor, FactorNetwork, PairwiseNetwork
from mnlearn.errors import InputError, check_instance, check_name, check_room, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import Seed, exp, log2, rng_from
from mnlearn.parallel import job_count
from mnlearn.protocols import FloatArray

_Compiled: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    FloatArray,
]
_LARGEST_CONDITIONAL = 4096  # cells of p(x | neighbours) in one table, 32 kilobytes; beyond it factors are added up


@dataclass(frozen=True, kw_only=True)
class GibbsPlan:
    """Settings of the Gibbs chains.

    Parameters
    ----------
    chains
        How many; at least 2, or convergence could not be judged.
    burn_in
        Sweeps that each chain makes before the first row.
    thin
        Sweeps from one row of a chain to the next.
    """

    chains: int = 4
    burn_in: int = 1000
    thin: int = 10

    def __post_init__(self) -> None:
        whole_number("chains", self.chains, least=2, hint="Chains are compared with one another; take 4.")
        whole_number("burn_in", self.burn_in, least=0, hint="Take some hundred sweeps.")
        whole_number("thin", self.thin, least=1, hint="1 keeps every sweep.")


USUAL_PLAN = GibbsPlan()
"""Four chains, 1000 sweeps before the first row, a row every tenth sweep."""


def sample_gibbs(
    network: FactorNetwork, n_rows: int, seed: Seed, plan: GibbsPlan = USUAL_PLAN, *, n_jobs: int | None = None
) -> NDArray[np.uint8]:
    """Draw rows by Gibbs sampling; row i comes from chain i mod `plan.chains`.

    Parameters
    ----------
    network
        The distribution.
    n_rows
        Number of rows; each chain gives its share, rounded up; the surplus is dropped.
    seed
        An integer, or a generator to draw from.
    plan
        Number of chains, and how long they run.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> sample_gibbs(agreement_factors(grid(5, 5), 1.0), 100, seed=1).shape
    (100, 25)
    """
    rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
    check_instance("network", network, FactorNetwork, "Make one, such as uniform_factors(graph, seed).")
    check_instance("plan", plan, GibbsPlan, "Leave it out, or use GibbsPlan(chains=4).")
    check_room("n_rows", float(rows) * len(network.cards), f"{rows:,} rows", "Draw fewer rows.")
    key = int(rng_from(seed).integers(2**64, dtype=np.uint64))
    threads = job_count(n_jobs)
    draws = -(-rows // plan.chains)
    codes = _core.gibbs(*_compiled(network), key, plan.chains, draws, plan.burn_in, plan.thin, threads)
    return codes[:rows]


def _compiled(network: FactorNetwork) -> _Compiled:
    """The network as the native core reads it; see `GibbsModel` in native/sampling/gibbs.hpp."""
    term_start, table_start, other_start = [0], [0], [0]
    tabled: list[bool] = []
    others: list[int] = []
    strides: list[int] = []
    tables: list[FloatArray] = []
    for is_tabled, terms in _terms(network):
        tabled.append(is_tabled)
        for scope, table in terms:
            tables.append(table.ravel())
            table_start.append(table_start[-1] + table.size)
            others += scope
            strides += [prod(table.shape[axis + 1 :]) for axis in range(len(scope))]
            other_start.append(len(others))
        term_start.append(len(table_start) - 1)
    return (
        np.array(network.cards, dtype=np.int32),
        np.array(term_start, dtype=np.int64),
        np.array(tabled, dtype=np.uint8),
        np.array(table_start[:-1], dtype=np.int64),
        np.array(other_start, dtype=np.int64),
        np.array(others, dtype=np.int32),
        np.array(strides, dtype=np.int64),
        np.concatenate([np.empty(0), *tables]),
    )


def _terms(network: FactorNetwork) -> Iterator[tuple[bool, list[tuple[tuple[int, ...], FloatArray]]]]:
    """For every variable: whether its conditional fits one table, and its tables with their neighbours, x last."""
    holding: list[list[Factor]] = [[] for _ in network.cards]
    for factor in network.factors:
        for x in factor.variables:
            holding[x].append(factor)
    for x, card in enumerate(network.cards):
        neighbors = tuple(sorted(network.graph.neighbors(x)))
        if card * prod(network.cards[y] for y in neighbors) <= _LARGEST_CONDITIONAL:
            logs = joint_log_values(holding[x], (*neighbors, x), network.cards)
            sums = np.cumsum(exp(logs - logs.max(-1, keepdims=True)), axis=-1)
            yield True, [(neighbors, sums / sums[..., -1:])]
        else:
            scopes = [tuple(y for y in factor.variables if y != x) for factor in holding[x]]
            terms = zip(scopes, holding[x], strict=True)
            yield False, [(scope, joint_log_values([factor], (*scope, x), network.cards)) for scope, factor in terms]


# Convergence: for every edge (u, v) the statistic is [x_u = x_v], for every variable [x_u = 0]. Each has a split R-hat
# and an effective sample size as in Vehtari, Gelman, Simpson, Carpenter & Bürkner (Bayesian Analysis, 2021), without
# their rank transformation, which an indicator does not need.


LARGEST_R_HAT = 1.05  # above it the chains disagree, unless there are too few rows to judge
_FALSE_ALARM = 0.01  # rate at which converged chains may be reported as not converged
_BLOCK = 16  # statistics at a time: 16 × 100,000 draws are 13 megabytes


@dataclass(frozen=True)
class Convergence:
    """Convergence diagnostics of Gibbs chains.

    Attributes
    ----------
    r_hat
        The largest split R-hat of all statistics; 1 when the chains agree.
    effective_rows
        The smallest effective sample size: the number of independent rows with as much information.
    worst
        The edge, or the single variable, with the largest R-hat.
    n_rows
        How many rows there are.
    limit
        The largest R-hat that is taken for chance: 1.05, or with few rows what the largest of so many statistics would
        reach in one of a hundred runs of independent rows.
    """

    r_hat: float
    effective_rows: float
    worst: Edge | tuple[int]
    n_rows: int
    limit: float = LARGEST_R_HAT

    @property
    def converged(self) -> bool:
        """Whether no statistic has an R-hat above the limit."""
        return self.r_hat <= self.limit

    def __str__(self) -> str:
        verdict = "converged" if self.converged else "NOT converged; make burn_in and thin longer"
        return (
            f"{verdict}: largest split R-hat {self.r_hat:.3f} (at {self.worst}, limit {self.limit:.3g}), smallest "
            f"effective sample size "
            f"{self.effective_rows:.0f} of {self.n_rows} rows"
        )


def judge_chains(codes: NDArray[np.uint8], graph: Graph, n_chains: int) -> Convergence:
    """Compute convergence diagnostics over the edges of a graph and its variables.

    Parameters
    ----------
    codes
        Row i comes from chain i mod `n_chains`; at least four rows per chain.
    graph
        The graph whose edges give the statistics.
    n_chains
        How many chains there are.

    Examples
    --------
    >>> independent = np.random.default_rng(1).integers(2, size=(4000, 2), dtype=np.uint8)
    >>> judge_chains(independent, Graph(2, [(0, 1)]), n_chains=4).converged
    True
    """
    draws = len(codes) // n_chains
    if draws < 4:
        raise InputError(f"codes must hold at least 4 rows per chain; got {len(codes)} rows of {n_chains} chains.")
    draws_by_chain = np.ascontiguousarray(codes[: draws * n_chains].reshape(draws, n_chains, -1).transpose(2, 1, 0))
    subjects: list[Edge | tuple[int]] = [*graph.edges, *((x,) for x in range(graph.n_variables))]
    r_hats, sizes = [], []
    for start in range(0, len(subjects), _BLOCK):
        block = subjects[start : start + _BLOCK]
        seen = [draws_by_chain[s[0]] == (draws_by_chain[s[1]] if len(s) == 2 else 0) for s in block]
        chains = np.stack(seen).astype(np.float64)  # statistic, chain, draw
        r_hats.append(split_r_hat(chains))
        sizes.append(effective_size(chains))
    r_hat, size = np.concatenate(r_hats), np.concatenate(sizes)
    worst = int(np.argmax(r_hat))
    limit = max(LARGEST_R_HAT, _chance(len(subjects), 2 * n_chains, draws // 2))
    return Convergence(float(r_hat[worst]), float(size.min()), subjects[worst], draws * n_chains, limit)


def split_r_hat(chains: FloatArray) -> FloatArray:
    """R-hat of each statistic, every chain cut in half: sqrt(((m − 1) / m W + B / m) / W) with m draws per half.

    `chains[k, c, i]` is statistic k in draw i of chain c. 1 where nothing ever varies, infinity where only the chains
    differ.
    """
    half = chains.shape[-1] // 2
    halves = np.concatenate([chains[..., :half], chains[..., -half:]], axis=1)
    within, between = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(((half - 1) / half * within + between) / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_size(chains: FloatArray) -> FloatArray:
    """The effective sample size of each statistic: chains × draws / (1 + 2 Σ ρ_t), summed by Geyer's rule.

    The autocorrelations ρ_t come from all chains together; the sum goes on while ρ_2t + ρ_2t+1 stays positive, and
    takes no pair for larger than the one before. A statistic that never varies has all its draws.
    """
    n_chains, n_draws = chains.shape[1:]
    within, between = _variances(chains)
    pooled = (n_draws - 1) / n_draws * within + between
    covariance = _autocovariances(chains)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within[:, None] - covariance * n_draws / (n_draws - 1)) / pooled[:, None]
    rho[:, 0] = 1.0
    even = n_draws // 2 * 2
    pairs = np.minimum.accumulate(rho[:, 0:even:2] + rho[:, 1:even:2], axis=1)
    tau = -1.0 + 2.0 * np.where(np.logical_and.accumulate(pairs > 0, axis=1), pairs, 0.0).sum(1)
    total = n_chains * n_draws
    # Antithetic chains carry more information than independent rows; the cap is the one of that paper.
    return np.where(
        pooled > 0, np.minimum(total / np.maximum(tau, 1e-300), total * log2(float(total)) / log2(10.0)), float(total)
    )


def _chance(n_statistics: int, n_halves: int, n_draws: int) -> float:
    """Return the largest R-hat of so many statistics that occurs by chance in one of a hundred runs.

    Of independent draws (k − 1) m B / W is nearly chi-square with k − 1 degrees of freedom for k halves of m draws, B
    being the variance of their means; R-hat² is (m − 1) / m + B / W.
    """
    from scipy.special import chdtri

    tail = float(chdtri(n_halves - 1, _FALSE_ALARM / n_statistics))
    return float(np.sqrt(1 + (tail / (n_halves - 1) - 1) / n_draws))


def _autocovariances(chains: FloatArray) -> FloatArray:
    """(1 / m) Σ_i (x_i − mean)(x_i+t − mean) for every lag t, averaged over chains."""
    from scipy import fft

    n_chains, n_draws = chains.shape[1:]
    length = fft.next_fast_len(2 * n_draws, real=True)
    # Single precision: seven digits are plenty for a sum of correlations, in half the time.
    centred = (chains - chains.mean(-1, keepdims=True)).astype(np.float32)
    spectrum = fft.rfft(centred, n=length, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).sum(1)
    lags: FloatArray = fft.irfft(power, n=length, axis=-1)[:, :n_draws].astype(np.float64)
    return np.asarray(lags / (n_chains * n_draws))


def _variances(chains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean variance within chains, and the variance of their means."""
    return chains.var(-1, ddof=1).mean(1), chains.mean(-1).var(1, ddof=1)


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
