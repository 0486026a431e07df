"""One call on tables of several kinds with gaps: frames as they come, and bad input that is named or handled."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mnlearn as mn

N = 200


def base(n_rows: int = N) -> dict[str, list[Any]]:
    """Draw three independent columns: numbers, three states, two states."""
    rng = np.random.default_rng(0)
    words, two = rng.choice(list("abc"), n_rows), rng.choice(list("uv"), n_rows)
    return {"x": rng.normal(size=n_rows).tolist(), "g": words.tolist(), "b": two.tolist()}


def penguins(n_rows: int = 344) -> pd.DataFrame:
    """Draw a table in the form of the Palmer penguins: strings, decimals, whole numbers, gaps."""
    rng = np.random.default_rng(1)
    kind, male = rng.choice(3, n_rows, p=[0.44, 0.2, 0.36]), rng.integers(0, 2, n_rows)
    frame = pd.DataFrame(
        {
            "species": np.array(["Adelie", "Chinstrap", "Gentoo"])[kind],
            "bill_mm": (38 + 10 * (kind > 0) + 3 * male + rng.normal(0, 2, n_rows)).round(1),
            "mass_g": (3700 + 1300 * (kind == 2) + 600 * male + rng.normal(0, 300, n_rows)).round(),
            "sex": pd.Series(np.array(["female", "male"])[male], dtype=object),
            "year": rng.choice([2007, 2008, 2009], n_rows),
        }
    )
    frame.loc[[3, 271], ["bill_mm", "mass_g"]] = np.nan
    frame.loc[rng.choice(n_rows, 11, replace=False), "sex"] = None
    return frame


def titanic(n_rows: int = 500) -> pd.DataFrame:
    """Draw a table in the form of the Titanic: bools, ordered classes, counts, gaps that depend on the class."""
    rng = np.random.default_rng(2)
    place, male = rng.choice([1, 2, 3], n_rows, p=[0.24, 0.21, 0.55]), rng.random(n_rows) < 0.65
    age = np.clip(rng.normal(45 - 5 * place, 12), 1, 80).round()
    age[rng.random(n_rows) < np.where(place == 3, 0.4, 0.05)] = np.nan
    return pd.DataFrame(
        {
            "survived": rng.random(n_rows) < 1 / (1 + np.exp(place + 2.6 * male - 3)),
            "place": pd.Categorical(place, categories=[1, 2, 3], ordered=True),
            "sex": np.where(male, "male", "female"),
            "age": age,
            "relatives": rng.poisson(0.5, n_rows),
            "fare": np.exp(rng.normal(4.5 - 0.8 * place, 0.5)).round(2),
            "deck": pd.Series(rng.choice(list("ABC"), n_rows)).where((place == 1) & (rng.random(n_rows) < 0.8)),
        }
    )


def edges(learned: mn.Learned) -> set[frozenset[str]]:
    return {frozenset((edge.u, edge.v)) for edge in learned.edge_list()}


def check_whole(learned: mn.Learned) -> None:
    """Check that every output of a network has finite numbers."""
    for edge in learned.edge_list():
        assert all(np.isfinite(value) for value in edge if isinstance(value, float))
    probabilities = np.asarray(learned.probabilities(), dtype=float)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert "nan" not in learned.summary().lower().split()
    model = mn.fit_parameters(learned)
    assert model.sample_dataset(3, seed=1).n_rows == 3


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_penguins_as_they_come(library: str, tmp_path: Any) -> None:
    frame: Any = penguins() if library == "pandas" else pl.from_pandas(penguins())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = mn.learn(frame, missing="testwise", keep_pairs=True)
    assert learned.data is not None
    assert learned.data.kinds == ("nominal", "continuous", "continuous", "nominal", "nominal")
    assert {frozenset(("species", "bill_mm")), frozenset(("species", "mass_g"))} <= edges(learned)
    assert frozenset(("mass_g", "sex")) in edges(learned)
    assert "the variables are of several kinds, with missing values" in (learned.choice or "")
    assert "3 categorical and 2 continuous variables" in learned.summary()
    assert "15 values in 3 columns; each test and model uses the rows" in learned.summary()
    assert learned.edges().shape[0] == learned.graph.n_edges
    check_whole(learned)
    learned.report(tmp_path / "report.html", predictability=True)
    learned.plot(tmp_path / "network.svg")
    assert "species" in str(learned.why("species", "mass_g"))


def test_titanic_as_it_comes() -> None:
    learned = mn.learn(titanic(), missing="testwise", types={"relatives": "count"}, keep_pairs=True)
    assert learned.data is not None
    assert learned.data.kinds == ("nominal", "ordinal", "nominal", "continuous", "count", "continuous", "nominal")
    assert {frozenset(("place", "fare")), frozenset(("survived", "sex"))} <= edges(learned)
    assert "3 nominal, 1 ordinal, 1 count and 2 continuous variables" in learned.summary()
    check_whole(learned)


def test_words_for_other_tables() -> None:
    scale = {name: [1, 2, 3, 2, 1] * 10 for name in "ab"}
    cases: list[tuple[dict[str, list[Any]], dict[str, Any], str]] = [
        ({"a": ["x", "y"] * 9, "b": ["u", "v"] * 9}, {}, "the variables are categorical ("),
        (scale, {"types": "ordinal"}, "the variables are ordinal ("),
        (scale, {"types": "count"}, "the variables are counts ("),
        ({"a": [0.5, 1.5] * 9, "b": [1.5, 2.5, 0.5] * 6}, {}, "the variables are continuous ("),
        (
            {"a": [0.5, None, 1.5] * 6, "b": [1.5, 2.5] * 9},
            {"missing": "testwise"},
            "continuous, with missing values (",
        ),
    ]
    for columns, options, words in cases:
        assert words in (mn.learn(columns, **options).choice or "")


@pytest.mark.parametrize(
    ("more", "options", "words"),
    [
        ({}, {"types": {"g": "continuous"}}, "column 'g' must hold numbers because it is read as continuous"),
        ({}, {"types": {"g": "count"}}, "column 'g' must hold numbers because it is read as count"),
        ({}, {"types": {"g": "ordinal"}}, "nothing says the order of 'a', 'b', 'c'"),
        ({"c": [-1, 2] * 100}, {"types": {"c": "count"}}, "whole numbers from 0; data row 1 holds -1"),
        ({"c": [1.5, 2] * 100}, {"types": {"c": "count"}}, "whole numbers from 0; data row 1 holds 1.5"),
        ({"z": [None] * N}, {}, "every column must hold a value; 'z' is missing in all 200 rows"),
        ({"z": [float("inf"), *base()["x"][1:]]}, {}, "must hold finite numbers; data row 1 holds inf"),
    ],
)
def test_bad_columns_are_named(more: dict[str, list[Any]], options: dict[str, Any], words: str) -> None:
    with pytest.raises(mn.DataError) as caught:
        mn.learn(base() | more, missing="testwise", **options)
    assert words in str(caught.value)


def gaps(values: list[Any], lacks: Any) -> list[Any]:
    return [None if lacks(k) else value for k, value in enumerate(values)]


@pytest.mark.parametrize(
    ("columns", "types"),
    [
        (base() | {"z": gaps([1.5] * N, lambda k: k % 2)}, {}),  # constant among its values
        (base() | {"z": gaps(["a"] * N, lambda k: k % 2)}, {}),
        (base() | {"o": [3] * N}, {"o": "ordinal"}),  # one level
        ({"x": gaps(base()["x"], lambda k: k < 100), "z": ["a"] * 100 + ["b"] * 100, "g": base()["g"]}, {}),
        ({"x": gaps(base()["x"], lambda k: k % 2), "y": gaps(base()["x"], lambda k: not k % 2), "g": base()["g"]}, {}),
        ({"x": gaps(base()["b"], lambda k: k % 2), "y": gaps(base()["g"], lambda k: not k % 2), "g": base()["x"]}, {}),
        ({"x": [1.5, None, 2.5], "g": ["a", "b", None]}, {}),
        ({"x": [1.5, None, None, None], "g": [None, "b", "b", "a"], "h": [None, "b", None, "a"]}, {}),
    ],
)
def test_what_shows_nothing_has_no_edge(columns: dict[str, list[Any]], types: Any) -> None:
    learned = mn.learn(columns, missing="testwise", types=types, keep_pairs=True)
    assert not learned.graph.n_edges
    check_whole(learned)


def test_a_column_that_is_constant_after_rows_are_dropped_has_no_edge(caplog: pytest.LogCaptureFixture) -> None:
    columns = {"x": gaps(base()["x"], lambda k: k < 100), "z": ["a"] * 100 + ["b"] * 100, "g": base()["g"]}
    with caplog.at_level(logging.WARNING, "mnlearn"):
        learned = mn.learn(columns, missing="drop_rows", keep_pairs=True)
    assert not learned.graph.n_edges
    assert "constant, so without an edge: 'z'" in caplog.text
    check_whole(learned)


@pytest.mark.parametrize("ordinal", [False, True])
def test_separated_states_have_a_finite_edge(ordinal: bool) -> None:
    columns = base()
    columns["s"] = [int(value > 0) + int(ordinal and value > 1) for value in columns["x"]]
    columns["s"][0] = None
    learned = mn.learn(columns, missing="testwise", types={"s": "ordinal" if ordinal else "nominal"}, keep_pairs=True)
    assert edges(learned) == {frozenset(("x", "s"))}
    check_whole(learned)


def test_models_beyond_256_parameters_are_counted_and_decided() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 40, 3000)
    noisy = [np.where(rng.random(3000) < 0.7, first * k % 40, rng.integers(0, 40, 3000)) for k in (7, 3)]
    columns = {f"w{k}": [f"s{value}" for value in values] for k, values in enumerate((first, *noisy))}
    columns["x"] = gaps(rng.normal(first / 10.0).tolist(), lambda k: k % 10 == 0)
    learned = mn.learn(columns, missing="testwise", keep_pairs=True)
    assert learned.cost["fallbacks"] > 0
    assert "not fitted" in learned.cost_in_words
    assert {frozenset(("w0", other)) for other in ("w1", "w2", "x")} <= edges(learned)
    probabilities = np.asarray(learned.probabilities(), dtype=float)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
