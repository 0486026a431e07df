"""`mnlearn evaluate`: a learned graph against the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._output import say, show, show_json, simple_table
from mnlearn.cli._wording import counted

if TYPE_CHECKING:
    from mnlearn.evaluation import Evaluation

EXAMPLES = """\b
Examples:
  mnlearn evaluate learned.graphml truth.edges
  mnlearn evaluate learned.edges truth.edges --kinds 1N,3C --json
"""

Learned = Annotated[str, typer.Argument(metavar="LEARNED", help="A graph file.")]
Truth = Annotated[str, typer.Argument(metavar="TRUTH", help="A graph file over the same variables, in any order.")]
Kinds = Annotated[
    str | None,
    typer.Option(metavar="SPN,1N,2N,3C,4C", help="Kinds of subgraph for E- and V-scores; all by default, or none."),
]


def evaluate(
    learned: Learned,
    truth: Truth,
    *,
    kinds: Kinds = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Hold a learned graph against the true one, by the names of their variables.

    Hamming distance, errors of both kinds, precision, recall, F, and how well pieces of the true graph were found.
    """
    from mnlearn.evaluation import evaluate as measure

    chosen = None if kinds is None else [k.strip() for k in kinds.split(",") if k.strip() and k.strip() != "none"]
    found = measure(learned, truth, kinds=chosen)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found)


def _show(found: Evaluation) -> None:
    """Edges first, then the pieces."""
    edges = found.edges
    say(f"{counted(found.learned_edges, 'edge')} learned, {found.true_edges:,} true, {found.variables:,} variables")
    say(
        f"Hamming distance {edges.hamming} ({edges.false_positives} too many, {edges.false_negatives} missing), "
        f"{edges.normalized_hamming:.4g} of all pairs"
    )
    say(f"precision {edges.precision:.4g}, recall {edges.recall:.4g}, F {edges.f1:.4g}")
    if found.ev:
        table = simple_table("subgraphs", "number", "E", "V", numbers=("number", "E", "V"))
        for kind, score in found.ev.items():
            numbers = ("", "") if score.e is None or score.v is None else (f"{score.e:.3f}", f"{score.v:.3f}")
            table.add_row(kind, f"{score.n_subgraphs:,}", *numbers)
        show(table)
