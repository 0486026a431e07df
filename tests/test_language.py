"""Texts use the words of the field: none of the retired phrases is left in code, comments, docs or tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".pyi", ".md", ".cpp", ".hpp", ".html", ".jinja", ".js", ".txt"}
PLACES = ("src", "native", "docs", "tests", "benchmarks", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")

EVERYWHERE = {
    "a docstring that starts with 'The same', 'What' or 'Whoever'": r'"""(?:The same|What|Whoever)\b',
    "'is no' for 'is not a'": r"(?<![Tt]here )\bis no (?!longer|more|less|fewer|better|worse|larger|smaller)[a-z]",
    "whoever, whom, somebody, nobody": r"\b(?:[Ww]hoever|[Ww]hom(?:ever)?|[Ss]omebody|[Nn]obody)\b",
    "'a text' for a string": r"\b[Aa] text\b(?! (?:file|editor|field|mode|box|cell|line))",
    "'a truth' for a bool": r"\b[Aa] truth\b(?! (?:table|graph|file|to compare))",
    "rooms, house, walls": r"\b(?:[Rr]ooms|[Tt]he house|house plan|(?:a|no|the) walls?)\b(?![- ](?:clock|time))",
    "threads that hear or tell": r"\bhears?\b|\b(?:threads?|workers?|process(?:es)?|monitors?|cores?) tells?\b",
    "'come to stand'": r"\bcomes? to stand\b",
    "'goes by'": r"\bgoes by\b",
    "'dealt out'": r"\bdealt out\b",
    "'parted' for separated": r"\bparted\b",
    "'asked for'": r"\basked for\b(?! \w+ in\b)",
    "'reckoned' for computed": r"\breckon(?:s|ed|ing)?\b",
    "'more with more' for positive": r"\bmore with (?:more|less)\b(?! rows)",
    "'said' or 'told' for given": r"\b(?:was|were|is|are|as) (?:said|told)\b",
}
FOR_USERS = {"'way out' in a text for users": r"\bway out\b"}


def files(place: str) -> list[Path]:
    path, skipped = ROOT / place, {"_build", "generated", "tutorials", "__pycache__"}
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    return [p for p in found if p.suffix in SUFFIXES and not skipped & set(p.parts) and p.name != Path(__file__).name]


def retired(path: Path) -> list[str]:
    """Return the retired phrases of a file, each with its line."""
    name = path.relative_to(ROOT).as_posix()
    patterns = EVERYWHERE if name.startswith("tests") else EVERYWHERE | FOR_USERS
    return [
        f"{name}:{number}: {what}: {line.strip()}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for what, pattern in patterns.items()
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("place", PLACES)
def test_no_retired_phrase_is_left(place: str) -> None:
    found = [line for path in files(place) for line in retired(path)]
    assert not found, "\n".join(found)


def test_a_retired_phrase_is_found_and_plain_words_are_not() -> None:
    everything = "|".join((EVERYWHERE | FOR_USERS).values())
    assert re.search(everything, "alpha is no setting of mpl")
    assert re.search(everything, '"""The same with one more neighbour.')
    for plain in ("there is no such file", "it is no longer read", "wall-clock time", "Return whether it was found."):
        assert not re.search(everything, plain)
