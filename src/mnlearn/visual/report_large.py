"""The report of a large network: a part is drawn, tables are bounded, and all variables can be searched.

The names and edges of the whole network are in the page in a compact form, up to a limit; the page says what it leaves
out.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual.degrees import plot_degrees
from mnlearn.visual.figure_data import FigureData, strongest
from mnlearn.visual.report_sections import ReportSection, new_gallery
from mnlearn.visual.report_text import count_of

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned

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
