"""Odd values for every argument of landscapes and of the optimiser: taken, or refused with an error of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import mnlearn as mn
from contracts.test_odd_values import FOLDER, GRAPH, Call, faults_of, table, with_defaults
from mnlearn.statistics import Counts
from mnlearn_papers import landscape as landscapes
from mnlearn_papers import optimize
from mnlearn_papers.expression import random_expression_network


def measures() -> Iterator[tuple[str, Call]]:
    """Yield landscapes."""
    local = mn.MPL(Counts(mn.read(table()), n_jobs=1))
    yield "landscape", with_defaults(landscapes.landscape, score=local)
    yield "sample_landscape", with_defaults(landscapes.sample_landscape, score=local, center=GRAPH, seed=1)


def networks() -> Iterator[tuple[str, Call]]:
    """Yield generators of networks."""
    yield "random_expression_network", with_defaults(random_expression_network, n_genes=4, seed=1)


def problems() -> Iterator[tuple[str, Call]]:
    """Yield problems of optimisation and their solvers."""
    (FOLDER / "t.cnf").write_text("p cnf 1 1\n1 0\n")
    clause = optimize.Clause((1,), 1.0)
    yield "onemax", with_defaults(optimize.onemax, n=8)
    yield "royal_road", with_defaults(optimize.royal_road, n=8)
    yield "deceptive_trap", with_defaults(optimize.deceptive_trap, n=10)
    yield "nk_landscape", with_defaults(optimize.nk_landscape, n=8, k=2, seed=1)
    yield "ising_spin_glass", with_defaults(optimize.ising_spin_glass, rows=2, columns=2, seed=1)
    yield "problem_named", (optimize.problem_named, {"words": "onemax:n=5"})
    yield "max_sat", (optimize.max_sat, {"path": FOLDER / "t.cnf"})
    yield "parse_dimacs", (optimize.parse_dimacs, {"text": "p cnf 1 1\n1 0\n"})
    yield "MaxSat", (optimize.MaxSat, {"name": "x", "n": 1, "clauses": (clause,)})
    cells = {"genes": np.array([[0, 1]]), "tables": np.array([[0.0, 1.0, 1.0, 0.0]])}
    yield "TableProblem", (optimize.TableProblem, {"name": "x", "cards": (2, 2), **cells})
    yield "fitness", (optimize.problem_named("onemax:n=3"), {"individuals": [0, 1, 1]})
    yield "MarkovEDA", with_defaults(optimize.MarkovEDA)
    short = {"problem": optimize.onemax(5), "runs": 2, "success_rate": 0.5, "n_jobs": 1, "largest": 64}
    yield "critical_population", with_defaults(optimize.critical_population, **short)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", [measures, networks, problems])
def test_odd_values_are_taken_or_refused_in_our_words(
    group: Callable[[], Iterator[tuple[str, Call]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    faults = list(faults_of(group()))
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)
