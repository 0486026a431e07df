"""The oracle answers as the graph separates."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.errors import InputError
from mnlearn.graphs import random_graph
from mnlearn.independence import SeparationOracle


@pytest.mark.parametrize("seed", range(20))
def test_the_oracle_is_separation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(12, 2.0, seed)
    oracle = SeparationOracle(graph)
    for _ in range(30):
        order = [int(v) for v in rng.permutation(12)]
        x, ys, z = order[0], order[1:6], frozenset(order[6 : 6 + int(rng.integers(0, 5))])
        found = oracle.scan(x, ys, z)
        assert found.independent.tolist() == [graph.separates(x, y, z) for y in ys]
        assert [bool(v) for v in found.log_support == 0.0] == found.independent.tolist()


def test_the_promise_is_true_or_false() -> None:
    assert SeparationOracle(random_graph(3, 1, 0)).monotone
    with pytest.raises(InputError, match="monotone must be true or false"):
        SeparationOracle(random_graph(3, 1, 0), monotone="yes")  # type: ignore[arg-type]
