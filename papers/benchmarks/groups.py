"""Found differences and false alarms of `mn.compare_groups`, by kind of data.

Six variables in a ring with partial correlations of 0.3, one of them 0.45. Likert items have five states and binary
variables two, cut from the same numbers. Two groups of 300 rows (or 200 and 400, with --unequal) either have the same
network, or that one edge is reversed to −0.45 in the second group, or is missing there. A data set counts if p ≤ 0.05,
for each statistic of the whole networks; `edge` counts the true pair, and `others` data sets with any other pair, both
by corrected p-values.

    python benchmarks/groups.py --sets 100
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import mnlearn as mn

_CUTS = {"continuous": None, "Likert": (-1.2, -0.4, 0.4, 1.2), "binary": (0.0,)}
_NAMES = ("a", "b", "c", "d", "e", "f")


def drawn(n_rows: int, kind: str, edge: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rows of one group; a and b have this partial correlation."""
    precision = np.eye(6)
    for u in range(6):
        v = (u + 1) % 6
        precision[u, v] = precision[v, u] = -edge if u == 0 else -0.3
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(covariance))
    values = rng.multivariate_normal(np.zeros(6), covariance / np.outer(scale, scale), n_rows)
    cuts = _CUTS[kind]
    return values if cuts is None else np.digitize(values, cuts).astype(np.float64)


def data_sets(kind: str, second: float, rows: tuple[int, int], n_sets: int) -> Iterator[dict[str, object]]:
    """Yield tables of two groups."""
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        both = np.concatenate([drawn(n, kind, edge, rng) for n, edge in zip(rows, (0.45, second), strict=True)])
        columns = both.T if kind == "continuous" else both.T.astype(np.int64)
        yield {**dict(zip(_NAMES, columns, strict=True)), "group": np.repeat(["one", "two"], rows)}


def main() -> None:
    """Print one line for each kind of data and difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=12, help="data sets of each kind")
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--unequal", action="store_true", help="groups of 200 and 400 rows")
    parser.add_argument("--correction", default="max")
    parser.add_argument("--method", default=None)
    parser.add_argument("--differences", nargs="+", default=["reversed", "missing", "none"])
    asked = parser.parse_args()
    rows = (200, 400) if asked.unequal else (300, 300)
    print("data        difference  edges  strength  largest  edge  others")
    for kind in _CUTS:
        for name in asked.differences:
            second = {"reversed": -0.45, "missing": 0.0, "none": 0.45}[name]
            counts = dict.fromkeys(("edges", "strength", "largest", "edge", "others"), 0)
            for table in data_sets(kind, second, rows, asked.sets):
                found = mn.compare_groups(
                    table,
                    "group",
                    asked.method,
                    n_permutations=asked.permutations,
                    correction=asked.correction,
                    n_jobs=1,
                )
                for one in found.statistics:
                    counts[one.name] += one.p <= 0.05
                significant = {(pair.u, pair.v) for pair in found.pairs if pair.p_corrected <= 0.05}
                counts["edge"] += ("a", "b") in significant
                counts["others"] += bool(significant - {("a", "b")})
            print(
                f"{kind:<11} {name:<10} {counts['edges']:>6} {counts['strength']:>9} {counts['largest']:>8} "
                f"{counts['edge']:>5} {counts['others']:>7}",
                flush=True,
            )


if __name__ == "__main__":
    main()
