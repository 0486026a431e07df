"""docs/cli.md names every option of the commands of mnlearn-papers, and its examples print the output of the page."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import typer

from cli.test_docs import OF_PAPERS, PAGE, all_examples, check_example
from golden.papers_interface import COMMANDS
from mnlearn.cli.app import make_app


def test_examples_print_the_output_of_the_page(run: Any) -> None:
    assert set(OF_PAPERS) == set(COMMANDS)
    examples = [(command, printed) for command, printed in all_examples() if shlex.split(command)[1] in OF_PAPERS]
    assert len(examples) >= 1
    for command, printed in examples:
        check_example(run, command, printed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    command: Any = typer.main.get_command(make_app(name))
    while getattr(command, "commands", None) and name in command.commands:
        command = command.commands[name]
    assert f"## `mnlearn {name}`" in PAGE
    for part in [command, *getattr(command, "commands", {}).values()]:
        for option in (word for parameter in part.params for word in parameter.opts if word.startswith("--")):
            assert f"`{option}" in PAGE, f"{name} {option} is not in docs/cli.md"
