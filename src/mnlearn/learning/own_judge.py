"""Tests and scores of the caller, given as `test=` or `score=`: a class, a function, or an object.

A class or function is called with the data set, once for each data set that is learned from. An object belongs to one
data set, so it is refused where rows are resampled. What it returns is checked, so that an error names the question.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from inspect import Parameter, getsource, signature
from math import inf, isnan
from numbers import Real
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from mnlearn.checkpoint import Checkpoint
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, MnlearnError, UnsuitableError
from mnlearn.learning.custom import ByCall, ByLocal, CustomScore, CustomTest
from mnlearn.protocols import BaseTest, IndependenceTest, Score, VarSet, Verdict
from mnlearn.statistics.opening import Counting

TestLike: TypeAlias = str | Callable[[Dataset], Any] | IndependenceTest
"""A test: its name, a class or function that makes one from a `Dataset`, or one that is made."""
ScoreLike: TypeAlias = str | Callable[[Dataset], Any] | Score
"""A score: its name, a class or function that makes one from a `Dataset`, or one that is made."""

_BASES = {"test": CustomTest, "score": CustomScore}
_METHODS = {"test": ("__call__", "__call__(x, y, z)"), "score": ("local", "local(x, blanket)")}
_MADE = {"test": ("n_variables", "scan"), "score": ("n_variables", "local")}


@dataclass(frozen=True, repr=False)
class OwnJudge:
    """A test or score of the caller, before it meets the data.

    Attributes
    ----------
    kind
        "test" or "score".
    given
        A class or function of a data set; or a test or score that is made.
    """

    kind: Literal["test", "score"]
    given: Any

    @classmethod
    def of(cls, kind: Literal["test", "score"], given: object, known: Collection[str]) -> OwnJudge:
        """Check as much as can be checked before there are data; `known` are the names of the built-in ones."""
        own = cls(kind, given)
        if not own.made and not callable(given):
            raise UnsuitableError(
                f"{kind} must be a name ({', '.join(known)}), a class or function that makes one from a Dataset, or an "
                f"object with {_METHODS[kind][1]}; got {given!r:.80}. Use a name, for example."
            )
        if own.made or isinstance(given, type):
            _check_complete(own, given)
        if own.name in known:
            raise InputError(
                f"{kind} must not have the name of a built-in {kind}, which results could not tell apart; got a "
                f"{type(given).__name__} called {own.name!r}. Rename it."
            )
        return own

    @property
    def made(self) -> bool:
        """Whether it is a made object, which belongs to one data set."""
        return not isinstance(self.given, type) and any(hasattr(self.given, name) for name in _MADE[self.kind])

    @property
    def name(self) -> str:
        """Name in results and messages: that of the class or function."""
        source = _source(self.given)
        return str(getattr(source, "__name__", type(source).__name__))

    @property
    def bears_gaps(self) -> bool:
        """Whether it says that it bears missing values; a made object has seen its data."""
        return self.made or bool(getattr(_source(self.given), "bears_gaps", False))

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of its settings: the parameters of the class or function after the data."""
        if self.made:
            return ()
        try:
            parameters = list(signature(self.given).parameters.values())[1:]
        except (TypeError, ValueError):  # some built-in types have no signature
            return ()
        return tuple(one.name for one in parameters if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY))

    def __repr__(self) -> str:
        """Return name and source in short: the same for the same code, for checkpoints."""
        source = _source(self.given)
        try:
            text = getsource(source)
        except (OSError, TypeError):  # typed into a shell, or not Python
            text = ""
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        bound = repr(self.given.keywords) if isinstance(self.given, partial) else ""
        return f"{getattr(source, '__module__', '')}.{self.name}{bound}:{digest}"

    def refuse_made(self, where: str) -> None:
        """Raise InputError for a made object, where its own rows would be the wrong ones."""
        if self.made:
            raise InputError(
                f"{self.kind} must be a class or a function of the data for {where}; got an object of {self.name}, "
                f"which holds its own rows. Pass the class: {self.kind}={self.name}."
            )

    def on(self, dataset: Dataset, counting: Counting, settings: Mapping[str, Any]) -> Any:
        """Return the judge of these data."""
        found = self.given if self.made else self._call(dataset, settings)
        _check_complete(self, found)
        self._check_variables(found, dataset)
        checkpoint = None if self.made else counting.checkpoint  # which could not tell two objects of a class apart
        return counting.judge(_checked(self, found, dataset, checkpoint))

    def _call(self, dataset: Dataset, settings: Mapping[str, Any]) -> Any:
        """Call the class or function with the data."""
        try:
            return self.given(dataset, **settings)
        except MnlearnError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.kind} must be a class or function that can be called with a Dataset; {self.name} raised "
                f"{type(error).__name__}: {str(error).rstrip('.')}. Derive the class from "
                f"mnlearn.{_BASES[self.kind].__name__}, for example."
            ) from error

    def _check_variables(self, found: Any, dataset: Dataset) -> None:
        """Raise InputError unless the judge is of the variables of the data, as far as it says."""
        n = getattr(found, "n_variables", dataset.n_variables)
        if n != dataset.n_variables:
            raise InputError(
                f"{self.kind} must be of the {dataset.n_variables} variables of the data; {self.name} has {n}. Make it "
                "from the same data."
            )
        names = getattr(getattr(found, "statistics", found), "names", None)
        if isinstance(names, tuple) and names != dataset.names:
            raise InputError(
                f"{self.kind} must be of the variables of the data in their order; {self.name} has others. Make it "
                "from the same data."
            )


def own_name(judge: str | OwnJudge) -> str:
    """Return the name of a test or score in results."""
    return judge.name if isinstance(judge, OwnJudge) else judge


def _source(given: Any) -> Any:
    """Return the class or function that was given, bound settings aside; of an object its class."""
    if isinstance(given, partial):
        return _source(given.func)
    return given if isinstance(given, type) or hasattr(given, "__name__") else type(given)


def _check_complete(own: OwnJudge, found: Any) -> None:
    """Raise UnsuitableError for a class or object without the method that everything follows from."""
    if own.kind == "score" and all(hasattr(found, method) for method in ("on", "ranks", "terms")):
        return  # a sum over pairs, such as BJPScore
    if own.kind == "test" and hasattr(found, "local"):
        raise UnsuitableError(f"test must be a test; {own.name} is a score. Pass it as score={own.name}.")
    method, shown = _METHODS[own.kind]
    there = _of_class(found, method) if isinstance(found, type) else getattr(found, method, None)
    if not callable(there) or getattr(there, "__isabstractmethod__", False):
        raise _lacks(own, found, shown)
    if isinstance(found, _BASES[own.kind]) and "data" not in vars(found):
        raise UnsuitableError(
            f"{own.kind} must hold its data; {own.name}.__init__ does not call super().__init__(data). Add that call."
        )


def _of_class(found: type, method: str) -> Any:
    """Return a method that a class gives its objects; every class can be called itself, so getattr will not do."""
    return next((vars(base)[method] for base in found.__mro__ if method in vars(base)), None)


def _lacks(own: OwnJudge, found: object, method: str) -> UnsuitableError:
    """Return the error for a missing method."""
    name = found.__name__ if isinstance(found, type) else type(found).__name__
    made_by = "" if own.made or isinstance(found, type) else f", which {own.name} returned,"
    return UnsuitableError(
        f"{own.kind} must have a method {method}; {name}{made_by} has none. Derive it from "
        f"mnlearn.{_BASES[own.kind].__name__}, or add it."
    )


def _checked(own: OwnJudge, found: Any, dataset: Dataset, checkpoint: Checkpoint | None) -> Any:
    """Return a judge that checks the answers; one that brings all the forms that learners use is left as it is."""
    complete = hasattr(found, "on") if own.kind == "score" else isinstance(found, BaseTest)
    if complete and not isinstance(found, _BASES[own.kind]):
        return found
    checked = _CheckedScore if own.kind == "score" else _CheckedTest
    named: Any = type(own.name, (checked,), {})  # messages of learners name the class of their judge
    return named(own, found, dataset, checkpoint)


class _Checked:
    """Judge of the caller, whose answers are checked and stored in the checkpoint, if there is one."""

    forwarded: ClassVar[tuple[str, ...]] = ()  # attributes of the judge inside that are used where it has its own

    def __init__(self, own: OwnJudge, found: Any, dataset: Dataset, checkpoint: Checkpoint | None) -> None:
        self._name, self._found, self._names, self._checkpoint = own.name, found, dataset.names, checkpoint
        for name in self.forwarded:
            if hasattr(found, name) and getattr(type(found), name, None) is not getattr(_BASES[own.kind], name, self):
                setattr(self, name, getattr(found, name))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._names)

    def _ask(self, method: Callable[..., Any], called: str, **question: int | VarSet) -> Any:
        """Call a method of the judge inside; to an error of its code, add the question with names."""
        try:
            return method(*question.values())
        except Exception as error:
            names = self._names
            shown = {k: names[v] if isinstance(v, int) else [names[x] for x in sorted(v)] for k, v in question.items()}
            error.add_note(f"{called} was called with " + ", ".join(f"{k}={value!r}" for k, value in shown.items()))
            raise

    def _recall(self, *question: Any) -> Any:
        """Return the stored answer to a question, or find and check it now."""
        if self._checkpoint is None:
            return self._find(*question)
        return self._checkpoint.recall(("own", question), lambda: self._find(*question))

    def _find(self, *question: Any) -> Any:
        raise NotImplementedError


class _CheckedScore(_Checked, ByLocal):
    """Local score of the caller."""

    forwarded = ("additions", "removals", "exchanges", "constant", "most_neighbors")

    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket."""
        value: float = self._recall(int(x), blanket)
        return value

    def _find(self, x: int, blanket: VarSet) -> float:
        value = self._ask(self._found.local, f"{self._name}.local", x=x, blanket=blanket)
        if isinstance(value, bool) or not isinstance(value, Real) or isnan(value) or value == inf:
            raise InputError(
                f"score must give a number below infinity; {self._name}.local(x={x}, blanket={set(blanket) or '{}'}) "
                f"returned {value!r:.60}. Return -inf for a blanket that is impossible."
            )
        return float(value)


class _CheckedTest(_Checked, ByCall):
    """Test of the caller."""

    forwarded = ("batched", "monotone", "scan", "evidence", "scan_many", "scan_members")

    @property
    def name(self) -> str:
        """Name of the class or function of the caller."""
        return self._name

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test whether x is independent of y given z."""
        return Verdict(*self._recall(int(x), int(y), z))

    def _find(self, x: int, y: int, z: VarSet) -> list[Any]:
        found = self._ask(self._found, self._name, x=x, y=y, z=z)
        independent, support = found[:2] if isinstance(found, tuple) and len(found) >= 2 else (None, None)
        if not (isinstance(independent, bool | np.bool_) and isinstance(support, Real) and not isnan(support)):
            raise InputError(
                f"test must return a mnlearn.Verdict of true or false and a log p-value; {self._name}(x={x}, y={y}, "
                f"z={set(z) or '{}'}) returned {found!r:.80}. Return Verdict(True, 0.0) where it cannot tell."
            )
        return [bool(independent), float(support)]
