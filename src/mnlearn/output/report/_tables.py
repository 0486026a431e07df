"""The tables of the report: edges, variables, settings, versions."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.data.overview import Overview
from mnlearn.output.portrait import Portrait
from mnlearn.output.report._words import decimal

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned
    from mnlearn.output.resampling import Resampling

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
