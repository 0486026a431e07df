"""The sources of the native core: what differs between compilers is written in one header."""

from __future__ import annotations

import re
from pathlib import Path

NATIVE = Path(__file__).parents[1] / "native"
PORTABILITY = NATIVE / "portability.hpp"
EXTENSIONS = re.compile(r"__builtin_|__attribute__|__int128|__extension__|\[\[gnu::|\basm\b|_Pragma|#pragma (?!once)")


def test_extensions_of_gnu_are_used_in_one_header_only() -> None:
    sources = sorted(NATIVE.rglob("*.[ch]pp"))
    assert PORTABILITY in sources
    assert EXTENSIONS.search(PORTABILITY.read_text(encoding="utf-8"))
    found = [
        f"{path.relative_to(NATIVE)}:{number}: {line.strip()}"
        for path in sources
        if path != PORTABILITY
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if EXTENSIONS.search(line)
    ]
    assert not found, "\n".join(found)
