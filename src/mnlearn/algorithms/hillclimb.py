"""Climbing over edge flips, for any score that can be followed from flip to flip.

IBMAP-HC (ibmap.py) tries one flip at each step and stops when it fails: cheap, and weak. The settings here each remove
one of its weaknesses: it need not guess which flip is best (steepest), need not stop at the first failure (patience),
may move an edge in one step (swaps), may go downhill without turning back (tabu), and may start again (restarts).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

from mnlearn.algorithms._climb import Climb, ClimbResult
from mnlearn.algorithms._constraints import Constraints
from mnlearn.algorithms._stopping import Cancelled
from mnlearn.errors import InputError, check_name, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, Monitor, Result, SearchableScore

Proposals = Literal["steepest", "weakest"]


@dataclass(frozen=True, kw_only=True)
class HillClimb:
    """Flip one pair at a time for as long as the score rises.

    Parameters
    ----------
    proposals
        ``"steepest"``: the flip that gains most. ``"weakest"``: the pair with the lowest part in the score, which needs
        a score that is a sum over pairs, such as IB or BJP.
    patience
        How many proposals in a row may fail before the climb ends. With ``tabu``: how many steps may pass without a
        better score than the best so far.
    swaps
        Whether to try, when no flip is left to propose, to move one end of an edge: two flips at once.
    tabu
        Go on from the top by the proposed flips, better or not, and leave each pair alone for so many steps after
        its flip; 0 stops at the top.
    restarts
        How often to climb again from the best graph with some pairs flipped at random.
    seed
        Of the random flips.
    start
        The graph to begin with, or the result of another search; no edges if left out.
    required, forbidden
        Edges known beforehand, as pairs of indices: in every graph of the search, or in none.
    max_steps
        Stop after so many flips, unconverged; None for no limit.
    keep_steps
        Whether the result keeps every flip with the score after it.
    keep_absent
        Whether the result keeps the log-odds of the pairs without an edge, too.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables, or the start has others.
    UnsuitableError
        From `learn`, if the score has no parts by pairs and proposals are to be the weakest.

    Notes
    -----
    The result is the best graph met, ties to the first. The support of an edge is its log-odds, present against
    absent given its context (higher is stronger): from the posterior if the score is a sum over pairs, else the
    score lost without it. Steepest climbing evaluates all n(n − 1)/2 flips before it stops, each at the price of
    a flip.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import MPL
    >>> from mnlearn.statistics import Counts
    >>> score = MPL(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> HillClimb().learn(score).graph
    Graph(3, [(0, 1)])
    """

    proposals: Proposals = "steepest"
    patience: int = 1
    swaps: bool = False
    tabu: int = 0
    restarts: int = 0
    seed: int | np.random.Generator = 0
    start: Graph | Result | None = None
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    max_steps: int | None = None
    keep_steps: bool = False
    keep_absent: bool = False

    def __post_init__(self) -> None:
        check_name("proposals", self.proposals, get_args(Proposals))
        whole_number("patience", self.patience, least=1, way_out="Use 1 to stop at the first that fails.")
        true_or_false(swaps=self.swaps, keep_steps=self.keep_steps, keep_absent=self.keep_absent)
        if not isinstance(self.seed, np.random.Generator):
            whole_number("seed", self.seed, least=0, way_out="Use 0, or a numpy.random.Generator.")
        whole_number("tabu", self.tabu, least=0, way_out="Use 0 for none.")
        whole_number("restarts", self.restarts, least=0, way_out="Use 0 for none.")
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, least=0, way_out="Use None for no limit.")
        if not isinstance(self.start, Graph | Result | None):
            raise InputError(
                f"start must be a Graph or the result of a search; got a {type(self.start).__name__}. "
                "Leave it out to start without edges."
            )

    def learn(self, judge: SearchableScore, monitor: Monitor = SILENT) -> ClimbResult:
        """Climb; see the class for what is tried and in which order."""
        climb = Climb(self, judge, monitor)
        converged = True
        try:
            climb.to_the_top()
            rng = np.random.default_rng(self.seed)
            for _ in range(self.restarts):
                climb.start_again(rng)
                climb.to_the_top()
        except Cancelled:
            converged = False
        return climb.result(converged=converged)

    def first_graph(self, known: Constraints) -> Graph:
        """Where to begin: what was given, or no edges; in either case with what is known beforehand."""
        given = self.start.graph if isinstance(self.start, Result) else self.start
        if given is None:
            given = Graph.empty(known.n_variables)
        if given.n_variables != known.n_variables:
            raise InputError(
                f"start must have the {known.n_variables} variables of the score; got {given.n_variables}. "
                "Make it over the same columns."
            )
        return known.apply(given)

    def described(self) -> dict[str, object]:
        """The settings, enough to run it again; a start by its edges."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        given = self.start.graph if isinstance(self.start, Result) else self.start
        return told | {"start": None if given is None else given.edges}
