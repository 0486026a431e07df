"""How much of the machine a piece of work may use: its share of the cores, beside other jobs of `run`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral
from typing import Generic, TypeVar

from mnlearn.errors import whole_number

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_JOBS = 4096
_share: ContextVar[int] = ContextVar("mnlearn_share", default=1)  # how many work beside us on the cores there are


def cores() -> int:
    """How many cores this code may use: those the process is bound to, shared with the jobs of `run` beside it."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, bound // _share.get())


def job_count(n_jobs: int | None) -> int:
    """How many jobs a wish means: None and −1 are all cores; inside a job of `run`, at most its share of them."""
    wish: object = n_jobs
    if wish is None or (isinstance(wish, Integral) and wish == -1):
        return cores()
    wanted = min(whole_number("n_jobs", wish, least=1, way_out="Leave it out for all cores."), MOST_JOBS)
    return wanted if _share.get() == 1 else min(wanted, cores())


def beside() -> int:
    """How many work on the cores there are, this code among them."""
    return _share.get()


@dataclass(frozen=True)
class Shared(Generic[Item, Answer]):
    """The function, told how many work beside it."""

    function: Callable[[Item], Answer]
    share: int

    def __call__(self, item: Item) -> Answer:
        token = _share.set(self.share)
        try:
            return self.function(item)
        finally:
            _share.reset(token)
