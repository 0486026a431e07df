"""Bayesian networks as sources of data whose Markov network is known.

    p(x) = Π_j p(x_j | x_pa(j))

Rows are drawn parents first (forward sampling). The undirected structure behind them is the moral graph: every
variable joined to its parents, and all parents of one child joined to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_room, real_array, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, rng_from

LARGEST_ERROR = 1e-3
"""By how much the probabilities of a distribution may miss 1, as decimals on paper do; then they are normalised."""


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork:
    """A directed acyclic network of categorical variables with one conditional table each.

    Parameters
    ----------
    names
        One name per variable, all different.
    states
        The labels of the states of each variable.
    parents
        The parents of each variable, as positions in `names`.
    tables
        p(x | parents) per variable: one axis for each parent in the order of `parents`, the last for the variable
        itself. What misses 1 by at most 0.001 is normalised.

    Raises
    ------
    InputError
        If the parts do not fit together, a distribution is none, or the arcs run in a circle.

    Examples
    --------
    >>> rain_wets = BayesianNetwork(
    ...     names=("rain", "wet"), states=(("no", "yes"),) * 2, parents=((), (0,)),
    ...     tables=([0.8, 0.2], [[0.9, 0.1], [0.0, 1.0]]),
    ... )
    >>> rain_wets.sample(1000, seed=1).n_rows, rain_wets.moral_graph().edges
    (1000, ((0, 1),))
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]
    order: tuple[int, ...] = field(init=False)  # parents before children

    def __post_init__(self) -> None:
        _check_parts(self.names, self.states, self.parents, self.tables)
        tables, cards = [], self.cards
        for x, table in enumerate(self.tables):
            shape = tuple(cards[j] for j in (*self.parents[x], x))
            tables.append(_normalised(self.names[x], real_array(f"tables[{x}]", table, "Give probabilities."), shape))
        object.__setattr__(self, "tables", tuple(tables))
        object.__setattr__(self, "order", _parents_first(self.names, self.parents))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def cards(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return tuple(map(len, self.states))

    @property
    def n_arcs(self) -> int:
        """How many arcs there are from parents to children."""
        return sum(map(len, self.parents))

    @property
    def n_parameters(self) -> int:
        """How many free parameters: Σ_j (r_j − 1) q_j, with q_j the configurations of the parents."""
        return sum(table.size // table.shape[-1] * (table.shape[-1] - 1) for table in self.tables)

    def moral_graph(self) -> Graph:
        """The undirected structure: the arcs without their directions, and the parents of every child married."""
        families = ((x, *parents) for x, parents in enumerate(self.parents))
        return Graph(self.n_variables, (pair for family in families for pair in combinations(family, 2)))

    def sample(self, n_rows: int, seed: Seed) -> Dataset:
        """Draw independent rows.

        Parameters
        ----------
        n_rows
            Number of rows, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows on every machine.

        Returns
        -------
        Dataset
            All declared states count as states, drawn or not.

        Notes
        -----
        One uniform number for every cell, one pass over the rows for every state: N times the sum of the cardinalities.
        """
        rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
        check_room("n_rows", 8.0 * rows * self.n_variables, f"{rows:,} rows", "Draw fewer rows.")
        rng = rng_from(seed)
        columns: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * self.n_variables
        for x in self.order:
            configs = _configurations([columns[j] for j in self.parents[x]], self.tables[x].shape[:-1], rows)
            columns[x] = _draw(self.tables[x].reshape(-1, self.cards[x]), configs, rng.random(rows))
        types = [np.uint8 if card <= 256 else np.uint16 for card in self.cards]
        codes = [column.astype(kind) for column, kind in zip(columns, types, strict=True)]
        return Dataset(self.names, self.cards, tuple(codes), self.states, declared=frozenset(self.names))

    def __repr__(self) -> str:
        """Return the numbers of variables, arcs and parameters."""
        return f"<BayesianNetwork: {self.n_variables} variables, {self.n_arcs} arcs, {self.n_parameters} parameters>"


def _configurations(parents: Sequence[NDArray[np.intp]], cards: Sequence[int], n_rows: int) -> NDArray[np.intp]:
    """The number of the configuration of the parents in each row; the last parent counts fastest."""
    configs = np.zeros(n_rows, dtype=np.intp)
    for codes, card in zip(parents, cards, strict=True):
        configs = configs * card + codes
    return configs


def _draw(table: NDArray[np.float64], configs: NDArray[np.intp], uniform: NDArray[np.float64]) -> NDArray[np.intp]:
    """The state in which each uniform number falls, by the distribution of its row's configuration."""
    cumulative = _running_sums(table)
    codes = np.zeros(len(configs), dtype=np.intp)
    for state in range(table.shape[-1] - 1):
        codes += uniform >= cumulative[configs, state]
    return codes


def _running_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_i≤k p_i / Σ_i p_i along the last axis.

    Sums in sequence, as np.sum does not: the same bits everywhere. Behind the last possible state they are exactly 1,
    which no uniform number reaches, so that a state of probability 0 is never drawn.
    """
    sums = np.cumsum(table, axis=-1)
    return np.divide(sums, sums[..., -1:])


def _normalised(name: str, table: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the table with normalised distributions, or raise InputError."""
    if table.shape != shape:
        raise InputError(
            f"tables must have one axis for each parent and a last one for the variable; that of {name!r} must be of "
            f"shape {shape}, got {table.shape}. Correct the table, the parents or the states."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        wrong = table[~np.isfinite(table) | (table < 0)][0]
        raise InputError(f"tables must hold probabilities; that of {name!r} holds {wrong}. Correct it.")
    sums = np.cumsum(table, axis=-1)[..., -1:]
    errors = np.abs(sums - 1)
    if (errors > LARGEST_ERROR).any():
        config = np.unravel_index(int(np.argmax(errors)), errors.shape)
        at = f" given the parents' states {tuple(map(int, config[:-1]))}" if len(shape) > 1 else ""
        raise InputError(
            f"tables must hold distributions that sum to 1 up to {LARGEST_ERROR}; that of {name!r}{at} sums to "
            f"{sums[config]:.6g}. Correct it; a table that sums to 0 was often never given."
        )
    normalised: NDArray[np.float64] = table / sums
    normalised.flags.writeable = False
    return normalised


def _check_parts(
    names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]], tables: Sequence[object]
) -> None:
    """As many of each as there are variables, and every parent is one of them."""
    n = len(names)
    if n == 0 or len(set(names)) < n:
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        raise InputError(
            f"names must hold at least one name and none twice; got {'none' if n == 0 else repr(twice)} "
            f"{'at all' if n == 0 else 'twice'}. Give every variable a name of its own."
        )
    for part, given in (("states", states), ("parents", parents), ("tables", tables)):
        if len(given) != n:
            raise InputError(f"{part} must have one entry for each of {n} variables; got {len(given)}.")
    for name, labels, above in zip(names, states, parents, strict=True):
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"states must be at least one per variable, none twice; {name!r} has {tuple(labels)}.")
        if len(set(above)) < len(above) or not all(0 <= j < n for j in above):
            raise InputError(
                f"parents must be different variables, 0 to {n - 1}; those of {name!r} are {tuple(above)}."
            )


def _parents_first(names: Sequence[str], parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The variables in an order that puts parents before children; ties by index."""
    from graphlib import CycleError, TopologicalSorter

    sorter = TopologicalSorter(dict(enumerate(parents)))
    try:
        return tuple(sorter.static_order())
    except CycleError as error:
        circle = " → ".join(names[x] for x in reversed(error.args[1]))
        raise InputError(f"parents must not run in a circle; got {circle}. Take one of these arcs out.") from None
