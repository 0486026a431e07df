"""Options that choose the pairs of variables that may be edges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from mnlearn.cli.files import reads
from mnlearn.cli.options import OptionGroup, drop_none, flag, option
from mnlearn.errors import check_file


@dataclass(frozen=True, kw_only=True)
class CandidateOptions(OptionGroup):
    """Candidates of a search among many variables."""

    candidates: Annotated[
        str | None,
        reads(
            option(
                "screen|all|FILE",
                "Pairs that may be edges: the strongest of each variable and those found on the way, all, or those of "
                "a screen or graph file. All by default, and of more than 5000 variables a screen.",
            )
        ),
    ] = None
    k: Annotated[
        int | None, option("K", "--candidates screen: partners of each variable; 20 by default.", "-k", "--k")
    ] = None
    no_rescans: Annotated[
        bool, flag("--no-rescans", "Screened searches do not scan all variables again: faster, finds less.")
    ] = False

    def given(self) -> dict[str, Any]:
        """Return the options that were given, a file as its pairs."""
        return drop_none(candidates=_source(self.candidates), k=self.k, rescans=False if self.no_rescans else None)


def _source(text: str | None) -> Any:
    """Return the word, or what the file holds."""
    if text is None or text in ("screen", "all"):
        return text
    from mnlearn.results.targets import MARK, Screened

    with check_file("--candidates", text).open("rb") as file:
        if file.read(len(MARK)) == MARK or Path(text).suffix == ".mns":
            return Screened.load(text)
    from mnlearn.graphs.formats import read_graph

    return [(u, v) for u, v, _ in read_graph(text).named_edges()]
