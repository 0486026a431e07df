"""Parameters of a model in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.simulate import example


@pytest.fixture(scope="module")
def survey() -> Any:
    return example(1000, seed=1)


def test_a_learned_network_brings_its_own_data(survey: Any) -> None:
    learned = mn.learn(survey.columns())
    own = mn.fit_parameters(learned)
    given = mn.fit_parameters(learned, survey.columns())
    assert own.strengths() == given.strengths()
    assert isinstance(own, mn.DiscreteModel)
    assert own.names == learned.names
    assert own.graph == learned.graph


def test_the_graph_may_be_a_file_pairs_or_by_column_and_names_are_matched(survey: Any, tmp_path: Path) -> None:
    columns = survey.columns()
    turned = dict(reversed(columns.items()))
    file = tmp_path / "truth.graphml"
    mn.write_graph(file, survey.graph, tuple(columns))
    by_file = mn.fit_parameters(file, turned, "canonical")
    by_column = mn.fit_parameters(survey.graph, columns, "canonical")
    edges = {frozenset((e.u, e.v)): e.strength for e in by_file.strengths()}
    for edge in by_column.strengths():
        assert edges[frozenset((edge.u, edge.v))] == pytest.approx(edge.strength)
    pairs = [("stress", "headaches")]
    assert [tuple(sorted((e.u, e.v))) for e in mn.fit_parameters(pairs, columns).strengths()] == [
        ("headaches", "stress")
    ]


def test_continuous_columns_are_gaussian_or_discretised(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=300)
    frame = {"a": a, "b": a + 0.5 * rng.normal(size=300)}
    gaussian = mn.fit_parameters([("a", "b")], frame)
    assert isinstance(gaussian, mn.GaussianModel)
    cut = mn.fit_parameters([("a", "b")], frame, discretize="frequency", bins=3)
    assert isinstance(cut, mn.DiscreteModel)
    assert set(cut.cuts) == {"a", "b"}
    cut.save(tmp_path / "model")
    again = mn.load_model(tmp_path / "model")
    assert again.predict({"a": [5.0]}, "b").tolist() == cut.predict({"a": [5.0]}, "b").tolist()


def test_settings_reach_the_method(survey: Any) -> None:
    model = mn.fit_parameters(survey.graph, survey.columns(), interactions="pairwise", ridge=0.1)
    assert model.report.settings == {"interactions": "pairwise", "ridge": 0.1}
    with pytest.raises(mn.InputError, match="pseudolikelihood has no setting 'alpha'"):
        mn.fit_parameters(survey.graph, survey.columns(), alpha=0.1)


def test_without_data_the_error_gives_advice(survey: Any) -> None:
    with pytest.raises(
        mn.InputError, match="data must be given unless graph is a result of learn; got none, and a Graph"
    ):
        mn.fit_parameters(survey.graph)


def test_a_graph_over_other_variables_is_refused(survey: Any) -> None:
    with pytest.raises(mn.UnknownNameError, match="'tiredness' does not exist"):
        mn.fit_parameters([("stress", "tiredness")], survey.columns())
