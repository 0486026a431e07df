"""Reading: time per value and per column of each kind of table, and time over pyarrow's own readers of files.

Run as a program: ``python benchmarks/reading.py [part ...]``, where a part is one of

- ``frames``: ns a value of long tables and µs a column of wide ones, for each source in memory, beside the time that
  pyarrow takes to find the distinct values of the same columns;
- ``files``: CSV and Parquet, over the time of ``pyarrow.csv.read_csv`` and ``pyarrow.parquet.read_table``;
- ``wide``: 100,000 columns of 2,000 rows, from the array to counts that can be scanned;
- ``learn``: how much of `mnlearn.learn` is reading;
- ``memory [rows columns]``: peak memory and time of a CSV file, each reader in a fresh process.

All parts but ``memory`` are run by default. Times are CPU seconds of the process, the least of some repeats. One JSON
document is printed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

STATES = 4
WORDS = np.array(["never", "no", "often", "yes"])
LONG, WIDE = (400_000, 5), (20, 4000)

Codes = NDArray[Any]


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least CPU time of some calls."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def draw(n_rows: int, n_columns: int) -> Codes:
    """Random codes."""
    return np.random.default_rng(0).integers(0, STATES, (n_rows, n_columns))


def sources() -> dict[str, Callable[[Codes], Any]]:
    """Return what makes each source in memory from codes."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def columns(codes: Codes, make: Callable[[Codes], Any] = lambda own: own) -> dict[str, Any]:
        return {f"v{j}": make(own) for j, own in enumerate(np.ascontiguousarray(codes.T))}

    def category(own: Codes) -> Any:
        return pd.Categorical.from_codes(own, WORDS.tolist())

    return {
        "numpy int64, by rows": lambda codes: codes,
        "numpy int64, by columns": np.asfortranarray,
        "numpy int8, by rows": lambda codes: codes.astype(np.int8),
        "pandas int": lambda codes: pd.DataFrame(columns(codes)),
        "pandas bool": lambda codes: pd.DataFrame(columns(codes > 1)),
        "pandas category": lambda codes: pd.DataFrame(columns(codes, category)),
        "pandas str": lambda codes: pd.DataFrame(columns(codes, lambda own: WORDS[own])),
        "pandas object": lambda codes: pd.DataFrame(
            columns(codes, lambda own: WORDS.astype(object)[own]), dtype=object
        ),
        "polars int": lambda codes: pl.DataFrame(columns(codes)),
        "polars bool": lambda codes: pl.DataFrame(columns(codes > 1)),
        "polars categorical": lambda codes: pl.DataFrame(columns(codes, lambda own: WORDS[own])).cast(pl.Categorical),
        "polars str": lambda codes: pl.DataFrame(columns(codes, lambda own: WORDS[own])),
        "arrow int": lambda codes: pa.table(columns(codes)),
        "arrow bool": lambda codes: pa.table(columns(codes > 1)),
        "arrow dictionary": lambda codes: pa.table(
            columns(codes, lambda own: pa.array(WORDS[own]).dictionary_encode())
        ),
        "arrow str": lambda codes: pa.table(columns(codes, lambda own: WORDS[own])),
    }


def encode(codes: Codes, name: str) -> Callable[[], object]:
    """Return what finds the distinct values of the same columns with pyarrow alone, from an Arrow table."""
    kind = "bool" if name.endswith("bool") else "int" if "int" in name else "str"
    table = sources()[f"arrow {kind}"](codes)
    return lambda: [column.dictionary_encode() for column in table.columns]


def measure_frames() -> dict[str, Any]:
    """Measure every source in memory: a long table, and the difference between a wide one and one half as wide."""
    from mnlearn.data import read

    long, wide = draw(*LONG), draw(*WIDE)
    half = wide[:, : WIDE[1] // 2]
    found = {}
    for name, make in sources().items():
        tables = make(long), make(wide), make(half)
        seconds, most, least = (cpu_seconds(lambda table=table: read(table)) for table in tables)  # type: ignore[misc]
        found[name] = {
            "ns_a_value": round(seconds / long.size * 1e9, 2),
            "us_a_column": round((most - least) / half.shape[1] * 1e6, 2),
            "long_over_pyarrow_encode": round(seconds / cpu_seconds(encode(long, name)), 2),
            "wide_over_pyarrow_encode": round(most / cpu_seconds(encode(wide, name)), 2),
        }
    return found


def measure_files() -> dict[str, Any]:
    """Measure files against pyarrow's own readers, with as many threads."""
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    from mnlearn.data import read

    found: dict[str, Any] = {"threads": pa.cpu_count()}
    plain = pacsv.WriteOptions(quoting_style="none")
    with tempfile.TemporaryDirectory() as folder:
        for n_rows, n_columns in ((100_000, 50), (2_000, 1_000)):
            codes = draw(n_rows, n_columns)
            for kind in ("str", "int"):
                table = sources()[f"arrow {kind}"](codes)
                csv, parquet = Path(folder, "table.csv"), Path(folder, "table.parquet")
                pacsv.write_csv(table, csv, plain)
                pq.write_table(table, parquet)
                readers: tuple[tuple[Path, Callable[[Path], object]], ...]
                readers = ((csv, pacsv.read_csv), (parquet, pq.read_table))
                for path, reader in readers:
                    own, other = (cpu_seconds(lambda use=use, path=path: use(path), 5) for use in (read, reader))  # type: ignore[misc]
                    found[f"{path.suffix[1:]} {kind} {n_rows} x {n_columns}"] = {
                        "ns_a_value": round(own / codes.size * 1e9, 2),
                        "over_pyarrow": round(own / other, 2),
                    }
    return found


def measure_wide(n_rows: int = 2_000, n_columns: int = 100_000) -> dict[str, Any]:
    """Measure the steps from a very wide table to counts."""
    import pandas as pd

    from mnlearn.data import read
    from mnlearn.learning.inputs import oddities
    from mnlearn.statistics import Counts

    codes = np.random.default_rng(0).integers(0, STATES, (n_rows, n_columns), dtype=np.int8)
    frame = pd.DataFrame(codes.copy())
    data = read(codes)
    steps: dict[str, Callable[[], object]] = {
        "read a numpy array of int8": lambda: read(codes),
        "read a pandas frame of int8": lambda: read(frame),
        "diagnostics": lambda: oddities(data),
        "counts": lambda: Counts(data, n_jobs=1),
    }
    return {name: round(cpu_seconds(step), 3) for name, step in steps.items()}


def measure_learn() -> dict[str, Any]:
    """Measure reading as a part of learning from a pandas frame."""
    import mnlearn as mn

    found = {}
    for n_columns, n_rows in ((64, 2_000), (256, 1_000)):
        frame = sources()["pandas int"](draw(n_rows, n_columns) // 2)
        reading = cpu_seconds(lambda frame=frame: mn.read(frame), 5)  # type: ignore[misc]
        learning = cpu_seconds(lambda frame=frame: mn.learn(frame, "mpl", n_jobs=1), 5)  # type: ignore[misc]
        found[f"mpl {n_columns} x {n_rows}"] = {
            "read_ms": round(reading * 1e3, 2),
            "learn_ms": round(learning * 1e3, 2),
            "share": round(reading / learning, 2),
        }
    return found


def write_table(path: Path, n_rows: int, n_columns: int, seed: int = 0) -> None:
    """Write random one-digit codes, a slice of rows at a time."""
    generator = np.random.default_rng(seed)
    with path.open("wb") as file:
        file.write((",".join(f"v{j}" for j in range(n_columns)) + "\n").encode())
        for start in range(0, n_rows, 50_000):
            count = min(50_000, n_rows - start)
            cells = np.full((count, 2 * n_columns), ord(","), dtype=np.uint8)
            cells[:, ::2] = generator.integers(0, STATES, (count, n_columns)) + ord("0")
            cells[:, -1] = ord("\n")
            file.write(cells.tobytes())


def peak_bytes() -> int:
    """Peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure_reader(reader: str, path: Path) -> dict[str, float]:
    """Read the file in this process: seconds, and peak memory over what the libraries take."""
    read = load_reader(reader)
    base = peak_bytes()
    start = time.perf_counter()
    table = read(path)
    seconds = time.perf_counter() - start
    del table
    return {"seconds": seconds, "bytes": float(peak_bytes() - base)}


def load_reader(reader: str) -> Callable[[Path], object]:
    """Import everything that a reader needs and read a tiny file, so that only the data are measured."""
    import pyarrow.csv

    from mnlearn.data import read

    readers: dict[str, Callable[[Path], object]] = {"mnlearn": read, "pyarrow": pyarrow.csv.read_csv}
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder, "tiny.csv")
        write_table(tiny, 10, 2)
        readers[reader](tiny)
    return readers[reader]


def measure_memory(n_rows: int = 1_000_000, n_columns: int = 100) -> dict[str, Any]:
    """Write the file, read it in fresh processes, compare."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, n_rows, n_columns)
        found = {}
        for reader in ("mnlearn", "pyarrow"):
            command = [sys.executable, __file__, "--measure", reader, str(path)]
            found[reader] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    coded = n_rows * n_columns
    return {
        "rows": n_rows,
        "columns": n_columns,
        "peak_over_coded_size": found["mnlearn"]["bytes"] / coded,
        "pyarrow_peak_over_coded_size": found["pyarrow"]["bytes"] / coded,
        "seconds": found["mnlearn"]["seconds"],
        "seconds_over_pyarrow": found["mnlearn"]["seconds"] / found["pyarrow"]["seconds"],
    }


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "frames": measure_frames,
    "files": measure_files,
    "wide": measure_wide,
    "learn": measure_learn,
    "memory": measure_memory,
}


def main(arguments: list[str]) -> None:
    """Run the parts that are named, or one measurement of memory in a fresh process."""
    if arguments[:1] == ["--measure"]:
        sys.stdout.write(json.dumps(measure_reader(arguments[1], Path(arguments[2]))))
        return
    if arguments[:1] == ["memory"] and len(arguments) == 3:
        found = {"memory": measure_memory(int(arguments[1]), int(arguments[2]))}
    else:
        found = {name: PARTS[name]() for name in arguments or [name for name in PARTS if name != "memory"]}
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
