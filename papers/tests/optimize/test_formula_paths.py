"""Paths of formulas in all their forms, as those of every file that the library reads, and masked individuals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from data import test_paths
from mnlearn.errors import InputError
from mnlearn_papers.optimize import max_sat, problem_named

FORMULAS = {"cnf": (max_sat, "t.cnf"), "problem": (problem_named, "t.wcnf")}


@pytest.fixture(autouse=True)
def formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the readers of formulas among those of the library."""
    for name, reader in FORMULAS.items():
        monkeypatch.setitem(test_paths.READERS, name, reader)


@pytest.mark.parametrize("reader", FORMULAS)
@pytest.mark.parametrize(
    "check",
    [
        test_paths.test_nothing_is_there,
        test_paths.test_a_link_to_nothing_is_named,
        test_paths.test_folders_pipes_and_devices,
        test_paths.test_empty_and_binary_files,
    ],
)
def test_other_places_are_refused(check: object, reader: str, tmp_path: Path) -> None:
    assert callable(check)
    check(reader, tmp_path)


@pytest.mark.parametrize("reader", FORMULAS)
@pytest.mark.parametrize("path", ["", "a\0b", 3, None, object(), 1.5, ["x"]])
def test_what_is_not_a_path_is_refused(reader: str, path: object) -> None:
    assert test_paths.refused(reader, path)


def test_a_byte_order_mark_is_not_part_of_a_formula(tmp_path: Path) -> None:
    cnf = tmp_path / "t.cnf"
    cnf.write_bytes(b"\xef\xbb\xbfp cnf 1 1\n1 0\n")
    assert max_sat(cnf).n == 1


def test_a_mask_of_an_individual_is_never_dropped() -> None:
    with pytest.raises(InputError, match="must not hold masked values"):
        problem_named("onemax:n=3")(np.ma.MaskedArray([0, 1, 1], [False, True, False]))
