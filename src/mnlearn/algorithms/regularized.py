"""Regularised regression: L1LR chooses the neighbours of each variable, the graphical lasso all edges at once.

L1LR: Ravikumar, Wainwright & Lafferty, Annals of Statistics 38 (2010), 1287-1319  [RWL10], in the form of Barber &
Drton, EJS 9 (2015), 567-607  [BD15], which [MPL17] compares with. The judge chooses a neighbourhood (l1-regularised
logistic regression, extended BIC: `mnlearn.scores.logistic`); any judge that chooses neighbours can be used.

Graphical lasso: Friedman, Hastie & Tibshirani, Biostatistics 9 (2008), 432-441  [FHT08], maximise
log det Θ − tr(SΘ) − λ Σ_u≠v |Θ_uv|; the zeros of Θ are the missing edges. A criterion chooses λ: the extended BIC of
Foygel & Drton, NeurIPS 2010, 604-612  [FD10], or the likelihood of held-out rows. The judge fits the models
(`mnlearn.scores.glasso`); the learner follows the path from no edges to many and takes the best graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Literal, get_args

from mnlearn.algorithms.base import Constraints, check_parts, edges_of_neighborhoods
from mnlearn.algorithms.screening import CandidateRule, check_rule, closed_candidates, stated
from mnlearn.errors import UnsuitableError, check_name, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import exceeds
from mnlearn.protocols import (
    SILENT,
    BatchedNeighborhoods,
    Monitor,
    Neighborhood,
    NeighborhoodJudge,
    PathJudge,
    PathStep,
    Result,
    SpreadNeighborhoods,
    VarSet,
)

Combine = Literal["and", "or"]
_OF_NEIGHBORS = "Use L1Logistic(data), or learn(data, 'l1lr')."
_OF_PATHS = "Use learn(data, 'glasso')."
_TOGETHER = 16  # most variables in one call of the judge
_BATCHES = 4  # fewest calls: the monitor is polled between them


@dataclass(frozen=True, kw_only=True)
class L1LR:
    """Join x and y if each is (or one of them is) a chosen neighbour of the other.

    Parameters
    ----------
    combine
        ``"and"``: both ends must choose each other (∧ of [MPL17]). ``"or"``: one is enough (∨).
    required, forbidden
        Edges that the graph has, or does not have: part of every regression of their ends, or of none.
    candidates
        The pairs that may be edges: a closed list, a `Screening` for the strongest pairs, or None for all pairs.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    One neighbourhood per variable, none depends on another. The support of an edge is that of its weaker end under
    "and", of its stronger end under "or": log odds, on the judge's own scale. A search that is stopped uses the choice
    of one end where the other has none. `cost` counts the neighbourhoods (`asked`) and the models (`fitted`).

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import L1Logistic
    >>> from mnlearn.simulate import example
    >>> survey = example(2000)
    >>> judge = L1Logistic(Dataset.from_codes(survey.codes, names=survey.names))
    >>> L1LR().learn(judge).graph == survey.graph
    True
    """

    combine: Combine = "and"
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        check_rule(self.candidates)
        check_name("combine", self.combine, get_args(Combine))

    def learn(self, judge: NeighborhoodJudge, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class for the rule."""
        n, started, fitted = check_parts(judge, monitor, ("neighborhood",), _OF_NEIGHBORS), perf_counter(), 0
        listed = closed_candidates(self.candidates, judge, monitor)
        known = Constraints(n, self.required, self.forbidden, listed)
        asked = _questions(known)
        found: dict[int, Mapping[int, float]] = {}
        for x, answer in enumerate(_answers(judge, asked, monitor)):
            found[x], fitted = answer.support, fitted + answer.fits
            monitor.progress(x + 1, n, f"variable {x + 1} of {n}")
        edges = edges_of_neighborhoods(found, self.combine, min if self.combine == "and" else max)
        graph = known.apply(Graph(n, edges))
        support = {edge: edges[edge] for edge in graph.edges if edge in edges}
        cost = {"asked": len(found), "fitted": fitted, "seconds": perf_counter() - started}
        return Result(graph, None, support, len(found) == n, cost, stated(self), support_scale="log_odds")


def _questions(known: Constraints) -> list[tuple[int, VarSet, VarSet]]:
    """Return each variable with those that may be its neighbours, and those that must be."""
    n, partners = known.n_variables, known.partners()
    required, forbidden = Graph(n, known.required), Graph(n, known.forbidden)
    if partners is None:
        everyone: VarSet = frozenset(range(n))
        return [(x, everyone - forbidden.neighbors(x) - {x}, required.neighbors(x)) for x in range(n)]
    must = [required.neighbors(x) for x in range(n)]
    return [(x, frozenset(partners[x].tolist()) | must[x], must[x]) for x in range(n)]


def _answers(
    judge: NeighborhoodJudge, asked: Sequence[tuple[int, VarSet, VarSet]], monitor: Monitor
) -> Iterator[Neighborhood]:
    """Yield the neighbourhoods in order, by the fastest form that the judge has; fewer if the monitor cancels."""
    if isinstance(judge, SpreadNeighborhoods):
        yield from judge.spread(asked, monitor)
        return
    size = max(1, min(_TOGETHER, len(asked) // _BATCHES)) if isinstance(judge, BatchedNeighborhoods) else 1
    for start in range(0, len(asked), size):
        if monitor.cancelled():
            return
        batch = asked[start : start + size]
        if isinstance(judge, BatchedNeighborhoods):
            yield from judge.neighborhoods(batch)
        else:
            yield from (judge.neighborhood(*question) for question in batch)


@dataclass(frozen=True, kw_only=True)
class GraphicalLasso:
    """The graph with the least criterion along a path of penalties.

    Parameters
    ----------
    patience
        The path ends after so many penalties in a row that do not improve the criterion; None follows all of it.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Ties go to the larger penalty. `cost` counts the penalties (`fitted`), and those at which the solver did not
    converge (`fallbacks`), which are not chosen. `score` is minus the criterion.

    Examples
    --------
    >>> from mnlearn.scores.glasso import EBICPrecision
    >>> from mnlearn.statistics import Moments
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> GraphicalLasso().learn(EBICPrecision(Moments.from_covariance(chain, n_rows=500))).graph
    Graph(3, [(0, 1), (1, 2)])
    """

    patience: int | None = 10

    def __post_init__(self) -> None:
        if self.patience is not None:
            whole_number("patience", self.patience, least=1, hint="Use None to follow the whole path.")

    def learn(self, judge: PathJudge, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class."""
        started, n = perf_counter(), check_parts(judge, monitor, ("at",), _OF_PATHS)
        if not hasattr(judge, "penalties"):
            raise UnsuitableError(f"judge must have penalties; a {type(judge).__name__} has none. {_OF_PATHS}")
        best: PathStep | None = None
        waited = fitted = failed = 0
        converged = True
        penalties = judge.penalties
        for k, penalty in enumerate(penalties):
            if monitor.cancelled():
                converged = False
                break
            monitor.progress(k, len(penalties), f"penalty {penalty:.3g}")
            step = judge.at(penalty)
            fitted, failed = fitted + 1, failed + (not step.converged)
            if step.converged and (best is None or exceeds(best.criterion, step.criterion)):
                best, waited = step, 0
            else:
                waited += 1
            if waited == self.patience:
                break
        support = {} if best is None else dict(best.support)
        cost = {"fitted": fitted, "fallbacks": failed, "seconds": perf_counter() - started}
        score = None if best is None else -best.criterion
        partial = None if best is None else best.partial_correlations
        return Result(
            *(Graph(n, support), score, support, converged, cost, asdict(self)),
            support_scale="log_odds",
            partial_correlations=partial,
        )
