"""Structural errors on ordinal, mixed, counted and incomplete data, beside simpler readings of the same tables.

    python benchmarks/mixed_accuracy.py                             all sections, 4 to 10 draws a cell
    python benchmarks/mixed_accuracy.py --sections mixed missing    only these
    python benchmarks/mixed_accuracy.py --out RUNS --jobs 2         also runs.csv and tables.md in this folder

`mnlearn_papers.mixed` has the sections, the sources and the readings. Every draw has a new graph, new
parameters and new rows. Seeds below 1000 were for development, those from 5000 on are for the comparison.

Tables have the mean Hamming distance with false edges in brackets, paired differences of mnlearn to the other readings
with standard errors, then how often pairs of a given probability are edges. Networks in files are read from
MNLEARN_DATA or ../shared/data. A table with fewer than 10 rows counts as the empty graph.
"""

from __future__ import annotations

import argparse
import csv
import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import isnan, nan, sqrt
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.errors import MnlearnError
from mnlearn.graphs import Graph
from mnlearn.learning import learn
from mnlearn_papers.mixed import SECTIONS, Case, cases

FIRST_SEED = 5000
DATA = Path(os.environ.get("MNLEARN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
BINS = ((0.1, 0.5), (0.5, 0.9), (0.9, 0.99), (0.99, 1.0000001))
NO_PAIRS = tuple((0, 0.0, 0) for _ in BINS)
LOG = logging.getLogger("benchmark")


class Limit(NamedTuple):
    """The most errors of mnlearn, or the most that it may have above another reading."""

    section: str
    most: float
    n_rows: int | None = None
    gaps: str | None = None
    above: str | None = None

    def __str__(self) -> str:
        """Return the part of the results that is limited."""
        parts = (f"N = {self.n_rows}", self.gaps, f"above {self.above}")
        given = [part for part, of in zip(parts, self[2:], strict=True) if of is not None]
        return ", ".join([self.section, *map(str, given)])


LIMITS = (
    Limit("ordinal", 6.5, n_rows=500),
    Limit("latent", 5.0, n_rows=250),
    Limit("declared", 1.0, above="nominal"),
    Limit("networks", 0.5, above="nominal"),
    Limit("mixed", 14.0, n_rows=250),
    Limit("mixed", 2.5, n_rows=1000),
    Limit("mixed", 0.3, n_rows=4000),
    Limit("missing", 1.0, gaps="5 %", above="complete"),
    Limit("missing", 4.0, gaps="20 %", above="complete"),
    Limit("missing", 12.0, gaps="40 %", above="complete"),
    Limit("independent", 0.1),
)
LEAST_RIGHT = 0.8
"""Share of edges among the pairs of the section `missing` with probabilities of 0.9 to 0.99."""


class Run(NamedTuple):
    """One reading of one draw; errors are not numbers if the reading is refused."""

    case: Case
    reading: str
    false_edges: float
    missed_edges: float
    seconds: float
    pairs: tuple[tuple[int, float, int], ...]  # by bin of probability: pairs, sum of probabilities, edges

    @property
    def errors(self) -> float:
        """Hamming distance."""
        return self.false_edges + self.missed_edges


def measure(case: Case) -> list[Run]:
    """Return every reading of one draw."""
    logging.getLogger("mnlearn").setLevel(logging.ERROR)
    truth, tables = case.tables(DATA)
    return [_measured(case, reading, truth, data) for reading, data in tables.items()]


def _measured(case: Case, reading: str, truth: Graph, data: Dataset | None) -> Run:
    """Learn one table."""
    if data is None:
        return Run(case, reading, 0, truth.n_edges, 0.0, NO_PAIRS)
    began = process_time()
    try:
        found = learn(data, "sep", n_jobs=1, effort="standard", keep_pairs=True)
    except MnlearnError as error:
        LOG.warning("%s is refused for %s: %s", reading, case, error)
        return Run(case, reading, nan, nan, nan, NO_PAIRS)
    seconds = process_time() - began
    edges, true_edges = set(found.graph.edges), set(truth.edges)
    pairs = _binned(found.probabilities(), truth)
    return Run(case, reading, len(edges - true_edges), len(true_edges - edges), seconds, pairs)


def _binned(probabilities: NDArray[np.float64], truth: Graph) -> tuple[tuple[int, float, int], ...]:
    """Count pairs by their probability."""
    upper = np.triu_indices(truth.n_variables, 1)
    chances, edges = probabilities[upper], truth.adjacency().toarray()[upper] > 0
    inside = [(chances >= low) & (chances < high) for low, high in BINS]
    return tuple((int(here.sum()), float(chances[here].sum()), int(edges[here].sum())) for here in inside)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the tables of all sections."""
    for name in dict.fromkeys(run.case.section for run in runs):
        own = [run for run in runs if run.case.section == name]
        yield from (f"## {name}", "", *_errors(own), "", *_calibration(own), "", *_limits(name, own), "")


def _errors(runs: Sequence[Run]) -> Iterator[str]:
    """Yield one line for each source, size and kind of gaps, and one for all."""
    section = SECTIONS[runs[0].case.section]
    first, *others = section.readings
    heads = ["data", "N", "gaps", "draws", first, *others, *(f"minus {other}" for other in others), "CPU s"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.case.source, str(run.case.n_rows), run.case.gaps), []).append(run)
    for gaps in section.gaps if len(section.gaps) > 1 else ():
        groups["all", "all", gaps] = [run for run in runs if run.case.gaps == gaps]
    groups["all", "all", "all"] = list(runs)
    for group, own in groups.items():
        means = [_mean(own, reading) for reading in section.readings]
        apart = [_difference(own, other) for other in others]
        seconds = [np.mean([run.seconds for run in own if run.reading == reading]) for reading in section.readings]
        draws = str(len({run.case for run in own}))
        yield f"| {' | '.join([*group, draws, *means, *apart, ' / '.join(f'{s:.2f}' for s in seconds)])} |"


def _mean(runs: Sequence[Run], reading: str) -> str:
    """Return mean errors with false edges in brackets."""
    own = [run for run in runs if run.reading == reading]
    errors, false_edges = float(np.mean([run.errors for run in own])), np.mean([run.false_edges for run in own])
    return "refused" if isnan(errors) else f"{errors:.2f} ({false_edges:.2f})"


def differences(runs: Sequence[Run], other: str) -> NDArray[np.float64]:
    """Return the errors of mnlearn minus those of another reading, draw by draw."""
    errors = {(run.case, run.reading): run.errors for run in runs}
    return np.array([errors[case, "mnlearn"] - errors[case, other] for case in dict.fromkeys(run.case for run in runs)])


def _difference(runs: Sequence[Run], other: str) -> str:
    """Return a paired difference with its standard error."""
    apart = differences(runs, other)
    if np.isnan(apart).any():
        return ""
    error = f" ± {apart.std(ddof=1) / sqrt(len(apart)):.2f}" if len(apart) > 1 else ""
    return f"{apart.mean():+.2f}{error}"


def _calibration(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the mean probability, the share of edges and the number of pairs in each bin."""
    readings = SECTIONS[runs[0].case.section].readings
    yield f"| probability | {' | '.join(readings)} |"
    yield f"|---|{'---|' * len(readings)}"
    for k, (low, high) in enumerate(BINS):
        found = [calibration(runs, reading, k) for reading in readings]
        cells = [f"{mean:.2f} → {share:.2f} of {pairs}" if pairs else "none" for pairs, mean, share in found]
        yield f"| {low:g} to {min(high, 1.0):g} | {' | '.join(cells)} |"


def calibration(runs: Sequence[Run], reading: str, k: int) -> tuple[int, float, float]:
    """Return the number of pairs in a bin, their mean probability and their share of edges."""
    pairs, chance, edges = np.sum([run.pairs[k] for run in runs if run.reading == reading], axis=0)
    return int(pairs), chance / max(pairs, 1), edges / max(pairs, 1)


def _limits(name: str, runs: Sequence[Run]) -> Iterator[str]:
    """Yield each limit of a section with the value found."""
    for limit in (limit for limit in LIMITS if limit.section == name):
        own = [run for run in runs if limit.n_rows in (None, run.case.n_rows) and limit.gaps in (None, run.case.gaps)]
        errors = np.array([run.errors for run in own if run.reading == "mnlearn"])
        value = float(np.mean(errors if limit.above is None else differences(own, limit.above)))
        verdict = "refused" if isnan(value) else "yes" if value <= limit.most else "no"
        yield f"- {limit}: {value:.2f}, at most {limit.most:g}: {verdict}"
    if name == "missing":
        pairs, _, right = calibration(runs, "mnlearn", 2)
        verdict = "refused" if not pairs else "yes" if right >= LEAST_RIGHT else "no"
        yield f"- edges among {pairs} pairs of 0.9 to 0.99: {right:.2f}, at least {LEAST_RIGHT:g}: {verdict}"


def write(runs: Sequence[Run], out: Path) -> None:
    """Write every run and the tables."""
    out.mkdir(parents=True, exist_ok=True)
    bins = [f"{what} {low:g}" for low, _ in BINS for what in ("pairs", "probability", "edges")]
    with (out / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Case._fields, "reading", "false_edges", "missed_edges", "seconds", *bins])
        for run in runs:
            counts = [value for pairs in run.pairs for value in pairs]
            writer.writerow([*run.case, run.reading, run.false_edges, run.missed_edges, run.seconds, *counts])
    (out / "tables.md").write_text("\n".join(report(runs)), encoding="utf-8")


def measured(wanted: Sequence[Case], n_jobs: int) -> list[Run]:
    """Return the runs of all draws, in order."""
    if n_jobs == 1:
        return [run for case in wanted for run in measure(case)]
    with ProcessPoolExecutor(n_jobs) as pool:
        return [run for runs in pool.map(measure, wanted) for run in runs]


def main() -> None:
    """Run the comparison and print it, section by section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--draws", type=int, help="draws for each cell; 4 to 10 by default")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for runs.csv and tables.md")
    chosen = parser.parse_args()
    runs: list[Run] = []
    for name in chosen.sections:
        runs += measured(list(cases(name, chosen.seed, chosen.draws)), chosen.jobs)
        print("\n".join(report([run for run in runs if run.case.section == name])), flush=True)
        if chosen.out is not None:
            write(runs, chosen.out)


if __name__ == "__main__":
    main()
