"""Slow, obvious twin of the native knowledge base: the rules of GSIMN in the words of the paper  [JAIR09, Sec. 4.5]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from mnlearn.graphs.knowledge import says_dependent
from mnlearn.protocols import VarSet

Bits: TypeAlias = int  # a set of variables: bit v is set when v is a member


def dependent_by_strong_union(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """Apply x ⟂̸ y | a with a ⊇ z  =>  x ⟂̸ y | z  [lines 7-9]."""
    return first_above(known.dependent[x].get(y, ()), z)


def dependent_by_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """Apply x ⟂̸ w | a and w ⟂̸ y | b with a, b ⊇ z  =>  x ⟂̸ y | a ∩ b  [lines 10-14]."""
    of_x, of_y = known.dependent[x], known.dependent[y]
    for w in sorted(of_x.keys() & of_y.keys()):
        a = first_above(of_x[w], z)
        b = None if a is None else first_above(of_y[w], z)
        if a is not None and b is not None:
            return a & b
    return None


def independent_by_strong_union(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """Apply x ⟂ y | a with a ⊆ z  =>  x ⟂ y | z  [lines 15-17]."""
    return first_within(known.independent[x].get(y, ()), z)


def independent_by_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """Apply x ⟂ w | a with a ⊆ z and w ⟂̸ y | b with b ⊇ a  =>  x ⟂ y | a  [lines 18-22]."""
    of_x, of_y = known.independent[x], known.dependent[y]
    for w in sorted(of_x.keys() & of_y.keys()):
        for a in of_x[w]:
            if a | z == z and first_above(of_y[w], a) is not None:
                return a
    return None


def independent_by_mirrored_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """Apply the triangle rule with x and y exchanged."""
    return independent_by_triangle(known, y, x, z)


Rule: TypeAlias = Callable[["Answers", int, int, Bits], Bits | None]
RULES: tuple[Rule, ...] = (  # [Sec. 4.6]
    *(dependent_by_strong_union, dependent_by_triangle),
    *(independent_by_strong_union, independent_by_triangle),
)
MIRRORED_RULES: tuple[Rule, ...] = (*RULES, independent_by_mirrored_triangle)


class KnowledgeBase:
    """`Knowledge`: K and its rules."""

    def __init__(self, n_variables: int, rules: Sequence[Rule]) -> None:
        self._known, self._rules = Answers(n_variables), rules

    def implied(self, x: int, y: int, z: VarSet) -> int:
        """Return the number of the first rule that answers, counted from 1; 0 if none does."""
        return self._first_rule(x, y, bits(z))[0]

    def infer(self, x: int, y: int, z: VarSet) -> int:
        """Return the number of the first rule that answers, and add its answer to K."""
        rule, a = self._first_rule(x, y, bits(z))
        if rule:
            self._known.add(x, y, a, not says_dependent(rule))  # lines 13, 21; strong union adds nothing new
        return rule

    def learn(self, x: int, y: int, z: VarSet, independent: bool) -> None:
        """Add the answer of a test to K."""
        self._known.add(x, y, bits(z), independent)

    def _first_rule(self, x: int, y: int, z: Bits) -> tuple[int, Bits]:
        """Return the number of the first rule that answers and the set of its statement; (0, 0) if none does."""
        for number, rule in enumerate(self._rules, start=1):
            a = rule(self._known, x, y, z)
            if a is not None:
                return number, a
        return 0, 0


class Answers:
    """The knowledge base K: for each pair, the sets given which it was found dependent, or independent.

    Attributes
    ----------
    dependent, independent
        For each x: from y to the sets of the pair, in order of arrival; K_xy and K_yx are equal.
    """

    def __init__(self, n_variables: int) -> None:
        self.dependent: list[dict[int, tuple[Bits, ...]]] = [{} for _ in range(n_variables)]
        self.independent: list[dict[int, tuple[Bits, ...]]] = [{} for _ in range(n_variables)]

    def add(self, x: int, y: int, a: Bits, independent: bool) -> None:
        """Add x ⟂ y | a or x ⟂̸ y | a."""
        facts = self.independent if independent else self.dependent
        sets = facts[x].get(y, ())
        if a not in sets:
            facts[x][y] = facts[y][x] = (*sets, a)  # the garbage collector skips a tuple of integers


@lru_cache(maxsize=64)
def bits(z: VarSet) -> Bits:
    """Return the set as an integer."""
    return sum(1 << v for v in z)


def first_above(sets: Iterable[Bits], z: Bits) -> Bits | None:
    """Return the first of the sets that contains z."""
    for a in sets:
        if a & z == z:
            return a
    return None


def first_within(sets: Iterable[Bits], z: Bits) -> Bits | None:
    """Return the first of the sets that is contained in z."""
    for a in sets:
        if a | z == z:
            return a
    return None
