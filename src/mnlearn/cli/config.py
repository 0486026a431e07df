"""Options in a file, for runs that are repeated: TOML with the names of the options.

    data = "survey.csv"
    method = "mpl"
    column = ["stress", "fatigue", "headaches"]
    bootstrap = 200

    [set]
    combine = "phase2"

What is said on the command line counts more than what the file says. `data` stands for the first argument; `[set]`
holds what --set would.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mnlearn.cli.options import setting_value
from mnlearn.errors import FileError, InputError, unknown_name

_NOT_IN_FILES = {"_config", "save_config_", "_debug", "help"}


def _read_config(context: typer.Context, path: str | None) -> str | None:
    """Let what a file says stand where the command line says nothing."""
    if path is not None and not context.resilient_parsing:
        known = _by_name(context)
        said = _toml(path)
        for name in said:
            if name.replace("_", "-") not in known:
                raise InputError(f"--config {path!r}: {unknown_name('option', name, known, shown=40)}")
        context.default_map = {
            known[name.replace("_", "-")].name: _value(known[name.replace("_", "-")], name, value, path)
            for name, value in said.items()
        }
    return path


Config = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", is_eager=True, callback=_read_config, help="Read options from a TOML file."
    ),
]
SaveConfig = Annotated[
    str | None, typer.Option("--save-config", metavar="FILE", help="Write the options of this run to a TOML file.")
]


def save_config(context: typer.Context, path: str | None) -> None:
    """Write what was said, on the command line or in a file, in the order of --help; whole or not at all."""
    if path is None:
        return
    from mnlearn.graphs.formats import write_whole

    said: dict[str, Any] = {}
    for name, parameter in _by_name(context).items():
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP", "ENVIRONMENT"):
            said[name] = context.params[parameter.name]
    settings = said.pop("set", None) or ()
    lines = [f"{name} = {_as_toml(value)}" for name, value in said.items() if value is not None]
    if settings:
        pairs = (text.partition("=") for text in settings)
        lines += ["", "[set]", *(f"{_key(name.strip())} = {_as_toml(_meant(text))}" for name, _, text in pairs)]
    write_whole(path, "\n".join(lines) + "\n")


def _by_name(context: typer.Context) -> dict[str, Any]:
    """The parameters of the command by the names that a file uses."""
    found = {}
    for parameter in context.command.params:
        if parameter.name not in _NOT_IN_FILES:
            words = [word for word in parameter.opts if word.startswith("--")]
            found[(words[0] if words else parameter.name).lstrip("-").replace("_", "-")] = parameter
    return found


def _toml(path: str) -> dict[str, Any]:
    """What a TOML file says."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(
            f"--config {path!r} cannot be read: {error.strerror or error}. Name a file there is."
        ) from error
    except ValueError as error:  # of TOML or of its encoding
        raise FileError(f'--config {path!r} is no TOML: {error}. Write for example: method = "sep".') from error


def _value(parameter: Any, name: str, value: Any, path: str) -> Any:
    """What a file says of one option, as the command line would."""
    if name == "set" and isinstance(value, Mapping):
        return [f"{key}={item if isinstance(item, str) else json.dumps(item)}" for key, item in value.items()]
    flag = bool(getattr(parameter, "is_flag", False))
    many = parameter.multiple if hasattr(parameter, "multiple") else False
    items = value if isinstance(value, list) else [value]
    fits = isinstance(value, bool) if flag else not any(isinstance(item, bool | Mapping | list) for item in items)
    if not fits or (isinstance(value, list) and not many):
        kind = "true or false" if flag else "a list of texts" if many else "a text or a number"
        raise InputError(f"--config {path!r}: {name} must be {kind}; got {value!r}. Write it as the option takes it.")
    return [str(item) for item in items] if many else value if flag else str(value)


def _key(name: str) -> str:
    """A bare key where TOML allows it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _as_toml(name)


def _meant(text: str) -> Any:
    """The value of a setting; TOML has no word for none, so that stays a word."""
    value = setting_value(text.strip())
    return text.strip() if value is None or isinstance(value, dict) else value


def _as_toml(value: Any) -> str:
    """A value as TOML writes it; texts as JSON does, which TOML reads alike."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


# Files to be written: refused before any work if they cannot be.


def check_target(option: str, out: str | None, *, graph: bool = True) -> None:
    """Refuse what cannot be written before anything is learned."""
    if out is None:
        return
    target = Path(out)
    if graph:
        from mnlearn.graphs.formats import check_extension

        check_extension(target, option)
    if target.is_dir():
        raise FileError(f"{option} must be a file; {out!r} is a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileError(f"{option} must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(
            f"{option} must be in a folder that can be written; {str(target.parent)!r} cannot. Name another folder."
        )
