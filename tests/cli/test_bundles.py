"""Options that are declared once reach every command that takes them."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any

import pytest
import typer

from mnlearn.cli import options as bundles
from mnlearn.cli.app import app
from mnlearn.cli.options import Bundle, Elsewhere, Preparing, Reading, unbundled
from mnlearn.errors import InputError

Loud = Annotated[bool, typer.Option("--loud", help="Say it loudly.")]
Times = Annotated[int | None, typer.Option(help="How often.")]


@dataclass(frozen=True, kw_only=True)
class Speaking(Bundle):
    """How to say it."""

    _names = {"times": "n_times"}  # noqa: RUF012
    loud: Loud = False
    times: Times = None


def test_a_bundle_stands_for_its_options_in_their_place() -> None:
    heard: list[Any] = []

    def speak(word: str, *, first: int = 1, how: Speaking, last: int = 2) -> None:
        """Say a word."""
        heard.extend([word, first, how, last])

    command = unbundled(speak)
    assert list(signature(command).parameters) == ["word", "first", "loud", "times", "last"]
    assert command.__doc__ == "Say a word."
    command(word="hello", first=3, loud=True, times=None, last=4)
    assert heard == ["hello", 3, Speaking(loud=True), 4]


def test_what_was_said_has_the_names_of_the_library() -> None:
    assert Speaking(times=3).said() == {"loud": False, "n_times": 3}
    assert bundles.Testing(permutations=9, alpha=0.1).said() == {"alpha": 0.1, "n_permutations": 9}
    assert Preparing().said() == {}


def test_every_command_that_reads_data_takes_the_options_of_reading() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for verb in ("learn", "report", "plot", "why", "test", "score", "fit", "compare", "compare-groups", "info", "pack"):
        options = {word for parameter in commands[verb].params for word in parameter.opts}
        assert {"--missing", "--missing-value", "--categorical", "--continuous", "--repeats", "--delimiter"} <= options


def test_a_column_of_two_types_is_refused() -> None:
    with pytest.raises(InputError, match="one type; got 'b' as --categorical and as --continuous"):
        Reading(categorical=["a", "b"], continuous=["b"]).keywords()


def test_two_clusters_are_refused() -> None:
    with (
        pytest.raises(InputError, match="--cluster and --workers exclude"),
        Elsewhere(cluster="tcp://h:1", workers=2).client(),
    ):
        pass
