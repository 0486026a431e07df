"""Graphs, files, pictures and the report of a large network: CPU time and memory of every operation.

    python benchmarks/large_graphs.py [--variables 100000] [--edges 1000000] [--shape random|scale-free] [--only TEXT]

Every operation runs in a process of its own that shares the network: the CPU seconds and the growth of the resident
memory are those of the operation alone. Prints a table in Markdown. An operation over ``--limit`` CPU seconds is
stopped, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mnlearn as mn
from mnlearn.graphs.formats import FORMATS
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.results.learned import Learned

Work = Callable[[], object]


def random_pairs(n: int, n_edges: int, shape: str, seed: int = 0) -> NDArray[np.int64]:
    """Return distinct pairs: all equally likely, or those of early variables more likely (few hubs)."""
    rng = np.random.default_rng(seed)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < n_edges:
        u = rng.integers(n, size=2 * n_edges)
        v = rng.integers(n, size=2 * n_edges) if shape == "random" else (n * rng.random(2 * n_edges) ** 3).astype(int)
        kept = u != v
        found = np.minimum(u, v)[kept] * n + np.maximum(u, v)[kept]
        keys = np.unique(np.concatenate([keys, found]))
    keys = np.sort(rng.choice(keys, n_edges, replace=False))
    return np.stack([keys // n, keys % n], axis=1)


def network(n: int, pairs: NDArray[np.int64]) -> Learned:
    """Return a network with a support for every edge, as a learner returns it."""
    rng = np.random.default_rng(1)
    graph = Graph(n, pairs.tolist())
    support = dict(zip(graph.edges, rng.exponential(20, len(pairs)).tolist(), strict=True))
    result = Result(graph, None, support, True, {"seconds": 1.0}, {"method": "mpl"}, support_scale="log_odds")
    return Learned("mpl", tuple(f"site_{k:06d}" for k in range(n)), result, n_rows=2000)


def measured(work: Work, limit: int) -> dict[str, float | str]:
    """Return CPU seconds and growth of the resident memory in MB of one call, in a forked process."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        before, start = resident("VmRSS"), time.process_time()
        try:
            found: dict[str, float | str] = {"result": " ".join(str(work()).split())[:60]}
        except Exception as error:
            found = {"result": f"{type(error).__name__}: {error}"[:80]}
        found |= {"seconds": time.process_time() - start, "megabytes": (resident("VmHWM") - before) / 1024}
        os.write(writable, json.dumps(found).encode())
        os._exit(0)
    os.close(writable)
    text = b"".join(iter(lambda: os.read(readable, 65536), b""))
    os.close(readable)
    _, status = os.waitpid(child, 0)
    if text:
        document: dict[str, float | str] = json.loads(text)
        return document
    name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "an exit"
    return {"result": f"stopped by {name} after {limit} s", "seconds": float("inf"), "megabytes": float("nan")}


def resident(key: str) -> int:
    """Return a size of this process in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {key}")


def graph_operations(graph: Graph, pairs: NDArray[np.int64]) -> Iterator[tuple[str, Work]]:
    """Yield the operations on the structure alone."""
    n, fresh = graph.n_variables, Graph._share(graph._neighbors, graph.n_edges)
    near = graph.neighbors(7)
    yield "Graph(n, pairs)", lambda: Graph(n, pairs.tolist())
    yield "Graph.edges", lambda: len(fresh.edges)
    yield "degrees", lambda: int(graph.degrees().max())
    yield "components", lambda: len(graph.components())
    yield "reachable", lambda: len(graph.reachable(7))
    yield "separates, by its neighbours", lambda: graph.separates(7, next(y for y in range(n) if y not in near), near)
    yield "adjacency", lambda: graph.adjacency().nnz
    yield "to_networkx", lambda: graph.to_networkx().number_of_edges()
    yield "subgraph of 1,000", lambda: graph.subgraph(range(1000)).n_edges
    yield "flip", lambda: graph.flip(0, 1).n_edges
    yield "relabel", lambda: graph.relabel(list(reversed(range(n)))).n_edges


def file_operations(learned: Learned, folder: Path) -> Iterator[tuple[str, Work]]:
    """Yield writing and reading of every format."""
    for name in FORMATS:
        path = folder / f"{name}.graph"
        yield f"save as {name}", partial(saved, learned, path, name)
        if name != "dot":
            yield f"read_graph of {name}", partial(edges_in, path, name)
    yield "mn.load", lambda: mn.load(folder / "json.graph").graph.n_edges


def size(path: Path) -> str:
    """Return the size of a file in words."""
    return f"{path.stat().st_size / 1e6:.1f} MB"


def result_operations(learned: Learned, folder: Path) -> Iterator[tuple[str, Work]]:
    """Yield tables, texts, pictures and the report."""
    name, hub = learned.names[0], int(learned.graph.degrees().argmax())
    yield "edge_list", lambda: len(learned.edge_list())
    for frame in ("pandas", "polars", "pyarrow"):
        yield f"edges, {frame}", partial(learned.edges, frame)
    yield "str", lambda: str(learned)
    yield "summary", lambda: len(learned.summary())
    yield "notebook", lambda: len(learned._repr_html_())
    yield "blanket", lambda: len(learned.blanket(name))
    yield "Learned.to_networkx", lambda: learned.to_networkx().number_of_edges()
    yield "to_dict", lambda: len(learned.to_dict())
    yield "compare", lambda: learned.compare(learned).hamming
    yield "evaluate", lambda: mn.evaluate(learned.graph, learned.graph).edges.f1
    for kind in ("network", "heatmap", "degrees", "support"):
        yield f"plot, {kind}", partial(drawn, learned, folder / f"{kind}.png", kind=kind)
    yield "plot, around the largest hub", partial(drawn, learned, folder / "hub.png", around=learned.names[hub])
    yield "plot, around another", partial(drawn, learned, folder / "other.png", around=learned.names[-1], distance=2)
    yield "report", partial(reported, learned, folder / "report.html")


def saved(learned: Learned, path: Path, format: str) -> str:
    """Save the network; return the size of the file."""
    learned.save(path, format=format)
    return size(path)


def edges_in(path: Path, format: str) -> int:
    """Read a graph; return the number of its edges."""
    return mn.read_graph(path, format).graph.n_edges


def drawn(learned: Learned, path: Path, **how: Any) -> str:
    """Draw the network; return the size of the file."""
    learned.plot(path, **how)
    return size(path)


def reported(learned: Learned, path: Path) -> str:
    """Write the report; return the size of the file."""
    learned.report(path)
    return size(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--shape", choices=("random", "scale-free"), default="random")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=60)
    told = parser.parse_args()
    pairs = random_pairs(told.variables, told.edges, told.shape)
    learned = network(told.variables, pairs)
    sys.stdout.write(f"{told.variables:,} variables, {told.edges:,} edges, {told.shape}; ")
    sys.stdout.write(f"the network itself: {resident('VmRSS') / 1024:.0f} MB\n\n")
    sys.stdout.write("| operation | CPU seconds | memory, MB | result |\n|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        works = [*graph_operations(learned.graph, pairs), *result_operations(learned, folder)]
        for name, work in [*works, *file_operations(learned, folder)]:
            if told.only in name:
                found = measured(work, told.limit)
                row = f"| {name} | {found['seconds']:.2f} | {found['megabytes']:.0f} | {found['result']} |\n"
                sys.stdout.write(row)
                sys.stdout.flush()


if __name__ == "__main__":
    main()
