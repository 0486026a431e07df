"""MBS: Markov blanket search with blankets that agree after every move.

Roy, Lane & Werner-Washburne, ICML (2009)  [MBS09], Algorithm 1. The blankets of a network are symmetric: Y is in that
of X when X is in that of Y. Searches that find each blanket by itself must repair this afterwards, by AND or OR. MBS
weighs a neighbour by the gain of both ends (Eq. 6) and adds it to both blankets at once; nothing needs a repair.

Round k lets every variable take its best new neighbour, up to k each; then each neighbour may be swapped for a better
one, and is tabu to the variable that gave it up. The paper's score is S(X | M) = H(X | M) + λ log |M|; any score that
is a sum over variables can be used. Two things differ: λ and k, which the paper tries out, may be chosen by the data
(`choose`); and a stage of deletions may end each round, without which a neighbour taken too early
stays for good.

Choice of the penalty λ and the limit k of Markov blanket search, and the search for independent blankets.

The paper tries several λ and k and takes the best by the true network [MBS09, Sec. 3.1], which a user does not have.
Here a criterion or held-out rows decide. Independent blankets are the search that the paper compares with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from time import perf_counter
from typing import Literal, NamedTuple, Protocol, cast, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, Constraints, ScoreAssociation, check_cancelled, check_parts, ordered
from mnlearn.algorithms.screening import CandidateRule, check_rule, closed_candidates, stated
from mnlearn.errors import InputError, UnsuitableError, check_name, check_room, is_number, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import Criterion, exceeds, first_best, first_maximum, log, tolerance
from mnlearn.protocols import (
    SILENT,
    FloatArray,
    Indices,
    LocalScore,
    Monitor,
    Move,
    PenaltyTrial,
    Result,
    Score,
    VarSet,
)

STRENGTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The λ to try, in units of log(n) / N: about what the best of n useless neighbours seems to explain."""

Exchanges = Callable[[int, VarSet, Indices], Sequence[FloatArray]]
Stage = Callable[[int, int], None]  # changes the blanket of x in round k


@runtime_checkable
class Selectable(LocalScore, Protocol):
    """Local score without a penalty of its own, with the means to compare the graphs of different penalties."""

    @property
    def n_rows(self) -> int: ...
    def criterion(self, gamma: float) -> LocalScore:
        """Return a score that compares blankets of different sizes."""
        ...

    def folds(self, n_folds: int, seed: int) -> Sequence[tuple[LocalScore, Score]]:
        """Return for each fold the score by the other rows, and the score of a graph on the rows of the fold."""
        ...


class Regularized:
    """Local score less λ log |M|: the paper's −S(X | M) for any local score  [MBS09, Sec. 2.4].

    An empty blanket and one of a single neighbour have no penalty.
    """

    def __init__(self, judge: LocalScore, regularization: float) -> None:
        self.judge, self.n_variables, self.regularization = judge, judge.n_variables, regularization
        self._penalty = regularization * log(np.maximum(np.arange(judge.n_variables + 1), 1))
        self._exchanges = cast(Exchanges | None, getattr(judge, "exchanges", None))

    def __call__(self, graph: Graph) -> float:
        """Return −Σ S of a whole graph."""
        return self.judge(graph) - fsum(self._penalty[graph.degrees()])

    def local(self, x: int, blanket: VarSet) -> float:
        """Return −S(x | blanket)."""
        return self.judge.local(x, blanket) - float(self._penalty[len(blanket)])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return −S of each x with one more neighbour, each y in turn."""
        found = self.judge.additions(xs, blankets, yss)
        return [values - self._penalty[len(blanket) + 1] for values, blanket in zip(found, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return −S of each x with one neighbour less, each in turn in ascending order."""
        found = self.judge.removals(xs, blankets)
        return [values - self._penalty[len(blanket) - 1] for values, blanket in zip(found, blankets, strict=True)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> FloatArray:
        """Return −S of x with y in place of a member: a row of all y for each member in ascending order."""
        if self._exchanges is not None:
            found = self._exchanges(x, blanket, ys)
        else:
            rest = [blanket - {member} for member in sorted(blanket)]
            found = self.judge.additions([x] * len(rest), rest, [ys] * len(rest))
        return np.asarray(np.asarray(found) - self._penalty[len(blanket)])


class BlanketSearch(Protocol):
    """State of one search: the blankets, and the stages that change those of one variable in round k."""

    score: Regularized
    moves: list[Move]
    scored: int
    stages: Sequence[Stage]

    def start(self, monitor: Monitor) -> None: ...
    def graph(self) -> Graph: ...
    def largest(self) -> int: ...


class SearchRun(NamedTuple):
    """A finished search: the graph after each round and its value by the criterion."""

    search: BlanketSearch
    graphs: list[Graph]
    values: list[float]
    k: int  # the round whose graph counts, from 1
    converged: bool

    def trials(self) -> list[PenaltyTrial]:
        """Return the value of each k."""
        regularization = self.search.score.regularization
        return [PenaltyTrial(regularization, k, value) for k, value in enumerate(self.values, start=1)]


class RunSearch(Protocol):
    """Function that runs one search; with a criterion it ends some rounds after the best graph."""

    def __call__(
        self, judge: LocalScore, regularization: float, criterion: Score | None = None, k_max: int | None = None
    ) -> SearchRun: ...


def choose_by_criterion(run_search: RunSearch, judge: Selectable, gamma: float) -> tuple[SearchRun, list[PenaltyTrial]]:
    """Return the best search over all λ by the criterion, of equals the smallest λ; and all trials."""
    criterion, trials, best = judge.criterion(gamma), list[PenaltyTrial](), None
    for regularization in penalties(judge):
        run = run_search(judge, regularization, criterion)
        trials += run.trials()
        if best is None or exceeds(run.values[run.k - 1], best.values[best.k - 1]):
            best = run
        if not run.converged:
            return best._replace(converged=False), trials
    return cast(SearchRun, best), trials


def choose_by_folds(
    run_search: RunSearch, judge: Selectable, n_folds: int, seed: int, *, given_k: bool
) -> tuple[SearchRun, list[PenaltyTrial]]:
    """Return the search with the λ and k that predict held-out rows best, and all trials summed over the folds."""
    folds, trials = judge.folds(n_folds, seed), list[PenaltyTrial]()
    for regularization in penalties(judge):
        runs = [run_search(train, regularization, heldout) for train, heldout in folds]
        if not all(run.converged for run in runs):
            return run_search(judge, regularization)._replace(converged=False), trials
        longest = max(len(run.values) for run in runs)
        # A search that ended earlier would have stayed as it was, or become worse.
        ended = [[*run.values, *[run.values[-1]] * (longest - len(run.values))] for run in runs]
        sums = [fsum(values) for values in zip(*ended, strict=True)]
        trials += [PenaltyTrial(regularization, k, value) for k, value in enumerate(sums, start=1)]
    last = {trial.regularization: trial for trial in trials}  # with a given k only the last round counts
    tried = list(last.values()) if given_k else trials
    best = tried[first_maximum([trial.value for trial in tried])]
    return run_search(judge, best.regularization, k_max=None if given_k else best.k_max), trials


def penalties(judge: Selectable) -> list[float]:
    """Return the λ to try."""
    return [strength * log(judge.n_variables) / judge.n_rows for strength in STRENGTHS]


class IndependentBlankets:
    """Blankets that need not agree; the graph joins two variables if both choose each other, or if one does.

    The add and swap stages are those of Algorithm 1, for every blanket by itself  [MBS09, Sec. 2.4].
    """

    def __init__(
        self, score: Regularized, known: Constraints, *, combine: Literal["and", "or"], deletions: bool
    ) -> None:
        n = known.n_variables
        self.moves: list[Move] = []
        self.scored = 0
        self.score, self._combine, self._deletions = score, combine, deletions
        self.stages: Sequence[Stage] = (self._change,)
        start = Graph(n, known.required)
        self._required = [start.neighbors(x) for x in range(n)]
        self._blankets: list[VarSet] = list(self._required)
        self._allowed = known.mask()
        self._scores = [score.local(x, blanket) for x, blanket in enumerate(self._blankets)]
        self._rounding, self._association = 3 * tolerance(self._scores), ScoreAssociation(score)

    def start(self, monitor: Monitor) -> None:
        """Do nothing: there are no gains to compute in advance."""

    def graph(self) -> Graph:
        """Return the graph of the current blankets."""
        chosen = [(x, y) for x, blanket in enumerate(self._blankets) for y in blanket]
        if self._combine == "and":
            chosen = [(x, y) for x, y in chosen if x in self._blankets[y]]
        return Graph(len(self._blankets), chosen)

    def largest(self) -> int:
        """Return the size of the largest blanket."""
        return max(map(len, self._blankets))

    def _change(self, x: int, k: int) -> None:
        """Add one neighbour if there are fewer than k, then swap, then delete."""
        if len(self._blankets[x]) < k:
            self._take(x, None, k)
        for y in sorted(self._blankets[x] - self._required[x]):
            if self._take(x, y, k):
                self._allowed[x, y] = False  # tabu from now on
        while self._deletions and self._delete(x, k):
            pass

    def _take(self, x: int, leaving: int | None, k: int) -> bool:
        """Add the best neighbour, in place of the one that leaves if there is one; return False if none improves."""
        rest = self._blankets[x] if leaving is None else self._blankets[x] - {leaving}
        ys = outside(x, self._blankets[x], len(self._blankets))
        ys = ys[self._allowed[x, ys]]
        values = self.score.additions([x], [rest], [ys])[0]
        self.scored += len(ys)
        best = first_best(values, self._scores[x], self._rounding, *self._association.joining(x, ys))
        if best is None:
            return False
        y = int(ys[best])
        self._record(Move(k, x, y, leaving, float(values[best]) - self._scores[x]), rest | {y}, float(values[best]))
        return True

    def _delete(self, x: int, k: int) -> bool:
        """Remove the neighbour without which x scores best; return False if none improves."""
        members = sorted(self._blankets[x])
        if not members:
            return False
        fixed = [y in self._required[x] for y in members]
        values = np.where(fixed, -np.inf, self.score.removals([x], [self._blankets[x]])[0])
        self.scored += len(members)
        best = first_best(values, self._scores[x], self._rounding, *self._association.leaving(x, members))
        if best is None:
            return False
        y, value = members[best], float(values[best])
        self._record(Move(k, x, None, y, value - self._scores[x]), self._blankets[x] - {y}, value)
        return True

    def _record(self, move: Move, blanket: VarSet, score: float) -> None:
        self.moves.append(move)
        self._blankets[move.x], self._scores[move.x] = blanket, score


def outside(x: int, blanket: VarSet, n_variables: int) -> NDArray[np.int64]:
    """Return all variables but x and its blanket, in ascending order."""
    free = np.ones(n_variables, dtype=np.bool_)
    free[[x, *blanket]] = False
    return np.flatnonzero(free)


Combine = Literal["consistent", "and", "or"]
Choose = Literal["ebic", "cv"]
_PATIENCE = 3  # rounds without a better graph before a search with a criterion ends
_FEWER = "Choose fewer columns, or a method that stores none: mpl, sep, gsmn*."
_BLOCK = 1 << 22  # gains computed at once: 32 MiB


@dataclass(frozen=True, kw_only=True)
class MBS:
    """Add and swap neighbours, each move weighed by all the blankets it changes  [MBS09, Algorithm 1].

    Parameters
    ----------
    k_max
        The most neighbours that additions lead to. None chooses it by the data: see `choose`.
    k_hard
        The most neighbours that swaps lead to; 20 in the paper.
    regularization
        λ of S(X | M) = −score(X | M) + λ log max(1, |M|), in units of the judge: nats per row for `Entropy`, 0 to 1 in
        the paper. None chooses it by the data: see `choose`.
    choose
        How λ and k are chosen when they are not given and the judge has no penalty of its own (`Entropy`): several λ
        are tried, and the best of the graphs after each round is taken, ``"ebic"`` by the extended Bayesian criterion,
        ``"cv"`` by the pseudo-likelihood of held-out rows. Judges with a penalty of their own (`MPL`, `PIC`,
        `ExtendedBIC`) need no λ: then it is 0, and k grows as long as there are moves.
    gamma
        γ of the extended criterion.
    n_folds, seed
        Number of folds and seed of the cross-validation.
    combine
        ``"consistent"``: the paper's. For comparison, the two stages for every blanket by itself, then an edge where
        both ends choose each other, ``"and"``, or one of them the other, ``"or"``.
    deletions
        Whether each round ends by removing neighbours without which both ends together score better. The paper has no
        such stage. None: only with the judge's own penalty instead of the paper's.
    required, forbidden
        Edges that every graph of the search has, or none.
    candidates
        The pairs that may be edges: a closed list, a `Screening` for the strongest pairs, or None for all pairs.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, before anything is scored, if there are fewer than 2 variables,
        or the required edges do not fit.
    UnsuitableError
        From `learn`, if the judge is not a local score.

    Notes
    -----
    Variables are visited in the order of the columns, as in the paper, so another order may end elsewhere. Of equal
    gains the stronger marginal association is taken, then the smaller blanket, then the variable that is associated
    more with all others, at last the first column. Only a positive gain is a move. A blanket never has more neighbours
    than the rows allow (`most_neighbors` of the judge): with fewer rows than variables every fit would be perfect. A
    constant column stays without neighbours; of equal columns the others join the first. The support of an edge is the
    loss of score without it.

    An addition computes two new rows of gains, a swap three; the gains of all pairs take 8 n² bytes.

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
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        check_rule(self.candidates)
        whole_number("k_hard", self.k_hard, least=1, hint="The paper's is 20.")
        if self.k_max is not None:
            whole_number("k_max", self.k_max, least=1, hint="Use None to choose it by the data.")
            if self.k_max > self.k_hard:
                raise InputError(f"k_max must not exceed k_hard; got {self.k_max} and {self.k_hard}. Raise k_hard.")
        given = {"gamma": self.gamma} | ({} if self.regularization is None else {"regularization": self.regularization})
        for name, value in given.items():
            if not (is_number(value) and value >= 0):
                raise InputError(f"{name} must be a number, 0 or more; got {value!r}. Leave it out for the default.")
        if self.deletions is not None:
            true_or_false(deletions=self.deletions)
        whole_number("n_folds", self.n_folds, least=2, hint="Usual are 5 and 10.")
        whole_number("seed", self.seed, least=0, hint="Any whole number will do.")
        for name, chosen, known in (("choose", self.choose, Choose), ("combine", self.combine, Combine)):
            check_name(name, chosen, get_args(known))

    def learn(self, judge: LocalScore, monitor: Monitor = SILENT) -> Result:
        """Return the graph of the search, with the given or chosen penalty and limit; see the class."""
        started = perf_counter()
        self._check(judge, monitor)
        listed = closed_candidates(self.candidates, judge, monitor)
        known = Constraints(judge.n_variables, self.required, self.forbidden, listed)
        known = _isolate(known, getattr(judge, "constant", ()))
        most = self._most_neighbors(judge, known)
        own_penalty = not isinstance(judge, Selectable)
        deletions = self.deletions if self.deletions is not None else own_penalty and self.regularization is None

        def run_search(
            judge: LocalScore, regularization: float, criterion: Score | None = None, k_max: int | None = None
        ) -> SearchRun:
            limit = min(self.k_max or most, most) if k_max is None else min(k_max, most)
            search = self._start(Regularized(judge, regularization), known, most, deletions=deletions)
            return self._algorithm_1(search, limit, criterion, monitor)

        if not isinstance(judge, Selectable):  # the judge has a penalty of its own
            run, trials = run_search(judge, self.regularization or 0.0), list[PenaltyTrial]()
        elif self.regularization is not None:
            run = run_search(judge, self.regularization, judge.criterion(self.gamma))
            trials = run.trials() if self.k_max is None else []
        elif self.choose == "ebic":
            run, trials = choose_by_criterion(run_search, judge, self.gamma)
        else:
            run, trials = choose_by_folds(run_search, judge, self.n_folds, self.seed, given_k=self.k_max is not None)
        return self._result(run, trials, started)

    def _algorithm_1(self, search: BlanketSearch, k_max: int, criterion: Score | None, monitor: Monitor) -> SearchRun:
        """Run one search  [MBS09, Algorithm 1].

        With a criterion and no given k, the search ends some rounds after the best graph.
        """
        graphs, values, converged, more = list[Graph](), list[float](), True, True
        for k in range(min(1, k_max), k_max + 1):  # k = 0 where no neighbour is allowed: one round without moves
            n_moves = len(search.moves)
            try:
                search.start(monitor)
                for done, stage in enumerate(search.stages):  # add stage, swap stage; deletions where chosen
                    for x in _polled(search, done, k, monitor):
                        stage(x, k)
                more = len(search.moves) > n_moves or search.largest() >= k
            except Cancelled:
                more = converged = False
            graphs.append(search.graph())
            values.append(criterion(graphs[-1]) if criterion else float(len(graphs)))
            if not more or (self.k_max is None and len(values) - first_maximum(values) > _PATIENCE):
                break
        best = len(values) if self.k_max is not None else first_maximum(values) + 1
        return SearchRun(search, graphs, values, best, converged)

    def _start(self, score: Regularized, known: Constraints, most: int, *, deletions: bool) -> BlanketSearch:
        """Return the state before the first round: the required edges."""
        if self.combine == "consistent":
            return ConsistentBlankets(score, known, k_hard=most, deletions=deletions)
        return IndependentBlankets(score, known, combine=self.combine, deletions=deletions)

    def _result(self, run: SearchRun, trials: Sequence[PenaltyTrial], started: float) -> Result:
        graph, score = run.graphs[run.k - 1], run.search.score
        moves = tuple(move for move in run.search.moves if move.k <= run.k)
        return Result(
            graph=graph,
            score=score(graph),
            support=_support(score, graph),
            converged=run.converged,
            cost={
                "moves": len(moves),
                "swaps": sum(None not in (move.added, move.removed) for move in moves),
                "rounds": run.k,
                "regularization": score.regularization,
                "scored": run.search.scored,
                "seconds": perf_counter() - started,
            },
            settings=stated(self),
            support_scale="log_odds",
            stages={f"k={k}": stage for k, stage in enumerate(run.graphs[: run.k], start=1)},
            moves=moves,
            trials=tuple(trials),
        )

    def _check(self, judge: LocalScore, monitor: Monitor) -> None:
        """Raise an error unless the judge is a local score of at least 2 variables."""
        for method in ("local", "additions", "removals"):
            if not hasattr(judge, method):
                raise UnsuitableError(
                    f"MBS cannot search by a {type(judge).__name__}, which has no {method}. Use a score that is a sum "
                    "over variables, such as Entropy or MPL."
                )
        check_parts(judge, monitor, ("local",), "Use a score that is a sum over variables, such as Entropy(counts).")

    def _most_neighbors(self, judge: LocalScore, known: Constraints) -> int:
        """Return the most neighbours that any search allows; raise InputError if more are required."""
        n = judge.n_variables
        fullest = int(Graph(n, known.required).degrees().max())
        if fullest > self.k_hard:
            raise InputError(
                f"k_hard must leave room for the required edges; got {self.k_hard}, where a variable has {fullest} of "
                "them. Raise it, or drop some edges."
            )
        return min(self.k_hard, n - 1, getattr(judge, "most_neighbors", n - 1))


class ConsistentBlankets:
    """Blankets that are symmetric after every move, and the gain of each pair from either end.

    `half[x, y]` is the gain of x if y joins its blanket; a pair gains half[x, y] + half[y, x]  [Eq. 6]. A move changes
    two or three blankets, so two or three rows of it.
    """

    def __init__(self, score: Regularized, known: Constraints, *, k_hard: int, deletions: bool) -> None:
        n = known.n_variables
        self.moves: list[Move] = []
        self.scored = 0
        self.score, self._k_hard = score, k_hard
        self.stages: Sequence[Stage] = (self._add, self._swap, self._delete) if deletions else (self._add, self._swap)
        start = Graph(n, known.required)
        self._blankets: list[VarSet] = [start.neighbors(x) for x in range(n)]
        self._sizes = start.degrees()
        self._required = frozenset(known.required)
        self._allowed = known.mask()  # [x, y]: whether a move of x may add y: neither tabu to x nor fixed
        self._partners = known.partners()  # whose gains are computed; None for all
        self._scores = [score.local(x, blanket) for x, blanket in enumerate(self._blankets)]
        self._rounding, self._association = 3 * tolerance(self._scores), ScoreAssociation(score)
        self._half: FloatArray = np.empty((0, 0))
        self._removed: dict[int, dict[int, float]] = {}  # [x][y]: the score of x without its neighbour y

    def graph(self) -> Graph:
        """Return the graph of the blankets."""
        return Graph(
            len(self._blankets), ((x, y) for x, blanket in enumerate(self._blankets) for y in blanket if x < y)
        )

    def largest(self) -> int:
        """Return the size of the largest blanket."""
        return int(self._sizes.max())

    def start(self, monitor: Monitor) -> None:
        """Compute the gains of all pairs from either end, block by block, before the first round."""
        if self._half.size:
            return
        n = len(self._blankets)
        check_room("judge", 9.0 * n * n, f"the gains of every pair of {n:,} variables", _FEWER)
        self._half = np.full((n, n), -np.inf)
        step = max(1, _BLOCK // n)
        for first in range(0, n, step):
            check_cancelled(monitor)
            self._update(range(first, min(first + step, n)))

    def _add(self, x: int, k: int) -> None:
        """Add the X_j that maximises ΔS_ij, where that is positive and both have fewer than k  [Eq. 6]."""
        if self._sizes[x] >= k:
            return
        half = self._half
        gains = np.where(self._allowed[x] & (self._sizes < k), half[x] + half[:, x], -np.inf)
        best = first_best(gains, 0.0, self._rounding, *self._joining(x, np.arange(len(gains))))
        if best is not None:
            self._scores[x] += half[x, best]
            self._scores[best] += half[best, x]
            self._join(x, best)
            self._record(Move(k, x, best, None, float(gains[best])))

    def _swap(self, x: int, k: int) -> None:
        """Swap each neighbour of x for the best X_q that is not tabu, if the three blankets gain together."""
        waiting = [y for y in sorted(self._blankets[x]) if ordered(x, y) not in self._required]
        while waiting:
            members = sorted(self._blankets[x])
            allowed = self._allowed[x] & (self._sizes < self._k_hard)
            allowed[members] = False
            ys = np.flatnonzero(allowed)
            swapped_in = self.score.exchanges(x, self._blankets[x], ys)[[members.index(y) for y in waiting]]
            self.scored += len(ys) * len(members)
            without = np.array([self._without(y)[x] for y in waiting])
            lost = without - [self._scores[y] for y in waiting]
            gains = (swapped_in - self._scores[x]) + lost[:, None] + self._half[ys, x]
            promising = np.flatnonzero(~(gains.max(axis=1, initial=-np.inf) <= self._rounding))
            if not len(promising):
                return
            place = promising[0]  # after a swap the scores of the other exchanges have changed
            y, waiting = waiting[place], waiting[place + 1 :]
            self._swap_out(x, y, ys, gains[place], k=k, scores=(swapped_in[place], float(without[place])))

    def _swap_out(
        self, x: int, y: int, ys: NDArray[np.int64], gains: FloatArray, *, k: int, scores: tuple[FloatArray, float]
    ) -> None:
        """Swap the neighbour y of x for the best of ys; y is tabu to x from then on. Scores: of x with each, of y."""
        best = first_best(gains, 0.0, self._rounding, *self._joining(x, ys))
        assert best is not None, "a gain above rounding"
        q = int(ys[best])
        self._scores[x], self._scores[y] = float(scores[0][best]), scores[1]
        self._scores[q] += self._half[q, x]
        self._leave(x, y)
        self._allowed[x, y] = False
        self._join(x, q)
        self._record(Move(k, x, q, y, float(gains[best])))

    def _delete(self, x: int, k: int) -> None:
        """Remove neighbours of x without which both ends score better, the worst first. Not in the paper."""
        while members := [y for y in sorted(self._blankets[x]) if ordered(x, y) not in self._required]:
            alone, others = self._without(x), [self._without(y)[x] for y in members]
            gains = np.array(
                [(alone[y] - self._scores[x]) + (w - self._scores[y]) for y, w in zip(members, others, strict=True)]
            )
            best = first_best(gains, 0.0, self._rounding, *self._association.leaving(x, members))
            if best is None:
                return
            y = members[best]
            self._scores[x], self._scores[y] = alone[y], others[best]
            self._leave(x, y)
            self._record(Move(k, x, None, y, float(gains[best])))

    def _joining(self, x: int, ys: NDArray[np.int64]) -> tuple[Criterion, Criterion, Criterion]:
        """Return what decides between equal gains: the association, the smaller blanket, the stronger variable."""
        association, strength = self._association.joining(x, ys)
        return association, lambda tied: -self._sizes[ys[tied]].astype(np.float64), strength

    def _join(self, x: int, y: int) -> None:
        for one, other in ((x, y), (y, x)):
            self._blankets[one] |= {other}
            self._removed.pop(one, None)
            self._sizes[one] += 1

    def _leave(self, x: int, y: int) -> None:
        for one, other in ((x, y), (y, x)):
            self._blankets[one] -= {other}
            self._removed.pop(one, None)
            self._sizes[one] -= 1

    def _without(self, x: int) -> dict[int, float]:
        """Return the score of x without each of its neighbours; cached until its blanket changes."""
        if x not in self._removed:
            values = self.score.removals([x], [self._blankets[x]])[0]
            self._removed[x] = dict(zip(sorted(self._blankets[x]), values.tolist(), strict=True))
            self.scored += len(values)
        return self._removed[x]

    def _record(self, move: Move) -> None:
        """Record the move and update the gains of its variables."""
        self.moves.append(move)
        self._update([x for x in (move.x, move.added, move.removed) if x is not None])

    def _update(self, xs: Sequence[int]) -> None:
        """Compute the gains of these variables by every new neighbour."""
        half, blankets = self._half, [self._blankets[x] for x in xs]
        yss = [self._outside(x) for x in xs]
        for x, ys, values in zip(xs, yss, self.score.additions(xs, blankets, yss), strict=True):
            half[x] = -np.inf
            half[x, ys] = values - self._scores[x]
            self.scored += len(ys)

    def _outside(self, x: int) -> NDArray[np.int64]:
        """Return the variables outside the blanket of x that may be candidates, in ascending order."""
        if self._partners is None:
            return outside(x, self._blankets[x], len(self._blankets))
        partners = self._partners[x].astype(np.int64)
        return partners[~np.isin(partners, list(self._blankets[x]))]


def _polled(search: BlanketSearch, done: int, k: int, monitor: Monitor) -> Iterator[int]:
    """Yield the variables of the next stage, reporting the progress and polling the monitor before each."""
    n = search.score.n_variables
    for x in range(n):
        check_cancelled(monitor)
        monitor.progress(done * n + x, len(search.stages) * n, f"blankets of up to {k}: {len(search.moves)} moves")
        yield x


def _isolate(known: Constraints, constant: Collection[int]) -> Constraints:
    """Return the constraints with all but the required edges of these variables forbidden.

    Otherwise a swap might add one because the other end gains: the first neighbour has no penalty.
    """
    pairs = {ordered(x, y) for x in constant for y in range(known.n_variables) if x != y}
    forbidden = (pairs | set(known.forbidden)) - set(known.required)
    return Constraints(known.n_variables, known.required, forbidden, known.candidates)


def _support(score: Regularized, graph: Graph) -> dict[Edge, float]:
    """Return the loss of score without each edge."""
    everyone, blankets = range(graph.n_variables), [graph.neighbors(x) for x in range(graph.n_variables)]
    losses: dict[Edge, float] = dict.fromkeys(graph.edges, 0.0)
    for x, without in zip(everyone, score.removals(everyone, blankets), strict=True):
        now = score.local(x, blankets[x])
        for y, value in zip(sorted(blankets[x]), without.tolist(), strict=True):
            losses[ordered(x, y)] += now - value
    return losses
