"""`mnlearn bench`."""

from __future__ import annotations

from typing import Any

import pytest

from mnlearn.evaluation import speed

FIGURES = [
    speed.Figure("all pairs: counting", 3.14159, "pair", "popcount limit", 1.25, False, 1.4, 1.2),
    speed.Figure("scan: counting", 2.0e6, "y", "np.bincount", 123.4, True, 200.0),
    speed.Figure("a whole search", 3.2e9, "run"),
    speed.Figure("scoring: g2", 3.0, "y and stratum", required=2.5),
]


def test_text_and_json_show_the_same_figures(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def measure(*, quick: bool) -> list[speed.Figure]:
        asked.append(quick)
        return FIGURES

    monkeypatch.setattr(speed, "measure", measure)
    document = run("bench", "--json").document()
    assert document == {"figures": [figure.as_dict() for figure in FIGURES]}
    shown = run("bench", "--quick").out
    assert asked == [False, True]
    for line in ("3.14 ns", "1.25x the time", "<= 1.4x: yes", "123x faster", ">= 200x: no", "3.2 s", "<= 2.5ns: no"):
        assert line in shown
