"""`mnlearn report`, `mnlearn plot`, and these options of `mnlearn learn`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import mnlearn.learning
from mnlearn.evaluation.centrality import CENTRALITIES


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a chain of four columns."""
    path = tmp_path_factory.mktemp("data") / "chain.csv"
    lines = ["a,b,c,d"]
    for row in range(120):
        a = row % 2
        b = a ^ (row % 7 == 0)
        c = b ^ (row % 11 == 0)
        lines.append(f"{a},{b},{c},{row // 2 % 2}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_report_by_one_command(run: Any, table: Path, tmp_path: Path) -> None:
    done = run("report", table, "--method", "gsmn", "-o", tmp_path / "out.html", "--title", "A <chain>")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"wrote {tmp_path / 'out.html'}: 2 edges among 4 variables, by gsmn. Open it in a browser.\n"
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<title>A &lt;chain&gt;</title>" in text
    assert "&#39;chain.csv&#39;" in text
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_the_default_is_report_html(run: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = run("report", table, "--method", "gsmn", "--json").document()
    assert Path("report.html").exists()
    keys = ["source", "report", "method", "variables", "edges", "converged", "cautions"]
    assert list(document) == keys
    assert (document["report"], document["edges"], document["converged"]) == ("report.html", 2, True)


def test_a_saved_result_has_a_report_with_and_without_its_data(run: Any, table: Path, tmp_path: Path) -> None:
    saved = tmp_path / "net.json"
    run("learn", table, "--method", "gsmn", "--out", saved)
    assert run("report", saved, "-o", tmp_path / "without.html").code == 0
    assert run("report", saved, "--data", table, "-o", tmp_path / "with.html").code == 0
    without, with_data = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("without", "with"))
    assert "The data are not at hand" in without
    assert "The data are not at hand" not in with_data
    assert "log odds ratio" in with_data
    assert run("plot", saved, "-o", tmp_path / "net.svg").code == 0


@pytest.mark.parametrize("kind", ["network", "heatmap", "centralities"])
def test_a_picture_by_one_command(run: Any, table: Path, tmp_path: Path, kind: str) -> None:
    words = ["plot", table, "--method", "gsmn", "--kind", kind, "--out", tmp_path / "net.svg"]
    assert run(*words).out == f"wrote {tmp_path / 'net.svg'}: 2 edges among 4 variables\n"
    assert "<svg" in (tmp_path / "net.svg").read_text(encoding="utf-8")
    document = run(*words, "--json").document()
    assert (document["kind"], document["edges"], document["picture"]) == (kind, 2, str(tmp_path / "net.svg"))


def test_groups_labels_and_sizes_by_options(run: Any, table: Path, tmp_path: Path) -> None:
    saved, out = tmp_path / "net.json", tmp_path / "net.svg"
    run("learn", table, "--method", "gsmn", "--out", saved)
    words = [
        "--group",
        "first=a:c",
        "--group",
        "rest=d",
        "--label",
        "a=A=1",
        "--layout",
        "groups",
        "--threshold",
        "0.1",
    ]
    assert run("plot", saved, "-o", out, *words, "--node-size", "degree").code == 0
    drawn = out.read_text(encoding="utf-8")
    assert all(f"<!-- {text} -->" in drawn for text in ("first", "rest", "A=1", "b"))
    assert run("plot", saved, "-o", out, "--same-layout-as", saved, "--data", table, "--rings").code == 0
    assert run("plot", table, "--method", "gsmn", "-o", out, "--side-by-side", saved).code == 0
    assert run("plot", table, "--method", "pc", "-o", out, "--difference", saved).code == 0
    assert "higher in net" in out.read_text(encoding="utf-8")


def test_a_report_with_groups_and_stability(run: Any, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    words = ["report", table, "--method", "gsmn", "-o", out, "--group", "first=a:c", "--stability", 14, "--jobs", 1]
    done = run(*words, "--json")
    assert (done.code, done.document()["cs_coefficient"].keys()) == (0, CENTRALITIES.keys() | {"weight"})
    assert "14 samples take about" in done.err
    text = out.read_text(encoding="utf-8")
    assert "<bdi>first</bdi>" in text
    assert "How sure are the weights" in text
    assert "How stable are the centralities" in text


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_writes_the_report_of_the_samples_so_far(
    run: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mnlearn.Learned.stability

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.Learned, "stability", pressed)
    out = tmp_path / "out.html"
    done = run("report", table, "--method", "gsmn", "-o", out, "--stability", 14, "--jobs", 1)
    assert done.code == 130
    assert "interrupted: the report has what the samples so far say" in done.err
    text = out.read_text(encoding="utf-8")
    assert "How sure are the weights" in text
    assert "How stable are the centralities" not in text


def test_resampling_before_the_output(run: Any, table: Path, tmp_path: Path) -> None:
    words = [table, "--method", "gsmn", "--bootstrap", "8"]
    assert run("report", *words, "-o", tmp_path / "out.html").code == 0
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "which edges are stable: 8 samples" in text
    assert "resampling frequency" in text
    assert run("plot", *words, "--kind", "stability", "-o", tmp_path / "s.png").code == 0
    run("learn", table, "--method", "gsmn", "--out", tmp_path / "net.json")
    saved = ["report", tmp_path / "net.json", "--bootstrap", "4", "-o", tmp_path / "again.html"]
    assert run(*saved, "--data", table).code == 0
    assert "needs the data" in run(*saved).refusal()


def test_learn_writes_a_picture_and_a_report(run: Any, table: Path, tmp_path: Path) -> None:
    plot, report = tmp_path / "net.png", tmp_path / "out.html"
    done = run("learn", table, "--method", "gsmn", "--plot", plot, "--report", report)
    assert done.code == 0
    assert done.out.endswith(f"wrote {plot}\nwrote {report}\n")
    assert plot.stat().st_size > 1000
    assert report.stat().st_size > 100_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "DATA", "-o", "out.pdf"], "--out must end in .html; got 'out.pdf'"),
        (["report", "DATA", "-o", "nowhere/out.html"], "--out must be in an existing folder; there is no 'nowhere'"),
        (["report", "DATA", "--method", "gsm"], "method 'gsm' does not exist. Did you mean 'gsmn'"),
        (["report", "DATA", "--column", "x"], "column 'x' does not exist"),
        (["report", "DATA", "--data", "DATA"], "--data is for a saved result (.json)"),
        (["report", "missing.csv"], "missing.csv"),
        (["report", "DATA", "--bootstrap", "1"], "--bootstrap must be a whole number, at least 2; got 1"),
        (["report", "missing.json"], "missing.json"),
        (["report", "DATA", "--stability", "1"], "--stability must be a whole number, at least 14; got 1"),
        (["report", "net.json", "--stability", "20"], "--stability needs the data; 'net.json' is a saved result"),
        (["report", "DATA", "--group", "a,b"], "--group must be NAME=COL,COL; got 'a,b'"),
        (["report", "DATA", "--method", "gsmn", "--group", "x=q"], "variable 'q' does not exist"),
        (["report", "net.json", "--method", "gsmn"], "--method is for learning; 'net.json' is a saved result"),
        (["report", "net.json", "--missing-value", "?"], "--missing-value is for learning; 'net.json' is a saved"),
        (["report", "net.json", "--data", "DATA", "--weights", "w"], "--data are read as when it was learned. Drop it"),
        (["plot", "DATA", "-o", "net.jpg"], "--out must end in .png, .svg, .pdf; got 'net.jpg'"),
        (["plot", "DATA", "-o", "net.png", "--kind", "heatmp"], "Did you mean 'heatmap'"),
        (["plot", "DATA", "-o", "net.png", "--kind", "stability", "--method", "gsmn"], "needs frequencies"),
        (["plot", "DATA", "-o", "net.png", "--method", "gsmn", "--group", "a,b"], "--group must be NAME=COL,COL"),
        (["plot", "DATA", "-o", "net.png", "--method", "gsmn", "--group", "x=q"], "variable 'q' does not exist"),
        (["plot", "DATA", "-o", "net.png", "--method", "gsmn", "--label", "a"], "--label must be COL=TEXT; got 'a'"),
        (["plot", "DATA", "-o", "net.png", "--method", "gsmn", "--layout", "ring"], "--layout 'ring' does not exist"),
        (
            ["plot", "DATA", "-o", "net.png", "--method", "gsmn", "--node-size", "big"],
            "--node-size 'big' does not exist",
        ),
        (["plot", "DATA", "-o", "net.png", "--difference", "no.json"], "no.json"),
        (["plot", "DATA", "-o", "."], "--out must be a file; '.' is a directory"),
        (["plot", "DATA", "-o", "folder.png"], "--out must be a file; 'folder.png' is a directory"),
        (["learn", "DATA", "--plot", "net.gif"], "--plot must end in .png, .svg, .pdf; got 'net.gif'"),
        (["learn", "DATA", "--report", "nowhere/out.html"], "--report must be in an existing folder"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(
    run: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    assert message in run(*[table if word == "DATA" else word for word in words]).refusal()
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("bokeh", ["report", "-o", "out.html"], "mnlearn[report]"),
        ("jinja2", ["learn", "--report", "out.html"], "mnlearn[report]"),
        ("matplotlib", ["plot", "-o", "net.png"], "mnlearn[plot]"),
        ("matplotlib", ["learn", "--plot", "net.png"], "mnlearn[plot]"),
    ],
)
def test_a_missing_extra_is_named_before_learning(
    run: Any, table: Path, monkeypatch: pytest.MonkeyPatch, module: str, words: list[str], extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(mnlearn.learning, "learn", lambda *_, **__: pytest.fail("it learned first"))
    assert extra in run(words[0], table, *words[1:]).refusal()


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("words", [("report", "-o", "out.html"), ("plot", "-o", "out.svg")])
def test_ctrl_c_before_the_first_sample_writes_the_whole_network(
    run: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    real = mnlearn.Learned.bootstrap

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.Learned, "bootstrap", pressed)
    monkeypatch.chdir(tmp_path)
    done = run(words[0], table, *words[1:], "--bootstrap", 20, "--jobs", 1)
    assert done.code == 130
    assert "interrupted: the network is complete, without frequencies" in done.err
    assert (tmp_path / words[2]).exists()


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_writes_the_report_of_the_best_so_far(
    run: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mnlearn.learning.learn

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.learning, "learn", pressed)
    done = run("report", table, "-o", tmp_path / "out.html")
    assert done.code == 130
    assert "interrupted" in done.err
    assert "The search was stopped early" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_the_surroundings_of_a_column(run: Any, table: Path, tmp_path: Path) -> None:
    words = ["plot", table, "--method", "gsmn", "--out", tmp_path / "near.svg"]
    done = run(*words, "--around", "a", "--distance", "2")
    assert (done.code, done.err) == (0, "")
    assert "within 2 edges of a" in (tmp_path / "near.svg").read_text(encoding="utf-8")
    assert run(*words, "--around", "a", "--json").document()["variables"] < 4  # those of the picture
    (tmp_path / "near.svg").unlink()
    assert "--distance is for --around; got 2 without it" in run(*words, "--distance", "2").refusal()
    assert "e" in run(*words, "--around", "e").refusal()
    assert not list(tmp_path.iterdir())
