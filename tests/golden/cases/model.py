"""Fitted parameters: predictions, canonical factors, files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import MODEL, held
from golden.tables import columns_of, declared, near_copies, numbers, one_factor, survey, tiny
from mnlearn import graphs, model, simulate
from mnlearn.data import Dataset

case = cases_of(__name__)


def fitted(found: Any, data: Any, target: str, evidence: Mapping[str, Any]) -> dict[str, object]:
    """Return what a model predicts."""
    told = model.predictions(found, data, target)
    return {
        "document": held(found.to_dict(), MODEL),
        "strengths": found.strengths(),
        "log pseudolikelihood": found.log_pseudolikelihood(data),
        "log likelihood": found.log_likelihood(data),
        "conditional": found.conditional(target, evidence),
        "predicted": list(found.predict(data, target)[:20]),
        "measured": [told.measure, told.value, told.rows()[:5]],
        "sample": list(found.sample_dataset(20, 5).columns),
    }


def discrete_model(method: Any, **settings: Any) -> object:
    """Fit a discrete model to the survey."""
    truth = mn.NamedGraph(simulate.example(1).graph, simulate.example(1).names)
    found: Any = mn.fit_parameters(truth, survey(), method, **settings)
    chances = found.predict_proba(survey(), "fatigue")[:20]
    return {**fitted(found, survey(), "fatigue", {"poor_sleep": "yes", "exercise": "no"}), "chances": chances}


case("model canonical", "canonical", close=True)(discrete_model)
case("model canonical smoothing", "canonical", close=True, smoothing=1.0)(discrete_model)
case("model pseudolikelihood", "pseudolikelihood", close=True)(discrete_model)
case("model pseudolikelihood pairwise", "pseudolikelihood", close=True, interactions="pairwise", ridge=0.5)(
    discrete_model
)


@case("model gaussian", close=True)
def gaussian_model() -> object:
    """Fit a Gaussian model."""
    found: Any = mn.fit_parameters(graphs.cycle(9), numbers(), "gaussian")
    more = {"precision": found.precision[:3, :3], "residual": found.residual_deviation("c4")}
    return {**fitted(found, numbers(), "c4", {"c3": 0.5, "c5": -0.25}), **more}


@case("model of a learned network", close=True)
def model_of_learned() -> object:
    """Fit parameters to what a method found."""
    found = mn.fit_parameters(mn.learn(survey(), "mpl", n_jobs=jobs()), survey())
    return {"document": held(found.to_dict(), MODEL)}


@case("model canonical factors", close=True)
def canonical() -> object:
    """Compute canonical factors of rows and of a joint distribution."""
    factors = mn.canonical_factors(graphs.cycle(5), tiny())
    again = mn.canonical_factors_of(factors.joint(), graphs.cycle(5))
    return {"joint": factors.joint().reshape(-1), "again": [f.log_values.reshape(-1) for f in again.network.factors]}


@case("file model", close=True)
def model_files() -> object:
    """Save models and load them again."""
    discrete = mn.fit_parameters(graphs.cycle(5), tiny(), "canonical")
    gaussian = mn.fit_parameters(graphs.cycle(9), numbers(), "gaussian")
    found = {}
    for name, fitted_model in {"discrete": discrete, "gaussian": gaussian}.items():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            fitted_model.save(path)
            again = mn.load_model(path)
            files = sorted(re.sub("-[0-9a-f]{16}", "", part.name) for part in path.iterdir())
            found[name] = {"files": files, "document": held(again.to_dict(), MODEL)}
    return found


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------

RINGS = {"clinic": 8, "answers": 7, "ratings": 6, "events": 6, "sizes": 7}
TARGETS: dict[str, tuple[str, dict[str, Any]]] = {
    "clinic": ("pain", {"smoker": "yes", "dose": 0.5, "visits": 2}),
    "answers": ("q2", {"q1": "a", "q3": "b"}),
    "ratings": ("r2", {"r1": 4, "r3": 2}),
    "events": ("e2", {"e1": 3, "e3": 0}),
    "sizes": ("n2", {"n1": 0.5, "n3": -0.25}),
}


def model_of(data: str, **settings: Any) -> object:
    """Fit a ring to a table of declared kinds, save the model, load it, and predict, impute and sample with it."""
    table, target = data.partition(" ")[0], TARGETS[data.partition(" ")[0]]
    found: Any = mn.fit_parameters(graphs.cycle(RINGS[table]), declared(data), **settings)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        found.save(path)
        again: Any = mn.load_model(path)
    rows, _ = columns_of(table)
    holes = {
        name: [None if (k + x) % 4 == 0 else v for k, v in enumerate(rows[name][:8])] for x, name in enumerate(rows)
    }
    return {
        **fitted(found, rows, *target),
        "parameters": parameters(again),
        "imputed": {name: list(column) for name, column in found.impute(holes).items()},
    }


def parameters(found: Any) -> object:
    """Return all parameters of a model."""
    if found.kind == "gaussian":
        return {"mean": found.mean, "scale": found.scale, "precision": found.standard_precision}
    if found.kind == "discrete":
        return [[list(factor.variables), factor.log_values.reshape(-1)] for factor in found.network.factors]
    return found.network


for _data in ("clinic", "clinic gaps", "clinic repeats", "ratings", "ratings gaps", "events", "events gaps"):
    case(f"model {_data}", _data, close=True)(model_of)
for _data in ("answers", "answers gaps", "answers weights", "answers repeats", "sizes", "sizes gaps", "sizes weights"):
    case(f"model {_data}", _data, close=True)(model_of)
case("model canonical answers repeats", "answers repeats", close=True, method="canonical")(model_of)


def near_singular(data: Dataset, graph: mn.Graph, method: Any, **settings: Any) -> object:
    """Fit a model to nearly singular numbers: as they are, or shrunk where they are too near."""
    found: Any = mn.fit_parameters(graph, data, method, **settings)
    return {"document": held(found.to_dict(), MODEL), "parameters": parameters(found)}


case("model near copies", near_copies(4e-3), graphs.cycle(7), "gaussian", close=True)(near_singular)
case("model nearer copies", near_copies(1e-6), graphs.cycle(7), "gaussian", close=True)(near_singular)
case("model one factor", one_factor(), mn.Graph.complete(5), "gaussian", close=True)(near_singular)


@case("model one factor mixed", close=True)
def one_factor_mixed() -> object:
    """Fit regressions to nearly singular numbers: their partial correlations are shrunk to a definite precision.

    The regressions stop before the correlations themselves are sure to 1e-9; their largest eigenvalue is.
    """
    found = mn.fit_parameters(mn.Graph.complete(5), one_factor(), "mixed", ridge=0.1)
    partial = np.zeros((5, 5))
    for edge in found.strengths():
        u, v = found.names.index(edge.u), found.names.index(edge.v)
        partial[u, v] = partial[v, u] = edge.strength * (edge.sign or 1)
    return {"largest eigenvalue": np.linalg.eigvalsh(partial)[-1], "edges": found.graph}
