"""Many questions at once, and every member of a blanket from one table: the bits of asking one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.protocols import Kernel, VarSet
from mnlearn.statistics import Counts, kernels
from profiles import few

from references import counts as reference

KERNELS: dict[str, Kernel] = {
    "chi2": kernels.chi2(),
    "chi2-all": kernels.chi2("all"),
    "g2": kernels.g2("observed"),
    "mi": kernels.mi(),
    "bayes": kernels.bayes(),
    "bayes-skewed": kernels.bayes(alpha=0.5, beta=2.0, gamma=0.7, prior=0.9),
    "dirichlet": kernels.dirichlet(),
    "dirichlet-size": kernels.dirichlet(sample_size=10.0),
    "entropy": kernels.entropy(),
}


def one_by_one(counts: Counts, kernel: Kernel, x: int, z: VarSet) -> np.ndarray[Any, Any]:
    """The slow twin of `members`: a scan of one for each."""
    columns = [counts.reduce(kernel, x, (y,), z - {y}) for y in sorted(z)]
    return np.hstack([np.empty((len(kernel.outputs), 0)), *columns])


def without_one_by_one(counts: Counts, kernel: Kernel, x: int, z: VarSet) -> np.ndarray[Any, Any]:
    """The slow twin of `without`."""
    columns = [counts.local(kernel, x, z - {y})[:, None] for y in sorted(z)]
    return np.hstack([np.empty((len(kernel.outputs), 0)), *columns])


def assert_same(counts: Counts, kernel: Kernel, xs: Sequence[int], zs: Sequence[VarSet]) -> None:
    for got, x, z in zip(counts.members(kernel, xs, zs), xs, zs, strict=True):
        assert got.shape == (len(kernel.outputs), len(z))
        assert got.tobytes() == one_by_one(counts, kernel, x, z).tobytes()
    for got, x, z in zip(counts.without(kernel, xs, zs), xs, zs, strict=True):
        assert got.shape == (len(kernel.outputs), len(z))
        assert got.tobytes() == without_one_by_one(counts, kernel, x, z).tobytes()


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Binary ones, and ones of every cardinality; few rows and many; repeats or none."""
    largest = draw(st.sampled_from([2, 2, 3, 12, 300]))
    cards = draw(st.lists(st.integers(1 if largest > 2 else 2, largest), min_size=2, max_size=9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.sampled_from([1, 2, 7, 64, 65, 300, 1000]))
    dependence = draw(st.sampled_from([0.0, 0.5, 0.95]))
    return reference.random_dataset(rng, n_rows=n_rows, cards=cards, repeats=draw(st.booleans()), dependence=dependence)


@given(data=datasets(), draw=st.data())
@settings(max_examples=80, deadline=None)
def test_members_and_without_give_the_bits_of_asking_one_by_one(data: Dataset, draw: st.DataObject) -> None:
    counts = Counts(data, n_jobs=draw.draw(st.sampled_from([1, 3])))
    orders = [draw.draw(st.permutations(range(data.n_variables))) for _ in range(3)]
    zs = [frozenset(order[1 : 1 + draw.draw(st.integers(0, len(order) - 1))]) for order in orders]
    for kernel in KERNELS.values():
        assert_same(counts, kernel, [order[0] for order in orders], zs)


@given(data=datasets(), draw=st.data())
@settings(max_examples=40, deadline=None)
def test_members_equal_the_literal_formulas(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, z = order[0], frozenset(order[1:4])
    (entropies,) = Counts(data).without(kernels.entropy(), [x], [z])
    (statistics,) = Counts(data).members(kernels.g2(), [x], [z])
    for k, y in enumerate(sorted(z)):
        rest = sorted(z - {y})
        slow = reference.entropy(reference.strata(data, x, None, rest))
        np.testing.assert_allclose(entropies[0, k], float(slow), rtol=1e-9, atol=1e-12)
        table = reference.strata(data, x, y, rest)
        np.testing.assert_allclose(statistics[0, k], float(reference.g2(table)), rtol=1e-9, atol=1e-10 * data.n_rows)
        assert statistics[1, k] == reference.degrees(table, data.cards[x], data.cards[y], 1, "adjusted")


@given(data=datasets(), draw=st.data())
@settings(max_examples=60, deadline=None)
def test_many_scans_give_the_bits_of_each(data: Dataset, draw: st.DataObject) -> None:
    counts = Counts(data, n_jobs=draw.draw(st.sampled_from([1, 2, 8])))
    n, xs, yss, zs = data.n_variables, list[int](), list[list[int]](), list[VarSet]()
    for _ in range(draw.draw(st.integers(0, 9))):
        order = draw.draw(st.permutations(range(n)))
        cut = draw.draw(st.integers(1, n))
        xs.append(order[0])
        zs.append(frozenset(order[1:cut]))
        yss.append(order[cut : cut + draw.draw(st.integers(0, n))])
    for kernel in KERNELS.values():
        answers = counts.reduce_many(kernel, xs, yss, zs)
        assert len(answers) == len(xs)
        for got, x, ys, z in zip(answers, xs, yss, zs, strict=True):
            want = counts.reduce(kernel, x, ys, z)
            assert got.shape == want.shape
            assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("name", few(KERNELS, 3))
def test_every_code_path_and_thread_count_gives_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    cards = [2, 2, 3, 2, 9, 2, 2, 10, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    data = reference.random_dataset(rng, n_rows=9_001, cards=cards, dependence=0.7)  # more than one block of rows
    xs = [0, 1, 2, 3, 4, 5, 6, 8, 0, 19]
    zs = [
        *map(frozenset, ([1], [0, 2], [0, 1, 3], [0, 1, 2, 5], [0, 1], [0, 4, 6], [7, 8], [0, 4, 9])),
        frozenset(range(9, 20)),
        frozenset(range(19)),
    ]
    yss = [[y for y in range(20) if y != x and y not in z] for x, z in zip(xs, zs, strict=True)]

    def answers(path: str, n_jobs: int) -> list[bytes]:
        monkeypatch.setenv("MNLEARN_CORE", path)
        counts, kernel = Counts(data, n_jobs=n_jobs), KERNELS[name]
        assert counts.code_path == path
        given = (counts.members(kernel, xs, zs), counts.without(kernel, xs, zs))
        return [a.tobytes() for form in (*given, counts.reduce_many(kernel, xs, yss, zs)) for a in form]

    first = answers("portable", 1)
    assert_same(Counts(data), KERNELS[name], xs, zs)
    for path in _core.levels():
        for n_jobs in (1, 2, 8):
            assert answers(path, n_jobs) == first


def test_sixty_members() -> None:
    data = reference.random_dataset(np.random.default_rng(2), n_rows=400, cards=[2] * 62, dependence=0.9)
    for name in ("chi2", "bayes", "dirichlet-size", "entropy"):
        assert_same(Counts(data), KERNELS[name], [0, 61], [frozenset(range(1, 61)), frozenset({3})])


def test_sixty_five_thousand_states() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 65_535, 3000)
    columns = [x, (x * 7) % 65_535, rng.integers(0, 65_535, 3000), x % 2, x % 300]
    data = Dataset.from_codes(columns, cards=[65_535] * 3 + [2, 300])
    for kernel in (kernels.g2(), kernels.bayes(), kernels.dirichlet()):
        assert_same(Counts(data), kernel, [0, 3], [frozenset({1, 2, 3, 4}), frozenset({0, 1, 2})])


def test_counts_beyond_thirty_two_bits() -> None:
    big = 5_000_000_000
    data = Dataset.from_codes(
        [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]], repeats=[big, 2 * big, 3 * big, big]
    )
    for kernel in KERNELS.values():
        assert_same(Counts(data), kernel, [0], [frozenset({1, 2, 3})])


@given(data=datasets(), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_row_order_and_repeats_change_no_bit(data: Dataset, seed: int) -> None:
    rows = np.arange(data.n_records)
    if data.repeats is not None:
        rows = np.repeat(rows, data.repeats)
    rows = np.random.default_rng(seed).permutation(rows)
    spelled_out = Counts(Dataset.from_codes([np.asarray(c)[rows] for c in data.columns], cards=data.cards))
    z = frozenset(range(1, data.n_variables))
    for kernel in KERNELS.values():
        for ask in ("members", "without"):
            (a,), (b,) = (getattr(counts, ask)(kernel, [0], [z]) for counts in (Counts(data), spelled_out))
            assert a.tobytes() == b.tobytes()


def test_questions_come_in_any_form_of_sequence() -> None:
    data = reference.random_dataset(np.random.default_rng(4), n_rows=50, cards=[2, 3, 2, 4])
    counts, kernel = Counts(data), kernels.chi2()
    want = counts.reduce(kernel, 0, [2, 3], frozenset({1})).tobytes()
    for ys in (
        (2, 3),
        range(2, 4),
        np.array([2, 3]),
        np.array([2, 3], dtype=np.int32),
        np.array([2, 3], dtype=np.uint8),
    ):
        assert counts.reduce(kernel, np.int64(0), ys, frozenset({np.int32(1)})).tobytes() == want  # type: ignore[arg-type]
        assert counts.reduce_many(kernel, np.array([0]), (ys,), ({1},))[0].tobytes() == want  # type: ignore[arg-type]
    assert counts.reduce_many(kernel, [], [], []) == counts.members(kernel, [], []) == []
    assert counts.members(kernel, [0], [frozenset()])[0].shape == (2, 0)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda c: c.members(kernels.chi2(), [0, 1], [frozenset({1})]), "must have the same length.*got 2 and 1"),
        (lambda c: c.reduce_many(kernels.chi2(), [0], [[1], [2]], [frozenset()]), "same length.*got 1, 2 and 1"),
        (lambda c: c.members(kernels.chi2(), [1], [frozenset({1})]), r"z must not contain x; got x=1, z=\{1\}"),
        (
            lambda c: c.without(kernels.chi2(), [5], [frozenset({1})]),
            "x must be the index of a variable, 0 to 2; got 5",
        ),
        (lambda c: c.without(kernels.chi2(), [0], [frozenset({7})]), "every member of z must be the index"),
        (lambda c: c.reduce_many(kernels.chi2(), [0], [[1]], [frozenset({1})]), "z must not contain y"),
        (lambda c: c.reduce_many(kernels.chi2(), [0], [[0.5]], [frozenset()]), "ys must be a sequence of variable ind"),
        (lambda c: c.members(kernels.chi2(), 0, frozenset({1})), "xs, yss and zs must be sequences"),
        (lambda c: c.members(kernels.chi2(), [0], [frozenset({"b"})]), "x must be the index of a variable and z a set"),
        (lambda c: c.members(Kernel("nope", ("a",)), [0], [frozenset()]), "kernel must be one of: chi2"),
    ],
)
def test_bad_questions_are_refused_by_name(ask: Callable[[Counts], object], message: str) -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0], [0, 0]]))
    with pytest.raises(InputError, match=message):
        ask(counts)


@given(data=datasets(), draw=st.data())
@settings(max_examples=25, deadline=None)
def test_what_was_asked_before_changes_no_bit(data: Dataset, draw: st.DataObject) -> None:
    """Numberings of z are kept: the same questions in any order, again and again, get what a fresh store says."""
    kept, n = Counts(data, n_jobs=1), data.n_variables
    for _ in range(12):
        order = draw.draw(st.permutations(range(n)))
        x, z, ys = order[0], frozenset(order[2:]), order[1:2]
        for _ in range(2):
            assert (
                kept.reduce(kernels.g2(), x, ys, z).tobytes() == Counts(data).reduce(kernels.g2(), x, ys, z).tobytes()
            )


def test_kept_numberings_stay_within_their_bounds() -> None:
    n, n_rows = 40, 70_000
    data = reference.random_dataset(np.random.default_rng(5), n_rows=n_rows, cards=[2] * n, dependence=0.1)
    counts = Counts(data, n_jobs=1)
    for x in range(12):
        counts.reduce(kernels.chi2(), x, [39], frozenset(range(x + 1, x + 19)))
    planes_and_rows = n * n_rows / 8 + 64 * n_rows
    assert counts.nbytes <= planes_and_rows * 1.02 + max(2**20, n * n_rows / 4)


def test_many_scans_of_every_size_of_z(monkeypatch: pytest.MonkeyPatch) -> None:
    """From no z to eighteen, few y and many: every way of counting a few y, on every code path."""
    data = reference.random_dataset(np.random.default_rng(6), n_rows=5_000, cards=[2, 3] + [2] * 40, dependence=0.6)
    xs = [0, 1, 2] * 13
    zs = [frozenset(range(3, 3 + size)) for size in range(13) for _ in range(3)]
    for n_ys in (1, 3, 5, 20):
        yss = [list(range(42 - n_ys, 42))] * len(xs)
        answers = set()
        for path in _core.levels():
            monkeypatch.setenv("MNLEARN_CORE", path)
            many = Counts(data, n_jobs=1).reduce_many(kernels.bayes(), xs, yss, zs)
            answers.add(b"".join(a.tobytes() for a in many))
        assert len(answers) == 1
        singles = [
            Counts(data).reduce(kernels.bayes(), x, [y], z)
            for x, ys, z in list(zip(xs, yss, zs, strict=True))[::5]
            for y in ys[:2]
        ]
        picked = [many[k][:, :1] if n_ys == 1 else many[k][:, :2] for k in range(0, len(xs), 5)]
        assert b"".join(a.tobytes() for a in singles) == b"".join(a.T.tobytes() for a in picked)
