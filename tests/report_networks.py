"""Networks to write reports of: an ordinary one, one with names that would like to be more than text, a large one."""

from __future__ import annotations

import numpy as np

import mnlearn as mn
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.results import Learned
from mnlearn.simulate.catalogue import example

HOSTILE = (
    "<script>window.pwned=1;alert(1)</script>",
    "</script><script>window.pwned=2</script>",
    "<img src=x onerror=window.pwned=3>",
    '" onmouseover=window.pwned=4 x="',
    "' onfocus='window.pwned=5",
    "</title></style></textarea><svg onload=window.pwned=6>",
    "<!--",
    "]]>",
    "{{ 7 * 7 }} {% raw %}",
    "$$x^2$$",
    "@{degree} $index &lt;b&gt;",
    "javascript:window.pwned=7",
    "two\nlines\tand a tab",
    "\u202eright to left",
    "  spaces  ",
    "名前",
)


def ordinary() -> Learned:
    """The example survey, learned by the default method."""
    return mn.learn(example(1000, seed=1).columns(), "sep")


def hostile() -> Learned:
    """A ring over names that are none of a browser's business."""
    n = len(HOSTILE)
    edges = {(min(k, (k + 1) % n), max(k, (k + 1) % n)): 1.0 + k for k in range(n)}
    data = mn.read({name: [f"<b>{(k + r) % 2}</b>" for r in range(20)] for k, name in enumerate(HOSTILE)})
    found = Result(Graph(n, edges), None, edges, True, {"asked": 1}, {"start": "</script>"}, support_scale="log_odds")
    return Learned("<i>method</i>", HOSTILE, found, data, choice="<b>choice</b>")


def hostile_columns(n_rows: int = 80) -> dict[str, list[str]]:
    """Return a chain of hostile names with hostile values, and a column "<u>by</u>" that divides the rows."""
    rng = np.random.default_rng(0)
    value = rng.integers(0, 2, n_rows)
    columns = {}
    for name in HOSTILE:
        value = value ^ (rng.random(n_rows) < 0.15)
        columns[name] = [f"<b>{one}</b>" for one in value]
    return columns | {"<u>by</u>": [f"</td><i>{k % 2}</i>" for k in range(n_rows)]}


def huge(n: int = 20_000, n_edges: int = 100_000, hub: int = 900) -> Learned:
    """More variables than can be drawn: random edges, a hub, and two variables apart with a hostile name."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, n - 2, (n_edges, 2))
    pairs = np.concatenate([pairs[pairs[:, 0] != pairs[:, 1]], [[n - 2, n - 1]]])
    pairs = np.concatenate([pairs, np.stack([np.zeros(hub, dtype=np.int64), np.arange(1, hub + 1)], axis=1)])
    graph = Graph(n, pairs)
    support = dict(zip(graph.edges, rng.exponential(5.0, graph.n_edges).tolist(), strict=True))
    names = (*(f"site_{k}" for k in range(n - 2)), HOSTILE[1], HOSTILE[2])
    found = Result(graph, None, support, True, {}, {"method": "mpl"}, support_scale="log_odds")
    return Learned("mpl", names, found, n_rows=2000)


def large(n: int = 500) -> Learned:
    """A tree with some further edges, without data."""
    rng = np.random.default_rng(0)
    pairs = {(int(rng.integers(0, v)), v) for v in range(1, n)}
    pairs |= {(int(u), int(v)) for u, v in np.sort(rng.integers(0, n, size=(n, 2)), axis=1) if u < v}
    support = {edge: float(rng.normal(3.0, 3.0)) for edge in sorted(pairs)}
    found = Result(Graph(n, pairs), -1.5, support, True, {}, support_scale="log_odds", probabilistic=True)
    return Learned("sep", tuple(f"variable_{k}" for k in range(n)), found)
