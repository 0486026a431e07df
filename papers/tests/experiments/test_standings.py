"""Standings of the learners by their errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnlearn.errors import FileError, UnknownNameError
from mnlearn.evaluation.metrics import reliability
from mnlearn.graphs import Graph
from mnlearn_papers.accuracy_page import Standings, page, read_errors
from mnlearn_papers.experiment import Row


def rows(**errors: list[int]) -> list[Row]:
    """Errors by learner, one for each draw of one cell."""
    return [
        Row("stars", 250, draw, name, wrong, 0, wrong, 0.5, 64, 60)
        for name, mine in errors.items()
        for draw, wrong in enumerate(mine)
    ]


def test_differences_are_taken_on_the_same_data_sets() -> None:
    lines = {line.learner: line for line in Standings(rows(sep=[2, 4, 9], mpl=[3, 7], pc=[2, 4, 6])).learners()}
    assert list(lines) == ["pc", "sep", "mpl"]
    assert lines["mpl"].behind == pytest.approx((2.0, np.std([1, 3], ddof=1) / np.sqrt(2), 2))
    assert lines["pc"].behind.mean == -1.0
    assert lines["sep"].hamming == 5.0
    assert lines["sep"].rank == pytest.approx((1.5 + 1.5 + 2) / 3)
    assert lines["mpl"].ratio == pytest.approx(np.sqrt(4 / 3 * 8 / 5))


def test_a_loss_is_beyond_chance_and_beyond_a_tenth() -> None:
    def lost(**errors: list[int]) -> list[str]:
        return [loss.learner for loss in Standings(rows(**errors)).losses()]

    assert lost(sep=[10, 12, 11], mpl=[8, 9, 9]) == ["mpl"]
    assert lost(sep=[10, 12, 11], mpl=[9, 13, 8]) == []  # chance
    assert lost(sep=[100, 120, 110], mpl=[99, 119, 109]) == []  # less than a tenth
    assert lost(sep=[10], mpl=[1]) == []  # one draw says nothing
    assert lost(sep=[8, 9, 9], mpl=[10, 12, 11]) == []
    assert Standings(rows(sep=[10, 12, 11], mpl=[8, 9, 9])).losses(["pc"]) == []


def test_the_order_of_the_rows_does_not_matter() -> None:
    given = rows(sep=[2, 4, 9], mpl=[3, 7, 1], pc=[2, 4, 6])
    shuffled = [given[k] for k in np.random.default_rng(1).permutation(len(given))]
    assert {line.learner: line for line in Standings(given).learners()} == {
        line.learner: line for line in Standings(shuffled).learners()
    }


def test_the_reference_must_be_among_the_learners() -> None:
    with pytest.raises(UnknownNameError, match="reference 'ib' does not exist"):
        Standings(rows(sep=[1]), "ib")


def test_the_page_says_what_the_rows_say() -> None:
    n = 40
    sure = reliability(
        np.where(np.eye(n, k=1) + np.eye(n, k=-1) > 0, 9.0, -9.0), Graph(n, [(x, x + 1) for x in range(9)])
    )
    given = [row._replace(reliability=sure) for row in rows(sep=[10, 12, 11], mpl=[8, 9, 9])]
    given += [
        Row("independent", 250, d, name, k, k, 0, 0.1, 40, 0) for d in (0, 1) for name, k in (("sep", d), ("mpl", 3))
    ]
    text = page(given, title="A half")
    assert "5 data sets of 2 kinds of networks, 10 learned graphs." in text
    assert "| stars | 250 | mpl | 8.7 | 11.0 | 3 |" in text
    assert "| sep | 2 | 50 % | 0.50 |" in text
    assert "| 0.99 to 1 | 117 | 1.000 | 0.231 | -0.769 | 0.001 |" in text
    assert "differs by more than 0.05" in text
    assert (
        "Of the pairs with a probability above one half 90 are no edges; by their probabilities 0 are expected." in text
    )
    assert "| mpl | 5 | 6.40 | 6.80 | -0.40 ± 1.21 | 1.20 | 5.20 |" in text
    assert "| family | data sets | sep | mpl |" in text
    assert "| hubs | 3 | 11.0 | -2.3 ± 0.3 |" in text
    assert "| 250 | 5 | 6.8 | -0.4 ± 1.2 |" in text
    assert "| stars | 11.0; mpl -2.3 ± 0.3 |" in text
    wins = page(rows(sep=[8, 9, 9], mpl=[10, 12, 11, 40]), title="Another")
    assert "| mpl | 3 | 11.00 |" in wins  # the fourth data set was not seen by sep
    assert "In no cell by more than two standard errors and 10 %." in wins
    assert "Probabilities" not in wins
    assert "Independent data" not in wins


def test_the_tables_of_the_docs_are_made_from_the_errors() -> None:
    folder = Path(__file__).parents[3] / "docs" / "accuracy"
    text = page(read_errors(folder / "held-out.csv"), title="The held-out half")
    assert "810 data sets of 27 kinds of networks, 10068 learned graphs." in text
    assert "| mpl | 810 | 32.03 | 22.23 | +9.80 ± 0.33 | 0.91 | 31.12 | 1.88 | 0.0075 |" in text
    assert "Probabilities" not in text  # which the table of errors does not hold
    assert (folder / "held-out-probabilities.md").read_text(encoding="utf-8").startswith("### Probabilities of sep")


def test_a_table_of_errors_has_its_columns(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("source,n_rows\nstars,250\n")
    with pytest.raises(FileError, match="one line for each run"):
        read_errors(tmp_path / "runs.csv")
    with pytest.raises(FileError, match=r"missing\.csv"):
        read_errors(tmp_path / "missing.csv")
