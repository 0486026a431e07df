"""Errors about names that do not exist."""

from __future__ import annotations

from mnlearn.errors import unknown_name


def test_of_equally_near_names_the_first_are_suggested() -> None:
    items = [f"item_{k:02d}" for k in range(1, 31)]
    assert "Did you mean 'item_01' or " in str(unknown_name("column", "item_1", items))


def test_the_nearest_comes_first_and_nothing_far_is_suggested() -> None:
    known = ["chi", "chi2", "g2", "chi2"]
    assert "Did you mean 'chi2' or 'chi'?" in str(unknown_name("test", "chi22", known))
    assert "Did you mean" not in str(unknown_name("test", "xyz", known))
    assert str(unknown_name("test", "x", [])) == "test 'x' does not exist. Known: none."
