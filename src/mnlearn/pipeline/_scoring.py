"""The score of one graph given data, in one call."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, Unpack, cast

from mnlearn.errors import listed
from mnlearn.graphs.graph import Graph
from mnlearn.pipeline._counting import Counting
from mnlearn.pipeline._naming import GraphLike, graph_over
from mnlearn.pipeline._reading import Reading, load_data
from mnlearn.pipeline._scores import ScoreSettings, make_score
from mnlearn.protocols import LocalScore, PairScore, Score


class Part(NamedTuple):
    """What one variable, or one pair of them, adds to a score."""

    variables: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class GraphScore:
    """The score of a graph: natural-log units, higher is better.

    Attributes
    ----------
    score
        Its name.
    value
        The sum of the terms.
    terms
        What each variable adds (ib, mpl, pic), or each pair of variables (bjp).
    """

    score: str
    value: float
    terms: tuple[Part, ...]

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn score --json` prints."""
        terms = [{"variables": list(part.variables), "value": part.value} for part in self.terms]
        return {"score": self.score, "value": self.value, "terms": terms}


def score(
    data: object,
    graph: GraphLike,
    score: str = "ib",
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    **settings: Unpack[ScoreSettings],
) -> GraphScore:
    """Score a graph given data.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts.
    graph
        A file that `mnlearn.read_graph` reads, a `NamedGraph`, what `learn` returned, or pairs of names: variables are
        matched by name. Or a `Graph`, whose variables are the columns in their order.
    score
        One of `SCORES`.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.
    client
        A `distributed.Client`: its workers count a packed file that all of them see, each some of the rows.
    **settings
        As for `make_score`.

    Raises
    ------
    UnknownNameError
        If there is no such score, or the graph has a variable that the data have not.
    InputError
        If a column is no variable of the graph, or a setting breaks its rule.
    UnsuitableError
        If the score does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> survey = example(500, seed=1)
    >>> true, empty = (score(survey.columns(), graph, "mpl") for graph in (survey.graph, []))
    >>> true.value > empty.value, len(true.terms)
    (True, 12)
    """
    reading: Reading = {
        "types": types,
        "levels": levels,
        "missing": missing,
        "missing_values": listed("missing_values", missing_values, "values"),
        "repeats": repeats,
        "delimiter": delimiter,
    }
    dataset = load_data(data, columns, reading, discretize, bins)
    over = graph_over(dataset, graph)
    judge = make_score(score, dataset, counting=Counting(n_jobs, client), **settings)
    parts = tuple(Part(tuple(dataset.names[x] for x in of), value) for of, value in _terms(judge, over))
    return GraphScore(score, sum(part.value for part in parts), parts)


def _terms(judge: Score, graph: Graph) -> list[tuple[tuple[int, ...], float]]:
    """What each pair adds to a score by pairs; to any other, each variable."""
    everyone = range(graph.n_variables)
    blankets = [graph.neighbors(x) for x in everyone]
    if not hasattr(judge, "ranks"):
        local = cast(LocalScore, judge).local
        return [((x,), local(x, blankets[x])) for x in everyone]
    by_pairs = cast(PairScore, judge)
    told, ranks = by_pairs.terms(everyone, blankets), by_pairs.ranks(everyone, blankets)
    return [((x, y), float(told[x, y] if ranks[x] <= ranks[y] else told[y, x])) for x, y in combinations(everyone, 2)]
