"""The slow, obvious twins of the native kernels: dictionaries, loops, the formulas as the papers print them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset

Table = Mapping[tuple[int, int], int]  # (state of x, state of y) -> count, occupied cells only
Strata = Mapping[tuple[int, ...], Table]  # configuration of z, in ascending order of its variables -> table

mpmath.mp.dps = 60


def strata(data: Dataset, x: int, y: int | None, z: Sequence[int]) -> Strata:
    """Count (x, y) within each observed configuration of z; y = None is a constant."""
    found: dict[tuple[int, ...], dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    for row in range(data.n_records):
        key = tuple(int(data.columns[v][row]) for v in sorted(z))
        cell = (int(data.columns[x][row]), 0 if y is None else int(data.columns[y][row]))
        found[key][cell] += 1 if data.repeats is None else int(data.repeats[row])
    return {key: dict(found[key]) for key in sorted(found)}


def margins(table: Table) -> tuple[dict[int, int], dict[int, int], int]:
    """Row sums, column sums, total."""
    rows: dict[int, int] = defaultdict(int)
    columns: dict[int, int] = defaultdict(int)
    for (a, b), count in table.items():
        rows[a] += count
        columns[b] += count
    return rows, columns, sum(rows.values())


def degrees(tables: Strata, rx: int, ry: int, n_configurations: int, rule: str) -> float:
    """Degrees of freedom by the three rules of NOTES."""
    if rule == "adjusted":
        return float(sum((len(margins(t)[0]) - 1) * (len(margins(t)[1]) - 1) for t in tables.values()))
    return float((rx - 1) * (ry - 1) * (len(tables) if rule == "observed" else n_configurations))


def chi2(tables: Strata) -> Any:
    """Σ (o − e)² / e over all cells of the observed rows and columns, empty ones included."""
    total = mpmath.mpf(0)
    for table in tables.values():
        rows, columns, n = margins(table)
        for a, nx in rows.items():
            for b, ny in columns.items():
                expected = mpmath.mpf(nx) * ny / n
                total += (table.get((a, b), 0) - expected) ** 2 / expected
    return total


def g2(tables: Strata) -> Any:
    """2 Σ o log(o / e)."""
    total = mpmath.mpf(0)
    for table in tables.values():
        rows, columns, n = margins(table)
        for (a, b), count in table.items():
            total += 2 * count * mpmath.log(mpmath.mpf(count) * n / (mpmath.mpf(rows[a]) * columns[b]))
    return total


def bayes(
    tables: Strata, rx: int, ry: int, n_configurations: int, priors: tuple[float, float, float], prior: float
) -> tuple[Any, Any]:
    """log P(CI | D) and log P(not CI | D) by Eq. 16-20 of [BJP18, App. C], literally, in 60 digits."""
    alpha, beta, gamma = (mpmath.mpf(p) for p in priors)
    p_ci = mpmath.mpf(prior)
    p_k = mpmath.power(p_ci, mpmath.mpf(1) / n_configurations)
    q_k = 1 - p_k

    def likelihood(counts: Sequence[int], cell: Any, n_cells: int) -> Any:
        total = n_cells * cell
        value = mpmath.gamma(total) / mpmath.gamma(total + sum(counts))
        for count in counts:
            value *= mpmath.gamma(cell + count) / mpmath.gamma(cell)
        return value

    product_g, product_pg, product_mixed = mpmath.mpf(1), mpmath.mpf(1), mpmath.mpf(1)
    for table in tables.values():
        rows, columns, _ = margins(table)
        g = likelihood(list(rows.values()), alpha, rx) * likelihood(list(columns.values()), beta, ry)  # Eq. 18
        h = likelihood(list(table.values()), gamma, rx * ry)  # Eq. 20
        product_g *= g  # Eq. 17
        product_pg *= p_k * g
        product_mixed *= p_k * g + q_k * h
    empty = n_configurations - len(tables)  # g = h = 1 there
    product_pg *= mpmath.power(p_k, empty)
    dependent = (product_mixed - product_pg) / (1 - p_ci)  # Eq. 19, brackets put back
    posterior = 1 / (1 + (1 - p_ci) / p_ci * dependent / product_g)  # Eq. 16
    return mpmath.log(posterior), mpmath.log(1 - posterior) if posterior < 1 else -mpmath.inf


def dirichlet(tables: Strata, rx: int, cell: float) -> Any:
    """Σ over configurations u of (z, y) of log [ Γ(A) / Γ(A + n_u) Π_a Γ(a + n_ua) / Γ(a) ]  [MPL17, Eq. 6]."""
    total, a = mpmath.mpf(0), mpmath.mpf(cell)
    for table in tables.values():
        for state, n in margins(table)[1].items():
            total += mpmath.loggamma(rx * a) - mpmath.loggamma(rx * a + n)
            total += sum(mpmath.loggamma(a + c) - mpmath.loggamma(a) for (_, b), c in table.items() if b == state)
    return total


def entropy(tables: Strata) -> Any:
    """H(x | z, y) = − Σ p(x, u) log p(x | u), in nats."""
    n = sum(margins(t)[2] for t in tables.values())
    total = mpmath.mpf(0)
    for table in tables.values():
        columns = margins(table)[1]
        for (_, b), count in table.items():
            total -= mpmath.mpf(count) / n * mpmath.log(mpmath.mpf(count) / columns[b])
    return total


def n_configurations(data: Dataset, z: Sequence[int]) -> int:
    """All configurations of z, by declared cardinalities."""
    return prod(data.cards[v] for v in z)


def random_dataset(
    rng: np.random.Generator, *, n_rows: int, cards: Sequence[int], repeats: bool = False, dependence: float = 0.5
) -> Dataset:
    """Columns that follow one another with some probability, some states never occurring."""
    columns: list[NDArray[np.int64]] = []
    for j, card in enumerate(cards):
        column = rng.integers(0, max(1, card - int(rng.integers(0, 2))), n_rows)
        if j and dependence:
            follow = rng.random(n_rows) < dependence
            column = np.where(follow, columns[-1] % card, column)
        columns.append(column)
    return Dataset.from_codes(columns, cards=cards, repeats=rng.integers(1, 5, n_rows) if repeats else None)
