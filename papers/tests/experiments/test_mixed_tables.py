"""Tables of several kinds, their readings, and a small run of the comparison."""

from __future__ import annotations

import csv
from importlib import util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn.simulate import Margin, MixedNetwork, random_gaps
from mnlearn_papers.mixed import FEWEST_ROWS, READINGS, SECTIONS, SOURCES, Case, cases
from networks import DATA, needs_data

DRAWN = [name for name, graphs in SOURCES.items() if "file" not in graphs]


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """Return the benchmark as a module."""
    file = Path(__file__).parents[2] / "benchmarks" / "mixed_accuracy.py"
    spec = util.spec_from_file_location("mixed_accuracy", file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_a_small_run_of_the_comparison(program: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wanted = [case for case in cases("ordinal", 1, 2) if case.n_rows == 500]
    with caplog.at_level("ERROR", logger="mnlearn"):  # the program silences the log; here it is restored
        runs = program.measured(wanted, 1)
    errors = {
        reading: [run.errors for run in runs if run.reading == reading] for reading in SECTIONS["ordinal"].readings
    }
    assert np.mean(errors["mnlearn"]) <= np.mean(errors["nominal"])
    np.testing.assert_array_equal(
        program.differences(runs, "nominal"), np.subtract(errors["mnlearn"], errors["nominal"])
    )
    table = "\n".join(program.report(runs))
    assert f"| all | all | all | 6 | {np.mean(errors['mnlearn']):.2f} (" in table
    assert f"- ordinal, N = 500: {np.mean(errors['mnlearn']):.2f}, at most 6.5" in table
    program.write(runs, tmp_path / "runs")
    with (tmp_path / "runs" / "runs.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["false_edges"]) + float(line["missed_edges"]) for line in lines] == [run.errors for run in runs]


def test_a_table_without_rows_counts_as_the_empty_graph_and_a_refusal_as_no_number(program: ModuleType) -> None:
    case = Case("missing", "stars", "stars", 30, "40 %", 1)
    truth, tables = case.tables(DATA)
    assert tables["dropped"] is None
    empty = program._measured(case, "dropped", truth, None)
    assert (empty.errors, empty.false_edges) == (60, 0)
    constant = Dataset.from_codes([[0]], cards=[1])
    refused = program._measured(case, "category", Graph(1), constant)
    assert np.isnan(refused.errors)
