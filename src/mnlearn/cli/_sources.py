"""What `report` and `plot` start from: data to learn from, or a result that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli._bundles import ReaderKeywords
from mnlearn.cli._draws import Draws
from mnlearn.cli._progress import watched
from mnlearn.cli._targets import check_target
from mnlearn.errors import InputError

if TYPE_CHECKING:
    from mnlearn.output import Learned

Source = Annotated[
    str,
    typer.Argument(metavar="DATA|RESULT", help="A data file to learn from, or a .json that `learn --out` wrote."),
]
DataOfResult = Annotated[
    str | None,
    typer.Option("--data", metavar="DATA", help="The data behind RESULT: signs, types and warnings need them."),
]

Bootstrap = Annotated[
    int | None, typer.Option(metavar="B", help="Learn again from B samples of the rows: how often is each edge found?")
]


def is_result(source: str) -> bool:
    """Whether a file holds a result rather than data."""
    return Path(source).suffix.lower() == ".json"


def learned_from(
    source: str,
    data: str | None,
    method: str | None,
    wishes: dict[str, Any],
    how: ReaderKeywords,
    *,
    bootstrap: int | None = None,
) -> tuple[Learned, bool]:
    """The network that was saved, or the one learned now, and whether Ctrl-C came in between."""
    from mnlearn import pipeline

    draws = Draws(bootstrap)
    saved = _saved(source, data, {"method": method, **wishes})
    with watched() as monitor:
        learned = saved or pipeline.learn(source, method, monitor=monitor, **how, **wishes)
    if bootstrap is None or monitor.interrupted:
        return learned, monitor.interrupted
    return draws.drawn(learned, wishes.get("n_jobs"))


def _saved(source: str, data: str | None, wishes: dict[str, Any]) -> Learned | None:
    """The result that a file holds, with its data if they are named; none if the file holds data."""
    from mnlearn import pipeline

    if not is_result(source):
        if data is not None:
            raise InputError(
                f"--data is for a saved result (.json); {source!r} is none. Drop it: DATA is given already."
            )
        return None
    said = [name for name, value in wishes.items() if value is not None and name != "n_jobs"]
    if said:
        raise InputError(
            f"{said[0]} is for learning; {source!r} is a result already. Name the data file instead to learn anew."
        )
    learned = pipeline.load(source)
    return learned if data is None else learned.with_data(data)


def check_picture(option: str, path: str) -> None:
    """Refuse a picture that cannot be drawn or written."""
    from mnlearn.errors import require
    from mnlearn.output.plots import check_picture_path

    check_picture_path(path, option)
    check_target(option, path, graph=False)
    require("matplotlib", "plot")


def check_report(option: str, path: str) -> None:
    """Refuse a report that cannot be made or written."""
    from mnlearn.errors import require
    from mnlearn.output.report import check_report_path

    check_report_path(path, option)
    check_target(option, path, graph=False)
    for module in ("jinja2", "bokeh"):
        require(module, "report")
