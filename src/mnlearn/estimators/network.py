"""Structure learning as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import DataError, UnsuitableError, check_mapping
from mnlearn.estimators.input import Categorical, coded, columns_of
from mnlearn.graphs.graph import Graph
from mnlearn.learning.api import learn
from mnlearn.numbers import log


class MarkovNetworkLearner(BaseEstimator):  # type: ignore[misc]
    """Learn the structure of a Markov network over the columns of X.

    Parameters
    ----------
    method
        One of `mnlearn.learning.METHODS`; by default the choice of `mnlearn.learn`.
    settings
        Settings of the method, its test or its score, as for `mnlearn.learn`, such as ``{"alpha": 0.01}``; also its
        `transform` of continuous columns, such as ``{"transform": None}``, and its `candidates`, such as
        ``{"candidates": "screen", "k": 10}``. `score` uses the values in any case.
    categorical_features
        Which columns are categorical: ``"from_dtype"`` (integers, bools, strings and categories, but not floats),
        ``"all"``, ``"none"``, or a mask, positions or names. Encoders often return integers as floats: use ``"all"``
        after one.
    discretize, bins
        Turn continuous columns into categorical ones; as in `mnlearn.learn`.
    missing
        ``"error"``, ``"drop_rows"``, ``"category"`` or ``"testwise"``; as in `mnlearn.learn`. `score` needs complete
        rows.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Attributes
    ----------
    result_
        Result of `mnlearn.learn`.
    graph_
        Learned structure, a `mnlearn.Graph` over the positions of the features.
    adjacency_
        Adjacency matrix, sparse and symmetric, of 0 and 1.
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
        missing: Literal["error", "drop_rows", "category", "testwise"] = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.settings = settings
        self.categorical_features = categorical_features
        self.discretize = discretize
        self.bins = bins
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> MarkovNetworkLearner:  # noqa: ARG002 - scikit-learn passes y
        """Learn the structure.

        Parameters
        ----------
        X
            A data frame or an array, at least 2 rows and 2 columns.
        y
            Not used; for pipelines.
        sample_weight
            Survey weights of the rows, not negative; as `weights` of `mnlearn.learn`. Only their ratios matter: a
            weight of 2 is not a repeated row.
        """
        check_mapping("settings", self.settings, "{'alpha': 0.01}")
        data = self._read(X, reset=True, sample_weight=sample_weight)
        options = {"discretize": self.discretize, "bins": self.bins, **(self.settings or {})}
        self.result_ = learn(data, self.method, n_jobs=self.n_jobs, **options)
        self.graph_ = self.result_.graph
        self.adjacency_ = self.graph_.adjacency()
        return self

    def score(self, X: object, y: object = None) -> float:  # noqa: ARG002 - scikit-learn passes it
        """Return the mean log pseudo-likelihood of a row of X; larger is better.

        Each variable is predicted from its blanket by the training rows. The structure that predicts best, as a grid
        search finds it, tends to have more edges than the true one.
        """
        check_is_fitted(self)
        train = cast(Dataset, self.result_.data)
        test = self._read(X, reset=False)
        if train.cuts:
            from mnlearn.data.transforms import discretize

            test = discretize(test, cuts=train.cuts)
        for data in (train, test):
            check_no_gaps(data, "score", "fill the gaps in X")
        if any(train.cards) and not all(train.cards):
            raise UnsuitableError(
                "score needs variables that are all categorical or all continuous; these are mixed. Set discretize."
            )
        return float(np.mean(log_pseudolikelihoods(self.graph_, train, test)))

    def _read(self, X: object, *, reset: bool, sample_weight: object = None) -> Dataset:
        """Read X by the settings."""
        names, columns = columns_of(self, X, reset=reset, missing=self.missing)
        kinds: Any = {"categorical": self.categorical_features, "missing": self.missing}
        return coded(names, columns, sample_weight=sample_weight, **kinds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags


# Log pseudo-likelihood of new rows. Each variable is predicted from its blanket by the training rows: by smoothed
# frequencies if all variables are categorical, by a linear regression if all are continuous.


FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]


def log_pseudolikelihoods(graph: Graph, train: Dataset, test: Dataset, *, prior: float = 0.5) -> FloatArray:
    """Return, for every row of `test`, the sum over variables of log P(x | blanket) estimated from `train`.

    Parameters
    ----------
    graph
        Graph of the blankets.
    train, test
        Data sets of the same variables; states are matched by label.
    prior
        Added to every count. A state that `train` does not have is one more state, with a count of 0.
    """
    total = np.zeros(test.n_records)
    if all(train.cards):
        old, new = _matched(train, test)
        for x, blanket in _blankets(graph):
            total += _frequencies(old[:, [x, *blanket]], new[:, [x, *blanket]], train.cards[x] + 1, prior)
        return total
    old_values, new_values = (np.column_stack(data.columns).astype(float) for data in (train, test))
    weights = np.ones(train.n_records) if train.repeats is None else train.repeats.astype(np.float64)
    for x, blanket in _blankets(graph):
        total += _regression(old_values, new_values, x, blanket, weights)
    return total


def _blankets(graph: Graph) -> list[tuple[int, list[int]]]:
    return [(x, sorted(graph.neighbors(x))) for x in range(graph.n_variables)]


def _matched(train: Dataset, test: Dataset) -> tuple[Codes, Codes]:
    """Return both tables coded by the states of `train`; other states get the code after the last."""
    old = np.column_stack(train.columns).astype(np.int64)
    new = np.empty((test.n_records, train.n_variables), dtype=np.int64)
    for x, (known, seen) in enumerate(zip(train.levels, test.levels, strict=True)):
        new[:, x] = _translation(known or (), seen or ())[np.asarray(test.columns[x], dtype=np.int64)]
    return old, new


def _translation(known: Sequence[Hashable], seen: Sequence[Hashable]) -> Codes:
    codes: Mapping[Hashable, int] = {label: code for code, label in enumerate(known)}
    return np.array([codes.get(label, len(known)) for label in seen], dtype=np.int64)


def _frequencies(train: Codes, test: Codes, states: int, prior: float) -> FloatArray:
    """Return log P(x | blanket) of every test row; x is the first column. Unseen blankets give a uniform P."""
    both = np.concatenate([train, test])
    strata = np.unique(both[:, 1:], axis=0, return_inverse=True)[1].ravel()
    cells, of_train = strata * states + both[:, 0], len(train)
    size = (int(strata.max()) + 1) * states
    table = np.bincount(cells[:of_train], minlength=size).reshape(-1, states) + prior
    chance = table / table.sum(axis=1, keepdims=True)
    found: FloatArray = log(chance.ravel()[cells[of_train:]])
    return found


def _regression(train: FloatArray, test: FloatArray, x: int, blanket: Sequence[int], repeats: FloatArray) -> FloatArray:
    """Return log p(x | blanket) of every test row, by least squares with the variance of the residuals."""
    n_rows, roots = float(repeats.sum()), np.sqrt(repeats)
    old = np.column_stack([np.ones(len(train)), train[:, list(blanket)]])
    weights, *_ = np.linalg.lstsq(old * roots[:, None], train[:, x] * roots, rcond=None)
    residuals = (train[:, x] - old @ weights) * roots
    spread = np.var(train[:, x])
    if spread <= 0.0:
        raise DataError(
            f"X must vary in every feature to be scored; feature {x} is constant in the training rows. Drop it."
        )
    variance = max(float(residuals @ residuals) / max(n_rows - old.shape[1], 1), 1e-9 * float(spread))
    error = test[:, x] - np.column_stack([np.ones(len(test)), test[:, list(blanket)]]) @ weights
    found: FloatArray = -0.5 * (log(2.0 * np.pi * variance) + error**2 / variance)
    return found
