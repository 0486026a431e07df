"""Graphs with unusual names, for tests of graph files."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import strategies as st

from mnlearn.graphs import FORMATS, Graph, NamedGraph

READ = tuple(format for format in FORMATS if format != "dot")  # DOT is only written

UGLY = (
    *("a b", " lead", "trail ", " ", "ünï ☃ 🐍", "e\u0301", "é", "\u2028", "\x85", "\ufeffmark", "x" * 500),
    *("q\"uo'te", '"', "'", "''", "'=q", "<script>alert(1)</script>", "<b>", "]]>", "&amp;", "&#65;", "a,b;c", "%s"),
    *("123", "007", "1e5", "-1", "=1+1", "+x", "-y", "@z", "＝1", "NAN", "None", "null", "true"),
    *("()", "[]", "{}", "node", "graph", "edge", "strict", "a:b", "a -- b", "a -> b", "//c", "/*c*/", "a#b"),
    *("back\\slash", "trail\\", "\\n", "\\N", '\\"', "\\\\"),
)
BROKEN_LINES = ("tab\tx", "new\nline", "cr\rx", "crlf\r\n", "\n", "nl\\\nx", "crlf\\\r\nx")

letters = st.one_of(
    st.characters(exclude_categories=["Cs"]), st.sampled_from("\t\r\n\\\"'#=+-@<>&;:, \ufeff\x85\u2028")
)
texts = st.one_of(st.sampled_from(UGLY + BROKEN_LINES + ("", "#x")), st.text(letters, max_size=6))
numbers = st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -1e-300, 1e22, math.inf, -math.inf]))


@st.composite
def named_graphs(draw: st.DrawFn) -> NamedGraph:
    """A graph with unusual names, and numbers on some of its edges."""
    names = draw(st.lists(texts, min_size=1, max_size=6, unique=True))
    pairs = list(combinations(range(len(names)), 2))
    graph = Graph(len(names), draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    records = st.dictionaries(st.sampled_from(["support", "weight", "log_p", "E"]), numbers, min_size=1)
    attributes = {edge: draw(records) for edge in graph.edges if draw(st.booleans())}
    return NamedGraph(graph, tuple(names), attributes)


def can_carry(format: str, name: str) -> bool:
    """Return whether a format can hold a name, by the table in `formats`."""
    if format == "table":
        return bool(name)
    if format == "graphml":
        return not any((c < " " and c not in "\t\r\n") or c in "\ufffe\uffff" for c in name)
    return True
