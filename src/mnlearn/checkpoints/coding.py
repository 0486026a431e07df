"""Questions in sixteen bytes, and answers in bytes and back."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def key_of(question: object) -> bytes:
    """Sixteen bytes that stand for a question; sets and arrays of the same members give the same."""
    return hashlib.blake2b(repr(_plain(question)).encode(), digest_size=16).digest()


def _plain(value: Any) -> object:
    """The same in tuples, numbers and texts, whose words do not depend on chance."""
    if isinstance(value, frozenset | set):
        return ("set", *sorted(_plain(one) for one in value))  # type: ignore[type-var]
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | range):
        return tuple(_plain(one) for one in value)
    return value


def encoded(answer: Any) -> bytes:
    """An answer in bytes: its form in JSON, and the arrays behind it."""
    arrays: list[NDArray[Any]] = []
    form = json.dumps(_form(answer, arrays)).encode()
    return b"".join([struct.pack("<I", len(form)), form, *(np.ascontiguousarray(array).tobytes() for array in arrays)])


def _form(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": [value.dtype.str, list(value.shape)]}
    if is_dataclass(value):
        return _form([getattr(value, part.name) for part in fields(value)], arrays)
    if isinstance(value, Mapping):
        return {"dict": [[_form(key, arrays), _form(item, arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_form(item, arrays) for item in value]}
    return value.item() if isinstance(value, np.generic) else value


def decoded(content: bytes) -> Any:
    """The answer that was encoded; tuples are lists now."""
    (length,) = struct.unpack_from("<I", content)
    place = 4 + length

    def made(form: Any) -> Any:
        nonlocal place
        if not isinstance(form, dict):
            return form
        ((kind, inside),) = form.items()
        if kind == "list":
            return [made(item) for item in inside]
        if kind == "dict":
            found = [(made(key), made(item)) for key, item in inside]
            return {tuple(key) if isinstance(key, list) else key: item for key, item in found}
        dtype, shape = np.dtype(inside[0]), inside[1]
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(content, dtype, offset=place, count=size // max(dtype.itemsize, 1)).reshape(shape).copy()
        place += size
        return array

    return made(json.loads(content[4 : 4 + length]))


def fingerprint(*parts: object) -> str:
    """One line that stands for data and settings."""
    return hashlib.blake2b(repr([_plain(part) for part in parts]).encode(), digest_size=16).hexdigest()
