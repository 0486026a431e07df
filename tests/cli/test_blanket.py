"""`mnlearn blanket`: the blanket of one column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn.simulate import example


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    columns = example(1000, seed=1).columns()
    path = tmp_path_factory.mktemp("blanket") / "survey.csv"
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_prints_the_members_and_what_comes_next(run: Any, survey: Path) -> None:
    done = run("blanket", survey, "fatigue")
    assert done.code == 0, done.err
    assert "blanket of fatigue: 2 of 11 variables, by sep from 1,000 rows" in done.out
    assert done.out.index("poor_sleep") < done.out.index("not a member") < done.out.index("headaches")
    by_tests = run("blanket", survey, "fatigue", "--alpha", "0.001", "--column", "poor_sleep", "--column", "stress")
    assert "1 of 2 variables, by gsmn* with chi2 (alpha 0.001, dof observed)" in by_tests.out


def test_json_is_the_document_of_the_result(run: Any, survey: Path) -> None:
    found = run("blanket", survey, "fatigue", "--method", "sep", "--set", "effort=standard", "--json").document()
    assert [one["name"] for one in found["members"]] == ["poor_sleep", "exercise"]
    assert found["settings"]["effort"] == "standard"
    assert (found["target"], found["variables"], found["rows"]) == ("fatigue", 12, 1000)


def test_refusals_name_the_way_out(run: Any, survey: Path) -> None:
    assert "Did you mean 'fatigue'" in run("blanket", survey, "fatige").refusal()
    assert "mpl learns whole networks only" in run("blanket", survey, "fatigue", "--method", "mpl").refusal()
