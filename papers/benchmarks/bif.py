"""BIF files: processor time of `read_bif` beside that of pyAgrum's reader, which is written in C++.

    python benchmarks/bif.py [FILE.bif ...] [--repeats 5]

Without files, a network of 400 variables with 460,000 probabilities is written and read, of the size of Diabetes in
the network repository. The readers take turns; times are the least of the repeats. A ratio above 1 means that
`read_bif` is faster.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.simulate import read_bif


def write_network(path: Path, n_variables: int = 400, card: int = 11, seed: int = 0) -> None:
    """Write a chain in which every variable has the two variables before it as parents."""
    rng = np.random.default_rng(seed)
    states = [f"s{k}" for k in range(card)]
    lines = ["network chain {", "}"]
    for x in range(n_variables):
        lines += [f"variable v{x} {{", f"  type discrete [ {card} ] {{ {', '.join(states)} }};", "}"]
    for x in range(n_variables):
        parents = [f"v{y}" for y in range(max(x - 2, 0), x)]
        bar = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( v{x}{bar} ) {{")
        for given in product(states, repeat=len(parents)):
            numbers = ", ".join(f"{p:.6f}" for p in rng.dirichlet(np.ones(card)))
            lines.append(f"  ({', '.join(given)}) {numbers};" if parents else f"  table {numbers};")
        lines.append("}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def processor_seconds(read: Callable[[str], object], path: Path) -> float:
    """Return the processor time of reading a file once."""
    start = time.process_time()
    read(str(path))
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with warnings.catch_warnings():  # its import warns of types that SWIG made
        warnings.simplefilter("ignore", DeprecationWarning)
        import pyagrum
    peer: Any = pyagrum
    with tempfile.TemporaryDirectory() as folder:
        files = options.files or [Path(folder, "chain.bif")]
        if not options.files:
            write_network(files[0])
        print(f"{'network':<14}{'MB':>8}{'read_bif':>10}{'pyAgrum':>10}{'ratio':>7}")
        for file in files:
            rounds = [
                (processor_seconds(read_bif, file), processor_seconds(peer.loadBN, file))
                for _ in range(options.repeats)
            ]
            ours, theirs = (min(times) for times in zip(*rounds, strict=True))
            size = file.stat().st_size / 1e6
            print(f"{file.stem:<14}{size:>8.2f}{ours:>10.3f}{theirs:>10.3f}{theirs / ours:>7.1f}")


if __name__ == "__main__":
    main()
