"""Configuration files, for runs that are repeated: TOML with the names of the options.

    data = "survey.csv"
    method = "mpl"
    column = ["stress", "fatigue", "headaches"]
    bootstrap = 200

    [set]
    combine = "phase2"

Options on the command line override those of the file. `data` is the first argument; `[set]` holds the values of --set.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mnlearn.cli.console import reads, writes
from mnlearn.cli.options import option, setting_value
from mnlearn.errors import FileError, InputError, read_bytes, unknown_name

_MOST_BYTES = 1 << 20
_MOST_PARTS = 100
_PIECES = re.compile(r"[=,{}\[\]]")
_NOT_IN_FILES = {"_config", "save_config_", "debug", "help"}


def _read_config(context: typer.Context, path: str | None) -> str | None:
    """Make the options of a file the defaults of the command."""
    if path is not None and not context.resilient_parsing:
        known = _by_name(context)
        known |= {word.lstrip("-"): parameter for parameter in known.values() for word in parameter.opts[1:]}
        defaults: dict[str, Any] = {}
        for name, value in _toml(path).items():
            parameter = known.get(name.replace("_", "-"))
            if parameter is None:
                raise InputError(f"--config {path!r}: {unknown_name('option', name, known, shown=40)}")
            defaults[parameter.name] = _value(parameter, name, value, path)
        context.default_map = defaults
    return path


Config = Annotated[
    str | None,
    reads(option("FILE", "Read options from a TOML file.", "--config", is_eager=True, callback=_read_config)),
]
SaveConfig = Annotated[
    str | None, writes(option("FILE", "Write the options of this run to a TOML file.", "--save-config"))
]


def save_config(context: typer.Context, path: str | None) -> None:
    """Write the options that were given, on the command line or in a file, in the order of --help."""
    if path is None:
        return
    from mnlearn.graphs.formats import write_whole

    given: dict[str, Any] = {}
    for name, parameter in _by_name(context).items():
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP", "ENVIRONMENT"):
            given[name] = context.params[parameter.name]
    settings = given.pop("set", None) or ()
    lines = [f"{name} = {_as_toml(value)}" for name, value in given.items() if value is not None]
    if settings:
        pairs = (text.partition("=") for text in settings)
        lines += ["", "[set]", *(f"{_key(name.strip())} = {_as_toml(_setting(text))}" for name, _, text in pairs)]
    write_whole(path, "\n".join(lines) + "\n")


def _by_name(context: typer.Context) -> dict[str, Any]:
    """Return the parameters of the command, under the names that a file uses."""
    found = {}
    for parameter in context.command.params:
        if parameter.name not in _NOT_IN_FILES:
            words = [word for word in parameter.opts if word.startswith("--")]
            found[(words[0] if words else parameter.name).lstrip("-").replace("_", "-")] = parameter
    return found


def _toml(path: str) -> dict[str, Any]:
    """Read a TOML file."""
    content = read_bytes("--config", path)
    if len(content) > _MOST_BYTES:
        raise FileError(f"--config {path!r} must have at most {_MOST_BYTES:,} bytes. Is it a file of options?")
    try:
        text = content.decode("utf-8-sig")
        _check_keys(path, text)
        return tomllib.loads(text)
    except RecursionError:
        raise FileError(f"--config {path!r} must not be nested so deeply. Write one option per line.") from None
    except ValueError as error:  # bad TOML or a bad encoding
        if isinstance(error, FileError):
            raise
        raise FileError(f'--config {path!r} is not valid TOML: {error}. Write for example: method = "sep".') from error


def _check_keys(path: str, text: str) -> None:
    """Raise FileError for a key of very many parts, which takes the parser a time that grows with their square."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MOST_PARTS and any(part.count(".") > _MOST_PARTS for part in _PIECES.split(line)):
            raise FileError(
                f"--config {path!r} must have keys of at most {_MOST_PARTS} parts; line {number} has more. Write one "
                "option per line."
            )


def _value(parameter: Any, name: str, value: Any, path: str) -> Any:
    """Return a value of the file in the form that the command line has."""
    if name == "set" and isinstance(value, Mapping):
        return [_pair(key, item, path) for key, item in value.items()]
    flag = bool(getattr(parameter, "is_flag", False))
    many = parameter.multiple if hasattr(parameter, "multiple") else False
    items = value if isinstance(value, list) else [value]
    fits = isinstance(value, bool) if flag else not any(isinstance(item, bool | Mapping | list) for item in items)
    if not fits or (isinstance(value, list) and not many):
        kind = "true or false" if flag else "a list of strings" if many else "a string or a number"
        raise InputError(f"--config {path!r}: {name} must be {kind}; got {value!r}. Write it as the option takes it.")
    return [str(item) for item in items] if many else value if flag else str(value)


def _pair(key: str, item: Any, path: str) -> str:
    """Return a setting as --set takes it."""
    try:
        text = item if isinstance(item, str) else json.dumps(item)
    except TypeError:
        text = ""
    if not text or "=" in key:
        raise InputError(
            f"--config {path!r}: [set] must hold names without '=' and numbers, strings, true, false or lists of them; "
            f"got {key!r}: {item!r}. Write it as --set takes it."
        )
    return f"{key}={text}"


def _key(name: str) -> str:
    """Return a key, bare where TOML allows it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _as_toml(name)


def _setting(text: str) -> Any:
    """Return the value of a setting; none stays a string because TOML has no null."""
    value = setting_value(text.strip())
    return text.strip() if value is None or isinstance(value, dict) else value


def _as_toml(value: Any) -> str:
    """Return a value in TOML; strings are written as in JSON, which TOML also accepts."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
