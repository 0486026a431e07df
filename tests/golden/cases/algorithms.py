"""Methods on every table, their variants, and searches that are composed by hand."""

from __future__ import annotations

from typing import Any

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import learn
from golden.tables import DATA, binary
from mnlearn import graphs

case = cases_of(__name__)

BY_COUNTS = ("gsmn", "gsmn*", "gsimn", "hhc-mn", "pc", "ib", "bjp", "mbs", "aracne", "hillclimb", "sep")
for _method in BY_COUNTS:
    for _data in DATA:
        case(f"learn {_method} {_data}", _data, _method)(learn)
for _method in ("mpl", "pic"):
    for _data in ("survey", "binary", "states", "small", "tiny"):
        case(f"learn {_method} {_data}", _data, _method)(learn)
for _data in ("binary", "small", "tiny"):
    case(f"learn l1lr {_data}", _data, "l1lr", close=True)(learn)
for _data in ("small", "tiny"):
    case(f"learn exhaustive {_data}", _data, "exhaustive")(learn)
case("learn gsimn-fch tiny", "tiny", "gsimn-fch")(learn)
case("learn gsimn-fch small", "small", "gsimn-fch")(learn)
FIVE = ["c0", "c1", "c2", "c3", "c4"]
for _method, _close in (("lasso", False), ("l1mb", False), ("glasso", True)):
    case(f"learn {_method} numbers", "numbers", _method, close=_close)(learn)
    case(f"learn {_method} five numbers", "numbers", _method, close=_close, columns=FIVE)(learn)


VARIANTS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "default": ("survey", None, {}),
    "default by a test": ("survey", None, {"test": "g2"}),
    "sep keep pairs": ("survey", "sep", {"keep_pairs": True}),
    "sep fast": ("binary", "sep", {"effort": "fast"}),
    "sep standard": ("states", "sep", {"effort": "standard"}),
    "sep constraints": (
        "survey",
        "sep",
        {"required": [("stress", "exercise")], "forbidden": [("poor_sleep", "stress")]},
    ),
    "gsmn trace": ("tiny", "gsmn", {"keep_trace": True}),
    "gsmn* g2": ("binary", "gsmn*", {"test": "g2", "alpha": 0.01, "skip_marginal": False}),
    "gsimn trace": ("small", "gsimn", {"keep_trace": True}),
    "gsimn bayes": ("binary", "gsimn", {"test": "bayes"}),
    "gsimn mirrored": ("binary", "gsimn", {"mirrored": True, "seed_dependences": True}),
    "gsimn-fch trace": ("tiny", "gsimn-fch", {"keep_trace": True}),
    "hhc-mn or": ("states", "hhc-mn", {"combine": "or", "max_conditioning": 2}),
    "hhc-mn trace": ("tiny", "hhc-mn", {"keep_trace": True}),
    "pc moral": ("survey", "pc", {"output": "moral"}),
    "pc moral sepset": ("states", "pc", {"output": "moral", "colliders": "sepset", "test": "g2"}),
    "pc moral conservative": ("binary", "pc", {"output": "moral", "colliders": "conservative", "alpha": 0.01}),
    "pc trace": ("tiny", "pc", {"keep_trace": True, "max_conditioning": 2}),
    "pc mi": ("tiny", "pc", {"test": "mi", "n_permutations": 49, "seed": 3}),
    "ib steps": ("small", "ib", {"keep_steps": True, "keep_absent": True, "prior": 0.4}),
    "bjp order": ("tiny", "bjp", {"order": ["v4", "v3", "v2", "v1", "v0"]}),
    "bjp constraints": ("small", "bjp", {"required": [("x0", "x5")], "forbidden": [("x0", "x1")]}),
    "mpl and": ("survey", "mpl", {"combine": "and"}),
    "mpl conflict": ("states", "mpl", {"combine": "conflict", "max_blanket": 2}),
    "mpl sample size": ("small", "mpl", {"sample_size": 2.0, "graph_prior": None}),
    "pic parameters": ("small", "pic", {"penalty": "parameters", "cardinalities": "observed"}),
    "mbs mpl": ("survey", "mbs", {"score": "mpl", "k_max": 3}),
    "mbs cv": ("binary", "mbs", {"choose": "cv", "n_folds": 3, "seed": 2, "k_max": 3}),
    "mbs and": ("states", "mbs", {"combine": "and", "gamma": 0.25}),
    "mbs regularization": ("small", "mbs", {"regularization": 0.02}),
    "hillclimb mpl tabu": ("binary", "hillclimb", {"score": "mpl", "tabu": 4, "patience": 5}),
    "hillclimb pic": ("states", "hillclimb", {"score": "pic", "keep_steps": True}),
    "hillclimb ebic": ("survey", "hillclimb", {"score": "ebic", "keep_absent": True}),
    "hillclimb entropy": ("tiny", "hillclimb", {"score": "entropy", "max_steps": 4}),
    "hillclimb evidence": ("small", "hillclimb", {"score": "evidence"}),
    "exhaustive averaging": ("tiny", "exhaustive", {"score": "mpl", "averaging": True, "alternatives": 4}),
    "exhaustive ib": ("tiny", "exhaustive", {"score": "ib", "alternatives": 3}),
    "aracne fdr": ("survey", "aracne", {"correction": "fdr", "tolerance": 0.1}),
    "missing category": ("tiny", "mpl", {"missing": "category"}),
}
for _name, (_data, _variant, _settings) in VARIANTS.items():
    case(f"learn variant {_name}", _data, _variant, **_settings)(learn)
case("learn variant l1lr or", "binary", "l1lr", close=True, combine="or", gamma=0.25, n_penalties=20)(learn)
case("learn variant bayes-pcor", "numbers", "gsimn", test="bayes-pcor")(learn)
case("learn variant sep numbers", "numbers", "sep", keep_pairs=True)(learn)
case("learn variant mbs numbers", "numbers", "mbs", close=True, k_max=3, choose="cv", n_folds=3)(learn)
case("learn variant discretized", "numbers", "mpl", discretize="frequency", bins=3)(learn)
case("learn variant discretized by width", "numbers", "pc", discretize="width", bins=4)(learn)


@case("learn by hand")
def by_hand() -> object:
    """Compose statistics, judges and searches without `learn`."""
    data = binary()
    counts = mn.Counts(data, n_jobs=jobs())
    test, posterior = mn.ChiSquare(counts, alpha=0.01), mn.BayesianTest(counts)
    return {
        "GSMN": mn.GSMN().learn(test).graph,
        "GSMNStar": mn.GSMNStar().learn(mn.GTest(counts)).graph,
        "GSIMN": mn.GSIMN().learn(posterior).graph,
        "HHCMN": mn.HHCMN().learn(test).graph,
        "PC": mn.PC().learn(mn.ScoreTest(counts)).graph,
        "IBMAPHC": mn.IBMAPHC().learn(mn.IBScore(posterior)).graph,
        "HillClimb": mn.HillClimb().learn(mn.BJPScore(posterior)).graph,
        "TwoPhase": mn.TwoPhase().learn(mn.MPL(counts)).graph,
        "TwoPhase PIC": mn.TwoPhase().learn(mn.PIC(counts)).graph,
        "MBS": mn.MBS().learn(mn.ExtendedBIC(counts)).graph,
        "SeparatorEvidence": mn.SeparatorEvidence().learn(mn.HybridEvidence(counts)).graph,
    }


@case("learn by oracle")
def by_oracle() -> object:
    """Count the questions that tests of a known graph need."""
    oracle = mn.SeparationOracle(graphs.hubs(3, 4))
    methods: dict[str, Any] = {
        "gsmn": mn.GSMN(),
        "gsmn*": mn.GSMNStar(),
        "gsimn": mn.GSIMN(),
        "hhc-mn": mn.HHCMN(),
        "pc": mn.PC(),
    }
    found = {name: method.learn(oracle) for name, method in methods.items()}
    return {name: {"graph": result.graph, "cost": result.cost} for name, result in found.items()}


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------

for _data in ("clinic", "ratings", "events", "answers", "sizes"):
    case(f"learn sep {_data}", _data, "sep")(learn)
    case(f"learn sep {_data} gaps", f"{_data} gaps", "sep", keep_pairs=True)(learn)
for _data in ("answers weights", "ratings weights", "sizes weights", "events repeats"):
    case(f"learn sep {_data}", _data, "sep")(learn)
case("learn sep clinic repeats", "clinic repeats", "sep", effort="fast")(learn)
for _method in ("gsmn", "gsmn*", "gsimn", "hhc-mn", "pc"):
    case(f"learn {_method} clinic gaps", "clinic gaps", _method)(learn)
    case(f"learn {_method} answers gaps", "answers gaps", _method)(learn)
case("learn aracne sizes gaps", "sizes gaps", "aracne")(learn)
for _data in ("answers gaps", "sizes gaps"):
    case(f"learn ib {_data}", _data, "ib")(learn)
case("learn bjp answers gaps", "answers gaps", "bjp")(learn)
for _data in ("clinic", "ratings"):
    case(f"learn mbs {_data}", _data, "mbs", k_max=3)(learn)
    case(f"learn hillclimb ebic {_data}", _data, "hillclimb", score="ebic", keep_absent=True)(learn)
case("learn hillclimb evidence clinic", "clinic", "hillclimb", score="evidence", keep_steps=True)(learn)
case("learn mpl answers weights", "answers weights", "mpl")(learn)
case("learn pc clinic repeats", "clinic repeats", "pc")(learn)
case("learn lasso sizes weights", "sizes weights", "lasso")(learn)

PAIRS: dict[str, dict[str, Any]] = {
    "sep clinic": {"required": [("smoker", "mood")], "forbidden": [("dose", "pressure"), ("ward", "visits")]},
    "mbs clinic": {"required": [("smoker", "mood")], "forbidden": [("dose", "pain")], "k_max": 3},
    "hillclimb clinic": {"required": [("ward", "falls")], "forbidden": [("dose", "pain")], "score": "ebic"},
    "mpl answers": {"required": [("q0", "q6")], "forbidden": [("q0", "q1")]},
    "pic answers": {"required": [("q0", "q6")], "forbidden": [("q0", "q1")]},
    "ib answers": {"required": [("q0", "q6")], "forbidden": [("q0", "q1")]},
    "aracne sizes": {"required": [("n0", "n6")], "forbidden": [("n0", "n1")]},
    "lasso sizes": {"required": [("n0", "n6")], "forbidden": [("n0", "n1")]},
}
for _name, _settings in PAIRS.items():
    _method, _data = _name.split()
    case(f"learn pairs {_name}", _data, _method, **_settings)(learn)
