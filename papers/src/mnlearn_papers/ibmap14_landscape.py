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

For more variables a sample: as many graphs at every distance, random ones. Whether IBMAP-HC reaches the highest score
cannot be known then. Instead of "reached" and "gap":

- "surpassed": whether one of the graphs drawn, or the truth, has a higher score than the graph of IBMAP-HC;
- "truth ahead": whether the truth has; then the search is at fault, else the score;
- "correlation": all distances have the same weight; "nearby" is that of the tenth of the distances next to the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.distributions.sampling import sample
from mnlearn.graphs.generators import random_graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.scores.ib import IBScore
from mnlearn.simulate.pairwise import with_log_odds
from mnlearn.statistics.counts import Counts
from mnlearn_papers.ibmap14 import LOG_ODDS
from mnlearn_papers.landscape import Landscape, landscape, sample_landscape
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.reproduction import Reproduction

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


SAMPLED_VARIABLES = (6, 12, 20)
SAMPLED_SIZES = (200, 800, 3200)
SAMPLED_NUMBERS = ("correlation", "nearby", "surpassed", "truth ahead", "error of ibmap-hc", "error of the best")
GRAPHS_DRAWN = 600  # shared by all distances


@dataclass(frozen=True)
class SampledSurface:
    """The IB-score of random graphs at every distance from the truth, from data of one random network."""

    n_variables: int
    average_degree: float

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of one data set with `size` rows."""
        started = process_time()
        truth = random_graph(self.n_variables, self.average_degree, rng)
        data = sample(with_log_odds(truth, LOG_ODDS, rng), size, rng).dataset()
        score = IBScore(BayesianTest(Counts(data, n_jobs=1)))
        marked = {"climbed": IBMAPHC().learn(score).graph}
        per_distance = max(1, 2 * GRAPHS_DRAWN // (self.n_variables * (self.n_variables - 1)))
        seen = sample_landscape(score, truth, rng, per_distance=per_distance, marked=marked)
        best, climbed, center = (seen.marks[name] for name in ("best", "climbed", "center"))
        margin = _ROUNDING * max(1.0, abs(best.score))
        near = seen.distances <= max(2, seen.distances.max() // 10)
        numbers = (
            seen.correlation(),
            Landscape(seen.distances[near], seen.scores[near], {}).correlation(),
            float(best.score > climbed.score + margin),
            float(center.score > climbed.score + margin),
            float(climbed.distance),
            float(best.distance),
        )
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(SAMPLED_NUMBERS, numbers, strict=True)}


def _sampled_surfaces(_data: Path | None) -> Mapping[str, Trial]:
    return {f"n={n} tau={tau}": SampledSurface(n, tau) for n in SAMPLED_VARIABLES for tau in LANDSCAPE_CONNECTIVITIES}


SAMPLED_LANDSCAPE = Reproduction(
    title="IBMAP14 Appendix: the landscape of the IB-score for more variables, by a sample of graphs",
    measure=Measurement(
        name="ibmap-landscape-sample",
        trials=_sampled_surfaces,
        learners=SAMPLED_NUMBERS,
        sizes=SAMPLED_SIZES,
        repetitions=LANDSCAPE_REPETITIONS,
    ),
    quantity="numbers of the landscape",
)
