"""Tables that golden cases read, each made once."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np

import mnlearn as mn
from mnlearn import simulate
from mnlearn.data import Dataset
from mnlearn.data.options import Types


@cache
def survey() -> dict[str, list[str]]:
    """Return the built-in example as columns of words."""
    return simulate.example(600, seed=1).columns()


@cache
def binary() -> Dataset:
    """Return 500 rows of a 3 by 4 grid of binary variables."""
    return simulate.simulate("grid:rows=3,columns=4", "odds:theta=1.2", n_rows=500, seed=3).data


@cache
def states() -> Dataset:
    """Return 400 rows of a ring of eight variables with three states."""
    return simulate.simulate("cycle:n=8", "potts:theta=1.2,states=3", n_rows=400, seed=4).data


@cache
def small() -> Dataset:
    """Return 400 rows of six variables with three states."""
    hub_and_tail = mn.Graph(6, [(0, 1), (0, 2), (0, 3), (0, 4), (4, 5)])
    network = simulate.random_pairwise_factors(hub_and_tail, 1.2, np.random.default_rng([5, 1]), cards=3)
    return simulate.sample(network, 400, np.random.default_rng([5, 2])).dataset([f"x{x}" for x in range(6)])


@cache
def tiny() -> Dataset:
    """Return five binary variables with repeated rows."""
    codes = simulate.example(150, seed=2).codes[:, 3:8]
    repeats = 1 + np.arange(150, dtype=np.int64) % 3
    return mn.read({**{f"v{x}": codes[:, x] for x in range(5)}, "times": repeats}, repeats="times")


@cache
def numbers() -> Dataset:
    """Return 300 rows of nine continuous variables, made without linear algebra."""
    rng = np.random.default_rng(6)
    noise = rng.standard_normal((300, 9))
    columns = [noise[:, 0]]
    for x in range(1, 9):
        columns.append(0.6 * columns[x - 1] + 0.4 * columns[(x * 5) % x] + noise[:, x])
    return mn.read({f"c{x}": column for x, column in enumerate(columns)})


DATA = {"survey": survey, "binary": binary, "states": states, "small": small, "tiny": tiny, "numbers": numbers}


def as_dataset(name: str) -> Dataset:
    """Return a data set by name, read if it is not read yet."""
    return mn.read(DATA[name]()) if name in DATA else declared(name)


# --- Tables of declared kinds ---------------------------------------------------------------------------------------
# Kinds, levels and gaps are declared, and nothing but sums, products and comparisons makes the values.

LEVELS: dict[str, list[Hashable]] = {
    "smoker": ["yes", "no"],
    "ward": ["north", "east", "south"],
    "pain": ["none", "mild", "strong", "worst"],
    "mood": [1, 2, 3, 4, 5],
}
KINDS: Types = {
    "smoker": "nominal",
    "ward": "nominal",
    "pain": "ordinal",
    "mood": "ordinal",
    "visits": "count",
    "falls": "count",
    "dose": "continuous",
    "pressure": "continuous",
}


def _chain(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Return numbers of which each depends on the one before and on one further back."""
    noise = np.random.default_rng(seed).standard_normal((n_rows, n_columns))
    for x in range(1, n_columns):
        noise[:, x] += 0.6 * noise[:, x - 1] + (0.4 * noise[:, x - 3] if x > 2 else 0.0)
    return noise


def _cut(values: np.ndarray, *cuts: float) -> np.ndarray:
    """Return how many of the cuts each number exceeds."""
    return np.asarray((values[:, None] > np.array(cuts)).sum(axis=1))


def _with_gaps(columns: dict[str, list[Any]], share: float, seed: int) -> dict[str, list[Any]]:
    """Return the columns with values missing at random; the first column keeps all of its own."""
    random = np.random.default_rng(seed)
    first, *others = columns
    gaps = {name: random.random(len(columns[first])) < share for name in others}
    emptied = {
        name: [None if gap else value for gap, value in zip(gaps[name], columns[name], strict=True)] for name in others
    }
    return {first: columns[first], **emptied}


def clinic_columns(n_rows: int = 160, seed: int = 21) -> dict[str, list[Any]]:
    """Return columns of every kind."""
    z = _chain(n_rows, 8, seed)
    codes = {
        "smoker": _cut(z[:, 0], 0.2),
        "ward": _cut(z[:, 1], -0.6, 0.7),
        "pain": _cut(z[:, 3], -1.0, 0.2, 1.3),
        "mood": _cut(z[:, 5], -1.5, -0.5, 0.5, 1.5),
    }
    found: dict[str, list[Any]] = {name: [LEVELS[name][code] for code in column] for name, column in codes.items()}
    found["visits"] = _cut(z[:, 2], -1.0, -0.2, 0.5, 1.0, 1.5, 1.9, 2.4).tolist()
    found["falls"] = _cut(z[:, 6], 0.0, 0.9, 1.6, 2.2, 2.7).tolist()
    found["dose"], found["pressure"] = z[:, 4].tolist(), z[:, 7].tolist()
    return found


def answer_columns(n_rows: int = 220, seed: int = 22) -> dict[str, list[Any]]:
    """Return seven columns of two or three labels."""
    z = _chain(n_rows, 7, seed)
    return {
        f"q{x}": np.array(["b", "a", "c"])[_cut(z[:, x], 0.1) if x % 2 else _cut(z[:, x], -0.5, 0.6)].tolist()
        for x in range(7)
    }


def number_columns(n_rows: int = 180, seed: int = 24) -> dict[str, list[Any]]:
    """Return seven columns of numbers."""
    return {f"n{x}": column.tolist() for x, column in enumerate(_chain(n_rows, 7, seed).T)}


def weights_of_rows(n_rows: int) -> list[float]:
    """Return weights of rows, some of them 0."""
    return [(7 * row % 5) * 0.25 + (row % 3) * 0.5 for row in range(n_rows)]


def repeats_of_rows(n_rows: int) -> list[int]:
    """Return how often rows occurred, some of them never."""
    return [5 * row % 4 for row in range(n_rows)]


ANSWER_LEVELS: dict[str, list[Hashable]] = {f"q{x}": ["b", "a"] if x % 2 else ["b", "a", "c"] for x in range(7)}


def columns_of(name: str) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the columns of a table and what declares them: "clinic", "answers", "ratings", "events" or "sizes"."""
    if name == "clinic":
        return clinic_columns(), {"types": KINDS, "levels": LEVELS}
    if name == "answers":
        return answer_columns(), {"types": "nominal", "levels": ANSWER_LEVELS}
    z = _chain(200, 6, 23)
    if name == "ratings":
        columns = {f"r{x}": (1 + _cut(z[:, x], -1.2, -0.4, 0.4, 1.2)).tolist() for x in range(6)}
        return columns, {"types": "ordinal", "levels": dict.fromkeys(columns, LEVELS["mood"])}
    if name == "events":
        return {f"e{x}": _cut(z[:, x], -0.5, 0.3, 0.9, 1.5, 2.0, 2.6).tolist() for x in range(6)}, {"types": "count"}
    return number_columns(), {"types": "continuous"}


@cache
def declared(name: str) -> Dataset:
    """Return a table of declared kinds: "clinic", "clinic gaps", "clinic weights", "clinic repeats" and so on."""
    table, _, what = name.partition(" ")
    columns, options = columns_of(table)
    n_rows = len(next(iter(columns.values())))
    types = options["types"] if isinstance(options["types"], dict) else dict.fromkeys(columns, options["types"])
    if what == "gaps":
        return mn.read(_with_gaps(columns, 0.08, 25), **options, missing="testwise")
    if what == "weights":
        return mn.read({**columns, "w": weights_of_rows(n_rows)}, **{**options, "types": types}, weights="w")
    if what == "repeats":
        return mn.read({**columns, "n": repeats_of_rows(n_rows)}, **{**options, "types": types}, repeats="n")
    return mn.read(columns, **options)


@cache
def one_factor() -> Dataset:
    """Return numbers that are one number with little noise: their precision is nearly singular."""
    random = np.random.default_rng(28)
    shared = random.standard_normal(40)
    return mn.read({f"n{x}": shared + 0.05 * random.standard_normal(40) for x in range(5)}, types="continuous")


@cache
def near_copies(noise: float) -> Dataset:
    """Return numbers of which the second is the first but for a little noise."""
    columns = {name: np.array(column) for name, column in number_columns(120, 26).items()}
    copied = columns["n0"] + noise * np.random.default_rng(27).standard_normal(120)
    return mn.read({**columns, "n1": copied}, types="continuous")
