"""The limits of counting and scoring, on this machine: `mnlearn bench`, and the rivals that need more packages.

    make bench        or        python benchmarks/limits.py [--json]

Adds to `mnlearn bench` a numba bit-plane loop and a numba row loop (the honest rivals), and measuring programs in C++
that only count and score, with no library around them, where the environment variable MNLEARN_PROTOTYPES or
../shared/perf/prototypes has them. CPU time of one thread, a low quantile of samples that take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import counting
from mnlearn_papers import speed
from mnlearn_papers.speed import Figure, cpu_times


@counting.numba.njit  # type: ignore[untyped-decorator]
def row_loop(stratum: NDArray[np.int64], y: NDArray[np.uint8], cells: NDArray[np.int64]) -> None:
    """The table of one y, row by row, the strata given."""
    cells[:] = 0
    for row in range(len(y)):
        cells[stratum[row] * 2 + y[row]] += 1


def all_pairs(n: int, n_rows: int) -> Figure:
    """Counting all pairs against the bit-plane loop."""
    data, pairs = speed.binary(n, n_rows), n * (n - 1) / 2
    counts, planes = speed.counts_of(data), counting.bits(data)
    few = min(n, max(1, 2_000_000 // (n_rows // 64 * n)) + 4)  # rows of the pair matrix that are timed
    out = np.zeros((few, n), dtype=np.int64)
    ours, loop = cpu_times(
        lambda: counts.reduce_all(speed.COUNTING), lambda: counting.plane_loop(planes[:few], planes, out)
    )
    what = f"all pairs, n={n}, N={n_rows}: counting"
    ratio = loop / (few * n) / (ours / pairs)
    return Figure(what, 1e9 * ours / pairs, "pair", "numba bit-planes", ratio, True, 1.5, 1.9)


def scan(n: int, n_rows: int, size_z: int) -> Iterator[Figure]:
    """Counting a scan against both numba loops."""
    data, fresh = speed.binary(n, n_rows), speed.fresh_questions(n, size_z)
    counts, stratum = speed.counts_of(data), speed.strata_of(data, size_z)
    sets = counting.bits(np.array([stratum == s for s in range(2 << size_z)], dtype=np.uint8))
    planes, cells = counting.bits(data[:64]), np.zeros(4 << size_z, dtype=np.int64)
    out = np.zeros((len(sets), len(planes)), dtype=np.int64)
    ours, rows, bits = cpu_times(
        lambda: counts.reduce(speed.COUNTING, *next(fresh)),
        lambda: row_loop(stratum, data[-1], cells),
        lambda: counting.plane_loop(sets, planes, out),
        sample=speed.LONG,
    )
    ours /= n - 1 - size_z
    figure = partial(Figure, f"scan, n={n}, N={n_rows}, |Z|={size_z}: counting", 1e9 * ours, "y")
    yield figure("numba row loop", rows / ours, faster=True, required=80.0, stretch=125.0)
    yield figure("numba bit-planes", bits / len(planes) / ours, faster=True)


def prototypes() -> Path | None:
    """Where the measuring programs are, if they are."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "perf" / "prototypes"
    place = Path(os.environ.get("MNLEARN_PROTOTYPES", beside))
    return place if (place / "algo.cpp").exists() and shutil.which("g++") else None


def proxies(place: Path) -> Iterator[Figure]:
    """Whole searches, counting and scoring only, against the program that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "algo"
        flags = ["-O3", "-march=native", "-std=c++20", "-fopenmp", "-pthread"]
        subprocess.run(["g++", *flags, str(place / "algo.cpp"), "-o", str(program)], check=True)
        printed = [subprocess.run([program], check=True, capture_output=True, text=True).stdout for _ in range(2)]
    ib = min(_milliseconds(text, r"n=1176 N=1000:.*?blanket 4:.*?whole run ([\d.]+) ms") for text in printed)
    mpl = min(_milliseconds(text, r"\|mb\|=4 [^:]*: (\d+) ms CPU one thread") for text in printed)
    for name in ("bayes", "dirichlet"):
        ours = speed.ibmap_proxy(speed.SCORES[name])
        what = f"IBMAP-HC proxy, n=1176, N=1000, blankets of 4, 2n flips: {name}"
        yield Figure(what, 1e9 * ours, "run", "prototype", 1e3 * ours / ib, False, 2.0, 1.0)
    ours = speed.mpl_proxy()
    what = "MPL phase 1, n=512, N=8000, blankets to 4: dirichlet"
    yield Figure(what, 1e9 * ours, "run", "prototype", 1e3 * ours / mpl, False, 2.0, 1.0)


def _milliseconds(text: str, pattern: str) -> float:
    found = re.search(pattern, text, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"the prototype's output must have a line like {pattern!r}; got {text!r}.")
    return float(found[1])


def measure() -> Iterator[Figure]:
    """All lines: ours, then those against peers."""
    yield from speed.measure()
    for n_rows in (1_000, 8_000, 100_000):
        yield all_pairs(1000, n_rows)
    for size_z in (2, 3, 4):
        yield from scan(512, 8_000, size_z)
    place = prototypes()
    if place is not None:
        yield from proxies(place)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    if parser.parse_args().json:
        print(json.dumps([figure.as_dict() for figure in measure()], indent=1))
        return
    for f in measure():
        ratio = "" if f.ratio is None else f"{f.ratio:.3g}x"
        asked = (
            "" if f.required is None else f"{'>=' if f.faster else '<='} {f.required:g} ({'yes' if f.holds else 'NO'})"
        )
        print(f"{f.what:72} {f.nanoseconds:>13.5g} ns/{f.per:13} {f.against:17} {ratio:>8}  {asked}", flush=True)
    if prototypes() is None:
        print("the prototypes are not here (or no g++): the proxies stand without their peer")


if __name__ == "__main__":
    main()
