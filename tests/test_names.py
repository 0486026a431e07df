"""Help, README and docs name every method, test and score of the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from mnlearn.cli import main
from mnlearn.learning import METHODS, SCORES, TESTS

ROOT = Path(__file__).resolve().parent.parent


def missing(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that do not occur in the text as words of their own."""
    return [name for name in names if not re.search(rf"(?<![\w*-]){re.escape(name)}(?![\w*-])", text)]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def in_code(text: str) -> str:
    """Return what stands between backticks, one piece per line."""
    return "\n".join(re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("learn", [*METHODS, *TESTS, *SCORES]),
        ("score", SCORES),
        ("test", TESTS),
    ],
)
def test_help_names_them_all(command: str, names: Iterable[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    unbroken = re.sub(r"-\s+", "-", capsys.readouterr().out)  # lines end also after a hyphen
    assert missing(unbroken, names) == []


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("README.md", METHODS),
        ("docs/learners.md", [*METHODS, *TESTS, *SCORES]),
        ("docs/cli.md", [*METHODS, *TESTS, *SCORES]),
    ],
)
def test_pages_name_them_all(file: str, names: Iterable[str]) -> None:
    assert missing(in_code(page(file)), names) == []


def test_a_name_that_is_part_of_another_does_not_count() -> None:
    assert missing("gsmn*, bayes-pcor", ["gsmn", "gsmn*", "pcor"]) == ["gsmn", "pcor"]


@pytest.mark.parametrize("file", ["docs/learners.md", "docs/cli.md"])
def test_pages_state_the_default_tests(file: str) -> None:
    rows = [line for line in page(file).splitlines() if line.startswith("| `") and "pcor" in line]
    for method, entry in METHODS.items():
        if entry.judge == "test":
            assert any(not missing(row, [method, *map(str, entry.test_defaults.values())]) for row in rows), method


def test_help_states_the_default_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--help"]) == 0
    options = capsys.readouterr().out.partition("Options:")[2].partition("Examples:")[0]
    words = re.sub(r"-\s+", "-", " ".join(options.split()))
    others = {"test": "chi2", "alpha": 0.05, "dof": "adjusted"}
    for option, default in others.items():
        (text,) = re.findall(rf"--{option} \S+ (.*?)(?= --)", words)
        assert missing(text.lower(), [str(default)]) == []
        for method, entry in METHODS.items():
            if entry.test_defaults.get(option, default) != default:
                assert missing(text, [method, str(entry.test_defaults[option])]) == [], (option, method)
