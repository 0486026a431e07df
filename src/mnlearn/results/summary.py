"""Summary of a learned network: a few lines of text for a terminal, or HTML for a notebook.

Difference of two networks over the same variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from mnlearn.errors import UnknownNameError
from mnlearn.graphs.named import NamedGraph
from mnlearn.results.edges import SUPPORT_TITLES, LearnedEdge, first_edges, printable
from mnlearn.results.explain import words_of_transform

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset, Kind
    from mnlearn.results.learned import Learned


SHOWN = 10  # edges of a summary
_DRAWN_UP_TO = 60  # variables of the small picture in a notebook


def headline(learned: Learned) -> str:
    """Return one line on the network."""
    ended = "" if learned.converged else "; stopped before its end"
    asked = f", {int(learned.cost.get('asked', 0)):,} tests" if learned.support_scale == "log_independence" else ""
    score = f", score {learned.score:.6g}" if learned.score is not None else ""
    size = f"{_counted(learned.graph.n_edges, 'edge')} among {_counted(len(learned.names), 'variable')}"
    return f"{learned.method}: {size}{score}{asked}{ended}"


def summary_text(learned: Learned) -> str:
    """Return the facts and the strongest edges as text."""
    lines = [f"{label + ':':<12}{printable(text)}" for label, text in _facts(learned)]
    edges = first_edges(learned, SHOWN)
    if edges:
        rows = [_headings(learned, edges), *(_cells(edge, edges) for edge in edges)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines += ["", *("  ".join(_aligned(row, widths)).rstrip() for row in rows)]
    if learned.graph.n_edges > SHOWN:
        lines.append(f"and {learned.graph.n_edges - SHOWN:,} more: edges() has them all")
    return "\n".join(lines)


def as_html(learned: Learned) -> str:
    """Return the facts and the strongest edges as HTML; names are escaped."""
    edges = first_edges(learned, SHOWN)
    facts = "".join(f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in _facts(learned))
    more = learned.graph.n_edges - len(edges)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in _cells(edge, edges))}</tr>" for edge in edges)
    head = "".join(f"<th>{escape(heading)}</th>" for heading in _headings(learned, edges))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if edges else ""
    rest = f"<p>and {more} more: <code>edges()</code> has them all</p>" if more else ""
    return f"<div><table>{facts}</table>{table}{rest}{_small_picture(learned)}</div>"


def _small_picture(learned: Learned) -> str:
    """Return a small SVG of the network; empty without edges and for a large network, which would be unreadable."""
    if not learned.graph.n_edges or len(learned.names) > _DRAWN_UP_TO or learned.graph.n_edges > 10 * _DRAWN_UP_TO:
        return ""
    from mnlearn.visual.figure_data import figure_data_of
    from mnlearn.visual.report_figures import still_network

    drawn = still_network(figure_data_of(learned)).svg(headline(learned))
    return f'<div style="max-width: 36em">{drawn}</div>'


def _facts(learned: Learned) -> list[tuple[str, str]]:
    """Return label and text of each line."""
    from mnlearn.regression.weights import TOO_MANY

    graph, n = learned.graph, len(learned.names)
    degrees = graph.degrees().tolist()
    n_pairs = n * (n - 1) // 2
    density = f", {_percent(graph.n_edges / n_pairs)} of all pairs" if n_pairs else ""
    facts = [("network", f"{_counted(graph.n_edges, 'edge')} among {_counted(n, 'variable')}{density}")]
    if degrees.count(0):
        facts.append(("isolated", f"{_counted(degrees.count(0), 'variable')} without an edge"))
    if graph.n_edges:
        hub = max(range(n), key=lambda x: (degrees[x], -x))
        facts.append(("hub", f"{learned.names[hub]} with {_counted(degrees[hub], 'neighbour')}"))
    facts.append(("method", learned.method + ("" if learned.choice is None else f" ({learned.choice})")))
    if learned.test is not None:
        facts.append(("test", learned.test))
    if learned.n_rows is not None:
        types = "" if learned.data is None else f", {_kinds(learned.data.kinds)}"
        rows = f"{words_of_rows(learned)}{types}{words_of_transform(learned.settings)}"
        facts.append(("data", rows))
        if learned.data is not None and learned.data.missing.counts:
            facts.append(("missing", words_of_gaps(learned.data)))
    if learned.weights is not None and graph.n_edges:
        facts.append(("weights", learned.weights.words))
    elif learned.data is not None and graph.n_edges:
        facts.append(("weights", f"not computed: {TOO_MANY}"))
    if learned.resampling is not None:
        facts.append(("resampled", str(learned.resampling)))
    if learned.score is not None:
        facts.append(("score", f"{learned.score:.6g}"))
    if not learned.converged:
        facts.append(("stopped", "before the end of the search: the best network so far"))
    return facts


def _percent(share: float) -> str:
    """Return a share in percent with one decimal; a small one with two significant digits."""
    return f"{share:.1%}" if share >= 0.001 or not share else f"{100 * share:.2g}%"


def words_of_rows(learned: Learned) -> str:
    """Return the number of rows, and of those with weights what they are worth."""
    weights = learned.settings.get("weights")
    weighting = None if learned.data is None else learned.data.weighting
    if weighting is not None:
        return f"{_counted(weighting.n_rows, 'row')} weighted by {weighting.column!r} (worth {learned.n_rows:,})"
    return _counted(learned.n_rows or 0, "row" if weights is None else "effective row")


def words_of_gaps(data: Dataset) -> str:
    """Return how many values are missing and what was done about it."""
    counts, policy = data.missing.counts, data.missing.policy
    found = f"{_counted(sum(counts.values()), 'value')} in {_counted(len(counts), 'column')}"
    done = {
        "testwise": "each test and model uses the rows in which all its variables are observed",
        "drop_rows": f"{_counted(data.missing.rows_dropped, 'row')} dropped",
    }
    return f"{found}; {done.get(policy, 'kept as a state of its own')}"


_COST_NOUNS = {
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
    "without_rows": ("without a complete row", "without a complete row"),
}


def cost_words(learned: Learned) -> str:
    """Return the cost of the search and its test, in words."""
    cost = dict(learned.cost)
    if "fitted" in cost:  # there "asked" counts neighbourhoods, one for each variable
        cost.pop("asked", None)
    nouns = {key: words for key, words in _COST_NOUNS.items() if cost.get(key) or key == "asked" in cost}
    counts = [f"{cost[key]:,.0f} {one if cost[key] == 1 else many}" for key, (one, many) in nouns.items()]
    if learned.test is not None and counts:
        counts[0] += f" by {learned.test}"
    seconds = [f"{cost['seconds']:.1f} s"] if cost.get("seconds", 0.0) >= 1.0 else []
    return ", ".join(counts + seconds)


def _kinds(kinds: Sequence[Kind]) -> str:
    """Return the number of variables of each kind, in words; nominal ones alone are called categorical."""
    words = {"nominal": "categorical" if set(kinds) <= {"nominal", "continuous"} else "nominal", "ordinal": "ordinal"}
    found = Counter(words.get(kind, kind) for kind in kinds)
    listed = [
        f"{found[kind]:,} {kind}"
        for kind in ("categorical", "nominal", "ordinal", "count", "continuous")
        if found[kind]
    ]
    joined = f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else listed[0]
    return f"{joined} variable{'s' * (len(kinds) != 1)}"


def _headings(learned: Learned, edges: Sequence[LearnedEdge]) -> list[str]:
    """Return the column headings of the table of edges."""
    return ["edge", "", *_weight_known(edges), SUPPORT_TITLES[learned.support_scale], *_known(edges)]


def _weight_known(edges: Sequence[LearnedEdge]) -> list[str]:
    """Return the heading of the weights, if there are any."""
    return ["weight"] * any(edge.weight is not None for edge in edges)


def _known(edges: Sequence[LearnedEdge]) -> list[str]:
    """Return the known numbers of the edges besides support."""
    return [name for name in ("probability", "frequency") if any(getattr(edge, name) is not None for edge in edges)]


def _cells(edge: LearnedEdge, edges: Sequence[LearnedEdge]) -> list[str]:
    """Return one row of the table."""
    support = "" if edge.support is None else f"{edge.support:.4g}"
    others = [getattr(edge, name) for name in _known(edges)]
    numbers = ["" if value is None else f"{value:.3f}" for value in others]
    weight = ["" if edge.weight is None else f"{edge.weight:+.2f}"] * bool(_weight_known(edges))
    return [printable(edge.u), printable(edge.v), *weight, support, *numbers]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Names to the left, numbers to the right."""
    cells = enumerate(zip(row, widths, strict=True))
    return [cell.ljust(width) if k < 2 else cell.rjust(width) for k, (cell, width) in cells]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True)
class NetworkDifference:
    """Edges that two networks share and edges that only one of them has.

    Attributes
    ----------
    shared, only_here, only_there
        Pairs of names, in the order of the variables here.
    n_pairs
        Number of pairs of variables.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> here, there = (NamedGraph(Graph(3, edges), ("a", "b", "c")) for edges in ([(0, 1)], [(0, 1), (1, 2)]))
    >>> found = difference(here, there)
    >>> found.only_there, found.hamming, found.jaccard
    ((('b', 'c'),), 1, 0.5)
    >>> print(found)
    1 edge in both, 0 only here, 1 only there (Hamming 1, Jaccard 0.500, kappa 0.400)
    only there: b - c
    """

    shared: tuple[tuple[str, str], ...]
    only_here: tuple[tuple[str, str], ...]
    only_there: tuple[tuple[str, str], ...]
    n_pairs: int

    @property
    def hamming(self) -> int:
        """Number of pairs that are an edge in one network only."""
        return len(self.only_here) + len(self.only_there)

    @property
    def jaccard(self) -> float:
        """Share of the edges of either network that both have; 1 for two networks without edges."""
        either = len(self.shared) + self.hamming
        return len(self.shared) / either if either else 1.0

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement on the pairs beyond chance; 1 for two equal networks."""
        here, there = (len(self.shared) + len(only) for only in (self.only_here, self.only_there))
        observed = 1 - self.hamming / self.n_pairs if self.n_pairs else 1.0
        absent = (self.n_pairs - here) * (self.n_pairs - there)
        chance = (here * there + absent) / self.n_pairs**2 if self.n_pairs else 1.0
        return 1.0 if not self.hamming else (observed - chance) / (1 - chance)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("shared", "only_here", "only_there")}
        return {**pairs, "hamming": self.hamming, "jaccard": self.jaccard, "kappa": self.kappa}

    def __str__(self) -> str:
        """Return the numbers in one line, then the edges that differ."""
        shared, here, there = len(self.shared), len(self.only_here), len(self.only_there)
        lines = [
            f"{shared} edge{'s' * (shared != 1)} in both, {here} only here, {there} only there "
            f"(Hamming {self.hamming}, Jaccard {self.jaccard:.3f}, kappa {self.kappa:.3f})"
        ]
        for title, pairs in (("only here", self.only_here), ("only there", self.only_there)):
            lines += [f"{title}: {u} - {v}" for u, v in pairs]
        return "\n".join(lines)


def difference(here: NamedGraph, there: NamedGraph) -> NetworkDifference:
    """Compare two networks, matching variables by name.

    Raises
    ------
    UnknownNameError
        If the variables of the two differ.
    """
    place = {name: x for x, name in enumerate(here.names)}
    for names, others, which in ((there.names, place, "the other"), (here.names, frozenset(there.names), "this")):
        strange = [name for name in names if name not in others]
        if strange:
            raise UnknownNameError(
                f"other must have the variables of this network; only {which} one has {strange[0]!r}"
                f"{f' and {len(strange) - 1} more' if len(strange) > 1 else ''}. Compare networks of the same columns."
            )
    ours = set(here.graph.edges)
    theirs = {tuple(sorted((place[there.names[u]], place[there.names[v]]))) for u, v in there.graph.edges}
    n = len(here.names)
    shared, only_here, only_there = (
        tuple((here.names[u], here.names[v]) for u, v in sorted(edges))
        for edges in (ours & theirs, ours - theirs, theirs - ours)
    )
    return NetworkDifference(shared, only_here, only_there, n * (n - 1) // 2)
