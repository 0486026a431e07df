"""The accuracy battery: kinds of networks, two halves of data sets, and the share that slow learners run on.

Changes of a method are judged on the development half; the held-out half is for the figures that are published. The
half enters the seeds, so no data set, no parameter and no random graph is in both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from mnlearn.distributions.factors import (
    Factor,
    FactorNetwork,
    PairwiseNetwork,
    agreement_factors,
    ising,
    random_pairwise_factors,
    uniform_factors,
)
from mnlearn.distributions.sampling import sample
from mnlearn.errors import check_name, whole_number
from mnlearn.graphs.generators import (
    barabasi_albert,
    clique_chain,
    disjoint_union,
    grid,
    hubs,
    random_graph,
    random_tree,
    star,
)
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import SILENT, Monitor
from mnlearn_papers.experiment import (
    Case,
    Experiment,
    Method,
    RepositoryNetwork,
    Row,
    Source,
    observed_states,
    read_pairs,
    run_experiment,
)
from mnlearn_papers.structures import sixteen_node_replicas

Half = Literal["development", "held-out"]
SIZES = (250, 500, 1000, 2000, 4000, 8000)
DRAWS = 5


@dataclass(frozen=True)
class Budget:
    """Limits of a slow learner: number of draws, number of rows, and kinds left out."""

    draws: int = DRAWS
    rows: int = SIZES[-1]
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Battery:
    """Networks × rows × draws × learners.

    Parameters
    ----------
    half
        Which of the two halves.
    methods
        The learners by name.
    data
        The folder of networks and graphs in files; None for those that need none.
    sizes
        Numbers of rows.
    draws
        Data sets for each kind and number of rows, each with new parameters.
    budgets
        By learner, for those that cannot afford all of it.
    only
        Some of the kinds; all when empty.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> nothing = {"nothing": lambda data: {"nothing": Graph(data.n_variables)}}
    >>> small = Battery("development", nothing, sizes=(250,), draws=2, only=("parity",))
    >>> [row.hamming for row in small.run()]
    [24, 24]
    """

    half: Half
    methods: Mapping[str, Method]
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES
    draws: int = DRAWS
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    only: Collection[str] = ()

    def __post_init__(self) -> None:
        check_name("half", self.half, get_args(Half))
        whole_number("draws", self.draws, least=1, hint="Ask for at least one.")

    def run(self, *, journal: Path | None = None, n_jobs: int | None = 1, monitor: Monitor = SILENT) -> list[Row]:
        """One row for every graph that was learned; a run that is stopped gives those that it has.

        Parameters
        ----------
        journal
            A file that keeps every result; what it holds already is not computed again.
        n_jobs
            Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
        monitor
            Receives the progress and may cancel.
        """
        rows: list[Row] = []
        for budget, methods in self._shares().items():
            sizes = [size for size in self.sizes if size <= budget.rows]
            draws = min(self.draws, budget.draws)
            if sizes:
                part = self._experiment(budget, methods)
                rows += run_experiment(part, sizes, draws, journal=journal, n_jobs=n_jobs, monitor=monitor)
        place = {kind: k for k, kind in enumerate(kinds(self.data))}
        return sorted(rows, key=lambda row: (place[row.source], row.n_rows, row.repetition, row.learner))

    def learners(self) -> list[str]:
        """Return the learners that run at least once, given the kinds, the sizes and the budgets."""
        return [
            name
            for budget, names in self._shares().items()
            if min(self.sizes) <= budget.rows and self._experiment(budget, names).sources
            for name in names
        ]

    def _shares(self) -> dict[Budget, list[str]]:
        """Return the learners by their budgets; those without one first."""
        shares: dict[Budget, list[str]] = {Budget(self.draws): []}
        for name in self.methods:
            shares.setdefault(self.budgets.get(name, Budget(self.draws)), []).append(name)
        return {budget: names for budget, names in shares.items() if names}

    def _experiment(self, budget: Budget, methods: list[str]) -> Experiment:
        whole = Experiment(f"accuracy-{self.half}", kinds(self.data), self.methods)
        chosen = whole.only(self.only, methods)
        kept = {name: source for name, source in chosen.sources.items() if name not in budget.leave_out}
        return Experiment(chosen.name, kept, chosen.methods)


# Kinds of networks: each is a shape and a distribution of its parameters, drawn anew for every data set.
#
# Small enough that every learner can be run on all of them, and different enough that no one learner is at home
# everywhere: hubs, trees, lattices, random graphs, cliques, people, Bayesian networks, many states, interactions
# without lower-order traces, and nothing at all.


Rng = np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """A kind of network: graph, parameters and rows are new for every data set."""

    shape: Callable[[Rng], Graph]
    law: Callable[[Graph, Rng], FactorNetwork | PairwiseNetwork]

    def __call__(self, n_rows: int, rng: Rng) -> Case:
        """Draw a graph, parameters and rows."""
        graph = self.shape(rng)
        return Case(observed_states(sample(self.law(graph, rng), n_rows, rng).dataset()), graph)


def kinds(data: Path | None = None) -> dict[str, Source]:
    """Every kind of network by name.

    Parameters
    ----------
    data
        The folder that holds `networks/*.bif` and `graphs/*.edges`; without it the kinds that need a file are left
        out, and so is each whose file is missing.

    Examples
    --------
    >>> case = kinds()["stars"](10, np.random.default_rng(1))
    >>> case.data.n_variables, case.truth.n_edges
    (64, 60)
    """
    return {**_GENERATED, **(_from_files(data) if data is not None else {})}


FAMILIES: Mapping[str, tuple[str, ...]] = {
    "hubs": ("stars", "double stars", "hubs", "scale-free tree", "scale-free m=2"),
    "trees": ("tree n=64", "tree n=200"),
    "lattices": ("ferromagnet", "spin glass"),
    "random graphs": ("random, factors", "random, Ising"),
    "cliques": ("cliques", "replicas"),
    "people": ("karate", "dolphins"),
    "Bayesian networks": ("child", "insurance", "alarm", "hailfinder", "hepar2", "win95pts"),
    "many states": ("mixed states", "Potts", "wide"),
    "higher order only": ("parity",),
    "independent": ("independent", "independent, wide"),
}
"""Which kinds belong together: the rows of the short table."""


def parity_factors(graph: Graph, strength: float, _rng: Rng) -> FactorNetwork:
    """Return factors exp(±strength) by parity on each triangle; all pairs are marginally independent."""
    odd = np.indices((2, 2, 2)).sum(0) % 2
    triangles = [c for c in combinations(range(graph.n_variables), 3) if all(e in graph for e in combinations(c, 2))]
    return FactorNetwork((2,) * graph.n_variables, [Factor(c, strength * (1.0 - 2.0 * odd)) for c in triangles])


def pairwise_tables(graph: Graph, rng: Rng, *, strength: float, least: int, most: int) -> FactorNetwork:
    """Random tables on the edges of variables with random numbers of states, and fields on every state."""
    cards = rng.integers(least, most + 1, graph.n_variables).tolist()
    return random_pairwise_factors(graph, strength, rng, cards=cards, fields=0.5)


def lone_states(graph: Graph, rng: Rng, *, least: int, most: int) -> FactorNetwork:
    """Return independent variables with random numbers of states, every second one uniform."""
    cards = rng.integers(least, most + 1, graph.n_variables).tolist()
    fields = [rng.normal(0.0, 1.0, card) if x % 2 else np.zeros(card) for x, card in enumerate(cards)]
    return FactorNetwork(cards, [Factor((x,), field) for x, field in enumerate(fields)])


def _stars(_rng: Rng) -> Graph:
    return disjoint_union([star(16)] * 4)


def _double_stars(_rng: Rng) -> Graph:
    return disjoint_union([hubs(2, 7)] * 4)


def _fixed(graph: Graph, _rng: Rng) -> Graph:
    return graph


def _tree(n: int, rng: Rng) -> Graph:
    return random_tree(n, rng)


def _scale_free(n: int, links: int, rng: Rng) -> Graph:
    return barabasi_albert(n, links, rng)


def _random(n: int, degree: float, rng: Rng) -> Graph:
    return random_graph(n, degree, rng)


def _equal_ising(coupling: float, graph: Graph, rng: Rng) -> PairwiseNetwork:
    return ising(graph, coupling, rng, law="equal")


def _mixed_ising(coupling: float, graph: Graph, rng: Rng) -> PairwiseNetwork:
    return ising(graph, coupling, rng, law="mixed")


def _normal_ising(coupling: float, graph: Graph, rng: Rng) -> PairwiseNetwork:
    return ising(graph, coupling, rng, law="normal")


def _potts(log_odds: float, graph: Graph, _rng: Rng) -> FactorNetwork:
    return agreement_factors(graph, log_odds, cards=3)


def _parity(strength: float, graph: Graph, rng: Rng) -> FactorNetwork:
    return parity_factors(graph, strength, rng)


_GENERATED: Mapping[str, Source] = {
    "stars": Drawn(_stars, uniform_factors),
    "double stars": Drawn(_double_stars, uniform_factors),
    "hubs": Drawn(partial(_fixed, hubs(4, 9)), partial(_normal_ising, 0.4)),
    "scale-free tree": Drawn(partial(_scale_free, 64, 1), uniform_factors),
    "scale-free m=2": Drawn(partial(_scale_free, 40, 2), partial(_normal_ising, 0.4)),
    "tree n=64": Drawn(partial(_tree, 64), uniform_factors),
    "tree n=200": Drawn(partial(_tree, 200), uniform_factors),
    "ferromagnet": Drawn(partial(_fixed, grid(7, 7)), partial(_equal_ising, 0.3)),
    "spin glass": Drawn(partial(_fixed, grid(7, 7)), partial(_mixed_ising, 0.5)),
    "random, factors": Drawn(partial(_random, 40, 3.0), uniform_factors),
    "random, Ising": Drawn(partial(_random, 32, 4.0), partial(_normal_ising, 0.4)),
    "cliques": Drawn(partial(_fixed, clique_chain(40, 4, 1)), uniform_factors),
    "replicas": Drawn(partial(_fixed, sixteen_node_replicas(64)), uniform_factors),
    "mixed states": Drawn(partial(_random, 24, 2.5), partial(pairwise_tables, strength=0.8, least=2, most=5)),
    "Potts": Drawn(partial(_fixed, grid(5, 5)), partial(_potts, 1.5)),
    "wide": Drawn(partial(_tree, 16), partial(pairwise_tables, strength=1.0, least=8, most=24)),
    "parity": Drawn(partial(_fixed, clique_chain(24, 3, 0)), partial(_parity, 0.6)),
    "independent": Drawn(partial(_fixed, Graph(40)), partial(lone_states, least=2, most=4)),
    "independent, wide": Drawn(partial(_fixed, Graph(10)), partial(lone_states, least=10, most=60)),
}


def _from_files(data: Path) -> dict[str, Source]:
    """Return the kinds whose files exist."""
    found: dict[str, Source] = {}
    for name in ("karate", "dolphins"):
        file = data / "graphs" / f"{name}.edges"
        if file.exists():
            found[name] = Drawn(partial(_read, str(file)), partial(_normal_ising, 0.3))
    for name in FAMILIES["Bayesian networks"]:
        file = data / "networks" / f"{name}.bif"
        if file.exists():
            found[name] = RepositoryNetwork(str(file))
    return found


def _read(file: str, _rng: Rng) -> Graph:
    return read_pairs(file)
