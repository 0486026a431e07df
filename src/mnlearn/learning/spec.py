"""How a network is learned, but for the data: checked once, then cooked as often as there are samples."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, cast

from mnlearn.algorithms.separating_sets import Separators
from mnlearn.algorithms.separator_phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, MnlearnError, check_name
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.learning.counting import Counting
from mnlearn.learning.inputs import (
    AS_IT_COMES,
    Reading,
    check_apart,
    edges_by_name,
    graph_over,
    is_continuous,
    load_data,
    named_edges,
)
from mnlearn.learning.judges import make_score, make_test
from mnlearn.learning.registry import METHODS, Choice, Plan, choose, effort_for, method_settings, plan, score_of_mbs
from mnlearn.protocols import SILENT, EvidenceScore, ExplainedTest, Learner, Monitor, Question, Score, VarSet
from mnlearn.results.edges import named_edge, pair_support
from mnlearn.results.explain import PairTest, ScoreDifference, SeparatorFactor, SeparatorOdds, Why
from mnlearn.results.learned import Learned

_log = logging.getLogger("mnlearn.learning")


@dataclass(frozen=True)
class Recipe:
    """What `learn` was told, but for the data.

    Attributes
    ----------
    method, test, score
        By name; None for what suits the data.
    required, forbidden
        Pairs of names.
    settings
        Those of the method and of its judge.
    reading, columns, discretize, bins
        How data become a data set.

    Raises
    ------
    InputError
        If the method does not take what it was told: before any data are read.
    """

    method: str | None = None
    test: str | None = None
    score: str | None = None
    required: tuple[Any, ...] = ()
    forbidden: tuple[Any, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None
    columns: Sequence[str] | None = None
    discretize: Literal["width", "frequency"] | None = None
    bins: int | None = None

    def __post_init__(self) -> None:
        """Make the learner once, so that settings that break a rule are refused."""
        self._learner(self._plan(choose(self.method, self.test, self.settings, None)))

    def read(self, data: object) -> Dataset:
        """The data as they were read for the first network."""
        reading: Reading = self.reading or AS_IT_COMES
        return load_data(data, self.columns, reading, self.discretize, self.bins)

    def learn(
        self,
        dataset: Dataset,
        *,
        n_jobs: int | None = None,
        monitor: Monitor = SILENT,
        counting: Counting | None = None,
    ) -> Learned:
        """Learn from a data set that was read already; `counting` says more than how many threads may count."""
        choice = choose(self.method, self.test, self.settings, dataset)
        is_continuous(dataset, choice.method)  # a mixture is refused, in the method's name
        chosen = self._plan(choice, dataset)
        learner, told = self._by_index(self._learner(chosen), chosen, dataset)
        named, judge = judge_of(chosen, dataset, counting or Counting(n_jobs))
        said = None if self.method is not None else choice.sentence(named, learner, dataset)
        if said is not None:
            _log.info("%s", said)
        found = learner.learn(judge, monitor)
        described = {
            "method": chosen.method,
            **named,
            **chosen.of_judge,
            **found.settings,
            **told,
            **self._how_read(),
        }
        result = replace(found, settings=described)
        again = self._fixed(chosen, learner)
        return Learned(chosen.method, dataset.names, result, dataset, choice=said, recipe=again, n_rows=dataset.n_rows)

    def told(self) -> object:
        """All of it in words that stay the same from run to run."""
        asked = {**vars(self), "settings": sorted(self.settings.items(), key=repr)}
        return repr(sorted(asked.items()))

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """The evidence behind one pair of a network that was learned so."""
        chosen = self._plan(choose(self.method, self.test, self.settings, dataset), dataset)
        return explain(learned, edge, chosen, judge_of(chosen, dataset, Counting())[1], dataset)

    def _fixed(self, chosen: Plan, learner: Learner[Any]) -> Recipe:
        """The same with nothing left to choose, for samples of the same data."""
        effort = {"effort": cast(Any, learner).effort} if chosen.method == "sep" else {}
        return replace(self, method=chosen.method, settings={**self.settings, **effort})

    def _plan(self, choice: Choice, dataset: Dataset | None = None) -> Plan:
        """The settings sorted out for the method; constraints that it cannot respect are refused."""
        score = self.score
        check_name("method", choice.method, METHODS)
        if choice.method == "mbs" and score is None and dataset is not None:
            score = score_of_mbs(self.settings, categorical=any(dataset.cards))
        chosen = plan(choice.method, self.test, score, self.settings)
        for name, pairs in (("required", self.required), ("forbidden", self.forbidden)):
            if pairs and name not in method_settings(chosen.method):
                able = ", ".join(other for other in METHODS if name in method_settings(other))
                raise InputError(
                    f"{name} is for methods that can respect it ({able}); {chosen.method} cannot. Drop {name}, or "
                    "choose another method."
                )
        return chosen

    def _learner(self, chosen: Plan) -> Learner[Any]:
        """The method with its settings, but for those that speak of variables."""
        return chosen.named.learner(**{name: value for name, value in chosen.own.items() if name != "start"})

    def _by_index(
        self, learner: Learner[Any], chosen: Plan, dataset: Dataset
    ) -> tuple[Learner[Any], dict[str, object]]:
        """The learner with all that was said by name put in indices, and the same in a form that can be said again."""
        names = dataset.names
        known = {"required": self.required, "forbidden": self.forbidden}
        edges = {n: edges_by_name(n, pairs, names) for n, pairs in known.items() if pairs}
        check_apart(edges, names)
        inside: dict[str, object] = dict(edges)
        told: dict[str, object] = {n: [list(pair) for pair in pairs] for n, pairs in known.items() if pairs}
        if chosen.method == "sep" and "effort" not in chosen.own:
            inside["effort"] = effort = effort_for(dataset.n_variables, chosen.own)
            if effort != "thorough" and self.method is not None:
                _log.info("no effort was named: using %s for %d variables", effort, dataset.n_variables)
        if chosen.own.get("start") is not None:
            start = graph_over(dataset, chosen.own["start"], "start")
            inside["start"], told["start"] = start, named_edges(start, names)
        return (replace(cast(Any, learner), **inside) if inside else learner), told

    def _how_read(self) -> dict[str, object]:
        """How the data were read, where that was said."""
        asked = {"columns": self.columns, **(self.reading or {}), "discretize": self.discretize, "bins": self.bins}
        return {option: value for option, value in asked.items() if value and value != "error"}


def recipe_of(options: Mapping[str, Any]) -> Recipe:
    """The recipe that the options of `learn`, or the settings of a result, stand for."""
    told = dict(options)
    reading: Any = {option: told.pop(option, usual) for option, usual in AS_IT_COMES.items()}
    reading["missing_values"] = tuple(reading["missing_values"])
    named: dict[str, Any] = {name: told.pop(name, None) for name in ("method", "test", "score")}
    pairs: dict[str, Any] = {name: pairs_given(told.pop(name, ())) for name in ("required", "forbidden")}
    how: dict[str, Any] = {name: told.pop(name, None) for name in ("columns", "discretize", "bins")}
    return Recipe(**named, **pairs, **how, reading=reading, settings=told)


def judge_of(chosen: Plan, dataset: Dataset, counting: Counting) -> tuple[dict[str, str], Any]:
    """The judge that the method meets, and what it is called, if it has a name."""
    settings = cast(Any, chosen.of_judge)
    if chosen.named.make_judge is not None:
        return {}, counting.judge(chosen.named.make_judge(dataset, **settings))
    if chosen.named.judge == "score":
        score = cast(str, chosen.judge)
        return {"score": score}, make_score(score, dataset, counting=counting, **settings)
    test = make_test(chosen.judge, dataset, counting=counting, **settings)
    return {"test": test.name}, test


def pairs_given(given: object) -> tuple[Any, ...]:
    """What was said, to be gone through more than once; what is no list is one wrong pair, and refused as such."""
    return tuple(given) if isinstance(given, Iterable) else (given,)


# The evidence behind one pair, asked of the data anew with the judge that the method met.


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
        sides.append(SeparatorFactor(learned.names[x], _names(learned, z), float(found.log_factor[0])))
    expected = learned.cost.get("expected_edges", graph.n_edges)
    others = max(0.0, expected - graph.has_edge(u, v))
    return SeparatorOdds(tuple(sides), price(others, n * (n - 1) // 2))


def _names(learned: Learned, variables: VarSet) -> tuple[str, ...]:
    return tuple(learned.names[x] for x in sorted(variables))
