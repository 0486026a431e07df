"""The report: one offline HTML file with network, tables, warnings and the command to repeat the run.

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
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mnlearn.data.missingness import missingness
from mnlearn.data.overviews import Overview, overview
from mnlearn.errors import FileError, InputError, check_path, require, true_or_false, whole_number
from mnlearn.files import replacing, write_errors
from mnlearn.visual import report_figures, report_large, report_text
from mnlearn.visual.appearance import Appearance, Groups, check_appearance
from mnlearn.visual.figure_data import SIGN_COLORS, SIGN_WORDS, FigureData, figure_data_of
from mnlearn.visual.heatmap import cell_size
from mnlearn.visual.large import hub_excerpt, is_large, outline_of
from mnlearn.visual.report_large import most_joined
from mnlearn.visual.report_missing import missing_section
from mnlearn.visual.report_sections import Computed
from mnlearn.visual.report_text import cautions, decimal
from mnlearn.visual.samples import centrality_rows
from mnlearn.visual.still import still_heatmap, still_network

if TYPE_CHECKING:
    from mnlearn.analysis.samples import Resampling
    from mnlearn.results.learned import Learned
    from mnlearn.results.predictability import Predictability


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
    groups: Groups | None = None,
    predictability: bool = False,
    computed: Computed | None = None,
) -> None:
    """Write a report: one offline HTML file for any browser.

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
    groups
        Groups of the variables, for colours and bridges; communities by default.
    predictability
        Add a table of how well each variable is predicted by its neighbours.
    computed
        Analyses of the network to show.

    Raises
    ------
    InputError
        If a setting is invalid, or an analysis is one of another network.
    FileError
        If the file cannot be written, or has another extension.
    MissingDependencyError
        If jinja2 or bokeh is not installed.
    """
    target = check_report_path(path)
    words = {"title": title, "source": source}
    page = render_report(learned, **words, seed=seed, groups=groups, predictability=predictability, computed=computed)
    with write_errors(path), replacing(target) as part:
        part.write_bytes(page.encode("utf-8", "xmlcharrefreplace"))


def check_report_path(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """Return the path of a report, or raise FileError unless it ends in .html or .htm."""
    check_path(argument, path)
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{argument} must end in .html; got {os.fspath(path)!r}. Name it so, and a browser opens it.")
    return target


def render_report(
    learned: Learned,
    *,
    title: str | None = None,
    source: str | None = None,
    seed: int = 0,
    groups: Groups | None = None,
    predictability: bool = False,
    computed: Computed | None = None,
) -> str:
    """Return the HTML that `write_report` writes."""
    for argument, text in (("title", title), ("source", source)):
        if not isinstance(text, str | None):
            raise InputError(f"{argument} must be a string; got {text!r:.80}. Leave it out for the default.")
    seed = whole_number("seed", seed, least=0, hint="Any such number will do.")
    true_or_false(predictability=predictability)
    look = Appearance(groups=groups)
    check_appearance(look, learned.names)
    computed = Computed() if computed is None else computed
    computed.check(learned)
    predicted = learned.predictability_list() if predictability else []
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
    shown = _shown(learned, seed, look)
    own = [_file("whole.js")] if shown.packed else []
    scripts = [report_figures.bokeh_script(), *own, _file("report.js"), _file("save.js")]
    context = _context(learned, shown, source, computed)
    return str(
        environment.get_template("report.html").render(
            title=title or "What the data say about each other",
            policy=_POLICY.format(scripts=" ".join(map(_digest, scripts))),
            style=_file("report.css"),
            scripts=scripts,
            predicted=predicted_rows(predicted),
            **{**context, "sections": [*computed.sections(shown.drawn, seed), *context["sections"]]},
        )
    )


class _Shown(NamedTuple):
    """The whole network, and the part of it that is drawn; of a network that is not large, they are the same."""

    whole: FigureData
    drawn: FigureData
    packed: dict[str, Any] | None = None  # names and edges for the search, if only a part is drawn


def _shown(learned: Learned, seed: int, look: Appearance) -> _Shown:
    """Return the figure data of a network, or of the hubs of a large one."""
    if not is_large(learned.graph):
        picture = figure_data_of(learned, seed, look)
        return _Shown(picture, picture)
    part = hub_excerpt(learned, report_large.HUBS, report_large.EACH)
    drawn = figure_data_of(part, seed, look.among(learned.names, part.names))
    whole = replace(outline_of(learned), weights=learned.weights)
    return _Shown(whole, drawn, report_large.packed_network(whole, drawn))


def _context(learned: Learned, shown: _Shown, source: str | None, computed: Computed) -> dict[str, Any]:
    """Return the variables of the page template."""
    whole, picture, packed = shown
    seen = None if learned.data is None else overview(learned.data)
    gaps = {} if learned.data is None else learned.data.missing.counts
    limits = computed.limits(whole)
    found = missingness(learned.data) if learned.data is not None and learned.data.gaps else None
    missing = None if learned.data is None else missing_section(learned.data, learned.graph, found)
    return {
        "learned": learned,
        "names": whole.names,
        "suggested": whole.names if packed is None else (),
        "notes": [] if packed is None else report_large.left_out(learned, whole, picture, packed),
        "whole": packed,
        "summary": report_text.summary_sentences(learned, whole),
        "cautions": cautions(learned, seen, found),
        "seen": seen,
        "page_data": _page_data(picture),
        "network": report_figures.network_item(picture),
        "heatmap": report_figures.heatmap_item(picture),
        "still_network": still_network(picture).svg(_described(picture)),
        "still_heatmap": still_heatmap(picture).svg("Heat map of the network"),
        "legend": _legend(picture),
        "group_legend": picture.group_legend(),
        "measures": picture.measures,
        "scales": [str(scale["label"]) for scale in _scales(picture)],
        "opacity": picture.confidence(),
        "weight_measure": picture.weights.measure if picture.weights is not None and picture.graph.n_edges else None,
        "edge_headings": edge_headings(whole) + ["low", "high"] * bool(limits),
        "edges": edge_rows(whole, limits),
        "n_edges": whole.graph.n_edges,
        "variables": variable_rows(whole, seen, gaps),
        "centrality": centrality_rows(whole),
        "colors": [whole.color(x) for x in range(len(whole.names))],
        "run_again": run_again(learned, source),
        "settings": settings_rows(learned),
        "sections": ([] if packed is None else [report_large.degree_section(whole)])
        + [missing] * (missing is not None),
        "cost": _capital(learned.cost_in_words),
        "weights": "" if picture.weights is None else picture.weights.words,
        "versions": versions(),
        "written": datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC"),
    }


def _page_data(picture: FigureData) -> dict[str, Any]:
    """Return the data for the script of the page."""
    edges = picture.graph.edges
    return {
        "names": list(picture.names),
        "edges": [list(edge) for edge in edges],
        "signs": [picture.sign(edge) for edge in edges],
        "measures": _scales(picture),
        "weight": None if picture.weights is None else picture.weights.measure,
        "weights": [None if picture.weights is None else picture.weights.values.get(edge) for edge in edges],
        "order": picture.order.tolist(),
        "reach": cell_size(len(picture.names)) // 2,
    }


def _scales(picture: FigureData) -> list[dict[str, Any]]:
    """Return the scales of the slider: confidence of the edges, and their absolute weights."""
    edges = picture.graph.edges
    scales = [
        {"label": one.label, "shares": one.shares, "values": [one.values.get(edge) for edge in edges]}
        for one in picture.measures
    ]
    if picture.weights is not None and edges:
        known = [picture.weights.values.get(edge) for edge in edges]
        values = [None if value is None else abs(value) for value in known]
        if any(value is not None for value in values):
            scales.append(
                {"label": f"|{picture.weights.measure}|", "shares": False, "absolute": True, "values": values}
            )
    return scales


def _described(picture: FigureData) -> str:
    """Return the size of the network in words."""
    return f"The network: {picture.graph.n_edges} edges among {len(picture.names)} variables"


def _legend(picture: FigureData) -> list[tuple[str, str]]:
    """Return the colours of the signs that occur, if any edge has one."""
    signs = sorted({picture.sign(edge) for edge in picture.graph.edges}, reverse=True)
    return [(SIGN_COLORS[sign], SIGN_WORDS[sign]) for sign in signs] if any(signs) else []


def _file(name: str) -> str:
    """Return a file of the page with normalised line ends."""
    return (_PAGE / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _digest(script: str) -> str:
    """Return the CSP hash that allows this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


MOST_EDGES = 5_000  # rows of the table: beyond, a browser is slow to sort
_PACKAGES = ("numpy", "scipy", "networkx", "bokeh", "jinja2")


class EdgeRow(NamedTuple):
    """One edge of the table: index in the graph, ends, and numbers, each as text and as value."""

    place: int
    u: int
    v: int
    cells: list[tuple[str, float | None]]


class VariableRow(NamedTuple):
    """One variable of the table."""

    place: int
    name: str
    degree: int
    group: str
    kind: str = ""
    reason: str = ""
    states: str = ""
    missing: int = 0
    common: str = ""
    remark: str = ""


def edge_headings(picture: FigureData) -> list[str]:
    """Return the column headings of the edge table."""
    signed = [] if picture.weights is None else ["weight"]
    return [measure.label for measure in picture.measures] + signed


def edge_rows(picture: FigureData, limits: Mapping[tuple[int, int], tuple[float, float]]) -> list[EdgeRow]:
    """Return the edges with the ends of their intervals, the most certain first, as many as a browser sorts quickly."""
    edges = picture.graph.edges
    columns: list[Mapping[tuple[int, int], float]] = [measure.values for measure in picture.measures]
    ranks = [[-column.get(edge, 0.0) for edge in edges] for column in columns]
    columns += [] if picture.weights is None else [picture.weights.values]
    columns += [{edge: ends[k] for edge, ends in limits.items()} for k in (0, 1)] if limits else []
    order: list[int] = np.lexsort([np.arange(len(edges)), *map(np.array, reversed(ranks))])[:MOST_EDGES].tolist()
    rows = []
    for k in order:
        (u, v), values = edges[k], [column.get(edges[k]) for column in columns]
        rows.append(EdgeRow(k, u, v, [(decimal(value), value) for value in values]))
    return rows


def variable_rows(picture: FigureData, seen: Overview | None, gaps: Mapping[str, int]) -> list[VariableRow]:
    """Return the row of each variable, of a large network of the best connected; neighbours alone without data."""
    rows = []
    for x in most_joined(picture) if is_large(picture.graph) else range(len(picture.names)):
        name = picture.names[x]
        named = bool(picture.group_names) and picture.groups[x] >= 0
        group = picture.group_names[picture.groups[x]] if named else ""
        found = VariableRow(x, name, picture.graph.degree(x), group)
        rows.append(found if seen is None else _with_data(found, seen, gaps.get(name, 0)))
    return rows


def _with_data(row: VariableRow, seen: Overview, gaps: int) -> VariableRow:
    """Return the row of a variable with facts from its data."""
    variable = seen.variables[row.place]
    if variable.type == "continuous":
        states, common = "", f"from {variable.low:.4g} to {variable.high:.4g}"
    else:
        known = round(seen.n_rows * (1 - variable.missing_share))
        share = variable.most_common_count / max(known, variable.most_common_count, 1)
        states, common = f"{variable.cardinality}", f"{variable.most_common} ({share:.0%})"
    doubled = any(row.name in group for group in seen.duplicated)
    remark = "never changes" if variable.constant else "same as another" if doubled else ""
    if variable.unused:
        remark += f"{'; ' if remark else ''}levels without rows: {len(variable.unused)}"
    kind = variable.kind or variable.type
    return row._replace(kind=kind, reason=variable.reason, states=states, missing=gaps, common=common, remark=remark)


def predicted_rows(rows: list[Predictability]) -> list[tuple[Predictability, list[tuple[str, float | None]]]]:
    """Return each variable with its numbers, cross-validated where there is a choice, each as text and as value."""
    numbers = [(row.r2, row.r2_cv, row.accuracy_cv, row.marginal, row.normalised_cv) for row in rows]
    cells = [[("" if value is None else f"{value:.3f}", value) for value in values] for values in numbers]
    return list(zip(rows, cells, strict=True))


def run_again(learned: Learned, source: str | None) -> str:
    """Return the call that repeats the run."""
    known = ((key, value) for key, value in learned.settings.items() if key != "method")
    settings = {key: value for key, value in known if _is_said(value) or key == "transform"}
    data = "your_array" if "names" in settings else repr(source or "your_data.csv")  # only arrays have no names
    words = [data, f"method={learned.method!r}"]
    own = {key for key in ("test", "score") if not isinstance(getattr(learned.recipe, key, None), str | None)}
    words += [f"{key}={value if key in own else _said(value)}" for key, value in settings.items()]
    call = ["import mnlearn as mn", "", "result = mn.learn(", *(f"    {word}," for word in words), ")"]
    return "\n".join([*call, *_resample_again(learned.resampling)])


def _resample_again(record: Resampling | None) -> list[str]:
    """Return the calls that repeat the resampling and the selection."""
    if record is None:
        return []
    calls = [f"result = result.bootstrap({max(record.done, 2)}, sampling={record.sampling!r}, seed={record.seed})"]
    return calls if record.threshold is None else [*calls, f"result = result.stable({record.threshold!r})"]


def settings_rows(learned: Learned) -> list[tuple[str, str]]:
    """Return every setting, defaults included."""
    return [(key, _said(value)) for key, value in learned.settings.items()]


def _capital(sentence: str) -> str:
    """Return the sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def versions() -> list[tuple[str, str]]:
    """Return the versions of packages, Python and platform."""
    found = [("mnlearn", str(getattr(sys.modules.get("mnlearn"), "__version__", "unknown")))]
    for package in _PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:  # run from a folder, not installed
            continue
    return [*found, ("Python", platform.python_version()), ("system", f"{platform.system()} {platform.machine()}")]


def _is_said(value: object) -> bool:
    """Return whether a setting must be repeated: it is not None and can be written."""
    return value is not None and value not in ((), [], {}) and _is_plain(value)


def _is_plain(value: object) -> bool:
    """Return whether a setting consists of numbers, strings, bools and lists of them."""
    if isinstance(value, Mapping):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _said(value: object) -> str:
    """Return a setting as Python code."""
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
