"""`Counts` against its slow twin, and the invariances it promises."""

from __future__ import annotations

import array
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, add_tables, kernels, score_tables
from profiles import few

from references import counts as reference

PATHS = ("avx512", "avx2", "neon", "portable")
KERNELS: dict[str, Kernel] = {
    "chi2": kernels.chi2(),
    "g2": kernels.g2(),
    "mi": kernels.mi(),
    "bayes": kernels.bayes(),
    "bayes-skewed": kernels.bayes(alpha=0.5, beta=2.0, gamma=0.7, prior=0.9),
    "dirichlet": kernels.dirichlet(),
    "dirichlet-size": kernels.dirichlet(sample_size=10.0),
    "entropy": kernels.entropy(),
}


@st.composite
def datasets(draw: st.DrawFn, max_card: int = 12, max_rows: int = 200) -> Dataset:
    """Small data sets of every shape: one state, unseen states, repeats, more cells than rows."""
    cards = draw(st.lists(st.integers(1, max_card), min_size=3, max_size=7))
    n_rows = draw(st.integers(1, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return reference.random_dataset(rng, n_rows=n_rows, cards=cards, repeats=draw(st.booleans()))


def expected(kernel: Kernel, data: Dataset, x: int, y: int | None, z: Sequence[int]) -> list[Any]:
    """The outputs of a kernel by the slow twin."""
    tables = reference.strata(data, x, y, z)
    rx, ry = data.cards[x], 1 if y is None else data.cards[y]
    all_z = reference.n_configurations(data, z)
    rule = {0.0: "adjusted", 1.0: "observed", 2.0: "all"}
    if kernel.name in ("chi2", "g2", "mi"):
        dof = reference.degrees(tables, rx, ry, all_z, rule[kernel.settings[0]])
        value = reference.chi2(tables) if kernel.name == "chi2" else reference.g2(tables)
        return [value / (2 * data.n_rows) if kernel.name == "mi" else value, dof]
    if kernel.name == "bayes":
        a, b, g, log_prior = kernel.settings
        return [reference.bayes(tables, rx, ry, all_z, (a, b, g), float(np.exp(log_prior)))[0]]
    if kernel.name == "dirichlet":
        size, is_size = kernel.settings
        return [reference.dirichlet(tables, rx, size / (rx * ry * all_z) if is_size else size)]
    return [reference.entropy(tables)]


def assert_close(got: np.ndarray[Any, Any], want: Sequence[Any], n_rows: int) -> None:
    """Relative 1e-9, or the rounding that sums of N log N cannot avoid."""
    np.testing.assert_allclose(got, [float(w) for w in want], rtol=1e-9, atol=1e-13 * (10 + n_rows))


@given(datasets(), st.data())
@settings(max_examples=150, deadline=None)
def test_tables_equal_the_slow_count(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, ys, z = order[0], order[1:3], frozenset(order[3 : 3 + draw.draw(st.integers(0, 4))])
    tables = Counts(data).tables(x, ys, z)
    for y, counts in zip(ys, tables.counts, strict=True):
        slow = reference.strata(data, x, y, sorted(z))
        assert [tuple(row) for row in tables.strata.tolist()] == list(slow)
        for s, table in enumerate(slow.values()):
            want = np.zeros((data.cards[x], data.cards[y]), dtype=np.int64)
            for cell, count in table.items():
                want[cell] = count
            np.testing.assert_array_equal(counts[s], want)
        assert counts.sum() == data.n_rows


@pytest.mark.parametrize("name", KERNELS)
@given(data=datasets(), draw=st.data())
@settings(max_examples=60, deadline=None)
def test_reduce_equals_the_slow_twin(name: str, data: Dataset, draw: st.DataObject) -> None:
    kernel = KERNELS[name]
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, z = order[0], frozenset(order[3 : 3 + draw.draw(st.integers(0, 4))])
    ys = [v for v in order[1:] if v not in z]
    got = Counts(data).reduce(kernel, x, ys, z)
    assert got.shape == (len(kernel.outputs), len(ys))
    for k, y in enumerate(ys):
        assert_close(got[:, k], expected(kernel, data, x, y, sorted(z)), data.n_rows)


@pytest.mark.parametrize("name", few(KERNELS, 2))
@pytest.mark.parametrize("cards", few([(256, 257, 2, 2), (300, 280, 2, 3), (2, 300, 60, 5), (1, 300, 2, 2)], 1))
def test_many_states(name: str, cards: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    for n_rows in (1, 40, 1500):
        data = reference.random_dataset(rng, n_rows=n_rows, cards=cards)
        for z in ([], [2], [2, 3]):
            got = Counts(data).reduce(KERNELS[name], 0, [1], frozenset(z))
            assert_close(got[:, 0], expected(KERNELS[name], data, 0, 1, z), n_rows)


@pytest.mark.parametrize("rule", ["adjusted", "observed", "all"])
@given(data=datasets(max_card=4))
@settings(max_examples=40, deadline=None)
def test_degrees_of_freedom_by_each_rule(rule: Any, data: Dataset) -> None:
    kernel = kernels.chi2(rule)
    got = Counts(data).reduce(kernel, 0, [1], frozenset([2]))
    assert_close(got[:, 0], expected(kernel, data, 0, 1, [2]), data.n_rows)


@given(datasets(max_card=4))
@settings(max_examples=40, deadline=None)
def test_local_is_the_scan_of_a_constant(data: Dataset) -> None:
    for kernel in KERNELS.values():
        z = [1, 2]
        assert_close(Counts(data).local(kernel, 0, frozenset(z)), expected(kernel, data, 0, None, z), data.n_rows)


def wide(rng: np.random.Generator, n: int, n_rows: int, cards: Sequence[int] = (2, 2, 2, 3, 5, 9, 2, 4, 10)) -> Dataset:
    """Enough variables for every way of counting: planes in several blocks, and variables without planes."""
    return reference.random_dataset(rng, n_rows=n_rows, cards=[cards[j % len(cards)] for j in range(n)])


@pytest.mark.parametrize("name", few(KERNELS, 4))
@pytest.mark.parametrize(("n", "n_rows"), few([(700, 257), (40, 70), (90, 5000)], 1))
def test_every_code_path_and_thread_count_gives_the_same_bits(
    name: str, n: int, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wide(np.random.default_rng(n), n, n_rows)
    questions: list[tuple[int, frozenset[int]]] = [(0, frozenset()), (3, frozenset({1, 2})), (9, frozenset(range(9)))]

    def answers(path: str, n_jobs: int) -> list[bytes]:
        monkeypatch.setenv("MNLEARN_CORE", path)
        counts = Counts(data, n_jobs=n_jobs)
        assert counts.code_path == path
        scans = [
            counts.reduce(KERNELS[name], x, [y for y in range(n) if y != x and y not in z], z) for x, z in questions
        ]
        return [a.tobytes() for a in (*scans, counts.reduce_all(KERNELS[name]))]

    first = answers("portable", 1)
    for path in _core.levels():
        for n_jobs in (1, 2, 8):
            assert answers(path, n_jobs) == first


def test_the_code_paths_are_the_known_ones() -> None:
    assert set(_core.levels()) <= set(PATHS)
    assert ("neon" in _core.levels()) == (platform.machine() in ("aarch64", "arm64"))
    assert _core.levels()[-1] == "portable"


def test_the_ways_of_counting_agree_to_the_bit() -> None:
    """Asked alone a pair is counted row by row, asked with many by planes or columns: same bits."""
    data = wide(np.random.default_rng(3), 300, 900)
    counts = Counts(data)
    for z in (frozenset[int](), frozenset({10, 20}), frozenset({11, 12, 13, 14})):
        ys = [y for y in range(1, 300) if y not in z]
        for kernel in KERNELS.values():
            together = counts.reduce(kernel, 0, ys, z)
            alone = np.concatenate([counts.reduce(kernel, 0, [y], z) for y in ys], axis=1)
            assert together.tobytes() == alone.tobytes()
            tables = counts.tables(0, ys, z)
            assert score_tables(kernel, tables, data.cards).tobytes() == together.tobytes()


def test_all_pairs_equal_single_scans() -> None:
    data = wide(np.random.default_rng(4), 60, 300)
    counts = Counts(data)
    for kernel in KERNELS.values():
        scans = [counts.reduce(kernel, x, range(x + 1, 60), frozenset()) for x in range(59)]
        assert counts.reduce_all(kernel).tobytes() == np.concatenate(scans, axis=1).tobytes()


@given(datasets(max_card=5), st.integers(1, 7), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_tables_of_shards_add_up_to_the_whole(data: Dataset, n_shards: int, seed: int) -> None:
    shard = np.random.default_rng(seed).integers(0, n_shards, data.n_records)
    z = frozenset(range(2, data.n_variables))
    parts = [
        Counts(
            Dataset.from_codes(
                [np.asarray(c)[shard == k] for c in data.columns],
                cards=data.cards,
                repeats=None if data.repeats is None else data.repeats[shard == k],
            )
        ).tables(0, [1], z)
        for k in range(n_shards)
        if (shard == k).any()
    ]
    whole, total = Counts(data).tables(0, [1], z), add_tables(parts)
    np.testing.assert_array_equal(total.strata, whole.strata)
    np.testing.assert_array_equal(total.counts[0], whole.counts[0])
    kernel = kernels.bayes()
    summed, at_once = score_tables(kernel, total, data.cards), Counts(data).reduce(kernel, 0, [1], z)
    assert summed.tobytes() == at_once.tobytes()


@given(datasets(max_card=5), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_row_order_and_repeats_change_no_bit(data: Dataset, seed: int) -> None:
    z = frozenset([2])
    rows = np.arange(data.n_records)
    if data.repeats is not None:
        rows = np.repeat(rows, data.repeats)
    rows = np.random.default_rng(seed).permutation(rows)
    spelled_out = Dataset.from_codes([np.asarray(c)[rows] for c in data.columns], cards=data.cards)
    for kernel in KERNELS.values():
        a, b = Counts(data).reduce(kernel, 0, [1], z), Counts(spelled_out).reduce(kernel, 0, [1], z)
        assert a.tobytes() == b.tobytes()


@given(datasets(max_card=5), st.data())
@settings(max_examples=40, deadline=None)
def test_column_order_and_state_labels_change_nothing_but_rounding(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    columns = []
    for v in order:
        labels = np.array(draw.draw(st.permutations(range(data.cards[v]))))
        columns.append(labels[np.asarray(data.columns[v])])
    moved = Dataset.from_codes(columns, cards=[data.cards[v] for v in order], repeats=data.repeats)
    place = {v: k for k, v in enumerate(order)}
    for kernel in KERNELS.values():
        a = Counts(data).reduce(kernel, 0, [1], frozenset([2]))
        b = Counts(moved).reduce(kernel, place[0], [place[1]], frozenset([place[2]]))
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_sixty_binary_conditions_cost_no_more_than_the_rows() -> None:
    rng = np.random.default_rng(5)
    data = reference.random_dataset(rng, n_rows=300, cards=[2] * 62, dependence=0.9)
    z = frozenset(range(2, 62))  # 2^60 configurations
    counts = Counts(data)
    for kernel in KERNELS.values():
        assert_close(counts.reduce(kernel, 0, [1], z)[:, 0], expected(kernel, data, 0, 1, sorted(z)), 300)
    assert len(counts.tables(0, [1], z).strata) <= 300


def test_conditions_beyond_the_range_of_doubles() -> None:
    """2^2000 configurations: the prior per configuration underflows, the posterior does not."""
    rng = np.random.default_rng(6)
    data = reference.random_dataset(rng, n_rows=50, cards=[2] * 2002, dependence=0.99)
    z = frozenset(range(2, 2002))
    for name in ("chi2", "bayes", "dirichlet", "dirichlet-size", "entropy"):
        assert np.isfinite(Counts(data).reduce(KERNELS[name], 0, [1], z)).all()
    assert Counts(data).reduce(kernels.chi2("all"), 0, [1], z)[1, 0] == np.inf


def test_sixty_five_thousand_states() -> None:
    rng = np.random.default_rng(8)
    x = rng.integers(0, 65_535, 4000)
    data = Dataset.from_codes([x, (x * 7) % 65_535, rng.integers(0, 65_535, 4000), x % 2], cards=[65_535] * 3 + [2])
    counts = Counts(data)
    information, dof = counts.reduce(kernels.mi(), 0, [1, 2], frozenset())
    occurring, times = np.unique(x, return_counts=True)
    np.testing.assert_allclose(information[0], -(times / 4000 * np.log(times / 4000)).sum(), rtol=1e-12)
    assert dof[0] == (len(occurring) - 1) ** 2
    for z in ([], [2], [2, 3]):
        assert_close(
            counts.reduce(kernels.g2(), 0, [1], frozenset(z))[:, 0], expected(kernels.g2(), data, 0, 1, z), 4000
        )
    with pytest.raises(InputError, match="tables would need"):
        counts.tables(0, [1], frozenset())


def test_counts_beyond_thirty_two_bits() -> None:
    big = 5_000_000_000
    data = Dataset.from_codes([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]], repeats=[big, 2 * big, 2 * big, big])
    counts = Counts(data)
    assert counts.n_rows == 6 * big
    assert counts.tables(0, [1], frozenset()).counts[0].tolist() == [[[big, 2 * big], [2 * big, big]]]
    for kernel in KERNELS.values():
        got = counts.reduce(kernel, 0, [1], frozenset())
        if kernel.name != "bayes":  # gamma functions of 10^10 do not fit the literal formula
            np.testing.assert_allclose(got[:, 0], [float(v) for v in expected(kernel, data, 0, 1, [])], rtol=1e-9)
        assert np.isfinite(got).all()


def test_an_exactly_independent_table_has_statistic_zero() -> None:
    data = Dataset.from_codes([np.repeat([0, 1, 2], 20), np.tile([0, 1, 2, 3], 15), np.zeros(60, int)])
    assert Counts(data).reduce(kernels.chi2(), 0, [1, 2], frozenset()).tolist() == [[0.0, 0.0], [6.0, 0.0]]


def test_memory_stays_within_two_bytes_a_value_beyond_the_codes() -> None:
    rng = np.random.default_rng(9)
    for n, card in [(10, 2), (10, 9), (100, 2), (100, 3), (100, 9), (513, 2), (1000, 5), (64, 200)]:
        n_rows = 2048
        data = Dataset.from_codes(rng.integers(0, card, (n_rows, n)), cards=[card] * n)
        counts = Counts(data)
        counts.reduce_all(kernels.chi2())
        counts.reduce(kernels.chi2(), 0, range(3, n), frozenset({1, 2}))
        assert counts.nbytes <= 2 * n * n_rows * 1.02


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda c: c.reduce(kernels.chi2(), 0, [1], frozenset({0})), r"z must not contain x; got x=0, z=\{0\}"),
        (lambda c: c.reduce(kernels.chi2(), 0, [1], frozenset({1})), "z must not contain y"),
        (lambda c: c.reduce(kernels.chi2(), 0, [0], frozenset()), "y must differ from x"),
        (lambda c: c.reduce(kernels.chi2(), 5, [1], frozenset()), "x must be the index of a variable, 0 to 2; got 5"),
        (lambda c: c.reduce(kernels.chi2(), 0, [-1], frozenset()), "y must be the index"),
        (lambda c: c.reduce(kernels.chi2(), 0, [1], frozenset({9})), "every member of z"),
        (lambda c: c.reduce(Kernel("nope", ("a",)), 0, [1], frozenset()), "kernel must be one of: chi2"),
        (lambda c: c.reduce(kernels.chi2(), 0, [0.5], frozenset()), "ys must be a sequence of variable indices"),
        (lambda c: c.tables(0, [7], frozenset()), "y must be the index"),
        (
            lambda c: c.reduce(kernels.chi2(), 0, np.array([2**32 + 1]), frozenset()),
            "ys must hold indices of variables",
        ),
        (lambda c: c.reduce(kernels.chi2(), 0, [1], frozenset({2**32 + 2})), "x and z must hold indices of variables"),
        (lambda c: c.reduce(kernels.chi2(), 2**40, [1], frozenset()), "x and z must hold indices of variables"),
        (lambda c: c.reduce(kernels.chi2(), "x0", [1], frozenset()), "x must be the index of a variable and z a set"),
        (lambda c: c.local(kernels.chi2(), 0, frozenset({"b", 2})), "x must be the index of a variable and z a set"),
        (lambda c: c.local(kernels.entropy(), 0, frozenset({0})), "z must not contain x"),
    ],
)
def test_bad_questions_are_refused_by_name(ask: Callable[[Counts], object], message: str) -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0], [0, 0]]))
    with pytest.raises(InputError, match=message):
        ask(counts)


FORMS: dict[str, Callable[[list[int]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "dict keys": lambda ys: dict.fromkeys(ys).keys(),
    "int32": lambda ys: np.array(ys, dtype=np.int32),
    "int64": lambda ys: np.array(ys, dtype=np.int64),
    "uint8": lambda ys: np.array(ys, dtype=np.uint8),
    "big-endian": lambda ys: np.array(ys, dtype=">i4"),
    "every other": lambda ys: np.repeat(np.array(ys, dtype=np.int32), 2)[::2],
    "backwards in memory": lambda ys: np.array(ys[::-1], dtype=np.int64)[::-1],
    "read-only": lambda ys: np.frombuffer(np.array(ys, dtype=np.int32).tobytes(), dtype=np.int32),
    "array.array": lambda ys: array.array("q", ys),
    "memoryview": lambda ys: memoryview(array.array("i", ys)),
    "bytes": bytes,
    "numpy integers": lambda ys: [np.int16(y) for y in ys],
    "range": lambda ys: range(ys[0], ys[-1] + 1),
}


@pytest.mark.parametrize("form", FORMS)
def test_ys_may_come_in_any_form(form: str) -> None:
    rng = np.random.default_rng(3)
    counts = Counts(Dataset.from_codes(rng.integers(0, 2, (100, 20)), cards=[2] * 20))
    ys = list(range(3, 20))
    want = counts.reduce(kernels.g2(), 0, ys, frozenset({1, 2}))
    assert np.array_equal(counts.reduce(kernels.g2(), 0, FORMS[form](ys), frozenset({1, 2})), want)


@pytest.mark.parametrize("form", ["int32", "int64", "uint8", "bytes", "memoryview"])
@pytest.mark.parametrize(
    ("ys", "message"),
    [
        ([3, 4, 20], "y must be the index"),
        ([2, 3, 0], "y must differ from x"),
        ([0, 2, 3], "y must differ from x"),
        ([2, 3, 5, 9], "z must not contain y; got y=5"),
        ([9, 5, 2], "z must not contain y; got y=5"),
    ],
)
def test_ys_in_any_form_and_order_are_checked(form: str, ys: list[int], message: str) -> None:
    counts = Counts(Dataset.from_codes(np.zeros((4, 20), int), cards=[2] * 20))
    with pytest.raises(InputError, match=message):
        counts.reduce(kernels.g2(), 0, FORMS[form](ys), frozenset({1, 5}))


@pytest.mark.parametrize("ys", [np.zeros((2, 2), np.int32), np.array([True, False]), np.array([3.0]), "34"])
def test_what_are_no_indices_is_refused(ys: Any) -> None:
    counts = Counts(Dataset.from_codes(np.zeros((4, 20), int), cards=[2] * 20))
    with pytest.raises(InputError, match="ys must be a sequence of variable indices"):
        counts.reduce(kernels.g2(), 0, ys, frozenset({1}))


def test_an_empty_scan_is_an_empty_answer() -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0]]))
    assert counts.reduce(kernels.chi2(), 0, [], frozenset({1})).shape == (2, 0)
    assert counts.tables(0, [], frozenset({1})).counts == ()


def test_bad_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]])
    with pytest.raises(InputError, match="n_jobs must be a whole number, at least 1; got 0"):
        Counts(data, n_jobs=0)
    wrong: Any = "2"
    with pytest.raises(InputError, match="n_jobs must be a whole number"):
        Counts(data, n_jobs=wrong)
    wrong = {"a": [0, 1]}
    with pytest.raises(UnsuitableError, match=r"Counts needs a Dataset; got a dict.*mnlearn\.read"):
        Counts(wrong)
    monkeypatch.setenv("MNLEARN_CORE", "mmx")
    with pytest.raises(InputError, match="MNLEARN_CORE must name a code path"):
        Counts(data)
    with pytest.raises(InputError, match="prior must lie between"):
        kernels.bayes(prior=1.0)
    with pytest.raises(InputError, match="gamma must be a positive number"):
        kernels.bayes(gamma=0.0)
    with pytest.raises(InputError, match="exclude each other"):
        kernels.dirichlet(0.5, sample_size=1.0)
    with pytest.raises(InputError, match=r"dof rule 'adjust' does not exist.*'adjusted'"):
        kernels.chi2("adjust")  # type: ignore[arg-type]


def test_a_continuous_variable_is_refused_before_counting() -> None:
    data = Dataset(
        names=("age", "smoker"),
        cards=(0, 2),
        columns=(np.array([1.5, 2.5]), np.array([0, 1], dtype=np.uint8)),
        levels=(None, ("no", "yes")),
    )
    with pytest.raises(UnsuitableError, match=r"'age' is continuous.*Discretise"):
        Counts(data)


def test_adding_tables_of_different_questions_is_refused() -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0], [0, 0]]))
    with pytest.raises(InputError, match="same question"):
        add_tables([counts.tables(0, [1], frozenset()), counts.tables(0, [2], frozenset())])
    with pytest.raises(InputError, match="at least one"):
        add_tables([])


@given(datasets(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_cells_are_the_distinct_rows_of_a_few_columns(data: Dataset, random: Any) -> None:
    x, *z = random.sample(range(data.n_variables), random.randint(1, data.n_variables))
    states, counts = Counts(data).cells(x, frozenset(z))
    rows = np.column_stack([data.columns[v] for v in (*sorted(z), x)]).astype(np.int64)
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    assert states.T.tolist() == distinct.tolist()
    weights = np.ones(len(rows)) if data.repeats is None else data.repeats
    assert counts.tolist() == np.bincount(places.reshape(-1), weights=weights).astype(int).tolist()


def test_cells_of_a_variable_given_itself_are_refused() -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="z must not contain x; got x=0"):
        counts.cells(0, frozenset({0}))
    with pytest.raises(InputError, match="7"):
        counts.cells(0, frozenset({7}))


def test_tables_of_logarithms_are_counted() -> None:
    """Each sample size asks for tables of its own; they are kept."""
    n_rows = 50_000
    counts = Counts(Dataset.from_codes(np.random.default_rng(2).integers(0, 2, (n_rows, 3))), n_jobs=1)
    counts.reduce(kernels.chi2(), 0, [1], frozenset({2}))
    before = counts.nbytes
    counts.reduce(kernels.g2(), 0, [1], frozenset({2}))
    assert 8 * n_rows <= counts.nbytes - before < 9 * n_rows
    for size in range(1, 6):
        counts.reduce(kernels.dirichlet(sample_size=float(size)), 0, [1], frozenset({2}))
    assert counts.nbytes - before >= 6 * 8 * n_rows


@pytest.mark.parametrize("far", [2**40, -(2**40)])
def test_an_index_that_does_not_fit_is_named(far: int) -> None:
    counts = Counts(reference.random_dataset(np.random.default_rng(1), n_rows=50, cards=[2] * 5))
    with pytest.raises(InputError, match=f"ys must hold indices of variables; got {far}. Use dataset.index"):
        counts.reduce(kernels.g2(), 0, [1, far, 2], frozenset())


class Emptying:
    """An index that empties the list it stands in while it is read."""

    def __init__(self, value: int, around: list[Any]) -> None:
        self.value, self.around = value, around

    def __index__(self) -> int:
        self.around.clear()
        return self.value


def test_a_list_that_changes_while_it_is_read_is_read_as_it_is_then() -> None:
    counts = Counts(reference.random_dataset(np.random.default_rng(1), n_rows=50, cards=[2] * 5))
    ys: list[Any] = []
    ys.extend([Emptying(1, ys), *[2] * 300])
    np.testing.assert_array_equal(
        counts.reduce(kernels.g2(), 0, ys, frozenset()), counts.reduce(kernels.g2(), 0, [1], frozenset())
    )
    yss: list[Any] = []
    yss.extend([[Emptying(1, yss)], *[[2]] * 300])
    answers = counts.reduce_many(kernels.g2(), [0] * 301, yss, [frozenset()] * 301)
    np.testing.assert_array_equal(answers[300], counts.reduce(kernels.g2(), 0, [2], frozenset()))
