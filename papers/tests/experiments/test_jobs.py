"""`n_jobs` of experiments and of the optimiser: the words, the refusals and the results are those of the library."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import mnlearn as mn
from contracts.test_jobs import WORDS, public
from mnlearn.errors import InputError
from mnlearn_papers.accuracy import Battery
from mnlearn_papers.experiment import Experiment, run_experiment
from mnlearn_papers.optimize import MarkovEDA, critical_population, maximize, onemax, success
from mnlearn_papers.reproduction import Request

MODULES = ("experiment", "reproduction", "accuracy", "optimize")
FOUND = dict(public(f"mnlearn_papers.{name}" for name in MODULES))


def nothing(data: mn.Dataset) -> dict[str, mn.Graph]:
    return {"nothing": mn.Graph(data.n_variables)}


CALLS: dict[str, Callable[[Any], Any]] = {  # what they find is the same for any number: see the tests of each
    "experiment.run_experiment": lambda n: run_experiment(Experiment("none", {}, {}), [5], 1, n_jobs=n),
    "reproduction.Request": lambda n: Request(n_jobs=n),
    "accuracy.Battery.run": lambda n: Battery(
        "development", {"nothing": nothing}, sizes=(250,), draws=1, only=("parity",)
    ).run(n_jobs=n),
    "optimize.critical.critical_population": lambda n: critical_population(onemax(5), MarkovEDA(), n_jobs=n),
    "optimize.critical.success": lambda n: success(onemax(5), MarkovEDA(), runs=2, n_jobs=n),
    "optimize.driver.maximize": lambda n: maximize(onemax(5), seed=1, n_jobs=n),
}


def test_all_that_take_it_are_listed() -> None:
    found = {name.removeprefix("mnlearn_papers.") for name in FOUND if name.startswith("mnlearn_papers.")}
    assert found | {"optimize.driver.maximize"} == set(CALLS)


def test_every_docstring_describes_it_in_the_same_words() -> None:
    documented = {
        name: inspect.getdoc(call) or "" for name, call in FOUND.items() if name.startswith("mnlearn_papers.")
    }
    assert [name for name, text in documented.items() if WORDS not in re.sub(r"\s+", " ", text)] == []


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_number_of_jobs_raises_the_same_error_everywhere(name: str) -> None:
    wrong_values: list[Any] = [0, -2, True, "2", 1.5, float("nan"), [2]]
    for wrong in wrong_values:
        words = re.escape(f"n_jobs must be a whole number, at least 1; got {wrong!r}. Leave it out for all cores.")
        with pytest.raises(InputError, match=words):
            CALLS[name](wrong)
