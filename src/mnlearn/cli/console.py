"""What reaches the two streams: results on standard output, everything else on standard error."""

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import exp, log
from types import FrameType
from typing import TYPE_CHECKING, Any

from mnlearn.errors import InputError, MnlearnError, whole_number

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from mnlearn.results.learned import Learned


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


# Words: names made safe to print, and the library's errors said in terms of the command line's options.


_LABEL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""


def printable(text: str) -> str:
    """The text itself, with whatever could move the cursor or colour the screen written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def one_line(text: str) -> str:
    """The text on a single line."""
    return printable(" ".join(text.split()))


def sentence(text: str) -> str:
    """The text on a single line, begun and ended as our errors are."""
    line = one_line(text)
    return line[:1].lower() + line[1:] + ("" if line.endswith((".", "?")) else ".")


def joined(names: Sequence[str], *, shown: int = 8, between: str = ", ") -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return between.join(map(printable, names[:shown])) + more


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def probability(log_p: float) -> str:
    """A probability by its natural log, also where it is too small for a number."""
    if log_p > -600:
        return f"{exp(log_p):.3g}"
    power, digits = divmod(log_p / log(10), 1)
    return f"{10**digits:.2f}e{int(power)}"


def in_our_words(message: str) -> str:
    """An error of the library with its Python arguments written as options."""
    for pattern, words in _TRANSLATIONS:
        message = pattern.sub(words, message)
    return message


def _missing_values(match: re.Match[str]) -> str:
    """A list of markers, each as an option."""
    markers = re.findall(rf"float\(({_LABEL})\)|({_LABEL})|([^\s,\[\]]+)", match[1])
    return " ".join(f"--missing-value {_quoted(next(filter(None, groups)))}" for groups in markers)


def _type_of_column(match: re.Match[str]) -> str:
    """The type of a column as an option."""
    return f"--{match[2]} {_quoted(match[1])}"


def _quoted(label: str) -> str:
    """A label as a shell wants it."""
    return shlex.quote(label[1:-1] if label[:1] in ("'", '"') else label)


_TRANSLATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"missing_values=\[([^\]]*)\]", _missing_values),
        (rf"types=\{{({_LABEL}): '(categorical|continuous)'\}}", _type_of_column),
        (r"\b(missing|discretize|test)='(\w+)'", r"--\1 \2"),
        (
            rf"^method must be 'width' or 'frequency'; got ({_LABEL})\..*",
            r"--discretize must be width or frequency; got \1.",
        ),
        (rf"\bdelimiter=({_LABEL})", lambda match: f"--delimiter {_quoted(match[1])}"),
        (r"^required and forbidden must", "--require and --forbid must"),
        (r"^(required|forbidden)\b", lambda match: {"required": "--require", "forbidden": "--forbid"}[match[1]]),
        (r"^graph must", "GRAPH must"),
        (r"\bmethod='(canonical|pseudolikelihood|gaussian)'", r"--method \1"),
        (r"\binteractions='pairwise'", "--set interactions=pairwise"),
        (r" \(types=\{\.\.\.\}\)", " (--continuous)"),
        (r"^types: ", "--categorical or --continuous: "),
        (r"^repeats: ", "--repeats: "),
        (r",? by listing the others in columns=\[\.\.\.\]", ""),
        (r"\(columns=\[\.\.\.\]\)", "(--column)"),
        (r" with columns=\[\.\.\.\]", ""),
        (r"\bpass format= with", "say --from or --to with"),
        (r"\bn_permutations\b", "permutations"),
        (r"^n_jobs\b", "--jobs"),
        (r"^bins (is|must)\b", r"--bins \1"),
        (r"drop bins\.", "drop --bins."),
        (r"^(workers|checkpoint|resume|cluster)\b", r"--\1"),
        (r"\bresume=True\b", "--resume"),
        (r"\bcheckpoint=\.\.\.", "--checkpoint DIR"),
        (r"\blevels=\{\.\.\.\}", "--levels COL=A,B"),
        (r"^out must", "--out must"),
        (r"^append needs", "--append needs"),
        (r"^n_rows must", "--rows must"),
        (r"^repetitions must", "--reps must"),
        (r"^sizes must", "--sizes must"),
        (rf"^method must be 'auto' for ({_LABEL})", r"--sampler must be auto for \1"),
    )
)


# Progress on standard error, and Ctrl-C as a wish to stop rather than a crash.


EXIT_INTERRUPTED = 130
_REDRAW = 0.1  # seconds between two lines
_AFTER = 1.0  # seconds before the first one: what is done by then needs no progress


class Watcher:
    """A monitor that shows how far a search is, on a terminal only, and hears Ctrl-C."""

    def __init__(self) -> None:
        self.interrupted = False
        self._terminal = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + _AFTER
        self._drawn = False

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Redraw the line if it is time."""
        now = time.monotonic()
        if not self._terminal or now < self._next:
            return
        self._next, self._drawn = now + _REDRAW, True
        share = f"{done:g}" if total is None else f"{100 * done / max(total, 1):.0f} %"
        left = ""
        if total is not None and done > 0:
            left = f", about {(now - self._start) * (total - done) / done:.0f} s left"
        sys.stderr.write(f"\r\x1b[K{share}{left} {message}".rstrip())
        sys.stderr.flush()

    def cancelled(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.interrupted

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """The first Ctrl-C asks the search to stop; the second ends the program."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def watched() -> Iterator[Watcher]:
    """Watch over a search: inside, Ctrl-C stops it gently."""
    watcher = Watcher()
    main = threading.current_thread() is threading.main_thread()  # only there can signals be heard
    before = signal.signal(signal.SIGINT, watcher.interrupt) if main else None
    try:
        yield watcher
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
        watcher.clear()


# Rows drawn anew after a network was learned: what was said about it, and what Ctrl-C leaves of it.


class Draws:
    """What was said about rows drawn anew, checked before anything is learned."""

    def __init__(
        self, n_samples: int | None, sampling: str | None = None, seed: int | None = None, stable: float | None = None
    ) -> None:
        self.n_samples = n_samples
        for option, value in (("--sampling", sampling), ("--bootstrap-seed", seed), ("--stable", stable)):
            if value is not None and n_samples is None:
                raise InputError(f"{option} is for --bootstrap; got {value} without it. Add --bootstrap 200.")
        if n_samples is not None:
            whole_number("--bootstrap", n_samples, least=2, way_out="200 are usual.")
        if seed is not None and seed < 0:
            raise InputError(f"--bootstrap-seed must not be negative; got {seed}. Leave it out for 0.")
        if stable is not None and not 0 < stable <= 1:
            raise InputError(f"--stable must be above 0 and at most 1; got {stable:g}. 0.9 is usual.")
        if sampling not in (None, "subsamples", "bootstrap", "halves"):
            raise InputError(f"--sampling must be subsamples, bootstrap or halves; got {sampling!r}.")
        self._how: dict[str, Any] = {"sampling": sampling or "subsamples", "seed": seed or 0}
        self._stable = stable

    def drawn(self, learned: Learned, jobs: int | None, client: Any = None) -> tuple[Learned, bool]:
        """The network with its frequencies, and whether Ctrl-C cut them short."""
        with watched() as monitor:
            try:
                found = learned.bootstrap(self.n_samples or 0, n_jobs=jobs, client=client, monitor=monitor, **self._how)
            except MnlearnError:
                if monitor.interrupted:  # before the first sample was done
                    return learned, True
                raise
        return (found if self._stable is None else found.stable(self._stable)), monitor.interrupted


def cut_short(learned: Learned, *, sampled: bool) -> str:
    """What Ctrl-C left undone: the search, or the samples after it."""
    if not learned.converged:
        return "this is the best network so far, not where the search would have ended"
    if learned.resampling is not None:
        samples = counted(learned.resampling.done, "sample")
        return f"the network is whole; its frequencies are those of the first {samples}"
    return "the network is whole" + (", but no sample was done, so there are no frequencies" if sampled else "")
