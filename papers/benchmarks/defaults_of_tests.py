"""Defaults of the methods by tests: mean errors by test, degrees of freedom and level, and paired differences.

    python benchmarks/defaults_of_tests.py RUNS                 categorical and continuous data, about 3 minutes
    python benchmarks/defaults_of_tests.py RUNS --draws 1       fewer data sets

Categorical data are the development half of the accuracy battery: the generated kinds, Alarm and Insurance. RUNS is a
folder: every finished run is kept there, and a stopped one continues. Networks in files are read from MNLEARN_DATA or
../shared/data when it is there. The tables are in docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn_papers.accuracy import Battery, kinds
from mnlearn_papers.accuracy_page import Difference, table
from mnlearn_papers.experiment import Experiment, Row, run_experiment
from mnlearn_papers.named import NamedSource, WeighingMethod

SIZES = (250, 1000, 4000)
FILES = ("alarm", "insurance")
GAUSSIAN = ("tree:n=40", "random:n=40,degree=3", "scale-free:n=40,links=2", "grid:rows=6,columns=6")

Settings = Mapping[str, Any]
CHI2_ADJUSTED: Settings = {"test": "chi2", "dof": "adjusted", "alpha": 0.05}
BY_SUBSETS: tuple[Settings, ...] = (
    CHI2_ADJUSTED,  # the first of each list is what the others are compared with
    {"test": "g2", "dof": "adjusted", "alpha": 0.05},
    {"test": "g2", "dof": "adjusted", "alpha": 0.01},
    {"test": "chi2", "dof": "observed", "alpha": 0.01},
)
BY_BLANKETS: tuple[Settings, ...] = (
    CHI2_ADJUSTED,
    {"test": "chi2", "dof": "observed", "alpha": 0.01},
    {"test": "chi2", "dof": "observed", "alpha": 0.05},
    {"test": "chi2", "dof": "adjusted", "alpha": 0.01},
    {"test": "g2", "dof": "observed", "alpha": 0.01},
    {"test": "bayes"},
)
CATEGORICAL: Mapping[str, Sequence[Settings]] = {
    "gsmn": BY_BLANKETS[:2],
    "gsmn*": BY_BLANKETS,
    "gsimn": BY_BLANKETS,
    "pc": BY_SUBSETS,
    "hhc-mn": BY_SUBSETS,
}
LEVELS: tuple[Settings, ...] = ({"test": "pcor", "alpha": 0.05}, {"test": "pcor", "alpha": 0.01})
CONTINUOUS: Mapping[str, Sequence[Settings]] = dict.fromkeys(("gsmn*", "gsimn"), LEVELS)


def variants(settings: Mapping[str, Sequence[Settings]]) -> dict[str, WeighingMethod]:
    """One learner for each method and setting, named by both."""
    pairs = [(method, each) for method, several in settings.items() for each in several]
    names = [" ".join([method, *map(str, each.values())]) for method, each in pairs]
    return {name: WeighingMethod(name, *pair) for name, pair in zip(names, pairs, strict=True)}


def compared(rows: Sequence[Row], settings: Mapping[str, Sequence[Settings]]) -> str:
    """The mean errors of each variant, and how they differ from those of the first of its method on the same data."""
    errors: dict[str, dict[tuple[str, int, int], Row]] = {}
    for row in rows:
        errors.setdefault(row.learner, {})[row.source, row.n_rows, row.repetition] = row
    lines = []
    for method, several in settings.items():
        first, *_ = names = list(variants({method: several}))
        for name in names:
            mine, base = errors[name], errors[first]
            apart = Difference.of([float(mine[key].hamming - base[key].hamming) for key in mine])
            counts = ("hamming", "false_positives", "false_negatives")
            means = [f"{np.mean([getattr(row, count) for row in mine.values()]):.1f}" for count in counts]
            behind = "" if name == first else f"{apart.mean:+.2f} ± {apart.standard_error:.2f}"
            lines.append((name, len(mine), *means, behind))
    return table(("method and test", "data sets", "Hamming", "false +", "false −", "difference"), lines)


def main() -> None:
    """Run, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    options = parser.parse_args()
    data = Path(os.environ.get("MNLEARN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    only = [kind for kind in kinds(data) if kind in kinds() or kind in FILES]
    battery = Battery("development", variants(CATEGORICAL), data, SIZES, options.draws, only=only)
    print(compared(battery.run(journal=options.runs / "test-settings.jsonl"), CATEGORICAL), "\n")
    sources = {network: NamedSource(network, "gaussian") for network in GAUSSIAN}
    continuous = Experiment("test-settings-continuous", sources, variants(CONTINUOUS))
    journal = options.runs / "test-settings-continuous.jsonl"
    print(compared(run_experiment(continuous, (100, 500, 2000), 5, journal=journal), CONTINUOUS))


if __name__ == "__main__":
    main()
