"""Atomic replacement and locking of files: a file is written completely or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def lock(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return False if another process holds it. No-op without fcntl."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside the file: renamed to it when the block succeeds, deleted when it fails.

    It keeps the extension, from which some writers infer the format. Failures are plain OSErrors: the caller knows the
    argument to name in its message.

    Parameters
    ----------
    path
        The file to write; an existing one is replaced. Symbolic links are followed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as part:
    ...     _ = part.write_text("whole")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    target = Path(path).resolve()
    part = target.with_name(f".mnlearn-{os.getpid()}-{threading.get_ident()}{target.suffix}")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
