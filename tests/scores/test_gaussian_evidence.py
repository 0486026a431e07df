"""Evidence of Gaussian regressions: beside explicit matrices, in batches, and where there is nothing to tell."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.data import Dataset, read
from mnlearn.distributions.gaussian import GaussianNetwork, equal_partial_correlations, sparse_gaussian
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph, grid, path, random_graph
from mnlearn.learning import learn
from mnlearn.scores import GaussianEvidence
from mnlearn.scores.gaussian_evidence import PRIOR_EDGES, fitted_shares, log_factor
from mnlearn.statistics import Counts, Moments

from references import gaussian_evidence as slow


def table(values: NDArray[np.float64]) -> Dataset:
    return read({f"v{k}": column for k, column in enumerate(values.T)})


def sample(seed: int, n_rows: int = 40, n: int = 6) -> NDArray[np.float64]:
    return sparse_gaussian(random_graph(n, 2.0, seed), seed + 1).sample(n_rows, seed + 2)


subsets = st.frozensets(st.integers(1, 5), max_size=5)


@given(seed=st.integers(0, 2**31), blanket=subsets, width=st.sampled_from([0.2, 0.3, 1.0]))
@settings(max_examples=25, deadline=None)
def test_local_evidence_is_the_integral(seed: int, blanket: frozenset[int], width: float) -> None:
    values = sample(seed)
    judge = GaussianEvidence(Moments(table(values)), width=width)
    expected = slow.log_bayes_factor(values, 0, sorted(blanket), width)
    assert judge.local(0, blanket) == pytest.approx(expected, abs=1e-6)


@given(seed=st.integers(0, 2**31), separator=st.frozensets(st.integers(2, 5)), width=st.sampled_from([0.2, 1.0]))
@settings(max_examples=10, deadline=None)
def test_the_evidence_of_an_edge_is_the_integral_from_either_end(
    seed: int, separator: frozenset[int], width: float
) -> None:
    values = sample(seed)
    judge = GaussianEvidence(Moments(table(values)), width=width)
    there = judge.pairs([0], [separator], [[1]])[0]
    back = judge.pairs([1], [separator], [[0]])[0]
    expected = slow.log_edge_factor(values, 0, 1, sorted(separator), width)
    assert there.exact.all()
    assert there.log_factor[0] == pytest.approx(expected, abs=1e-6)
    assert back.log_factor[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shares", [(0.25, 0.5, 0.25), (0.0, 0.4, 0.6)])
@pytest.mark.parametrize("separator", [[], [2, 4]])
def test_the_evidence_of_several_strengths_is_the_integral_over_their_mixture(
    shares: tuple[float, float, float], separator: list[int]
) -> None:
    values = sample(3)
    judge = GaussianEvidence(Moments(table(values)), shares=shares)
    found = judge.pairs([0, 1], [frozenset(separator)] * 2, [[1], [0]])
    parts = [slow.log_edge_factor(values, 0, 1, separator, width) for width in (0.1, 0.2, 0.4)]
    expected = np.log(np.dot(shares, np.exp(parts)))
    assert [pair.log_factor[0] for pair in found] == pytest.approx([expected] * 2, abs=1e-6)
    assert judge.local(0, frozenset({1})) == GaussianEvidence(Moments(table(values))).local(0, frozenset({1}))


@given(seed=st.integers(0, 2**31), n_edges=st.integers(0, 60))
@settings(max_examples=20, deadline=None)
def test_fitted_shares_are_those_of_the_slow_twin(seed: int, n_edges: int) -> None:
    rng = np.random.default_rng(seed)
    r = np.where(rng.random(2450) < 0.05, rng.uniform(0.1, 0.6, 2450), rng.standard_normal(2450) / 14)
    factors = np.stack([log_factor(r, 190, width) for width in (0.1, 0.2, 0.4)])
    shares = fitted_shares(factors, n_edges, 50)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == pytest.approx(slow.fitted_shares(factors, n_edges, 50, PRIOR_EDGES).tolist(), abs=0.03)


def fitted(network: GaussianNetwork, n_rows: int) -> GaussianEvidence:
    n = len(network.precision)
    judge = GaussianEvidence(Moments(network.dataset(n_rows, 1)))
    return judge.fitted_to([network.graph.neighbors(x) for x in range(n)], [np.arange(n)] * n)


def test_the_shares_follow_the_strengths_of_the_edges() -> None:
    weak = fitted(equal_partial_correlations(grid(10, 10), 0.13), 500)
    assert weak.shares[0] > 0.5
    strong = fitted(equal_partial_correlations(path(100), 0.49), 500)
    assert strong.shares[0] < 0.05
    assert strong.shares[2] > 0.3
    lone = fitted(equal_partial_correlations(Graph.empty(30), 0.1), 500)
    assert lone.shares[1] > 0.8  # hardly any edge: what is usual


def test_the_shares_are_fitted_to_the_pairs_that_a_screen_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    data = equal_partial_correlations(grid(8, 8), 0.2).dataset(800, 1)
    whole = SeparatorEvidence().learn(GaussianEvidence(Moments(data)))
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 20)
    screened = SeparatorEvidence().learn(GaussianEvidence(Moments(data)))
    assert screened.cost["candidate_pairs"] < 64 * 63 / 2
    assert screened.graph == whole.graph
    for name in ("share_weak", "share_strong"):
        assert screened.cost[name] == pytest.approx(whole.cost[name], abs=0.1)


def test_a_result_keeps_the_shares_and_log_odds_are_explained_with_them() -> None:
    data = sparse_gaussian(random_graph(20, 3.0, 1), 2).dataset(150, 3)
    learned = learn(data, "sep", keep_pairs=True)
    assert learned.cost["share_weak"] + learned.cost["share_strong"] > 0
    judge = GaussianEvidence(Moments(data))
    assert judge.with_prior(learned.cost).prior.items() <= dict(learned.cost).items()
    assert judge.with_prior({"flips": 3}) is judge
    odds = learned.result.log_odds
    assert odds is not None
    for u, v in [*learned.graph.edges, (0, 1), (2, 19)]:
        why = learned.why(learned.names[u], learned.names[v])
        assert why.separators is not None
        assert why.separators.log_odds == pytest.approx(odds[u, v], abs=1e-9)


@given(seed=st.integers(0, 2**31), blanket=subsets)
@settings(max_examples=25, deadline=None)
def test_batches_are_what_single_questions_say(seed: int, blanket: frozenset[int]) -> None:
    judge = GaussianEvidence(Moments(table(sample(seed))))
    outside = [y for y in range(1, 6) if y not in blanket]
    added = judge.additions([0], [blanket], [outside])[0]
    assert added == pytest.approx([judge.local(0, blanket | {y}) for y in outside], abs=1e-8)
    assert (judge.estimates([0], [blanket], [outside])[0] == added).all()
    left = judge.removals([0], [blanket])[0]
    assert left == pytest.approx([judge.local(0, blanket - {y}) for y in sorted(blanket)], abs=1e-7)
    assert judge.locals([0, 0], [blanket, frozenset()]) == pytest.approx([judge.local(0, blanket), 0.0])


@given(seed=st.integers(0, 2**31), blanket=st.frozensets(st.integers(1, 2)))
@settings(max_examples=25, deadline=None)
def test_the_best_two_are_the_best_of_all_pairs(seed: int, blanket: frozenset[int]) -> None:
    judge = GaussianEvidence(Moments(table(sample(seed))))
    open_ = [y for y in range(1, 6) if y not in blanket]
    worth = {pair: judge.local(0, blanket | set(pair)) for pair in combinations(open_, 2)}
    found = judge.best_pair(0, blanket, open_)
    assert found is not None
    assert found[1] == pytest.approx(max(worth.values()), abs=1e-7)
    assert worth[found[0]] == pytest.approx(found[1], abs=1e-7)
    assert judge.best_pair(0, blanket, [3]) is None


@given(seed=st.integers(0, 2**31), n_given=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_best_two_are_the_slow_twins_with_copies_sums_and_constants(seed: int, n_given: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((60, 12)) @ (np.eye(12) + rng.uniform(-0.4, 0.4, (12, 12)))
    values[:, 3], values[:, 7], values[:, 9], values[:, 10] = values[:, 5], 1.0, -2.0 * values[:, 2], values[:, 1]
    values[:, 10] += values[:, 4]
    x, *others = rng.permutation(12).tolist()
    z, ys = others[:n_given], sorted(others[n_given:])
    moments = Moments(table(values))
    y1, y2 = slow.best_pair(moments.conditional_correlation([x, *ys], z))
    assert moments.best_pair(x, ys, z, rounding=1e-9)[:2] == (ys[y1 - 1], ys[y2 - 1])


def test_two_that_hide_each_other_are_found_together() -> None:
    rng = np.random.default_rng(1)
    z, e = rng.standard_normal((2, 400))
    x = 0.5 * e
    y = z + x  # z alone tells nothing of x, y alone little; together they tell all of it
    noise = rng.standard_normal((400, 12))
    hidden = table(np.column_stack([x + 0.05 * rng.standard_normal(400), 8 * z + y, 9 * z, noise]))
    judge = GaussianEvidence(Moments(hidden))
    thorough = SeparatorEvidence(effort="thorough").learn(judge).graph
    assert {(0, 1), (0, 2), (1, 2)} <= set(thorough.edges)


def test_a_graph_is_worth_the_sum_of_its_variables() -> None:
    judge = GaussianEvidence(Moments(table(sample(2))))
    graph = Graph(6, [(0, 1), (1, 2), (3, 5)])
    assert judge(graph) == pytest.approx(sum(judge.local(x, graph.neighbors(x)) for x in range(6)))
    assert judge(Graph.empty(6)) == pytest.approx(0.0)
    scored = judge.on(graph)
    gain = scored.gains([(0, 4)])[0]
    assert judge(graph.flip(0, 4)) - judge(graph) == pytest.approx(gain)


@pytest.mark.parametrize("effort", ["fast", "standard", "thorough"])
@pytest.mark.parametrize("truth", [path(12), grid(3, 4)], ids=["chain", "lattice"])
def test_separator_evidence_finds_networks_of_numbers(effort: Any, truth: Graph) -> None:
    data = sparse_gaussian(truth, 3, weakest=0.5).dataset(3000, 4)
    found = SeparatorEvidence(effort=effort).learn(GaussianEvidence(Moments(data)))
    assert found.graph == truth
    assert found.probabilistic
    assert min(found.support.values()) > 0


def test_independent_columns_get_no_edge() -> None:
    wrong = 0
    for seed in range(20):
        data = table(np.random.default_rng(seed).standard_normal((100, 20)))
        wrong += SeparatorEvidence(effort="standard").learn(GaussianEvidence(Moments(data))).graph.n_edges > 0
    assert wrong <= 2


@given(seed=st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_neither_rows_columns_units_nor_repeats_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.repeat(sample(seed, n_rows=60), rng.integers(1, 3, 60), axis=0)
    order = rng.permutation(6)
    whole = table(values)
    first = SeparatorEvidence().learn(GaussianEvidence(Moments(whole))).graph
    for other in (table(rng.permutation(values) * 1000.0 + 7.0), whole.compact()):
        assert SeparatorEvidence().learn(GaussianEvidence(Moments(other))).graph == first
    moved = SeparatorEvidence().learn(GaussianEvidence(Moments(table(values[:, order])))).graph
    assert moved.relabel(order.tolist()) == first


def test_constant_copied_and_explained_columns_and_few_rows_are_borne() -> None:
    rng = np.random.default_rng(5)
    a, b, c = rng.standard_normal((3, 30))
    judge = GaussianEvidence(Moments(table(np.column_stack([a, a, np.full(30, 2.0), b, a + b, c]))))
    values = [judge.local(x, frozenset(range(6)) - {x}) for x in range(6)]
    assert np.isfinite(values).all()
    found = SeparatorEvidence(keep_pairs=True).learn(judge)
    assert found.log_odds is not None
    assert not np.isnan(found.log_odds).any()
    assert (0, 1) in found.graph.edges
    assert not found.graph.neighbors(2)
    wide = SeparatorEvidence().learn(GaussianEvidence(Moments(sparse_gaussian(path(60), 6).dataset(20, 7))))
    assert np.isfinite(list(wide.support.values())).all()
    assert max(wide.graph.degrees()) < 18
    nothing = GaussianEvidence(Moments(table(rng.standard_normal((3, 4)))))
    assert (nothing.pairs([0], [frozenset()], [[1, 2]])[0].log_factor == 0).all()


def test_bad_settings_and_statistics_are_refused() -> None:
    moments = Moments(table(sample(8)))
    for width in (0, -1, "x", True):
        with pytest.raises(InputError, match=f"width must be a positive number; got {width!r}"):
            GaussianEvidence(moments, width=width)  # type: ignore[arg-type]
    for shares in ((1.0,), (0.5, 0.6, 0.0), (-0.5, 1.0, 0.5), [0.0, 1.0, 0.0], 3):
        with pytest.raises(InputError, match="shares must be three numbers from 0 whose sum is 1; got"):
            GaussianEvidence(moments, shares=shares)  # type: ignore[arg-type]
    with pytest.raises(UnsuitableError, match=r"cannot judge by a Counts\. Use Moments\(dataset\)"):
        GaussianEvidence(Counts(Dataset.from_codes([[0, 1], [0, 1]])))  # type: ignore[arg-type]
