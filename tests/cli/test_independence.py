"""`mnlearn test`."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnlearn.learning import TESTS
from mnlearn.learning.tests import independence_test

KEYS = ["x", "y", "given", "test", "independent", "log_p", "statistic", "dof", "log_independent", "log_dependent"]
KEYS += ["low_expected", "transform", "n_rows", "n_incomplete", "warning"]


def _pair(test: str) -> tuple[str, str]:
    return ("height", "weight") if test.endswith("pcor") else ("a", "c")


@pytest.mark.parametrize("test", TESTS)
def test_json_equals_the_result_of_the_library(run: Any, survey: Path, test: str) -> None:
    x, y = _pair(test)
    document = run("test", survey, x, y, "--test", test, "--json").document()
    assert list(document) == KEYS
    assert document == independence_test(survey, x, y, test=test).to_dict()


def test_options_reach_the_library(run: Any, survey: Path) -> None:
    asked = run("test", survey, "a", "c", "--given", "b", "-g", "coin", "--dof", "all", "--test", "g2", "--json")
    assert asked.document() == independence_test(survey, "a", "c", ["b", "coin"], test="g2", dof="all").to_dict()
    drawn = run("test", survey, "a", "coin", "--test", "mi", "--permutations", 19, "--seed", 5, "--json")
    assert drawn.document() == independence_test(survey, "a", "coin", test="mi", n_permutations=19, seed=5).to_dict()
    weighed = run("test", survey, "a", "coin", "--test", "bayes", "--prior", 0.01, "--json").document()
    assert weighed["log_independent"] < math.log(0.5)
    assert not weighed["independent"]
    cut = run("test", survey, "height", "coin", "--discretize", "frequency", "--bins", 3, "--json").document()
    assert (cut["test"], cut["dof"]) == ("chi2", 2)


def test_reading_options_reach_the_library(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("a\tb\tn\tw\n0\t0\t1.0\t3\n1\t1\t2.0\t3\n0\t0\t1.0\t3\n1\t1\t2.0\t3\n?\t0\t1.0\t9\n")
    found = run(
        "test", path, "a", "b", "--delimiter", "\\t", "--missing-value", "?", "--missing", "drop_rows", "--json"
    )
    assert found.document()["statistic"] == pytest.approx(4.0)
    assert found.err == "note: missing: 'a' 1; rows dropped: 1\n"
    repeated = run("test", path, "b", "n", "--delimiter", "tab", "--repeats", "w", "--categorical", "n", "--json")
    assert repeated.document()["statistic"] == pytest.approx(21.0)
    numbers = run("test", path, "b", "n", "--delimiter", "\t", "--continuous", "b", "--json")
    assert numbers.document()["test"] == "pcor"


def test_text_shows_the_numbers_and_the_decision(run: Any, survey: Path) -> None:
    shown = run("test", survey, "a", "c", "--given", "b").out.splitlines()
    lines = dict(line.split("  ", 1) for line in shown)
    lines = {label: text.strip() for label, text in lines.items()}
    expected = independence_test(survey, "a", "c", ["b"])
    assert lines["question"] == "a and c"
    assert lines["given"] == "b"
    assert lines["test"] == "chi2 (Pearson's chi-square)"
    assert float(lines["statistic"]) == pytest.approx(expected.statistic, rel=1e-5)
    assert lines["degrees of freedom"] == "2"
    assert lines["log p"].startswith(f"{expected.log_p:.6g} (p = ")
    assert lines["decision"] == "independent: p > 0.05"


@pytest.mark.parametrize(
    ("options", "decision"),
    [
        ([], "dependent: p <= 0.05"),
        (["--alpha", "1e-90"], "independent: p > 1e-90"),
        (["--test", "bayes"], "dependent: P(independent) <= P(dependent)"),
        (["--test", "mi", "--threshold", "0.5"], "independent: statistic <= 0.5"),
        (["--test", "mi", "--threshold", "0.01"], "dependent: statistic > 0.01"),
    ],
)
def test_decision_has_its_rule(run: Any, survey: Path, options: list[str], decision: str) -> None:
    shown = run("test", survey, "a", "c", *options)
    assert shown.code == 0
    label, rule = shown.out.splitlines()[-1].split(maxsplit=1)
    assert (label, rule) == ("decision", decision)


@pytest.mark.parametrize("test", TESTS)
def test_constant_column_is_independent_except_for_the_tie(run: Any, survey: Path, test: str) -> None:
    x, y = ("level", "height") if test.endswith("pcor") else ("fixed", "a")
    found = run("test", survey, x, y, "--test", test, "--json").document()
    if test == "bayes":
        assert found["independent"] is False
        assert found["log_independent"] == found["log_dependent"] == pytest.approx(math.log(0.5))
    else:
        assert found["independent"] is True
        assert found["log_p"] == (None if test in ("score", "bayes-pcor") else 0.0)


def test_tiny_p_values_are_shown(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "copies.csv"
    path.write_text("a,b\n" + "0,0\n1,1\n" * 5000)
    assert "(p = " in run("test", path, "a", "b").out
    assert "e-" in run("test", path, "a", "b").out
    assert run("test", path, "a", "b", "--json").document()["log_p"] < -4000


@pytest.mark.parametrize("name", ["[red]x", "<script>alert(1)</script>", "größe ⟂ 名前", "a b", "{x}", ":smile:"])
def test_names_are_printed_unchanged(run: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "names.csv"
    path.write_text(f"{name},b,[/bold]\n0,0,1\n1,1,1\n0,1,0\n", encoding="utf-8")
    shown = run("test", path, name, "b", "--given", "[/bold]")
    assert shown.code == 0
    assert f"{name} and b" in shown.out
    assert "[/bold]" in shown.out
    assert run("test", path, name, "b", "--json").document()["x"] == name


def test_control_characters_are_escaped(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("\x1b[31mred,b\n0,0\n1,1\n", encoding="utf-8")
    shown = run("test", path, "\x1b[31mred", "b")
    assert "\x1b" not in shown.out
    assert "\\x1b[31mred and b" in shown.out
    assert "\x1b" not in run("test", path, "\x1b[32m", "b").refusal()


def test_names_that_look_like_options_follow_two_dashes(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("--debug,-b\n0,0\n1,1\n0,1\n", encoding="utf-8")
    assert run("test", "--json", "--", path, "--debug", "-b").document()["y"] == "-b"


def test_small_expected_counts_are_warned_of(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "few.csv"
    data.write_text("a,b,c\n" + "0,0,0\n1,1,0\n0,1,1\n1,0,1\n" * 3)
    shown = run("test", data, "a", "b", "--given", "c").out.splitlines()
    assert shown[-1].split(maxsplit=1) == [
        "warning",
        "100 % of the expected counts are below 5, so p is rough: Cochran's rule allows 20 %",
    ]
    document = run("test", data, "a", "b", "--given", "c", "--json").document()
    assert document["low_expected"] == 1.0
    assert document["warning"].startswith("100 % of the expected counts are below 5")
    assert "warning" not in run("test", data, "a", "b", "--test", "bayes").out


def test_rows_left_out_are_shown(run: Any, survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = replace(independence_test(survey, "a", "c"), n_rows=1300, n_incomplete=20)
    monkeypatch.setattr("mnlearn.learning.tests.independence_test", lambda *_, **__: found)
    assert "1,300 complete, 20 lack a value" in run("test", survey, "a", "c").out
    assert "lack a value" in str(found)
