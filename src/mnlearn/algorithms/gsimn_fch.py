"""GSIMN-FCH: GSIMN with every consequence drawn.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09, Sec. 5.1.1 and Algorithm 6].
GSIMN infers in one step. GSIMN-FCH chains forward after each test until the axioms of undirected graphoids (their
Eq. 1) and the contrapositives give nothing new. It shows how little GSIMN's two triangle rules leave unused. It is
limited to small n, since it stores a value for every pair given every set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from mnlearn.algorithms.blankets import CountedBlanketTest, InferenceTest
from mnlearn.algorithms.counted import AHEAD, check_ahead
from mnlearn.algorithms.gsmn import RULES_OF_ALGORITHM_3, Algorithm3
from mnlearn.algorithms.screening import CandidateRule, check_rule
from mnlearn.errors import InputError, true_or_false
from mnlearn.protocols import SILENT, IndependenceTest, Monitor, Result, VarSet, Verdict

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
