"""Tables of several kinds, and their readings."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn.simulate import Margin, MixedNetwork, random_gaps
from mnlearn_papers.mixed import FEWEST_ROWS, READINGS, SECTIONS, SOURCES, Case, cases
from networks import DATA, needs_data

DRAWN = [name for name, graphs in SOURCES.items() if "file" not in graphs]


@pytest.mark.parametrize("source", DRAWN)
def test_every_source_gives_a_graph_and_rows(source: str) -> None:
    for graph in SOURCES[source]:
        rng = np.random.default_rng(1)
        truth, data = SOURCES[source][graph](30, rng, DATA)
        assert data.n_rows == 30
        assert data.n_variables == truth.n_variables
        assert (truth.n_edges == 0) is (source == "independent")
    assert source in {source for section in SECTIONS.values() for source in section.sources}


@needs_data
def test_states_of_files_are_declared_ordinal() -> None:
    truth, tables = Case("networks", "alarm, ordinal", "file", 50, "none", 1).tables(DATA)
    ordinal, nominal = tables["mnlearn"], tables["nominal"]
    assert ordinal is not None
    assert nominal is not None
    assert truth.n_variables == 37
    assert set(ordinal.kinds) == {"ordinal", "nominal"}
    assert set(nominal.kinds) == {"nominal"}


def test_all_draws_differ_and_the_complete_table_does_not_depend_on_the_gaps() -> None:
    few, many = (Case("missing", "stars", "stars", 100, gaps, 1).tables(DATA)[1] for gaps in ("5 %", "by a column"))
    assert few["complete"] is not None
    assert many["complete"] is not None
    assert few["complete"].fingerprint() == many["complete"].fingerprint()
    assert len(set(cases("missing", 5000))) == 2 * 2 * 4 * 4
    assert {case.seed for case in cases("ordinal", 7, 2)} == {7, 8}
    drawn = [case.tables(DATA)[1]["mnlearn"] for case in cases("latent", 1, 2) if case.n_rows == 250]
    assert len({data.fingerprint() for data in drawn if data is not None}) == 6


def test_readings_change_what_they_say_and_nothing_else() -> None:
    margins = (Margin("nominal", 3), Margin("ordinal", 5), Margin("count"), Margin("continuous"))
    whole = MixedNetwork(Graph(4), margins, {}).dataset(200, seed=1)
    found = {name: read(whole) for name, read in READINGS.items() if name != "category"}
    assert found["mnlearn"] is whole
    kinds = {name: data.kinds for name, data in found.items() if data is not None}
    assert kinds["nominal"] == ("nominal", "nominal", "count", "continuous")
    assert set(kinds["numbers"]) == {"continuous"}
    assert set(kinds["cut"]) == {"nominal"}
    cut = found["cut"]
    assert cut is not None
    assert cut.cards == (3, 5, 3, 3)
    assert max(np.bincount(cut.columns[3])) - min(np.bincount(cut.columns[3])) <= 1
    for x in (0, 1):
        np.testing.assert_array_equal(cut.columns[x], whole.columns[x])


def test_rows_with_gaps_are_dropped_or_get_a_state() -> None:
    whole = Dataset.from_codes(np.random.default_rng(1).integers(0, 3, (100, 4)), cards=[3] * 4)
    holed = random_gaps(whole, 0.2, seed=1)
    seen = np.all([np.asarray(holed.observed(x)) for x in range(4)], axis=0)
    dropped, category = READINGS["dropped"](holed), READINGS["category"](holed)
    assert dropped is not None
    assert category is not None
    assert not dropped.gaps
    assert not category.gaps
    assert category.cards == (4,) * 4
    for x in range(4):
        np.testing.assert_array_equal(dropped.columns[x], whole.columns[x][seen])
        np.testing.assert_array_equal(category.columns[x], holed.columns[x])
    assert READINGS["dropped"](random_gaps(whole, 0.7, seed=1)) is None
    assert dropped.n_rows >= FEWEST_ROWS
