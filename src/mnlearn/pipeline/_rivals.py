"""The judges of ARACNE, the lasso methods and the graphical lasso, from data and settings by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError, check_name
from mnlearn.independence.information import CountedInformation, Estimate, GaussianInformation, RowInformation
from mnlearn.pipeline._reading import is_continuous
from mnlearn.protocols import InformationJudge, NeighborhoodJudge, PathJudge
from mnlearn.scores.glasso import CrossValidatedPrecision, EBICPrecision
from mnlearn.scores.lasso import EBICLasso, TheoryLasso
from mnlearn.scores.lasso_resampled import CrossValidatedLasso, StableLasso
from mnlearn.statistics import Counts, Moments
from mnlearn.statistics.rows import Rows

_Kinds = Mapping[str, tuple[type, Callable[[Dataset], Any]]]  # name -> judge, and what it judges by

_LASSOS: _Kinds = {
    "ebic": (EBICLasso, Moments),
    "theory": (TheoryLasso, Moments),
    "cv": (CrossValidatedLasso, Rows),
    "stability": (StableLasso, Rows),
}
_PRECISIONS: _Kinds = {"ebic": (EBICPrecision, Moments), "cv": (CrossValidatedPrecision, Rows)}


def _settings(kinds: _Kinds) -> tuple[str, ...]:
    """What the judges take beside the data, each name once."""
    names = [field.name for judge, _ in kinds.values() for field in fields(judge)[1:] if field.init]
    return ("penalty", *dict.fromkeys(names))


INFORMATION_SETTINGS = ("information", "significance", "n_pairs", "seed", "width")
LASSO_SETTINGS = _settings(_LASSOS)
PRECISION_SETTINGS = _settings(_PRECISIONS)


def information_judge(dataset: Dataset, information: Estimate | None = None, **settings: Any) -> InformationJudge:
    """Of ARACNE: tables for categorical variables; for continuous ones values, ranks or kernel densities."""
    if not is_continuous(dataset, "aracne"):
        if information is not None or settings:
            told = "information" if information is not None else next(iter(settings))
            raise InputError(
                f"{told} is for continuous variables; all of these are categorical, and their tables tell everything. "
                f"Drop {told}."
            )
        return CountedInformation(Counts(dataset))
    if information in (None, "gaussian") and not settings:
        return GaussianInformation(Moments(dataset))
    if information == "kernel":
        settings.setdefault("significance", "permutation")
    return RowInformation(Rows(dataset), estimate=information or "gaussian", **settings)


def lasso_judge(dataset: Dataset, penalty: str = "ebic", **settings: Any) -> NeighborhoodJudge:
    """Of the neighbourhood lasso, by the way the penalty is chosen."""
    judge: NeighborhoodJudge = _made("lasso", _LASSOS, penalty, dataset, settings)
    return judge


def l1mb_judge(dataset: Dataset) -> NeighborhoodJudge:
    """Of L1MB: the same path, and the plain BIC  [SNM07]."""
    judge: NeighborhoodJudge = _made("l1mb", _LASSOS, "ebic", dataset, {"gamma": 0.0})
    return judge


def precision_judge(dataset: Dataset, penalty: str = "ebic", **settings: Any) -> PathJudge:
    """Of the graphical lasso, by the way the penalty is chosen."""
    judge: PathJudge = _made("glasso", _PRECISIONS, penalty, dataset, settings)
    return judge


def _made(method: str, kinds: _Kinds, penalty: str, dataset: Dataset, settings: Mapping[str, Any]) -> Any:
    """The judge for this penalty; what does not suit it or the data is refused."""
    check_name("penalty", penalty, kinds)
    judge, statistics = kinds[penalty]
    taken = [field.name for field in fields(judge)[1:] if field.init]
    for name in settings:
        if name not in taken:
            able = ", ".join(repr(kind) for kind in kinds if name in {f.name for f in fields(kinds[kind][0])})
            raise InputError(
                f"{name} is for penalty={able}; got penalty={penalty!r}, which takes {', '.join(taken)}. Drop {name}, "
                "or choose that penalty."
            )
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if card:
            raise UnsuitableError(
                f"{method} needs continuous variables; {name!r} is categorical with {card} state{'s' * (card != 1)}. "
                f"Use l1lr or sep, which are for categorical variables; or, if it holds numbers, read it as continuous "
                f"(types={{{name!r}: 'continuous'}})."
            )
    return judge(statistics(dataset), **settings)
