"""Every published experiment that `mnlearn reproduce` knows, by name. A new one is a line here."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from mnlearn.errors import InputError, unknown_name
from mnlearn.evaluation.papers import (
    bjp18,
    bjp18_networks,
    bjp18_orders,
    ibmap14,
    ibmap14_landscape,
    ibmap14_optimize,
    ibmap14_uci,
    jair09_exact,
    jair09_samples,
    jair09_uci,
    mbs09,
    mpl17,
)
from mnlearn.evaluation.reproduction import Comparison, Reproduction, Request


def _bjp_success_rates(request: Request) -> list[Comparison]:
    """Table 1 of [BJP18] in the terms of this catalogue: a source is a structure, a repetition a distribution."""
    wanted = request.sources or tuple("123456")
    for name in wanted:
        if name not in tuple("123456"):
            raise unknown_name("source", name, "123456")
    if request.repetitions is not None and request.repetitions < 1:
        raise InputError(f"repetitions must be at least 1; got {request.repetitions}.")
    distributions = request.repetitions or bjp18.DISTRIBUTIONS
    cells = bjp18.table1(
        structures=[int(name) for name in wanted],
        sizes=request.sizes or bjp18.SIZES,
        scores=request.methods or tuple(bjp18.SCORES),
        distributions=distributions,
        n_jobs=request.n_jobs,
        monitor=request.monitor,
    )
    return [
        Comparison(str(cell.structure), cell.n_rows, cell.score, cell.published, cell.measured,
                   cell.standard_error * sqrt(distributions), distributions, cell.deviation, float("nan"))
        for cell in cells
    ]  # fmt: skip


REPRODUCTIONS: Mapping[str, Reproduction] = {
    "bjp-orders": bjp18_orders.ORDERINGS,
    "bjp-real": bjp18_networks.REAL_NETWORKS,
    "bjp-table1": Reproduction(
        title="BJP18 Table 1: how often the true structure is the best of all graphs, six variables",
        measure=_bjp_success_rates,
        sizes=bjp18.SIZES,
        repetitions=bjp18.DISTRIBUTIONS,
        quantity="success rate",
    ),
    "bjp-table3": bjp18_networks.TABLE_3,
    "bjp-table4": bjp18_networks.TABLE_4,
    "gsimn-figure6": jair09_exact.FIGURE_6,
    "gsimn-figure7": jair09_exact.FIGURE_7,
    "gsimn-figures8-9": jair09_samples.FIGURES_8_9,
    "gsimn-figures10-11": jair09_samples.FIGURES_10_11,
    "gsimn-figure12": jair09_samples.FIGURE_12,
    "gsimn-figure13": jair09_samples.FIGURE_13,
    "gsimn-table1": jair09_uci.TABLE_1,
    "ibmap-ising": ibmap14.ISING,
    "ibmap-landscape": ibmap14_landscape.LANDSCAPE,
    "ibmap-onemax": ibmap14_optimize.ONEMAX,
    "ibmap-random": ibmap14.RANDOM,
    "ibmap-royalroad": ibmap14_optimize.ROYAL_ROAD,
    "ibmap-uci": ibmap14_uci.UCI,
    "mbs-table1": mbs09.TABLE_1,
    "mpl-table1": mpl17.TABLE_1,
    "mpl-table3": mpl17.TABLE_3,
}
"""By name."""
