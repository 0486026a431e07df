"""Fixtures that run the command line inside this process, and files to run it on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mnlearn.cli import main


class Outcome(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """Return the JSON document on standard output."""
        assert self.code == 0, self.err
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

    def refusal(self) -> str:
        """Return the line of the error; standard output is empty."""
        assert (self.code, self.out) == (2, ""), self
        assert "Traceback" not in self.err
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("error: ").rstrip("\n")


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `mnlearn` with arguments."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def _run(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        return Outcome(code, *capsys.readouterr())

    return _run


@pytest.fixture
def data(demo_folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the survey of `mnlearn demo`, alone in the folder of the test."""
    return Path(shutil.copy(demo_folder / "survey.csv", tmp_path))


@pytest.fixture
def truth(demo_folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the true graph of `mnlearn demo`."""
    return Path(shutil.copy(demo_folder / "truth.edges.csv", tmp_path))


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a file with a chain a - b - c, a coin, a constant, a copy, two dependent numbers and a constant number."""
    lines = ["a,b,c,coin,fixed,copy,height,weight,level"]
    for row in range(200):
        a, noise, coin = row % 2, row % 7 == 0, row // 2 % 2
        b = a ^ noise
        c = b ^ (row % 11 == 0)
        height = row * 37 % 101 / 10 + 0.05
        weight = height + row * 53 % 97 / 20
        lines.append(f"{a},{b},{c},{'heads' if coin else 'tails'},same,{a + 1},{height:.2f},{weight:.3f},0.5")
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
