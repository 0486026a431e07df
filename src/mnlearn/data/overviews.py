"""Overview of a table: sizes, types, missing values, constant and duplicated variables.

Missing values of a table: how many, which rows are complete, and whether gaps depend on other columns.

Evidence by ``missing="testwise"`` assumes that, given the variables of a question, a value is not missing because of
what it is. No data can show that. They can show whether the gaps of one column go with the values of others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import ReadTable, Reason
from mnlearn.data.dataset import Dataset, Kind, check_total, code_type, row_groups, split_of_rows
from mnlearn.data.options import TableOptions, Types
from mnlearn.data.readers import already_coded, enough_memory, load_table, read, select_from
from mnlearn.data.transforms import log_p_normal, rejected


@dataclass(frozen=True)
class VariableOverview:
    """Description of one variable.

    Attributes
    ----------
    name, type
        ``"categorical"``, ``"continuous"``, or ``"empty"`` when every value is missing.
    kind
        ``"nominal"``, ``"ordinal"``, ``"count"`` or ``"continuous"``; None when every value is missing.
    cardinality
        Number of states that occur or are declared; 0 for a continuous variable.
    missing, missing_share, missing_alone
        Number of stored rows without a value; their share; and the number of those in which only this variable has
        none.
    reason
        Why the variable has this type, in words; for data that are already coded, what its values are.
    constant
        Whether there is only one value, missing ones aside.
    low, high
        Range of a continuous variable.
    most_common, most_common_count
        The most frequent level of a categorical variable and its rows, repeats included; the first such level in a tie.
    doubtful
        Strings counted as missing here for which `read` raises an error, such as NA.
    marked
        How many stored rows were missing by each marker, such as ``{"NA": 3}``; blanks, None and NaN are the rest.
    unused
        Levels that no row has. Categories that came with the data are not counted as states; declared levels are.
    """

    name: str
    type: Literal["categorical", "continuous", "empty"]
    cardinality: int
    missing: int
    constant: bool
    low: float | None = None
    high: float | None = None
    most_common: Hashable = None
    most_common_count: int = 0
    doubtful: tuple[str, ...] = ()
    unused: tuple[Hashable, ...] = ()
    marked: Mapping[str, int] = field(default_factory=dict)
    missing_alone: int = 0
    reason: str = field(default="", compare=False)
    kind: Kind | None = None
    missing_share: float = 0.0


@dataclass(frozen=True)
class Overview:
    """Description of a table.

    Attributes
    ----------
    n_rows, n_records
        Rows with repeats included, and stored rows.
    variables
        One entry per variable.
    constant
        Names of the variables that never change.
    duplicated
        Groups of variables that carry the same information: categorical ones equal up to the names of their states,
        continuous ones equal in value. Constant variables are not listed again.
    duplicate_rows
        Stored rows that repeat an earlier one.
    unused
        Names of the variables with levels that no row has.
    far_from_normal
        Names of the continuous variables that are clearly not normal, as by `mnlearn.learn` with ``transform="auto"``.
    incomplete_rows, complete_rows
        Stored rows without a value in some variable, and the others.
    unsettled
        Names of the variables that `read` refuses until `types` or `drop` decides, because they number the rows.
    """

    n_rows: int
    n_records: int
    variables: tuple[VariableOverview, ...]
    constant: tuple[str, ...]
    duplicated: tuple[tuple[str, ...], ...]
    duplicate_rows: int
    unused: tuple[str, ...] = ()
    far_from_normal: tuple[str, ...] = ()
    incomplete_rows: int = 0
    unsettled: tuple[str, ...] = ()
    complete_rows: int = 0

    def as_dict(self) -> dict[str, object]:
        """Return plain lists, numbers and strings for JSON; other values become strings."""
        plain = asdict(self)
        for variable in plain["variables"]:
            for key in ("low", "high", "most_common"):
                variable[key] = _for_json(variable[key])
            variable["unused"] = [_for_json(label) for label in variable["unused"]]
        return plain


def _for_json(value: object) -> object:
    """Return a value that JSON has, or else its string."""
    known = isinstance(value, str | int | None) or (isinstance(value, float) and np.isfinite(value))
    return value if known else str(value)


def overview(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    types: Types | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    drop: Iterable[str] = (),
    row_names: bool = False,
    transpose: bool = False,
    decimal: str | None = None,
    sheet: str | None = None,
    names: Sequence[str] | None = None,
) -> Overview:
    """Describe a table, which may be incomplete.

    Parameters
    ----------
    source, columns, types, levels, missing_values, repeats, delimiter
        As for `read`. Missing values are counted; rows that occurred 0 times are left out.
    drop, row_names, transpose, decimal, sheet, names
        As for `read`.

    Returns
    -------
    Overview
        Sizes, and one entry per variable.

    Examples
    --------
    >>> seen = overview({"a": [1, 2, None], "b": ["x", "y", "y"], "c": [0, 0, 0]})
    >>> seen.variables[0].missing, seen.constant
    (1, ('c',))
    """
    options = TableOptions(
        columns=columns,
        types=types,
        levels=levels,
        missing_values=missing_values,
        repeats=repeats,
        delimiter=delimiter,
        drop=drop,
        row_names=row_names,
        transpose=transpose,
        decimal=decimal,
        sheet=sheet,
        names=names,
    )
    coded = already_coded(source)
    if coded is not None:
        coded.verify()
        chosen = select_from(coded, options)
        return _describe(_dataset_columns(chosen), chosen.repeats)
    with enough_memory(source):
        return _describe(*_occurred(load_table(source, options)))


class _Column(NamedTuple):
    """One column: 0 where missing and k + 1 for the k-th level; or float64, NaN where missing."""

    name: str
    values: NDArray[Any]
    levels: tuple[Hashable, ...] | None
    doubts: tuple[str, ...] = ()
    unused: tuple[Hashable, ...] = ()
    marked: Mapping[str, int] = MappingProxyType({})
    reason: str = ""
    kind: Kind = "nominal"

    def lacks(self) -> NDArray[np.bool_]:
        """Return where a value is missing."""
        return np.asarray(np.isnan(self.values) if self.levels is None else self.values == 0)


def _dataset_columns(data: Dataset) -> list[_Column]:
    """Return the columns of a data set."""
    from mnlearn.data.variable import kind_in_words

    found = []
    for name, kind, values, labels in zip(data.names, data.kinds, data.columns, data.levels, strict=True):
        why = "cut into intervals" if name in data.cuts else data.reasons.get(name, kind_in_words(labels))
        found.append(_Column(name, _one_up(values, labels), labels, (), data.unused.get(name, ()), {}, why, kind))
    return found


def _one_up(values: NDArray[Any], labels: tuple[Hashable, ...] | None) -> NDArray[Any]:
    """Return codes from 1 on, 0 for a gap; or numbers as they are."""
    return values if labels is None else ((values.astype(np.uint32) + 1) % (len(labels) + 1)).astype(np.uint16)


def _occurred(table: ReadTable) -> tuple[list[_Column], NDArray[np.int64] | None]:
    """Return the columns and repeats without the rows that occurred 0 times, and the levels that only those had."""
    from mnlearn.data.missing import check_table_size, kept_levels, too_few_rows, whole_repeats
    from mnlearn.data.variable import reason_in_words

    check_table_size(table)
    kept: list[NDArray[Any]] | None = None
    repeats = None if table.repeats is None else whole_repeats(table.repeats.name, table.repeats.chunks[0])
    if repeats is not None:
        check_total(float(repeats.sum(dtype=np.float64)))
        kept = [repeats > 0]
        repeats = repeats[kept[0]]
        if len(repeats) < 2:
            raise too_few_rows(table, {}, table.n_rows, len(repeats))
    columns = []
    for column in table.columns:
        values = column.chunks[0] if kept is None else column.chunks[0][kept[0]]
        levels = column.levels
        if levels is not None:
            levels, places = kept_levels(column, kept)
            values = (places + 1).astype(code_type(len(levels) + 1))[values]
        kind = column.kind or ("continuous" if levels is None else "nominal")
        seen = (column.doubts, column.unused(levels), column.marked, reason_in_words(column), kind)
        columns.append(_Column(column.name, values, levels, *seen))
    return columns, repeats


def _describe(columns: Sequence[_Column], repeats: NDArray[np.int64] | None) -> Overview:
    """Describe all columns."""
    from mnlearn.data.missing import Gaps

    n_rows = len(columns[0].values)
    gaps = Gaps(n_rows)
    for column in columns:
        gaps.add(column.lacks())
    variables = tuple(
        _with_reason(_variable(column, repeats), column, alone)
        for column, alone in zip(columns, gaps.alone().tolist(), strict=True)
    )
    constant = {variable.name for variable in variables if variable.constant or variable.type == "empty"}
    _, n_distinct = row_groups(column.values for column in columns)
    return Overview(
        n_rows=n_rows if repeats is None else int(repeats.sum()),
        n_records=n_rows,
        variables=variables,
        constant=tuple(variable.name for variable in variables if variable.constant),
        duplicated=_duplicated([column for column in columns if column.name not in constant]),
        duplicate_rows=n_rows - n_distinct,
        unused=tuple(variable.name for variable in variables if variable.unused),
        far_from_normal=_far_from_normal(columns, repeats),
        incomplete_rows=int(np.count_nonzero(gaps.in_some)),
        complete_rows=n_rows - int(np.count_nonzero(gaps.in_some)),
        unsettled=tuple(column.name for column in columns if column.reason == Reason.NUMBERED.value),
    )


def _with_reason(variable: VariableOverview, column: _Column, alone: int) -> VariableOverview:
    """Return the description of a column with its kind, the reason for it, and its gaps."""
    return replace(
        variable,
        marked=dict(column.marked),
        missing_alone=alone,
        missing_share=variable.missing / len(column.values),
        reason=column.reason,
        kind=None if variable.type == "empty" else column.kind,
    )


def _far_from_normal(columns: Sequence[_Column], repeats: NDArray[np.int64] | None) -> tuple[str, ...]:
    """Return the continuous columns whose values, without missing ones, are clearly not normal."""
    log_p = {}
    for column in columns:
        known = None if column.kind != "continuous" else ~np.isnan(column.values)
        if known is not None and known.any():
            log_p[column.name] = log_p_normal(column.values[known], None if repeats is None else repeats[known])
    far = rejected(np.array(list(log_p.values())))
    return tuple(name for name, is_far in zip(log_p, far, strict=True) if is_far)


def _variable(column: _Column, repeats: NDArray[np.int64] | None) -> VariableOverview:
    """Describe one column."""
    missing = int(np.count_nonzero(column.lacks()))
    if missing == len(column.values):
        levels = column.levels or ()
        return VariableOverview(
            column.name, "empty", len(levels), missing, False, doubtful=column.doubts, unused=(*levels, *column.unused)
        )
    if column.levels is None:
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        return VariableOverview(
            column.name, "continuous", 0, missing, low == high, low=low, high=high, doubtful=column.doubts
        )
    counts = np.bincount(column.values, weights=repeats, minlength=len(column.levels) + 1)[1:]
    top = int(np.argmax(counts))
    return VariableOverview(
        column.name,
        "categorical",
        len(column.levels),
        missing,
        constant=int(np.count_nonzero(counts)) == 1,
        most_common=column.levels[top],
        most_common_count=int(counts[top]),
        doubtful=column.doubts,
        unused=(*(label for label, count in zip(column.levels, counts, strict=True) if not count), *column.unused),
    )


def _duplicated(columns: Sequence[_Column]) -> tuple[tuple[str, ...], ...]:
    """Return groups of columns that split the rows in the same way."""
    groups: dict[bytes, list[str]] = {}
    for column in columns:
        groups.setdefault(_fingerprint(column), []).append(column.name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _fingerprint(column: _Column) -> bytes:
    """Return a digest that is equal for equal numbers, or for codes that differ only in their labels."""
    if column.levels is None:
        numbers = column.values + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # one NaN for all
        return blake2b(numbers.tobytes(), person=b"continuous").digest()
    return split_of_rows(column.values, len(column.levels) + 1)


FloatArray = NDArray[np.float64]

LEVEL = 0.01
"""Corrected p-value up to which the gaps of a column depend on another one."""
MOST_COLUMNS = 200
"""Number of columns whose gaps are tested; those with the most gaps, where there are more."""
_BLOCK = 1 << 14  # rows at a time, so that the indicators take little memory


class GapDependence(NamedTuple):
    """Dependence of the gaps of one column on the values of another.

    Attributes
    ----------
    column, other
        The column with gaps, and the one whose values were compared.
    n_rows
        Rows in which `other` has a value.
    strength
        Cramér's V of "is missing" and the states of `other`; of numbers the size of the correlation. From 0 to 1.
    p, p_corrected
        p-value of the chi-square test, or of the t test of the correlation; corrected for all tests by Holm's method.
    """

    column: str
    other: str
    n_rows: int
    strength: float
    p: float
    p_corrected: float


@dataclass(frozen=True)
class Missingness:
    """Missing values of a table.

    Attributes
    ----------
    n_rows, complete_rows
        Stored rows, and those without a gap.
    counts
        Gaps of each column that has some, the most first.
    fewest
        The two columns with the fewest common rows, and their number; None without gaps or with one column.
    dependences
        Every test of the gaps of a column against another column, the smallest p-value first.
    """

    n_rows: int
    complete_rows: int
    counts: Mapping[str, int]
    fewest: tuple[str, str, int] | None
    dependences: tuple[GapDependence, ...]

    def depends(self, level: float = LEVEL) -> dict[str, list[str]]:
        """Return the columns on which the gaps of each column depend, the clearest first; without those of none."""
        found: dict[str, list[str]] = {}
        for one in self.dependences:
            if one.p_corrected <= level:
                found.setdefault(one.column, []).append(one.other)
        return found


def missingness(source: object, **options: Any) -> Missingness:
    """Count missing values, and test whether the gaps of each column depend on other columns.

    Parameters
    ----------
    source
        Anything that `read` accepts, or a data set with gaps.
    options
        Options of `read`, except `missing`.

    Returns
    -------
    Missingness
        Counts, and one test for each column with gaps and each other column.

    Notes
    -----
    Tests are marginal: gaps that depend on one column go with all columns that are associated with it. Gaps of more
    than 200 columns are counted, and tested for those with the most. One pass over the rows for each column.

    Examples
    --------
    >>> ages = [30, None, 41, None] * 25
    >>> found = missingness({"age": ages, "ward": ["a", "b", "a", "b"] * 25, "sex": ["f", "f", "m", "m"] * 25})
    >>> found.complete_rows, found.depends()
    (50, {'age': ['ward']})
    """
    data = source if isinstance(source, Dataset) and not options else read(source, missing="testwise", **options)
    data.verify()
    masks = {name: mask for name in data.names if (mask := data.observed(name)) is not None}
    counts = {name: int(np.count_nonzero(~mask)) for name, mask in masks.items()}
    counts = {name: counts[name] for name in sorted(counts, key=lambda name: -counts[name]) if counts[name]}
    complete = np.ones(data.n_records, dtype=np.bool_)
    for mask in masks.values():
        complete &= mask
    tested = list(counts)[:MOST_COLUMNS]
    return Missingness(
        n_rows=data.n_records,
        complete_rows=int(np.count_nonzero(complete)),
        counts=counts,
        fewest=_fewest(data, tested, masks),
        dependences=_dependences(data, tested, masks),
    )


def _fewest(data: Dataset, tested: list[str], masks: Mapping[str, NDArray[np.bool_]]) -> tuple[str, str, int] | None:
    """Return the two columns with the fewest common rows; a column without gaps shares all rows of the other."""
    if not tested or data.n_variables < 2:
        return None
    others = [name for name in data.names if name not in masks][:1]
    found = [(int(np.count_nonzero(masks[tested[0]])), tested[0], name) for name in others]
    seen = np.stack([masks[name] for name in tested]).astype(np.float32)
    common = sum(
        (seen[:, k : k + _BLOCK] @ seen[:, k : k + _BLOCK].T).astype(np.int64) for k in range(0, data.n_records, _BLOCK)
    )
    found += [(int(np.asarray(common)[i, j]), tested[i], tested[j]) for j in range(len(tested)) for i in range(j)]
    n_rows, first, second = min(found)
    return first, second, n_rows


def _dependences(data: Dataset, tested: list[str], masks: Mapping[str, NDArray[np.bool_]]) -> tuple[GapDependence, ...]:
    """Test the gaps of some columns against all others; p-values are corrected by the method of Holm."""
    if not tested:
        return ()
    lacks = np.stack([~masks[name] for name in tested], axis=1)
    found: list[GapDependence] = []
    for y, other in enumerate(data.names):
        seen = masks.get(other)
        rows = slice(None) if seen is None else seen
        values, repeats = data.columns[y][rows], None if data.repeats is None else data.repeats[rows]
        test = _of_states if data.cards[y] else _of_numbers
        n_rows = len(values)
        for column, (strength, p) in zip(tested, test(values, lacks[rows], repeats), strict=True):
            if column != other:
                found.append(GapDependence(column, other, n_rows, strength, p, 1.0))
    return _corrected(found)


def _corrected(found: list[GapDependence]) -> tuple[GapDependence, ...]:
    """Return the tests by ascending p-value, corrected for their number by Holm's method."""
    ordered = sorted(found, key=lambda one: (one.p, -one.strength))
    p = np.array([one.p for one in ordered])
    corrected = np.minimum(np.maximum.accumulate(p * np.arange(len(p), 0, -1)), 1.0)
    return tuple(one._replace(p_corrected=float(value)) for one, value in zip(ordered, corrected, strict=True))


def _blocks(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> Iterator[tuple[NDArray[Any], FloatArray, FloatArray]]:
    """Yield some rows at a time: values, indicators of gaps, and how often each row occurred."""
    for k in range(0, len(values), _BLOCK):
        part = slice(k, k + _BLOCK)
        weight = np.ones(len(values[part])) if repeats is None else repeats[part].astype(np.float64)
        yield values[part], lacks[part].astype(np.float64), weight


def _of_states(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> list[tuple[float, float]]:
    """Return Cramér's V and the p-value of the chi-square test of each indicator and the states of a column."""
    from scipy.special import gammaincc

    states, codes = np.unique(values, return_inverse=True)
    missing, total = np.zeros((len(states), lacks.shape[1])), np.zeros(len(states))
    for part, gaps, weight in _blocks(codes.reshape(-1), lacks, repeats):
        total += np.bincount(part, weights=weight, minlength=len(states))
        for j in range(gaps.shape[1]):
            missing[:, j] += np.bincount(part, weights=weight * gaps[:, j], minlength=len(states))
    n, share = total.sum(), missing.sum(0) / max(total.sum(), 1.0)
    expected = np.outer(total, share)
    with np.errstate(divide="ignore", invalid="ignore"):  # no gaps among these rows, or nothing but gaps
        statistic = ((missing - expected) ** 2 / expected / (1.0 - share)).sum(0)
    decided = (share > 0) & (share < 1) & (len(states) > 1)
    statistic = np.where(decided, statistic, 0.0)
    p = np.where(decided, gammaincc((max(len(states), 2) - 1) / 2, statistic / 2), 1.0)
    return list(zip(np.sqrt(statistic / max(n, 1.0)).tolist(), p.tolist(), strict=True))


def _of_numbers(
    values: NDArray[Any], lacks: NDArray[np.bool_], repeats: NDArray[Any] | None
) -> list[tuple[float, float]]:
    """Return the size of the correlation and its p-value by the t test of each indicator and the values of a column."""
    from scipy.special import stdtr

    weight = np.ones(len(values)) if repeats is None else repeats.astype(np.float64)
    n = weight.sum()
    scale = float(np.abs(values).max(initial=0.0)) or 1.0  # squares of large numbers overflow
    centred = values / scale - (weight @ (values / scale)) / max(n, 1.0)
    product, gaps_sum = np.zeros(lacks.shape[1]), np.zeros(lacks.shape[1])
    for part, gaps, weights in _blocks(centred, lacks, repeats):
        product += (weights * part) @ gaps
        gaps_sum += weights @ gaps
    spread = gaps_sum * (1.0 - gaps_sum / max(n, 1.0)) * (weight @ centred**2)
    decided = (spread > 0) & (n > 2)
    r = np.where(decided, np.abs(product) / np.sqrt(np.where(decided, spread, 1.0)), 0.0).clip(0.0, 1.0)
    dof = max(n - 2, 1.0)
    p = np.where(decided, 2 * stdtr(dof, -r * np.sqrt(dof / np.maximum(1 - r**2, 1e-300))), 1.0)
    return list(zip(r.tolist(), p.tolist(), strict=True))
