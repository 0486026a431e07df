"""Bootstrap intervals, difference tests, and stability when cases are dropped."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.analysis.samples import SampledWeights
from mnlearn.analysis.stability import DROPPED, Stability
from mnlearn.errors import FileError, InputError, MnlearnError, UnknownNameError
from mnlearn.evaluation.centrality import centralities
from mnlearn.graphs.graph import Graph
from mnlearn.regression.weights import edge_weights
from mnlearn.simulate import example
from monitors import Stopping


def table(n_rows: int = 400, seed: int = 3) -> dict[str, Any]:
    """Return a chain a - b - c - d of numbers; a - b is the strongest pair."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    b = 1.5 * a + rng.normal(size=n_rows)
    c = -0.5 * b + rng.normal(size=n_rows)
    return {"a": a, "b": b, "c": c, "d": 0.4 * c + rng.normal(size=n_rows)}


@pytest.fixture(scope="module")
def learned() -> mn.Learned:
    return mn.learn(table(), transform=None, n_jobs=1)


@pytest.fixture(scope="module")
def fixed(learned: mn.Learned) -> mn.Intervals:
    return learned.intervals(200, relearn=False, n_jobs=1)


def test_a_fixed_structure_gives_the_weights_of_drawn_rows(learned: mn.Learned, fixed: mn.Intervals) -> None:
    from mnlearn.data.rows import resample

    assert learned.data is not None
    assert fixed.weights.pairs == learned.graph.edges == ((0, 1), (1, 2), (2, 3))
    seed = np.random.SeedSequence(0).spawn(7)[6]
    drawn = resample(learned.data, np.random.default_rng(seed))
    slow = edge_weights(drawn, [learned.graph.neighbors(x) for x in range(4)]).values
    assert fixed.weights.samples[6].tolist() == [slow[edge] for edge in fixed.weights.pairs]


def test_intervals_are_percentiles_and_about_as_wide_as_theory_says(fixed: mn.Intervals) -> None:
    rows = fixed.edges("pyarrow").to_pylist()
    assert [(row["u"], row["v"]) for row in rows] == [("a", "b"), ("c", "d"), ("b", "c")]
    for row, place in zip(rows, (0, 2, 1), strict=True):
        low, high = np.quantile(fixed.weights.samples[:, place], [0.025, 0.975])
        assert (row["low"], row["high"]) == (low, high)
        assert low < row["weight"] < high
        error = (1 - row["weight"] ** 2) / np.sqrt(400)  # of a partial correlation of normal variables
        assert high - low == pytest.approx(2 * 1.96 * error, rel=0.25)
        assert (row["edge"], row["frequency"]) == (True, 1.0)


def test_halves_give_intervals_of_the_same_width(learned: mn.Learned, fixed: mn.Intervals) -> None:
    halves = learned.intervals(200, sampling="halves", relearn=False, n_jobs=1)
    spread = halves.weights.samples.std(axis=0) / fixed.weights.samples.std(axis=0)
    assert np.all((spread > 0.8) & (spread < 1.25))
    assert "200 halves of the rows, same structure" in repr(halves)


def test_differences_are_found_and_equal_ones_are_not(fixed: mn.Intervals) -> None:
    clear = fixed.difference_test(("b", "a"), ("b", "c"))
    assert clear.differs
    assert clear.p == pytest.approx(2 / 201)
    assert clear.difference == pytest.approx(fixed.weights.observed[0] - fixed.weights.observed[1])
    assert str(clear).startswith("a - b and b - c differ: ")
    absent = fixed.difference_test(("a", "c"), ("a", "d"))  # never an edge: both 0
    assert (absent.difference, absent.low, absent.high, absent.p, absent.differs) == (0, 0, 0, 1, False)
    assert fixed.difference_test("b", "d").differs
    by_measure = fixed.difference_test("a", "d", measure="betweenness")
    assert (by_measure.p, by_measure.differs) == (1.0, False)


def test_the_matrix_of_differences_holds_the_single_tests(fixed: mn.Intervals) -> None:
    names, p = fixed.differences()
    assert names == ["a - b", "c - d", "b - c"]
    assert p[0, 1] == p[1, 0] == fixed.difference_test(("a", "b"), ("c", "d")).p
    assert np.diag(p).tolist() == [1, 1, 1]
    names, p = fixed.differences("strength")
    assert p[names.index("b"), names.index("d")] == fixed.difference_test("b", "d").p


def test_learning_again_counts_edges_and_keeps_other_pairs(learned: mn.Learned) -> None:
    found = learned.intervals(12, n_jobs=1)
    rows = {(row["u"], row["v"]): row for row in found.edges("pyarrow").to_pylist()}
    assert rows["a", "b"]["frequency"] == 1.0
    others = [row for row in rows.values() if not row["edge"]]
    assert all(row["weight"] == 0.0 < row["frequency"] for row in others)
    assert found.edges("pandas").columns.tolist()[:4] == ["u", "v", "edge", "weight"]
    assert "12 bootstrap samples, each learned again" in repr(found)


def test_the_samples_depend_on_the_data_and_on_learning_again() -> None:
    """Rows that are drawn twice count as more evidence for most methods of categorical data."""
    survey = example(200, seed=1).columns()
    discrete, continuous = mn.learn(survey, "mpl"), mn.learn(table(), "pc")
    assert discrete.intervals(2, n_jobs=1).sampling == "halves"
    assert discrete.intervals(2, n_jobs=1, relearn=False).sampling == "bootstrap"
    assert discrete.intervals(2, n_jobs=1, sampling="bootstrap").sampling == "bootstrap"
    assert continuous.intervals(2, n_jobs=1).sampling == "bootstrap"


def test_the_same_seed_gives_the_same_numbers_for_any_number_of_jobs(learned: mn.Learned) -> None:
    one, two = (learned.intervals(45, relearn=False, n_jobs=k, seed=5) for k in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.to_dict() != learned.intervals(45, relearn=False, n_jobs=1).to_dict()


def test_the_graphical_lasso_is_compared_with_its_own_penalised_weights(learned: mn.Learned) -> None:
    glasso = mn.learn(table(), "glasso", transform=None, n_jobs=1, n_penalties=8)
    again = glasso.intervals(3, n_jobs=1)
    assert glasso.weights is not None
    assert again.weights.observed[0] == glasso.weights.values[0, 1]
    refitted = glasso.intervals(3, relearn=False, n_jobs=1)
    assert refitted.weights.observed[0] > glasso.weights.values[0, 1]  # not shrunk, in samples and in all rows alike


def test_the_cost_is_logged_before_the_rest_is_done(learned: mn.Learned, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "mnlearn.stability"):
        learned.intervals(40, relearn=False, n_jobs=1)
    assert any("40 samples take about" in message and "on 1 core" in message for message in caplog.messages)


def test_cancelling_keeps_the_samples_so_far(learned: mn.Learned) -> None:
    found = learned.intervals(100, relearn=False, n_jobs=1, monitor=Stopping(after=3))
    assert 0 < found.done < 100
    assert f"{found.done} bootstrap samples of 100, stopped" in repr(found)
    with pytest.raises(MnlearnError, match="cancelled before the first sample"):
        learned.stability(100, relearn=False, n_jobs=1, monitor=Stopping(after=0))


def test_cs_coefficients_follow_their_definition() -> None:
    dropped = np.repeat(DROPPED, 20)
    high, low = np.full(len(dropped), 0.9), np.full(len(dropped), 0.1)
    falling = np.where(dropped <= 0.3, 0.8, 0.6)
    falling[dropped == 0.2] = np.nan  # no correlation counts as a low one
    enough = np.where(np.arange(len(dropped)) % 20 == 0, 0.0, 0.71)  # 95 % of the samples
    values = {"weight": high, "strength": falling, "closeness": low, "betweenness": enough}
    found = Stability(None, dropped, values, 0.7, True, 0, len(dropped))  # type: ignore[arg-type]
    assert found.cs_coefficient == {"weight": 0.75, "strength": 0.3, "closeness": 0.0, "betweenness": 0.75}


def test_stability_drops_cases_and_correlates(learned: mn.Learned) -> None:
    found = learned.stability(28, relearn=False, n_jobs=1)
    assert found.dropped.tolist() == [*DROPPED, *DROPPED]
    assert found.cs_coefficient["strength"] == 0.75
    rows = found.table("pyarrow").to_pylist()
    assert len(rows) == 8 * 14
    assert rows[0]["measure"] == "weight"
    assert rows[0]["samples"] == 2
    assert rows[0]["low"] <= rows[0]["mean"] <= rows[0]["high"] <= 1 + 1e-12
    assert found.to_dict()["samples"] == {"asked": 28, "done": 28, "seed": 0}
    assert str(found).splitlines()[2] == "strength: 0.75"


def test_binary_data_and_networks_without_edges() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    codes = {"a": a, "b": np.where(rng.random(200) < 0.9, a, 1 - a), "c": rng.integers(0, 2, 200)}
    found = mn.learn(codes, "mpl", n_jobs=1).intervals(20, relearn=False, n_jobs=1)
    assert found.edges("pyarrow").to_pylist()[0]["low"] > 2.0  # a log odds ratio
    nothing = mn.learn({"a": a, "c": rng.integers(0, 2, 200)}, "mpl", n_jobs=1)
    empty = nothing.intervals(3, relearn=False, n_jobs=1)
    assert empty.edges("pyarrow").num_rows == 0
    assert set(nothing.stability(14, relearn=False, n_jobs=1).cs_coefficient.values()) == {0.0}
    with pytest.raises(InputError, match="needs edges; this network has none"):
        empty.plot()


def test_pictures_of_intervals_differences_and_stability(
    learned: mn.Learned, fixed: mn.Intervals, tmp_path: Path
) -> None:
    for kind in ("edges", "differences", "strength"):
        fixed.plot(tmp_path / f"{kind}.svg", kind=kind)
    learned.stability(14, relearn=False, n_jobs=1).plot(tmp_path / "cases.svg")
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["cases", "differences", "edges", "strength"]
    with pytest.raises(UnknownNameError, match="kind of picture 'edge' does not exist"):
        fixed.plot(kind="edge")
    with pytest.raises(FileError, match="must end in"):
        fixed.plot(tmp_path / "edges.jpg")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda found: found.difference_test("a", ("a", "b")), "first must be a pair"),
        (lambda found: found.difference_test("a", "a"), "must differ; got 'a' twice"),
        (lambda found: found.difference_test(("a", "a"), ("a", "b")), "two different variables"),
        (lambda found: found.learned.intervals(1), "n_samples must be"),
        (lambda found: found.learned.intervals(10, level=95), "level must be a number between 0 and 1; got 95"),
        (lambda found: found.learned.intervals(10, sampling="half"), "sampling 'half' does not exist"),
        (lambda found: found.learned.intervals(10, relearn="no"), "relearn must be true or false"),
        (lambda found: found.learned.stability(14, correlation=1.0), "correlation must be a number between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(fixed: mn.Intervals, call: Any, message: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        call(fixed)


def test_a_network_without_data_says_how_to_attach_them(learned: mn.Learned, tmp_path: Path) -> None:
    learned.save(tmp_path / "net.json")
    loaded = mn.load(tmp_path / "net.json")
    with pytest.raises(InputError, match=r"intervals needs the data.*with_data"):
        loaded.intervals(10)
    assert loaded.with_data(table()).intervals(5, relearn=False, n_jobs=1).done == 5


def test_pairs_are_those_of_any_sample() -> None:
    from mnlearn.analysis.samples import _together

    found = _together((((0, 1),), [0.5]), [(((0, 1),), [0.4]), (((0, 1), (1, 2)), [0.6, -0.2])], 2)
    assert isinstance(found, SampledWeights)
    assert found.pairs == ((0, 1), (1, 2))
    assert found.observed.tolist() == [0.5, 0.0]
    assert found.samples.tolist() == [[0.4, 0.0], [0.6, -0.2]]
    assert found.present.tolist() == [[True, False], [True, True]]


def test_weighted_rows_are_dropped_as_rows_and_keep_their_weights() -> None:
    from mnlearn.data.rows import weighted_rows

    weights = np.random.default_rng(1).uniform(0.2, 3.0, 400)
    learned = mn.learn({**table(), "w": weights}, transform=None, weights="w", n_jobs=1)
    assert learned.data is not None
    assert learned.data.repeats is not None
    part = weighted_rows(learned.data, 100, seed=5)
    assert part.repeats is not None
    kept = np.isin(learned.data.columns[0], part.columns[0])
    assert part.n_records == kept.sum() == 100
    assert (part.repeats / weights[kept]).std() == pytest.approx(0.0, abs=1e-9)
    assert part.n_rows == round(weights[kept].sum() ** 2 / (weights[kept] ** 2).sum())
    for relearn in (True, False):
        found = learned.stability(14, relearn=relearn, n_jobs=1)
        assert found.cs_coefficient["weight"] > 0.5
        halves = learned.intervals(30, sampling="halves", relearn=relearn, n_jobs=1).edges("pyarrow").to_pylist()
        assert halves[0]["low"] < halves[0]["weight"] < halves[0]["high"]
    assert len(learned.predictability_list(4)) == 4


def test_the_time_includes_the_centralities_and_cancelling_keeps_those_so_far(
    learned: mn.Learned, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from mnlearn.analysis import stability as module

    whole = learned.stability(60, relearn=False, n_jobs=1)
    monkeypatch.setattr(module, "_BLOCK", 10 * len(learned.names) ** 2)
    calls: list[int] = []
    fast = centralities

    def slow(n: int, pairs: Any, weights: Any, groups: Any) -> Any:
        calls.append(len(weights))
        time.sleep(0.05)
        return fast(n, pairs, weights, groups)

    class Stop(Stopping):
        def cancelled(self) -> bool:
            return len(calls) >= 7

    monkeypatch.setattr(module, "centralities", slow)
    with caplog.at_level(logging.INFO, "mnlearn.stability"):
        part = learned.stability(60, relearn=False, n_jobs=1, monitor=Stop(99))
    assert "60 samples take about 1 s" in caplog.text
    assert calls == [1, 10, 10, 1, 10, 10, 10]  # all rows and the first 20 samples are done twice, to tell the time
    assert (part.done, part.asked) == (30, 60)
    assert part.correlations["closeness"].tolist() == whole.correlations["closeness"][:30].tolist()


def test_fewer_samples_than_shares_are_refused(learned: mn.Learned) -> None:
    with pytest.raises(InputError, match="n_samples must be at least 14, one for each share of dropped rows; got 13"):
        learned.stability(13, n_jobs=1)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_tables_of_several_kinds_have_intervals_and_stability(missing: float) -> None:
    rng = np.random.default_rng(1)
    town = rng.integers(3, size=300).astype(np.uint8)
    pulse = 2.0 * (town == 2) + rng.normal(size=300)
    weight = 0.6 * pulse + rng.normal(size=300)
    town[rng.random(300) < missing] = 3
    weight[rng.random(300) < missing] = np.nan
    names, gaps = ("town", "pulse", "weight"), frozenset({"town", "weight"} if missing else ())
    data = mn.Dataset(names, (3, 0, 0), (town, pulse, weight), (("a", "b", "c"), None, None), gaps=gaps)
    source = mn.learn({"a": pulse.tolist(), "b": (pulse + rng.normal(size=300)).tolist()})
    result = replace(source.result, graph=Graph(3, [(0, 1), (1, 2)]), support={})
    learned = replace(source, names=names, result=result, data=data)
    assert learned.weights is not None
    assert learned.weights.measure == "standardised interaction"
    found = learned.intervals(30, relearn=False, n_jobs=1)
    rows = found.edges("pyarrow").to_pylist()
    assert {(row["u"], row["v"]) for row in rows} == {("town", "pulse"), ("pulse", "weight")}
    for row in rows:
        assert 0 < row["low"] < row["weight"] < row["high"] < 1.5
    assert 0 <= learned.stability(30, relearn=False, n_jobs=1).cs_coefficient["strength"] <= 1
