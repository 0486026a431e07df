"""Markov blanket search and its rivals, as [MBS09, Sec. 3.1] runs them: each with four values of one setting.

| name       | in the paper     | its four settings                                                               |
|------------|------------------|---------------------------------------------------------------------------------|
| `mbs`      | MBS              | λ; for each a graph for every k_max from 1 to 11                                |
| `mbs-ebic` |                  | none: the default of `mnlearn.learn(data, "mbs")`                               |
| `aracne`   | ARACNE           | tolerance of the data-processing inequality                                     |
| `gglas`    | GGLAS  [LY05]    | γ of the hyper-prior                                                            |
| `lasso`    |                  | γ of the extended BIC                                                           |
| `l1mb-or`  |                  | none: the blankets of L1MB, joined by OR                                        |
| `order`    | ORDLAS  [SNM07]  | random orders to start from                                                     |
| `fulldag`  | FULLDAG          | share of the arcs that a restart removes                                        |
| `spcand`   | SPCAND  [FNP99]  | share of the arcs that a restart removes                                        |
| `mbor`     | MBOR  [SNM07]    | share of the arcs that a restart removes; parents in the blankets of `l1mb-or`  |
| `mband`    | MBAND  [SNM07]   | the same, blankets joined by AND                                                |

The values of λ and of the tolerance are those of the paper; it does not print the others. The paper has "different
random restart probabilities" for the directed searches. Here a search climbs, loses each arc with this probability,
climbs again, and the better of the two networks counts. Scores of directed networks are BIC, with at most 11 parents;
their moral graphs are compared. ORDMC, which samples orders, is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import log, sqrt
from typing import Literal

import numpy as np

from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.mbs import MBS
from mnlearn.algorithms.regularized import L1LR
from mnlearn.graphs.graph import Graph
from mnlearn.independence.information import GaussianInformation
from mnlearn.protocols import FloatArray
from mnlearn.scores.entropy import Entropy, ExtendedBIC
from mnlearn.scores.lasso import EBICLasso
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.paths import lasso_path
from mnlearn_papers.directed import DirectedNetwork
from mnlearn_papers.directed_search import climb_directed, score_directed, search_orders, sparse_candidate

LAMBDAS = (1e-5, 3e-5, 5e-5, 7e-5)
LARGEST_K = 11
TOLERANCES = (0.0, 0.3, 0.5, 0.7)
GAMMAS = (0.25, 0.5, 0.75, 1.0)  # this and what follows: ours
HYPERPRIORS = (1.0, 2.0, 4.0, 8.0)  # γ in units of N log n: at 2 the penalty is √(2 log n / N) for a unit variance
RESTARTS = (0.1, 0.3, 0.5, 0.7)
ORDERS = 3  # random orders for each of four results

Graphs = Iterator[Iterable[Graph]]
"""For each setting the graphs of which the one nearest to the truth counts."""


def learn_mbs(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """For each λ the graphs after every round: that after round k is the result for k_max = k."""
    judge = Entropy(moments)
    for weight in LAMBDAS:
        yield MBS(k_max=LARGEST_K, regularization=weight).learn(judge).stages.values()


def learn_mbs_by_criterion(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """One graph, by the extended BIC."""
    yield [MBS().learn(ExtendedBIC(moments)).graph]


def learn_aracne(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """For each tolerance d of the data-processing inequality one graph."""
    judge = GaussianInformation(moments)
    for tolerance in TOLERANCES:
        yield [ARACNE(tolerance=tolerance).learn(judge).graph]


def learn_lasso(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """For each γ of the extended BIC one graph."""
    for gamma in GAMMAS:
        yield [L1LR(combine="and").learn(EBICLasso(moments, gamma=gamma)).graph]


def learn_l1mb(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """One graph, the blankets of L1MB joined by OR."""
    yield [l1mb_blankets(moments, "or")]


def l1mb_blankets(moments: Moments, combine: Literal["and", "or"]) -> Graph:
    """Return the blankets of L1MB: for each variable the set along the path of the lasso with the least BIC."""
    return L1LR(combine=combine).learn(EBICLasso(moments, gamma=0.0)).graph


def learn_gglas(moments: Moments, _rng: np.random.Generator) -> Graphs:
    """For each hyper-prior one graph."""
    unit = moments.n_rows * log(moments.n_variables)
    for strength in HYPERPRIORS:
        yield [gglas(moments, strength * unit)]


def gglas(moments: Moments, gamma: float) -> Graph:
    """Return the graph of a sparse precision matrix, by lasso regressions along the order of the columns  [LY05].

    Each variable x is regressed on those after it. With x of variance 1, an exponential hyper-prior of rate γ on the
    variances of the weights leaves a Laplace prior, and the most probable weights w minimise

        |x − Σ w_y y|² / 2N + (√(γ ψ) / N) Σ |w_y|,

    where ψ is the variance of the residual: both are found in turn. The precision matrix that the regressions make
    up, Θ = (I − W)ᵀ Ψ⁻¹ (I − W), joins x with its regressors and these with each other.

    Notes
    -----
    [MBS09] does not give the equations; the hyper-prior and the order of the variables are as in the abstract of
    [LY05] and in the remark of [MBS09] that "variable ordering is irrelevant". The order is that of the columns.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> gglas(Moments.from_covariance(chain, n_rows=500), gamma=1000.0).edges
    ((0, 1), (1, 2))
    """
    n, correlation = moments.n_variables, moments.correlation
    families = [(x, *_regressors(correlation, x, gamma, moments.n_rows)) for x in range(n)]
    return Graph(n, {pair for family in families for pair in combinations(sorted(family), 2)})


def _regressors(correlation: FloatArray, x: int, gamma: float, n_rows: int) -> list[int]:
    """Return the variables after x with a weight, once the variance of the residual has settled."""
    n = len(correlation)
    later = np.array([y for y in range(x + 1, n) if correlation[y, y] > 0], dtype=np.int64)
    if not len(later) or not correlation[x, x]:
        return []
    residual, weights = 1.0, np.zeros(n)
    for _ in range(_SETTLING):
        _, path = lasso_path(correlation, correlation[x], allowed=later, smallest=sqrt(gamma * residual) / n_rows)
        weights = path[:, -1]
        before, residual = residual, max(1.0 - 2 * weights @ correlation[x] + weights @ correlation @ weights, _EXACT)
        if abs(residual - before) <= 1e-4 * before:
            break
    return np.flatnonzero(weights).tolist()


_SETTLING = 30  # regressions of one variable at most
_EXACT = 1e-9  # the share of a variance that counts as explained in full


def learn_orders(moments: Moments, rng: np.random.Generator) -> Graphs:
    """Four times the best of some order searches, the parents by the path of the lasso and BIC."""
    score, judge = ExtendedBIC(moments, gamma=0.0), EBICLasso(moments, gamma=0.0)
    for _ in RESTARTS:
        starts = [rng.permutation(moments.n_variables).tolist() for _ in range(ORDERS)]
        found = [search_orders(score, judge, order) for order in starts]
        yield [max(found, key=partial(score_directed, score)).moral_graph()]


def learn_full_dag(moments: Moments, rng: np.random.Generator) -> Graphs:
    """Hill climbing without pruning, with restarts."""
    everyone = range(moments.n_variables)
    return learn_within(moments, [everyone for _ in everyone], rng)


def learn_sparse_candidate(moments: Moments, rng: np.random.Generator, *, k: int = LARGEST_K) -> Graphs:
    """Sparse candidate with restarts."""
    score = ExtendedBIC(moments, gamma=0.0)
    return _restarted(score, lambda start: sparse_candidate(score, k, start=start), rng)


def learn_within_l1mb(moments: Moments, rng: np.random.Generator, *, combine: Literal["and", "or"]) -> Graphs:
    """Hill climbing within the blankets of L1MB, with restarts."""
    blankets = l1mb_blankets(moments, combine)
    return learn_within(moments, [blankets.neighbors(x) for x in range(moments.n_variables)], rng)


def learn_within(
    moments: Moments, candidates: Sequence[Iterable[int]], rng: np.random.Generator, shares: Iterable[float] = RESTARTS
) -> Graphs:
    """Hill climbing with parents among candidates; for each share of a restart the better network."""
    score, allowed = ExtendedBIC(moments, gamma=0.0), [frozenset(some) for some in candidates]
    climb = partial(climb_directed, score, allowed, max_parents=LARGEST_K)
    return _restarted(score, lambda start: climb(start=start), rng, shares)


def _restarted(
    score: ExtendedBIC,
    search: Callable[[DirectedNetwork | None], DirectedNetwork],
    rng: np.random.Generator,
    shares: Iterable[float] = RESTARTS,
) -> Graphs:
    """Search; then for each share remove so many arcs at random and search on from there."""
    first = search(None)
    for share in shares:
        kept = rng.random(len(first.arcs)) >= share
        thinned = tuple(arc for arc, stays in zip(first.arcs, kept, strict=True) if stays)
        again = search(DirectedNetwork(first.n_variables, thinned))
        yield [max((first, again), key=partial(score_directed, score)).moral_graph()]


LEARNERS: Mapping[str, Callable[[Moments, np.random.Generator], Graphs]] = {
    "mbs": learn_mbs,
    "mbs-ebic": learn_mbs_by_criterion,
    "aracne": learn_aracne,
    "lasso": learn_lasso,
    "l1mb-or": learn_l1mb,
    "gglas": learn_gglas,
    "order": learn_orders,
    "fulldag": learn_full_dag,
    "spcand": learn_sparse_candidate,
    "mband": partial(learn_within_l1mb, combine="and"),
    "mbor": partial(learn_within_l1mb, combine="or"),
}
"""By name."""
