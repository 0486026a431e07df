"""`mnlearn fit`, `sample`, `predict` and `impute`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn


@pytest.fixture
def files(truth: Path, data: Path) -> tuple[Path, Path]:
    return truth, data


@pytest.fixture
def model(run: Any, files: tuple[Path, Path], tmp_path: Path) -> Path:
    assert run("fit", *files, "--out", tmp_path / "model").code == 0
    return tmp_path / "model"


def test_fit_prints_and_writes_the_model(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("fit", *files, "-o", tmp_path / "m")
    assert (done.code, done.err) == (0, "")
    expected = mn.fit_parameters(files[0], files[1])
    first = expected.strengths()[0]
    row = next(line for line in done.out.splitlines() if line.split()[:2] == [first.u, first.v])
    assert row.split()[2:] == [f"{first.strength:.3f}", "+" if first.sign == 1 else "−"]
    assert "parameters of 12 variables by pseudolikelihood from 1,000 rows" in done.out
    assert mn.load_model(tmp_path / "m").strengths() == expected.strengths()


def test_the_document_of_a_fit(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    words = ("--method", "canonical", "--set", "smoothing=1", "--out", tmp_path / "m", "--json")
    document = run("fit", *files, *words).document()
    assert document["method"] == "canonical"
    assert document["settings"]["smoothing"] == 1
    assert document["files"] == {"model": str(tmp_path / "m")}
    assert len(document["edges"]) == len(document["strength"]) == len(document["sign"]) == 12
    assert (document["converged"], document["rows"], document["kind"]) == (True, 1000, "discrete")


def test_samples_of_a_model_can_be_learned_from(run: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "drawn.csv"
    done = run("sample", model, "--rows", 4000, "--seed", 3, "--out", out)
    assert done.out == f"{out}: 4,000 rows of 12 variables\n"
    learned = run("learn", out, "--json").document()
    true = {frozenset(ends) for *ends, _ in mn.read_graph(tmp_path / "truth.edges.csv").named_edges()}
    found = {frozenset(edge) for edge in learned["edges"]}
    assert len(found ^ true) <= 2
    first = out.read_text()
    run("sample", model, "--rows", 4000, "--seed", 3, "--out", out)
    assert out.read_text() == first


def test_gibbs_chains_are_run_and_checked(run: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "drawn.parquet"
    document = run("sample", model, "--method", "gibbs", "--rows", 800, "--out", out, "--json").document()
    assert document == {"files": {"data": str(out)}, "rows": 800, "variables": 12, "seed": 1, "converged": True}
    frozen = tmp_path / "frozen.csv"
    frozen.write_text("a,b\n" + "0,0\n1,1\n" * 5000, encoding="utf-8")
    (tmp_path / "pair.edges.csv").write_text("u,v\na,b\n", encoding="utf-8")
    run("fit", tmp_path / "pair.edges.csv", frozen, "--set", "ridge=0.0001", "--out", tmp_path / "stiff")
    words = ("--method", "gibbs", "--burn-in", 1, "--thin", 1, "--out", out, "--json")
    done = run("sample", tmp_path / "stiff", *words)
    assert done.document()["converged"] is False
    assert "note: the Gibbs chains have NOT converged" in done.err


def test_predictions_are_printed_written_and_measured(
    run: Any, model: Path, files: tuple[Path, Path], tmp_path: Path
) -> None:
    done = run("predict", model, files[1], "fatigue")
    lines = done.out.splitlines()
    assert lines[0] == "fatigue,p(no),p(yes)"
    assert len(lines) == 1001
    assert done.err.startswith("note: accuracy 0.")
    document = run("predict", model, files[1], "fatigue", "--json").document()
    assert [row[0] for row in document["rows"]] == [line.split(",")[0] for line in lines[1:]]
    assert document["columns"] == ["fatigue", "p(no)", "p(yes)"]
    assert document["accuracy"] > 0.7
    done = run("predict", model, files[1], "fatigue", "--out", tmp_path / "guesses.csv")
    assert done.out == f"{tmp_path / 'guesses.csv'}: fatigue of 1,000 rows\n"
    assert mn.read(tmp_path / "guesses.csv").names == ("fatigue", "p(no)", "p(yes)")


def test_a_row_without_the_column_needs_only_its_neighbours(run: Any, model: Path, tmp_path: Path) -> None:
    neighbors = mn.load_model(model).blanket("fatigue")
    (tmp_path / "one.csv").write_text(
        ",".join(neighbors) + "\n" + ",".join(["yes"] * len(neighbors)) + "\n", encoding="utf-8"
    )
    document = run("predict", model, tmp_path / "one.csv", "fatigue", "--json").document()
    assert len(document["rows"]) == 1
    assert document["accuracy"] is None


def test_gaussian_models(run: Any, tmp_path: Path) -> None:
    words = ("--distribution", "gaussian", "--rows", 500, "--out", tmp_path / "g.csv")
    run("simulate", "path:n=5", *words)
    document = run(
        "fit", tmp_path / "g.truth.edges.csv", tmp_path / "g.csv", "--out", tmp_path / "g", "--json"
    ).document()
    assert (document["kind"], document["method"]) == ("gaussian", "gaussian")
    run("sample", tmp_path / "g", "--rows", 50, "--out", tmp_path / "again.csv")
    document = run("predict", tmp_path / "g", tmp_path / "again.csv", "x2", "--json").document()
    assert document["columns"] == ["x2", "deviation"]
    assert 0 < document["rmse"] < 2 * document["rows"][0][1]
    assert np.allclose(
        mn.fit_parameters(tmp_path / "g.truth.edges.csv", tmp_path / "g.csv").predict(tmp_path / "again.csv", "x2")[0],
        document["rows"][0][0],
    )
    refusal = run("sample", tmp_path / "g", "--method", "gibbs").refusal()
    assert "are for models with states; got a gaussian one" in refusal


def test_notes_of_a_fit_go_to_standard_error(run: Any, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n0.5,1.5\n0.5,2.5\n0.5,1.7\n", encoding="utf-8")
    (tmp_path / "g.edges.csv").write_text("u,v\na,b\n", encoding="utf-8")
    done = run("fit", tmp_path / "g.edges.csv", tmp_path / "d.csv", "--out", tmp_path / "m")
    assert done.err == "note: 'a' never changes: it is kept at 0.5 and explains nothing\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "canon"], "method 'canon' does not exist. Did you mean 'canonical'"),
        (["--set", "alpha=1"], "pseudolikelihood has no setting 'alpha'"),
        (["--method", "gaussian"], "'gaussian' needs continuous variables; "),
        (["--out", "truth.edges.csv"], "--out must be another file than GRAPH, which it would overwrite"),
        (["--column", "stress", "--column", "fatigue"], "GRAPH must have the columns of the data as its variables"),
    ],
)
def test_bad_usage_is_one_line_and_leaves_no_model(
    run: Any, files: tuple[Path, Path], words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in run("fit", *files, *words).refusal()
    assert not (tmp_path / "model").exists()


def test_bad_models_and_options_are_refused(run: Any, files: tuple[Path, Path], model: Path, tmp_path: Path) -> None:
    assert "has no model.json. Make one with mnlearn fit" in run("sample", tmp_path / "nowhere").refusal()
    assert "column: variable 'tired' does not exist" in run("predict", model, files[1], "tired").refusal()
    assert "--rows must be a whole number, at least 1" in run("sample", model, "--rows", 0).refusal()
    assert "must end in .csv" in run("predict", model, files[1], "fatigue", "--out", "x.xls").refusal()
    assert "method 'magic' does not exist" in run("sample", model, "--method", "magic").refusal()


def test_empty_cells_are_filled(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    header, *lines = data.read_text().splitlines()[:40]
    rows = [line.split(",") for line in lines]
    rows[0][3], rows[5][7], rows[5][2] = "", "", "NA"
    (tmp_path / "gaps.csv").write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    found = run("impute", model, tmp_path / "gaps.csv", "--out", tmp_path / "full.csv", "--json").document()
    assert (found["filled"], found["rows"], found["variables"]) == (3, 39, 12)
    full = [line.split(",") for line in (tmp_path / "full.csv").read_text().splitlines()]
    assert full[0] == header.split(",")
    assert [row[0] for row in full[1:]] == [row[0] for row in rows]
    assert all(cell for row in full for cell in row)
    done = run("predict", model, tmp_path / "gaps.csv", header.split(",")[3])
    assert done.code == 0
    assert len(done.out.splitlines()) == 40
    assert "over the rows that have poor_sleep" in done.err
    assert run("impute", model, tmp_path / "gaps.csv", "--out", tmp_path / "gaps.csv").code == 2  # its input
    rows[0][3], rows[5][7], rows[5][2] = "?", "-9", "?"
    lines = [f";{header.replace(',', ';')}", *(f"{k};{';'.join(row)}" for k, row in enumerate(rows))]
    (tmp_path / "other.csv").write_text("\n".join(lines) + "\n")
    form = ("--delimiter", ";", "--row-names", "--missing-value", "?", "--missing-value", "-9")
    run("impute", model, tmp_path / "other.csv", "--out", tmp_path / "again.csv", *form)
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "full.csv").read_text()
    assert run("predict", model, tmp_path / "other.csv", "left_handed", *form).code == 0  # has no neighbours
    assert "got '?'. Empty these cells" in run("impute", model, tmp_path / "other.csv", *form[:3]).refusal()


def test_mixed_models_and_drawn_copies(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    smoker = rng.integers(2, size=300)
    lines = [
        f"{'yes' if s else 'no'},{70 + 10 * s + 8 * z:.2f}" for s, z in zip(smoker, rng.normal(size=300), strict=True)
    ]
    (tmp_path / "data.csv").write_text("smoker,pulse\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "pair.edges.csv").write_text("u,v\nsmoker,pulse\n", encoding="utf-8")
    done = run("fit", tmp_path / "pair.edges.csv", tmp_path / "data.csv", "--out", tmp_path / "m")
    assert "interaction" in done.out
    assert "by mixed from 300 rows" in done.out
    document = run("predict", tmp_path / "m", tmp_path / "data.csv", "pulse", "--json").document()
    assert document["columns"] == ["pulse", "deviation"]
    words: tuple[Any, ...] = ("--rows", 40, "--method", "enumerate", "--out", tmp_path / "drawn.csv", "--json")
    assert run("sample", tmp_path / "m", *words).document()["rows"] == 40
    (tmp_path / "gaps.csv").write_text("smoker,pulse\nyes,\n,85\nno,60\n", encoding="utf-8")
    words = ("impute", tmp_path / "m", tmp_path / "gaps.csv", "--out", tmp_path / "full.csv")
    found = run(*words, "--draws", 3, "--seed", 1, "--json").document()
    assert found["files"]["data"] == [str(tmp_path / f"full-{k}.csv") for k in (1, 2, 3)]
    assert (found["rows"], found["filled"]) == (3, 2)
    texts = [(tmp_path / f"full-{k}.csv").read_text(encoding="utf-8") for k in (1, 2, 3)]
    assert len(set(texts)) > 1
    assert all(text.splitlines()[3] == "no,60.0" for text in texts)
    run(*words, "--draws", 3, "--seed", 1)
    assert texts == [(tmp_path / f"full-{k}.csv").read_text(encoding="utf-8") for k in (1, 2, 3)]
    assert "--seed is for --draws" in run(*words, "--seed", 1).refusal()
    assert "--draws must be" in run(*words, "--draws", 0).refusal()
    again: tuple[Any, ...] = (*words[:2], tmp_path / "full-1.csv", *words[3:], "--draws", 2)
    assert "must not name copies that replace the input" in run(*again).refusal()
