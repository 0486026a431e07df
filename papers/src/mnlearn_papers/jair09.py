"""Experiments of Bromberg, Margaritis & Honavar, JAIR 35 (2009)  [JAIR09]: Figures 6 to 13 and Table 1.

Figures 6 and 7 (Sec. 5.1.1), the number of tests when every answer is true: random graphs of average degree τ = 1, 2,
4, 8; vertex separation in the graph answers every question, so that all learners return the graph and differ only in
what they ask. Figure 6 is the weighted number of tests (2 + |z| each) of GSIMN over that of GSMN*, with and without
propagation, a hundred graphs for each figure. Figure 7 is the number of tests of GSIMN-FCH over that of GSIMN, four
graphs each.

Readings. The initial tests count, and line 22 of Algorithm 3 is off, as in the published counts; the numbers named
"line 22" are with it. The figures are drawn, not printed. The text says of Figure 6 that for many variables and τ = 8
about 40 % and 75 % are saved: here figures rounded to 5 %, for n = 100. Of Figure 7 it says that from n = 10 on the
ratio is exactly 1; since it cannot be more, it was 1 in every graph, and its deviation is 0.

How much of GSIMN's saving on data is inference, and how much line 22 of Algorithm 3?  [JAIR09]

Line 22 counts two variables that are independent in the initial test as independent given any set. The published counts
of GSMN* have it off, so `jair09` gives it to GSIMN only. Here both learners have it, and what differs is inference
alone: "tests" is the ratio of the weighted tests of GSIMN to those of GSMN*, "distance" the normalised Hamming distance
of GSIMN less that of GSMN*, on the same rows.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import nan, sqrt
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from mnlearn.algorithms.gsimn import GSIMN, GSIMNFCH
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.data.dataset import Dataset
from mnlearn.data.options import VariableType
from mnlearn.data.readers import read
from mnlearn.data.transforms import discretize
from mnlearn.distributions.factors import ParameterLaw
from mnlearn.errors import MnlearnError
from mnlearn.evaluation.metrics import normalized_hamming
from mnlearn.evaluation.subgraphs import sample_triplets
from mnlearn.graphs.generators import random_graph
from mnlearn.independence.discrete import ChiSquare
from mnlearn.independence.oracle import SeparationOracle
from mnlearn.protocols import IndependenceTest, Result
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.kernels import DofRule
from mnlearn_papers.experiment import RandomNetwork, RepositoryNetwork, Source
from mnlearn_papers.measured import Measured, Measurement, Trial, data_files
from mnlearn_papers.reproduction import Key, Published, Reproduction

DEGREES = (1, 2, 4, 8)
_ROUNDED = 0.05 / sqrt(12)  # the standard deviation of what rounding to 5 % leaves out


@dataclass(frozen=True)
class WeightedRatios:
    """GSIMN over GSMN* on one random graph: weighted tests  [JAIR09, Fig. 6]."""

    degree: int

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the ratios for a graph of `size` variables."""
        if self.degree > size - 1:
            return {}
        oracle, started, ratios = SeparationOracle(random_graph(size, self.degree, rng)), process_time(), {}
        for skip, suffix in ((False, ""), (True, " line 22")):
            gsimn = _weighted(oracle, GSIMN(skip_marginal=skip).learn(oracle))
            for propagation, name in ((True, "with-propagation"), (False, "without-propagation")):
                star = GSMNStar(skip_marginal=skip, propagation=propagation).learn(oracle)
                ratios[name + suffix] = gsimn / _weighted(oracle, star)
        seconds = process_time() - started
        return {name: Measured(ratio, seconds) for name, ratio in ratios.items()}


@dataclass(frozen=True)
class ForwardChaining:
    """GSIMN-FCH over GSIMN on one random graph: numbers of tests  [JAIR09, Fig. 7]."""

    degree: int

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the ratios for a graph of `size` variables."""
        if size < 2 or self.degree > size - 1:
            return {}
        oracle, started, found = SeparationOracle(random_graph(size, self.degree, rng)), process_time(), {}
        for skip, name in ((False, "fch"), (True, "fch line 22")):
            chained = _right(oracle, GSIMNFCH(skip_marginal=skip).learn(oracle))
            gsimn = _right(oracle, GSIMN(skip_marginal=skip).learn(oracle))
            found[name] = chained.cost["asked"] / gsimn.cost["asked"]
        seconds = process_time() - started
        return {name: Measured(ratio, seconds) for name, ratio in found.items()}


def _weighted(oracle: SeparationOracle, result: Result) -> float:
    """Σ (2 + |z|) over the tests, initial ones included."""
    return _right(oracle, result).cost["weighted"]


def _right(oracle: SeparationOracle, result: Result) -> Result:
    """Return the result, or raise an error if it is not the graph of the oracle."""
    if result.graph != oracle.graph:
        raise MnlearnError("a learner must return the graph of its oracle; it did not. Please report this.")
    return result


def _ratios(_data: Path | None) -> Mapping[str, Trial]:
    return {f"degree={degree}": WeightedRatios(degree) for degree in DEGREES}


def _chaining(_data: Path | None) -> Mapping[str, Trial]:
    return {f"degree={degree}": ForwardChaining(degree) for degree in DEGREES}


FIGURE_6 = Reproduction(
    title="JAIR09 Figure 6: GSIMN over GSMN* with and without propagation, separation oracle",
    measure=Measurement(
        name="gsimn-figure6",
        trials=_ratios,
        learners=tuple(f"{kind}-propagation{line}" for line in ("", " line 22") for kind in ("with", "without")),
        sizes=(10, 25, 50, 75, 100),
        repetitions=100,
        published={
            Key("degree=8", 100, "with-propagation"): Published(0.60, _ROUNDED, 1),
            Key("degree=8", 100, "without-propagation"): Published(0.25, _ROUNDED, 1),
        },
    ),
    quantity="ratio of weighted tests",
    axis="variables",
)

FIGURE_7 = Reproduction(
    title="JAIR09 Figure 7: GSIMN with forward chaining over GSIMN, separation oracle",
    measure=Measurement(
        name="gsimn-figure7",
        trials=_chaining,
        learners=("fch", "fch line 22"),
        sizes=tuple(range(2, 13)),
        repetitions=4,
        published={
            Key(f"degree={degree}", n, "fch"): Published(1.0, 0.0, 4, step=0.0)
            for degree in DEGREES
            for n in (10, 11, 12)
        },
    ),
    quantity="ratio of numbers of tests",
    axis="variables",
)


# The learners that [JAIR09] compares on data, with the settings of its published counts.


LEARNERS: Mapping[str, Callable[[IndependenceTest], Result]] = {
    "gsmn*-without-propagation": GSMNStar(propagation=False, skip_marginal=False).learn,
    "gsmn*": GSMNStar(skip_marginal=False).learn,
    "gsimn": GSIMN(skip_marginal=False).learn,
    "gsimn-line22": GSIMN().learn,
    "gsimn-seeded": GSIMN(seed_dependences=True).learn,
}
"""By name; line 22 of Algorithm 3 is off in the first three, and the last starts with the initial dependences."""


# Figures 8 to 13 of [JAIR09]: does inference cost accuracy?
#
# Bromberg, Margaritis & Honavar, JAIR 35 (2009), Sec. 5.1.2 and 5.1.3: GSMN* with and without propagation and GSIMN
# learn from rows drawn from a known network, by the chi-square test at 0.05. Figures 8 to 11: random graphs of 50 and
# 75 binary variables, average degree 1, 2, 4, 8, the log odds ratio 1, 1.5 or 2 on every edge. Figures 12 and 13:
# five Bayesian networks, moralised. Figures 8, 9 and 12 are normalised Hamming distances, 10 and 13 weighted tests,
# 11 is time.
#
# All are drawn, none is printed: there is nothing to compare figure by figure, only what the text says of them. It
# says that GSIMN is as near to the truth as GSMN* and needs fewer tests: "difference" is the distance of GSIMN with
# line 22 less that of GSMN* on the same rows, "ratio" its weighted tests over those of GSMN*.
# Readings. All log odds ratios have the same sign. The paper draws the other parameters at random and does not say
# how; there are two laws: all factors alike, without fields, and "uniform", three entries of each factor uniform on
# (0, 1) and the fourth by the ratio (`with_log_odds`). Rows come from Gibbs chains, as in the paper, exactly where
# elimination can do it. The numbers of rows and of repetitions are ours. Time is processor time. The paper does not
# give the degrees of freedom: both rules are measured, "observed" being (I − 1)(J − 1) for every slice that occurs.


SIZES = (500, 2000, 8000, 20_000)
REPETITIONS = 10
ALPHA = 0.05
DOF: Mapping[DofRule, str] = {"adjusted": "", "observed": ", observed"}
NETWORKS = ("Hailfinder", "Insurance", "Alarm", "Mildew", "Water")


@dataclass(frozen=True)
class LearnerTrial:
    """Distance, weighted tests and time of every learner on one data set."""

    source: Source

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of every learner, from `size` rows, and GSIMN compared with GSMN*."""
        case = self.source(size, rng)
        found: dict[str, Measured] = {}
        for (name, learn), (rule, suffix) in product(LEARNERS.items(), DOF.items()):
            # No learner uses the cache of another.
            test = ChiSquare(Counts(case.data, n_jobs=1), alpha=ALPHA, dof=rule)
            started = process_time()
            result = learn(test)
            seconds = process_time() - started
            found[f"{name} distance{suffix}"] = Measured(normalized_hamming(result.graph, case.truth), seconds)
            found[f"{name} tests{suffix}"] = Measured(float(result.cost["weighted"]), seconds)
            found[f"{name} seconds{suffix}"] = Measured(seconds, seconds)
        for suffix in DOF.values():
            distance, tests = (
                [found[f"{name} {quantity}{suffix}"].value for name in ("gsimn-line22", "gsmn*")]
                for quantity in ("distance", "tests")
            )
            found[f"difference distance{suffix}"] = Measured(distance[0] - distance[1], 0.0)
            found[f"ratio tests{suffix}"] = Measured(tests[0] / tests[1], 0.0)
        return found


def _random_networks(_data: Path | None) -> Mapping[str, Trial]:
    """The sources of Figures 8 to 11, under both laws of the parameters."""
    laws: Mapping[ParameterLaw, str] = {"alike": "", "uniform": " uniform"}
    settings = product(laws.items(), (50, 75), (1, 2, 4, 8), (1, 1.5, 2))
    return {
        f"n={n} degree={degree} odds={odds}{suffix}": LearnerTrial(RandomNetwork(n, degree, odds, law=law))
        for (law, suffix), n, degree, odds in settings
    }


def _moral_networks(data: Path | None) -> Mapping[str, Trial]:
    """The sources of Figures 12 and 13."""
    files = data_files(data, "networks/*.bif", {name: f"{name.lower()}.bif" for name in NETWORKS})
    return {name: LearnerTrial(RepositoryNetwork(str(file))) for name, file in files.items()}


def _reproduction(title: str, quantities: tuple[str, ...], *, moral: bool) -> Reproduction:
    """Some of the numbers of the trials."""
    name, trials = ("gsimn-networks", _moral_networks) if moral else ("gsimn-samples", _random_networks)
    compared = {"distance": ["difference"], "tests": ["ratio"]}
    learners = tuple(
        f"{learner} {quantity}{suffix}"
        for suffix, quantity in product(DOF.values(), quantities)
        for learner in [*LEARNERS, *compared.get(quantity, [])]
    )
    return Reproduction(
        title=title,
        measure=Measurement(name, trials, learners, SIZES, REPETITIONS),
        needs_data=moral,
        quantity="normalised Hamming distance" if quantities == ("distance",) else "weighted tests, seconds",
    )


FIGURES_8_9 = _reproduction(
    "JAIR09 Figures 8 and 9: random networks of 50 and 75 variables", ("distance",), moral=False
)
FIGURES_10_11 = _reproduction(
    "JAIR09 Figures 10 and 11: tests and time on the same networks", ("tests", "seconds"), moral=False
)
FIGURE_12 = _reproduction("JAIR09 Figure 12: five Bayesian networks, moralised", ("distance",), moral=True)
FIGURE_13 = _reproduction("JAIR09 Figure 13: tests on the same networks", ("tests", "seconds"), moral=True)


# Tests and accuracy on real tables.  Table 1 of [JAIR09].
#
# Bromberg, Margaritis & Honavar, JAIR 35 (2009), Sec. 5.2: nineteen tables of the UCI archive, continuous columns cut
# into 1 + log2 N intervals of equal width. A random third of the rows is learned from, by the chi-square test at
# 0.05. The accuracy of a graph is how often it agrees with the same test on all rows, over 10,000 random
# independences, as many for each size of the conditioning set. A repetition here is another third and other
# independences; the paper has one.
#
# Readings. Which columns and rows the paper left out follows from its n and N (`TABLES`); for echocardiogram and
# haberman no choice gives its n, and their figures are not compared. The published counts of lenses, 60, 40 and 20,
# are those of five variables without any dependence: 20 for the initial tests, 40 or 20 when GSMN* asks them again
# (line 22 of Algorithm 3 is off), and nothing more for GSIMN, which must have known their outcomes. So there are
# three of it: "gsimn" is Algorithm 5 from an empty knowledge base, line 22 off; "gsimn-line22" is with line 22;
# "gsimn-seeded" in addition knows the initial dependences from the start. Both rules for the degrees of freedom are
# measured, as in Figures 8 to 13; the rule of the learners is also that of the test on all rows.


TRIPLETS = 10_000
UCI_REPETITIONS = 10  # the paper has one


class Table(NamedTuple):
    """Preparation of a table: its file, the columns left out, the continuous ones."""

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
    """A random third of a table: tests of each learner, and agreement of its graph with all rows."""

    file: str
    table: Table

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return weighted tests and accuracy of every learner; `size` is the number of triplets."""
        data = prepared(self.file, self.table)
        part, whole = Counts(data.sample(data.n_rows // 3, rng), n_jobs=1), Counts(data, n_jobs=1)
        triplets = sample_triplets(data.n_variables, size, seed=rng)
        found: dict[str, Measured] = {}
        for rule, suffix in DOF.items():
            judge, test = (ChiSquare(counts, alpha=ALPHA, dof=rule) for counts in (whole, part))
            answers = [judge(*triplet).independent for triplet in triplets]
            for name, learn in LEARNERS.items():
                started = process_time()
                result = learn(test)
                seconds = process_time() - started
                agreeing = sum(result.graph.separates(*t) == said for t, said in zip(triplets, answers, strict=True))
                found[f"{name} tests{suffix}"] = Measured(float(result.cost["weighted"]), seconds)
                found[f"{name} accuracy{suffix}"] = Measured(agreeing / size, seconds)
        return found


@lru_cache(maxsize=4)  # one process prepares a table once
def prepared(file: str, table: Table) -> Dataset:
    """Return the table without rows with missing values, all columns categorical."""
    continuous = table.continuous.split()
    kept = [name for name in _header(Path(file)) if name not in table.dropped.split()]
    types: dict[str, VariableType] = {name: "continuous" if name in continuous else "categorical" for name in kept}
    data = read(file, columns=kept, types=types, missing="drop_rows", missing_values=["?"])
    return discretize(data, columns=continuous) if continuous else data


def _header(file: Path) -> list[str]:
    """The names of the columns."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        return next(csv.reader(lines))


def table_files(data: Path | None) -> dict[str, str]:
    """The file of every table, all of them there."""
    files = data_files(data, "uci/*.csv", {name: table.file for name, table in TABLES.items()})
    return {name: str(file) for name, file in files.items()}


def _thirds(data: Path | None) -> Mapping[str, Trial]:
    """The trials of every table."""
    return {name: Third(file, TABLES[name]) for name, file in table_files(data).items()}


def _published() -> Iterator[tuple[Key, Published]]:
    """Yield the figures by table, quantity and learner; each is of a single third, without a deviation."""
    for line in PUBLISHED.strip().split("\n"):
        name, *numbers = line.split()
        for quantity, figures in (("tests", numbers[:3]), ("accuracy", numbers[3:])):
            for learners, number in zip(_COLUMNS, figures, strict=True):
                for learner, suffix in product(learners, DOF.values()):
                    yield Key(name, TRIPLETS, f"{learner} {quantity}{suffix}"), Published(float(number), nan, 1)


TABLE_1 = Reproduction(
    title="JAIR09 Table 1: weighted tests and accuracy on 19 tables of the UCI archive",
    measure=Measurement(
        name="gsimn-table1",
        trials=_thirds,
        learners=tuple(
            f"{learner} {quantity}{suffix}"
            for suffix, quantity in product(DOF.values(), ("tests", "accuracy"))
            for learner in LEARNERS
        ),
        sizes=(TRIPLETS,),
        repetitions=UCI_REPETITIONS,
        published=dict(_published()),
    ),
    needs_data=True,
    quantity="weighted tests, accuracy",
    axis="triplets",
    alternatives=frozenset({"gsimn-line22", "gsimn-seeded", "tests, observed", "accuracy, observed"}),
)


@dataclass(frozen=True)
class InferenceAlone:
    """GSIMN compared with GSMN*, both with line 22, on one data set."""

    source: Source

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the ratio of the tests and the difference of the distances, from `size` rows."""
        case, started = self.source(size, rng), process_time()
        gsimn, star = (
            learner.learn(ChiSquare(Counts(case.data, n_jobs=1), alpha=ALPHA, dof="observed"))
            for learner in (GSIMN(), GSMNStar())
        )
        seconds = process_time() - started
        distances = [normalized_hamming(result.graph, case.truth) for result in (gsimn, star)]
        return {
            "tests": Measured(gsimn.cost["weighted"] / star.cost["weighted"], seconds),
            "distance": Measured(distances[0] - distances[1], seconds),
        }


def _sources(data: Path | None) -> Mapping[str, Trial]:
    """Random networks of 75 variables with the log odds ratio 1; Bayesian networks where there are data."""
    laws: Mapping[ParameterLaw, str] = {"alike": "", "uniform": " uniform"}
    found: dict[str, Trial] = {
        f"degree={degree}{suffix}": InferenceAlone(RandomNetwork(75, degree, 1, law=law))
        for (law, suffix), degree in product(laws.items(), DEGREES)
    }
    if data is not None:
        files = data_files(data, "networks/*.bif", {name: f"{name.lower()}.bif" for name in NETWORKS})
        found |= {name: InferenceAlone(RepositoryNetwork(str(file))) for name, file in files.items()}
    return found


LINE_22 = Reproduction(
    title="JAIR09: GSIMN over GSMN*, both with line 22 (Bayesian networks with --data)",
    measure=Measurement(
        name="gsimn-line22",
        trials=_sources,
        learners=("tests", "distance"),
        sizes=(2000, 20_000),
        repetitions=10,
    ),
    quantity="ratio of weighted tests, difference of distances",
)
