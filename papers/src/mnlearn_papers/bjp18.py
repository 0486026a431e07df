"""Experiments of Schlüter, Strappa, Milone & Bromberg, IJAR (2018)  [BJP18]: Table 1 and Appendix B.

Tables 3 to 5 are in `bjp18_networks`.

Table 1: how often is the true structure the best of all graphs?

Schlüter, Strappa, Milone & Bromberg, IJAR (2018), Sec. 4.1: six structures of six variables, from regular to as
irregular as can be; ten distributions for each, with factors drawn from the uniform distribution on (0, 1); ten data
sets from each distribution. Of all 32,768 graphs the one with the highest score is taken: the success rate is how often
that is the true one, without the luck of a search.

Readings. The structures are only drawn; ours have the published irregularities (`six_node_structures`). Rows are drawn
exactly, not by a Gibbs sampler, and a smaller data set is the beginning of a larger one. MPL is that of [MPL17], with
Jeffreys' prior and the graph prior; "mpl-ess" is MPL as [BJP18, Sec. 2.2.1] writes it, α = N′ / (r q) without a prior
of graphs; it does not give N′: here 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from time import process_time

import numpy as np

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import uniform_factors
from mnlearn.distributions.sampling import sample
from mnlearn.graphs.generators import star
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.protocols import Score
from mnlearn.scores.bjp import BJPScore
from mnlearn.scores.ib import IBScore
from mnlearn.scores.mpl import MPL
from mnlearn.statistics.counts import Counts
from mnlearn_papers.differences import ErrorTerm, standardized_difference
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.reproduction import Comparison, Key, Published, Reproduction
from mnlearn_papers.structures import six_node_structures

TABLE_1_SIZES = (250, 500, 1000, 2000, 4000, 8000)
DISTRIBUTIONS = SAMPLES = 10  # in the paper, for each structure and for each distribution

SCORES: Mapping[str, Callable[[Counts], Score]] = {
    "mpl": MPL,
    "mpl-ess": lambda counts: MPL(counts, sample_size=1.0, graph_prior=None),
    "ib": lambda counts: IBScore(BayesianTest(counts)),
    "bjp": lambda counts: BJPScore(BayesianTest(counts)),
}

_MPL = (
    (0.00, 0.00, 0.01, 0.04, 0.15, 0.28),
    (0.00, 0.00, 0.00, 0.02, 0.10, 0.18),
    (0.00, 0.03, 0.10, 0.17, 0.22, 0.34),
    (0.00, 0.00, 0.00, 0.00, 0.00, 0.00),
    (0.00, 0.00, 0.00, 0.00, 0.03, 0.21),
    (0.00, 0.00, 0.00, 0.00, 0.02, 0.27),
)
PUBLISHED: Mapping[str, Sequence[Sequence[float]]] = {
    "mpl": _MPL,
    "mpl-ess": _MPL,
    "ib": (
        (0.00, 0.00, 0.05, 0.15, 0.25, 0.35),
        (0.00, 0.00, 0.04, 0.15, 0.27, 0.39),
        (0.06, 0.09, 0.17, 0.22, 0.45, 0.58),
        (0.00, 0.03, 0.06, 0.14, 0.29, 0.44),
        (0.01, 0.02, 0.10, 0.23, 0.56, 0.75),
        (0.00, 0.00, 0.04, 0.28, 0.66, 0.80),
    ),
    "bjp": (
        (0.00, 0.01, 0.03, 0.12, 0.21, 0.34),
        (0.00, 0.01, 0.02, 0.16, 0.25, 0.39),
        (0.04, 0.12, 0.19, 0.27, 0.49, 0.61),
        (0.00, 0.02, 0.10, 0.18, 0.36, 0.50),
        (0.01, 0.01, 0.11, 0.26, 0.54, 0.76),
        (0.00, 0.00, 0.13, 0.37, 0.61, 0.82),
    ),
}
"""Success rates by score, structure and size  [BJP18, Table 1]."""


@dataclass(frozen=True)
class BestOfAll:
    """One distribution on one of the six structures: in how many of its data sets is the truth the best of all graphs?

    Parameters
    ----------
    structure
        1 to 6.
    samples
        Data sets of the distribution.
    """

    structure: int
    samples: int = SAMPLES

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the success rate of every score, from data sets of `size` rows."""
        truth = six_node_structures()[self.structure - 1]
        network = uniform_factors(truth, rng)
        found: dict[str, list[bool]] = {score: [] for score in SCORES}
        seconds = dict.fromkeys(SCORES, 0.0)
        for _ in range(self.samples):
            codes = sample(network, max(size, TABLE_1_SIZES[-1]), rng).codes[:size]
            counts = Counts(Dataset.from_codes(codes, cards=network.cards), n_jobs=1)
            for name, score in SCORES.items():
                started = process_time()
                found[name].append(Exhaustive().learn(score(counts)).graph == truth)
                seconds[name] += process_time() - started
        return {name: Measured(fmean(successes), seconds[name]) for name, successes in found.items()}


def success_rate_figure(key: Key, rates: Sequence[float], published: Published | None, seconds: float) -> Comparison:
    """The mean of the rates of some distributions beside the published one.

    Data sets from one distribution succeed or fail together, so that errors are taken over the distributions. The
    published figure comes from ten of them: its own error is as large as ours, and part of the unit. One distribution
    has no known error, and is not compared.

    Examples
    --------
    >>> line = success_rate_figure(Key("3", 8000, "ib"), [0.4, 0.8], Published(0.4, 0.0, 10), 0.1)
    >>> round(line.ours, 3), round(line.standard_errors, 3)
    (0.6, 0.63)
    """
    ours, spread, n, found = fmean(rates), _variance(rates), len(rates), None
    if published is not None and n > 1:
        both = (ours + published.mean) / 2  # if the two are the same, this is the best guess of it
        likely = max(spread, both * (1 - both) / SAMPLES)
        error = ErrorTerm(likely / n + likely / published.n, n - 1)
        found = standardized_difference(ours - published.mean, [error, ErrorTerm((published.step or 0.0) ** 2 / 12)])
    away, visible = (None, None) if found is None else found
    mean = None if published is None else published.mean
    return Comparison(*key, mean, ours, sqrt(spread), n, away, seconds, visible)


def _variance(rates: Sequence[float]) -> float:
    """The variance of a distribution's success rate; never less than that of its few data sets alone."""
    n = SAMPLES * len(rates)
    likely = (SAMPLES * sum(rates) + 1) / (n + 2)
    least = likely * (1 - likely) / SAMPLES
    return max(variance(rates), least) if len(rates) > 1 else least


def _published_table_1() -> Iterator[tuple[Key, Published]]:
    """Yield the published figures; their deviation between distributions is not printed, so ours is used."""
    for score, structures in PUBLISHED.items():
        for number, rates in enumerate(structures, start=1):
            for size, rate in zip(TABLE_1_SIZES, rates, strict=True):
                yield Key(str(number), size, score), Published(rate, 0.0, DISTRIBUTIONS)


def _structures(_data: Path | None) -> Mapping[str, Trial]:
    return {str(number): BestOfAll(number) for number in range(1, 7)}


TABLE_1 = Reproduction(
    title="BJP18 Table 1: how often the true structure is the best of all graphs, six variables",
    measure=Measurement(
        name="bjp-table1",
        trials=_structures,
        learners=tuple(SCORES),
        sizes=TABLE_1_SIZES,
        repetitions=DISTRIBUTIONS,
        published=dict(_published_table_1()),
        nested=True,
        figure=success_rate_figure,
    ),
    quantity="success rate",
    alternatives=frozenset({"mpl-ess"}),
)


# What does the order of the blankets do to BJP?  Appendix B of [BJP18].
#
# Schlüter, Strappa, Milone & Bromberg, IJAR (2018): a hub 0 with three leaves 1, 2, 3 (Figure 1), factors uniform on
# (0, 1). Two simulations, the second seen in two ways, all on the true graph, so that nothing is searched:
#
# - "assertion": log Pr(1 ⊥ 2 | 0) and log Pr(1 ⊥ 2 | 0, 3). Both are true; the second has twice the configurations.
# - "order": BJP of the true graph under four orders of the blankets, from small ones first (1, 2, 3, 0) to the hub
#   first (0, 1, 2, 3).
# - "gain": how much higher BJP is with small blankets first than under each other order, on the same data.
#
# The paper shows one distribution and one data set as a plot, without numbers. Here every repetition has a
# distribution and a data set of its own, a smaller one being the beginning of a larger one, and the figures are
# means.


ORDER_SIZES = (250, 500, 1000, 2000, 4000, 8000, 40_000, 70_000, 100_000)
ORDER_REPETITIONS = 100  # ours; the paper shows one
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
    """Yield the log posteriors of both assertions, and BJP of the true graph under each order."""
    posterior = BayesianTest(Counts(data, n_jobs=1))
    for name, given in ASSERTIONS.items():
        yield f"assertion {name}", float(posterior.log_odds(1, np.array([2]), given).independent[0])
    scores = {name: BJPScore(posterior, order=order)(HUB) for name, order in ORDERS.items()}
    for name, score in scores.items():
        yield f"order {name}", score
        if name != SMALL_FIRST:
            yield f"gain {name}", scores[SMALL_FIRST] - score


def simulate_hub(size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
    """Run both simulations on the first rows of a data set."""
    network = uniform_factors(HUB, rng)
    codes = sample(network, max(size, ORDER_SIZES[-1]), rng).codes[:size]
    started = process_time()
    found = dict(values(Dataset.from_codes(codes, cards=network.cards)))
    seconds = process_time() - started
    return {name: Measured(value, seconds) for name, value in found.items()}


def _hub(_data: Path | None) -> Mapping[str, Trial]:
    return {"hub": simulate_hub}


ORDERINGS = Reproduction(
    title="BJP18 Appendix B: a hub with three leaves, four orders of the blankets",
    measure=Measurement(
        name="bjp-orders",
        trials=_hub,
        learners=NUMBERS,
        sizes=ORDER_SIZES,
        repetitions=ORDER_REPETITIONS,
        nested=True,
    ),
    quantity="log posterior",
)
