"""Words: names made safe to print, and the library's errors said in terms of the command line's options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from math import exp, log

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
