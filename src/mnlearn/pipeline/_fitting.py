"""From a structure and data to a model, in one call."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

from mnlearn.errors import InputError, listed
from mnlearn.model import MarkovModel, fit
from mnlearn.output.learned import Learned
from mnlearn.pipeline._naming import GraphLike, graph_over
from mnlearn.pipeline._reading import Reading, load_data


def fit_parameters(
    graph: GraphLike,
    data: object = None,
    method: Literal["canonical", "pseudolikelihood", "gaussian"] | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    **settings: Any,
) -> MarkovModel:
    """Fit the parameters of a Markov network whose structure is known.

    Parameters
    ----------
    graph
        What `learn` returned, a file that `mnlearn.read_graph` reads, a `NamedGraph`, or pairs of names: variables are
        matched by name. Or a `Graph`, whose variables are the columns in their order.
    data
        Whatever `mnlearn.data.read` accepts. With a learned network it may be left out: then it is the data that the
        network was learned from.
    method
        "canonical" [MBS09], "pseudolikelihood" or "gaussian"; by default "gaussian" for continuous variables and
        "pseudolikelihood" for categorical ones.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`. The model
        keeps the cuts, and cuts new data at the same places.
    **settings
        Of the method: `smoothing` and `default` (labels by name) of "canonical"; `interactions` ("cliques" or
        "pairwise"), `ridge` and `max_iterations` of "pseudolikelihood"; `ridge` and `max_iterations` of "gaussian".

    Returns
    -------
    MarkovModel
        A `DiscreteModel` or a `GaussianModel`. Its `report` says how the fit ended.

    Raises
    ------
    UnsuitableError
        If the variables are not of the type that the method is for.
    UnknownNameError
        If the graph has a variable that the data have not.
    InputError
        If a column is no variable of the graph, or a setting breaks its rule.

    Examples
    --------
    >>> from mnlearn.pipeline import learn
    >>> from mnlearn.simulate import example
    >>> learned = learn(example(2000, seed=1).columns())
    >>> model = fit_parameters(learned)
    >>> {label: round(p, 2) for label, p in model.conditional("fatigue", {"poor_sleep": "yes"}).items()}
    {'no': 0.17, 'yes': 0.83}
    >>> model.sample(3, seed=1).n_rows
    3
    """
    reading: Reading = {
        "types": types,
        "levels": levels,
        "missing": missing,
        "missing_values": listed("missing_values", missing_values, "values"),
        "repeats": repeats,
        "delimiter": delimiter,
    }
    source = _own_data(graph) if data is None else data
    dataset = load_data(source, columns, reading, discretize, bins)
    return fit(graph_over(dataset, graph), dataset, method, **settings)


def _own_data(graph: object) -> object:
    """The data that a network was learned from."""
    if isinstance(graph, Learned) and graph.data is not None:
        return graph.data
    what = "a network that does not hold its data" if isinstance(graph, Learned) else f"a {type(graph).__name__}"
    raise InputError(f"data must be given unless graph is what learn returned; got none, and {what}. Pass the data.")
