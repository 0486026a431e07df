"""Rows in several places: the same bits for any split, in this process or on workers; lost workers and lost files."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusters import kill, local_cluster, lonely_workers
from mnlearn.algorithms import GSIMN, IBMAPHC, PC, SeparatorEvidence, TwoPhase
from mnlearn.data import Dataset, pack
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, UnsuitableError
from mnlearn.independence import BayesianTest, ChiSquare
from mnlearn.scores import MPL, PIC, BJPScore, HybridEvidence, IBScore
from mnlearn.statistics import Counts, Shard, ShardedCounts, kernels, row_shards
from mnlearn.statistics import shards as module
from mnlearn.statistics import shards as workers
from mnlearn.statistics.tables import PackedTables, ShardTable, add_shard_tables
from profiles import few

KERNELS = [
    kernels.chi2(),
    kernels.g2(),
    kernels.mi(),
    kernels.bayes(),
    kernels.bayes_dependent(),
    kernels.dirichlet(),
    kernels.entropy(),
]


def data_of(n_rows: int, cards: list[int], seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, cards[0], n_rows)]
    for k, card in enumerate(cards[1:], start=1):
        like = columns[rng.integers(0, k)]
        columns.append(np.where(rng.random(n_rows) < 0.5, like % card, rng.integers(0, card, n_rows)))
    return Dataset.from_codes(columns, cards=cards)


def split(data: Dataset, folder: Path, n: int) -> list[Path]:
    """A pack for each of n parts, of unequal sizes."""
    ends = [0, *sorted(np.random.default_rng(n).choice(data.n_records - 1, n - 1, replace=False) + 1), data.n_records]
    paths = [folder / f"part-{k}-of-{n}.mnpack" for k in range(n)]
    for path, start, stop in zip(paths, ends, ends[1:], strict=False):
        columns = [column[start:stop] for column in data.columns]
        part = Dataset(data.names, data.cards, tuple(columns), data.levels)
        pack(part, path)
    return paths


@pytest.fixture(scope="session")
def processes() -> None:
    """For tests that start workers: the sanitizers look at one process only."""
    pytest.importorskip("distributed")
    if os.environ.get("MNLEARN_SANITIZED"):
        pytest.skip("the sanitizers look at one process only")


def assert_same_answers(counts: Counts, others: ShardedCounts, z_sets: list[tuple[int, ...]]) -> None:
    n = counts.n_variables
    assert (others.n_rows, others.cards, others.names) == (counts.n_rows, counts.cards, counts.names)
    for kernel in KERNELS:
        assert counts.reduce_all(kernel).tobytes() == others.reduce_all(kernel).tobytes()
        xs = [next(v for v in range(n) if v not in z) for z in z_sets]
        zs = [frozenset(z) for z in z_sets]
        yss = [[y for y in range(n) if y not in {*z, x}] for x, z in zip(xs, zs, strict=True)]
        for ask in ("members", "without"):
            answers = (getattr(who, ask)(kernel, xs, zs) for who in (counts, others))
            for one, other in zip(*answers, strict=True):
                assert one.tobytes() == other.tobytes()
        many = others.reduce_many(kernel, xs, yss, zs)
        for x, ys, z, found in zip(xs, yss, zs, many, strict=True):
            assert counts.reduce(kernel, x, ys, z).tobytes() == found.tobytes()
            assert counts.local(kernel, x, z).tobytes() == others.local(kernel, x, z).tobytes()
    whole, summed = (who.tables(xs[-1], yss[-1], zs[-1]) for who in (counts, others))
    assert np.array_equal(whole.strata, summed.strata)
    assert all(np.array_equal(a, b) for a, b in zip(whole.counts, summed.counts, strict=True))


@pytest.mark.parametrize("n_shards", [1, 3, 7])
@pytest.mark.parametrize("cards", [[2] * 8, [2, 3, 4, 2, 5, 12, 300, 1]], ids=["binary", "mixed"])
def test_any_split_gives_the_same_bits(tmp_path: Path, cards: list[int], n_shards: int) -> None:
    data = data_of(2000, cards)
    others = ShardedCounts(None, split(data, tmp_path, n_shards))
    assert_same_answers(Counts(data), others, [(), (1,), (1, 2), (2, 4, 5), (0, 1, 3, 5, 6)])


def test_workers_give_the_same_bits(tmp_path: Path, client: Any) -> None:
    data = data_of(3000, [2, 3, 4, 2, 5, 12])
    others = ShardedCounts(client, split(data, tmp_path, 3))
    assert_same_answers(Counts(data), others, [(), (1,), (2, 4), (1, 2, 5)])


LEARNERS: dict[str, Any] = {
    "ib": lambda counts: IBMAPHC().learn(IBScore(BayesianTest(counts))),
    "bjp": lambda counts: IBMAPHC().learn(BJPScore(BayesianTest(counts))),
    "mpl": lambda counts: TwoPhase().learn(MPL(counts)),
    "pic": lambda counts: TwoPhase().learn(PIC(counts)),
    "gsimn": lambda counts: GSIMN().learn(ChiSquare(counts)),
    "pc": lambda counts: PC().learn(ChiSquare(counts)),
    "sep": lambda counts: SeparatorEvidence().learn(HybridEvidence(counts)),
}


def accounts(result: Any) -> dict[str, float]:
    """Return the cost of a search without its time and its scans: the core looks less far ahead."""
    return {key: value for key, value in result.cost.items() if key not in ("seconds", "scanned")}


@pytest.mark.parametrize("method", few(LEARNERS, 3))
def test_every_learner_finds_the_same(tmp_path: Path, client: Any, method: str) -> None:
    for seed, cards in enumerate(([2] * 9, [2, 3, 4, 2, 3, 2, 4])):
        data = data_of(1500, cards, seed)
        learn = LEARNERS[method]
        expected = learn(Counts(data))
        packed = pack(data, tmp_path / f"{method}{seed}.mnpack")
        found = [learn(Counts(packed)), *(learn(ShardedCounts(None, split(data, tmp_path, n))) for n in (1, 3))]
        found.append(learn(ShardedCounts(client, row_shards(packed, 2))))
        for result in found:
            assert result.graph == expected.graph
            assert result.score == expected.score
            assert result.support == expected.support
            same = accounts(expected)
            assert accounts(result) == same


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=40),
    cut=st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_parts_add_up_to_the_whole(rows: list[tuple[int, int, int]], cut: int) -> None:
    def counted(some: list[tuple[int, int, int]]) -> ShardTable:
        states = sorted(set(some))
        return ShardTable(
            np.array(states).reshape(-1, 3), np.array([[some.count(s), 1] for s in states]).reshape(-1, 2)
        )

    parts = [counted(some) for some in (rows[:cut], rows[cut:]) if some]
    for cards in ([3, 3, 3], [2**21] * 3):  # numbers as keys, and configurations themselves
        total = add_shard_tables([part.small() for part in parts], cards)
        whole = counted(rows)
        assert np.array_equal(total.states, whole.states)
        assert np.array_equal(total.counts[:, 0], whole.counts[:, 0])


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 300)),
        max_size=5,
    )
)
def test_a_parcel_holds_its_parts(sizes: list[tuple[int, int, int, int, int]]) -> None:
    parts = [
        ShardTable(np.full((n, width), state), np.arange(n * columns).reshape(n, columns) + most)
        for n, width, columns, most, state in sizes
    ]
    parcel = PackedTables.of(parts)
    assert parcel.content.nbytes == sum(array.nbytes for part in parts for array in part.small())
    for part, found in zip(parts, parcel.parts(), strict=True):
        assert found.states.shape == part.states.shape
        assert np.array_equal(found.states, part.states)
        assert np.array_equal(found.counts, part.counts)


def test_many_questions_travel_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of(500, [2] * 8)
    others = ShardedCounts(None, split(data, tmp_path, 2))
    whole = others.reduce_all(kernels.mi())
    asked: list[Any] = []
    ask = others._workers.map

    def noting(function: Any, jobs: Any, shards: Any) -> Any:
        asked.append(jobs)
        return ask(function, jobs, shards)

    monkeypatch.setattr(others._workers, "map", noting)
    others.reduce_all(kernels.mi())
    assert len(asked) == 1  # one round trip
    monkeypatch.setattr(module, "CELLS_TOGETHER", 20)
    assert others.reduce_all(kernels.mi()).tobytes() == whole.tobytes()
    assert len(asked) > 3


def test_shards_that_differ_are_refused(tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{k}.mnpack" for k in range(3))
    pack({"a": [0, 1], "b": [0, 1]}, one)
    pack({"a": [0, 1], "b": [0, 2]}, two)
    pack({"a": [0, 1], "c": [0, 1]}, three)
    with pytest.raises(DataError, match=r"shards must have the same levels; those of 'b' are \[0, 1\] in .* \[0, 2\]"):
        ShardedCounts(None, [one, two])
    with pytest.raises(DataError, match=r"shards must have the same variables .* differs from .* in 'b'"):
        ShardedCounts(None, [one, three])
    with pytest.raises(InputError, match="shards must name at least one pack; got none"):
        ShardedCounts(None, [])
    with pytest.raises(InputError, match=r"shards must be a list of packs; got a single one: '.*0.mnpack'. Write"):
        ShardedCounts(None, str(one))
    with pytest.raises(InputError, match="shards must be a list of packs; got a single one"):
        ShardedCounts(None, Shard(str(one)))  # type: ignore[arg-type]
    pack({"a": [0.5, 1.5], "b": [0, 2]}, two)
    with pytest.raises(UnsuitableError, match="ShardedCounts needs categorical variables; 'a' is continuous"):
        ShardedCounts(None, [two])
    with pytest.raises(UnsuitableError, match=r"client must be a distributed.Client; got a str"):
        ShardedCounts("tcp://here", [one])
    with pytest.raises(UnsuitableError, match="a cluster counts packed files; got data that are in memory"):
        row_shards(Dataset.from_codes([[0, 1], [1, 0]]), 2)


def test_bad_questions_are_refused_by_name(tmp_path: Path, client: Any) -> None:
    for counts in (ShardedCounts(who, split(data_of(200, [2] * 4), tmp_path, 2)) for who in (None, client)):
        with pytest.raises(InputError, match="z must not contain x; got x=1"):
            counts.reduce(kernels.mi(), 1, [2], frozenset({1}))
        with pytest.raises(InputError, match="must be the index of a variable, 0 to 3; got 9"):
            counts.members(kernels.mi(), [1], [frozenset({9})])


def test_rows_of_one_file_are_shards(tmp_path: Path) -> None:
    packed = pack(data_of(1000, [2, 3, 4]), tmp_path / "t.mnpack")
    for n in (1, 2, 5, 16, 40):
        shards = row_shards(packed, n)
        assert [s.start for s in shards[1:]] == [s.stop for s in shards[:-1]]
        assert (shards[0].start, shards[-1].stop) == (0, 1000)
        assert all(s.start % 64 == 0 for s in shards)
    assert str(shards[0]).endswith("rows 0 to 64")


def pid() -> int:
    return os.getpid()


@pytest.mark.slow
@pytest.mark.usefixtures("processes")
def test_a_worker_that_is_killed_costs_nothing_but_time(tmp_path: Path) -> None:
    data = data_of(3000, [2, 3, 4, 2, 3, 2, 4, 2])
    expected = LEARNERS["bjp"](Counts(data))
    with local_cluster(2) as joined:
        counts = ShardedCounts(joined, split(data, tmp_path, 2))
        homes = dict(counts._workers._home)  # type: ignore[union-attr]
        victim = joined.run(pid)[next(iter(homes.values()))]
        calls = iter(range(10**9))
        ask = counts._workers.map

        def killing(function: Any, jobs: Any, shards: Any) -> Any:
            if next(calls) == 3:
                os.kill(victim, signal.SIGKILL)
            return ask(function, jobs, shards)

        counts._workers.map = killing  # type: ignore[method-assign]
        found = LEARNERS["bjp"](counts)
        assert next(calls) > 4
    assert (found.graph, found.score) == (expected.graph, expected.score)


@pytest.mark.slow
@pytest.mark.usefixtures("processes")
def test_a_worker_that_dies_before_it_has_a_shard_is_left_out(tmp_path: Path) -> None:
    data = data_of(300, [2, 3, 2])
    shards = split(data, tmp_path, 2)
    with local_cluster(2) as joined:
        os.kill(next(iter(joined.run(pid).values())), signal.SIGKILL)
        counts = ShardedCounts(joined, shards)
        found = counts.tables(0, [1], frozenset({2})).counts[0]
    assert np.array_equal(found, Counts(data).tables(0, [1], frozenset({2})).counts[0])


@pytest.mark.usefixtures("processes")
def test_when_all_workers_are_gone_it_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 2.0)
    data = data_of(300, [2] * 4)
    log = tmp_path / "log"
    with log.open("wb") as file, lonely_workers(2, file) as (joined, processes):
        counts = ShardedCounts(joined, split(data, tmp_path, 2))
        kill(joined, processes[0])
        found = counts.reduce(kernels.mi(), 0, [1, 2], frozenset({3}))  # by the one that is left
        assert found.tobytes() == Counts(data).reduce(kernels.mi(), 0, [1, 2], frozenset({3})).tobytes()
        kill(joined, processes[1])
        with pytest.raises(MnlearnError, match="client must have at least one worker; it has none, and none came"):
            counts.reduce(kernels.mi(), 0, [1], frozenset())
    assert "out-of-band function '_sees'" in log.read_text()
    assert "_answers" not in log.read_text()  # a search asks many questions


@pytest.mark.usefixtures("processes")
def test_when_the_scheduler_is_gone_it_ends_with_an_error(tmp_path: Path) -> None:
    paths = split(data_of(300, [2] * 4), tmp_path, 2)
    with local_cluster(1) as joined:
        counts = ShardedCounts(joined, paths)
    with pytest.raises(MnlearnError, match="client must be connected to its scheduler; it is closed"):
        counts.reduce(kernels.mi(), 0, [1], frozenset())


def test_a_shard_that_is_lost_is_named(tmp_path: Path, client: Any) -> None:
    with pytest.raises(FileError, match=r"shards must be files that a worker can open; .*no.mnpack is lost"):
        ShardedCounts(client, [Shard(str(tmp_path / "no.mnpack"))])
    paths = split(data_of(300, [2] * 4), tmp_path, 2)
    counts = ShardedCounts(client, paths)
    paths[1].unlink()
    with pytest.raises(FileError, match=r"part-1-of-2.mnpack is lost: no remaining worker sees the file"):
        counts.reduce(kernels.mi(), 0, [1], frozenset())


def test_a_shard_that_was_written_anew_is_refused(tmp_path: Path) -> None:
    paths = split(data_of(300, [2] * 4), tmp_path, 2)
    counts = ShardedCounts(None, paths)
    time.sleep(0.01)
    pack(data_of(300, [2] * 4, seed=5), paths[0])
    with pytest.raises(FileError, match=r"shards must not change while they are counted; .* was replaced"):
        counts.reduce(kernels.mi(), 0, [1], frozenset())
