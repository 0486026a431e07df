"""A learned network on standard output: its edges, and what it cost to find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnlearn.cli._output import say, show, simple_table
from mnlearn.cli._wording import counted, joined, printable

if TYPE_CHECKING:
    from mnlearn.output import Learned

SHOWN = 40  # edges listed without --all
_COUNTED = {
    "graphs": ("graph", "graphs"),
    "asked": ("test", "tests"),
    "fitted": ("model fitted", "models fitted"),
    "inferred": ("inferred", "inferred"),
    "scored": ("term scored", "terms scored"),
    "proposed": ("flip proposed", "flips proposed"),
    "flips": ("flip made", "flips made"),
    "moves": ("move made", "moves made"),
    "fits": ("model fitted", "models fitted"),
    "fallbacks": ("not fitted", "not fitted"),
}
_SCALES = {"log_independence": "log support", "log_odds": "log odds"}  # the smaller the surer; the larger


def show_network(learned: Learned, *, all_edges: bool) -> None:
    """What was found, edge by edge, and what it cost."""
    graph = learned.graph
    isolated = sum(1 for v in range(graph.n_variables) if not graph.degree(v))
    lone = f" ({isolated} without an edge)" if isolated else ""
    say(f"{counted(graph.n_edges, 'edge')} among {counted(graph.n_variables, 'variable')}{lone}, by {learned.method}")
    _show_edges(learned, all_edges=all_edges)
    if learned.score is not None:
        name = learned.settings.get("score", learned.method)
        say(f"{name} score {learned.score:.6f}{_next_best(learned)}")
    say(_cost(learned))
    if learned.resampling is not None:
        say(f"frequencies of {learned.resampling}{_bound(learned)}")


def _show_edges(learned: Learned, *, all_edges: bool) -> None:
    """A table of the edges, the best supported first."""
    from rich.text import Text

    edges, heading = learned.edge_list(), _SCALES[learned.support_scale]
    if edges:
        extra = tuple(n for n in ("probability", "frequency") if any(getattr(edge, n) is not None for edge in edges))
        table = simple_table("edge", "", heading, *extra, numbers=(heading, *extra))
        for edge in edges if all_edges else edges[:SHOWN]:
            support = "" if edge.support is None else f"{edge.support:.4g}"
            known = (getattr(edge, name) for name in extra)
            shares = ("" if value is None else f"{value:.3f}" for value in known)
            table.add_row(Text(printable(edge.u)), Text(printable(edge.v)), support, *shares)
        show(table)
    if len(edges) > SHOWN and not all_edges:
        say(f"and {len(edges) - SHOWN} more; --all lists them")


def _bound(learned: Learned) -> str:
    """How many of the edges chosen by frequency may be false, where there is a bound."""
    record = learned.resampling
    if record is None or record.threshold is None or record.sampling != "halves" or record.threshold <= 0.5:
        return ""
    return f", at most {record.expected_false(record.threshold):.3g} expected to be false"


def _next_best(learned: Learned) -> str:
    """How far the runner-up is behind, where it is known."""
    if not learned.result.alternatives or learned.score is None:
        return ""
    graph, value = learned.result.alternatives[0]
    differing = sorted(set(graph.edges) ^ set(learned.graph.edges))
    pairs = [f"{learned.names[u]} - {learned.names[v]}" for u, v in differing]
    return f", {learned.score - value:.4g} above the next best graph, which differs in {joined(pairs, shown=4)}"


def _cost(learned: Learned) -> str:
    """What the search asked, and how it ended."""
    cost = dict(learned.cost)
    if "fitted" in cost:  # asked are neighbourhoods then, one of each variable
        del cost["asked"]
    asked = {key: words for key, words in _COUNTED.items() if cost.get(key) or key == "asked" in cost}
    counts = [f"{cost[key]:,.0f} {one if cost[key] == 1 else many}" for key, (one, many) in asked.items()]
    seconds = [f"{cost['seconds']:.1f} s"] if cost.get("seconds", 0.0) >= 1.0 else []
    return ", ".join(counts + seconds) + ("" if learned.converged else "; stopped before its end")
