"""Screens: the strongest partners of each variable are those of a sort of all pairs, on every path, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from mnlearn import _core
from mnlearn.data import Dataset, pack, read
from mnlearn.errors import InputError, MnlearnError
from mnlearn.statistics import Counts, Moments, ShardedCounts, TestwiseMoments
from mnlearn.statistics.screens import (
    BlockScreen,
    CorrelationScreen,
    ScreenRule,
    StrongestPartners,
    chi_square_quantile,
    correlation_evidence,
    least_correlation,
    run,
)

from references import screening as twin

CARDS = {"binary": [2], "ternary": [3], "small": [2, 3], "any": [1, 2, 3, 4, 9, 12]}
RULES = [
    ScreenRule(k=3),
    ScreenRule(k=20),
    ScreenRule(k=4, statistic="mi"),
    ScreenRule(k=5, threshold=0, statistic="x2"),
    ScreenRule(k=None, threshold=5.0),
    ScreenRule(k=500, threshold=0),
]


def data_of(n: int, n_rows: int, kind: str, seed: int, concentration: float = 3.0) -> Dataset:
    """Return categorical variables of which a third depend on earlier ones; rare states at a low concentration."""
    rng = np.random.default_rng([n, n_rows, seed])
    columns: list[np.ndarray] = []
    cards = rng.choice(CARDS[kind], n).tolist()
    for v, card in enumerate(cards):
        column = rng.choice(card, n_rows, p=rng.dirichlet(np.full(card, concentration)))
        if v and rng.random() < 1 / 3:
            column = np.where(rng.random(n_rows) < 0.5, columns[int(rng.integers(v))] % card, column)
        columns.append(column.astype(np.uint8))
    return Dataset.from_codes(columns, cards=cards)


def counts_on(data: Dataset, path: str, n_jobs: int = 1) -> Counts:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        return Counts(data, n_jobs=n_jobs)


def screened(counts: Counts, rule: ScreenRule) -> StrongestPartners:
    return counts.screen(rule.k, threshold=rule.threshold, statistic=rule.statistic)


def assert_same(found: StrongestPartners, want: StrongestPartners) -> None:
    np.testing.assert_array_equal(found.starts, want.starts)
    np.testing.assert_array_equal(found.partners, want.partners)
    assert found.evidence.tobytes() == want.evidence.tobytes()


def as_dict(found: StrongestPartners) -> dict[tuple[int, int], float]:
    u, v, values = found.pairs()
    return {(a, b): e for a, b, e in zip(u.tolist(), v.tolist(), values.tolist(), strict=True)}


def all_pairs(data: Dataset, rule: ScreenRule) -> StrongestPartners:
    """Return the lists by scans of all pairs without a filter."""
    return run(BlockScreen(Counts(data, n_jobs=1), rule))


ROWS = st.sampled_from([1, 2, 5, 63, 64, 65, 130, 500, 1600, 2000])


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 90),
    n_rows=ROWS,
    kind=st.sampled_from(sorted(CARDS)),
    rule=st.sampled_from(RULES),
    rare=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_filter_loses_no_pair_on_any_path(
    n: int, n_rows: int, kind: str, rule: ScreenRule, rare: bool, seed: int
) -> None:
    data = data_of(n, n_rows, kind, seed, 0.1 if rare else 3.0)
    want = all_pairs(data, rule)
    for path in _core.levels():
        assert_same(screened(counts_on(data, path), rule), want)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(2, 12), n_rows=ROWS, kind=st.sampled_from(sorted(CARDS)), seed=st.integers(0, 99))
@pytest.mark.parametrize("statistic", ["g2", "x2", "mi"])
def test_evidence_is_that_of_the_tables(n: int, n_rows: int, kind: str, statistic: str, seed: int) -> None:
    data = data_of(n, n_rows, kind, seed)
    found = as_dict(Counts(data).screen(k=n, threshold=0, statistic=statistic))  # type: ignore[arg-type]
    want = twin.all_evidence(data, statistic)
    for pair, value in want.items():
        assert np.isnan(value) or found.get(pair, 0.0) == pytest.approx(value, rel=1e-5, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(2, 40), kind=st.sampled_from(sorted(CARDS)), rule=st.sampled_from(RULES), seed=st.integers(0, 99))
def test_the_lists_are_those_of_a_sort(n: int, kind: str, rule: ScreenRule, seed: int) -> None:
    data = data_of(n, 60, kind, seed)  # few rows: many ties
    everything = as_dict(Counts(data).screen(k=None, threshold=0, statistic=rule.statistic))
    least = np.float32(rule.floor(n, 60))
    assert as_dict(screened(Counts(data), rule)) == twin.kept_pairs(n, everything, rule.k, float(least))


def test_lists_are_symmetric_and_ascending() -> None:
    found = Counts(data_of(80, 300, "small", 1)).screen(k=3)
    pairs = set()
    for x in range(80):
        here = slice(found.starts[x], found.starts[x + 1])
        mine = found.partners[here]
        assert (np.diff(mine) > 0).all()
        pairs |= {(x, int(y), float(e)) for y, e in zip(mine, found.evidence[here], strict=True)}
    assert pairs == {(y, x, e) for x, y, e in pairs}
    assert found.evidence.dtype == np.float32
    assert found.partners.dtype == np.int32
    keys = found.candidates().keys
    assert keys.tolist() == sorted(x * 80 + y for x, y, _ in pairs if x < y)


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
@pytest.mark.parametrize("kind", ["binary", "any"])
def test_threads_change_no_bit(kind: str, n_jobs: int) -> None:
    data = data_of(700, 200, kind, 2)
    assert_same(Counts(data, n_jobs=n_jobs).screen(k=4), Counts(data, n_jobs=1).screen(k=4))


def test_order_of_rows_and_labels_do_not_matter() -> None:
    data = data_of(60, 400, "binary", 3)
    want = Counts(data).screen(k=5)
    rows = np.random.default_rng(0).permutation(400)
    assert_same(Counts(Dataset.from_codes([c[rows] for c in data.columns])).screen(k=5), want)
    flipped = Counts(Dataset.from_codes([1 - c for c in data.columns])).screen(k=5)
    np.testing.assert_array_equal(flipped.partners, want.partners)
    np.testing.assert_allclose(flipped.evidence, want.evidence, rtol=1e-6)


def test_order_of_columns_does_not_matter() -> None:
    data = data_of(60, 400, "small", 4)
    order = np.random.default_rng(0).permutation(60)
    shuffled = as_dict(Counts(Dataset.from_codes([data.columns[v] for v in order])).screen(k=None, threshold=8.0))
    want = as_dict(Counts(data).screen(k=None, threshold=8.0))
    moved = {tuple(sorted((int(order[a]), int(order[b])))): e for (a, b), e in shuffled.items()}
    assert moved.keys() == want.keys()
    assert all(moved[pair] == pytest.approx(e, rel=1e-5) for pair, e in want.items())


def test_repeats_count_as_rows() -> None:
    data = data_of(30, 90, "any", 5)
    repeats = np.random.default_rng(1).integers(1, 4, 90)
    with_repeats = Dataset.from_codes(list(data.columns), cards=list(data.cards), repeats=repeats)
    written_out = Dataset.from_codes([np.repeat(c, repeats) for c in data.columns], cards=list(data.cards))
    assert_same(Counts(with_repeats).screen(k=4), Counts(written_out).screen(k=4))


def test_gaps_leave_each_pair_its_own_rows() -> None:
    rng = np.random.default_rng(6)
    columns = {f"v{k}": rng.integers(0, 2, 200).astype(object) for k in range(12)}
    for k in (1, 4, 7):
        columns[f"v{k}"][rng.random(200) < 0.2] = None
    columns["v2"] = columns["v1"].copy()
    columns["v2"][rng.random(200) < 0.1] = None
    data = read(columns, missing="testwise")
    assert data.gaps
    found = as_dict(Counts(data).screen(k=12, threshold=0))
    for pair, value in twin.all_evidence(data, "g2").items():
        assert found.get(pair, 0.0) == pytest.approx(value, rel=1e-5, abs=1e-9)
    assert_same(Counts(data).screen(k=3), all_pairs(data, ScreenRule(k=3)))


def test_packs_and_shards_give_the_same_bits(tmp_path: Path) -> None:
    data = data_of(40, 300, "any", 7)
    want = Counts(data).screen(k=4)
    pack(data, tmp_path / "all.mnpack")
    assert_same(Counts(read(tmp_path / "all.mnpack")).screen(k=4), want)
    shards = []
    for k, rows in enumerate(np.array_split(np.arange(300), 3)):
        part = Dataset(data.names, data.cards, tuple(c[rows] for c in data.columns), data.levels)
        shards.append(tmp_path / f"{k}.mnpack")
        pack(part, shards[-1])
    assert_same(ShardedCounts(None, shards).screen(k=4), want)


@pytest.mark.parametrize("path", _core.levels())
def test_many_rows(path: str) -> None:
    data = data_of(12, 140_000, "small", 8)  # beyond the tables of logarithms
    assert_same(counts_on(data, path).screen(k=3), all_pairs(data, ScreenRule(k=3)))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 50])
def test_hardly_any_data(n: int, n_rows: int) -> None:
    data = Dataset.from_codes([np.arange(n_rows) % 2] * n)
    found = Counts(data).screen(k=1)
    assert len(found.partners) == (2 if n == 2 and n_rows > 1 else 0)
    assert found.starts.tolist() == ([0, 1, 2] if len(found.partners) else [0] * (n + 1))


def test_constant_columns_have_no_partners() -> None:
    columns: list[np.ndarray] = [
        np.zeros(100, dtype=np.uint8),
        np.arange(100) % 2,
        np.arange(100) // 2 % 2,
        np.zeros(100, dtype=np.uint8),
    ]
    assert as_dict(Counts(Dataset.from_codes(columns, cards=[2, 2, 2, 1])).screen(k=3, threshold=0)) == {}


def test_one_scale_for_all_numbers_of_states() -> None:
    statistic = np.array([0.0, 0.5, 3.0, 18.0, 100.0, 600.0])
    for dof in (1, 2, 3, 4, 6, 16, 200):
        found = _core.one_dof_equivalents(statistic, np.full(6, float(dof)))
        want = chi2.isf(chi2.sf(statistic, dof), 1)
        np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12)
    assert _core.one_dof_equivalents(np.array([5.0, np.nan]), np.array([0.0, 2.0])).tolist() == [0.0, 0.0]
    many = _core.one_dof_equivalents(np.array([41_000.0]), np.array([40_500.0]))
    assert many[0] == pytest.approx(chi2.isf(chi2.sf(41_000, 40_500), 1), rel=1e-3)


def test_quantile_of_chi_square() -> None:
    assert chi_square_quantile(0.001) == pytest.approx(chi2.isf(0.001, 1))
    assert chi_square_quantile(2.0) == 0.0


def test_pushed_counts_give_the_same_bits() -> None:
    data = data_of(50, 200, "binary", 9)
    counts = Counts(data)
    scan = counts.pair_scan(ScreenRule(k=4))
    ones = np.array(data.columns).astype(np.int64)
    u, v = np.triu_indices(50, 1)
    both = (ones @ ones.T)[u, v].astype(np.int32)
    scan.pairs.push_binary(v.astype(np.int32), u.astype(np.int32), both)
    want = counts.screen(k=4)
    assert_same(StrongestPartners(50, *scan.lists.lists()), want)
    scan = counts.pair_scan(ScreenRule(k=4))
    scan.pairs.push_pairs(u.astype(np.int32), v.astype(np.int32), 2)
    assert_same(StrongestPartners(50, *scan.lists.lists()), want)
    assert (scan.lists.bars() >= np.float32(ScreenRule(k=4).floor(50, 200))).all()


@pytest.mark.parametrize(
    ("xs", "ys", "both", "says"),
    [
        ([0], [0], [1], "two different"),
        ([0], [9], [1], "0 to 2"),
        ([0, 1], [1], [1], "length"),
        ([0], [1], [99], "rows"),
    ],
)
def test_impossible_pairs_are_refused(xs: Sequence[int], ys: Sequence[int], both: Sequence[int], says: str) -> None:
    scan = Counts(Dataset.from_codes([[0, 1] * 4] * 3)).pair_scan(ScreenRule())
    with pytest.raises(InputError, match=says):
        scan.pairs.push_binary(*(np.array(a, dtype=np.int32) for a in (xs, ys, both)))


@pytest.mark.parametrize(
    ("settings_", "says"),
    [
        ({"k": 0}, "k must be"),
        ({"k": True}, "k must be"),
        ({"k": None}, "threshold must be given"),
        ({"threshold": -1.0}, "threshold must be"),
        ({"threshold": float("nan")}, "threshold must be"),
        ({"statistic": "g3"}, "statistic"),
    ],
)
def test_bad_settings_are_refused(settings_: dict[str, object], says: str) -> None:
    with pytest.raises(MnlearnError, match=says):
        ScreenRule(**settings_)  # type: ignore[arg-type]


class Stopping:
    """Monitor that cancels after some calls."""

    def __init__(self, after: int) -> None:
        self.left, self.shares = after, [0.0]

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002 - the protocol
        self.shares.append(done / (total or 1))

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_progress_and_cancelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.statistics.screens.PAIRS_BETWEEN_LOOKS", 1000)
    counts = Counts(data_of(200, 100, "binary", 1))
    monitor = Stopping(10**6)
    assert counts.screen(k=2, monitor=monitor).complete
    assert monitor.shares == sorted(monitor.shares)
    assert monitor.shares[-1] == 1.0
    assert not counts.screen(k=2, monitor=Stopping(1)).complete


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.statistics.screens.MOST_ENTRIES", 10)
    with pytest.raises(InputError, match="at most 5 pairs"):
        Counts(data_of(30, 100, "binary", 1)).screen(k=None, threshold=0)


# Continuous variables.


def continuous(n: int, n_rows: int, seed: int = 0, repeats: np.ndarray | None = None) -> Dataset:
    rng = np.random.default_rng([n, n_rows, seed])
    rows = (
        rng.normal(size=(n_rows, n)) @ (np.eye(n) + 0.3 * (rng.random((n, n)) < 2 / n)) * 10.0 ** rng.integers(-3, 4, n)
    )
    rows[:, 0] = 7.0
    names = tuple(f"x{k}" for k in range(n))
    return Dataset(names, (0,) * n, tuple(rows.T.copy()), (None,) * n, repeats=repeats)


@pytest.mark.parametrize("statistic", ["g2", "x2", "mi"])
@pytest.mark.parametrize("block", [1 << 8, 1 << 22])
def test_correlations_are_those_of_the_rows(statistic: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.statistics.screens._BLOCK_VALUES", block)
    data = continuous(50, 40)
    found = as_dict(Moments(data).screen(k=4, statistic=statistic))  # type: ignore[arg-type]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(np.corrcoef(np.array(data.columns)))
    u, v = np.triu_indices(50, 1)
    values = correlation_evidence(r[u, v], 40, statistic)  # type: ignore[arg-type]
    everything = dict(zip(zip(u.tolist(), v.tolist(), strict=True), values.tolist(), strict=True))
    want = twin.kept_pairs(50, everything, 4, ScreenRule(k=4, statistic=statistic).floor(50, 40))  # type: ignore[arg-type]
    assert found.keys() == want.keys()
    assert all(found[pair] == pytest.approx(value, rel=1e-5) for pair, value in want.items())


def test_blocks_change_no_bit_of_correlations(monkeypatch: pytest.MonkeyPatch) -> None:
    data, rule = continuous(70, 33, repeats=np.arange(33) % 3 + 1), ScreenRule(k=3)
    want = run(CorrelationScreen(data, rule))
    monkeypatch.setattr("mnlearn.statistics.screens._BLOCK_VALUES", 33 * 17)
    assert_same(run(CorrelationScreen(data, rule)), want)
    monkeypatch.setattr("mnlearn.statistics.screens._SINGLE_ROWS", 1)
    assert_same(run(CorrelationScreen(data, rule)), want)
    assert_same(Moments(data).screen(k=3), want)


def test_copies_and_covariances() -> None:
    rows = np.random.default_rng(0).normal(size=50)
    data = Dataset(("a", "b"), (0, 0), (rows, 2 * rows + 1), (None, None))
    (value,) = Moments(data).screen(k=1).pairs()[2].tolist()
    assert np.isfinite(value)
    assert value > 1000
    moments = Moments.from_covariance([[1.0, 0.5], [0.5, 1.0]], n_rows=100)
    assert moments.screen(k=1).pairs()[2][0] == pytest.approx(-100 * np.log(0.75), rel=1e-6)


def test_continuous_gaps() -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.normal(size=(3, 80))
    b = a + b
    a[:10], b[70:] = np.nan, np.nan
    data = Dataset(("a", "b", "c"), (0, 0, 0), (a, b, c), (None,) * 3, gaps=frozenset({"a", "b"}))
    found = as_dict(TestwiseMoments(data).screen(k=2, threshold=0))
    r = np.corrcoef(a[10:70], b[10:70])[0, 1]
    assert found[0, 1] == pytest.approx(-60 * np.log(1 - r * r), rel=1e-5)


def test_least_correlation_is_the_reverse() -> None:
    r = np.array([0.0, 0.1, 0.9])
    for statistic in ("g2", "x2", "mi"):
        values = correlation_evidence(r, 50, statistic)
        np.testing.assert_allclose(least_correlation(values, 50, statistic), r, atol=1e-6)
