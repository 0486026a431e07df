"""`mnlearn learn`: learn a network from a data file, print it and write it to files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import (
    escaped,
    exit_interrupted,
    first_names,
    progress_monitor,
    say,
    show_rows,
    simple_table,
    with_noun,
    writes,
    writes_into,
)
from mnlearn.cli.options import (
    CandidateOptions,
    ClusterOptions,
    LearnOptions,
    OptionGroup,
    OutputOptions,
    TestOptions,
    flag,
    option,
)
from mnlearn.errors import FileError, InputError, MnlearnError, whole_number

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned

SHOWN = 40  # edges listed without --all

Bootstrap = Annotated[int | None, option("B", "Learn again from B samples of the rows; count how often edges occur.")]
Sampling = Annotated[
    str | None,
    option(
        "subsamples|bootstrap|halves",
        "Samples of --bootstrap: 63.2 % of the rows without replacement (default), all with replacement, or halves.",
    ),
]
Stable = Annotated[float | None, option("T", "Keep the pairs that are an edge in at least this share of the samples.")]
MaxMemory = Annotated[str | None, option("SIZE", "Memory limit for caches, e.g. 500M; other memory is not limited.")]
CheckpointFolder = Annotated[
    str | None,
    writes_into(
        option("DIR", "Store the samples of --bootstrap in DIR, so that a killed run can be resumed."),
        "answers.mncheck",
    ),
]
Resume = Annotated[bool, flag("--resume", "Continue the run that --checkpoint holds; the result is the same.")]
Out = Annotated[
    str | None,
    writes(
        option(
            "FILE",
            "Write the network: .json (whole result), .graphml, .dot, .edges.csv (table), .csv (matrix).",
        )
    ),
]
Plot = Annotated[str | None, writes(option("FILE", "Draw the network: .png, .svg or .pdf; more kinds: mnlearn plot."))]


def learn_command(
    data: options.Data,
    *,
    learning: LearnOptions,
    testing: TestOptions,
    score: options.Score = None,
    edges: EdgeOptions,
    pairs: CandidateOptions,
    resampling: ResampleOptions,
    files: FileOptions,
    all_: Annotated[bool, flag("--all", f"List all edges, not only the first {SHOWN}.")] = False,
    workers: ClusterOptions,
    max_memory: MaxMemory = None,
    output: OutputOptions,
) -> None:
    """Learn a network from the columns of DATA.

    Ctrl-C stops the search; the best network so far is printed and marked as not converged.

    Examples:
      mnlearn learn survey.csv
      mnlearn learn survey.csv --report report.html --plot network.svg
      mnlearn learn survey.csv --bootstrap 200 --out network.json
      mnlearn learn survey.csv --bootstrap 100 --sampling halves --stable 0.9
      mnlearn learn survey.csv --method sep --set effort=standard --set keep_pairs=true --json
      mnlearn learn survey.csv --method gsmn* --test g2 --alpha 0.01 --out network.graphml
      mnlearn learn genes.parquet --method pc --test pcor --set max_conditioning=3 --json
      mnlearn learn patients.csv --discretize frequency --bins 3 --missing drop_rows
      mnlearn learn survey.csv --method mpl --required stress,headaches --forbidden stress,exercise
      mnlearn learn large.mnpack --method bjp --bootstrap 1000 --checkpoint run1
      mnlearn learn genes.mnpack --method pc --candidates screen --k 10
      mnlearn learn small.csv --method exhaustive --score bjp --set averaging=true --json
    """
    from mnlearn import learning as library

    memory = options.drop_none(max_memory=size_in_bytes(max_memory))
    arguments = learning.learn_arguments(score=score, **testing.given(), **edges.given(), **pairs.given(), **memory)
    resampling.check()
    files.check()
    with workers.client() as client:
        learn = partial(library.learn, data, client=client, **arguments)
        learned, interrupted = resampling.learn(learn, learning.jobs, client=client)
    written, failure = files.write(learned, Path(data).name)
    output.show(learned.to_dict, lambda: _show_result(learned, written, all_edges=all_))
    if failure is not None:  # the network is printed even if a file cannot be written
        raise failure
    resampling.exit_if(interrupted, learned)


@dataclass(frozen=True, kw_only=True)
class FileOptions(OptionGroup):
    """Files that the network is written to."""

    out: Out = None
    plot: Plot = None
    report: Annotated[str | None, writes(option("FILE", "Write an HTML report of the whole result: .html."))] = None

    def check(self) -> None:
        """Raise an error for a file of an unknown kind, before anything is learned."""
        if self.out is not None:
            from mnlearn.graphs.formats import check_extension

            check_extension(self.out, "--out")
        if self.plot is not None:
            check_picture("--plot", self.plot)
        if self.report is not None:
            check_report("--report", self.report)

    def write(self, learned: Learned, source: str) -> tuple[list[str], FileError | None]:
        """Write the files up to the first failure; return the paths written and the failure."""
        writers: list[tuple[str | None, Callable[[str], object]]] = [
            (self.out, learned.save),
            (self.plot, learned.plot),
            (self.report, lambda path: learned.report(path, source=source)),
        ]
        done: list[str] = []
        for path, write in writers:
            try:
                if path is not None:
                    write(path)
                    done.append(path)
            except FileError as error:
                return done, error
        return done, None


@dataclass(frozen=True, kw_only=True)
class EdgeOptions(OptionGroup):
    """Edges that are required or forbidden."""

    required: Annotated[list[str] | None, option("A,B", "Required edge; repeatable. Not for methods by tests.")] = None
    forbidden: Annotated[list[str] | None, option("A,B", "Forbidden edge; repeatable. Not for methods by tests.")] = (
        None
    )

    def given(self) -> dict[str, Any]:
        """Return the pairs of names."""
        return options.drop_none(
            required=_pairs("--required", self.required), forbidden=_pairs("--forbidden", self.forbidden)
        )


def _pairs(name: str, texts: list[str] | None) -> list[list[str]] | None:
    """Split the values of an option at the comma; a name with a comma must be in double quotes."""
    if texts is None:
        return None
    pairs = [next(csv.reader([text]), []) for text in texts]  # one at a time: an open quote must not join two
    for text, pair in zip(texts, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(
                f"{name} must have the form A,B, two columns; got {text!r}. Put a name with a comma in double quotes."
            )
    return pairs


def size_in_bytes(text: str | None) -> int | None:
    """Return a size in bytes, given a number that may end in K, M, G or T."""
    if text is None:
        return None
    number, unit = text[:-1], "KMGT".find(text[-1:].upper())
    try:
        return int(float(number) * 1024 ** (unit + 1)) if unit >= 0 else int(text)
    except (ValueError, OverflowError):
        raise InputError(f"--max-memory must be a size such as 500M or 2G; got {text!r}. Leave it out.") from None


@dataclass(frozen=True, kw_only=True)
class ResampleOptions(OptionGroup):
    """Samples of the rows that are learned from after the network."""

    bootstrap: Bootstrap = None
    sampling: Sampling = None
    bootstrap_seed: Annotated[int | None, option("S", "Seed of --bootstrap; 0 by default.")] = None
    stable: Stable = None
    checkpoint: CheckpointFolder = None
    resume: Resume = False

    def check(self) -> None:
        """Raise InputError for bad options before anything is learned."""
        from mnlearn.checkpoint import check_checkpoint

        seed, stable = self.bootstrap_seed, self.stable
        check_checkpoint(self.checkpoint, self.resume)
        given = {"--sampling": self.sampling, "--bootstrap-seed": seed, "--stable": stable}
        for name, value in {**given, "--checkpoint": self.checkpoint}.items():
            if value is not None and self.bootstrap is None:
                raise InputError(f"{name} is for --bootstrap; got {value} without it. Add --bootstrap 200.")
        if self.bootstrap is not None:
            whole_number("--bootstrap", self.bootstrap, least=2, most=10**7, hint="200 are usual.")
        if seed is not None and seed < 0:
            raise InputError(f"--bootstrap-seed must not be negative; got {seed}. Leave it out for 0.")
        if stable is not None and not 0 < stable <= 1:
            raise InputError(f"--stable must be above 0 and at most 1; got {stable:g}. 0.9 is usual.")
        if self.sampling not in (None, "subsamples", "bootstrap", "halves"):
            raise InputError(f"--sampling must be subsamples, bootstrap or halves; got {self.sampling!r}. Drop it.")

    def learn(self, learn: Callable[..., Learned], jobs: int | None, *, client: Any = None) -> tuple[Learned, bool]:
        """Learn with a monitor, then resample if --bootstrap was given.

        Returns
        -------
        tuple
            The network, and whether Ctrl-C cancelled the search or the samples.
        """
        with progress_monitor() as monitor:
            learned = learn(monitor=monitor)
        if self.bootstrap is None or monitor.interrupted:
            return learned, monitor.interrupted
        settings: Any = {"sampling": self.sampling or "subsamples", "seed": self.bootstrap_seed or 0}
        settings |= {"client": client, "checkpoint": self.checkpoint, "resume": self.resume}
        with progress_monitor() as monitor:
            try:
                found = learned.bootstrap(self.bootstrap, n_jobs=jobs, monitor=monitor, **settings)
            except MnlearnError:
                if monitor.interrupted:  # before the end of the first sample
                    return learned, True
                raise
        return (found if self.stable is None else found.stable(self.stable)), monitor.interrupted

    def exit_if(self, interrupted: bool, learned: Learned) -> None:
        """Exit with a note about the missing part of the result if Ctrl-C was pressed."""
        if not interrupted:
            return
        if not learned.converged:
            exit_interrupted("this is the best network so far; the search did not end")
        if learned.resampling is not None:
            samples = with_noun(learned.resampling.done, "sample")
            exit_interrupted(f"the network is complete; its frequencies are from the first {samples}")
        exit_interrupted("the network is complete" + (", without frequencies" if self.bootstrap is not None else ""))


def check_picture(name: str, path: str) -> None:
    """Raise an error if a picture cannot be drawn, or has another extension."""
    from mnlearn.errors import require
    from mnlearn.visual.canvas import check_picture_path

    check_picture_path(path, name)
    require("matplotlib", "plot")


def check_report(name: str, path: str) -> None:
    """Raise an error if a report cannot be made, or has another extension."""
    from mnlearn.errors import require
    from mnlearn.visual.report import check_report_path

    check_report_path(path, name)
    for module in ("jinja2", "bokeh"):
        require(module, "report")


_SCALES = {"log_independence": "log support", "log_odds": "log odds"}  # low is certain; high is certain


def _show_result(learned: Learned, written: list[str], *, all_edges: bool) -> None:
    """Print the edges, what the search cost, and the files written."""
    from mnlearn.results.explain import words_of_transform

    graph = learned.graph
    isolated = sum(1 for v in range(graph.n_variables) if not graph.degree(v))
    lone = f" ({isolated} without an edge)" if isolated else ""
    say(f"{network_size(learned)}{lone}, by {learned.method}{words_of_transform(learned.settings)}")
    _show_edges(learned, all_edges=all_edges)
    if learned.weights is not None and graph.n_edges:
        say(f"weights are {learned.weights.words}")
    if learned.score is not None:
        name = learned.settings.get("score", learned.method)
        say(f"{name} score {learned.score:.6f}{_next_best(learned)}")
    say(learned.cost_in_words + ("" if learned.converged else "; stopped before its end"))
    if learned.resampling is not None:
        say(f"frequencies of {learned.resampling}{_expected_false(learned)}")
    for path in written:
        say(f"wrote {escaped(path)}")


def network_size(learned: Learned) -> str:
    """Return the numbers of edges and variables."""
    return f"{with_noun(learned.graph.n_edges, 'edge')} among {with_noun(len(learned.names), 'variable')}"


def _show_edges(learned: Learned, *, all_edges: bool) -> None:
    """Print a table of the edges, the best supported first."""
    from mnlearn.results.edges import first_edges

    most = None if all_edges else SHOWN
    edges, heading = first_edges(learned, most), _SCALES[learned.support_scale]
    if not edges:
        return
    formats = {"weight": "+.3f", "support": ".4g", "probability": ".3f", "frequency": ".3f"}
    known = [name for name in formats if name == "support" or any(getattr(edge, name) is not None for edge in edges)]
    rows = []
    for edge in edges:
        numbers = {name: getattr(edge, name) for name in known}
        cells = ("" if value is None else f"{value:{formats[name]}}" for name, value in numbers.items())
        rows.append((edge.u, edge.v, *cells))
    titles = [heading if name == "support" else name for name in known]
    table = simple_table("edge", "", *titles, numbers=titles)
    show_rows(table, rows, limit=most, total=learned.graph.n_edges)


def _expected_false(learned: Learned) -> str:
    """Return the bound on the number of false edges, where there is one."""
    record = learned.resampling
    if record is None or record.threshold is None or record.sampling != "halves" or record.threshold <= 0.5:
        return ""
    return f", at most {record.expected_false(record.threshold):.3g} expected to be false"


def _next_best(learned: Learned) -> str:
    """Return the distance to the second best graph, where it is known."""
    if not learned.result.alternatives or learned.score is None:
        return ""
    graph, value = learned.result.alternatives[0]
    differing = sorted(set(graph.edges) ^ set(learned.graph.edges))
    pairs = [f"{learned.names[u]} - {learned.names[v]}" for u, v in differing]
    return f", {learned.score - value:.4g} above the next best graph, which differs in {first_names(pairs, shown=4)}"
