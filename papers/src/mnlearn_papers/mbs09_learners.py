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

Do the neighbourhoods of a learned network hold together in meaning?  Table 4 and Figure 1 of [MBS09].

Roy, Lane & Werner-Washburne, ICML (2009), Sec. 3.3: networks of 1,808 genes of yeast, learned from four data sets by
MBS (λ = 1e-4, k_max = 4), ARACNE (tolerance 0.3) and sparse candidate (4 parents). Each gene with its neighbours is
tested for enrichment in the terms of the gene ontology, by hypergeometric p-values.

Readings. The expression data are replaced by a simulation with planted modules, so that what is found can be checked:
1,808 normal variables in modules of 8 to 60, each module a random graph of average degree 3, and one edge between
modules for every ten variables; a network for every data set. The paper does not give the number of rows; here 200.
The annotation has, from narrow to broad, a term for the variables within two steps of every sixth variable, one for
every module, and one for every four modules together. Each has 70 % of its members, and one stranger for every ten. For
each there is a random term of as many variables, which no method should find.

Beside the measures of the paper, which are over the planted terms: "found" is the share of planted terms, and "false"
of random terms, with a p-value that is significant at a false discovery rate of 5 % over all subgraphs and terms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, combinations, pairwise
from math import log, nan, sqrt
from pathlib import Path
from time import process_time
from typing import Literal

import numpy as np

from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.mbs import MBS
from mnlearn.algorithms.regularized import L1LR
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.evaluation.metrics import precision, recall
from mnlearn.graphs.generators import disjoint_union, random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.independence.information import GaussianInformation
from mnlearn.protocols import FloatArray
from mnlearn.scores.entropy import Entropy, ExtendedBIC
from mnlearn.scores.lasso import EBICLasso
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.paths import lasso_path
from mnlearn_papers.directed import DirectedNetwork, climb_directed, score_directed, search_orders, sparse_candidate
from mnlearn_papers.enrichment import Enrichment, better_terms, enrichment
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.reproduction import Reproduction

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


N_GENES = 1808
LEVELS = {"1e-3": 1e-3, "1e-4": 1e-4, "1e-5": 1e-5, "1e-6": 1e-6}
DISCOVERY = 0.05
_SMALLEST, _LARGEST = 8, 60  # members of a module
_APART, _UNITED = 6, 4  # variables for one narrow term, modules for one broad term
_RANDOM = "random "  # names of terms that mean nothing begin so

Terms = Mapping[str, list[int]]


def _mbs(moments: Moments) -> Graph:
    return MBS(k_max=4, regularization=1e-4).learn(Entropy(moments)).graph


def _mbs_by_criterion(moments: Moments) -> Graph:
    return MBS().learn(ExtendedBIC(moments)).graph


def _aracne(moments: Moments) -> Graph:
    return ARACNE(tolerance=0.3).learn(GaussianInformation(moments)).graph


def _sparse_candidate(moments: Moments) -> Graph:
    return sparse_candidate(ExtendedBIC(moments, gamma=0.0), 4).moral_graph()


NETWORK_LEARNERS: Mapping[str, Callable[[Moments], Graph]] = {
    "mbs": _mbs,
    "aracne": _aracne,
    "spcand": _sparse_candidate,
    "mbs-ebic": _mbs_by_criterion,
}
"""By name; "mbs-ebic" is the default of `mnlearn.learn(data, "mbs")`."""


@dataclass(frozen=True)
class Modules:
    """One network with planted modules, its annotation, and all learners on one data set."""

    n_genes: int

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Measures of enrichment, errors, seconds and memory."""
        modules, truth = planted_modules(self.n_genes, rng)
        terms = annotation(modules, truth, rng)
        rows = sparse_gaussian(truth, rng).sample(size, rng)
        moments = Moments.from_covariance(np.cov(rows.T, bias=True), size)
        found: dict[str, Measured] = {}
        planted: dict[str, Enrichment] = {}
        for name, learn in NETWORK_LEARNERS.items():
            started = process_time()
            graph = learn(moments)
            seconds = process_time() - started
            tested = enrichment(graph, terms)
            planted[name] = _planted(tested)
            worse, better = better_terms(planted["mbs"], planted[name])
            numbers = {
                **_measures(tested),
                **({} if name == "mbs" else {"worse": worse, "better": better}),
                "edges": graph.n_edges,
                "precision": precision(graph, truth),
                "recall": recall(graph, truth),
                "seconds": seconds,
            }
            found |= {f"{name} {what}": Measured(float(number), seconds) for what, number in numbers.items()}
        return found | {"all MiB": Measured(_peak(), 0.0)}


def planted_modules(n: int, rng: np.random.Generator) -> tuple[list[range], Graph]:
    """Modules of 8 to 60 variables in a row, and a graph that joins members much more often than strangers."""
    sizes: list[int] = []
    while (left := n - sum(sizes)) > 0:
        size = min(int(rng.integers(_SMALLEST, _LARGEST + 1)), left)
        sizes.append(left if left - size < _SMALLEST else size)
    within = disjoint_union([random_graph(size, 3.0, rng) for size in sizes])
    between = [rng.choice(n, 2, replace=False).tolist() for _ in range(n // 10)]
    return [range(*ends) for ends in pairwise(accumulate(sizes, initial=0))], within.add(
        [(min(pair), max(pair)) for pair in between if not within.has_edge(*pair)]
    )


def annotation(modules: Sequence[range], truth: Graph, rng: np.random.Generator) -> Terms:
    """Terms for parts of modules, for modules, for four modules together, and as many random terms.

    Examples
    --------
    >>> terms = annotation([range(0, 5), range(5, 10)], Graph.empty(10), np.random.default_rng(1))
    >>> list(terms)
    ['part 0', 'module 0', 'module 1', 'united 0', 'random 0', 'random 1', 'random 2', 'random 3']
    """
    n = truth.n_variables
    members: dict[str, set[int]] = {}
    for k, x in enumerate(rng.choice(n, n // _APART, replace=False).tolist()):
        near = {x, *truth.neighbors(x)}
        members[f"part {k}"] = near.union(*(truth.neighbors(y) for y in near))
    members |= {f"module {k}": set(module) for k, module in enumerate(modules)}
    for k, first in enumerate(range(0, len(modules), _UNITED)):
        members[f"united {k}"] = {x for module in modules[first : first + _UNITED] for x in module}
    terms = {name: _annotated(sorted(some), n, rng) for name, some in members.items()}
    sizes = [len(some) for some in terms.values()]
    random = {f"{_RANDOM}{k}": sorted(rng.choice(n, size, replace=False).tolist()) for k, size in enumerate(sizes)}
    return terms | random


def _annotated(members: Sequence[int], n: int, rng: np.random.Generator) -> list[int]:
    """The members whose annotation is known, at least one, and some strangers."""
    known = [x for x in members if rng.random() < 0.7] or [members[0]]
    return sorted({*known, *rng.choice(n, len(members) // 10, replace=False).tolist()})


def discovery_threshold(p_values: FloatArray, rate: float) -> float:
    """Return the largest p-value that is significant at a false discovery rate; −1 if none is (Benjamini & Hochberg).

    Examples
    --------
    >>> discovery_threshold(np.array([0.01, 0.02, 0.03, 0.9]), 0.05)
    0.03
    """
    ordered = np.sort(p_values, axis=None)
    good = np.flatnonzero(ordered <= rate * np.arange(1, ordered.size + 1) / ordered.size)
    return float(ordered[good[-1]]) if good.size else -1.0


def _measures(tested: Enrichment) -> dict[str, float]:
    """Sensitivity and locality by level, and the shares of planted and of random terms that are found."""
    planted, found = _planted(tested), {}
    for name, level in LEVELS.items():
        locality = planted.locality(level)
        found[f"sensitivity {name}"] = planted.sensitivity(level)
        found[f"locality {name}"] = nan if locality is None else locality
    significant = tested.best() <= discovery_threshold(tested.p_values, DISCOVERY)
    random = np.array([term.startswith(_RANDOM) for term in tested.terms])
    return {**found, "found": float(significant[~random].mean()), "false": float(significant[random].mean())}


def _planted(tested: Enrichment) -> Enrichment:
    """The planted terms alone."""
    kept = [t for t, term in enumerate(tested.terms) if not term.startswith(_RANDOM)]
    return Enrichment(tuple(tested.terms[t] for t in kept), tested.p_values[:, kept])


def _peak() -> float:
    """The largest memory of the process so far, in MiB; nan where the system does not tell."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return nan
    return getrusage(RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)  # there in bytes


_QUANTITIES = (
    *(f"{what} {level}" for what in ("sensitivity", "locality") for level in LEVELS),
    *("found", "false", "worse", "better", "edges", "precision", "recall", "seconds"),
)


def _modules(n_genes: int, _data: Path | None) -> Mapping[str, Trial]:
    """The trials by name."""
    return {"modules": Modules(n_genes)}


ENRICHMENT = Reproduction(
    title="MBS09 Section 3.3: enrichment of the neighbourhoods of 1,808 genes in planted modules",
    measure=Measurement(
        name="mbs-enrichment",
        trials=partial(_modules, N_GENES),
        learners=(*(f"{learner} {what}" for learner in NETWORK_LEARNERS for what in _QUANTITIES), "all MiB"),
        sizes=(200,),
        repetitions=4,
    ),
    quantity="measures of enrichment",
)
