"""Edges known beforehand: checked once, applied to any graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.algorithms.base import Constraints
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Graph

N = 5
PAIRS = [(u, v) for u in range(N) for v in range(u + 1, N)]


@st.composite
def known(draw: st.DrawFn) -> Constraints:
    kinds = draw(st.lists(st.sampled_from(["free", "required", "forbidden"]), min_size=len(PAIRS), max_size=len(PAIRS)))
    turned = draw(st.lists(st.booleans(), min_size=len(PAIRS), max_size=len(PAIRS)))
    pairs = [(v, u) if turn else (u, v) for (u, v), turn in zip(PAIRS, turned, strict=True)]
    by_kind = {kind: [p for p, k in zip(pairs, kinds, strict=True) if k == kind] for kind in ("required", "forbidden")}
    return Constraints(N, by_kind["required"], by_kind["forbidden"])


@given(known(), st.sets(st.sampled_from(PAIRS)))
def test_apply_changes_what_is_known_and_nothing_else(constraints: Constraints, edges: set[tuple[int, int]]) -> None:
    graph = constraints.apply(Graph(N, edges))
    for u, v in PAIRS:
        if (u, v) in constraints.required:
            assert graph.has_edge(u, v)
        elif (u, v) in constraints.forbidden:
            assert not graph.has_edge(u, v)
        else:
            assert graph.has_edge(u, v) == ((u, v) in edges)


@given(known())
def test_three_ways_to_say_what_is_free_agree(constraints: Constraints) -> None:
    mask = constraints.mask()
    assert (mask == mask.T).all()
    assert not np.diagonal(mask).any()
    free = constraints.free()
    assert free == [pair for pair in PAIRS if mask[pair]]
    assert free == [(u, v) for u, v in PAIRS if constraints.allows(v, u)]


@pytest.mark.parametrize(
    ("required", "forbidden", "message"),
    [
        ([(0, 1)], [(1, 0)], r"must not share an edge; both name \(0, 1\)"),
        ([(0, 0)], [], "required must hold pairs of two different variables"),
        ([], [(0, N)], "forbidden must hold pairs of two different variables, 0 to 4"),
        ([], [(-1, 2)], "forbidden must hold pairs of two different variables"),
        ([(0, 1, 2)], [], "required must hold pairs of variables; got"),
        (["ab"], [], "required must hold pairs of variables; got 'ab'"),
        ([3], [], "required must hold pairs of variables; got 3"),
    ],
)
def test_bad_edges_are_refused(required: Any, forbidden: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Constraints(N, required, forbidden)
