"""`mnlearn bench learners`: times and errors of our learners beside those of other packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from mnlearn.cli.console import exit_interrupted, note, progress_monitor, show, simple_table
from mnlearn.cli.options import OutputOptions, option
from mnlearn.files import replacing, write_errors
from mnlearn_papers.commands.bench import (
    CONTINUE,
    DataFolder,
    PageFile,
    Quick,
    RunFolder,
    data_folder,
    fill_from_runs,
    make_folder,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mnlearn_papers.learners import Timing


def learners_command(
    *,
    quick: Quick = False,
    kind: Annotated[list[str] | None, option("NAME", "Only this kind of data; repeatable.")] = None,
    learner: Annotated[list[str] | None, option("NAME", "Only this learner; repeatable.", "--learner")] = None,
    rows: Annotated[int, option("N", "Rows of every data set.", "--rows")] = 2000,
    limit: Annotated[
        float | None, option("SECONDS", "Stop a learner after this time; by default 60 s, or 10 s with --quick.")
    ] = None,
    data: DataFolder = None,
    out: RunFolder = None,
    page: PageFile = None,
    output: OutputOptions,
) -> None:
    """Compare times and errors with other packages.

    Measures our learners and those of pyAgrum, pgmpy, causal-learn and scikit-learn that are installed, on the same
    data frames: CPU seconds of one thread, reading the frame included, and wrong edges. A learner that exceeds the
    limit is left out at larger sizes. Ctrl-C stops and prints the results so far.

    Examples:
      mnlearn bench learners --quick
      mnlearn bench learners --kind binary --learner pc --learner pyagrum-pc
      mnlearn bench learners --out runs
      mnlearn bench learners --out runs --page page.md
    """
    from mnlearn_papers import learners
    from mnlearn_papers.named import learner_bench

    if page is not None:
        fill_from_runs(page, out)
        return
    seconds = limit if limit is not None else 10.0 if quick else 60.0
    bench, missing = learner_bench(data=data_folder(data), n_rows=rows, limit=seconds, smallest=quick)
    chosen = bench.only(kind or (), learner or ())
    if out is not None:
        make_folder(out)
    with progress_monitor() as monitor:
        lines = chosen.run(journal=None if out is None else out / f"{learners.NAME}.jsonl", monitor=monitor)
    output.show(lambda: learners_document(lines, missing, chosen.limit), lambda: _show_times(lines, chosen.limit))
    if missing:
        note(f"not installed, so left out: {', '.join(missing)}")
    if out is not None:
        _write_times(out)
    if monitor.interrupted:
        exit_interrupted(CONTINUE)


def _show_times(lines: Sequence[Timing], limit: float) -> None:
    """Print one line for each data set and learner."""
    numbers = ("rows", "CPU seconds", "false +", "false -")
    table = simple_table("data", "rows", "learner", *numbers[1:], "", numbers=numbers)
    data = ""
    for line in lines:
        first = (line.data, str(line.n_rows)) if line.data != data else ("", "")
        data = line.data
        wrong = ("" if number is None else str(number) for number in (line.false_positives, line.false_negatives))
        ended = line.outcome == "ended"
        text = {"ended": "", "stopped": f"stopped after {limit:g} s"}.get(line.outcome, line.outcome)
        table.add_row(*first, line.learner, f"{line.seconds:.3g}" if ended else "", *wrong, text)
    show(table)


def learners_document(lines: Sequence[Timing], missing: Sequence[str], limit: float) -> dict[str, object]:
    """Return the results as one document."""
    return {
        "limit": limit,
        "missing": list(missing),
        "figures": [{"data": line.data, **line._asdict()} for line in lines],
    }


def _write_times(out: Path) -> None:
    """Draw all runs in a folder."""
    from mnlearn_papers import learners
    from mnlearn_papers.learners_page import draw_times

    target = out / f"{learners.NAME}.svg"
    with write_errors(target), replacing(target) as part:
        part.write_text(draw_times(learners.recorded_times(out / f"{learners.NAME}.jsonl")), encoding="utf-8")
