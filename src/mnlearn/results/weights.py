"""Signed weights of the edges of a learned network, from its data, its method or its file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.data.normal_scores import normal_scores
from mnlearn.errors import InputError
from mnlearn.graphs.named import EdgeNumbers
from mnlearn.regression.weights import EdgeWeights, edge_weights, takes_long

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mnlearn.results.learned import Learned

_log = logging.getLogger("mnlearn.results")
TOO_MANY = "they would take minutes; learned.around(names) has those near some variables"


def weights_of(learned: Learned) -> EdgeWeights | None:
    """Return the weights: those of the file, those that the method estimated, or those that follow from the data."""
    own, n = learned.result.partial_correlations, len(learned.names)
    if learned.saved_weights is not None:
        return learned.saved_weights
    if own is not None:
        return EdgeWeights(
            "penalised partial correlation", {edge: own[edge] for edge in learned.graph.edges}, (True,) * n
        )
    if learned.data is None:
        return None
    data, neighbors = learned.data, [learned.graph.neighbors(x) for x in range(n)]
    if takes_long(data, neighbors):
        _log.warning("no weights of %d edges among %d variables: %s", learned.graph.n_edges, n, TOO_MANY)
        return None
    if learned.settings.get("transform") == "normal_scores":
        data = normal_scores(data)
    return edge_weights(data, neighbors)


def weighted_adjacency(ones: csr_array, weights: EdgeWeights | None) -> Any:
    """Return the adjacency matrix with weights for ones; NaN where a weight is undefined."""
    if weights is None:
        raise InputError(
            "weighted needs the data of the network or a file that holds weights; got neither, or too many edges. "
            "Attach the data: learned.with_data(data); of a large network, use learned.around(names)."
        )
    found = ones.astype(np.float64)
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    ends = zip(rows.tolist(), found.indices.tolist(), strict=True)
    found.data = np.array([weights.values.get((min(u, v), max(u, v)), np.nan) for u, v in ends], dtype=np.float64)
    return found


def weights_alone(numbers: EdgeNumbers) -> EdgeNumbers | None:
    """Return the weights of the edges without their other numbers, for formats with room for one; None without any."""
    return numbers.only("weight") if "weight" in numbers.columns else None
