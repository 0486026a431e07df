"""The installation without extras: the main work is done in full, and all else names the extra that it needs.

One process runs in which every package of an extra is absent, and with them those that only the tests install.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: packages for name, packages in PROJECT["optional-dependencies"].items() if name != "all"}
MODULES = {"python-calamine": "python_calamine", "scikit-learn": "sklearn"}  # where the name differs from the package
ABSENT = [
    *sorted({MODULES.get(one.split(">=")[0], one.split(">=")[0]) for packages in EXTRAS.values() for one in packages}),
    *("pandas", "polars", "openpyxl", "hypothesis", "mpmath", "torch", "numba", "cloudpickle"),
]

WITHOUT_EXTRAS = {
    "a dict": "mn.learn(columns).edges()",
    "arrays": "mn.learn(np.array(list(zip(*columns.values())))).edges()",
    "numbers": "mn.learn(np.random.default_rng(1).normal(size=(60, 4))).edges()",
    "a frame": "mn.learn(pa.table(columns)).edges()",
    "a CSV file": "mn.learn('table.csv', 'mpl').save('network.json')",
    "a Parquet file": "(pq.write_table(pa.table(columns), 'table.parquet'), mn.learn('table.parquet', 'pc'))",
    "a saved network": "mn.load('network.json').save('network.graphml')",
    "binary logistic regressions": "mn.learn(columns, 'l1lr', n_jobs=1)",
    "the lasso": "mn.learn(np.random.default_rng(1).normal(size=(60, 4)), 'lasso', n_jobs=1)",
    "other processes": "mn.learn(columns, 'l1lr', n_jobs=2)",
    "stability": "mn.learn(columns).bootstrap(5, n_jobs=1)",
    "a test": "mn.independence_test(columns, 'a', 'b')",
    "a model": "mn.fit_parameters(mn.learn(columns), columns)",
    "networkx": "mn.learn(columns).to_networkx()",
    "a Bayesian network": "read_bif('coin.bif').sample(10, seed=1)",
    "help": "command('--help')",
    "mnlearn learn": "command('learn', 'table.csv', '--out', 'learned.graphml')",
    "mnlearn info": "command('info', 'table.csv')",
    "mnlearn demo": "command('demo', '--rows', '300', '--out', 'demo')",
}
"""The main work, which needs no extra."""

WITH_EXTRAS = [
    ("plot", "mn.learn(columns, 'mpl').plot('network.png')"),
    ("plot", "mn.plot_side_by_side([mn.learn(columns, 'mpl'), mn.learn(columns, 'pc')])"),
    ("plot", "command('plot', 'network.json', '-o', 'network.png')"),
    ("report", "mn.learn(columns, 'mpl').report('report.html')"),
    ("report", "command('learn', 'table.csv', '--report', 'report.html')"),
    ("files", "mn.read('table.xlsx')"),
    ("files", "mn.read('table.sav')"),
    ("files", "command('learn', 'table.xlsx')"),
    ("inference", "mn.fit_parameters(mn.learn(columns), columns).to_pyagrum()"),
    ("dask", "importlib.import_module('mnlearn.parallel').joined('tcp://x:1').__enter__()"),
    ("dask", "command('learn', 'table.csv', '--cluster', 'tcp://x:1')"),
    ("sklearn", "mn.MarkovNetworkLearner"),
    ("sklearn", "importlib.import_module('mnlearn.estimators')"),
    ("sklearn", "mn.learn(np.random.default_rng(1).normal(size=(60, 4)), 'glasso')"),
    ("sklearn", "mn.learn({'a': [0, 1, 2] * 20, 'b': [0, 1, 1] * 20}, 'l1lr', n_jobs=1)"),
    ("sklearn", "command('learn', 'numbers.csv', '--method', 'glasso')"),
]
"""Statements that need an extra, after its name."""

PROGRAM = """
import contextlib, importlib, io, json, sys
from importlib.machinery import PathFinder

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {absent!r} else PathFinder.find_spec(name, path, target)

sys.meta_path = [Installed if finder is PathFinder else finder for finder in sys.meta_path]
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import mnlearn as mn
from mnlearn.cli import main
from mnlearn.simulate import read_bif

columns = {{"a": [0, 1, 1, 0] * 20, "b": [0, 1, 1, 1] * 20, "c": [0, 0, 1, 1] * 20}}

def command(*words):
    shown, refused = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(refused):
        code = main(list(words))
    assert code == 0, refused.getvalue()
    return shown.getvalue()

def outcome(statement):
    try:
        return ["", str(eval(statement))]
    except mn.MissingDependencyError as error:
        return ["MissingDependencyError", str(error)]
    except AssertionError as error:
        return ["a refused command", str(error)]
    except Exception as error:
        return [type(error).__name__, str(error)]

print(json.dumps({{one: outcome(one) for one in {statements!r}}}), file=sys.__stdout__)
"""


@pytest.fixture(name="outcomes", scope="module")
def _outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("small")
    (folder / "table.csv").write_text("a,b,c\n" + "0,0,0\n1,1,0\n1,1,1\n0,1,1\n" * 20, encoding="utf-8")
    (folder / "numbers.csv").write_text("a,b\n" + "0.5,1.25\n2.5,0.75\n1.5,1.5\n" * 20, encoding="utf-8")
    (folder / "coin.bif").write_text(
        "network n { } variable c { type discrete [2] { h, t }; } probability ( c ) { table 0.5, 0.5; }"
    )
    for name in ("table.xlsx", "table.sav"):
        (folder / name).write_bytes(b"PK")
    statements = [*WITHOUT_EXTRAS.values(), *(statement for _, statement in WITH_EXTRAS)]
    code = PROGRAM.format(absent=set(ABSENT), statements=statements)
    found = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.parametrize("work", WITHOUT_EXTRAS)
def test_the_main_work_needs_no_extra(outcomes: Any, work: str) -> None:
    assert outcomes[WITHOUT_EXTRAS[work]][0] == "", outcomes[WITHOUT_EXTRAS[work]]


def test_the_demonstration_names_the_extra_of_its_report(outcomes: Any) -> None:
    assert outcomes[WITHOUT_EXTRAS["mnlearn demo"]][1].endswith("pip install 'mnlearn[report]'.\n")


@pytest.mark.parametrize(("extra", "statement"), WITH_EXTRAS)
def test_what_needs_an_extra_names_it(outcomes: Any, extra: str, statement: str) -> None:
    kind, message = outcomes[statement]
    assert kind == ("a refused command" if statement.startswith("command") else "MissingDependencyError"), message
    sentence = f"is needed for this and is not installed. Install it with: pip install 'mnlearn[{extra}]'."
    assert message.rstrip().endswith(sentence)
    assert message.count("\n") <= 1  # no traceback


def test_every_extra_is_tried_and_in_all() -> None:
    assert {extra for extra, _ in WITH_EXTRAS} == set(EXTRAS)
    assert PROJECT["optional-dependencies"]["all"] == [f"mnlearn[{','.join(sorted(EXTRAS))}]"]


def test_the_code_names_extras_that_exist() -> None:
    named = re.compile(r"mnlearn\[([a-z,]+)\]|require\([^()]*?\"([a-z]+)\"\)")
    pages = [*(TOP / "src").rglob("*.py"), *(TOP / "docs").glob("*.md"), *(TOP / "docs" / "howto").glob("*.md")]
    found = {
        extra
        for page in pages
        for one in named.finditer(page.read_text(encoding="utf-8"))
        for extra in (one[1] or one[2]).split(",")
    }
    assert found == {*EXTRAS, "all"}


def test_the_installation_page_lists_every_extra_with_its_packages() -> None:
    page = (TOP / "docs" / "install.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z]+)` \|[^|]*\| ([^|]*)\|", page, re.MULTILINE))
    packages = {extra: ", ".join(sorted(one.split(">=")[0] for one in found)) for extra, found in EXTRAS.items()}
    assert {
        extra: ", ".join(sorted(found.strip().split(", "))) for extra, found in listed.items() if extra != "all"
    } == packages
    assert "all" in listed
