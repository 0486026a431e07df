"""Models: how near the fitted distribution is to the true one, and how long fitting takes.

    python benchmarks/model.py [--draws 20]

Nearness is exact: the mean of log p(x) − log q(x) over 20,000 fresh rows of p, in nats a row, q being the fitted model;
0 is perfect. Times are seconds of CPU on one thread, and every ratio is of two runs side by side: the gradient over
observed configurations against one over all rows in plain NumPy, precision matrices against iterative scaling.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np

from mnlearn.data import Dataset
from mnlearn.graphs import grid, random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.model import fit, fit_precision
from mnlearn.model.canonical import all_cliques
from mnlearn.model.pseudolikelihood import PseudoLikelihood, _Layout, fit_pseudolikelihood
from mnlearn.simulate import (
    FactorNetwork,
    GibbsPlan,
    log_partition,
    sample,
    sample_gibbs,
    sparse_gaussian,
    uniform_factors,
    with_log_odds,
)

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "canonical, α = 1/2": ("canonical", {}),
    "cliques, λ = 0.1": ("pseudolikelihood", {"ridge": 0.1}),
    "cliques, λ = 1": ("pseudolikelihood", {}),
    "cliques, λ = 10": ("pseudolikelihood", {"ridge": 10.0}),
    "pairwise, λ = 1": ("pseudolikelihood", {"interactions": "pairwise"}),
}


def cpu(work: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of CPU of the least disturbed run."""
    times = []
    for _ in range(repeats):
        start = thread_time()
        work()
        times.append(thread_time() - start)
    return min(times)


def distance(network: FactorNetwork, rows: Dataset, model: Any) -> float:
    """The mean of log p − log q over rows of p."""
    codes = np.stack(rows.columns, axis=1)
    log_p = float(network.log_weights(codes).sum()) - rows.n_rows * log_partition(network)
    return (log_p - float(model.log_likelihood(rows))) / rows.n_rows


def nearness(draws: int) -> None:
    """Each way of fitting, by the number of rows."""
    sizes = (100, 500, 2000, 10_000)
    found: dict[str, list[list[float]]] = {way: [[] for _ in sizes] for way in WAYS}
    for draw in range(draws):
        graph = random_graph(16, 4, seed=draw)
        network = uniform_factors(graph, seed=draw, cards=2 + draw % 2)
        fresh = sample(network, 20_000, seed=10_000 + draw).dataset()
        for k, n_rows in enumerate(sizes):
            data = sample(network, n_rows, seed=draw).dataset()
            for way, (method, settings) in WAYS.items():
                found[way][k].append(distance(network, fresh, fit(graph, data, method, **settings)))
    print(f"nats a row from the truth, mean of {draws} networks of 16 variables, degree 4, 2 or 3 states:")
    print(f"  {'rows':20}" + "".join(f"{n:>10,}" for n in sizes))
    for way, by_size in found.items():
        print(f"  {way:20}" + "".join(f"{np.mean(values):10.4f}" for values in by_size))


def plain_gradient(network: FactorNetwork, codes: Any) -> list[Any]:
    """The gradient of the log pseudo-likelihood in plain NumPy: every variable, every row."""
    slopes = [np.zeros(factor.log_values.shape) for factor in network.factors]
    everyone = np.arange(len(codes))
    for x, card in enumerate(network.cards):
        mine = [k for k, factor in enumerate(network.factors) if x in factor.variables]
        places = {}
        states = np.broadcast_to(np.arange(card), (len(codes), card))
        logits = np.zeros((len(codes), card))
        for k in mine:
            scope = network.factors[k].variables
            at = [states if y == x else np.broadcast_to(codes[:, y, None], states.shape) for y in scope]
            places[k] = tuple(at)
            logits += network.factors[k].log_values[places[k]]
        chances = np.exp(logits - logits.max(1, keepdims=True))
        chances /= -chances.sum(1, keepdims=True)
        chances[everyone, codes[:, x]] += 1
        for k in mine:
            np.add.at(slopes[k], places[k], chances)
    return slopes


def speed() -> None:
    """Fits against plain ones, and Gibbs updates."""
    lattice = grid(10, 10)
    data = sample(with_log_odds(lattice, 1.0, seed=1), 20_000, seed=1).dataset()
    whole = cpu(lambda: fit_pseudolikelihood(lattice, data), repeats=1)
    layout = _Layout.of(all_cliques(lattice, data.cards), data.cards)
    problem, theta = PseudoLikelihood.of(layout, data), np.zeros(layout.size)
    once = cpu(lambda: problem.loss(theta, 1.0))
    codes = np.stack(data.columns, 1).astype(np.intp)
    slow = cpu(lambda: plain_gradient(layout.network(theta), codes), repeats=1)
    print(f"pseudo-likelihood, 10 x 10 lattice, {data.n_rows:,} rows: fitted in {whole:.2f} s; one gradient, ", end="")
    print(f"row by row / by configuration = {slow / once:.0f}")
    graph = random_graph(500, 4, seed=1)
    wide = sparse_gaussian(graph, seed=1).dataset(200, seed=1)
    fitted = fit_precision(graph, wide)
    print(f"precision, 500 variables, 200 rows: {cpu(lambda: fit_precision(graph, wide)):.2f} s, ", end="")
    print(f"{fitted.iterations} sweeps, converged {fitted.converged}")
    small = random_graph(30, 4, seed=1)
    rows = sparse_gaussian(small, seed=1).dataset(200, seed=1)
    scaling = cpu(lambda: scaled(np.corrcoef(np.stack(rows.columns)), small))
    print(
        f"precision, 30 variables: iterative scaling / sweeps = {scaling / cpu(lambda: fit_precision(small, rows)):.0f}"
    )
    for n, degree in ((128, 4), (1000, 4), (1000, 8)):
        sparse = with_log_odds(random_graph(n, degree, seed=1), 1.0, seed=1).to_factors()
        sweeps = 2_000_000 // n
        plan = GibbsPlan(chains=2, burn_in=sweeps, thin=1)
        seconds = cpu(lambda net=sparse, plan=plan: sample_gibbs(net, 2, seed=1, plan=plan, n_jobs=1))  # type: ignore[misc]
        print(
            f"Gibbs, {n} binary variables of degree {degree}: {2 * (sweeps + 1) * n / seconds / 1e6:.0f} million ",
            end="",
        )
        print("variable updates a second on one core")


def scaled(correlation: Any, graph: Graph) -> Any:
    """Iterative proportional scaling by edges and variables, to nine digits."""
    theta = np.eye(len(correlation))
    scopes = [list(edge) for edge in graph.edges] + [[x] for x in range(graph.n_variables)]
    for _ in range(1000):
        before = theta.copy()
        for scope in scopes:
            at = np.ix_(scope, scope)
            theta[at] += np.linalg.inv(correlation[at]) - np.linalg.inv(np.linalg.inv(theta)[at])
        if np.abs(theta - before).max() < 1e-9:
            return theta
    return theta


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    speed()
    nearness(draws)


if __name__ == "__main__":
    main()
