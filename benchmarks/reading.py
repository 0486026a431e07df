"""Reading a CSV file of 1,000,000 rows and 100 columns: memory over the coded size, time over pyarrow's own reader.

Run as a program: ``python benchmarks/reading.py [rows columns]``. It writes the file in a temporary folder, reads it in
fresh processes (one with mnlearn, one with pyarrow) and prints one JSON document.
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

import numpy as np

STATES = 4


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


def measure(reader: str, path: Path) -> dict[str, float]:
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


def run(n_rows: int, n_columns: int) -> dict[str, float]:
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


def main(arguments: list[str]) -> None:
    """Run the comparison, or one measurement of it in a fresh process."""
    if arguments[:1] == ["--measure"]:
        sys.stdout.write(json.dumps(measure(arguments[1], Path(arguments[2]))))
        return
    n_rows, n_columns = (int(arguments[0]), int(arguments[1])) if arguments else (1_000_000, 100)
    sys.stdout.write(json.dumps(run(n_rows, n_columns), indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
