"""Metrics of learned graphs: every measure of the five papers, with its formula.

Edges first (Hamming distance, errors of both kinds, precision, recall, F), then the few numbers that describe a graph,
a search or a score. The accuracy on sampled independences and the E- and V-scores are in `subgraphs.py`, irregularities
in `mnlearn.graphs`.

Calibration: of the pairs that a learner gives a probability p, does a share of p have an edge?

Pairs are put into bins by their probability; in each bin the mean probability is compared with the share of edges among
its pairs. Counts of several data sets add up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from mnlearn.errors import InputError, is_one_of, require
from mnlearn.evaluation.subgraphs import (
    SubgraphScore,
    align,
    check_same_variables,
    ev_scores,
)
from mnlearn.files import replacing, write_errors
from mnlearn.graphs.formats import read_graph
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.numbers import logistic
from mnlearn.protocols import FloatArray, Question, Score

Positives = Literal["edges", "independences"]
SCORED_UP_TO = 5_000  # variables: beyond, subgraphs are scored only if `kinds` names them
_NEGLIGIBLE = 1e-9  # relative: two sums of the same terms in another order differ by less


@dataclass(frozen=True)
class Confusion:
    """The pairs of variables by what was learned of them and what is true.

    With edges as positives, a true positive is an edge of both graphs, a false positive (type I error) an edge of the
    learned graph alone, a false negative (type II error) an edge of the true graph alone. With independences as
    positives, an absent edge takes the place of an edge.

    Examples
    --------
    >>> found = Confusion(true_positives=3, false_positives=1, false_negatives=2, true_negatives=4)
    >>> found.hamming, found.precision, found.recall, round(found.f1, 3)
    (3, 0.75, 0.6, 0.667)
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def hamming(self) -> int:
        """FP + FN: the pairs on which the two graphs differ  [JAIR09, Sec. 5]."""
        return self.false_positives + self.false_negatives

    @property
    def normalized_hamming(self) -> float:
        """(FP + FN) / (n choose 2)  [JAIR09, Sec. 5]; 0 when there is no pair."""
        return self.hamming / max(1, self.hamming + self.true_positives + self.true_negatives)

    @property
    def precision(self) -> float:
        """TP / (TP + FP); 1 if nothing was found."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """TP / (TP + FN); 1 if there are no true edges."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN): the harmonic mean of precision and recall; 1 when the two graphs are the same."""
        return _share(2 * self.true_positives, 2 * self.true_positives + self.hamming)


def compare_edges(learned: Graph, truth: Graph, *, positives: Positives = "edges") -> Confusion:
    """Count the pairs by what was learned and what is true.

    Parameters
    ----------
    learned, truth
        Two graphs over the same variables.
    positives
        What counts as found: "edges", or "independences", the absent edges, as [IBMAP14] words its precision and
        recall.

    Raises
    ------
    InputError
        If the graphs have different numbers of variables.

    Examples
    --------
    >>> compare_edges(Graph(3, [(0, 1), (0, 2)]), Graph(3, [(0, 1), (1, 2)]))
    Confusion(true_positives=1, false_positives=1, false_negatives=1, true_negatives=0)
    """
    check_same_variables(learned, truth)
    if not is_one_of(positives, ("edges", "independences")):
        raise InputError(f"positives must be 'edges' or 'independences'; got {positives!r}. Use one of the two.")
    both = sum(len(learned.neighbors(x) & truth.neighbors(x)) for x in range(truth.n_variables)) // 2
    added, missed = learned.n_edges - both, truth.n_edges - both
    neither = truth.n_variables * (truth.n_variables - 1) // 2 - both - added - missed
    if positives == "edges":
        return Confusion(both, added, missed, neither)
    return Confusion(neither, missed, added, both)


def hamming(learned: Graph, truth: Graph) -> int:
    """|E △ E*|: how many pairs are joined in one graph and not in the other  [JAIR09, Sec. 5; MPL17, Sec. 5].

    Examples
    --------
    >>> hamming(Graph(3, [(0, 1)]), Graph(3, [(1, 2)]))
    2
    """
    return compare_edges(learned, truth).hamming


def normalized_hamming(learned: Graph, truth: Graph) -> float:
    """|E △ E*| / (n choose 2): the share of the pairs on which the graphs differ  [JAIR09, Sec. 5].

    Examples
    --------
    >>> normalized_hamming(Graph(3, [(0, 1)]), Graph(3, [(0, 1), (1, 2), (0, 2)])) == 2 / 3
    True
    """
    return compare_edges(learned, truth).normalized_hamming


def precision(learned: Graph, truth: Graph, *, positives: Positives = "edges") -> float:
    """TP / (TP + FP); 1 when nothing was found. See `compare_edges`.

    Examples
    --------
    >>> precision(Graph(3, [(0, 1), (0, 2)]), Graph(3, [(0, 1)]))
    0.5
    """
    return compare_edges(learned, truth, positives=positives).precision


def recall(learned: Graph, truth: Graph, *, positives: Positives = "edges") -> float:
    """TP / (TP + FN); 1 when nothing is there to be found. See `compare_edges`.

    Examples
    --------
    >>> recall(Graph(3, [(0, 1), (0, 2)]), Graph(3, [(0, 1)]))
    1.0
    """
    return compare_edges(learned, truth, positives=positives).recall


def f1(learned: Graph, truth: Graph, *, positives: Positives = "edges") -> float:
    """2 TP / (2 TP + FP + FN), the F-measure; 1 when both are empty. See `compare_edges`.

    Examples
    --------
    >>> round(f1(Graph(3, [(0, 1), (0, 2)]), Graph(3, [(0, 1)])), 3)
    0.667
    """
    return compare_edges(learned, truth, positives=positives).f1


def success_rate(learned: Sequence[Graph], truth: Graph | Sequence[Graph]) -> float:
    """(1 / R) Σ_r [G_r = G*_r]: the share of R data sets whose true graph was found edge for edge  [BJP18, Sec. 4.1].

    Parameters
    ----------
    learned
        One graph per data set, at least one.
    truth
        The true graph of all of them, or one for each.

    Examples
    --------
    >>> chain = Graph(3, [(0, 1), (1, 2)])
    >>> success_rate([chain, chain.flip(0, 2)], chain)
    0.5
    """
    truths = [truth] * len(learned) if isinstance(truth, Graph) else list(truth)
    if not learned or len(truths) != len(learned):
        raise InputError(
            f"learned must hold at least one graph, and truth one graph or as many; got {len(learned)} and "
            f"{len(truths)}. Pair them up."
        )
    for found, true in zip(learned, truths, strict=True):
        check_same_variables(found, true)
    return sum(found == true for found, true in zip(learned, truths, strict=True)) / len(learned)


def weighted_tests(trace: Iterable[Question]) -> int:
    """Σ (2 + |z|) over the questions that the data answered  [JAIR09, Sec. 5]; what was inferred or recalled is free.

    A learner keeps its questions when told to (`keep_trace=True`); `Result.cost["weighted"]` is the same number.

    Examples
    --------
    >>> weighted_tests([Question(0, 1, frozenset({2, 3}), True, -0.5, "data", "grow")])
    4
    """
    return sum(2 + len(question.z) for question in trace if question.source == "data")


def score_gap(score: Score, learned: Graph, optimum: Graph) -> float:
    """score(G_opt) − score(G): what a search left on the table; the optimum comes from an exhaustive search.

    Parameters
    ----------
    score
        Any score; higher is better.
    learned
        What a search returned.
    optimum
        The best of all graphs under the same score.

    Returns
    -------
    float
        At least 0; exactly 0 when the two score the same up to rounding.

    Raises
    ------
    InputError
        If the learned graph scores higher than the optimum, which then is none.
    """
    check_same_variables(learned, optimum)
    best, reached = score(optimum), score(learned)
    slack = _NEGLIGIBLE * max(1.0, abs(best))
    if reached > best + slack:
        raise InputError(
            f"optimum must be the best graph under score; it has {best}, learned has {reached}. Search exhaustively "
            f"with the same score and data."
        )
    return 0.0 if abs(best - reached) <= slack else best - reached


def _share(part: int, whole: int) -> float:
    """Return part / whole, or 1 if both are 0."""
    return part / whole if whole else 1.0


# All that a learned graph is worth beside the true one, in one record: what `mnlearn evaluate` prints.


@dataclass(frozen=True)
class Evaluation:
    """Comparison of a learned graph with the true one.

    Attributes
    ----------
    variables, learned_edges, true_edges
        How large the two graphs are.
    edges
        The pairs by what was learned and what is true.
    ev
        E- and V-scores by kind of subgraph.
    """

    variables: int
    learned_edges: int
    true_edges: int
    edges: Confusion
    ev: Mapping[str, SubgraphScore]

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn evaluate --json` prints."""
        found = self.edges
        return {
            "variables": self.variables,
            "learned_edges": self.learned_edges,
            "true_edges": self.true_edges,
            "hamming": found.hamming,
            "fp": found.false_positives,
            "fn": found.false_negatives,
            "precision": found.precision,
            "recall": found.recall,
            "f1": found.f1,
            "normalized_hamming": found.normalized_hamming,
            "ev": {kind: {"e": s.e, "v": s.v, "subgraphs": s.n_subgraphs} for kind, s in self.ev.items()},
        }


def evaluate(learned: object, truth: object, *, kinds: Sequence[str] | None = None) -> Evaluation:
    """Hold a learned graph against the true one.

    Parameters
    ----------
    learned, truth
        Two graphs by index; or two with names (files, `NamedGraph`, what `mnlearn.learn` returns), which are matched
        by name in any order.
    kinds
        The kinds of subgraph for E- and V-scores; none for an empty list. When left out, all up to 5,000 variables,
        and none beyond: some of them grow with the square of the number of variables.

    Raises
    ------
    InputError
        If the two are not over the same variables.

    Examples
    --------
    >>> found = evaluate(Graph(3, [(0, 1)]), Graph(3, [(0, 1), (1, 2)]))
    >>> found.edges.hamming, found.edges.recall, found.ev["1N"].n_subgraphs
    (1, 0.5, 3)
    """
    one, other = _graph("learned", learned), _graph("truth", truth)
    if isinstance(one, NamedGraph) and isinstance(other, NamedGraph):
        one, other = align(one, other)
    if isinstance(one, NamedGraph) or isinstance(other, NamedGraph):
        raise InputError("learned and truth must both have names, or neither; got one of each. Name both.")
    found = compare_edges(one, other)
    chosen = () if kinds is None and other.n_variables > SCORED_UP_TO else kinds
    return Evaluation(other.n_variables, one.n_edges, other.n_edges, found, ev_scores(one, other, chosen))


def _graph(argument: str, given: object) -> Graph | NamedGraph:
    """Return a graph, read from a file if a path is given."""
    if isinstance(given, Graph | NamedGraph):
        return given
    if isinstance(given, str | os.PathLike):
        return read_graph(given)
    graph, names = getattr(given, "graph", None), getattr(given, "names", None)
    if isinstance(graph, Graph) and isinstance(names, tuple):
        return NamedGraph(graph, names)
    raise InputError(f"{argument} must be a graph, with or without names, or a file; got a {type(given).__name__}.")


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
