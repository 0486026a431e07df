"""Is what reasoning saves paid for with wrong edges?  Figures 8 to 13 of [JAIR09].

Bromberg, Margaritis & Honavar, JAIR 35 (2009), Sec. 5.1.2 and 5.1.3: GSMN* with and without propagation and GSIMN learn
from rows drawn from a known network, by the chi-square test at 0.05. Figures 8 to 11: random graphs of 50 and 75 binary
variables, average degree 1, 2, 4, 8, the log odds ratio 1, 1.5 or 2 on every edge. Figures 12 and 13: five Bayesian
networks, moralised. Figures 8, 9 and 12 are normalised Hamming distances, 10 and 13 weighted tests, 11 is time.

All are drawn, none is printed: there is nothing to compare figure by figure, only what the text says of them. Readings.
All log odds ratios have the same sign and there are no fields; rows come from Gibbs chains, as in the paper, exactly
where elimination can do it. The numbers of rows and of repetitions are ours. Time is processor time, in `seconds`.
The degrees of freedom are not told: both rules are measured, "observed" being (I − 1)(J − 1) for every slice that
occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.evaluation.experiment import Case, Source
from mnlearn.evaluation.metrics import normalized_hamming
from mnlearn.evaluation.papers._folder import data_files
from mnlearn.evaluation.papers._jair09_learners import LEARNERS
from mnlearn.evaluation.papers._measured import Measured, Measurement, Trial
from mnlearn.evaluation.papers.mpl17 import Repository
from mnlearn.evaluation.reproduction import Reproduction
from mnlearn.graphs import random_graph
from mnlearn.independence import ChiSquare
from mnlearn.simulate import sample, with_log_odds
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import DofRule

SIZES = (500, 2000, 8000, 20_000)
REPETITIONS = 10
DOF: Mapping[DofRule, str] = {"adjusted": "", "observed": ", observed"}
NETWORKS = ("Hailfinder", "Insurance", "Alarm", "Mildew", "Water")


@dataclass(frozen=True)
class RandomNetwork:
    """A new random graph with the same log odds ratio on every edge, and rows of it  [JAIR09, Sec. 5.1.2]."""

    n_variables: int
    degree: int
    log_odds: float

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """A network, then rows of it."""
        graph = random_graph(self.n_variables, self.degree, rng)
        return Case(sample(with_log_odds(graph, self.log_odds, rng), n_rows, rng).dataset(), graph)


@dataclass(frozen=True)
class Learned:
    """What every learner makes of one data set: distance, weighted tests, time."""

    source: Source

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Both numbers of every learner, from `size` rows."""
        case = self.source(size, rng)
        found: dict[str, Measured] = {}
        for (name, learn), (rule, suffix) in product(LEARNERS.items(), DOF.items()):
            test = ChiSquare(Counts(case.data, n_jobs=1), dof=rule)  # nobody profits from what another has counted
            started = process_time()
            result = learn(test)
            seconds = process_time() - started
            found[f"{name} distance{suffix}"] = Measured(normalized_hamming(result.graph, case.truth), seconds)
            found[f"{name} tests{suffix}"] = Measured(float(result.cost["weighted"]), seconds)
        return found


def _random_networks(_data: Path | None) -> Mapping[str, Trial]:
    """The sources of Figures 8 to 11."""
    settings = product((50, 75), (1, 2, 4, 8), (1, 1.5, 2))
    return {
        f"n={n} degree={degree} odds={odds}": Learned(RandomNetwork(n, degree, odds)) for n, degree, odds in settings
    }


def _moral_networks(data: Path | None) -> Mapping[str, Trial]:
    """The sources of Figures 12 and 13."""
    files = data_files(data, "networks/*.bif", {name: f"{name.lower()}.bif" for name in NETWORKS})
    return {name: Learned(Repository(str(file))) for name, file in files.items()}


def _reproduction(title: str, quantity: str, *, moral: bool) -> Reproduction:
    """One of the two numbers of the trials."""
    name, trials = ("gsimn-networks", _moral_networks) if moral else ("gsimn-samples", _random_networks)
    learners = tuple(f"{learner} {quantity}{suffix}" for suffix in DOF.values() for learner in LEARNERS)
    return Reproduction(
        title=title,
        measure=Measurement(name, trials, learners, SIZES, REPETITIONS),
        needs_data=moral,
        quantity="normalised Hamming distance" if quantity == "distance" else "weighted tests",
    )


FIGURES_8_9 = _reproduction("JAIR09 Figures 8 and 9: random networks of 50 and 75 variables", "distance", moral=False)
FIGURES_10_11 = _reproduction("JAIR09 Figures 10 and 11: tests and time on the same networks", "tests", moral=False)
FIGURE_12 = _reproduction("JAIR09 Figure 12: five Bayesian networks, moralised", "distance", moral=True)
FIGURE_13 = _reproduction("JAIR09 Figure 13: tests on the same networks", "tests", moral=True)
