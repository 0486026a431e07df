"""Scores of fixed graphs, and of all graphs of four variables."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import SCORE, held
from golden.tables import as_dataset, tiny
from mnlearn import graphs

case = cases_of(__name__)

SCORES = ("ib", "bjp", "mpl", "pic", "entropy", "ebic", "evidence")


def scored(data: str, score: str, **settings: Any) -> object:
    """Score three fixed graphs and list the parts of one of them."""
    table = as_dataset(data)
    fixed = {"ring": graphs.cycle(table.n_variables), "star": graphs.star(table.n_variables)}
    values = {name: mn.score(table, graph, score, n_jobs=jobs(), **settings) for name, graph in fixed.items()}
    judge = mn.make_score(score, table, n_jobs=jobs(), **settings)
    return {
        "values": {name: value.value for name, value in values.items()},
        "terms": held(values["ring"].to_dict(), SCORE),
        "empty": judge(mn.Graph.empty(table.n_variables)),
    }


for _score in SCORES:
    for _data in ("binary", "small", "tiny"):
        case(f"score {_score} {_data}", _data, _score)(scored)
for _score in ("ib", "bjp", "entropy", "ebic", "evidence"):
    case(f"score {_score} numbers", "numbers", _score)(scored)
case("score mpl prior cell", "small", "mpl", prior_cell=1.0, graph_prior=None)(scored)
case("score pic parameters", "small", "pic", penalty="parameters", cardinalities="observed")(scored)
case("score ebic gamma", "small", "ebic", gamma=1.0)(scored)


@case("all graphs of four variables")
def all_graphs() -> object:
    """Score all 64 graphs of four variables by every score."""
    data = tiny().select(["v0", "v1", "v2", "v3"])
    pairs = list(combinations(range(4), 2))
    every = [mn.Graph(4, [pair for k, pair in enumerate(pairs) if bits >> k & 1]) for bits in range(64)]
    judges = {name: mn.make_score(name, data, n_jobs=jobs()) for name in SCORES}
    return {name: np.array([judge(graph) for graph in every]) for name, judge in judges.items()}


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------

for _score in ("evidence", "ebic"):
    for _data in ("clinic", "clinic repeats", "ratings", "events"):
        case(f"score {_score} {_data}", _data, _score)(scored)
for _score in ("ib", "bjp"):
    case(f"score {_score} answers gaps", "answers gaps", _score)(scored)
    case(f"score {_score} sizes gaps", "sizes gaps", _score)(scored)
for _score in ("mpl", "pic", "evidence"):
    case(f"score {_score} answers repeats", "answers repeats", _score)(scored)
case("score evidence sizes repeats", "sizes repeats", "evidence")(scored)
