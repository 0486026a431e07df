"""Tests and accuracy on real tables.  Table 1 of [JAIR09].

Bromberg, Margaritis & Honavar, JAIR 35 (2009), Sec. 5.2: nineteen tables of the UCI archive, continuous columns cut
into 1 + log2 N intervals of equal width. A random third of the rows is learned from, by the chi-square test at 0.05.
The accuracy of a graph is how often it agrees with the same test on all rows, over 10,000 random independences, as many
for each size of the conditioning set. A repetition here is another third and other independences; the paper has one.

Readings. Which columns and rows the paper left out is told by its n and N (`TABLES`); for echocardiogram and haberman
no choice gives its n, and their figures are not compared. The published counts of lenses, 60, 40 and 20, are those of
five variables without any dependence: 20 for the initial tests, 40 or 20 when GSMN* asks them again (line 22 of
Algorithm 3 is off), and nothing more for GSIMN, which must have known their outcomes. So there are three of it: "gsimn"
is Algorithm 5 from an empty knowledge base, line 22 off; "gsimn-line22" is with line 22; "gsimn-seeded" in addition
knows the initial dependences from the start.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from mnlearn.data import Dataset, discretize, read
from mnlearn.data._request import VariableType
from mnlearn.evaluation._triplets import sample_triplets
from mnlearn.evaluation.papers._folder import data_files
from mnlearn.evaluation.papers._jair09_learners import LEARNERS
from mnlearn.evaluation.papers._measured import Measured, Measurement, Trial
from mnlearn.evaluation.reproduction import Key, Published, Reproduction
from mnlearn.independence import ChiSquare
from mnlearn.statistics import Counts

TRIPLETS = 10_000
REPETITIONS = 10  # the paper has one


class Table(NamedTuple):
    """How a table was prepared: its file, the columns left out, the continuous ones."""

    file: str
    dropped: str = ""
    continuous: str = ""


TABLES: Mapping[str, Table] = {
    "echocardiogram": Table(
        "echocardiogram.csv",
        continuous="survival age_at_heart_attack fractional_shortening epss lvdd wall_motion_score wall_motion_index "
        "mult",
    ),
    "ecoli": Table("ecoli.csv", continuous="mcg gvh aac alm1 alm2"),
    "lenses": Table("lenses.csv", "id"),
    "hayes-roth": Table("hayes-roth.csv"),
    "hepatitis": Table("hepatitis.csv", continuous="age bilirubin alk_phosphate sgot albumin protime"),
    "cmc": Table("cmc.csv", continuous="wife_age children"),
    "balance-scale": Table("balance-scale.csv"),
    "baloons": Table("baloons.csv"),
    "flag": Table("flag.csv", "name", "area population"),
    "tic-tac-toe": Table("tic-tac-toe.csv"),
    "bridges": Table("bridges.csv", "identif", "location erected length"),
    "car": Table("car.csv"),
    "monks-1": Table("monks-1.csv", "id"),
    "haberman": Table("haberman.csv", continuous="age operation_year positive_nodes"),
    "nursery": Table("nursery.csv.gz"),
    "crx": Table("crx.csv", continuous="A2 A3 A8 A11 A14 A15"),
    "imports-85": Table(
        "imports-85.csv",
        "normalized_losses",
        "wheel_base length width height curb_weight engine_size bore stroke compression_ratio horsepower peak_rpm "
        "city_mpg highway_mpg price",
    ),
    "dermatology": Table("dermatology.csv", continuous="age"),
    "adult": Table(
        "adult.csv.gz",
        "fnlwgt education_num workclass occupation native_country",
        "age capital_gain capital_loss hours_per_week",
    ),
}

# Weighted tests, then accuracy: GSMN* without propagation, with propagation, GSIMN.
PUBLISHED = """
ecoli 425 309 187 0.353 0.394 0.411
lenses 60 40 20 0.966 0.966 0.966
hayes-roth 102 72 30 0.852 0.852 0.852
hepatitis 1412 980 392 0.873 0.912 0.968
cmc 434 292 154 0.746 0.767 0.794
balance-scale 82 47 29 0.498 0.797 0.698
baloons 60 40 20 0.932 0.932 0.932
flag 5335 2787 994 0.300 0.674 0.929
tic-tac-toe 435 291 119 0.657 0.657 0.704
bridges 520 455 141 0.814 0.635 0.916
car 194 140 67 0.622 0.677 0.761
monks-1 135 93 42 0.936 0.936 0.936
nursery 411 270 123 0.444 0.793 0.755
crx 1719 999 305 0.279 0.556 0.892
imports-85 4519 3064 1102 0.329 0.460 0.847
dermatology 9902 6687 2635 0.348 0.541 0.808
adult 870 652 418 0.526 0.537 0.551
"""

_COLUMNS = (("gsmn*-without-propagation",), ("gsmn*",), ("gsimn", "gsimn-line22", "gsimn-seeded"))


@dataclass(frozen=True)
class Third:
    """A random third of a table: what each learner asked, and how its graph agrees with all rows."""

    file: str
    table: Table

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Weighted tests and accuracy of every learner; `size` is the number of triplets."""
        data = prepared(self.file, self.table)
        part = ChiSquare(Counts(data.sample(data.n_rows // 3, rng), n_jobs=1))
        whole = ChiSquare(Counts(data, n_jobs=1))
        triplets = sample_triplets(data.n_variables, size, seed=rng)
        answers = [whole(*triplet).independent for triplet in triplets]
        found: dict[str, Measured] = {}
        for name, learn in LEARNERS.items():
            started = process_time()
            result = learn(part)
            seconds = process_time() - started
            agreeing = sum(result.graph.separates(*t) == told for t, told in zip(triplets, answers, strict=True))
            found[f"{name} tests"] = Measured(float(result.cost["weighted"]), seconds)
            found[f"{name} accuracy"] = Measured(agreeing / size, seconds)
        return found


@lru_cache(maxsize=4)  # one process prepares a table once
def prepared(file: str, table: Table) -> Dataset:
    """The table without rows that miss a value, all columns categorical."""
    continuous = table.continuous.split()
    kept = [name for name in _header(Path(file)) if name not in table.dropped.split()]
    types: dict[str, VariableType] = {name: "continuous" if name in continuous else "categorical" for name in kept}
    data = read(file, columns=kept, types=types, missing="drop_rows", missing_values=["?"])
    return discretize(data, columns=continuous) if continuous else data


def _header(file: Path) -> list[str]:
    """The names of the columns."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        return next(csv.reader(lines))


def table_files(data: Path | None) -> dict[str, str]:
    """The file of every table, all of them there."""
    files = data_files(data, "uci/*.csv", {name: table.file for name, table in TABLES.items()})
    return {name: str(file) for name, file in files.items()}


def _thirds(data: Path | None) -> Mapping[str, Trial]:
    """The trials of every table."""
    return {name: Third(file, TABLES[name]) for name, file in table_files(data).items()}


def _published() -> Iterator[tuple[Key, Published]]:
    """The figures by table, quantity and learner; each is of a single third, whose deviation is not told."""
    for line in PUBLISHED.strip().split("\n"):
        name, *numbers = line.split()
        for quantity, figures in (("tests", numbers[:3]), ("accuracy", numbers[3:])):
            for learners, number in zip(_COLUMNS, figures, strict=True):
                for learner in learners:
                    yield Key(name, TRIPLETS, f"{learner} {quantity}"), Published(float(number), nan, 1)


TABLE_1 = Reproduction(
    title="JAIR09 Table 1: weighted tests and accuracy on 19 tables of the UCI archive",
    measure=Measurement(
        name="gsimn-table1",
        trials=_thirds,
        learners=tuple(f"{learner} {quantity}" for quantity in ("tests", "accuracy") for learner in LEARNERS),
        sizes=(TRIPLETS,),
        repetitions=REPETITIONS,
        published=dict(_published()),
    ),
    needs_data=True,
    quantity="weighted tests, accuracy",
    axis="triplets",
)
