"""`mnlearn centrality` and `mnlearn stability`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Run = Any


def test_centrality_of_data_and_of_a_result(run: Run, data: Path, tmp_path: Path) -> None:
    shown = run("centrality", data, "--method", "mpl")
    assert shown.code == 0
    assert "bridge strength" in shown.out or "bridge" in shown.out
    assert shown.out.splitlines()[0].endswith("by mpl")
    document = run("centrality", data, "--method", "mpl", "--z", "--json").document()
    assert sum(row["strength"] for row in document["variables"]) == pytest.approx(0.0, abs=1e-9)
    run("learn", data, "--method", "mpl", "--out", tmp_path / "net.json")
    again = run("centrality", tmp_path / "net.json", "--z", "--json").document()
    assert [row["variable"] for row in again["variables"]] == [row["variable"] for row in document["variables"]]


def test_groups_are_named_on_the_command_line(run: Run, data: Path) -> None:
    found = run("centrality", data, "--method", "mpl", "--group", "mood=stress,low_mood", "--json").document()
    assert {row["group"] for row in found["variables"]} == {"mood", None}
    assert (
        "'stres' does not exist"
        in run("centrality", data, "--method", "mpl", "--group", "mood=stres,low_mood").refusal()
    )
    assert "--group must be NAME=COL,COL; got 'mood'" in run("centrality", data, "--group", "mood").refusal()


def test_stability_prints_intervals_and_cs_coefficients(run: Run, data: Path, tmp_path: Path) -> None:
    picture = tmp_path / "edges.svg"
    shown = run("stability", data, "--method", "mpl", "--fixed", "--samples", 28, "--plot", picture, "--jobs", 1)
    assert shown.code == 0
    assert "95% intervals of" in shown.out
    assert "strength: 0.75" in shown.out
    assert shown.out.splitlines()[-1] == f"wrote {picture}"
    assert picture.exists()
    assert "28 samples take about" in shown.err
    found = run("stability", data, "--method", "mpl", "--fixed", "--samples", 28, "--part", "cases", "--json")
    assert found.document()["cases"]["cs_coefficient"]["strength"] == 0.75
    assert "intervals" not in found.document()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--part", "some"), "--part 'some' does not exist"),
        (("--kind", "edge"), "kind of picture 'edge' does not exist"),
        (("--plot", "x.gif"), "--plot must end in"),
        (("--plot", "x.svg", "--kind", "cases", "--part", "intervals"), "--kind cases needs --part cases or both"),
        (("--level", "95", "--fixed"), "--level must be a number between 0 and 1"),
        (("--samples", "1", "--fixed", "--part", "intervals"), "--samples must be a whole number, at least 2"),
        (("--samples", "13", "--fixed"), "--samples must be a whole number, at least 14"),
    ],
)
def test_bad_options_are_refused(run: Run, data: Path, words: tuple[str, ...], message: str) -> None:
    assert run("stability", data, "--method", "mpl", *words).refusal().startswith(message)


@pytest.mark.parametrize("command", ["centrality", "stability", "predictability"])
def test_options_without_effect_are_refused(run: Run, data: Path, tmp_path: Path, command: str) -> None:
    assert "no such option: --bootstrap" in run(command, data, "--bootstrap", 5).refusal()
    run("learn", data, "--method", "mpl", "--out", tmp_path / "net.json")
    saved = [command, tmp_path / "net.json", "--data", data]
    for option in ("--weights", "--repeats", "--missing-value", "--categorical"):
        refused = run(*saved, option, "stress").refusal()
        assert refused.startswith(f"{option} is for learning; ")
        assert refused.endswith("Drop it, or name the data file instead.")
