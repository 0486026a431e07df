"""Markovian sampling: new rows from given rows and a structure.

Each value is drawn given the present values of its neighbours. This is the sampler of the Markovianity based
optimisation algorithm, Shakya & Santana (2008)  [MOA08]: a Gibbs sampler that needs only the structure, because
p(x | neighbours) is a frequency of the given rows. It is native (`native/sampling/markovian.cpp`) and draws from Philox
streams: the same bits for any number of threads, on every machine.
"""

from __future__ import annotations

import os
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.distributions.factors import MOST_STATES
from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, rng_from

Weighing: TypeAlias = Literal["conditional", "joint", "plain"]


def sample_markovian(
    graph: Graph,
    codes: NDArray[np.uint8],
    n_rows: int,
    seed: Seed,
    *,
    cards: tuple[int, ...],
    n_updates: int,
    inverse_temperature: float = 1.0,
    weighing: Weighing = "conditional",
    n_threads: int = 1,
) -> NDArray[np.uint8]:
    """Draw rows like the given ones by Gibbs sampling with p(x = k | neighbours) ∝ exp(b f_k).

    Parameters
    ----------
    graph
        The independence structure.
    codes
        The old rows, at least one: a column for each variable.
    n_rows
        How many new rows.
    seed
        An integer, or a generator to draw from.
    cards
        How many states each variable has, at most 256.
    n_updates
        How often one variable of a new row is drawn again, after a start that is uniform. Which one is drawn at random,
        for 64 rows together; the values are drawn for each row alone.
    inverse_temperature
        b: 0 draws uniformly, a large one takes the most frequent value.
    weighing
        What f_k is: ``"conditional"``, the frequency of k among the old rows that have these neighbours; ``"joint"``,
        the frequency of k together with these neighbours among all rows. ``"plain"`` takes conditional frequencies
        as probabilities, without a temperature.
    n_threads
        Number of threads. Any number gives the same rows.

    Returns
    -------
    array
        The new rows. A variable whose neighbours have values that no old row has is drawn uniformly.

    Notes
    -----
    Every row alone follows the law of one that chooses its variables for itself; the 64 rows of a block share the
    choice, so their tables are fetched once.

    Examples
    --------
    >>> old = np.array([[0, 0], [1, 1], [1, 1]], dtype=np.uint8)
    >>> new = sample_markovian(Graph(2, [(0, 1)]), old, 1000, 1, cards=(2, 2), n_updates=20, inverse_temperature=20)
    >>> bool((new[:, 0] == new[:, 1]).mean() > 0.99)
    True
    """
    rows = whole_number("n_rows", n_rows, least=0, hint="Ask for at least one row.")
    updates = whole_number("n_updates", n_updates, least=0, hint="n ln n is usual.")
    _check(graph, codes, cards, inverse_temperature, weighing)
    blankets = [sorted(graph.neighbors(x)) for x in range(graph.n_variables)]
    starts = np.cumsum([0, *map(len, blankets)], dtype=np.int64)
    neighbors = np.fromiter((y for others in blankets for y in others), dtype=np.int32, count=int(starts[-1]))
    key = int(rng_from(seed).integers(2**64, dtype=np.uint64))
    sizes, columns = np.array(cards, dtype=np.int32), np.ascontiguousarray(codes.T)
    return _core.markovian(
        *(columns, sizes, starts, neighbors, weighing, float(inverse_temperature)),
        n_updates=updates,
        n_new=rows,
        key=key,
        n_threads=n_threads,
        level=os.environ.get("MNLEARN_CORE", ""),
    )


def _check(graph: Graph, codes: object, cards: tuple[int, ...], inverse_temperature: object, weighing: object) -> None:
    """Raise InputError for arguments that the native sampler cannot take."""
    n = graph.n_variables
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8 or codes.ndim != 2 or not len(codes):
        raise InputError(
            "codes must be a 2-D array of type uint8 with at least one row; got "
            f"a {type(codes).__name__} of shape {getattr(codes, 'shape', None)}. Use np.asarray(rows, np.uint8)."
        )
    if codes.shape[1] != n or len(cards) != n:
        raise InputError(
            f"codes and cards must have an entry for each of the {n} variables of the graph; got {codes.shape[1]} and "
            f"{len(cards)}. Use a graph over the same columns."
        )
    if not all(1 <= card <= MOST_STATES for card in cards):
        raise InputError(f"cards must be from 1 to {MOST_STATES}; got {cards}. Join states that are alike.")
    if not is_number(inverse_temperature) or inverse_temperature < 0:  # type: ignore[operator]
        raise InputError(
            f"inverse_temperature must be a number of at least 0; got {inverse_temperature!r}. 0 draws uniformly."
        )
    check_name("weighing", weighing, get_args(Weighing))
