"""Start-up of commands, installed size, and large graphs with their files, pictures and reports."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

import mnlearn as mn
from harness import Lines, case
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.results.learned import Learned
from timing import ROOT, cpu, fresh, memory

FLOOR = "python, numpy and pyarrow.csv"


def programs(folder: Path) -> dict[str, list[str]]:
    """Return the command lines by name; those of mnlearn may need the files of those before them."""
    data, saved, page = (str(folder / name) for name in ("table.csv", "network.json", "report.html"))
    python, mnlearn = [sys.executable, "-c"], [sys.executable, "-m", "mnlearn"]
    learn = [*mnlearn, "learn", data, "--method", "mpl"]
    frame = f"import pandas, mnlearn; data = pandas.read_csv({data!r}); mnlearn.learn(data, 'mpl')"
    return {
        FLOOR: [*python, "import numpy, pyarrow.csv"],
        "python": [*python, "pass"],
        "python and numpy": [*python, "import numpy"],
        "python and pandas": [*python, "import pandas"],
        "python and sklearn": [*python, "import sklearn"],
        "import mnlearn": [*python, "import mnlearn"],
        "mnlearn --help": [*mnlearn, "--help"],
        "mnlearn info": [*mnlearn, "info", data],
        "mnlearn test": [*mnlearn, "test", data, "v0", "v1"],
        "mnlearn learn": learn,
        "mnlearn learn --out": [*learn, "--out", saved],
        "mnlearn learn --report": [*learn, "--report", page],
        "mnlearn report": [*mnlearn, "report", saved, "--out", page],
        "mn.learn(path)": [*python, f"import mnlearn; mnlearn.learn({data!r}, 'mpl')"],
        "pandas.read_csv, mn.learn(frame)": [*python, frame],
    }


def process_seconds(command: list[str], **environment: str) -> float:
    """Run a command and return the user and system time that it took."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environment
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@case("startup", repeats=1, only=3)
def startup(repeats: int = 10, only: int = 100) -> Lines:
    """Commands in fresh processes on 64 binary columns, beside importing numpy and pyarrow.csv.

    User and system seconds of the whole process, the least of the repeats. "first" is a run that finds no byte-compiled
    files and writes them; the others find them.
    """
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (2000, 64))
    for column in range(1, 64):  # a tree: each equals its parent in 85 % of the rows
        same = rng.random(2000) < 0.7
        values[same, column] = values[same, (column - 1) // 2]
    with tempfile.TemporaryDirectory() as name:
        folder, header = Path(name), ",".join(f"v{column}" for column in range(64))
        np.savetxt(folder / "table.csv", values, fmt="%d", delimiter=",", header=header, comments="")
        floor = 0.0
        for program, command in list(programs(folder).items())[:only]:
            process_seconds(command)  # writes byte-compiled files
            seconds = min(process_seconds(command) for _ in range(repeats))
            floor = floor or seconds
            yield {"program": program, "s": seconds, "times numpy and pyarrow.csv": seconds / floor}
        command = programs(folder)["mnlearn --help"]
        seconds = min(process_seconds(command, PYTHONPYCACHEPREFIX=str(folder / f"{k}")) for k in range(repeats))
        yield {"program": "mnlearn --help, first", "s": seconds, "times numpy and pyarrow.csv": seconds / floor}


def needed(requirements: Iterable[str]) -> dict[str, int | None]:
    """Return the bytes of every package that the requirements need, directly or not; None if it is not installed."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, int | None] = {}
    left = [Requirement(one) for one in requirements]
    while left:
        one = left.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found[name] = None
            continue
        files = (Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc")
        found[name] = sum(file.stat().st_size for file in files if file.exists())
        left += [Requirement(line) for line in package.requires or ()]
    return found


@case("install-size")
def install_size() -> Lines:
    """Installed size of the packages that mnlearn needs, and what each extra adds; MB without byte-compiled files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = sum(file.stat().st_size for file in (ROOT / "src").rglob("*") if file.is_file() and file.suffix != ".pyc")
    core: dict[str, int | None] = {"mnlearn": own, **needed(project["dependencies"])}
    for name, size in sorted(core.items(), key=lambda item: -(item[1] or 0)):
        yield {"package": name, "MB": "absent" if size is None else size / 1e6}
    yield {"package": "all of these", "MB": sum(size or 0 for size in core.values()) / 1e6}
    for extra, requirements in project["optional-dependencies"].items():
        added = {name: size for name, size in needed(requirements).items() if name not in core}
        absent = ", ".join(name for name, size in added.items() if size is None)
        yield {"extra": extra, "adds MB": sum(size or 0 for size in added.values()) / 1e6, "absent": absent}


def network(n: int, n_edges: int) -> Learned:
    """Return random pairs with a support for each, as a learner returns them."""
    rng, keys = np.random.default_rng(0), np.empty(0, dtype=np.int64)
    while len(keys) < n_edges:
        u, v = rng.integers(n, size=(2, 2 * n_edges))
        keys = np.unique(np.concatenate([keys, (np.minimum(u, v) * n + np.maximum(u, v))[u != v]]))
    keys = np.sort(rng.choice(keys, n_edges, replace=False))
    graph = Graph(n, np.stack([keys // n, keys % n], axis=1).tolist())
    support = dict(zip(graph.edges, rng.exponential(20, n_edges).tolist(), strict=True))
    result = Result(graph, None, support, True, {"seconds": 1.0}, {"method": "mpl"}, support_scale="log_odds")
    return Learned("mpl", tuple(f"site_{k:06d}" for k in range(n)), result, n_rows=2000)


def operations(learned: Learned, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is done with a large network."""
    graph, n = learned.graph, learned.graph.n_variables
    near = graph.neighbors(7)
    yield "Graph(n, pairs)", lambda: Graph(n, list(graph.edges))
    yield "components", lambda: len(graph.components())
    yield "separates", lambda: graph.separates(7, next(y for y in range(n) if y not in near), near)
    yield "adjacency", lambda: graph.adjacency().nnz
    yield "to_networkx", lambda: graph.to_networkx().number_of_edges()
    yield "edge_list", lambda: len(learned.edge_list())
    yield "edges, pandas", lambda: len(learned.edges("pandas"))
    yield "summary", lambda: len(learned.summary())
    yield "evaluate", lambda: mn.evaluate(graph, graph).edges.f1
    yield "compare", lambda: learned.compare(learned).hamming
    yield "plot", partial(written, learned.plot, folder / "network.png")
    yield "plot around a variable", partial(written, learned.plot, folder / "one.png", around=learned.names[-1])
    yield "report", partial(written, learned.report, folder / "report.html")
    for name in ("edges.csv", "graphml", "dot", "json"):
        yield f"save as {name}", partial(written, learned.save, folder / f"network.{name}")
    for name in ("edges.csv", "graphml", "json"):
        yield f"read_graph of {name}", partial(_edges_in, learned, folder / f"network.{name}")


def written(write: Callable[..., object], path: Path, **how: Any) -> str:
    """Write a file; return its size."""
    write(path, **how)
    return f"{path.stat().st_size / 1e6:.1f} MB"


def _edges_in(learned: Learned, path: Path) -> int:
    learned.save(path)
    return mn.read_graph(path).graph.n_edges


SHARED: list[Learned] = []  # with the processes that are forked


def _operation(name: str, folder: Path) -> tuple[float, float, str]:
    """Do one thing with the network: CPU seconds, growth of the memory in MB, and what came of it."""
    work, before = dict(operations(SHARED[0], folder))[name], memory("VmRSS")
    seconds, found = cpu(work, 1)
    return seconds, memory() - before, " ".join(str(found).split())[:40]


@case("large-graphs", variables=50, edges=100)
def large_graphs(variables: int = 100_000, edges: int = 1_000_000, only: str = "") -> Lines:
    """Graphs, files, pictures and the report of a million edges, each operation in a process of its own.

    The processes share the network. Reading includes writing the file. Up to 5,000 variables
    `evaluate` also scores subgraphs, which takes minutes.
    """
    SHARED[:] = [network(variables, edges)]
    with tempfile.TemporaryDirectory() as folder:
        for name in [name for name, _ in operations(SHARED[0], Path(folder)) if only in name]:
            seconds, megabytes, found = fresh(_operation, name, Path(folder), method="fork")
            yield {"operation": name, "s": seconds, "MB": megabytes, "result": found}
