"""How many tests does reasoning save when every answer is true?  Figures 6 and 7 of [JAIR09].

Bromberg, Margaritis & Honavar, JAIR 35 (2009), Sec. 5.1.1: random graphs of average degree τ = 1, 2, 4, 8; vertex
separation in the graph answers every question, so that all learners return the graph and differ only in what they ask.
Figure 6 is the weighted number of tests (2 + |z| each) of GSIMN over that of GSMN*, with and without propagation, a
hundred graphs for each figure. Figure 7 is the number of tests of GSIMN-FCH over that of GSIMN, four graphs each.

Readings. The initial tests count, and line 22 of Algorithm 3 is off, as in the published counts; the numbers named
"line 22" are with it. The figures are drawn, not printed. The text says of Figure 6 that for many variables and τ = 8
about 40 % and 75 % are saved: here figures rounded to 5 %, for n = 100. Of Figure 7 it says that from n = 10 on the
ratio is exactly 1; since it cannot be more, it was 1 in every graph, and its deviation is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsimn_fch import GSIMNFCH
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.errors import MnlearnError
from mnlearn.evaluation.papers._measured import Measured, Measurement, Trial
from mnlearn.evaluation.reproduction import Key, Published, Reproduction
from mnlearn.graphs import random_graph
from mnlearn.independence import SeparationOracle
from mnlearn.protocols import Result

DEGREES = (1, 2, 4, 8)
_ROUNDED = 0.05 / sqrt(12)  # the standard deviation of what rounding to 5 % leaves out


@dataclass(frozen=True)
class WeightedRatios:
    """GSIMN over GSMN* on one random graph: weighted tests  [JAIR09, Fig. 6]."""

    degree: int

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """The ratios for a graph of `size` variables."""
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
        """The ratios for a graph of `size` variables."""
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
    """The result, if it is the graph that the oracle knows; nothing else is worth counting."""
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
            Key(f"degree={degree}", n, "fch"): Published(1.0, 0.0, 4) for degree in DEGREES for n in (10, 11, 12)
        },
    ),
    quantity="ratio of numbers of tests",
    axis="variables",
)
