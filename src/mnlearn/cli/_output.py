"""What reaches the two streams: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mnlearn.cli._wording import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH_WITHOUT_TERMINAL = 120


@contextmanager
def prepared() -> Iterator[None]:
    """Make both streams take any name, and show what the library logs as notes on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    logger, notes = logging.getLogger("mnlearn"), _Notes()
    level = logger.level
    logger.addHandler(notes)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(notes)
        logger.setLevel(level)


class _Notes(logging.Handler):
    """Log records as single lines."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


def say(text: str) -> None:
    """One or more lines of plain text on standard output."""
    sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Something to know about a result that is still valid."""
    sys.stderr.write(f"note: {one_line(message)}\n")


def complain(message: str) -> None:
    """The one line that says why there is no result."""
    sys.stderr.write(f"error: {one_line(message)}\n")


def show(*parts: RenderableType) -> None:
    """Tables and texts on standard output: coloured on a terminal, plain elsewhere."""
    from rich.console import Console
    from rich.text import Text

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDTH_WITHOUT_TERMINAL
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, Text))
    for line in captured.get().splitlines():
        say(line.rstrip())


def simple_table(*headings: str, numbers: Sequence[str]) -> Table:
    """An empty table without vertical lines; columns of numbers are set right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    return table


def show_json(document: object) -> None:
    """Exactly one JSON document on standard output; a number that is not finite is null."""
    say(json.dumps(_plain(document), indent=2, allow_nan=False))


def silence() -> None:
    """Send the rest of standard output nowhere, so that the interpreter can flush it in peace."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def _plain(value: object) -> object:
    """The value with null for every number that JSON does not know."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
