"""The critical population: found by bisection, verified by other runs."""

from __future__ import annotations

from typing import Any

import pytest

from mnlearn.errors import InputError, MnlearnError
from mnlearn_papers.optimize import (
    MarkovEDA,
    MutualInformationStructure,
    critical_population,
    ising_spin_glass,
    onemax,
    success,
)
from mnlearn_papers.optimize import critical as module

MOA = MarkovEDA(learner=MutualInformationStructure(max_neighbors=1))


def test_the_bisection_finds_the_smallest_size_that_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(self: Any, population: int, runs: int, _key: int, _jobs: int | None, _monitor: Any) -> module.Trials:
        return module.Trials(runs, (population,) * (runs if population >= 77 else 1))

    monkeypatch.setattr(module._Search, "trials", pretend)
    exact = critical_population(onemax(5), tolerance=0, runs=10)
    assert exact.population == 77
    assert exact.evaluations == 77.0
    assert set(exact.tried) >= {8, 16, 32, 64, 128, 96, 76, 77}
    assert critical_population(onemax(5), tolerance=0.1, runs=10).population in range(77, 86)
    assert critical_population(onemax(5), smallest=90).population == 90
    with pytest.raises(MnlearnError, match="largest must be enough to solve onemax:n=5; 64 reached"):
        critical_population(onemax(5), largest=70)


def test_runs_are_given_up_when_too_many_have_failed() -> None:
    found = critical_population(onemax(20), MOA, runs=10, success_rate=0.9, seed=1, max_generations=40)
    assert found.success_rate >= 0.9
    assert found.tried[8] < 0.9
    assert found.evaluations_sd > 0
    fresh = success(onemax(20), MarkovEDA(learner=MOA.learner, population=found.population), runs=20, seed=9)
    assert fresh.runs == 20
    assert fresh.success_rate >= 0.6


def test_processes_change_nothing() -> None:
    options: Any = {"runs": 4, "success_rate": 0.75, "seed": 2, "largest": 64, "smallest": 32}
    assert critical_population(onemax(8), MOA, **options) == critical_population(onemax(8), MOA, n_jobs=2, **options)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"success_rate": 0}, "success_rate must be above 0"),
        ({"success_rate": 1.1}, "success_rate must be above 0"),
        ({"runs": 0}, "runs must be"),
        ({"tolerance": 1}, "tolerance must be"),
        ({"smallest": 1}, "smallest must be"),
        ({"largest": 4}, "largest must be a whole number, at least 8"),
        ({"algorithm": "moa"}, "algorithm must be a MarkovEDA; got a str"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        critical_population(onemax(5), **options)


def test_functions_are_no_problems() -> None:
    with pytest.raises(InputError, match="problem must be a Problem; got a builtin_function"):
        critical_population(sum)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="problem must be a Problem"):
        success(sum, MarkovEDA())  # type: ignore[arg-type]


def test_a_problem_without_a_known_optimum_is_refused() -> None:
    with pytest.raises(InputError, match="known optimum"):
        critical_population(ising_spin_glass(30, 30))


class After:
    """A monitor that has had enough after so many sizes."""

    def __init__(self, sizes: int) -> None:
        self.left = sizes

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.left -= 1

    def cancelled(self) -> bool:
        return self.left <= 0


def test_a_stopped_search_gives_the_smallest_that_was_enough_so_far() -> None:
    options: dict[str, Any] = {"runs": 3, "success_rate": 1.0, "seed": 1, "tolerance": 0.0}
    whole = critical_population(onemax(10), **options)
    sizes = list(whole.tried)
    first_good = next(k for k, size in enumerate(sizes) if whole.tried[size] == 1.0)
    found = critical_population(onemax(10), monitor=After(first_good + 1), **options)
    assert found.population == sizes[first_good]
    assert list(found.tried) == sizes[: first_good + 1]
    with pytest.raises(MnlearnError, match=r"stopped before any population was enough to solve .*; tried were none"):
        critical_population(onemax(10), monitor=After(0), **options)
