"""Options that several verbs share, and what they mean to the readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Annotated, Any, Literal, TypedDict, cast

import typer

from mnlearn.errors import InputError

Data = Annotated[str, typer.Argument(metavar="DATA", help="A CSV, TSV or Parquet file, also gzipped.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="K", help="How many threads or processes may work; by default all cores. Changes no result."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="A Dask scheduler whose workers count a packed file that all see, or fit models."
    ),
]
Workers = Annotated[
    int | None, typer.Option(metavar="K", help="The same by K processes of this machine, started for it.")
]
MaxMemory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="What caches may hold, such as 500M or 2G; no wall for the rest.")
]
Checkpoint = Annotated[
    str | None, typer.Option(metavar="DIR", help="Keep what was counted in DIR, so that a killed run can go on.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint holds: the same result.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")]

Missing = Annotated[
    str | None,
    typer.Option(metavar="error|drop_rows|category", help="What to do about missing values.", show_default=False),
]
MissingValue = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="A text that marks a missing value, such as '?'; repeatable."),
]
Categorical = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Read this column as categorical; repeatable.")
]
Continuous = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="Read this column as continuous; repeatable.")
]
Repeats = Annotated[str | None, typer.Option(metavar="COL", help="The column that says how often each row occurred.")]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHAR", help="What separates the cells; else the file's name tells.")
]


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """The client of the cluster that was asked for, started and stopped if need be; None if none was."""
    if address is None and workers is None:
        yield None
        return
    if address is not None and workers is not None:
        raise InputError("--cluster and --workers exclude each other; got both. Drop one of the two.")
    from mnlearn import parallel

    with parallel.cluster(address, workers=workers) as client:
        yield client


def size_in_bytes(text: str | None) -> int | None:
    """A size as a user writes it: bytes, or with K, M, G or T."""
    if text is None:
        return None
    number, unit = text[:-1], "KMGT".find(text[-1:].upper())
    try:
        return int(float(number) * 1024 ** (unit + 1)) if unit >= 0 else int(text)
    except ValueError:
        raise InputError(f"--max-memory must be a size such as 500M or 2G; got {text!r}. Leave it out.") from None


class Reading(TypedDict):
    """How to read a file, as keywords of the library's readers."""

    types: dict[str, Literal["categorical", "continuous"]]
    missing_values: Sequence[Hashable]
    repeats: str | None
    delimiter: str | None


def reading(
    categorical: list[str] | None,
    continuous: list[str] | None,
    missing_value: list[str] | None,
    repeats: str | None,
    delimiter: str | None,
) -> Reading:
    """Put the reading options in the terms of the readers."""
    both = sorted({*(categorical or ())} & {*(continuous or ())})
    if both:
        raise InputError(
            f"a column must have one type; got {both[0]!r} as --categorical and as --continuous. Drop one."
        )
    types = dict.fromkeys(categorical or (), "categorical") | dict.fromkeys(continuous or (), "continuous")
    return {
        "types": cast("dict[str, Literal['categorical', 'continuous']]", types),
        "missing_values": missing_value or (),
        "repeats": repeats,
        "delimiter": "\t" if delimiter in ("\\t", "tab") else delimiter,  # shells make a tab hard to type
    }


def settings(pairs: list[str] | None, call: Callable[..., Any], said: Collection[str]) -> dict[str, Any]:
    """Settings of a method or a score as the user writes them: true, 3, 0.5, none or a word.

    Not for what the call has arguments of its own for, nor for what an option has said already.
    """
    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, sign, text = pair.partition("=")
        if not sign or not name.strip() or not text.strip():
            raise InputError(f"--set must have the form NAME=VALUE; got {pair!r}. Write for example propagation=false.")
        key, value = name.strip().replace("-", "_"), text.strip()
        if key in found:
            raise InputError(f"--set must name each setting once; got {key} twice. Drop one.")
        if key in said:
            raise InputError(f"--set must not say again what an option said; got {pair!r}. Drop one of the two.")
        if key in signature(call).parameters:
            raise InputError(
                f"--set is for settings of a method or a score; got {pair!r}, which is neither. Use the option for it; "
                "--help lists them."
            )
        found[key] = setting_value(value)
    return found


def setting_value(text: str) -> Any:
    """What a user means: the words true, false and none in any case, JSON as it stands, else the text itself."""
    word = text.lower()
    try:
        return json.loads({"none": "null", "true": "true", "false": "false", "null": "null"}.get(word, text))
    except ValueError:
        return text
