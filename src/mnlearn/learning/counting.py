"""How tables are counted for a judge: by how many threads, by whom, in how much memory; and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from time import perf_counter
from typing import Any, TypeAlias, cast

import numpy as np

from mnlearn.checkpoints import Checkpoint, Kept
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_methods
from mnlearn.parallel import Quietly, job_count, run
from mnlearn.protocols import (
    SILENT,
    Around,
    BatchedNeighborhoods,
    BoolArray,
    FloatArray,
    Indices,
    Kernel,
    Monitor,
    Neighborhood,
    NeighborhoodJudge,
    Separated,
    SeparatingSets,
    SetLevel,
    SubsetWalk,
    Tables,
    Turns,
    VarSet,
)
from mnlearn.statistics.counts import Counts, pair_blocks
from mnlearn.statistics.evidence_scans import EvidenceScans, Kind
from mnlearn.statistics.moments import Moments
from mnlearn.statistics.sharded import ShardedCounts
from mnlearn.statistics.workers import row_shards

_ANSWERS = dict.fromkeys(("reduce", "local", "reduce_all", "reduce_many", "members", "without"))
_CORRELATIONS = dict.fromkeys(("partial_correlations", "member_correlations", "conditional_entropies"))


@dataclass(frozen=True)
class Counting:
    """Where the statistics of a data set come from.

    Attributes
    ----------
    n_jobs
        Threads that count, or processes that fit models of one variable each; None for all cores.
    client
        A `distributed.Client` whose workers count a packed file, each some of its rows, or fit models.
    max_memory
        Bytes beyond the data, as for `Counts`.
    checkpoint
        Keeps what was counted.
    """

    n_jobs: int | None = None
    client: Any = None
    max_memory: int | None = None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        job_count(self.n_jobs)  # raises; not every method would look at it
        if self.client is not None:
            check_methods("client", self.client, ("nthreads", "run"), "Make a distributed.Client('address:port').")

    def counts(self, dataset: Dataset) -> Any:
        """Tables of categorical variables."""
        found = self._counts(dataset)
        if self.checkpoint is None:
            return found
        made: dict[str, Callable[[Any], Any]] = {"tables": _tables, "grow": _turns, "shrink": _turns}
        return _KeptCounts(found, self.checkpoint, {**_ANSWERS, **made})

    def moments(self, dataset: Dataset) -> Any:
        """Correlations of continuous ones."""
        self._refuse_client("continuous variables, whose correlations are soon computed here")
        found = Moments(dataset)
        return found if self.checkpoint is None else Kept(found, self.checkpoint, _CORRELATIONS)

    def judge(self, judge: Any) -> Any:
        """A judge that reads the data itself: asked for many variables at once if it can, its answers kept."""
        if hasattr(judge, "neighborhood"):
            return Spread(judge, self.n_jobs, self.client, self.checkpoint)
        self._refuse_client("this method, which reads the rows itself and all at once")
        return judge if self.checkpoint is None else Kept(judge, self.checkpoint, {"information": None, "log_p": None})

    def _counts(self, dataset: Dataset) -> Counts | ShardedCounts:
        if self.client is None:
            return Counts(dataset, n_jobs=self.n_jobs, max_memory=self.max_memory)
        return ShardedCounts(self.client, row_shards(dataset, len(self.client.nthreads()) or 1), n_jobs=self.n_jobs)

    def _refuse_client(self, what: str) -> None:
        if self.client is not None:
            raise InputError(f"client is for tables of a packed file; it does not help {what}. Leave it out.")


def check_counting(counting: object) -> None:
    """Refuse what does not say how to count."""
    if not isinstance(counting, Counting | None):
        raise InputError(f"counting must be a Counting; got a {type(counting).__name__}. Leave it out, and use n_jobs.")


class _KeptCounts(Kept):
    """Counts whose models are kept too."""

    def subsets(self, kernel: Kernel, level: float) -> SubsetWalk:
        """Walks over sets, kept some variables at a time."""
        return KeptWalk(self._inside.subsets(kernel, level), self._checkpoint, (kernel, level))

    def evidence(self, *, three_way: bool = True) -> EvidenceScans:
        """Fits of conditional models, kept as they come from the tables."""
        inside: EvidenceScans = self._inside.evidence(three_way=three_way)
        kept = self._checkpoint

        def asked(kind: Kind, *question: Any) -> Any:
            return kept.recall((kind, three_way, question), lambda: inside.rows(kind, *question))

        return inside.asking(asked)

    def all_pairs_blocks(self, kernel: Kernel, *, max_pairs: int = 1 << 22) -> Iterator[tuple[range, FloatArray]]:
        """All pairs, kept block by block."""
        inside = self._inside
        if not hasattr(inside, "all_pairs_blocks"):
            yield range(len(inside.cards) - 1), self.reduce_all(kernel)
            return
        for xs in pair_blocks(inside.n_variables, max_pairs):
            question = ("all_pairs_blocks", kernel, xs)
            yield xs, self._checkpoint.recall(question, partial(inside._pairs, kernel, xs.start, xs.stop))

    def knowledge(self, *, mirrored: bool) -> None:
        """Nothing to reason by inside the core: it learns from what it counts, not from what was kept."""


def _turns(answer: Any) -> Turns:
    """Answers in turns as they are when fresh."""
    return Turns(*answer)


def _tables(answer: Any) -> Tables:
    """Tables as they are when fresh, and from the parts that were kept."""
    if isinstance(answer, Tables):
        return answer
    x, ys, z, strata, counts = answer
    return Tables(x, tuple(ys), tuple(z), strata, tuple(counts))


# Neighbourhoods asked for together: found here where that is soon done, by processes or workers where it is not.


Question: TypeAlias = tuple[int, VarSet, VarSet]  # x, candidates, required

TOGETHER = 16  # variables that a judge is asked for at a time, where it chooses for several at once
WORTH = 4.0  # seconds of work left from which processes pay: they take two to begin
GROUPS = 4  # for each job: the judge travels with a group, and a group that takes long holds nobody up


@dataclass(frozen=True)
class Spread:
    """A judge of neighbourhoods, none of which depends on another; who answers changes no bit of the answers.

    Attributes
    ----------
    judge
        Who knows them.
    n_jobs
        How many processes: None for all cores. They are started only once the first answers show that it pays.
    client
        A `distributed.Client` whose workers answer instead.
    checkpoint
        Keeps the answers.
    """

    judge: NeighborhoodJudge
    n_jobs: int | None = None
    client: Any = None
    checkpoint: Checkpoint | None = None

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return self.judge.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """One by itself."""
        return next(self.spread([(x, candidates, required)]))

    def spread(self, asked: Sequence[Question], monitor: Monitor = SILENT) -> Iterator[Neighborhood]:
        """The answers in the order of the questions; fewer if the monitor has had enough."""
        kept = self.checkpoint
        if kept is None:
            yield from self._found(asked, monitor)
            return
        at_hand = [kept.knows(_key(question)) for question in asked]  # looked up once
        fresh = self._found([question for question, known in zip(asked, at_hand, strict=True) if not known], monitor)
        for question, known in zip(asked, at_hand, strict=True):
            if monitor.cancelled():
                return
            answer = None if known else next(fresh, None)
            if not known and answer is None:
                return
            yield Neighborhood(*kept.recall(_key(question), partial(_same, answer)))

    def _found(self, asked: Sequence[Question], monitor: Monitor) -> Iterator[Neighborhood]:
        """The answers, none of them kept."""
        done, started = 0, perf_counter()
        jobs = job_count(self.n_jobs) if self.client is None else sum(self.client.nthreads().values())
        ask = partial(_answers, self.judge)
        lot = max(1, min(TOGETHER, len(asked) // GROUPS)) if isinstance(self.judge, BatchedNeighborhoods) else 1
        while self.client is None and not _pays(jobs, perf_counter() - started, done, len(asked)):
            if done >= len(asked) or monitor.cancelled():
                return
            yield from ask(asked[done : done + lot])
            done += lot
        groups = _grouped(asked[done:], max(1, jobs) * GROUPS)
        quiet = Quietly(monitor)
        for answers in run(ask, groups, n_jobs=jobs, client=self.client, backend="processes", monitor=quiet):
            yield from answers


def _pays(jobs: int, seconds: float, done: int, total: int) -> bool:
    """Whether processes would be faster for what is left, to judge by what it took so far."""
    return jobs > 1 and 0 < done < total - 1 and seconds * (total - done) / done > WORTH


def _same(answer: Neighborhood | None) -> Neighborhood | None:
    return answer


def _answers(judge: NeighborhoodJudge, asked: Sequence[Question]) -> list[Neighborhood]:
    """By one thread of BLAS, here as on a worker: with more, the last bits of a factor are others."""
    with _blas().limit(limits=1, user_api="blas"):
        if isinstance(judge, BatchedNeighborhoods):
            return judge.neighborhoods(asked)
        return [judge.neighborhood(*question) for question in asked]


@cache
def _blas() -> Any:
    """The BLAS libraries of this process, once those are loaded that the judges use."""
    import scipy.linalg  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _grouped(asked: Sequence[Question], most: int) -> list[Sequence[Question]]:
    """At most so many groups of nearly the same size, in order."""
    count = min(most, len(asked))
    cuts = [len(asked) * k // count for k in range(count + 1)] if count else [0]
    return [asked[start:stop] for start, stop in pairwise(cuts)]


def _key(question: Question) -> tuple[str, Question, list[Any]]:
    """As a `Kept` judge asks."""
    return ("neighborhood", question, [])


# Walks over sets whose findings are kept, so that a run which was killed need not take them again.


_TOGETHER = 16  # variables whose findings are kept at a time: what is lost when a run is killed


class _Stopped(Exception):  # noqa: N818 - nothing is wrong
    """A part that was stopped before its end is not kept."""

    def __init__(self, found: Separated | Around | SeparatingSets) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class KeptWalk:
    """A walk whose findings are kept, some variables at a time; the same findings.

    Parameters
    ----------
    inside
        The walk.
    checkpoint
        Where they are kept.
    test
        By which test it decides: a kernel and a level.
    """

    inside: SubsetWalk
    checkpoint: Checkpoint
    test: tuple[Kernel, float]

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Part by part, each found now or kept from before."""
        if not xs:
            return self.inside.separate(level, xs, go_on)
        parts = []
        for first in range(xs.start, xs.stop, _TOGETHER):
            part = self._part(level, range(first, min(first + _TOGETHER, xs.stop)), go_on)
            if part is None:
                return None
            parts.append(part)
            if not part.finished:
                break
        return Separated(
            np.concatenate([part.sets for part in parts]),
            np.concatenate([part.log_support for part in parts]),
            sum(part.asked for part in parts),
            all(part.finished for part in parts),
        )

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Whom it leaves around x, found now or kept from before."""

        def find() -> list[Any]:
            found = self.inside.explain_away(x, candidates, limit, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else list(found)

        try:
            kept = self.checkpoint.recall(("explain_away", self.test, x, candidates, limit), find)
        except _Stopped as stopped:
            return cast(Around, stopped.found)
        return Around(*kept) if kept else None

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """The votes about one x, found now or kept from before."""

        def find() -> list[Any]:
            found = self.inside.count_separating(x, ys, around, limit, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else list(found)

        question = ("count_separating", self.test, x, ys, np.packbits(around).tobytes(), limit)
        try:
            kept = self.checkpoint.recall(question, find)
        except _Stopped as stopped:
            return cast(SeparatingSets, stopped.found)
        return SeparatingSets(*kept) if kept else None

    def _part(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Those of some variables; what they change in the level is kept with them."""
        fresh = level._replace(left=level.left.copy(), weakest=np.full(level.weakest.shape, np.nan))

        def find() -> list[Any]:
            found = self.inside.separate(fresh, xs, go_on)
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else [*found[:3], fresh.weakest[xs.start : xs.stop]]

        before = [np.packbits(matrix).tobytes() for matrix in (level.around, level.left)]
        try:
            kept = self.checkpoint.recall(("separate", self.test, level.size, xs, before), find)
            found = Separated(kept[0], kept[1], kept[2], finished=True) if kept else None
            weakest = kept[3] if kept else np.nan
        except _Stopped as stopped:
            found, weakest = cast(Separated, stopped.found), fresh.weakest[xs.start : xs.stop]
        if found is not None:
            ends = found.sets[:, 0], found.sets[:, 1]
            level.left[ends] = level.left[ends[::-1]] = False
            level.weakest[xs.start : xs.stop] = np.fmax(level.weakest[xs.start : xs.stop], weakest)
        return found
