"""Start-up: processor time of commands in fresh processes, beside the imports that none of them can do without.

    python benchmarks/startup.py [--repeats 10]

Each command runs on a file of 64 binary columns and 2,000 rows. Times are user and system seconds of the whole process,
the least of the repeats; the programs take turns. Ratios are to importing numpy and pyarrow.csv, without which no CSV
file is read. Byte-compiled files are used, as installed packages have them: a first run, which is not measured, writes
them. "first" is a run that finds none and writes them, as after an installation by uv.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FLOOR = "python, numpy and pyarrow.csv"
HELP = "mnlearn --help"
FRAME = "import pandas, mnlearn; data = pandas.read_csv({!r})"


def write_table(path: Path, n_rows: int = 2000, n_columns: int = 64) -> None:
    """Write a tree of binary variables: each equals its parent in 85 % of the rows."""
    generator = np.random.default_rng(0)
    values = generator.integers(0, 2, (n_rows, n_columns))
    for column in range(1, n_columns):
        same = generator.random(n_rows) < 0.7
        values[same, column] = values[same, (column - 1) // 2]
    names = ",".join(f"v{column}" for column in range(n_columns))
    np.savetxt(path, values, fmt="%d", delimiter=",", header=names, comments="")


def programs(folder: Path) -> dict[str, list[str]]:
    """Return the command lines by name; those of mnlearn may need the files of those before them."""
    data, saved, page = (str(folder / name) for name in ("table.csv", "network.json", "report.html"))
    python, mnlearn = [sys.executable, "-c"], [sys.executable, "-m", "mnlearn"]
    learn = [*mnlearn, "learn", data, "--method", "mpl"]
    return {
        "python": [*python, "pass"],
        "python and numpy": [*python, "import numpy"],
        FLOOR: [*python, "import numpy, pyarrow.csv"],
        "python and pandas": [*python, "import pandas"],
        "python and sklearn": [*python, "import sklearn"],
        "import mnlearn": [*python, "import mnlearn"],
        "import mnlearn; mnlearn.learn": [*python, "import mnlearn; mnlearn.learn"],
        HELP: [*mnlearn, "--help"],
        "mnlearn info": [*mnlearn, "info", data],
        "mnlearn test": [*mnlearn, "test", data, "v0", "v1"],
        "mnlearn learn": learn,
        "mnlearn learn --out": [*learn, "--out", saved],
        "mnlearn learn --report": [*learn, "--report", page],
        "mnlearn report": [*mnlearn, "report", saved, "--out", page],
        "mn.learn(path)": [*python, f"import mnlearn; mnlearn.learn({data!r}, 'mpl')"],
        "pandas.read_csv": [*python, FRAME.format(data)],
        "pandas.read_csv, mn.learn(frame)": [*python, f"{FRAME.format(data)}; mnlearn.learn(data, 'mpl')"],
    }


def processor_seconds(command: list[str], **environment: str) -> float:
    """Run a command and return the user and system time that it took."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environment
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table.csv")
        commands = programs(folder)
        for command in commands.values():
            processor_seconds(command)
        rounds = [{name: processor_seconds(command) for name, command in commands.items()} for _ in range(repeats)]
        first = [processor_seconds(commands[HELP], PYTHONPYCACHEPREFIX=str(folder / f"{k}")) for k in range(repeats)]
    least = {name: min(seconds[name] for seconds in rounds) for name in commands} | {f"{HELP}, first": min(first)}
    print(f"{'program':<34}{'seconds':>8}{'ratio':>7}")
    for name, seconds in least.items():
        print(f"{name:<34}{seconds:>8.3f}{seconds / least[FLOOR]:>7.2f}")


if __name__ == "__main__":
    main()
