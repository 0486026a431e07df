"""docs/cli.md names every option, and its examples print its output; pages name every method and its defaults."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from mnlearn.cli.app import make_app
from mnlearn.learning import METHODS, SCORES, TESTS

OF_PAPERS = ("bench", "optimize", "reproduce")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("README.md", [*METHODS]),
        ("docs/learners.md", [*METHODS, *TESTS, *SCORES]),
        ("docs/cli.md", [*METHODS, *TESTS, *SCORES]),
    ],
)
def test_pages_name_every_method_test_and_score(page: str, names: list[str]) -> None:
    assert _missing(" ".join(re.findall(r"`([^`\n]+)`", (ROOT / page).read_text(encoding="utf-8"))), names) == []


@pytest.mark.parametrize("page", ["docs/learners.md", "docs/cli.md"])
def test_pages_state_the_default_tests(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `") and "pcor" in line]
    for method, entry in METHODS.items():
        if entry.judge == "test":
            assert any(not _missing(row, [method, *map(str, entry.test_defaults.values())]) for row in rows), method


def test_help_states_the_default_tests(run: Any) -> None:
    options = run("learn", "--help").out.partition("Options:")[2].partition("Examples:")[0]
    words = re.sub(r"-\s+", "-", " ".join(options.split()))  # lines end also after a hyphen
    for option, default in {"test": "chi2", "alpha": 0.05, "dof": "adjusted"}.items():
        (text,) = re.findall(rf"--{option} \S+ (.*?)(?= --)", words)
        assert _missing(text.lower(), [str(default)]) == []
        for method, entry in METHODS.items():
            if entry.test_defaults.get(option, default) != default:
                assert _missing(text, [method, str(entry.test_defaults[option])]) == [], (option, method)


def _missing(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that do not occur in the text as words of their own."""
    return [name for name in names if not re.search(rf"(?<![\w*-]){re.escape(name)}(?![\w*-])", text)]
