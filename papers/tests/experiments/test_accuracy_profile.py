"""Chart of the errors relative to the best learner."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mnlearn.errors import InputError
from mnlearn_papers.accuracy_profile import CEILING, draw_profiles, profiles
from mnlearn_papers.experiment import Row


def rows(kind: str, **errors: list[int]) -> list[Row]:
    """Errors by learner, one for each draw of one cell."""
    return [
        Row(kind, 250, draw, name.replace("_", "-"), wrong, 0, wrong, 0.5)
        for name, mine in errors.items()
        for draw, wrong in enumerate(mine)
    ]


SOME = [
    *rows("stars", sep=[3, 5], mpl=[1, 3], pc=[11, 13], sep_fast=[0, 0], l1lr=[0]),
    *rows("parity", sep=[0, 0], mpl=[24, 24], pc=[9, 9], sep_fast=[9, 9], l1lr=[0, 0]),
]


def test_ratios_are_to_the_best_of_the_learners_with_all_data_sets() -> None:
    found = profiles(SOME)
    assert found == {"sep": [1.0, pytest.approx(5 / 3)], "mpl": [1.0, 25.0], "pc": [pytest.approx(13 / 3), 10.0]}
    assert list(found) == ["sep", "mpl", "pc"]


def test_the_chart_has_a_band_for_each_learner_and_is_cut_at_the_ceiling() -> None:
    svg = draw_profiles(SOME)
    root = ElementTree.fromstring(svg)
    names = [path.findtext("{*}title") for path in root.iterfind("{*}path")]
    assert names == ["sep", "mpl", "pc"]
    assert f"cut at {CEILING:g}" in svg
    assert draw_profiles(reversed(SOME)) == svg  # the order of the rows does not matter


def test_a_reference_without_results_is_refused() -> None:
    with pytest.raises(InputError, match="rows must have results of 'ib'; got none"):
        profiles(SOME, "ib")
