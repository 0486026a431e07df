"""Row lists kept from question to question: refined or not, found or thrown out, the answers have the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.protocols import Kernel, VarSet
from mnlearn.statistics import Counts, kernels
from profiles import few

from references import counts as reference

ROWS = Kernel("first_cell", ("rows",))
ROOM = 1 << 24
WIDE = 40  # fewer columns are never counted by lists: their rows of bits would be mostly empty
MADE = ("split_columns", "sorted_columns")  # the ways whose lists are kept
Walk = Sequence[tuple[int, VarSet]]


def on_path(path: str, data: Dataset, n_jobs: int = 1) -> Counts:
    """Counts on one code path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        return Counts(data, n_jobs=n_jobs)


def keeping(counts: Counts, way: str, max_bytes: int | None = None) -> Counts:
    """The same counts, with lists that are made this way first and kept from then on."""
    _core.force(counts._store, way)
    _core.keep_lists(counts._store, max_bytes)
    return counts


def bits(counts: Counts, kernel: Kernel, walk: Walk, ys: Sequence[int]) -> list[bytes]:
    """The answers to one question after the other."""
    return [counts.reduce(kernel, x, ys, z).tobytes() for x, z in walk]


def afresh(counts: Counts, kernel: Kernel, walk: Walk, ys: Sequence[int]) -> list[bytes]:
    """The same row by row, without any list."""
    _core.force(counts._store, "alone")
    return bits(counts, kernel, walk, ys)


def binary(n: int, n_rows: int, share: float = 0.5, seed: int = 1) -> Dataset:
    """Binary columns with this share of ones."""
    drawn = np.random.default_rng(seed).random((n, n_rows)) < share
    return Dataset.from_codes(list(drawn.astype(np.uint8)), cards=[2] * n)


def walked(rng: np.random.Generator, members: Sequence[int], steps: int) -> list[VarSet]:
    """Sets of these members, each one member more or less than the one before, or one exchanged, or the same."""
    zs = [frozenset({members[0]})]
    while len(zs) < steps:
        z, outside = zs[-1], sorted(set(members) - zs[-1])
        joins = {int(v) for v in rng.choice(outside, min(1, len(outside)), replace=False)} if outside else set()
        leaves = {int(v) for v in rng.choice(sorted(z), 1)} if len(z) > 1 else set()
        zs.append([z, z | joins, z | joins, z - leaves, (z | joins) - leaves][int(rng.integers(5))])
    return zs


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("way", MADE)
@pytest.mark.parametrize(
    "n_rows", few([1, 63, 64, 65, 511, 512, 513, 16_383, 16_384, 16_385, 65_534, 65_535, 65_536], 4)
)
def test_growing_and_shrinking_with_any_number_of_rows(path: str, way: str, n_rows: int) -> None:
    """Around words of 64 rows, blocks that are sorted together, and what two bytes can number."""
    counts = on_path(path, binary(WIDE, n_rows, share=0.4, seed=n_rows))
    orders = ((1, 2, 3, 4, 5), (5, 3, 1, 4, 2), (3, 5, 4))  # joining last, first, in the middle
    zs = [frozenset(order[: k + 1]) for order in orders for k in range(len(order))]
    walk = [(0, z) for z in [*zs, *reversed(zs)]]
    expected = afresh(counts, kernels.g2(), walk, [6, 7, 8])
    assert bits(keeping(counts, way, ROOM), kernels.g2(), walk, [6, 7, 8]) == expected
    made, refined, found = _core.kept_lists(counts._store)
    assert (made, found) == (1, 1)
    assert refined == len(walk) - 2


@pytest.mark.parametrize("path", _core.levels())
@settings(max_examples=60, deadline=None)
@given(
    cards=st.lists(st.integers(2, 9), min_size=4, max_size=7),
    n_rows=st.integers(1, 1500),
    copied=st.booleans(),
    in_runs=st.booleans(),
    way=st.sampled_from(MADE),
    room=st.sampled_from([ROOM, 6_000, 1]),
    seed=st.integers(0, 2**16),
)
def test_any_walk_over_any_states(
    path: str, cards: list[int], n_rows: int, copied: bool, in_runs: bool, way: str, room: int, seed: int
) -> None:
    """Rare states, a copy that leaves most strata empty, sorted rows, two x in turn, hardly room for one list."""
    rng = np.random.default_rng(seed)
    codes = [rng.choice(card, n_rows, p=rng.dirichlet([0.5] * card)).astype(np.uint8) for card in cards]
    if copied:
        codes[1] = np.minimum(codes[0], cards[1] - 1).astype(np.uint8)
    if in_runs:
        codes[2] = np.sort(codes[2])
    others = [np.zeros(n_rows, dtype=np.uint8)] * WIDE
    counts = on_path(path, Dataset.from_codes(codes + others, cards=cards + [2] * WIDE))
    *members, x, y = (int(v) for v in rng.permutation(len(cards)))
    other = frozenset(members)
    walk = [(x, z) for z in walked(rng, members, 12)] + [(members[0], other - {members[0]} | {x})] * 2
    kernel = ROWS if seed % 2 else kernels.chi2()
    assert bits(keeping(counts, way, room), kernel, walk, [y]) == afresh(counts, kernel, walk, [y])


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("share", [0.5, 0.02, 0.98])
def test_refined_tables_are_those_of_the_twin(path: str, share: float) -> None:
    """Most rows in one set, which is not counted but must be parted; several blocks of columns."""
    data = binary(530, 900, share)
    counts, ys = keeping(on_path(path, data), "split_columns", ROOM), [0, 100, 511, 512, 529]
    for z in (frozenset({2}), frozenset({2, 4}), frozenset({2, 3, 4}), frozenset({3, 4}), frozenset({3, 4, 1})):
        answer = counts.reduce(ROWS, 5, ys, z)[0]
        for y, found in zip(ys, answer.tolist(), strict=True):
            twin = reference.strata(data, 5, y, sorted(z))
            assert found == sum(table.get((0, 0), 0) for table in twin.values())
    assert _core.kept_lists(counts._store) == (1, 4, 0)


@pytest.mark.parametrize("path", _core.levels())
def test_the_free_choice_refines(path: str) -> None:
    """A search that adds one variable after the other makes its lists once; other x in between change nothing."""
    data = binary(513, 3_000)
    counts, plain = on_path(path, data), on_path(path, data)
    _core.keep_lists(plain._store, 0)
    ys = list(range(20, 513))
    walk = [(x, frozenset(range(3, 3 + size))) for size in (3, 4, 5, 6) for x in (0, 1, 2)]
    assert bits(counts, kernels.dirichlet(), walk, ys) == bits(plain, kernels.dirichlet(), walk, ys)
    assert _core.kept_lists(counts._store) == (3, 9, 0)
    assert _core.kept_lists(plain._store) == (0, 0, 0)
    assert bits(counts, kernels.bayes(), walk[-3:], ys) == bits(plain, kernels.bayes(), walk[-3:], ys)
    assert _core.kept_lists(counts._store) == (3, 9, 3)


def test_one_x_after_the_other_goes_from_a_full_room() -> None:
    """Room for two lists of 20: the last used stay."""
    counts = keeping(Counts(binary(WIDE, 8_000), n_jobs=1), "split_columns", 2 * 22_000)
    for x in range(20):
        counts.reduce(ROWS, x, [29], frozenset({25, 26}))
    for x in (18, 19, 0):
        counts.reduce(ROWS, x, [29], frozenset({25, 26, 27}))
    assert _core.kept_lists(counts._store) == (21, 2, 0)


def test_memory_is_counted_and_bounded() -> None:
    data = binary(60, 20_000)
    counts = keeping(Counts(data, n_jobs=1), "split_columns", 0)
    counts.reduce(ROWS, 0, [59], frozenset({50, 51}))
    before = counts.nbytes
    _core.keep_lists(counts._store, 200_000)
    for x in range(40):
        counts.reduce(ROWS, x, [59], frozenset({50, 51}))
    assert 100_000 < counts.nbytes - before < 250_000  # and what is at hand for the next lists


def test_forgetting_all_lists_gives_their_memory_back() -> None:
    counts = keeping(Counts(binary(60, 20_000), n_jobs=1), "split_columns", 0)
    counts.reduce(ROWS, 0, [59], frozenset({50, 51}))
    before = counts.nbytes
    _core.keep_lists(counts._store, ROOM)
    for x in range(30):
        counts.reduce(ROWS, x, [59], frozenset({50, 51}))
        counts.reduce(ROWS, x, [59], frozenset({50, 51, 52}))  # the lists of before are at hand for the next
    assert counts.nbytes > before + 100_000
    _core.keep_lists(counts._store, 0)
    assert counts.nbytes == before


def test_room_for_parts_without_rows_is_counted() -> None:
    """A copy of a member of z joins: 729 strata stay as many, in room for 6,561."""
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 9, 16_000).astype(np.uint8) for _ in range(3)]
    codes = [*columns, columns[0], *rng.integers(0, 2, (WIDE, 16_000)).astype(np.uint8)]
    counts = keeping(Counts(Dataset.from_codes(codes, cards=[9] * 4 + [2] * WIDE), n_jobs=1), "sorted_columns", ROOM)
    counts.reduce(ROWS, 4, [9], frozenset({0, 1, 2}))
    before = counts.nbytes
    counts.reduce(ROWS, 4, [9], frozenset({0, 1, 2, 3}))
    assert _core.kept_lists(counts._store) == (1, 1, 0)
    room_for_sets = 2 * 6_561
    assert counts.nbytes - before > room_for_sets * (2 * 15 + 8 + 4 + 4) - 16_000  # ends of lists, size, begin, length


def test_lists_of_no_use_are_hardly_kept() -> None:
    """Every question about another z of the same x: after a while nobody copies lists for nothing."""
    counts = Counts(binary(600, 20_000), n_jobs=1)
    for first in range(1, 85):
        counts.reduce(ROWS, 0, range(100, 600), frozenset(range(first, first + 9, 2)))
    made, refined, found = _core.kept_lists(counts._store)
    assert 64 <= made < 70
    assert refined == found == 0


@pytest.mark.parametrize("path", _core.levels())
def test_threads_and_orders_change_nothing(path: str) -> None:
    """Many x at once in one call, and many callers at once: whoever finds no lists makes them."""
    data = binary(520, 2_000)
    one, many = on_path(path, data), on_path(path, data, n_jobs=4)
    _core.keep_lists(one._store, 0)
    rng = np.random.default_rng(2)
    xs = [int(x) for x in rng.integers(0, 4, 80)]
    zs = [frozenset(range(10, 12 + int(size))) for size in rng.integers(0, 5, 80)]
    yss = [list(range(20, 520))] * 80
    expected = [found.tobytes() for found in one.reduce_many(kernels.g2(), xs, yss, zs)]
    assert [found.tobytes() for found in many.reduce_many(kernels.g2(), xs, yss, zs)] == expected
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda k: one_of(many, xs[k], yss[k], zs[k]), range(80)))
    assert answers == expected


def one_of(counts: Counts, x: int, ys: list[int], z: VarSet) -> bytes:
    """One scan."""
    return counts.reduce(kernels.g2(), x, ys, z).tobytes()
