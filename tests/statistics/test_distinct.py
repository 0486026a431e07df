"""Data with few distinct rows: counted as rows with repeats where that pays, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

KERNELS: list[Kernel] = [
    kernels.chi2(),
    kernels.g2("all"),
    kernels.bayes(),
    kernels.dirichlet(),
    kernels.entropy(),
    Kernel("first_cell", ("rows",)),
]
MANY = 1 << 16


def drawn(n_distinct: int, cards: list[int], n_rows: int, seed: int = 0) -> NDArray[np.int64]:
    """One row for each variable; exactly so many distinct rows, each drawn about as often as its number says."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(np.prod(cards), n_distinct, replace=False)
    weights = rng.dirichlet(np.ones(n_distinct))
    rows = np.concatenate([np.arange(n_distinct), rng.choice(n_distinct, n_rows - n_distinct, p=weights)])
    return np.array(np.unravel_index(numbers[rng.permutation(rows)], cards))


def counts_of(columns: NDArray[np.int64], cards: list[int], way: str = "", n_jobs: int = 1) -> Counts:
    counts = Counts(Dataset.from_codes(list(columns), cards=cards), n_jobs=n_jobs)
    _core.force(counts._store, way)
    return counts


@pytest.mark.parametrize("cards", [[2] * 8, [2, 3, 300, 2, 1, 4, 2], [2, 9, 2, 12, 2]], ids=["2", "300", "12"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_question_gets_the_bits_of_counting_all_rows(cards: list[int], n_jobs: int) -> None:
    """Few states and many, two bytes a code, a constant; scans, whole blankets, locals and all pairs."""
    columns = drawn(61, cards, 5000)
    few, all_rows = counts_of(columns, cards, "distinct", n_jobs), counts_of(columns, cards, "alone", n_jobs)
    n = len(cards)
    assert few.n_rows == all_rows.n_rows == 5000
    for kernel in KERNELS:
        for x, z in ((0, {1}), (2, {0, n - 1}), (n - 1, set(range(1, n - 1)))):
            ys, given = [y for y in range(n) if y not in {x, *z}], frozenset(z)
            assert few.reduce(kernel, x, ys, given).tobytes() == all_rows.reduce(kernel, x, ys, given).tobytes()
            assert few.local(kernel, x, given).tobytes() == all_rows.local(kernel, x, given).tobytes()
            for ask in ("members", "without"):
                (ours,) = getattr(few, ask)(kernel, [x], [given])
                (theirs,) = getattr(all_rows, ask)(kernel, [x], [given])
                assert ours.tobytes() == theirs.tobytes()
        assert few.reduce_all(kernel).tobytes() == all_rows.reduce_all(kernel).tobytes()
    assert _core.way_of(few._store, 0, [2], [1]) == "distinct"


def test_the_evidence_of_separators_is_the_same() -> None:
    cards = [2, 2, 3, 2, 2, 4]
    columns = drawn(40, cards, 6000)
    zs, yss = [frozenset({1, 2}), frozenset({0, 4})], [[3, 4, 5], [1, 2, 5]]
    answers = []
    for way in ("", "alone"):
        scans = counts_of(columns, cards, way).evidence()
        local, pairs = scans.local([0, 3], zs), scans.pairs([0, 3], zs, yss)
        added, tables = scans.additions([0, 3], zs, yss), scans.full_tables([0, 3], zs, yss)
        numbers = [local.full_table, local.pairwise, *[fit.log_factor for fit in pairs]]
        answers.append(np.concatenate([*numbers, *[fit.pairwise for fit in added], *tables]).tobytes())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("n_rows", [MANY, MANY + 77])
def test_one_row_in_64_may_be_distinct_and_no_more(n_rows: int) -> None:
    cards, most = [2] * 16, n_rows // 64
    for n_distinct, way in ((most, "distinct"), (most + 1, "")):
        counts = counts_of(drawn(n_distinct, cards, n_rows), cards, "distinct")
        assert (_core.way_of(counts._store, 0, [9], range(1, 9)) == "distinct") == (way == "distinct")


def test_few_rows_or_repeats_are_left_as_they_are() -> None:
    cards = [2, 2, 2]
    for n_rows, repeats, expected in ((4096, False, "distinct"), (4095, False, ""), (4096, True, "")):
        columns = drawn(8, cards, n_rows)
        times = np.ones(n_rows, dtype=np.int64) if repeats else None
        data = Dataset.from_codes(list(columns), cards=cards, repeats=times)
        store = Counts(data)._store
        _core.force(store, "distinct")
        assert (_core.way_of(store, 0, [1], [2]) == "distinct") == (expected == "distinct")


@pytest.mark.parametrize("path", _core.levels())
def test_distinct_rows_are_taken_only_where_they_cost_less_than_any_other_way(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row in 64 is distinct: fast planes of a few sets are counted sooner, large conditions not."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    cards = [2] * 16
    counts = counts_of(drawn(1000, cards, MANY), cards)
    assert _core.way_of(counts._store, 0, [9], []) != "distinct"
    expected = "split_planes" if path == "avx512" else "distinct"
    assert _core.way_of(counts._store, 0, range(2, 16), [1]) == expected
    assert _core.way_of(counts._store, 0, [9], [1]) == "distinct"
    assert _core.way_of(counts._store, 0, [9], range(1, 9)) == "distinct"
    fewer = counts_of(drawn(30, cards, MANY), cards)
    assert _core.way_of(fewer._store, 0, [9], [1]) == "distinct"


def test_they_count_as_memory_beyond_the_data() -> None:
    cards = [2] * 8
    counts = counts_of(drawn(100, cards, MANY), cards)
    before = counts.nbytes
    counts.reduce(kernels.g2(), 0, [1], frozenset({2, 3, 4}))
    assert counts.nbytes - before >= 100 * 8
