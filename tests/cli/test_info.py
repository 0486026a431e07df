"""`mnlearn info`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnlearn.data import overview


def test_json_is_the_overview(run: Any, survey: Path) -> None:
    document = run("info", survey, "--json").document()
    keys = ["n_rows", "n_records", "variables", "constant", "duplicated", "duplicate_rows", "unused", "far_from_normal"]
    assert list(document) == [*keys, "incomplete_rows", "unsettled", "complete_rows"]
    assert document["n_rows"] == 200
    assert document["constant"] == ["fixed", "level"]
    assert document["duplicated"] == [["a", "copy"]]
    assert [variable["type"] for variable in document["variables"]] == ["categorical"] * 6 + ["continuous"] * 3
    assert [v["name"] for v in document["variables"]] == [v.name for v in overview(survey).variables]


def test_text_has_remarks(run: Any, survey: Path) -> None:
    shown = run("info", survey)
    assert shown.code == 0
    assert shown.out.startswith("200 rows, 9 variables\n")
    assert "constant: fixed, level" in shown.out
    assert "duplicated: a = copy" in shown.out
    lines = {line.split()[0]: line.split() for line in shown.out.splitlines() if line.strip()}
    assert lines["coin"][1:] == ["nominal", "words", "2", "heads", "(100)"]
    assert lines["fixed"][1:] == ["nominal", "words", "1", "constant:", "same", "(200)"]
    assert lines["height"][1:] == ["continuous", "decimal", "numbers", "0.05", "to", "10.05"]
    assert "\x1b" not in shown.out
    assert all(line == line.rstrip() for line in shown.out.splitlines())


def test_missing_values_are_counted_or_treated(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("a,b,c,d\n0,,?,NA\n1,x,0,u\n0,y,1,v\n1,x,0,u\n")
    shown = run("info", path, "--missing-value", "?")
    assert "missing: b 1, c 1, d 1" in shown.out
    assert "maybe missing: d (NA), declare them with --missing-value" in shown.out
    document = run("info", path, "--missing-value", "?", "--json").document()
    assert [variable["missing"] for variable in document["variables"]] == [0, 1, 1, 1]
    left = run("info", path, "--missing-value", "?", "--missing-value", "NA", "--missing", "drop_rows", "--json")
    assert left.document()["n_rows"] == 3
    assert left.err == "note: missing: 'b' 1, 'c' 1, 'd' 1; rows dropped: 1\n"


def test_an_empty_column_is_shown(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("a,b\n0,\n1,\n")
    assert "no value" in run("info", path).out
    assert run("info", path, "--json").document()["variables"][1]["type"] == "empty"


def test_infinity_is_a_string_in_json(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n0.5,0\n1.5,1\ninf,0\n")
    assert run("info", path, "--json").document()["variables"][0]["high"] == "inf"
    assert "0.5 to inf" in run("info", path).out


def test_wide_data_are_summarised(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"v{j}" for j in range(1000)]
    rows = [[str((i * (j % 5 + 1)) % (j % 3 + 2)) for j in range(1000)] for i in range(8)]
    rows[0][:20] = [""] * 20
    path.write_text("\n".join([",".join(names), *map(",".join, rows)]) + "\n")
    short = run("info", path).out
    assert len(short.splitlines()) < 20
    assert "8 rows, 1,000 variables" in short
    assert "1 to 4" in short
    assert "use --all to list them" in short
    assert all(len(line) < 600 for line in short.splitlines())
    assert "and 12 more" in short
    full = run("info", path, "--all").out
    assert all(f" {name} " in full for name in names)
    assert "--all" not in full


def test_repeats_count_as_rows(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "weighted.csv"
    path.write_text("a,b,n\n0,0,10\n1,1,5\n")
    assert run("info", path, "--repeats", "n").out.startswith("15 rows (2 stored), 2 variables\n")
    path.write_text("a,b,n\n0,0,10\n1,1,5\n2,,0\n0,0,0\n")
    seen = run("info", path, "--repeats", "n", "--json").document()
    assert (seen["n_rows"], seen["n_records"], seen["duplicate_rows"]) == (15, 2, 0)
    assert [(variable["cardinality"], variable["missing"]) for variable in seen["variables"]] == [(2, 0), (2, 0)]


def test_names_are_printed_unchanged(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("[red]x,<script>,[/]\n[blue]0,0,0\n[blue]0,0,0\n\x1b[2J,0,1\n", encoding="utf-8")
    shown = run("info", path).out
    for name in ("[red]x", "<script>", "[/]", "[blue]0 (2)"):
        assert name in shown
    assert "constant: <script>" in shown
    assert "\x1b" not in shown


def test_gaps_that_depend_on_other_columns_are_noted(run: Any, tmp_path: Path) -> None:
    gaps = ["" if k % 2 else "xy"[k % 3 > 0] for k in range(120)]
    rows = [f"{k % 7}.5,{'ab'[k % 2]}" + f",{gap}" * 7 for k, gap in enumerate(gaps)]
    (tmp_path / "a.csv").write_text("\n".join(["age,ward," + ",".join(f"pain{k}" for k in range(7)), *rows]))
    found = run("info", tmp_path / "a.csv", "--missing", "testwise")
    assert "note: whether pain0 is missing depends on ward\n" in found.err
    assert "note: so it does for 2 other variables: mnlearn.missingness lists them" in found.err
