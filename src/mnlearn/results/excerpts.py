"""Parts of a large network: the surroundings of some variables, with the numbers of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.normal_scores import normal_scores
from mnlearn.errors import InputError, check_listed, check_name
from mnlearn.graphs.graph import Edge

if TYPE_CHECKING:
    from mnlearn.regression.weights import EdgeWeights
    from mnlearn.results.learned import Learned

_Value = TypeVar("_Value")


def places_of(learned: Learned, names: str | Iterable[str]) -> list[int]:
    """Return the indices of one variable or several, ascending."""
    if not isinstance(names, str):
        check_listed("names", names, "names of variables")
    chosen = [names] if isinstance(names, str) else list(names)
    if not chosen:
        raise InputError("names must hold at least one variable; got none. Name one.")
    place = {name: x for x, name in enumerate(learned.names)}
    for name in chosen:
        if name not in place:
            check_name("variable", name, learned.names)
    return sorted({place[name] for name in chosen})


def excerpt(learned: Learned, variables: Sequence[int]) -> Learned:
    """Return the network among some variables, without data; its numbers are those of the whole network.

    The weight of an edge depends on all neighbours of its ends, so it is computed in the whole network.
    """
    place = {x: k for k, x in enumerate(variables)}
    found = learned.result
    own = replace(
        found,
        graph=found.graph.subgraph(variables),
        support=_among(found.support, place, learned) or {},
        score=None,
        trace=None,
        stages={},
        alternatives=(),
        edge_probabilities=_among(found.edge_probabilities, place, learned),
        log_odds=None if found.log_odds is None else found.log_odds[np.ix_(variables, variables)],
        steps=None,
        absent=None,
        moves=(),
        trials=(),
        separators={},
        pdag=None,
        partial_correlations=_among(found.partial_correlations, place, learned),
        mass=None,
    )
    return replace(
        learned,
        names=tuple(learned.names[x] for x in variables),
        result=own,
        data=None,
        recipe=None,
        frequencies=_among(learned.frequencies, place, learned),
        saved_weights=_weights_among(learned, place),
    )


def _among(
    numbers: Mapping[Edge, _Value] | None, place: Mapping[int, int], learned: Learned
) -> dict[Edge, _Value] | None:
    """Return the numbers of the edges among some variables, by their places there."""
    if numbers is None:
        return None
    return {edge: numbers[whole] for edge, whole in _edges_among(learned, place) if whole in numbers}


def _edges_among(learned: Learned, place: Mapping[int, int]) -> list[tuple[Edge, Edge]]:
    """Return each edge among some variables: by their places, and by index in the whole network."""
    found = []
    for x, k in place.items():
        for y in learned.graph.neighbors(x):
            if x < y and y in place:
                u, v = sorted((k, place[y]))
                found.append(((u, v), (x, y)))
    return sorted(found)


def _weights_among(learned: Learned, place: Mapping[int, int]) -> EdgeWeights | None:
    """Return the weights of the edges among some variables, given all their neighbours in the whole network."""
    from mnlearn.regression.weights import EdgeWeights, is_mixed

    edges = _edges_among(learned, place)
    known = learned.__dict__.get("weights") or learned.saved_weights
    data = learned.data
    if known is None and (learned.result.partial_correlations is not None or data is None or is_mixed(data)):
        known = learned.weights  # of mixed data they are those of one model of all variables
    if known is None and data is not None:
        known = _weights_of_some(learned, data, sorted(place))
    if known is None:
        return None
    values = {edge: known.values[whole] for edge, whole in edges if whole in known.values}
    return EdgeWeights(known.measure, values, tuple(known.ordered[x] for x in place))


def _weights_of_some(learned: Learned, data: Dataset, variables: Sequence[int]) -> EdgeWeights:
    """Return weights by index in which those of all edges among some variables are right; others are not used."""
    from mnlearn.regression.weights import EdgeWeights, edge_weights

    around = {x: learned.graph.neighbors(x) for x in variables}
    if learned.settings.get("transform") != "normal_scores":
        return edge_weights(data, [around.get(x, ()) for x in range(data.n_variables)])
    family = sorted(set(variables).union(*around.values()))  # ranks of all columns would take seconds
    place = {x: k for k, x in enumerate(family)}
    found = edge_weights(normal_scores(data.select(family)), [[place[y] for y in around.get(x, ())] for x in family])
    values = {(family[u], family[v]): value for (u, v), value in found.values.items()}
    return EdgeWeights(found.measure, values, (True,) * data.n_variables)
