"""A GPU beside the core: screens of all pairs, growing rounds, and whole searches by mpl.

    python benchmarks/device.py                       all parts, on "cuda"
    python benchmarks/device.py --parts screen mpl    some of them
    python benchmarks/device.py --device cpu --small  the torch code on the processor, at small sizes

"Inside" is the time of the kernel alone, "in all" that of upload, kernel and download of the pairs that pass the filter
of the kernel, "scored" that of the whole screen with the scores of the core. Wall-clock seconds; the core uses all
threads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candidates import few_parents
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.screening import Screening
from mnlearn.data.dataset import Dataset
from mnlearn.scores import MPL
from mnlearn.statistics import Counts
from mnlearn.statistics.gpu import DeviceCounts
from mnlearn.statistics.gpu_device import DeviceBits
from mnlearn.statistics.gpu_pairs import PairFilter, improving
from mnlearn.statistics.screens import ScreenRule

K = 20
LARGE = ((10_240, 100_352), (102_400, 2_048), (1_048_576, 2_048))
SMALL = ((1_024, 2_048),)
FEW = 200_000  # variables: up to here the whole data set is made, and the core runs beside the device


def planes(n: int, n_rows: int) -> NDArray[np.uint64]:
    """Return random bits, every second variable dependent on the one before; n a multiple of 8, n_rows of 64."""
    rng = np.random.default_rng(n)
    found = rng.integers(0, 2**64, size=(n // 8, n_rows // 64, 8), dtype=np.uint64)
    flips = rng.integers(0, 2**64, size=(2, n // 8, n_rows // 64, 4), dtype=np.uint64)
    found[:, :, 1::2] = found[:, :, 0::2] ^ (flips[0] & flips[1])
    return found


def dataset(n: int, n_rows: int) -> Dataset:
    """Return the variables of `planes` as a data set."""
    rows = planes(n, n_rows).transpose(0, 2, 1).reshape(n, -1).copy().view(np.uint8)
    return Dataset.from_codes(list(1 - np.unpackbits(rows, axis=1, bitorder="little")), cards=[2] * n)


def timed(bits: DeviceBits | None, call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least time of some calls after a first one, and the last result."""
    times, result = [], call()
    for _ in range(repeats):
        start = perf_counter()
        result = call()
        if bits is not None and bits.device.type == "cuda":
            bits.torch.cuda.synchronize()
        times.append(perf_counter() - start)
    return min(times), result


def screens(device: str, sizes: tuple[tuple[int, int], ...]) -> None:
    """Print the times of screens."""
    print(f"{'variables':>10} {'rows':>8} {'inside':>9} {'in all':>9} {'scored':>9} {'core':>9}  pairs that pass")
    for n, n_rows in sizes:
        source = planes(n, n_rows)
        bars = np.full(n, ScreenRule(k=K).floor(n, n_rows), dtype=np.float32)
        size: Any = {"n_variables": n, "n_rows": n_rows, "device": device}
        bits = DeviceBits(source, **size)
        pairs = PairFilter(bits)
        limits = pairs._limits(bars)
        ((_, whole),) = bits.blocks(range(bits.n_padded), rare=True)
        inside, _ = timed(bits, lambda: pairs._passing(whole, whole, (0, 0), limits, 8 * K * n), 3 if n < FEW else 1)  # noqa: B023
        in_all, found = timed(
            None,
            lambda: PairFilter(DeviceBits(source, **size)).survivors(range(n), bars, 8 * K * n),  # noqa: B023
            3 if n < FEW else 1,
        )
        scored = core = float("nan")
        if n * n_rows <= FEW * 2_048:
            data = dataset(n, n_rows)
            plain = Counts(data)
            scored, one = timed(None, DeviceCounts(data, device=device).screen, 1)
            core, other = timed(None, plain.screen, 1)
            assert np.array_equal(one.partners, other.partners)
            assert np.array_equal(one.evidence, other.evidence)
        print(
            f"{n:10,} {n_rows:8,} {inside:7.4f} s {in_all:7.4f} s {scored:7.3f} s {core:7.3f} s  {len(found.xs):,}",
            flush=True,
        )


def rounds(device: str, sizes: tuple[tuple[int, int], ...]) -> None:
    """Print the times of growing rounds of all variables."""
    n, n_rows = sizes[-1] if sizes is SMALL else sizes[1]
    bits = DeviceBits(planes(n, n_rows), n_variables=n, n_rows=n_rows, device=device)
    xs, bars = np.arange(n, dtype=np.int32), np.full(n, -n_rows * np.log(2))
    for size in (0, 1, 2, 4):
        blankets = np.stack([(xs + 7 * j + 2) % n for j in range(size)], axis=1) if size else np.empty((n, 0), np.int32)
        seconds, (_, ys) = timed(bits, lambda: improving(bits, xs, blankets, bars + 2.0 * size, 0.5), 1)  # noqa: B023
        print(f"growing round, n = {n:,}, blankets of {size}: {seconds:6.2f} s, {len(ys):,} pairs pass", flush=True)


def searches(device: str, sizes: tuple[tuple[int, int], ...]) -> None:
    """Print the times of whole searches by mpl, with scans given blankets."""
    for n in (1_024,) if sizes is SMALL else (10_240, 102_400):
        data = few_parents(n, 2_048, seed=3).data
        found = {}
        for name in (device, "core"):
            start = perf_counter()
            counts = Counts(data) if name == "core" else DeviceCounts(data, device=name)
            found[name] = TwoPhase(candidates=Screening()).learn(MPL(counts))
            seconds, edges = perf_counter() - start, found[name].graph.n_edges
            print(f"mpl, n = {n:,} x 2,048, {name}: {seconds:6.2f} s, {edges:,} edges", flush=True)
        assert len({(result.graph, tuple(result.support.items())) for result in found.values()}) == 1


PARTS: dict[str, Callable[[str, tuple[tuple[int, int], ...]], None]] = {
    "screen": screens,
    "rounds": rounds,
    "mpl": searches,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="small sizes")
    given = parser.parse_args()
    for part in given.parts:
        PARTS[part](given.device, SMALL if given.small else LARGE)


if __name__ == "__main__":
    main()
