"""`mnlearn pack`, and packs as the data of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn.data import read, write_data
from mnlearn.simulate import example


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    write_data(read(example(800, seed=3).columns()), tmp_path / "answers.csv")
    return tmp_path / "answers.csv"


@pytest.mark.parametrize("words", [["learn", "--method", "mpl"], ["learn", "--method", "gsimn"], ["learn"], ["info"]])
def test_commands_read_a_pack(run: Any, answers: Path, words: list[str]) -> None:
    packed = answers.with_suffix(".mnpack")
    assert "answers.mnpack: 800 rows, 12 variables" in run("pack", answers, "-o", packed).out
    command, *rest = words
    one, other = (run(command, data, *rest, "--json").document() for data in (answers, packed))
    for document in (one, other):
        document.pop("cost", None)
        document.pop("source", None)
    assert one == other


def test_rows_are_appended_and_levels_declared(run: Any, answers: Path) -> None:
    packed = answers.with_suffix(".mnpack")
    first, second, *_ = read(answers).names
    labels = [str(label) for label in reversed(read(answers).levels[0] or ())]
    chosen = ("--column", first, "--column", second, "--levels", f"{first}={','.join(labels)}")
    run("pack", answers, "-o", packed, *chosen, "--json").document()
    both = run("pack", answers, "-o", packed, "--append", "--json").document()
    assert (both["rows"], both["variables"], both["file"]) == (1600, 2, str(packed))
    assert read(packed).levels[0] == tuple(labels)


def test_bad_packs_are_refused(run: Any, answers: Path) -> None:
    assert "must end in .mnpack" in run("pack", answers, "-o", "answers.csv").refusal()
    refused = run("pack", answers, "-o", answers.with_suffix(".mnpack"), "--levels", "x").refusal()
    assert "--levels must have the form COL=A,B; got 'x'" in refused
