"""Every published experiment that `mnlearn reproduce` knows, by name. A new one is a line here."""

from __future__ import annotations

from collections.abc import Mapping

from mnlearn_papers import bjp18, bjp18_networks, ibmap14, jair09, mbs09, mpl17
from mnlearn_papers.ibmap14 import LANDSCAPE, ONEMAX, ROYAL_ROAD, SAMPLED_LANDSCAPE
from mnlearn_papers.jair09 import LINE_22
from mnlearn_papers.mbs09_learners import ENRICHMENT
from mnlearn_papers.reproduction import Reproduction

REPRODUCTIONS: Mapping[str, Reproduction] = {
    "bjp-orders": bjp18.ORDERINGS,
    "bjp-real": bjp18_networks.REAL_NETWORKS,
    "bjp-runtimes": bjp18_networks.RUN_TIMES,
    "bjp-table1": bjp18.TABLE_1,
    "bjp-table3": bjp18_networks.TABLE_3,
    "bjp-table4": bjp18_networks.TABLE_4,
    "gsimn-figure6": jair09.FIGURE_6,
    "gsimn-figure7": jair09.FIGURE_7,
    "gsimn-figures8-9": jair09.FIGURES_8_9,
    "gsimn-figures10-11": jair09.FIGURES_10_11,
    "gsimn-figure12": jair09.FIGURE_12,
    "gsimn-figure13": jair09.FIGURE_13,
    "gsimn-line22": LINE_22,
    "gsimn-table1": jair09.TABLE_1,
    "ibmap-ascents": ibmap14.ASCENTS,
    "ibmap-ising": ibmap14.ISING,
    "ibmap-landscape": LANDSCAPE,
    "ibmap-landscape-sample": SAMPLED_LANDSCAPE,
    "ibmap-onemax": ONEMAX,
    "ibmap-random": ibmap14.RANDOM,
    "ibmap-royalroad": ROYAL_ROAD,
    "ibmap-uci": ibmap14.UCI,
    "mbs-enrichment": ENRICHMENT,
    "mbs-table1": mbs09.TABLE_1,
    "mbs-table2": mbs09.TABLE_2,
    "mbs-table3": mbs09.TABLE_3,
    "mpl-orders": mpl17.ORDERS,
    "mpl-table1": mpl17.TABLE_1,
    "mpl-table3": mpl17.TABLE_3,
    "mpl-theorem1": mpl17.THEOREM_1,
}
"""By name."""
