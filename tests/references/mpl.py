"""The slow, obvious twins of the pseudo-likelihood scores and of their search: dictionaries, loops, no memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import lgamma, log, prod

from mnlearn.data.dataset import Dataset

Local = Callable[[int, frozenset[int]], float]
Pair = tuple[int, int]

TIE = 1e-9  # gains that differ by less are equal


def counts(data: Dataset, x: int, blanket: Iterable[int]) -> tuple[Counter[tuple[int, ...]], Counter[tuple[int, ...]]]:
    """n_ijl by (l, i) and n_jl by l; configurations that occur."""
    cells: Counter[tuple[int, ...]] = Counter()
    configurations: Counter[tuple[int, ...]] = Counter()
    for row in range(data.n_records):
        l = tuple(int(data.columns[y][row]) for y in sorted(blanket))  # noqa: E741 - the paper's letter
        weight = 1 if data.repeats is None else int(data.repeats[row])
        cells[(*l, int(data.columns[x][row]))] += weight
        configurations[l] += weight
    return cells, configurations


def mpl(
    data: Dataset,
    *,
    cell: float = 0.5,
    sample_size: float | None = None,
    prior: Callable[[int], float] | None = None,
) -> Local:
    """The local MPL as printed in Section 4.1, with −|mb|/2 log d unless another prior of a size is given."""
    d = len(data.cards)

    def local(x: int, blanket: frozenset[int]) -> float:
        r, q = data.cards[x], prod(data.cards[y] for y in blanket)
        a = cell if sample_size is None else sample_size / (r * q)
        cells, configurations = counts(data, x, blanket)
        total = sum(lgamma(r * a) - lgamma(n + r * a) for n in configurations.values())
        total += sum(lgamma(n + a) - lgamma(a) for n in cells.values())
        return total + (-len(blanket) / 2 * log(d) if prior is None else prior(len(blanket)))

    return local


def pic(data: Dataset, *, penalty: str = "configurations", observed: bool = False) -> Local:
    """Maximised log-likelihood less q log n, or less (r − 1) q / 2 log n."""
    cards = [len(set(column.tolist())) for column in data.columns] if observed else data.cards

    def local(x: int, blanket: frozenset[int]) -> float:
        cells, configurations = counts(data, x, blanket)
        n, q = sum(cells.values()), prod(cards[y] for y in blanket)
        fit = sum(c * log(c / configurations[key[:-1]]) for key, c in cells.items())
        return fit - (q if penalty == "configurations" else (cards[x] - 1) * q / 2) * log(n)

    return local


def total(local: Local, n: int, edges: set[Pair]) -> float:
    """The score of a whole graph, from nothing."""
    return sum(local(x, frozenset(u + v - x for u, v in edges if x in (u, v))) for x in range(n))


def first_best(values: list[float], now: float, ties: Sequence[Callable[[int], float]] = ()) -> int | None:
    """The best that is better than now; of equals the one that the first telling criterion prefers, then the first."""
    best = max(values, default=now)
    if best <= now + TIE:
        return None
    left = [k for k, value in enumerate(values) if value >= max(best - TIE, now + TIE)]
    for criterion in ties:
        marks = {k: criterion(k) for k in left}
        left = [k for k in left if marks[k] >= max(marks.values()) - TIE]
    return left[0]


def association(local: Local, x: int, y: int) -> float:
    """The gain of both ends if each is the only neighbour of the other."""
    ends = ((x, y), (y, x))
    return sum(local(u, frozenset({v})) - local(u, frozenset()) for u, v in ends)


def strength(local: Local, n: int, x: int) -> float:
    """The mean gain of a variable by one neighbour."""
    return sum(local(x, frozenset({y})) for y in range(n) if y != x) / (n - 1) - local(x, frozenset())


def blanket_of(
    local: Local,
    n: int,
    x: int,
    *,
    start: Iterable[int] = (),
    required: Iterable[int] = (),
    forbidden: Iterable[int] = (),
    limit: int | None = None,
) -> frozenset[int]:
    """Phase 1 for one variable: best addition, then best deletions until none improves; and again  [Algorithm 1]."""

    def without_the_useless(blanket: frozenset[int]) -> frozenset[int]:
        while True:
            members = sorted(blanket - set(required))
            ties = (
                lambda k, ys=members: -association(local, x, ys[k]),
                lambda k, ys=members: -strength(local, n, ys[k]),
            )
            k = first_best([local(x, blanket - {y}) for y in members], local(x, blanket), ties)
            if k is None:
                return blanket
            blanket -= {members[k]}

    blanket = without_the_useless((frozenset(start) | frozenset(required)) - set(forbidden))
    while limit is None or len(blanket) < limit:
        candidates = [y for y in range(n) if y != x and y not in blanket | set(forbidden)]
        ties = (
            lambda k, ys=candidates: association(local, x, ys[k]),
            lambda k, ys=candidates: strength(local, n, ys[k]),
        )
        k = first_best([local(x, blanket | {y}) for y in candidates], local(x, blanket), ties)
        if k is None:
            break
        blanket = without_the_useless(blanket | {candidates[k]})
    return blanket


def either_and_both(blankets: list[frozenset[int]]) -> tuple[set[Pair], set[Pair]]:
    """E_or and E_and."""
    pairs = list(combinations(range(len(blankets)), 2))
    return (
        {(i, j) for i, j in pairs if j in blankets[i] or i in blankets[j]},
        {(i, j) for i, j in pairs if j in blankets[i] and i in blankets[j]},
    )


def best_flips(local: Local, n: int, start: set[Pair], eligible: set[Pair], limit: int | None = None) -> set[Pair]:
    """Phase 2: the best flip within the eligible edges while it improves, every graph scored from nothing."""

    def fits(edges: set[Pair]) -> bool:
        return limit is None or all(sum(x in pair for pair in edges) <= limit for x in range(n))

    edges = set(start)
    while True:
        order = [pair for pair in sorted(eligible) if fits(edges ^ {pair})]
        ties = flip_ties(local, n, edges, order)
        k = first_best([total(local, n, edges ^ {pair}) for pair in order], total(local, n, edges), ties)
        if k is None:
            return edges
        edges ^= {order[k]}


def flip_ties(local: Local, n: int, edges: set[Pair], order: list[Pair]) -> Sequence[Callable[[int], float]]:
    """Add strong pairs and remove weak ones; first at variables with few neighbours."""

    def sign(k: int) -> int:
        return -1 if order[k] in edges else 1

    return (
        lambda k: sign(k) * association(local, *order[k]),
        lambda k: -sum(x in pair for x in order[k] for pair in edges),
        lambda k: sign(k) * sum(strength(local, n, x) for x in order[k]),
    )


def two_phases(
    local: Local,
    n: int,
    *,
    start: Iterable[Pair] = (),
    required: Iterable[Pair] = (),
    forbidden: Iterable[Pair] = (),
    limit: int | None = None,
) -> dict[str, set[Pair]]:
    """All four ways to combine the blankets."""

    def at(x: int, pairs: Iterable[Pair]) -> list[int]:
        return [sum(pair) - x for pair in pairs if x in pair]

    first = (set(start) | set(required)) - set(forbidden)
    settings = ({"start": at(x, first), "required": at(x, required), "forbidden": at(x, forbidden)} for x in range(n))
    either, both = either_and_both([blanket_of(local, n, x, **s, limit=limit) for x, s in enumerate(settings)])
    eligible = (either | first) - set(required) - set(forbidden)
    return {
        "or": either,
        "and": both,
        "phase2": best_flips(local, n, first, eligible, limit),
        "conflict": best_flips(local, n, both, either - both, limit),
    }
