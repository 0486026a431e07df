"""Many binary y scored together: the same bits as one table at a time, and as right as mpmath says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from mpmath import mp

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels, score_tables
from profiles import few

from references import counts as reference

KERNELS: list[Kernel] = [
    kernels.chi2(),
    kernels.g2(),
    kernels.bayes(),
    kernels.bayes_dependent(),
    kernels.bayes(alpha=0.5, beta=2.0, gamma=0.7, prior=0.9),
    kernels.dirichlet(),
    kernels.entropy(),
    Kernel("first_cell", ("rows",)),
]


def strata_of_sizes(sizes: Sequence[int], n: int, seed: int = 0) -> Dataset:
    """A variable z with strata of these sizes, and n binary variables, some nearly constant, one copied."""
    rng = np.random.default_rng(seed)
    z = np.repeat(np.arange(len(sizes)), sizes)
    columns = [(rng.random(len(z)) < p).astype(np.uint8) for p in np.resize([0.5, 0.1, 0.9, 0.01, 0.5], n)]
    columns[1] = columns[0]
    return Dataset.from_codes([z, *columns], cards=[max(2, len(sizes)), *[2] * n])


def paths(monkeypatch: pytest.MonkeyPatch, data: Dataset) -> Iterator[Counts]:
    for path in _core.levels():
        monkeypatch.setenv("MNLEARN_CORE", path)
        yield Counts(data)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{len(kernel.settings)}")
def test_strata_of_every_size_give_the_bits_of_single_tables(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes on both sides of each way of looking up: in registers of 16, 32 and 64 entries, folded, one by one."""
    sizes = [0, 1, 2, 3, 15, 16, 30, 31, 32, 33, 62, 63, 64, 65, 126, 127, 128, 129, 600]
    data = strata_of_sizes(sizes, 90)
    z = frozenset({0})
    for counts in paths(monkeypatch, data):
        for n_ys in (1, 2, 7, 8, 9, 17, 64, 89):
            ys = list(range(2, 2 + n_ys)) if n_ys < 89 else [v for v in range(2, 91) if v != 1]
            together = counts.reduce(kernel, 1, ys, z)
            single = score_tables(kernel, counts.tables(1, ys, z), data.cards)
            assert together.tobytes() == single.tobytes()
        some = [90, 3, 41, 60]  # far apart: picked out of the counts, in any order
        assert (
            counts.reduce(kernel, 1, some, z).tobytes()
            == counts.reduce(kernel, 1, range(2, 91), z)[:, np.array(some) - 2].tobytes()
        )


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{len(kernel.settings)}")
def test_strata_larger_than_the_tables_of_logarithms(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    data = strata_of_sizes([140_000, 3_000, 200], 6)
    for counts in paths(monkeypatch, data):
        for z in (frozenset[int](), frozenset({0})):
            together = counts.reduce(kernel, 1, range(2, 7), z)
            tables = counts.tables(1, range(2, 7), z)
            assert together.tobytes() == score_tables(kernel, tables, data.cards).tobytes()


def exact_log_posterior(data: Dataset, y: int, z: Sequence[int], prior: float) -> float:
    tables = reference.strata(data, 1, y, z)
    all_z = reference.n_configurations(data, z)
    return float(reference.bayes(tables, 2, 2, all_z, (1.0, 1.0, 1.0), prior)[0])


@pytest.mark.parametrize("prior", few([1e-12, 0.5, 1 - 1e-12], 1))
def test_posteriors_keep_their_digits_near_zero_and_one(prior: float) -> None:
    """Products of up to 1,500 odds: the logarithm is taken every 512, and what is left of 1 is kept, not lost."""
    with mp.workdps(60):
        for sizes, seed in (([7] * 1500, 1), ([300] * 5, 2), ([20_000], 3)):
            data = strata_of_sizes(sizes, 6, seed)
            z = [0] if len(sizes) > 1 else []
            got = Counts(data).reduce(kernels.bayes(prior=prior), 1, [2, 3, 5], frozenset(z))[0]
            want = [exact_log_posterior(data, y, z, prior) for y in (2, 3, 5)]
            # An error in the log-likelihoods, 1e-14 of them, is a relative one in a posterior near 0.
            np.testing.assert_allclose(got, want, rtol=1e-12 + 1e-14 * data.n_rows)


def test_blocks_of_all_pairs_put_together_are_all_pairs() -> None:
    rng = np.random.default_rng(5)
    data = reference.random_dataset(rng, n_rows=130, cards=[2, 2, 3, 2, 12, 2, 2, 4, 2, 2] * 4)
    counts = Counts(data)
    for kernel in KERNELS:
        whole = counts.reduce_all(kernel)
        for max_pairs in (1, 38, 39, 100, 10_000):
            blocks = list(counts.all_pairs_blocks(kernel, max_pairs=max_pairs))
            assert [x for xs, _ in blocks for x in xs] == list(range(39))
            assert all(len(xs) == 1 or block.shape[1] <= max_pairs for xs, block in blocks)
            assert np.concatenate([block for _, block in blocks], axis=1).tobytes() == whole.tobytes()
    with pytest.raises(InputError, match="max_pairs must be a whole number, at least 1; got 0"):
        counts.all_pairs_blocks(KERNELS[0], max_pairs=0)
    assert list(Counts(Dataset.from_codes([[0, 1]])).all_pairs_blocks(KERNELS[0])) == []


def test_all_pairs_of_many_blocks_and_paths_equal_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one block of 512 planes, x inside, before and after a block, variables without planes between."""
    rng = np.random.default_rng(6)
    data = reference.random_dataset(rng, n_rows=70, cards=[3, *[2] * 600, 11, *[2] * 30])
    for counts in paths(monkeypatch, data):
        for kernel in (kernels.g2(), kernels.bayes()):
            pairs = counts.reduce_all(kernel)
            ends = np.cumsum([0, *range(data.n_variables - 1, 0, -1)])
            for x in (0, 1, 2, 300, 511, 512, 600, 601, 602, 630):
                scan = counts.reduce(kernel, x, range(x + 1, data.n_variables), frozenset())
                assert pairs[:, ends[x] : ends[x + 1]].tobytes() == scan.tobytes()


EVERY_RULE: list[Kernel] = [
    *KERNELS,
    kernels.mi(),
    kernels.chi2("observed"),
    kernels.g2("all"),
    kernels.dirichlet(sample_size=3.0),
]


@pytest.mark.parametrize("n_rows", few([1, 2, 3, 65, 300], 2))
@pytest.mark.parametrize("between", [[], [3], [1, 12]], ids=["binary", "threes", "ones and twelves"])
def test_all_pairs_are_scored_as_single_tables_are(
    n_rows: int, between: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer y than lanes, one more and one less; constant columns; binary y side by side or with others between."""
    rng = np.random.default_rng(n_rows)
    for n in (2, 5, 8, 9, 10, 18, 75):
        cards = [2 if not between or v % 3 else between[v % len(between)] for v in range(n)]
        columns = [(rng.integers(0, card, n_rows) * (v % 7 != 5)).astype(np.uint8) for v, card in enumerate(cards)]
        data = Dataset.from_codes(columns, cards=cards)
        tables = [Counts(data).tables(x, range(x + 1, n), frozenset()) for x in range(n - 1)]
        single = {k: np.concatenate([score_tables(k, t, cards) for t in tables], axis=1) for k in EVERY_RULE}
        for counts in paths(monkeypatch, data):
            for kernel, numbers in single.items():
                assert counts.reduce_all(kernel).tobytes() == numbers.tobytes()


def test_pairs_of_more_rows_than_the_tables_of_logarithms_hold() -> None:
    rng = np.random.default_rng(8)
    data = reference.random_dataset(rng, n_rows=140_000, cards=[2] * 11)
    counts = Counts(data)
    for kernel in EVERY_RULE:
        scans = [counts.reduce(kernel, x, range(x + 1, 11), frozenset()) for x in range(10)]
        assert counts.reduce_all(kernel).tobytes() == np.concatenate(scans, axis=1).tobytes()
