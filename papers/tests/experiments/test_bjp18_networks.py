"""Small versions of Tables 3 to 5 of BJP18: structures as named, figures as in the paper."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from mnlearn.algorithms import TwoPhase
from mnlearn.errors import FileError, UnknownNameError
from mnlearn.graphs import hubs
from mnlearn.graphs.generators import total_irregularity
from mnlearn.learning import learn
from mnlearn.scores import MPL
from mnlearn.statistics import Counts
from mnlearn_papers import bjp18_networks as paper
from mnlearn_papers.experiment import Case
from mnlearn_papers.reproduction import Comparison, Key, Published, Request
from networks import DATA


def by_key(lines: list[Comparison]) -> dict[tuple[int, str], Comparison]:
    return {(line.n_rows, line.learner): line for line in lines}


def test_published_figures_are_those_of_the_paper() -> None:
    three, four = paper.DISTANCES_3.published, paper.DISTANCES_4.published
    assert len(three) == len(four) == 4 * 6 * 7 * 3
    assert three[Key("hub1", 250, "bjp")] == Published(7.76, 1.04, 1)
    assert three[Key("hub4", 8000, "gsmn")] == three[Key("hub4", 8000, "gsmn-chi2")] == Published(188.44, 4.05, 1)
    assert four[Key("scalefree4", 8000, "mpl")] == four[Key("scalefree4", 8000, "mpl-ess")] == Published(57.09, 0.85, 1)
    assert four[Key("scalefree1", 1000, "ib")] == Published(7.1, 1.06, 1)
    assert three[Key("hub4", 250, "bjp false")][::2] == (1.57, 100)
    assert three[Key("hub4", 250, "mpl-flat-and missing")][::2] == (104.62, 100)
    assert four[Key("scalefree1", 250, "gsmn false")][::2] == (10.9, 10)
    assert four[Key("scalefree1", 250, "mpl missing")][::2] == (11.65, 100)


def test_the_published_errors_of_both_kinds_add_up_within_half_an_edge() -> None:
    for table in (paper.DISTANCES_3, paper.DISTANCES_4):
        for key, distance in table.published.items():
            if key.learner in ("gsmn", "mpl", "ib", "bjp"):
                kinds = [key._replace(learner=f"{key.learner} {kind}") for kind in ("false", "missing")]
                assert sum(table.published[kind].mean for kind in kinds) == pytest.approx(distance.mean, abs=0.5), key


def test_hub_1_is_the_double_star_and_the_others_go_on_from_there() -> None:
    assert paper.chain_of_hubs(2) == hubs(2, 7)
    doubled = [2 * total_irregularity(paper.chain_of_hubs(2**k)) for k in (1, 2, 3, 4)]
    assert doubled == [392, 1688, 6968, 28280]  # printed: 392, 1916, 6624, 24496
    sources = paper.hub_networks().sources
    cases = [sources[f"hub{k}"](20, np.random.default_rng(1)) for k in (1, 2, 3, 4)]
    assert [case.truth.n_variables for case in cases] == [16, 32, 64, 128]
    assert all(case.truth.n_edges == case.truth.n_variables - 1 for case in cases)
    assert all(set(case.data.cards) == {2} for case in cases)


def test_scale_free_networks_are_trees_each_of_its_own() -> None:
    sources = paper.scale_free_networks().sources
    for k, n in zip((1, 2, 3, 4), (16, 32, 64, 128), strict=True):
        one, other = (sources[f"scalefree{k}"](20, np.random.default_rng(seed)).truth for seed in (1, 2))
        assert (one.n_variables, one.n_edges, len(one.components())) == (n, n - 1, 1)
        assert one != other


def test_the_learners_are_those_of_the_library() -> None:
    data = paper.hub_networks().sources["hub1"](500, np.random.default_rng(5)).data
    for method in ("ib", "bjp", "mpl"):
        assert paper.METHODS[method](data)[method] == learn(data, method).graph
    flat = TwoPhase().learn(MPL(Counts(data), graph_prior=None))
    assert paper.METHODS["mpl-flat-and"](data) == {"mpl-flat-and": flat.stages["and"]}
    decided = paper.by_gsmn_readings(data)
    assert decided["gsmn-chi2"] == learn(data, "gsmn*", test="chi2", dof="adjusted", alpha=0.05).graph
    assert decided["gsmn"] == learn(data, "gsmn*", test="bayes").graph


def test_table_3_at_its_smallest() -> None:
    request = Request(sizes=(250, 4000), sources=("hub1",), repetitions=25)
    lines = by_key(paper.TABLE_3.measure(request))
    for learner in ("ib", "bjp"):
        for n_rows in (250, 4000):
            away = lines[n_rows, learner].standard_errors
            assert away is not None
            assert abs(away) < 4.5, (n_rows, learner)
        assert lines[4000, learner].ours < lines[250, learner].ours - 2
    assert lines[250, "bjp"].ours < lines[250, "gsmn"].ours


def test_table_4_at_its_smallest() -> None:
    request = Request(sizes=(250, 4000), sources=("scalefree2",), methods=("ib", "bjp"), repetitions=6)
    lines = by_key(paper.TABLE_4.measure(request))
    assert {learner.split()[0] for _, learner in lines} == {"ib", "bjp"}
    for line in (line for (_, learner), line in lines.items() if learner in ("ib", "bjp")):
        assert line.published is not None
        assert abs(line.ours - line.published) < 8  # magnitudes; the trees are ours
    assert fmean(lines[4000, s].ours for s in ("ib", "bjp")) < fmean(lines[250, s].ours for s in ("ib", "bjp")) - 5


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="source 'hub5' does not exist"):
        paper.TABLE_3.measure(Request(sources=("hub5",)))


@pytest.mark.skipif(not (DATA / "graphs").is_dir(), reason="needs the graphs of MNLEARN_DATA")
def test_real_networks_at_their_smallest() -> None:
    experiment = paper.real_networks(DATA)
    sizes = [experiment.sources[name](5, np.random.default_rng(1)).truth.n_variables for name in ("karate", "can_62")]
    assert sizes == [34, 62]
    request = Request(sizes=(250, 1000), sources=("karate",), methods=("mpl", "bjp"), repetitions=2, data=DATA)
    lines = by_key(paper.REAL_NETWORKS.measure(request))
    assert all(0 < lines[size, learner].ours < 90 for size in (250, 1000) for learner in ("mpl", "bjp"))
    assert lines[1000, "mpl"].ours < lines[250, "mpl"].ours


@pytest.mark.skipif(not (DATA / "graphs").is_dir(), reason="needs the graphs of MNLEARN_DATA")
def test_the_largest_network_can_be_drawn_from() -> None:
    case = paper.real_networks(DATA).sources["eris1176"](40, np.random.default_rng(1))
    assert (case.truth.n_variables, case.truth.n_edges) == (1176, 8688)
    assert case.data.n_rows == 40


def test_run_times_and_the_work_of_the_climbs() -> None:
    request = Request(sizes=(500,), sources=("hub1", "scalefree3"), repetitions=2)
    lines = {(line.source, line.learner): line.ours for line in paper.RUN_TIMES.measure(request)}
    assert len(lines) == 2 * (4 + 4)
    assert all(value > 0 for value in lines.values())
    data = paper.hub_networks().sources["hub1"](500, np.random.default_rng(3)).data
    found = paper.RunTimes(lambda _n_rows, _rng: Case(data, paper.chain_of_hubs(2)))(500, np.random.default_rng(0))
    climbed = learn(data, "ib")
    assert found["ib flips"].value == climbed.graph.n_edges  # no flip of this climb is taken back
    assert found["ib terms"].value == 16 * 15 / 2 + 2 * 15 * (climbed.graph.n_edges + 1)  # the last proposal fails


def test_run_times_of_real_networks_need_the_data() -> None:
    with pytest.raises(UnknownNameError, match="source 'karate' does not exist"):
        paper.RUN_TIMES.measure(Request(sources=("karate",)))


@pytest.mark.skipif(not (DATA / "graphs").is_dir(), reason="needs the graphs of MNLEARN_DATA")
def test_run_times_of_a_real_network() -> None:
    lines = paper.RUN_TIMES.measure(Request(sizes=(250,), sources=("karate",), repetitions=1, data=DATA))
    assert len(lines) == 8
    with pytest.raises(UnknownNameError, match="source 'eris1176' does not exist"):  # it may take minutes
        paper.RUN_TIMES.measure(Request(sources=("eris1176",), data=DATA))


def test_without_data_the_error_says_where_to_put_them(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"data must be the folder that holds graphs/\*\.edges; got none"):
        paper.REAL_NETWORKS.measure(Request())
    with pytest.raises(FileError, match=r"graphs/karate\.edges; .* does not"):
        paper.REAL_NETWORKS.measure(Request(data=tmp_path))
