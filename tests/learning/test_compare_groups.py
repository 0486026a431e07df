"""Permutation test of the networks of two groups."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

import mnlearn as mn
from mnlearn.learning.groups import _corrected, strength
from mnlearn.statistics import Counts, kernels


def two_groups(n_rows: int = 300, *, seed: int = 1, differ: bool = True) -> dict[str, Any]:
    """a - b - c in both groups; c - d in the second only."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_rows)

    def follow(x: Any, share: float) -> Any:
        return np.where(rng.random(n_rows) < share, x, rng.integers(0, 2, n_rows))

    a = rng.integers(0, 2, n_rows)
    b = follow(a, 0.7)
    c = follow(b, 0.7)
    d = np.where((group == 1) & differ, follow(c, 0.7), rng.integers(0, 2, n_rows))
    return {"a": a, "b": b, "c": c, "d": d, "group": np.where(group == 1, "ill", "well")}


def test_a_real_difference_is_found_and_named() -> None:
    found = mn.compare_groups(two_groups(), "group", "mpl", groups=("well", "ill"), n_permutations=99, n_jobs=1)
    assert found.groups == ("well", "ill")
    assert found.difference.only_there == (("c", "d"),)
    assert found.networks[0].names == ("a", "b", "c", "d")
    p = {statistic.name: statistic.p for statistic in found.statistics}
    assert p["edges"] <= 0.1  # a whole number of edges, so a coarse statistic
    assert p["largest"] <= 0.02
    first = found.pairs[0]
    assert (first.u, first.v, first.edges) == ("c", "d", (False, True))
    assert (first.strengths[0], first.p) == (0.0, 0.01)
    assert first.p_corrected == pytest.approx(0.01 * len(found.pairs))
    frame = found.edges("pandas")
    assert list(frame["p"]) == sorted(frame["p"])
    assert frame["edge_2"].tolist()[0] is True
    assert "c - d: 0.0000 and" in str(found)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["permutations"] == {"asked": 99, "done": 99, "seed": 0}


def test_a_pack_is_compared_like_its_source(tmp_path: Path) -> None:
    packed = mn.pack(two_groups(), tmp_path / "t.mnpack")
    for columns in (None, ["a", "b", "c"]):
        options: dict[str, Any] = {"n_permutations": 3, "n_jobs": 1, "columns": columns}
        expected = mn.compare_groups(two_groups(), "group", "mpl", **options)
        for source in (packed, tmp_path / "t.mnpack"):
            found = mn.compare_groups(source, "group", "mpl", **options)
            assert (found.groups, found.pairs, found.statistics) == (
                expected.groups,
                expected.pairs,
                expected.statistics,
            )


def test_equal_groups_are_rejected_no_more_often_than_the_level() -> None:
    p = [
        statistic.p
        for seed in range(12)
        for statistic in mn.compare_groups(
            two_groups(200, seed=seed, differ=False), "group", "mpl", n_permutations=19, n_jobs=1
        ).statistics
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.2
    assert 0.3 < np.mean(p) < 0.9


def test_result_does_not_depend_on_jobs_or_order_of_groups() -> None:
    data = two_groups()
    one = mn.compare_groups(data, "group", "mpl", n_permutations=8, n_jobs=1)
    two = mn.compare_groups(data, "group", "mpl", n_permutations=8, n_jobs=2)
    assert (two.pairs, two.statistics) == (one.pairs, one.statistics)
    turned = mn.compare_groups(data, "group", "mpl", groups=one.groups[::-1], n_permutations=8, n_jobs=1)
    assert [s.value for s in turned.statistics] == [s.value for s in one.statistics]
    assert mn.compare_groups(data, "group", "mpl", n_permutations=8, n_jobs=1, seed=5).pairs != one.pairs


def test_repeated_rows_count_as_rows() -> None:
    data = two_groups(120)
    whole = mn.compare_groups(data, "group", "gsmn", n_permutations=5, n_jobs=1)
    compact = mn.read(data).compact()
    again = mn.compare_groups(compact, "group", "gsmn", n_permutations=5, n_jobs=1)
    assert [network.graph for network in again.networks] == [network.graph for network in whole.networks]
    assert [network.n_rows for network in again.networks] == [network.n_rows for network in whole.networks]
    assert [s.value for s in again.statistics] == pytest.approx([s.value for s in whole.statistics])


def test_strength_is_the_conditional_information_given_the_rest_of_the_blanket() -> None:
    """Reference: one table at a time."""
    learned = mn.learn({name: values for name, values in two_groups().items() if name != "group"}, "mpl")
    assert learned.data is not None
    counts, found = Counts(learned.data), strength(learned, learned.data)
    for u, v in combinations(range(4), 2):
        if not learned.graph.has_edge(u, v):
            assert found[u, v] == 0
            continue
        sides = []
        for x, y in ((u, v), (v, u)):
            information, dof = counts.reduce(kernels.mi(), x, [y], learned.graph.neighbors(x) - {y})[:, 0]
            sides.append(information - dof / (2 * learned.data.n_rows))
        assert found[u, v] == found[v, u] == pytest.approx(max(0.0, sum(sides) / 2))


def test_strength_of_continuous_variables_is_that_of_their_correlation() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    learned = mn.learn({"x": x, "y": x + rng.normal(size=500), "z": rng.normal(size=500)})
    assert learned.data is not None
    r = float(np.asarray(np.corrcoef(np.array(learned.data.columns[:2], dtype=np.float64)))[0, 1])
    assert strength(learned, learned.data)[0, 1] == pytest.approx(-0.5 * np.log(1 - r**2) - 0.001, abs=1e-9)
    group = np.repeat([1, 2], 250)
    found = mn.compare_groups({"x": x, "y": x + rng.normal(size=500), "g": group}, "g", n_permutations=9, n_jobs=1)
    assert (found.groups, found.networks[0].method) == (("1", "2"), learned.method)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=12))
def test_corrections_match_the_definitions(p: list[float]) -> None:
    values = np.array(p)
    assert _corrected(values, "fdr") == pytest.approx(false_discovery_control(values))
    holm = [max(min(1.0, sum(q >= r for q in p) * r) for r in p if r <= own) for own in p]
    if len(set(p)) == len(p):
        assert _corrected(values, "holm") == pytest.approx(holm)
    assert _corrected(values, "none").tolist() == p


class Impatient:
    """Monitor that cancels after the first permutation."""

    heard = 0

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.heard += 1

    def cancelled(self) -> bool:
        return self.heard > 0


def test_a_cancelled_test_has_the_permutations_so_far() -> None:
    found = mn.compare_groups(two_groups(), "group", "mpl", n_permutations=50, n_jobs=1, monitor=Impatient())
    assert (found.asked, found.done) == (50, 1)
    assert {statistic.p for statistic in found.statistics} <= {0.5, 1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "grup"}, r"by: column 'grup' does not exist\. Did you mean 'group'"),
        ({"groups": ("ill", "dead")}, "label of 'group' 'dead' does not exist"),
        ({"groups": ("ill",)}, "groups must be two different labels of 'group'; got 1: 'ill'"),
        ({"groups": ("ill", "ill")}, "groups must be two different labels"),
        ({"n_permutations": 0}, "n_permutations must be a whole number, at least 1"),
        ({"correction": "bonferoni"}, "correction 'bonferoni' does not exist"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"columns": ["a"]}, "at least 2 columns beside 'group'"),
        ({"method": "gsim"}, "Did you mean 'gsimn'"),
        ({"alpha": 7}, "alpha must be between 0 and 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    asked: dict[str, Any] = {"by": "group", "n_permutations": 3, "n_jobs": 1} | options
    with pytest.raises(mn.InputError, match=message):
        mn.compare_groups(two_groups(80), **asked)


def test_more_than_two_groups_must_be_chosen_from() -> None:
    data = two_groups(90) | {"group": ["x", "y", "z"] * 30}
    with pytest.raises(mn.InputError, match="got 3: 'x', 'y', 'z'"):
        mn.compare_groups(data, "group")
    found = mn.compare_groups(data, "group", "gsmn", groups=["x", "z"], columns=["a", "b"], n_permutations=2, n_jobs=1)
    assert [network.n_rows for network in found.networks] == [30, 30]
    assert found.networks[0].names == ("a", "b")
    numbers = mn.read({name: np.random.default_rng(1).normal(size=20) for name in "abc"})
    with pytest.raises(mn.DataError, match="by must name a categorical column; 'c' is continuous"):
        mn.compare_groups(numbers, "c")
