"""`transform`: normal scores of continuous columns in every call that computes statistics from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import normal_scores
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import path
from mnlearn.learning import METHODS, learn
from mnlearn.learning.groups import compare_groups
from mnlearn.learning.tests import dependences

CHAIN = sparse_gaussian(path(5), 1, weakest=0.5).dataset(200, 2)
GAUSSIAN: dict[str, Any] = dict(zip(CHAIN.names, CHAIN.columns, strict=True))
CUBED = {name: column**3 for name, column in GAUSSIAN.items()}
SCORES = dict(zip(CHAIN.names, normal_scores(CHAIN).columns, strict=True))
FOR_NUMBERS = sorted(set(METHODS) - {"mpl", "pic", "l1lr"})
SEED = {"seed": 3, "n_jobs": 1}


def same(found: mn.Learned, other: mn.Learned) -> bool:
    """Whether graph, support and score are the same, bit for bit."""
    return (found.graph, dict(found.result.support), found.score) == (
        other.graph,
        dict(other.result.support),
        other.score,
    )


@pytest.mark.parametrize("method", FOR_NUMBERS)
def test_every_method_learns_from_the_scores(method: str) -> None:
    by_scores = learn(SCORES, method, transform=None)
    assert by_scores.settings["transform"] is None
    for data in (CUBED, GAUSSIAN, {name: np.arctan(column) for name, column in GAUSSIAN.items()}):
        found = learn(data, method, transform="normal_scores")
        assert same(found, by_scores)
        assert found.settings["transform"] == "normal_scores"
    assert same(learn(CUBED, method), by_scores)
    assert not same(learn(CUBED, method, transform=None), by_scores)


def test_a_decreasing_function_of_a_column_changes_nothing() -> None:
    falling = {**CUBED, "x2": np.exp(-GAUSSIAN["x2"])}
    assert same(learn(falling), learn(CUBED))


def test_the_order_of_rows_does_not_matter() -> None:
    order = np.random.default_rng(1).permutation(200)
    shuffled = {name: column[order] for name, column in CUBED.items()}
    one, other = learn(CUBED), learn(shuffled)
    assert one.graph == other.graph
    assert one.settings == other.settings


@pytest.mark.parametrize("method", ["sep", "pc", "lasso"])
def test_auto_leaves_gaussian_columns_alone(method: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="mnlearn.learning"):
        found = learn(GAUSSIAN, method)
    assert found.settings["transform"] is None
    assert "normal scores" not in caplog.text + found.summary()
    assert same(found, learn(GAUSSIAN, method, transform=None))


def test_auto_is_said_in_the_log_and_the_summary(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="mnlearn.learning"):
        found = learn(CUBED)
    assert caplog.messages[0] == (
        "using normal scores of the ranks of all continuous columns, because 5 columns are far from normal: 'x0', "
        "'x1', 'x2', 'x3' and 1 more. transform=None keeps the values"
    )
    assert "200 rows, 5 continuous variables, as normal scores of the ranks" in found.summary()
    assert found.to_dict()["settings"]["transform"] == "normal_scores"  # type: ignore[index]


def test_one_column_is_enough() -> None:
    one = {**GAUSSIAN, "x3": np.exp(3 * GAUSSIAN["x3"])}
    assert learn(one).settings["transform"] == "normal_scores"
    assert same(learn(one), learn(CUBED))


@pytest.mark.parametrize("information", ["rank", "kernel"])
def test_aracne_by_ranks_needs_no_transform(information: str) -> None:
    settings: dict[str, Any] = {"information": information} | ({"n_pairs": 300} if information == "kernel" else {})
    found = learn(CUBED, "aracne", **settings)
    assert found.settings["transform"] is None
    assert found.graph == learn(CUBED, "aracne", transform="normal_scores", **settings).graph


def test_a_saved_result_says_what_was_done_and_does_it_again(tmp_path: Path) -> None:
    for data, transform in ((CUBED, "normal_scores"), (GAUSSIAN, None)):
        found = learn(data)
        found.save(tmp_path / "network.json")
        again = mn.load(tmp_path / "network.json")
        assert again.settings["transform"] == transform
        assert again.with_data(data).why("x0", "x1") == found.why("x0", "x1")
    values = learn(CUBED, transform=None)
    values.save(tmp_path / "network.json")
    assert mn.load(tmp_path / "network.json").with_data(CUBED).why("x0", "x1") == values.why("x0", "x1")


def test_a_file_without_the_setting_is_of_the_values(tmp_path: Path) -> None:
    found = learn(CUBED, transform=None)
    old = {name: value for name, value in found.settings.items() if name != "transform"}
    older = mn.Learned("sep", found.names, mn.protocols.Result(**{**vars(found.result), "settings": old}))
    older.save(tmp_path / "network.json")
    assert mn.load(tmp_path / "network.json").with_data(CUBED).why("x0", "x1") == found.why("x0", "x1")


@pytest.mark.parametrize(
    "call", [lambda found: found.why("x0", "x1"), lambda found: found.bootstrap(6, **SEED).frequencies]
)
def test_what_is_computed_later_is_computed_from_the_scores(call: Callable[[mn.Learned], object]) -> None:
    assert call(learn(CUBED)) == call(learn(GAUSSIAN, transform="normal_scores"))
    assert call(learn(CUBED)) != call(learn(CUBED, transform=None))


def test_figures_and_report_show_the_scores(tmp_path: Path) -> None:
    from mnlearn.visual.figure_data import figure_data_of

    found = learn(CUBED)
    by_scores, weights = learn(SCORES, transform=None).weights, figure_data_of(found).weights
    assert by_scores is not None
    assert weights is not None
    assert weights.values == pytest.approx(dict(by_scores.values))
    found.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The method used normal scores of the ranks instead of the values" in page
    assert "transform=&#39;normal_scores&#39;" in page
    learn(CUBED, transform=None).report(tmp_path / "report.html")
    assert "transform=None" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_groups_are_compared_by_their_scores() -> None:
    group = np.repeat(["a", "b"], 100)
    settings: dict[str, Any] = {"n_permutations": 5, "n_jobs": 1}
    by_default = compare_groups({**CUBED, "group": group}, "group", **settings)
    asked = compare_groups({**GAUSSIAN, "group": group}, "group", transform="normal_scores", **settings)
    assert by_default.to_dict() | {"networks": 0} == asked.to_dict() | {"networks": 0}
    assert [network.settings["transform"] for network in by_default.networks] == ["normal_scores"] * 2


def test_tests_and_scores_take_it_too() -> None:
    test = mn.independence_test(CUBED, "x0", "x1", ["x2"])
    assert test.transform == "normal_scores"
    assert test == mn.independence_test(GAUSSIAN, "x0", "x1", ["x2"], transform="normal_scores")
    assert mn.independence_test(CUBED, "x0", "x1", transform=None).transform is None
    assert dependences(CUBED) == dependences(GAUSSIAN, transform="normal_scores")
    edges = [("x0", "x1")]
    assert mn.score(CUBED, edges, "evidence") == mn.score(GAUSSIAN, edges, "evidence", transform="normal_scores")
    assert mn.score(CUBED, edges, "evidence") != mn.score(CUBED, edges, "evidence", transform=None)


def test_held_out_rows_are_tested_by_their_scores() -> None:
    graph = learn(CUBED)
    found = mn.validate(graph, CUBED, n_triplets=200)
    assert found.triplets == mn.validate(graph, GAUSSIAN, n_triplets=200, transform="normal_scores").triplets
    assert "the tests use normal scores of the ranks, the model uses the values" in found.notes
    assert mn.validate(graph, CUBED, n_triplets=200, transform=None).notes == ()


def test_a_model_keeps_the_original_scale() -> None:
    model: Any = mn.fit_parameters(learn(CUBED))
    np.testing.assert_allclose(model.mean, [np.mean(column) for column in CUBED.values()])
    with pytest.raises(mn.InputError, match="gaussian has no setting 'transform'"):
        mn.fit_parameters(learn(CUBED), transform="normal_scores")


def test_the_estimator_takes_it() -> None:
    rows = np.column_stack(list(CUBED.values()))
    fitted = mn.MarkovNetworkLearner().fit(rows)
    assert fitted.result_.settings["transform"] == "normal_scores"
    assert fitted.graph_ == learn(CUBED).graph
    assert mn.MarkovNetworkLearner(settings={"transform": None}).fit(rows).result_.settings["transform"] is None
    chosen = mn.MarkovBlanketSelector(settings={"transform": None}).fit(rows[:, :4], rows[:, 4])
    assert chosen.result_.settings["transform"] is None
    assert np.isfinite(fitted.score(rows))


def test_a_result_can_be_learned_again_from_its_settings() -> None:
    for transform in (None, "normal_scores", "auto"):
        found = learn(CUBED, transform=transform)
        settings: dict[str, Any] = dict(found.settings)
        assert same(learn(CUBED, **settings), found)


@pytest.mark.parametrize("bad", ["rank", "none", 3, ["auto"]])
def test_an_unknown_transform_is_refused(bad: Any) -> None:
    message = r"transform must be 'normal_scores', 'auto' or None; got .*\. Leave it out for 'auto'\."
    for call in (learn, lambda data, **given: mn.independence_test(data, "x0", "x1", **given)):
        with pytest.raises(mn.InputError, match=message):
            call(CUBED, transform=bad)


def test_categorical_columns_are_refused_by_name() -> None:
    labels = {"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}
    message = (
        r"transform='normal_scores' needs continuous variables; 'a' is categorical with 2 states\. Use transform=None"
    )
    with pytest.raises(mn.UnsuitableError, match=message):
        learn(labels, transform="normal_scores")
    assert "transform" not in learn(labels, transform=None).settings
    assert "transform" not in learn(CUBED, discretize="frequency", bins=3).settings
    with pytest.raises(mn.UnsuitableError, match="'x0' is categorical with 3 states"):
        learn(CUBED, discretize="frequency", bins=3, transform="normal_scores")


@pytest.mark.parametrize("n_rows", [2, 3, 9])
def test_few_rows_and_constant_columns(n_rows: int) -> None:
    few = {name: column[:n_rows] for name, column in CUBED.items()}
    assert learn(few).settings["transform"] is None
    assert learn({**few, "flat": np.ones(n_rows)}, transform="normal_scores").blanket("flat") == ()


def test_a_value_in_most_rows_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    zeros = {**CUBED, "x1": np.maximum(CUBED["x1"], 0.5)}
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learn(zeros)
    share = np.mean(zeros["x1"] == 0.5)
    assert share > 0.5
    message = f"one value in most rows, so that weak edges cannot be seen: 'x1' {share:.0%}"
    assert message in caplog.messages
    weighted = {"x": [0.0, 1.0, 2.5], "y": [0.3, 0.1, 0.2], "times": [8, 1, 1]}
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learn(weighted, repeats="times")
    assert "one value in most rows, so that weak edges cannot be seen: 'x' 80%, 'y' 80%" in caplog.text


def test_monotone_copies_are_logged_as_copies(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learn({**CUBED, "copy": np.exp(GAUSSIAN["x0"])})
    assert "copies, which no method can tell apart: 'copy' of 'x0'" in caplog.messages
