"""Structure learning as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mnlearn.data.dataset import Dataset
from mnlearn.errors import DataError, UnsuitableError
from mnlearn.estimators._input import Categorical, coded, columns_of
from mnlearn.graphs.graph import Graph
from mnlearn.learning.api import learn


class MarkovNetworkLearner(BaseEstimator):  # type: ignore[misc]
    """Learns the structure of a Markov network from the columns of X.

    Parameters
    ----------
    method
        One of `mnlearn.learning.METHODS`; by default the one that suits the data, as `mnlearn.learn` chooses it.
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
            from mnlearn.data.discretize import discretize

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


# How well a network explains rows that it was not learned from.
#
# Every variable is predicted from its blanket by what the training rows say: smoothed frequencies where all variables
# are categorical, a linear regression where all are continuous. The sum of the logarithms is the log pseudo-
# likelihood.


FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]


def log_pseudolikelihoods(graph: Graph, train: Dataset, test: Dataset, *, prior: float = 0.5) -> FloatArray:
    """Of every row of `test`, the sum over variables of log P(x | blanket) as `train` has it.

    Parameters
    ----------
    graph
        The blankets.
    train, test
        The same variables, coded alike or not: states are matched by label.
    prior
        What is added to every count. A state that `train` never had is one more state, with a count of 0.
    """
    total = np.zeros(test.n_records)
    if all(train.cards):
        old, new = _matched(train, test)
        for x, around in _blankets(graph):
            total += _frequencies(old[:, [x, *around]], new[:, [x, *around]], train.cards[x] + 1, prior)
        return total
    old_values, new_values = (np.column_stack(data.columns).astype(float) for data in (train, test))
    for x, around in _blankets(graph):
        total += _regression(old_values, new_values, x, around)
    return total


def _blankets(graph: Graph) -> list[tuple[int, list[int]]]:
    return [(x, sorted(graph.neighbors(x))) for x in range(graph.n_variables)]


def _matched(train: Dataset, test: Dataset) -> tuple[Codes, Codes]:
    """Both tables by the states of `train`; a state it does not know gets the code after its last."""
    old = np.column_stack(train.columns).astype(np.int64)
    new = np.empty((test.n_records, train.n_variables), dtype=np.int64)
    for x, (known, seen) in enumerate(zip(train.levels, test.levels, strict=True)):
        new[:, x] = _translation(known or (), seen or ())[np.asarray(test.columns[x], dtype=np.int64)]
    return old, new


def _translation(known: Sequence[Hashable], seen: Sequence[Hashable]) -> Codes:
    places: Mapping[Hashable, int] = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, len(known)) for label in seen], dtype=np.int64)


def _frequencies(train: Codes, test: Codes, states: int, prior: float) -> FloatArray:
    """log P(x | blanket) of every test row; x is the first column, and a blanket never seen says all states alike."""
    both = np.concatenate([train, test])
    strata = np.unique(both[:, 1:], axis=0, return_inverse=True)[1].ravel()
    cells, of_train = strata * states + both[:, 0], len(train)
    size = (int(strata.max()) + 1) * states
    table = np.bincount(cells[:of_train], minlength=size).reshape(-1, states) + prior
    chance = table / table.sum(axis=1, keepdims=True)
    found: FloatArray = np.log(chance.ravel()[cells[of_train:]])
    return found


def _regression(train: FloatArray, test: FloatArray, x: int, around: Sequence[int]) -> FloatArray:
    """log p(x | blanket) of every test row, by least squares with the variance of the residuals."""
    n_rows = len(train)
    old = np.column_stack([np.ones(n_rows), train[:, list(around)]])
    weights, *_ = np.linalg.lstsq(old, train[:, x], rcond=None)
    left = train[:, x] - old @ weights
    spread = np.var(train[:, x])
    if spread <= 0.0:
        raise DataError(
            f"X must vary in every feature to be scored; feature {x} is constant in the training rows. Drop it."
        )
    variance = max(float(left @ left) / max(n_rows - old.shape[1], 1), 1e-9 * float(spread))
    missed = test[:, x] - np.column_stack([np.ones(len(test)), test[:, list(around)]]) @ weights
    found: FloatArray = -0.5 * (np.log(2.0 * np.pi * variance) + missed**2 / variance)
    return found
