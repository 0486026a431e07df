"""Convergence: chains that agree, chains that do not, and chains whose effective size is known."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.distributions.sampling import effective_size, split_r_hat
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, grid
from mnlearn.protocols import FloatArray
from mnlearn.simulate import GibbsPlan, ising, judge_chains, sample


def autoregressive(rho: float, n_chains: int, n_draws: int, seed: int) -> FloatArray:
    """Normal chains with correlation ρ from draw to draw: their effective size is N (1 − ρ) / (1 + ρ)."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(1, n_chains, n_draws)) * (1 - rho**2) ** 0.5
    chains: FloatArray = np.empty_like(noise)
    chains[..., 0] = rng.normal(size=(1, n_chains))
    for i in range(1, n_draws):
        chains[..., i] = rho * chains[..., i - 1] + noise[..., i]
    return chains


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_effective_size_of_a_known_chain(rho: float) -> None:
    n_chains, n_draws = 4, 20_000
    expected = n_chains * n_draws * (1 - rho) / (1 + rho)
    sizes = [effective_size(autoregressive(rho, n_chains, n_draws, seed))[0] for seed in range(4)]
    assert np.mean(sizes) == pytest.approx(expected, rel=0.1)


def test_r_hat_by_its_formula() -> None:
    chains = np.random.default_rng(3).normal(size=(2, 3, 11)) + np.array([0, 0, 1.0])[:, None]
    halves = [chains[:, c, cut] for c in range(3) for cut in (slice(0, 5), slice(-5, None))]
    within = np.mean([h.var(-1, ddof=1) for h in halves], axis=0)
    between = 5 * np.var([h.mean(-1) for h in halves], axis=0, ddof=1)
    expected = np.sqrt((4 / 5 * within + between / 5) / within)
    np.testing.assert_allclose(split_r_hat(chains), expected)


def test_chains_that_are_stuck_are_told_apart() -> None:
    assert split_r_hat(np.ones((1, 4, 10)))[0] == 1.0
    apart = np.repeat(np.array([0.0, 1.0])[:, None], 10, axis=1)[None]
    assert split_r_hat(apart)[0] == np.inf
    assert effective_size(np.ones((1, 4, 10)))[0] == 40


def test_a_frozen_lattice_does_not_converge_and_a_warm_one_does() -> None:
    plan = GibbsPlan(chains=4, burn_in=20, thin=1)
    frozen = sample(ising(grid(8, 8), 1.5, seed=1, law="equal"), 400, seed=3, method="gibbs", plan=plan).convergence
    assert frozen is not None
    assert not frozen.converged
    assert str(frozen).startswith("NOT converged; make burn_in and thin longer: largest split R-hat")
    warm = sample(ising(grid(8, 8), 0.1, seed=1), 4000, seed=3, method="gibbs", plan=plan).convergence
    assert warm is not None
    assert warm.converged
    assert 1000 < warm.effective_rows < 4000 * 4
    assert "effective sample size" in str(warm)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(InputError, match="codes must hold at least 4 rows per chain; got 15 rows of 4 chains"):
        judge_chains(np.zeros((15, 2), dtype=np.uint8), Graph(2), 4)
