"""What a run leaves behind: every generation in a line, and the best individual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import MissingDependencyError, check_name
from mnlearn.graphs.graph import Graph

FrameLibrary = Literal["pandas", "polars", "pyarrow"]


class Generation(NamedTuple):
    """One generation.

    Attributes
    ----------
    number
        0 is the population that a run starts with.
    best, mean
        Of the fitness in this population; the mean is over finite values.
    evaluations
        How often fitness was asked for so far.
    graph
        The structure that the new individuals of this generation were drawn with; None for the first.
    learn_seconds, sample_seconds, fitness_seconds
        Where the time went.
    """

    number: int
    best: float
    mean: float
    evaluations: int
    graph: Graph | None
    learn_seconds: float
    sample_seconds: float
    fitness_seconds: float = nan


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best individual of a run, and how it was found.

    Attributes
    ----------
    individual
        The values of its genes, from 0 on.
    fitness
        Its fitness.
    reason
        Why the run ended: ``"target"``, ``"generations"``, ``"evaluations"``, ``"patience"``, ``"uniform"`` (all
        individuals were the same), ``"callback"``, ``"cancelled"``, ``"interrupted"``; ``"failed"`` in what an error
        carries.
    history
        Every generation.
    settings
        Enough to run it again.
    """

    individual: NDArray[np.int64]
    fitness: float
    reason: str
    history: tuple[Generation, ...]
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the target was reached."""
        return self.reason == "target"

    @property
    def evaluations(self) -> int:
        """How often fitness was asked for."""
        return self.history[-1].evaluations if self.history else 0

    @property
    def generations(self) -> int:
        """How many generations came after the first population."""
        return self.history[-1].number if self.history else 0

    @property
    def graph(self) -> Graph | None:
        """The last structure that was learned; None if there was no need."""
        return self.history[-1].graph if self.history else None

    def frame(self, library: FrameLibrary = "pandas") -> Any:
        """The history as a data frame: a row for each generation, the structure as a list of edges.

        Parameters
        ----------
        library
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; the first two must be installed.
        """
        return history_frame(self.history, library)

    def __repr__(self) -> str:
        """Fitness, cost, and why it ended."""
        told = f"fitness {self.fitness:g} after {self.evaluations} evaluations, {self.generations} generations"
        return f"<Optimum: {told}; ended by {self.reason}>"


def history_frame(history: Sequence[Generation], library: FrameLibrary = "pandas") -> Any:
    """Generations as a data frame; see `Optimum.frame`."""
    check_name("library", library, get_args(FrameLibrary))
    columns: dict[str, list[Any]] = {
        name: [getattr(line, name) for line in history] for name in Generation._fields if name != "graph"
    }
    columns["n_edges"] = [None if line.graph is None else line.graph.n_edges for line in history]
    columns["edges"] = [None if line.graph is None else [list(edge) for edge in line.graph.edges] for line in history]
    if library == "pyarrow":
        import pyarrow as pa

        pairs = pa.list_(pa.list_(pa.int64()))
        return pa.table({name: pa.array(v, type=pairs if name == "edges" else None) for name, v in columns.items()})
    try:
        module: Any = __import__(library)
    except ImportError as error:
        raise MissingDependencyError(
            f"library must be installed; {library} is not. Install it, or use library='pyarrow'."
        ) from error
    return module.DataFrame(columns)
