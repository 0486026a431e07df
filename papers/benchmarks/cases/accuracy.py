"""Errors of the graphs: the battery, rivals, floors, defaults, and what resampling does."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

import mnlearn as mn
from cases.learners import edges_of
from harness import Lines, case
from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.gsimn import GSIMN, GSIMNFCH
from mnlearn.algorithms.gsmn import GSMN, GSMNStar
from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.pc import PC
from mnlearn.algorithms.sep import NEAR
from mnlearn.algorithms.sep.phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import uniform_factors, with_log_odds
from mnlearn.distributions.sampling import GibbsPlan, sample
from mnlearn.evaluation.metrics import bins, plot_reliability
from mnlearn.graphs import Graph, barabasi_albert, hubs, random_graph, random_tree
from mnlearn.graphs.separators import Separators
from mnlearn.independence import BayesianTest, SeparationOracle
from mnlearn.protocols import SILENT, FloatArray
from mnlearn.scores import MPL, BJPScore, HybridEvidence, IBScore
from mnlearn.statistics import Counts
from mnlearn_papers.accuracy import FAMILIES, Battery, Drawn, kinds
from mnlearn_papers.accuracy_page import Difference, Standings, of_probabilities, seen_by
from mnlearn_papers.accuracy_profile import draw_profiles
from mnlearn_papers.experiment import Case, Experiment, Row, generator_of, run_experiment
from mnlearn_papers.named import WeighingMethod, accuracy_battery
from timing import cpu, data_folder

Settings = Mapping[str, Any]


def errors(rows: Sequence[Row], groups: Callable[[Row], Iterable[str]], order: Iterable[str]) -> Lines:
    """Yield a row for each group: mean errors, false edges in brackets, and paired differences to the first learner."""
    members: dict[str, list[Row]] = {}
    for row in rows:
        for group in (*groups(row), "all"):
            members.setdefault(group, []).append(row)
    for group in sorted(members, key=lambda group: group == "all"):
        runs: dict[str, dict[object, Row]] = {name: {} for name in order}
        for row in members[group]:
            runs[row.learner][row.source, row.n_rows, row.repetition] = row
        runs = {name: own for name, own in runs.items() if own}
        first, *others = runs
        means = {name: (_mean(own, "hamming"), _mean(own, "false_positives")) for name, own in runs.items()}
        cells = {name: f"{distance:.1f} ({false:.1f})" for name, (distance, false) in means.items()}
        for name in others:
            apart = [float(row.hamming - runs[first][key].hamming) for key, row in runs[name].items()]
            cells[f"{name} − {first}"] = Difference.of(apart).shown(1)
        yield {"data": group, "data sets": len(runs[first]), **cells}


def _mean(rows: Mapping[object, Row], what: str) -> float:
    return float(np.mean([getattr(row, what) for row in rows.values()]))


def named(method: str, name: str = "", **settings: Any) -> dict[str, WeighingMethod]:
    """Return a learner by name."""
    return {name or method: WeighingMethod(name or method, method, settings)}


def by_size(row: Row) -> Iterable[str]:
    """Group by source and number of rows."""
    return (f"{row.source}, N = {row.n_rows:,}",)


class Stopped:
    """A monitor that stops before the first run: what is known already is all there is."""

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Nothing to show."""

    def cancelled(self) -> bool:
        """Always."""
        return True


@case("battery", finished=True)
def battery(
    runs: Path | None = None, half: str = "held-out", tables: Path | None = None, finished: bool = False, jobs: int = 1
) -> Lines:
    """The accuracy battery: all learners on one half, ten minutes; `--tables docs/accuracy` writes what the docs show.

    `--runs` is a folder: every finished run is kept there, and a stopped one continues. `--half development` is what
    changes are judged on. `--finished` only writes what the runs so far say.
    """
    data = data_folder() if data_folder().is_dir() else None
    chosen: Any = half
    journal = None if runs is None else runs / f"accuracy-{half}.jsonl"
    monitor = Stopped() if finished else SILENT
    rows = accuracy_battery(chosen, data=data).run(journal=journal, n_jobs=jobs, monitor=monitor)
    for line in Standings(seen_by("sep", rows)).learners() if rows else ():
        yield {"learner": line.learner, "errors": line.hamming, "behind": line.behind.shown(2), "sets": line.behind.n}
    if tables is not None:
        tables.mkdir(parents=True, exist_ok=True)
        part = "\n\n".join(of_probabilities(seen_by("sep", rows))) + "\n"
        (tables / f"{half}-probabilities.md").write_text(part, encoding="utf-8")
        columns = ("source", "n_rows", "repetition", "learner", "false_positives", "false_negatives", "seconds")
        with (tables / f"{half}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([columns, *([getattr(row, column) for column in columns] for row in rows)])
        sure = [row.reliability for row in rows if row.learner == "sep" and row.reliability is not None]
        plot_reliability(bins(sure), tables / f"{half}.svg")
        (tables / f"{half}-profile.svg").write_text(draw_profiles(rows), encoding="utf-8")


def forest(data: Dataset, *, extended: bool) -> Mapping[str, Graph]:
    """Return the forest with the largest sum of positive scores: N · information − (r − 1)(s − 1)/2 · ln N."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    shown = np.concatenate([np.eye(card)[c] for c, card in zip(data.columns, data.cards, strict=True)], axis=1)
    n_rows, cards = len(shown), np.array(data.cards)
    starts = np.concatenate([[0], np.cumsum(cards)[:-1]])
    counts, ones = shown.T @ shown, shown.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts * n_rows / np.outer(ones, ones)), 0.0)
    information = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)
    scores = information - np.outer(cards - 1, cards - 1) / 2 * np.log(n_rows)
    price_of_pairs = np.log(data.n_variables) if extended else 0.0
    kept = minimum_spanning_tree(-np.triu(np.maximum(scores - price_of_pairs, 0.0), 1)).tocoo()
    pairs = zip(kept.row.tolist(), kept.col.tolist(), strict=True)
    return {"EBIC forest" if extended else "BIC forest": Graph(data.n_variables, [(min(p), max(p)) for p in pairs])}


@case("forest", draws=1, sizes=(100,), n=(16,))
def forests(draws: int = 10, sizes: tuple[int, ...] = (250, 1000, 4000), n: tuple[int, ...] = (64, 200)) -> Lines:
    """Errors of `sep` and of the best forests by BIC and by extended BIC on trees, for docs/accuracy/forest.md."""
    sources = {f"random tree, n = {k}": Drawn(partial(random_tree, k), uniform_factors) for k in n}
    sources |= {f"scale-free tree, n = {k}": Drawn(partial(barabasi_albert, k, 1), uniform_factors) for k in n}
    methods: dict[str, Any] = {**named("sep"), "BIC forest": partial(forest, extended=False)}
    experiment = Experiment("forest", sources, methods | {"EBIC forest": partial(forest, extended=True)})
    yield from errors(run_experiment(experiment, sizes, draws), by_size, experiment.methods)


def given_truth(score: HybridEvidence, truth: Graph) -> FloatArray:
    """Return the log odds of every pair, given its separators in the true graph: a symmetric matrix."""
    n, separators, evidence = truth.n_variables, Separators(truth), np.zeros((truth.n_variables,) * 2)
    n_pairs, edge = n * (n - 1) // 2, truth.adjacency().toarray() > 0
    prices = np.where(edge, price(max(0, truth.n_edges - 1), n_pairs), price(truth.n_edges, n_pairs))
    for x in range(n):
        ys = np.delete(np.arange(n, dtype=np.int32), x)
        numbers = separators.numbers(np.full(n - 1, x, dtype=np.int32), ys)
        for number, present in sorted(set(zip(numbers.tolist(), edge[x, ys].tolist(), strict=True))):
            some = ys[(numbers == number) & (edge[x, ys] == present)]
            above = -inf if present else float(prices[x, some[0]]) - NEAR  # edges are fitted, others where it matters
            evidence[x, some] = score.pairs([x], [separators.set(number)], [some], fit_above=above)[0].log_factor
    return np.asarray((evidence + evidence.T) / 2 - prices)


@case("floor", draws=1, sizes=(100,), only=1)
def floor(draws: int = 3, sizes: tuple[int, ...] = (250, 1000, 4000), only: int = 100) -> Lines:
    """Errors left if the search is perfect: each pair judged given its separators in the true graph.

    For docs/accuracy/floor.md, the development half. What `sep` has beyond it, a better search or prior may save.
    """
    found: dict[tuple[str, str], list[list[float]]] = {}
    sources = kinds(data_folder() if data_folder().is_dir() else None)
    for kind, n_rows, draw in ((k, n, d) for k in list(sources)[:only] for n in sizes for d in range(draws)):
        data, truth = sources[kind](n_rows, generator_of("accuracy-development", kind, n_rows, draw))
        result = mn.learn(data, "sep", keep_pairs=True, n_jobs=1).result
        assert result.log_odds is not None
        pairs, row = np.triu_indices(truth.n_variables, 1), list[float]()
        edge = truth.adjacency().toarray()[pairs] > 0
        for odds in (result.log_odds[pairs], given_truth(HybridEvidence(Counts(data, n_jobs=1)), truth)[pairs]):
            expected = float((1 / (1 + np.exp(np.minimum(odds[odds > 0], 700)))).sum())
            row += [float(((odds > 0) & ~edge).sum()), expected, float((edge & (odds <= 0)).sum())]
        family = next((family for family, members in FAMILIES.items() if kind in members), "others")
        for group in ((family, f"{n_rows:,}"), ("all", f"{n_rows:,}"), ("all", "")):
            found.setdefault(group, []).append(row)
    for (family, size), rows in found.items():
        cells: dict[str, object] = {"family": family, "rows": size, "data sets": len(rows)}
        for k, name in ((0, "sep"), (3, "floor")):
            false, expected, missing = np.mean(rows, axis=0)[k : k + 3].tolist()
            cells |= {f"{name}: errors": false + missing, f"{name}: false (expected)": f"{false:.1f} ({expected:.1f})"}
            cells[f"{name}: missing"] = missing
        yield {**cells, "sep − floor": Difference.of([r[0] + r[2] - r[3] - r[5] for r in rows]).shown(1)}


CHI2, OBSERVED = {"test": "chi2", "dof": "adjusted", "alpha": 0.05}, {"test": "chi2", "dof": "observed", "alpha": 0.01}
G2 = {"test": "g2", "dof": "adjusted", "alpha": 0.05}
BY_BLANKETS: tuple[Settings, ...] = (CHI2, OBSERVED, {**OBSERVED, "alpha": 0.05}, {**CHI2, "alpha": 0.01})
BY_BLANKETS += ({**OBSERVED, "test": "g2"}, {"test": "bayes"})
BY_SUBSETS: tuple[Settings, ...] = (CHI2, G2, {**G2, "alpha": 0.01}, OBSERVED)
SETTINGS: Mapping[str, Sequence[Settings]] = {
    "gsmn": BY_BLANKETS[:2],
    "gsmn*": BY_BLANKETS,
    "gsimn": BY_BLANKETS,
    "pc": BY_SUBSETS,
    "hhc-mn": BY_SUBSETS,
}


@case("defaults-of-tests", draws=1, sizes=(100,), methods=("pc",), only=("stars",))
def defaults_of_tests(
    runs: Path | None = None,
    draws: int = 2,
    sizes: tuple[int, ...] = (250, 1000, 4000),
    methods: tuple[str, ...] = tuple(SETTINGS),
    only: tuple[str, ...] = (),
) -> Lines:
    """Methods by tests with other tests, degrees of freedom and levels, on the development half; three minutes.

    Differences are paired, to the first setting of the method. `--runs` is a folder where finished runs are kept.
    """
    data = data_folder() if data_folder().is_dir() else None
    chosen = only or [kind for kind in kinds(data) if kind in {*kinds(), "alarm", "insurance"}]
    for method in methods:
        learners = {
            name: learner
            for each in SETTINGS[method]
            for name, learner in named(method, " ".join(map(str, each.values())), **each).items()
        }
        half = Battery("development", learners, data, sizes, draws, only=chosen)
        rows = half.run(journal=None if runs is None else runs / f"test-settings-{method}.jsonl")
        for line in errors(rows, lambda _: (), learners):
            yield line if isinstance(line, str) else {**line, "data": method}


@case("gsimn-accuracy", draws=1, n=(8,), degrees=(1,), sizes=(200,))
def gsimn_accuracy(
    draws: int = 6,
    n: tuple[int, ...] = (50, 75),
    degrees: tuple[int, ...] = (1, 2, 4, 8),
    sizes: tuple[int, ...] = (2000, 20_000),
    dof: str = "observed",
) -> Lines:
    """Errors of GSMN* and GSIMN on the sampled networks of [JAIR09, Sec. 5.1.2], the same log odds on every edge."""
    settings: dict[str, Any] = {"test": "chi2", "alpha": 0.05, "dof": dof}
    sources = {
        f"n = {k}, degree {degree}, log odds {log_odds}": Drawn(
            lambda rng, k=k, degree=degree: random_graph(k, degree, rng),  # type: ignore[misc]
            lambda graph, rng, log_odds=log_odds: with_log_odds(graph, log_odds, rng),  # type: ignore[misc]
        )
        for k in n
        for degree in degrees
        for log_odds in (1.0, 1.5, 2.0)
    }
    experiment = Experiment("gsimn-accuracy", sources, {**named("gsmn*", **settings), **named("gsimn", **settings)})
    yield from errors(run_experiment(experiment, sizes, draws), by_size, experiment.methods)


EXACT: dict[str, Any] = {
    "gsmn": GSMN(),
    "gsmn*": GSMNStar(),
    "gsmn* without propagation": GSMNStar(propagation=False),
    "gsmn* without line 22": GSMNStar(skip_marginal=False),
    "gsimn": GSIMN(),
    "gsimn-fch": GSIMNFCH(),
    "gsimn without propagation": GSIMN(propagation=False),
    "gsimn without line 22": GSIMN(skip_marginal=False),
    "hhc-mn": HHCMN(),
    "hhc-mn or": HHCMN(combine="or"),
    "pc": PC(),
}


@case("exact-learning", graphs=2, largest=8, n=(10,))
def exact_learning(graphs: int = 1000, largest: int = 60, n: tuple[int, ...] = (50, 75, 100)) -> Lines:
    """Learners with the separation oracle: graphs that are not found, and the weighted tests of GSIMN over GSMN*.

    Graphs have 2 to `--largest` variables (8 for forward chaining) and degrees of 1 to 8; the ratios are those of
    [JAIR09, Fig. 6], initial tests counted, of at most 40 graphs of degree 8.
    """
    for name, learner in EXACT.items():
        seconds, missed, tried = 0.0, 0, 0
        for seed in range(graphs):
            size, degree = int(np.random.default_rng(seed).integers(2, largest + 1)), (1, 2, 4, 8)[seed % 4]
            if name != "gsimn-fch" or size <= 8:
                truth = random_graph(size, min(degree, size - 1), seed)
                spent, found = cpu(partial(learner.learn, SeparationOracle(truth)), 1)
                seconds, missed, tried = seconds + spent, missed + (found.graph != truth), tried + 1
        yield {"learner": name, "graphs": tried, "not found": missed, "s": seconds}
    for size in n:
        ratios = []
        for seed in range(min(graphs, 40)):
            oracle = SeparationOracle(random_graph(size, 8, seed))
            ours = GSIMN(skip_marginal=False).learn(oracle).cost["weighted"]
            stars = [GSMNStar(skip_marginal=False, propagation=p).learn(oracle) for p in (True, False)]
            ratios.append([ours / star.cost["weighted"] for star in stars])
        with_it, without = np.mean(ratios, axis=0).tolist()
        yield {"n": size, "GSIMN over GSMN*, with propagation": with_it, "without": without}


MAP_SCORES: dict[str, Callable[[Counts], Any]] = {
    "IB": lambda counts: IBScore(BayesianTest(counts)),
    "BJP": lambda counts: BJPScore(BayesianTest(counts)),
}
SEARCHES: dict[str, HillClimb] = {
    "IBMAP-HC": IBMAPHC(),
    "patience 5": IBMAPHC(patience=5),
    "patience 15": IBMAPHC(patience=15),
    "tabu 5, patience 20": IBMAPHC(tabu=5, patience=20),
    "steepest": HillClimb(),
    "steepest, tabu 5, patience 20": HillClimb(tabu=5, patience=20),
}


@case("map-optimum", repeats=1, rows=(100,))
def map_optimum(repeats: int = 20, rows: tuple[int, ...] = (250, 1000, 4000)) -> Lines:
    """How often searches by IB and BJP reach the best of all graphs of six variables, and the mean gap to it.

    The cost is CPU time in units of IBMAP-HC's.
    """
    for n_rows in rows:
        kept: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for seed in range(repeats):
            graph = random_graph(6, float(np.random.default_rng(seed).integers(3, 13)) / 3, seed)
            counts = Counts(sample(uniform_factors(graph, seed), n_rows, seed).dataset(), n_jobs=1)
            for name, make in MAP_SCORES.items():
                score = make(counts)
                best: Any = Exhaustive().learn(score).score
                for search, learner in SEARCHES.items():
                    seconds, found = cpu(partial(learner.learn, score), 1)
                    kept.setdefault((search, name), []).append((best - (found.score or 0.0), seconds))
        for search in SEARCHES:
            row: dict[str, object] = {"N": n_rows, "search": search}
            for name in MAP_SCORES:
                gaps, spent = (np.array(part) for part in zip(*kept[search, name], strict=True))
                base = sum(seconds for _, seconds in kept["IBMAP-HC", name])
                row |= {f"{name}: reached, %": 100 * float((gaps < 1e-6).mean()), f"{name}: gap": float(gaps.mean())}
                row[f"{name}: cost"] = float(spent.sum()) / base
            yield row


@case("map-structures", repeats=1, rows=(100,), trees=(8,), small=True)
def map_structures(
    repeats: int = 5,
    rows: tuple[int, ...] = (250, 1000, 4000),
    trees: tuple[int, ...] = (16, 32, 64, 128),
    small: bool = False,
) -> Lines:
    """Errors of MPL, IB and BJP on hubs, trees and real networks [BJP18, Sec. 4.2]; tabu goes on after IBMAP-HC."""
    tabu = IBMAPHC(tabu=10, patience=40)
    learners: dict[str, Callable[[Counts], Any]] = {"MPL": lambda counts: TwoPhase().learn(MPL(counts))}
    for name, make in MAP_SCORES.items():
        learners[name] = lambda counts, make=make: IBMAPHC().learn(make(counts))  # type: ignore[misc]
        learners[f"{name}, tabu"] = lambda counts, make=make: tabu.learn(make(counts))  # type: ignore[misc]
    graphs = {} if small else {f"{k} hubs of {leaves}": hubs(k, leaves) for k, leaves in ((2, 7), (4, 7), (4, 15))}
    graphs |= {f"tree of {n}": barabasi_albert(n, 1, 1) for n in trees}
    for name in () if small else ("karate", "ibm32", "curtis54", "will57", "dolphins", "polbooks", "adjnoun"):
        if (path := data_folder() / "graphs" / f"{name}.edges").exists():
            graphs[name] = edges_of(path)

    def method(name: str, data: Dataset) -> Mapping[str, Graph]:
        return {name: learners[name](Counts(data, n_jobs=1)).graph}

    def source(graph: Graph, n_rows: int, rng: np.random.Generator) -> Case:
        plan = GibbsPlan(burn_in=300, thin=5)
        return Case(sample(uniform_factors(graph, rng), n_rows, rng, plan=plan).dataset(), graph)

    sources = {name: partial(source, graph) for name, graph in graphs.items()}
    experiment = Experiment("map", sources, {name: partial(method, name) for name in learners})
    yield from errors(run_experiment(experiment, rows, repeats), by_size, learners)
