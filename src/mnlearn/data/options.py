"""What the caller asks of a reader, checked against the columns that are there."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, cast, get_args

from numpy.typing import NDArray

from mnlearn.data._checks import MAX_STATES, check_names
from mnlearn.errors import DataError, InputError, check_listed, check_mapping, is_one_of, listed, unknown_name

VariableType: TypeAlias = Literal["categorical", "continuous"]
MissingPolicy: TypeAlias = Literal["error", "drop_rows", "category"]


class ReadOptions(TypedDict, total=False):
    """Options of `mnlearn.data.read` besides `columns`; an option that is left out has its default there."""

    types: Mapping[str, VariableType] | None
    levels: Mapping[str, Sequence[Hashable]] | None
    missing: MissingPolicy
    missing_values: Iterable[Hashable]
    repeats: str | None
    delimiter: str | None


# Texts that usually stand for a missing value but may be a label (NA is Namibia): the reader asks, it does not guess.
DOUBTFUL = frozenset({"NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NULL", "Null", "null", "NaT"})
NOT_A_NUMBER = frozenset({"nan", "NaN", "NAN", "-nan", "-NaN"})


def check_policy(missing: object) -> None:
    """Refuse what says nothing about missing values."""
    known = get_args(MissingPolicy)
    if not is_one_of(missing, known):
        raise InputError(
            f"missing must be one of {', '.join(map(repr, known))}; got {missing!r}. Name markers in missing_values."
        )


@dataclass(frozen=True)
class Markers:
    """The values that the caller named as missing: a text that reads as a number also stands for that number."""

    texts: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()
    others: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, values: Iterable[Hashable]) -> Markers:
        """Sort the named values by what they can match."""
        check_listed("missing_values", values, "values")
        listed = [_plain(value) for value in values if value is not None]
        numbers = [number for value in listed if (number := _as_number(value)) is not None]
        return cls(
            texts=frozenset(str(value).strip() for value in listed),
            numbers=frozenset(numbers),
            others=frozenset(value for value in listed if not isinstance(value, str | int | float)),
        )

    def __contains__(self, value: Hashable) -> bool:
        """Whether the value was named."""
        if isinstance(value, str):
            return value in self.texts
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return value in self.numbers
        return value in self.others


@dataclass(frozen=True)
class ColumnOptions:
    """What the caller said about one column; None leaves the choice to the data."""

    name: str
    type: VariableType | None = None
    levels: tuple[Hashable, ...] | None = None
    markers: Markers = field(default_factory=Markers)
    declared: frozenset[Hashable] = frozenset()
    is_repeats: bool = False
    new_chunks: Callable[[], Chunks] = list  # where the values are kept while they are read

    @property
    def is_open(self) -> bool:
        """Nothing was said: the data decide."""
        return self.type is None and self.levels is None

    def is_missing(self, value: Hashable) -> bool:
        """None, NaN, a blank text or a named marker; a declared level never is."""
        if value is None:
            return True
        if value in self.declared:
            return False
        if isinstance(value, str):
            return not value.strip() or value in self.markers
        return is_nan(value) or value in self.markers

    def is_doubtful(self, value: Hashable) -> bool:
        """A text that usually marks a missing value, in a column about which nothing was said."""
        return self.is_open and isinstance(value, str) and (value in DOUBTFUL or value in NOT_A_NUMBER)


class SelectedColumn(NamedTuple):
    """A column to read: where it is and what was said about it."""

    position: int
    options: ColumnOptions


class Selection(NamedTuple):
    """The variables to read, in order, and the column of repeats."""

    variables: list[SelectedColumn]
    repeats: SelectedColumn | None

    @property
    def columns(self) -> list[SelectedColumn]:
        """Every column to read."""
        return self.variables + ([self.repeats] if self.repeats is not None else [])


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of `read`, checked as far as they can be before the data are seen."""

    columns: Sequence[str] | None = None
    types: Mapping[str, VariableType] | None = None
    levels: Mapping[str, Sequence[Hashable]] | None = None
    missing_values: Iterable[Hashable] = ()
    repeats: str | None = None
    delimiter: str | None = None
    new_chunks: Callable[[], Chunks] = list

    def __post_init__(self) -> None:
        """Refuse what no data could make right."""
        if self.columns is not None:
            check_listed("columns", self.columns, "names")
        check_mapping("types", self.types, "{'age': 'continuous'}")
        check_mapping("levels", self.levels, "{'answer': ['no', 'yes']}")
        object.__setattr__(self, "missing_values", listed("missing_values", self.missing_values, "values"))
        if not isinstance(self.repeats, str | None):
            raise InputError(f"repeats must be the name of a column; got {self.repeats!r}. Leave it out for none.")
        for name, kind in (self.types or {}).items():
            if not is_one_of(kind, get_args(VariableType)):
                raise InputError(
                    f"types[{name!r}] must be 'categorical' or 'continuous'; got {kind!r}. Leave it out: the data "
                    "decide then."
                )
        for name, labels in (self.levels or {}).items():
            _check_levels(name, labels, (self.types or {}).get(name))
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)

    def select(self, names: Sequence[object]) -> Selection:
        """Match the options with the columns there are."""
        known = [str(name) for name in names]
        check_names(known)
        where = {name: position for position, name in enumerate(known)}
        for option, asked in (("columns", self.columns), ("types", self.types), ("levels", self.levels)):
            _check_known(option, () if asked is None else asked, known)
        _check_known("repeats", () if self.repeats is None else (self.repeats,), known)
        chosen = known if self.columns is None else [str(name) for name in self.columns]
        if len(set(chosen)) < len(chosen):
            raise InputError(f"columns must name each column once; got {chosen}.")
        markers = Markers.of(self.missing_values)
        types = {str(name): kind for name, kind in (self.types or {}).items()}
        levels = {str(name): tuple(labels) for name, labels in (self.levels or {}).items()}
        variables = [
            SelectedColumn(
                where[name],
                ColumnOptions(
                    name,
                    types.get(name),
                    levels.get(name),
                    markers,
                    frozenset(levels.get(name, ())),
                    new_chunks=self.new_chunks,
                ),
            )
            for name in chosen
            if name != self.repeats
        ]
        nameless = [selected.position for selected in variables if not selected.options.name.strip()]
        if nameless:
            raise DataError(
                f"every column must have a name; column {nameless[0] + 1} has none. "
                "Name it, or leave it out by listing the others in columns=[...]."
            )
        if self.repeats is None:
            return Selection(variables, None)
        weights = ColumnOptions(self.repeats, "continuous", is_repeats=True, new_chunks=self.new_chunks)
        return Selection(variables, SelectedColumn(where[self.repeats], weights))


def _check_delimiter(mark: object) -> None:
    """One character that a parser of bytes can split at."""
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in '\0"\r\n':
        raise InputError(
            f"delimiter must be one character, ASCII and no quote or line end; got {mark!r}. "
            "Save the file with commas, semicolons or tabs between its cells."
        )


def _check_known(option: str, asked: Iterable[object], known: Sequence[str]) -> None:
    """Every column that an option names exists."""
    names = set(known)
    for name in asked:
        if str(name) not in names:
            raise unknown_name(f"{option}: column", str(name), known)


def _check_levels(name: str, labels: object, kind: str | None) -> None:
    """Declared levels are a list of different hashable labels, and the column is not declared continuous."""
    if kind == "continuous":
        raise InputError(
            f"levels[{name!r}] cannot be declared for a continuous column. Drop it from types or from levels."
        )
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"levels[{name!r}] must be a list of labels; got {labels!r}.")
    try:
        listed = list(labels)
        different = len(set(listed))
    except TypeError as error:
        raise InputError(f"levels[{name!r}] must be hashable labels; got {labels!r}.") from error
    if different < len(listed) or not 1 <= different <= MAX_STATES:
        raise InputError(
            f"levels[{name!r}] must be 1 to {MAX_STATES:,} different labels; got {len(listed)}, {different} different."
        )
    if any(label is None or is_nan(label) for label in listed):
        raise InputError(
            f"levels[{name!r}] must not list None or NaN; a missing value is no level. Use missing='category'."
        )


def _plain(value: Hashable) -> Hashable:
    """A marker without its NumPy coat; what could not be looked for is refused."""
    if getattr(value, "ndim", 0) or not isinstance(value, Hashable):
        raise InputError(f"missing_values must be a list of values; got {value!r} in it. Use texts or numbers.")
    return cast("Hashable", value.item()) if hasattr(value, "item") else value


def is_nan(value: object) -> bool:
    """NaN as a float or a decimal."""
    return isinstance(value, float | Decimal) and math.isnan(value)


def _as_number(value: Hashable) -> float | None:
    """The number that a marker stands for."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        return cast("float", value) if isinstance(value, int) else float(value)
    except ValueError:
        return None


class Chunks(Protocol):
    """Where a column keeps its values while it is read: a list, or a file for what does not fit into memory."""

    def append(self, chunk: NDArray[Any], /) -> None: ...
    def pop(self) -> NDArray[Any]: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, k: int, /) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[NDArray[Any]]: ...
