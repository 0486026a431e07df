"""`Counts` of data with gaps against the slow twin, which drops the incomplete rows of each question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import UnsuitableError
from mnlearn.protocols import Kernel, VarSet
from mnlearn.statistics import Counts, kernels, score_tables

from references import counts as reference
from references.gaps import complete_rows, question, with_gaps

PATHS = ("avx512", "avx2", "neon", "portable")
KERNELS: dict[str, Kernel] = {
    "chi2": kernels.chi2(),
    "chi2-observed": kernels.chi2("observed"),
    "g2-all": kernels.g2("all"),
    "mi": kernels.mi(),
    "bayes": kernels.bayes(),
    "bayes-skewed": kernels.bayes(alpha=0.5, beta=2.0, gamma=0.7, prior=0.9),
    "bayes-dependent": kernels.bayes_dependent(),
    "dirichlet": kernels.dirichlet(),
    "dirichlet-size": kernels.dirichlet(sample_size=10.0),
    "entropy": kernels.entropy(),
}


@st.composite
def incomplete(draw: st.DrawFn, max_card: int = 12, max_rows: int = 200) -> Dataset:
    """Small data sets of every shape with gaps in some columns, few or many."""
    cards = draw(st.lists(st.integers(1, max_card), min_size=3, max_size=7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    data = reference.random_dataset(
        rng, n_rows=draw(st.integers(1, max_rows)), cards=cards, repeats=draw(st.booleans())
    )
    only = draw(st.sets(st.integers(0, len(cards) - 1), min_size=1))
    return with_gaps(data, draw(st.sampled_from([0.0, 0.05, 0.3, 0.9])), draw(st.integers(0, 99)), only=only)


def by_twin(kernel: Kernel, data: Dataset, x: int, y: int, z: VarSet) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Score the complete rows alone; without any, what nothing tells."""
    rows, x_, y_, z_ = question(data, x, y, z)
    if rows is None:
        rule = {0.0: 0.0, 1.0: 0.0, 2.0: 1.0}
        free = (data.cards[x] - 1) * (data.cards[y] - 1) * np.prod([float(data.cards[v]) for v in z])
        nothing = {"bayes": np.minimum(np.array(kernel.settings[-1:]) + 2e-9, 0.0), "bayes_dependent": [np.log(0.5)]}
        if kernel.name in ("chi2", "g2", "mi"):
            return np.array([0.0, free * rule[kernel.settings[0]]])
        return np.array(nothing.get(kernel.name, [0.0]), dtype=np.float64)
    return np.asarray(Counts(rows, n_jobs=1).reduce(kernel, x_, [y_], z_)[:, 0])


@pytest.mark.parametrize("name", KERNELS)
@given(data=incomplete(), draw=st.data())
@settings(max_examples=40, deadline=None)
def test_reduce_scores_the_complete_rows_of_each_y(name: str, data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, z = order[0], frozenset(order[3 : 3 + draw.draw(st.integers(0, 4))])
    ys = [v for v in order[1:] if v not in z]
    got = Counts(data).reduce(KERNELS[name], x, ys, z)
    for k, y in enumerate(ys):
        np.testing.assert_array_equal(got[:, k], by_twin(KERNELS[name], data, x, y, z))


@given(incomplete(), st.data())
@settings(max_examples=80, deadline=None)
def test_tables_are_those_of_the_complete_rows(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, y, z = order[0], order[1], frozenset(order[2 : 2 + draw.draw(st.integers(0, 4))])
    counts = Counts(data)
    found = counts.tables(x, [y], z)
    rows, x_, y_, z_ = question(data, x, y, z)
    if rows is None:
        assert not len(found.strata)
        assert not found.counts[0].size
        return
    want = Counts(rows).tables(x_, [y_], z_)
    np.testing.assert_array_equal(found.strata, want.strata)
    np.testing.assert_array_equal(found.counts[0], want.counts[0])
    several = counts.tables(x, [v for v in order[1:] if v not in z], z)
    for kernel in KERNELS.values():
        scored = score_tables(kernel, several, data.cards)
        np.testing.assert_array_equal(scored, counts.reduce(kernel, x, several.ys, z))


@given(incomplete(), st.data())
@settings(max_examples=40, deadline=None)
def test_every_form_of_a_question_has_the_same_bits(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, z = order[0], frozenset(order[1 : 1 + draw.draw(st.integers(1, 4))])
    counts, kernel = Counts(data), draw.draw(st.sampled_from(list(KERNELS.values())))
    members = counts.members(kernel, [x], [z])[0]
    without = counts.without(kernel, [x], [z])[0]
    for k, y in enumerate(sorted(z)):
        np.testing.assert_array_equal(members[:, k], counts.reduce(kernel, x, [y], z - {y})[:, 0])
        np.testing.assert_array_equal(without[:, k], counts.local(kernel, x, z - {y}))
    variables = sorted({x, *z})
    rows = complete_rows(data, variables)
    if rows is not None:
        given_z = frozenset(variables.index(v) for v in z)
        np.testing.assert_array_equal(
            counts.local(kernel, x, z), Counts(rows).local(kernel, variables.index(x), given_z)
        )
        states, sizes = counts.cells(x, z)
        assert states.shape[0] == len(z) + 1
        assert sizes.sum() == rows.n_rows
    everything = counts.reduce_all(kernel)
    pairs = [
        counts.reduce(kernel, u, [v], frozenset())[:, 0] for u in range(len(order)) for v in range(u + 1, len(order))
    ]
    np.testing.assert_array_equal(everything, np.array(pairs).T.reshape(everything.shape))
    first, second = counts.reduce_many(kernel, [x, x], [[min(z)], [max(z)]], [frozenset()] * 2)
    np.testing.assert_array_equal(first, counts.reduce(kernel, x, [min(z)], frozenset()))
    np.testing.assert_array_equal(second, counts.reduce(kernel, x, [max(z)], frozenset()))


@pytest.mark.parametrize("cards", [(300, 280, 3, 2), (2, 2, 40, 30)])
def test_tables_with_far_more_cells_than_rows(cards: tuple[int, ...]) -> None:
    data = with_gaps(reference.random_dataset(np.random.default_rng(5), n_rows=300, cards=cards), 0.2)
    for kernel in KERNELS.values():
        for z in (frozenset[int](), frozenset({2}), frozenset({2, 3})):
            np.testing.assert_array_equal(Counts(data).reduce(kernel, 0, [1], z)[:, 0], by_twin(kernel, data, 0, 1, z))


@pytest.fixture(scope="module")
def table() -> Dataset:
    rng = np.random.default_rng(11)
    data = reference.random_dataset(rng, n_rows=5000, cards=(2, 3, 2, 4, 2, 2, 5, 2, 12, 1))
    return with_gaps(data, 0.1, only=[0, 1, 3, 4, 6, 8, 9])


QUESTIONS: list[tuple[int, VarSet]] = [
    (0, frozenset()),
    (0, frozenset({1})),
    (2, frozenset({5, 7})),
    (2, frozenset({3, 4, 5})),
    (8, frozenset({0, 6})),
]


def answers(counts: Counts, kernel: Kernel) -> bytes:
    n = counts.n_variables
    found = [counts.reduce(kernel, x, [y for y in range(n) if y not in {x, *z}], z) for x, z in QUESTIONS]
    return b"".join(one.tobytes() for one in (*found, counts.reduce_all(kernel)))


@pytest.mark.parametrize("name", KERNELS)
def test_threads_paths_and_memory_do_not_matter(name: str, table: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    want = answers(Counts(table, n_jobs=1), KERNELS[name])
    assert answers(Counts(table, n_jobs=3), KERNELS[name]) == want
    assert answers(Counts(table, max_memory=1 << 20), KERNELS[name]) == want
    assert answers(Counts(table.compact()), KERNELS[name]) == want
    for path in PATHS:
        monkeypatch.setenv("MNLEARN_CORE", path)
        try:
            counts = Counts(table, n_jobs=1)
        except ValueError:
            continue
        assert answers(counts, KERNELS[name]) == want


def test_questions_without_gaps_are_those_of_complete_data(table: Dataset) -> None:
    complete = complete_rows(table, [2, 5, 7])
    assert complete is not None
    for kernel in KERNELS.values():
        got = Counts(table).reduce(kernel, 2, [5], frozenset({7}))
        np.testing.assert_array_equal(got, Counts(complete).reduce(kernel, 0, [1], frozenset({2})))


def test_a_column_that_could_have_gaps_and_has_none_changes_nothing() -> None:
    data = reference.random_dataset(np.random.default_rng(3), n_rows=400, cards=(2, 3, 4, 2, 2))
    for kernel in KERNELS.values():
        got, want = (Counts(d).reduce(kernel, 0, [1, 2], frozenset({3, 4})) for d in (with_gaps(data, 0.0), data))
        np.testing.assert_array_equal(got, want)


def test_searches_give_the_answers_of_scans(table: Dataset) -> None:
    counts, kernel = Counts(table), kernels.chi2()
    assert not counts.grow(kernel, -3.0, 0, [1, 2], frozenset()).independent
    assert not counts.shrink(kernel, -3.0, 0, [1, 2], frozenset({1, 2})).independent


def test_evidence_refuses_gaps(table: Dataset) -> None:
    with pytest.raises(UnsuitableError, match="needs complete data; 'x0' has missing values"):
        Counts(table).evidence()


def test_a_question_without_rows_is_counted_and_tells_nothing() -> None:
    data = Dataset.from_codes([[0, 1, 2, 2], [2, 2, 0, 1], [0, 1, 0, 1]], cards=[3, 3, 2])
    columns = (np.array([0, 1, 2, 2], np.uint8), np.array([2, 2, 0, 1], np.uint8), np.array([0, 1, 0, 1], np.uint8))
    data = Dataset(data.names, (2, 2, 2), columns, ((0, 1),) * 3, gaps=frozenset({"x0", "x1"}))
    counts = Counts(data)
    assert counts.question_rows(0, [1, 2], frozenset()).tolist() == [0, 2]
    assert counts.reduce(kernels.chi2(), 0, [1], frozenset({2})).tolist() == [[0.0], [0.0]]
    assert counts.reduce(kernels.bayes(), 0, [1], frozenset())[0, 0] == pytest.approx(np.log(0.5), abs=1e-8)
    assert counts.without_rows == 2


WAYS = ["split_planes", "split_columns", "sorted_columns", "keys", "planes", "columns", "alone"]


@pytest.mark.parametrize("way", WAYS)
def test_ways_of_counting_do_not_matter(way: str, table: Dataset) -> None:
    want = answers(Counts(table, n_jobs=1), KERNELS["bayes"])
    counts = Counts(table, n_jobs=1)
    _core.force(counts._store, way)
    assert answers(counts, KERNELS["bayes"]) == want


@pytest.mark.parametrize("name", KERNELS)
def test_few_distinct_rows_are_counted_with_repeats(name: str) -> None:
    data = with_gaps(reference.random_dataset(np.random.default_rng(6), n_rows=9000, cards=(2, 2, 2, 2)), 0.05)
    counts = Counts(data, n_jobs=1)
    for z in (frozenset({2}), frozenset({2, 3})):
        np.testing.assert_array_equal(
            counts.reduce(KERNELS[name], 0, [1], z)[:, 0], by_twin(KERNELS[name], data, 0, 1, z)
        )
    forced = Counts(data, n_jobs=1)
    _core.force(forced._store, "distinct")
    got = forced.reduce(KERNELS[name], 0, [1], frozenset({2}))
    np.testing.assert_array_equal(got, counts.reduce(KERNELS[name], 0, [1], frozenset({2})))


def test_labels_and_the_order_of_columns_do_not_matter(table: Dataset) -> None:
    chosen = table.select([3, 0, 1, 6])
    codes = chosen.columns[0].astype(np.int64)
    relabelled = np.where(codes < 4, 3 - codes, 4).astype(np.uint8)
    turned = chosen._with(columns=(relabelled, *chosen.columns[1:]))
    for kernel in KERNELS.values():
        want = Counts(table).reduce(kernel, 0, [3], frozenset({1, 6}))
        np.testing.assert_allclose(Counts(chosen).reduce(kernel, 1, [0], frozenset({2, 3})), want, rtol=1e-12)
        np.testing.assert_allclose(Counts(turned).reduce(kernel, 1, [0], frozenset({2, 3})), want, rtol=1e-12)
