"""Experiments of Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14]: synthetic networks and UCI tables.

Synthetic networks: does weighting the tests beat trusting them?

Schlüter, Bromberg & Edera, AMAI (2014): GSMN and HHC-MN take every answer of a test for true, and one wrong answer
leads to others; IBMAP-HC climbs the IB-score, which weighs all answers together. Random networks of growing
connectivity with pairwise factors of one log odds ratio, and Ising spin glasses; Hamming distance.

Readings. The paper shows its results as plots, without numbers, so there is no published figure here; what can be
checked is who comes first. The text at our disposal has also lost the sizes: 75 variables, τ neighbours on average
(τ = 1, 2, 4, 8) and a log odds ratio of 1 are those of the authors' earlier paper [JAIR09], the lattices (wrapped
around, couplings of ± 1/4, which is the same log odds ratio) and the numbers of rows are ours. All learners ask the
Bayesian test. GSMN is GSMN*: the one that starts again after every change joins most pairs here (1500 to 2100 of 2775
at τ = 1 and 50 to 800 rows), and takes a hundred times as long.

With the same sign on every edge many neighbours make all variables agree: at τ = 8 the rows are almost all alike, and
no chain moves between the two kinds. "mixed" draws the sign of every edge. The paper draws the other parameters at
random and does not say how: "uniform" takes three entries of each factor from (0, 1) and sets the fourth by the log
odds ratio (`with_log_odds`), all others have equal factors and no fields. An Ising model has couplings and fields, so
"uniform" on a lattice is the same law with the ratio ±1: couplings of ±1/4 as before, in random fields.

The paper explains the success of IBMAP-HC within MOA by better structures, which it compares on these data sets. So
"moa-1" to "moa-8" and "moa-any" are MOA's learner, pairs with more than 1.5 times the mean mutual information, with a
bound on the neighbours and without.

Does a better structure save fitness evaluations?  MOA against MOA' on OneMax and Royal Road  [IBMAP14].

Schlüter, Bromberg & Edera, AMAI (2014), the section on estimation of distribution algorithms: MOA learns its
structure by mutual information with a bound on the neighbours, MOA' by IBMAP-HC without one. For growing problems
the paper gives the critical population (the smallest with the wanted success rate) and the fitness evaluations at
that size, and finds that MOA' never needs more: on Royal Road at best half of the evaluations, on OneMax a quarter
less.

Readings. The text available to us has lost all numbers of this section: there are no published figures here. Ours:
truncation of one half, one half stays (elitism), T = 1 / (0.2 g), 4 n ln n updates, at most 60 generations; 19 of
20 runs must reach the optimum, and the bisection ends at a tenth. MOA knows the truth about its bound: group − 1
neighbours, on OneMax one. After the bisection 20 other runs at the critical population tell the success rate, the
evaluations and the distance of the last structure that was learned to the cliques of the groups; a repetition is
one such search. An algorithm that fails with 8192 individuals has the success 0 and no other number.

- "population", "evaluations": of those that reached the optimum;
- "success": the share of the other runs that did;
- "hamming": edges too many and edges missing in the last structure;
- "ratio": evaluations of MOA' to those of MOA.

Appendix of [IBMAP14]: does the IB-score fall with the distance to the truth, and does IBMAP-HC find its maximum?

Schlüter, Bromberg & Edera, AMAI (2014): the IB-score of all graphs of a small domain against their Hamming distance
to the true one. The paper sees a curve that falls, the more clearly the more rows there are, and IBMAP-HC always at
its highest point. It shows plots; what they show is put into numbers here:

- "correlation" of distance and score over all graphs: −1 if every step away from the truth costs the same;
- "reached": whether IBMAP-HC finds the highest score of all;
- "gap": by how much it misses it;
- "error of ibmap-hc", "error of the best": the distance to the truth of what it finds, and of the highest of all.

Readings. Six variables (32,768 graphs), random graphs with τ neighbours on average and a log odds ratio of 1, as in
`ibmap14`; the paper's own sizes are lost in the text available to us.

For more variables a sample: as many graphs at every distance, random ones. Whether IBMAP-HC reaches the highest score
cannot be known then. Instead of "reached" and "gap":

- "surpassed": whether one of the graphs drawn, or the truth, has a higher score than the graph of IBMAP-HC;
- "truth ahead": whether the truth has; then the search is at fault, else the score;
- "correlation": all distances have the same weight; "nearby" is that of the tenth of the distances next to the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np

from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data.dataset import Dataset
from mnlearn.distributions.factors import ParameterLaw, with_log_odds
from mnlearn.distributions.sampling import sample
from mnlearn.errors import InputError, MnlearnError
from mnlearn.evaluation.subgraphs import independence_accuracy
from mnlearn.graphs.generators import grid, random_graph
from mnlearn.graphs.graph import Graph
from mnlearn.independence.bayesian import BayesianTest
from mnlearn.scores.ib import IBScore
from mnlearn.statistics.counts import Counts
from mnlearn_papers.experiment import Case, Experiment, RandomNetwork
from mnlearn_papers.jair09 import TABLES, Table, prepared, table_files
from mnlearn_papers.landscape import Landscape, landscape, sample_landscape
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.optimize.critical import critical_population
from mnlearn_papers.optimize.driver import maximize
from mnlearn_papers.optimize.eda import MarkovEDA, MutualInformationStructure
from mnlearn_papers.optimize.history import Optimum
from mnlearn_papers.optimize.problems import Problem, royal_road
from mnlearn_papers.reproduction import Reproduction, TableOfDistances

SIZES = (50, 100, 200, 400, 800, 1600, 3200)
REPETITIONS = 10
VARIABLES = 75
CONNECTIVITIES = (1, 2, 4, 8)
SIDES = (4, 6, 8, 10)
LOG_ODDS = 1.0
NEIGHBOR_BOUNDS = (1, 2, 4, 8)


def by_gsmn(data: Dataset) -> Mapping[str, Graph]:
    """Learn by GSMN*, which trusts every test."""
    return {"gsmn": GSMNStar().learn(BayesianTest(Counts(data, n_jobs=1))).graph}


def by_hhc(data: Dataset) -> Mapping[str, Graph]:
    """Learn by HHC-MN, which trusts every test; sets of any size, both ends must agree."""
    return {"hhc-mn": HHCMN().learn(BayesianTest(Counts(data, n_jobs=1))).graph}


def by_ibmap(data: Dataset) -> Mapping[str, Graph]:
    """Learn by IBMAP-HC, which weights the tests."""
    return {"ibmap-hc": IBMAPHC().learn(IBScore(BayesianTest(Counts(data, n_jobs=1)))).graph}


def by_mutual_information(data: Dataset) -> Mapping[str, Graph]:
    """Learn by the mutual information of pairs, as MOA does, with several bounds on the neighbours."""
    bounds = {**{f"moa-{k}": k for k in NEIGHBOR_BOUNDS}, "moa-any": None}
    return {name: MutualInformationStructure(max_neighbors=bound)(data) for name, bound in bounds.items()}


METHODS = {"gsmn": by_gsmn, "hhc-mn": by_hhc, "ibmap-hc": by_ibmap}
SYNTHETIC_METHODS = {**METHODS, "moa": by_mutual_information}


@dataclass(frozen=True)
class SpinGlass:
    """A periodic square lattice with couplings of either sign, new for every data set."""

    side: int
    law: ParameterLaw = "alike"

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        """Draw couplings of ±1/4 (a log odds ratio of ±1) and the fields of the law, then rows."""
        graph = grid(self.side, self.side, periodic=True)
        model = with_log_odds(graph, LOG_ODDS, rng, signs="mixed", law=self.law)
        return Case(sample(model, n_rows, rng).dataset(), graph)


def random_networks(_data: Path | None = None) -> Experiment:
    """The first synthetic experiment."""
    same = {f"tau={tau}": RandomNetwork(VARIABLES, tau, LOG_ODDS) for tau in CONNECTIVITIES}
    mixed = {f"tau={tau},mixed": RandomNetwork(VARIABLES, tau, LOG_ODDS, "mixed") for tau in CONNECTIVITIES}
    uniform = {f"tau={tau} uniform": RandomNetwork(VARIABLES, tau, LOG_ODDS, law="uniform") for tau in CONNECTIVITIES}
    return Experiment("ibmap-random", {**same, **mixed, **uniform}, SYNTHETIC_METHODS)


def spin_glasses(_data: Path | None = None) -> Experiment:
    """The second synthetic experiment."""
    alike = {f"{side}x{side}": SpinGlass(side) for side in SIDES}
    uniform = {f"{side}x{side} uniform": SpinGlass(side, "uniform") for side in SIDES}
    return Experiment("ibmap-ising", {**alike, **uniform}, SYNTHETIC_METHODS)


RANDOM = Reproduction(
    title="IBMAP14: random networks of 75 binary variables, IBMAP-HC against GSMN and HHC-MN",
    measure=TableOfDistances("ibmap-random", random_networks, {}, SIZES, REPETITIONS),
)

ISING = Reproduction(
    title="IBMAP14: Ising spin glasses, IBMAP-HC against GSMN and HHC-MN",
    measure=TableOfDistances("ibmap-ising", spin_glasses, {}, SIZES, REPETITIONS),
)


# How many ascents does IBMAP-HC need?
#
# Schlüter, Bromberg & Edera, AMAI (2014): the cost of IBMAP-HC is the number of ascents times a polynomial, and the
# paper finds that the ascents grow more slowly than the number of variables. Here a repetition draws one random network
# for each of `ASCENT_VARIABLES`; its "exponent" is the slope of log ascents on log variables, so that the spread of
# the repetitions gives the error of the exponent. "n=100" is the number of ascents for 100 variables.


ASCENT_VARIABLES = (12, 25, 50, 100, 200)
ASCENT_ROWS = (400, 1600, 6400)
ASCENT_CONNECTIVITIES = (1, 2, 4)
ASCENT_REPETITIONS = 20


@dataclass(frozen=True)
class Ascents:
    """Ascents of IBMAP-HC on random networks of growing size, with the exponent of their growth."""

    average_degree: float
    law: ParameterLaw = "alike"

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers from `size` rows; the exponent is NaN if a climb has no ascent."""
        ascents, found = [], {}
        for n in ASCENT_VARIABLES:
            case = RandomNetwork(n, self.average_degree, LOG_ODDS, law=self.law)(size, rng)
            started = process_time()
            climb = IBMAPHC().learn(IBScore(BayesianTest(Counts(case.data, n_jobs=1))))
            ascents.append(climb.cost["flips"])
            found[f"n={n}"] = Measured(float(ascents[-1]), process_time() - started)
        exponent = np.polyfit(np.log(ASCENT_VARIABLES), np.log(ascents), 1)[0] if all(ascents) else nan
        return {"exponent": Measured(float(exponent), 0.0), **found}


def _ascents(_data: Path | None) -> Mapping[str, Trial]:
    alike = {f"tau={tau}": Ascents(tau) for tau in ASCENT_CONNECTIVITIES}
    return {**alike, **{f"tau={tau} uniform": Ascents(tau, "uniform") for tau in ASCENT_CONNECTIVITIES}}


ASCENTS = Reproduction(
    title="IBMAP14: ascents of IBMAP-HC against the number of variables",
    measure=Measurement(
        name="ibmap-ascents",
        trials=_ascents,
        learners=("exponent", *(f"n={n}" for n in ASCENT_VARIABLES)),
        sizes=ASCENT_ROWS,
        repetitions=ASCENT_REPETITIONS,
    ),
    quantity="ascents, exponent",
)


# Accuracy on real tables.  The benchmark table of [IBMAP14].
#
# Schlüter, Bromberg & Edera, AMAI (2014): each table is shuffled and divided; GSMN, HHC-MN and IBMAP-HC learn from
# the training part, and the test part says how many random independences the graph has right. The paper's claim:
# IBMAP-HC is the most accurate where data are scarce.
#
# Readings. The text at our disposal has lost the table, its figures and the names of its data sets; there is no
# published figure here, and what can be checked is who comes first. The tables are those of [JAIR09], prepared as
# there. A size is the number of training rows; all other rows test, and a table with fewer rows than that besides is
# left out. Both ways of counting are measured: "agreement" counts triplets of which graph and data say the same,
# "independences" those that are independent in both, as the text reads. The latter favours sparse graphs: a graph
# without edges has every independence of the data right.


UCI_SIZES = (25, 50, 100, 200, 400, 800)
UCI_REPETITIONS = 10
TRIPLETS = 2_000
UCI_LEARNERS: Mapping[str, Callable[[Dataset], Mapping[str, Graph]]] = {
    **METHODS,
    "no-edges": lambda data: {"no-edges": Graph.empty(data.n_variables)},
}


@dataclass(frozen=True)
class Divided:
    """Some rows of a table to learn from, the others to judge by."""

    file: str
    table: Table

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return both accuracies of every learner; nothing if the table has too few rows."""
        data = prepared(self.file, self.table)
        if data.n_rows < 2 * size:
            return {}
        train, test = halves(data, size, rng)
        judge, seed = BayesianTest(Counts(test, n_jobs=1)), int(rng.integers(2**32))
        found: dict[str, Measured] = {}
        for name, learn in UCI_LEARNERS.items():
            started = process_time()
            graph = learn(train)[name]
            seconds = process_time() - started
            counted = independence_accuracy(graph, judge, n_triplets=TRIPLETS, seed=seed)
            found[f"{name} agreement"] = Measured(counted.agreement, seconds)
            found[f"{name} independences"] = Measured(counted.shared_independences, seconds)
        return found


def halves(data: Dataset, size: int, rng: np.random.Generator) -> tuple[Dataset, Dataset]:
    """`size` rows drawn at random, and all others; states are those of the whole table.

    Examples
    --------
    >>> data = Dataset.from_codes([[0, 1, 0, 1, 1], [0, 0, 1, 1, 0]])
    >>> train, test = halves(data, 2, np.random.default_rng(1))
    >>> train.n_rows, test.n_rows, train.cards
    (2, 3, (2, 2))
    """
    order = rng.permutation(data.n_rows)
    parts = (np.sort(order[:size]), np.sort(order[size:]))
    train, test = (
        Dataset(data.names, data.cards, tuple(column[rows] for column in data.columns), data.levels) for rows in parts
    )
    return train, test


def _tables(data: Path | None) -> Mapping[str, Trial]:
    """The trials of every table."""
    return {name: Divided(file, TABLES[name]) for name, file in table_files(data).items()}


UCI = Reproduction(
    title="IBMAP14: accuracy on tables of the UCI archive, IBMAP-HC against GSMN and HHC-MN",
    measure=Measurement(
        name="ibmap-uci",
        trials=_tables,
        learners=tuple(f"{name} {kind}" for kind in ("agreement", "independences") for name in UCI_LEARNERS),
        sizes=UCI_SIZES,
        repetitions=UCI_REPETITIONS,
    ),
    needs_data=True,
    quantity="accuracy",
)


ONEMAX_SIZES = (25, 50, 75, 100)
ROAD_SIZES = (24, 48, 72, 96)
GROUPS = (4, 8)
OPTIMIZE_REPETITIONS = 10
RUNS = 20
SUCCESS_RATE = 0.95
TOLERANCE = 0.1
GENERATIONS = 60
LARGEST_POPULATION = 8192
OPTIMIZE_NUMBERS = ("population", "evaluations", "success", "hamming")
OPTIMIZE_LEARNERS = (*(f"{name} {number}" for number in OPTIMIZE_NUMBERS for name in ("moa", "moa'")), "ratio")


@dataclass(frozen=True)
class Contest:
    """Both algorithms on one problem: groups of so many genes, 1 for OneMax."""

    group: int
    runs: int = RUNS
    largest: int = LARGEST_POPULATION

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of both for `size` genes; none if `size` is not a multiple of the group."""
        if size % self.group:
            return {}
        problem = royal_road(size, group=self.group)
        bound = MutualInformationStructure(max_neighbors=max(1, self.group - 1))
        found: dict[str, Measured] = {}
        for name, algorithm in (("moa", MarkovEDA(learner=bound)), ("moa'", MarkovEDA(learner="moa'"))):
            found |= {f"{name} {number}": value for number, value in self._measure(problem, algorithm, rng).items()}
        ratio = found["moa' evaluations"].value / found["moa evaluations"].value
        return found | {"ratio": Measured(ratio, 0.0)}

    def _measure(self, problem: Problem, algorithm: MarkovEDA, rng: np.random.Generator) -> dict[str, Measured]:
        """A bisection, and other runs at the size that it found."""
        started = process_time()
        rate = SUCCESS_RATE if self.runs >= RUNS else 1 - 1 / self.runs
        try:
            critical = critical_population(
                problem,
                algorithm,
                success_rate=rate,
                runs=self.runs,
                tolerance=TOLERANCE,
                smallest=16,
                largest=self.largest,
                max_generations=GENERATIONS,
                seed=rng,
            )
        except InputError:
            raise
        except MnlearnError:  # the largest population is not enough
            seconds = process_time() - started
            return {name: Measured(0.0 if name == "success" else nan, seconds) for name in OPTIMIZE_NUMBERS}
        chosen = replace(algorithm, population=critical.population)
        fresh = [maximize(problem, algorithm=chosen, seed=rng, max_generations=GENERATIONS) for _ in range(self.runs)]
        reached = [run for run in fresh if run.reached]
        evaluations = fmean(run.evaluations for run in reached) if reached else nan
        distance = fmean(_distance(run, problem) for run in fresh)
        numbers = (float(critical.population), float(evaluations), len(reached) / len(fresh), distance)
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(OPTIMIZE_NUMBERS, numbers, strict=True)}


def _distance(run: Optimum, problem: Problem) -> int:
    """Edges too many and edges missing in the last structure."""
    learned = () if run.graph is None else run.graph.edges
    return len(set(learned) ^ set(problem.structure.edges))


def _onemax(_data: Path | None) -> Mapping[str, Trial]:
    return {"onemax": Contest(1)}


def _roads(_data: Path | None) -> Mapping[str, Trial]:
    return {f"group={group}": Contest(group) for group in GROUPS}


ONEMAX = Reproduction(
    title="IBMAP14 (EDAs): MOA against MOA' on OneMax",
    measure=Measurement(
        name="ibmap-onemax",
        trials=_onemax,
        learners=OPTIMIZE_LEARNERS,
        sizes=ONEMAX_SIZES,
        repetitions=OPTIMIZE_REPETITIONS,
    ),
    quantity="population, evaluations, rates",
    axis="genes",
)

ROYAL_ROAD = Reproduction(
    title="IBMAP14 (EDAs): MOA against MOA' on Royal Road",
    measure=Measurement(
        name="ibmap-royalroad",
        trials=_roads,
        learners=OPTIMIZE_LEARNERS,
        sizes=ROAD_SIZES,
        repetitions=OPTIMIZE_REPETITIONS,
    ),
    quantity="population, evaluations, rates",
    axis="genes",
)


LANDSCAPE_VARIABLES = 6
LANDSCAPE_CONNECTIVITIES = (1, 2, 4)
LANDSCAPE_SIZES = (50, 200, 800, 3200, 12_800)
LANDSCAPE_REPETITIONS = 10
LANDSCAPE_NUMBERS = ("correlation", "reached", "gap", "error of ibmap-hc", "error of the best")
_ROUNDING = 1e-9  # of a score


@dataclass(frozen=True)
class Surface:
    """The IB-score of every graph, from data of one random network."""

    average_degree: float

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of one data set with `size` rows."""
        started = process_time()
        truth = random_graph(LANDSCAPE_VARIABLES, self.average_degree, rng)
        data = sample(with_log_odds(truth, LOG_ODDS, rng), size, rng).dataset()
        score = IBScore(BayesianTest(Counts(data, n_jobs=1)))
        seen = landscape(score, truth, marked={"climbed": IBMAPHC().learn(score).graph})
        best, climbed = seen.marks["best"], seen.marks["climbed"]
        gap = max(0.0, best.score - climbed.score)
        reached = gap <= _ROUNDING * max(1.0, abs(best.score))
        numbers = (seen.correlation(), float(reached), gap, float(climbed.distance), float(best.distance))
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(LANDSCAPE_NUMBERS, numbers, strict=True)}


def _surfaces(_data: Path | None) -> Mapping[str, Trial]:
    return {f"tau={tau}": Surface(tau) for tau in LANDSCAPE_CONNECTIVITIES}


LANDSCAPE = Reproduction(
    title="IBMAP14 Appendix: the landscape of the IB-score over all graphs of six variables",
    measure=Measurement(
        name="ibmap-landscape",
        trials=_surfaces,
        learners=LANDSCAPE_NUMBERS,
        sizes=LANDSCAPE_SIZES,
        repetitions=LANDSCAPE_REPETITIONS,
    ),
    quantity="numbers of the landscape",
)


SAMPLED_VARIABLES = (6, 12, 20)
SAMPLED_SIZES = (200, 800, 3200)
SAMPLED_NUMBERS = ("correlation", "nearby", "surpassed", "truth ahead", "error of ibmap-hc", "error of the best")
GRAPHS_DRAWN = 600  # shared by all distances


@dataclass(frozen=True)
class SampledSurface:
    """The IB-score of random graphs at every distance from the truth, from data of one random network."""

    n_variables: int
    average_degree: float

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """Return the numbers of one data set with `size` rows."""
        started = process_time()
        truth = random_graph(self.n_variables, self.average_degree, rng)
        data = sample(with_log_odds(truth, LOG_ODDS, rng), size, rng).dataset()
        score = IBScore(BayesianTest(Counts(data, n_jobs=1)))
        marked = {"climbed": IBMAPHC().learn(score).graph}
        per_distance = max(1, 2 * GRAPHS_DRAWN // (self.n_variables * (self.n_variables - 1)))
        seen = sample_landscape(score, truth, rng, per_distance=per_distance, marked=marked)
        best, climbed, center = (seen.marks[name] for name in ("best", "climbed", "center"))
        margin = _ROUNDING * max(1.0, abs(best.score))
        near = seen.distances <= max(2, seen.distances.max() // 10)
        numbers = (
            seen.correlation(),
            Landscape(seen.distances[near], seen.scores[near], {}).correlation(),
            float(best.score > climbed.score + margin),
            float(center.score > climbed.score + margin),
            float(climbed.distance),
            float(best.distance),
        )
        seconds = process_time() - started
        return {name: Measured(value, seconds) for name, value in zip(SAMPLED_NUMBERS, numbers, strict=True)}


def _sampled_surfaces(_data: Path | None) -> Mapping[str, Trial]:
    return {f"n={n} tau={tau}": SampledSurface(n, tau) for n in SAMPLED_VARIABLES for tau in LANDSCAPE_CONNECTIVITIES}


SAMPLED_LANDSCAPE = Reproduction(
    title="IBMAP14 Appendix: the landscape of the IB-score for more variables, by a sample of graphs",
    measure=Measurement(
        name="ibmap-landscape-sample",
        trials=_sampled_surfaces,
        learners=SAMPLED_NUMBERS,
        sizes=SAMPLED_SIZES,
        repetitions=LANDSCAPE_REPETITIONS,
    ),
    quantity="numbers of the landscape",
)
