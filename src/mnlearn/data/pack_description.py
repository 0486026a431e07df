"""Description of a packed file: names, levels and positions as JSON, checked in full before anything relies on it.

A crafted file has right checksums. So checksums find damage, and these rules find everything else.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from math import isnan
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data.dataset import MissingReport
from mnlearn.data.options import MissingPolicy
from mnlearn.errors import DataError

_POLICIES = get_args(MissingPolicy)
_LARGEST = 2**62  # no position, length or count is larger


class Section(NamedTuple):
    """A part of the file: its start, length and checksum (CRC-32)."""

    start: int
    length: int
    checksum: int


class Description(NamedTuple):
    """Everything that the description says."""

    n_records: int
    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...] | None, ...]
    declared: tuple[bool, ...]
    missing: MissingReport
    cuts: Mapping[str, NDArray[np.float64]]
    plane_totals: tuple[int, ...]
    sections: Mapping[str, Section]
    kinds: tuple[Literal["ordinal", "count"] | None, ...]  # None for nominal with levels, and continuous without
    gaps: tuple[bool, ...]
    reasons: Mapping[str, str]

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, 0 if it is continuous."""
        return tuple(0 if labels is None else len(labels) for labels in self.levels)

    @property
    def types(self) -> tuple[type[np.generic], ...]:
        """The type of the values of each variable."""
        pairs = zip(self.cards, self.gaps, strict=True)
        return tuple(_checks.code_type(card + gaps) if card else np.float64 for card, gaps in pairs)


def parse_description(text: bytes) -> Description:
    """Return the description, or raise ValueError with the rule that it breaks."""
    try:
        document = json.loads(text.decode("utf-8"), object_pairs_hook=_object)
        return _description(document)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from None
    except (TypeError, AttributeError, InvalidOperation, OverflowError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise ValueError if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _description(document: dict[str, Any]) -> Description:
    variables = _listed("variables", document["variables"])
    names = tuple(_string("a name", variable["name"]) for variable in variables)
    _checks.check_names(names)
    if not names:
        raise ValueError("it has no variables")
    levels = tuple(_levels(name, v["levels"]) for name, v in zip(names, variables, strict=True))
    return Description(
        n_records=_whole("n_records", document["n_records"], least=1),
        names=names,
        levels=levels,
        declared=tuple(_flag(variable["declared"]) for variable in variables),
        missing=_missing(document["missing"]),
        cuts=_cuts(document["cuts"], names),
        plane_totals=tuple(_whole("a plane total", n) for n in _listed("plane_totals", document["plane_totals"])),
        sections={name: _section(name, part) for name, part in document["sections"].items()},
        kinds=tuple(_kind(variable, labels) for variable, labels in zip(variables, levels, strict=True)),
        gaps=tuple(_flag(variable.get("gaps", False)) for variable in variables),
        reasons={
            name: _string("a reason", v["reason"]) for name, v in zip(names, variables, strict=True) if "reason" in v
        },
    )


def _kind(written: dict[str, Any], levels: tuple[Hashable, ...] | None) -> Literal["ordinal", "count"] | None:
    """Return the kind of a variable, which fits its levels."""
    kind = written.get("kind")
    if kind not in ("ordinal", "count", None):
        raise ValueError(f"the kind of a variable is {str(kind)[:40]!r}")
    if kind is not None and (kind == "count") is (levels is not None):
        raise ValueError(f"a variable with {len(levels or ())} levels is of the kind {kind!r}")
    return kind


def _levels(name: str, written: Any) -> tuple[Hashable, ...] | None:
    """Return the labels of a variable, different and hashable; None for a continuous one."""
    if written is None:
        return None
    labels = tuple(from_json(label) for label in _listed("levels", written))
    if not labels:
        raise ValueError(f"levels of {name!r} are empty")
    _checks.check_labels(name, len(labels), labels)
    return labels


def _missing(written: dict[str, Any]) -> MissingReport:
    policy = written["policy"]
    if policy not in _POLICIES:
        raise ValueError(f"the policy for missing values is {policy!r}")
    counts = {_string("a name", name): _whole("a count", n) for name, n in written["counts"].items()}
    alone = {_string("a name", name): _whole("a count", n) for name, n in written.get("alone", {}).items()}
    dropped = _whole("rows_dropped", written["rows_dropped"])
    return MissingReport(policy, MappingProxyType(counts), dropped, MappingProxyType(alone))


def _cuts(written: dict[str, Any], names: Sequence[str]) -> Mapping[str, NDArray[np.float64]]:
    """Return the cut points of each variable, in ascending order."""
    for name, cuts in written.items():
        if name not in names:
            raise ValueError(f"there are cuts of {name!r}, which is not a variable")
        if not all(type(cut) in (int, float) for cut in _listed("cuts", cuts)) or any(a > b for a, b in pairwise(cuts)):
            raise ValueError(f"the cuts of {name!r} are not ascending numbers")
    found = {name: np.array(cuts, dtype=np.float64) for name, cuts in written.items()}
    if any(np.isnan(cuts).any() for cuts in found.values()):
        raise ValueError("a cut is NaN")
    return MappingProxyType(found)


def _section(name: str, part: Any) -> Section:
    if len(_listed("a section", part)) != 3:
        raise ValueError(f"section {name!r} is not a start, a length and a checksum")
    return Section(*(_whole(f"section {name!r}", number) for number in part))


def _whole(what: str, value: Any, *, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= _LARGEST:
        raise ValueError(f"{what} must be a whole number of at least {least}; got {str(value)[:40]}")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"declared and gaps must be true or false; got {str(value)[:40]}")
    return value


def _listed(what: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{what} must be a list; got {str(value)[:40]}")
    return value


def _string(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string; got {str(value)[:40]}")
    value.encode()  # lone surrogates raise UnicodeEncodeError, a ValueError
    return value


# Labels of states as JSON and back, with their types. A subclass comes before its parent: a datetime is a date too.
_WRITERS: tuple[tuple[type, str, Callable[[Any], object]], ...] = (
    (dt.datetime, "datetime", lambda label: label.isoformat()),
    (dt.date, "date", lambda label: label.isoformat()),
    (dt.time, "time", lambda label: label.isoformat()),
    (dt.timedelta, "timedelta", lambda label: [label.days, label.seconds, label.microseconds]),
    (Decimal, "decimal", str),
    (UUID, "uuid", str),
    (bytes, "bytes", lambda label: label.hex()),
    (tuple, "tuple", lambda label: [as_json(part) for part in label]),
)
_READERS: Mapping[str, Callable[[Any], Hashable]] = {
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "decimal": Decimal,
    "uuid": UUID,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(from_json(part) for part in _listed("a tuple", parts)),
}


def as_json(label: Hashable) -> object:
    """Return a label for JSON; a type that JSON lacks becomes an object with one entry, the type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    for kind, name, write in _WRITERS:
        if isinstance(label, kind):
            return _kept(label, {name: write(label)})
    plain = getattr(label, "item", None)  # NumPy scalars
    if callable(plain):
        return _kept(label, as_json(plain()))
    raise DataError(
        f"labels must be strings, numbers, booleans, dates, times or bytes to be written to a file; got {label!r}. "
        "Turn them into strings first."
    )


def _kept(label: Hashable, written: object) -> object:
    """Return what is written for a label, or raise DataError if another label would be read."""
    if from_json(written) != label:
        raise DataError(
            f"labels must keep their value in a file, times in microseconds; got {label!r}. Round the labels, or turn "
            "them into strings first."
        )
    return written


def from_json(value: Any) -> Hashable:
    """Return the label that `as_json` wrote, or raise ValueError, TypeError or KeyError."""
    if isinstance(value, dict):
        ((kind, written),) = value.items()
        label = _READERS[kind](written)
        hash(label)  # a signalling NaN of decimal has none
        return label
    if isinstance(value, str):
        return _string("a label", value)
    if value is not None and type(value) not in (bool, int, float):
        raise ValueError(f"a label must be a string or a number; got {str(value)[:40]}")
    if isinstance(value, float) and isnan(value):
        raise ValueError("a label is NaN")
    return value  # type: ignore[no-any-return]
