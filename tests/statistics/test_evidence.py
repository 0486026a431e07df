"""Batches of evidence: ragged questions in, rows in their order out, whatever the data look like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.statistics import Counts


def some_data(seed: int, *, wide: bool) -> Dataset:
    """Few rows of variables that follow one another; constants, states that never occur, repeats."""
    rng = np.random.default_rng(seed)
    n, n_rows = int(rng.integers(2, 8)), int(rng.integers(1, 150))
    columns: list[NDArray[np.int64]] = []
    cards: list[int] = []
    for k in range(n):
        card = int(rng.integers(1, 100 if wide else 5))
        column = rng.integers(0, card, n_rows)
        if k and rng.random() < 0.5:
            column = np.where(rng.random(n_rows) < 0.6, columns[-1] % card, column)
        columns.append(column)
        cards.append(card + int(rng.integers(0, 2)))
    repeats = rng.integers(1, 5, n_rows) if rng.random() < 0.3 else None
    return Dataset.from_codes(columns, cards=cards, repeats=repeats)


@given(seed=st.integers(0, 2**32), wide=st.booleans(), three_way=st.booleans())
@settings(max_examples=25)
def test_a_batch_is_its_questions_one_by_one(seed: int, wide: bool, three_way: bool) -> None:
    data = some_data(seed, wide=wide)
    n, rng = data.n_variables, np.random.default_rng(seed)
    fits = Counts(data, n_jobs=2).evidence(three_way=three_way)
    orders = [rng.permutation(n).tolist() for _ in range(4)]
    cuts = rng.integers(1, n + 1, 4).tolist()
    xs = [order[0] for order in orders]
    zs = [frozenset(order[1:cut]) for order, cut in zip(orders, cuts, strict=True)]
    yss = [order[cut:] for order, cut in zip(orders, cuts, strict=True)]
    local, pairs = fits.local(xs, zs), fits.pairs(xs, zs, yss, fit_above=-1.0)
    added, tables = fits.additions(xs, zs, yss), fits.full_tables(xs, zs, yss)
    for k, (x, z, ys) in enumerate(zip(xs, zs, yss, strict=True)):
        alone = fits.local([x], [z])
        assert (local.full_table[k], local.pairwise[k]) == (alone.full_table[0], alone.pairwise[0])
        assert pairs[k].log_factor.tolist() == fits.pairs([x], [z], [ys], fit_above=-1.0)[0].log_factor.tolist()
        assert added[k].pairwise.tolist() == fits.additions([x], [z], [ys])[0].pairwise.tolist()
        assert added[k].full_table == pytest.approx(tables[k] - fits.gift[x], abs=1e-9)
        assert len(ys) == len(pairs[k].exact) == len(tables[k])
        assert np.isfinite([*added[k].pairwise, *pairs[k].log_factor, local.pairwise[k]]).all()


def test_no_question_has_no_answer() -> None:
    fits = Counts(some_data(1, wide=False)).evidence()
    assert not fits.pairs([], [], [])
    assert not fits.additions([], [], [])
    assert not fits.full_tables([], [], [])
    assert len(fits.local([], []).pairwise) == 0


def test_bad_batches_are_refused() -> None:
    data = some_data(3, wide=False)
    fits = Counts(data).evidence()
    with pytest.raises(InputError, match="x must be the index of a variable"):
        fits.local([data.n_variables], [frozenset()])
    with pytest.raises(InputError, match="starts must rise"):
        fits.local([0, 1], [frozenset()])
    store = _core.Store(data.columns, data.cards, data.repeats, data.n_records)
    none, starts, number = np.empty(0, np.int32), np.zeros(1, np.int64), np.zeros(data.n_variables)
    with pytest.raises(ValueError, match="evidence must be local, estimates, additions, leaders, pairs"):
        _core.evidence(store, number, number, number, "all", none, starts, none, starts, none, False, np.empty(0), 1)
    with pytest.raises(ValueError, match="one number for each scan"):
        _core.evidence(store, number, number, number, "local", none, starts, none, starts, none, False, number, 1)
    with pytest.raises(ValueError, match="one number for each variable"):
        _core.evidence(
            store, number[1:], number, number, "local", none, starts, none, starts, none, False, np.empty(0), 1
        )
