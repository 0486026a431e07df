"""Files to be written: refused before any work if they cannot be."""

from __future__ import annotations

import os
from pathlib import Path

from mnlearn.errors import FileError


def check_target(option: str, out: str | None, *, graph: bool = True) -> None:
    """Refuse what cannot be written before anything is learned."""
    if out is None:
        return
    target = Path(out)
    if graph:
        from mnlearn.graphs.formats import check_extension

        check_extension(target, option)
    if target.is_dir():
        raise FileError(f"{option} must be a file; {out!r} is a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileError(f"{option} must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(
            f"{option} must be in a folder that can be written; {str(target.parent)!r} cannot. Name another folder."
        )
