"""Samplers: native Gibbs sweeps, exact draws by elimination and the verdict on chains, against plain NumPy.

    python benchmarks/sampling.py [--sweeps 100000]

Seconds of CPU on one thread; every ratio is of two runs side by side. The plain Gibbs sampler updates one variable of
one chain at a time in Python, and a second one a thousand chains at once in NumPy, one variable after the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any, get_args

import numpy as np

from mnlearn.data.dataset import Kind
from mnlearn.graphs import grid, random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.simulate import (
    GibbsPlan,
    Margin,
    judge_chains,
    mixed_network,
    sample,
    sample_exact,
    sample_gibbs,
    spread_margins,
    uniform_factors,
    with_log_odds,
)
from mnlearn_papers.structures import sixteen_node_replicas

N, DEGREE, LOG_ODDS = 128, 4, 1.0


def cpu(work: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of CPU of the least disturbed run."""
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def python_sweeps(graph: Graph, sweeps: int) -> None:
    """One chain, one variable at a time."""
    rng = np.random.default_rng(1)
    state = rng.integers(2, size=graph.n_variables).tolist()
    around = [sorted(graph.neighbors(x)) for x in range(graph.n_variables)]
    odds = [1 / (1 + np.exp(-LOG_ODDS / 2 * k)) for k in range(-2 * N, 2 * N)]
    for _ in range(sweeps):
        uniform = rng.random(graph.n_variables).tolist()
        for x, others in enumerate(around):
            field = sum(2 * state[y] - 1 for y in others)
            state[x] = int(uniform[x] < odds[field + 2 * N])


def numpy_sweeps(graph: Graph, sweeps: int, chains: int = 1000) -> None:
    """Many chains, one variable at a time."""
    rng = np.random.default_rng(1)
    spins = rng.choice(np.array([-1.0, 1.0]), size=(graph.n_variables, chains))
    around = [sorted(graph.neighbors(x)) for x in range(graph.n_variables)]
    for _ in range(sweeps):
        for x, others in enumerate(around):
            up = 1 / (1 + np.exp(-LOG_ODDS / 2 * spins[others].sum(0)))
            spins[x] = np.where(rng.random(chains) < up, 1.0, -1.0)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=100_000)
    sweeps = parser.parse_args().sweeps
    graph = random_graph(N, DEGREE, seed=1)
    network = with_log_odds(graph, LOG_ODDS, seed=1).to_factors()
    plan = GibbsPlan(chains=2, burn_in=0, thin=1)
    native = cpu(lambda: sample_gibbs(network, sweeps, seed=1, plan=plan, n_jobs=1))
    few, chains = max(20, sweeps // 1000), 1000
    slow = cpu(lambda: python_sweeps(graph, few)) / few
    wide = cpu(lambda: numpy_sweeps(graph, 20, chains)) / (20 * chains)
    print(f"Gibbs, {N} binary variables of degree {DEGREE}: {sweeps:,} sweeps in {native:.2f} s of CPU")
    print(
        f"  {native / sweeps / N * 1e9:.1f} ns a variable; python / native = {slow / (native / sweeps):.0f}, ", end=""
    )
    print(f"{chains} chains at once in numpy / native = {wide / (native / sweeps):.1f}")
    codes = sample_gibbs(network, sweeps, seed=1, plan=plan)
    verdict = cpu(lambda: judge_chains(codes, graph, 2), repeats=1)
    print(f"verdict on all {graph.n_edges + N} statistics of {sweeps:,} rows: {verdict / native:.1f} × the sweeps")
    large = uniform_factors(sixteen_node_replicas(512), seed=1)
    exact = cpu(lambda: sample(large, 8000, seed=1, method="eliminate"))
    listed = cpu(lambda: sample(large, 8000, seed=1, method="enumerate"), repeats=1)
    print(f"exact, 512 variables in components of 16, 8000 rows: eliminated {exact:.2f} s, ", end="")
    print(f"listed / eliminated = {listed / exact:.1f}")
    lattice = with_log_odds(grid(4, 5), LOG_ODDS, seed=1)
    both = cpu(lambda: sample_exact(lattice, 1000, seed=1)) / cpu(lambda: sample(lattice, 1000, seed=1))
    print(f"exact, 4 x 5 lattice, 1000 rows: listed / eliminated = {both:.1f}")
    width = cpu(lambda: sample(with_log_odds(grid(12, 12), LOG_ODDS, seed=1), 10_000, seed=1))
    print(f"exact, 12 x 12 lattice, 10,000 rows: {width:.2f} s")
    mixed()


def mixed() -> None:
    """Measure networks of several kinds, one Gibbs chain for each row."""
    graph = random_graph(20, 3.0, seed=1)
    kinds: tuple[Kind, ...] = get_args(Kind)
    for name, chosen in (("four kinds", kinds), ("ordinal", ("ordinal",))):
        margins = spread_margins(20, [Margin(kind, states=5) for kind in chosen], seed=1)
        network = mixed_network(graph, margins, seed=1)
        seconds = cpu(partial(network.sample, 4000, seed=1))
        print(f"{name}, 20 variables of degree 3, 4000 rows: {seconds:.2f} s")


if __name__ == "__main__":
    main()
