"""Weights of the edges of tables with variables of several kinds: standardised interactions.

- Two numbers (continuous or counts): the partial correlation given the neighbours of both ends, with states as
  indicators.
- Else the interaction of a pairwise model of all variables, fitted by penalised pseudo-likelihood, between features of
  mean square 1 (`edge_value`). Of two binary variables it is a quarter of the log odds ratio; between states and a
  number the mean of the coefficients of both ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import observed_rows
from mnlearn.regression.joint import edge_value, fit_interactions
from mnlearn.regression.weights import Neighbors, NumberTable, edges_of
from mnlearn.statistics.feature_columns import Pair


def interactions(data: Dataset, neighbors: Neighbors, signed: Sequence[bool]) -> dict[Pair, float]:
    """Return the standardised interaction of every edge; those with a variable that never changes have none.

    Parameters
    ----------
    data
        Variables of any kind. With gaps the part of each variable in the model has the rows in which it and its
        neighbours are observed; a partial correlation those in which both ends and all their neighbours are.
    neighbors
        The neighbours of each variable.
    signed
        Whether each variable has one feature.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> a = rng.integers(2, size=500)
    >>> data = Dataset(("a", "b"), (2, 0), (a.astype(np.uint8), rng.normal(2.0 * a)), ((0, 1), None))
    >>> interactions(data, [{1}, {0}], (True, True))[0, 1] > 0.5
    True
    """
    edges = edges_of(neighbors)
    if not edges:
        return {}
    fitted = fit_interactions(data, edges, precise=False)
    found = {}
    for u, v in edges:
        weights = fitted.interactions.weights[u, v]
        if not weights.size:
            continue
        value: float | None
        if data.cards[u] or data.cards[v]:
            ends = (fitted.features[u], fitted.features[v])
            curvature = fitted.interactions.curvature
            value = edge_value(ends, weights, (float(curvature[u]), float(curvature[v])))
        else:
            value = _partial_correlation(data, neighbors, signed, (u, v))
        if value is not None:
            found[u, v] = value
    return found


def _partial_correlation(data: Dataset, neighbors: Neighbors, signed: Sequence[bool], edge: Pair) -> float | None:
    """Return the partial correlation of two numbers given the neighbours of both; None if it is undefined."""
    family = [*edge, *sorted((set(neighbors[edge[0]]) | set(neighbors[edge[1]])) - set(edge))]
    rows = observed_rows(data.select(family), range(len(family)))
    if rows.n_records < 3:
        return None
    return NumberTable(rows, tuple(signed[x] for x in family)).partial(0, 1, list(range(2, len(family))))
