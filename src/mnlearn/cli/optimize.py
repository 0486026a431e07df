"""`mnlearn optimize`: solve a problem by a Markov network that is learned from its good individuals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn._atomic_files import replacing
from mnlearn.cli import options
from mnlearn.cli.config import check_target
from mnlearn.cli.console import EXIT_INTERRUPTED, counted, printable, say, show, show_json, simple_table, watched
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.optimize.history import Optimum
    from mnlearn.optimize.problems import Problem
    from mnlearn.optimize.structures import StructureLearner

EXAMPLES = """\b
Examples:
  mnlearn optimize --list
  mnlearn optimize royal-road:n=64,group=4 --population 300 --seed 1
  mnlearn optimize formula.cnf --learner moa --max-neighbors 4 --generations 200 --history run.csv
"""

ProblemName = Annotated[
    str | None, typer.Argument(metavar="PROBLEM", help="A name with settings (see --list), or a DIMACS file.")
]
LearnerName = Annotated[str, typer.Option("--learner", metavar="NAME", help="moa, moa' or a method of mnlearn learn.")]
MaxNeighbors = Annotated[int | None, typer.Option(metavar="K", help="For moa: neighbours of a gene; 3 by default.")]
Population = Annotated[int, typer.Option(metavar="N", help="How many individuals.")]
Generations = Annotated[int, typer.Option(metavar="G", help="At most so many generations.")]
Evaluations = Annotated[int | None, typer.Option(metavar="E", help="At most so many fitness evaluations.")]
Patience = Annotated[int | None, typer.Option(metavar="G", help="Stop after so many generations without progress.")]
Target = Annotated[float | None, typer.Option(metavar="F", help="Stop at this fitness; the optimum if it is known.")]
Seed = Annotated[int, typer.Option(metavar="S", help="The same seed gives the same run.")]
History = Annotated[Path | None, typer.Option(metavar="FILE", help="Write every generation there, as CSV.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the convergence: .png, .svg or .pdf.")]
Checkpoint = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run there, and go on from it.")]
List = Annotated[bool, typer.Option("--list", help="List the problems with their settings.")]


def optimize(
    problem: ProblemName = None,
    *,
    learner: LearnerName = "moa'",
    max_neighbors: MaxNeighbors = None,
    population: Population = 500,
    generations: Generations = 100,
    evaluations: Evaluations = None,
    patience: Patience = None,
    target: Target = None,
    seed: Seed = 0,
    history: History = None,
    plot: Plot = None,
    checkpoint: Checkpoint = None,
    list_: List = False,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Look for the best individual of a problem by an estimation of distribution algorithm.

    Ctrl-C stops after the present generation and shows the best so far.
    """
    from mnlearn.optimize.catalogue import problem_named
    from mnlearn.optimize.driver import maximize
    from mnlearn.optimize.eda import MarkovEDA

    if list_:
        _list(as_json)
        return
    if problem is None:
        raise InputError(
            "PROBLEM must be given; got none. Name one, for example royal-road:n=64,group=4; --list has all."
        )
    _check_files(history, plot)
    chosen = problem_named(problem)
    algorithm = MarkovEDA(learner=_learner(learner, max_neighbors), population=population)
    wishes: dict[str, Any] = {} if target is None else {"target": target}
    with watched() as watcher:
        found = maximize(
            chosen,
            algorithm=algorithm,
            seed=seed,
            max_generations=generations,
            max_evaluations=evaluations,
            patience=patience,
            checkpoint=checkpoint,
            monitor=watcher,
            **wishes,
        )
    if history is not None:
        _write_history(found, history)
    if plot is not None:
        _draw(found, plot)
    _report(chosen, found, as_json=as_json)
    if watcher.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


def _check_files(history: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be written before the search, not after it."""
    check_target("--history", None if history is None else str(history), graph=False)
    if plot is not None:
        from mnlearn.visual.canvas import check_picture_path

        check_target("--plot", str(check_picture_path(plot, "--plot")), graph=False)


def _learner(name: str, max_neighbors: int | None) -> str | StructureLearner:
    """A structure learner of the optimiser's own, or a method of `mnlearn learn`."""
    from mnlearn.learning.experiments import structure_learner
    from mnlearn.optimize.structures import LEARNERS, MutualInformationStructure

    if max_neighbors is not None:
        if name != "moa":
            raise InputError(f"--max-neighbors is for --learner moa; {name} has no such bound. Drop it.")
        return MutualInformationStructure(max_neighbors=max_neighbors)
    return name if name in LEARNERS else structure_learner(name)


def _report(problem: Problem, found: Optimum, *, as_json: bool) -> None:
    """The best individual, and what it cost."""
    known = problem.optimum
    if as_json:
        cost = {"evaluations": found.evaluations, "generations": found.generations}
        edges = [] if found.graph is None else [list(edge) for edge in found.graph.edges]
        best = {"fitness": found.fitness, "optimum": known, "individual": found.individual.tolist()}
        show_json({"problem": problem.name, **best, "reason": found.reason, **cost, "edges": edges})
        return
    of = "" if known is None else f" of {known:g}, the optimum"
    spent = f"{counted(found.evaluations, 'evaluation')}, {counted(found.generations, 'generation')}"
    say(f"{printable(problem.name)}: fitness {found.fitness:g}{of}")
    say(f"{spent}; ended by {found.reason}")
    say(" ".join(map(str, found.individual.tolist())))


def _list(as_json: bool) -> None:
    """Every problem, with its settings."""
    from mnlearn.optimize.catalogue import PROBLEMS

    if as_json:
        told = {name: {"title": item.title, "settings": dict(item.settings)} for name, item in PROBLEMS.items()}
        show_json({"problems": told})
        return
    table = simple_table("problem", "", "settings", numbers=())
    for name, item in PROBLEMS.items():
        table.add_row(name, item.title, ",".join(f"{key}={str(value).lower()}" for key, value in item.settings.items()))
    show(table)


def _write_history(found: Optimum, path: Path) -> None:
    """Every generation as CSV, whole or not at all."""
    import csv

    try:
        with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("generation", "best", "mean", "evaluations", "n_edges"))
            for line in found.history:
                edges = "" if line.graph is None else line.graph.n_edges
                writer.writerow((line.number, line.best, line.mean, line.evaluations, edges))
    except OSError as error:
        raise FileError(f"--history must be a file we can write; {path}: {error.strerror}. Name another.") from error


def _draw(found: Optimum, path: Path) -> None:
    """The convergence as a figure."""
    from mnlearn.optimize.history import plot_convergence
    from mnlearn.visual.canvas import save_figure

    figure: Any = plot_convergence(found).figure
    save_figure(figure, path)
