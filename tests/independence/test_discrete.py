"""Chi-square, G² and mutual information: values, tails, the rules for tables that say nothing."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.independence import ChiSquare, GTest, MutualInformation, PartialCorrelation
from mnlearn.statistics import Counts

from references import counts as reference

_CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def counts_of(table: list[list[int]]) -> Counts:
    """Data with this table of (x, y), and a constant third column."""
    cells = [(a, b, n) for a, row in enumerate(table) for b, n in enumerate(row)]
    x, y, repeats = zip(*cells, strict=True)
    return Counts(
        Dataset.from_codes([x, y, [0] * len(x)], cards=[len(table), len(table[0]), 1], repeats=np.array(repeats))
    )


@pytest.mark.parametrize("table", [[[10, 20], [30, 5]], [[3, 4, 5], [9, 1, 2]], [[1, 2], [3, 4], [50, 6]]])
def test_unconditional_tests_agree_with_scipy(table: list[list[int]]) -> None:
    for test, power in ((ChiSquare(counts_of(table)), 1.0), (GTest(counts_of(table)), 0.0)):
        want = stats.chi2_contingency(np.array(table), correction=False, lambda_=power)
        got = test.evidence(0, [1], frozenset())
        assert got.statistic is not None
        assert got.dof is not None
        assert got.log_p is not None
        assert got.statistic[0] == pytest.approx(want.statistic, rel=1e-12)
        assert got.dof[0] == want.dof
        assert np.exp(got.log_p[0]) == pytest.approx(want.pvalue, rel=1e-10)
        assert got.independent[0] == (want.pvalue > 0.05)


def test_log_p_is_right_far_below_the_smallest_double() -> None:
    """A perfect dependence of 25,000 rows: p about 1e-10858 or less."""
    test = ChiSquare(counts_of([[25_000, 0], [0, 25_000]]))
    got = test(0, 1, frozenset()).log_support
    assert got is not None
    with mpmath.workdps(40):
        want = mpmath.log(mpmath.gammainc(mpmath.mpf(1) / 2, mpmath.mpf(25_000), regularized=True))
    assert got == pytest.approx(float(want), rel=1e-12)
    assert -25_010 < got < -25_000


def test_stronger_dependence_still_orders_when_p_underflows() -> None:
    weaker, stronger = counts_of([[9_000, 1_000], [1_000, 9_000]]), counts_of([[9_900, 100], [100, 9_900]])
    a, b = ChiSquare(weaker)(0, 1, frozenset()).log_support, ChiSquare(stronger)(0, 1, frozenset()).log_support
    assert a is not None
    assert b is not None
    assert b < a < -745


def test_a_constant_column_is_independent_of_everything() -> None:
    for test in (
        ChiSquare(counts_of([[5, 1], [1, 5]])),
        GTest(counts_of([[5, 1], [1, 5]])),
        MutualInformation(counts_of([[5, 1], [1, 5]])),
        ChiSquare(counts_of([[5, 1], [1, 5]]), dof="all"),
    ):
        assert test(0, 2, frozenset()) == (True, 0.0, "data")
        assert test(2, 1, frozenset({0})) == (True, 0.0, "data")


def test_a_state_declared_but_unseen_costs_no_degrees_of_freedom() -> None:
    data = Dataset.from_codes([[0, 1, 0, 1, 1], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0]], cards=[5, 2, 3])
    dof = ChiSquare(Counts(data)).evidence(0, [1], frozenset({2})).dof
    assert dof is not None
    assert dof.tolist() == [1.0]
    dof = ChiSquare(Counts(data), dof="all").evidence(0, [1], frozenset({2})).dof
    assert dof is not None
    assert dof.tolist() == [4.0 * 3]


def test_under_independence_p_values_are_uniform() -> None:
    """400 independent tests at level 0.05: the number of rejections stays within a 1e-6 band of 20."""
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 3, (4000, 401))
    counts = Counts(Dataset.from_codes(codes))
    for test in (ChiSquare(counts), GTest(counts)):
        rejected = int((~test.scan(0, range(1, 401), frozenset()).independent).sum())
        low, high = stats.binom.interval(1 - 1e-6, 400, 0.05)
        assert low <= rejected <= high


def test_permutation_p_values_are_uniform_and_find_dependence() -> None:
    rng = np.random.default_rng(12)
    codes = rng.integers(0, 2, (120, 81))
    codes[:, 80] = np.where(rng.random(120) < 0.8, codes[:, 0], codes[:, 80])
    test = MutualInformation(Counts(Dataset.from_codes(codes)), n_permutations=99)
    found = test.scan(0, range(1, 81), frozenset())
    low, high = stats.binom.interval(1 - 1e-6, 79, 0.05)
    assert low <= int((~found.independent[:79]).sum()) <= high
    assert not found.independent[79]
    assert found.log_support[79] == pytest.approx(np.log(1 / 100))
    assert test.scan(0, range(1, 81), frozenset()).log_support.tolist() == found.log_support.tolist()


def test_shuffling_within_strata_gives_the_p_value_of_the_conditional_test() -> None:
    """A common cause: strongly dependent at the margin; given it, the p-value of G² to within the draws' noise."""
    rng = np.random.default_rng(13)
    z = rng.integers(0, 2, 2000)
    x, y = (np.where(rng.random(2000) < 0.9, z, 1 - z) for _ in range(2))
    counts = Counts(Dataset.from_codes([x, y, z]))
    test = MutualInformation(counts, n_permutations=4999)
    marginal, conditional = test(0, 1, frozenset()).log_support, test(0, 1, frozenset({2})).log_support
    by_tail = GTest(counts)(0, 1, frozenset({2})).log_support
    assert marginal is not None
    assert conditional is not None
    assert by_tail is not None
    assert marginal == pytest.approx(np.log(1 / 5000))
    assert np.exp(conditional) == pytest.approx(np.exp(by_tail), rel=0.35)


def test_the_permutation_p_value_is_that_of_fishers_exact_test() -> None:
    """For a two-by-two table information is unimodal in the cell, so the exact p can be enumerated."""
    table = np.array([[8, 2], [3, 9]])
    test = MutualInformation(counts_of(table.tolist()), n_permutations=20_000)
    law = stats.hypergeom(22, 10, 11)
    cells = np.arange(0, 11)
    info = [
        float(reference.g2({(): {c: n for c, n in zip(_CELLS, (k, 10 - k, 11 - k, 1 + k), strict=True) if n}}))
        for k in cells.tolist()
    ]
    exact = sum(law.pmf(k) for k, g in zip(cells, info, strict=True) if g >= info[8] - 1e-9)
    got = test(0, 1, frozenset()).log_support
    assert got is not None
    assert np.exp(got) == pytest.approx(exact, abs=4.9 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_a_threshold_decides_by_information_alone() -> None:
    counts = counts_of([[30, 20], [20, 30]])
    information = 0.5 * (0.6 * np.log(1.2) + 0.4 * np.log(0.8)) * 2
    assert MutualInformation(counts, decide="threshold", threshold=information + 1e-9)(0, 1, frozenset()).independent
    assert not MutualInformation(counts, decide="threshold", threshold=information - 1e-9)(
        0, 1, frozenset()
    ).independent


def test_bad_settings_are_refused() -> None:
    counts = counts_of([[1, 2], [3, 4]])
    with pytest.raises(InputError, match="threshold must be 0 or more"):
        MutualInformation(counts, threshold=-1.0)
    with pytest.raises(InputError, match="n_permutations must be a whole number, at least 1; got 0"):
        MutualInformation(counts, n_permutations=0)
    with pytest.raises(InputError, match=r"n_permutations must be at least 99 for alpha=0.01: .* got 98"):
        MutualInformation(counts, n_permutations=98, alpha=0.01)  # would never find a dependence
    assert MutualInformation(counts, n_permutations=99, alpha=0.01).n_permutations == 99
    assert MutualInformation(counts, n_permutations=1, decide="threshold").threshold == 0.01
    with pytest.raises(InputError, match="seed must be a whole number, at least 0; got -1"):
        MutualInformation(counts, seed=-1)
    with pytest.raises(InputError, match="alpha must be between 0 and 1"):
        ChiSquare(counts, alpha="0.05")  # type: ignore[arg-type]
    wrong: Any
    for wrong in (Dataset.from_codes([[0, 1], [0, 1]]), {"a": [0, 1]}):
        with pytest.raises(UnsuitableError, match=r"ChiSquare cannot use a .*Use Counts"):
            ChiSquare(wrong)
    wrong = counts
    with pytest.raises(UnsuitableError, match=r"PartialCorrelation cannot use a Counts.*Use Moments"):
        PartialCorrelation(wrong)
    with pytest.raises(InputError, match="decide 'vote' does not exist"):
        MutualInformation(counts, decide="vote")  # type: ignore[arg-type]


def test_p_equal_to_alpha_is_dependent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nineteen permutations, none as informative: p = 1/20 exactly."""
    test = MutualInformation(counts_of([[40, 0], [0, 40]]), n_permutations=19, alpha=0.05)
    verdict = test(0, 1, frozenset())
    assert verdict.log_support == np.log(0.05)
    assert not verdict.independent
    asymptotic = ChiSquare(counts_of([[8, 2], [3, 9]]))
    support = asymptotic(0, 1, frozenset()).log_support
    object.__setattr__(asymptotic, "_level", support)
    assert not asymptotic(0, 1, frozenset()).independent
    # Nine of 199 as informative: 10 / 200, whose logarithm as a difference is the next number above log 0.05.
    monkeypatch.setattr(MutualInformation, "_log_permutation_p", lambda *_: np.log1p(9) - np.log1p(199))
    assert not MutualInformation(counts_of([[40, 0], [0, 40]]))(0, 1, frozenset()).independent


def test_equal_shuffled_tables_count_as_equal() -> None:
    """Margins (1, n - 1) and (n/2, n/2) leave two tables, equally informative: every shuffle is as large, p = 1."""
    for half in (3, 7, 500, 12_345):
        test = MutualInformation(counts_of([[1, 0], [half - 1, half]]), n_permutations=200)
        support = test(0, 1, frozenset()).log_support
        assert support == 0.0


def test_permutations_of_identifiers_are_refused_before_memory_runs_out() -> None:
    codes = np.arange(3000)
    counts = Counts(Dataset.from_codes([codes, codes[::-1]]))
    with pytest.raises(InputError, match=r"permutations need tables of at most .* cells"):
        MutualInformation(counts)(0, 1, frozenset())
    wide = Counts(Dataset.from_codes([np.arange(600) % 300, np.arange(600) // 2]))
    assert MutualInformation(wide, n_permutations=49)(0, 1, frozenset()).log_support is not None


def test_low_expected_counts_the_cells_of_observed_strata() -> None:
    rng = np.random.default_rng(5)
    codes = [rng.integers(0, card, 150) ** 2 // (card - 1 or 1) for card in (3, 4, 2, 3, 1)]
    data = Dataset.from_codes(codes, cards=[4, 5, 2, 3, 1])  # states that never occur, and a constant
    for test in (ChiSquare(Counts(data)), GTest(Counts(data), dof="all")):
        for z in map(frozenset, ([], [2], [4], [2, 3], [2, 3, 4])):
            expected: list[float] = []
            strata = np.column_stack([np.zeros(150, dtype=int), *(codes[v] for v in sorted(z))])
            for stratum in np.unique(strata, axis=0):
                rows = (strata == stratum).all(1)
                table = np.zeros((4, 5))
                np.add.at(table, (codes[0][rows], codes[1][rows]), 1)
                cells = stats.contingency.expected_freq(table)
                expected += cells[cells > 0].tolist()
            share = np.mean(np.array(expected) < 5)
            assert test.low_expected(0, 1, z) == pytest.approx(share)
            assert test.low_expected(1, 0, z) == pytest.approx(share)
    assert ChiSquare(counts_of([[50, 50], [50, 50]])).low_expected(0, 1, frozenset()) == 0.0
    assert ChiSquare(counts_of([[5, 5], [5, 5]])).low_expected(0, 1, frozenset({2})) == 0.0  # exactly 5 is enough
    assert ChiSquare(counts_of([[4, 4], [4, 4]])).low_expected(0, 1, frozenset({2})) == 1.0


def test_low_expected_of_huge_tables_is_unknown() -> None:
    wide = Dataset.from_codes([[0, 1]] * 4, cards=[60_000, 60_000, 60_000, 60_000])
    assert np.isnan(ChiSquare(Counts(wide)).low_expected(0, 1, frozenset({2, 3})))
