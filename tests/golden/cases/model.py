"""Fitted parameters: predictions, canonical factors, files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of
from golden.records import MODEL, held
from golden.tables import numbers, survey, tiny
from mnlearn import graphs, model, simulate

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
    found = mn.fit_parameters(mn.learn(survey(), "mpl", n_jobs=1), survey())
    return {"document": held(found.to_dict(), MODEL), "uai": model.uai_text(found).splitlines()[:4]}


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
