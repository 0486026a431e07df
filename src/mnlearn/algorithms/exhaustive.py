"""Exhaustive search: the best of all graphs, and how much better it is than the rest.

Schlüter, Strappa, Milone & Bromberg, IJAR (2018)  [BJP18], compare scores by brute force over all graphs (Sec. 4.1):
nothing then depends on the luck of a climb. Every score here is a sum of terms that look at few pairs of variables
each: those of one variable (IB, MPL, PIC) or of two (BJP). So the terms are tabulated once (`_tabulate.py`), and the
scores of all graphs are the sum of these tables, one numpy addition each: no graph is scored by itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import exp
from time import perf_counter

from mnlearn.algorithms._constraints import Constraints
from mnlearn.algorithms._space import AllGraphs
from mnlearn.algorithms._stopping import Cancelled
from mnlearn.algorithms._tabulate import tabulate
from mnlearn.errors import InputError, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, Monitor, Result, Score

MOST_PAIRS = 21  # all pairs of 7 variables: 2,097,152 graphs, 16 MiB of scores


@dataclass(frozen=True)
class ExhaustiveResult(Result):
    """The optimum, the runner-up (`alternatives`), and on request its mass and every graph with its score.

    Attributes
    ----------
    mass
        The share of the optimum in Σ exp(score) over all graphs. None unless averaging was asked for.
    all_graphs
        Every graph with its score. None unless asked for.
    """

    mass: float | None = None
    all_graphs: AllGraphs | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Exhaustive:
    """Score all graphs and take the best.

    Parameters
    ----------
    required, forbidden
        Edges that every graph has, or none. Each takes a pair out of the search and halves the number of graphs.
    alternatives
        How many of the next best graphs the result names: the runner-up alone by default.
    averaging
        Whether to give every pair its probability of being an edge, the mass exp(score) of all graphs that have it;
        and the optimum its own share of that mass.
    keep_all
        Whether the result keeps every graph with its score, 8 bytes a graph.

    Raises
    ------
    InputError
        If required and forbidden contradict each other; and from `learn`, before anything is counted, if there
        are fewer than 2 variables or more than 21 undecided pairs.

    Notes
    -----
    Σ_x 2^(d_x) blankets are asked about, d_x being the undecided pairs of x: n 2^(n−1) without constraints. Then 2^m
    scores are summed, m ≤ 21. A local score (IB, MPL, PIC) takes n additions of arrays, BJP one for each pair; any
    other score is asked graph by graph, which is slow.

    Graphs whose scores differ by no more than rounding (1e-9, or 1e-12 of the score if that is more) are tied. Of these
    the one with the fewest edges comes first, then the one with the smallest number (`AllGraphs`).

    The support of an edge is its log odds given the data by model averaging, log Σ exp(score) over the graphs with the
    edge against those without it; infinite for an edge that is required. It is as good a posterior as the
    score is: IB counts each pair twice and pseudo-likelihoods each row n times, so all are too sure.

    A search that is stopped returns the required edges alone.

    Examples
    --------
    >>> class Chain:  # any object that scores a graph will do
    ...     n_variables = 3
    ...     def __call__(self, graph):
    ...         return -2.0 * len(set(graph.edges) ^ {(0, 1), (1, 2)})
    >>> result = Exhaustive(forbidden=((0, 1),)).learn(Chain())
    >>> result.graph.edges, result.score, result.alternatives
    (((1, 2),), -2.0, ((Graph(3, []), -4.0),))
    """

    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    alternatives: int = 1
    averaging: bool = False
    keep_all: bool = False

    def __post_init__(self) -> None:
        whole_number("alternatives", self.alternatives, least=0, way_out="Use 1 for the runner-up alone.")
        true_or_false(averaging=self.averaging, keep_all=self.keep_all)

    def learn(self, judge: Score, monitor: Monitor = SILENT) -> ExhaustiveResult:
        """Score every graph that the constraints allow."""
        started = perf_counter()
        known = Constraints(judge.n_variables, self.required, self.forbidden)
        check_size(known)
        try:
            graphs, scored = tabulate(judge, known, monitor)
        except Cancelled:
            nothing = Graph(known.n_variables, known.required)
            cost = {"graphs": 0, "scored": 0, "seconds": perf_counter() - started}
            return ExhaustiveResult(nothing, None, {}, False, cost, asdict(self), support_scale="log_odds")
        best, *others = graphs.best(1 + self.alternatives)
        optimum = graphs.graph(best)
        return ExhaustiveResult(
            graph=optimum,
            score=float(graphs.scores[best]),
            support={edge: odds for edge, odds in graphs.edge_log_odds().items() if edge in optimum},
            converged=True,
            cost={"graphs": len(graphs), "scored": scored, "seconds": perf_counter() - started},
            settings=asdict(self),
            support_scale="log_odds",
            probabilistic=True,
            alternatives=tuple((graphs.graph(number), float(graphs.scores[number])) for number in others),
            edge_probabilities=graphs.edge_probabilities() if self.averaging else None,
            mass=exp(graphs.log_masses()[best]) if self.averaging else None,
            all_graphs=graphs if self.keep_all else None,
        )


def check_size(known: Constraints) -> None:
    """Refuse what is too small to have a structure, or too large to list."""
    n, free = known.n_variables, len(known.free())
    if n < 2:
        raise InputError(f"judge must know at least 2 variables; got {n}. There is no structure to learn from fewer.")
    if free > MOST_PAIRS:
        raise InputError(
            f"exhaustive search must have at most {MOST_PAIRS} undecided pairs, those of 7 variables; got {free} among "
            f"{n} variables, that is 2^{free} graphs. Require or forbid edges, take fewer variables, or climb instead "
            "(ib, bjp, mpl)."
        )
