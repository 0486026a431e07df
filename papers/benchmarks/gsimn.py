"""GSMN* and GSIMN: exact learning, against one numpy-counted test at a time, their own time, the price of inference.

    python benchmarks/gsimn.py [--degree 4] [--rows 20000] [--log-odds 1] [--dof observed]
    python benchmarks/gsimn.py --inference [--rows 200000]
    python benchmarks/gsimn.py --graph FILE [--rows 1000]

Seconds of CPU on one thread; ratios are of runs side by side. Data are sampled from pairwise factors of random sign on
a random graph with 75 variables, or on the graph in FILE, by Gibbs sampling with one chain per row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from time import process_time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMN, RULES_OF_ALGORITHM_3, GSMNStar
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import ChiSquare, SeparationOracle
from mnlearn.independence.base import log_chi2_sf
from mnlearn.protocols import IndependenceTest, Indices, Question, Result, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import DofRule
from mnlearn_papers.experiment import read_pairs

T = TypeVar("T")
Codes = NDArray[np.uint8]


def cpu(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of CPU, and what came of it."""
    start = process_time()
    made = work()
    return process_time() - start, made


def best(learner: Any, judge: IndependenceTest, repeats: int = 3) -> tuple[float, Result]:
    """The least disturbed of several runs."""
    runs: list[tuple[float, Result]] = [cpu(partial(learner.learn, judge)) for _ in range(repeats)]
    return min(runs, key=lambda run: run[0])


def sample(graph: Graph, n_rows: int, log_odds: float, seed: int, sweeps: int = 60) -> Codes:
    """One row per variable: every chain its own start, all chains updated together."""
    rng = np.random.default_rng(seed)
    n = graph.n_variables
    half = np.zeros((n, n), dtype=np.float32)
    for u, v in graph.edges:
        half[u, v] = half[v, u] = log_odds / 2 * rng.choice((-1, 1))
    around = [np.array(sorted(graph.neighbors(x)), dtype=np.intp) for x in range(n)]
    spins = rng.choice(np.array([-1, 1], dtype=np.float32), size=(n, n_rows))
    for _ in range(sweeps):
        for x in range(n):
            field = half[x, around[x]] @ spins[around[x]]
            spins[x] = np.where(rng.random(n_rows, dtype=np.float32) < 1 / (1 + np.exp(-field)), 1, -1)
    return (spins > 0).astype(np.uint8)


class OneAtATime:
    """Pearson's test as it is written in an afternoon: one question, one numpy.bincount."""

    def __init__(self, codes: Codes, alpha: float, dof: DofRule) -> None:
        self.n_variables, self._codes = len(codes), codes.astype(np.int64)
        self._log_alpha, self._dof = np.log(alpha), dof

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        counts = self._table(x, y, sorted(z)).astype(np.float64)
        rows, columns = counts.sum(2, keepdims=True), counts.sum(1, keepdims=True)
        total = rows.sum(1, keepdims=True)
        expected = rows * columns / np.maximum(total, 1)
        statistic = ((counts - expected) ** 2 / np.where(expected > 0, expected, 1)).sum()
        if self._dof == "adjusted":
            dof = (((rows > 0).sum((1, 2)) - 1) * ((columns > 0).sum((1, 2)) - 1))[total[:, 0, 0] > 0].sum()
        else:
            dof = (total > 0).sum() if self._dof == "observed" else 2.0 ** len(z)
        log_p = float(log_chi2_sf(statistic, dof))
        return Verdict(log_p > self._log_alpha, log_p)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        answers = [self(x, int(y), z) for y in ys]
        support = np.array([a.log_support for a in answers], dtype=np.float64)
        return Verdicts(np.array([a.independent for a in answers], dtype=np.bool_), support)

    def _table(self, x: int, y: int, z: Sequence[int]) -> NDArray[np.int64]:
        stratum, n_strata = np.zeros(self._codes.shape[1], dtype=np.int64), 1
        for v in z:
            stratum, n_strata = stratum * 2 + self._codes[v], n_strata * 2
            if n_strata > len(stratum):  # more strata than rows: number the occupied ones
                occupied, stratum = np.unique(stratum, return_inverse=True)
                n_strata = len(occupied)
        cells = np.bincount(stratum * 4 + self._codes[x] * 2 + self._codes[y], minlength=4 * n_strata)
        return cells.reshape(-1, 2, 2)


class Replayed:
    """A judge whose answers were noted and are given again: what a search takes then is its own."""

    def __init__(self, judge: ChiSquare) -> None:
        self.n_variables, self._judge, self._noted = judge.n_variables, judge, list[Any]()
        self._again: Iterator[Any] | None = None

    def rewind(self) -> None:
        """From now on, what was noted, from the first answer on."""
        self._again = iter(self._noted)

    def _answer(self, ask: Callable[..., Any], *question: Any, **options: Any) -> Any:
        if self._again is not None:
            return next(self._again)
        self._noted.append(ask(*question, **options))
        return self._noted[-1]

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self._answer(self._judge, x, y, z)  # type: ignore[no-any-return]

    def scan(self, *question: Any) -> Any:
        return self._answer(self._judge.scan, *question)

    def scan_many(self, *questions: Any) -> Any:
        return self._answer(self._judge.scan_many, *questions)

    def scan_members(self, *question: Any) -> Any:
        return self._answer(self._judge.scan_members, *question)

    def scan_growing(self, *question: Any, **options: Any) -> Any:
        return self._answer(self._judge.scan_growing, *question, **options)

    def scan_shrinking(self, *question: Any, **options: Any) -> Any:
        return self._answer(self._judge.scan_shrinking, *question, **options)

    def knowledge(self, **options: Any) -> Any:
        return self._judge.knowledge(**options)


def outside_of_the_judge(judge: ChiSquare) -> None:
    """Measure the time of the searches between the answers."""
    for learner in (GSMNStar(), GSIMN()):
        replayed = Replayed(judge)
        learner.learn(replayed)
        times = []
        for _ in range(40):
            replayed.rewind()
            times.append(cpu(partial(learner.learn, replayed))[0])
        print(f"outside of the judge, {describe(learner)}: {min(times) / judge.n_variables * 1e6:.0f} us a variable")


def exact(n: int, degree: int) -> None:
    """Learning with the oracle."""
    oracle = SeparationOracle(random_graph(n, degree, seed=1))
    learners: dict[str, Any] = {"GSMN*": GSMNStar(), "GSMN* without propagation": GSMNStar(propagation=False)}
    for name, learner in {**learners, "GSIMN": GSIMN(), "GSMN": GSMN()}.items():
        seconds, result = best(learner, oracle)
        assert result.graph == oracle.graph
        print(f"exact, n={n}, degree {degree}: {name:26} {seconds:6.2f} s   {result.cost['asked']:.0f} questions")


def against_naive(codes: Codes, judge: ChiSquare, truth: Graph) -> None:
    """Compare a search in scans with one test at a time."""
    naive = OneAtATime(codes, judge.alpha, judge.dof)
    judge.scan(0, [1], frozenset({2}))  # the bit-planes are built once for all that follows
    for learner in (GSMNStar(), GSMNStar(skip_marginal=False), GSIMN(), GSIMN(skip_marginal=False)):
        ours, result = best(learner, judge)
        theirs, same = cpu(partial(replace(learner, ahead=1).learn, naive))  # asks nothing that is not needed
        wrong = len(set(result.graph.edges) ^ set(truth.edges))
        asked = result.cost["asked"]
        print(
            f"data, {describe(learner):28} {ours:7.3f} s, naive {theirs:7.2f} s, ratio {theirs / ours:5.1f}   "
            f"{asked:.0f} questions ({ours / asked * 1e6:.0f} and {theirs / asked * 1e6:.0f} us each), largest z "
            f"{result.cost['largest_z']:.0f}, Hamming {wrong}, same graph: {result.graph == same.graph}"
        )


def price_of_inference(judge: ChiSquare, counts: Counts) -> None:
    """Compare the time of GSIMN's inference with that of the tests it saves, in one call."""
    for skip_marginal in (True, False):
        result = GSIMN(skip_marginal=skip_marginal, keep_trace=True).learn(judge)
        questions = [q for q in result.trace or () if q.phase != "initial" and q.source not in RULES_OF_ALGORITHM_3]
        inferred = [q for q in questions if q.source != "data"]
        scans = [(x, [q.y for q in group], z) for (x, z), group in groupby(inferred, key=lambda q: (q.x, q.z))]
        thinking = min(reasoning_alone(counts, questions) for _ in range(15))
        testing = min(cpu(partial(judge.scan_many, *zip(*scans, strict=True)))[0] for _ in range(15))
        print(
            f"inference, line 22 {'on ' if skip_marginal else 'off'}: {thinking * 1e3:.2f} ms of rules for "
            f"{len(questions)} questions ({thinking / len(questions) * 1e9:.0f} ns each); {len(inferred)} tests saved, "
            f"which take {testing * 1e3:.2f} ms ({testing / len(inferred) * 1e6:.1f} us each): "
            f"ratio {thinking / testing:.3f}"
        )


def reasoning_alone(counts: Counts, questions: Sequence[Question]) -> float:
    """Seconds for the rules of a whole search, from no knowledge: the same questions, the same answers of the data."""
    xs, ys = (np.array(column, dtype=np.int32) for column in zip(*((q.x, q.y) for q in questions), strict=True))
    zs = np.zeros((len(questions), (len(counts.cards) + 63) // 64), dtype=np.uint64)
    for row, q in zip(zs, questions, strict=True):
        for v in q.z:
            row[v // 64] |= np.uint64(1 << v % 64)
    known = counts.knowledge()
    seconds, rules = cpu(partial(known.replay, xs, ys, zs, np.array([q.independent for q in questions])))
    assert [rule > 0 for rule in rules] == [q.source != "data" for q in questions]
    return seconds


def describe(learner: GSMNStar | GSIMN) -> str:
    """Its name, and what is not as usual."""
    name = "GSMN*" if isinstance(learner, GSMNStar) else "GSIMN"
    return name if learner.skip_marginal else f"{name} without line 22"


def large(codes: Codes, judge: ChiSquare, truth: Graph) -> None:
    """Many variables: seconds."""
    for learner in (GSMNStar(), GSIMN(), GSMNStar(skip_marginal=False), GSIMN(skip_marginal=False)):
        seconds, result = cpu(partial(learner.learn, judge))
        wrong = len(set(result.graph.edges) ^ set(truth.edges))
        print(
            f"n={len(codes)}, N={codes.shape[1]}: {describe(learner):28} {seconds:6.2f} s   {result.cost['asked']:.0f} "
            f"questions, {result.graph.n_edges} edges, Hamming {wrong} of {truth.n_edges} true edges",
            flush=True,
        )


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", help="a graph file: learn it from sampled data, and nothing else")
    parser.add_argument("--inference", action="store_true", help="the price of inference, and nothing else")
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--log-odds", type=float, default=1.0)
    parser.add_argument("--dof", default="observed", choices=["adjusted", "observed", "all"])
    options = parser.parse_args()
    truth = read_pairs(options.graph) if options.graph else random_graph(75, options.degree, seed=1)
    n_rows = options.rows or (1_000 if options.graph else 20_000)
    codes = sample(truth, n_rows, options.log_odds, seed=1)
    counts = Counts(Dataset.from_codes(list(codes), cards=[2] * len(codes)), n_jobs=1)
    judge = ChiSquare(counts, alpha=0.05, dof=options.dof)
    if options.graph:
        large(codes, judge, truth)
        return
    if not options.inference:
        exact(100, 8)
    print(f"n=75, N={n_rows}, degree {options.degree}, log-odds {options.log_odds}, degrees of freedom {options.dof}")
    if not options.inference:
        against_naive(codes, judge, truth)
        outside_of_the_judge(judge)
    price_of_inference(judge, counts)


if __name__ == "__main__":
    main()
