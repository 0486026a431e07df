"""Factors by penalised pseudo-likelihood  [Besag, The Statistician 24 (1975), 179-195: BESAG75].

    maximise   Σ_rows Σ_x log p(x | M_x; θ)  −  (λ / 2) Σ θ²,      log p(x | M_x; θ) = Σ_D∋x θ_D − log Σ_x Σ_D∋x θ_D

over tables θ_D = log φ_D, one per clique D of the graph, or one per edge and variable. No partition function is needed,
whatever the tree-width. The objective is concave, strictly so for λ > 0: there is one optimum, and it does not depend
on the order of rows, columns or states. λ is worth as much as λ rows and not a share of the data: as rows are added it
matters less and less, and the estimates are consistent.

Rows enter through counts alone: n(x, m) for every variable x and observed configuration m of its neighbours. All logits
are then one sparse product A θ, the gradient is Aᵀ (expected − observed), and SciPy's L-BFGS does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mnlearn.data import Dataset
from mnlearn.errors import InputError, is_number, unknown_name, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.model._cliques import LARGEST_MODEL, all_cliques, pairs_and_singles
from mnlearn.model._configurations import check_categorical, observed
from mnlearn.model.canonical import check_graph
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.simulate.factors import Factor, FactorNetwork

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Interactions = Literal["cliques", "pairwise"]
LARGEST_SLOPE = 1e-6  # of the objective per row: below it the fit has converged
_MEMORY = 20  # pairs of steps and gradients that L-BFGS keeps


class Fitted(NamedTuple):
    """The factors, and how they were found."""

    network: FactorNetwork
    converged: bool
    iterations: int
    slope: float  # the largest entry of the gradient per row, where the fit stopped


def fit_pseudolikelihood(
    graph: Graph,
    data: Dataset,
    *,
    interactions: Interactions = "cliques",
    ridge: float = 1.0,
    max_iterations: int = 2000,
) -> Fitted:
    """The factors of largest penalised pseudo-likelihood.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        Categorical variables.
    interactions
        "cliques" puts a table on every clique, so that any distribution over the graph can be fitted; "pairwise" on
        every edge and variable only.
    ridge
        λ > 0. Also what keeps the parameters of states that never occur finite.
    max_iterations
        When to give up; what was reached by then is returned, with `converged` false.

    Notes
    -----
    Each step costs one product with a matrix of as many entries as there are (variable, observed configuration of its
    neighbours, state, factor): at most N per variable, far fewer where blankets are small.

    Examples
    --------
    >>> data = Dataset.from_codes(np.array([[0, 0]] * 40 + [[0, 1]] * 10 + [[1, 0]] * 10 + [[1, 1]] * 40))
    >>> fitted = fit_pseudolikelihood(Graph(2, [(0, 1)]), data, ridge=0.01)
    >>> fitted.converged, [factor.variables for factor in fitted.network.factors]
    (True, [(0,), (1,), (0, 1)])
    """
    check_categorical(data, "pseudolikelihood")
    check_graph(graph, data.n_variables)
    if interactions not in ("cliques", "pairwise"):
        raise unknown_name("interactions", interactions, ("cliques", "pairwise"))
    if not (is_number(ridge) and ridge > 0):
        raise InputError(f"ridge must be a number above 0; got {ridge!r}. Use for example 1, or 0.01 for next to none.")
    whole_number("max_iterations", max_iterations, least=1, way_out="Use for example 2000.")
    scopes = all_cliques(graph, data.cards) if interactions == "cliques" else pairs_and_singles(graph)
    layout = _Layout.of(scopes, data.cards)
    return _maximised(Problem.of(layout, data), layout, ridge, max_iterations)


@dataclass(frozen=True)
class _Layout:
    """Where the table of each factor lies in the vector of all parameters; the last variable counts fastest."""

    cards: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, scopes: Sequence[tuple[int, ...]], cards: Sequence[int]) -> _Layout:
        """One table after the other."""
        ends = np.cumsum([prod(cards[x] for x in scope) for scope in scopes])
        if ends[-1] > LARGEST_MODEL:
            raise InputError(
                f"data must have few enough states for factors of at most {LARGEST_MODEL} cells in all; got "
                f"{ends[-1]}. Join states, or use a sparser graph."
            )
        return cls(tuple(cards), tuple(scopes), (0, *ends[:-1].tolist()), int(ends[-1]))

    def strides(self, scope: tuple[int, ...]) -> list[int]:
        """By how much each variable's state moves the place in the table."""
        return [prod(self.cards[y] for y in scope[axis + 1 :]) for axis in range(len(scope))]

    def network(self, parameters: FloatArray) -> FactorNetwork:
        """The vector as factors."""
        factors = []
        for scope, start in zip(self.scopes, self.starts, strict=True):
            shape = [self.cards[x] for x in scope]
            factors.append(Factor(scope, parameters[start : start + prod(shape)].reshape(shape)))
        return FactorNetwork(self.cards, factors)


@dataclass(frozen=True, eq=False)
class Problem:
    """The pseudo-likelihood of all (variable, configuration of its neighbours): the logits of each are a segment."""

    design: csr_array  # logits = design @ parameters
    counts: FloatArray  # n(x, m), as the logits lie
    starts: IntArray  # where each segment begins
    lengths: IntArray  # the states of its variable
    n_rows: int

    @classmethod
    def of(cls, layout: _Layout, data: Dataset) -> Problem:
        """Count once; after that the data are not looked at again."""
        from scipy.sparse import csr_array

        parts = list(_segments(layout, data))
        columns = np.concatenate([part.columns.ravel() for part in parts])
        per_row = np.concatenate([np.full(part.counts.size, part.columns.shape[-1]) for part in parts])
        lengths = np.concatenate([np.full(len(part.counts), part.counts.shape[1]) for part in parts])
        ends = np.concatenate([[0], np.cumsum(per_row)])
        design = csr_array((np.ones(len(columns)), columns, ends), shape=(len(per_row), layout.size))
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        counts = np.concatenate([part.counts.ravel() for part in parts])
        return cls(design, counts, starts, lengths, data.n_rows)

    def loss(self, parameters: FloatArray, ridge: float) -> tuple[float, FloatArray]:
        """−(1/N) (log pseudo-likelihood − penalty), and its gradient."""
        logits = self.design @ parameters
        top = np.repeat(np.maximum.reduceat(logits, self.starts), self.lengths)
        weights = np.exp(logits - top)
        sums = np.repeat(np.add.reduceat(weights, self.starts), self.lengths)
        totals = np.repeat(np.add.reduceat(self.counts, self.starts), self.lengths)
        value = float(self.counts @ (top + np.log(sums) - logits)) + ridge / 2 * float(parameters @ parameters)
        slope = self.design.T @ (totals * weights / sums - self.counts) + ridge * parameters
        return value / self.n_rows, slope / self.n_rows


class _Segment(NamedTuple):
    """One variable: counts[m, a], and which parameters its logits add up, columns[m, a, factor]."""

    columns: IntArray
    counts: FloatArray


def _segments(layout: _Layout, data: Dataset) -> Iterator[_Segment]:
    """Every variable with its observed configurations."""
    holding: list[list[int]] = [[] for _ in layout.cards]
    for number, scope in enumerate(layout.scopes):
        for x in scope:
            holding[x].append(number)
    for x, numbers in enumerate(holding):
        others = sorted({y for number in numbers for y in layout.scopes[number]} - {x})
        codes, counts = observed(data, x, others)
        place = {y: column for column, y in enumerate(others)}
        columns = np.empty((len(codes), layout.cards[x], len(numbers)), dtype=np.int64)
        for k, number in enumerate(numbers):
            scope = layout.scopes[number]
            at = np.full((len(codes), layout.cards[x]), layout.starts[number])
            for y, stride in zip(scope, layout.strides(scope), strict=True):
                at += stride * (np.arange(layout.cards[x]) if y == x else codes[:, [place[y]]])
            columns[:, :, k] = at
        yield _Segment(columns, counts)


def _maximised(problem: Problem, layout: _Layout, ridge: float, max_iterations: int) -> Fitted:
    """The optimum, from all parameters 0."""
    from scipy.optimize import minimize

    options: Any = {
        "maxiter": max_iterations,
        "maxfun": 10 * max_iterations,
        "maxcor": _MEMORY,
        "ftol": 0.0,
        "gtol": 1e-9,
    }
    found = minimize(problem.loss, np.zeros(layout.size), args=(ridge,), jac=True, method="L-BFGS-B", options=options)
    # The solver calls it a failure when rounding stops it a hair before gtol: the slope decides.
    slope = float(np.abs(problem.loss(found.x, ridge)[1]).max())
    return Fitted(layout.network(found.x), slope <= LARGEST_SLOPE, int(found.nit), slope)
