"""Markov network of categorical variables: factors, likelihood, inference, prediction and sampling."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, code_type
from mnlearn.data.readers import count_rows
from mnlearn.data.writers import FrameKind
from mnlearn.distributions.elimination import LARGEST_TABLE, Query, by_pattern, largest_table, log_partition, tree_width
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.distributions.sampling import USUAL_PLAN, GibbsPlan, Method
from mnlearn.distributions.sampling import sample as sample_network
from mnlearn.errors import InputError, MnlearnWarning, check_instance, check_mapping, is_number, tuple_of
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.model.base import (
    EdgeStrength,
    FitReport,
    Imputed,
    Label,
    Levels,
    MarkovModel,
    MostProbable,
    by_strength,
    labelled,
)
from mnlearn.model.rows import categorical_rows, incomplete_states
from mnlearn.numbers import Seed, exp, fresh, log
from mnlearn.protocols import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteModel(MarkovModel):
    """p(x) = (1 / Z) Π_D φ_D(x_D) over categorical variables with names and labels.

    Attributes
    ----------
    names
        The variables.
    levels
        The labels of the states of each.
    network
        The factors, by index and code.
    report
        How they were found.
    cuts
        For a variable that was continuous: where it was cut into states, by name.
    frame
        Library of the data frame that the model was fitted to, if any.

    Examples
    --------
    >>> from mnlearn.simulate import Factor, FactorNetwork
    >>> network = FactorNetwork((2, 2), [Factor((0, 1), np.log([[3.0, 1.0], [1.0, 3.0]]))])
    >>> model = DiscreteModel(("rain", "wet"), (("no", "yes"), ("no", "yes")), network, FitReport("by hand", 0))
    >>> model.conditional("wet", {"rain": "yes"})
    {'no': 0.25, 'yes': 0.75}
    >>> model.predict({"rain": ["no", "yes", "yes"]}, "wet").tolist()
    ['no', 'yes', 'yes']
    >>> model.most_probable({"rain": "yes"}).values
    {'wet': 'yes'}
    >>> [(edge.u, edge.v, round(edge.strength, 3), edge.sign) for edge in model.strengths()]
    [('rain', 'wet', 2.197, 1)]
    """

    names: tuple[str, ...]
    levels: Levels
    network: FactorNetwork
    report: FitReport
    cuts: Mapping[str, FloatArray] = field(default_factory=dict)
    frame: FrameKind | None = None

    def __post_init__(self) -> None:
        check_instance("network", self.network, FactorNetwork, "Fit a model: mnlearn.fit_parameters(graph, data).")
        for name in ("names", "levels"):
            tuple_of(name, getattr(self, name), "entries, one per variable")
        for labels in self.levels:
            tuple_of("levels", labels, "labels")
        sizes = (len(self.names), len(self.levels), self.network.n_variables)
        if len(set(sizes)) > 1 or tuple(map(len, self.levels)) != tuple(self.network.cards):
            raise InputError(
                f"names and levels must have one entry per variable of the network, and one label per state; got "
                f"{sizes[0]} names and {tuple(map(len, self.levels))} labels for {tuple(self.network.cards)} states."
            )

    @property
    def kind(self) -> str:
        """ "discrete"."""
        return "discrete"

    @property
    def graph(self) -> Graph:
        """The structure, by index."""
        return self.network.graph

    @property
    def n_parameters(self) -> int:
        """Free parameters: Π_x∈D (r_x − 1), summed over the sets D that lie within a factor."""
        held = {
            inner
            for factor in self.network.factors
            for size in range(1, len(factor.variables) + 1)
            for inner in combinations(factor.variables, size)
        }
        return sum(prod(self.network.cards[x] - 1 for x in scope) for scope in held)

    def log_conditionals(self, data: object) -> FloatArray:
        """log p(x_j | all others) of every row and variable."""
        rows = self._rows(data)
        found = np.empty((rows.n_records, len(self.names)))
        for x in range(len(self.names)):
            found[:, x] = np.take_along_axis(
                self._log_probabilities(x, rows.columns), rows.columns[x].astype(np.intp)[:, None], axis=1
            )[:, 0]
        return found

    def log_likelihood(self, data: object) -> float:
        """Σ_rows log p(x), exactly; the partition function is found by elimination."""
        self._check_width(self.graph, self.network.cards, "The log pseudo-likelihood has no such limit.")
        rows = self._rows(data)
        log_weights = self.network.log_weights(np.stack(rows.columns, axis=1).astype(np.intp))
        weight = float(log_weights.sum() if rows.repeats is None else (log_weights * rows.repeats).sum())
        return weight - rows.n_rows * self._log_partition

    def sample_dataset(
        self, n_rows: int, seed: Seed | None = None, *, method: Method = "auto", plan: GibbsPlan = USUAL_PLAN
    ) -> Dataset:
        """Draw rows: independent and exact where the tree-width allows it, else by Gibbs chains.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows on every machine. None draws
            fresh ones.
        method
            "auto", "enumerate", "eliminate" or "gibbs", as for `mnlearn.simulate.sample`.
        plan
            Chains, burn-in and thinning of "gibbs".

        Warns
        -----
        MnlearnWarning
            If Gibbs chains did not converge; the rows are returned all the same.
        """
        drawn = sample_network(self.network, n_rows, fresh(seed), method=method, plan=plan)
        if drawn.convergence is not None and not drawn.convergence.converged:
            warnings.warn(f"the Gibbs chains have {drawn.convergence}.", MnlearnWarning, stacklevel=3)
        columns = tuple(np.ascontiguousarray(column) for column in drawn.codes.T)
        return Dataset(self.names, tuple(self.network.cards), columns, self.levels, declared=frozenset(self.names))

    def conditional(self, x: str, evidence: Mapping[str, Any] | None = None) -> dict[Label, float]:
        """P(x | evidence), exactly: a probability for each label of x.

        Parameters
        ----------
        x
            The name of a variable.
        evidence
            Labels of other variables, by name; any of them. For a variable that was cut into intervals also a number.
            With nothing given this is the marginal of x.

        Raises
        ------
        InputError
            If what is left open is of too large a tree-width.
        """
        target = self.place("x", x)
        check_mapping("evidence", evidence, "{'rain': 'yes'}")
        if x in (evidence or {}):
            raise InputError(f"evidence must not hold x itself; got {x!r} in both. Drop it from one.")
        hint = f"Give the neighbours of {x!r} as evidence, or use to_pyagrum()."
        chances = self._query((target,), evidence, hint)
        return dict(zip(self.levels[target], chances.tolist(), strict=True))

    def joint(
        self, variables: Sequence[str], evidence: Mapping[str, Any] | None = None
    ) -> dict[tuple[Label, ...], float]:
        """P(variables | evidence), exactly: a probability for each combination of their labels, in this order.

        Parameters
        ----------
        variables
            Names, each once.
        evidence
            As for `conditional`.

        Raises
        ------
        InputError
            If a table would have more than 2^20 cells: that of the variables, or of what must be summed out.

        Examples
        --------
        >>> from mnlearn.simulate import agreement_factors
        >>> from mnlearn.graphs import path
        >>> model = DiscreteModel(("a", "b", "c"), ((0, 1),) * 3, agreement_factors(path(3), 2.0), FitReport("x", 0))
        >>> {labels: round(p, 3) for labels, p in model.joint(["a", "c"], {"b": 1}).items()}
        {(0, 0): 0.072, (0, 1): 0.197, (1, 0): 0.197, (1, 1): 0.534}
        """
        asked = self._places(variables, evidence)
        chances = self._query(asked, evidence, "Ask about fewer variables, give more evidence, or use to_pyagrum().")
        labels = product(*(self.levels[x] for x in asked))
        return dict(zip(labels, chances.ravel().tolist(), strict=True))

    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, variables: Sequence[str] | None = None
    ) -> MostProbable:
        """The most probable labels of some variables together, given labels of others, exactly.

        Parameters
        ----------
        evidence
            As for `conditional`.
        variables
            Names, each once; by default all variables without evidence. The others are summed out.

        Raises
        ------
        InputError
            If a table would have more than 2^20 cells.

        Notes
        -----
        Labels that are probable together need not be the most probable ones one by one. Of equals the first is taken.
        """
        asked = self._asked(evidence, variables)
        codes = self._codes(evidence or {})
        query = Query(self.network, asked, frozenset(codes), "Give more evidence, or use to_pyagrum().")
        best, log_p = query.best({y: np.array([code]) for y, code in codes.items()})
        values = {self.names[x]: self.levels[x][code] for x, code in zip(asked, best[0].tolist(), strict=True)}
        return MostProbable(values, float(log_p[0]))

    def predict(self, data: object, column: str) -> NDArray[Any]:
        """The most probable label of one column given the others, row by row; the first one in a tie."""
        place = self.place("column", column)
        best = np.argmax(self.predict_proba(data, column), axis=1)
        return labelled(self.levels[place], best)

    def predict_proba(self, data: object, column: str) -> FloatArray:
        """P(column | what is known of the row): rows in the order of the data, columns in that of `labels(column)`.

        Parameters
        ----------
        data
            As for `predict`.
        column
            The name of the variable.

        Raises
        ------
        InputError
            If unknown values make the tree-width of a row too large.
        """
        x = self.place("column", column)
        neighbors = sorted(self.graph.neighbors(x))
        if not neighbors:
            n_rows = count_rows(data)
            return exp(np.repeat(self._log_probabilities(x, [np.zeros(1, dtype=np.intp)] * len(self.names)), n_rows, 0))
        codes, present = self._incomplete(data, neighbors)
        self._check_neighbors(x, present)
        if (codes[:, neighbors] >= 0).all():
            return exp(self._log_probabilities(x, list(codes.T)))
        codes, _ = self._incomplete(data, [y for y in range(len(self.names)) if y != x])
        found = np.empty((len(codes), self.network.cards[x]))
        for known, rows in by_pattern(codes >= 0):
            query = Query(self.network, (x,), known, "Fill in more of its row.")
            for places, evidence in query.batches(codes[rows]):
                inside = places >= 0
                chances = query.joint(evidence)
                found[rows[inside]] = chances[places[inside]] if len(chances) > 1 else chances
        return found

    def labels(self, name: str) -> tuple[Label, ...]:
        """The labels of a variable, in the order of the columns of `predict_proba`."""
        return self.levels[self.place("name", name)]

    def impute_dataset(self, data: object, rng: np.random.Generator | None = None) -> Imputed:
        """Return the rows with every empty cell filled, and the number of these."""
        codes, present = self._incomplete(data, range(len(self.names)))
        filled_cells = int((codes[:, present] < 0).sum())
        for known, rows in by_pattern(codes >= 0):
            asked = tuple(x for x in present if x not in known)
            if not asked:
                continue
            query = Query(self.network, asked, known, "Leave such rows out, or fill in more of them.")
            filled = codes[rows]
            for places, evidence in query.batches(codes[rows]):
                inside = np.flatnonzero(places >= 0)
                if rng is not None:
                    filled[inside[:, None], list(asked)] = query.drawn(evidence, places[inside], rng)
                    continue
                best, _ = query.best(evidence)
                filled[inside[:, None], list(asked)] = best[places[inside]] if len(best) > 1 else best
            codes[rows] = filled
        chosen = [(self.names[x], self.levels[x], codes[:, x]) for x in present]
        columns = tuple(column.astype(code_type(len(labels))) for _, labels, column in chosen)
        names, levels = tuple(name for name, _, _ in chosen), tuple(labels for _, labels, _ in chosen)
        return Imputed(Dataset(names, tuple(map(len, levels)), columns, levels), filled_cells)

    def strengths(self) -> list[EdgeStrength]:
        """Every edge with its log odds ratio given all others, the strongest first.

        Of variables with more than two states, or where other variables change it, the root mean square of the log odds
        ratios over all pairs of states and all states of the others, each counted alike.
        """
        effects = pure_interactions(self.network.factors)
        interactions: dict[tuple[int, int], dict[tuple[int, ...], FloatArray]] = {edge: {} for edge in self.graph.edges}
        for scope, table in effects.items():
            for i, u in enumerate(scope):
                for v in scope[i + 1 :]:
                    interactions[u, v][scope] = table
        named = ((u, v, edge_strength((u, v), near)) for (u, v), near in interactions.items())
        return by_strength([EdgeStrength(self.names[u], self.names[v], *found) for u, v, found in named])

    @cached
    def _log_partition(self) -> float:
        return log_partition(self.network)

    @cached
    def _holding(self) -> list[list[Factor]]:
        """The factors that hold each variable."""
        holding: list[list[Factor]] = [[] for _ in self.names]
        for factor in self.network.factors:
            for x in factor.variables:
                holding[x].append(factor)
        return holding

    def _log_probabilities(self, x: int, columns: Sequence[NDArray[Any]]) -> FloatArray:
        """log P(x | its neighbours) of every row and state; only the columns of the neighbours are looked at."""
        logits = np.zeros((1, self.network.cards[x]))
        for factor in self._holding[x]:
            table = np.moveaxis(factor.log_values, factor.variables.index(x), -1)
            others = tuple(columns[y].astype(np.intp) for y in factor.variables if y != x)
            logits = logits + table[others]
        logits = logits - logits.max(1, keepdims=True)
        return np.asarray(logits - log(exp(logits).sum(1, keepdims=True)))

    def _rows(self, data: object, wanted: Sequence[int] | None = None) -> Dataset:
        chosen = range(len(self.names)) if wanted is None else wanted
        names = [self.names[x] for x in chosen]
        return categorical_rows(data, names, tuple(self.levels[x] for x in chosen), self.cuts)

    def _incomplete(self, data: object, wanted: Sequence[int]) -> tuple[NDArray[np.intp], list[int]]:
        """The codes of all variables in the rows, −1 unless wanted and known; and those wanted that have a column."""
        names, levels = [self.names[x] for x in wanted], tuple(self.levels[x] for x in wanted)
        found, present = incomplete_states(data, names, levels, self.cuts)
        codes = np.full((len(found), len(self.names)), -1, dtype=np.intp)
        codes[:, list(wanted)] = found
        return codes, [wanted[k] for k in present]

    def _query(self, asked: tuple[int, ...], evidence: Mapping[str, Any] | None, hint: str) -> FloatArray:
        """The probability of every combination of the asked variables, given one row of evidence."""
        codes = self._codes(evidence or {})
        query = Query(self.network, asked, frozenset(codes), hint)
        return np.asarray(query.joint({y: np.array([code]) for y, code in codes.items()})[0])

    def _codes(self, evidence: Mapping[str, Any]) -> dict[int, int]:
        """Evidence by index and code."""
        codes = {}
        for name, label in evidence.items():
            y = self.place("evidence", name)
            if name in self.cuts and is_number(label) and label not in self.levels[y]:
                codes[y] = int(np.searchsorted(self.cuts[name], label, side="right"))
                continue
            if label not in self.levels[y]:
                known = ", ".join(map(repr, self.levels[y]))
                raise InputError(f"evidence must hold labels of the model; {name!r} has {known}, got {label!r}.")
            codes[y] = self.levels[y].index(label)
        return codes

    def _check_width(self, graph: Graph, cards: Sequence[int], hint: str) -> None:
        """Raise InputError if elimination would need too large a table."""
        cells = largest_table(graph, cards) if graph.n_variables else 1
        if cells > LARGEST_TABLE:
            raise InputError(
                f"the model must be of low tree-width for an exact answer, no table above {LARGEST_TABLE} cells; its "
                f"width is about {tree_width(graph)} and needs one of {cells:.3g}. {hint}"
            )


# Edge strengths from the zero-sum form of a product of factors. Every log-linear model can be written in one way as
# Σ_D e_D with each e_D of mean zero over any one of its variables: e_D is the pure interaction of D. For an edge {u, v}
# it gives the log odds ratio, averaged over all other variables:
#
#     ω(a, a′, b, b′) = e_uv(a, b) − e_uv(a′, b) − e_uv(a, b′) + e_uv(a′, b′)
#
# and what higher interactions e_D, D ⊃ {u, v}, may add to or take from it.


def pure_interactions(factors: Iterable[Factor]) -> dict[tuple[int, ...], FloatArray]:
    """e_D of every set of two or more variables within a factor."""
    found: dict[tuple[int, ...], FloatArray] = {}
    for factor in factors:
        for size in range(2, len(factor.variables) + 1):
            for kept in combinations(range(len(factor.variables)), size):
                scope = tuple(factor.variables[axis] for axis in kept)
                part = _pure(factor.log_values, kept)
                found[scope] = found[scope] + part if scope in found else part
    return found


def edge_strength(edge: Edge, effects: Mapping[tuple[int, ...], FloatArray]) -> tuple[float, int | None]:
    """The root mean square of the log odds ratios over states a ≠ a′, b ≠ b′ and all else, and their sign.

    The terms of the zero-sum form are orthogonal, so their mean squares add up. Of two binary variables the strength is
    the absolute log odds ratio; there is a sign where no states of the others could turn it round.
    """
    square, direct, doubt = 0.0, 0.0, 0.0
    shape = (1, 1)
    for scope, table in effects.items():
        if edge[0] in scope and edge[1] in scope:
            axes = (scope.index(edge[0]), scope.index(edge[1]))
            shape = (table.shape[axes[0]], table.shape[axes[1]])
            square += float(np.mean(table**2))
            if len(scope) == 2:
                direct = 4.0 * float(table[0, 0])
            else:
                doubt += 4.0 * float(np.abs(table).max())
    if min(shape) < 2:
        return 0.0, None
    share = (1 - 1 / shape[0]) * (1 - 1 / shape[1])
    strength = float(np.sqrt(4.0 * square / share))
    sign = (1 if direct > 0 else -1) if shape == (2, 2) and abs(direct) > doubt else None
    return strength, sign


def _pure(log_values: FloatArray, kept: tuple[int, ...]) -> FloatArray:
    """Averaged over the axes that are not kept, and centred along each that is."""
    dropped = tuple(axis for axis in range(log_values.ndim) if axis not in kept)
    table = log_values.mean(axis=dropped)
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return np.asarray(table)
