"""Packed files taken apart and put together again, with right checksums whatever they hold."""

from __future__ import annotations

import copy
import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnlearn.data.packs import ALIGNMENT, MARK, PREAMBLE_BYTES, VERSION

PREAMBLE = struct.Struct("<8sIIQQQI")


@dataclass
class PackParts:
    """A packed file as its description and the bytes of its parts.

    Attributes
    ----------
    described
        The description without its sections, as a JSON value.
    content
        The bytes of each part by name.
    changed
        Starts, lengths and checksums that replace the right ones, by part: [0, 1, 2] or None to leave it out.
    preamble
        Numbers of the preamble that replace the right ones, by position.
    """

    described: Any
    content: dict[str, bytes]
    changed: dict[str, Any] = field(default_factory=dict)
    preamble: dict[int, int] = field(default_factory=dict)

    def copy(self) -> PackParts:
        """Return a copy that can be changed."""
        return copy.deepcopy(self)

    def __bytes__(self) -> bytes:
        """Return the file; all checksums are right unless they were changed."""
        body, sections = bytearray(PREAMBLE_BYTES), {}
        for name, data in self.content.items():
            if not name.startswith("planes") or name == "planes 0":
                body += bytes(-len(body) % ALIGNMENT)
            sections[name] = self.changed.get(name, [len(body), len(data), zlib.crc32(data)])
            body += data
        described = self.described
        if isinstance(described, dict) and "sections" not in described:
            described = {**described, "sections": {name: part for name, part in sections.items() if part is not None}}
        text = json.dumps(described).encode() if not isinstance(described, bytes) else described
        numbers = [MARK, VERSION, PREAMBLE_BYTES, len(body), len(text), len(body) + len(text), zlib.crc32(text)]
        for place, number in self.preamble.items():
            numbers[place] = number
        head = PREAMBLE.pack(*numbers).ljust(PREAMBLE_BYTES - 4, b"\0")
        body[:PREAMBLE_BYTES] = head + zlib.crc32(head).to_bytes(4, "little")
        return bytes(body) + text


def take_apart(path: Path) -> PackParts:
    """Return the parts of a sound file."""
    whole = path.read_bytes()
    _, _, _, start, length, _, _ = PREAMBLE.unpack_from(whole)
    described = json.loads(whole[start : start + length])
    sections = described.pop("sections")
    return PackParts(described, {name: whole[at : at + size] for name, (at, size, _) in sections.items()})
