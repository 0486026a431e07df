"""How much of GSIMN's saving on data is inference, and how much line 22 of Algorithm 3?  [JAIR09]

Line 22 counts two variables that are independent in the initial test as independent given any set. The published counts
of GSMN* have it off, so `jair09` gives it to GSIMN only. Here both learners have it, and what differs is inference
alone: "tests" is the ratio of the weighted tests of GSIMN to those of GSMN*, "distance" the normalised Hamming distance
of GSIMN less that of GSMN*, on the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.evaluation.metrics import normalized_hamming
from mnlearn.independence.discrete import ChiSquare
from mnlearn.simulate.pairwise import ParameterLaw
from mnlearn.statistics.counts import Counts
from mnlearn_papers.experiment import RandomNetwork, RepositoryNetwork, Source
from mnlearn_papers.jair09 import ALPHA, DEGREES, NETWORKS
from mnlearn_papers.measured import Measured, Measurement, Trial, data_files
from mnlearn_papers.reproduction import Reproduction


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
