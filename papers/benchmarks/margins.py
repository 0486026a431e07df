"""Continuous columns that are far from normal: errors with and without normal scores, on the same Gaussian rows.

Every draw is a new graph, new strengths and new Gaussian rows, by the two laws of `continuous_accuracy.py` in turn.
The columns are then changed one by one: cubed, or given exponential, uniform or t margins with 2 degrees of freedom.
The graph is the same for all margins, and so are the normal scores. Means of the Hamming distance with
`transform="auto"` and `transform=None`, and their ratio to the errors on the Gaussian rows themselves. The standard
error is that of the paired difference. Seeds from 5000 on; those below were for development.

    python benchmarks/margins.py [--draws 20] [--seed 5000] [--sizes 50-200 ...] [--methods sep ...]
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from continuous_accuracy import CHOSEN, dominated
from mnlearn.distributions.gaussian import continuous_dataset, sparse_gaussian
from mnlearn.graphs import Graph, barabasi_albert, hubs, random_graph
from mnlearn.learning import learn

FloatArray = NDArray[np.float64]


def band(n: int) -> Graph:
    """Each variable joined to the next two."""
    return Graph(n, [(u, u + k) for u in range(n) for k in (1, 2) if u + k < n])


SHAPES: dict[str, Callable[[int, np.random.Generator], Graph]] = {
    "random": lambda n, rng: random_graph(n, 3.0, rng),
    "hubs": lambda n, _: hubs(n // 10, 9),
    "band": lambda n, _: band(n),
    "scale-free": lambda n, rng: barabasi_albert(n, 2, rng),
}
MARGINS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "Gaussian": lambda g: g,
    "cubed": lambda g: g**3,
    "exponential": lambda g: -np.log(ndtr(-g)),
    "uniform": ndtr,
    "t, 2 degrees": lambda g: np.asarray(stdtrit(2.0, ndtr(g)), dtype=np.float64),
}
SIZES = ("50-200", "100-200", "50-1000", "100-1000")


class Found(NamedTuple):
    """Errors of one method on one draw: with `transform="auto"` and with None, and whether auto was on."""

    shape: str
    size: str
    method: str
    margin: str
    auto: int
    values: int
    on: bool


def gaussian_rows(shape: str, n: int, n_rows: int, seed: int) -> tuple[Graph, FloatArray]:
    """A graph with Gaussian rows from it, every column with variance 1 in the network."""
    rng = np.random.default_rng([seed, n, n_rows, list(SHAPES).index(shape)])
    graph = SHAPES[shape](n, rng)
    network = sparse_gaussian(graph, rng) if seed % 2 else dominated(graph, rng)
    scale = np.sqrt(np.diag(np.linalg.inv(network.precision)))
    return graph, network.sample(n_rows, rng) / scale


def measured(sizes: list[str], seeds: range, methods: list[str]) -> Iterator[Found]:
    """All methods and margins on all draws."""
    for size in sizes:
        n, n_rows = map(int, size.split("-"))
        for shape in SHAPES:
            for seed in seeds:
                truth, rows = gaussian_rows(shape, n, n_rows, seed)
                for name in methods:
                    method, settings = CHOSEN[name]
                    for margin, change in MARGINS.items():
                        call = partial(learn, continuous_dataset(change(rows)), method, n_jobs=1, **settings)
                        auto, values = call(), call(transform=None)
                        wrong = [len(set(one.graph.edges) ^ set(truth.edges)) for one in (auto, values)]
                        on = auto.settings["transform"] is not None
                        yield Found(shape, size, name, margin, wrong[0], wrong[1], on)


def report(found: list[Found]) -> Iterator[str]:
    """One table for each method: a line for each shape and size, and one for all."""
    for name in dict.fromkeys(one.method for one in found):
        own = [one for one in found if one.method == name]
        yield f"**{name}**: mean errors on Gaussian rows, then with normal scores by auto / with the values"
        yield f"| shape, n-N | {' | '.join(MARGINS)} | draws |"
        yield f"|---|{'---|' * (len(MARGINS) + 1)}"
        cells = [(shape, size) for size in dict.fromkeys(one.size for one in own) for shape in SHAPES]
        for cell in cells:
            yield _line(f"{cell[0]}, {cell[1]}", [one for one in own if (one.shape, one.size) == cell])
        yield _line("all", own)
        yield ""


def _line(title: str, found: list[Found]) -> str:
    """Errors on Gaussian rows; then for each margin errors of auto with the relative difference, and without."""
    by_margin = {margin: [one for one in found if one.margin == margin] for margin in MARGINS}
    base = np.array([one.values for one in by_margin["Gaussian"]], dtype=float)
    entries = []
    for lines in by_margin.values():
        auto = np.array([one.auto for one in lines], dtype=float)
        error = (auto - base).std(ddof=1) / sqrt(len(auto)) if len(auto) > 1 else np.nan
        share = f"{auto.mean() / base.mean() - 1:+.1%} ± {error / base.mean():.1%}"
        values, on = np.mean([one.values for one in lines]), np.mean([one.on for one in lines])
        entries.append(f"{auto.mean():.2f} ({share}; on {on:.0%}) / {values:.2f}")
    return f"| {title} | {' | '.join(entries)} | {len(base)} |"


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES))
    parser.add_argument("--methods", nargs="+", default=["sep", "lasso", "mbs", "pc 0.01", "glasso ebic"])
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)  # every line of the table has the share of auto
    seeds = range(chosen.seed, chosen.seed + chosen.draws)
    print("\n".join(report(list(measured(chosen.sizes, seeds, chosen.methods)))))


if __name__ == "__main__":
    main()
