"""The build: warnings of compilers, and what `make` says while it works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("options", [(), ("-DMNLEARN_WERROR=ON",)])
def test_compiler_warnings_are_errors_only_on_request(tmp_path: Path, options: tuple[str, ...]) -> None:
    command = [
        tool("cmake"),
        "-S",
        str(TOP),
        "-B",
        str(tmp_path),
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
    ]
    subprocess.run([*command, f"-DPython_EXECUTABLE={sys.executable}", *options], check=True, capture_output=True)
    flags = [line for line in (tmp_path / "build.ninja").read_text().splitlines() if "FLAGS = " in line]
    assert ("-Werror" in " ".join(flags)) == bool(options)


@pytest.mark.parametrize("status", [0, 3])
def test_progress_is_said_and_the_output_shown_where_a_command_fails(tmp_path: Path, status: int) -> None:
    log = tmp_path / "log"
    command = f"print('  [3/7] Building CXX object scan.cpp.o'); raise SystemExit({status})"
    done = subprocess.run(
        [sys.executable, TOP / ".ci/progress", log, sys.executable, "-c", command],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    assert done.stdout.startswith("Native core: compiling, step 3 of 7")
    assert ("scan.cpp.o" in done.stdout) == (str(log) in done.stdout) == bool(status)
    assert "scan.cpp.o" in log.read_text()
