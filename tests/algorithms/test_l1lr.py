"""The walk of L1LR over a judge made by hand: what is asked, and how answers become edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mnlearn.algorithms.regularized import L1LR
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.protocols import Neighborhood, VarSet


class Answers:
    """Judge that returns given answers and records the questions."""

    def __init__(self, answers: Mapping[int, Mapping[int, float]]) -> None:
        self.answers, self.asked = answers, list[tuple[int, VarSet, VarSet]]()

    @property
    def n_variables(self) -> int:
        return len(self.answers)

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        self.asked.append((x, candidates, required))
        support = {y: s for y, s in self.answers[x].items() if y in candidates} | dict.fromkeys(required, -1.0)
        return Neighborhood(support, 10)


ONE_SIDED = {0: {1: 5.0, 2: 1.0}, 1: {0: 3.0}, 2: {3: 2.0}, 3: {2: 4.0}}


def test_and_takes_what_both_ends_choose_and_or_what_either_does() -> None:
    both = L1LR().learn(Answers(ONE_SIDED))
    assert both.support == {(0, 1): 3.0, (2, 3): 2.0}
    assert set(both.graph.edges) == set(both.support)
    either = L1LR(combine="or").learn(Answers(ONE_SIDED))
    assert either.support == {(0, 1): 5.0, (0, 2): 1.0, (2, 3): 4.0}
    assert set(either.graph.edges) == set(either.support)
    assert (both.converged, both.support_scale, both.score) == (True, "log_odds", None)
    assert (both.cost["asked"], both.cost["fitted"]) == (4, 40)
    assert either.settings["combine"] == "or"


def test_forbidden_neighbors_are_not_candidates_and_required_ones_stay() -> None:
    judge = Answers(ONE_SIDED)
    found = L1LR(required=[(3, 1)], forbidden=[(0, 1)]).learn(judge)
    assert found.graph.edges == ((1, 3), (2, 3))
    assert found.support[1, 3] == -1.0
    assert judge.asked[0] == (0, frozenset({2, 3}), frozenset())
    assert judge.asked[1] == (1, frozenset({2, 3}), frozenset({3}))


def test_a_stopped_walk_takes_the_word_of_one_end() -> None:
    class After:
        def __init__(self, steps: int) -> None:
            self.left = steps

        def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
            self.left -= 1

        def cancelled(self) -> bool:
            return self.left <= 0

    found = L1LR().learn(Answers(ONE_SIDED), After(1))
    assert not found.converged
    assert found.graph.edges == ((0, 1), (0, 2))
    assert found.cost["asked"] == 1


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"combine": "xor"}, UnknownNameError, "combine 'xor' does not exist.*'and', 'or'"),
        ({"required": [(0, 9)]}, InputError, "required must hold pairs of two different variables, 0 to 3"),
        ({"required": [(0, 1)], "forbidden": [(1, 0)]}, InputError, "must not share an edge"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        L1LR(**settings).learn(Answers(ONE_SIDED))


def test_one_variable_is_refused() -> None:
    with pytest.raises(InputError, match="judge must know at least 2 variables; got 1"):
        L1LR().learn(Answers({0: {}}))
