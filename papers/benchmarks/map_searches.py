"""How good is IBMAP-HC, how good are the other searches, and how good are the graphs: by IB, BJP and, beside them, MPL.

    python benchmarks/map_searches.py optimum [--repeats 20] [--rows 250 1000 4000]
    python benchmarks/map_searches.py structures [--repeats 5] [--rows 250 1000 4000] [--graphs DIRECTORY]

`optimum`: random six-node graphs with 3 to 12 edges, uniform factors on their maximal cliques; the share of runs that
reach the best of all 32,768 graphs, the mean gap to its score, and CPU time in units of IBMAP-HC's. `structures`: the
graphs of [BJP18, Sec. 4.2] as far as they can be made: the double star (Hub 1), four hubs, Barabasi-Albert trees, and
with --graphs the real networks in that directory; the mean Hamming distance over distributions with uniform factors,
its standard error, and false positives in brackets.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.evaluation.metrics import compare_edges
from mnlearn.graphs import Graph, barabasi_albert, hubs, random_graph
from mnlearn.independence import BayesianTest
from mnlearn.protocols import Result, SearchableScore
from mnlearn.scores import MPL, BJPScore, IBScore
from mnlearn.simulate import GibbsPlan, sample, uniform_factors
from mnlearn.statistics import Counts
from mnlearn_papers.experiment import read_pairs

SCORES: dict[str, Callable[[Counts], SearchableScore]] = {
    "IB": lambda counts: IBScore(BayesianTest(counts)),
    "BJP": lambda counts: BJPScore(BayesianTest(counts)),
}
SEARCHES: dict[str, HillClimb] = {
    "IBMAP-HC": IBMAPHC(),
    "  patience 5": IBMAPHC(patience=5),
    "  patience 15": IBMAPHC(patience=15),
    "  tabu 5, patience 20": IBMAPHC(tabu=5, patience=20),
    "steepest": HillClimb(),
    "  tabu 5 and patience 20": HillClimb(tabu=5, patience=20),
}
REAL = ("karate", "ibm32", "curtis54", "will57", "dolphins", "polbooks", "adjnoun")


def optimum(repeats: int, rows: Iterable[int]) -> None:
    """Every search on the same six-node data."""
    for n_rows in rows:
        print(f"\nN = {n_rows}, {repeats} data sets")
        print(f"{'':24s}" + "".join(f"{name:>12s} reached    gap   cost" for name in SCORES))
        kept: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for seed in range(repeats):
            graph = random_graph(6, float(np.random.default_rng(seed).integers(3, 13)) / 3, seed)
            data = sample(uniform_factors(graph, seed), n_rows, seed).dataset()
            for name, make in SCORES.items():
                score = make(Counts(data, n_jobs=1))
                best = Exhaustive().learn(score).score
                assert best is not None
                for search, learner in SEARCHES.items():
                    start = process_time()
                    found = learner.learn(score).score
                    assert found is not None
                    kept[search, name].append((best - found, process_time() - start))
        for search in SEARCHES:
            line = f"{search:24s}"
            for name in SCORES:
                gaps, spent = (np.array(part) for part in zip(*kept[search, name], strict=True))
                base = sum(seconds for _, seconds in kept["IBMAP-HC", name])
                line += f"{100 * (gaps < 1e-6).mean():18.0f} % {gaps.mean():6.2f} {spent.sum() / base:6.1f}"
            print(line)


def networks(directory: str | None) -> Iterator[tuple[str, Graph]]:
    """The structures."""
    drawn = {"Hub 1 (double star)": hubs(2, 7), "four hubs of 7": hubs(4, 7), "four hubs of 15": hubs(4, 15)}
    drawn |= {f"Barabasi-Albert tree {n}": barabasi_albert(n, 1, 1) for n in (16, 32, 64, 128)}
    yield from drawn.items()
    for name in REAL if directory else ():
        yield name, read_pairs(Path(directory or "") / f"{name}.edges")


def structures(repeats: int, rows: Iterable[int], directory: str | None) -> None:
    """The learners side by side on each structure; tabu goes on after IBMAP-HC stops."""
    tabu = IBMAPHC(tabu=10, patience=40)
    learners: dict[str, Callable[[Counts], Result]] = {
        "MPL": lambda counts: TwoPhase().learn(MPL(counts)),
        "IB": lambda counts: IBMAPHC().learn(SCORES["IB"](counts)),
        "BJP": lambda counts: IBMAPHC().learn(SCORES["BJP"](counts)),
        "IB, tabu": lambda counts: tabu.learn(SCORES["IB"](counts)),
        "BJP, tabu": lambda counts: tabu.learn(SCORES["BJP"](counts)),
    }
    print(f"{'':24s}{'n':>5s}{'edges':>7s}{'N':>7s}" + "".join(f"{name:>22s}" for name in learners))
    for name, graph in networks(directory):
        for n_rows in rows:
            wrong: dict[str, Any] = {learner: [] for learner in learners}
            for seed in range(repeats):
                rng = np.random.default_rng((seed, n_rows))
                data = sample(uniform_factors(graph, seed), n_rows, rng, plan=GibbsPlan(burn_in=300, thin=5)).dataset()
                for learner, learn in learners.items():
                    apart = compare_edges(learn(Counts(data, n_jobs=1)).graph, graph)
                    wrong[learner].append((apart.hamming, apart.false_positives))
            line = f"{name:24s}{graph.n_variables:5d}{graph.n_edges:7d}{n_rows:7d}"
            for learner in learners:
                distance, added = np.array(wrong[learner]).mean(axis=0)
                error = np.array(wrong[learner])[:, 0].std() / max(1, repeats - 1) ** 0.5
                line += f"{distance:10.1f} ±{error:4.1f} ({added:3.1f})"
            print(line, flush=True)


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("optimum", "structures"))
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 1000, 4000])
    parser.add_argument("--graphs", help="a directory with the real networks as files of pairs")
    asked = parser.parse_args()
    if asked.what == "optimum":
        optimum(asked.repeats or 20, asked.rows)
    else:
        structures(asked.repeats or 5, asked.rows, asked.graphs)


if __name__ == "__main__":
    main()
