"""Files of the commands of mnlearn-papers: marked, refused before any work, killed by `make soak`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli import test_outputs
from cli.test_outputs import PLACES, Command, commands, named, writers_among
from golden.papers_interface import COMMANDS, HELP
from mnlearn.cli.app import make_app
from test_soak import declared_in, killed

FOUND = [command for name in COMMANDS for command in commands(make_app(name))]


def test_every_option_that_is_a_file_is_marked() -> None:
    assert {command.words[0] for command in FOUND} == set(COMMANDS)
    test_outputs.check_files_are_marked(FOUND)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("command", "out"), writers_among(FOUND), ids=named)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, out: str, place: str
) -> None:
    test_outputs.test_an_output_that_cannot_be_written_is_refused_before_any_work(
        run, tmp_path, monkeypatch, command, out, place
    )


def test_every_option_that_writes_is_killed() -> None:
    assert declared_in(HELP) <= killed()
