"""Problems: fitness by definition, optima by trying everything, structures by their tables."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn.graphs import grid
from mnlearn_papers.optimize import (
    Clause,
    MaxSat,
    Problem,
    TableProblem,
    deceptive_trap,
    ising_spin_glass,
    max_sat,
    nk_landscape,
    onemax,
    parse_dimacs,
    problem_named,
    royal_road,
)


def everything(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array(list(product(*map(range, problem.cards))))
    return rows, problem(rows)


SMALL: list[Problem] = [
    onemax(6),
    onemax(5, states=3),
    royal_road(8, group=4),
    royal_road(6, group=3, states=3),
    deceptive_trap(10, size=5),
    nk_landscape(9, k=3, seed=4),
    nk_landscape(8, k=2, contacts="adjacent", seed=5),
    ising_spin_glass(3, 4, seed=6),
    ising_spin_glass(3, 3, couplings="normal", periodic=False, seed=7),
    parse_dimacs("p cnf 4 5\n1 -2 0 2 3\n0 -1 -3 4 0\n-4 0\n1 4 2 0\n"),
    parse_dimacs("c weights\np wcnf 3 3 10\n10 1 2 0\n3 -1 0\n2.5 -2 0\n"),
]


@pytest.mark.parametrize("problem", SMALL, ids=lambda p: p.name)
def test_the_optimum_is_the_best_of_all_individuals(problem: Problem) -> None:
    rows, values = everything(problem)
    assert problem.optimum == pytest.approx(values.max(), abs=1e-12)
    solved = problem.solve()
    assert solved is not None
    assert problem(solved[1]) == pytest.approx(values.max(), abs=1e-12)
    assert [problem(row) for row in rows[:5]] == pytest.approx(values[:5].tolist())


@pytest.mark.parametrize("problem", SMALL, ids=lambda p: p.name)
def test_the_structure_joins_genes_whose_effects_do_not_add_up(problem: Problem) -> None:
    """A pair without an edge has effects that add up in every context."""
    _, values = everything(problem)
    shape = problem.cards
    table = values.reshape(shape)
    for u in range(len(shape)):
        for v in range(u + 1, len(shape)):
            if not problem.structure.has_edge(u, v):
                both = np.diff(np.diff(table, axis=u), axis=v)
                assert np.abs(both).max() < 1e-9, (u, v)


def test_royal_road_is_a_row_of_cliques() -> None:
    problem = royal_road(12, group=4)
    assert problem.structure.components() == ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))
    assert problem.structure.n_edges == 18
    assert problem([1] * 4 + [0] + [1] * 3 + [1] * 4) == 8.0
    assert royal_road(6, group=1)([1, 0, 1, 1, 0, 1]) == onemax(6)([1, 0, 1, 1, 0, 1]) == 4.0


def test_the_spin_glass_is_minus_its_energy() -> None:
    problem = ising_spin_glass(3, 4, seed=1)
    assert problem.structure == grid(3, 4, periodic=True)
    spins = np.random.default_rng(1).integers(2, size=12)
    strength = {tuple(genes): table[0] for genes, table in zip(problem.genes.tolist(), problem.tables, strict=True)}
    energy = -sum(j * (2 * spins[u] - 1) * (2 * spins[v] - 1) for (u, v), j in strength.items())
    assert set(strength.values()) <= {-1.0, 1.0}
    assert problem(spins) == -energy


def test_a_large_torus_is_solved_and_a_larger_one_has_no_known_optimum() -> None:
    assert ising_spin_glass(6, 6, seed=1).optimum is not None
    assert nk_landscape(200, k=3, contacts="adjacent", seed=1).optimum is not None
    assert ising_spin_glass(40, 40, seed=1).optimum is None


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_max_sat_counts_clauses(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from((v, -v)))
    drawn = data.draw(st.lists(st.tuples(st.lists(literal, max_size=4), st.integers(0, 5)), max_size=6))
    clauses = tuple(Clause(tuple(literals), float(weight)) for literals, weight in drawn)
    problem = MaxSat("drawn", n, clauses)
    text = f"p wcnf {n} {len(clauses)} 99\n" + "".join(
        " ".join(map(str, [clause.weight, *clause.literals, 0])) + "\n" for clause in clauses
    )
    assert parse_dimacs(text).clauses == clauses
    rows, values = everything(problem)
    for row, value in zip(rows, values, strict=True):
        held = [any(row[abs(k) - 1] == (k > 0) for k in clause.literals) for clause in clauses]
        assert value == sum(clause.weight for clause, holds in zip(clauses, held, strict=True) if holds)
    assert problem.optimum == pytest.approx(values.max())


def test_a_dimacs_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.cnf"
    path.write_text("c a comment\np cnf 3 2\n1 -3 0\n2 3\n-1 0\n%\n0\n", encoding="utf-8")
    problem = max_sat(path)
    assert problem.clauses == (Clause((1, -3)), Clause((2, 3, -1)))
    assert problem.optimum == problem.total == 2.0
    assert problem_named(str(path)).n_variables == 3


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("1 2 0\n", "must begin with 'p cnf"),
        ("", "there is none"),
        ("p cnf 2 2\n1 0\n", "the 2 clauses it announces; got 1"),
        ("p cnf 2 1\n1 x 0\n", "whole numbers in its clauses; got 'x'"),
        ("p cnf 2 1\n1 2\n", "end every clause with 0"),
        ("p cnf 2 1\n3 0\n", "literals from 1 to 2"),
        ("p cnf 0 0\n", "must begin with 'p cnf"),
        ("p wcnf 2 1 9\nnan 1 0\n", "weights of at least 0 before its clauses; got 'nan'"),
        ("p wcnf 2 1 9\ninf 1 0\n", "weights of at least 0"),
        ("p wcnf 2 1 9\n-3 1 0\n", "weights of at least 0"),
        ("p cnf 1000000000000 1\n1 0\n", "announce at most 10,000 variables"),
        ("p cnf 2 1000000000000\n1 0\n", "clauses it announces; got 1"),
        ("p cnf " + "9" * 5000 + " 1\n1 0\n", "must begin with 'p cnf"),
        ("p cnf 2 1\n" + "9" * 5000 + " 0\n", "whole numbers in its clauses"),
        ("p cnf 20 1\n1_0 0\n", "whole numbers in its clauses; got '1_0'"),
        ("p cnf 2 1\n\0 0\n", "whole numbers in its clauses"),
    ],
)
def test_files_that_are_not_dimacs_are_refused(text: str, rule: str) -> None:
    with pytest.raises(FileError, match=rule):
        parse_dimacs(text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no"):
        max_sat(tmp_path / "none.cnf")


def test_problems_by_name() -> None:
    assert problem_named("royal-road:n=16,group=8").structure == royal_road(16, group=8).structure
    nk, same = problem_named("nk:n=12,k=3,contacts=adjacent,seed=4"), nk_landscape(12, k=3, contacts="adjacent", seed=4)
    row = np.random.default_rng(1).integers(2, size=12)
    assert nk(row) == same(row)
    assert problem_named("ising:rows=3,columns=5,periodic=false").n_variables == 15
    assert problem_named("onemax").n_variables == 50
    with pytest.raises(UnknownNameError, match=r"'onemx' does not exist\. Did you mean 'onemax'"):
        problem_named("onemx:n=3")
    with pytest.raises(UnknownNameError, match="setting of onemax"):
        problem_named("onemax:m=3")
    with pytest.raises(InputError, match="key=value"):
        problem_named("onemax:n")


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: onemax(0), "n must be"),
        (lambda: royal_road(10, group=4), "multiple of the size"),
        (lambda: deceptive_trap(50, size=25), "at most 20"),
        (lambda: nk_landscape(5, k=5), "k must be at most 4"),
        (lambda: nk_landscape(5, k=2, contacts="far"), "contacts 'far' does not exist"),  # type: ignore[arg-type]
        (lambda: ising_spin_glass(3, 3, couplings="odd"), "couplings 'odd' does not exist"),  # type: ignore[arg-type]
        (lambda: onemax(3)([0, 1]), "individuals must have the 3 genes"),
        (lambda: TableProblem("t", (2, 2), np.array([[0, 1]]), np.zeros((1, 3))), "a cell for each combination"),
        (lambda: TableProblem("t", (2, 2), np.array([[1, 0]]), np.zeros((1, 4))), "ascending order"),
        (lambda: MaxSat("s", 1, (Clause((2,)),)), "literals from 1 to 1"),
    ],
)
def test_bad_problems_are_refused(make: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        make()
