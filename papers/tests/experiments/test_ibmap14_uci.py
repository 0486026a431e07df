"""The benchmark table of [IBMAP14], in small."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.errors import FileError
from mnlearn_papers import ibmap14 as uci
from mnlearn_papers.reproduction import Request
from networks import DATA

needs_tables = pytest.mark.skipif(not (DATA / "uci").is_dir(), reason="needs the tables of MNLEARN_DATA")


def test_the_two_parts_share_no_row_and_lose_none() -> None:
    data = Dataset.from_codes([list(range(50)), [0, 1] * 25])
    train, test = uci.halves(data, 20, np.random.default_rng(3))
    assert sorted([*train.columns[0], *test.columns[0]]) == list(range(50))
    assert (train.n_rows, test.n_rows, train.cards, test.cards) == (20, 30, (50, 2), (50, 2))


@needs_tables
def test_both_accuracies_are_shares_and_no_edges_share_every_independence() -> None:
    found = {
        m.learner: m.ours for m in uci.UCI.measure(Request(sizes=(100,), sources=("car",), repetitions=1, data=DATA))
    }
    assert all(0.0 <= value <= 1.0 for value in found.values())
    for name in uci.UCI_LEARNERS:
        assert found[f"{name} independences"] <= found["no-edges independences"]
        assert found[f"{name} independences"] <= found[f"{name} agreement"]


@needs_tables
def test_tables_with_too_few_rows_are_left_out() -> None:
    assert uci.UCI.measure(Request(sizes=(25,), sources=("lenses",), repetitions=1, data=DATA)) == []


def test_without_data_the_error_says_where_to_put_them() -> None:
    with pytest.raises(FileError, match=r"data must be the folder that holds uci/\*\.csv; got none"):
        uci.UCI.measure(Request())
