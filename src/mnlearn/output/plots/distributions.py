"""How edges and variables are spread: degrees, sureness, centralities, and what held up under resampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import InputError
from mnlearn.output.plots._canvas import FAINT, INK, new_figure, plain_axes
from mnlearn.output.portrait import GROUP_COLORS, Portrait, shown_name
from mnlearn.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.output.learned import Learned

_MOST_CENTRAL = 25  # variables listed in the picture of centralities
CENTRALITIES = {
    "degree": "neighbours",
    "closeness": "closeness (near to all)",
    "betweenness": "betweenness (between others)",
}


def plot_degrees(portrait: Portrait, *, title: str = "") -> Figure:
    """Draw how many variables have how many neighbours.

    Parameters
    ----------
    portrait
        What `portray` worked out.
    title
        Above the figure.
    """
    degrees = np.asarray(portrait.graph.degrees())
    counts = np.bincount(degrees)
    figure = new_figure((6.0, 3.8))
    axes = plain_axes(figure.add_subplot())
    axes.bar(np.arange(len(counts)), counts, color=GROUP_COLORS[0], width=0.8)
    axes.axvline(float(degrees.mean()), color=INK, linewidth=1, linestyle=":")
    axes.annotate(
        f"mean {degrees.mean():.1f}",
        (float(degrees.mean()), 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -10),
        textcoords="offset points",
        color=INK,
    )
    axes.locator_params(integer=True)
    axes.set(xlabel="neighbours", ylabel="variables")
    axes.set_title(title, parse_math=False, loc="left")
    return figure


def plot_support(portrait: Portrait, *, title: str = "") -> Figure:
    """Draw how sure the edges are, one histogram for each scale there is.

    Parameters
    ----------
    portrait
        What `portray` worked out.
    title
        Above the figure.
    """
    scales = portrait.measures
    if not scales:
        raise InputError(
            "kind 'support' needs edges with a support; this network has none. Draw kind='network' instead."
        )
    figure = new_figure((1.0 + 4.4 * len(scales), 3.6))
    panels = figure.subplots(1, len(scales), squeeze=False)[0]
    for axes, measure in zip(panels, scales, strict=True):
        values = np.array(list(measure.values.values()))
        plain_axes(axes).hist(values, bins=20, range=(0.0, 1.0) if measure.shares else None, color=GROUP_COLORS[0])
        axes.set(xlabel=measure.label, ylabel="edges")
        axes.locator_params(axis="y", integer=True)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left")
    return figure


def plot_centralities(portrait: Portrait, *, title: str = "") -> Figure:
    """Draw how central the variables are: neighbours, closeness, betweenness; the best connected ones where many.

    Parameters
    ----------
    portrait
        What `portray` worked out.
    title
        Above the figure.
    """
    table = centralities(portrait)
    ranked = sorted(range(len(portrait.names)), key=lambda x: (-table["degree"][x], -table["betweenness"][x], x))
    listed = ranked[:_MOST_CENTRAL][::-1]
    figure = new_figure((9.0, 1.6 + 0.26 * len(listed)))
    panels = figure.subplots(1, len(table), sharey=True, squeeze=False)[0]
    for axes, (key, values) in zip(panels, table.items(), strict=True):
        plain_axes(axes)
        axes.hlines(range(len(listed)), 0, values[listed], color=FAINT, linewidth=1)
        axes.scatter(values[listed], range(len(listed)), color=[portrait.color(x) for x in listed], s=36, zorder=2)
        axes.set_xlabel(CENTRALITIES[key], fontsize=9)
        axes.set_xlim(left=-0.03 * max(float(values.max()), 1e-9))
        axes.margins(y=0.5 / len(listed))
    panels[0].set_yticks(range(len(listed)), [shown_name(portrait.names[x]) for x in listed], parse_math=False)
    more = f" (the first {len(listed)} of {len(ranked)})" if len(ranked) > len(listed) else ""
    figure.suptitle(title + more, parse_math=False, x=0.01, ha="left")
    return figure


def centralities(portrait: Portrait) -> dict[str, FloatArray]:
    """Degree as a number of neighbours, closeness and betweenness from 0 to 1; one number per variable."""
    import networkx as nx

    graph = portrait.graph.to_networkx()
    everyone = range(portrait.graph.n_variables)
    found = {"closeness": nx.closeness_centrality(graph), "betweenness": nx.betweenness_centrality(graph)}
    table = {"degree": np.asarray(portrait.graph.degrees(), dtype=np.float64)}
    return table | {name: np.array([values[x] for x in everyone]) for name, values in found.items()}


def plot_stability(learned: Learned, *, title: str = "") -> Figure:
    """Draw how often each pair was an edge under resampling, and how many edges hold up at each threshold.

    Parameters
    ----------
    learned
        A result with frequencies under resampling.
    title
        Above the figure.

    Raises
    ------
    InputError
        If the result has no frequencies.
    """
    if learned.frequencies is None:
        raise InputError(
            "kind 'stability' needs frequencies under resampling; this result has none. Ask for them first: "
            "result.bootstrap(100), or --bootstrap 100."
        )
    ranked = sorted(((share, pair in learned.graph) for pair, share in learned.frequencies.items()), reverse=True)
    shares = np.array([share for share, _ in ranked], dtype=np.float64)
    kept = np.array([edge for _, edge in ranked], dtype=bool)
    figure = new_figure((9.0, 3.8))
    left, right = figure.subplots(1, 2)
    places = np.arange(1, len(shares) + 1)
    for chosen, color, label in ((kept, GROUP_COLORS[0], "in the network"), (~kept, GROUP_COLORS[1], "not in it")):
        plain_axes(left).plot(places[chosen], shares[chosen], ".", color=color, label=label, markersize=6)
    left.set(xlabel="pairs, most frequent first", ylabel="resampling frequency", ylim=(-0.03, 1.03))
    left.legend(frameon=False)
    levels = np.linspace(0.0, 1.0, 101)
    for chosen, color in ((kept, GROUP_COLORS[0]), (~kept, GROUP_COLORS[1])):
        counts = (shares[chosen][None, :] >= levels[:, None]).sum(axis=1)
        plain_axes(right).step(levels[1:], counts[1:], color=color, where="pre")
    right.set(xlabel="at least this frequency", ylabel="pairs", xlim=(0, 1.0))
    right.set_ylim(bottom=0)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left")
    return figure
