"""Markov blanket search against its slow twin, and what must hold at every move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.mbs import MBS
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.gaussian import continuous_dataset, sparse_gaussian
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.graphs import Graph, cycle, grid, hubs, path, star
from mnlearn.protocols import FloatArray, Result
from mnlearn.scores import MPL, PIC, Entropy, ExtendedBIC
from mnlearn.simulate import PairwiseNetwork, sample_exact
from mnlearn.statistics import Counts, Moments

from references import mbs as reference_mbs


def gaussian_rows(seed: int, n: int = 7, n_rows: int = 30) -> FloatArray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n)) @ (np.eye(n) + rng.uniform(-0.6, 0.6, (n, n)))


def judge_of(rows: FloatArray) -> Entropy:
    data = continuous_dataset(rows, None)
    return Entropy(Moments(data), rows=data)


def graph_of(blankets: list[set[int]]) -> Graph:
    return Graph(len(blankets), [(x, y) for x, blanket in enumerate(blankets) for y in blanket])


def steps(result: Result) -> list[reference_mbs.Step]:
    return [(move.x, move.added, move.removed) for move in result.moves]


# ---- the algorithm


@given(
    seed=st.integers(0, 2**32),
    k_max=st.integers(1, 4),
    spare=st.integers(0, 2),
    strength=st.sampled_from([0, 0.02, 0.2]),
)
@settings(max_examples=25)
def test_it_makes_the_moves_of_its_twin(seed: int, k_max: int, spare: int, strength: float) -> None:
    rows = gaussian_rows(seed)
    score = reference_mbs.penalised(reference_mbs.gaussian_entropy(rows), strength)
    blankets, made = reference_mbs.mbs(score, 7, k_max=k_max, k_hard=k_max + spare)
    result = MBS(k_max=k_max, k_hard=k_max + spare, regularization=strength).learn(judge_of(rows))
    assert steps(result) == made
    assert result.graph == graph_of(blankets)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_the_stage_of_deletions_is_the_twins(seed: int) -> None:
    rows = gaussian_rows(seed)
    judge = ExtendedBIC(Moments(continuous_dataset(rows, None)))
    blankets, made = reference_mbs.mbs(lambda x, z: -judge.local(x, z), 7, k_max=6, deletions=True)
    result = MBS(k_max=6).learn(judge)
    assert steps(result) == made
    assert result.graph == graph_of(blankets)


@given(seed=st.integers(0, 2**32), k_max=st.integers(1, 3), strength=st.sampled_from([0, 0.05]))
@settings(max_examples=20)
def test_each_blanket_by_itself_is_the_twins(seed: int, k_max: int, strength: float) -> None:
    rows = gaussian_rows(seed)
    blankets = reference_mbs.apart(
        reference_mbs.penalised(reference_mbs.gaussian_entropy(rows), strength), 7, k_max=k_max
    )
    either = {(x, y) for x, blanket in enumerate(blankets) for y in blanket}
    for combine, wanted in (("or", either), ("and", {(x, y) for x, y in either if (y, x) in either})):
        result = MBS(k_max=k_max, regularization=strength, combine=combine).learn(judge_of(rows))  # type: ignore[arg-type]
        assert result.graph == Graph(7, wanted)


def test_a_swap_counts_all_three_and_the_one_let_go_is_tabu_to_the_one_that_let_it_go() -> None:
    seen = 0
    for seed in range(30):
        result = MBS(k_max=3, regularization=0.01).learn(judge_of(gaussian_rows(seed, n=9)))
        let_go: set[tuple[int, int]] = set()
        for move in result.moves:
            assert (move.x, move.added) not in let_go
            if move.removed is not None:
                let_go.add((move.x, move.removed))
        seen += len(let_go)
    assert seen > 20


JUDGES: dict[str, Any] = {"entropy": Entropy, "ebic": ExtendedBIC, "mpl": MPL, "pic": PIC}


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("deletions", [False, True])
def test_the_score_rises_by_exactly_the_stated_gain_and_blankets_agree_at_every_move(
    name: str, deletions: bool
) -> None:
    strength = 0.02
    for seed in range(3):
        judge: Any = JUDGES[name](Counts(correlated(seed)))
        result = MBS(k_max=3, k_hard=4, regularization=strength, deletions=deletions).learn(judge)
        graph = Graph.empty(6)

        def worth(graph: Graph, judge: Any = judge) -> float:
            return float(judge(graph) - strength * np.log(np.maximum(graph.degrees(), 1)).sum())

        assert result.moves
        for move in result.moves:
            after = graph.add([(move.x, move.added)] if move.added is not None else [])
            after = after.remove([(move.x, move.removed)] if move.removed is not None else [])
            assert move.gain > 0
            assert worth(after) - worth(graph) == pytest.approx(move.gain, abs=1e-8)
            assert after.n_edges - graph.n_edges == (move.added is not None) - (move.removed is not None)
            assert after.degrees().max() <= (4 if move.removed is not None else max(move.k, graph.degrees().max()))
            graph = after
        assert graph == result.graph
        assert result.score == pytest.approx(worth(graph))


def correlated(seed: int, n_rows: int = 120) -> Dataset:
    """A ring of six with a chord: enough structure for additions, swaps and deletions."""
    truth = cycle(6).add([(0, 3)])
    network = PairwiseNetwork(truth, dict.fromkeys(truth.edges, 0.9), (0.1, -0.2, 0.3, -0.1, 0.2, 0.4))
    return Dataset.from_codes(sample_exact(network, n_rows, seed), cards=[2] * 6)


def test_swaps_may_pass_k_max_and_never_k_hard() -> None:
    truth = star(12)
    rows = sparse_gaussian(truth, seed=3).sample(300, seed=4)
    for k_hard in (2, 3, 6):
        result = MBS(k_max=2, k_hard=k_hard, regularization=0.0).learn(judge_of(rows))
        assert result.graph.degrees().max() <= k_hard
    assert result.graph.degrees().max() > 2


def test_the_graph_of_round_k_is_the_result_for_that_k() -> None:
    judge = judge_of(gaussian_rows(5, n=10))
    whole = MBS(k_max=4, regularization=0.01).learn(judge)
    for k in range(1, 5):
        assert MBS(k_max=k, regularization=0.01).learn(judge).graph == whole.stages[f"k={k}"]


# ---- what it finds


@pytest.mark.parametrize("truth", [path(12), cycle(9), grid(3, 4), hubs(2, 4)], ids=["path", "cycle", "grid", "hubs"])
def test_many_rows_give_the_true_gaussian_graph(truth: Graph) -> None:
    data = sparse_gaussian(truth, seed=1).dataset(4000, seed=2)
    assert MBS().learn(ExtendedBIC(Moments(data))).graph == truth
    chosen = MBS().learn(Entropy(Moments(data))).graph
    assert set(chosen.edges) >= set(truth.edges)  # λ log |M| finds them all, and lets superfluous ones stay


def test_a_neighbour_taken_too_early_leaves_only_by_a_deletion() -> None:
    """0 − 1 − 2: 0 takes 2 while 1 has no room, and is better without it once 1 has."""
    judge = ExtendedBIC(Moments.from_covariance([[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]], n_rows=100))
    assert MBS(deletions=False).learn(judge).graph == Graph.complete(3)
    assert MBS().learn(judge).graph == path(3)


# ---- choosing


def test_what_is_chosen_is_the_best_of_what_was_tried() -> None:
    data = sparse_gaussian(grid(3, 3), seed=1).dataset(100, seed=2)
    judge = Entropy(Moments(data), rows=data)
    for choose in ("ebic", "cv"):
        result = MBS(choose=choose).learn(judge)
        best = max(result.trials, key=lambda trial: trial.value)
        assert (result.cost["regularization"], result.cost["rounds"]) == (best.regularization, best.k_max)
        again = MBS(regularization=best.regularization, k_max=best.k_max).learn(judge)
        assert again.graph == result.graph
    assert len({trial.regularization for trial in result.trials}) == 7


@pytest.mark.slow
def test_by_criterion_each_trial_is_the_criterion_of_its_graph() -> None:
    data = sparse_gaussian(grid(3, 3), seed=1).dataset(100, seed=2)
    judge = Entropy(Moments(data))
    for trial in MBS(gamma=0.2).learn(judge).trials:
        graph = MBS(regularization=trial.regularization, k_max=trial.k_max).learn(judge).graph
        assert trial.value == pytest.approx(judge.criterion(0.2)(graph))


def test_a_given_k_leaves_only_the_penalty_to_choose() -> None:
    data = sparse_gaussian(grid(3, 3), seed=1).dataset(100, seed=2)
    for choose in ("ebic", "cv"):
        result = MBS(choose=choose, k_max=2).learn(Entropy(Moments(data), rows=data))
        assert result.graph.degrees().max() <= 20
        assert result.cost["rounds"] == 2


def test_a_given_k_that_is_not_reached_leaves_every_penalty_in_the_choice() -> None:
    data = sparse_gaussian(path(8), seed=1).dataset(120, seed=2)
    result = MBS(choose="cv", k_max=7).learn(Entropy(Moments(data), rows=data))
    last = {trial.regularization: trial for trial in result.trials}
    assert any(trial.k_max < 7 for trial in last.values())
    assert any(trial.k_max == 7 for trial in last.values())
    best = max(last.values(), key=lambda trial: trial.value)
    assert best.k_max < 7
    assert result.cost["regularization"] == best.regularization


def test_a_given_penalty_leaves_only_k_to_choose() -> None:
    data = sparse_gaussian(grid(4, 4), seed=1).dataset(100, seed=2)
    result = MBS(regularization=1e-5).learn(Entropy(Moments(data)))
    assert result.cost["regularization"] == 1e-5
    assert {trial.k_max for trial in result.trials} == set(range(1, len(result.trials) + 1))
    assert result.cost["rounds"] == max(result.trials, key=lambda trial: trial.value).k_max


# ---- degenerate data

WAYS: list[dict[str, Any]] = [
    {},
    {"choose": "cv", "n_folds": 2},
    {"regularization": 1e-4, "k_max": 3},
    {"combine": "and"},
    {"combine": "or"},
]


@pytest.mark.parametrize("settings_", WAYS, ids=str)
@pytest.mark.parametrize("n_rows", [4, 12, 60])
def test_degenerate_data_give_a_finite_result(settings_: dict[str, Any], n_rows: int) -> None:
    """Columns 3 to 6: a constant, a copy, a copy turned round, and a sum."""
    rows = gaussian_rows(2, n=3, n_rows=n_rows)
    rows = np.column_stack([rows, np.full(n_rows, 5.0), rows[:, 0], 3 - 2 * rows[:, 0], rows[:, 1] + rows[:, 2]])
    result = MBS(**settings_).learn(judge_of(rows))
    assert result.score is not None
    assert np.isfinite([result.score, *result.support.values(), *(move.gain for move in result.moves)]).all()
    assert result.graph.degree(3) == 0
    if settings_.get("combine") != "or":  # where the limit is on what each proposes
        assert result.graph.degrees().max() <= max(1, (n_rows - 1) // 2)


def test_a_constant_column_takes_no_place_that_a_swap_would_leave() -> None:
    """Swapping a weak neighbour for a first one of a constant column would save the price and look like a gain."""
    data = sparse_gaussian(star(5), seed=1).dataset(60, seed=2)
    rows = np.column_stack([*data.columns, np.full(60, 0.1)])
    for strength in (0.1, 0.3, 1.0):
        way = MBS(regularization=strength, k_max=3)
        assert way.learn(judge_of(rows)).graph.degree(5) == 0
        coded = Dataset.from_codes(np.column_stack([rows[:, :5] > 0, rows[:, 5:] > 1]).astype(int), cards=[2] * 6)
        assert way.learn(Entropy(Counts(coded))).graph.degree(5) == 0
    wanted = MBS(regularization=0.1, k_max=3, required=((4, 5),)).learn(judge_of(rows))
    assert wanted.graph.neighbors(5) == {4}


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_units_do_not_change_what_held_out_rows_choose(scale: float) -> None:
    rows = np.column_stack(sparse_gaussian(path(5), seed=1).dataset(60, seed=2).columns)
    plain, scaled = (MBS(choose="cv", k_max=2).learn(judge_of(table)) for table in (rows, rows * scale))
    assert scaled.graph == plain.graph
    assert scaled.cost["regularization"] == plain.cost["regularization"]


@pytest.mark.parametrize("settings_", [WAYS[0], *WAYS[2:]], ids=str)
def test_two_rows_which_every_line_fits_have_no_edges(settings_: dict[str, Any]) -> None:
    result = MBS(**settings_).learn(judge_of(gaussian_rows(2, n=4, n_rows=2)))
    assert result.graph == Graph.empty(4)
    assert result.moves == ()


# ---- bad input


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ({"k_max": 0}, "k_max must be a whole number, at least 1"),
        ({"k_max": 5, "k_hard": 4}, "k_max must not exceed k_hard; got 5 and 4"),
        ({"k_hard": 0}, "k_hard must be a whole number"),
        ({"regularization": -1e-9}, "regularization must be a number, 0 or more"),
        ({"regularization": float("nan")}, "regularization must be a number, 0 or more"),
        ({"gamma": "much"}, "gamma must be a number"),
        ({"n_folds": 1}, "n_folds must be a whole number, at least 2"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"deletions": "no"}, "deletions must be true or false"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        MBS(**setting)


def test_unknown_names_and_unsuitable_judges_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="choose 'bic' does not exist"):
        MBS(choose="bic")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="combine 'xor' does not exist"):
        MBS(combine="xor")  # type: ignore[arg-type]
    with pytest.raises(UnsuitableError, match="MBS cannot search by a object, which has no local"):
        MBS().learn(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k_hard must leave room for the required edges; got 1"):
        MBS(k_hard=1, required=((0, 1), (0, 2))).learn(judge_of(gaussian_rows(1)))
    with pytest.raises(InputError, match="rows are needed for cross-validation"):
        MBS(choose="cv").learn(Entropy(Moments(continuous_dataset(gaussian_rows(1), None))))
