"""Strings on the console."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.cli.console import escaped, first_names, name_options, probability, sentence, single_line, with_noun


@given(st.text())
def test_escaped_text_is_printable(text: str) -> None:
    shown = escaped(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


@given(st.text(alphabet=st.characters()))
def test_single_line_has_one_line(text: str) -> None:
    assert len(single_line(text).splitlines()) <= 1


def test_lone_surrogates_are_escaped() -> None:
    assert escaped("a\udcffb") == "a\\udcffb"


@pytest.mark.parametrize(
    ("log_p", "shown"),
    [
        (0.0, "1"),
        (math.log(0.05), "0.05"),
        (-50.0, "1.93e-22"),
        (-1000.0, "5.08e-435"),
        (-10_000.5 * math.log(10), "3.16e-10001"),
    ],
)
def test_probabilities(log_p: float, shown: str) -> None:
    assert probability(log_p) == shown


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Use missing='drop_rows' to", "Use --missing drop_rows to"),
        ("Use missing_values=['NA', '?'] if", "Use --missing-value NA --missing-value '?' if"),
        (
            "in missing_values=[float('inf'), float('-inf')].",
            "in --missing-value inf --missing-value -inf.",
        ),
        ("or types={'a b': 'categorical'} if", "or --categorical 'a b' if"),
        ("types={\"it's\": 'continuous'}", "--continuous 'it'\"'\"'s'"),
        ("pass delimiter=';'.", "pass --delimiter ';'."),
        ("Leave it out by listing the others in columns=[...].", "Leave it out by naming the others with --column."),
        ("use test='pcor'", "use --test pcor"),
        (
            "method must be 'width' or 'frequency'; got 'w'. Give your own cuts with cuts={...}.",
            "--discretize must be width or frequency; got 'w'. Use one of the two, or leave it out.",
        ),
    ],
)
def test_arguments_become_options(message: str, words: str) -> None:
    assert name_options(message) == words


def test_an_argument_that_was_given_as_an_option_is_named_so() -> None:
    words = ["learn", "d.csv", "--alpha=3", "--max-memory", "0"]
    assert name_options("alpha must be below 1; got 3.", words) == "--alpha must be below 1; got 3."
    assert name_options("max_memory must be whole; got 0.", words) == "--max-memory must be whole; got 0."
    assert name_options("seed must be whole; got -1.", words) == "seed must be whole; got -1."


def test_counting_and_listing() -> None:
    assert with_noun(1, "row") == "1 row"
    assert with_noun(1234, "row") == "1,234 rows"
    assert first_names(["a", "b"]) == "a, b"
    assert first_names([*"abcdefghij"]) == "a, b, c, d, e, f, g, h and 2 more"
    assert sentence("Missing argument 'X'.") == "missing argument 'X'."
    assert sentence("No such\noption") == "no such option."
