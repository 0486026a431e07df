"""Counting a packed file in place: the bits of the same data in memory, and no second copy of them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mnlearn import _core
from mnlearn.data import Dataset, pack, read
from mnlearn.errors import FileError, InputError
from mnlearn.statistics import Counts, kernels


def data_of(n_rows: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    cards = [2, 3, 4, 2, 9, 12, 300]
    hidden = rng.integers(0, 2, n_rows)
    columns = [np.where(rng.random(n_rows) < 0.4, hidden, rng.integers(0, card, n_rows)) for card in cards]
    return Dataset.from_codes(columns, cards=cards)


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("way", ["", "planes", "columns", "split_planes", "keys"])
def test_scans_of_a_pack_have_the_same_bits(
    tmp_path: Path, way: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNLEARN_CORE", path)
    data = data_of(3001)
    held, mapped = Counts(data), Counts(pack(data, tmp_path / "t.mnpack"))
    for counts in (held, mapped):
        _core.force(counts._store, way)
    for kernel in (kernels.chi2(), kernels.bayes(), kernels.entropy()):
        assert np.array_equal(held.reduce_all(kernel), mapped.reduce_all(kernel))
        for z in ((), (1,), (1, 2), (2, 4)):
            ys = [y for y in range(1, 7) if y not in z]
            one, other = (counts.reduce(kernel, 0, ys, frozenset(z)) for counts in (held, mapped))
            assert np.array_equal(one, other)


def test_planes_are_not_built_again(tmp_path: Path) -> None:
    data = data_of(20_000)
    held, mapped = Counts(data), Counts(pack(data, tmp_path / "t.mnpack"))
    for counts in (held, mapped):
        _core.force(counts._store, "split_planes")
        counts.reduce(kernels.mi(), 0, [3, 4], frozenset({1}))
    planes = 2 * 8 * -(-20_000 // 64) * 8  # 14 planes in two groups of eight
    assert held.nbytes - mapped.nbytes == planes


def test_some_columns_of_a_pack_are_counted_by_their_own_planes(tmp_path: Path) -> None:
    data = data_of(5000)
    mapped = pack(data, tmp_path / "t.mnpack")
    for chosen in ([3, 0, 1], [0, 1, 2], [3, 4]):
        one, other = Counts(data.select(chosen)), Counts(mapped.select(chosen))
        for x, y in combinations(range(len(chosen)), 2):
            kernel = kernels.g2()
            assert np.array_equal(one.reduce(kernel, x, [y], frozenset()), other.reduce(kernel, x, [y], frozenset()))


def test_repeats_are_counted_from_the_file(tmp_path: Path) -> None:
    data = data_of(3000).select([0, 1, 2]).compact()
    mapped = pack(data, tmp_path / "t.mnpack")
    assert mapped.repeats is not None
    one, other = (Counts(d).reduce(kernels.chi2(), 0, [1, 2], frozenset()) for d in (data, mapped))
    assert np.array_equal(one, other)


def test_an_altered_pack_is_never_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.data.packs.AT_ONCE", 0)
    pack(data_of(500), tmp_path / "t.mnpack")
    content = bytearray((tmp_path / "t.mnpack").read_bytes())
    content[4096 + 100] ^= 1
    (tmp_path / "t.mnpack").write_bytes(content)
    with pytest.raises(FileError, match=r"was altered or damaged in column 0"):
        Counts(read(tmp_path / "t.mnpack"))


def test_a_ceiling_of_memory_changes_no_bits() -> None:
    rng = np.random.default_rng(3)
    data = Dataset.from_codes(rng.integers(0, 4, (30_000, 200)))
    free, bound = Counts(data), Counts(data, max_memory=1 << 22)
    for counts in (free, bound):
        _core.force(counts._store, "sorted_columns")
    asked = [(0, list(range(5, 200)), frozenset({1, 2})), (3, list(range(5, 200)), frozenset({1, 2, 4}))]
    for x, ys, z in asked:
        assert np.array_equal(free.reduce(kernels.bayes(), x, ys, z), bound.reduce(kernels.bayes(), x, ys, z))
    assert bound.nbytes < free.nbytes
    with pytest.raises(InputError, match="max_memory must be a whole number, at least 1048576; got 5"):
        Counts(data, max_memory=5)
