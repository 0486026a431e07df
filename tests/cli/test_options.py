"""Groups of options reach every command that takes them."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any

import pytest
import typer

from mnlearn.cli import options
from mnlearn.cli.app import make_app
from mnlearn.cli.options import InputOptions, OptionGroup, ReadingOptions, expand_groups
from mnlearn.errors import InputError
from mnlearn.learning import METHODS, SCORES, TESTS

Loud = Annotated[bool, typer.Option("--loud", help="Print in capitals.")]
Times = Annotated[int | None, typer.Option(help="Number of repetitions.")]
Pause = Annotated[int | None, typer.Option(help="Seconds between repetitions.")]


@dataclass(frozen=True, kw_only=True)
class Speech(OptionGroup):
    """Options of a command that prints a word."""

    loud: Loud = False
    times: Times = None


@dataclass(frozen=True, kw_only=True)
class SlowSpeech(Speech):
    """A group that inherits options."""

    pause: Pause = None


def test_a_group_is_replaced_by_its_options() -> None:
    called: list[Any] = []

    def speak(word: str, *, first: int = 1, speech: Speech, last: int = 2) -> None:
        """Print a word."""
        called.extend([word, first, speech, last])

    command = expand_groups(speak)
    assert list(signature(command).parameters) == ["word", "first", "loud", "times", "last"]
    assert command.__doc__ == "Print a word."
    command(word="hello", first=3, loud=True, times=None, last=4)
    assert called == ["hello", 3, Speech(loud=True), 4]


def test_options_of_a_group_come_before_those_it_inherits() -> None:
    def speak(*, speech: SlowSpeech) -> None:
        """Print a word."""

    assert list(signature(expand_groups(speak)).parameters) == ["pause", "loud", "times"]


def test_options_that_were_not_given_are_dropped() -> None:
    assert Speech(times=3).given() == {"loud": False, "times": 3}
    assert options.TestOptions(n_permutations=9, alpha=0.1).given() == {"alpha": 0.1, "n_permutations": 9}
    assert InputOptions().arguments(prior=None) == dict(ReadingOptions().keywords())


def test_help_has_the_names_of_the_registry() -> None:
    tables = {"METHODS": METHODS, "SCORES": SCORES, "TESTS": TESTS}
    assert {table: options.named(table, "{names}").help for table in tables} == {
        table: ", ".join(names) for table, names in tables.items()
    }
    for judge in ("test", "score"):
        names = [name for name, entry in METHODS.items() if entry.judge == judge]
        assert options.named("METHODS", f"{{{judge}}}").help == ", ".join(names)


def test_every_command_that_reads_data_takes_the_options_of_reading() -> None:
    commands = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]
    for name in ("learn", "report", "plot", "why", "test", "score", "fit", "compare", "compare-groups", "info", "pack"):
        found = {word for parameter in commands[name].params for word in parameter.opts}
        assert {"--missing", "--missing-value", "--categorical", "--continuous", "--repeats", "--delimiter"} <= found


def test_a_column_with_two_types_is_refused() -> None:
    with pytest.raises(InputError, match="one type; got 'b' as --categorical and as --continuous"):
        ReadingOptions(categorical=["a", "b"], continuous=["b"]).keywords()
