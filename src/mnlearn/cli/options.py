"""Options of the commands, each declared once, and the groups that several commands share.

A group is a dataclass whose fields are options. A command takes groups as arguments; `expand_groups` makes of it the
function that typer needs, with one argument for each option.

Options that choose the pairs of variables that may be edges.
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import Field, dataclass, fields
from functools import partial
from inspect import Parameter, Signature, get_annotations, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from mnlearn.cli.console import check_files, file_uses, reads, show_json
from mnlearn.errors import InputError, check_file

if TYPE_CHECKING:
    from mnlearn.data.readers import SourceWithOptions


def option(metavar: str, help: str, *names: str, **settings: Any) -> Any:
    """Declare an option that takes a value."""
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def flag(name: str, help: str) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=help)


def argument(metavar: str, help: str) -> Any:
    """Declare a positional argument."""
    return typer.Argument(metavar=metavar, help=help)


def _registry() -> dict[str, dict[str, str]]:
    """Return the names in the tables of the registry, each with the kind of method: by which judge, for which data.

    The names come from the source: importing the registry loads numpy, which --help and completion do without.
    """
    source = Path(__file__).parents[1] / "learning" / "registry.py"
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Dict):
            table = found[node.target.id] = {}
            for key, entry in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(entry, ast.Call):
                    kind = "score" if len(entry.args) > 2 else "test"
                    if any(keyword.arg == "own_judge" for keyword in entry.keywords):
                        kind = "continuous" if "continuous" in ast.unparse(entry.args[0]) else "own"
                    table[str(key.value)] = kind
    return found


_NAMES = _registry()


def named(table: str, help: str, *names: str) -> Any:
    """Declare an option that takes a name of the registry; `{names}` in the help lists the names of the table."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in _NAMES[table] if name.startswith(incomplete)]

    kinds = {"names": ", ".join(_NAMES[table])}
    for kind in _NAMES[table].values():
        kinds[kind] = ", ".join(name for name, other in _NAMES[table].items() if other == kind)
    return option("NAME", help.format(**kinds), *names, autocompletion=complete)


Data = Annotated[
    str, reads(argument("DATA", "CSV, TSV or Parquet file, also gzipped; .xlsx, .sav or .dta; or a packed file."))
]
GraphFile = Annotated[str, reads(argument("GRAPH", "Graph file; its variables are matched by name."))]
Jobs = Annotated[
    int | None,
    option("K", "Number of threads or processes; -1 means all cores. Changes no result.", "--jobs", "--n-jobs"),
]
Device = Annotated[str | None, option("NAME", "GPU for binary data, e.g. cuda; needs PyTorch. Changes no result.")]

# How a file is read and its columns are prepared.
MissingValue = Annotated[list[str] | None, option("TEXT", "String that marks a missing value, e.g. '?'; repeatable.")]
Delimiter = Annotated[str | None, option("CHAR", "Cell separator; by default from the file extension.")]
RowNames = Annotated[bool, flag("--row-names", "The first column holds the names of the rows.")]
Transpose = Annotated[bool, flag("--transpose", "The rows are the variables; the first cell is the name.")]
Decimal = Annotated[str | None, option("MARK", "Decimal mark of the numbers, e.g. ','; a point by default.")]
Sheet = Annotated[str | None, option("NAME", "Sheet of an .xlsx workbook; the first one by default.")]
Levels = Annotated[list[str] | None, option("COL=A,B", "States of a column in order; repeatable. Found by default.")]
Missing = Annotated[
    str | None,
    option(
        "error|testwise|drop_rows|category",
        "Treatment of missing values; error by default. testwise: each test and model uses the rows in which its own "
        "variables are observed.",
        show_default=False,
    ),
]
Discretize = Annotated[
    str | None, option("width|frequency", "Cut continuous columns into states of equal width or frequency.")
]

Transform = Annotated[
    str | None,
    option(
        "auto|normal_scores|none",
        "Replace the values of continuous columns by normal scores of their ranks; auto, the default, does so if a "
        "column is far from normal.",
        show_default=False,
    ),
]

# What is learned and by which method.
Method = Annotated[
    str | None,
    named(
        "METHODS",
        "By default sep, or gsimn if a test is named. By tests: {test}. By a score: {score}. Others: {own}; for "
        "continuous columns {continuous}.",
    ),
]
Score = Annotated[str | None, named("SCORES", "Score of mbs, hillclimb and exhaustive: {names}.")]
Set = Annotated[
    list[str] | None, option("NAME=VALUE", "Setting of the method, e.g. propagation=false; repeatable.", "--set")
]
Columns = Annotated[
    list[str] | None,
    option("COL", "Use only these columns, e.g. A1:O5,age; repeatable.", "--column", "--columns"),
]
Test = Annotated[
    str | None,
    named(
        "TESTS",
        "{names}; by default chi2 (g2 to learn by pc or hhc-mn) for nominal, pcor for continuous, else mixed.",
    ),
]
Alpha = Annotated[
    float | None,
    option(
        "P",
        "Significance level: dependent if p <= P. 0.05 by default; 0.01 to learn by gsmn, gsmn*, gsimn or gsimn-fch.",
    ),
]
Dof = Annotated[
    str | None,
    option(
        "adjusted|observed|all",
        "Degrees of freedom of chi2 and g2. Adjusted by default; observed to learn by gsmn, gsmn*, gsimn or gsimn-fch.",
    ),
]
Prior = Annotated[float | None, option("P", "bayes, bayes-pcor: prior probability of independence; 0.5 by default.")]
Seed = Annotated[int | None, option("S", "mi: seed of the permutations; 0 by default.")]

# Where it runs and what is printed.
Cluster = Annotated[str | None, option("ADDRESS", "Dask scheduler whose workers count a packed file or fit models.")]
Debug = Annotated[bool, flag("--debug", "Show a traceback when something fails.")]


@dataclass(frozen=True, kw_only=True)
class OptionGroup:
    """Options that belong together; None means that an option was not given."""

    def given(self) -> dict[str, Any]:
        """Return the options that were given."""
        return drop_none(**vars(self))


def drop_none(**options: Any) -> dict[str, Any]:
    """Drop the options that were not given."""
    return {name: value for name, value in options.items() if value is not None}


def transform_argument(given: str | None) -> dict[str, Any]:
    """Return the argument `transform` of the library if the option was given."""
    return {} if given is None else {"transform": None if given == "none" else given}


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with one argument for each option of its groups; its files are checked before it runs."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}

    def expanded(**given: Any) -> None:
        check_files(uses, given)
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            types = get_type_hints(groups[name], include_extras=True)
            parameters += [
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
                for field in _own_fields_first(groups[name])
            ]
        else:
            parameters.append(parameter.replace(annotation=hints[name]))
    uses = file_uses(parameters)
    expanded.file_uses = uses  # type: ignore[attr-defined]
    expanded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    expanded.__name__, expanded.__doc__ = command.__name__, command.__doc__
    return expanded


def skip_conversions(command: Any, parent: typer.Context | None = None) -> Any:
    """Let a command and its subcommands take strings, and options that were not given, as they are.

    typer would build a pydantic adapter for each of them, which takes longer than reading a small file.
    """
    context = typer.Context(command, parent, **command.context_settings)
    types = getattr(command.callback, "__annotations__", {})
    for parameter in command.get_params(context):  # with --help
        is_string = get_args(types.get(parameter.name))[:1] in ((str,), (str | None,))
        parameter.process_value = partial(_process_value, parameter, parameter.process_value, is_string)
    for part in getattr(command, "commands", {}).values():
        skip_conversions(part, context)
    return command


def _process_value(parameter: Any, convert: Callable[..., Any], is_string: bool, context: Any, value: Any) -> Any:
    """Return the value of an option, converted if need be."""
    if not (isinstance(value, str) and is_string) and (value is not None or parameter.required):
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _own_fields_first(group: type[OptionGroup]) -> list[Field[Any]]:
    """Return the fields of a group before those that it inherits, so that --help lists the special options first."""
    owner = {name: depth for depth, base in reversed([*enumerate(group.__mro__)]) for name in get_annotations(base)}
    return sorted(fields(group), key=lambda field: owner[field.name])


@dataclass(frozen=True, kw_only=True)
class OutputOptions(OptionGroup):
    """JSON or text, and tracebacks."""

    as_json: Annotated[bool, flag("--json", "Print one JSON document instead of text.")] = False
    debug: Debug = False

    def show(self, document: Callable[[], object], text: Callable[[], object]) -> None:
        """Print the JSON document or the text."""
        if self.as_json:
            show_json(document())
        else:
            text()


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(OptionGroup):
    """How a file is read."""

    missing_value: MissingValue = None
    categorical: Annotated[list[str] | None, option("COL", "Read this column as categorical; repeatable.")] = None
    continuous: Annotated[list[str] | None, option("COL", "Read this column as continuous; repeatable.")] = None
    nominal: Annotated[list[str] | None, option("COL", "Read this column as labels; repeatable.")] = None
    ordinal: Annotated[
        list[str] | None, option("COL", "Read this column as labels in an order, e.g. A1:O5; repeatable.")
    ] = None
    count: Annotated[
        list[str] | None, option("COL", "Read this column as counts, whole numbers from 0; repeatable.")
    ] = None
    levels: Levels = None
    repeats: Annotated[str | None, option("COL", "Column that holds how often each row occurs.")] = None
    delimiter: Delimiter = None
    drop: Annotated[list[str] | None, option("COL", "Leave out these columns, e.g. id,age; repeatable.")] = None
    row_names: RowNames = False
    transpose: Transpose = False
    decimal: Decimal = None
    sheet: Sheet = None

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of the readers."""
        return {
            "types": self._types(),
            "levels": declared_levels(self.levels),
            "missing_values": self.missing_value or (),
            "repeats": self.repeats,
            "delimiter": "\t" if self.delimiter in ("\\t", "tab") else self.delimiter,  # a tab is hard to type
            "drop": self.drop or (),
            "row_names": self.row_names,
            "transpose": self.transpose,
            "decimal": self.decimal,
            "sheet": self.sheet,
        }

    def _types(self) -> dict[str, str]:
        """Return the type of each column that has one."""
        found: dict[str, str] = {}
        for kind in ("categorical", "continuous", "nominal", "ordinal", "count"):
            for name in getattr(self, kind) or ():
                if found.setdefault(name, kind) != kind:
                    raise InputError(
                        f"a column must have one type; got {name!r} as --{found[name]} and as --{kind}. Drop one."
                    )
        return found


@dataclass(frozen=True, kw_only=True)
class NewRowOptions(OptionGroup):
    """How a file of new rows is read for a model, which knows its columns and their types."""

    missing_value: MissingValue = None
    delimiter: Delimiter = None
    row_names: RowNames = False
    transpose: Transpose = False
    decimal: Decimal = None
    sheet: Sheet = None

    def rows(self, path: str) -> SourceWithOptions:
        """Return the file with its options."""
        from mnlearn.data.readers import SourceWithOptions

        form = ReadingOptions(**vars(self)).keywords()
        return SourceWithOptions(path, {name: value for name, value in form.items() if value})


@dataclass(frozen=True, kw_only=True)
class InputOptions(ReadingOptions):
    """How a file is read, and what is done to its columns."""

    discretize: Discretize = None
    weights: Annotated[
        str | None, option("COL", "Column of survey weights; the number of rows is the effective sample size.")
    ] = None
    bins: Annotated[int | None, option("K", "Number of states to cut into; 1 + log2(rows) by default.")] = None
    missing: Missing = None

    def arguments(
        self, call: Callable[..., Any] | None = None, pairs: list[str] | None = None, **others: Any
    ) -> dict[str, Any]:
        """Return keyword arguments: the options of this group, the others that were given, and those of --set.

        Parameters
        ----------
        call
            The function that gets the arguments.
        pairs
            The values of --set.
        **others
            Options of other groups; None for those that were not given.
        """
        prepare = {"discretize": self.discretize, "bins": self.bins, "missing": self.missing, "weights": self.weights}
        found = {**self.keywords(), **drop_none(**prepare, **others)}
        return found if call is None else found | settings(pairs, call, found)


@dataclass(frozen=True, kw_only=True)
class MethodOptions(InputOptions):
    """Columns to learn from, and the method."""

    method: Method = None
    set_: Set = None
    column: Columns = None
    transform: Transform = None
    jobs: Jobs = None

    def learn_arguments(self, **others: Any) -> dict[str, Any]:
        """Return the keyword arguments of `mnlearn.learn`."""
        from mnlearn.learning import learn

        own = {"method": self.method, "columns": self.column, "n_jobs": self.jobs}
        return self.arguments(learn, self.set_, **own, **others) | transform_argument(self.transform)


@dataclass(frozen=True, kw_only=True)
class LearnOptions(MethodOptions):
    """Columns to learn from, the method, and what counts."""

    device: Device = None

    def learn_arguments(self, **others: Any) -> dict[str, Any]:
        """Return the keyword arguments of `mnlearn.learn`."""
        return super().learn_arguments(device=self.device, **others)


@dataclass(frozen=True, kw_only=True)
class TestOptions(OptionGroup):
    """An independence test with its settings."""

    test: Test = None
    alpha: Alpha = None
    dof: Dof = None
    prior: Prior = None
    threshold: Annotated[float | None, option("NATS", "mi: dependent above this value; no permutations.")] = None
    n_permutations: Annotated[
        int | None, option("K", "mi: number of permutations; 199 by default.", "--permutations", "--n-permutations")
    ] = None
    seed: Seed = None


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(OptionGroup):
    """A test or a score with its most common settings; --set has the others."""

    test: Test = None
    score: Score = None
    alpha: Alpha = None
    prior: Prior = None


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(OptionGroup):
    """The workers that count."""

    cluster: Cluster = None

    def client(self) -> AbstractContextManager[Any]:
        """Return a context manager that provides a client of the cluster; None without a cluster."""
        if self.cluster is None:
            return nullcontext()
        from mnlearn.parallel import joined

        return joined(self.cluster)


def settings(pairs: list[str] | None, call: Callable[..., Any], given: Collection[str]) -> dict[str, Any]:
    """Return the settings of a method or a score from the values of --set.

    Raises
    ------
    InputError
        If a value is malformed, or names an argument of the call or an option that was given.
    """
    from mnlearn.learning.inputs import READING

    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, sign, text = pair.partition("=")
        if not sign or not name.strip() or not text.strip():
            raise InputError(f"--set must have the form NAME=VALUE; got {pair!r}. Write for example propagation=false.")
        key = name.strip().replace("-", "_")
        if key in found:
            raise InputError(f"--set must name each setting once; got {key} twice. Drop one.")
        if key in signature(call).parameters or key in READING:
            raise InputError(
                f"--set is for settings of a method or a score; got {pair!r}. Use the option for it; --help lists them."
            )
        if key in given:
            raise InputError(f"--set must not repeat an option; got {pair!r}. Drop one of the two.")
        found[key] = _setting_value(text.strip())
    return found


def _setting_value(text: str) -> Any:
    """Return the value of a setting: true, false and none in any case, JSON, or else the string itself."""
    word = text.lower()
    try:
        return json.loads({"none": "null", "true": "true", "false": "false", "null": "null"}.get(word, text))
    except (ValueError, RecursionError):
        return text


def declared_levels(texts: list[str] | None) -> dict[str, list[str]] | None:
    """Return the declared levels of columns; a label with a comma must be in double quotes."""
    found = {}
    for text in texts or ():
        name, sign, listed = text.partition("=")
        labels = next(csv.reader([listed]), [])
        if not sign or not name or not all(labels) or not labels:
            raise InputError(f"--levels must have the form COL=A,B; got {text!r}. Separate the states by commas.")
        found[name] = labels
    return found or None


@dataclass(frozen=True, kw_only=True)
class CandidateOptions(OptionGroup):
    """Candidates of a search among many variables."""

    candidates: Annotated[
        str | None,
        reads(
            option(
                "screen|all|FILE",
                "Pairs that may be edges: the strongest of each variable and those found on the way, all, or those of "
                "a screen or graph file. All by default, and of more than 5000 variables a screen.",
            )
        ),
    ] = None
    k: Annotated[
        int | None, option("K", "--candidates screen: partners of each variable; 20 by default.", "-k", "--k")
    ] = None
    no_rescans: Annotated[
        bool, flag("--no-rescans", "Screened searches do not scan all variables again: faster, finds less.")
    ] = False

    def given(self) -> dict[str, Any]:
        """Return the options that were given, a file as its pairs."""
        return drop_none(candidates=_source(self.candidates), k=self.k, rescans=False if self.no_rescans else None)


def _source(text: str | None) -> Any:
    """Return the word, or what the file holds."""
    if text is None or text in ("screen", "all"):
        return text
    from mnlearn.results.targets import MARK, Screened

    with check_file("--candidates", text).open("rb") as file:
        if file.read(len(MARK)) == MARK or Path(text).suffix == ".mns":
            return Screened.load(text)
    from mnlearn.graphs.formats import read_graph

    return [(u, v) for u, v, _ in read_graph(text).named_edges()]
