"""`mnlearn demo`: the whole library on a survey that is drawn from a known network."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from mnlearn.cli.console import probability, say, show, simple_table, with_noun, writes_into
from mnlearn.cli.data import lay_out_overview
from mnlearn.cli.options import OutputOptions, option
from mnlearn.errors import FileError
from mnlearn.files import replacing

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.data.dataset import Dataset
    from mnlearn.graphs.graph import Edge
    from mnlearn.learning.tests import TestResult
    from mnlearn.results.learned import Learned
    from mnlearn.simulate.catalogue import Example

METHOD = "sep"
PAIRS_SHOWN = 15
SAMPLES, DOUBTFUL = 50, 0.5  # resampled data sets; an edge in fewer of them is doubtful
NO_REPORT = "A report needs the extra: pip install 'mnlearn[report]'."

People = Annotated[int, option("N", "Number of people who answer.", "--rows", min=2, max=1_000_000)]
Seed = Annotated[int, option("S", "Seed of the random numbers.", min=0)]
_FILES = ("survey.csv", "truth.edges.csv", "learned.graphml", "report.html")
Folder = Annotated[Path, writes_into(option("DIR", "Folder for the files.", "--out"), *_FILES)]


class Separation(NamedTuple):
    """Two dependent variables that a third one separates: their tests without it and given it."""

    marginal: TestResult
    conditional: TestResult


def demo_command(
    *, rows: People = 1000, seed: Seed = 1, out: Folder = Path("demo-output"), output: OutputOptions
) -> None:
    """Try mnlearn on a survey drawn from a known network.

    Writes the survey and the network to files, summarises the survey, tests all pairs of questions, learns the network
    from the answers and from samples of them, and writes a report.

    Examples:
      mnlearn demo
      mnlearn demo --rows 200 --seed 7 --out /tmp/survey
    """
    from mnlearn.data.overviews import overview
    from mnlearn.data.readers import read
    from mnlearn.learning.api import learn
    from mnlearn.learning.tests import dependences
    from mnlearn.simulate.catalogue import example

    survey = example(rows, seed)
    _check_own(out, survey.names)
    data, truth = _write(out, survey)
    dataset = read(data)
    summary, pairs = overview(dataset), dependences(dataset)
    found = _separation(dataset, survey, pairs)
    learned = learn(dataset, METHOD)
    if len(dataset.columns[0]) >= 4:
        learned = learned.bootstrap(SAMPLES, n_jobs=1)
    learned.save(out / "learned.graphml")
    report = _write_report(out, learned)
    commands = _commands(data, truth, found)

    def document() -> dict[str, object]:
        files = {"data": data, "truth": truth, "learned": out / "learned.graphml", "report": report}
        return {
            "files": {name: path and str(path) for name, path in files.items()},
            "info": summary.as_dict(),
            "dependences": [pair.to_dict() | {"edge": _is_edge(survey, pair)} for pair in pairs],
            "separation": found and {name: result.to_dict() for name, result in found._asdict().items()},
            "learned": learned.to_dict(),
            "commands": commands,
        }

    def text() -> None:
        say(f"Wrote {data} and {truth}, the true network ({with_noun(survey.graph.n_edges, 'edge')}).\n")
        show(*lay_out_overview(summary))
        say(f"\nThe strongest pairwise dependences, of {with_noun(len(pairs), 'pair')} (chi2, nothing given):")
        show(_strongest(survey, pairs[:PAIRS_SHOWN]))
        say(_explanation(found))
        say(f"{_comparison(survey, learned)} Wrote {out / 'learned.graphml'}.")
        say(_doubtful(survey, learned))
        say("\n".join(["\nNext:", *(f"  {command}" for command in commands)]))
        say(f"\nThe report is {report}: open it in a browser." if report else f"\n{NO_REPORT}")

    output.show(document, text)


def _check_own(out: Path, names: Sequence[str]) -> None:
    """Raise FileError if the folder holds files of these names that no demo wrote: its survey tells."""
    there = [name for name in _FILES if (out / name).exists()]
    if not there:
        return
    try:
        with (out / "survey.csv").open("rb") as file:
            own = file.readline(1 << 16) == (",".join(names) + "\n").encode()
    except OSError:
        own = False
    if not own:
        raise FileError(
            f"--out must be a new folder, or that of a former demo; {str(out)!r} holds another {there[0]}, which would "
            "be lost. Name another folder."
        )


def _write(out: Path, survey: Example) -> tuple[Path, Path]:
    """Write the answers to survey.csv and the network to truth.edges.csv."""
    from mnlearn.graphs.formats import write_graph

    data, truth = out / "survey.csv", out / "truth.edges.csv"
    try:
        out.mkdir(parents=True, exist_ok=True)
        with replacing(data) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(survey.names)
            writer.writerows(zip(*survey.columns().values(), strict=True))
    except OSError as error:
        raise FileError(
            f"--out must be a folder to write to; {str(out)!r}: {error.strerror or error}. Name another folder."
        ) from error
    write_graph(truth, survey.graph, survey.names)
    return data, truth


def _write_report(out: Path, learned: Learned) -> Path | None:
    """Write the report; return None if its packages are not installed."""
    from mnlearn.errors import MissingDependencyError

    target = out / "report.html"
    try:
        learned.report(target, title="Sleep and work: a survey of 12 questions", source="survey.csv")
    except MissingDependencyError:
        return None
    return target


def _is_edge(survey: Example, pair: TestResult) -> bool:
    """Return whether the true network has an edge between the pair."""
    u, v = sorted(map(survey.names.index, (pair.x, pair.y)))
    return (u, v) in survey.graph


def _separation(dataset: Dataset, survey: Example, pairs: Sequence[TestResult]) -> Separation | None:
    """Return the strongest dependence that one separating variable removes, in the network and in the data."""
    from mnlearn.learning.tests import independence_test

    for pair in pairs:
        if pair.independent or _is_edge(survey, pair):
            continue
        u, v = map(survey.names.index, (pair.x, pair.y))
        for w, name in enumerate(survey.names):
            if w in (u, v) or not survey.graph.separates(u, v, {w}):
                continue
            conditional = independence_test(dataset, pair.x, pair.y, [name])
            if conditional.independent:
                return Separation(pair, conditional)
    return None


def _strongest(survey: Example, pairs: Sequence[TestResult]) -> Table:
    """Return a table of pairs with their tests and the true network."""
    headings = ("pair", "", "statistic", "dof", "log p", "decision", "edge of the true network")
    table = simple_table(*headings, numbers=("statistic", "dof", "log p"))
    for pair in pairs:
        decision = "independent" if pair.independent else "dependent"
        numbers = (f"{pair.statistic:.1f}", f"{pair.dof:.0f}", f"{pair.log_p:.1f}")
        table.add_row(pair.x, pair.y, *numbers, decision, "yes" if _is_edge(survey, pair) else "no")
    return table


def _explanation(found: Separation | None) -> str:
    """Return the text below the table: how a third variable separates a pair."""
    if found is None:
        return "With so few rows no pair shows how a third variable separates two others; try --rows 1000.\n"
    x, y, (z,) = found.conditional.x, found.conditional.y, found.conditional.given
    before, after = (probability(result.log_p or 0.0) for result in found)
    return (
        f"{x} and {y} are dependent (p = {before}), but the network has no edge between them:\n"
        f"given {z} they are independent (p = {after}). A Markov network shows this difference.\n"
    )


def _comparison(survey: Example, learned: Learned) -> str:
    """Return a sentence that compares the learned network with the true one."""
    return f"Learned from the answers alone, by {METHOD}: {_against_truth(survey, learned.graph.edges)}."


def _against_truth(survey: Example, edges: Collection[Edge]) -> str:
    """Return the numbers of true, false and missing edges, in words."""
    true, found = set(survey.graph.edges), set(edges)
    wrong = [f"{survey.names[u]} - {survey.names[v]}" for u, v in sorted(found - true)]
    missed = [f"{survey.names[u]} - {survey.names[v]}" for u, v in sorted(true - found)]
    parts = [f"{len(true & found)} of the {len(true)} true edges"]
    parts += [f"{len(wrong)} false ({', '.join(wrong)})"] if wrong else []
    parts += [f"missing {', '.join(missed)}"] if missed else []
    return "; ".join(parts)


def _doubtful(survey: Example, learned: Learned) -> str:
    """Return which edges resampling casts doubt on, and what is left without them."""
    if learned.resampling is None or learned.frequencies is None:
        return "With so few rows nothing can be resampled."
    share = {edge: learned.frequencies.get(edge, 0.0) for edge in learned.graph.edges}
    doubtful = [edge for edge in sorted(share, key=share.__getitem__) if share[edge] < DOUBTFUL]
    samples = f"{with_noun(learned.resampling.done, 'sample')} of the rows"
    if not doubtful:
        return f"Every edge is found again in at least half of {samples}."
    named = ", ".join(f"{survey.names[u]} - {survey.names[v]} ({share[u, v]:.0%})" for u, v in doubtful)
    rest = _against_truth(survey, [edge for edge in share if edge not in doubtful])
    return f"Found again in fewer than half of {samples}, so doubtful: {named}. Without them: {rest}."


def _commands(data: Path, truth: Path, found: Separation | None) -> list[str]:
    """Return commands to try next."""
    table, graph = shlex.quote(str(data)), shlex.quote(str(truth))
    x, y, z = "night_shifts", "fatigue", "poor_sleep"
    if found is not None:
        x, y, (z,) = found.conditional.x, found.conditional.y, found.conditional.given
    return [
        f"mnlearn learn {table} --method {METHOD}",
        f"mnlearn test {table} {x} {y}",
        f"mnlearn test {table} {x} {y} --given {z}",
        f"mnlearn test {table} {x} {y} --given {z} --test bayes --json",
        f"mnlearn convert {graph} {shlex.quote(str(truth.with_name('truth.graphml')))}",
    ]
