"""Configuration files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest


def test_a_run_is_repeated_from_its_file(run: Any, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    columns = [word for name in ("stress", "low_mood", "fatigue") for word in ("--column", name)]
    words = [
        "--method",
        "bjp",
        "--set",
        "patience=2",
        "--forbidden",
        "stress,low_mood",
        "--all",
        "--prior",
        "0.4",
        *columns,
    ]
    first = run("learn", data, *words, "--save-config", config)
    assert first.code == 0, first.err
    saved = tomllib.loads(config.read_text(encoding="utf-8"))
    assert saved == {
        "data": str(data),
        "method": "bjp",
        "forbidden": ["stress,low_mood"],
        "prior": 0.4,
        "set": {"patience": 2},
        "column": ["stress", "low_mood", "fatigue"],
        "all": True,
    }
    assert run("learn", "--config", config).out == first.out
    assert run("learn", "--config", config, "--method", "ib").out != first.out  # the command line counts more
    assert run("why", "--config", config, "x", "y").code == 2


def test_names_may_have_underscores_and_numbers_may_be_numbers(run: Any, data: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('method = "gsmn"\nalpha = 0.01\nbootstrap = 3\nbootstrap_seed = 5\njobs = 1\njson = true\n')
    document = run("learn", data, "--config", config).document()
    assert (document["settings"]["alpha"], document["resampling"]["seed"]) == (0.01, 5)


def test_any_name_survives_the_file(run: Any, tmp_path: Path) -> None:
    name = "q\"uo'te\\ \x7f\tü ☃"
    path = tmp_path / "odd.csv"
    path.write_text(f'"{name.replace(chr(34), chr(34) * 2)}",b,c\n' + "0,1,0\n1,0,0\n1,1,1\n" * 20, encoding="utf-8")
    done = run(
        "learn", path, "--method", "gsmn", "--column", name, "--column", "b", "--save-config", tmp_path / "c.toml"
    )
    assert done.code == 0, done.err
    assert tomllib.loads((tmp_path / "c.toml").read_text(encoding="utf-8"))["column"] == [name, "b"]
    assert run("learn", "--config", tmp_path / "c.toml").out == done.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('metod = "mpl"', "option 'metod' does not exist. Did you mean 'method'"),
        ('config = "x"', "option 'config' does not exist"),
        ("method = ", "is not valid TOML"),
        ("all = 1", "all must be true or false; got 1"),
        ("method = true", "method must be a string or a number; got True"),
        ('bins = ["3"]', "bins must be a string or a number"),
        ('column = [["a"]]', "column must be a list of strings"),
        ('bins = "many"', "--bins"),
        ('method = "gsim"', "method 'gsim' does not exist. Did you mean 'gsimn'"),
        ("[set]\ncombine = 3", "combine"),
        ("[set]\ncombine = 2020-01-01", "[set] must hold names without '='"),
        ('[set]\n"combine=x" = 1', "[set] must hold names without '='"),
        ("bins = " + "[" * 100_000, "must not be nested so deeply"),
        ("a." * 50_000 + "a = 1", "must have keys of at most 100 parts; line 1 has more"),
        ("x = {" + "a." * 50_000 + "a = 1}", "must have keys of at most 100 parts"),
        ("bins = " + "9" * 5000, "is not valid TOML"),
        ("#" * (1 << 20) + "\n", "must have at most 1,048,576 bytes"),
        ("bins = \0", "is not valid TOML"),
    ],
)
def test_bad_files_are_refused(run: Any, data: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.toml").write_text(text)
    assert message in run("learn", data, "--config", tmp_path / "run.toml").refusal()


def test_files_that_cannot_be_read_or_written_are_refused(run: Any, data: Path, tmp_path: Path) -> None:
    assert (
        "--config must be an existing file; there is no"
        in run("learn", data, "--config", tmp_path / "none.toml").refusal()
    )
    refusal = run("learn", data, "--save-config", tmp_path / "none" / "run.toml").refusal()
    assert "--save-config must be in an existing folder" in refusal


def test_a_refused_run_saves_no_file(run: Any, data: Path, tmp_path: Path) -> None:
    assert "no setting" in run("learn", data, "--set", "swops=true", "--save-config", tmp_path / "run.toml").refusal()
    assert not (tmp_path / "run.toml").exists()
