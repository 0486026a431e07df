"""`mnlearn demo`: the library on a data set of its own, drawn from a network that is known."""

from __future__ import annotations

import csv
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mnlearn.cli import options
from mnlearn.cli.console import counted, probability, say, show, show_json, simple_table
from mnlearn.cli.data import describe
from mnlearn.errors import FileError

if TYPE_CHECKING:
    from rich.table import Table

    from mnlearn.data.dataset import Dataset
    from mnlearn.learning.pairs import TestResult
    from mnlearn.results.learned import Learned
    from mnlearn.simulate.example import Example

METHOD = "sep"
PAIRS_SHOWN = 15
NO_REPORT = "A report needs the extra: pip install 'mnlearn[report]'."

EXAMPLES = """\b
Examples:
  mnlearn demo
  mnlearn demo --rows 200 --seed 7 --out /tmp/survey
"""

Rows = Annotated[int, typer.Option(min=2, max=1_000_000, metavar="N", help="How many people answer.")]
Seed = Annotated[int, typer.Option(min=0, metavar="S", help="The same seed gives the same answers.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")]


class Separation(NamedTuple):
    """Two variables that go together, and how they do once a third is known."""

    marginal: TestResult
    conditional: TestResult


def demo(
    *,
    rows: Rows = 1000,
    seed: Seed = 1,
    out: Out = Path("demo-output"),
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Try mnlearn on a survey drawn from a known network.

    Writes the survey and the network to files, shows what is in the survey, tests what goes with what, learns the
    network back, and writes a report of it.
    """
    from mnlearn.data.overview import overview
    from mnlearn.data.readers import read
    from mnlearn.learning.api import learn
    from mnlearn.learning.pairs import dependences
    from mnlearn.simulate.example import example

    survey = example(rows, seed)
    data, truth = _write(out, survey)
    dataset = read(data)
    seen, pairs = overview(dataset), dependences(dataset)
    found = _separation(dataset, survey, pairs)
    learned = learn(dataset, METHOD)
    learned.save(out / "learned.graphml")
    report = _report(out, learned)
    commands = _commands(data, truth, found)
    if as_json:
        listed = [pair.to_dict() | {"edge": _is_edge(survey, pair)} for pair in pairs]
        examples = None if found is None else {name: result.to_dict() for name, result in found._asdict().items()}
        files = {"data": data, "truth": truth, "learned": out / "learned.graphml", "report": report}
        show_json(
            {
                "files": {name: path and str(path) for name, path in files.items()},
                "info": seen.as_dict(),
                "dependences": listed,
                "separation": examples,
                "learned": learned.to_dict(),
                "commands": commands,
            }
        )
        return
    say(f"Wrote {data} and {truth}, the network behind it ({counted(survey.graph.n_edges, 'edge')}).\n")
    show(*describe(seen))
    say(f"\nThe strongest pairwise dependences, of {counted(len(pairs), 'pair')} (chi2, nothing given):")
    show(_strongest(survey, pairs[:PAIRS_SHOWN]))
    say("\n".join(_story(found)))
    say(f"{_comparison(survey, learned)} Wrote {out / 'learned.graphml'}.")
    say("\n".join(["\nNext:", *(f"  {command}" for command in commands)]))
    say(f"\nThe report is {report}: open it in a browser." if report else f"\n{NO_REPORT}")


def _report(out: Path, learned: Learned) -> Path | None:
    """The report beside the other files; none where what draws it is not installed."""
    from mnlearn.errors import MissingDependencyError

    target = out / "report.html"
    try:
        learned.report(target, title="Sleep and work: a survey of 12 questions", source="survey.csv")
    except MissingDependencyError:
        return None
    return target


def _comparison(survey: Example, learned: Learned) -> str:
    """How near the learned network comes to the true one."""
    true, found = set(survey.graph.edges), set(learned.graph.edges)
    wrong = [f"{survey.names[u]} - {survey.names[v]}" for u, v in sorted(found - true)]
    missed = [f"{survey.names[u]} - {survey.names[v]}" for u, v in sorted(true - found)]
    parts = [f"{len(true & found)} of the {len(true)} true edges"]
    parts += [f"{len(wrong)} that {'is' if len(wrong) == 1 else 'are'} not there ({', '.join(wrong)})"] if wrong else []
    parts += [f"missing {', '.join(missed)}"] if missed else []
    return f"Learned from the answers alone, by {METHOD}: {'; '.join(parts)}."


def _write(out: Path, survey: Example) -> tuple[Path, Path]:
    """The answers as survey.csv and the network as truth.edges."""
    from mnlearn.graphs.formats import write_graph

    data, truth = out / "survey.csv", out / "truth.edges"
    with _writing(out):
        out.mkdir(parents=True, exist_ok=True)
        temporary = out / f".survey-{os.getpid()}.tmp"
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(survey.names)
                writer.writerows(zip(*survey.columns().values(), strict=True))
            os.replace(temporary, data)
        finally:
            temporary.unlink(missing_ok=True)
    write_graph(truth, survey.graph, survey.names)
    return data, truth


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    """Make what the system refuses an error of ours."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"--out must be a folder to write to; {str(out)!r}: {error.strerror or error}. Name another folder."
        ) from error


def _is_edge(survey: Example, pair: TestResult) -> bool:
    """Whether the true network joins the two."""
    u, v = sorted(map(survey.names.index, (pair.x, pair.y)))
    return (u, v) in survey.graph


def _separation(dataset: Dataset, survey: Example, pairs: Sequence[TestResult]) -> Separation | None:
    """The strongest dependence that vanishes, in the data too, given the one variable that separates the pair."""
    from mnlearn.learning.pairs import independence_test

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
    """Pairs with the numbers of their test, beside the truth."""
    headings = ("pair", "", "statistic", "dof", "log p", "decision", "edge of the true network")
    table = simple_table(*headings, numbers=("statistic", "dof", "log p"))
    for pair in pairs:
        decision = "independent" if pair.independent else "dependent"
        numbers = (f"{pair.statistic:.1f}", f"{pair.dof:.0f}", f"{pair.log_p:.1f}")
        table.add_row(pair.x, pair.y, *numbers, decision, "yes" if _is_edge(survey, pair) else "no")
    return table


def _story(found: Separation | None) -> list[str]:
    """What the table alone does not tell."""
    if found is None:
        return ["With so few rows no pair shows how a third variable separates two others; try --rows 1000.", ""]
    x, y, (z,) = found.conditional.x, found.conditional.y, found.conditional.given
    before, after = (probability(result.log_p or 0.0) for result in found)
    return [
        f"{x} and {y} go together (p = {before}), yet the network has no such edge:",
        f"given {z} they are independent (p = {after}). That is what a Markov network tells apart.",
        "",
    ]


def _commands(data: Path, truth: Path, found: Separation | None) -> list[str]:
    """What to type next."""
    table, graph = shlex.quote(str(data)), shlex.quote(str(truth))
    x, y, z = "night_shifts", "fatigue", "poor_sleep"
    if found is not None:
        x, y, (z,) = found.conditional.x, found.conditional.y, found.conditional.given
    return [
        f"mnlearn learn {table} --method {METHOD}",
        f"mnlearn test {table} {x} {y}",
        f"mnlearn test {table} {x} {y} --given {z}",
        f"mnlearn test {table} {x} {y} --given {z} --test bayes --json",
        f"mnlearn convert {graph} {shlex.quote(str(truth.with_suffix('.graphml')))}",
    ]
