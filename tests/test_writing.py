"""Files that are whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnlearn.files import replacing


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    target.write_text("old")
    with pytest.raises(ValueError, match="half"), replacing(target) as part:  # noqa: PT012 - half of it is the point
        part.write_text("ne")
        raise ValueError("half")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.csv", "old")]


def test_the_name_meanwhile_is_another_with_the_same_extension(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.svg") as part:
        part.write_text("new")
        assert not (tmp_path / "a.svg").exists()
        assert part.suffix == ".svg"
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_through_a_link_the_file_behind_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "behind.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "behind.txt")
    with replacing(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "behind.txt").read_text() == "new"
