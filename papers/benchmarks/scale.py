"""More rows than one likes to hold: packing, counting from the map, learning, shards; each as a ratio in the same run.

Run as a program: ``python benchmarks/scale.py [--rows N] [--part pack|kinds|map|learn|shards|all] [--folder DIR]``. The
table has 60 columns of 2 to 4 states, drawn in chunks from a chain of variables. Prints one JSON document per part. It
takes some ten minutes at 20 million rows and 5 GB of disk; ``--rows 1000000`` gives the ratios in half a minute.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from mnlearn.data import Dataset, pack, read
from mnlearn.statistics import Counts, ShardedCounts, kernels, row_shards

COLUMNS, CHUNK = 60, 500_000


def chunks(n_rows: int, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """A chain of variables: each copies the one before it in 60 % of the rows."""
    rng = np.random.default_rng(seed)
    cards = [2 + k % 3 for k in range(COLUMNS)]
    for start in range(0, n_rows, CHUNK):
        count = min(CHUNK, n_rows - start)
        columns = [rng.integers(0, cards[0], count, dtype=np.uint8)]
        for card in cards[1:]:
            fresh = rng.integers(0, card, count, dtype=np.uint8)
            columns.append(np.where(rng.random(count, dtype=np.float32) < 0.6, columns[-1] % card, fresh))
        yield pa.record_batch([pa.array(column) for column in columns], names=[f"v{k}" for k in range(COLUMNS)])


def write_parquet(path: Path, n_rows: int) -> None:
    """The table in Parquet, a row group for each chunk."""
    writer = None
    for batch in chunks(n_rows):
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def seconds(work: Callable[[], object]) -> float:
    """By the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds(work: Callable[[], object], times: int = 3) -> float:
    """Of processor time, the best of some runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def both_seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of processor time, which other programs do not lengthen."""
    begun = time.process_time()
    return seconds(work), time.process_time() - begun


def packing(folder: Path, n_rows: int) -> dict[str, float]:
    """How fast Parquet and CSV are packed, and how that compares with reading them by pyarrow alone."""
    source, text, out = folder / "t.parquet", folder / "t.csv", folder / "t.mnpack"
    if not source.exists():
        write_parquet(source, n_rows)
    clock, by_us = both_seconds(lambda: pack(source, out))
    _, by_arrow = both_seconds(lambda: sum(b.num_rows for b in pq.ParquetFile(source).iter_batches(1 << 16)))
    few = min(n_rows, 1_000_000)
    pacsv.write_csv(pa.Table.from_batches(list(chunks(few))), text)
    _, csv_by_us = both_seconds(lambda: pack(text, folder / "csv.mnpack"))
    _, csv_by_arrow = both_seconds(lambda: pacsv.read_csv(text))
    text.unlink()
    (folder / "csv.mnpack").unlink()
    megabytes = source.stat().st_size / 1e6
    return {
        "rows": n_rows,
        "parquet_mb": megabytes,
        "pack_mb": out.stat().st_size / 1e6,
        "parquet_mb_per_second": megabytes / clock,
        "parquet_mb_per_cpu_second": megabytes / by_us,
        "million_values_per_cpu_second": n_rows * COLUMNS / by_us / 1e6,
        "parquet_cpu_over_pyarrow": by_us / by_arrow,
        "csv_cpu_over_pyarrow": csv_by_us / csv_by_arrow,
        "open_milliseconds": 1e3 * min(seconds(lambda: read(out)) for _ in range(5)),
    }


# What the values are, and how the file keeps them.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "texts, snappy": ("text", {}),
    "texts, zstd": ("text", {"compression": "zstd"}),
    "texts, plain": ("text", {"use_dictionary": False, "compression": "none"}),
    "int8, snappy": ("int8", {}),
    "int8, plain": ("int8", {"use_dictionary": False, "compression": "none"}),
    "int64, snappy": ("int64", {}),
    "int64, plain": ("int64", {"use_dictionary": False, "compression": "none"}),
    "int64, plain, zstd": ("int64", {"use_dictionary": False, "compression": "zstd"}),
    "flags, snappy": ("flag", {}),
}
WORDS = pa.array(["never", "sometimes", "often", "always"])


def column_of(kind: str, codes: Any) -> pa.Array:
    """Codes as values of one kind."""
    if kind == "text":
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), WORDS).cast(pa.string())
    return pa.array(codes > 0) if kind == "flag" else pa.array(codes.astype(kind))


def packing_kinds(folder: Path, n_rows: int) -> dict[str, float]:
    """How fast files of other kinds are packed: 30 columns of 2 to 4 states, a million rows at most."""
    few, rng = min(n_rows, 1_000_000), np.random.default_rng(0)
    found: dict[str, float] = {}
    codes = [rng.integers(0, 2 + k % 3, few) for k in range(30)]
    source, out = folder / "kind.parquet", folder / "kind.mnpack"
    for name, (kind, options) in KINDS.items():
        pq.write_table(pa.table({f"v{k}": column_of(kind, c) for k, c in enumerate(codes)}), source, **options)
        runs = [both_seconds(lambda: pack(source, out)) for _ in range(3)]
        reads = [both_seconds(lambda: pq.read_table(source)) for _ in range(3)]
        megabytes, decoded = source.stat().st_size / 1e6, pq.read_table(source).nbytes / 1e6
        clock, cpu = (min(run[k] for run in runs) for k in (0, 1))
        found |= {
            f"{name}: mb": megabytes,
            f"{name}: mb_per_second": megabytes / clock,
            f"{name}: decoded_mb_per_second": decoded / clock,
            f"{name}: mb_per_cpu_second": megabytes / cpu,
            f"{name}: cpu_over_pyarrow": cpu / min(run[1] for run in reads),
        }
    source.unlink()
    out.unlink()
    return {"rows": few, **found}


def scans(counts: Counts) -> None:
    """Scans as a search makes them: all y, given none to four variables."""
    for size in range(5):
        z = frozenset(range(1, 1 + size))
        counts.reduce(kernels.dirichlet(), 0, [y for y in range(COLUMNS) if y not in {0, *z}], z)


def mapped(folder: Path, n_rows: int) -> dict[str, float]:
    """Scans from the warm map against scans of the same rows in memory."""
    few = min(n_rows, 5_000_000)
    data = read(folder / "t.mnpack")
    part = Dataset(data.names, data.cards, tuple(c[:few].copy() for c in data.columns), data.levels)
    packed = pack(part, folder / "few.mnpack")
    found = {}
    for name, source in (("memory", part), ("map", packed)):
        counts = Counts(source, n_jobs=1)
        scans(counts)  # planes are built, pages are read
        found[name] = cpu_seconds(partial(scans, counts))
    (folder / "few.mnpack").unlink()
    return {"rows": few, "map_over_memory": found["map"] / found["memory"]}


LEARN = """
import json, sys, time
import mnlearn as mn
start = time.perf_counter()
learned = mn.learn(sys.argv[1], "mpl", max_memory=1 << 29)
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps({"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time(),
                  "edges": learned.graph.n_edges, "peak_bytes": 1024 * int(status["VmHWM"].split()[0])}))
"""


def learning(folder: Path, n_rows: int) -> dict[str, float]:
    """MPL from the pack in a fresh process: time, and peak memory beyond the pages of the map."""
    done = subprocess.run(
        [sys.executable, "-c", LEARN, str(folder / "t.mnpack")], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    map_bytes = (folder / "t.mnpack").stat().st_size
    return {
        "rows": n_rows,
        **found,
        "map_bytes": map_bytes,
        "peak_beyond_map_gib": (found["peak_bytes"] - map_bytes) / 2**30,
    }


def sharding(folder: Path, n_rows: int) -> dict[str, float]:
    """Measure a scan of 500 y on two workers beyond the counting, and the gain of the second worker."""
    dask, distributed = (import_module(name) for name in ("dask", "distributed"))
    rng = np.random.default_rng(0)
    wide = pack(Dataset.from_codes(rng.integers(0, 2, (2000, 501)), cards=[2] * 501), folder / "wide.mnpack")
    whole, found = Counts(wide, n_jobs=1), {}
    dask.config.set({"distributed.scheduler.reuse-broadcast-comm": True})  # halves the round trip of a scan
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        counts = ShardedCounts(client, row_shards(wide, 2))

        def ask(by: Counts | ShardedCounts) -> Callable[[], object]:
            return lambda: by.reduce(kernels.mi(), 0, range(1, 501), frozenset())

        ask(counts)()
        spent = _cpu_of(client)
        waits = sorted(seconds(ask(counts)) for _ in range(50))
        found["cpu_milliseconds_per_scan"] = 1e3 * (_cpu_of(client) - spent) / 50  # client, scheduler and workers
        found["milliseconds_per_scan"] = 1e3 * waits[25]
        found["milliseconds_at_best"] = 1e3 * waits[0]
        found["milliseconds_in_memory"] = 1e3 * cpu_seconds(ask(whole))
        found["kilobytes_per_scan"] = counts.traffic / 51 / 1e3
        few = read(folder / "t.mnpack")
        both = {}
        for n in (1, 2):
            both[n] = _time_shards(client, row_shards(few, 2)[:n])
        # One worker with half of the rows takes as long as two with a half each, were there no cost of sharing.
        found["two_workers_over_one"] = 2 * both[1] / both[2]
    return {"rows": n_rows, **found}


def _cpu_of(client: Any) -> float:
    """Processor time of this process and of all workers so far."""
    return time.process_time() + float(sum(client.run(time.process_time).values()))


def _time_shards(client: object, shards: object) -> float:
    counts = ShardedCounts(client, shards)  # type: ignore[arg-type]
    xs, z = list(range(5, 13)), frozenset({0, 1, 2})
    yss = [[y for y in range(COLUMNS) if y not in {x, *z}] for x in xs]
    work = partial(counts.reduce_many, kernels.mi(), xs, yss, [z] * len(xs))
    work()
    return min(seconds(work) for _ in range(3))


PARTS = {"pack": packing, "kinds": packing_kinds, "map": mapped, "learn": learning, "shards": sharding}


def main() -> None:
    """Run the given parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--folder", type=Path)
    told = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = told.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if told.part not in ("all", "pack", "kinds") and not (folder / "t.mnpack").exists():
            packing(folder, told.rows)
        for name in PARTS if told.part == "all" else [told.part]:
            found = {key: round(value, 4) for key, value in PARTS[name](folder, told.rows).items()}
            sys.stdout.write(json.dumps({"part": name, **found}) + "\n")
            sys.stdout.flush()
    sys.stderr.write(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB\n")


if __name__ == "__main__":
    main()
