"""The program: help, usage, and every way in which a command can end."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest

import mnlearn
import mnlearn.learning.tests
from mnlearn.cli.console import say
from mnlearn.cli.options import flag

COMMANDS = ["test", "info", "convert", "demo"]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(run: Any, flag: str) -> None:
    shown = run(flag)
    assert (shown.code, shown.err) == (0, "")
    assert all(f"\n  {command} " in shown.out for command in COMMANDS)
    assert run() == shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_examples(run: Any, command: str) -> None:
    shown = run(command, "-h")
    assert shown.code == 0
    assert "Examples:\n" in shown.out
    assert f"\n    mnlearn {command}" in shown.out
    assert "--json" in shown.out
    assert "--debug" in shown.out
    assert run(command, "--help") == shown


def other_command(*, loud: Annotated[bool, flag("--loud", "Shout.")] = False) -> None:
    """Greet.

    Examples:
      mnlearn optimize
    """
    say("HELLO" if loud else "hello")


@pytest.mark.parametrize("name", ["reproduce", "optimize", "bench"])
def test_a_command_of_the_papers_names_its_distribution(run: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    expected = f"mnlearn {name} needs mnlearn-papers, which is not installed. Install it: pip install "
    expected += "mnlearn-papers, or pip install ./papers in a checkout."
    assert run(name, "--help").refusal() == expected
    assert run("--debug", name).err.splitlines()[-1] == f"error: {expected}"


def test_commands_of_other_distributions_are_found_by_entry_points(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("optimize", "greet", "greet.loudly", "info")
    points = [EntryPoint(name, f"{__name__}:other_command", "mnlearn.commands") for name in names]
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or ModuleType(__name__))
    monkeypatch.setattr(sys.modules[__name__], "other_command", other_command, raising=False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: points)
    assert run("optimize", "--loud").out == "HELLO\n"
    assert run("greet").out == "hello\n"
    assert run("greet", "loudly").out.startswith("hello")
    assert "mnlearn info" in run("info", "--help").out  # its own come first
    assert "greet" not in run("--help").out
    assert "More commands, from mnlearn-papers: bench, optimize, reproduce\n" in run("--help").out


def test_version(run: Any) -> None:
    assert run("--version") == (0, f"mnlearn {mnlearn.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tst"], "no such command 'tst'. Did you mean 'test'? Try 'mnlearn --help'."),
        (["test"], "missing argument 'DATA'. Try 'mnlearn test --help'."),
        (["test", "a.csv", "x", "y", "--giben", "z"], "--given). Try 'mnlearn test --help'."),
        (["test", "a.csv", "x", "y", "z"], "unexpected extra argument"),
        (["test", "a.csv", "x", "y", "--alpha", "big"], "invalid value for '--alpha'"),
        (["test", "a.csv", "x", "y", "--alpha"], "--alpha"),
        (["--colour"], "--colour"),
        (["convert", "a.json"], "missing argument 'TARGET'"),
    ],
)
def test_bad_usage_is_one_line(run: Any, words: list[str], message: str) -> None:
    assert message in run(*words).refusal()


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback_too(run: Any, place: str) -> None:
    words = ["--debug", "info", "none.csv"] if place == "before" else ["info", "none.csv", "--debug"]
    shown = run(*words)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith("Traceback")
    assert shown.err.splitlines()[-1].startswith("error: path must be an existing file")


def _raise(error: BaseException) -> Any:
    def fail(*_args: object, **_settings: object) -> None:
        raise error

    return fail


def test_a_bug_is_exit_1(run: Any, survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mnlearn.learning.tests, "independence_test", _raise(ZeroDivisionError("by\nzero")))
    shown = run("test", survey, "a", "b")
    assert (shown.code, shown.out) == (1, "")
    assert shown.err == (
        "error: unexpected ZeroDivisionError: by zero. This is a bug; run with --debug to see where.\n"
    )
    assert "Traceback" in run("test", survey, "a", "b", "--debug").err


def test_ctrl_c_is_exit_130(run: Any, survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mnlearn.learning.tests, "independence_test", _raise(KeyboardInterrupt()))
    assert run("test", survey, "a", "b") == (130, "", "error: interrupted\n")


def test_notes_leave_no_handler_behind(run: Any, survey: Path) -> None:
    logger = logging.getLogger("mnlearn")
    before = (list(logger.handlers), logger.level)
    run("info", survey)
    run("info", "none.csv")
    assert (list(logger.handlers), logger.level) == before
