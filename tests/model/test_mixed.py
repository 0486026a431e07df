"""Mixed models: exact small cases on grids, sampling, prediction, gaps, imputation and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn import DataError, Dataset, FileError, Graph, InputError, UnknownNameError, UnsuitableError
from mnlearn.data.dataset import code_type
from mnlearn.graphs import path
from mnlearn.model import FitReport, MixedModel, fitting, load_model, mixed, mixed_network
from mnlearn.model.fitting import normalisable
from mnlearn.model.mixed_network import MixedNetwork
from mnlearn.model.predictions import predictions
from mnlearn.regression.features import Features, Interactions, contrasts

from references import mixed as slow

GRAPH = Graph(5, [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (1, 4)])
LEVELS = (("x", "y", "z"), (1, 2, 3, 4, 5), None, None, None)


def fit(graph: Graph, data: Any, method: str | None = None, **settings: Any) -> Any:
    """Fit a model of any kind."""
    return fitting.fit(graph, data, method, **settings)


def table(n_rows: int, seed: int = 1) -> Any:
    """A nominal, an ordinal, two continuous columns and a count."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(3, size=n_rows), rng.integers(5, size=n_rows)
    c = 0.5 * a + 0.3 * b + rng.normal(size=n_rows)
    d, e = rng.poisson(np.exp(0.3 * c)).astype(float), 0.4 * c + rng.normal(size=n_rows)
    columns = (a.astype(np.uint8), b.astype(np.uint8), 10 + 3 * c, d, e)
    return Dataset(tuple("abcde"), (3, 5, 0, 0, 0), columns, LEVELS, ordinal=frozenset("b"), counted=frozenset("d"))


def with_gaps(data: Any, share: float, seed: int = 7) -> Any:
    """The data with values missing completely at random."""
    rng = np.random.default_rng(seed)
    columns = []
    for column, card in zip(data.columns, data.cards, strict=True):
        kept = column.astype(code_type(card + 1) if card else np.float64)
        kept[rng.random(len(column)) < share] = card or np.nan
        columns.append(kept)
    kinds = {"ordinal": data.ordinal, "counted": data.counted}
    return Dataset(data.names, data.cards, tuple(columns), data.levels, **kinds, gaps=frozenset(data.names))


def small(seed: int = 1) -> Any:
    """Two categorical variables and two numbers with known parameters, all joined but two."""
    rng = np.random.default_rng(seed)
    features = (
        Features("nominal", contrasts(3)),
        Features("ordinal", np.array([[-1.2], [0.1], [1.3]])),
        Features("continuous", np.empty((0, 0)), 5.0, 2.0),
        Features("continuous", np.empty((0, 0)), -1.0, 0.5),
    )
    graph = Graph(4, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])
    weights = {(u, v): 0.6 * rng.normal(size=(features[u].size, features[v].size)) for u, v in graph.edges}
    thresholds = (rng.normal(size=3), rng.normal(size=3), np.empty(0), np.empty(0))
    found = Interactions(thresholds, np.array([0, 0, 0.3, -0.2]), np.array([1, 1, 1.5, 1.2]), weights)
    levels = (("x", "y", "z"), (1, 2, 3), None, None)
    return MixedModel(tuple("abcd"), levels, MixedNetwork(graph, features, found), FitReport("by hand", 0))


POINTS = np.linspace(-7.0, 7.0, 57)


def grid(model: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, mass = slow.grid_joint(model.network.features, model.network.interactions, POINTS)
    return np.array(rows, dtype=float), mass


def test_every_question_agrees_with_sums_over_a_grid() -> None:
    model = small()
    rows, mass = grid(model)
    for label, chance in model.conditional("a").items():
        assert chance == pytest.approx(mass[rows[:, 0] == "xyz".index(label)].sum(), abs=1e-6)
    found = model.conditional("c", {"a": "z"})
    kept, z = rows[:, 0] == 2, 5.0 + 2.0 * rows[:, 2]
    mean = np.average(z[kept], weights=mass[kept])
    assert found.mean == pytest.approx(mean, abs=1e-5)
    assert found.deviation == pytest.approx(np.sqrt(np.average((z[kept] - mean) ** 2, weights=mass[kept])), abs=1e-5)
    at = POINTS[30]
    given = model.joint(["a", "b"], {"d": -1.0 + 0.5 * at})
    here = np.isclose(rows[:, 3], at)
    for (one, two), chance in given.items():
        cell = here & (rows[:, 0] == "xyz".index(one)) & (rows[:, 1] == two - 1)
        assert chance == pytest.approx(mass[cell].sum() / mass[here].sum(), abs=1e-6)
    both = model.joint(["c", "d"], {"b": 2})
    kept = rows[:, 1] == 1
    values = np.stack([z, -1.0 + 0.5 * rows[:, 3]], 1)[kept]
    np.testing.assert_allclose(both.mean, np.average(values, axis=0, weights=mass[kept]), atol=1e-5)
    np.testing.assert_allclose(both.covariance, np.cov(values.T, aweights=mass[kept], ddof=0), atol=1e-4)


def test_the_likelihood_is_a_density_over_states_and_numbers() -> None:
    model = small()
    rows, mass = grid(model)
    step = POINTS[1] - POINTS[0]
    some = np.random.default_rng(1).choice(len(rows), size=30, p=mass)
    columns = (
        *(rows[some, x].astype(np.uint8) for x in (0, 1)),
        np.ascontiguousarray(5.0 + 2.0 * rows[some, 2]),
        np.ascontiguousarray(-1.0 + 0.5 * rows[some, 3]),
    )
    data = Dataset(tuple("abcd"), (3, 3, 0, 0), columns, model.levels)
    expected = np.log(mass[some] / (step * 2.0 * step * 0.5)).sum()
    assert model.log_likelihood(data) == pytest.approx(expected, abs=1e-4)
    local = model.log_conditionals(data)
    units = [0.0, 0.0, np.log(2.0), np.log(0.5)]
    features, found = model.network.features, model.network.interactions
    for k, row in enumerate(rows[some]):
        for x in range(4):
            assert local[k, x] == pytest.approx(slow.log_local(features, found, x, row) - units[x])
    assert model.log_pseudolikelihood(data) == pytest.approx(local.sum())


@pytest.mark.parametrize("method", ["auto", "enumerate", "gibbs"])
def test_samples_have_the_moments_of_the_grid(method: Any) -> None:
    model = small()
    rows, mass = grid(model)
    drawn = model.sample_dataset(20_000, seed=3, method=method)
    tolerance = 0.03
    for x in (0, 1):
        for state in range(3):
            assert (drawn.columns[x] == state).mean() == pytest.approx(mass[rows[:, x] == state].sum(), abs=tolerance)
    z = np.stack([(drawn.columns[2] - 5.0) / 2.0, (drawn.columns[3] + 1.0) / 0.5], 1).astype(float)
    np.testing.assert_allclose(z.mean(0), mass @ rows[:, 2:], atol=tolerance)
    np.testing.assert_allclose(np.cov(z.T), np.cov(rows[:, 2:].T, aweights=mass, ddof=0), atol=2 * tolerance)
    inside = drawn.columns[1] == 2
    expected = np.average(rows[:, 2], weights=mass * (rows[:, 1] == 2))
    assert z[inside, 0].mean() == pytest.approx(expected, abs=2 * tolerance)
    again = model.sample_dataset(20_000, seed=3, method=method)
    assert all(np.array_equal(a, b) for a, b in zip(drawn.columns, again.columns, strict=True))


def test_states_that_are_too_many_to_list_are_drawn_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    rows = {"c": [3.0, 7.0, None], "d": [None, -1.0, -2.0], "b": [1, None, None]}
    exact = model.predict_proba(rows, "a")
    means = model.predict({**rows, "a": [None] * 3, "c": [None] * 3}, "c")
    monkeypatch.setattr(mixed_network, "LARGEST_LIST", 1)
    monkeypatch.setattr(mixed, "LARGEST_LIST", 1)
    monkeypatch.setattr(mixed_network, "GIBBS_DRAWS", 4000)
    np.testing.assert_allclose(model.predict_proba(rows, "a"), exact, atol=0.04)
    np.testing.assert_array_equal(model.predict_proba(rows, "a"), model.predict_proba(rows, "a"))
    np.testing.assert_allclose(model.predict({**rows, "a": [None] * 3, "c": [None] * 3}, "c"), means, atol=0.15)
    with pytest.raises(InputError, match="evidence must leave at most 1 configurations of states open"):
        model.joint(["a", "b"])


def test_the_most_probable_values_are_the_mode_of_the_density() -> None:
    model = small()
    rows, mass = grid(model)
    best = rows[mass.argmax()]
    found = model.most_probable()
    assert (found.values["a"], found.values["b"]) == ("xyz"[int(best[0])], int(best[1]) + 1)
    assert (found.values["c"] - 5.0) / 2.0 == pytest.approx(best[2], abs=0.13)
    assert found.log_probability == pytest.approx(np.log(mass.max() / (POINTS[1] - POINTS[0]) ** 2), abs=0.05)
    states = model.most_probable({}, ["b"])
    shares = [mass[rows[:, 1] == k].sum() for k in range(3)]
    assert states.values == {"b": int(np.argmax(shares)) + 1}
    assert states.log_probability == pytest.approx(np.log(max(shares)), abs=1e-6)
    with pytest.raises(UnsuitableError, match="variables must have states"):
        model.most_probable({}, ["c"])
    with pytest.raises(UnsuitableError, match="joint needs variables of states, or continuous ones"):
        model.joint(["a", "c"])


def test_fitted_parameters_come_back_from_samples() -> None:
    truth = small()
    fitted = fit(truth.graph, truth.sample_dataset(40_000, seed=2)._with(ordinal=frozenset("b")))
    assert fitted.report.converged
    for edge in truth.strengths():
        found = next(one for one in fitted.strengths() if (one.u, one.v) == (edge.u, edge.v))
        assert found.strength == pytest.approx(edge.strength, abs=0.12)
        if edge.strength > 0.2:
            assert found.sign == edge.sign


def test_nominal_tables_are_the_pairwise_discrete_model() -> None:
    codes = np.random.default_rng(1).integers(3, size=(300, 3))
    codes[:, 1] = np.where(np.random.default_rng(2).random(300) < 0.6, codes[:, 0], codes[:, 1])
    data, graph = Dataset.from_codes(codes, cards=[3, 3, 3]), path(3)
    one = fit(graph, data, "mixed", ridge=1e-6)
    other = fit(graph, data, "pseudolikelihood", interactions="pairwise", ridge=1e-6)
    np.testing.assert_allclose(one.log_conditionals(data), other.log_conditionals(data), atol=1e-4)
    assert one.log_likelihood(data) == pytest.approx(other.log_likelihood(data), abs=1e-2)
    assert one.n_parameters == other.n_parameters
    asked = one.joint(["x0", "x2"])
    for labels, chance in other.joint(["x0", "x2"]).items():
        assert asked[labels] == pytest.approx(chance, abs=1e-4)


def test_numbers_alone_are_the_gaussian_model() -> None:
    data = table(500).select(["c", "e"])
    one, other = fit(path(2), data, "mixed", ridge=1e-9), fit(path(2), data, "gaussian")
    assert one.log_likelihood(data) == pytest.approx(other.log_likelihood(data), rel=1e-7)
    assert one.conditional("c", {"e": 1.0}) == pytest.approx(other.conditional("c", {"e": 1.0}))
    assert one.strengths()[0].strength == pytest.approx(other.strengths()[0].strength)
    np.testing.assert_allclose(one.predict({"e": [1.0, None]}, "c"), other.predict({"e": [1.0, None]}, "c"), rtol=1e-6)


def test_predictions_are_on_the_scale_of_the_data() -> None:
    data = table(3000)
    model = fit(GRAPH, data)
    assert (model.kind, model.kinds) == ("mixed", data.kinds)
    found = predictions(model, data, "c")
    assert (found.measure, found.table.names) == ("rmse", ("c", "deviation"))
    assert found.value is not None
    assert 0.5 * data.columns[2].std() < found.value < 0.9 * data.columns[2].std()
    assert model.predict_deviation(data, "c")[0] == pytest.approx(found.value, rel=0.1)
    counts = model.predict(data, "d")
    assert counts.mean() == pytest.approx(data.columns[3].mean(), rel=0.1)
    assert (counts >= 0).all()
    guessed = predictions(model, data, "a")
    assert guessed.measure == "accuracy"
    assert guessed.value is not None
    assert guessed.value > 0.4
    with pytest.raises(UnsuitableError, match="column must have states for probabilities"):
        model.predict_proba(data, "c")
    with pytest.raises(UnsuitableError, match="column must have numbers for a deviation"):
        model.predict_deviation(data, "a")


def test_new_rows_come_as_raw_values_in_any_order() -> None:
    model = fit(GRAPH, table(500))
    raw = {"other": ["?", "?"], "c": [12.0, None], "b": [2, 5], "a": ["z", "x"]}
    assert len(model.predict({**raw, "e": [0.1, 0.2], "d": [1, None]}, "c")) == 2
    with pytest.raises(UnknownNameError, match=r"a column for each neighbour.*'d'"):
        model.predict(raw, "c")
    with pytest.raises(DataError, match="states that the model knows in column 'a'"):
        model.predict({"a": ["w"], "c": [1.0], "e": [0.0]}, "b")
    with pytest.raises(DataError, match="whole numbers from 0 in column 'd', a count"):
        model.predict({"a": ["x"], "b": [1], "e": [0.0], "d": [-2.0]}, "c")
    with pytest.raises(DataError, match="data must be complete; 'c' has missing values"):
        model.log_likelihood({"a": ["x", "y"], "b": [1, 2], "c": [1.0, None], "d": [0, 1], "e": [0.0, 1.0]})
    with pytest.raises(InputError, match="evidence must hold labels of the model"):
        model.conditional("c", {"a": "w"})
    with pytest.raises(InputError, match="evidence must hold finite numbers"):
        model.conditional("a", {"c": "high"})
    with pytest.raises(UnknownNameError, match="evidence"):
        model.conditional("a", {"q": 1})


def test_drawn_values_recover_means_and_log_odds_of_complete_data(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = table(6000, seed=4)
    gaps = with_gaps(complete, 0.25)
    model = fit(GRAPH, gaps)
    assert "values are missing" in model.report.notes[0]
    copies = model.imputed_datasets(gaps, 3, seed=1)
    for copy in copies:
        assert copy.filled == sum(int((~gaps.observed(x)).sum()) for x in range(5))
        assert not copy.rows.gaps
        for x in range(5):
            seen = gaps.observed(x)
            np.testing.assert_array_equal(copy.rows.columns[x][seen], gaps.columns[x][seen])
            deviation = complete.columns[x].std()
            assert copy.rows.columns[x].mean() == pytest.approx(complete.columns[x].mean(), abs=0.05 * deviation)
        one, other = (np.corrcoef(d.columns[2].astype(float), d.columns[4])[0, 1] for d in (copy.rows, complete))
        assert one == pytest.approx(other, abs=0.03)
        assert _log_odds(copy.rows) == pytest.approx(_log_odds(complete), abs=0.25)
    assert not np.array_equal(copies[0].rows.columns[2], copies[1].rows.columns[2])
    again = model.imputed_datasets(gaps, 3, seed=1)
    assert all(np.array_equal(a.rows.columns[3], b.rows.columns[3]) for a, b in zip(copies, again, strict=True))
    guesses = model.impute_dataset(gaps)
    assert guesses.rows.columns[2].std() < copies[0].rows.columns[2].std()
    assert guesses.rows.counted == frozenset("d")
    frames = model.impute_draws(gaps, 2, seed=1, frame="pyarrow")
    assert [frame.num_rows for frame in frames] == [6000, 6000]
    with pytest.raises(InputError, match="n_copies must be"):
        model.impute_draws(gaps, 0)
    with pytest.raises(InputError, match=r"n_copies must be at most 1,000,000; got 9223372036854775808\. 5 are usual"):
        model.impute_draws(gaps, 2**63)
    with monkeypatch.context() as small:
        small.setattr("os.sysconf", lambda _: 1000)
        with pytest.raises(InputError, match=r"n_copies must leave room for 1,000 copies: .*5 are usual"):
            model.impute_draws(gaps, 1000)


@pytest.mark.parametrize("n_rows", [2**40, 2**63, 2**64])
def test_more_rows_than_fit_into_memory_are_refused(n_rows: int) -> None:
    model = mn.model.fit(
        Graph(2, [(0, 1)]), mn.read({"a": [0, 1, 0, 1, 1, 0] * 5, "x": [0.1, 1.0, 0.3, 0.8, 1.2, -0.5] * 5})
    )
    with pytest.raises(InputError, match=rf"n_rows must leave room for {n_rows:,} rows: .*Draw fewer rows"):
        model.sample(n_rows, seed=1)


def _log_odds(data: Any) -> float:
    """Log odds ratio of a = z against x, and c above its mean of 13.3."""
    high = data.columns[2].astype(float) > 13.3
    last, first = data.columns[0] == 2, data.columns[0] == 0
    return float(np.log((high & last).sum() * (~high & first).sum() / (high & first).sum() / (~high & last).sum()))


def test_gaps_in_the_fit_change_little_and_every_method_takes_them() -> None:
    complete = table(4000)
    whole, holes = fit(GRAPH, complete), fit(GRAPH, with_gaps(complete, 0.1))
    for one in whole.strengths():
        other = next(edge for edge in holes.strengths() if (edge.u, edge.v) == (one.u, one.v))
        assert other.strength == pytest.approx(one.strength, abs=0.08)
    nominal = complete.select(["a", "b"])._with(ordinal=frozenset[str]())
    gaps = with_gaps(nominal, 0.2)
    for method in ("pseudolikelihood", "canonical"):
        one, other = fit(path(2), nominal, method), fit(path(2), gaps, method)
        assert "rows in which it and its neighbours are observed" in other.report.notes[-1]
        expected = one.conditional("a", {"b": 5})
        assert other.conditional("a", {"b": 5}) == pytest.approx(expected, abs=0.06)
    seen = gaps._rows(np.flatnonzero(gaps.observed("a") & gaps.observed("b")), None)._with(gaps=frozenset[str]())
    seen = seen._with(columns=tuple(column.astype(np.uint8) for column in seen.columns))
    one, other = fit(path(2), seen), fit(path(2), gaps)
    assert one.strengths() == other.strengths()


def test_numbers_with_gaps_are_fitted_by_em() -> None:
    complete = table(3000).select(["c", "e"])
    rng = np.random.default_rng(2)
    c, e = (column.astype(float) for column in complete.columns)
    e = np.where((c > 13) & (rng.random(3000) < 0.8), np.nan, e)  # missing at random: large c hides e
    gaps = Dataset(("c", "e"), (0, 0), (c, e), (None, None), gaps=frozenset("e"))
    model = fit(path(2), gaps)
    assert model.report.converged
    assert any("EM algorithm" in note for note in model.report.notes)
    assert abs(np.nanmean(e) - complete.columns[1].mean()) > 0.1
    mean, covariance = model.joint(["c", "e"])[1:]
    np.testing.assert_allclose(mean, [c.mean(), complete.columns[1].mean()], atol=0.05)
    # With e missing only, the likelihood factorises: moments of c, then the regression of e on c.
    kept = ~np.isnan(e)
    slope, level = np.polyfit(c[kept], e[kept], 1)
    left = np.var(e[kept] - slope * c[kept] - level)
    expected = [[c.var(), slope * c.var()], [slope * c.var(), left + slope**2 * c.var()]]
    np.testing.assert_allclose(covariance, expected, rtol=1e-4)
    assert mean[1] == pytest.approx(level + slope * c.mean(), abs=1e-5)
    drawn = model.imputed_datasets(gaps, 1, seed=1)[0].rows
    assert drawn.columns[1].mean() == pytest.approx(complete.columns[1].mean(), abs=0.06)
    assert drawn.columns[1].std() == pytest.approx(complete.columns[1].std(), abs=0.06)


def test_draws_of_a_discrete_model_have_its_conditional_probabilities() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=(400, 4))
    codes[:, 1], codes[:, 3] = codes[:, 0] ^ (rng.random(400) < 0.2), codes[:, 2] ^ (rng.random(400) < 0.3)
    model = fit(Graph(4, [(0, 1), (1, 2), (2, 3)]), Dataset.from_codes(codes, names=list("abcd")))
    rows: dict[str, list[Any]] = {"a": [0, 1] * 4000, "b": [None] * 8000, "c": [None] * 8000, "d": [1, 1] * 4000}
    drawn = model.imputed_datasets(rows, 1, seed=2)[0].rows
    for a in (0, 1):
        chances = model.joint(["b", "c"], {"a": a, "d": 1})
        kept = drawn.columns[0] == a
        for (b, c), chance in chances.items():
            share = ((drawn.columns[1] == b) & (drawn.columns[2] == c))[kept].mean()
            assert share == pytest.approx(chance, abs=0.03)


def test_a_precision_matrix_that_is_not_definite_is_shrunk_and_said_so() -> None:
    features = tuple(Features("continuous", np.empty((0, 0)), 0.0, 1.0) for _ in range(3))
    weights = {pair: np.array([[0.8]]) for pair in ((0, 1), (0, 2), (1, 2))}
    found = Interactions((np.empty(0),) * 3, np.zeros(3), np.ones(3), weights)
    with pytest.raises(InputError, match="positive definite"):
        MixedNetwork(Graph.complete(3), features, found)
    shrunk, factor = normalisable(features, found)
    assert factor == pytest.approx(0.999 / 1.6)
    network = MixedNetwork(Graph.complete(3), features, shrunk)
    assert np.linalg.eigvalsh(network.precision)[0] == pytest.approx(1e-3)
    assert normalisable(features, shrunk)[1] == pytest.approx(1.0)
    # Pseudo-likelihood of few rows on a cycle of copies is not definite by itself.
    rng = np.random.default_rng(3)
    z = rng.normal(size=40)
    columns = tuple(z + 1e-4 * rng.normal(size=40) for _ in range(4))
    data = Dataset(tuple("abcd"), (0,) * 4, columns, (None,) * 4)
    model = fit(Graph(4, [(0, 1), (1, 2), (2, 3), (0, 3)]), data, "mixed", ridge=1e-6)
    assert any("cannot be normalised" in note and "multiplied by" in note for note in model.report.notes)
    assert np.isfinite(model.log_likelihood(data))


def test_bad_tables_are_fitted_with_notes_or_refused() -> None:
    rng = np.random.default_rng(1)
    b = np.repeat([0, 1], 200).astype(np.uint8)
    separated = np.where(b == 1, 1.0, -1.0) * (1 + rng.random(400))
    names, constant = ("b", "z", "one", "alone"), np.full(400, 2.5)
    data = Dataset(names, (2, 0, 0, 0), (b, separated, constant, rng.normal(size=400)), (("n", "y"), None, None, None))
    model = fit(Graph(4, [(0, 1), (1, 2)]), data, ridge=0.001)
    notes = " ".join(model.report.notes)
    assert "'one' never changes: it is kept at 2.5" in notes
    assert "'b' and 'z' all but determine each other" in notes
    assert all(np.isfinite(edge.strength) for edge in model.strengths())
    assert model.conditional("one") == (2.5, 0.0)
    assert model.predict({"z": [1.0]}, "one").tolist() == [2.5]
    assert model.predict({"z": [1.0, 2.0]}, "alone").tolist() == pytest.approx([data.columns[3].mean()] * 2)
    assert model.sample_dataset(5, seed=1).columns[2].tolist() == [2.5] * 5
    assert np.isneginf(model.log_likelihood({"b": ["n"], "z": [1.0], "one": [2.0], "alone": [0.0]}))
    rows = with_gaps(data.select(["b", "z"]), 1.0)
    with pytest.raises(DataError, match="a variable and its neighbours are observed; 'b' has none"):
        fit(path(2), rows)
    with pytest.raises(InputError, match="ridge must be a number above 0"):
        fit(path(2), data.select([0, 1]), ridge=0)
    with pytest.raises(InputError, match="max_iterations must be"):
        fit(path(2), data.select([0, 1]), max_iterations=0)
    unseen = Dataset(("a", "z"), (3, 0), (b, separated), (("n", "y", "never"), None))
    assert any("1 states that no row has" in note for note in fit(path(2), unseen).report.notes)


def test_the_model_comes_back_from_its_file(tmp_path: Path) -> None:
    saved = fit(GRAPH, with_gaps(table(300), 0.1))
    saved.save(tmp_path / "model")
    found = load_model(tmp_path / "model")
    assert isinstance(found, MixedModel)
    assert (found.names, found.levels, found.kinds, found.graph) == (
        saved.names,
        saved.levels,
        saved.kinds,
        saved.graph,
    )
    assert (found.report, found.strengths()) == (saved.report, saved.strengths())
    rows = saved.sample_dataset(20, seed=1)
    assert found.log_likelihood(rows) == saved.log_likelihood(rows)
    assert mn.load_model(tmp_path / "model").conditional("c", {"a": "x"}) == saved.conditional("c", {"a": "x"})


CHANGES: list[Any] = [
    lambda d: d.update(kinds=["nominal"] * 5),
    lambda d: d.update(kinds=["strange", *d["kinds"][1:]]),
    lambda d: d.update(features=[2, 1, 1, 1]),
    lambda d: d.update(features=[2, 1, 1, 1, 10**9]),
    lambda d: d.update(features=[-1, 1, 1, 1, 1]),
    lambda d: d.update(levels=[["x", "x", "z"], *d["levels"][1:]]),
    lambda d: d.update(levels=[None, *d["levels"][1:]]),
    lambda d: d.update(levels=d["levels"][:-1]),
    lambda d: d.update(edges=[*d["edges"], [0, 4]]),
    lambda d: d.update(edges=[[0, 9]]),
    lambda d: d.update(edges=d["edges"][:-1]),
    lambda d: d.update(names=["a"] * 5),
    lambda d: d.pop("cuts"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_unsound_description_is_refused(change: Any, tmp_path: Path) -> None:
    from mnlearn.model import files

    fit(GRAPH, table(60)).save(tmp_path)
    document = json.loads((tmp_path / "model.json").read_text())
    document.pop("sha256")
    change(document)
    document["sha256"] = files._digest(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(FileError):
        load_model(tmp_path)


def test_parameters_that_make_no_density_are_refused(tmp_path: Path) -> None:
    import hashlib
    import io

    from mnlearn.model import files

    rng = np.random.default_rng(1)
    for seed in range(20):
        fit(GRAPH, table(60)).save(tmp_path)
        document = json.loads((tmp_path / "model.json").read_text())
        array = tmp_path / document["parameters"]["file"]
        numbers = np.load(array)
        numbers[rng.integers(len(numbers))] = rng.choice([np.nan, np.inf, -np.inf]) if seed % 2 else np.nan
        buffer = io.BytesIO()
        np.save(buffer, numbers)
        array.write_bytes(buffer.getvalue())
        document["parameters"]["sha256"] = hashlib.sha256(buffer.getvalue()).hexdigest()
        document.pop("sha256")
        document["sha256"] = files._digest(document)
        (tmp_path / "model.json").write_text(json.dumps(document))
        with pytest.raises(FileError):
            load_model(tmp_path)


def test_fit_parameters_takes_raw_columns_and_cuts() -> None:
    rng = np.random.default_rng(1)
    smoker = rng.integers(2, size=300)
    raw = {
        "smoker": np.where(smoker, "yes", "no").tolist(),
        "pulse": (70 + 10 * smoker + 8 * rng.normal(size=300)).tolist(),
    }
    model = mn.fit_parameters(path(2), raw)
    assert isinstance(model, mn.MixedModel)
    assert model.labels("smoker") == ("no", "yes")
    assert model.predict({"pulse": [60.0, 90.0]}, "smoker").tolist() == ["no", "yes"]
    assert model.blanket("pulse") == ("smoker",)
    with pytest.raises(UnsuitableError, match="has numbers and no labels"):
        model.labels("pulse")
    document = model.to_dict()
    assert (document["kind"], document["method"], document["sign"]) == ("mixed", "mixed", [1])
    with pytest.raises(UnsuitableError, match="discrete models; got a mixed one"):
        model.to_pyagrum()
