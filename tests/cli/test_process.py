"""The program as a separate process: streams, exit codes, pipes, start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mnlearn

SOURCE = str(Path(mnlearn.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONWARNINGS": "error"}


def _mnlearn(*words: object, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mnlearn", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        env={**ENVIRONMENT, **settings},
    )


def test_success(survey: Path) -> None:
    done = _mnlearn("test", survey, "a", "c", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["independent"] is False


def test_refusal(survey: Path) -> None:
    done = _mnlearn("test", survey, "a", "cc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: column 'cc' does not exist.")
    assert done.stderr.count("\n") == 1


def test_a_narrow_encoding(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("größe 名,b\n0,0\n1,1\n", encoding="utf-8")
    done = _mnlearn("info", path, PYTHONIOENCODING="ascii", PYTHONUTF8="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr\\xf6\\xdfe \\u540d" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
def test_a_reader_that_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = [[f"variable_{j}" for j in range(3000)], ["0"] * 3000, ["1"] * 3000]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    with subprocess.Popen(
        [sys.executable, "-m", "mnlearn", "info", str(path), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_help_loads_nothing_heavy() -> None:
    heavy = ["numpy", "scipy", "pyarrow", "pandas", "polars", "narwhals", "networkx", "mnlearn._core"]
    program = (
        "import sys, mnlearn.cli; code = mnlearn.cli.main(['learn', '--help']) or mnlearn.cli.main(['--help']); "
        f"print(sorted(set({heavy}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
