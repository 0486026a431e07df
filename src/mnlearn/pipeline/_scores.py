"""Scores by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_name
from mnlearn.independence import BayesianTest, GaussianPosterior
from mnlearn.pipeline._counting import Counting, check_counting
from mnlearn.pipeline._naming import variables_by_name
from mnlearn.pipeline._reading import check_dataset, is_continuous
from mnlearn.protocols import Score
from mnlearn.scores import (
    MPL,
    PIC,
    BJPScore,
    Entropy,
    ExtendedBIC,
    FullTableEvidence,
    GaussianEvidence,
    HybridEvidence,
    IBScore,
    PairwiseEvidence,
)


class ScoreSettings(TypedDict, total=False):
    """The settings of all scores together; `SCORES` says which score takes which."""

    prior: float
    order: Sequence[str]
    prior_cell: float
    sample_size: float
    graph_prior: float | Callable[[int], float] | None
    penalty: Literal["configurations", "parameters"]
    cardinalities: Literal["declared", "observed"]
    gamma: float


class _NamedScore(NamedTuple):
    """How a score is made: its title, its maker, and the settings it takes."""

    title: str
    make: Callable[..., Score]
    settings: tuple[str, ...]


def _ib(dataset: Dataset, counting: Counting, **settings: Any) -> IBScore:
    return IBScore(_posterior("ib", dataset, counting, **settings))


def _bjp(dataset: Dataset, counting: Counting, order: Sequence[str] | None = None, **settings: Any) -> BJPScore:
    places = None if order is None else variables_by_name("order", order, dataset.names)
    if places is not None and sorted(places) != list(range(dataset.n_variables)):
        raise InputError(
            f"order must hold each of the {dataset.n_variables} variables once; got {list(order or ())[:12]}. "
            "Leave it out to sort by the size of the blankets."
        )
    return BJPScore(_posterior("bjp", dataset, counting, **settings), order=places)


def _posterior(score: str, dataset: Dataset, counting: Counting, **settings: Any) -> BayesianTest | GaussianPosterior:
    """What weighs independences: by counts for categorical variables, by correlations for continuous ones."""
    if is_continuous(dataset, score):
        return GaussianPosterior(counting.moments(dataset), **settings)
    return BayesianTest(counting.counts(dataset), **settings)


def _mpl(dataset: Dataset, counting: Counting, **settings: Any) -> MPL:
    return MPL(_counts("mpl", dataset, counting), **settings)


def _pic(dataset: Dataset, counting: Counting, **settings: Any) -> PIC:
    return PIC(_counts("pic", dataset, counting), **settings)


def _entropy(dataset: Dataset, counting: Counting) -> Entropy:
    return Entropy(_either("entropy", dataset, counting), rows=dataset)


def _ebic(dataset: Dataset, counting: Counting, **settings: Any) -> ExtendedBIC:
    return ExtendedBIC(_either("ebic", dataset, counting), **settings)


def _either(score: str, dataset: Dataset, counting: Counting) -> Any:
    """Where entropies come from: counts of categorical variables, the covariance of continuous ones."""
    return counting.moments(dataset) if is_continuous(dataset, score) else counting.counts(dataset)


def _evidence(dataset: Dataset, counting: Counting) -> HybridEvidence | GaussianEvidence:
    if is_continuous(dataset, "evidence"):
        return GaussianEvidence(counting.moments(dataset))
    return HybridEvidence(_counts("evidence", dataset, counting))


def _pairwise_evidence(dataset: Dataset, counting: Counting) -> PairwiseEvidence:
    return PairwiseEvidence(_counts("evidence-pairwise", dataset, counting))


def _table_evidence(dataset: Dataset, counting: Counting) -> FullTableEvidence:
    return FullTableEvidence(_counts("evidence-table", dataset, counting))


def _counts(score: str, dataset: Dataset, counting: Counting) -> Any:
    """Counts of categorical variables; a continuous one is refused in the score's name."""
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"{score} needs categorical variables; {name!r} is continuous. Discretise it (discretize='frequency'), "
                "or use evidence, ib, bjp or ebic, which also weigh continuous variables."
            )
    return counting.counts(dataset)


SCORES: Mapping[str, _NamedScore] = {
    "ib": _NamedScore("independence-based score", _ib, ("prior",)),
    "bjp": _NamedScore("blankets joint posterior", _bjp, ("prior", "order")),
    "mpl": _NamedScore("marginal pseudo-likelihood", _mpl, ("prior_cell", "sample_size", "graph_prior")),
    "pic": _NamedScore("pseudo-Bayesian information criterion", _pic, ("penalty", "cardinalities", "graph_prior")),
    "entropy": _NamedScore("conditional entropy, without a penalty", _entropy, ()),
    "ebic": _NamedScore("conditional entropy with the extended Bayesian criterion", _ebic, ("gamma",)),
    "evidence": _NamedScore("local evidence, the judge of sep", _evidence, ()),
    "evidence-pairwise": _NamedScore("evidence of pairwise conditionals", _pairwise_evidence, ()),
    "evidence-table": _NamedScore("evidence of full tables", _table_evidence, ()),
}
"""Every score of whole graphs, by name."""


def make_score(
    name: str,
    dataset: Dataset,
    *,
    n_jobs: int | None = None,
    counting: Counting | None = None,
    **settings: Unpack[ScoreSettings],
) -> Score:
    """Make a score by its name.

    Parameters
    ----------
    name
        One of `SCORES`.
    dataset
        The data: categorical for mpl and pic, all of one type for ib, bjp, entropy, ebic and evidence.
    n_jobs
        How many threads may count: None or −1 for all cores, else that many. Any number gives the same result.
    counting
        How tables are counted, if not simply by threads.
    **settings
        ``prior`` (ib, bjp), ``order`` (bjp: the names of all variables), ``prior_cell`` or ``sample_size`` (mpl),
        ``penalty`` and ``cardinalities`` (pic), ``graph_prior`` (mpl, pic), ``gamma`` (ebic); what is left out has the
        default of the score's class.

    Raises
    ------
    UnknownNameError
        If there is no such score.
    InputError
        If the score has no such setting, or its value breaks a rule.
    UnsuitableError
        If a variable is of the wrong type.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> data = Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])
    >>> score = make_score("mpl", data)
    >>> score(Graph(3, [(0, 1)])) > score(Graph.empty(3))
    True
    """
    check_name("score", name, SCORES)
    check_dataset("dataset", dataset)
    check_counting(counting)
    named = SCORES[name]
    for setting in settings:
        if setting not in named.settings:
            raise InputError(
                f"{setting} is no setting of the score {name}, which takes {', '.join(named.settings)}. "
                f"Drop {setting}, or choose another score."
            )
    return named.make(dataset, Counting(n_jobs) if counting is None else counting, **settings)
