"""Entropy and the extended criterion against regressions and dictionaries, for both kinds of data."""

from __future__ import annotations

from collections.abc import Callable
from math import log, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph
from mnlearn.scores import Entropy, ExtendedBIC
from mnlearn.statistics import Counts, Moments

from references import counts as reference
from references import mbs as reference_mbs
from references import mpl as reference_mpl

N = 6


def continuous(seed: int, n_rows: int = 40) -> Dataset:
    rng = np.random.default_rng(seed)
    return continuous_dataset(rng.standard_normal((n_rows, N)) @ (np.eye(N) + rng.uniform(-0.5, 0.5, (N, N))), None)


def categorical(seed: int, n_rows: int = 40, *, repeats: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    return reference.random_dataset(rng, n_rows=n_rows, cards=rng.integers(1, 4, N).tolist(), repeats=repeats)


def twin(data: Dataset, gamma: float | None = None) -> reference_mpl.Local:
    """−H(x | z), or the extended criterion of it, from nothing."""
    gaussian = not any(data.cards)
    rows = np.column_stack([np.asarray(c, dtype=float) for c in data.columns])
    by_regression = reference_mbs.gaussian_entropy(rows)

    def minus_entropy(x: int, z: frozenset[int]) -> float:
        if gaussian:
            return -by_regression(x, z)
        cells, configurations = reference_mpl.counts(data, x, z)
        return sum(c * log(c / configurations[key[:-1]]) for key, c in cells.items()) / data.n_rows

    def criterion(x: int, z: frozenset[int]) -> float:
        d = len(z) if gaussian else (data.cards[x] - 1) * (prod(data.cards[y] for y in z) - 1)
        assert gamma is not None
        return data.n_rows * minus_entropy(x, z) - d / 2 * log(data.n_rows) - gamma * len(z) * log(N - 1)

    return minus_entropy if gamma is None else criterion


KINDS: dict[str, tuple[Callable[[int], Dataset], Callable[[Dataset], Any]]] = {
    "gaussian": (continuous, Moments),
    "tables": (categorical, Counts),
    "repeats": (lambda seed: categorical(seed, repeats=True), Counts),
}


@pytest.mark.parametrize("gamma", [None, 0.0, 0.7])
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_every_face_of_the_score_gives_the_twins_number(kind: str, gamma: float | None, seed: int) -> None:
    make, statistics = KINDS[kind]
    data = make(seed)
    local = twin(data, gamma)
    score = Entropy(statistics(data)) if gamma is None else ExtendedBIC(statistics(data), gamma=gamma)
    graph = Graph(N, [(u, v) for u in range(N) for v in range(u) if np.random.default_rng([seed, u, v]).random() < 0.4])
    blankets = [graph.neighbors(x) for x in range(N)]
    outside = [[y for y in range(N) if y != x and y not in blankets[x]] for x in range(N)]
    added, removed = score.additions(range(N), blankets, outside), score.removals(range(N), blankets)
    for x, z in enumerate(blankets):
        assert score.local(x, z) == pytest.approx(local(x, z), abs=1e-7)
        assert added[x] == pytest.approx([local(x, z | {y}) for y in outside[x]], abs=1e-7)
        assert removed[x] == pytest.approx([local(x, z - {m}) for m in sorted(z)], abs=1e-7)
        exchanged = score.exchanges(x, z, np.array(outside[x], dtype=np.int64))
        assert len(exchanged) == len(z)
        for m, row in zip(sorted(z), exchanged, strict=True):
            assert row == pytest.approx([local(x, z - {m} | {y}) for y in outside[x]], abs=1e-7)
    assert score(graph) == pytest.approx(sum(local(x, z) for x, z in enumerate(blankets)), abs=1e-6)


def test_two_variables_by_hand() -> None:
    """A correlation of 0.6 takes −log(1 − 0.36)/2 off either entropy; the criterion asks 2.3 + 0 for it at N = 100."""
    moments = Moments.from_covariance([[1.0, 0.6], [0.6, 1.0]], n_rows=100)
    edge, empty = Graph(2, [(0, 1)]), Graph.empty(2)
    assert Entropy(moments)(edge) - Entropy(moments)(empty) == pytest.approx(-log(0.64))
    gain = ExtendedBIC(moments)(edge) - ExtendedBIC(moments)(empty)
    assert gain == pytest.approx(-100 * log(0.64) - log(100))


def test_units_and_the_order_of_rows_do_not_change_gains() -> None:
    data = continuous(3)
    rows = np.column_stack(data.columns)
    graph = Graph(N, [(0, 1), (1, 2), (2, 5)])
    gains = []
    for table in (rows, rows[::-1], rows * [1e-6, 1e6, 1, 3, 5, 7] + 10):
        score = ExtendedBIC(Moments(continuous_dataset(table, None)))
        gains.append(score(graph) - score(Graph.empty(N)))
    assert gains == pytest.approx([gains[0]] * 3, rel=1e-7)


def test_how_many_neighbours_rows_allow() -> None:
    assert Entropy(Moments(continuous(1, n_rows=21))).most_neighbors == 10
    for n_rows, allowed in ((1, 0), (2, 0), (3, 1), (5, 2)):  # of 2 rows every line is a perfect fit
        assert Entropy(Moments(continuous(1, n_rows=n_rows))).most_neighbors == allowed
    assert ExtendedBIC(Counts(categorical(1, n_rows=40))).most_neighbors == 5


def test_a_huge_number_of_configurations_is_dear_and_finite() -> None:
    data = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (20, 5)), cards=[60000] * 5)
    score = ExtendedBIC(Counts(data))
    value = score.additions([0], [frozenset(range(1, 4))], [[4]])[0][0]
    assert np.isfinite(value)
    assert value < score.local(0, frozenset()) - 1e15


# ---- folds


@pytest.mark.parametrize("kind", ["gaussian", "tables"])
def test_folds_hold_out_every_row_once(kind: str) -> None:
    make, statistics = KINDS[kind]
    data = make(5)
    folds = Entropy(statistics(data), rows=data).folds(4, seed=1)
    assert [train.n_rows for train, _ in folds] == [30] * 4
    again = Entropy(statistics(data), rows=data).folds(4, seed=1)
    graph = Graph(N, [(0, 1), (2, 3)])
    assert [held(graph) for _, held in folds] == [held(graph) for _, held in again]


def test_held_out_rows_are_foretold_by_regressions_on_the_others() -> None:
    data = continuous(7, n_rows=30)
    rows, graph = np.column_stack(data.columns), Graph(N, [(0, 1), (1, 2), (3, 4)])
    order = np.random.default_rng(2).permutation(30)
    for fold, (_, held) in enumerate(Entropy(Moments(data), rows=data).folds(3, seed=2)):
        test = order[fold::3]
        train = np.setdiff1d(np.arange(30), test)
        wanted = 0.0
        for x in range(N):
            z = sorted(graph.neighbors(x))
            design = [np.column_stack([np.ones(len(part)), rows[part][:, z]]) for part in (train, test)]
            slopes = np.linalg.lstsq(design[0], rows[train, x], rcond=None)[0]
            variance = np.mean((rows[train, x] - design[0] @ slopes) ** 2)
            missed = rows[test, x] - design[1] @ slopes
            wanted -= np.sum(0.5 * np.log(2 * np.pi * variance) + missed**2 / (2 * variance))
        assert held(graph) == pytest.approx(wanted)


def test_held_out_tables_are_foretold_one_row_after_the_other() -> None:
    """Chain rule: a row's probability is (n + 1/2) / (n_z + r/2) by the rows before it, the training rows first."""
    data = Dataset.from_codes([[0, 1, 1, 0, 1, 2, 0, 1], [0, 1, 1, 0, 0, 1, 1, 1]], cards=[3, 2])
    order = np.random.default_rng(3).permutation(8)
    graph = Graph(2, [(0, 1)])
    codes = np.column_stack(data.columns).astype(int)
    for fold, (_, held) in enumerate(Entropy(Counts(data), rows=data).folds(2, seed=3)):
        test = set(order[fold::2].tolist())
        seen = [row for k, row in enumerate(codes.tolist()) if k not in test]
        wanted = 0.0
        for row in (codes[k].tolist() for k in sorted(test)):
            for x, card in enumerate(data.cards):
                same = [other for other in seen if other[1 - x] == row[1 - x]]
                wanted += log((sum(other[x] == row[x] for other in same) + 0.5) / (len(same) + card / 2))
            seen.append(row)
        assert held(graph) == pytest.approx(wanted)


def test_bad_settings_are_refused() -> None:
    moments = Moments(continuous(1))
    for gamma in (-0.1, float("nan"), "half", True):
        with pytest.raises(InputError, match="gamma must be a number, 0 or more"):
            ExtendedBIC(moments, gamma=gamma)  # type: ignore[arg-type]
    with pytest.raises(UnsuitableError, match="Entropy cannot score by a object"):
        Entropy(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rows are needed for cross-validation"):
        Entropy(moments).folds(5, seed=0)
    with pytest.raises(InputError, match="n_folds must leave at least 2 different rows"):
        Entropy(moments, rows=continuous(1)).folds(30, seed=0)
