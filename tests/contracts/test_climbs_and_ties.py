"""Hill climbing and exhaustive search give the same graph for renamed labels and any order of the columns.

Copies of a column may change places with each other: nothing tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.algorithms import IBMAPHC, Exhaustive, HillClimb
from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn.independence import BayesianTest
from mnlearn.scores import MPL, PIC, BJPScore, IBScore
from mnlearn.statistics import Counts

Codes = list[NDArray[np.uint8]]
SCORES: dict[str, Callable[[Counts], Any]] = {
    "ib": lambda counts: IBScore(BayesianTest(counts)),
    "bjp": lambda counts: BJPScore(BayesianTest(counts)),
    "mpl": MPL,
    "pic": PIC,
}


def by(learner: Any, score: str) -> Callable[[Dataset], Graph]:
    def learn(data: Dataset) -> Graph:
        found: Graph = learner.learn(SCORES[score](Counts(data, n_jobs=1))).graph
        return found

    return learn


LEARNERS: dict[str, Callable[[Dataset], Graph]] = {
    **{f"ibmap {score}": by(IBMAPHC(), score) for score in ("ib", "bjp")},
    **{f"ibmap tabu {score}": by(IBMAPHC(tabu=4, patience=10), score) for score in ("ib", "bjp")},
    **{f"hillclimb {score}": by(HillClimb(), score) for score in SCORES},
    **{f"tabu {score}": by(HillClimb(tabu=2, patience=3), score) for score in SCORES},
    **{f"exhaustive {score}": by(Exhaustive(), score) for score in SCORES},
}


class Table(NamedTuple):
    """Columns; `sources[k]` is the column that column k is a copy of, or k."""

    columns: Codes
    cards: list[int]
    sources: list[int]

    def graph(self, learn: Callable[[Dataset], Graph]) -> Graph:
        return learn(Dataset.from_codes(self.columns, cards=self.cards))

    def renamed(self, rng: np.random.Generator) -> Table:
        labels = [rng.permutation(card).astype(np.uint8) for card in self.cards]
        return self._replace(columns=[new[column] for new, column in zip(labels, self.columns, strict=True)])

    def turned(self, order: list[int]) -> Table:
        return self._replace(columns=[self.columns[k] for k in order], cards=[self.cards[k] for k in order])

    def exchanges(self) -> list[list[int]]:
        """All relabellings that exchange copies with each other."""
        n = len(self.columns)
        groups = [[k for k in range(n) if self.sources[k] == source] for source in dict.fromkeys(self.sources)]
        found = []
        for choice in product(*[permutations(group) for group in groups]):
            new = list(range(n))
            for group, chosen in zip(groups, choice, strict=True):
                for k, other in zip(group, chosen, strict=True):
                    new[k] = other
            found.append(new)
        return found


def table(rng: np.random.Generator, n: int, *, n_rows: int, copies: int, sums: bool) -> Table:
    """Noisy functions of one hidden variable, one of them maybe the sum of two others, and copies of some."""
    own = n - copies
    cards = rng.integers(2, 4, own).tolist()
    hidden = rng.integers(0, 6, n_rows)
    drawn = [hidden if rng.random() < 0.7 else rng.integers(0, 6, n_rows) for _ in range(own)]
    noise = [(rng.random(n_rows) < 0.4) * rng.integers(0, 6, n_rows) for _ in range(own)]
    columns = [((x + e) % card).astype(np.uint8) for x, e, card in zip(drawn, noise, cards, strict=True)]
    if sums:
        columns[0] = ((columns[1] + columns[2]) % cards[0]).astype(np.uint8)
    sources = [*range(own), *rng.integers(0, own, copies).tolist()]
    return Table([columns[k] for k in sources], [cards[k] for k in sources], sources)


def check_labels_and_order(
    learner: Callable[[Dataset], Graph], n: int, seed: int, *, n_rows: int, copies: int, sums: bool
) -> None:
    """Learn again with other labels and another order of the columns."""
    rng = np.random.default_rng([seed, n_rows])
    data = table(rng, n, n_rows=n_rows, copies=copies, sums=sums)
    plain = data.graph(learner)
    assert data.renamed(rng).graph(learner) == plain
    order = rng.permutation(n).tolist()
    turned = data.turned(order).graph(learner).relabel(order)
    assert turned in [plain.relabel(new) for new in data.exchanges()]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    ("n_rows", "copies", "sums"), [(40, 0, False), (200, 2, False), (100, 1, True)], ids=["plain", "copies", "sums"]
)
def test_labels_and_the_order_of_columns_do_not_matter(name: str, n_rows: int, copies: int, sums: bool) -> None:
    n = 5 if name.startswith("exhaustive") else 7
    for seed in range(4):
        check_labels_and_order(LEARNERS[name], n, seed, n_rows=n_rows, copies=copies, sums=sums)
