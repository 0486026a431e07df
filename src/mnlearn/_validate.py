"""Seeds and stored arrays: the one place where each is checked."""

from __future__ import annotations

import io
from math import prod
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError

Seed: TypeAlias = "int | np.random.Generator"  # a string: importing numpy.random takes 5 ms


def rng_from(seed: Seed) -> np.random.Generator:
    """Return the generator of a seed; a generator is returned as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        raise InputError(f"seed must be an integer of at least 0 or a numpy.random.Generator; got {seed!r:.80}. Use 0.")
    return np.random.default_rng(number)


def fresh(seed: Seed | None) -> Seed:
    """Return the seed, or a generator that starts anew where there is none."""
    return np.random.default_rng() if seed is None else seed


def array_of_npy(content: bytes) -> NDArray[Any]:
    """Return the array of an .npy file, read-only; raise ValueError unless its header fits its bytes.

    No memory is taken for numbers that a header announces and that are not there, and objects are never read.
    """
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, kind = read(file)
    except Exception as error:  # the types depend on NumPy's version and on the damage
        raise ValueError("the header of an array is damaged") from error
    rest = content[file.tell() :]
    if kind.kind not in "biufU" or min(shape, default=0) < 0 or prod(shape) * kind.itemsize != len(rest):
        raise ValueError(f"an array of {kind} and shape {shape} does not have {len(rest)} bytes")
    return np.frombuffer(rest, kind).reshape(shape, order="F" if by_columns else "C")
