"""Judges that answer many scans together give the answers of one at a time, and no search can tell the difference."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMN, GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.independence import Audited, BayesianTest, ChiSquare, GTest, SeparationOracle
from mnlearn.protocols import BatchedTest, VarSet, Verdicts
from mnlearn.statistics import Counts

import reference

JUDGES: dict[str, Any] = {"chi2": ChiSquare, "g2": GTest, "bayes": BayesianTest}
LEARNERS: dict[str, Any] = {
    "gsmn": GSMN(keep_trace=True),
    "gsmn*": GSMNStar(keep_trace=True),
    "gsmn*-plain": GSMNStar(propagation=False, skip_marginal=False, keep_trace=True),
    "gsimn": GSIMN(keep_trace=True),
    "hhc-mn": HHCMN(max_conditioning=3, keep_trace=True),
    "pc": PC(keep_trace=True),
    "pc-moral": PC(output="moral", keep_trace=True),
}


def noisy(seed: int, n: int = 9) -> Dataset:
    """Few rows: many answers are wrong, blankets grow and shrink."""
    rng = np.random.default_rng(seed)
    return reference.random_dataset(rng, n_rows=150, cards=rng.integers(2, 4, n).tolist(), dependence=0.7)


def same(one: Verdicts, other: Verdicts) -> bool:
    return (
        one.independent.tobytes() == other.independent.tobytes()
        and one.log_support.tobytes() == other.log_support.tobytes()
    )


@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), draw=st.data())
@settings(max_examples=25, deadline=None)
def test_batches_give_the_bits_of_single_scans(name: str, seed: int, draw: st.DataObject) -> None:
    data = noisy(seed)
    judge = JUDGES[name](Counts(data))
    assert isinstance(judge, BatchedTest)
    xs, yss, zs = list[int](), list[list[int]](), list[VarSet]()
    for _ in range(draw.draw(st.integers(0, 5))):
        order = draw.draw(st.permutations(range(data.n_variables)))
        cut = draw.draw(st.integers(1, 6))
        xs.append(order[0])
        zs.append(frozenset(order[1:cut]))
        yss.append(order[cut : cut + draw.draw(st.integers(0, 3))])
    together = judge.scan_many(xs, yss, zs)
    assert len(together) == len(xs)
    for x, ys, z, answers in zip(xs, yss, zs, together, strict=True):
        assert same(answers, judge.scan(x, ys, z))
        members = judge.scan_members(x, z)
        for k, y in enumerate(sorted(z)):
            assert members.one(k) == judge(x, y, z - {y})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("judge", JUDGES)
def test_asking_ahead_in_batches_changes_nothing_but_what_is_scanned(name: str, judge: str) -> None:
    for seed in range(4):
        test, learner = JUDGES[judge](Counts(noisy(seed))), LEARNERS[name]
        strict = replace(learner, ahead=1).learn(Audited(test))
        ahead = learner.learn(test)
        for field in fields(strict):
            if field.name not in ("cost", "settings"):
                assert getattr(ahead, field.name) == getattr(strict, field.name)
        free = ("scanned", "seconds")
        assert {k: v for k, v in ahead.cost.items() if k not in free} == {
            k: v for k, v in strict.cost.items() if k not in free
        }
        assert strict.cost["scanned"] == strict.cost["asked"] <= ahead.cost["scanned"]


def test_wrapped_and_other_judges_are_not_taken_for_batched() -> None:
    data = noisy(0)
    assert not isinstance(Audited(ChiSquare(Counts(data))), BatchedTest)
    assert not isinstance(SeparationOracle(PC().learn(ChiSquare(Counts(data))).graph), BatchedTest)
