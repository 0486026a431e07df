"""The native knowledge base says what the rules say that are written out in references/gsimn.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.protocols import Knowledge
from mnlearn.statistics import Counts, kernels

from references.gsimn import MIRRORED_RULES, RULES, KnowledgeBase


def both(n: int, *, mirrored: bool) -> tuple[_core.Knowledge, KnowledgeBase]:
    return _core.Knowledge(n, mirrored), KnowledgeBase(n, MIRRORED_RULES if mirrored else RULES)


def phase(rng: np.random.Generator, known: list[Knowledge], n: int, dependence: float) -> list[tuple[int, ...]]:
    """A blanket grown and shrunk by answers out of the blue, which nothing promises to be consistent.

    Returns the rule by which each knowledge base answered, question by question.
    """
    x, *others = rng.permutation(n).tolist()
    blanket: list[int] = []
    rules: list[tuple[int, ...]] = []
    for y in others[: rng.integers(1, 25)]:
        rules += rule_or_answer(rng, known, (x, y, blanket), dependence)
        if rng.random() < 0.3:
            blanket.append(y)
    for y in blanket[::-1]:
        rules += rule_or_answer(rng, known, (x, y, [v for v in blanket if v != y]), dependence)
        if rng.random() < 0.3:
            blanket.remove(y)
    return rules


def rule_or_answer(
    rng: np.random.Generator, known: list[Knowledge], question: tuple[int, int, list[int]], dependence: float
) -> list[tuple[int, ...]]:
    x, y, z = question[0], question[1], frozenset(question[2])
    if rng.random() < 0.3:
        x, y = y, x
    ahead = [tuple(k.implied(x, y, z) for k in known)] if rng.random() < 0.3 else []
    rules = tuple(k.infer(x, y, z) for k in known)
    independent = bool(rng.random() > dependence)
    for k, rule in zip(known, rules, strict=True):
        if not rule:
            k.learn(x, y, z, independent)
    return [*ahead, rules]


@given(seed=st.integers(0, 2**32), mirrored=st.booleans())
@settings(max_examples=200, deadline=None)
def test_every_question_is_answered_by_the_same_rule(seed: int, mirrored: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 5, 9, 63, 64, 65, 70]))
    known = both(n, mirrored=mirrored)
    dependence = float(rng.choice([0.1, 0.4, 0.8]))
    for _ in range(12 if n > 9 else 30):
        by_native, by_python = zip(*phase(rng, list(known), n, dependence), strict=True)
        assert by_native == by_python


def test_every_rule_has_its_say() -> None:
    rng, rules = np.random.default_rng(1), set[int]()
    native, _ = both(12, mirrored=True)
    for _ in range(2_000):
        x, y, *rest = rng.permutation(12).tolist()
        z = frozenset(rest[: rng.integers(0, 4)])
        rules.add(native.infer(x, y, z))
        native.learn(x, y, z, bool(rng.random() < 0.5))
    assert rules == {0, 1, 2, 3, 4, 5}


def test_the_example_of_figure_4() -> None:
    native, _ = both(8, mirrored=False)
    for x, y, z, independent in (
        (5, 3, set[int](), False),
        (5, 4, {3}, False),
        (5, 1, {3, 4}, True),
        (5, 6, {3, 4}, False),
        (5, 7, {3, 4, 6}, False),
    ):
        native.learn(x, y, z, independent)
    assert native.implied(7, 5, {3}) == 1
    assert native.implied(4, 7, set()) == 2
    assert native.implied(1, 5, {3, 4, 7}) == 3
    assert native.implied(1, 7, {3, 4}) == 4
    assert native.implied(7, 1, {3, 4}) == 0
    assert native.implied(4, 7, {6}) == 0


def test_a_replay_is_question_after_question() -> None:
    rng = np.random.default_rng(3)
    n, n_questions = 70, 500
    native, again = _core.Knowledge(n, False), _core.Knowledge(n, False)
    sets = [rng.permutation(n)[: rng.integers(2, 5)].tolist() for _ in range(n_questions)]
    words = np.zeros((n_questions, 2), dtype=np.uint64)
    for k, (_, _, *z) in enumerate(sets):
        for v in z:
            words[k, v // 64] |= np.uint64(1) << np.uint64(v % 64)
    answers = rng.random(n_questions) < 0.5
    expected = []
    for (x, y, *z), answer in zip(sets, answers.tolist(), strict=True):
        expected.append(native.infer(x, y, z))
        if not expected[-1]:
            native.learn(x, y, z, answer)
    pairs = np.array([s[:2] for s in sets], dtype=np.int32).T.copy()
    assert list(again.replay(pairs[0], pairs[1], words, answers)) == expected
    assert sum(expected) > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ys": np.array([1], np.int32)}, r"a place for each question, and zs 2 words; got 2, 1, 2 by 2 and 2\. Give"),
        ({"zs": np.zeros((2, 1), np.uint64)}, r"got 2, 2, 2 by 1 and 2\. Give each question its own\."),
        (
            {"ys": np.array([1, 70], np.int32)},
            r"every y must be the index of a variable, 0 to 69; got 70\. Use dataset",
        ),
        (
            {"xs": np.array([-1, 2], np.int32)},
            r"every x must be the index of a variable, 0 to 69; got -1\. Use dataset",
        ),
        ({"ys": np.array([0, 3], np.int32)}, r"two variables outside of z; got x=0, y=0\. Leave them out of z\."),
        ({"zs": np.array([[1, 0], [0, 0]], np.uint64)}, r"two variables outside of z; got x=0, y=1\."),
        ({"zs": np.array([[0, 0], [0, 64]], np.uint64)}, r"the variables 0 to 69 only; got others at place 1\. Clear"),
        ({"xs": [0, 2]}, r"xs must be a flat array of int32; got \[0, 2\]\. Make one by numpy\.ascontiguousarray"),
        ({"xs": np.array([0.0, 2.0])}, "xs must be a flat array of int32; got array"),
        ({"independent": None}, "independent must be a flat array of bool; got None"),
    ],
)
def test_a_replay_refuses_before_it_enters_anything(changed: dict[str, Any], message: str) -> None:
    xs, ys = np.array([0, 2], np.int32), np.array([1, 3], np.int32)
    asked: dict[str, Any] = {
        "xs": xs,
        "ys": ys,
        "zs": np.zeros((2, 2), np.uint64),
        "independent": np.array([False, False]),
    }
    known = _core.Knowledge(70, False)
    with pytest.raises(InputError, match=message):
        known.replay(**(asked | changed))
    assert known.implied(0, 1, ()) == 0


def test_bad_questions_are_refused() -> None:
    counts = Counts(Dataset.from_codes([[0, 1] * 9, [0, 1] * 9, [0, 0, 1] * 6]))
    known = counts.knowledge()
    assert known.n_variables == 3
    with pytest.raises(InputError, match=r"y must be the index of a variable, 0 to 2; got 3\. Use dataset.index"):
        known.infer(0, 3, frozenset())
    with pytest.raises(InputError, match=r"every member of z must be the index of a variable, 0 to 2; got -1\."):
        known.implied(0, 1, frozenset({-1}))
    with pytest.raises(InputError, match="two variables outside of z; got x=0, y=1"):
        known.learn(0, 1, frozenset({0}), True)
    with pytest.raises(InputError, match="known must be about the variables of the data; got 4 variables"):
        counts.grow(kernels.chi2(), -3.0, 0, [1], known=_core.Knowledge(4, False))
    with pytest.raises(InputError, match="known must be about the variables of the data; got 4 variables"):
        counts.shrink(kernels.chi2(), -3.0, 0, [1], frozenset({1}), known=_core.Knowledge(4, False))
    with pytest.raises(InputError, match="known must be made by knowledge"):
        counts.grow(kernels.chi2(), -3.0, 0, [1], known=KnowledgeBase(3, RULES))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": "a"}, r"x must be the index of a variable, 0 to 2; got 'a'\. Use dataset\.index\(name\)\."),
        ({"x": True}, "x must be the index of a variable, 0 to 2; got True"),
        ({"y": None}, "y must be the index of a variable, 0 to 2; got None"),
        ({"y": 2**40}, "y must be the index of a variable, 0 to 2; got 1099511627776"),
        ({"z": None}, r"z must be a set of indices of variables; got None\. Use frozenset\(\) for none\."),
        ({"z": ["b"]}, "every member of z must be the index of a variable, 0 to 2; got 'b'"),
        ({"independent": None}, r"independent must be true or false; got None\. Say what the data said\."),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(changed: dict[str, Any], message: str) -> None:
    known = _core.Knowledge(3, False)
    asked: dict[str, Any] = {"x": 0, "y": 1, "z": [2], "independent": True}
    with pytest.raises(InputError, match=message):
        known.learn(**(asked | changed))


def test_a_wish_for_knowledge_is_checked() -> None:
    wrong: Any = "no"
    with pytest.raises(InputError, match="mirrored must be true or false; got 'no'"):
        Counts(Dataset.from_codes([[0, 1], [0, 1]])).knowledge(mirrored=wrong)
