"""`mnlearn report`, `mnlearn plot` and `mnlearn why`: a report, a picture, and the evidence for one edge.

Report and plot learn from a data file, or read a result that `mnlearn learn --out FILE.json` wrote.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import escaped, exit_interrupted, progress_monitor, reads, say, writes
from mnlearn.cli.learn import Bootstrap, ResampleOptions, check_picture, check_report, network_size
from mnlearn.cli.options import JudgeOptions, LearnOptions, OutputOptions, argument, flag, option
from mnlearn.errors import InputError, MnlearnError, check_name, unknown_name, whole_number

if TYPE_CHECKING:
    from mnlearn.protocols import Monitor
    from mnlearn.results.learned import Learned

Source = Annotated[str, reads(argument("DATA|RESULT", "Data file to learn from, or a .json file of `learn --out`."))]
Network = Annotated[
    str | None, reads(option("FILE", "Result that mnlearn learn --out FILE.json wrote from DATA; nothing is learned."))
]

ResultData = Annotated[
    str | None, reads(option("DATA", "Data of RESULT: signs, types and warnings need them.", "--data"))
]


def report_command(
    source: Source,
    *,
    out: Annotated[
        str, writes(option("FILE", "File to write; report.html by default.", "--out", "-o"))
    ] = "report.html",
    title: Annotated[str | None, option("TEXT", "Title of the page.")] = None,
    group: Annotated[
        list[str] | None, option("NAME=A,B", "Group of columns, for colours and bridges; A:C is a range; repeatable.")
    ] = None,
    predictability: Annotated[
        bool, flag("--predictability", "Add how well each variable is predicted by its neighbours.")
    ] = False,
    stability: Annotated[
        int | None, option("B", "Add intervals of the weights and stability of the centralities: learn 2 B times.")
    ] = None,
    learning: SampledSourceOptions,
    output: OutputOptions,
) -> None:
    """Write an HTML report that opens in any browser, offline.

    Learns from DATA, or reads a saved RESULT. mnlearn learn --report FILE has all options of learning. With --stability
    a note says how long it will take; Ctrl-C stops after the samples so far.

    Examples:
      mnlearn report survey.csv
      mnlearn report survey.csv --out sleep.html --title "Sleep and work"
      mnlearn report survey.csv --bootstrap 100
      mnlearn report bfi.csv --group Agreeableness=A1:A5 --group Neuroticism=N1:N5 --stability 500
      mnlearn report patients.csv --discretize frequency --missing drop_rows
      mnlearn report network.json --data survey.csv --out sleep.html
    """
    from mnlearn.visual.report_text import cautions

    check_report("--out", out)
    _check_analyses(source, learning.data, predictability=predictability, stability=stability)
    named_groups(group, ())  # checks the form before anything is learned
    learned, interrupted = learning.learn_or_load(source)
    groups = named_groups(group, learned.names)
    computed, stopped = _analysed(learned, None if interrupted else stability, groups, learning.jobs)
    name = Path(learning.data or source).name
    learned.report(out, title=title, source=name, groups=groups, predictability=predictability, **computed)
    written = f"wrote {escaped(out)}: {network_size(learned)}"

    def document() -> dict[str, object]:
        found = {"variables": len(learned.names), "edges": learned.graph.n_edges, "converged": learned.converged}
        warnings = [caution._asdict() for caution in cautions(learned)]
        cases = {"cs_coefficient": computed["stability"].cs_coefficient} if "stability" in computed else {}
        return {"source": source, "report": out, "method": learned.method, **found, "cautions": warnings, **cases}

    output.show(document, lambda: say(f"{written}, by {learned.method}. Open it in a browser."))
    learning.resampling().exit_if(interrupted, learned)
    if stopped:
        exit_interrupted("the report has what the samples so far say")


def _check_analyses(source: str, data: str | None, *, predictability: bool, stability: int | None) -> None:
    """Raise an error for analyses without data or samples, before anything is learned."""
    for name, wanted in (("--predictability", predictability), ("--stability", stability is not None)):
        if wanted and is_result(source) and data is None:
            raise InputError(f"{name} needs the data; {source!r} is a saved result. Add --data DATA.")
    if stability is not None:
        whole_number("--stability", stability, least=14, hint="Use 500, for example.")


def _analysed(
    learned: Learned, samples: int | None, groups: dict[str, list[str]] | None, jobs: int | None
) -> tuple[dict[str, Any], bool]:
    """Return the intervals and the stability of a network, if wanted, and whether Ctrl-C stopped the samples."""
    found: dict[str, Any] = {}
    if samples is None:
        return found, False
    for name in ("intervals", "stability"):
        made, stopped = with_samples(getattr(learned, name), samples, groups=groups, n_jobs=jobs)
        found |= {} if made is None else {name: made}
        if stopped:
            return found, True
    return found, False


def with_samples(call: Callable[..., Any], samples: int, **options: Any) -> tuple[Any, bool]:
    """Return the result, or None, and whether Ctrl-C stopped the samples."""
    with progress_monitor() as monitor:
        try:
            return call(samples, monitor=monitor, **options), monitor.interrupted
        except MnlearnError:
            if monitor.interrupted:  # before the end of the first sample
                return None, True
            raise


def plot_command(
    source: Source,
    *,
    out: Annotated[str, writes(option("FILE", "File to write: .png, .svg or .pdf.", "--out", "-o"))],
    kind: Annotated[str, option("NAME", "network, heatmap, degrees, support, centralities or stability.")] = "network",
    title: Annotated[str | None, option("TEXT", "Title above the picture.")] = None,
    layout_seed: Annotated[int, option("S", "Seed of the layout.", "--layout-seed", min=0)] = 0,
    around: Annotated[
        list[str] | None, option("COL", "Draw only this column and its surroundings; repeatable.")
    ] = None,
    distance: Annotated[int | None, option("D", "With --around: edges from it; 1 by default.", min=1)] = None,
    look: LookOptions,
    learning: SampledSourceOptions,
    output: OutputOptions,
) -> None:
    """Draw a learned network, a part of it, or two of them.

    Learns from DATA, or reads a saved RESULT. mnlearn learn --plot FILE has all options of learning. Beyond 2,000
    columns or 20,000 edges, the picture shows the degree distribution and the hubs.

    Examples:
      mnlearn plot survey.csv --out network.svg
      mnlearn plot bfi.csv --out network.pdf --group Agreeableness=A1:A5 --group Neuroticism=N1:N5 --threshold 0.05
      mnlearn plot women.json --difference men.json --out difference.pdf
      mnlearn plot survey.csv --kind heatmap --out heatmap.pdf
      mnlearn plot survey.csv --bootstrap 100 --kind stability --out stability.png
      mnlearn plot network.json --data survey.csv --out network.png
      mnlearn plot genes.json --around BRCA1 --distance 2 --out brca1.svg
    """
    from mnlearn.visual.network import KINDS, surroundings

    check_name("kind of picture", kind, KINDS)
    check_picture("--out", out)
    if kind == "stability" and learning.bootstrap is None and not is_result(source):
        raise InputError("--kind stability needs frequencies of samples; got no --bootstrap. Add --bootstrap 200.")
    other = look.other(kind)
    if distance is not None and not around:
        raise InputError(f"--distance is for --around; got {distance} without it. Add --around COL.")
    if around and other is not None:
        raise InputError("--around is for the picture of one network; got another one too. Drop one of the two.")
    learned, interrupted = learning.learn_or_load(source)
    near = {"around": around, "distance": distance or 1} if around else {}
    look.draw(learned, other, out, kind=kind, title=title, seed=layout_seed, **near)
    drawn = surroundings(learned, around, distance or 1)[0] if around else learned
    size = {"variables": len(drawn.names), "edges": drawn.graph.n_edges}
    document = {"source": source, "picture": out, "kind": kind, "method": learned.method, **size}
    output.show(lambda: document, lambda: say(f"wrote {escaped(out)}: {network_size(drawn)}"))
    learning.resampling().exit_if(interrupted, learned)


@dataclass(frozen=True, kw_only=True)
class LookOptions(options.OptionGroup):
    """Appearance of the picture of a network, and a second network to compare it with."""

    group: Annotated[
        list[str] | None, option("NAME=A,B", "Group of columns, for colours and a legend; A:C is a range; repeatable.")
    ] = None
    label: Annotated[list[str] | None, option("COL=TEXT", "Label of a column in the picture; repeatable.")] = None
    layout: Annotated[str | None, option("NAME", "spring, circle or groups.")] = None
    node_size: Annotated[
        str | None, option("SIZE", "Factor for all nodes, or degree, strength, closeness, betweenness.", "--node-size")
    ] = None
    threshold: Annotated[float | None, option("W", "Do not draw edges with a smaller absolute weight.", min=0)] = None
    same_layout_as: Annotated[
        str | None, reads(option("FILE", "Saved result whose layout is used.", "--same-layout-as"))
    ] = None
    rings: Annotated[bool, flag("--rings", "Draw the predictability of each column as a ring around its node.")] = False
    side_by_side: Annotated[
        str | None, reads(option("FILE", "Saved result to draw beside the network, in one layout.", "--side-by-side"))
    ] = None
    difference: Annotated[
        str | None, reads(option("FILE", "Saved result to subtract: draws the differences of the weights."))
    ] = None

    def other(self, kind: str) -> Learned | None:
        """Return the second network, if there is one; wrong options are refused before anything is learned."""
        from mnlearn.learning import load
        from mnlearn.visual.figure_data import LAYOUTS, SIZES

        files = {"--same-layout-as": self.same_layout_as, "--side-by-side": self.side_by_side}
        files |= {"--difference": self.difference}
        given = {name: file for name, file in files.items() if file is not None}
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)} exclude each other; got both. Use one of them.")
        if self.rings and (kind != "network" or self.side_by_side or self.difference):
            raise InputError("--rings is for the picture of one network; got another one. Drop --rings.")
        if given and kind != "network":
            raise InputError(f"{next(iter(given))} is for the kind network; got --kind {kind}. Drop one of the two.")
        if self.layout is not None:
            check_name("--layout", self.layout, LAYOUTS)
        if isinstance(_size(self.node_size), str):
            check_name("--node-size", self.node_size, SIZES)
        _named_labels(self.label)
        return load(next(iter(given.values()))) if given else None

    def draw(
        self, learned: Learned, other: Learned | None, out: str, *, kind: str, title: str | None, seed: int, **near: Any
    ) -> None:
        """Draw the network, the surroundings of some columns, or the comparison with another network."""
        from mnlearn.visual import plot_difference, plot_side_by_side

        look: dict[str, Any] = {
            "groups": named_groups(self.group, learned.names),
            "labels": _named_labels(self.label),
            "layout": self.layout,
            "node_size": _size(self.node_size),
            "threshold": self.threshold,
            "seed": seed,
        }
        if other is not None and self.side_by_side is not None:
            names = ["this network", Path(self.side_by_side).stem]
            plot_side_by_side([learned, other], out, titles=names, title=title or "", **look)
        elif other is not None and self.difference is not None:
            names = ["this network", Path(self.difference).stem]
            plot_difference(learned, other, out, titles=names, title=title, **look)
        else:
            learned.plot(out, kind=kind, title=title, same_layout_as=other, rings=self.rings, **look, **near)


def named_groups(words: Sequence[str] | None, names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return the columns of each group; A1:A5 are the columns from A1 to A5 in the order of the data."""
    found: dict[str, list[str]] = {}
    for word in words or ():
        group, _, members = word.partition("=")
        if not group or not members:
            raise InputError(f"--group must be NAME=COL,COL; got {word!r}. Use --group mood=sad,tired, for example.")
        for member in members.split(","):
            first, _, last = member.partition(":")
            if member not in names and first in names and last in names:
                start, end = sorted((names.index(first), names.index(last)))
                found.setdefault(group, []).extend(names[start : end + 1])
            else:
                found.setdefault(group, []).append(member)
    return found or None


def _named_labels(words: Sequence[str] | None) -> dict[str, str] | None:
    """Return the label of each column."""
    for word in words or ():
        if not word.partition("=")[0] or "=" not in word:
            raise InputError(f"--label must be COL=TEXT; got {word!r}. Use --label night_shifts=nights, for example.")
    return {name: text for name, _, text in (word.partition("=") for word in words)} if words else None


def _size(word: str | None) -> str | float | None:
    """Return a factor as a number, and the name of a measure as it is."""
    try:
        return None if word is None else float(word)
    except ValueError:
        return word


@dataclass(frozen=True, kw_only=True)
class SourceOptions(LearnOptions):
    """Source of an analysis: data to learn from, or a saved result."""

    data: ResultData = None

    def resampling(self) -> ResampleOptions:
        """Return the options of resampling; by default there is none."""
        return ResampleOptions()

    def learn_or_load(self, source: str) -> tuple[Learned, bool]:
        """Return the network, and whether Ctrl-C cancelled the search or the samples."""
        from mnlearn import learning

        resampling, arguments = self.resampling(), self.learn_arguments()
        resampling.check()
        saved = self._saved(source)

        def learn(*, monitor: Monitor) -> Learned:
            return saved if saved is not None else learning.learn(source, monitor=monitor, **arguments)

        return resampling.learn(learn, self.jobs)

    def _saved(self, source: str) -> Learned | None:
        """Return the result that a file holds, with its data if they are named; None for a data file."""
        from mnlearn import learning

        if not is_result(source):
            if self.data is not None:
                raise InputError(
                    f"--data is for a saved result (.json); {source!r} is a data file. Drop it: DATA is given already."
                )
            return None
        for name in (field.name for field in fields(LearnOptions) if field.name != "jobs"):
            if getattr(self, name) is not None and getattr(self, name) is not False:
                option_name = name.strip("_").replace("_", "-")
                raise InputError(
                    f"--{option_name} is for learning; {source!r} is a saved result, whose --data are read as when it "
                    "was learned. Drop it, or name the data file instead."
                )
        learned = learning.load(source)
        return learned if self.data is None else learned.with_data(self.data)


@dataclass(frozen=True, kw_only=True)
class SampledSourceOptions(SourceOptions):
    """Source of a report or a picture, which may show how often edges occur in samples."""

    bootstrap: Bootstrap = None

    def resampling(self) -> ResampleOptions:
        """Return the options of resampling."""
        return ResampleOptions(bootstrap=self.bootstrap)


def is_result(source: str) -> bool:
    """Return whether a file holds a result rather than data."""
    return Path(source).suffix.lower() == ".json"


def why_command(
    data: options.Data,
    x: Annotated[str, argument("A", "A column.")],
    y: Annotated[str, argument("B", "Another column.")],
    *,
    network: Network = None,
    learning: LearnOptions,
    judging: JudgeOptions,
    output: OutputOptions,
) -> None:
    """Show the evidence for or against one edge.

    Prints tests of A and B given nothing and given the neighbours of either, the score with and without the edge, and
    for sep the log odds given the separators.

    Examples:
      mnlearn why survey.csv night_shifts fatigue
      mnlearn why survey.csv stress headaches --method mpl --json
      mnlearn why survey.csv stress headaches --network network.json
    """
    from mnlearn.learning import load

    if is_result(data):
        raise InputError(
            f"DATA must be a data file; {data!r} is a saved result. Name the data, and the result after it: "
            f"mnlearn why DATA A B --network {shlex.quote(data)}."
        )
    arguments = learning.learn_arguments(**judging.given())
    if network is None:
        found = _learn(data, x, y, arguments).why(x, y)
    elif learning != LearnOptions() or judging != JudgeOptions():
        raise InputError("--network excludes options of learning, which the file has; got both. Drop one of the two.")
    else:
        found = load(network).with_data(data).why(x, y)
    output.show(found.to_dict, lambda: say(str(found)))


def _learn(data: str, x: str, y: str, arguments: dict[str, Any]) -> Learned:
    """Read the data, check the pair of columns, and learn."""
    from mnlearn import learning
    from mnlearn.data.options import ReadOptions
    from mnlearn.data.readers import read

    names = ("columns", *ReadOptions.__annotations__)
    table = read(data, **{name: arguments.pop(name) for name in names if name in arguments})
    _check_pair(table.names, x, y)
    with progress_monitor() as monitor:
        learned = learning.learn(table, monitor=monitor, **arguments)
    if monitor.interrupted:
        exit_interrupted()
    return learned


def _check_pair(names: Sequence[str], x: str, y: str) -> None:
    """Raise an error unless x and y are two columns, before anything is learned."""
    for place, name in (("A", x), ("B", y)):
        if name not in names:
            raise unknown_name(f"{place}: column", name, names)
    if x == y:
        raise InputError(f"A and B must be two different columns; got {x!r} twice. Name two.")
