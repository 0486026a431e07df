"""The list of `make soak`: every option of a command that writes a file is in one of its cases."""

from __future__ import annotations

from pathlib import Path

from golden.interface import HELP
from soak import CASES

WRITING = {"--out", "--plot", "--report", "--checkpoint", "--history"}
"""Options that name a file to write. Commands that print only, `evaluate` for example, have none."""


def declared_in(help_lines: Path) -> set[tuple[str, str]]:
    """Return the commands and options of a list that write files."""
    declared = set()
    for line in help_lines.read_text(encoding="utf-8").splitlines():
        command, _, what = line.removeprefix("mnlearn ").partition(": ")
        declared |= {(command, option) for option in what.split() if option in WRITING}
    return declared


def killed() -> set[tuple[str, str]]:
    """Return the commands of the cases, each with every word of its line."""
    covered = set()
    for case in CASES:
        words = case.words.split()
        command = " ".join(words[:2]) if words[0] == "bench" else words[0]
        covered |= {(command, word) for word in ["", *words]}
    return covered


def test_every_command_and_option_that_writes_is_killed() -> None:
    declared = declared_in(HELP) | {("convert", ""), ("simulate", "--truth")}
    assert declared <= killed(), declared - killed()
