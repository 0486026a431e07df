"""The ways of counting: each one forced gives the same bits, and the cheapest is taken where they cross."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.protocols import Kernel
from mnlearn.statistics import Counts, kernels

from references import counts as reference

WAYS = ("", "split_planes", "split_columns", "sorted_columns", "keys", "planes", "columns", "alone")


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("cards", [(2,), (2, 3, 9, 2, 4)])
def test_every_way_of_counting_gives_the_same_bits(
    path: str, cards: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From no condition to many, few y and many, more rows than a row of bits; z with a state that never occurs."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(len(cards))
    data = reference.random_dataset(rng, n_rows=450, cards=[cards[k % len(cards)] for k in range(150)])
    counts = Counts(data)
    for z in (frozenset[int](), frozenset({1}), frozenset({2, 7}), frozenset(range(1, 6))):
        for ys in ([9], [8, 100, 149], [y for y in range(6, 150) if y not in z]):
            for kernel in (kernels.g2(), kernels.bayes(), Kernel("first_cell", ("rows",))):
                answers = set()
                for way in WAYS:
                    _core.force(counts._store, way)
                    answers.add(counts.reduce(kernel, 0, ys, z).tobytes())
                assert len(answers) == 1


@pytest.mark.parametrize("path", _core.levels())
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.97])
@pytest.mark.parametrize("in_runs", [False, True])
def test_rows_are_listed_from_sets_of_any_density(
    path: str, share: float, in_runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of a set with no row, a few, all of them; sorted data have words that are unlike the average."""
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(5)
    codes = (rng.random((70, 700)) < share).astype(np.uint8)
    counts = Counts(Dataset.from_codes(list(np.sort(codes, axis=1) if in_runs else codes), cards=[2] * 70))
    for z in (frozenset({1}), frozenset({1, 2, 3})):
        _core.force(counts._store, "alone")
        expected = counts.reduce(kernels.g2(), 0, range(4, 70), z)
        _core.force(counts._store, "split_columns")
        assert counts.reduce(kernels.g2(), 0, range(4, 70), z).tobytes() == expected.tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cards", [(2,), (2, 3, 12, 2, 1)])
def test_the_order_of_the_candidates_only_orders_the_answers(way: str, cards: tuple[int, ...]) -> None:
    """In any order, twice, with variables among them that no plane is kept for: more than one block of columns."""
    rng = np.random.default_rng(7)
    counts = Counts(reference.random_dataset(rng, n_rows=200, cards=[cards[k % len(cards)] for k in range(700)]))
    _core.force(counts._store, way)
    for z in (frozenset[int](), frozenset({1, 3}), frozenset({1, 3, 6, 8})):
        ys = np.arange(10, 700)
        in_order = counts.reduce(kernels.g2(), 0, ys, z)
        for chosen in (rng.permutation(len(ys)), np.arange(len(ys))[::-1], np.array([5, 5, 600, 2, 600])):
            assert counts.reduce(kernels.g2(), 0, ys[chosen], z).tobytes() == in_order[:, chosen].tobytes()


@pytest.mark.parametrize("size_z", [0, 3, 16, 17, 30])
def test_one_bad_candidate_among_many_is_refused(size_z: int) -> None:
    counts = Counts(reference.random_dataset(np.random.default_rng(0), n_rows=20, cards=[2] * 60))
    good, z = list(range(31, 60)), frozenset(range(1, 1 + size_z))
    counts.reduce(kernels.g2(), 0, good, z)
    for bad in (*z, 0, 60, 2**31 - 1, -1, -(2**31)):
        rule = "z must not contain y" if bad in z else "y must differ from x" if bad == 0 else "y must be the index"
        for ys in ([bad, *good], [*good, bad], np.array([*good[:9], bad, *good[9:]], dtype=np.int32)):
            with pytest.raises(InputError, match=f"{rule}.*got .*{bad}"):
                counts.reduce(kernels.g2(), 0, ys, z)


# How many y, and up to which |z| each way is chosen, |z| rising from 0 to 8: docs/engine.md. Binary, 520 variables.
CROSSOVERS: dict[tuple[str, int], dict[int, dict[str, int]]] = {
    ("avx512", 8000): {
        1: {"planes": 0, "split_planes": 3, "keys": 8},
        6: {"planes": 0, "split_planes": 4, "keys": 8},
        64: {"planes": 0, "split_planes": 3, "split_columns": 5, "sorted_columns": 8},
        500: {"planes": 0, "split_columns": 5, "sorted_columns": 8},
    },
    ("avx2", 8000): {
        1: {"planes": 0, "split_planes": 3, "keys": 8},
        6: {"planes": 0, "split_planes": 3, "keys": 8},
        64: {"planes": 0, "split_planes": 3, "sorted_columns": 8},
        500: {"planes": 0, "split_columns": 2, "sorted_columns": 8},
    },
    ("portable", 8000): {
        1: {"planes": 0, "keys": 8},
        6: {"planes": 0, "split_planes": 1, "keys": 8},
        64: {"planes": 0, "split_columns": 1, "sorted_columns": 8},
        500: {"planes": 0, "split_columns": 2, "sorted_columns": 8},
    },
}


@pytest.mark.parametrize(("path", "n_rows"), [key for key in CROSSOVERS if key[0] in _core.levels()])
def test_the_cheapest_way_changes_where_the_documents_say(
    path: str, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(0)
    data = Dataset.from_codes([rng.integers(0, 2, n_rows) for _ in range(520)], cards=[2] * 520)
    counts = Counts(data, n_jobs=1)
    for n_ys, ways in CROSSOVERS[path, n_rows].items():
        chosen = [_core.way_of(counts._store, 0, range(20, 20 + n_ys), range(1, 1 + k)) for k in range(9)]
        assert {way: max(k for k in range(9) if chosen[k] == way) for way in chosen} == ways
        assert len(dict.fromkeys(chosen)) == len([k for k in range(9) if k == 0 or chosen[k] != chosen[k - 1]])


def costs_of(
    counts: Counts, ys: range, z: frozenset[int], constants: dict[str, float] | None = None
) -> dict[str, float]:
    """Return the costs of the model, with the constants of the code path or with given ones."""
    return _core.costs_of(counts._store, 0, ys, z, constants or _core.cost_constants(counts.code_path))


@pytest.fixture(scope="module", params=_core.levels())
def binary_counts(request: pytest.FixtureRequest) -> Counts:
    """1,100 binary variables, 2,000 rows: three blocks of columns."""
    rng = np.random.default_rng(0)
    data = Dataset.from_codes(list(rng.integers(0, 2, (1100, 2000), dtype=np.uint8)), cards=[2] * 1100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", request.param)
        return Counts(data, n_jobs=1)


@pytest.mark.parametrize("n_ys", [1, 5, 40, 900])
@pytest.mark.parametrize("size_z", [1, 2, 4, 7, 9])
def test_the_least_cost_is_what_is_chosen(binary_counts: Counts, n_ys: int, size_z: int) -> None:
    z = frozenset(range(1, 1 + size_z))
    costs = costs_of(binary_counts, range(20, 20 + n_ys), z)
    chosen = _core.way_of(binary_counts._store, 0, range(20, 20 + n_ys), z)
    numbered = {"planes", "columns", "alone"}  # decided when the strata are numbered
    least = min(costs, key=costs.__getitem__)
    assert chosen == least or {chosen, least} <= numbered
    assert _core.probe_choice(binary_counts._store, 0, range(20, 20 + n_ys), z, 2) == least


def test_the_model_is_the_sum_of_its_parts(binary_counts: Counts) -> None:
    """Each constant by itself, and all of them: what the fit relies on."""
    constants = _core.cost_constants(binary_counts.code_path)
    for n_ys, size_z in ((1, 1), (7, 3), (600, 2)):
        ys, z = range(20, 20 + n_ys), frozenset(range(1, 1 + size_z))
        parts = [costs_of(binary_counts, ys, z, {name: value}) for name, value in constants.items()]
        for way, cost in costs_of(binary_counts, ys, z).items():
            assert cost == pytest.approx(sum(part[way] for part in parts))


@pytest.mark.parametrize(
    ("first", "n_ys", "blocks"), [(20, 4, 1), (12, 500, 1), (12, 501, 2), (500, 30, 2), (512, 512, 1), (20, 1080, 3)]
)
def test_only_blocks_that_hold_candidates_are_paid_for(
    binary_counts: Counts, first: int, n_ys: int, blocks: int
) -> None:
    costs = costs_of(binary_counts, range(first, first + n_ys), frozenset({1, 2}), {"column_row": 1.0})
    assert costs["sorted_columns"] == 2000 * blocks


def test_what_is_impossible_has_no_cost() -> None:
    """Ten states have no planes; keys of two bytes and bitsets within the memory are for few configurations."""
    rng = np.random.default_rng(0)
    data = Dataset.from_codes(list(rng.integers(0, 2, (40, 100), dtype=np.uint8)), cards=[10] + [2] * 39)
    store = Counts(data)._store
    constants = _core.cost_constants(store.level)
    assert set(_core.costs_of(store, 1, [0, 2], [3], constants)) == {"alone"}
    assert "keys" in _core.costs_of(store, 1, [2], [0, 3], constants)  # z needs no planes
    few, many = (set(_core.costs_of(store, 1, [2], range(3, 3 + k), constants)) for k in (3, 20))
    assert {"split_planes", "keys", "planes", "alone"} <= few
    assert many == {"alone", "columns", "planes"}


def test_variables_without_planes_are_counted_one_by_one() -> None:
    """Ten states have no planes; nine do. So do repeats, whatever the states."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 9, 500) for _ in range(6)]
    for card, repeats, way in ((9, None, "planes"), (10, None, "alone"), (9, np.full(500, 2), "alone")):
        data = Dataset.from_codes(columns, cards=[card] * 6, repeats=repeats)
        assert _core.way_of(Counts(data)._store, 0, [1, 2, 3], []) == way


def test_a_way_that_does_not_exist_is_refused() -> None:
    counts = Counts(reference.random_dataset(np.random.default_rng(0), n_rows=5, cards=[2, 2]))
    with pytest.raises(ValueError, match="way must name a way of counting, or be empty; got 'nowhere'"):
        _core.force(counts._store, "nowhere")
