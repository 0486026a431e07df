"""More rows to a packed file: what they must have in common with those that are there, and the two put together."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data._coding import order_key
from mnlearn.data._packwriter import Block, Contents, Variable
from mnlearn.data._request import VariableType
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.writing import lock

BLOCK_ROWS = 1 << 20


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Append to this file while nobody else does; another one at it is refused, for one of the two would be lost."""
    while True:
        with path.open("rb") as file:
            if not lock(file):
                raise FileError(f"append must be done by one at a time; another one is at {path}. Wait for it to end.")
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):  # not one that was replaced meanwhile
                yield
                return


def as_before(
    old: Dataset,
    columns: Sequence[str] | None,
    types: Mapping[str, VariableType] | None,
    levels: Mapping[str, Sequence[Hashable]] | None,
) -> tuple[Sequence[str], dict[str, VariableType], dict[str, Sequence[Hashable]]]:
    """The options with which new rows are read as the old ones were."""
    given = {"columns": columns, "types": types, "levels": levels}
    odd = [name for name, value in given.items() if value]
    if odd:
        raise InputError(f"{odd[0]} is settled by the pack that is appended to; got {given[odd[0]]!r}. Drop it.")
    assert old.pack is not None
    kinds: dict[str, VariableType] = {
        name: "categorical" if card else "continuous" for name, card in zip(old.names, old.cards, strict=True)
    }
    fixed: dict[str, Sequence[Hashable]] = {
        name: [label for label in labels if label is not None]
        for name, labels, declared in zip(old.names, old.levels, old.pack.declared, strict=True)
        if declared and labels is not None
    }
    return old.names, kinds, fixed


def held_like(old: Dataset, data: Dataset) -> Contents:
    """Rows that are coded already, in memory or in another pack, as more rows of a pack."""
    chosen = data.select(old.names)
    assert old.pack is not None
    for name, before, labels, fixed in zip(old.names, old.levels, chosen.levels, old.pack.declared, strict=True):
        if (before is None) != (labels is None):
            kinds = ["continuous" if found is None else "categorical" for found in (before, labels)]
            raise DataError(
                f"column {name!r} must be of one type in old rows and new ones; it is {kinds[0]} in the pack and "
                f"{kinds[1]} in what is appended. Pack the source of one of the two again with types={{...}}."
            )
        outside = [label for label in labels or () if label is not None and label not in (before or ())]
        if fixed and outside:
            raise DataError(
                f"levels[{name!r}] were declared when the pack was made; the rows to append also hold {outside[0]!r}. "
                "Pack all rows again with longer levels."
            )
    found = held(chosen, set())
    alike = zip(found.variables, old.pack.declared, strict=True)
    return replace(found, variables=[replace(variable, declared=fixed) for variable, fixed in alike])


def held(data: Dataset, declared: set[str]) -> Contents:
    """A data set that is in memory, or in another pack."""
    data.verify()
    was_declared = (False,) * data.n_variables if data.pack is None else data.pack.declared
    if len(was_declared) != data.n_variables:
        data.verify()
    was_declared = (False,) * data.n_variables
    return Contents(
        variables=[
            Variable(name, labels, name in declared or fixed)
            for name, labels, fixed in zip(data.names, data.levels, was_declared, strict=True)
        ],
        n_records=data.n_records,
        has_repeats=data.repeats is not None,
        missing=data.missing,
        cuts=data.cuts,
        blocks=_sliced([*data.columns, *([] if data.repeats is None else [data.repeats])]),
    )


def _sliced(columns: Sequence[NDArray[Any]]) -> Iterator[Block]:
    for start in range(0, len(columns[0]), BLOCK_ROWS):
        yield [column[start : start + BLOCK_ROWS] for column in columns]


def joined(old: Dataset, new: Contents) -> Contents:
    """The rows of a pack, and those to be appended to it."""
    has_repeats = old.repeats is not None or new.has_repeats
    merged = [_merged(v, labels) for v, labels in zip(new.variables, old.levels, strict=True)]
    tables = [_table(labels, v.levels) for labels, v in zip(old.levels, merged, strict=True)]
    newer = [_table(before.levels, after.levels) for before, after in zip(new.variables, merged, strict=True)]
    counts = {
        name: old.missing.counts.get(name, 0) + new.missing.counts.get(name, 0)
        for name in old.names
        if name in old.missing.counts or name in new.missing.counts
    }
    policy = new.missing.policy if new.missing.counts else old.missing.policy
    dropped = old.missing.rows_dropped + new.missing.rows_dropped
    return Contents(
        variables=merged,
        n_records=old.n_records + new.n_records,
        has_repeats=has_repeats,
        missing=MissingReport(policy, MappingProxyType(counts), dropped),
        cuts=old.cuts,
        blocks=chain(
            _moved(held(old, set()).blocks, tables, weighted=has_repeats),
            _moved(new.blocks, newer, weighted=has_repeats),
        ),
    )


def _merged(new: Variable, old: tuple[Hashable, ...] | None) -> Variable:
    """One variable with the levels of both: in their order, and what stands for missing last."""
    if old is None or new.levels is None:
        return new
    kept, added = ([label for label in labels if label is not None] for labels in (old, new.levels))
    if len({isinstance(label, str) for label in chain(kept, added)}) > 1:
        word = next(label for label in chain(kept, added) if isinstance(label, str))
        other = next(label for label in chain(kept, added) if not isinstance(label, str))
        raise DataError(
            f"column {new.name!r} must hold one type of value in old rows and new ones; got {word!r} and {other!r}. "
            "Pack all rows again with types={...: 'categorical'}."
        )
    fresh = [label for label in added if label not in set(kept)]
    found = kept if not fresh else sorted([*kept, *fresh], key=order_key)
    hole = (None,) if None in old or None in new.levels else ()
    return Variable(new.name, (*found, *hole), new.declared)


def _table(before: tuple[Hashable, ...] | None, after: tuple[Hashable, ...] | None) -> NDArray[Any] | None:
    """From codes among some levels to codes among more of them; None where nothing changes."""
    if before is None or after is None or before == after:
        return None
    place = {label: code for code, label in enumerate(after)}
    return np.array([place[label] for label in before], dtype=_checks.code_type(len(after)))


def _moved(blocks: Iterable[Block], tables: Sequence[NDArray[Any] | None], *, weighted: bool) -> Iterator[Block]:
    """Blocks in other codes; rows without repeats occurred once."""
    for block in blocks:
        columns = [c if table is None else table[c] for c, table in zip(block, tables, strict=False)]
        weights = block[len(tables) :] or [np.ones(len(columns[0]), dtype=np.int64)]
        yield columns + (weights if weighted else [])
