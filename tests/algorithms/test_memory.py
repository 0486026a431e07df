"""Memory of the searches that store a number for each pair of variables."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from mnlearn.algorithms.counted import AllMarginals
from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.independence import ChiSquare
from mnlearn.statistics import Counts


@pytest.mark.parametrize("learner", [PC(), GSMNStar(), GSIMN(), HHCMN()], ids=["pc", "gsmn*", "gsimn", "hhc-mn"])
def test_a_pair_takes_some_ten_bytes(learner: PC | GSMNStar | GSIMN | HHCMN) -> None:
    n = 1500
    codes = np.random.default_rng(1).integers(0, 2, (n, 100), dtype=np.uint8)
    judge = ChiSquare(Counts(Dataset.from_codes(list(codes), cards=[2] * n)), alpha=0.001)
    tracemalloc.start()
    learner.learn(judge)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * n * n  # 10 bytes for each pair in both orders, and blocks of a fixed size


def test_strengths_of_equal_variables_need_no_matrix() -> None:
    n = 1000
    independent, support = np.zeros((n, n), dtype=np.bool_), np.zeros((n, n))
    tracemalloc.start()
    assert not AllMarginals(independent, support).strength_ranks().any()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n * n
