"""Regressions on neighbours beside slow twins: least squares of NumPy and logistic regression of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from mnlearn.data import Dataset, read
from mnlearn.errors import InputError
from mnlearn.regression import predictability as module
from mnlearn.regression.predictability import NeighborRegressions

Array = np.ndarray[Any, Any]


def mixed(seed: int, rows: int = 70) -> Dataset:
    """Return a continuous, an ordinal, a nominal and a binary column that depend on each other, with repeats."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(rows, 4)) + rng.normal(size=(rows, 1))
    columns = {
        "height": latent[:, 0].tolist(),
        "grade": np.clip(latent[:, 1].round() + 3, 1, 5).astype(int).tolist(),
        "town": np.array(["a", "b", "c"])[np.digitize(latent[:, 2], [-0.5, 0.9])].tolist(),
        "smoker": np.where(latent[:, 3] > 0.4, "yes", "no").tolist(),
        "n": rng.integers(1, 4, rows).tolist(),
    }
    return read(columns, repeats="n")


def expanded(data: Dataset) -> Dataset:
    """Return the data with repeated rows instead of repeats."""
    assert data.repeats is not None
    rows = np.repeat(np.arange(data.n_records), data.repeats)
    return Dataset(data.names, data.cards, tuple(column[rows] for column in data.columns), data.levels)


def reordered(data: Dataset, rows: Array) -> Dataset:
    repeats = None if data.repeats is None else data.repeats[rows]
    return Dataset(data.names, data.cards, tuple(column[rows] for column in data.columns), data.levels, repeats)


def splits(fits: NeighborRegressions) -> Iterator[tuple[Array, Array]]:
    """Yield the weights of the rows to fit to and to judge by: all rows, then each fold."""
    everything = fits._held.sum(axis=0)
    yield everything, everything
    yield from ((everything - held, held) for held in fits._held)


def indicators(codes: Array) -> Array:
    return np.asarray(codes[:, None] == np.unique(codes)[None], dtype=np.float64)


@settings(max_examples=12)
@given(seed=st.integers(0, 500), x=st.sampled_from([0, 1]), n_neighbors=st.integers(0, 3))
def test_r2_is_that_of_least_squares(seed: int, x: int, n_neighbors: int) -> None:
    fits = NeighborRegressions(mixed(seed), 4, seed)
    rows = fits._data
    blocks = {
        0: rows.columns[0][:, None],
        1: np.array(rows.levels[1], dtype=float)[rows.columns[1]][:, None],
        2: indicators(rows.columns[2]),
        3: rows.columns[3][:, None].astype(float),
    }
    neighbors = [y for y in range(4) if y != x][:n_neighbors]
    design = np.concatenate([np.ones((rows.n_records, 1)), *(blocks[y] for y in neighbors)], axis=1)
    target, found = blocks[x][:, 0], []
    for known, judged in splits(fits):
        root = np.sqrt(known)
        coefficients = np.linalg.lstsq(design * root[:, None], target * root)[0]
        mean = np.average(target, weights=known)
        found.append([judged @ (target - design @ coefficients) ** 2, judged @ (target - mean) ** 2])
    (error, spread), cross = found[0], np.sum(found[1:], axis=0)
    assert fits.explained(x, neighbors) == pytest.approx((1 - error / spread, 1 - cross[0] / cross[1]), abs=1e-10)


@pytest.mark.parametrize(("x", "neighbors"), [(2, [0, 1]), (3, [0, 1, 2]), (1, [3])])
def test_accuracy_is_that_of_logistic_regression(x: int, neighbors: list[int]) -> None:
    fits = NeighborRegressions(mixed(x), 3, 0)
    rows = fits._data
    values: Array = rows.columns[0]
    values = values - np.average(values, weights=rows.repeats)
    values = values / np.sqrt(np.average(values**2, weights=rows.repeats))
    blocks = [values[:, None] if y == 0 else indicators(rows.columns[y]) for y in neighbors]
    design, target, hits = np.concatenate(blocks, axis=1), rows.columns[x], []
    for known, judged in splits(fits):
        seen = known > 0
        # scikit-learn has one coefficient instead of two for a binary target: half the penalty.
        twin = LogisticRegression(C=2.0 if rows.cards[x] == 2 else 1.0, tol=1e-7, max_iter=500)
        twin.fit(design[seen], target[seen], sample_weight=known[seen])
        hits.append(judged @ (twin.predict(design) == target))
    assert fits.guessed(x, neighbors) == pytest.approx((hits[0] / rows.n_rows, sum(hits[1:]) / rows.n_rows), abs=1e-12)


@settings(max_examples=10)
@given(seed=st.integers(0, 500), folds=st.integers(2, 7))
def test_order_of_rows_and_repeats_change_nothing(seed: int, folds: int) -> None:
    data = mixed(seed, rows=25)
    shuffled = reordered(data, np.random.default_rng(seed).permutation(data.n_records))
    found = [NeighborRegressions(each, folds, 3) for each in (data, shuffled, expanded(data))]
    for x in (0, 1):
        of_rows, of_shuffled, of_expanded = (fits.explained(x, {2, 3}) for fits in found)
        assert of_rows == of_shuffled
        assert of_rows == pytest.approx(of_expanded, abs=1e-10)
    for x in (1, 2):
        of_rows, of_shuffled, of_expanded = (fits.guessed(x, {0, 3}) for fits in found)
        assert of_rows == of_shuffled
        assert of_rows == pytest.approx(of_expanded, abs=1e-10)


def test_labels_of_states_change_nothing() -> None:
    data = mixed(8)
    columns = list(data.columns)
    for x in (2, 3):
        columns[x] = (data.cards[x] - 1 - data.columns[x]).astype(data.columns[x].dtype)
    turned = Dataset(data.names, data.cards, tuple(columns), data.levels, data.repeats)
    found, other = (NeighborRegressions(each, 5, 0) for each in (data, turned))
    for x in (2, 3):
        assert found.guessed(x, {0, 1, 5 - x}) == pytest.approx(other.guessed(x, {0, 1, 5 - x}), abs=1e-12)
    assert found.explained(0, {1, 2, 3}) == pytest.approx(other.explained(0, {1, 2, 3}), abs=1e-10)


@settings(max_examples=30)
@given(repeats=st.lists(st.integers(1, 9), min_size=1, max_size=12), folds=st.integers(2, 15))
def test_folds_share_the_rows_evenly(repeats: list[int], folds: int) -> None:
    dealt = module._dealt(np.array(repeats), folds, 0)
    sizes = dealt.sum(axis=1)
    assert dealt.min() >= 0
    assert dealt.sum(axis=0).tolist() == repeats
    assert sizes.max() - sizes.min() <= 1


def test_another_seed_gives_other_folds() -> None:
    data = mixed(1)
    found = np.array([NeighborRegressions(data, 5, seed).explained(0, {1, 2, 3}) for seed in range(5)])
    assert np.ptp(found[:, 0]) < 1e-12
    assert len(set(found[:, 1])) == 5


def test_noise_is_not_predicted_in_rows_that_were_held_out() -> None:
    rng = np.random.default_rng(0)
    numbers = NeighborRegressions(read(rng.normal(size=(60, 12))), 10, 0)
    codes = NeighborRegressions(Dataset.from_codes(list(rng.integers(0, 3, size=(12, 60)))), 10, 0)
    everyone = set(range(12))
    explained = np.array([numbers.explained(x, everyone - {x}) for x in range(12)])
    guessed = np.array([codes.guessed(x, everyone - {x}) for x in range(12)])
    assert (explained[:, 0] > 0).all()
    assert (explained[:, 1] < explained[:, 0]).all()
    assert explained[:, 1].mean() < 0
    assert (guessed[:, 1] < guessed[:, 0]).all()
    assert abs(guessed[:, 1].mean() - 1 / 3) < 0.05
    assert guessed[:, 0].mean() > 0.6


def test_equal_rows_do_not_leak_from_fold_to_fold() -> None:
    found = []
    for seed in range(40):
        codes = np.random.default_rng(seed).integers(0, 2, (4, 60))
        found.append(NeighborRegressions(Dataset.from_codes(list(codes)), 10, seed).guessed(0, {1, 2, 3}))
    assert np.array(found)[:, 1].mean() < 0.52  # 0.54 if they were spread evenly


def test_accuracy_of_a_noisy_copy() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 4000)
    second = np.where(rng.random(4000) < 0.8, first, 1 - first)
    found = NeighborRegressions(Dataset.from_codes([first, second]), 10, 0).guessed(0, {1})
    assert found == ((first == second).mean(),) * 2


def test_extreme_neighbourhoods() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=20)
    wide = np.column_stack([x, x, np.full(20, 3.0), rng.normal(size=(20, 30))])
    fits = NeighborRegressions(read(wide), 5, 0)
    assert fits.explained(0, {1}) == pytest.approx((1, 1), abs=1e-12)
    assert fits.explained(0, {1, 2}) == pytest.approx((1, 1), abs=1e-12)  # beside a constant
    assert fits.explained(2, {0, 1}) is None  # a constant has no variance
    assert fits.explained(0, set()) == fits.explained(0, {2}) == (0, 0)
    whole, held_out = fits.explained(0, set(range(3, 33))) or (0, 0)  # more neighbours than rows
    assert whole == pytest.approx(1, abs=1e-8)
    assert held_out < 0.5


def test_states_that_the_other_folds_do_not_have() -> None:
    target = np.array([0] * 20 + [1] * 20 + [2])
    neighbor = np.array([0] * 19 + [1] * 20 + [0, 3])
    columns = tuple(each.astype(np.uint8) for each in (target, neighbor, np.zeros(41)))
    data = Dataset(("x", "y", "one"), (4, 4, 2), columns, (tuple("abcd"), tuple("abcd"), tuple("ab")))
    fits = NeighborRegressions(data, 41, 0)  # each row for itself
    whole, held_out = fits.guessed(0, {1}) or (0, 0)
    assert whole == pytest.approx(38 / 41)  # one row does not outweigh the ridge
    assert held_out == pytest.approx(38 / 41)
    assert fits.guessed(0, {2}) == fits.guessed(0, set()) == (20 / 41, 20 / 41)
    assert fits.guessed(2, {0, 1}) == (1, 1)


def test_what_would_not_fit_into_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = NeighborRegressions(mixed(0), 3, 0)
    monkeypatch.setattr(module, "_MOST_NUMBERS", 100)
    assert fits.guessed(1, {0}) is None
    assert fits.explained(1, {2}) is None
    assert fits.guessed(1, set()) is not None


def test_small_batches_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = NeighborRegressions(mixed(4), 6, 0)
    found = fits.guessed(1, {0, 2})
    monkeypatch.setattr(module, "_BLOCK", 1)
    assert fits.guessed(1, {0, 2}) == found


def test_there_are_no_more_folds_than_rows() -> None:
    with pytest.raises(InputError, match=r"folds must be at most 3 for data with 3 rows; got 4\. Use fewer folds"):
        NeighborRegressions(Dataset.from_codes([[0, 1, 1]]), 4, 0)


def test_weighted_rows_count_by_their_weights() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=60).round(1)
    columns = {"x": x, "y": x + rng.normal(size=60), "z": np.where(x > 0, "b", "a"), "w": rng.uniform(0.2, 3, 60)}
    data = read(columns, weights="w")
    fits = NeighborRegressions(data, folds=5, seed=1)
    assert fits._held.sum(axis=0).tolist() == fits._repeats.tolist()
    assert sorted((fits._held > 0).sum(axis=1)) == [12] * 5
    found = fits.explained(1, {0})
    assert found is not None
    r = np.cov(x, columns["y"], aweights=columns["w"])
    assert found[0] == pytest.approx(r[0, 1] ** 2 / (r[0, 0] * r[1, 1]))
    assert found[1] < found[0]
    rows = rng.permutation(60)
    other = NeighborRegressions(read({name: column[rows] for name, column in columns.items()}, weights="w"), 5, 1)
    assert other.explained(1, {0}) == pytest.approx(found, abs=1e-12)
    assert other.guessed(2, {0}) == pytest.approx(fits.guessed(2, {0}), abs=1e-12)
