"""`n_jobs` means the same wherever it is taken: the same words, the same refusals, the same results for any number."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn import parallel
from mnlearn.algorithms import PC
from mnlearn.distributions.factors import agreement_factors
from mnlearn.distributions.sampling import sample_gibbs
from mnlearn.errors import InputError
from mnlearn.graphs import path
from mnlearn.independence import MixedTest, PartialCorrelation
from mnlearn.simulate import sample, simulate
from mnlearn.statistics import MixedLikelihoods, ShardedCounts, TestwiseMoments, kernels

from references.gaps import with_gaps

WORDS = "None or −1 for all cores, else that many. Any number gives the same result."
ROOMS = (
    *("mnlearn", "mnlearn.parallel", "mnlearn.statistics", "mnlearn.simulate", "mnlearn.evaluation"),
    *("mnlearn.estimators", "mnlearn.results", "mnlearn.data", "mnlearn.model", "mnlearn.learning"),
)


def has_jobs(found: object) -> bool:
    try:
        return callable(found) and "n_jobs" in inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False


def public(rooms: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Every public function, class and method that takes n_jobs, by name."""
    for room in rooms:
        module = import_module(room)
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            found = getattr(module, name)
            if has_jobs(found):
                yield f"{found.__module__}.{found.__qualname__}", found
            for method, bound in inspect.getmembers(found) if inspect.isclass(found) else ():
                if not method.startswith("_") and has_jobs(bound):
                    yield f"{found.__module__}.{found.__qualname__}.{method}", bound


FOUND = dict(public(ROOMS))


def table() -> mn.Dataset:
    return mn.Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (150, 5)))


def learned() -> mn.Learned:
    return mn.learn(table(), "mpl", n_jobs=1)


def fitted(estimator: Any, *y: Any) -> Any:
    return estimator.fit(np.random.default_rng(1).integers(0, 2, (80, 4)), *y)


Y = np.random.default_rng(2).integers(0, 2, 80)
CALLS: dict[str, Callable[[Any], Any]] = {
    "mnlearn.parallel.job_count": parallel.job_count,
    "mnlearn.parallel.run": lambda n: list(parallel.run(len, ["a", "bb"], n_jobs=n)),
    "mnlearn.statistics.counts.Counts": lambda n: mn.Counts(table(), n_jobs=n).reduce_all(kernels.g2()).tobytes(),
    "mnlearn.statistics.moments.TestwiseMoments": lambda n: (
        PC()
        .learn(
            PartialCorrelation(
                TestwiseMoments(with_gaps(mn.read(np.random.default_rng(1).standard_normal((50, 5))), 0.1), n_jobs=n)
            )
        )
        .graph
    ),
    "mnlearn.statistics.likelihoods.MixedLikelihoods": lambda n: (
        PC().learn(MixedTest(MixedLikelihoods(table(), n_jobs=n))).graph
    ),
    "mnlearn.statistics.moments.Moments": lambda n: (
        PC()
        .learn(PartialCorrelation(mn.Moments(mn.read(np.random.default_rng(1).standard_normal((50, 5))), n_jobs=n)))
        .graph
    ),
    "mnlearn.learning.registry.make_test": lambda n: mn.make_test("g2", table(), n_jobs=n)(0, 1, frozenset({2})),
    "mnlearn.learning.registry.make_score": lambda n: mn.make_score("mpl", table(), n_jobs=n)(mn.Graph(5, [(0, 1)])),
    "mnlearn.learning.api.score": lambda n: mn.score(table(), [("x0", "x1")], "mpl", n_jobs=n).value,
    "mnlearn.learning.api.learn": lambda n: mn.learn(table(), "sep", n_jobs=n).edge_list(),
    "mnlearn.learning.targets.blanket": lambda n: mn.blanket(table(), "x0", n_jobs=n).members,
    "mnlearn.learning.comparison.validate": lambda n: mn.validate(
        mn.NamedGraph(mn.Graph(5, [(0, 1)]), table().names), table(), n_triplets=50, n_jobs=n
    ),
    "mnlearn.learning.comparison.compare": lambda n: [
        found.edges for found in mn.compare(table(), mn.NamedGraph(mn.Graph(5), table().names), ["mpl", "pc"], n_jobs=n)
    ],
    "mnlearn.learning.groups.compare_groups": lambda n: (
        mn.compare_groups(table(), "x4", "mpl", n_permutations=3, n_jobs=n).statistics
    ),
    "mnlearn.results.learned.Learned.bootstrap": lambda n: learned().bootstrap(3, n_jobs=n).pair_list(),
    "mnlearn.results.learned.Learned.intervals": lambda n: learned().intervals(3, n_jobs=n).to_dict(),
    "mnlearn.results.learned.Learned.stability": lambda n: str(
        learned().stability(14, relearn=False, n_jobs=n).to_dict()
    ),
    "mnlearn.estimators.network.MarkovNetworkLearner": lambda n: (
        fitted(mn.MarkovNetworkLearner("mpl", n_jobs=n)).graph_
    ),
    "mnlearn.estimators.selector.MarkovBlanketSelector": lambda n: fitted(
        mn.MarkovBlanketSelector("mpl", n_jobs=n), Y
    ).support_.tolist(),
    "mnlearn.learning.tests.independence_test": lambda n: mn.independence_test(table(), "x0", "x1", n_jobs=n),
    "mnlearn.learning.tests.dependences": lambda n: mn.dependences(table(), n_jobs=n),
    "mnlearn.learning.targets.screen": lambda n: mn.screen(table(), n_jobs=n).partners.evidence.tobytes(),
    "mnlearn.distributions.sampling.sample": lambda n: sample(
        agreement_factors(path(4), 1.0), 40, 1, method="gibbs", n_jobs=n
    ).codes.tobytes(),
    "mnlearn.simulate.catalogue.simulate": lambda n: simulate(
        "path:n=4", n_rows=40, seed=1, method="gibbs", n_jobs=n
    ).data.fingerprint(),
    "mnlearn.distributions.sampling.sample_gibbs": lambda n: sample_gibbs(
        agreement_factors(path(4), 1.0), 40, 1, n_jobs=n
    ).tobytes(),
}
SLOW: dict[str, Callable[[Any], Any]] = {  # what they find is the same for any number: see the tests of each
    "mnlearn.statistics.shards.ShardedCounts": lambda n: ShardedCounts(None, ["nowhere.mnpack"], n_jobs=n),
}


def test_nobody_who_takes_it_is_left_out() -> None:
    assert set(FOUND) == set(CALLS) | set(SLOW)


def test_every_docstring_describes_it_in_the_same_words() -> None:
    documented = {name: inspect.getdoc(call) or "" for name, call in FOUND.items()}
    del documented["mnlearn.parallel.job_count"]
    assert [name for name, text in documented.items() if WORDS not in re.sub(r"\s+", " ", text)] == []


@pytest.mark.parametrize("name", [*CALLS, *SLOW])
def test_a_wrong_number_of_jobs_raises_the_same_error_everywhere(name: str) -> None:
    wrong_values: list[Any] = [0, -2, True, "2", 1.5, float("nan"), [2]]
    for wrong in wrong_values:
        words = re.escape(f"n_jobs must be a whole number, at least 1; got {wrong!r}. Leave it out for all cores.")
        with pytest.raises(InputError, match=words):
            (CALLS | SLOW)[name](wrong)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"mnlearn.parallel.job_count"}))
def test_any_number_gives_the_same(name: str) -> None:
    one = CALLS[name](1)
    for n_jobs in (2, 4, -1, None):
        assert CALLS[name](n_jobs) == one


def test_all_cores_and_so_many() -> None:
    assert parallel.job_count(None) == parallel.job_count(-1) == parallel.cores()
    assert parallel.job_count(3) == parallel.job_count(np.int64(3)) == 3  # type: ignore[arg-type]


def test_the_command_line_says_it_in_the_same_words() -> None:
    from typer.main import get_command

    from mnlearn.cli.app import make_app

    commands: Any = get_command(make_app())
    told = {
        name: option.help
        for name, command in commands.commands.items()
        for option in command.params
        if option.name == "jobs"
    }
    assert {"learn", "score", "compare", "compare-groups", "plot", "report", "why"} <= set(told)
    assert len(set(told.values())) == 1
