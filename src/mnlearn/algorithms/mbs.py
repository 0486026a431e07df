"""MBS: Markov blanket search, in which every blanket agrees with every other at every moment.

Roy, Lane & Werner-Washburne, ICML (2009)  [MBS09], Algorithm 1. The blankets of a network are symmetric: Y is in
that of X when X is in that of Y. Searches that find each blanket by itself must mend this afterwards, by AND or OR. New
here: a neighbour is weighed by what both ends gain (Eq. 6) and joins both blankets at once; nothing needs mending.

Round k lets every variable take its best new neighbour, up to k each; then each neighbour may be swapped for a better
one, and is tabu to the variable that let it go. The paper's score is S(X | M) = H(X | M) + λ log |M|; any score that is
a sum over variables will do. Where we differ: λ and k, which the paper tries out, may be left to the data (`choose`);
and a stage of deletions may end each round, without which a neighbour taken too early stays for good.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Literal, get_args

from mnlearn.algorithms._mbs_search import ApartSearch, ConsistentSearch, Regularized
from mnlearn.algorithms._search import Constraints
from mnlearn.algorithms.mbs_selection import Chooser, Run, Search, Selectable
from mnlearn.errors import InputError, UnsuitableError, check_name, is_number, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, LocalScore, Monitor, PenaltyTrial, Result

Combine = Literal["consistent", "and", "or"]
Choose = Literal["ebic", "cv"]


@dataclass(frozen=True, kw_only=True)
class MBS:
    """Add and swap neighbours, each move weighed by all the blankets it changes  [MBS09, Algorithm 1].

    Parameters
    ----------
    k_max
        The most neighbours that additions lead to. None leaves it to the data: see `choose`.
    k_hard
        The most neighbours that a variable may come to by swaps; 20 in the paper.
    regularization
        λ of S(X | M) = −score(X | M) + λ log max(1, |M|), in units of the judge: nats per row for `Entropy`, 0 to 1 in
        the paper. None leaves it to the data: see `choose`.
    choose
        How λ and k are found when they are not given and the judge has no penalty of its own (`Entropy`): several λ are
        tried, and of all the graphs after each round the best is taken, ``"ebic"`` by the extended Bayesian
        criterion, ``"cv"`` by the pseudo-likelihood of rows held out. Judges with a penalty of their own (`MPL`, `PIC`,
        `ExtendedBIC`) need no λ: then it is 0, and k grows for as long as there are moves.
    gamma
        γ of the extended criterion.
    n_folds, seed
        Of the cross-validation.
    combine
        ``"consistent"``: the paper's. For comparison, the same two stages for every blanket by itself, then an edge
        where both ends want it, ``"and"``, or one of them, ``"or"``.
    deletions
        Whether each round ends by letting neighbours go without whom both ends together are worth more. The paper has
        no such stage. None: only where the penalty is not the paper's either but the judge's own.
    required, forbidden
        Edges that must or must not be there.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, before anything is scored, if there are fewer than 2 variables,
        or the required edges do not fit.
    UnsuitableError
        From `learn`, if the judge is no local score.

    Notes
    -----
    Variables are visited in the order of the columns, as in the paper, so another order may end elsewhere; of equal
    gains the smallest index is taken. Only a positive gain is a move. A blanket never has more neighbours than the rows
    allow (`most_neighbors` of the judge): with fewer rows than variables every fit would be perfect. A constant column
    stays alone; of copies, which no score can tell apart, others join the first. The support of an edge is by how much
    the score falls without it.

    An addition asks for two new rows of gains, a swap for three; the gains of all pairs take 8 n² bytes.

    Examples
    --------
    >>> from mnlearn.scores import ExtendedBIC
    >>> from mnlearn.statistics import Moments
    >>> chain = [[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]]
    >>> result = MBS().learn(ExtendedBIC(Moments.from_covariance(chain, n_rows=100)))
    >>> result.graph.edges
    ((0, 1), (1, 2))
    >>> [(move.x, move.added, move.removed) for move in result.moves]
    [(0, 1, None), (0, 2, None), (1, 2, None), (0, None, 2)]
    """

    k_max: int | None = None
    k_hard: int = 20
    regularization: float | None = None
    choose: Choose = "ebic"
    gamma: float = 0.5
    n_folds: int = 5
    seed: int = 0
    combine: Combine = "consistent"
    deletions: bool | None = None
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        whole_number("k_hard", self.k_hard, least=1, way_out="The paper's is 20.")
        if self.k_max is not None:
            whole_number("k_max", self.k_max, least=1, way_out="None leaves it to the data.")
            if self.k_max > self.k_hard:
                raise InputError(f"k_max must not exceed k_hard; got {self.k_max} and {self.k_hard}. Raise k_hard.")
        given = {"gamma": self.gamma} | ({} if self.regularization is None else {"regularization": self.regularization})
        for name, value in given.items():
            if not (is_number(value) and value >= 0):
                raise InputError(f"{name} must be a number, 0 or more; got {value!r}. Leave it out for the default.")
        if self.deletions is not None:
            true_or_false(deletions=self.deletions)
        whole_number("n_folds", self.n_folds, least=2, way_out="Usual are 5 and 10.")
        whole_number("seed", self.seed, least=0, way_out="Any whole number will do.")
        for name, chosen, known in (("choose", self.choose, Choose), ("combine", self.combine, Combine)):
            check_name(name, chosen, get_args(known))

    def learn(self, judge: LocalScore, monitor: Monitor = SILENT) -> Result:
        """Search, with the penalty and the size that are given or chosen; see the class."""
        started = perf_counter()
        chooser = self._chooser(judge, monitor)
        run, trials = self._search(judge, chooser)
        k = chooser.best_round(run)
        graph, moves = run.graphs[k - 1], tuple(move for move in run.search.moves if move.k <= k)
        score = run.search.score
        return Result(
            graph=graph,
            score=score(graph),
            support=_support(score, graph),
            converged=run.converged,
            cost={
                "moves": len(moves),
                "swaps": sum(None not in (move.added, move.removed) for move in moves),
                "rounds": k,
                "regularization": run.regularization,
                "scored": run.search.scored,
                "seconds": perf_counter() - started,
            },
            settings={setting.name: getattr(self, setting.name) for setting in fields(self)},
            support_scale="log_odds",
            stages={f"k={round_}": stage for round_, stage in enumerate(run.graphs[:k], start=1)},
            moves=moves,
            trials=tuple(trials),
        )

    def _search(self, judge: LocalScore, chooser: Chooser) -> tuple[Run, list[PenaltyTrial]]:
        """The search whose result counts, and what was tried to find λ and k."""
        if not isinstance(judge, Selectable):  # it has a penalty of its own
            return chooser.run(judge, self.regularization or 0.0), []
        if self.regularization is not None:
            run = chooser.run(judge, self.regularization, judge.criterion(self.gamma))
            return run, [] if chooser.given_k else run.trials()
        if self.choose == "ebic":
            return chooser.by_criterion(judge, self.gamma)
        return chooser.by_folds(judge, self.n_folds, self.seed)

    def _chooser(self, judge: LocalScore, monitor: Monitor) -> Chooser:
        """What the searches have in common, checked before anything is scored."""
        for method in ("local", "additions", "removals"):
            if not hasattr(judge, method):
                raise UnsuitableError(
                    f"MBS cannot search by a {type(judge).__name__}, which has no {method}. Use a score that is a sum "
                    "over variables, such as Entropy or MPL."
                )
        n = judge.n_variables
        if n < 2:
            raise InputError(
                f"judge must know at least 2 variables; got {n}. There is no structure to learn from fewer."
            )
        known = _leaving_alone(Constraints(n, self.required, self.forbidden), getattr(judge, "constant", ()))
        fullest = int(Graph(n, known.required).degrees().max())
        if fullest > self.k_hard:
            raise InputError(
                f"k_hard must leave room for the required edges; got {self.k_hard}, where a variable has {fullest} of "
                "them. Raise it, or drop some edges."
            )
        limit = min(self.k_hard, n - 1, getattr(judge, "most_neighbors", n - 1))

        deletions = self.deletions
        if deletions is None:
            deletions = self.regularization is None and not isinstance(judge, Selectable)

        def make(score: Regularized) -> Search:
            if self.combine == "consistent":
                return ConsistentSearch(score, known, k_hard=limit, deletions=deletions)
            return ApartSearch(score, known, combine=self.combine, deletions=deletions)

        return Chooser(make, min(self.k_max or limit, limit), self.k_max is not None, monitor)


def _leaving_alone(known: Constraints, constant: Collection[int]) -> Constraints:
    """The same with all but required edges of these variables forbidden.

    Otherwise a swap might take one in for what the other end saves: the first neighbour has no price.
    """
    pairs = {(min(x, y), max(x, y)) for x in constant for y in range(known.n_variables) if x != y}
    return Constraints(known.n_variables, known.required, (pairs | set(known.forbidden)) - set(known.required))


def _support(score: Regularized, graph: Graph) -> dict[Edge, float]:
    """By how much the score falls without each edge."""
    everyone, blankets = range(graph.n_variables), [graph.neighbors(x) for x in range(graph.n_variables)]
    losses: dict[Edge, float] = dict.fromkeys(graph.edges, 0.0)
    for x, without in zip(everyone, score.removals(everyone, blankets), strict=True):
        now = score.local(x, blankets[x])
        for y, value in zip(sorted(blankets[x]), without.tolist(), strict=True):
            losses[min(x, y), max(x, y)] += now - value
    return losses
