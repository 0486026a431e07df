"""Signed weights of edges, beside slow twins: the inverse of a covariance, and a regression by a general optimiser."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import mnlearn as mn
from mnlearn.data import Dataset, read
from mnlearn.data.rows import take
from mnlearn.data.transforms import discretize
from mnlearn.graphs.graph import Graph
from mnlearn.regression import weights as module
from mnlearn.regression.joint import edge_value, fit_interactions
from mnlearn.regression.weights import EdgeWeights, edge_weights, ordered_variables, sampled_edge_weights

Edges = Collection[tuple[int, int]]


def weights(data: Dataset, edges: Edges) -> EdgeWeights:
    graph = Graph(data.n_variables, edges)
    return edge_weights(data, [graph.neighbors(x) for x in range(data.n_variables)])


def values(data: Dataset, edges: Edges) -> Mapping[tuple[int, int], float]:
    return weights(data, edges).values


def slow_partial(columns: np.ndarray[Any, Any], u: int, v: int, given: list[int]) -> float:
    """From the inverse of the covariance of u, v and the given, written out."""
    chosen = [u, v, *given]
    precision = np.linalg.inv(np.cov(columns[:, chosen].T))
    return float(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))


def mixed(seed: int, rows: int = 60) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(rows, 5)) + rng.normal(size=(rows, 1))
    latent[:, 1] = latent[:, 1] > 0
    latent[:, 2] = np.clip(latent[:, 2].round(), -1, 2)
    return latent


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, unique=True)


@pytest.mark.parametrize("whole", [2000, 0], ids=["from correlations", "from rows"])
@settings(max_examples=25)
@given(seed=st.integers(0, 200), pairs=PAIRS)
def test_a_partial_correlation_is_what_the_inverse_covariance_says(
    whole: int, seed: int, pairs: list[tuple[int, int]]
) -> None:
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1]}
    graph, table = Graph(5, edges), mixed(seed)
    data = read({f"v{k}": table[:, k].tolist() for k in range(5)}, types={f"v{k}": "continuous" for k in range(5)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WHOLE_UP_TO", whole)
        found = weights(data, edges)
    assert found.measure == "partial correlation"
    assert set(found.values) == edges
    for u, v in edges:
        given_ = sorted((graph.neighbors(u) | graph.neighbors(v)) - {u, v})
        assert found.values[u, v] == pytest.approx(slow_partial(table, u, v, given_), abs=1e-9)


def slow_coefficients(target: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Maximise the likelihood of a logistic regression with a log-F(1, 1) prior on all coefficients but the first."""

    def minus_log_posterior(beta: np.ndarray[Any, Any]) -> float:
        linear = beta[0] + others @ beta[1:]
        likelihood = (target * linear - np.logaddexp(0.0, linear)).sum()
        return float(-likelihood - (beta[1:] / 2 - np.logaddexp(0.0, beta[1:])).sum())

    return np.asarray(minimize(minus_log_posterior, np.zeros(others.shape[1] + 1), tol=1e-9).x[1:])


@settings(max_examples=25)
@given(seed=st.integers(0, 200), pairs=PAIRS)
def test_a_log_odds_ratio_is_the_mean_of_two_regressions(seed: int, pairs: list[tuple[int, int]]) -> None:
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1]}
    table = (mixed(seed, 80) > 0.5).astype(int)
    table[:2] = [[0] * 5, [1] * 5]
    graph = Graph(5, edges)
    found = weights(Dataset.from_codes(table), edges)
    assert found.measure == "log odds ratio"
    coefficients = {}
    for x in range(5):
        around = sorted(graph.neighbors(x))
        if around:
            fitted = slow_coefficients(table[:, x], table[:, around])
            coefficients.update({(x, y): value for y, value in zip(around, fitted, strict=True)})
    for u, v in edges:
        assert found.values[u, v] == pytest.approx((coefficients[u, v] + coefficients[v, u]) / 2, abs=1e-3)


def test_many_neighbours_give_the_same_as_a_table_of_all_configurations() -> None:
    """Whether the configurations are numbered or sorted, they are the same; here 5 of at most 32, and 12 of 4,096."""
    rng = np.random.default_rng(4)
    table = (rng.random((40, 13)) < 0.4).astype(int)
    star = [(0, y) for y in range(1, 13)]
    found = values(Dataset.from_codes(table, cards=[2] * 13), star)
    center = slow_coefficients(table[:, 0], table[:, 1:])
    rays = [slow_coefficients(table[:, y], table[:, :1])[0] for y in range(1, 13)]
    assert [found[edge] for edge in star] == pytest.approx((center + rays) / 2, abs=1e-3)


@pytest.mark.parametrize("cards", [2, 3], ids=["log odds ratio", "partial correlation"])
def test_repeats_count_as_rows_and_the_order_of_rows_does_not(cards: int) -> None:
    codes = np.random.default_rng(2).integers(0, cards, size=(40, 3))
    repeats = np.random.default_rng(3).integers(1, 5, size=40)
    edges = [(0, 1), (1, 2)]
    weighted = values(Dataset.from_codes(codes, repeats=repeats), edges)
    spelled = np.repeat(codes, repeats, axis=0)
    assert weighted == pytest.approx(values(Dataset.from_codes(spelled), edges))
    assert weighted == pytest.approx(values(Dataset.from_codes(spelled[::-1]), edges))


@pytest.mark.parametrize("cards", [2, 3])
def test_the_other_order_of_the_states_changes_the_sign_alone(cards: int) -> None:
    codes = np.random.default_rng(5).integers(0, cards, size=(60, 3))
    codes[:, 1] = np.where(np.arange(60) % 3 == 0, codes[:, 1], codes[:, 0])
    turned = codes.copy()
    turned[:, 0] = cards - 1 - turned[:, 0]
    edges = [(0, 1), (0, 2), (1, 2)]
    before, after = (values(Dataset.from_codes(table, cards=[cards] * 3), edges) for table in (codes, turned))
    assert after == pytest.approx({(0, 1): -before[0, 1], (0, 2): -before[0, 2], (1, 2): before[1, 2]})


def test_separated_cells_have_finite_odds() -> None:
    found = values(Dataset.from_codes(np.array([[0, 0], [1, 1]] * 20)), [(0, 1)])
    assert 3 < found[0, 1] < 12


def test_a_neighbour_without_order_is_held_fixed_too() -> None:
    """Region makes a and b rise together; within a region they go against each other."""
    rng = np.random.default_rng(0)
    region = rng.integers(0, 3, size=900)
    a = 5.0 * region + rng.normal(size=900)
    b = 10.0 * region - a + rng.normal(size=900)
    data = read({"a": a, "b": b, "region": [("north", "south", "west")[r] for r in region]})
    alone, fixed = values(data, [(0, 1)]), weights(data, [(0, 1), (0, 2), (1, 2)])
    assert alone[0, 1] > 0.5
    assert fixed.values[0, 1] < -0.5
    assert (fixed.sign((0, 1)), fixed.sign((0, 2))) == (-1, 0)
    assert fixed.measure == "standardised interaction"
    assert fixed.values[0, 2] > 0


def test_without_an_order_the_weight_is_information_in_nats() -> None:
    """Region determines which of three shops; a number that falls with another has a sign, a region has none."""
    rng = np.random.default_rng(1)
    region, number = rng.integers(0, 3, size=600), rng.integers(1, 4, size=600)
    columns = {"region": [("n", "s", "w")[r] for r in region], "shop": [("x", "y", "z")[r] for r in region]}
    falling = np.where(rng.random(600) < 0.8, 4 - number, number)
    found = weights(read({**columns, "number": number, "falling": falling}), [(0, 1), (2, 3)])
    assert found.measure == "mutual information"
    assert found.values[0, 1] == pytest.approx(np.log(3), abs=0.01)
    assert -np.log(3) < found.values[2, 3] < -0.2
    assert (found.sign((0, 1)), found.sign((2, 3))) == (0, -1)


def test_what_has_no_order_or_never_changes_has_no_sign() -> None:
    data = read({"yes": ["no", "yes"] * 6, "word": ["a", "b", "c", "c"] * 3, "same": [1.5] * 12, "n": [1, 2, 4] * 4})
    assert ordered_variables(data) == (True, False, True, True)
    assert set(values(data, [(0, 1), (0, 2), (0, 3), (2, 3)])) == {(0, 1), (0, 3)}


def test_intervals_are_ordered() -> None:
    x = np.random.default_rng(3).normal(size=90)
    data = discretize(read({"x": x, "y": -x}), method="frequency", bins=3)
    assert values(data, [(0, 1)])[0, 1] == pytest.approx(-1.0)


def test_copies_and_more_neighbours_than_rows_do_no_harm() -> None:
    codes = np.random.default_rng(1).integers(0, 3, size=(4, 8))
    full = [(u, v) for v in range(8) for u in range(v)]
    for cards, few in ((3, codes), (2, codes % 2)):
        assert all(np.isfinite(list(values(Dataset.from_codes(few, cards=[cards] * 8), full).values())))
    twice = Dataset.from_codes(np.array([[0, 0, 0], [1, 1, 1], [2, 2, 1], [0, 0, 1], [1, 1, 0]] * 5))
    found = values(twice, [(0, 1), (1, 2), (0, 2)])
    assert (0, 2) not in found  # nothing is left of 0 once its copy 1 is known


def test_a_learned_network_has_weights_in_every_table(tmp_path: Any) -> None:
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2, size=400)
    b, c = (np.where(rng.random(400) < 0.8, keep, 1 - keep) for keep in (a, 1 - a))
    learned = mn.learn({"a": a, "b": b, "c": c})
    by_name = {(edge.u, edge.v): edge.weight for edge in learned.edge_list()}
    assert by_name["a", "b"] == pytest.approx(2 * np.log(4), abs=0.7)
    assert by_name["a", "c"] == pytest.approx(-2 * np.log(4), abs=0.7)
    assert learned.edges("pandas").columns.tolist()[:4] == ["u", "v", "weight", "support"]
    dense = learned.adjacency(weighted=True).toarray()
    assert dense[0, 1] == dense[1, 0] == by_name["a", "b"]
    assert learned.to_networkx().edges["a", "c"]["weight"] == by_name["a", "c"]
    document = learned.to_dict()
    assert document["weight"] == [edge.weight for edge in learned.edge_list()]
    assert document["weight_measure"] == "log odds ratio"
    for name in ("n.csv", "n.edges.csv", "n.graphml", "n.json"):
        learned.save(tmp_path / name)
        numbers = mn.read_graph(tmp_path / name).attributes
        assert numbers[0, 1]["weight"] == pytest.approx(by_name["a", "b"])
    loaded = mn.load(tmp_path / "n.json")
    assert loaded.weights == learned.weights
    assert loaded.edge_list() == learned.edge_list()


def test_weights_need_data_or_a_file_that_holds_them() -> None:
    from mnlearn.protocols import Result
    from mnlearn.results import Learned

    bare = Learned("gsmn", ("a", "b"), Result(Graph(2, [(0, 1)]), None, {}, True, {}))
    assert bare.weights is None
    with pytest.raises(mn.MnlearnError, match="weighted needs the data of the network"):
        bare.adjacency(weighted=True)


def test_the_graphical_lasso_has_weights_of_its_own() -> None:
    """They are the partial correlations of its precision matrix, smaller than those without a penalty."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 4))
    x[:, 1] += 0.8 * x[:, 0]
    x[:, 2] -= 0.8 * x[:, 1]
    learned = mn.learn({f"x{k}": x[:, k] for k in range(4)}, "glasso", transform=None)
    assert learned.weights is not None
    free = values(read({f"x{k}": x[:, k] for k in range(4)}), learned.graph.edges)
    for edge in ((0, 1), (1, 2)):
        assert 0.5 < learned.weights.values[edge] / free[edge] < 1


def test_several_samples_at_once_are_the_samples_one_by_one() -> None:
    rng = np.random.default_rng(5)
    codes = (rng.random((6, 120)) < 0.4).astype(int)
    whole = Dataset.from_codes(list(codes))
    around = [{1, 2, 3}, {0, 2}, {0, 1}, {0}, set(), set()]
    samples = [whole, whole.sample(60, 1), whole.sample(30, 2)]
    for sample, found in zip(samples, sampled_edge_weights(samples, around), strict=True):
        assert found.values == pytest.approx(edge_weights(sample, around).values, abs=1e-9)


@pytest.mark.parametrize("whole", [2000, 0], ids=["from correlations", "from rows"])
def test_an_edge_of_a_constant_has_no_weight_and_holds_nothing_fixed(
    whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WHOLE_UP_TO", whole)
    table = mixed(3)
    data = read({"a": table[:, 0], "b": table[:, 3], "k": np.full(60, 2.5)}, types={"k": "continuous"})
    found = values(data, [(0, 1), (0, 2)])
    assert list(found) == [(0, 1)]
    assert found[0, 1] == pytest.approx(np.corrcoef(table[:, 0], table[:, 3])[0, 1])


# Tables of several kinds, and gaps.


def several_kinds(n_rows: int = 600, missing: float = 0.0) -> Any:
    """A nominal, a binary, an ordinal, a continuous column, and a count."""
    rng = np.random.default_rng(8)
    a, o = rng.integers(3, size=n_rows), rng.integers(5, size=n_rows)
    b = (rng.random(n_rows) < 0.2 + 0.15 * o).astype(int)
    c = 0.8 * a - 0.7 * b + rng.normal(size=n_rows)
    d = rng.poisson(np.exp(0.4 * c)).astype(float)
    columns: list[Any] = [a.astype(np.uint8), b.astype(np.uint8), o.astype(np.uint8), c, d]
    cards = (3, 2, 5, 0, 0)
    for column, card in zip(columns, cards, strict=True):
        column[rng.random(n_rows) < missing] = card or np.nan
    levels = (("x", "y", "z"), ("no", "yes"), ("lo", "lower", "mid", "high", "top"), None, None)
    kinds: Any = {"ordinal": frozenset("o"), "counted": frozenset("d"), "gaps": frozenset[str]()}
    if missing:
        kinds["gaps"] = frozenset("abocd")
    return Dataset(("a", "b", "o", "c", "d"), cards, tuple(columns), levels, **kinds)


MIXED_EDGES = [(0, 3), (1, 2), (1, 3), (3, 4), (0, 2)]


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_tables_of_several_kinds_have_standardised_interactions(missing: float) -> None:
    data = several_kinds(missing=missing)
    found = weights(data, MIXED_EDGES)
    assert found.measure == "standardised interaction"
    assert "partial correlations between numbers" in found.words
    assert found.ordered == (False, True, True, True, True)
    assert [found.sign(edge) for edge in sorted(MIXED_EDGES)] == [0, 0, 1, -1, 1]
    assert found.values[0, 3] > 0.2
    fitted = fit_interactions(data, sorted(MIXED_EDGES))  # to its end; weights need fewer digits
    k = fitted.interactions.curvature
    for u, v in MIXED_EDGES[:3]:
        ends = (fitted.features[u], fitted.features[v])
        expected = edge_value(ends, fitted.interactions.weights[u, v], (float(k[u]), float(k[v])))
        assert found.values[u, v] == pytest.approx(expected, abs=2e-3)
    rows = (
        np.ones(data.n_records, dtype=bool)
        if not missing
        else np.logical_and.reduce([data.observed(x) for x in (0, 1, 3, 4)])
    )
    table = np.column_stack(
        [data.columns[3], np.log1p(data.columns[4]), data.columns[0] == 1, data.columns[0] == 2, data.columns[1]]
    )
    assert found.values[3, 4] == pytest.approx(slow_partial(table[rows].astype(float), 0, 1, [2, 3, 4]), abs=1e-9)


def test_interactions_of_binary_variables_and_of_a_number_are_on_one_scale() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(2, size=20_000)
    b = (rng.random(20_000) < np.where(a == 1, 0.7, 0.3)).astype(np.uint8)
    z = rng.normal(size=20_000)
    data = Dataset(("a", "b", "z"), (2, 2, 0), (a.astype(np.uint8), b, z), ((0, 1), (0, 1), None))
    assert values(data, [(0, 1)])[0, 1] == pytest.approx(np.log((0.7 / 0.3) ** 2) / 4, abs=0.02)
    x, y = rng.normal(size=(2, 20_000))
    y = 0.3 * x + np.sqrt(1 - 0.09) * y
    split = Dataset(("x", "y"), (2, 0), ((x > 0).astype(np.uint8), y), ((0, 1), None))
    # The correlation of y with the sign of x, for a correlation of 0.3 with x itself.
    assert values(split, [(0, 1)])[0, 1] == pytest.approx(0.3 * np.sqrt(2 / np.pi), abs=0.03)


def test_ordinal_tables_have_partial_correlations_of_their_scores() -> None:
    data = several_kinds().select(["b", "o"])
    found = weights(data, [(0, 1)])
    assert found.measure == "partial correlation"
    assert found.values[0, 1] == pytest.approx(np.corrcoef(data.columns[0], data.columns[1])[0, 1])


@pytest.mark.parametrize("cards", [(2, 2, 2, 2), (3, 3, 3, 3), (0, 0, 0, 0), "nominal"])
def test_gaps_leave_each_edge_the_rows_of_its_family(cards: Any) -> None:
    rng = np.random.default_rng(5)
    edges, neighbors = [(0, 1), (1, 2), (2, 3)], [{1}, {0, 2}, {1, 3}, {2}]
    labels = ("p", "q", "r") if cards == "nominal" else (0, 1, 2)
    sizes = (3, 3, 3, 3) if cards == "nominal" else cards
    z = rng.normal(size=(300, 4)).cumsum(axis=1)
    columns: list[Any] = []
    for k, card in enumerate(sizes):
        cut = np.quantile(z[:, k], np.arange(1, card) / card) if card else None
        column = z[:, k].copy() if cut is None else np.searchsorted(cut, z[:, k]).astype(np.uint8)
        column[rng.random(300) < 0.2] = card or np.nan
        columns.append(column)
    levels = tuple(labels[:card] if card else None for card in sizes)
    data = Dataset(tuple("abcd"), sizes, tuple(columns), levels, gaps=frozenset("abcd"))
    found = edge_weights(data, neighbors)
    complete = data._with(gaps=frozenset[str]())
    for u, v in edges:
        family = sorted({u, v} | neighbors[u] | neighbors[v])
        rows = np.flatnonzero(np.logical_and.reduce([mask for x in family if (mask := data.observed(x)) is not None]))
        part = Graph(4, [(x, y) for x, y in edges if u in (x, y) or v in (x, y)])
        kept = take(complete, rows).select(family)
        place = {x: k for k, x in enumerate(family)}
        around = [{place[y] for y in part.neighbors(x) if y in place} for x in family]
        expected = edge_weights(kept, around)
        assert expected.measure == found.measure
        assert found.values[u, v] == pytest.approx(expected.values[place[u], place[v]], abs=1e-12)


def test_pairs_without_common_rows_have_no_weight() -> None:
    a, b = np.array([0, 1, 2, 2] * 10, dtype=np.uint8), np.array([2, 2, 0, 1] * 10, dtype=np.uint8)
    data = Dataset(("a", "b"), (2, 2), (a, b), ((0, 1), (0, 1)), gaps=frozenset("ab"))
    assert edge_weights(data, [{1}, {0}]).values == {}
    assert [found.values for found in sampled_edge_weights([data, data], [{1}, {0}])] == [{}, {}]
