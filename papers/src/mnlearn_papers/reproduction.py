"""Published figures beside ours: which experiment gives which figure, and how far apart the two are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mnlearn.errors import FileError
from mnlearn.files import replacing, write_errors
from mnlearn.parallel import job_count
from mnlearn.protocols import SILENT, Monitor
from mnlearn_papers.differences import ErrorTerm, standardized_difference
from mnlearn_papers.experiment import Experiment, Row, RunCell, recorded, run_experiment, write_rows

if TYPE_CHECKING:
    from mnlearn_papers.measured import Measurement

_LEGEND = 16  # the lines of a legend that fit beside a panel


class Key(NamedTuple):
    """Which figure of a table: of one learner, on one source of data, at one number of rows."""

    source: str
    n_rows: int
    learner: str


class Published(NamedTuple):
    """A mean of a paper, the standard deviation beside it (nan if it gives none), and how many data sets it is over.

    Where a paper prints the error of the mean instead of the deviation, `n` is 1. The step is one unit of the last
    printed digit: by default that of the figure of this quantity with most decimals, 0 for an exact number.
    """

    mean: float
    sd: float
    n: int
    step: float | None = None


class Comparison(NamedTuple):
    """One figure: the published one if there is one, ours, and how many standard errors lie between them.

    Standard errors are those of `experiments.differences`: 3 of them mean the same for few runs as for many.
    """

    source: str
    n_rows: int
    learner: str
    published: float | None
    ours: float
    sd: float
    n: int
    standard_errors: float | None
    seconds: float  # of processor time for one run
    visible: float | None = None  # the smallest difference that would be 3 standard errors


@dataclass(frozen=True)
class Request:
    """Part of an experiment to run; the defaults are those of the paper.

    Parameters
    ----------
    sizes, sources, methods
        Some of those of the paper; all when empty.
    repetitions
        Data sets for each figure.
    data
        The folder of the data, for experiments that need one.
    out
        A folder for the journal of the runs (which a later request continues) and the tables.
    n_jobs
        Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
    monitor
        Receives the progress and may cancel.
    cells
        Part of the sources, sizes and methods; all by default. With it, the table of runs is not written.
    """

    sizes: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    repetitions: int | None = None
    data: Path | None = None
    out: Path | None = None
    n_jobs: int | None = 1
    monitor: Monitor = SILENT
    cells: frozenset[RunCell] | None = None

    def __post_init__(self) -> None:
        job_count(self.n_jobs)  # raises


class ReproducibleMeasure(Protocol):
    """Runs what is requested of an experiment, and reads what was run before."""

    @property
    def name(self) -> str:
        """Enters the seeds; in a folder of runs, `NAME.jsonl` is the journal."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes and repetitions of the paper."""

    @property
    def repetitions(self) -> int:
        """Data sets for each figure, as in the paper."""

    def cells(self, data: Path | None) -> list[RunCell]:
        """Return all that is run at full size; FileError if that needs data which are not there."""

    def __call__(self, request: Request) -> list[Comparison]:
        """Run the requested part; runs are written to the folder as `NAME.jsonl` (the journal) and `NAME.runs.csv`."""

    def recorded(self, folder: Path) -> list[Comparison]:
        """The figures of all runs in a folder; none if there are no runs."""


@dataclass(frozen=True)
class Reproduction:
    """A published table that can be measured again.

    Parameters
    ----------
    title
        What it is, with its citation key.
    measure
        Runs what was requested and returns its figures.
    needs_data
        Whether it reads files from the folder of the data.
    quantity
        What the figures are.
    axis
        What the sizes count.
    alternatives
        Sources, learners and quantities that are further readings of the same published figures; the overview does not
        count them.
    """

    title: str
    measure: ReproducibleMeasure
    needs_data: bool = False
    quantity: str = "Hamming distance"
    axis: str = "rows"
    alternatives: frozenset[str] = frozenset()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of rows of the paper."""
        return self.measure.sizes

    @property
    def repetitions(self) -> int:
        """The data sets of the paper for each figure."""
        return self.measure.repetitions


@dataclass(frozen=True)
class TableOfDistances:
    """A table of mean Hamming distances and their details, measured by an experiment.

    The distance of a learner is named after it. "mpl false" and "mpl missing" are its false and its missing edges,
    "mpl f1" is its F-measure and "mpl seconds" the processor time of its method.

    Parameters
    ----------
    name
        Of the experiment and of its journal.
    experiment
        Makes the experiment; takes the folder of the data, which one that needs none ignores.
    published
        The figures of the paper.
    sizes, repetitions
        As in the paper.
    """

    name: str
    experiment: Callable[[Path | None], Experiment]
    published: Mapping[Key, Published]
    sizes: tuple[int, ...]
    repetitions: int

    def cells(self, data: Path | None) -> list[RunCell]:
        """Return all that is run at full size."""
        return self.experiment(data).cells(self.sizes)

    def __call__(self, request: Request) -> list[Comparison]:
        """Run the requested part."""
        experiment = self.experiment(request.data).only(request.sources, request.methods)
        rows = run_experiment(
            experiment,
            request.sizes or self.sizes,
            self.repetitions if request.repetitions is None else request.repetitions,
            journal=None if request.out is None else request.out / f"{self.name}.jsonl",
            n_jobs=request.n_jobs,
            monitor=request.monitor,
            only=request.cells,
        )
        if request.out is not None and request.cells is None:
            write_rows(rows, request.out / f"{self.name}.runs.csv")
        return compare_published(rows, self.published)

    def recorded(self, folder: Path) -> list[Comparison]:
        """The figures of all runs in a folder, by source and size."""
        journal = folder / f"{self.name}.jsonl"
        rows = recorded(self.name, journal) if journal.exists() else []
        sources = in_order(self, (row.source for row in rows))
        rows.sort(key=lambda row: (sources.index(row.source), row.n_rows, row.repetition))
        return compare_published(rows, self.published)


def in_order(measure: TableOfDistances | Measurement, seen: Iterable[str]) -> list[str]:
    """Return the sources that were seen in the order of the experiment; without its data, in that of the paper."""
    found = dict.fromkeys(seen)
    try:
        known = dict.fromkeys(cell.source for cell in measure.cells(None))
    except FileError:
        known = dict.fromkeys(key.source for key in measure.published)
    return [source for source in known if source in found] + [source for source in found if source not in known]


def compare_published(rows: Iterable[Row], published: Mapping[Key, Published]) -> list[Comparison]:
    """The mean Hamming distance of every learner, and its details, beside the published ones.

    The difference is in standard errors of itself, as `figure` explains; the unit of a distance is one edge.

    Parameters
    ----------
    rows
        What was run.
    published
        What the paper has.

    Examples
    --------
    >>> rows = [Row("chain", 100, k, "mpl", found, found, 0, 0.1) for k, found in enumerate([3, 5])]
    >>> line, *details = compare_published(rows, {Key("chain", 100, "mpl"): Published(3.0, 1.0, 2)})
    >>> line.ours, round(line.standard_errors, 3)
    (4.0, 0.659)
    >>> [(line.learner, line.ours) for line in details]
    [('mpl false', 4.0), ('mpl missing', 0.0), ('mpl seconds', 0.1)]
    """
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[Key(row.source, row.n_rows, row.learner)].append(row)
    known = with_steps(published)
    return [line for key, group in groups.items() for line in _comparisons(key, group, known)]


def without_details(lines: Iterable[Comparison], *, keep_published: bool = True) -> list[Comparison]:
    """Drop the details of the distances among the figures; those that have a published figure may stay."""
    everything = list(lines)
    known = {Key(line.source, line.n_rows, line.learner) for line in everything}

    def is_detail(line: Comparison) -> bool:
        learner, _, detail = line.learner.rpartition(" ")
        return detail in _DETAILS and Key(line.source, line.n_rows, learner) in known

    return [line for line in everything if (keep_published and line.published is not None) or not is_detail(line)]


def plot(lines: Sequence[Comparison], reproduction: Reproduction, path: Path) -> None:
    """The figures against the rows, one panel per source: published ones as circles, ours as lines."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sources = list(dict.fromkeys(line.source for line in lines))
    learners = list(dict.fromkeys(line.learner for line in lines))
    columns = -(-len(learners) // _LEGEND)
    figure = Figure(figsize=(3.2 * len(sources) + 1 + 1.8 * columns, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    for panel, source in zip(figure.subplots(1, len(sources), squeeze=False)[0], sources, strict=True):
        for k, learner in enumerate(learners):
            mine = [line for line in lines if (line.source, line.learner) == (source, learner)]
            panel.plot([m.n_rows for m in mine], [m.ours for m in mine], f"C{k % 10}-", label=learner)
            known = [(m.n_rows, m.published) for m in mine if m.published is not None]
            panel.plot([n for n, _ in known], [p for _, p in known], f"C{k % 10}o", fillstyle="none")
        panel.set(title=source, xscale="log", xlabel=reproduction.axis)
    figure.axes[0].set_ylabel(reproduction.quantity)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside right upper", ncols=columns, fontsize="small"
    )
    figure.suptitle(f"{reproduction.title} (circles: published)")
    with write_errors(path), replacing(path) as part:
        figure.savefig(part, dpi=110)


def figure(
    key: Key, values: Sequence[float], published: Published | None, seconds: float, *, unit: float | None = None
) -> Comparison:
    """The mean of the values beside the published one.

    The error of the difference has three parts: s₁² / n₁ of our values, s₂² / n₂ of the paper, and step² / 12, the
    rounding of the printed figure. A deviation that one side does not have is taken to be that of the other. Equal
    values have a deviation of zero by chance: it is taken to be that of the paper as well, and ours is at least
    unit / √(n + 1), the deviation of n equal values and one that differs by a unit.

    Parameters
    ----------
    key
        Which figure it is.
    values
        One for each data set.
    published
        The figure of the paper.
    seconds
        Mean processor time of a run.
    unit
        Smallest difference between two values; the last printed digit of the paper by default.

    Examples
    --------
    >>> line = figure(Key("chain", 100, "gsimn"), [1.0, 3.0], Published(4.0, nan, 2), 0.1)
    >>> line.ours, round(line.standard_errors, 3)
    (2.0, -0.856)
    """
    ours, sd, n = fmean(values), stdev(values) if len(values) > 1 else nan, len(values)
    found = None
    if published is not None:
        step = published.step or 0.0
        parts = _error_terms(sd, n, published, (step if unit is None else unit) / sqrt(n + 1))
        found = standardized_difference(ours - published.mean, [*parts, ErrorTerm(step**2 / 12)]) if parts else None
    away, visible = (None, None) if found is None else found
    mean = None if published is None else published.mean
    return Comparison(*key, mean, ours, sd, n, away, seconds, visible)


def _error_terms(sd: float, n: int, published: Published, least: float) -> list[ErrorTerm]:
    """Return the errors of both means; nothing if neither side has a deviation."""
    if n > 1 and not isnan(published.sd):
        of_paper = ErrorTerm(published.sd**2 / published.n, published.n - 1 if published.n > 1 else inf)
        likely = published.sd if sd == 0 and published.n > 1 else sd
        return [ErrorTerm(max(likely, least) ** 2 / n, n - 1), of_paper]
    if n > 1:
        return [ErrorTerm(max(sd, least) ** 2 * (1 / n + 1 / published.n), n - 1)]
    if published.n > 1 and not isnan(published.sd):
        return [ErrorTerm(max(published.sd, least) ** 2 * (1 / n + 1 / published.n), published.n - 1)]
    return []


def with_steps(published: Mapping[Key, Published]) -> dict[Key, Published]:
    """Add the unit of the last printed digit where it is missing: the finest among the figures of a quantity.

    Examples
    --------
    >>> keys = Key("ring", 100, "mpl"), Key("ring", 200, "mpl"), Key("ring", 100, "mpl false")
    >>> means = dict(zip(keys, [9.25, 8.5, 7], strict=True))
    >>> [line.step for line in with_steps({key: Published(mean, 1.0, 5) for key, mean in means.items()}).values()]
    [0.01, 0.01, 1.0]
    """
    decimals: dict[str, int] = defaultdict(int)
    for key, line in published.items():
        quantity = key.learner.partition(" ")[2]
        decimals[quantity] = max(decimals[quantity], len(f"{line.mean:.10g}".partition(".")[2]))
    steps = {quantity: 10.0**-many for quantity, many in decimals.items()}
    return {
        key: line if line.step is not None else line._replace(step=steps[key.learner.partition(" ")[2]])
        for key, line in published.items()
    }


_DETAILS: Mapping[str, Callable[[Row], float]] = {
    "false": lambda row: row.false_positives,
    "missing": lambda row: row.false_negatives,
    "f1": lambda row: row.confusion.f1,
    "seconds": lambda row: row.seconds,
}


def _comparisons(key: Key, rows: Sequence[Row], published: Mapping[Key, Published]) -> Iterator[Comparison]:
    """Yield the distance, then its details; no F-measure where a journal of an earlier version has no true edges."""
    seconds = fmean(row.seconds for row in rows)
    yield figure(key, [float(row.hamming) for row in rows], published.get(key), seconds, unit=1.0)
    for detail, of in _DETAILS.items():
        if detail == "f1" and not all(row.n_variables for row in rows):
            continue
        named = key._replace(learner=f"{key.learner} {detail}")
        unit = 1.0 if detail in ("false", "missing") else None
        line = figure(named, [of(row) for row in rows], published.get(named), seconds, unit=unit)
        # Seconds of another machine differ by more than chance: they are shown side by side, but not compared.
        yield line._replace(standard_errors=None, visible=None) if detail == "seconds" else line
