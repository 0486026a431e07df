"""Time and memory of learning from mixed and incomplete tables, on one thread.

    python benchmarks/mixed_speed.py                          all tables
    python benchmarks/mixed_speed.py --tables bfi wide        only these

Each table is learned in a fresh process after a warm-up: the least processor time of several runs, and the peak of
resident memory above the table, over the size of the coded columns. The last tables are learned with and without gaps;
their ratio is the cost of gaps. Files are read from MNLEARN_DATA or ../shared/data. Penguins are simulated: a table of
the same size and kinds. The file of adult has 32,561 rows; 48,842 are drawn from them with replacement.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Literal, NamedTuple

import numpy as np

from mnlearn.data import Dataset, read
from mnlearn.graphs import random_graph
from mnlearn.learning import learn
from mnlearn.simulate import Margin, mixed_network, ordinal_field, random_gaps, read_bif, spread_margins

DATA = Path(os.environ.get("MNLEARN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
PENGUINS = {
    "species": Margin("nominal", states=3),
    "island": Margin("nominal", states=3),
    "bill_length": Margin("continuous"),
    "bill_depth": Margin("continuous"),
    "flipper_length": Margin("continuous"),
    "body_mass": Margin("continuous"),
    "sex": Margin("nominal", states=2),
    "year": Margin("ordinal", states=3),
}
FOUR_KINDS = (
    *(Margin("nominal", states=3), Margin("ordinal", states=5), Margin("count", mean=3.0), Margin("continuous")),
)


def penguins() -> Dataset:
    """Simulate 344 rows of eight columns with strong edges and few gaps."""
    network = mixed_network(random_graph(8, 4.0, 1), tuple(PENGUINS.values()), 1, weakest=0.3, strongest=0.8)
    whole = network.dataset(344, 2, list(PENGUINS))
    return random_gaps(whole, 0.02, 3, columns=["bill_length", "bill_depth", "flipper_length", "body_mass", "sex"])


def adult() -> Dataset:
    """Read 14 columns of adult and draw 48,842 rows."""
    numbers = ("age", "capital_gain", "capital_loss", "hours_per_week")
    types: dict[str, Any] = {**dict.fromkeys(numbers, "continuous"), "education_num": "ordinal"}
    options: dict[str, Any] = {"missing": "testwise", "missing_values": ["?"], "drop": ["fnlwgt"]}
    found = read(DATA / "uci" / "adult.csv.gz", types=types, **options)
    rows = np.random.default_rng(1).integers(0, found.n_rows, 48_842)
    return replace(found, columns=tuple(column[rows] for column in found.columns))


def bfi() -> Dataset:
    """Read the 25 items of bfi."""
    items = [f"{letter}{k}" for letter in "ACENO" for k in range(1, 6)]
    types: dict[str, Any] = dict.fromkeys(items, "ordinal")
    options: dict[str, Any] = {"missing": "testwise", "missing_values": ["?"], "columns": items}
    return read(DATA / "psych" / "bfi.csv", types=types, **options)


def wide() -> Dataset:
    """Simulate 500 columns of four kinds and 2,000 rows."""
    rng = np.random.default_rng(1)
    network = mixed_network(random_graph(500, 3.0, rng), spread_margins(500, FOUR_KINDS, rng), rng)
    return network.dataset(2000, rng, sweeps=50)


def alarm() -> Dataset:
    """Draw 4,000 rows of a nominal network."""
    return read_bif(DATA / "networks" / "alarm.bif").sample(4000, 1)


def ordinal() -> Dataset:
    """Draw 4,000 rows of 20 ordinal columns."""
    return ordinal_field(random_graph(20, 3.0, 1), 1).dataset(4000, 2)


def mixed() -> Dataset:
    """Draw 4,000 rows of 20 columns of four kinds."""
    return mixed_network(random_graph(20, 3.0, 1), spread_margins(20, FOUR_KINDS, 1), 1).dataset(4000, 2)


class Table(NamedTuple):
    """A table, the most seconds that learning may take, and shares of values to remove."""

    make: Callable[[], Dataset]
    seconds: float | None = None
    shares: tuple[float, ...] = ()
    runs: int = 3


TABLES: Mapping[str, Table] = {
    "penguins": Table(penguins, 0.2),
    "adult": Table(adult, 3.0),
    "bfi": Table(bfi, 2.0),
    "wide": Table(wide, 60.0, runs=1),
    "alarm": Table(alarm, shares=(0.05, 0.2)),
    "ordinal": Table(ordinal, shares=(0.05, 0.2)),
    "mixed": Table(mixed, shares=(0.05, 0.2)),
}
MOST_TIMES = 3.0
"""The most that gaps may cost: times the seconds of the complete table."""
MOST_MEMORY = 3.0
"""The most memory: times the bytes of the coded columns."""


def resident(what: Literal["VmRSS", "VmHWM"]) -> float:
    """Return the resident memory of this process in bytes, or its peak; not a number where Linux is not."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return 1024.0 * int(lines[what].split()[0])


def forget_peak() -> None:
    """Reset the peak of resident memory."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5", encoding="utf-8")


def measure(data: Dataset, runs: int) -> dict[str, float]:
    """Learn a table in this process."""
    first = replace(data, columns=tuple(column[:50] for column in data.columns), repeats=None)
    learn(first.select(range(min(8, data.n_variables))), "sep", n_jobs=1)
    forget_peak()
    base, seconds = resident("VmRSS"), []
    for _ in range(runs):
        began = process_time()
        found = learn(data, "sep", n_jobs=1)
        seconds.append(process_time() - began)
    coded = float(sum(column.nbytes for column in data.columns))
    peak = resident("VmHWM") - base
    size = {"rows": data.n_rows, "columns": data.n_variables, "edges": found.graph.n_edges}
    return {**size, "seconds": min(seconds), "coded": coded, "peak": peak}


def in_fresh_process(table: str, share: float) -> dict[str, float] | None:
    """Learn a table in a process of its own; None if that fails."""
    command = [sys.executable, __file__, "--only", table, str(share)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(f"{table}, {share:.0%} missing: {done.stderr.splitlines()[-1]}\n")
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def line(name: str, found: Mapping[str, float] | None, limit: str) -> str:
    """Return one line of the table."""
    if found is None:
        return f"| {name} | | | failed | {limit} | |"
    memory = f"{found['peak'] / 2**20:.1f} MiB, {found['peak'] / found['coded']:.1f} x coded"
    size = f"{found['rows']:,.0f} x {found['columns']:.0f}"
    return f"| {name} | {size} | {found['edges']:.0f} | {found['seconds']:.3f} | {limit} | {memory} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.only:
        logging.getLogger("mnlearn").setLevel(logging.ERROR)
        table, share = TABLES[chosen.only[0]], float(chosen.only[1])
        data = table.make()
        print(json.dumps(measure(random_gaps(data, share, 1) if share else data, table.runs)))
        return
    print("| table | size | edges | CPU s | limit | memory |\n|---|---|---|---|---|---|")
    for name in chosen.tables:
        whole = in_fresh_process(name, 0.0)
        print(line(name, whole, f"{TABLES[name].seconds:g} s" if TABLES[name].seconds else ""), flush=True)
        for share in TABLES[name].shares:
            holed = in_fresh_process(name, share)
            times = f"{holed['seconds'] / whole['seconds']:.1f} x complete, " if holed and whole else ""
            print(line(f"{name}, {share:.0%} missing", holed, f"{times}at most {MOST_TIMES:g} x"), flush=True)
    print(f"\nMemory: at most {MOST_MEMORY:g} x the coded columns.")


if __name__ == "__main__":
    main()
