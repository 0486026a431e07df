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
from mnlearn.cli import _output
from mnlearn.cli._bundles import unbundled
from mnlearn.cli._options import Debug
from mnlearn.cli._progress import EXIT_INTERRUPTED
from mnlearn.cli._wording import in_our_words, sentence
from mnlearn.cli.accuracy import EXAMPLES as ACCURACY_EXAMPLES
from mnlearn.cli.accuracy import accuracy
from mnlearn.cli.ask import EXAMPLES as TEST_EXAMPLES
from mnlearn.cli.ask import ask
from mnlearn.cli.bench import EXAMPLES as BENCH_EXAMPLES
from mnlearn.cli.bench import bench
from mnlearn.cli.compare import EXAMPLES as COMPARE_EXAMPLES
from mnlearn.cli.compare import compare
from mnlearn.cli.convert import EXAMPLES as CONVERT_EXAMPLES
from mnlearn.cli.convert import convert
from mnlearn.cli.demo import EXAMPLES as DEMO_EXAMPLES
from mnlearn.cli.demo import demo
from mnlearn.cli.evaluate import EXAMPLES as EVALUATE_EXAMPLES
from mnlearn.cli.evaluate import evaluate
from mnlearn.cli.fit import EXAMPLES as FIT_EXAMPLES
from mnlearn.cli.fit import fit
from mnlearn.cli.groups import EXAMPLES as GROUPS_EXAMPLES
from mnlearn.cli.groups import compare_groups
from mnlearn.cli.info import EXAMPLES as INFO_EXAMPLES
from mnlearn.cli.info import info
from mnlearn.cli.learn import EXAMPLES as LEARN_EXAMPLES
from mnlearn.cli.learn import learn
from mnlearn.cli.optimize import EXAMPLES as OPTIMIZE_EXAMPLES
from mnlearn.cli.optimize import optimize
from mnlearn.cli.pack import EXAMPLES as PACK_EXAMPLES
from mnlearn.cli.pack import pack
from mnlearn.cli.plot import EXAMPLES as PLOT_EXAMPLES
from mnlearn.cli.plot import plot
from mnlearn.cli.predict import EXAMPLES as PREDICT_EXAMPLES
from mnlearn.cli.predict import predict
from mnlearn.cli.report import EXAMPLES as REPORT_EXAMPLES
from mnlearn.cli.report import report
from mnlearn.cli.reproduce import EXAMPLES as REPRODUCE_EXAMPLES
from mnlearn.cli.reproduce import reproduce
from mnlearn.cli.sample import EXAMPLES as SAMPLE_EXAMPLES
from mnlearn.cli.sample import sample
from mnlearn.cli.score import EXAMPLES as SCORE_EXAMPLES
from mnlearn.cli.score import score
from mnlearn.cli.simulate import EXAMPLES as SIMULATE_EXAMPLES
from mnlearn.cli.simulate import simulate
from mnlearn.cli.why import EXAMPLES as WHY_EXAMPLES
from mnlearn.cli.why import why
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
        _output.say(f"mnlearn {__version__}")
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
        _output.say(context.get_help())


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
    with _output.prepared():
        try:
            return _run(words)
        except BrokenPipeError:
            _output.silence()  # whoever read us has seen enough
            return 0
        except KeyboardInterrupt:
            _output.complain("interrupted")
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
        _output.complain(f"{sentence(error.format_message())} Try '{path} --help'.")
        return EXIT_REFUSED
    if isinstance(error, OSError) and error.filename is None:  # nothing of a file: what we print cannot be taken
        _output.silence()
        _output.complain(f"standard output cannot be written: {error.strerror or error}. Send it elsewhere.")
        return EXIT_REFUSED
    if isinstance(error, MnlearnError):
        _output.complain(in_our_words(str(error)))
        return EXIT_REFUSED
    _output.complain(f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug to see where.")
    return EXIT_BUG
