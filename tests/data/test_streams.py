"""Tables in batches: datasets of Arrow, streams of batches, relations of DuckDB; containers that are not tables."""

from __future__ import annotations

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
from mnlearn.data import Dataset, pack, parquet, read
from mnlearn.errors import FileError, InputError
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


@pytest.mark.parametrize("wrap", [lambda frame: frame, nw.from_native])
def test_a_lazy_frame_is_collected_or_written_by_its_owner(wrap: Any, tmp_path: Path) -> None:
    told = r"got a LazyFrame, which is lazy\. Use frame\.collect\(\), or frame\.sink_parquet\(FILE\) and read that file"
    lazy = wrap(frame().lazy())
    with pytest.raises(InputError, match=told):
        read(lazy)
    with pytest.raises(InputError, match=told):
        read(lazy, transpose=True)
    with pytest.raises(InputError, match=told):
        pack(lazy, tmp_path / "t.mnpack")


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


def test_packing_a_stream_can_be_cancelled(tmp_path: Path) -> None:
    class Impatient:
        asked = 0

        def cancelled(self) -> bool:
            self.asked += 1
            return self.asked > 3

        progress = SILENT.progress

    table = frame().to_arrow()
    for source in (ds.dataset(table), table.to_reader(70)):
        with pytest.raises(mn.MnlearnError, match="packing was stopped"):
            pack(source, tmp_path / "t.mnpack", missing="category", monitor=Impatient())


def test_learning_from_a_dataset(tmp_path: Path) -> None:
    table = frame().select("few", "flag", "categories", "a.b")
    dataset = parts_of(table.to_arrow(), tmp_path)
    expected = mn.learn(table, "mpl")
    learned = mn.learn(dataset, "mpl")
    assert learned.graph == expected.graph
    assert learned.result.support == expected.result.support
    assert isinstance(learned.edges(), pa.Table)
    assert mn.screen(dataset, k=1).graph(threshold=0.0) == mn.screen(table, k=1).graph(threshold=0.0)
    model = mn.fit_parameters(expected.graph, dataset)
    assert model.log_pseudolikelihood(dataset) == model.log_pseudolikelihood(table)


def test_options_of_other_tables(tmp_path: Path) -> None:
    table = pl.DataFrame({"gene": ["g", "h"], "s1": [0, 1], "s2": [1, 1], "s3": [1, 0]})
    dataset = parts_of(table.to_arrow(), tmp_path)
    both(dataset, read(table, transpose=True), tmp_path, transpose=True)
    both(dataset, read(table, row_names=True, repeats="s2"), tmp_path, row_names=True, repeats="s2")
    for options, told in (
        ({"names": ["a"]}, "names"),
        ({"sheet": "a"}, "sheet is for workbooks"),
        ({"delimiter": ";"}, "delimiter is for text files"),
        ({"columns": ["s1", "gone"]}, "'gone' does not exist"),
    ):
        for load in (read, lambda source, **given: pack(source, tmp_path / "t.mnpack", **given)):
            for source in (ds.dataset(table.to_arrow()), table.to_arrow().to_reader()):
                with pytest.raises(InputError, match=told):
                    load(source, **options)


def test_sources_that_cannot_be_computed_are_refused(tmp_path: Path) -> None:
    dataset = parts_of(frame().to_arrow(), tmp_path)
    (tmp_path / "part-1.parquet").write_bytes((tmp_path / "part-0.parquet").read_bytes()[:-500] + bytes(500))
    with pytest.raises(InputError, match=r"source must be an Arrow dataset that can be read; .* write its files again"):
        pack(dataset, tmp_path / "t.mnpack", missing="category")
    (tmp_path / "part-1.parquet").unlink()
    with pytest.raises(FileError, match="source must be an Arrow dataset that can be read; "):
        read(dataset)
    assert not (tmp_path / "t.mnpack").exists()


def test_own_options_of_a_dataset_are_kept(tmp_path: Path) -> None:
    dataset = parts_of(frame().to_arrow(), tmp_path)
    assert list(parquet._scan_options(dataset)) == ["fragment_scan_options"]
    own = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(buffer_size=1 << 16))
    assert parquet._scan_options(ds.dataset(dataset.files, format=own)) == {}
    assert parquet._scan_options(ds.dataset([dataset, dataset])) == {}


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
    transposed = connection.sql("select 'g' || few as gene, few as s1, 3 - few as s2 from range(1, 4) as r(few)")
    both(transposed, read({"g1": [1, 2], "g2": [2, 1], "g3": [3, 0]}), tmp_path, transpose=True)
    with pytest.raises(InputError, match="'gone' does not exist"):
        read(relation, columns=["few", "gone"])
    with pytest.raises(InputError, match="'gone' does not exist"):
        pack(relation, tmp_path / "t.mnpack", columns=["few", "gone"])
    failing = connection.sql("select few, error('no') as b from rows")
    for load in (read, lambda source: pack(source, tmp_path / "t.mnpack")):
        with pytest.raises(InputError, match=r"source must be an Arrow stream that can be read; .*Correct the query"):
            load(failing)
    assert read(relation, missing="category").n_rows == 900


@pytest.mark.parametrize(("module", "base"), [("torch", object), ("xarray.core.dataset", dict)])
def test_foreign_containers_are_converted_by_their_owner(module: str, base: type) -> None:
    thing = type("Thing", (base,), {"__module__": module})()
    with pytest.raises(InputError, match=rf"got {module}\.Thing\. Convert it to one of these, such as a NumPy array"):
        mn.learn(thing)


def test_containers_of_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(np.array([[0, 1, 1], [1, 0, 1]]), dims=("v", "row"), coords={"v": ["a", "b"]})
    for load in (read, lambda source: pack(source, "t.mnpack")):
        with pytest.raises(InputError, match=r"got xarray.*\.DataArray\. Convert it"):
            load(array)
    assert read(array.transpose("row", "v").to_pandas()).names == ("a", "b")
    with pytest.raises(InputError, match=r"got xarray.*\.Dataset\. Convert it"):
        pack(array.to_dataset("v"), "t.mnpack")
    assert read(array.to_dataset("v").to_dataframe()).names == ("a", "b")
