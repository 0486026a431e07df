"""Counts of rows in several shards: each worker counts its own, and the tables are added up here.

Counts are integers and add up exactly, so any split of the rows gives the same bits. Rows are never sent, only one
message to each shard with all questions of a batch, and the tables back. The sums are scored by the same kernels as
tables in memory.

Counting of shards in this process or on the workers of a Dask cluster, and the code that runs on a worker.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset
from mnlearn.data.readers import read
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, UnsuitableError, require
from mnlearn.numbers import tolerance
from mnlearn.parallel import PATIENCE, job_count, no_workers
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray, Kernel, Tables, VarSet
from mnlearn.statistics.counts import MAX_TABLE_CELLS, Counts, check_evidence
from mnlearn.statistics.evidence import EvidenceScans, Kind, bounds
from mnlearn.statistics.screens import BlockScreen, ScreenRule, ScreenStatistic, StrongestPartners, run
from mnlearn.statistics.searches import question
from mnlearn.statistics.tables import PackedTables, ShardTable, TableScorer, add_shard_tables, complete_tables

_log = logging.getLogger("mnlearn.statistics")
TableQuestion: TypeAlias = tuple[int, NDArray[np.int32] | None, NDArray[np.int32]]  # x, ys (None: cells of x and z), z

OPENED = 16  # shards that a worker holds open
TRIES = 3
PAUSE = 0.5  # seconds between two polls


class Shard(NamedTuple):
    """Rows of a packed file: all of them, or those from `start` up to `stop`."""

    path: str
    start: int = 0
    stop: int | None = None

    def __str__(self) -> str:
        """Return the name used in messages."""
        return self.path if self.stop is None else f"{self.path}, rows {self.start:,} to {self.stop:,}"


class ShardDescription(NamedTuple):
    """Variables, levels, rows and fingerprint of a shard."""

    names: tuple[str, ...]
    levels: tuple[Any, ...]
    n_rows: int
    fingerprint: str
    gaps: tuple[bool, ...] = ()  # which variables have missing values


def row_shards(data: Dataset, n: int) -> list[Shard]:
    """Split the rows of a pack into n shards of nearly the same size, each a whole number of words of 64 rows."""
    if data.pack is None or not data.pack.holds(data.columns) or len(data.columns) != len(data.pack.columns):
        raise UnsuitableError(
            "a cluster counts packed files; got data that are in memory. Pack them first (mn.pack, or mnlearn "
            "pack), and choose columns then."
        )
    words = -(-data.n_records // 64)
    cuts = [min(64 * (words * k // n), data.n_records) for k in range(n + 1)]
    path = str(data.pack.path.absolute())
    return [Shard(path, start, stop) for start, stop in pairwise(cuts) if start < stop]


def describe_shard(shard: Shard) -> ShardDescription:
    """Open a shard and return its description."""
    data = read(shard.path)
    if 0 in data.cards:
        raise UnsuitableError(
            f"ShardedCounts needs categorical variables; {data.names[data.cards.index(0)]!r} is continuous. Pack it "
            "discretised, or leave it out."
        )
    assert data.pack is not None
    rows = _rows_of(data, shard)
    gaps = tuple(name in rows.gaps for name in rows.names)
    return ShardDescription(rows.names, rows.levels, rows.n_rows, data.pack.fingerprint, gaps)


def _rows_of(data: Dataset, shard: Shard) -> Dataset:
    if shard.stop is None:
        return data
    part = slice(shard.start, shard.stop)
    repeats = None if data.repeats is None else data.repeats[part]
    columns = tuple(column[part] for column in data.columns)
    return Dataset.trusted(**{**data.__dict__, "columns": columns, "repeats": repeats})


@lru_cache(maxsize=OPENED)
def _opened(shard: Shard, fingerprint: str, n_jobs: int | None) -> Counts:
    """Open a shard once in each process: opening verifies the file, and its caches serve later questions."""
    data = read(shard.path)
    assert data.pack is not None
    if data.pack.fingerprint != fingerprint:
        raise FileError(f"shards must not change while they are counted; {shard} was replaced. Start again.")
    return Counts(_rows_of(data, shard), n_jobs=n_jobs)


atexit.register(_opened.cache_clear)  # before the interpreter unloads the core


def count_shard(shard: Shard, fingerprint: str, questions: Sequence[TableQuestion], n_jobs: int | None) -> PackedTables:
    """Count the tables of one shard."""
    counts = _opened(shard, fingerprint, n_jobs)
    store, threads = counts._store, counts._threads
    found: list[ShardTable] = []
    for x, ys, z in questions:
        if ys is None:
            states, sizes = _core.cells(store, x, z)
            found.append(ShardTable(states.T, sizes.T))
        else:
            found.append(ShardTable(*_core.flat_tables(store, x, ys, z, MAX_TABLE_CELLS, threads)))
    return PackedTables.of(found)


class LocalExecutor:
    """Executor that counts shards in this process."""

    threads: int | None = None

    def map(self, function: Any, jobs: Sequence[tuple[Any, ...]], _shards: Sequence[Shard]) -> list[Any]:
        return [function(*job) for job in jobs]


class ClusterExecutor:
    """Executor that counts shards on the workers that see their files; those of a lost worker move to another.

    Questions are not Dask tasks: `client.run` sends them to the workers directly, without the bookkeeping of the
    scheduler. That takes a fifth of the time, and a lost worker is noticed and replaced here.
    """

    def __init__(self, client: Any) -> None:
        require("distributed", "dask")
        if not hasattr(client, "run_on_scheduler"):
            raise UnsuitableError(
                f"client must be a distributed.Client; got a {type(client).__name__}. Make one: Client('address:port')."
            )
        self._client = client
        self.threads: int | None = min(client.nthreads().values(), default=1)
        self._home: dict[Shard, str] = {}

    def map(self, function: Any, jobs: Sequence[tuple[Any, ...]], shards: Sequence[Shard]) -> list[Any]:
        """Return the answer of each shard, in one round trip."""
        answers: dict[int, Any] = {}
        for _ in range(TRIES):
            left = [k for k in range(len(jobs)) if k not in answers]
            self._place([shards[k] for k in left])
            answers |= self._round(function, {k: jobs[k] for k in left}, shards)
            if len(answers) == len(jobs):
                return [answers[k] for k in range(len(jobs))]
        raise _lost(next(shards[k] for k in range(len(jobs)) if k not in answers))

    def _round(self, function: Any, jobs: dict[int, tuple[Any, ...]], shards: Sequence[Shard]) -> dict[int, Any]:
        """Return the answers of the workers that are left; shards without an answer lose their worker."""
        todo: dict[str, dict[int, tuple[Any, ...]]] = {}
        for k, job in jobs.items():
            todo.setdefault(self._home[shards[k]], {})[k] = job
        replies = self._run(_answers, function, todo, workers=list(todo))
        answers: dict[int, Any] = {}
        for outcomes in replies.values():
            answers |= {k: outcome for k, outcome in outcomes.items() if not isinstance(outcome, _Lost)}
        for outcome in answers.values():
            if isinstance(outcome, MnlearnError):
                raise outcome
        for k in jobs.keys() - answers.keys():
            _log.info("shard %s is lost: looking for another worker", shards[k])
            self._home.pop(shards[k], None)
        return answers

    def _run(self, function: Any, *given: Any, workers: list[str] | None = None) -> dict[str, Any]:
        """Return the reply of each worker; lost ones are left out."""
        if self._client.status != "running":
            raise MnlearnError(
                f"client must be connected to its scheduler; it is {self._client.status}. Start the cluster anew."
            )
        try:
            present = self._client.nthreads()  # a call of a lost worker would wait for it to come back
            reached = [worker for worker in workers if worker in present] if workers is not None else list(present)
            found = self._client.run(function, *given, workers=reached, on_error="return")
        except OSError as error:
            raise MnlearnError(
                f"client must be connected to its scheduler; it does not answer ({error}). Start the cluster anew."
            ) from error
        for fault in found.values():
            if isinstance(fault, Exception) and not isinstance(fault, OSError):  # the worker is alive, and failed
                raise fault
        return {worker: answer for worker, answer in found.items() if not isinstance(answer, Exception)}

    def _place(self, shards: Sequence[Shard]) -> None:
        """Assign every shard without a worker to one that sees its file, balancing their loads."""
        unassigned = [shard for shard in shards if shard not in self._home]
        if not unassigned:
            return
        seen = self._who_sees([shard.path for shard in unassigned])
        for k, shard in enumerate(unassigned):
            able = sorted(worker for worker, sees in seen.items() if sees[k])
            if not able:
                raise _lost(shard)
            load = [sum(home == worker for home in self._home.values()) for worker in able]
            self._home[shard] = able[int(np.argmin(load))]

    def _who_sees(self, paths: Sequence[str]) -> dict[str, list[bool]]:
        """Return which files each worker sees; if no worker is left, wait for one to come back."""
        deadline = monotonic() + PATIENCE
        while True:
            seen = self._run(_sees, paths)
            if seen:
                return seen
            if monotonic() > deadline:
                raise no_workers()
            sleep(PAUSE)


class _Lost(NamedTuple):
    """Reply of a worker that does not see the file."""

    path: str


async def _answers(function: Any, todo: dict[str, dict[int, tuple[Any, ...]]], dask_worker: Any) -> dict[int, Any]:
    """Run on a worker, in a thread beside its event loop, which stays responsive while it counts."""
    from asyncio import to_thread  # slow to import, and loaded already where there is an event loop

    return await to_thread(_outcomes, function, todo[dask_worker.contact_address])


def _outcomes(function: Any, jobs: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
    """Return the result of each job, or its error."""
    found: dict[int, Any] = {}
    for k, job in jobs.items():
        try:
            found[k] = function(*job) if Path(job[0].path).exists() else _Lost(job[0].path)
        except MnlearnError as error:
            found[k] = error
    return found


def _sees(paths: Sequence[str]) -> list[bool]:
    """Run on a worker: return which files exist, and silence the log of the counting calls."""
    log = logging.getLogger("distributed.worker")
    if _is_not_counting not in log.filters:
        log.addFilter(_is_not_counting)
    return [Path(path).exists() for path in paths]


def _is_not_counting(record: logging.LogRecord) -> bool:
    """Return False for Dask's log lines about counting calls, which would fill the log of a worker."""
    return not (record.args and _answers.__name__ in record.args)


def _lost(shard: Shard) -> FileError:
    return FileError(
        f"shards must be files that a worker can open; {shard} is lost: no remaining worker sees the file. "
        "Put it on a disk that all workers share, or start a worker on its machine."
    )


CELLS_TOGETHER = 1 << 23  # of one batch: 32 to 64 MB from each shard


class ShardedCounts:
    """Exact counts of packed files on the workers of a Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`; None counts the shards in this process, one after the other.
    shards
        Packed files (`mnlearn.data.pack`), or rows of them (`Shard`), with the same variables and levels. Each is
        opened by a worker that sees its path; any worker can open a file on a shared disk.
    n_jobs
        Number of threads of each worker: None or −1 for all cores, else that many. Any number gives the same result.
        All cores are the threads that Dask gave to the worker.

    Raises
    ------
    FileError
        If no worker can open a shard, or its worker is lost later and no other sees the file.
    DataError
        If the shards do not have the same variables and levels.

    Notes
    -----
    A scan with many y, `reduce_many` and `members` take one round trip each: about 4 ms on one machine. A stratum of a
    scan takes rx · Σ ry counts of 1 to 4 bytes from each shard; docs/scale.md has measurements.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mnlearn.data import pack
    >>> from mnlearn.statistics import kernels
    >>> with TemporaryDirectory() as folder:
    ...     _ = pack({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}, folder + "/one.mnpack")
    ...     _ = pack({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]}, folder + "/two.mnpack")
    ...     counts = ShardedCounts(None, [folder + "/one.mnpack", folder + "/two.mnpack"])
    ...     counts.tables(0, [1], frozenset()).counts[0].tolist()
    [[[3, 1], [0, 4]]]
    """

    def __init__(
        self, client: Any, shards: Sequence[str | os.PathLike[str] | Shard], *, n_jobs: int | None = None
    ) -> None:
        if isinstance(shards, str | bytes | os.PathLike | Shard):
            raise InputError(
                f"shards must be a list of packs; got a single one: {str(shards)!r}. Write [...] around it."
            )
        self._shards = [s if isinstance(s, Shard) else Shard(str(Path(os.fsdecode(s)).absolute())) for s in shards]
        if not self._shards:
            raise InputError("shards must name at least one pack; got none. Use mnlearn.data.pack to make one.")
        job_count(n_jobs)  # raises
        self._workers: ClusterExecutor | LocalExecutor = LocalExecutor() if client is None else ClusterExecutor(client)
        self._n_jobs = self._workers.threads if n_jobs in (None, -1) else n_jobs
        descriptions = self._workers.map(describe_shard, [(shard,) for shard in self._shards], self._shards)
        self.names, self.levels = descriptions[0].names, descriptions[0].levels
        for shard, described in zip(self._shards, descriptions, strict=True):
            _check_alike(self._shards[0], descriptions[0], shard, described)
        self._fingerprints = [described.fingerprint for described in descriptions]
        self.cards = tuple(len(levels) for levels in self.levels)
        self.gaps = descriptions[0].gaps
        self._counted = tuple(card + gap for card, gap in zip(self.cards, self.gaps, strict=True))
        self.n_rows = sum(described.n_rows for described in descriptions)
        self._scorer = TableScorer(self.n_rows)
        self.traffic = 0

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables:
        """Count (x, y) within every observed configuration of z, for each y."""
        first, ys_array, z_array = self._question(x, ys, z)
        (table,) = self._ask([(first, ys_array, z_array)])
        rx, y_cards = self._counted[first], [self._counted[y] for y in ys_array.tolist()]
        ends = np.cumsum([0, *(rx * ry for ry in y_cards)]).tolist()
        counts = tuple(
            np.ascontiguousarray(table.counts[:, begin:end]).reshape(-1, rx, ry)
            for (begin, end), ry in zip(pairwise(ends), y_cards, strict=True)
        )
        found = Tables(first, tuple(ys_array.tolist()), tuple(z_array.tolist()), table.states, counts)
        return complete_tables(found, self.cards) if any(self.gaps) else found

    @property
    def without_rows(self) -> int:
        """Number of tables scored so far for which no row has all variables observed."""
        return self._scorer.without_rows

    def question_rows(self, x: int, ys: Indices, z: VarSet) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y are observed."""
        if not any(self.gaps):
            return np.full(len(ys), self.n_rows, dtype=np.int64)
        return np.array([table.sum() for table in self.tables(x, ys, z).counts], dtype=np.int64)

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y: one row per output of the kernel, one column per y."""
        return self.reduce_many(kernel, [x], [ys], [z])[0]

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Return what `reduce` gives for each x with its ys and its z, in one round trip."""
        questions = [self._question(x, ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]
        return [self._score(kernel, one, table) for one, table in zip(questions, self._ask(questions), strict=True)]

    def _score(
        self, kernel: Kernel, asked: tuple[int, NDArray[np.int32], NDArray[np.int32]], table: ShardTable
    ) -> FloatArray:
        """Score the tables of one question."""
        x, ys, z = asked
        if not any(self.gaps):
            return self._scorer.score(kernel, table, self.cards[x], self._cards(ys), self._cards(z))
        variables = [(self.cards[v], self.gaps[v]) for v in (x, *ys.tolist())]
        return self._scorer.score_complete(kernel, table, variables[0], variables[1:], self._cards(z))

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y without conditioning: pairs in lexicographic order, one column each."""
        return self.reduce_pairs(kernel, range(self.n_variables - 1))

    def reduce_pairs(self, kernel: Kernel, xs: range) -> FloatArray:
        """Score every pair x < y with x in a range: pairs in lexicographic order, one column each."""
        n = self.n_variables
        rows = self.reduce_many(kernel, xs, [range(x + 1, n) for x in xs], [frozenset()] * len(xs))
        return np.concatenate([np.empty((len(kernel.outputs), 0)), *rows], axis=1)

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return what `Counts.screen` returns for all rows, from tables that the workers count.

        A pair of binary variables takes 4 to 16 bytes from each shard.
        """
        return run(self.pair_scan(ScreenRule(k=k, threshold=threshold, statistic=statistic)), monitor)

    def pair_scan(self, rule: ScreenRule) -> BlockScreen:
        """Return the scan of all pairs by which `screen` finds the strongest."""
        return BlockScreen(self, rule)

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone."""
        ((store, n_given),) = self.small_stores([x], [z])
        return _core.local(store, kernel.name, kernel.settings, n_given, range(n_given))[:, 0]

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, every y in z given the rest of z: one column per member, in ascending order."""
        return [
            _core.members(store, kernel.name, kernel.settings, [n_given], [range(n_given)], 1)[0]
            for store, n_given in self.small_stores(xs, zs)
        ]

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, x given z without one member: one column per member, in ascending order."""
        return [
            _core.without(store, kernel.name, kernel.settings, [n_given], [range(n_given)], 1)[0]
            for store, n_given in self.small_stores(xs, zs)
        ]

    def small_stores(self, xs: Indices, zs: Sequence[VarSet]) -> Iterator[tuple[_core.Store, int]]:
        """Yield, for each x and its z, their table as a store of rows with repeats (z ascending, x last), and |z|."""
        questions: list[TableQuestion] = [
            (x, None, z) for x, _, z in (self._question(x, (), z) for x, z in zip(xs, zs, strict=True))
        ]
        for (x, _, z), cells in zip(questions, self._ask(questions), strict=True):
            gaps = [self.gaps[v] for v in (*z.tolist(), x)]
            yield self._scorer.rows(cells, [*self._cards(z), self.cards[x]], gaps), len(z)

    @cached
    def copies(self) -> Mapping[int, int]:
        """The original of each variable that is a copy of an earlier one, whatever the labels of its states."""
        found: dict[int, int] = {}
        if self.n_variables < 2:
            return found
        with_first = self.tables(0, range(1, self.n_variables), frozenset()).counts
        margins = [with_first[0].sum(axis=(0, 2)), *(table.sum(axis=(0, 1)) for table in with_first)]
        alike: dict[tuple[int, ...], list[int]] = {}  # variables whose states occur as often
        for x, counts in enumerate(margins):
            states = tuple(sorted(counts[counts > 0].tolist()))
            originals = alike.setdefault(states, [])
            tables = self.tables(x, originals, frozenset()).counts if originals and len(states) > 1 else ()
            same = [y for y, table in zip(originals, tables, strict=False) if np.count_nonzero(table) == len(states)]
            if same:
                found[x] = same[0]
            else:
                originals.append(x)
        return found

    def evidence(self, *, three_way: bool = True) -> EvidenceScans:
        """Return fits of conditional models to these counts; `mnlearn.scores.evidence` explains them."""
        check_evidence(self.names, self.gaps)
        return _ShardedEvidence(self, three_way=three_way)

    def _question(self, x: int, ys: Indices, z: VarSet) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
        """Check that the variables exist; the other rules are checked where the rows are counted."""
        first, ys_array, z_array = question(x, ys, z)
        for what, found in (("x", [first]), ("y", ys_array.tolist()), ("every member of z", z_array.tolist())):
            odd = [v for v in found if not 0 <= v < self.n_variables]
            if odd:
                last = self.n_variables - 1
                raise InputError(
                    f"{what} must be the index of a variable, 0 to {last}; got {odd[0]}. Use dataset.index(name)."
                )
        return first, ys_array, z_array

    def _cards(self, variables: Indices) -> list[int]:
        return [self.cards[int(v)] for v in variables]

    def _ask(self, questions: Sequence[TableQuestion]) -> Iterator[ShardTable]:
        """Yield the sum of the tables of all shards for each question, as many per round trip as memory allows."""
        for batch in self._batches(questions):
            jobs = [
                (shard, fingerprint, batch, self._n_jobs)
                for shard, fingerprint in zip(self._shards, self._fingerprints, strict=True)
            ]
            answers = self._workers.map(count_shard, jobs, self._shards)
            self.traffic += sum(parcel.content.nbytes for parcel in answers)
            for (x, ys, z), parts in zip(batch, zip(*map(PackedTables.parts, answers), strict=True), strict=True):
                variables = [*z.tolist(), *([x] if ys is None else [])]
                yield add_shard_tables(parts, [self._counted[v] for v in variables])

    def _batches(self, questions: Sequence[TableQuestion]) -> Iterator[list[TableQuestion]]:
        batch: list[TableQuestion] = []
        cells = 0
        for one in questions:
            x, ys, z = one
            strata = 1
            for v in z.tolist():
                strata = min(strata * self._counted[v], self.n_rows)
            size = strata * self._counted[x] * (1 if ys is None else sum(self._counted[y] for y in ys.tolist()))
            if batch and cells + size > CELLS_TOGETHER:
                yield batch
                batch, cells = [], 0
            batch, cells = [*batch, one], cells + size
        if batch:
            yield batch


class _Model(NamedTuple):
    """Question about x given z and, optionally, y."""

    x: int
    z: VarSet
    y: int | None

    @property
    def given(self) -> VarSet:
        """Return all variables of the table other than x."""
        return self.z if self.y is None else self.z | {self.y}


class _ShardedEvidence(EvidenceScans):
    """Models fitted to added-up tables: one for each x, its z and, where there is one, its y."""

    def __init__(self, counts: ShardedCounts, *, three_way: bool) -> None:
        self._counts, self._three_way = counts, three_way
        n = counts.n_variables
        facts = [_core.evidence_facts(store, 1)[:, 0] for store, _ in counts.small_stores(range(n), [frozenset()] * n)]
        self.n_states, self._offset, self.gift = np.array(facts).T.copy()

    def rows(
        self,
        kind: Kind,
        xs: Indices,
        zs: Sequence[VarSet],
        yss: Sequence[Indices],
        thresholds: float | Sequence[float] | FloatArray,
    ) -> FloatArray:
        """Return the answers of the core, each from its own table."""
        above = bounds(thresholds, len(zs)).tolist()
        if kind == "leaders":
            return self._leaders(xs, zs, yss, above)
        questions = [
            (_Model(int(x), frozenset(z), y), bound)
            for x, z, ys, bound in zip(xs, zs, yss, above, strict=True)
            for y in ([None] if kind in {"local", "removals"} else map(int, ys))
        ]
        stores = self._counts.small_stores([one.x for one, _ in questions], [one.given for one, _ in questions])
        columns = [
            self._fit(kind, store, model, bound) for (model, bound), (store, _) in zip(questions, stores, strict=True)
        ]
        return np.concatenate(columns, axis=1) if columns else np.empty((4, 0))

    def _leaders(
        self, xs: Indices, zs: Sequence[VarSet], yss: Sequence[Indices], thresholds: Sequence[float]
    ) -> FloatArray:
        """Return the rows of "leaders": estimates, and fits of what leads, one scan after the other."""
        columns = [np.empty((3, 0))]
        for x, z, ys, above in zip(xs, zs, yss, thresholds, strict=True):
            rows = self.rows("estimates", [x], [z], [ys], inf)
            found = np.stack([rows[0:2].max(axis=0), rows[3], rows[3]])  # what falls back is as good as fitted
            while True:
                best = float(found[0].max(initial=-inf))
                first = np.flatnonzero((found[0] >= best - tolerance([best])) & (found[1] == 0))
                if not best > above or not len(first):
                    break
                fitted = self.rows("additions", [x], [z], [np.asarray(ys)[first]], inf)
                found[:, first] = [fitted[0:2].max(axis=0), np.ones(len(first)), fitted[3]]
            columns.append(found)
        return np.concatenate(columns, axis=1)

    def _fit(self, kind: Kind, store: _core.Store, model: _Model, bound: float) -> FloatArray:
        x, z, y = model
        inside = [*sorted(model.given), x]
        place = {variable: k for k, variable in enumerate(inside)}
        given = np.array(sorted(place[v] for v in z), dtype=np.int32)
        ys = np.array([] if y is None else [place[y]], dtype=np.int32)
        return _core.evidence(
            store,
            self.n_states[inside],
            self._offset[inside],
            self.gift[inside],
            kind,
            np.array([place[x]], dtype=np.int32),
            np.array([0, len(given)], dtype=np.int64),
            given,
            np.array([0, len(ys)], dtype=np.int64),
            ys,
            self._three_way,
            np.array([bound]),
            1,
        )


def _check_alike(first: Shard, expected: ShardDescription, shard: Shard, found: ShardDescription) -> None:
    """Raise DataError unless two shards have the same variables with the same levels."""
    if found.names != expected.names:
        odd = next(
            (n for n in (*expected.names, *found.names) if (n in expected.names) != (n in found.names)),
            expected.names[0],
        )
        raise DataError(
            f"shards must have the same variables in the same order; {shard} differs from {first} in {odd!r}. "
            "Pack them with the same columns=[...]."
        )
    if found.gaps != expected.gaps:
        odd = next(n for n, one, other in zip(found.names, found.gaps, expected.gaps, strict=True) if one != other)
        raise DataError(
            f"shards must have gaps in the same variables; {shard} differs from {first} in {odd!r}. Pack all rows into "
            "one file: its rows are split among the workers."
        )
    for name, one, other in zip(expected.names, expected.levels, found.levels, strict=True):
        if one != other:
            raise DataError(
                f"shards must have the same levels; those of {name!r} are {list(one)[:6]} in {first} and "
                f"{list(other)[:6]} in {shard}. Pack them with levels={{{name!r}: [...]}}."
            )
