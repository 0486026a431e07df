"""The Markov blanket of a target as a selection of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mnlearn.data.dataset import Dataset
from mnlearn.data.discretize import discretize
from mnlearn.data.readers import read
from mnlearn.errors import InputError
from mnlearn.estimators._input import Categorical, columns_of, types_of
from mnlearn.learning.api import learn


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the features that are neighbours of y in the learned network: given them, the others say nothing more.

    Parameters
    ----------
    method, settings, categorical_features
        As for `MarkovNetworkLearner`.
    target
        Whether y is ``"categorical"`` or ``"continuous"``; ``"auto"`` takes whole numbers, truths and texts for
        classes.
    discretize, bins
        How continuous columns are cut where others are categorical (for instance numbers as features, classes as y):
        ``"frequency"`` or ``"width"``, into `bins` states. None refuses such mixtures. Where all columns are
        continuous nothing is cut.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.

    Attributes
    ----------
    result_
        The whole network over the features and y (the last variable), a `mnlearn.Learned`.
    support_
        Which features are in the blanket of y, a mask.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> X = np.random.default_rng(1).integers(0, 3, size=(500, 4))
    >>> y = (X[:, 0] + X[:, 2]) % 5
    >>> MarkovBlanketSelector().fit(X, y).get_support(indices=True)
    array([0, 2])
    """

    def __init__(
        self,
        method: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        categorical_features: Categorical = "from_dtype",
        target: Literal["auto", "categorical", "continuous"] = "auto",
        discretize: Literal["width", "frequency"] | None = "frequency",
        bins: int | None = 3,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.settings = settings
        self.categorical_features = categorical_features
        self.target = target
        self.discretize = discretize
        self.bins = bins
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object) -> MarkovBlanketSelector:
        """Learn the network of the features and y, and keep the neighbours of y.

        Parameters
        ----------
        X
            A data frame or an array of features.
        y
            The target, one value a row.
        """
        data = self._joined(X, y)
        self.result_ = learn(data, self.method, n_jobs=self.n_jobs, **(self.settings or {}))
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[sorted(self.result_.graph.neighbors(data.n_variables - 1))] = True
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.support_
        return mask

    def _joined(self, X: object, y: object) -> Dataset:
        """The features and the target, the last column, as one data set without mixtures."""
        if y is None:
            raise InputError(
                "y must be one value a row: this estimator requires y to be passed, but the target y is None. Give it."
            )
        names, columns = columns_of(self, X, reset=True)
        goal = column_or_1d(y, warn=True)
        check_consistent_length(columns[0], goal)
        title = (
            "y" if "y" not in names else next(t for t in (f"y_{k}" for k in range(len(names) + 1)) if t not in names)
        )
        kind = self._kind(goal)
        types: dict[str, Any] = {**(types_of(names, self.categorical_features) or {}), title: kind}
        data = read({**dict(zip(names, columns, strict=True)), title: goal}, types=types)
        if self.discretize is None or not any(data.cards) or all(data.cards):
            return data
        return discretize(data, method=self.discretize, bins=self.bins)

    def _kind(self, goal: NDArray[Any]) -> Literal["categorical", "continuous"]:
        """The type of the target."""
        if self.target == "auto":
            kind = type_of_target(goal, input_name="y", raise_unknown=True)
            return "continuous" if kind.startswith("continuous") else "categorical"
        if self.target not in ("categorical", "continuous"):
            raise InputError(
                f"target must be 'auto', 'categorical' or 'continuous'; got {self.target!r}. Leave it out for 'auto'."
            )
        return self.target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags
