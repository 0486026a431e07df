"""Table 1 of [BJP18], in small: reproducible, and the score of success is what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mnlearn.errors import InputError, UnknownNameError
from mnlearn.evaluation.papers.bjp18 import PUBLISHED, SIZES, as_text, table1
from mnlearn.graphs.structures import six_node_structures
from mnlearn.pipeline import learn
from mnlearn.simulate import sample, uniform_factors


def test_success_means_that_the_true_graph_is_the_best() -> None:
    (cell,) = table1(structures=[3], sizes=[8000], scores=["ib"], distributions=4, samples=1, seed=3)
    truth = six_node_structures()[2]
    successes = 0
    for k in range(4):
        network = uniform_factors(truth, np.random.default_rng((3, 3, k)))
        data = sample(network, 8000, np.random.default_rng((3, 3, k, 0))).dataset()
        successes += learn(data, "exhaustive", score="ib").graph == truth
    assert 0 < successes < 4
    assert cell.measured == successes / 4
    assert (cell.structure, cell.irregularity, cell.n_rows, cell.published) == (3, 18, 8000, 0.58)


def test_the_same_table_whatever_else_is_asked_for_and_however_many_processes() -> None:
    small: dict[str, Any] = {"distributions": 2, "samples": 1}
    both = table1(structures=[4, 6], sizes=[500, 4000], scores=["mpl", "bjp"], **small)
    assert [(c.structure, c.n_rows, c.score) for c in both[:3]] == [(4, 500, "mpl"), (4, 500, "bjp"), (4, 4000, "mpl")]
    assert len(both) == 8
    one = table1(structures=[6], sizes=[500, 4000], scores=["bjp"], **small)
    assert one == [cell for cell in both if (cell.structure, cell.score) == (6, "bjp")]
    assert table1(structures=[4, 6], sizes=[4000, 500], scores=["mpl", "bjp"], n_jobs=2, **small) == both


def test_standard_errors_are_over_distributions() -> None:
    cells = table1(structures=[1, 3], sizes=[2000, 3000], scores=["bjp"], distributions=3, samples=2)
    for cell in cells:
        assert 0 < cell.standard_error < 0.5
        assert (cell.published is None) == (cell.n_rows == 3000) == (cell.deviation is None)
        if cell.deviation is not None and cell.published is not None:
            assert np.sign(cell.deviation) == np.sign(cell.measured - cell.published)
    assert "| 1 | 0 | 2000 | 0.12 / " in as_text(cells)


def test_the_published_figures_are_whole() -> None:
    assert all(len(rows) == 6 and {len(row) for row in rows} == {len(SIZES)} for rows in PUBLISHED.values())
    assert sum(map(sum, PUBLISHED["bjp"])) == pytest.approx(8.04)
    assert sum(map(sum, PUBLISHED["ib"])) == pytest.approx(7.63)
    assert sum(map(sum, PUBLISHED["mpl"])) == pytest.approx(2.17)


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="score 'bpj' does not exist"):
        table1(scores=["bpj"])
    with pytest.raises(InputError, match=r"structures must be numbers from 1 to 6; got \[7\]"):
        table1(structures=[7])
    with pytest.raises(InputError, match="distributions must be a whole number, at least 1; got 0"):
        table1(distributions=0)
