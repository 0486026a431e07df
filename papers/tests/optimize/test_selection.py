"""Who is selected, and who is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.errors import InputError
from mnlearn_papers.optimize import MarkovEDA, Tournament, Truncation

RNG = np.random.default_rng


def test_truncation_takes_the_best_and_of_equals_the_first() -> None:
    merit = np.array([2.0, 5.0, 5.0, 1.0, 5.0, 0.0])
    assert Truncation(0.5)(merit, RNG(0)).tolist() == [1, 2, 4]
    assert Truncation(2)(merit, RNG(0)).tolist() == [1, 2]
    assert Truncation(0.0)(merit, RNG(0)).tolist() == [1]


def test_a_tournament_is_won_by_the_best_entrant() -> None:
    merit = np.random.default_rng(1).permutation(50).astype(float)
    winners = Tournament(3, 400)(merit, RNG(4))
    entrants = RNG(4).integers(50, size=(400, 3))
    assert [merit[w] for w in winners] == [max(merit[list(row)]) for row in entrants]
    assert Tournament(2).size(70) == 70


def test_a_run_learns_from_the_selected_only() -> None:
    seen = []

    def learner(data):  # type: ignore[no-untyped-def]
        from mnlearn.graphs import Graph

        seen.append(np.array(data.columns).T)
        return Graph.empty(data.n_variables)

    run = MarkovEDA(learner=learner, population=40, selection=10, elitism=3).start(6, seed=1)
    rows = run.ask()
    run.tell(rows, rows.sum(axis=1))
    assert run.ask().shape == (37, 6)
    assert sorted(seen[0].sum(axis=1)) == sorted(rows.sum(axis=1))[-10:]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"selection": 20, "population": 10}, "population must not be smaller than the selection; got population=10"),
        ({"selection": 1.5}, "selection must be a share from 0 to 1"),
        ({"selection": 0}, "selection must be a whole number, at least 1"),
        ({"elitism": 500, "population": 500}, "elitism must leave room"),
        ({"elitism": -1}, "elitism must be a whole number"),
        ({"population": 1}, "population must be"),
        ({"population": 2.5}, "population must be"),
        ({"sampler": 3}, "sampler must be callable"),
    ],
)
def test_settings_that_break_a_rule_are_refused(settings: dict[str, object], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        MarkovEDA(**settings)  # type: ignore[arg-type]


def test_tournaments_that_break_a_rule_are_refused() -> None:
    with pytest.raises(InputError, match="entrants must be"):
        Tournament(0)
    with pytest.raises(InputError, match="amount must be"):
        Tournament(2, -0.5)
