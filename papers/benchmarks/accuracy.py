"""How well the learners learn: the accuracy battery, and the tables and charts of docs/accuracy.md made from it.

    python benchmarks/accuracy.py RUNS                             the held-out half, all learners: about 10 minutes
    python benchmarks/accuracy.py RUNS --half development          the half that changes are judged on
    python benchmarks/accuracy.py RUNS --tables docs/accuracy      also write what the runs say, for the docs
    python benchmarks/accuracy.py RUNS --tables DIR --finished     only write what the runs so far say

RUNS is a folder: every finished run is kept there, and a stopped one continues. Networks and graphs in files are read
from MNLEARN_DATA or ../shared/data when it is there. `mnlearn bench accuracy` is the same with options for less, and
writes all tables as one page; those of the documentation are made from the table of errors when it is built.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from pathlib import Path

from mnlearn.evaluation.metrics import bins, plot_reliability
from mnlearn.protocols import SILENT
from mnlearn_papers.accuracy import Battery, Half
from mnlearn_papers.accuracy_page import Standings, of_probabilities, seen_by
from mnlearn_papers.accuracy_profile import draw_profiles
from mnlearn_papers.experiment import Row
from mnlearn_papers.named import accuracy_battery

COLUMNS = ("source", "n_rows", "repetition", "learner", "false_positives", "false_negatives", "seconds")


def battery(half: Half) -> Battery:
    """All of one half."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    data = Path(os.environ.get("MNLEARN_DATA", beside))
    return accuracy_battery(half, data=data if data.is_dir() else None)


class Stopped:
    """A monitor that stops before the first run: what is known already is all there is."""

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Nothing to show."""

    def cancelled(self) -> bool:
        """Always."""
        return True


def write(rows: Sequence[Row], half: Half, folder: Path) -> None:
    """Write the table of errors, the table and the figure of the probabilities, and the chart of all cells."""
    folder.mkdir(parents=True, exist_ok=True)
    part = "\n\n".join(of_probabilities(seen_by("sep", rows))) + "\n"
    (folder / f"{half}-probabilities.md").write_text(part, encoding="utf-8")
    with (folder / f"{half}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([getattr(row, column) for column in COLUMNS] for row in rows)
    sure = [row.reliability for row in rows if row.learner == "sep" and row.reliability is not None]
    plot_reliability(bins(sure), folder / f"{half}.svg")
    (folder / f"{half}-profile.svg").write_text(draw_profiles(rows), encoding="utf-8")


def main() -> None:
    """Run, print one line for each learner, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--half", choices=("development", "held-out"), default="held-out")
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--finished", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    journal = options.runs / f"accuracy-{options.half}.jsonl"
    monitor = Stopped() if options.finished else SILENT
    rows = battery(options.half).run(journal=journal, n_jobs=options.jobs, monitor=monitor)
    for line in Standings(seen_by("sep", rows)).learners():
        print(f"{line.learner:13} {line.hamming:6.2f}  {line.behind.shown(2):15} {line.behind.n:4} data sets")
    if options.tables is not None:
        write(rows, options.half, options.tables)


if __name__ == "__main__":
    main()
