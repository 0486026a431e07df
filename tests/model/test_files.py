"""Models in folders: what is read is what was saved, and nothing that was altered is read."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn import Dataset, FileError, InputError, discretize
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.graphs import path
from mnlearn.model import DiscreteModel, FitReport, GaussianModel, MarkovModel, files, fit, load_model, save_model
from mnlearn.simulate import FactorNetwork, equal_partial_correlations, uniform_factors


def discrete() -> MarkovModel:
    codes = np.random.default_rng(1).integers(2, size=(60, 3))
    return fit(path(3), Dataset.from_codes(codes, cards=[2, 2, 3], names=["a", "b é", 'c"']), "canonical")


def gaussian() -> MarkovModel:
    rows = equal_partial_correlations(path(3), 0.4).sample(50, seed=1)
    return fit(path(3), continuous_dataset(np.column_stack([rows, np.ones(50)])[:, [0, 1, 3]], ["a", "b", "one"]))


@pytest.mark.parametrize("make", [discrete, gaussian])
def test_the_model_comes_back_bit_by_bit(make: Any, tmp_path: Path) -> None:
    saved = make()
    saved.save(tmp_path / "deep" / "model")
    found = load_model(tmp_path / "deep" / "model")
    assert type(found) is type(saved)
    assert (found.names, found.report, found.graph) == (saved.names, saved.report, saved.graph)
    assert found.strengths() == saved.strengths()
    rows = saved.sample_dataset(20, seed=1)
    assert found.log_likelihood(rows) == saved.log_likelihood(rows)
    again = found.sample_dataset(20, seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(rows.columns, again.columns, strict=True))


def test_labels_of_every_kind_and_cuts_come_back(tmp_path: Path) -> None:
    labels = (("x", None), (True, False), (1, 2.5), (date(2020, 1, 2), date(2021, 1, 2)), (datetime(2020, 1, 2, 3), 4))
    network = uniform_factors(path(5), seed=1)
    DiscreteModel(tuple("abcde"), labels, network, FitReport("x", 0)).save(tmp_path)
    found = load_model(tmp_path)
    assert isinstance(found, DiscreteModel)
    assert found.levels == labels
    assert [type(label) for pair in found.levels for label in pair] == [
        type(label) for pair in labels for label in pair
    ]
    cut = discretize(continuous_dataset(np.random.default_rng(1).normal(size=(50, 2)), ["a", "b"]), bins=3)
    fit(path(2), cut).save(tmp_path)
    again = load_model(tmp_path)
    assert isinstance(again, DiscreteModel)
    assert all(np.array_equal(again.cuts[name], cut.cuts[name]) for name in ("a", "b"))
    strange = DiscreteModel(("a",), ((b"bytes", "x"),), FactorNetwork((2,)), FitReport("x", 0))
    with pytest.raises(InputError, match="labels must be strings, finite numbers, bools, dates or missing to be saved"):
        strange.save(tmp_path / "strange")
    assert not (tmp_path / "strange").exists()


@pytest.mark.parametrize("label", [float("inf"), float("nan"), np.float64("-inf")])
def test_a_label_that_json_has_no_word_for_is_refused_before_anything_is_written(label: float, tmp_path: Path) -> None:
    strange = DiscreteModel(("a",), ((1.0, label),), FactorNetwork((2,)), FitReport("x", 0))
    with pytest.raises(InputError, match=r"finite numbers, .* to be saved; got"):
        strange.save(tmp_path / "strange")
    assert not (tmp_path / "strange").exists()


def test_a_model_is_replaced_as_a_whole_and_leaves_no_other_array(tmp_path: Path) -> None:
    discrete().save(tmp_path)
    gaussian().save(tmp_path)
    assert isinstance(load_model(tmp_path), GaussianModel)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".npy"]


def test_a_save_that_fails_half_way_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    discrete().save(tmp_path)
    real = files._replace

    def full(target: Path, content: bytes) -> None:
        if target.suffix == ".json":
            raise OSError(28, "No space left on device")
        real(target, content)

    monkeypatch.setattr(files, "_replace", full)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        gaussian().save(tmp_path)
    assert isinstance(load_model(tmp_path), DiscreteModel)


def test_other_folders_and_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileError, match=r"path must be a new or empty folder, or a model; .* holds other files"):
        save_model(discrete(), tmp_path)
    with pytest.raises(FileError, match=r"path must be a folder; .* is a file"):
        save_model(discrete(), tmp_path / "letter.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


def _alter_numbers(folder: Path) -> None:
    (array,) = folder.glob("*.npy")
    content = bytearray(array.read_bytes())
    content[-1] ^= 1
    array.write_bytes(content)


def _alter_description(folder: Path) -> None:
    file = folder / "model.json"
    file.write_text(file.read_text().replace('"rows": 60', '"rows": 61'))


def _not_a_number(folder: Path) -> None:
    file = folder / "model.json"
    file.write_text(file.read_text().replace('"rows": 60', '"rows": NaN'))


def _too_deep(folder: Path) -> None:
    (folder / "model.json").write_text("[" * 100_000)


def _cut_description(folder: Path) -> None:
    file = folder / "model.json"
    file.write_text(file.read_text()[:-20])


def _newer(folder: Path) -> None:
    document = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**document, "version": 2}))


def _other_kind(folder: Path) -> None:
    (folder / "model.json").write_text('{"format": "mnlearn-graph", "version": 1}')


def _no_numbers(folder: Path) -> None:
    next(folder.glob("*.npy")).unlink()


def _no_description(folder: Path) -> None:
    (folder / "model.json").unlink()


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (_alter_numbers, "must be as it was saved; it was altered"),
        (_alter_description, "its model.json was altered"),
        (_not_a_number, "its model.json cannot be read: NaN is not a JSON number"),
        (_too_deep, "its model.json cannot be read"),
        (_cut_description, "its model.json cannot be read"),
        (_newer, "must be of version 1 at most for this mnlearn; got 2. Upgrade mnlearn"),
        (_other_kind, "must hold an mnlearn model; its model.json is something else"),
        (_no_numbers, "there is no .*parameters.*Save the model again"),
        (_no_description, "path must be a folder with a model; .* has no model.json"),
    ],
)
def test_what_was_altered_is_refused(alter: Any, message: str, tmp_path: Path) -> None:
    discrete().save(tmp_path)
    alter(tmp_path)
    with pytest.raises(FileError, match=message):
        load_model(tmp_path)


def test_a_description_with_a_right_digest_and_wrong_parts_is_refused(tmp_path: Path) -> None:
    discrete().save(tmp_path)
    document = json.loads((tmp_path / "model.json").read_text())
    del document["sha256"]
    changes: list[dict[str, Any]] = [
        {"factors": [[0, 1, 2, 3, 4]]},
        {"levels": [["x"]]},
        {"factors": [[5]]},
        {"kind": "gaussian"},
        {"parameters": {}},
        {"parameters": {**document["parameters"], "file": 3}},
        {"cuts": []},
    ]
    for change in changes:
        changed = {**document, **change}
        changed["sha256"] = files._digest(changed)
        (tmp_path / "model.json").write_text(json.dumps(changed))
        with pytest.raises(FileError, match="must hold a sound model"):
            load_model(tmp_path)


def test_no_such_folder_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"has no model.json. Make one with mnlearn fit"):
        load_model(tmp_path / "nothing")
