"""Learning from data with gaps: the methods that can, those that are refused by name, and what results say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.algorithms import PC, GSMNStar
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.data import Dataset
from mnlearn.errors import DataError, UnsuitableError
from mnlearn.independence import BayesianTest, ChiSquare, GTest, PartialCorrelation
from mnlearn.learning.registry import METHODS, SCORES
from mnlearn.regression.weights import edge_weights
from mnlearn.scores import MPL, PIC, Entropy, ExtendedBIC, L1Logistic
from mnlearn.scores.gaussian_evidence import GaussianEvidence
from mnlearn.statistics import Counts, Moments, Shard, ShardedCounts, kernels
from mnlearn.statistics import shards as workers
from mnlearn.statistics.moments import TestwiseMoments

from references.gaps import TwinTest, complete_rows, with_gaps

BEAR = ["gsmn", "gsmn*", "gsimn", "gsimn-fch", "hhc-mn", "pc", "ib", "bjp", "aracne"]


def categorical(n: int = 8, n_rows: int = 400, share: float = 0.15, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, n_rows)]
    for k in range(1, n):
        columns.append(np.where(rng.random(n_rows) < 0.5, columns[rng.integers(0, k)], rng.integers(0, 3, n_rows)))
    data = Dataset.from_codes(columns, cards=[3] * n)
    return with_gaps(data, share, seed, only=range(1, n)) if share else data


def continuous(n: int = 8, n_rows: int = 300, share: float = 0.15, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, n_rows))
    for k in range(1, n):
        columns[k] += 0.6 * columns[rng.integers(0, k)]
    names = tuple(f"x{k}" for k in range(n))
    data = Dataset(names, (0,) * n, tuple(columns), (None,) * n)
    return with_gaps(data, share, seed, only=range(1, n)) if share else data


@pytest.mark.parametrize("learner", [PC(), GSMNStar()], ids=["pc", "gsmn*"])
@pytest.mark.parametrize("test", [ChiSquare, GTest, BayesianTest])
def test_learners_find_what_the_slow_test_leads_to(learner: Any, test: Callable[[Any], Any]) -> None:
    data = categorical()
    found = learner.learn(test(Counts(data)))
    slow = learner.learn(TwinTest(data, lambda rows: test(Counts(rows, n_jobs=1))))
    assert found.graph == slow.graph
    assert found.cost["asked"] == slow.cost["asked"]


@pytest.mark.parametrize("learner", [PC(), GSMNStar()], ids=["pc", "gsmn*"])
def test_learners_by_correlations_find_what_the_slow_test_leads_to(learner: Any) -> None:
    data = continuous()
    found = learner.learn(PartialCorrelation(TestwiseMoments(data)))
    assert found.graph == learner.learn(TwinTest(data, lambda rows: PartialCorrelation(Moments(rows)))).graph


@pytest.mark.parametrize("method", BEAR)
@pytest.mark.parametrize("make", [categorical, continuous])
def test_methods_that_bear_gaps(method: str, make: Callable[..., Dataset]) -> None:
    n = 6 if method == "gsimn-fch" else 8
    found = mn.learn(make(n, share=0.1), method)
    assert found.graph.n_edges
    assert found.graph == mn.learn(make(n, share=0.1), method, n_jobs=3).graph
    reliable = mn.learn(make(n, share=0.0), method).graph
    assert len(set(found.graph.edges) ^ set(reliable.edges)) <= 4


def test_the_registry_says_which_methods_bear_gaps() -> None:
    assert [name for name, entry in METHODS.items() if entry.bears_gaps() and name != "sep"] == [
        *BEAR,
        "hillclimb",
        "exhaustive",
    ]
    for name in ("hillclimb", "exhaustive", "mbs"):
        assert METHODS[name].bears_gaps("ib")
        assert not METHODS[name].bears_gaps("pic")


CONTINUOUS_ONLY = {"lasso", "l1mb", "glasso"}


@pytest.mark.parametrize("method", ["mpl", "pic", "mbs", "l1lr", "lasso", "l1mb", "glasso"])
def test_methods_that_compare_different_rows_are_refused_by_name(method: str) -> None:
    data = continuous() if method in CONTINUOUS_ONLY else categorical()
    with pytest.raises(UnsuitableError, match=rf"^{method} needs complete data; 'x1' .*missing='drop_rows', or .*pc"):
        mn.learn(data, method)


@pytest.mark.parametrize("method", ["hillclimb", "exhaustive", "mbs"])
@pytest.mark.parametrize("score", ["mpl", "pic", "entropy", "ebic"])
def test_scores_that_compare_different_rows_are_refused_by_name(method: str, score: str) -> None:
    with pytest.raises(UnsuitableError, match=f"{method} with the score {score} needs complete data"):
        mn.learn(categorical(5), method, score=score)
    with pytest.raises(UnsuitableError, match=f"the score {score} needs complete data.*ib, bjp"):
        mn.score(categorical(5), [], score)


@pytest.mark.parametrize("information", ["rank", "kernel"])
def test_aracne_by_rows_is_refused(information: str) -> None:
    with pytest.raises(UnsuitableError, match="needs complete data"):
        mn.learn(continuous(), "aracne", information=information)


def test_your_own_test_must_say_that_it_bears_gaps() -> None:
    class Own(mn.CustomTest):
        def __call__(self, x: int, y: int, z: frozenset[int]) -> Any:
            return self.table(x, y, z).sum() > 0

    with pytest.raises(UnsuitableError, match=r"the test Own needs complete data.*bears_gaps"):
        mn.learn(categorical(), "pc", test=Own)


def test_a_test_says_how_many_rows_it_used() -> None:
    data = categorical()
    found = mn.independence_test(data, "x1", "x2", ["x3"])
    complete = complete_rows(data, [1, 2, 3])
    assert complete is not None
    rows = complete.n_rows
    assert (found.n_rows, found.n_incomplete) == (rows, 400 - rows)
    assert f"{rows} rows are complete, {400 - rows} lack a value" in str(found)
    assert mn.independence_test(categorical(share=0), "x1", "x2").n_incomplete == 0


@pytest.mark.parametrize("method", ["pc", "gsimn", "ib"])
def test_why_says_how_many_rows_were_complete(method: str) -> None:
    learned = mn.learn(categorical(), method)
    (u, v), *_ = learned.graph.edges
    said = learned.why(learned.names[u], learned.names[v])
    assert "complete rows" in str(said)
    assert all(test.n_rows for test in said.tests)


@pytest.mark.parametrize("name", ["ib", "bjp"])
@pytest.mark.parametrize("make", [categorical, continuous])
def test_scores_of_graphs_add_up_posteriors_of_their_own_rows(name: str, make: Callable[..., Dataset]) -> None:
    found = mn.score(make(5), [("x0", "x1")], name)
    assert np.isfinite(found.value)
    assert all(np.isfinite(term.value) for term in found.terms)


def test_pairs_without_common_rows_are_counted_and_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    columns = (
        np.array([0, 1, 2, 2] * 9, np.uint8),
        np.array([2, 2, 0, 1] * 9, np.uint8),
        np.array([0, 1] * 18, np.uint8),
    )
    data = Dataset(("a", "b", "c"), (2, 2, 2), columns, ((0, 1),) * 3, gaps=frozenset("ab"))
    for method in ("pc", "gsmn*", "ib"):
        learned = mn.learn(data, method)
        assert not learned.graph.has_edge(0, 1)
        assert learned.cost["without_rows"] >= 1
        assert "no row in which all of their variables are observed" in caplog.text
    assert "without a complete row" in mn.learn(data, "pc").cost_in_words


def test_row_shards_have_the_bits_of_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    data = categorical(n_rows=1000, seed=3)
    packed = SimpleNamespace(fingerprint="f")
    monkeypatch.setattr(workers, "read", lambda _: data.trusted(**{**data.__dict__, "pack": packed}))
    monkeypatch.setattr("mnlearn.data.dataset.Dataset.verify", lambda _: None)
    workers._opened.cache_clear()
    shards = ShardedCounts(None, [Shard("a", 0, 64), Shard("a", 64, 640), Shard("a", 640, 1000)], n_jobs=1)
    counts = Counts(data)
    for kernel in (kernels.chi2(), kernels.mi(), kernels.bayes(), kernels.dirichlet(), kernels.entropy()):
        assert shards.reduce_all(kernel).tobytes() == counts.reduce_all(kernel).tobytes()
        for z in (frozenset[int](), frozenset({2}), frozenset({2, 3, 4})):
            ys = [y for y in (0, 5, 6, 7) if y not in z]
            assert shards.reduce(kernel, 1, ys, z).tobytes() == counts.reduce(kernel, 1, ys, z).tobytes()
            assert shards.local(kernel, 1, z).tobytes() == counts.local(kernel, 1, z).tobytes()
        for form in ("members", "without"):
            one, other = (getattr(who, form)(kernel, [1], [frozenset({2, 3})])[0] for who in (shards, counts))
            assert one.tobytes() == other.tobytes()
    assert shards.question_rows(1, [2], frozenset({3})) == counts.question_rows(1, [2], frozenset({3}))
    for ours, theirs in zip(
        shards.tables(1, [2, 5], frozenset({3})).counts, counts.tables(1, [2, 5], frozenset({3})).counts, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(UnsuitableError, match="needs complete data"):
        shards.evidence()
    workers._opened.cache_clear()


def test_shards_must_have_gaps_in_the_same_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"a": categorical(), "b": categorical(share=0)}
    packed = SimpleNamespace(fingerprint="f")
    monkeypatch.setattr(workers, "read", lambda path: data[Path(path).name]._with(pack=packed))
    with pytest.raises(DataError, match=r"shards must have gaps in the same variables; .* in 'x1'"):
        ShardedCounts(None, [Shard("a"), Shard("b")], n_jobs=1)


def test_normal_scores_leave_gaps() -> None:
    data = continuous()
    cubed = data._with(columns=tuple(column**3 for column in data.columns))
    found = mn.learn(cubed, "pc")
    assert found.settings["transform"] == "normal_scores"
    assert found.graph == mn.learn(data, "pc", transform="normal_scores").graph


def test_scores_that_bear_gaps_are_sums_of_posteriors() -> None:
    assert [name for name, entry in SCORES.items() if entry.gaps and not name.startswith("evidence")] == ["ib", "bjp"]


@pytest.mark.parametrize("make", [categorical, continuous])
def test_weights_are_from_the_complete_rows_around_each_edge(make: Callable[..., Dataset]) -> None:
    learned = mn.learn(make(), "pc")
    assert learned.weights is not None
    for u, v in learned.graph.edges:
        around = sorted({u, v, *learned.graph.neighbors(u), *learned.graph.neighbors(v)})
        rows = complete_rows(make(), around)
        assert rows is not None
        pairs = [(around.index(a), around.index(b)) for a, b in learned.graph.edges if {a, b} <= set(around)]
        beside = [{b for pair in pairs for b in pair if k in pair and b != k} for k in range(len(around))]
        want = edge_weights(rows, beside)
        assert want.measure == learned.weights.measure
        found = learned.weights.values[u, v]
        assert found == pytest.approx(want.values[around.index(u), around.index(v)], rel=1e-9)


@pytest.mark.parametrize("make", [categorical, continuous])
def test_predictability_is_from_the_complete_rows_around_each_variable(make: Callable[..., Dataset]) -> None:
    learned = mn.learn(make(), "pc")
    for x, found in enumerate(learned.predictability_list(5)):
        around = sorted({x, *learned.graph.neighbors(x)})
        rows = complete_rows(make(), around)
        assert rows is not None
        k = around.index(x)
        star = [(rows.names[k], rows.names[j]) for j in range(len(around)) if j != k]
        want = _network(rows, star).predictability_list(5)[k]
        assert found == want
    assert all(found.r2 is None for found in learned.predictability_list(401))


def _network(data: Dataset, edges: list[tuple[str, str]]) -> Any:
    """Return a network with these edges, whatever the data say."""
    learned = mn.learn(data, "pc")
    indices = [(data.index(u), data.index(v)) for u, v in edges]
    result = replace(learned.result, graph=mn.Graph(data.n_variables, indices))
    return replace(learned, result=result)


@pytest.mark.parametrize("score", [MPL, PIC, Entropy, ExtendedBIC])
def test_scores_made_by_hand_refuse_gaps(score: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsuitableError, match=r"needs complete data; 'x1' .* cannot be compared.*ib or bjp"):
        score(Counts(categorical()))


def test_other_judges_made_by_hand_refuse_gaps() -> None:
    with pytest.raises(UnsuitableError, match="cannot judge by a TestwiseMoments"):
        GaussianEvidence(TestwiseMoments(continuous()))  # type: ignore[arg-type]
    with pytest.raises(UnsuitableError, match="l1lr needs complete data"):
        L1Logistic(categorical())


@pytest.mark.parametrize("method", ["gsmn", "gsmn*", "hhc-mn"])
@pytest.mark.parametrize("make", [categorical, continuous])
def test_the_blanket_of_one_variable(method: str, make: Callable[..., Dataset]) -> None:
    found = mn.blanket(make(), "x3", method=method)
    assert {member.name for member in found.members} <= set(make().names)
    assert found.members


@pytest.mark.parametrize("states", [False, True])
def test_sep_screens_many_variables_with_gaps(states: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(14, 200))
    values[1::2] += values[::2]
    values[rng.random(values.shape) < 0.03] = np.nan
    data: dict[str, Any] = {f"v{k}": column for k, column in enumerate(values)}
    if states:
        data = {name: [None if np.isnan(v) else str(v > 0) for v in column] for name, column in data.items()}
    want = mn.learn(data, "sep", missing="testwise").graph
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_EVIDENCE", 10)
    assert mn.learn(data, "sep", missing="testwise").graph == want
