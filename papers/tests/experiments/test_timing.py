"""Measuring, by a clock that only the works move on: what is looked at, never how fast anything is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from threading import get_ident

import pytest

from mnlearn_papers import speed


class Clock:
    """Clock that stands still between the calls."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: Iterator[float]) -> Callable[[], None]:
        """Work that takes so long, one after the other."""

        def go_on() -> None:
            self.now += next(seconds)

        return go_on


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for name in ("perf_counter", "thread_time"):
        monkeypatch.setattr(f"mnlearn_papers.speed.time.{name}", clock)
    return clock


def test_cpu_times_are_those_of_one_call_whatever_the_batch(clock: Clock) -> None:
    short, long = speed.cpu_times(clock.work(repeat(1e-5)), clock.work(repeat(4e-3)))
    assert short == pytest.approx(1e-5)
    assert long == pytest.approx(4e-3)


def test_slow_spells_and_the_first_call_are_not_looked_at(clock: Clock) -> None:
    spells = chain([1.0], chain.from_iterable(repeat([1e-3] * 9 + [5e-2])))
    (taken,) = speed.cpu_times(clock.work(spells), budget=1.0)
    assert taken == pytest.approx(1e-3)


def test_the_clock_takes_the_least_of_many_turns(clock: Clock) -> None:
    first, second = clock.work(iter([9.0, 0.02, 0.004])), clock.work(iter([0.0001, 0.001, 0.03]))
    assert speed.clock_times(first, second, turns=2) == pytest.approx([0.004, 0.001])


def test_two_callers_are_two_threads() -> None:
    who: list[int] = []
    speed.two_callers(lambda: speed.often(lambda: who.append(get_ident())))
    assert len(who) == 2 * speed.OFTEN
    assert len(set(who)) == 2
