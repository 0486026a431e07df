"""The cost model of scans: how far from the best way of counting its choice is, over a grid of cases.

    python benchmarks/plan.py [--full]        (MNLEARN_CORE=avx2 for another code path)

Every way of counting that is possible is forced and timed, by CPU time of one thread in many short turns. `ratio` is
the time of the way that the model chooses over that of the best way, the median over turns: a shared machine runs slow
for seconds at a time, which both see alike. The times shown are low quantiles; what choosing itself takes is measured
apart. The kernel only counts; each question has another z, so no strata are kept from an earlier one, and the data are
in cache as a search leaves them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from itertools import cycle, islice, product
from typing import NamedTuple

import numpy as np

from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.statistics import Counts
from mnlearn_papers.speed import COUNTING

WAYS = ("split_planes", "split_columns", "sorted_columns", "keys", "planes", "columns", "alone")
N_CONDITIONS = 64  # more than any cache keeps
SAMPLE = 2e-4  # seconds of one turn, unless a single question takes longer


class Case(NamedTuple):
    """The inputs of the choice."""

    n_ys: int
    n_rows: int
    size_z: int
    card: int


def cases(full: bool) -> Iterator[Case]:
    """The grid: candidates, rows, strata, states."""
    few, more = ((6, 64, 500), (1_000, 8_000)), ((2, 16, 128, 1000), (300, 40_000))
    sizes, rows = few if not full else (few[0] + more[0], few[1] + more[1])
    for n_ys, n_rows, size_z in product(sorted(sizes), sorted(rows), (0, 1, 2, 3, 4, 6, 8)):
        yield Case(n_ys, n_rows, size_z, 2)
    for n_ys, n_rows, size_z in product((6, 128), sorted(rows), (0, 1, 2, 3)):
        yield Case(n_ys, n_rows, size_z, 4)


class Questions:
    """Scans of one case: y first, then x, then the variables that z is drawn from."""

    def __init__(self, case: Case) -> None:
        rng = np.random.default_rng(0)
        n = case.n_ys + 1 + N_CONDITIONS
        codes = [rng.choice(case.card, case.n_rows, p=rng.dirichlet([4.0] * case.card)) for _ in range(n)]
        self.counts = Counts(Dataset.from_codes(codes, cards=[case.card] * n), n_jobs=1)
        self.x, self.ys = case.n_ys, np.arange(case.n_ys, dtype=np.int32)
        others = [case.n_ys + 1 + rng.permutation(N_CONDITIONS) for _ in range(N_CONDITIONS)]
        if case.size_z == 1:
            others = [np.array([case.n_ys + 1 + k]) for k in range(N_CONDITIONS)]
        self.zs = [frozenset(order[: case.size_z].tolist()) for order in others]
        self._next = cycle(self.zs)

    def choice(self, force: str = "") -> str:
        """The way of the first question; with a way forced, that way if it is possible."""
        _core.force(self.counts._store, force)
        return _core.way_of(self.counts._store, self.x, self.ys, self.zs[0])

    def choosing(self, rounds: int = 1000) -> float:
        """CPU time of choosing a way, without counting."""
        _core.force(self.counts._store, "")
        before = time.thread_time()
        _core.probe_choice(self.counts._store, self.x, self.ys, self.zs[0], rounds)
        return (time.thread_time() - before) / rounds

    def seconds(self, way: str, n_questions: int) -> float:
        """CPU time of one question, asked this way."""
        _core.force(self.counts._store, way)
        zs = list(islice(self._next, n_questions))
        xs, yss = [self.x] * n_questions, [self.ys] * n_questions
        before = time.thread_time()
        self.counts.reduce_many(COUNTING, xs, yss, zs)
        return (time.thread_time() - before) / n_questions


def turns(questions: Questions, ways: Iterable[str], keep: Iterable[str], n_turns: int = 60) -> dict[str, list[float]]:
    """Seconds of each way in many short turns, one way after the other.

    Ways that are not to be kept, and turn out three times slower than the best, are given up after a few turns.
    """
    first = {way: questions.seconds(way, 2) for way in ways}  # may build something
    batch = {way: 1 + int(SAMPLE / min(first[way], questions.seconds(way, 2))) for way in ways}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(n_turns):
        best = min(min(found, default=np.inf) for found in taken.values())
        for way, found in taken.items():
            if turn < 6 or way in keep or min(found) < 3 * best:
                found.append(questions.seconds(way, batch[way]))
    return taken


class Verdict(NamedTuple):
    """The way that is chosen, and what was found about all that are possible."""

    chosen: str
    choosing: float  # seconds that choosing took
    seconds: dict[str, float]
    relative: dict[str, float]  # to the chosen way, turn by turn: the median

    @property
    def best(self) -> str:
        """The fastest way."""
        return min(self.relative, key=self.relative.__getitem__)


def judge(case: Case) -> Verdict:
    """Time all ways of one case."""
    questions = Questions(case)
    chosen = questions.choice()
    ways = [way for way in WAYS if questions.choice(way) == way]
    taken = turns(questions, ways, keep=(chosen,))
    seconds = {way: float(np.quantile(found, 0.2)) for way, found in taken.items()}
    relative = {way: float(np.median(np.array(found) / taken[chosen][: len(found)])) for way, found in taken.items()}
    return Verdict(chosen, min(questions.choosing() for _ in range(5)), seconds, relative)


def main() -> None:
    """Print a line for each case, and how many choices are within 25 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="a finer grid")
    options = parser.parse_args()
    print(f"{'ys':>5} {'rows':>6} {'|z|':>3} {'card':>4} {'ratio':>6}  {'chosen':14} best way       µs of each way")
    ratios, choosing = [], []
    for case in cases(options.full):
        found = judge(case)
        ratios.append(1 / found.relative[found.best])
        choosing.append(found.choosing)
        shown = " ".join(f"{way} {1e6 * seconds:.1f}" for way, seconds in found.seconds.items())
        where = f"{case.n_ys:>5} {case.n_rows:>6} {case.size_z:>3} {case.card:>4}"
        print(f"{where} {ratios[-1]:>6.2f}  {found.chosen:14} {found.best:14} {shown}", flush=True)
    within = np.mean(np.array(ratios) <= 1.25)
    print(f"within 25 % of the best way: {within:.1%} of {len(ratios)} cases; the worst {max(ratios):.2f}x")
    print(
        f"choosing takes {1e6 * np.median(choosing):.2f} µs (median over the cases), {1e6 * max(choosing):.2f} at most"
    )


if __name__ == "__main__":
    main()
