"""Questions to a model: joint distributions, most probable values, rows with unknown values, and samples as frames."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.distributions.elimination import Query
from mnlearn.errors import DataError, InputError, MissingDependencyError, UnknownNameError
from mnlearn.graphs import cycle, grid, path, random_graph
from mnlearn.model import DiscreteModel, FitReport, GaussianModel, MostProbable, fit, predictions
from mnlearn.simulate import agreement_factors, equal_partial_correlations, sparse_gaussian, uniform_factors

NAMES = ("a", "b", "c", "d")
LABELS = (("no", "yes"), ("x", "y", "z"), (1, 2), (False, True))


def discrete() -> DiscreteModel:
    network = uniform_factors(cycle(4), 3, cards=[2, 3, 2, 2])
    return DiscreteModel(NAMES, LABELS, network, FitReport("by hand", 0))


def gaussian() -> GaussianModel:
    found = fit(cycle(4), sparse_gaussian(cycle(4), seed=1).dataset(300, seed=2))
    assert isinstance(found, GaussianModel)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_listing_all_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 4, 6).tolist()
    network = uniform_factors(random_graph(6, 2.2, seed), seed, cards=cards)
    states = np.array(list(product(*map(range, cards))))
    chances = np.exp(network.log_weights(states))
    order = rng.permutation(6).tolist()
    known, asked = order[: seed % 4], tuple(order[3 : 4 + seed % 3])
    evidence = {y: rng.integers(0, cards[y], 3) for y in known}
    query = Query(network, asked, frozenset(known))
    joint, (best, log_p) = query.joint(evidence), query.best(evidence)
    for row in range(3 if known else 1):
        fits = np.all([states[:, y] == codes[row] for y, codes in evidence.items()], axis=0) if known else slice(None)
        table = np.zeros([cards[x] for x in asked])
        np.add.at(table, tuple(states[fits][:, x] for x in asked), chances[fits])
        table /= table.sum()
        np.testing.assert_allclose(joint[min(row, len(joint) - 1)], table, atol=1e-12)
        assert table[tuple(best[row])] == pytest.approx(table.max())
        assert log_p[row] == pytest.approx(np.log(table.max()))


def test_the_joint_of_some_variables_adds_up_to_the_conditional_of_each() -> None:
    model = discrete()
    joint = model.joint(["c", "a"], {"b": "z"})
    assert list(joint) == list(product(LABELS[2], LABELS[0]))
    for label in LABELS[0]:
        share = sum(p for labels, p in joint.items() if labels[1] == label)
        assert share == pytest.approx(model.conditional("a", {"b": "z"})[label])
    best = model.most_probable({"b": "z"}, ["c", "a"])
    assert tuple(best.values.values()) == max(joint, key=lambda labels: joint[labels])
    assert np.exp(best.log_probability) == pytest.approx(max(joint.values()))
    assert set(model.most_probable().values) == set(NAMES)


def test_gaussian_answers_agree_with_one_another() -> None:
    model = gaussian()
    found = model.joint(["x0", "x2"], {"x1": 0.5})
    each = [model.conditional(name, {"x1": 0.5}) for name in ("x0", "x2")]
    assert found.names == ("x0", "x2")
    np.testing.assert_allclose(found.mean, [one.mean for one in each])
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), [one.deviation for one in each])
    np.testing.assert_allclose(model.joint(list(model.names)).covariance, model.covariance())
    best = model.most_probable({"x1": 0.5}, ["x0", "x2"])
    assert best == MostProbable(dict(zip(found.names, found.mean.tolist(), strict=True)), best.log_probability)
    assert best.log_probability == pytest.approx(-np.log(2 * np.pi) - np.linalg.slogdet(found.covariance)[1] / 2)


def test_a_table_that_is_too_large_is_refused_with_a_way_out() -> None:
    names = tuple(f"v{x}" for x in range(576))
    wide = DiscreteModel(names, ((0, 1),) * 576, agreement_factors(grid(24, 24), 0.2), FitReport("x", 0))
    with pytest.raises(InputError, match=r"no table above 1048576 cells; this question needs one of .* Give more"):
        wide.most_probable()
    with pytest.raises(InputError, match="Ask about fewer variables, give more evidence"):
        wide.joint(["v0", "v575"])
    chain = DiscreteModel(names[:300], ((0, 1),) * 300, agreement_factors(path(300), 2.0), FitReport("x", 0))
    assert set(chain.most_probable({"v5": 1}).values.values()) == {1}  # 300 variables, tables of four cells


def test_a_row_with_unknown_values_is_predicted_from_what_is_known() -> None:
    model = discrete()
    rows: dict[str, list[Any]] = {
        "a": ["yes", None, "", "no", "yes"],
        "c": [1, 2, None, None, 1],
        "d": [True, None, False, None, True],
        "note": [1, 2, 3, 4, 5],
    }
    chances = model.predict_proba(rows, "b")
    for k in range(5):
        evidence = {name: rows[name][k] for name in "acd" if rows[name][k] not in (None, "")}
        assert chances[k].tolist() == pytest.approx(list(model.conditional("b", evidence).values()))
    assert model.predict(rows, "b").tolist() == [model.labels("b")[k] for k in chances.argmax(1)]
    found = predictions(model, {**rows, "b": ["x", None, "y", "z", "x"]}, "b")
    assert found.value == pytest.approx(np.mean([model.predict(rows, "b")[k] == "xxyzx"[k] for k in (0, 2, 3, 4)]))


def test_a_gaussian_row_with_unknown_values_is_predicted_with_its_deviation() -> None:
    model = gaussian()
    rows: dict[str, list[Any]] = {"x0": [0.3, np.nan, 0.1], "x2": [1.0, 0.2, None], "x3": [0.0, -1.0, None]}
    means, deviations = model.predict(rows, "x1"), model.predict_deviation(rows, "x1")
    for k in range(3):
        evidence = {name: row[k] for name, row in rows.items() if row[k] is not None and not np.isnan(row[k])}
        known = model.conditional("x1", evidence)
        assert (means[k], deviations[k]) == pytest.approx((known.mean, known.deviation))
    assert deviations[0] < deviations[2]


def test_empty_cells_are_filled_by_what_is_most_probable_together() -> None:
    pandas = pytest.importorskip("pandas")
    model = discrete()
    frame = pandas.DataFrame({"a": ["yes", None, "no"], "b": [None, None, "y"], "c": [1.0, None, 2.0]})
    found = model.impute(frame, frame="pandas")
    assert list(found.columns) == ["a", "b", "c"]
    assert found["c"].tolist()[::2] == [1, 2]
    known: list[dict[str, Any]] = [{"a": "yes", "c": 1}, {}, {"a": "no", "b": "y", "c": 2}]
    for k, evidence in enumerate(known):
        asked = [name for name in "abc" if name not in evidence]
        best = model.most_probable(evidence, asked).values if asked else {}
        assert {name: found[name][k] for name in "abc"} == {**evidence, **best}
    numbers = gaussian().impute({"x0": [0.25, None], "x1": [None, 1.5]}, frame="pyarrow").to_pydict()
    assert numbers["x0"][0] == 0.25
    assert numbers["x0"][1] == pytest.approx(gaussian().conditional("x0", {"x1": 1.5}).mean)
    assert list(numbers) == ["x0", "x1"]


def test_many_rows_with_gaps_are_filled_in_any_order() -> None:
    model, rng = discrete(), np.random.default_rng(1)
    rows = model.sample(500, seed=1, frame="pyarrow").to_pydict()
    holes = {name: [None if rng.random() < 0.3 else value for value in column] for name, column in rows.items()}
    filled = model.impute(holes, frame="pyarrow").to_pydict()
    order = rng.permutation(500).tolist()
    again = model.impute({name: [column[k] for k in order] for name, column in holes.items()}, frame="pyarrow")
    assert again.to_pydict() == {name: [column[k] for k in order] for name, column in filled.items()}
    kept = [(name, k) for name, column in holes.items() for k, value in enumerate(column) if value is not None]
    assert all(filled[name][k] == rows[name][k] for name, k in kept)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_samples_are_frames_of_the_library_of_the_data(kind: str) -> None:
    library = pytest.importorskip(kind)
    data = library.DataFrame({"a": ["x", "y"] * 30, "b": [1, 2] * 30})
    model = mn.fit_parameters([("a", "b")], data)
    drawn = model.sample(20, seed=1)
    assert isinstance(drawn, library.DataFrame)
    assert {*drawn["a"]} <= {"x", "y"}
    assert list(drawn["a"]) == list(model.sample(20, seed=1)["a"])
    assert model.sample(5, seed=1, frame="pyarrow").num_rows == 5
    one, two = (list(model.sample(200)["a"]) for _ in range(2))  # without a seed
    assert one != two
    assert mn.fit_parameters(mn.learn(data, "mpl")).frame == kind


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="polars is needed for such a data frame"):
        discrete().sample(3, seed=1, frame="polars")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m.joint([]), InputError, "variables must be at least one name, each once"),
        (lambda m: m.joint(["a", "a"]), InputError, "variables must be at least one name, each once"),
        (lambda m: m.joint("a"), InputError, "variables must be"),
        (lambda m: m.joint(["a"], {"a": "no"}), InputError, "evidence must not hold a variable asked about; got 'a'"),
        (lambda m: m.joint(["e"]), UnknownNameError, "variables: variable 'e' does not exist"),
        (lambda m: m.most_probable(3), InputError, "evidence must be"),
        (
            lambda m: m.most_probable(dict(zip(NAMES, ("no", "x", 1, True), strict=True))),
            InputError,
            "must leave a variable open",
        ),
        (lambda m: m.predict({"a": [None]}, "b"), UnknownNameError, "a column for each neighbour, empty cells allowed"),
        (lambda m: m.predict({"a": ["maybe", None], "c": [1, 2]}, "b"), DataError, "got 'maybe'"),
        (lambda m: m.impute({"e": [1]}), UnknownNameError, "data must have a column of the model"),
        (lambda m: m.sample(3, seed=-1), InputError, "seed must be"),
        (lambda m: m.sample(3, frame="excel"), UnknownNameError, "kind of data frame 'excel' does not exist"),
    ],
)
def test_bad_questions_are_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(discrete())


def test_infinite_numbers_are_refused() -> None:
    model = fit(path(2), equal_partial_correlations(path(2), 0.4).dataset(50, seed=1))
    with pytest.raises(DataError, match="finite numbers in column 'x1'"):
        model.impute({"x0": [None], "x1": [float("inf")]})
