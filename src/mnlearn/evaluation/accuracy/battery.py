"""What the battery runs: two halves that share nothing but the kinds of networks, and how much of it a learner gets.

Changes of a method are judged on the development half; the held-out half is for the figures that are published. The
half enters the seeds, so no data set, no parameter and no random graph is in both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from mnlearn.errors import check_name, whole_number
from mnlearn.evaluation.accuracy.networks import kinds
from mnlearn.evaluation.experiment import Experiment, Method, Row, run
from mnlearn.protocols import SILENT, Monitor

Half = Literal["development", "held-out"]
SIZES = (250, 500, 1000, 2000, 4000, 8000)
DRAWS = 5


@dataclass(frozen=True)
class Budget:
    """What a slow learner is run on: so many draws, so many rows at most, and not on all kinds."""

    draws: int = DRAWS
    rows: int = SIZES[-1]
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Battery:
    """Networks × rows × draws × learners.

    Parameters
    ----------
    half
        Which of the two halves.
    methods
        The learners by name.
    data
        The folder of networks and graphs in files; None for those that need none.
    sizes
        Numbers of rows.
    draws
        Data sets for each kind and number of rows, each with new parameters.
    budgets
        By learner, for those that cannot afford all of it.
    only
        Some of the kinds; all when empty.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> nothing = {"nothing": lambda data: {"nothing": Graph(data.n_variables)}}
    >>> small = Battery("development", nothing, sizes=(250,), draws=2, only=("parity",))
    >>> [row.hamming for row in small.run()]
    [24, 24]
    """

    half: Half
    methods: Mapping[str, Method]
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES
    draws: int = DRAWS
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    only: Collection[str] = ()

    def __post_init__(self) -> None:
        check_name("half", self.half, get_args(Half))
        whole_number("draws", self.draws, least=1, way_out="Ask for at least one.")

    def run(self, *, journal: Path | None = None, n_jobs: int | None = 1, monitor: Monitor = SILENT) -> list[Row]:
        """One row for every graph that was learned; a run that is stopped gives those that it has.

        Parameters
        ----------
        journal
            A file that keeps every result; what it holds already is not computed again.
        n_jobs
            How many processes: None or −1 for all cores, else that many. Any number gives the same result.
        monitor
            Hears the progress, and may stop.
        """
        rows: list[Row] = []
        for budget, methods in self._shares().items():
            sizes = [size for size in self.sizes if size <= budget.rows]
            draws = min(self.draws, budget.draws)
            if sizes:
                part = self._experiment(budget, methods)
                rows += run(part, sizes, draws, journal=journal, n_jobs=n_jobs, monitor=monitor)
        place = {kind: k for k, kind in enumerate(kinds(self.data))}
        return sorted(rows, key=lambda row: (place[row.source], row.n_rows, row.repetition, row.learner))

    def _shares(self) -> dict[Budget, list[str]]:
        """The learners by their budgets; those without one first."""
        shares: dict[Budget, list[str]] = {Budget(self.draws): []}
        for name in self.methods:
            shares.setdefault(self.budgets.get(name, Budget(self.draws)), []).append(name)
        return {budget: names for budget, names in shares.items() if names}

    def _experiment(self, budget: Budget, methods: list[str]) -> Experiment:
        whole = Experiment(f"accuracy-{self.half}", kinds(self.data), self.methods)
        chosen = whole.only(self.only, methods)
        kept = {name: source for name, source in chosen.sources.items() if name not in budget.leave_out}
        return Experiment(chosen.name, kept, chosen.methods)
