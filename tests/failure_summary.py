"""The last lines of a run of the tests that fails: every failure and its reason.

The short summary of pytest cuts reasons to the width of the terminal, and leaves out those of files that cannot be
collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_LINES, MAX_WIDTH = 6, 300  # of a reason


def summary(reports: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the lines for the failed tests and then for the errors among the reports of pytest, by their outcome."""
    for word, outcome in (("FAILED", "failed"), ("ERROR", "error")):
        once = {(report.nodeid, report.when): report for report in reports.get(outcome, ())}  # every worker collects
        for report in once.values():
            yield f"{word} {report.nodeid}"
            yield from (f"    {line}"[:MAX_WIDTH] for line in reason(report))


def reason(report: Any) -> list[str]:
    """Return the first lines of the error of a test and where it is, or the last ones of a file not collected."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return [*_filled(crash.message)[:MAX_LINES], f"{crash.path}:{crash.lineno}"]
    lines = _filled(report.longreprtext)
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (errors or lines)[-MAX_LINES:]


def _filled(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
