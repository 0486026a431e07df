"""Copies among columns: the same split of the rows, whatever the labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.data.dataset import Dataset, copied_columns
from mnlearn.data.pack_writer import pack
from mnlearn.protocols.statistics import IntArray
from mnlearn.statistics import Counts
from mnlearn.statistics.shards import ShardedCounts


def slow(columns: list[IntArray]) -> dict[int, int]:
    """Two columns are copies if each value of one goes with one value of the other."""
    found: dict[int, int] = {}
    for k, column in enumerate(columns):
        for j in range(k):
            pairs = set(zip(columns[j].tolist(), column.tolist(), strict=True))
            n_states = len(set(column.tolist()))
            if j not in found and n_states > 1 and len(pairs) == n_states == len(set(columns[j].tolist())):
                found[k] = j
                break
    return found


@given(seed=st.integers(0, 2**32))
def test_copies_are_those_of_the_pairs_of_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, rng.integers(1, 4), 6) for _ in range(6)]
    columns += [rng.permutation(5)[columns[k]] for k in rng.integers(0, 6, 3)]
    assert copied_columns(columns, [5] * len(columns)) == slow(columns)


def test_shards_have_the_copies_of_the_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 60) for _ in range(4)]
    columns += [2 - columns[1], columns[3], np.r_[columns[0][:30], 2 - columns[0][30:]]]  # the last: in each shard only
    frame = {f"v{k}": column.astype(str) for k, column in enumerate(columns)}
    for name, rows in (("one", slice(0, 30)), ("two", slice(30, 60))):
        pack({key: values[rows] for key, values in frame.items()}, tmp_path / f"{name}.mnpack")
    sharded = ShardedCounts(None, [tmp_path / "one.mnpack", tmp_path / "two.mnpack"])
    assert sharded.copies == Counts(Dataset.from_codes(columns)).copies == {4: 1, 5: 3}
