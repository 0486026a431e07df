"""How tables are counted for a judge: by how many threads, by whom, in how much memory; and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from mnlearn.checkpoints import Checkpoint, Kept
from mnlearn.data import Dataset
from mnlearn.errors import InputError, check_methods
from mnlearn.parallel import job_count
from mnlearn.pipeline._kept_walk import KeptWalk
from mnlearn.pipeline._spread import Spread
from mnlearn.protocols import FloatArray, Kernel, SubsetWalk, Tables, Turns
from mnlearn.statistics import Counts, Moments, ShardedCounts, row_shards
from mnlearn.statistics.counts import pair_blocks
from mnlearn.statistics.evidence import EvidenceScans, Kind

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
