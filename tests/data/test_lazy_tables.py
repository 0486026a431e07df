"""Tables in batches: datasets of Arrow, lazy frames of polars, relations of DuckDB; containers that are not tables."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import mnlearn as mn
from data.tables import assert_same
from mnlearn.data import Dataset, overview, pack, read
from mnlearn.data import parquet as lazy_tables
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.protocols import SILENT


def frame(n: int = 900) -> pl.DataFrame:
    """Return columns of every kind, with names that look like expressions."""
    rng = np.random.default_rng(0)
    letters = rng.choice(["m", "k", "l"], n)
    columns = {
        "a.b": rng.choice(["x", "y", "z"], n),
        ".q[0]": [None if k % 97 == 5 else "v" for k in range(n)],
        'quote"d': rng.choice(["v", "u"], n),
        "categories": pl.Series(letters).cast(pl.Categorical),
        "enum": pl.Series(letters).cast(pl.Enum(["z", "m", "l", "k"])),
        "few": rng.integers(0, 5, n),
        "many": rng.integers(0, 300, n),
        "number": rng.normal(size=n),
        "day": pl.Series(rng.integers(0, 4, n)).cast(pl.Date),
        "flag": rng.random(n) < 0.5,
        "late": ["first"] * (n - 1) + ["last"],
    }
    return pl.DataFrame(columns)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.data.parquet.batch_rows", lambda _: 70)


def both(source: Any, expected: Dataset, folder: Path, **options: Any) -> None:
    """Assert that reading and packing return what is expected, to the last bit."""
    whole = read(source, **options)
    for found in (whole, pack(source, folder / "t.mnpack", **options)):
        assert_same(found, expected)
        assert found.missing == expected.missing
        assert found.ordinal == expected.ordinal
    assert whole.unused == expected.unused


def parts_of(table: Any, folder: Path) -> Any:
    """Return a dataset of three files."""
    paths = [folder / f"part-{k}.parquet" for k in range(3)]
    step = -(-table.num_rows // 3)
    for k, path in enumerate(paths):
        pq.write_table(table.slice(k * step, step), path, row_group_size=200)
    return ds.dataset(paths)


def test_a_lazy_frame_is_the_collected_frame(tmp_path: Path) -> None:
    table = frame()
    expected = read(table, missing="category")
    both(table.lazy(), expected, tmp_path, missing="category")
    both(nw.from_native(table.lazy()), expected, tmp_path, missing="category")
    assert overview(table.lazy(), missing_values=["u"]) == overview(table, missing_values=["u"])
    types: dict[str, Any] = {"enum": "ordinal", "few": "count"}
    both(table.lazy(), read(table, missing="drop_rows", types=types), tmp_path, missing="drop_rows", types=types)


def test_an_older_polars_computes_the_query_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    table = frame().drop("day")
    expected = read(table, missing="category")
    both(table.lazy(), expected, tmp_path, missing="category")

    def cannot(*given: object, **options: object) -> None:
        raise pl.exceptions.InvalidOperationError("not yet supported")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", cannot)
    with caplog.at_level(logging.INFO):
        both(table.lazy(), expected, tmp_path, missing="category")
    assert "cannot stream the query" in caplog.text


def test_a_dataset_is_its_table(tmp_path: Path) -> None:
    dataset = parts_of(frame().to_arrow(), tmp_path)
    expected = read(dataset.to_table(), missing="category")
    for source in (dataset, dataset.scanner(), dataset.scanner(batch_size=33), ds.dataset(dataset.to_table())):
        both(source, expected, tmp_path, missing="category")
    columns = ["flag", "a.b", ".q[0]"]
    for source in (dataset, dataset.scanner(columns=["few", *columns])):
        options: dict[str, Any] = {"columns": columns, "missing": "testwise"}
        both(source, read(dataset.to_table(), **options), tmp_path, **options)


def test_dictionaries_that_differ_between_batches(tmp_path: Path) -> None:
    kinds = pa.dictionary(pa.int8(), pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array(rows, pa.int8()), labels).cast(kinds)
        for rows, labels in [([0, 1, None, 1], ["b", "a"]), ([1, 0, 1, 1], ["a", "b"]), ([0, 2, 0, 0], ["c", "z", "b"])]
    ]
    values = ["b", "a", None, "a", "b", "a", "b", "b", "c", "b", "c", "c"]
    schema = pa.schema({"x": kinds, "y": pa.int64()})
    batches = [pa.record_batch([chunk, pa.array([0, 1, 1, 0])], schema) for chunk in chunks]
    table = pa.Table.from_batches(batches)
    for k, batch in enumerate(batches):
        pq.write_table(pa.Table.from_batches([batch]), tmp_path / f"{k}.parquet")
    for source in (
        table.to_reader(),
        ds.Scanner.from_batches(batches, schema=schema),
        ds.dataset(table),
        ds.dataset([tmp_path / f"{k}.parquet" for k in range(3)]),
    ):
        found = read(source, missing="category")
        labels = found.levels[0]
        assert labels is not None
        assert [labels[code] for code in found.columns[0]] == values
        assert labels == read(table, missing="category").levels[0] == ("b", "a", "c", None)


def test_partitions_are_columns(tmp_path: Path) -> None:
    table = pa.table({"site": ["n", "s", "n", "s"], "x": [0, 1, 1, 0], "y": [1, 1, 0, 0]})
    for format in ("parquet", "feather", "csv"):
        folder = tmp_path / format
        ds.write_dataset(table, folder, format=format, partitioning=["site"], partitioning_flavor="hive")
        found = read(ds.dataset(folder, format=format, partitioning="hive"))
        assert found.names == ("x", "y", "site")
        assert [column.tolist() for column in found.columns] == [[0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1]]


def test_memory_does_not_grow_with_the_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.data.parquet.batch_rows", lambda _: 4000)
    part = pa.table({f"v{j}": np.arange(100_000) % (j + 2) for j in range(4)})
    with pq.ParquetWriter(tmp_path / "big.parquet", part.schema) as file:
        for _ in range(8):
            file.write_table(part, row_group_size=4000)
    del part, file
    peak, before = 0, pa.total_allocated_bytes()

    class Watch:
        def cancelled(self) -> bool:
            nonlocal peak
            peak = max(peak, pa.total_allocated_bytes() - before)
            return False

        progress = SILENT.progress

    packed = pack(ds.dataset(tmp_path / "big.parquet"), tmp_path / "t.mnpack", monitor=Watch())
    assert packed.n_rows == 800_000
    assert 0 < peak < packed.n_rows * 4 * 8 / 8  # an eighth of the table


def test_packing_a_lazy_table_can_be_cancelled(tmp_path: Path) -> None:
    class Impatient:
        asked = 0

        def cancelled(self) -> bool:
            self.asked += 1
            return self.asked > 3

        progress = SILENT.progress

    with pytest.raises(mn.MnlearnError, match="packing was stopped"):
        pack(frame().lazy(), tmp_path / "t.mnpack", missing="category", monitor=Impatient())


def test_learning_from_lazy_tables(tmp_path: Path) -> None:
    table = frame().select("few", "flag", "categories", "a.b")
    dataset = parts_of(table.to_arrow(), tmp_path)
    expected = mn.learn(table, "mpl")
    for source, kind in ((table.lazy(), pl.DataFrame), (dataset, pa.Table)):
        learned = mn.learn(source, "mpl")
        assert learned.graph == expected.graph
        assert learned.result.support == expected.result.support
        assert isinstance(learned.edges(), kind)
        assert mn.screen(source, k=1).graph(threshold=0.0) == mn.screen(table, k=1).graph(threshold=0.0)
    model = mn.fit_parameters(expected.graph, dataset)
    assert model.log_pseudolikelihood(table.lazy()) == model.log_pseudolikelihood(table)


def test_options_of_other_tables(tmp_path: Path) -> None:
    table = pl.DataFrame({"gene": ["g", "h"], "s1": [0, 1], "s2": [1, 1], "s3": [1, 0]})
    expected = read(table, transpose=True)
    both(table.lazy(), expected, tmp_path, transpose=True)
    both(parts_of(table.to_arrow(), tmp_path), expected, tmp_path, transpose=True)
    both(table.lazy(), read(table, row_names=True, repeats="s2"), tmp_path, row_names=True, repeats="s2")
    for options, told in (
        ({"names": ["a"]}, "names"),
        ({"sheet": "a"}, "sheet is for workbooks"),
        ({"delimiter": ";"}, "delimiter is for text files"),
        ({"columns": ["s1", "gone"]}, "'gone' does not exist"),
    ):
        for source in (table.lazy(), ds.dataset(table.to_arrow())):
            with pytest.raises(InputError, match=told):
                read(source, **options)
            with pytest.raises(InputError, match=told):
                pack(source, tmp_path / "t.mnpack", **options)


def test_sources_that_cannot_be_computed_are_refused(tmp_path: Path) -> None:
    dataset = parts_of(frame().to_arrow(), tmp_path)
    scan = pl.scan_parquet(tmp_path / "part-*.parquet")
    words = pl.LazyFrame({"a": ["x", "y"], "b": [1, 2]})
    for query in (words.select("c"), words.with_columns(pl.col("a").cast(pl.Int64))):
        with pytest.raises(DataError, match=r"source must be a LazyFrame that can be computed; .*Correct the query"):
            read(query)
    with pytest.raises(DataError, match="at least 2 rows"):
        read(words.head(0))
    (tmp_path / "part-1.parquet").write_bytes((tmp_path / "part-0.parquet").read_bytes()[:-500] + bytes(500))
    for source, told in ((dataset, "an Arrow dataset"), (scan, "a LazyFrame")):
        with pytest.raises(InputError, match=f"source must be {told} (whose files can be read|that can be computed); "):
            pack(source, tmp_path / "t.mnpack", missing="category")
    (tmp_path / "part-1.parquet").unlink()
    with pytest.raises(FileError, match="source must be an Arrow dataset whose files can be read; "):
        read(dataset)
    assert not (tmp_path / "t.mnpack").exists()


def test_own_options_of_a_dataset_are_kept(tmp_path: Path) -> None:
    dataset = parts_of(frame().to_arrow(), tmp_path)
    assert list(lazy_tables._scan_options(dataset)) == ["fragment_scan_options"]
    own = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(buffer_size=1 << 16))
    assert lazy_tables._scan_options(ds.dataset(dataset.files, format=own)) == {}
    assert lazy_tables._scan_options(ds.dataset([dataset, dataset])) == {}


def test_relations_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = frame().drop("categories", "enum").to_arrow()
    relation = connection.from_arrow(rows)
    both(relation, read(rows, missing="category"), tmp_path, missing="category")
    labels = connection.sql("select few, case when few > 2 then 'u' else 'v' end::enum('w', 'v', 'u') as e from rows")
    expected = read(labels.arrow() if not hasattr(labels, "to_arrow_table") else labels.to_arrow_table())
    assert expected.levels[1] == ("v", "u")
    both(labels, expected, tmp_path)
    with pytest.raises(DataError, match=r"source must be a DuckDB relation that can be computed; .*Correct the query"):
        read(connection.sql("select few, error('no') as b from rows"))


class DataArray:
    """Stand-in for the class of xarray."""

    __module__ = "xarray.core.dataarray"

    def __init__(self) -> None:
        self.sizes = {"time": 3, "station": 2}


def test_foreign_containers_name_the_conversion() -> None:
    with pytest.raises(
        InputError, match=r"xarray.DataArray with the dimensions 'time', 'station'. Use array.transpose"
    ):
        read(DataArray())
    mapping = type("Dataset", (dict,), {"__module__": "xarray.core.dataset", "sizes": {"time": 3}})
    with pytest.raises(InputError, match=r"xarray.Dataset with the dimensions 'time'. Use dataset.to_dataframe\(\)"):
        mn.learn(mapping(x=[0, 1], y=[1, 0]))
    for module, way in (("torch", "numpy\\(force=True\\)"), ("jaxlib._jax", "numpy.asarray"), ("other", "Convert it")):
        with pytest.raises(InputError, match=f"got {module}.Thing. .*{way}"):
            read(type("Thing", (), {"__module__": module})())


def test_real_containers_of_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(np.array([[0, 1, 1], [1, 0, 1]]), dims=("v", "row"), coords={"v": ["a", "b"]})
    with pytest.raises(InputError, match=r"DataArray with the dimensions 'v', 'row'"):
        read(array)
    assert read(array.transpose("row", "v").to_pandas()).names == ("a", "b")
    dataset = array.to_dataset("v")
    with pytest.raises(InputError, match=r"Dataset with the dimensions 'row'"):
        pack(dataset, "t.mnpack")
    assert read(dataset.to_dataframe()).names == ("a", "b")
