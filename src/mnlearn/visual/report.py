"""The report: one offline HTML file with network, tables, warnings and the command to repeat the run.

Names come from data, and data from anywhere; so every name is text. Jinja escapes what it puts into the page, numbers
and names for the script travel as JSON that no tag can end, and a content security policy lets only the scripts run
whose digests it lists: were there a way for a name to become a tag, the browser would still refuse to run it. The same
policy forbids every request, so that a report never asks the network for anything.

The report of a large network: a part is drawn, tables are bounded, and all variables can be searched.

The names and edges of the whole network are in the page in a compact form, up to a limit; the page says what it leaves
out.
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
from numpy.typing import NDArray

from mnlearn.data.overviews import Overview, missingness, overview
from mnlearn.errors import FileError, InputError, check_path, require, true_or_false, whole_number
from mnlearn.files import replacing, write_errors
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual import report_figures, report_text
from mnlearn.visual.canvas import plot_degrees
from mnlearn.visual.drawings import cell_size
from mnlearn.visual.figure_data import (
    SIGN_COLORS,
    SIGN_WORDS,
    Appearance,
    FigureData,
    Groups,
    check_appearance,
    figure_data_of,
    strongest,
)
from mnlearn.visual.network import hub_excerpt, is_large, outline_of
from mnlearn.visual.report_figures import still_heatmap, still_network
from mnlearn.visual.report_sections import Computed, ReportSection, missing_section, new_gallery
from mnlearn.visual.report_text import cautions, count_of, decimal
from mnlearn.visual.samples import centrality_rows

if TYPE_CHECKING:
    from mnlearn.analysis.samples import Resampling
    from mnlearn.results.learned import Learned
    from mnlearn.results.measures import Predictability


HUBS, EACH = 12, 25  # drawn in the report
MOST_LISTED = 2_000  # variables of the table
MOST_EMBEDDED = 1_000_000  # edges in the file: some 10 MB
MOST_NAMED = 6_000_000  # bytes of names in the file


def most_joined(picture: FigureData, most: int = MOST_LISTED) -> list[int]:
    """Return the variables with the most neighbours, for the table; ties in the order of the variables."""
    found: list[int] = np.argsort(-picture.graph.degrees(), kind="stable")[:most].tolist()
    return found


def left_out(learned: Learned, whole: FigureData, drawn: FigureData, packed: dict[str, Any]) -> list[str]:
    """Return sentences on what the page shows of the network, and what it leaves out."""
    sizes = sorted(map(len, whole.graph.components()), reverse=True)
    joined = [size for size in sizes if size > 1]
    sentences = []
    if len(joined) > 1:
        sentences.append(
            f"It has {len(joined):,} parts that are not joined with each other; the largest has "
            f"{count_of(joined[0], 'variable')}."
        )
    sentences.append(
        f"Too large to draw as a whole: the picture and the heat map show {count_of(len(drawn.names), 'variable')}, "
        f"the {min(HUBS, len(drawn.names))} with the most neighbours and up to {EACH} of the strongest of each. Find "
        "any other variable by its name to see its neighbours."
    )
    n_edges, n_names = packed["count"], len(packed["names"])
    if n_edges < learned.graph.n_edges or n_names < len(learned.names):
        sentences.append(
            f"The search knows {count_of(n_names, 'variable')} of {len(learned.names):,} and the {n_edges:,} most "
            f"certain edges of {learned.graph.n_edges:,}; result.save(...) writes all of them to a file."
        )
    return sentences


def degree_section(whole: FigureData) -> ReportSection:
    """Return the section with the degree distribution."""
    degrees = whole.graph.degrees()
    gallery = new_gallery()
    pictures = gallery.draw("How many neighbours variables have", lambda: plot_degrees(whole))
    middle, high = np.quantile(degrees, [0.5, 0.99])
    sentences = [
        f"Half of the variables have at most {middle:.0f} neighbours, 99 % at most {high:.0f}, and one has "
        f"{degrees.max():,}.",
        *gallery.missing,
    ]
    return ReportSection("degrees", "How many neighbours variables have", "Degrees", sentences, pictures, [])


def packed_network(whole: FigureData, drawn: FigureData) -> dict[str, Any]:
    """Return names and edges of a network for the search of the page.

    Edges are u n + v in ascending order, as differences of 7 bits a byte, the lowest first. Beside them are the first
    measure in single precision, and the weight as a share of the strongest in 16 bits; NaN is −32,768.
    """
    known = _named(whole)
    position = np.full(len(whole.names), -1, dtype=np.int64)
    position[known] = np.arange(len(known))
    edges = whole.graph.edges
    ends = position[np.array(edges, dtype=np.int64).reshape(-1, 2)]
    certain = _column(whole.measures[0].values if whole.measures else {}, edges)
    kept = np.flatnonzero((ends >= 0).all(axis=1))
    order = np.argsort(-np.nan_to_num(certain[kept], nan=-np.inf), kind="stable")[:MOST_EMBEDDED]
    kept = np.sort(kept[order])
    keys = ends[kept, 0] * np.int64(len(known)) + ends[kept, 1]
    place = {name: x for x, name in enumerate(whole.names)}
    weights = whole.weights
    return {
        "names": [whole.names[x] for x in known],
        "places": None if len(known) == len(whole.names) else known,
        "count": len(kept),
        "pairs": _text(varints(np.diff(keys, prepend=0))),
        "measure": whole.measures[0].label if whole.measures else None,
        "values": _text(certain[kept].astype("<f4")) if whole.measures else None,
        "weight": None if weights is None else weights.measure,
        "strongest": None if weights is None else strongest(weights),
        "weights": None
        if weights is None
        else _text(_shares(_column(weights.values, edges)[kept], strongest(weights))),
        "drawn": [int(position[place[name]]) for name in drawn.names],
        "degrees": [whole.graph.degree(place[name]) for name in drawn.names],
        "hidden": [] if len(kept) == len(edges) else whole.graph.degrees()[known].tolist(),
    }


def _named(whole: FigureData) -> list[int]:
    """Return the variables whose names fit, those with the most neighbours first; ascending."""
    order = np.argsort(-whole.graph.degrees(), kind="stable")
    room = np.cumsum([len(whole.names[x].encode("utf-8", "backslashreplace")) + 4 for x in order])
    return sorted(order[room <= MOST_NAMED].tolist())


def _column(values: Any, edges: tuple[tuple[int, int], ...]) -> FloatArray:
    """Return one number per edge; NaN where there is none."""
    return np.array([np.nan if value is None else value for value in map(values.get, edges)], dtype=np.float64)


def _shares(weights: FloatArray, full: float) -> NDArray[np.int16]:
    """Return weights as shares of the strongest in 16 bits."""
    scaled = np.clip(np.rint(weights / full * 16_384), -32_767, 32_767)
    return np.where(np.isnan(scaled), -32_768, scaled).astype("<i2")


def varints(numbers: IntArray) -> NDArray[np.uint8]:
    """Return numbers of at least 0 as bytes of 7 bits, the lowest first; the highest bit says that more follow.

    Examples
    --------
    >>> varints(np.array([5, 300])).tolist()
    [5, 172, 2]
    """
    lengths = np.ones(len(numbers), dtype=np.int64)
    for k in range(1, 9):
        lengths += numbers >= 1 << 7 * k
    starts = np.cumsum(lengths) - lengths
    found = np.zeros(int(lengths.sum()), dtype=np.uint8)
    for k in range(int(lengths.max(initial=0))):
        some = lengths > k
        more = np.where(lengths[some] > k + 1, 128, 0)
        found[starts[some] + k] = (numbers[some] >> 7 * k & 127) + more
    return found


def _text(values: NDArray[Any]) -> str:
    """Return the bytes of an array as base64."""
    return base64.b64encode(values.tobytes()).decode("ascii")


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
    part = hub_excerpt(learned, HUBS, EACH)
    drawn = figure_data_of(part, seed, look.among(learned.names, part.names))
    whole = replace(outline_of(learned), weights=learned.weights)
    return _Shown(whole, drawn, packed_network(whole, drawn))


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
        "notes": [] if packed is None else left_out(learned, whole, picture, packed),
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
        "sections": ([] if packed is None else [degree_section(whole)]) + [missing] * (missing is not None),
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
