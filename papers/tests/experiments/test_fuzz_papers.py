"""The readers of the optimiser on changed files: a short run, and the findings of longer ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz import test_fuzz
from fuzz.__main__ import from_text, outcome_of
from fuzz_papers import OF_PAPERS

CORPUS = Path(__file__).parents[1] / "fuzz_corpus"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", OF_PAPERS)
def test_changed_files_are_refused_or_read(reader: str, tmp_path: Path) -> None:
    test_fuzz.test_changed_files_are_refused_or_read(reader, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.glob("*.json")))
def test_what_was_found_is_mended(name: str, tmp_path: Path) -> None:
    finding = json.loads((CORPUS / name).read_text(encoding="utf-8"))
    assert outcome_of(finding["reader"], from_text(finding["files"]), tmp_path / "case") in test_fuzz.FINE
