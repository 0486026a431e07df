"""Data sets: checks, sharing, sampling, pickling."""

from __future__ import annotations

import pickle
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.tables import assert_same
from mnlearn.data import Dataset, MissingReport, discretize, read
from mnlearn.errors import DataError, InputError, UnknownNameError

CODES = np.array([[0, 1, 2], [1, 0, 2], [1, 1, 0], [0, 0, 0]])


def small(repeats: list[int] | None = None) -> Dataset:
    """Three variables, four rows."""
    return Dataset.from_codes(CODES, names=["a", "b", "c"], repeats=repeats)


def test_from_codes_counts_states_and_keeps_declared_ones() -> None:
    data = small()
    assert (data.n_rows, data.n_records, data.n_variables, data.cards) == (4, 4, 3, (2, 2, 3))
    assert data.levels[2] == (0, 1, 2)
    assert Dataset.from_codes(CODES, cards=[5, 2, 300]).cards == (5, 2, 300)
    assert [column.dtype for column in Dataset.from_codes(CODES, cards=[256, 257, 65_535]).columns] == [
        np.uint8,
        np.uint16,
        np.uint16,
    ]


def test_from_codes_reads_an_array_by_rows_and_a_list_by_columns() -> None:
    assert_same(Dataset.from_codes(CODES), Dataset.from_codes(list(CODES.T)))


def test_rows_that_did_not_occur_are_left_out() -> None:
    data = small([2, 0, 1, 0])
    assert (data.n_records, data.n_rows) == (2, 3)
    assert data.repeats is not None
    assert data.repeats.tolist() == [2, 1]


def test_columns_are_contiguous_and_cannot_be_written() -> None:
    mine = np.array([0.5, 1.5, 2.5])
    data = Dataset(("x",), (0,), (mine,), (None,), np.array([1, 2, 3]))
    mine[0] = 99
    assert data.columns[0][0] == 0.5
    assert data.repeats is not None
    for array in (data.columns[0], data.repeats, *small().columns):
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_select_shares_the_columns() -> None:
    data = small()
    part = data.select(["c", 0])
    assert part.names == ("c", "a")
    assert part.columns[0] is data.columns[2]
    assert part.columns[1] is data.columns[0]
    assert data.names == ("a", "b", "c")


def test_unknown_names_list_the_nearest() -> None:
    data = Dataset.from_codes(CODES, names=["rain", "wind", "snow"])
    assert data.index("wind") == 1
    with pytest.raises(UnknownNameError, match=r"'rian' does not exist\. Did you mean 'rain'\?"):
        data.index("rian")
    with pytest.raises(UnknownNameError, match="Positions go from 0 to 2"):
        data.select([3])
    with pytest.raises(InputError, match="none twice"):
        data.select(["rain", 0])
    with pytest.raises(InputError, match=r"Use \['rain'\]"):
        data.select("rain")
    with pytest.raises(InputError, match=r"Use \[1\]"):
        data.select(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("variable", [1.0, True, np.True_, None, ("a",)])
def test_select_takes_names_and_whole_numbers(variable: int) -> None:
    with pytest.raises(InputError, match="variables must be names or whole numbers"):
        small().select([variable])
    assert small().select([np.int64(1)]).names == ("b",)  # type: ignore[list-item]


@given(st.integers(1, 40), st.integers(0, 2**32), st.booleans())
def test_sample_draws_without_replacement(n_rows: int, seed: int, weighted: bool) -> None:
    repeats = np.arange(1, 9) if weighted else None
    data = Dataset.from_codes(np.column_stack([np.arange(8), np.arange(8) % 2]), repeats=repeats)
    wanted = min(n_rows, data.n_rows)
    part = data.sample(wanted, seed)
    available = np.ones(8, dtype=int) if repeats is None else repeats
    drawn = np.bincount(part.columns[0], weights=part.repeats, minlength=8)
    assert part.n_rows == wanted
    assert (drawn <= available).all()
    assert part.cards == data.cards
    assert_same(part, data.sample(wanted, np.random.default_rng(seed)))


def test_sample_of_everything_is_everything() -> None:
    assert_same(small().sample(4, 1), small())
    assert_same(small([3, 1, 2, 5]).sample(11, 1), small([3, 1, 2, 5]))


def test_sample_is_uniform_over_repeated_rows() -> None:
    data = Dataset.from_codes([[0, 1], [0, 1]], repeats=[90, 10])
    ones = [data.sample(10, seed).compact() for seed in range(2000)]
    mean = np.mean([np.dot(part.columns[0], part.repeats) for part in ones])  # type: ignore[arg-type]
    assert abs(mean - 1.0) < 0.1  # hypergeometric: mean 1, standard error 0.02


def test_sample_of_more_rows_than_numpy_can_draw() -> None:
    data = Dataset.from_codes([[0, 1], [0, 1]], repeats=[3_000_000_000, 1_000_000_000])
    part = data.sample(4000, 7)
    assert part.n_rows == 4000
    assert part.repeats is not None
    assert abs(int(part.repeats[1]) - 1000) < 150


class Places(np.random.Generator):
    """Generator that returns the given choices."""

    def __init__(self, places: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self._places = np.array(places)

    def choice(self, a: object, *_: object, **__: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:  # type: ignore[override]
        assert a == 10**9 + 6
        return self._places


def test_each_position_belongs_to_its_repeated_row() -> None:
    data = Dataset.from_codes([[0, 1, 2, 3], [0, 1, 0, 1]], repeats=[3, 10**9, 1, 2])
    end = 10**9 + 3  # row 0 holds the places 0..2, row 1 those up to end - 1, row 2 end, row 3 the two after it
    for places, drawn in (
        ([0, 1, 2], {0: 3}),
        ([2, 3], {0: 1, 1: 1}),
        ([3, end - 1], {1: 2}),
        ([end, end + 1, end + 2], {2: 1, 3: 2}),
        ([0, 2, 3, end - 1, end, end + 1], {0: 2, 1: 2, 2: 1, 3: 1}),
    ):
        part = data.sample(len(places), Places(places))
        assert part.repeats is not None
        assert dict(zip(part.columns[0].tolist(), part.repeats.tolist(), strict=True)) == drawn


@pytest.mark.parametrize("n_rows", [0, -1, 5, 2.5, True, "2"])
def test_sample_rejects_impossible_numbers_of_rows(n_rows: int) -> None:
    with pytest.raises(InputError, match="n_rows must be a whole number from 1 to 4"):
        small().sample(n_rows, 0)


@pytest.mark.parametrize("seed", [-1, None, 1.5, "1"])
def test_sample_rejects_bad_seeds(seed: int) -> None:
    with pytest.raises(InputError, match=r"seed must be an integer of at least 0 or a .*Generator; got"):
        small().sample(3, seed)
    assert_same(small().sample(3, np.uint8(7)), small().sample(3, 7))  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=30))
def test_compact_keeps_every_count(rows: list[tuple[int, int, int]]) -> None:
    data = Dataset.from_codes(np.array([row[:2] for row in rows]), repeats=[row[2] for row in rows])
    compact = data.compact()
    expected = np.zeros((3, 3), dtype=int)
    for a, b, weight in rows:
        expected[a, b] += weight
    found = np.zeros((3, 3), dtype=int)
    assert compact.repeats is not None
    found[compact.columns[0], compact.columns[1]] = compact.repeats
    np.testing.assert_array_equal(found, expected)
    assert compact.n_records == np.count_nonzero(expected)


def test_compact_packs_more_columns_than_one_integer_holds() -> None:
    codes = np.random.default_rng(3).integers(0, 300, (50, 40))
    doubled = np.vstack([codes, codes])
    assert Dataset.from_codes(doubled).compact().n_records == 50


def test_compact_keeps_different_numbers() -> None:
    data = read({"x": [0.5, -0.0, 0.0, 0.5], "y": ["a", "b", "b", "a"]})
    assert data.compact().n_records == 2


def test_a_pickled_data_set_is_equal_and_read_only() -> None:
    report = MissingReport("drop_rows", MappingProxyType({"b": 2}), 2)
    table = Dataset(
        ("a", "b"), (2, 0), (np.array([0, 1], np.uint8), np.array([0.5, 2.0])), ((0, 1), None), missing=report
    )
    sent = discretize(table, bins=2)
    here = pickle.loads(pickle.dumps(sent))
    assert (here.names, here.cards, here.levels) == (sent.names, sent.cards, sent.levels)
    assert (here.missing.policy, dict(here.missing.counts), here.missing.rows_dropped) == ("drop_rows", {"b": 2}, 2)
    np.testing.assert_array_equal(here.columns[1], sent.columns[1])
    np.testing.assert_array_equal(here.cuts["b"], sent.cuts["b"])
    assert not any(column.flags.writeable for column in here.columns)
    with pytest.raises(TypeError):
        here.cuts["a"] = np.zeros(1)


def test_repr_is_short() -> None:
    assert repr(small()) == "<Dataset: 4 rows, 3 variables: a[2], b[2], c[3]>"
    wide = read({f"v{j}": [1.5, 2.5, None] for j in range(40)}, missing="drop_rows")
    assert len(repr(wide)) < 300
    assert str(MissingReport()) == "nothing was missing"


def codes_of(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """A column of codes."""
    return np.array(values, dtype=np.uint8)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"names": ("a", "a")}, "'a' occurs more than once"),
        ({"names": ("a",)}, "one entry per variable"),
        ({"names": ("a", 1)}, "names must be strings"),
        ({"cards": (2, 1)}, "levels of 'b' must be 1 different"),
        ({"cards": (2, 70_000)}, "from 0 to 65,535"),
        ({"levels": ((0, 1), (1, 1))}, "2 different labels"),
        ({"levels": ((0, 1), None)}, "got none"),
        ({"columns": (codes_of(0, 1), codes_of(0, 2))}, "codes from 0 to 1; got 2"),
        ({"columns": (codes_of(0, 1), codes_of(0))}, "of one length"),
        ({"columns": (codes_of(), codes_of())}, "at least one row"),
        ({"columns": (codes_of(0, 1), np.array([0, 1]))}, "must be uint8; got int64"),
        ({"columns": (codes_of(0, 1), np.array([0, 1])), "cards": (2, 0)}, "must be float64"),
        (
            {"columns": (codes_of(0, 1), np.array([0.5, np.inf])), "cards": (2, 0), "levels": ((0, 1), None)},
            "finite numbers; data row 2 holds inf",
        ),
        ({"columns": (codes_of(0, 1), np.array([0.5, 1])), "cards": (2, 0)}, "must be None because it is continuous"),
        ({"repeats": np.array([1, 0])}, "at least 1; got 0"),
        ({"repeats": np.array([1, -2])}, "at least 1; got -2"),
        ({"repeats": np.array([1.0, 2.0])}, "must be int64"),
        ({"repeats": np.array([2**62, 2**62])}, r"less than 2\*\*62"),
    ],
)
def test_every_rule_of_a_data_set_is_checked(parts: dict[str, object], message: str) -> None:
    sound: dict[str, object] = {
        "names": ("a", "b"),
        "cards": (2, 2),
        "columns": (codes_of(0, 1), codes_of(1, 1)),
        "levels": ((0, 1), ("x", "y")),
    }
    Dataset(**sound)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=message):
        Dataset(**{**sound, **parts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codes", "options", "message"),
    [
        (np.array([[0.5, 1]]), {}, "2-D array of integers"),
        (np.array([0, 1]), {}, "2-D array of integers"),
        ([[0, 1], [0]], {}, "of one length"),
        ([], {}, "2-D array of integers"),
        (3, {}, "2-D array of integers"),
        (None, {}, "2-D array of integers"),
        ([[0, [1, 2]], [0, 1]], {}, "2-D array of integers"),
        (CODES, {"cards": [2, 2]}, "one entry for each of the 3 columns"),
        (CODES, {"cards": [2, 2, 2]}, "column 2 of codes must hold codes from 0 to 1; got 2"),
        (CODES - 1, {}, "got -1"),
        (CODES, {"repeats": [1, 2]}, "repeats must be 4 whole numbers"),
        (CODES, {"repeats": [1, 2, 3, -1]}, "entry 4 is -1"),
        (CODES, {"repeats": [1, 2, 3, 0.5]}, "entry 4 is 0.5"),
        (CODES, {"repeats": [0, 0, 0, 0]}, "at least one row that occurred"),
    ],
)
def test_from_codes_rejects_bad_input(codes: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dataset.from_codes(codes, **options)  # type: ignore[arg-type]


def test_kinds_gaps_and_scores_of_levels() -> None:
    data = Dataset(
        ("group", "grade", "visits", "weight"),
        (2, 3, 0, 0),
        (
            np.array([0, 1, 2], dtype=np.uint8),  # 2 marks a missing value
            np.array([0, 2, 1], dtype=np.uint8),
            np.array([0.0, 3.0, 1.0]),
            np.array([0.5, np.nan, 2.0]),
        ),
        (("a", "b"), (1, 2, 5), None, None),
        ordinal=frozenset({"grade"}),
        counted=frozenset({"visits"}),
        gaps=frozenset({"group", "weight"}),
    )
    assert data.kinds == ("nominal", "ordinal", "count", "continuous")
    np.testing.assert_array_equal(data.observed("group"), [True, True, False])
    np.testing.assert_array_equal(data.observed("weight"), [True, False, True])
    assert data.observed("grade") is None
    assert data.level_scores("grade").tolist() == [1.0, 2.0, 5.0]
    assert data.level_scores("group").tolist() == [0.0, 1.0]
    assert data.select(["grade", "weight"]).gaps == {"weight"}
    assert data.select(["visits", "grade"]).kinds == ("count", "ordinal")
    assert data.fingerprint() != data._with(ordinal=frozenset()).fingerprint()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"ordinal": frozenset({"x"})}, "an ordinal variable must have levels"),
        ({"counted": frozenset({"y"})}, "a count none"),
        ({"gaps": frozenset({"ghost"})}, "must name variables; 'ghost'"),
        ({"counted": frozenset({"x"})}, "whole numbers from 0; data row 1 holds 0.5"),
    ],
)
def test_kinds_that_do_not_fit_are_refused(parts: dict[str, frozenset[str]], message: str) -> None:
    columns = (np.array([0.5, -1.0]), np.array([0, 1], dtype=np.uint8))
    with pytest.raises(DataError, match=message):
        Dataset(("x", "y"), (0, 2), columns, (None, (0, 1)), **parts)  # type: ignore[arg-type]
