"""Triton kernels: products of bits on tensor cores, with the filter or the score fused behind them.

Products of bytes are summed in 32-bit integers, so counts are exact. A kernel writes only what passes its filter; where
that goes in the output is decided by an atomic counter, so the order differs from run to run and callers sort.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

_TILE = tl.constexpr(128)
_DEPTH = tl.constexpr(128)  # rows of the data in one step
_GROUP = tl.constexpr(8)  # tiles of x that share the y in the cache


@triton.jit
def _place(program, tiles_x, tiles_y):
    """Return the tile of x and of y of a program: tiles of x in groups, so that the caches serve each y often."""
    width = _GROUP * tiles_y
    first = (program // width) * _GROUP
    size = min(tiles_x - first, _GROUP)
    within = program % width
    return (first + within % size).to(tl.int32), (within // size).to(tl.int32)


@triton.jit
def _screen(
    left,
    right,
    factors,
    bars,
    tiles,
    out,
    counter,
    first_x,
    first_y,
    tiles_x,
    tiles_y,
    n_padded,
    n_tiles,
    most,
    depth,
    g2: tl.constexpr,
):
    """Write (x, y, count) of the pairs x < y that may reach a bar; the arithmetic is that of `DeviceBits._least`."""
    tile_x, tile_y = _place(tl.program_id(0).to(tl.int64), tiles_x, tiles_y)
    x0 = first_x + tile_x * _TILE
    y0 = first_y + tile_y * _TILE
    if y0 + _TILE > x0 + 1:
        in_tile = tl.arange(0, _TILE)
        step = tl.arange(0, _DEPTH)
        a = left + (tile_x * _TILE + in_tile)[:, None].to(tl.int64) * depth + step[None, :]
        b = right + (tile_y * _TILE + in_tile)[None, :].to(tl.int64) * depth + step[:, None]
        counts = tl.zeros((_TILE, _TILE), dtype=tl.int32)
        for _ in range(0, depth, _DEPTH):
            counts = tl.dot(tl.load(a), tl.load(b), counts, out_dtype=tl.int32)
            a += _DEPTH
            b += _DEPTH
        xs = x0 + in_tile
        ys = y0 + in_tile
        mu_x = tl.load(factors + n_padded + xs)
        own = tl.load(bars + xs)
        tile = y0 // _TILE
        need = tl.minimum(own, tl.load(tiles + tile))
        if g2:
            m2 = need / (tl.load(factors + 2 * n_padded + xs) * tl.load(tiles + n_tiles + tile))
            need = tl.maximum(need / (1 + tl.sqrt(m2) / 3 + 2 * m2 / 3), need / 2)
        least = tl.sqrt(need) * (1 - 1e-5) - 5e-7 * mu_x * tl.load(tiles + 2 * n_tiles + tile)
        least = tl.where(own < float("inf"), least, float("inf"))
        alpha_y = tl.load(factors + ys)[None, :]
        scale = tl.load(factors + xs)[:, None] * alpha_y
        z = counts.to(tl.float32) * scale - mu_x[:, None] * tl.load(factors + n_padded + ys)[None, :]
        passes = (tl.abs(z) >= least[:, None]) & (xs[:, None] < ys[None, :]) & (alpha_y > 0)
        place = tl.atomic_add(counter + tl.zeros((_TILE, _TILE), dtype=tl.int32), 1, mask=passes, sem="relaxed")
        passes = passes & (place < most)
        place = place.to(tl.int64)
        tl.store(out + place, xs[:, None].broadcast_to(_TILE, _TILE), mask=passes)
        tl.store(out + most + place, ys[None, :].broadcast_to(_TILE, _TILE), mask=passes)
        tl.store(out + 2 * most + place, counts, mask=passes)


def screen(
    left: Any, right: Any, first: tuple[int, int], factors: Any, limits: tuple[Any, Any], g2: bool, most: int
) -> Any:
    """Return (x, y, count) of the pairs of two blocks that pass; None if they are more than `most`."""
    bars, tiles = limits
    most = min(most, 2**31 - 1)
    out = torch.empty((3, most), dtype=torch.int32, device=left.device)
    counter = torch.zeros(1, dtype=torch.int32, device=left.device)
    tiles_x, tiles_y = len(left) // _TILE.value, len(right) // _TILE.value
    _screen[(tiles_x * tiles_y,)](
        *(left, right, factors, bars, tiles, out, counter, first[0], first[1], tiles_x, tiles_y),
        *(factors.shape[1], tiles.shape[1], most, left.shape[1], g2),
        num_warps=8,
        num_stages=3,
    )
    found = int(counter)
    return None if found > most or found < 0 else out[:, :found]


@triton.jit
def _improving(
    keys,
    bits,
    sizes,
    tables,
    thresholds,
    out,
    counter,
    tiles_y,
    most,
    n_table,
    depth,
    codes: tl.constexpr,
):
    """Write (x, y) where the score of x given its blanket and y may exceed the threshold of x."""
    per_tile: tl.constexpr = _TILE // codes
    strata: tl.constexpr = codes // 2
    tile_x = (tl.program_id(0) // tiles_y).to(tl.int64)
    tile_y = tl.program_id(0) % tiles_y
    in_tile = tl.arange(0, _TILE)
    step = tl.arange(0, _DEPTH)
    code = in_tile % codes
    a = keys + (tile_x * per_tile + in_tile // codes)[:, None] * depth + step[None, :]
    b = bits + (tile_y * _TILE + in_tile)[None, :].to(tl.int64) * depth + step[:, None]
    ones = tl.zeros((_TILE, _TILE), dtype=tl.int32)
    for _ in range(0, depth, _DEPTH):
        rows = (tl.load(a) == code[:, None]).to(tl.int8)
        ones = tl.dot(rows, tl.load(b), ones, out_dtype=tl.int32)
        a += _DEPTH
        b += _DEPTH
    zeros = tl.load(sizes + tile_x * _TILE + in_tile)[:, None] - ones
    cells = tl.load(tables + ones) + tl.load(tables + zeros)
    of_cells = tl.sum(tl.reshape(cells, (per_tile, codes, _TILE)), 1)
    with_1 = tl.sum(tl.reshape(ones, (per_tile, strata, 2, _TILE)), 2)
    with_0 = tl.sum(tl.reshape(zeros, (per_tile, strata, 2, _TILE)), 2)
    of_strata = tl.sum(tl.load(tables + n_table + with_1) + tl.load(tables + n_table + with_0), 1)
    xs = (tile_x * per_tile + tl.arange(0, per_tile)).to(tl.int32)
    ys = tile_y * _TILE + in_tile
    passes = of_cells - of_strata >= tl.load(thresholds + xs)[:, None]
    place = tl.atomic_add(counter + tl.zeros((per_tile, _TILE), dtype=tl.int32), 1, mask=passes, sem="relaxed")
    passes = passes & (place < most)
    place = place.to(tl.int64)
    tl.store(out + place, xs[:, None].broadcast_to(per_tile, _TILE), mask=passes)
    tl.store(out + most + place, ys[None, :].broadcast_to(per_tile, _TILE), mask=passes)


def improving(keys: Any, sizes: Any, thresholds: Any, bits: Any, tables: Any, most: int) -> Any:
    """Return (place of x, y) where the score may exceed the threshold of x; None if they are more than `most`.

    `keys` has, for each x and row, the number of the configuration of its blanket and itself; `sizes` how often each
    occurs, [x][configuration].
    """
    n_codes = sizes.shape[1]
    out = torch.empty((2, most), dtype=torch.int32, device=bits.device)
    counter = torch.zeros(1, dtype=torch.int32, device=bits.device)
    tiles_x, tiles_y = len(keys) * n_codes // _TILE.value, len(bits) // _TILE.value
    _improving[(tiles_x * tiles_y,)](
        *(keys, bits, sizes, tables, thresholds, out, counter, tiles_y, most, tables.shape[1], bits.shape[1], n_codes),
        num_warps=8,
        num_stages=3,
    )
    found = int(counter)
    return None if found > most or found < 0 else out[:, :found]
