"""The data set: coded columns, checked once and immutable.

Rules for data sets, and for the files they are read from.

Copies among columns: categorical ones that split the rows in the same way, whatever their labels.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mnlearn.errors import (
    DataError,
    FileError,
    InputError,
    UnknownNameError,
    UnsuitableError,
    check_file,
    check_unmasked,
    iterates,
    tuple_of,
    unknown_name,
    whole_number,
)
from mnlearn.numbers import rng_from

if TYPE_CHECKING:
    from mnlearn.data.packs import Pack
    from mnlearn.data.rows import Weighting


MAX_STATES = 65_535
MAX_TOTAL = 2.0**62  # no sum of repeats is as large


def code_type(card: int) -> type[np.uint8] | type[np.uint16]:
    """Return the type of the codes of a variable with this many states."""
    return np.uint8 if card <= 256 else np.uint16


def check_shapes(
    names: Sequence[str],
    cards: Sequence[int],
    columns: Sequence[NDArray[np.generic]],
    levels: Sequence[tuple[Hashable, ...] | None],
) -> None:
    """Raise DataError unless every variable has a name, a card, a column and labels, and columns have one length."""
    parts = {"names": names, "cards": cards, "columns": columns, "levels": levels}
    for argument, part in parts.items():
        if not isinstance(part, list | tuple):
            raise DataError(f"{argument} must be a tuple, one entry per variable; got {part!r:.80}. Use tuple(...).")
    sizes = (len(names), len(cards), len(columns), len(levels))
    if len(set(sizes)) > 1 or not names:
        raise DataError(
            f"names, cards, columns and levels must have one entry per variable, at least one; got {sizes} entries."
        )
    check_names(names)
    for name, card, column, labels in zip(names, cards, columns, levels, strict=True):
        if not is_whole(card):
            raise DataError(f"cards must be whole numbers, 0 for a continuous variable; {name!r} has {card!r}. Count.")
        kinds: tuple[object, object] = (column, labels)
        if not isinstance(kinds[0], np.ndarray) or not isinstance(kinds[1], tuple | None):
            raise DataError(
                f"columns must be arrays, and levels tuples or None; {name!r} has a {type(column).__name__} and a "
                f"{type(labels).__name__}. Use read or Dataset.from_codes."
            )
        check_unmasked(f"column {name!r}", column, "Use read(..., missing='drop_rows'), or missing='category'.")
    lengths = sorted({column.shape for column in columns})
    if len(lengths) > 1 or len(lengths[0]) != 1 or not lengths[0][0]:
        raise DataError(f"columns must be 1-D, of one length, with at least one row; got shapes {lengths}.")


def check_names(names: Sequence[object]) -> None:
    """Raise DataError unless the names are different strings."""
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(f"names must be strings; got {odd[0]!r}. Use str(...).")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"column names must differ; {', '.join(map(repr, twice[:5]))} occurs more than once. "
            "Rename the columns so that all names differ."
        )


def check_column(
    name: str, card: int, column: NDArray[np.generic], labels: tuple[Hashable, ...] | None, *, gaps: bool = False
) -> None:
    """Raise DataError unless a column has the type and range of its card, and one label per state.

    With gaps, the code `card` or NaN marks a missing value; at least one value must be there.
    """
    if card == 0:
        _check_type(name, column, np.float64)
        if labels is not None:
            raise DataError(f"levels of {name!r} must be None because it is continuous; got {len(labels)} labels.")
        check_finite(name, column[~np.isnan(column)] if gaps else column)
        return
    check_labels(name, card, labels)
    _check_type(name, column, code_type(card + gaps))
    check_range(f"column {name!r}", column, card + gaps)


def check_kinds(
    cards: Mapping[str, int], ordinal: frozenset[str], counted: frozenset[str], gaps: frozenset[str]
) -> None:
    """Raise DataError unless ordinal variables are categorical, counts are not, and all of them are variables."""
    unknown = sorted((ordinal | counted | gaps) - set(cards))
    if unknown:
        raise DataError(f"ordinal, counted and gaps must name variables; {unknown[0]!r} does not exist. Leave it out.")
    for name in sorted(ordinal | counted):
        if (name in ordinal) is (cards[name] == 0):
            raise DataError(
                f"an ordinal variable must have levels, and a count none; {name!r} has {cards[name]}. Use read with "
                f"types={{{name!r}: ...}}."
            )


def check_counts(name: str, column: NDArray[np.generic], first_row: int = 0) -> None:
    """Raise DataError unless the values, NaN apart, are whole numbers from 0; `first_row` rows came before these."""
    numbers = column.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~(np.isnan(numbers) | ((numbers >= 0) & (numbers == np.floor(numbers)))))
    if len(wrong):
        raise DataError(
            f"column {name!r} holds counts, which are whole numbers from 0; data row {first_row + wrong[0] + 1} "
            f"holds {numbers[wrong[0]]:g} ({len(wrong)} such rows). Use types={{{name!r}: 'continuous'}}."
        )


def check_labels(name: str, card: int, labels: tuple[Hashable, ...] | None) -> None:
    """Raise DataError unless the number of states is possible and there is one label per state, all different."""
    if not 1 <= card <= MAX_STATES:
        raise DataError(f"cards must be from 0 to {MAX_STATES:,}; {name!r} has {card}.")
    if labels is None or len(labels) != card or len(set(labels)) != card:
        got = "none" if labels is None else f"{len(labels)} labels, {len(set(labels))} different"
        raise DataError(f"levels of {name!r} must be {card} different labels, one per state; got {got}.")


def check_finite(name: str, column: NDArray[np.generic]) -> None:
    """Raise DataError for NaN and infinity."""
    wrong = np.flatnonzero(~np.isfinite(column.astype(np.float64, copy=False)))
    if len(wrong):
        raise DataError(
            f"column {name!r} is continuous and must hold finite numbers; data row {wrong[0] + 1} holds "
            f"{column[wrong[0]]} ({len(wrong)} such rows). Replace the value, drop these rows, or leave the column out."
        )


def check_range(what: str, codes: NDArray[np.generic], card: int) -> None:
    """Raise DataError unless the codes are from 0 to card - 1."""
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= card:
        raise DataError(f"{what} must hold codes from 0 to {card - 1}; got {low if low < 0 else high}.")


def check_repeats(repeats: NDArray[Any], n_records: int, *, weighted: bool = False) -> None:
    """Raise DataError unless there is one positive count, or weight, per stored row; counts must fit in int64."""
    check_unmasked("repeats", repeats)
    if not isinstance(repeats, np.ndarray):
        raise DataError(f"repeats must be an array, one count per row; got {repeats!r:.80}. Use np.array(...).")
    if weighted and repeats.dtype == np.float64 and repeats.shape == (n_records,):
        if not (np.isfinite(repeats).all() and repeats.min() > 0):
            raise DataError(
                "repeats must be finite and above 0 if they are weights; got others. Use read(weights=...)."
            )
        return
    if repeats.dtype != np.int64 or repeats.shape != (n_records,):
        raise DataError(
            f"repeats must be int64, one for each of the {n_records} rows; got {repeats.dtype} {repeats.shape}."
        )
    if int(repeats.min()) < 1:
        raise DataError(f"repeats must be at least 1; got {int(repeats.min())}. Leave out the rows that did not occur.")
    check_total(float(repeats.sum(dtype=np.float64)))


def check_total(total: float) -> None:
    """Raise DataError if the sum of the repeats is too large for int64."""
    if total >= MAX_TOTAL:
        raise DataError("repeats must add up to less than 2**62 rows; got more. Divide them by a common factor.")


def code_columns(codes: ArrayLike | Sequence[ArrayLike]) -> list[NDArray[np.integer]]:
    """Return the columns of a 2-D array or a list, or raise DataError unless they are integers of one length."""
    check_unmasked("codes", codes, "Use read(..., missing='drop_rows'), or missing='category'.")
    if isinstance(codes, np.ndarray):
        columns = list(codes.T) if codes.ndim == 2 else []
    else:
        try:
            columns = [np.asarray(column) for column in codes]  # type: ignore[union-attr]
        except (TypeError, ValueError):  # not a list, or a column with lists inside
            columns = []
    shapes = sorted({column.shape for column in columns})
    kinds = {column.dtype.kind for column in columns}
    if len(shapes) != 1 or len(shapes[0]) != 1 or kinds - set("biu"):
        raise DataError(
            "codes must be a 2-D array of integers or a list of integer columns of one length; got "
            f"shapes {shapes or type(codes).__name__}. Use read(...) for other data."
        )
    return columns


def is_whole(value: object) -> bool:
    """Return whether the value is an integer of Python or NumPy; booleans are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_numbers(what: str, values: ArrayLike, length: int) -> NDArray[np.int64]:
    """Return non-negative integers, one per entry; 2.0 counts as 2."""
    check_unmasked(what, values)
    try:
        numbers = np.asarray(values)
    except ValueError:  # ragged
        numbers = np.empty(0, dtype=object)
    if numbers.shape != (length,) or numbers.dtype.kind not in "biuf":
        raise InputError(
            f"{what} must be {length} whole numbers; got {numbers.dtype} of shape {numbers.shape}. Give one for each."
        )
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers))))
    if len(wrong):
        k = int(wrong[0])
        raise InputError(
            f"{what} must be whole numbers from 0 to 2**53; entry {k + 1} is {numbers[k]}. Round or drop it."
        )
    return numbers.astype(np.int64)


def _check_type(name: str, column: NDArray[np.generic], expected: DTypeLike) -> None:
    """Raise DataError unless the column has exactly the type of its card."""
    if column.dtype != np.dtype(expected):
        raise DataError(
            f"column {name!r} must be {np.dtype(expected)}; got {column.dtype}. Use read or Dataset.from_codes."
        )


# Files of data


DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
PROGRAM_FILES = {
    ".xlsx": "an Excel workbook",
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".dta": "a Stata file",
}
"""Files of other programs, in words; the extra `files` reads them."""


class DataFile(NamedTuple):
    """An existing file and its format; a delimiter of None means Parquet."""

    path: Path
    delimiter: str | None
    gzipped: bool
    row_names: bool = False  # whether the first cell of each row is its name


class RowTooLong(Exception):  # noqa: N818 - never leaves the readers
    """A row of text does not fit in a block."""

    def __init__(self, file: DataFile, names: Sequence[str], block: int) -> None:
        super().__init__(f"a row takes more than {block >> 20} MB")
        self.file, self.names, self.block = file, names, block


def recognise(path: Path, delimiter: str | None, *, row_names: bool = False, decimal: str | None = None) -> DataFile:
    """Find the format of a file by its name; with a delimiter any file is delimited text."""
    check_file("path", path)
    gzipped = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if gzipped else path.suffix.lower()
    if suffix in PARQUET:
        odd = "delimiter" if delimiter is not None else "decimal" if decimal is not None else None
        if odd is not None:
            raise FileError(f"{odd} is for delimited text; {path} is a Parquet file by its name. Drop the {odd}.")
        return DataFile(path, None, gzipped)
    split_at = delimiter or DELIMITERS.get(suffix)
    if decimal == "," and delimiter is None and split_at == ",":
        split_at = _delimiter_beside_commas(path, gzipped)
    if split_at is None:
        if suffix == ".mnpack":
            raise FileError(f"path must be a pack as it was written; {path} is gzipped. Unpack it with gunzip first.")
        if suffix in PROGRAM_FILES:
            raise FileError(
                f"path must be {PROGRAM_FILES[suffix]} as it was saved; {path} is gzipped. Unpack it with gunzip first."
            )
        if suffix in (".rds", ".rda", ".rdata"):
            raise FileError(
                f"path must be a table that other programs can read; {path} is a file of R. Save it in R with "
                "arrow::write_parquet or write.csv, or use the package of mnlearn for R."
            )
        known, others = ", ".join([*DELIMITERS, *PARQUET]), ", ".join(PROGRAM_FILES)
        raise FileError(
            f"path must end in one of {known} (or these with .gz), {others} or .mnpack; got {path.name!r}. "
            "Rename the file, or pass delimiter=',' (or another) if it is delimited text."
        )
    return DataFile(path, split_at, gzipped, row_names)


def _delimiter_beside_commas(path: Path, gzipped: bool) -> str:
    """Return the delimiter of text with decimal commas: the semicolon or the tab of its first line, else the comma."""
    try:
        with gzip.open(path, "rb") if gzipped else path.open("rb") as file:
            line = next((line for line in iter(lambda: file.readline(1 << 20), b"") if line.strip()), b"")
    except (OSError, EOFError, zlib.error):  # the reader says what is wrong
        return ","
    return next((mark for mark in ";\t" if mark.encode() in line), ",")


T = TypeVar("T")
Kind: TypeAlias = Literal["nominal", "ordinal", "count", "continuous"]
"""Kind of a variable: labels, labels in an order, whole numbers from 0, or numbers."""


@dataclass(frozen=True)
class MissingReport:
    """Missing values in the data that were read, and the policy applied.

    Attributes
    ----------
    policy
        The policy: ``"error"``, ``"drop_rows"``, ``"category"`` or ``"testwise"``.
    counts
        Missing values per column before the policy was applied; complete columns are left out.
    rows_dropped
        Number of stored rows left out because a value was missing.
    alone
        Stored rows per column in which no other column lacked a value: dropping them is the price of that column.
    """

    policy: str = "error"
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    rows_dropped: int = 0
    alone: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[type[MissingReport], tuple[object, ...]]:
        """Return parts that can be pickled."""
        return MissingReport, (self.policy, dict(self.counts), self.rows_dropped, dict(self.alone))

    def __str__(self) -> str:
        """Return one sentence on missing values and the policy applied."""
        if not self.counts:
            return "nothing was missing"
        most_first = sorted(self.counts, key=lambda name: -self.counts[name])
        listed = [f"{name!r} {self.counts[name]}" for name in most_first]
        found = ", ".join(listed[:4]) + (f" and {len(listed) - 4} more columns" if len(listed) > 4 else "")
        if self.policy == "testwise":
            empty = f"; rows without any value, dropped: {self.rows_dropped}" if self.rows_dropped else ""
            return f"missing: {found}; each test and model uses the rows in which all its variables are observed{empty}"
        if self.policy != "drop_rows":
            return f"missing: {found}; kept as a state of its own"
        costly = costly_columns(self.alone, self.rows_dropped)
        costs = "".join(f"; drop=[{name!r}] keeps {rows} of them" for name, rows in costly.items())
        return f"missing: {found}; rows dropped: {self.rows_dropped}{costs}"


def costly_columns(alone: Mapping[str, int], incomplete: int) -> dict[str, int]:
    """Return the columns, at most three, that by themselves cost at least a tenth of the incomplete rows.

    Parameters
    ----------
    alone
        Rows per column in which no other one lacks a value.
    incomplete
        Rows in which any column lacks one.
    """
    worst = sorted(alone, key=lambda name: -alone[name])[:3]
    return {name: alone[name] for name in worst if alone[name] >= max(5, incomplete / 10)}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table of coded variables.

    Attributes
    ----------
    names
        One name per variable, all different.
    cards
        Number of states per variable; declared states count even when no row has them. 0 marks a continuous variable
        and a count.
    columns
        Codes 0..card-1 as uint8 (card <= 256) or uint16 (card <= 65,535), or float64 for a continuous variable and a
        count. In a variable with gaps the code `card`, or NaN, marks a missing value. Contiguous and read-only; a
        writable array is copied, a read-only one is shared.
    levels
        The label of each code; None for a continuous variable.
    repeats
        How often each stored row occurred, at least once; None if every row occurred once. Weights are float64, above
        0, and sum to the effective sample size, rounded.
    missing
        Missing values in the data that were read.
    cuts
        The cut points of each discretised variable, by name.
    pack
        The packed file that the columns are mapped from, if they are.
    declared
        Names of the variables whose levels were declared, not found in the rows.
    unused
        Categories that came with the data but that no row has, by variable. They are not levels.
    weighting
        The column of weights and the effective sample size, if the data were read with weights.
    ordinal
        Names of the categorical variables whose levels are in an order.
    counted
        Names of the numeric variables that hold counts: whole numbers from 0.
    gaps
        Names of the variables with missing values (``missing="testwise"``).
    reasons
        Why a variable has its kind, by name, in words; variables whose values show it are left out.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1, 0], [1, 1, 0]], names=["rain", "wet"])
    >>> data.n_rows, data.cards
    (3, (2, 2))
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    columns: tuple[NDArray[np.generic], ...]
    levels: tuple[tuple[Hashable, ...] | None, ...]
    repeats: NDArray[Any] | None = None
    missing: MissingReport = field(default_factory=MissingReport)
    cuts: Mapping[str, NDArray[np.float64]] = field(default_factory=lambda: MappingProxyType({}))
    pack: Pack | None = None
    declared: frozenset[str] = frozenset()
    unused: Mapping[str, tuple[Hashable, ...]] = field(default_factory=lambda: MappingProxyType({}))
    weighting: Weighting | None = None
    ordinal: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    gaps: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        """Check every rule once."""
        check_shapes(self.names, self.cards, self.columns, self.levels)
        for name, card, column, labels in zip(self.names, self.cards, self.columns, self.levels, strict=True):
            check_column(name, card, column, labels, gaps=name in self.gaps)
        check_kinds(dict(zip(self.names, self.cards, strict=True)), self.ordinal, self.counted, self.gaps)
        for name in sorted(self.counted):
            check_counts(name, self.columns[self.names.index(name)])
        if self.repeats is not None:
            check_repeats(self.repeats, len(self.columns[0]), weighted=self.weighting is not None)
            object.__setattr__(self, "repeats", _frozen(self.repeats))
        object.__setattr__(self, "columns", tuple(_frozen(column) for column in self.columns))

    @classmethod
    def trusted(cls, **parts: Any) -> Dataset:
        """Return a data set of valid parts, without checks."""
        data = cls.__new__(cls)
        data.__dict__.update(parts)
        return data

    def verify(self) -> None:
        """Check the packed file behind the columns, if there is one: checksums, codes and numbers; only once."""
        if self.pack is not None:
            self.pack.verify()

    def fingerprint(self) -> str:
        """Return a digest of the names, the levels and every row."""
        digest = blake2b(repr((self.names, self.cards, self.levels)).encode(), digest_size=16)
        if self.ordinal or self.counted or self.gaps:
            digest.update(repr((self.kinds, sorted(self.gaps))).encode())
        if self.pack is not None and self.pack.holds(self.columns):
            digest.update(f"{self.pack.fingerprint} of a pack".encode())
        else:
            for column in (*self.columns, *([] if self.repeats is None else [self.repeats])):
                digest.update(column.data)
        return digest.hexdigest()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle whole columns of a packed file as its path, everything else as it is."""
        if self.pack is None or self.cuts or not self.pack.holds(self.columns):
            return super().__reduce_ex__(protocol)
        from mnlearn.data.packs import reopen

        return reopen, (self.pack.path.absolute(), self.pack.fingerprint, self.names)

    def __getstate__(self) -> dict[str, object]:
        """Return parts that can be pickled."""
        plain = {part: dict(self.__dict__[part]) for part in ("cuts", "unused", "reasons")}
        return {**self.__dict__, **plain, "pack": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the parts, read-only again."""
        own: dict[str, Any] = {"columns": tuple(_frozen(column, own=True) for column in state["columns"])}
        if state["repeats"] is not None:
            own["repeats"] = _frozen(state["repeats"], own=True)
        fixed = {part: MappingProxyType(state.get(part, {})) for part in ("cuts", "unused", "reasons")}
        self.__dict__.update({**state, **own, **fixed})

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike | Sequence[ArrayLike],
        *,
        cards: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
        repeats: ArrayLike | None = None,
    ) -> Dataset:
        """Make a data set of categorical variables from integer codes.

        Parameters
        ----------
        codes
            A 2-D array with one row per record and one column per variable, or a list of columns.
        cards
            Number of states per variable; by default the largest code plus one.
        names
            Names of the variables; by default x0, x1, ...
        repeats
            How often each row occurred; rows that occurred 0 times are left out.

        Returns
        -------
        Dataset
            The labels of the states are the codes themselves.
        """
        columns = code_columns(codes)
        if repeats is not None:
            weights = whole_numbers("repeats", repeats, len(columns[0]))
            columns = [column[weights > 0] for column in columns]
            repeats = weights[weights > 0]
        if not len(columns[0]):
            raise DataError("codes must have at least one row that occurred; got none.")
        if cards is not None:
            cards = [_card(card) for card in tuple_of("cards", cards, "numbers of states")]
        sizes = [int(column.max()) + 1 for column in columns] if cards is None else list(cards)
        if len(sizes) != len(columns):
            raise InputError(f"cards must have one entry for each of the {len(columns)} columns; got {len(sizes)}.")
        for j, (column, size) in enumerate(zip(columns, sizes, strict=True)):
            check_range(f"column {j} of codes", column, size)
        labels = tuple(f"x{j}" for j in range(len(columns))) if names is None else tuple_of("names", names, "names")
        return cls(
            names=labels,
            cards=tuple(sizes),
            columns=tuple(
                _frozen(column.astype(code_type(size)), own=True) for column, size in zip(columns, sizes, strict=True)
            ),
            levels=tuple(tuple(range(size)) for size in sizes),
            repeats=repeats,
            declared=frozenset(() if cards is None else labels),
        )

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def n_records(self) -> int:
        """Number of stored rows."""
        return len(self.columns[0])

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included; of weighted rows the effective sample size, rounded."""
        return self.n_records if self.repeats is None else round(float(self.repeats.sum()))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each variable: nominal, ordinal, count or continuous."""
        return tuple(map(self._kind, self.names, self.cards))

    def _kind(self, name: str, card: int) -> Kind:
        if card:
            return "ordinal" if name in self.ordinal else "nominal"
        return "count" if name in self.counted else "continuous"

    def observed(self, variable: str | int) -> NDArray[np.bool_] | None:
        """Return in which stored rows a variable has a value; None if it has no gaps."""
        k = self._position(variable)
        if self.names[k] not in self.gaps:
            return None
        column: NDArray[Any] = self.columns[k]
        return np.asarray(column < self.cards[k]) if self.cards[k] else ~np.isnan(column)

    def level_scores(self, variable: str | int) -> NDArray[np.float64]:
        """Return a number for each level of a variable: its own if all are ascending numbers, else its rank from 0."""
        labels = self.levels[self._position(variable)] or ()
        if all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
            numbers = np.array(labels, dtype=np.float64)
            if np.isfinite(numbers).all() and (np.diff(numbers) > 0).all():
                return numbers
        return np.arange(len(labels), dtype=np.float64)

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights instead of repeats."""
        return self.repeats is not None and self.repeats.dtype == np.float64

    def index(self, name: str) -> int:
        """Return the position of a variable; the error for an unknown name lists the nearest ones."""
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_name("column", name, self.names) from None

    def select(self, variables: Iterable[str | int]) -> Dataset:
        """Return all rows with only these variables, in this order; the columns are shared, not copied.

        Parameters
        ----------
        variables
            Names or positions, at least one, none twice.

        Returns
        -------
        Dataset
            A view of this one.
        """
        if isinstance(variables, str | bytes) or not iterates(variables):
            raise InputError(f"variables must be a list of names or positions; got {variables!r}. Use [{variables!r}].")
        chosen = [self._position(variable) for variable in variables]
        if not chosen or len(set(chosen)) < len(chosen):
            names = [self.names[k] for k in chosen]
            raise InputError(f"variables must name at least one variable and none twice; got {names}.")
        chosen_names = tuple(self.names[k] for k in chosen)
        return self._with(
            names=chosen_names,
            cards=tuple(self.cards[k] for k in chosen),
            columns=tuple(self.columns[k] for k in chosen),
            levels=tuple(self.levels[k] for k in chosen),
            cuts=_only(self.cuts, chosen_names),
            declared=self.declared & set(chosen_names),
            ordinal=self.ordinal & set(chosen_names),
            counted=self.counted & set(chosen_names),
            gaps=self.gaps & set(chosen_names),
            unused=_only(self.unused, chosen_names),
            reasons=_only(self.reasons, chosen_names),
        )

    def sample(self, n_rows: int, seed: int | np.random.Generator) -> Dataset:
        """Draw rows without replacement; a row that occurred k times can be drawn up to k times.

        Parameters
        ----------
        n_rows
            Number of rows to draw, from 1 to all of them.
        seed
            A seed or a generator; the same seed draws the same rows.

        Returns
        -------
        Dataset
            The drawn rows in their old order, with all the declared states.
        """
        if not is_whole(n_rows) or not 1 <= n_rows <= self.n_rows:
            raise InputError(
                f"n_rows must be a whole number from 1 to {self.n_rows}, the number of rows; got {n_rows!r}. "
                "Rows are drawn without replacement: draw fewer."
            )
        check_not_weighted(self, "rows drawn without replacement", "Draw with replacement (sampling='bootstrap').")
        generator = rng_from(seed)
        if self.repeats is None:
            kept = np.sort(generator.choice(self.n_records, size=n_rows, replace=False, shuffle=False))
            return self._rows(kept, None)
        return self._weighted(_draw(self.repeats, n_rows, generator))

    def compact(self) -> Dataset:
        """Store every distinct row once, with how often it occurred; the order of the rows is not kept."""
        self.verify()
        groups, n_groups = row_groups(self.columns)
        weights = np.zeros(n_groups, dtype=np.int64 if self.repeats is None else self.repeats.dtype)
        np.add.at(weights, groups, 1 if self.repeats is None else self.repeats)
        first = np.empty(n_groups, dtype=np.int64)
        first[groups] = np.arange(self.n_records)
        return self._rows(first, weights)

    def __repr__(self) -> str:
        """Return the shape, a few names, and the missing values."""
        shown = ", ".join(
            f"{name}[{card}{' ordered' * (kind == 'ordinal')}]"
            if card
            else f"{name}[{'count' if kind == 'count' else 'real'}]"
            for name, card, kind in zip(self.names[:6], self.cards[:6], self.kinds[:6], strict=True)
        )
        more = f", ... {self.n_variables - 6} more" if self.n_variables > 6 else ""
        rows = f"{self.n_rows} rows" + (f" ({self.n_records} distinct stored)" if self.repeats is not None else "")
        rows = rows if self.weighting is None else f"{self.n_rows} effective rows ({self.weighting.n_rows} weighted)"
        note = f"; {self.missing}" if self.missing.counts else ""
        return f"<Dataset: {rows}, {self.n_variables} variables: {shown}{more}{note}>"

    def _position(self, variable: str | int) -> int:
        """Return the position of a variable given by name or by position."""
        if isinstance(variable, str):
            return self.index(variable)
        if not is_whole(variable):
            raise InputError(
                f"variables must be names or whole numbers, positions from 0; got {variable!r}. Use one of these."
            )
        if not 0 <= variable < self.n_variables:
            raise UnknownNameError(
                f"variable {variable} does not exist. Positions go from 0 to {self.n_variables - 1}."
            )
        return int(variable)

    def _rows(self, kept: NDArray[np.int64], repeats: NDArray[Any] | None) -> Dataset:
        """Return a data set with some of the rows."""
        self.verify()
        columns = tuple(_frozen(column[kept], own=True) for column in self.columns)
        return self._with(columns=columns, repeats=None if repeats is None else _frozen(repeats, own=True), pack=None)

    def _weighted(self, repeats: NDArray[np.int64]) -> Dataset:
        """Return the stored rows with these repeats; rows with 0 are left out."""
        kept = np.flatnonzero(repeats)
        return self._rows(kept, repeats[kept])

    def _with(self, **changes: object) -> Dataset:
        """Return a copy with some valid parts replaced, without checks."""
        return self.trusted(**{**self.__dict__, **changes})


def check_no_gaps(dataset: Dataset, who: str, instead: str = "sep, pc, gsmn*, gsimn or hhc-mn") -> None:
    """Raise UnsuitableError if values are missing; `who` needs complete rows, `instead` does not."""
    if dataset.gaps:
        name = next(name for name in dataset.names if name in dataset.gaps)
        raise UnsuitableError(
            f"{who} needs complete data; {name!r} has missing values (missing='testwise'). Use missing='drop_rows', or "
            f"{instead}."
        )


def check_not_weighted(dataset: Dataset, what: str, hint: str) -> None:
    """Raise UnsuitableError if the rows have weights; `what` needs whole rows."""
    if dataset.is_weighted:
        raise UnsuitableError(f"{what} must be whole, and these have weights. {hint}")


def _only(parts: Mapping[str, T], names: Iterable[str]) -> Mapping[str, T]:
    """Return the parts of these variables."""
    return MappingProxyType({name: parts[name] for name in names if name in parts})


def _card(value: object) -> int:
    """Return a checked number of states."""
    return whole_number("every one of cards", value, least=1, hint="Leave cards out to count the states.")


def _frozen(array: NDArray[np.generic], *, own: bool = False) -> NDArray[np.generic]:
    """Return the array contiguous and read-only; a writable one is copied unless we own it."""
    if array.flags.writeable and not own:
        array = array.copy()
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _draw(repeats: NDArray[np.int64], n_rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw how often each row occurs, from the multivariate hypergeometric distribution."""
    total = int(repeats.sum())
    if total < 1_000_000_000:  # the limit of NumPy's sampler
        return generator.multivariate_hypergeometric(repeats, n_rows, method="marginals")
    places = generator.choice(total, size=n_rows, replace=False, shuffle=False)
    owners = np.searchsorted(np.cumsum(repeats), places, side="right")
    return np.bincount(owners, minlength=len(repeats)).astype(np.int64)


def row_groups(columns: Iterable[NDArray[np.generic]]) -> tuple[NDArray[np.int64], int]:
    """Return the group of equal rows that each row belongs to, and the number of groups.

    Codes of several columns are packed into one integer until it would overflow; then the packed values
    are renumbered. So there is one sort per 62 bits of codes, not one per column.
    """
    packed: NDArray[np.int64] | None = None
    size = 1
    for column in columns:
        codes, card = _numbered(column)
        if packed is None:
            packed, size = codes, card
            continue
        if size * card >= 2**62:
            packed, size = _renumbered(packed)
        packed = packed * card + codes
        size *= card
    if packed is None:
        return np.empty(0, dtype=np.int64), 0
    return _renumbered(packed)


def _numbered(column: NDArray[np.generic]) -> tuple[NDArray[np.int64], int]:
    """Return a column as integers from 0, and a bound on them."""
    if column.dtype.kind == "f":  # NaN equals NaN here, -0.0 equals 0.0
        return _renumbered(column)
    return column.astype(np.int64), int(column.max(initial=0)) + 1


def _renumbered(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], int]:
    """Return values as ranks among the distinct ones, and the number of ranks."""
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.reshape(-1).astype(np.int64, copy=False), max(len(distinct), 1)


def split_of_rows(codes: NDArray[Any], n_codes: int, *, gaps: bool = False) -> bytes:
    """Return a digest of the codes that is the same for any labels of the categories.

    With gaps, the last code marks missing values, which are no category.

    Examples
    --------
    >>> split_of_rows(np.array([0, 1, 1], np.uint8), 2) == split_of_rows(np.array([2, 0, 0], np.uint8), 3)
    True
    """
    if gaps:
        missing = codes == n_codes - 1
        digest = blake2b(np.packbits(missing).tobytes(), person=b"gaps")
        digest.update(split_of_rows(codes[~missing], n_codes - 1))
        return digest.digest()
    n_rows = len(codes)
    first = np.full(n_codes, n_rows, dtype=np.int64)
    first[codes[::-1]] = np.arange(n_rows - 1, -1, -1)  # the last write is that of the first row
    rank = np.empty(n_codes, dtype=np.uint16)
    rank[np.argsort(first, kind="stable")] = np.arange(n_codes)
    return blake2b(rank[codes].tobytes(), person=b"categorical").digest()


def copied_columns(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> dict[int, int]:
    """Return the index of the original of each copy: the first column that splits the rows as it does.

    Parameters
    ----------
    columns
        Codes of the rows, column by column.
    cards
        Number of states of each; a column without states is continuous, and none of the copies. Nor is a constant one.
        A code equal to it marks a missing value; copies have the same gaps.

    Examples
    --------
    >>> copied_columns([np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([1, 0, 0])], [2, 2, 2])
    {2: 0}
    """
    original: dict[bytes, int] = {}
    copies = {}
    for k, (column, card) in enumerate(zip(columns, cards, strict=True)):
        codes = np.asarray(column)
        if card < 2 or not len(codes) or (codes == codes[0]).all():
            continue
        gaps = bool(codes.max() == card)
        known = codes[codes < card] if gaps else codes
        if (known == known[0]).all():
            continue
        first = original.setdefault(split_of_rows(codes, card + gaps, gaps=gaps), k)
        if first != k:
            copies[k] = first
    return copies
