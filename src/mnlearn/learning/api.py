"""From data to a network, a score or a model in one call: `learn`, `score`, `fit_parameters`, `load`."""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from mnlearn.data.options import MissingPolicy, Types
from mnlearn.errors import FileError, InputError, check_methods
from mnlearn.graphs.formats import read_whole
from mnlearn.graphs.graph import Graph
from mnlearn.learning.custom import ScoreLike, TestLike, own_name
from mnlearn.learning.inputs import (
    GraphLike,
    Transform,
    decide_transform,
    graph_over,
    load_data,
    oddities,
    split_options,
    transformed,
)
from mnlearn.learning.pairs import CandidatesLike
from mnlearn.learning.registry import make_score, named_or_own
from mnlearn.learning.spec import resolve
from mnlearn.numbers import in_order
from mnlearn.protocols import SILENT, LocalScore, Monitor, PairScore, Score
from mnlearn.results.edges import kind_of_frame
from mnlearn.results.files import parse
from mnlearn.results.learned import Learned
from mnlearn.statistics.opening import Counting

if TYPE_CHECKING:
    from mnlearn.model.base import MarkovModel

_log = logging.getLogger("mnlearn.learning")


def learn(
    data: object,
    method: str | None = None,
    *,
    test: TestLike | None = None,
    score: ScoreLike | None = None,
    required: Iterable[Sequence[str]] = (),
    forbidden: Iterable[Sequence[str]] = (),
    candidates: CandidatesLike | None = None,
    k: int | None = None,
    rescans: bool | None = None,
    columns: Sequence[str] | None = None,
    types: Types | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    drop: Iterable[str] = (),
    row_names: bool = False,
    transpose: bool = False,
    decimal: str | None = None,
    sheet: str | None = None,
    names: Sequence[str] | None = None,
    weights: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    transform: Transform = "auto",
    n_jobs: int | None = None,
    client: Any = None,
    device: str | None = None,
    max_memory: int | None = None,
    monitor: Monitor = SILENT,
    **settings: Any,
) -> Learned:
    """Learn the structure of a Markov network from data.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts.
    method
        One of `METHODS`. By default sep (the log says what it leaves out of many variables); gsimn if a test or a
        setting of tests is given.
    test
        One of `TESTS`, for methods that use tests. By default chi2 (gsmn, gsmn*, gsimn, gsimn-fch) or g2 (pc,
        hhc-mn) for nominal variables, pcor for continuous ones, and mixed for all others. The first four methods have
        ``alpha=0.01`` and ``dof="observed"`` by default, pc and hhc-mn ``alpha=0.05`` and ``dof="adjusted"``, with any
        test that has these settings. Or your own test: a class derived from `CustomTest`, whose parameters
        after the data are settings; or a function of the columns x and y and an array of the columns of z that returns
        a p-value, whose setting is ``alpha``.
    score
        One of `SCORES`, for the methods mbs (by default mpl for nominal variables, ebic for all others),
        hillclimb and exhaustive; other methods that maximise a score have one of their own. Or your own score: a class
        derived from `CustomScore`.
    required, forbidden
        Pairs of names: edges that must be present, or absent. For methods that use no tests.
    candidates
        Which pairs may be edges. ``"all"``; ``"screen"``: the `k` strongest partners of each variable by marginal
        evidence, and pairs found on the way; a result of `mnlearn.screen`, instead of a new screen; or only these:
        pairs of names, a dict from each name to a list of names, or the edges of a `NamedGraph`. By default all pairs
        of up to 5,000 variables (sep: 1,000), and a screen of more; the log says so. Not for glasso.
    k
        Number of partners for ``candidates="screen"``; 20 by default.
    rescans
        Whether a screened search scans all variables again given what it found, if the method can. It takes most of the
        time, and finds edges without a marginal trace. True by default.
    columns, types, levels, missing, missing_values, repeats, delimiter, drop, row_names, transpose, decimal
        As for `mnlearn.read`.
    sheet, names, weights
        As for `mnlearn.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`.
    transform
        ``"normal_scores"`` replaces the values of all columns, which must be continuous, by the normal scores of their
        ranks (`mnlearn.data.normal_scores`); None keeps the values. ``"auto"`` takes normal scores if a continuous
        column is clearly not normal; the log and ``settings["transform"]`` of the result say so.
    n_jobs
        Number of threads, or of processes that fit the models of l1lr, lasso and l1mb: None or −1 for all cores, else
        that many. Any number gives the same result.
    client
        A `distributed.Client`. Its workers each count a shard of a packed file that all of them can read; for l1lr,
        lasso and l1mb they receive the data and fit the models of some variables each.
    device
        ``"cuda"``, ``"cuda:1"`` or the like: a GPU that counts all pairs, screens them and scans all variables given
        blankets, for complete binary data. ``"cpu"`` runs its code on the processor. The result has the same bits as
        without a device. Needs PyTorch.
    max_memory
        Limit of the caches in bytes, as for `mnlearn.statistics.Counts`; with a device, of the memory used there.
    monitor
        Receives the progress, and can cancel the search.
    **settings
        Settings of the test (see `make_test`) or the score (see `make_score`), and of the method (the fields of its
        class). A graph to start from has any form that `mnlearn.score` accepts.

    Returns
    -------
    Learned
        The network by name, with the cost of the search.

    Raises
    ------
    UnknownNameError
        If there is no such method, test, score or variable.
    InputError
        If neither the method nor its judge has a setting, or its value breaks a rule.
    UnsuitableError
        If the test or the score does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> survey = example(2000, seed=1).columns()
    >>> learned = learn(survey)
    >>> learned.method, learned.blanket("fatigue")
    ('sep', ('poor_sleep', 'exercise'))
    >>> learn(survey, "gsimn", alpha=0.01).blanket("fatigue")
    ('poor_sleep', 'exercise')
    """
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")
    spec = resolve(
        {
            "method": method,
            "test": test,
            "score": score,
            "required": required,
            "forbidden": forbidden,
            "candidates": candidates,
            "k": k,
            "rescans": rescans,
            "columns": columns,
            "types": types,
            "levels": levels,
            "missing": missing,
            "missing_values": missing_values,
            "repeats": repeats,
            "delimiter": delimiter,
            "drop": drop,
            "row_names": row_names,
            "transpose": transpose,
            "decimal": decimal,
            "sheet": sheet,
            "names": names,
            "weights": weights,
            "discretize": discretize,
            "bins": bins,
            "transform": transform,
            **settings,
        }
    )
    dataset = spec.read(data)
    spec = spec.decided(dataset)
    prepared = spec.prepared(dataset)
    for oddity in oddities(prepared):
        _log.warning("%s", oddity)
    for limit in spec.limits(dataset):
        _log.info("%s", limit)
    learned = spec.learn_prepared(dataset, prepared, Counting(n_jobs, client, max_memory, device), monitor)
    return replace(learned, frame=kind_of_frame(data))


class ScoreTerm(NamedTuple):
    """Contribution of one variable, or of one pair, to a score."""

    variables: tuple[str, ...]
    value: float


@dataclass(frozen=True)
class GraphScore:
    """Score of a graph in natural-log units; higher is better.

    Attributes
    ----------
    score
        Its name.
    value
        Sum of the terms.
    terms
        Contribution of each pair of variables (bjp) or of each variable (other scores).
    transform
        "normal_scores" if the score is that of normal scores; None if it is that of the values.
    """

    score: str
    value: float
    terms: tuple[ScoreTerm, ...]
    transform: Transform = None

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn score --json` prints."""
        terms = [{"variables": list(term.variables), "value": term.value} for term in self.terms]
        return {"score": self.score, "value": self.value, "terms": terms, "transform": self.transform}


def score(
    data: object,
    graph: GraphLike,
    score: ScoreLike = "ib",
    *,
    n_jobs: int | None = None,
    client: Any = None,
    **options: Any,
) -> GraphScore:
    """Score a graph given data.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts.
    graph
        A file that `mnlearn.read_graph` reads, a `NamedGraph`, a result of `learn`, or pairs of names: variables are
        matched by name. Or a `Graph`, whose variables are the columns in their order.
    score
        One of `SCORES`, or your own score, as for `learn`.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    client
        A `distributed.Client`. Its workers each count a shard of a packed file that all of them can read.
    **options
        How the data are read: the options of `mnlearn.read`, ``discretize`` and ``bins``, as for `learn`, and
        ``transform``. Others are settings of the score, as for `make_score`.

    Raises
    ------
    UnknownNameError
        If there is no such score, or the graph has a variable that the data do not have.
    InputError
        If the graph lacks a column as a variable, or a setting breaks its rule.
    UnsuitableError
        If the score does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> survey = example(500, seed=1)
    >>> true, empty = (score(survey.columns(), graph, "mpl") for graph in (survey.graph, []))
    >>> true.value > empty.value, len(true.terms)
    (True, 12)
    """
    reading, settings = split_options(options)
    name = named_or_own("score", score)
    dataset = load_data(data, **reading)
    over = graph_over(dataset, graph)
    transform = decide_transform(dataset, settings.pop("transform", "auto"))
    judge = make_score(score, transformed(dataset, transform), counting=Counting(n_jobs, client), **settings)
    terms = tuple(ScoreTerm(tuple(dataset.names[x] for x in of), value) for of, value in _terms(judge, over))
    return GraphScore(own_name(name), in_order(term.value for term in terms), terms, transform)


def _terms(judge: Score, graph: Graph) -> list[tuple[tuple[int, ...], float]]:
    """Return the contribution of each pair to a score by pairs; of each variable to any other."""
    variables = range(graph.n_variables)
    blankets = [graph.neighbors(x) for x in variables]
    if not hasattr(judge, "ranks"):
        local = cast(LocalScore, judge).local
        return [((x,), local(x, blankets[x])) for x in variables]
    by_pairs = cast(PairScore, judge)
    terms, ranks = by_pairs.terms(variables, blankets), by_pairs.ranks(variables, blankets)
    return [
        ((x, y), float(terms[x, y] if ranks[x] <= ranks[y] else terms[y, x])) for x, y in combinations(variables, 2)
    ]


def fit_parameters(
    graph: GraphLike,
    data: object = None,
    method: Literal["canonical", "pseudolikelihood", "gaussian", "mixed"] | None = None,
    **options: Any,
) -> MarkovModel:
    """Fit the parameters of a Markov network whose structure is known.

    Parameters
    ----------
    graph
        As for `score`.
    data
        Anything that `mnlearn.read` accepts. By default the data that the network was
        learned from.
    method
        "canonical" [MBS09], "pseudolikelihood", "gaussian" or "mixed"; by default "gaussian" if all variables are
        continuous, "pseudolikelihood" if all are nominal, else "mixed".
    **options
        How the data are read: the options of `mnlearn.read`, ``discretize`` and ``bins``, as for `learn`; the model
        keeps the cuts of discretised columns. Others are settings of the method: `smoothing` and `default` (labels by
        name) of "canonical"; `interactions` ("cliques" or "pairwise"), `ridge` and `max_iterations` of
        "pseudolikelihood"; `ridge` and `max_iterations` of "gaussian" and "mixed".

    Returns
    -------
    MarkovModel
        A `DiscreteModel`, a `GaussianModel` or a `MixedModel`; its `report` states how the fit ended.

    Raises
    ------
    UnsuitableError
        If the variables are not of the type that the method is for.
    UnknownNameError
        If the graph has a variable that the data do not have.
    InputError
        If the graph lacks a column as a variable, or a setting breaks its rule.

    Examples
    --------
    >>> from mnlearn.learning import learn
    >>> from mnlearn.simulate import example
    >>> learned = learn(example(2000, seed=1).columns())
    >>> model = fit_parameters(learned)
    >>> {label: round(p, 2) for label, p in model.conditional("fatigue", {"poor_sleep": "yes"}).items()}
    {'no': 0.17, 'yes': 0.83}
    >>> len(model.sample(3, seed=1))
    3
    """
    from mnlearn.model.fitting import fit  # not needed to learn

    reading, settings = split_options(options)
    dataset = load_data(_own_data(graph) if data is None else data, **reading)
    frame = graph.frame if data is None and isinstance(graph, Learned) else kind_of_frame(data)
    return replace(cast(Any, fit(graph_over(dataset, graph), dataset, method, **settings)), frame=frame)  # type: ignore[no-any-return]


def _own_data(graph: object) -> object:
    """Return the data that a network was learned from."""
    if isinstance(graph, Learned) and graph.data is not None:
        return graph.data
    what = "a network that does not hold its data" if isinstance(graph, Learned) else f"a {type(graph).__name__}"
    raise InputError(f"data must be given unless graph is a result of learn; got none, and {what}. Pass the data.")


def load(path: str | os.PathLike[str]) -> Learned:
    """Read a result that `Learned.save` wrote as JSON.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Learned
        The whole result without the data; `Learned.with_data` attaches them.

    Raises
    ------
    FileError
        If the file does not exist, does not hold a result, was changed after it was written, or has a newer version.

    Examples
    --------
    >>> import tempfile, pathlib, mnlearn as mn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "network.json"
    >>> mn.learn({"a": [0, 1] * 30, "b": [0, 1] * 30}, "gsmn").save(path)
    >>> mn.load(path)
    <Learned gsmn: 1 edge among 2 variables, 4 tests>
    """
    text = read_whole(path)
    try:
        learned = parse(text)
    except InputError as error:
        hint = "" if os.fspath(path).endswith(".json") else " For a graph in another format, use mnlearn.read_graph."
        raise FileError(f"{os.fspath(path)!r} cannot be read as a result: {error}{hint}") from error
    try:
        settings = {"transform": None, **learned.settings}  # files of before have no such setting
        return replace(learned, recipe=replace(resolve(settings), test_defaults={}))  # the file has them all
    except (InputError, TypeError):  # learned by a method that is not in the registry: it cannot be learned again
        return learned
