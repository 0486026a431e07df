"""The report as one file: its parts put together, and written whole or not at all.

Names come from data, and data from anywhere; so every name is text. Jinja escapes what it puts into the page, numbers
and names for the script travel as JSON that no tag can end, and a content security policy lets only the scripts run
whose digests it lists: were there a way for a name to become a tag, the browser would still refuse to run it. The same
policy forbids every request, so that a report never asks the network for anything.
"""

from __future__ import annotations

import base64
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnlearn.data import overview
from mnlearn.errors import FileError, check_path, require
from mnlearn.output.portrait import SIGN_COLORS, SIGN_WORDS, Portrait, portray
from mnlearn.output.report import _figures, _static, _tables, _words
from mnlearn.output.report._cautions import cautions
from mnlearn.writing import replacing

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned

_PAGE = Path(__file__).parent / "page"
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def write_report(
    learned: Learned,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    source: str | None = None,
    seed: int = 0,
) -> None:
    """Write a report: one HTML file that any browser opens, offline.

    Parameters
    ----------
    learned
        What `mnlearn.learn` returned, or a saved network.
    path
        Where to write; it ends in .html or .htm. A file that is there is replaced.
    title
        At the top of the page.
    source
        What the data are called in the call that runs it again.
    seed
        For the layout: the same seed gives the same picture.

    Raises
    ------
    FileError
        If the file cannot be written, or has another extension.
    MissingDependencyError
        If jinja2 or bokeh is not installed.
    """
    target = check_report_path(path)
    page = render_report(learned, title=title, source=source, seed=seed)
    try:
        with replacing(target) as part:
            part.write_bytes(page.encode("utf-8", "xmlcharrefreplace"))
    except OSError as error:
        raise FileError(f"{os.fspath(path)!r} cannot be written: {error.strerror or error}.") from error


def check_report_path(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """The path of a report; refused if it does not end as a web page does."""
    check_path(argument, path)
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{argument} must end in .html; got {os.fspath(path)!r}. Name it so, and a browser opens it.")
    return target


def render_report(learned: Learned, *, title: str | None = None, source: str | None = None, seed: int = 0) -> str:
    """The text of the page that `write_report` writes."""
    jinja2: Any = require("jinja2", "report")
    require("bokeh", "report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "allow_nan": False}  # Bokeh reads in order
    scripts = [_figures.bokeh_script(), _file("report.js")]
    context = _context(learned, portray(learned, seed), source)
    return str(
        environment.get_template("report.html").render(
            title=title or "What the data say about each other",
            policy=_POLICY.format(scripts=" ".join(map(_digest, scripts))),
            style=_file("report.css"),
            scripts=scripts,
            **context,
        )
    )


def _context(learned: Learned, portrait: Portrait, source: str | None) -> dict[str, Any]:
    """All that the page tells."""
    seen = None if learned.data is None else overview(learned.data)
    gaps = {} if learned.data is None else learned.data.missing.counts
    return {
        "learned": learned,
        "names": portrait.names,
        "summary": _words.summary(learned, portrait),
        "cautions": cautions(learned, seen),
        "seen": seen,
        "page_data": _page_data(portrait),
        "network": _figures.network_item(portrait),
        "heatmap": _figures.heatmap_item(portrait),
        "still_network": _static.still_network(portrait),
        "still_heatmap": _static.still_heatmap(portrait),
        "legend": _legend(portrait),
        "measures": portrait.measures,
        "edge_headings": _tables.edge_headings(portrait),
        "edges": _tables.edge_rows(portrait),
        "n_edges": portrait.graph.n_edges,
        "variables": _tables.variable_rows(portrait, seen, gaps),
        "colors": [portrait.color(x) for x in range(len(portrait.names))],
        "run_again": _tables.run_again(learned, source),
        "settings": _tables.settings_rows(learned),
        "cost": _tables.cost_rows(learned),
        "versions": _tables.versions(),
        "written": datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC"),
    }


def _page_data(portrait: Portrait) -> dict[str, Any]:
    """What the page's script works with."""
    edges = portrait.graph.edges
    scales = [
        {
            "label": measure.label,
            "shares": measure.shares,
            "values": [measure.values.get(edge) for edge in edges],
        }
        for measure in portrait.measures
    ]
    return {
        "names": list(portrait.names),
        "edges": [list(edge) for edge in edges],
        "signs": [portrait.sign(edge) for edge in edges],
        "measures": scales,
        "correlations": [portrait.correlations.get(edge) for edge in edges],
        "order": portrait.order.tolist(),
    }


def _legend(portrait: Portrait) -> list[tuple[str, str]]:
    """The colours of lines that occur, if any of them tells a direction."""
    signs = sorted({portrait.sign(edge) for edge in portrait.graph.edges}, reverse=True)
    return [(SIGN_COLORS[sign], SIGN_WORDS[sign]) for sign in signs] if any(signs) else []


def _file(name: str) -> str:
    """A file of the page, with line ends as a browser counts them."""
    return (_PAGE / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _digest(script: str) -> str:
    """What lets a browser run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
