"""`mnlearn pack`, and packs as the data of other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnlearn.cli import main
from mnlearn.data import read, write_data
from mnlearn.simulate import example


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    write_data(example(800, seed=3), tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


def test_a_pack_is_data_for_every_command(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = survey.with_suffix(".mnpack")
    assert main(["pack", str(survey), "-o", str(packed)]) == 0
    assert "survey.mnpack: 800 rows, " in capsys.readouterr().out
    commands = [["learn", "--method", "mpl"], ["learn", "--method", "gsimn"], ["learn"], ["info"]]
    for verb, *rest in commands:
        answers = []
        for data in (survey, packed):
            assert main([verb, str(data), *rest, "--json"]) == 0
            answers.append(json.loads(capsys.readouterr().out))
        for answer in answers:
            answer.pop("cost", None)
            answer.pop("source", None)
        assert answers[0] == answers[1], verb


def test_rows_are_appended_and_levels_declared(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = survey.with_suffix(".mnpack")
    name = read(survey).names[0]
    first = ["pack", str(survey), "-o", str(packed), "--column", name, "--column", read(survey).names[1]]
    assert main([*first, "--levels", f"{name}=1,0"]) == 0
    assert main(["pack", str(survey), "-o", str(packed), "--append", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["rows"] == 1600
    assert read(packed).levels[0] == ("1", "0")


def test_what_cannot_be_packed_is_refused(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", str(survey), "-o", "survey.csv"]) == 2
    assert "out must end in .mnpack" in capsys.readouterr().err
    assert main(["pack", str(survey), "-o", "s.mnpack", "--levels", "x"]) == 2
    assert "--levels must have the form COL=A,B; got 'x'" in capsys.readouterr().err
