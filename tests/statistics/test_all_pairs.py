"""All pairs of binary variables: every count right, on every code path, in any tile, block and number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

COUNTING = Kernel("first_cell", ("rows",))


def binary(n: int, n_rows: int, seed: int = 0) -> NDArray[np.uint8]:
    """Rows of bits, one for each variable: common and rare ones, and one that never changes."""
    rng = np.random.default_rng([n, n_rows, seed])
    return (rng.random((n, n_rows)) < np.resize([0.5, 0.02, 0.9, 0.3, 0.0], n)[:, None]).astype(np.uint8)


def engine(data: NDArray[np.uint8], path: str, *, n_jobs: int = 1) -> Counts:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        return Counts(Dataset.from_codes(list(data), cards=[2] * len(data)), n_jobs=n_jobs)


def both_zero(data: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Rows with both states 0, for all pairs in lexicographic order: one product of matrices."""
    zeros = (data == 0).astype(np.float64)
    counts: NDArray[np.float64] = zeros @ zeros.T
    return counts[np.triu_indices(len(data), 1)]


# One word more and one less than what is counted word by word, two words at a time, and in one block of words.
WORDS = st.sampled_from([1, 2, 3, 4, 5, 16, 23, 24, 25, 26, 27, 28, 63, 64, 65])


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 70), words=WORDS, missing=st.integers(0, 63), seed=st.integers(0, 9))
@example(n=9, words=513, missing=1, seed=0)
@example(n=37, words=514, missing=63, seed=1)
@example(n=18, words=1025, missing=0, seed=2)
def test_every_pair_is_counted_right_on_every_path(n: int, words: int, missing: int, seed: int) -> None:
    data = binary(n, words * 64 - missing, seed)
    want = both_zero(data)
    for path in _core.levels():
        np.testing.assert_array_equal(engine(data, path).reduce_all(COUNTING)[0], want)


@pytest.mark.parametrize("n", [512, 513, 1030])
def test_tiles_reach_to_the_last_variable(n: int) -> None:
    data = binary(n, 100)
    for path in _core.levels():
        np.testing.assert_array_equal(engine(data, path).reduce_all(COUNTING)[0], both_zero(data))


@pytest.mark.parametrize("n_rows", [100, 1600, 9000])
def test_threads_blocks_and_the_order_of_rows_leave_the_bits_alone(n_rows: int) -> None:
    data = binary(201, n_rows)
    order = np.random.default_rng(0).permutation(n_rows)
    for kernel in (COUNTING, kernels.g2(), kernels.bayes()):
        whole = engine(data, "").reduce_all(kernel)
        for n_jobs in (2, 5):
            assert engine(data, "", n_jobs=n_jobs).reduce_all(kernel).tobytes() == whole.tobytes()
        for max_pairs in (1, 777, 5000):
            blocks = [block for _, block in engine(data, "").all_pairs_blocks(kernel, max_pairs=max_pairs)]
            assert np.concatenate(blocks, axis=1).tobytes() == whole.tobytes()
        assert engine(data[:, order], "").reduce_all(kernel).tobytes() == whole.tobytes()


def test_reversing_the_variables_reverses_the_counts() -> None:
    data = binary(43, 1500)
    forth, back = (engine(part, "").reduce_all(COUNTING)[0] for part in (data, data[::-1]))
    square = np.zeros((43, 43))
    square[np.triu_indices(43, 1)] = back
    np.testing.assert_array_equal(forth, (square + square.T)[::-1, ::-1][np.triu_indices(43, 1)])


@settings(deadline=None, max_examples=40)
@given(card=st.integers(2, 9), n_rows=st.integers(1, 200), seed=st.integers(0, 99))
def test_bits_made_from_codes_and_turned_over_hold_every_state(card: int, n_rows: int, seed: int) -> None:
    """The planes of all states, and the rows of bits made from the planes: scans by either find every code."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, card, (70, n_rows)).astype(np.uint8)
    counts = Counts(Dataset.from_codes(list(codes), cards=[card] * 70))
    tables = counts.tables(0, [1, 35, 69], frozenset({2}))
    for y, table in zip((1, 35, 69), tables.counts, strict=True):
        want = np.zeros((card, card, card), dtype=np.int64)
        np.add.at(want, (codes[2], codes[0], codes[y]), 1)
        np.testing.assert_array_equal(table, want[want.sum((1, 2)) > 0])
    scans = []
    for way in ("alone", "planes", "sorted_columns", "split_columns"):
        _core.force(counts._store, way)
        scans.append(counts.reduce(kernels.g2(), 0, range(3, 70), frozenset({2})).tobytes())
    assert len(set(scans)) == 1


def test_reduce_all_leaves_no_memory_behind() -> None:
    counts = engine(binary(40, 5000), "")
    counts.reduce_all(kernels.g2())
    assert counts.nbytes <= 2 * 40 * 5000
