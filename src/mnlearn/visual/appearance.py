"""Settings of the picture of a network: groups, labels, layout, sizes of nodes, rings and a threshold of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mnlearn.errors import InputError, check_name, check_number, is_number, iterates, real_array, unknown_name
from mnlearn.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned

LAYOUTS = ("spring", "circle", "groups")
SIZES = ("degree", "strength", "closeness", "betweenness")
Groups: TypeAlias = "Mapping[str, object] | Sequence[object]"
Labels: TypeAlias = "Mapping[str, str] | Sequence[str]"
Layout: TypeAlias = "str | Mapping[str, Sequence[float]] | ArrayLike"
NodeSize: TypeAlias = "float | str | Mapping[str, float]"
_LARGEST = 10.0  # times the usual size


@dataclass(frozen=True, kw_only=True, eq=False)
class Appearance:
    """Settings of the picture of a network; None for the default.

    Attributes
    ----------
    groups
        Group of each variable: a mapping from variables to groups, one from groups to lists of variables, or a list in
        the order of the variables. Communities by default.
    labels
        Text of each node: a mapping or a list; the name by default.
    layout
        ``"spring"`` (default), ``"circle"``, ``"groups"``, or coordinates: a mapping or an array of n rows.
    node_size
        A factor for all nodes, one of ``SIZES``, or a mapping of sizes; the largest size is the usual one.
    threshold
        Edges with a smaller absolute weight are not drawn.
    same_layout_as
        Another network over the same variables, whose layout is used.
    rings
        A share from 0 to 1 per variable, drawn as a ring around its node.
    ring_words
        The name of the shares in the legend.
    """

    groups: Groups | None = None
    labels: Labels | None = None
    layout: Layout | None = None
    node_size: NodeSize | None = None
    threshold: float | None = None
    same_layout_as: Learned | None = None
    rings: Mapping[str, float] | None = None
    ring_words: str = "share"

    def given(self) -> list[str]:
        """Return the names of the settings that were given."""
        return [name for name, value in vars(self).items() if value is not None and name != "ring_words"]

    def among(self, names: Sequence[str], part: Sequence[str]) -> Appearance:
        """Return the settings for some of the variables; names of others are checked and left out."""
        if self.same_layout_as is not None:
            raise InputError("same_layout_as is for whole networks; got around=... too. Drop one of the two.")
        place = {name: x for x, name in enumerate(names)}
        kept = [place[name] for name in part]
        changed: dict[str, Any] = {}
        if self.groups is not None:
            numbers, titles = group_numbers(names, self.groups)
            found = [titles[numbers[x]] if numbers[x] >= 0 else None for x in kept]
            changed["groups"] = found if any(found) else None
        if self.labels is not None:
            texts = label_texts(names, self.labels)
            changed["labels"] = [texts[x] for x in kept]
        if self.layout is not None and not isinstance(self.layout, str):
            changed["layout"] = coordinates(names, self.layout)[kept]
        for name in ("node_size", "rings"):
            values = getattr(self, name)
            if isinstance(values, Mapping):
                _check_variables(name, values, names)
                changed[name] = {key: value for key, value in values.items() if key in set(part)}
        return replace(self, **changed)


def group_numbers(names: Sequence[str], groups: Groups) -> tuple[IntArray, tuple[str, ...]]:
    """Return the group of each variable by number, −1 for none, and the names of the groups in order of appearance.

    Examples
    --------
    >>> group_numbers(["a", "b", "c"], {"first": ["a", "c"], "second": ["b"]})
    (array([0, 1, 0]), ('first', 'second'))
    >>> group_numbers(["a", "b", "c"], ["x", "x", None])[1]
    ('x',)
    """
    if isinstance(groups, Mapping):
        lists = bool(groups) and all(not isinstance(value, str) and iterates(value) for value in groups.values())
        named = _from_lists(groups) if lists else dict(groups)
    else:
        named = dict(zip(names, _one_each("groups", names, groups, "group"), strict=True))
    _check_variables("groups", named, names)
    try:
        kinds = dict.fromkeys(group for group in named.values() if group is not None)
    except TypeError as error:
        raise InputError(
            "groups must name a group with a string for every variable; got a value that is none. Use "
            "groups={'first': ['a', 'b']}, for example."
        ) from error
    if not kinds:
        raise InputError("groups must name at least one group; got none. Leave it out for communities.")
    number = {group: k for k, group in enumerate(kinds)}
    found = [number.get(named.get(name), -1) for name in names]
    return np.array(found, dtype=np.int64), tuple(str(group) for group in kinds)


def _from_lists(groups: Mapping[str, Any]) -> dict[str, object]:
    """Return the group of each variable from lists of variables."""
    found: dict[str, object] = {}
    for group, members in groups.items():
        for name in members:
            if not isinstance(name, str):
                raise InputError(f"groups must list variables by name; got {name!r:.80}. Use their names.")
            if name in found:
                raise InputError(f"groups must have every variable once; got {name!r} twice. Remove one of them.")
            found[name] = group
    return found


def label_texts(names: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Return the text of each node: the label, or the name of a variable that has none."""
    if isinstance(labels, Mapping):
        _check_variables("labels", labels, names)
        texts = [labels.get(name, name) for name in names]
    else:
        texts = _one_each("labels", names, labels, "label")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"labels must be strings; got {text!r:.80}. Use str() on them.")
    return tuple(texts)


def coordinates(names: Sequence[str], layout: Mapping[str, Any] | ArrayLike) -> FloatArray:
    """Return the coordinates that a user gave, one row per variable."""
    hint = "Give two numbers per variable, or use 'spring', 'circle' or 'groups'."
    if isinstance(layout, Mapping):
        _check_variables("layout", layout, names)
        lacking = [name for name in names if name not in layout]
        if lacking:
            raise InputError(f"layout must have coordinates of every variable; got none of {lacking[0]!r}. {hint}")
        layout = [layout[name] for name in names]
    places = real_array("layout", layout, hint)
    if places.shape != (len(names), 2):
        raise InputError(f"layout must have {len(names)} rows of two numbers; got the shape {places.shape}. {hint}")
    if not np.isfinite(places).all():
        raise InputError(f"layout must have finite numbers; got {places[~np.isfinite(places)][0]}. {hint}")
    return places


def numbers_by_name(
    argument: str, names: Sequence[str], values: object, most: float, *, whole: bool = True
) -> FloatArray:
    """Return one number from 0 to `most` per variable; NaN for those without one, if that is allowed."""
    hint = f"Give a dict, such as {{{names[0]!r}: 0.5}}."
    if not isinstance(values, Mapping):
        raise InputError(f"{argument} must be a mapping from variables to numbers; got {values!r:.80}. {hint}")
    _check_variables(argument, values, names)
    for name, value in values.items():
        if not is_number(value) or not 0 <= float(value) <= most:
            limit = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
            raise InputError(f"{argument} must be finite numbers {limit}; got {value!r:.80} for {name!r}. {hint}")
    lacking = [name for name in names if name not in values]
    if whole and lacking:
        raise InputError(f"{argument} must have a number for every variable; got none for {lacking[0]!r}. {hint}")
    return np.array([float(values.get(name, np.nan)) for name in names], dtype=np.float64)


def check_appearance(look: Appearance, names: Sequence[str]) -> None:
    """Raise InputError for a setting that does not fit these variables, before anything is drawn."""
    if look.groups is not None:
        group_numbers(names, look.groups)
    if look.labels is not None:
        label_texts(names, look.labels)
    if isinstance(look.layout, str):
        check_name("layout", look.layout, LAYOUTS)
    elif look.layout is not None:
        coordinates(names, look.layout)
    if isinstance(look.node_size, str):
        check_name("node_size", look.node_size, SIZES)
    elif is_number(look.node_size):
        check_number("node_size", look.node_size, "1 is the usual size.", least=0.1, most=_LARGEST)
    elif look.node_size is not None:
        numbers_by_name("node_size", names, look.node_size, np.inf)
    if look.threshold is not None:
        check_number("threshold", look.threshold, "Use 0.05, for example.", least=0.0)
    if look.rings is not None:
        numbers_by_name("rings", names, look.rings, 1.0, whole=False)
    _check_other(look, names)


def _check_other(look: Appearance, names: Sequence[str]) -> None:
    """Raise InputError unless the network whose layout is used has the same variables."""
    other = look.same_layout_as
    if other is None:
        return
    if look.layout is not None:
        raise InputError("layout and same_layout_as exclude each other; got both. Drop one of them.")
    known = getattr(other, "names", None)
    if not isinstance(known, tuple) or not hasattr(other, "graph"):
        raise InputError(
            f"same_layout_as must be a learned network; got {type(other).__name__}. Pass what mnlearn.learn returned."
        )
    if set(known) != set(names):
        strange = sorted(set(known) ^ set(names))[0]
        raise InputError(
            f"same_layout_as must have the variables of this network; only one of the two has {strange!r}. Learn both "
            "from the same columns."
        )


def _check_variables(argument: str, named: Mapping[Any, object], names: Sequence[str]) -> None:
    """Raise an error for a name that is not a variable."""
    known = set(names)
    for name in named:
        if not isinstance(name, str) or name not in known:
            raise unknown_name(f"{argument}: variable", name, names)


def _one_each(argument: str, names: Sequence[str], values: object, noun: str) -> list[Any]:
    """Return a list with one value per variable."""
    if isinstance(values, str | bytes) or not iterates(values):
        raise InputError(
            f"{argument} must be a mapping by variable, or a list with one {noun} per variable; got {values!r:.80}. "
            f"Leave it out for the default."
        )
    found = list(values)
    if len(found) != len(names):
        raise InputError(
            f"{argument} must have one {noun} per variable, {len(names)} in all; got {len(found)}. Use a mapping to "
            f"set some of them."
        )
    return found
