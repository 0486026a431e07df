"""Kinds of columns: nominal, ordinal, count and continuous, declared or told by the source."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.tables import FORMS, TABLE, in_form
from mnlearn.data import pack, read
from mnlearn.errors import DataError, InputError, UnknownNameError

SIZES = ["low", "middle", "high"]
ROWS = ["high", "low", "low", "middle", "high", "low"]
OTHER = [0, 1, 1, 0, 1, 0]


def ordered(values: Any = ROWS, *, is_ordered: bool = True) -> pd.Series[Any]:
    """Return a pandas column of categories."""
    return pd.Series(values, dtype=pd.CategoricalDtype(SIZES, ordered=is_ordered))


def arrow(*, is_ordered: bool = True) -> Any:
    """Return an Arrow column of categories."""
    codes = pa.array([SIZES.index(row) for row in ROWS], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=is_ordered)


def in_order(is_ordered: bool) -> dict[str, Any]:
    """Return categories, ordered or not, in the forms that can say so."""
    frame = pd.DataFrame({"size": ordered(is_ordered=is_ordered), "b": OTHER})
    table = pa.table({"size": arrow(is_ordered=is_ordered), "b": OTHER})
    return {
        "pandas": frame,
        "series": {"size": ordered(is_ordered=is_ordered), "b": OTHER},
        "arrow": table,
        "reader": table.to_reader(max_chunksize=2),
        "arrow array": {"size": arrow(is_ordered=is_ordered), "b": OTHER},
        "pandas of arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
    }


@pytest.mark.parametrize("form", list(in_order(True)))
def test_ordered_categories_are_ordinal_by_themselves(form: str) -> None:
    data = read(in_order(True)[form])
    assert data.kinds == ("ordinal", "nominal")
    assert data.levels[0] == tuple(SIZES)
    assert data.reasons == {"size": "ordered in the source"}
    assert read(in_order(True)[form], types={"size": "nominal"}).kinds[0] == "nominal"
    assert read(in_order(True)[form], types={"size": "categorical"}).kinds[0] == "ordinal"
    plain = read(in_order(False)[form])
    assert plain.kinds == ("nominal", "nominal")
    assert plain.levels == data.levels
    with pytest.raises(DataError, match=r"types\['size'\] can be 'ordinal' .* order of 'low', 'middle', 'high'"):
        read(in_order(False)[form], types={"size": "ordinal"})


def test_parquet_and_packs_keep_the_order(tmp_path: Path) -> None:
    in_order(True)["pandas"].to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").kinds[0] == "ordinal"
    pq.write_table(in_order(True)["arrow"], tmp_path / "s.parquet", row_group_size=2)
    assert pack(tmp_path / "s.parquet", tmp_path / "s.mnpack").kinds[0] == "ordinal"
    assert read(tmp_path / "s.mnpack").levels[0] == tuple(SIZES)


def test_an_enum_of_polars_is_ordinal_if_declared(tmp_path: Path) -> None:
    frame = pl.DataFrame({"size": pl.Series(ROWS, dtype=pl.Enum(SIZES)), "b": OTHER})
    frame.write_parquet(tmp_path / "t.parquet")
    for source in (frame, {"size": frame["size"], "b": OTHER}, frame.to_arrow(), tmp_path / "t.parquet"):
        assert read(source).kinds[0] == "nominal"
        declared = read(source, types={"size": "ordinal"})
        assert (declared.kinds[0], declared.levels[0]) == ("ordinal", tuple(SIZES))
    with pytest.raises(DataError, match="nothing says the order"):
        read(frame.with_columns(pl.col("size").cast(pl.Categorical)), types={"size": "ordinal"})


@pytest.mark.parametrize("form", FORMS)
def test_numbers_and_declared_levels_have_an_order(form: str, tmp_path: Path) -> None:
    types: Any = {"size": "ordinal", "answer": "ordinal", "height": "ordinal"}
    data = read(in_form(form, TABLE, tmp_path), types=types, levels={"size": ["small", "middle", "large"]})
    assert data.kinds == ("ordinal", "ordinal", "nominal", "ordinal")
    assert data.levels[0] == ("small", "middle", "large")
    assert data.level_scores("answer").tolist() == [1.0, 2.0]
    assert data.level_scores("height").tolist() == sorted(TABLE["height"])  # type: ignore[type-var]
    told = r"order of 'large', 'middle', 'small'\. Use levels={'size': \[lowest, ..., highest\]}"
    with pytest.raises(DataError, match=told):
        read(in_form(form, TABLE, tmp_path), types={"size": "ordinal"})


def test_two_states_dates_and_a_single_state() -> None:
    days = [dt.date(2024, 1, k) for k in (3, 1, 2, 3)]
    data = read({"sex": ["m", "f", "f", "m"], "day": days, "one": ["x"] * 4}, types="ordinal")
    assert data.kinds == ("ordinal",) * 3
    assert data.cards == (2, 3, 1)


def test_markers_among_ordinal_numbers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n2,y\n3,x\nNA,y\n")
    with pytest.raises(DataError, match=r"clear about what is missing to be ordinal; it holds 'NA'\. .*missing_values"):
        read(path, types={"a": "ordinal"})
    assert read(path, types={"a": "ordinal"}, missing_values=["NA"], missing="testwise").levels[0] == (1, 2, 3)


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_whole_numbers_from_0(form: str, tmp_path: Path) -> None:
    table: Any = {"visits": [0, 3, 1, 0, 25, 2], "b": OTHER}
    data = read(in_form(form, table, tmp_path), types={"visits": "count"})
    assert (data.kinds, data.cards) == (("count", "nominal"), (0, 2))
    assert data.columns[0].dtype == np.float64
    assert data.columns[0].tolist() == table["visits"]
    for wrong, row in ((-1, 2), (0.5, 2)):
        odd: Any = {"visits": [0, wrong, 1, 0, 25, 2], "b": OTHER}
        odd = odd if wrong == -1 else {**odd, "visits": [float(v) for v in odd["visits"]]}
        told = rf"column 'visits' holds counts, which are whole numbers from 0; data row {row} holds {wrong} "
        with pytest.raises(DataError, match=told + r"\(1 such rows\)\. Use types={'visits': 'continuous'}"):
            read(in_form(form, odd, tmp_path), types={"visits": "count"})


def test_types_that_do_not_fit_are_refused_by_name() -> None:
    table = {"w": ["x", "y", "z"], "b": [0, 1, 1]}
    for kind in ("count", "continuous"):
        with pytest.raises(DataError, match=rf"'w' must hold numbers because it is read as {kind}"):
            read(table, types={"w": kind})
        with pytest.raises(DataError, match=rf"types\['w'\] can be '{kind}' for numbers only"):
            read(pd.DataFrame(table).astype({"w": "category"}), types={"w": kind})
    with pytest.raises(InputError, match=r"types\['w'\] must be one of 'nominal', 'ordinal', .*; got 'ordered'"):
        read(table, types={"w": "ordered"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"types must be one of 'nominal', 'ordinal', .*; got 'order'"):
        read(table, types="order")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"levels\['b'\] cannot be declared for a column of type 'count'"):
        read(table, types={"b": "count"}, levels={"b": [0, 1]})
    with pytest.raises(UnknownNameError, match="types: column 'q'"):
        read(table, types={"q": "ordinal"})


def test_one_type_for_all_columns_or_a_range() -> None:
    table = {"a": [1, 2, 3], "b": [5, 4, 5], "c": [1, 1, 0], "w": [1, 2, 1]}
    assert read(table, types="ordinal").kinds == ("ordinal",) * 4
    assert read(table, types="count", repeats="w").kinds == ("count",) * 3
    mixed = read(table, types={":": "ordinal", "c": "nominal", "w": "count"})
    assert mixed.kinds == ("ordinal", "ordinal", "nominal", "count")
    assert read(table, types={"a:b": "ordinal"}).kinds == ("ordinal", "ordinal", "nominal", "nominal")
