"""The files that published experiments need, in the folder of the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mnlearn.errors import FileError


def data_files(data: Path | None, pattern: str, files: Mapping[str, str]) -> dict[str, Path]:
    """The path of every file, by the same names; a file may be compressed (`.gz`).

    Parameters
    ----------
    data
        The folder of the data.
    pattern
        Where in it they are, as an error says it: ``networks/*.bif``.
    files
        Their names within that folder, by what they are called in the experiment.

    Raises
    ------
    FileError
        If there is no folder, or a file is not in it.
    """
    if data is None:
        raise FileError(f"data must be the folder that holds {pattern}; got none. Pass it, or set MNLEARN_DATA to it.")
    return {name: _found(data, f"{Path(pattern).parent}/{file}") for name, file in files.items()}


def _found(data: Path, file: str) -> Path:
    """One of them, compressed or not."""
    for path in (data / file, data / f"{file}.gz"):
        if path.exists():
            return path
    raise FileError(f"data must be the folder that holds {file}; {data} does not. Name another.")
