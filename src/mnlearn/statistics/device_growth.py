"""Growing rounds of many blankets on a device: the variables that may improve the blanket of each x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.numbers import log_gamma
from mnlearn.statistics.gpu_device import TILE, DeviceBits, device_errors, triton_kernels

MOST_MEMBERS = 6  # of a blanket: 128 configurations with x, which are one tile
_LEAST_FOUND = 1 << 22  # room for pairs that pass


class _Round(NamedTuple):
    """Blankets of some x on a device."""

    keys: Any  # [x][row]: the number of the configuration of x and its blanket
    sizes: Any  # [x][configuration]: how often it occurs
    bars: Any  # of each x; infinite for one that only pads a tile

    def part(self, some: slice) -> _Round:
        """Return some of the x."""
        return _Round(self.keys[some], self.sizes[some], self.bars[some])


def improving(
    bits: DeviceBits,
    xs: NDArray[np.int32],
    blankets: NDArray[np.int32],
    thresholds: NDArray[np.float64],
    prior_cell: float,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return, for each x, the variables y with which the score of x given its blanket and y may exceed a threshold.

    Parameters
    ----------
    bits
        The variables.
    xs
        Indices.
    blankets
        A row for each x: its blanket, of at most MOST_MEMBERS variables.
    thresholds
        A number for each x.
    prior_cell
        α of every cell: the score is Σ log Γ(n_cell + α) / Γ(α) − Σ log Γ(n_stratum + 2α) / Γ(2α).

    Returns
    -------
    starts, ys
        The variables of all x one after the other, ascending, and where those of each x begin.
    """
    if blankets.shape[1] > MOST_MEMBERS:
        raise InputError(f"blankets must have at most {MOST_MEMBERS} members; got {blankets.shape[1]}. Leave some out.")
    n_codes, found = 2 << blankets.shape[1], [np.empty((2, 0), dtype=np.int64)]
    size = max(TILE, bits.max_bytes // 8 // bits.n_stored // TILE * TILE)
    with device_errors(bits.device):
        tables, margin = score_tables(bits, prior_cell, n_codes)
        for k in range(0, len(xs), size):
            some = slice(k, k + size)
            keys = configurations(bits, xs[some], blankets[some])
            bars = np.full(len(keys), np.inf, dtype=np.float32)
            bars[: len(xs[some])] = thresholds[some] - margin
            sizes = bits.torch.stack([(keys == code).sum(1) for code in range(n_codes)], dim=1).to(bits.torch.int32)
            found += [
                np.add(pairs, [[k], [0]]) for pairs in _exceeding(bits, _Round(keys, sizes, bits.put(bars)), tables)
            ]
    places, ys = np.concatenate(found, axis=1)
    inside = (ys < bits.n_variables) & (ys != xs[places]) & (blankets[places] != ys[:, None]).all(axis=1)
    places, ys = places[inside], ys[inside]
    starts = np.concatenate(([0], np.cumsum(np.bincount(places, minlength=len(xs)))))
    return starts, ys[np.lexsort((ys, places))].astype(np.int32)


def configurations(bits: DeviceBits, xs: NDArray[np.int32], blankets: NDArray[np.int32]) -> Any:
    """Return the number of the configuration of x and its blanket in each row, for whole tiles of x.

    Rows and variables that only pad a tile have the number 255, which is none.
    """
    torch = bits.torch
    keys = torch.full((-(-len(xs) // TILE) * TILE, bits.n_stored), 255, dtype=torch.uint8, device=bits.device)
    inside = keys[: len(xs), : bits.n_rows]
    inside[:] = 0
    for t, members in enumerate((xs, *blankets.T)):
        inside |= bits.unpacked(bits.put(members).long(), rare=True)[:, : bits.n_rows].to(torch.uint8) << t
    return keys


def score_tables(bits: DeviceBits, prior_cell: float, n_codes: int) -> tuple[Any, float]:
    """Return log Γ(m + α) / Γ(α) and log Γ(m + 2α) / Γ(2α) for all counts m, and the rounding error of a score.

    A score adds three numbers for each configuration, and no partial sum is larger than the tables' largest number.
    """
    counts = np.arange(bits.n_rows + 1)
    table = np.stack([log_gamma(counts + a) - log_gamma(a) for a in (prior_cell, 2 * prior_cell)])
    margin = 2.0**-22 * (3 * n_codes + 4) * float(np.abs(table).max())
    return bits.put(table.astype(np.float32)), margin


def _exceeding(bits: DeviceBits, blankets: _Round, tables: Any) -> Iterator[NDArray[np.int64]]:
    """Yield (place of x, y) where the score may exceed the bar of x."""
    kernels = triton_kernels(bits.device)
    for y0, states in bits.blocks(range(bits.n_padded), rare=True):
        if kernels is None:
            found = _by_torch(bits, blankets, states, tables)
        else:
            found = _by_kernel(kernels.improving, blankets, states, tables)
        for pairs in found:
            yield np.add(pairs.cpu().numpy(), [[0], [y0]])


def _by_torch(bits: DeviceBits, blankets: _Round, states: Any, tables: Any) -> Iterator[Any]:
    torch, n_codes = bits.torch, blankets.sizes.shape[1]
    codes = torch.arange(n_codes, device=bits.device)[:, None]
    for k in torch.nonzero(torch.isfinite(blankets.bars))[:, 0].tolist():
        ones = bits.products((blankets.keys[k] == codes).to(torch.int8), states).long()
        zeros = blankets.sizes[k][:, None] - ones
        cells = (tables[0][ones] + tables[0][zeros]).sum(0)
        strata = [tables[1][part.reshape(n_codes // 2, 2, -1).sum(1)].sum(0) for part in (ones, zeros)]
        (ys,) = torch.nonzero(cells - strata[0] - strata[1] >= blankets.bars[k], as_tuple=True)
        yield torch.stack([torch.full_like(ys, k), ys])


def _by_kernel(find: Any, blankets: _Round, states: Any, tables: Any) -> Iterator[Any]:
    """Yield the pairs that the kernel finds; in halves of x where they exceed its room."""
    most, parts = max(_LEAST_FOUND, TILE * len(states)), [slice(0, len(blankets.keys))]
    while parts:
        some = parts.pop()
        found = find(*blankets.part(some), states, tables, most)
        if found is not None:
            yield found + found.new_tensor([[some.start], [0]])
            continue
        middle = some.start + (some.stop - some.start) // 2 // TILE * TILE
        parts += [slice(some.start, middle), slice(middle, some.stop)]
