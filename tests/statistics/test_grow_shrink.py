"""Growing and shrinking a blanket inside the core gives the bits of one question at a time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.independence import BayesianTest, ChiSquare, GTest
from mnlearn.protocols import BaseTest, IndependenceTest
from mnlearn.statistics import Counts, kernels
from profiles import few

from references import counts as reference

JUDGES: dict[str, Any] = {
    "chi2": ChiSquare,
    "chi2-observed": lambda counts: ChiSquare(counts, dof="observed"),
    "chi2-all": lambda counts: ChiSquare(counts, dof="all"),
    "g2": GTest,
    "g2-observed": lambda counts: GTest(counts, dof="observed"),
    "bayes": BayesianTest,
}


def grown(judge: IndependenceTest, x: int, ys: Sequence[int], z: set[int]) -> tuple[list[float | None], set[int]]:
    """One question at a time: what each is answered, and the blanket in the end."""
    blanket, answers = set(z), list[float | None]()
    for y in ys:
        verdict = judge(x, y, frozenset(blanket))
        answers.append(verdict.log_support)
        if not verdict.independent:
            blanket.add(y)
    return answers, blanket


def shrunk(judge: IndependenceTest, x: int, ys: Sequence[int], z: set[int]) -> list[float | None]:
    """Shrink by one question at a time."""
    blanket, answers = set(z), list[float | None]()
    for y in ys:
        verdict = judge(x, y, frozenset(blanket - {y}))
        answers.append(verdict.log_support)
        if verdict.independent:
            blanket.remove(y)
    return answers


def data_of(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([rng.integers(1, 300), rng.choice([1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 192])]))
    n, wide = int(rng.integers(2, 11)), rng.random() < 0.5
    cards = rng.choice([1, 2, 2, 2, 3, 4, 5, 8, 9] if wide else [2], n).tolist()
    return reference.random_dataset(rng, n_rows=n_rows, cards=cards, dependence=float(rng.choice([0.3, 0.8])))


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), draw=st.data())
@settings(max_examples=30, deadline=None)
def test_the_bits_of_one_question_at_a_time(path: str, name: str, seed: int, draw: st.DataObject) -> None:
    dataset = data_of(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        try:
            judge = JUDGES[name](Counts(dataset, n_jobs=1))
        except InputError:
            pytest.skip("another processor")
    assert isinstance(judge, BaseTest)
    for _ in range(4):  # on one object: the rows stay sorted from one question to the next
        order = draw.draw(st.permutations(range(dataset.n_variables)))
        n_given = draw.draw(st.integers(0, min(4, dataset.n_variables - 1)))
        x, z, ys = order[0], set(order[1 : 1 + n_given]), order[1 + n_given :]
        expected, blanket = grown(judge, x, ys, z)
        found = judge.scan_growing(x, ys, frozenset(z)).log_support
        assert found == expected or (path == "portable" and not found)
        first = next((k for k, y in enumerate(ys) if y in blanket), len(ys) - 1)
        to_first = judge.scan_growing(x, ys, frozenset(z), to_first=True).log_support
        assert to_first == expected[: first + 1] or (path == "portable" and not to_first)
        turns = draw.draw(st.permutations(sorted(blanket)))
        members = judge.scan_shrinking(x, turns, frozenset(blanket)).log_support
        expected = shrunk(judge, x, turns, blanket)
        assert members == expected[: len(members)]
        assert len(members) == len(turns) or path == "portable"


@pytest.mark.skipif(Counts(data_of(1)).code_path == "portable", reason="rows are not sorted here")
def test_deep_strata_and_many_rows() -> None:
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 2, 3_000)]
    for _ in range(25):  # so noisy a chain that everything depends on everything by observed degrees of freedom
        columns.append(np.where(rng.random(3_000) < 0.15, rng.integers(0, 2, 3_000), columns[-1]))
    judge = ChiSquare(Counts(Dataset.from_codes(columns), n_jobs=1), alpha=0.9)
    ys = list(range(1, 26))
    expected, blanket = grown(judge, 0, ys, set())
    assert len(blanket) > 16  # more configurations than a table has room for
    assert judge.scan_growing(0, ys, frozenset()).log_support == expected
    turns = sorted(blanket, reverse=True)
    assert judge.scan_shrinking(0, turns, frozenset(blanket)).log_support == shrunk(judge, 0, turns, blanket)
    everything = set(range(1, 26))  # counted afresh
    assert judge.scan_shrinking(0, ys, frozenset(everything)).log_support == shrunk(judge, 0, ys, everything)


@pytest.mark.skipif(Counts(data_of(1)).code_path == "portable", reason="rows are not sorted here")
@pytest.mark.parametrize("path", [path for path in _core.levels() if path != "portable"])
@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("n_members", few([1, 4, 7, 9, 11, 14, 16, 18], 4))
def test_shrinking_tables_of_every_size(path: str, name: str, n_members: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split, counted in tables, marked and counted, sorted; with members of three states, and before any is grown."""
    rng = np.random.default_rng(n_members)
    columns = [rng.integers(0, 2, 3_000)]
    for k in range(n_members):
        states = 3 if n_members in (4, 9, 14) and k == 2 else 2
        columns.append(np.where(rng.random(3_000) < 0.4, rng.integers(0, states, 3_000), columns[-1]))
    monkeypatch.setenv("MNLEARN_CORE", path)
    judge = JUDGES[name](Counts(Dataset.from_codes(columns), n_jobs=1))
    members = set(range(1, n_members + 1))
    turns = rng.permutation(sorted(members)).tolist()
    for turns_now in (turns, [y for y in turns if y != 3]):
        found = judge.scan_shrinking(0, turns_now, frozenset(members)).log_support
        expected = shrunk(judge, 0, turns_now, members)
        assert found == expected[: len(found)]
        assert len(found) == len(turns_now) or name == "chi2-all"  # 40,000 degrees of freedom are the core's limit


@pytest.mark.skipif(Counts(data_of(1)).code_path == "portable", reason="rows are not sorted here")
def test_after_many_independent_in_a_row_the_next_are_scanned() -> None:
    rng = np.random.default_rng(2)
    columns = list(rng.integers(0, 2, (80, 500)))
    columns[60] = columns[0]  # the only one that depends on the first
    judge = ChiSquare(Counts(Dataset.from_codes(columns), n_jobs=1), alpha=1e-9)
    ys = list(range(1, 80))
    expected, blanket = grown(judge, 0, ys, set())
    assert blanket == {60}
    # 32 one by one, then blocks of 20 and 20, or of all 47, of which 12 or 19 come after the one that depends.
    for ahead, in_vain in ((1, 0), (20, 12), (1024, 19)):
        turns = judge.scan_growing(0, ys, frozenset(), ahead=ahead)
        assert (turns.log_support, turns.rules) == (expected, [0] * 79)
        assert turns.scanned == 79 + in_vain


def test_repeats_and_many_states_are_not_sorted() -> None:
    rng = np.random.default_rng(3)
    weighted = reference.random_dataset(rng, n_rows=50, cards=[2, 2, 2], repeats=True)
    assert not Counts(weighted).grow(kernels.chi2(), -3.0, 0, [1, 2]).independent
    assert not Counts(weighted).shrink(kernels.chi2(), -3.0, 0, [1], frozenset({1, 2})).independent
    wide = reference.random_dataset(rng, n_rows=50, cards=[2, 12, 2])
    assert not Counts(wide).grow(kernels.chi2(), -3.0, 0, [2, 1]).independent
    judge, blanket = ChiSquare(Counts(weighted), alpha=0.5), frozenset({1, 2})
    found = judge.scan_shrinking(0, [2, 1], blanket)  # from one table, up to the first that leaves
    assert found.log_support == shrunk(judge, 0, [2, 1], {1, 2})[: len(found.independent)]
    assert len(found.independent) == 2 or found.independent[0]


def test_threads_may_share_one_store() -> None:
    rng = np.random.default_rng(4)
    judge = ChiSquare(Counts(reference.random_dataset(rng, n_rows=400, cards=[2] * 12), n_jobs=1), alpha=0.2)
    questions = [(x, [y for y in range(12) if y != x]) for x in range(12)] * 4
    alone = [judge.scan_growing(x, ys, frozenset()).log_support for x, ys in questions]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda q: judge.scan_growing(q[0], q[1], frozenset()).log_support, questions))
    assert together == alone


def test_what_is_kept_is_counted_and_bounded() -> None:
    rng = np.random.default_rng(6)
    counts = Counts(reference.random_dataset(rng, n_rows=5_000, cards=[2] * 10), n_jobs=1)
    counts.reduce_all(kernels.chi2())
    before = counts.nbytes
    if counts.grow(kernels.chi2(), -3.0, 0, range(1, 10)).independent:
        assert before < counts.nbytes < before + (1 << 20)


def test_where_nobody_is_asked_about_nothing_is_booked() -> None:
    weighted = reference.random_dataset(np.random.default_rng(3), n_rows=50, cards=[2, 2, 2], repeats=True)
    for data in (data_of(1), weighted):
        turns = ChiSquare(Counts(data)).scan_shrinking(0, [], frozenset({1}))
        assert turns == ([], [], [], 0, 0, 0, 0)
    assert ChiSquare(Counts(weighted)).scan_shrinking(0, [], frozenset({1, 2})).largest_z == 0  # not 1


def test_bad_questions_are_refused() -> None:
    counts = Counts(Dataset.from_codes([[0, 1] * 9, [0, 1] * 9, [0, 0, 1] * 6]))
    with pytest.raises(InputError, match="ys must name each variable once"):
        counts.grow(kernels.chi2(), -3.0, 0, [1, 2, 1])
    with pytest.raises(InputError, match="ys must be members of z; got y=2"):
        counts.shrink(kernels.chi2(), -3.0, 0, [2], frozenset({1}))
    with pytest.raises(InputError, match="z must not contain y"):
        counts.grow(kernels.chi2(), -3.0, 0, [1], frozenset({1}))
    with pytest.raises(InputError, match="kernel must be that of a test"):
        counts.grow(kernels.mi(), -3.0, 0, [1])
    with pytest.raises(InputError, match="index of a variable"):
        counts.shrink(kernels.chi2(), -3.0, 7, [1], frozenset({1}))
    with pytest.raises(InputError, match=r"ys must be a sequence of variable indices; got \[1\.5\]"):
        counts.shrink(kernels.chi2(), -3.0, 0, [1.5], frozenset({1}))  # type: ignore[list-item]


def test_the_scratch_of_sorted_rows_that_are_kept_is_counted() -> None:
    codes = np.random.default_rng(6).integers(0, 2, (20_000, 14))
    counts = Counts(Dataset.from_codes(codes), n_jobs=1, max_memory=1 << 24)
    counts.reduce_all(kernels.chi2())
    before = counts.nbytes
    everyone_joins = 1.0  # no log p is above it
    if not counts.grow(kernels.chi2(), everyone_joins, 0, range(1, 14)).independent:
        pytest.skip("rows cannot be sorted on this code path")
    n_configurations = len(np.unique(codes[:, 1:], axis=0))
    assert (
        counts.nbytes - before >= 20_000 + 40 * n_configurations
    )  # a byte a row; keys, order, ends, sizes and scratch
