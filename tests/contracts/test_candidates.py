"""Contract of candidates: every learner that takes them, with closed lists and with screens."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import GSIMN, GSIMNFCH, GSMN, HHCMN, PC, GSMNStar
from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.mbs import MBS
from mnlearn.algorithms.regularized import L1LR
from mnlearn.algorithms.screening import Screening
from mnlearn.data import Dataset, read
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, random_graph
from mnlearn.graphs.candidates import Candidates, every_pair, keys_of
from mnlearn.independence import BayesianTest, ChiSquare, GTest, PartialCorrelation, SeparationOracle
from mnlearn.independence.information import CountedInformation, GaussianInformation, RowInformation
from mnlearn.protocols import Result
from mnlearn.scores import MPL, BJPScore, ExtendedBIC, IBScore, L1Logistic
from mnlearn.scores.lasso import EBICLasso
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.row_data import Rows

from references.judges import Audited

N, ROWS = 6, 150


@cache
def data(seed: int = 0, n: int = N) -> Dataset:
    """Return binary data of a random tree."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, ROWS))
    for x in range(1, n):
        copied = rng.random(ROWS) < 0.6
        codes[x, copied] = codes[rng.integers(0, x), copied]
    return Dataset.from_codes(list(codes), cards=[2] * n)


@cache
def numbers(seed: int = 0) -> Dataset:
    """Return continuous data of a random tree."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(N, ROWS))
    for x in range(1, N):
        values[x] += 0.8 * values[rng.integers(0, x)]
    return read({f"v{x}": column for x, column in enumerate(values)})


JUDGES: dict[str, Any] = {
    "chi2": lambda: ChiSquare(Counts(data())),
    "g2": lambda: GTest(Counts(data())),
    "bayes": lambda: BayesianTest(Counts(data())),
    "pcor": lambda: PartialCorrelation(Moments(numbers())),
    "oracle": lambda: SeparationOracle(random_graph(N, 2, seed=1)),
    "audited": lambda: Audited(ChiSquare(Counts(data()))),
}
BY_TESTS: dict[str, Any] = {
    "gsmn": GSMN(),
    "gsmn*": GSMNStar(),
    "gsmn*-plain": GSMNStar(propagation=False, skip_marginal=False),
    "gsmn*-trace": GSMNStar(keep_trace=True),
    "gsimn": GSIMN(),
    "gsimn-seeded": GSIMN(seed_dependences=True, skip_marginal=False),
    "gsimn-fch": GSIMNFCH(),
    "hhc-mn": HHCMN(),
    "hhc-mn-or": HHCMN(combine="or", ahead=1),
    "hhc-mn-trace": HHCMN(keep_trace=True),
    "pc": PC(),
    "pc-one-by-one": PC(ahead=1),
    "pc-moral": PC(output="moral"),
    "pc-conservative": PC(output="moral", colliders="conservative"),
}
OTHERS: dict[str, tuple[Any, Any]] = {
    "aracne": (ARACNE(), lambda: CountedInformation(Counts(data()))),
    "aracne-fdr": (ARACNE(correction="fdr", tolerance=0.1), lambda: CountedInformation(Counts(data()))),
    "aracne-known": (
        ARACNE(required=((0, 5),), forbidden=((1, 2),)),
        lambda: GaussianInformation(Moments(numbers())),
    ),
    "aracne-rows": (ARACNE(correction="none"), lambda: RowInformation(Rows(numbers()))),
    "ib": (IBMAPHC(), lambda: IBScore(BayesianTest(Counts(data())))),
    "bjp": (IBMAPHC(patience=3), lambda: BJPScore(BayesianTest(Counts(data())))),
    "hillclimb": (HillClimb(), lambda: MPL(Counts(data()))),
    "hillclimb-tabu": (HillClimb(tabu=3, forbidden=((0, 3),)), lambda: MPL(Counts(data()))),
    "mbs": (MBS(), lambda: ExtendedBIC(Counts(data()))),
    "mbs-and": (MBS(combine="and"), lambda: MPL(Counts(data()))),
    "exhaustive": (Exhaustive(), lambda: MPL(Counts(data()))),
    "l1lr": (L1LR(), lambda: L1Logistic(data())),
    "lasso": (L1LR(combine="or", required=((0, 4),)), lambda: EBICLasso(Moments(numbers()))),
}
PAIRS = {f"{name}, {judge}": (learner, make) for name, learner in BY_TESTS.items() for judge, make in JUDGES.items()}
EVERY = PAIRS | OTHERS
SCREENED = [name for name in EVERY if name not in ("l1lr", "lasso")]  # these judges weigh no pairs


def assert_same(one: Result, other: Result) -> None:
    """Equal in all but the time it took and the stated candidates."""
    costs = [{key: value for key, value in r.cost.items() if key != "seconds"} for r in (one, other)]
    assert costs[0] == costs[1]
    for field in fields(one):
        if field.name == "separators" and one.separators is not None:
            assert dict(one.separators) == dict(other.separators or {})
        elif field.name not in ("cost", "settings"):
            assert getattr(one, field.name) == getattr(other, field.name), field.name


@pytest.mark.parametrize("name", EVERY)
def test_all_pairs_as_candidates_change_nothing(name: str) -> None:
    learner, judge = EVERY[name]
    assert_same(learner.learn(judge()), replace(learner, candidates=every_pair(N)).learn(judge()))


@pytest.mark.parametrize("name", EVERY)
@given(chosen=st.sets(st.sampled_from(list(combinations(range(N), 2)))))
@settings(max_examples=6)
def test_no_edge_is_outside_a_closed_list(name: str, chosen: set[tuple[int, int]]) -> None:
    learner, judge = EVERY[name]
    listed = Candidates(N, keys_of(N, np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2)))
    found = replace(learner, candidates=listed).learn(judge())
    assert set(found.graph.edges) <= chosen | set(getattr(learner, "required", ()))
    assert found.settings["candidates"] is listed


@pytest.mark.parametrize("name", SCREENED)
def test_a_screen_of_all_partners_finds_the_same_edges(name: str) -> None:
    learner, judge = EVERY[name]
    found = replace(learner, candidates=Screening(k=N)).learn(judge())
    assert found.graph == learner.learn(judge()).graph


@pytest.mark.parametrize("name", BY_TESTS)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), share=st.floats(0, 1), extra=st.floats(0, 1))
@settings(max_examples=15)
def test_the_oracle_gives_the_true_graph_among_candidates_that_have_it(
    name: str, seed: int, n: int, share: float, extra: float
) -> None:
    truth = random_graph(n, share * (n - 1), seed)
    rng = np.random.default_rng(seed)
    others = [pair for pair in combinations(range(n), 2) if rng.random() < extra]
    listed = Candidates(n, keys_of(n, np.array([*truth.edges, *others], dtype=np.int64).reshape(-1, 2)))
    assert replace(BY_TESTS[name], candidates=listed).learn(SeparationOracle(truth)).graph == truth


@pytest.mark.parametrize("name", BY_TESTS)
def test_the_oracle_gives_a_sparse_graph_by_a_screen(name: str) -> None:
    truth = random_graph(14, 2, seed=3)
    most = int(truth.degrees().max())
    found = replace(BY_TESTS[name], candidates=Screening(k=most)).learn(SeparationOracle(truth))
    assert found.graph == truth
    assert found.cost["initial_asked"] <= 2 * 14 * 13 / 2


@pytest.mark.parametrize("name", ["gsmn*", "hhc-mn", "pc", "pc-moral"])
@given(order=st.permutations(range(10)))
@settings(max_examples=6)
def test_the_order_of_the_columns_does_not_matter(name: str, order: list[int]) -> None:
    one, moved = data(5, 10), data(5, 10).select([data(5, 10).names[x] for x in order])
    learner = replace(BY_TESTS[name], candidates=Screening(k=3))
    found, again = (learner.learn(GTest(Counts(some))).graph for some in (one, moved))
    assert again.relabel(order) == found


@pytest.mark.parametrize("name", EVERY)
def test_candidates_of_other_variables_are_refused(name: str) -> None:
    learner, judge = EVERY[name]
    with pytest.raises(InputError, match="candidates must be pairs of the 6 variables"):
        replace(learner, candidates=every_pair(N + 1)).learn(judge())
    with pytest.raises(InputError, match="candidates must be Candidates, a Screening or None; got a list"):
        replace(learner, candidates=[(0, 1)])


def test_separating_sets_of_first_separations_are_refused_with_candidates() -> None:
    with pytest.raises(InputError, match="colliders='sepset' needs a separating set of every pair"):
        PC(output="moral", colliders="sepset", candidates=Screening())


class Stop:
    """A monitor that cancels at the k-th time it is asked."""

    def __init__(self, after: int) -> None:
        self.left = after

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        pass

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("name", [name for name in SCREENED if "audited" not in name])
@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_a_screened_search_can_be_cancelled(name: str, after: int) -> None:
    learner, judge = EVERY[name]
    found = replace(learner, candidates=Screening(k=2)).learn(judge(), Stop(after))
    assert isinstance(found.graph, Graph)
    if after == 0:
        assert not found.converged
