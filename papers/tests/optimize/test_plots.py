"""Figures have what they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle
from mnlearn_papers.optimize import MarkovEDA, maximize, plot_convergence, plot_structure, royal_road


def test_convergence_is_drawn_against_evaluations(tmp_path: Path) -> None:
    runs = [maximize(royal_road(8), algorithm=MarkovEDA(population=30), seed=s, max_generations=4) for s in (1, 2)]
    axes: Any = plot_convergence(runs)
    assert len(axes.lines) == 4
    assert list(axes.lines[0].get_xdata()) == [line.evaluations for line in runs[0].history]
    assert list(axes.lines[2].get_ydata()) == [line.best for line in runs[1].history]
    axes.figure.savefig(tmp_path / "run.png")
    assert plot_convergence(runs[0], axes) is axes
    with pytest.raises(InputError, match="results must be runs"):
        plot_convergence([])


def test_structures_are_drawn_with_what_is_wrong() -> None:
    axes = plot_structure(cycle(6).flip(0, 3), cycle(6).flip(1, 3))
    colors = [line.get_color() for line in axes.lines]
    assert (colors.count("C0"), colors.count("C3"), colors.count("0.7")) == (6, 1, 1)
    assert len(plot_structure(cycle(5)).lines) == 5
    with pytest.raises(InputError, match="truth must have the 5 variables"):
        plot_structure(cycle(5), Graph.empty(4))
