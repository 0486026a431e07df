"""Deprecation: an old name works for two minor releases and warns, then it is removed.

`tests/test_deprecation.py` fails when the version of the package reaches `removed_in` of a decorator in the source.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mnlearn.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

KEPT = 2  # minor releases in which a deprecated name works


def deprecated(*, since: str, removed_in: str, use: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that each call warns and names its replacement.

    Parameters
    ----------
    since
        The version in which the function became deprecated, such as `"0.2"`.
    removed_in
        The version that removes it, at least two minor releases later.
    use
        The replacement, as users write it, such as `"mn.learn"`.
    """
    _check(since, removed_in)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        message = f"{function.__qualname__} is deprecated since {since} and will be removed in {removed_in}. Use {use}."

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            warnings.warn(message, FutureWarning, stacklevel=2)
            return function(*args, **kwargs)

        wrapper.__doc__ = _with_note(function, since, message)
        return wrapper

    return decorate


def renamed_argument(old: str, new: str, *, since: str, removed_in: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that it accepts the former keyword `old` for its argument `new`, with a warning.

    Parameters
    ----------
    old, new
        The former and the present name. Only keywords have names: the position of the argument stays as it is.
    since, removed_in
        The version of the new name, and the version that refuses the former one, at least two minor releases later.
    """
    _check(since, removed_in)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        if new not in signature.parameters:
            raise InputError(f"new must be an argument of {function.__qualname__}{signature}; got {new!r}.")
        message = (
            f"The argument {old} of {function.__qualname__} is deprecated since {since} and will be removed in "
            f"{removed_in}. Use {new}."
        )

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            if old in kwargs:
                warnings.warn(message, FutureWarning, stacklevel=2)
                value = kwargs.pop(old)
                if new in signature.bind_partial(*args, **kwargs).arguments:
                    raise InputError(f"{old} is the former name of {new}; got both. Leave {old} out.")
                kwargs[new] = value
            return function(*args, **kwargs)

        wrapper.__doc__ = _with_note(function, since, message)
        return wrapper

    return decorate


def _check(since: str, removed_in: str) -> None:
    """Raise InputError unless the removal comes at least two minor releases later, or with a later major one."""
    first, last = minor_release(since), minor_release(removed_in)
    if last[0] < first[0] or (last[0] == first[0] and last[1] < first[1] + KEPT):
        raise InputError(
            f"removed_in must be at least {KEPT} minor releases after since; got {since} and {removed_in}. "
            f"Use {first[0]}.{first[1] + KEPT}."
        )


def minor_release(version: str) -> tuple[int, int]:
    """Return the major and the minor number of a version such as 0.2 or 1.4.0rc1."""
    numbers = version.split(".")
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers[:2]):
        raise InputError(f"version must start with two numbers, such as 0.2; got {version!r}.")
    return int(numbers[0]), int(numbers[1])


def _with_note(function: Callable[..., object], since: str, message: str) -> str:
    """Return the docstring with the message after its summary, where numpydoc expects it."""
    summary, _, rest = (inspect.getdoc(function) or "").partition("\n\n")
    note = f".. deprecated:: {since}\n    {message}"
    return "\n\n".join(part for part in (summary, note, rest) if part)
