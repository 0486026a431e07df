"""Gaps that stay: missing="testwise" keeps missing values in columns of every kind, from every source."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from data.tables import Columns, assert_same, in_form
from mnlearn.data import Dataset, pack, read
from mnlearn.errors import DataError, InputError

MIXED: Columns = {
    "word": ["x", None, "y", "x", None, "z"],
    "number": [1.5, 2.5, None, 4.5, None, 0.5],
    "whole": [1, 2, 3, 1, None, 2],
    "count": [0, 3, 1, None, None, 12],
    "flag": [True, False, True, True, None, False],
    "full": ["a", "b", "a", "b", "a", "b"],
}
WITH_NULLS = ["csv", "csv.gz", "tsv", "parquet", "pandas", "pandas objects", "polars", "arrow table"]
WITH_NULLS += ["arrow reader", "arrow capsule", "dict of lists", "dict of series", "records", "named tuples"]


def checked(data: Dataset) -> Dataset:
    """Return the data, after every rule was checked again."""
    return Dataset(**{field.name: getattr(data, field.name) for field in dataclasses.fields(data)})


def shown(data: Dataset, name: str) -> list[Any]:
    """Return the labels or numbers of a column, None where missing."""
    k, seen = data.index(name), data.observed(name)
    labels = data.levels[k]
    values = data.columns[k].tolist()
    known = [True] * len(values) if seen is None else seen.tolist()
    return [(v if labels is None else labels[v]) if here else None for v, here in zip(values, known, strict=True)]


@pytest.mark.parametrize("form", WITH_NULLS)
def test_gaps_stay_in_columns_of_every_kind(form: str, tmp_path: Path) -> None:
    data = checked(read(in_form(form, MIXED, tmp_path), missing="testwise", types={"count": "count"}))
    assert data.kinds == ("nominal", "continuous", "nominal", "count", "nominal", "nominal")
    assert data.cards == (3, 0, 3, 0, 2, 2)
    assert data.gaps == {"word", "number", "whole", "count", "flag"}
    assert data.observed("full") is None
    for name, values in MIXED.items():
        assert shown(data, name) == values
    assert data.missing.policy == "testwise"
    assert dict(data.missing.counts) == {"word": 2, "number": 2, "whole": 1, "count": 2, "flag": 1}
    assert data.missing.rows_dropped == 0


@pytest.mark.parametrize("form", ["csv", "parquet", "polars", "records"])
def test_a_column_without_gaps_is_as_without_the_policy(form: str, tmp_path: Path) -> None:
    full: Columns = {name: [v for v in values if v is not None][:2] * 2 for name, values in MIXED.items()}
    source = in_form(form, full, tmp_path)
    assert_same(read(in_form(form, full, tmp_path)), read(source, missing="testwise"))
    assert not read(in_form(form, full, tmp_path), missing="testwise").gaps


def test_rows_without_any_value_are_left_out() -> None:
    data = checked(read({"a": ["x", None, "y", None], "b": [0.5, None, None, 2.5]}, missing="testwise"))
    assert data.n_rows == 3
    assert data.missing.rows_dropped == 1
    assert "rows without any value, dropped: 1" in str(data.missing)
    only = checked(read({"a": ["x", None, "y", "x"], "b": [0.5, None, 1.5, 2.5]}, missing="testwise"))
    assert only.gaps == frozenset()
    assert only.columns[0].tolist() == [0, 1, 0]
    with pytest.raises(DataError, match="at least 2 rows with a value; 1 of 3 have one"):
        read({"a": ["x", None, None], "b": [1, None, None]}, missing="testwise")


def test_a_column_without_any_value_is_refused() -> None:
    with pytest.raises(DataError, match=r"must hold a value; 'b' is missing in all 2 rows\. .*drop=\['b'\]"):
        read({"a": [1, 2], "b": [None, None]}, missing="testwise")


def test_a_constant_column_is_kept() -> None:
    data = checked(read({"a": [1, None, 1], "b": [2.5, 2.5, None], "c": [0, 1, 1]}, missing="testwise"))
    assert data.cards == (1, 0, 2)
    assert data.gaps == {"a", "b"}
    assert data.columns[0].tolist() == [0, 1, 0]


def test_the_code_of_a_gap_fits_its_type() -> None:
    words = [f"w{k:03}" for k in range(256)]
    data = checked(read({"a": [*words, None], "b": [0, 1] * 128 + [1]}, missing="testwise"))
    assert data.columns[0].dtype == np.uint16
    assert data.columns[0].tolist()[-1] == data.cards[0] == 256
    fewer = checked(read({"a": [*words[:255], None], "b": [0, 1] * 128}, missing="testwise"))
    assert fewer.columns[0].dtype == np.uint8
    assert fewer.columns[0].tolist()[-1] == 255


def test_repeats_weights_and_declared_levels() -> None:
    table = {"a": ["x", None, "y"], "b": [1, 2, None], "n": [2, 3, 1]}
    data = checked(read(table, missing="testwise", repeats="n", levels={"a": ["z", "y", "x"]}))
    assert (data.n_rows, data.cards, data.columns[0].tolist()) == (6, (3, 2), [2, 3, 1])
    data = checked(read(table, missing="testwise", weights="n"))
    assert data.is_weighted
    assert data.gaps == {"a", "b"}


def test_arrays_masks_and_markers() -> None:
    array = np.array([[1.0, 0.5], [np.nan, 1.5], [2.0, np.nan]])
    data = checked(read(array, missing="testwise", names=["a", "b"]))
    assert data.gaps == {"a", "b"}
    masked = np.ma.MaskedArray([[1, 0], [2, 1], [1, 1]], [[False, True], [False] * 2, [False] * 2])
    assert checked(read(masked, missing="testwise")).gaps == {"x1"}
    marked = checked(read({"a": [1, -9, 2], "b": ["?", "u", "v"]}, missing="testwise", missing_values=[-9, "?"]))
    assert marked.gaps == {"a", "b"}
    assert marked.cards == (2, 2)
    assert read(sparse.csr_matrix([[0, 1], [1, 1], [0, 0]]), missing="testwise").gaps == frozenset()
    wide = pd.DataFrame({"gene": ["g", "h"], "s0": [0.5, None], "s1": [1.5, 2.5], "s2": [0.1, 0.2]})
    turned = checked(read(wide, transpose=True, missing="testwise"))
    assert turned.names == ("g", "h")
    assert turned.gaps == {"h"}


def test_the_default_offers_testwise_first() -> None:
    with pytest.raises(DataError, match=r"missing='testwise' .*; or missing='drop_rows' .*; or missing='category'"):
        read({"a": [1, None, 2], "b": [1, 2, 2]})
    with pytest.raises(DataError, match=r"missing='category' is for categorical .* Use missing='testwise'"):
        read({"a": [1.5, None, 2.5], "b": [1, 2, 2]}, missing="category")
    with pytest.raises(DataError, match=r"drop=\['a'\], or use missing='testwise'"):
        read({"a": [1, None, None], "b": [0.5, 1.5, 2.5]}, missing="drop_rows")


def test_selecting_sampling_and_pickling_keep_the_gaps() -> None:
    data = read(MIXED, missing="testwise", types={"count": "count"})
    chosen = checked(data.select(["full", "count", "word"]))
    assert chosen.gaps == {"count", "word"}
    assert chosen.kinds[1] == "count"
    assert checked(data.sample(4, seed=1)).gaps == data.gaps
    again = pickle.loads(pickle.dumps(data))
    assert_same(again, data)
    assert (again.gaps, again.counted, again.reasons) == (data.gaps, data.counted, data.reasons)
    twice = read({name: values * 2 for name, values in MIXED.items()}, missing="testwise")
    assert checked(twice.compact()).n_records == 6


@pytest.mark.parametrize("source", ["csv", "parquet", "dict of lists", "arrow reader"])
def test_packs_keep_kinds_and_gaps(source: str, tmp_path: Path) -> None:
    options: Any = {"missing": "testwise", "types": {"count": "count", "whole": "ordinal"}}
    expected = read(in_form(source, MIXED, tmp_path), **options)
    packed = pack(in_form(source, MIXED, tmp_path), tmp_path / "t.mnpack", **options)
    for found in (packed, read(tmp_path / "t.mnpack"), pickle.loads(pickle.dumps(packed))):
        assert_same(found, expected)
        assert (found.kinds, found.gaps, found.missing) == (expected.kinds, expected.gaps, expected.missing)
        assert found.reasons == expected.reasons
    assert packed.pack is not None
    assert packed.pack.planes is None
    pack(packed, tmp_path / "again.mnpack")
    assert (tmp_path / "again.mnpack").read_bytes() == (tmp_path / "t.mnpack").read_bytes()
    with pytest.raises(InputError, match="missing='category' cannot be applied"):
        read(tmp_path / "t.mnpack", missing="category")


def test_rows_are_dropped_from_a_pack_and_a_data_set(tmp_path: Path) -> None:
    data = read(MIXED, missing="testwise", types={"count": "count"})
    pack(data, tmp_path / "t.mnpack")
    expected = read(MIXED, missing="drop_rows", types={"count": "count"})
    for source in (data, tmp_path / "t.mnpack"):
        found = checked(read(source, missing="drop_rows"))
        assert_same(found, expected)
        assert found.kinds == expected.kinds
        assert found.missing == expected.missing


def test_joining_keeps_kinds_and_gaps(tmp_path: Path) -> None:
    path = tmp_path / "t.mnpack"
    sizes = pd.CategoricalDtype(["small", "large"], ordered=True)
    first = pd.DataFrame({"size": pd.Series(["small", "large", "small"], dtype=sizes), "k": [1, 2, 3], "n": [0, 4, 5]})
    pack(first, path, types={"k": "ordinal", "n": "count"})
    more = {"size": ["large", None], "k": [0, 3], "n": [7, None]}
    both = tmp_path / "both.mnpack"
    found = checked(pack([path, more], both, missing="testwise"))
    assert found.kinds == ("ordinal", "ordinal", "count")
    assert found.levels == (("small", "large"), (0, 1, 2, 3), None)
    assert found.gaps == {"size", "n"}
    assert shown(found, "size") == ["small", "large", "small", "large", None]
    assert shown(found, "n") == [0, 4, 5, 7, None]
    with pytest.raises(DataError, match=r"levels\['size'\] must list every value .* 'huge'"):
        pack([both, {"size": ["huge"], "k": [1], "n": [1]}], path)
    with pytest.raises(DataError, match="column 'n' holds counts"):
        pack([both, {"size": ["small"], "k": [1], "n": [-1]}], path)
    with pytest.raises(DataError, match="missing must be 'testwise', as in the first pack"):
        pack([both, {"size": [None, "large"], "k": [1, 1], "n": [1, 2]}], path, missing="category")
    with pytest.raises(DataError, match="it is ordinal in the first pack and nominal in the rows"):
        pack([both, read({"size": ["small", "large"], "k": [1, 2], "n": [1, 2]})], path)


def test_the_type_widens_where_new_rows_have_gaps(tmp_path: Path) -> None:
    words = [f"w{k:03}" for k in range(256)]
    old, new = tmp_path / "old.mnpack", {"a": [None, "w007"], "b": [0, 1]}
    pack({"a": words, "b": [0, 1] * 128}, old)
    found = checked(pack([old, new], tmp_path / "new.mnpack", missing="testwise"))
    assert found.columns[0].dtype == np.uint16
    assert found.columns[0].tolist() == [*range(256), 256, 7]


CELLS = st.lists(st.sampled_from([None, 0, 1, 2]), min_size=2, max_size=30)


@given(a=CELLS, seed=st.integers(0, 9))
def test_gaps_and_values_are_those_of_the_rows(a: list[int | None], seed: int) -> None:
    rng = np.random.default_rng(seed)
    b = [None if rng.random() < 0.3 else float(rng.normal()) for _ in a]
    kept = [(x, y) for x, y in zip(a, b, strict=True) if x is not None or y is not None]
    if len(kept) < 2 or all(x is None for x, _ in kept) or all(y is None for _, y in kept):
        return
    for source in (
        {"a": a, "b": b},
        pl.DataFrame({"a": pl.Series(a, dtype=pl.Int8), "b": pl.Series(b, dtype=pl.Float64)}),
    ):
        data = checked(read(source, missing="testwise"))
        assert shown(data, "a") == [x for x, _ in kept]
        assert shown(data, "b") == [y for _, y in kept]
