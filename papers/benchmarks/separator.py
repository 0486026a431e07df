"""Cost of separator evidence: against fitting everything, against the prototype, and as the network grows.

    python benchmarks/separator.py                       three networks, one thread; growth with the variables
    python benchmarks/separator.py --prototype PROGRAM   the same networks also by the prototype (see below)
    python benchmarks/separator.py --large               growth to 10,000 variables, 2000 rows

Alarm is read from MNLEARN_DATA or ../shared/data when it is there. PROGRAM is the measuring program of the
method's prototype, which fits every pair: given as `lab`, it is run on the same data with three-way terms and
look-ahead off (effort standard) and on (thorough). Times are CPU seconds of one thread; what counts are the ratios.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from mnlearn.algorithms import sep as separator
from mnlearn.algorithms.sep import Effort, SeparatorEvidence
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, hubs, random_graph, random_tree
from mnlearn.protocols import Result
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import ising, read_bif, sample, uniform_factors
from mnlearn.statistics import Counts

PROTOTYPE = {
    "standard": "Hsg:lam=1,bb=1,lam1=2,start=1,evm=1,t3=0,look=0",
    "thorough": "Hsg:lam=1,bb=1,lam1=2,start=1,evm=1,t3=0.01,t3cap=8,look=1",
}
EFFORTS: tuple[Effort, ...] = ("fast", "standard", "thorough")
SIZES, LARGE = (64, 128, 256, 512), (1000, 2000, 5000, 10_000)


def networks() -> Iterator[tuple[str, Dataset, Graph]]:
    """The networks of the goals: name, data, truth."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    alarm = Path(os.environ.get("MNLEARN_DATA", beside)) / "networks" / "alarm.bif"
    if alarm.exists():
        network = read_bif(alarm)
        yield "alarm, N=2000", network.sample(2000, seed=1), network.moral_graph()
    for name, graph, n_rows in (
        ("64-node hubs, N=2000", hubs(4, 15), 2000),
        ("256-node tree, N=1000", random_tree(256, seed=1), 1000),
    ):
        yield name, sample(uniform_factors(graph, seed=2), n_rows, seed=3).dataset(), graph


def learn(data: Dataset, effort: Effort) -> tuple[float, Result]:
    """The least disturbed of three runs, from counts on; CPU seconds."""
    runs = []
    for _ in range(3):
        began = time.process_time()
        found = SeparatorEvidence(effort=effort).learn(HybridEvidence(Counts(data, n_jobs=1)))
        runs.append((time.process_time() - began, found))
    return min(runs, key=lambda run: run[0])


def hamming(found: Graph, truth: Graph) -> int:
    """How many pairs differ."""
    return len(set(found.edges) ^ set(truth.edges))


def write_for_prototype(path: Path, data: Dataset, truth: Graph) -> None:
    """Three counts, cardinalities, columns of bytes, edges."""
    with path.open("wb") as file:
        np.array([data.n_variables, data.n_records, truth.n_edges], dtype=np.int32).tofile(file)
        np.array(data.cards, dtype=np.int32).tofile(file)
        for column in data.columns:
            column.astype(np.uint8).tofile(file)
        np.array(truth.edges, dtype=np.int32).tofile(file)


def run_prototype(program: str, effort: Effort, data: Dataset, truth: Graph) -> tuple[float, int]:
    """CPU seconds and Hamming distance of the prototype on the same data."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "data.bin"), Path(folder, "out.csv")
        write_for_prototype(file, data, truth)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([program, out, PROTOTYPE[effort], file], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        (row,) = csv.reader(out.read_text(encoding="utf-8").splitlines())
    return seconds, int(row[-3]) + int(row[-2])


def compare(program: str | None) -> None:
    """Each network by each effort; standard and thorough also with every pair fitted, and by the prototype."""
    for name, data, truth in networks():
        for effort in EFFORTS:
            seconds, found = learn(data, effort)
            cost = found.cost
            said = (
                f"{name:22} {effort:9} {seconds:7.3f} s  Hamming {hamming(found.graph, truth):3}  {cost['flips']:.0f} "
                f"flips, {cost['scans']:.0f} scans, {cost['fits']:.0f} fits"
            )
            if effort != "fast":
                with patch.object(separator, "NEAR", np.inf):
                    all_fitted, same = learn(data, effort)
                agrees = "same graph" if same.graph == found.graph else "another graph"
                said += f"; all pairs fitted {all_fitted / seconds:4.1f} times that, {agrees}"
            if program and effort != "fast":
                theirs, wrong = run_prototype(program, effort, data, truth)
                said += f"; prototype {theirs / seconds:5.1f} times that, Hamming {wrong}"
            print(said, flush=True)


class Timed:
    """A judge that adds up the time of its calls."""

    def __init__(self, judge: Any, clock: list[float] | None = None) -> None:
        self._judge, self.clock = judge, [0.0] if clock is None else clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._judge, name)
        if not callable(found):
            return found

        def timed(*given: Any, **settings: Any) -> Any:
            began = time.process_time()
            answer = found(*given, **settings)
            self.clock[0] += time.process_time() - began
            return Timed(answer, self.clock) if name == "with_three_way" else answer

        return timed


def growth(sizes: Sequence[int], effort: Effort, n_rows: int) -> None:
    """Trees and random graphs of degree 3 as they grow: time, share of it outside the judge, memory."""
    for shape in ("tree", "degree 3"):
        before = None
        for n in sizes:
            graph = random_tree(n, seed=1) if shape == "tree" else random_graph(n, 3, seed=1)
            network = ising(graph, 0.5, seed=2) if shape != "tree" else uniform_factors(graph, seed=2)
            judge = Timed(HybridEvidence(Counts(sample(network, n_rows, seed=3).dataset(), n_jobs=1)))
            began = time.process_time()
            found = SeparatorEvidence(effort=effort).learn(judge)
            seconds = time.process_time() - began
            grown = "" if before is None else f"  {seconds / before:4.1f} times the size before"
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{shape:9} n={n:5} {effort:9} {seconds:8.3f} s, {seconds - judge.clock[0]:7.3f} s outside the judge  "
                f"Hamming {hamming(found.graph, graph):4}  {found.cost['flips']:4.0f} flips  {memory:5.0f} MB{grown}",
                flush=True,
            )
            before = seconds


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prototype", help="the prototype's program")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    compare(options.prototype)
    for effort in EFFORTS[1:]:
        growth(SIZES + LARGE * options.large, effort, 2000 if options.large else 1000)


if __name__ == "__main__":
    main()
