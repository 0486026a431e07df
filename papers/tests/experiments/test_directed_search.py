"""Directed searches by a local score."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mnlearn.errors import InputError
from mnlearn.scores import ExtendedBIC
from mnlearn.scores.lasso import EBICLasso
from mnlearn.statistics import Moments
from mnlearn_papers.directed import DirectedNetwork, climb_directed, score_directed, search_orders, sparse_candidate

TRUTH = DirectedNetwork(6, ((0, 2), (1, 2), (2, 3), (3, 4)))  # a child with two parents, a tail, and one alone


def moments(n_rows: int = 2000, seed: int = 1, truth: DirectedNetwork = TRUTH) -> Moments:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_rows, truth.n_variables))
    for x in range(truth.n_variables):  # parents come first
        for u in truth.parents(x):
            values[:, x] += values[:, u]
    return Moments.from_covariance(np.cov(values.T, bias=True), n_rows)


def noisy(seed: int, n: int = 7) -> ExtendedBIC:
    """Few rows of a random linear model: a score with many local peaks."""
    rng = np.random.default_rng(seed)
    arcs = tuple((u, v) for v in range(n) for u in range(v) if rng.random() < 0.5)
    return ExtendedBIC(moments(40, seed, DirectedNetwork(n, arcs)), gamma=0.0)


def acyclic(network: DirectedNetwork) -> bool:
    left = set(range(network.n_variables))
    while free := {x for x in left if not any(u in left for u in network.parents(x))}:
        left -= free
    return not left


def steps(network: DirectedNetwork) -> Iterator[DirectedNetwork]:
    """All networks one arc away: added, removed or turned."""
    n, arcs = network.n_variables, set(network.arcs)
    for u in range(n):
        for v in range(n):
            if u == v:
                continue
            others = [arcs ^ {(u, v)}] if (v, u) not in arcs else []
            if (u, v) in arcs:
                others.append(arcs - {(u, v)} | {(v, u)})
            yield from (DirectedNetwork(n, tuple(sorted(some))) for some in others)


@pytest.mark.parametrize("seed", range(6))
def test_a_climb_ends_where_no_single_arc_improves(seed: int) -> None:
    score = noisy(seed)
    n = score.n_variables
    found = climb_directed(score, [range(n)] * n)
    assert acyclic(found)
    best = max(score_directed(score, near) for near in steps(found) if acyclic(near))
    assert best <= score_directed(score, found) + 1e-6


def test_every_search_finds_the_network() -> None:
    data = moments()
    score, everyone = ExtendedBIC(data, gamma=0.0), [range(6)] * 6
    assert climb_directed(score, everyone).moral_graph() == TRUTH.moral_graph()
    assert sparse_candidate(score, 3).moral_graph() == TRUTH.moral_graph()
    ordered = search_orders(score, EBICLasso(data, gamma=0.0), range(6))
    assert ordered.moral_graph() == TRUTH.moral_graph()


def test_arcs_stay_within_candidates_and_parents_within_their_number() -> None:
    score = noisy(3)
    candidates = [{1, 2}, {0}, set(), {0, 1, 2, 4}, {3}, {0, 1, 2, 3, 4}, {5}]
    found = climb_directed(score, candidates)
    assert all(u in candidates[v] for u, v in found.arcs)
    few = climb_directed(score, [range(7)] * 7, max_parents=1)
    assert max(len(few.parents(x)) for x in range(7)) == 1
    assert climb_directed(score, [()] * 7).arcs == ()


def test_a_climb_from_a_peak_stays_and_from_elsewhere_rises() -> None:
    score = noisy(4)
    peak = climb_directed(score, [range(7)] * 7)
    assert climb_directed(score, [range(7)] * 7, start=peak) == peak
    start = DirectedNetwork(7, peak.arcs[::2])
    assert score_directed(score, climb_directed(score, [range(7)] * 7, start=start)) > score_directed(score, start)


def test_all_candidates_make_sparse_candidate_a_climb_and_few_bound_the_parents() -> None:
    score = noisy(5)
    assert sparse_candidate(score, 6) == climb_directed(score, [range(7)] * 7)
    few = sparse_candidate(score, 2)
    assert max(len(few.parents(x)) for x in range(7)) <= 2
    assert score_directed(score, few) >= score_directed(score, DirectedNetwork(7, ()))
    again = sparse_candidate(score, 2, start=few)
    assert score_directed(score, again) >= score_directed(score, few) - 1e-9


def test_orders_rise_and_parents_come_before() -> None:
    data = moments(60, 2, DirectedNetwork(6, ((5, 0), (4, 0), (3, 1), (0, 2))))
    score, judge = ExtendedBIC(data, gamma=0.0), EBICLasso(data, gamma=0.0)
    found = search_orders(score, judge, range(6))
    assert acyclic(found)
    fixed = [(u, x) for x in range(6) for u in judge.neighborhood(x, frozenset(range(x)), frozenset()).support]
    assert score_directed(score, found) >= score_directed(score, DirectedNetwork(6, tuple(fixed)))


def test_unsuitable_arguments_are_refused() -> None:
    score = noisy(1)
    with pytest.raises(InputError, match="candidates must have an entry for each of the 7 variables; got 2"):
        climb_directed(score, [(), ()])
    anything = [range(7)] * 7
    with pytest.raises(InputError, match="max_parents must be a whole number, at least 0; got -1"):
        climb_directed(score, anything, max_parents=-1)
    for start in (DirectedNetwork(7, ((0, 1),)), DirectedNetwork(9, ((0, 8),))):
        with pytest.raises(InputError, match=r"start must have parents among the candidates; got the arc 0 → "):
            climb_directed(score, [()] * 7, start=start)
    with pytest.raises(InputError, match="start must have at most k = 1 parents"):
        sparse_candidate(score, 1, start=DirectedNetwork(7, ((0, 2), (1, 2))))
    with pytest.raises(InputError, match="k must"):
        sparse_candidate(score, 0)
    with pytest.raises(InputError, match="order must be a permutation"):
        search_orders(score, EBICLasso(moments()), [0, 0, 1, 2, 3, 4, 5])
