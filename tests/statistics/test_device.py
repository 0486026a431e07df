"""Counting on a device: the same bits as the core, on a GPU and by the same code on the processor."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import mnlearn as mn
from mnlearn import _core
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.algorithms.screening import Screening
from mnlearn.data.dataset import Dataset
from mnlearn.errors import DeviceError, InputError, MissingDependencyError, UnsuitableError
from mnlearn.scores import MPL, PIC
from mnlearn.statistics import Counts, kernels
from mnlearn.statistics import gpu as device_counts
from mnlearn.statistics.gpu import DeviceCounts, bands, state_0_planes
from mnlearn.statistics.gpu_device import DeviceBits, device_errors, open_device
from mnlearn.statistics.gpu_pairs import PairFilter, improving, pair_cells

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-device")
torch.set_num_threads(1)  # the tests run in a process for every core
HAS_GPU = torch.cuda.is_available()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason="there is no GPU"))]
KERNELS = [kernels.g2(), kernels.chi2(), kernels.mi(), kernels.bayes(), kernels.dirichlet(), kernels.entropy()]


def codes(n: int, n_rows: int, seed: int) -> NDArray[np.uint8]:
    """Binary columns of any margins, some of them dependent, copied, negated or constant."""
    rng = np.random.default_rng(seed)
    found = (rng.random((n, n_rows)) < rng.random((n, 1))).astype(np.uint8)
    for v in range(4, n):
        if rng.random() < 0.5:
            mixed = found[v - 1] ^ (found[v - 2] & found[v - 4])
            found[v] = np.where(rng.random(n_rows) < 0.3, found[v], mixed)
    if n > 8:
        found[5], found[6], found[7], found[8] = found[3], 1 - found[3], 0, 1
    return found


def binary(n: int, n_rows: int, seed: int = 0) -> Dataset:
    return Dataset.from_codes(list(codes(n, n_rows, seed)), cards=[2] * n)


def on(device: str, data: Dataset, **memory: Any) -> DeviceBits:
    planes = _core.binary_planes(Counts(data)._store)
    assert planes is not None
    return DeviceBits(planes, n_variables=data.n_variables, n_rows=data.n_rows, device=device, **memory)


def products(data: Dataset) -> NDArray[np.int64]:
    """Rows with both states 0 of every pair, by the definition."""
    zeros = 1 - np.array(data.columns, dtype=np.int64)
    return np.asarray((zeros @ zeros.T)[np.triu_indices(data.n_variables, 1)])


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=15)
@given(
    n=st.integers(2, 300), n_rows=st.integers(1, 400), seed=st.integers(0, 99), small=st.booleans(), g2=st.booleans()
)
def test_all_that_may_reach_a_bar_passes(device: str, n: int, n_rows: int, seed: int, small: bool, g2: bool) -> None:
    data = binary(n, n_rows, seed)
    counts, bars = Counts(data), np.random.default_rng(seed).choice([2.0, 6.0, 30.0], n).astype(np.float32)
    values = counts.reduce_all(kernels.g2() if g2 else kernels.chi2())[0]
    x, y = np.triu_indices(n, 1)
    wanted = values >= np.minimum(bars[x], bars[y])
    bits = on(device, data, max_bytes=1 if small else None)
    found = PairFilter(bits, "g2" if g2 else "x2").survivors(range(n), bars, n * n)
    assert found is not None
    keys = found.xs.astype(np.int64) * n + found.ys
    assert (np.diff(keys) > 0).all()
    assert np.isin((x * n + y)[wanted], keys).all()
    table = dict(zip((x * n + y).tolist(), products(data).tolist(), strict=True))
    assert found.cells.tolist() == [table[key] for key in keys.tolist()]


def test_a_filter_lets_few_pairs_through_that_do_not_matter() -> None:
    data = Dataset.from_codes(
        list(np.random.default_rng(0).integers(0, 2, (400, 2000), dtype=np.uint8)), cards=[2] * 400
    )
    found = PairFilter(on("cpu", data)).survivors(range(400), np.full(400, 8.0, np.float32), 10**6)
    above = (Counts(data).reduce_all(kernels.g2())[0] >= 8.0).sum()
    assert found is not None
    assert above <= len(found.xs) <= 1.3 * above + 10


def test_more_survivors_than_there_is_room_for_are_none() -> None:
    data = binary(40, 100)
    assert PairFilter(on("cpu", data)).survivors(range(40), np.zeros(40, np.float32), 5) is None


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("first", [0, 3, 130])
def test_cells_of_all_pairs(device: str, first: int) -> None:
    data = binary(200, 333)
    bits = on(device, data)
    skipped = first * 200 - first * (first + 1) // 2
    assert pair_cells(bits, range(first, 200)).tolist() == products(data)[skipped:].tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [0, 1, 3, 6])
@pytest.mark.parametrize("kernel", [kernels.dirichlet(), kernels.dirichlet(2.0)])
def test_all_that_may_improve_a_blanket_passes(device: str, size: int, kernel: Any) -> None:
    n, data = 150, binary(150, 500)
    counts, rng = Counts(data), np.random.default_rng(size)
    xs = rng.permutation(n)[:40].astype(np.int32)
    others = [np.delete(np.arange(n), x) for x in xs]
    blankets = np.array([rng.permutation(ys)[:size] for ys in others], dtype=np.int32).reshape(40, size)
    sets = [frozenset(blanket.tolist()) for blanket in blankets]
    now = np.array([counts.local(kernel, int(x), z)[0] for x, z in zip(xs, sets, strict=True)]) + 1.0
    starts, ys = improving(on(device, data), xs, blankets, now, kernel.settings[0])
    passed = 0
    for k, (x, z) in enumerate(zip(xs.tolist(), sets, strict=True)):
        outside = np.array([y for y in range(n) if y != x and y not in z])
        scores = counts.reduce(kernel, x, outside, z)[0]
        some = ys[starts[k] : starts[k + 1]]
        assert np.isin(outside[scores > now[k]], some).all()
        assert (scores[np.isin(outside, some)] > now[k] - 0.5).all()
        passed += len(some)
    assert passed


def test_large_blankets_are_refused() -> None:
    with pytest.raises(InputError, match="at most 6 members; got 7"):
        improving(on("cpu", binary(20, 9)), np.zeros(1, np.int32), np.ones((1, 7), np.int32), np.zeros(1), 0.5)


# Counts with a device.


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("n", "n_rows"), [(2, 1), (3, 5), (129, 700), (300, 64)])
def test_numbers_have_the_bits_of_the_core(device: str, n: int, n_rows: int) -> None:
    data = binary(n, n_rows)
    plain, counts = Counts(data), DeviceCounts(data, device=device)
    for kernel in KERNELS:
        np.testing.assert_array_equal(counts.reduce_all(kernel), plain.reduce_all(kernel))
        np.testing.assert_array_equal(counts.reduce_pairs(kernel, range(1, n)), plain.reduce_pairs(kernel, range(1, n)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(
    "rule",
    [{"k": 3}, {"k": 10**6}, {"k": None, "threshold": 9.0}, {"k": 5, "statistic": "x2"}, {"k": 5, "statistic": "mi"}],
)
def test_a_screen_has_the_bits_of_the_core(device: str, constants: bool, rule: dict[str, Any]) -> None:
    data = Dataset.from_codes(list(codes(260, 300, 4)), cards=None if constants else [2] * 260)
    plain, found = Counts(data).screen(**rule), DeviceCounts(data, device=device).screen(**rule)
    for name in ("starts", "partners", "evidence"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))


def test_bands_and_too_many_survivors_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = binary(700, 90)
    whole = Counts(data).screen(4)
    monkeypatch.setattr(device_counts, "_PAIRS_OF_A_BAND", 1)
    monkeypatch.setattr(device_counts, "_MOST_SURVIVORS", 9000)
    found = DeviceCounts(data, device="cpu", max_memory=1).screen(4)
    np.testing.assert_array_equal(found.partners, whole.partners)


def test_a_threshold_that_nothing_misses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_counts, "_MOST_SURVIVORS", 10)
    with pytest.raises(InputError, match="threshold must leave at most 10 pairs"):
        DeviceCounts(binary(200, 90), device="cpu").screen(None, threshold=0.0)


@given(n=st.integers(1, 3_000_000))
def test_bands_cover_all_variables_from_tile_to_tile(n: int) -> None:
    found = list(bands(n))
    assert found[0].start == 0
    assert found[-1].stop == n
    assert all(a.stop == b.start and b.start % 128 == 0 for a, b in pairwise(found))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("screening", [Screening(k=5), Screening(k=2, rescans=False)])
@pytest.mark.parametrize("score", [MPL, PIC])
def test_a_search_among_candidates_is_that_of_the_core(device: str, screening: Screening, score: Any) -> None:
    data = binary(200, 400)
    plain, found = (
        TwoPhase(candidates=screening).learn(score(counts))
        for counts in (Counts(data), DeviceCounts(data, device=device))
    )
    assert found.graph == plain.graph
    assert found.support == plain.support


def test_planes_of_codes_are_those_of_the_core() -> None:
    data = binary(19, 130)
    counts = Counts(data)
    planes = _core.binary_planes(counts._store)
    assert planes is not None
    np.testing.assert_array_equal(state_0_planes(data.columns)[:2], planes[:2])


# What a device is not for.


def test_variables_with_more_states_or_gaps_and_rows_with_repeats_are_refused() -> None:
    with pytest.raises(UnsuitableError, match="needs binary variables; 'x1' has 3 states"):
        DeviceCounts(Dataset.from_codes([[0, 1, 0], [0, 1, 2]]), device="cpu")
    gaps = mn.read({"a": [0, 1, None], "b": [0, 1, 1]}, missing="testwise")
    with pytest.raises(UnsuitableError, match="'a' has missing values"):
        DeviceCounts(gaps, device="cpu")
    with pytest.raises(UnsuitableError, match="rows without repeats"):
        DeviceCounts(binary(4, 200).compact(), device="cpu")


@pytest.mark.parametrize("name", ["gpu", "cpu:1", "cuda:", "cuda:x", 3, None, ""])
def test_names_of_devices_are_checked(name: Any) -> None:
    with pytest.raises(InputError, match="device must be 'cuda'"):
        open_device(name)


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU")
def test_a_missing_gpu_is_named_with_the_way_out() -> None:
    with pytest.raises(DeviceError, match="finds no GPU"):
        mn.learn({"a": [0, 1] * 9, "b": [0, 1] * 9}, "mpl", device="cuda")


def test_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingDependencyError, match="needs PyTorch, which is not installed"):
        open_device("cpu")


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (RuntimeError("CUDA error: gone.\nmore"), DeviceError, "cuda failed: CUDA error: gone"),
        (torch.OutOfMemoryError("no room"), DeviceError, "memory of cuda is not enough: no room"),
        (RuntimeError("other"), RuntimeError, "other"),
    ],
)
def test_a_lost_device_and_too_little_memory_are_named(raised: Exception, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words), device_errors("cuda"):
        raise raised


# Learning with a device.


@pytest.mark.parametrize("method", ["mpl", "pc", "gsmn*", "sep", "aracne"])
def test_learn_gives_the_same_network(method: str) -> None:
    columns = {f"v{k}": column for k, column in enumerate(codes(30, 300, 2))}
    if method == "aracne":  # reads the tables itself
        with pytest.raises(InputError, match="device is for tables of binary variables; it does not help this method"):
            mn.learn(columns, method, device="cpu")
        return
    plain, found = mn.learn(columns, method), mn.learn(columns, method, device="cpu")
    assert found.graph == plain.graph
    assert found.result.support == plain.result.support


def test_continuous_variables_and_a_client_are_refused() -> None:
    numbers = np.random.default_rng(0).normal(size=(3, 50))
    with pytest.raises(InputError, match="it does not help continuous variables"):
        mn.learn(dict(zip("abc", numbers, strict=True)), "pc", device="cpu")
    with pytest.raises(InputError, match="device and client exclude each other"):
        mn.learn({"a": [0, 1] * 9, "b": [0, 1] * 9}, "pc", device="cpu", client=object())
