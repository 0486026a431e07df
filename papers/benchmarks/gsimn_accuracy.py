"""Is GSIMN's graph as good as GSMN*'s? Hamming distances on the sampled networks of [JAIR09, Sec. 5.1.2].

    python benchmarks/gsimn_accuracy.py [--draws 6] [--variables 50 75] [--rows 2000 20000] [--dof observed adjusted]
    python benchmarks/gsimn_accuracy.py --answers [--draws 6] [--variables 75] [--degree 4] [--log-odds 1]

For each setting: the mean distance of GSMN*, of GSIMN, and their difference with its standard error, all pairs of runs
being on the same data. Every draw is a new random graph with the same log odds ratio on every edge.
A few seconds a draw. `--answers` shows why they differ: how many answers each source gave in the main loop, and how
many of them the true graph contradicts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.data.dataset import Dataset
from mnlearn.evaluation.metrics import hamming
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import ChiSquare, SeparationOracle
from mnlearn.simulate import sample, with_log_odds
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import DofRule

DEGREES, LOG_ODDS = (1, 2, 4, 8), (1.0, 1.5, 2.0)


def drawn(n: int, degree: int, log_odds: float, draw: int, n_rows: int) -> tuple[Graph, Dataset]:
    """A true graph, and rows from a network on it."""
    rng = np.random.default_rng([draw, n, degree, int(10 * log_odds)])
    truth = random_graph(n, degree, rng)
    return truth, sample(with_log_odds(truth, log_odds, rng), n_rows, rng).dataset()


def distances(n: int, degree: int, log_odds: float, draw: int, options: argparse.Namespace) -> Iterator[list[int]]:
    """One draw: of every rule and every number of rows, the distances of both learners."""
    truth, whole = drawn(n, degree, log_odds, draw, max(options.rows))
    for dof in options.dof:
        for n_rows in options.rows:
            judge = test_of(whole, n_rows, dof)
            yield [hamming(learner.learn(judge).graph, truth) for learner in (GSMNStar(), GSIMN())]


def test_of(whole: Dataset, n_rows: int, dof: DofRule) -> ChiSquare:
    """The test on the first rows."""
    columns = [np.asarray(column)[:n_rows] for column in whole.columns]
    return ChiSquare(Counts(Dataset.from_codes(columns, cards=whole.cards), n_jobs=1), dof=dof)


def row(label: str, found: Sequence[Sequence[int]]) -> str:
    """Both means, and the difference."""
    pairs = np.array(found, dtype=float)
    difference = pairs[:, 1] - pairs[:, 0]
    error = difference.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else np.nan
    return f"{label} {pairs[:, 0].mean():7.1f} {pairs[:, 1].mean():7.1f}   {difference.mean():+7.1f} ({error:.1f})"


def answers(n: int, options: argparse.Namespace) -> None:
    """Count the answers of the main loop by source, and how often the true graph differs."""
    for learner in (GSMNStar(keep_trace=True), GSIMN(keep_trace=True)):
        given, wrong, blankets = Counter[tuple[str, str, bool]](), Counter[tuple[str, str, bool]](), list[float]()
        for draw in range(options.draws):
            truth, data = drawn(n, options.degree, options.log_odds, draw, max(options.rows))
            oracle = SeparationOracle(truth)
            result = learner.learn(test_of(data, data.n_rows, options.dof[0]))
            blankets.append(result.cost["largest_z"])
            for q in result.trace or ():
                if q.phase != "initial":
                    given[q.phase, q.source, q.independent] += 1
                    wrong[q.phase, q.source, q.independent] += oracle(q.x, q.y, q.z).independent != q.independent
        print(f"{type(learner).__name__}, {options.draws} draws, largest conditioning set {np.mean(blankets):.0f}")
        for key, count in sorted(given.items()):
            phase, source, independent = key
            answer = "independent" if independent else "dependent"
            print(f"  {phase:6} {source:26} {answer:11} {count:6}, wrong {wrong[key] / count:6.1%}")


def main() -> None:
    """Print a line for each setting as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--variables", type=int, nargs="+", default=[50, 75])
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--dof", nargs="+", default=["observed", "adjusted"], choices=["adjusted", "observed", "all"])
    parser.add_argument("--answers", action="store_true", help="who answered, and how often wrongly")
    parser.add_argument("--degree", type=int, default=4, help="of --answers")
    parser.add_argument("--log-odds", type=float, default=1.0, help="of --answers")
    options = parser.parse_args()
    if options.answers:
        answers(options.variables[-1], options)
        return
    print("  n degree log-odds       dof   rows   GSMN*   GSIMN   difference (standard error)")
    for n in options.variables:
        for degree in DEGREES:
            for log_odds in LOG_ODDS:
                draws = [list(distances(n, degree, log_odds, draw, options)) for draw in range(options.draws)]
                settings = [(dof, n_rows) for dof in options.dof for n_rows in options.rows]
                for k, (dof, n_rows) in enumerate(settings):
                    label = f"{n:3} {degree:6} {log_odds:8} {dof:>9} {n_rows:6}"
                    print(row(label, [draw[k] for draw in draws]), flush=True)


if __name__ == "__main__":
    main()
