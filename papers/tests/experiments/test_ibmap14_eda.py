"""MOA against MOA' in small: the numbers are those of runs, and the critical population is verified."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn_papers import ibmap14 as paper
from mnlearn_papers.catalogue import REPRODUCTIONS


@pytest.mark.slow
def test_a_contest_gives_every_number_and_no_whole_groups_give_none() -> None:
    found = paper.Contest(4, runs=5)(16, np.random.default_rng(1))
    assert set(found) == set(paper.OPTIMIZE_LEARNERS)
    for name in ("moa", "moa'"):
        assert 16 <= found[f"{name} population"].value <= 1024
        assert found[f"{name} evaluations"].value >= found[f"{name} population"].value
        assert found[f"{name} success"].value >= 0.4
        assert 0 <= found[f"{name} hamming"].value <= 120
    ratio = found["moa' evaluations"].value / found["moa evaluations"].value
    assert found["ratio"].value == pytest.approx(ratio)
    assert paper.Contest(8, runs=5)(20, np.random.default_rng(1)) == {}


def test_one_seed_one_result() -> None:
    one, same = (paper.Contest(1, runs=3)(10, np.random.default_rng(2)) for _ in range(2))
    assert {name: number.value for name, number in one.items()} == {name: n.value for name, n in same.items()}


def test_an_algorithm_that_never_succeeds_has_only_a_success_of_none() -> None:
    found = paper.Contest(8, runs=2, largest=16)(48, np.random.default_rng(1))
    assert set(found) == set(paper.OPTIMIZE_LEARNERS)
    for name in ("moa", "moa'"):
        assert found[f"{name} success"].value == 0.0
        assert np.isnan(found[f"{name} population"].value)
    assert np.isnan(found["ratio"].value)


def test_both_are_in_the_catalogue() -> None:
    assert REPRODUCTIONS["ibmap-onemax"] is paper.ONEMAX
    assert REPRODUCTIONS["ibmap-royalroad"].axis == "genes"
