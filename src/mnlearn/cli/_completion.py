"""Names that a shell can complete."""

from __future__ import annotations


def complete_methods(incomplete: str) -> list[str]:
    """Methods that begin so."""
    from mnlearn.pipeline import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_tests(incomplete: str) -> list[str]:
    """Tests that begin so."""
    from mnlearn.pipeline import TESTS

    return [name for name in TESTS if name.startswith(incomplete)]


def complete_scores(incomplete: str) -> list[str]:
    """Scores that begin so."""
    from mnlearn.pipeline import SCORES

    return [name for name in SCORES if name.startswith(incomplete)]
