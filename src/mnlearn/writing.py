"""Files that are whole or not there: the one way in which this library replaces a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
