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
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mnlearn._atomic_files import replacing
from mnlearn.data.overview import Overview, overview
from mnlearn.errors import FileError, check_path, require
from mnlearn.visual import report_figures, report_text
from mnlearn.visual.figure_data import SIGN_COLORS, SIGN_WORDS, Portrait, portray
from mnlearn.visual.report_text import cautions, decimal

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned
    from mnlearn.results.resampling import Resampling


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
    scripts = [report_figures.bokeh_script(), _file("report.js")]
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
        "summary": report_text.summary(learned, portrait),
        "cautions": cautions(learned, seen),
        "seen": seen,
        "page_data": _page_data(portrait),
        "network": report_figures.network_item(portrait),
        "heatmap": report_figures.heatmap_item(portrait),
        "still_network": report_figures.still_network(portrait),
        "still_heatmap": report_figures.still_heatmap(portrait),
        "legend": _legend(portrait),
        "measures": portrait.measures,
        "edge_headings": edge_headings(portrait),
        "edges": edge_rows(portrait),
        "n_edges": portrait.graph.n_edges,
        "variables": variable_rows(portrait, seen, gaps),
        "colors": [portrait.color(x) for x in range(len(portrait.names))],
        "run_again": run_again(learned, source),
        "settings": settings_rows(learned),
        "cost": cost_rows(learned),
        "versions": versions(),
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


# The tables of the report: edges, variables, settings, versions.


MOST_EDGES = 5_000  # rows of the table: beyond, a browser is slow to sort
_PACKAGES = ("numpy", "scipy", "networkx", "bokeh", "jinja2")


class EdgeRow(NamedTuple):
    """One edge of the table: its place in the graph's list, its ends, and its numbers, each as a text and as such."""

    place: int
    u: int
    v: int
    cells: list[tuple[str, float | None]]


class VariableRow(NamedTuple):
    """One variable of the table, in words."""

    place: int
    name: str
    degree: int
    group: int
    kind: str = ""
    states: str = ""
    missing: int = 0
    common: str = ""
    remark: str = ""


def edge_headings(portrait: Portrait) -> list[str]:
    """The numbers that edges have."""
    signed = ["partial correlation"] if portrait.correlations else []
    return [measure.label for measure in portrait.measures] + signed


def edge_rows(portrait: Portrait) -> list[EdgeRow]:
    """The edges, the surest first, as many as a browser sorts quickly."""
    edges = portrait.graph.edges
    columns: list[Mapping[tuple[int, int], float]] = [measure.values for measure in portrait.measures]
    ranks = [[-column.get(edge, 0.0) for column in columns] for edge in edges]
    columns += [portrait.correlations] if portrait.correlations else []
    order = sorted(range(len(edges)), key=lambda k: (ranks[k], k))
    rows = []
    for k in order[:MOST_EDGES]:
        values = [column.get(edges[k]) for column in columns]
        rows.append(EdgeRow(k, *edges[k], [(decimal(value), value) for value in values]))
    return rows


def variable_rows(portrait: Portrait, seen: Overview | None, gaps: Mapping[str, int]) -> list[VariableRow]:
    """What is known of each variable; only its neighbours where the data are not at hand."""
    rows = []
    for x, name in enumerate(portrait.names):
        found = VariableRow(x, name, portrait.graph.degree(x), int(portrait.groups[x]))
        rows.append(found if seen is None else _with_data(found, seen, gaps.get(name, 0)))
    return rows


def _with_data(row: VariableRow, seen: Overview, gaps: int) -> VariableRow:
    """The same with what the data say of it."""
    variable = seen.variables[row.place]
    if variable.type == "continuous":
        states, common = "", f"from {variable.low:.4g} to {variable.high:.4g}"
    else:
        share = variable.most_common_count / max(seen.n_rows, 1)
        states, common = f"{variable.cardinality}", f"{variable.most_common} ({share:.0%})"
    doubled = any(row.name in group for group in seen.duplicated)
    remark = "never changes" if variable.constant else "same as another" if doubled else ""
    return row._replace(kind=variable.type, states=states, missing=gaps, common=common, remark=remark)


def run_again(learned: Learned, source: str | None) -> str:
    """The call that learns the same network from the same data."""
    settings = {key: value for key, value in learned.settings.items() if key != "method" and _is_said(value)}
    words = [repr(source or "your_data.csv"), f"method={learned.method!r}"]
    words += [f"{key}={_said(value)}" for key, value in settings.items()]
    call = ["import mnlearn as mn", "", "result = mn.learn(", *(f"    {word}," for word in words), ")"]
    return "\n".join([*call, *_resample_again(learned.resampling)])


def _resample_again(record: Resampling | None) -> list[str]:
    """The calls that draw the same samples, as many as there are, and choose by them."""
    if record is None:
        return []
    calls = [f"result = result.bootstrap({max(record.done, 2)}, sampling={record.sampling!r}, seed={record.seed})"]
    return calls if record.threshold is None else [*calls, f"result = result.stable({record.threshold!r})"]


def settings_rows(learned: Learned) -> list[tuple[str, str]]:
    """Every setting, those left at their default too."""
    return [(key, _said(value)) for key, value in learned.settings.items()]


def cost_rows(learned: Learned) -> list[tuple[str, str]]:
    """What the search did, and how long it took."""
    return [
        (key, f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}") for key, value in learned.cost.items()
    ]


def versions() -> list[tuple[str, str]]:
    """The packages that had a part in it, the language and the machine."""
    found = [("mnlearn", str(getattr(sys.modules.get("mnlearn"), "__version__", "unknown")))]
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:  # run from a folder, not installed
            continue
    return [*found, ("Python", platform.python_version()), ("system", f"{platform.system()} {platform.machine()}")]


def _is_said(value: object) -> bool:
    """Whether a setting must be said again: it says something, and can be written down."""
    return value is not None and value not in ((), [], {}) and _is_plain(value)


def _is_plain(value: object) -> bool:
    """Whether a setting is made of numbers, texts, truths and lists of them."""
    if isinstance(value, Mapping):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _said(value: object) -> str:
    """A setting as Python writes it."""
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
