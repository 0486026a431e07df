"""Inputs of the public calls: sources of data, variables, edges and graphs, turned into data sets and indices.

Diagnostics of a data set in sentences: constant, copied and explained columns, equal values, categories, rows.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, copied_columns
from mnlearn.data.options import ReadOptions
from mnlearn.data.readers import read
from mnlearn.data.rows import effective_rows
from mnlearn.data.transforms import discretize as discretize_dataset
from mnlearn.data.transforms import far_from_normal, normal_scores
from mnlearn.data.variable import are_many
from mnlearn.errors import InputError, UnsuitableError, is_one_of, iterates, unknown_name
from mnlearn.graphs.formats import read_graph
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.protocols import Result
from mnlearn.statistics.moments import EXPLAINED, Moments

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned


_log = logging.getLogger("mnlearn.learning")


class DataOptions(ReadOptions, total=False):
    """Options that turn a source into a data set: those of `read`, and how continuous columns are discretised."""

    columns: Sequence[str] | None
    discretize: Literal["width", "frequency"] | None
    bins: int | None


Transform: TypeAlias = Literal["normal_scores", "auto"] | None
"""Transformation of continuous columns, not of counts, before statistics are computed from them; None for none."""

READING = ("columns", *ReadOptions.__annotations__, "discretize", "bins")
"""Names of `DataOptions`, in the order of their documentation."""


def split_options(options: Mapping[str, Any]) -> tuple[DataOptions, dict[str, Any]]:
    """Split keyword arguments into those of `load_data` and the others."""
    reading: Any = {name: options[name] for name in READING if name in options}
    return reading, {name: value for name, value in options.items() if name not in READING}


def load_data(
    data: object,
    *,
    columns: Sequence[str] | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    **options: Unpack[ReadOptions],
) -> Dataset:
    """Read data, log what was missing, and discretise continuous columns if a method for that is given."""
    dataset = read(data, columns=columns, **options)
    dataset.verify()
    if dataset.missing.counts:
        _log.info("%s", dataset.missing)
    if dataset.weighting is not None:
        _log.info("%s", dataset.weighting)
    if discretize is not None:
        dataset = discretize_dataset(dataset, method=discretize, bins=bins)
    elif bins is not None:
        raise InputError(
            f"bins is for discretize='width' or discretize='frequency'; got {bins}. Add one, or drop bins."
        )
    return effective_rows(dataset) if dataset.is_weighted and all(dataset.cards) else dataset


def check_transform(transform: object) -> None:
    """Raise InputError unless the value is a `Transform`."""
    if transform is not None and not is_one_of(transform, ("normal_scores", "auto")):
        raise InputError(
            f"transform must be 'normal_scores', 'auto' or None; got {transform!r}. Leave it out for 'auto'."
        )


def decide_transform(dataset: Dataset, transform: Transform, *, say: bool = False) -> Transform:
    """Return "normal_scores" or None; "auto" is decided by the data, and logged.

    A test or score may still refuse a table of several kinds: that is logged only if `say`, when none will.

    Raises
    ------
    UnsuitableError
        If no variable is continuous and `transform` is "normal_scores".
    """
    check_transform(transform)
    if transform == "normal_scores" and "continuous" not in dataset.kinds:
        check_all_continuous("transform='normal_scores'", dataset, "transform=None")
        name = dataset.names[0]
        raise UnsuitableError(
            f"transform='normal_scores' needs continuous variables; {name!r} holds counts. Use transform=None, or read "
            f"it as continuous (types={{{name!r}: 'continuous'}})."
        )
    if transform != "auto":
        return transform
    far = far_from_normal(dataset)
    if not far:
        return None
    shown = ", ".join(map(repr, far[:4])) + (f" and {len(far) - 4} more" if len(far) > 4 else "")
    are = "columns are" if len(far) > 1 else "column is"
    _log.log(
        logging.INFO if say or not any(dataset.cards) else logging.DEBUG,
        "using normal scores of the ranks of all continuous columns, because %d %s far from normal: %s. transform=None "
        "keeps the values",
        *(len(far), are, shown),
    )
    return "normal_scores"


def transformed(dataset: Dataset, transform: Transform) -> Dataset:
    """Return the data that statistics are computed from; `transform` is decided."""
    return normal_scores(dataset) if transform == "normal_scores" else dataset


def check_dataset(argument: str, data: object) -> None:
    """Raise UnsuitableError unless the data are a `Dataset`."""
    if not isinstance(data, Dataset):
        raise UnsuitableError(
            f"{argument} must be a Dataset; got a {type(data).__name__}. Read it first: mnlearn.read(...)."
        )


FOR_MIXTURES = "sep, pc or gsmn* (test='mixed'), or mbs (score='ebic'), which are for variables of several kinds"
"""Methods that take variables of several kinds, for the messages of those that do not."""


def has_several_kinds(dataset: Dataset) -> bool:
    """Whether the data need models of several kinds: kinds that differ, ordinal variables, or counts.

    An order of two states says nothing, so ordinal variables with two levels count as nominal.
    """
    kinds = {
        "nominal" if kind == "ordinal" and card <= 2 else kind
        for kind, card in zip(dataset.kinds, dataset.cards, strict=True)
    }
    return len(kinds) > 1 or not kinds <= {"nominal", "continuous"}


def is_mixed(dataset: Dataset) -> bool:
    """Whether the data have several kinds of variables, or gaps."""
    return bool(dataset.gaps) or has_several_kinds(dataset)


def is_continuous(dataset: Dataset, judge: str) -> bool:
    """Whether all variables are continuous rather than categorical; raise UnsuitableError for a mixture."""
    continuous = [name for name, card in zip(dataset.names, dataset.cards, strict=True) if not card]
    if 0 < len(continuous) < dataset.n_variables:
        other = next(name for name, card in zip(dataset.names, dataset.cards, strict=True) if card)
        raise UnsuitableError(
            f"{judge} needs variables of one type; {continuous[0]!r} is continuous and {other!r} is categorical. "
            f"Use {FOR_MIXTURES}; or discretise the continuous ones (discretize='frequency'), or choose columns of one "
            f"type.{_hint(dataset)}"
        )
    return bool(continuous)


def check_mixture(dataset: Dataset) -> None:
    """Log which whole numbers are read as continuous beside categories; refuse a first column that names the rows.

    Raises
    ------
    UnsuitableError
        If the first column is a different category in every row, and all others are numbers.
    """
    if all(dataset.cards) or not any(dataset.cards):
        return
    if _names_rows(dataset):
        raise UnsuitableError(
            f"the first column must be a variable; {dataset.names[0]!r} is different in each row.{_hint(dataset)}"
        )
    for name, kind in zip(dataset.names, dataset.kinds, strict=True):
        if kind == "continuous" and _few_whole_numbers(dataset, name):
            _log.warning("the whole numbers of %r are read as continuous; %s", name, _as_labels(name))


def _hint(dataset: Dataset) -> str:
    """Return a hint if whole numbers are stored as decimals, or if the first column seems to name the rows."""
    first = next(name for name, card in zip(dataset.names, dataset.cards, strict=True) if not card)
    if _few_whole_numbers(dataset, first):
        return f" {_as_labels(first)[0].upper()}{_as_labels(first)[1:]}."
    name = dataset.names[0]
    return (
        f" If {name!r} names the rows, use row_names=True, or transpose=True if the variables are in rows."
        if _names_rows(dataset)
        else ""
    )


def _as_labels(name: str) -> str:
    return f"if the whole numbers of {name!r} are labels, use types={{{name!r}: 'categorical'}}"


def _few_whole_numbers(dataset: Dataset, name: str) -> bool:
    """Return whether a numeric column holds few different whole numbers, judged by its first rows."""
    values: NDArray[Any] = dataset.columns[dataset.index(name)][:1000]
    values = values[~np.isnan(values)]
    return bool((values % 1 == 0).all()) and not are_many(np.unique(values).tolist())


def _names_rows(dataset: Dataset) -> bool:
    """Return whether the first column has another label in each row, beside numbers only."""
    return dataset.cards[0] == dataset.n_records > 2 and not any(dataset.cards[1:])


def check_all_categorical(who: str, dataset: Dataset, instead: str, mixed: str = FOR_MIXTURES) -> None:
    """Raise UnsuitableError for a continuous variable; `instead` is for continuous ones, `mixed` for several kinds."""
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"{who} needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency'), "
                f"or use {mixed if any(dataset.cards) else instead}."
            )


def check_all_continuous(who: str, dataset: Dataset, instead: str, mixed: str = FOR_MIXTURES) -> None:
    """Raise UnsuitableError for a categorical variable; `instead` is for such ones, `mixed` for several kinds."""
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if card:
            raise UnsuitableError(
                f"{who} needs continuous variables; {name!r} is categorical with {card} state{'s' * (card != 1)}. "
                f"Use {instead if all(dataset.cards) else mixed}; or, if it holds numbers, read it as continuous "
                f"(types={{{name!r}: 'continuous'}})."
            )


GraphLike: TypeAlias = "str | os.PathLike[str] | NamedGraph | Learned | Graph | Result | Iterable[Sequence[str]]"
"""Forms of a graph: a file, a graph with names, a learned network, a graph or a search result by column, or pairs."""


def variables_by_name(argument: str, chosen: object, names: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of variables given by name."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable) or not iterates(chosen):
        raise InputError(f"{argument} must be a list of names; got {chosen!r}. Write [{chosen!r}].")
    place = {name: x for x, name in enumerate(names)}
    return tuple(_place_of(argument, name, place) for name in chosen)


def edges_by_name(argument: str, pairs: Iterable[object], names: Sequence[str]) -> tuple[Edge, ...]:
    """Return pairs of names as edges, each once, in ascending order."""
    found, place = set(), {name: x for x, name in enumerate(names)}
    for pair in pairs:
        ends = tuple(pair) if isinstance(pair, Iterable) and iterates(pair) and not isinstance(pair, str) else ()
        if len(ends) != 2 or not all(isinstance(end, str) for end in ends) or ends[0] == ends[1]:
            raise InputError(
                f"{argument} must hold pairs of two different variables by name; got {pair!r}. "
                f"Write for example [({names[0]!r}, {names[-1]!r})]."
            )
        u, v = sorted(_place_of(argument, name, place) for name in ends)
        found.add((u, v))
    return tuple(sorted(found))


def _place_of(argument: str, name: object, place: Mapping[str, int]) -> int:
    """Return the index of one variable."""
    if not isinstance(name, str) or name not in place:
        raise unknown_name(f"{argument}: variable", name, place)
    return place[name]


def check_apart(known: Mapping[str, Sequence[Edge]], names: Sequence[str]) -> None:
    """Raise InputError for an edge that is both required and forbidden."""
    for u, v in sorted(set(known.get("required", ())) & set(known.get("forbidden", ()))):
        raise InputError(
            f"required and forbidden must not share an edge; both name {names[u]!r} and {names[v]!r}. Drop it from one."
        )


def named_edges(graph: Graph, names: Sequence[str]) -> list[list[str]]:
    """Return the edges as pairs of names."""
    return [[names[u], names[v]] for u, v in graph.edges]


def graph_over(dataset: Dataset, graph: GraphLike, argument: str = "graph") -> Graph:
    """Return a graph over the columns of the data, matched by name.

    Raises
    ------
    InputError
        If the graph has other variables than the data, or none of the forms of `GraphLike`.
    """
    from mnlearn.results.learned import Learned

    if isinstance(graph, Result):
        graph = graph.graph
    if isinstance(graph, Graph):
        if graph.n_variables != dataset.n_variables:
            raise InputError(
                f"{argument} must have one variable for each of the {dataset.n_variables} columns; got "
                f"{graph.n_variables}. Choose the columns (columns=[...]), or give it with names."
            )
        return graph
    if isinstance(graph, str | os.PathLike):
        graph = read_graph(graph)
    if isinstance(graph, NamedGraph | Learned):
        _check_same(argument, graph.names, dataset.names)
        place = {name: x for x, name in enumerate(dataset.names)}
        return graph.graph.relabel([place[name] for name in graph.names])
    if not iterates(graph):
        raise InputError(
            f"{argument} must be a file, a graph, a learned network or pairs of names; got {graph!r}. "
            f"Write for example [({dataset.names[0]!r}, {dataset.names[-1]!r})]."
        )
    return Graph(dataset.n_variables, edges_by_name(argument, graph, dataset.names))


def _check_same(argument: str, of_graph: Sequence[str], of_data: Sequence[str]) -> None:
    """Raise InputError unless graph and data have the same variables."""
    in_data, in_graph = frozenset(of_data), frozenset(of_graph)
    for name in of_graph:
        if name not in in_data:
            raise unknown_name(f"{argument} must have the columns of the data as its variables: column", name, of_data)
    missing = [name for name in of_data if name not in in_graph]
    if missing:
        raise InputError(
            f"{argument} must have every column of the data as a variable; {missing[0]!r}"
            f"{f' and {len(missing) - 1} more are' if len(missing) > 1 else ' is'} missing. Add "
            f"{'them' if len(missing) > 1 else 'it'} to the graph, or leave the column out (columns=[...])."
        )


_MOST_WORK = 1 << 30  # multiplications for finding columns that others explain
_SHOWN = 6
_MOST_EQUAL = 0.5  # of the rows of a continuous column
_MANY = 10  # categories that are no cause for concern, and rows that each category should have on average


def oddities(dataset: Dataset) -> tuple[str, ...]:
    """Return sentences about problems that every method has with the data; none for sound data.

    Parameters
    ----------
    dataset
        The data. Columns that others explain are searched only where that is quick.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> oddities(read({"a": [0.1, 0.2, 0.4], "b": [0.5, 0.5, 0.5], "c": [0.1, 0.2, 0.4]}))
    ("constant, so without an edge: 'b'", "copies, which no method can tell apart: 'c' of 'a'")
    """
    places = [k for k, card in enumerate(dataset.cards) if not card]
    columns = [_observed(dataset, k) for k in places]
    alike = [(k, column) for k, column in zip(places, columns, strict=True) if column[0] == column[-1]]  # few, mostly
    constant = [k for k, column in alike if column.min() == column.max()]
    single = sorted([*constant, *(k for k, card in enumerate(dataset.cards) if card == 1)])
    original: dict[bytes, int] = {}
    copies = copied_columns(dataset.columns, dataset.cards)
    for k, column in zip(places, columns, strict=True):
        if k not in constant:
            mask = dataset.observed(k)
            first = original.setdefault(column.tobytes() + (b"" if mask is None else mask.tobytes()), k)
            copies.update({k: first} if first != k else {})
    notes = [f"constant, so without an edge: {_listed(dataset, single)}"] if single else []
    notes += _crowded(dataset)
    notes += _dominated(dataset, [k for k in places if k not in constant])
    if copies:
        pairs = [f"{dataset.names[k]!r} of {dataset.names[first]!r}" for k, first in sorted(copies.items())]
        notes.append(f"copies, which no method can tell apart: {_cut(pairs)}")
    return (*notes, *_explained(dataset, [k for k in places if k not in constant and k not in copies]))


def _observed(dataset: Dataset, variable: int) -> NDArray[np.generic]:
    """Return the values of a column without its gaps."""
    column, seen = np.asarray(dataset.columns[variable]), dataset.observed(variable)
    return column if seen is None else column[seen]


def _crowded(dataset: Dataset) -> list[str]:
    """Name categorical columns with few rows per category: identifiers, dates, numbers not meant as labels."""
    many = [k for k, card in enumerate(dataset.cards) if card > max(_MANY, dataset.n_rows / _MANY)]
    if not many:
        return []
    counts = _cut([f"{dataset.names[k]!r} {dataset.cards[k]:,}" for k in many])
    return [
        f"many categories for {dataset.n_rows:,} rows, so that hardly an edge can be seen: {counts}. Leave out what "
        "only numbers the rows; join categories, or read numbers as continuous"
    ]


def _dominated(dataset: Dataset, places: list[int]) -> list[str]:
    """Name continuous columns with one value in most rows, such as zeros below a limit of detection."""
    shares = {k: _largest_share(_observed(dataset, k), _repeats(dataset, k)) for k in places}
    most = [f"{dataset.names[k]!r} {share:.0%}" for k, share in shares.items() if share > _MOST_EQUAL]
    return [f"one value in most rows, so that weak edges cannot be seen: {_cut(most)}"] if most else []


def _repeats(dataset: Dataset, variable: int) -> NDArray[np.int64] | None:
    """Return the repeats of the rows in which a variable is observed."""
    seen = dataset.observed(variable)
    return dataset.repeats if seen is None or dataset.repeats is None else dataset.repeats[seen]


def _largest_share(column: NDArray[np.generic], repeats: NDArray[np.int64] | None) -> float:
    """Return the share of rows with the median, which is the value of most rows if there is one."""
    if repeats is None:
        half = len(column) // 2
        return float(np.mean(column == np.partition(column, half)[half]))
    groups = np.unique(column, return_inverse=True)[1]
    return float(np.bincount(groups, weights=repeats).max() / repeats.sum())


def _explained(dataset: Dataset, places: list[int]) -> list[str]:
    """Report fewer rows than variables, or else complete columns that are linear combinations of others."""
    places = [k for k in places if dataset.names[k] not in dataset.gaps]
    n, n_rows = len(places), dataset.n_rows
    if n_rows <= n:
        return [
            f"{n_rows} rows for {n} varying variables: no more than {max(n_rows - 2, 0)} can be neighbours of one, and "
            "weak edges cannot be seen"
        ]
    if n < 2 or n * n * (n + dataset.n_records) > _MOST_WORK:
        return []
    moments, names = Moments(dataset.select(places)), [dataset.names[k] for k in places]
    near = _near_copies(moments.correlation)
    notes = [f"{names[k]!r} is a near-copy of {names[first]!r}" for k, first in near.items()]
    notes = [f"{_cut(notes)} to within 1e-5 of its size: tests cannot tell them apart, so drop one"] if near else []
    left_over = [places[k] for k in moments.explained() if k not in near and k not in near.values()]
    if left_over:
        notes.append(f"explained by other columns to within 1e-5 of their size: {_listed(dataset, left_over)}")
    return notes


def _near_copies(correlation: NDArray[np.float64]) -> dict[int, int]:
    """Return the closest earlier variable of each that it explains but for a share of `EXPLAINED`."""
    r = np.abs(np.tril(correlation, -1))
    closest = r.argmax(axis=1)
    near = np.flatnonzero(2.0 * (1.0 - r.max(axis=1)) <= EXPLAINED)
    return dict(zip(near.tolist(), closest[near].tolist(), strict=True))


def _listed(dataset: Dataset, places: list[int]) -> str:
    """Return the first few names."""
    return _cut([repr(dataset.names[k]) for k in places])


def _cut(texts: list[str]) -> str:
    """Join the first few items and the number of the others."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
