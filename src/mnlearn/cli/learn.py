"""`mnlearn learn`: the network behind the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnlearn.cli import _options as options
from mnlearn.cli._bundles import Elsewhere, Preparing, Reading, Testing
from mnlearn.cli._config import Config, SaveConfig, save_config
from mnlearn.cli._draws import cut_short
from mnlearn.cli._learning import Constraining, Keeping, Redrawing, Writing
from mnlearn.cli._network import SHOWN, show_network
from mnlearn.cli._output import note, say, show_json
from mnlearn.cli._progress import EXIT_INTERRUPTED, watched
from mnlearn.cli._targets import check_target
from mnlearn.cli._wording import printable

if TYPE_CHECKING:
    pass

EXAMPLES = """\b
Examples:
  mnlearn learn survey.csv
  mnlearn learn survey.csv --report report.html --plot network.svg
  mnlearn learn survey.csv --bootstrap 200 --out network.json
  mnlearn learn survey.csv --bootstrap 100 --sampling halves --stable 0.9
  mnlearn learn survey.csv --method mpl --save-config run.toml
  mnlearn learn survey.csv --config run.toml
  mnlearn learn survey.csv --method sep --set effort=standard --set keep_pairs=true --json
  mnlearn learn survey.csv --method gsmn* --test g2 --alpha 0.01 --out network.graphml
  mnlearn learn genes.parquet --method pc --test pcor --set max_conditioning=3 --json
  mnlearn learn patients.csv --discretize frequency --bins 3 --missing drop_rows
  mnlearn learn survey.csv --method mpl --require stress,headaches --forbid stress,exercise
  mnlearn learn large.mnpack --method mpl --checkpoint run1 --workers 4
  mnlearn learn small.csv --method exhaustive --score bjp --set averaging=true --json
"""

All = Annotated[bool, typer.Option("--all", help=f"List all edges, not only the first {SHOWN}.")]


def learn(
    context: typer.Context,
    data: options.Data,
    *,
    method: options.Method = None,
    testing: Testing,
    score: options.Score = None,
    constraining: Constraining,
    set_: options.Set = None,
    redrawing: Redrawing,
    writing: Writing,
    column: options.Columns = None,
    preparing: Preparing,
    reading: Reading,
    all_: All = False,
    jobs: options.Jobs = None,
    elsewhere: Elsewhere,
    keeping: Keeping,
    _config: Config = None,
    save_config_: SaveConfig = None,
    as_json: options.AsJson = False,
    _debug: options.Debug = False,
) -> None:
    """Learn the structure of a Markov network from the columns of DATA.

    Ctrl-C ends the search with the best network so far, marked as such.
    """
    from mnlearn import pipeline

    wishes = options.said(score=score, columns=column, n_jobs=jobs)
    for bundle in (testing, preparing, constraining, keeping):
        wishes |= bundle.said()
    how = reading.keywords()
    own = options.settings(set_, pipeline.learn, wishes)
    draws = redrawing.draws()
    writing.check()
    check_target("--save-config", save_config_, graph=False)
    with elsewhere.client() as client:
        with watched() as monitor:
            learned = pipeline.learn(data, method, monitor=monitor, client=client, **how, **wishes, **own)
        save_config(context, save_config_)
        stopped = monitor.interrupted
        if draws.n_samples is not None and not stopped:
            learned, stopped = draws.drawn(learned, jobs, client)
    written, failure = writing.written(learned, Path(data).name)
    if as_json:
        show_json(learned.to_dict())
    else:
        show_network(learned, all_edges=all_)
        for path in written:
            say(f"wrote {printable(path)}")
    if failure is not None:  # what was found is not lost with the file
        raise failure
    if stopped:
        note(f"interrupted: {cut_short(learned, sampled=draws.n_samples is not None)}")
        raise typer.Exit(EXIT_INTERRUPTED)
