"""Survey weights: reading, the effective sample size, and rows in place of weights."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.cli import main
from mnlearn.data import Dataset, effective_rows, pack, read
from mnlearn.errors import DataError, InputError, UnknownNameError, UnsuitableError
from mnlearn.estimators import MarkovBlanketSelector, MarkovNetworkLearner
from mnlearn.simulate import example
from mnlearn.statistics import Counts, Moments

N = 400
RNG = np.random.default_rng(5)
WEIGHTS = np.exp(RNG.normal(0.0, 0.6, N))
CATEGORIES: dict[str, Any] = {name: list(values) for name, values in example(N, seed=2).columns().items()}
NUMBERS: dict[str, Any] = {f"v{j}": RNG.normal(size=N) for j in range(4)}
NUMBERS["v1"] = NUMBERS["v0"] + NUMBERS["v1"]


def rows_of(data: Dataset) -> Counter[tuple[object, ...]]:
    columns = [[levels[code] for code in own] for own, levels in zip(data.columns, data.levels, strict=True) if levels]
    return Counter(zip(*columns, strict=True))


def weighted(columns: dict[str, Any], weights: Any, **options: Any) -> Dataset:
    return read({**columns, "w": weights}, weights="w", **options)


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
def test_effective_sample_size(columns: dict[str, Any]) -> None:
    data = weighted(columns, WEIGHTS)
    effective = WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum()
    assert data.names == tuple(columns)
    assert data.n_rows == round(effective) < data.n_records == N
    assert data.weighting is not None
    assert data.weighting[:2] == ("w", N)
    assert data.weighting.n_effective == pytest.approx(effective)
    assert data.repeats is not None
    np.testing.assert_allclose(data.repeats, WEIGHTS * round(effective) / WEIGHTS.sum(), rtol=1e-9)


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
def test_equal_weights_are_no_weights(columns: dict[str, Any]) -> None:
    data, plain = weighted(columns, np.full(N, 0.3)), read(columns)
    assert data.repeats is None
    assert data.fingerprint() == plain.fingerprint()
    same = mn.learn({**columns, "w": np.full(N, 0.3)}, "mbs", weights="w")
    assert same.result.support == mn.learn(columns, "mbs").result.support


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
@pytest.mark.parametrize("factor", [0.1, 7.0, 1e-200, 1e200])
def test_a_common_factor_changes_nothing(columns: dict[str, Any], factor: float) -> None:
    data, scaled = weighted(columns, WEIGHTS), weighted(columns, WEIGHTS * factor)
    np.testing.assert_array_equal(data.repeats, scaled.repeats)
    assert scaled.fingerprint() == data.fingerprint()


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
def test_rows_of_weight_zero_are_dropped_rows(columns: dict[str, Any]) -> None:
    weights = np.where(np.arange(N) % 3, WEIGHTS, 0.0)
    kept = {name: [value for value, w in zip(values, weights, strict=True) if w] for name, values in columns.items()}
    data, less = weighted(columns, weights), weighted(kept, weights[weights > 0])
    assert data.fingerprint() == less.fingerprint()
    assert data.weighting == less.weighting


def test_moments_are_weighted() -> None:
    moments = Moments(weighted(NUMBERS, WEIGHTS))
    expected = np.cov(np.array(list(NUMBERS.values())), aweights=WEIGHTS, ddof=0)
    np.testing.assert_allclose(moments.covariance, expected, rtol=1e-9, atol=1e-12)
    assert moments.n_rows == round(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())


def test_whole_weights_and_repeats_differ_in_the_number_of_rows() -> None:
    times = RNG.integers(1, 4, N)
    repeated = Moments(read({**NUMBERS, "w": times}, repeats="w"))
    survey = Moments(weighted(NUMBERS, times.astype(float)))
    np.testing.assert_allclose(survey.covariance, repeated.covariance, rtol=1e-9)
    assert repeated.n_rows == times.sum()
    assert survey.n_rows == round(times.sum() ** 2 / (times**2).sum())


def test_effective_rows_have_the_weighted_shares() -> None:
    data = weighted(CATEGORIES, WEIGHTS)
    rows = effective_rows(data)
    assert rows.n_rows == rows.n_records == data.n_rows
    assert rows.weighting == data.weighting
    x, y = np.array(data.columns), np.array(rows.columns)
    for a in range(data.n_variables):
        for b in range(a + 1):
            share = np.average((x[a] == 1) & (x[b] == 1), weights=WEIGHTS)
            error = np.sqrt(share * (1 - share) / rows.n_rows)
            assert abs(np.mean((y[a] == 1) & (y[b] == 1)) - share) < 0.5 * error + 1 / rows.n_rows


def test_each_row_is_taken_as_often_as_its_weight_rounded() -> None:
    codes = {f"x{j}": [(k >> j) & 1 for k in range(64)] for j in range(6)}  # all rows differ
    weights = np.exp(np.random.default_rng(1).normal(0, 1.0, 64))
    data = weighted(codes, weights)
    counts = rows_of(effective_rows(data))
    for row, weight in zip(zip(*codes.values(), strict=True), data.repeats.tolist(), strict=True):  # type: ignore[union-attr]
        assert np.floor(weight) <= counts[row] <= np.ceil(weight)


def test_effective_rows_do_not_depend_on_order_or_labels() -> None:
    rows = effective_rows(weighted(CATEGORIES, WEIGHTS))
    shuffled = RNG.permutation(N)
    moved = {name: [values[k] for k in shuffled] for name, values in CATEGORIES.items()}
    assert rows_of(effective_rows(weighted(moved, WEIGHTS[shuffled]))) == rows_of(rows)
    backwards = effective_rows(weighted(dict(reversed(CATEGORIES.items())), WEIGHTS))
    assert rows_of(backwards.select(rows.names)) == rows_of(rows)
    other = {"yes": "a", "no": "z"}  # the codes change places
    renamed = {name: [other.get(value, value) for value in values] for name, values in CATEGORIES.items()}
    found = rows_of(effective_rows(weighted(renamed, WEIGHTS)))
    assert found == Counter({tuple(other.get(str(v), v) for v in row): n for row, n in rows_of(rows).items()})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0, 2.0], "must hold finite numbers that are not negative; data row 2 holds -1.0"),
        ([1.0, float("inf"), 2.0], "data row 2 holds inf"),
        ([1.0, None, 2.0], "data row 2 holds nothing"),
        (["a", "b", "c"], "weights: column 'w' must hold numbers"),
        ([0.0, 0.0, 1.0], "at least 2 rows with a weight other than zero; .* Check the weights"),
        ([0.0, 0.0, 0.0], "at least 2 rows with a weight other than zero"),
        ([1.0, 1e-9, 1e-9], r"must be worth at least 2 rows; .* is 1\.00"),
    ],
)
def test_bad_weights(weights: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read({"a": [0, 1, 0], "b": [1, 1, 0], "w": weights}, weights="w")


def test_bad_arguments() -> None:
    table = {"a": [0, 1, 0], "b": [1, 1, 0], "w": [1.0, 2.0, 1.5]}
    with pytest.raises(UnknownNameError, match="weights: column 'v' does not exist"):
        read(table, weights="v")
    with pytest.raises(InputError, match="weights must be the name of a column; got"):
        read(table, weights=[1.0, 2.0, 1.5])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weights and repeats exclude each other"):
        read(table, weights="w", repeats="b")
    with pytest.raises(InputError, match="weights cannot be applied to a Dataset"):
        read(read(table), weights="w")
    with pytest.raises(UnsuitableError, match="effective_rows needs categorical variables; 'v0' is continuous"):
        effective_rows(weighted(NUMBERS, WEIGHTS))


def test_what_needs_whole_rows_refuses_weights(tmp_path: Path) -> None:
    categories, numbers = weighted(CATEGORIES, WEIGHTS), weighted(NUMBERS, WEIGHTS)
    with pytest.raises(UnsuitableError, match=r"must be whole, and these have weights\. .*effective_rows"):
        Counts(categories)
    with pytest.raises(UnsuitableError, match="rows of a pack must be whole"):
        pack(numbers, tmp_path / "a.mnpack")
    with pytest.raises(UnsuitableError, match=r"rows drawn without replacement .*sampling='bootstrap'"):
        numbers.sample(10, seed=1)
    with pytest.raises(UnsuitableError, match="this method reads one by one must be whole"):
        mn.learn(numbers, "aracne", information="rank")
    with pytest.raises(InputError, match="weights cannot be used to compare groups"):
        mn.compare_groups({**CATEGORIES, "w": WEIGHTS}, by="stress", weights="w", method="mpl")


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
def test_learning(columns: dict[str, Any], tmp_path: Path) -> None:
    chosen = list(columns)[:4]
    table = {**{name: columns[name] for name in chosen}, "w": WEIGHTS}
    network = mn.learn(table, weights="w")
    assert network.settings["weights"] == "w"
    assert network.names == tuple(chosen)
    assert network.n_rows == round(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())
    assert f"400 rows weighted by 'w' (worth {network.n_rows})" in network.summary()
    network.save(tmp_path / "a.json")
    loaded = mn.load(tmp_path / "a.json")
    assert f"{network.n_rows} effective rows" in loaded.summary()
    assert loaded.with_data(table).data is not None
    again = network.bootstrap(2, sampling="bootstrap")
    assert again.resampling is not None
    assert mn.fit_parameters(network).report.n_rows == network.n_rows


@pytest.mark.parametrize("columns", [CATEGORIES, NUMBERS])
def test_other_calls(columns: dict[str, Any]) -> None:
    first, second = list(columns)[:2]
    table = {first: columns[first], second: columns[second], "w": WEIGHTS}
    n_rows = weighted(columns, WEIGHTS).n_rows
    assert mn.validate([(first, second)], table, weights="w", n_triplets=50).rows == n_rows
    assert len(mn.score(table, [(first, second)], "ebic", weights="w").terms) == 2
    found = mn.independence_test(table, first, second, weights="w")
    assert found.log_p == mn.independence_test({**table, "w": 3 * WEIGHTS}, first, second, weights="w").log_p


def test_discretised_columns_are_weighted() -> None:
    network = mn.learn({**NUMBERS, "w": WEIGHTS}, "mpl", weights="w", discretize="frequency", bins=2)
    assert network.data is not None
    assert network.data.cards == (2, 2, 2, 2)
    assert network.data.repeats is None
    assert network.data.n_rows == network.n_rows


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = {**CATEGORIES, "w": WEIGHTS}
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    assert main(["learn", str(tmp_path / "a.csv"), "--weights", "w", "--method", "mpl", "--json"]) == 0
    assert '"weights": "w"' in capsys.readouterr().out
    assert main(["learn", str(tmp_path / "a.csv"), "--weights", "w", "--repeats", "w"]) == 2
    assert "--weights and repeats exclude each other" in capsys.readouterr().err


def test_estimators() -> None:
    X = np.column_stack(list(NUMBERS.values()))
    weights = np.where(np.arange(N) % 3, WEIGHTS, 0.0)
    fitted = MarkovNetworkLearner().fit(X, sample_weight=weights)
    less = MarkovNetworkLearner().fit(X[weights > 0], sample_weight=weights[weights > 0])
    assert fitted.result_.result.support == less.result_.result.support
    assert fitted.score(X) == pytest.approx(less.score(X))
    equal = MarkovNetworkLearner().fit(X, sample_weight=np.full(N, 2.0))
    assert equal.result_.result.support == MarkovNetworkLearner().fit(X).result_.result.support
    selector = MarkovBlanketSelector(discretize=None).fit(X[:, 1:], X[:, 0], sample_weight=WEIGHTS)
    assert selector.support_.tolist() == [True, False, False]
    with pytest.raises(InputError, match="sample_weight must be as scikit-learn requires"):
        MarkovNetworkLearner().fit(X, sample_weight=WEIGHTS[:-1])
    with pytest.raises(DataError, match="not negative; data row 1 holds -1"):
        MarkovNetworkLearner().fit(X, sample_weight=-np.ones(N))
