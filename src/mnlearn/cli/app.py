"""The program: its verbs, and what becomes of every way a command can end.

Heavy imports stay inside the commands, so that `mnlearn --help` answers at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from mnlearn import __version__
from mnlearn.cli import console
from mnlearn.cli.compare import COMPARE_EXAMPLES, GROUPS_EXAMPLES, compare, compare_groups
from mnlearn.cli.console import EXIT_INTERRUPTED, in_our_words, sentence
from mnlearn.cli.data import INFO_EXAMPLES, PACK_EXAMPLES, info, pack
from mnlearn.cli.demo import EXAMPLES as DEMO_EXAMPLES
from mnlearn.cli.demo import demo
from mnlearn.cli.graph import CONVERT_EXAMPLES, EVALUATE_EXAMPLES, SIMULATE_EXAMPLES, convert, evaluate, simulate
from mnlearn.cli.judge import SCORE_EXAMPLES, TEST_EXAMPLES, ask, score
from mnlearn.cli.learn import EXAMPLES as LEARN_EXAMPLES
from mnlearn.cli.learn import learn
from mnlearn.cli.model import FIT_EXAMPLES, PREDICT_EXAMPLES, SAMPLE_EXAMPLES, fit, predict, sample
from mnlearn.cli.optimize import EXAMPLES as OPTIMIZE_EXAMPLES
from mnlearn.cli.optimize import optimize
from mnlearn.cli.options import Debug, unbundled
from mnlearn.cli.report import PLOT_EXAMPLES, REPORT_EXAMPLES, WHY_EXAMPLES, plot, report, why
from mnlearn.cli.research import ACCURACY_EXAMPLES, BENCH_EXAMPLES, REPRODUCE_EXAMPLES, accuracy, bench, reproduce
from mnlearn.errors import MnlearnError

EXIT_BUG, EXIT_REFUSED = 1, 2
_COMPLETION = "_MNLEARN_COMPLETE"

# The parent of BadParameter has moved between versions of typer; its place in the family has not.
_UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="mnlearn",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("learn", epilog=LEARN_EXAMPLES)(unbundled(learn))
app.command("report", epilog=REPORT_EXAMPLES)(unbundled(report))
app.command("plot", epilog=PLOT_EXAMPLES)(unbundled(plot))
app.command("why", epilog=WHY_EXAMPLES)(unbundled(why))
app.command("test", epilog=TEST_EXAMPLES)(unbundled(ask))
app.command("score", epilog=SCORE_EXAMPLES)(unbundled(score))
app.command("fit", epilog=FIT_EXAMPLES)(unbundled(fit))
app.command("sample", epilog=SAMPLE_EXAMPLES)(sample)
app.command("predict", epilog=PREDICT_EXAMPLES)(predict)
app.command("evaluate", epilog=EVALUATE_EXAMPLES)(evaluate)
app.command("compare", epilog=COMPARE_EXAMPLES)(unbundled(compare))
app.command("compare-groups", epilog=GROUPS_EXAMPLES)(unbundled(compare_groups))
app.command("simulate", epilog=SIMULATE_EXAMPLES)(simulate)
app.command("optimize", epilog=OPTIMIZE_EXAMPLES)(optimize)
app.command("info", epilog=INFO_EXAMPLES)(unbundled(info))
app.command("convert", epilog=CONVERT_EXAMPLES)(convert)
app.command("pack", epilog=PACK_EXAMPLES)(unbundled(pack))
_bench = typer.Typer(rich_markup_mode=None)
_bench.callback(invoke_without_command=True, epilog=BENCH_EXAMPLES)(bench)
_bench.command("accuracy", epilog=ACCURACY_EXAMPLES)(accuracy)
app.add_typer(_bench, name="bench")
app.command("reproduce", epilog=REPRODUCE_EXAMPLES)(reproduce)
app.command("demo", epilog=DEMO_EXAMPLES)(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.say(f"mnlearn {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog="Every verb has its own help: mnlearn test --help")
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
        The words after the program's name; those of the process by default.

    Returns
    -------
    int
        0 for success, 2 for bad usage or bad input, 1 for a fault of ours, 130 for Ctrl-C.
    """
    if _COMPLETION in os.environ:  # a shell asks what could come next
        typer.main.get_command(app).main(prog_name="mnlearn")
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in (words[: words.index("--")] if "--" in words else words)
    with console.prepared():
        try:
            return _run(words)
        except BrokenPipeError:
            console.silence()  # whoever read us has seen enough
            return 0
        except KeyboardInterrupt:
            console.complain("interrupted")
            return EXIT_INTERRUPTED
        except Exception as error:
            if debug:
                traceback.print_exc()
            return _failed(error)


def _run(words: list[str]) -> int:
    """Parse and execute, with no handling of errors but our own."""
    command = typer.main.get_command(app)
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


def _failed(error: Exception) -> int:
    """Say in one line what went wrong."""
    if isinstance(error, _UsageError):
        path = error.ctx.command_path if error.ctx is not None else "mnlearn"
        console.complain(f"{sentence(error.format_message())} Try '{path} --help'.")
        return EXIT_REFUSED
    if isinstance(error, OSError) and error.filename is None:  # nothing of a file: what we print cannot be taken
        console.silence()
        console.complain(f"standard output cannot be written: {error.strerror or error}. Send it elsewhere.")
        return EXIT_REFUSED
    if isinstance(error, MnlearnError):
        console.complain(in_our_words(str(error)))
        return EXIT_REFUSED
    console.complain(f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug to see where.")
    return EXIT_BUG
