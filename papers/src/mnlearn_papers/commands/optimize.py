"""`mnlearn optimize`: an estimation of distribution algorithm that learns a Markov network in each generation."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli.console import escaped, exit_interrupted, progress_monitor, reads, say, with_noun, writes
from mnlearn.cli.graph import Seed, show_catalogue
from mnlearn.cli.learn import check_picture
from mnlearn.cli.options import OutputOptions, argument, drop_none, flag, option
from mnlearn.errors import FileError, InputError
from mnlearn.files import replacing

if TYPE_CHECKING:
    from mnlearn_papers.optimize.eda import StructureLearner
    from mnlearn_papers.optimize.history import Optimum
    from mnlearn_papers.optimize.problems import Problem

MaxNeighbors = Annotated[int | None, option("K", "moa: largest number of neighbours of a gene; 3 by default.")]
Target = Annotated[float | None, option("F", "Stop at this fitness; at the optimum by default, if it is known.")]
RunFile = Annotated[Path | None, writes(option("FILE", "Store the run in FILE, and continue from it if it exists."))]
ProblemName = Annotated[str | None, reads(argument("PROBLEM", "Name with settings (see --list), or a DIMACS file."))]


def optimize_command(
    problem: ProblemName = None,
    *,
    learner: Annotated[str, option("NAME", "moa, moa' or a method of mnlearn learn.", "--learner")] = "moa'",
    max_neighbors: MaxNeighbors = None,
    population: Annotated[int, option("N", "Number of individuals.")] = 500,
    generations: Annotated[int, option("G", "Largest number of generations.")] = 100,
    evaluations: Annotated[int | None, option("E", "Largest number of fitness evaluations.")] = None,
    patience: Annotated[int | None, option("G", "Stop after this many generations without progress.")] = None,
    target: Target = None,
    seed: Seed = 0,
    history: Annotated[Path | None, writes(option("FILE", "Write every generation to a CSV file."))] = None,
    plot: Annotated[Path | None, writes(option("FILE", "Draw the convergence: .png, .svg or .pdf."))] = None,
    checkpoint: RunFile = None,
    list_: Annotated[bool, flag("--list", "List the problems with their settings.")] = False,
    output: OutputOptions,
) -> None:
    """Solve an optimisation problem with learned networks.

    This is an estimation of distribution algorithm. Ctrl-C stops after the current generation and prints the best
    individual so far.

    Examples:
      mnlearn optimize --list
      mnlearn optimize royal-road:n=64,group=4 --population 300 --seed 1
      mnlearn optimize formula.cnf --learner moa --max-neighbors 4 --generations 200 --history run.csv
    """
    from mnlearn_papers.optimize.driver import maximize
    from mnlearn_papers.optimize.eda import MarkovEDA
    from mnlearn_papers.optimize.problems import PROBLEMS, problem_named

    if list_:
        show_catalogue(output, problem=[(name, item.title, item.settings) for name, item in PROBLEMS.items()])
        return
    if problem is None:
        raise InputError(
            "PROBLEM must be given; got none. Name one, for example royal-road:n=64,group=4; --list has all."
        )
    if plot is not None:
        check_picture("--plot", str(plot))
    chosen = problem_named(problem)
    with progress_monitor() as monitor:
        found = maximize(
            chosen,
            algorithm=MarkovEDA(learner=_learner(learner, max_neighbors), population=population),
            seed=seed,
            max_generations=generations,
            max_evaluations=evaluations,
            patience=patience,
            checkpoint=checkpoint,
            monitor=monitor,
            **drop_none(target=target),
        )
    output.show(lambda: _document(chosen, found), lambda: _show_optimum(chosen, found))
    if history is not None:  # after the result, which is printed even if a file cannot be written
        _write_history(found, history)
    if plot is not None:
        _draw(found, plot)
    if monitor.interrupted:
        exit_interrupted()


def _learner(name: str, max_neighbors: int | None) -> str | StructureLearner:
    """Return a structure learner of the optimiser, or a method of `mnlearn learn`."""
    from mnlearn_papers.named import structure_learner
    from mnlearn_papers.optimize.eda import LEARNERS, MutualInformationStructure

    if max_neighbors is not None:
        if name != "moa":
            raise InputError(f"--max-neighbors is for --learner moa; {name} has no such bound. Drop it.")
        return MutualInformationStructure(max_neighbors=max_neighbors)
    return name if name in LEARNERS else structure_learner(name)


def _document(problem: Problem, found: Optimum) -> dict[str, object]:
    """Return the best individual and its cost for JSON."""
    best = {"fitness": found.fitness, "optimum": problem.optimum, "individual": found.individual.tolist()}
    cost = {"evaluations": found.evaluations, "generations": found.generations}
    edges = [] if found.graph is None else [list(edge) for edge in found.graph.edges]
    return {"problem": problem.name, **best, "reason": found.reason, **cost, "edges": edges}


def _show_optimum(problem: Problem, found: Optimum) -> None:
    """Print the best individual and its cost."""
    of = "" if problem.optimum is None else f" of {problem.optimum:g}, the optimum"
    spent = f"{with_noun(found.evaluations, 'evaluation')}, {with_noun(found.generations, 'generation')}"
    say(f"{escaped(problem.name)}: fitness {found.fitness:g}{of}")
    say(f"{spent}; ended by {found.reason}")
    say(" ".join(map(str, found.individual.tolist())))


def _write_history(found: Optimum, path: Path) -> None:
    """Write every generation to a CSV file, which is complete or absent."""
    try:
        with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("generation", "best", "mean", "evaluations", "n_edges"))
            for line in found.history:
                edges = "" if line.graph is None else line.graph.n_edges
                writer.writerow((line.number, line.best, line.mean, line.evaluations, edges))
    except OSError as error:
        raise FileError(f"--history must be a writable file; {path}: {error.strerror}. Name another.") from error


def _draw(found: Optimum, path: Path) -> None:
    """Draw the convergence."""
    from mnlearn.visual.canvas import save_figure
    from mnlearn_papers.optimize.history import plot_convergence

    figure: Any = plot_convergence(found).figure
    save_figure(figure, path)
