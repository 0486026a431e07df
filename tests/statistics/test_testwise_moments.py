"""`TestwiseMoments` against the slow twin: `Moments` of the complete rows of each question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import SetLevel
from mnlearn.statistics import Moments, kernels
from mnlearn.statistics.moments import TestwiseMoments

from references.gaps import question, with_gaps


def continuous(columns: np.ndarray[tuple[int, ...], np.dtype[np.float64]], repeats: object = None) -> Dataset:
    names = tuple(f"x{k}" for k in range(len(columns)))
    return Dataset(names, (0,) * len(names), tuple(columns), (None,) * len(names), repeats=repeats)  # type: ignore[arg-type]


@st.composite
def incomplete(draw: st.DrawFn, max_rows: int = 80) -> Dataset:
    """Correlated columns of any units, some constant, some rounded, some with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_rows = draw(st.integers(3, 7)), draw(st.integers(1, max_rows))
    columns = rng.normal(size=(n, n)) @ rng.normal(size=(n, n_rows))
    columns = columns * 10.0 ** rng.integers(-3, 4, size=(n, 1)) + rng.normal(size=(n, 1)) * draw(
        st.sampled_from([0, 100])
    )
    columns[0] = np.round(columns[0]) if draw(st.booleans()) else columns[0]
    columns[1] = 3.0 if draw(st.booleans()) else columns[1]
    repeats = rng.integers(1, 4, n_rows) if draw(st.booleans()) else None
    only = draw(st.sets(st.integers(0, n - 1), min_size=1))
    return with_gaps(
        continuous(columns, repeats), draw(st.sampled_from([0.0, 0.1, 0.6])), draw(st.integers(0, 99)), only=only
    )


@given(incomplete(), st.data())
@settings(max_examples=120, deadline=None)
def test_each_question_is_that_of_its_complete_rows(data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_variables)))
    x, z = order[0], frozenset(order[3 : 3 + draw.draw(st.integers(0, 4))])
    ys = [v for v in order[1:] if v not in z]
    moments = TestwiseMoments(data)
    r, rows = moments.measured(x, ys, z)
    np.testing.assert_array_equal(rows, moments.question_rows(x, ys, z))
    for k, y in enumerate(ys):
        complete, x_, y_, z_ = question(data, x, y, z)
        if complete is None:
            assert (r[k], rows[k]) == (0.0, 0)
            continue
        assert rows[k] == complete.n_rows
        np.testing.assert_allclose(r[k], Moments(complete).partial_correlations(x_, [y_], z_)[0], rtol=0, atol=1e-10)


def tidy(seed: int = 0, n_rows: int = 300, n: int = 8, share: float = 0.15) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, n_rows))
    for k in range(1, n):
        columns[k] += 0.6 * columns[k - 1]
    return with_gaps(continuous(columns), share, seed, only=range(1, n))


def test_well_conditioned_questions_agree_to_the_last_digits() -> None:
    data = tidy()
    moments = TestwiseMoments(data)
    for z in (frozenset[int](), frozenset({3}), frozenset({3, 5, 6})):
        for y, r in zip([1, 2, 4, 7], moments.partial_correlations(0, [1, 2, 4, 7], z), strict=True):
            complete, x_, y_, z_ = question(data, 0, y, z)
            assert complete is not None
            assert r == pytest.approx(Moments(complete).partial_correlations(x_, [y_], z_)[0], abs=1e-12)


def test_members_and_pairs_are_the_same_questions() -> None:
    moments = TestwiseMoments(tidy())
    r, rows = moments.measured_members(2, {1, 3, 5})
    for k, y in enumerate((1, 3, 5)):
        assert (r[k], rows[k]) == tuple(part[0] for part in moments.measured(2, [y], {1, 3, 5} - {y}))
    pairs, _ = moments.measured_pairs()
    assert pairs[0] == moments.partial_correlations(0, [1], ())[0]
    assert len(pairs) == 28


def test_symmetry_rows_repeats_and_units() -> None:
    data = tidy()
    moments = TestwiseMoments(data)
    r = moments.partial_correlations(1, [4], {2, 3})[0]
    assert r == pytest.approx(moments.partial_correlations(4, [1], {2, 3})[0], abs=1e-13)
    shuffled = np.random.default_rng(1).permutation(data.n_records)
    other = TestwiseMoments(
        data.trusted(**{**data.__dict__, "columns": tuple(c[shuffled] * 7 - 2 for c in data.columns)})
    )
    assert r == pytest.approx(other.partial_correlations(1, [4], {2, 3})[0], abs=1e-12)
    twice = data.trusted(**{**data.__dict__, "repeats": np.full(data.n_records, 2)})
    doubled = tuple(np.tile(c, 2) for c in data.columns)
    for many in (twice, data.trusted(**{**data.__dict__, "columns": doubled})):
        found, rows = TestwiseMoments(many).measured(1, [4], {2, 3})
        assert found[0] == pytest.approx(r, abs=1e-12)
        assert rows[0] == 2 * moments.question_rows(1, [4], {2, 3})[0]


def test_near_copies_are_told_from_the_rows() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=200)
    columns = np.array([a, a + 1e-5 * rng.normal(size=200), a + 1e-5 * rng.normal(size=200), rng.normal(size=200)])
    data = with_gaps(continuous(columns), 0.1)
    got = TestwiseMoments(data).partial_correlations(1, [2, 3], {0})
    for k, y in enumerate((2, 3)):
        complete, x_, y_, z_ = question(data, 1, y, {0})
        assert complete is not None
        assert got[k] == pytest.approx(Moments(complete).partial_correlations(x_, [y_], z_)[0], abs=1e-3)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_search_over_sets_gives_the_answers_of_scans(n_jobs: int) -> None:
    data = tidy()
    moments = TestwiseMoments(data, n_jobs=n_jobs)
    level, n = np.log(0.05), data.n_variables
    around = ~np.eye(n, dtype=bool)
    weakest = np.full((n, n), np.nan)
    found = moments.subsets(level).separate(SetLevel(1, around, around.copy(), weakest), range(n), lambda _: True)
    assert found is not None
    assert len(found.sets)
    for (x, y, z), support in zip(found.sets.tolist(), found.log_support.tolist(), strict=True):
        r, rows = moments.measured(x, [y], {z})
        assert support == kernels.fisher_tails(r, float(rows[0] - 4))[1][0]
        assert support > level


def test_questions_without_rows_are_counted() -> None:
    half = np.arange(10) < 5
    a, b = np.arange(10.0), np.arange(10.0) ** 2
    data = continuous(np.array([a, b, a * b]))
    columns = (np.where(half, a, np.nan), np.where(half, np.nan, b), data.columns[2])
    data = Dataset(data.names, data.cards, columns, data.levels, gaps=frozenset({"x0", "x1"}))
    moments = TestwiseMoments(data)
    r, rows = moments.measured(0, [1, 2], ())
    assert (r[0], rows.tolist(), moments.without_rows) == (0.0, [0, 5], 1)


def test_bad_questions_and_data() -> None:
    moments = TestwiseMoments(tidy())
    with pytest.raises(InputError, match="z must not contain"):
        moments.partial_correlations(0, [1], {0})
    with pytest.raises(InputError, match="must be the index"):
        moments.partial_correlations(0, [99], ())
    with pytest.raises(UnsuitableError, match="needs continuous variables; 'x0' has states"):
        TestwiseMoments(Dataset.from_codes([[0, 1]]))
    with pytest.raises(UnsuitableError, match="Moments needs complete data"):
        Moments(tidy())
