"""Gaussian Markov network: precision matrix, likelihood, prediction and sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import count_rows
from mnlearn.data.writers import FrameKind
from mnlearn.distributions.elimination import by_pattern
from mnlearn.distributions.gaussian import GaussianNetwork, continuous_dataset
from mnlearn.errors import InputError, check_mapping, is_number, real_array, tuple_of
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.model.base import EdgeStrength, FitReport, Imputed, MarkovModel, MostProbable, by_strength
from mnlearn.model.rows import continuous_rows, incomplete_numbers
from mnlearn.numbers import Seed, fresh, log
from mnlearn.protocols import BoolArray, FloatArray

_HALF_LOG_2PI = 0.5 * log(2.0 * pi)


class Normal(NamedTuple):
    """A normal distribution; one of deviation 0 is a constant."""

    mean: float
    deviation: float


class JointNormal(NamedTuple):
    """A normal distribution of several variables: their names, means and covariance matrix, in this order."""

    names: tuple[str, ...]
    mean: FloatArray
    covariance: FloatArray


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
    frame
        Library of the data frame that the model was fitted to, if any.

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
    frame: FrameKind | None = None
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
            unit = log(own) / 2 - log(np.where(self._varies, self.scale, 1.0)) - _HALF_LOG_2PI
        found = unit - 0.5 * own * residual**2
        return np.where(self._varies, found, np.where(self._as_known(rows), 0.0, -np.inf))

    def log_likelihood(self, data: object) -> float:
        """Σ_rows log p(x), exactly; columns that never change are not counted."""
        rows = self._rows(data)
        z = self._standard(rows)
        varying = int(self._varies.sum())
        log_det = float(np.linalg.slogdet(self.standard_precision)[1])
        constant = log_det / 2 - varying * _HALF_LOG_2PI - float(log(self.scale[self._varies]).sum())
        per_row = constant - 0.5 * np.einsum("ij,ij->i", z @ self.standard_precision, z)
        per_row = np.where(self._as_known(rows)[:, ~self._varies].all(1), per_row, -np.inf)
        return float(per_row.sum() if rows.repeats is None else per_row @ rows.repeats)

    def sample_dataset(self, n_rows: int, seed: Seed | None = None) -> Dataset:
        """Draw independent rows from exactly this distribution.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from; the same seed gives the same rows, up to the rounding of the linear
            algebra of the machine. None draws fresh ones.
        """
        return continuous_dataset(self.mean + self.scale * self._network.sample(n_rows, fresh(seed)), self.names)

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
        if x in (evidence or {}):
            raise InputError(f"evidence must not hold x itself; got {x!r} in both. Drop it from one.")
        mean, covariance = self._given((target,), evidence or {})
        return Normal(float(mean[0]), sqrt(max(0.0, float(covariance[0, 0]))))

    def joint(self, variables: Sequence[str], evidence: Mapping[str, Any] | None = None) -> JointNormal:
        """The distribution of some variables given values of others, exactly: means and a covariance matrix.

        Parameters
        ----------
        variables
            Names, each once.
        evidence
            As for `conditional`.
        """
        mean, covariance = self._given(self._places(variables, evidence), evidence or {})
        return JointNormal(tuple(variables), mean, covariance)

    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, variables: Sequence[str] | None = None
    ) -> MostProbable:
        """The most probable values of some variables given values of others: their means, and the log density there.

        Parameters
        ----------
        evidence
            As for `conditional`.
        variables
            Names, each once; by default all variables without evidence. Columns that never change do not count in the
            density.
        """
        asked = self._asked(evidence, variables)
        mean, covariance = self._given(asked, evidence or {})
        varying = np.flatnonzero(self._varies[list(asked)])
        log_det = float(np.linalg.slogdet(covariance[np.ix_(varying, varying)])[1])
        values = dict(zip([self.names[x] for x in asked], mean.tolist(), strict=True))
        return MostProbable(values, -len(varying) * _HALF_LOG_2PI - log_det / 2)

    def predict(self, data: object, column: str) -> FloatArray:
        """The mean of one column given the others, row by row; `predict_deviation` has how sure it is."""
        return self._moments(data, column)[0]

    def predict_deviation(self, data: object, column: str) -> FloatArray:
        """The standard deviation of one column given what is known of each row.

        Parameters
        ----------
        data, column
            As for `predict`.
        """
        return self._moments(data, column)[1]

    def _moments(self, data: object, column: str) -> tuple[FloatArray, FloatArray]:
        """The mean and the deviation of one column given the others, row by row."""
        x = self.place("column", column)
        neighbors = sorted(self.graph.neighbors(x))
        n = len(self.names)
        if not neighbors:
            n_rows = count_rows(data)
            return np.full(n_rows, self.mean[x]), np.full(n_rows, self.residual_deviation(column))
        z, present = self._incomplete(data, neighbors)
        self._check_neighbors(x, present)
        if np.isnan(z[:, neighbors]).any():
            z, _ = self._incomplete(data, [y for y in range(n) if y != x])
        else:
            z = np.where(np.isin(np.arange(n), [x, *neighbors]), z, 0.0)  # others have no influence
        mean, deviation = np.empty(len(z)), np.empty(len(z))
        for known, rows in by_pattern(~np.isnan(z)):
            unknown, centre, covariance = self._unknown(z[rows], known)
            mean[rows] = centre[:, unknown.index(x)]
            deviation[rows] = sqrt(covariance[unknown.index(x), unknown.index(x)])
        return self.mean[x] + self.scale[x] * mean, self.scale[x] * deviation

    def impute_dataset(self, data: object, rng: np.random.Generator | None = None) -> Imputed:
        """Return the rows with every empty cell filled, and the number of these."""
        values, present = incomplete_numbers(data, self.names)
        filled = int(np.isnan(values[:, present]).sum())
        z = self._scaled(values, range(len(self.names)))
        for known, rows in by_pattern(~np.isnan(z)):
            if len(known) < len(self.names):
                unknown, centre, covariance = self._unknown(z[rows], known)
                if rng is not None:
                    centre = centre + rng.standard_normal(centre.shape) @ np.linalg.cholesky(covariance).T
                values[rows[:, None], unknown] = self.mean[unknown] + self.scale[unknown] * centre
        return Imputed(continuous_dataset(values[:, present], [self.names[x] for x in present]), filled)

    def _unknown(self, z: FloatArray, known: frozenset[int]) -> tuple[list[int], FloatArray, FloatArray]:
        """The unknown variables, their standardised means −K_UU⁻¹ K_UK z_K row by row, and K_UU⁻¹."""
        unknown = [x for x in range(len(self.names)) if x not in known]
        given = sorted(known)
        precision = self.standard_precision
        covariance = np.linalg.inv(precision[np.ix_(unknown, unknown)])
        means = -(z[:, given] @ precision[np.ix_(given, unknown)]) @ covariance
        return unknown, np.asarray(means, dtype=np.float64), np.asarray(covariance, dtype=np.float64)

    def _incomplete(self, data: object, wanted: Sequence[int]) -> tuple[FloatArray, list[int]]:
        """The standardised values of all variables in the rows, NaN unless wanted and known; and those with a column.

        A column that never changes is 0 where it is known.
        """
        found, present = incomplete_numbers(data, [self.names[x] for x in wanted])
        return self._scaled(found, wanted), [wanted[k] for k in present]

    def _scaled(self, values: FloatArray, of: Sequence[int]) -> FloatArray:
        """The values of some variables standardised, in a matrix of all variables; NaN elsewhere."""
        z, chosen = np.full((len(values), len(self.names)), np.nan), list(of)
        z[:, chosen] = (values - self.mean[chosen]) / np.where(self._varies[chosen], self.scale[chosen], np.inf)
        return z

    def _given(self, asked: Sequence[int], evidence: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
        """The means and the covariance of some variables given one row of evidence."""
        known = self._numbers(evidence)
        given, of = [y for y in sorted(known) if self._varies[y]], list(asked)
        z = np.array([(known[y] - self.mean[y]) / self.scale[y] for y in given])
        slopes = np.linalg.solve(self._correlation[np.ix_(given, given)], self._correlation[np.ix_(given, of)])
        left = self._correlation[np.ix_(of, of)] - slopes.T @ self._correlation[np.ix_(given, of)]
        scale = self.scale[of]
        return np.asarray(self.mean[of] + scale * (z @ slopes)), np.asarray(left * scale[:, None] * scale)

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

    @cached
    def _correlation(self) -> FloatArray:
        """K⁻¹."""
        return self._network.covariance()

    @cached
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

    def _numbers(self, evidence: Mapping[str, Any]) -> dict[int, float]:
        """Evidence by index."""
        numbers = {}
        for name, value in evidence.items():
            y = self.place("evidence", name)
            if not is_number(value):
                raise InputError(f"evidence must hold finite numbers; got {value!r} for {name!r}. Correct it.")
            numbers[y] = float(value)
        return numbers
