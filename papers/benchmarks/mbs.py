"""Markov blanket search: the paper's yeast size, and what updating entropies saves over fitting them again.

python benchmarks/mbs.py [--n 1808] [--rows 200] [--k 4]

The search runs once, whole. Then a sample of the questions it asks is answered by numpy.linalg, one regression for each
neighbour that might come, as a search without updates would: the ratio is per question. CPU time of one process.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter, process_time

import numpy as np

from mnlearn.algorithms.mbs import MBS
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import barabasi_albert
from mnlearn.protocols import FloatArray
from mnlearn.scores import Entropy
from mnlearn.statistics import Moments

SAMPLE = 20  # scans that numpy answers


def refitted(covariance: FloatArray, x: int, ys: list[int], z: list[int]) -> FloatArray:
    """H(x | z + y) for each y by a regression of its own, up to the constant."""
    found = []
    for y in ys:
        given = [*z, y]
        block, shared = covariance[np.ix_(given, given)], covariance[given, x]
        found.append(0.5 * np.log(covariance[x, x] - shared @ np.linalg.solve(block, shared)))
    return np.array(found)


def main() -> None:
    """Read the sizes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1808)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--regularization", type=float, default=1e-4)
    sizes = parser.parse_args()
    truth = barabasi_albert(sizes.n, 2, seed=1)
    data = sparse_gaussian(truth, seed=2).dataset(sizes.rows, seed=3)

    began, clock = process_time(), perf_counter()
    moments = Moments(data)
    result = MBS(k_max=sizes.k, regularization=sizes.regularization).learn(Entropy(moments))
    cpu, wall = process_time() - began, perf_counter() - clock
    sys.stdout.write(
        f"n = {sizes.n}, N = {sizes.rows}, k_max = {sizes.k}: {cpu:.1f} s of CPU, {wall:.1f} s by the clock; "
        f"{result.cost['moves']:.0f} moves, {result.cost['swaps']:.0f} of them swaps; {result.graph.n_edges} edges\n"
    )
    covariance, rng = np.array(moments.covariance), np.random.default_rng(4)
    seconds, asked = 0.0, 0
    for x in rng.choice(sizes.n, SAMPLE, replace=False).tolist():
        z = sorted(result.graph.neighbors(x))[: sizes.k]
        ys = [y for y in range(sizes.n) if y != x and y not in z][:500]
        began = process_time()
        found = refitted(covariance, x, ys, z)
        seconds, asked = seconds + process_time() - began, asked + len(ys)
        wanted = moments.conditional_entropies(x, ys, z) - 0.5 * (1 + np.log(2 * np.pi))
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    ours, theirs = cpu / result.cost["scored"], seconds / asked
    scored = result.cost["scored"]
    sys.stdout.write(
        f"{scored / 1e6:.1f} million entropies, {ours * 1e9:.0f} ns each with the search around them; by numpy.linalg "
        f"{theirs * 1e6:.1f} us each: {theirs / ours:.0f} times as long ({theirs * scored / 60:.0f} minutes)\n"
    )


if __name__ == "__main__":
    main()
