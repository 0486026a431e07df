"""Pieces of simulated gene networks, found by Markov blanket search and its rivals.  Tables 1, 2 and 3 of [MBS09].

Roy, Lane & Werner-Washburne, ICML (2009), Sec. 3.1: steady states of messengers and proteins under perturbed kinetic
constants; the learned graph is compared with the true one by E- and V-scores over kinds of subgraphs. Each learner runs
with four values of one setting (`mbs09_learners.py`), and a figure is the mean of the four. Where a setting still
leaves several graphs, as MBS has one for each k_max from 1 to 11, the paper takes the one with the highest mean of E
and V: a choice that looks at the truth. So does "mbs" here; "mbs-ebic" is what a user gets, who has no truth to look
at. Sec. 3.2 (Table 3) prunes a directed search by blankets.

Readings. The paper's generator and networks are not available, nor does it give the number of rows. Here a network is
drawn anew for every data set, G50 and G75 with 50 and 75 genes of up to three regulators, ECOLI1 and ECOLI2 (which
"did not have any cycles") with 94 genes of one regulator each; 100 and 400 rows. In ECOLI2 only regulators are
perturbed. The other genes then follow their regulators exactly, and messenger and protein of one are copies of each
other: "ECOLI2 log noise" measures every amount with 5 % of noise. The truth is the Markov network of the equations:
arcs without directions, and the regulators of one gene joined, without which there would be no cycle of three. Amounts
are taken as they are, and by their logarithms ("G50 log"), which are closer to normal; both beside the same published
figures.

Table 2 counts, over the kinds of E and V, where MBS is significantly worse and better than a rival (Student's t-test,
p ≤ 0.05). The paper does not say over what; it has one data set and four settings, so "by settings" compares four
values with four, data set by data set. "losses" and "wins" are by a paired test over our data sets.

The figures of Tables 1, 2 and 3 of [MBS09], beside every way in which `mbs09.py` draws their networks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan, nan, sqrt
from pathlib import Path
from statistics import fmean, variance
from time import process_time
from typing import Literal

import numpy as np

from mnlearn.algorithms.mbs import MBS
from mnlearn.errors import unknown_name
from mnlearn.evaluation.subgraphs import KINDS, SubgraphScorer
from mnlearn.graphs.graph import Graph
from mnlearn.scores.entropy import Entropy
from mnlearn.statistics.moments import Moments
from mnlearn_papers.directed import DirectedNetwork
from mnlearn_papers.experiment import RunCell
from mnlearn_papers.expression import ExpressionNetwork, random_expression_network
from mnlearn_papers.mbs09_learners import (
    LAMBDAS,
    LARGEST_K,
    LEARNERS,
    RESTARTS,
    Graphs,
    l1mb_blankets,
    learn_sparse_candidate,
    learn_within,
)
from mnlearn_papers.measured import Measured, Measurement, Trial
from mnlearn_papers.reproduction import Comparison, Key, Published, Reproduction, Request

SIZES = (100, 400)
"""Numbers of rows; the paper does not give its own."""

PUBLISHED = """
G50 E SPN 0.550 0.418 0.533 0.516 0.417 0.463
G50 E 1N 0.661 0.440 0.587 0.560 0.432 0.836
G50 E 2N 0.589 0.444 0.532 0.510 0.438 0.562
G50 E 3C 0.800 0.400 0.792 0.784 0.250 0.866
G50 E 4C 0.645 0.440 0.630 0.580 0.367 0.721
G50 V SPN 0.308 0.345 0.264 0.262 0.292 0.379
G50 V 1N 0.352 0.426 0.285 0.276 0.416 0.231
G50 V 2N 0.335 0.361 0.273 0.261 0.353 0.340
G50 V 3C 0.328 0.251 0.284 0.287 0.233 0.271
G50 V 4C 0.324 0.246 0.281 0.275 0.230 0.260
ECOLI1 E SPN 0.747 0.753 0.703 0.759 0.729 0.729
ECOLI1 E 1N 0.751 0.776 0.690 0.778 0.705 0.700
ECOLI1 E 2N 0.726 0.752 0.679 0.749 0.724 0.719
ECOLI1 V SPN 0.514 0.567 0.303 0.354 0.520 0.522
ECOLI1 V 1N 0.608 0.667 0.326 0.396 0.627 0.639
ECOLI1 V 2N 0.591 0.622 0.308 0.376 0.585 0.594
"""
"""Table 1: data set, score and kind; MBS, ARACNE, ORDER, SPCAND, MBOR, GGLAS."""

_COLUMNS = (("mbs", "mbs-ebic"), ("aracne",), ("order",), ("spcand",), ("mbor", "l1mb-or"), ("gglas", "lasso"))

PUBLISHED_WINS = """
G50 3/6 0/5 2/5 0/9 2/3 3/7 2/2
G75 0/3 0/5 0/5 0/5 0/5 0/10 3/4
ECOLI1 3/0 0/3 0/3 2/3 1/1 2/2 2/2
ECOLI2 0/0 0/6 0/6 0/6 0/6 0/6 -
"""
"""Table 2 without ORDMC: how often MBS loses / wins against each of `RIVALS`."""

RIVALS = ("aracne", "fulldag", "order", "spcand", "mband", "mbor", "gglas")

PUBLISHED_PRUNING = """
E SPN 0.48 0.458 0.504 0.349 0.404 0.435
E 1N 0.516 0.523 0.561 0.467 0.523 0.567
E 2N 0.466 0.485 0.538 0.424 0.474 0.486
E 3C 0.465 0.414 0.556 0.498 0.481 0.612
E 4C 0.508 0.463 0.532 0.458 0.447 0.595
V SPN 0.27 0.27 0.348 0.269 0.299 0.257
V 1N 0.295 0.328 0.413 0.288 0.331 0.256
V 2N 0.274 0.296 0.367 0.27 0.287 0.247
V 3C 0.274 0.316 0.318 0.247 0.241 0.241
V 4C 0.256 0.276 0.327 0.274 0.22 0.279
"""
"""Table 3: G50 and G75, each pruned by SPCAND, MBOR and MBS."""

VARIANTS = ("", " log", " log noise")  # the ways in which a network of the paper is drawn here


def _everywhere(network: str, learner: str, number: float) -> Iterator[tuple[Key, Published]]:
    """A published figure beside every way to draw its network; of one data set, with a deviation that is not given."""
    for variant, size in product(VARIANTS, SIZES):
        yield Key(f"{network}{variant}", size, learner), Published(number, nan, 1)


def table_1() -> Iterator[tuple[Key, Published]]:
    """The figures by data set, learner and score."""
    for line in PUBLISHED.strip().split("\n"):
        network, score, kind, *numbers = line.split()
        for learners, number in zip(_COLUMNS, numbers, strict=True):
            for learner in learners:
                yield from _everywhere(network, f"{learner} {score} {kind}", float(number))


def table_2() -> Iterator[tuple[Key, Published]]:
    """The counts by data set, rival, and losses or wins."""
    for line in PUBLISHED_WINS.strip().split("\n"):
        network, *cells = line.split()
        for rival, cell in zip(RIVALS, cells, strict=True):
            for name, number in zip(("losses", "wins"), cell.split("/"), strict=False):
                for test in ("", " by settings") if number.isdecimal() else ():
                    yield from _everywhere(network, f"{rival} {name}{test}", float(number))


def table_3() -> Iterator[tuple[Key, Published]]:
    """The figures by data set, pruning and score."""
    for line in PUBLISHED_PRUNING.strip().split("\n"):
        score, kind, *numbers = line.split()
        for (network, learner), number in zip(product(("G50", "G75"), ("spcand", "l1mb", "mbs")), numbers, strict=True):
            yield from _everywhere(network, f"{learner} {score} {kind}", float(number))


def with_means(figures: Iterable[tuple[Key, Published]]) -> dict[Key, Published]:
    """The figures, and "LEARNER mean E" and "LEARNER mean V", the means over the kinds of subgraph."""
    found, kinds = dict(figures), defaultdict[Key, list[float]](list)
    for key, figure in found.items():
        learner, letter, _kind = key.learner.split()
        kinds[key._replace(learner=f"{learner} mean {letter}")].append(figure.mean)
    return found | {key: Published(fmean(numbers), nan, 1) for key, numbers in kinds.items()}


REPETITIONS = 10
LEVEL = 0.05

Scores = Mapping[str, float]
"""E and V by kind of subgraph: "E SPN", "V SPN", and so on; no entry for a kind that the truth has none of."""


@dataclass(frozen=True)
class Genes:
    """Random networks of genes and their steady states.

    Parameters
    ----------
    n_genes, most_regulators
        Of a network; half of the variables are messengers, half proteins.
    logarithms
        Whether learners see the logarithms of the amounts.
    perturb
        The genes whose kinetic constants are changed.
    noise
        The standard deviation of the logarithm of a factor on every measured amount.
    """

    n_genes: int
    most_regulators: int
    logarithms: bool
    perturb: Literal["all", "regulators"] = "all"
    noise: float = 0.0

    def draw(self, size: int, rng: np.random.Generator) -> tuple[Moments, Graph]:
        """Moments of one data set with `size` rows, and the true graph."""
        network = random_expression_network(self.n_genes, rng, most_regulators=self.most_regulators)
        amounts = network.sample(size, rng, proteins=True, perturb=self.perturb, noise=self.noise)
        values = np.log(amounts) if self.logarithms else amounts
        return Moments.from_covariance(np.cov(values.T, bias=True), size), markov_network(network)


@dataclass(frozen=True)
class Comparing:
    """Every learner on one data set."""

    genes: Genes

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """E and V of every learner, and how MBS compares with each rival."""
        moments, truth = self.genes.draw(size, rng)
        return measured_scores({name: _timed(learn(moments, rng)) for name, learn in LEARNERS.items()}, truth)


@dataclass(frozen=True)
class Pruning:
    """A directed search within the blankets of MBS, of L1MB, and of sparse candidate, of at most k variables."""

    genes: Genes
    combine: Literal["and", "or"]
    k: int

    def __call__(self, size: int, rng: np.random.Generator) -> Mapping[str, Measured]:
        """E and V of the moral graphs."""
        moments, truth = self.genes.draw(size, rng)
        l1mb = blankets_of(l1mb_blankets(moments, self.combine))
        graphs = {
            "mbs": _timed(self._within_mbs(moments, rng)),
            "spcand": _timed(learn_sparse_candidate(moments, rng, k=self.k)),
            "l1mb": _timed(learn_within(moments, l1mb, rng)),
        }
        return measured_scores(graphs, truth)

    def _within_mbs(self, moments: Moments, rng: np.random.Generator) -> Graphs:
        """For each λ its own restart."""
        judge = Entropy(moments)
        for weight, share in zip(LAMBDAS, RESTARTS, strict=True):
            learned = MBS(k_max=self.k, regularization=weight).learn(judge).graph
            yield from learn_within(moments, blankets_of(learned), rng, [share])


def blankets_of(graph: Graph) -> list[frozenset[int]]:
    """Return the neighbours of every variable."""
    return [graph.neighbors(x) for x in range(graph.n_variables)]


def _timed(graphs: Graphs) -> tuple[list[list[Graph]], float]:
    """Return all graphs by setting, and the processor time of learning them."""
    started = process_time()
    found = [list(several) for several in graphs]
    return found, process_time() - started


def markov_network(network: ExpressionNetwork) -> Graph:
    """Which amounts depend on each other given all others: the moral graph of the equations.

    Messengers are 0..n−1, proteins n..2n−1; a protein depends on its messenger, a messenger on its regulators.

    Examples
    --------
    >>> both = ExpressionNetwork(regulators=[(), (), (0, 1)], activates=[(), (), (True, True)])
    >>> markov_network(both).edges
    ((0, 3), (1, 4), (2, 3), (2, 4), (2, 5), (3, 4))
    """
    n = network.n_genes
    translation = [(gene, n + gene) for gene in range(n)]
    regulation = [(n + j, gene) for gene, js in enumerate(network.regulators) for j in js]
    return DirectedNetwork(2 * n, tuple(sorted(translation + regulation))).moral_graph()


def measured_scores(
    learned: Mapping[str, tuple[Sequence[Iterable[Graph]], float]], truth: Graph
) -> dict[str, Measured]:
    """Mean scores of every learner; for rivals of "mbs" with as many settings also its lead, and wins by settings."""
    found: dict[str, Measured] = {}
    scorer = SubgraphScorer(truth)
    settings = {name: scores_by_setting(graphs, scorer) for name, (graphs, _) in learned.items()}
    ours = settings["mbs"]
    for name, scores in settings.items():
        seconds = learned[name][1]
        found |= {f"{name} {score}": Measured(_mean(scores, score), seconds) for score in scores[0]}
        for letter in "EV":
            kinds = [_mean(scores, score) for score in scores[0] if score.startswith(letter)]
            found[f"{name} mean {letter}"] = Measured(fmean(kinds), seconds)
        if name != "mbs" and len(scores) == len(ours):
            leads = {score: _mean(ours, score) - _mean(scores, score) for score in scores[0]}
            found |= {f"lead-{name} {score}": Measured(lead, seconds) for score, lead in leads.items()}
            sides = [_significant([s[score] for s in ours], [s[score] for s in scores]) for score in scores[0]]
            found[f"{name} losses by settings"] = Measured(sides.count(-1), seconds)
            found[f"{name} wins by settings"] = Measured(sides.count(1), seconds)
    return found


def scores_by_setting(graphs: Sequence[Iterable[Graph]], scorer: SubgraphScorer) -> list[Scores]:
    """For each setting the scores of its best graph, by the mean of all E and V.

    Examples
    --------
    >>> truth, none = Graph(3, [(0, 1), (1, 2)]), Graph.empty(3)
    >>> [scores["E 1N"] for scores in scores_by_setting([[none, truth], [none]], SubgraphScorer(truth))]
    [1.0, 0.0]
    """
    known: dict[Graph, Scores] = {}

    def scores(graph: Graph) -> Scores:
        if graph not in known:
            known[graph] = _scores(graph, scorer)
        return known[graph]

    return [max((scores(graph) for graph in several), key=lambda s: fmean(s.values())) for several in graphs]


def _mean(settings: Sequence[Scores], score: str) -> float:
    """The mean of a score over the settings."""
    return fmean(scores[score] for scores in settings)


def _significant(ours: Sequence[float], theirs: Sequence[float]) -> int:
    """1 if ours are significantly larger, −1 if smaller, else 0: Student's t-test with a common variance."""
    m, n = len(ours), len(theirs)
    pooled = ((m - 1) * variance(ours) + (n - 1) * variance(theirs)) / (m + n - 2)
    return _side(fmean(ours) - fmean(theirs), sqrt(pooled * (1 / m + 1 / n)), m + n - 2)


def _side(difference: float, error: float, degrees: int) -> int:
    """The sign of a difference that is significant by Student's distribution; a difference without error is."""
    from scipy.special import stdtr

    if abs(difference) <= _EQUAL:
        return 0
    p = 2 * stdtr(degrees, -abs(difference) / error) if error > 0 else 0.0
    return 0 if p > LEVEL else 1 if difference > 0 else -1


_EQUAL = 1e-12  # a difference of scores that is rounding


def _scores(graph: Graph, scorer: SubgraphScorer) -> Scores:
    """E and V, of the kinds that there are."""
    found = scorer(graph).items()
    both = [(f"E {kind}", score.e) for kind, score in found] + [(f"V {kind}", score.v) for kind, score in found]
    return {name: value for name, value in both if value is not None}


def _networks(_data: Path | None) -> Mapping[str, Trial]:
    """The trials of Tables 1 and 2 by name."""
    networks = {}
    for name, n_genes, most, perturb in _GENES:
        networks[name] = Genes(n_genes, most, logarithms=False, perturb=perturb)
        networks[f"{name} log"] = Genes(n_genes, most, logarithms=True, perturb=perturb)
    networks["ECOLI2 log noise"] = replace(networks["ECOLI2 log"], noise=0.05)
    return {name: Comparing(genes) for name, genes in networks.items()}


_GENES: Sequence[tuple[str, int, int, Literal["all", "regulators"]]] = (
    ("G50", 50, 3, "all"),
    ("G75", 75, 3, "all"),
    ("ECOLI1", 94, 1, "all"),
    ("ECOLI2", 94, 1, "regulators"),
)


def _prunings(_data: Path | None) -> Mapping[str, Trial]:
    """The trials of Table 3 by name: OR with k = 11, then AND with the k of the paper."""
    sizes = {"G50": (50, 4), "G75": (75, 6)}
    found = {}
    for (name, (n_genes, k)), logarithms in product(sizes.items(), (False, True)):
        genes, source = Genes(n_genes, 3, logarithms), name + " log" * logarithms
        found[source] = Pruning(genes, "or", LARGEST_K)
        found[f"{source} AND"] = Pruning(genes, "and", k)
    return found


@dataclass(frozen=True)
class WinsAndLosses:
    """How often a learner is significantly worse and better than each rival, over the kinds of E and V.

    Parameters
    ----------
    leads
        Measures the leads "lead-RIVAL SCORE" and the counts "RIVAL losses by settings" of every data set.
    published
        The figures of the paper.
    """

    leads: Measurement
    published: Mapping[Key, Published]

    @property
    def name(self) -> str:
        """The journal is that of the leads."""
        return self.leads.name

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the numbers of rows."""
        return self.leads.sizes

    @property
    def repetitions(self) -> int:
        """Data sets for each count."""
        return self.leads.repetitions

    def cells(self, data: Path | None) -> list[RunCell]:
        """Return all that is run at full size."""
        return self.leads.cells(data)

    def __call__(self, request: Request) -> list[Comparison]:
        """Run the requested part; methods are rivals."""
        for method in request.methods:
            if method not in RIVALS:
                raise unknown_name("method", method, RIVALS)
        counts = self._counts(self.leads(replace(request, methods=())))
        return [line for line in counts if line.learner.split()[0] in (request.methods or RIVALS)]

    def recorded(self, folder: Path) -> list[Comparison]:
        """The counts of all runs in a folder."""
        return self._counts(self.leads.recorded(folder))

    def _counts(self, lines: Sequence[Comparison]) -> list[Comparison]:
        """For every source, size and rival the counts over data sets, then those by settings."""
        found = []
        for source, size in dict.fromkeys((line.source, line.n_rows) for line in lines):
            here = {line.learner: line for line in lines if (line.source, line.n_rows) == (source, size)}
            for rival in RIVALS:
                leads = [line for name, line in here.items() if name.startswith(f"lead-{rival} ")]
                tested = [line for line in leads if not isnan(line.sd)]
                sides = [_side(line.ours, line.sd / sqrt(line.n), line.n - 1) for line in tested]
                for name, side in (("losses", -1), ("wins", 1)) if tested else ():
                    count = float(sides.count(side))
                    found.append(leads[0]._replace(learner=f"{rival} {name}", ours=count, sd=nan))
                found += [here[f"{rival} {name} by settings"] for name in ("losses", "wins") if leads]
        return [line._replace(published=self._figure(line), standard_errors=None, visible=None) for line in found]

    def _figure(self, line: Comparison) -> float | None:
        """The published count."""
        known = self.published.get(Key(line.source, line.n_rows, line.learner))
        return None if known is None else known.mean


SCORES = tuple(f"{score} {kind}" for score in "EV" for kind in KINDS)
_SHOWN = (*SCORES, "mean E", "mean V")
_ALTERNATIVES = frozenset(  # other readings of the same published figures
    {"mbs-ebic", "l1mb-or", "lasso", "mean E", "mean V", "losses", "wins"}
    | {f"{name}{variant}" for name in ("G50", "G75", "ECOLI1", "ECOLI2") for variant in VARIANTS if variant}
)

TABLE_1 = Reproduction(
    title="MBS09 Table 1: pieces of gene networks, found by MBS and its rivals",
    measure=Measurement(
        name="mbs-table1",
        trials=_networks,
        learners=tuple(f"{learner} {score}" for learner in LEARNERS for score in _SHOWN),
        sizes=SIZES,
        repetitions=REPETITIONS,
        published=with_means(table_1()),
    ),
    quantity="E- and V-scores",
    alternatives=_ALTERNATIVES,
)

TABLE_2 = Reproduction(
    title="MBS09 Table 2: how often MBS is significantly worse and better than its rivals",
    measure=WinsAndLosses(
        Measurement(
            name="mbs-table1",
            trials=_networks,
            learners=(
                *(f"lead-{rival} {score}" for rival in RIVALS for score in SCORES),
                *(f"{rival} {side} by settings" for rival in RIVALS for side in ("losses", "wins")),
            ),
            sizes=SIZES,
            repetitions=REPETITIONS,
        ),
        dict(table_2()),
    ),
    quantity="losses and wins",
    alternatives=_ALTERNATIVES,
)

TABLE_3 = Reproduction(
    title="MBS09 Table 3: directed searches pruned by MBS, sparse candidate and L1MB",
    measure=Measurement(
        name="mbs-table3",
        trials=_prunings,
        learners=(
            *(f"{learner} {score}" for learner in ("spcand", "l1mb", "mbs") for score in _SHOWN),
            *(f"lead-{rival} {score}" for rival in ("spcand", "l1mb") for score in SCORES),
            *(f"{rival} {side} by settings" for rival in ("spcand", "l1mb") for side in ("losses", "wins")),
        ),
        sizes=SIZES,
        repetitions=REPETITIONS,
        published=with_means(table_3()),
    ),
    quantity="E- and V-scores",
    alternatives=_ALTERNATIVES,
)
