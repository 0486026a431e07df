"""From a graph and data to a model: one function, three ways to find the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_name
from mnlearn.graphs.graph import Graph
from mnlearn.model.canonical import canonical_factors, most_frequent
from mnlearn.model.discrete import DiscreteModel
from mnlearn.model.gaussian import GaussianModel
from mnlearn.model.markov_model import FitReport, Levels, MarkovModel
from mnlearn.model.precision import fit_precision
from mnlearn.model.pseudolikelihood import fit_pseudolikelihood

FitMethod = Literal["canonical", "pseudolikelihood", "gaussian"]
FIT_METHODS: tuple[str, ...] = get_args(FitMethod)
FIT_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "canonical": ("smoothing", "default"),
    "pseudolikelihood": ("interactions", "ridge", "max_iterations"),
    "gaussian": ("ridge", "max_iterations"),
}
"""Which settings each method has."""


def fit(graph: Graph, data: Dataset, method: str | None = None, **settings: Any) -> MarkovModel:
    """Fit the parameters of a Markov network whose structure is known.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        All categorical, or all continuous.
    method
        "canonical" (`canonical_factors`), "pseudolikelihood" (`fit_pseudolikelihood`) or "gaussian" (`fit_precision`);
        by default "gaussian" for continuous variables and "pseudolikelihood" for categorical ones.
    **settings
        Of the method: `smoothing` and `default` (labels by name) of "canonical"; `interactions`, `ridge` and
        `max_iterations` of "pseudolikelihood"; `ridge` and `max_iterations` of "gaussian".

    Raises
    ------
    UnsuitableError
        If the variables are not of the type that the method is for.
    InputError
        If there is no such setting, or it breaks its rule.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> from mnlearn.simulate import example
    >>> survey = example(1000, seed=1)
    >>> model = fit(survey.graph, read(survey.columns()))
    >>> model.report.converged, len(model.strengths())
    (True, 12)
    """
    chosen = _method_for(data) if method is None else method
    check_name("method", chosen, FIT_METHODS)
    for name in settings:
        if name not in FIT_SETTINGS[chosen]:
            known = ", ".join(FIT_SETTINGS[chosen])
            raise InputError(f"{name} is no setting of the method {chosen}; it has {known}. Drop it, or change method.")
    return _FITS[chosen](graph, data, settings)


def _method_for(data: Dataset) -> str:
    """By the type of the variables, which must be one."""
    continuous = [name for name, card in zip(data.names, data.cards, strict=True) if not card]
    if continuous and len(continuous) < data.n_variables:
        other = next(name for name, card in zip(data.names, data.cards, strict=True) if card)
        raise UnsuitableError(
            f"a model needs variables of one type; {continuous[0]!r} is continuous and {other!r} is categorical. "
            "Discretise the continuous ones (discretize='frequency'), or choose columns of one type."
        )
    return "gaussian" if continuous else "pseudolikelihood"


def _canonical(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MarkovModel:
    """Factors in closed form  [MBS09]."""
    told = settings.pop("default", None)
    default = None if told is None else _states(told, data)
    found = canonical_factors(graph, data, default=default, **settings)
    labels = _levels(data)
    chosen = {name: labels[x][found.default[x]] for x, name in enumerate(data.names)}
    report = FitReport(
        "canonical", data.n_rows, settings={"smoothing": 0.5, **settings, "default": chosen}, notes=_unseen(data)
    )
    return DiscreteModel(data.names, labels, found.network, report, dict(data.cuts))


def _pseudolikelihood(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MarkovModel:
    """Factors by L-BFGS."""
    found = fit_pseudolikelihood(graph, data, **settings)
    said = {"interactions": "cliques", "ridge": 1.0, **settings}
    notes = _unseen(data)
    if not found.converged:
        notes = (*notes, f"not converged: up to {found.gap:.2g} nats short of the optimum; raise max_iterations")
    report = FitReport("pseudolikelihood", data.n_rows, found.converged, found.iterations, said, notes)
    return DiscreteModel(data.names, _levels(data), found.network, report, dict(data.cuts))


def _gaussian(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MarkovModel:
    """A precision matrix with the zeros of the graph."""
    found = fit_precision(graph, data, **settings)
    notes = [
        f"{name!r} never changes: it is kept at {mean:g} and explains nothing"
        for name, mean, scale in zip(data.names, found.mean.tolist(), found.scale.tolist(), strict=True)
        if not scale
    ]
    if found.ridge and settings.get("ridge") is None:
        notes.append(f"the correlations are singular: shrunk by a ridge of 1 / (N + 1) = {found.ridge:.3g}")
    if not found.converged:
        notes.append("not converged: raise max_iterations, or use a larger ridge")
    said = {**settings, "ridge": found.ridge}
    report = FitReport("gaussian", data.n_rows, found.converged, found.iterations, said, tuple(notes))
    return GaussianModel(data.names, graph, found.mean, found.scale, found.precision, report)


_FITS: dict[str, Callable[[Graph, Dataset, dict[str, Any]], MarkovModel]] = {
    "canonical": _canonical,
    "pseudolikelihood": _pseudolikelihood,
    "gaussian": _gaussian,
}


def _levels(data: Dataset) -> Levels:
    """The labels of categorical variables."""
    return tuple(labels or () for labels in data.levels)


def _states(default: object, data: Dataset) -> tuple[int, ...]:
    """Labels by name as codes; where nothing is said, the most frequent state."""
    if not isinstance(default, Mapping):
        raise InputError(
            f"default must be labels by name; got {default!r}. Write for example {{{data.names[0]!r}: "
            f"{(data.levels[0] or (0,))[0]!r}}}."
        )
    states = list(most_frequent(data))
    for name, label in default.items():
        x = data.index(name)
        labels = data.levels[x] or ()
        if label not in labels:
            known = ", ".join(map(repr, labels))
            raise InputError(f"default must hold labels of the data; {name!r} has {known}, got {label!r}.")
        states[x] = labels.index(label)
    return tuple(states)


def _unseen(data: Dataset) -> tuple[str, ...]:
    """What a reader should know about states that no row has, and about columns that never change."""
    notes = []
    for name, card, column in zip(data.names, data.cards, data.columns, strict=True):
        seen = len(np.unique(column))
        if seen == 1 and card > 1:
            notes.append(f"{name!r} never changes: its other {card - 1} states rest on the prior alone")
        elif seen < card:
            notes.append(f"{name!r} has {card - seen} states that no row has; they rest on the prior alone")
    return tuple(notes)
