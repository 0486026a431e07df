"""The cost model of scans, and the instructions of the kernels on 64-bit ARM."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import cycle, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness import Lines, case
from mnlearn import _core
from mnlearn.data.dataset import Dataset
from mnlearn.statistics import Counts
from mnlearn_papers.speed import COUNTING

WAYS = ("split_planes", "split_columns", "sorted_columns", "keys", "planes", "columns", "alone")
N_CONDITIONS = 64  # more than any cache keeps


class Question(NamedTuple):
    """The inputs of the choice."""

    n_ys: int
    n_rows: int
    size_z: int
    card: int


class Questions:
    """Scans of one case, each with another z: y first, then x, then the variables that z is drawn from."""

    def __init__(self, case: Question) -> None:
        rng = np.random.default_rng(0)
        n = case.n_ys + 1 + N_CONDITIONS
        codes = [rng.choice(case.card, case.n_rows, p=rng.dirichlet([4.0] * case.card)) for _ in range(n)]
        self.counts = Counts(Dataset.from_codes(codes, cards=[case.card] * n), n_jobs=1)
        self.x, self.ys = case.n_ys, np.arange(case.n_ys, dtype=np.int32)
        orders = [case.n_ys + 1 + rng.permutation(N_CONDITIONS) for _ in range(N_CONDITIONS)]
        if case.size_z == 1:
            orders = [np.array([case.n_ys + 1 + k]) for k in range(N_CONDITIONS)]
        self.zs = [frozenset(order[: case.size_z].tolist()) for order in orders]
        self._next = cycle(self.zs)

    def choice(self, force: str = "") -> str:
        """The way of the first question; with a way forced, that way if it is possible."""
        _core.force(self.counts._store, force)
        return _core.way_of(self.counts._store, self.x, self.ys, self.zs[0])

    def choosing(self, rounds: int = 1000) -> float:
        """CPU seconds of choosing a way, without counting."""
        _core.force(self.counts._store, "")
        before = time.thread_time()
        _core.probe_choice(self.counts._store, self.x, self.ys, self.zs[0], rounds)
        return (time.thread_time() - before) / rounds

    def seconds(self, way: str, n_questions: int) -> float:
        """CPU seconds of one question, asked this way."""
        _core.force(self.counts._store, way)
        zs = list(islice(self._next, n_questions))
        before = time.thread_time()
        self.counts.reduce_many(COUNTING, [self.x] * n_questions, [self.ys] * n_questions, zs)
        return (time.thread_time() - before) / n_questions


def in_turns(questions: Questions, ways: Iterable[str], chosen: str, n_turns: int) -> dict[str, list[float]]:
    """Return seconds of each way in short turns; ways that are three times slower are given up after six."""
    first = {way: questions.seconds(way, 2) for way in ways}  # may build something
    batch = {way: 1 + int(2e-4 / min(first[way], questions.seconds(way, 2))) for way in ways}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(n_turns):
        best = min(min(found, default=np.inf) for found in taken.values())
        for way, found in taken.items():
            if turn < 6 or way == chosen or min(found) < 3 * best:
                found.append(questions.seconds(way, batch[way]))
    return taken


@case("plan", ys=(6,), rows=(300,), given=(0, 2), n_turns=6)
def plan(
    ys: tuple[int, ...] = (6, 64, 500),
    rows: tuple[int, ...] = (1000, 8000),
    given: tuple[int, ...] = (0, 1, 2, 3, 4, 6, 8),
    n_turns: int = 60,
) -> Lines:
    """The way of counting that the cost model chooses, beside every other way, forced: the ratio to the best.

    The ratio is the median over turns. MNLEARN_CORE=avx2 takes another code path.
    """
    ratios, choosing = [], []
    for card, n_ys, n_rows, size_z in product((2, 4), ys, rows, given):
        if card == 4 and (n_ys == 64 or size_z > 3):
            continue
        questions = Questions(Question(n_ys, n_rows, size_z, card))
        chosen = questions.choice()
        taken = in_turns(questions, [way for way in WAYS if questions.choice(way) == way], chosen, n_turns)
        relative = {way: float(np.median(np.array(t) / taken[chosen][: len(t)])) for way, t in taken.items()}
        best = min(relative, key=relative.__getitem__)
        ratios.append(1 / relative[best])
        choosing.append(questions.choosing())
        shown = " ".join(f"{way} {1e6 * np.quantile(found, 0.2):.1f}" for way, found in taken.items())
        where = {"ys": n_ys, "rows": n_rows, "given": size_z, "states": card}
        yield {**where, "ratio": ratios[-1], "chosen": chosen, "best": best, "µs of each": shown}
    within = float(np.mean(np.array(ratios) <= 1.25))
    yield f"within 25 % of the best: {within:.1%}, worst {max(ratios):.2f}; choosing {1e6 * np.median(choosing):.2f} µs"


ONCE: tuple[str, ...] = ("strata", "strata_row", "strata_set", "key_row", "key_set", "listed_row", "bitset_row")
ONCE += ("bitset_word", "cell", "alone", "alone_y", "alone_row", "alone_cell")  # one constant for all code paths
COMMON = ("a scan", "a y")  # what all ways have in common: part of every time, but not of the model


class Time(NamedTuple):
    """One way of one case: how much of each constant it needs, and what it took as a ratio to the yardstick."""

    path: str
    needs: dict[str, float]
    ratio: float
    weight: float  # of a relative error


def grid() -> Iterator[Question]:
    """Yield cases that `plan` does not judge, from one candidate to three blocks of columns."""
    for n_ys, n_rows, size_z in product(
        (1, 3, 10, 24, 40, 100, 300, 800), (500, 2500, 7000, 15_000), (0, 1, 2, 3, 5, 7)
    ):
        yield Question(n_ys, n_rows, size_z, 2)
    yield from (Question(n_ys, 30_000, size_z, 2) for n_ys, size_z in product((20, 200, 700), (1, 3, 5)))
    yield from (Question(1500, n_rows, size_z, 2) for n_rows, size_z in product((500, 2500, 5000), (1, 3, 5)))
    for card, sizes, given in ((3, (1, 4, 40, 200), (0, 1, 2, 3)), (5, (2, 8, 60), (0, 1, 2))):
        yield from (Question(*rest, card) for rest in product(sizes, (500, 5000), given))


def times_of(path: str, cases: Iterable[Question], n_turns: int) -> Iterator[Time]:
    """Yield all cases and ways of one code path, each time between two of a scan that is always the same."""
    os.environ["MNLEARN_CORE"] = path
    names, yardstick = list(_core.cost_constants(path)), Questions(Question(100, 2000, 2, 2))
    for one in cases:
        questions, found = Questions(one), {}
        ways = [way for way in WAYS if questions.choice(way) == way]
        for way in [way for way in ways if way != "alone" or one.n_ys * one.n_rows < 2e6]:
            questions.seconds(way, 2)  # may build something
            batch = 1 + int(1.5e-4 / questions.seconds(way, 2))
            ratios = []
            for _ in range(n_turns):
                before = yardstick.seconds("sorted_columns", 6)
                taken, after = questions.seconds(way, batch), yardstick.seconds("sorted_columns", 6)
                ratios.append(2 * taken / (before + after))
            found[way] = float(np.median(ratios))
        asked = questions.counts._store, questions.x, questions.ys, questions.zs[0]
        for way, ratio in found.items():
            needs = {name: _core.costs_of(*asked, {name: 1.0})[way] for name in names}
            needs |= dict(zip(COMMON, (1.0, float(one.n_ys)), strict=True))
            slower = ratio / min(found.values())
            yield Time(path, needs, ratio, 3.0 if slower < 2 else 1.0 if slower < 5 else 0.3)


def fitted(
    needed: NDArray[np.float64], spent: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return non-negative constants; relative errors beyond 15 % count less and less, as noise does."""
    from scipy.optimize import nnls

    unsure = np.ones_like(spent)
    for _ in range(20):
        scale = weights * unsure / spent
        found, _ = nnls(needed * scale[:, None], spent * scale)
        unsure = np.minimum(1.0, 0.15 / np.maximum(np.abs(np.log(np.maximum(needed @ found, 1e-9) / spent)), 1e-9))
    return np.asarray(found)


@case("plan-fit", n_cases=2, n_turns=2)
def plan_fit(n_cases: int = 1000, n_turns: int = 12) -> Lines:
    """Fit the constants of the cost model on this machine, for native/scan/cost_constants.hpp.

    The model is linear in its constants: asked with one of them at 1 and the others at 0, it says how much of that part
    each way needs. The constants are the non-negative least-squares solution that explains all times at once.
    """
    before = os.environ.get("MNLEARN_CORE", "")
    levels = _core.levels()
    times = [time for path in levels for time in times_of(path, islice(grid(), n_cases), n_turns)]
    os.environ["MNLEARN_CORE"] = before
    yardstick = Questions(Question(100, 2000, 2, 2))
    unit = 1e9 * float(np.quantile([yardstick.seconds("sorted_columns", 6) for _ in range(200)], 0.1))

    def column(name: str, path: str) -> tuple[str, str]:
        return (name, "") if name in ONCE or name in COMMON else (name, path)

    unknown = list(dict.fromkeys(column(name, time.path) for time in times for name in time.needs))
    needed = np.array([[0.0] * len(unknown) for _ in times])
    for row, time_ in zip(needed, times, strict=True):
        for name, amount in time_.needs.items():
            row[unknown.index(column(name, time_.path))] = amount
    found = fitted(needed, unit * np.array([one.ratio for one in times]), np.array([one.weight for one in times]))
    values = dict(zip(unknown, found.tolist(), strict=True))
    for path in levels:
        constants = _core.cost_constants(path)
        yield {"code path": path, "constants": ", ".join(f".{c} = {values[column(c, path)]:.3g}" for c in constants)}
