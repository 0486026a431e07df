"""One call from data to a network: threads, checkpoints, comparisons of methods and groups."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import columns, held, learn, learned
from golden.tables import as_dataset, binary, columns_of, survey
from mnlearn import graphs, simulate

case = cases_of(__name__)


@case("learn with two threads equals one", "sep", "gsimn", "mpl", "bjp")
def two_threads(*methods: str) -> object:
    """Learn with two threads."""
    return {method: learned(mn.learn(binary(), method, n_jobs=2)) for method in methods}


@case("compare methods")
def compare_methods() -> object:
    """Compare methods with the true network."""
    made = simulate.simulate("grid:rows=3,columns=3", "odds:theta=1.5", n_rows=300, seed=8)
    rows = mn.compare(made.data, made.truth, ["sep", "mpl", "gsimn", "pc"], n_jobs=jobs())
    return [{"method": row.method, "edges": row.edges, "graph": row.learned and row.learned.graph} for row in rows]


@case("compare groups")
def groups() -> object:
    """Compare the networks of two groups by permutations."""
    found = mn.compare_groups(survey(), "night_shifts", "mpl", n_permutations=20, seed=4, n_jobs=jobs())
    return {
        "groups": found.groups,
        "networks": [network.graph for network in found.networks],
        "statistics": found.statistics,
        "pairs": found.pairs,
        "centralities": found.centralities,
        "difference": found.difference.to_dict(),
    }


# --- Candidates, screens, blankets ----------------------------------------------------------------------------------

NEAR = [("q0", "q1"), ("q1", "q2"), ("q2", "q3"), ("q3", "q4"), ("q0", "q3"), ("q5", "q6"), ("q1", "q4")]
RING = mn.NamedGraph(graphs.cycle(7), tuple(f"q{x}" for x in range(7)))
CANDIDATES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pairs sep": ("answers", "sep", {"candidates": NEAR}),
    "pairs pc": ("answers gaps", "pc", {"candidates": NEAR}),
    "pairs gsmn": ("answers", "gsmn", {"candidates": NEAR, "keep_trace": True}),
    "pairs mpl": ("answers", "mpl", {"candidates": NEAR}),
    "dict hillclimb": ("answers", "hillclimb", {"candidates": {"q0": ["q1", "q3"], "q5": ["q6"]}}),
    "named graph ib": (
        "answers",
        "ib",
        {"candidates": RING},
    ),
    "screen sep": ("binary", "sep", {"candidates": "screen", "k": 3}),
    "screen sep without rescans": ("states", "sep", {"candidates": "screen", "k": 2, "rescans": False}),
    "screen sep clinic": ("clinic gaps", "sep", {"candidates": "screen", "k": 3}),
    "screen sep numbers": ("sizes", "sep", {"candidates": "screen", "k": 3}),
    "screen mpl": ("binary", "mpl", {"candidates": "screen", "k": 3}),
    "screen mpl without rescans": ("binary", "mpl", {"candidates": "screen", "k": 3, "rescans": False}),
    "screen gsmn*": ("binary", "gsmn*", {"candidates": "screen", "k": 3}),
    "screen hhc-mn": ("states", "hhc-mn", {"candidates": "screen", "k": 3}),
    "screen aracne": ("sizes gaps", "aracne", {"candidates": "screen", "k": 3}),
    "screen lasso": ("sizes", "lasso", {"candidates": "screen", "k": 3}),
}
for _name, (_data, _method, _settings) in CANDIDATES.items():
    case(f"candidates {_name}", _data, _method, **_settings)(learn)


def screened(data: str, *arguments: Any, **settings: Any) -> object:
    """Screen the pairs of a table, save the screen, load it, and learn from it."""
    found = mn.screen(as_dataset(data), *arguments, n_jobs=jobs(), **settings)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "near.screen"
        found.save(path)
        again = mn.load_screen(path)
    return {
        "pairs": columns(again.pairs("pyarrow")),
        "strongest": again.strongest(again.names[0]),
        "least": again.least,
        "complete": again.complete,
        "n_rows": again.n_rows,
        "same": columns(found.pairs("pyarrow")) == columns(again.pairs("pyarrow")),
    }


case("screen binary", "binary", 3)(screened)
case("screen survey mi", "survey", 4, statistic="mi")(screened)
case("screen states threshold", "states", None, threshold=6.0)(screened)
case("screen numbers", "sizes", 2)(screened)
for _data in ("answers gaps", "answers weights", "ratings", "sizes gaps"):
    case(f"screen {_data}", _data, 2)(screened)


@case("screen then learn")
def screen_then_learn() -> object:
    """Learn from a screen that was made before."""
    near = mn.screen(binary(), 3, n_jobs=jobs())
    return {method: learned(mn.learn(binary(), method, candidates=near, n_jobs=jobs())) for method in ("sep", "mpl")}


BLANKET = (
    "target",
    "members",
    "others",
    "method",
    "variables",
    "rows",
    "support_scale",
    "converged",
    "cost",
    "settings",
)


def blanket(data: str, target: str, method: str | None, **settings: Any) -> object:
    """Learn the blanket of one variable."""
    found = mn.blanket(as_dataset(data), target, method, n_jobs=jobs(), **settings)
    return held(found.to_dict(), BLANKET)


for _method in ("sep", "gsmn", "gsmn*", "hhc-mn"):
    case(f"blanket {_method} survey", "survey", "fatigue", _method)(blanket)
    case(f"blanket {_method} clinic gaps", "clinic gaps", "pain", _method)(blanket)
case("blanket sep sizes", "sizes", "n3", "sep")(blanket)
case("blanket gsmn* g2 answers", "answers repeats", "q2", None, test="g2", alpha=0.1)(blanket)


# --- Groups and held-out rows ---------------------------------------------------------------------------------------


def compared_groups(data: str, by: str, method: str, groups: int, **settings: Any) -> object:
    """Compare groups of rows of a table of declared kinds."""
    rows, options = columns_of(data)
    n_rows = len(next(iter(rows.values())))
    kinds = options["types"] if isinstance(options["types"], dict) else dict.fromkeys(rows, options["types"])
    if by not in rows:
        rows, kinds = {**rows, by: [f"g{row % groups}" for row in range(n_rows)]}, {**kinds, by: "nominal"}
    how = {**options, "types": kinds, "n_permutations": 7, "seed": 3, "n_jobs": jobs(), **settings}
    found = mn.compare_groups(rows, by, method, **how)
    return {
        "groups": found.groups,
        "measure": found.measure,
        "networks": [network.graph for network in found.networks],
        "statistics": found.statistics,
        "pairs": found.pairs,
        "centralities": found.centralities,
        "adjustment": found.adjustment,
    }


case("compare groups clinic", "clinic", "smoker", "sep", 2, effort="fast")(compared_groups)
case("compare groups gaps", "answers", "g", "sep", 2, missing="testwise", effort="fast")(compared_groups)
case("compare groups three", "sizes", "g", "pc", 3, correction="holm")(compared_groups)
case("compare groups adjusted", "answers", "g", "mpl", 2, adjust=["q0"], correction="fdr")(compared_groups)


def validated(data: str, ring: int, **settings: Any) -> object:
    """Judge a ring by held-out rows."""
    found = mn.validate(graphs.cycle(ring), as_dataset(data), n_triplets=60, folds=3, n_jobs=jobs(), **settings)
    names = ("variables", "edges", "rows", "train_rows", "folds", "test", "triplets", "accuracy", "by_size")
    fits = ("pseudolikelihood", "empty", "gain")
    return {**{name: getattr(found, name) for name in names}, "weights": {name: getattr(found, name) for name in fits}}


case("validate answers", "answers", 7)(validated)
case("validate sizes", "sizes", 7)(validated)
case("validate ratings", "ratings", 6)(validated)
case("validate repeats", "answers repeats", 7, interactions="pairwise")(validated)
