"""Seeds: the one place where a seed becomes a random generator."""

from __future__ import annotations

from operator import index
from typing import TypeAlias

import numpy as np

from mnlearn.errors import InputError

Seed: TypeAlias = int | np.random.Generator


def rng_from(seed: Seed) -> np.random.Generator:
    """Return the generator of a seed; a generator is returned as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"seed must be an integer of at least 0 or a numpy.random.Generator; got {seed!r}.")
    return np.random.default_rng(number)
