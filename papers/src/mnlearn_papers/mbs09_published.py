"""The figures of Tables 1, 2 and 3 of [MBS09], beside every way in which `mbs09.py` draws their networks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from math import nan
from statistics import fmean

from mnlearn_papers.reproduction import Key, Published

SIZES = (100, 400)
"""Numbers of rows; the paper does not give its own."""

PUBLISHED = """
G50 E SPN 0.550 0.418 0.533 0.516 0.417 0.463
G50 E 1N 0.661 0.440 0.587 0.560 0.432 0.836
G50 E 2N 0.589 0.444 0.532 0.510 0.438 0.562
G50 E 3C 0.800 0.400 0.792 0.784 0.250 0.866
G50 E 4C 0.645 0.440 0.630 0.580 0.367 0.721
G50 V SPN 0.308 0.345 0.264 0.262 0.292 0.379
G50 V 1N 0.352 0.426 0.285 0.276 0.416 0.231
G50 V 2N 0.335 0.361 0.273 0.261 0.353 0.340
G50 V 3C 0.328 0.251 0.284 0.287 0.233 0.271
G50 V 4C 0.324 0.246 0.281 0.275 0.230 0.260
ECOLI1 E SPN 0.747 0.753 0.703 0.759 0.729 0.729
ECOLI1 E 1N 0.751 0.776 0.690 0.778 0.705 0.700
ECOLI1 E 2N 0.726 0.752 0.679 0.749 0.724 0.719
ECOLI1 V SPN 0.514 0.567 0.303 0.354 0.520 0.522
ECOLI1 V 1N 0.608 0.667 0.326 0.396 0.627 0.639
ECOLI1 V 2N 0.591 0.622 0.308 0.376 0.585 0.594
"""
"""Table 1: data set, score and kind; MBS, ARACNE, ORDER, SPCAND, MBOR, GGLAS."""

_COLUMNS = (("mbs", "mbs-ebic"), ("aracne",), ("order",), ("spcand",), ("mbor", "l1mb-or"), ("gglas", "lasso"))

PUBLISHED_WINS = """
G50 3/6 0/5 2/5 0/9 2/3 3/7 2/2
G75 0/3 0/5 0/5 0/5 0/5 0/10 3/4
ECOLI1 3/0 0/3 0/3 2/3 1/1 2/2 2/2
ECOLI2 0/0 0/6 0/6 0/6 0/6 0/6 -
"""
"""Table 2 without ORDMC: how often MBS loses / wins against each of `RIVALS`."""

RIVALS = ("aracne", "fulldag", "order", "spcand", "mband", "mbor", "gglas")

PUBLISHED_PRUNING = """
E SPN 0.48 0.458 0.504 0.349 0.404 0.435
E 1N 0.516 0.523 0.561 0.467 0.523 0.567
E 2N 0.466 0.485 0.538 0.424 0.474 0.486
E 3C 0.465 0.414 0.556 0.498 0.481 0.612
E 4C 0.508 0.463 0.532 0.458 0.447 0.595
V SPN 0.27 0.27 0.348 0.269 0.299 0.257
V 1N 0.295 0.328 0.413 0.288 0.331 0.256
V 2N 0.274 0.296 0.367 0.27 0.287 0.247
V 3C 0.274 0.316 0.318 0.247 0.241 0.241
V 4C 0.256 0.276 0.327 0.274 0.22 0.279
"""
"""Table 3: G50 and G75, each pruned by SPCAND, MBOR and MBS."""

VARIANTS = ("", " log", " log noise")  # the ways in which a network of the paper is drawn here


def _everywhere(network: str, learner: str, number: float) -> Iterator[tuple[Key, Published]]:
    """A published figure beside every way to draw its network; of one data set, with a deviation that is not given."""
    for variant, size in product(VARIANTS, SIZES):
        yield Key(f"{network}{variant}", size, learner), Published(number, nan, 1)


def table_1() -> Iterator[tuple[Key, Published]]:
    """The figures by data set, learner and score."""
    for line in PUBLISHED.strip().split("\n"):
        network, score, kind, *numbers = line.split()
        for learners, number in zip(_COLUMNS, numbers, strict=True):
            for learner in learners:
                yield from _everywhere(network, f"{learner} {score} {kind}", float(number))


def table_2() -> Iterator[tuple[Key, Published]]:
    """The counts by data set, rival, and losses or wins."""
    for line in PUBLISHED_WINS.strip().split("\n"):
        network, *cells = line.split()
        for rival, cell in zip(RIVALS, cells, strict=True):
            for name, number in zip(("losses", "wins"), cell.split("/"), strict=False):
                for test in ("", " by settings") if number.isdecimal() else ():
                    yield from _everywhere(network, f"{rival} {name}{test}", float(number))


def table_3() -> Iterator[tuple[Key, Published]]:
    """The figures by data set, pruning and score."""
    for line in PUBLISHED_PRUNING.strip().split("\n"):
        score, kind, *numbers = line.split()
        for (network, learner), number in zip(product(("G50", "G75"), ("spcand", "l1mb", "mbs")), numbers, strict=True):
            yield from _everywhere(network, f"{learner} {score} {kind}", float(number))


def with_means(figures: Iterable[tuple[Key, Published]]) -> dict[Key, Published]:
    """The figures, and "LEARNER mean E" and "LEARNER mean V", the means over the kinds of subgraph."""
    found, kinds = dict(figures), defaultdict[Key, list[float]](list)
    for key, figure in found.items():
        learner, letter, _kind = key.learner.split()
        kinds[key._replace(learner=f"{learner} mean {letter}")].append(figure.mean)
    return found | {key: Published(fmean(numbers), nan, 1) for key, numbers in kinds.items()}
