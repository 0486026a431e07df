"""What a learned network must know to be asked again: how it was learned, told by whoever learned it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from mnlearn.data import Dataset
from mnlearn.errors import DataError, InputError
from mnlearn.graphs.graph import Edge
from mnlearn.output._frames import kind_of_frame
from mnlearn.protocols import SILENT, Monitor

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned
    from mnlearn.output.why import Why


class Recipe(Protocol):
    """How a network is learned, but for the data. `mnlearn.learn` puts one into every result."""

    def read(self, data: object) -> Dataset:
        """The data as they were read for the first network."""
        ...

    def learn(self, dataset: Dataset, *, n_jobs: int | None = None, monitor: Monitor = SILENT) -> Learned:
        """The network of other rows."""
        ...

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """The evidence behind one pair."""
        ...


def attached(learned: Learned, data: object) -> Learned:
    """The result with its data at hand; see `Learned.with_data`."""
    if learned.recipe is None:
        raise InputError("data can be given to what mnlearn.learn or mnlearn.load returned; got another network.")
    dataset = learned.recipe.read(data)
    if dataset.names != learned.names:
        differing = sorted({*dataset.names} ^ {*learned.names})
        what = f"{differing[0]!r} is only in one of the two" if differing else "their order is another"
        raise DataError(f"data must have the variables of the network, in their order; {what}. Give it its own data.")
    if learned.n_rows not in (None, dataset.n_rows):
        raise DataError(
            f"data must be those that the network was learned from, {learned.n_rows} rows; got {dataset.n_rows}. To "
            "learn from other rows, call mnlearn.learn(data, **learned.settings)."
        )
    return replace(learned, data=dataset, frame=kind_of_frame(data))
