"""Golden results: what the public interface computes keeps its bits. See `engine.py` for how to write them again."""

from __future__ import annotations

import pytest

from golden.cases import CASES
from golden.engine import compute, differences, golden_results

GOLDEN = golden_results()


def test_every_case_has_a_golden_result() -> None:
    """No case is without a result, and no result is without its case."""
    assert sorted(GOLDEN) == sorted(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_result_is_unchanged(name: str) -> None:
    """The result of a case equals the one in the file of its package."""
    wrong = differences(compute(name), GOLDEN[name], close=CASES[name].close)
    assert not wrong, "\n".join(wrong[:10])


THREADED = (
    *("learn sep clinic gaps", "learn sep ratings", "learn ib sizes gaps", "learn mbs clinic"),
    *("candidates screen sep without rescans", "screen ratings", "screen sizes gaps", "blanket sep clinic gaps"),
    *("statistics likelihoods clinic", "statistics moments with gaps", "statistics shards", "intervals sizes"),
    *("test mixed clinic gaps", "score evidence clinic", "learn gsmn answers gaps"),
)
"""Cases of all that is computed in threads; `MNLEARN_GOLDEN_JOBS=2 python -m golden` compares every case."""


@pytest.mark.parametrize("name", THREADED)
def test_two_threads_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a case on two threads equals the one in the file."""
    monkeypatch.setenv("MNLEARN_GOLDEN_JOBS", "2")
    wrong = differences(compute(name), GOLDEN[name], close=CASES[name].close)
    assert not wrong, "\n".join(wrong[:10])
