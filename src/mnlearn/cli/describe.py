"""`mnlearn centrality` and `mnlearn stability`: centralities of the variables, and how sure they and the weights are.

Both learn from a data file, or read a result that `mnlearn learn --out FILE.json` wrote.

`mnlearn predictability`: how well each variable is predicted by its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli.console import escaped, exit_interrupted, say, show_rows, simple_table, writes
from mnlearn.cli.learn import SHOWN, check_picture, network_size
from mnlearn.cli.options import OutputOptions, flag, option
from mnlearn.cli.report import Source, SourceOptions, is_result, named_groups, with_samples
from mnlearn.errors import InputError, check_name, whole_number

if TYPE_CHECKING:
    from mnlearn.analysis.intervals import Intervals
    from mnlearn.analysis.stability import Stability
    from mnlearn.results.learned import Learned
    from mnlearn.results.measures import Predictability


ROWS_SHOWN = 40  # rows listed without --all

BridgeGroup = Annotated[
    list[str] | None,
    option("NAME=A,B", "Group of columns, for bridges between groups; A:C is a range; repeatable."),
]
All = Annotated[bool, flag("--all", f"List all rows, not only the first {ROWS_SHOWN}.")]


def centrality_command(
    source: Source,
    *,
    group: BridgeGroup = None,
    z: Annotated[bool, flag("--z", "Print z-scores: mean 0 and standard deviation 1 in each column.")] = False,
    all_: All = False,
    learning: SourceOptions,
    output: OutputOptions,
) -> None:
    """Print the weighted centralities of the variables, the strongest first.

    Learns from DATA, or reads a saved RESULT.

    Examples:
      mnlearn centrality survey.csv
      mnlearn centrality survey.csv --z
      mnlearn centrality network.json --json
      mnlearn centrality survey.csv --group sleep=poor_sleep,fatigue --group mood=stress,low_mood
    """
    named_groups(group, ())  # checks the form before anything is learned
    learned, interrupted = learning.learn_or_load(source)
    table = learned.centrality(named_groups(group, learned.names), z_scores=z, frame="pyarrow").to_pylist()
    document = {"source": source, "method": learned.method, "z_scores": z, "variables": table}
    output.show(lambda: document, lambda: _show_centrality(learned, table, all_rows=all_))
    learning.resampling().exit_if(interrupted, learned)


def _show_centrality(learned: Learned, table: list[dict[str, Any]], *, all_rows: bool) -> None:
    """Print one line for each variable, the strongest first."""
    say(f"{network_size(learned)}, by {learned.method}")
    measures = [name for name in table[0] if name not in ("variable", "group")]
    headings = [name.replace("_", " ") for name in measures]
    shown = sorted(table, key=lambda row: -row["strength"])
    numbers = [["" if row[name] is None else f"{row[name]:.3g}" for name in measures] for row in shown]
    rows = [(row["variable"], row["group"] or "", *cells) for row, cells in zip(shown, numbers, strict=True)]
    show_rows(
        simple_table("variable", "group", *headings, numbers=headings), rows, limit=None if all_rows else ROWS_SHOWN
    )


def stability_command(
    source: Source,
    *,
    samples: Annotated[int, option("B", "Number of samples, for each part.", "--samples")] = 1000,
    part: Annotated[str, option("intervals|cases|both", "Intervals of weights, dropped cases, or both.")] = "both",
    fixed: Annotated[
        bool, flag("--fixed", "Keep the structure and estimate the weights again: fast, without its uncertainty.")
    ] = False,
    sampling: Annotated[
        str | None, option("bootstrap|halves", "Rows of the intervals: all with replacement, or half without.")
    ] = None,
    level: Annotated[float, option("P", "Level of the intervals.")] = 0.95,
    correlation: Annotated[float, option("R", "Correlation that the CS coefficient asks for.")] = 0.7,
    group: BridgeGroup = None,
    seed: Annotated[int, option("S", "Seed of the samples.")] = 0,
    plot: Annotated[str | None, writes(option("FILE", "Draw the result: .png, .svg or .pdf."))] = None,
    kind: Annotated[
        str, option("NAME", "Picture: edges, differences, cases, or a centrality whose differences to draw.")
    ] = "edges",
    all_: All = False,
    learning: SourceOptions,
    output: OutputOptions,
) -> None:
    """Print bootstrap intervals of the weights, and the CS coefficients of the centralities.

    Learns from DATA, or reads a saved RESULT with its --data. Each sample is learned again by the same method, unless
    --fixed. A note says how long it will take; Ctrl-C stops after the samples so far.

    Examples:
      mnlearn stability survey.csv --fixed
      mnlearn stability survey.csv --part intervals --samples 200 --plot intervals.svg
      mnlearn stability network.json --data survey.csv --part cases --json
      mnlearn stability survey.csv --fixed --plot strength.pdf --kind strength
    """
    from mnlearn.analysis.stability import DROPPED

    _check(part, sampling, plot, kind)
    if part != "intervals":
        whole_number("--samples", samples, least=len(DROPPED), hint="1000 are usual.")
    named_groups(group, ())  # checks the form before anything is learned
    learned, interrupted = learning.learn_or_load(source)
    options: dict[str, Any] = {"relearn": not fixed, "seed": seed, "n_jobs": learning.jobs}
    options["groups"] = named_groups(group, learned.names)
    intervals: Intervals | None = None
    cases: Stability | None = None
    if part != "cases" and not interrupted:
        intervals, interrupted = with_samples(learned.intervals, samples, sampling=sampling, level=level, **options)
    if part != "intervals" and not interrupted:
        cases, interrupted = with_samples(learned.stability, samples, correlation=correlation, **options)
    drawn = _draw(intervals, cases, plot, kind)
    document: dict[str, object] = {"source": source, "method": learned.method}
    document |= {} if intervals is None else {"intervals": intervals.to_dict()}
    document |= {} if cases is None else {"cases": cases.to_dict()}
    output.show(lambda: document, lambda: _show_stability(intervals, cases, drawn, all_rows=all_))
    if interrupted:
        exit_interrupted("the numbers are from the samples so far")


def _check(part: str, sampling: str | None, plot: str | None, kind: str) -> None:
    """Raise an error for bad options before anything is learned."""
    from mnlearn.analysis.intervals import INTERVAL_PICTURES

    check_name("part", part, ("intervals", "cases", "both"))
    if sampling is not None:
        check_name("sampling", sampling, ("bootstrap", "halves"))
    check_name("kind of picture", kind, (*INTERVAL_PICTURES, "cases"))
    if plot is not None:
        check_picture("--plot", plot)
        needed = "cases" if kind == "cases" else "intervals"
        if part not in (needed, "both"):
            raise InputError(f"--kind {kind} needs --part {needed} or both; got {part}. Drop --part.")


def _draw(intervals: Intervals | None, cases: Stability | None, path: str | None, kind: str) -> str | None:
    """Write the picture, if there is anything to draw; return its path."""
    found: Any = cases if kind == "cases" else intervals
    if path is None or found is None:
        return None
    found.plot(path, **({} if kind == "cases" else {"kind": kind}))
    return path


def _show_stability(intervals: Intervals | None, cases: Stability | None, drawn: str | None, *, all_rows: bool) -> None:
    """Print a table of weights with their intervals, the CS coefficients, and the file written."""
    if intervals is not None:
        say(repr(intervals)[len("<Intervals ") : -1])
        headings = ("weight", "low", "high", "frequency")
        rows = [
            (row["u"], row["v"], *(f"{row[name]:+.3f}" for name in headings[:3]), f"{row['frequency']:.3f}")
            for row in intervals.edges("pyarrow").to_pylist()
        ]
        show_rows(simple_table("edge", "", *headings, numbers=headings), rows, limit=None if all_rows else ROWS_SHOWN)
    if cases is not None:
        say(str(cases))
    if drawn is not None:
        say(f"wrote {escaped(drawn)}")


TITLES = {
    "r2": "R²",
    "r2_cv": "R² (cv)",
    "accuracy": "accuracy",
    "accuracy_cv": "accuracy (cv)",
    "marginal": "marginal",
    "normalised": "normalised",
    "normalised_cv": "normalised (cv)",
}


def predictability_command(
    source: Source,
    *,
    folds: Annotated[int, option("K", "Folds of the cross-validation.")] = 10,
    seed: Annotated[int, option("S", "Seed of the folds.")] = 0,
    all_variables: Annotated[bool, flag("--all", f"List all variables, not only the first {SHOWN}.")] = False,
    learning: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show how well each variable is predicted by its neighbours.

    Learns from DATA, or reads a saved RESULT, which needs --data. Prints R² of numbers, and the accuracy of states with
    its gain over the most common state, for all rows and cross-validated (cv).

    Examples:
      mnlearn predictability survey.csv
      mnlearn predictability survey.csv --folds 5 --seed 1 --json
      mnlearn predictability network.json --data survey.csv
    """
    whole_number("--folds", folds, least=2, hint="Use for example 10.")
    whole_number("--seed", seed, least=0, hint="Use for example 0.")
    if is_result(source) and learning.data is None:
        raise InputError(f"--data must be given for a saved result; got {source!r} alone. Add --data DATA.")
    learned, interrupted = learning.learn_or_load(source)
    rows = learned.predictability_list(folds, seed=seed)

    def document() -> dict[str, object]:
        size = {"variables": len(learned.names), "edges": learned.graph.n_edges, "rows": learned.n_rows}
        found = [row._asdict() | {"share": row.share} for row in rows]
        return {
            "source": source,
            "method": learned.method,
            **size,
            "folds": folds,
            "seed": seed,
            "predictability": found,
        }

    def text() -> None:
        say(f"{network_size(learned)}, by {learned.method}")
        _show_table(rows, all_variables=all_variables)
        say(f"cv: cross-validated with {folds} folds")

    output.show(document, text)
    learning.resampling().exit_if(interrupted, learned)


def _show_table(rows: list[Predictability], *, all_variables: bool) -> None:
    """Print a table of the variables."""
    from mnlearn.results.measures import known_columns

    known = known_columns(rows)
    titles = [TITLES[name] for name in known]
    cells = []
    for row in rows:
        values = (getattr(row, name) for name in known)
        numbers = ("" if value is None else f"{value:.3f}" for value in values)
        cells.append((row.variable, row.type, f"{row.neighbours}", *numbers))
    table = simple_table("variable", "type", "neighbours", *titles, numbers=("neighbours", *titles))
    show_rows(table, cells, limit=None if all_variables else SHOWN)
