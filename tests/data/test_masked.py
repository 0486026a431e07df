"""Masked values: missing where data are read, refused where a mask would be dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.errors import DataError, InputError
from mnlearn.simulate import BayesianNetwork

CODES = np.random.default_rng(1).integers(0, 2, size=(60, 3))
MASK = np.zeros(CODES.shape, dtype=bool)
MASK[3, 1] = MASK[5, 0] = True
CORNER = np.array([[False, True], [False, False]])
NOTHING: Any = np.ma.masked
MASKED = np.ma.MaskedArray(CODES, MASK)


def as_objects() -> Any:
    values = CODES.astype(object)
    for row, column in np.argwhere(MASK):
        values[row, column] = np.ma.masked
    return values


FORMS: dict[str, Any] = {
    "integers": MASKED,
    "floats": np.ma.MaskedArray(CODES + np.random.default_rng(2).normal(size=CODES.shape), MASK),
    "strings": np.ma.MaskedArray(CODES.astype(str), MASK),
    "bools": np.ma.MaskedArray(CODES.astype(bool), MASK),
    "days": np.ma.MaskedArray(CODES.astype("M8[D]"), MASK),
    "objects": as_objects(),
    "list of arrays": list(MASKED),
    "list of lists": [list(row) for row in MASKED],
    "frame": pd.DataFrame(as_objects(), columns=["a", "b", "c"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_masked_values_are_missing_in_every_form(form: str) -> None:
    with pytest.raises(DataError, match="missing='error' requires complete data"):
        mn.read(FORMS[form])
    assert mn.read(FORMS[form], missing="drop_rows").n_rows == 58
    assert [variable.missing for variable in mn.overview(FORMS[form]).variables] == [1, 1, 0]


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize("form", FORMS)
def test_estimators_see_the_same_missing_values(form: str) -> None:
    with pytest.raises(DataError, match="missing='error' requires complete data"):
        mn.MarkovNetworkLearner().fit(FORMS[form])
    with pytest.raises(DataError, match=r"X and y must be complete; missing values: .* 1\..*SimpleImputer"):
        mn.MarkovBlanketSelector().fit(FORMS[form], CODES[:, 0])
    read = mn.MarkovNetworkLearner(missing="drop_rows").fit(FORMS[form]).result_.data
    assert read is not None
    assert read.n_rows == 58
    fitted = mn.MarkovNetworkLearner("mpl").fit(CODES)
    with pytest.raises(DataError, match="missing='error' requires complete data"):
        fitted.score(FORMS[form])


def test_a_mask_without_masked_values_changes_nothing() -> None:
    plain = np.ma.MaskedArray(CODES, False)
    assert mn.MarkovNetworkLearner("mpl").fit(plain).graph_ == mn.MarkovNetworkLearner("mpl").fit(CODES).graph_


@pytest.mark.parametrize("form", [MASKED[:, 0], list(MASKED[:, 0]), pd.Series(list(MASKED[:, 0]))])
def test_a_masked_target_is_refused(form: Any) -> None:
    with pytest.raises(InputError, match=r"y must not hold masked values; got 1 of them\. Drop those rows"):
        mn.MarkovBlanketSelector().fit(CODES, form)


def test_a_selector_does_not_transform_masked_values() -> None:
    target = CODES[:, 0] ^ (np.arange(60) % 9 == 0)
    selector = mn.MarkovBlanketSelector("mpl").fit(CODES, target)
    with pytest.raises(InputError, match="X must not hold masked values; got 2"):
        selector.transform(MASKED)
    with pytest.raises(InputError, match="X must not hold masked values; got 1"):
        selector.inverse_transform(MASKED[:, :1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: mn.Dataset.from_codes(MASKED),
        lambda: mn.Dataset.from_codes([[0, NOTHING], [0, 1]]),
        lambda: mn.Dataset.from_codes(CODES, repeats=np.ma.MaskedArray(np.ones(60), MASK[:, 0])),
        lambda: mn.Dataset(("a",), (2,), (MASKED[:, 0].astype(np.uint8),), ((0, 1),)),
        lambda: mn.discretize(mn.read({"a": [0.5, 1.5], "b": [1.5, 2.5]}), cuts={"a": MASKED[5]}),
        lambda: mn.Graph.from_adjacency(np.ma.MaskedArray([[0, 1], [1, 0]], CORNER)),
        lambda: mn.Moments.from_covariance(np.ma.MaskedArray(np.eye(2), CORNER), 10),
        lambda: mn.canonical_factors_of(np.ma.MaskedArray([[0.4, 0.1], [0.2, 0.3]], CORNER)),
        lambda: BayesianNetwork(("a",), (("n", "y"),), ((),), (np.ma.masked_less([0.5, 0.1], 0.2),)),
        lambda: mn.MarkovNetworkLearner(categorical_features=[0, NOTHING]).fit(CODES),
    ],
)
def test_a_mask_is_never_dropped(call: Any) -> None:
    with pytest.raises(InputError, match="must not hold masked values"):
        call()


def test_numbers_beside_strings_in_a_list_stay_numbers() -> None:
    rows = [[1.5, "a"], [2.5, "b"], [2.0, "a"]] * 20
    read = mn.MarkovNetworkLearner("mpl", discretize="frequency", bins=2).fit(rows).result_.data
    assert read is not None
    assert list(read.cuts) == ["x0"]


def test_columns_of_one_name_are_refused_by_the_estimators() -> None:
    frame = pd.DataFrame(CODES, columns=["a", "b", "a"])
    with pytest.raises(DataError, match="'a' occurs more than once"):
        mn.MarkovNetworkLearner("mpl").fit(frame)


def test_masked_dates_are_dates() -> None:
    days = np.array([[0, 1], [1, 0], [1, 1]]).astype("M8[ns]")
    masked = np.ma.array(days, mask=[[False, False], [True, False], [False, False]])
    assert mn.read(masked, missing="drop_rows").levels == mn.read(days[[0, 2]]).levels
