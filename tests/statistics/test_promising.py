"""The quick ranking of all variables given blankets: the same as table by table, for any threads and code path."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data.dataset import Dataset
from mnlearn.graphs.candidates import Candidates
from mnlearn.protocols import SILENT, VarSet
from mnlearn.scores import HybridEvidence
from mnlearn.statistics import Counts

from references.promising import promises


def binary(n: int, n_rows: int, seed: int) -> Dataset:
    """Columns that depend on others one by one or together; some are constant."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n_rows) for _ in range(n)]
    for x in range(2, n):
        a, b = rng.choice(x, 2, replace=False)
        other = columns[a] ^ columns[b] if rng.random() < 0.5 else columns[a]
        columns[x] = np.where(rng.random(n_rows) < 0.4, other, columns[x])
    if n > 4:
        columns[int(rng.integers(n))][:] = 0
    return Dataset.from_codes(columns, cards=[2] * n)


def ranked(data: Dataset, xs: list[int], zs: list[VarSet], k: int, above: float, jobs: int = 1) -> list[list[int]]:
    starts, ys = Counts(data, n_jobs=jobs).evidence().most_promising(xs, zs, k, above)
    return [part.tolist() for part in np.split(ys, starts[1:-1])]


@given(seed=st.integers(0, 2**32), n=st.integers(2, 30), n_rows=st.integers(1, 300), k=st.integers(1, 12))
@settings(max_examples=60)
def test_it_ranks_as_table_by_table(seed: int, n: int, n_rows: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    data = binary(n, n_rows, seed)
    xs = rng.choice(n, min(n, 5), replace=False).tolist()
    others = [[y for y in range(n) if y != x] for x in xs]
    zs = [frozenset(rng.choice(ys, int(rng.integers(0, min(6, len(ys)) + 1)), False).tolist()) for ys in others]
    for x, z, found in zip(xs, zs, ranked(data, xs, zs, k, 0.5), strict=True):
        promise = promises(data, x, z)
        assert x not in found
        assert z.isdisjoint(found)
        assert len(found) <= k
        assert found == sorted(found)
        good = sorted((value for value in promise.values() if value > 0.5), reverse=True)
        bar = good[k - 1] if len(good) >= k else 0.5
        assert {y for y, value in promise.items() if value > bar + 1e-3} <= set(found)
        assert all(promise[y] > bar - 1e-3 for y in found)


def test_of_equal_ones_the_first_are_kept() -> None:
    rng = np.random.default_rng(1)
    column = rng.integers(0, 2, 100)
    data = Dataset.from_codes([column] * 700, cards=[2] * 700)
    assert ranked(data, [0, 600], [frozenset(), frozenset()], 3, 1.0) == [[1, 2, 3], [0, 1, 2]]


@pytest.mark.parametrize("level", ["portable", "avx2", "avx512", "neon"])
def test_threads_and_code_paths_give_the_same(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = binary(600, 300, 5)
    rng = np.random.default_rng(2)
    xs = list(range(0, 600, 7))
    zs = [frozenset(rng.choice(np.delete(np.arange(600), x), x % 7, replace=False).tolist()) for x in xs]
    expected = ranked(data, xs, zs, 9, 0.0)
    assert ranked(data, xs, zs, 9, 0.0, jobs=3) == expected
    monkeypatch.setenv("MNLEARN_CORE", level)
    try:
        assert ranked(data, xs, zs, 9, 0.0) == expected
    except ValueError as error:  # this processor has no such instructions
        pytest.skip(str(error))


def test_other_data_are_ranked_by_evidence() -> None:
    rng = np.random.default_rng(3)
    cause = rng.integers(0, 3, 400)
    columns = [cause, rng.integers(0, 3, 400), np.where(rng.random(400) < 0.7, cause, 0), rng.integers(0, 3, 400)]
    data = Dataset.from_codes(columns, cards=[3] * 4)
    assert not Counts(data).evidence().ranks_all(frozenset())
    found = HybridEvidence(Counts(data)).strongest_given([0, 3], [frozenset(), frozenset({1})], 1)
    assert isinstance(found, Candidates)
    assert (0, 2) in zip(found.u.tolist(), found.v.tolist(), strict=True)


def test_many_given_variables_are_ranked_by_evidence() -> None:
    data = binary(20, 200, 7)
    given_many = frozenset(range(1, 9))
    assert not Counts(data).evidence().ranks_all(given_many)
    found = HybridEvidence(Counts(data)).strongest_given([0, 1], [given_many, frozenset({2})], 2)
    assert len(found.keys) >= 2


def test_repeated_rows_are_not_ranked_quickly() -> None:
    data = binary(6, 40, 7)
    repeated = Dataset.from_codes(list(data.columns), cards=[2] * 6, repeats=np.full(40, 3))
    assert not Counts(repeated).evidence().ranks_all(frozenset())
    assert len(HybridEvidence(Counts(repeated)).strongest_given([0], [frozenset()], 2).keys) == 2


def test_the_core_refuses_what_it_cannot_rank() -> None:
    counts = Counts(binary(12, 40, 7)).evidence()
    with pytest.raises(ValueError, match="at most 6 members"):
        counts.most_promising([0], [frozenset(range(1, 9))], 3, 0.0)
    with pytest.raises(ValueError, match="k from 1"):
        counts.most_promising([0], [frozenset()], 0, 0.0)


def test_nothing_promises_less_than_half_of_log_n() -> None:
    rng = np.random.default_rng(3)
    data = Dataset.from_codes(list(rng.integers(0, 2, (50, 500))), cards=[2] * 50)
    found = HybridEvidence(Counts(data)).strongest_given(range(50), [frozenset()] * 50, 20, SILENT)
    assert len(found.keys) < 20
    for x, y in zip(found.u.tolist(), found.v.tolist(), strict=True):
        assert max(promises(data, x, frozenset())[y], promises(data, y, frozenset())[x]) > log(50) / 2 - 1e-3
