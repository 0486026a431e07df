"""Optimization, landscapes of scores, generators and measures, which the experiments of the papers use."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import contents
from golden.tables import small, tiny
from mnlearn import graphs
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn_papers import landscape as landscapes
from mnlearn_papers import optimize, structures
from mnlearn_papers.directed import learn_directed
from mnlearn_papers.enrichment import enrichment
from mnlearn_papers.expression import random_expression_network

case = cases_of(__name__)


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


@case("evaluate landscape")
def landscape() -> object:
    """Score all graphs of five variables, and learn a directed network."""
    score = mn.make_score("mpl", tiny(), n_jobs=jobs())
    found = landscapes.landscape(score, graphs.cycle(5), marked={"empty": mn.Graph.empty(5)})
    directed = learn_directed(small())
    return {
        "distances": found.distances,
        "scores": found.scores,
        "marks": found.marks,
        "correlation": round(found.correlation(), 12),
        # Not the arcs: the score leaves directions within an equivalence class to pyAgrum, which decides by platform.
        "skeleton": mn.Graph(directed.n_variables, [tuple(sorted(arc)) for arc in directed.arcs]),
        "moral": directed.moral_graph(),
    }


@case("graphs of the papers")
def drawn_structures() -> object:
    """Make the structures that papers draw."""
    return {
        "six": structures.six_node_structures(),
        "six level": len(structures.six_node_graphs(2)),
        "sixteen": structures.sixteen_node_replicas(64),
        "components": structures.sixteen_node_components(),
    }


@case("evaluate enrichment")
def enriched() -> object:
    """Test neighbourhoods for enrichment."""
    return enrichment(graphs.grid(3, 4), {"a": [0, 1, 2, 3], "b": [4, 5, 6], "c": [8, 9]})


@case("simulate expression", close=True)
def expression() -> object:
    """Simulate gene expression."""
    network = random_expression_network(12, np.random.default_rng([11, 0]))
    rows = network.sample(120, np.random.default_rng([11, 2]))
    names = tuple(f"G{i + 1}" for i in range(12))
    return {**contents(continuous_dataset(rows, names)), "truth": network.graph(), "names": names, "converged": True}
