"""All pairs of binary variables on a device: those that pass a filter, and all counts.

Growing rounds of many blankets on a device: the variables that may improve the blanket of each x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.errors import InputError
from mnlearn.numbers import log_gamma
from mnlearn.statistics.gpu_device import TILE, DeviceBits, device_errors, triton_kernels


class Survivors(NamedTuple):
    """Pairs that passed a filter: variables x < y, and the number of rows in which both have state 0."""

    xs: NDArray[np.int32]
    ys: NDArray[np.int32]
    cells: NDArray[np.int32]


class PairFilter:
    """Filter of pairs: those whose statistic may reach a bar.

    The chi-square statistic is z² with z = n α_x α_y − μ_x μ_y, where n counts the rows in which both variables have
    their rarer state. G² ≤ X² (1 + m/3 + 2m²/3) with m² = X² / the least expected count, and G² ≤ 2 X²: so a bar of G²
    is one of z. The bar of an x and a tile of y is the lowest of theirs.

    Parameters
    ----------
    bits
        The variables.
    statistic
        The statistic of the bars.
    """

    def __init__(self, bits: DeviceBits, statistic: Literal["g2", "x2"] = "g2") -> None:
        self._bits, self._torch, self._statistic = bits, bits.torch, statistic

    @cached
    def _factors(self) -> Any:
        """For each variable: α, μ, and the share of its rarer state; 0 for a constant."""
        n, rare = float(self._bits.n_rows), np.zeros(self._bits.n_padded)
        rare[: self._bits.n_variables] = np.minimum(self._bits.zeros, n - self._bits.zeros)
        s = np.sqrt(rare * (n - rare))
        varies, found = s > 0, np.zeros((3, len(s)), dtype=np.float32)
        found[0, varies] = n**0.75 / s[varies]
        found[1, varies] = rare[varies] * n**0.25 / s[varies]
        found[2, varies] = rare[varies] / np.sqrt(n)
        return self._bits.put(found)

    def survivors(self, variables: range, bars: NDArray[np.floating[Any]], most: int) -> Survivors | None:
        """Return the pairs x < y with x in a range that may reach the bar of x or of y, in lexicographic order.

        None if there are more than `most`. The range begins at a multiple of TILE.
        """
        bits, found, total = self._bits, [self._torch.empty((3, 0), dtype=self._torch.int32)], 0
        stop = min(-(-variables.stop // TILE) * TILE, bits.n_padded)
        with device_errors(bits.device):
            limits = self._limits(bars)
            for x0, left in bits.blocks(range(variables.start, stop), rare=True):
                for y0, right in bits.blocks(range(x0, bits.n_padded), rare=True):
                    some = self._passing(left, right, (x0, y0), limits, most - total)
                    if some is None:
                        return None
                    total += some.shape[1]
                    found.append(self._with_states_0(some[:, some[0] < variables.stop]).cpu())
            xs, ys, cells = self._torch.cat(found, dim=1).numpy()
        return Survivors(xs, ys, cells)

    def _limits(self, bars: NDArray[np.floating[Any]]) -> tuple[Any, Any]:
        """Return the bar of each variable, and of each tile the lowest bar, the least share and the largest μ.

        Constant variables have infinite bars.
        """
        torch, (alpha, mu, share) = self._torch, self._factors
        own = torch.full((self._bits.n_padded,), torch.inf, device=self._bits.device)
        own[: self._bits.n_variables] = self._bits.put(bars.astype(np.float32))
        own[alpha == 0] = torch.inf
        tiled = [one.reshape(-1, TILE) for one in (own, torch.where(alpha > 0, share, torch.inf), mu)]
        return own, torch.stack([tiled[0].amin(1), tiled[1].amin(1), tiled[2].amax(1)])

    def _passing(self, left: Any, right: Any, first: tuple[int, int], limits: tuple[Any, Any], most: int) -> Any:
        """Return (x, y, count) of the pairs of two blocks that pass; None if they are more than `most`."""
        kernels = triton_kernels(self._bits.device)
        if kernels is not None:
            return kernels.screen(left, right, first, self._factors, limits, self._statistic == "g2", most)
        torch, (x0, y0), found, total = self._torch, first, [], 0
        alpha, mu, _ = self._factors
        for k in range(0, len(left), TILE):
            x, y = slice(x0 + k, x0 + k + TILE), slice(y0, y0 + len(right))
            counts = self._bits.products(left[k : k + TILE], right)
            z = counts.float() * alpha[y] * alpha[x, None] - mu[x, None] * mu[y]
            xs, ys = (torch.arange(s.start, s.stop, device=self._bits.device) for s in (x, y))
            passes = z.abs().ge(self._least(x, y, limits)) & (ys > xs[:, None]) & (alpha[y] > 0)
            i, j = torch.nonzero(passes, as_tuple=True)
            found.append(torch.stack([xs[i], ys[j], counts[i, j]]).to(torch.int32))
            total += len(i)
            if total > most:
                return None
        return torch.cat(found, dim=1)

    def _least(self, x: slice, y: slice, limits: tuple[Any, Any]) -> Any:
        """Return the least |z| of each pair with which it may reach a bar; a little low for rounding, never high."""
        torch, (_, mu, share) = self._torch, self._factors
        own, tiles = limits[0][x, None], limits[1][:, y.start // TILE : y.stop // TILE]
        need = torch.minimum(own, tiles[0])
        if self._statistic == "g2":
            m2 = need / (share[x, None] * tiles[1])
            need = torch.maximum(need / (1 + m2.sqrt() / 3 + 2 * m2 / 3), need / 2)
        least = need.sqrt() * (1 - 1e-5) - 5e-7 * mu[x, None] * tiles[2]
        return torch.where(torch.isinf(own), torch.inf, least).repeat_interleave(TILE, dim=1)

    @cached
    def _zeros(self) -> Any:
        return self._bits.put(self._bits.zeros.astype(np.int32))

    @cached
    def _flipped(self) -> Any:
        return self._bits.put(self._bits.flipped)

    def _with_states_0(self, found: Any) -> Any:
        """Return (x, y, rows with both states 0) in lexicographic order, from rows with both rarer states."""
        torch, (xs, ys, counts) = self._torch, found.long()
        order = torch.argsort(xs * self._bits.n_padded + ys)
        xs, ys, counts = xs[order], ys[order], counts[order]
        zx, zy, fx, fy = self._zeros[xs], self._zeros[ys], self._flipped[xs], self._flipped[ys]
        both = counts - self._bits.n_rows + zx + zy
        cells = torch.where(fx & fy, both, torch.where(fx, zy - counts, torch.where(fy, zx - counts, counts)))
        return torch.stack([xs, ys, cells]).to(torch.int32)


def pair_cells(bits: DeviceBits, variables: range) -> NDArray[np.uint32]:
    """Return the rows with both states 0 of every pair x < y with x in a range, in lexicographic order."""
    n, found = bits.n_variables, [np.empty(0, np.uint32)]
    with device_errors(bits.device):
        for x0 in range(variables.start, variables.stop, TILE):
            x1, y0 = min(x0 + TILE, variables.stop), x0 // TILE * TILE
            left = bits.unpacked(slice(x0, x1), rare=False)
            rows = [bits.products(left, right) for _, right in bits.blocks(range(y0, bits.n_padded), rare=False)]
            counts = bits.torch.cat(rows, dim=1).cpu().numpy()
            found += [counts[x - x0, x + 1 - y0 : n - y0].astype(np.uint32) for x in range(x0, x1)]
    return np.concatenate(found)


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
