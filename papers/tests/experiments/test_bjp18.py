"""Table 1 of [BJP18], in small: reproducible, and the score of success is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.learning import learn
from mnlearn.simulate import sample, uniform_factors
from mnlearn_papers.bjp18 import PUBLISHED, TABLE_1, TABLE_1_SIZES, BestOfAll, success_rate_figure
from mnlearn_papers.reproduction import Key, Published, Request
from mnlearn_papers.structures import six_node_structures


def test_success_means_that_the_true_graph_is_the_best() -> None:
    found = BestOfAll(3, samples=4)(2000, np.random.default_rng(5))
    truth, rng = six_node_structures()[2], np.random.default_rng(5)
    network = uniform_factors(truth, rng)
    wins = 0
    for _ in range(4):
        codes = sample(network, TABLE_1_SIZES[-1], rng).codes[
            :2000
        ]  # a smaller data set is the beginning of a larger one
        data = Dataset.from_codes(codes, cards=network.cards)
        wins += learn(data, "exhaustive", score="ib").graph == truth
    assert 0 < wins < 4
    assert found["ib"].value == wins / 4
    assert found.keys() == PUBLISHED.keys()


@pytest.mark.slow
def test_the_same_table_whatever_else_is_asked_for_and_however_many_processes() -> None:
    both = TABLE_1.measure(Request(sizes=(250, 1000), sources=("4", "6"), repetitions=2))
    assert [(c.source, c.n_rows, c.learner) for c in both[:2]] == [("4", 250, "mpl"), ("4", 250, "mpl-ess")]
    assert len(both) == 2 * 2 * 4
    one = TABLE_1.measure(Request(sizes=(1000,), sources=("6",), methods=("bjp",), repetitions=2, n_jobs=2))
    mine = [c for c in both if (c.source, c.n_rows, c.learner) == ("6", 1000, "bjp")]
    assert [c._replace(seconds=0) for c in one] == [c._replace(seconds=0) for c in mine]


def test_errors_are_over_distributions() -> None:
    key = Key("1", 2000, "bjp")
    certain = success_rate_figure(key, [0.0, 1.0, 0.0, 1.0], Published(0.5, 0.0, 10), 1.0)
    assert (certain.ours, certain.n, certain.standard_errors) == (0.5, 4, 0.0)
    assert certain.sd == pytest.approx(np.std([0, 1, 0, 1], ddof=1))
    never = success_rate_figure(key, [0.0, 0.0], Published(0.3, 0.0, 10), 1.0)
    assert never.sd > 0  # twenty failures do not make it impossible
    assert never.standard_errors is not None
    assert -5 < never.standard_errors < -1
    alone = success_rate_figure(key, [0.2], Published(0.3, 0.0, 10), 1.0)
    assert (alone.standard_errors, alone.visible) == (None, None)
    unknown = success_rate_figure(key, [0.2], None, 1.0)
    assert (unknown.published, unknown.standard_errors) == (None, None)


def test_the_published_figures_are_whole() -> None:
    assert all(len(rows) == 6 and {len(row) for row in rows} == {len(TABLE_1_SIZES)} for rows in PUBLISHED.values())
    assert sum(map(sum, PUBLISHED["bjp"])) == pytest.approx(8.04)
    assert sum(map(sum, PUBLISHED["ib"])) == pytest.approx(7.63)
    assert sum(map(sum, PUBLISHED["mpl"])) == pytest.approx(2.17)


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="method 'bpj' does not exist"):
        TABLE_1.measure(Request(methods=("bpj",)))
    with pytest.raises(UnknownNameError, match="source '7' does not exist"):
        TABLE_1.measure(Request(sources=("7",)))
    with pytest.raises(InputError, match="repetitions must be a whole number, at least 1; got 0"):
        TABLE_1.measure(Request(repetitions=0))
