"""Fits the constants of the cost model on this machine, for all code paths: native/scan/cost_constants.hpp.

    python benchmarks/plan_fit.py

Every way of counting that is possible is timed on a grid of its own, none of whose cases `plan.py` judges. The model is
linear in its constants: asked with one of them at 1 and the others at 0, it says how much of that part each way needs.
So the constants are the non-negative least-squares solution that explains all times at once, by relative errors; ways
that are far from the best count less, and so do times that the others contradict. What is compiled once has one
constant for all code paths. A constant that comes out as 0 takes too little to be seen.

Shared machines run slow for seconds at a time. So each time is a ratio to that of a yardstick, a scan of its own, right
before and after it: the median over several turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from mnlearn import _core
from plan import WAYS, Case, Questions

TURNS, SAMPLE = 12, 1.5e-4
DEAR = 2e6  # rows times candidates, one by one
ONCE: tuple[str, ...] = ("strata", "strata_row", "strata_set", "key_row", "key_set", "listed_row", "bitset_row")
ONCE += ("bitset_word", "cell", "alone", "alone_y", "alone_row", "alone_cell")
COMMON = ("a scan", "a y")  # what all ways have in common: part of every time, but not of the model


class Time(NamedTuple):
    """One way of one case: how much of each constant it needs, and what it took."""

    path: str
    needs: dict[str, float]
    nanoseconds: float
    weight: float  # of a relative error


def cases() -> Iterator[Case]:
    """From one candidate to three blocks of columns, up to lists strung together and rows far away."""
    sizes, rows = (1, 3, 10, 24, 40, 100, 300, 800), (500, 2_500, 7_000, 15_000)
    for n_ys, n_rows, size_z in product(sizes, rows, (0, 1, 2, 3, 5, 7)):
        yield Case(n_ys, n_rows, size_z, 2)
    for n_ys, n_rows, size_z in product((20, 200, 700), (30_000,), (1, 3, 5)):
        yield Case(n_ys, n_rows, size_z, 2)
    for n_ys, n_rows, size_z in product((1500,), (500, 2_500, 5_000), (1, 3, 5)):
        yield Case(n_ys, n_rows, size_z, 2)
    for n_ys, n_rows, size_z in product((1, 4, 40, 200), (500, 5_000), (0, 1, 2, 3)):
        yield Case(n_ys, n_rows, size_z, 3)
    for n_ys, n_rows, size_z in product((2, 8, 60), (500, 5_000), (0, 1, 2)):
        yield Case(n_ys, n_rows, size_z, 5)


def too_dear(case: Case, way: str) -> bool:
    """Whether a way takes so long that it cannot be the best."""
    each = case.n_ys * case.n_rows
    return way == "alone" and each > DEAR


class Yardstick:
    """A scan that is always the same, whatever the code path."""

    def __init__(self) -> None:
        self._questions = Questions(Case(100, 2_000, 2, 2))
        self.seen: list[float] = []

    def seconds(self) -> float:
        """How long it takes at the moment."""
        self.seen.append(self._questions.seconds("sorted_columns", 6))
        return self.seen[-1]


def ratios(questions: Questions, ways: list[str], yardstick: Yardstick) -> dict[str, float]:
    """How many times as long as the yardstick each way takes."""
    for way in ways:
        questions.seconds(way, 2)  # may build something
    batch = {way: 1 + int(SAMPLE / questions.seconds(way, 2)) for way in ways}
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(TURNS):
        before = yardstick.seconds()
        for way in ways:
            taken, after = questions.seconds(way, batch[way]), yardstick.seconds()
            found[way].append(2 * taken / (before + after))
            before = after
    return {way: float(np.median(values)) for way, values in found.items()}


def needs(questions: Questions, way: str, names: list[str]) -> dict[str, float]:
    """How much of each constant a way needs."""
    asked = questions.counts._store, questions.x, questions.ys, questions.zs[0]
    amounts = {name: _core.costs_of(*asked, {name: 1.0})[way] for name in names}
    return amounts | dict(zip(COMMON, (1.0, float(len(questions.ys))), strict=True))


def measure(path: str, yardstick: Yardstick) -> Iterator[Time]:
    """All cases and ways of one code path; nanoseconds still as ratios."""
    os.environ["MNLEARN_CORE"] = path
    names = list(_core.cost_constants(path))
    for case in cases():
        questions = Questions(case)
        ways = [way for way in WAYS if questions.choice(way) == way and not too_dear(case, way)]
        times = ratios(questions, ways, yardstick)
        best = min(times.values())
        for way, ratio in times.items():
            weight = 3.0 if ratio < 2 * best else 1.0 if ratio < 5 * best else 0.3
            yield Time(path, needs(questions, way, names), ratio, weight)


def fit(needed: NDArray[np.float64], spent: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The constants: relative errors beyond 15 % count less and less, as noise does."""
    unsure = np.ones_like(spent)
    for _ in range(20):
        scale = weights * unsure / spent
        found, _ = nnls(needed * scale[:, None], spent * scale)
        unsure = np.minimum(1.0, 0.15 / np.maximum(np.abs(np.log(needed @ found / spent)), 1e-9))
    return np.asarray(found)


def column_of(name: str, path: str) -> tuple[str, str]:
    """Which unknown it is: that of a code path, or one for all."""
    return (name, "") if name in ONCE or name in COMMON else (name, path)


def main() -> None:
    """Print the constants of each code path, and how well they explain the times."""
    yardstick = Yardstick()
    times = [time for path in _core.levels() for time in measure(path, yardstick)]
    unit = 1e9 * float(np.quantile(yardstick.seen, 0.1))
    unknown = list(dict.fromkeys(column_of(name, time.path) for time in times for name in time.needs))
    needed = np.zeros((len(times), len(unknown)))
    for row, time in zip(needed, times, strict=True):
        for name, amount in time.needs.items():
            row[unknown.index(column_of(name, time.path))] = amount
    spent = unit * np.array([time.nanoseconds for time in times])
    found = fit(needed, spent, np.array([time.weight for time in times]))
    values = dict(zip(unknown, found.tolist(), strict=True))
    for path in _core.levels():
        own = [k for k, time in enumerate(times) if time.path == path]
        off = np.quantile((needed @ found / spent)[own], (0.05, 0.25, 0.5, 0.75, 0.95))
        print(f"// {path}: {len(own)} times, explained to {', '.join(f'{share:.2f}' for share in off)} (5 % to 95 %)")
        for name in _core.cost_constants(path):
            print(f"    .{name} = {float(f'{values[column_of(name, path)]:.3g}'):g},")


if __name__ == "__main__":
    main()
