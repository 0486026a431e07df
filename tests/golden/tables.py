"""Tables that golden cases read, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np

import mnlearn as mn
from mnlearn import simulate
from mnlearn.data import Dataset


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
    return simulate.simulate("six:model=3", "tables:states=3,strength=1.2", n_rows=400, seed=5).data


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
    return mn.read(DATA[name]())
