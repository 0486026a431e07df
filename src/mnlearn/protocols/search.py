"""Learners: their monitor, their result, and the judges that propose neighbourhoods or whole graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols.statistics import FloatArray, Indices, VarSet
from mnlearn.run import SILENT, Monitor

if TYPE_CHECKING:
    from mnlearn.graphs.pdag import Pdag
    from mnlearn.protocols.judges import Question


class Step(NamedTuple):
    """One flip of a climb and the score after it; the first step has no flip: it is the start of the climb."""

    edge: Edge | None
    score: float


class Move(NamedTuple):
    """One move of Markov blanket search: `x` adds a neighbour, removes one, or both (a swap)."""

    k: int  # the round
    x: int
    added: int | None
    removed: int | None
    gain: float  # increase of the score of the whole graph: minus the change of Σ S  [MBS09, Eq. 6]


class PenaltyTrial(NamedTuple):
    """The value of one penalty λ and one limit k, by the criterion or by held-out rows; larger is better."""

    regularization: float
    k_max: int
    value: float


@dataclass(frozen=True)
class Result:
    """Graph that a search found, its cost, and the settings to run it again.

    The fields after `log_odds` are filled by some searches only.
    """

    graph: Graph
    score: float | None
    support: Mapping[Edge, float]  # per edge, on the judge's own log scale
    converged: bool
    cost: Mapping[str, float]  # asked, inferred, recalled, weighted, scored, seconds
    settings: Mapping[str, object] = field(default_factory=dict)  # enough to run it again
    trace: tuple[Question, ...] | None = None  # every question in order, if the learner has keep_trace
    support_scale: Literal["log_independence", "log_odds"] = "log_independence"  # small is strong; large is strong
    probabilistic: bool = False  # whether log-odds are meant to be read as probabilities; a pseudo-likelihood's are not
    stages: Mapping[str, Graph] = field(default_factory=dict)  # graphs a search passed through, by name
    alternatives: tuple[tuple[Graph, float], ...] = ()  # the next best graphs with their scores, where they are known
    edge_probabilities: Mapping[Edge, float] | None = None  # of every pair, when the search averaged over graphs
    log_odds: FloatArray | None = field(default=None, compare=False)  # of all pairs, where a search kept them
    steps: tuple[Step, ...] | None = None  # hill climbing: every flip in order
    absent: Mapping[Edge, float] | None = None  # hill climbing: log-odds of pairs without an edge, as in `support`
    moves: tuple[Move, ...] = ()  # MBS: every move in order; the score rises by the sum of their gains
    trials: tuple[PenaltyTrial, ...] = ()  # MBS: each λ and k that was tried to choose them
    separators: Mapping[Edge, VarSet] = field(default_factory=dict)  # PC: the first set that separated each pair
    pdag: Pdag | None = None  # PC: the directions, for the moral graph
    partial_correlations: Mapping[Edge, float] | None = None  # of the edges, as the graphical lasso estimates them
    mass: float | None = None  # exhaustive search: share of the optimum in Σ exp(score), with averaging


J = TypeVar("J", contravariant=True)  # noqa: PLC0105 - the judge


class Learner(Protocol[J]):
    """Settings of a search; `learn` gets a judge, never the data."""

    def learn(self, judge: J, monitor: Monitor = SILENT) -> Result: ...


# Judges that list candidates.


@runtime_checkable
class ScreeningJudge(Protocol):
    """Judge that finds the strongest partners of every variable in one pass, without a number for every pair."""

    @property
    def n_variables(self) -> int: ...
    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs that are among the k strongest of either variable by marginal evidence."""
        ...


@runtime_checkable
class RescanningJudge(ScreeningJudge, Protocol):
    """Judge that also finds the strongest partners given blankets, among all variables."""

    def strongest_given(self, xs: Indices, blankets: Sequence[VarSet], k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs of each x with the k variables that improve its blanket most; none that do not."""
        ...


# Judges that propose neighbourhoods, mutual information or whole graphs.


class Neighborhood(NamedTuple):
    """Neighbours of a variable, as a judge chooses them."""

    support: Mapping[int, float]  # the neighbours, each with its support on the judge's own log scale
    fits: int  # number of fitted models


class NeighborhoodJudge(Protocol):
    """Judge that chooses the neighbours of a variable."""

    @property
    def n_variables(self) -> int: ...
    def neighborhood(self, x: int, candidates: VarSet, required: VarSet) -> Neighborhood:
        """Return some of the candidates and all required variables."""
        ...


@runtime_checkable
class BatchedNeighborhoods(NeighborhoodJudge, Protocol):
    """Judge that chooses for several variables together at less cost than one after the other."""

    def neighborhoods(self, asked: Sequence[tuple[int, VarSet, VarSet]]) -> list[Neighborhood]:
        """Return `neighborhood` of each question, in order."""
        ...


@runtime_checkable
class SpreadNeighborhoods(NeighborhoodJudge, Protocol):
    """Judge that uses several processes or machines, and so takes all questions at once."""

    def spread(self, asked: Sequence[tuple[int, VarSet, VarSet]], monitor: Monitor) -> Iterator[Neighborhood]:
        """Yield `neighborhood` of each question, in order; fewer if the monitor cancels."""
        ...


class InformationJudge(Protocol):
    """Judge of the mutual information of every pair and of its significance."""

    @property
    def n_variables(self) -> int: ...
    def information(self) -> FloatArray:
        """Return the mutual information of every pair in nats: symmetric, 0 on the diagonal."""
        ...

    def log_p(self) -> FloatArray:
        """Return the log p-value of every pair: symmetric, 0 on the diagonal."""
        ...


@runtime_checkable
class PairInformationJudge(InformationJudge, Protocol):
    """Judge that also measures some pairs alone, without a number for every pair."""

    def of_pairs(self, pairs: Candidates) -> tuple[FloatArray, FloatArray]:
        """Return the mutual information and the log p-value of each pair."""
        ...


class PathStep(NamedTuple):
    """Penalised model at one penalty."""

    criterion: float  # lower is better
    support: Mapping[Edge, float]  # its edges, each with its support on the judge's own log scale
    converged: bool  # whether the solver converged
    partial_correlations: Mapping[Edge, float] | None = None  # of the edges, in the penalised model


class PathJudge(Protocol):
    """Judge that proposes whole graphs, one for each penalty, from no edge to many."""

    @property
    def n_variables(self) -> int: ...
    @property
    def penalties(self) -> Sequence[float]:
        """Penalties in descending order, from one that leaves no edge."""
        ...

    def at(self, penalty: float) -> PathStep:
        """Return the model at this penalty."""
        ...
