"""Questions about blankets: every member from one table, many scans in one call, against asking one by one.

    python benchmarks/blankets.py [--kernel bayes]

Random binary data, one thread, thread CPU time, the 20 % quantile of repeated runs. `single` asks `Counts.reduce` once
for each member, or once for each scan of six y; the ratio is what the batched form saves. Both give the same bits, and
the run checks it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import thread_time

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import FloatArray, Kernel, VarSet
from mnlearn.statistics import Counts, kernels

CASES = ((75, 20_000), (512, 8_000), (1176, 1_000))
SIZES = (1, 2, 4, 6, 8, 10, 12)
QUESTIONS = 24


def cpu_time(work: Callable[[], object], budget: float = 0.2) -> float:
    """Seconds of CPU, a low quantile."""
    work()
    samples: list[float] = []
    while len(samples) < 5 or sum(samples) < budget:
        before = thread_time()
        work()
        samples.append(thread_time() - before)
    return float(np.quantile(samples, 0.2))


def measure(counts: Counts, kernel: Kernel, size_z: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Microseconds a question: members one by one and together, scans one by one and together."""
    orders = [rng.permutation(counts.n_variables).tolist() for _ in range(QUESTIONS)]
    xs, zs = [order[0] for order in orders], [frozenset[int](order[1 : 1 + size_z]) for order in orders]
    yss = [order[1 + size_z : 7 + size_z] for order in orders]

    def singly(x: int, z: VarSet) -> FloatArray:
        return np.hstack([counts.reduce(kernel, x, (y,), z - {y}) for y in sorted(z)])

    def members_singly() -> list[FloatArray]:
        return [singly(x, z) for x, z in zip(xs, zs, strict=True)]

    def scans_singly() -> list[FloatArray]:
        return [counts.reduce(kernel, x, ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]

    pairs = (
        (counts.members(kernel, xs, zs), members_singly()),
        (counts.reduce_many(kernel, xs, yss, zs), scans_singly()),
    )
    if any(a.tobytes() != b.tobytes() for one, other in pairs for a, b in zip(one, other, strict=True)):
        raise AssertionError("the two forms differ: the comparison is void")
    times = (
        cpu_time(members_singly),
        cpu_time(lambda: counts.members(kernel, xs, zs)),
        cpu_time(scans_singly),
        cpu_time(lambda: counts.reduce_many(kernel, xs, yss, zs)),
    )
    one, together, scan, many = (seconds / QUESTIONS * 1e6 for seconds in times)
    return one, together, scan, many


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="bayes", choices=["chi2", "g2", "mi", "bayes", "dirichlet", "entropy"])
    kernel: Kernel = getattr(kernels, parser.parse_args().kernel)()
    print(f"{'n':>5} {'N':>6} {'|Z|':>3}   {'members: single':>15} {'together':>9} {'ratio':>6}   ", end="")
    print(f"{'scans: single':>13} {'together':>9} {'ratio':>6}   (microseconds a question)")
    for n, n_rows in CASES:
        rng = np.random.default_rng(n)
        codes = rng.random((n, n_rows)) < rng.uniform(0.25, 0.75, (n, 1))
        counts = Counts(Dataset.from_codes(list(codes.astype(np.uint8)), cards=[2] * n), n_jobs=1)
        for size_z in SIZES:
            one, together, scan, many = measure(counts, kernel, size_z, rng)
            head = f"{n:>5} {n_rows:>6} {size_z:>3}   {one:>15.1f} {together:>9.1f} {one / together:>6.1f}   "
            print(f"{head}{scan:>13.1f} {many:>9.1f} {scan / many:>6.1f}", flush=True)


if __name__ == "__main__":
    main()
