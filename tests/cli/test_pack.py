"""`mnlearn pack`, and packs as the data of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn.data import pack, read, write_data
from mnlearn.simulate import example


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    write_data(read(example(800, seed=3).columns()), tmp_path / "answers.csv")
    return tmp_path / "answers.csv"


@pytest.mark.parametrize("words", [["learn", "--method", "mpl"], ["learn", "--method", "gsimn"], ["learn"], ["info"]])
def test_commands_read_a_pack(run: Any, answers: Path, words: list[str]) -> None:
    packed = answers.with_suffix(".mnpack")
    assert "answers.mnpack: 800 rows, 12 variables" in run("pack", answers, "-o", packed).out
    command, *rest = words
    one, other = (run(command, data, *rest, "--json").document() for data in (answers, packed))
    for document in (one, other):
        document.pop("cost", None)
        document.pop("source", None)
    assert one == other


def test_rows_are_added_and_levels_declared(run: Any, answers: Path) -> None:
    packed = answers.with_suffix(".mnpack")
    first, second, *_ = read(answers).names
    labels = [str(label) for label in reversed(read(answers).levels[0] or ())]
    chosen = ("--column", first, "--column", second, "--levels", f"{first}={','.join(labels)}")
    run("pack", answers, "-o", packed, *chosen, "--json").document()
    longer = answers.with_name("longer.mnpack")
    both = run("pack", packed, answers, "-o", longer, "--json").document()
    assert (both["rows"], both["variables"], both["file"]) == (1600, 2, str(longer))
    assert read(longer).levels[0] == tuple(labels)


def test_bad_packs_are_refused(run: Any, answers: Path) -> None:
    assert "must end in .mnpack" in run("pack", answers, "-o", "answers.csv").refusal()
    refused = run("pack", answers, "-o", answers.with_suffix(".mnpack"), "--levels", "x").refusal()
    assert "--levels must have the form COL=A,B; got 'x'" in refused


def test_a_pack_is_packed_again(run: Any, answers: Path) -> None:
    packed, again = answers.with_suffix(".mnpack"), answers.with_name("again.mnpack")
    name = read(answers).names[0]
    run("pack", answers, "-o", packed, "--levels", f"{name}=yes,no,maybe")
    run("pack", packed, "-o", again)
    assert again.read_bytes() == packed.read_bytes()
    assert "levels cannot be applied" in run("pack", packed, "-o", again, "--levels", f"{name}=yes,no").refusal()
    assert run("pack", packed, packed, "-o", again, "--json").document()["rows"] == 1600
    assert "--out must be another file than DATA" in run("pack", packed, answers, "-o", packed).refusal()


def test_every_command_with_data_takes_a_pack(run: Any, answers: Path) -> None:
    packed, folder = answers.with_suffix(".mnpack"), answers.parent
    run("pack", answers, "-o", packed)
    one, other, *_ = read(answers).names
    graph = folder / "g.edges.csv"
    run("learn", answers, "--method", "mpl", "--out", graph)
    run("fit", graph, answers, "--out", folder / "m.json")
    for command in (
        ["compare", "DATA", "--truth", graph, "--methods", "mpl"],
        ["compare-groups", "DATA", "--by", one, "--method", "mpl", "--permutations", 2, "--jobs", 1],
        ["fit", graph, "DATA", "--out", folder / "other.json"],
        ["predict", folder / "m.json", "DATA", one],
        ["score", "DATA", graph],
        ["test", "DATA", one, other],
        ["why", "DATA", one, other, "--method", "mpl"],
    ):
        told = [run(*(data if word == "DATA" else word for word in command), "--json") for data in (answers, packed)]
        assert _timeless(told[0].document()) == _timeless(told[1].document()), command


def _timeless(document: Any) -> Any:
    """Return a document without times and names of sources."""
    if isinstance(document, list):
        return [_timeless(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {key: _timeless(item) for key, item in document.items() if key not in ("seconds", "source", "data", "cost")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--categorical", "stress"],
            "--nominal, --ordinal, --count or --continuous cannot be applied to a Dataset or a pack",
        ),
        (["--missing-value", "?"], "--missing-value cannot be applied"),
        (["--repeats", "stress"], "--repeats cannot be applied"),
        (["--delimiter", ";"], "--delimiter cannot be applied"),
        (["--column", "nope"], "--column: column 'nope' does not exist"),
        (["--column", "stress"], "data must have at least 2 variables; columns names 1"),
        (["--column", "stress", "--column", "stress"], "--column must name each column once"),
    ],
)
def test_options_that_a_pack_cannot_take_are_named(
    run: Any, answers: Path, words: list[str], message: str, tmp_path: Path
) -> None:
    pack(answers, tmp_path / "t.mnpack")
    assert message in run("learn", tmp_path / "t.mnpack", *words).refusal()


def test_the_column_of_groups_is_named(run: Any, answers: Path, tmp_path: Path) -> None:
    pack(answers, tmp_path / "t.mnpack")
    for data in (answers, tmp_path / "t.mnpack"):
        for columns in ([], ["--column", "stress", "--column", "fatigue"]):
            refused = run("compare-groups", data, "--by", "nope", *columns).refusal()
            assert "by: column 'nope' does not exist" in refused


def test_errors_name_the_command_that_declares_levels(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n0.1,1\n0.10000000000000000001,2\n0.5,1\n")
    refused = run("learn", path, "--categorical", "a").refusal()
    assert refused.endswith("or declare them as strings: --levels COL=A,B.")
    levels = "a=0.1,0.10000000000000000001,0.5"
    assert run("pack", path, "-o", tmp_path / "t.mnpack", "--levels", levels, "--json").document()["rows"] == 3
