"""Options of the readers, checked, and matched with the columns that a source has.

Columns as a caller names them: by name, by a range such as A1:O5, or by a list such as A1:O5,age.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import MAX_STATES, check_names
from mnlearn.errors import DataError, InputError, check_mapping, is_one_of, true_or_false, tuple_of, unknown_name

T = TypeVar("T")


class Named(NamedTuple):
    """A column, and whether its own name was given rather than a range."""

    name: str
    exact: bool


class ColumnNames:
    """The columns of a source in their order."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._place = {name: k for k, name in enumerate(known)}

    def find(self, argument: str, item: object) -> list[Named]:
        """Return the columns that one item of an argument names.

        The name of a column comes first, whatever its characters. Otherwise commas separate items, where a name with
        a comma is in double quotes, and a colon joins the ends of a range by position; an end that is left out is the
        first or the last column.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        InputError
            If the first end of a range comes after the last.
        """
        text = str(item)
        if text in self._place:
            return [Named(text, exact=True)]
        parts = _parts(text)
        if any(part != text for part in parts):
            return [found for part in parts for found in self.find(argument, part)]
        if ":" in text:
            return [Named(name, exact=False) for name in self._range(argument, text)]
        raise unknown_name(f"{argument}: column", text, self._known)

    def _range(self, argument: str, text: str) -> Sequence[str]:
        """Return the columns from one to another; names that hold colons are possible ends."""
        colons = [k for k, mark in enumerate(text) if mark == ":"]
        ends = [(text[:k].strip(), text[k + 1 :].strip()) for k in colons]
        fit = [pair for pair in ends if all(not end or end in self._place for end in pair)]
        if not fit:
            half = [end for pair in ends for end in pair if end and end not in self._place]
            known = any(end in self._place for pair in ends for end in pair)
            raise unknown_name(f"{argument}: column", half[0] if known and len(half) == 1 else text, self._known)
        first, last = fit[0]
        start, stop = self._place[first] if first else 0, self._place[last] if last else len(self._known) - 1
        if start > stop:
            raise InputError(
                f"{argument} must give the first column of a range before the last; got {text!r}. Use "
                f"{f'{last}:{first}'!r}."
            )
        return self._known[start : stop + 1]

    def choose(self, columns: Iterable[object] | None, drop: Iterable[object]) -> list[str]:
        """Return the columns to read, in order: those of `columns`, or all, without those of `drop`.

        Raises
        ------
        InputError
            If a name is given twice, or in both; ranges may overlap.
        """
        named = [found for item in columns for found in self.find("columns", item)] if columns is not None else None
        names = [found.name for found in named if found.exact] if named is not None else []
        if len(set(names)) < len(names):
            raise InputError(f"columns must name each column once; got {names}. Drop the repeated names.")
        dropped = {found.name for item in drop for found in self.find("drop", item)}
        both = [name for name in names if name in dropped]
        if both:
            raise InputError(f"columns and drop must not share a column; both name {both[0]!r}. Drop it from one.")
        chosen = self._known if named is None else dict.fromkeys(found.name for found in named)
        return [name for name in chosen if name not in dropped]

    def values(self, argument: str, given: Mapping[str, T] | None) -> dict[str, T]:
        """Return what a mapping holds for each column; a column's own name comes before a range.

        Raises
        ------
        InputError
            If two names or two ranges hold different values for one column.
        """
        if not given:
            return {}
        exact: dict[str, T] = {}
        in_ranges: dict[str, T] = {}
        for item, value in given.items():
            for name, is_exact in self.find(argument, item):
                same = exact if is_exact else in_ranges
                if name in same and same[name] != value:
                    where, way = ("named twice", "Drop one") if is_exact else ("in two ranges", "Make them shorter")
                    raise InputError(
                        f"{argument} must hold one value for each column; {name!r} is {where} with different ones. "
                        f"{way}{'' if is_exact else ', or name the column itself'}."
                    )
                same[name] = value
        return in_ranges | exact


def _parts(text: str) -> list[str]:
    """Return the items between commas, where double quotes protect commas; none if there is no comma."""
    try:
        parts = next(csv.reader([text], skipinitialspace=True)) if "," in text else []
    except csv.Error:  # a line end
        return []
    return [part.strip() for part in parts if part.strip()]


VariableType: TypeAlias = Literal["nominal", "ordinal", "count", "continuous", "categorical"]
"""A kind of variable; categorical is ordinal if the categories have an order in the source, otherwise nominal."""
Types: TypeAlias = Mapping[str, VariableType] | VariableType
"""Types by column, or one for all columns."""
MissingPolicy: TypeAlias = Literal["error", "drop_rows", "category", "testwise"]
NUMERIC = ("continuous", "count")

# Strings that usually mark a missing value but may be labels (NA is Namibia): `read` raises an error. Together these
# are the markers of pandas.read_csv, what str() makes of None and NaT, and NaN as programs print it.
DOUBTFUL = frozenset({"NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "Null", "null", "None", "NaT"})
NOT_A_NUMBER = frozenset(
    {"nan", "NaN", "NAN", "-nan", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}  # the last four by Windows
)


PANDAS_INDEX = "__index_level_0__"  # Arrow's name for the index of a pandas frame that has no name, the last column

NOT_DECLARED: Mapping[Hashable, Hashable] = MappingProxyType({})


class ReadOptions(TypedDict, total=False):
    """Options of `mnlearn.data.read` besides `columns`; an option that is left out has its default there."""

    types: Types | None
    levels: Mapping[str, Sequence[Hashable]] | None
    missing: MissingPolicy
    missing_values: Iterable[Hashable]
    repeats: str | None
    delimiter: str | None
    drop: Iterable[str]
    row_names: bool
    transpose: bool
    decimal: str | None
    sheet: str | None
    names: Sequence[str] | None
    weights: str | None


class Chunks(Protocol):
    """The values of a column while it is read: a list of arrays, or a file if they do not fit into memory."""

    def append(self, chunk: NDArray[Any], /) -> None: ...
    def pop(self) -> NDArray[Any]: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, k: int, /) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[NDArray[Any]]: ...


@dataclass(frozen=True)
class Markers:
    """Values that the caller named as missing; a string that reads as a number also marks that number."""

    texts: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()
    others: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, values: Iterable[Hashable]) -> Markers:
        """Sort the named values by what they can match."""
        plain = [_plain(value) for value in values if value is not None]
        numbers = [number for value in plain if (number := _as_number(value)) is not None]
        return cls(
            texts=frozenset(str(value).strip() for value in plain),
            numbers=frozenset(numbers),
            others=frozenset(value for value in plain if not isinstance(value, str | int | float)),
        )

    def __contains__(self, value: Hashable) -> bool:
        """Return whether the value was named."""
        if isinstance(value, str):
            return value in self.texts
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return value in self.numbers
        return value in self.others


class ColumnOptions(NamedTuple):  # made for every column: a frozen dataclass takes three times as long
    """A column to read: its name, its position in the source, and its options; None leaves the choice to the data."""

    name: str
    position: int
    type: VariableType | None = None
    levels: tuple[Hashable, ...] | None = None
    markers: Markers = Markers()
    declared: Mapping[Hashable, Hashable] = NOT_DECLARED  # each level by itself
    is_repeats: bool = False  # or weights
    new_chunks: Callable[[], Chunks] = list  # makes the store for the values
    decimal: str = "."
    is_weights: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the data decide on the type."""
        return self.type is None and self.levels is None

    @property
    def is_numeric(self) -> bool:
        """Return whether the column is declared to hold numbers: a continuous one or a count."""
        return self.type in NUMERIC

    def is_declared(self, value: Hashable) -> bool:
        """Return whether the value is a declared level; True is not the level 1, though Python says they are equal."""
        return value in self.declared and isinstance(value, bool) is isinstance(self.declared[value], bool)

    def is_missing(self, value: Hashable) -> bool:
        """Return whether the value is None, NaN, blank or a named marker; a declared level never is."""
        if value is None:
            return True
        if self.is_declared(value):
            return False
        if isinstance(value, str):
            return not value.strip() or value in self.markers
        return is_nan(value) or value in self.markers

    def is_doubtful(self, value: Hashable) -> bool:
        """Return whether the value is a string that usually marks a missing value, in a column without options."""
        return self.is_open and isinstance(value, str) and (value in DOUBTFUL or value in NOT_A_NUMBER)


class ColumnSelection(NamedTuple):
    """The variables to read, in order, and the column of repeats."""

    variables: list[ColumnOptions]
    repeats: ColumnOptions | None  # or the weights

    @property
    def columns(self) -> list[ColumnOptions]:
        """Every column to read; the repeats come last."""
        return self.variables + ([self.repeats] if self.repeats is not None else [])


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of `read`, checked as far as possible before the data are seen."""

    columns: Sequence[str] | None = None
    types: Types | None = None
    levels: Mapping[str, Sequence[Hashable]] | None = None
    missing: MissingPolicy = "error"
    missing_values: Iterable[Hashable] = ()
    repeats: str | None = None
    delimiter: str | None = None
    drop: Iterable[str] = ()
    row_names: bool = False
    transpose: bool = False
    decimal: str | None = None
    sheet: str | None = None
    names: Sequence[str] | None = None
    weights: str | None = None
    new_chunks: Callable[[], Chunks] = list

    def __post_init__(self) -> None:
        """Raise InputError for options that are wrong for any data."""
        if not is_one_of(self.missing, get_args(MissingPolicy)):
            known = ", ".join(map(repr, get_args(MissingPolicy)))
            raise InputError(f"missing must be one of {known}; got {self.missing!r}. Name markers in missing_values.")
        if self.columns is not None:
            object.__setattr__(self, "columns", ordered_tuple("columns", self.columns, "names"))
        self._check_types()
        check_mapping("levels", self.levels, "{'answer': ['no', 'yes']}")
        if isinstance(self.missing_values, Mapping):  # its keys would pass for the markers
            raise InputError(
                f"missing_values must be a list of values for all columns, not a dict; got "
                f"{self.missing_values!r:.80}. Use one list, such as ['?', -9]."
            )
        object.__setattr__(self, "missing_values", tuple_of("missing_values", self.missing_values, "values"))
        if not isinstance(self.repeats, str | None):
            raise InputError(f"repeats must be the name of a column; got {self.repeats!r}. Leave it out for none.")
        if not isinstance(self.weights, str | None):
            raise InputError(
                f"weights must be the name of a column; got {self.weights!r}. Put the weights into a column of the "
                "data."
            )
        if self.weights is not None and self.repeats is not None:
            raise InputError(
                f"weights and repeats exclude each other; got {self.weights!r} and {self.repeats!r}. Use repeats for "
                "rows that occurred several times, weights for those of a survey design."
            )
        if self.levels is not None:
            kinds = {} if isinstance(self.types, str) else self.types or {}
            checked = {name: _checked_levels(name, labels, kinds.get(name)) for name, labels in self.levels.items()}
            object.__setattr__(self, "levels", checked)
        object.__setattr__(self, "drop", tuple_of("drop", self.drop, "names"))
        true_or_false(row_names=self.row_names, transpose=self.transpose)
        if self.names is not None:
            object.__setattr__(self, "names", ordered_tuple("names", self.names, "names"))
            check_names(self.names)
        self._check_form()

    def _check_types(self) -> None:
        """Raise InputError unless each type is known."""
        if not isinstance(self.types, str):
            check_mapping("types", self.types, "{'age': 'continuous'}")
        given = {"types": self.types} if isinstance(self.types, str) else self.types or {}
        for name, kind in given.items():
            if not is_one_of(kind, get_args(VariableType)):
                shown = "types" if isinstance(self.types, str) else f"types[{name!r}]"
                raise InputError(
                    f"{shown} must be one of {', '.join(map(repr, get_args(VariableType)))}; got {kind!r}. Leave it "
                    "out: the data decide then."
                )

    def _check_form(self) -> None:
        """Raise InputError for options of the form of a file that are wrong for any file."""
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.decimal is not None:
            _check_decimal(self.decimal, self.delimiter)
        if not isinstance(self.sheet, str | None):
            raise InputError(f"sheet must be the name of a sheet; got {self.sheet!r}. Leave it out for the first one.")

    def names_of(self, n_columns: int) -> Sequence[str]:
        """Return the names of the columns of a source that has none: those that were given, or x0, x1, ..."""
        if self.names is None:
            return [f"x{j}" for j in range(n_columns)]
        if len(self.names) != n_columns:
            raise InputError(
                f"names must have one entry for each of the {n_columns} columns; got {len(self.names)}. Leave it out "
                "for x0, x1, ..."
            )
        return self.names

    def check_no_names(self, source: str) -> None:
        """Raise InputError if names are given for a source that has its own."""
        if self.names is not None:
            raise InputError(
                f"names is for arrays, sparse matrices and lists of rows, which have none; got {source}. Rename its "
                "columns, or choose some with columns=[...]."
            )

    def select(self, names: Sequence[object]) -> ColumnSelection:
        """Match the options with the columns of a source."""
        places = [k for k in range(len(names)) if k != self._place_of_row_names(names)]
        known = [str(names[k]) for k in places]
        check_names(known)
        position = dict(zip(known, places, strict=True))
        for option, name in (("repeats", self.repeats), ("weights", self.weights)):
            if name is not None and name not in position:
                raise unknown_name(f"{option}: column", name, known)
        columns = ColumnNames(known)
        chosen = columns.choose(self.columns, self.drop)
        types = self.types_of(known)
        levels = columns.values("levels", self.levels)
        markers = Markers.of(self._markers())
        decimal = self.decimal or "."

        def column(name: str) -> ColumnOptions:
            kind, labels = types.get(name), levels.get(name)
            if labels is None:
                return ColumnOptions(
                    name, position[name], kind, None, markers, NOT_DECLARED, False, self.new_chunks, decimal
                )
            if kind in NUMERIC:
                raise _no_levels(name, kind)
            declared = {label: label for label in labels}
            return ColumnOptions(
                name, position[name], kind, tuple(labels), markers, declared, False, self.new_chunks, decimal
            )

        beside = self.repeats if self.weights is None else self.weights
        nameless = [position[name] for name in chosen if name.strip() in ("", PANDAS_INDEX) and name != beside]
        if nameless:
            raise _nameless(nameless[0], is_index=names[nameless[0]] == PANDAS_INDEX, transposed=self.transpose)
        variables = [column(name) for name in chosen if name != beside]
        if beside is None:
            return ColumnSelection(variables, None)
        own = ColumnOptions(beside, position[beside], "continuous", is_repeats=True, new_chunks=self.new_chunks)
        return ColumnSelection(variables, own._replace(is_weights=self.weights is not None, decimal=decimal))

    def types_of(self, names: Sequence[str]) -> dict[str, VariableType]:
        """Return the declared types of the columns of a source, by name."""
        if isinstance(self.types, str):
            return dict.fromkeys(names, self.types)
        return ColumnNames(names).values("types", self.types)

    def _place_of_row_names(self, names: Sequence[object]) -> int | None:
        """Return the position of the column that holds the names of the rows; None if there is none."""
        if not self.row_names:
            return None
        return names.index(PANDAS_INDEX) if PANDAS_INDEX in names else 0

    def _markers(self) -> list[Hashable]:
        """Return the values that mark a missing value; cells with a decimal comma are compared with a point."""
        given = list(self.missing_values)
        if self.decimal != ",":
            return given
        return given + [value.replace(",", ".") for value in given if isinstance(value, str)]


def _nameless(position: int, *, is_index: bool, transposed: bool) -> DataError:
    """Return the error for a column without a name: the first one mostly holds the names of the rows."""
    name = "Name"
    if (position == 0 or is_index) and not transposed:
        name = (
            "If it holds names or numbers of the rows, as R and pandas write them, use row_names=True. Otherwise name"
        )
    return DataError(
        f"every column must have a name; column {position + 1} has none. {name} it, or leave it out by listing the "
        "others in columns=[...]."
    )


def _no_levels(name: str, kind: str) -> InputError:
    """Return the error for levels of a column of numbers."""
    return InputError(
        f"levels[{name!r}] cannot be declared for a column of type {kind!r}. Drop it from types or from levels."
    )


def _check_decimal(mark: object, delimiter: str | None) -> None:
    """Raise InputError unless the decimal mark is a point or a comma, and not the delimiter."""
    if not is_one_of(mark, (".", ",")):
        raise InputError(f"decimal must be '.' or ','; got {mark!r}. Leave it out for a point.")
    if mark == delimiter:
        raise InputError(f"decimal and delimiter must differ; got {mark!r} for both. Drop the delimiter, or use ';'.")


def _check_delimiter(mark: object) -> None:
    """Raise InputError unless the delimiter is one character that a parser of bytes can split at."""
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in '\0"\r\n':
        raise InputError(
            f"delimiter must be one ASCII character, not a quote or a line end; got {mark!r}. "
            "Save the file with commas, semicolons or tabs between its cells."
        )


def ordered_tuple(name: str, values: Any, what: str) -> tuple[Any, ...]:
    """Return the values as a tuple; raise InputError if they have no order, because it decides on the result."""
    if isinstance(values, Set):
        raise InputError(f"{name} must be a list of {what}; got {values!r:.80}, which has no order. Use a list.")
    return tuple_of(name, values, what)


def _checked_levels(name: str, labels: object, kind: str | None) -> tuple[Hashable, ...]:
    """Return the levels; raise InputError unless they are different labels of a column that is not continuous."""
    if kind in NUMERIC:
        raise _no_levels(name, str(kind))
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Iterable):
        raise InputError(f"levels[{name!r}] must be a list of labels; got {labels!r:.80}. Write ['no', 'yes'].")
    listed = ordered_tuple(f"levels[{name!r}]", labels, "labels")
    try:
        all_labels = [label.item() if isinstance(label, np.number | np.bool_ | np.str_) else label for label in listed]
        different = len(set(all_labels))
    except TypeError as error:
        raise InputError(
            f"levels[{name!r}] must be hashable labels; got {listed!r:.80}. Use strings or numbers."
        ) from error
    if different < len(all_labels) or not 1 <= different <= MAX_STATES:
        raise InputError(
            f"levels[{name!r}] must be 1 to {MAX_STATES:,} different labels; got {len(all_labels)}, {different} "
            "different. Name each one once."
        )
    unfit = next(filter(None, map(unfit_label, all_labels)), None)
    if unfit is not None:
        raise InputError(f"levels[{name!r}] must be single values, strings or numbers; got {unfit}. Name those.")
    if any(label is None or is_nan(label) for label in all_labels):
        raise InputError(
            f"levels[{name!r}] must not list None or NaN, which mark a missing value. Use missing='testwise'."
        )
    return tuple(all_labels)


def unfit_label(value: object) -> str | None:  # noqa: PLR0911 - one line per type
    """Return in words what a value is that cannot be the label of a state, or None for one that can.

    A label is one value, compared by what it is: not a list of values, not raw bytes, and not an object that only
    equals itself.
    """
    if isinstance(value, str | int | float | Enum | None):
        return None
    if isinstance(value, complex):
        return "a complex number"
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes"
    if isinstance(value, Mapping | Set) or (isinstance(value, Sequence) and not isinstance(value, str)):
        return f"a {type(value).__name__}, several values in one"
    if getattr(value, "ndim", 0):
        return f"an array of shape {value.shape}"  # type: ignore[attr-defined]
    if type(value).__hash__ is None:
        return f"a {type(value).__name__}, which cannot be hashed"
    if type(value).__eq__ is object.__eq__ or callable(value):
        return f"an object of type {type(value).__name__}, not a value"
    return None


def _plain(value: Hashable) -> Hashable:
    """Return a marker as a plain Python value; raise InputError if it is not hashable."""
    if getattr(value, "ndim", 0) or not isinstance(value, Hashable):
        raise InputError(f"missing_values must be a list of values; got {value!r} in it. Use strings or numbers.")
    return cast("Hashable", value.item()) if hasattr(value, "item") else value


def is_nan(value: object) -> bool:
    """Return whether the value is NaN as a float or a decimal."""
    return isinstance(value, float | Decimal) and math.isnan(value)


def _as_number(value: Hashable) -> float | None:
    """Return the number that a marker stands for, if any."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    if isinstance(value, int):
        return value
    try:  # a string of digits keeps all of them
        return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError:
        return None
