"""Markov network of variables of any kind: nominal, ordinal, counts and numbers together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, Kind
from mnlearn.data.readers import count_rows
from mnlearn.data.writers import FrameKind
from mnlearn.distributions.elimination import LARGEST_TABLE, by_pattern, largest_table
from mnlearn.distributions.sampling import USUAL_PLAN, GibbsPlan, Method
from mnlearn.distributions.sampling import sample as sample_network
from mnlearn.errors import (
    InputError,
    MnlearnWarning,
    UnsuitableError,
    check_instance,
    check_mapping,
    check_room,
    whole_number,
)
from mnlearn.graphs.graph import Graph
from mnlearn.model.base import EdgeStrength, FitReport, Imputed, Label, MarkovModel, MostProbable, by_strength, labelled
from mnlearn.model.gaussian import JointNormal, Normal
from mnlearn.model.mixed_network import LARGEST_LIST, MixedNetwork, Posterior, Question
from mnlearn.model.rows import RowCoding
from mnlearn.numbers import Seed, exp, fresh, log, rng_from
from mnlearn.protocols import FloatArray
from mnlearn.regression.joint import edge_value

_LARGEST_EXPONENT = 700.0  # of a count; exp of more is infinite


@dataclass(frozen=True, eq=False, repr=False)
class MixedModel(MarkovModel):
    """p(d, z) ∝ exp of pairwise interactions of states and standardised numbers; see `mnlearn.model.mixed_network`.

    Given its neighbours a categorical variable follows a logistic model, of scores if it is ordinal; a continuous one a
    linear regression; a count a linear regression of log(1 + count).

    Attributes
    ----------
    names
        The variables.
    levels
        The labels of the states of each; None for numbers.
    network
        The distribution, by index and feature.
    report
        How the parameters were found.
    cuts
        For a variable that was cut into states: where, by name.
    frame
        Library of the data frame that the model was fitted to, if any.

    Examples
    --------
    >>> from mnlearn.graphs import path
    >>> from mnlearn.model import fit
    >>> rng = np.random.default_rng(1)
    >>> smoker = rng.integers(2, size=1000)
    >>> columns = (smoker.astype(np.uint8), rng.normal(70.0 + 10.0 * smoker, 8.0))
    >>> model = fit(path(2), Dataset(("smoker", "pulse"), (2, 0), columns, (("no", "yes"), None)))
    >>> model.kind, round(model.conditional("pulse", {"smoker": "yes"}).mean)
    ('mixed', 79)
    >>> model.predict({"pulse": [60.0, 90.0]}, "smoker").tolist()
    ['no', 'yes']
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...] | None, ...]
    network: MixedNetwork
    report: FitReport
    cuts: Mapping[str, FloatArray] = field(default_factory=dict)
    frame: FrameKind | None = None

    def __post_init__(self) -> None:
        check_instance("network", self.network, MixedNetwork, "Fit a model: mnlearn.fit_parameters(graph, data).")
        cards = [0 if labels is None else len(labels) for labels in self.levels]
        if len(self.names) != len(cards) or cards != [each.card for each in self.network.features]:
            raise InputError(
                "names and levels must have one entry per variable of the network, and one label per state; got "
                f"{len(self.names)} names and {tuple(cards)} labels. Refit the model."
            )

    @property
    def kind(self) -> str:
        """ "mixed"."""
        return "mixed"

    @property
    def graph(self) -> Graph:
        """The structure, by index."""
        return self.network.graph

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each variable."""
        return tuple(each.kind for each in self.network.features)

    @property
    def n_parameters(self) -> int:
        """Thresholds, two numbers for each numeric variable, and the interactions of the edges."""
        own = sum(each.card - 1 if each.card else 2 for each in self.network.features)
        return own + sum(weights.size for weights in self.network.interactions.weights.values())

    def log_conditionals(self, data: object) -> FloatArray:
        """log p(x_j | all others) of every row and variable; of numbers the density in the units of the data.

        The density of a count is that of log(1 + count) divided by 1 + count. A column that never changes has 0, or −∞
        elsewhere.
        """
        rows = self._rows(data)
        values = self._features(rows)
        found = np.zeros((len(values), len(self.names)))
        for x, each in enumerate(self.network.features):
            eta = self.network.predictor(x, values, sorted(self.graph.neighbors(x)))
            if each.card:
                logits = self.network.interactions.thresholds[x] + eta @ each.table.T
                logits -= logits.max(1, keepdims=True)
                logits -= log(exp(logits).sum(1, keepdims=True))
                found[:, x] = np.take_along_axis(logits, values[:, [x]].astype(np.intp), axis=1)[:, 0]
            elif each.size:
                k = self.network.interactions.curvature[x]
                mean = (self.network.interactions.linear[x] + eta[:, 0]) / k
                found[:, x] = 0.5 * log(k / (2 * pi)) - k / 2 * (values[:, x] - mean) ** 2
        return found + self._coding.log_units(rows)

    def log_likelihood(self, data: object) -> float:
        """Σ_rows log p(x), exactly; numbers by their density, as in `log_conditionals`."""
        marginal = self.network.marginal if self.network.states else None
        if marginal is not None and (cells := largest_table(marginal.graph, marginal.cards)) > LARGEST_TABLE:
            raise InputError(
                f"the model must be of low tree-width for an exact answer, no table above {LARGEST_TABLE} cells; it "
                f"needs one of {cells:.3g}. Use log_pseudolikelihood()."
            )
        rows = self._rows(data)
        per_row = (
            self.network.exponents(self._features(rows))
            - self.network.log_partition
            + self._coding.log_units(rows).sum(1)
        )
        return float(per_row.sum() if rows.repeats is None else per_row @ rows.repeats)

    def sample_dataset(
        self, n_rows: int, seed: Seed | None = None, *, method: Method = "auto", plan: GibbsPlan = USUAL_PLAN
    ) -> Dataset:
        """Draw rows: the states from their marginal distribution, then the numbers given them.

        Parameters
        ----------
        n_rows
            How many, at least 1.
        seed
            An integer, or a generator to draw from. None draws fresh ones.
        method, plan
            How states are drawn, as for `DiscreteModel.sample_dataset`: exactly where that is possible, else by Gibbs
            chains.

        Warns
        -----
        MnlearnWarning
            If Gibbs chains did not converge; the rows are returned all the same.

        Notes
        -----
        Counts are drawn as numbers and rounded, at least 0.
        """
        n_rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
        check_room("n_rows", 8.0 * n_rows * len(self.names), f"{n_rows:,} rows", "Draw fewer rows.")
        rng = rng_from(fresh(seed))
        values = np.zeros((n_rows, len(self.names)))
        if self.network.states:
            drawn = sample_network(self.network.marginal, n_rows, rng, method=method, plan=plan)
            values[:, self.network.states] = drawn.codes
            if drawn.convergence is not None and not drawn.convergence.converged:
                warnings.warn(f"the Gibbs chains have {drawn.convergence}.", MnlearnWarning, stacklevel=3)
        if self.network.numbers:
            question = Question(self.network, tuple(self.network.numbers), frozenset(self.network.states))
            for rows, posterior in question.posteriors(values):
                values[rows, self.network.numbers] = posterior.chosen(rng)[1]
        return self._coding.dataset(values, range(len(self.names)))._with(declared=frozenset(self.names))

    def conditional(self, x: str, evidence: Mapping[str, Any] | None = None) -> Any:
        """The distribution of x given values of others: {label: probability}, or a `Normal` mean and deviation.

        Parameters
        ----------
        x
            The name of a variable.
        evidence
            Labels and numbers by name, for any other variables; with nothing given this is the marginal of x.

        Notes
        -----
        Unknown states are summed over exactly, up to 2^14 configurations; beyond, 200 seeded Gibbs draws stand for
        them. The distribution of a number is then a mixture of normals; mean and deviation are those of the mixture.
        """
        target = self.place("x", x)
        check_mapping("evidence", evidence, "{'rain': 'yes', 'height': 1.8}")
        if x in (evidence or {}):
            raise InputError(f"evidence must not hold x itself; got {x!r} in both. Drop it from one.")
        row, labels = self._coding.row(evidence or {}), self.levels[target]
        if labels is not None:
            return dict(zip(labels, self._chances(row, target)[0].tolist(), strict=True))
        means, deviations = self._moments(row, target)
        return Normal(float(means[0]), float(deviations[0]))

    def joint(self, variables: Sequence[str], evidence: Mapping[str, Any] | None = None) -> Any:
        """The joint distribution of variables of one type: {labels: probability}, or means and covariance of numbers.

        Parameters
        ----------
        variables
            Names, each once: all of states, or all continuous.
        evidence
            As for `conditional`.

        Raises
        ------
        UnsuitableError
            If the variables are of both types, or counts.
        """
        asked = self._places(variables, evidence)
        kinds = {self.kinds[x] if self.levels[x] is None else "states" for x in asked}
        if kinds - {"states"} and kinds - {"continuous"}:
            raise UnsuitableError(
                f"joint needs variables of states, or continuous ones; got {list(variables)}. Ask for one type, with "
                "values of the other as evidence."
            )
        posterior = self._posterior_of_row(evidence, asked)
        if kinds == {"states"}:
            labels = product(*(self._coding.labels(x) for x in asked))
            return dict(zip(labels, self._table(posterior, asked).ravel().tolist(), strict=True))
        return self._joint_numbers(posterior, asked)

    def _joint_numbers(self, posterior: Posterior, asked: Sequence[int]) -> JointNormal:
        """The means and the covariance of some numbers; a column that never changes has variance 0."""
        features = [self.network.features[x] for x in asked]
        varying = [k for k, each in enumerate(features) if each.size]
        mean, scale = np.array([each.center for each in features]), np.array([each.scale for each in features])
        covariance = np.zeros((len(asked), len(asked)))
        centre, covariance[np.ix_(varying, varying)] = posterior.moments([asked[k] for k in varying])
        mean[varying] += scale[varying] * centre
        return JointNormal(tuple(self.names[x] for x in asked), mean, covariance * scale[:, None] * scale)

    def _table(self, posterior: Posterior, asked: Sequence[int]) -> FloatArray:
        """The probability of every combination of some states in one row."""
        return posterior.table(asked, [self.network.features[x].card for x in asked])

    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, variables: Sequence[str] | None = None
    ) -> MostProbable:
        """The values that are most probable together given others, and the log of their probability or density.

        Parameters
        ----------
        evidence
            As for `conditional`.
        variables
            Variables of states, each once, the others summed out; by default all variables without evidence.

        Notes
        -----
        Numbers are the means given the states. The density is that of the standardised numbers, log(1 + count) for
        counts.
        """
        asked = self._asked(evidence, variables)
        if variables is not None and any(self.levels[x] is None for x in asked):
            raise UnsuitableError(
                f"variables must have states where others are summed out; got {list(variables)}. Leave it out, or use "
                "conditional()."
            )
        posterior = self._posterior_of_row(evidence, asked)
        if variables is not None:
            table = self._table(posterior, asked)
            best = np.unravel_index(int(table.argmax()), table.shape)
            values = {self.names[x]: self._coding.labels(x)[code] for x, code in zip(asked, best, strict=True)}
            return MostProbable(values, log(max(float(table[best]), 1e-300)))
        codes, numbers = posterior.chosen(None)
        row = np.zeros(len(self.names))
        row[list(posterior.states)], row[list(posterior.numbers)] = codes[0], numbers[0]
        found = {self.names[x]: self._value(x, row[x]) for x in asked}
        height = 0.5 * (np.linalg.slogdet(posterior.covariance)[1] + len(posterior.numbers) * log(2 * pi))
        return MostProbable(found, log(max(float(posterior.weights.max()), 1e-300)) - float(height))

    def _value(self, x: int, code: float) -> Any:
        """The label of a code, or the number of a standardised one."""
        labels = self.levels[x]
        return float(self.network.features[x].original(np.array(code))) if labels is None else labels[int(code)]

    def predict(self, data: object, column: str) -> NDArray[Any]:
        """The most probable label, the mean, or the expected count of one column given the others, row by row.

        Parameters
        ----------
        data
            Whatever `mnlearn.read` accepts, also a single row. It needs the neighbours of the variable. An empty cell
            is unknown and summed over, as in `conditional`.
        column
            The name of the variable.
        """
        x = self.place("column", column)
        if self.levels[x] is None:
            return self._moments(self._needed(data, x), x)[0]
        best = np.argmax(self._chances(self._needed(data, x), x), axis=1)
        return labelled(self._coding.labels(x), best)

    def predict_proba(self, data: object, column: str) -> FloatArray:
        """P(column | what is known of the row): columns in the order of `labels(column)`.

        Parameters
        ----------
        data, column
            As for `predict`; the variable must have states.
        """
        x = self.place("column", column)
        if self.levels[x] is None:
            raise UnsuitableError(f"column must have states for probabilities; {column!r} has numbers. Use predict().")
        return self._chances(self._needed(data, x), x)

    def predict_deviation(self, data: object, column: str) -> FloatArray:
        """The standard deviation of one column of numbers given what is known of each row.

        Parameters
        ----------
        data, column
            As for `predict`; the variable must have numbers.
        """
        x = self.place("column", column)
        if self.levels[x] is not None:
            raise UnsuitableError(
                f"column must have numbers for a deviation; {column!r} has states. Use predict_proba()."
            )
        return self._moments(self._needed(data, x), x)[1]

    def labels(self, name: str) -> tuple[Label, ...]:
        """The labels of a variable, in the order of the columns of `predict_proba`."""
        return self._coding.labels(self.place("name", name))

    def impute_dataset(self, data: object, rng: np.random.Generator | None = None) -> Imputed:
        """Return the rows with every empty cell filled, and the number of these."""
        found, present = self._coding.incomplete(data, range(len(self.names)))
        filled = int(np.isnan(found[:, present]).sum())
        values = self._coding.standardised(found)
        for known, rows in by_pattern(~np.isnan(values)):
            unknown = [x for x in range(len(self.names)) if x not in known]
            for component in self.graph.subgraph(unknown).components() if unknown else ():
                question = Question(self.network, tuple(unknown[k] for k in component), known)
                for batch, posterior in question.posteriors(values[rows], rng):
                    codes, numbers = posterior.chosen(rng)
                    values[rows[batch][:, None], list(posterior.states)] = codes
                    values[rows[batch][:, None], list(posterior.numbers)] = numbers
        return Imputed(self._coding.dataset(np.nan_to_num(values), present, found), filled)

    def strengths(self) -> list[EdgeStrength]:
        """Every edge with the size and the sign of its standardised interaction, the strongest first."""
        found, parts = [], self.network.interactions
        for (u, v), weights in parts.weights.items():
            ends = (self.network.features[u], self.network.features[v])
            value = edge_value(ends, weights, (parts.curvature[u], parts.curvature[v]))
            sign = int(np.sign(value)) if value and all(each.is_signed for each in ends) else None
            found.append(EdgeStrength(self.names[u], self.names[v], abs(value), sign))
        return by_strength(found)

    def _chances(self, values: FloatArray, x: int) -> FloatArray:
        """P(x | what is known), rows × states."""
        card = self.network.features[x].card
        found = np.empty((len(values), card))
        for rows, posterior in self._posteriors(values, x):
            found[rows] = posterior.chances(x, card)
        return found

    def _moments(self, values: FloatArray, x: int) -> tuple[FloatArray, FloatArray]:
        """The mean and the deviation of one variable of numbers given what is known, in its units."""
        each = self.network.features[x]
        if not each.size:
            return each.original(np.zeros(len(values))), np.zeros(len(values))
        mean, square = np.empty(len(values)), np.empty(len(values))
        for rows, posterior in self._posteriors(values, x):
            means, variance = posterior.means(x)
            first, second = means, means**2 + variance
            if each.kind == "count":  # moments of 1 + count, by those of a lognormal distribution
                logs, spread = each.center + each.scale * means, each.scale**2 * variance
                first = exp(np.minimum(logs + spread / 2, _LARGEST_EXPONENT / 2))
                second = exp(np.minimum(2 * logs + 2 * spread, _LARGEST_EXPONENT))
            mean[rows], square[rows] = (posterior.weights * first).sum(1), (posterior.weights * second).sum(1)
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        return (mean - 1.0, deviation) if each.kind == "count" else (each.original(mean), each.scale * deviation)

    def _posteriors(self, values: FloatArray, x: int) -> Iterator[tuple[NDArray[np.intp], Posterior]]:
        """Yield groups of rows with the posterior of x and of what is reached from it through unknown values."""
        for known, rows in by_pattern(~np.isnan(values)):
            unknown = tuple(sorted(self.graph.reachable([x], known - {x})))
            question = Question(self.network, unknown, known - {x})
            for batch, posterior in question.posteriors(values[rows]):
                yield rows[batch], posterior

    def _posterior_of_row(self, evidence: Mapping[str, Any] | None, asked: Sequence[int]) -> Posterior:
        """The posterior of all variables that matter to some, in one row of evidence."""
        row = self._coding.row(evidence or {})
        known = frozenset(np.flatnonzero(~np.isnan(row[0])).tolist())
        question = Question(self.network, tuple(sorted(self.graph.reachable(list(asked), known))), known)
        if question.n_configurations > LARGEST_LIST:
            raise InputError(
                f"evidence must leave at most {LARGEST_LIST} configurations of states open for an exact answer; got "
                f"{question.n_configurations:.3g}. Give more evidence, or use conditional()."
            )
        ((_, posterior),) = question.posteriors(row)
        return posterior

    def _needed(self, data: object, x: int) -> FloatArray:
        """The standardised rows: the neighbours of x, and all others where one of these is unknown."""
        neighbors = sorted(self.graph.neighbors(x))
        n = len(self.names)
        if not neighbors:
            return np.full((count_rows(data), n), np.nan)
        for wanted in (neighbors, [y for y in range(n) if y != x]):
            values, present = self._coding.incomplete(data, wanted)
            self._check_neighbors(x, present)
            if not np.isnan(values[:, neighbors]).any():
                break
        return self._coding.standardised(values)

    def _rows(self, data: object, wanted: Sequence[int] | None = None) -> Dataset:
        return self._coding.complete(data, list(range(len(self.names)) if wanted is None else wanted))

    def _features(self, rows: Dataset) -> FloatArray:
        """The codes and standardised numbers of complete rows."""
        return self._coding.standardised(np.stack([column.astype(np.float64) for column in rows.columns], axis=1))

    @cached
    def _coding(self) -> RowCoding:
        return RowCoding(self.names, self.levels, self.network.features, self.cuts)
