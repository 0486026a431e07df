"""The kinds of networks of the battery."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mnlearn.graphs import clique_chain
from mnlearn.simulate import component_probabilities
from mnlearn_papers.accuracy import FAMILIES, kinds, parity_factors

KINDS = kinds()


@pytest.mark.parametrize("name", KINDS)
def test_a_draw_has_rows_of_its_graph_and_the_same_seed_draws_it_again(name: str) -> None:
    one, again = (KINDS[name](20, np.random.default_rng(5)) for _ in range(2))
    other = KINDS[name](20, np.random.default_rng(6))
    assert one.data.n_rows == 20
    assert one.data.n_variables == one.truth.n_variables
    assert one.truth == again.truth
    assert all((a == b).all() for a, b in zip(one.data.columns, again.data.columns, strict=True))
    assert any((a != b).any() for a, b in zip(one.data.columns, other.data.columns, strict=True))
    for column, card in zip(one.data.columns, one.data.cards, strict=True):
        assert set(column.tolist()) == set(range(card))  # as if read from a file


def test_every_kind_has_a_family() -> None:
    listed = [kind for family in FAMILIES.values() for kind in family]
    assert len(listed) == len(set(listed))
    assert set(KINDS) <= set(listed)
    missing = set(listed) - set(KINDS)
    assert missing == {*FAMILIES["people"], *FAMILIES["Bayesian networks"]}  # they are in files


def test_kinds_from_files_are_those_whose_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "karate.edges").write_text("a b\nb c\n", encoding="utf-8")
    assert set(kinds(tmp_path)) - set(KINDS) == {"karate"}
    assert kinds(tmp_path)["karate"](5, np.random.default_rng(1)).truth.n_edges == 2


def test_parity_leaves_no_trace_in_pairs() -> None:
    network = parity_factors(clique_chain(3, 3, 0), 0.6, np.random.default_rng(1))
    joint = component_probabilities(network, (0, 1, 2))
    for pair in combinations(range(3), 2):
        (other,) = {0, 1, 2} - set(pair)
        assert joint.sum(axis=other) == pytest.approx(np.full((2, 2), 0.25))
    assert joint.max() > 2 * joint.min()


def test_independent_kinds_have_no_edges() -> None:
    for name in FAMILIES["independent"]:
        assert KINDS[name](10, np.random.default_rng(1)).truth.n_edges == 0
