"""The accuracy battery with every learner of the library that takes categorical data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnlearn.data import Dataset
from mnlearn.errors import check_name
from mnlearn.evaluation.accuracy.battery import DRAWS, SIZES, Battery, Budget, Half
from mnlearn.evaluation.experiment import Weighed
from mnlearn.graphs.graph import Graph
from mnlearn.pipeline._learning import learn
from mnlearn.pipeline._methods import METHODS


@dataclass(frozen=True)
class WeighingMethod:
    """Learns by a method's name on one thread, and tells the log-odds of all pairs where the method has them."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, data: Dataset) -> Mapping[str, Graph | Weighed]:
        found = learn(data, self.method, n_jobs=1, **self.settings).result
        return {self.name: found.graph if found.log_odds is None else Weighed(found.graph, found.log_odds)}


_SEP: Mapping[str, Mapping[str, Any]] = {
    "sep": {"effort": "thorough", "keep_pairs": True},
    "sep-standard": {"effort": "standard", "keep_pairs": True},
    "sep-fast": {"effort": "fast"},
}
_OTHERS = ("mpl", "pic", "bjp", "ib", "pc", "hhc-mn", "gsmn*", "gsimn", "l1lr", "mbs", "aracne")

LEARNERS: Mapping[str, WeighingMethod] = {
    **{name: WeighingMethod(name, "sep", settings) for name, settings in _SEP.items()},
    **{name: WeighingMethod(name, name) for name in _OTHERS if name in METHODS},
}
"""Every learner of the battery by name: sep with its three efforts, the others with their defaults."""

BUDGETS: Mapping[str, Budget] = {
    "l1lr": Budget(draws=2, rows=2000, leave_out=("tree n=200", "wide", "independent, wide", "hailfinder"))
}
"""Learners that take seconds, or minutes, where the others take hundredths."""


def accuracy_battery(
    half: Half,
    *,
    data: Path | None = None,
    learners: Collection[str] = (),
    only: Collection[str] = (),
    sizes: tuple[int, ...] = SIZES,
    draws: int = DRAWS,
) -> Battery:
    """The battery of one half.

    Parameters
    ----------
    half
        "development" or "held-out".
    data
        The folder that holds `networks/*.bif` and `graphs/*.edges`; without it those kinds are left out.
    learners, only
        Some of `LEARNERS` and some of the kinds; all when empty.
    sizes, draws
        Numbers of rows, and data sets for each kind and number of rows.

    Examples
    --------
    >>> battery = accuracy_battery("development", learners=["mpl"], only=["independent"], sizes=(250,), draws=1)
    >>> [(row.learner, row.true_edges) for row in battery.run()]
    [('mpl', 0)]
    """
    for name in learners:
        check_name("learner", name, LEARNERS, shown=30)
    chosen = {name: method for name, method in LEARNERS.items() if not learners or name in learners}
    return Battery(half, chosen, data, sizes, draws, BUDGETS, tuple(only))
