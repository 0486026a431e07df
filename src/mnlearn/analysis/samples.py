"""Resampling: how often each pair is an edge when the network is learned from resampled rows.

Three sampling schemes:

- ``"subsamples"``, the default: 63.2 % of the rows without replacement, as many distinct rows as a bootstrap sample
  has on average. A row that is there twice looks like two observations to any test and any score, so a plain
  bootstrap finds edges that as many fresh rows would not give: see [DJSB16], and docs/confidence.md for measurements;
- ``"bootstrap"``: as many rows as there are, with replacement;
- ``"halves"``: both halves of a random split, the complementary pairs of stability selection [SS13], for which the
  number of wrongly selected edges has a bound.

Weights of the edges in resampled rows: the samples behind intervals, difference tests and stability.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from mnlearn.checkpoint import open_checkpoint
from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import resample, split, weighted_rows
from mnlearn.data.transforms import normal_scores
from mnlearn.errors import InputError, MnlearnError, check_name, is_number, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.parallel import Backend, job_count, run
from mnlearn.protocols import SILENT, FloatArray, Monitor, Result
from mnlearn.regression.weights import sampled_edge_weights
from mnlearn.results.edges import pair_support

if TYPE_CHECKING:
    from mnlearn.results.explain import Recipe
    from mnlearn.results.learned import Learned


Sampling: TypeAlias = Literal["subsamples", "bootstrap", "halves"]
SHARE = 0.632  # of the rows, in subsamples


@dataclass(frozen=True)
class Resampling:
    """Record of a resampling run.

    Attributes
    ----------
    sampling
        The sampling scheme.
    seed
        The seed.
    asked, done
        Number of samples requested and done; fewer if the run was cancelled.
    mean_edges
        Mean number of edges per sample.
    n_pairs
        Number of pairs of variables.
    threshold
        The smallest frequency of an edge, if the network was chosen by frequency.

    Examples
    --------
    >>> Resampling("halves", 0, 100, 100, mean_edges=10.0, n_pairs=190).expected_false(0.9)
    0.6578947368421053
    """

    sampling: Sampling
    seed: int
    asked: int
    done: int
    mean_edges: float
    n_pairs: int
    threshold: float | None = None

    def __str__(self) -> str:
        """Return the number and kind of samples, in words."""
        drawn = {
            "subsamples": "63.2 % of the rows each",
            "bootstrap": "rows drawn with replacement",
            "halves": "halves",
        }
        stopped = "" if self.done == self.asked else f" of {self.asked:,}, stopped"
        chosen = "" if self.threshold is None else f"; edges in at least {self.threshold:.0%} of them"
        return f"{self.done:,} samples{stopped} ({drawn[self.sampling]}, seed {self.seed}){chosen}"

    def expected_false(self, threshold: float) -> float:
        """Return a bound on the expected number of false edges with at least this frequency: q² / ((2 τ − 1) p).

        q is the mean number of edges, p the number of pairs [MB10, Theorem 1]. For complementary pairs [SS13, Theorem
        1] it bounds, without further assumptions, the expected number of chosen pairs that a half of the rows makes an
        edge less often than q / p, the share that blind guessing would give.

        Raises
        ------
        InputError
            If sampling is not "halves", or the threshold is not above 1/2.
        """
        if self.sampling != "halves":
            raise InputError(
                f"sampling must be 'halves' for a bound on false edges; got {self.sampling!r}. Resample in halves."
            )
        _check_threshold(threshold, above=0.5)
        return self.mean_edges**2 / ((2 * threshold - 1) * self.n_pairs)


def resampled(
    learned: Learned,
    n_samples: int,
    *,
    sampling: Sampling,
    seed: int,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    monitor: Monitor = SILENT,
) -> Learned:
    """Return the network with the frequencies of its pairs; see `Learned.bootstrap`."""
    wanted = whole_number("n_samples", n_samples, least=2, most=10**7, hint="200 are usual.")
    seed = whole_number("seed", seed, least=0, hint="Leave it out for 0.")
    check_name("sampling", sampling, get_args(Sampling))
    recipe, data = learned.ingredients("bootstrap")
    if data.n_rows < 4:
        raise InputError(f"data must have at least 4 rows to be resampled; got {data.n_rows}. Add rows.")
    task = _OneDraw(recipe, data, sampling)
    n_draws = (wanted + 1) // 2 if sampling == "halves" else wanted
    seeds = np.random.SeedSequence(seed).spawn(n_draws)
    counts: Counter[Edge] = Counter()
    done, n = 0, len(learned.names)
    # A search spends its time in Python, so processes scale where threads would not.
    learn_all = partial(run, task, n_jobs=n_jobs, client=client, backend="processes", monitor=monitor)
    with open_checkpoint(checkpoint, resume, data.fingerprint(), recipe.fingerprint(), sampling, seed) as journal:
        found = learn_all(seeds) if journal is None else journal.items(learn_all, seeds, partial(_graphs, n))
        for graphs in found:
            done += len(graphs)
            for edges in graphs:
                counts.update(edges)
    if not done:
        raise MnlearnError("resampling was cancelled before the first sample was done. Let it run longer.")
    asked = 2 * n_draws if sampling == "halves" else wanted
    record = Resampling(sampling, seed, asked, done, counts.total() / done, n * (n - 1) // 2)
    frequencies = {edge: count / done for edge, count in sorted(counts.items())}
    return replace(learned, frequencies=frequencies, resampling=record)


def _graphs(n_variables: int, stored: list[list[Edge]]) -> list[tuple[Edge, ...]]:
    """Return the edges of stored graphs; raise InputError for impossible ones."""
    return [Graph(n_variables, edges).edges for edges in stored]


@dataclass(frozen=True)
class _OneDraw:
    """Picklable task: draw rows and learn from them."""

    recipe: Recipe
    data: Dataset
    sampling: Sampling

    def __call__(self, seed: np.random.SeedSequence) -> list[tuple[Edge, ...]]:
        return [self.recipe.learn(part, n_jobs=1).graph.edges for part in self._parts(seed)]

    def _parts(self, seed: np.random.SeedSequence) -> tuple[Dataset, ...]:
        data, n_rows, rng = self.data, self.data.n_rows, np.random.default_rng(seed)
        if self.sampling == "bootstrap":
            return (resample(data, rng),)
        if self.sampling == "subsamples":
            return (data.sample(max(2, round(SHARE * n_rows)), rng),)
        first, rest = split(data, n_rows // 2, rng)
        return (first, rest) if n_rows % 2 == 0 else (first, rest.sample(n_rows // 2, rng))


def stable(learned: Learned, threshold: float) -> Learned:
    """Return the network of the pairs with at least this frequency; see `Learned.stable`."""
    _check_threshold(threshold, above=0.0)
    if learned.frequencies is None:
        raise InputError(
            "frequencies are needed to choose edges by them; got none. Resample first: learned.bootstrap()."
        )
    kept = [edge for edge, share in learned.frequencies.items() if share >= threshold]
    found, known = learned.result, pair_support(learned) or {}
    support = {edge: value for edge in kept if (value := known.get(edge)) is not None}
    plain = Result(
        *(Graph(len(learned.names), kept), None, support, found.converged, found.cost, found.settings),
        support_scale=found.support_scale,
        probabilistic=found.probabilistic,
        edge_probabilities=found.edge_probabilities,
        log_odds=found.log_odds,
    )
    record = None if learned.resampling is None else replace(learned.resampling, threshold=threshold)
    return replace(learned, result=plain, resampling=record, saved_weights=None)  # they belong to the other edges


def _check_threshold(threshold: float, *, above: float) -> None:
    """Raise InputError unless threshold is a share above the limit."""
    if not is_number(threshold) or not above < threshold <= 1:
        raise InputError(f"threshold must be above {above:g} and at most 1; got {threshold!r}. 0.9 is usual.")


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
