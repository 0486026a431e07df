"""The list of `make soak`: every option of a command that writes a file is in one of its cases."""

from __future__ import annotations

from golden.interface import HELP
from soak import CASES

WRITING = {"--out", "--plot", "--report", "--save-config", "--checkpoint", "--history", "--uai"}
"""Options that name a file to write. Commands that print only, `evaluate` for example, have none."""


def test_every_command_and_option_that_writes_is_killed() -> None:
    declared = set()
    for line in HELP.read_text().splitlines():
        command, _, what = line.removeprefix("mnlearn ").partition(": ")
        declared |= {(command, option) for option in what.split() if option in WRITING}
    declared |= {("convert", ""), ("simulate", "--truth"), ("pack", "--append")}
    covered = set()
    for case in CASES:
        words = case.words.split()
        command = " ".join(words[:2]) if words[0] == "bench" else words[0]
        covered |= {(command, word) for word in ["", *words]}
    assert declared <= covered, declared - covered
