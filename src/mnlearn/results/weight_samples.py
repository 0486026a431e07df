"""Weights of the edges in resampled rows: the samples behind intervals, difference tests and stability."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.normal_scores import normal_scores
from mnlearn.data.rows import resample
from mnlearn.data.weights import weighted_rows
from mnlearn.errors import InputError, MnlearnError, true_or_false, whole_number
from mnlearn.graphs.graph import Edge
from mnlearn.parallel import Backend, job_count, run
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.regression.weights import sampled_edge_weights

if TYPE_CHECKING:
    from mnlearn.results.explain import Recipe
    from mnlearn.results.learned import Learned

_TOGETHER = 20  # samples of a task whose structure is fixed: each takes milliseconds
_WORTH_A_WARNING = 10.0  # seconds
_log = logging.getLogger("mnlearn.stability")


class SampledWeights(NamedTuple):
    """Weights of pairs in all rows and in samples of them.

    The pairs are the edges of the network and of any sample. A row of `samples` has the weights of one sample, 0 where
    there is no edge; `present` marks the edges.
    """

    pairs: tuple[Edge, ...]
    observed: FloatArray
    samples: FloatArray
    present: Any  # array of bools
    asked: int


@dataclass(frozen=True)
class Draw:
    """One sample: its share of the rows, drawn without replacement; None for a bootstrap sample.

    A row with a weight is drawn as one row and keeps its weight.
    """

    seed: np.random.SeedSequence
    share: float | None = None

    def rows(self, data: Dataset) -> Dataset:
        """Return the drawn rows."""
        rng = np.random.default_rng(self.seed)
        if self.share is None:
            return resample(data, rng)
        if data.is_weighted:
            return weighted_rows(data, max(2, round(self.share * data.n_records)), rng)
        return data.sample(max(2, round(self.share * data.n_rows)), rng)


_Weights = tuple[tuple[Edge, ...], list[float]]


@dataclass(frozen=True)
class _Relearned:
    """Picklable task: draw rows, learn their network, return its weights."""

    recipe: Recipe
    data: Dataset

    def __call__(self, draws: Sequence[Draw]) -> list[_Weights]:
        return [_weights(self.recipe.learn(draw.rows(self.data), n_jobs=1)) for draw in draws]


@dataclass(frozen=True)
class _Reweighted:
    """Task: draw rows, return the weights of the same edges."""

    data: Dataset
    edges: tuple[Edge, ...]
    neighbors: tuple[frozenset[int], ...]
    transformed: bool

    def __call__(self, draws: Sequence[Draw]) -> list[_Weights]:
        return self.of([draw.rows(self.data) for draw in draws])

    def of(self, samples: Sequence[Dataset]) -> list[_Weights]:
        """Return the weights of the edges in each sample; 0 where they are undefined."""
        rows = [normal_scores(data) for data in samples] if self.transformed else samples
        found = [weights.values for weights in sampled_edge_weights(rows, self.neighbors)]
        return [(self.edges, [values.get(edge, 0.0) for edge in self.edges]) for values in found]


def _weights(learned: Learned) -> _Weights:
    """Return the edges of a network and their weights; 0 where they are undefined."""
    known = {} if learned.weights is None else learned.weights.values
    return learned.graph.edges, [known.get(edge, 0.0) for edge in learned.graph.edges]


def sampled_weights(
    learned: Learned,
    what: str,
    draws: Sequence[Draw],
    *,
    relearn: bool,
    n_jobs: int | None,
    client: Any = None,
    monitor: Monitor = SILENT,
    after: Callable[[SampledWeights], object] | None = None,
) -> SampledWeights:
    """Return the weights in all rows and in each sample; fewer samples if the monitor cancels.

    The first sample is done alone and timed: a message of the logger ``mnlearn.stability`` says how long all of them
    take, with what is to be computed `after` them, on one core.
    """
    recipe, data = learned.ingredients(what)
    if data.n_rows < 4:
        raise InputError(f"data must have at least 4 rows to be resampled; got {data.n_rows}. Add rows.")
    task: Callable[[Sequence[Draw]], list[_Weights]]
    if relearn:
        observed, task, size = _weights(learned), _Relearned(recipe, data), 1
    else:
        around = tuple(learned.graph.neighbors(x) for x in range(len(learned.names)))
        transformed = learned.settings.get("transform") == "normal_scores"
        task = _Reweighted(data, learned.graph.edges, around, transformed)
        (observed,), size = task.of([data]), _TOGETHER
    rest = [draws[k : k + size] for k in range(size, len(draws), size)]
    backend: Backend = "processes" if relearn else "threads"
    others = run(task, rest, n_jobs=n_jobs, client=client, backend=backend, monitor=monitor)  # checks; starts below
    on_cluster = client is not None
    found: list[_Weights] = []
    if not monitor.cancelled():
        began = perf_counter()
        found = task(draws[:size])
        learning = perf_counter() - began
        if after is not None:
            after(_together(observed, found, len(draws)))
        rest_of_it = perf_counter() - began - learning
        jobs = 1 if on_cluster else job_count(n_jobs)
        _log_time((learning / jobs + rest_of_it) / len(found), draws, jobs, size, on_cluster=on_cluster)
    found += [weights for part in others for weights in part]
    if not found:
        raise MnlearnError(f"{what} was cancelled before the first sample was done. Let it run longer.")
    return _together(observed, found, len(draws))


def _log_time(each: float, draws: Sequence[Draw], jobs: int, size: int, *, on_cluster: bool) -> None:
    """Log how long all samples will take, from the seconds of one of the first."""
    seconds = each * len(draws)
    where = "one worker" if on_cluster else "1 core" if jobs == 1 else f"{jobs} cores"
    halves = ", halves of the rows" if draws[0].share is None else ""
    less = f". Fewer samples{halves} or a fixed structure take less time" if size == 1 else ""
    level = logging.WARNING if seconds >= _WORTH_A_WARNING else logging.INFO
    _log.log(level, "%s samples take about %s on %s%s", f"{len(draws):,}", _in_words(seconds), where, less)


def _in_words(seconds: float) -> str:
    """Return a time with its unit.

    Examples
    --------
    >>> _in_words(0.2), _in_words(40), _in_words(600), _in_words(7200)
    ('1 s', '40 s', '10 min', '2.0 h')
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _together(observed: _Weights, found: Sequence[_Weights], asked: int) -> SampledWeights:
    """Return all weights as arrays over the pairs that are an edge somewhere."""
    pairs = tuple(sorted(set(observed[0]).union(*(edges for edges, _ in found))))
    place = {pair: k for k, pair in enumerate(pairs)}
    samples, present = np.zeros((len(found), len(pairs))), np.zeros((len(found), len(pairs)), dtype=bool)
    for row, (edges, weights) in enumerate(found):
        columns = [place[edge] for edge in edges]
        samples[row, columns], present[row, columns] = weights, True
    whole = np.zeros(len(pairs))
    whole[[place[edge] for edge in observed[0]]] = observed[1]
    return SampledWeights(pairs, whole, samples, present, asked)


def check_sampling(n_samples: object, seed: object, relearn: object) -> int:
    """Return the number of samples, or raise InputError for a bad setting."""
    whole_number("seed", seed, least=0, hint="Leave it out for 0.")
    true_or_false(relearn=relearn)
    return whole_number("n_samples", n_samples, least=2, most=10**7, hint="1000 are usual.")
