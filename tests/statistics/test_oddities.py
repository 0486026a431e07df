"""Warnings about columns that no method can use."""

from __future__ import annotations

import numpy as np

from mnlearn.data import read
from mnlearn.learning.inputs import oddities

A, B, C = np.random.default_rng(1).standard_normal((3, 50))


def test_sound_data_are_passed_over() -> None:
    assert oddities(read({"a": A, "b": B})) == ()
    assert oddities(read({"a": ["x", "y", "z", "x", "y"], "b": ["x", "y", "x", "x", "y"]})) == ()
    assert oddities(read({"a": [str(k % 11) for k in range(110)], "b": ["x", "y"] * 55})) == ()


def test_constant_and_crowded_categories_are_named() -> None:
    said = oddities(read({"id": [f"u{k}" for k in range(50)], "flat": ["x"] * 50, "b": ["x", "y"] * 25}))
    assert said[0] == "constant, so without an edge: 'flat'"
    assert said[1].startswith("many categories for 50 rows, so that hardly an edge can be seen: 'id' 50. Leave out")
    assert len(said) == 2


def test_constants_copies_and_sums_are_named() -> None:
    said = oddities(read({"a": A, "flat": np.full(50, 0.5), "b": B, "twin": A, "sum": A + B}))
    assert said[:2] == ("constant, so without an edge: 'flat'", "copies, which no method can tell apart: 'twin' of 'a'")
    assert said[2].startswith("explained by other columns to within 1e-5 of their size: ")
    assert len(said) == 3


def test_near_copies_are_named_with_their_originals() -> None:
    near = A + 1e-7 * np.random.default_rng(4).standard_normal(50)
    assert oddities(read({"a": A, "b": B, "near": near, "c": 3.0 - 2.0 * B})) == (
        "'near' is a near-copy of 'a', 'c' is a near-copy of 'b' to within 1e-5 of its size: tests cannot tell them "
        "apart, so drop one",
    )


def test_fewer_rows_than_variables_are_said() -> None:
    wide = read({f"v{k}": column for k, column in enumerate(np.random.default_rng(2).standard_normal((9, 5)))})
    assert oddities(wide) == (
        "5 rows for 9 varying variables: no more than 3 can be neighbours of one, and weak edges cannot be seen",
    )


def test_long_lists_are_cut() -> None:
    said = oddities(read({"a": A, "b": B} | {f"c{k}": np.full(50, k + 0.5) for k in range(9)}))
    assert said == ("constant, so without an edge: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5' and 3 more",)
