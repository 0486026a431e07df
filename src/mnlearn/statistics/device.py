"""Pairs of binary variables on a GPU: counts are exact, and only the pairs that may matter leave the chip.

PyTorch carries it, and Triton where torch has it (`device_kernels`). A device counts in integers and filters in single
precision, with margins for every rounding error: it may let too much through, never too little. What passes is scored
by the core in double precision, so the numbers have the same bits with and without a device. ``"cpu"`` runs the torch
code on the processor.

A variable is stored as the rows in which it has its rarer state: single precision then cancels least.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import DeviceError, InputError, MissingDependencyError

Statistic = Literal["g2", "x2"]
TILE = 128  # variables; blocks are multiples of it
_ROWS = 128  # the number of stored rows is a multiple of it
_EXACT = 1 << 24  # the largest count that single precision holds
_SHARE_OF_MEMORY = 0.6  # of what is free on the device
_CPU_BYTES = 1 << 30
_LEAST_BYTES = 1 << 20
MOST_MEMBERS = 6  # of a blanket that a growing round is given: 128 configurations with x


def open_device(name: object) -> Any:
    """Return the torch device of a name; raise an error that says what is missing.

    Raises
    ------
    InputError
        If the name is neither "cuda", with or without a number, nor "cpu".
    MissingDependencyError
        If torch is not installed.
    DeviceError
        If torch finds no such GPU.
    """
    kind, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in ("cuda", "cpu") or (number and not number.isdecimal()) or name == "cpu:":
        raise InputError(f"device must be 'cuda', 'cuda:1' or the like, or 'cpu'; got {name!r}. Leave it out for none.")
    try:
        import torch
    except ImportError:
        raise MissingDependencyError(
            f"device={name!r} needs PyTorch, which is not installed. Install torch, or leave device out."
        ) from None
    if kind == "cuda":
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(number or 0) >= found:
            has = f"{found} GPU{'s' * (found > 1)}" if found else "no GPU"
            raise DeviceError(
                f"device must be a GPU that torch can use; got {name!r}, and torch {torch.__version__} finds {has}. "
                "Leave device out, or use device='cpu' for the torch code on the processor."
            )
    return torch.device(name)


@contextmanager
def device_errors(device: Any) -> Iterator[None]:
    """Turn errors of torch into a DeviceError that says what to do."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"the memory of {device} is not enough: {str(error).splitlines()[0]} Free it, lower max_memory to use "
            "smaller blocks, or leave device out."
        ) from error
    except RuntimeError as error:  # a lost GPU raises one of its subclasses
        if "CUDA" not in str(error):
            raise
        raise DeviceError(
            f"{device} failed: {str(error).splitlines()[0]} A run with a checkpoint can be resumed, on this or another "
            "device, or without one."
        ) from error


class Survivors(NamedTuple):
    """Pairs that passed a filter: variables x < y, and the number of rows in which both have state 0."""

    xs: NDArray[np.int32]
    ys: NDArray[np.int32]
    cells: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Bars:
    """The least statistic with which a pair may matter, for each of its two variables.

    Attributes
    ----------
    values
        One number for each variable; a pair passes if it may reach the lower of its two.
    statistic
        The statistic.
    """

    values: NDArray[np.float32]
    statistic: Statistic = "g2"


class DeviceBits:
    """Binary variables on a device.

    Parameters
    ----------
    planes
        Rows with state 0, as `_core.binary_planes` returns them.
    n_variables, n_rows
        Numbers of variables and rows.
    device
        "cuda", "cuda:1" or the like, or "cpu".
    max_bytes
        Memory on the device; None for most of what is free.
    """

    def __init__(
        self,
        planes: NDArray[np.uint64],
        *,
        n_variables: int,
        n_rows: int,
        device: str,
        max_bytes: int | None = None,
    ) -> None:
        import torch

        self.device = open_device(device)
        self._torch, self.n_variables, self.n_rows = torch, n_variables, n_rows
        self.n_padded = -(-n_variables // TILE) * TILE
        self.n_stored = -(-n_rows // _ROWS) * _ROWS  # rows, those that pad the last tile included
        with device_errors(self.device):
            self._packed = self._upload(planes)
            self.zeros = self._totals()
        self._flipped = self.zeros > n_rows - self.zeros
        self._max_bytes = self._memory() if max_bytes is None else max(max_bytes, _LEAST_BYTES)

    def _memory(self) -> int:
        """Return how much memory of the device blocks may take."""
        if self.device.type == "cpu":
            return _CPU_BYTES
        return int(self._torch.cuda.mem_get_info(self.device)[0] * _SHARE_OF_MEMORY)

    def _upload(self, planes: NDArray[np.uint64]) -> Any:
        """Return the bits of each variable, eight rows a byte: [variable][byte]."""
        torch, (_, words, _) = self._torch, planes.shape
        sent = torch.from_numpy(planes.view(np.int64) if planes.flags.writeable else planes.view(np.int64).copy())
        rows = sent.to(self.device).permute(0, 2, 1).reshape(-1, words)
        rows = rows.clone(memory_format=torch.contiguous_format).view(torch.uint8)
        packed = torch.zeros((self.n_padded, self.n_stored // 8), dtype=torch.uint8, device=self.device)
        width = min(rows.shape[1], packed.shape[1])
        packed[: self.n_variables, :width] = rows[: self.n_variables, :width]
        return packed

    def _totals(self) -> NDArray[np.int64]:
        """Return the number of rows of each variable with state 0."""
        torch = self._torch
        ones = torch.tensor([bin(byte).count("1") for byte in range(256)], dtype=torch.uint8, device=self.device)
        size, found = max(1, (1 << 27) // self._packed.shape[1]), []
        for first in range(0, self.n_padded, size):
            found.append(ones[self._packed[first : first + size].int()].sum(1, dtype=torch.int64))
        return np.asarray(torch.cat(found).cpu().numpy()[: self.n_variables], dtype=np.int64)

    @cached_property
    def rare(self) -> NDArray[np.int64]:
        """Number of rows of each variable with its rarer state."""
        return np.asarray(np.minimum(self.zeros, self.n_rows - self.zeros))

    @cached_property
    def _last_bits(self) -> Any:
        """Bytes whose bits are the rows that exist."""
        mask = np.zeros(self.n_stored, dtype=np.uint8)
        mask[: self.n_rows] = 1
        return self._torch.from_numpy(np.packbits(mask, bitorder="little")).to(self.device)

    @cached_property
    def _flips(self) -> Any:
        """Bytes by which the bits of each variable are flipped: 255 if state 0 is the more frequent one."""
        flips = np.zeros(self.n_padded, dtype=np.uint8)
        flips[: self.n_variables][self._flipped] = 255
        return self._torch.from_numpy(flips).to(self.device)[:, None]

    def unpacked(self, first: int, last: int, *, rare: bool) -> Any:
        """Return some variables with one byte a row: 1 for the rarer state, or for state 0."""
        torch, packed = self._torch, self._packed[first:last]
        if rare:
            packed = (packed ^ self._flips[first:last]) & self._last_bits
        out = torch.empty((last - first, self.n_stored), dtype=torch.int8, device=self.device)
        bits = torch.arange(8, dtype=torch.uint8, device=self.device)
        size = max(1, (1 << 28) // self.n_stored)
        for k in range(0, last - first, size):
            some = packed[k : k + size]
            out[k : k + size] = ((some[:, :, None] >> bits) & 1).reshape(len(some), -1).to(torch.int8)
        return out

    def blocks(self, variables: range, bytes_each: int) -> Iterator[tuple[int, int]]:
        """Yield runs of variables, whole tiles, that fit into so many bytes with one byte a value."""
        size = max(TILE, bytes_each // self.n_stored // TILE * TILE)
        for first in range(variables.start, variables.stop, size):
            yield first, min(first + size, variables.stop)

    # Margins of single precision.

    @cached_property
    def factors(self) -> Any:
        """For each variable: α, μ, the share of its rarer state, and whether it varies, with z = n α_x α_y − μ_x μ_y.

        n is the number of rows in which both have their rarer state, and z² the chi-square statistic.
        """
        n, rare = float(self.n_rows), np.zeros(self.n_padded)
        rare[: self.n_variables] = self.rare
        s = np.sqrt(rare * (n - rare))
        varies = s > 0
        found = np.zeros((3, self.n_padded), dtype=np.float32)
        found[0, varies] = n**0.75 / s[varies]
        found[1, varies] = rare[varies] * n**0.25 / s[varies]
        found[2, varies] = rare[varies] / np.sqrt(n)
        return self._torch.from_numpy(found).to(self.device)

    def tile_limits(self, bars: Bars) -> tuple[Any, Any]:
        """Return the bar of each variable, and of each tile the lowest bar, the least share and the largest μ.

        Constant variables have infinite bars.
        """
        torch = self._torch
        alpha, mu, share = self.factors
        own = torch.full((self.n_padded,), torch.inf, device=self.device)
        own[: self.n_variables] = torch.from_numpy(np.ascontiguousarray(bars.values)).to(self.device)
        own[alpha == 0] = torch.inf
        varying = torch.where(alpha > 0, share, torch.inf)
        tiled = [one.reshape(-1, TILE) for one in (own, varying, mu)]
        return own, torch.stack([tiled[0].amin(1), tiled[1].amin(1), tiled[2].amax(1)])

    # Survivors of a filter.

    def survivors(self, variables: range, bars: Bars, most: int) -> Survivors | None:
        """Return the pairs x < y with x in a range that may reach a bar; None if there are more than `most`.

        The range begins at a multiple of TILE.
        """
        with device_errors(self.device):
            limits = self.tile_limits(bars)
            found, total = [], 0
            stop = min(-(-variables.stop // TILE) * TILE, self.n_padded)
            for x0, x1 in self.blocks(range(variables.start, stop), self._max_bytes // 4):
                left = self._whole[x0:x1] if self._whole is not None else self.unpacked(x0, x1, rare=True)
                for y0, y1 in self.blocks(range(x0, self.n_padded), self._max_bytes // 4):
                    right = self._whole[y0:y1] if self._whole is not None else self.unpacked(y0, y1, rare=True)
                    some = self._passing(left, right, (x0, y0), bars.statistic, limits, most - total)
                    if some is None:
                        return None
                    found.append(some)
                    total += some.shape[1]
            xs, ys, counts = self._torch.cat(found, dim=1).cpu().numpy()
        inside = xs < variables.stop
        return Survivors(xs[inside], ys[inside], self._state_0(xs[inside], ys[inside], counts[inside]))

    @cached_property
    def _whole(self) -> Any:
        """All variables with one byte a row, where they fit; else None."""
        fits = self.n_padded * self.n_stored <= self._max_bytes // 2
        return self.unpacked(0, self.n_padded, rare=True) if fits else None

    def _passing(
        self, left: Any, right: Any, first: tuple[int, int], statistic: Statistic, limits: tuple[Any, Any], most: int
    ) -> Any:
        """Return (x, y, count) of the pairs of two blocks that pass; None if they are more than `most`."""
        kernels = triton_kernels(self.device)
        if kernels is not None:
            return kernels.screen(left, right, first, self.factors, limits, statistic == "g2", most)
        torch, (x0, y0) = self._torch, first
        bars, tiles = limits
        found, total = [], 0
        for k in range(0, len(left), TILE):
            x, y = slice(x0 + k, x0 + k + TILE), slice(y0, y0 + len(right))
            counts = self.products(left[k : k + TILE], right)
            need = self._least(x, tiles[:, y0 // TILE : (y0 + len(right)) // TILE], bars, statistic)
            alpha, mu, _ = self.factors
            z = counts.float() * alpha[y] * alpha[x, None] - mu[x, None] * mu[y]
            xs = torch.arange(x.start, x.stop, device=self.device)[:, None]
            ys = torch.arange(y.start, y.stop, device=self.device)
            i, j = torch.nonzero(z.abs().ge(need.repeat_interleave(TILE, dim=1)) & (ys > xs), as_tuple=True)
            found.append(torch.stack([xs[i, 0], ys[j], counts[i, j]]).to(torch.int32))
            total += len(i)
            if total > most:
                return None
        return torch.cat(found, dim=1)

    def _least(self, x: slice, tiles: Any, bars: Any, statistic: Statistic) -> Any:
        """Return the least |z| of each x and tile of y with which a pair may reach a bar; a little low, never high."""
        torch = self._torch
        _, mu, share = self.factors
        low = torch.minimum(bars[x, None], tiles[0])
        need = low
        if statistic == "g2":  # G² ≤ X² (1 + m/3 + 2m²/3), m² = X² / the least expected count; and G² ≤ 2 X²
            m2 = low / (share[x, None] * tiles[1])
            need = torch.maximum(low / (1 + m2.sqrt() / 3 + 2 * m2 / 3), low / 2)
        least = need.sqrt() * (1 - 1e-5) - 5e-7 * mu[x, None] * tiles[2]
        return torch.where(torch.isinf(bars[x, None]), torch.inf, least.nan_to_num(nan=torch.inf, posinf=torch.inf))

    def _state_0(
        self, xs: NDArray[np.int32], ys: NDArray[np.int32], counts: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Return the number of rows with both states 0, from those with both rarer states."""
        zx, zy, fx, fy = self.zeros[xs], self.zeros[ys], self._flipped[xs], self._flipped[ys]
        one_sided = np.where(fx, zy, zx) - counts
        both = counts - self.n_rows + zx + zy
        return np.where(fx & fy, both, np.where(fx | fy, one_sided, counts)).astype(np.int32)

    def products(self, left: Any, right: Any) -> Any:
        """Return the number of rows in which two variables are both 1, for each row of the two blocks; exact."""
        torch, total = self._torch, None
        for k in range(0, self.n_stored, _EXACT):
            part = left[:, k : k + _EXACT].float() @ right[:, k : k + _EXACT].float().T
            total = part.to(torch.int32) if total is None else total + part.to(torch.int32)
        return total

    # All pairs, and all pairs of resampled rows.

    def cells(self, variables: range) -> NDArray[np.uint32]:
        """Return the rows with both states 0 of every pair x < y with x in a range, in lexicographic order."""
        n, found = self.n_variables, []
        with device_errors(self.device):
            for x0 in range(variables.start, variables.stop, TILE):
                x1 = min(x0 + TILE, variables.stop)
                left = self.unpacked(x0, x1, rare=False)
                rows = [
                    self.products(left, self.unpacked(y0, y1, rare=False))
                    for y0, y1 in self.blocks(range(x0 // TILE * TILE, self.n_padded), self._max_bytes // 8)
                ]
                counts = self._torch.cat(rows, dim=1).cpu().numpy()
                found += [counts[x - x0, x + 1 - x0 // TILE * TILE : n - x0 // TILE * TILE] for x in range(x0, x1)]
        return np.concatenate([np.empty(0, np.uint32), *found]).astype(np.uint32)

    def grams(self, weights: NDArray[np.integer[Any]]) -> Iterator[NDArray[np.uint32]]:
        """Yield the cells of all pairs where each row counts so often as a sample has it.

        Parameters
        ----------
        weights
            A row for each sample: how often each row of the data is in it, at most 127 times.

        Yields
        ------
        array
            For each sample, the rows with both states 0 of every pair x < y, in lexicographic order.
        """
        torch, n = self._torch, self.n_variables
        if weights.ndim != 2 or weights.shape[1] != self.n_rows or weights.min(initial=0) < 0:
            raise InputError(f"weights must have a row of {self.n_rows} counts for each sample; got {weights.shape}.")
        if weights.max(initial=0) > 127:
            raise InputError(
                f"weights must be at most 127 for a device; got {weights.max()}. Count without a device."
            )
        n_pairs = n * (n - 1) // 2
        together = max(1, min(len(weights), self._max_bytes // 4 // max(1, 4 * n_pairs)))
        with device_errors(self.device):
            bits = self.unpacked(0, self.n_padded, rare=False)
            for k in range(0, len(weights), together):
                some = torch.zeros((len(weights[k : k + together]), self.n_stored), dtype=torch.int8)
                some[:, : self.n_rows] = torch.from_numpy(weights[k : k + together].astype(np.int8))
                yield from self._grams(bits, some.to(self.device), n_pairs)

    def _grams(self, bits: Any, weights: Any, n_pairs: int) -> Iterator[NDArray[np.uint32]]:
        """Yield the cells of all pairs for some samples."""
        torch, kernels = self._torch, triton_kernels(self.device)
        if kernels is not None:
            counts = kernels.grams(bits, weights, self.n_variables, n_pairs, int(weights.sum(1, dtype=torch.int64).max()))
            yield from counts
            return
        upper = torch.ones((self.n_variables, self.n_variables), dtype=torch.bool, device=self.device).triu(1)
        for one in weights:
            counts = self.products(bits * one, bits)[: self.n_variables, : self.n_variables]
            yield counts[upper].cpu().numpy().astype(np.uint32)

    # Growing rounds.

    def improving(
        self, xs: NDArray[np.int32], blankets: NDArray[np.int32], thresholds: NDArray[np.float64], prior_cell: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return, for each x, the variables y whose score of x given its blanket and y may exceed a threshold.

        Parameters
        ----------
        xs
            Variables.
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
            raise InputError(f"blankets must have at most {MOST_MEMBERS} members; got {blankets.shape[1]}.")
        torch, n_codes, found = self._torch, 2 << blankets.shape[1], []
        tables, margin = self._score_tables(prior_cell, n_codes)
        bars = torch.from_numpy((thresholds - margin).astype(np.float32))
        size = max(TILE, self._max_bytes // 8 // self.n_stored // TILE * TILE)
        with device_errors(self.device):
            bits = self._zero_bits
            for k in range(0, len(xs), size):
                some, bar = self._keys(bits, xs[k : k + size], blankets[k : k + size]), bars[k : k + size]
                found += [pairs + [[k], [0]] for pairs in self._exceeding(bits, some, n_codes, tables, bar)]
        places, ys = np.concatenate([np.empty((2, 0), dtype=np.int64), *found], axis=1)
        inside = (ys < self.n_variables) & (ys != xs[places]) & (blankets[places] != ys[:, None]).all(axis=1)
        order = np.lexsort((ys[inside], places[inside]))
        counts = np.bincount(places[inside], minlength=len(xs))
        return np.concatenate(([0], np.cumsum(counts))), ys[inside][order].astype(np.int32)

    @cached_property
    def _zero_bits(self) -> Any:
        """All variables with one byte a row, 1 for state 0."""
        return self.unpacked(0, self.n_padded, rare=False)

    def _keys(self, bits: Any, xs: NDArray[np.int32], blankets: NDArray[np.int32]) -> Any:
        """Return the number of the configuration of x and its blanket in each row, padded to whole tiles; 255 beyond.

        The rows that pad a tile belong to no configuration.
        """
        torch = self._torch
        padded = -(-len(xs) // TILE) * TILE
        keys = torch.full((padded, self.n_stored), 255, dtype=torch.uint8, device=self.device)
        keys[: len(xs), : self.n_rows] = bits[torch.from_numpy(xs).to(self.device).long(), : self.n_rows].to(torch.uint8)
        for t, members in enumerate(blankets.T):
            chosen = bits[torch.from_numpy(np.ascontiguousarray(members)).to(self.device).long(), : self.n_rows]
            keys[: len(xs), : self.n_rows] |= chosen.to(torch.uint8) << (t + 1)
        return keys

    def _score_tables(self, prior_cell: float, n_codes: int) -> tuple[Any, float]:
        """Return log Γ(m + α) / Γ(α) for all counts m, the same with 2α, and a bound of the rounding error of a score.

        A score adds three numbers for each configuration, none larger than the largest of the tables.
        """
        from scipy.special import gammaln

        counts = np.arange(self.n_rows + 1)
        table = np.stack([gammaln(counts + a) - gammaln(a) for a in (prior_cell, 2 * prior_cell)])
        margin = 2.0**-22 * (3 * n_codes + 4) * float(np.abs(table).max())
        return self._torch.from_numpy(table.astype(np.float32)).to(self.device), margin

    def _exceeding(self, bits: Any, keys: Any, n_codes: int, tables: Any, bars: Any) -> Iterator[NDArray[np.int64]]:
        """Yield (place of x, y) where the score may exceed the bar of x."""
        torch, kernels = self._torch, triton_kernels(self.device)
        bar = torch.full((len(keys),), torch.inf)
        bar[: len(bars)] = bars
        bar = bar.to(self.device)
        sizes = torch.stack([(keys == code).sum(1, dtype=torch.int32) for code in range(n_codes)], dim=1)
        if kernels is not None:
            yield from self._in_parts(kernels.improving, bits, keys, sizes.contiguous(), tables, bar)
            return
        for k in range(len(bars)):
            rows = keys[k] == torch.arange(n_codes, device=self.device)[:, None]
            ones = self.products(rows.to(torch.int8), bits).long()
            zeros = sizes[k][:, None] - ones
            cells = (tables[0][ones] + tables[0][zeros]).sum(0)
            strata = [tables[1][part.reshape(n_codes // 2, 2, -1).sum(1)].sum(0) for part in (ones, zeros)]
            (ys,) = torch.nonzero(cells - strata[0] - strata[1] >= bar[k], as_tuple=True)
            yield np.stack([np.full(len(ys), k), ys.cpu().numpy()])

    def _in_parts(
        self, find: Any, bits: Any, keys: Any, sizes: Any, tables: Any, bars: Any
    ) -> Iterator[NDArray[np.int64]]:
        """Yield what a kernel finds; in halves where it finds too much."""
        parts = [(0, len(keys))]
        while parts:
            first, last = parts.pop()
            most = max(1 << 22, TILE * self.n_padded)
            some = slice(first, last)
            found = find(keys[some], bits, sizes[some], tables, bars[some], most)
            if found is None:
                middle = first + (last - first) // 2 // TILE * TILE
                parts += [(first, middle), (middle, last)]
            else:
                yield found.cpu().numpy().astype(np.int64) + [[first], [0]]


def triton_kernels(device: Any) -> Any:
    """Return the module of Triton kernels; None on a processor, or where torch has no Triton."""
    if device.type != "cuda":
        return None
    try:
        from mnlearn.statistics import device_kernels
    except ImportError:
        return None
    return device_kernels
