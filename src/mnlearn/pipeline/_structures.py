"""A structure learner by the name of its method: what a `MarkovEDA` takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mnlearn.data import Dataset
from mnlearn.graphs.graph import Graph
from mnlearn.pipeline._learning import learn
from mnlearn.pipeline._methods import plan


def structure_learner(
    method: str, *, test: str | None = None, score: str | None = None, **settings: Any
) -> Callable[[Dataset], Graph]:
    """Make a function of a data set that returns the graph that `learn` would find.

    Parameters
    ----------
    method, test, score, **settings
        As for `learn`; checked now, not when the function is called.

    Examples
    --------
    >>> from mnlearn.optimize import MarkovEDA, maximize, onemax
    >>> algorithm = MarkovEDA(learner=structure_learner("gsmn", alpha=0.001), population=80)
    >>> maximize(onemax(16), algorithm=algorithm, seed=1).fitness
    16.0
    """
    plan(method, test, score, settings)
    return _ByName(method, test, score, tuple(sorted(settings.items())))


@dataclass(frozen=True)
class _ByName:
    """A method with its settings; a record, so that it can be sent to other processes."""

    method: str
    test: str | None
    score: str | None
    settings: tuple[tuple[str, Any], ...]

    def __call__(self, data: Dataset) -> Graph:
        """The graph of the data; of a single variable, nothing is asked."""
        if data.n_variables < 2:
            return Graph.empty(data.n_variables)
        found = learn(data, self.method, test=self.test, score=self.score, n_jobs=1, **dict(self.settings))
        return found.graph
