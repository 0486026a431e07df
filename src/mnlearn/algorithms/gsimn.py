"""GSIMN: grow-shrink inference of Markov networks.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09].
The order of the variables is that of GSMN* (gsmn.py). New here is the inference: a pair is tested on the data only if
earlier answers do not imply the result  [JAIR09, Sec. 4.5].

Lines 11 and 19 of Algorithm 5 let w range over the conditioning set; a set that contains w cannot condition a
statement about w, so here, as the text of Section 4.5 has it, w is any variable.

The rules are in `native/blankets/knowledge_base.cpp`. A judge that runs whole phases natively applies them itself; any
other is asked test by test.

GSIMN-FCH: GSIMN with every consequence drawn.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09, Sec. 5.1.1 and Algorithm 6].
GSIMN infers in one step. GSIMN-FCH chains forward after each test until the axioms of undirected graphoids (their
Eq. 1) and the contrapositives give nothing new. It shows how little GSIMN's two triangle rules leave unused. It is
limited to small n, since it stores a value for every pair given every set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from mnlearn.algorithms.blankets import CountedBlanketTest, InferenceTest
from mnlearn.algorithms.counted import AHEAD, Marginals, check_ahead
from mnlearn.algorithms.gsmn import RULES_OF_ALGORITHM_3, Algorithm3
from mnlearn.algorithms.screening import CandidateRule, check_rule
from mnlearn.errors import InputError, true_or_false
from mnlearn.graphs.knowledge import RULES, knowledge_base, says_dependent
from mnlearn.protocols import SILENT, IndependenceTest, Knowledge, Monitor, Result, VarSet, Verdict


@dataclass(frozen=True, kw_only=True)
class GSIMN:
    """Grow-shrink search that tests only the pairs whose answer no earlier one implies.

    Parameters
    ----------
    propagation
        Whether the blanket of a variable examined before decides about x (lines 1-6). Without it every pair is
        decided from both ends, and joined when either end finds the other.
    skip_marginal
        Whether two marginally independent variables count as independent given any set (line 22 of Algorithm 3).
    mirrored
        Whether independence is also inferred by the triangle rule with x and y exchanged. The rule is sound in both
        directions; Algorithm 5 prints one.
    seed_dependences
        Whether the knowledge base starts with the dependences of the initial phase. The paper starts with none. The
        independences are never used: on data they delete true edges.
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order, inferred answers with their rule.
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Other pairs are not tested.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Where several instances of a triangle rule apply, the w with the smallest index is taken. With a separation oracle
    and average degree 8 about 60 % of the weighted tests of GSMN* remain  [JAIR09, Fig. 6].

    Candidates are used as by GSMN*; a second run keeps the knowledge of the first. The knowledge base of a judge that
    infers natively has 4.25 bytes for each of n² pairs with candidates, too: for many variables use GSMN*.

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
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(
            propagation=self.propagation,
            skip_marginal=self.skip_marginal,
            mirrored=self.mirrored,
            seed_dependences=self.seed_dependences,
            keep_trace=self.keep_trace,
        )
        check_ahead(self.ahead)
        check_rule(self.candidates)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure: Algorithm 3 of [JAIR09] with the test of Algorithm 5."""
        names = RULES if self.mirrored else RULES[:-1]
        all_rules = (*RULES_OF_ALGORITHM_3, *names)
        counted = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, rules=all_rules)
        known = counted.use_knowledge(names, mirrored=self.mirrored) or knowledge_base(
            judge.n_variables, mirrored=self.mirrored
        )
        test = Algorithm5(counted, known, names)
        search = Algorithm3(counted, test, propagation=self.propagation, skip_marginal=self.skip_marginal)
        return search.run(self, judge, monitor, *([test.learn_dependences] if self.seed_dependences else []))


class Algorithm5(InferenceTest):
    """Test of GSIMN: infer the answer by a rule, else test on the data  [JAIR09, Algorithm 5].

    Lines 1-6, propagation, are part of the grow and shrink phases (`InferenceTest`).
    """

    def __init__(self, test: CountedBlanketTest, known: Knowledge, rules: Sequence[str]) -> None:
        self._test, self._known, self._rules = test, known, ("", *rules)

    def learn_dependences(self, answers: Marginals) -> None:
        """Add the dependences of the initial phase to the knowledge base."""
        for x, y in answers.dependences().tolist():
            self._known.learn(x, y, frozenset(), independent=False)

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Decide about x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""
        rule = self._known.infer(x, y, z)  # lines 7-22
        if rule:
            return self._inferred(x, y, z, rule)
        verdict = self._test(x, y, z, self._open(x, upcoming, z))  # line 24
        self._known.learn(x, y, z, bool(verdict.independent))  # line 25
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


MAX_VARIABLES = 16  # about 20 seconds; each further variable takes two to three times as long
RULE = "forward_chaining"
Sets: TypeAlias = int  # of one pair: bit z, with the set z as a binary number, is set if the statement holds given z


@dataclass(frozen=True, kw_only=True)
class GSIMNFCH:
    """GSIMN with all consequences of all earlier answers; at most 16 variables.

    Parameters
    ----------
    skip_marginal
        Whether two marginally independent variables count as independent given any set (line 22 of Algorithm 3).
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order, inferred answers included.
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Other pairs are not tested.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, before any test, if there are fewer than 2 or more than 16
        variables.

    Notes
    -----
    The axioms are used for single variables: a statement about a set is a conjunction of these (decomposition). A known
    answer never changes: where answers on data contradict one another, the first one stands, and dependences are
    derived before independences. Time and memory grow as n² 2^n and more.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> result = GSIMNFCH().learn(SeparationOracle(cycle(5)))
    >>> result.graph == cycle(5), result.cost["main_asked"]
    (True, 11)
    """

    skip_marginal: bool = True
    ahead: int = AHEAD
    keep_trace: bool = False
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(skip_marginal=self.skip_marginal, keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_rule(self.candidates)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure: Algorithm 3 of [JAIR09] with the test of Algorithm 6."""
        rules = (*RULES_OF_ALGORITHM_3, RULE)
        counted = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, rules=rules)
        if counted.n_variables > MAX_VARIABLES:
            raise InputError(
                f"judge must know at most {MAX_VARIABLES} variables for complete forward chaining; got "
                f"{counted.n_variables}. Use GSIMN, which infers nearly as much for any number of them."
            )
        search = Algorithm3(counted, Algorithm6(counted), propagation=True, skip_marginal=self.skip_marginal)
        return search.run(self, judge, monitor)


class Algorithm6(InferenceTest):
    """Test of GSIMN-FCH: look up the closure of all earlier answers, else test on the data  [JAIR09, Algorithm 6]."""

    def __init__(self, test: CountedBlanketTest) -> None:
        self._test, self._known = test, Closure(test.n_variables)

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Decide about x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""
        known = self._known.independent(x, y, z)  # lines 1-3
        if known is not None:
            self._test.record_inferred(x, (y,), z, independent=known, rule=RULE)
            return Verdict(known, None, RULE)
        verdict = self._test(x, y, z, (u for u in upcoming if self._known.independent(x, u, z) is None))  # line 4
        self._known.learn(x, y, z, verdict.independent)  # lines 5-6
        return verdict


class Closure:
    """All consequences of the answers so far, by the axioms of [JAIR09, Eq. 1] for single variables.

    For each pair one integer holds the sets given which it is independent, another those given which it is dependent.
    Adding w to all sets at once is a shift by 2^w, combining statements given equal sets a bitwise and.
    """

    def __init__(self, n_variables: int) -> None:
        self._n = n_variables
        every = (1 << (1 << n_variables)) - 1
        # The sets that contain v: alternating runs of 2^v zeros and 2^v ones.
        self._with = [every // ((1 << (1 << v)) + 1) << (1 << v) for v in range(n_variables)]
        self._without = [every ^ with_v for with_v in self._with]
        self._independent: list[list[Sets]] = [[0] * n_variables for _ in range(n_variables)]
        self._dependent: list[list[Sets]] = [[0] * n_variables for _ in range(n_variables)]
        self._changed = False

    def independent(self, x: int, y: int, z: VarSet) -> bool | None:
        """Return whether x ⟂ y | z, or None if that is unknown."""
        place = sum(1 << v for v in z)
        if self._independent[x][y] >> place & 1:
            return True
        return False if self._dependent[x][y] >> place & 1 else None

    def learn(self, x: int, y: int, z: VarSet, independent: bool) -> None:
        """Add an answer and all its consequences with the earlier ones."""
        sets = 1 << sum(1 << v for v in z)
        (self._add_independence if independent else self._add_dependence)(x, y, sets)
        self._changed = True
        while self._changed:
            self._changed = False
            self._strong_union()
            self._transitivity()
            self._intersection()

    def _strong_union(self) -> None:
        """Apply: x ⟂ y | z gives x ⟂ y | z ∪ w; x ⟂̸ y | z ∪ w gives x ⟂̸ y | z."""
        for x, y, w in permutations(range(self._n), 3):
            if x < y:
                self._add_dependence(x, y, (self._dependent[x][y] & self._with[w]) >> (1 << w))
                self._add_independence(x, y, (self._independent[x][y] & self._without[w]) << (1 << w))

    def _transitivity(self) -> None:
        """Apply: x ⟂̸ w | z and w ⟂̸ y | z give x ⟂̸ y | z; x ⟂̸ w | z and w ⟂ y | z give x ⟂ y | z."""
        for w, x, y in permutations(range(self._n), 3):
            if x < y:
                self._add_dependence(x, y, self._dependent[x][w] & self._dependent[w][y])
            self._add_independence(x, y, self._dependent[x][w] & self._independent[w][y])

    def _intersection(self) -> None:
        """Apply: x ⟂ y | z ∪ w and x ⟂ w | z ∪ y give x ⟂ {y, w} | z; if that is false, so is one of the two."""
        for x, y, w in permutations(range(self._n), 3):
            given_y = (self._independent[x][w] & self._with[y]) >> (1 << y)
            if given_y:
                neither = given_y & (self._dependent[x][y] | self._dependent[x][w])
                self._add_dependence(x, y, neither << (1 << w))
                given_w = (self._independent[x][y] & self._with[w]) >> (1 << w)
                self._add_independence(x, y, given_w & given_y)
                self._add_independence(x, w, given_w & given_y)

    def _add_dependence(self, x: int, y: int, sets: Sets) -> None:
        """Add dependences of x and y, except where they are known to be independent."""
        known = self._dependent[x][y]
        if sets & ~(known | self._independent[x][y]):
            self._dependent[x][y] = self._dependent[y][x] = known | sets & ~self._independent[x][y]
            self._changed = True

    def _add_independence(self, x: int, y: int, sets: Sets) -> None:
        """Add independences of x and y, except where they are known to be dependent."""
        known = self._independent[x][y]
        if sets & ~(known | self._dependent[x][y]):
            self._independent[x][y] = self._independent[y][x] = known | sets & ~self._dependent[x][y]
            self._changed = True
