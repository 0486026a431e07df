"""The build of the native core: compiler warnings are errors for developers only."""

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
