"""Files that are whole or not there, and written by one process at a time: the one way in which they are replaced."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def lock(file: IO[bytes]) -> bool:
    """Whether this open file is ours alone until it is closed; where files cannot be locked, nobody is kept out."""
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
    """A name beside the path to write under: renamed when the block ends well, and taken away when it does not.

    It keeps the extension, by which some writers know the format. What the system refuses is an OSError; the caller
    knows the argument and words it.

    Parameters
    ----------
    path
        The file to be; one that is there is replaced. Through a link the file behind it is.

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
