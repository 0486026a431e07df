"""Statistics and judges that store their answers in a checkpoint, so that a run which was killed can be resumed.

Each class answers like the object inside it, to the bit: an answer comes from the checkpoint if it is there, else from
the object inside, and is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.checkpoint import Checkpoint, key_of
from mnlearn.data.dataset import Dataset
from mnlearn.graphs.candidates import VariableLists
from mnlearn.protocols import (
    NO_TURNS,
    SILENT,
    Around,
    BoolArray,
    FloatArray,
    Indices,
    InformationJudge,
    IntArray,
    Kernel,
    Monitor,
    PairLists,
    Separated,
    SeparatingSets,
    SetLevel,
    SubsetWalk,
    Tables,
    Turns,
    VarSet,
)
from mnlearn.protocols.judges import LocalClimbs
from mnlearn.statistics.counts import PAIRS_TOGETHER, Counts, NativeClimbs, pair_blocks
from mnlearn.statistics.evidence import EvidenceScans, Kind
from mnlearn.statistics.moments import Moments, TestwiseMoments
from mnlearn.statistics.screens import PairScan, ScreenRule, ScreenStatistic, Step, StrongestPartners, run

if TYPE_CHECKING:
    from mnlearn.statistics.shards import ShardedCounts

_TOGETHER = 16  # variables stored as one answer: the work that is lost when a run is killed
_PARTS = 64  # answers to one level of PC among candidates: each part copies arrays of all of them
_Answer = TypeVar("_Answer")
_Found = TypeVar("_Found", bound="Around | SeparatingSets | _Part")


class StoredLists:
    """Store of a screen in a checkpoint: after each of `PARTS` equal parts of the pairs, and fewer for few pairs."""

    PARTS = 8
    PAIRS_A_PART = 1 << 30  # at least: less work is sooner done again

    def __init__(self, checkpoint: Checkpoint, rule: ScreenRule, scan: PairScan) -> None:
        self._checkpoint, self._rule, self._stored = checkpoint, rule, 0
        self._kind = type(scan).__name__  # which has an order of rows of its own

    def latest(self) -> tuple[int, StrongestPartners] | None:
        """Return the last stored pairs and the first row that they lack."""
        for part in range(self.PARTS, 0, -1):
            if self._checkpoint.knows(self._question(part)):
                self._stored = part
                row, n, starts, partners, evidence = self._checkpoint.recall(self._question(part), _nothing)
                return int(row), StrongestPartners(int(n), starts, partners, evidence)
        return None

    def offer(self, step: Step, so_far: Callable[[], StrongestPartners]) -> None:
        """Store the pairs kept so far if another part of all pairs is done, at the end of a row."""
        if step.row is None:
            return
        parts = max(1, min(self.PARTS, step.total // self.PAIRS_A_PART))
        part = parts * step.done // max(step.total, 1) + self.PARTS - parts
        if part <= max(self._stored, self.PARTS - parts):
            return
        self._stored = part
        found = so_far()
        answer = [step.row, found.n_variables, found.starts, found.partners, found.evidence]
        self._checkpoint.recall(self._question(part), lambda: answer)

    def _question(self, part: int) -> object:
        return ("screen", self._kind, asdict(self._rule), part)


def _nothing() -> Any:
    return None


class CheckpointedCounts:
    """`Statistics` that store their answers; the parameters of the methods are those of `Counts`.

    The native core infers nothing by rules here: it learns from what it counts, not from stored answers.
    """

    def __init__(self, counts: Counts | ShardedCounts, checkpoint: Checkpoint) -> None:
        self._counts, self._checkpoint = counts, checkpoint
        self.names, self.cards, self.n_rows = counts.names, counts.cards, counts.n_rows
        self.gaps = counts.gaps

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    @property
    def without_rows(self) -> int:
        """Number of tables scored so far, since the run began or was resumed, for which no row is complete."""
        return self._counts.without_rows

    @property
    def copies(self) -> Mapping[int, int]:
        """The original of each variable that is a copy of an earlier one."""
        return self._counts.copies

    def question_rows(self, x: int, ys: Indices, z: VarSet) -> IntArray:
        """Return the number of rows in which x, z and each y are observed."""
        return self._counts.question_rows(x, ys, z)

    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables:
        """Count (x, y) within every observed configuration of z, for each y."""
        found: Any = self._recall("tables", self._counts.tables, x, ys, z)
        if isinstance(found, Tables):
            return found
        x, ys, z, strata, counts = found
        return Tables(x, tuple(ys), tuple(z), strata, tuple(counts))

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y."""
        return self._recall("reduce", self._counts.reduce, kernel, x, ys, z)

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone."""
        return self._recall("local", self._counts.local, kernel, x, z)

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y given nothing."""
        return self._recall("reduce_all", self._counts.reduce_all, kernel)

    def all_pairs_blocks(
        self, kernel: Kernel, *, max_pairs: int = PAIRS_TOGETHER
    ) -> Iterator[tuple[range, FloatArray]]:
        """Score every pair x < y given nothing, stored block by block."""
        counts = self._counts
        if not isinstance(counts, Counts):
            yield range(self.n_variables - 1), self.reduce_all(kernel)
            return
        for xs in pair_blocks(self.n_variables, max_pairs):
            question = ("all_pairs_blocks", kernel, xs)
            yield xs, self._checkpoint.recall(question, partial(counts.reduce_pairs, kernel, xs))

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable; the pairs kept so far are stored from time to time."""
        rule = ScreenRule(k=k, threshold=threshold, statistic=statistic)
        scan = self._counts.pair_scan(rule)
        return run(scan, monitor, StoredLists(self._checkpoint, rule, scan))

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Return what `reduce` gives for each x with its ys and its z."""
        return self._recall("reduce_many", self._counts.reduce_many, kernel, xs, yss, zs)

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, every y in z given the rest of z."""
        return self._recall("members", self._counts.members, kernel, xs, zs)

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, x given z without one member."""
        return self._recall("without", self._counts.without, kernel, xs, zs)

    def grow(self, kernel: Kernel, level: float, x: int, ys: Indices, z: VarSet, **options: Any) -> Turns:
        """Test each y in turn given z and the dependent ones before it, where the counts can."""
        if not isinstance(self._counts, Counts):
            return NO_TURNS
        return Turns(*self._recall("grow", self._counts.grow, kernel, level, x, ys, z, **options))

    def shrink(self, kernel: Kernel, level: float, x: int, ys: Indices, z: VarSet, **options: Any) -> Turns:
        """Test each member y of z in turn given the rest of z that is left, where the counts can."""
        if not isinstance(self._counts, Counts):
            return NO_TURNS
        return Turns(*self._recall("shrink", self._counts.shrink, kernel, level, x, ys, z, **options))

    def subsets(self, kernel: Kernel, level: float) -> SubsetWalk | None:
        """Return the search over conditioning sets, stored some variables at a time, where the counts have one."""
        if not isinstance(self._counts, Counts):
            return None
        return CheckpointedSubsets(self._counts.subsets(kernel, level), self._checkpoint, (kernel, level))

    def local_climbs(self, kernel: Kernel, log_prior: FloatArray, **price: Any) -> LocalClimbs | None:
        """Return climbs by a local score that store their scans of all variables, where the counts climb."""
        if not isinstance(self._counts, Counts):
            return None
        climbs = self._counts.local_climbs(kernel, log_prior, **price)
        return CheckpointedClimbs(climbs, self._checkpoint, (kernel, log_prior, sorted(price.items())))

    def evidence(self, *, three_way: bool = True) -> EvidenceScans:
        """Return fits of conditional models, stored as they come from the tables."""
        inside = self._counts.evidence(three_way=three_way)

        def rows(kind: Kind, *question: Any) -> Any:
            return self._checkpoint.recall((kind, three_way, question), lambda: inside.rows(kind, *question))

        return inside.with_rows(rows)

    def _recall(self, method: str, find: Callable[..., _Answer], *question: Any, **options: Any) -> _Answer:
        return _recall(self._checkpoint, method, find, *question, **options)


class CheckpointedClimbs:
    """Climbs by a local score whose scans of all variables are stored; climbs among candidates are computed again.

    Parameters
    ----------
    inside
        The climbs.
    checkpoint
        Where scans are stored.
    score
        What identifies the score: its kernel, prior and price.
    """

    def __init__(self, inside: NativeClimbs, checkpoint: Checkpoint, score: object) -> None:
        self._checkpoint, self._score, self._strongest = checkpoint, key_of(score), inside.strongest
        self.locals, self.climb = inside.locals, inside.climb
        self.removal_gains, self.flips = inside.removal_gains, inside.flips

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most."""
        lists = [blankets, *([] if ys is None else [ys])]
        question = ("strongest", self._score, xs, k, [(one.starts, one.members) for one in lists])
        found: Any = self._checkpoint.recall(question, lambda: self._strongest(xs, blankets, k, ys=ys))
        return found if isinstance(found, VariableLists) else VariableLists(*found)


class CheckpointedMoments(Moments):
    """`Moments` that store what each question about a conditioning set was answered."""

    def __init__(self, dataset: Dataset, checkpoint: Checkpoint, *, n_jobs: int | None = None) -> None:
        super().__init__(dataset, n_jobs=n_jobs)
        self._checkpoint = checkpoint

    def partial_correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return the correlation of x with each y given z."""
        return _recall(self._checkpoint, "partial_correlations", super().partial_correlations, x, ys, z)

    def member_correlations(self, x: int, z: Collection[int]) -> FloatArray:
        """Return the correlation of x with every member of z, in ascending order, given the other members."""
        return _recall(self._checkpoint, "member_correlations", super().member_correlations, x, z)

    def conditional_entropies(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return H(x | z + y) for each y."""
        return _recall(self._checkpoint, "conditional_entropies", super().conditional_entropies, x, ys, z)

    def subsets(self, level: float) -> SubsetWalk:  # type: ignore[override]  # of the same methods
        """Return the search over conditioning sets, stored some variables at a time."""
        return CheckpointedSubsets(super().subsets(level), self._checkpoint, ("pcor", level))


class CheckpointedTestwiseMoments(TestwiseMoments):
    """`TestwiseMoments` that store what each question was answered."""

    def __init__(self, dataset: Dataset, checkpoint: Checkpoint, *, n_jobs: int | None = None) -> None:
        super().__init__(dataset, n_jobs=n_jobs)
        self._checkpoint = checkpoint

    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]:
        """Return the partial correlations of x with each y given z, and the rows behind each."""
        r, rows = _recall(self._checkpoint, "measured", super().measured, x, ys, z)
        return r, rows

    def subsets(self, level: float) -> SubsetWalk:  # type: ignore[override]  # of the same methods
        """Return the search over conditioning sets, stored some variables at a time."""
        return CheckpointedSubsets(super().subsets(level), self._checkpoint, ("pcor", level))


@dataclass(frozen=True)
class CheckpointedInformation:
    """Judge of mutual information that stores its two matrices."""

    judge: InformationJudge
    checkpoint: Checkpoint

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.judge.n_variables

    def information(self) -> FloatArray:
        """Return the mutual information of every pair."""
        return _recall(self.checkpoint, "information", self.judge.information)

    def log_p(self) -> FloatArray:
        """Return the log p-value of every pair."""
        return _recall(self.checkpoint, "log_p", self.judge.log_p)


def _recall(checkpoint: Checkpoint, method: str, find: Callable[..., _Answer], *args: Any, **options: Any) -> _Answer:
    """Return the stored answer of a method to these arguments, or call it and store the answer."""
    found: _Answer = checkpoint.recall((method, args, sorted(options.items())), partial(find, *args, **options))
    return found


class _Part(NamedTuple):
    """Pairs that a search separated for some x, and what it wrote into `SetLevel.weakest` for them."""

    sets: Any
    log_support: FloatArray
    asked: int
    weakest: FloatArray
    finished: bool = True


class _Stopped(Exception):  # noqa: N818 - nothing is wrong
    """Keeps the findings of a search that was cancelled out of the checkpoint."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class CheckpointedSubsets:
    """Search over conditioning sets whose findings are stored, some variables at a time.

    Parameters
    ----------
    inside
        The search.
    checkpoint
        Where findings are stored.
    test
        The kernel, or the name of the test, and the level by which it decides.
    """

    inside: SubsetWalk
    checkpoint: Checkpoint
    test: tuple[Kernel | str, float]

    def separate(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> Separated | None:
        """Try the sets of one size, `_TOGETHER` variables after the other."""
        if not xs:
            return self.inside.separate(level, xs, go_on)
        parts: list[_Part] = []
        together = _TOGETHER if level.lists is None else max(_TOGETHER, len(xs) // _PARTS)
        for first in range(xs.start, xs.stop, together):
            part = self._part(level, range(first, min(first + together, xs.stop)), go_on)
            if part is None:
                return None
            parts.append(part)
            if not part.finished:
                break
        sets, support = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        return Separated(sets, support, sum(one.asked for one in parts), parts[-1].finished)

    def explain_away(
        self, x: int, candidates: Indices, limit: int | None, go_on: Callable[[int], bool]
    ) -> Around | None:
        """Return the neighbours that interleaved HITON-PC leaves around x."""
        question = ("explain_away", self.test, x, candidates, limit)
        return self._recall(Around, question, lambda: self.inside.explain_away(x, candidates, limit, go_on))

    def count_separating(
        self, x: int, ys: Indices, around: BoolArray | PairLists, limit: int | None, go_on: Callable[[int], bool]
    ) -> SeparatingSets | None:
        """Count the sets of neighbours that separate each y from x."""
        listed = isinstance(around, PairLists)
        neighbors = [array.tobytes() for array in around] if listed else np.packbits(around).tobytes()
        question = ("count_separating", self.test, x, ys, neighbors, limit)
        return self._recall(SeparatingSets, question, lambda: self.inside.count_separating(x, ys, around, limit, go_on))

    def _part(self, level: SetLevel, xs: range, go_on: Callable[[int], bool]) -> _Part | None:
        """Separate the pairs of some x, and enter what that changes into the level."""
        starts = None if level.lists is None else level.lists.starts
        rows = slice(xs.start, xs.stop) if starts is None else slice(starts[xs.start], starts[xs.stop])

        def find() -> _Part | None:
            fresh = level._replace(left=level.left.copy(), weakest=np.full(level.weakest.shape, np.nan))
            found = self.inside.separate(fresh, xs, go_on)
            return None if found is None else _Part(*found[:3], fresh.weakest[rows], found.finished)

        before = [np.packbits(matrix).tobytes() for matrix in (level.around, level.left)]
        part = self._recall(_Part, ("separate", self.test, level.size, xs, before), find)
        if part is not None:
            ends = part.sets[:, 0], part.sets[:, 1]
            for one, other in (ends, ends[::-1]):
                level.left[(one, other) if level.lists is None else level.lists.places(one, other)] = False
            level.weakest[rows] = np.fmax(level.weakest[rows], part.weakest)
        return part

    def _recall(self, kind: type[_Found], question: object, find: Callable[[], _Found | None]) -> _Found | None:
        """Return what is stored, or what is found now; stored unless the search was cancelled."""

        def finished() -> list[Any]:
            found = find()
            if found is not None and not found.finished:
                raise _Stopped(found)
            return [] if found is None else list(found)

        try:
            stored = self.checkpoint.recall(question, finished)
        except _Stopped as stopped:
            return stopped.found  # type: ignore[no-any-return]
        return kind(*stored) if stored else None
