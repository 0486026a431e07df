"""Accuracy on real tables.  The benchmark table of [IBMAP14].

Schlüter, Bromberg & Edera, AMAI (2014): each table is shuffled and divided; GSMN, HHC-MN and IBMAP-HC learn from the
training part, and the test part says how many random independences the graph has right. The paper's claim: IBMAP-HC
is the most accurate where data are scarce.

Readings. The text at our disposal has lost the table, its figures and the names of its data sets; there is no
published figure here, and what can be checked is who comes first. The tables are those of [JAIR09], prepared as
there. A size is the number of training rows; all other rows test, and a table with fewer rows than that besides is
left out. Both ways of counting are measured: "agreement" counts triplets of which graph and data say the same,
"independences" those that are independent in both, as the text reads. The latter favours sparse graphs: a graph
without edges has every independence of the data right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.data import Dataset
from mnlearn.evaluation._triplets import independence_accuracy
from mnlearn.evaluation.papers._measured import Measured, Measurement, Trial
from mnlearn.evaluation.papers.ibmap14 import METHODS
from mnlearn.evaluation.papers.jair09_uci import TABLES, Table, prepared, table_files
from mnlearn.evaluation.reproduction import Reproduction
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest
from mnlearn.statistics import Counts

SIZES = (25, 50, 100, 200, 400, 800)
REPETITIONS = 10
TRIPLETS = 2_000
LEARNERS: Mapping[str, Callable[[Dataset], Mapping[str, Graph]]] = {
    **METHODS,
    "no-edges": lambda data: {"no-edges": Graph.empty(data.n_variables)},
}


@dataclass(frozen=True)
class Divided:
    """Some rows of a table to learn from, the others to judge by."""

    file: str
    table: Table

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Both accuracies of every learner; nothing where the table has too few rows."""
        data = prepared(self.file, self.table)
        if data.n_rows < 2 * size:
            return {}
        train, test = halves(data, size, rng)
        judge, seed = BayesianTest(Counts(test, n_jobs=1)), int(rng.integers(2**32))
        found: dict[str, Measured] = {}
        for name, learn in LEARNERS.items():
            started = process_time()
            graph = learn(train)[name]
            seconds = process_time() - started
            counted = independence_accuracy(graph, judge, n_triplets=TRIPLETS, seed=seed)
            found[f"{name} agreement"] = Measured(counted.agreement, seconds)
            found[f"{name} independences"] = Measured(counted.shared_independences, seconds)
        return found


def halves(data: Dataset, size: int, rng: np.random.Generator) -> tuple[Dataset, Dataset]:
    """`size` rows drawn at random, and all others; states are those of the whole table.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1, 0, 1, 1], [0, 0, 1, 1, 0]])
    >>> train, test = halves(data, 2, np.random.default_rng(1))
    >>> train.n_rows, test.n_rows, train.cards
    (2, 3, (2, 2))
    """
    order = rng.permutation(data.n_rows)
    parts = (np.sort(order[:size]), np.sort(order[size:]))
    train, test = (
        Dataset(data.names, data.cards, tuple(column[rows] for column in data.columns), data.levels) for rows in parts
    )
    return train, test


def _tables(data: Path | None) -> Mapping[str, Trial]:
    """The trials of every table."""
    return {name: Divided(file, TABLES[name]) for name, file in table_files(data).items()}


UCI = Reproduction(
    title="IBMAP14: accuracy on tables of the UCI archive, IBMAP-HC against GSMN and HHC-MN",
    measure=Measurement(
        name="ibmap-uci",
        trials=_tables,
        learners=tuple(f"{name} {kind}" for kind in ("agreement", "independences") for name in LEARNERS),
        sizes=SIZES,
        repetitions=REPETITIONS,
    ),
    needs_data=True,
    quantity="accuracy",
)
