"""ARACNE: what is significant, and what the data-processing inequality cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.aracne import ARACNE, indirect, significant
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import random_tree
from mnlearn.independence import GaussianInformation
from mnlearn.protocols import FloatArray
from mnlearn.statistics import Moments

from references import rivals as reference_rivals


@dataclass
class GivenInformation:
    """Judge with given answers."""

    shared: FloatArray
    p: FloatArray

    @property
    def n_variables(self) -> int:
        return len(self.shared)

    def information(self) -> FloatArray:
        return self.shared

    def log_p(self) -> FloatArray:
        return self.p


def judge_of(*pairs: tuple[int, int, float], n: int = 4) -> GivenInformation:
    """Information as given, log p = −100 times it."""
    shared = np.zeros((n, n))
    for u, v, value in pairs:
        shared[u, v] = shared[v, u] = value
    return GivenInformation(shared, -100 * shared)


@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), tolerance=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@settings(max_examples=60)
def test_the_inequality_is_its_slow_twins(seed: int, n: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(np.round(rng.random((n, n)), 1), 1)  # rounded: ties occur
    information = upper + upper.T
    present = np.triu(rng.random((n, n)) < 0.7, 1)
    pairs = {frozenset(pair) for pair in zip(*(ends.tolist() for ends in np.nonzero(present)), strict=True)}
    cut = indirect(information, present | present.T, tolerance)
    left = np.triu(present & ~cut, 1)
    found = {frozenset(pair) for pair in zip(*(ends.tolist() for ends in np.nonzero(left)), strict=True)}
    assert found == reference_rivals.aracne(information, pairs, tolerance)
    assert (cut == cut.T).all()


def test_the_weakest_side_of_a_triangle_goes_and_an_open_path_stays() -> None:
    judge = judge_of((0, 1, 0.5), (1, 2, 0.4), (0, 2, 0.3), (2, 3, 0.2))
    found = ARACNE().learn(judge)
    assert found.graph.edges == ((0, 1), (1, 2), (2, 3))
    assert found.support == {(0, 1): -50.0, (1, 2): -40.0, (2, 3): -20.0}
    assert (found.cost["asked"], found.cost["significant"], found.cost["cut"]) == (6, 4, 1)
    assert found.support_scale == "log_independence"
    assert ARACNE(tolerance=0.3).learn(judge).graph.n_edges == 4  # 0.3 is not below 0.7 times 0.4
    assert ARACNE(tolerance=0.2).learn(judge).graph.n_edges == 3


def test_equal_sides_all_stay() -> None:
    assert ARACNE().learn(judge_of((0, 1, 0.5), (1, 2, 0.5), (0, 2, 0.5))).graph.n_edges == 3


def test_known_edges_are_kept_or_left_out_and_cut_accordingly() -> None:
    judge = judge_of((0, 1, 0.5), (1, 2, 0.4), (0, 2, 0.3))
    kept = ARACNE(required=[(0, 2), (1, 3)]).learn(judge)
    assert kept.graph.edges == ((0, 1), (0, 2), (1, 2), (1, 3))
    without = ARACNE(forbidden=[(2, 1)]).learn(judge)
    assert without.graph.edges == ((0, 1), (0, 2))  # nothing is left to cut 0 - 2


def test_corrections_bound_what_they_say() -> None:
    log_p = np.zeros((5, 5))
    for (u, v), p in {(0, 1): 0.001, (0, 2): 0.008, (0, 3): 0.013, (0, 4): 0.04}.items():
        log_p[u, v] = log_p[v, u] = np.log(p)
    assert [int(significant(log_p, 0.05, rule).sum()) // 2 for rule in ("bonferroni", "fdr", "none")] == [1, 3, 4]
    assert not significant(np.zeros((3, 3)), 0.05, "fdr").any()


def test_a_gaussian_tree_is_found() -> None:
    truth = random_tree(30, 3)
    rows = sparse_gaussian(truth, 4).dataset(5000, 5)
    assert ARACNE().learn(GaussianInformation(Moments(rows))).graph == truth


def test_the_order_of_the_variables_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    covariance = np.cov(rng.standard_normal((50, 8)) @ rng.standard_normal((8, 8)), rowvar=False)
    order = rng.permutation(8)
    one = ARACNE(correction="none").learn(GaussianInformation(Moments.from_covariance(covariance, n_rows=50)))
    moved = Moments.from_covariance(covariance[np.ix_(order, order)], n_rows=50)
    other = ARACNE(correction="none").learn(GaussianInformation(moved))
    assert other.graph.relabel(order.tolist()) == one.graph


class Impatient:
    """Stops at once."""

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...

    def cancelled(self) -> bool:
        return True


def test_a_monitor_stops_it_before_anything_is_measured() -> None:
    found = ARACNE(required=[(0, 1)]).learn(judge_of(), Impatient())
    assert not found.converged
    assert found.graph.edges == ((0, 1),)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alpha": 0}, InputError, "alpha must be between 0 and 1, both excluded; got 0"),
        ({"tolerance": 1.5}, InputError, "tolerance must be from 0 to 1; got 1.5"),
        ({"correction": "holm"}, UnknownNameError, "correction 'holm' does not exist.*'bonferroni', 'fdr', 'none'"),
        ({"required": [(0, 7)]}, InputError, "required must hold pairs of two different variables, 0 to 3"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ARACNE(**options).learn(judge_of())


def test_one_variable_is_refused() -> None:
    with pytest.raises(InputError, match="judge must know at least 2 variables; got 1"):
        ARACNE().learn(judge_of(n=1))
