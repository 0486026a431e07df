"""Output of the commands: results on standard output, notes, errors and progress on standard error."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import exp, log
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

EXIT_INTERRUPTED = 130
WIDTH_WITHOUT_TERMINAL = 120


@contextmanager
def configured_streams() -> Iterator[None]:
    """Let both streams print any name, and print the log messages of the library as notes."""
    if sys.stderr is None:  # closed by the caller
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the program ends
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
    """Log handler that prints each record as a note."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        note(name_options(message) if "=" in message else message)


def say(text: str) -> None:
    """Print plain text on standard output."""
    sys.stdout.write(f"{text}\n")


def note(message: str) -> None:
    """Print a remark about a valid result on standard error."""
    _tell(f"note: {single_line(message)}\n")


def complain(message: str) -> None:
    """Print the reason why there is no result on standard error."""
    _tell(f"error: {single_line(message)}\n")


def _tell(text: str) -> None:
    """Write to standard error; if it is closed or full, there is nowhere to say so, and the result counts."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def exit_interrupted(message: str | None = None) -> NoReturn:
    """Print a note and exit with the code for Ctrl-C."""
    if message is not None:
        note(f"interrupted: {message}")
    raise typer.Exit(EXIT_INTERRUPTED)


def show(*parts: RenderableType) -> None:
    """Print tables and strings on standard output, coloured on a terminal and plain elsewhere."""
    from rich.console import Console
    from rich.text import Text

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDTH_WITHOUT_TERMINAL
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, Text))
    for line in captured.get().splitlines():
        say(line.rstrip())


def simple_table(*headings: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table without vertical lines; columns of numbers are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    return table


def show_rows(table: Table, rows: Sequence[Sequence[str]], *, limit: int | None, total: int | None = None) -> None:
    """Print a table with the first rows, and how many of all rows, or of a total, the limit leaves out."""
    from rich.text import Text

    for row in rows[:limit]:
        table.add_row(*(Text(escaped(cell)) for cell in row))
    show(table)
    count = len(rows) if total is None else total
    if limit is not None and count > limit:
        say(f"and {count - limit} more; --all lists them")


def show_json(document: object) -> None:
    """Print one JSON document on standard output; numbers that are not finite become null."""
    say(json.dumps(_plain(document), indent=2, allow_nan=False))


def _plain(value: object) -> object:
    """Return the value with None for every float that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def silence() -> None:
    """Redirect standard output to the null device, so that the last flush of the interpreter cannot fail."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):  # a stream in memory has no number
        os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def escaped(text: str) -> str:
    """Return the string with control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def single_line(text: str) -> str:
    """Return the string on one line, with control characters escaped."""
    return escaped(" ".join(text.split()))


def sentence(text: str) -> str:
    """Return the string on one line, in lower case at the start and with a full stop, as our errors are."""
    line = single_line(text)
    return line[:1].lower() + line[1:] + ("" if line.endswith((".", "?")) else ".")


def first_names(names: Sequence[str], *, shown: int = 8, between: str = ", ") -> str:
    """Return the first names as one string, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return between.join(map(escaped, names[:shown])) + more


def with_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def probability(log_p: float) -> str:
    """Return a probability as a string, given its natural log, even if it underflows a float."""
    if log_p > -600:
        return f"{exp(log_p):.3g}"
    power, digits = divmod(log_p / log(10), 1)
    return f"{10**digits:.2f}e{int(power)}"


# Progress and Ctrl-C.

_REDRAW_SECONDS = 0.1
_FIRST_SECONDS = 1.0  # shorter runs show no progress


class ProgressMonitor:
    """Monitor that draws progress on a terminal and cancels the search on Ctrl-C."""

    def __init__(self) -> None:
        self.interrupted = False
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + _FIRST_SECONDS
        self._drawn = False

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Redraw the progress line, at most ten times a second."""
        now = time.monotonic()
        if not self._terminal or now < self._next:
            return
        self._next, self._drawn = now + _REDRAW_SECONDS, True
        share = f"{done:g}" if total is None else f"{100 * done / max(total, 1):.0f} %"
        left = ""
        if total is not None and done > 0:
            left = f", about {(now - self._start) * (total - done) / done:.0f} s left"
        _tell(f"\r\x1b[K{share}{left} {message}".rstrip())

    def cancelled(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self.interrupted

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """Cancel the search at the first Ctrl-C; end the program at the second."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def clear(self) -> None:
        """Remove the progress line."""
        if self._drawn:
            _tell("\r\x1b[K")


@contextmanager
def progress_monitor() -> Iterator[ProgressMonitor]:
    """Provide a monitor for a search; inside, Ctrl-C cancels the search instead of the program."""
    monitor = ProgressMonitor()
    main = threading.current_thread() is threading.main_thread()  # Python allows signal handlers only there
    before = signal.signal(signal.SIGINT, monitor.interrupt) if main else None
    try:
        yield monitor
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
        monitor.clear()


# Errors of the library name Python arguments; a user of the command line needs the options.

_LABEL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""


def name_options(message: str, given: Collection[str] = ()) -> str:
    """Return an error message of the library with its Python arguments written as options.

    `given` are the words of the command: an argument that begins the message and was given as an option is written so.
    """
    for pattern, words in _TRANSLATIONS:
        message = re.sub(pattern, words, message)
    argument = re.match(r"[a-z_]+(?= must| cannot| is| needs| ')", message)
    if argument is not None:
        option = f"--{argument[0].replace('_', '-')}"
        if option in {word.partition("=")[0] for word in given}:
            return option + message[argument.end() :]
    return message


def _missing_values(match: re.Match[str]) -> str:
    """Return one option for each marker of a missing value."""
    markers = re.findall(rf"float\(({_LABEL})\)|({_LABEL})|([^\s,\[\]]+)", match[1])
    return " ".join(f"--missing-value {_quoted(next(filter(None, groups)))}" for groups in markers)


def _type_of_column(match: re.Match[str]) -> str:
    """Return the option for the type of a column."""
    return f"--{match[2]} {_quoted(match[1])}"


def _quoted(label: str) -> str:
    """Return a label quoted for a shell."""
    return shlex.quote(label[1:-1] if label[:1] in ("'", '"') else label)


# Compiled when there is an error: all of them take 10 ms.
_TRANSLATIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"missing_values=\[([^\]]*)\]", _missing_values),
    (rf"types=\{{({_LABEL}): '(categorical|continuous|nominal|ordinal|count)'\}}", _type_of_column),
    (rf"\bdrop=\[({_LABEL})\]", lambda match: f"--drop {_quoted(match[1])}"),
    (r"\b(row_names|transpose)=True", lambda match: f"--{match[1].replace('_', '-')}"),
    (r"\bdecimal=','", "--decimal ,"),
    (r"\btransform=(None|'none')", "--transform none"),
    (r"\b(missing|discretize|test|transform)='(\w+)'", r"--\1 \2"),
    (
        rf"^transform must be 'normal_scores', 'auto' or None; got ({_LABEL})\.",
        r"--transform must be normal_scores, auto or none; got \1.",
    ),
    (
        rf"^method must be 'width' or 'frequency'; got ({_LABEL})\..*",
        r"--discretize must be width or frequency; got \1. Use one of the two, or leave it out.",
    ),
    (rf"\bdelimiter=({_LABEL})", lambda match: f"--delimiter {_quoted(match[1])}"),
    (r"^required and forbidden must", "--required and --forbidden must"),
    (r"^(candidates|k)\b(?= is| must|:)", r"--\1"),
    (
        r"^path must be a screen, as Screened\.save writes it",
        "--candidates must be a screen, as mnlearn screen --out writes it",
    ),
    (r"^path must be (an intact screen|a screen of version)", r"--candidates must be \1"),
    (r"^rescans is for", "--no-rescans is for"),
    (r"\bcandidates='(all|screen)'", r"--candidates \1"),
    (r"^(required|forbidden)\b", r"--\1"),
    (r"^graph must", "GRAPH must"),
    (r"\bmethod='(canonical|pseudolikelihood|gaussian)'", r"--method \1"),
    (r"\binteractions='pairwise'", "--set interactions=pairwise"),
    (r" \(types=\{\.\.\.\}\)", " (--continuous)"),
    (r"^types: ", "--nominal, --ordinal, --count or --continuous: "),
    (r"^(repeats|weights): ", r"--\1: "),
    (r"^weights (?=and|must)", "--weights "),
    (r" by listing the others in columns=\[\.\.\.\]", " by naming the others with --column"),
    (r"\(columns=\[\.\.\.\]\)", "(--column)"),
    (r" with columns=\[\.\.\.\]", " with --column"),
    (r"\bpass format= with", "add --from or --to with"),
    (r"^n_permutations\b", "--permutations"),
    (r"\bn_permutations\b", "permutations"),
    (r"Name markers in missing_values\.", "Name markers with --missing-value."),
    (r"^n_samples\b", "--samples"),
    (r"^n_jobs\b", "--jobs"),
    (r"^bins (is|must)\b", r"--bins \1"),
    (r"drop bins\.", "drop --bins."),
    (r"^(workers|checkpoint|resume|cluster)\b", r"--\1"),
    (r"^types(?= cannot| is)", "--nominal, --ordinal, --count or --continuous"),
    (r"^missing_values(?= cannot)", "--missing-value"),
    (r"^columns and drop must", "--column and --drop must"),
    (r"^columns(?= is|:| must)", "--column"),
    (r"^row_names(?= cannot| is)", "--row-names"),
    (r"^drop(?=:| must)", "--drop"),
    (r"^(levels|repeats|delimiter|transpose|decimal|sheet|weights)(?= cannot| is| must| and| needs)", r"--\1"),
    (r" \(sheet=\.\.\.\)", " (--sheet)"),
    (r"\bresume=True\b", "--resume"),
    (r"\bappend=True\b", "--append"),
    (r"\bcheckpoint=\.\.\.", "--checkpoint DIR"),
    (rf"\blevels=\{{(?:{_LABEL}|[^{{}}'\"])*\}}", "--levels COL=A,B"),
    (r"^out must", "--out must"),
    (r"^append needs", "--append needs"),
    (r"^n_rows must", "--rows must"),
    (r"^repetitions must", "--reps must"),
    (r"^n_triplets must", "--triplets must"),
    (r" \(train\)", " (--train)"),
    (r"^sizes must", "--sizes must"),
    (rf"^method must be 'auto' for ({_LABEL})", r"--method must be auto for \1"),
)
