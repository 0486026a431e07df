"""Every benchmark runs at tiny sizes, and pages name only benchmarks that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import timing
from cases.accuracy import errors
from cases.analysis import compared
from harness import load, main, parser_of, run, text
from mnlearn.data import Dataset
from mnlearn.graphs import Graph
from mnlearn_papers.experiment import Row
from mnlearn_papers.mixed import SECTIONS, Case, cases

TOP = Path(__file__).parents[3]
CASES = load()
LONG = {"default-pyagrum", "large-graphs", "mixed-speed", "packs", "reading", "reading-memory", "sep-scale", "startup"}
LONG |= {"false-edges", "l1lr"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in CASES])
@pytest.mark.filterwarnings("default")
def test_every_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNLEARN_CORE", "")
    if missing := CASES[name].missing():
        pytest.skip(f"needs {', '.join(missing)}")
    rows = list(run(CASES[name], quick=True))
    assert rows or name in ("battery", "dream")
    assert all(text(value) is not None for row in rows if not isinstance(row, str) for value in row.values())


def test_the_list_and_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    listed = capsys.readouterr().out
    assert all(re.search(rf"^{name} +\S", listed, flags=re.MULTILINE) for name in CASES)
    main(["moments", "--quick", "--given", "2"])
    head, rule, *rows = capsys.readouterr().out.splitlines()
    assert head == "| way | µs a pair | times as long |"
    assert rule == "| --- | --- | --- |"
    assert [row.split(" | ")[0] for row in rows][:2] == ["| one scan", "| tests of one scan"]
    with pytest.raises(SystemExit, match="no benchmark is named momentum"):
        main(["momentum"])


def test_the_folder_is_a_program() -> None:
    command = [sys.executable, str(TOP / "papers" / "benchmarks"), "gsimn-accuracy", "--quick", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert '"gsmn*"' in done.stdout


def commands() -> list[tuple[str, str]]:
    """Return the pages and the commands that they name."""
    pages = [*(TOP / "docs").rglob("*.md"), TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "Makefile"]
    pages += [*(TOP / "src").rglob("*.py"), *(TOP / "native").rglob("*.[ch]pp")]
    pattern = re.compile(r"papers/benchmarks ([a-z][^`\n)]*)")
    return [(page.name, one) for page in pages for one in pattern.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "command"), commands())
def test_pages_name_benchmarks_and_options_that_exist(page: str, command: str) -> None:
    words = re.split(r"\s+[>#]", command)[0].split()
    options = next((k for k, word in enumerate(words) if word.startswith("-")), len(words))
    assert set(words[:options]) <= set(CASES), f"{page} names {command}"
    for name in words[:options]:
        parser_of(name, CASES[name]).parse_args(words[options:])


def test_no_page_names_a_script_of_the_benchmarks() -> None:
    pages = [*(TOP / "docs").rglob("*.md"), TOP / "README.md", TOP / "CONTRIBUTING.md", *(TOP / "src").rglob("*.py")]
    named = [page for page in pages if re.search(r"benchmarks/\w+\.py", page.read_text(encoding="utf-8"))]
    assert not named


def test_the_least_time_of_runs_that_take_turns() -> None:
    calls: list[str] = []
    found = timing.turns(lambda: calls.append("a"), lambda: sum(range(20_000)), repeats=3)
    assert 0 < found[0] < found[1]
    seconds, answer = timing.cpu(lambda: 7)
    assert answer == 7
    assert seconds < 1e-3


def test_errors_by_group_and_differences_to_the_first_learner() -> None:
    rows = [Row("s", 10, k, name, h, f, h - f, 0.1) for k in (0, 1) for name, h, f in (("b", 4 + k, 1), ("a", 2, 2))]
    found = list(errors(rows, lambda row: (row.source,), ("a", "b")))
    assert found[0] == {"data": "s", "data sets": 2, "a": "2.0 (2.0)", "b": "4.5 (1.0)", "b − a": "+2.5 ± 0.5"}
    assert found[1] == {**found[0], "data": "all"}


def test_order_of_states_saves_errors() -> None:
    wanted = [case for case in cases("ordinal", 1, 2) if case.n_rows == 500]
    found: dict[str, list[int]] = {reading: [] for reading in SECTIONS["ordinal"].readings}
    for case in wanted:
        truth, tables = case.tables(timing.data_folder())
        for reading, data in tables.items():
            found[reading].append(compared(case, reading, truth, data, {}).hamming)
    assert np.mean(found["mnlearn"]) <= np.mean(found["nominal"])


def test_a_table_without_rows_counts_as_the_empty_graph_and_a_refusal_as_no_number() -> None:
    case = Case("missing", "stars", "stars", 30, "40 %", 1)
    truth, tables = case.tables(timing.data_folder())
    assert tables["dropped"] is None
    empty = compared(case, "dropped", truth, None, {})
    assert (empty.hamming, empty.false_positives) == (60, 0)
    refused = compared(case, "category", Graph(1), Dataset.from_codes([[0]], cards=[1]), {})
    assert refused.hamming < 0
