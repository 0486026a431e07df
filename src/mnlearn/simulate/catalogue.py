"""Networks and distributions by name: what `mnlearn simulate` understands.

A name may carry settings after a colon: `random:n=50,degree=4`, `grid:rows=4,columns=5`, `ising:coupling=0.4`. What is
left out has the default that the tables below show.

The example data set: answers to a survey on sleep and work, drawn from a network that is known.

It ships as this recipe, not as a file. People who work night shifts are tired more often than others. Among people who
sleep equally well, night shifts and tiredness are independent: poor sleep separates the two.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, Kind
from mnlearn.distributions.bif import read_bif
from mnlearn.distributions.factors import (
    FactorNetwork,
    PairwiseNetwork,
    agreement_factors,
    ising,
    random_pairwise_factors,
    sample_exact,
    uniform_factors,
    with_log_odds,
)
from mnlearn.distributions.gaussian import (
    GaussianNetwork,
    equal_partial_correlations,
    sparse_gaussian,
)
from mnlearn.distributions.sampling import METHODS, USUAL_PLAN, GibbsPlan, Method, Sample, sample
from mnlearn.errors import InputError, check_name, check_path, unknown_name, whole_number
from mnlearn.graphs.formats import read_graph
from mnlearn.graphs.generators import (
    barabasi_albert,
    clique_chain,
    cycle,
    erdos_renyi,
    grid,
    hubs,
    path,
    random_graph,
    random_tree,
    star,
)
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.numbers import Seed
from mnlearn.parallel import job_count
from mnlearn.simulate.margins import KINDS, Margin, dependent_gaps, random_gaps, spread_margins
from mnlearn.simulate.mixed import SWEEPS, LatentNetwork, MixedNetwork, latent_network, mixed_network, ordinal_field

Rng = np.random.Generator


class Shape(NamedTuple):
    """A graph by name: title, settings with their defaults, and the function that makes it."""

    title: str
    settings: Mapping[str, Any]
    make: Callable[..., Graph]


class Law(NamedTuple):
    """A distribution on a graph by name: title, settings with their defaults, and the function that makes it."""

    title: str
    settings: Mapping[str, Any]
    make: Callable[..., FactorNetwork | PairwiseNetwork | GaussianNetwork | LatentNetwork | MixedNetwork]


class Removal(NamedTuple):
    """A way to remove values by name: title, settings with their defaults, and the function that does it."""

    title: str
    settings: Mapping[str, Any]
    make: Callable[..., Dataset]


NETWORKS: Mapping[str, Shape] = {
    "random": Shape("average degree", {"n": 20, "degree": 2.0}, lambda rng, n, degree: random_graph(n, degree, rng)),
    "erdos-renyi": Shape("each pair by chance", {"n": 20, "p": 0.1}, lambda rng, n, p: erdos_renyi(n, p, rng)),
    "scale-free": Shape("Barabasi-Albert", {"n": 20, "links": 1}, lambda rng, n, links: barabasi_albert(n, links, rng)),
    "tree": Shape("a random tree", {"n": 20}, lambda rng, n: random_tree(n, rng)),
    "path": Shape("a chain", {"n": 20}, lambda _, n: path(n)),
    "cycle": Shape("a ring", {"n": 20}, lambda _, n: cycle(n)),
    "star": Shape("one hub", {"n": 20}, lambda _, n: star(n)),
    "hubs": Shape("hubs with leaves", {"hubs": 2, "leaves": 7}, lambda _, hubs_, leaves: hubs(hubs_, leaves)),
    "grid": Shape(
        "a lattice",
        {"rows": 4, "columns": 4, "periodic": False},
        lambda _, rows, columns, periodic: grid(rows, columns, periodic=periodic),
    ),
    "cliques": Shape(
        "cliques in a row",
        {"n": 16, "size": 3, "overlap": 1},
        lambda _, n, size, overlap: clique_chain(n, size, overlap),
    ),
}
"""Every network that has a name. A file with a graph, or with a Bayesian network (.bif), may take its place."""

DISTRIBUTIONS: Mapping[str, Law] = {
    "uniform": Law(
        "uniform(0,1) factors on maximal cliques",
        {"states": 2},
        lambda graph, rng, states: uniform_factors(graph, rng, cards=states),
    ),
    "odds": Law(
        "binary, a given log odds ratio per edge",
        {"theta": 1.5, "signs": "same", "fields": 0.0, "law": "alike"},
        lambda graph, rng, theta, signs, fields, law: with_log_odds(
            graph, theta, rng, signs=signs, fields=fields, law=law
        ),
    ),
    "ising": Law(
        "Ising, couplings mixed, normal or equal",
        {"coupling": 0.4, "law": "mixed"},
        lambda graph, rng, coupling, law: ising(graph, coupling, rng, law=law),
    ),
    "potts": Law(
        "agreement of any number of states",
        {"theta": 1.5, "states": 3},
        lambda graph, _, theta, states: agreement_factors(graph, theta, cards=states),
    ),
    "tables": Law(
        "random pairwise tables",
        {"strength": 1.0, "states": 3, "fields": 0.0},
        lambda graph, rng, strength, states, fields: random_pairwise_factors(
            graph, strength, rng, cards=states, fields=fields
        ),
    ),
    "gaussian": Law(
        "normal, edges of random strength",
        {"weakest": 0.3, "strongest": 0.8, "signs": "mixed"},
        lambda graph, rng, weakest, strongest, signs: sparse_gaussian(
            graph, rng, weakest=weakest, strongest=strongest, signs=signs
        ),
    ),
    "partial": Law(
        "normal, the same partial correlation per edge",
        {"correlation": 0.2},
        lambda graph, _, correlation: equal_partial_correlations(graph, correlation),
    ),
    "ordinal": Law(
        "ordinal, one slope per edge",
        {"states": 5, "weakest": 0.12, "strongest": 0.35, "skew": 0.0, "thresholds": 0.0},
        lambda graph, rng, states, weakest, strongest, skew, thresholds: ordinal_field(
            graph, rng, states=states, weakest=weakest, strongest=strongest, skew=skew, thresholds=thresholds
        ),
    ),
    "mixed": Law(
        "variables of several kinds",
        {"kinds": "+".join(KINDS), "states": 3, "mean": 3.0, "weakest": 0.12, "strongest": 0.35, "skew": 0.0},
        lambda graph, rng, kinds, states, mean, weakest, strongest, skew: mixed_network(
            graph,
            _margins(graph, rng, kinds, Margin("count", states, skew, mean)),
            rng,
            weakest=weakest,
            strongest=strongest,
        ),
    ),
    "latent": Law(
        "monotone functions of normal variables",
        {"kinds": "ordinal", "states": 5, "mean": 3.0, "weakest": 0.2, "strongest": 0.4, "skew": 0.0},
        lambda graph, rng, kinds, states, mean, weakest, strongest, skew: latent_network(
            graph,
            _margins(graph, rng, kinds, Margin("count", states, skew, mean)),
            rng,
            weakest=weakest,
            strongest=strongest,
        ),
    ),
}
"""Every distribution that can be put on a graph."""

GAPS: Mapping[str, Removal] = {
    "mcar": Removal(
        "each value with the same probability", {"share": 0.2}, lambda data, rng, share: random_gaps(data, share, rng)
    ),
    "mar": Removal(
        "by the value of a complete column",
        {"low": 0.1, "high": 0.6},
        lambda data, rng, low, high: dependent_gaps(data, rng, low=low, high=high),
    ),
}
"""Every way to remove values."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """Rows, the network behind them, and how they were drawn.

    Attributes
    ----------
    data
        The rows.
    truth
        The true graph, with the names of the data.
    notes
        How the rows were drawn, in words, with the convergence diagnostics of Gibbs chains.
    converged
        False when Gibbs chains did not agree; exact rows have nothing to converge.
    """

    data: Dataset
    truth: NamedGraph
    notes: str
    converged: bool = field(default=True)


def simulate(
    network: str | os.PathLike[str],
    distribution: str | None = None,
    *,
    n_rows: int,
    seed: int,
    gaps: str | None = None,
    method: Method = "auto",
    plan: GibbsPlan = USUAL_PLAN,
    n_jobs: int | None = None,
) -> Simulated:
    """Draw data from a network by name.

    Parameters
    ----------
    network
        A name of `NETWORKS` with its settings, or a file: a graph, or a Bayesian network (.bif, .bif.gz).
    distribution
        A name of `DISTRIBUTIONS` with its settings; uniform when left out. Bayesian networks have their own.
    n_rows
        Number of rows, at least 1.
    seed
        At least 0. The graph, the parameters, the rows and the gaps are drawn from four streams of it, so that more
        rows of the same seed come from the same distribution.
    gaps
        A name of `GAPS` with its settings: remove values from the rows. The data have no gaps when left out.
    method, plan
        As for `mnlearn.simulate.sample`. Normal, ordinal, latent and mixed data and Bayesian networks are drawn in one
        way only: they take no other method than "auto".
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.

    Examples
    --------
    >>> drawn = simulate("grid:rows=3,columns=3", "ising:coupling=0.3", n_rows=100, seed=1)
    >>> drawn.data.n_rows, drawn.truth.graph.n_edges, drawn.notes
    (100, 12, 'exact, by elimination')
    """
    check_path("network", network)
    for argument, value, known in (("distribution", distribution, DISTRIBUTIONS), ("gaps", gaps, GAPS)):
        if not isinstance(value, str | None):
            raise InputError(f"{argument} must be a string; got {value!r}. Known: {', '.join(known)}.")
    whole_number("n_rows", n_rows, least=1, most=10**12, hint="Ask for at least one row.")
    of_seed = whole_number("seed", seed, least=0, hint="The same seed gives the same data.")
    check_name("method", method, METHODS)
    job_count(n_jobs)  # raises
    removal = _removal(gaps)
    shape_rng, law_rng, row_rng, gap_rng = (np.random.default_rng([of_seed, stream]) for stream in range(4))
    if _is_bayesian(network):
        _refuse_distribution(distribution, network)
        _refuse_method(method, os.fspath(network))
        drawn = _from_bayesian(network, n_rows, row_rng)
    else:
        truth = _graph(network, shape_rng)
        model = _model(truth.graph, distribution or "uniform", law_rng)
        if not isinstance(model, FactorNetwork | PairwiseNetwork):
            _refuse_method(method, distribution or "")
            drawn = Simulated(model.dataset(n_rows, row_rng, truth.names), truth, _DRAWN[type(model)])
        else:
            drawn = _judged(sample(model, n_rows, row_rng, method=method, plan=plan, n_jobs=n_jobs), truth)
    return replace(drawn, data=removal(drawn.data, gap_rng))


_DRAWN = {
    GaussianNetwork: "exact, normal",
    LatentNetwork: "exact, from normal variables",
    MixedNetwork: f"a Gibbs chain of {SWEEPS} sweeps for each row",
}


def _from_bayesian(network: str | os.PathLike[str], n_rows: int, rng: Rng) -> Simulated:
    """Rows from a Bayesian network in a file."""
    directed = read_bif(network)
    truth = NamedGraph(directed.moral_graph(), directed.names)
    return Simulated(directed.sample(n_rows, rng), truth, "exact, forward through the Bayesian network")


def _model(graph: Graph, distribution: str, rng: Rng) -> Any:
    """A distribution by name on a graph."""
    name, settings = _parsed(distribution)
    check_name("distribution", name, DISTRIBUTIONS)
    law = DISTRIBUTIONS[name]
    return law.make(graph, rng, *settings_as_written(name, law.settings, settings).values())


def _judged(drawn: Sample, truth: NamedGraph) -> Simulated:
    """Rows of a discrete network, with the convergence of Gibbs chains."""
    notes = "exact, by elimination" if drawn.method == "eliminate" else "exact, by enumeration"
    if drawn.method == "gibbs":
        notes = f"Gibbs chains, {drawn.convergence or 'too few rows to judge convergence'}"
    agreed = drawn.convergence is None or drawn.convergence.converged
    return Simulated(drawn.dataset(truth.names), truth, notes, agreed)


def _removal(gaps: str | None) -> Callable[[Dataset, Rng], Dataset]:
    """Return the function that removes values."""
    if gaps is None:
        return lambda data, _: data
    name, settings = _parsed(gaps)
    check_name("gaps", name, GAPS)
    removal = GAPS[name]
    values = settings_as_written(name, removal.settings, settings).values()
    return lambda data, rng: removal.make(data, rng, *values)


def _margins(graph: Graph, rng: Rng, kinds: str, settings: Margin) -> tuple[Margin, ...]:
    """The kinds, written with + between them, in turn and in random order, with the same settings."""
    margins = [replace(settings, kind=cast("Kind", kind)) for kind in kinds.split("+")]
    return spread_margins(graph.n_variables, margins, rng)


def _graph(network: str | os.PathLike[str], rng: Rng) -> NamedGraph:
    """A graph by name, or from a file."""
    name, settings = _parsed(os.fspath(network))
    if name in NETWORKS:
        shape = NETWORKS[name]
        graph = shape.make(rng, *settings_as_written(name, shape.settings, settings).values())
        return NamedGraph(graph, tuple(f"x{x}" for x in range(graph.n_variables)))
    if Path(network).suffix or Path(network).exists():
        return read_graph(network)
    raise unknown_name("network", name, NETWORKS, shown=20)


def _parsed(words: str) -> tuple[str, dict[str, str]]:
    """A name, and the settings after its colon as they were written."""
    name, _, rest = words.partition(":")
    return (name, written_pairs(name, rest, words)) if name in _known() else (words, {})


def written_pairs(name: str, written: str, words: str) -> dict[str, str]:
    """Settings written as key=value with commas between; `words` is what they are a part of."""
    settings: dict[str, str] = {}
    for pair in filter(None, written.split(",")):
        key, sign, value = pair.partition("=")
        if not sign or not value or key.strip() in settings:
            raise InputError(f"settings of {name} must be written key=value, each once; got {pair!r} in {words!r}.")
        settings[key.strip()] = value.strip()
    return settings


def _known() -> set[str]:
    """Every name that may carry settings."""
    return {*NETWORKS, *DISTRIBUTIONS, *GAPS}


def settings_as_written(name: str, defaults: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The defaults with what was given in their place, each of the type of its default."""
    found = dict(defaults)
    for key, text in given.items():
        if key not in defaults:
            raise unknown_name(f"setting of {name}", key, defaults)
        found[key] = _value(f"{key} of {name}", text, defaults[key])
    return found


def _value(what: str, text: str, default: Any) -> Any:
    """A written value as the type of its default."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"{what} must be true or false; got {text!r}.")
        return text.lower() == "true"
    kind = type(default)
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{what} must be a{'n integer' if kind is int else ' number'}; got {text!r}.") from None


def _is_bayesian(network: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a file with a Bayesian network."""
    return os.fspath(network).lower().endswith((".bif", ".bif.gz"))


def _refuse_distribution(distribution: str | None, network: str | os.PathLike[str]) -> None:
    """Raise InputError if a distribution is given for a network that has its own."""
    if distribution is not None:
        raise InputError(
            f"distribution is for graphs; {os.fspath(network)!r} has its own, got {distribution!r} beside it. Drop it."
        )


def _refuse_method(method: Method, drawn: str) -> None:
    """Raise InputError if a method is given for a network with only one."""
    if method != "auto":
        raise InputError(
            f"method must be 'auto' for {drawn!r}, which is drawn in one way only; got {method!r}. Drop it."
        )


_LABELS = ("no", "yes")

# Question, and the log odds of a yes before the answers that go with it are known; a tenth to two thirds then say yes.
_FIELDS = {
    "night_shifts": -0.9,
    "late_coffee": 0.0,
    "screen_in_bed": -0.1,
    "poor_sleep": 0.3,
    "stress": 0.4,
    "fatigue": 0.0,
    "exercise": -0.4,
    "low_mood": -0.8,
    "headaches": -0.4,
    "social_support": 0.3,
    "sick_leave": -0.9,
    "left_handed": -2.2,
}

# Which answers go together directly, and how strongly: the log odds ratio of the edge.
_LOG_ODDS = {
    ("night_shifts", "late_coffee"): 1.6,
    ("night_shifts", "poor_sleep"): 2.4,
    ("late_coffee", "poor_sleep"): 1.5,
    ("screen_in_bed", "poor_sleep"): 1.5,
    ("poor_sleep", "stress"): 1.8,
    ("poor_sleep", "fatigue"): 2.6,
    ("stress", "low_mood"): 1.7,
    ("stress", "headaches"): 1.8,
    ("fatigue", "exercise"): -1.6,
    ("exercise", "low_mood"): -1.5,
    ("low_mood", "social_support"): -1.9,
    ("headaches", "sick_leave"): 2.0,
}


@dataclass(frozen=True, eq=False)
class Example:
    """A data set together with the graph it was drawn from.

    `codes[i, x]` is the answer of person i to the question `names[x]`, an index into `labels`.
    """

    names: tuple[str, ...]
    codes: NDArray[np.uint8]
    graph: Graph
    labels: tuple[str, ...] = _LABELS

    def columns(self) -> dict[str, list[str]]:
        """The answers as words, by question: what a data frame or a table is made from."""
        return {name: [self.labels[code] for code in self.codes[:, x].tolist()] for x, name in enumerate(self.names)}


def example_network() -> tuple[PairwiseNetwork, tuple[str, ...]]:
    """The network behind `example`, and the names of its variables."""
    names = tuple(_FIELDS)
    place = {name: x for x, name in enumerate(names)}
    log_odds = {(place[a], place[b]): theta for (a, b), theta in _LOG_ODDS.items()}
    return PairwiseNetwork(Graph(len(names), log_odds), log_odds, tuple(_FIELDS.values())), names


def example(n_rows: int = 1000, seed: Seed = 1) -> Example:
    """Draw the example data set: twelve yes-or-no questions on sleep and work, and their true graph.

    Parameters
    ----------
    n_rows
        How many people answer.
    seed
        An integer, or a generator to draw from; the same seed gives the same answers.

    Examples
    --------
    >>> survey = example()
    >>> survey.codes.shape, survey.graph.n_edges
    ((1000, 12), 12)
    >>> shifts, sleep, tired = map(survey.names.index, ("night_shifts", "poor_sleep", "fatigue"))
    >>> survey.graph.separates(shifts, tired), survey.graph.separates(shifts, tired, {sleep})
    (False, True)
    """
    network, names = example_network()
    return Example(names, sample_exact(network, n_rows, seed), network.graph)
