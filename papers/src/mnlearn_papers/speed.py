"""Speed of counting and scoring on this machine, as ratios to its limits and to simple peers.

Absolute times do not carry over to another machine; ratios measured in one run do. Times are CPU time of the thread,
repeated, a low quantile: other work on the machine must not count, and a minimum would pick the clock's own mistakes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import Kernel, VarSet
from mnlearn.statistics import kernels
from mnlearn.statistics.counts import Counts

Question: TypeAlias = tuple[int, NDArray[np.int32], VarSet]  # x, ys, z
COUNTING = Kernel("first_cell", ("rows",))  # scores next to nothing, so its time is that of the counting
LONG = 2e-2  # seconds of a sample that has the caches to itself: after other work they fill again within a millisecond
SCORES: dict[str, Kernel] = {
    "chi2": kernels.chi2(),
    "g2": kernels.g2(),
    "bayes": kernels.bayes(),
    "dirichlet": kernels.dirichlet(),
    "entropy": kernels.entropy(),
}


@dataclass(frozen=True)
class Figure:
    """One measured line.

    `ratio` is ours over the ceiling where `faster` is False (1 is the best there is), the rival's time over ours where
    it is True.
    """

    what: str
    nanoseconds: float
    per: str
    against: str = ""
    ratio: float | None = None
    faster: bool = False
    required: float | None = None
    stretch: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the required ratio (or time, without a ratio) is reached; None when nothing is required."""
        if self.required is None:
            return None
        got = self.nanoseconds if self.ratio is None else self.ratio
        return got >= self.required if self.faster else got <= self.required

    def as_dict(self) -> dict[str, object]:
        """The figure as plain values, for JSON."""
        return {**asdict(self), "holds": self.holds}


def binary(n: int, n_rows: int) -> NDArray[np.uint8]:
    """Random binary data, one row for each variable."""
    rng = np.random.default_rng(n + n_rows)
    return (rng.random((n, n_rows)) < rng.uniform(0.25, 0.75, (n, 1))).astype(np.uint8)


def counts_of(data: NDArray[np.uint8], *, n_jobs: int = 1, path: str = "") -> Counts:
    """Counts over binary data, on one code path."""
    with _code_path(path):
        return Counts(Dataset.from_codes(list(data), cards=[2] * len(data)), n_jobs=n_jobs)


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Measure what needs nothing but this package, line by line."""
    path = kernels.supported_code_paths()[0]
    for n_rows in (1_000,) if quick else (1_000, 8_000, 100_000):
        yield from all_pairs(1000, n_rows, path)
    for size_z in (4,) if quick else (2, 3, 4):
        yield from scan(512, 8_000, size_z, path)
    yield from scoring(512, 1_000, 6)
    if quick:
        return
    yield from scoring(512, 1_000, 4)
    yield from scoring(512, 8_000, 4)
    yield Figure("IBMAP-HC proxy, n=1176, N=1000, blankets of 4, 2n flips: bayes", 1e9 * ibmap_proxy(), "run")
    yield Figure("MPL phase 1, n=512, N=8000, blankets to 4: dirichlet", 1e9 * mpl_proxy(), "run")
    yield from threads()
    yield from code_paths()


def all_pairs(n: int, n_rows: int, path: str) -> Iterator[Figure]:
    """Every pair without conditioning: against the popcount limit, a float32 Gram product and np.bincount."""
    what, data = f"all pairs, n={n}, N={n_rows}", binary(n, n_rows)
    counts, pairs, rounds = counts_of(data), n * (n - 1) / 2, 2000
    floats, index = data.astype(np.float32), data[0].astype(np.int64) * 2
    with _one_blas_thread():
        ours, scored, probe, gram, bincount = cpu_times(
            lambda: counts.reduce_all(COUNTING),
            lambda: counts.reduce_all(SCORES["g2"]),
            kernels.popcount_work(path, rounds),
            lambda: floats @ floats.T,
            lambda: np.bincount(index + data[1], minlength=4),
            sample=LONG,
        )
        after_others, _ = cpu_times(lambda: counts.reduce_all(COUNTING), lambda: floats @ floats.T)
    limit = probe / (rounds * kernels.PROBE_BITS) * n_rows * pairs
    counting = partial(Figure, f"{what}: counting", 1e9 * ours / pairs, "pair")
    yield counting("popcount limit", ours / limit, faster=False, required=1.4, stretch=1.2)
    yield counting("float32 Gram", gram / ours, faster=True, required=15.0, stretch=20.0)
    yield counting("np.bincount", bincount * pairs / ours, faster=True, required=1000.0, stretch=1800.0)
    against_limit = partial(Figure, against="popcount limit", ratio=after_others / limit)
    yield against_limit(f"{what}: counting once, after other work", 1e9 * after_others / pairs, "pair")
    yield Figure(f"{what}: with g2", 1e9 * scored / pairs, "pair", "np.bincount", bincount * pairs / scored, True)


def scan(n: int, n_rows: int, size_z: int, path: str) -> Iterator[Figure]:
    """One x, one z, every other y: against one load a row, and np.bincount with the strata for free."""
    what, data = f"scan, n={n}, N={n_rows}, |Z|={size_z}", binary(n, n_rows)
    counts, question, fresh = counts_of(data), first_question(n, size_z), fresh_questions(n, size_z)
    stratum = strata_of(data, size_z)
    ours, loads, bincount = cpu_times(
        lambda: counts.reduce(COUNTING, *next(fresh)),
        kernels.load_work(path, n_rows * -(-n // 512)),
        lambda: np.bincount(stratum * 2 + data[-1], minlength=4 << size_z),
        sample=LONG,
    )
    asked = len(question[1])
    counting = partial(Figure, f"{what}: counting", 1e9 * ours / asked, "y")
    yield counting("one load a row", ours / loads, faster=False, required=4.0, stretch=2.0)
    yield counting("np.bincount", bincount * asked / ours, faster=True, required=200.0, stretch=280.0)


def fresh_questions(n: int, size_z: int) -> Iterator[Question]:
    """Random x and z, for ever; so many that none of them is still kept when its turn comes again."""
    return cycle([_question(order, size_z) for order in _orders(n, 64)])


def first_question(n: int, size_z: int) -> Question:
    """The first variable, all others as y, given those right after the first."""
    return 0, np.arange(1 + size_z, n, dtype=np.int32), frozenset(range(1, 1 + size_z))


def strata_of(data: NDArray[np.uint8], size_z: int) -> NDArray[np.int64]:
    """The configuration of z and x in each row, as one number: what the rivals get for free."""
    stratum = np.zeros(data.shape[1], dtype=np.int64)
    for v in (*range(1, 1 + size_z), 0):
        stratum = stratum * 2 + data[v]
    return stratum


def scoring(n: int, n_rows: int, size_z: int) -> Iterator[Figure]:
    """Measure the time each score adds to counting, for one y in one stratum."""
    counts, question = counts_of(binary(n, n_rows)), first_question(n, size_z)
    strata = len(counts.tables(0, [n - 1], question[2]).strata)
    asked = len(question[1]) * strata
    what = f"scoring, n={n}, N={n_rows}, |Z|={size_z} ({n_rows / strata:.0f} rows a stratum)"
    works = [partial(counts.reduce, kernel, *question) for kernel in (COUNTING, *SCORES.values())]
    counting, *scored = cpu_times(*works)
    stretch = 0.5 if n_rows <= 16 * strata else None
    for name, seconds in zip(SCORES, scored, strict=True):
        nanoseconds = 1e9 * (seconds - counting) / asked
        yield Figure(f"{what}: {name}", nanoseconds, "y and stratum", required=2.5, stretch=stretch)


def ibmap_proxy(kernel: Kernel = SCORES["bayes"], *, n: int = 1176, n_rows: int = 1000, size_z: int = 4) -> float:
    """Seconds for all pairs and 2n flips, each of which asks two x with blankets of size_z about everyone else."""
    counts, drawn = counts_of(binary(n, n_rows)), _orders(n, 20)
    questions = [_question(order, size_z) for order in drawn]
    flips, pairs = cpu_times(
        lambda: [counts.reduce(kernel, *question) for question in questions], lambda: counts.reduce_all(kernel)
    )
    return pairs + 2 * 2 * n * flips / len(drawn)


def mpl_proxy(kernel: Kernel = SCORES["dirichlet"], *, n: int = 512, n_rows: int = 8000, largest: int = 4) -> float:
    """Seconds for every x to be asked about everyone else, given blankets of 0, 1, ... up to the largest."""
    counts, drawn = counts_of(binary(n, n_rows)), _orders(n, 20)
    questions = [_question(order, size_z) for order in drawn for size_z in range(largest + 1)]
    (spent,) = cpu_times(lambda: [counts.reduce(kernel, *question) for question in questions])
    return spent * n / len(drawn)


def _orders(n: int, how_many: int) -> list[NDArray[np.int32]]:
    """Random orders of the variables."""
    rng = np.random.default_rng(0)
    return [rng.permutation(n).astype(np.int32) for _ in range(how_many)]


def _question(order: NDArray[np.int32], size_z: int) -> Question:
    """x first, then z, then everyone else."""
    return int(order[0]), np.sort(order[1 + size_z :]), frozenset(order[1 : 1 + size_z].tolist())


def threads() -> Iterator[Figure]:
    """All pairs and many scans on two threads, by the clock: CPU time cannot show what a second thread gains.

    Beside each what two cores gain where threads need not share anything: two callers at once, each with the whole
    work for itself, and loops in registers. Two cores may share caches and a clock, also with strangers.
    """
    popcounts = partial(kernels.popcount_work, kernels.supported_code_paths()[0], 500_000)
    one, two = (counts_of(binary(1000, 8_000), n_jobs=n_jobs) for n_jobs in (1, 2))
    questions = [_question(order, 4) for order in _orders(1000, 100)]
    xs, yss, zs = (list(part) for part in zip(*questions, strict=True))
    asked: dict[str, Callable[[Counts], object]] = {
        "all pairs, n=1000, N=8000: g2, 2 threads": lambda counts: counts.reduce_all(SCORES["g2"]),
        "100 scans, n=1000, N=8000, |Z|=4: g2, 2 threads": lambda counts: counts.reduce_many(SCORES["g2"], xs, yss, zs),
    }
    for what, ask in asked.items():
        works = partial(ask, one), partial(ask, two), popcounts(n_threads=1), popcounts(n_threads=2)
        alone, together, single, double, callers = clock_times(
            *(partial(often, work) for work in works), partial(two_callers, partial(often, works[0]))
        )
        yield Figure(what, 1e9 * together / OFTEN, "run", "1 thread, clock", alone / together, True, 1.8, 1.95)
        for name, pair, of in (("two callers at once", callers, alone), ("bare popcounts", double, single)):
            per_run = 1e9 * pair / (2 * OFTEN)
            yield Figure(f"{what}: {name}", per_run, "run", "1 thread, clock", 2 * of / pair, True)


def code_paths() -> Iterator[Figure]:
    """The AVX2 path against the AVX-512 path, where the processor has both."""
    if not {"avx512", "avx2"} <= set(kernels.supported_code_paths()):
        return
    data, question = binary(1000, 8_000), first_question(1000, 4)
    wide, narrow = counts_of(data, path="avx512"), counts_of(data, path="avx2")
    asked: dict[str, Callable[[Counts], object]] = {
        "all pairs, n=1000, N=8000: g2": lambda counts: counts.reduce_all(SCORES["g2"]),
        "scan, n=1000, N=8000, |Z|=4: g2": lambda counts: counts.reduce(SCORES["g2"], *question),
    }
    for what, ask in asked.items():
        fast, slow = cpu_times(partial(ask, wide), partial(ask, narrow))
        yield Figure(f"{what}, AVX2", 1e9 * slow, "call", "AVX-512", slow / fast, False, 4.0, 3.0)


@contextmanager
def _code_path(name: str) -> Iterator[None]:
    """The environment with that code path named; "" for the fastest."""
    before = os.environ.get("MNLEARN_CORE")
    os.environ["MNLEARN_CORE"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["MNLEARN_CORE"]
        else:
            os.environ["MNLEARN_CORE"] = before


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Matrix products on one thread, as everything else here."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


# Times on a machine that others use too: works take turns, and low quantiles are looked at.


OFTEN = 4  # in a row, as a search asks


def cpu_times(*works: Callable[[], object], budget: float = 0.25, sample: float = 150e-6) -> list[float]:
    """Seconds of this thread's CPU for one call of each work: the 10 % quantile of samples of `sample` seconds or more.

    The works take turns, so that a slow spell of a shared machine hits all of them alike; in a long sample each has the
    caches to itself, as in a search that asks nothing else.
    """
    batches = [_batch(work, sample) for work in works]
    samples: list[list[float]] = [[] for _ in works]
    start = time.thread_time()
    while len(samples[0]) < 4 or time.thread_time() - start < budget * len(works):
        for work, batch, taken in zip(works, batches, samples, strict=True):
            before = time.thread_time()
            for _ in range(batch):
                work()
            taken.append((time.thread_time() - before) / batch)
    return [float(np.quantile(taken, 0.1, method="higher")) for taken in samples]


def _batch(work: Callable[[], object], sample: float) -> int:
    """Return the number of calls per sample; the first call is a warm-up."""
    work()
    before = time.thread_time()
    work()
    return max(1, int(sample / max(time.thread_time() - before, 1e-7)))


def clock_times(*works: Callable[[], object], turns: int = 30) -> list[float]:
    """Seconds by the clock for one call of each work, taking turns: the least of all turns.

    Other work on the machine makes runs longer, never shorter, and those of two threads more than those of one. So
    the ratio of two such times is a lower bound of what threads gain on an idle machine.
    """
    best = [float("inf")] * len(works)
    for turn in range(turns + 1):
        for k, work in enumerate(works):
            before = time.perf_counter()
            work()
            if turn:  # the first one may build something
                best[k] = min(best[k], time.perf_counter() - before)
    return best


def often(work: Callable[[], object]) -> None:
    """The work several times in a row."""
    for _ in range(OFTEN):
        work()


def two_callers(work: Callable[[], object]) -> None:
    """The work, and the same by another thread at the same time."""
    other = threading.Thread(target=work)
    other.start()
    work()
    other.join()
