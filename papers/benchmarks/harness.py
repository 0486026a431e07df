"""Cases by name, their options, and the tables that they print.

A case is a function that yields rows. Its parameters are its options: their defaults say how they are read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from math import isfinite
from pathlib import Path
from typing import TypeAlias

Row: TypeAlias = Mapping[str, object]
Lines: TypeAlias = Iterator[Row | str]  # a row has a cell for each column; a text is a line of its own
Run: TypeAlias = Callable[..., Lines]

THEMES = (
    *("counting", "plan", "reading", "startup", "learners", "default", "large", "accuracy", "analysis", "gaussian"),
)


@dataclass(frozen=True)
class Case:
    """Something to measure.

    Attributes
    ----------
    run
        The function; the first line of its docstring is the title.
    needs
        Modules that it imports beyond those of the checkout.
    quick
        Options that make it small.
    """

    run: Run
    needs: tuple[str, ...]
    quick: Mapping[str, object]

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return (self.run.__doc__ or "").splitlines()[0]

    @property
    def options(self) -> Mapping[str, Parameter]:
        """The parameters by name."""
        return signature(self.run).parameters

    def missing(self) -> list[str]:
        """Return the modules that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]


CASES: dict[str, Case] = {}


def case(name: str, *, needs: Sequence[str] = (), **quick: object) -> Callable[[Run], Run]:
    """Register a function under a name, with the options of `--quick`."""

    def register(run: Run) -> Run:
        CASES[name] = Case(run, tuple(needs), quick)
        return run

    return register


def load() -> Mapping[str, Case]:
    """Return all cases."""
    for theme in THEMES:
        import_module(f"cases.{theme}")
    return CASES


def parser_of(name: str, chosen: Case) -> argparse.ArgumentParser:
    """Return the parser of the options of a case."""
    parser = argparse.ArgumentParser(
        prog=f"python papers/benchmarks {name}",
        description=chosen.run.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--json", action="store_true", help="a JSON document for each row")
    for option, parameter in chosen.options.items():
        default, flag = parameter.default, f"--{option.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(flag, dest=option, action="store_true", default=argparse.SUPPRESS)
            continue
        several = isinstance(default, tuple)
        kind = Path if default is None else type((default or ("",))[0]) if several else type(default)
        shown = " ".join(map(str, default)) if several else default
        parser.add_argument(
            *(flag,), dest=option, type=kind, nargs="+" if several else None, default=argparse.SUPPRESS, help=str(shown)
        )
    return parser


def main(arguments: Sequence[str]) -> None:
    """Run the named cases with the options after them, or list all."""
    cases = load()
    first_option = next((k for k, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    names, options = list(arguments[:first_option]), list(arguments[first_option:])
    if not names:
        print("python papers/benchmarks NAME ... [--quick] [--json] [options of the case; --help names them]\n")
        print("\n".join(f"{name:24} {one.title}" for name, one in cases.items()))
        return
    if unknown := set(names) - set(cases):
        sys.exit(f"no benchmark is named {', '.join(sorted(unknown))}; `python papers/benchmarks` lists all names")
    for name in names:
        given = vars(parser_of(name, cases[name]).parse_args(options))
        quick, as_json = given.pop("quick"), given.pop("json")
        if missing := cases[name].missing():
            sys.exit(f"{name} needs {', '.join(missing)}")
        show(run(cases[name], quick=quick, **given), as_json=as_json)


def run(chosen: Case, *, quick: bool = False, **given: object) -> Lines:
    """Return the rows of a case."""
    lists = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    return chosen.run(**({**chosen.quick, **lists} if quick else lists))


def show(lines: Lines, *, as_json: bool = False) -> None:
    """Print rows as they come: a Markdown table for each set of columns."""
    columns: list[str] = []
    for line in lines:
        if as_json:
            print(json.dumps(line, default=str), flush=True)
        elif isinstance(line, str):
            print(f"{chr(10) if columns else ''}{line}\n", flush=True)
            columns = []
        else:
            if list(line) != columns:
                print("\n" * bool(columns), end="")
                columns = list(line)
                print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
            print(f"| {' | '.join(map(text, line.values()))} |", flush=True)


def text(value: object) -> str:
    """Return a cell: three digits of a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    if isinstance(value, int) or (isfinite(value) and abs(value) >= 1000):
        return f"{value:,.0f}"
    return f"{value:.3g}" if isfinite(value) else ""
