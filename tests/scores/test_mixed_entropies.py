"""The extended BIC of variables of several kinds: closed forms, the slow twin, batches, refusals."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.errors import UnsuitableError
from mnlearn.graphs.graph import Graph
from mnlearn.scores import ExtendedBIC
from mnlearn.simulate import Margin, mixed_network, random_gaps
from mnlearn.statistics import Counts, MixedLikelihoods, Moments

from references import mixed_likelihoods as slow

KINDS = ("nominal", "ordinal", "continuous", "count", "continuous")


def table(n_rows: int = 300, seed: int = 1) -> Dataset:
    margins = [Margin(kind, states=4) for kind in KINDS]  # type: ignore[arg-type]
    network = mixed_network(Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4)]), margins, seed, weakest=0.3, strongest=0.5)
    return network.dataset(n_rows, seed=seed + 1)


def score(data: Dataset, gamma: float = 0.5) -> ExtendedBIC:
    return ExtendedBIC(MixedLikelihoods(data, n_jobs=1), gamma=gamma)


def test_of_numbers_it_is_that_of_moments() -> None:
    rng = np.random.default_rng(1)
    data = mn.read(rng.standard_normal((80, 4)) @ rng.standard_normal((4, 4)))
    for graph in (Graph.empty(4), Graph(4, [(0, 1)]), Graph(4, [(0, 1), (1, 2), (0, 3)])):
        assert score(data)(graph) == pytest.approx(ExtendedBIC(Moments(data))(graph), rel=1e-9)


def test_of_nominal_pairs_it_is_that_of_tables() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 3, 200)
    data = Dataset.from_codes(np.stack([first, (first + (rng.random(200) < 0.4)) % 3, first * 0], axis=1))
    for graph in (Graph.empty(3), Graph(3, [(0, 1)])):
        assert score(data)(graph) == pytest.approx(ExtendedBIC(Counts(data))(graph), abs=0.05)  # the ridge


def test_it_is_the_likelihood_less_the_price_of_its_parameters() -> None:
    data = table(150)
    rows, gamma = np.arange(150), 0.7
    for x, blanket, parameters in ((0, {1, 2}, 6), (1, {0, 3}, 4), (2, {0, 1, 3}, 5), (3, {2}, 1)):
        found = score(data, gamma).local(x, frozenset(blanket)) - score(data, gamma).local(x, frozenset())
        gain = slow.log_likelihood(data, x, sorted(blanket), rows) - slow.log_likelihood(data, x, [], rows)
        price = 0.5 * parameters * log(150) + gamma * len(blanket) * log(4)
        assert found == pytest.approx(gain - price, abs=1e-4)


def test_batches_are_their_single_terms() -> None:
    judge = score(table())
    blanket = frozenset({1, 3})
    (found,) = judge.additions([2], [blanket], [[0, 4]])
    assert found == pytest.approx([judge.local(2, blanket | {y}) for y in (0, 4)], abs=1e-7)
    first, second = judge.removals([2, 0], [blanket, frozenset({4})])
    assert first == pytest.approx([judge.local(2, blanket - {y}) for y in (1, 3)], abs=1e-7)
    assert second == pytest.approx([judge.local(0, frozenset())], abs=1e-7)
    assert judge.removals([2], [frozenset()])[0].size == 0
    exchanged = judge.exchanges(2, blanket, [0, 4])
    expected = [[judge.local(2, blanket - {m} | {y}) for y in (0, 4)] for m in (1, 3)]
    assert exchanged == pytest.approx(np.array(expected), abs=1e-7)


def test_constant_columns_and_models_without_a_fit() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 30, (400, 2)).astype(str)
    data = mn.read({"a": codes[:, 0], "b": codes[:, 1], "flat": ["x"] * 400, "n": rng.standard_normal(400)})
    judge = score(data)
    assert judge.constant == {2}
    assert judge.local(2, frozenset({0})) <= judge.local(2, frozenset())
    assert judge.local(0, frozenset({1, 3})) < judge.local(0, frozenset({3}))  # 29 * 30 parameters, not fitted
    assert np.isfinite(judge(Graph(4, [(0, 1), (0, 3), (2, 3)])))


def test_gaps_are_refused_by_name() -> None:
    gaps = random_gaps(table(), 0.1, seed=1)
    with pytest.raises(UnsuitableError, match="ExtendedBIC, whose terms must be of the same rows, needs complete data"):
        score(gaps)
    with pytest.raises(UnsuitableError, match="the score ebic needs complete data"):
        mn.make_score("ebic", gaps)
