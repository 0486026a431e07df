"""Screens in one call: the strongest partners of every variable, from any source of data."""

from __future__ import annotations

import os
from typing import Any

from mnlearn.checkpoint import check_checkpoint, open_checkpoint
from mnlearn.errors import InputError, check_methods
from mnlearn.learning.inputs import decide_transform, load_data, split_options, transformed
from mnlearn.protocols import SILENT, Monitor
from mnlearn.results.targets import Screened
from mnlearn.statistics.opening import Counting
from mnlearn.statistics.screens import ScreenRule, ScreenStatistic

__all__ = ["load_screen", "screen"]


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
        A folder that stores the pairs kept so far, and whether to continue from it, as for `mnlearn.learn`.
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
    Counting(n_jobs, client, max_memory, device=device)  # raises before anything is read
    reading, others = split_options(options)
    transform = others.pop("transform", "auto")
    if others:
        name = next(iter(others))
        raise InputError(f"screen has no setting {name!r}; it accepts the options of mnlearn.read. Drop {name}.")
    dataset = load_data(data, **reading)
    prepared = transformed(dataset, decide_transform(dataset, transform, say=True))
    with open_checkpoint(checkpoint, resume, prepared.fingerprint(), rule) as opened:
        counting = Counting(n_jobs, client, max_memory, opened, device=device)
        partners = counting.screen(prepared, rule, monitor)
    least = rule.floor(prepared.n_variables, prepared.n_rows)
    return Screened(prepared.names, partners, rule, prepared.n_rows, least)


def load_screen(path: str | os.PathLike[str]) -> Screened:
    """Read a screen that `Screened.save` or `mnlearn screen --out` has written."""
    return Screened.load(path)
