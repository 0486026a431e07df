"""Row lists: whatever the rows, the states and the way they are made, the counts are those of the twin."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

from references import counts as reference

LISTS = ("split_columns", "sorted_columns", "columns")  # the ways that make lists
ROWS = Kernel("first_cell", ("rows",))
FILLERS = 60  # so many more variables that a row of 512 bits pays: else nothing is counted by lists


def with_fillers(codes: list[NDArray[np.uint8]], cards: list[int]) -> Counts:
    """The data, and variables that no question names."""
    n_rows = len(codes[0])
    fillers = [np.zeros(n_rows, np.uint8)] * FILLERS
    return Counts(Dataset.from_codes([*codes, *fillers], cards=[*cards, *[2] * FILLERS]), n_jobs=1)


def answers(counts: Counts, kernel: Kernel, x: int, ys: list[int], z: frozenset[int]) -> list[bytes]:
    """The bits of one question, row by row first, then each way that makes lists."""
    found = []
    for way in ("alone", *LISTS):
        _core.force(counts._store, way)
        if prod(counts.cards[v] for v in (x, *z)) <= 4 * counts.n_variables:  # as many sets as may be bitsets
            assert _core.way_of(counts._store, x, ys, z) == way
        found.append(counts.reduce(kernel, x, ys, z).tobytes())
    return found


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 511, 512, 513, 8_191, 8_192, 8_193, 16_385, 65_535, 65_536])
def test_the_number_of_rows_makes_no_difference(path: str, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Around words of 64 rows, blocks of 8,192 that are sorted together, and what two bytes can number."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(n_rows)
    codes = [(rng.random(n_rows) < share).astype(np.uint8) for share in (0.5, 0.1, 0.9, 0.4, 0.6, 0.5, 0.3, 0.2, 0.6)]
    counts = with_fillers(codes, [2] * 9)
    for size_z in range(1, 7):  # from the third on all steps of sorting, from the fifth on bitsets are split before
        assert len(set(answers(counts, kernels.g2(), 0, [7, 8], frozenset(range(1, 1 + size_z))))) == 1


@pytest.mark.parametrize("path", _core.levels())
@settings(max_examples=40, deadline=None)
@given(
    cards=st.lists(st.integers(2, 9), min_size=4, max_size=6),
    n_rows=st.integers(1, 300),
    copied=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_states_in_any_order(path: str, cards: list[int], n_rows: int, copied: bool, seed: int) -> None:
    """x and the last variables of z sort lists while a key has room for them; a copy leaves most strata empty."""
    rng = np.random.default_rng(seed)
    codes = [rng.choice(card, n_rows, p=rng.dirichlet([0.5] * card)).astype(np.uint8) for card in cards]
    if copied:
        codes[1] = np.minimum(codes[0], cards[1] - 1).astype(np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        counts = with_fillers(codes, cards)
    *z, x, y = (int(v) for v in rng.permutation(len(cards)))
    assert len(set(answers(counts, kernels.chi2(), x, [y], frozenset(z)))) == 1
    assert len(set(answers(counts, ROWS, x, [y], frozenset(z)))) == 1


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("share", [0.5, 0.02, 0.98])
def test_the_largest_set_is_what_the_others_leave(path: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sets: one of them is not counted. Tables of every y, against the twin; more than one block of columns."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(3)
    data = Dataset.from_codes([(rng.random(900) < share).astype(np.uint8) for _ in range(530)], cards=[2] * 530)
    counts, ys = Counts(data, n_jobs=1), [4, 100, 511, 512, 529]
    for z in (frozenset({1}), frozenset({1, 2}), frozenset({1, 2, 3})):
        _core.force(counts._store, "split_columns")
        tables = counts.tables(0, ys, z)
        for y, found in zip(ys, tables.counts, strict=True):
            twin = reference.strata(data, 0, y, sorted(z))
            cells = {tuple(states): table for states, table in zip(tables.strata.tolist(), found.tolist(), strict=True)}
            assert cells == {
                states: [[table.get((a, b), 0) for b in (0, 1)] for a in (0, 1)] for states, table in twin.items()
            }


@pytest.mark.parametrize("path", _core.levels())
def test_the_order_of_rows_and_labels_only_orders_the_tables(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(8)
    codes = [rng.integers(0, card, 2_000).astype(np.uint8) for card in (2, 2, 3, 2, 4, 2)]
    order = rng.permutation(2_000)
    found = []
    for columns in (codes, [column[order] for column in codes], [1 - codes[0], *codes[1:]]):
        counts = with_fillers(columns, [2, 2, 3, 2, 4, 2])
        _core.force(counts._store, "split_columns")
        assert _core.way_of(counts._store, 0, [4, 5], [1, 2, 3]) == "split_columns"
        found.append(counts.reduce(kernels.chi2(), 0, [4, 5], frozenset({1, 2, 3})))
    assert all(np.allclose(one, other, rtol=1e-12) for one, other in pairwise(found))
