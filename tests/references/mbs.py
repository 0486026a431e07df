"""The slow, obvious twin of Markov blanket search: sets, loops, every score from nothing at every step."""

from __future__ import annotations

from collections.abc import Callable
from math import e, log, pi

import numpy as np

from mnlearn.protocols import FloatArray

Local = Callable[[int, frozenset[int]], float]
TIE = 1e-9
Step = tuple[int, int | None, int | None]


def gaussian_entropy(rows: FloatArray) -> Local:
    """H(x | z) by a regression on the rows themselves, as if Gaussian."""

    def local(x: int, z: frozenset[int]) -> float:
        design = np.column_stack([np.ones(len(rows)), rows[:, sorted(z)]])
        left = rows[:, x] - design @ np.linalg.lstsq(design, rows[:, x], rcond=None)[0]
        return 0.5 * log(2 * pi * e * float(np.mean(left**2)))

    return local


def penalised(entropy: Local, strength: float) -> Local:
    """S(X | M) = H(X | M) + λ log max(1, |M|)."""
    return lambda x, z: entropy(x, z) + strength * log(max(1, len(z)))


def total(s: Local, blankets: list[set[int]]) -> float:
    return sum(s(x, frozenset(blanket)) for x, blanket in enumerate(blankets))


def changed(blankets: list[set[int]], x: int, added: int | None, removed: int | None) -> list[set[int]]:
    """The blankets after a move, both ends of each edge at once."""
    after = [set(blanket) for blanket in blankets]
    if removed is not None:
        after[x].remove(removed)
        after[removed].remove(x)
    if added is not None:
        after[x].add(added)
        after[added].add(x)
    return after


def best(s: Local, blankets: list[set[int]], steps: list[Step]) -> Step | None:
    """The first of the moves after which the total is least, if that is less than now."""
    now = total(s, blankets)
    gains = [now - total(s, changed(blankets, *step)) for step in steps]
    most = max(gains, default=0.0)
    if most <= TIE:
        return None
    return next(step for step, gain in zip(steps, gains, strict=True) if gain >= max(most - TIE, TIE))


def mbs(
    s: Local, n: int, *, k_max: int, k_hard: int = 20, deletions: bool = False
) -> tuple[list[set[int]], list[Step]]:
    """Algorithm 1 as printed, with every gain as a difference of totals."""
    blankets: list[set[int]] = [set() for _ in range(n)]
    tabu: list[set[int]] = [set() for _ in range(n)]
    made: list[Step] = []

    def make(step: Step | None) -> bool:
        nonlocal blankets
        if step is None:
            return False
        blankets = changed(blankets, *step)
        made.append(step)
        return True

    for k in range(1, k_max + 1):
        for x in range(n):
            outside = [y for y in range(n) if y != x and y not in blankets[x] | tabu[x]]
            if len(blankets[x]) < k:
                make(best(s, blankets, [(x, y, None) for y in outside if len(blankets[y]) < k]))
        for x in range(n):
            for y in sorted(blankets[x]):
                outside = [
                    q for q in range(n) if q != x and q not in blankets[x] | tabu[x] and len(blankets[q]) < k_hard
                ]
                if make(best(s, blankets, [(x, q, y) for q in outside])):
                    tabu[x].add(y)
        for x in range(n if deletions else 0):
            while make(best(s, blankets, [(x, None, y) for y in sorted(blankets[x])])):
                pass
    return blankets, made


def apart(s: Local, n: int, *, k_max: int) -> list[set[int]]:
    """Run the stages for every blanket by itself."""
    found: list[set[int]] = []
    for x in range(n):
        blanket: set[int] = set()
        tabu: set[int] = set()
        for k in range(1, k_max + 1):
            if len(blanket) < k:
                blanket = least(s, x, blanket, [blanket | {y} for y in range(n) if y != x and y not in blanket | tabu])
            for y in sorted(blanket):
                rest = blanket - {y}
                after = least(s, x, blanket, [rest | {q} for q in range(n) if q != x and q not in blanket | tabu])
                if after != blanket:
                    blanket = after
                    tabu.add(y)
        found.append(blanket)
    return found


def least(s: Local, x: int, now: set[int], choices: list[set[int]]) -> set[int]:
    """The first of the best choices for x, if it is better than now."""
    values = [s(x, frozenset(choice)) for choice in choices]
    low = min(values, default=s(x, frozenset(now)))
    if low >= s(x, frozenset(now)) - TIE:
        return now
    return next(choice for choice, value in zip(choices, values, strict=True) if value <= low + TIE)
