"""The examples of the README run, and it opens with the two commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnlearn.cli import main

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

WITHOUT_EXTRAS = """
import sys
from importlib.machinery import PathFinder

EXTRAS = {"matplotlib", "bokeh", "jinja2", "pandas", "polars", "dask", "distributed", "pyagrum"}

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in EXTRAS else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Installed
"""


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demo_folder, tmp_path / "demo-output")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("demo")
def test_the_python_runs_and_says_what_the_comments_say() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 3
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
    assert len(commands) == 6
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)[:1])
def test_the_first_lines_need_neither_files_nor_extras(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = WITHOUT_EXTRAS + block + "\nassert learned.blanket('fatigue') == ('poor_sleep', 'exercise')"
    lines = [line for line in block.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(lines) == 5
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(tmp_path.iterdir()) == []


def test_it_opens_with_the_two_commands() -> None:
    opening = README[: README.index("## ")]
    assert "make demo" in opening
    assert "make test" in opening


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target.partition("#")[0]).exists(), target


def test_a_release_turns_its_links_into_addresses() -> None:
    """A package index shows the README without the files beside it; tests/test_release.py runs the step."""
    inline = r"\[[^\]]*\]\([^)]+\)"  # the only form of links that the step rewrites
    rest = re.sub(inline, "", README)
    assert not re.search(r"<(?:a|img)\s|^\[[^\]]+\]:|\][(\[]", rest, flags=re.MULTILINE)
    jobs = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8"))["jobs"]
    steps = jobs["sdist"]["steps"]
    commands = [step.get("run", "") for step in steps]
    rewriting = commands.index("python .ci/release links")
    assert steps[rewriting]["if"] == "startsWith(github.ref, 'refs/tags/')"
    assert rewriting < next(k for k, command in enumerate(commands) if "build --sdist" in command)
    assert jobs["wheels"]["needs"] == "sdist"


def test_no_figure_of_one_method_stands_for_another() -> None:
    """Every claim with seconds, errors or ratios of a network names the method that has them."""
    claims = re.findall(r"^- \*\*.*?(?=^- |^\n)", README[: README.index("## ")], flags=re.MULTILINE | re.DOTALL)
    measured = [claim for claim in claims if re.search(r"\d (?:s|errors|GB)\b|times as fast", claim)]
    assert len(measured) == 2
    for claim in measured:
        assert "`sep`" in claim, claim
        assert "`mpl`" in claim, claim
