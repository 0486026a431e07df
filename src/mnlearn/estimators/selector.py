"""Feature selection by the Markov blanket of a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mnlearn.data.dataset import MAX_STATES, Dataset
from mnlearn.data.missing import IncompleteDataError
from mnlearn.data.readers import read
from mnlearn.data.rows import effective_rows
from mnlearn.data.transforms import discretize, normal_scores
from mnlearn.errors import DataError, InputError, check_mapping, check_unmasked, is_one_of, whole_number
from mnlearn.estimators.input import Categorical, add_weights, columns_of, refusals, types_by_dtype, types_of
from mnlearn.learning.api import learn
from mnlearn.learning.registry import make_test


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the Markov blanket of y in the learned network: given these features, y is independent of the others.

    Parameters
    ----------
    method, settings, categorical_features
        As for `MarkovNetworkLearner`.
    target
        Whether y is ``"categorical"`` or ``"continuous"``; ``"auto"`` takes integers, bools and strings for classes.
    discretize, bins
        How continuous columns are discretised if others are categorical, such as y: ``"frequency"`` or ``"width"``,
        into `bins` states. With None such mixtures are an error. If all columns are continuous, none is discretised.
    min_features
        The least number of features to select. Where the blanket has fewer, the features with the strongest
        association with y by themselves are added: a pipeline can go on, and `blanket_` has the blanket.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Attributes
    ----------
    result_
        Network over the features and y, the last variable; a `mnlearn.Learned`.
    blanket_
        Mask of the features in the blanket of y.
    support_
        Mask of the selected features: the blanket, and those that `min_features` adds.
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
        min_features: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.settings = settings
        self.categorical_features = categorical_features
        self.target = target
        self.discretize = discretize
        self.bins = bins
        self.min_features = min_features
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object, sample_weight: object = None) -> MarkovBlanketSelector:
        """Learn the network of the features and y, and select the neighbours of y, at least `min_features`.

        Parameters
        ----------
        X
            A data frame or an array of features.
        y
            Target, one value per row.
        sample_weight
            Survey weights of the rows; as for `MarkovNetworkLearner`.
        """
        check_mapping("settings", self.settings, "{'alpha': 0.01}")
        if self.bins is not None:
            whole_number("bins", self.bins, least=1, most=MAX_STATES, hint="A usual value is 3.")
        least = whole_number("min_features", self.min_features, least=0, hint="Use 1 to select a feature in any case.")
        data = self._joined(X, y, sample_weight)
        self.result_ = learn(data, self.method, n_jobs=self.n_jobs, **(self.settings or {}))
        self.blanket_ = np.zeros(self.n_features_in_, dtype=bool)
        self.blanket_[sorted(self.result_.graph.neighbors(data.n_variables - 1))] = True
        self.support_ = self.blanket_.copy()
        lacking = min(least, self.n_features_in_) - int(self.blanket_.sum())
        if lacking > 0:
            self.support_[self._strongest(data)[:lacking]] = True
        return self

    def _strongest(self, data: Dataset) -> NDArray[np.intp]:
        """Return the features outside the blanket, the strongest association with y first; of equals the first."""
        outside = np.flatnonzero(~self.blanket_)
        rows = effective_rows(data) if all(data.cards) else data
        transform = self.result_.settings.get("transform")
        test = make_test(None, normal_scores(rows) if transform else rows, n_jobs=self.n_jobs)
        log_p = test.scan(data.n_variables - 1, outside.tolist(), frozenset()).log_support
        return np.asarray(outside[np.argsort(np.nan_to_num(log_p, nan=0.0), kind="stable")])

    def transform(self, X: object) -> Any:
        """Return the selected features of X."""
        check_unmasked("X", X)
        with refusals("X"):
            return super().transform(X)

    def inverse_transform(self, X: object) -> Any:
        """Return selected features at their old places, with zeros for the others."""
        check_unmasked("X", X)
        with refusals("X"):
            return super().inverse_transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.support_
        return mask

    def _joined(self, X: object, y: object, sample_weight: object) -> Dataset:
        """Return the features and the target, the last column, as one data set of one type."""
        if y is None:
            raise InputError(
                "y must hold one value per row: this estimator requires y to be passed, but the target y is None."
            )
        names, columns = columns_of(self, X, reset=True)
        target = self._target(y)
        with refusals("X and y"):
            check_consistent_length(columns[0], target)
        titles = ("y", *(f"y_{k}" for k in range(len(names))))
        title = next(title for title in titles if title not in names)
        chosen = types_of(names, self.categorical_features) or types_by_dtype(names, columns)
        types: dict[str, Any] = {**chosen, title: self._kind(target)}
        table = {**dict(zip(names, columns, strict=True)), title: target}
        weights = add_weights(table, sample_weight)
        try:
            data = read(table, types=types, weights=weights)
        except IncompleteDataError as error:
            raise DataError(
                f"X and y must be complete; missing values: {error.listed}. Drop those rows, or fill them in an "
                "earlier step of the pipeline, such as SimpleImputer."
            ) from error
        if self.discretize is None or not any(data.cards) or all(data.cards):
            return data
        return discretize(data, method=self.discretize, bins=self.bins)

    def _target(self, y: object) -> NDArray[Any]:
        """Return the target as an array of one value per row, none of them masked."""
        check_unmasked("y", y, "Drop those rows from X and y.")
        with refusals("y"):
            target: NDArray[Any] = column_or_1d(y, warn=True)
        check_unmasked("y", target, "Drop those rows from X and y.")
        return target

    def _kind(self, target: NDArray[Any]) -> Literal["categorical", "continuous"]:
        """Return the type of the target."""
        if not is_one_of(self.target, ("auto", "categorical", "continuous")):
            raise InputError(
                f"target must be 'auto', 'categorical' or 'continuous'; got {self.target!r}. Leave it out for 'auto'."
            )
        if self.target == "auto":
            with refusals("y"):
                kind = type_of_target(target, input_name="y", raise_unknown=True)
            return "continuous" if kind.startswith("continuous") else "categorical"
        return self.target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags
