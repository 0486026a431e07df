"""Continuous data: errors of the methods, margins that are far from normal, expression data, speed."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import mnlearn as mn
from cases.accuracy import errors, named
from cases.counting import by_solve
from harness import Lines, case
from mnlearn.algorithms.mbs import MBS
from mnlearn.distributions.gaussian import GaussianNetwork, continuous_dataset, sparse_gaussian
from mnlearn.evaluation import KINDS, compare_edges, ev_scores
from mnlearn.graphs import Graph, barabasi_albert, clique_chain, grid, hubs, path, random_graph, random_tree
from mnlearn.protocols import FloatArray
from mnlearn.scores import Entropy
from mnlearn.statistics import Moments
from mnlearn_papers.accuracy_page import of_probabilities
from mnlearn_papers.directed import learn_directed
from mnlearn_papers.experiment import Case, Experiment, run_experiment
from timing import cpu, data_folder

Rng = np.random.Generator


def small_world(n: int, rng: Rng) -> Graph:
    """A ring where each is joined to the next two, a tenth of the edges rewired (Watts & Strogatz)."""
    edges = {(u, (u + k) % n) for u in range(n) for k in (1, 2)}
    for u, v in sorted(edges):
        w = int(rng.integers(n))
        if rng.random() < 0.1 and w != u and not {(u, w), (w, u)} & edges:
            edges = (edges - {(u, v)}) | {(u, w)}
    return Graph(n, edges)


def cliques(n: int, size: int, rng: Rng | None = None) -> Graph:
    """Blocks of variables, joined to all others of their block; with rng two are joined with probability 0.3."""
    blocks = [range(start, start + size) for start in range(0, n - size + 1, size)]
    edges = [(u, v) for block in blocks for u in block for v in block if u < v]
    return Graph(n, [edge for edge in edges if rng is None or rng.random() < 0.3])


def band(n: int, width: int) -> Graph:
    """Each variable is joined to the next ones."""
    return Graph(n, [(u, u + k) for k in range(1, width + 1) for u in range(n - k)])


SHAPES: dict[str, Callable[[int, Rng], Graph]] = {
    "random": lambda n, rng: random_graph(n, 3.0, rng),
    "hub": lambda n, _: Graph(n, [(u - u % 20, u) for u in range(n) if u % 20]),
    "band": lambda n, _: band(n, 1),
    "band of two": lambda n, _: band(n, 2),
    "cluster": lambda n, rng: cliques(n, 20, rng),
    "scale-free": lambda n, rng: barabasi_albert(n, 1, rng),
    "scale-free of two": lambda n, rng: barabasi_albert(n, 2, rng),
    "small-world": small_world,
    "cliques": lambda n, _: cliques(n, 5),
    "tree": random_tree,
    "grid": lambda n, _: grid(n // 10, 10),
    "path": lambda n, _: path(n),
    "chain of cliques": lambda n, _: clique_chain(n, 4),
    "hubs joined": lambda n, _: hubs(n // 20, 19),
}


def equal(graph: Graph, _: Rng) -> GaussianNetwork:
    """Θ_uv = 0.3 with a smallest eigenvalue of 0.2, the law of huge."""
    theta = np.asarray(0.3 * graph.adjacency().toarray(), dtype=np.float64)
    np.fill_diagonal(theta, 0.2 - np.linalg.eigvalsh(theta)[0])
    return GaussianNetwork(theta)


def signed(graph: Graph, rng: Rng, weak: bool = False) -> GaussianNetwork:
    """Θ_uv = ±(0.3 to 0.8); diagonally dominant by 0.1, or with a smallest eigenvalue of 0.8."""
    theta = np.zeros((graph.n_variables, graph.n_variables))
    for u, v in graph.edges:
        theta[u, v] = theta[v, u] = rng.uniform(0.3, 0.8) * rng.choice([-1.0, 1.0])
    np.fill_diagonal(theta, 0.8 - np.linalg.eigvalsh(theta)[0] if weak else np.abs(theta).sum(axis=1) + 0.1)
    return GaussianNetwork(theta)


LAWS: dict[str, Callable[[Graph, Rng], GaussianNetwork]] = {
    "equal": equal,
    "just definite": sparse_gaussian,
    "dominated": signed,
    "weak": partial(signed, weak=True),
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "sep": ("sep", {"keep_pairs": True}),
    **{name: (name, {}) for name in ("mbs", "lasso", "glasso", "aracne", "l1mb")},
    **{f"{name} 0.01": (name, {"alpha": 0.01}) for name in ("pc", "gsimn")},
    "aracne fdr": ("aracne", {"correction": "fdr"}),
    "mbs entropy": ("mbs", {"choose": "ebic"}),
    "mbs cv": ("mbs", {"choose": "cv"}),
    "mbs k = 4": ("mbs", {"regularization": 3e-5, "k_max": 4}),
    "apart and": ("mbs", {"combine": "and"}),
    "apart or": ("mbs", {"combine": "or"}),
    "l1mb or": ("l1mb", {"combine": "or"}),
}
USUAL = ("sep", "mbs", "pc 0.01", "lasso", "glasso", "aracne", "aracne fdr", "gsimn 0.01")


def source(shape: str, n: int, law: str, n_rows: int, rng: Rng) -> Case:
    """Draw a graph, strengths and rows."""
    graph = SHAPES[shape](n, rng)
    return Case(LAWS[law](graph, rng).dataset(n_rows, rng), graph)


@case("continuous-accuracy", shapes=("tree",), n=(8,), sizes=(50,), laws=("weak",), methods=("sep", "pc 0.01"), draws=1)
def continuous_accuracy(
    *,
    shapes: tuple[str, ...] = tuple(SHAPES)[:11],
    n: tuple[int, ...] = (60, 100),
    sizes: tuple[int, ...] = (100, 200, 500),
    laws: tuple[str, ...] = tuple(LAWS),
    methods: tuple[str, ...] = USUAL,
    draws: int = 2,
    runs: Path | None = None,
) -> Lines:
    """Errors on sparse Gaussian networks by shape, size and law, and the probabilities of `sep`; some minutes.

    Shapes and laws are those that people simulate, as in the R package huge. Every draw is a new graph, new strengths
    and new rows. `--shapes path "chain of cliques"` and the methods of [mbs](mbs.md) are there, too.
    """
    cells = list(product(shapes, n, laws))
    sources = {f"{shape}, n = {k}, {law}": partial(source, shape, k, law) for shape, k, law in cells}
    learners = {
        name: one for chosen in methods for name, one in named(METHODS[chosen][0], chosen, **METHODS[chosen][1]).items()
    }
    journal = None if runs is None else runs / "continuous-accuracy.jsonl"
    rows = run_experiment(Experiment("continuous-accuracy", sources, learners), sizes, draws, journal=journal)
    yield from errors(rows, lambda row: (*row.source.split(", "), f"N = {row.n_rows}"), methods)
    yield from of_probabilities(rows)
    for name in methods:
        yield {"method": name, "s a draw": float(np.mean([row.seconds for row in rows if row.learner == name]))}


@case("margins", sizes=("8-50",), draws=1, shapes=("band of two",), methods=("sep",))
def margins(
    sizes: tuple[str, ...] = ("50-200", "100-200", "50-1000", "100-1000"),
    draws: int = 20,
    shapes: tuple[str, ...] = ("random", "hub", "band of two", "scale-free of two"),
    methods: tuple[str, ...] = ("sep",),
    seed: int = 5000,
) -> Lines:
    """Errors on the same Gaussian rows with changed margins: with `transform="auto"`, in brackets with None."""
    from scipy.special import ndtr, stdtrit

    changes: dict[str, Callable[[FloatArray], Any]] = {
        "Gaussian": lambda g: g,
        "cubed": lambda g: g**3,
        "uniform": ndtr,
    }
    changes |= {"exponential": lambda g: -np.log(ndtr(-g)), "t, 2 degrees": lambda g: stdtrit(2, ndtr(g))}
    for size, name in product(sizes, methods):
        (n, n_rows), (method, settings) = map(int, size.split("-")), METHODS[name]
        wrong: dict[str, list[tuple[int, int]]] = {margin: [] for margin in changes}
        for shape, draw in product(shapes, range(seed, seed + draws)):
            rng = np.random.default_rng([draw, n, n_rows, list(SHAPES).index(shape)])
            truth = SHAPES[shape](n, rng)
            network = (sparse_gaussian if draw % 2 else signed)(truth, rng)
            rows = network.sample(n_rows, rng) / np.sqrt(np.diag(np.linalg.inv(network.precision)))
            for margin, change in changes.items():
                call = partial(mn.learn, continuous_dataset(change(rows)), method, n_jobs=1, **settings)
                auto, values = (len(set(one.graph.edges) ^ set(truth.edges)) for one in (call(), call(transform=None)))
                wrong[margin].append((auto, values))
        means = {margin: np.mean(errors_of, axis=0) for margin, errors_of in wrong.items()}
        yield {"n, N": size, "method": name, **{m: f"{auto:.1f} ({values:.1f})" for m, (auto, values) in means.items()}}


def dream_cases() -> Iterable[Case]:
    """Yield the five multifactorial sets of DREAM4 of 100 genes with their gold standards."""
    for number in range(1, 6):
        stem = data_folder() / "expression" / f"dream4_size100_multifactorial_{number}"
        if not Path(f"{stem}.csv.gz").exists():
            continue
        with gzip.open(f"{stem}.csv.gz", "rt", encoding="utf-8") as file:
            names, *values = list(csv.reader(file))
        data = mn.read(dict(zip(names, np.array(values, dtype=float).T, strict=True)))
        with Path(f"{stem}_gold.csv").open(encoding="utf-8") as file:
            arcs = list(csv.reader(file))[1:]
        yield Case(data, Graph(len(names), {tuple(sorted((names.index(u), names.index(v)))) for u, v, *_ in arcs}))


def rightness(graph: Graph, truth: Graph) -> dict[str, float]:
    """Return precision, recall, and E and V by kind of subgraph."""
    told, kinds = compare_edges(graph, truth), ev_scores(graph, truth)
    found = {"edges": float(graph.n_edges), "precision": told.precision, "recall": told.recall}
    each = {f"{letter} {kind}": getattr(kinds[kind], letter.lower()) for kind in KINDS for letter in "EV"}
    return found | {name: value for name, value in each.items() if value is not None}


@case("dream", methods=("pc 0.01",), sets=1)
def dream(
    methods: tuple[str, ...] = ("mbs", "mbs entropy", "mbs k = 4", "apart and", "apart or", "pc 0.01", "sep"),
    sets: int = 5,
) -> Lines:
    """Methods on the expression data of DREAM4: edges, precision, recall, AP, E and V; means of five networks.

    Then the same of the moral graph that pyAgrum's hill climbing finds when parents must be in the learned blankets, on
    three states of equal frequency; "none" is without constraints.
    """
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for data, truth in list(dream_cases())[:sets]:
        states = mn.discretize(data, method="frequency", bins=3)
        blankets: dict[str, Graph | None] = {"none": None}
        for name in methods:
            learned = mn.learn(data, METHODS[name][0], n_jobs=1, **METHODS[name][1])
            right, hits, place = 0.0, 0, {gene: k for k, gene in enumerate(learned.names)}
            for rank, edge in enumerate(learned.edge_list(), start=1):
                hits += (hit := truth.has_edge(place[edge.u], place[edge.v]))
                right += hit * hits / rank
            measured = rightness(learned.graph, truth) | {"AP": right / truth.n_edges}
            found.setdefault(("", name), []).append(measured)
            blankets[name] = learned.graph
        for name, blanket in blankets.items():
            moral = learn_directed(states, blanket).moral_graph()
            found.setdefault(("directed, ", name), []).append(rightness(moral, truth))
    for (kind, name), several in sorted(found.items()):
        yield {"method": kind + name, **{key: float(np.mean([one[key] for one in several])) for key in several[0]}}


def one_by_one(correlation: FloatArray, n_rows: int, tests: bool) -> float:
    """Return the CPU seconds of one Fisher z test by an inverse, or of one residual variance by a solve."""
    from scipy.special import log_ndtr

    rng = np.random.default_rng(0)
    questions = [rng.choice(len(correlation), 5, replace=False).tolist() for _ in range(200)]

    def test() -> None:
        for question in questions:
            r = by_solve(correlation, question)
            _ = np.log(2.0) + log_ndtr(-abs(np.arctanh(r)) * np.sqrt(n_rows - 6))

    def regression() -> None:
        for _, x, *z in questions:
            _ = np.log(1.0 - correlation[z, x] @ np.linalg.solve(correlation[np.ix_(z, z)], correlation[z, x]))

    return cpu(test if tests else regression)[0] / len(questions)


@case("continuous", sizes=(12,), methods=("pc", "sep"))
def continuous(
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000),
    methods: tuple[str, ...] = ("pc", "hhc-mn", "aracne", "lasso", "mbs", "sep"),
    most: float = 30.0,
) -> Lines:
    """Seconds of the learners as variables are added, beside the same numbers test by test or solve by solve in NumPy.

    Sparse Gaussian networks, 200 rows, from 500 variables on 500. `lasso` is beside scikit-learn's LARS. A method is
    left out where it would take more than `--most` seconds.
    """
    with threadpool_limits(1):
        for method in methods:
            expected = 0.0
            for n in sizes:
                if expected * (n / 50) ** 2.5 > most:
                    break
                data = source("random", n, "just definite", 200 if n < 500 else 500, np.random.default_rng(n)).data
                seconds, found = cpu(partial(mn.learn, data, method, n_jobs=1))
                expected, other = seconds * (50 / n) ** 2.5, float("nan")
                correlation, cost = np.corrcoef(np.stack(data.columns)), found.result.cost
                if method in ("pc", "hhc-mn"):
                    other = cost["asked"] * one_by_one(correlation, data.n_rows, True)
                elif method == "lasso":
                    other = lars(np.column_stack(data.columns))
                elif method != "aracne":
                    other = cost["scored" if method == "mbs" else "fits"] * one_by_one(correlation, data.n_rows, False)
                row = {"method": method, "n": n, "N": data.n_rows, "s": seconds, "edges": found.graph.n_edges}
                yield {**row, "one by one, s": other, "times as long": other / seconds}


def lars(values: FloatArray) -> float:
    """Return the CPU seconds of scikit-learn's LARS for every variable, from a sample of ten."""
    from sklearn.linear_model import LassoLarsIC

    n = int(values.shape[1])
    xs = range(0, n, max(1, n // 10))
    model = LassoLarsIC(criterion="bic", max_iter=50, noise_variance=1.0)
    return cpu(lambda: [model.fit(np.delete(values, x, 1), values[:, x]) for x in xs], 1)[0] * (n / len(xs))


@case("mbs", n=20, rows=50)
def mbs(n: int = 1808, rows: int = 200, k: int = 4, regularization: float = 1e-4) -> Lines:
    """Markov blanket search at the yeast size of the paper, beside one numpy.linalg.solve an entropy.

    The latter is timed on a sample and scaled. Set OPENBLAS_NUM_THREADS=1.
    """
    data = sparse_gaussian(barabasi_albert(n, 2, seed=1), seed=2).dataset(rows, seed=3)
    seconds, found = cpu(lambda: MBS(k_max=k, regularization=regularization).learn(Entropy(Moments(data))), 1)
    each, scored = one_by_one(np.corrcoef(np.stack(data.columns)), rows, False), found.cost["scored"]
    row = {"n": n, "s": seconds, "moves": int(found.cost["moves"]), "swaps": int(found.cost["swaps"])}
    row |= {"million entropies": scored / 1e6, "ns each": 1e9 * seconds / scored}
    yield {**row, "one by one, times as long": each * scored / seconds}
