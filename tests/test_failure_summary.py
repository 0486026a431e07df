"""A run of the tests that fails ends with every failure and its reason; skipped tests are counted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FAILING = """
import pytest

def test_of_numbers_whose_name_leaves_no_room_for_a_reason_on_a_line_of_eighty_characters():
    assert 1 == 2, "numbers differ"

@pytest.fixture
def broken():
    raise RuntimeError("no fixture")

def test_setup(broken):
    pass

@pytest.mark.parametrize("n", range(9))
def test_skipped(n):
    pytest.skip("not here")
"""


REASONS = """\
FAILED test_a.py::test_of_numbers_whose_name_leaves_no_room_for_a_reason_on_a_line_of_eighty_characters
    AssertionError: numbers differ
    assert 1 == 2
    {file}:5
"""
ERROR = """\
ERROR test_a.py::test_setup
    RuntimeError: no fixture
    {file}:9
"""
NOT_COLLECTED = """\
ERROR test_b.py
    ModuleNotFoundError: No module named 'nowhere'
"""


def printed(folder: Path, *options: str) -> tuple[str, str, str]:
    """Return what pytest prints about the tests of a folder: up to the failures, these, and the counts."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", *options]
    command += ["-c", str(TOP / "pyproject.toml"), "--rootdir", str(folder), str(folder)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, cwd=folder, env=environment, timeout=120
    )
    assert done.returncode == 1, done.stdout + done.stderr
    before, _, after = done.stdout.partition(" failures and their reasons ")
    *lines, count = after.splitlines(keepends=True)[1:]
    return before, "".join(lines), count


def test_a_failing_run_ends_with_names_and_reasons(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(FAILING, encoding="utf-8")
    before, failures, count = printed(tmp_path)
    assert "not here" not in before
    assert failures == (REASONS + ERROR).format(file=file)
    assert count.startswith("1 failed, 9 skipped, 1 error in ")


def test_skipped_tests_come_before_the_failures_and_a_file_that_is_not_collected_has_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(FAILING, encoding="utf-8")
    (tmp_path / "test_b.py").write_text("import nowhere\n", encoding="utf-8")
    before, failures, count = printed(tmp_path, "-rs", "--continue-on-collection-errors")
    assert "SKIPPED [9] test_a.py:16: not here" in before
    assert failures == (REASONS + NOT_COLLECTED + ERROR).format(file=file)
    assert count.startswith("1 failed, 9 skipped, 2 errors in ")
