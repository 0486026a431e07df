"""The example data set: answers to a survey on sleep and work, drawn from a network that is known.

It ships as this recipe, not as a file. People who work night shifts are tired more often than others. Among people who
sleep equally well, night shifts and tiredness are independent: poor sleep separates the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed
from mnlearn.graphs.graph import Graph
from mnlearn.simulate.pairwise import PairwiseNetwork, sample_exact

_LABELS = ("no", "yes")

# Question, and the log odds of a yes before the answers that go with it are known; a tenth to two thirds then say yes.
_FIELDS = {
    "night_shifts": -0.9,
    "late_coffee": 0.0,
    "screen_in_bed": -0.1,
    "poor_sleep": 0.3,
    "stress": 0.4,
    "fatigue": 0.0,
    "exercise": -0.4,
    "low_mood": -0.8,
    "headaches": -0.4,
    "social_support": 0.3,
    "sick_leave": -0.9,
    "left_handed": -2.2,
}

# Which answers go together directly, and how strongly: the log odds ratio of the edge.
_LOG_ODDS = {
    ("night_shifts", "late_coffee"): 1.6,
    ("night_shifts", "poor_sleep"): 2.4,
    ("late_coffee", "poor_sleep"): 1.5,
    ("screen_in_bed", "poor_sleep"): 1.5,
    ("poor_sleep", "stress"): 1.8,
    ("poor_sleep", "fatigue"): 2.6,
    ("stress", "low_mood"): 1.7,
    ("stress", "headaches"): 1.8,
    ("fatigue", "exercise"): -1.6,
    ("exercise", "low_mood"): -1.5,
    ("low_mood", "social_support"): -1.9,
    ("headaches", "sick_leave"): 2.0,
}


@dataclass(frozen=True, eq=False)
class Example:
    """A data set together with the graph it was drawn from.

    `codes[i, x]` is the answer of person i to the question `names[x]`, an index into `labels`.
    """

    names: tuple[str, ...]
    codes: NDArray[np.uint8]
    graph: Graph
    labels: tuple[str, ...] = _LABELS

    def columns(self) -> dict[str, list[str]]:
        """The answers as words, by question: what a data frame or a table is made from."""
        return {name: [self.labels[code] for code in self.codes[:, x].tolist()] for x, name in enumerate(self.names)}


def example_network() -> tuple[PairwiseNetwork, tuple[str, ...]]:
    """The network behind `example`, and the names of its variables."""
    names = tuple(_FIELDS)
    place = {name: x for x, name in enumerate(names)}
    log_odds = {(place[a], place[b]): theta for (a, b), theta in _LOG_ODDS.items()}
    return PairwiseNetwork(Graph(len(names), log_odds), log_odds, tuple(_FIELDS.values())), names


def example(n_rows: int = 1000, seed: Seed = 1) -> Example:
    """Draw the example data set: twelve yes-or-no questions on sleep and work, and their true graph.

    Parameters
    ----------
    n_rows
        How many people answer.
    seed
        An integer, or a generator to draw from; the same seed gives the same answers.

    Examples
    --------
    >>> survey = example()
    >>> survey.codes.shape, survey.graph.n_edges
    ((1000, 12), 12)
    >>> shifts, sleep, tired = map(survey.names.index, ("night_shifts", "poor_sleep", "fatigue"))
    >>> survey.graph.separates(shifts, tired), survey.graph.separates(shifts, tired, {sleep})
    (False, True)
    """
    network, names = example_network()
    return Example(names, sample_exact(network, n_rows, seed), network.graph)
