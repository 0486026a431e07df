"""Distributions state by state, and a Gibbs sampler one draw at a time."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np
from numpy.typing import NDArray

from mnlearn.simulate import FactorNetwork


def distribution(network: FactorNetwork) -> dict[tuple[int, ...], float]:
    """p(x) for every x, factor by factor."""
    weights = {}
    for x in product(*map(range, network.cards)):
        weights[x] = exp(sum(float(f.log_values[tuple(x[v] for v in f.variables)]) for f in network.factors))
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def moments(network: FactorNetwork) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The exact mean code of every variable, and of every product of two."""
    exact = distribution(network)
    states, p = np.array(list(exact), dtype=float), np.array(list(exact.values()))
    return p @ states, states.T @ (states * p[:, None])


def gibbs(network: FactorNetwork, key: int, n_chains: int, n_draws: int, burn_in: int, thin: int) -> NDArray[np.uint8]:
    """Chains with NumPy's own Philox: every variable from the plain product of its factors."""
    rows = np.zeros((n_draws, n_chains, network.n_variables), dtype=np.uint8)
    for chain in range(n_chains):
        random = np.random.Generator(np.random.Philox(key=np.array([key, chain], dtype=np.uint64)))
        state = [int(random.random() * card) for card in network.cards]
        for sweep in range(burn_in + thin * n_draws):
            for x, card in enumerate(network.cards):
                logs = np.zeros(card)
                for factor in network.factors:
                    if x in factor.variables:
                        at = tuple(slice(None) if v == x else state[v] for v in factor.variables)
                        logs += factor.log_values[at]
                sums = np.cumsum(np.exp(logs - logs.max()))
                state[x] = int((random.random() * sums[-1] >= sums[:-1]).sum())
            after = sweep + 1 - burn_in
            if after > 0 and after % thin == 0:
                rows[after // thin - 1, chain] = state
    return rows.reshape(n_draws * n_chains, -1)
