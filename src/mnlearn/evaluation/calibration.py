"""Calibration: of the pairs that a learner gives a probability p, does a share of p have an edge?

Pairs are put into bins by their probability; in each bin the mean probability is compared with the share of edges among
its pairs. Counts of several data sets add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mnlearn.errors import InputError, require
from mnlearn.files import replacing, write_errors
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import logistic
from mnlearn.protocols import FloatArray

LIMITS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Where the bins begin and end: tenths, finer where nearly all pairs are."""


class Reliability(NamedTuple):
    """For each bin: how many pairs, how many of them edges, and the sum of their probabilities."""

    pairs: tuple[int, ...]
    edges: tuple[int, ...]
    total: tuple[float, ...]


class Bin(NamedTuple):
    """One line of a reliability table."""

    low: float
    high: float
    pairs: int
    mean: float  # probability
    observed: float  # share of edges

    @property
    def gap(self) -> float:
        """Observed share minus mean probability."""
        return self.observed - self.mean

    @property
    def standard_error(self) -> float:
        """Of the observed share, if pairs were independent draws with the mean probability."""
        return sqrt(self.mean * (1 - self.mean) / self.pairs)


def reliability(log_odds: FloatArray, truth: Graph) -> Reliability:
    """Count the pairs of one learned graph.

    Parameters
    ----------
    log_odds
        Of every pair: a symmetric matrix; the diagonal is ignored.
    truth
        The true graph.

    Examples
    --------
    >>> found = reliability(np.array([[0.0, 3.0], [3.0, 0.0]]), Graph(2, [(0, 1)]))
    >>> [(line.low, line.pairs, line.observed) for line in bins([found])]
    [(0.95, 1, 1.0)]
    """
    n = truth.n_variables
    if log_odds.shape != (n, n):
        raise InputError(f"log_odds must be a matrix of {n} by {n}, as the truth is; got {log_odds.shape}.")
    u, v = np.triu_indices(n, 1)
    odds = log_odds[u, v]
    probability = logistic(odds)
    edge = np.zeros((n, n), dtype=np.bool_)
    for a, b in truth.edges:
        edge[a, b] = True
    place = np.searchsorted(LIMITS[1:-1], probability, side="right")
    n_bins = len(LIMITS) - 1
    pairs, edges = np.bincount(place, minlength=n_bins), np.bincount(place[edge[u, v]], minlength=n_bins)
    total = np.bincount(place, weights=probability, minlength=n_bins)
    return Reliability(tuple(pairs.tolist()), tuple(edges.tolist()), tuple(total.round(6).tolist()))


def bins(found: Iterable[Reliability], limits: Sequence[float] = LIMITS) -> list[Bin]:
    """The reliability table of several data sets together; bins without a pair are left out.

    Parameters
    ----------
    found
        The counts.
    limits
        Where bins begin and end; each one of `LIMITS`, so that bins may be joined but not split.

    Examples
    --------
    >>> one = Reliability((8, 0) + (0,) * 12, (1, 0) + (0,) * 12, (0.04, 0.0) + (0.0,) * 12)
    >>> [(line.high, line.pairs, line.mean, line.observed) for line in bins([one, one], limits=(0, 0.1, 1))]
    [(0.1, 16, 0.005, 0.125)]
    """
    unknown = [limit for limit in limits if limit not in LIMITS]
    if unknown:
        raise InputError(f"limits must be among {LIMITS}; got {unknown[0]}. Drop it.")
    sums = np.sum([np.array(counts, dtype=np.float64) for counts in found] or [np.zeros((3, len(LIMITS) - 1))], axis=0)
    lines = []
    for low, high in pairwise(limits):
        pairs, edges, total = sums[:, LIMITS.index(low) : LIMITS.index(high)].sum(axis=1)
        if pairs:
            lines.append(Bin(low, high, int(pairs), float(total / pairs), float(edges / pairs)))
    return lines


def plot_reliability(lines: Sequence[Bin], path: Path, *, least: int = 100, near: float = 0.05) -> None:
    """A figure of a reliability table: of every bin the share of edges, with two standard errors, and its pairs.

    Parameters
    ----------
    lines
        The table.
    path
        Where to write it; the ending says the format.
    least
        Bins with fewer pairs are left out.
    near
        Limits around the mean probability of each bin, as a shaded box.
    """
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [line for line in lines if line.pairs >= least]
    places = range(len(shown))
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    means, shares = [line.mean for line in shown], [line.observed for line in shown]
    below = [mean - near for mean in means]
    axes.bar(places, 2 * near, bottom=below, width=0.8, color="0.85", label=f"mean probability ± {near:g}")
    axes.hlines(means, [k - 0.4 for k in places], [k + 0.4 for k in places], color="0.5", linewidth=1)
    axes.errorbar(
        places,
        shares,
        yerr=[2 * line.standard_error for line in shown],
        fmt="o",
        markersize=4,
        capsize=2,
        color="tab:blue",
        label="share of edges ± 2 standard errors",
    )
    axes.set_xticks(places, [f"{line.low:g} to\n{line.high:g}\n{_short(line.pairs)}" for line in shown], fontsize=7)
    axes.set(xlabel="probability, and number of pairs", ylabel="share of edges", ylim=(-0.06, 1.06))
    axes.legend(loc="upper left", frameon=False)
    with write_errors(path), replacing(path) as part:
        figure.savefig(part)


def _short(count: int) -> str:
    """Return a number in at most four characters, such as 335k."""
    return str(count) if count < 1000 else f"{count / 1000:.3g}k" if count < 999_500 else f"{count / 1e6:.3g}M"
