"""Sentences and warnings of the report, for readers who do not program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.overviews import Missingness, Overview, missingness, overview
from mnlearn.graphs.graph import Graph
from mnlearn.visual.figure_data import FigureData
from mnlearn.visual.network import is_large

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned


_BY_TESTS = "makes independence tests and joins two variables that no test could separate"
_METHODS = {
    "sep": "separator evidence, which gives every pair of variables a probability of being joined directly",
    "gsmn": f"GSMN, which {_BY_TESTS}",
    "gsmn*": f"GSMN*, which {_BY_TESTS}",
    "gsimn": f"GSIMN, which {_BY_TESTS}; it infers test results from earlier ones",
    "gsimn-fch": f"GSIMN with forward chaining, which {_BY_TESTS}; it infers test results from earlier ones",
    "hhc-mn": f"HHC-MN, which {_BY_TESTS}",
    "pc": f"PC, which {_BY_TESTS}",
    "ib": "IBMAP-HC, which climbs from network to network while the independences it implies grow more probable",
    "bjp": "BJP, which climbs from network to network while the posterior of its neighbourhoods rises",
    "mpl": "marginal pseudo-likelihood, which finds the neighbours that predict each variable best",
    "pic": "the pseudo-likelihood information criterion, which finds the neighbours that predict each variable best",
    "l1lr": "L1-regularised logistic regression of each variable on all others",
    "aracne": "ARACNE, which joins variables by mutual information and cuts the weakest side of every triangle",
    "lasso": "the lasso, a regression of each variable on all others that keeps few neighbours",
    "l1mb": "blankets along the path of the lasso",
    "glasso": "the graphical lasso, which keeps few entries of the inverse covariance",
    "mbs": "Markov blanket search, which grows and prunes the neighbourhoods of all variables together",
    "exhaustive": "a search over all networks",
    "hillclimb": "a climb from network to network while its score rises",
}


def summary_sentences(learned: Learned, picture: FigureData) -> list[str]:
    """Return sentences on size, most certain edges, hubs, communities and isolated variables."""
    graph = picture.graph
    rows = "" if learned.n_rows is None else f" from {learned.rows_in_words}"
    found = f"{count_of(graph.n_edges, 'edge')} among {count_of(len(picture.names), 'variable')}"
    sentences = [f"The network has {found}. It was learned{rows} by {method_words(learned.method)}."]
    if learned.test is not None:
        sentences.append(f"The independence test was {learned.test}.")
    if learned.settings.get("transform") == "normal_scores":
        sentences.append(
            "The method used normal scores of the ranks instead of the values, so only the order of the values in each "
            "column matters."
        )
    if learned.resampling is not None:
        sentences.append(
            f"Learning was repeated on resampled data to see which edges are stable: {learned.resampling}."
        )
    if not graph.n_edges:
        return [*sentences, "No two variables are joined: these data show no association between any of them."]
    return [*sentences, *_most_certain(picture), _best_connected(picture), *_groups(picture), *_isolated(picture)]


def method_words(method: str) -> str:
    """Return the method by name and in a few words."""
    known = _METHODS.get(method)
    return f"the method “{method}”" + (f": {known}" if known else "")


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def quoted_list(names: list[str], most: int = 6) -> str:
    """Return the first few names in quotes, and the number of the others."""
    shown = [f"“{name}”" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def decimal(value: float | None) -> str:
    """Format a number for a table: three decimals, one if it is large; an empty string for None."""
    if value is None or np.isnan(value):
        return ""
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _most_certain(picture: FigureData) -> list[str]:
    """Return the most certain edge, or the number of ties."""
    if not picture.measures:
        return []
    measure, names = picture.measures[0], picture.names
    (u, v), value = max(measure.values.items(), key=lambda item: (item[1], item[0]))
    shown = decimal(value)
    near = [other for other in measure.values.values() if value - other < _LAST_DIGIT]
    ties = sum(decimal(other) == shown for other in near)
    pair, number = f"“{names[u]}” and “{names[v]}”", f"{measure.label} {decimal(value)}"
    if ties == len(measure.values) > 1:
        return [f"All of them have the same {number}, to three digits."]
    if ties > 1:
        return [f"{ties:,} edges share the first place ({number}); one of them joins {pair}."]
    return [f"The most certain edge joins {pair} ({number})."]


def _best_connected(picture: FigureData) -> str:
    """Return the variables with the most neighbours."""
    degrees = np.asarray(picture.graph.degrees())
    top = [picture.names[x] for x in np.flatnonzero(degrees == degrees.max())]
    verb = "has" if len(top) == 1 else "have"
    return f"{quoted_list(top, 4)} {verb} the most neighbours, {degrees.max():,}; the average is {degrees.mean():.1f}."


def _groups(picture: FigureData) -> list[str]:
    """Return the number and sizes of the communities, or the names of the groups."""
    if picture.group_names:
        return [f"In the picture each group of variables has a colour: {quoted_list(list(picture.group_names))}."]
    count = int(picture.groups.max(initial=-1)) + 1
    if count < 2:
        return []
    sizes = np.bincount(picture.groups[picture.groups >= 0])
    size = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    return [
        f"The variables fall into {count} groups of {size} with more edges within than between them; in the "
        "picture each group has a colour."
    ]


def _isolated(picture: FigureData) -> list[str]:
    """Return the variables without an edge."""
    alone = [name for name, degree in zip(picture.names, picture.graph.degrees(), strict=True) if not degree]
    if not alone:
        return []
    return [f"{quoted_list(alone)} {'is' if len(alone) == 1 else 'are'} joined with no other variable."]


_LAST_DIGIT = 1.0  # numbers that differ by more are written differently
DENSE = 0.35  # of all pairs
FEW_ROWS_A_CELL = 5  # as in the usual rule for a chi-square
FEW_ROWS_A_NEIGHBOUR = 10  # of a continuous variable
RARE = 5  # rows
UNSTABLE = 0.5  # of the resamples


class Caution(NamedTuple):
    """A warning: heading and explanation."""

    title: str
    text: str


def cautions(learned: Learned, seen: Overview | None = None, gaps: Missingness | None = None) -> list[Caution]:
    """Return all warnings, the most serious first; `seen` and `gaps` describe the data, if already computed."""
    from mnlearn.visual.report_sections import missing_cautions

    data = learned.data
    found = [*_of_the_search(learned), *_of_the_resamples(learned)]
    if data is not None:
        seen = overview(data) if seen is None else seen
        gaps = missingness(data) if gaps is None and data.gaps else gaps
        found += [*_of_small_data(data, learned.graph), *_of_tests(learned), *_of_columns(data, seen)]
        found += missing_cautions(data, gaps)
    return found


def _of_the_search(learned: Learned) -> Iterator[Caution]:
    """Yield warnings on a cancelled search and on empty or dense networks."""
    graph, n = learned.graph, len(learned.names)
    if not learned.converged:
        yield Caution(
            "The search was stopped early",
            "It was cancelled. This is the best network so far; run it again for longer before relying on it.",
        )
    if not graph.n_edges:
        yield Caution(
            "The network is empty",
            "Either the variables are independent, or there are too few rows to show otherwise. More rows, "
            "fewer categories per variable or a less strict method may show more.",
        )
    pairs = n * (n - 1) // 2
    if n >= 6 and graph.n_edges > DENSE * pairs:
        yield Caution(
            "The network is dense",
            f"It joins {graph.n_edges / pairs:.0%} of all pairs. So many edges often mean that something common to all "
            "variables was not measured, or that the method was not strict enough; single edges mean little then.",
        )


def _of_the_resamples(learned: Learned) -> Iterator[Caution]:
    """Yield warnings on unstable edges and on pairs close to being an edge."""
    if learned.frequencies is None:
        return
    names, graph = learned.names, learned.graph
    weak = [f"{names[u]} – {names[v]}" for u, v in graph.edges if learned.frequencies.get((u, v), 0.0) < UNSTABLE]
    if weak:
        yield Caution(
            f"{count_of(len(weak), 'edge')} unstable",
            f"In less than half of the resampled data sets: {quoted_list(weak)}.",
        )
    close = [pair for pair, share in learned.frequencies.items() if share >= UNSTABLE and pair not in graph]
    if close:
        yield Caution(
            f"{count_of(len(close), 'pair')} came close",
            "Not in the network, but in at least half of the resampled data sets: "
            f"{quoted_list([f'{names[u]} – {names[v]}' for u, v in close])}.",
        )


def _of_small_data(data: Dataset, graph: Graph) -> Iterator[Caution]:
    """Yield warnings on too few rows for the neighbourhoods of the network."""
    parts = [(x, *graph.neighbors(x)) for x in range(data.n_variables) if graph.degree(x)]
    nominal = _is_nominal(data)
    thin = sorted((rows_with(data, part) / _rows_wanted(data, part, nominal), part[0]) for part in parts)
    names = [data.names[x] for share, x in thin if share < 1]
    if names:
        have = "has" if len(names) == 1 else "have"
        more = f"more combinations of values than {data.n_rows:,} rows can fill with {FEW_ROWS_A_CELL} each"
        if not nominal:
            more = f"a model with fewer than {FEW_ROWS_A_NEIGHBOUR} rows for each parameter"
        yield Caution(
            "Few rows for some neighbourhoods",
            f"With their neighbours, {quoted_list(names)} {have} {more}. Edges there rest on little; more rows or "
            "fewer categories would help.",
        )
    if data.n_variables > data.n_rows:
        yield Caution("More variables than rows", f"{data.n_variables:,} variables, {data.n_rows:,} rows.")


def rows_with(data: Dataset, variables: Iterable[int]) -> int:
    """Return the number of rows in which all these variables have a value, repeats included."""
    masks = [mask for x in variables if (mask := data.observed(x)) is not None]
    if not masks:
        return data.n_rows
    rows = np.logical_and.reduce(masks)
    return int(np.count_nonzero(rows)) if data.repeats is None else round(float(data.repeats[rows].sum()))


def _is_nominal(data: Dataset) -> bool:
    """Return whether tables of counts describe the data: every variable is nominal."""
    return set(data.kinds) == {"nominal"}


def _of_tests(learned: Learned) -> Iterator[Caution]:
    """Yield a warning on edges whose tests break Cochran's rule."""
    if learned.recipe is None or learned.data is None or is_large(learned.graph):
        return
    names = learned.names
    low = learned.recipe.sparse_edges(learned, learned.data)
    if low:
        yield Caution(
            f"Small expected counts behind {count_of(len(low), 'edge')}",
            "Given nothing or the neighbours of one end, more than 20 % of the expected counts of "
            f"{learned.settings['test']} are below 5 (Cochran's rule), so the p-values are rough: "
            f"{quoted_list([f'{names[u]} – {names[v]}' for u, v in low])}. More rows or fewer categories would help.",
        )


def _rows_wanted(data: Dataset, variables: Sequence[int], nominal: bool) -> int:
    """Return the number of rows that a variable with its neighbours needs: by cells, or by parameters of its model."""
    if nominal:
        return FEW_ROWS_A_CELL * prod(data.cards[y] for y in variables)
    kinds = data.kinds
    own, *others = (data.cards[y] - 1 if kinds[y] == "nominal" else 1 for y in variables)
    return FEW_ROWS_A_NEIGHBOUR * (own + own * sum(others))


def _of_columns(data: Dataset, seen: Overview) -> Iterator[Caution]:
    """Yield warnings on constant, duplicated and rare values."""
    if seen.constant:
        never = "never changes" if len(seen.constant) == 1 else "never change"
        yield Caution("Constant variables", f"{quoted_list(list(seen.constant))} {never} and can have no edge.")
    for group in seen.duplicated:
        yield Caution(
            "The same variable twice",
            f"{quoted_list(list(group))} are copies; each can hide the edges of the other. Keep one of them.",
        )
    rare = rare_variables(data)
    if rare:
        yield Caution(
            "Rare categories",
            f"{quoted_list(rare)}: a category occurs in fewer than {RARE} rows. It has little influence; consider "
            "joining it with another.",
        )


def rare_variables(data: Dataset) -> list[str]:
    """Return the variables with a state in only a few rows, or in none."""
    found = []
    for name, card, column in zip(data.names, data.cards, data.columns, strict=True):
        if card and np.bincount(column, weights=data.repeats, minlength=card)[:card].min() < RARE:  # then come gaps
            found.append(name)
    return found
