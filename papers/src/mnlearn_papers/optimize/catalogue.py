"""Problems by name: what `mnlearn optimize` understands, such as ``royal-road:n=64,group=4`` or a DIMACS file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mnlearn.errors import check_path, unknown_name
from mnlearn.simulate.catalogue import settings_as_written, written_pairs
from mnlearn_papers.optimize.problems import Problem, deceptive_trap, ising_spin_glass, nk_landscape, onemax, royal_road
from mnlearn_papers.optimize.satisfiability import max_sat


class NamedProblem(NamedTuple):
    """A problem by name: what it is, its settings with their defaults, and how it is made from them."""

    title: str
    settings: Mapping[str, Any]
    make: Callable[..., Problem]


PROBLEMS: Mapping[str, NamedProblem] = {
    "onemax": NamedProblem("the sum of the genes", {"n": 50, "states": 2}, onemax),
    "royal-road": NamedProblem("groups that count only when complete", {"n": 48, "group": 4, "states": 2}, royal_road),
    "trap": NamedProblem("groups that lead astray", {"n": 50, "size": 5}, deceptive_trap),
    "nk": NamedProblem(
        "random tables of overlapping genes", {"n": 50, "k": 2, "contacts": "random", "seed": 0}, nk_landscape
    ),
    "ising": NamedProblem(
        "spins on a lattice with random couplings",
        {"rows": 6, "columns": 6, "couplings": "mixed", "periodic": True, "seed": 0},
        ising_spin_glass,
    ),
}
"""Every problem that has a name; a file in DIMACS format (.cnf, .wcnf) may take its place."""


def problem_named(words: str | os.PathLike[str]) -> Problem:
    """A problem by its name and settings, or from a file.

    Examples
    --------
    >>> problem_named("royal-road:n=16,group=8").optimum
    16.0
    """
    check_path("problem", words)
    text = os.fsdecode(words)
    name, _, rest = text.partition(":")
    if name in PROBLEMS:
        chosen = PROBLEMS[name]
        settings = settings_as_written(name, chosen.settings, written_pairs(name, rest, text))
        places = {key: settings.pop(key) for key in ("rows", "columns", "n") if key in settings}
        return chosen.make(*places.values(), **settings)
    if Path(text).suffix or Path(text).exists():
        return max_sat(text)
    raise unknown_name("problem", name, PROBLEMS)
