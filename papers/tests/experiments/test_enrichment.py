"""Enrichment against its definition, and what it must refuse."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, path
from mnlearn_papers.enrichment import better_terms, enrichment


@st.composite
def graphs(draw: st.DrawFn, n: int) -> Graph:
    """Return any graph over n variables."""
    return Graph(n, draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True)))


def hypergeometric_tail(n: int, in_term: int, size: int, shared: int) -> float:
    """Return the probability of at least `shared` members of the term among `size` of n."""
    most = min(in_term, size)
    return sum(comb(in_term, i) * comb(n - in_term, size - i) for i in range(shared, most + 1)) / comb(n, size)


@given(st.integers(2, 8).flatmap(lambda n: st.tuples(graphs(n), st.lists(st.sets(st.integers(0, n - 1)), min_size=1))))
@settings(deadline=None, max_examples=60)
def test_enrichment_is_the_hypergeometric_tail(case: tuple[Graph, list[set[int]]]) -> None:
    graph, sets = case
    found = enrichment(graph, {str(t): members for t, members in enumerate(sets)})
    for x in range(graph.n_variables):
        around = graph.neighbors(x) | {x}
        for t, members in enumerate(sets):
            tail = hypergeometric_tail(graph.n_variables, len(members), len(around), len(around & members))
            assert found.p_values[x, t] == pytest.approx(tail, rel=1e-9)


def test_sensitivity_locality_and_better_terms() -> None:
    graph = Graph(40, [(x, y) for block in (0, 4, 8) for x, y in combinations(range(block, block + 4), 2)])
    terms = {"tight": range(4), "wide": range(12), "else": [20, 30]}
    found = enrichment(graph, terms)
    enriched = found.p_values < 1e-2
    assert enriched.sum(0).tolist() == [4, 12, 0]
    assert found.sensitivity(1e-2) == 2 / 40  # two terms, twelve subgraphs
    assert found.locality(1e-2) == pytest.approx(1.0)  # the better term belongs to fewer subgraphs
    assert found.locality(1e-9) is None
    assert found.sensitivity(0) == 0.0
    nothing = enrichment(Graph(40), terms)
    assert better_terms(found, nothing) == (0, 2)
    assert better_terms(nothing, found) == (2, 0)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: enrichment(path(3), {}), "terms must hold at least one term"),
        (lambda: enrichment(path(3), {"t": [3]}), r"terms must hold indices 0..2; got 3 in 't'"),
        (lambda: better_terms(enrichment(path(3), {"a": [0]}), enrichment(path(3), {"b": [0]})), "term 'a' does not"),
        (
            lambda: better_terms(enrichment(path(3), {"a": [0]}), enrichment(path(3), {"a": [0], "b": [0]})),
            "term 'b' does not exist.* Known: 'a'",
        ),
    ],
)
def test_bad_input_is_refused_by_name(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()
