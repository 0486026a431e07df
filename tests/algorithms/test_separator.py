"""Separator evidence: start from blankets, flip what the evidence contradicts, end with probabilities."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from mnlearn.algorithms import sep as separator
from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.sep import Effort, SeparatorEvidence
from mnlearn.algorithms.sep import moves as joint_moves
from mnlearn.algorithms.sep import moves as rival_edges
from mnlearn.algorithms.sep.moves import Rivals
from mnlearn.algorithms.sep.phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import PairwiseNetwork, sample_exact
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import Graph, cycle, grid, random_graph, random_tree, star
from mnlearn.graphs.candidates import every_pair
from mnlearn.scores import HybridEvidence
from mnlearn.statistics import Counts
from profiles import few

from references import separator as slow

EFFORTS: list[Effort] = ["fast", "standard", "thorough"]


def sample(graph: Graph, n_rows: int, log_odds: float, seed: int) -> Dataset:
    codes = sample_exact(PairwiseNetwork.uniform(graph, log_odds), n_rows, seed)
    return Dataset.from_codes(codes, cards=[2] * graph.n_variables)


def judge_of(data: Dataset, **settings: Any) -> HybridEvidence:
    return HybridEvidence(Counts(data, n_jobs=1), **settings)


def small(seed: int) -> Dataset:
    """Few variables of two or three states, each mixed from two others: blankets and separators disagree."""
    rng = np.random.default_rng(seed)
    n, n_rows = int(rng.integers(4, 8)), int(rng.integers(60, 400))
    columns: list[Any] = []
    for k in range(n):
        card = int(rng.integers(2, 4))
        column = rng.integers(0, card, n_rows)
        for parent in rng.choice(k, min(k, 2), replace=False):
            column = np.where(rng.random(n_rows) < 0.35, columns[parent] % card, column)
        columns.append(column)
    return Dataset.from_codes(columns)


# ---- what is written


@pytest.mark.parametrize("effort", ["standard", "thorough"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_it_does_what_is_written(effort: Effort, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separator, "NEAR", np.inf)  # everything fitted, as the twin does
        patch.setattr(joint_moves, "SLACK", np.inf)
        judge = judge_of(small(seed), three_way=effort == "thorough")
        patch.setattr(rival_edges, "CLEAR", np.inf)
        found = SeparatorEvidence(effort=effort, keep_pairs=True).learn(judge)
    graph, flips, log_odds = slow.learn(judge, look_ahead=effort == "thorough")
    assert (found.graph, found.cost["flips"]) == (graph, flips)
    assert found.log_odds is not None
    for pair, expected in log_odds.items():
        assert found.log_odds[pair] == pytest.approx(expected, abs=1e-6)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_the_graph_is_what_the_probabilities_say(seed: int) -> None:
    judge = judge_of(small(seed), three_way=False)
    found = SeparatorEvidence(effort="standard", keep_pairs=True).learn(judge)
    assert found.support_scale == "log_odds"
    assert found.log_odds is not None
    assert np.array_equal(found.log_odds, found.log_odds.T)
    likely = np.argwhere(np.triu(found.log_odds, 1) > 0)
    assert found.graph.edges == tuple(map(tuple, likely.tolist()))
    assert found.support == {edge: found.log_odds[edge] for edge in found.graph.edges}


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_fast_is_the_blankets_joined(seed: int) -> None:
    judge = judge_of(small(seed), three_way=False)
    found = SeparatorEvidence(effort="fast").learn(judge)
    blankets = [slow.blanket(judge, x, look_ahead=False, dense=False) for x in range(judge.n_variables)]
    assert found.graph == Graph(judge.n_variables, [(x, y) for x, z in enumerate(blankets) for y in z])
    for u, v in found.graph.edges:
        worth = [judge.local(x, blankets[x] | {y}) - judge.local(x, blankets[x] - {y}) for x, y in ((u, v), (v, u))]
        k = price(found.graph.n_edges - 1, judge.n_variables * (judge.n_variables - 1) // 2)
        assert found.support[u, v] == pytest.approx(sum(worth) / 2 - k, abs=1e-6)


@pytest.mark.parametrize("n_rows", [60, 150, 400])
def test_the_expected_edges_are_the_sum_of_the_probabilities(n_rows: int) -> None:
    """Weak edges are not drawn, but counted."""
    judge = judge_of(sample(star(12), n_rows, 0.9, seed=4), three_way=False)
    found = SeparatorEvidence(effort="standard", keep_pairs=True).learn(judge)
    assert found.log_odds is not None
    total = (1 / (1 + np.exp(-found.log_odds[np.triu_indices(12, 1)]))).sum()
    assert found.cost["expected_edges"] == pytest.approx(total)


def test_the_price_of_an_edge() -> None:
    assert price(0, 45) == log(45)
    assert price(4, 45) == log(41 / 5)
    assert price(22, 45) == 0.0  # half of all pairs
    assert price(45, 45) == price(44, 45) == 0.0


# ---- what it finds


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("truth", [star(12), cycle(9), grid(3, 4), random_tree(12, seed=3), Graph(10)])
def test_clear_structures_are_found(effort: Effort, truth: Graph) -> None:
    found = SeparatorEvidence(effort=effort).learn(judge_of(sample(truth, 3000, 1.5, seed=4)))
    assert found.graph == truth
    assert found.converged
    assert all(value > 0 for value in found.support.values())


def test_a_parity_is_found_by_looking_ahead() -> None:
    rng = np.random.default_rng(2)
    a, b, c, d = rng.integers(0, 2, (4, 500))
    data = Dataset.from_codes([a, b, a ^ b ^ (rng.random(500) < 0.1), c, d])
    triangle = Graph(5, [(0, 1), (0, 2), (1, 2)])
    assert SeparatorEvidence(effort="thorough").learn(judge_of(data)).graph == triangle
    assert SeparatorEvidence(effort="standard").learn(judge_of(data)).graph == Graph(5)


def test_parents_of_a_common_child_are_joined() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, 2000))
    child = np.where(rng.random(2000) < 0.9, a | b, rng.integers(0, 2, 2000))
    found = SeparatorEvidence().learn(judge_of(Dataset.from_codes([a, b, child])))
    assert found.graph == Graph.complete(3)  # the moral graph


@pytest.mark.parametrize("effort", EFFORTS)
def test_constant_columns_get_no_edges(effort: Effort) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 300)
    data = Dataset.from_codes([a, a * 0, a, a * 0 + 1], cards=[2, 1, 2, 3])
    assert SeparatorEvidence(effort=effort).learn(judge_of(data)).graph == Graph(4, [(0, 2)])


# ---- what must hold


@pytest.mark.parametrize("effort", EFFORTS)
def test_threads_rows_columns_labels_and_repeats_change_nothing(effort: Effort) -> None:
    data = sample(random_graph(10, 2.5, seed=5), 400, 1.0, seed=6)
    learner = SeparatorEvidence(effort=effort)
    expected = learner.learn(judge_of(data))
    threads = learner.learn(HybridEvidence(Counts(data, n_jobs=3)))
    assert (threads.graph, threads.support) == (expected.graph, expected.support)
    rng = np.random.default_rng(0)
    table = np.column_stack(data.columns)
    order, flipped = rng.permutation(10), rng.integers(0, 2, 10)
    moved = Dataset.from_codes((table ^ flipped)[rng.permutation(len(table))][:, order], cards=[2] * 10)
    found = learner.learn(judge_of(moved)).graph
    assert Graph(10, [(order[u], order[v]) for u, v in found.edges]) == expected.graph
    distinct, repeats = np.unique(table, axis=0, return_counts=True)
    grouped = Dataset.from_codes(distinct, cards=[2] * 10, repeats=repeats)
    assert learner.learn(judge_of(grouped)).graph == expected.graph


@pytest.mark.parametrize("seed", few([36, 127, 160], 1))
def test_log_odds_do_not_depend_on_which_end_comes_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns: list[Any] = []
    for k in range(6):
        card = int(rng.integers(2, 7))
        column = rng.integers(0, card, 200)
        for parent in rng.choice(k, min(k, 2), replace=False):
            column = np.where(rng.random(200) < 0.35, columns[parent] % card, column)
        columns.append(column)
    learner = SeparatorEvidence(effort="standard", keep_pairs=True)
    first, last = (learner.learn(judge_of(Dataset.from_codes(c))).log_odds for c in (columns, columns[::-1]))
    assert first is not None
    assert last is not None
    pairs = np.triu_indices(6, 1)
    assert last[::-1, ::-1][pairs] == pytest.approx(first[pairs], abs=1e-9)


@pytest.mark.parametrize("effort", EFFORTS)
def test_what_is_known_is_kept(effort: Effort) -> None:
    data = sample(cycle(8), 800, 1.5, seed=8)
    required, forbidden = [(4, 0), (0, 1)], [(2, 3)]
    learner = SeparatorEvidence(effort=effort, required=required, forbidden=forbidden)
    found = learner.learn(judge_of(data))
    assert {(0, 4), (0, 1)} <= set(found.graph.edges)
    assert (2, 3) not in found.graph
    assert set(found.support) == set(found.graph.edges)
    assert SeparatorEvidence(**found.settings) == learner  # type: ignore[arg-type]


def test_the_separator_phase_can_start_anywhere() -> None:
    judge = judge_of(sample(cycle(8), 2000, 1.5, seed=9))
    for start in (Graph(8), cycle(8), Graph.complete(8)):
        found = SeparatorEvidence(effort="standard", start=start).learn(judge)
        assert found.graph == cycle(8)
        assert found.cost["flips"] >= len(set(start.edges) ^ set(cycle(8).edges))


class Impatient:
    """Stops a search after so many times being asked."""

    def __init__(self, patience: int) -> None:
        self.patience, self.polled = patience, 0

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.polled += 1

    def cancelled(self) -> bool:
        self.patience -= 1
        return self.patience < 0


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("patience", [0, 1, 2, 4, 6, 8])
def test_a_search_can_be_stopped(effort: Effort, patience: int) -> None:
    judge = judge_of(sample(grid(3, 3), 300, 1.2, seed=1))
    found = SeparatorEvidence(effort=effort).learn(judge, Impatient(patience))
    assert set(found.support) == set(found.graph.edges)
    assert all(np.isfinite(value) for value in found.support.values())
    whole = SeparatorEvidence(effort=effort).learn(judge)
    assert found.graph == whole.graph if found.converged else True
    assert found.converged == (found.cost["scans"] == whole.cost["scans"])


def test_work_is_counted() -> None:
    monitor = Impatient(10**9)
    found = SeparatorEvidence().learn(judge_of(sample(star(6), 500, 1.5, seed=2)), monitor)
    assert set(found.cost) == {"scans", "fits", "fallbacks", "flips", "expected_edges", "seconds"}
    assert found.cost["fits"] > 0
    assert found.cost["fallbacks"] == 0
    assert monitor.polled > 0


def test_wide_variables_fall_back_and_are_counted() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 40, 2000)
    data = Dataset.from_codes([a, np.where(rng.random(2000) < 0.9, a, 0), rng.integers(0, 2, 2000)])
    found = SeparatorEvidence().learn(judge_of(data))
    assert found.graph == Graph(3, [(0, 1)])
    assert found.cost["fallbacks"] > 0


# ---- what is refused


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="effort 'quick' does not exist"):
        SeparatorEvidence(effort="quick")  # type: ignore[arg-type]
    for extra in ({"start": Graph(3)}, {"keep_pairs": True}):
        with pytest.raises(InputError, match="is for the separator phase, which effort='fast' skips"):
            SeparatorEvidence(effort="fast", **extra)
    judge = judge_of(sample(star(4), 50, 1.0, seed=1))
    with pytest.raises(InputError, match="start must have the 4 variables of the judge; got 5"):
        SeparatorEvidence(start=Graph(5)).learn(judge)
    with pytest.raises(InputError, match="required and forbidden must not share an edge"):
        SeparatorEvidence(required=[(0, 1)], forbidden=[(1, 0)]).learn(judge)
    alone = judge_of(Dataset.from_codes([[0, 1, 1]]))
    with pytest.raises(InputError, match="must know at least 2 variables; got 1"):
        replace(SeparatorEvidence()).learn(alone)


@pytest.mark.parametrize(("n", "n_rows", "states"), [(8, 200, 10), (6, 400, 20)])
def test_tables_of_nearly_empty_configurations_are_no_evidence(n: int, n_rows: int, states: int) -> None:
    """Two wide variables split the rows into configurations of one row each, which explain nothing."""
    for seed in range(3):
        codes = np.random.default_rng(seed).integers(states, size=(n_rows, n))
        assert not SeparatorEvidence().learn(HybridEvidence(Counts(Dataset.from_codes(codes)))).graph.edges


def test_the_price_of_the_first_edge_holds_as_variables_grow_in_number() -> None:
    """The expected number of false edges of independent binary columns, from the distribution of their tables."""
    for n_rows, ones in ((250, 125), (1000, 200)):
        both = np.arange(ones + 1)
        chance = hypergeom.pmf(both, n_rows, ones, ones)
        both, chance = both[chance > 1e-12], chance[chance > 1e-12]
        evidence = np.array([evidence_of_table(n_rows, ones, int(c)) for c in both])
        for n in (100, 300, 1000, 2000, 5000):
            n_pairs = n * (n - 1) // 2
            assert n_pairs * chance[evidence > price(0, n_pairs)].sum() < 0.05


def evidence_of_table(n_rows: int, ones: int, both: int) -> float:
    """The evidence of two columns with as many ones, some of them in common."""
    counts = np.array([n_rows - 2 * ones + both, ones - both, ones - both, both])
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[counts > 0]
    judge = judge_of(Dataset.from_codes(cells, cards=[2, 2], repeats=counts[counts > 0]))
    return slow.separator_evidence(judge, Graph(2), 0, 1)


@pytest.mark.parametrize("states", [2, 3])
def test_independent_columns_have_hardly_any_edges(states: int) -> None:
    n_edges = 0
    for seed in range(4):
        codes = np.random.default_rng(seed).integers(states, size=(250, 120))
        n_edges += SeparatorEvidence(effort="standard").learn(judge_of(Dataset.from_codes(codes))).graph.n_edges
    assert n_edges <= 1


# ---- copies and rivals


@pytest.mark.parametrize("effort", EFFORTS)
def test_copies_are_joined_to_the_first_of_them_only(effort: Effort) -> None:
    data = sample(cycle(6), 600, 2.0, seed=3)
    columns = [np.asarray(column) for column in data.columns]
    found = SeparatorEvidence(effort=effort).learn(judge_of(Dataset.from_codes([*columns, 1 - columns[2], columns[2]])))
    alone = SeparatorEvidence(effort=effort).learn(judge_of(data))
    assert set(found.graph.edges) == {*alone.graph.edges, (2, 6), (2, 7)}


def test_what_is_known_of_copies_is_kept() -> None:
    columns = [np.asarray(column) for column in sample(cycle(6), 600, 2.0, seed=3).columns]
    judge = judge_of(Dataset.from_codes([*columns, columns[2]]))
    found = SeparatorEvidence(required=[(5, 6)], forbidden=[(2, 6)]).learn(judge)
    assert found.graph.neighbors(6) == {5}


def test_very_many_copies_are_like_other_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [np.asarray(column) for column in sample(cycle(6), 600, 2.0, seed=3).columns]
    monkeypatch.setattr(separator, "MOST_OF_COPIES", 6)
    known = separator.with_copies(Constraints(7), {6: 2})
    assert not known.fixed
    found = SeparatorEvidence().learn(judge_of(Dataset.from_codes([*columns, columns[2]])))
    assert (2, 6) in found.graph


def test_a_copy_may_have_the_edge_that_its_original_may_not() -> None:
    a, b = [0, 0, 1, 1] * 40, [0, 0, 1, 1] * 40
    b[0] = 1
    found = SeparatorEvidence(forbidden=[(0, 2)]).learn(judge_of(Dataset.from_codes([a, a, b])))
    assert found.graph.edges == ((0, 1), (1, 2))


def test_copies_are_joined_only_if_a_closed_list_has_the_pair() -> None:
    columns = [np.asarray(column) for column in sample(cycle(6), 600, 2.0, seed=3).columns]
    judge = judge_of(Dataset.from_codes([*columns, columns[2]]))
    listed = every_pair(7).without([(2, 6)])
    found = SeparatorEvidence(candidates=listed).learn(judge)
    assert (2, 6) not in found.graph
    assert found.graph.edges == SeparatorEvidence(forbidden=[(2, 6)]).learn(judge).graph.edges
    without_original = every_pair(7).without([(2, 3), (2, 6)])
    assert (3, 6) in SeparatorEvidence(candidates=without_original).learn(judge).graph


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_probabilities_and_graph_agree_with_copies(seed: int) -> None:
    columns = [np.asarray(column) for column in small(seed).columns]
    judge = judge_of(Dataset.from_codes([*columns, columns[0], columns[1]]))
    found = SeparatorEvidence(keep_pairs=True).learn(judge)
    assert found.log_odds is not None
    likely = {tuple(pair) for pair in np.argwhere(np.triu(found.log_odds, 1) > 0).tolist()}
    assert likely == set(found.graph.edges)


def test_an_edge_and_a_rival_of_the_same_evidence_are_a_toss_up() -> None:
    """x − y and y − b are edges; x − b would explain as much as x − y, and adds nothing beside it."""
    edge, pair, other = 0, 1, 2  # x − y, x − b, y − b
    odds = Rivals(np.array([edge]), np.array([pair]), np.array([0.0])).revised(np.array([20.0, -3.0, 15.0]))
    assert odds[edge] == pytest.approx(np.exp(-3.0), abs=0.01)  # both edges are possible, too
    assert odds[pair] == 0.0
    assert odds[other] == 15.0


@given(seed=st.integers(0, 2**32))
def test_pairs_that_say_nothing_about_each_other_are_no_rivals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = np.where(np.arange(12) < 4, rng.uniform(0.1, 9, 12), rng.uniform(-9, -0.1, 12))
    edge, pair = rng.integers(0, 4, 20), rng.integers(4, 12, 20)
    assert Rivals(edge, pair, odds[pair] - odds[edge]).revised(odds) == pytest.approx(odds, abs=1e-6)


@given(seed=st.integers(0, 2**32))
def test_rivals_do_not_change_which_of_two_is_more_likely(seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = np.where(np.arange(12) < 4, rng.uniform(0.1, 5000, 12), rng.uniform(-5000, -0.1, 12))
    edge, pair = rng.integers(0, 4, 20), rng.integers(4, 12, 20)
    with np.errstate(all="raise", under="ignore"):
        found = Rivals(edge, pair, rng.uniform(-9, 0, 20)).revised(odds)
    assert (found[:4] >= 0).all()
    assert (found[4:] <= 0).all()
    assert np.isfinite(found).all()


def test_of_near_copies_the_better_partner_is_drawn() -> None:
    """y is x with errors, and z is y with more of them: whatever comes first, z is joined to y, not to x."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, 2000)
    y = np.where(rng.random(2000) < 0.04, rng.integers(0, 3, 2000), x)
    z = np.where(rng.random(2000) < 0.5, rng.integers(0, 3, 2000), y)
    for order in ([x, y, z], [z, y, x], [y, z, x]):
        found = SeparatorEvidence(keep_pairs=True).learn(judge_of(Dataset.from_codes(order)))
        place = {id(column): k for k, column in enumerate(order)}
        assert found.graph.neighbors(place[id(y)]) == {place[id(x)], place[id(z)]}
        assert found.graph.n_edges == 2
        assert found.log_odds is not None
        assert found.log_odds[place[id(y)], place[id(z)]] < 60  # far below its evidence: x is a near rival
