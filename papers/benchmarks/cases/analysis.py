"""Mixed and incomplete tables, resampling, groups, fitted models and samplers."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import mnlearn as mn
from cases.accuracy import errors
from harness import Lines, case
from mnlearn.analysis.samples import Sampling
from mnlearn.data import Dataset
from mnlearn.data.dataset import Kind
from mnlearn.distributions.factors import FactorNetwork, PairwiseNetwork, uniform_factors, with_log_odds
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.distributions.sampling import GibbsPlan, sample, sample_gibbs
from mnlearn.errors import MnlearnError
from mnlearn.graphs import Graph, grid, random_graph
from mnlearn.model import fit, fit_precision
from mnlearn.model.canonical import all_cliques
from mnlearn.model.pseudolikelihood import PseudoLikelihood, _Layout, fit_pseudolikelihood
from mnlearn.simulate import (
    Margin,
    judge_chains,
    log_partition,
    mixed_network,
    random_gaps,
    sample_exact,
    simulate,
    spread_margins,
)
from mnlearn_papers.experiment import Row
from mnlearn_papers.mixed import SECTIONS, cases
from timing import cpu, data_folder, turns

BINS = ((0.1, 0.5), (0.5, 0.9), (0.9, 0.99), (0.99, 1.0000001))


@case("mixed-accuracy", sections=("ordinal",), draws=1, most=3)
def mixed_accuracy(
    sections: tuple[str, ...] = tuple(SECTIONS), draws: int = 5, seed: int = 5000, most: int = 10_000
) -> Lines:
    """Errors of `sep` on ordinal, mixed, counted and incomplete columns, beside simpler readings of the same tables.

    `mnlearn_papers.mixed` has the sections, sources and readings. Then how often pairs of a given probability are
    edges. Seeds below 1000 were for development. A table with fewer than 10 rows counts as the empty graph.
    """
    for section in sections:
        rows, pairs = list[Row](), dict.fromkeys(BINS, np.zeros(3))
        for drawn in list(cases(section, seed, draws))[:most]:
            truth, tables = drawn.tables(data_folder())
            for reading, data in tables.items():
                rows.append(compared(drawn, reading, truth, data, pairs if reading == "mnlearn" else {}))
        yield section
        known, readings = [row for row in rows if row.hamming >= 0], SECTIONS[section].readings
        yield from errors(known, lambda row: (row.source.split("/")[0],), readings)
        for (low, high), (many, chance, edges) in pairs.items():
            found = {"mean": chance / max(many, 1), "edges": edges / max(many, 1)}
            yield {"probability": f"{low:g} to {min(high, 1.0):g}", "pairs": int(many), **found}


def compared(drawn: Any, reading: str, truth: Graph, data: Dataset | None, pairs: dict[Any, Any]) -> Row:
    """Learn one table, and count pairs by their probability; a refused table has a negative distance."""
    source = f"{drawn.source}, N = {drawn.n_rows}, gaps: {drawn.gaps}/{drawn.graph}"
    false, missed, seconds = 0, truth.n_edges, 0.0
    if data is not None:
        try:
            seconds, found = cpu(partial(mn.learn, data, effort="standard", keep_pairs=True, n_jobs=1), 1)
        except MnlearnError:
            return Row(source, drawn.n_rows, drawn.seed, reading, -1, 0, 0, seconds)
        edges, upper = set(found.graph.edges), np.triu_indices(truth.n_variables, 1)
        false, missed = len(edges - set(truth.edges)), len(set(truth.edges) - edges)
        chances, true = found.probabilities()[upper], truth.adjacency().toarray()[upper] > 0
        for (low, high), before in list(pairs.items()):
            here = (chances >= low) & (chances < high)
            pairs[low, high] = before + np.array([here.sum(), chances[here].sum(), true[here].sum()])
    return Row(source, drawn.n_rows, drawn.seed, reading, false + missed, false, missed, seconds)


@case("testwise", n=6, rows=200)
def gaps(n: int = 40, rows: int = 2000, shares: tuple[float, ...] = (0.05, 0.2)) -> Lines:
    """Methods by tests on columns with gaps, test by test, beside complete columns."""
    for law in ("tables:states=3", "gaussian"):
        data = simulate(f"random:n={n},degree=2", law, n_rows=rows, seed=1).data
        for method in ("pc", "gsmn*"):
            whole, _ = cpu(partial(mn.learn, data, method, n_jobs=1))
            for share in shares:
                seconds, _ = cpu(partial(mn.learn, random_gaps(data, share, 1), method, n_jobs=1))
                row = {"data": law, "method": method, "missing": f"{share:.0%}", "s": seconds}
                yield {**row, "times complete": seconds / whole}


@case("resampling", rows=100, samples=2, methods=("pc",))
def resampling(rows: int = 500, samples: int = 20, methods: tuple[str, ...] = ("sep", "gsimn", "pc", "mpl")) -> Lines:
    """Frequencies of true edges and absent pairs in resampled rows, by the way of drawing; `sep` of effort fast.

    Missed and wrong are the true edges and absent pairs on the wrong side of one half.
    """
    drawn = simulate("random:n=15,degree=2.5", "odds:theta=1.0", n_rows=rows, seed=1)
    true = sorted(set(drawn.truth.graph.edges))
    absent = [(u, v) for u in range(15) for v in range(u + 1, 15) if (u, v) not in true]
    for method in methods:
        settings: dict[str, Any] = {"effort": "fast"} if method == "sep" else {}
        once, learned = cpu(partial(mn.learn, drawn.data, method, n_jobs=1, **settings))
        for sampling in get_args(Sampling):
            seconds, again = cpu(partial(learned.bootstrap, samples, sampling=sampling, n_jobs=1), 1)
            here, there = ([(again.frequencies or {}).get(pair, 0.0) for pair in pairs] for pairs in (true, absent))
            row = {
                "method": method,
                "sampling": sampling,
                "true": np.mean(here).item(),
                "absent": np.mean(there).item(),
            }
            row |= {"missed": sum(f < 0.5 for f in here), "wrong": sum(f >= 0.5 for f in there)}
            yield {**row, "times one run": seconds / samples / once}


@case("stability", rows=100, variables=5, samples=4)
def stability(rows: int = 500, variables: int = 30, samples: int = 1000) -> Lines:
    """Intervals with centralities, beside drawing the rows and inverting their correlations.

    Fixed structures take all samples; learning again takes a few and is scaled.
    """
    for kind, law in (("continuous", "gaussian"), ("binary", "odds:theta=1.0")):
        drawn = simulate(f"random:n={variables},degree=4", law, n_rows=rows, seed=1)
        learned, few = mn.learn(drawn.data, n_jobs=1), max(2, samples // 200)
        values = np.stack([column.astype(float) for column in drawn.data.columns], axis=1)
        simple, _ = cpu(partial(simple_bootstrap, values, samples), 1)
        fixed, _ = cpu(lambda: learned.intervals(samples, n_jobs=1, relearn=False).sampled, 1)  # noqa: B023
        row = {"data": kind, "fixed, s": fixed, "over simple": fixed / simple}
        for sampling in ("bootstrap", "halves"):
            again, _ = cpu(lambda: learned.intervals(few, n_jobs=1, sampling=sampling).sampled, 1)  # noqa: B023
            row[f"learned again, {sampling}, s"] = again * samples / few
        yield row


def simple_bootstrap(values: NDArray[np.float64], samples: int) -> None:
    """Invert the correlations of each sample."""
    rng = np.random.default_rng(0)
    for _ in range(samples):
        np.linalg.inv(np.corrcoef(values[rng.integers(len(values), size=len(values))].T))


CUTS = {"continuous": (), "Likert": (-1.2, -0.4, 0.4, 1.2), "binary": (0.0,)}


@case("groups", sets=1, permutations=3, differences=("reversed",))
def groups(
    sets: int = 12,
    permutations: int = 99,
    rows: int = 300,
    differences: tuple[str, ...] = ("reversed", "missing", "none"),
) -> Lines:
    """Found differences and false alarms of `mn.compare_groups`: data sets with p of at most 0.05 for each statistic.

    Six variables in a ring with partial correlations of 0.3; that of a and b is 0.45 in one group, and −0.45, 0 or 0.45
    in the other. `edge` counts that pair, `others` data sets with any other pair, by corrected p-values.
    """
    for kind, name in ((kind, name) for kind in CUTS for name in differences):
        second = {"reversed": -0.45, "missing": 0.0, "none": 0.45}[name]
        counts = dict.fromkeys(("edges", "strength", "largest", "edge", "others"), 0)
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            both = np.concatenate([_ring(rows, CUTS[kind], edge, rng) for edge in (0.45, second)])
            columns = both.T if kind == "continuous" else both.T.astype(np.int64)
            table = {**dict(zip("abcdef", columns, strict=True)), "group": np.repeat(["one", "two"], rows)}
            found = mn.compare_groups(table, "group", n_permutations=permutations, n_jobs=1)
            for one in found.statistics:
                counts[one.name] += one.p <= 0.05
            significant = {(pair.u, pair.v) for pair in found.pairs if pair.p_corrected <= 0.05}
            counts["edge"] += ("a", "b") in significant
            counts["others"] += bool(significant - {("a", "b")})
        yield {"data": kind, "difference": name, "data sets": sets, **counts}


def _ring(n_rows: int, cuts: tuple[float, ...], edge: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rows of one group; a and b have this partial correlation."""
    precision = np.eye(6)
    for u in range(6):
        precision[u, u - 5] = precision[u - 5, u] = -edge if u == 0 else -0.3
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(covariance))
    values = rng.multivariate_normal(np.zeros(6), covariance / np.outer(scale, scale), n_rows)
    return np.digitize(values, cuts).astype(np.float64) if cuts else values


WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "canonical, α = 1/2": ("canonical", {}),
    "cliques, λ = 0.1": ("pseudolikelihood", {"ridge": 0.1}),
    "cliques, λ = 1": ("pseudolikelihood", {}),
    "cliques, λ = 10": ("pseudolikelihood", {"ridge": 10.0}),
    "pairwise, λ = 1": ("pseudolikelihood", {"interactions": "pairwise"}),
}


@case("model-accuracy", draws=1, n=6, rows=(100,), fresh_rows=200)
def model_accuracy(
    draws: int = 10, n: int = 16, rows: tuple[int, ...] = (100, 500, 2000, 10_000), fresh_rows: int = 20_000
) -> Lines:
    """Nats a row between the true and the fitted distribution, given the true graph, by the way of fitting.

    The mean of log p − log q over fresh rows of p, over random networks of degree 4 with 2 or 3 states.
    """
    found: dict[str, dict[int, list[float]]] = {way: {n_rows: [] for n_rows in rows} for way in WAYS}
    for draw in range(draws):
        graph = random_graph(n, 4, seed=draw)
        network = uniform_factors(graph, seed=draw, cards=2 + draw % 2)
        new = sample(network, fresh_rows, seed=10_000 + draw).dataset()
        log_p = float(network.log_weights(np.stack(new.columns, axis=1)).sum()) - fresh_rows * log_partition(network)
        for n_rows in rows:
            data = sample(network, n_rows, seed=draw).dataset()
            for way, (method, settings) in WAYS.items():
                model: Any = fit(graph, data, method, **settings)
                found[way][n_rows].append((log_p - float(model.log_likelihood(new))) / fresh_rows)
    for way, by_rows in found.items():
        yield {"fitted by": way, **{f"{n_rows:,} rows": float(np.mean(values)) for n_rows, values in by_rows.items()}}


def plain_gradient(network: FactorNetwork, codes: Any) -> None:
    """Compute the gradient of the log pseudo-likelihood in plain NumPy: every variable, every row."""
    slopes = [np.zeros(factor.log_values.shape) for factor in network.factors]
    for x, card in enumerate(network.cards):
        states, logits, places = np.broadcast_to(np.arange(card), (len(codes), card)), np.zeros((len(codes), card)), {}
        for k, factor in enumerate(network.factors):
            if x in factor.variables:
                at = [states if y == x else np.broadcast_to(codes[:, y, None], states.shape) for y in factor.variables]
                places[k] = tuple(at)
                logits += factor.log_values[places[k]]
        chances = np.exp(logits - logits.max(1, keepdims=True))
        chances /= -chances.sum(1, keepdims=True)
        chances[np.arange(len(codes)), codes[:, x]] += 1
        for k, place in places.items():
            np.add.at(slopes[k], place, chances)


@case("model-speed", side=3, rows=100, n=20)
def model_speed(side: int = 10, rows: int = 20_000, n: int = 500) -> Lines:
    """Gradients over configurations beside NumPy over all rows; precision matrices; Gibbs updates."""
    lattice = grid(side, side)
    data = sample(with_log_odds(lattice, 1.0, seed=1), rows, seed=1).dataset()
    layout = _Layout.of(all_cliques(lattice, data.cards), data.cards)
    problem, theta = PseudoLikelihood.of(layout, data), np.zeros(layout.size)
    network, codes = layout.network(theta), np.stack(data.columns, 1).astype(np.intp)
    once, slow = turns(lambda: problem.loss(theta, 1.0), lambda: plain_gradient(network, codes), repeats=2)
    yield {"task": "one gradient", "ms": 1e3 * once, "NumPy over all rows": f"{slow / once:,.0f} times"}
    yield {"task": "fit of the lattice", "ms": 1e3 * cpu(lambda: fit_pseudolikelihood(lattice, data), 1)[0]}
    graph = random_graph(n, 4, seed=1)
    wide = sparse_gaussian(graph, seed=1).dataset(200, seed=1)
    yield {"task": f"precision of {n} variables", "ms": 1e3 * cpu(lambda: fit_precision(graph, wide))[0]}


@case("sampling", n=10, sweeps=200, replicas=32, rows=50, side=3)
def sampling(n: int = 128, sweeps: int = 100_000, replicas: int = 512, rows: int = 8000, side: int = 12) -> Lines:
    """Gibbs sweeps beside NumPy; the report on chains; exact rows, eliminated and listed; mixed rows."""
    graph = random_graph(n, 4, seed=1)
    pairwise = with_log_odds(graph, 1.0, seed=1)
    network, plan = pairwise.to_factors(), GibbsPlan(chains=2, burn_in=0, thin=1)
    native, codes = cpu(lambda: sample_gibbs(network, sweeps, seed=1, plan=plan, n_jobs=1))
    wide = cpu(lambda: numpy_sweeps(graph, 20, 1000), 1)[0] / 20_000
    yield {"task": f"{sweeps:,} sweeps of {n} variables", "s": native, "ns a variable": 1e9 * native / sweeps / n}
    yield {"task": "NumPy, 1,000 chains at once", "times a sweep": wide * sweeps / native}
    yield {
        "task": "report on the chains",
        "times all sweeps": cpu(lambda: judge_chains(codes, graph, 2), 1)[0] / native,
    }
    parts: list[tuple[str, FactorNetwork | PairwiseNetwork]] = [
        (f"{rows:,} rows, {replicas} variables in cycles of 16", uniform_factors(_cycles(replicas), seed=1)),
        ("1,000 rows of a 4 x 5 lattice", with_log_odds(grid(4, 5), 1.0, seed=1)),
    ]
    for name, law in parts:
        many = rows if isinstance(law, FactorNetwork) else min(rows, 1000)
        every: Any = partial(sample, method="enumerate") if isinstance(law, FactorNetwork) else sample_exact
        exact, listed = (cpu(partial(draw, law, many, 1), 2)[0] for draw in (sample, every))
        yield {"task": name, "eliminated, s": exact, "listed, times as long": listed / exact}
    lattice = with_log_odds(grid(side, side), 1.0, seed=1)
    yield {"task": f"10,000 rows of a {side} x {side} lattice", "s": cpu(lambda: sample(lattice, 10_000, seed=1))[0]}
    for name, chosen in (("four kinds", get_args(Kind)), ("ordinal", ("ordinal",))):
        margins = spread_margins(20, [Margin(kind, states=5) for kind in chosen], seed=1)
        several = mixed_network(random_graph(20, 3.0, seed=1), margins, seed=1)
        yield {
            "task": f"{rows // 2:,} rows of 20 variables, {name}",
            "s": cpu(partial(several.sample, rows // 2, seed=1), 2)[0],
        }


def _cycles(n: int) -> Graph:
    """Return cycles of 16 variables."""
    return Graph(n, [(k, k + 1) for k in range(n - 1) if k % 16 != 15] + [(k, k + 15) for k in range(0, n - 15, 16)])


def numpy_sweeps(graph: Graph, sweeps: int, chains: int) -> None:
    """Update many chains together, one variable after the other."""
    rng = np.random.default_rng(1)
    spins = rng.choice(np.array([-1.0, 1.0]), size=(graph.n_variables, chains))
    around = [sorted(graph.neighbors(x)) for x in range(graph.n_variables)]
    for _ in range(sweeps):
        for x, others in enumerate(around):
            up = 1 / (1 + np.exp(-0.5 * spins[others].sum(0)))
            spins[x] = np.where(rng.random(chains) < up, 1.0, -1.0)
