"""The graphical lasso: a whole sparse precision matrix at once, along a path of penalties.

Friedman, Hastie & Tibshirani, Biostatistics 9 (2008), 432-441  [FHT08]: maximise log det Θ − tr(SΘ) − λ Σ_u≠v |Θ_uv|;
the zeros of Θ are the missing edges. Which λ is right is told by a criterion: the extended BIC of Foygel & Drton,
NeurIPS 2010, 604-612  [FD10], or the likelihood of held-out rows. The fits are the judge's affair:
`mnlearn.scores.glasso`. Here the path is walked from no edge downwards and the best of it kept.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter

from mnlearn.errors import InputError, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import SILENT, Monitor, PathJudge, PathStep, Result


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
