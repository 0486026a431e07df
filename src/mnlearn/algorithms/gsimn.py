"""GSIMN: grow-shrink inference of Markov networks.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09].
The walk over the variables is GSMN*'s (gsmn.py). New here is the reasoning: a question goes to the data only when
the answers already paid for do not imply it  [JAIR09, Sec. 4.5].

Lines 11 and 19 of Algorithm 5 let w range over the conditioning set; a set that contains w cannot condition a
statement about w, so here, as the text of Section 4.5 has it, w is any variable.

A judge that decides whole phases by itself applies the same rules in `native/blankets/knowledge_base.cpp`. The rules
here serve every other judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np

from mnlearn.algorithms._blankets import CountedBlanketTest, InferenceTest
from mnlearn.algorithms._counted_test import AHEAD, check_ahead
from mnlearn.algorithms.gsmn import RULES_OF_ALGORITHM_3, Algorithm3
from mnlearn.errors import true_or_false
from mnlearn.protocols import SILENT, BoolArray, IndependenceTest, Knowledge, Monitor, Result, VarSet, Verdict

Bits: TypeAlias = int  # a set of variables: bit v is set when v is a member


@dataclass(frozen=True, kw_only=True)
class GSIMN:
    """Learn a structure with as few statistical tests as reasoning allows.

    Parameters
    ----------
    propagation
        Whether the blanket of a variable examined earlier decides about x (lines 1-6). Without it every pair is
        decided from both ends, and joined when either end says so.
    skip_marginal
        Whether x and y are taken for independent given anything when they are without conditioning (line 22 of
        Algorithm 3).
    mirrored
        Whether independence is also inferred by the triangle rule with x and y exchanged. The rule is sound in both
        directions; Algorithm 5 prints one.
    seed_dependences
        Whether the dependences of the initial phase are knowledge from the start. The paper starts with none. The
        independences never are: on data they delete true edges.
    ahead
        The largest block of questions asked ahead of need; 1 asks strictly one at a time. Changes no result.
    keep_trace
        Whether the result keeps every question in order, inferred ones with the rule that answered.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Where several instances of a triangle rule apply, the w with the smallest index is taken. With a separation oracle
    and average degree 8 about 60 % of the weighted tests of GSMN* remain  [JAIR09, Fig. 6].

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> result = GSIMN().learn(SeparationOracle(cycle(5)))
    >>> result.graph == cycle(5), result.cost["main_asked"], result.cost["inferred_dependent_by_triangle"]
    (True, 13, 6)
    """

    propagation: bool = True
    skip_marginal: bool = True
    mirrored: bool = False
    seed_dependences: bool = False
    ahead: int = AHEAD
    keep_trace: bool = False

    def __post_init__(self) -> None:
        true_or_false(
            propagation=self.propagation,
            skip_marginal=self.skip_marginal,
            mirrored=self.mirrored,
            seed_dependences=self.seed_dependences,
            keep_trace=self.keep_trace,
        )
        check_ahead(self.ahead)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure: Algorithm 3 of [JAIR09] with the test of Algorithm 5."""
        rules = MIRRORED_RULES if self.mirrored else RULES
        names = [rule.__name__ for rule in rules]
        all_rules = (*RULES_OF_ALGORITHM_3, *names)
        counted = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, rules=all_rules)
        known = counted.use_knowledge(names, mirrored=self.mirrored) or KnowledgeBase(judge.n_variables, rules)
        test = Algorithm5(counted, known, names)
        search = Algorithm3(counted, test, propagation=self.propagation, skip_marginal=self.skip_marginal)
        return search.run(monitor, asdict(self), *([test.learn_dependences] if self.seed_dependences else []))


class Algorithm5(InferenceTest):
    """Test of GSIMN: infer the answer by a rule, else test on the data  [JAIR09, Algorithm 5].

    Lines 1-6, propagation, are part of the grow and shrink phases (`InferenceTest`).
    """

    def __init__(self, test: CountedBlanketTest, known: Knowledge, rules: Sequence[str]) -> None:
        self._test, self._known, self._rules = test, known, ("", *rules)

    def learn_dependences(self, independent: BoolArray) -> None:
        """Add the dependences of the initial phase to the knowledge base."""
        for x, y in np.argwhere(np.triu(~independent, 1)).tolist():
            self._known.learn(x, y, frozenset(), independent=False)

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Decide about x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""
        rule = self._known.infer(x, y, z)  # lines 7-22
        if rule:
            return self._inferred(x, y, z, rule)
        verdict = self._test(x, y, z, self._open(x, upcoming, z))  # line 24
        self._known.learn(x, y, z, verdict.independent)  # line 25
        return verdict

    def _inferred(self, x: int, y: int, z: VarSet, rule: int) -> Verdict:
        """Return the answer of the rule with this number, recorded."""
        verdict = Verdict(not says_dependent(rule), None, self._rules[rule])
        self._test.record_inferred(x, (y,), z, independent=verdict.independent, rule=verdict.source)
        return verdict

    def _open(self, x: int, ys: Iterable[int], z: VarSet) -> Iterator[int]:
        """Yield the y to test ahead: those that no rule answers, up to the first dependence, where z changes."""
        for y in ys:
            rule = self._known.implied(x, y, z)
            if not rule:
                yield y
            elif says_dependent(rule):
                return


def dependent_by_strong_union(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """x ⟂̸ y | a with a ⊇ z gives x ⟂̸ y | z  [lines 7-9]."""
    return first_above(known.dependent[x].get(y, ()), z)


def dependent_by_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """x ⟂̸ w | a and w ⟂̸ y | b with a, b ⊇ z give x ⟂̸ y | a ∩ b  [lines 10-14]."""
    for w, a in known.near(x, z).items():
        b = first_above(known.dependent[y].get(w, ()), z)
        if b is not None:
            return a & b
    return None


def independent_by_strong_union(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """x ⟂ y | a with a ⊆ z gives x ⟂ y | z  [lines 15-17]."""
    return first_within(known.independent[x].get(y, ()), z)


def independent_by_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """x ⟂ w | a with a ⊆ z and w ⟂̸ y | b with b ⊇ a give x ⟂ y | a  [lines 18-22]."""
    for w in members(known.strangers[x] & known.partners[y]):
        for a in known.independent[x][w]:
            if a | z == z and first_above(known.dependent[w][y], a) is not None:
                return a
    return None


def independent_by_mirrored_triangle(known: Answers, x: int, y: int, z: Bits) -> Bits | None:
    """The same with x and y exchanged."""
    return independent_by_triangle(known, y, x, z)


Rule: TypeAlias = Callable[["Answers", int, int, Bits], Bits | None]
DEPENDENCE_RULES: tuple[Rule, ...] = (dependent_by_strong_union, dependent_by_triangle)
RULES: tuple[Rule, ...] = (*DEPENDENCE_RULES, independent_by_strong_union, independent_by_triangle)  # [Sec. 4.6]
MIRRORED_RULES: tuple[Rule, ...] = (*RULES, independent_by_mirrored_triangle)


def says_dependent(rule: int) -> bool:
    """Whether the rule of this number, counted from 1, gives dependences."""
    return 0 < rule <= len(DEPENDENCE_RULES)


class KnowledgeBase:
    """K and its rules: the `Knowledge` for judges that do not reason themselves."""

    def __init__(self, n_variables: int, rules: Sequence[Rule]) -> None:
        self._known, self._rules = Answers(n_variables), rules
        self._about: tuple[int, Bits] = (-1, 0)
        self._open: Bits = 0  # for that x and z: the y that no rule answers, as was found before

    def implied(self, x: int, y: int, z: VarSet) -> int:
        """The number of the first rule that answers, counted from 1; 0 where none does."""
        return self._look_up(x, y, self._known.bits(z))[0]

    def infer(self, x: int, y: int, z: VarSet) -> int:
        """The same; what the rule says is known from now on."""
        rule, a = self._look_up(x, y, self._known.bits(z))
        if rule:
            self._enter(x, y, a, independent=not says_dependent(rule))  # lines 13, 21; to strong union no news
        return rule

    def learn(self, x: int, y: int, z: VarSet, independent: bool) -> None:
        """Enter what the judge said."""
        self._enter(x, y, self._known.bits(z), independent)

    def _look_up(self, x: int, y: int, z: Bits) -> tuple[int, Bits]:
        """The first rule that knows the answer, and the set for which it knows it."""
        if self._about != (x, z):
            self._about, self._open = (x, z), 0
        if self._open >> y & 1:
            return 0, 0
        first = 0 if self._known.near(x, z) else len(DEPENDENCE_RULES)
        for number in range(first, len(self._rules)):
            a = self._rules[number](self._known, x, y, z)
            if a is not None:
                return number + 1, a
        self._open |= 1 << y
        return 0, 0

    def _enter(self, x: int, y: int, a: Bits, independent: bool) -> None:
        """Enter an answer; an independence may imply more of x, but only towards those that y depends on."""
        self._known.add(x, y, a, independent)
        self._open = self._open & ~(self._known.partners[y] | 1 << y) if independent else 0


class Answers:
    """The knowledge base K: for each pair, the sets given which it was found dependent, or independent.

    Attributes
    ----------
    dependent, independent
        For each x: from y to the sets of the pair, in the order in which they came; K_xy and K_yx are one.
    partners, strangers
        For each x: the y with a set in `dependent`, with a set in `independent`.
    """

    def __init__(self, n_variables: int) -> None:
        self.dependent: list[dict[int, tuple[Bits, ...]]] = [{} for _ in range(n_variables)]
        self.independent: list[dict[int, tuple[Bits, ...]]] = [{} for _ in range(n_variables)]
        self.partners, self.strangers = [0] * n_variables, [0] * n_variables
        self._near: tuple[int, Bits, dict[int, Bits]] = (-1, 0, {})
        self._set: tuple[VarSet, Bits] = (frozenset(), 0)

    def add(self, x: int, y: int, a: Bits, independent: bool) -> None:
        """Enter x ⟂ y | a or x ⟂̸ y | a."""
        facts, others = (self.independent, self.strangers) if independent else (self.dependent, self.partners)
        sets = facts[x].get(y, ())
        if a not in sets:
            facts[x][y] = facts[y][x] = (*sets, a)  # a tuple of integers is of no concern to the garbage collector
            others[x] |= 1 << y
            others[y] |= 1 << x
            if not independent:
                self._add_near(x, y, a)

    def _add_near(self, x: int, y: int, a: Bits) -> None:
        """Keep what was last said about the dependences of x."""
        last_x, z, last = self._near
        if x == last_x and a & z == z:
            self._near = (x, z, dict(sorted(({y: a} | last).items())))
        elif x != last_x:
            self._near = (-1, 0, {})

    def near(self, x: int, z: Bits) -> dict[int, Bits]:
        """Each w with x ⟂̸ w | a for some a ⊇ z, by index, and the first such a: without any, no dependence is implied.

        While x is examined z grows, and a w that drops out does not come back: the next answer is within the last.
        """
        last_x, last_z, last = self._near
        if z == last_z and x == last_x:
            return last
        dependent, found = self.dependent[x], {}
        for w in last if x == last_x and last_z & z == last_z else members(self.partners[x] & ~z):
            a = first_above(dependent[w], z)
            if a is not None:
                found[w] = a
        self._near = (x, z, found)
        return found

    def bits(self, z: VarSet) -> Bits:
        """The set as an integer; the last one is kept, for a scan asks about the same set many times."""
        if z is not self._set[0]:
            self._set = (z, sum(1 << v for v in z))
        return self._set[1]


def first_above(sets: Iterable[Bits], z: Bits) -> Bits | None:
    """The first of the sets that contains z."""
    for a in sets:
        if a & z == z:
            return a
    return None


def first_within(sets: Iterable[Bits], z: Bits) -> Bits | None:
    """The first of the sets that is contained in z."""
    for a in sets:
        if a | z == z:
            return a
    return None


def members(variables: Bits) -> Iterator[int]:
    """The variables of a set, in ascending order."""
    while variables:
        lowest = variables & -variables
        yield lowest.bit_length() - 1
        variables ^= lowest
