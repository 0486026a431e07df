"""Contract of every public call: an argument of the wrong kind is accepted, or refused with an error of this library.

Each call is made with one argument after the other replaced by each of `WRONG`. Whether a value is refused is decided
elsewhere; here, that nothing else is raised, and that the refusal is a sentence. Add a call to its group.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn import evaluation
from mnlearn.data import Dataset
from mnlearn.errors import InputError, MnlearnError, UnsuitableError
from mnlearn.independence.information import GaussianInformation
from mnlearn.protocols import SILENT, SetLevel
from mnlearn.scores.glasso import EBICPrecision
from mnlearn.statistics import Counts, kernels
from mnlearn.visual.figure_data import Appearance, check_appearance

WRONG: dict[str, Any] = {
    "none": None,
    "negative": -1,
    "zero": 0,
    "large": 10**6,
    "huge": 10**30,
    "nan": float("nan"),
    "infinite": float("inf"),
    "half": 0.5,
    "truth": True,
    "text": "a",
    "no text": "",
    "digits": "2",
    "nothing": [],
    "negatives": [-1],
    "huge ones": [10**30],
    "twice": [1, 1],
    "texts": ["a"],
    "nones": [None],
    "halves": [1.5],
    "truths": [True, False],
    "ragged": [[1], [2, 3]],
    "floats": np.array([1.0, 2.0]),
    "matrix": np.array([[1, 2], [3, 4]]),
    "objects": np.array([1, None], dtype=object),
    "unsigned": np.array([2**63], np.uint64),
    "mapping": {"a": 1},
    "bytes": b"ab",
    "object": object(),
    "function": lambda *_, **__: None,
    "set of texts": frozenset({"a"}),
    "class": int,
}

# What is meant and takes as long as it takes.
TOO_MUCH = {
    ("n_variables", "large"),
    ("n_rows", "large"),
    ("n_samples", "large"),
    ("n_permutations", "large"),
    ("n_triplets", "large"),
}

Call = tuple[Callable[..., object], dict[str, Any]]


def data() -> Dataset:
    return Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (200, 6)))


def statistics() -> dict[str, Call]:
    """Counts and what they make."""
    counts, kernel, z = Counts(data(), n_jobs=1), kernels.chi2(), frozenset({3})
    one, many = {"x": 0, "ys": [1, 2], "z": z}, {"xs": [0, 1], "yss": [[1, 2], [2]], "zs": [z, frozenset()]}
    blankets = {"xs": [0, 1], "zs": [z, frozenset()]}
    known = counts.knowledge()
    words = {"xs": np.array([0], np.int32), "ys": np.array([1], np.int32), "zs": np.zeros((1, 1), np.uint64)}
    evidence = counts.evidence()
    return {
        "Counts": (Counts, {"dataset": data(), "n_jobs": 1, "max_memory": 1 << 24}),
        "tables": (counts.tables, one),
        "cells": (counts.cells, {"x": 0, "z": z}),
        "reduce": (counts.reduce, {"kernel": kernel, **one}),
        "local": (counts.local, {"kernel": kernel, "x": 0, "z": z}),
        "reduce_all": (counts.reduce_all, {"kernel": kernel}),
        "all_pairs_blocks": (lambda **k: list(counts.all_pairs_blocks(**k)), {"kernel": kernel, "max_pairs": 3}),
        "reduce_many": (counts.reduce_many, {"kernel": kernel, **many}),
        "members": (counts.members, {"kernel": kernel, **blankets}),
        "without": (counts.without, {"kernel": kernel, **blankets}),
        "grow": (counts.grow, {"kernel": kernel, "level": -3.0, **one, "to_first": False, "ahead": 1, "known": known}),
        "shrink": (counts.shrink, {"kernel": kernel, "level": -3.0, **one, "z": frozenset({1, 2}), "known": known}),
        "knowledge": (counts.knowledge, {"mirrored": False}),
        "implied": (known.implied, {"x": 0, "y": 1, "z": z}),
        "infer": (known.infer, {"x": 0, "y": 1, "z": z}),
        "learn": (known.learn, {"x": 0, "y": 1, "z": z, "independent": True}),
        "replay": (known.replay, {**words, "independent": np.array([True])}),
        "evidence": (counts.evidence, {"three_way": True}),
        "evidence.local": (evidence.local, blankets),
        "evidence.additions": (evidence.additions, {**many, "exact": True}),
        "evidence.pairs": (evidence.pairs, {**many, "fit_above": 0.0}),
        "evidence.full_tables": (evidence.full_tables, many),
    }


def walks() -> dict[str, Call]:
    """Walks over sets."""
    counts = Counts(data(), n_jobs=1)
    walk, pairs = counts.subsets(kernels.chi2(), -3.0), ~np.eye(6, dtype=bool)
    around = np.zeros((6, 6), dtype=bool)
    around[0, 3:] = around[3:, 0] = True

    def separate(go_on: Any, xs: Any, **level: Any) -> object:
        return walk.separate(SetLevel(**level), xs, go_on)

    level = {"size": 1, "around": pairs, "left": pairs.copy(), "weakest": np.full((6, 6), np.nan)}
    asked = {"x": 0, "limit": 2, "go_on": lambda _: True}
    return {
        "subsets": (counts.subsets, {"kernel": kernels.chi2(), "level": -3.0}),
        "separate": (separate, {**level, "xs": range(6), "go_on": lambda _: True}),
        "explain_away": (walk.explain_away, {"candidates": [1, 2, 3], **asked}),
        "count_separating": (walk.count_separating, {"ys": [1, 2], "around": around, **asked}),
    }


def settings() -> dict[str, Call]:
    """Kernels."""
    return {
        "chi2": (kernels.chi2, {"dof": "all"}),
        "g2": (kernels.g2, {"dof": "all"}),
        "mi": (kernels.mi, {"dof": "all"}),
        "bayes": (kernels.bayes, {"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "prior": 0.5}),
        "dirichlet": (kernels.dirichlet, {"prior_cell": 0.5}),
        "dirichlet of a size": (kernels.dirichlet, {"sample_size": 1.0}),
    }


def drawn() -> dict[str, list[int]]:
    """A column copied with errors, twice, and one of its own."""
    rng = np.random.default_rng(1)
    first, noise = rng.integers(0, 2, 120), rng.random((2, 120)) < 0.2
    second = first ^ noise[0]
    return {
        k: v.tolist() for k, v in zip("abcd", (first, second, second ^ noise[1], rng.integers(0, 2, 120)), strict=True)
    }


def with_defaults(call: Callable[..., object], given: dict[str, Any], but: tuple[str, ...] = ()) -> Call:
    """The call with every parameter that has a default, so that each of them is tried."""
    parameters = signature(call).parameters.values()
    return call, {p.name: p.default for p in parameters if p.default is not p.empty and p.name not in but} | given


def reading() -> dict[str, Call]:
    """Data in."""
    table = drawn()
    numbers = mn.read({"a": [0.5, 1.5, 2.5], "b": [3.0, 2.5, 1.0]})
    return {
        "read": with_defaults(mn.read, {"source": table}),
        "overview": with_defaults(mn.overview, {"source": table}),
        "discretize": with_defaults(mn.discretize, {"dataset": numbers}),
        "from_codes": with_defaults(mn.Dataset.from_codes, {"codes": [[0, 1], [1, 0]]}),
        "select": (mn.read(table).select, {"variables": ["a", "b"]}),
        "index": (mn.read(table).index, {"name": "a"}),
        "Moments": (mn.Moments, {"dataset": numbers}),
    }


def looks(**settings: Any) -> None:
    """Check the settings of a picture, as `plot` does before it draws."""
    check_appearance(Appearance(**settings), ("a", "b"))


def one_call() -> dict[str, Call]:
    """Return the calls of the main functions."""
    table = drawn()
    dataset = mn.read(table)
    learned = mn.learn(dataset, "mpl", n_jobs=1)
    intervals = learned.intervals(2, relearn=False, n_jobs=1)
    truth = mn.NamedGraph(learned.graph, dataset.names)
    return {
        "learn": with_defaults(mn.learn, {"data": table, "method": "mpl", "n_jobs": 1}),
        "blanket": with_defaults(mn.blanket, {"data": table, "target": "b", "n_jobs": 1}),
        "score": with_defaults(mn.score, {"data": table, "graph": truth, "score": "mpl", "n_jobs": 1}),
        "compare": with_defaults(mn.compare, {"data": dataset, "truth": truth, "methods": ["mpl"], "n_jobs": 1}),
        "compare_groups": with_defaults(
            mn.compare_groups, {"data": table, "by": "d", "method": "mpl", "n_permutations": 2, "n_jobs": 1}
        ),
        "fit_parameters": with_defaults(mn.fit_parameters, {"graph": truth, "data": table}),
        "make_test": with_defaults(mn.make_test, {"name": "chi2", "dataset": dataset, "n_jobs": 1, "alpha": 0.05}),
        "make_score": with_defaults(mn.make_score, {"name": "mpl", "dataset": dataset, "n_jobs": 1}),
        "independence_test": with_defaults(mn.independence_test, {"data": table, "x": "a", "y": "b"}),
        "dependences": with_defaults(mn.dependences, {"data": dataset}),
        "evaluate": with_defaults(mn.evaluate, {"learned": truth, "truth": truth}),
        "validate": with_defaults(
            mn.validate, {"graph": truth, "data": table, "n_triplets": 12, "folds": 2, "n_jobs": 1}
        ),
        "bootstrap": with_defaults(learned.bootstrap, {"n_samples": 2, "n_jobs": 1}, but=("checkpoint",)),
        "predictability": with_defaults(learned.predictability, {"folds": 2}),
        "centrality": with_defaults(learned.centrality, {}),
        "intervals": with_defaults(learned.intervals, {"n_samples": 2, "relearn": False, "n_jobs": 1}),
        "difference_test": with_defaults(intervals.difference_test, {"first": "a", "second": "b"}),
        "differences": with_defaults(intervals.differences, {}),
        "stability": with_defaults(learned.stability, {"n_samples": 14, "relearn": False, "n_jobs": 1}),
        "why": (learned.why, {"x": "a", "y": "b"}),
        "edges": (learned.edges, {"frame": None}),
        "plot": (looks, dict.fromkeys(vars(Appearance()))),
    }


def models() -> dict[str, Call]:
    """Return questions to fitted models."""
    table = drawn()
    numbers = {name: [value + 0.1 * k for k, value in enumerate(column)] for name, column in table.items()}
    found: dict[str, Call] = {}
    for kind, rows, value in (("discrete", table, 1), ("gaussian", numbers, 0.5)):
        model = mn.fit_parameters([("a", "b"), ("b", "c")], rows)
        found |= {
            f"{kind} conditional": (model.conditional, {"x": "a", "evidence": {"b": value}}),
            f"{kind} joint": (model.joint, {"variables": ["a", "c"], "evidence": {"b": value}}),
            f"{kind} most_probable": (model.most_probable, {"evidence": {"b": value}, "variables": ["a"]}),
            f"{kind} predict": (model.predict, {"data": rows, "column": "b"}),
            f"{kind} impute": (model.impute, {"data": {**rows, "a": [None] * 120}, "frame": None}),
            f"{kind} sample": (model.sample, {"n_rows": 3, "seed": 1, "frame": None}),
        }
    return found


def graphs() -> dict[str, Call]:
    """Graphs, by index."""
    graph = mn.Graph(4, [(0, 1), (1, 2)])
    return {
        "Graph": (mn.Graph, {"n_variables": 4, "edges": [(0, 1)]}),
        "neighbors": (graph.neighbors, {"x": 0}),
        "has_edge": (graph.has_edge, {"u": 0, "v": 1}),
        "add": (graph.add, {"edges": [(0, 3)]}),
        "hamming": (evaluation.hamming, {"learned": graph, "truth": graph}),
        "ev_scores": with_defaults(evaluation.ev_scores, {"learned": graph, "truth": graph}),
        "irregularity": (evaluation.irregularity, {"graph": graph}),
    }


def learners() -> dict[str, Call]:
    """Settings of learners."""
    named = {
        *(mn.ARACNE, mn.GSIMN, mn.GSIMNFCH, mn.GSMN, mn.GSMNStar, mn.HHCMN, mn.IBMAPHC, mn.L1LR, mn.MBS, mn.PC),
        *(mn.Exhaustive, mn.GraphicalLasso, mn.HillClimb, mn.SeparatorEvidence, mn.TwoPhase),
    }
    return {learner.__name__: with_defaults(learner, {}) for learner in named}


def searches() -> dict[str, Call]:
    """Return the searches with a judge that suits them."""
    counts = Counts(data(), n_jobs=1)
    numbers = mn.Moments.from_covariance([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]], n_rows=500)
    tests = (mn.GSIMN, mn.GSIMNFCH, mn.GSMN, mn.GSMNStar, mn.HHCMN, mn.PC)
    judges: dict[Any, object] = dict.fromkeys(tests, mn.ChiSquare(counts))
    judges |= dict.fromkeys((mn.HillClimb, mn.TwoPhase, mn.MBS), mn.MPL(counts))
    judges |= {mn.IBMAPHC: mn.IBScore(mn.BayesianTest(counts)), mn.SeparatorEvidence: mn.HybridEvidence(counts)}
    judges |= {mn.L1LR: mn.L1Logistic(data()), mn.ARACNE: GaussianInformation(numbers)}
    judges |= {mn.GraphicalLasso: EBICPrecision(numbers), mn.Exhaustive: mn.MPL(Counts(data().select(range(4))))}
    return {
        learner.__name__: (learner().learn, {"judge": judge, "monitor": SILENT}) for learner, judge in judges.items()
    }


def priors() -> dict[str, Call]:
    """Return scores whose prior is a function of the caller."""

    def prior(score: Any) -> Callable[..., object]:
        return lambda value: mn.TwoPhase().learn(score(Counts(data(), n_jobs=1), graph_prior=lambda _: value))

    return {"MPL": (prior(mn.MPL), {"value": -1.0}), "PIC": (prior(mn.PIC), {"value": -1.0})}


CALLS: dict[str, Callable[[], dict[str, Call]]] = {
    "statistics": statistics,
    "walks": walks,
    "kernels": settings,
    "reading": reading,
    "one call": one_call,
    "models": models,
    "graphs": graphs,
    "learners": learners,
    "searches": searches,
    "priors": priors,
}


def complaint(call: Callable[..., object], arguments: dict[str, Any]) -> str | None:
    """Return the fault of a call, or an empty string."""
    try:
        call(**arguments)
    except MnlearnError as error:
        return None if str(error).endswith((".", "?", ".)")) else f"said no sentence: {error}"
    except Exception as error:
        return f"raised a {type(error).__name__}: {str(error)[:100]}"
    return None


@pytest.mark.parametrize("group", CALLS)
def test_a_wrong_argument_is_taken_or_refused_in_our_words(group: str) -> None:
    complaints = []
    for name, (call, arguments) in CALLS[group]().items():
        call(**arguments)
        for argument in arguments:
            for kind, wrong in WRONG.items():
                if (argument, kind) in TOO_MUCH:
                    continue
                if found := complaint(call, arguments | {argument: wrong}):
                    complaints.append(f"{name}({argument}={kind}) {found}")
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "learner", [mn.Exhaustive, mn.L1LR, mn.ARACNE, mn.GraphicalLasso, mn.MBS, mn.TwoPhase, mn.GSMN]
)
def test_a_judge_or_monitor_of_the_wrong_kind_is_refused_by_name(learner: Any) -> None:
    for judge in (3, mn.MPL, mn.ChiSquare, object()):
        with pytest.raises(UnsuitableError):
            learner().learn(judge)
    call, given = searches()[learner.__name__]
    with pytest.raises(UnsuitableError, match="monitor must have the methods progress and cancelled; got a int"):
        call(**{**given, "monitor": 3})


def test_a_prior_that_fails_is_named() -> None:
    for fault in (lambda: 3, lambda size: 1 / size):
        with pytest.raises(InputError, match="graph_prior must be a function of a blanket's size; it raised"):
            mn.learn(drawn(), "mpl", graph_prior=fault)
    for value in ("x", None, 1j, float("nan")):
        with pytest.raises(InputError, match="graph_prior must give a finite log prior; got"):
            mn.learn(drawn(), "mpl", graph_prior=lambda _, value=value: value)


class Cancels:
    """Monitor that cancels at its second poll."""

    polls = 0

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...
    def cancelled(self) -> bool:
        self.polls += 1
        return self.polls > 1


def test_aracne_stops_when_it_is_cancelled() -> None:
    call, given = searches()["ARACNE"]
    found: Any = call(**{**given, "monitor": Cancels()})
    assert not found.converged
    assert not found.graph.edges
