"""The structure behind the data, in one call."""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from mnlearn.checkpoints import opened
from mnlearn.errors import check_methods, listed
from mnlearn.output._frames import kind_of_frame
from mnlearn.output.learned import Learned
from mnlearn.pipeline._counting import Counting
from mnlearn.pipeline._reading import Reading
from mnlearn.pipeline._recipe import Recipe, pairs_given
from mnlearn.protocols import SILENT, Monitor
from mnlearn.statistics.oddities import oddities

_log = logging.getLogger("mnlearn.pipeline")


def learn(
    data: object,
    method: str | None = None,
    *,
    test: str | None = None,
    score: str | None = None,
    required: Iterable[Sequence[str]] = (),
    forbidden: Iterable[Sequence[str]] = (),
    columns: Sequence[str] | None = None,
    types: Mapping[str, Literal["categorical", "continuous"]] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: Literal["error", "drop_rows", "category"] = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    discretize: Literal["width", "frequency"] | None = None,
    bins: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    max_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    monitor: Monitor = SILENT,
    **settings: Any,
) -> Learned:
    """Learn the structure of a Markov network from data.

    Parameters
    ----------
    data
        Whatever `mnlearn.data.read` accepts.
    method
        One of `METHODS`. By default sep, for categorical and for continuous variables, with the effort that their
        number allows (the log says which); gsimn where a test or a setting of tests is named.
    test
        One of `TESTS`, for methods that ask tests; by default chi2 for categorical variables and pcor for continuous
        ones.
    score
        One of `SCORES`, for the methods mbs (by default mpl for categorical variables, ebic for continuous ones),
        hillclimb and exhaustive; others that weigh graphs have one of their own.
    required, forbidden
        Pairs of names: edges that must be there, or must not. For methods that ask no tests.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `mnlearn.data.read`.
    discretize, bins
        Turn continuous columns into categorical ones; as `method` and `bins` of `mnlearn.data.discretize`.
    n_jobs
        How many threads may count, or processes may fit the models of l1lr, lasso and l1mb (started once that pays):
        None or −1 for all cores, else that many. Any number gives the same result.
    client
        A `distributed.Client`: its workers count a packed file that all of them see, each some of the rows; those of
        l1lr, lasso and l1mb get the data, and fit the models of some variables each.
    max_memory
        How many bytes caches may hold, as for `mnlearn.statistics.Counts`.
    checkpoint
        A folder that keeps what was counted, so that a run that was killed can go on.
    resume
        Go on from what the checkpoint holds: the result, and its cost but for the seconds, is that of one whole run.
    monitor
        Hears the progress, and may stop the search.
    **settings
        Settings of the test (see `make_test`) or the score (see `make_score`), and of the method (the fields of its
        class). A graph to start from may be whatever `mnlearn.score` takes for a graph.

    Returns
    -------
    Learned
        The network by name, with the cost of the search.

    Raises
    ------
    UnknownNameError
        If there is no such method, test, score or variable.
    InputError
        If neither the method nor its judge has such a setting, or its value breaks a rule.
    UnsuitableError
        If the test or the score does not fit the types of the variables.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> learned = learn(example(2000, seed=1).columns(), alpha=0.01)
    >>> learned.blanket("fatigue")
    ('poor_sleep', 'exercise')
    """
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to hear nothing.")
    reading: Reading = {
        "types": types,
        "levels": levels,
        "missing": missing,
        "missing_values": listed("missing_values", missing_values, "values"),
        "repeats": repeats,
        "delimiter": delimiter,
    }
    recipe = Recipe(
        *(method, test, score, pairs_given(required), pairs_given(forbidden), settings),
        *(reading, None if columns is None else listed("columns", columns, "names"), discretize, bins),
    )
    dataset = recipe.read(data)
    for said in oddities(dataset):
        _log.warning("%s", said)
    with opened(checkpoint, resume, dataset.fingerprint(), recipe.told()) as kept:
        counting = Counting(n_jobs, client, max_memory, kept)
        learned = recipe.learn(dataset, monitor=monitor, counting=counting)
    return replace(learned, frame=kind_of_frame(data))
