"""The ways of counting: each one forced gives the same bits, and the cheapest is taken where they cross."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn import _core
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

import reference

WAYS = ("", "tree", "split_planes", "split_columns", "planes", "columns", "keys", "lanes", "alone")


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("cards", [(2,), (2, 3, 9, 2, 4)])
def test_every_way_of_counting_gives_the_same_bits(
    path: str, cards: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From no condition to many, few y and many, more rows than a row of bits; z with a state that never occurs."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(len(cards))
    data = reference.random_dataset(rng, n_rows=450, cards=[cards[k % len(cards)] for k in range(150)])
    counts = Counts(data)
    for z in (frozenset[int](), frozenset({1}), frozenset({2, 7}), frozenset(range(1, 6))):
        for ys in ([9], [8, 100, 149], [y for y in range(6, 150) if y not in z]):
            for kernel in (kernels.g2(), kernels.bayes(), Kernel("first_cell", ("rows",))):
                answers = set()
                for way in WAYS:
                    _core.force(counts._store, way)
                    answers.add(counts.reduce(kernel, 0, ys, z).tobytes())
                assert len(answers) == 1


def test_a_way_that_does_not_exist_is_refused() -> None:
    counts = Counts(reference.random_dataset(np.random.default_rng(0), n_rows=5, cards=[2, 2]))
    with pytest.raises(ValueError, match="way must name a way of counting, or be empty; got 'nowhere'"):
        _core.force(counts._store, "nowhere")
