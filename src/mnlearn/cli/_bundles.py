"""Options that go together, declared once.

A bundle is a dataclass whose fields are options. A command takes bundles as arguments; `unbundled` makes of it the
function that typer sees, with the options themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, Literal, TypedDict, cast, get_type_hints

from mnlearn.cli import _options as options
from mnlearn.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Options that go together; None stands for one that was not said."""

    _names: ClassVar[Mapping[str, str]] = {}  # of options whose argument in the library has another name

    def said(self) -> dict[str, Any]:
        """What was said, by the names of the library's arguments."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        return options.said(**{self._names.get(name, name): value for name, value in given.items()})


def unbundled(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its bundles in their place."""
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Bundle)}

    def called(**given: Any) -> None:
        for name, bundle in bundles.items():
            given[name] = bundle(**{option.name: given.pop(option.name) for option in fields(bundle)})
        command(**given)

    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in bundles:
            parameters += _options_of(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name]))
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    return called


def _options_of(bundle: type[Bundle]) -> Iterator[Parameter]:
    """The options of a bundle as arguments of a function."""
    hints = get_type_hints(bundle, include_extras=True)
    for option in fields(bundle):
        yield Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name])


class ReaderKeywords(TypedDict):
    """How to read a file, as keywords of the library's readers."""

    types: dict[str, Literal["categorical", "continuous"]]
    missing_values: Sequence[Hashable]
    repeats: str | None
    delimiter: str | None


@dataclass(frozen=True, kw_only=True)
class Reading(Bundle):
    """How a file is read."""

    missing_value: options.MissingValue = None
    categorical: options.Categorical = None
    continuous: options.Continuous = None
    repeats: options.Repeats = None
    delimiter: options.Delimiter = None

    def keywords(self) -> ReaderKeywords:
        """The same in the terms of the readers."""
        categorical, continuous = self.categorical or (), self.continuous or ()
        both = sorted({*categorical} & {*continuous})
        if both:
            raise InputError(
                f"a column must have one type; got {both[0]!r} as --categorical and as --continuous. Drop one."
            )
        types = dict.fromkeys(categorical, "categorical") | dict.fromkeys(continuous, "continuous")
        return {
            "types": cast("dict[str, Literal['categorical', 'continuous']]", types),
            "missing_values": self.missing_value or (),
            "repeats": self.repeats,
            "delimiter": "\t" if self.delimiter in ("\\t", "tab") else self.delimiter,  # shells make a tab hard to type
        }


@dataclass(frozen=True, kw_only=True)
class Preparing(Bundle):
    """What is done to the columns that were read."""

    discretize: options.Discretize = None
    bins: options.Bins = None
    missing: options.Missing = None


@dataclass(frozen=True, kw_only=True)
class Testing(Bundle):
    """An independence test, with all that it can be told."""

    _names: ClassVar[Mapping[str, str]] = {"permutations": "n_permutations"}
    test: options.Test = None
    alpha: options.Alpha = None
    dof: options.Dof = None
    prior: options.Prior = None
    threshold: options.Threshold = None
    permutations: options.Permutations = None
    seed: options.Seed = None


@dataclass(frozen=True, kw_only=True)
class Judging(Bundle):
    """A test or a score, with what most people tell it; --set has the rest."""

    test: options.Test = None
    score: options.Score = None
    alpha: options.Alpha = None
    prior: options.Prior = None


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Bundle):
    """Where else to count than in this process."""

    cluster: options.Cluster = None
    workers: options.Workers = None

    @contextmanager
    def client(self) -> Iterator[Any]:
        """The client of the cluster that was asked for, started and stopped if need be; None if none was."""
        if self.cluster is None and self.workers is None:
            yield None
            return
        if self.cluster is not None and self.workers is not None:
            raise InputError("--cluster and --workers exclude each other; got both. Drop one of the two.")
        from mnlearn import parallel

        with parallel.cluster(self.cluster, workers=self.workers) as client:
            yield client
