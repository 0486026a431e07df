"""Problems whose structure is known: sums of small tables, each over a few genes.

    fitness(x) = Σ_f table_f(x_f)

Genes that share a table depend on one another among good individuals: the cliques of the tables are the structure that
a learner should find. All are maximised.

Problems by name: what `mnlearn optimize` understands, such as ``royal-road:n=64,group=4`` or a DIMACS file.

MAX-SAT: satisfy as many clauses as possible, by number or by weight; read from DIMACS files.

``p cnf VARIABLES CLAUSES`` or ``p wcnf VARIABLES CLAUSES [TOP]``, then clauses that end in 0; in a wcnf file each
begins with its weight. A gene is a variable, 1 for true.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import inf, prod
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.distributions.elimination import elimination_order, joint_log_values
from mnlearn.distributions.factors import Factor
from mnlearn.errors import (
    FileError,
    InputError,
    check_instance,
    check_name,
    check_path,
    check_room,
    read_bytes,
    real_array,
    tuple_of,
    unknown_name,
    whole_number,
)
from mnlearn.graphs.generators import grid
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, rng_from
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.simulate.catalogue import settings_as_written, written_pairs


class Problem(ABC):
    """A fitness function with what is known about it. Called with an individual, or with a 2-D array of them.

    Attributes
    ----------
    name
        What it is called.
    cards
        How many values each gene may have.
    """

    name: str
    cards: tuple[int, ...]

    @property
    def n_variables(self) -> int:
        """Number of genes of an individual."""
        return len(self.cards)

    @cached_property
    def structure(self) -> Graph:
        """The true structure: genes that share a table."""
        return Graph(self.n_variables, sorted({pair for s in self.scopes() for pair in combinations(s, 2)}))

    @cached_property
    def optimum(self) -> float | None:
        """The highest fitness there is; None if it is not known."""
        found = self.solve()
        return None if found is None else found[0]

    def solve(self) -> tuple[float, NDArray[np.int64]] | None:
        """The highest fitness and an individual that has it, by elimination; None if that would take large tables."""
        return best_of_sum(list(self.factors()), self.cards, self.structure)

    def __call__(self, individuals: ArrayLike) -> Any:
        """The fitness of an individual as a float, or of many as an array."""
        rows = _as_array(individuals)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.n_variables:
            raise InputError(
                f"individuals must have the {self.n_variables} genes of {self.name}; got the shape {rows.shape}. Give "
                "one row, or a 2-D array of rows."
            )
        if not ((rows >= 0) & (rows < self.cards) & (rows == np.floor(rows))).all():
            raise InputError("individuals must have values from 0 to states - 1 of each gene; got others. Repair them.")
        rows = rows.astype(np.int64, copy=False)
        values = self.fitness(np.atleast_2d(rows))
        return values if rows.ndim == 2 else float(values[0])

    @abstractmethod
    def fitness(self, rows: NDArray[Any]) -> FloatArray:
        """Return the fitness of every row."""

    @abstractmethod
    def scopes(self) -> Iterator[tuple[int, ...]]:
        """The genes of each table, in ascending order."""

    @abstractmethod
    def factors(self) -> Iterator[Factor]:
        """The tables."""


def _as_array(individuals: ArrayLike) -> NDArray[Any]:
    """Return individuals as an array of numbers; raise InputError for anything else."""
    rows = np.asarray(individuals) if isinstance(individuals, np.ndarray) else None
    if rows is not None and rows.dtype.kind in "biuf" and not np.ma.is_masked(individuals):
        return rows
    return real_array("individuals", individuals, "Give the value of each gene.")


_MOST_GENES = 10_000_000


@dataclass(frozen=True, eq=False)
class TableProblem(Problem):
    """Tables over scopes of one size.

    Parameters
    ----------
    name
        What it is called.
    cards
        How many values each gene may have.
    genes
        The genes of each table, a row each, in ascending order.
    tables
        What each table gives, a row each: the values of the last gene change fastest.
    known
        The highest fitness, if it is known; else it is looked for by elimination.

    Examples
    --------
    >>> xor = TableProblem("xor", (2, 2), np.array([[0, 1]]), np.array([[0.0, 1.0, 1.0, 0.0]]))
    >>> xor([1, 0]), xor([[0, 0], [0, 1]]).tolist(), xor.optimum
    (1.0, [0.0, 1.0], 1.0)
    """

    name: str
    cards: tuple[int, ...]
    genes: IntArray
    tables: FloatArray
    known: float | None = None

    def __post_init__(self) -> None:
        cards = tuple_of("cards", self.cards, "numbers of values")
        for card in cards:
            whole_number("cards", card, least=1, most=256, hint="Use 2 for genes that are 0 or 1.")
        for name in ("genes", "tables"):
            real_array(name, getattr(self, name), "Give a 2-D array.")
            if not isinstance(getattr(self, name), np.ndarray) or getattr(self, name).ndim != 2:
                raise InputError(f"{name} must be a 2-D array; got {getattr(self, name)!r:.80}. Use np.array([[...]]).")
        if self.genes.dtype.kind not in "iu" or ((self.genes < 0) | (self.genes >= len(cards))).any():
            raise InputError(f"genes must be indices below {len(cards)}; got {self.genes!r:.80}. Count from 0.")
        cells = {prod(self.cards[x] for x in scope) for scope in self.genes.tolist()}
        if self.genes.ndim != 2 or len(cells) != 1 or self.tables.shape != (len(self.genes), cells.pop()):
            raise InputError(
                "tables must have a row for each row of genes and a cell for each combination of their values; got the "
                f"shapes {self.genes.shape} and {self.tables.shape}. Use one problem for each size of table."
            )
        if not (np.diff(self.genes, axis=1) > 0).all():
            raise InputError("genes must be in ascending order in each row; got others. Sort them, and the tables.")

    @cached_property
    def optimum(self) -> float | None:
        """The highest fitness there is; None if it is not known."""
        return self.known if self.known is not None else super().optimum

    @cached_property
    def _strides(self) -> IntArray:
        """By table and gene: how far apart two values lie in the table."""
        sizes = np.array(self.cards)[self.genes]
        after = np.cumprod(sizes[:, :0:-1], axis=1)[:, ::-1]
        return np.concatenate([after, np.ones((len(sizes), 1), dtype=np.int64)], axis=1)

    def fitness(self, rows: NDArray[Any]) -> FloatArray:
        """Return the fitness of every row."""
        at = np.zeros((len(rows), len(self.genes)), dtype=np.int64)
        for place, strides in zip(self.genes.T, self._strides.T, strict=True):
            at += rows[:, place] * strides
        return np.asarray(self.tables[np.arange(len(self.genes)), at].sum(axis=1), dtype=np.float64)

    def scopes(self) -> Iterator[tuple[int, ...]]:
        """The genes of each table."""
        return map(tuple, self.genes.tolist())

    def factors(self) -> Iterator[Factor]:
        """The tables."""
        for scope, table in zip(self.scopes(), self.tables, strict=True):
            yield Factor(scope, table.reshape([self.cards[x] for x in scope]))


def onemax(n: int, *, states: int = 2) -> TableProblem:
    """The sum of the genes: every gene for itself. Best: all at their highest value.

    Examples
    --------
    >>> problem = onemax(5)
    >>> problem([1, 0, 1, 1, 0]), problem.optimum, problem.structure.n_edges
    (3.0, 5.0, 0)
    """
    n = whole_number("n", n, least=1, most=_MOST_GENES, hint="An individual has at least one gene.")
    states = whole_number("states", states, least=2, most=256, hint="Use 2 for genes that are 0 or 1.")
    tables = np.tile(np.arange(states, dtype=np.float64), (n, 1))
    return TableProblem(f"onemax:n={n}", (states,) * n, np.arange(n)[:, None], tables, float(n * (states - 1)))


def royal_road(n: int, *, group: int = 4, states: int = 2) -> TableProblem:
    """Groups of genes in a row, each worth its size when all of them have their highest value, else 0  [IBMAP14].

    Examples
    --------
    >>> problem = royal_road(8, group=4)
    >>> problem([1, 1, 1, 1, 1, 1, 1, 0]), problem.optimum, problem.structure.n_edges
    (4.0, 8.0, 12)
    """
    genes = _groups(n, group)
    cells = whole_number("states", states, least=2, most=256, hint="Use 2 for bits.") ** group
    check_room("states", 8.0 * len(genes) * cells, f"tables of {cells:,} cells", "Use fewer states or smaller groups.")
    tables = np.zeros((len(genes), cells))
    tables[:, -1] = group
    name = f"royal-road:n={n},group={group}"
    return TableProblem(name, (states,) * n, genes, tables, float(n))


def deceptive_trap(n: int, *, size: int = 5) -> TableProblem:
    """Groups of bits in a row, each worth k if all are 1, else k − 1 − (number of ones): all but the best lead astray.

    Examples
    --------
    >>> problem = deceptive_trap(5)
    >>> problem([1] * 5), problem([0] * 5), problem([1, 1, 1, 1, 0])
    (5.0, 4.0, 0.0)
    """
    genes = _groups(n, size)
    ones = np.array([cell.bit_count() for cell in range(2**size)], dtype=np.float64)
    table = np.where(ones == size, float(size), size - 1 - ones)
    return TableProblem(f"trap:n={n},size={size}", (2,) * n, genes, np.tile(table, (len(genes), 1)), float(n))


Contacts = Literal["adjacent", "random"]


def nk_landscape(n: int, *, k: int = 2, contacts: Contacts = "random", seed: Seed = 0) -> TableProblem:
    """Kauffman's NK landscape: every gene's share depends on itself and k others, by a table of uniform numbers.

    Parameters
    ----------
    n
        Number of genes.
    k
        How many others a gene depends on.
    contacts
        ``"random"``, or ``"adjacent"``: the k that follow, in a ring, for which the optimum is known for large n, too.
    seed
        Of the tables and the contacts.

    Examples
    --------
    >>> problem = nk_landscape(30, k=3, contacts="adjacent", seed=1)
    >>> value, individual = problem.solve()
    >>> bool(np.isclose(value, problem(individual))), value == problem.optimum
    (True, True)
    """
    n = whole_number("n", n, least=1, most=_MOST_GENES, hint="An individual has at least one gene.")
    if whole_number("k", k, least=0, hint="0 is a sum of single genes.") > min(n - 1, 16):
        raise InputError(f"k must be at most {min(n - 1, 16)} for {n} genes; got {k}. Lower it.")
    check_name("contacts", contacts, get_args(Contacts))
    rng = rng_from(seed)
    if contacts == "random":
        others = [rng.choice(n - 1, size=k, replace=False) for _ in range(n)]
        genes = np.array([sorted([x, *(y + (y >= x) for y in chosen)]) for x, chosen in enumerate(others)])
    else:
        genes = np.sort((np.arange(n)[:, None] + np.arange(k + 1)) % n, axis=1)
    name = f"nk:n={n},k={k},contacts={contacts}"
    return TableProblem(name, (2,) * n, genes, rng.random((n, 2 ** (k + 1))) / n)


Couplings = Literal["mixed", "normal"]


def ising_spin_glass(
    rows: int, columns: int, *, couplings: Couplings = "mixed", periodic: bool = True, seed: Seed = 0
) -> TableProblem:
    """Spins on a lattice with random couplings: fitness Σ J_uv s_u s_v, the opposite of the energy; s = 2 x − 1.

    Parameters
    ----------
    rows, columns
        Of the lattice.
    couplings
        ``"mixed"``: +1 or −1; ``"normal"``: standard normal.
    periodic
        Whether the lattice is a torus.
    seed
        Of the couplings.

    Notes
    -----
    The ground state is found by elimination, for some 10 × 10 spins on a torus and for 20 columns on a strip.

    Examples
    --------
    >>> problem = ising_spin_glass(4, 4, seed=1)
    >>> value, spins = problem.solve()
    >>> value == problem(spins) == problem(1 - spins)
    True
    """
    check_name("couplings", couplings, get_args(Couplings))
    lattice, rng = grid(rows, columns, periodic=periodic), rng_from(seed)
    n_edges = lattice.n_edges
    strengths = rng.choice((-1.0, 1.0), n_edges) if couplings == "mixed" else rng.standard_normal(n_edges)
    tables = strengths[:, None] * np.array([1.0, -1.0, -1.0, 1.0])
    name = f"ising:rows={rows},columns={columns}"
    genes = np.array(lattice.edges, dtype=np.int64).reshape(-1, 2)
    return TableProblem(name, (2,) * lattice.n_variables, genes, tables)


def _groups(n: int, size: int) -> IntArray:
    """Genes in groups of neighbours."""
    size = whole_number("group", size, least=1, hint="1 lets every gene stand for itself.")
    n = whole_number("n", n, least=1, most=_MOST_GENES, hint="An individual has at least one gene.")
    if n % size or size > 20:
        raise InputError(
            f"n must be a multiple of the size of a group, at most 20; got n={n}, size={size}. Change one."
        )
    return np.arange(n).reshape(-1, size)


# The best of a sum of small tables, by elimination: exact wherever the tables that arise stay small.


LARGEST_TABLE = 2**20
"""Cells of the largest table that elimination may make."""


def best_of_sum(
    factors: Sequence[Factor], cards: Sequence[int], graph: Graph
) -> tuple[float, NDArray[np.int64]] | None:
    """max_x Σ_f f(x_f) and an x that has it; None if a table would have more than 2^20 cells.

    One variable after the other is maximised out of the tables that hold it; then their values follow backwards.
    """
    order = elimination_order(graph, cards)
    if max((cells for _, cells in order), default=1) > LARGEST_TABLE:
        return None
    waiting: list[dict[int, Factor]] = [{} for _ in cards]  # by variable: the tables that hold it
    numbered = list(factors)
    for number, factor in enumerate(numbered):
        for y in factor.variables:
            waiting[y][number] = factor
    total, choices = 0.0, []
    for x, _ in order:
        mine = dict(waiting[x])
        scope = tuple(sorted({y for factor in mine.values() for y in factor.variables} - {x}))
        table = joint_log_values(mine.values(), (*scope, x), cards)
        choices.append((x, scope, table.argmax(-1)))
        for number, factor in mine.items():
            for y in factor.variables:
                del waiting[y][number]
        if scope:
            numbered.append(Factor(scope, table.max(-1)))
            for y in scope:
                waiting[y][len(numbered) - 1] = numbered[-1]
        else:
            total += float(table.max())
    best = np.zeros(len(cards), dtype=np.int64)
    for x, scope, choice in reversed(choices):
        best[x] = choice[tuple(best[list(scope)])]
    return total, best


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
