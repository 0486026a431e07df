"""The public interface of mnlearn-papers as text, in `public_names.txt` and `help.txt` beside this file.

Write both again after a deliberate change:

    PYTHONPATH=tests:papers/tests python -m golden.papers_interface --write
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer

from golden.interface import options
from mnlearn.cli.app import make_app

NAMES = Path(__file__).with_name("public_names.txt")
HELP = Path(__file__).with_name("help.txt")
COMMANDS = ("bench", "optimize", "reproduce")
MODULES = {
    "directed": ("DirectedNetwork", "learn_directed"),
    "enrichment": ("Enrichment", "better_terms", "enrichment"),
    "expression": ("ExpressionNetwork", "random_expression_network"),
    "figures": ("plot_experiment", "plot_landscape"),
    "landscape": ("Landscape", "landscape", "sample_landscape"),
    "named": ("NamedMethod", "NamedSource", "experiment", "structure_learner"),
    "structures": ("six_node_graphs", "six_node_structures", "sixteen_node_components", "sixteen_node_replicas"),
}
"""Public names by module; `optimize` has a list of its own."""


def public_names() -> list[str]:
    """Return every public name."""
    listed = {**MODULES, "optimize": import_module("mnlearn_papers.optimize").__all__}
    return sorted(
        f"mnlearn_papers.{module}.{name}"
        for module, names in listed.items()
        for name in names
        if hasattr(import_module(f"mnlearn_papers.{module}"), name)
    )


def command_options() -> list[str]:
    """Return the arguments and the options of every command, one a line."""
    return sorted(
        line
        for name in COMMANDS
        for line in options("mnlearn", typer.main.get_command(make_app(name)))
        if line.startswith(f"mnlearn {name}")
    )


if __name__ == "__main__":
    for path, lines in ((NAMES, public_names()), (HELP, command_options())):
        if "--write" in sys.argv:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
