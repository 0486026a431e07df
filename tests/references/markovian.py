"""New rows from old ones, one value at a time, with NumPy's own Philox."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs import Graph

TOGETHER = 64


def thresholds(
    graph: Graph, old: NDArray[np.uint8], cards: tuple[int, ...], x: int, around: list[int], weighing: str, b: float
) -> list[int]:
    """The shares of 2^32 that end the states of x, when its neighbours have the values `around`."""
    others = sorted(graph.neighbors(x))
    alike = [row for row in old.tolist() if [row[y] for y in others] == around]
    counts = [sum(row[x] == k for row in alike) for k in range(cards[x])]
    whole = len(old) if weighing == "joint" else len(alike)
    if not alike:
        return [int((k + 1) * 2.0**32 / cards[x]) for k in range(cards[x] - 1)]
    if weighing == "plain":
        weights = [float(count) for count in counts]
    else:
        weights = [exp(b * ((count - max(counts)) / whole)) for count in counts]
    sums, total = [], 0.0
    for weight in weights:
        total += weight
        sums.append(total)
    return [int(min(s / total * 2.0**32, 2.0**32 - 1)) for s in sums[:-1]]


def bits(
    graph: Graph, old: NDArray[np.uint8], n_new: int, key: int, n_updates: int, weighing: str, b: float
) -> NDArray[np.uint8]:
    """Binary rows: up to 512 together, random numbers from their highest bit on until every row is decided."""
    n, rows, cards = graph.n_variables, [], (2,) * graph.n_variables
    words = next((w for w in (1, 2, 4) if 64 * w >= n_new), 8)
    for block in range(-(-n_new // (64 * words))):
        stream = np.random.Philox(key=np.array([key, block], dtype=np.uint64))
        seeds = [[int(stream.random_raw()) for _ in range(words)] for _ in range(4)]
        generators = [[seeds[k][w] for k in range(4)] for w in range(words)]

        def reached(ends: list[int], generators: list[list[int]] = generators) -> list[int]:
            numbers = [0] * len(ends)
            for k in range(31, -1, -1):
                drawn = [_xoshiro(generator) for generator in generators]
                for row in range(len(ends)):
                    numbers[row] |= (drawn[row // 64] >> row % 64 & 1) << k
                if all(number >> k != end >> k for number, end in zip(numbers, ends, strict=True)):
                    break
            return [int(number >= end) for number, end in zip(numbers, ends, strict=True)]

        states = [reached([2**31] * 64 * words) for _ in range(n)]
        for _ in range(n_updates):
            x = (int(stream.random_raw()) >> 32) * n >> 32
            around = [[states[y][row] for y in sorted(graph.neighbors(x))] for row in range(64 * words)]
            states[x] = reached([thresholds(graph, old, cards, x, values, weighing, b)[0] for values in around])
        rows += [[states[x][row] for x in range(n)] for row in range(64 * words)]
    return np.array(rows[:n_new], dtype=np.uint8).reshape(n_new, n)


def _xoshiro(s: list[int]) -> int:
    """xoshiro256++, in place."""
    mask = 2**64 - 1

    def rotated(word: int, by: int) -> int:
        return (word << by | word >> 64 - by) & mask

    number, shifted = (rotated((s[0] + s[3]) & mask, 23) + s[0]) & mask, s[1] << 17 & mask
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= shifted
    s[3] = rotated(s[3], 45)
    return number


def markovian(
    graph: Graph, old: NDArray[np.uint8], n_new: int, key: int, cards: tuple[int, ...], n_updates: int, weighing: str,
    b: float,
) -> NDArray[np.uint8]:  # fmt: skip
    """Block after block, row after row."""
    if all(card == 2 for card in cards):
        return bits(graph, old, n_new, key, n_updates, weighing, b)
    n, rows = graph.n_variables, []
    for block in range(-(-n_new // TOGETHER)):
        stream = np.random.Philox(key=np.array([key, block], dtype=np.uint64))

        def numbers(stream: np.random.Philox = stream) -> tuple[int, list[int]]:
            shared, *raw = (int(number) for number in stream.random_raw(1 + TOGETHER // 4))
            high = [number >> 16 * quarter & 0xFFFF for quarter in range(4) for number in raw]
            return shared >> 32, [bits << 16 | shared & 0xFFFF for bits in high]

        states = [[number * cards[x] >> 32 for number in numbers()[1]] for x in range(n)]
        for _ in range(n_updates):
            choice, drawn = numbers()
            x = choice * n >> 32
            for lane in range(TOGETHER):
                around = [states[y][lane] for y in sorted(graph.neighbors(x))]
                ends = thresholds(graph, old, cards, x, around, weighing, b)
                states[x][lane] = sum(drawn[lane] >= end for end in ends)
        rows += [[states[x][lane] for x in range(n)] for lane in range(TOGETHER)]
    return np.array(rows[:n_new], dtype=np.uint8).reshape(n_new, n)
