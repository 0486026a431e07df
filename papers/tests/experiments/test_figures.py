"""Figures of experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn_papers.experiment import Row
from mnlearn_papers.figures import plot_experiment, summarised

ROWS = [
    {"source": source, "n_rows": n, "repetition": r, "learner": learner, "f1": f, "seconds": 0.1}
    for source in ("chain", "tree")
    for n in (100, 1000)
    for learner in ("sep", "pc")
    for r, f in enumerate((0.5, 0.7, 0.9))
]


def test_experiments_are_drawn_with_means_and_errors(tmp_path: Path) -> None:
    plot_experiment(tmp_path / "f.png", ROWS, title="F")
    plot_experiment(tmp_path / "s.svg", ROWS, measure="seconds")
    plot_experiment(tmp_path / "rows.png", [Row("chain", 100, 0, "pc", 3, 1, 2, 0.5, n_variables=9, true_edges=8)])
    sizes, means, errors = summarised(ROWS[:3] + ROWS[6:9], "f1")
    assert sizes == [100, 1000]
    assert means == pytest.approx([0.7, 0.7])
    assert errors == pytest.approx([0.2 / 3**0.5] * 2)
    with pytest.raises(UnknownNameError, match="measure 'f2' does not exist"):
        plot_experiment(tmp_path / "f.png", ROWS, measure="f2")
    with pytest.raises(InputError, match="at least one result"):
        plot_experiment(tmp_path / "f.png", [])
    with pytest.raises(FileError, match="path must end in"):
        plot_experiment(tmp_path / "f.txt", ROWS)
