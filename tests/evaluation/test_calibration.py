"""Reliability tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.evaluation.metrics import LIMITS, bins, plot_reliability, reliability
from mnlearn.graphs import random_graph


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_counts_are_those_of_a_loop_over_pairs(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    truth = random_graph(n, min(2.0, n - 1), rng)
    odds = rng.normal(0.0, 4.0, (n, n))
    odds = odds + odds.T
    lines = {line.low: line for line in bins([reliability(odds, truth)])}
    by_bin: dict[float, list[tuple[float, bool]]] = {}
    for u in range(n):
        for v in range(u + 1, n):
            p = 1 / (1 + np.exp(-odds[u, v]))
            low = max(limit for limit in LIMITS[:-1] if limit <= p)
            by_bin.setdefault(low, []).append((p, (u, v) in truth))
    assert set(lines) == set(by_bin)
    for low, pairs in by_bin.items():
        assert lines[low].pairs == len(pairs)
        assert lines[low].mean == pytest.approx(np.mean([p for p, _ in pairs]), abs=1e-5)
        assert lines[low].observed == pytest.approx(np.mean([edge for _, edge in pairs]))


def test_honest_probabilities_agree_with_the_edges_and_shifted_ones_do_not() -> None:
    rng = np.random.default_rng(1)
    n = 120
    odds = np.triu(rng.normal(0.0, 1.5, (n, n)), 1)
    odds += odds.T
    chosen = np.triu(rng.random((n, n)) < 1 / (1 + np.exp(-odds)), 1)
    truth = type(random_graph(2, 1, 1))(n, np.argwhere(chosen).tolist())
    honest, bold = bins([reliability(odds, truth)]), bins([reliability(odds + 1.5, truth)])
    assert all(abs(line.gap) < 0.1 for line in honest if line.pairs >= 100)
    assert any(line.gap < -0.2 for line in bold if line.pairs >= 100)


def test_certainty_is_in_the_outermost_bins_and_bins_can_be_joined() -> None:
    odds = np.array([[0.0, np.inf, -np.inf], [np.inf, 0.0, 0.0], [-np.inf, 0.0, 0.0]])
    found = reliability(odds, random_graph(3, 2, 1))
    assert [(line.low, line.pairs) for line in bins([found])] == [(0.0, 1), (0.5, 1), (0.99, 1)]
    joined = bins([found, found], (0.0, 0.5, 1.0))
    assert [(line.high, line.pairs, line.mean) for line in joined] == [(0.5, 2, 0.0), (1.0, 4, 0.75)]
    assert bins([]) == []


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="log_odds must be a matrix of 3 by 3"):
        reliability(np.zeros((2, 2)), random_graph(3, 2, 1))
    with pytest.raises(InputError, match=r"limits must be among .*; got 0\.25"):
        bins([], (0.0, 0.25, 1.0))


def test_the_figure_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(2)
    odds = rng.normal(0.0, 3.0, (40, 40))
    lines = bins([reliability(odds + odds.T, random_graph(40, 10, 1))])
    plot_reliability(lines, tmp_path / "reliability.svg", least=1)
    drawn = (tmp_path / "reliability.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    assert f"<!-- {lines[0].pairs} -->" in drawn  # text is drawn as outlines, with a comment
