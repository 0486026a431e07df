"""Variable elimination: exact sampling and partition functions of networks of low tree-width.

Eliminating x multiplies the factors that hold x into one table over x and its present neighbours S, keeps p(x | S), and
passes the sum over x on as a factor over S. What was kept is a Bayesian network of the same distribution, in which the
parents of x are eliminated after it; drawn forward it gives independent rows from exactly that distribution, and what
is left at the end is the partition function. A tree never needs a table of more than two variables; a grid of k columns
needs tables of k + 1.

Exact inference in a product of factors, for many rows of evidence at once: joint distributions and the best states.

Variables that are neither asked about nor known are eliminated one by one in the same way: by
sums for a distribution, by maxima for the most probable states. Known variables cut the graph, so only those matter
that can be reached from the question through unknown ones. A table has an axis for the rows of evidence in front.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.distributions.bayesian import BayesianNetwork
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.errors import InputError, check_instance
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import exp, log
from mnlearn.protocols import FloatArray

LARGEST_TABLE = 2**20  # cells of one table while eliminating: 8 megabytes


def as_bayesian_network(network: FactorNetwork) -> BayesianNetwork:
    """Return this distribution as a Bayesian network, from which rows can be drawn exactly.

    Parameters
    ----------
    network
        A network of low tree-width: no table may have more than 2^20 cells; see `largest_table`.

    Examples
    --------
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> chain = as_bayesian_network(agreement_factors(Graph(3, [(0, 1), (1, 2)]), 2.0))
    >>> chain.parents, chain.sample(4, seed=1).n_rows
    (((1,), (2,), ()), 4)
    """
    steps, _ = _eliminate(network)
    tables = {x: (scope, table) for x, scope, table in steps}
    return BayesianNetwork(
        names=tuple(f"x{x}" for x in range(network.n_variables)),
        states=tuple(tuple(map(str, range(card))) for card in network.cards),
        parents=tuple(tables[x][0] for x in range(network.n_variables)),
        tables=tuple(tables[x][1] for x in range(network.n_variables)),
    )


def log_partition(network: FactorNetwork) -> float:
    """log Z = log Σ_x Π_f φ_f(x_f), exactly.

    Examples
    --------
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> round(float(np.exp(log_partition(agreement_factors(Graph(3, [(0, 1), (1, 2)]), 2.0)))), 3)  # 2 (1 + e)²
    27.651
    """
    return _eliminate(network)[1]


def largest_table(graph: Graph, cards: Sequence[int]) -> int:
    """Return the number of cells of the largest table that eliminating all variables of a graph needs."""
    return max((cells for _, cells in elimination_order(graph, cards)), default=1)


def tree_width(graph: Graph) -> int:
    """Return an upper bound of the tree-width, by eliminating the variable with the fewest neighbours first.

    Examples
    --------
    >>> tree_width(Graph(3, [(0, 1), (1, 2)])), tree_width(Graph.complete(4))
    (1, 3)
    """
    return largest_table(graph, (2,) * graph.n_variables).bit_length() - 2


def joint_log_values(factors: Iterable[Factor], scope: Sequence[int], cards: Sequence[int]) -> FloatArray:
    """Σ log φ over the factors, all within the scope, as a table with one axis per variable of the scope."""
    total = np.zeros([cards[y] for y in scope])
    place = {y: axis for axis, y in enumerate(scope)}
    for factor in factors:
        axes = [place[y] for y in factor.variables]
        shape = [1] * len(scope)
        for axis, y in zip(axes, factor.variables, strict=True):
            shape[axis] = cards[y]
        total += factor.log_values.transpose(np.argsort(axes)).reshape(shape)
    return total


def _eliminate(network: FactorNetwork) -> tuple[list[tuple[int, tuple[int, ...], FloatArray]], float]:
    """For every variable in the order of elimination: itself, its S and p(x | S); and log Z."""
    check_instance("network", network, FactorNetwork, "Make one, such as uniform_factors(graph, seed).")
    order = elimination_order(network.graph, network.cards)
    largest = max(cells for _, cells in order)
    if largest > LARGEST_TABLE:
        raise InputError(
            f"network must be of low tree-width for an exact answer, no table above {LARGEST_TABLE} cells; got one of "
            f"{largest}. Sample it with method='gibbs'."
        )
    waiting: list[dict[int, Factor]] = [{} for _ in network.cards]  # by variable: the factors that hold it
    numbered = list(network.factors)
    for number, factor in enumerate(numbered):
        for y in factor.variables:
            waiting[y][number] = factor
    steps, log_z = [], 0.0
    for x, _ in order:
        mine = dict(waiting[x])
        scope = tuple(sorted({y for factor in mine.values() for y in factor.variables} - {x}))
        message, conditional = _summed_out(joint_log_values(mine.values(), (*scope, x), network.cards))
        steps.append((x, scope, conditional))
        for number, factor in mine.items():
            for y in factor.variables:
                del waiting[y][number]
        if scope:
            numbered.append(Factor(scope, message))
            for y in scope:
                waiting[y][len(numbered) - 1] = numbered[-1]
        else:
            log_z += float(message)
    return steps, log_z


def _summed_out(log_values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log Σ_x over the last axis, and the share of each x in the sum."""
    top = log_values.max(-1, keepdims=True)
    weights = exp(log_values - top)
    sums = np.cumsum(weights, axis=-1)[..., -1:]  # summed in sequence, so that every machine gives the same bits
    return (top + log(sums))[..., 0], weights / sums


def elimination_order(graph: Graph, cards: Sequence[int], last: Collection[int] = ()) -> list[tuple[int, int]]:
    """Return a greedy elimination order, smallest table first, with the number of cells of each table.

    The variables in `last` follow all others.
    """
    neighbors = [set(graph.neighbors(x)) for x in range(graph.n_variables)]
    cells = [cards[x] * prod(cards[y] for y in neighbors[x]) for x in range(graph.n_variables)]
    left = set(range(graph.n_variables))
    first = left.difference(last)
    order = []
    while left:
        x = min(first or left, key=lambda y: (cells[y], y))
        order.append((x, cells[x]))
        left.remove(x)
        first.discard(x)
        for y in neighbors[x]:
            neighbors[y] |= neighbors[x]
            neighbors[y] -= {x, y}
            cells[y] = cards[y] * prod(cards[w] for w in neighbors[y])
    return order


Codes = NDArray[np.intp]
Scope = tuple[int, ...]
Table = tuple[Scope, FloatArray]


@dataclass(frozen=True)
class Query:
    """A question about some variables given others.

    Parameters
    ----------
    network
        The factors.
    asked
        The variables in question, at least one.
    known
        The variables with evidence.
    hint
        Way out, for the error if a table would have more than 2^20 cells.
    """

    network: FactorNetwork
    asked: tuple[int, ...]
    known: frozenset[int]
    hint: str = ""

    @cached
    def open(self) -> list[int]:
        """The variables that are asked about or must be summed over, ascending."""
        return sorted(self.network.graph.reachable(self.asked, self.known))

    @cached
    def relevant(self) -> list[int]:
        """The known variables that the answer depends on, ascending."""
        around = set[int]().union(*(self.network.graph.neighbors(x) for x in self.open))
        return sorted(around & self.known)

    @cached
    def _order(self) -> list[tuple[int, int]]:
        """An elimination order of the open variables, those asked about last, with the cells of each table."""
        place = {x: k for k, x in enumerate(self.open)}
        cards = [self.network.cards[x] for x in self.open]
        order = elimination_order(self.network.graph.subgraph(self.open), cards, {place[x] for x in self.asked})
        return [(self.open[k], cells) for k, cells in order]

    def batches(self, codes: Codes) -> Iterator[tuple[Codes, dict[int, Codes]]]:
        """Yield distinct evidence, so many rows of it that tables stay small, with its place for each row of codes.

        The place is −1 for rows whose evidence is in another batch.
        """
        relevant = self.relevant
        if not relevant:
            yield np.zeros(len(codes), dtype=np.intp), {}
            return
        distinct, which = np.unique(codes[:, relevant], axis=0, return_inverse=True)
        size = max(1, 4 * LARGEST_TABLE // max(cells for _, cells in self._order))
        which = which.ravel()
        for start in range(0, len(distinct), size):
            part = distinct[start : start + size]
            places = np.where((which >= start) & (which < start + size), which - start, -1)
            yield places, {y: part[:, k] for k, y in enumerate(relevant)}

    def joint(self, evidence: Mapping[int, Codes]) -> FloatArray:
        """Return p(asked | evidence): the rows of evidence first, then an axis for each asked variable.

        Raises
        ------
        InputError
            If a table would be too large.
        """
        n_rest = len(self.open) - len(self.asked)
        self._check(max([prod(self.network.cards[x] for x in self.asked), *(c for _, c in self._order[:n_rest])]))
        tables = self._reduced(evidence)
        for x, _ in self._order[:n_rest]:
            tables, _ = _eliminated(tables, x, self.network.cards, _log_sum)
        found = _together(tables, self.asked, self.network.cards)
        flat = found.reshape(len(found), -1)
        weights = exp(flat - flat.max(1, keepdims=True))
        return np.asarray((weights / weights.sum(1, keepdims=True)).reshape(found.shape))

    def best(self, evidence: Mapping[int, Codes]) -> tuple[Codes, FloatArray]:
        """Return the most probable states of the asked variables, a row each, and log p of them given the evidence.

        Of equally probable states the first one is taken.

        Raises
        ------
        InputError
            If a table would be too large.
        """
        self._check(max(cells for _, cells in self._order))
        cards, asked = self.network.cards, set(self.asked)
        summed = maximal = self._reduced(evidence)
        steps: list[tuple[int, Scope, Codes]] = []
        for x, _ in self._order:
            summed, _ = _eliminated(summed, x, cards, _log_sum)
            if x not in asked:
                maximal = summed
                continue
            maximal, (scope, table) = _eliminated(maximal, x, cards, lambda values: values.max(-1))
            steps.append((x, scope[:-1], table.argmax(-1)))
        log_p = sum((table for _, table in maximal), np.zeros(1)) - sum((table for _, table in summed), np.zeros(1))
        n_rows = max([len(log_p), *(len(codes) for codes in evidence.values())])
        found = np.zeros((n_rows, self.network.n_variables), dtype=np.intp)
        for x, scope, choices in reversed(steps):
            rows = np.arange(n_rows) if len(choices) > 1 else np.zeros(n_rows, dtype=np.intp)
            found[:, x] = choices[(rows, *(found[:, y] for y in scope))]
        return found[:, list(self.asked)], np.broadcast_to(log_p, (n_rows,))

    def drawn(self, evidence: Mapping[int, Codes], places: Codes, rng: np.random.Generator) -> Codes:
        """Return states of the asked variables, drawn for each row given its place in the evidence.

        Raises
        ------
        InputError
            If a table would be too large.
        """
        self._check(max(cells for _, cells in self._order))
        tables, steps = self._reduced(evidence), []
        for x, _ in self._order:
            tables, (scope, table) = _eliminated(tables, x, self.network.cards, _log_sum)
            steps.append((x, scope[:-1], table))
        found = np.zeros((len(places), self.network.n_variables), dtype=np.intp)
        for x, scope, table in reversed(steps):
            rows = places if len(table) > 1 else np.zeros_like(places)
            logs = table[(rows, *(found[:, y] for y in scope))]
            sums = exp(logs - logs.max(1, keepdims=True)).cumsum(1)
            found[:, x] = (sums < rng.random((len(places), 1)) * sums[:, -1:]).sum(1)
        return found[:, list(self.asked)]

    def _check(self, cells: int) -> None:
        """Raise InputError for a table that is too large."""
        if cells > LARGEST_TABLE:
            raise InputError(
                f"the model must be of low tree-width for an exact answer, no table above {LARGEST_TABLE} cells; this "
                f"question needs one of {cells:.3g}. {self.hint}"
            )

    def _reduced(self, evidence: Mapping[int, Codes]) -> list[Table]:
        """Return the factors of the open variables at the evidence, the rows of evidence first."""
        inside, found = set(self.open), []
        for factor in self.network.factors:
            scope = tuple(y for y in factor.variables if y in inside)
            if not scope:
                continue
            fixed = [y for y in factor.variables if y not in inside]
            axes = [factor.variables.index(y) for y in (*fixed, *scope)]
            table = factor.log_values.transpose(axes)
            found.append((scope, table[tuple(evidence[y] for y in fixed)] if fixed else table[None]))
        return found


def by_pattern(known: NDArray[np.bool_]) -> Iterator[tuple[frozenset[int], Codes]]:
    """Yield each set of known variables, given as a matrix of rows and variables, with the rows that know just it."""
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        yield frozenset(np.flatnonzero(pattern).tolist()), np.flatnonzero(which.ravel() == k)


def _eliminated(
    tables: Sequence[Table], x: int, cards: Sequence[int], reduce: Callable[[FloatArray], FloatArray]
) -> tuple[list[Table], Table]:
    """Return the tables after the elimination of x by sums or maxima, and the table of all that held x, x last."""
    mine = [(scope, table) for scope, table in tables if x in scope]
    scope = (*sorted({y for inner, _ in mine for y in inner} - {x}), x)
    whole = _together(mine, scope, cards)
    others = [(inner, table) for inner, table in tables if x not in inner]
    return [*others, (scope[:-1], reduce(whole))], (scope, whole)


def _log_sum(values: FloatArray) -> FloatArray:
    """Return the log of the sum of exp over the last axis."""
    top = values.max(-1, keepdims=True)
    return np.asarray((top + log(exp(values - top).sum(-1, keepdims=True)))[..., 0])


def _together(tables: Sequence[Table], scope: Sequence[int], cards: Sequence[int]) -> FloatArray:
    """Return the sum of the tables as one with these axes, the rows of evidence first."""
    total: FloatArray = np.zeros((1, *(cards[y] for y in scope)))
    place = {y: axis + 1 for axis, y in enumerate(scope)}
    for inner, table in tables:
        axes = [place[y] for y in inner]
        shape = [len(table)] + [1] * len(scope)
        for axis, y in zip(axes, inner, strict=True):
            shape[axis] = cards[y]
        total = total + table.transpose(0, *(1 + k for k in np.argsort(axes))).reshape(shape)
    return total
