"""Small versions of the synthetic experiments of IBMAP14: weighing the tests against believing them."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.errors import UnknownNameError
from mnlearn.experiments import ibmap14
from mnlearn.experiments.reproduction import Request
from mnlearn.graphs import grid
from mnlearn.learning import learn


@pytest.mark.slow
def test_random_networks_have_the_degree_they_are_named_after() -> None:
    for name, source in ibmap14.random_networks().sources.items():
        case, other = (source(20, np.random.default_rng(seed)) for seed in (1, 2))
        tau = float(name.removeprefix("tau=").removesuffix(",mixed"))
        assert (case.truth.n_variables, case.truth.n_edges) == (75, int(75 * tau / 2))
        assert case.truth != other.truth
        assert set(case.data.cards) == {2}


def test_spin_glasses_sit_on_wrapped_lattices() -> None:
    sources = ibmap14.spin_glasses().sources
    assert list(sources) == ["4x4", "6x6", "8x8", "10x10"]
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
