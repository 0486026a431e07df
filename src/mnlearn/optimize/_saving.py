"""A run in a file: written after each generation, whole or not at all, and taken up again from there.

An .npz archive of plain arrays and one text of JSON. Since the randomness of a generation comes from the seed and its
number alone, a run that is taken up is the run that was never interrupted.
"""

from __future__ import annotations

import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.errors import FileError
from mnlearn.graphs.graph import Graph
from mnlearn.optimize.eda import Run
from mnlearn.optimize.history import Generation
from mnlearn.writing import replacing

_FORMAT = "mnlearn-optimize-1"


class Saved:
    """The file of a run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise FileError(f"checkpoint must lie in a folder that exists; there is no {self._path.parent}. Make it.")
        if self._path.is_dir():
            raise FileError(f"checkpoint must be a file; {os.fspath(path)!r} is a folder. Name a file in it.")

    def keep(self, run: Run) -> None:
        """Write the run as it is now."""
        lines = [line._replace(graph=None) for line in run.history]
        told = {
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
            raise FileError(
                f"checkpoint must be a file we can write; {self._path}: {error.strerror or error}. Name another."
            ) from error

    def restore(self, run: Run) -> None:
        """Bring a fresh run to where the file is, if there is one."""
        if not self._path.exists():
            return
        arrays, told = self._read()
        if told.get("run") != fingerprint(run):
            raise FileError(
                f"checkpoint must be of the same run; {self._path} is of one with other settings, genes or seed. Name "
                "another file, or delete it to begin anew."
            )
        run.individuals, run.fitness, run.best = arrays["individuals"], arrays["fitness"], arrays["best"]
        run.best_fitness = float(told["best_fitness"])
        run.history = [
            _line(line, edges, len(run.cards)) for line, edges in zip(told["history"], told["edges"], strict=True)
        ]
        run.generation, run.evaluations = run.history[-1].number, run.history[-1].evaluations

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the file has, if it is one of ours."""
        try:
            with self._path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in ("individuals", "fitness", "best", "told")}
            told = json.loads(str(arrays["told"]))
        except (OSError, EOFError, ValueError, KeyError, TypeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise FileError(
                f"checkpoint must be a file that a run has written; {self._path} is none, or damaged. Delete it to "
                "begin anew."
            ) from error
        return arrays, told


def fingerprint(run: Run) -> str:
    """What must be the same for a run to be the same, up to the fitness function."""
    told = [_FORMAT, run.algorithm.described(), run.cards, run.key, run.minimize]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _line(values: list[Any], edges: list[list[int]] | None, n: int) -> Generation:
    """A generation as it was."""
    return Generation(*values)._replace(graph=None if edges is None else Graph(n, edges))
