"""IBMAP-HC: climb towards the most probable structure by flipping the pair that fits worst.

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14], Algorithms 1 and 2, with the IB-score; with BJP instead, Schlüter,
Strappa, Milone & Bromberg, IJAR (2018), Sections 2.2.2 and 3.3  [BJP18]. The score is a sum over pairs. The pair with
the lowest part is the statement that the data support least; the data support its opposite, which the flip would
state, most. So the heuristic takes this flip for the best one without a single test, and computes only its score.
"""

from __future__ import annotations

from dataclasses import dataclass

from mnlearn.algorithms.hillclimb import Climb, HillClimb, Proposals
from mnlearn.graphs.graph import Edge

_AS_PUBLISHED = {"proposals": "weakest", "patience": 1, "tabu": 0}


@dataclass(frozen=True, kw_only=True)
class IBMAPHC(HillClimb):
    """From no edges, flip the pair with the lowest part in the score; stop at the first flip that does not improve.

    All settings are those of `HillClimb`; the defaults are as published: one proposal at a time, the weakest pair
    (ties as in `HillClimb`), and the end when it fails. Other settings search better than the paper. The judge is an
    `IBScore`, a `BJPScore`, or any other score that is a sum over pairs.

    Notes
    -----
    A step costs the parts that the flip changes: for IB 2(n − 1) directed terms, for BJP the pairs that the flip's ends
    now judge and those that are now judged from the other side. `cost` counts them as ``recomputed``; the empty
    graph's n(n − 1)/2 unconditional terms and all terms computed ahead of need are in ``scanned`` only.
    Finding the weakest pair takes O(n) after each flip, memory is two n × n matrices.

    The heuristic ignores the effect of a flip on the other terms of its ends. On dense structures these terms decide,
    and the climb stops far from the optimum: docs/map.md shows how far, and how far the other settings reach.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.independence import BayesianTest
    >>> from mnlearn.scores import BJPScore
    >>> from mnlearn.statistics import Counts
    >>> counts = Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10]))
    >>> result = IBMAPHC(keep_steps=True).learn(BJPScore(BayesianTest(counts)))
    >>> result.graph, [(step.edge, round(step.score, 2)) for step in result.steps]
    (Graph(3, [(0, 1)]), [(None, -24.53), ((0, 1), -0.88)])
    """

    proposals: Proposals = "weakest"

    def climb(self, run: Climb) -> None:
        """Climb to a local optimum  [IBMAP14, Algorithm 1]; with other settings, as `HillClimb` does.

        Lines 1 and 2, the graph without edges and its score, are the state in which `run` starts.
        """
        if any(getattr(self, name) != value for name, value in _AS_PUBLISHED.items()):
            super().climb(run)
            return
        while True:  # line 3
            pair = select_next_structure(run)  # line 4
            if pair is None or not run.improves(pair):  # lines 5, 6: neighbor-score <= current-score
                return
            run.flip(pair)  # lines 7, 8


def select_next_structure(run: Climb) -> Edge | None:
    """Return the pair to flip, argmin of the pairwise scores; None if no pair is free  [IBMAP14, Algorithm 2, line 1].

    `WeakestPairs` stores the argmin from flip to flip. The copy of the structure (lines 2 and 3) is left out:
    `improves` computes its score without it.
    """
    proposal = run.propose()
    return None if proposal is None else proposal[0]
