"""Golden cases: results of the public interface that must keep their bits.

Every case is a function without arguments. `results.json` holds what each of them returned when the file was written.
Integers, strings and graphs are compared exactly. Floats are compared bit for bit, arrays by their SHA-256.
A case marked `close` depends on LAPACK or on a solver of another library: its floats may differ by 1e-9, relative.
The name of a file that holds a digest of such numbers is compared without the digest.
Times, versions, digests and prose are not part of a result.

Write the file again after a deliberate change of results (run from the root of the repository, package importable):

    python tests/golden/cases.py --write
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import combinations
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import mnlearn as mn
from mnlearn import _elementary, evaluation, graphs, model, optimize, simulate, statistics
from mnlearn.data import Dataset, write_data

RESULTS = Path(__file__).with_name("results.json")
UNSTABLE = frozenset({"seconds", "learn_seconds", "sample_seconds", "fitness_seconds", "written_by", "digest"})
PROSE = frozenset({"choice", "notes"})
CLOSE = 1e-9


class Case(NamedTuple):
    """One golden case: how to compute the result, and how exactly its floats repeat."""

    compute: Callable[[], object]
    close: bool = False


CASES: dict[str, Case] = {}


def case(name: str, *arguments: object, close: bool = False, **settings: object) -> Callable[..., Any]:
    """Register a function, with arguments, as a golden case."""

    def register(function: Callable[..., object]) -> Callable[..., object]:
        if name in CASES:
            raise ValueError(f"two cases named {name}")
        CASES[name] = Case(partial(function, *arguments, **settings), close)
        return function

    return register


# --- Encoding -------------------------------------------------------------------------------------------------------


def encode(value: Any, *, close: bool = False) -> Any:
    """Return a result as JSON values: floats in hexadecimal, arrays as a digest or, if close, as numbers."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": sha256(value).hexdigest()}
    if isinstance(value, np.ndarray):
        return _array(value, close=close)
    plain = _plain(value)
    if isinstance(plain, Mapping):
        kept = {_key(key): encode(item, close=close) for key, item in plain.items() if key not in _left_out(plain)}
        return dict(sorted(kept.items()))
    return [encode(item, close=close) for item in plain] if isinstance(plain, list) else encode(plain, close=close)


def _plain(value: Any) -> Any:
    """Return a NumPy number as a number, a record or graph as a mapping, and any other collection as a list."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, mn.Graph):
        return {"n": value.n_variables, "edges": value.edges}
    if hasattr(value, "_asdict"):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return value
    return sorted(value) if isinstance(value, set | frozenset) else list(value)


def _left_out(value: Mapping[Any, object]) -> frozenset[str]:
    """Return the keys that no result promises; how far tests are counted ahead depends on the instruction set."""
    return UNSTABLE | PROSE | ({"scanned"} if "asked" in value else frozenset())


def _key(key: object) -> str:
    return key if isinstance(key, str) else ",".join(map(str, key)) if isinstance(key, tuple) else repr(key)


def _array(values: np.ndarray, *, close: bool) -> Any:
    if values.dtype == object or (close and values.dtype.kind == "f"):
        return encode(values.tolist(), close=close)
    whole = np.ascontiguousarray(values)
    digest = sha256(whole.tobytes()).hexdigest()
    return {"dtype": whole.dtype.str, "shape": list(whole.shape), "sha256": digest}


def compute(name: str) -> Any:
    """Return the result of a case as JSON values."""
    chosen = CASES[name]
    return encode(chosen.compute(), close=chosen.close)


def differences(found: Any, golden: Any, *, close: bool = False, where: str = "result") -> list[str]:
    """Return where two encoded results differ, one line for each place; with close, floats may differ by 1e-9."""
    return _differences(found, golden, CLOSE if close else 0.0, where)


def _differences(found: Any, golden: Any, tolerance: float, where: str) -> list[str]:
    if isinstance(found, dict) and isinstance(golden, dict) and found.keys() == golden.keys():
        parts = [_differences(found[key], golden[key], tolerance, f"{where}.{key}") for key in golden]
        return [line for part in parts for line in part]
    if isinstance(found, list) and isinstance(golden, list) and len(found) == len(golden):
        pairs = enumerate(zip(found, golden, strict=True))
        parts = [_differences(a, b, tolerance, f"{where}[{k}]") for k, (a, b) in pairs]
        return [line for part in parts for line in part]
    if found == golden or _nearly_equal(found, golden, tolerance):
        return []
    return [f"{where}: got {found!r}, golden is {golden!r}"]


def _nearly_equal(found: Any, golden: Any, tolerance: float) -> bool:
    """Whether two hexadecimal floats agree, relative and absolute."""
    try:
        return isclose(float.fromhex(found), float.fromhex(golden), rel_tol=tolerance, abs_tol=tolerance)
    except (TypeError, ValueError):
        return False


# --- Data sets ------------------------------------------------------------------------------------------------------


@cache
def survey() -> dict[str, list[str]]:
    """Return the built-in example as columns of words."""
    return simulate.example(600, seed=1).columns()


@cache
def binary() -> Dataset:
    """Return 500 rows of a 3 by 4 grid of binary variables."""
    return simulate.simulate("grid:rows=3,columns=4", "odds:theta=1.2", n_rows=500, seed=3).data


@cache
def states() -> Dataset:
    """Return 400 rows of a ring of eight variables with three states."""
    return simulate.simulate("cycle:n=8", "potts:theta=1.2,states=3", n_rows=400, seed=4).data


@cache
def small() -> Dataset:
    """Return 400 rows of six variables with three states."""
    return simulate.simulate("six:model=3", "tables:states=3,strength=1.2", n_rows=400, seed=5).data


@cache
def tiny() -> Dataset:
    """Return five binary variables with repeated rows."""
    codes = simulate.example(150, seed=2).codes[:, 3:8]
    repeats = 1 + np.arange(150, dtype=np.int64) % 3
    return mn.read({**{f"v{x}": codes[:, x] for x in range(5)}, "times": repeats}, repeats="times")


@cache
def numbers() -> Dataset:
    """Return 300 rows of nine continuous variables, made without linear algebra."""
    rng = np.random.default_rng(6)
    noise = rng.standard_normal((300, 9))
    columns = [noise[:, 0]]
    for x in range(1, 9):
        columns.append(0.6 * columns[x - 1] + 0.4 * columns[(x * 5) % x] + noise[:, x])
    return mn.read({f"c{x}": column for x, column in enumerate(columns)})


DATA = {"survey": survey, "binary": binary, "states": states, "small": small, "tiny": tiny, "numbers": numbers}


def as_dataset(name: str) -> Dataset:
    """Return a data set by name, read if it is not read yet."""
    return mn.read(DATA[name]())


# --- Learning methods -----------------------------------------------------------------------------------------------


def learned(found: mn.Learned) -> dict[str, object]:
    """Return all stable parts of what a method found: edges, numbers, cost counters, settings, stages, trace."""
    return {**found.to_dict(), "trace": found.trace, "graph": found.graph, "n_rows": found.n_rows}


def learn(data: str, method: str | None, **settings: Any) -> object:
    """Learn from a data set by name."""
    return learned(mn.learn(DATA[data](), method, n_jobs=1, **settings))


BY_COUNTS = ("gsmn", "gsmn*", "gsimn", "hhc-mn", "pc", "ib", "bjp", "mbs", "aracne", "hillclimb", "sep")
for _method in BY_COUNTS:
    for _data in DATA:
        case(f"learn {_method} {_data}", _data, _method)(learn)
for _method in ("mpl", "pic"):
    for _data in ("survey", "binary", "states", "small", "tiny"):
        case(f"learn {_method} {_data}", _data, _method)(learn)
for _data in ("binary", "small", "tiny"):
    case(f"learn l1lr {_data}", _data, "l1lr", close=True)(learn)
for _data in ("small", "tiny"):
    case(f"learn exhaustive {_data}", _data, "exhaustive")(learn)
case("learn gsimn-fch tiny", "tiny", "gsimn-fch")(learn)
case("learn gsimn-fch small", "small", "gsimn-fch")(learn)
FIVE = ["c0", "c1", "c2", "c3", "c4"]
for _method, _close in (("lasso", False), ("l1mb", False), ("glasso", True)):
    case(f"learn {_method} numbers", "numbers", _method, close=_close)(learn)
    case(f"learn {_method} five numbers", "numbers", _method, close=_close, columns=FIVE)(learn)

VARIANTS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "default": ("survey", None, {}),
    "default by a test": ("survey", None, {"test": "g2"}),
    "sep keep pairs": ("survey", "sep", {"keep_pairs": True}),
    "sep fast": ("binary", "sep", {"effort": "fast"}),
    "sep standard": ("states", "sep", {"effort": "standard"}),
    "sep constraints": (
        "survey",
        "sep",
        {"required": [("stress", "exercise")], "forbidden": [("poor_sleep", "stress")]},
    ),
    "gsmn trace": ("tiny", "gsmn", {"keep_trace": True}),
    "gsmn* g2": ("binary", "gsmn*", {"test": "g2", "alpha": 0.01, "skip_marginal": False}),
    "gsimn trace": ("small", "gsimn", {"keep_trace": True}),
    "gsimn bayes": ("binary", "gsimn", {"test": "bayes"}),
    "gsimn mirrored": ("binary", "gsimn", {"mirrored": True, "seed_dependences": True}),
    "gsimn-fch trace": ("tiny", "gsimn-fch", {"keep_trace": True}),
    "hhc-mn or": ("states", "hhc-mn", {"combine": "or", "max_conditioning": 2}),
    "hhc-mn trace": ("tiny", "hhc-mn", {"keep_trace": True}),
    "pc moral": ("survey", "pc", {"output": "moral"}),
    "pc moral sepset": ("states", "pc", {"output": "moral", "colliders": "sepset", "test": "g2"}),
    "pc moral conservative": ("binary", "pc", {"output": "moral", "colliders": "conservative", "alpha": 0.01}),
    "pc trace": ("tiny", "pc", {"keep_trace": True, "max_conditioning": 2}),
    "pc mi": ("tiny", "pc", {"test": "mi", "n_permutations": 49, "seed": 3}),
    "ib steps": ("small", "ib", {"keep_steps": True, "keep_absent": True, "prior": 0.4}),
    "ib swaps": ("binary", "ib", {"swaps": True, "patience": 3, "restarts": 2, "seed": 5}),
    "bjp order": ("tiny", "bjp", {"order": ["v4", "v3", "v2", "v1", "v0"]}),
    "bjp constraints": ("small", "bjp", {"required": [("x0", "x5")], "forbidden": [("x0", "x1")]}),
    "mpl and": ("survey", "mpl", {"combine": "and"}),
    "mpl conflict": ("states", "mpl", {"combine": "conflict", "max_blanket": 2}),
    "mpl sample size": ("small", "mpl", {"sample_size": 2.0, "graph_prior": None}),
    "pic parameters": ("small", "pic", {"penalty": "parameters", "cardinalities": "observed"}),
    "mbs mpl": ("survey", "mbs", {"score": "mpl", "k_max": 3}),
    "mbs cv": ("binary", "mbs", {"choose": "cv", "n_folds": 3, "seed": 2, "k_max": 3}),
    "mbs and": ("states", "mbs", {"combine": "and", "gamma": 0.25}),
    "mbs regularization": ("small", "mbs", {"regularization": 0.02}),
    "hillclimb mpl tabu": ("binary", "hillclimb", {"score": "mpl", "tabu": 4, "patience": 5, "swaps": True}),
    "hillclimb pic": ("states", "hillclimb", {"score": "pic", "keep_steps": True}),
    "hillclimb ebic": ("survey", "hillclimb", {"score": "ebic", "keep_absent": True}),
    "hillclimb entropy": ("tiny", "hillclimb", {"score": "entropy", "max_steps": 4}),
    "hillclimb evidence": ("small", "hillclimb", {"score": "evidence"}),
    "hillclimb evidence-pairwise": ("small", "hillclimb", {"score": "evidence-pairwise"}),
    "hillclimb evidence-table": ("small", "hillclimb", {"score": "evidence-table"}),
    "exhaustive averaging": ("tiny", "exhaustive", {"score": "mpl", "averaging": True, "alternatives": 4}),
    "exhaustive ib": ("tiny", "exhaustive", {"score": "ib", "alternatives": 3}),
    "aracne fdr": ("survey", "aracne", {"correction": "fdr", "tolerance": 0.1}),
    "missing category": ("tiny", "mpl", {"missing": "category"}),
}
for _name, (_data, _variant, _settings) in VARIANTS.items():
    case(f"learn variant {_name}", _data, _variant, **_settings)(learn)
case("learn variant l1lr or", "binary", "l1lr", close=True, combine="or", gamma=0.25, n_penalties=20)(learn)
case("learn variant bayes-pcor", "numbers", "gsimn", test="bayes-pcor")(learn)
case("learn variant sep numbers", "numbers", "sep", keep_pairs=True)(learn)
case("learn variant mbs numbers", "numbers", "mbs", close=True, k_max=3, choose="cv", n_folds=3)(learn)
case("learn variant discretized", "numbers", "mpl", discretize="frequency", bins=3)(learn)
case("learn variant discretized by width", "numbers", "pc", discretize="width", bins=4)(learn)


@case("learn by hand")
def by_hand() -> object:
    """Compose statistics, judges and searches without `learn`."""
    data = binary()
    counts = mn.Counts(data, n_jobs=1)
    test, posterior = mn.ChiSquare(counts, alpha=0.01), mn.BayesianTest(counts)
    return {
        "GSMN": mn.GSMN().learn(test).graph,
        "GSMNStar": mn.GSMNStar().learn(mn.GTest(counts)).graph,
        "GSIMN": mn.GSIMN().learn(posterior).graph,
        "HHCMN": mn.HHCMN().learn(mn.Remembered(test)).graph,
        "PC": mn.PC().learn(mn.ScoreTest(counts)).graph,
        "IBMAPHC": mn.IBMAPHC().learn(mn.IBScore(posterior)).graph,
        "HillClimb": mn.HillClimb().learn(mn.BJPScore(posterior)).graph,
        "TwoPhase": mn.TwoPhase().learn(mn.MPL(counts)).graph,
        "TwoPhase PIC": mn.TwoPhase().learn(mn.PIC(counts)).graph,
        "MBS": mn.MBS().learn(mn.ExtendedBIC(counts)).graph,
        "SeparatorEvidence": mn.SeparatorEvidence().learn(mn.HybridEvidence(counts)).graph,
    }


@case("learn by oracle")
def by_oracle() -> object:
    """Count the questions that tests of a known graph need."""
    oracle = mn.SeparationOracle(graphs.hubs(3, 4))
    methods: dict[str, Any] = {
        "gsmn": mn.GSMN(),
        "gsmn*": mn.GSMNStar(),
        "gsimn": mn.GSIMN(),
        "hhc-mn": mn.HHCMN(),
        "pc": mn.PC(),
    }
    found = {name: method.learn(oracle) for name, method in methods.items()}
    return {name: {"graph": result.graph, "cost": result.cost} for name, result in found.items()}


@case("learn with two threads equals one", "sep", "gsimn", "mpl", "bjp")
def two_threads(*methods: str) -> object:
    """Learn with two threads."""
    return {method: learned(mn.learn(binary(), method, n_jobs=2)) for method in methods}


@case("learn with a checkpoint")
def checkpointed() -> object:
    """Learn with a checkpoint, and again from what it holds."""
    with TemporaryDirectory() as folder:
        runs = {}
        for method in ("gsimn", "mpl", "hillclimb"):
            where = Path(folder) / method
            runs[method] = learned(mn.learn(survey(), method, checkpoint=where))
            runs[f"{method} resumed"] = learned(mn.learn(survey(), method, checkpoint=where, resume=True))
    return runs


@case("learn bootstrap", "subsamples", 12)
def bootstrap(sampling: Any, n_samples: int) -> object:
    """Resample the rows, and select the stable edges."""
    found = mn.learn(survey(), "mpl", n_jobs=1).bootstrap(n_samples, sampling=sampling, seed=7, n_jobs=1)
    stable = found.stable(0.6)
    return {"found": learned(found), "stable": stable.graph, "pairs": found.pair_list(0.1)}


case("learn bootstrap rows", "bootstrap", 8)(bootstrap)
case("learn bootstrap halves", "halves", 10)(bootstrap)


@case("learn why")
def why() -> object:
    """Explain an edge and an absent edge."""
    methods = ("sep", "mpl", "pc", "ib")
    found = {method: mn.learn(survey(), method, n_jobs=1) for method in methods}
    pairs = (("poor_sleep", "fatigue"), ("night_shifts", "fatigue"))
    return {f"{m} {x} {y}": found[m].why(x, y).to_dict() for m in methods for x, y in pairs}


@case("compare methods")
def compare_methods() -> object:
    """Compare methods with the true network."""
    made = simulate.simulate("grid:rows=3,columns=3", "odds:theta=1.5", n_rows=300, seed=8)
    rows = mn.compare(made.data, made.truth, ["sep", "mpl", "gsimn", "pc"], n_jobs=1)
    return [{"method": row.method, "edges": row.edges, "graph": row.learned and row.learned.graph} for row in rows]


@case("compare groups")
def groups() -> object:
    """Compare the networks of two groups by permutations."""
    found = mn.compare_groups(survey(), "night_shifts", "mpl", n_permutations=20, seed=4, n_jobs=1)
    return {
        "groups": found.groups,
        "networks": [network.graph for network in found.networks],
        "statistics": found.statistics,
        "pairs": found.pairs,
        "centralities": found.centralities,
        "difference": found.difference.to_dict(),
    }


@case("compare networks")
def networks() -> object:
    """Compare two learned networks."""
    one, other = mn.learn(survey(), "mpl"), mn.learn(survey(), "pc")
    return one.compare(other).to_dict()


@case("estimators")
def estimators() -> object:
    """Fit the scikit-learn estimators."""
    codes = simulate.example(400, seed=9).codes
    learner = mn.MarkovNetworkLearner("mpl", categorical_features="all").fit(codes)
    selector = mn.MarkovBlanketSelector("mpl", categorical_features="all").fit(codes[:, 1:], codes[:, 0])
    return {
        "graph": learner.graph_,
        "score": learner.score(codes[:100]),
        "support": selector.get_support(),
        "columns": selector.transform(codes[:, 1:])[:5].tolist(),
    }


# --- Independence tests ---------------------------------------------------------------------------------------------

QUESTIONS = ((0, 1, ()), (0, 3, (1,)), (4, 2, (0, 1)), (1, 4, (0, 2, 3)))


def tests(data: str, test: str, **settings: Any) -> object:
    """Answer several questions by name."""
    names, table = as_dataset(data).names, as_dataset(data)
    asked = [(names[x], names[y], [names[v] for v in z]) for x, y, z in QUESTIONS]
    return [mn.independence_test(table, x, y, z, test=test, n_jobs=1, **settings).to_dict() for x, y, z in asked]


for _test in ("chi2", "g2", "mi", "bayes", "score"):
    for _data in ("survey", "small", "tiny"):
        case(f"test {_test} {_data}", _data, _test)(tests)
for _test in ("pcor", "bayes-pcor"):
    case(f"test {_test} numbers", "numbers", _test)(tests)
for _rule in ("observed", "all"):
    case(f"test chi2 dof {_rule}", "small", "chi2", dof=_rule, alpha=0.01)(tests)
case("test mi threshold", "small", "mi", threshold=0.02)(tests)
case("test bayes prior", "small", "bayes", prior=0.2)(tests)


def dependences(data: str, test: str) -> object:
    """List the dependent pairs, the strongest first."""
    return [answer.to_dict() for answer in mn.dependences(as_dataset(data), test=test, top=12, n_jobs=1)]


for _test in ("chi2", "bayes"):
    case(f"test dependences {_test}", "survey", _test)(dependences)
case("test dependences pcor", "numbers", "pcor")(dependences)


def scans(test: str, data: str) -> object:
    """Scan all variables given several sets through the class of the test."""
    chosen = mn.make_test(test, as_dataset(data), n_jobs=1)
    n = chosen.n_variables
    found: list[Any] = [
        chosen.scan(0, [y for y in range(1, n) if y not in z], frozenset(z)) for z in ((), (1,), (2, 3))
    ]
    return [{**asdict(evidence)} if is_dataclass(type(evidence)) else evidence for evidence in found]


for _test in ("chi2", "g2", "bayes", "score"):
    case(f"test scan {_test}", _test, "states")(scans)
case("test scan pcor", "pcor", "numbers")(scans)


# --- Scores ---------------------------------------------------------------------------------------------------------

SCORES = ("ib", "bjp", "mpl", "pic", "entropy", "ebic", "evidence", "evidence-pairwise", "evidence-table")


def scored(data: str, score: str, **settings: Any) -> object:
    """Score three fixed graphs and list the parts of one of them."""
    table = as_dataset(data)
    fixed = {"ring": graphs.cycle(table.n_variables), "star": graphs.star(table.n_variables)}
    values = {name: mn.score(table, graph, score, n_jobs=1, **settings) for name, graph in fixed.items()}
    judge = mn.make_score(score, table, n_jobs=1, **settings)
    return {
        "values": {name: value.value for name, value in values.items()},
        "terms": values["ring"].to_dict(),
        "empty": judge(mn.Graph.empty(table.n_variables)),
    }


for _score in SCORES:
    for _data in ("binary", "small", "tiny"):
        case(f"score {_score} {_data}", _data, _score)(scored)
for _score in ("ib", "bjp", "entropy", "ebic", "evidence"):
    case(f"score {_score} numbers", "numbers", _score)(scored)
case("score mpl prior cell", "small", "mpl", prior_cell=1.0, graph_prior=None)(scored)
case("score pic parameters", "small", "pic", penalty="parameters", cardinalities="observed")(scored)
case("score ebic gamma", "small", "ebic", gamma=1.0)(scored)


# --- Statistics -----------------------------------------------------------------------------------------------------

KERNELS = {
    "chi2": statistics.kernels.chi2(),
    "g2": statistics.kernels.g2("observed"),
    "mi": statistics.kernels.mi(),
    "bayes": statistics.kernels.bayes(),
    "dirichlet": statistics.kernels.dirichlet(),
    "sample size": statistics.kernels.dirichlet(sample_size=2.0),
    "entropy": statistics.kernels.entropy(),
}


def reductions(data: str) -> object:
    """Score tables by every kernel and every form of a scan."""
    table = as_dataset(data)
    counts, z = mn.Counts(table, n_jobs=1), frozenset({1, 2})
    found = {}
    for name, kernel in KERNELS.items():
        many = counts.reduce_many(kernel, [0, 3], [[3, 4], [0]], [z, frozenset({4})])
        found[name] = {
            "one": counts.reduce(kernel, 0, [3, 4], z),
            "all": counts.reduce_all(kernel),
            "many": many,
            "local": counts.local(kernel, 0, z),
            "members": counts.members(kernel, [0, 4], [z, frozenset({0, 3})]),
            "without": counts.without(kernel, [0, 4], [z, frozenset({0, 3})]),
        }
    return found


def tables_of(data: str) -> object:
    """Count tables whole, in parts, and from shards in this process; all three must agree."""
    table = as_dataset(data)
    counts = mn.Counts(table, n_jobs=1)
    whole = counts.tables(0, [3, 4], frozenset({1, 2}))
    with TemporaryDirectory() as folder:
        packed = mn.pack(table, Path(folder) / "rows.mnpack")
        shards = statistics.ShardedCounts(None, statistics.row_shards(packed, 3), n_jobs=1)
        sharded = shards.tables(0, [3, 4], frozenset({1, 2}))
        sums = [shards.reduce_all(kernel) for kernel in KERNELS.values()]
    scores = [statistics.score_tables(kernel, whole, table.cards) for kernel in KERNELS.values()]
    same = [np.array_equal(a, b) for a, b in zip(whole.counts, sharded.counts, strict=True)]
    return {
        "strata": whole.strata,
        "counts": [part.astype(np.int64) for part in whole.counts],
        "sharded equal": all(same) and np.array_equal(whole.strata, sharded.strata),
        "sharded scores": sums,
        "scores": scores,
        "cells": counts.cells(0, frozenset({1, 2})),
    }


for _data in ("survey", "states", "small", "tiny"):
    case(f"statistics reduce {_data}", _data)(reductions)
for _data in ("states", "small"):
    case(f"statistics tables {_data}", _data)(tables_of)


@case("statistics moments")
def moments() -> object:
    """Read correlations, partial correlations and entropies of continuous variables."""
    found, rows = mn.Moments(numbers()), statistics.Rows(numbers())
    return {
        "covariance": found.covariance[:3, :3],
        "correlation": found.correlation[0],
        "partial": found.partial_correlations(0, [3, 4, 5], {1, 2}),
        "members": found.member_correlations(0, {1, 2, 3}),
        "conditional": found.conditional_correlation([0, 1, 2], {3, 4}),
        "entropies": found.conditional_entropies(0, [3, 4], {1}),
        "entropy": found.conditional_entropy(0, {1, 2}),
        "ranks": rows.rank_correlation()[0],
    }


@case("statistics normal scores", close=True)
def normal_scores() -> object:
    """Compute normal scores, whose quantiles come from SciPy."""
    return statistics.Rows(numbers()).normal_scores()[:, 0][:10]


ELEMENTARY = ("exp", "expm1", "log", "log1p", "log2", "atanh", "cbrt", "erf", "erfc", "log_gamma")


@case("elementary functions")
def elementary_functions() -> object:
    """Compute each elementary function for numbers of every size and sign."""
    sizes = np.ldexp(1.0 + np.arange(64) / 64.0, np.arange(-1074, 1024)[:, None]).ravel()
    near = np.arange(-40_000, 40_000) / 9_973.0
    x = np.concatenate([sizes, -sizes, near, 1.0 + near * 1e-6, 2.0 + near * 1e-6, near * 80.0])
    return {name: np.nan_to_num(getattr(_elementary, name)(x)) + 0.0 for name in ELEMENTARY}


# --- Graphs and samplers --------------------------------------------------------------------------------------------


@case("graphs")
def generators() -> object:
    """Make one graph by every generator."""
    return {
        "random": graphs.random_graph(30, 3.0, 1),
        "erdos_renyi": graphs.erdos_renyi(30, 0.1, 2),
        "barabasi_albert": graphs.barabasi_albert(30, 2, 3),
        "tree": graphs.random_tree(30, 4),
        "grid": graphs.grid(3, 4, periodic=True),
        "hubs": graphs.hubs(3, 4),
        "cliques": graphs.clique_chain(10, 3, 1),
        "union": graphs.disjoint_union([graphs.path(3), graphs.cycle(4), graphs.star(4)]),
        "six": graphs.six_node_structures(),
        "six level": len(graphs.six_node_graphs(2)),
        "sixteen": graphs.sixteen_node_replicas(64),
        "components": graphs.sixteen_node_components(),
        "irregularity": [graphs.irregularity(graphs.star(6)), graphs.total_irregularity(graphs.star(6))],
    }


NAMED = ("uniform", "odds:signs=mixed,fields=0.3", "ising:law=normal", "potts:states=4", "tables:fields=0.2")
NAMED_CONTINUOUS = ("gaussian", "partial:correlation=0.2")


def simulated(network: str, distribution: str | None, **settings: Any) -> object:
    """Simulate rows by name."""
    made = simulate.simulate(network, distribution, n_rows=120, seed=11, n_jobs=1, **settings)
    return {**contents(made.data), "truth": made.truth.graph, "names": made.truth.names, "converged": made.converged}


def contents(data: Dataset) -> dict[str, object]:
    """Return a data set: names, cardinalities, levels, columns, repeats, what was missing."""
    return {
        "names": data.names,
        "cards": data.cards,
        "levels": data.levels,
        "columns": list(data.columns),
        "repeats": data.repeats,
        "missing": data.missing,
        "cuts": data.cuts,
    }


for _law in NAMED:
    case(f"simulate {_law}", "random:n=9,degree=2", _law)(simulated)
for _law in NAMED_CONTINUOUS:
    case(f"simulate {_law}", "cycle:n=7", _law, close=True)(simulated)
case("simulate expression", "expression:genes=12", None, close=True)(simulated)
case(
    "simulate gibbs",
    "grid:rows=4,columns=4",
    "odds",
    method="gibbs",
    plan=simulate.GibbsPlan(chains=2, burn_in=50, thin=2),
)(simulated)
for _how in ("enumerate", "eliminate"):
    case(f"simulate {_how}", "grid:rows=3,columns=3", "odds", method=_how)(simulated)


@case("samplers")
def samplers() -> object:
    """Sample by Gibbs, exactly, and by the Markovian sampler."""
    network = simulate.random_pairwise_factors(graphs.grid(3, 3), 1.0, 2, cards=3)
    pairwise = simulate.ising(graphs.cycle(8), 0.5, 3)
    codes = simulate.sample_exact(pairwise, 100, 4)
    plan = simulate.GibbsPlan(chains=2, burn_in=40, thin=2)
    settings: dict[str, Any] = {"cards": (2,) * 8, "n_updates": 16, "n_threads": 1}
    return {
        "gibbs": simulate.sample_gibbs(network, 80, 5, plan, n_jobs=1),
        "gibbs in two threads": simulate.sample_gibbs(network, 80, 5, plan, n_jobs=2),
        "exact": codes,
        "conditional": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, **settings),
        "joint": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, weighing="joint", **settings),
        "cooled": simulate.sample_markovian(graphs.cycle(8), codes, 60, 6, inverse_temperature=2.0, **settings),
        "example": simulate.example(200, seed=3).codes,
        "forward": list(simulate.as_bayesian_network(network).sample(50, 7).columns),
    }


@case("samplers probabilities", close=True)
def probabilities() -> object:
    """Compute partition functions and state probabilities, and sample Gaussian rows."""
    network = simulate.uniform_factors(graphs.cycle(5), 2, cards=2)
    gaussian = simulate.sparse_gaussian(graphs.cycle(5), 3)
    return {
        "log partition": simulate.log_partition(network),
        "component": simulate.component_probabilities(network, range(5)),
        "states": simulate.state_probabilities(simulate.ising(graphs.cycle(4), 0.5, 3), range(4)),
        "precision": gaussian.precision,
        "rows": gaussian.sample(6, 4),
    }


# --- Parameters -----------------------------------------------------------------------------------------------------


def fitted(found: Any, data: Any, target: str, evidence: Mapping[str, Any]) -> dict[str, object]:
    """Return what a model predicts."""
    told = model.predictions(found, data, target)
    return {
        "document": found.to_dict(),
        "strengths": found.strengths(),
        "log pseudolikelihood": found.log_pseudolikelihood(data),
        "log likelihood": found.log_likelihood(data),
        "conditional": found.conditional(target, evidence),
        "predicted": list(found.predict(data, target)[:20]),
        "measured": [told.measure, told.value, told.rows()[:5]],
        "sample": list(found.sample_dataset(20, 5).columns),
    }


def discrete_model(method: Any, **settings: Any) -> object:
    """Fit a discrete model to the survey."""
    truth = mn.NamedGraph(simulate.example(1).graph, simulate.example(1).names)
    found: Any = mn.fit_parameters(truth, survey(), method, **settings)
    chances = found.predict_proba(survey(), "fatigue")[:20]
    return {**fitted(found, survey(), "fatigue", {"poor_sleep": "yes", "exercise": "no"}), "chances": chances}


case("model canonical", "canonical")(discrete_model)
case("model canonical smoothing", "canonical", smoothing=1.0)(discrete_model)
case("model pseudolikelihood", "pseudolikelihood", close=True)(discrete_model)
case("model pseudolikelihood pairwise", "pseudolikelihood", close=True, interactions="pairwise", ridge=0.5)(
    discrete_model
)


@case("model gaussian", close=True)
def gaussian_model() -> object:
    """Fit a Gaussian model."""
    found: Any = mn.fit_parameters(graphs.cycle(9), numbers(), "gaussian")
    more = {"precision": found.precision[:3, :3], "residual": found.residual_deviation("c4")}
    return {**fitted(found, numbers(), "c4", {"c3": 0.5, "c5": -0.25}), **more}


@case("model of a learned network", close=True)
def model_of_learned() -> object:
    """Fit parameters to what a method found."""
    found = mn.fit_parameters(mn.learn(survey(), "mpl", n_jobs=1), survey())
    return {"document": found.to_dict(), "uai": model.uai_text(found).splitlines()[:4]}


@case("model canonical factors")
def canonical() -> object:
    """Compute canonical factors of rows and of a joint distribution."""
    factors = mn.canonical_factors(graphs.cycle(5), tiny())
    again = mn.canonical_factors_of(factors.joint(), graphs.cycle(5))
    return {"joint": factors.joint().reshape(-1), "again": [f.log_values.reshape(-1) for f in again.network.factors]}


# --- Reading, discretizing, packing ---------------------------------------------------------------------------------

TEXT = "a;b;c;n\n1;red;0.5;2\n2;;1.5;1\n1;blue;?;3\n3;red;-2.25;1\n2;blue;4e-3;1\n1;red;7;2\n"
MISSING: dict[str, Any] = {
    "error": {"columns": ["a", "n"]},
    "drop rows": {"missing": "drop_rows", "missing_values": ["?"]},
    "category": {"missing": "category", "missing_values": ["?"], "columns": ["a", "b"]},
    "repeats": {"missing": "drop_rows", "missing_values": ["?"], "repeats": "n"},
    "types": {"missing": "drop_rows", "missing_values": ["?"], "types": {"a": "continuous"}},
    "levels": {"columns": ["a", "n"], "levels": {"a": [3, 2, 1, 0]}},
}


@case("read text")
def read_text() -> object:
    """Read a small file with every policy for missing values."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text(TEXT, encoding="utf-8")
        return {name: contents(mn.read(path, delimiter=";", **options)) for name, options in MISSING.items()}


@case("read objects")
def read_objects() -> object:
    """Read columns, codes, and columns with missing values."""
    columns = {"x": ["u", None, "v", "u"], "y": [1, 2, 2, 1], "t": [True, False, True, True]}
    return {
        "drop rows": contents(mn.read(columns, missing="drop_rows")),
        "category": contents(mn.read(columns, missing="category")),
        "survey": contents(mn.read(survey())),
        "selected": contents(mn.read(survey()).select(["stress", "fatigue"])),
        "compact": contents(mn.read(survey()).select(["stress", "fatigue"]).compact()),
        "sample": contents(mn.read(survey()).sample(50, seed=3)),
        "fingerprint": mn.read(survey()).fingerprint(),
        "overview": mn.overview(columns).as_dict(),
    }


@case("discretize")
def discretized() -> object:
    """Discretize continuous variables in every way."""
    return {
        "width": contents(mn.discretize(numbers(), method="width", bins=4)),
        "frequency": contents(mn.discretize(numbers(), method="frequency", bins=3)),
        "cuts": contents(mn.discretize(numbers(), cuts={"c0": [-1.0, 0.0, 1.0]}, columns=["c0"])),
        "default": contents(mn.discretize(numbers())),
    }


# --- Files ----------------------------------------------------------------------------------------------------------


def saved(method: str, extension: str) -> object:
    """Save a learned network and read the file."""
    found = mn.learn(survey(), method, n_jobs=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"network.{extension}"
        found.save(path)
        text = path.read_text(encoding="utf-8")
        read = mn.read_graph(path)
    again = {"graph": read.graph, "names": read.names}
    if extension == "json":
        return {"file": json.loads(text), **again}
    return {"file": text.splitlines(), **again}


for _extension in ("json", "graphml", "gml", "dot", "csv", "edges"):
    case(f"file {_extension} sep", "sep", _extension)(saved)
for _method in ("pc", "mpl", "mbs"):
    case(f"file json {_method}", _method, "json")(saved)


@case("file json loaded")
def loaded() -> object:
    """Save whole results and load them again."""
    runs: dict[str, dict[str, Any]] = {
        "sep": {"keep_pairs": True},
        "gsimn": {"keep_trace": True},
        "ib": {"keep_steps": True, "keep_absent": True},
    }
    found = {}
    for method, settings in runs.items():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "network.json"
            mn.learn(small(), method, n_jobs=1, **settings).save(path)
            found[method] = learned(mn.load(path))
    return found


@case("file graph formats")
def graph_formats() -> object:
    """Write a graph without attributes in every format."""
    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as folder:
        for name in graphs.FORMATS:
            path = Path(folder) / f"graph.{name}"
            mn.write_graph(path, graphs.grid(2, 3), [f"node {x}" for x in range(6)], format=name)
            found[name] = {"file": path.read_text(encoding="utf-8").splitlines()}
            found[name]["read"] = mn.read_graph(path, name).graph
    return found


@case("file pack")
def packed_files() -> object:
    """Pack rows, append to a pack, and read both back."""
    with TemporaryDirectory() as folder:
        path, more = Path(folder) / "rows.mnpack", Path(folder) / "more.mnpack"
        mn.pack(states(), path)
        mn.pack(survey(), more)
        before = more.read_bytes()
        mn.pack(survey(), more, append=True)
        return {
            "bytes": path.read_bytes(),
            "before": before,
            "after": more.read_bytes(),
            "read": contents(mn.read(path)),
            "learned": learned(mn.learn(path, "mpl", n_jobs=1)),
            "appended": mn.read(more).n_rows,
        }


@case("file data")
def data_files() -> object:
    """Write data as text and read it back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(states(), path)
        return {"text": path.read_bytes(), "read": contents(mn.read(path))}


@case("file model", close=True)
def model_files() -> object:
    """Save models and load them again."""
    discrete = mn.fit_parameters(graphs.cycle(5), tiny(), "canonical")
    gaussian = mn.fit_parameters(graphs.cycle(9), numbers(), "gaussian")
    found = {}
    for name, fitted_model in {"discrete": discrete, "gaussian": gaussian}.items():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            fitted_model.save(path)
            again = mn.load_model(path)
            files = sorted(re.sub("-[0-9a-f]{16}", "", part.name) for part in path.iterdir())
            found[name] = {"files": files, "document": again.to_dict()}
    return found


# --- Optimization ---------------------------------------------------------------------------------------------------


def optimized(problem: str, learner: str = "moa'", **options: Any) -> object:
    """Run an estimation of distribution algorithm on a named problem."""
    algorithm = optimize.MarkovEDA(learner=learner, population=options.pop("population", 100))
    return run_of(optimize.maximize(optimize.problem_named(problem), algorithm=algorithm, **options))


def run_of(found: optimize.Optimum) -> dict[str, object]:
    """Return the stable parts of a run."""
    return {
        "individual": found.individual.tolist(),
        "fitness": found.fitness,
        "reason": found.reason,
        "history": [
            {"best": g.best, "mean": g.mean, "evaluations": g.evaluations, "graph": g.graph} for g in found.history
        ],
    }


case("optimize onemax", "onemax:n=20", seed=1)(optimized)
case("optimize royal-road", "royal-road:n=16,group=4", seed=2, max_generations=12)(optimized)
case("optimize trap", "trap:n=15,size=5", "moa", seed=3, max_generations=10)(optimized)
case("optimize nk", "nk:n=14,k=2,seed=4", "moa", seed=4, max_generations=8)(optimized)
case("optimize ising", "ising:rows=4,columns=4,seed=5", seed=5, max_generations=8)(optimized)
case("optimize onemax states", "onemax:n=12,states=3", "moa", seed=6, max_generations=6)(optimized)


@case("optimize minimize")
def minimized() -> object:
    """Minimize a function of genes with three states, by tournaments, with a checkpoint."""
    algorithm = optimize.MarkovEDA(population=60, selection=optimize.Tournament(3, 0.5), elitism=2)

    def fitness(individual: np.ndarray) -> float:
        return float(((individual - np.arange(8) % 3) ** 2).sum())

    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        settings: dict[str, Any] = {"algorithm": algorithm, "states": 3, "seed": 7}
        first = optimize.minimize(fitness, 8, max_generations=3, checkpoint=path, **settings)
        second = optimize.minimize(fitness, 8, max_generations=6, checkpoint=path, **settings)
    return {"first": run_of(first), "second": run_of(second)}


@case("optimize problems")
def problems() -> object:
    """Evaluate named problems and a formula."""
    rows = np.random.default_rng(8).integers(0, 2, (6, 12))
    formula: Any = optimize.parse_dimacs("p cnf 4 3\n1 -2 3 0\n-1 4 0\n2 -3 -4 0\n")
    found: dict[str, Any] = {name: optimize.problem_named(f"{name}:n=12") for name in ("onemax", "royal-road", "nk")}
    return {
        **{name: {"fitness": p(rows), "structure": p.structure, "best": p.solve()[0]} for name, p in found.items()},
        "formula": [formula(rows[:, :4]), formula.structure, formula.solve()[0]],
        "critical": optimize.critical_population(optimize.onemax(8), runs=4, success_rate=0.75, seed=9).population,
    }


# --- Evaluation -----------------------------------------------------------------------------------------------------


@case("evaluate")
def evaluated() -> object:
    """Measure a learned graph against the truth in every way."""
    found, truth = mn.learn(binary(), "mpl", n_jobs=1).graph, graphs.grid(3, 4)
    test = mn.ChiSquare(mn.Counts(binary(), n_jobs=1))
    score = mn.make_score("mpl", binary(), n_jobs=1)
    terms = {"a": [0, 1, 2, 3], "b": [4, 5, 6], "c": [8, 9]}
    trace = mn.learn(tiny(), "gsmn", keep_trace=True).trace
    return {
        "summary": mn.evaluate(found, truth).to_dict(),
        "edges": evaluation.compare_edges(found, truth),
        "absent": evaluation.compare_edges(found, truth, positives="independences"),
        "f1": evaluation.f1(found, truth),
        "hamming": [evaluation.hamming(found, truth), evaluation.normalized_hamming(found, truth)],
        "accuracy": evaluation.independence_accuracy(found, test, n_triplets=200, seed=1),
        "triplets": evaluation.sample_triplets(8, 10, seed=2),
        "gap": evaluation.score_gap(score, truth, found),
        "success": evaluation.success_rate([found, truth], truth),
        "weighted": evaluation.weighted_tests(trace or ()),
        "enrichment": evaluation.enrichment(truth, terms),
        "ev": evaluation.ev_scores(found, truth),
    }


@case("evaluate landscape")
def landscape() -> object:
    """Score all graphs of five variables, and learn a directed network."""
    score = mn.make_score("mpl", tiny(), n_jobs=1)
    found = evaluation.landscape(score, graphs.cycle(5), marked={"empty": mn.Graph.empty(5)})
    directed = evaluation.learn_directed(small())
    return {
        "distances": found.distances,
        "scores": found.scores,
        "marks": found.marks,
        "correlation": round(found.correlation(), 12),
        # Not the arcs: the score leaves directions within an equivalence class to pyAgrum, which decides by platform.
        "skeleton": mn.Graph(directed.n_variables, [tuple(sorted(arc)) for arc in directed.arcs]),
        "moral": directed.moral_graph(),
    }


@case("all graphs of four variables")
def all_graphs() -> object:
    """Score all 64 graphs of four variables by every score."""
    data = tiny().select(["v0", "v1", "v2", "v3"])
    pairs = list(combinations(range(4), 2))
    every = [mn.Graph(4, [pair for k, pair in enumerate(pairs) if bits >> k & 1]) for bits in range(64)]
    judges = {name: mn.make_score(name, data, n_jobs=1) for name in SCORES}
    return {name: np.array([judge(graph) for graph in every]) for name, judge in judges.items()}


def main() -> None:
    """Write `results.json`, or list the cases that differ from it."""
    parser = argparse.ArgumentParser(description="Golden results.")
    parser.add_argument("--write", action="store_true", help="write results.json anew")
    found = {name: {"close": chosen.close, "result": compute(name)} for name, chosen in sorted(CASES.items())}
    if parser.parse_args().write:
        lines = [f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in found.items()]
        RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    golden = json.loads(RESULTS.read_text(encoding="utf-8"))
    for name, entry in found.items():
        for line in differences(entry["result"], golden[name]["result"], close=entry["close"])[:3]:
            print(f"{name}: {line}")


if __name__ == "__main__":
    main()
