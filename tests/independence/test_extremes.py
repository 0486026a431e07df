"""Posteriors and statistics of extreme tables against sixty digits: many states, huge counts, exact independence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest, ChiSquare, GTest
from mnlearn.independence.gaussian import log_bayes_factor
from mnlearn.scores import BJPScore, IBScore
from mnlearn.scores.gaussian_evidence import log_factor
from mnlearn.statistics import Counts, kernels
from mnlearn.statistics.kernels import supported_code_paths

from references import counts as reference

NOTHING: frozenset[int] = frozenset()


def of_tables(*tables: Sequence[Sequence[int]]) -> Dataset:
    """Data with these tables of columns 0 and 1, one for each state of column 2."""
    counts = np.array(tables)
    z, x, y = (axis.ravel()[counts.ravel() > 0] for axis in np.indices(counts.shape))
    cards = [counts.shape[1], counts.shape[2], max(counts.shape[0], 1)]
    return Dataset.from_codes([x, y, z], cards=cards, repeats=counts.ravel()[counts.ravel() > 0])


def exact_posteriors(data: Dataset, z: Sequence[int] = (), prior: float = 0.5) -> tuple[Any, Any]:
    """log P(CI | D) and log P(not CI | D) by Eq. 16-20 of [BJP18, App. C], in logs and in sixty digits."""
    rx, ry, total = data.cards[0], data.cards[1], mpf(0)
    tables, n_configurations = reference.strata(data, 0, 1, z), reference.n_configurations(data, z)
    with mp.workdps(60):
        log_p = mp.log(mpf(prior)) / n_configurations
        for table in tables.values():
            rows, columns, _ = reference.margins(table)
            log_g = log_dirichlet(rows.values(), rx) + log_dirichlet(columns.values(), ry)
            odds = mp.log(-mp.expm1(log_p)) - log_p + log_dirichlet(table.values(), rx * ry) - log_g
            total += mp.log1p(mp.exp(odds))
        total -= (n_configurations - len(tables)) * log_p
        return -total, mp.log(-mp.expm1(-total))


def log_dirichlet(counts: Any, n_cells: int) -> Any:
    """Likelihood of counts under a uniform prior."""
    n = sum(counts)
    return mp.loggamma(n_cells) - mp.loggamma(n_cells + n) + sum(mp.loggamma(1 + c) for c in counts)


def relative_error(got: float, want: Any) -> float:
    return float(abs(mpf(float(got)) - want) / max(abs(want), mpf(10) ** -307))


def uniform(card: int, each: int) -> list[list[int]]:
    return [[each] * card] * card


@pytest.mark.parametrize(
    ("tables", "z"),
    [
        ([uniform(25, 16)], []),
        ([uniform(100, 3)], []),
        ([uniform(25, 16), uniform(25, 17)], [2]),
        ([uniform(30, 40), uniform(30, 60), [[1] + [0] * 29] + [[0] * 30] * 29], [2]),
    ],
)
def test_an_improbable_dependence_keeps_its_logarithm(tables: Any, z: list[int]) -> None:
    """P(dependent) is below the smallest double, and below it log P(independent) rounds to 0."""
    data = of_tables(*tables)
    test, want = BayesianTest(Counts(data)), exact_posteriors(data, z)
    for odds in (test.log_odds(0, [1], frozenset(z)), test.log_odds(1, [0], frozenset(z))):
        assert relative_error(odds.dependent[0], want[1]) < 1e-11
        assert relative_error(odds.independent[0], want[0]) < 1e-11 or want[0] > -(mpf(10) ** -300)
    (members,) = test.members_many([0], [frozenset({1, *z})])
    assert members.dependent[0] == test.log_odds(0, [1], frozenset(z)).dependent[0]
    assert test.members(0, frozenset({1, *z})).dependent[0] == members.dependent[0]
    evidence = test.evidence(0, [1], frozenset(z))
    assert evidence.log_dependent is not None
    assert evidence.log_dependent[0] == members.dependent[0]


def test_batches_mix_improbable_dependences_with_others() -> None:
    rng = np.random.default_rng(1)
    data = Dataset.from_codes([np.repeat(np.arange(25), 625), np.tile(np.arange(25), 625), rng.integers(0, 3, 15625)])
    test = BayesianTest(Counts(data))
    sets = [frozenset({1, 2}), frozenset({0, 2}), frozenset({0, 1}), frozenset({1})]
    for x, z, odds in zip([0, 1, 2, 0], sets, test.members_many([0, 1, 2, 0], sets), strict=True):
        for y, dependent in zip(sorted(z), odds.dependent, strict=True):
            assert dependent == test.log_odds(x, [y], z - {y}).dependent[0]
            assert np.isfinite(dependent)


def test_code_paths_and_threads_agree_on_improbable_dependences(monkeypatch: pytest.MonkeyPatch) -> None:
    data = of_tables(uniform(25, 16), uniform(25, 18))
    kernel, z = kernels.bayes_dependent(prior=0.3), frozenset({2})
    want = Counts(data).reduce(kernel, 0, [1], z)
    for path in supported_code_paths():
        monkeypatch.setenv("MNLEARN_CORE", path)
        for n_jobs in (1, 2):
            assert np.array_equal(Counts(data, n_jobs=n_jobs).reduce(kernel, 0, [1], z), want)
    assert np.array_equal(Counts(data).members(kernel, [0], [frozenset({1, 2})])[0][:, :1], want)


def test_the_kernel_of_dependence_is_right_for_all_tables() -> None:
    """Not only where it is needed: against the other kernel for binary and other tables, with and without strata."""
    rng = np.random.default_rng(4)
    data = reference.random_dataset(rng, n_rows=300, cards=[2, 2, 2, 3, 4, 1], dependence=0.4)
    counts = Counts(data)
    for x, z in [(0, []), (0, [1]), (3, [0, 1]), (4, [0, 1, 2, 3]), (5, [])]:
        ys = [y for y in range(6) if y != x and y not in z]
        independent = counts.reduce(kernels.bayes(prior=0.8), x, ys, frozenset(z))[0]
        dependent = counts.reduce(kernels.bayes_dependent(prior=0.8), x, ys, frozenset(z))[0]
        np.testing.assert_allclose(np.exp(independent) + np.exp(dependent), 1.0, rtol=1e-12)
    all_pairs = counts.reduce_all(kernels.bayes_dependent())
    np.testing.assert_allclose(np.exp(all_pairs) + np.exp(counts.reduce_all(kernels.bayes())), 1.0, rtol=1e-12)


@pytest.mark.parametrize("score", [IBScore, BJPScore])
def test_scores_count_an_improbable_claim_by_its_logarithm(score: Any) -> None:
    data = of_tables(uniform(25, 16)).select([0, 1])
    want = float(exact_posteriors(data)[1])
    claims = 2 if score is IBScore else 1
    made = score(BayesianTest(Counts(data)))
    assert made(Graph(2, [(0, 1)])) == pytest.approx(claims * want, rel=1e-11)
    state = made.on(Graph.empty(2))
    assert state.gains([(0, 1)])[0] == pytest.approx(claims * want, rel=1e-11)


HUGE = [10**6, 4 * 10**6, 5 * 10**6, 10**9, 4 * 10**12, 10**15]


@pytest.mark.parametrize("n", HUGE)
def test_posteriors_of_huge_counts(n: int) -> None:
    """The claim of the docstring: the log odds are right to 1e-15 n log n below 4 million rows, to 1e-12 beyond."""
    root = int(n**0.5)
    for table in (
        [[n // 4, n // 4], [n // 4, n // 4]],
        [[n // 4, n // 4 + root], [n // 4, n // 4]],
        [[n // 3, n // 5, 7], [n // 6, n // 10 + root, 0], [1, 0, 3]],
    ):
        data = of_tables(table)
        allowed = 1e-15 * data.n_rows * np.log(n) if data.n_rows < 1 << 22 else 1e-12
        odds, want = BayesianTest(Counts(data)).log_odds(0, [1], NOTHING), exact_posteriors(data)
        for got, exact in zip((odds.independent[0], odds.dependent[0]), want, strict=True):
            assert abs(got - exact) <= allowed * max(1, abs(exact))


@pytest.mark.parametrize("test", [BayesianTest, ChiSquare, GTest])
def test_one_row_says_nothing(test: Any) -> None:
    evidence = test(Counts(of_tables([[1, 0], [0, 0]]))).evidence(0, [1], NOTHING)
    if evidence.log_p is None:
        assert evidence.log_independent[0] == evidence.log_dependent[0] == np.log(0.5)
    else:
        assert evidence.log_p[0] == 0.0


def independent_table(rng: np.random.Generator, shape: tuple[int, int], scale: int) -> Any:
    return np.outer(rng.integers(1, 9, shape[0]), rng.integers(1, 9, shape[1])) * scale


@pytest.mark.parametrize("scale", [1, 7, 1000, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (5, 4), (12, 9)])
def test_an_exactly_independent_table_has_no_statistic(
    shape: tuple[int, int], scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(scale % 1000 + shape[0])
    for _ in range(5):
        tables = [independent_table(rng, shape, scale) for _ in range(3)]
        data = of_tables(*tables)
        for path in supported_code_paths():
            monkeypatch.setenv("MNLEARN_CORE", path)
            counts = Counts(data)
            for kernel in (kernels.g2(), kernels.mi()):
                assert counts.reduce(kernel, 0, [1], frozenset({2}))[0, 0] == 0.0
                single = Counts(of_tables(tables[0]))
                assert single.reduce_all(kernel)[0, 0] == single.reduce(kernel, 0, [1], NOTHING)[0, 0] == 0.0
        assert GTest(counts)(0, 1, frozenset({2})).log_support == 0.0


def test_what_others_determine_has_no_entropy() -> None:
    rng = np.random.default_rng(5)
    for scale in (1, 10**3, 10**6, 10**12):
        y = np.arange(40)
        data = Dataset.from_codes([y % 7, y, y % 2], repeats=rng.integers(1, 9, 40) * scale)
        assert Counts(data).reduce(kernels.entropy(), 0, [1], NOTHING)[0, 0] == 0.0
        assert Counts(data).reduce_all(kernels.entropy())[0, 0] == 0.0
        assert Counts(data).reduce(kernels.entropy(), 2, [1], NOTHING)[0, 0] == 0.0


@pytest.mark.parametrize("n", [10**3, 10**5, *HUGE])
def test_a_likelihood_ratio_is_right_to_its_rounding_bound(n: int) -> None:
    """Within 1e-15 (cells + 8) n log n below 131,072 rows; to the last digits beyond."""
    root = int(n**0.5)
    for table in ([[n // 4, n // 4 + root], [n // 4, n // 4]], [[n // 3, n // 5, 7], [n // 6, n // 10 + 9, 0]]):
        data = of_tables(table)
        got = Counts(data).reduce(kernels.g2(), 0, [1], NOTHING)[0, 0]
        want = reference.g2(reference.strata(data, 0, 1, []))
        bound = 1e-15 * 14 * n * np.log(n) if n < 1 << 17 else 1e-13 * float(want)
        assert abs(got - want) <= bound


def test_relabelled_states_leave_a_statistic_of_zero() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        table = independent_table(rng, (4, 3), 3)
        shuffled = table[rng.permutation(4)][:, rng.permutation(3)]
        for one in (table, shuffled):
            assert Counts(of_tables(one)).reduce(kernels.g2(), 0, [1], NOTHING)[0, 0] == 0.0


@pytest.mark.parametrize("dof", [3, 50, 20_000, 20_003, 10**6, 10**9, 10**12, 10**15])
@pytest.mark.parametrize("r", [0.0, 1e-6, -0.3, 0.8, 1 - 1e-9])
def test_gaussian_factors_of_any_number_of_rows(r: float, dof: int) -> None:
    with mp.workdps(60):
        nu, left, g = mpf(dof), 1 - mpf(r) ** 2, mpf(0.2) ** 2 * dof
        posterior = mp.loggamma((nu - 1) / 2) - mp.loggamma(nu / 2) - mp.log(mp.pi) / 2 - (nu - 2) / 2 * mp.log(left)
        edge = (nu - 1) / 2 * mp.log(1 + g) - nu / 2 * mp.log(1 + g * left) - mp.log(1 + g)
        edge += mp.log1p(g * nu * mpf(r) ** 2 / (1 + g * left))
    assert log_bayes_factor(np.array([r]), dof)[0] == pytest.approx(float(posterior), rel=1e-12, abs=1e-12)
    assert log_factor(np.array([r]), dof, 0.2)[0] == pytest.approx(float(edge), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n", HUGE)
def test_local_scores_of_huge_counts(n: int) -> None:
    """Right to the last digits of the score, and to the rounding of its terms below 4 million rows."""
    for table in (
        [[n // 4, n // 4], [n // 4, n // 4]],
        [[n // 2, 3], [0, n // 2]],
        [[n // 3, n // 5, 7], [n // 6, 9, 0]],
    ):
        data = of_tables(table)
        got = Counts(data).reduce(kernels.dirichlet(), 0, [1], NOTHING)[0, 0]
        want = reference.dirichlet(reference.strata(data, 0, 1, []), 2, 0.5)
        allowed = 1e-15 * n * np.log(n) if data.n_rows < 1 << 22 else 1e-13 * max(1.0, abs(float(want)))
        assert abs(got - want) <= allowed
