"""Options that several verbs share."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, Literal, TypedDict, cast, get_type_hints

import typer

from mnlearn.errors import InputError

# Names that a shell can complete.


def complete_methods(incomplete: str) -> list[str]:
    """Methods that begin so."""
    from mnlearn.learning.registry import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_tests(incomplete: str) -> list[str]:
    """Tests that begin so."""
    from mnlearn.learning.registry import TESTS

    return [name for name in TESTS if name.startswith(incomplete)]


def complete_scores(incomplete: str) -> list[str]:
    """Scores that begin so."""
    from mnlearn.learning.registry import SCORES

    return [name for name in SCORES if name.startswith(incomplete)]


Data = Annotated[str, typer.Argument(metavar="DATA", help="A CSV, TSV or Parquet file, also gzipped.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        help="How many threads or processes may work; -1 is all cores, the usual default. Changes no result.",
    ),
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

Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_methods,
        help="sep (the default), with a probability for every edge. By tests: gsmn, gsmn*, gsimn (the default where a "
        "test is named), gsimn-fch, hhc-mn, pc. By a score: ib, bjp, mpl, pic, mbs, "
        "hillclimb, exhaustive. By regressions: l1lr; lasso, l1mb, glasso (continuous). By mutual information: aracne.",
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_scores,
        help="mbs (mpl or ebic by default), hillclimb, exhaustive (bjp): the score, one of ib, bjp, mpl, pic, "
        "entropy, ebic, evidence, evidence-pairwise, evidence-table.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as propagation=false; repeatable."),
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="COL", help="Learn from these columns only; repeatable.")
]

Test = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=complete_tests,
        help="chi2, g2, mi, bayes, score; pcor, bayes-pcor. By default chi2; pcor if all are continuous.",
    ),
]
Alpha = Annotated[float | None, typer.Option(metavar="P", help="Dependent if p is at most this; 0.05 by default.")]
Dof = Annotated[
    str | None,
    typer.Option(metavar="adjusted|observed|all", help="Degrees of freedom of chi2 and g2; adjusted by default."),
]
Prior = Annotated[
    float | None,
    typer.Option(metavar="P", help="bayes, bayes-pcor: probability of independence before the data; 0.5."),
]
Threshold = Annotated[float | None, typer.Option(metavar="NATS", help="mi: dependent above this; no permutations.")]
Permutations = Annotated[int | None, typer.Option(metavar="K", help="mi: how many permutations; 199 by default.")]
Seed = Annotated[int | None, typer.Option(metavar="S", help="mi: seed of the permutations; 0 by default.")]
Discretize = Annotated[
    str | None,
    typer.Option(metavar="width|frequency", help="Cut continuous columns into states of equal width or frequency."),
]
Bins = Annotated[int | None, typer.Option(metavar="K", help="How many states to cut into; by default 1 + log2(rows).")]


def size_in_bytes(text: str | None) -> int | None:
    """A size as a user writes it: bytes, or with K, M, G or T."""
    if text is None:
        return None
    number, unit = text[:-1], "KMGT".find(text[-1:].upper())
    try:
        return int(float(number) * 1024 ** (unit + 1)) if unit >= 0 else int(text)
    except ValueError:
        raise InputError(f"--max-memory must be a size such as 500M or 2G; got {text!r}. Leave it out.") from None


def said(**given: Any) -> dict[str, Any]:
    """What was said: None stands for what was not."""
    return {name: value for name, value in given.items() if value is not None}


def settings(pairs: list[str] | None, call: Callable[..., Any], said: Collection[str]) -> dict[str, Any]:
    """Settings of a method or a score as the user writes them: true, 3, 0.5, none or a word.

    Not for what the call has arguments of its own for, nor for what an option has said already.
    """
    from mnlearn.learning.inputs import READING

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
        if key in signature(call).parameters or key in READING:
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


# Options that go together, declared once.
#
# A bundle is a dataclass whose fields are options. A command takes bundles as arguments; `unbundled` makes of it the
# function that typer sees, with the options themselves.


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Options that go together; None stands for one that was not said."""

    _names: ClassVar[Mapping[str, str]] = {}  # of options whose argument in the library has another name

    def said(self) -> dict[str, Any]:
        """What was said, by the names of the library's arguments."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        return said(**{self._names.get(name, name): value for name, value in given.items()})


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

    missing_value: MissingValue = None
    categorical: Categorical = None
    continuous: Continuous = None
    repeats: Repeats = None
    delimiter: Delimiter = None

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

    discretize: Discretize = None
    bins: Bins = None
    missing: Missing = None


@dataclass(frozen=True, kw_only=True)
class Testing(Bundle):
    """An independence test, with all that it can be told."""

    _names: ClassVar[Mapping[str, str]] = {"permutations": "n_permutations"}
    test: Test = None
    alpha: Alpha = None
    dof: Dof = None
    prior: Prior = None
    threshold: Threshold = None
    permutations: Permutations = None
    seed: Seed = None


@dataclass(frozen=True, kw_only=True)
class Judging(Bundle):
    """A test or a score, with what most people tell it; --set has the rest."""

    test: Test = None
    score: Score = None
    alpha: Alpha = None
    prior: Prior = None


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Bundle):
    """Where else to count than in this process."""

    cluster: Cluster = None
    workers: Workers = None

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
