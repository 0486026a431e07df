"""Binary variables on a GPU, or on the processor by the same code.

PyTorch carries it, and Triton where torch has it (`gpu_kernels`). A device counts in integers and filters in single
precision, with margins for every rounding error: it may let too much through, never too little. What passes is scored
by the core in double precision, so the numbers have the same bits with and without a device.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.errors import DeviceError, InputError, MissingDependencyError

TILE = 128  # variables; blocks are multiples of it
_ROWS = 128  # the number of stored rows is a multiple of it
_ROWS_AT_ONCE = 1 << 17  # of products: single precision holds their sums exactly, up to 2^24
_SHARE_OF_MEMORY = 0.6  # of what is free on the device
_CPU_BYTES = 1 << 30
_LEAST_BYTES = 1 << 20
_AT_ONCE = 1 << 27  # values that are unpacked at once


def open_device(name: object) -> Any:
    """Return the torch device of a name.

    Raises
    ------
    InputError
        If the name is neither "cuda", with or without a number, nor "cpu".
    MissingDependencyError
        If torch is not installed.
    DeviceError
        If torch finds no such GPU.
    """
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not (kind == "cpu" and not colon) and not (kind == "cuda" and (number.isdecimal() if colon else True)):
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
    """Turn errors of a GPU into a DeviceError with a remedy."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"the memory of {device} is not enough: {_first_line(error)} Free some of it, lower max_memory for smaller "
            "blocks, or leave device out."
        ) from error
    except RuntimeError as error:  # a lost GPU raises one of its subclasses
        if "CUDA" not in str(error):
            raise
        raise DeviceError(
            f"{device} failed: {_first_line(error)} A screen with a checkpoint can be resumed, with this device, "
            "another one or none."
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0].rstrip(".") + "."


def triton_kernels(device: Any) -> Any:
    """Return the module of Triton kernels; None on a processor, or where torch has no Triton."""
    if device.type != "cuda":
        return None
    try:
        from mnlearn.statistics import gpu_kernels
    except ImportError:
        return None
    return gpu_kernels


class DeviceBits:
    """Binary variables on a device, eight rows a byte; blocks of them are unpacked to one byte a value.

    An unpacked value is 1 for state 0, or for the rarer state of the variable, with which single precision cancels
    least.

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
        self, planes: NDArray[np.uint64], *, n_variables: int, n_rows: int, device: str, max_bytes: int | None = None
    ) -> None:
        self.device = open_device(device)
        import torch

        self.torch, self.n_variables, self.n_rows = torch, n_variables, n_rows
        self.n_padded = -(-n_variables // TILE) * TILE
        self.n_stored = -(-n_rows // _ROWS) * _ROWS  # rows, those that pad the last tile included
        with device_errors(self.device):
            self._packed = self._upload(planes)
            self.zeros = self._totals()
            self.max_bytes = self._memory() if max_bytes is None else max(max_bytes, _LEAST_BYTES)
        self.flipped = self.zeros > n_rows - self.zeros

    def _memory(self) -> int:
        """Return how much memory of the device blocks may take."""
        if self.device.type == "cpu":
            return _CPU_BYTES
        return int(self.torch.cuda.mem_get_info(self.device)[0] * _SHARE_OF_MEMORY)

    def _upload(self, planes: NDArray[np.uint64]) -> Any:
        """Return the bits of each variable, eight rows a byte: [variable][byte]."""
        torch, words = self.torch, planes.shape[1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the planes are not writable; they are only read
            sent = torch.from_numpy(planes.view(np.int64)).to(self.device)
        rows = sent.permute(0, 2, 1).reshape(-1, words).clone(memory_format=torch.contiguous_format).view(torch.uint8)
        packed = torch.zeros((self.n_padded, self.n_stored // 8), dtype=torch.uint8, device=self.device)
        width = min(rows.shape[1], packed.shape[1])
        packed[: self.n_variables, :width] = rows[: self.n_variables, :width]
        return packed

    def _totals(self) -> NDArray[np.int64]:
        """Return the number of rows of each variable with state 0."""
        torch = self.torch
        ones = torch.tensor([byte.bit_count() for byte in range(256)], dtype=torch.uint8, device=self.device)
        size = max(1, _AT_ONCE // self._packed.shape[1])
        parts = (self._packed[first : first + size].int() for first in range(0, self.n_padded, size))
        found = [ones[bytes_of].sum(1, dtype=torch.int64) for bytes_of in parts]
        return np.asarray(torch.cat(found).cpu().numpy()[: self.n_variables], dtype=np.int64)

    def put(self, array: NDArray[Any]) -> Any:
        """Return an array on the device."""
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @cached
    def _rows_that_exist(self) -> Any:
        """Bytes with a bit for each row of the data."""
        return self.put(np.packbits(np.arange(self.n_stored) < self.n_rows, bitorder="little"))

    @cached
    def _flips(self) -> Any:
        """Bytes by which the bits of each variable are flipped: 255 if state 0 is the more frequent one."""
        flips = np.zeros((self.n_padded, 1), dtype=np.uint8)
        flips[: self.n_variables, 0][self.flipped] = 255
        return self.put(flips)

    def unpacked(self, variables: Any, *, rare: bool) -> Any:
        """Return variables, a slice or indices, with one byte a row: 1 for the rarer state, or for state 0."""
        torch, packed = self.torch, self._packed[variables]
        if rare:
            packed = (packed ^ self._flips[variables]) & self._rows_that_exist
        out = torch.empty((len(packed), self.n_stored), dtype=torch.int8, device=self.device)
        bits, size = torch.arange(8, dtype=torch.uint8, device=self.device), max(1, _AT_ONCE // self.n_stored)
        for k in range(0, len(packed), size):
            some = packed[k : k + size]
            out[k : k + size] = ((some[:, :, None] >> bits) & 1).reshape(len(some), -1).to(torch.int8)
        return out

    def blocks(self, variables: range, *, rare: bool) -> Iterator[tuple[int, Any]]:
        """Yield the first of a run of variables, and their unpacked values; whole tiles, as many as fit into memory."""
        whole = self._rare if rare else self._states_0
        size = max(TILE, self.max_bytes // 8 // self.n_stored // TILE * TILE) if whole is None else len(variables)
        for first in range(variables.start, variables.stop, max(1, size)):
            some = slice(first, min(first + size, variables.stop))
            yield first, (self.unpacked(some, rare=rare) if whole is None else whole[some])

    @property
    def _all_fit(self) -> bool:
        return self.n_padded * self.n_stored <= self.max_bytes // 4

    @cached
    def _rare(self) -> Any:
        """All variables, 1 for the rarer state; None if they do not fit."""
        return self.unpacked(slice(None), rare=True) if self._all_fit else None

    @cached
    def _states_0(self) -> Any:
        """All variables, 1 for state 0; None if they do not fit."""
        return self.unpacked(slice(None), rare=False) if self._all_fit else None

    def products(self, left: Any, right: Any) -> Any:
        """Return the sum over rows of the products of each two variables of two blocks, exactly."""
        total = 0
        for k in range(0, self.n_stored, _ROWS_AT_ONCE):
            rows = slice(k, k + _ROWS_AT_ONCE)
            total = total + (left[:, rows].float() @ right[:, rows].float().T).to(self.torch.int32)
        return total
