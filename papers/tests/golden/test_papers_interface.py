"""Golden interface of mnlearn-papers: no public name, command or option is lost."""

from __future__ import annotations

from golden.papers_interface import HELP, NAMES, command_options, public_names
from golden.test_interface import lost


def test_no_public_name_is_lost() -> None:
    """Names in the file still exist."""
    assert lost(NAMES, public_names()) == []


def test_no_command_or_option_is_lost() -> None:
    """Commands, arguments and options in the file still exist."""
    assert lost(HELP, command_options()) == []
