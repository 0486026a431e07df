"""The default learner: beside fitting everything, pyAgrum and mpl, as networks grow, on mixed tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product
from math import inf, log
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import mnlearn as mn
from cases.large import few_parents
from cases.learners import wrong
from harness import Lines, case
from mnlearn.algorithms import sep
from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.data import Dataset, read
from mnlearn.distributions.factors import ising, uniform_factors
from mnlearn.distributions.sampling import sample
from mnlearn.graphs import Graph, hubs, random_graph, random_tree
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import Margin, mixed_network, ordinal_field, random_gaps, read_bif, spread_margins
from mnlearn.statistics import Counts
from timing import cpu, data_folder, forget_peak, fresh, memory, turns

Codes = NDArray[np.integer[Any]]


def learned(data: Dataset, effort: str) -> Any:
    """Learn from counts on, on one thread."""
    return SeparatorEvidence(effort=effort).learn(HybridEvidence(Counts(data, n_jobs=1)))  # type: ignore[arg-type]


@case("separator", tree=20, leaves=4)
def separator(efforts: tuple[str, ...] = ("standard", "thorough"), tree: int = 256, leaves: int = 15) -> Lines:
    """Separator evidence with one-step estimates, beside the same with every model fitted."""
    networks: dict[str, tuple[Dataset, Graph]] = {}
    if (alarm := data_folder() / "networks" / "alarm.bif").exists() and tree > 20:
        networks["Alarm, N = 2000"] = read_bif(alarm).sample(2000, seed=1), read_bif(alarm).moral_graph()
    for name, graph, n_rows in (("hubs", hubs(4, leaves), 2000), ("tree", random_tree(tree, seed=1), 1000)):
        data = sample(uniform_factors(graph, seed=2), n_rows, seed=3).dataset()
        networks[f"{name} of {graph.n_variables}, N = {n_rows}"] = data, graph
    for (name, (data, truth)), effort in product(networks.items(), efforts):
        seconds, found = cpu(partial(learned, data, effort))
        with patch.object(sep, "NEAR", inf):
            fitted, _ = cpu(partial(learned, data, effort), 2)
        row = {"network": name, "effort": effort, "s": seconds, "all fitted": f"{fitted / seconds:.2f} times"}
        yield {**row, "wrong edges": wrong(found.graph, truth)}


@case("sep-growth", sizes=(16,), rows=200)
def sep_growth(
    sizes: tuple[int, ...] = (64, 256, 1000, 2000, 5000, 10_000), rows: int = 2000, effort: str = "standard"
) -> Lines:
    """Separator evidence on trees and on random graphs of degree 3 as they grow."""
    for shape, n in product(("tree", "degree 3"), sizes):
        graph = random_tree(n, seed=1) if shape == "tree" else random_graph(n, 3, seed=1)
        network = uniform_factors(graph, seed=2) if shape == "tree" else ising(graph, 0.5, seed=2)
        seconds, found = cpu(partial(learned, sample(network, rows, seed=3).dataset(), effort), 1)
        yield {"network": shape, "n": n, "s": seconds, "wrong edges": wrong(found.graph, graph), "MB": memory()}


def _one_size(n: int, rows: int, effort: str) -> dict[str, object]:
    """Learn one size in this process."""
    drawn = few_parents(n, rows, seed=1)
    seconds, found = cpu(partial(learned, drawn.data, effort), 1)
    errors = wrong(found.graph, drawn.truth)
    return {"n": n, "s": seconds, "µs a variable": 1e6 * seconds / n, "edges": found.graph.n_edges, "wrong": errors}


@case("sep-scale", sizes=(60,), rows=200)
def sep_scale(sizes: tuple[int, ...] = (1000, 3000, 10_000), rows: int = 2000, effort: str = "thorough") -> Lines:
    """Separator evidence on binary Bayesian networks of many variables, each size in a fresh process.

    The memory is the peak, data included. 100,000 variables take some six minutes.
    """
    for n in sizes:
        row, megabytes = fresh(_with_memory, _one_size, n, rows, effort)
        yield {**row, "MB": megabytes}


def _with_memory(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Return what a call returns, and the peak memory of this process in MB."""
    return work(*given), memory()


def binary(n: int, n_rows: int) -> Codes:
    """Binary variables on a random graph of degree 3."""
    return _codes(sample(ising(random_graph(n, 3, seed=1), 0.5, seed=2), n_rows, seed=3).dataset())


def scale_free(n: int, n_rows: int) -> Codes:
    """Binary variables on a graph with hubs, by preferential attachment."""
    graph = Graph(n, list(nx.barabasi_albert_graph(n, 2, seed=1).edges))
    return _codes(sample(ising(graph, 0.3, seed=2), n_rows, seed=3).dataset())


def survey(n: int, n_rows: int) -> Codes:
    """Items of five points, ten for each hidden factor."""
    rng, n_factors = np.random.default_rng(1), max(1, n // 10)
    factors = rng.standard_normal((n_rows, n_factors)) + 0.4 * rng.standard_normal((n_rows, 1))
    loading = rng.uniform(0.5, 0.9, n)
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((n_rows, n))
    return np.digitize(loading * factors[:, np.arange(n) % n_factors] + noise, [-1.2, -0.4, 0.4, 1.2])


def genotypes(n: int, n_rows: int) -> Codes:
    """Ternary sites in blocks of ten, each often like the one before."""
    rng = np.random.default_rng(1)
    frequency, linkage = rng.uniform(0.1, 0.5, n), rng.uniform(0.3, 0.9, n)
    total = np.zeros((n_rows, n), dtype=np.int8)
    for _ in range(2):
        strand = rng.random((n_rows, n)) < frequency
        for j in range(1, n):
            if j % 10:
                strand[:, j] = np.where(rng.random(n_rows) < linkage[j], strand[:, j - 1], strand[:, j])
        total += strand
    return total


def words(n: int, n_rows: int) -> Codes:
    """Rare words, more frequent in documents of their topic."""
    rng = np.random.default_rng(1)
    topics, topic_of_word = rng.integers(0, 20, (n_rows, 2)), rng.integers(0, 20, n)
    rate = rng.uniform(0.005, 0.03, n)
    codes = np.empty((n_rows, n), dtype=np.int8)
    for j in range(n):
        matches = (topics == topic_of_word[j]).any(axis=1)
        codes[:, j] = rng.random(n_rows) < rate[j] * np.where(matches, 3.0, 0.8)
    return codes


def _codes(data: Any) -> Codes:
    return np.stack(data.columns, axis=1)


def hill_climbing(frame: Any) -> Any:
    """Learn by pyAgrum's greedy hill climbing on one thread."""
    pyagrum: Any = import_module("pyagrum")
    learner = pyagrum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    return learner.learnBN()


@case("default-pyagrum", needs=["pyagrum"], smaller=10)
def default_pyagrum(smaller: int = 1) -> Lines:
    """The default from a data frame, beside pyAgrum's hill climbing; bfi and Alarm from files."""
    import pandas as pd

    alarm, bfi = data_folder() / "networks" / "alarm.bif", data_folder() / "psych" / "bfi.csv"
    tables = {"binary, 64 columns": binary(64 // smaller, 2000)}
    if alarm.exists() and smaller == 1:
        tables["Alarm, 37 columns"] = _codes(read_bif(alarm).sample(2000, seed=1))
    tables |= {f"five-point items, {n} columns": survey(n // smaller, 2000) for n in (50, 100)}
    if bfi.exists() and smaller == 1:
        items = pd.read_csv(bfi, na_values="?").loc[:, "A1":"O5"].dropna()
        tables["bfi, 25 items"] = items.to_numpy(dtype=np.int8)
    tables["binary, scale-free, 256 columns"] = scale_free(256 // smaller, 2000)
    for name, codes in tables.items():
        frame = pd.DataFrame(codes, columns=[f"v{j}" for j in range(codes.shape[1])]).astype(str).astype("category")
        ours, theirs = turns(partial(mn.learn, frame, n_jobs=1), partial(hill_climbing, frame), repeats=5)
        yield {"data": name, "rows": len(codes), "sep, s": ours, "pyAgrum, s": theirs, "times faster": theirs / ours}


@case("default-mpl", smaller=100)
def default_mpl(smaller: int = 1) -> Lines:
    """The default beside mpl on 1,000 to 10,000 columns, with the peak memory, data and their making included."""
    tables: dict[str, tuple[Callable[[int, int], Codes], int, int]] = {
        "binary, 1,000 columns": (binary, 1000, 2000),
        "ternary, 5,000 columns": (genotypes, 5000, 1000),
        "words, 2,000 columns": (words, 2000, 20_000),
        "binary, 10,000 columns": (binary, 10_000, 2000),
    }
    for name, (make, n, n_rows) in tables.items():
        codes = make(n // smaller, n_rows // (1 + (smaller > 1)))
        ours, _ = cpu(partial(mn.learn, codes, n_jobs=1), 2)
        megabytes = memory()
        theirs, _ = cpu(partial(mn.learn, codes, "mpl", n_jobs=1), 2)
        row = {"data": name, "rows": len(codes), "sep, s": ours, "MB": megabytes, "mpl, s": theirs}
        yield {**row, "times as long": ours / theirs}


FOUR_KINDS = (Margin("nominal", states=3), Margin("ordinal", states=5), Margin("count", mean=3.0), Margin("continuous"))


def penguins() -> Dataset:
    """Simulate 344 rows of eight columns with strong edges and few gaps."""
    margins = (*([Margin("nominal", states=3)] * 2), *([Margin("continuous")] * 4))
    margins += (Margin("nominal", states=2), Margin("ordinal", states=3))
    network = mixed_network(random_graph(8, 4.0, 1), margins, 1, weakest=0.3, strongest=0.8)
    return random_gaps(network.dataset(344, 2), 0.02, 3)


def adult() -> Dataset:
    """Read 14 columns of adult and draw 48,842 rows of its 32,561."""
    numbers = ("age", "capital_gain", "capital_loss", "hours_per_week")
    types: dict[str, Any] = {**dict.fromkeys(numbers, "continuous"), "education_num": "ordinal"}
    options: dict[str, Any] = {"missing": "testwise", "missing_values": ["?"], "drop": ["fnlwgt"]}
    found = read(data_folder() / "uci" / "adult.csv.gz", types=types, **options)
    rows = np.random.default_rng(1).integers(0, found.n_rows, 48_842)
    return replace(found, columns=tuple(column[rows] for column in found.columns))


def bfi_items() -> Dataset:
    """Read the 25 items of bfi."""
    items = [f"{letter}{k}" for letter in "ACENO" for k in range(1, 6)]
    options: dict[str, Any] = {"missing": "testwise", "missing_values": ["?"], "columns": items}
    return read(data_folder() / "psych" / "bfi.csv", types=dict.fromkeys(items, "ordinal"), **options)


def mixed(n: int, n_rows: int) -> Dataset:
    """Draw columns of four kinds."""
    rng = np.random.default_rng(1)
    network = mixed_network(random_graph(n, 3.0, rng), spread_margins(n, FOUR_KINDS, rng), rng)
    return network.dataset(n_rows, rng, sweeps=50)


MIXED: dict[str, tuple[Callable[[], Dataset], tuple[float, ...]]] = {  # with shares of values to remove
    "penguins": (penguins, ()),
    "bfi": (bfi_items, ()),
    "wide": (lambda: mixed(500, 2000), ()),
    "adult": (adult, ()),
    "alarm": (lambda: read_bif(data_folder() / "networks" / "alarm.bif").sample(4000, 1), (0.05, 0.2)),
    "ordinal": (lambda: ordinal_field(random_graph(20, 3.0, 1), 1).dataset(4000, 2), (0.05, 0.2)),
    "mixed": (lambda: mixed(20, 4000), (0.05, 0.2)),
}


def _one_table(name: str, share: float) -> tuple[dict[str, float], float]:
    """Learn a table in this process; its numbers, and the peak of the memory above it in MB."""
    data = MIXED[name][0]()
    data = random_gaps(data, share, 1) if share else data
    small = replace(data, columns=tuple(column[:50] for column in data.columns), repeats=None)
    mn.learn(small.select(range(min(8, data.n_variables))), n_jobs=1)  # imports all that is needed
    forget_peak()
    before = memory("VmRSS")
    seconds, found = cpu(partial(mn.learn, data, n_jobs=1), 3)
    coded = sum(column.nbytes for column in data.columns) / 1e6
    size = {"rows": data.n_rows, "columns": data.n_variables, "edges": found.graph.n_edges, "s": seconds}
    return {**size, "peak over coded size": (memory() - before) / coded}, seconds


@case("mixed-speed", tables=("penguins",))
def mixed_speed(tables: tuple[str, ...] = tuple(MIXED)) -> Lines:
    """Time and memory of the default on mixed and incomplete tables, each in a fresh process; the cost of gaps."""
    for name in tables:
        complete = 0.0
        for share in (0.0, *MIXED[name][1]):
            row, seconds = fresh(_one_table, name, share)
            complete = complete or seconds
            yield {"table": name, "removed": f"{share:.0%}", **row, "times complete": seconds / complete}


def evidence_of_table(n_rows: int, a: int, b: int, both: int) -> float:
    """Return the log Bayes factor of an edge between binary columns with a and b ones, some in the same row."""
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    counts = np.array([n_rows - a - b + both, b - both, a - both, both])
    data = Dataset.from_codes(cells[counts > 0], cards=[2, 2], repeats=counts[counts > 0])
    (found,) = HybridEvidence(Counts(data, n_jobs=1)).pairs([0], [frozenset()], [[1]], fit_above=-inf)
    return float(found.log_factor[0])


@case("false-edges", rows=(30,), shares=(0.5,))
def false_edges(rows: tuple[int, ...] = (250, 1000), shares: tuple[float, ...] = (0.5, 0.2, 0.05)) -> Lines:
    """Expected number of false edges of independent binary columns, from the distribution of their tables.

    Pairs above the price of the first edge, over margins at seven quantiles of their spread.
    """
    from scipy.stats import binom, hypergeom

    sizes = (50, 100, 300, 1000, 2000, 5000)
    for n_rows, share in product(rows, shares):
        margins, total = (
            binom.ppf((np.arange(7) + 0.5) / 7, n_rows, share).astype(int).tolist(),
            dict.fromkeys(sizes, 0.0),
        )
        for a, b in product(margins, margins):
            if a > b:
                continue
            both = np.arange(max(0, a + b - n_rows), min(a, b) + 1)
            chance = hypergeom.pmf(both, n_rows, a, b)
            both, chance = both[chance > 1e-13], chance[chance > 1e-13]
            evidence = np.array([evidence_of_table(n_rows, a, b, int(c)) for c in both])
            for n in sizes:
                n_pairs = n * (n - 1) // 2
                total[n] += (1 + (a < b)) * n_pairs * float(chance[evidence > log(n_pairs)].sum()) / len(margins) ** 2
        yield {"N": n_rows, "share of ones": share, **{f"n = {n}": value for n, value in total.items()}}


@case("false-edges-drawn", sizes=(20,), rows=(100,), draws=1)
def false_edges_drawn(
    sizes: tuple[int, ...] = (300, 1000), rows: tuple[int, ...] = (250, 1000), draws: int = 2
) -> Lines:
    """False edges of separator evidence at standard effort, without edges and in sparse networks of many variables."""
    for n, n_rows, (name, draw) in product(sizes, rows, _sparse().items()):
        found = []
        for seed in range(1, 1 + draws):
            truth, data = draw(n, n_rows, seed)
            result = learned(data, "standard")
            odds = np.array(list(result.support.values()))
            expected = float((1 / (1 + np.exp(np.minimum(odds, 700)))).sum())
            found.append((len(set(result.graph.edges) - set(truth.edges)), expected, truth.n_edges))
        false, expected, edges = np.mean(found, axis=0).tolist()
        yield {"network": name, "n": n, "N": n_rows, "true edges": edges, "false edges": false, "expected": expected}


def _sparse() -> dict[str, Callable[[int, int, int], tuple[Graph, Dataset]]]:
    """Return networks with few edges by name."""

    def columns(states: int, n: int, n_rows: int, seed: int) -> tuple[Graph, Dataset]:
        rng = np.random.default_rng([seed, n, n_rows])
        return Graph(n), Dataset.from_codes(list(rng.integers(0, states, (n, n_rows))), cards=[states] * n)

    def network(degree: int, n: int, n_rows: int, seed: int) -> tuple[Graph, Dataset]:
        graph = random_graph(n, degree, seed=seed) if degree else random_tree(n, seed=seed)
        law = ising(graph, 0.5, seed=seed) if degree else uniform_factors(graph, seed=seed)
        return graph, sample(law, n_rows, seed=seed + 1).dataset()

    independent = {f"independent, {states} states": partial(columns, states) for states in (2, 3)}
    return {
        **independent,
        "tree": partial(network, 0),
        "degree 1": partial(network, 1),
        "degree 3": partial(network, 3),
    }
