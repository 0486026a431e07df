"""mnlearn screen: pairs printed, a file written, errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mnlearn as mn
from mnlearn.cli.app import main


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rows = ["rain,wet,monday", *(f"{k // 2 % 2},{k // 2 % 2},{k % 2}" for k in range(80))]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_prints_and_writes(survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "screen.mns"
    assert main(["screen", str(survey), "-k", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "3 variables, 80 rows, 1 pair by g2, k=1" in printed
    assert "rain" in printed
    assert mn.load_screen(out).strongest("rain")[0][0] == "wet"


def test_json(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["screen", str(survey), "--threshold", "10.83", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["k"], document["least"], document["pairs"]) == (None, 10.83, 1)
    assert document["strongest"][0] == {"u": "rain", "v": "wet", "evidence": pytest.approx(110.9035)}


def test_nothing_found(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["screen", str(survey), "--threshold", "500"]) == 0
    assert "no pair" in capsys.readouterr().out


@pytest.mark.parametrize(
    "extra", [["-k", "0"], ["--k", "0"], ["--threshold", "-1"], ["--statistic", "g3"], ["--out", "/"]]
)
def test_bad_options(survey: Path, extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["screen", str(survey), *extra]) == 2
    assert capsys.readouterr().err.startswith("error: ")
