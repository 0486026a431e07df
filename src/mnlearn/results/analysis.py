"""Methods of a learned network that analyse it: surroundings, centrality, intervals of weights, and stability.

Parts of a large network: the surroundings of some variables, with the numbers of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.transforms import normal_scores
from mnlearn.errors import InputError, check_listed, check_name, whole_number
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import SILENT, Monitor
from mnlearn.results.edges import Frame
from mnlearn.results.measures import centrality_table

if TYPE_CHECKING:
    from mnlearn.analysis.intervals import Intervals, IntervalSampling
    from mnlearn.analysis.stability import Stability
    from mnlearn.regression.weights import EdgeWeights
    from mnlearn.results.learned import Learned
    from mnlearn.visual.figure_data import Groups


_Value = TypeVar("_Value")


def places_of(learned: Learned, names: str | Iterable[str]) -> list[int]:
    """Return the indices of one variable or several, ascending."""
    if not isinstance(names, str):
        check_listed("names", names, "names of variables")
    chosen = [names] if isinstance(names, str) else list(names)
    if not chosen:
        raise InputError("names must hold at least one variable; got none. Name one.")
    place = {name: x for x, name in enumerate(learned.names)}
    for name in chosen:
        if name not in place:
            check_name("variable", name, learned.names)
    return sorted({place[name] for name in chosen})


def excerpt(learned: Learned, variables: Sequence[int]) -> Learned:
    """Return the network among some variables, without data; its numbers are those of the whole network.

    The weight of an edge depends on all neighbours of its ends, so it is computed in the whole network.
    """
    place = {x: k for k, x in enumerate(variables)}
    found = learned.result
    own = replace(
        found,
        graph=found.graph.subgraph(variables),
        support=_among(found.support, place, learned) or {},
        score=None,
        trace=None,
        stages={},
        alternatives=(),
        edge_probabilities=_among(found.edge_probabilities, place, learned),
        log_odds=None if found.log_odds is None else found.log_odds[np.ix_(variables, variables)],
        steps=None,
        absent=None,
        moves=(),
        trials=(),
        separators={},
        pdag=None,
        partial_correlations=_among(found.partial_correlations, place, learned),
        mass=None,
    )
    return replace(
        learned,
        names=tuple(learned.names[x] for x in variables),
        result=own,
        data=None,
        recipe=None,
        frequencies=_among(learned.frequencies, place, learned),
        saved_weights=_weights_among(learned, place),
    )


def _among(
    numbers: Mapping[Edge, _Value] | None, place: Mapping[int, int], learned: Learned
) -> dict[Edge, _Value] | None:
    """Return the numbers of the edges among some variables, by their places there."""
    if numbers is None:
        return None
    return {edge: numbers[whole] for edge, whole in _edges_among(learned, place) if whole in numbers}


def _edges_among(learned: Learned, place: Mapping[int, int]) -> list[tuple[Edge, Edge]]:
    """Return each edge among some variables: by their places, and by index in the whole network."""
    found = []
    for x, k in place.items():
        for y in learned.graph.neighbors(x):
            if x < y and y in place:
                u, v = sorted((k, place[y]))
                found.append(((u, v), (x, y)))
    return sorted(found)


def _weights_among(learned: Learned, place: Mapping[int, int]) -> EdgeWeights | None:
    """Return the weights of the edges among some variables, given all their neighbours in the whole network."""
    from mnlearn.regression.weights import EdgeWeights, is_mixed

    edges = _edges_among(learned, place)
    known = learned.__dict__.get("weights") or learned.saved_weights
    data = learned.data
    if known is None and (learned.result.partial_correlations is not None or data is None or is_mixed(data)):
        known = learned.weights  # of mixed data they are those of one model of all variables
    if known is None and data is not None:
        known = _weights_of_some(learned, data, sorted(place))
    if known is None:
        return None
    values = {edge: known.values[whole] for edge, whole in edges if whole in known.values}
    return EdgeWeights(known.measure, values, tuple(known.ordered[x] for x in place))


def _weights_of_some(learned: Learned, data: Dataset, variables: Sequence[int]) -> EdgeWeights:
    """Return weights by index in which those of all edges among some variables are right; others are not used."""
    from mnlearn.regression.weights import EdgeWeights, edge_weights

    around = {x: learned.graph.neighbors(x) for x in variables}
    if learned.settings.get("transform") != "normal_scores":
        return edge_weights(data, [around.get(x, ()) for x in range(data.n_variables)])
    family = sorted(set(variables).union(*around.values()))  # ranks of all columns would take seconds
    place = {x: k for k, x in enumerate(family)}
    found = edge_weights(normal_scores(data.select(family)), [[place[y] for y in around.get(x, ())] for x in family])
    values = {(family[u], family[v]): value for (u, v), value in found.values.items()}
    return EdgeWeights(found.measure, values, (True,) * data.n_variables)


class Analysis:
    """Centrality and its stability, as methods of `Learned`."""

    def around(self, names: str | Iterable[str], *, distance: int = 1) -> Learned:
        """Return the network of some variables and their surroundings, to look at a part of a large network.

        Parameters
        ----------
        names
            One variable or several.
        distance
            1 for the neighbours, 2 for their neighbours too, and so on.

        Returns
        -------
        Learned
            The edges among these variables, with the support, the weights and the frequencies of the whole network; it
            has no data. Beyond `distance` the neighbours of a variable are left out, so `blanket` is complete only for
            variables within ``distance - 1``.

        Raises
        ------
        UnknownNameError
            If a variable is unknown.
        InputError
            If the distance is less than 1.

        Examples
        --------
        >>> import mnlearn as mn
        >>> from mnlearn.simulate import example
        >>> near = mn.learn(example(1000).columns()).around("fatigue")
        >>> near.blanket("fatigue") == tuple(name for name in near.names if name != "fatigue")
        True
        """
        learned = cast("Learned", self)
        steps = whole_number("distance", distance, least=1, hint="Use 1 for the neighbours alone.")
        waves = learned.graph.waves(places_of(learned, names), steps)
        return excerpt(learned, sorted(chain.from_iterable(waves)))

    def among(self, names: str | Iterable[str]) -> Learned:
        """Return the network among some variables, in the order of the data, with the numbers of the whole network.

        Parameters
        ----------
        names
            The variables.

        Returns
        -------
        Learned
            As `around` returns it.

        Raises
        ------
        UnknownNameError
            If a variable is unknown.
        """
        learned = cast("Learned", self)
        return excerpt(learned, places_of(learned, names))

    def centrality(self, groups: Groups | None = None, *, z_scores: bool = False, frame: Frame | None = None) -> Any:
        """Return the weighted centralities of the variables as a table; docs/centrality.md has the formulas.

        Parameters
        ----------
        groups
            The group of each variable, or the variables of each group, for bridge centralities; by default the
            communities of the network. A variable without a group is a group of its own.
        z_scores
            Subtract the mean of each column and divide by its standard deviation.
        frame
            As for `edges`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One row per variable: ``variable``, ``group``, ``strength``, ``expected_influence``,
            ``expected_influence_2`` (two steps), ``closeness``, ``betweenness``, ``bridge_strength`` and
            ``bridge_expected_influence``.

        Raises
        ------
        InputError
            If the network has no weights, or a group breaks a rule.
        UnknownNameError
            If a group holds an unknown variable.

        Examples
        --------
        >>> import mnlearn as mn
        >>> from mnlearn.simulate import example
        >>> table = mn.learn(example(1000).columns()).centrality(frame="pyarrow")
        >>> table.column_names[:4]
        ['variable', 'group', 'strength', 'expected_influence']
        """
        return centrality_table(cast("Learned", self), groups, z_scores, frame)

    def intervals(
        self,
        n_samples: int = 1000,
        *,
        sampling: IntervalSampling | None = None,
        level: float = 0.95,
        relearn: bool = True,
        groups: Groups | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        client: Any = None,
        monitor: Monitor = SILENT,
    ) -> Intervals:
        """Return bootstrap intervals of the weights, with difference tests of edges and of centralities.

        Parameters
        ----------
        n_samples
            Number of samples.
        sampling
            ``"bootstrap"``: as many rows as there are, drawn with replacement. ``"halves"``: half of the rows without
            replacement, for intervals of the same width. By default halves if networks of categorical variables are
            learned again, since most methods take rows that are drawn twice for more evidence (docs/confidence.md).
        level
            Level of the percentile intervals.
        relearn
            Learn the network of each sample by the same method. False keeps the structure and estimates its weights
            again, in milliseconds: the intervals then show the error of the weights, not that of the structure.
        groups
            As for `centrality`.
        seed
            The same seed gives the same intervals, for any number of jobs.
        n_jobs
            Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
        client
            As for `bootstrap`.
        monitor
            Receives the progress and may cancel: the intervals are then those of the samples so far.

        Raises
        ------
        InputError
            If a setting is invalid, or the network has no data.

        Notes
        -----
        The logger ``mnlearn.stability`` says after the first sample how long all of them will take.
        """
        from mnlearn.analysis.intervals import intervals_of

        how: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "client": client, "monitor": monitor}
        how |= {"sampling": sampling, "level": level, "relearn": relearn, "groups": groups}
        return intervals_of(cast("Learned", self), n_samples, **how)

    def stability(
        self,
        n_samples: int = 1000,
        *,
        correlation: float = 0.7,
        relearn: bool = True,
        groups: Groups | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        client: Any = None,
        monitor: Monitor = SILENT,
    ) -> Stability:
        """Return the stability of the centralities when 10 to 75 % of the rows are dropped, and CS coefficients.

        Parameters
        ----------
        n_samples
            Number of samples, at least 14, spread evenly over the shares of dropped rows, in steps of 5 %.
        correlation
            The correlation with all rows that the CS coefficient asks for.
        relearn, groups, seed, client, monitor
            As for `intervals`.
        n_jobs
            Number of processes: None or −1 for all cores, else that many. Any number gives the same result.

        Raises
        ------
        InputError
            If a setting is invalid, or the network has no data.
        """
        from mnlearn.analysis.stability import stability_of

        how = {"seed": seed, "n_jobs": n_jobs, "client": client, "monitor": monitor}
        return stability_of(
            cast("Learned", self), n_samples, correlation=correlation, relearn=relearn, groups=groups, **cast(Any, how)
        )
