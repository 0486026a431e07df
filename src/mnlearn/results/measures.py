"""Centrality of the variables of a weighted network.

With w_ij the weight of an edge, 0 without an edge, and shortest paths by the lengths 1 / |w_ij|:

- strength: Σ_j |w_ij|;
- expected influence: Σ_j w_ij; in two steps: EI_i + Σ_j w_ij EI_j  [RMM16];
- closeness: (k / (n − 1))² / Σ d_ij over the k variables that a path reaches, which is 1 / Σ_j d_ij in a connected
  network  [OAS10];
- betweenness: Σ_{j<k} of the share of the shortest paths between j and k that pass through i;
- bridge strength and bridge expected influence: the sums over the variables of other groups only  [JMM21].

Predictability: how well each variable of a learned network is predicted by its neighbours  [HW18].

Numbers are predicted by a linear regression on the neighbours, states by a multinomial logistic regression. Numeric
states, such as those of Likert items, are predicted in both ways. See docs/predictability.md.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import observed_rows
from mnlearn.data.transforms import normal_scores
from mnlearn.errors import InputError, is_number, whole_number
from mnlearn.evaluation.centrality import CENTRALITIES, MOST_BY_PATHS, centralities, z_scores_of
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.results.edges import Frame, frame_of

if TYPE_CHECKING:
    from mnlearn.regression.predictability import NeighborRegressions
    from mnlearn.results.learned import Learned
    from mnlearn.visual.figure_data import Groups


_log = logging.getLogger("mnlearn.results")


def centrality_table(learned: Learned, groups: Groups | None, z_scores: bool, frame: Frame | None) -> Any:
    """Return the centralities of a network as a table; see `Learned.centrality`."""
    if not isinstance(z_scores, bool):
        raise InputError(f"z_scores must be True or False; got {z_scores!r:.80}. Leave it out for raw values.")
    labels = group_labels(learned, groups)
    found = centralities_of(learned, labels)
    columns: dict[str, tuple[str, list[Any]]] = {
        "variable": ("string", list(learned.names)),
        "group": ("string", labels),
    }
    for name, values in found.items():
        numbers = (z_scores_of(values) if z_scores else values).tolist()
        columns[name] = ("double", [None] * len(numbers) if np.isnan(values).all() else numbers)
    return frame_of(columns, learned.frame if frame is None else frame)


def centralities_of(learned: Learned, labels: Sequence[str | None]) -> dict[str, FloatArray]:
    """Return each centrality of a learned network, one number per variable."""
    if learned.weights is None:
        raise InputError(
            "centrality needs the weights of the edges; this network has neither data nor saved weights, or too many "
            "edges. Attach the data: learned.with_data(data); of a large network, use learned.around(names)."
        )
    edges = learned.graph.edges
    weights = np.array([[learned.weights.values.get(edge, 0.0) for edge in edges]], dtype=np.float64)
    found = centralities(len(learned.names), edges, weights, numbered_groups(labels))
    if len(labels) > MOST_BY_PATHS:
        _log.warning("no closeness and betweenness of more than %d variables", MOST_BY_PATHS)
        if not any(labels):
            _log.warning("no bridges without groups of more than %d variables; give groups=", MOST_BY_PATHS)
            found |= {name: np.full_like(found[name], np.nan) for name in CENTRALITIES if name.startswith("bridge")}
    return {name: values[0] for name, values in found.items()}


def group_labels(learned: Learned, groups: Groups | None) -> list[str | None]:
    """Return the group of each variable: the one given, else its community as a number from 1; None without one.

    Communities are found up to `MOST_BY_PATHS` variables.
    """
    from mnlearn.visual.figure_data import group_numbers, relative_strengths
    from mnlearn.visual.layout import communities

    if groups is not None:
        numbers, names = group_numbers(learned.names, groups)
        return [names[k] if k >= 0 else None for k in numbers.tolist()]
    if len(learned.names) > MOST_BY_PATHS:
        return [None] * len(learned.names)
    strengths = None if learned.weights is None else relative_strengths(learned.weights)
    found = communities(learned.graph, strengths=strengths)
    return [str(k + 1) if k >= 0 else None for k in found.tolist()]


def numbered_groups(labels: Sequence[str | None]) -> IntArray:
    """Return the groups as numbers; variables without a group are a group each."""
    known = {label: k for k, label in enumerate(dict.fromkeys(label for label in labels if label is not None))}
    numbers = [-1 - x if label is None else known[label] for x, label in enumerate(labels)]
    return np.array(numbers, dtype=np.int64)


VariableType: TypeAlias = Literal["continuous", "count", "ordinal", "categorical"]

OF_NUMBERS = ("r2", "r2_cv")
OF_STATES = ("accuracy", "accuracy_cv", "marginal", "normalised", "normalised_cv")


class Predictability(NamedTuple):
    """How well one variable is predicted by its neighbours; numbers that its type does not have are None.

    Attributes
    ----------
    variable, type, neighbours
        Its name; ``"continuous"``, ``"count"``, ``"ordinal"`` (declared, or three or more numeric states) or
        ``"categorical"``; and how many neighbours it has.
    r2, r2_cv
        Share of the variance that a linear regression on the neighbours explains, in all rows and in rows that it was
        not fitted to. The second is negative where the mean predicts better.
    accuracy, accuracy_cv
        Share of the rows whose state is predicted, in both ways.
    marginal
        Share of the most common state: the accuracy without neighbours.
    normalised, normalised_cv
        (accuracy − marginal) / (1 − marginal), in both ways.

    Examples
    --------
    >>> found = Predictability("smoker", "categorical", 2, accuracy=0.9, marginal=0.75, normalised=0.6)
    >>> found.share is None  # without cross-validation
    True
    >>> found._replace(normalised_cv=0.55).share
    0.55
    """

    variable: str
    type: VariableType
    neighbours: int
    r2: float | None = None
    r2_cv: float | None = None
    accuracy: float | None = None
    accuracy_cv: float | None = None
    marginal: float | None = None
    normalised: float | None = None
    normalised_cv: float | None = None

    @property
    def share(self) -> float | None:
        """The cross-validated R², or normalised accuracy of a categorical variable, from 0 to 1; None if undefined."""
        value = self.normalised_cv if self.type == "categorical" else self.r2_cv
        return None if value is None else min(max(value, 0.0), 1.0)


class Predictable:
    """Predictability of the variables, as methods of `Learned`."""

    def predictability(self, folds: int = 10, *, seed: int = 0, frame: Frame | None = None) -> Any:
        """Return how well each variable is predicted by its neighbours, as a data frame or an Arrow table.

        Parameters
        ----------
        folds
            Number of folds of the cross-validation.
        seed
            Seed of the folds. The order of the rows does not matter.
        frame
            As for `edges`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row for each variable, with the fields of `Predictability`: ``r2`` and ``r2_cv`` if some variable has
            numbers, ``accuracy``, ``accuracy_cv``, ``marginal``, ``normalised`` and ``normalised_cv`` if some has
            states.

        Raises
        ------
        InputError
            If a setting is invalid, or the network has no data.

        See Also
        --------
        predictability_list : the rows as named tuples.
        predictability_shares : one number for each variable, for rings in a picture.
        """
        rows = self.predictability_list(folds, seed=seed)
        kinds = {"variable": "string", "type": "string", "neighbours": "int"}
        kinds |= dict.fromkeys(known_columns(rows), "double")
        columns = {name: (kind, [getattr(row, name) for row in rows]) for name, kind in kinds.items()}
        return frame_of(columns, cast("Learned", self).frame if frame is None else frame)

    def predictability_list(self, folds: int = 10, *, seed: int = 0) -> list[Predictability]:
        """Return the rows of `predictability` as named tuples."""
        return predictability_of(cast("Learned", self), folds, seed)

    def predictability_shares(self, folds: int = 10, *, seed: int = 0) -> dict[str, float]:
        """Return the share of each variable that its neighbours predict, from 0 to 1.

        The cross-validated R² of numbers, the cross-validated normalised accuracy of other states, at least 0.
        Constant variables have no share and are left out.
        """
        rows = self.predictability_list(folds, seed=seed)
        return {row.variable: row.share for row in rows if row.share is not None}


def known_columns(rows: list[Predictability]) -> list[str]:
    """Return the numbers that the types of the variables have."""
    types = {row.type for row in rows}
    return [*OF_NUMBERS] * bool(types - {"categorical"}) + [*OF_STATES] * bool(types - {"continuous", "count"})


def predictability_of(learned: Learned, folds: int, seed: int) -> list[Predictability]:
    """Return the predictability of every variable, in the order of the data."""
    from mnlearn.regression.predictability import NeighborRegressions

    whole_number("folds", folds, least=2, hint="Use for example 10.")
    whole_number("seed", seed, least=0, hint="Use for example 0.")
    if learned.data is None:
        raise InputError(
            "predictability needs the data, which are not in files; got a network without. Attach them: "
            "learned.with_data(data).predictability()."
        )
    data = learned.data
    if learned.settings.get("transform") == "normal_scores":
        data = normal_scores(data)
    if data.gaps:
        return [_predicted_with_gaps(data, x, learned.graph.neighbors(x), folds, seed) for x in range(data.n_variables)]
    fits = NeighborRegressions(data, folds, seed)
    rows = [_predicted(data, fits, x, learned.graph.neighbors(x)) for x in range(data.n_variables)]
    left_out = [row.variable for row in rows if row.type in ("ordinal", "categorical") and row.accuracy is None]
    if left_out:
        _log.warning("no predictability of %r: there are too many states for a regression", left_out)
    return rows


def _predicted_with_gaps(data: Dataset, x: int, neighbors: frozenset[int], folds: int, seed: int) -> Predictability:
    """Return the predictability of one variable in the rows in which it and its neighbours are observed."""
    from mnlearn.regression.predictability import NeighborRegressions

    family = sorted({x, *neighbors})
    rows = observed_rows(data.select(family), range(len(family)))
    if rows.n_rows < folds:
        _log.warning("no predictability of %r: %d complete rows for %d folds", data.names[x], rows.n_rows, folds)
        return Predictability(data.names[x], type_of(data, x), len(neighbors))
    beside = frozenset(family.index(y) for y in neighbors)
    return _predicted(rows, NeighborRegressions(rows, folds, seed), family.index(x), beside)


def _predicted(data: Dataset, fits: NeighborRegressions, x: int, neighbors: frozenset[int]) -> Predictability:
    """Return the predictability of one variable."""
    kind = type_of(data, x)
    found = Predictability(data.names[x], kind, len(neighbors))
    if kind != "categorical":
        r2, r2_cv = fits.explained(x, neighbors) or (None, None)
        found = found._replace(r2=r2, r2_cv=r2_cv)
    if kind in ("continuous", "count"):
        return found
    marginal = float(np.bincount(data.columns[x], data.repeats).max() / data.n_rows)
    accuracies = fits.guessed(x, neighbors)
    if accuracies is None:
        return found._replace(marginal=marginal)
    normalised, normalised_cv = (None if marginal == 1.0 else (a - marginal) / (1.0 - marginal) for a in accuracies)
    found = found._replace(accuracy=accuracies[0], accuracy_cv=accuracies[1], marginal=marginal)
    return found._replace(normalised=normalised, normalised_cv=normalised_cv)


def type_of(data: Dataset, x: int) -> VariableType:
    """Return the type of a variable: an order of states counts from three on, since that of two says nothing."""
    levels = data.levels[x]
    if levels is None:
        return "count" if data.names[x] in data.counted else "continuous"
    ordered = data.names[x] in data.ordinal or all(map(is_number, levels))
    return "ordinal" if len(levels) > 2 and ordered else "categorical"
