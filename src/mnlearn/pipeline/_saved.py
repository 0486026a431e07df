"""Results from files, able to be asked again once their data are at hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mnlearn.data import Dataset
from mnlearn.errors import FileError, InputError
from mnlearn.graphs.formats import read_whole
from mnlearn.graphs.graph import Edge
from mnlearn.output._saved import parse
from mnlearn.output.learned import Learned
from mnlearn.output.why import Why
from mnlearn.pipeline._recipe import Recipe, recipe_of
from mnlearn.protocols import SILENT, Monitor


def load(path: str | os.PathLike[str]) -> Learned:
    """Read a whole result that `Learned.save` wrote as JSON.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Learned
        All that was found but for the data: `Learned.with_data` gives them back to it.

    Raises
    ------
    FileError
        If there is no such file, it holds no result, was changed after it was written, or is of a newer version.

    Examples
    --------
    >>> import tempfile, pathlib, mnlearn as mn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "network.json"
    >>> mn.learn({"a": [0, 1] * 30, "b": [0, 1] * 30}, "gsmn").save(path)
    >>> mn.load(path)
    <Learned gsmn: 1 edge among 2 variables, 4 tests>
    """
    text = read_whole(path)
    try:
        learned = parse(text)
    except InputError as error:
        raise FileError(f"{os.fspath(path)!r} cannot be read as a result: {error}") from error
    return replace(learned, recipe=SavedRecipe(learned.settings))


@dataclass(frozen=True)
class SavedRecipe:
    """A recipe by the settings that a file tells; what cannot be told in a file is refused when it is used."""

    settings: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: object) -> Dataset:
        """The data as they were read for the first network."""
        return self._made().read(data)

    def learn(self, dataset: Dataset, *, n_jobs: int | None = None, monitor: Monitor = SILENT) -> Learned:
        """The network of other rows."""
        return self._made().learn(dataset, n_jobs=n_jobs, monitor=monitor)

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """The evidence behind one pair."""
        return self._made().explain(learned, edge, dataset)

    def _made(self) -> Recipe:
        return recipe_of(self.settings)
