"""Golden interface: no public name, parameter, default, command or option is lost. See `interface.py`."""

from __future__ import annotations

from pathlib import Path

from golden.interface import HELP, NAMES, command_options, public_names


def lost(path: Path, found: list[str]) -> list[str]:
    """Return the lines of a file that are not among those found."""
    return sorted(set(path.read_text(encoding="utf-8").splitlines()) - set(found))


def test_no_public_name_is_lost() -> None:
    """Names, members, parameters and defaults in the file still exist."""
    assert lost(NAMES, public_names()) == []


def test_no_command_or_option_is_lost() -> None:
    """Commands, arguments and options in the file still exist."""
    assert lost(HELP, command_options()) == []
