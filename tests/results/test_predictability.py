"""The table of predictability of a learned network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mnlearn as mn
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.results import Learned, Predictability
from mnlearn.simulate import example

ALL = ["variable", "type", "neighbours", "r2", "r2_cv", "accuracy", "accuracy_cv", "marginal", "normalised"]
ALL += ["normalised_cv"]


def network(columns: object, edges: list[tuple[int, int]], **settings: object) -> Learned:
    data = mn.read(columns)
    result = Result(Graph.from_edges(data.n_variables, edges), None, {}, True, {}, settings)
    return Learned("gsmn", data.names, result, data)


def answers(rows: int = 90) -> dict[str, list[object]]:
    rng = np.random.default_rng(5)
    grade = rng.integers(1, 6, rows)
    return {
        "grade": grade.tolist(),
        "effort": np.clip(grade + rng.integers(-1, 2, rows), 1, 5).tolist(),
        "town": rng.choice(["a", "b"], rows).tolist(),
        "same": ["x"] * rows,
        "height": (grade + rng.normal(size=rows)).tolist(),
    }


def test_rows_and_columns() -> None:
    learned = network(answers(), [(0, 1), (0, 4)])
    table = learned.predictability(5, frame="pandas")
    assert list(table.columns) == ALL
    assert table["type"].tolist() == ["ordinal", "ordinal", "categorical", "categorical", "continuous"]
    assert table["neighbours"].tolist() == [2, 1, 0, 0, 1]
    rows = {row.variable: row for row in learned.predictability_list(5)}
    grade, town, same, height = rows["grade"], rows["town"], rows["same"], rows["height"]
    r2, r2_cv, accuracy, accuracy_cv, marginal, normalised, normalised_cv = np.array(grade[3:], dtype=float)
    assert r2 > r2_cv > 0.5
    assert accuracy > accuracy_cv > marginal
    assert (normalised, normalised_cv) == pytest.approx([(a - marginal) / (1 - marginal) for a in grade[5:7]])
    assert town.accuracy == town.accuracy_cv == town.marginal
    assert town.normalised == town.normalised_cv == town.share == 0
    assert same == Predictability("same", "categorical", 0, None, None, 1.0, 1.0, 1.0)
    assert height.accuracy is None
    assert height.share == height.r2_cv
    shares = learned.predictability_shares(5)
    assert shares == {name: rows[name].share for name in ("grade", "effort", "town", "height")}


@pytest.mark.parametrize(("frame", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)])
def test_every_library(frame: str, kind: type) -> None:
    table: Any = network(answers(20), []).predictability(2, frame=frame)  # type: ignore[arg-type]
    assert (table.column_names if frame == "pyarrow" else list(table.columns)) == ALL
    assert isinstance(table, kind)


def test_numbers_that_no_variable_has_have_no_column() -> None:
    columns = answers(20)
    for kept, expected in ((("height", "other"), ALL[:5]), (("town", "same"), ALL[:3] + ALL[5:])):
        chosen = {name: columns.get(name, columns["height"]) for name in kept}
        assert list(network(chosen, []).predictability(2, frame="pandas").columns) == expected


def test_the_frame_is_that_of_the_data() -> None:
    learned = mn.learn(pl.DataFrame(example(200, seed=1).columns()))
    assert isinstance(learned.predictability(3), pl.DataFrame)


def test_jobs_and_names_change_nothing() -> None:
    columns = example(300, seed=2).columns()
    one, two = (mn.learn(columns, n_jobs=jobs).predictability_list(5) for jobs in (1, 2))
    assert one == two
    renamed = mn.learn({f"v{k}": values for k, values in enumerate(columns.values())}).predictability_list(5)
    assert [row[1:] for row in renamed] == [row[1:] for row in one]


def test_normal_scores_are_predicted_if_the_method_used_them() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    plain, skewed = (network(np.asarray(each), [(0, 1)], transform="normal_scores") for each in (x, np.exp(3 * x)))
    assert plain.predictability_list() == skewed.predictability_list()
    (raw, _), (scored, _) = (
        each.predictability_shares().values() for each in (network(np.exp(3 * x), [(0, 1)]), plain)
    )
    assert raw < scored


def test_weighted_rows_give_the_weighted_regression() -> None:
    rng = np.random.default_rng(1)
    a, weights = rng.normal(size=300), rng.lognormal(size=300)
    table = pd.DataFrame({"a": a, "b": a + rng.normal(size=300), "w": weights})
    learned = mn.learn(table, weights="w", transform=None)
    covariance = np.cov(a, table["b"], aweights=weights)
    found = learned.predictability()
    assert found["r2"].tolist() == pytest.approx([covariance[0, 1] ** 2 / covariance[0, 0] / covariance[1, 1]] * 2)
    assert (found["r2"] - found["r2_cv"]).between(0, 0.05).all()
    turned = mn.learn(table[::-1], weights="w", transform=None).predictability()
    assert turned["r2_cv"].tolist() == pytest.approx(found["r2_cv"].tolist())


def test_a_saved_network_needs_its_data(tmp_path: Path) -> None:
    columns, path = example(150, seed=1).columns(), tmp_path / "network.json"
    learned = mn.learn(columns)
    learned.save(path)
    loaded = mn.load(path)
    with pytest.raises(InputError, match=r"predictability needs the data, .* Attach them: learned\.with_data"):
        loaded.predictability()
    assert loaded.with_data(columns).predictability_list(3) == learned.predictability_list(3)


@pytest.mark.parametrize(("settings", "words"), [({"folds": 1}, "folds must be"), ({"seed": -1}, "seed must be")])
def test_bad_settings(settings: dict[str, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        network(answers(20), []).predictability(**settings)  # type: ignore[arg-type]


def test_too_many_states_are_a_message(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("mnlearn.regression.predictability._MOST_CURVATURES", 1)
    rows = network(answers(20), [(0, 1)]).predictability_list(2)
    assert rows[0].accuracy is None
    assert rows[0].r2 is not None
    assert "['grade', 'effort']" in caplog.text


def several_kinds(rows: int, missing: float) -> mn.Dataset:
    """A nominal column, an ordinal one with words, a continuous one and a count."""
    rng = np.random.default_rng(2)
    town, mood = rng.integers(3, size=rows), rng.integers(4, size=rows)
    pulse = 60 + 6.0 * town + 4.0 * mood + rng.normal(size=rows) * 4
    visits = rng.poisson(np.exp((pulse - 60) / 15)).astype(float)
    columns: list[Any] = [town.astype(np.uint8), mood.astype(np.uint8), pulse, visits]
    for column, card in zip(columns, (3, 4, 0, 0), strict=True):
        column[rng.random(rows) < missing] = card or np.nan
    names = ("town", "mood", "pulse", "visits")
    levels = (("a", "b", "c"), ("low", "so-so", "fine", "great"), None, None)
    kinds: Any = {"ordinal": frozenset({"mood"}), "counted": frozenset({"visits"})}
    return mn.Dataset(names, (3, 4, 0, 0), tuple(columns), levels, **kinds, gaps=frozenset(names if missing else ()))


def network_of(data: mn.Dataset, edges: list[tuple[int, int]]) -> Learned:
    return Learned("gsmn", data.names, Result(Graph(data.n_variables, edges), None, {}, True, {}, {}), data)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_variables_of_several_kinds(missing: float) -> None:
    data = several_kinds(800, missing)
    learned = network_of(data, [(0, 2), (1, 2), (2, 3)])
    rows = learned.predictability_list(5)
    assert [row.type for row in rows] == ["categorical", "ordinal", "continuous", "count"]
    town, mood, pulse, visits = rows
    assert town.r2 is None
    assert town.normalised_cv is not None
    assert town.normalised_cv > 0.2
    assert mood.r2_cv is not None
    assert mood.r2_cv > 0.2
    assert mood.accuracy_cv is not None
    assert pulse.r2_cv is not None
    assert pulse.r2_cv > 0.6
    assert pulse.accuracy is None
    assert visits.r2_cv is not None
    kept = np.ones(800, dtype=bool) if not missing else data.observed("pulse") & data.observed("visits")  # type: ignore[operator]
    numbers: Any = np.log1p(data.columns[3][kept].astype(float))
    r = np.corrcoef(data.columns[2][kept].astype(float), numbers)[0, 1]
    assert visits.r2 == pytest.approx(r**2)
    assert list(learned.predictability(5, frame="pandas").columns) == ALL


def test_gaps_that_leave_too_few_rows_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    a, b = np.array([0, 1, 2, 2] * 10, dtype=np.uint8), np.array([2, 2, 0, 1] * 10, dtype=np.uint8)
    data = mn.Dataset(("a", "b"), (2, 2), (a, b), ((0, 1), (0, 1)), gaps=frozenset("ab"))
    rows = network_of(data, [(0, 1)]).predictability_list(5)
    assert rows[0] == Predictability("a", "categorical", 1)
    assert "no predictability of 'a': 0 complete rows for 5 folds" in caplog.text
