"""Figures of all runs in a folder, by the name of the experiment."""

from __future__ import annotations

from pathlib import Path

from mnlearn.errors import check_name
from mnlearn.experiments import learners, learners_page
from mnlearn.experiments.catalogue import REPRODUCTIONS
from mnlearn.experiments.costs import as_figures, costs
from mnlearn.experiments.reproduction import Comparison


def recorded_figures(name: str, folder: Path) -> list[Comparison]:
    """Return the figures of all runs of an experiment in a folder; for "costs", the cost of all experiments."""
    if name == learners.NAME:
        journal = folder / f"{name}.jsonl"
        return learners_page.figures(learners.recorded_times(journal)) if journal.exists() else []
    if name == "costs":
        found = costs(REPRODUCTIONS, folder)
        return as_figures(found) if found else []
    check_name("table", name, [*REPRODUCTIONS, "costs", learners.NAME])
    return REPRODUCTIONS[name].measure.recorded(folder)
