"""What `mnlearn learn` can be told besides how to read and to judge, in bundles: edges that are known, rows drawn anew,
files to write, and what a long run keeps.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Bundle
from mnlearn.cli._draws import Draws
from mnlearn.cli._sources import check_picture, check_report
from mnlearn.cli._targets import check_target
from mnlearn.errors import FileError, InputError

if TYPE_CHECKING:
    from mnlearn.output import Learned

Require = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="An edge that must be there; repeatable. Not for methods by tests."),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="An edge that must not be there; repeatable. Not for methods by tests."),
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the network: .json (the whole result), .graphml, .gml, .dot, .edges, .edges.csv or .csv (matrix).",
    ),
]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help="Draw the network: .png, .svg or .pdf. More kinds: mnlearn plot.")
]
Report = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a report for a browser, with all that was learned: .html.")
]
Bootstrap = Annotated[
    int | None, typer.Option(metavar="B", help="Learn B times more from rows drawn anew: how often is each edge there?")
]
SamplingOption = Annotated[
    str | None,
    typer.Option(
        metavar="subsamples|bootstrap|halves",
        help="How --bootstrap draws rows: 63.2 % without replacement (the default), all with replacement, or halves.",
    ),
]
BootstrapSeed = Annotated[int | None, typer.Option(metavar="S", help="Seed of --bootstrap; 0 by default.")]
Stable = Annotated[
    float | None, typer.Option(metavar="T", help="Keep the pairs that are an edge in at least this share of samples.")
]


@dataclass(frozen=True, kw_only=True)
class Constraining(Bundle):
    """Edges that are known to be there, or not to be."""

    require: Require = None
    forbid: Forbid = None

    def said(self) -> dict[str, Any]:
        """The same as pairs of names."""
        required, forbidden = _pairs("--require", self.require), _pairs("--forbid", self.forbid)
        return options.said(required=required, forbidden=forbidden)


@dataclass(frozen=True, kw_only=True)
class Redrawing(Bundle):
    """Rows drawn anew after a network was learned."""

    bootstrap: Bootstrap = None
    sampling: SamplingOption = None
    bootstrap_seed: BootstrapSeed = None
    stable: Stable = None

    def draws(self) -> Draws:
        """The same, checked."""
        return Draws(self.bootstrap, self.sampling, self.bootstrap_seed, self.stable)


@dataclass(frozen=True, kw_only=True)
class Writing(Bundle):
    """Files that a network is written to."""

    out: Out = None
    plot: Plot = None
    report: Report = None

    def check(self) -> None:
        """Refuse what could not be written, before anything is learned."""
        check_target("--out", self.out)
        if self.plot is not None:
            check_picture("--plot", self.plot)
        if self.report is not None:
            check_report("--report", self.report)

    def written(self, learned: Learned, source: str) -> tuple[list[str], FileError | None]:
        """Write what was asked for, up to the first file that cannot be; and why it cannot."""
        tasks: list[tuple[str | None, Callable[[str], object]]] = [
            (self.out, learned.save),
            (self.plot, learned.plot),
            (self.report, lambda path: learned.report(path, source=source)),
        ]
        done: list[str] = []
        for path, write in tasks:
            try:
                if path is not None:
                    write(path)
                    done.append(path)
            except FileError as error:
                return done, error
        return done, None


@dataclass(frozen=True, kw_only=True)
class Keeping(Bundle):
    """What a long run may hold in memory, and keeps on disk."""

    max_memory: options.MaxMemory = None
    checkpoint: options.Checkpoint = None
    resume: options.Resume = False

    def said(self) -> dict[str, Any]:
        """The same in bytes."""
        size = options.size_in_bytes(self.max_memory)
        return options.said(max_memory=size, checkpoint=self.checkpoint, resume=self.resume or None)


def _pairs(option: str, texts: list[str] | None) -> list[list[str]] | None:
    """Pairs of names as the user writes them; a name with a comma stands in double quotes."""
    if texts is None:
        return None
    pairs = [next(csv.reader([text]), []) for text in texts]  # each alone: an open quote must not reach for the next
    for text, pair in zip(texts, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(
                f"{option} must have the form A,B, two columns; got {text!r}. Put a name that has a comma in double "
                "quotes."
            )
    return pairs
