"""A test by score: x depends on y given z when y improves the marginal likelihood of x.

Abellán, Gómez-Olmedo & Moral, PGM (2006), 1-8  [AGM06], with which [MPL17] runs PC: hyperparameters 1/2, and no level
to choose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mnlearn.independence._asking import Explained, require_answers
from mnlearn.independence.discrete import COUNTS
from mnlearn.protocols import Evidence, Indices, Kernel, Statistics, VarSet
from mnlearn.statistics import kernels


@dataclass(frozen=True)
class ScoreTest(Explained):
    """Independent iff log p(x | z) ≥ log p(x | y, z) and the same for y: marginal likelihoods, Dirichlet priors.

    Parameters
    ----------
    statistics
        Where the tables come from, usually `Counts`.
    prior_cell
        The prior of every cell; 1/2 when nothing is given.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    UnsuitableError
        If the statistics cannot count.

    Notes
    -----
    The same prior for every cell is not likelihood equivalent: y may explain x where x does not explain y. Dependent is
    who gains from the other in either direction, so the answer does not depend on who asks. [MPL17] does not say which
    reading it takes; this one was chosen by its figures, see docs/reproduction.md. An exact tie, as with a constant
    variable, says independent. A scan takes two passes of the statistics.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> test = ScoreTest(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> test(0, 1, frozenset()).independent, test(0, 2, frozenset()).independent
    (False, True)
    """

    name: ClassVar[str] = "score"
    statistics: Statistics
    prior_cell: float | None = None
    _kernel: Kernel = field(init=False, repr=False)
    _margins: dict[int, float] = field(init=False, repr=False, compare=False, default_factory=dict)  # log p(x)

    def __post_init__(self) -> None:
        require_answers("ScoreTest", self.statistics, "reduce_many", COUNTS)
        object.__setattr__(self, "_kernel", kernels.dirichlet(self.prior_cell))

    @property
    def n_variables(self) -> int:
        """How many variables the data have."""
        return len(self.statistics.cards)

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """The log posteriors of independence and dependence for each y, equally probable before the data."""
        others = [int(y) for y in ys]
        alone = np.array([self._alone(y, z) for y in others])
        explained = self.statistics.reduce_many(self._kernel, others, [[x]] * len(others), [z] * len(others))
        gain_of_x = self.statistics.reduce(self._kernel, x, ys, z)[0] - self._alone(x, z)
        gain_of_y = np.array([scan[0, 0] for scan in explained]) - alone
        log_factor = np.maximum(gain_of_x, gain_of_y)  # of dependence against independence
        return Evidence(
            log_factor <= 0, log_independent=-np.logaddexp(0, log_factor), log_dependent=-np.logaddexp(0, -log_factor)
        )

    def _alone(self, x: int, z: VarSet) -> float:
        """log p(x | z); without z, where every scan asks for it, computed once."""
        if z:
            return float(self.statistics.local(self._kernel, x, z)[0])
        if x not in self._margins:
            self._margins[x] = float(self.statistics.local(self._kernel, x, z)[0])
        return self._margins[x]
