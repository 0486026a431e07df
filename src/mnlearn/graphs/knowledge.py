"""Knowledge base of independences, and the rules by which they imply others  [JAIR09, Algorithm 5]."""

from __future__ import annotations

from mnlearn import _core

RULES = (
    "dependent_by_strong_union",
    "dependent_by_triangle",
    "independent_by_strong_union",
    "independent_by_triangle",
    "independent_by_mirrored_triangle",
)
"""Names of the rules in the order in which they are tried, counted from 1; the last one is optional."""


def knowledge_base(n_variables: int, *, mirrored: bool = False) -> _core.Knowledge:
    """Return an empty knowledge base.

    Parameters
    ----------
    n_variables
        Number of variables.
    mirrored
        Whether independence is also inferred by the triangle rule with x and y exchanged.

    Notes
    -----
    It takes 4.25 bytes for each of n² pairs, and n / 8 for each set that it learns.

    Examples
    --------
    >>> known = knowledge_base(3)
    >>> known.learn(0, 1, frozenset({2}), False)
    >>> known.implied(0, 1, frozenset()), known.implied(0, 2, frozenset())  # by the first rule; by none
    (1, 0)
    """
    return _core.Knowledge(n_variables, mirrored)


def says_dependent(rule: int) -> bool:
    """Return whether the rule of this number, counted from 1, gives dependences."""
    return 0 < rule <= 2
