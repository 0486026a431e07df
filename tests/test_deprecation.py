"""Deprecated names warn their caller, work as before, and leave when their version comes."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import mnlearn
from mnlearn._deprecation import deprecated, minor_release, renamed_argument
from mnlearn.errors import InputError

SOURCE = Path(__file__).resolve().parent.parent / "src" / "mnlearn"
DECORATORS = {"deprecated", "renamed_argument"}


@deprecated(since="0.1", removed_in="0.3", use="twice")
def double(x: int, *, plus: int = 0) -> int:
    """Return twice x.

    The second paragraph.
    """
    return 2 * x + plus


@renamed_argument("level", "alpha", since="0.9", removed_in="1.0")
def decide(p: float, alpha: float = 0.05) -> bool:
    """Return whether p is at most alpha."""
    return p <= alpha


def test_a_deprecated_function_works_and_names_versions_and_replacement() -> None:
    message = "double is deprecated since 0.1 and will be removed in 0.3. Use twice."
    with pytest.warns(FutureWarning, match=message) as caught:
        assert double(3, plus=1) == 7
    assert caught[0].filename == __file__  # the caller is blamed, not the library


def test_name_signature_and_docstring_are_kept() -> None:
    assert double.__name__ == "double"
    assert list(inspect.signature(double).parameters) == ["x", "plus"]
    summary, note, rest = inspect.getdoc(double).split("\n\n")  # type: ignore[union-attr]
    assert (summary, rest) == ("Return twice x.", "The second paragraph.")
    assert note.startswith(".. deprecated:: 0.1\n    double is deprecated")
    assert (decide.__doc__ or "").startswith("Return whether p is at most alpha.\n\n.. deprecated:: 0.9\n")


def test_a_former_argument_is_passed_on_with_a_warning() -> None:
    message = "The argument level of decide is deprecated since 0.9 and will be removed in 1.0. Use alpha."
    with pytest.warns(FutureWarning, match=message) as caught:
        assert decide(0.2, level=0.3)  # type: ignore[call-arg]
    assert caught[0].filename == __file__


def test_the_present_argument_does_not_warn() -> None:
    assert decide(0.2, alpha=0.3)
    assert decide(0.2, 0.3)
    assert not decide(0.2)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_both_names_are_refused() -> None:
    with pytest.raises(InputError, match="level is the former name of alpha; got both"):
        decide(0.2, alpha=0.3, level=0.3)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="level is the former name of alpha; got both"):
        decide(0.2, 0.3, level=0.3)  # type: ignore[call-arg]


@pytest.mark.parametrize(("since", "removed_in"), [("0.1", "0.2"), ("0.1", "0.1"), ("1.2", "0.9"), ("1.2.0", "1.3.5")])
def test_less_than_two_minor_releases_are_refused(since: str, removed_in: str) -> None:
    with pytest.raises(InputError, match="removed_in must be at least 2 minor releases after since"):
        deprecated(since=since, removed_in=removed_in, use="other")
    with pytest.raises(InputError, match="removed_in must be at least 2 minor releases after since"):
        renamed_argument("a", "b", since=since, removed_in=removed_in)


def test_wrong_versions_and_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="version must start with two numbers"):
        deprecated(since="next", removed_in="0.3", use="other")
    with pytest.raises(InputError, match="new must be an argument of decide"):
        renamed_argument("a", "b", since="0.1", removed_in="0.3")(decide)


def overdue(source: str, version: str) -> list[int]:
    """Return the lines of the decorators that remove something in this version or in an earlier one."""
    calls = [
        one
        for node in ast.walk(ast.parse(source))
        for one in getattr(node, "decorator_list", [])
        if isinstance(one, ast.Call) and ast.unparse(one.func).rpartition(".")[2] in DECORATORS
    ]
    removals = {
        one.lineno: ast.literal_eval(word.value) for one in calls for word in one.keywords if word.arg == "removed_in"
    }
    assert len(removals) == len(calls), "removed_in must be given as a string"
    return [line for line, removal in removals.items() if minor_release(version) >= minor_release(removal)]


def test_what_is_overdue_is_found() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert overdue(source, "0.2.7") == []
    assert len(overdue(source, "0.3.0.dev1")) == 1
    assert len(overdue(source, "1.0.0")) == 2


def test_nothing_is_overdue() -> None:
    """Remove what is listed here: its users have been warned for two minor releases."""
    version = mnlearn.__version__
    found = {str(path): overdue(path.read_text(encoding="utf-8"), version) for path in SOURCE.rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}
