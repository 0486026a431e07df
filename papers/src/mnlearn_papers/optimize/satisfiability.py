"""MAX-SAT: satisfy as many clauses as possible, by number or by weight; read from DIMACS files.

``p cnf VARIABLES CLAUSES`` or ``p wcnf VARIABLES CLAUSES [TOP]``, then clauses that end in 0; in a wcnf file each
begins with its weight. A gene is a variable, 1 for true.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.distributions.factors import Factor
from mnlearn.errors import FileError, InputError, check_instance, read_bytes, tuple_of, whole_number
from mnlearn.protocols import FloatArray
from mnlearn_papers.optimize.problems import Problem

_FREE = 10_000  # variables that a formula may have beyond those that its length allows
_LONGEST_TABLE = 16  # literals of a clause that is still written out as a table, for elimination


class Clause(NamedTuple):
    """Literals, as in DIMACS: v is variable v (from 1 on) being true, −v its being false. And a weight."""

    literals: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class MaxSat(Problem):
    """The total weight of the clauses that an individual satisfies.

    Parameters
    ----------
    name
        What it is called.
    n
        Number of variables.
    clauses
        The clauses.

    Notes
    -----
    The optimum is looked for by elimination, which succeeds for formulas of small tree-width; for others give a target
    to `maximize`: `total` would mean that all clauses are satisfied.

    Examples
    --------
    >>> problem = MaxSat("small", 2, (Clause((1, 2)), Clause((-1, 2)), Clause((-2,))))
    >>> problem([[0, 1], [0, 0]]).tolist(), problem.optimum, problem.total
    ([2.0, 2.0], 2.0, 3.0)
    """

    name: str
    n: int
    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        whole_number("n", self.n, least=0, hint="Count the variables.")
        for clause in tuple_of("clauses", self.clauses, "clauses"):
            check_instance("clauses", clause, Clause, "Make each a Clause(literals, weight).")
            if not all(1 <= abs(literal) <= self.n for literal in clause.literals):
                raise InputError(
                    f"clauses must have literals from 1 to {self.n}, or their opposites; got {clause.literals}. "
                    "Correct it."
                )

    @property
    def cards(self) -> tuple[int, ...]:  # type: ignore[override]
        """Two values for each variable."""
        return (2,) * self.n

    @property
    def total(self) -> float:
        """The weight of all clauses."""
        return float(sum(clause.weight for clause in self.clauses))

    @cached_property
    def _flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], FloatArray]:
        """Variables and wanted values of all literals, where each non-empty clause begins, and their weights."""
        some = [clause for clause in self.clauses if clause.literals]
        literals = np.array([literal for clause in some for literal in clause.literals], dtype=np.int64)
        starts = np.cumsum([0, *(len(clause.literals) for clause in some)], dtype=np.int64)[:-1]
        weights = np.array([clause.weight for clause in some], dtype=np.float64)
        return np.abs(literals) - 1, (literals > 0).astype(np.int64), starts, weights

    def fitness(self, rows: NDArray[Any]) -> FloatArray:
        """Return the fitness of every row."""
        variables, wanted, starts, weights = self._flat
        if not len(starts):
            return np.zeros(len(rows))
        satisfied = np.logical_or.reduceat(rows[:, variables] == wanted, starts, axis=1)
        return np.asarray(satisfied @ weights, dtype=np.float64)

    def scopes(self) -> Iterator[tuple[int, ...]]:
        """The variables of each clause."""
        return (_variables(clause) for clause in self.clauses if clause.literals)

    def solve(self) -> tuple[float, NDArray[np.int64]] | None:
        """Return the highest weight and an assignment that has it; None if elimination needs large tables."""
        if any(len(scope) > _LONGEST_TABLE for scope in self.scopes()):
            return None
        return super().solve()

    def factors(self) -> Iterator[Factor]:
        """A table for each clause."""
        for clause in self.clauses:
            if clause.literals:
                scope = _variables(clause)
                table = [
                    _holds(clause, dict(zip(scope, values, strict=True)))
                    for values in product((0, 1), repeat=len(scope))
                ]
                yield Factor(scope, clause.weight * np.array(table, dtype=np.float64).reshape([2] * len(scope)))


def max_sat(path: str | os.PathLike[str]) -> MaxSat:
    """Read a DIMACS file, .cnf or .wcnf.

    Raises
    ------
    FileError
        If it cannot be read, or breaks the format; the message has the line.
    """
    content = read_bytes("path", path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)!r} cannot be read: it is not text. Name a DIMACS file.") from error
    return parse_dimacs(text, os.fspath(path))


def parse_dimacs(text: str, name: str = "formula") -> MaxSat:
    """A formula from the text of a DIMACS file.

    Examples
    --------
    >>> problem = parse_dimacs("c two clauses\\np cnf 2 2\\n1 -2 0\\n2 0\\n")
    >>> problem.n_variables, problem.clauses[0].literals, problem.optimum
    (2, (1, -2), 2.0)
    """
    if not isinstance(text, str):
        raise InputError(f"text must be a string; got {text!r:.80}. Read a file with max_sat(path).")
    header: tuple[str, int, int] | None = None
    words: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("c"):
            continue
        if fields[0].startswith("%"):  # how some collections end their files
            break
        if header is None:
            header = _header(fields, name, number)
        else:
            words += fields
    if header is None:
        raise FileError(f"{name} must have a line 'p cnf VARIABLES CLAUSES'; there is none. Is it a DIMACS file?")
    kind, n, n_clauses = header
    if n > _FREE + 10 * len(words):
        raise FileError(
            f"{name} must announce at most {_FREE:,} variables and 10 for each number in its clauses; got {n:,} and "
            f"{len(words):,} numbers. Correct the line 'p {kind} ...'."
        )
    clauses = tuple(_clauses(words, kind == "wcnf", name))
    if len(clauses) != n_clauses:
        raise FileError(f"{name} must have the {n_clauses} clauses it announces; got {len(clauses)}. Correct the file.")
    try:
        return MaxSat(name, n, clauses)
    except InputError as error:
        raise FileError(f"{name}: {error}") from None


def _header(fields: Sequence[str], name: str, number: int) -> tuple[str, int, int]:
    """The kind of file, how many variables, how many clauses."""
    try:
        if fields[0] == "p" and fields[1] in ("cnf", "wcnf") and _whole(fields[2]) > 0 and _whole(fields[3]) >= 0:
            return fields[1], _whole(fields[2]), _whole(fields[3])
    except (IndexError, ValueError):
        pass
    raise FileError(
        f"{name} must begin with 'p cnf VARIABLES CLAUSES' (or wcnf); line {number} is {' '.join(fields)[:40]!r}. "
        "Correct the line."
    )


def _clauses(words: Sequence[str], weighted: bool, name: str) -> Iterator[Clause]:
    """Words up to each 0, the first of them a weight where there are weights."""
    literals: list[int] = []
    weight: float | None = None
    for word in words:
        try:
            if weighted and weight is None:
                weight = _weight(word)
                continue
            literal = _whole(word)
        except ValueError:
            what = "weights of at least 0 before" if weighted and weight is None else "whole numbers in"
            raise FileError(f"{name} must have {what} its clauses; got {word!r}. Correct it.") from None
        if literal:
            literals.append(literal)
            continue
        yield Clause(tuple(literals), 1.0 if weight is None else weight)
        literals, weight = [], None
    if literals or weight is not None:
        raise FileError(f"{name} must end every clause with 0; the last one, {literals[:8]}, does not. Add it.")


def _whole(word: str) -> int:
    """Of ASCII digits; Python would also read 1_000 and other scripts."""
    if not word.isascii() or "_" in word:
        raise ValueError(word)
    return int(word)


def _weight(word: str) -> float:
    """Of a clause: a number, not below 0."""
    weight = float(word)
    if not 0 <= weight < inf or not word.isascii() or "_" in word:
        raise ValueError(word)
    return weight


def _variables(clause: Clause) -> tuple[int, ...]:
    """Those of a clause, in ascending order, from 0 on."""
    return tuple(sorted({abs(literal) - 1 for literal in clause.literals}))


def _holds(clause: Clause, values: dict[int, int]) -> bool:
    """Whether a clause is satisfied."""
    return any(values[abs(literal) - 1] == (literal > 0) for literal in clause.literals)
