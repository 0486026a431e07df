"""The measuring itself: that figures are complete and mean what they say, never how fast anything is."""

from __future__ import annotations

import os

import numpy as np
import pytest

from mnlearn.statistics import kernels
from mnlearn_papers import speed


def test_a_figure_knows_whether_it_holds() -> None:
    assert speed.Figure("a", 1.0, "y").holds is None
    assert speed.Figure("a", 1.0, "y", "limit", 1.3, False, 1.4).holds
    assert not speed.Figure("a", 1.0, "y", "limit", 1.5, False, 1.4).holds
    assert speed.Figure("a", 1.0, "y", "rival", 16.0, True, 15.0).holds
    assert not speed.Figure("a", 3.0, "y", required=2.5).holds
    assert speed.Figure("a", 1.0, "y", required=2.5).as_dict()["holds"] is True


def test_the_counting_kernel_counts() -> None:
    data = speed.binary(12, 300)
    counts = speed.counts_of(data)
    x, ys, z = speed.first_question(12, 2)
    got = counts.reduce(speed.COUNTING, x, ys, z)[0]
    np.testing.assert_array_equal(got, [((data[0] == 0) & (data[y] == 0)).sum() for y in ys])
    pairs = [((data[a] == 0) & (data[b] == 0)).sum() for a in range(12) for b in range(a + 1, 12)]
    np.testing.assert_array_equal(counts.reduce_all(speed.COUNTING)[0], pairs)


@pytest.mark.parametrize("path", kernels.supported_code_paths())
def test_ceilings_are_probed_on_every_path_and_the_environment_is_left_alone(path: str) -> None:
    before = os.environ.get("MNLEARN_CORE")
    assert speed.counts_of(speed.binary(2, 10), path=path).code_path == path
    assert os.environ.get("MNLEARN_CORE") == before
    for work in (kernels.popcount_work(path, 3), kernels.load_work(path, 5)):
        assert isinstance(work(), int)
