"""L1LR: ask for the neighbourhood of every variable apart, then make the answers agree.

Ravikumar, Wainwright & Lafferty, Annals of Statistics 38 (2010), 1287-1319  [RWL10], in the form of Barber & Drton,
EJS 9 (2015), 567-607  [BD15], which [MPL17] compares with. How a neighbourhood is chosen (l1-regularised logistic
regression, extended BIC) is the judge's affair: `mnlearn.scores.logistic`. The walk serves every judge that chooses
one variable's neighbours at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Literal, get_args

from mnlearn.algorithms._search import Constraints
from mnlearn.errors import InputError, check_name, whole_number
from mnlearn.graphs.graph import Edge, Graph
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
_TOGETHER = 16  # variables that are asked for at a time, at most
_LOTS = 4  # at least: after each lot the search may be stopped


@dataclass(frozen=True, kw_only=True)
class L1LR:
    """Join x and y if each is (or one of them is) a chosen neighbour of the other.

    Parameters
    ----------
    combine
        ``"and"``: both ends must choose each other (∧ of [MPL17]). ``"or"``: one is enough (∨).
    required, forbidden
        Edges that must, or must not, be there: part of every regression of their ends, or of none.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    One neighbourhood per variable, none depends on another. The support of an edge is that of its weaker end under
    "and", of its stronger end under "or": log odds, on the judge's own scale. A search that is stopped takes the word
    of one end where the other has not been asked. `cost` counts neighbourhoods `asked` for and models `fitted`.

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

    def __post_init__(self) -> None:
        check_name("combine", self.combine, get_args(Combine))

    def learn(self, judge: NeighborhoodJudge, monitor: Monitor = SILENT) -> Result:
        """Find the structure; see the class for how the answers are combined."""
        n, started, fitted = judge.n_variables, perf_counter(), 0
        if n < 2:
            raise InputError(f"judge must know at least 2 variables; got {n}. There is no structure in fewer.")
        known = Constraints(n, self.required, self.forbidden)
        must, barred = _around(n, known.required), _around(n, known.forbidden)
        everyone: VarSet = frozenset(range(n))
        asked = [(x, everyone - barred[x] - {x}, must[x]) for x in range(n)]
        found: dict[int, Mapping[int, float]] = {}
        for x, answer in enumerate(_answers(judge, asked, monitor)):
            found[x], fitted = answer.support, fitted + answer.fits
            monitor.progress(x + 1, n, f"variable {x + 1} of {n}")
        edges = combined(found, self.combine)
        graph = known.apply(Graph(n, edges))
        support = {edge: edges[edge] for edge in graph.edges if edge in edges}
        cost = {"asked": len(found), "fitted": fitted, "seconds": perf_counter() - started}
        return Result(graph, None, support, len(found) == n, cost, asdict(self), support_scale="log_odds")


def _answers(
    judge: NeighborhoodJudge, asked: Sequence[tuple[int, VarSet, VarSet]], monitor: Monitor
) -> Iterator[Neighborhood]:
    """In the order of the questions, by whoever does it soonest; fewer if the monitor has had enough."""
    if isinstance(judge, SpreadNeighborhoods):
        yield from judge.spread(asked, monitor)
        return
    size = max(1, min(_TOGETHER, len(asked) // _LOTS)) if isinstance(judge, BatchedNeighborhoods) else 1
    for start in range(0, len(asked), size):
        if monitor.cancelled():
            return
        lot = asked[start : start + size]
        if isinstance(judge, BatchedNeighborhoods):
            yield from judge.neighborhoods(lot)
        else:
            yield from (judge.neighborhood(*question) for question in lot)


def combined(found: Mapping[int, Mapping[int, float]], rule: Combine) -> dict[Edge, float]:
    """The edges by the rule, each with the support of its weaker end (and) or its stronger one (or)."""
    edges: dict[Edge, float] = {}
    weigh = min if rule == "and" else max
    for x, around in found.items():
        for y, support in around.items():
            if rule == "or" or y not in found or x in found[y]:
                edge = (x, y) if x < y else (y, x)
                edges[edge] = weigh(support, edges.get(edge, support))
    return edges


def _around(n: int, edges: Collection[Edge]) -> list[VarSet]:
    """The other end of each edge, by variable."""
    graph = Graph(n, edges)
    return [graph.neighbors(x) for x in range(n)]


# The graphical lasso: a whole sparse precision matrix at once, along a path of penalties.
#
# Friedman, Hastie & Tibshirani, Biostatistics 9 (2008), 432-441  [FHT08]: maximise log det Θ − tr(SΘ) − λ Σ_u≠v
# |Θ_uv|;
# the zeros of Θ are the missing edges. Which λ is right is told by a criterion: the extended BIC of Foygel & Drton,
# NeurIPS 2010, 604-612  [FD10], or the likelihood of held-out rows. The fits are the judge's affair:
# `mnlearn.scores.glasso`. Here the path is walked from no edge downwards and the best of it kept.


@dataclass(frozen=True, kw_only=True)
class GraphicalLasso:
    """The graph with the least criterion along a path of penalties.

    Parameters
    ----------
    patience
        The path ends after so many penalties in a row that do not improve the criterion; None walks all of it.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Ties go to the larger penalty. `cost` counts penalties tried (`fitted`), and among them those at which the solver
    gave up before it was done (`fallbacks`): these are not chosen. `score` is minus the criterion.

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
            whole_number("patience", self.patience, least=1, way_out="Use None to walk the whole path.")

    def learn(self, judge: PathJudge, monitor: Monitor = SILENT) -> Result:
        """Find the structure; see the class."""
        started, n = perf_counter(), judge.n_variables
        if n < 2:
            raise InputError(f"GraphicalLasso needs at least 2 variables; got {n}. There is nothing to join.")
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
            if step.converged and (best is None or step.criterion < best.criterion):
                best, waited = step, 0
            else:
                waited += 1
            if waited == self.patience:
                break
        support = {} if best is None else dict(best.support)
        cost = {"fitted": fitted, "fallbacks": failed, "seconds": perf_counter() - started}
        score = None if best is None else -best.criterion
        return Result(Graph(n, support), score, support, converged, cost, asdict(self), support_scale="log_odds")
