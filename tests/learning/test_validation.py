"""Graphs judged by held-out data, against counts and fits made step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.evaluation import independence_accuracy
from mnlearn.graphs import Graph, NamedGraph
from mnlearn.model import fit
from mnlearn.simulate import example

SURVEY, LATER = example(800, seed=1), example(400, seed=2)
TRUTH = NamedGraph(SURVEY.graph, SURVEY.names)
QUICK: dict[str, Any] = {"n_triplets": 220}


def test_accuracy_is_that_of_the_triplets() -> None:
    found = mn.validate(TRUTH, LATER.columns(), n_triplets=500, seed=3, test="g2", alpha=0.01)
    data = mn.read(LATER.columns())
    counted = independence_accuracy(TRUTH.graph, mn.make_test("g2", data, alpha=0.01), n_triplets=500, seed=3)
    assert found.triplets == counted
    assert found.test == "g2"
    assert found.accuracy.mean == counted.agreement
    expected = np.sqrt(counted.agreement * (1 - counted.agreement) / 500)
    assert found.accuracy.standard_error == pytest.approx(expected, rel=0.05)
    assert [each.size for each in found.by_size] == list(range(11))
    assert sum(each.n_triplets for each in found.by_size) == 500
    weighted = sum(each.agreement * each.n_triplets for each in found.by_size) / 500
    assert weighted == pytest.approx(found.accuracy.mean)
    assert all(each.standard_error > 0 for each in found.by_size)


def test_the_model_is_fitted_to_the_training_rows() -> None:
    found = mn.validate(TRUTH, LATER.columns(), train=SURVEY.columns(), **QUICK)
    known, unseen = mn.read(SURVEY.columns()), mn.read(LATER.columns())
    for graph, estimate in ((TRUTH.graph, found.pseudolikelihood), (Graph.empty(12), found.empty)):
        per_row = fit(graph, known).log_conditionals(unseen).sum(1)
        assert estimate.mean == pytest.approx(per_row.mean())
        assert estimate.standard_error == pytest.approx(per_row.std(ddof=1) / np.sqrt(400))
    assert found.gain.mean == pytest.approx(found.pseudolikelihood.mean - found.empty.mean)
    assert found.gain.mean > 5 * found.gain.standard_error > 0
    assert (found.rows, found.train_rows, found.folds) == (400, 800, None)


def test_without_training_rows_each_fold_is_predicted_from_the_others() -> None:
    found = mn.validate(TRUTH, LATER.columns(), folds=4, **QUICK)
    apart = mn.validate(TRUTH, LATER.columns(), train=SURVEY.columns(), **QUICK)
    assert (found.train_rows, found.folds) == (None, 4)
    assert found.pseudolikelihood.mean == pytest.approx(apart.pseudolikelihood.mean, abs=0.3)
    assert found == mn.validate(TRUTH, LATER.columns(), folds=4, **QUICK)
    assert found.pseudolikelihood != mn.validate(TRUTH, LATER.columns(), folds=4, seed=1, **QUICK).pseudolikelihood


def test_repeats_are_equal_to_repeated_rows() -> None:
    rows = mn.read(LATER.columns())
    whole = mn.validate(TRUTH, rows, train=mn.read(SURVEY.columns()), **QUICK)
    packed = mn.validate(TRUTH, rows.compact(), train=mn.read(SURVEY.columns()).compact(), **QUICK)
    assert packed.triplets == whole.triplets
    assert packed.rows == 400
    for name in ("pseudolikelihood", "empty", "gain"):
        assert getattr(packed, name) == pytest.approx(getattr(whole, name), rel=1e-4)
    split = mn.validate(TRUTH, rows.compact(), **QUICK)
    assert split.pseudolikelihood.mean == pytest.approx(whole.pseudolikelihood.mean, abs=0.3)


def test_other_columns_of_a_file_need_no_reading_options(tmp_path: Path) -> None:
    rows = ["".join(f",{value}" for value in row) for row in zip(*LATER.columns().values(), strict=True)]
    lines = [f"{k},{k if k % 3 else '?'}{row}" for k, row in enumerate(rows)]
    (tmp_path / "later.csv").write_text("\n".join([f",id,{','.join(LATER.names)}", *lines]), encoding="utf-8")
    found = mn.validate(TRUTH, tmp_path / "later.csv", row_names=True, **QUICK)
    assert found.notes == ("ignored 1 column not in the graph: 'id'",)
    assert found.triplets == mn.validate(TRUTH, LATER.columns(), **QUICK).triplets
    assert mn.validate(TRUTH, tmp_path / "later.csv", drop=["id", ""], **QUICK).notes == ()


def test_continuous_columns_have_a_gaussian_model() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    rows = {"a": a, "b": b, "c": rng.normal(size=500), "d": rng.integers(0, 2, 500).astype(str)}
    found = mn.validate(NamedGraph(Graph(3, [(0, 1)]), ("a", "b", "c")), rows, n_triplets=200)
    assert found.test == "pcor"
    assert found.triplets.only_data == 0
    assert found.triplets.both_dependent > 0
    assert found.gain.mean > 5 * found.gain.standard_error
    assert found.notes == ("ignored 1 column not in the graph: 'd'",)


def test_a_learned_network_is_judged_by_name() -> None:
    learned = mn.learn(SURVEY.columns())
    backwards = dict(reversed(LATER.columns().items()))
    assert mn.validate(learned, backwards, **QUICK) == mn.validate(learned, LATER.columns(), **QUICK)
    pairs = [(SURVEY.names[u], SURVEY.names[v]) for u, v in learned.graph.edges]
    assert mn.validate(pairs, LATER.columns(), **QUICK).gain == mn.validate(learned, LATER.columns(), **QUICK).gain


def test_wrong_data_are_refused() -> None:
    columns = LATER.columns()
    short = {name: column for name, column in columns.items() if name != SURVEY.names[0]}
    missing = f"data must have a column for each variable of the graph: column '{SURVEY.names[0]}' does not exist"
    with pytest.raises(UnknownNameError, match=missing):
        mn.validate(TRUTH, short)
    with pytest.raises(UnknownNameError, match="train must have a column for each variable of the graph"):
        mn.validate(TRUTH, columns, train=short, **QUICK)
    with pytest.raises(InputError, match="at least as many rows as folds; got 4 and 5"):
        mn.validate(TRUTH, {name: column[:4] for name, column in columns.items()}, **QUICK)
    with pytest.raises(InputError, match="discretize cannot be given with train"):
        mn.validate(TRUTH, columns, train=columns, discretize="frequency")
    with pytest.raises(InputError, match="folds must be a whole number, at least 2; got 1"):
        mn.validate(TRUTH, columns, folds=1)
    with pytest.raises(UnknownNameError, match="test 'chi'"):
        mn.validate(TRUTH, columns, test="chi")
    with pytest.raises(UnsuitableError, match="variables of one type"):
        mn.validate([], {"a": [0.5, 1.5, 2.5], "b": ["x", "y", "x"]})


def test_its_document_is_plain_json() -> None:
    found = mn.validate(TRUTH, LATER.columns(), **QUICK)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["accuracy"]["mean"] == found.accuracy.mean
    assert document["by_size"][0]["size"] == 0
    assert document["gain"]["standard_error"] == found.gain.standard_error


def test_columns_of_a_file_that_are_not_in_the_graph_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "later.csv"
    columns = {**LATER.columns(), "name": [f"p{k}" for k in range(400)], "day": ["?"] * 400}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = mn.validate(TRUTH, str(file), **QUICK)
    assert found.notes == ("ignored 2 columns not in the graph: 'name' and 1 more",)
    assert found.triplets == mn.validate(TRUTH, LATER.columns(), **QUICK).triplets
