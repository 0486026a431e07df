"""Gaussian Markov network: precision matrix, likelihood, prediction and sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from mnlearn._validate import Seed
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_mapping, is_number, real_array, tuple_of
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.model.markov_model import EdgeStrength, FitReport, MarkovModel, by_strength
from mnlearn.model.rows import continuous_rows
from mnlearn.protocols import BoolArray, FloatArray
from mnlearn.simulate.gaussian import GaussianNetwork, continuous_dataset

_HALF_LOG_2PI = 0.5 * log(2.0 * pi)


class Normal(NamedTuple):
    """A normal distribution; one of deviation 0 is a constant."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False, repr=False)
class GaussianModel(MarkovModel):
    """x ~ N(μ, D K⁻¹ D): means, standard deviations D, and the precision matrix K of the standardised variables.

    A column that never changed has deviation 0: it is the same in every sample and explains nothing, and a row with
    another value has a likelihood of zero.

    Attributes
    ----------
    names
        The variables.
    structure
        The graph that the model was fitted on. K is zero where it has no edge.
    mean, scale
        μ and D.
    standard_precision
        K: symmetric and positive definite.
    report
        How they were found.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> k = [[1.0, -0.4, 0.0], [-0.4, 1.0, -0.4], [0.0, -0.4, 1.0]]
    >>> model = GaussianModel(("a", "b", "c"), path(3), np.zeros(3), np.full(3, 2.0), k, FitReport("by hand", 0))
    >>> model.conditional("a", {"b": 3.0})
    Normal(mean=1.2, deviation=2.0)
    >>> [(edge.u, edge.v, edge.strength, edge.sign) for edge in model.strengths()]
    [('a', 'b', 0.4, 1), ('b', 'c', 0.4, 1)]
    """

    names: tuple[str, ...]
    structure: Graph
    mean: FloatArray
    scale: FloatArray
    standard_precision: FloatArray
    report: FitReport
    _network: GaussianNetwork = field(init=False)

    def __post_init__(self) -> None:
        network = GaussianNetwork(self.standard_precision)
        check_graph("structure", self.structure)
        n = len(tuple_of("names", self.names, "names"))
        mean, scale = (real_array(name, getattr(self, name), "Refit the model.") for name in ("mean", "scale"))
        sizes = {(n,), mean.shape, scale.shape, (self.structure.n_variables,), network.precision.shape[:1]}
        if len(sizes) > 1:
            raise InputError(f"names, structure, mean, scale and standard_precision must agree in size; got {sizes}.")
        if not (np.isfinite(mean).all() and np.isfinite(scale).all() and (scale >= 0).all()):
            raise InputError("mean and scale must be finite, and scale at least 0; got others. Refit the model.")
        if set(network.graph.edges) - set(self.structure.edges):
            raise InputError(
                "standard_precision must be zero where structure has no edge; got others. Refit the model."
            )
        mean.flags.writeable = scale.flags.writeable = False
        for name, value in (("mean", mean), ("scale", scale), ("standard_precision", network.precision)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_network", network)

    @property
    def kind(self) -> str:
        """ "gaussian"."""
        return "gaussian"

    @property
    def graph(self) -> Graph:
        """The structure, by index."""
        return self.structure

    @property
    def n_parameters(self) -> int:
        """A mean and a variance per variable, and one number per edge."""
        return 2 * len(self.names) + self.structure.n_edges

    @property
    def precision(self) -> FloatArray:
        """Θ in the units of the data; infinite on the diagonal for a column that never changes."""
        unit = np.where(self._varies, self.scale, 1.0)
        theta = self.standard_precision / unit[:, None] / unit
        theta[~self._varies, ~self._varies] = np.inf
        return np.asarray(theta)

    def covariance(self) -> FloatArray:
        """Σ in the units of the data."""
        return np.asarray(self._correlation * self.scale[:, None] * self.scale)

    def partial_correlations(self) -> FloatArray:
        """−Θ_uv / √(Θ_uu Θ_vv), with ones on the diagonal."""
        return self._network.partial_correlations()

    def log_conditionals(self, data: object) -> FloatArray:
        """log p(x_j | all others) of every row and variable; of a column that never changes 0, or −∞ elsewhere."""
        rows = self._rows(data)
        z = self._standard(rows)
        own = np.diag(self.standard_precision)
        residual = z @ self.standard_precision / own  # z_j less its mean given the others
        with np.errstate(divide="ignore"):
            unit = np.log(own) / 2 - np.log(np.where(self._varies, self.scale, 1.0)) - _HALF_LOG_2PI
        found = unit - 0.5 * own * residual**2
        return np.where(self._varies, found, np.where(self._as_known(rows), 0.0, -np.inf))

    def log_likelihood(self, data: object) -> float:
        """Σ_rows log p(x), exactly; columns that never change are not counted."""
        rows = self._rows(data)
        z = self._standard(rows)
        varying = int(self._varies.sum())
        log_det = float(np.linalg.slogdet(self.standard_precision)[1])
        constant = log_det / 2 - varying * _HALF_LOG_2PI - float(np.log(self.scale[self._varies]).sum())
        per_row = constant - 0.5 * np.einsum("ij,ij->i", z @ self.standard_precision, z)
        per_row = np.where(self._as_known(rows)[:, ~self._varies].all(1), per_row, -np.inf)
        return float(per_row.sum() if rows.repeats is None else per_row @ rows.repeats)

    def sample(self, n_rows: int, seed: Seed) -> Dataset:
        """Draw independent rows from exactly this distribution.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows, up to the rounding of the linear
            algebra of the machine.
        """
        return continuous_dataset(self.mean + self.scale * self._network.sample(n_rows, seed), self.names)

    def conditional(self, x: str, evidence: Mapping[str, Any] | None = None) -> Normal:
        """The distribution of x given values of other variables, exactly: a mean and a standard deviation.

        Parameters
        ----------
        x
            The name of a variable.
        evidence
            Numbers by name, for any of the other variables. With nothing given this is the marginal of x. A column
            that never changes has no influence, whatever value is given for it.
        """
        target = self.place("x", x)
        check_mapping("evidence", evidence, "{'height': 1.8}")
        known = self._numbers(x, evidence or {})
        given = [y for y in sorted(known) if self._varies[y]]
        z = np.array([(known[y] - self.mean[y]) / self.scale[y] for y in given])
        among = self._correlation[np.ix_(given, given)]
        slopes = np.linalg.solve(among, self._correlation[given, target])
        left = max(0.0, float(self._correlation[target, target] - slopes @ self._correlation[given, target]))
        scale = float(self.scale[target])
        return Normal(float(self.mean[target] + scale * (slopes @ z)), scale * sqrt(left))

    def predict(self, column: str, data: object) -> FloatArray:
        """The mean of one column given the others, row by row; `conditional` has its deviation."""
        x = self.place("column", column)
        neighbors = sorted(self.graph.neighbors(x))
        if not neighbors:
            return np.full(self._n_rows(data), self.mean[x])
        varying = [y for y in neighbors if self._varies[y]]
        rows = self._rows(data, neighbors)
        centre = np.full(rows.n_records, self.mean[x])
        for y in varying:
            slope = -self.standard_precision[x, y] / self.standard_precision[x, x]
            z = (rows.columns[neighbors.index(y)].astype(np.float64) - self.mean[y]) / self.scale[y]
            centre += self.scale[x] * slope * z
        return centre

    def residual_deviation(self, column: str) -> float:
        """The standard deviation of one column given all others: D / √K_xx."""
        x = self.place("column", column)
        return float(self.scale[x] / sqrt(self.standard_precision[x, x]))

    def strengths(self) -> list[EdgeStrength]:
        """Every edge with the size and the sign of its partial correlation given all others, the strongest first."""
        partial = self.partial_correlations()
        found = []
        for u, v in self.graph.edges:
            rho = float(partial[u, v])
            found.append(EdgeStrength(self.names[u], self.names[v], abs(rho), int(np.sign(rho)) if rho else None))
        return by_strength(found)

    @cached_property
    def _correlation(self) -> FloatArray:
        """K⁻¹."""
        return self._network.covariance()

    @cached_property
    def _varies(self) -> BoolArray:
        return np.asarray(self.scale > 0)

    def _standard(self, rows: Dataset) -> FloatArray:
        """(x − μ) / D, and 0 for a column that never changes."""
        values = np.stack(rows.columns, axis=1).astype(np.float64) - self.mean
        return np.asarray(np.where(self._varies, values / np.where(self._varies, self.scale, 1.0), 0.0))

    def _as_known(self, rows: Dataset) -> BoolArray:
        """Where a value is exactly the mean: what a column that never changes must be."""
        return np.asarray(np.stack(rows.columns, axis=1).astype(np.float64) == self.mean)

    def _rows(self, data: object, wanted: Sequence[int] | None = None) -> Dataset:
        chosen = range(len(self.names)) if wanted is None else wanted
        return continuous_rows(data, [self.names[x] for x in chosen])

    def _numbers(self, x: str, evidence: Mapping[str, Any]) -> dict[int, float]:
        """Evidence by index."""
        numbers = {}
        for name, value in evidence.items():
            y = self.place("evidence", name)
            if name == x:
                raise InputError(f"evidence must not hold x itself; got {name!r} in both. Drop it from one.")
            if not is_number(value):
                raise InputError(f"evidence must hold finite numbers; got {value!r} for {name!r}. Correct it.")
            numbers[y] = float(value)
        return numbers
