"""Contract of everything public: odd values per argument are taken, or refused with an error of this library.

Each call is made with one argument after the other replaced by each of `ODD`. `NONSENSE` lists values that no call may
take, by the name of the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import networkx as nx
import numpy as np
import pytest

import mnlearn as mn
from mnlearn import evaluation, graphs, learning, model, simulate
from mnlearn.data import write_data
from mnlearn.errors import MnlearnError
from mnlearn.statistics import Counts

Call = tuple[Callable[..., object], dict[str, Any]]

FOLDER = Path(mkdtemp())
ODD: dict[str, Any] = {
    "none": None,
    "negative": -1,
    "zero": 0,
    "three": 3,
    "huge": 10**30,
    "nan": float("nan"),
    "infinite": float("inf"),
    "half": 1.5,
    "true": True,
    "text": "x",
    "no text": "",
    "nul": "a\0b",
    "bytes": b"",
    "nothing": [],
    "mapping": {},
    "set": {"a"},
    "object": object(),
    "function": lambda *_, **__: None,
    "class": int,
    "complex": 1j,
    "folder": FOLDER,
    "no dimension": np.array(3),
    "three dimensions": np.zeros((2, 2, 2)),
    "no rows": np.zeros((0, 3)),
    "NaN in an array": np.array([np.nan, 1.0]),
    "masked": np.ma.MaskedArray([1, 2], [True, False]),
    "NumPy's 2": np.int64(2),
    "NumPy's true": np.bool_(True),
    "mixed": [1, "a", None],
    "texts": ["a", "b"],
    "pairs": [(0, 1)],
    "loop": [(0, 0)],
    "triple": [(0, 1, 2)],
    "ragged": [[1], [2, 3]],
    "negatives": [-1],
    "huge ones": [10**30],
}
NONSENSE: dict[str, tuple[str, ...]] = {
    "alpha": ("none", "negative", "zero", "nan", "infinite", "half", "true", "text", "complex", "NumPy's true"),
    "seed": ("none", "negative", "nan", "half", "true", "text", "complex", "nothing", "NumPy's true"),
    "n_jobs": ("zero", "nan", "half", "true", "text", "NumPy's true", "nothing"),
    "n_samples": ("none", "negative", "zero", "half", "true", "text", "NumPy's true"),
    "n_permutations": ("none", "negative", "zero", "half", "true", "text", "NumPy's true"),
    "threshold": ("none", "negative", "nan", "infinite", "true", "text", "NumPy's true"),
    "prior": ("none", "negative", "zero", "nan", "infinite", "half", "true", "text"),
    "gamma": ("none", "negative", "nan", "infinite", "true", "text", "NumPy's true"),
    "n_rows": ("none", "negative", "zero", "nan", "half", "true", "text", "NumPy's true"),
    "bins": ("negative", "zero", "nan", "half", "true", "text", "NumPy's true"),
    "least": ("nan", "true", "text", "none", "NumPy's true"),
    "top": ("negative", "zero", "nan", "half", "true", "text"),
    "max_memory": ("negative", "zero", "nan", "half", "true", "text"),
    "title": ("zero", "true", "bytes", "nothing"),
    "x": ("none", "half", "true", "text", "nan", "NumPy's true"),
    "y": ("none", "half", "true", "text", "nan", "NumPy's true"),
    "graph": ("zero", "true", "nan", "object", "function", "class"),
    "data": ("zero", "true", "nan", "object", "function", "class", "none"),
    "path": ("none", "zero", "true", "object", "no text", "nul", "nothing"),
}
MEANT = {  # where such a value has a meaning
    ("fit_parameters", "data", "none"),  # data come with a learned network
    ("MarkovNetworkLearner", "y", "all"),  # not used
    ("plot", "path", "none"),
    ("dependences", "top", "none"),
    ("compare", "alpha", "none"),
    ("model.sample", "seed", "none"),  # fresh random numbers
    ("BayesianTest", "alpha", "half"),  # a count of the prior, not a level
}


def with_defaults(call: Callable[..., object], /, **given: Any) -> Call:
    """Return the call with every parameter that has a default, so that each of them is tried."""
    left_out = ("checkpoint", "resume")
    simple = (p for p in signature(call).parameters.values() if p.kind not in (Parameter.VAR_KEYWORD,))
    defaults = {p.name: p.default for p in simple if p.default is not p.empty and p.name not in left_out}
    return call, {k: v for k, v in defaults.items() if "FACTORY" not in type(v).__name__} | given


def table() -> dict[str, list[int]]:
    """Return a column copied with errors, twice, and one of its own."""
    rng = np.random.default_rng(1)
    first, (one, other) = rng.integers(0, 2, 120), rng.random((2, 120)) < 0.2
    columns = (first, first ^ one, first ^ one ^ other, rng.integers(0, 2, 120))
    return {name: column.tolist() for name, column in zip("abcd", columns, strict=True)}


def numbers() -> mn.Dataset:
    """Return the table with noise."""
    noise = np.random.default_rng(2).normal(size=(4, 120))
    return mn.read({name: np.array(v) + noise[k] for k, (name, v) in enumerate(table().items())})


GRAPH = mn.Graph(4, [(0, 1), (1, 2)])
NAMED = mn.NamedGraph(GRAPH, ("a", "b", "c", "d"))


def data() -> Iterator[tuple[str, Call]]:
    """Yield what takes and makes data."""
    dataset = mn.read(table())
    column = np.zeros(3, np.uint8)
    yield "read", with_defaults(mn.read, source=table())
    yield "overview", with_defaults(mn.overview, source=table())
    yield "pack", with_defaults(mn.pack, source=table(), out=FOLDER / "o.mnpack")
    yield "write_data", with_defaults(write_data, dataset=dataset, path=FOLDER / "w.csv")
    yield "discretize", with_defaults(mn.discretize, dataset=numbers())
    yield "from_codes", with_defaults(mn.Dataset.from_codes, codes=[[0, 1], [1, 0]])
    parts = {"names": ("a", "b"), "cards": (2, 2), "columns": (column, column), "levels": ((0, 1), (0, 1))}
    yield "Dataset", (mn.Dataset, parts | {"repeats": None})
    yield "select", (dataset.select, {"variables": ["a"]})
    yield "index", (dataset.index, {"name": "a"})
    yield "sample", (dataset.sample, {"n_rows": 3, "seed": 1})
    yield "Counts", with_defaults(Counts, dataset=dataset, n_jobs=1)
    yield "Moments", (mn.Moments, {"dataset": numbers()})
    covariance = {"covariance": [[1.0, 0.5], [0.5, 1.0]], "n_rows": 100, "names": None}
    yield "from_covariance", (mn.Moments.from_covariance, covariance)


def structures() -> Iterator[tuple[str, Call]]:
    """Yield graphs and their files."""
    mn.write_graph(FOLDER / "g.json", GRAPH)
    yield "Graph", (mn.Graph, {"n_variables": 4, "edges": [(0, 1)]})
    yield "NamedGraph", (mn.NamedGraph, {"graph": GRAPH, "names": NAMED.names, "attributes": {}})
    yield "read_graph", with_defaults(mn.read_graph, path=FOLDER / "g.json")
    yield "write_graph", with_defaults(mn.write_graph, path=FOLDER / "h.json", graph=GRAPH)
    z = frozenset({1})
    methods: dict[str, dict[str, Any]] = {
        "add": {"edges": [(0, 3)]},
        "remove": {"edges": [(0, 1)]},
        "flip": {"u": 0, "v": 1},
        "has_edge": {"u": 0, "v": 1},
        "neighbors": {"x": 0},
        "degree": {"x": 0},
        "reachable": {"x": 0, "z": z},
        "separates": {"x": 0, "y": 2, "z": z},
        "relabel": {"permutation": [1, 0, 2, 3]},
        "subgraph": {"variables": [0, 1]},
        "to_networkx": {"names": None},
        "complete": {"n_variables": 3},
        "from_adjacency": {"matrix": [[0, 1], [1, 0]]},
        "from_networkx": {"graph": nx.path_graph(3)},
    }
    for name, given in methods.items():
        yield name, (getattr(GRAPH, name), given)
    for make, given in (
        (graphs.barabasi_albert, {"n_variables": 5, "n_links": 2, "seed": 1}),
        (graphs.clique_chain, {"n_variables": 5, "clique_size": 3, "overlap": 1}),
        (graphs.cycle, {"n_variables": 5}),
        (graphs.erdos_renyi, {"n_variables": 5, "probability": 0.3, "seed": 1}),
        (graphs.grid, {"n_rows": 2, "n_columns": 3, "periodic": False}),
        (graphs.hubs, {"n_hubs": 2, "n_leaves": 2}),
        (graphs.path, {"n_variables": 5}),
        (graphs.random_graph, {"n_variables": 5, "average_degree": 2.0, "seed": 1}),
        (graphs.random_tree, {"n_variables": 5, "seed": 1}),
        (graphs.star, {"n_variables": 5}),
        (graphs.disjoint_union, {"graphs": [GRAPH, GRAPH]}),
    ):
        yield getattr(make, "__name__", ""), (make, {k: given[k] for k in signature(make).parameters if k in given})


def judges() -> Iterator[tuple[str, Call]]:
    """Yield tests and scores, and what they answer."""
    counts, moments = Counts(mn.read(table()), n_jobs=1), mn.Moments(numbers())
    posterior = mn.BayesianTest(counts)
    counted = (mn.ChiSquare, mn.GTest, mn.BayesianTest, mn.MutualInformation, mn.ScoreTest, mn.MPL, mn.PIC, mn.Entropy)
    makers: dict[Any, dict[str, Any]] = {kind: {"statistics": counts} for kind in counted}
    makers |= {kind: {"statistics": counts} for kind in (mn.ExtendedBIC, mn.HybridEvidence)}
    makers |= {kind: {"moments": moments} for kind in (mn.PartialCorrelation, mn.GaussianPosterior)}
    makers |= {kind: {"posterior": posterior} for kind in (mn.IBScore, mn.BJPScore)}
    makers |= {mn.L1Logistic: {"data": mn.read(table())}, mn.SeparationOracle: {"graph": GRAPH}}
    question = {"x": 0, "z": frozenset({2})}
    for make, given in makers.items():
        name = make.__name__
        yield name, with_defaults(make, **given)
        judge = make(**given)
        if hasattr(judge, "scan"):
            yield f"{name}()", (judge, {**question, "y": 1})
            yield f"{name}.scan", (judge.scan, {**question, "ys": [1]})
        elif hasattr(judge, "on"):
            yield f"{name}()", (judge, {"graph": GRAPH})
            yield f"{name}.on", (judge.on, {"graph": GRAPH})
            if hasattr(judge, "local"):
                yield f"{name}.local", (judge.local, {"x": 0, "blanket": frozenset({1})})
                several = {"xs": [0], "blankets": [frozenset({1})], "yss": [[2]]}
                yield f"{name}.additions", (judge.additions, several)
    for method in ("conditional_entropies", "exchanged_entropies", "partial_correlations"):
        yield method, (getattr(moments, method), {**question, "ys": [1]})
    for method in ("conditional_entropy", "member_correlations"):
        yield method, (getattr(moments, method), question)
    yield "conditional_correlation", (moments.conditional_correlation, {"variables": [0, 1], "z": ()})


def one_call() -> Iterator[tuple[str, Call]]:
    """Yield the main functions, and results."""
    dataset, by_rows = mn.read(table()), {"n_jobs": 1}
    learned = mn.learn(dataset, "mpl", n_jobs=1)
    often = learned.bootstrap(3, n_jobs=1)
    learned.save(FOLDER / "l.json")
    yield "learn", with_defaults(mn.learn, data=table(), method="mpl", **by_rows)
    yield "score", with_defaults(mn.score, data=table(), graph=NAMED, **by_rows)
    yield "compare", with_defaults(mn.compare, data=dataset, truth=NAMED, methods=["mpl"], **by_rows)
    grouped = {"data": table(), "by": "d", "method": "mpl", "n_permutations": 2}
    yield "compare_groups", with_defaults(mn.compare_groups, **grouped, **by_rows)
    yield "dependences", with_defaults(mn.dependences, data=dataset)
    yield "independence_test", with_defaults(mn.independence_test, data=table(), x="a", y="b", given=("c",))
    yield "evaluate", with_defaults(mn.evaluate, learned=NAMED, truth=NAMED)
    yield "validate", with_defaults(mn.validate, graph=NAMED, data=table(), n_triplets=12, folds=2, **by_rows)
    yield "make_test", with_defaults(mn.make_test, name="chi2", dataset=dataset, alpha=0.05)
    yield "make_score", with_defaults(mn.make_score, name="mpl", dataset=dataset)
    yield "load", (mn.load, {"path": FOLDER / "l.json"})
    yield "blanket", (learned.blanket, {"name": "a"})
    yield "compare", (learned.compare, {"other": learned})
    yield "edges", (often.edges, {"frame": None})
    yield "save", with_defaults(learned.save, path=FOLDER / "s.json")
    yield "stable", (often.stable, {"threshold": 0.5})
    yield "why", (learned.why, {"x": "a", "y": "b"})
    yield "with_data", (learned.with_data, {"data": dataset})
    yield "bootstrap", with_defaults(learned.bootstrap, n_samples=2, n_jobs=1)
    yield "method_settings", (learning.method_settings, {"method": "mpl"})


def reports() -> Iterator[tuple[str, Call]]:
    """Yield what takes longer: the report."""
    yield "report", with_defaults(mn.learn(table(), "mpl", n_jobs=1).report, path=FOLDER / "r.html")


def estimators() -> Iterator[tuple[str, Call]]:
    """Yield the estimators with all their settings."""
    rows = np.column_stack(list(table().values()))
    for kind, given in (
        (mn.MarkovNetworkLearner, {"X": rows}),
        (mn.MarkovBlanketSelector, {"X": rows[:, :3], "y": rows[:, 3]}),
    ):

        def fit(kind: Any = kind, X: Any = None, y: Any = None, **settings: Any) -> object:
            return kind(**settings).fit(X, y)

        yield kind.__name__, (fit, with_defaults(kind, method="mpl", n_jobs=1)[1] | {"y": None} | given)
        fitted: Any = fit(method="mpl", **given)
        use = fitted.score if hasattr(fitted, "score") else fitted.transform
        yield f"{kind.__name__}.{use.__name__}", (use, {"X": given["X"]})


def models() -> Iterator[tuple[str, Call]]:
    """Yield models."""
    dataset, continuous = mn.read(table()), numbers()
    discrete, gaussian = (mn.fit_parameters(NAMED, rows) for rows in (dataset, continuous))
    discrete.save(FOLDER / "model")
    yield "fit_parameters", with_defaults(mn.fit_parameters, graph=NAMED, data=table())
    yield "load_model", (mn.load_model, {"path": FOLDER / "model"})
    yield "canonical_factors", with_defaults(mn.canonical_factors, graph=GRAPH, data=dataset)
    yield "canonical_factors_of", with_defaults(mn.canonical_factors_of, joint=[[0.4, 0.1], [0.2, 0.3]])
    yield "fit", (model.fit, {"graph": GRAPH, "data": dataset, "method": None})
    yield "fit_precision", with_defaults(model.fit_precision, graph=GRAPH, data=continuous)
    yield "fit_pseudolikelihood", with_defaults(model.fit_pseudolikelihood, graph=GRAPH, data=dataset)
    yield "predictions", (model.predictions, {"model": discrete, "column": "a", "data": table()})
    for kind, rows in ((discrete, table()), (gaussian, dict(zip(continuous.names, continuous.columns, strict=True)))):
        parts = {name: getattr(kind, name) for name in signature(type(kind)).parameters if name != "cuts"}
        yield type(kind).__name__, (type(kind), parts)
        yield "conditional", (kind.conditional, {"x": "a", "evidence": {"b": 0}})
        yield "log_likelihood", (kind.log_likelihood, {"data": rows})
        yield "log_conditionals", (kind.log_conditionals, {"data": rows})
        yield "predict", (kind.predict, {"column": "a", "data": rows})
        yield "model.sample", with_defaults(kind.sample, n_rows=3, seed=1)
        yield "model.save", (kind.save, {"path": FOLDER / "saved"})


def simulations() -> Iterator[tuple[str, Call]]:
    """Yield networks and samplers."""
    network = simulate.uniform_factors(GRAPH, 1)
    drawn = {"graph": GRAPH, "seed": 1}
    yield "example", with_defaults(simulate.example, n_rows=10)
    yield "simulate", with_defaults(simulate.simulate, network="grid:rows=2,columns=2", n_rows=10, seed=1)
    yield "uniform_factors", with_defaults(simulate.uniform_factors, **drawn)
    yield "agreement_factors", with_defaults(simulate.agreement_factors, graph=GRAPH, log_odds=1.0)
    yield "random_pairwise_factors", with_defaults(simulate.random_pairwise_factors, **drawn, strength=1.0)
    yield "ising", with_defaults(simulate.ising, **drawn, coupling=0.3)
    yield "with_log_odds", with_defaults(simulate.with_log_odds, **drawn, log_odds=1.0)
    yield "sparse_gaussian", with_defaults(simulate.sparse_gaussian, **drawn)
    yield "equal_partial_correlations", (simulate.equal_partial_correlations, {"graph": GRAPH, "correlation": 0.2})
    yield "simulate.sample", with_defaults(simulate.sample, network=network, n_rows=10, seed=1)
    yield "sample_gibbs", with_defaults(simulate.sample_gibbs, network=network, n_rows=10, seed=1)
    yield "log_partition", (simulate.log_partition, {"network": network})
    yield "Factor", (simulate.Factor, {"variables": (0, 1), "log_values": np.zeros((2, 2))})
    yield "FactorNetwork", (simulate.FactorNetwork, {"cards": (2,) * 4, "factors": network.factors})
    yield "GaussianNetwork", (simulate.GaussianNetwork, {"precision": np.eye(3)})
    yield "GibbsPlan", with_defaults(simulate.GibbsPlan)


def measures() -> Iterator[tuple[str, Call]]:
    """Yield measures of quality."""
    both = {"learned": GRAPH, "truth": GRAPH}
    for measure in ("compare_edges", "ev_scores", "f1", "hamming", "normalized_hamming", "precision", "recall"):
        yield measure, with_defaults(getattr(evaluation, measure), **both)
    for measure in ("irregularity", "total_irregularity"):
        yield measure, (getattr(evaluation, measure), {"graph": GRAPH})
    asked = {"n_triplets": 10, "seed": 1}
    yield "sample_triplets", with_defaults(evaluation.sample_triplets, n_variables=4, **asked)
    oracle = mn.SeparationOracle(GRAPH)
    yield "independence_accuracy", with_defaults(evaluation.independence_accuracy, graph=GRAPH, test=oracle, **asked)


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Call]]]] = {
    "data": data,
    "structures": structures,
    "judges": judges,
    "one call": one_call,
    "estimators": estimators,
    "models": models,
    "simulations": simulations,
    "measures": measures,
}
TOO_MUCH = {("n_jobs", "huge"), ("n_jobs", "no dimension")}  # meant, and takes as long as it takes


def fault(name: str, call: Callable[..., object], given: dict[str, Any], argument: str, kind: str) -> str:
    """Return what is wrong with the answer to one odd value, or nothing."""
    try:
        call(**(given | {argument: ODD[kind]}))
    except MnlearnError as error:
        return "" if str(error).endswith((".", "?", ".)")) else f"said no sentence: {str(error)[:120]!r}"
    except Exception as error:
        return f"raised a {type(error).__name__}: {str(error)[:120]}"
    meant = {(name, argument, kind), (name, argument, "all")} & MEANT
    return "took it" if kind in NONSENSE.get(argument, ()) and not meant else ""


def faults_of(group: Iterator[tuple[str, Call]]) -> Iterator[str]:
    """Yield what is wrong with the answers of a group to odd values."""
    for name, (call, given) in group:
        call(**given)
        for argument in given:
            for kind in ODD:
                found = "" if (argument, kind) in TOO_MUCH else fault(name, call, given, argument, kind)
                if found:
                    yield f"{name}({argument}={kind}) {found}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", [*GROUPS, pytest.param("reports", marks=pytest.mark.slow)])
def test_odd_values_are_taken_or_refused_in_our_words(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    faults = list(faults_of((reports if group == "reports" else GROUPS[group])()))
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults)
