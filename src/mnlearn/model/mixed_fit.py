"""Fit a mixed model on a known graph, and make its joint density one that can be normalised."""

from __future__ import annotations

from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import MOST_STATES
from mnlearn.errors import InputError, check_instance, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.model._configurations import rows_used, unseen_states
from mnlearn.model.base import FitReport
from mnlearn.model.canonical import check_graph_size
from mnlearn.model.mixed import MixedModel
from mnlearn.model.mixed_network import MixedNetwork
from mnlearn.regression.features import Features
from mnlearn.regression.joint import fit_interactions
from mnlearn.statistics.feature_columns import Interactions

SMALLEST_EIGENVALUE = 1e-3  # of the precision matrix with ones on its diagonal
LARGEST_COEFFICIENT = 8.0  # of a standardised interaction of states; beyond it states are called separated


def fit_mixed(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MixedModel:
    """Fit the pairwise interactions of variables of any kind by penalised pseudo-likelihood.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        At least 2 rows; gaps are allowed.
    settings
        `ridge`, λ > 0 rows (default 1), and `max_iterations` (default 200).
    """
    check_instance("data", data, Dataset, "Read it first: mnlearn.read(...).")
    check_graph_size(graph, data.n_variables)
    ridge, most = settings.get("ridge", 1.0), settings.get("max_iterations", 200)
    if not (is_number(ridge) and ridge > 0):
        raise InputError(f"ridge must be a number above 0; got {ridge!r}. Use for example 1, or 0.01 for next to none.")
    whole_number("max_iterations", most, least=1, hint="Use for example 200.")
    for name, card in zip(data.names, data.cards, strict=True):
        if card > MOST_STATES:
            raise InputError(
                f"data must have at most {MOST_STATES} states per variable for a model; {name!r} has {card}. Join "
                "states, or leave the column out (columns=[...])."
            )
    notes = [*unseen_states(data), *rows_used(graph, data)]
    found = fit_interactions(data, graph.edges, ridge=ridge, max_iterations=most)
    notes += _constant(data, found.features) + _separated(data, found.features, found.interactions)
    interactions, factor = normalisable(found.features, found.interactions)
    if factor < 1:
        notes.append(
            "the joint density of the fit cannot be normalised: the precision matrix of the numbers is not positive "
            f"definite. The interactions between numbers were multiplied by {factor:.4g}"
        )
    if not found.converged:
        notes.append(f"not converged: about {found.gap:.2g} nats short of the optimum; raise max_iterations")
    used = {"ridge": ridge, **settings}
    report = FitReport("mixed", data.n_rows, found.converged, found.iterations, used, tuple(notes))
    levels = tuple(data.levels)
    return MixedModel(data.names, levels, MixedNetwork(graph, found.features, interactions), report, dict(data.cuts))


def normalisable(features: tuple[Features, ...], found: Interactions) -> tuple[Interactions, float]:
    """Return interactions with a positive definite precision matrix, and the factor of those between numbers.

    The precision matrix with ones on its diagonal is I − R. If its smallest eigenvalue is below 0.001, R is multiplied
    by the largest factor that makes it 0.001. Zeros stay zeros, and the conditional variances stay as they are.
    """
    numbers = [x for x, each in enumerate(features) if not each.card and each.size]
    place = {x: k for k, x in enumerate(numbers)}
    partial = np.zeros((len(numbers), len(numbers)))
    between = [(u, v) for u, v in found.weights if u in place and v in place]
    for u, v in between:
        value = float(found.weights[u, v][0, 0]) / np.sqrt(found.curvature[u] * found.curvature[v])
        partial[place[u], place[v]] = partial[place[v], place[u]] = value
    largest = float(np.linalg.eigvalsh(partial)[-1]) if between else 0.0
    if largest <= 1 - SMALLEST_EIGENVALUE:
        return found, 1.0
    factor = (1 - SMALLEST_EIGENVALUE) / largest
    weights = {pair: block * factor if pair in between else block for pair, block in found.weights.items()}
    return found._replace(weights=weights), factor


def _constant(data: Dataset, features: tuple[Features, ...]) -> list[str]:
    """Return notes on numeric columns that never change."""
    return [
        f"{name!r} never changes: it is kept at {each.original(np.zeros(1))[0]:g} and explains nothing"
        for name, each in zip(data.names, features, strict=True)
        if not each.card and not each.size
    ]


def _separated(data: Dataset, features: tuple[Features, ...], found: Interactions) -> list[str]:
    """Return notes on interactions so large that some values all but determine a state."""
    return [
        f"{data.names[u]!r} and {data.names[v]!r} all but determine each other: their interaction is finite because of "
        "the ridge alone"
        for (u, v), weights in found.weights.items()
        if weights.size and (features[u].card or features[v].card) and np.abs(weights).max() > LARGEST_COEFFICIENT
    ]
