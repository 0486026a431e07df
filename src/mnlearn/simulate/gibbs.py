"""Gibbs sampling with convergence diagnostics, for networks too large for exact sampling.

Several chains start at random states. A sweep visits the variables in order of their index and draws each one given the
present values of its neighbours. After `burn_in` sweeps every `thin`-th state is a row; the chains alternate.
The sweeps are native (`native/sampling/gibbs.cpp`) and draw from Philox streams, one per chain: a seed gives the same
rows on every machine and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._validate import Seed, rng_from
from mnlearn.distributions.elimination import joint_log_values
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.errors import InputError, check_instance, check_room, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import exp, log2
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
