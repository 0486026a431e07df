"""Conditional entropies of either kind of data behind one face: from counts, or from a covariance as if Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol, cast

import numpy as np

from mnlearn.errors import UnsuitableError
from mnlearn.protocols import FloatArray, Indices, Statistics, VarSet
from mnlearn.statistics import Moments, kernels

_KERNEL = kernels.entropy()
_MOST_CONFIGURATIONS = 1e280  # beyond any data; more count as this many, never infinite


class Entropies(Protocol):
    """H(x | z) in nats per row, in the batches of a `LocalScore`; and how many parameters p(x | z) has."""

    @property
    def n_variables(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def most_given(self) -> int:
        """How many variables may stand behind the bar and still leave rows to estimate from."""
        ...

    @property
    def constant(self) -> VarSet:
        """The variables that never change: no neighbour tells them anything, nor they it."""
        ...

    def given(self, x: int, z: VarSet) -> float: ...
    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]: ...
    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]: ...
    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        """H(x | z − m + y): one row per member m in ascending order, one column per y."""
        ...

    def parameters(self, x: int, z: VarSet) -> float:
        """How many free parameters p(x | z) has beyond those of p(x)."""
        ...

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        """The same with each y in z."""
        ...


@dataclass(frozen=True)
class GaussianEntropies:
    """log(2πe var(x | z)) / 2, from `Moments`."""

    moments: Moments

    @property
    def n_variables(self) -> int:
        return self.moments.n_variables

    @property
    def n_rows(self) -> int:
        return self.moments.n_rows

    @property
    def most_given(self) -> int:
        """One for every two rows: with as many variables as rows every fit is perfect; of 2 rows one is."""
        return min(max(1, (self.n_rows - 1) // 2), max(0, self.n_rows - 2))

    @property
    def constant(self) -> VarSet:
        return frozenset(np.flatnonzero(np.diag(self.moments.correlation) == 0.0).tolist())

    def given(self, x: int, z: VarSet) -> float:
        return self.moments.conditional_entropy(x, z)

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [self.moments.conditional_entropies(int(x), ys, z) for x, z, ys in zip(xs, zs, yss, strict=True)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        return [self.moments.exchanged_entropies(int(x), (), z)[0] for x, z in zip(xs, zs, strict=True)]

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        return self.moments.exchanged_entropies(x, ys, z)[1]

    def parameters(self, x: int, z: VarSet) -> float:  # noqa: ARG002 - a slope each, whatever x is
        return float(len(z))

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:  # noqa: ARG002 - as above
        return np.full(len(ys), len(z) + 1.0)


@dataclass(frozen=True)
class DiscreteEntropies:
    """−Σ p(x, z) log p(x | z) by relative frequencies, from `Counts`."""

    counts: Statistics

    @property
    def n_variables(self) -> int:
        return len(self.counts.cards)

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def most_given(self) -> int:
        """log₂ N: with more variables of two states each there are more configurations than rows."""
        return max(1, self.n_rows.bit_length() - 1)

    @property
    def constant(self) -> VarSet:
        return frozenset(x for x in range(self.n_variables) if self.given(x, frozenset()) == 0.0)

    def given(self, x: int, z: VarSet) -> float:
        return float(self.counts.local(_KERNEL, x, z)[0])

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [scan[0] for scan in self.counts.reduce_many(_KERNEL, xs, yss, zs)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        return [scan[0] for scan in self.counts.without(_KERNEL, xs, zs)]

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        rest = [z - {m} for m in sorted(z)]
        scans = self.counts.reduce_many(_KERNEL, [x] * len(rest), [ys] * len(rest), rest)
        return np.array([scan[0] for scan in scans]).reshape(len(rest), len(ys))

    def parameters(self, x: int, z: VarSet) -> float:
        return (self.counts.cards[x] - 1) * (self._configurations(z) - 1.0)

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        cards = np.array(self.counts.cards, dtype=np.float64)
        configurations = np.minimum(
            cards[np.asarray(ys, dtype=np.intp)] * self._configurations(z), _MOST_CONFIGURATIONS
        )
        return np.asarray((cards[x] - 1.0) * (configurations - 1.0))

    def _configurations(self, z: VarSet) -> float:
        """All configurations of z by declared states, seen or not."""
        return float(min(prod(self.counts.cards[y] for y in z), _MOST_CONFIGURATIONS))


def entropies_of(score: str, statistics: object) -> Entropies:
    """The entropies that these statistics give; statistics that give none are refused in the score's name."""
    if isinstance(statistics, Moments):
        return GaussianEntropies(statistics)
    for method in ("reduce_many", "without", "local"):
        if not hasattr(statistics, method):
            raise UnsuitableError(
                f"{score} cannot score by a {type(statistics).__name__}, which has no {method}. Use Counts for "
                "categorical variables, or Moments for continuous ones."
            )
    return DiscreteEntropies(cast(Statistics, statistics))
