"""Contract of every learner, test and score: levels that no row has change nothing, unless they were declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mnlearn as mn
from mnlearn.cli import main
from mnlearn.data import Dataset, discretize, pack, read
from mnlearn.learning.registry import METHODS, SCORES, TESTS
from mnlearn.model import DiscreteModel

LABELS = ("no", "some", "yes")
MORE = ("a", "no", "b", "some", "yes", "z", "zz")  # the same order with others before, between and after
CONTINUOUS = {"lasso", "l1mb", "glasso"}


def rows(seed: int = 1, n_rows: int = 90) -> dict[str, list[str]]:
    """Return a chain of four variables of two and three states."""
    rng = np.random.default_rng(seed)
    found = {"v0": rng.integers(0, 2, n_rows)}
    for k in range(1, 4):
        fresh = rng.integers(0, 2 + k % 2, n_rows)
        found[f"v{k}"] = np.where(rng.random(n_rows) < 0.7, found[f"v{k - 1}"], fresh)
    return {name: [LABELS[code] for code in codes] for name, codes in found.items()}


def in_pandas(table: dict[str, list[str]], _folder: Path) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Categorical(labels, categories=MORE) for name, labels in table.items()})


def in_polars(table: dict[str, list[str]], _folder: Path) -> object:
    return pl.DataFrame(table, schema=dict.fromkeys(table, pl.Enum(MORE)))


def in_arrow(table: dict[str, list[str]], _folder: Path) -> object:
    places = {name: [MORE.index(label) for label in labels] for name, labels in table.items()}
    return pa.table({name: pa.DictionaryArray.from_arrays(codes, MORE) for name, codes in places.items()})


def in_parquet(table: dict[str, list[str]], folder: Path) -> object:
    path = folder / "t.parquet"
    in_pandas(table, folder).to_parquet(path)
    return path


def in_a_pack(table: dict[str, list[str]], folder: Path) -> object:
    return pack(in_parquet(table, folder), folder / "t.mnpack").pack.path  # type: ignore[union-attr]


def in_a_pack_of_a_frame(table: dict[str, list[str]], folder: Path) -> object:
    return pack(in_pandas(table, folder), folder / "t.mnpack")


CONTAINERS: list[Callable[[dict[str, list[str]], Path], object]] = [
    in_pandas,
    in_polars,
    in_arrow,
    in_parquet,
    in_a_pack,
    in_a_pack_of_a_frame,
]


def found_by(data: object, method: str) -> tuple[Any, ...]:
    """Return what a run finds, bit for bit, except for the time it took."""
    settings: dict[str, Any] = {"n_penalties": 5} if method == "l1lr" else {}  # the default takes seconds
    learned = mn.learn(data, method, n_jobs=1, **settings)
    cost = {key: value for key, value in learned.cost.items() if key != "seconds"}
    return learned.graph, dict(learned.result.support), learned.score, cost


@pytest.mark.parametrize("method", [name for name in METHODS if name not in CONTINUOUS])
def test_levels_without_rows_do_not_change_the_network(method: str, tmp_path: Path) -> None:
    table = rows()
    expected = found_by(table, method)
    for container in CONTAINERS[: 1 if method == "l1lr" else None]:
        assert found_by(container(table, tmp_path), method) == expected, container.__name__


@pytest.mark.parametrize("method", ["mpl", "pic", "ib", "bjp", "mbs"])
def test_declared_levels_count(method: str, tmp_path: Path) -> None:
    table = rows()
    levels = dict.fromkeys(table, MORE)
    declared = read(table, levels=levels)
    assert declared.cards == (7,) * 4
    expected = found_by(declared, method)
    assert expected[1:3] != found_by(table, method)[1:3]
    packed = pack(table, tmp_path / "one.mnpack", levels=levels)
    for data in (packed, read(in_pandas(table, tmp_path), levels=levels), pack(packed, tmp_path / "two.mnpack")):
        assert found_by(data, method) == expected


@pytest.mark.parametrize("score", SCORES)
def test_levels_without_rows_do_not_change_a_score(score: str, tmp_path: Path) -> None:
    if SCORES[score].from_counts is None:
        return
    table, graph = rows(), [("v0", "v1"), ("v1", "v2")]
    expected = mn.score(table, graph, score).value
    assert mn.score(in_pandas(table, tmp_path), graph, score).value == expected


@pytest.mark.parametrize("test", TESTS)
def test_levels_without_rows_do_not_change_a_test(test: str, tmp_path: Path) -> None:
    if TESTS[test].from_counts is None:
        return
    table = rows()
    for given in ((), ("v1",), ("v1", "v3")):
        expected = mn.independence_test(table, "v0", "v2", given, test=test)
        assert mn.independence_test(in_pandas(table, tmp_path), "v0", "v2", given, test=test) == expected


@pytest.mark.parametrize("method", ["mpl", "pic", "ib", "bjp"])
def test_empty_intervals_do_not_change_the_network(method: str) -> None:
    rng = np.random.default_rng(2)
    x = np.where(rng.random(120) < 0.5, rng.uniform(0, 1, 120), rng.uniform(9, 10, 120))
    table = {"x": x, "y": x + rng.normal(0, 2, 120), "z": rng.uniform(0, 1, 120) ** 9}
    learned = mn.learn(table, method, discretize="width", bins=10)
    codes = discretize(read(table), cuts={name: np.linspace(min(v), max(v), 11)[1:-1] for name, v in table.items()})
    assert max(codes.cards) == 10
    only = {name: column.tolist() for name, column in zip(codes.names, codes.columns, strict=True)}
    assert learned.data is not None
    assert learned.data.cards == tuple(len(set(column)) for column in only.values())
    assert (learned.graph, learned.score) == (mn.learn(only, method).graph, mn.learn(only, method).score)


def test_resampled_rows_have_the_states_of_the_whole_table() -> None:
    table = {"a": ["x"] * 50 + ["once"], "b": ["p", "q"] * 25 + ["p"], "c": ["p", "p", "q"] * 17}
    learned = mn.learn(table, "mpl")
    assert learned.data is not None
    drawn = [learned.data.sample(20, seed) for seed in range(5)]
    assert {part.cards for part in drawn} == {(2, 2, 2)}
    assert any("once" not in {part.levels[0][code] for code in part.columns[0]} for part in drawn)  # type: ignore[index]
    assert learned.bootstrap(5, n_jobs=1).frequencies is not None


def test_groups_have_the_states_of_both_groups_together() -> None:
    table = rows(n_rows=200)
    group = ["one", "two"] * 100
    third = {name: [*labels, *["rare"] * 5] for name, labels in table.items()}
    expected = mn.compare_groups({**table, "by": group}, "by", "mpl", n_permutations=3, n_jobs=1)
    three = {**third, "by": [*group, *["three"] * 5]}
    found = mn.compare_groups(three, "by", "mpl", groups=("one", "two"), n_permutations=3, n_jobs=1)
    assert (found.statistics, found.pairs) == (expected.statistics, expected.pairs)
    assert [network.score for network in found.networks] == [network.score for network in expected.networks]
    declared = read(three, levels={"v0": ["no", "some", "yes", "rare"]})
    both = mn.compare_groups(declared, "by", "mpl", groups=("one", "two"), n_permutations=3, n_jobs=1)
    assert both.networks[0].data is not None
    assert both.networks[0].data.cards == (4, 3, 3, 3)
    coded = Dataset.from_codes(
        [[0, 1] * 20, [0, 0, 1, 1] * 10, [0] * 20 + [1] * 20], cards=[2, 4, 2], names=list("abg")
    )
    kept = mn.compare_groups(coded, "g", "mpl", n_permutations=2, n_jobs=1)
    assert kept.networks[1].data is not None
    assert kept.networks[1].data.cards == (2, 4)


def test_a_model_names_a_state_that_no_row_had() -> None:
    frame = in_pandas(rows(), Path())
    model = mn.fit_parameters([("v0", "v1")], frame)
    assert isinstance(model, DiscreteModel)
    assert model.levels == (("no", "some"), *(LABELS,) * 3)
    new = frame.iloc[:3].copy()
    assert len(model.predict(new.drop(columns="v1"), "v1")) == 3
    new.loc[0, "v0"] = "zz"
    with pytest.raises(mn.errors.DataError, match=r"column 'v0' \('no', 'some'\); got 'zz'.*levels="):
        model.predict(new.drop(columns="v1"), "v1")


@pytest.mark.parametrize("container", [in_pandas, in_polars])
def test_estimators_count_the_levels_that_occur(container: Any, tmp_path: Path) -> None:
    table = rows()
    strings = pd.DataFrame(table)
    learner = mn.MarkovNetworkLearner("pic")
    expected = learner.fit(strings).result_
    found = learner.fit(container(table, tmp_path)).result_
    assert (found.graph, found.score) == (expected.graph, expected.score)
    selector = mn.MarkovBlanketSelector("pic")
    frame = container(table, tmp_path)
    y = list(table["v1"])
    chosen = [
        selector.fit(X, y).get_support().tolist() for X in (strings[["v0", "v2", "v3"]], frame[["v0", "v2", "v3"]])
    ]
    assert chosen[0] == chosen[1]


def test_info_names_the_levels_without_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(in_parquet(rows(), tmp_path))]) == 0
    assert "levels without rows: v0 (a, b, yes, z and 1 more), v1 (a, b, z, zz)" in capsys.readouterr().out
