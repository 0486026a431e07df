"""The examples of the README run, and it opens with the two commands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from mnlearn.cli import main

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demo_folder, tmp_path / "demo-output")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("demo")
def test_the_python_runs_and_says_what_the_comments_say() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    assert names["learned"].blanket("fatigue") == ("poor_sleep", "exercise")
    assert list(names["learned"].edges()) == ["u", "v", "weight", "support", "probability"]
    assert names["answer"].independent
    assert names["answer"].log_p == pytest.approx(-0.37, abs=0.01)
    last = blocks[-1].strip().splitlines()[-1].split("#")[0]
    assert eval(last, names)


@pytest.mark.usefixtures("demo")
def test_the_commands_run() -> None:
    commands = re.findall(r"^mnlearn .*$", README, flags=re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command


def test_it_opens_with_the_two_commands() -> None:
    opening = README[: README.index("## ")]
    assert "make demo" in opening
    assert "make test" in opening


def test_its_links_lead_somewhere() -> None:
    root = Path(__file__).resolve().parent.parent
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (root / target).exists(), target
