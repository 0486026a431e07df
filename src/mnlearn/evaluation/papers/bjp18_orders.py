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

from collections.abc import Iterator
from math import nan
from statistics import fmean, stdev

import numpy as np

from mnlearn.data import Dataset
from mnlearn.errors import InputError, unknown_name, whole_number
from mnlearn.evaluation.experiment import generator_of
from mnlearn.evaluation.reproduction import Comparison, Key, Reproduction, Request
from mnlearn.graphs import star
from mnlearn.independence import BayesianTest
from mnlearn.scores import BJPScore
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts

SIZES = (250, 500, 1000, 2000, 4000, 8000, 40_000, 70_000, 100_000)
REPETITIONS = 100  # ours; the paper shows one
HUB = star(4)
ASSERTIONS = {"1_2|0": frozenset({0}), "1_2|0,3": frozenset({0, 3})}
ORDERS = {"1,2,3,0": (1, 2, 3, 0), "1,2,0,3": (1, 2, 0, 3), "1,0,2,3": (1, 0, 2, 3), "0,1,2,3": (0, 1, 2, 3)}
SMALL_FIRST = "1,2,3,0"
SOURCES = {"assertion": [*ASSERTIONS], "order": [*ORDERS], "gain": [name for name in ORDERS if name != SMALL_FIRST]}


def values(data: Dataset) -> Iterator[tuple[str, str, float]]:
    """Of one data set: the log posteriors of both assertions, and BJP of the true graph under each order."""
    posterior = BayesianTest(Counts(data, n_jobs=1))
    for name, given in ASSERTIONS.items():
        yield "assertion", name, float(posterior.log_odds(1, np.array([2]), given).independent[0])
    scores = {name: BJPScore(posterior, order=order)(HUB) for name, order in ORDERS.items()}
    for name, score in scores.items():
        yield "order", name, score
        yield "gain", name, scores[SMALL_FIRST] - score


def measure(request: Request) -> list[Comparison]:
    """Both simulations; a run that is stopped has fewer repetitions. One process: all of it is a few seconds."""
    sizes, repetitions, wanted = _checked(request)
    found: dict[Key, list[float]] = {Key(source, n, name): [] for source, name in wanted for n in sizes}
    for repetition in range(repetitions):
        if request.monitor.cancelled():
            break
        rng = generator_of("bjp-orders", "hub", max(sizes), repetition)
        network = uniform_factors(HUB, rng)
        codes = sample(network, max(sizes), rng).codes
        for n_rows in sizes:
            for source, name, value in values(Dataset.from_codes(codes[:n_rows], cards=network.cards)):
                if (source, name) in wanted:
                    found[Key(source, n_rows, name)].append(value)
        request.monitor.progress(repetition + 1, repetitions, "bjp-orders")
    return [_line(key, numbers) for key, numbers in found.items() if numbers]


def _checked(request: Request) -> tuple[list[int], int, list[tuple[str, str]]]:
    """Sizes ascending, repetitions, and the (source, name) that are asked for."""
    least = "Every data set has at least one row."
    sizes = sorted({whole_number("sizes", size, least=1, way_out=least) for size in request.sizes or SIZES})
    asked = REPETITIONS if request.repetitions is None else request.repetitions
    repetitions = whole_number("repetitions", asked, least=1, way_out="Ask for at least one.")
    names = [*ASSERTIONS, *ORDERS]
    for kind, some, known in (("source", request.sources, SOURCES), ("method", request.methods, names)):
        for name in some:
            if name not in known:
                raise unknown_name(kind, name, known)
    wanted = [
        (source, name)
        for source, members in SOURCES.items()
        for name in members
        if source in (request.sources or SOURCES) and name in (request.methods or names)
    ]
    if not wanted:
        raise InputError(f"methods must belong to the sources; {request.methods} do not. Drop the sources.")
    return sizes, repetitions, wanted


def _line(key: Key, numbers: list[float]) -> Comparison:
    """Mean and spread; the paper has no number to stand beside them."""
    sd = stdev(numbers) if len(numbers) > 1 else nan
    return Comparison(*key, None, fmean(numbers), sd, len(numbers), None, nan)


ORDERINGS = Reproduction(
    title="BJP18 Appendix B: a hub with three leaves, four orders of the blankets",
    measure=measure,
    sizes=SIZES,
    repetitions=REPETITIONS,
    quantity="log posterior",
)
