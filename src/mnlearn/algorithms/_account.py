"""The account of one run: what a search asked, what it was told, what it inferred, and what that cost.

A question is entered when its answer is used, so the account is the paper's own, whoever was asked and however far
ahead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, Indices, Question, Result, VarSet, Verdict, Verdicts


class Account:
    """What a search used, entered question by question.

    Parameters
    ----------
    keep_trace
        Whether to keep every question, in order.
    rules
        The rules of inference that the search may book, so that each has its line in `cost` even when never used.
    keep_support
        Whether to remember by which answer each pair was decided; not needed by a search that knows itself.

    Attributes
    ----------
    phase
        What the search is doing now; "initial" is booked apart from everything else.
    """

    def __init__(self, *, keep_trace: bool, rules: Iterable[str], keep_support: bool) -> None:
        self.phase, self._keep_support, self._started = "main", keep_support, perf_counter()
        self._asked: Counter[str] = Counter()
        self._weighted: Counter[str] = Counter()
        self._inferred: Counter[str] = Counter(dict.fromkeys(rules, 0))
        self._recalled = self._largest_z = self._scanned = 0
        self._trace: list[Question] | None = [] if keep_trace else None
        self._decided: dict[Edge, float] = {}
        self._marginal: FloatArray | None = None

    def book(self, x: int, y: int, z: VarSet, verdict: Verdict) -> None:
        """Enter an answer that the search uses."""
        self._count(1, len(z), verdict.source)
        if self._keep_support and not verdict.independent:
            self._decide(x, y, verdict.log_support)
        if self._trace is not None:
            self._trace.append(Question(x, y, z, *verdict, self.phase))

    def enter(self, n_questions: int, size_z: int) -> None:
        """Book questions about sets of one size that a judge asked itself, all of them needed."""
        self._count(n_questions, size_z, "data")
        self._scanned += n_questions

    def enter_by_size(self, asked: Sequence[int]) -> None:
        """The same for sets of several sizes: how many questions there were about each, from size 0 on."""
        for size_z, n_questions in enumerate(asked):
            self.enter(n_questions, size_z)

    def infer(self, x: int, ys: Indices, z: VarSet, *, independent: bool, rule: str) -> None:
        """Book answers that a rule gave instead of the judge."""
        self._inferred[rule] += len(ys)
        if self._trace is not None:
            self._trace.extend(Question(x, int(y), z, independent, None, rule, self.phase) for y in ys)

    def result(self, graph: Graph, *, converged: bool, settings: Mapping[str, object]) -> Result:
        """The record of the run.

        The support of an edge is that of the last question about it which the judge answered with dependence; where
        rules answered every question about it, its marginal support.
        """
        support = {edge: value for edge in graph.edges if (value := self.log_support(*edge)) is not None}
        trace = None if self._trace is None else tuple(self._trace)
        return Result(graph, None, support, converged, self.cost(), settings, trace)

    def log_support(self, x: int, y: int) -> float | None:
        """The log support of the last dependence of x and y that the judge found, else the marginal one, if asked."""
        decided = self._decided.get((x, y) if x < y else (y, x))
        if decided is None and self._marginal is not None:
            return float(self._marginal[x, y])
        return decided

    def cost(self) -> dict[str, float]:
        """The account so far."""
        asked, weighted = self._asked.total(), self._weighted.total()
        initial_asked, initial_weighted = self._asked["initial"], self._weighted["initial"]
        return {
            "asked": asked,
            "weighted": weighted,
            "initial_asked": initial_asked,
            "initial_weighted": initial_weighted,
            "main_asked": asked - initial_asked,
            "main_weighted": weighted - initial_weighted,
            "inferred": self._inferred.total(),
            **{f"inferred_{rule}": count for rule, count in self._inferred.items()},
            "recalled": self._recalled,
            "largest_z": self._largest_z,
            "scanned": self._scanned,
            "seconds": perf_counter() - self._started,
        }

    def _book(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> None:
        """Enter the answers that the search uses: those to the ys, of which there may be fewer than answers."""
        self._count(len(ys), len(z), answers.source)
        if self._keep_support and self.phase != "initial":
            for k in (~answers.independent[: len(ys)]).nonzero()[0].tolist():
                self._decide(x, int(ys[k]), float(answers.log_support[k]))
        if self._trace is not None:
            phase, verdicts = self.phase, map(answers.one, range(len(ys)))
            self._trace.extend(Question(x, int(y), z, *v, phase) for y, v in zip(ys, verdicts, strict=True))

    def _count(self, n_questions: int, size_z: int, source: str) -> None:
        """Count questions about sets of one size."""
        self._asked[self.phase] += n_questions
        self._weighted[self.phase] += n_questions * (2 + size_z)
        if n_questions and size_z > self._largest_z:
            self._largest_z = size_z
        if source == "memo":
            self._recalled += n_questions

    def _decide(self, x: int, y: int, log_support: float | None) -> None:
        """Keep what the judge last said for the dependence of a pair."""
        if log_support is not None:
            self._decided[(x, y) if x < y else (y, x)] = log_support
