"""Bootstrap intervals of weights, and difference tests between edges and between centralities.

Rows are drawn with replacement, as many as there are, and the weights are estimated again: Epskamp, Borsboom & Fried,
Behavior Research Methods 50 (2018), 195-212  [EBF18]. An interval is that of the percentiles. Two edges, or two
variables, differ if the interval of their difference leaves out 0.

Half of the rows, without replacement, differ from all rows as much as all rows differ from the population: the variance
is σ² (2 / N − 1 / N). So they give intervals of the same width without rows that are there twice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from mnlearn._lazy import cached
from mnlearn.analysis.samples import Draw, SampledWeights, check_sampling, sampled_weights
from mnlearn.errors import InputError, check_name, is_number
from mnlearn.evaluation.centrality import CENTRALITIES, centralities
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.results.edges import Frame, frame_of, printable
from mnlearn.results.measures import group_labels, numbered_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned
    from mnlearn.visual.figure_data import Groups

IntervalSampling: TypeAlias = Literal["bootstrap", "halves"]
INTERVAL_PICTURES = ("edges", "differences", *CENTRALITIES)
_SHOWN = 10  # edges of a summary
_ROUNDING = 1e-12


class DifferenceTest(NamedTuple):
    """Difference of two weights or two centralities, its bootstrap interval and its p-value."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out 0."""
        return not self.low <= 0.0 <= self.high

    def __str__(self) -> str:
        """Return the test in one line."""
        words = "differ" if self.differs else "do not differ clearly"
        interval = f"{self.low:.3f} to {self.high:.3f}"
        return printable(
            f"{self.first} and {self.second} {words}: {self.difference:.3f} ({interval}), p = {self.p:.3g}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    """Bootstrap intervals of the weights of a network; `Learned.intervals` makes it.

    Attributes
    ----------
    learned
        The network.
    weights
        The weights of pairs in all rows and in each sample.
    groups
        The group of each variable, for bridge centralities.
    sampling
        How rows were drawn.
    level
        Level of the intervals.
    relearn
        Whether each sample has its own structure, or that of the network.
    seed
        Seed of the samples.
    """

    learned: Learned
    weights: SampledWeights
    groups: tuple[str | None, ...]
    sampling: IntervalSampling
    level: float
    relearn: bool
    seed: int

    @property
    def done(self) -> int:
        """Number of samples; fewer than requested if the run was cancelled."""
        return len(self.weights.samples)

    def edges(self, frame: Frame | None = None) -> Any:
        """Return the weights with their intervals as a table, the largest weights first.

        Columns ``u``, ``v``, ``edge`` (whether it is one of the network), ``weight``, ``mean`` (of the samples),
        ``low``, ``high``, and ``frequency``, the share of the samples in which the pair is an edge. Pairs that are no
        edge of the network follow, if they are an edge in some sample. `frame` as for `Learned.edges`.
        """
        names, found = self.learned.names, self.weights
        low, high = self._interval(found.samples)
        order = self.order()
        pairs = [found.pairs[k] for k in order]
        columns: dict[str, tuple[str, list[Any]]] = {
            "u": ("string", [names[u] for u, _ in pairs]),
            "v": ("string", [names[v] for _, v in pairs]),
            "edge": ("bool", [pair in self.learned.graph for pair in pairs]),
        }
        numbers = {"weight": found.observed, "mean": found.samples.mean(axis=0), "low": low, "high": high}
        numbers["frequency"] = found.present.mean(axis=0)
        columns |= {name: ("double", values[order].tolist()) for name, values in numbers.items()}
        return frame_of(columns, self.learned.frame if frame is None else frame)

    def order(self) -> list[int]:
        """Return the places of the pairs: edges of the network before others, then from the largest weight down."""
        found, mean = self.weights, self.weights.samples.mean(axis=0)
        inside = [pair in self.learned.graph for pair in found.pairs]
        return sorted(range(len(found.pairs)), key=lambda k: (not inside[k], -found.observed[k], -mean[k], k))

    def centrality(self, frame: Frame | None = None) -> Any:
        """Return the centralities with the spread of their samples as a table, one row per variable and measure.

        Columns ``variable``, ``measure``, ``value``, ``mean``, ``low`` and ``high``. Samples overestimate measures of
        absolute weights: use the percentiles to compare variables, not as confidence intervals  [EBF18].
        """
        names, columns = self.learned.names, ("variable", "measure", "value", "mean", "low", "high")
        rows: list[tuple[Any, ...]] = []
        for measure, samples in self.sampled.items():
            low, high = self._interval(samples)
            numbers = (self.observed[measure], samples.mean(axis=0), low, high)
            rows += [(name, measure, *(float(part[x]) for part in numbers)) for x, name in enumerate(names)]
        by_column = zip(columns, zip(*rows, strict=True), strict=True)
        kinds = {name: ("string" if name in columns[:2] else "double", list(values)) for name, values in by_column}
        return frame_of(kinds, self.learned.frame if frame is None else frame)

    @cached
    def observed(self) -> dict[str, FloatArray]:
        """Centralities of the network by name, one number per variable."""
        return {name: values[0] for name, values in self._centralities(self.weights.observed[None]).items()}

    @cached
    def sampled(self) -> dict[str, FloatArray]:
        """Centralities of the samples by name, one row per sample."""
        return self._centralities(self.weights.samples)

    def _centralities(self, weights: FloatArray) -> dict[str, FloatArray]:
        return centralities(len(self.learned.names), self.weights.pairs, weights, numbered_groups(self.groups))

    def difference_test(
        self, first: str | tuple[str, str], second: str | tuple[str, str], *, measure: str = "strength"
    ) -> DifferenceTest:
        """Test whether two edges have different weights, or two variables different centralities.

        Parameters
        ----------
        first, second
            Two pairs of variables, or two variables.
        measure
            The centrality to compare, for two variables; a column of `Learned.centrality`.

        Returns
        -------
        DifferenceTest
            The difference with its interval. p is twice the share of samples on the other side of 0, counting one
            more; it is not corrected for several tests.

        Raises
        ------
        UnknownNameError
            If a variable or the measure is unknown.
        InputError
            If one is a pair and the other is not, or both are the same.

        Examples
        --------
        >>> import mnlearn as mn
        >>> from mnlearn.simulate import example
        >>> found = mn.learn(example(500).columns()).intervals(100, relearn=False, n_jobs=1)
        >>> found.difference_test("stress", "fatigue").differs in (True, False)
        True
        """
        of_variables = isinstance(first, str) and isinstance(second, str)
        if of_variables:
            check_name("measure", measure, CENTRALITIES)
            observed, samples = self.observed[measure], self.sampled[measure]
            places = [self._variable(name) for name in (first, second)]
            titles = [str(first), str(second)]
        else:
            observed, samples = self.weights.observed, self.weights.samples
            pairs = [self._pair(name, pair) for name, pair in (("first", first), ("second", second))]
            places = [self.weights.pairs.index(pair) if pair in self.weights.pairs else -1 for pair in pairs]
            titles = [f"{self.learned.names[u]} - {self.learned.names[v]}" for u, v in pairs]
            observed, samples = np.append(observed, 0.0), np.pad(samples, ((0, 0), (0, 1)))  # -1: never an edge
        if titles[0] == titles[1]:
            raise InputError(f"first and second must differ; got {titles[0]!r} twice. Name another one.")
        i, j = places
        difference = samples[:, i] - samples[:, j]
        low, high = self._interval(difference).tolist()
        value, p = float(observed[i] - observed[j]), float(_p_value(difference))
        return DifferenceTest(titles[0], titles[1], value, low, high, p)

    def differences(self, measure: str = "weight") -> tuple[list[str], FloatArray]:
        """Return p-values of all differences, of the edges' weights or of one centrality.

        Parameters
        ----------
        measure
            ``"weight"``, or a column of `Learned.centrality`.

        Returns
        -------
        tuple
            The names, from the largest value down, and a symmetric matrix of p-values in this order, 1 on its
            diagonal. They are not corrected for several tests.
        """
        check_name("measure", measure, ("weight", *CENTRALITIES))
        names = self.learned.names
        if measure == "weight":
            order = [k for k in self.order() if self.weights.pairs[k] in self.learned.graph]
            titles = [f"{names[u]} - {names[v]}" for u, v in (self.weights.pairs[k] for k in order)]
            samples = self.weights.samples[:, order]
        else:
            order = np.argsort(-self.observed[measure], kind="stable").tolist()
            titles, samples = [names[x] for x in order], self.sampled[measure][:, order]
        found = np.ones((len(order), len(order)))
        for k in range(len(order)):
            found[k, k + 1 :] = found[k + 1 :, k] = _p_value(samples[:, [k]] - samples[:, k + 1 :])
        return titles, found

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, kind: str = "edges", title: str | None = None
    ) -> Figure:
        """Draw the intervals or the difference tests, and write the picture to a file if a path is given.

        Parameters
        ----------
        path
            The file: .png, .svg or .pdf.
        kind
            ``"edges"``: the intervals, sorted by weight. ``"differences"``: which edges differ. A column of
            `Learned.centrality`: which variables differ in it.
        title
            Title of the picture.
        """
        from mnlearn.visual.samples import draw_intervals

        return draw_intervals(self, path, kind=kind, title=title)

    def to_dict(self) -> dict[str, object]:
        """Return the intervals as one document of plain values, as `mnlearn stability --json` prints them."""
        return {
            "samples": {"asked": self.weights.asked, "done": self.done, "seed": self.seed},
            "sampling": self.sampling,
            "level": self.level,
            "relearn": self.relearn,
            "edges": self.edges("pyarrow").to_pylist(),
            "centrality": self.centrality("pyarrow").to_pylist(),
        }

    def __str__(self) -> str:
        """Return the kind of samples, and the largest weights with their intervals."""
        rows = self.edges("pyarrow").to_pylist()
        lines = [self._headline()]
        lines += [
            f"{row['u']} - {row['v']}: {row['weight']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
            + (f", an edge in {row['frequency']:.0%} of the samples" if self.relearn else "")
            for row in rows[:_SHOWN]
        ]
        more = [f"and {len(rows) - _SHOWN} more pairs: edges() or --json has them all"] * (len(rows) > _SHOWN)
        return "\n".join(printable(line) for line in [*lines, *more])

    def __repr__(self) -> str:
        return f"<Intervals {self._headline()}>"

    def _headline(self) -> str:
        stopped = "" if self.done == self.weights.asked else f" of {self.weights.asked:,}, stopped"
        how = "each learned again" if self.relearn else "same structure"
        count = self.learned.graph.n_edges
        noun = "bootstrap samples" if self.sampling == "bootstrap" else "halves of the rows"
        return f"{self.level:.0%} intervals of {count} weights: {self.done:,} {noun}{stopped}, {how}"

    def _interval(self, samples: FloatArray) -> FloatArray:
        """Return the percentiles of each column."""
        tail = (1.0 - self.level) / 2
        return np.quantile(samples, [tail, 1.0 - tail], axis=0)

    def _variable(self, name: object) -> int:
        check_name("variable", name, self.learned.names)
        return self.learned.names.index(str(name))

    def _pair(self, argument: str, pair: object) -> Edge:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InputError(
                f"{argument} must be a pair of variables, like the other one; got {pair!r:.80}. Write for example "
                "('a', 'b')."
            )
        u, v = sorted(map(self._variable, pair))
        if u == v:
            raise InputError(f"{argument} must be two different variables; got {pair[0]!r} twice. Name another one.")
        return u, v


def _p_value(difference: FloatArray) -> FloatArray:
    """Return twice the smaller share of samples at or beyond 0, counting one more; at most 1. One per column."""
    below = (difference <= _ROUNDING).sum(axis=0)
    above = (difference >= -_ROUNDING).sum(axis=0)
    return np.asarray(np.minimum(1.0, 2.0 * (1.0 + np.minimum(below, above)) / (1.0 + len(difference))))


def intervals_of(
    learned: Learned,
    n_samples: int,
    *,
    sampling: IntervalSampling | None,
    level: float,
    relearn: bool,
    groups: Groups | None,
    seed: int,
    n_jobs: int | None = None,
    client: Any = None,
    monitor: Monitor = SILENT,
) -> Intervals:
    """Return the bootstrap intervals of a network; see `Learned.intervals`."""
    wanted = check_sampling(n_samples, seed, relearn)
    if sampling is None:
        sampling = "halves" if relearn and learned.data is not None and any(learned.data.cards) else "bootstrap"
    check_name("sampling", sampling, get_args(IntervalSampling))
    if not is_number(level) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1; got {level!r:.80}. 0.95 is usual.")
    labels = tuple(group_labels(learned, groups))
    share = None if sampling == "bootstrap" else 0.5
    draws = [Draw(one, share) for one in np.random.SeedSequence(seed).spawn(wanted)]
    found = sampled_weights(learned, "intervals", draws, relearn=relearn, n_jobs=n_jobs, client=client, monitor=monitor)
    return Intervals(learned, found, labels, sampling, level, relearn, seed)
