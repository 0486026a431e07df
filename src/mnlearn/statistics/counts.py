"""Contingency tables of categorical variables.

`Counts` holds a data set in the native core and answers scans: one x, one conditioning set z, many y. Counts are
exact 64-bit integers. Only observed configurations of z are stored, so a conditioning set with 2^60 configurations
costs no more than the rows allow.

Climbs by a local score in the native core: whole blankets and flips of edges, for many variables in one call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, check_not_weighted, copied_columns
from mnlearn.data.packs import plane_layout
from mnlearn.data.rows import Observed
from mnlearn.errors import FileError, InputError, UnsuitableError, true_or_false, whole_number
from mnlearn.graphs.candidates import VariableLists
from mnlearn.numbers import ABSOLUTE, RELATIVE
from mnlearn.parallel import job_count
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.protocols.judges import Climbed, ClimbLimits, EdgeFlips
from mnlearn.protocols.statistics import Indices, IntArray, Kernel, Tables, VarSet
from mnlearn.statistics.evidence import EvidenceScans
from mnlearn.statistics.screens import NativeScreen, ScreenRule, ScreenStatistic, StrongestPartners, run
from mnlearn.statistics.searches import UNREADABLE, BlanketScans, SubsetScans, check_level, question, refusal
from mnlearn.statistics.tables import complete_tables


class NativeClimbs:
    """`LocalClimbs` of a kernel of counts; made by `Counts.local_climbs`."""

    def __init__(self, score: _core.LocalScore) -> None:
        self._score = score

    def locals(self, xs: NDArray[np.int32], blankets: VariableLists) -> FloatArray:
        """Return the score of each x with its blanket."""
        return self._score.locals(xs, blankets.starts, blankets.members)

    def climb(
        self,
        xs: NDArray[np.int32],
        blankets: VariableLists,
        *,
        scores: FloatArray,
        leaving: NDArray[np.int8],
        partners: VariableLists,
        limits: ClimbLimits,
    ) -> Climbed:
        """Climb from each blanket among the partners of x; where `leaving`, with deletions first."""
        start = (xs, blankets.starts, blankets.members, scores, leaving)
        rules = (limits.required, limits.most, limits.rounding)
        found = self._score.climb(*start, partners.starts, partners.members, *rules)
        starts, members, values, states, rounds, scored = found
        return Climbed(VariableLists(starts, members), values, states, rounds, scored)

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most, among all or its ys; none that do not.

        Ranked by score, then by index. `ys` holds those that a filter has left, ascending.
        """
        now = self.locals(xs, blankets)
        bars = now + np.maximum(ABSOLUTE, RELATIVE * np.abs(now))
        among = () if ys is None else (ys.starts, ys.members)
        starts, members, _ = self._score.strongest(xs, blankets.starts, blankets.members, bars, k, *among)
        return VariableLists(starts, members)

    def removal_gains(self, us: NDArray[np.int32], vs: NDArray[np.int32], scores: FloatArray) -> FloatArray:
        """Return the change of the score without each edge u < v of a graph, in lexicographic order."""
        return self._score.removal_gains(us, vs, scores)

    def flips(self, graph: NDArray[np.int32], eligible: NDArray[np.int32], *, most: int, rounding: float) -> EdgeFlips:
        """Return the flips of the eligible pairs from a graph: arrays of two rows, u < v, in lexicographic order."""
        return _core.EdgeFlips(self._score, graph[0], graph[1], eligible[0], eligible[1], most, rounding)


MAX_TABLE_CELLS = 2.0**29  # 4 GiB of counts in one answer
PAIRS_TOGETHER = 1 << 18  # of a block: 2 MB an output, which caches hold
_ALL_MEMORY = 2**63 - 1  # the largest limit of the core


class Counts(BlanketScans):
    """Exact counts of a data set of categorical variables.

    Parameters
    ----------
    dataset
        Categorical variables only. Where values are missing (``missing="testwise"``), each question (x, y | z) is
        about the rows in which x, y and all of z are observed.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result. Inside a job
        of `mnlearn.parallel.run`, at most the job's share of the cores.
    max_memory
        Bytes of memory beyond the data set, for caches and for a second form of the data that makes some scans faster:
        a soft limit, by default two bytes a value. Not included are the bit-planes (see below) and scratch memory
        while counting: 4 to 12 bytes a row and thread for a scan, up to 8 a row for `grow`; for `shrink`, the table of
        x and z, up to 15 a row of binary variables and 190 of variables of four states. Any limit gives the same bits.

    Notes
    -----
    The code path (``avx512``, ``avx2``, ``neon`` or ``portable``) is the fastest the processor can run, unless the
    environment variable ``MNLEARN_CORE`` names one. All give the same bits. The codes of the data set are not copied;
    bit-planes (at most one byte a value) are built at the first scan that profits from them. A packed file
    (`mnlearn.data.pack`) is counted in place, codes and bit-planes alike, after its checksums are verified.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts, kernels
    >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]))
    >>> information, dof = counts.reduce(kernels.mi(), 0, [1, 2], frozenset())
    >>> information.round(3).tolist()
    [0.693, 0.0]
    """

    def __init__(self, dataset: Dataset, *, n_jobs: int | None = None, max_memory: int | None = None) -> None:
        if not isinstance(dataset, Dataset):
            raise UnsuitableError(
                f"Counts needs a Dataset; got a {type(dataset).__name__}. Read it first: Counts(mnlearn.read(...))."
            )
        continuous = [name for name, card in zip(dataset.names, dataset.cards, strict=True) if card == 0]
        if continuous:
            raise UnsuitableError(
                f"Counts needs categorical variables; {continuous[0]!r} is continuous"
                + (f" (and {len(continuous) - 1} more)" if len(continuous) > 1 else "")
                + ". Discretise it (mnlearn.discretize), leave it out, or use a test for continuous data (pcor)."
            )
        check_not_weighted(dataset, "rows that are counted", "Replace them by rows: mnlearn.data.effective_rows(data).")
        self.names = dataset.names
        self.cards = dataset.cards
        self.gaps = tuple(name in dataset.gaps for name in dataset.names)
        self._dataset = dataset
        self._threads = job_count(n_jobs)
        limits = {} if max_memory is None else {"max_bytes": _bytes(max_memory)}
        dataset.verify()
        self._store = _store(dataset, **limits)

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return self._store.n_rows

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    @property
    def without_rows(self) -> int:
        """Number of tables scored so far for which no row has all variables observed."""
        return self._store.without_rows

    def question_rows(self, x: int, ys: Indices, z: VarSet) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y are observed."""
        x, ys_array, z_array = question(x, ys, z)
        return self._observed.rows(x, ys_array.tolist(), z_array.tolist())

    @cached
    def _observed(self) -> Observed:
        return Observed(self._dataset)

    @property
    def code_path(self) -> str:
        """Code path in use: avx512, avx2, neon or portable."""
        return self._store.level

    @property
    def nbytes(self) -> int:
        """Memory beyond the data set, in bytes: planes, rows of bits, caches, log tables, reused scratch."""
        return self._store.extra_bytes

    def tables(self, x: int, ys: Indices, z: VarSet) -> Tables:
        """Count (x, y) within every observed configuration of z, for each y.

        With gaps, each table has the rows in which its x, y and z are observed; its strata are those of all the ys.
        """
        x, ys_array, z_array = question(x, ys, z)
        strata, counts = _core.tables(self._store, x, ys_array, z_array, MAX_TABLE_CELLS, self._threads)
        found = Tables(x, tuple(ys_array.tolist()), tuple(z_array.tolist()), strata, tuple(counts))
        return complete_tables(found, self.cards) if any(self.gaps) else found

    def cells(self, x: int, z: VarSet) -> tuple[IntArray, IntArray]:
        """Return the non-empty cells of the table of z and x: their states, and how often each occurs.

        States have a row for each variable, z ascending and x last. Cells with the same states of z are adjacent.
        """
        x, _, z_array = question(x, (), z)
        states, counts = _core.cells(self._store, x, z_array)
        if any(self.gaps):
            complete = (states < np.array([[self.cards[v]] for v in (*z_array.tolist(), x)])).all(axis=0)
            states, counts = states[:, complete], counts[:, complete]
        return states, counts.reshape(-1)

    def reduce(self, kernel: Kernel, x: int, ys: Indices, z: VarSet) -> FloatArray:
        """Score the table (x, y | z) of each y: one row per output of the kernel, one column per y."""
        try:
            return _core.reduce(self._store, kernel.name, kernel.settings, x, ys, z, self._threads)
        except UNREADABLE as error:
            raise refusal(error, kernel, [x], [ys], [z]) from None

    def local(self, kernel: Kernel, x: int, z: VarSet) -> FloatArray:
        """Score the table of x given z alone: the outputs of the kernel for a constant y."""
        try:
            return _core.local(self._store, kernel.name, kernel.settings, x, z)[:, 0]
        except UNREADABLE as error:
            raise refusal(error, kernel, [x], [()], [z]) from None

    def reduce_all(self, kernel: Kernel) -> FloatArray:
        """Score every pair x < y without conditioning: pairs in lexicographic order, one column each.

        See Also
        --------
        all_pairs_blocks : blocks of pairs, for so many variables that the answer would not fit into memory.
        """
        return self.reduce_pairs(kernel, range(self.n_variables))

    def all_pairs_blocks(
        self, kernel: Kernel, *, max_pairs: int = PAIRS_TOGETHER
    ) -> Iterator[tuple[range, FloatArray]]:
        """Score every pair x < y without conditioning, some x at a time.

        Parameters
        ----------
        kernel
            The score.
        max_pairs
            Largest number of pairs in a block, 2 MB an output by default. A block has at least one x.

        Yields
        ------
        tuple
            The x of the block, as a range, and one row per output, one column per pair: pairs in lexicographic order.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts, kernels
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]))
        >>> for xs, block in counts.all_pairs_blocks(kernels.mi(), max_pairs=2):
        ...     print(xs, block[0].round(3).tolist())
        range(0, 1) [0.693, 0.0]
        range(1, 2) [0.0]
        """
        most = whole_number("max_pairs", max_pairs, least=1, hint="Leave it out for blocks of about 2 MB.")
        return ((xs, self.reduce_pairs(kernel, xs)) for xs in pair_blocks(self.n_variables, most))

    def reduce_pairs(self, kernel: Kernel, xs: range) -> FloatArray:
        """Score every pair x < y with x in a range: pairs in lexicographic order, one column each."""
        try:
            return _core.reduce_pairs(self._store, kernel.name, kernel.settings, xs.start, xs.stop, self._threads)
        except UNREADABLE as error:
            raise refusal(error, kernel, (), (), ()) from None

    def screen(
        self,
        k: int | None = 20,
        *,
        threshold: float | None = None,
        statistic: ScreenStatistic = "g2",
        monitor: Monitor = SILENT,
    ) -> StrongestPartners:
        """Return the strongest partners of each variable by marginal evidence, in one pass over all pairs.

        Parameters
        ----------
        k, threshold, statistic
            Which pairs are kept, as for `mnlearn.statistics.screens.ScreenRule`.
        monitor
            Receives progress in pairs, and may cancel: the result is then not `complete`.

        Notes
        -----
        Memory: 16 k bytes a variable, never a number for every pair.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1] * 9, [0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9]))
        >>> partners = counts.screen(k=1)
        >>> [array.tolist() for array in partners.pairs()]
        [[0], [1], [49.90659713745117]]
        """
        return run(self.pair_scan(ScreenRule(k=k, threshold=threshold, statistic=statistic)), monitor)

    def pair_scan(self, rule: ScreenRule) -> NativeScreen:
        """Return the scan of all pairs by which `screen` finds the strongest."""
        return NativeScreen(self._store, rule, self._threads)

    def reduce_many(
        self, kernel: Kernel, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]
    ) -> list[FloatArray]:
        """Return what `reduce` gives for each x with its ys and its z, to the bit.

        All questions are checked before the first is counted; with many scans each thread takes whole ones.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts, kernels
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]))
        >>> first, second = counts.reduce_many(kernels.entropy(), [0, 2], [[1], [0, 1]], [frozenset()] * 2)
        >>> first.round(3).tolist(), second.round(3).tolist()
        ([[0.0]], [[0.693, 0.693]])
        """
        try:
            return _core.reduce_many(self._store, kernel.name, kernel.settings, xs, yss, zs, self._threads)
        except UNREADABLE as error:
            raise refusal(error, kernel, xs, yss, zs) from None

    def members(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, every y in z given the rest of z: one column per member, in ascending order.

        The same bits as `reduce` for each member alone, all from one table of x and z.

        Examples
        --------
        >>> from mnlearn.data import Dataset
        >>> from mnlearn.statistics import Counts, kernels
        >>> counts = Counts(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]))
        >>> (scores,) = counts.members(kernels.mi(), [0], [frozenset({1, 2})])
        >>> scores[0].round(3).tolist()
        [0.693, 0.0]
        """
        try:
            return _core.members(self._store, kernel.name, kernel.settings, xs, zs, self._threads)
        except UNREADABLE as error:
            raise refusal(error, kernel, xs, repeat(()), zs) from None

    def without(self, kernel: Kernel, xs: Indices, zs: Sequence[VarSet]) -> list[FloatArray]:
        """Score, for each x and its z, x given z without one member: one column per member, in ascending order.

        The same bits as `local` for each smaller set, all from one table of x and z.
        """
        try:
            return _core.without(self._store, kernel.name, kernel.settings, xs, zs, self._threads)
        except UNREADABLE as error:
            raise refusal(error, kernel, xs, repeat(()), zs) from None

    def subsets(self, kernel: Kernel, level: float) -> SubsetScans:
        """Return the search over conditioning sets for the test of a kernel and a level: a `SubsetWalk`.

        Parameters
        ----------
        kernel
            Kernel of a test: chi2 or g2, whose support is log p, or bayes, whose support is the log posterior.
        level
            A pair is independent iff its support is above it.
        """
        if not isinstance(kernel, Kernel):
            raise refusal(TypeError(), kernel, (), (), ())
        check_level(level)
        tests = _core.count_tests(self._store, kernel.name, kernel.settings, level)
        return SubsetScans(tests, n_threads=self._threads)

    def local_climbs(
        self,
        kernel: Kernel,
        log_prior: FloatArray,
        *,
        scale: float = 1.0,
        weights: FloatArray | None = None,
        cards: FloatArray | None = None,
    ) -> NativeClimbs:
        """Return climbs by the local score scale · kernel − weight of x · configurations + log prior.

        Parameters
        ----------
        kernel
            Kernel with one output: dirichlet or entropy.
        log_prior
            Log prior of a blanket by its size, 0 to n − 1.
        scale
            Factor of the kernel.
        weights, cards
            Price of a configuration of the blanket of each variable, and the states of each that count for it; None if
            configurations are free.
        """
        price = [] if weights is None else weights.tolist()
        states = [] if cards is None else cards.tolist()
        settings = (kernel.name, kernel.settings, scale, price, states, log_prior.tolist())
        return NativeClimbs(_core.LocalScore(self._store, *settings, self._threads))

    @cached
    def copies(self) -> Mapping[int, int]:
        """The original of each variable that is a copy of an earlier one, whatever the labels of its states."""
        return MappingProxyType(copied_columns(self._dataset.columns, self.cards))

    def evidence(self, *, three_way: bool = True) -> EvidenceScans:
        """Return fits of conditional models to these counts; `mnlearn.scores.evidence` explains them."""
        true_or_false(three_way=three_way)
        check_evidence(self.names, self.gaps)
        return EvidenceScans(self._store, three_way=three_way, n_threads=self._threads)


def check_evidence(names: Sequence[str], gaps: Sequence[bool]) -> None:
    """Raise UnsuitableError if a variable has gaps: models of several variables share their rows."""
    if any(gaps):
        raise UnsuitableError(
            f"evidence from counts needs complete data; {names[gaps.index(True)]!r} has missing values "
            "(missing='testwise'). Use missing='drop_rows', or a method that asks tests, such as pc or gsmn*."
        )


def pair_blocks(n_variables: int, most: int) -> Iterator[range]:
    """Yield the x of blocks of pairs x < y, at most `most` pairs in each but at least one x."""
    n, first = n_variables, 0
    while first < n - 1:
        last, pairs = first + 1, n - 1 - first
        while last < n - 1 and pairs + (n - 1 - last) <= most:
            pairs += n - 1 - last
            last += 1
        yield range(first, last)
        first = last


def _store(dataset: Dataset, **limits: Any) -> _core.Store:
    """Return the data set in the core, which compares the bit-planes of a packed file with its codes."""
    planes = _planes(dataset)
    level = os.environ.get("MNLEARN_CORE", "")
    try:
        return _core.Store(
            dataset.columns,
            dataset.cards,
            dataset.repeats,
            dataset.n_records,
            level,
            gaps=[name in dataset.gaps for name in dataset.names],
            **planes,
            **limits,
        )
    except InputError as error:
        if dataset.pack is None or "planes" not in str(error):
            raise
        raise FileError(
            f"path must be an intact pack; the bit-planes in {dataset.pack.path} are not those of its codes. Pack the "
            "data again."
        ) from None


def _planes(dataset: Dataset) -> dict[str, Any]:
    """Return the bit-planes of a packed file, as arguments of the core; it has none for the code of a gap."""
    if dataset.repeats is not None or dataset.gaps:
        return {}
    planes = None if dataset.pack is None else dataset.pack.planes_of(dataset.columns)
    if planes is None or dataset.pack is None:
        return {}
    first = list(plane_layout(dataset.cards).first)
    return {"planes": planes, "first_planes": first, "plane_totals": dataset.pack.plane_totals}


def _bytes(max_memory: int) -> int:
    wanted = whole_number("max_memory", max_memory, least=1 << 20, hint="Give bytes, or leave it out.")
    return min(wanted, _ALL_MEMORY)
