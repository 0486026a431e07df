"""Resources of a run: threads, Dask client and memory, as statistics and judges use them.

`Counting` makes the statistics of a data set; `ParallelNeighborhoods` finds neighbourhoods of many variables at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_methods
from mnlearn.parallel import Quietly, job_count, limited, run
from mnlearn.protocols import (
    SILENT,
    BatchedNeighborhoods,
    Monitor,
    Neighborhood,
    NeighborhoodJudge,
    VarSet,
)
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.gpu_device import open_device
from mnlearn.statistics.moments import Moments, TestwiseMoments
from mnlearn.statistics.screens import PairScan, ScreenRule

_log = logging.getLogger("mnlearn.learning")

if TYPE_CHECKING:
    from mnlearn.statistics.shards import ShardedCounts


@dataclass(frozen=True)
class Counting:
    """Settings by which statistics are computed.

    Attributes
    ----------
    n_jobs
        Threads that count, or processes that fit models of one variable each; None for all cores.
    client
        A `distributed.Client` whose workers count a packed file, each some of its rows, or fit models.
    max_memory
        Bytes beyond the data, as for `Counts`.
    device
        A device that counts pairs of binary variables: "cuda" or the like, or "cpu" for its code on the processor.
    """

    n_jobs: int | None = None
    client: Any = None
    max_memory: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        job_count(self.n_jobs)  # raises: some methods never use it
        if self.device is not None:
            open_device(self.device)
            if self.client is not None:
                raise InputError("device and client exclude each other; got both. Leave one of them out.")
        if self.client is not None:
            check_methods("client", self.client, ("nthreads", "run"), "Make a distributed.Client('address:port').")

    def moments(self, dataset: Dataset) -> Any:
        """Return the correlations of continuous variables; where values are missing, test by test."""
        self._refuse_client("continuous variables, whose correlations are quick to compute")
        self._refuse_device("continuous variables")
        return (TestwiseMoments if dataset.gaps else Moments)(dataset, n_jobs=self.n_jobs)

    def pair_scan(self, dataset: Dataset, rule: ScreenRule) -> PairScan:
        """Return the scan of all pairs that fits the data."""
        if all(dataset.cards):
            return self.counts(dataset).pair_scan(rule)
        check_all_continuous(dataset)
        self._refuse_device("continuous variables")
        self._refuse_client("continuous variables, whose correlations are quick to compute")
        from mnlearn.statistics.screens import CorrelationScreen, RowScreen

        if dataset.gaps:
            return RowScreen(TestwiseMoments(dataset, n_jobs=self.n_jobs), rule)
        return CorrelationScreen(dataset, rule)

    def own_threads(self, judge: str) -> int | None:
        """Return the number of threads of a judge that reads the data itself, without workers."""
        self._refuse_client(f"{judge} of variables of several kinds or with gaps")
        self._refuse_device(f"{judge} of variables of several kinds or with gaps")
        return self.n_jobs

    def judge(self, judge: Any) -> Any:
        """Return a judge that reads the data itself, made parallel where it can be."""
        self._refuse_device("this method, which reads the rows itself")
        if hasattr(judge, "neighborhood"):
            return ParallelNeighborhoods(judge, self.n_jobs, self.client)
        self._refuse_client("this method, which reads all rows at once")
        return judge

    def counts(self, dataset: Dataset) -> Counts | ShardedCounts:
        """Return the contingency tables of categorical variables."""
        if self.device is not None:
            from mnlearn.statistics.gpu import DeviceCounts

            return DeviceCounts(dataset, device=self.device, n_jobs=self.n_jobs, max_memory=self.max_memory)
        if self.client is None:
            return Counts(dataset, n_jobs=self.n_jobs, max_memory=self.max_memory)
        from mnlearn.statistics.shards import ShardedCounts, row_shards

        return ShardedCounts(self.client, row_shards(dataset, len(self.client.nthreads()) or 1), n_jobs=self.n_jobs)

    def _refuse_device(self, what: str) -> None:
        if self.device is not None:
            raise InputError(f"device is for tables of binary variables; it does not help {what}. Leave it out.")

    def _refuse_client(self, what: str) -> None:
        if self.client is not None:
            raise InputError(f"client is for tables of a packed file; it does not help {what}. Leave it out.")


def check_all_continuous(dataset: Dataset) -> None:
    """Raise UnsuitableError unless all variables are continuous."""
    for name, kind in zip(dataset.names, dataset.kinds, strict=True):
        if kind != "continuous":
            raise UnsuitableError(
                f"a screen needs variables that are all categorical or all continuous; {name!r} is {kind} beside "
                "others. Use discretize='frequency', or select columns of one kind."
            )


def cost_of_gaps(judge: object) -> dict[str, int]:
    """Return, for the cost of a search, how many questions no row could answer; nothing if there were none."""
    inside: object = judge
    while inside is not None and not hasattr(inside, "without_rows"):
        names = ("statistics", "moments", "likelihoods", "counts", "posterior", "judge")
        parts = (getattr(inside, name, None) for name in names)
        inside = next((part for part in parts if part is not None), None)
    unanswered = int(getattr(inside, "without_rows", 0))
    if unanswered:
        _log.warning(
            "%d questions had no row in which all of their variables are observed; they count as independent",
            unanswered,
        )
    return {"without_rows": unanswered} if unanswered else {}


def check_counting(counting: object) -> None:
    """Raise InputError unless the value is a Counting or None."""
    if not isinstance(counting, Counting | None):
        raise InputError(f"counting must be a Counting; got a {type(counting).__name__}. Leave it out, and use n_jobs.")


_Query: TypeAlias = tuple[int, VarSet, VarSet]  # x, candidates, required

TOGETHER = 16  # variables per call of a judge that chooses for several at once
WORTH = 4.0  # seconds of remaining work from which processes pay: they take two to start
GROUPS = 4  # per job: the judge is sent once per group, and small groups balance the load


@dataclass(frozen=True)
class ParallelNeighborhoods:
    """Judge that finds neighbourhoods in processes or on a cluster, with the same bits as one after the other.

    Attributes
    ----------
    judge
        The judge that finds each of them.
    n_jobs
        Number of processes: None for all cores. They start only if the time of the first answers shows that it pays.
    client
        A `distributed.Client` whose workers are used instead.
    """

    judge: NeighborhoodJudge
    n_jobs: int | None = None
    client: Any = None

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.judge.n_variables

    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return one neighbourhood."""
        return next(self.spread([(x, candidates, required)]))

    def spread(self, asked: Sequence[_Query], monitor: Monitor = SILENT) -> Iterator[Neighborhood]:
        """Yield the answers in the order of the questions; fewer if the monitor cancels."""
        done, started = 0, perf_counter()
        jobs = job_count(self.n_jobs) if self.client is None else sum(self.client.nthreads().values())
        ask = partial(_answers, self.judge)
        lot = max(1, min(TOGETHER, len(asked) // GROUPS)) if isinstance(self.judge, BatchedNeighborhoods) else 1
        while self.client is None and not _pays(jobs, perf_counter() - started, done, len(asked)):
            if done >= len(asked) or monitor.cancelled():
                return
            with limited(jobs):
                answers = ask(asked[done : done + lot])
            yield from answers
            done += lot
        groups = _grouped(asked[done:], max(1, jobs) * GROUPS)
        quiet = Quietly(monitor)
        for answers in run(ask, groups, n_jobs=jobs, client=self.client, backend="processes", monitor=quiet):
            yield from answers


def _pays(jobs: int, seconds: float, done: int, total: int) -> bool:
    """Return whether processes would be faster for the rest, judging by the time so far."""
    return jobs > 1 and 0 < done < total - 1 and seconds * (total - done) / done > WORTH


def _answers(judge: NeighborhoodJudge, asked: Sequence[_Query]) -> list[Neighborhood]:
    """Answer with one thread of BLAS, here as on a worker: more threads change the last bits of a factor."""
    with _blas().limit(limits=1, user_api="blas"):
        if isinstance(judge, BatchedNeighborhoods):
            return judge.neighborhoods(asked)
        return [judge.neighborhood(*question) for question in asked]


@cache
def _blas() -> Any:
    """Return the controller of the BLAS libraries, after loading that of SciPy; scikit-learn has none of its own."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _grouped(asked: Sequence[_Query], most: int) -> list[Sequence[_Query]]:
    """Split questions into at most `most` groups of nearly the same size, in order."""
    count = min(most, len(asked))
    cuts = [len(asked) * k // count for k in range(count + 1)] if count else [0]
    return [asked[start:stop] for start, stop in pairwise(cuts)]
