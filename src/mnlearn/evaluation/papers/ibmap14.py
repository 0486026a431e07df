"""Does weighing the tests beat believing them?  The synthetic experiments of [IBMAP14].

Schlüter, Bromberg & Edera, AMAI (2014): GSMN and HHC-MN take every answer of a test for true, and one wrong answer
leads to others; IBMAP-HC climbs the IB-score, which weighs all answers together. Random networks of growing
connectivity with pairwise factors of one log odds ratio, and Ising spin glasses; Hamming distance.

Readings. The paper shows its results as plots, without numbers, so there is no published figure here; what can be
checked is who comes first. The text at our disposal has also lost the sizes: 75 variables, τ neighbours on average
(τ = 1, 2, 4, 8) and a log odds ratio of 1 are those of the authors' earlier paper [JAIR09], the lattices (wrapped
around, couplings of ± 1/4, which is the same log odds ratio) and the numbers of rows are ours. All learners ask the
Bayesian test. GSMN is GSMN*: the one that starts again after every change joins most pairs here (1500 to 2100 of 2775
at τ = 1 and 50 to 800 rows), and takes a hundred times as long.

With the same sign on every edge many neighbours make all variables agree: at τ = 8 the rows are almost all alike, and
no chain moves between the two kinds. "mixed" draws the sign of every edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data import Dataset
from mnlearn.evaluation.experiment import Case, Experiment
from mnlearn.evaluation.reproduction import Reproduction, TableOfDistances
from mnlearn.graphs import Graph, grid, random_graph
from mnlearn.independence import BayesianTest
from mnlearn.scores import IBScore
from mnlearn.simulate import ising, sample, with_log_odds
from mnlearn.statistics import Counts

SIZES = (50, 100, 200, 400, 800, 1600, 3200)
REPETITIONS = 10
VARIABLES = 75
CONNECTIVITIES = (1, 2, 4, 8)
SIDES = (4, 6, 8, 10)
LOG_ODDS = 1.0


def by_gsmn(data: Dataset) -> Mapping[str, Graph]:
    """Grow and shrink, which believes every answer."""
    return {"gsmn": GSMNStar().learn(BayesianTest(Counts(data, n_jobs=1))).graph}


def by_hhc(data: Dataset) -> Mapping[str, Graph]:
    """HITON-PC around every variable, which believes them too; sets of any size, both ends must agree."""
    return {"hhc-mn": HHCMN().learn(BayesianTest(Counts(data, n_jobs=1))).graph}


def by_ibmap(data: Dataset) -> Mapping[str, Graph]:
    """IBMAP-HC by the IB-score, which weighs them."""
    return {"ibmap-hc": IBMAPHC().learn(IBScore(BayesianTest(Counts(data, n_jobs=1)))).graph}


METHODS = {"gsmn": by_gsmn, "hhc-mn": by_hhc, "ibmap-hc": by_ibmap}


@dataclass(frozen=True)
class RandomNetwork:
    """A random graph with n τ / 2 edges and the same log odds ratio on each, both new for every data set."""

    average_degree: float
    signs: Literal["same", "mixed"]

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """A graph, then rows of it."""
        graph = random_graph(VARIABLES, self.average_degree, rng)
        network = with_log_odds(graph, LOG_ODDS, rng, signs=self.signs)
        return Case(sample(network, n_rows, rng).dataset(), graph)


@dataclass(frozen=True)
class SpinGlass:
    """A square lattice that is wrapped around, with couplings of either sign, new for every data set."""

    side: int

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Couplings, then rows."""
        graph = grid(self.side, self.side, periodic=True)
        return Case(sample(ising(graph, LOG_ODDS / 4, rng), n_rows, rng).dataset(), graph)


def random_networks(_data: Path | None = None) -> Experiment:
    """The first synthetic experiment."""
    same = {f"tau={tau}": RandomNetwork(tau, "same") for tau in CONNECTIVITIES}
    mixed = {f"tau={tau},mixed": RandomNetwork(tau, "mixed") for tau in CONNECTIVITIES}
    return Experiment("ibmap-random", {**same, **mixed}, METHODS)


def spin_glasses(_data: Path | None = None) -> Experiment:
    """The second."""
    return Experiment("ibmap-ising", {f"{side}x{side}": SpinGlass(side) for side in SIDES}, METHODS)


RANDOM = Reproduction(
    title="IBMAP14: random networks of 75 binary variables, IBMAP-HC against GSMN and HHC-MN",
    measure=TableOfDistances("ibmap-random", random_networks, {}, SIZES, REPETITIONS),
)

ISING = Reproduction(
    title="IBMAP14: Ising spin glasses, IBMAP-HC against GSMN and HHC-MN",
    measure=TableOfDistances("ibmap-ising", spin_glasses, {}, SIZES, REPETITIONS),
)
