"""Tests of independence: by name, of all pairs, as scans."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.records import TEST, held
from golden.tables import as_dataset

case = cases_of(__name__)

QUESTIONS = ((0, 1, ()), (0, 3, (1,)), (4, 2, (0, 1)), (1, 4, (0, 2, 3)))


def tests(data: str, test: str, **settings: Any) -> object:
    """Answer several questions by name."""
    names, table = as_dataset(data).names, as_dataset(data)
    asked = [(names[x], names[y], [names[v] for v in z]) for x, y, z in QUESTIONS]
    found = [mn.independence_test(table, x, y, z, test=test, n_jobs=jobs(), **settings) for x, y, z in asked]
    return [held(answer.to_dict(), TEST) for answer in found]


for _test in ("chi2", "g2", "mi", "bayes", "score"):
    for _data in ("survey", "small", "tiny"):
        case(f"test {_test} {_data}", _data, _test)(tests)
for _test in ("pcor", "bayes-pcor"):
    case(f"test {_test} numbers", "numbers", _test)(tests)
for _rule in ("observed", "all"):
    case(f"test chi2 dof {_rule}", "small", "chi2", dof=_rule, alpha=0.01)(tests)
case("test mi threshold", "small", "mi", threshold=0.02)(tests)
case("test bayes prior", "small", "bayes", prior=0.2)(tests)


def dependences(data: str, test: str | None) -> object:
    """List the dependent pairs, the strongest first."""
    return [
        held(answer.to_dict(), TEST) for answer in mn.dependences(as_dataset(data), test=test, top=12, n_jobs=jobs())
    ]


for _test in ("chi2", "bayes"):
    case(f"test dependences {_test}", "survey", _test)(dependences)
case("test dependences pcor", "numbers", "pcor")(dependences)


def scans(test: str, data: str) -> object:
    """Scan all variables given several sets through the class of the test."""
    chosen = mn.make_test(test, as_dataset(data), n_jobs=jobs())
    n = chosen.n_variables
    found: list[Any] = [
        chosen.scan(0, [y for y in range(1, n) if y not in z], frozenset(z)) for z in ((), (1,), (2, 3))
    ]
    return [{**asdict(evidence)} if is_dataclass(type(evidence)) else evidence for evidence in found]


for _test in ("chi2", "g2", "bayes", "score"):
    case(f"test scan {_test}", _test, "states")(scans)
case("test scan pcor", "pcor", "numbers")(scans)


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------

for _data in ("clinic", "clinic gaps", "clinic repeats", "ratings", "ratings gaps", "events"):
    case(f"test mixed {_data}", _data, "mixed")(tests)
for _test in ("chi2", "g2", "bayes", "score"):
    case(f"test {_test} answers gaps", "answers gaps", _test)(tests)
case("test mi answers gaps", "answers gaps", "mi", n_permutations=19, seed=2)(tests)
for _data in ("answers weights", "answers repeats"):
    case(f"test g2 {_data}", _data, "g2")(tests)
for _test in ("pcor", "bayes-pcor"):
    case(f"test {_test} sizes gaps", "sizes gaps", _test)(tests)
case("test pcor sizes weights", "sizes weights", "pcor")(tests)
for _data in ("clinic gaps", "ratings", "sizes gaps"):
    case(f"test dependences {_data}", _data, None)(dependences)
case("test scan mixed", "mixed", "clinic gaps")(scans)
case("test scan chi2 gaps", "chi2", "answers gaps")(scans)
case("test scan pcor gaps", "pcor", "sizes gaps")(scans)
