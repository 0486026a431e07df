"""IBMAP-HC: climb towards the most probable structure by always mending the pair that fits worst.

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14], Algorithms 1 and 2, with the IB-score; with BJP instead, Schlüter,
Strappa, Milone & Bromberg, IJAR (2018), Sections 2.2.2 and 3.3  [BJP18]. The score is a sum over pairs. The pair with
the lowest part is the claim that the data believe least; its opposite, which the flip would claim, is what they believe
most. So it is guessed, without a single test, that this flip is the best, and only its score is computed. How the pair
is found is in _proposals.py (`WeakestPairs`), the climb itself in _climb.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from mnlearn.algorithms.hillclimb import HillClimb, Proposals


@dataclass(frozen=True, kw_only=True)
class IBMAPHC(HillClimb):
    """From no edges, flip the pair with the lowest part in the score; stop at the first flip that does not improve.

    All settings are those of `HillClimb`. By default they are as published: one proposal at a time, the weakest pair
    (ties: the first pair), and the end when it fails. Any other is a search that does better, and is not the paper's.
    The judge is an `IBScore`, a `BJPScore`, or whatever else is a sum over pairs.

    Notes
    -----
    A step costs the parts that the flip changes: for IB 2(n − 1) directed terms, for BJP the pairs that the flip's ends
    now judge and those that have come to be judged by the other side. `cost` counts them as ``recomputed``; the empty
    graph's n(n − 1)/2 unconditional terms and whatever was asked ahead of need are in ``scanned`` only.
    Finding the weakest pair takes O(n) after each flip, memory is two n × n matrices.

    The heuristic forgets what a flip does to the other terms of its ends. On dense structures that is where the score
    lies, and the climb stops far from the optimum: see docs/map.md for how far, and for what the other settings reach.

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
