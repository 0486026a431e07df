"""`maximize` and `minimize`: run an EDA on a fitness function, with stopping rules and checkpoints."""

from __future__ import annotations

import errno
import json
import logging
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import FileError, InputError, check_name, check_path, is_number, true_or_false, whole_number
from mnlearn.files import only_user, replacing
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, array_of_npy
from mnlearn.parallel import Backend, job_count
from mnlearn.protocols import SILENT, Monitor
from mnlearn_papers.optimize.eda import MarkovEDA, Run
from mnlearn_papers.optimize.history import Generation, Optimum
from mnlearn_papers.optimize.operators import Evaluator, FitnessError
from mnlearn_papers.optimize.problems import Problem

Fitness = Callable[[NDArray[np.int64]], Any]
Callback = Callable[[Generation], object]


class Options(TypedDict, total=False):
    """Keyword options of `maximize` and `minimize`."""

    states: int | Sequence[int]
    seed: Seed
    vectorized: bool
    target: float | None
    max_generations: int
    max_evaluations: int | None
    patience: int | None
    callbacks: Sequence[Callback]
    n_jobs: int | None
    backend: Backend
    client: Any
    checkpoint: str | os.PathLike[str] | None
    monitor: Monitor


def maximize(
    fitness: Fitness | Problem,
    n_variables: int | None = None,
    *,
    algorithm: MarkovEDA | None = None,
    **options: Unpack[Options],
) -> Optimum:
    """Find an individual with the highest fitness.

    Parameters
    ----------
    fitness
        Takes an individual, an array of whole numbers from 0 on, and returns a number. Or a `Problem`, which knows its
        genes and, where that is known, its target.
    n_variables
        Number of genes of an individual; not for a `Problem`.
    algorithm
        The algorithm; ``MarkovEDA()`` by default.
    states
        Number of values of a gene: one number for all (2), or one for each.
    seed
        An integer (0), or a generator to draw from. The same seed gives the same run, however fitness is evaluated.
    vectorized
        Whether fitness takes a 2-D array, a row for each individual, and returns an array. If it raises, it is called
        again row by row to find the individual.
    target
        Stop when fitness is as good as this; by default the optimum of a `Problem`, if it is known.
    max_generations, max_evaluations
        Stop after so many generations (100), or before so many evaluations would be exceeded.
    patience
        Stop after so many generations without a better individual.
    callbacks
        Called with each `Generation`; one that returns True stops the run.
    n_jobs
        How many individuals are evaluated at a time (1):
        None or −1 for all cores, else that many. Any number gives the same result.
    backend, client
        By threads or processes, or by a `distributed.Client`; see `mnlearn.parallel.run`.
    checkpoint
        A file with the state after each generation; if it exists, the run continues from it. If the disk is full, the
        run goes on without it.
    monitor
        Receives the progress and may cancel the run.

    Returns
    -------
    Optimum
        The best individual, the history, and why the run ended. Ctrl-C ends a run that has a population, too.

    Raises
    ------
    InputError
        If a setting is invalid.
    FitnessError
        If fitness raises, or returns NaN or another shape; with the individual, and the run so far.
    FileError
        If the checkpoint is of another run or another version, damaged or in use, or if its folder cannot be written.

    Examples
    --------
    >>> found = maximize(lambda x: x.sum(), 20, target=20, seed=1)
    >>> found.fitness, found.individual.tolist() == [1] * 20
    (20.0, True)
    """
    return _Job.prepare(fitness, n_variables, algorithm, dict(options), minimize=False).work()


def minimize(
    fitness: Fitness,
    n_variables: int | None = None,
    *,
    algorithm: MarkovEDA | None = None,
    **options: Unpack[Options],
) -> Optimum:
    """Find an individual with the lowest fitness; everything else is as for `maximize`.

    Examples
    --------
    >>> minimize(lambda rows: rows.sum(axis=1), 12, states=3, vectorized=True, target=0, seed=1).fitness
    0.0
    """
    if isinstance(fitness, Problem):
        raise InputError(f"fitness must be maximized when it is a Problem; got {fitness.name}. Use maximize.")
    return _Job.prepare(fitness, n_variables, algorithm, dict(options), minimize=True).work()


@dataclass(frozen=True)
class _Rules:
    """Options of a run: stopping rules, monitor, evaluation."""

    states: int | Sequence[int] = 2
    seed: Seed = 0
    vectorized: bool = False
    target: float | None = None
    max_generations: int = 100
    max_evaluations: int | None = None
    patience: int | None = None
    callbacks: Sequence[Callback] = ()
    n_jobs: int | None = 1
    backend: Backend = "threads"
    client: Any = None
    checkpoint: str | os.PathLike[str] | None = None
    monitor: Monitor = SILENT

    def __post_init__(self) -> None:
        true_or_false(vectorized=self.vectorized)
        job_count(self.n_jobs)  # raises
        if self.target is not None and not is_number(self.target):
            raise InputError(f"target must be a number; got {self.target!r}. Leave it out if none is known.")
        whole_number("max_generations", self.max_generations, least=0, hint="100 is usual.")
        for name in ("max_evaluations", "patience"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), least=1, hint="Leave it out for no limit.")
        check_name("backend", self.backend, get_args(Backend))
        if callable(self.callbacks) or not all(map(callable, self.callbacks)):
            raise InputError(f"callbacks must be a list of functions; got {self.callbacks!r}. Put it into a list.")


class _Job:
    """One optimisation: the run, the fitness function and the options."""

    def __init__(self, run: Run, evaluate: Evaluator, rules: _Rules) -> None:
        self._run, self._evaluate, self._rules = run, evaluate, rules
        self._saved = None if rules.checkpoint is None else Saved(rules.checkpoint)
        self._better = 0  # the generation that last brought a better individual

    @classmethod
    def prepare(
        cls,
        fitness: Any,
        n_variables: int | None,
        algorithm: MarkovEDA | None,
        options: dict[str, Any],
        *,
        minimize: bool,
    ) -> _Job:
        """Check everything before any work."""
        known = [field.name for field in fields(_Rules)]
        for name in options:
            check_name("option", name, known, shown=20)
        if isinstance(fitness, Problem):
            n_variables = _genes_of(fitness, n_variables, options)
        if not callable(fitness):
            raise InputError(f"fitness must be a function; got a {type(fitness).__name__}. Give one of an individual.")
        if n_variables is None:
            raise InputError("n_variables must be given, the number of genes; got none. A Problem defines it.")
        rules = _Rules(**options)
        if algorithm is not None and not isinstance(algorithm, MarkovEDA):
            raise InputError(f"algorithm must be a MarkovEDA; got a {type(algorithm).__name__}. Use MarkovEDA(...).")
        chosen = MarkovEDA() if algorithm is None else algorithm
        run = chosen.start(n_variables, states=rules.states, seed=rules.seed, minimize=minimize)
        evaluate = Evaluator(fitness, rules.vectorized, rules.n_jobs, rules.backend, rules.client)
        return cls(run, evaluate, rules)

    def work(self) -> Optimum:
        """Run generations until a stopping rule applies, alone on the checkpoint."""
        if self._saved is None:
            return self._work()
        with self._saved.reserved():
            self._saved.restore(self._run)
            self._check_problem()
            self._better = _last_improvement(self._run)
            return self._work()

    def _work(self) -> Optimum:
        run = self._run
        try:
            while (reason := self._reason()) is None:
                if not self._step():
                    reason = "cancelled"
                    break
        except KeyboardInterrupt:
            if run.best is None:
                raise
            reason = "interrupted"
        except FitnessError as error:
            error.result = None if run.best is None else self._optimum("failed")
            raise
        return self._optimum(reason)

    def _check_problem(self) -> None:
        """Raise InputError if a resumed run is of another problem; a user function cannot be compared."""
        run, problem = self._run, self._evaluate.fitness
        if run.best is None or not isinstance(problem, Problem):
            return
        if not np.allclose(problem(run.individuals.astype(np.int64)), run.fitness):
            raise FileError(
                f"checkpoint must be of the same problem; {self._rules.checkpoint} has fitness that is not that of "
                f"{problem.name}. Name another file, or delete it to begin anew."
            )

    def _step(self) -> bool:
        """Run one generation; return False if the monitor cancelled it."""
        run = self._run
        individuals = run.ask()
        began = perf_counter()
        values = self._evaluate(individuals, self._rules.monitor)
        if values is None:
            return False
        before = run.best_fitness
        run.tell(individuals, values)
        run.history[-1] = run.history[-1]._replace(fitness_seconds=perf_counter() - began)
        if run.best_fitness != before:
            self._better = run.generation
        if self._saved is not None:
            self._saved.keep(run)
        message = f"best {run.best_fitness:g}, {run.evaluations} evaluations"
        self._rules.monitor.progress(run.generation, self._rules.max_generations, message)
        return True

    def _reason(self) -> str | None:
        """Return the stopping reason, or None."""
        run, rules = self._run, self._rules
        fresh = run.best is None
        wanted = run.algorithm.population - (0 if fresh else run.algorithm.n_elite)
        answers = [] if fresh else [callback(run.history[-1]) for callback in rules.callbacks]
        spent = rules.max_evaluations is not None and run.evaluations + wanted > rules.max_evaluations
        stalled = rules.patience is not None and run.generation - self._better >= rules.patience
        reasons = {
            "target": not fresh and rules.target is not None and self._reached(rules.target),
            "callback": any(answer is True for answer in answers),
            "cancelled": rules.monitor.cancelled(),
            "generations": run.generation >= rules.max_generations,
            "evaluations": spent,
            "patience": not fresh and stalled,
            "uniform": not fresh and run.is_uniform,
        }
        return next((reason for reason, holds in reasons.items() if holds), None)

    def _reached(self, target: float) -> bool:
        """Return whether the best reaches the target, up to rounding of sums."""
        slack = 1e-12 * abs(target)
        best = self._run.best_fitness
        return best <= target + slack if self._run.minimize else best >= target - slack

    def _optimum(self, reason: str) -> Optimum:
        """Return the result, or raise InputError if no population was evaluated."""
        run = self._run
        if run.best is None:
            raise InputError(
                f"max_evaluations must allow the first population, {run.algorithm.population} individuals; got "
                f"{self._rules.max_evaluations}. Raise it, or lower the population."
                if reason == "evaluations"
                else "monitor must let the first population be evaluated; it cancelled before. Start again."
            )
        settings = {
            **run.algorithm.described(),
            "n_variables": len(run.cards),
            "key": run.key,
            "minimize": run.minimize,
        }
        return Optimum(run.best, run.best_fitness, reason, tuple(run.history), settings)


def _genes_of(problem: Problem, n_variables: int | None, options: dict[str, Any]) -> int:
    """Fill the options with what the problem defines."""
    if n_variables not in (None, problem.n_variables):
        raise InputError(f"n_variables must be {problem.n_variables} for {problem.name}; got {n_variables}. Drop it.")
    for name in ("states", "vectorized"):
        if name in options:
            raise InputError(f"{name} is set by a Problem; got {options[name]!r} for {problem.name}. Drop it.")
    options |= {"states": problem.cards, "vectorized": True}
    options.setdefault("target", problem.optimum)
    return problem.n_variables


def _last_improvement(run: Run) -> int:
    """Return the last generation with an improvement."""
    best, found = None, 0
    for line in run.history:
        if best is None or (line.best < best if run.minimize else line.best > best):
            best, found = line.best, line.number
    return found


# Checkpoint of a run: an .npz archive of plain arrays and one JSON string, replaced after each generation. The
# randomness of a generation depends on the seed and its number only, so a resumed run equals an uninterrupted one.


_DAMAGE = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, NotImplementedError, RecursionError),
    *(zipfile.BadZipFile, zlib.error, ArithmeticError, RuntimeError),
)
_GRAPH = Generation._fields.index("graph")
_log = logging.getLogger("mnlearn.papers.optimize")


class Saved:
    """The file of a run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_path("checkpoint", path)
        self._path, self._failure = Path(path), ""
        if not self._path.parent.is_dir():
            raise FileError(f"checkpoint must lie in a folder that exists; there is no {self._path.parent}. Make it.")
        if self._path.is_dir():
            raise FileError(f"checkpoint must be a file; {os.fspath(path)!r} is a folder. Name a file in it.")

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Keep other processes from the file; at the end, say if it is incomplete."""
        with ExitStack() as stack:
            try:
                free = stack.enter_context(only_user(self._path))
            except OSError as error:
                free = self._refuse(error)
            if not free:
                raise FileError(
                    f"checkpoint must be used by one process at a time; another one uses {self._path}. Wait for it, or "
                    "name another file."
                )
            yield
        if self._failure:
            _log.warning("the checkpoint %s is not of the last generation: %s", self._path, self._failure)

    def _refuse(self, error: OSError) -> bool:
        """Raise FileError, or go on without the file if the disk is full."""
        self._failure = error.strerror or str(error)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"checkpoint must be a file that can be written; {self._path}: {self._failure}. Name another file."
            ) from error
        _log.warning("the checkpoint %s cannot be written: %s. The run goes on without it", self._path, self._failure)
        return True

    def keep(self, run: Run) -> None:
        """Write the run as it is now; on a full disk, go on without."""
        if self._failure:
            return
        lines = [line._replace(graph=None) for line in run.history]
        told = {
            "version": _version(),
            "run": fingerprint(run),
            "history": [list(line) for line in lines],
            "edges": [None if line.graph is None else line.graph.edges for line in run.history],
            "best_fitness": run.best_fitness,
        }
        arrays: dict[str, Any] = {"individuals": run.individuals, "fitness": run.fitness, "best": run.best}
        arrays["told"] = np.array(json.dumps(told))
        try:
            with replacing(self._path) as part, part.open("wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._failure = error.strerror or str(error)
            text = "the checkpoint %s cannot be written: %s. The run goes on without it"
            _log.warning(text, self._path, self._failure)

    def restore(self, run: Run) -> None:
        """Restore the state of the file, if there is one."""
        if not self._path.exists():
            return
        try:
            arrays, told = self._read()
            version, found = str(told.get("version", "another one")), told.get("run")
        except _DAMAGE as error:
            raise self._damaged() from error
        if version != _version():
            raise FileError(
                f"checkpoint must be of this version of mnlearn, {_version()}; {self._path} was written by {version}. "
                "Name another file, or continue with that version."
            )
        if found != fingerprint(run):
            raise FileError(
                f"checkpoint must be of the same run; {self._path} is of one with other settings, genes or seed. Name "
                "another file, or delete it to begin anew."
            )
        try:
            _enter(run, arrays, told)
        except _DAMAGE as error:
            raise self._damaged() from error

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of the file."""
        with self._path.open("rb") as file, zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("a run writes its arrays uncompressed")
            names = ("individuals", "fitness", "best", "told")
            arrays = {name: array_of_npy(archive.read(f"{name}.npy")) for name in names}
        return arrays, json.loads(str(arrays["told"]))

    def _damaged(self) -> FileError:
        return FileError(
            f"checkpoint must be a file that a run has written; {self._path} is none, or damaged. Delete it to begin "
            "anew."
        )


def _enter(run: Run, arrays: dict[str, Any], told: dict[str, Any]) -> None:
    """Put a stored state into a run, or raise ValueError if it is not one of this run."""
    individuals, fitness, best = arrays["individuals"], arrays["fitness"], arrays["best"]
    shapes = (run.algorithm.population, len(run.cards)), (run.algorithm.population,), (len(run.cards),)
    if (individuals.shape, fitness.shape, best.shape) != shapes:
        raise ValueError("another number of individuals or genes")
    if {individuals.dtype.str, fitness.dtype.str, best.dtype.str} != {"|u1", "<f8", "<i8"}:
        raise ValueError("other types of numbers")
    if (individuals >= run.cards).any() or (best >= run.cards).any() or (best < 0).any():
        raise ValueError("a gene that is not one of its values")
    history = [_line(line, edges, len(run.cards)) for line, edges in zip(told["history"], told["edges"], strict=True)]
    if not np.isfinite([history[-1].number, history[-1].evaluations]).all() or len(history) != history[-1].number + 1:
        raise ValueError("a history that is not one of generations")
    run.generation, run.evaluations = int(history[-1].number), int(history[-1].evaluations)
    run.best_fitness, run.history = float(told["best_fitness"]), history
    run.individuals, run.fitness, run.best = individuals, fitness, best


def _version() -> str:
    from mnlearn import __version__

    return __version__


def fingerprint(run: Run) -> str:
    """Return a hash of everything that defines a run except the fitness function."""
    told = [run.algorithm.described(), run.cards, run.key, run.minimize]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _line(values: list[Any], edges: list[list[int]] | None, n: int) -> Generation:
    """A generation as it was."""
    if not all(value is None if k == _GRAPH else type(value) in (int, float) for k, value in enumerate(values)):
        raise ValueError("a generation that does not consist of numbers")
    return Generation(*values)._replace(graph=None if edges is None else Graph(n, edges))
