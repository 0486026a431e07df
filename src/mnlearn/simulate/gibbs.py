"""Gibbs sampling, for networks whose tables no exact method can hold.

Several chains start at random; each goes through the variables in order of their index and draws every one anew given
the present values of its neighbours. The states after `burn_in` sweeps, one in `thin`, are the rows, the chains in
turn. The sweeps are native (`native/gibbs.cpp`) and draw from Philox streams, one per chain: the same seed gives the
same rows on every machine and with any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import whole_number
from mnlearn.graphs._seeds import Seed, rng_from
from mnlearn.parallel import job_count
from mnlearn.protocols import FloatArray
from mnlearn.simulate.elimination import joint_log_values
from mnlearn.simulate.factors import Factor, FactorNetwork

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
    """How long the chains run.

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
        whole_number("chains", self.chains, least=2, way_out="Chains are compared with one another; take 4.")
        whole_number("burn_in", self.burn_in, least=0, way_out="Take some hundred sweeps.")
        whole_number("thin", self.thin, least=1, way_out="1 keeps every sweep.")


USUAL_PLAN = GibbsPlan()
"""Four chains, 1000 sweeps before the first row, a row every tenth sweep."""


def sample_gibbs(
    network: FactorNetwork, n_rows: int, seed: Seed, plan: GibbsPlan = USUAL_PLAN, *, n_jobs: int | None = None
) -> NDArray[np.uint8]:
    """Rows from Gibbs chains; row i comes from chain i mod `plan.chains`.

    Parameters
    ----------
    network
        The distribution.
    n_rows
        How many rows; each chain gives its share, rounded up, and what is too much is dropped.
    seed
        An integer, or a generator to draw from.
    plan
        How many chains, and how long they run.
    n_jobs
        How many threads may run chains: None or −1 for all cores, else that many. Any number gives the same result.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> from mnlearn.simulate.factors import agreement_factors
    >>> sample_gibbs(agreement_factors(grid(5, 5), 1.0), 100, seed=1).shape
    (100, 25)
    """
    rows = whole_number("n_rows", n_rows, least=1, way_out="Ask for at least one row.")
    key = int(rng_from(seed).integers(2**64, dtype=np.uint64))
    threads = job_count(n_jobs)
    draws = -(-rows // plan.chains)
    codes = _core.gibbs(*_compiled(network), key, plan.chains, draws, plan.burn_in, plan.thin, threads)
    return codes[:rows]


def _compiled(network: FactorNetwork) -> _Compiled:
    """The network as the native core reads it; see `GibbsModel` in native/gibbs.hpp."""
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
        around = tuple(sorted(network.graph.neighbors(x)))
        if card * prod(network.cards[y] for y in around) <= _LARGEST_CONDITIONAL:
            logs = joint_log_values(holding[x], (*around, x), network.cards)
            sums = np.cumsum(np.exp(logs - logs.max(-1, keepdims=True)), axis=-1)
            yield True, [(around, sums / sums[..., -1:])]
        else:
            scopes = [tuple(y for y in factor.variables if y != x) for factor in holding[x]]
            terms = zip(scopes, holding[x], strict=True)
            yield False, [(scope, joint_log_values([factor], (*scope, x), network.cards)) for scope, factor in terms]
