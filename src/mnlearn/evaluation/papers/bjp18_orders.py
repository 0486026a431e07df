"""What does the order of the blankets do to BJP?  Appendix B of [BJP18].

Schlüter, Strappa, Milone & Bromberg, IJAR (2018): a hub 0 with three leaves 1, 2, 3 (Figure 1), factors uniform on
(0, 1). Two simulations, the second seen in two ways, all on the true graph, so that nothing is searched:

- "assertion": log Pr(1 ⊥ 2 | 0) and log Pr(1 ⊥ 2 | 0, 3). Both are true; the second has twice the configurations.
- "order": BJP of the true graph under four orders of the blankets, from small ones first (1, 2, 3, 0) to the hub
  first (0, 1, 2, 3).
- "gain": how much higher BJP is with small blankets first than under each other order, on the same data.

The paper shows one distribution and one data set as a plot, without numbers. Here every repetition has a distribution
and a data set of its own, a smaller one being the beginning of a larger one, and the figures are means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.data import Dataset
from mnlearn.evaluation.papers._measured import Measured, Measurement, Trial
from mnlearn.evaluation.reproduction import Reproduction
from mnlearn.graphs import star
from mnlearn.independence import BayesianTest
from mnlearn.scores import BJPScore
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts

SIZES = (250, 500, 1000, 2000, 4000, 8000, 40_000, 70_000, 100_000)
REPETITIONS = 100  # ours; the paper shows one
HUB = star(4)
ASSERTIONS = {"1,2 given 0": frozenset({0}), "1,2 given 0,3": frozenset({0, 3})}
ORDERS = {"1,2,3,0": (1, 2, 3, 0), "1,2,0,3": (1, 2, 0, 3), "1,0,2,3": (1, 0, 2, 3), "0,1,2,3": (0, 1, 2, 3)}
SMALL_FIRST = "1,2,3,0"
NUMBERS = (
    *(f"assertion {name}" for name in ASSERTIONS),
    *(f"order {name}" for name in ORDERS),
    *(f"gain {name}" for name in ORDERS if name != SMALL_FIRST),
)


def values(data: Dataset) -> Iterator[tuple[str, float]]:
    """Of one data set: the log posteriors of both assertions, and BJP of the true graph under each order."""
    posterior = BayesianTest(Counts(data, n_jobs=1))
    for name, given in ASSERTIONS.items():
        yield f"assertion {name}", float(posterior.log_odds(1, np.array([2]), given).independent[0])
    scores = {name: BJPScore(posterior, order=order)(HUB) for name, order in ORDERS.items()}
    for name, score in scores.items():
        yield f"order {name}", score
        if name != SMALL_FIRST:
            yield f"gain {name}", scores[SMALL_FIRST] - score


def simulate(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
    """Both simulations, on the first rows of a data set of a distribution."""
    network = uniform_factors(HUB, rng)
    codes = sample(network, max(size, SIZES[-1]), rng).codes[:size]
    started = process_time()
    found = dict(values(Dataset.from_codes(codes, cards=network.cards)))
    seconds = process_time() - started
    return {name: Measured(value, seconds) for name, value in found.items()}


def _hub(_data: Path | None) -> Mapping[str, Trial]:
    return {"hub": simulate}


ORDERINGS = Reproduction(
    title="BJP18 Appendix B: a hub with three leaves, four orders of the blankets",
    measure=Measurement(
        name="bjp-orders",
        trials=_hub,
        learners=NUMBERS,
        sizes=SIZES,
        repetitions=REPETITIONS,
        nested=True,
    ),
    quantity="log posterior",
)
