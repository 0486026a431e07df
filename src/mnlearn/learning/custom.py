"""Base classes of your own scores and tests: write one method, the rest follows.

A `CustomScore` needs `local(x, blanket)`, a `CustomTest` needs `__call__(x, y, z)`. Variables are indices, as
everywhere between data and result. Both hold the data and offer them as tables of counts and as columns. Pass the class
to `mnlearn.learn` and its relatives, which call it with the data: once, or once for each resampled data set.

Tests and scores of the caller, given as `test=` or `score=`: a class, a function, or an object.

A class or function is called with the data set, once for each data set that is learned from. An object belongs to one
data set, so it is refused where rows are resampled. What it returns is checked, so that an error names the question.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from inspect import Parameter, getsource, signature
from math import inf, isnan
from numbers import Real
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, MnlearnError, UnsuitableError
from mnlearn.independence.base import log_chi2_sf
from mnlearn.learning.inputs import check_dataset
from mnlearn.protocols import (
    BaseTest,
    Evidence,
    FloatArray,
    IndependenceTest,
    Indices,
    IntArray,
    Score,
    VarSet,
    Verdict,
    Verdicts,
)
from mnlearn.scores import Decomposed
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.opening import Counting


class ByLocal(Decomposed):
    """Local score whose batched forms are loops over `local`."""

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket and each of its ys."""
        questions = zip(xs, blankets, yss, strict=True)
        return [_numbers([self.local(int(x), blanket | {int(y)}) for y in ys]) for x, blanket, ys in questions]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, members y in ascending order."""
        questions = zip(xs, blankets, strict=True)
        return [_numbers([self.local(int(x), blanket - {y}) for y in sorted(blanket)]) for x, blanket in questions]


class ByCall(BaseTest):
    """Test whose batched forms are loops over `__call__`."""

    @property
    def name(self) -> str:
        """Name of the test in results: that of its class."""
        return type(self).__name__

    @abstractmethod
    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test whether x is independent of y given z."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""
        found = [self(int(x), int(y), z) for y in ys]
        return Verdicts(np.array([one[0] for one in found], dtype=np.bool_), _numbers([one[1] for one in found]))

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decision and the log support for each y; override it to show a statistic as well."""
        found = self.scan(x, ys, z)
        return Evidence(found.independent, log_p=found.log_support)


def _numbers(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64)


class _HoldsData:
    """Data of a judge, as scores and tests need them."""

    def __init__(self, data: Dataset) -> None:
        check_dataset("data", data)
        self.data = data

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.data.n_variables

    @property
    def n_rows(self) -> int:
        """Number of rows, repeats included."""
        return self.data.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each variable."""
        return self.data.names

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable; 0 for a continuous one."""
        return self.data.cards

    @cached_property
    def repeats(self) -> IntArray:
        """Number of times that each stored row occurred: 1 for each row unless the data have repeats."""
        repeats = self.data.repeats
        return np.ones(self.data.n_records, dtype=np.int64) if repeats is None else repeats

    def column(self, x: int) -> np.ndarray[Any, Any]:
        """Return the stored rows of a variable: codes from 0 as int64, or float64 values if it is continuous."""
        column = self.data.columns[x]
        return column.astype(np.int64) if self.data.cards[x] else column

    def _counts(self, variables: Collection[int]) -> tuple[Counts, dict[int, int]]:
        """Return counts of the categorical variables, and the place of each; refuse other variables."""
        place, names = self._places, self.data.names
        for x in variables:
            if x not in place:
                if x not in range(len(names)):
                    raise InputError(
                        f"table takes variables by index, 0 to {len(names) - 1}; got {x!r}. Use names.index(name)."
                    )
                raise UnsuitableError(
                    f"table needs categorical variables; {names[x]!r} is continuous. Use column(x), or discretise it "
                    "(discretize='frequency')."
                )
        return self._counted, place

    @cached_property
    def _places(self) -> dict[int, int]:
        return {x: k for k, x in enumerate(x for x, card in enumerate(self.data.cards) if card)}

    @cached_property
    def _counted(self) -> Counts:
        return Counts(self.data.select(self._places), n_jobs=1)

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts for another process, which counts by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_counted"}


class CustomScore(_HoldsData, ByLocal):
    """Base class of your own score: a sum over variables of `local(x, blanket)`, which you write.

    Pass the class to `mnlearn.learn` with the method hillclimb, exhaustive or mbs, or to `mnlearn.score`. Parameters of
    its `__init__` after the data are settings of these calls.

    Parameters
    ----------
    data
        The data; a subclass with settings calls ``super().__init__(data)``.

    Attributes
    ----------
    data, names, cards, n_variables, n_rows
        The data and their parts. `cards` has the number of states, 0 for a continuous variable.
    repeats
        Number of times that each stored row occurred.

    Notes
    -----
    Scores are in natural logs, and higher is better. −inf forbids a blanket; NaN and +inf are refused. Override
    `additions` and `removals` if many blankets together cost less than one after the other.

    Examples
    --------
    >>> import mnlearn as mn
    >>> class AIC(mn.CustomScore):
    ...     def local(self, x, blanket):
    ...         counts = self.table(x, blanket)  # a row for each configuration of the blanket that occurs
    ...         shares = counts / counts.sum(axis=1, keepdims=True)
    ...         likelihood = np.sum(counts * np.log(shares, where=counts > 0, out=np.zeros(counts.shape)))
    ...         return likelihood - len(counts) * (self.cards[x] - 1)
    >>> data = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> mn.learn(data, "hillclimb", score=AIC).edge_list()[0][:2]
    ('rain', 'wet')
    """

    @abstractmethod
    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket, a frozenset of indices."""

    def table(self, x: int, blanket: Collection[int] = frozenset()) -> IntArray:
        """Count the states of x in every configuration of the blanket that occurs.

        Returns
        -------
        array
            A row for each configuration, a column for each state of x; repeats included.
        """
        counts, place = self._counts((x, *blanket))
        states, found = counts.cells(place[x], frozenset(place[y] for y in blanket))
        changes = np.any(states[:-1, 1:] != states[:-1, :-1], axis=0)
        row = np.concatenate([[0], np.cumsum(changes)])
        table = np.zeros((row[-1] + 1, self.cards[x]), dtype=np.int64)
        table[row, states[-1]] = found
        return table


class CustomTest(_HoldsData, ByCall):
    """Base class of your own conditional independence test: write `__call__(x, y, z)`.

    Pass the class to `mnlearn.learn` with a method by tests (gsmn*, gsimn, pc, hhc-mn, ...), to
    `mnlearn.independence_test`, `mnlearn.dependences` or `mnlearn.validate`. Parameters of its `__init__` after the
    data are settings of these calls.

    Parameters
    ----------
    data
        The data; a subclass with settings calls ``super().__init__(data)``.

    Attributes
    ----------
    data, names, cards, n_variables, n_rows
        The data and their parts. `cards` has the number of states, 0 for a continuous variable.
    repeats
        Number of times that each stored row occurred.

    Notes
    -----
    `__call__` returns a `Verdict`: whether x and y are independent given z, and the log p-value or log posterior of
    independence, by which learners order pairs. It must not depend on the order of x and y. Logs of p-values below
    1e-300 are −inf in most libraries, and such pairs are tied; `chi_square_log_p` is exact. Override `scan` if many
    y together cost less than one after the other.

    Examples
    --------
    >>> import mnlearn as mn
    >>> class Pearson(mn.CustomTest):
    ...     def __init__(self, data, *, alpha=0.01):
    ...         super().__init__(data)
    ...         self.alpha = alpha
    ...     def __call__(self, x, y, z):
    ...         counts = self.table(x, y, z)  # [configuration of z that occurs, state of x, state of y]
    ...         rows, columns = counts.sum(2, keepdims=True), counts.sum(1, keepdims=True)
    ...         expected = rows * columns / counts.sum((1, 2), keepdims=True)
    ...         cells = expected > 0
    ...         statistic = np.sum((counts - expected)[cells] ** 2 / expected[cells])
    ...         dof = len(counts) * (self.cards[x] - 1) * (self.cards[y] - 1)
    ...         log_p = self.chi_square_log_p(statistic, dof)
    ...         return mn.Verdict(log_p > np.log(self.alpha), log_p)
    >>> data = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> mn.independence_test(data, "rain", "wet", test=Pearson).independent
    False
    >>> mn.learn(data, "gsmn*", test=Pearson, alpha=0.05).test
    'Pearson (alpha 0.05)'
    """

    def table(self, x: int, y: int, z: Collection[int] = frozenset()) -> IntArray:
        """Count the states of x and y in every configuration of z that occurs.

        Returns
        -------
        array
            ``[configuration, state of x, state of y]``; repeats included.
        """
        counts, place = self._counts((x, y, *z))
        tables: IntArray = counts.tables(place[x], [place[y]], frozenset(place[v] for v in z)).counts[0]
        return tables

    @staticmethod
    def chi_square_log_p(statistic: float, dof: float) -> float:
        """Return the log p-value of a chi-square statistic, exact where p underflows; 0 without degrees of freedom.

        The two-sided p-value of a normal statistic z is that of z² with one degree of freedom.
        """
        return float(log_chi2_sf(statistic, dof))


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
        return counting.judge(_checked(self, found, dataset))

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


def _checked(own: OwnJudge, found: Any, dataset: Dataset) -> Any:
    """Return a judge that checks the answers; one that brings all the forms that learners use is left as it is."""
    complete = hasattr(found, "on") if own.kind == "score" else isinstance(found, BaseTest)
    if complete and not isinstance(found, _BASES[own.kind]):
        return found
    checked = _CheckedScore if own.kind == "score" else _CheckedTest
    named: Any = type(own.name, (checked,), {})  # messages of learners name the class of their judge
    return named(own, found, dataset)


class _Checked:
    """Judge of the caller, whose answers are checked."""

    forwarded: ClassVar[tuple[str, ...]] = ()  # attributes of the judge inside that are used where it has its own

    def __init__(self, own: OwnJudge, found: Any, dataset: Dataset) -> None:
        self._name, self._found, self._names = own.name, found, dataset.names
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


class _CheckedScore(_Checked, ByLocal):
    """Local score of the caller."""

    forwarded = ("additions", "removals", "exchanges", "constant", "most_neighbors")

    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket."""
        value = self._ask(self._found.local, f"{self._name}.local", x=int(x), blanket=blanket)
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
        found = self._ask(self._found, self._name, x=int(x), y=int(y), z=z)
        independent, support = found[:2] if isinstance(found, tuple) and len(found) >= 2 else (None, None)
        if not (isinstance(independent, bool | np.bool_) and isinstance(support, Real) and not isnan(support)):
            raise InputError(
                f"test must return a mnlearn.Verdict of true or false and a log p-value; {self._name}(x={x}, y={y}, "
                f"z={set(z) or '{}'}) returned {found!r:.80}. Return Verdict(True, 0.0) where it cannot tell."
            )
        return Verdict(bool(independent), float(support))
