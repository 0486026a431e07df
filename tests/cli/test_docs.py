"""docs/cli.md names every option, and its examples print the output of the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from mnlearn.cli.app import make_app

OF_PAPERS = ("bench", "optimize", "reproduce")
PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def _examples() -> Iterator[tuple[str, str]]:
    """Yield every command of the page with its documented output, but for those of mnlearn-papers."""
    for command, printed in all_examples():
        if shlex.split(command)[1] not in OF_PAPERS:
            yield command, printed


def all_examples() -> Iterator[tuple[str, str]]:
    """Yield every command of the page with its documented output."""
    for block in _blocks("console"):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = example.partition("\n")
            yield command, printed


def _rounded(text: str) -> str:
    """Return the text with long numbers rounded: the last digits differ between machines."""
    return re.sub(r"-?\d+\.\d{7,}(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text)


def test_examples_print_the_output_of_the_page(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (patients,) = (block for block in _blocks("text") if block.startswith("age,"))
    Path("patients.csv").write_text(patients, encoding="utf-8")
    examples = list(_examples())
    assert len(examples) >= 8
    for command, printed in examples:
        check_example(run, command, printed)


def check_example(run: Any, command: str, printed: str) -> None:
    """Run a command of the page and compare what it prints."""
    program, *words = shlex.split(command)
    done = run(*words)
    assert program == "mnlearn"
    assert sorted(_rounded(done.out + done.err).splitlines()) == sorted(_rounded(printed).splitlines()), command


def test_every_option_is_documented() -> None:
    command: Any = typer.main.get_command(make_app())
    for name, one in command.commands.items():
        assert f"## `mnlearn {name}`" in PAGE
        for option in (word for parameter in one.params for word in parameter.opts if word.startswith("--")):
            assert f"`{option}" in PAGE, f"{name} {option} is not in docs/cli.md"
