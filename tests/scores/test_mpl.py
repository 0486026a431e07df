"""MPL and PIC against their dictionary twins, and what every local score of ours must do."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.graphs import Graph, star
from mnlearn.scores import MPL, PIC
from mnlearn.scores.mpl import observed_cards
from mnlearn.statistics import Counts, Moments

from references import counts as reference
from references import mpl as reference_mpl


def slope(size: int) -> float:
    """A prior of the user's own."""
    return -1.5 * size * size


SCORES: dict[str, tuple[Callable[..., Any], Callable[[Dataset], reference_mpl.Local]]] = {
    "mpl": (MPL, reference_mpl.mpl),
    "mpl-1": (lambda s: MPL(s, prior_cell=1.0), lambda d: reference_mpl.mpl(d, cell=1.0)),
    "mpl-size": (
        lambda s: MPL(s, sample_size=10, graph_prior=None),
        lambda d: reference_mpl.mpl(d, sample_size=10, prior=lambda _: 0.0),
    ),
    "mpl-prior": (lambda s: MPL(s, graph_prior=slope), lambda d: reference_mpl.mpl(d, prior=slope)),
    "mpl-strong": (
        lambda s: MPL(s, graph_prior=2.5),
        lambda d: reference_mpl.mpl(d, prior=lambda size: -2.5 * size / 2 * log(len(d.cards))),
    ),
    "pic": (PIC, reference_mpl.pic),
    "pic-parameters": (
        lambda s: PIC(s, penalty="parameters"),
        lambda d: reference_mpl.pic(d, penalty="parameters"),
    ),
    "pic-observed": (
        lambda s: PIC(s, penalty="parameters", cardinalities="observed"),
        lambda d: reference_mpl.pic(d, penalty="parameters", observed=True),
    ),
}
every_score = pytest.mark.parametrize("name", SCORES)


def some_data(seed: int, *, n: int = 6, n_rows: int | None = None, repeats: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60)) if n_rows is None else n_rows
    return reference.random_dataset(rng, n_rows=rows, cards=rng.integers(1, 5, n).tolist(), repeats=repeats)


def some_graph(seed: int, n: int = 6) -> Graph:
    rng = np.random.default_rng([seed, 7])
    return Graph(n, [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.4])


# ---- the numbers


@every_score
@given(seed=st.integers(0, 2**32), repeats=st.booleans())
@settings(max_examples=25)
def test_every_face_of_the_score_gives_the_twins_number(name: str, seed: int, repeats: bool) -> None:
    data = some_data(seed, repeats=repeats)
    score, local = SCORES[name][0](Counts(data)), SCORES[name][1](data)
    graph = some_graph(seed)
    blankets = [graph.neighbors(x) for x in range(6)]
    outside = [[y for y in range(6) if y != x and y not in blankets[x]] for x in range(6)]
    added, removed = score.additions(range(6), blankets, outside), score.removals(range(6), blankets)
    for x, blanket in enumerate(blankets):
        assert score.local(x, blanket) == pytest.approx(local(x, blanket), rel=1e-11, abs=1e-9)
        assert added[x] == pytest.approx([local(x, blanket | {y}) for y in outside[x]], rel=1e-11, abs=1e-9)
        assert removed[x] == pytest.approx([local(x, blanket - {y}) for y in sorted(blanket)], rel=1e-11, abs=1e-9)
    assert score(graph) == pytest.approx(reference_mpl.total(local, 6, set(graph.edges)), rel=1e-11, abs=1e-9)


def test_a_small_table_by_hand() -> None:
    """x = 0,0,1 and y = 0,1,1, α = 1/2: Γ(1)/Γ(4) · Γ(5/2)Γ(3/2)/Γ(1/2)² = 3/48 alone; with y 1/2 · 1/8."""
    score = MPL(Counts(Dataset.from_codes([[0, 0, 1], [0, 1, 1]])), graph_prior=None)
    assert score.local(0, frozenset()) == pytest.approx(log(3 / 48))
    assert score.local(0, frozenset({1})) == pytest.approx(log(1 / 2 * 1 / 8))
    criterion = PIC(Counts(Dataset.from_codes([[0, 0, 1], [0, 1, 1]])))
    assert criterion.local(0, frozenset()) == pytest.approx(2 * log(2 / 3) + log(1 / 3) - log(3))
    assert criterion.local(0, frozenset({1})) == pytest.approx(2 * log(1 / 2) - 2 * log(3))


def test_the_prior_takes_log_d_for_each_edge() -> None:
    counts, graph = Counts(some_data(3, n_rows=50)), some_graph(3)
    bare = MPL(counts, graph_prior=None)(graph)
    assert MPL(counts)(graph) == pytest.approx(bare - graph.n_edges * log(6))
    assert MPL(counts, graph_prior=3.0)(graph) == pytest.approx(bare - 3 * graph.n_edges * log(6))
    assert MPL(counts, graph_prior=0.0)(graph) == bare


def test_mpl_tends_to_the_criterion_with_half_a_log_for_each_parameter() -> None:
    """[MPL17, Sec. 3.2]: the difference stays bounded while both grow with the rows."""
    differences = []
    for n_rows in (1000, 8000, 64000):
        rng = np.random.default_rng(5)
        x = rng.integers(0, 2, n_rows)
        y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, 3, n_rows), x)
        counts = Counts(Dataset.from_codes([x, y]))
        ours, theirs = MPL(counts, graph_prior=None), PIC(counts, penalty="parameters")
        differences.append(ours.local(0, frozenset({1})) - theirs.local(0, frozenset({1})))
    assert np.ptp(differences) < 0.2


# ---- what changes nothing


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_rows_columns_labels_and_repeats_change_nothing(name: str, seed: int) -> None:
    data, graph, make = some_data(seed, n_rows=40), some_graph(seed), SCORES[name][0]
    rng = np.random.default_rng(seed)
    value = make(Counts(data))(graph)
    columns = [column.astype(np.int64) for column in data.columns]

    def scored(columns: list[Any], cards: Any, g: Graph = graph, repeats: Any = None) -> float:
        return float(make(Counts(Dataset.from_codes(columns, cards=cards, repeats=repeats)))(g))

    order = rng.permutation(40)
    assert scored([c[order] for c in columns], data.cards) == pytest.approx(value, rel=1e-12)
    new = rng.permutation(6)
    moved = [columns[int(np.flatnonzero(new == x)[0])] for x in range(6)]
    cards = [data.cards[int(np.flatnonzero(new == x)[0])] for x in range(6)]
    assert scored(moved, cards, graph.relabel(new.tolist())) == pytest.approx(value, rel=1e-12)
    labels = [rng.permutation(card)[c] for c, card in zip(columns, data.cards, strict=True)]
    assert scored(labels, data.cards) == pytest.approx(value, rel=1e-12)
    twice = [np.repeat(c, 2) for c in columns]
    assert scored(columns, data.cards, repeats=np.full(40, 2)) == pytest.approx(scored(twice, data.cards), rel=1e-12)


@every_score
def test_the_same_bits_for_any_number_of_threads(name: str) -> None:
    data, graph = some_data(11, n=12, n_rows=500), some_graph(11, 12)
    one, many = (SCORES[name][0](Counts(data, n_jobs=n)).on(graph) for n in (1, 4))
    pairs = [(u, v) for v in range(12) for u in range(v)]
    assert one.terms == many.terms
    assert one.gains(pairs).tolist() == many.gains(pairs).tolist()


# ---- far out


@every_score
def test_many_states_and_more_configurations_than_rows(name: str) -> None:
    """67 states (Barley), and blankets with more configurations than a float can count."""
    rng = np.random.default_rng(2)
    cards = [67, 67, 41, *[2] * 17, *[60] * 180]
    data = Dataset.from_codes([rng.integers(0, card, 100) for card in cards], cards=cards)
    score, local = SCORES[name][0](Counts(data)), SCORES[name][1](data)
    for size in (3, 19):
        blanket = frozenset(range(1, 1 + size))
        assert score.local(0, blanket) == pytest.approx(local(0, blanket), rel=1e-11)
        assert score.additions([0], [blanket], [[199]])[0] == pytest.approx([local(0, blanket | {199})], rel=1e-11)
        assert score.removals([0], [blanket])[0][0] == pytest.approx(local(0, blanket - {1}), rel=1e-11)
    assert np.isfinite(score.on(star(200)).gains([(0, 1), (1, 2)])).all()


@every_score
def test_one_row_one_variable_one_state(name: str) -> None:
    make = SCORES[name][0]
    assert np.isfinite(make(Counts(Dataset.from_codes([[0], [2], [1]], cards=[2, 3, 2])))(Graph.complete(3)))
    assert np.isfinite(make(Counts(Dataset.from_codes([[0, 1, 1]])))(Graph.empty(1)))
    constant = make(Counts(Dataset.from_codes([[0, 0], [0, 0]], cards=[1, 1])))
    assert (constant.on(Graph.empty(2)).gains([(0, 1)]) <= 0).all()


def test_observed_states() -> None:
    data = Dataset.from_codes([[0, 2, 2], [1, 1, 1], [0, 1, 2]], cards=[4, 3, 3])
    assert observed_cards(Counts(data)) == (2, 1, 3)
    assert observed_cards(Counts(Dataset.from_codes([[0, 2]], cards=[4]))) == (4,)


# ---- bad input


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), True, "strong"])
def test_a_strength_is_zero_or_more(bad: Any) -> None:
    with pytest.raises(InputError, match="graph_prior must be a strength, 0 or more"):
        MPL(Counts(some_data(1)), graph_prior=bad)


def test_a_prior_must_be_finite() -> None:
    score = MPL(Counts(some_data(1)), graph_prior=lambda size: -np.inf if size > 1 else 0.0)
    with pytest.raises(InputError, match="graph_prior must give a finite log prior; got -inf for a blanket of 2"):
        score.additions([0], [frozenset({1})], [[2]])


def test_settings_are_checked_when_a_score_is_made() -> None:
    counts: Any = Counts(some_data(1))
    with pytest.raises(InputError, match="prior_cell must be a positive number; got 0"):
        MPL(counts, prior_cell=0)
    with pytest.raises(InputError, match="prior_cell and sample_size exclude each other"):
        MPL(counts, prior_cell=1, sample_size=1)
    with pytest.raises(UnknownNameError, match="penalty 'bic' does not exist"):
        PIC(counts, penalty="bic")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="cardinalities 'seen' does not exist"):
        PIC(counts, cardinalities="seen")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [MPL, PIC])
def test_statistics_that_cannot_count_are_refused(make: Any) -> None:
    moments = Moments.from_covariance(np.eye(3), n_rows=10)
    with pytest.raises(UnsuitableError, match="cannot score by a Moments, which has no reduce_many"):
        make(moments)


@every_score
def test_questions_that_make_no_sense_are_refused(name: str) -> None:
    score = SCORES[name][0](Counts(some_data(1)))
    with pytest.raises(InputError, match="z must not contain x"):
        score.local(0, frozenset({0}))
    with pytest.raises(InputError, match="z must not contain y"):
        score.additions([0], [frozenset({1})], [[1]])
    with pytest.raises(InputError, match="graph must have the 6 variables of the score; got one on 5"):
        score(Graph.empty(5))
