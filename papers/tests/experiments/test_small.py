"""One small cell of every published experiment, compared with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnlearn.errors import FileError
from mnlearn_papers import small
from mnlearn_papers.catalogue import REPRODUCTIONS

REFERENCE = Path(__file__).parent / "reference" / "small.txt"
QUICK = {name: REPRODUCTIONS[name] for name in ("bjp-orders", "gsimn-figure7", "ibmap-uci", "mpl-table1")}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be only experiments of a tenth of a second."""
    monkeypatch.setattr(small, "REPRODUCTIONS", QUICK)


def expected() -> str:
    """Return the quick part of the reference."""
    blocks = small.blocks_of(REFERENCE.read_text(encoding="utf-8"))
    return "\n".join(block for block in blocks if block.startswith(tuple(QUICK))) + "\n"


def test_the_same_figures_pass_without_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.txt"
    path.write_text(expected(), encoding="utf-8")
    assert small.main([str(path)]) == 0
    assert "\nibmap-uci: left out: needs --data\nmpl-table1, d=64, 500 rows: l1lr-and 34" in capsys.readouterr().out


def test_other_figures_fail_with_the_lines_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.txt"
    path.write_text(expected().replace("gsimn-figure7, degree=1, 3 variables: fch 1;", "gsimn-figure7: fch 2;"))
    assert small.main([str(path)]) == 1
    assert "- gsimn-figure7: fch 2; fch line 22 1\n+ gsimn-figure7, degree=1, 3 variables" in capsys.readouterr().err


def test_the_reference_is_written_with_all_experiments(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="--data must be the folder of the data to write all figures; got none"):
        small.main([str(tmp_path / "small.txt"), "--write"])


def test_the_reference_has_every_experiment() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert [line.partition(",")[0] for line in text.splitlines() if line[0] != " "] == list(REPRODUCTIONS)
