"""Separator evidence among many variables: the same flips without full passes, candidates, and cancellation."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import sep as separator
from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.screening import Screening
from mnlearn.algorithms.sep import NEAR, SeparatorEvidence
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.algorithms.sep import phase as contradictions
from mnlearn.algorithms.sep import phase as separator_phase
from mnlearn.algorithms.sep.blankets import sampled_odds, strongest_pairs
from mnlearn.algorithms.sep.phase import Contradictions
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, grid, hubs, random_graph, random_tree
from mnlearn.graphs.candidates import Candidates, PlacesByVariable, every_pair, keys_of, pairs_of_lists
from mnlearn.protocols import SILENT
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import ising, sample
from mnlearn.statistics import Counts

from references.separator_passes import FullPasses, Recorded


def judge_of(graph: Graph, n_rows: int, seed: int, weight: float = 0.5) -> HybridEvidence:
    return HybridEvidence(Counts(sample(ising(graph, weight, seed=seed), n_rows, seed=seed + 1).dataset(), n_jobs=1))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contradictions, "BLOCK", 4)
    monkeypatch.setattr(separator_phase, "BLOCK", 4)


# ---- the same flips


def both_ways(
    judge: HybridEvidence, start: Graph, candidates: Candidates | None, known: Constraints
) -> tuple[Any, Any]:
    found = []
    for kind in (FullPasses, Recorded):
        phase = kind(judge, known.apply(start), known, SILENT, near=NEAR, candidates=candidates)
        converged = phase.run()
        flipped = getattr(phase, "flipped", [])
        odds = phase.log_odds().tolist()
        found.append((flipped, converged, phase.drawn(), phase.sum_of_probabilities(), odds))
    return found[0], found[1]


@pytest.mark.parametrize("start", ["empty", "random", "tree"])
@pytest.mark.parametrize("screened", [False, True])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=6)
def test_flips_are_those_of_full_passes(start: str, screened: bool, seed: int) -> None:
    n, known = 26, Constraints(26, required=[(0, 25)], forbidden=[(3, 4)])
    graph = hubs(2, 12) if seed % 3 == 0 else random_graph(n, 2 + seed % 4, seed=seed)
    judge = judge_of(graph, 200 + seed % 400, seed % 1000)
    first = {"empty": Graph(n), "random": random_graph(n, 4, seed=seed + 1), "tree": random_tree(n, seed=seed)}[start]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contradictions, "BLOCK", 4)
        patch.setattr(separator_phase, "BLOCK", 4)
        listed = strongest_pairs(judge, known, SILENT, Screening(k=4))[0] if screened else None
        slow, fast = both_ways(judge, first, listed, known)
    assert fast == slow


def test_ties_are_those_of_full_passes(small_blocks: None) -> None:
    rng = np.random.default_rng(1)
    columns = rng.integers(0, 2, (6, 60))
    data = Dataset.from_codes([*columns, *columns, *(1 - columns)], cards=[2] * 18)
    judge = HybridEvidence(Counts(data, n_jobs=1))
    slow, fast = both_ways(judge, random_graph(18, 3, seed=2), None, Constraints(18))
    assert fast == slow
    assert len(fast[0]) > 10


@given(data=st.data(), n=st.integers(1, 40), block=st.integers(1, 9))
@settings(max_examples=60)
def test_contradictions_are_those_of_all_pairs(data: st.DataObject, n: int, block: int) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    evidence, (present, fitted, free) = rng.integers(-4, 5, n) / 2.0, rng.random((3, n)) < 0.5
    prices = rng.integers(0, 3, n) / 2.0 if rng.random() < 0.5 else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contradictions, "BLOCK", block)
        found = Contradictions(evidence, present, fitted, free, prices)
        for _ in range(3):
            changed = rng.choice(n, min(n, 3), replace=False)
            evidence[changed], present[changed] = rng.integers(-4, 5, len(changed)) / 2.0, rng.random() < 0.5
            found.update(changed)
            excess = evidence - (0.0 if prices is None else prices)
            asked = np.flatnonzero(free & ~present & ~fitted & (excess > 0.75))
            assert found.estimated(0.75).tolist() == asked.tolist()
            violation = np.where(free & (present | fitted), np.where(present, 0.5 - excess, excess - 1.0), -inf)
            leading = found.leading(1.0, 0.5, 1e-9)
            best = violation.max()
            assert set(np.flatnonzero(violation >= best - 1e-9)) <= set(leading) if best > 0 else not len(leading)
            assert (np.diff(leading) > 0).all()


def test_a_judge_that_gives_no_number_is_refused() -> None:
    evidence = np.array([1.0, np.nan, 0.0])
    yes = np.ones(3, dtype=bool)
    found = Contradictions(evidence, ~yes, yes, yes, None)
    assert 1 in found.leading(2.0, 2.0, 0.0)


@given(seed=st.integers(0, 2**32), n=st.integers(2, 12))
@settings(max_examples=40)
def test_places_are_listed_by_variable(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    keys = every_pair(n).keys
    listed = Candidates(n, keys[rng.random(len(keys)) < 0.6])
    index, xs = PlacesByVariable(listed), rng.choice(n, int(rng.integers(0, n)), replace=False)
    assert sorted(index.with_first(xs)) == np.flatnonzero(np.isin(listed.u, xs)).tolist()
    assert sorted(index.with_second(xs)) == np.flatnonzero(np.isin(listed.v, xs)).tolist()


# ---- candidates


@pytest.mark.parametrize("effort", ["fast", "standard", "thorough"])
def test_no_other_pair_than_the_listed_and_required_becomes_an_edge(effort: Any) -> None:
    graph = grid(5, 5)
    judge = judge_of(graph, 2000, 3, 0.7)
    listed = Candidates(25, keys_of(25, np.array([*graph.edges[::2], (0, 24)])))
    found = SeparatorEvidence(effort=effort, candidates=listed, required=[(7, 19)]).learn(judge)
    assert {*found.graph.edges} <= {*graph.edges[::2], (0, 24), (7, 19)}
    assert {*graph.edges[::2], (7, 19)} <= {*found.graph.edges}


def test_all_pairs_as_a_closed_list_are_all_pairs() -> None:
    judge = judge_of(random_graph(14, 3, seed=1), 300, 4)
    whole = SeparatorEvidence(keep_pairs=True).learn(judge)
    found = SeparatorEvidence(keep_pairs=True, candidates=every_pair(14)).learn(judge)
    assert (found.graph, found.support) == (whole.graph, whole.support)
    assert np.array_equal(np.asarray(found.log_odds), np.asarray(whole.log_odds))


def test_a_start_keeps_only_listed_edges_and_others_have_no_odds() -> None:
    judge = judge_of(grid(3, 3), 1000, 5, 0.7)
    listed = Candidates(9, keys_of(9, np.array([(0, 1), (1, 2)])))
    found = SeparatorEvidence(start=grid(3, 3), candidates=listed, keep_pairs=True).learn(judge)
    assert {*found.graph.edges} <= {(0, 1), (1, 2)}
    odds = np.asarray(found.log_odds)
    assert np.isneginf(odds[3, 4])
    assert np.isfinite(odds[0, 1])


@pytest.mark.parametrize("rescans", [True, False])
def test_a_screen_finds_a_grid(rescans: bool) -> None:
    judge = judge_of(grid(6, 6), 2000, 5, 0.7)
    found = SeparatorEvidence(candidates=Screening(k=6, rescans=rescans)).learn(judge)
    assert found.graph == SeparatorEvidence().learn(judge).graph
    assert found.cost["candidate_pairs"] < 36 * 35 / 2


def test_known_partners_replace_the_screen() -> None:
    judge = judge_of(grid(4, 4), 2000, 5, 0.7)
    screening = Screening(listed=Candidates(16, keys_of(16, np.array(grid(4, 4).edges))), rescans=False)
    found = SeparatorEvidence(candidates=screening).learn(judge)
    assert found.graph == grid(4, 4)
    assert 0 < found.cost["expected_edges"] - found.graph.n_edges < 8  # unlisted pairs count by their mean odds


def test_candidates_of_other_variables_are_refused() -> None:
    judge = judge_of(grid(3, 3), 100, 5)
    with pytest.raises(InputError, match="candidates must be pairs of the 9 variables"):
        SeparatorEvidence(candidates=every_pair(8)).learn(judge)
    with pytest.raises(InputError, match="candidates must be Candidates, a Screening or None; got a list"):
        SeparatorEvidence(candidates=[(0, 1)])  # type: ignore[arg-type]


def test_the_odds_of_all_pairs_of_many_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separator, "MOST_WITH_ALL_ODDS", 8)
    with pytest.raises(InputError, match=r"keep_pairs .* at most 8 variables; got 9. Leave it out"):
        SeparatorEvidence(keep_pairs=True).learn(judge_of(grid(3, 3), 100, 5))


# ---- very many variables


class Screened(HybridEvidence):
    """A judge that lists all pairs by itself."""

    can_screen = True

    def strongest(self, k: int, monitor: Any = SILENT) -> Candidates:  # noqa: ARG002
        pairs = self.pairs(
            range(self.n_variables - 1), [frozenset()] * (self.n_variables - 1), _later(self.n_variables)
        )
        best = [np.argsort(-row.log_factor, kind="stable")[:k].astype(np.int32) + x + 1 for x, row in enumerate(pairs)]
        starts = np.cumsum([0, *map(len, best), 0])
        return pairs_of_lists(self.n_variables, starts, np.concatenate(best))


def _later(n: int) -> list[Any]:
    return [np.arange(x + 1, n, dtype=np.int32) for x in range(n - 1)]


@pytest.mark.parametrize("network", ["grid", "tree", "hubs", "degree 4"])
def test_judges_that_screen_by_themselves_find_the_same(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = {"grid": grid(7, 8), "tree": random_tree(60, 1), "hubs": hubs(4, 12), "degree 4": random_graph(60, 4, 1)}
    judge = Screened(judge_of(graph[network], 1500, 7).statistics)
    whole = SeparatorEvidence(effort="standard").learn(judge).graph
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_EVIDENCE", 10)
    found = SeparatorEvidence(effort="standard").learn(judge)
    assert len({*found.graph.edges} ^ {*whole.edges}) <= 1
    assert found.cost["candidate_pairs"] > 0


def test_statistics_without_a_screen_are_ranked_by_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_EVIDENCE", 10)
    monkeypatch.setattr(HybridEvidence, "can_screen", False)
    assert SeparatorEvidence().learn(judge_of(grid(4, 4), 2000, 5, 0.7)).graph == grid(4, 4)


def test_the_odds_of_a_sample_are_those_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judge_of(random_graph(80, 3, seed=2), 800, 7)
    listed, _ = strongest_pairs(judge, Constraints(80), SILENT, Screening(k=5))
    assert sampled_odds(judge, listed, SILENT) == pytest.approx(listed.mean_odds_of_others, rel=1e-6)
    monkeypatch.setattr(_candidate_pairs, "PAIRS_SAMPLED", 80 * 40)
    assert sampled_odds(judge, listed, SILENT) == pytest.approx(listed.mean_odds_of_others, rel=0.1)


# ---- cancellation


class Stopping:
    """A monitor that cancels after so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...

    def cancelled(self) -> bool:
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize("looks", [0, 1, 3, 6, 10, 15, 25, 40, 80])
@pytest.mark.parametrize("kind", ["screen", "closed", "own screen"])
def test_a_cancelled_search_returns_its_best(looks: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_EVIDENCE", 10)
    judge = Screened(judge_of(grid(6, 6), 800, 5, 0.7).statistics)
    candidates = every_pair(36) if kind == "closed" else Screening(k=6)
    if kind == "screen":
        judge = HybridEvidence(judge.statistics)  # type: ignore[assignment]
        monkeypatch.setattr(_candidate_pairs, "MOST_FOR_EVIDENCE", 100)
    found = SeparatorEvidence(candidates=candidates).learn(judge, Stopping(looks))
    assert set(found.support) == set(found.graph.edges)
    assert not found.converged or looks >= 25
