"""Predictions as tables, held against the column where it is known."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import write_data
from mnlearn.graphs import Graph, path
from mnlearn.model import DiscreteModel, FitReport, GaussianModel, fit, predictions
from mnlearn.simulate import agreement_factors, equal_partial_correlations


def test_labels_come_with_the_probability_of_each(tmp_path: Path) -> None:
    days = (date(2020, 1, 1), date(2020, 1, 2))
    network = agreement_factors(path(2), 2 * np.log(4.0))
    model = DiscreteModel(("day", "shop"), (days, ("shut", "open")), network, FitReport("by hand", 0))
    found = predictions(model, {"shop": ["open", "shut", "open"]}, "day")
    assert found.table.names == ("day", "p(2020-01-01)", "p(2020-01-02)")
    assert [row[0] for row in found.rows()] == [days[1], days[0], days[1]]
    assert [row[2] for row in found.rows()] == pytest.approx([0.8, 0.2, 0.8])
    assert (found.measure, found.value) == ("accuracy", None)
    assert json.loads(json.dumps(found.to_dict()))["rows"][0][0] == "2020-01-02"
    found.save(tmp_path / "guesses.parquet")
    assert mn.read(tmp_path / "guesses.parquet").n_rows == 3


def test_guesses_are_held_against_the_column_and_repeats_count() -> None:
    model = DiscreteModel(("a", "b"), ((0, 1), (0, 1)), agreement_factors(path(2), 3.0), FitReport("by hand", 0))
    rows = mn.Dataset.from_codes(np.array([[0, 0], [1, 0], [1, 1]]), names=["a", "b"], repeats=[5, 3, 2])
    assert predictions(model, rows, "a").value == pytest.approx(0.7)
    assert predictions(model, {"a": [0, 7], "b": [0, 0]}, "a").value is None  # a state that the model does not know


def test_a_column_may_be_called_like_what_stands_beside_it() -> None:
    data = equal_partial_correlations(path(2), 0.4).dataset(50, seed=1)
    model = fit(path(2), mn.Dataset(("deviation", "x"), data.cards, data.columns, data.levels))
    assert predictions(model, {"x": [0.5]}, "deviation").table.names == ("deviation", "deviation (2)")
    odd = DiscreteModel(("p(1)", "b"), ((1, "1"), (0, 1)), agreement_factors(path(2), 3.0), FitReport("by hand", 0))
    assert predictions(odd, {"b": [0]}, "p(1)").table.names == ("p(1)", "p(1) (2)", "p(1) (3)")


def test_a_column_without_neighbours_asks_nothing_of_the_others(tmp_path: Path) -> None:
    model = fit(Graph.empty(2), equal_partial_correlations(path(2), 0.4).dataset(50, seed=1))
    assert len(predictions(model, {"x1": [1.0, None, 3.0], "note": ["a", None, "b"]}, "x0").rows()) == 3
    (tmp_path / "holes.csv").write_text("note,x1\na,1\n,2\n")
    assert len(predictions(model, tmp_path / "holes.csv", "x0").rows()) == 2


def test_means_come_with_their_deviation() -> None:
    data = equal_partial_correlations(path(3), 0.4).dataset(400, seed=1)
    model = fit(path(3), data)
    assert isinstance(model, GaussianModel)
    found = predictions(model, data, "x1")
    assert found.table.names == ("x1", "deviation")
    np.testing.assert_array_equal(found.table.columns[0], model.predict(data, "x1"))
    given = model.conditional("x1", {"x0": 0.3, "x2": -1.0})
    assert found.table.columns[1][0] == pytest.approx(given.deviation)
    residual = data.columns[1].astype(float) - model.predict(data, "x1")
    assert found.value == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert found.value == pytest.approx(given.deviation, rel=0.02)


@pytest.mark.parametrize("labels", [[2**64 - 1, 2**64 - 2, 1], ["x", "x\0", "y"], [2**70, 2**70 + 1, 5]])
def test_predicted_labels_keep_their_values(labels: list[Any], tmp_path: Path) -> None:
    rows = [*labels] * 20
    model = mn.fit_parameters([("a", "b")], {"a": rows, "b": [*"pqr"] * 20})
    found = model.predict({"b": [*"pqr"]}, "a")
    assert found.tolist() == labels
    assert list(map(type, found.tolist())) == list(map(type, labels))
    data = mn.read({"a": rows, "b": [*"pqr"] * 20})
    for name in ("t.csv", "t.parquet"):
        write_data(data, tmp_path / name)
        assert sorted(map(str, mn.read(tmp_path / name).levels[0] or ())) == sorted(map(str, labels))


def test_a_missing_state_is_written_as_an_empty_cell(tmp_path: Path) -> None:
    data = mn.read({"a": ["x", None, "y", "x"], "b": [1, 2, None, 2]}, missing="category")
    for name in ("t.csv", "t.parquet"):
        write_data(data, tmp_path / name)
        again = mn.read(tmp_path / name, missing="category")
        assert again.levels == data.levels
        assert [column.tolist() for column in again.columns] == [column.tolist() for column in data.columns]
