"""What a blanket is worth before the data: any function of its size keeps a score a sum over variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, log
from typing import TypeAlias

from mnlearn.errors import InputError, is_number

BlanketPrior: TypeAlias = Callable[[int], float]
"""The size of a blanket -> its log prior, up to a constant; half of an edge's prior belongs to each end."""


@dataclass(frozen=True)
class GraphPrior:
    """log p(G) = −strength |E| log d, or what a function of the blankets' sizes says  [MPL17, Sec. 3.1].

    The paper prints the sign the other way round, and says what is meant: each edge is penalised by log d.
    """

    n_variables: int
    choice: float | BlanketPrior | None
    _known: dict[int, float] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.choice is None or callable(self.choice):
            return
        if not (is_number(self.choice) and self.choice >= 0):
            raise InputError(
                f"graph_prior must be a strength, 0 or more, or a function of a blanket's size; got {self.choice!r}. "
                "The paper's is 1; None is no prior."
            )

    def __call__(self, size: int) -> float:
        """The log prior of a blanket of that size."""
        if self.choice is None:
            return 0.0
        if not callable(self.choice):
            return -self.choice * size / 2 * log(self.n_variables)
        if size not in self._known:
            value = float(self.choice(size))
            if not isfinite(value):
                raise InputError(
                    f"graph_prior must give a finite log prior; got {value} for a blanket of {size}. To forbid large "
                    "blankets, limit the search instead (max_blanket)."
                )
            self._known[size] = value
        return self._known[size]
