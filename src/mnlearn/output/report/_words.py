"""What was learned, in sentences for people who do not program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.output.portrait import Portrait

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned

_BY_TESTS = "asks independence tests and joins two variables that no question could separate"
_METHODS = {
    "sep": "separator evidence, which gives every pair of variables a probability of being joined directly",
    "gsmn": f"GSMN, which {_BY_TESTS}",
    "gsmn*": f"GSMN*, which {_BY_TESTS}",
    "gsimn": f"GSIMN, which {_BY_TESTS}; what follows from earlier answers it does not ask again",
    "gsimn-fch": f"GSIMN with forward chaining, which {_BY_TESTS}; what follows from earlier answers it does not ask",
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


def summary(learned: Learned, portrait: Portrait) -> list[str]:
    """What was learned: size, the surest, the best connected, the groups, the loners."""
    graph = portrait.graph
    rows = "" if learned.n_rows is None else f" from {learned.n_rows:,} rows"
    found = f"{counted(graph.n_edges, 'edge')} among {counted(len(portrait.names), 'variable')}"
    said = [f"The network has {found}. It was learned{rows} by {method_words(learned.method)}."]
    if learned.resampling is not None:
        said.append(f"It was learned again from resampled data to see which edges hold up: {learned.resampling}.")
    if not graph.n_edges:
        return [*said, "No variable is joined with another: nothing in these data says that any two go together."]
    return [*said, *_surest(portrait), _best_connected(portrait), *_groups(portrait), *_loners(portrait)]


def method_words(method: str) -> str:
    """The method by name and in a few words."""
    known = _METHODS.get(method)
    return f"the method “{method}”" + (f": {known}" if known else "")


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: list[str], most: int = 6) -> str:
    """The first few names in quotes, and how many more there are."""
    shown = [f"“{name}”" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def decimal(value: float | None) -> str:
    """A number for a table: three digits after the point, one where it is large; nothing for none."""
    if value is None or np.isnan(value):
        return ""
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def _surest(portrait: Portrait) -> list[str]:
    """The surest edge, or how many share the first place."""
    if not portrait.measures:
        return []
    measure, names = portrait.measures[0], portrait.names
    (u, v), value = max(measure.values.items(), key=lambda item: (item[1], item[0]))
    ties = sum(decimal(other) == decimal(value) for other in measure.values.values())
    pair, number = f"“{names[u]}” and “{names[v]}”", f"{measure.label} {decimal(value)}"
    if ties == len(measure.values) > 1:
        return [f"All of them have the same {number}, to three digits."]
    if ties > 1:
        return [f"{ties:,} edges share the first place ({number}); one of them joins {pair}."]
    return [f"The surest edge joins {pair} ({number})."]


def _best_connected(portrait: Portrait) -> str:
    """Who has the most neighbours."""
    degrees = np.asarray(portrait.graph.degrees())
    top = [portrait.names[x] for x in np.flatnonzero(degrees == degrees.max())]
    verb = "has" if len(top) == 1 else "have"
    return f"{listed(top, 4)} {verb} the most neighbours, {degrees.max()}; the average is {degrees.mean():.1f}."


def _groups(portrait: Portrait) -> list[str]:
    """How many groups hang together."""
    count = int(portrait.groups.max(initial=-1)) + 1
    if count < 2:
        return []
    sizes = np.bincount(portrait.groups[portrait.groups >= 0])
    size = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    return [
        f"The variables fall into {count} groups of {size} that hang together more closely within than between; in the "
        "picture each group has a colour."
    ]


def _loners(portrait: Portrait) -> list[str]:
    """Who is joined with nobody."""
    alone = [name for name, degree in zip(portrait.names, portrait.graph.degrees(), strict=True) if not degree]
    if not alone:
        return []
    return [f"{listed(alone)} {'is' if len(alone) == 1 else 'are'} joined with no other variable."]
