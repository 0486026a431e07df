"""SciPy sparse matrices of 0 and 1."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mnlearn as mn
from mnlearn.data import overview, pack, read
from mnlearn.errors import DataError, InputError

DENSE = (np.random.default_rng(1).random((60, 5)) < [0.3, 0.5, 0.0, 1.0, 0.1]).astype(np.int64)

KINDS = ["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix", "lil_array", "dok_array"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("type_", [np.int8, np.float64, np.bool_])
def test_sparse_reads_as_dense(kind: str, type_: type[Any]) -> None:
    data = read(getattr(sparse, kind)(DENSE.astype(type_)))
    expected = read(DENSE.astype(np.bool_ if type_ is np.bool_ else np.int64))
    assert (data.names, data.levels, data.cards) == (expected.names, expected.levels, expected.cards)
    for ours, theirs in zip(data.columns, expected.columns, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_names_and_columns() -> None:
    matrix = sparse.csr_array(DENSE)
    data = read(matrix, names=["a", "b", "c", "d", "e"], columns=["e", "a"], types={"a": "continuous"})
    assert data.names == ("e", "a")
    assert data.cards == (2, 0)
    np.testing.assert_array_equal(data.columns[1], DENSE[:, 0])
    assert read(DENSE, names=list("abcde")).names == tuple("abcde")
    assert read(DENSE.tolist(), names=list("abcde")).names == tuple("abcde")
    assert [one.name for one in overview(matrix, names=list("vwxyz")).variables] == list("vwxyz")


def test_learning_and_packing(tmp_path: Path) -> None:
    matrix = sparse.csr_array(DENSE[:, [0, 1, 4]])
    network = mn.learn(matrix, "mpl", names=np.array(["a", "b", "c"]))  # type: ignore[arg-type]
    assert network.names == ("a", "b", "c")
    packed = pack(matrix, tmp_path / "a.mnpack", names=["a", "b", "c"])
    np.testing.assert_array_equal(np.column_stack(packed.columns), DENSE[:, [0, 1, 4]])


def test_stored_zeros_and_sums_of_duplicates() -> None:
    rows, columns = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])
    fine = sparse.coo_array((np.array([1, 0, 1, 0]), (rows, columns)), shape=(3, 2))
    data = read(fine)
    assert [column.tolist() for column in data.columns] == [[1, 0, 0], [0, 1, 0]]
    assert fine.nnz == 4  # the matrix of the caller is not changed
    with pytest.raises(DataError, match=r"column 0, data row 1 holds 2 \(1 such values\)"):
        read(sparse.coo_array((np.array([1, 1, 1, 1]), (rows, columns)), shape=(3, 2)))


@pytest.mark.parametrize("value", [2.0, -1.0, 0.5, np.nan, np.inf])
def test_other_values_are_refused(value: float) -> None:
    matrix = DENSE.astype(np.float64)
    matrix[7, 1] = value
    with pytest.raises(DataError, match="a sparse matrix must hold 0 and 1, or False and True; column 1, data row 8"):
        read(sparse.csr_array(matrix))


def test_names_are_refused_where_they_cannot_be() -> None:
    matrix = sparse.csr_array(DENSE)
    with pytest.raises(InputError, match="names must have one entry for each of the 5 columns; got 2"):
        read(matrix, names=["a", "b"])
    with pytest.raises(DataError, match="column names must differ"):
        read(matrix, names=["a"] * 5)
    with pytest.raises(InputError, match=r"names is for arrays, sparse matrices and lists of rows, .*; got a dict of"):
        read({"a": [1, 2], "b": [1, 2]}, names=["c", "d"])
    with pytest.raises(InputError, match="names cannot be applied to a Dataset"):
        read(read(matrix), names=list("abcde"))
    with pytest.raises(InputError, match=r"names is for .*; got t\.csv"):
        read("t.csv", names=["a"])
    with pytest.raises(InputError, match="must be a 2-D matrix"):
        read(sparse.coo_array(np.array([1, 0, 1])))


def test_no_dense_copy_is_made() -> None:
    cells = np.random.default_rng(0).choice(2000 * 1000, 20_000, replace=False)
    matrix = sparse.coo_array((np.ones(len(cells)), (cells // 1000, cells % 1000)), shape=(2000, 1000))
    tracemalloc.start()
    try:
        data = read(matrix)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data.n_variables == 1000
    assert peak < 2 * 2000 * 1000  # a dense matrix of float64 alone takes four times as much
    assert held < 1.5 * 2000 * 1000


def _broken(kind: str, **parts: Any) -> Any:
    matrix = getattr(sparse, kind)(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


FAR = np.array([0, 2**30, 1, 0])
BROKEN = [
    *[
        (kind, {name: np.array(value)})
        for kind in ("csr_array", "csc_array", "csr_matrix", "csc_matrix")
        for name, value in [
            ("indices", [0, 2**30, 1, 0]),
            ("indices", [-5, 1, 2, 0]),
            ("indices", [0, 2**40, 1, 0]),
            ("indices", [1]),
            ("indptr", [0, 2, 3, 10**9]),
            ("indptr", [0, -7, 3, 4]),
            ("indptr", [0, 2, 4]),
            ("data", [1]),
        ]
    ],
    ("bsr_array", {"indptr": np.array([0, 1, 2, 10**9])}),
    ("bsr_array", {"indices": FAR}),
    ("coo_array", {"row": FAR}),
    ("coo_matrix", {"col": -FAR}),
    ("coo_array", {"data": np.array([1])}),
    ("dia_array", {"offsets": np.array([0, 2**30])}),
    ("lil_array", {"rows": np.array([[1, 2**30], [0], [0]], dtype=object)}),
    ("lil_array", {"rows": np.array([[1], [0], [0]], dtype=object)}),
    ("lil_array", {"rows": np.array(["ab", "c", "d"], dtype=object)}),
    ("lil_array", {"data": np.array([[1] * 10, [1], [1]], dtype=object)}),
    ("csr_array", {"data": np.array(["a"] * 4)}),
    ("csr_array", {"data": np.array([None] * 4)}),
]


@pytest.mark.parametrize(("kind", "parts"), BROKEN)
def test_matrices_whose_parts_do_not_fit_are_refused(kind: str, parts: dict[str, Any]) -> None:
    """SciPy trusts them: its conversions read and write past the ends of the arrays."""
    with pytest.raises(
        InputError, match=r"source must be a sparse matrix whose indices fit its shape; it is damaged: "
    ):
        read(_broken(kind, **parts))
    with pytest.raises(InputError, match="matrix must "):
        mn.Graph.from_adjacency(_broken(kind, **parts))
