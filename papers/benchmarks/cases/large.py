"""Very many variables: searches among candidates, screens, and a GPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cases.learners import wrong
from harness import Lines, case
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.screening import Screening
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import ising
from mnlearn.distributions.sampling import sample_gibbs
from mnlearn.graphs import Graph, barabasi_albert, disjoint_union, grid, random_graph, star
from mnlearn.protocols import Result
from mnlearn.scores import MPL
from mnlearn.simulate import read_bif
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import supported_code_paths
from mnlearn.statistics.screens import ScreenRule
from timing import clock, cpu, memory

LEVELS = {"fast": Screening(rescans=False), "full": Screening()}
NEAR = 40  # parents are among so many variables before


class Drawn(NamedTuple):
    """A network and rows drawn from it."""

    name: str
    truth: Graph
    data: Dataset


def synthetic(n: int) -> Iterator[Drawn]:
    """Yield networks with about n variables."""
    side = round(n**0.5)
    graphs = {
        "Ising, degree 2": (random_graph(n, 2.0, 1), 1000),
        "Ising, degree 4": (random_graph(n, 4.0, 2), 1000),
        f"grid {side} x {side}": (grid(side, side), 1000),
        "scale-free, 2 links": (barabasi_albert(n, 2, 3), 1000),
        "hubs of 50": (disjoint_union([star(51)] * (n // 51)), 2000),
    }
    for name, (graph, n_rows) in graphs.items():
        rows = sample_gibbs(ising(graph, 0.4, 4).to_factors(), n_rows, seed=5)
        yield Drawn(f"{name}, {n_rows} rows", graph, _coded(rows.T))
    yield bayesian_network(n, 2000, most_parents=3, seed=6)
    yield bayesian_network(n, 5000, most_parents=5, seed=7)
    yield parities(n, 2000, seed=8)


def bayesian_network(n: int, n_rows: int, *, most_parents: int, seed: int) -> Drawn:
    """Draw binary variables with random tables, each with 0 to so many parents among the variables before."""
    rng = np.random.default_rng(seed)

    def parents_of(x: int) -> tuple[list[int], NDArray[np.float64]]:
        many = min(int(rng.integers(most_parents + 1)), x)
        parents = sorted((x - 1 - rng.choice(min(x, NEAR), many, replace=False)).tolist()) if many else []
        return parents, rng.uniform(0.1, 0.9, 2**many)

    return _family_by_family(f"Bayesian network, {most_parents} parents, {n_rows} rows", n, n_rows, rng, parents_of)


def few_parents(n: int, n_rows: int, seed: int) -> Drawn:
    """Draw binary variables with 0 to 2 parents among the variables before; tables with interaction."""
    rng = np.random.default_rng(seed)

    def parents_of(x: int) -> tuple[list[int], NDArray[np.float64]]:
        many = 0 if x < NEAR or rng.random() < 0.15 else 1 if rng.random() < 0.6 else 2
        parents = (x - 1 - rng.choice(NEAR, many, replace=False)).tolist()
        table = rng.uniform(0.1, 0.9, 2**many)
        if many == 1:
            table[0] = rng.uniform(0.22, 0.33) if rng.random() < 0.5 else rng.uniform(0.66, 0.78)
            table[1] = 1 - table[0]
        return parents, table

    return _family_by_family(f"Bayesian network, n = {n:,}", n, n_rows, rng, parents_of)


def _family_by_family(name: str, n: int, n_rows: int, rng: np.random.Generator, parents_of: Any) -> Drawn:
    """Draw each variable given its parents."""
    codes, edges = np.empty((n, n_rows), dtype=np.uint8), list[tuple[int, int]]()
    for x in range(n):
        parents, table = parents_of(x)
        state = np.zeros(n_rows, dtype=np.intp)
        for parent in parents:
            state = 2 * state + codes[parent]
        codes[x] = rng.random(n_rows, dtype=np.float32) < table[state]
        family = [*parents, x]
        edges += [(u, v) for k, v in enumerate(family) for u in family[:k]]
    return Drawn(name, Graph(n, edges), _coded(codes))


def parities(n: int, n_rows: int, *, seed: int) -> Drawn:
    """Draw triples: two biased coins, and their parity with noise."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, n_rows)) < rng.uniform(0.2, 0.4, (n, 1))).astype(np.uint8)
    triples = range(0, n - 2, 3)
    for x in triples:
        codes[x + 2] = codes[x] ^ codes[x + 1] ^ (rng.random(n_rows) < 0.1)
    edges = [pair for x in triples for pair in ((x, x + 1), (x, x + 2), (x + 1, x + 2))]
    return Drawn(f"parity of biased coins, {n_rows} rows", Graph(n, edges), _coded(codes))


def _coded(codes: NDArray[Any]) -> Dataset:
    return Dataset.from_codes(list(codes), cards=[2] * len(codes))


def learned(data: Dataset, level: str = "") -> tuple[float, Result]:
    """Return the CPU seconds and the result of a search by mpl, over all pairs without a level."""
    return cpu(partial(TwoPhase(candidates=LEVELS[level] if level else None).learn, MPL(Counts(data, n_jobs=1))), 1)


def recall(found: Graph, whole: Graph) -> float:
    """Return the share of the edges of one graph that the other has, in percent."""
    return 100 * sum(edge in found for edge in whole.edges) / max(1, whole.n_edges)


@case("candidates", n=60)
def candidates(n: int = 1000, networks: Path | None = None) -> Lines:
    """The two-phase search by mpl among candidates, beside that over all pairs: recall and distance to the truth.

    "fast" is a screen and neighbours of neighbours, "full" also scans all variables given the first member and given
    the blanket. Recall is in percent of the OR graph, in brackets of the final graph. `--networks` is a folder of BIF
    files.
    """
    drawn = synthetic(n)
    if networks is not None:
        files = sorted([*networks.glob("*.bif"), *networks.glob("*.bif.gz")], key=lambda file: file.stat().st_size)
        read = ((file.name.split(".")[0], read_bif(file)) for file in files)
        drawn = (Drawn(name, b.moral_graph(), b.sample(2000, seed=9)) for name, b in read if b.n_variables >= 20)
    for name, truth, data in drawn:
        found = {level: learned(data, level) for level in ("", *LEVELS)}
        whole, row = found[""][1], {"network": name, "n": truth.n_variables}
        for level in LEVELS:
            one = found[level][1]
            row[level] = f"{recall(one.stages['or'], whole.stages['or']):.1f} ({recall(one.graph, whole.graph):.1f})"
        row["distance, all / fast / full"] = " / ".join(str(wrong(one.graph, truth)) for _, one in found.values())
        yield {**row, "s, all / fast / full": " / ".join(f"{seconds:.2f}" for seconds, _ in found.values())}


@case("candidates-growth", sizes=(60,))
def candidates_growth(sizes: tuple[int, ...] = (1000, 10_000, 100_000), all_pairs: int = 10_000) -> Lines:
    """Time, memory and recall of mpl among candidates for many variables; up to 10,000 beside all pairs."""
    for n in sizes:
        drawn, found = few_parents(n, 2000, seed=977 + n), {}
        for level, screening in LEVELS.items():
            screen, _ = cpu(partial(MPL(Counts(drawn.data, n_jobs=1)).strongest, screening.k), 1)
            seconds, found[level] = learned(drawn.data, level)
            one, row = found[level], {"n": n, "level": level, "screen, s": screen, "in all, s": seconds}
            row |= {"pairs": int(one.cost["candidate_pairs"]), "edges": one.graph.n_edges}
            yield {**row, "wrong": wrong(one.graph, drawn.truth), "MB": memory()}
        if n <= all_pairs:
            seconds, whole = learned(drawn.data)
            recalls = {f"recall {level}": recall(one.graph, whole.graph) for level, one in found.items()}
            yield {"all pairs": n, "s": seconds, **recalls}


def columns(kind: str, n: int, n_rows: int) -> Iterator[NDArray[np.uint8]]:
    """Yield columns, every second dependent on the one before; correlated ones also share one of 50 causes."""
    rng = np.random.default_rng([n, n_rows])
    causes, before = rng.random((50, n_rows)) < 0.5, np.zeros(n_rows, dtype=np.uint8)
    for v in range(n):
        share = rng.uniform(0.25, 0.5)
        column = (rng.random(n_rows, dtype=np.float32) < share).astype(np.uint8)
        if kind == "ternary":
            column += rng.random(n_rows, dtype=np.float32) < share
        if kind == "correlated":
            column = np.where(rng.random(n_rows, dtype=np.float32) < 0.4, causes[v % 50], column).astype(np.uint8)
        if v % 2:
            column = np.where(rng.random(n_rows, dtype=np.float32) < 0.4, before, column).astype(np.uint8)
        before = column
        yield column


@case("screening", n=300, rows=200)
def screening(
    n: int = 20_000,
    rows: int = 2000,
    kinds: tuple[str, ...] = ("binary", "correlated", "ternary"),
    paths: tuple[str, ...] = ("",),
    threads: int = 1,
) -> Lines:
    """Screens of all pairs, beside the same loop that only counts; ns a pair.

    They take turns, block by block. The whole includes bit-planes and lists. `--paths avx2` takes another code path.
    """
    for path in paths:
        os.environ["MNLEARN_CORE"] = path or supported_code_paths()[0]
        for kind in kinds:
            counts = Counts(Dataset.from_codes(list(columns(kind, n, rows))), n_jobs=threads)
            whole, scan = cpu(partial(counts.pair_scan, ScreenRule(k=20)), 1)
            bare = screen = 0.0
            step = 256 if n > 50_000 else 1024
            for first in range(0, scan.pairs.size, step):
                block = first, min(first + step, scan.pairs.size), threads
                bare += cpu(partial(scan.pairs.probe, *block), 1)[0]
                screen += cpu(partial(scan.pairs.scan, *block), 1)[0]
            whole += screen + cpu(scan.lists.lists, 1)[0]
            pairs = n * (n - 1) / 2
            row = {"kind": kind, "n": n, "path": counts.code_path, "counting, ns": 1e9 * bare / pairs, "s": screen}
            row |= {"screen over counting": screen / bare, "whole over counting": whole / bare}
            yield {**row, "scored, %": 100 * scan.pairs.n_scored / pairs, "MB": memory()}


def planes(n: int, n_rows: int) -> NDArray[np.uint64]:
    """Return random bits, every second variable dependent on the one before; n a multiple of 8, n_rows of 64."""
    rng = np.random.default_rng(n)
    found = rng.integers(0, 2**64, size=(n // 8, n_rows // 64, 8), dtype=np.uint64)
    flips = rng.integers(0, 2**64, size=(2, n // 8, n_rows // 64, 4), dtype=np.uint64)
    found[:, :, 1::2] = found[:, :, 0::2] ^ (flips[0] & flips[1])
    return found


def unpacked(bits: NDArray[np.uint64]) -> Dataset:
    """Return the variables of planes as a data set."""
    rows = bits.transpose(0, 2, 1).reshape(8 * len(bits), -1).copy().view(np.uint8)
    return _coded(1 - np.unpackbits(rows, axis=1, bitorder="little"))


def _searched(make: Any, data: Dataset) -> Result:
    """Search by mpl among screened candidates."""
    return TwoPhase(candidates=Screening()).learn(MPL(make(data)))


@case("device", needs=["torch"], device="cpu", sizes=(256,), rows=(640,))
def device(
    device: str = "cuda",
    sizes: tuple[int, ...] = (10_240, 102_400, 1_048_576),
    rows: tuple[int, ...] = (100_352, 2048, 2048),
    parts: tuple[str, ...] = ("screen", "mpl"),
) -> Lines:
    """A GPU beside the core on all threads: screens of all pairs, and whole searches by mpl; seconds by the clock.

    "Inside" is the kernel alone, "in all" upload, kernel and download, "scored" the whole screen with exact scores.
    Both find the same pairs and the same networks.
    """
    from mnlearn.statistics.gpu import DeviceCounts
    from mnlearn.statistics.gpu_device import DeviceBits
    from mnlearn.statistics.gpu_pairs import PairFilter

    for n, n_rows in zip(sizes, rows, strict=True) if "screen" in parts else ():
        source, few = planes(n, n_rows), n * n_rows <= 500_000_000
        bars, most = np.full(n, ScreenRule(k=20).floor(n, n_rows), dtype=np.float32), 8 * 20 * n
        size: Any = {"n_variables": n, "n_rows": n_rows, "device": device}
        bits = DeviceBits(source, **size)
        pairs, ((_, block),) = PairFilter(bits), bits.blocks(range(bits.n_padded), rare=True)
        limits = pairs._limits(bars)

        def inside(
            pairs: Any = pairs, block: Any = block, limits: Any = limits, most: int = most, bits: Any = bits
        ) -> None:
            pairs._passing(block, block, (0, 0), limits, most)
            if bits.device.type == "cuda":
                bits.torch.cuda.synchronize()

        def in_all(source: Any = source, size: Any = size, n: int = n, bars: Any = bars, most: int = most) -> Any:
            return PairFilter(DeviceBits(source, **size)).survivors(range(n), bars, most)

        times = [min(clock(work)[0] for _ in range(4 if n < 200_000 else 2)) for work in (inside, in_all)]
        row = {"screen": f"{n:,} x {n_rows:,}", "inside, s": times[0], "in all, s": times[1], "pass": len(in_all().xs)}
        if few:
            data = unpacked(source)
            row["scored, s"], one = clock(DeviceCounts(data, device=device).screen)
            row["core, s"], other = clock(Counts(data).screen)
            assert np.array_equal(one.partners, other.partners)
        yield row
    for n in [n for n in sizes if n <= 102_400] if "mpl" in parts else ():
        data = few_parents(n, 2048, seed=3).data
        for name, make in (("device", partial(DeviceCounts, device=device)), ("core", Counts)):
            if name == "device" or n <= 10_240:
                seconds, found = clock(partial(_searched, make, data))
                yield {"mpl": f"{n:,} x 2,048", "on": name, "s": seconds, "edges": found.graph.n_edges}
