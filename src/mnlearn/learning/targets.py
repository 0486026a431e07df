"""Screens in one call: the strongest partners of every variable, from any source of data.

The Markov blanket of one variable in one call from the data: `blanket`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from mnlearn.algorithms.hiton import HHCMN
from mnlearn.algorithms.one_target import evidence_target, grow_shrink_target, hiton_target
from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.checkpoint import check_checkpoint, open_checkpoint
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_methods, check_name, unknown_name
from mnlearn.learning.inputs import decide_transform, load_data, split_options, transformed
from mnlearn.learning.pairs import OPTIONS
from mnlearn.learning.registry import METHODS, TEST_SETTINGS
from mnlearn.learning.spec import DEFAULT_METHOD, LearnSpec, resolve
from mnlearn.numbers import logistic
from mnlearn.protocols import SILENT, Monitor, Result
from mnlearn.results.edges import kind_of_frame
from mnlearn.results.targets import Blanket, BlanketMember, Screened
from mnlearn.statistics.opening import Counting
from mnlearn.statistics.screens import ScreenRule, ScreenStatistic, run
from mnlearn.statistics.stored import StoredLists


def screen(
    data: object,
    k: int | None = 20,
    *,
    threshold: float | None = None,
    statistic: ScreenStatistic = "g2",
    n_jobs: int | None = None,
    client: Any = None,
    max_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    monitor: Monitor = SILENT,
    device: str | None = None,
    **options: Any,
) -> Screened:
    """Find the strongest partners of every variable, in one pass over all pairs that stores no matrix.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts: categorical variables, or continuous ones.
    k
        A pair is kept if it is among the k strongest of either variable. None keeps all pairs from the threshold on.
    threshold
        Least evidence of a kept pair. By default, with k, the quantile of chi-square that a share 2 k / n of
        independent pairs exceeds: where fewer than k partners exceed it, these are kept. 0 keeps k partners of every
        variable.
    statistic
        ``"g2"`` (likelihood ratio) or ``"x2"`` (Pearson's chi-square), on the scale of one degree of freedom: 10.83 is
        p = 0.001 for any numbers of states. Or ``"mi"``, mutual information in nats.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    client
        A `distributed.Client`. Its workers each count a shard of a packed file that all of them can read.
    max_memory
        Limit of the caches in bytes, as for `mnlearn.statistics.Counts`.
    checkpoint, resume
        A folder that stores the pairs kept so far, and whether to continue from it.
    monitor
        Receives the progress in pairs, and can cancel: the result is then not `complete`.
    device
        A GPU that counts pairs of binary variables, as for `mnlearn.learn`; None for the processor.
    **options
        How the data are read: the options of `mnlearn.read`, ``discretize``, ``bins`` and ``transform``, as for
        `mnlearn.learn`.

    Returns
    -------
    Screened
        Pairs with their evidence, by name.

    Raises
    ------
    UnsuitableError
        If some variables are continuous and others are not.

    Notes
    -----
    Memory beyond the data: one bit a value for binary variables, and 16 k bytes a variable.

    Examples
    --------
    >>> survey = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> screen(survey, k=1).pairs("pyarrow").to_pylist()
    [{'u': 'rain', 'v': 'wet', 'evidence': 110.90354919433594}]
    """
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")
    check_checkpoint(checkpoint, resume)
    rule = ScreenRule(k=k, threshold=threshold, statistic=statistic)
    counting = Counting(n_jobs, client, max_memory, device)  # raises before anything is read
    reading, others = split_options(options)
    transform = others.pop("transform", "auto")
    if others:
        name = next(iter(others))
        raise InputError(f"screen has no setting {name!r}; it accepts the options of mnlearn.read. Drop {name}.")
    dataset = load_data(data, **reading)
    prepared = transformed(dataset, decide_transform(dataset, transform, say=True))
    with open_checkpoint(checkpoint, resume, prepared.fingerprint(), rule) as opened:
        scan = counting.pair_scan(prepared, rule)
        partners = run(scan, monitor, None if opened is None else StoredLists(opened, rule, scan))
    least = rule.floor(prepared.n_variables, prepared.n_rows)
    return Screened(prepared.names, partners, rule, prepared.n_rows, least)


def load_screen(path: str | os.PathLike[str]) -> Screened:
    """Read a screen that `Screened.save` or `mnlearn screen --out` has written."""
    return Screened.load(path)


_log = logging.getLogger("mnlearn.learning")

BLANKET_METHODS = ("sep", "gsmn", "gsmn*", "hhc-mn")
"""Methods that can learn the blanket of one variable alone."""
_OF_NETWORKS = ("required", "forbidden", "start", "score", "keep_pairs", "keep_trace", *OPTIONS)


def blanket(
    data: object,
    target: str,
    method: str | None = None,
    *,
    n_jobs: int | None = None,
    monitor: Monitor = SILENT,
    **options: Any,
) -> Blanket:
    """Learn the Markov blanket of one variable, without the rest of the network.

    Parameters
    ----------
    data
        Anything that `mnlearn.read` accepts.
    target
        The variable.
    method
        "sep", the default, gives every member a probability. "gsmn", "gsmn*" (grow-shrink) and "hhc-mn" (HITON-PC) use
        tests; "gsmn*" is the default if a test or a setting of tests is given.
    n_jobs
        Number of threads: None or −1 for all cores, else that many. Any number gives the same result.
    monitor
        Receives the progress, and can cancel: the blanket is then the one found so far.
    **options
        How the data are read, as for `mnlearn.learn`; the target is read also if ``columns`` does not name it. Others
        are ``test``, ``transform``, and settings of the method or its test, such as ``effort`` or ``alpha``.

    Returns
    -------
    Blanket
        The members, the best supported first.

    Raises
    ------
    UnknownNameError
        If there is no such variable or test.
    InputError
        If the method learns whole networks only, or a setting breaks its rule.
    UnsuitableError
        If the test does not fit the types of the variables.

    Notes
    -----
    sep chooses the variables near the target by evidence, and learns the network of these alone, with the prior of all
    variables. Up to 60 variables are all near: the blanket is that of `mnlearn.learn`. Of more variables it may differ
    from that; docs/howto/one_variable.md has how often. Cost: a few scans of all variables for the target and for each
    member, instead of those for every variable.

    hhc-mn gives the neighbours in the network of that method. gsmn and gsmn* give the blanket as found from the target,
    while the network of gsmn also joins the target to variables that have it in theirs.

    Examples
    --------
    >>> from mnlearn.simulate import example
    >>> found = blanket(example(2000, seed=1).columns(), "fatigue")
    >>> found.names, found.members[0].probability > 0.99
    (('poor_sleep', 'exercise'), True)
    """
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")
    if not isinstance(target, str):
        raise InputError(f"target must be the name of a column; got {target!r:.80}. Names are strings.")
    if method is None:
        by_test = any(option == "test" or option in TEST_SETTINGS for option in options)
        method = "gsmn*" if by_test else DEFAULT_METHOD
    _check_method(method, target)
    for option in _OF_NETWORKS:
        if option in options:
            raise InputError(f"{option} is for whole networks; got it with one target. Drop it, or use mnlearn.learn.")
    spec = resolve({**options, "method": method})
    dataset = _read(spec, data, target)
    x = dataset.index(target)
    spec = spec.decided(dataset)
    prepared = spec.prepared(dataset)
    if not np.ptp(prepared.columns[x]):
        _log.warning("%r has the same value in all rows: nothing can be in its blanket", target)
    settings, found = _search(spec, prepared, x, Counting(n_jobs), monitor)
    return replace(_named(spec, dataset, x, settings, found), frame=kind_of_frame(data))


def _check_method(method: object, target: str) -> None:
    """Raise an error for a method that does not exist, or that learns whole networks only."""
    check_name("method", method, METHODS, shown=30)
    if method not in BLANKET_METHODS:
        raise InputError(
            f"method must be one of {', '.join(BLANKET_METHODS)} for one target; {method} learns whole networks only. "
            f"Use mnlearn.learn(data, {method!r}).blanket({target!r})."
        )


def _read(spec: LearnSpec, data: object, target: str) -> Dataset:
    """Read the chosen columns and the target."""
    columns = spec.reading.get("columns")
    if columns is not None and target not in columns:
        spec = replace(spec, reading={**spec.reading, "columns": (*columns, target)})
    dataset = spec.read(data)
    if target not in dataset.names:
        raise unknown_name("target: column", target, dataset.names)
    return dataset


def _search(
    spec: LearnSpec, data: Dataset, target: int, counting: Counting, monitor: Monitor
) -> tuple[dict[str, Any], Result]:
    """Return the settings of the judge, and the edges of the target."""
    settings, judge = spec._judge(data, counting)
    learner: Any = spec.learner

    def narrowed(variables: list[int]) -> Any:
        return spec._judge(data.select([data.names[x] for x in variables]), counting)[1]

    if isinstance(learner, SeparatorEvidence):
        return settings, evidence_target(judge, target, learner, narrowed, monitor)
    search: Any = hiton_target if isinstance(learner, HHCMN) else grow_shrink_target
    return settings, search(judge, target, learner, monitor)


def _named(spec: LearnSpec, dataset: Dataset, target: int, judge_settings: Mapping[str, Any], found: Result) -> Blanket:
    """Return the result by name."""
    reading = {option: value for option, value in spec.reading.items() if value and value != "error"}
    settings = {"method": spec.method, **judge_settings, **found.settings, **reading}
    settings.pop("keep_trace", None)
    if not any(dataset.cards):
        settings["transform"] = spec.transform
    descending = found.support_scale == "log_odds"

    def ranked(known: Mapping[int, float | None]) -> tuple[BlanketMember, ...]:
        sign = -1.0 if descending else 1.0
        order = sorted(known, key=lambda y: (inf if (value := known[y]) is None else sign * value, y))
        return tuple(BlanketMember(dataset.names[y], known[y], _probability(known[y], descending)) for y in order)

    members = {y: found.support.get((min(target, y), max(target, y))) for y in found.graph.neighbors(target)}
    others = {u + v - target: value for (u, v), value in (found.absent or {}).items()}
    return Blanket(
        dataset.names[target],
        ranked(members),
        spec.method,
        dataset.n_variables,
        dataset.n_rows,
        found.support_scale,
        ranked(others),
        found.converged,
        found.cost,
        settings,
    )


def _probability(log_odds: float | None, known: bool) -> float | None:
    """Return the probability of log-odds, if the scale is that."""
    return float(logistic(np.array(log_odds))) if known and log_odds is not None else None
