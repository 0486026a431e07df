"""Contract of every independence test; a judge in `JUDGES` is checked by all of these tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.independence import (
    BayesianTest,
    ChiSquare,
    GaussianPosterior,
    GTest,
    MixedTest,
    MutualInformation,
    PartialCorrelation,
    ScoreTest,
    SeparationOracle,
)
from mnlearn.protocols import ExplainedTest, IndependenceTest
from mnlearn.statistics import Counts, MixedLikelihoods, Moments

from references import counts as reference

DISCRETE: dict[str, Callable[[Dataset], IndependenceTest]] = {
    "chi2": lambda data: ChiSquare(Counts(data)),
    "chi2-all": lambda data: ChiSquare(Counts(data), dof="all"),
    "g2": lambda data: GTest(Counts(data), alpha=0.01),
    "mi-threshold": lambda data: MutualInformation(Counts(data), decide="threshold", threshold=0.02),
    "bayes": lambda data: BayesianTest(Counts(data)),
    "score": lambda data: ScoreTest(Counts(data)),
    "mixed": lambda data: MixedTest(MixedLikelihoods(data)),
}


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Five variables of few states, with dependence from column to column."""
    cards = draw(st.lists(st.integers(1, 4), min_size=5, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(1, 150))
    return reference.random_dataset(rng, n_rows=n_rows, cards=cards, repeats=draw(st.booleans()))


def support(test: IndependenceTest, x: int, y: int, z: frozenset[int]) -> float:
    value = test(x, y, z).log_support
    assert value is not None
    return value


@pytest.mark.parametrize("name", DISCRETE)
@given(data=datasets())
@settings(max_examples=25)
def test_symmetric_in_x_and_y(name: str, data: Dataset) -> None:
    test = DISCRETE[name](data)
    for z in (frozenset[int](), frozenset({2}), frozenset({2, 3, 4})):
        assert support(test, 0, 1, z) == pytest.approx(support(test, 1, 0, z), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", DISCRETE)
@given(data=datasets(), seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_blind_to_the_order_of_rows_columns_and_states(name: str, data: Dataset, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.arange(data.n_records) if data.repeats is None else np.repeat(np.arange(data.n_records), data.repeats)
    rows, order = rng.permutation(rows), rng.permutation(5)
    columns = [rng.permutation(data.cards[v])[np.asarray(data.columns[v])[rows]] for v in order]
    moved = Dataset.from_codes(columns, cards=[data.cards[v] for v in order])
    place = {int(v): k for k, v in enumerate(order)}
    before = support(DISCRETE[name](data), 0, 1, frozenset({2, 4}))
    after = support(DISCRETE[name](moved), place[0], place[1], frozenset({place[2], place[4]}))
    assert before == pytest.approx(after, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", DISCRETE)
@given(data=datasets())
@settings(max_examples=25)
def test_a_scan_is_its_single_questions(name: str, data: Dataset) -> None:
    ys: Sequence[int] = (4, 1, 3)
    before = list(ys)
    scanned = DISCRETE[name](data).scan(0, ys, frozenset({2}))
    single = DISCRETE[name](data)
    for k, y in enumerate(ys):
        assert scanned.one(k)[:2] == single(0, y, frozenset({2}))[:2]
    assert list(ys) == before
    assert len(DISCRETE[name](data).scan(0, [], frozenset()).independent) == 0


QUESTIONS: list[tuple[int, int, set[int]]] = [(0, 0, set()), (0, 1, {0}), (0, 1, {1}), (0, 9, set()), (-1, 1, set())]


def judges() -> dict[str, IndependenceTest]:
    rng = np.random.default_rng(1)
    data = reference.random_dataset(rng, n_rows=60, cards=[2, 3, 2])
    rows = rng.standard_normal((60, 3))
    return {name: make(data) for name, make in DISCRETE.items()} | {
        "mi-permutation": MutualInformation(Counts(data)),
        "oracle": SeparationOracle(Graph.from_edges(3, [(0, 1)])),
        "pcor": PartialCorrelation(Moments.from_covariance(np.cov(rows.T), n_rows=60)),
        "bayes-pcor": GaussianPosterior(Moments.from_covariance(np.cov(rows.T), n_rows=60)),
    }


@pytest.mark.parametrize("name", sorted(judges()))
def test_refuses_impossible_questions(name: str) -> None:
    test = judges()[name]
    for x, y, z in QUESTIONS:
        with pytest.raises(InputError):
            test(x, y, frozenset(z))
        with pytest.raises(InputError):
            test.scan(x, [y], frozenset(z))


@pytest.mark.parametrize("name", sorted(judges()))
def test_is_what_it_says(name: str) -> None:
    test = judges()[name]
    assert isinstance(test, IndependenceTest)
    assert test.n_variables == 3
    if name not in ("remembered", "audited", "budgeted"):
        assert isinstance(test, ExplainedTest)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, float("nan")])
@pytest.mark.parametrize(
    "make",
    [
        lambda counts, alpha: ChiSquare(counts, alpha=alpha),
        lambda counts, alpha: GTest(counts, alpha=alpha),
        lambda counts, alpha: MutualInformation(counts, alpha=alpha),
        lambda _, alpha: MixedTest(MixedLikelihoods(Dataset.from_codes([[0, 1], [0, 1]])), alpha=alpha),
        lambda _, alpha: PartialCorrelation(Moments.from_covariance(np.eye(2), n_rows=9), alpha=alpha),
    ],
)
def test_a_level_outside_zero_and_one_is_refused_at_once(make: Callable[[Any, float], object], alpha: float) -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [0, 1]]))
    with pytest.raises(InputError, match="alpha must be between 0 and 1"):
        make(counts, alpha)
