"""Pictures of networks with too many variables or edges to draw: hubs, degrees, and the surroundings of variables.

No layout is computed for more than some hundred variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import InputError, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.visual.appearance import Appearance
from mnlearn.visual.canvas import INK, add_legend, new_figure, plain_axes
from mnlearn.visual.degrees import draw_degrees
from mnlearn.visual.drawings import frame_network, paint_network, settle
from mnlearn.visual.figure_data import FigureData, figure_data_of, measures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned

LARGE_VARIABLES, LARGE_EDGES = 2_000, 20_000  # with more, layouts and pages take minutes
MOST_DRAWN = 300  # variables: the layout by all distances takes two seconds
_HUBS, _EACH = 8, 25


def is_large(graph: Graph) -> bool:
    """Return whether a network is too large to draw every variable."""
    return graph.n_variables > LARGE_VARIABLES or graph.n_edges > LARGE_EDGES


def outline_of(learned: Learned) -> FigureData:
    """Return the figure data of a network without layout, communities and weights."""
    n = len(learned.names)
    return FigureData(
        names=learned.names,
        graph=learned.graph,
        positions=np.zeros((n, 2)),
        groups=np.full(n, -1, dtype=np.int64),
        order=np.arange(n),
        weights=None,
        measures=tuple(measures(learned)),
    )


def hubs_of(graph: Graph, count: int) -> list[int]:
    """Return the variables with the most neighbours, the first in a tie."""
    degrees = graph.degrees()
    first = np.argsort(-degrees, kind="stable")[:count].tolist()
    return [x for x in first if degrees[x]]


def strongest_neighbors(learned: Learned, x: int, most: int) -> list[int]:
    """Return the neighbours of a variable with the best support."""
    support, sign = learned.result.support, -1.0 if learned.support_scale == "log_odds" else 1.0
    ranked = sorted((sign * support.get((min(x, y), max(x, y)), -sign * np.inf), y) for y in learned.graph.neighbors(x))
    return [y for _, y in ranked[:most]]


def hub_excerpt(learned: Learned, hubs: int = _HUBS, each: int = _EACH) -> Learned:
    """Return the network of the variables with the most neighbours and the strongest of these."""
    chosen = set(first := hubs_of(learned.graph, hubs)).union(*(strongest_neighbors(learned, x, each) for x in first))
    return learned.among(learned.names[x] for x in sorted(chosen) or range(min(len(learned.names), MOST_DRAWN)))


def surroundings(learned: Learned, names: str | Iterable[str], distance: int) -> tuple[Learned, int]:
    """Return the network around some variables to draw, and how many variables are left out of it.

    Beyond `MOST_DRAWN` variables, those with the best support of an edge towards the middle are kept.
    """
    steps = whole_number("distance", distance, least=1, hint="Use 1 for the neighbours alone.")
    chosen = set(learned.among(names).names)
    waves = learned.graph.waves([x for x, name in enumerate(learned.names) if name in chosen], steps)
    kept, total = list(waves[0]), sum(map(len, waves))
    if len(kept) > MOST_DRAWN:
        raise InputError(f"around must name at most {MOST_DRAWN} variables; got {len(kept)}. Name fewer of them.")
    for inner, wave in pairwise(waves):
        kept += _most_joined(learned, inner, wave)[: MOST_DRAWN - len(kept)]
    return learned.among(learned.names[x] for x in kept), total - len(kept)


def _most_joined(learned: Learned, inner: Sequence[int], wave: Sequence[int]) -> list[int]:
    """Return the variables of a wave, those with the best support of an edge to the one inside it first."""
    support, sign = learned.result.support, -1.0 if learned.support_scale == "log_odds" else 1.0
    within = set(inner)

    def best(y: int) -> tuple[float, int]:
        edges = ((min(x, y), max(x, y)) for x in learned.graph.neighbors(y) & within)
        return min((sign * support.get(edge, -sign * np.inf) for edge in edges), default=np.inf), y

    return sorted(wave, key=best)


def check_overview(look: Appearance, n_variables: int) -> None:
    """Raise InputError for settings of nodes and edges, which a picture of a whole large network does not have."""
    given = look.given()
    if given:
        raise InputError(
            f"{given[0]} is for pictures with a node for every variable, up to {LARGE_VARIABLES:,} of them; got a "
            f"network of {n_variables:,}. Draw a part of it with around=..., or drop {given[0]}."
        )


def plot_overview(learned: Learned, *, title: str = "", seed: int = 0) -> Figure:
    """Draw the degree distribution of a large network, and beside it its hubs with their strongest neighbours.

    Parameters
    ----------
    learned
        The network.
    title
        Title of the figure.
    seed
        Seed of the layout.
    """
    part = hub_excerpt(learned)
    picture = figure_data_of(part, seed)
    figure = new_figure((15.0, 7.4))
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 2.1))
    draw_degrees(plain_axes(left), learned.graph.degrees())
    left.set_title("How many neighbours variables have", loc="left", fontsize=11)
    hubs = len(hubs_of(learned.graph, _HUBS))
    what = f"The {hubs} variables with the most neighbours, and up to {_EACH} of the strongest of each"
    frame_network(right, picture, what)
    right.title.set_fontsize(11)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left", color=INK)
    add_legend(figure, picture, noun="lines")
    settle(figure, [right])
    paint_network(right, picture, Appearance())
    return figure


def titled(title: str, names: str | Iterable[str], distance: int, left_out: int) -> str:
    """Return the title of a picture of surroundings."""
    listed = [names] if isinstance(names, str) else list(names)
    near = ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
    more = f"; {left_out:,} variables with weaker edges are left out" if left_out else ""
    return f"{title}: within {distance} edge{'s' * (distance != 1)} of {near}{more}"
