"""The evidence behind one pair, asked of the data anew with the judge that the method met."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from mnlearn.algorithms._separator_phase import price
from mnlearn.algorithms._separators import Separators
from mnlearn.data import Dataset
from mnlearn.errors import MnlearnError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.output._ranking import named_edge, pair_support
from mnlearn.output.learned import Learned
from mnlearn.output.why import PairTest, ScoreDifference, SeparatorEvidence, SeparatorOdds, Why
from mnlearn.pipeline._methods import Plan
from mnlearn.pipeline._tests import make_test
from mnlearn.protocols import EvidenceScore, ExplainedTest, Question, Score, VarSet


def explain(learned: Learned, edge: Edge, chosen: Plan, judge: Any, data: Dataset) -> Why:
    """All that can be said about a pair, given the network around it."""
    u, v = edge
    pair = named_edge(learned, edge, (pair_support(learned) or learned.result.support).get(edge))
    odds = None
    if chosen.method == "sep":
        odds = _separators(learned, edge, judge.with_three_way(learned.settings.get("effort") == "thorough"))
    by_score = chosen.named.judge == "score" and chosen.method != "sep"
    return Why(
        x=pair.u,
        y=pair.v,
        method=learned.method,
        edge=learned.graph.has_edge(u, v),
        support=pair.support,
        support_scale=learned.support_scale,
        probability=pair.probability,
        frequency=pair.frequency,
        tests=(*_recalled(learned, edge), *_asked(learned, edge, _test(chosen, judge, data))),
        score=_score(str(chosen.judge), judge, learned.graph, edge) if by_score else None,
        separators=odds,
    )


def _recalled(learned: Learned, edge: Edge) -> Iterator[PairTest]:
    """What the search asked about the pair, if it kept its questions."""
    for asked in learned.trace or ():
        if {asked.x, asked.y} == set(edge):
            yield _remembered(learned, asked)


def _remembered(learned: Learned, asked: Question) -> PairTest:
    """One line of a trace."""
    test = str(learned.settings.get("test", "test"))
    given = _names(learned, asked.z)
    return PairTest(given, test, asked.independent, asked.log_support, asked=asked.phase, source=asked.source)


def _test(chosen: Plan, judge: Any, data: Dataset) -> ExplainedTest | None:
    """The test that the method asked; for methods that ask none, the one that suits the data."""
    if chosen.named.judge == "test" and isinstance(judge, ExplainedTest):
        return judge
    try:
        return make_test(None, data)
    except MnlearnError:  # variables of several types: there is no test for all of them
        return None


def _asked(learned: Learned, edge: Edge, test: ExplainedTest | None) -> Iterator[PairTest]:
    """The pair given nothing, and given the other neighbours of either end; each set once."""
    if test is None:
        return
    u, v = edge
    blankets = (learned.graph.neighbors(x) - {u, v} for x in edge)
    for z in dict.fromkeys((frozenset(), *blankets)):
        found = test.evidence(u, (v,), z)
        support = found.log_independent if found.log_p is None else found.log_p
        log_support, statistic, dof = (
            None if n is None else float(n[0]) for n in (support, found.statistic, found.dof)
        )
        given, independent = _names(learned, z), bool(found.independent[0])
        yield PairTest(given, test.name, independent, log_support, statistic, dof)


def _score(name: str, score: Score, graph: Graph, edge: Edge) -> ScoreDifference:
    """The score with the edge and without."""
    other = graph.flip(*edge)
    present, absent = (graph, other) if graph.has_edge(*edge) else (other, graph)
    return ScoreDifference(name, float(score(present)), float(score(absent)))


def _separators(learned: Learned, edge: Edge, judge: EvidenceScore) -> SeparatorOdds:
    """ev(x, y | sep(x; y)) from both sides, and k for one edge more than are expected besides."""
    graph, (u, v) = learned.graph, edge
    n = graph.n_variables
    separators = Separators(graph)
    sides = []
    for x, y in ((u, v), (v, u)):
        z = separators.of(x, y)
        (found,) = judge.pairs([x], [z], [[y]], fit_above=-inf)
        sides.append(SeparatorEvidence(learned.names[x], _names(learned, z), float(found.log_factor[0])))
    expected = learned.cost.get("expected_edges", graph.n_edges)
    others = max(0.0, expected - graph.has_edge(u, v))
    return SeparatorOdds(tuple(sides), price(others, n * (n - 1) // 2))


def _names(learned: Learned, variables: VarSet) -> tuple[str, ...]:
    return tuple(learned.names[x] for x in sorted(variables))
