"""Removed values: shares, marks of missing values, and what stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.data.writers import frame_of_dataset, write_data
from mnlearn.errors import DataError, InputError
from mnlearn.graphs import Graph
from mnlearn.simulate import Margin, MixedNetwork, dependent_gaps, random_gaps, simulate

MARGINS = (Margin("nominal", 3), Margin("ordinal", 5), Margin("count"), Margin("continuous"))


def table(n_rows: int = 5000) -> Dataset:
    return MixedNetwork(Graph(4), MARGINS, {}).dataset(n_rows, seed=1)


def test_each_value_is_missing_with_the_same_probability() -> None:
    whole = table()
    holed = random_gaps(whole, 0.2, seed=2)
    assert holed.gaps == set(whole.names)
    assert holed.kinds == whole.kinds
    assert holed.missing.policy == "testwise"
    seen = np.stack([np.asarray(holed.observed(x)) for x in range(4)])
    np.testing.assert_allclose(1 - seen.mean(axis=1), 0.2, atol=4 * (0.16 / 5000) ** 0.5)
    assert np.abs(np.corrcoef(seen) - np.eye(4)).max() < 4 / 5000**0.5
    for x in range(4):
        np.testing.assert_array_equal(holed.columns[x][seen[x]], whole.columns[x][seen[x]])
        assert holed.missing.counts[whole.names[x]] == int((~seen[x]).sum())
    assert holed.fingerprint() == random_gaps(whole, 0.2, np.random.default_rng(2)).fingerprint()


def test_gaps_add_up_and_only_chosen_columns_lose_values() -> None:
    one = random_gaps(table(), 0.2, seed=2, columns=["x1"])
    assert one.gaps == {"x1"}
    both = random_gaps(one, 0.5, seed=3, columns=["x1", "x3"])
    before, after = one.observed("x1"), both.observed("x1")
    assert before is not None
    assert after is not None
    assert not (after & ~before).any()
    assert both.missing.counts["x1"] == int((~after).sum()) > one.missing.counts["x1"]
    again = random_gaps(both, 0.0, seed=4)
    assert again.fingerprint() == both.fingerprint()
    assert dict(again.missing.counts) == dict(both.missing.counts)


def test_a_column_of_256_states_has_room_for_the_mark() -> None:
    whole = Dataset.from_codes([np.arange(256), np.zeros(256, dtype=int)], cards=[256, 1])
    holed = random_gaps(whole, 0.5, seed=1)
    assert holed.columns[0].dtype == np.uint16
    assert int(np.max(holed.columns[0].astype(int))) == 256


def test_gaps_depend_on_a_complete_column() -> None:
    whole = table(20_000)
    holed = dependent_gaps(whole, seed=1)
    assert len(holed.gaps) == 2
    for name in holed.gaps:
        missing = ~np.asarray(holed.observed(name))
        found = []
        for driver in set(whole.names) - holed.gaps:
            column = holed.columns[holed.index(driver)].astype(float)
            values, numbers = np.unique(column, return_counts=True)
            upper = column > values[np.argmin(np.abs(np.cumsum(numbers) - 10_000))]
            found.append((float(missing[~upper].mean()), float(missing[upper].mean())))
        found.sort(key=lambda shares: shares[1] - shares[0])
        np.testing.assert_allclose(found[-1], (0.1, 0.6), atol=0.03)
        np.testing.assert_allclose(found[0][0], found[0][1], atol=0.03)  # the other column has no part in it


def test_files_have_empty_cells_where_values_are_missing(tmp_path: Path) -> None:
    holed = random_gaps(table(50), 0.3, seed=2)
    frame = frame_of_dataset(holed, "pyarrow")
    for x, name in enumerate(holed.names):
        seen = holed.observed(x)
        assert seen is not None
        assert frame.column(name).is_valid().to_pylist() == seen.tolist()
    assert str(frame.schema.field("x2").type) == "int64"
    write_data(holed, tmp_path / "holed.csv")
    lines = (tmp_path / "holed.csv").read_text().splitlines()
    assert sum(cell == "" for line in lines for cell in line.split(",")) == sum(holed.missing.counts.values())


def test_gaps_by_name() -> None:
    whole = simulate("path:n=6", "mixed", n_rows=200, seed=3)
    holed = simulate("path:n=6", "mixed", n_rows=200, seed=3, gaps="mcar:share=0.5")
    assert holed.truth == whole.truth
    assert holed.data.gaps == set(whole.data.names)
    assert not whole.data.gaps
    assert len(simulate("path:n=6", n_rows=200, seed=3, gaps="mar:low=0,high=1").data.gaps) == 3


def test_bad_arguments_are_named() -> None:
    whole = table(5)
    with pytest.raises(InputError, match="share must be"):
        random_gaps(whole, 1.5, seed=1)
    with pytest.raises(DataError, match="x0"):
        random_gaps(whole, 1.0, seed=1)
    with pytest.raises(InputError, match="complete and have at least two"):
        dependent_gaps(random_gaps(whole, 0.5, seed=1, columns=["x3"]), seed=1)
    with pytest.raises(InputError, match="high must be"):
        dependent_gaps(whole, seed=1, high=-1.0)
    with pytest.raises(InputError, match="repeats"):
        random_gaps(Dataset.from_codes([[0], [1]], repeats=[2, 3]), 0.2, seed=1)
    with pytest.raises(InputError, match="gaps must be a string"):
        simulate("path:n=6", n_rows=5, seed=1, gaps=3)  # type: ignore[arg-type]
