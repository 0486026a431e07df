"""Local evidence: the full table, the pairwise conditional by Laplace, the better of the two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import read
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph
from mnlearn.protocols import EvidenceScore
from mnlearn.scores import MPL, HybridEvidence
from mnlearn.statistics import Counts, Moments
from profiles import few

from references import counts as reference
from references import evidence as slow
from references.evidence_parts import FullTableEvidence, PairwiseEvidence

Data = tuple[Dataset, int, list[int]]


@st.composite
def questions(draw: st.DrawFn, most: int = 3, largest: int = 4) -> Data:
    """Data of few variables and rows, an x and some z; repeats and states that never occur included."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cards = draw(st.lists(st.integers(1, largest), min_size=2, max_size=most + 1))
    data = reference.random_dataset(rng, n_rows=draw(st.integers(1, 60)), cards=cards, dependence=draw(st.floats(0, 1)))
    if draw(st.booleans()):
        repeats = rng.integers(1, 4, data.n_records)
        data = Dataset.from_codes(list(data.columns), cards=[c + 1 for c in cards], repeats=repeats)
    order = rng.permutation(len(cards)).tolist()
    return data, order[0], order[1 : 1 + draw(st.integers(0, len(cards) - 1))]


def mixed(seed: int = 3, n_rows: int = 400, cards: Sequence[int] = (2, 3, 2, 2, 3, 2), follow: float = 0.5) -> Dataset:
    """Binary and three-state variables, each often following the one before; all states occur."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, n_rows) for card in cards]
    for k in range(1, len(cards)):
        columns[k] = np.where(rng.random(n_rows) < follow, columns[k - 1] % cards[k], columns[k])
    return Dataset.from_codes(columns, cards=cards)


def parity(n_rows: int = 250, noise: float = 0.1) -> Dataset:
    """x = y xor z but for some noise: nothing to see in pairs."""
    rng = np.random.default_rng(5)
    y, z, w = rng.integers(0, 2, (3, n_rows))
    return Dataset.from_codes([y ^ z ^ (rng.random(n_rows) < noise), y, z, w], cards=[2] * 4)


# ---- against the twin


@given(question=questions())
@settings(max_examples=60)
def test_the_full_table_is_the_closed_form(question: Data) -> None:
    data, x, z = question
    score = FullTableEvidence(Counts(data))
    assert score.local(x, frozenset(z)) == pytest.approx(slow.full_table(data, x, z), abs=1e-9)


@given(question=questions())
@settings(max_examples=40)
def test_the_fit_is_scipys(question: Data) -> None:
    data, x, z = question
    score = PairwiseEvidence(Counts(data), three_way=False)
    assert score.local(x, frozenset(z)) == pytest.approx(slow.pairwise(data, x, z), abs=1e-6)
    assert score.work["fallbacks"] == 0


@given(question=questions(most=3, largest=3))
@settings(max_examples=20)
def test_three_way_terms_are_chosen_as_written(question: Data) -> None:
    data, x, z = question
    expected = slow.pairwise(data, x, z, three_way=True)
    assert PairwiseEvidence(Counts(data)).local(x, frozenset(z)) == pytest.approx(expected, abs=1e-6)


def test_a_three_way_term_is_found_and_paid_for() -> None:
    data = parity()
    plain, full = (
        PairwiseEvidence(Counts(data), three_way=use).local(0, frozenset({1, 2, 3})) for use in (False, True)
    )
    assert full > plain + 50
    assert full == pytest.approx(slow.pairwise(data, 0, [1, 2, 3], three_way=True), abs=1e-6)
    blocks, paid_for = slow.fitted(data, 0, [1, 2, 3], three_way=True)
    assert len(blocks) == 4
    unpaid = slow.Conditional(data, 0, blocks).log_evidence()
    assert unpaid - paid_for == pytest.approx(np.log(3) + 0.01 + np.log(2), abs=1e-9)  # one of three pairs; wide


def near_copies(n_rows: int = 400) -> Dataset:
    """z, and four functions of it: x and a copy of z under other names, and two that merge states."""
    z = np.random.default_rng(7).integers(0, 6, n_rows)
    return Dataset.from_codes([z // 2, z, (z * 5 + 1) % 6, z % 3, z // 3], cards=[3, 6, 6, 3, 2])


def test_a_neighbour_that_determines_x_has_a_wide_prior_and_pays_for_it() -> None:
    data = near_copies()
    plain = [slow.coded(data, 1)]
    blocks, paid = slow.widened(data, 0, plain)
    assert paid == pytest.approx(np.log(2))
    assert (blocks[0] == 4 * plain[0]).all()
    narrow, wide = (slow.Conditional(data, 0, some).log_evidence() for some in (plain, blocks))
    assert wide > narrow + 10
    found = PairwiseEvidence(Counts(data), three_way=False).local(0, frozenset({1}))
    assert found == pytest.approx(slow.pairwise(data, 0, [1]), abs=1e-6)


def rows_of(cells: str) -> Dataset:
    """Rows from cells such as "01:5", the states of each variable and how often they occur."""
    counted = [(states, int(count)) for states, count in (cell.split(":") for cell in cells.split())]
    rows = [list(map(int, states)) for states, count in counted for _ in range(count)]
    return Dataset.from_codes(np.array(rows).T)


@pytest.mark.parametrize(
    "cells",
    ["000:96 010:1 011:1 100:1 111:101", "000:59 002:2 100:1 111:69 122:3 211:1 222:65"],
)
def test_wide_priors_do_not_depend_on_the_order_of_the_columns(cells: str) -> None:
    data = rows_of(cells)
    turned = Dataset.from_codes([np.asarray(data.columns[k]) for k in (0, 2, 1)])
    expected = slow.pairwise(data, 0, [1, 2])
    for some in (data, turned):
        score = PairwiseEvidence(Counts(some), three_way=False)
        assert score.local(0, frozenset({1, 2})) == pytest.approx(expected, abs=1e-6)


def test_a_copy_of_a_neighbour_is_no_neighbour() -> None:
    judge = HybridEvidence(Counts(near_copies()))
    assert judge.pairs([0], [frozenset({1})], [[2, 3, 4]])[0].log_factor.max() < np.log(10)  # the first edge
    assert judge.pairs([0], [frozenset()], [[1, 2]])[0].log_factor.min() > 100


@given(question=questions(most=3, largest=3))
@settings(max_examples=20)
def test_pairs_are_weighed_in_both_directions(question: Data) -> None:
    data, x, z = question
    z, (y, *_) = z[1:], [*z[:1], *(v for v in range(len(data.cards)) if v != x and v not in z)]
    judge = HybridEvidence(Counts(data), three_way=False)
    found = judge.pairs([x], [frozenset(z)], [[y]])[0]
    assert found.exact.all()
    assert found.log_factor[0] == pytest.approx(slow.edge_evidence(data, x, y, z), abs=1e-6)
    turned = judge.pairs([y], [frozenset(z)], [[x]])[0]
    assert turned.log_factor[0] == pytest.approx(found.log_factor[0], abs=1e-9)


@pytest.mark.parametrize("three_way", [False, True])
def test_the_estimate_is_one_newton_step(three_way: bool) -> None:
    data, z = mixed(), [1, 2, 3]
    judge = HybridEvidence(Counts(data), three_way=three_way)
    (rows,) = judge.estimates([0], [frozenset(z)], [[4, 5]])
    blocks, evidence = slow.fitted(data, 0, z, three_way=three_way)
    offset = slow.full_table(data, 0, []) - slow.Conditional(data, 0, []).log_evidence()
    for y, estimate in zip([4, 5], rows, strict=True):
        larger = slow.Conditional(data, 0, [*blocks, slow.coded(data, y)])
        gain = slow.one_step(slow.Conditional(data, 0, blocks), larger)
        expected = max(slow.full_table(data, 0, [*z, y]) - slow.gift(data, 0), evidence + offset + gain)
        assert estimate == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", few(range(4), 2))
@pytest.mark.parametrize("n_rows", few([30, 300], 1))
def test_laplace_is_close_to_the_integral(seed: int, n_rows: int) -> None:
    data = mixed(seed, n_rows, cards=[2, 2], follow=0.2 * seed)
    score = PairwiseEvidence(Counts(data))
    gain = score.local(0, frozenset({1})) - score.local(0, frozenset())
    exact = slow.log_integral(data, 0, 1) - slow.log_integral(data, 0, None)
    assert gain == pytest.approx(exact, abs=4 / n_rows)  # Laplace errs by a multiple of 1 / N


# ---- what must hold


def test_a_scan_answers_as_single_questions_do() -> None:
    data = mixed()
    judge = HybridEvidence(Counts(data))
    xs, sets, yss = [0, 4, 0], [frozenset({1, 2}), frozenset({0}), frozenset[int]()], [[3, 4, 5], [1, 2, 3, 5], [1, 5]]
    for ask in (judge.additions, judge.estimates):
        for x, z, ys, row in zip(xs, sets, yss, ask(xs, sets, yss), strict=True):
            assert row.tolist() == [ask([x], [z], [[y]])[0][0] for y in ys]
    for x, z, ys, scan in zip(xs, sets, yss, judge.pairs(xs, sets, yss), strict=True):
        assert scan.log_factor.tolist() == [judge.pairs([x], [z], [[y]])[0].log_factor[0] for y in ys]
    for x, z, row in zip(xs, sets, judge.removals(xs, sets), strict=True):
        assert row.tolist() == [judge.local(x, z - {y}) for y in sorted(z)]
    added = judge.additions([0], [frozenset({1, 2})], [[3]])[0][0]
    assert added == pytest.approx(judge.local(0, frozenset({1, 2, 3})), abs=1e-9)


def test_only_what_may_exceed_the_threshold_is_fitted() -> None:
    judge = HybridEvidence(Counts(mixed()))
    ask: Any = ([0], [frozenset({1})], [[2, 3, 4, 5]])
    estimated, fitted = judge.pairs(*ask, fit_above=np.inf)[0], judge.pairs(*ask)[0]
    assert not estimated.exact.any()
    assert fitted.exact.all()
    threshold = float(np.sort(estimated.log_factor)[1:3].mean())
    some = judge.pairs(*ask, fit_above=threshold)[0]
    assert some.exact[estimated.log_factor > threshold].all()
    assert not some.exact.all()
    assert some.log_factor[some.exact].tolist() == fitted.log_factor[some.exact].tolist()
    assert (some.log_factor[~some.exact] <= threshold).all()


def learned_by_hand(judge: HybridEvidence, x: int, blanket: frozenset[int], ys: list[int], above: float) -> Any:
    """Fit whatever is largest, until the largest is fitted or below the bound."""
    (values,) = judge.estimates([x], [blanket], [ys])
    exact = np.zeros(len(ys), dtype=bool)
    while values.max() > above and not exact[values.argmax()]:
        best = int(values.argmax())
        values[best], exact[best] = judge.additions([x], [blanket], [[ys[best]]])[0][0], True
    return values, exact


@pytest.mark.parametrize("three_way", [False, True])
@pytest.mark.parametrize("cards", [(2,) * 7, (2, 3, 2, 2, 3, 2, 2), (5, 4, 5, 3, 5, 2, 5)])
def test_whatever_leads_is_fitted(cards: tuple[int, ...], three_way: bool) -> None:
    judge = HybridEvidence(Counts(mixed(n_rows=900, cards=cards, follow=0.3)), three_way=three_way)
    for x in range(7):
        for blanket in (frozenset[int](), frozenset({(x + 1) % 7}), frozenset({(x + 1) % 7, (x + 2) % 7})):
            ys = [y for y in range(7) if y != x and y not in blanket]
            above = judge.local(x, blanket) + np.log(7)
            (found,) = judge.leaders([x], [blanket], [ys], np.array([above]))
            values, exact = learned_by_hand(judge, x, blanket, ys, above)
            assert (found.log_factor.max() > above) == (values.max() > above)
            if values.max() > above:
                assert found.log_factor.argmax() == values.argmax()
                assert found.log_factor.max() == values.max()
                assert found.exact[values.argmax()]
            assert (found.log_factor[found.exact] == np.where(exact, values, np.nan)[found.exact]).all()


@pytest.mark.parametrize("cards", [(2,) * 6, (5, 4, 5, 3, 2, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_only_members_that_may_leave_are_fitted(seed: int, cards: tuple[int, ...]) -> None:
    judge = HybridEvidence(Counts(mixed(seed, n_rows=600, cards=cards, follow=0.3)), three_way=seed == 0)
    for x in range(6):
        blanket = frozenset(range(6)) - {x, (x + 3) % 6}
        exact = judge.removals([x], [blanket])[0]
        above = judge.local(x, blanket) - np.log(6)
        some = judge.removals([x], [blanket], fit_above=np.array([above]))[0]
        assert (some > above).tolist() == (exact > above).tolist()
        assert some[some > above].tolist() == exact[exact > above].tolist()


def test_estimates_have_full_tables_of_any_number_of_rows() -> None:
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 2, (5, 40))
    data = Dataset.from_codes(list(columns), cards=[2] * 5, repeats=rng.integers(1, 10**5, 40))
    assert data.n_rows > 2**17  # beyond the tables of logarithms
    judge, tables = HybridEvidence(Counts(data)), FullTableEvidence(Counts(data))
    found = judge._scans.additions([0], [frozenset({1})], [[2, 3, 4]], exact=False)[0].full_table
    assert found == pytest.approx(tables.additions([0], [frozenset({1})], [[2, 3, 4]])[0] - judge._scans.gift[0])


@pytest.mark.parametrize("cards", [(2,) * 6, (3,) * 6, (5, 2, 5, 2, 3, 4)])
def test_declared_states_that_do_not_occur_change_nothing(cards: tuple[int, ...]) -> None:
    data = mixed(n_rows=300, cards=cards)
    more = Dataset.from_codes(list(data.columns), cards=[card + 2 for card in cards])
    judge, other = HybridEvidence(Counts(data)), HybridEvidence(Counts(more))
    ask: Any = ([0, 1], [frozenset({1, 2}), frozenset[int]()], [[3, 4, 5], [0, 2, 3]])
    for one, two in zip(judge.estimates(*ask), other.estimates(*ask), strict=True):
        assert one.tolist() == two.tolist()
    for fit_above in (-np.inf, 0.0, np.inf):
        for a, b in zip(judge.pairs(*ask, fit_above=fit_above), other.pairs(*ask, fit_above=fit_above), strict=True):
            assert a.log_factor.tolist() == b.log_factor.tolist()


@pytest.mark.parametrize("fit_above", [-np.inf, np.inf])
@pytest.mark.parametrize("cards", [(2,) * 6, (2, 3, 2, 2, 3, 2), (5, 2, 5, 2, 3, 4)])
def test_threads_and_code_paths_change_no_bit(
    cards: tuple[int, ...], fit_above: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = mixed(n_rows=3000, cards=cards)
    answers = set()
    for path in ("portable", "avx2", "avx512", "neon"):
        monkeypatch.setenv("MNLEARN_CORE", path)
        for n_jobs in (1, 2, 3):
            try:
                judge = HybridEvidence(Counts(data, n_jobs=n_jobs))
            except InputError:
                continue  # this processor cannot run that path
            scans = judge.pairs(
                range(6),
                [frozenset({(x + 1) % 6, (x + 2) % 6}) for x in range(6)],
                [[(x + 3) % 6, (x + 4) % 6] for x in range(6)],
                fit_above=fit_above,
            )
            answers.add(tuple(float(value) for scan in scans for value in scan.log_factor))
    assert len(answers) == 1


def test_order_of_rows_and_columns_labels_and_repeats_change_nothing() -> None:
    data = mixed(n_rows=120)
    expected = HybridEvidence(Counts(data)).pairs([0], [frozenset({1, 4})], [[3]])[0].log_factor[0]
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(data.n_records), rng.permutation(6)
    relabel = [rng.permutation(card) for card in data.cards]
    moved = [relabel[v][data.columns[v][rows]] for v in columns]
    place = {int(v): k for k, v in enumerate(columns)}
    shuffled = HybridEvidence(Counts(Dataset.from_codes(moved, cards=[data.cards[v] for v in columns])))
    found = shuffled.pairs([place[0]], [frozenset({place[1], place[4]})], [[place[3]]])[0].log_factor[0]
    assert found == pytest.approx(expected, abs=1e-9)
    distinct, repeats = np.unique(np.column_stack(data.columns), axis=0, return_counts=True)
    grouped = Dataset.from_codes(list(distinct.T), cards=list(data.cards), repeats=repeats)
    found = HybridEvidence(Counts(grouped)).pairs([0], [frozenset({1, 4})], [[3]])[0].log_factor[0]
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_hybrid_is_the_larger_of_the_two() -> None:
    counts = Counts(mixed())
    table, pairwise, hybrid = FullTableEvidence(counts), PairwiseEvidence(counts), HybridEvidence(counts)
    for x, *z in permutations(range(4), 3):
        values = [score.local(x, frozenset(z)) for score in (table, pairwise, hybrid)]
        assert values[2] == pytest.approx(max(values[0] - slow.gift(mixed(), x), values[1]), abs=1e-9)
    for x in range(6):  # without neighbours all three are the same
        alone = [score.local(x, frozenset()) for score in (table, pairwise, hybrid)]
        assert alone == pytest.approx([alone[0]] * 3, abs=1e-9)


def test_they_are_scores_of_graphs_like_any_other() -> None:
    counts = Counts(mixed())
    graph = Graph(6, [(0, 1), (1, 2), (2, 5)])
    for score in (FullTableEvidence(counts), PairwiseEvidence(counts), HybridEvidence(counts)):
        total = sum(score.local(x, graph.neighbors(x)) for x in range(6))
        assert score(graph) == pytest.approx(total)
        assert score.on(graph).gains([(0, 2)])[0] == pytest.approx(score(graph.flip(0, 2)) - total)
    assert FullTableEvidence(counts)(graph) == pytest.approx(MPL(counts, graph_prior=None)(graph))


def test_the_best_pair_is_the_best_of_all() -> None:
    data = parity()
    judge, table = HybridEvidence(Counts(data)), FullTableEvidence(Counts(data))
    gift = slow.gift(data, 0)
    for rest, candidates, best in ((frozenset(), [1, 2, 3], (1, 2)), (frozenset({1}), [3, 2], (2, 3))):
        pair, value = judge.best_pair(0, rest, candidates) or ((0, 0), 0.0)
        assert pair == best
        assert value == pytest.approx(table.local(0, rest | set(best)) - gift, abs=1e-9)
    assert judge.best_pair(0, frozenset(), [1]) is None


def test_pairs_too_wide_for_models_are_weighed_against_the_better_explanation() -> None:
    data = mixed(n_rows=500, cards=(20, 18, 2, 3))
    judge = HybridEvidence(Counts(data))
    z = frozenset({2, 3})
    there = judge.local(0, z | {1}) - judge.local(0, z)
    back = judge.local(1, z | {0}) - judge.local(1, z)
    for x, y in ((0, 1), (1, 0)):
        assert judge.pairs([x], [z], [[y]])[0].log_factor[0] == pytest.approx((there + back) / 2, abs=1e-9)


def test_a_member_that_makes_room_for_an_interaction_may_leave() -> None:
    rng = np.random.default_rng(2)
    others = rng.integers(0, 2, (9, 600))
    x = others[0] ^ others[1] ^ (rng.random(600) < 0.1)
    judge = HybridEvidence(Counts(Dataset.from_codes([x, *others], cards=[2] * 10)))
    blanket = frozenset(range(1, 10))  # one more than models with three-way terms have
    above = judge.local(0, blanket) + 100
    (found,), (exact,) = judge.removals([0], [blanket], np.array([above])), judge.removals([0], [blanket])
    assert (exact[2:] > above).all()
    assert found[2:] == pytest.approx(exact[2:], abs=1e-9)


# ---- where fits are hard


def hard_data() -> dict[str, Dataset]:
    rng = np.random.default_rng(1)
    a, wide = rng.integers(0, 2, 300), rng.integers(0, 60, 300)
    return {
        "separation": Dataset.from_codes([a, a, 1 - a, rng.integers(0, 2, 300)], cards=[2] * 4),
        "single-valued strata": Dataset.from_codes(
            [np.arange(300) % 2, *rng.integers(0, 4, (5, 300))], cards=[2, *[4] * 5]
        ),
        "sixty states": Dataset.from_codes([wide, (wide * 7 + a) % 60, a, wide % 3], cards=[60, 60, 2, 3]),
        "constant columns": Dataset.from_codes([a, a * 0, a * 0 + 2, 1 - a], cards=[2, 1, 3, 2]),
        "one row": Dataset.from_codes([[0], [1], [2]], cards=[2, 2, 3]),
        "a billion rows": Dataset.from_codes([[0, 0, 1, 1], [0, 1, 0, 1]], cards=[2, 2], repeats=[10**9, 1, 2, 10**9]),
        "very many states": Dataset.from_codes([np.arange(300), np.arange(300) % 150, a], cards=[300, 150, 2]),
    }


@pytest.mark.parametrize("name", hard_data())
@pytest.mark.parametrize("three_way", few([True, False], 1))
def test_hard_data_give_finite_evidence(name: str, three_way: bool) -> None:
    data = hard_data()[name]
    judge, n = HybridEvidence(Counts(data), three_way=three_way), len(data.cards)
    for x in range(n):
        others = [y for y in range(n) if y != x]
        for z in (frozenset[int](), frozenset(others[:1]), frozenset(others[1:])):
            ys = [y for y in others if y not in z]
            rows = [*judge.estimates([x], [z], [ys]), *judge.additions([x], [z], [ys]), judge.locals([x], [z])]
            rows += [judge.pairs([x], [z], [ys], fit_above=above)[0].log_factor for above in (-np.inf, np.inf)]
            assert all(np.isfinite(row).all() for row in rows)


def test_a_constant_column_tells_nothing() -> None:
    judge = HybridEvidence(Counts(hard_data()["constant columns"]))
    assert judge.pairs([1, 0], [frozenset()] * 2, [[0, 2, 3], [1, 2]])[0].log_factor.tolist() == [0, 0, 0]
    assert judge.pairs([0], [frozenset({3})], [[1, 2]])[0].log_factor.tolist() == [0, 0]
    assert judge.local(0, frozenset({1, 2})) == pytest.approx(judge.local(0, frozenset()), abs=1e-9)


def test_models_too_large_fall_back_to_the_table_and_are_counted() -> None:
    data = hard_data()["sixty states"]
    counts, gift = Counts(data), slow.gift(data, 0)
    pairwise, table = PairwiseEvidence(counts), FullTableEvidence(counts)
    assert pairwise.local(0, frozenset({1})) == pytest.approx(table.local(0, frozenset({1})) - gift, abs=1e-9)
    assert pairwise.work == {"scans": 0, "fits": 1, "fallbacks": 1}
    assert pairwise.local(0, frozenset({2})) > table.local(0, frozenset({2})) + 1
    assert pairwise.work == {"scans": 0, "fits": 2, "fallbacks": 1}
    added = [score.additions([0], [frozenset()], [[1]])[0][0] for score in (pairwise, table)]
    assert added[0] == pytest.approx(added[1] - gift, abs=1e-9)


def test_tables_of_mostly_empty_configurations_give_nothing() -> None:
    """Uniform columns: F of a pair with more cells than rows beats F of nothing, H does not; F itself stays F."""
    rng = np.random.default_rng(3)
    data = Dataset.from_codes([rng.integers(0, 40, 300) for _ in range(3)])
    judge, table = HybridEvidence(Counts(data)), FullTableEvidence(Counts(data))
    alone, given = frozenset[int](), frozenset({1})
    assert slow.gift(data, 0) > 10
    assert table.local(0, given) > table.local(0, alone) + 10
    assert judge.local(0, alone) == pytest.approx(table.local(0, alone), abs=1e-9)
    assert judge.local(0, given) == pytest.approx(table.local(0, given) - slow.gift(data, 0), abs=1e-9)
    assert judge.pairs([0], [alone], [[1, 2]])[0].log_factor.max() < 0


def test_states_that_never_occur_do_not_count() -> None:
    a, b, c = np.array([0, 2] * 30), np.array([0, 0, 2, 2] * 15), np.array([0, 1, 1] * 20)
    tight = HybridEvidence(Counts(Dataset.from_codes([a // 2, b // 2, c])))
    loose = HybridEvidence(Counts(Dataset.from_codes([a, b, c], cards=[5, 4, 2])))
    for z in ([], [1], [2], [1, 2]):
        assert loose.local(0, frozenset(z)) == pytest.approx(tight.local(0, frozenset(z)), abs=1e-9)
    found = [judge.pairs([0], [frozenset({2})], [[1]])[0].log_factor[0] for judge in (tight, loose)]
    assert found[0] == pytest.approx(found[1], abs=1e-9)


# ---- what is refused


def test_bad_questions_are_refused() -> None:
    judge: EvidenceScore = HybridEvidence(Counts(mixed()))
    with pytest.raises(InputError, match="z must not contain x"):
        judge.local(0, frozenset({0}))
    with pytest.raises(InputError, match="y must differ from x"):
        judge.pairs([0], [frozenset()], [[0]], fit_above=0.0)
    with pytest.raises(InputError, match=r"y must be the index of a variable, 0 to 5; got 6"):
        judge.additions([0], [frozenset()], [[6]])


def test_statistics_that_cannot_fit_are_refused() -> None:
    moments = Moments(read({"a": [0.1, 0.2, 0.4, 0.9], "b": [1.5, 3.0, 2.0, 2.5]}))
    with pytest.raises(UnsuitableError, match="HybridEvidence cannot fit models by a Moments"):
        HybridEvidence(moments)  # type: ignore[arg-type]
