"""Learners of other packages, for `mnlearn bench learners`.

Nothing is installed: a package that cannot be imported is left out, and named. Each learner takes the data frame that
ours take, runs on one thread and returns an undirected graph: of a search over directed graphs the moral graph, of a
search by tests (PC, MIIC) the skeleton, as our `pc` does. Tests have the level 0.05; all else has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mnlearn.graphs.graph import Graph
from mnlearn.graphs.pdag import Pdag

ALPHA = 0.05


@dataclass(frozen=True)
class Peer:
    """A learner of another package.

    Parameters
    ----------
    package
        Name of the package as one installs it.
    module
        What is imported before the time is taken.
    learn
        From a pandas data frame to a graph.
    """

    package: str
    module: str
    learn: Callable[[Any], Graph]

    def __call__(self, frame: Any) -> Graph:
        """Learn a graph."""
        return self.learn(frame)

    def load(self) -> None:
        """Import the package, so that its import is not part of a time."""
        import_module(self.module)


def installed(peers: Mapping[str, Peer]) -> dict[str, Peer]:
    """Return the peers whose packages are installed; all of them take a pandas data frame."""
    if find_spec("pandas") is None:
        return {}
    return {name: peer for name, peer in peers.items() if find_spec(peer.module.partition(".")[0]) is not None}


def _pyagrum(frame: Any) -> Any:
    """Return a learner of pyAgrum on one thread."""
    learner = import_module("pyagrum").BNLearner(frame)
    learner.setNumberOfThreads(1)
    return learner


def _pyagrum_hc(frame: Any) -> Graph:
    learner = _pyagrum(frame)
    learner.useGreedyHillClimbing()
    return _moral(len(frame.columns), learner.learnDAG().arcs())


def _pyagrum_miic(frame: Any) -> Graph:
    learner = _pyagrum(frame)
    learner.useMIIC()
    return _skeleton(len(frame.columns), learner.learnPDAG())


def _pyagrum_pc(frame: Any) -> Graph:
    learner = _pyagrum(frame)
    learner.usePC()
    learner.setPCAlpha(ALPHA)
    return _skeleton(len(frame.columns), learner.learnPDAG())


def _skeleton(n_variables: int, mixed: Any) -> Graph:
    """Return all arcs and edges of a graph of pyAgrum."""
    return Graph(n_variables, [*mixed.arcs(), *mixed.edges()])


def _pgmpy_hc(frame: Any) -> Graph:
    from pgmpy.causal_discovery import HillClimbSearch

    found = HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False).fit(frame)
    place = {name: k for k, name in enumerate(frame.columns)}
    return _moral(len(place), [(place[u], place[v]) for u, v in found.causal_graph_.edges()])


def _pgmpy_pc(frame: Any) -> Graph:
    from pgmpy.causal_discovery import PC

    search = PC(variant="stable", ci_test="chi_square", significance_level=ALPHA, n_jobs=1, show_progress=False)
    place = {name: k for k, name in enumerate(frame.columns)}
    return Graph(len(place), [(place[u], place[v]) for u, v in search.fit(frame).skeleton_.edges()])


def _causal_learn(test: str, frame: Any) -> Graph:
    """PC of causal-learn: every entry of its matrix that is not zero is an end of an edge."""
    from causallearn.search.ConstraintBased.PC import pc

    found = pc(frame.to_numpy(), alpha=ALPHA, indep_test=test, show_progress=False).G.graph
    return Graph(len(found), np.argwhere(np.triu(found != 0, 1)).tolist())


def _causal_learn_pc(frame: Any) -> Graph:
    return _causal_learn("chisq", frame)


def _causal_learn_pc_continuous(frame: Any) -> Graph:
    return _causal_learn("fisherz", frame)


def _scikit_learn_glasso(frame: Any) -> Graph:
    """Graphical lasso on correlations; cross-validation chooses the penalty."""
    from sklearn.covariance import GraphicalLassoCV

    values = frame.to_numpy()
    precision = GraphicalLassoCV().fit((values - values.mean(0)) / values.std(0)).precision_
    return Graph(len(precision), np.argwhere(np.triu(precision != 0, 1)).tolist())


def _moral(n_variables: int, arcs: Iterable[tuple[int, int]]) -> Graph:
    """Return the moral graph of a directed graph."""
    return Pdag(n_variables, frozenset(arcs), frozenset()).moral()


DISCRETE: Mapping[str, Peer] = {
    "pyagrum-hc": Peer("pyagrum", "pyagrum", _pyagrum_hc),
    "pyagrum-miic": Peer("pyagrum", "pyagrum", _pyagrum_miic),
    "pyagrum-pc": Peer("pyagrum", "pyagrum", _pyagrum_pc),
    "pgmpy-hc": Peer("pgmpy", "pgmpy.causal_discovery", _pgmpy_hc),
    "pgmpy-pc": Peer("pgmpy", "pgmpy.causal_discovery", _pgmpy_pc),
    "causal-learn-pc": Peer("causal-learn", "causallearn.search.ConstraintBased.PC", _causal_learn_pc),
}
"""Learners for categorical data."""

CONTINUOUS: Mapping[str, Peer] = {
    "causal-learn-pc": Peer("causal-learn", "causallearn.search.ConstraintBased.PC", _causal_learn_pc_continuous),
    "scikit-learn-glasso": Peer("scikit-learn", "sklearn.covariance", _scikit_learn_glasso),
}
"""Learners for continuous data."""
