"""Hypothesis profiles, the end of what pytest prints, and the fixtures that many tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from clusters import local_cluster
from default_signals import restored_signals
from failure_summary import summary
from mnlearn.cli import main
from profiles import FAST_EXAMPLES, FULL

# Examples repeat from run to run, and a busy machine misses no deadline.
settings.register_profile(
    "full", deadline=None, derandomize=True, print_blob=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=FAST_EXAMPLES)
settings.load_profile("full" if FULL else "fast")


# Tests of these files start worker processes; in one group they start them once.
USES_PROCESSES = {
    *("test_parallel.py", "test_spread.py", "test_jobs.py", "test_sharded.py", "test_compare_groups.py"),
    *("test_experiment.py", "test_critical.py", "test_driver.py"),
}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that start workers in one process, and limit the examples of each test in the fast profile."""
    for item in items:
        if "client" in getattr(item, "fixturenames", ()) or item.path.name in USES_PROCESSES:
            item.add_marker(pytest.mark.xdist_group("cluster"))
        function: Any = getattr(item, "obj", None)
        if not FULL and is_hypothesis_test(function):
            own = function._hypothesis_internal_use_settings
            moderate = min(own.max_examples, FAST_EXAMPLES, max(5, own.max_examples // 3))
            function._hypothesis_internal_use_settings = settings(own, max_examples=moderate)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # after everything that the reporter of pytest prints here
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    """Print every failure and its reason at the end."""
    yield
    if lines := list(summary(terminalreporter.stats)):
        terminalreporter.write_sep("=", "failures and their reasons", red=True)
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that `mnlearn demo` writes; tests must leave its files as they are."""
    folder = tmp_path_factory.mktemp("demo")
    with redirect_stdout(StringIO()):
        assert main(["demo", "--out", str(folder), "--json"]) == 0
    return folder


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Restore the signals that end a program, for a test that sends one to its own process."""
    with restored_signals():
        yield


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Yield a client of two worker processes, started once."""
    pytest.importorskip("distributed")
    if os.environ.get("MNLEARN_SANITIZED"):
        pytest.skip("the sanitizers look at one process only")
    with local_cluster(2) as joined:
        yield joined
