"""Every reader on changed files: a short run, and the findings of longer ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from fuzz.__main__ import as_text, from_text, outcome_of
from fuzz.mutations import Mutations
from fuzz.readers import READERS, Reader
from mnlearn.errors import FileError

CORPUS = Path(__file__).parent / "corpus"
FINE = ("accepted", "refused")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS)
def test_changed_files_are_refused_or_read(reader: str, tmp_path: Path) -> None:
    cases = READERS[reader].cases()
    for case in cases:
        assert outcome_of(reader, case, tmp_path / "case") == "accepted"
    for number in range(25):
        rng = Random(f"{reader} {number}")
        files = READERS[reader].change(Mutations(rng), rng.choice(cases))
        assert outcome_of(reader, files, tmp_path / "case") in FINE, f"change {number}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.glob("*.json")))
def test_what_was_found_is_mended(name: str, tmp_path: Path) -> None:
    finding = json.loads((CORPUS / name).read_text(encoding="utf-8"))
    assert outcome_of(finding["reader"], from_text(finding["files"]), tmp_path / "case") in FINE


def test_findings_are_told_from_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(folder: Path) -> None:
        text = (folder / "f").read_text()
        if text == "refuse":
            raise FileError("f must be another file")
        if text == "fail":
            raise KeyError(text)

    monkeypatch.setitem(READERS, "small", Reader(list, lambda _, case: case, read))
    wanted = {"refuse": "refused", "read": "accepted", "fail": "KeyError in test_fuzz.py, read: 'fail'"}
    for text, outcome in wanted.items():
        assert outcome_of("small", {"f": text.encode()}, tmp_path / "case") == outcome


def test_files_survive_as_text() -> None:
    files = {"a": b"\0" * 5000, "b": bytes(range(256))}
    assert from_text(as_text(files)) == files


def test_the_same_seed_makes_the_same_changes() -> None:
    for reader in ("pack", "model", "bif"):
        case = READERS[reader].cases()[0]
        one, other = (READERS[reader].change(Mutations(Random(5)), case) for _ in range(2))
        assert one == other
