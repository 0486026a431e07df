"""Experiments by name: networks as `mnlearn simulate` has them, methods as `mnlearn learn` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mnlearn.data import Dataset
from mnlearn.errors import InputError, check_name
from mnlearn.evaluation.experiment import Case, Experiment
from mnlearn.graphs.graph import Graph
from mnlearn.pipeline._learning import learn
from mnlearn.pipeline._methods import METHODS


@dataclass(frozen=True)
class NamedSource:
    """Draws graph, parameters and rows anew for every data set, from a network and a distribution by name.

    Examples
    --------
    >>> NamedSource("path:n=4")(10, np.random.default_rng(1)).truth.n_edges
    3
    """

    network: str
    distribution: str | None = None

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        from mnlearn.simulate import simulate  # whoever only learns need not load it

        drawn = simulate(self.network, self.distribution, n_rows=n_rows, seed=int(rng.integers(2**63)))
        return Case(drawn.data, drawn.truth.graph)


@dataclass(frozen=True)
class NamedMethod:
    """Learns by a method's name, on one thread, since experiments run in processes of their own."""

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
    """An experiment (network × rows × method × repetition) by names; `mnlearn.evaluation.experiment.run` runs it.

    Parameters
    ----------
    name
        Enters the seeds: other experiments draw other data.
    networks
        Networks as `mnlearn.simulate.simulate` takes them, each once.
    methods
        Names of `METHODS`.
    distribution
        What is put on every network.
    settings
        By method, what `learn` is told beside its name.

    Examples
    --------
    >>> from mnlearn.evaluation.experiment import run
    >>> chains = experiment("chains", ["path:n=4"], ["mpl"], distribution="odds:theta=3")
    >>> [(row.learner, row.n_rows, row.hamming) for row in run(chains, sizes=[2000], repetitions=1)]
    [('mpl', 2000, 0)]
    """
    told = settings or {}
    for method in (*methods, *told):
        check_name("method", method, METHODS, shown=30)
    if not networks or not methods:
        raise InputError(f"networks and methods must name at least one each; got {len(networks)} and {len(methods)}.")
    return Experiment(
        name,
        {network: NamedSource(network, distribution) for network in networks},
        {method: NamedMethod(method, dict(told.get(method, {}))) for method in methods},
    )
