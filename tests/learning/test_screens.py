"""mn.screen: any source, any number of threads, workers and parts of a run give the same pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.statistics import screens as screening
from mnlearn.statistics.stored import StoredLists


def columns(n: int = 60, n_rows: int = 300, states: int = 2) -> dict[str, list[int]]:
    rng = np.random.default_rng([n, n_rows, states])
    codes = rng.integers(0, states, (n, n_rows))
    codes[1::2] = np.where(rng.random((n // 2, n_rows)) < 0.5, codes[: n // 2 * 2 : 2], codes[1::2])
    return {f"v{k}": column.tolist() for k, column in enumerate(codes)}


def same(one: mn.Screened, other: mn.Screened) -> bool:
    arrays = [(getattr(one.partners, a), getattr(other.partners, a)) for a in ("starts", "partners", "evidence")]
    return one.names == other.names and all(a.tobytes() == b.tobytes() for a, b in arrays)


def test_sources_and_threads(tmp_path: Path) -> None:
    data = columns(states=3)
    want = mn.screen(data, k=4, n_jobs=1)
    mn.pack(data, tmp_path / "data.mnpack")
    assert same(mn.screen(tmp_path / "data.mnpack", k=4), want)
    for n_jobs in (2, 8):
        assert same(mn.screen(data, k=4, n_jobs=n_jobs), want)
    assert want.least == pytest.approx(screening.chi_square_quantile(8 / 60))


def test_workers_give_the_same_bits(client: Any, tmp_path: Path) -> None:
    mn.pack(columns(states=3), tmp_path / "data.mnpack")
    assert same(mn.screen(tmp_path / "data.mnpack", k=4, client=client), mn.screen(columns(states=3), k=4))


class Stopping:
    """Monitor that cancels after some calls."""

    def __init__(self, after: int) -> None:
        self.left = after

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Ignore it."""

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(("continuous", "after"), [(False, 8), (True, 8), (True, 15), (True, 40)])
def test_resumed_screens_are_the_same(
    continuous: bool, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screening, "PAIRS_BETWEEN_LOOKS", 64)
    monkeypatch.setattr("mnlearn.statistics.screens._BLOCK_VALUES", 1)
    monkeypatch.setattr(StoredLists, "PAIRS_A_PART", 1)
    data: dict[str, Any] = columns(n=200)
    if continuous:
        data = {name: np.random.default_rng(k).normal(size=90) for k, name in enumerate(data)}
    want = mn.screen(data, k=3, transform=None)
    stopped = mn.screen(data, k=3, transform=None, checkpoint=tmp_path, monitor=Stopping(after))
    assert not stopped.complete
    again = mn.screen(data, k=3, transform=None, checkpoint=tmp_path, resume=True, n_jobs=2)
    assert again.complete
    assert same(again, want)
    assert same(mn.screen(data, k=3, transform=None, checkpoint=tmp_path, resume=True), want)
    with pytest.raises(InputError, match="checkpoint"):
        mn.screen(data, k=4, transform=None, checkpoint=tmp_path, resume=True)


def test_reading_options() -> None:
    data = columns()
    assert mn.screen(data, k=2, columns=["v0", "v1", "v5"]).names == ("v0", "v1", "v5")
    rng = np.random.default_rng(0)
    mixed = {"a": rng.normal(size=100), "b": rng.normal(size=100)}
    assert mn.screen(mixed, discretize="frequency", bins=3, threshold=0).n_pairs == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"k": 0}, "k must be"),
        ({"k": None}, "threshold must be given"),
        ({"alpha": 0.1}, "no setting 'alpha'"),
        ({"device": "abacus"}, "device must be"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"monitor": 3}, "monitor"),
        ({"resume": True}, "resume"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mn.screen(columns(), **arguments)


def test_variables_of_several_kinds_are_refused() -> None:
    data = {"a": ["x", "y"] * 30, "b": np.random.default_rng(0).normal(size=60)}
    with pytest.raises(UnsuitableError, match="all categorical or all continuous"):
        mn.screen(data)
