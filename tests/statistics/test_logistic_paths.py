"""Paths of logistic regressions against fits to all rows and all columns, on every code path."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.graphs import random_graph
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics.kernels import supported_code_paths
from mnlearn.statistics.paths import RIDGE, BinaryColumns, LogisticPath, fit_logistic

Bits = NDArray[np.bool_]


def network(n_variables: int, n_rows: int, seed: int) -> Bits:
    """Binary rows of a random network; the last column is nearly a copy of the first."""
    drawn = sample(uniform_factors(random_graph(n_variables, 3.0, seed), seed), n_rows, seed).dataset()
    rows = np.column_stack(drawn.columns).astype(np.bool_)
    rows[:, -1] = rows[:, 0]
    rows[: n_rows // 50 + 1, -1] ^= True
    return rows


def marks(n_columns: int, *which: int) -> Bits:
    marked = np.zeros(n_columns, dtype=np.bool_)
    marked[list(which)] = True
    return marked


def start(rows: Bits, x: int, *free: int) -> LogisticPath:
    n = rows.shape[1]
    columns = BinaryColumns(list(rows.T), np.ones(len(rows), dtype=np.int64))
    return columns.path(rows[:, x], barred=marks(n, x), free=marks(n, *free))


def full_path(rows: Bits, x: int, penalties: NDArray[np.float64], *free: int) -> list[list[int]]:
    """The active columns at each penalty, by fits to all rows and all columns but x."""
    design = np.ascontiguousarray(np.delete(rows, x, axis=1) - 0.5)
    total, ones, supports = np.ones(len(rows)), rows[:, x].astype(np.float64), []
    others = [j for j in range(rows.shape[1]) if j != x]
    b = np.zeros(len(others) + 1)
    for penalty in penalties.tolist():
        each = np.array([0.0 if j in free else penalty for j in others])
        b, _ = fit_logistic(design, total, ones, each, RIDGE, 1e-7 * penalty, b)
        supports.append([j for j, weight in zip(others, b[:-1], strict=True) if weight != 0])
    return supports


@pytest.mark.parametrize(("n_variables", "n_rows", "seed"), [(8, 63, 1), (20, 500, 2), (40, 250, 3), (12, 3000, 4)])
@pytest.mark.parametrize("free", [(), (3,)])
def test_columns_left_out_change_nothing(n_variables: int, n_rows: int, seed: int, free: tuple[int, ...]) -> None:
    rows = network(n_variables, n_rows, seed)
    path = start(rows, 0, *free)
    penalties = path.first_penalty() * np.geomspace(0.9, 0.05, 20)
    found = []
    for penalty in penalties.tolist():
        path.step(penalty)
        found.append(path.active())
    assert found == full_path(rows, 0, penalties, *free)


def test_the_first_penalty_lets_no_column_in() -> None:
    path = start(network(10, 200, 5), 0)
    first = path.first_penalty()
    path.step(first * 1.0001)
    assert path.active() == []
    path.step(first * 0.999)
    assert len(path.active()) == 1


def test_refits_are_fits_without_penalty() -> None:
    rows = network(9, 300, 6)
    path = start(rows, 0)
    path.step(0.5 * path.first_penalty())
    for chosen in ([1], [2, 5, 7], [1, 2, 3, 4, 5, 6, 7]):
        design = np.ascontiguousarray(rows[:, chosen] - 0.5)
        given = (design, np.ones(len(rows)), rows[:, 0].astype(np.float64), np.zeros(len(chosen)), RIDGE, 1e-7)
        assert path.refit(chosen) == pytest.approx(fit_logistic(*given, np.zeros(len(chosen) + 1))[1], abs=1e-7)


def test_repeats_are_equal_to_repeated_rows() -> None:
    rows, rng = network(6, 100, 7), np.random.default_rng(1)
    repeats = rng.integers(1, 5, 100)
    whole, weighted = start(np.repeat(rows, repeats, axis=0), 0), BinaryColumns(list(rows.T), repeats)
    other = weighted.path(rows[:, 0], barred=marks(6, 0), free=marks(6))
    penalty = whole.first_penalty()
    assert other.first_penalty() == pytest.approx(penalty)
    assert (other.step(penalty / 5), other.active()) == (whole.step(penalty / 5), whole.active())
    assert other.refit([1, 2]) == pytest.approx(whole.refit([1, 2]))


def test_every_code_path_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, answers = network(30, 700, 8), []
    for name in supported_code_paths():
        monkeypatch.setenv("MNLEARN_CORE", name)
        path = start(rows, 0)
        first = path.first_penalty()
        fits = [path.step(first * share) for share in (0.7, 0.3, 0.1)]
        answers.append((first, fits, path.active(), path.refit(path.active())))
    assert all(answer == answers[0] for answer in answers)


def test_columns_that_do_not_fit_are_refused() -> None:
    path = start(network(6, 100, 9), 0)
    with pytest.raises(InputError, match="columns must be among those of the path"):
        path.refit([6])
    columns = BinaryColumns([marks(4, 1)], np.ones(4, dtype=np.int64))
    with pytest.raises(InputError, match="barred and free must have a value for each column"):
        columns.path(marks(4, 2), barred=marks(2), free=marks(1))
    with pytest.raises(InputError, match="planes and target must have a bit for each weight"):
        LogisticPath(np.zeros((1, 2), np.uint64), np.ones(3), np.zeros(1, np.uint64), marks(1), marks(1), RIDGE)
