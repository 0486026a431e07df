"""Contract of every registered method: what must not change its network.

The order of the rows, counts of equal rows instead of the rows, threads, code paths of the core, packed files and
shards. A new method in the registry is tested as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import Dataset, pack
from mnlearn.errors import MnlearnError
from mnlearn.learning.registry import METHODS
from mnlearn.statistics import Counts, ShardedCounts
from mnlearn.statistics.opening import Counting
from mnlearn.statistics.shards import row_shards

N_ROWS, N_VARIABLES = 120, 5
Case: TypeAlias = tuple[str, dict[str, Any]]


def discrete() -> np.ndarray[Any, Any]:
    """Return rows of a chain with a chord; the last variable has three states."""
    random = np.random.default_rng(4)
    table = random.integers(0, 2, (N_ROWS, N_VARIABLES))
    for j in range(1, N_VARIABLES):
        table[:, j] = np.where(random.random(N_ROWS) < 0.7, table[:, j - 1], table[:, j])
    table[:, 4] += table[:, 0] & (random.random(N_ROWS) < 0.5)
    return table


def data_for(method: str) -> dict[str, Any]:
    """Return columns that a method accepts: categorical, else binary, else continuous ones."""
    table = discrete()
    tables = [table, np.minimum(table, 1), table + np.random.default_rng(5).normal(size=table.shape)]
    for one in tables:
        columns = {f"v{j}": one[:, j] for j in range(N_VARIABLES)}
        try:
            mn.learn(columns, method)
        except MnlearnError as error:
            refusal = error
        else:
            return columns
    raise AssertionError(f"{method} accepts none of the data sets of this test: {refusal}")


@pytest.fixture(scope="module", params=list(METHODS))
def case(request: pytest.FixtureRequest) -> Case:
    """Return a method and columns that it accepts."""
    return request.param, data_for(request.param)


def learned(source: Any, method: str, **settings: Any) -> dict[str, Any]:
    """Return the network with its numbers; the cost depends on how the statistics are computed."""
    return {name: held for name, held in mn.learn(source, method, **settings).to_dict().items() if name != "cost"}


def graph(source: Any, method: str, **settings: Any) -> Any:
    return mn.learn(source, method, **settings).graph


def is_continuous(columns: dict[str, Any]) -> bool:
    return any(column.dtype.kind == "f" for column in columns.values())


def test_the_order_of_the_rows(case: Case) -> None:
    method, columns = case
    order = np.random.default_rng(6).permutation(N_ROWS)
    assert graph({name: column[order] for name, column in columns.items()}, method) == graph(columns, method)


def test_counts_of_equal_rows(case: Case) -> None:
    method, columns = case
    if is_continuous(columns):
        pytest.skip("no two rows of continuous data are equal")
    rows, repeats = np.unique(np.stack(list(columns.values()), axis=1), axis=0, return_counts=True)
    short = {**{name: rows[:, j] for j, name in enumerate(columns)}, "times": repeats}
    assert graph(short, method, repeats="times") == graph(columns, method)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads(case: Case, n_jobs: int) -> None:
    method, columns = case
    assert learned(columns, method, n_jobs=n_jobs) == learned(columns, method, n_jobs=1)


def test_packed_files(case: Case, tmp_path: Path) -> None:
    method, columns = case
    pack(columns, tmp_path / "rows.mnpack")
    assert learned(tmp_path / "rows.mnpack", method) == learned(columns, method)


def test_shards(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method, columns = case
    expected = learned(columns, method)
    pack(columns, tmp_path / "rows.mnpack")

    def sharded(_self: Counting, data: Dataset) -> ShardedCounts:
        return ShardedCounts(None, row_shards(data, 3))

    monkeypatch.setattr(Counting, "counts", sharded)
    assert learned(tmp_path / "rows.mnpack", method) == expected


@pytest.mark.parametrize("path", ["portable", "avx2", "avx512", "neon"])
def test_code_paths(case: Case, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, columns = case
    expected = learned(columns, method)
    monkeypatch.setenv("MNLEARN_CORE", path)
    try:
        Counts(Dataset.from_codes([[0, 1], [1, 0]]))
    except MnlearnError:
        pytest.skip(f"this processor has no {path}")
    assert learned(columns, method) == expected
