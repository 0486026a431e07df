"""Fit the parameters of a model on a known graph, by one of four methods.

Fit a mixed model on a known graph, and make its joint density one that can be normalised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.elimination import by_pattern
from mnlearn.distributions.factors import MOST_STATES
from mnlearn.errors import DataError, InputError, UnsuitableError, check_instance, check_name, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.model.base import FitReport, Levels, MarkovModel
from mnlearn.model.canonical import canonical_factors, check_graph_size, most_frequent, rows_used, unseen_states
from mnlearn.model.discrete import DiscreteModel
from mnlearn.model.gaussian import GaussianModel
from mnlearn.model.mixed import MixedModel
from mnlearn.model.mixed_network import MixedNetwork
from mnlearn.model.pseudolikelihood import fit_pseudolikelihood
from mnlearn.protocols import FloatArray
from mnlearn.regression.features import Features, Interactions, features_of
from mnlearn.regression.joint import fit_interactions
from mnlearn.statistics.scaling import correlation_of_rows

SMALLEST_EIGENVALUE_OF_PRECISION = 1e-3  # of the precision matrix with ones on its diagonal
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
    if largest <= 1 - SMALLEST_EIGENVALUE_OF_PRECISION:
        return found, 1.0
    factor = (1 - SMALLEST_EIGENVALUE_OF_PRECISION) / largest
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


FitMethod = Literal["canonical", "pseudolikelihood", "gaussian", "mixed"]
FIT_METHODS: tuple[str, ...] = get_args(FitMethod)
FIT_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "canonical": ("smoothing", "default"),
    "pseudolikelihood": ("interactions", "ridge", "max_iterations"),
    "gaussian": ("ridge", "max_iterations"),
    "mixed": ("ridge", "max_iterations"),
}
"""Which settings each method has."""


def fit(graph: Graph, data: Dataset, method: str | None = None, **settings: Any) -> MarkovModel:
    """Fit the parameters of a Markov network whose structure is known.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        Variables of any kind. With gaps the part of each variable is fitted to the rows in which it and its neighbours
        are observed; "gaussian" fits all values by the EM algorithm.
    method
        "canonical" (`canonical_factors`), "pseudolikelihood" (`fit_pseudolikelihood`), "gaussian" (`fit_precision`) or
        "mixed" (`fit_mixed`); by default "gaussian" if all variables are continuous, "pseudolikelihood" if all are
        nominal, else "mixed".
    **settings
        Of the method: `smoothing` and `default` (labels by name) of "canonical"; `interactions`, `ridge` and
        `max_iterations` of "pseudolikelihood"; `ridge` and `max_iterations` of "gaussian" and "mixed".

    Raises
    ------
    UnsuitableError
        If the variables are not of the type that the method is for.
    InputError
        If there is no such setting, or its value is invalid.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> from mnlearn.simulate import example
    >>> survey = example(1000, seed=1)
    >>> model = fit(survey.graph, read(survey.columns()))
    >>> model.report.converged, len(model.strengths())
    (True, 12)
    """
    check_instance("data", data, Dataset, "Read it first: mnlearn.read(...).")
    chosen = _method_for(data) if method is None else method
    check_name("method", chosen, FIT_METHODS)
    for name in settings:
        if name not in FIT_SETTINGS[chosen]:
            known = ", ".join(FIT_SETTINGS[chosen])
            raise InputError(f"{chosen} has no setting {name!r}; it accepts {known}. Drop it, or change the method.")
    data.verify()
    return _FITS[chosen](graph, data, settings)


def _method_for(data: Dataset) -> str:
    """By the kinds of the variables."""
    kinds = set(data.kinds)
    if kinds == {"continuous"}:
        return "gaussian"
    return "pseudolikelihood" if kinds == {"nominal"} else "mixed"


def _canonical(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MarkovModel:
    """Factors in closed form  [MBS09]."""
    given = settings.pop("default", None)
    default = None if given is None else _states(given, data)
    found = canonical_factors(graph, data, default=default, **settings)
    labels = _levels(data)
    chosen = {name: labels[x][found.default[x]] for x, name in enumerate(data.names)}
    report = FitReport(
        "canonical", data.n_rows, settings={"smoothing": 0.5, **settings, "default": chosen}, notes=_notes(graph, data)
    )
    return DiscreteModel(data.names, labels, found.network, report, dict(data.cuts))


def _pseudolikelihood(graph: Graph, data: Dataset, settings: dict[str, Any]) -> MarkovModel:
    """Factors by L-BFGS."""
    found = fit_pseudolikelihood(graph, data, **settings)
    used = {"interactions": "cliques", "ridge": 1.0, **settings}
    notes = _notes(graph, data)
    if not found.converged:
        notes = (*notes, f"not converged: up to {found.gap:.2g} nats short of the optimum; raise max_iterations")
    report = FitReport("pseudolikelihood", data.n_rows, found.converged, found.iterations, used, notes)
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
    if data.gaps:
        notes.append("values are missing: fitted by the EM algorithm, which takes them for missing at random")
    if not found.converged:
        notes.append("not converged: raise max_iterations, or use a larger ridge")
    used = {**settings, "ridge": found.ridge}
    report = FitReport("gaussian", data.n_rows, found.converged, found.iterations, used, tuple(notes))
    return GaussianModel(data.names, graph, found.mean, found.scale, found.precision, report)


_FITS: dict[str, Callable[[Graph, Dataset, dict[str, Any]], MarkovModel]] = {
    "canonical": _canonical,
    "pseudolikelihood": _pseudolikelihood,
    "gaussian": _gaussian,
    "mixed": fit_mixed,
}


def _levels(data: Dataset) -> Levels:
    """The labels of categorical variables."""
    return tuple(labels or () for labels in data.levels)


def _states(default: object, data: Dataset) -> tuple[int, ...]:
    """Return the default assignment as codes; variables without a label take their most frequent state."""
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


def _notes(graph: Graph, data: Dataset) -> tuple[str, ...]:
    """Return notes on states that no row has, columns that never change, and rows lost to gaps."""
    return (*unseen_states(data), *rows_used(graph, data))


# The maximum-likelihood precision matrix with zeros where the graph has no edge:
#
#     maximise  log det Θ − trace(S Θ)   with Θ_uv = 0 for every missing edge       [DEMPSTER72; HTF09, 17.3.1]
#
# At the optimum Σ = Θ⁻¹ agrees with S on the diagonal and on every edge. The sweep of Hastie, Tibshirani & Friedman
# (Algorithm 17.1) visits the variables: regress x on its neighbours within the present Σ, and set the row of Σ to what
# that regression implies. Each step raises log det Σ and keeps Σ positive definite.
#
# Work is done on correlations, so units do not matter. An optimum is sure to exist if S is positive definite. Where it
# is not (fewer rows than variables, copies, sums) it is shrunk,
#
#     R_λ = (1 − λ) R + λ I,   λ = 1 / (N + 1) unless given,
#
# which adds the weight of one row in which all variables are independent, in units of their variances. A column that
# never changes has no correlations and stays a constant.


SMALLEST_EIGENVALUE = 1e-8  # of a correlation matrix that is used as it is
TOLERANCE = 1e-10  # of the implied correlations, from sweep to sweep
EM_TOLERANCE = 1e-8  # of means and covariances in standard units, from step to step


class FittedPrecision(NamedTuple):
    """A normal distribution in standard units, and how it was found."""

    mean: FloatArray
    scale: FloatArray  # standard deviations, divisor N; 0 marks a column that never changes
    precision: FloatArray  # of the standardised variables; 1 on the diagonal for one that never changes
    ridge: float
    converged: bool
    iterations: int


def fit_precision(
    graph: Graph, data: Dataset, *, ridge: float | None = None, max_iterations: int = 1000
) -> FittedPrecision:
    """The mean, the scales and the precision matrix of largest likelihood on a graph.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        Continuous variables, at least 2 rows.
    ridge
        λ from 0 to 1. By default 0 where the correlation matrix is positive definite (smallest eigenvalue above 1e-8),
        else 1 / (N + 1).
    max_iterations
        How many sweeps over the variables at most.

    Notes
    -----
    A sweep solves one system per variable, of the size of its blanket, and multiplies n rows with the solution.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> from mnlearn.simulate import equal_partial_correlations
    >>> data = equal_partial_correlations(path(3), 0.4).dataset(5000, seed=1)
    >>> fitted = fit_precision(path(3), data)
    >>> float(fitted.precision[0, 2]), fitted.ridge, fitted.converged
    (0.0, 0.0, True)
    """
    _check(graph, data, ridge)
    whole_number("max_iterations", max_iterations, least=1, hint="Use for example 1000.")
    if data.gaps:
        return _fit_with_gaps(graph, data, ridge, max_iterations)
    correlation, scale = correlation_of_rows(data)
    np.fill_diagonal(correlation, 1.0)
    chosen = ridge if ridge is not None else _ridge_needed(correlation, data.n_rows)
    shrunk = (1.0 - chosen) * correlation
    np.fill_diagonal(shrunk, 1.0)
    _check_definite(shrunk, chosen)
    precision, converged, sweeps = constrained_precision(shrunk, _among(graph, scale > 0), max_iterations)
    return FittedPrecision(_means(data), scale, precision, chosen, converged, sweeps)


# With gaps the likelihood of what is observed is maximised by the EM algorithm: the moments of all variables are those
# expected under the present model, given what is observed of each row; then the precision matrix follows as above.


def _fit_with_gaps(graph: Graph, data: Dataset, ridge: float | None, max_iterations: int) -> FittedPrecision:
    """Return the fit to rows with missing values, by the EM algorithm."""
    features = [features_of(data, x) for x in range(data.n_variables)]
    first = np.array([each.center for each in features])
    unit = np.array([each.scale or 1.0 for each in features])
    z = np.stack(
        [(column.astype(np.float64) - m) / s for column, m, s in zip(data.columns, first, unit, strict=True)], 1
    )
    varies = np.array([each.size > 0 for each in features])
    z[:, ~varies] = 0.0
    weights = np.ones(len(z)) if data.repeats is None else data.repeats.astype(np.float64)
    groups = list(by_pattern(~np.isnan(z)))
    among, chosen = _among(graph, varies), 0.0 if ridge is None else ridge
    mean: FloatArray = np.zeros(len(first))
    covariance: FloatArray = np.eye(len(first))
    converged, step, precision, sweeps_ended = False, 0, covariance, True
    while not converged and step < max_iterations:
        step += 1
        new_mean, moments = _expected_moments(z, weights, groups, mean, covariance)
        scale = np.where(varies, np.sqrt(np.maximum(np.diag(moments), 1e-300)), 1.0)
        correlation = moments / scale[:, None] / scale
        np.fill_diagonal(correlation, 1.0)
        if ridge is None and chosen == 0.0:
            chosen = _ridge_needed(correlation, data.n_rows)
        shrunk = (1.0 - chosen) * correlation
        np.fill_diagonal(shrunk, 1.0)
        _check_definite(shrunk, chosen)
        precision, sweeps_ended, _ = constrained_precision(shrunk, among)
        new_covariance: FloatArray = np.asarray(np.linalg.inv(precision) * scale[:, None] * scale, dtype=np.float64)
        moved = max(np.abs(new_mean - mean).max(), np.abs(new_covariance - covariance).max())
        mean, covariance, converged = new_mean, new_covariance, bool(moved <= EM_TOLERANCE)
    own = np.where(varies, unit * scale, 0.0)
    return FittedPrecision(first + unit * mean, own, precision, chosen, converged and sweeps_ended, step)


def _expected_moments(
    z: FloatArray,
    weights: FloatArray,
    groups: list[tuple[frozenset[int], Any]],
    mean: FloatArray,
    covariance: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the expected mean and covariance (divisor N) of all variables, given the observed values of each row."""
    filled, extra = z - mean, np.zeros_like(covariance)
    for known, rows in groups:
        seen, unseen = sorted(known), [x for x in range(len(mean)) if x not in known]
        if not unseen:
            continue
        slopes = np.linalg.lstsq(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, unseen)], rcond=None)[0]
        filled[np.ix_(rows, unseen)] = filled[np.ix_(rows, seen)] @ slopes
        left = covariance[np.ix_(unseen, unseen)] - covariance[np.ix_(unseen, seen)] @ slopes
        extra[np.ix_(unseen, unseen)] += weights[rows].sum() * left
    total = weights.sum()
    shift = weights @ filled / total
    centred = filled - shift
    return mean + shift, (centred.T @ (centred * weights[:, None]) + extra) / total


def constrained_precision(
    correlation: FloatArray, graph: Graph, max_iterations: int = 1000
) -> tuple[FloatArray, bool, int]:
    """Θ for a positive definite correlation matrix; whether the sweeps came to rest, and how many there were."""
    n = len(correlation)
    blankets = [np.array(sorted(graph.neighbors(x)), dtype=np.intp) for x in range(n)]
    implied, slopes = correlation.copy(), [np.empty(0)] * n
    converged, sweep = False, 0
    while not converged and sweep < max_iterations:
        sweep += 1
        moved = 0.0
        for x, others in enumerate(blankets):
            slopes[x] = np.linalg.solve(implied[np.ix_(others, others)], correlation[others, x])
            row = implied[:, others] @ slopes[x]
            row[others], row[x] = correlation[others, x], correlation[x, x]
            moved = max(moved, float(np.abs(row - implied[:, x]).max()))
            implied[:, x] = implied[x, :] = row
        converged = moved <= TOLERANCE
    return _assembled(correlation, blankets, slopes, implied), converged, sweep


def _assembled(
    correlation: FloatArray, blankets: list[np.ndarray], slopes: list[FloatArray], implied: FloatArray
) -> FloatArray:
    """Θ_xx = 1 / (what x keeps of its variance), Θ_xy = −Θ_xx β_xy; both halves averaged to be symmetric to the bit."""
    theta = np.zeros_like(correlation)
    for x, others in enumerate(blankets):
        theta[x, x] = 1.0 / (correlation[x, x] - implied[others, x] @ slopes[x])
        theta[x, others] = -theta[x, x] * slopes[x]
    half = 0.5 * (theta + theta.T)
    return np.asarray(np.triu(half) + np.triu(half, 1).T)


def _among(graph: Graph, varies: np.ndarray) -> Graph:
    """The graph without the edges of columns that never change."""
    return Graph(graph.n_variables, ((u, v) for u, v in graph.edges if varies[u] and varies[v]))


def _ridge_needed(correlation: FloatArray, n_rows: int) -> float:
    """0 where the correlations are fit to be inverted, else the weight of one row."""
    return 0.0 if np.linalg.eigvalsh(correlation)[0] > SMALLEST_EIGENVALUE else 1.0 / (n_rows + 1)


def _means(data: Dataset) -> FloatArray:
    """The mean of every column, measured from its first value so that a large offset costs no digits."""
    columns = [column.astype(np.float64, copy=False) for column in data.columns]
    return np.array([c[0] + float(np.average(c - c[0], weights=data.repeats)) for c in columns])


def _check(graph: Graph, data: Dataset, ridge: float | None) -> None:
    """Continuous columns, two rows, a share for a ridge."""
    check_instance("data", data, Dataset, "Read it first: mnlearn.read(...).")
    for name, card in zip(data.names, data.cards, strict=True):
        if card:
            raise UnsuitableError(
                f"method 'gaussian' needs continuous variables; {name!r} has {card} state{'s' * (card > 1)}. Use "
                "method='pseudolikelihood' for categorical ones, or declare it continuous (types={...})."
            )
    check_graph_size(graph, data.n_variables)
    if data.n_rows < 2:
        raise DataError(f"data must have at least 2 rows to have a variance; got {data.n_rows}. Read more rows.")
    if ridge is not None and not (is_number(ridge) and 0 <= ridge <= 1):
        raise InputError(f"ridge must be a number from 0 to 1; got {ridge!r}. Leave it out to have it chosen.")


def _check_definite(correlation: FloatArray, ridge: float) -> None:
    """Refuse a ridge that leaves a singular matrix."""
    lowest = float(np.linalg.eigvalsh(correlation)[0])
    if lowest <= 0.0:
        raise InputError(
            f"ridge must make the correlation matrix positive definite; with {ridge:g} its smallest eigenvalue is "
            f"{lowest:.3g}. Leave ridge out to have it chosen, or use a larger one."
        )
