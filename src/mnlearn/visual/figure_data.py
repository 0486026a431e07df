"""Figure data of a learned network: layout, communities, order, signs and measures, computed once for all pictures.

Settings of the picture of a network: groups, labels, layout, sizes of nodes, rings and a threshold of weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, log
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.errors import InputError, check_name, check_number, is_number, iterates, real_array, unknown_name
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual.layout import block_order, clustering_order, communities, on_circle, on_group_circles, positions

if TYPE_CHECKING:
    from mnlearn.regression.weights import EdgeWeights
    from mnlearn.results.learned import Learned


LAYOUTS = ("spring", "circle", "groups")
SIZES = ("degree", "strength", "closeness", "betweenness")
Groups: TypeAlias = "Mapping[str, object] | Sequence[object]"
Labels: TypeAlias = "Mapping[str, str] | Sequence[str]"
Layout: TypeAlias = "str | Mapping[str, Sequence[float]] | ArrayLike"
NodeSize: TypeAlias = "float | str | Mapping[str, float]"
_LARGEST = 10.0  # times the usual size


@dataclass(frozen=True, kw_only=True, eq=False)
class Appearance:
    """Settings of the picture of a network; None for the default.

    Attributes
    ----------
    groups
        Group of each variable: a mapping from variables to groups, one from groups to lists of variables, or a list in
        the order of the variables. Communities by default.
    labels
        Text of each node: a mapping or a list; the name by default.
    layout
        ``"spring"`` (default), ``"circle"``, ``"groups"``, or coordinates: a mapping or an array of n rows.
    node_size
        A factor for all nodes, one of ``SIZES``, or a mapping of sizes; the largest size is the usual one.
    threshold
        Edges with a smaller absolute weight are not drawn.
    same_layout_as
        Another network over the same variables, whose layout is used.
    rings
        A share from 0 to 1 per variable, drawn as a ring around its node.
    ring_words
        The name of the shares in the legend.
    """

    groups: Groups | None = None
    labels: Labels | None = None
    layout: Layout | None = None
    node_size: NodeSize | None = None
    threshold: float | None = None
    same_layout_as: Learned | None = None
    rings: Mapping[str, float] | None = None
    ring_words: str = "share"

    def given(self) -> list[str]:
        """Return the names of the settings that were given."""
        return [name for name, value in vars(self).items() if value is not None and name != "ring_words"]

    def among(self, names: Sequence[str], part: Sequence[str]) -> Appearance:
        """Return the settings for some of the variables; names of others are checked and left out."""
        if self.same_layout_as is not None:
            raise InputError("same_layout_as is for whole networks; got around=... too. Drop one of the two.")
        place = {name: x for x, name in enumerate(names)}
        kept = [place[name] for name in part]
        changed: dict[str, Any] = {}
        if self.groups is not None:
            numbers, titles = group_numbers(names, self.groups)
            found = [titles[numbers[x]] if numbers[x] >= 0 else None for x in kept]
            changed["groups"] = found if any(found) else None
        if self.labels is not None:
            texts = label_texts(names, self.labels)
            changed["labels"] = [texts[x] for x in kept]
        if self.layout is not None and not isinstance(self.layout, str):
            changed["layout"] = coordinates(names, self.layout)[kept]
        for name in ("node_size", "rings"):
            values = getattr(self, name)
            if isinstance(values, Mapping):
                _check_variables(name, values, names)
                changed[name] = {key: value for key, value in values.items() if key in set(part)}
        return replace(self, **changed)


def group_numbers(names: Sequence[str], groups: Groups) -> tuple[IntArray, tuple[str, ...]]:
    """Return the group of each variable by number, −1 for none, and the names of the groups in order of appearance.

    Examples
    --------
    >>> group_numbers(["a", "b", "c"], {"first": ["a", "c"], "second": ["b"]})
    (array([0, 1, 0]), ('first', 'second'))
    >>> group_numbers(["a", "b", "c"], ["x", "x", None])[1]
    ('x',)
    """
    if isinstance(groups, Mapping):
        lists = bool(groups) and all(not isinstance(value, str) and iterates(value) for value in groups.values())
        named = _from_lists(groups) if lists else dict(groups)
    else:
        named = dict(zip(names, _one_each("groups", names, groups, "group"), strict=True))
    _check_variables("groups", named, names)
    try:
        kinds = dict.fromkeys(group for group in named.values() if group is not None)
    except TypeError as error:
        raise InputError(
            "groups must name a group with a string for every variable; got a value that is none. Use "
            "groups={'first': ['a', 'b']}, for example."
        ) from error
    if not kinds:
        raise InputError("groups must name at least one group; got none. Leave it out for communities.")
    number = {group: k for k, group in enumerate(kinds)}
    found = [number.get(named.get(name), -1) for name in names]
    return np.array(found, dtype=np.int64), tuple(str(group) for group in kinds)


def _from_lists(groups: Mapping[str, Any]) -> dict[str, object]:
    """Return the group of each variable from lists of variables."""
    found: dict[str, object] = {}
    for group, members in groups.items():
        for name in members:
            if not isinstance(name, str):
                raise InputError(f"groups must list variables by name; got {name!r:.80}. Use their names.")
            if name in found:
                raise InputError(f"groups must have every variable once; got {name!r} twice. Remove one of them.")
            found[name] = group
    return found


def label_texts(names: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Return the text of each node: the label, or the name of a variable that has none."""
    if isinstance(labels, Mapping):
        _check_variables("labels", labels, names)
        texts = [labels.get(name, name) for name in names]
    else:
        texts = _one_each("labels", names, labels, "label")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"labels must be strings; got {text!r:.80}. Use str() on them.")
    return tuple(texts)


def coordinates(names: Sequence[str], layout: Mapping[str, Any] | ArrayLike) -> FloatArray:
    """Return the coordinates that a user gave, one row per variable."""
    hint = "Give two numbers per variable, or use 'spring', 'circle' or 'groups'."
    if isinstance(layout, Mapping):
        _check_variables("layout", layout, names)
        lacking = [name for name in names if name not in layout]
        if lacking:
            raise InputError(f"layout must have coordinates of every variable; got none of {lacking[0]!r}. {hint}")
        layout = [layout[name] for name in names]
    places = real_array("layout", layout, hint)
    if places.shape != (len(names), 2):
        raise InputError(f"layout must have {len(names)} rows of two numbers; got the shape {places.shape}. {hint}")
    if not np.isfinite(places).all():
        raise InputError(f"layout must have finite numbers; got {places[~np.isfinite(places)][0]}. {hint}")
    return places


def numbers_by_name(
    argument: str, names: Sequence[str], values: object, most: float, *, whole: bool = True
) -> FloatArray:
    """Return one number from 0 to `most` per variable; NaN for those without one, if that is allowed."""
    hint = f"Give a dict, such as {{{names[0]!r}: 0.5}}."
    if not isinstance(values, Mapping):
        raise InputError(f"{argument} must be a mapping from variables to numbers; got {values!r:.80}. {hint}")
    _check_variables(argument, values, names)
    for name, value in values.items():
        if not is_number(value) or not 0 <= float(value) <= most:
            limit = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
            raise InputError(f"{argument} must be finite numbers {limit}; got {value!r:.80} for {name!r}. {hint}")
    lacking = [name for name in names if name not in values]
    if whole and lacking:
        raise InputError(f"{argument} must have a number for every variable; got none for {lacking[0]!r}. {hint}")
    return np.array([float(values.get(name, np.nan)) for name in names], dtype=np.float64)


def check_appearance(look: Appearance, names: Sequence[str]) -> None:
    """Raise InputError for a setting that does not fit these variables, before anything is drawn."""
    if look.groups is not None:
        group_numbers(names, look.groups)
    if look.labels is not None:
        label_texts(names, look.labels)
    if isinstance(look.layout, str):
        check_name("layout", look.layout, LAYOUTS)
    elif look.layout is not None:
        coordinates(names, look.layout)
    if isinstance(look.node_size, str):
        check_name("node_size", look.node_size, SIZES)
    elif is_number(look.node_size):
        check_number("node_size", look.node_size, "1 is the usual size.", least=0.1, most=_LARGEST)
    elif look.node_size is not None:
        numbers_by_name("node_size", names, look.node_size, np.inf)
    if look.threshold is not None:
        check_number("threshold", look.threshold, "Use 0.05, for example.", least=0.0)
    if look.rings is not None:
        numbers_by_name("rings", names, look.rings, 1.0, whole=False)
    _check_other(look, names)


def _check_other(look: Appearance, names: Sequence[str]) -> None:
    """Raise InputError unless the network whose layout is used has the same variables."""
    other = look.same_layout_as
    if other is None:
        return
    if look.layout is not None:
        raise InputError("layout and same_layout_as exclude each other; got both. Drop one of them.")
    known = getattr(other, "names", None)
    if not isinstance(known, tuple) or not hasattr(other, "graph"):
        raise InputError(
            f"same_layout_as must be a learned network; got {type(other).__name__}. Pass what mnlearn.learn returned."
        )
    if set(known) != set(names):
        strange = sorted(set(known) ^ set(names))[0]
        raise InputError(
            f"same_layout_as must have the variables of this network; only one of the two has {strange!r}. Learn both "
            "from the same columns."
        )


def _check_variables(argument: str, named: Mapping[Any, object], names: Sequence[str]) -> None:
    """Raise an error for a name that is not a variable."""
    known = set(names)
    for name in named:
        if not isinstance(name, str) or name not in known:
            raise unknown_name(f"{argument}: variable", name, names)


def _one_each(argument: str, names: Sequence[str], values: object, noun: str) -> list[Any]:
    """Return a list with one value per variable."""
    if isinstance(values, str | bytes) or not iterates(values):
        raise InputError(
            f"{argument} must be a mapping by variable, or a list with one {noun} per variable; got {values!r:.80}. "
            f"Leave it out for the default."
        )
    found = list(values)
    if len(found) != len(names):
        raise InputError(
            f"{argument} must have one {noun} per variable, {len(names)} in all; got {len(found)}. Use a mapping to "
            f"set some of them."
        )
    return found


# Distinct to most kinds of colour vision, dark enough on white and light enough on black; further groups share a grey.
GROUP_COLORS = (
    *("#3b7dd8", "#e08a1e", "#2a9d74", "#c2578f", "#7d67c9"),
    *("#b59b13", "#3aa6bd", "#c0563c", "#6c8f2f", "#9a6b4c"),
)
NO_GROUP_COLOR = "#8b919a"
SIGN_COLORS = {1: "#2f6db5", -1: "#c44536", 0: "#7a808a"}
SIGN_WORDS = {1: "positive", -1: "negative", 0: "no sign"}


@dataclass(frozen=True, eq=False)
class FigureData:
    """All that pictures of a learned network need.

    Attributes
    ----------
    names, graph
        The network; the graph has the edges to draw.
    positions
        Coordinates of each variable, one row each; an edge has a length of about 1.
    groups
        Group of each variable, or community, 0 the largest; −1 for a variable without one.
    order
        The variables in the order of a hierarchical clustering, each group together.
    weights
        Signed weights of the edges; None if they are not known.
    measures
        Confidence of the edges on every scale of the result.
    labels
        Text of each variable in pictures.
    group_names
        Names of the groups; none for communities.
    hidden
        Number of edges that are not drawn because their weight is below a threshold.
    widest
        Absolute weight that is drawn with full width, if several networks share it.
    """

    names: tuple[str, ...]
    graph: Graph
    positions: FloatArray
    groups: IntArray
    order: IntArray
    weights: EdgeWeights | None
    measures: tuple[Measure, ...]
    labels: tuple[str, ...] = ()
    group_names: tuple[str, ...] = ()
    hidden: int = 0
    widest: float | None = None

    def sign(self, edge: Edge) -> int:
        """Return 1 for a positive, −1 for a negative association, 0 for variables without an order."""
        return 0 if self.weights is None else self.weights.sign(edge)

    def text(self, x: int, most: int = 28) -> str:
        """Return the label of a variable, or its name, on one line."""
        return shown_name(self.labels[x] if self.labels else self.names[x], most)

    def strength(self) -> FloatArray:
        """Return a number from 0 to 1 per edge: its absolute weight; its confidence if there are no weights."""
        if self.weights is None:
            return self.relative()
        found = relative_strengths(self.weights, self.widest)
        return np.array([found.get(edge, 0.0) for edge in self.graph.edges], dtype=np.float64)

    def confidence(self) -> Measure | None:
        """Return the measure that opacity shows: probability, else frequency, else support.

        Without weights it is the first measure, which then also sets the width.
        """
        if self.weights is None:
            return self.measures[0] if self.measures else None
        by_key = {measure.key: measure for measure in self.measures}
        return next((by_key[key] for key in ("probability", "frequency", "support") if key in by_key), None)

    def opacity(self) -> FloatArray:
        """Return each edge from 0 to 1 by its confidence; 1 for all if none is known."""
        measure, edges = self.confidence(), self.graph.edges
        return np.ones(len(edges)) if measure is None else measure.relative(edges)

    def relative(self) -> FloatArray:
        """Return each edge from 0 to 1 by the first measure; 0.5 for all if there is none."""
        edges = self.graph.edges
        return self.measures[0].relative(edges) if self.measures else np.full(len(edges), 0.5)

    def color(self, x: int) -> str:
        """Return the colour of the group of a variable."""
        return group_color(int(self.groups[x]))

    def group_legend(self) -> list[tuple[str, str]]:
        """Return the colour and the name of each named group; those that share a grey are "other"."""
        found = [(group_color(k), name) for k, name in enumerate(self.group_names[: len(GROUP_COLORS)])]
        rest = len(self.group_names) > len(found) or bool((self.groups < 0).any())
        return [*found, (NO_GROUP_COLOR, "other")] if found and rest else found

    def blocks(self) -> list[tuple[int, int, str]]:
        """Return the first place, the size and the name of each group in `order`; variables without one are left out.

        A community has the name of the variable with the most neighbours in it.
        """
        found: list[tuple[int, int, str]] = []
        in_order = self.groups[self.order]
        starts = [k for k in range(len(in_order)) if k == 0 or in_order[k] != in_order[k - 1]]
        for first, end in zip(starts, [*starts[1:], len(in_order)], strict=True):
            group, members = int(in_order[first]), self.order[first:end].tolist()
            if group < 0:
                continue
            hub = max(members, key=lambda x: (self.graph.degree(x), -x))
            more = f" + {len(members) - 1}" if len(members) > 1 else ""
            name = shown_name(self.group_names[group], 20) if self.group_names else self.text(hub, 16) + more
            found.append((first, end - first, name))
        return found


def group_color(group: int) -> str:
    """Return the colour of a group by number; grey for none and beyond the last colour."""
    return GROUP_COLORS[group] if 0 <= group < len(GROUP_COLORS) else NO_GROUP_COLOR


def relative_strengths(weights: EdgeWeights, widest: float | None = None) -> dict[Edge, float]:
    """Return the absolute weight of each edge from 0 to 1, relative to the strongest.

    An outlier counts as twice the 90 % quantile at most, so that it does not make all other edges thin.
    """
    full = strongest(weights) if widest is None else widest
    return {edge: 0.0 if isnan(value) else min(abs(value) / full, 1.0) for edge, value in weights.values.items()}


def strongest(weights: EdgeWeights) -> float:
    """Return the absolute weight that is drawn with full width."""
    values = np.abs([value for value in weights.values.values() if isfinite(value)])
    found = min(float(values.max()), 2 * float(np.quantile(values, 0.9))) if len(values) else 0.0
    return found if found > 0 else 1.0


def figure_data_of(learned: Learned, seed: int = 0, look: Appearance | None = None) -> FigureData:
    """Compute the figure data of a network.

    Parameters
    ----------
    learned
        The network.
    seed
        Seed of the layout and the communities.
    look
        Groups, labels, layout and threshold, if not the default ones.
    """
    look = Appearance() if look is None else look
    graph, weights, names = learned.graph, learned.weights, learned.names
    strengths = None if weights is None else relative_strengths(weights)
    groups, group_names = (
        (communities(graph, seed, strengths), ()) if look.groups is None else group_numbers(names, look.groups)
    )
    order = block_order(clustering_order(graph), groups)
    drawn = _strong_edges(graph, weights, look.threshold)
    return FigureData(
        names=names,
        graph=drawn,
        positions=_laid_out(learned, seed, look, groups, order),
        groups=groups,
        order=order,
        weights=weights,
        measures=tuple(measures(learned)),
        labels=() if look.labels is None else label_texts(names, look.labels),
        group_names=group_names,
        hidden=graph.n_edges - drawn.n_edges,
    )


def _strong_edges(graph: Graph, weights: EdgeWeights | None, threshold: float | None) -> Graph:
    """Return the graph without the edges whose absolute weight is below the threshold."""
    if threshold is None:
        return graph
    if weights is None:
        raise InputError(
            "threshold needs weights of the edges, which follow from the data; got a network without. Attach the "
            "data: learned.with_data(data)."
        )
    return Graph(graph.n_variables, [edge for edge in graph.edges if abs(weights.values.get(edge, 0.0)) >= threshold])


def _laid_out(learned: Learned, seed: int, look: Appearance, groups: IntArray, order: IntArray) -> FloatArray:
    """Return the coordinates of the variables in the layout of the settings."""
    if look.same_layout_as is not None:
        other = look.same_layout_as
        place = {name: x for x, name in enumerate(other.names)}
        return weighted_positions(other, seed)[[place[name] for name in learned.names]]
    if look.layout is None or isinstance(look.layout, str):
        named = {
            "circle": lambda: on_circle(order.tolist()),
            "groups": lambda: on_group_circles(groups, order),
        }
        return named.get(look.layout or "", lambda: weighted_positions(learned, seed))()
    return coordinates(learned.names, look.layout)


def weighted_positions(learned: Learned, seed: int) -> FloatArray:
    """Return the layout of a network in which strong edges are short."""
    weights = learned.weights
    return positions(learned.graph, seed, None if weights is None else relative_strengths(weights))


def shown_name(name: str, most: int = 28) -> str:
    """Return a name for a picture: one line, printable, shortened."""
    plain = "".join(c if c.isprintable() else " " for c in name).strip() or "(blank)"
    return plain if len(plain) <= most else plain[: most - 1] + "…"


@dataclass(frozen=True)
class Measure:
    """One scale of the confidence in edges; larger is more certain.

    Attributes
    ----------
    key
        "frequency", "probability" or "support".
    label
        Label of an axis.
    meaning
        Explanation in words.
    values
        One number per edge that has one; larger is more certain.
    shares
        Whether the numbers are shares from 0 to 1.
    """

    key: str
    label: str
    meaning: str
    values: Mapping[Edge, float]
    shares: bool = True

    def relative(self, edges: tuple[Edge, ...]) -> FloatArray:
        """Return a number from 0 to 1 per edge for drawing: shares unchanged, others relative to their 90 % quantile.

        An edge without a number is drawn as the weakest.
        """
        values = np.array([self.values.get(edge, np.nan) for edge in edges], dtype=np.float64)
        if not self.shares and np.isfinite(values).any():
            values = np.maximum(values, 0.0) / max(float(np.nanquantile(values, 0.9)), 1e-12)
        return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def measures(learned: Learned) -> list[Measure]:
    """Return the measures of a result, if known: frequency under resampling, probability, support, in this order.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.results import Learned
    >>> from mnlearn.protocols import Result
    >>> found = Result(Graph(2, [(0, 1)]), None, {(0, 1): -4.6}, True, {})
    >>> [(measure.key, round(measure.values[0, 1], 1)) for measure in measures(Learned("gsmn", ("a", "b"), found))]
    [('support', 2.0)]
    """
    found = [_frequency(learned), _probability(learned), _support(learned)]
    return [measure for measure in found if measure is not None]


def _frequency(learned: Learned) -> Measure | None:
    """Return the share of resampled data sets with the edge."""
    if learned.frequencies is None:
        return None
    values = {edge: float(learned.frequencies.get(edge, 0.0)) for edge in learned.graph.edges}
    drawn = "resampling" if learned.resampling is None else learned.resampling.sampling
    label = f"{'bootstrap' if drawn == 'bootstrap' else 'resampling'} frequency"
    return Measure("frequency", label, "the share of resampled data sets that had the edge", values)


def _probability(learned: Learned) -> Measure | None:
    """Return the probability of the edge, if the method gives one."""
    known, support = learned.result.edge_probabilities, learned.result.support
    values: dict[Edge, float] = {}
    edges = learned.graph.edges
    odds = np.array([support.get(edge, np.nan) for edge in edges] if learned.result.probabilistic else [])
    chances = (1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))).tolist() or [None] * len(edges)
    for edge, chance in zip(edges, chances, strict=True):
        if known is not None and edge in known:
            values[edge] = float(known[edge])
        elif chance is not None and edge in support:
            values[edge] = chance
    return Measure("probability", "probability", "how probable the edge is, by this method", values) if values else None


def _support(learned: Learned) -> Measure | None:
    """Return the support: log odds unchanged, p-values as −log10."""
    odds = learned.support_scale == "log_odds"
    turned = 1.0 if odds else -1.0 / log(10.0)
    joined = set(learned.graph.edges)
    values = {e: turned * s for e, s in learned.result.support.items() if e in joined and not isnan(s)}
    largest = max((abs(value) for value in values.values() if isfinite(value)), default=1.0)
    values = {edge: float(min(max(value, -2 * largest), 2 * largest)) for edge, value in values.items()}
    if not values:
        return None
    if odds:
        return Measure("support", "log odds", "the natural log odds of the edge, by the method's score", values, False)
    meaning = "evidence of the tests against independence: minus the decimal logarithm of the p-value"
    return Measure("support", "evidence (−log10 p)", meaning, values, False)
