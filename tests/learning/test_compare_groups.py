"""Permutation tests of the networks of two or more groups."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn


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
    found = mn.compare_groups(two_groups(), "group", "mpl", groups=("well", "ill"), n_permutations=39, n_jobs=1)
    assert found.groups == ("well", "ill")
    assert found.difference.only_there == (("c", "d"),)
    assert found.networks[0].names == ("a", "b", "c", "d")
    p = {statistic.name: statistic.p for statistic in found.statistics}
    assert p["edges"] <= 0.1  # a whole number of edges, so a coarse statistic
    assert p["largest"] <= 0.025
    first = found.pairs[0]
    assert (first.u, first.v, first.edges) == ("c", "d", (False, True))
    assert (first.weights[0], first.p, first.p_corrected) == (0.0, 1 / 40, 1 / 40)
    assert first.weights[1] > 1
    frame = found.edges("pandas")
    assert list(frame["p"]) == sorted(frame["p"])
    assert frame["edge_2"].tolist()[0] is True
    assert frame["difference"].tolist()[0] == first.difference == -first.weights[1]
    assert "c - d: 0.000 and" in str(found)
    assert repr(found) == f"<GroupComparison {str(found).splitlines()[0]}>"
    document = json.loads(json.dumps(found.to_dict()))
    assert document["permutations"] == {"asked": 39, "done": 39, "seed": 0}
    assert document["weight_measure"] == "log odds ratio"


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


def reversed_edge(kind: str, n_rows: int = 300, *, seed: int = 1) -> dict[str, Any]:
    """a and b have a correlation of 0.45 in one group and of −0.45 in the other; c belongs to b."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 2
    a = rng.normal(size=n_rows)
    b = np.where(group, 0.45, -0.45) * a + np.sqrt(1 - 0.45**2) * rng.normal(size=n_rows)
    numbers = {"a": a, "b": b, "c": b + rng.normal(size=n_rows)}
    cuts = {"continuous": None, "Likert": [-1.2, -0.4, 0.4, 1.2], "binary": [0.0]}[kind]
    table: dict[str, Any] = numbers if cuts is None else {k: np.digitize(v, cuts) for k, v in numbers.items()}
    return {**table, "group": group}


@pytest.mark.parametrize("kind", ["continuous", "Likert", "binary"])
def test_a_reversed_edge_is_found(kind: str) -> None:
    found = mn.compare_groups(reversed_edge(kind), "group", "gsmn", n_permutations=39, n_jobs=1)
    p = {statistic.name: statistic.p for statistic in found.statistics}
    assert p["largest"] <= 0.05
    first = found.pairs[0]
    assert (first.u, first.v, first.edges) == ("a", "b", (True, True))
    assert first.p_corrected <= 0.05
    assert first.weights[0] < -0.15 < 0.15 < first.weights[1]
    influence = next(one for one in found.centralities if (one.variable, one.measure) == ("a", "expected_influence"))
    assert influence.p_corrected <= 0.05
    assert influence.values[0] < -0.15 < 0.15 < influence.values[1]
    weights = found.networks[0].weights
    assert weights is not None
    assert (weights.measure, weights.values[0, 1]) == (found.measure, first.weights[0])


def three_groups(n_rows: int = 360) -> dict[str, Any]:
    """a - b in all groups, reversed in the third."""
    table = reversed_edge("continuous", n_rows, seed=3)
    group = np.where(table["group"] == 1, np.where(np.arange(n_rows) % 4 < 2, "x", "y"), "z")
    return {**table, "group": group}


def test_three_groups_are_compared_together_and_two_by_two() -> None:
    found = mn.compare_groups(three_groups(), "group", "gsmn", n_permutations=79, n_jobs=1)
    assert (found.groups, [network.n_rows for network in found.networks]) == (("x", "y", "z"), [90, 90, 180])
    everyone, *twos = found.statistics[2::3]
    assert (everyone.groups, everyone.p, everyone.p_corrected) == (("x", "y", "z"), 1 / 80, 1 / 80)
    assert [one.groups for one in twos] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert twos[0].p > 0.05
    assert [one.p for one in twos[1:]] == [1 / 80, 1 / 80]
    assert [one.p_corrected for one in twos[1:]] == pytest.approx([3 / 80, 3 / 80])
    assert {pair.groups for pair in found.pairs[:2]} == {("x", "z"), ("y", "z")}
    assert len(found.tests("pandas")) == 12
    assert len(found.centrality("pandas")) == 3 * 2 * 3
    assert "x and z: a - b: " in str(found)
    assert json.loads(json.dumps(found.to_dict()))["statistics"][2]["groups"] == ["x", "y", "z"]
    with pytest.raises(mn.InputError, match="difference is for two groups; got 3"):
        _ = found.difference


def test_two_of_three_groups_are_compared_as_if_alone() -> None:
    whole = mn.compare_groups(three_groups(120), "group", "gsmn", n_permutations=3, n_jobs=1)
    alone = mn.compare_groups(three_groups(120), "group", "gsmn", groups=["x", "y"], n_permutations=3, n_jobs=1)
    assert [one.value for one in whole.statistics[3:6]] == [one.value for one in alone.statistics]
    assert whole.networks[0].graph == alone.networks[0].graph


def confounded(n_rows: int = 400, *, seed: int = 2) -> dict[str, Any]:
    """a and b belong together in old people only, and the first group is older."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n_rows)
    group = np.where(rng.random(n_rows) < 0.1 + 0.8 * (age - 20) / 60, "first", "second")
    a = rng.normal(size=n_rows)
    b = np.where(age > 50, 1.5, 0.0) * a + rng.normal(size=n_rows)
    return {"a": a, "b": b, "c": rng.normal(size=n_rows), "age": age, "group": group}


def test_a_difference_by_a_covariate_is_found_unless_it_is_adjusted_for() -> None:
    table = confounded()
    options: dict[str, Any] = {"method": "gsmn", "n_permutations": 39, "n_jobs": 1}
    without = {name: values for name, values in table.items() if name != "age"}
    plain = mn.compare_groups(without, "group", **options)
    assert plain.statistics[2].p <= 0.05
    found = mn.compare_groups(table, "group", adjust=["age"], **options)
    assert found.networks[0].names == ("a", "b", "c")
    assert [one.value for one in found.statistics] == [one.value for one in plain.statistics]
    assert min(one.p for one in found.statistics) > 0.1
    assert found.adjustment == (("age",), 5, 400)
    assert "Adjusted for age: 5 strata; 400 of 400 rows" in str(found)
    real = table | {"a": np.where(table["group"] == "first", -table["a"], table["a"])}
    assert mn.compare_groups(real, "group", adjust=["age"], **options).statistics[2].p <= 0.05


def test_covariates_of_packs_and_chosen_columns_are_read_alike(tmp_path: Path) -> None:
    table = two_groups(200) | {"age": np.arange(200) % 7, "site": ["n", "s"] * 100}
    packed = mn.pack(table, tmp_path / "t.mnpack")
    options: dict[str, Any] = {"adjust": ["age", "site"], "n_permutations": 3, "n_jobs": 1}
    expected = mn.compare_groups(table, "group", "mpl", **options)
    for source, columns in ((packed, None), (table, ["a", "b", "c", "d"])):
        found = mn.compare_groups(source, "group", "mpl", columns=columns, **options)
        assert (found.pairs, found.adjustment) == (expected.pairs, expected.adjustment)
    declared = mn.compare_groups(table, "group", "mpl", types={"age": "categorical"}, **options)
    assert expected.adjustment is not None
    assert declared.adjustment is not None
    assert (expected.adjustment.strata, declared.adjustment.strata) == (10, 14)


def test_weights_without_a_sign_have_no_expected_influence() -> None:
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "green", "blue"], 200)
    table = {"colour": colour, "warm": colour == "red", "n": rng.integers(0, 2, 200), "g": ["x", "y"] * 100}
    found = mn.compare_groups(table, "g", "mpl", n_permutations=2, n_jobs=1)
    assert found.measure == "mutual information"
    assert {one.measure for one in found.centralities} == {"strength"}


def test_a_group_without_a_state_has_the_measure_of_all_groups() -> None:
    table = {"a": [1, 2, 3, 1] * 20 + [1, 2] * 40, "b": [1, 2, 3, 2] * 20 + [1, 2] * 40, "g": ["x"] * 80 + ["y"] * 80}
    found = mn.compare_groups(table, "g", "mpl", n_permutations=2, n_jobs=1)
    measures = {network.weights and network.weights.measure for network in found.networks}
    assert measures == {"partial correlation"} == {found.measure}


def test_too_few_permutations_for_the_correction_are_noted() -> None:
    found = mn.compare_groups(two_groups(), "group", "mpl", n_permutations=19, correction="holm", n_jobs=1)
    assert "no corrected p-value of a pair is below 0.3. Use 120 permutations or more or correction max" in str(found)
    assert found.pairs[0].p_corrected == pytest.approx(6 * found.pairs[0].p)
    plain = mn.compare_groups(two_groups(), "group", "mpl", n_permutations=19, correction="none", n_jobs=1)
    assert [pair.p_corrected for pair in plain.pairs] == [pair.p for pair in plain.pairs]
    assert "corrected" not in str(plain)


def test_a_long_run_is_announced(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.learning.groups.process_time", iter([0.0, 30.0]).__next__)
    with caplog.at_level(logging.INFO, "mnlearn"):
        mn.compare_groups(three_groups(60), "group", "gsmn", n_permutations=2, n_jobs=1)
    assert "18 networks to learn, about 180 s of CPU time" in caplog.text


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
        ({"groups": ("ill",)}, "groups must be 2 to 10 different labels of 'group'; got 1: 'ill'"),
        ({"groups": ("ill", "ill")}, "groups must be 2 to 10 different labels"),
        ({"adjust": "a"}, "adjust must be a list of names of columns, not a string; got 'a'"),
        ({"adjust": ["agee"]}, "adjust: column 'agee' does not exist"),
        ({"adjust": ["group"]}, "adjust must name columns other than by, each once"),
        ({"adjust": ["a", "a"]}, "adjust must name columns other than by, each once"),
        ({"adjust": [3]}, "adjust must be a list of names of columns; got 3"),
        ({"adjust": ["a", "b", "c"]}, "at least 2 columns beside 'group' and 'a' and 'b' and 'c'; got 1"),
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


def test_groups_can_be_chosen() -> None:
    data = two_groups(90) | {"group": ["x", "y", "z"] * 30}
    found = mn.compare_groups(data, "group", "gsmn", groups=["x", "z"], columns=["a", "b"], n_permutations=2, n_jobs=1)
    assert [network.n_rows for network in found.networks] == [30, 30]
    assert found.networks[0].names == ("a", "b")
    with pytest.raises(mn.InputError, match=r"groups must be 2 to 10 .* got 45: 0, 1, .*, \.\.\.\. Name some"):
        mn.compare_groups(data | {"group": list(range(45)) * 2}, "group")
    numbers = mn.read({name: np.random.default_rng(1).normal(size=20) for name in "abc"})
    with pytest.raises(mn.DataError, match="by must name a categorical column; 'c' is continuous"):
        mn.compare_groups(numbers, "c")
    with pytest.raises(mn.DataError, match=r"each occurs in one group only\. Adjust for fewer columns"):
        mn.compare_groups(data | {"copy": data["group"]}, "group", adjust=["copy"])


def test_differences_and_networks_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = mn.compare_groups(three_groups(120), "group", "gsmn", n_permutations=2, n_jobs=1)
    found.plot(tmp_path / "three.svg")
    assert all(f"group = {label}" in (tmp_path / "three.svg").read_text() for label in "xyz")
    assert found.plot(between=["x", "z"]).axes[0].get_title(loc="left") == "group: x − z"
    figure = found.plot(between=["x", "z"], level=1.0, title="x and z")
    assert figure.axes[0].get_title(loc="left") == "x and z"
    for options, message in (
        ({"kind": "difference"}, "between must be two labels for a difference; got 3 groups"),
        ({"kind": "heatmap"}, "kind 'heatmap' does not exist"),
        ({"between": ["x", "w"]}, "between: label of 'group' 'w' does not exist"),
        ({"between": ["x"]}, "between must be two or more different labels"),
        ({"between": "xy"}, "between must be a list of labels of groups, not a string"),
        ({"level": 0.05}, "level is for the difference of two groups"),
        ({"between": ["x", "y"], "level": 7}, "level must be"),
    ):
        with pytest.raises(mn.InputError, match=message):
            found.plot(**options)
