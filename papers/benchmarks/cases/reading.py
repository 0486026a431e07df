"""Tables, files and packs: time over pyarrow's own readers, and memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mnlearn as mn
from harness import Lines, Row, case
from mnlearn.data import Dataset, pack, read
from mnlearn.statistics import Counts, kernels
from timing import cpu, fresh, memory, turns

STATES = 4
WORDS = np.array(["never", "no", "often", "yes"])

Codes = NDArray[Any]


def draw(n_rows: int, n_columns: int) -> Codes:
    """Return random codes."""
    return np.random.default_rng(0).integers(0, STATES, (n_rows, n_columns))


def sources() -> dict[str, Callable[[Codes], Any]]:
    """Return what makes each source in memory from codes."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    makers: dict[str, Callable[[Codes], Any]] = {
        "int": lambda own: own,
        "bool": lambda own: own > 1,
        "str": lambda own: WORDS[own],
        "object": lambda own: WORDS.astype(object)[own],
        "category": lambda own: pd.Categorical.from_codes(own, WORDS.tolist()),
        "dictionary": lambda own: pa.array(WORDS[own]).dictionary_encode(),
        "categorical": lambda own: pl.Series(WORDS[own]).cast(pl.Categorical),
    }
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    kinds = {"pandas": ("category", "object"), "polars": ("categorical",), "arrow": ("dictionary",)}

    def table(program: str, kind: str, codes: Codes) -> Any:
        own = {f"v{j}": makers[kind](column) for j, column in enumerate(np.ascontiguousarray(codes.T))}
        return frames[program](own, dtype=object) if kind == "object" else frames[program](own)

    return {
        "numpy int64, by rows": lambda codes: codes,
        "numpy int64, by columns": np.asfortranarray,
        "numpy int8, by rows": lambda codes: codes.astype(np.int8),
        **{
            f"{program} {kind}": partial(table, program, kind)
            for program in frames
            for kind in ("int", "bool", "str", *kinds[program])
        },
    }


@case("reading", long=(200, 2), wide=(20, 20), array=(20, 100), files=(500,), repeats=1)
def reading(
    *,
    long: tuple[int, ...] = (400_000, 5),
    wide: tuple[int, ...] = (20, 4000),
    array: tuple[int, ...] = (2000, 100_000),
    files: tuple[int, ...] = (100_000, 2000),
    parts: tuple[str, ...] = ("frames", "files", "wide", "learn"),
    repeats: int = 3,
) -> Lines:
    """Reading of tables in memory and files, beside pyarrow; of a very wide table; as a part of learning.

    Tables: ns a value of a long one, µs a column between a wide one and half of it. Files have 50 columns at 100,000
    rows and 1,000 at others; the ratios are to pyarrow.csv.read_csv and pyarrow.parquet.read_table.
    """
    if "frames" in parts:
        yield from _frames(draw(*long), draw(*wide), repeats)
    if "files" in parts:
        with tempfile.TemporaryDirectory() as folder:
            for n_rows in files:
                shape = n_rows, 50 if n_rows == 100_000 else min(n_rows, 1000)
                for kind in ("str", "int"):
                    yield from _files(draw(*shape), kind, Path(folder), repeats)
    if "wide" in parts:
        codes = np.random.default_rng(0).integers(0, STATES, array, dtype=np.int8)
        frame = sources()["pandas int"](codes)
        yield {"step": "read a NumPy array of int8", "s": cpu(lambda: read(codes), repeats)[0]}
        wider = codes.astype(np.int64)
        yield {"step": "read a NumPy array of int64", "s": cpu(lambda: read(wider), repeats)[0]}
        seconds, data = cpu(lambda: read(frame), repeats)
        yield {"step": "read a pandas frame of int8", "s": seconds}
        yield {"step": "counts", "s": cpu(lambda: Counts(data, n_jobs=1), repeats)[0]}
    for n_columns, n_rows in ((64, 2000), (256, 1000)) if "learn" in parts else ():
        frame = sources()["pandas int"](draw(n_rows, n_columns) // 2)
        reading, learning = turns(partial(mn.read, frame), partial(mn.learn, frame, "mpl", n_jobs=1))
        yield {"learning by mpl": f"{n_columns} x {n_rows}", "ms": 1e3 * learning, "reading, ms": 1e3 * reading}


def _frames(long: Codes, wide: Codes, repeats: int) -> Iterator[Row]:
    """Every source in memory, beside the search for the distinct values of the same columns by pyarrow alone."""
    half, made = wide[:, : wide.shape[1] // 2], sources()
    for name, make in made.items():
        kind = "bool" if name.endswith("bool") else "int" if "int" in name else "str"
        seconds, most, least = (cpu(partial(read, make(codes)), repeats)[0] for codes in (long, wide, half))
        columns = made[f"arrow {kind}"](long).columns
        encode, _ = cpu(lambda columns=columns: [column.dictionary_encode() for column in columns], repeats)  # type: ignore[misc]
        each = {"ns a value": 1e9 * seconds / long.size, "µs a column": 1e6 * (most - least) / half.shape[1]}
        yield {"table": name, **each, "over pyarrow's values": seconds / encode}


def _files(codes: Codes, kind: str, folder: Path, repeats: int) -> Iterator[Row]:
    """A CSV and a Parquet file, over pyarrow's readers with as many threads."""
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    table, paths = sources()[f"arrow {kind}"](codes), (folder / "table.csv", folder / "table.parquet")
    pacsv.write_csv(table, paths[0], pacsv.WriteOptions(quoting_style="none"))
    pq.write_table(table, paths[1])
    for path, reader in zip(paths, (pacsv.read_csv, pq.read_table), strict=True):
        own, other = turns(partial(read, path), partial(reader, path), repeats=repeats)
        what = f"{path.suffix[1:]} of {kind}, {codes.shape[0]:,} x {codes.shape[1]:,}"
        yield {"file": what, "ns a value": 1e9 * own / codes.size, "over pyarrow": own / other}


def write_codes(path: Path, n_rows: int, n_columns: int) -> None:
    """Write random one-digit codes, a slice of rows at a time."""
    generator = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write((",".join(f"v{j}" for j in range(n_columns)) + "\n").encode())
        for start in range(0, n_rows, 50_000):
            cells = np.full((min(50_000, n_rows - start), 2 * n_columns), ord(","), dtype=np.uint8)
            cells[:, ::2] = generator.integers(0, STATES, (len(cells), n_columns)) + ord("0")
            cells[:, -1] = ord("\n")
            file.write(cells.tobytes())


def _read_once(reader: str, path: Path) -> tuple[float, float]:
    """Read a file in this process: CPU seconds, and peak memory in MB over what the libraries take."""
    import pyarrow.csv as pacsv

    work: Callable[[Path], object] = read if reader == "mnlearn" else pacsv.read_csv
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder, "tiny.csv")
        write_codes(tiny, 10, 2)
        work(tiny)  # imports all that is needed
    before = memory()
    seconds, _ = cpu(lambda: work(path), 1)
    return seconds, memory() - before


@case("reading-memory", rows=20_000, columns=20)
def reading_memory(rows: int = 1_000_000, columns: int = 100) -> Lines:
    """Peak memory and time of a CSV file, beside pyarrow; each in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_codes(path, rows, columns)
        for reader in ("mnlearn", "pyarrow"):
            seconds, peak = fresh(_read_once, reader, path)
            yield {"reader": reader, "s": seconds, "MB": peak, "peak over coded size": 1e6 * peak / (rows * columns)}


COLUMNS, CHUNK = 60, 500_000


def chunks(n_rows: int) -> Iterator[Any]:
    """Yield a chain of variables of 2 to 4 states: each copies the one before it in 60 % of the rows."""
    import pyarrow as pa

    rng, cards = np.random.default_rng(0), [2 + k % 3 for k in range(COLUMNS)]
    for start in range(0, n_rows, CHUNK):
        count = min(CHUNK, n_rows - start)
        columns = [rng.integers(0, cards[0], count, dtype=np.uint8)]
        for card in cards[1:]:
            fresh_codes = rng.integers(0, card, count, dtype=np.uint8)
            columns.append(np.where(rng.random(count, dtype=np.float32) < 0.6, columns[-1] % card, fresh_codes))
        yield pa.record_batch([pa.array(column) for column in columns], names=[f"v{k}" for k in range(COLUMNS)])


@case("packs", rows=3000, parts=("pack", "map", "learn"))
def packs(
    rows: int = 20_000_000, parts: tuple[str, ...] = ("pack", "map", "learn", "shards"), n_jobs: int = 2
) -> Lines:
    """Packing of 60 columns, scans from the map, learning from a pack, shards; ten minutes and 5 GB of disk.

    `--rows 1000000` gives the ratios in half a minute.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as name:
        source, out = Path(name, "t.parquet"), Path(name, "t.mnpack")
        writer = None
        for batch in chunks(rows):
            writer = writer or pq.ParquetWriter(source, batch.schema)
            writer.write_batch(batch)
        assert writer is not None
        writer.close()
        by_us, _ = cpu(partial(pack, source, out), 1)
        if "pack" in parts:
            by_arrow, _ = cpu(lambda: sum(b.num_rows for b in pq.ParquetFile(source).iter_batches(1 << 16)), 1)
            megabytes, values = source.stat().st_size / 1e6, rows * COLUMNS / 1e6
            size = {"MB": megabytes, "pack, MB": out.stat().st_size / 1e6, "MB/s": megabytes / by_us}
            yield {
                "what": "packing Parquet",
                **size,
                "million values/s": values / by_us,
                "over pyarrow": by_us / by_arrow,
            }
            yield {"what": "opening the pack", "ms": 1e3 * cpu(partial(read, out))[0]}
            yield _packed_csv(Path(name), min(rows, 1_000_000))
        if "map" in parts:
            yield _mapped(out, Path(name), min(rows, 5_000_000))
        if "learn" in parts:
            seconds, wall, edges, peak = fresh(_learned, out, n_jobs)
            beyond = (1e6 * peak - out.stat().st_size) / 2**30
            yield {
                "what": "mpl from the pack",
                "s": seconds,
                "by the clock": wall,
                "edges": edges,
                "GiB beyond map": beyond,
            }
        if "shards" in parts:
            yield _sharded(out, rows)


def _packed_csv(folder: Path, rows: int) -> Row:
    """Packing a CSV file, over pyarrow's reader."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    text = folder / "t.csv"
    pacsv.write_csv(pa.Table.from_batches(list(chunks(rows))), text)
    by_us, by_arrow = turns(partial(pack, text, folder / "csv.mnpack"), partial(pacsv.read_csv, text), repeats=1)
    return {"what": "packing CSV", "rows": rows, "s": by_us, "over pyarrow": by_us / by_arrow}


def _mapped(out: Path, folder: Path, rows: int) -> Row:
    """Scans given none to four variables, from the warm map over the same rows in memory."""
    data = read(out)
    part = Dataset(data.names, data.cards, tuple(c[:rows].copy() for c in data.columns), data.levels)

    def scans(counts: Counts) -> None:
        for size in range(5):
            z = frozenset(range(1, 1 + size))
            counts.reduce(kernels.dirichlet(), 0, [y for y in range(COLUMNS) if y not in {0, *z}], z)

    several = (Counts(source, n_jobs=1) for source in (part, pack(part, folder / "few.mnpack")))
    in_memory, in_map = turns(*(partial(scans, counts) for counts in several), repeats=3)
    return {"what": "scans from the map", "rows": rows, "over memory": in_map / in_memory}


def _learned(out: Path, n_jobs: int) -> tuple[float, float, int, float]:
    """Learn from a pack by mpl: CPU seconds, those by the clock, edges and peak memory in MB."""
    start, wall = time.process_time(), time.perf_counter()
    found = mn.learn(out, "mpl", max_memory=1 << 29, n_jobs=n_jobs)
    return time.process_time() - start, time.perf_counter() - wall, found.graph.n_edges, memory()


def _sharded(out: Path, rows: int) -> Row:
    """Eight scans of all other variables on two workers of a Dask cluster, beside one worker with half of the rows."""
    import dask
    from distributed import Client, LocalCluster

    from mnlearn.statistics import ShardedCounts, row_shards

    xs, z = list(range(5, 13)), frozenset({0, 1, 2})
    yss = [[y for y in range(COLUMNS) if y not in {x, *z}] for x in xs]
    dask.config.set({"distributed.scheduler.reuse-broadcast-comm": True})  # halves the round trip of a scan
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local, Client(local) as client:  # type: ignore[no-untyped-call]
        wall = {}
        for n in (1, 2):
            counts = ShardedCounts(client, row_shards(read(out), 2)[:n])
            work = partial(counts.reduce_many, kernels.mi(), xs, yss, [z] * len(xs))
            work()
            times = []
            for _ in range(3):
                start = time.perf_counter()
                work()
                times.append(time.perf_counter() - start)
            wall[n] = min(times)
    return {
        "what": "scans of shards",
        "rows": rows,
        "by the clock": wall[2],
        "two workers over one": 2 * wall[1] / wall[2],
    }
