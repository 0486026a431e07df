"""Bytes at a place in an open file, for several threads at once and on every system."""

from __future__ import annotations

import errno
import os
import threading

_moving = threading.Lock()  # where reading and writing need the one position of a file


def write_at(handle: int, data: bytes | memoryview, place: int) -> None:
    """Write bytes from a place on."""
    left = memoryview(data)
    while left:
        written = _write(handle, left, place)
        left, place = left[written:], place + written


def read_at(handle: int, room: memoryview, place: int) -> None:
    """Fill the room with the bytes from a place on."""
    while room:
        read = _read(handle, room, place)
        if read == 0:
            raise OSError(errno.EIO, "the file ends too early")
        room, place = room[read:], place + read


def _write(handle: int, data: memoryview, place: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, data, place)
    with _moving:
        os.lseek(handle, place, os.SEEK_SET)
        return os.write(handle, data)


def _read(handle: int, room: memoryview, place: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(handle, [room], place)
    with _moving:
        os.lseek(handle, place, os.SEEK_SET)
        part = os.read(handle, len(room))
    room[: len(part)] = part
    return len(part)
