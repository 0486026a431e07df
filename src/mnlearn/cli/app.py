"""The program `mnlearn`: its commands, and the exit code of every way in which a command can end.

Only the command that is named is imported. Heavy imports stay inside the commands, so that `mnlearn --help` is fast.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any, cast

import typer

from mnlearn import __version__
from mnlearn.cli import console
from mnlearn.cli.options import Debug, expand_groups, skip_conversions
from mnlearn.errors import MissingDependencyError, MnlearnError

EXIT_BUG, EXIT_REFUSED = 1, 2
_COMPLETION = "_MNLEARN_COMPLETE"

# The parent of BadParameter moves between versions of typer; its position in the hierarchy does not.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


def _help(command: Callable[..., None]) -> dict[str, Any]:
    """Return the help of a command from its docstring; the examples go below the options."""
    text, _, examples = cleandoc(command.__doc__ or "").partition("\n\nExamples:\n")
    return {"help": text, "epilog": f"\b\nExamples:\n{examples}".replace("\n\n", "\n\n\b\n")}


_COMMANDS = {
    "learn": "learn.learn_command",
    "blanket": "targets.blanket_command",
    "screen": "targets.screen_command",
    "report": "report.report_command",
    "plot": "report.plot_command",
    "why": "report.why_command",
    "predictability": "describe.predictability_command",
    "centrality": "describe.centrality_command",
    "stability": "describe.stability_command",
    "test": "judge.independence_command",
    "score": "judge.score_command",
    "fit": "model.fit_command",
    "sample": "model.sample_command",
    "predict": "model.predict_command",
    "impute": "model.impute_command",
    "evaluate": "graph.evaluate_command",
    "compare": "compare.compare_command",
    "compare-groups": "compare.compare_groups_command",
    "simulate": "graph.simulate_command",
    "info": "data.info_command",
    "convert": "graph.convert_command",
    "pack": "data.pack_command",
    "demo": "demo.demo_command",
}
_OF_PAPERS = ("bench", "optimize", "reproduce")  # commands of mnlearn-papers
_ENTRY_POINTS = "mnlearn.commands"
_EPILOG = f"""Every command has its own help: mnlearn test --help

More commands, from mnlearn-papers: {", ".join(_OF_PAPERS)}"""


def make_app(named: str | None = None, *, others: bool = False) -> typer.Typer:
    """Make the program with the command of this name only, or with all of its own if there is none of this name.

    Other distributions add commands by entry points, which are read only for a name that is not one of ours, or for
    `others`, all of them.
    """
    app = typer.Typer(name="mnlearn", context_settings={"help_option_names": ["-h", "--help"]}, rich_markup_mode=None)
    app.callback(invoke_without_command=True, epilog=_EPILOG)(_mnlearn)
    if named in _COMMANDS:
        _add(app, named, {"": _load(_COMMANDS[named])})
        return app
    elsewhere = _commands_elsewhere(None if others else named) if others or named is not None else {}
    if named in elsewhere:
        _add(app, named, elsewhere[named])
        return app
    if named in _OF_PAPERS:
        raise MissingDependencyError(
            f"mnlearn {named} needs mnlearn-papers, which is not installed. Install it: pip install "
            "mnlearn-papers, or pip install ./papers in a checkout."
        )
    for name, path in _COMMANDS.items():
        _add(app, name, {"": _load(path)})
    for name in elsewhere if others else ():
        _add(app, name, elsewhere[name])
    return app


def _add(app: typer.Typer, name: str, functions: Mapping[str, Callable[..., None]]) -> None:
    """Add a command, the function "", as a group if it has parts, which are the other functions."""
    command = functions[""]
    if len(functions) == 1:
        app.command(name, **_help(command))(expand_groups(command))
        return
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True, **_help(command))(expand_groups(command))
    for part, function in functions.items():
        if part:
            _add(group, part, {"": function})
    app.add_typer(group, name=name)


def _commands_elsewhere(named: str | None) -> dict[str, dict[str, Callable[..., None]]]:
    """Load the command of this name, or all of them, from other distributions: bench.accuracy is a part of bench."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, Callable[..., None]]] = {}
    for entry in sorted(entry_points(group=_ENTRY_POINTS), key=lambda entry: entry.name):
        name, _, part = entry.name.partition(".")
        if name not in _COMMANDS and named in (name, None):
            found.setdefault(name, {})[part] = entry.load()
    return found


def _load(path: str) -> Callable[..., None]:
    """Import the function of a command."""
    module, _, name = path.partition(".")
    command: Callable[..., None] = getattr(import_module(f"mnlearn.cli.{module}"), name)
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        console.say(f"mnlearn {__version__}")
        raise typer.Exit


def _mnlearn(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    _debug: Debug = False,
) -> None:
    """Learn the structure of Markov networks from data.

    Try it: mnlearn demo
    """
    if context.invoked_subcommand is None:
        console.say(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv
        The arguments after the name of the program; those of the process by default.

    Returns
    -------
    int
        0 for success, 2 for bad usage or bad input, 1 for a bug, 130 for Ctrl-C.
    """
    if _COMPLETION in os.environ:  # a shell completes a command
        typer.main.get_command(make_app(others=True)).main(prog_name="mnlearn")
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in (words[: words.index("--")] if "--" in words else words)
    with console.configured_streams():
        if sys.stdout is None:
            console.complain("standard output must be open; it is closed. Send it to a file, or to /dev/null.")
            return EXIT_REFUSED
        try:
            return _run(words)
        except KeyboardInterrupt:
            console.complain("interrupted")
            return console.EXIT_INTERRUPTED
        except Exception as error:
            if debug:
                traceback.print_exc()
            return _report_error(error, words)


def _run(words: list[str]) -> int:
    """Parse the arguments and run the command; errors pass through."""
    named = next((word for word in words if not word.startswith("-")), None)
    command = skip_conversions(typer.main.get_command(make_app(named)))
    try:
        with command.make_context("mnlearn", words) as context:
            command.invoke(context)
    except typer.Exit as done:
        return int(done.exit_code)
    except typer.Abort as stopped:
        raise KeyboardInterrupt from stopped
    finally:
        sys.stdout.flush()
    return 0


def _report_error(error: Exception, words: Sequence[str]) -> int:
    """Print an error in one line and return its exit code."""
    if isinstance(error, _UsageError):
        path = error.ctx.command_path if error.ctx is not None else "mnlearn"
        console.complain(f"{console.sentence(error.format_message())} Try '{path} --help'.")
        return EXIT_REFUSED
    if isinstance(error, OSError):
        return _report_system_error(error)
    if isinstance(error, MemoryError):
        console.complain("memory must suffice for the data; there is not enough of it. Use fewer columns or rows.")
        return EXIT_REFUSED
    if isinstance(error, MnlearnError):
        console.complain(console.name_options(str(error), words))
        return EXIT_REFUSED
    console.complain(f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug to see where.")
    return EXIT_BUG


def _report_system_error(error: OSError) -> int:
    """Print what the system refused, to write standard output or something with a file; return the exit code."""
    reason = error.strerror or error
    if not _is_of_output(error):
        what = "a file" if error.filename is None else repr(str(error.filename))
        console.complain(f"{what} cannot be read or written: {reason}. Check the folder, its rights and its disk.")
        return EXIT_REFUSED
    console.silence()
    if isinstance(error, BrokenPipeError):  # the reader of standard output has closed it
        return 0
    console.complain(f"standard output cannot be written: {reason}. Send it elsewhere.")
    return EXIT_REFUSED


def _is_of_output(error: OSError) -> bool:
    """Return whether standard output failed: only these functions write to it, `echo` of typer for --help."""
    frames = traceback.extract_tb(error.__traceback__)
    printing = any(frame.filename == console.__file__ and frame.name in ("say", "show") for frame in frames)
    return printing or frames[-1].name in (_run.__name__, "echo")
