"""Conditional entropies of variables of several kinds: what the extended BIC of a mixed table is made of.

−N H(x | z) is the maximised log likelihood of the regression of x on z (`mnlearn.statistics.likelihoods`): one
parameter for each feature of a neighbour and each statistic of x, not one for each configuration of z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from mnlearn.data.dataset import check_no_gaps
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray, Indices, VarSet
from mnlearn.statistics.likelihoods import Fits, MixedLikelihoods
from mnlearn.statistics.mixed_scans import as_numbers


@dataclass(frozen=True)
class MixedEntropies:
    """−l(x | z) / N by the regressions of `MixedLikelihoods`; of a number, with log(2πe var) / 2 without neighbours.

    A model that cannot be fitted counts as one that explains nothing with its many parameters.
    """

    likelihoods: MixedLikelihoods

    def __post_init__(self) -> None:
        check_no_gaps(
            self.likelihoods.dataset,
            "ExtendedBIC, whose terms must be of the same rows,",
            "sep, or pc, gsmn*, gsimn or hhc-mn (test='mixed')",
        )

    @property
    def n_variables(self) -> int:
        return self.likelihoods.n_variables

    @property
    def n_rows(self) -> int:
        return self.likelihoods.n_rows

    @property
    def most_given(self) -> int:
        """One for every ten rows: with more, states are separated by chance."""
        return max(1, self.n_rows // 10)

    @property
    def constant(self) -> VarSet:
        return frozenset(np.flatnonzero(np.isneginf(self._unexplained)).tolist())

    @cached_property
    def _unexplained(self) -> FloatArray:
        """The log likelihood of each variable without neighbours; −inf for a constant one."""
        data, n = self.likelihoods.dataset, self.n_rows
        xs = range(self.n_variables)
        alone = self.likelihoods.local(xs, [frozenset()] * len(xs)).log_likelihood
        for x in xs:
            column = as_numbers(data, x)
            if (column == column[:1]).all():
                alone[x] = -np.inf
            elif not data.cards[x]:
                mean = np.average(column, weights=data.repeats)
                variance = float(np.average((column - mean) ** 2, weights=data.repeats))
                alone[x] = -0.5 * n * (log(2.0 * pi * variance) + 1.0)
        return np.asarray(alone)

    def given(self, x: int, z: VarSet) -> float:
        return float(self._entropies([x], self.likelihoods.local([x], [z]))[0])

    def additions(self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        found = self.likelihoods.additions(xs, zs, yss)
        return [self._entropies([int(x)] * len(fits[0]), fits) for x, fits in zip(xs, found, strict=True)]

    def removals(self, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        asked = [(int(x), z - {m}) for x, z in zip(xs, zs, strict=True) for m in sorted(z)]
        if not asked:
            return [np.empty(0) for _ in zs]
        ends = [x for x, _ in asked]
        found = self._entropies(ends, self.likelihoods.local(ends, [z for _, z in asked]))
        return np.split(found, np.cumsum([len(z) for z in zs])[:-1])

    def exchanges(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        rest = [z - {m} for m in sorted(z)]
        return np.array(self.additions([x] * len(rest), rest, [ys] * len(rest))).reshape(len(rest), len(ys))

    def parameters(self, x: int, z: VarSet) -> float:
        return float(self._widths[x] * sum(self._widths[y] for y in z))

    def parameters_with(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        width = self._widths[x]
        return np.array([self.parameters(x, z) + width * self._widths[int(y)] for y in ys], dtype=np.float64)

    def exchanged_parameters(self, x: int, z: VarSet, ys: Indices) -> FloatArray:
        found = [self.parameters_with(x, z - {m}, ys) for m in sorted(z)]
        return np.array(found).reshape(len(z), len(ys))

    @cached_property
    def _widths(self) -> tuple[int, ...]:
        """Features of each variable: states that occur less 1 if it is nominal, else 1; of a constant one 0."""
        data, constant = self.likelihoods.dataset, self.constant
        states = [len(np.unique(column)) if card else 2 for card, column in zip(data.cards, data.columns, strict=True)]
        return tuple(
            0 if v in constant else (states[v] - 1 if kind == "nominal" else 1) for v, kind in enumerate(data.kinds)
        )

    def _entropies(self, xs: Sequence[int], fits: Fits) -> FloatArray:
        """Return −l / N; where there is no fit, that without neighbours."""
        data = self.likelihoods.dataset
        alone = np.where(np.isneginf(self._unexplained), 0.0, self._unexplained)[list(xs)]
        relative = np.array([not data.cards[x] for x in xs], dtype=np.bool_)
        found = fits.log_likelihood + np.where(relative, alone, 0.0)
        return np.asarray(-np.where(np.isnan(found), alone, found) / self.n_rows)
