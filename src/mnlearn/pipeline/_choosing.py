"""What is taken where no method is named, and why: by the types of the variables, their number, and what was said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mnlearn.algorithms.separator import Effort
from mnlearn.data import Dataset
from mnlearn.pipeline._methods import (
    DEFAULT_BY_TEST,
    DEFAULT_METHOD,
    MOST_FOR_STANDARD,
    MOST_FOR_THOROUGH,
    default_effort,
    default_method,
)
from mnlearn.pipeline._tests import TestSettings
from mnlearn.protocols import Learner


class Choice(NamedTuple):
    """A method, and the reason for it where it was not named."""

    method: str
    reason: str = ""

    def sentence(self, named: Mapping[str, str], learner: Learner[Any], dataset: Dataset) -> str:
        """What was chosen and why, in one line."""
        effort = getattr(learner, "effort", None)
        how = f" with the test {named['test']}" if "test" in named else f" with {effort} effort"
        n, limit = dataset.n_variables, {"standard": MOST_FOR_THOROUGH, "fast": MOST_FOR_STANDARD}.get(str(effort), 0)
        many = f" and more than {limit:,}" if limit and effort == default_effort(n) else ""
        size = f"{n:,} variables, {dataset.n_rows:,} rows"
        return f"no method was named: using {self.method}{how}, because {self.reason}{many} ({size})"


def choose(method: str | None, test: str | None, settings: Mapping[str, Any], dataset: Dataset | None) -> Choice:
    """The method that was named, or the one that suits what was said and, once they are there, the data."""
    if method is not None:
        return Choice(method)
    if default_method(test, settings) == DEFAULT_BY_TEST:
        told = ["test"] * (test is not None) + [name for name in settings if name in TestSettings.__annotations__]
        return Choice(DEFAULT_BY_TEST, f"{told[0]} is for methods that ask tests")
    continuous = dataset is not None and not any(dataset.cards)
    return Choice(DEFAULT_METHOD, f"the variables are {'continuous' if continuous else 'categorical'}")


def effort_for(n_variables: int, own: Mapping[str, Any]) -> Effort:
    """The effort of sep that the number of variables allows, when none is named."""
    effort = default_effort(n_variables)
    needs_phase = own.get("start") is not None or own.get("keep_pairs")  # which fast does without
    return "standard" if effort == "fast" and needs_phase else effort
