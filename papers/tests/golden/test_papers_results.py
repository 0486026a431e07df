"""Golden results of mnlearn-papers, in `papers.json` beside this file.

Write them again after a deliberate change:

    PYTHONPATH=tests:papers/tests python -m golden.test_papers_results
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden import (
    engine,
    papers,  # noqa: F401 - registers its cases
)

CASES = {name: case for name, case in engine.CASES.items() if case.package == "papers"}
GOLDEN = json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))


def test_every_case_has_a_golden_result() -> None:
    """No case is without a result, and no result is without its case."""
    assert sorted(GOLDEN) == sorted(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_result_is_unchanged(name: str) -> None:
    """The result of a case equals the one in the file."""
    wrong = engine.differences(engine.compute(name), GOLDEN[name], close=CASES[name].close)
    assert not wrong, "\n".join(wrong[:10])


if __name__ == "__main__":
    engine.RESULTS = Path(__file__).parent
    engine.write_results(CASES)
