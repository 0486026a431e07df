"""Discrete models in pyAgrum and pgmpy, for exact inference.

Variables and states keep their names there, states as strings. Factors are scaled so that their largest value is 1,
which changes nothing but Z.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mnlearn.distributions.factors import Factor
from mnlearn.errors import InputError, MissingDependencyError, UnsuitableError, require
from mnlearn.model.base import MarkovModel
from mnlearn.model.discrete import DiscreteModel
from mnlearn.numbers import exp
from mnlearn.protocols import FloatArray


def to_pyagrum(model: MarkovModel) -> Any:
    """The model as a pyAgrum `MarkovRandomField`.

    Parameters
    ----------
    model
        A discrete model; its labels must differ as strings.

    Examples
    --------
    >>> from mnlearn.model import fit
    >>> from mnlearn.data import read
    >>> from mnlearn.simulate import example
    >>> survey = example(500, seed=1)
    >>> field = to_pyagrum(fit(survey.graph, read(survey.columns())))
    >>> field.size(), field.sizeEdges()
    (12, 12)
    """
    discrete = _discrete(model, "pyAgrum")
    gum = _pyagrum()
    field = gum.MarkovRandomField()
    for name, labels in zip(discrete.names, _texts(discrete), strict=True):
        field.add(gum.LabelizedVariable(name, name, labels))
    for factor in discrete.network.factors:
        tensor = field.addFactor([discrete.names[x] for x in factor.variables])
        # pyAgrum's arrays have the axis of the first variable last.
        tensor[:] = np.ascontiguousarray(_values(factor).transpose())
    return field


def to_pgmpy(model: MarkovModel) -> Any:
    """The model as a pgmpy `DiscreteMarkovNetwork` (`MarkovNetwork` before pgmpy 1.0).

    Parameters
    ----------
    model
        A discrete model; its labels must differ as strings.

    Raises
    ------
    MissingDependencyError
        If pgmpy is not installed; it is in none of the extras.

    Notes
    -----
    Checked with pgmpy 1.1; what to know when using the network there:

    - States are strings, in the order of the labels: evidence is ``{"count": "1"}``, not 1, and None is ``"None"``.
    - `VariableElimination.query` does not normalise the result for a Markov network: call its ``normalize()``.
    - `BeliefPropagation` needs a connected graph and raises a ValueError otherwise; `VariableElimination` does not.
    - Isolated variables are nodes with a factor of their own, so `check_model` is true.
    - Factors are scaled so that their largest value is 1: `get_partition_function` is that of the scaled factors, and
      it builds the table of all variables.
    - The axes of a factor are in the order of its variables, the last one fastest.

    Examples
    --------
    >>> network = model.to_pgmpy()  # doctest: +SKIP
    >>> VariableElimination(network).query(["rain"], evidence={"flag": "True"}).normalize()  # doctest: +SKIP
    """
    discrete = _discrete(model, "pgmpy")
    try:
        from importlib import import_module

        models, factors = import_module("pgmpy.models"), import_module("pgmpy.factors.discrete")
    except ImportError as error:
        raise MissingDependencyError(
            "pgmpy is needed for this and is not installed. Install it with: pip install pgmpy; or use to_pyagrum()."
        ) from error
    # Since pgmpy 1.0 the old name only raises an error.
    network = (getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork)()
    network.add_nodes_from(discrete.names)
    network.add_edges_from([(discrete.names[u], discrete.names[v]) for u, v in discrete.graph.edges])
    states = dict(zip(discrete.names, _texts(discrete), strict=True))
    for factor in discrete.network.factors:
        names = [discrete.names[x] for x in factor.variables]
        cards = [discrete.network.cards[x] for x in factor.variables]
        own = {name: states[name] for name in names}
        network.add_factors(factors.DiscreteFactor(names, cards, _values(factor).ravel(), state_names=own))
    return network


def _pyagrum() -> Any:
    """pyAgrum, loaded; its own imports warn of types that SWIG made, and where warnings are errors, end the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        gum = require("pyagrum", "inference")
        gum.MarkovRandomField()
    return gum


def _values(factor: Factor) -> FloatArray:
    """φ, its largest value 1; what is too small for a number stays positive."""
    return np.asarray(np.maximum(exp(factor.log_values - factor.log_values.max()), np.finfo(np.float64).tiny))


def _discrete(model: MarkovModel, target: str) -> DiscreteModel:
    """A model that has factors."""
    if not isinstance(model, DiscreteModel):
        raise UnsuitableError(
            f"{target} takes discrete models; got a {model.kind} one. Use its conditional(), or discretise the "
            "data and fit again."
        )
    return model


def _texts(model: DiscreteModel) -> list[list[str]]:
    """Return the labels as strings, all different."""
    found = []
    for name, labels in zip(model.names, model.levels, strict=True):
        texts = [str(label) for label in labels]
        if len(set(texts)) < len(texts):
            raise InputError(f"labels must differ as strings; those of {name!r} are {labels}. Rename the states.")
        found.append(texts)
    return found
