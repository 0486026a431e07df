"""Learners, beside the same search by plain NumPy, by other packages or by the engine alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mnlearn as mn
from harness import Lines, case
from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.climbs import PhaseOne
from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.pc import PC
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import PairwiseNetwork, uniform_factors, with_log_odds
from mnlearn.distributions.sampling import sample
from mnlearn.graphs import Graph, barabasi_albert, random_graph, random_tree, star
from mnlearn.independence import ChiSquare
from mnlearn.independence.base import log_chi2_sf
from mnlearn.protocols import SILENT, FloatArray, Indices, VarSet, Verdict, Verdicts
from mnlearn.scores import MPL, L1Logistic
from mnlearn.simulate import simulate
from mnlearn.statistics import Counts, kernels
from mnlearn_papers.mpl17 import Components
from timing import cpu, data_folder, memory, turns


def edges_of(path: Path) -> Graph:
    """Read a graph from a file of pairs of numbers."""
    pairs = np.loadtxt(path, dtype=int, usecols=(0, 1))
    return Graph(int(pairs.max()) + 1, pairs.tolist())


def wrong(one: Graph, other: Graph) -> int:
    """Return the number of pairs in which two graphs differ."""
    return len(set(one.edges) ^ set(other.edges))


class OneAtATime:
    """Pearson's test as it is written in an afternoon: one question, one numpy.bincount."""

    def __init__(self, data: Dataset, alpha: float, dof: str) -> None:
        self._codes = np.stack(data.columns).astype(np.int64)
        self.n_variables, self._log_alpha, self._dof = len(self._codes), np.log(alpha), dof

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        stratum, n_strata = np.zeros(self._codes.shape[1], dtype=np.int64), 1
        for v in sorted(z):
            stratum, n_strata = stratum * 2 + self._codes[v], n_strata * 2
            if n_strata > len(stratum):  # more strata than rows: number the occupied ones
                occupied, stratum = np.unique(stratum, return_inverse=True)
                n_strata = len(occupied)
        cells = np.bincount(stratum * 4 + self._codes[x] * 2 + self._codes[y], minlength=4 * n_strata)
        counts = cells.reshape(-1, 2, 2).astype(np.float64)
        rows, columns = counts.sum(2, keepdims=True), counts.sum(1, keepdims=True)
        total = rows.sum(1, keepdims=True)
        expected = rows * columns / np.maximum(total, 1)
        statistic = ((counts - expected) ** 2 / np.where(expected > 0, expected, 1)).sum()
        each = ((rows > 0).sum((1, 2)) - 1) * ((columns > 0).sum((1, 2)) - 1) if self._dof == "adjusted" else 1
        log_p = float(log_chi2_sf(statistic, np.where(total[:, 0, 0] > 0, each, 0).sum()))
        return Verdict(log_p > self._log_alpha, log_p)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """One y after the other."""
        answers = [self(x, int(y), z) for y in ys]
        support = np.array([a.log_support for a in answers], dtype=np.float64)
        return Verdicts(np.array([a.independent for a in answers], dtype=np.bool_), support)


BY_TESTS: dict[str, tuple[Any, float, Any]] = {
    "gsmn*": (GSMNStar(), 0.05, "observed"),
    "gsmn* without line 22": (GSMNStar(skip_marginal=False), 0.05, "observed"),
    "gsimn": (GSIMN(), 0.05, "observed"),
    "gsimn without line 22": (GSIMN(skip_marginal=False), 0.05, "observed"),
    "pc": (PC(max_conditioning=5), 0.01, "adjusted"),
    "hhc-mn": (HHCMN(max_conditioning=5), 0.01, "adjusted"),
}


@case("by-tests", n=10, rows=300, degrees=(1,))
def by_tests(
    methods: tuple[str, ...] = tuple(BY_TESTS),
    degrees: tuple[int, ...] = (1, 2, 4),
    n: int = 75,
    rows: int = 20_000,
    graph: Path | None = None,
) -> Lines:
    """Methods by tests on binary data, beside the same search with one NumPy-counted test at a time.

    Both ask questions with the same answers and return the same graph. PC and HHC-MN run up to degree 3. `--graph FILE`
    has 1,000 rows from the graph in a file, and no rival.
    """
    truths = [edges_of(graph)] if graph else [random_graph(n, degree, seed=1) for degree in degrees]
    for truth in truths:
        data = sample(with_log_odds(truth, 1.0, seed=1), 1000 if graph else rows, seed=2).dataset()
        counts, degree = Counts(data, n_jobs=1), 2 * truth.n_edges / truth.n_variables
        for name in methods:
            learner, alpha, dof = BY_TESTS[name]
            if name in ("pc", "hhc-mn") and degree > 3.5:
                continue
            ours, found = cpu(partial(learner.learn, ChiSquare(counts, alpha=alpha, dof=dof)))
            row = {
                "method": name,
                "degree": degree,
                "n": truth.n_variables,
                "s": ours,
                "tests": int(found.cost["asked"]),
            }
            row |= {"wrong edges": wrong(found.graph, truth)}
            if graph is None:
                theirs, same = cpu(partial(replace(learner, ahead=1).learn, OneAtATime(data, alpha, dof)), 1)
                row |= {"one test at a time": theirs, "times as long": theirs / ours}
                row["same graph"] = "yes" if same.graph == found.graph else "no"
            yield row


def climbed(score: MPL) -> PhaseOne:
    """Run phase 1 alone, from no edges."""
    blankets = PhaseOne(score, Constraints(score.n_variables), Graph.empty(score.n_variables), None)
    blankets.climb(SILENT)
    return blankets


class Noting(MPL):
    """Statistics that record every scan."""

    noted: list[tuple[Indices, Sequence[Indices], Sequence[VarSet]]]

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Write down, and answer."""
        self.noted.append((xs, yss, blankets))
        return super().additions(xs, blankets, yss)


def tree_data(tree: Graph, n_rows: int, log_odds: float = 3.0) -> Dataset:
    """Draw exact binary rows of a tree, from the root down: neighbours agree with the same log odds everywhere."""
    rng, waiting = np.random.default_rng(2), [0]
    columns: dict[int, NDArray[np.uint8]] = {0: rng.integers(0, 2, n_rows, dtype=np.uint8)}
    while waiting:
        u = waiting.pop()
        for v in sorted(tree.neighbors(u) - columns.keys()):
            columns[v] = columns[u] ^ (rng.random(n_rows) >= 1 / (1 + np.exp(-log_odds / 2))).astype(np.uint8)
            waiting.append(v)
    return Dataset.from_codes([columns[x] for x in range(tree.n_variables)])


@case("mpl", parts=("floor", "growth"), replicas=1, sizes=(16,), rows=200)
def mpl(
    parts: tuple[str, ...] = ("floor", "growth"),
    replicas: int = 8,
    sizes: tuple[int, ...] = (64, 128, 256, 512, 1024),
    rows: int = 8000,
) -> Lines:
    """The two-phase search by MPL: beside its own scans in one call, and as trees grow.

    Other parts: `andes`, the network in a file; `hub`, how many edges of a star of 15 the centre proposes, the OR graph
    has and phase 2 keeps; `large`, 10,000 variables on all cores with the peak memory.
    """
    if "floor" in parts:
        counts = Counts(Components(replicas)(rows, np.random.default_rng(1)).data, n_jobs=1)
        noting, score = Noting(counts), MPL(counts)
        noting.noted = []
        climbed(noting)
        asked: list[Any] = noting.noted
        xs, yss, zs = ([*chain(*(scans[k] for scans in asked))] for k in range(3))
        ours, floor, whole = turns(
            lambda: climbed(score),
            lambda: counts.reduce_many(kernels.dirichlet(), xs, yss, zs),
            lambda: TwoPhase().learn(score),
        )
        row = {"n": score.n_variables, "N": rows, "phase 1, s": ours, "both phases, s": whole}
        yield {**row, "phase 1 over its scans": ours / floor, "ns a table": 1e9 * ours / sum(map(len, yss))}
    for n in sizes if "growth" in parts else ():
        tree = barabasi_albert(n, 1, seed=1)
        seconds, found = cpu(partial(TwoPhase().learn, MPL(Counts(tree_data(tree, 1000), n_jobs=1))))
        yield {"tree": n, "s": seconds, "wrong edges": wrong(tree, found.graph)}
    if "andes" in parts:
        network = mn.simulate.read_bif(data_folder() / "networks" / "andes.bif")
        seconds, found = cpu(partial(TwoPhase().learn, MPL(Counts(network.sample(8000, seed=1), n_jobs=1))))
        yield {"network": "Andes", "s": seconds, "wrong edges": wrong(network.moral_graph(), found.graph)}
    for log_odds, n_rows in ((o, r) for o in (1.0, 2.0) for r in (250, 1000, 4000, 16_000)) if "hub" in parts else ():
        kept = []
        for seed in range(5):
            score = MPL(Counts(sample(PairwiseNetwork.uniform(star(16), log_odds), n_rows, seed).dataset()))
            found = TwoPhase().learn(score)
            kept.append((len(climbed(score).blankets[0]), found.stages["or"].degree(0), found.graph.degree(0)))
        centre, either, both = np.mean(kept, axis=0).tolist()
        yield {"log odds": log_odds, "N": n_rows, "centre": centre, "OR graph": either, "phase 2": both}
    if "large" in parts:
        tree = random_tree(10_000, seed=1)
        seconds, found = cpu(partial(TwoPhase().learn, MPL(Counts(tree_data(tree, 2000)))), 1)
        yield {"tree": 10_000, "s": seconds, "wrong edges": wrong(tree, found.graph), "MB": memory()}


@case("l1lr", rows=100, variables=8, neighbourhoods=1, sizes=(100,), replicas=(1,))
def l1lr(
    rows: int = 2000,
    variables: int = 40,
    neighbourhoods: int = 5,
    sizes: tuple[int, ...] = (250, 2000, 8000),
    replicas: tuple[int, ...] = (1, 2, 8),
) -> Lines:
    """Neighbourhoods of L1LR, beside scikit-learn on all rows and columns along the same penalties; whole networks."""
    network = uniform_factors(random_graph(variables, 2.0, 1), 2)
    data = sample(network, rows, 3).dataset()
    codes, everyone = np.column_stack(data.columns).astype(np.float64), frozenset(range(variables))
    patient, whole = L1Logistic(data), L1Logistic(data, patience=None)
    for x in range(neighbourhoods):
        short, kept = cpu(partial(patient.neighborhood, x, everyone - {x}, frozenset()), 1)
        full, all_of_it = cpu(partial(whole.neighborhood, x, everyone - {x}, frozenset()), 1)
        plain, _ = cpu(lambda x=x: _plain_path(codes, x, whole.n_penalties, whole.smallest), 1)  # type: ignore[misc]
        row = {"x": x, "scikit-learn, s": plain, "all refits": full / plain, "with patience": short / plain}
        yield {**row, "same": "yes" if kept.support.keys() == all_of_it.support.keys() else "no"}
    for copies in replicas:
        seconds = {}
        for n_rows in sizes:
            data = Components(copies)(n_rows, np.random.default_rng(1)).data
            everyone = frozenset(range(data.n_variables))
            asked: list[Any] = [(x, everyone - {x}, frozenset()) for x in everyone]
            seconds[f"{n_rows:,} rows, s"], _ = cpu(partial(L1Logistic(data).neighborhoods, asked), 1)
        yield {"variables": 64 * copies, **seconds}


def _plain_path(codes: FloatArray, x: int, n_penalties: int, smallest: float) -> None:
    """Fit every penalty of the path to all rows and all columns."""
    from sklearn.linear_model import LogisticRegression

    design, target = np.delete(codes, x, axis=1) - 0.5, codes[:, x]
    first = np.abs(design.T @ (target - target.mean())).max()
    for penalty in first * np.geomspace(1, smallest, n_penalties)[1:]:
        LogisticRegression(
            l1_ratio=1, C=1 / penalty, solver="liblinear", tol=1e-6, intercept_scaling=100, random_state=0
        ).fit(design, target)


KINDS = (
    *(("tree:n=200", "odds", 1000), ("grid:rows=14,columns=14", "odds:theta=1.0", 1000)),
    *(("random:n=200,degree=3", "uniform", 1000), ("random:n=200,degree=3", "tables:states=3", 1000)),
    *(("cliques:n=200,size=3", "tables:states=2", 1000), ("hubs:hubs=10,leaves=19", "odds", 1000)),
    *(("random:n=200,degree=3", "gaussian", 500), ("scale-free:n=200", "gaussian", 500)),
)
NETWORKS = tuple((name, "", 1000) for name in ("hepar2.bif", "win95pts.bif", "andes.bif"))
WIDER = tuple((f"random:n={n},degree=3", law, 1000) for n in (500, 5000) for law in ("odds", "gaussian"))


@case("one-target", targets=1, first=1)
def one_target(targets: int = 60, first: int = 100) -> Lines:
    """The blanket of one variable beside that of the whole network: seconds, agreement, errors of the same targets."""
    for kind, law, n_rows in (*KINDS, *NETWORKS, *WIDER)[:first]:
        if not law and not (data_folder() / "networks" / kind).exists():
            continue
        drawn = simulate(kind if law else data_folder() / "networks" / kind, law or None, n_rows=n_rows, seed=1)
        of_whole, whole = cpu(partial(mn.learn, drawn.data, n_jobs=1), 1)
        chosen = np.random.default_rng(1).permutation(drawn.data.n_variables)[:targets].tolist()
        names, truth, of_one = drawn.truth.names, drawn.truth.graph, 0.0
        found: dict[str, list[set[str]]] = {"network": [], "blanket": [], "true": []}
        for x in chosen:
            name = drawn.data.names[x]
            seconds, blanket = cpu(partial(mn.blanket, drawn.data, name, n_jobs=1), 1)
            of_one += seconds / len(chosen)
            found["blanket"].append({*blanket.names})
            found["network"].append({*whole.blanket(name)})
            found["true"].append({names[y] for y in truth.neighbors(names.index(name))})
        pairs = list(zip(found["network"], found["blanket"], strict=True))
        same = sum(one == other for one, other in pairs)
        row = {"data": f"{kind} {law}", "network, s": of_whole, "blanket, s": of_one, "same": same}
        row |= {"members": sum(map(len, found["network"])), "lacks": sum(len(one - other) for one, other in pairs)}
        row["more"] = sum(len(other - one) for one, other in pairs)
        for way in ("network", "blanket"):
            row[f"errors, {way}"] = sum(len(a ^ b) for a, b in zip(found[way], found["true"], strict=True))
        yield row
