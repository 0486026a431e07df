"""GSIMN: the paper's example and ratios, each rule by hand, and Algorithm 5 question by question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mnlearn.algorithms.blankets import CountedBlanketTest
from mnlearn.algorithms.gsimn import GSIMN, Algorithm5
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import BayesianTest, ChiSquare, GTest, SeparationOracle
from mnlearn.protocols import IndependenceTest, Result, VarSet, Verdict
from mnlearn.statistics import Counts
from mnlearn.statistics.kernels import DofRule
from profiles import few

from references import counts as reference
from references import gsmn as reference_gsmn
from references.gsimn import (
    MIRRORED_RULES,
    RULES,
    Answers,
    KnowledgeBase,
    dependent_by_strong_union,
    dependent_by_triangle,
    independent_by_mirrored_triangle,
    independent_by_strong_union,
    independent_by_triangle,
)
from references.gsmn import FIGURE_1, PaperExample, any_judge, asked_about, lines, visited
from references.judges import Audited

SETTINGS: list[dict[str, Any]] = [
    {},
    {"skip_marginal": False},
    {"propagation": False},
    {"mirrored": True, "skip_marginal": False},
    {"seed_dependences": True},
    {"mirrored": True, "seed_dependences": True, "propagation": False, "skip_marginal": False},
]


def bits(*variables: int) -> int:
    return sum(1 << v for v in variables)


# ---- the paper's example


def test_the_grow_phases_of_figure_5() -> None:
    # The figure shows the grow order of 7 before lines 16-17 would move 5 to its end: no propagation.
    result = GSIMN(propagation=False, keep_trace=True).learn(PaperExample())
    assert result.graph == FIGURE_1
    assert visited(result)[:2] == [5, 7]
    assert [source for *_, source in asked_about(result, 5, "grow")] == ["data"] * 7
    assert asked_about(result, 7, "grow") == [
        (3, set(), False, "dependent_by_triangle"),
        (4, {3}, False, "dependent_by_triangle"),
        (6, {3, 4}, False, "dependent_by_triangle"),
        (5, {3, 4, 6}, False, "dependent_by_strong_union"),
        (2, {3, 4, 5, 6}, True, "data"),
        (0, {3, 4, 5, 6}, True, "data"),
        (1, {3, 4, 5, 6}, True, "data"),
    ]


def test_the_mirrored_triangle_is_the_example_of_figure_4() -> None:
    # 1 ⟂ 5 | {3, 4} and 5 ⟂̸ 7 | {3, 4, 6} give 1 ⟂ 7 | {3, 4}: when 7 is examined, that is the mirrored direction.
    result = GSIMN(mirrored=True, propagation=False, keep_trace=True).learn(PaperExample())
    assert asked_about(result, 7, "grow")[-3:] == [
        (2, {3, 4, 5, 6}, True, "independent_by_mirrored_triangle"),
        (0, {3, 4, 5, 6}, True, "data"),
        (1, {3, 4, 5, 6}, True, "independent_by_mirrored_triangle"),
    ]


def test_with_propagation_the_blanket_of_5_answers_for_7() -> None:
    result = GSIMN(keep_trace=True).learn(PaperExample())
    assert (
        asked_about(result, 7, "grow")[:3]
        == asked_about(GSIMN(propagation=False, keep_trace=True).learn(PaperExample()), 7, "grow")[:3]
    )
    assert asked_about(result, 7, "grow")[-1] == (5, {3, 4, 6}, False, "propagation")


# ---- each rule by hand (Figure 4)


@pytest.fixture
def known() -> Answers:
    answers = Answers(8)
    answers.add(5, 3, bits(), independent=False)
    answers.add(5, 4, bits(3), independent=False)
    answers.add(5, 1, bits(3, 4), independent=True)
    answers.add(5, 6, bits(3, 4), independent=False)
    answers.add(5, 7, bits(3, 4, 6), independent=False)
    return answers


def test_dependence_by_strong_union_needs_a_larger_set(known: Answers) -> None:
    assert dependent_by_strong_union(known, 7, 5, bits(3)) == bits(3, 4, 6)
    assert dependent_by_strong_union(known, 5, 7, bits(3, 4, 6)) == bits(3, 4, 6)
    assert dependent_by_strong_union(known, 5, 7, bits(2, 3)) is None
    assert dependent_by_strong_union(known, 5, 1, bits()) is None


def test_dependence_by_triangle_holds_given_what_both_sets_share(known: Answers) -> None:
    assert dependent_by_triangle(known, 4, 7, bits()) == bits(3)
    assert dependent_by_triangle(known, 7, 4, bits(3)) == bits(3)
    assert dependent_by_triangle(known, 4, 7, bits(6)) is None
    assert dependent_by_triangle(known, 7, 6, bits(3, 4)) == bits(3, 4)
    assert dependent_by_triangle(known, 7, 1, bits()) is None


def test_independence_by_strong_union_needs_a_smaller_set(known: Answers) -> None:
    assert independent_by_strong_union(known, 1, 5, bits(3, 4, 7)) == bits(3, 4)
    assert independent_by_strong_union(known, 1, 5, bits(3)) is None
    assert independent_by_strong_union(known, 5, 7, bits(3, 4, 6)) is None


def test_independence_by_triangle_goes_from_x_over_w(known: Answers) -> None:
    assert independent_by_triangle(known, 1, 7, bits(3, 4)) == bits(3, 4)
    assert independent_by_triangle(known, 1, 7, bits(3, 4, 6)) == bits(3, 4)
    assert independent_by_triangle(known, 1, 7, bits(3)) is None
    assert independent_by_triangle(known, 1, 4, bits(3)) is None
    assert independent_by_triangle(known, 1, 6, bits(3, 4)) == bits(3, 4)
    assert independent_by_triangle(known, 7, 1, bits(3, 4)) is None
    assert independent_by_mirrored_triangle(known, 7, 1, bits(3, 4)) == bits(3, 4)


def test_a_repeated_answer_is_stored_once(known: Answers) -> None:
    known.add(7, 5, bits(3, 4, 6), independent=False)
    known.add(7, 5, bits(2), independent=False)
    assert known.dependent[5][7] == known.dependent[7][5] == (bits(3, 4, 6), bits(2))
    assert set(known.dependent[5]) == {3, 4, 6, 7}
    assert set(known.independent[1]) == {5}


# ---- the pseudocode, question by question


@pytest.mark.parametrize("kind", ["oracle", "data"])
@pytest.mark.parametrize("seed", few(range(48), 6))
def test_gsimn_is_algorithm_5(kind: str, seed: int) -> None:
    settings = SETTINGS[seed % len(SETTINGS)]
    twin = reference_gsmn.Concrete(any_judge(kind, seed), infers=True, **settings)
    graph = twin.run()
    for ahead in (1, 3, 1024):
        result = GSIMN(keep_trace=True, ahead=ahead, **settings).learn(any_judge(kind, seed))
        assert lines(result) == twin.lines
        assert result.graph == graph


# ---- sound, for every setting


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("degree", [1, 2, 4, 8])
def test_the_oracle_gives_the_true_graph(settings: dict[str, Any], degree: int) -> None:
    for seed in few(range(25), 4):
        truth = random_graph(9 + seed % 6, degree, seed)
        result = GSIMN(keep_trace=True, **settings).learn(SeparationOracle(truth))
        assert result.graph == truth
        assert result.trace is not None
        assert all(q.independent == truth.separates(q.x, q.y, q.z) for q in result.trace)


# ---- the paper's figures


@pytest.mark.parametrize(
    ("n", "n_graphs", "with_propagation", "without"),
    few([(50, 5, 0.64, 0.26), (75, 2, 0.61, 0.24), (100, 1, 0.60, 0.23)], 1),
)
def test_weighted_tests_relative_to_gsmn_star(n: int, n_graphs: int, with_propagation: float, without: float) -> None:
    # [JAIR09, Fig. 6], degree 8: counted with the initial tests, without the savings of line 22.
    ratios = []
    for seed in range(n_graphs):
        oracle = SeparationOracle(random_graph(n, 8, seed))
        ours = GSIMN(skip_marginal=False).learn(oracle)
        assert ours.graph == oracle.graph
        stars = [GSMNStar(skip_marginal=False, propagation=p).learn(oracle).cost["weighted"] for p in (True, False)]
        ratios.append([ours.cost["weighted"] / star for star in stars])
    assert np.mean(ratios, axis=0) == pytest.approx([with_propagation, without], abs=0.02)


def test_weighted_tests_of_table_1_where_nothing_depends() -> None:
    # Lenses and baloons, n = 5: 20, the initial tests alone.
    assert GSIMN().learn(SeparationOracle(Graph.empty(5))).cost["weighted"] == 20


# ---- what it returns


def test_every_rule_has_its_line_in_the_cost() -> None:
    plain = GSIMN().learn(SeparationOracle(FIGURE_1)).cost
    mirrored = GSIMN(mirrored=True).learn(SeparationOracle(FIGURE_1)).cost
    for rule in ("marginal", "propagation", "dependent_by_strong_union", "independent_by_triangle"):
        assert f"inferred_{rule}" in plain
    assert set(mirrored) - set(plain) == {"inferred_independent_by_mirrored_triangle"}
    assert plain["inferred"] == sum(v for k, v in plain.items() if k.startswith("inferred_"))


def test_an_edge_that_no_test_found_has_its_marginal_support() -> None:
    test = ChiSquare(Counts(Dataset.from_codes([[0, 0, 1, 1] * 9, [0, 0, 1, 0] * 9])))
    result = GSIMN(seed_dependences=True).learn(test)
    assert (result.cost["main_asked"], result.cost["inferred_dependent_by_strong_union"]) == (0, 2)
    assert result.support == {(0, 1): test(0, 1, frozenset()).log_support}


def test_bad_settings_are_refused_when_the_learner_is_made() -> None:
    with pytest.raises(InputError, match="ahead must be a whole number, at least 1; got -1"):
        GSIMN(ahead=-1)


# ---- judges that reason themselves


def by_written_rules(learner: GSIMN, judge: IndependenceTest) -> Result:
    """Learn test by test, with the rules of the twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "mnlearn.algorithms.gsimn.knowledge_base",
            lambda n, *, mirrored: KnowledgeBase(n, MIRRORED_RULES if mirrored else RULES),
        )
        return learner.learn(Audited(judge))


JUDGES: dict[str, Any] = {
    "chi2": lambda counts: ChiSquare(counts, alpha=0.2, dof="observed"),
    "g2": lambda counts: GTest(counts, alpha=0.2),
    "bayes": BayesianTest,
}


def some_data(rng: np.random.Generator) -> Dataset:
    """Few rows and noisy chains: many answers are wrong, blankets grow and shrink; at times what cannot be sorted."""
    n, n_rows = int(rng.choice([2, 6, 12, 12, 24, 70])), int(rng.integers(20, 400))
    cards = rng.choice([2, 2, 2, 3, 4], n)
    if rng.random() < 0.2:
        cards[rng.integers(n)] = 11  # more than nine states
    dependence = float(rng.choice([0.2, 0.5, 0.8]))
    return reference.random_dataset(
        rng, n_rows=n_rows, cards=cards.tolist(), dependence=dependence, repeats=bool(rng.random() < 0.1)
    )


@pytest.mark.parametrize("path", ["", "portable"])
@given(
    seed=st.integers(0, 2**32),
    test=st.sampled_from(sorted(JUDGES)),
    setting=st.fixed_dictionaries(
        {name: st.booleans() for name in ("propagation", "skip_marginal", "mirrored", "seed_dependences", "keep_trace")}
    ),
    ahead=st.sampled_from([2, 20, 1024]),
)
@hypothesis_settings(max_examples=40, deadline=None)
def test_a_judge_that_reasons_gives_what_the_written_rules_give(
    path: str, seed: int, test: str, setting: dict[str, bool], ahead: int
) -> None:
    data = some_data(np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        judge = JUDGES[test](Counts(data, n_jobs=1))
    learner = GSIMN(ahead=ahead, **setting)  # type: ignore[arg-type]
    result, expected = learner.learn(judge), by_written_rules(learner, judge)
    assert result.graph == expected.graph
    assert result.support == expected.support
    assert result.trace == expected.trace
    assert account(result) == account(expected)
    assert result.cost["scanned"] >= result.cost["asked"]


@pytest.mark.parametrize(("n", "card", "dof"), [(40, 4, "observed"), (24, 2, "all")])
def test_where_the_core_stops_the_search_goes_on_with_what_it_knows(
    n: int, card: int, dof: DofRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More states than fit one number; more degrees of freedom than the core's tails go for.
    rng = np.random.default_rng(7)
    columns = [rng.integers(0, card, 300)]
    for _ in range(n - 1):
        columns.append(np.where(rng.random(300) < 0.2, rng.integers(0, card, 300), columns[-1]))
    counts = Counts(Dataset.from_codes(columns), n_jobs=1)
    judge = ChiSquare(counts, alpha=1 - 1e-12, dof=dof)
    expected = by_written_rules(GSIMN(keep_trace=True), judge)
    asked, ask = list[int](), Algorithm5.__call__

    def noted(self: Algorithm5, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        asked.append(x)
        return ask(self, x, y, z, upcoming)

    monkeypatch.setattr(Algorithm5, "__call__", noted)
    result = GSIMN(keep_trace=True).learn(judge)
    assert 0 < len(asked) < result.cost["main_asked"] or counts.code_path == "portable"
    assert (result.graph, result.support, result.trace) == (expected.graph, expected.support, expected.trace)
    assert account(result) == account(expected)
    assert result.cost["inferred_dependent_by_triangle"] > 0


def test_threads_and_what_was_asked_before_change_nothing() -> None:
    rng = np.random.default_rng(11)
    data = reference.random_dataset(rng, n_rows=300, cards=[2] * 60, dependence=0.3)
    results = []
    for n_jobs in (1, 3):
        judge = ChiSquare(Counts(data, n_jobs=n_jobs), alpha=0.05, dof="observed")
        results += [GSIMN(skip_marginal=False, keep_trace=True).learn(judge) for _ in range(2)]
    first = results[0]
    for result in results[1:]:
        assert (result.graph, result.support, result.trace) == (first.graph, first.support, first.trace)
        assert account(result) == account(first)


def account(result: Result) -> dict[str, float]:
    return {name: value for name, value in result.cost.items() if name not in ("scanned", "seconds")}


def test_counts_reason_and_wrappers_do_not() -> None:
    judge = any_judge("data", 1)
    assert CountedBlanketTest(judge).use_knowledge((), mirrored=False) is not None
    assert CountedBlanketTest(judge, ahead=1).use_knowledge((), mirrored=False) is None
    assert CountedBlanketTest(Audited(judge)).use_knowledge((), mirrored=False) is None
    assert CountedBlanketTest(SeparationOracle(FIGURE_1)).use_knowledge((), mirrored=False) is None
