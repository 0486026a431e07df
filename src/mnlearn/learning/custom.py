"""Base classes of your own scores and tests: write one method, the rest follows.

A `CustomScore` needs `local(x, blanket)`, a `CustomTest` needs `__call__(x, y, z)`. Variables are indices, as
everywhere between data and result. Both hold the data and offer them as tables of counts and as columns. Pass the class
to `mnlearn.learn` and its relatives, which call it with the data: once, or once for each resampled data set. A test may
also be a function of columns that returns a p-value. What they return is checked: an error names the question.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from hashlib import blake2b
from inspect import Parameter, getsource, signature
from math import inf, isnan
from numbers import Real
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, MnlearnError, UnsuitableError
from mnlearn.independence.base import log_chi2_sf, log_level
from mnlearn.learning.inputs import check_dataset
from mnlearn.numbers import log
from mnlearn.protocols import (
    BaseTest,
    Evidence,
    FloatArray,
    Indices,
    IntArray,
    Score,
    VarSet,
    Verdict,
    Verdicts,
)
from mnlearn.scores import BJPScore, Decomposed
from mnlearn.statistics.counts import Counts
from mnlearn.statistics.opening import Counting


def _numbers(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64)


def _checked(inside: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose answers are checked; to an error of its code, the question is added with names."""

    @wraps(inside)
    def method(self: Any, *given: Any) -> Any:
        question = [int(v) if isinstance(v, np.integer) else v for v in given]
        try:
            found = inside(self, *question)
        except Exception as error:
            words = [self.names[v] if isinstance(v, int) else [self.names[x] for x in sorted(v)] for v in question]
            shown = ", ".join(f"{word}={value!r}" for word, value in zip(self._words, words, strict=True))
            note = f"{self._shown} was called with {shown}"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise
        return self._valid(found, question)

    return method


class _HoldsData:
    """Data of a judge, as scores and tests need them."""

    _method: ClassVar[str]  # that a subclass writes
    _words: ClassVar[tuple[str, ...]]  # of its question

    def __init_subclass__(cls, **options: Any) -> None:
        """Check what the method of a subclass returns."""
        super().__init_subclass__(**options)
        if cls._method in vars(cls):
            setattr(cls, cls._method, _checked(vars(cls)[cls._method]))

    def __init__(self, data: Dataset) -> None:
        check_dataset("data", data)
        self.data = data

    @property
    def _shown(self) -> str:
        """Name of the method in messages."""
        return str(getattr(self, "name", f"{type(self).__name__}.{self._method}"))

    def _call(self, question: Sequence[Any]) -> str:
        """Return the words of a call, for messages."""
        values = [v if isinstance(v, int) else set(v) or "{}" for v in question]
        shown = ", ".join(f"{word}={value}" for word, value in zip(self._words, values, strict=True))
        return f"{self._shown}({shown})"

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

    @cached
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

    @cached
    def _places(self) -> dict[int, int]:
        return {x: k for k, x in enumerate(x for x, card in enumerate(self.data.cards) if card)}

    @cached
    def _counted(self) -> Counts:
        return Counts(self.data.select(self._places), n_jobs=1)

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts for another process, which counts by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_counted"}


class CustomScore(_HoldsData, Decomposed):
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

    _method, _words = "local", ("x", "blanket")

    def _valid(self, value: Any, question: Sequence[Any]) -> float:
        """Return a score; raise InputError unless it is a number below infinity."""
        if isinstance(value, bool) or not isinstance(value, Real) or isnan(value) or value == inf:
            raise InputError(
                f"score must give a number below infinity; {self._call(question)} returned {value!r:.60}. Return -inf "
                "for a blanket that is impossible."
            )
        return float(value)

    @abstractmethod
    def local(self, x: int, blanket: VarSet) -> float:
        """Return the score of x with this blanket, a frozenset of indices."""

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return local(x, blanket + y) for each x with its blanket and each of its ys."""
        questions = zip(xs, blankets, yss, strict=True)
        return [_numbers([self.local(int(x), blanket | {int(y)}) for y in ys]) for x, blanket, ys in questions]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return local(x, blanket − y) for each x with its blanket, members y in ascending order."""
        questions = zip(xs, blankets, strict=True)
        return [_numbers([self.local(int(x), blanket - {y}) for y in sorted(blanket)]) for x, blanket in questions]

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


class CustomTest(_HoldsData, BaseTest):
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

    _method, _words = "__call__", ("x", "y", "z")

    def _valid(self, found: Any, question: Sequence[Any]) -> Verdict:
        """Return a verdict; raise InputError unless it is a truth value with a number."""
        independent, support = found[:2] if isinstance(found, tuple) and len(found) >= 2 else (None, None)
        if not (isinstance(independent, bool | np.bool_) and isinstance(support, Real) and not isnan(support)):
            raise InputError(
                f"test must return a mnlearn.Verdict of true or false and a log p-value; {self._call(question)} "
                f"returned {found!r:.80}. Return Verdict(True, 0.0) where it cannot tell."
            )
        return Verdict(bool(independent), float(support))

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


class FunctionTest(CustomTest):
    """Test by a function of columns that returns a p-value.

    Parameters
    ----------
    data
        The data.
    function
        Called with the columns of x and y, and an array with a column for each variable of z.
    alpha
        x and y are dependent if the p-value is at most alpha.
    """

    def __init__(self, data: Dataset, function: Callable[..., Any], *, alpha: float = 0.01) -> None:
        super().__init__(data)
        self._function, self._log_alpha = function, log_level(alpha)

    @property
    def name(self) -> str:
        """Name of the function."""
        return _name_of(self._function)

    def __call__(self, x: int, y: int, z: VarSet) -> Any:
        """Return the p-value of the independence of x and y given z."""
        given = [self._rows(v) for v in sorted(z)]
        first, second = sorted((x, y))
        columns = np.stack(given, axis=1) if given else np.empty((self.n_rows, 0))
        return self._function(self._rows(first), self._rows(second), columns)

    def _valid(self, found: Any, question: Sequence[Any]) -> Verdict:
        """Return the verdict of a p-value; raise InputError unless it is one."""
        if isinstance(found, bool) or not isinstance(found, Real) or not 0.0 <= float(found) <= 1.0:
            raise InputError(
                f"test must return a p-value from 0 to 1; {self._call(question)} returned {found!r:.80}. Return 1.0 "
                "where it cannot tell."
            )
        p = float(found)
        log_p = log(p) if p > 0.0 else -inf
        return Verdict(log_p > self._log_alpha, log_p)

    def _rows(self, x: int) -> np.ndarray[Any, Any]:
        """Return the column of a variable, with a row for each repeat."""
        return self.column(x) if self.data.repeats is None else np.repeat(self.column(x), self.data.repeats)


TestLike: TypeAlias = str | type[BaseTest] | Callable[..., Any]
"""A test: its name, a class derived from `CustomTest`, or a function of the columns x, y and z."""
ScoreLike: TypeAlias = str | type[Score]
"""A score: its name, or a class derived from `CustomScore`."""

_CLASSES: dict[str, tuple[type, ...]] = {"test": (BaseTest,), "score": (Decomposed, BJPScore)}
_WANTED = {
    "test": "a class derived from mnlearn.CustomTest, or a function of the columns x, y and z that returns a p-value",
    "score": "a class derived from mnlearn.CustomScore",
}
_METHODS = {"__call__": "__call__(x, y, z)", "local": "local(x, blanket)"}


@dataclass(frozen=True, repr=False)
class OwnJudge:
    """A test or score of the caller, before it meets the data.

    Attributes
    ----------
    kind
        "test" or "score".
    given
        A class that is called with a data set; or a test that is a function of columns.
    """

    kind: Literal["test", "score"]
    given: Any

    @classmethod
    def of(cls, kind: Literal["test", "score"], given: object, known: Collection[str]) -> OwnJudge:
        """Check as much as can be checked before there are data; `known` are the names of the built-in ones."""
        own = cls(kind, given)
        if isinstance(given, _CLASSES[kind]):
            raise InputError(
                f"{kind} must be a name, or a class which is called with the data; got an object of "
                f"{type(given).__name__}. Use a name ({', '.join(known)}), or give the object to a learner: "
                f"mnlearn.{'PC' if kind == 'test' else 'HillClimb'}().learn({kind})."
            )
        fits = (
            issubclass(given, _CLASSES[kind]) if isinstance(given, type) else kind == "test" and _takes_columns(given)
        )
        if not fits:
            raise UnsuitableError(
                f"{kind} must be a name ({', '.join(known)}), {_WANTED[kind]}; got {given!r:.80}. Use a name, for "
                "example."
            )
        for method in sorted(getattr(given, "__abstractmethods__", ())):
            raise UnsuitableError(
                f"{kind} must have a method {_METHODS.get(method, method)}; {own.name} has none. Add it."
            )
        if own.name in known:
            raise InputError(
                f"{kind} must not have the name of a built-in {kind}, which results could not tell apart; got a "
                f"{type(given).__name__} called {own.name!r}. Rename it."
            )
        return own

    @property
    def is_function(self) -> bool:
        """Whether it is a function of columns."""
        return not isinstance(self.given, type)

    @property
    def name(self) -> str:
        """Name in results and messages: that of the class or function."""
        return _name_of(self.given)

    @property
    def bears_gaps(self) -> bool:
        """Whether it says that it bears missing values."""
        return bool(getattr(self.given, "bears_gaps", False))

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of its settings: the parameters of the class after the data; of a function the level."""
        if self.is_function:
            return ("alpha",)
        parameters = list(signature(self.given).parameters.values())[1:]
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

    def on(self, dataset: Dataset, counting: Counting, settings: Mapping[str, Any]) -> Any:
        """Return the judge of these data."""
        if self.is_function:
            return counting.judge(FunctionTest(dataset, self.given, **settings))
        try:
            found = self.given(dataset, **settings)
        except MnlearnError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.kind} must be {_WANTED[self.kind]}; {self.name}, called with a Dataset, raised "
                f"{type(error).__name__}: {str(error).rstrip('.')}. Correct its __init__."
            ) from error
        if isinstance(found, _HoldsData) and "data" not in vars(found):
            raise UnsuitableError(
                f"{self.kind} must hold its data; {self.name}.__init__ does not call super().__init__(data). Add that "
                "call."
            )
        return counting.judge(found)


def own_name(judge: str | OwnJudge) -> str:
    """Return the name of a test or score in results."""
    return judge.name if isinstance(judge, OwnJudge) else judge


def _source(given: Any) -> Any:
    """Return the class or function that was given, bound settings aside; of a callable object its class."""
    if isinstance(given, partial):
        return _source(given.func)
    return given if hasattr(given, "__name__") else type(given)


def _name_of(given: Any) -> str:
    return str(_source(given).__name__)


def _takes_columns(given: object) -> bool:
    """Return whether something can be called with three arguments, as far as Python can tell."""
    if not callable(given) or (isinstance(given, partial) and isinstance(_source(given), type)):
        return False
    try:
        signature(given).bind(0, 1, 2)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True
