"""Runs: as the plain loop has it, the same for the same seed, and finding what they are made to find."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn_papers.optimize import (
    MarkovEDA,
    MarkovianSampler,
    MutualInformationStructure,
    Tournament,
    deceptive_trap,
    ising_spin_glass,
    maximize,
    minimize,
    nk_landscape,
    onemax,
    royal_road,
)

from references.markovian import markovian


def test_a_generation_is_select_learn_sample_replace() -> None:
    """The loop again with slow parts: sorting, a fixed structure, the sampler's twin."""
    graph, cards, size = Graph(4, [(0, 1), (2, 3)]), (2, 3, 2, 2), 20
    algorithm = MarkovEDA(
        learner=lambda _: graph,
        population=size,
        selection=6,
        elitism=5,
        sampler=MarkovianSampler(cooling=0.7, updates=1),
    )
    run = algorithm.start(4, states=cards, seed=3)
    weights = np.array([3.0, 1.0, 4.0, 1.5])
    for _ in range(3):
        rows = run.ask()
        run.tell(rows, rows @ weights)
    key = int(np.random.default_rng(3).integers(2**63))
    first = np.random.default_rng([key, 0]).integers(cards, size=(size, 4))
    population = [(float(row @ weights), row) for row in first]
    for generation in (1, 2):
        ranked = sorted(population, key=lambda pair: -pair[0])
        selected = np.array([row for _, row in ranked[:6]], dtype=np.uint8)
        rng = np.random.default_rng([key, generation])
        updates = int(np.ceil(4 * np.log(4)))
        stream = int(rng.integers(2**64, dtype=np.uint64))
        new = markovian(graph, selected, size - 5, stream, cards, updates, "joint", 0.7 * generation)
        population = ranked[:5] + [(float(row @ weights), row) for row in new.astype(int)]
    assert np.array_equal(run.individuals, np.array([row for _, row in population]))
    assert run.fitness.tolist() == [value for value, _ in population]
    assert run.evaluations == size + 2 * (size - 5)
    assert [line.evaluations for line in run.history] == [20, 35, 50]


@pytest.mark.parametrize("learner", ["moa'", MutualInformationStructure(max_neighbors=3)])
def test_royal_road_is_solved_and_its_groups_are_learned(learner: Any) -> None:
    problem = royal_road(24, group=4)
    found = maximize(problem, algorithm=MarkovEDA(learner=learner, population=4000), seed=1)
    assert found.reached
    assert found.fitness == problem(found.individual) == 24.0
    assert problem.structure in [line.graph for line in found.history]  # six cliques, and nothing else


@pytest.mark.parametrize(
    "problem",
    [
        onemax(40),
        onemax(16, states=4),
        royal_road(12, group=3, states=3),
        deceptive_trap(15, size=3),
        nk_landscape(16, k=2, seed=2),
        ising_spin_glass(4, 4, seed=2),
    ],
    ids=lambda p: p.name,
)
def test_problems_are_solved(problem: Any) -> None:
    assert any(maximize(problem, algorithm=MarkovEDA(population=400), seed=s).reached for s in range(3))


def test_minimizing_is_maximizing_the_opposite() -> None:
    weights = np.random.default_rng(1).normal(size=12)
    options: Any = {"algorithm": MarkovEDA(population=60), "max_generations": 6, "seed": 4}
    up = maximize(lambda x: float(weights @ x), 12, **options)
    down = minimize(lambda x: -float(weights @ x), 12, **options)
    assert down.fitness == -up.fitness
    assert np.array_equal(down.individual, up.individual)
    assert [line.best for line in down.history] == [-line.best for line in up.history]
    assert [line.graph for line in down.history] == [line.graph for line in up.history]


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    def run(seed: Any) -> Any:
        return maximize(royal_road(16), algorithm=MarkovEDA(population=80, selection=Tournament(2)), seed=seed)

    assert run(1).history[-1].best == run(1).history[-1].best
    one, same, other = run(5), run(5), run(6)
    assert [line[:5] for line in one.history] == [line[:5] for line in same.history]
    assert [line[:5] for line in one.history] != [line[:5] for line in other.history]
    assert [line[:5] for line in run(np.random.default_rng(5)).history] == [line[:5] for line in one.history]


def test_the_best_is_never_forgotten() -> None:
    """Without elitism the population may lose it; the run does not."""
    found = maximize(onemax(30), algorithm=MarkovEDA(population=20, elitism=0), seed=1, max_generations=15)
    assert found.fitness == max(line.best for line in found.history)
    assert onemax(30)(found.individual) == found.fitness


def test_asking_twice_gives_the_same_individuals() -> None:
    run = MarkovEDA(population=10).start(5, states=[2, 3, 4, 2, 1], seed=1)
    rows = run.ask()
    assert np.array_equal(rows, run.ask())
    assert rows.dtype == np.int64
    assert (rows < [2, 3, 4, 2, 1]).all()
    run.tell(rows, rows[:, 0])
    assert run.generation == 0
    assert not np.array_equal(rows[: len(run.ask())], run.ask())


def test_repaired_individuals_may_be_told() -> None:
    run = MarkovEDA(population=12).start(6, seed=1)
    rows = run.ask()
    rows[:, 0] = 1
    run.tell(rows, rows.sum(axis=1))
    assert (run.individuals[:, 0] == 1).all()


def test_what_is_told_is_checked() -> None:
    run = MarkovEDA(population=10).start(4, seed=1)
    with pytest.raises(InputError, match="tell must come after ask"):
        run.tell(np.zeros((10, 4), dtype=int), np.zeros(10))
    rows = run.ask()
    with pytest.raises(InputError, match="individuals must be 10 rows of 4"):
        run.tell(rows[:5], np.zeros(5))
    with pytest.raises(InputError, match="individuals must have values from 0"):
        run.tell(rows + 2, np.zeros(10))
    with pytest.raises(InputError, match=r"fitness must be 10 numbers.*shape \(9,\)"):
        run.tell(rows, np.zeros(9))
    with pytest.raises(InputError, match="got NaN"):
        run.tell(rows, np.full(10, np.nan))
    with pytest.raises(InputError, match="fitness must be 10 numbers"):
        run.tell(rows, ["good"] * 10)
    with pytest.raises(InputError, match="fitness must be 10 numbers"):
        run.tell(rows, np.ones(10) * 1j)
    with pytest.raises(InputError, match="fitness must be 10 numbers"):
        run.tell(rows, [[1], [1, 2]])
    with pytest.raises(InputError, match="individuals must be 10 rows of 4"):
        run.tell([[0], [1, 2]], np.zeros(10))
    run.tell(rows, np.zeros(10))


@pytest.mark.parametrize(
    ("n", "states", "rule"),
    [
        (0, 2, "n_variables must be a whole number, at least 1; got 0"),
        (3, 0, "states must be from 1 to 256"),
        (3, 300, "states must be from 1 to 256"),
        (3, [2, 2], "one for each of the 3 genes"),
        (3, "two", "states must be whole numbers"),
        (3, 2.5, "states must be whole numbers"),
    ],
)
def test_bad_genes_are_refused(n: Any, states: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        MarkovEDA().start(n, states=states)
    with pytest.raises(InputError, match=rule):
        maximize(lambda _: 0.0, n, states=states)


@pytest.mark.parametrize("selection", [None, "best", len])
def test_a_selection_that_is_none_is_refused(selection: Any) -> None:
    with pytest.raises(InputError, match="selection must be a share, a whole number or a Selection"):
        MarkovEDA(selection=selection)


def test_numbers_of_numpy_are_amounts() -> None:
    whole, half = cast(Any, np.int64(20)), cast(Any, np.float32(0.5))
    assert MarkovEDA(population=50, selection=whole).chooser.size(50) == 20
    assert MarkovEDA(population=50, selection=half).chooser.size(50) == 25
    assert MarkovEDA(population=50, elitism=half).n_elite == 25


@pytest.mark.parametrize("graph", [3, None, Graph.empty(3)])
def test_a_learner_must_give_a_graph_of_the_genes(graph: Any) -> None:
    run = MarkovEDA(population=10, learner=lambda _: graph).start(4)
    run.tell(run.ask(), np.arange(10))
    with pytest.raises(InputError, match="learner must return a Graph of the 4 genes"):
        run.ask()


def test_samplers_that_break_a_rule_are_refused() -> None:
    with pytest.raises(InputError, match="cooling must be a positive number"):
        MarkovianSampler(cooling=0)
    with pytest.raises(InputError, match="updates must be a positive number"):
        MarkovianSampler(updates=float("nan"))
    with pytest.raises(InputError, match="weighing 'warm'"):
        MarkovianSampler(weighing="warm")  # type: ignore[arg-type]
