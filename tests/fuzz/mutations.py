"""Random changes of bytes, of text and of JSON values; the same generator gives the same changes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

ODD_NUMBERS = (0, 1, -1, 2, 3, 7, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63))
ODD_VALUES: tuple[Any, ...] = (
    *ODD_NUMBERS,
    *(None, True, False, 0.5, -0.0, 1e308, -1e308, 5e-324, 10**30, 10**400),
    *("", "a", "x0", "\0", "\ud800", "\u202e", "é", "inf", "-inf", "nan", "1", "-1", "x" * 300, "__class__", "../../x"),
    *([], {}, [[]], [None], [0, 1], {"": 0}, [[0, 1], [0, 1]], {"number": "inf"}),
)
ODD_WORDS = (
    "",
    "0",
    "-1",
    "1e309",
    "nan",
    "inf",
    "9" * 30,
    "9" * 5000,
    "1_0",
    "٣",
    "\0",
    "\ufeff",
    "(" * 50,
    "[" * 2000,
)
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Mutations:
    """Changes drawn from one generator."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def times(self, change: Callable[[Any], Any], value: Any) -> Any:
        """Apply a change once or a few times."""
        for _ in range(1 + min(int(self.rng.expovariate(1.0)), 6)):
            value = change(value)
        return value

    def data(self, content: bytes) -> bytes:
        """Return bytes with one piece changed."""
        rng, n = self.rng, len(content)
        at = rng.randrange(n + 1)
        end = min(n, at + rng.choice((1, 1, 2, 4, 8, 64, 512)))
        number, size = rng.choice(ODD_NUMBERS), rng.choice((1, 2, 4, 8))
        piece = rng.choice(
            (
                b"",  # a deletion
                content[at:end] * 2,
                rng.randbytes(end - at),
                bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 : end] if at < n else b"",
                (number % 256**size).to_bytes(size, "little") + content[at + size : end],
                rng.choice(ODD_WORDS).encode(),
                content[rng.randrange(n + 1) :][: rng.randrange(n + 1)],
            )
        )
        return content[:at] + (piece + content[end:] if rng.random() < 0.9 else b"")

    def text(self, text: str) -> str:
        """Return a string with a word or a line changed."""
        lines = self.rng.random() < 0.3
        tokens = text.splitlines(keepends=True) if lines else _TOKEN.findall(text)
        if not tokens:
            return self.rng.choice(ODD_WORDS)
        at, other = self.rng.randrange(len(tokens)), self.rng.randrange(len(tokens))
        kind = self.rng.randrange(6)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[other])
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = tokens[other]
        elif kind == 4:
            tokens[at] = self.rng.choice(ODD_WORDS)
        else:
            tokens[at] = str(self.rng.choice(ODD_NUMBERS))
        return "".join(tokens)

    def json(self, value: Any) -> Any:
        """Return a JSON value with one of its values changed."""
        changed = copy.deepcopy(value)
        places = list(_places(changed))
        if not places:
            return self.rng.choice(ODD_VALUES)
        holder, key = self.rng.choice(places)
        other, its = self.rng.choice(places)
        old, kind = holder[key], self.rng.randrange(8)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = copy.deepcopy(other[its])
        elif kind == 2 and type(old) in (int, float) and abs(old) < 1e300:
            holder[key] = old + self.rng.choice((-1, 1, 0.5, 64))
        elif kind == 3:
            holder[key] = [old]
        elif kind == 4 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(old))
        elif kind == 5 and isinstance(holder, dict):
            holder[self.rng.choice(("", "x", "number", "é"))] = holder.pop(key)
        elif kind == 6 and type(old) is int:
            holder[key] = self.rng.choice(ODD_NUMBERS)
        else:
            holder[key] = copy.deepcopy(self.rng.choice(ODD_VALUES))
        return changed


def _places(value: Any) -> Sequence[tuple[Any, Any]]:
    """Return every place of a JSON value as its container and key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found
