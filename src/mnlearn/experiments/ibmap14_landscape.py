"""Appendix of [IBMAP14]: does the IB-score fall with the distance to the truth, and does IBMAP-HC find its maximum?

Schlüter, Bromberg & Edera, AMAI (2014): the IB-score of all graphs of a small domain against their Hamming distance
to the true one. The paper sees a curve that falls, the more clearly the more rows there are, and IBMAP-HC always at
its highest point. It shows plots; what they show is put into numbers here:

- "correlation" of distance and score over all graphs: −1 if every step away from the truth costs the same;
- "reached": whether IBMAP-HC finds the highest score of all;
- "gap": by how much it misses it;
- "error of ibmap-hc", "error of the best": the distance to the truth of what it finds, and of the highest of all.

Readings. Six variables (32,768 graphs), random graphs with τ neighbours on average and a log odds ratio of 1, as in
`ibmap14`; the paper's own sizes are lost in the text available to us.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.evaluation.landscape import landscape
from mnlearn.experiments.ibmap14 import LOG_ODDS
from mnlearn.experiments.measured import Measured, Measurement, Trial
from mnlearn.experiments.reproduction import Reproduction
from mnlearn.graphs.generators import random_graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.scores.ib import IBScore
from mnlearn.simulate.pairwise import with_log_odds
from mnlearn.simulate.sampling import sample
from mnlearn.statistics.counts import Counts

LANDSCAPE_VARIABLES = 6
LANDSCAPE_CONNECTIVITIES = (1, 2, 4)
LANDSCAPE_SIZES = (50, 200, 800, 3200, 12_800)
LANDSCAPE_REPETITIONS = 10
LANDSCAPE_NUMBERS = ("correlation", "reached", "gap", "error of ibmap-hc", "error of the best")
_ROUNDING = 1e-9  # of a score


@dataclass(frozen=True)
class Surface:
    """The IB-score of every graph, from data of one random network."""

    average_degree: float

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of one data set with `size` rows."""
        started = process_time()
        truth = random_graph(LANDSCAPE_VARIABLES, self.average_degree, rng)
        data = sample(with_log_odds(truth, LOG_ODDS, rng), size, rng).dataset()
        score = IBScore(BayesianTest(Counts(data, n_jobs=1)))
        seen = landscape(score, truth, marked={"climbed": IBMAPHC().learn(score).graph})
        best, climbed = seen.marks["best"], seen.marks["climbed"]
        gap = max(0.0, best.score - climbed.score)
        reached = gap <= _ROUNDING * max(1.0, abs(best.score))
        numbers = (seen.correlation(), float(reached), gap, float(climbed.distance), float(best.distance))
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(LANDSCAPE_NUMBERS, numbers, strict=True)}


def _surfaces(_data: Path | None) -> Mapping[str, Trial]:
    return {f"tau={tau}": Surface(tau) for tau in LANDSCAPE_CONNECTIVITIES}


LANDSCAPE = Reproduction(
    title="IBMAP14 Appendix: the landscape of the IB-score over all graphs of six variables",
    measure=Measurement(
        name="ibmap-landscape",
        trials=_surfaces,
        learners=LANDSCAPE_NUMBERS,
        sizes=LANDSCAPE_SIZES,
        repetitions=LANDSCAPE_REPETITIONS,
    ),
    quantity="numbers of the landscape",
)
