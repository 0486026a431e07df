"""Comparison of the networks of two or more groups, with permutation tests of their differences."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mnlearn.errors import InputError, check_listed, check_name, check_number
from mnlearn.results.edges import Frame, frame_of, printable
from mnlearn.results.learned import Learned
from mnlearn.results.summary import NetworkDifference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.regression.weights import WeightMeasure

_SHOWN = 10  # pairs of a summary
_SHOWN_VARIABLES = 5
_LEVEL = 0.05

STATISTICS: Mapping[str, tuple[str, str]] = {
    "edges": ("edges that only one network has", "edges that some, but not all networks have"),
    "strength": ("difference of the global strengths", "standard deviation of the global strengths"),
    "largest": ("largest difference of a weight", "largest standard deviation of a weight"),
}
"""Statistics of whole networks, in words: of two groups, and of more."""


class Invariance(NamedTuple):
    """One statistic of the difference between networks and its permutation p-value.

    `groups` are the labels of the compared groups. The p-values of two among more groups are corrected for the number
    of such comparisons.
    """

    name: str
    groups: tuple[str, ...]
    value: float
    p: float
    p_corrected: float

    @property
    def words(self) -> str:
        """The name of the statistic in words."""
        return STATISTICS[self.name][len(self.groups) > 2]

    def __str__(self) -> str:
        """Return the statistic in words."""
        return f"{self.words}: {self.value:.4g}, p = {self.p:.3g}"


class PairDifference(NamedTuple):
    """One pair of variables that is an edge in at least one of two groups; its weight is 0 without an edge."""

    groups: tuple[str, str]
    u: str
    v: str
    weights: tuple[float, float]
    edges: tuple[bool, bool]
    p: float
    p_corrected: float

    @property
    def difference(self) -> float:
        """The weight in the first group minus that in the second."""
        return self.weights[0] - self.weights[1]


class CentralityDifference(NamedTuple):
    """Strength (sum of |weights|) or expected influence (sum of weights) of one variable in two groups."""

    groups: tuple[str, str]
    variable: str
    measure: str
    values: tuple[float, float]
    p: float
    p_corrected: float

    @property
    def difference(self) -> float:
        """The value in the first group minus that in the second."""
        return self.values[0] - self.values[1]


class Adjustment(NamedTuple):
    """Covariates; the number of strata they make; and of rows in strata with several groups, which are permuted."""

    covariates: tuple[str, ...]
    strata: int
    rows: int


@dataclass(frozen=True, repr=False)
class GroupComparison:
    """Groups of rows, their networks, and permutation tests of the differences [NCT22].

    Attributes
    ----------
    by, groups
        The column that divides the rows, and its labels.
    networks
        The learned network of each group.
    measure
        Measure of the weights, the same for all groups; see `EdgeWeights`.
    statistics
        Statistics of whole networks: ``edges``, ``strength`` and ``largest``. With more than two groups the first three
        compare all of them, and the others every two.
    pairs
        Every pair that is an edge in one of two groups, for every two groups, the smallest p first.
    centralities
        Strength and expected influence of every variable, for every two groups, the smallest p first. Expected
        influence is left out if some weights have no sign.
    correction
        Correction of the p-values for their number: max, holm, fdr or none.
    adjustment
        The covariates that are adjusted for, and their strata; None without covariates.
    asked, done
        Number of permutations requested and done; fewer if the run was cancelled.
    seed
        Seed of the permutations.
    """

    by: str
    groups: tuple[str, ...]
    networks: tuple[Learned, ...]
    measure: WeightMeasure
    statistics: tuple[Invariance, ...]
    pairs: tuple[PairDifference, ...]
    centralities: tuple[CentralityDifference, ...]
    correction: str
    adjustment: Adjustment | None
    asked: int
    done: int
    seed: int

    @property
    def difference(self) -> NetworkDifference:
        """Shared edges of two networks and edges of one only; "here" is the first group."""
        if len(self.networks) > 2:
            raise InputError(
                f"difference is for two groups; got {len(self.networks)}. Compare two of the networks: "
                "networks[0].compare(networks[1])."
            )
        return self.networks[0].compare(self.networks[1])

    def tests(self, frame: Frame | None = None) -> Any:
        """Return the statistics of whole networks as a table; `frame` as for `Learned.edges`.

        Columns ``statistic``, ``groups`` (the labels, separated by commas), ``value``, ``p`` and ``p_corrected``.
        """
        found = self.statistics
        columns: dict[str, tuple[str, list[Any]]] = {
            "statistic": ("string", [one.name for one in found]),
            "groups": ("string", [", ".join(one.groups) for one in found]),
            "value": ("double", [one.value for one in found]),
        }
        return self._frame(columns, found, frame)

    def edges(self, frame: Frame | None = None) -> Any:
        """Return the pairs as a table, the smallest p first; `frame` as for `Learned.edges`.

        Columns ``group_1``, ``group_2``, ``u``, ``v``, ``weight_1``, ``weight_2``, ``difference``, ``edge_1``,
        ``edge_2``, ``p`` and ``p_corrected``.
        """
        found = self.pairs
        columns = _two_columns("group", [pair.groups for pair in found], "string")
        columns |= {name: ("string", [getattr(pair, name) for pair in found]) for name in ("u", "v")}
        columns |= _two_columns("weight", [pair.weights for pair in found])
        columns["difference"] = ("double", [pair.difference for pair in found])
        columns |= _two_columns("edge", [pair.edges for pair in found], "bool")
        return self._frame(columns, found, frame)

    def centrality(self, frame: Frame | None = None) -> Any:
        """Return the centralities as a table, the smallest p first; `frame` as for `Learned.edges`.

        Columns ``group_1``, ``group_2``, ``variable``, ``measure``, ``value_1``, ``value_2``, ``difference``, ``p`` and
        ``p_corrected``.
        """
        found = self.centralities
        columns = _two_columns("group", [one.groups for one in found], "string")
        columns |= {name: ("string", [getattr(one, name) for one in found]) for name in ("variable", "measure")}
        columns |= _two_columns("value", [one.values for one in found])
        columns["difference"] = ("double", [one.difference for one in found])
        return self._frame(columns, found, frame)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: str | None = None,
        between: Sequence[str] | None = None,
        level: float | None = None,
        **options: Any,
    ) -> Figure:
        """Draw the difference of the weights of two groups, or the networks side by side.

        Parameters
        ----------
        path
            The file: .png, .svg or .pdf.
        kind
            ``"difference"`` of two groups, or ``"networks"`` in one layout. By default the difference if there are two
            groups, else the networks.
        between
            Labels of the groups to draw, two of them for a difference; by default all.
        level
            Largest corrected p-value of a pair in the difference; by default all pairs are drawn.
        **options
            ``title``, ``seed``, ``groups`` (of variables), ``labels``, ``layout``, ``node_size`` and ``threshold``, as
            for `Learned.plot`.

        Returns
        -------
        Figure
            A matplotlib figure; a notebook shows it.

        Raises
        ------
        InputError
            If a difference of other than two groups is wanted, or a setting does not fit.
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If matplotlib is not installed.
        """
        from mnlearn.visual.comparison import plot_difference, plot_side_by_side

        places = self._places(between)
        kind = ("difference" if len(places) == 2 else "networks") if kind is None else kind
        check_name("kind", kind, ("difference", "networks"))
        networks = [self.networks[k] for k in places]
        titles = [f"{self.by} = {self.groups[k]}" for k in places]
        if level is not None:
            check_number("level", level, "Use 0.05, for example.", least=0.0, most=1.0)
        if kind == "networks":
            if level is not None:
                raise InputError(f"level is for the difference of two groups; got {level}. Leave it out.")
            return plot_side_by_side(networks, path, titles=titles, **options)
        if len(places) != 2:
            raise InputError(
                f"between must be two labels for a difference; got {len(places)} groups. Use between=[...] or "
                "kind='networks'."
            )
        both = {self.groups[k] for k in places}
        most = 1.0 if level is None else level
        kept = [(p.u, p.v) for p in self.pairs if set(p.groups) == both and p.p_corrected <= most]
        title = f"{self.by}: {' − '.join(self.groups[k] for k in places)}"
        first, second = networks
        return plot_difference(first, second, path, titles=titles, pairs=kept, **{"title": title, **options})

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn compare-groups --json` prints."""
        return {
            "by": self.by,
            "groups": list(self.groups),
            "rows": [network.n_rows for network in self.networks],
            "method": self.networks[0].method,
            "edges": [network.graph.n_edges for network in self.networks],
            "weight_measure": self.measure,
            "statistics": [one._asdict() for one in self.statistics],
            "pairs": [pair._asdict() for pair in self.pairs],
            "centralities": [one._asdict() for one in self.centralities],
            "correction": self.correction,
            "adjustment": None if self.adjustment is None else self.adjustment._asdict(),
            "permutations": {"asked": self.asked, "done": self.done, "seed": self.seed},
        }

    def __repr__(self) -> str:
        return f"<GroupComparison {self._headline()}>"

    def __str__(self) -> str:
        """Return the groups, the statistics, and the pairs and variables that differ most."""
        lines = [*self.headlines(), *map(str, self.statistics[: len(STATISTICS)])]
        several = len(self.groups) > 2
        if several:
            lines += _two_by_two(self.statistics[len(STATISTICS) :], self.correction)
        lines += [
            f"{_prefix(pair.groups, several)}{pair.u} - {pair.v}: {_numbers(pair.weights)}, {self._chance(pair)}"
            for pair in self.pairs[:_SHOWN]
        ]
        if len(self.pairs) > _SHOWN:
            lines.append(f"and {len(self.pairs) - _SHOWN} more pairs: edges() or --json has them all")
        shown = [one for one in self.centralities if one.p <= _LEVEL][:_SHOWN_VARIABLES]
        lines += [
            f"{_prefix(one.groups, several)}{one.measure.replace('_', ' ')} of {one.variable}: "
            f"{_numbers(one.values)}, {self._chance(one)}"
            for one in shown
        ]
        if shown and len(self.centralities) > len(shown):
            rest = len(self.centralities) - len(shown)
            lines.append(f"and {rest} more centralities: centrality() or --json has them all")
        return "\n".join(map(printable, [*lines, *self.remarks()]))

    def headlines(self) -> list[str]:
        """Return the groups, the measure of the weights, and the covariates in words."""
        from mnlearn.regression.weights import words_of_measure

        lines = [self._headline(), f"Weights are {words_of_measure(self.measure)}; 0 without an edge."]
        if self.adjustment is not None:
            total = sum(network.n_rows or 0 for network in self.networks)
            lines.append(
                f"Adjusted for {', '.join(self.adjustment.covariates)}: {self.adjustment.strata} strata; "
                f"{self.adjustment.rows:,} of {total:,} rows are in strata with several groups."
            )
        return lines

    def _headline(self) -> str:
        """Return the groups with their sizes in one line."""
        sizes = [f"{n.n_rows or 0:,} rows, {n.graph.n_edges} edge{'s' * (n.graph.n_edges != 1)}" for n in self.networks]
        named = [f"{self.by} = {label} ({size})" for label, size in zip(self.groups, sizes, strict=True)]
        listed = f"{', '.join(named[:-1])} and {named[-1]}"
        return printable(f"{listed}, by {self.networks[0].method}, {self.done:,} permutations")

    def _places(self, between: Sequence[str] | None) -> list[int]:
        """Return the places of some groups, by default of all."""
        if between is None:
            return list(range(len(self.groups)))
        check_listed("between", between, "labels of groups")
        labels = [str(label) for label in between]
        for label in labels:
            check_name(f"between: label of {self.by!r}", label, self.groups)
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise InputError(f"between must be two or more different labels; got {labels}. Leave it out for all.")
        return [self.groups.index(label) for label in labels]

    def _chance(self, one: PairDifference | CentralityDifference) -> str:
        """Return the p-values in words."""
        corrected = "" if self.correction == "none" else f", corrected ({self.correction}) {one.p_corrected:.3g}"
        return f"p = {one.p:.3g}{corrected}"

    def remarks(self) -> list[str]:
        """Return a note if the permutations are too few for any corrected p-value of a pair to be small."""
        n, k = len(self.networks[0].names), len(self.groups)
        n_tests = n * (n - 1) // 2 * (k * (k - 1) // 2)
        if self.correction == "max":
            n_tests = k * (k - 1) // 2
        smallest = n_tests / (1 + self.done)
        if self.correction not in ("max", "holm") or smallest <= _LEVEL:
            return []
        other = " or correction max" if self.correction == "holm" else ""
        return [
            f"With {self.done:,} permutations no corrected p-value of a pair is below {min(smallest, 1.0):.2g}. Use "
            f"{int(n_tests / _LEVEL):,} permutations or more{other}."
        ]

    def _frame(
        self,
        columns: dict[str, tuple[str, list[Any]]],
        found: Sequence[Invariance | PairDifference | CentralityDifference],
        frame: Frame | None,
    ) -> Any:
        """Return these columns and the p-values as a table."""
        for name in ("p", "p_corrected"):
            columns[name] = ("double", [getattr(one, name) for one in found])
        return frame_of(columns, self.networks[0].frame if frame is None else frame)


def _two_columns(
    name: str, values: Sequence[tuple[Any, Any]], kind: str = "double"
) -> dict[str, tuple[str, list[Any]]]:
    """Return one column for each of two groups."""
    return {f"{name}_{k + 1}": (kind, [both[k] for both in values]) for k in (0, 1)}


def _numbers(values: tuple[float, float]) -> str:
    return " and ".join(f"{value:.3f}" for value in values)


def _prefix(groups: Sequence[str], named: bool) -> str:
    """Return the two compared groups, if there are more."""
    return f"{groups[0]} and {groups[1]}: " if named else ""


def _two_by_two(statistics: Sequence[Invariance], correction: str) -> list[str]:
    """Return one line for every two of more groups, with corrected p-values."""
    by_groups: dict[tuple[str, ...], list[Invariance]] = {}
    for one in statistics:
        by_groups.setdefault(one.groups, []).append(one)
    how = {"none": "not corrected", "fdr": "corrected (fdr)"}.get(correction, "corrected (holm)")
    lines = [f"Every two groups, p-values {how} for their number:"]
    for groups, found in by_groups.items():
        listed = ", ".join(f"{one.name} {one.value:.4g} (p = {one.p_corrected:.3g})" for one in found)
        lines.append(f"{_prefix(groups, True)}{listed}")
    return lines
