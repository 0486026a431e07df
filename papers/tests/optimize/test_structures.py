"""Structures of populations: MOA's by its rule, others by their learner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.test_climbs_and_ties import check_labels_and_order
from learning.test_custom import FEW, OwnChiSquare
from mnlearn.algorithms import GSMN, IBMAPHC
from mnlearn.data import Dataset, read
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest, ChiSquare
from mnlearn.learning import learn
from mnlearn.scores import IBScore
from mnlearn.statistics import Counts
from mnlearn_papers.named import structure_learner as by_name
from mnlearn_papers.optimize import Judged, MarkovEDA, MutualInformationStructure
from mnlearn_papers.optimize.eda import learner_by_name


def mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for i in np.unique(a):
        for j in np.unique(b):
            both = np.mean((a == i) & (b == j))
            if both:
                total += both * np.log(both / (np.mean(a == i) * np.mean(b == j)))
    return total


def slow(codes: np.ndarray, cut: float, most: int) -> Graph:
    """Pair by pair, from the strongest on."""
    n = codes.shape[1]
    pairs = {(u, v): mutual_information(codes[:, u], codes[:, v]) for u in range(n) for v in range(u + 1, n)}
    mean, graph = np.mean(list(pairs.values())), Graph.empty(n)
    for u, v in sorted(pairs, key=lambda pair: (-pairs[pair], pair)):
        if pairs[u, v] > cut * mean and graph.degree(u) < most and graph.degree(v) < most:
            graph = graph.flip(u, v)
    return graph


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(0, 4), st.sampled_from([0.5, 1.0, 1.5, 3.0]))
def test_moa_joins_the_strongest_pairs(seed: int, n: int, most: int, cut: float) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.integers(2, size=(60, 3))
    codes = np.array([(hidden[:, x % 3] + (rng.random(60) < 0.1 * (x + 1))) % 3 for x in range(n)]).T
    found = MutualInformationStructure(max_neighbors=most, cut=cut)(Dataset.from_codes(codes, cards=[3] * n))
    assert found == slow(codes, cut, most)


def test_without_a_bound_all_that_stands_out_is_joined() -> None:
    hub = np.random.default_rng(1).integers(2, size=200)
    codes = np.array([hub, *(hub ^ (np.random.default_rng(k).random(200) < 0.1) for k in range(8))]).T
    free = MutualInformationStructure(max_neighbors=None, cut=0.5)(Dataset.from_codes(codes))
    assert free.degree(0) == 8
    assert max(MutualInformationStructure(max_neighbors=3, cut=0.5)(Dataset.from_codes(codes)).degrees()) == 3


def test_named_learners_are_what_they_say() -> None:
    codes = np.random.default_rng(2).integers(2, size=(80, 6))
    codes[:, 1] = codes[:, 0]
    data = Dataset.from_codes(codes)
    assert learner_by_name("moa'")(data) == IBMAPHC().learn(IBScore(BayesianTest(Counts(data)))).graph
    assert learner_by_name("moa")(data) == MutualInformationStructure(max_neighbors=3)(data)
    judged = Judged(GSMN(), lambda d: ChiSquare(Counts(d), alpha=0.01))
    assert judged(data) == by_name("gsmn", alpha=0.01)(data) == learn(data, "gsmn", alpha=0.01).graph


def test_a_single_gene_has_no_structure() -> None:
    data = Dataset.from_codes([[0, 1, 1]])
    for learner in (learner_by_name("moa"), learner_by_name("moa'"), by_name("mpl")):
        assert learner(data) == Graph.empty(1)


def test_bad_learners_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="learner 'moe' does not exist"):
        MarkovEDA(learner="moe")
    with pytest.raises(InputError, match="Put a learner and its judge together with Judged"):
        MarkovEDA(learner=IBMAPHC())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_neighbors must be"):
        MutualInformationStructure(max_neighbors=-1)
    with pytest.raises(InputError, match="cut must be"):
        MutualInformationStructure(cut=float("nan"))
    with pytest.raises(UnknownNameError, match="method 'gsnm'"):
        by_name("gsnm")
    with pytest.raises(InputError, match="mpl has no setting 'alpha'"):
        by_name("mpl", alpha=0.1)


@pytest.mark.parametrize(("n_rows", "copies", "sums"), [(40, 0, False), (200, 2, False), (100, 1, True)])
def test_labels_and_the_order_of_columns_do_not_matter(n_rows: int, copies: int, sums: bool) -> None:
    learner = MutualInformationStructure(max_neighbors=2)
    for seed in range(4):
        check_labels_and_order(learner, 7, seed, n_rows=n_rows, copies=copies, sums=sums)


def test_a_structure_learner_takes_a_test_of_its_own() -> None:
    found = by_name("pc", test=OwnChiSquare)(read(FEW))
    assert found == learn(FEW, "pc", test=OwnChiSquare).graph
