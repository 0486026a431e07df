"""Output of the commands: results on standard output, notes, errors and progress on standard error.

Files of the commands: which options are read and which are written, and one check of all before any work.
"""

from __future__ import annotations

import errno
import glob
import json
import logging
import math
import os
import re
import shlex
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import Parameter
from math import exp, log
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer
from typer.models import OptionInfo

from mnlearn.errors import FileError
from mnlearn.files import check_outputs, try_to_write

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
    """Provide a monitor for a search; inside, Ctrl-C cancels the search instead of the program.

    A process that ignores Ctrl-C, such as one that a script has put into the background, goes on ignoring it.
    """
    monitor = ProgressMonitor()
    before = signal.getsignal(signal.SIGINT)
    # Python allows signal handlers in the main thread only.
    takes = threading.current_thread() is threading.main_thread() and before is not signal.SIG_IGN
    if takes:
        signal.signal(signal.SIGINT, monitor.interrupt)
    try:
        yield monitor
    finally:
        if takes:
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
    (r"^(checkpoint|resume|cluster)\b", r"--\1"),
    (r"^types(?= cannot| is)", "--nominal, --ordinal, --count or --continuous"),
    (r"^missing_values(?= cannot)", "--missing-value"),
    (r"^columns and drop must", "--column and --drop must"),
    (r"^columns(?= is|:| must)", "--column"),
    (r"^row_names(?= cannot| is)", "--row-names"),
    (r"^drop(?=:| must)", "--drop"),
    (r"^(levels|repeats|delimiter|transpose|decimal|sheet|weights)(?= cannot| is| must| and| needs)", r"--\1"),
    (r" \(sheet=\.\.\.\)", " (--sheet)"),
    (r"\bresume=True\b", "--resume"),
    (r"\bcheckpoint=\.\.\.", "--checkpoint DIR"),
    (rf"\blevels=\{{(?:{_LABEL}|[^{{}}'\"])*\}}", "--levels COL=A,B"),
    (r"^out must", "--out must"),
    (r"^n_rows must", "--rows must"),
    (r"^repetitions must", "--reps must"),
    (r"^n_triplets must", "--triplets must"),
    (r" \(train\)", " (--train)"),
    (r"^sizes must", "--sizes must"),
    (rf"^method must be 'auto' for ({_LABEL})", r"--method must be auto for \1"),
)


class FileUse(NamedTuple):
    """Use of the file of an option: read or written."""

    written: bool
    folder: bool
    inside: tuple[str, ...]  # names or patterns of the files in a folder


def reads(declared: Any, *inside: str) -> Any:
    """Mark an option or argument: its file is read, or these files of its folder."""
    declared.file_use = FileUse(written=False, folder=bool(inside), inside=inside)
    return declared


def writes(declared: Any) -> Any:
    """Mark an option or argument: its file is written."""
    declared.file_use = FileUse(written=True, folder=False, inside=())
    return declared


def writes_into(declared: Any, *inside: str) -> Any:
    """Mark an option or argument: these files of its folder are written."""
    declared.file_use = FileUse(written=True, folder=True, inside=inside)
    return declared


def file_uses(parameters: list[Parameter]) -> dict[str, tuple[str, FileUse]]:
    """Return the name on the command line and the use of each parameter that is a file."""
    found = {}
    for parameter in parameters:
        for declared in getattr(parameter.annotation, "__metadata__", ()):
            if hasattr(declared, "file_use"):
                words = [
                    word for word in (declared.default, *(declared.param_decls or ())) if str(word).startswith("--")
                ]
                usual = f"--{parameter.name.replace('_', '-')}"
                name = (words or [usual])[0] if isinstance(declared, OptionInfo) else declared.metavar
                found[parameter.name] = (name.removesuffix("..."), declared.file_use)
    return found


def check_files(uses: Mapping[str, tuple[str, FileUse]], given: Mapping[str, Any]) -> None:
    """Raise FileError if an output of a command is one of its inputs, or cannot be written."""
    inputs: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    written: list[tuple[str, FileUse, str]] = []
    for key, (name, use) in uses.items():
        for path in _listed(given[key]):
            if use.written:
                outputs.setdefault(name, []).extend([path, *(os.path.join(path, file) for file in use.inside)])
                written.append((name, use, path))
            else:
                inputs.setdefault(name, []).extend(_existing(path, use))
    check_outputs(outputs, inputs)
    for name, use, path in written:
        (check_folder if use.folder else check_output)(name, path)
    _check_standard_output(outputs, inputs)


def _listed(value: Any) -> list[str]:
    """Return the paths of an option, given or not."""
    return [] if value is None else [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _existing(path: str, use: FileUse) -> list[str]:
    """Return the files that are there: the file, those of a folder, or those of a pattern."""
    if os.path.isdir(path):
        return [file for pattern in use.inside for file in glob.glob(os.path.join(glob.escape(path), pattern))]
    return [path] if os.path.exists(path) else glob.glob(path)


def _check_standard_output(outputs: Mapping[str, list[str]], inputs: Mapping[str, list[str]]) -> None:
    """Raise FileError if standard output is a file that the command reads or replaces."""
    out = _standard_output()
    if out is None:
        return
    for name, paths in [*outputs.items(), *inputs.items()]:
        for path in filter(os.path.isfile, paths):
            if os.path.samestat(os.stat(path), out):
                raise FileError(
                    f"{name} must be another file than the one that standard output is sent to; got {path!r} for both. "
                    "Send the output elsewhere."
                )


def _standard_output() -> os.stat_result | None:
    """Return the file that standard output is sent to; None for a terminal, a pipe or a stream in memory."""
    try:
        found = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def check_output(name: str, path: str) -> None:
    """Raise FileError if the file of an option cannot be written."""
    if path == "-":
        raise FileError(f"{name} must be a file; got '-', and nothing is written to standard output. Name a file.")
    try:
        target = Path(os.path.realpath(path))
        _check_place(name, path, target)
        try_to_write(path)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{name} must be a file that can be written; {path!r}: {reason}. Name another.") from error


def _check_place(name: str, path: str, target: Path) -> None:
    """Raise FileError for a directory, or for a folder that is missing or cannot be written."""
    own = Path(path).parent
    folder = str(own if Path(os.path.realpath(own)) == target.parent else target.parent)
    if not path:
        raise FileError(f"{name} must be the name of a file; got ''. Name a file.")
    if target.is_dir():
        raise FileError(f"{name} must be a file; {path!r} is a directory. Name a file in it.")
    if target.parent.is_file():
        raise FileError(f"{name} must be in an existing folder; {folder!r} is a file. Name another folder.")
    if not target.parent.is_dir():
        raise FileError(f"{name} must be in an existing folder; there is no {folder!r}. Create it first.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{name} must be in a writable folder; {folder!r} is read-only. Name another folder.")


def check_folder(name: str, path: str) -> None:
    """Raise FileError if there is no such folder and it cannot be made, or if nothing can be written to it."""
    try:
        target = Path(os.path.realpath(path))
        there = next(folder for folder in (target, *target.parents) if _is_there(folder))
        if there.is_dir():
            try_to_write(there / "file")
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):  # a checkpoint can do without
            return
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"{name} must be a folder that can be written; {path!r}: {reason}. Name another folder."
        ) from error
    if not there.is_dir():
        what = "is a file" if there == target else f"is below {str(there)!r}, which is a file"
        raise FileError(f"{name} must be a folder; {path!r} {what}. Name another folder.")


def _is_there(path: Path) -> bool:
    """Return whether a path exists; a name that the file system does not allow is an OSError."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
