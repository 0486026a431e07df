"""How tables are counted for a judge: by how many threads, by whom, in how much memory; and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from mnlearn.checkpoints import Checkpoint
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_methods
from mnlearn.parallel import Quietly, job_count, run
from mnlearn.protocols import (
    SILENT,
    BatchedNeighborhoods,
    Monitor,
    Neighborhood,
    NeighborhoodJudge,
    VarSet,
)
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.moments import Moments

if TYPE_CHECKING:
    from mnlearn.statistics.sharded import ShardedCounts


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
        from mnlearn.learning.checkpointed import CheckpointedCounts

        return CheckpointedCounts(found, self.checkpoint)

    def moments(self, dataset: Dataset) -> Any:
        """Correlations of continuous ones."""
        self._refuse_client("continuous variables, whose correlations are soon computed here")
        if self.checkpoint is None:
            return Moments(dataset)
        from mnlearn.learning.checkpointed import CheckpointedMoments

        return CheckpointedMoments(dataset, self.checkpoint)

    def judge(self, judge: Any) -> Any:
        """A judge that reads the data itself: asked for many variables at once if it can, its answers kept."""
        if hasattr(judge, "neighborhood"):
            return ParallelNeighborhoods(judge, self.n_jobs, self.client, self.checkpoint)
        self._refuse_client("this method, which reads the rows itself and all at once")
        if self.checkpoint is None or not hasattr(judge, "information"):
            return judge
        from mnlearn.learning.checkpointed import CheckpointedInformation

        return CheckpointedInformation(judge, self.checkpoint)

    def _counts(self, dataset: Dataset) -> Counts | ShardedCounts:
        if self.client is None:
            return Counts(dataset, n_jobs=self.n_jobs, max_memory=self.max_memory)
        from mnlearn.statistics.sharded import ShardedCounts, row_shards

        return ShardedCounts(self.client, row_shards(dataset, len(self.client.nthreads()) or 1), n_jobs=self.n_jobs)

    def _refuse_client(self, what: str) -> None:
        if self.client is not None:
            raise InputError(f"client is for tables of a packed file; it does not help {what}. Leave it out.")


def check_counting(counting: object) -> None:
    """Refuse what does not say how to count."""
    if not isinstance(counting, Counting | None):
        raise InputError(f"counting must be a Counting; got a {type(counting).__name__}. Leave it out, and use n_jobs.")


# Neighbourhoods asked for together: found here where that is soon done, by processes or workers where it is not.


Question: TypeAlias = tuple[int, VarSet, VarSet]  # x, candidates, required

TOGETHER = 16  # variables that a judge is asked for at a time, where it chooses for several at once
WORTH = 4.0  # seconds of work left from which processes pay: they take two to begin
GROUPS = 4  # for each job: the judge travels with a group, and a group that takes long holds nobody up


@dataclass(frozen=True)
class ParallelNeighborhoods:
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
