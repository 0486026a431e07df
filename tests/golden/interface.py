"""The public interface as text: names with their signatures, and the options of every command.

`public_names.txt` and `help.txt` hold these lists. Prose is not part of them.
Write both again after a deliberate change:

    python tests/golden/interface.py --write
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

import mnlearn as mn
from mnlearn.cli.app import make_app

NAMES = Path(__file__).with_name("public_names.txt")
HELP = Path(__file__).with_name("help.txt")

PACKAGES = ("data", "evaluation", "graphs", "model", "simulate", "statistics")
"""Packages whose own lists of names are public."""


RESULTS = (
    *("Evaluation", "GraphScore", "GroupComparison", "Learned", "MethodResult", "NetworkDifference", "Resampling"),
    *("TestResult", "Why"),
)
"""Classes that the library makes: users read their members and do not call their constructors."""

MEMBERS = (
    *("Dataset", "DiscreteModel", "GaussianModel", "Graph", "MarkovBlanketSelector", "MarkovModel", "MixedModel"),
    *("MarkovNetworkLearner", "Moments", "NamedGraph"),
)
"""Other classes whose members are public; tests, scores and searches are known by their constructors."""

COUNTS = (
    "cells",
    "local",
    "members",
    "n_rows",
    "n_variables",
    "reduce",
    "reduce_all",
    "reduce_many",
    "tables",
    "without",
)
"""Members of `Counts` that every kind of counts has."""

INTERNAL = {"ingredients", "of", "recipe", "trusted"}
"""Members that only the library itself uses."""


def public_names() -> list[str]:
    """Return every public name, with the members of the main classes and the parameters of what can be called."""
    lines = {f"mnlearn.{package}.{name}" for package in PACKAGES for name in _package(package).__all__}
    for name in mn.__all__:
        value: Any = getattr(mn, name)
        lines.add(f"mnlearn.{name}" if name in RESULTS else f"mnlearn.{name}{_signature(value)}")
        if name in RESULTS + MEMBERS:
            lines.update(f"mnlearn.{name}.{member}" for member in _members(value))
    lines.update(f"mnlearn.Counts.{name}" for name in COUNTS if hasattr(mn.Counts, name))
    return sorted(lines)


def _package(name: str) -> Any:
    return import_module(f"mnlearn.{name}")


def _signature(value: Any) -> str:
    """Return the parameters and their defaults, without types; nothing for values and errors."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return ""
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(value).parameters.values()]
    return str(inspect.Signature(plain))


def _members(value: Any) -> Iterator[str]:
    """Yield the public members of a class, with the parameters of its methods."""
    held = [field.name for field in fields(value)] if is_dataclass(value) else []
    for name in sorted({*held, *dir(value)} - INTERNAL):
        member = getattr(value, name, None)
        if not name.startswith("_") and "sklearn" not in (getattr(member, "__module__", None) or ""):
            yield f"{name}{_signature(member)}" if inspect.isroutine(member) else name


def command_options() -> list[str]:
    """Return the arguments and the options of every command, one a line."""
    return sorted(options("mnlearn", typer.main.get_command(make_app())))


def options(path: str, command: Any) -> Iterator[str]:
    """Yield the arguments and options of a command and of its parts."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    for place, argument in enumerate(arguments, start=1):
        yield f"{path}: argument {place} {argument.name}"
    for option in command.params:
        if option.param_type_name == "option":
            yield f"{path}: option {' '.join([*option.opts, *option.secondary_opts])}"
    yield f"{path}: command"
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(f"{path} {name}", inner)


def main() -> None:
    """Write both lists, or print them."""
    parser = argparse.ArgumentParser(description="The public interface as text.")
    parser.add_argument("--write", action="store_true", help="write public_names.txt and help.txt anew")
    write = parser.parse_args().write
    for path, lines in ((NAMES, public_names()), (HELP, command_options())):
        text = "\n".join(lines) + "\n"
        if write:
            path.write_text(text, encoding="utf-8")
        else:
            print(text)


if __name__ == "__main__":
    main()
