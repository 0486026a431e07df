"""Structure learning as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mnlearn.data import Dataset
from mnlearn.errors import UnsuitableError
from mnlearn.estimators._held_out import log_pseudolikelihoods
from mnlearn.estimators._input import Categorical, coded, columns_of
from mnlearn.pipeline import learn


class MarkovNetworkLearner(BaseEstimator):  # type: ignore[misc]
    """Learns the structure of a Markov network from the columns of X.

    Parameters
    ----------
    method
        One of `mnlearn.pipeline.METHODS`; by default the one that suits the data, as `mnlearn.learn` chooses it.
    settings
        What else `mnlearn.learn` is told: settings of the method, its test or its score, such as ``{"alpha": 0.01}``.
    categorical_features
        Which columns are categorical: ``"from_dtype"`` (whole numbers, truths, texts and categories are, decimal
        numbers are not), ``"all"``, ``"none"``, or a mask, positions or names. Encoders often return whole numbers
        as decimals: say ``"all"`` after one.
    discretize, bins
        Turn continuous columns into categorical ones; as in `mnlearn.learn`.
    missing
        ``"error"``, ``"drop_rows"`` or ``"category"``; as in `mnlearn.learn`.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.

    Attributes
    ----------
    result_
        The whole result, a `mnlearn.Learned`.
    graph_
        The learned structure, a `mnlearn.Graph` over the positions of the features.
    adjacency_
        The same as a symmetric sparse matrix of 0 and 1.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> X = np.random.default_rng(1).integers(0, 2, size=(500, 3))
    >>> X[:, 2] = X[:, 0] ^ (X[:, 1] & X[:, 2])
    >>> MarkovNetworkLearner(method="mpl").fit(X).adjacency_.toarray()
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]], dtype=int8)
    """

    def __init__(
        self,
        method: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        categorical_features: Categorical = "from_dtype",
        discretize: Literal["width", "frequency"] | None = None,
        bins: int | None = None,
        missing: Literal["error", "drop_rows", "category"] = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.settings = settings
        self.categorical_features = categorical_features
        self.discretize = discretize
        self.bins = bins
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object = None) -> MarkovNetworkLearner:  # noqa: ARG002 - scikit-learn hands one
        """Learn the structure.

        Parameters
        ----------
        X
            A data frame or an array, at least 2 rows and 2 columns.
        y
            Not used; here for pipelines.
        """
        data = self._read(X, reset=True)
        told = {"discretize": self.discretize, "bins": self.bins, **(self.settings or {})}
        self.result_ = learn(data, self.method, n_jobs=self.n_jobs, **told)
        self.graph_ = self.result_.graph
        self.adjacency_ = self.graph_.adjacency()
        return self

    def score(self, X: object, y: object = None) -> float:  # noqa: ARG002 - scikit-learn hands one
        """The mean log pseudo-likelihood of a row of X, each variable predicted from its blanket in the training rows.

        The larger the better: a grid search by it looks for the structure that predicts best, which tends to have
        more edges than the true one.
        """
        check_is_fitted(self)
        train = cast(Dataset, self.result_.data)
        test = self._read(X, reset=False)
        if train.cuts:
            from mnlearn.data import discretize

            test = discretize(test, cuts=train.cuts)
        if any(train.cards) and not all(train.cards):
            raise UnsuitableError(
                "score needs variables that are all categorical or all continuous; these are mixed. Set discretize."
            )
        return float(np.mean(log_pseudolikelihoods(self.graph_, train, test)))

    def _read(self, X: object, *, reset: bool) -> Dataset:
        """X by the settings."""
        names, columns = columns_of(self, X, reset=reset, missing=self.missing)
        return coded(names, columns, categorical=self.categorical_features, missing=self.missing)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags
