"""The structure behind the data, in one call."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.output.learned import Learned
from mnlearn.pipeline._methods import (
    DEFAULT_BY_TEST,
    DEFAULT_METHOD,
    METHODS,
    Plan,
    default_effort,
    default_method,
    method_settings,
    plan,
)
from mnlearn.pipeline._naming import check_apart, edges_by_name, graph_over, named_edges
from mnlearn.pipeline._reading import Reading, load
from mnlearn.pipeline._scores import make_score
from mnlearn.pipeline._tests import make_test
from mnlearn.protocols import SILENT, Learner, Monitor

_log = logging.getLogger("mnlearn.pipeline")


def learn(
    data: object,
    method: str | None = None,
    *,
    test: str | None = None,
    score: str | None = None,
    required: Iterable[Sequence[str]] = (),
    forbidden: Iterable[Sequence[str]] = (),
    columns: Sequence[str] | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    n_jobs: int | None = None,
    monitor: Monitor = SILENT,
    **settings: Any,
) -> Learned:
    """Learn the structure of a Markov network from data.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts.
    method
        One of `METHODS`. By default sep for categorical variables, with the effort that their number allows (the log
        says which); gsimn for continuous ones, and where a test or a setting of tests is named.
    test
        One of `TESTS`, for methods that ask tests; by default chi2 for categorical variables and pcor for continuous
        ones.
    score
        One of `SCORES`, for the methods hillclimb and exhaustive; others that weigh graphs have one of their own.
    required, forbidden
        Pairs of names: edges that must be there, or must not. For methods that ask no tests.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`.
    n_jobs
        How many threads may count: None or −1 for all cores. Any number gives the same result.
    monitor
        Hears the progress, and may stop the search.
    **settings
        Settings of the test (see `make_test`) or the score (see `make_score`), and of the method (the fields of its
        class). A graph to start from may be whatever `mnlearn.score` takes for a graph.

    Returns
    -------
    Learned
        The network by name, with the cost of the search.

    Raises
    ------
    UnknownNameError
        If there is no such method, test, score or variable.
    InputError
        If neither the method nor its judge has such a setting, or its value breaks a rule.
    UnsuitableError
        If the test or the score does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> learned = learn(example(2000, seed=1).columns(), alpha=0.01)
    >>> learned.blanket("fatigue")
    ('poor_sleep', 'exercise')
    """
    chosen = plan(default_method(test, settings) if method is None else method, test, score, settings)
    known = {"required": _pairs(required), "forbidden": _pairs(forbidden)}
    _check_takes_constraints(chosen.method, known)
    learner = chosen.named.learner(**{name: value for name, value in chosen.own.items() if name != "start"})
    reading: Reading = {
        "types": types,
        "levels": levels,
        "missing": missing,
        "missing_values": tuple(missing_values),
        "repeats": repeats,
        "delimiter": delimiter,
    }
    dataset = load(data, columns, reading, discretize, bins)
    if method is None and chosen.method == DEFAULT_METHOD and _all_continuous(dataset):
        chosen = plan(DEFAULT_BY_TEST, test, score, settings)
        _check_takes_constraints(chosen.method, known)
        learner = chosen.named.learner(**chosen.own)
    learner, told = _by_index(learner, chosen, known, dataset)
    named, judge = _judge(chosen, dataset, n_jobs)
    if method is None:
        _log.info("no method was named: using %s", _described(chosen.method, named, learner))
    found = learner.learn(judge, monitor)
    asked = {"columns": columns, **reading, "discretize": discretize, "bins": bins}
    said = {option: value for option, value in asked.items() if value and value != "error"}
    described = {"method": chosen.method, **named, **chosen.of_judge, **found.settings, **told, **said}
    return Learned(chosen.method, dataset.names, replace(found, settings=described), dataset)


def _judge(chosen: Plan, dataset: Dataset, n_jobs: int | None) -> tuple[dict[str, str], Any]:
    """The judge that the method meets, and what it is called, if it has a name."""
    settings = cast(Any, chosen.of_judge)
    if chosen.named.make_judge is not None:
        return {}, chosen.named.make_judge(dataset, **settings)
    if chosen.named.judge == "score":
        score = cast(str, chosen.judge)
        return {"score": score}, make_score(score, dataset, n_jobs=n_jobs, **settings)
    test = make_test(chosen.judge, dataset, n_jobs=n_jobs, **settings)
    return {"test": test.name}, test


def _effort(n_variables: int, own: Mapping[str, Any]) -> str:
    """The effort that the number of variables allows; said where it is not the usual one."""
    effort = default_effort(n_variables)
    if effort == "fast" and (own.get("start") is not None or own.get("keep_pairs")):
        effort = "standard"  # these are for the phase that fast does without
    if effort != "thorough":
        _log.info("no effort was named: using %s for %d variables", effort, n_variables)
    return effort


def _all_continuous(dataset: Dataset) -> bool:
    return not any(dataset.cards)


def _described(method: str, named: Mapping[str, str], learner: Learner[Any]) -> str:
    """The method and what was chosen with it."""
    if "test" in named:
        return f"{method} with the test {named['test']}"
    return f"{method} with {getattr(learner, 'effort', 'its usual')} effort"


def _check_takes_constraints(method: str, known: Mapping[str, tuple[Sequence[str], ...]]) -> None:
    """Refuse what a method cannot respect."""
    for name, pairs in known.items():
        if pairs and name not in method_settings(method):
            able = ", ".join(other for other in METHODS if name in method_settings(other))
            raise InputError(
                f"{name} is for methods that can respect it ({able}); {method} cannot. Drop {name}, or choose another "
                "method."
            )


def _pairs(given: object) -> tuple[Any, ...]:
    """What was said, to be gone through more than once; what is no list is one wrong pair, and refused as such."""
    return tuple(given) if isinstance(given, Iterable) else (given,)


def _by_index(
    learner: Learner[Any], chosen: Plan, known: Mapping[str, tuple[Sequence[str], ...]], dataset: Dataset
) -> tuple[Learner[Any], dict[str, object]]:
    """The learner with all that was said by name put in indices, and the same in a form that can be said again."""
    names = dataset.names
    edges = {n: edges_by_name(n, pairs, names) for n, pairs in known.items() if pairs}
    check_apart(edges, names)
    inside: dict[str, object] = dict(edges)
    told: dict[str, object] = {n: [list(pair) for pair in pairs] for n, pairs in known.items() if pairs}
    if chosen.method == "sep" and "effort" not in chosen.own:
        inside["effort"] = _effort(dataset.n_variables, chosen.own)
    if chosen.own.get("start") is not None:
        start = graph_over(dataset, chosen.own["start"], "start")
        inside["start"], told["start"] = start, named_edges(start, names)
    return (replace(cast(Any, learner), **inside) if inside else learner), told
