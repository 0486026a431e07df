"""How often is the true structure the best of all graphs?  Table 1 of [BJP18].

Schlüter, Strappa, Milone & Bromberg, IJAR (2018), Sec. 4.1: six structures of six variables, from regular to as
irregular as can be; ten distributions for each, with factors drawn from the uniform distribution on (0, 1); ten data
sets from each distribution. Of all 32,768 graphs the one with the highest score is taken: the success rate is how often
that is the true one, without the luck of a search.

Readings. The structures are only drawn; ours have the published irregularities (`six_node_structures`). Rows are drawn
exactly, not by a Gibbs sampler, and a smaller data set is the beginning of a larger one. MPL is that of [MPL17], with
Jeffreys' prior and the graph prior; "mpl-ess" is MPL as [BJP18, Sec. 2.2.1] writes it, α = N′ / (r q) without a prior
of graphs; it does not tell N′: here 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np

from mnlearn import parallel
from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.data import Dataset
from mnlearn.errors import InputError, unknown_name, whole_number
from mnlearn.graphs.irregularity import total_irregularity
from mnlearn.graphs.structures import six_node_structures
from mnlearn.independence import BayesianTest
from mnlearn.protocols import SILENT, FloatArray, Monitor, Score
from mnlearn.scores import MPL, BJPScore, IBScore
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts

SIZES = (250, 500, 1000, 2000, 4000, 8000)
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


class SuccessRate(NamedTuple):
    """One cell of the table, published and measured."""

    structure: int  # 1 to 6
    irregularity: int
    n_rows: int
    score: str
    published: float | None
    measured: float
    standard_error: float
    deviation: float | None  # measured less published, in standard errors of the difference


def table1(
    *,
    structures: Sequence[int] = (1, 2, 3, 4, 5, 6),
    sizes: Sequence[int] = SIZES,
    scores: Sequence[str] = tuple(SCORES),
    distributions: int = DISTRIBUTIONS,
    samples: int = SAMPLES,
    seed: int = 1,
    n_jobs: int = 1,
    monitor: Monitor = SILENT,
) -> list[SuccessRate]:
    """Measure the success rates of Table 1.

    Parameters
    ----------
    structures
        Which of the six, by number.
    sizes
        Numbers of rows, ascending; those that the paper has not stand without a published figure.
    scores
        Some of `SCORES`.
    distributions, samples
        How many distributions for each structure, and data sets from each distribution.
    seed
        The same seed and the same largest size give the same cells, whatever else is asked for.
    n_jobs
        How many processes.
    monitor
        Hears the progress, and may stop it: distributions that were not reached are left out.

    Notes
    -----
    Data sets from one distribution succeed or fail together, so standard errors are taken over the distributions. The
    published figures come from ten of them: their own error is as large as ours, and part of the deviation's unit.

    Examples
    --------
    >>> cell, = table1(structures=[3], sizes=[250], scores=["bjp"], distributions=2, samples=1)
    >>> cell.irregularity, cell.published
    (18, 0.04)
    """
    for score in scores:
        if score not in SCORES:
            raise unknown_name("score", score, SCORES)
    if not set(structures) <= set(range(1, 7)):
        raise InputError(f"structures must be numbers from 1 to 6; got {list(structures)}. Drop the others.")
    for name, count in (("distributions", distributions), ("samples", samples), ("n_jobs", n_jobs)):
        whole_number(name, count, least=1, way_out="The paper has 10 distributions and 10 samples of each.")
    tasks = [
        _Task(structure, distribution, samples, tuple(sorted(sizes)), tuple(scores), seed)
        for structure, distribution in product(structures, range(distributions))
    ]
    successes: dict[int, list[FloatArray]] = {}
    rates = parallel.run(_succeeded, tasks, n_jobs=n_jobs, backend="processes", monitor=parallel.Quietly(monitor))
    for done, (task, found) in enumerate(zip(tasks, rates, strict=False), start=1):  # fewer when it was stopped
        successes.setdefault(task.structure, []).append(found)
        monitor.progress(done, len(tasks), f"structure {task.structure}")
    cells = product(enumerate(tasks[0].sizes), enumerate(tasks[0].scores)) if tasks else ()
    places = [(structure, *cell) for structure, cell in product(structures, list(cells)) if structure in successes]
    return [
        _rate(structure, size, score, np.array(successes[structure])[:, :, i, j])
        for structure, (i, size), (j, score) in places
    ]


class _Task(NamedTuple):
    """All data sets from one distribution."""

    structure: int
    distribution: int
    samples: int
    sizes: tuple[int, ...]
    scores: tuple[str, ...]
    seed: int


def _succeeded(task: _Task) -> FloatArray:
    """Whether the best of all graphs is the true one: by sample, size and score."""
    truth = six_node_structures()[task.structure - 1]
    place = (task.seed, task.structure, task.distribution)
    network = uniform_factors(truth, np.random.default_rng(place))
    found = np.zeros((task.samples, len(task.sizes), len(task.scores)))
    for k in range(task.samples):
        codes = sample(network, max(task.sizes), np.random.default_rng((*place, k))).codes
        for i, size in enumerate(task.sizes):
            counts = Counts(Dataset.from_codes(codes[:size], cards=network.cards), n_jobs=1)
            found[k, i] = [Exhaustive().learn(SCORES[score](counts)).graph == truth for score in task.scores]
    return found


def _rate(structure: int, size: int, score: str, successes: FloatArray) -> SuccessRate:
    """One cell from the successes of all data sets: a row per distribution."""
    measured, spread = float(successes.mean()), _variance(successes)
    published = PUBLISHED[score][structure - 1][SIZES.index(size)] if size in SIZES else None
    deviation = None
    if published is not None:
        both = (measured + published) / 2  # if the two are the same, this is the best guess of it
        likely = max(spread, both * (1 - both) / successes.shape[1])
        unit = sqrt(likely / len(successes) + likely / DISTRIBUTIONS)
        deviation = (measured - published) / unit
    error = sqrt(spread / len(successes))
    irregularity = total_irregularity(six_node_structures()[structure - 1])
    return SuccessRate(structure, irregularity, size, score, published, measured, error, deviation)


def _variance(successes: FloatArray) -> float:
    """The variance of a distribution's success rate; never less than that of its few data sets alone."""
    distributions, samples = successes.shape
    likely = (successes.sum() + 1) / (successes.size + 2)
    least = float(likely * (1 - likely) / samples)
    return max(float(successes.mean(axis=1).var(ddof=1)), least) if distributions > 1 else least


def as_text(rates: Iterable[SuccessRate]) -> str:
    """The table in Markdown: published / measured for every score, one line per structure and size."""
    rows = list(rates)
    scores = list(dict.fromkeys(rate.score for rate in rows))
    lines = ["| structure | irr | rows | " + " | ".join(scores) + " |", "|---|---|---|" + "---|" * len(scores)]
    for key in dict.fromkeys((rate.structure, rate.irregularity, rate.n_rows) for rate in rows):
        cells = [next(r for r in rows if (r.structure, r.irregularity, r.n_rows, r.score) == (*key, s)) for s in scores]
        shown = (f"{'' if c.published is None else f'{c.published:.2f} / '}{c.measured:.2f}" for c in cells)
        lines.append(f"| {' | '.join(map(str, key))} | {' | '.join(shown)} |")
    return "\n".join(lines)
