"""One call of `learn`, resolved: the method with its settings, its judge, and how the data are read.

`resolve` checks the options once, before any data are read. A `LearnSpec` then learns from as many data sets as there
are, and every result keeps the one that it was learned by.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, cast

from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.algorithms.sep.phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, MnlearnError, check_name, iterates, tuple_of
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.separators import Separators
from mnlearn.independence.discrete import ChiSquare
from mnlearn.learning.custom import OwnJudge, own_name
from mnlearn.learning.inputs import (
    DataOptions,
    Transform,
    check_apart,
    check_mixture,
    check_transform,
    decide_transform,
    edges_by_name,
    graph_over,
    has_several_kinds,
    is_continuous,
    load_data,
    named_edges,
    split_options,
    transformed,
)
from mnlearn.learning.pairs import MOST_FOR_ALL_PAIRS, OPTIONS, CandidateOption, candidate_option, with_screen_of_data
from mnlearn.learning.registry import (
    METHODS,
    TEST_SETTINGS,
    TESTS,
    check_bears_gaps,
    check_setting,
    default_test,
    make_score,
    make_test,
    methods_by,
    named_or_own,
)
from mnlearn.protocols import SILENT, EvidenceScore, ExplainedTest, FittedPrior, Learner, Monitor, Score, VarSet
from mnlearn.results.edges import named_edge, pair_support
from mnlearn.results.explain import (
    MOST_LOW,
    PairTest,
    ScoreDifference,
    SeparatorFactor,
    SeparatorOdds,
    Why,
    words_of_test,
)
from mnlearn.results.learned import Learned
from mnlearn.statistics.opening import Counting, cost_of_gaps

_log = logging.getLogger("mnlearn.learning")

DEFAULT_METHOD = "sep"
"""Method of `learn` when none is given, for categorical and for continuous variables."""
DEFAULT_BY_TEST = "gsimn"
"""Method of `learn` when none is given, but a test or a setting of tests."""


@dataclass(frozen=True)
class LearnSpec:
    """How a network is learned, apart from the data; made by `resolve`.

    Attributes
    ----------
    method
        Its name.
    learner
        The learner with its settings, except those that name variables.
    test, score
        Names, or those of the caller; None for the default, which depends on the types of the variables.
    judge_settings
        Settings of the test, the score or the method's own judge.
    test_defaults
        Default test of categorical variables, and default settings of any test; `judge_settings` replace them.
    required, forbidden
        Pairs of names.
    start
        Graph to start from.
    reading
        Options of `load_data`.
    transform
        Transformation of continuous columns; "auto" until `decided` has seen the data.
    reason
        Why this method, where none was given; empty where the types of the variables are the reason.
    candidates
        Which pairs may be edges.
    """

    method: str
    learner: Learner[Any]
    test: str | OwnJudge | None = None
    score: str | OwnJudge | None = None
    judge_settings: Mapping[str, Any] = field(default_factory=dict)
    test_defaults: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[Any, ...] = ()
    forbidden: tuple[Any, ...] = ()
    start: Any = None
    reading: DataOptions = field(default_factory=DataOptions)
    transform: Transform = "auto"
    reason: str | None = None
    candidates: CandidateOption = field(default_factory=CandidateOption)

    def read(self, data: object) -> Dataset:
        """Read data by the options of this call."""
        return load_data(data, **self.reading)

    def decided(self, dataset: Dataset) -> LearnSpec:
        """Return this call with `transform` decided by the data, if it is "auto"."""
        if self._own is None:
            named = cast("str | None", self.test or self.score)
            if METHODS[self.method].takes_several_kinds(named):
                check_mixture(dataset)
            else:
                is_continuous(dataset, self.method)  # raises for a mixture
            check_bears_gaps(self.method, cast("str | None", self.score), dataset)
        if self.transform == "auto" and self.judge_settings.get("information") in ("rank", "kernel"):
            return replace(self, transform=None)  # aracne takes ranks itself
        return replace(self, transform=decide_transform(dataset, self.transform, say=True))

    def prepared(self, dataset: Dataset) -> Dataset:
        """Return the data that the judge sees, once `transform` is decided."""
        return transformed(dataset, self.transform)

    def fingerprint(self) -> str:
        """Return a string that is the same for the same options."""
        return repr(replace(self, judge_settings=dict(sorted(self.judge_settings.items()))))

    def learn(
        self,
        dataset: Dataset,
        *,
        n_jobs: int | None = None,
        monitor: Monitor = SILENT,
        counting: Counting | None = None,
    ) -> Learned:
        """Learn from a data set; `counting`, if given, replaces `n_jobs`."""
        spec = self.decided(dataset)
        return spec.learn_prepared(dataset, spec.prepared(dataset), counting or Counting(n_jobs), monitor)

    def learn_prepared(self, dataset: Dataset, prepared: Dataset, counting: Counting, monitor: Monitor) -> Learned:
        """Learn from a data set of which `prepared` is the result of `prepared`, once `transform` is decided."""
        learner, by_name = self._by_index(dataset)
        judge_settings, judge = self._judge(prepared, counting)
        rule = with_screen_of_data(getattr(learner, "candidates", None), judge, prepared, counting, monitor)
        learner = learner if rule is None else replace(cast(Any, learner), candidates=rule)
        choice = None if self.reason is None else self._choice(dataset, judge_settings)
        if choice is not None:
            _log.info("%s", choice)
        found = learner.learn(judge, monitor)
        if dataset.gaps:
            found = replace(found, cost={**found.cost, **cost_of_gaps(judge)})
        reading = {option: value for option, value in self.reading.items() if value and value != "error"}
        of_search = {name: value for name, value in found.settings.items() if name != "candidates"}  # by index
        if "k" in judge_settings:  # of the caller's judge: that of the screen is the default
            by_name.pop("k", None)
        settings = {"method": self.method, **judge_settings, **of_search, **by_name, **reading}
        if not all(dataset.cards):
            settings["transform"] = self.transform
        return Learned(
            self.method,
            dataset.names,
            replace(found, settings=settings),
            dataset,
            choice=choice,
            recipe=replace(self, reason=None),
            n_rows=dataset.n_rows,
        )

    def limits(self, dataset: Dataset) -> list[str]:
        """Return what the search leaves out because of the number of variables."""
        learner, n = self._by_index(dataset)[0], dataset.n_variables
        if hasattr(learner, "limits"):
            return [f"{self.method}: {limit}" for limit in learner.limits(n)]
        if self.candidates.given is not None or not self._has_candidates or n <= MOST_FOR_ALL_PAIRS:
            return []
        return [
            f"{self.method}: a screen chooses the pairs that may be edges, because there are more than "
            f"{MOST_FOR_ALL_PAIRS:,} variables: the 20 strongest partners of each, and those found on the way. "
            "candidates='all' takes all"
        ]

    @property
    def _has_candidates(self) -> bool:
        return "candidates" in METHODS[self.method].settings

    @property
    def _screens_itself(self) -> bool:
        """Whether the learner screens many variables without the option."""
        return isinstance(self.learner, SeparatorEvidence)

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """Return the evidence behind one pair of a network that was learned by this call."""
        used = self.prepared(dataset)
        settings, judge = self._judge(used, Counting())
        return _explain(learned, edge, settings.get("score"), judge, used)

    def sparse_edges(self, learned: Learned, dataset: Dataset) -> list[Edge]:
        """Return the edges with a test that breaks Cochran's rule, among those of `explain`; the worst first."""
        from mnlearn.learning.tests import low_expected

        if METHODS[self.method].judge != "test":
            return []
        _, judge = self._judge(dataset, Counting())
        if not isinstance(judge, ChiSquare):
            return []
        found = {e: [low_expected(judge, *e, z) or 0.0 for z in _given(learned.graph, e)] for e in learned.graph.edges}
        return sorted((edge for edge, low in found.items() if max(low) > MOST_LOW), key=lambda edge: -max(found[edge]))

    @property
    def _own(self) -> OwnJudge | None:
        """The test or score of the caller, if it is not one of this library."""
        return next((judge for judge in (self.test, self.score) if isinstance(judge, OwnJudge)), None)

    def _judge(self, dataset: Dataset, counting: Counting) -> tuple[dict[str, Any], Any]:
        """Return the judge of the learner with its settings, its name among them under "test" or "score"."""
        entry, settings = METHODS[self.method], self.judge_settings
        if entry.own_judge is not None:
            return {**settings}, counting.judge(entry.own_judge(dataset, **settings))
        if entry.score is not None:
            counted = any(dataset.cards) and not has_several_kinds(dataset)
            by_types = "mpl" if self.method == "mbs" and counted and "gamma" not in settings else entry.score
            score = self.score or by_types
            made = make_score(cast(Any, score), dataset, counting=counting, **settings)
            return {"score": own_name(score), **settings}, made
        test, settings = self._test_settings(dataset)
        tested = make_test(cast(Any, test), dataset, counting=counting, **settings)
        return {"test": own_name(test), **settings}, tested

    def _test_settings(self, dataset: Dataset) -> tuple[str | OwnJudge, dict[str, Any]]:
        """Return the name and the settings of the test: those given, then the defaults that the test accepts.

        A test of the caller has its own defaults, but a function has the level of the method.
        """
        defaults, given = self.test_defaults, self.judge_settings
        if isinstance(self.test, OwnJudge):
            level = {"alpha": defaults["alpha"]} if self.test.is_function and "alpha" in defaults else {}
            return self.test, {**level, **given}
        name = self.test or default_test(dataset, defaults.get("test", "chi2"))
        check_name("test", name, TESTS)
        accepted = set(TESTS[name].settings)
        if given.get("threshold") is not None:  # decides without a level
            accepted.discard("alpha")
        return name, {**{setting: value for setting, value in defaults.items() if setting in accepted}, **given}

    def _by_index(self, dataset: Dataset) -> tuple[Learner[Any], dict[str, object]]:
        """Return the learner with constraints and start by index, and these by name as a result states them."""
        names = dataset.names
        given = {"required": self.required, "forbidden": self.forbidden}
        edges = {option: edges_by_name(option, pairs, names) for option, pairs in given.items() if pairs}
        check_apart(edges, names)
        placed: dict[str, object] = dict(edges)
        by_name: dict[str, object] = {option: [list(pair) for pair in given[option]] for option in edges}
        if self.start is not None:
            start = graph_over(dataset, self.start, "start")
            placed["start"], by_name["start"] = start, named_edges(start, names)
        if self._has_candidates:
            rule = self.candidates.rule(names, screens_itself=self._screens_itself)
            by_name |= self.candidates.stated(rule, names)
            if rule is not None:
                placed["candidates"] = rule
        return (replace(cast(Any, self.learner), **placed) if placed else self.learner), by_name

    def _choice(self, dataset: Dataset, judge_settings: Mapping[str, Any]) -> str:
        """Return one sentence that says which method was chosen, and why."""
        effort, n = getattr(self.learner, "effort", None), dataset.n_variables
        test = words_of_test(judge_settings)
        how = f"{effort} effort" if test is None else f"the test {test}"
        reason = self.reason or f"the variables are {_kinds_in_words(dataset)}"
        size = f"{n:,} variables, {dataset.n_rows:,} rows"
        return f"no method was named: using {self.method} with {how}, because {reason} ({size})"


def _kinds_in_words(dataset: Dataset) -> str:
    """Return the kinds of all variables in words, and whether values are missing."""
    gaps = ", with missing values" if dataset.gaps else ""
    if not any(dataset.cards) or all(dataset.cards):
        ordered = set(dataset.kinds) <= {"ordinal"}
        numbers = "counts" if set(dataset.kinds) == {"count"} else "continuous"
        return (("ordinal" if ordered else "categorical") if any(dataset.cards) else numbers) + gaps
    return f"of several kinds{gaps}"


def resolve(options: Mapping[str, Any]) -> LearnSpec:
    """Check the options of `learn`, or the settings of a result, and choose what they leave open.

    Raises
    ------
    UnknownNameError
        If there is no such method or score.
    InputError
        If the method does not accept an option, or its value breaks a rule.
    """
    reading, settings = split_options(options)
    _fix_lists(reading)
    method, test, score = (settings.pop(name, None) for name in ("method", "test", "score"))
    transform = settings.pop("transform", "auto")
    check_transform(transform)
    pairs = {name: _pairs(settings.pop(name, ())) for name in ("required", "forbidden")}
    reason = None
    if method is None:
        method, reason = _chosen(test, settings)
    check_name("method", method, METHODS)
    test, score = _checked_judge(method, test, score)
    if method == "mbs" and score is None and not settings.keys().isdisjoint(("regularization", "choose")):
        score = "entropy"  # both belong to the score of the paper, which has no other penalty
    candidates = _taken_candidates(method, test if isinstance(test, OwnJudge) else score, settings)
    of_judge = _check_settings(method, test if isinstance(test, OwnJudge) else score, settings)
    _check_constraints(method, pairs)
    own = {name: value for name, value in settings.items() if name in METHODS[method].settings}
    start = own.pop("start", None)
    return LearnSpec(
        method,
        METHODS[method].learner(**own),
        test,
        score,
        of_judge,
        METHODS[method].test_defaults,
        **pairs,
        start=start,
        reading=reading,
        transform=transform,
        reason=reason,
        candidates=candidates,
    )


def _fix_lists(reading: DataOptions) -> None:
    """Turn the options that hold several names or values into tuples."""
    if reading.get("columns") is not None:
        reading["columns"] = tuple_of("columns", cast(Any, reading["columns"]), "names")
    if reading.get("names") is not None:
        reading["names"] = tuple_of("names", cast(Any, reading["names"]), "names")
    if "missing_values" in reading:
        reading["missing_values"] = tuple_of("missing_values", reading["missing_values"], "values")
    if "drop" in reading:
        reading["drop"] = tuple_of("drop", reading["drop"], "names")


def _chosen(test: object, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return the method when none is given, and the reason unless the types of the variables are it."""
    about_tests = ["test"] * (test is not None) + [name for name in settings if name in TEST_SETTINGS]
    if about_tests:
        return DEFAULT_BY_TEST, f"{about_tests[0]} is for methods that use tests"
    return DEFAULT_METHOD, ""


def _pairs(given: object) -> tuple[Any, ...]:
    """Return pairs as a tuple; what is not iterable counts as one pair, which `edges_by_name` refuses."""
    return tuple(given) if iterates(given) else (given,)


def _checked_judge(method: str, test: object, score: object) -> tuple[str | OwnJudge | None, str | OwnJudge | None]:
    """Return test and score; raise InputError for one that the method does not use."""
    entry = METHODS[method]
    for name, given in (("test", test), ("score", score)):
        if given is not None and entry.judge != name:
            raise InputError(
                f"{name} is for methods that use a {name} ({methods_by(name)}); {method} does not. Drop {name}, or "
                "choose another method."
            )
    by_test = None if test is None else named_or_own("test", test)
    by_score = None if score is None else named_or_own("score", score)
    if by_score is not None and by_score != entry.score and not entry.any_score:
        able = " or ".join(name for name, other in METHODS.items() if other.any_score)
        raise InputError(
            f"score must be {entry.score} for the method {method}; got {own_name(by_score)!r}. Drop it, or use the "
            f"method {able}, which accept any score."
        )
    return by_test, by_score


def _check_settings(method: str, named: str | OwnJudge | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the judge; raise InputError for one that neither it nor the method has."""
    entry = METHODS[method]
    score = named or entry.score
    accepted = score.settings if isinstance(score, OwnJudge) else entry.judge_settings(score)
    judge = {"score": f"its score {own_name(score or '')}", "test": "its test", "own": "its judge"}[entry.judge]
    also = f", and {judge} accepts {', '.join(sorted(accepted))}" if accepted else ""
    for name in settings:
        if name not in accepted:
            check_setting("method", method, name, sorted(entry.settings), also)
    return {name: value for name, value in settings.items() if name in accepted}  # mbs and ebic share gamma


def _check_constraints(method: str, pairs: Mapping[str, tuple[Any, ...]]) -> None:
    """Raise InputError for required or forbidden edges where the method has no such setting."""
    for name, given in pairs.items():
        if given and name not in METHODS[method].settings:
            able = ", ".join(other for other, entry in METHODS.items() if name in entry.settings)
            raise InputError(
                f"{name} is for methods that can respect it ({able}); {method} cannot. Drop {name}, or choose another "
                "method."
            )


def _taken_candidates(method: str, judge: str | OwnJudge | None, settings: dict[str, Any]) -> CandidateOption:
    """Take the candidates out of the settings; a k that is a setting of the caller's judge stays.

    Raise InputError where the method has no candidates.
    """
    given = {name: settings.pop(name, None) for name in OPTIONS}
    if given["k"] is not None and isinstance(judge, OwnJudge) and "k" in judge.settings:
        settings["k"], given["k"] = given["k"], None
    candidates = candidate_option(**given)
    if candidates and candidates.given != "all" and "candidates" not in METHODS[method].settings:
        able = ", ".join(other for other, entry in METHODS.items() if "candidates" in entry.settings)
        raise InputError(
            f"candidates is for methods that search among pairs ({able}); {method} takes all of them. Drop candidates, "
            "or choose another method."
        )
    return candidates


# Evidence behind one pair of a learned network.


def _explain(learned: Learned, edge: Edge, score: str | None, judge: Any, data: Dataset) -> Why:
    """Collect the evidence about a pair, given the network around it; `score` is the name of the judge if it is one."""
    u, v = edge
    pair = named_edge(learned, edge, (pair_support(learned) or learned.result.support).get(edge))
    test = _test(learned, judge, data)
    odds = None
    if learned.method == "sep":
        odds = _separators(learned, edge, judge.with_three_way(learned.settings.get("effort") == "thorough"))
    by_score = score is not None and learned.method != "sep"
    return Why(
        x=pair.u,
        y=pair.v,
        method=learned.method,
        edge=learned.graph.has_edge(u, v),
        support=pair.support,
        support_scale=learned.support_scale,
        probability=pair.probability,
        frequency=pair.frequency,
        tests=(*_traced(learned, edge, test), *_tested(learned, edge, test)),
        score=_score(str(score), judge, learned.graph, edge) if by_score else None,
        separators=odds,
    )


def _traced(learned: Learned, edge: Edge, test: ExplainedTest | None) -> Iterator[PairTest]:
    """Yield the tests of the pair in the trace of the search, if there is one."""
    from mnlearn.learning.tests import low_expected

    name = str(learned.settings.get("test", "test"))
    for step in learned.trace or ():
        if {step.x, step.y} == set(edge):
            found = PairTest(_names(learned, step.z), name, step.independent, step.log_support)
            low = low_expected(test, *edge, step.z) if step.source == "data" else None
            yield found._replace(asked=step.phase, source=step.source, low_expected=low)


def _test(learned: Learned, judge: Any, data: Dataset) -> ExplainedTest | None:
    """Return the test of the method; for methods that use none, the default one for the data."""
    if METHODS[learned.method].judge == "test" and isinstance(judge, ExplainedTest):
        return judge
    try:
        return make_test(None, data)
    except MnlearnError:  # no test is for variables of several types
        return None


def _tested(learned: Learned, edge: Edge, test: ExplainedTest | None) -> Iterator[PairTest]:
    """Test the pair given nothing, and given the other neighbours of either end; each set once."""
    from mnlearn.learning.tests import low_expected

    if test is None:
        return
    u, v = edge
    for z in _given(learned.graph, edge):
        found = test.evidence(u, (v,), z)
        support = found.log_independent if found.log_p is None else found.log_p
        log_support, statistic, dof = (
            None if n is None else float(n[0]) for n in (support, found.statistic, found.dof)
        )
        given, independent = _names(learned, z), bool(found.independent[0])
        low = low_expected(test, u, v, z)
        gaps = learned.data is not None and learned.data.gaps
        rows = int(found.n_rows[0]) if gaps and found.n_rows is not None else None
        yield PairTest(given, test.name, independent, log_support, statistic, dof, low_expected=low, n_rows=rows)


def _given(graph: Graph, edge: Edge) -> tuple[VarSet, ...]:
    """Return the sets that a pair is tested given: the empty set, and the other neighbours of either end."""
    return tuple(dict.fromkeys((frozenset(), *(graph.neighbors(x) - frozenset(edge) for x in edge))))


def _score(name: str, score: Score, graph: Graph, edge: Edge) -> ScoreDifference:
    """Return the score with the edge and without."""
    other = graph.flip(*edge)
    present, absent = (graph, other) if graph.has_edge(*edge) else (other, graph)
    return ScoreDifference(name, float(score(present)), float(score(absent)))


def _separators(learned: Learned, edge: Edge, judge: EvidenceScore) -> SeparatorOdds:
    """Return ev(x, y | sep(x; y)) from both sides, and the price: what the log odds of the result are less.

    It has the prior and the rival edges in it. Where log odds are not stored, it is k for one edge more than the others
    expected.
    """
    graph, (u, v) = learned.graph, edge
    n = graph.n_variables
    judge = judge.with_prior(learned.cost) if isinstance(judge, FittedPrior) else judge
    separators = Separators(graph)
    sides = []
    for x, y in ((u, v), (v, u)):
        z = separators.of(x, y)
        (found,) = judge.pairs([x], [z], [[y]], fit_above=-inf)
        sides.append(SeparatorFactor(learned.names[x], _names(learned, z), float(found.log_factor[0])))
    expected = learned.cost.get("expected_edges")
    known = (pair_support(learned) or learned.result.support).get(edge)
    if expected is not None and known is not None:
        return SeparatorOdds(tuple(sides), sum(side.log_factor for side in sides) / 2 - known)
    others = max(0.0, (graph.n_edges if expected is None else expected) - graph.has_edge(u, v))
    return SeparatorOdds(tuple(sides), price(others, n * (n - 1) // 2))


def _names(learned: Learned, variables: VarSet) -> tuple[str, ...]:
    return tuple(learned.names[x] for x in sorted(variables))
