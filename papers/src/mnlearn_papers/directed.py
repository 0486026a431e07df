"""Learned blankets as constraints of a directed search  [MBS09, Sec. 3.2].

How good blankets are shows in what they are good for: a search over directed acyclic graphs, in which every variable
may have its parents in its own blanket only. The better the blankets, the nearer the result, moralised, comes to the
true network. The directed search is pyAgrum's; nothing of it is written here.

Searches for a directed acyclic graph by any local score: hill climbing, sparse candidates, orders.

They are rivals of Markov blanket search in [MBS09, Sec. 3], and the use of its blankets in Sec. 3.2: the score of a
network is the sum over the variables of `local(x, parents of x)`, with the BIC of a linear regression for continuous
variables (`mnlearn.scores.ExtendedBIC` with γ = 0).

| search             | parents of x come from                                                                   |
|--------------------|------------------------------------------------------------------------------------------|
| `climb_directed`   | given candidates, such as a learned blanket; an arc is added, removed or turned per step |
| `sparse_candidate` | the k that improve the score of x most, chosen again after every climb  [FNP99]          |
| `search_orders`    | the variables before x in an order; two neighbours in the order change places  [TK05]    |
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_instance, check_name, require, whole_number
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import in_order
from mnlearn.protocols import BoolArray, LocalScore, VarSet
from mnlearn.protocols.search import BatchedNeighborhoods

Criterion = Literal["bic", "bdeu", "k2"]


@dataclass(frozen=True)
class DirectedNetwork:
    """A directed acyclic graph, as a directed search found it.

    Attributes
    ----------
    n_variables
        Number of variables.
    arcs
        (parent, child), in ascending order.

    Examples
    --------
    >>> DirectedNetwork(3, ((0, 2), (1, 2))).moral_graph().edges
    ((0, 1), (0, 2), (1, 2))
    """

    n_variables: int
    arcs: tuple[Edge, ...]

    def parents(self, x: int) -> tuple[int, ...]:
        """The parents of a variable."""
        return tuple(u for u, v in self.arcs if v == x)

    def moral_graph(self) -> Graph:
        """Return the moral graph: arcs without directions, and the parents of every child joined."""
        families = [(x, *self.parents(x)) for x in range(self.n_variables)]
        return Graph(self.n_variables, {pair for family in families for pair in combinations(family, 2)})


def learn_directed(
    dataset: Dataset, blankets: Graph | None = None, *, criterion: Criterion = "bic", max_parents: int | None = None
) -> DirectedNetwork:
    """Search for a directed network in which each variable has its parents in its blanket.

    Parameters
    ----------
    dataset
        Categorical variables.
    blankets
        A graph over the same variables, the one that a method learned: only neighbours may be joined by an arc. None
        for no constraint.
    criterion
        What greedy hill climbing maximises: ``"bic"``, ``"bdeu"`` or ``"k2"``.
    max_parents
        The most parents of a variable; None for no limit.

    Returns
    -------
    DirectedNetwork
        Compare its `moral_graph` with the truth.

    Raises
    ------
    InputError
        If the graph is not over these variables, or a setting is invalid.
    UnsuitableError
        If a variable is continuous.
    MissingDependencyError
        If pyAgrum is not installed.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1] * 40, [0, 1] * 40, [0, 0, 1, 1] * 20])
    >>> learn_directed(data).moral_graph().edges
    ((0, 1),)
    >>> learn_directed(data, Graph(3, [(0, 2), (1, 2)])).arcs
    ()
    """
    _check(dataset, blankets, criterion, max_parents)
    if blankets is not None and not blankets.n_edges:  # which pyAgrum would take for no constraint
        return DirectedNetwork(dataset.n_variables, ())
    with warnings.catch_warnings():  # its import warns of types that SWIG made
        warnings.simplefilter("ignore", DeprecationWarning)
        gum = require("pyagrum", "inference")
        with TemporaryDirectory() as folder:
            learner = _learner(gum, dataset, Path(folder, "rows.csv"))
            {"bic": learner.useScoreBIC, "bdeu": learner.useScoreBDeu, "k2": learner.useScoreK2}[criterion]()
            if max_parents is not None:
                learner.setMaxIndegree(max_parents)
            if blankets is not None:
                learner.setPossibleSkeleton(_skeleton(gum, blankets))
            arcs = learner.learnDAG().arcs()
    return DirectedNetwork(dataset.n_variables, tuple(sorted((int(u), int(v)) for u, v in arcs)))


def _learner(gum: Any, dataset: Dataset, file: Path) -> Any:
    """Run greedy hill climbing on one thread, so that the arcs are reproducible."""
    _write(file, dataset)
    learner = gum.BNLearner(str(file), _template(gum, dataset))
    if dataset.repeats is not None:
        for row, repeats in enumerate(dataset.repeats.tolist()):
            learner.setRecordWeight(row, float(repeats))
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    return learner


def _skeleton(gum: Any, blankets: Graph) -> Any:
    """The pairs that an arc may join."""
    skeleton = gum.UndiGraph()
    for _ in range(blankets.n_variables):
        skeleton.addNode()
    for u, v in blankets.edges:
        skeleton.addEdge(u, v)
    return skeleton


def _write(file: Path, dataset: Dataset) -> None:
    """The codes as a table with plain names: labels may hold anything."""
    header = ",".join(f"x{k}" for k in range(dataset.n_variables))
    codes = np.column_stack([np.asarray(column, dtype=np.int64) for column in dataset.columns])
    np.savetxt(file, codes, fmt="%d", delimiter=",", header=header, comments="", encoding="utf-8")


def _template(gum: Any, dataset: Dataset) -> Any:
    """All declared states, so that none depends on what the rows happen to show."""
    template = gum.BayesNet()
    for k, card in enumerate(dataset.cards):
        template.add(gum.LabelizedVariable(f"x{k}", f"x{k}", [str(state) for state in range(max(card, 2))]))
    return template


def _check(dataset: Dataset, blankets: Graph | None, criterion: str, max_parents: int | None) -> None:
    """Raise InputError for unsuitable arguments before anything is imported."""
    check_instance("dataset", dataset, Dataset, "Read it first: mnlearn.read(...).")
    if blankets is not None:
        check_graph("blankets", blankets)
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"learn_directed needs categorical variables; {name!r} is continuous. Discretise it first "
                "(mnlearn.discretize)."
            )
    if blankets is not None and blankets.n_variables != dataset.n_variables:
        raise InputError(
            f"blankets must be a graph over the {dataset.n_variables} variables of the data; got one over "
            f"{blankets.n_variables}. Learn it from the same columns."
        )
    check_name("criterion", criterion, get_args(Criterion))
    if max_parents is not None:
        whole_number("max_parents", max_parents, least=1, most=2**31 - 1, hint="None means no limit.")


_LEAST = 1e-7  # the smallest gain of a step, in units of the score: above rounding
_ROUNDS = 20  # of choosing candidates anew, and of sweeps over an order


def climb_directed(
    score: LocalScore,
    candidates: Sequence[Collection[int]],
    *,
    max_parents: int | None = None,
    start: DirectedNetwork | None = None,
) -> DirectedNetwork:
    """Add, remove or turn the arc with the largest gain until none is left.

    Parameters
    ----------
    score
        Local score of a variable given its parents.
    candidates
        For each variable those that may be its parents.
    max_parents
        Largest number of parents; None for no limit.
    start
        Network to start from, with parents among the candidates; without arcs when left out.

    Examples
    --------
    >>> from mnlearn.scores import ExtendedBIC
    >>> from mnlearn.statistics import Moments
    >>> covariance = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]]  # 0 → 2 ← 1
    >>> score = ExtendedBIC(Moments.from_covariance(covariance, n_rows=500), gamma=0.0)
    >>> climb_directed(score, [{1, 2}, {0, 2}, {0, 1}]).moral_graph().edges
    ((0, 1), (0, 2), (1, 2))
    >>> climb_directed(score, [(), (), {0, 1}]).arcs
    ((0, 2), (1, 2))
    """
    if len(candidates) != score.n_variables:
        raise InputError(
            f"candidates must have an entry for each of the {score.n_variables} variables; got {len(candidates)}. "
            "Use an empty one for a variable without parents."
        )
    if max_parents is not None:
        whole_number("max_parents", max_parents, least=0, hint="Use None for no limit.")
    for u, v in () if start is None else start.arcs:
        if v >= len(candidates) or u not in candidates[v]:
            raise InputError(f"start must have parents among the candidates; got the arc {u} → {v}. Leave it out.")
    climb = _Climb(score, candidates, max_parents, start)
    while climb.step():
        pass
    return climb.network()


def sparse_candidate(score: LocalScore, k: int, *, start: DirectedNetwork | None = None) -> DirectedNetwork:
    """Choose k candidates for the parents of each variable, climb, and repeat while the score rises  [FNP99].

    The candidates of x are its parents, then the variables that improve the score of x most beside them.

    Parameters
    ----------
    score
        Local score of a variable given its parents.
    k
        Number of candidates, and so the most parents.
    start
        Network to start from, with at most k parents each; without arcs when left out.
    """
    most = min(whole_number("k", k, least=1, hint="Choose at least one candidate."), score.n_variables - 1)
    network, best = start or DirectedNetwork(score.n_variables, ()), -np.inf
    if max(map(len, _parents(network))) > most:
        raise InputError(f"start must have at most k = {most} parents for each variable; it has more. Use a larger k.")
    for _ in range(_ROUNDS):
        found = climb_directed(score, _nearest(score, network, most), start=network)
        value = score_directed(score, found)
        if value <= best + _LEAST:
            break
        network, best = found, value
    return network


def search_orders(score: LocalScore, judge: BatchedNeighborhoods, order: Sequence[int]) -> DirectedNetwork:
    """Swap neighbours in an order of the variables while the score rises  [TK05].

    Parameters
    ----------
    score
        Local score of a variable given its parents.
    judge
        Chooses the parents of a variable among those before it in the order; by the path of the lasso in [SNM07].
    order
        The order to start from, a permutation of the variables.
    """
    if sorted(order) != list(range(score.n_variables)):
        raise InputError(f"order must be a permutation of 0..{score.n_variables - 1}; got {list(order)[:10]}.")
    places, families = list(order), _Families(score, judge)
    for _ in range(_ROUNDS):
        before, changed = 0, False
        for i in range(len(places) - 1):
            a, b = places[i], places[i + 1]
            families.ask([(a, before), (b, before | 1 << a), (b, before), (a, before | 1 << b)])
            now = families.value(a, before) + families.value(b, before | 1 << a)
            if families.value(b, before) + families.value(a, before | 1 << b) > now + _LEAST:
                places[i], places[i + 1], changed = b, a, True
            before |= 1 << places[i]
        if not changed:
            break
    return families.network(places)


def score_directed(score: LocalScore, network: DirectedNetwork) -> float:
    """Return the sum of the local scores of all variables given their parents."""
    return in_order(score.local(x, frozenset(parents)) for x, parents in enumerate(_parents(network)))


def _parents(network: DirectedNetwork) -> list[set[int]]:
    """Return the parents of every variable."""
    found: list[set[int]] = [set() for _ in range(network.n_variables)]
    for u, v in network.arcs:
        found[v].add(u)
    return found


def _nearest(score: LocalScore, network: DirectedNetwork, k: int) -> list[list[int]]:
    """Return the parents of each variable and the best of the others, k in all."""
    everyone, families = range(network.n_variables), [frozenset(parents) for parents in _parents(network)]
    others = [np.array([y for y in everyone if y != x and y not in families[x]], dtype=np.int64) for x in everyone]
    values = score.additions(everyone, families, others)
    return [
        [*families[x], *others[x][np.argsort(-values[x], kind="stable")[: k - len(families[x])]].tolist()]
        for x in everyone
    ]


class _Climb:
    """A network on its way up: every arc that may be in it, with the gain of adding or removing it."""

    def __init__(
        self,
        score: LocalScore,
        candidates: Sequence[Collection[int]],
        max_parents: int | None,
        start: DirectedNetwork | None,
    ) -> None:
        n, lists = len(candidates), [sorted(set(some) - {x}) for x, some in enumerate(candidates)]
        self._score, self._most = score, n if max_parents is None else max_parents
        self._first = np.cumsum([0, *map(len, lists)])  # where the arcs into each variable begin
        self._parent = np.array([u for some in lists for u in some], dtype=np.int64)
        self._child = np.repeat(np.arange(n), [len(some) for some in lists])
        places = {arc: i for i, arc in enumerate(zip(self._parent.tolist(), self._child.tolist(), strict=True))}
        self._turned = np.array([places.get((v, u), -1) for u, v in places], dtype=np.int64)
        self._present = np.zeros(len(places), dtype=np.bool_)
        self._present[[places[arc] for arc in (start.arcs if start else ())]] = True
        self._gain = np.zeros(len(places))
        self._reaches = np.eye(n, dtype=np.bool_)  # [u, v]: a directed path from u to v, also of no arc
        self._close()
        self._update(range(n))

    def network(self) -> DirectedNetwork:
        """Return the arcs that are present."""
        arcs = zip(self._parent[self._present].tolist(), self._child[self._present].tolist(), strict=True)
        return DirectedNetwork(len(self._reaches), tuple(sorted(arcs)))

    def step(self) -> bool:
        """Make the best step; return whether there was one."""
        if not len(self._gain):
            return False
        full = np.bincount(self._child[self._present], minlength=len(self._reaches)) >= self._most
        closed = ~self._present & (full[self._child] | self._reaches[self._child, self._parent])
        gains = np.where(closed, -np.inf, self._gain)
        best = int(np.argmax(gains))
        turn = self._best_turn(full, max(float(gains[best]), _LEAST))
        if turn is not None:
            self._flip([turn, int(self._turned[turn])])
        elif gains[best] > _LEAST:
            self._flip([best])
        else:
            return False
        return True

    def _best_turn(self, full: BoolArray, least: float) -> int | None:
        """Return the arc whose other direction gains most, if that is more than `least` and closes no cycle."""
        present = np.flatnonzero(self._present)
        parents, children = self._parent[present], self._child[present]
        arcs = present[self._turned[present] >= 0]
        gains = np.where(full[self._parent[arcs]], -np.inf, self._gain[arcs] + self._gain[self._turned[arcs]])
        arcs, gains = arcs[gains > least], gains[gains > least]
        for i in np.argsort(-gains, kind="stable"):
            u, v = self._parent[arcs[i]], self._child[arcs[i]]
            if self._reaches[children[parents == u], v].sum() == 1:  # from v itself only
                return int(arcs[i])
        return None

    def _flip(self, arcs: list[int]) -> None:
        """Add the arc that is absent, remove the one that is present."""
        self._present[arcs] ^= True
        if len(arcs) == 1 and self._present[arcs[0]]:
            above, below = self._reaches[:, self._parent[arcs[0]]], self._reaches[self._child[arcs[0]]]
            self._reaches[np.ix_(above, below)] = True
        else:
            self._close()
        self._update(self._child[arcs].tolist())

    def _close(self) -> None:
        """Find all paths anew, children before parents."""
        n = len(self._reaches)
        waiting, into = [0] * n, [list[int]() for _ in range(n)]
        for u, v in zip(self._parent[self._present].tolist(), self._child[self._present].tolist(), strict=True):
            waiting[u] += 1
            into[v].append(u)
        self._reaches = np.eye(n, dtype=np.bool_)
        ready = [v for v in range(n) if not waiting[v]]
        while ready:
            v = ready.pop()
            for u in into[v]:
                self._reaches[u] |= self._reaches[v]
                waiting[u] -= 1
                if not waiting[u]:
                    ready.append(u)

    def _update(self, xs: Sequence[int]) -> None:
        """Compute the gains of all arcs into these variables."""
        arcs = [slice(self._first[x], self._first[x + 1]) for x in xs]
        inside = [frozenset(self._parent[some][self._present[some]].tolist()) for some in arcs]
        outside = [self._parent[some][~self._present[some]] for some in arcs]
        added, removed = self._score.additions(xs, inside, outside), self._score.removals(xs, inside)
        for x, some, parents, more, less in zip(xs, arcs, inside, added, removed, strict=True):
            now, present = self._score.local(x, parents), self._present[some]
            self._gain[some][~present] = more - now
            self._gain[some][present] = less - now


class _Families:
    """The best parents of a variable among given predecessors, a set of bits, computed once."""

    def __init__(self, score: LocalScore, judge: BatchedNeighborhoods) -> None:
        self._score, self._judge = score, judge
        self._known: dict[tuple[int, int], tuple[float, VarSet]] = {}

    def ask(self, questions: Sequence[tuple[int, int]]) -> None:
        """Compute what is not known, together."""
        missing = [question for question in questions if question not in self._known]
        asked = [(x, frozenset(_members(before)), frozenset[int]()) for x, before in missing]
        for (x, before), found in zip(missing, self._judge.neighborhoods(asked), strict=True):
            parents = frozenset(found.support)
            self._known[x, before] = self._score.local(x, parents), parents

    def value(self, x: int, before: int) -> float:
        """Return the local score of x with its best parents."""
        return self._known[x, before][0]

    def network(self, order: Sequence[int]) -> DirectedNetwork:
        """Return the network of an order."""
        arcs, before = [], 0
        for x in order:
            self.ask([(x, before)])
            arcs += [(u, x) for u in self._known[x, before][1]]
            before |= 1 << x
        return DirectedNetwork(len(order), tuple(sorted(arcs)))


def _members(bits: int) -> list[int]:
    """Return the places of the bits that are set."""
    return [x for x in range(bits.bit_length()) if bits >> x & 1]
