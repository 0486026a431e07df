"""`mnlearn convert`, `mnlearn evaluate` and `mnlearn simulate`: graph files, errors of a graph, and simulated data."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mnlearn.cli import options
from mnlearn.cli.console import check_output, escaped, note, reads, say, show, simple_table, with_noun, writes
from mnlearn.cli.options import InputOptions, OptionGroup, OutputOptions, argument, drop_none, flag, option
from mnlearn.errors import InputError, check_name
from mnlearn.files import check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from mnlearn.evaluation.metrics import Evaluation
    from mnlearn.graphs.named import NamedGraph
    from mnlearn.learning.comparison import SizeAccuracy, Validation
    from mnlearn.simulate.catalogue import Simulated

    Entry: TypeAlias = tuple[str, str, Mapping[str, Any]]

LearnedGraph = Annotated[str, reads(argument("LEARNED", "Graph file."))]
TrueGraph = Annotated[str | None, reads(argument("TRUTH", "Graph file with the same variables, in any order."))]
Kinds = Annotated[str | None, option("SPN,1N,2N,3C,4C", "Subgraphs for E- and V-scores, or none; all by default.")]
Network = Annotated[str | None, reads(argument("NETWORK", "Name with settings (see --list), graph file, or BIF file."))]
Distribution = Annotated[str | None, option("NAME", "Distribution on the graph (see --list); uniform by default.")]
TruthOut = Annotated[
    str | None, writes(option("FILE", "File for the true graph; .truth.edges.csv beside the data by default."))
]
Rows = Annotated[int, option("N", "Number of rows.", "--rows", "--n-rows")]
Seed = Annotated[int, option("S", "Seed of the random numbers.")]


def convert_command(
    source: Annotated[str, reads(argument("SOURCE", "Graph file to read."))],
    target: Annotated[str, writes(argument("TARGET", "File to write; an existing file is replaced."))],
    *,
    from_format: Annotated[str | None, option("FORMAT", "Format of SOURCE, whatever its extension.", "--from")] = None,
    to_format: Annotated[str | None, option("FORMAT", "Format of TARGET, whatever its extension.", "--to")] = None,
    output: OutputOptions,
) -> None:
    """Convert a graph file to another format.

    Keeps the names and the order of the variables, also of isolated ones, and the numbers on edges if the format can
    store them. The extensions give the formats.

    Examples:
      mnlearn convert network.json network.graphml
      mnlearn convert matrix.dat network.dot --from csv

    Formats and their extensions:
      table (.edges.csv), csv (.csv: adjacency), graphml, json, dot (.dot .gv: only written)
    """
    from mnlearn.graphs.formats import read_graph

    named = read_graph(source, from_format)
    graph, left_out = named.graph, _write(target, to_format, named)
    isolated = sum(not graph.neighbors(x) for x in range(graph.n_variables))
    if left_out:
        note(f"{target!r} cannot store these numbers on edges: {', '.join(left_out)}")
    size = {"variables": graph.n_variables, "edges": graph.n_edges, "isolated": isolated, "left_out": left_out}
    lone = f" ({isolated} isolated)" if isolated else ""
    text = f"{with_noun(graph.n_variables, 'variable')}{lone}, {with_noun(graph.n_edges, 'edge')}"
    output.show(lambda: {"source": source, "target": target, **size}, lambda: say(f"{escaped(target)}: {text}"))


def _write(target: str, to_format: str | None, named: NamedGraph) -> list[str]:
    """Write the graph; return the names of the numbers on edges that the format cannot store."""
    from mnlearn.graphs.formats import carries_numbers, write_graph

    carried = named.attributes if carries_numbers(target, to_format) else {}
    write_graph(target, named.graph, named.names, format=to_format, attributes=carried)
    return [] if carried else sorted({key for numbers in named.attributes.values() for key in numbers})


@dataclass(frozen=True, kw_only=True)
class HeldOutOptions(OptionGroup):
    """Held-out data that judge a graph, and how."""

    data: Annotated[str | None, reads(option("FILE", "Held-out data; columns not in the graph are ignored."))] = None
    train: Annotated[str | None, reads(option("FILE", "Data to fit the parameters to; else cross-validation."))] = None
    test: options.Test = None
    alpha: options.Alpha = None
    triplets: Annotated[
        int | None, option("N", "Number of independences to test; 10,000 by default.", "--triplets", "--n-triplets")
    ] = None
    folds: Annotated[int | None, option("K", "Folds of the cross-validation; 5 by default.")] = None
    interactions: Annotated[str | None, option("cliques|pairwise", "Factors of the model; cliques by default.")] = None
    seed: Annotated[int | None, option("S", "Seed of the independences and folds; 0 by default.")] = None
    transform: options.Transform = None

    def check(self, reading: InputOptions) -> None:
        """Raise an error for options that need --data, and for folds where there are rows to fit to."""
        if self.data is not None:
            if self.train is not None and self.folds is not None:
                raise InputError("--folds is for cross-validation; got --train as well. Drop one of the two.")
            return
        given = [f"--{name}" for name in self.__dataclass_fields__ if getattr(self, name) is not None]
        if given or any(reading.arguments().values()):
            what = given[0] if given else "an option for reading data"
            raise InputError(f"{what} is for held-out data; got no --data. Add --data FILE.")

    def validation(self, graph: str, reading: InputOptions) -> Validation:
        """Judge the graph."""
        from mnlearn.learning import validate

        chosen: dict[str, Any] = {
            "train": self.train,
            "test": self.test,
            "alpha": self.alpha,
            "n_triplets": self.triplets,
        }
        chosen |= {"folds": self.folds, "interactions": self.interactions, "seed": self.seed}
        return validate(graph, self.data, **reading.arguments(**chosen), **options.transform_argument(self.transform))


def evaluate_command(
    learned: LearnedGraph,
    truth: TrueGraph = None,
    *,
    kinds: Kinds = None,
    held_out: HeldOutOptions,
    reading: InputOptions,
    output: OutputOptions,
) -> None:
    """Compare a learned graph with the true one, or judge it by held-out data.

    With TRUTH: the Hamming distance, false positives and negatives, precision, recall, F, and the accuracy on subgraphs
    of the true graph. With --data: on how many random independences graph and data agree, and the pseudo-likelihood of
    the rows under a model on the graph. Variables are matched by name.

    Examples:
      mnlearn evaluate learned.graphml truth.edges.csv
      mnlearn evaluate learned.json truth.edges.csv --kinds 1N,3C --json
      mnlearn evaluate learned.graphml --data later.csv --train survey.csv
      mnlearn evaluate learned.graphml --data later.csv --test g2 --alpha 0.01 --triplets 2000 --seed 1
    """
    from mnlearn.evaluation.metrics import SCORED_UP_TO, evaluate

    held_out.check(reading)
    if truth is None and held_out.data is None:
        raise InputError("TRUTH or --data must be given; got neither. Give the true graph, or held-out data.")
    if truth is None and kinds is not None:
        raise InputError(f"--kinds is for a comparison with TRUTH; got {kinds!r} without it. Drop --kinds.")
    chosen = None if kinds is None else [k.strip() for k in kinds.split(",") if k.strip() and k.strip() != "none"]
    compared = None if truth is None else evaluate(learned, truth, kinds=chosen)
    judged = None if held_out.data is None else held_out.validation(learned, reading)
    for remark in () if judged is None else judged.notes:
        note(remark)
    if compared is not None and kinds is None and compared.variables > SCORED_UP_TO:
        note(f"subgraphs are scored up to {SCORED_UP_TO:,} variables; name some with --kinds for more")
    document = ({} if compared is None else compared.to_dict()) | (
        {} if judged is None else {"held_out": judged.to_dict()}
    )
    output.show(lambda: document, lambda: _show_both(compared, judged))


def _show_both(compared: Evaluation | None, judged: Validation | None) -> None:
    """Print what was found against the true graph, then against the data."""
    if compared is not None:
        _show_evaluation(compared)
    if judged is not None:
        _show_validation(judged)


def _show_validation(found: Validation) -> None:
    """Print the accuracy by sizes of conditioning sets, then the pseudo-likelihood."""
    size = f"{with_noun(found.variables, 'variable')}, {with_noun(found.edges, 'edge')}"
    say(f"{size}, {with_noun(found.rows, 'held-out row')}")
    table = simple_table("conditioning on", "triplets", "agreement", "", numbers=("triplets", "agreement"))
    for first, last, part in _ranges(found.by_size):
        name = f"{first}" if first == last else f"{first} to {last}"
        table.add_row(name, f"{part[0]:,}", f"{part[1]:.4f}", f"± {part[2]:.4f}")
    show(table)
    accuracy = f"{found.accuracy.mean:.4f} ± {found.accuracy.standard_error:.4f}"
    counts = found.triplets
    say(f"independence accuracy {accuracy} on {with_noun(counts.n_triplets, 'triplet')} by {found.test}")
    say(f"independent in the graph only {counts.only_graph:,}, in the data only {counts.only_data:,}")
    fitted = f"{found.folds} folds" if found.train_rows is None else f"fitted to {with_noun(found.train_rows, 'row')}"
    full, empty, gain = found.pseudolikelihood, found.empty, found.gain
    say(f"log pseudo-likelihood per row {full.mean:.4f} ± {full.standard_error:.4f} ({fitted})")
    say(f"without edges {empty.mean:.4f}, gain {gain.mean:.4f} ± {gain.standard_error:.4f}")


def _ranges(by_size: Sequence[SizeAccuracy]) -> Iterator[tuple[int, int, tuple[int, float, float]]]:
    """Yield at most 12 ranges of sizes, each with its triplets, their agreement and its standard error."""
    width = -(-len(by_size) // 12)
    for start in range(0, len(by_size), width):
        part = by_size[start : start + width]
        n = sum(each.n_triplets for each in part)
        share = sum(each.agreement * each.n_triplets for each in part) / n
        error = sqrt(sum((each.standard_error * each.n_triplets) ** 2 for each in part)) / n
        yield part[0].size, part[-1].size, (n, share, error)


def _show_evaluation(found: Evaluation) -> None:
    """Print the errors of the edges, then the scores of the subgraphs."""
    edges = found.edges
    say(f"{with_noun(found.learned_edges, 'edge')} learned, {found.true_edges:,} true, {found.variables:,} variables")
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


@dataclass(frozen=True, kw_only=True)
class SampleOptions(OptionGroup):
    """How many rows are drawn, how, and where they are written."""

    rows: Rows = 1000
    seed: Seed = 1
    out: Annotated[str, writes(option("FILE", "File for the data: .csv, .tsv or .parquet."))] = "data.csv"
    method: Annotated[str, option("auto|enumerate|eliminate|gibbs", "How rows are drawn.", "--method")] = "auto"
    chains: Annotated[int | None, option("N", "Number of Gibbs chains; 4 by default.")] = None
    burn_in: Annotated[int | None, option("N", "Sweeps before the first row; 1000 by default.")] = None
    thin: Annotated[int | None, option("N", "Sweeps between two rows of a chain; 10 by default.")] = None

    def check(self) -> None:
        """Raise an error for a bad file or sampler before anything is drawn."""
        from mnlearn.data.writers import check_data_path
        from mnlearn.distributions.sampling import METHODS

        check_data_path(self.out, "--out")
        check_name("method", self.method, METHODS)

    def chain_settings(self) -> dict[str, int]:
        """Return the settings of the Gibbs chains that were given."""
        return drop_none(chains=self.chains, burn_in=self.burn_in, thin=self.thin)


def simulate_command(
    network: Network = None,
    *,
    distribution: Distribution = None,
    gaps: Annotated[str | None, option("NAME", "Remove values (see --list); none by default.")] = None,
    truth: TruthOut = None,
    sampling: SampleOptions,
    list_: Annotated[bool, flag("--list", "List networks, distributions and gaps with their settings.")] = False,
    output: OutputOptions,
) -> None:
    """Draw data from a known network, and write both to files.

    Rows are exact where the network allows it, and else from Gibbs chains, which report whether they converged.

    Examples:
      mnlearn simulate --list
      mnlearn simulate random:n=50,degree=4 --distribution odds:theta=1.5 --rows 2000 --seed 1 --out data.csv
      mnlearn simulate grid:rows=10,columns=10,periodic=true --distribution ising:coupling=0.3 --out lattice.parquet
      mnlearn simulate alarm.bif --rows 500 --out alarm.csv --truth alarm.graphml
      mnlearn simulate tree:n=30 --distribution mixed --gaps mcar:share=0.1 --out mixed.parquet
    """
    from mnlearn.data.writers import write_data
    from mnlearn.distributions.sampling import GibbsPlan
    from mnlearn.graphs.formats import carries_numbers, write_graph
    from mnlearn.simulate.catalogue import simulate

    if list_:
        _list_networks(output)
        return
    if network is None:
        raise InputError("NETWORK must be given; got none. Name one, for example random:n=50,degree=4; --list has all.")
    sampling.check()
    method: Any = sampling.method
    out, chains = sampling.out, sampling.chain_settings()
    target = Path(truth) if truth is not None else Path(out).with_suffix(".truth.edges.csv")
    check_outputs({"--out": [out], "--truth": [str(target)]}, {"NETWORK": [network]})  # --truth may be a default
    check_output("--truth", str(target))
    carries_numbers(target)  # raises an error for an unknown format
    plan = GibbsPlan(**chains)
    rows = {"n_rows": sampling.rows, "seed": sampling.seed}
    drawn = simulate(network, distribution, **rows, gaps=gaps, method=method, plan=plan)
    write_data(drawn.data, out)
    write_graph(target, drawn.truth.graph, drawn.truth.names)
    if chains and not drawn.notes.startswith("Gibbs"):
        unused = ", ".join(f"--{name.replace('_', '-')}" for name in chains)
        note(f"{unused} had no effect: there were no Gibbs chains; use --method gibbs")
    if not drawn.converged:
        note(f"the rows may not follow the distribution: {drawn.notes}")
    output.show(lambda: _document(drawn, sampling, target), lambda: _show_files(drawn, sampling, target))


def _document(drawn: Simulated, sampling: SampleOptions, target: Path) -> dict[str, object]:
    """Return the files and their sizes for JSON."""
    graph, files = drawn.truth.graph, {"data": sampling.out, "truth": str(target)}
    size = {"rows": sampling.rows, "variables": graph.n_variables, "edges": graph.n_edges, "seed": sampling.seed}
    return {"files": files, **size, "drawn": drawn.notes, "converged": drawn.converged}


def _show_files(drawn: Simulated, sampling: SampleOptions, target: Path) -> None:
    """Print the files and their sizes."""
    graph = drawn.truth.graph
    size = f"{with_noun(sampling.rows, 'row')} of {with_noun(graph.n_variables, 'variable')}"
    say(f"{escaped(sampling.out)}: {size}, {drawn.notes}")
    say(f"{escaped(str(target))}: the true network, {with_noun(graph.n_edges, 'edge')}")


def _list_networks(output: OutputOptions) -> None:
    """Print the networks and distributions with their settings."""
    from mnlearn.simulate.catalogue import DISTRIBUTIONS, GAPS, NETWORKS

    networks = [(name, shape.title, shape.settings) for name, shape in NETWORKS.items()]
    laws = [(name, law.title, law.settings) for name, law in DISTRIBUTIONS.items()]
    gaps = [(name, removal.title, removal.settings) for name, removal in GAPS.items()]
    show_catalogue(output, network=networks, distribution=laws, gap=gaps)


def show_catalogue(output: OutputOptions, **kinds: Sequence[Entry]) -> None:
    """Print catalogues of names with their titles, settings and defaults, one for each kind."""

    def document() -> dict[str, object]:
        return {
            f"{kind}s": {name: {"title": title, "settings": dict(values)} for name, title, values in entries}
            for kind, entries in kinds.items()
        }

    def text() -> None:
        for kind, entries in kinds.items():
            table = simple_table(kind, "", "settings")
            for name, title, values in entries:
                table.add_row(name, title, ",".join(f"{key}={str(value).lower()}" for key, value in values.items()))
            show(table)

    output.show(document, text)
