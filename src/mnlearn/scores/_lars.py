"""The lasso's path by least angles, from a covariance alone: what the judges of `lasso.py` walk along.

One correlation matrix serves all variables; scikit-learn's LARS follows a path from its blocks. A path is asked for its
first few steps, and for twice as many when they were not enough.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from mnlearn.protocols import FloatArray, IntArray, VarSet
from mnlearn.statistics.moments import EXPLAINED, Moments

_FIRST_STEPS = 16


@contextmanager
def quick_and_quiet() -> Iterator[None]:
    """scikit-learn without checks of its input, which take longer than a path, and without warnings.

    They would be about columns that others explain, which LARS leaves out, as it should.
    """
    from sklearn import config_context

    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, eq=False)
class Target:
    """One variable to be explained by others: their correlations, freed of what must be in anyway."""

    others: IntArray  # who may explain it, ascending
    shared: FloatArray  # their correlations with it
    gram: FloatArray  # and with each other

    @classmethod
    def of(cls, moments: Moments, x: int, candidates: VarSet, required: VarSet) -> Target | None:
        """The variable x; None if nothing is left to explain it by, or nothing of it to explain."""
        others = np.array(sorted(candidates - required - {x}), dtype=np.int64)
        matrix, place = moments.correlation, {y: y for y in (x, *others.tolist())}
        if required:
            matrix = moments.conditional_correlation([x, *others.tolist()], required)
            place = {y: k for k, y in enumerate((x, *others.tolist()))}
        others = others[[matrix[place[y], place[y]] > 0.0 for y in others.tolist()]]
        if matrix[place[x], place[x]] == 0.0 or not len(others):
            return None
        chosen = np.array([place[y] for y in others.tolist()])
        return cls(others, matrix[chosen, place[x]], matrix[np.ix_(chosen, chosen)])

    def supports(self, most: int) -> Iterator[VarSet]:
        """The sets of variables along the path, each as often as it is met, none larger than `most`."""
        seen, steps, ended = 1, _FIRST_STEPS, False  # the first knot is where nobody is in
        while not ended:
            penalties, weights = path(self.gram, self.shared, max_steps=steps)
            for k in range(seen, len(penalties)):
                members = np.flatnonzero(weights[:, k])
                if len(members) > most:
                    return
                yield frozenset(self.others[members].tolist())
            seen, ended = len(penalties), len(penalties) <= steps
            steps *= 2

    def support_at(self, penalty: float) -> VarSet:
        """Who is in at one penalty, in units of a correlation."""
        if np.abs(self.shared).max() <= penalty:
            return frozenset()
        _, weights = path(self.gram, self.shared, smallest=penalty)
        return frozenset(self.others[np.flatnonzero(weights[:, -1])].tolist())


def path(
    gram: FloatArray, shared: FloatArray, *, smallest: float = 0.0, max_steps: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The penalties at which the path bends, descending, and the weights there, a column each."""
    from sklearn.linear_model import lars_path_gram

    steps = 8 * len(shared) if max_steps is None else max_steps
    penalties, _, weights = lars_path_gram(
        shared, gram, n_samples=1, method="lasso", alpha_min=max(smallest, EXPLAINED), max_iter=steps
    )
    return penalties, weights
