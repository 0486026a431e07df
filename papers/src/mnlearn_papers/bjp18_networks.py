"""Tables 3 to 5 of [BJP18, Sec. 4.2]: errors and run times of IB, BJP, MPL and GSMN on irregular networks.

Schlüter, Strappa, Milone & Bromberg, IJAR (2018): networks of 16 to 128 binary variables with few hubs and many
leaves, factors uniform on (0, 1), 250 to 8000 rows. IB and BJP are climbed by IBMAP-HC, MPL by its two phases; GSMN
decides.

Readings. Hub 1 is the double star: the printed irregularity, 392, is twice its total irregularity. The larger hub
networks are only drawn, and we found no graph of joined hubs with their irregularities (1916, 6624, 24496): ours go
on where the double star begins, a chain of 4, 8 and 16 hubs with 7 leaves each (1688, 6968, 28280). The scale-free
networks are drawn too; ours are trees of the Barabasi-Albert model, a new one for every data set. Factors are new
for every data set (the paper: ten distributions with ten data sets each), rows are drawn exactly. The real networks
are in the folder `graphs` of the data; where they are too dense to draw from exactly, rows come from a Gibbs
sampler, as in the paper. The figures of their table are not available, only what the paper says of them. eris1176
has six cliques of 19 to 80 variables, whose factors would have up to 2^80 values: those cliques, with 77 % of its
edges, have a factor on every pair.

What the paper leaves open is measured in several readings. GSMN is GSMN*; its test is not named: "gsmn" uses the
Bayesian test of the paper, "gsmn-chi2" chi-square at 0.05. "mpl" is that of [MPL17]; "mpl-ess" has α = N′ / (r q)
with N′ = 1 and no prior of graphs, as [BJP18, Sec. 2.2.1] writes it; "mpl-flat-and" has α = 1/2 and no prior of
graphs, and its graph has the edges that both ends propose in phase 1.

The number after a distance is called its standard deviation. It cannot be that of the data sets: where 2 of 100 of
them have one false edge (0.02 on the mean), it is 0.02 and not 0.14. We take it for an error of the mean. False and
missing edges have no such number. Their means are taken to be over 100 data sets, but for GSMN, IB and BJP in Table 4
over 10: with 16 variables these are whole tenths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from pathlib import Path
from time import process_time

import numpy as np

from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import uniform_factors
from mnlearn.distributions.sampling import sample
from mnlearn.graphs.generators import barabasi_albert
from mnlearn.graphs.graph import Graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.independence.discrete import ChiSquare
from mnlearn.protocols import IndependenceTest, Result
from mnlearn.scores.bjp import BJPScore
from mnlearn.scores.ib import IBScore
from mnlearn.scores.mpl import MPL
from mnlearn.statistics.counts import Counts
from mnlearn_papers.experiment import Case, Experiment, Source, read_pairs
from mnlearn_papers.measured import Measured, Measurement, Trial, data_files
from mnlearn_papers.reproduction import Key, Published, Reproduction, TableOfDistances

# The figures of [BJP18], Tables 3 and 4. Structure, rows; then for GSMN, MPL, IB and BJP the means of false edges
# (type I errors), missing edges (type II), and the Hamming distance with the number that is printed after it.


PUBLISHED_TABLE_3 = """
hub1 250 11.84 7.75 19.59 0.98 0.91 12.22 13.13 0.19 0.24 7.33 7.91 1.04 0.64 6.79 7.76 1.04
hub1 500 7.89 6.17 14.06 0.81 0.52 11.22 11.74 0.16 0.12 5.83 6.28 0.85 0.6 5.01 5.95 0.82
hub1 1000 5.02 4.57 9.59 0.57 0.24 10.19 10.43 0.14 0.05 4.59 4.87 0.71 0.41 3.72 4.47 0.67
hub1 2000 3.45 3.6 7.05 0.48 0.19 9.2 9.39 0.15 0.07 3.29 3.69 0.59 0.43 2.51 3.27 0.54
hub1 4000 2.65 2.51 5.16 0.36 0.14 8.06 8.2 0.14 0.11 2.15 2.37 0.46 0.33 1.63 2.29 0.43
hub1 8000 1.84 1.94 3.78 0.33 0.12 7.13 7.25 0.14 0.09 1.53 1.77 0.39 0.09 1.16 1.59 0.36
hub2 250 74.31 15.31 89.62 2.46 2.84 24.42 27.26 0.29 0.84 24.95 25.79 0.25 2.39 22.69 25.08 0.33
hub2 500 48.97 12.16 61.12 2.32 1.84 22.52 24.36 0.25 0.81 21.19 22.0 0.29 1.93 18.05 19.98 0.4
hub2 1000 30.33 9.31 39.64 1.49 1.0 20.56 21.56 0.23 0.49 17.01 17.5 0.34 1.9 13.59 15.49 0.44
hub2 2000 19.85 6.7 26.55 1.24 0.47 18.47 18.94 0.2 0.44 12.42 12.86 0.34 1.97 9.61 11.58 0.31
hub2 4000 14.76 5.07 19.83 1.0 0.34 16.34 16.68 0.2 0.23 9.11 9.34 0.32 1.64 6.72 8.36 0.3
hub2 8000 10.3 4.02 14.32 0.74 0.29 14.27 14.56 0.18 0.3 6.75 7.05 0.27 1.91 5.05 6.96 0.28
hub3 250 267.81 33.91 301.72 2.66 8.97 51.56 60.53 0.49 0.4 56.16 56.56 0.31 2.37 51.68 54.05 0.47
hub3 500 226.12 28.21 254.33 4.32 5.47 47.41 52.88 0.44 0.18 50.37 50.55 0.38 2.03 42.83 44.86 0.53
hub3 1000 153.75 23.31 177.06 4.16 3.34 42.88 46.22 0.44 0.2 42.14 42.34 0.52 1.85 34.53 36.38 0.66
hub3 2000 92.65 17.81 110.46 3.11 2.09 38.26 40.35 0.43 0.17 33.3 33.47 0.63 1.82 27.42 29.24 0.78
hub3 4000 57.68 13.64 71.32 1.69 1.13 33.86 34.99 0.43 0.08 26.2 26.28 0.67 1.46 21.04 22.5 0.78
hub3 8000 42.06 10.68 52.74 1.55 0.68 29.9 30.58 0.39 0.1 20.71 20.81 0.76 1.6 17.89 19.49 0.82
hub4 250 605.32 74.57 679.89 3.17 29.66 104.62 134.28 0.81 0.06 106.61 106.67 5.59 1.57 92.24 93.98 6.31
hub4 500 664.65 60.53 725.18 3.98 18.87 95.09 113.96 0.64 0.1 97.71 97.72 5.14 0.87 80.22 81.26 5.5
hub4 1000 627.37 48.7 676.07 5.96 11.82 86.42 98.24 0.67 0.1 84.34 84.36 4.47 0.37 64.94 65.48 4.5
hub4 2000 473.7 37.92 511.62 7.24 6.96 77.29 84.25 0.6 0.11 69.9 69.9 3.75 0.4 50.63 51.19 3.65
hub4 4000 292.78 28.13 320.91 5.76 3.97 68.73 72.7 0.53 0.11 57.81 57.81 3.28 0.67 42.63 43.47 3.37
hub4 8000 167.22 21.22 188.44 4.05 2.24 60.37 62.61 0.61 0.11 46.96 46.96 3.07 0.29 38.47 38.93 3.51
"""

PUBLISHED_TABLE_4 = """
scalefree1 250 10.9 8.8 19.7 2.6 0.7 11.65 12.35 0.24 0.3 11.0 11.3 1.05 1.0 10.2 11.2 0.8
scalefree1 500 9.1 5.9 15.0 2.69 0.39 10.24 10.63 0.18 0.6 9.4 10.0 0.93 1.3 8.7 10.0 1.03
scalefree1 1000 6.7 4.7 11.4 1.31 0.24 8.9 9.14 0.2 0.3 6.8 7.1 1.06 1.2 6.1 7.3 0.74
scalefree1 2000 3.3 3.7 7.0 1.58 0.08 7.45 7.53 0.16 0.5 4.6 5.1 0.69 0.6 4.6 5.2 0.67
scalefree1 4000 2.9 2.3 5.2 0.95 0.02 6.19 6.21 0.15 0.4 3.3 3.7 0.48 0.5 3.0 3.5 0.58
scalefree1 8000 1.4 2.0 3.0 0.86 0.02 4.9 4.92 0.15 0.0 2.3 2.3 0.65 0.3 2.0 2.3 0.71
scalefree2 250 70.6 16.5 87.1 6.26 2.62 24.89 27.51 0.31 1.1 25.4 26.5 1.12 3.38 22.5 25.88 1.23
scalefree2 500 43.2 14.8 58.0 2.47 1.33 22.75 24.08 0.31 0.3 22.1 22.4 1.38 1.62 18.75 20.38 1.67
scalefree2 1000 27.7 11.9 39.6 3.75 0.74 20.08 20.82 0.29 0.5 17.8 18.3 1.29 1.0 16.12 17.12 1.32
scalefree2 2000 18.9 8.8 27.7 1.21 0.48 17.79 18.27 0.25 0.9 12.7 13.6 0.86 1.75 10.38 12.12 0.98
scalefree2 4000 12.4 7.2 19.6 1.82 0.37 15.76 16.13 0.21 1.2 9.2 10.4 1.14 2.12 8.38 10.5 1.25
scalefree2 8000 7.7 4.9 12.6 1.44 0.24 14.17 14.41 0.23 0.33 6.22 6.56 1.05 1.5 5.5 7.0 0.79
scalefree3 250 262.3 35.1 297.4 5.04 8.33 50.78 59.11 0.63 0.25 57.5 57.75 2.6 0.67 54.67 55.33 1.01
scalefree3 500 209.9 29.5 239.4 8.19 4.29 45.85 50.14 0.56 0.25 51.75 52.0 3.21 0.67 43.33 44.0 3.82
scalefree3 1000 156.9 23.8 180.7 6.7 2.42 40.63 43.05 0.51 0.0 43.25 43.25 6.39 0.33 35.67 36.0 4.88
scalefree3 2000 104.4 18.9 123.3 5.6 1.36 35.35 36.71 0.51 0.25 33.25 33.5 4.56 3.33 24.33 27.67 3.65
scalefree3 4000 57.4 15.4 72.8 7.07 0.72 30.65 31.37 0.38 0.0 26.25 26.25 2.26 1.33 20.0 21.33 1.01
scalefree3 8000 34.7 11.6 46.3 2.76 0.55 26.97 27.52 0.39 0.0 19.0 19.0 1.7 0.67 15.33 16.0 3.16
scalefree4 250 599.6 74.8 674.4 10.44 26.91 104.51 131.42 1.37 0.0 123.2 123.2 0.7 3.8 112.6 116.4 1.76
scalefree4 500 667.0 59.4 726.4 9.4 15.95 93.49 109.44 1.23 0.0 110.7 110.7 1.91 0.2 100.8 101.0 2.48
scalefree4 1000 635.8 49.9 685.7 12.09 9.14 82.33 91.47 1.11 0.1 92.9 93.0 2.59 0.7 82.4 83.1 3.07
scalefree4 2000 492.0 41.2 533.2 15.53 4.89 72.58 77.47 0.99 0.1 79.1 79.2 3.3 1.0 63.5 64.5 3.83
scalefree4 4000 308.7 31.2 339.9 10.25 2.4 63.04 65.44 0.91 0.0 62.0 62.0 3.22 1.1 45.4 46.5 3.12
scalefree4 8000 164.9 24.3 189.2 9.32 1.51 55.58 57.09 0.85 0.0 47.9 47.9 2.5 1.1 33.2 34.3 2.53
"""


SIZES = (250, 500, 1000, 2000, 4000, 8000)
REPETITIONS = 100
LEAVES = 7  # of each hub
LARGEST_FACTOR = 16  # variables of the largest factor; only eris1176 has larger cliques
REAL = ("karate", "ibm32", "curtis54", "will57", "can_62", "dolphins", "polbooks", "adjnoun", "fs_541_1", "eris1176")
_READINGS = (("gsmn", "gsmn-chi2"), ("mpl", "mpl-ess", "mpl-flat-and"), ("ib",), ("bjp",))  # of each column


def by_gsmn_readings(data: Dataset) -> Mapping[str, Graph]:
    """Learn by GSMN* with the Bayesian test, and with chi-square at 0.05."""
    counts = Counts(data, n_jobs=1)
    tests: dict[str, IndependenceTest] = {"gsmn": BayesianTest(counts), "gsmn-chi2": ChiSquare(counts)}
    return {name: GSMNStar().learn(test).graph for name, test in tests.items()}


def by_mpl_readings(data: Dataset) -> Mapping[str, Graph]:
    """Learn by the two-phase search with the priors of [MPL17], and with those of [BJP18]."""
    counts = Counts(data, n_jobs=1)
    scores = {"mpl": MPL(counts), "mpl-ess": MPL(counts, sample_size=1.0, graph_prior=None)}
    return {name: TwoPhase().learn(score).graph for name, score in scores.items()}


def by_mpl_blankets(data: Dataset) -> Mapping[str, Graph]:
    """Learn by phase 1 of MPL alone, without a prior of graphs: the edges that both ends propose."""
    return {"mpl-flat-and": TwoPhase(combine="and").learn(MPL(Counts(data, n_jobs=1), graph_prior=None)).graph}


def by_ib(data: Dataset) -> Mapping[str, Graph]:
    """Learn by IBMAP-HC with the IB-score."""
    return {"ib": IBMAPHC().learn(IBScore(BayesianTest(Counts(data, n_jobs=1)))).graph}


def by_bjp(data: Dataset) -> Mapping[str, Graph]:
    """Learn by IBMAP-HC with BJP."""
    return {"bjp": IBMAPHC().learn(BJPScore(BayesianTest(Counts(data, n_jobs=1)))).graph}


METHODS = {
    "gsmn": by_gsmn_readings,
    "mpl": by_mpl_readings,
    "ib": by_ib,
    "bjp": by_bjp,
    "mpl-flat-and": by_mpl_blankets,
}


def chain_of_hubs(n_hubs: int, n_leaves: int = LEAVES) -> Graph:
    """Hubs in a row, each with leaves of its own; two of them are the double star.

    Examples
    --------
    >>> chain_of_hubs(3, 1).edges
    ((0, 1), (0, 3), (1, 2), (1, 4), (2, 5))
    """
    row = [(hub, hub + 1) for hub in range(n_hubs - 1)]
    spokes = [(hub, n_hubs + hub * n_leaves + leaf) for hub in range(n_hubs) for leaf in range(n_leaves)]
    return Graph(n_hubs * (1 + n_leaves), [*row, *spokes])


@dataclass(frozen=True)
class Hubs:
    """A chain of hubs, with new factors for every data set."""

    n_hubs: int

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw a distribution, then rows of it."""
        return _drawn(chain_of_hubs(self.n_hubs), n_rows, rng)


@dataclass(frozen=True)
class ScaleFree:
    """A tree of the Barabasi-Albert model, it and its factors new for every data set."""

    n_variables: int

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw a tree, a distribution, then rows of it."""
        return _drawn(barabasi_albert(self.n_variables, 1, rng), n_rows, rng)


@dataclass(frozen=True)
class RealNetwork:
    """A network of the real world as a graph, with new factors for every data set."""

    file: str

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw a distribution, then rows of it."""
        return _drawn(_graph(self.file), n_rows, rng)


def hub_networks(_data: Path | None = None) -> Experiment:
    """Table 3."""
    return Experiment("bjp-table3", {f"hub{k}": Hubs(2**k) for k in (1, 2, 3, 4)}, METHODS)


def scale_free_networks(_data: Path | None = None) -> Experiment:
    """Table 4."""
    return Experiment("bjp-table4", {f"scalefree{k}": ScaleFree(8 * 2**k) for k in (1, 2, 3, 4)}, METHODS)


def real_networks(data: Path | None) -> Experiment:
    """Table 5."""
    files = data_files(data, "graphs/*.edges", {name: f"{name}.edges" for name in REAL})
    return Experiment("bjp-real", {name: RealNetwork(str(file)) for name, file in files.items()}, METHODS)


@lru_cache(maxsize=16)  # one process reads a network once
def _graph(file: str) -> Graph:
    return read_pairs(file)


def _drawn(graph: Graph, n_rows: int, rng: np.random.Generator) -> Case:
    """Rows of a distribution with uniform factors on the maximal cliques of the graph."""
    return Case(sample(uniform_factors(graph, rng, max_clique=LARGEST_FACTOR), n_rows, rng).dataset(), graph)


def _published(table: str, data_sets: int) -> Iterator[tuple[Key, Published]]:
    """Yield the figures of a table; a printed error is that of the mean, which then counts as one observation."""
    for line in table.split("\n")[1:-1]:
        name, rows, *numbers = line.split()
        columns = np.array(numbers, dtype=float).reshape(len(_READINGS), 4).tolist()
        for readings, (false, missing, distance, error) in zip(_READINGS, columns, strict=True):
            n = REPETITIONS if "mpl" in readings else data_sets
            for learner in readings:
                yield Key(name, int(rows), learner), Published(distance, error, 1)
                yield Key(name, int(rows), f"{learner} false"), Published(false, nan, n)
                yield Key(name, int(rows), f"{learner} missing"), Published(missing, nan, n)


DISTANCES_3 = TableOfDistances(
    "bjp-table3", hub_networks, dict(_published(PUBLISHED_TABLE_3, data_sets=REPETITIONS)), SIZES, REPETITIONS
)
DISTANCES_4 = TableOfDistances(
    "bjp-table4", scale_free_networks, dict(_published(PUBLISHED_TABLE_4, data_sets=10)), SIZES, REPETITIONS
)

_ALTERNATIVES = frozenset(reading for readings in _READINGS for reading in readings[1:])

TABLE_3 = Reproduction(
    title="BJP18 Table 3: hubs with leaves, 16 to 128 binary variables",
    measure=DISTANCES_3,
    alternatives=_ALTERNATIVES,
)

TABLE_4 = Reproduction(
    title="BJP18 Table 4: scale-free networks of 16 to 128 binary variables",
    measure=DISTANCES_4,
    alternatives=_ALTERNATIVES,
)

REAL_NETWORKS = Reproduction(
    title="BJP18 Table 5: real networks of 32 to 1176 variables",
    measure=TableOfDistances("bjp-real", real_networks, {}, SIZES, REPETITIONS),
    needs_data=True,
)


# Figures 7, 9 and 11 of [BJP18]: run times, as plots without numbers. Each learner runs by itself, in the reading that
# the paper describes, with nothing counted before. Seconds depend on the program; the work of IB and BJP does not:
#
# - "terms": the log posteriors that a climb needs, those of the empty graph and those that its flips change.
# - "flips": the steps of the climb.


def learn_gsmn(counts: Counts) -> Result:
    """GSMN* with the Bayesian test."""
    return GSMNStar().learn(BayesianTest(counts))


def learn_mpl(counts: Counts) -> Result:
    """The two-phase search with the priors of [MPL17]."""
    return TwoPhase().learn(MPL(counts))


def learn_ib(counts: Counts) -> Result:
    """IBMAP-HC with the IB-score."""
    return IBMAPHC().learn(IBScore(BayesianTest(counts)))


def learn_bjp(counts: Counts) -> Result:
    """IBMAP-HC with BJP."""
    return IBMAPHC().learn(BJPScore(BayesianTest(counts)))


TIME_REPETITIONS = 20  # ours; the paper has 100
TIMED = {"gsmn": learn_gsmn, "mpl": learn_mpl, "ib": learn_ib, "bjp": learn_bjp}
CLIMBS = ("ib", "bjp")


@dataclass(frozen=True)
class RunTimes:
    """The processor time of every learner on one data set; of climbs also their work.

    A run of less than a second is repeated, and the faster one counts: the first run of a process is slower.
    """

    source: Source

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Learn from `size` rows."""
        data = self.source(size, rng).data
        pairs = data.n_variables * (data.n_variables - 1) // 2
        found = {}
        for name, learn in TIMED.items():
            seconds, result = _timed(learn, data)
            if seconds < 1:
                seconds = min(seconds, _timed(learn, data)[0])
            found[f"{name} seconds"] = Measured(seconds, seconds)
            if name in CLIMBS:
                found[f"{name} terms"] = Measured(pairs + result.cost["recomputed"], seconds)
                found[f"{name} flips"] = Measured(result.cost["flips"], seconds)
        return found


def _timed(learn: Callable[[Counts], Result], data: Dataset) -> tuple[float, Result]:
    """Run a learner that counts for itself."""
    started = process_time()
    result = learn(Counts(data, n_jobs=1))
    return process_time() - started, result


def _networks(data: Path | None) -> Mapping[str, Trial]:
    """The networks of up to 128 variables; the real ones if there is a folder of data."""
    sources = {**hub_networks().sources, **scale_free_networks().sources}
    if data is not None:
        sources |= real_networks(data).only(REAL[:-2]).sources  # a run on the two largest may take minutes
    return {name: RunTimes(source) for name, source in sources.items()}


RUN_TIMES = Reproduction(
    title="BJP18 Figures 7, 9 and 11: run times, and the work of IB and BJP (real networks with --data)",
    measure=Measurement(
        name="bjp-runtimes",
        trials=_networks,
        learners=(
            *(f"{name} seconds" for name in TIMED),
            *(f"{name} {work}" for work in ("terms", "flips") for name in CLIMBS),
        ),
        sizes=SIZES,
        repetitions=TIME_REPETITIONS,
    ),
    quantity="seconds, terms, flips",
)
