"""Discretisation: where the cuts fall, and that they are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mnlearn.data import Dataset, discretize, read
from mnlearn.data.transforms import default_bins, equal_frequency, equal_width, interval_labels
from mnlearn.errors import InputError, UnknownNameError

NUMBERS = st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=60)
FEW_NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=60)


@pytest.fixture
def data() -> Dataset:
    """Two continuous columns and a categorical one."""
    return read({"x": [0.0, 1.0, 2.0, 3.0, 10.0], "label": ["a", "b", "a", "b", "a"], "y": [5.5, 5.5, 5.5, 5.5, 5.5]})


@pytest.mark.parametrize(("n_rows", "bins"), [(1, 1), (2, 2), (3, 2), (4, 3), (1000, 10), (1023, 10), (1024, 11)])
def test_default_number_of_bins(n_rows: int, bins: int) -> None:
    assert default_bins(n_rows) == bins == 1 + int(np.floor(np.log2(n_rows)))


def test_equal_width_by_hand() -> None:
    assert equal_width([0.0, 1.0, 10.0], 4).tolist() == [2.5, 5.0, 7.5]
    assert equal_width([3.0, 3.0], 4).tolist() == []
    assert equal_width([0.0, 10.0], 1).tolist() == []
    assert equal_width([-1.7e308, 1.7e308], 2).tolist() == [0.0]


def test_equal_frequency_by_hand() -> None:
    assert equal_frequency([1, 2, 3, 4, 5, 6], 3).tolist() == [2.5, 4.5]
    assert equal_frequency([1, 1, 1, 1, 2, 3], 3).tolist() == [1.5]
    assert equal_frequency([7, 7, 7], 3).tolist() == []
    assert equal_frequency([1, 2, 3], 2, repeats=[1, 1, 10]).tolist() == [2.5]


@given(NUMBERS | FEW_NUMBERS, st.integers(1, 12))
def test_equal_width_makes_equal_intervals(values: list[float], bins: int) -> None:
    cuts = equal_width(values, bins)
    low, high = min(values), max(values)
    assert len(cuts) <= bins - 1
    assert (np.diff(cuts) > 0).all()
    if len(cuts):
        assert low < cuts[0]
        assert cuts[-1] <= high
    if len(cuts) == bins - 1:
        edges = np.array([low, *cuts, high]) / bins
        np.testing.assert_allclose(
            np.diff(edges), high / bins / bins - low / bins / bins, rtol=1e-6, atol=1e-300 + high * 1e-12
        )


@given(NUMBERS | FEW_NUMBERS, st.integers(1, 12))
def test_equal_frequency_keeps_ties_together_and_halves_fairly(values: list[float], bins: int) -> None:
    cuts = equal_frequency(values, bins)
    column = np.array(values)
    codes = np.searchsorted(cuts, column, side="right")
    assert len(cuts) <= bins - 1
    for code in range(len(cuts) + 1):
        assert (codes == code).any()  # no interval is empty
    largest_tie = max(np.count_nonzero(column == value) for value in values)
    assert np.bincount(codes).max() <= len(values) / bins + 2 * largest_tie


@given(FEW_NUMBERS, st.integers(1, 6), st.data())
def test_repeats_equal_repeating_rows(values: list[float], bins: int, draw: st.DataObject) -> None:
    repeats = draw.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    weighted = equal_frequency(values, bins, repeats)
    np.testing.assert_array_equal(weighted, equal_frequency(np.repeat(values, repeats), bins))


@given(NUMBERS, st.integers(2, 6), st.sampled_from(["width", "frequency"]))
def test_codes_follow_the_cuts(values: list[float], bins: int, method: str) -> None:
    assume(len(values) > 1)
    found = discretize(read({"x": [*values, 0.5], "y": [*values, 0.5]}), method=method, bins=bins)  # type: ignore[arg-type]
    cuts = found.cuts["x"]
    for value, code in zip([*values, 0.5], found.columns[0], strict=True):
        assert code == sum(value >= cut for cut in cuts)
    assert found.cards[0] == len(cuts) + 1 == len(set(found.levels[0] or ()))


def test_the_result_holds_the_cuts_and_labels(data: Dataset) -> None:
    found = discretize(data, bins=2)
    assert found.cards == (2, 2, 1)
    assert found.levels == (("< 5", ">= 5"), ("a", "b"), ("all",))
    assert found.columns[0].tolist() == [0, 0, 0, 0, 1]
    assert found.columns[1] is data.columns[1]
    assert {name: cuts.tolist() for name, cuts in found.cuts.items()} == {"x": [5.0], "y": []}
    assert discretize(data).cards == (2, 2, 1)  # of three intervals the middle one is empty
    assert found.select(["x"]).cuts.keys() == {"x"}
    assert found.sample(2, 0).cuts is found.cuts


@given(values=st.lists(st.integers(-20, 20), min_size=2, max_size=30), bins=st.integers(1, 12))
def test_every_state_of_equal_width_occurs(values: list[int], bins: int) -> None:
    numbers = np.array(values, dtype=float)
    data = Dataset(("x", "y"), (0, 0), (numbers, numbers), (None, None))
    found, cuts = discretize(data, bins=bins), equal_width(numbers, bins)
    assert sorted(set(found.columns[0].tolist())) == list(range(found.cards[0]))
    assert set(found.cuts["x"]) <= set(cuts)
    before = np.unique(np.searchsorted(cuts, numbers, side="right"), return_inverse=True)[1]
    assert found.columns[0].tolist() == before.tolist()
    assert discretize(data, cuts={"x": cuts}).cards[0] == len(cuts) + 1


def test_given_cuts_are_used_and_can_be_used_again(data: Dataset) -> None:
    found = discretize(data, cuts={"x": [1.0, 2.5]}, method="frequency")
    assert found.columns[0].tolist() == [0, 1, 1, 2, 2]
    assert found.levels[0] == ("< 1", "[1, 2.5)", ">= 2.5")
    other = read({"x": [100.0, -100.0, 1.0], "y": [1.0, 5.5, 9.0]})
    again = discretize(other, cuts=found.cuts)
    assert again.columns[0].tolist() == [2, 0, 1]
    assert again.cards == (3, 1)


def test_columns_can_be_discretised_one_after_the_other(data: Dataset) -> None:
    first = discretize(data, columns=["x"], bins=2)
    assert first.cards == (2, 2, 0)
    both = discretize(first, method="frequency")
    assert both.cards == (2, 2, 1)
    assert both.cuts.keys() == {"x", "y"}


def test_categorical_data_stay_unchanged() -> None:
    data = Dataset.from_codes(np.array([[0, 1], [1, 0]]))
    assert discretize(data).cards == data.cards


def test_labels_have_as_many_digits_as_needed() -> None:
    assert interval_labels(np.array([1.0, 2.0])) == ("< 1", "[1, 2)", ">= 2")
    assert interval_labels(np.array([1.00001, 1.00002])) == ("< 1.00001", "[1.00001, 1.00002)", ">= 1.00002")
    assert len(set(interval_labels(np.array([1.0, np.nextafter(1.0, 2)])))) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "entropy"}, "method must be 'width' or 'frequency'; got 'entropy'"),
        ({"bins": 0}, "bins must be a whole number from 1 to 65,535; got 0"),
        ({"bins": 70_000}, "bins must be a whole number from 1"),
        ({"bins": 2.5}, r"bins must be a whole number from 1 to 65,535; got 2\.5"),
        ({"bins": True}, "bins must be a whole number"),
        ({"bins": "3"}, "bins must be a whole number from 1 to 65,535; got '3'"),
        ({"columns": ["label"]}, "must name continuous variables; 'label' has 2 states"),
        ({"cuts": {"label": [1]}}, "must name continuous variables; 'label' has 2 states"),
        ({"columns": "x"}, r"Use \['x'\]"),
        ({"cuts": {"x": [2, 1]}}, r"cuts\['x'\] must be finite and strictly increasing; got \[2, 1\]"),
        ({"cuts": {"x": [1, 1]}}, "strictly increasing"),
        ({"cuts": {"x": [np.nan]}}, "must be finite"),
        ({"cuts": {"x": [[1, 2]]}}, "strictly increasing"),
        ({"cuts": {"x": np.arange(70_000)}}, "at most 65,535 states"),
    ],
)
def test_bad_settings(data: Dataset, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        discretize(data, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [{"x": [0.5, 1.5]}, np.zeros((2, 2)), "t.csv", None])
def test_other_types_are_rejected(source: Dataset) -> None:
    with pytest.raises(InputError, match=r"dataset must be a Dataset; got a \w+\. .* mnlearn\.read first"):
        discretize(source)


def test_unknown_columns(data: Dataset) -> None:
    with pytest.raises(UnknownNameError, match="'z' does not exist"):
        discretize(data, columns=["z"])
    with pytest.raises(UnknownNameError, match="'z' does not exist"):
        discretize(data, cuts={"z": [1]})


def test_values_that_cannot_be_cut() -> None:
    for values in ([], [np.nan], [[1.0]], [np.inf]):
        with pytest.raises(InputError, match="non-empty 1-D column of finite numbers"):
            equal_width(values, 2)
        with pytest.raises(InputError, match="non-empty 1-D column of finite numbers"):
            equal_frequency(values, 2)
