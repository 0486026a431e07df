"""Experiments with methods given by name."""

from __future__ import annotations

import pytest

from mnlearn.errors import UnknownNameError
from mnlearn.learning import METHODS
from mnlearn_papers.accuracy_page import Standings
from mnlearn_papers.named import BUDGETS, LEARNERS, accuracy_battery


def test_every_learner_is_a_method_with_its_settings() -> None:
    assert {learner.method for learner in LEARNERS.values()} <= set(METHODS)
    assert {"sep", "sep-standard", "sep-fast", "mpl", "pic", "bjp", "ib", "pc", "hhc-mn", "gsmn*", "gsimn", "l1lr"} <= {
        *LEARNERS
    }
    assert set(BUDGETS) <= set(LEARNERS)


def test_a_small_battery_runs_every_learner_on_the_same_data() -> None:
    battery = accuracy_battery("development", only=["parity"], sizes=(300,), draws=1)
    rows = battery.run()
    assert {row.learner for row in rows} == set(LEARNERS)
    assert {row.true_edges for row in rows} == {24}
    found = {row.learner: row for row in rows}
    assert found["sep"].hamming < min(row.hamming for name, row in found.items() if not name.startswith("sep"))
    assert found["sep"].reliability is not None
    assert found["mpl"].reliability is None
    assert Standings(rows).losses() == []


def test_an_unknown_learner_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="learner 'glasso' does not exist"):
        accuracy_battery("development", learners=["glasso"])
