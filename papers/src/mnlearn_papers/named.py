"""Experiments with networks, methods and learners given by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_name
from mnlearn.graphs.graph import Graph
from mnlearn.learning.api import learn
from mnlearn.learning.custom import ScoreLike, TestLike
from mnlearn.learning.registry import METHODS
from mnlearn.learning.spec import LearnSpec, resolve
from mnlearn_papers.accuracy import DRAWS, FAMILIES, SIZES, Battery, Budget, Half
from mnlearn_papers.experiment import Case, Experiment, RepositoryNetwork, WithLogOdds
from mnlearn_papers.learners import Bench, DataSet, Learner
from mnlearn_papers.peers import CONTINUOUS, DISCRETE, installed


@dataclass(frozen=True)
class NamedSource:
    """Draw graph, parameters and rows of every data set from a network and a distribution given by name.

    Examples
    --------
    >>> NamedSource("path:n=4")(10, np.random.default_rng(1)).truth.n_edges
    3
    """

    network: str
    distribution: str | None = None

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        from mnlearn.simulate.catalogue import simulate  # not needed to learn

        drawn = simulate(self.network, self.distribution, n_rows=n_rows, seed=int(rng.integers(2**63)))
        return Case(drawn.data, drawn.truth.graph)


@dataclass(frozen=True)
class NamedMethod:
    """Learn by a method given by name, on one thread: experiments run in processes of their own."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, data: Dataset) -> Mapping[str, Graph]:
        return {self.method: learn(data, self.method, n_jobs=1, **self.settings).graph}


def experiment(
    name: str,
    networks: Sequence[str],
    methods: Sequence[str],
    *,
    distribution: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Experiment:
    """Make an experiment (network × rows × method × repetition) for `mnlearn_papers.experiment.run_experiment`.

    Parameters
    ----------
    name
        Part of the seeds: experiments with other names draw other data.
    networks
        Networks as for `mnlearn.simulate.simulate`, each once.
    methods
        Names of `METHODS`.
    distribution
        Distribution over every network.
    settings
        Settings of `learn` for each method.

    Examples
    --------
    >>> from mnlearn_papers.experiment import run_experiment
    >>> chains = experiment("chains", ["path:n=4"], ["mpl"], distribution="odds:theta=3")
    >>> [(row.learner, row.n_rows, row.hamming) for row in run_experiment(chains, sizes=[2000], repetitions=1)]
    [('mpl', 2000, 0)]
    """
    given = settings or {}
    for method in (*methods, *given):
        check_name("method", method, METHODS, shown=30)
    if not networks or not methods:
        raise InputError(f"networks and methods must name at least one each; got {len(networks)} and {len(methods)}.")
    return Experiment(
        name,
        {network: NamedSource(network, distribution) for network in networks},
        {method: NamedMethod(method, dict(given.get(method, {}))) for method in methods},
    )


@dataclass(frozen=True)
class WeighingMethod:
    """Learn by a method given by name on one thread; with the log odds of all pairs where the method has them."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, data: Dataset) -> Mapping[str, Graph | WithLogOdds]:
        found = learn(data, self.method, n_jobs=1, **self.settings).result
        return {self.name: found.graph if found.log_odds is None else WithLogOdds(found.graph, found.log_odds)}


_SEP: Mapping[str, Mapping[str, Any]] = {
    "sep": {"effort": "thorough", "keep_pairs": True},
    "sep-standard": {"effort": "standard", "keep_pairs": True},
    "sep-fast": {"effort": "fast"},
}
_OTHERS = ("mpl", "pic", "bjp", "ib", "pc", "hhc-mn", "gsmn*", "gsimn", "l1lr", "mbs", "aracne")

LEARNERS: Mapping[str, WeighingMethod] = {
    **{name: WeighingMethod(name, "sep", settings) for name, settings in _SEP.items()},
    **{name: WeighingMethod(name, name) for name in _OTHERS},
}
"""Learners of the accuracy battery: sep with its three efforts, others for categorical data with their defaults."""

_MORE_STATES = (*FAMILIES["many states"], *FAMILIES["independent"], *FAMILIES["Bayesian networks"])
BUDGETS: Mapping[str, Budget] = {
    "sep-standard": Budget(draws=2),
    "sep-fast": Budget(draws=2),
    "l1lr": Budget(leave_out=tuple(kind for kind in _MORE_STATES if kind != "win95pts")),
}
"""Smaller budgets: variants of the default, and logistic regression, slow but on binary variables (Win95pts has no
others)."""


def accuracy_battery(
    half: Half,
    *,
    data: Path | None = None,
    learners: Collection[str] = (),
    only: Collection[str] = (),
    sizes: tuple[int, ...] = SIZES,
    draws: int = DRAWS,
) -> Battery:
    """Return the accuracy battery of one half.

    Parameters
    ----------
    half
        "development" or "held-out".
    data
        Folder with `networks/*.bif` and `graphs/*.edges`; without it those kinds are skipped.
    learners, only
        Names of `LEARNERS` and of kinds; empty for all.
    sizes, draws
        Numbers of rows, and of data sets for each kind and number of rows.

    Examples
    --------
    >>> battery = accuracy_battery("development", learners=["mpl"], only=["independent"], sizes=(250,), draws=1)
    >>> [(row.learner, row.true_edges) for row in battery.run()]
    [('mpl', 0)]
    """
    for name in learners:
        check_name("learner", name, LEARNERS, shown=30)
    chosen = {name: method for name, method in LEARNERS.items() if not learners or name in learners}
    return Battery(half, chosen, data, sizes, draws, BUDGETS, tuple(only))


@dataclass(frozen=True)
class ExampleSource:
    """Draw the survey that comes with the package."""

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        from mnlearn.simulate.catalogue import example

        drawn = example(n_rows, seed=int(rng.integers(2**63)))
        return Case(Dataset.from_codes(drawn.codes, cards=[2] * len(drawn.names), names=drawn.names), drawn.graph)


@dataclass(frozen=True)
class FrameMethod:
    """Learn from a data frame by a method given by name, on one thread, with its defaults."""

    method: str

    def __call__(self, frame: Any) -> Graph:
        return learn(frame, self.method, n_jobs=1).graph


TIMED_DISCRETE = ("sep", "mpl", "pc", "gsmn*", "gsimn", "hhc-mn", "aracne")
TIMED_CONTINUOUS = ("sep", "glasso", "lasso", "pc")
"""Our learners that `mnlearn bench learners` measures."""

_SIMULATED = (
    ("binary", "random:n={},degree=3", "ising", (64, 256, 1024)),
    ("hubs", "scale-free:n={},links=2", "ising:coupling=0.3", (64, 256, 1024)),
    ("tree", "tree:n={}", "uniform", (64, 256, 1024)),
    ("five-point items", "random:n={},degree=3", "tables:strength=0.8,states=5", (25, 50, 100)),
    ("continuous", "random:n={},degree=3", "gaussian", (50, 100, 200, 400)),
)


def learner_bench(
    *, data: Path | None = None, n_rows: int = 2000, limit: float = 60.0, smallest: bool = False
) -> tuple[Bench, tuple[str, ...]]:
    """Return the bench of our learners and of the installed peers, and the packages that are not installed.

    Parameters
    ----------
    data
        Folder with `networks/alarm.bif`; without it that data set is left out.
    n_rows, limit
        Rows of every data set; seconds after which a learner is stopped.
    smallest
        Only the smallest data set of each kind.

    Examples
    --------
    >>> bench, missing = learner_bench(smallest=True)
    >>> [data.name for data in bench.data_sets][:2], "mpl" in bench.discrete
    (['example n=12', 'binary n=64'], True)
    """
    sets = [DataSet("example", 12, ExampleSource())]
    for kind, network, distribution, sizes in _SIMULATED:
        for n in sizes[:1] if smallest else sizes:
            source = NamedSource(network.format(n), distribution)
            sets.append(DataSet(kind, n, source, distribution == "gaussian"))
    alarm = None if data is None else data / "networks" / "alarm.bif"
    if alarm is not None and alarm.exists():
        sets.append(DataSet("alarm", 37, RepositoryNetwork(str(alarm))))
    discrete: dict[str, Learner] = {name: FrameMethod(name) for name in TIMED_DISCRETE}
    continuous: dict[str, Learner] = {name: FrameMethod(name) for name in TIMED_CONTINUOUS}
    discrete.update(installed(DISCRETE))
    continuous.update(installed(CONTINUOUS))
    peers = {**DISCRETE, **CONTINUOUS}
    missing = dict.fromkeys(peers[name].package for name in peers if name not in {**discrete, **continuous})
    return Bench(sets, discrete, continuous, n_rows, limit), tuple(missing)


def structure_learner(
    method: str, *, test: TestLike | None = None, score: ScoreLike | None = None, **settings: Any
) -> Callable[[Dataset], Graph]:
    """Make a function from a data set to the graph that `learn` finds, such as `MarkovEDA` takes.

    Parameters
    ----------
    method, test, score, **settings
        As for `learn`; checked before the function is called.

    Examples
    --------
    >>> from mnlearn_papers.optimize import MarkovEDA, maximize, onemax
    >>> algorithm = MarkovEDA(learner=structure_learner("gsmn", alpha=0.001), population=80)
    >>> maximize(onemax(16), algorithm=algorithm, seed=1).fitness
    16.0
    """
    return _ByName(resolve({"method": method, "test": test, "score": score, **settings}))


@dataclass(frozen=True)
class _ByName:
    """A resolved call of `learn` as a function from data to graph; it can be sent to other processes."""

    spec: LearnSpec

    def __call__(self, data: Dataset) -> Graph:
        """Return the graph; that of a single variable is empty."""
        return self.spec.learn(data, n_jobs=1).graph if data.n_variables > 1 else Graph.empty(data.n_variables)
