"""What a score asks of its statistics before it counts on them."""

from __future__ import annotations

from mnlearn.errors import UnsuitableError


def require_counts(score: str, statistics: object) -> None:
    """Refuse, when a score is made, statistics that cannot count."""
    for method in ("reduce_many", "without", "local"):
        if not hasattr(statistics, method):
            raise UnsuitableError(
                f"{score} cannot score by a {type(statistics).__name__}, which has no {method}. Use Counts; "
                "continuous variables must be discretised first."
            )
