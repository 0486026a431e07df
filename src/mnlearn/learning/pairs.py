"""The options `candidates`, `k` and `rescans` of `learn`: which pairs of variables may be edges.

They are checked before any data are read, and become indices once the names of the variables are known. A result states
them in a form that `learn` accepts again: as words, as pairs of names, or, where there are many pairs, as one string.
"""

from __future__ import annotations

import logging
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Protocol, TypeAlias, runtime_checkable
from zlib import compress, crc32, decompress, error

import numpy as np

from mnlearn.algorithms.screening import CandidateRule, Screening
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, iterates, true_or_false, unknown_name, whole_number
from mnlearn.graphs.candidates import Candidates, every_pair, keys_of
from mnlearn.graphs.named import NamedGraph
from mnlearn.protocols import Monitor
from mnlearn.statistics.opening import Counting
from mnlearn.statistics.screens import ScreenRule, run

_log = logging.getLogger("mnlearn.learning")

MOST_FOR_ALL_PAIRS = 5_000
"""Number of variables up to which all pairs are candidates by default; of more, those that a screen lists."""
MOST_NAMED = 10_000
"""Number of candidate pairs up to which a result states them by name."""
OPTIONS = ("candidates", "k", "rescans")
_HINT = (
    "Use 'all', 'screen', a result of screen or load_screen, a graph of read_graph, pairs of names, or a dict from "
    "each name to a list of names."
)


@runtime_checkable
class NamedCandidates(Protocol):
    """Candidates with the names of their variables, such as the result of `screen`."""

    @property
    def names(self) -> Sequence[str]: ...
    def candidates(self) -> Candidates: ...


CandidatesLike: TypeAlias = str | NamedCandidates | NamedGraph | Iterable[Sequence[str]] | Mapping[str, Iterable[str]]
"""Forms of the option `candidates`: a word, a screen, a graph, pairs of names, or the partners of each name."""


@dataclass(frozen=True)
class CandidateOption:
    """The three options, checked.

    Attributes
    ----------
    given
        None, "all", "screen", a string of packed pairs, a screen, or pairs of names.
    k
        Number of the strongest partners; None for the default.
    rescans
        Whether a screened search looks again given what it found; None for the default.
    """

    given: str | NamedCandidates | tuple[Any, ...] | None = None
    k: int | None = None
    rescans: bool | None = None

    def __repr__(self) -> str:
        """Return a short string that is the same for the same candidates."""
        shown = self.given
        if isinstance(shown, tuple):
            shown = f"{len(shown)} pairs {sha256(repr(shown).encode()).hexdigest()}"
        elif isinstance(shown, NamedCandidates):
            shown = f"screen {sha256(_packed(shown.candidates(), shown.names).encode()).hexdigest()}"
        return f"CandidateOption({shown!r}, k={self.k}, rescans={self.rescans})"

    def __bool__(self) -> bool:
        """Whether any option was given."""
        return self.given is not None or self.k is not None or self.rescans is not None

    def rule(self, names: Sequence[str], *, screens_itself: bool) -> CandidateRule:
        """Return the candidates of a learner by index; None for its default, all pairs.

        A learner that `screens_itself` chooses what to do without the options, and takes all pairs as a list.
        """
        n, rescans = len(names), True if self.rescans is None else self.rescans
        if self.given == "all":
            return every_pair(n) if screens_itself else None
        if self.given is None and (n <= MOST_FOR_ALL_PAIRS or (screens_itself and not self)):
            return None
        if self.given in (None, "screen"):
            return Screening(k=20 if self.k is None else self.k, rescans=rescans)
        if isinstance(self.given, str):
            listed = _unpacked(self.given, names)
            return Screening(rescans=rescans, listed=listed) if self.given.startswith(_SCREENED) else listed
        if isinstance(self.given, NamedCandidates):
            return Screening(rescans=rescans, listed=_over(self.given, names))
        return _listed(self.given or (), names)

    def stated(self, rule: CandidateRule, names: Sequence[str]) -> dict[str, object]:
        """Return the options as a result states them."""
        if self.given == "all":
            return {"candidates": "all"}
        if isinstance(rule, Candidates):
            if len(rule.keys) > MOST_NAMED:
                return {"candidates": _packed(rule, names)}
            pairs = zip(rule.u.tolist(), rule.v.tolist(), strict=True)
            return {"candidates": [[names[u], names[v]] for u, v in pairs]}
        if isinstance(rule, Screening):
            if rule.listed is not None:
                return {"candidates": _packed(rule.listed, names, _SCREENED), "rescans": rule.rescans}
            return {"candidates": "screen", "k": rule.k, "rescans": rule.rescans}
        return {}


def candidate_option(candidates: object, k: object, rescans: object) -> CandidateOption:
    """Check the three options.

    Raises
    ------
    InputError
        If one breaks its rule, or they do not fit together.
    """
    given = _form(candidates)
    if k is not None:
        if given != "screen":
            raise InputError(
                f"k is for candidates='screen'; got k={k!r} with {_in_words(given)}. Drop k, or add "
                "candidates='screen'."
            )
        whole_number("k", k, least=1, hint="20 is usual.")
    if rescans is not None:
        true_or_false(rescans=rescans)
        open_lists = isinstance(given, NamedCandidates) or given in (None, "screen")
        if not open_lists and not str(given).startswith(_SCREENED):
            raise InputError(
                f"rescans is for a screen; got rescans={rescans} with {_in_words(given)}, which no scan adds to. Drop "
                "rescans, or use candidates='screen'."
            )
    return CandidateOption(given, k, rescans)  # type: ignore[arg-type]


def _in_words(given: object) -> str:
    """Return a description of the option."""
    if isinstance(given, str) and ":" not in given:
        return f"candidates={given!r}"
    return "no candidates" if given is None else "listed candidates"


def _form(candidates: object) -> str | NamedCandidates | tuple[Any, ...] | None:
    """Return the option in one of the forms of `CandidateOption.given`; names are checked when they are known."""
    if candidates is None or isinstance(candidates, NamedCandidates):
        return candidates
    if isinstance(candidates, NamedGraph):
        return tuple((u, v) for u, v, _ in candidates.named_edges())
    if isinstance(candidates, str):
        if candidates not in ("all", "screen") and not candidates.startswith((_PAIRS, _SCREENED)):
            raise InputError(f"candidates must be 'all' or 'screen', or hold pairs; got {candidates!r:.80}. {_HINT}")
        return candidates
    if isinstance(candidates, Mapping):
        for name, others in candidates.items():
            if isinstance(others, str) or not iterates(others):
                raise InputError(
                    f"candidates must hold a list of names for each variable; got {others!r:.80} for {name!r}. {_HINT}"
                )
        return tuple((name, other) for name, others in candidates.items() for other in others)
    if not isinstance(candidates, Iterable) or not iterates(candidates):
        raise InputError(f"candidates must hold pairs of names; got a {type(candidates).__name__}. {_HINT}")
    return tuple(tuple(pair) if iterates(pair) and not isinstance(pair, str) else pair for pair in candidates)


def _listed(pairs: Sequence[Any], names: Sequence[str]) -> Candidates:
    """Return pairs of names as candidates."""
    place = {name: x for x, name in enumerate(names)}
    ends = np.empty((len(pairs), 2), dtype=np.int64)
    for row, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2 or (isinstance(pair[0], str) and pair[0] == pair[1]):
            raise InputError(
                f"candidates must hold pairs of two different variables by name; got {pair!r:.80}. "
                f"Write for example [({names[0]!r}, {names[-1]!r})]."
            )
        for end, name in enumerate(pair):
            if not isinstance(name, str) or name not in place:
                raise unknown_name("candidates: variable", name, place)
            ends[row, end] = place[name]
    return Candidates(len(names), keys_of(len(names), ends))


def _over(screened: NamedCandidates, names: Sequence[str]) -> Candidates:
    """Return the candidates of a screen over these names, which must be those of the screen in any order."""
    place, listed = {name: x for x, name in enumerate(names)}, screened.candidates()
    if not getattr(screened, "complete", True):
        raise InputError("candidates must come from a screen that was not cancelled; this one was. Screen again.")
    for name in screened.names:
        if name not in place:
            raise unknown_name("candidates must be screened from the columns of the data: column", name, names)
    if len(screened.names) != len(names):
        known = set(screened.names)
        missing = next(name for name in names if name not in known)
        raise InputError(
            f"candidates must be screened from all columns of the data; {missing!r} is missing. Screen the same data."
        )
    new = np.array([place[name] for name in screened.names], dtype=np.int64)
    return Candidates(len(names), keys_of(len(names), np.stack([new[listed.u], new[listed.v]], axis=1)))


# Many pairs as one string: the differences of their keys, compressed, with a checksum of the names.

_PAIRS, _SCREENED = "pairs:", "screened:"


def _packed(listed: Candidates, names: Sequence[str], kind: str = _PAIRS) -> str:
    """Return pairs as a string."""
    data = compress(np.diff(listed.keys, prepend=0).astype("<i8").tobytes(), 6)
    return f"{kind}{_checksum(names)}:{b64encode(data).decode()}"


def _unpacked(text: str, names: Sequence[str]) -> Candidates:
    """Return the pairs of a string that `_packed` made."""
    checksum, _, data = text.partition(":")[2].partition(":")
    if checksum != _checksum(names):
        raise InputError(f"candidates must be of the columns of the data in their order; got a list of others. {_HINT}")
    try:
        keys = np.cumsum(np.frombuffer(decompress(b64decode(data, validate=True)), dtype="<i8"), dtype=np.int64)
    except (ValueError, error):
        keys = np.array([-1])
    n = len(names)
    u, v = np.divmod(keys, max(n, 1))
    if (np.diff(keys, prepend=-1) <= 0).any() or (u >= v).any():  # of a pair u < v, v is a remainder: so both are < n
        raise InputError(f"candidates must be as a result states them; got {text!r:.40}, which was changed. {_HINT}")
    return Candidates(n, keys)


def _checksum(names: Sequence[str]) -> str:
    """Return a short string that changes with the names or their order."""
    return f"{len(names)}-{crc32(chr(0).join(names).encode()):08x}"


def with_screen_of_data(
    rule: CandidateRule, judge: object, dataset: Dataset, counting: Counting, monitor: Monitor
) -> CandidateRule:
    """Return a rule with the strongest pairs of the data, where the judge weighs no pairs: it chooses neighbours."""
    if not isinstance(rule, Screening) or rule.listed is not None or not hasattr(judge, "neighborhood"):
        return rule
    here = Counting(counting.n_jobs)  # workers get models to fit, not pairs to count
    return replace(rule, listed=run(here.pair_scan(dataset, ScreenRule(k=rule.k)), monitor).candidates())
