"""Small versions of the synthetic experiments of IBMAP14: weighing the tests against believing them."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.errors import UnknownNameError
from mnlearn.graphs import grid
from mnlearn.learning import learn
from mnlearn.simulate import ising, sample
from mnlearn_papers import ibmap14
from mnlearn_papers.optimize import MutualInformationStructure
from mnlearn_papers.reproduction import Request


@pytest.mark.slow
def test_random_networks_have_the_degree_they_are_named_after() -> None:
    for name, source in ibmap14.random_networks().sources.items():
        case, other = (source(20, np.random.default_rng(seed)) for seed in (1, 2))
        tau = float(name.removeprefix("tau=").removesuffix(",mixed").removesuffix(" uniform"))
        assert (case.truth.n_variables, case.truth.n_edges) == (75, int(75 * tau / 2))
        assert case.truth != other.truth
        assert set(case.data.cards) == {2}


def test_spin_glasses_sit_on_wrapped_lattices() -> None:
    sources = ibmap14.spin_glasses().sources
    sides = ["4x4", "6x6", "8x8", "10x10"]
    assert list(sources) == [*sides, *(f"{side} uniform" for side in sides)]
    for name, source in sources.items():
        side = int(name.split("x")[0])
        assert source(20, np.random.default_rng(1)).truth == grid(side, side, periodic=True)


def test_mixed_signs_are_mixed() -> None:
    def correlations(signs: str) -> list[float]:
        case = ibmap14.random_networks().sources[f"tau=1{signs}"](2000, np.random.default_rng(4))
        columns = np.array([np.asarray(column) for column in case.data.columns], dtype=float)
        return [float(np.corrcoef(columns[x], columns[y])[0, 1]) for x, y in case.truth.edges]

    assert min(correlations("")) > 0
    assert min(correlations(",mixed")) < -0.1 < 0.1 < max(correlations(",mixed"))


def test_spin_glasses_have_couplings_of_a_quarter() -> None:
    lattice, rng = grid(4, 4, periodic=True), np.random.default_rng(7)
    rows = sample(ising(lattice, 0.25, rng), 50, rng).codes
    data = ibmap14.spin_glasses().sources["4x4"](50, np.random.default_rng(7)).data
    np.testing.assert_array_equal(np.stack(data.columns, axis=1), rows)


def test_uniform_parameters_favour_one_state() -> None:
    for experiment, name in ((ibmap14.random_networks(), "tau=2"), (ibmap14.spin_glasses(), "6x6")):
        shares = []
        for source in (name, f"{name} uniform"):
            data = experiment.sources[source](2000, np.random.default_rng(4)).data
            ones = np.array([np.asarray(column, dtype=float).mean() for column in data.columns])
            shares.append(np.maximum(ones, 1 - ones).mean())
        assert shares[0] < 0.55
        assert shares[1] > 0.65


def test_with_uniform_parameters_weighing_wins_where_data_are_scarce() -> None:
    for table, source in ((ibmap14.RANDOM, "tau=2 uniform"), (ibmap14.ISING, "10x10 uniform")):
        lines = table.measure(Request(sizes=(100,), sources=(source,), repetitions=3))
        found = {line.learner: line.ours for line in lines}
        assert found["ibmap-hc"] < found["hhc-mn"] < found["gsmn"]


def test_structures_of_moa_are_those_of_the_optimiser() -> None:
    data = ibmap14.spin_glasses().sources["4x4"](400, np.random.default_rng(5)).data
    graphs = ibmap14.by_mutual_information(data)
    assert list(graphs) == ["moa-1", "moa-2", "moa-4", "moa-8", "moa-any"]
    assert graphs["moa-4"] == MutualInformationStructure(max_neighbors=4)(data)
    assert graphs["moa-any"] == MutualInformationStructure(max_neighbors=None)(data)
    lines = ibmap14.ISING.measure(Request(sizes=(100,), sources=("4x4",), methods=("moa",), repetitions=1))
    assert {line.learner for line in lines} >= set(graphs)


def test_ascents_grow_no_faster_than_the_variables() -> None:
    request = Request(sizes=(1600,), sources=("tau=2",), repetitions=2)
    found = {line.learner: line.ours for line in ibmap14.ASCENTS.measure(request)}
    counts = [found[f"n={n}"] for n in ibmap14.ASCENT_VARIABLES]
    assert counts == sorted(counts)
    assert 0.7 < found["exponent"] < 1.05


def test_without_an_ascent_there_is_no_exponent() -> None:
    found = ibmap14.Ascents(1)(1, np.random.default_rng(1))
    assert [found[f"n={n}"].value for n in ibmap14.ASCENT_VARIABLES] == [0.0] * 5
    assert np.isnan(found["exponent"].value)


def test_the_learners_are_those_of_the_library() -> None:
    data = ibmap14.spin_glasses().sources["4x4"](400, np.random.default_rng(5)).data
    assert ibmap14.by_ibmap(data)["ibmap-hc"] == learn(data, "ib").graph
    assert ibmap14.by_gsmn(data)["gsmn"] == learn(data, "gsmn*", test="bayes").graph
    assert ibmap14.by_hhc(data)["hhc-mn"] == learn(data, "hhc-mn", test="bayes").graph


def test_weighing_beats_believing_on_sparse_networks() -> None:
    request = Request(sizes=(100, 1600), sources=("tau=1",), repetitions=3)
    found = {(line.n_rows, line.learner): line.ours for line in ibmap14.RANDOM.measure(request)}
    for n_rows in (100, 1600):
        assert found[n_rows, "ibmap-hc"] < found[n_rows, "hhc-mn"] < found[n_rows, "gsmn"]
    assert found[1600, "ibmap-hc"] < 3 < found[100, "ibmap-hc"]


def test_on_a_spin_glass_all_end_near_the_truth() -> None:
    request = Request(sizes=(100, 3200), sources=("6x6",), repetitions=3)
    lines = {(line.n_rows, line.learner): line for line in ibmap14.ISING.measure(request)}
    assert all(line.published is None for line in lines.values())
    assert lines[3200, "ibmap-hc"].ours < 6
    assert lines[3200, "hhc-mn"].ours < 6
    assert lines[100, "ibmap-hc"].ours < lines[100, "gsmn"].ours


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="source 'tau=3' does not exist"):
        ibmap14.RANDOM.measure(Request(sources=("tau=3",)))
