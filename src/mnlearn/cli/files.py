"""Files of the commands: which options are read and which are written, and one check of all before any work."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple

from typer.models import OptionInfo

from mnlearn.errors import FileError
from mnlearn.files import check_outputs, try_to_write


class FileUse(NamedTuple):
    """Use of the file of an option: read or written."""

    written: bool
    folder: bool
    inside: tuple[str, ...]  # names or patterns of the files in a folder


def reads(declared: Any, *inside: str) -> Any:
    """Mark an option or argument: its file is read, or these files of its folder."""
    declared.file_use = FileUse(written=False, folder=bool(inside), inside=inside)
    return declared


def writes(declared: Any) -> Any:
    """Mark an option or argument: its file is written."""
    declared.file_use = FileUse(written=True, folder=False, inside=())
    return declared


def writes_into(declared: Any, *inside: str) -> Any:
    """Mark an option or argument: these files of its folder are written."""
    declared.file_use = FileUse(written=True, folder=True, inside=inside)
    return declared


def file_uses(parameters: list[Parameter]) -> dict[str, tuple[str, FileUse]]:
    """Return the name on the command line and the use of each parameter that is a file."""
    found = {}
    for parameter in parameters:
        for declared in getattr(parameter.annotation, "__metadata__", ()):
            if hasattr(declared, "file_use"):
                words = [
                    word for word in (declared.default, *(declared.param_decls or ())) if str(word).startswith("--")
                ]
                usual = f"--{parameter.name.replace('_', '-')}"
                name = (words or [usual])[0] if isinstance(declared, OptionInfo) else declared.metavar
                found[parameter.name] = (name.removesuffix("..."), declared.file_use)
    return found


def check_files(uses: Mapping[str, tuple[str, FileUse]], given: Mapping[str, Any]) -> None:
    """Raise FileError if an output of a command is one of its inputs, or cannot be written."""
    inputs: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    written: list[tuple[str, FileUse, str]] = []
    for key, (name, use) in uses.items():
        for path in _listed(given[key]):
            if use.written:
                outputs.setdefault(name, []).extend([path, *(os.path.join(path, file) for file in use.inside)])
                written.append((name, use, path))
            else:
                inputs.setdefault(name, []).extend(_existing(path, use))
    check_outputs(outputs, inputs)
    for name, use, path in written:
        (check_folder if use.folder else check_output)(name, path)
    _check_standard_output(outputs, inputs)


def _listed(value: Any) -> list[str]:
    """Return the paths of an option, given or not."""
    return [] if value is None else [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _existing(path: str, use: FileUse) -> list[str]:
    """Return the files that are there: the file, those of a folder, or those of a pattern."""
    if os.path.isdir(path):
        return [file for pattern in use.inside for file in glob.glob(os.path.join(glob.escape(path), pattern))]
    return [path] if os.path.exists(path) else glob.glob(path)


def _check_standard_output(outputs: Mapping[str, list[str]], inputs: Mapping[str, list[str]]) -> None:
    """Raise FileError if standard output is a file that the command reads or replaces."""
    out = _standard_output()
    if out is None:
        return
    for name, paths in [*outputs.items(), *inputs.items()]:
        for path in filter(os.path.isfile, paths):
            if os.path.samestat(os.stat(path), out):
                raise FileError(
                    f"{name} must be another file than the one that standard output is sent to; got {path!r} for both. "
                    "Send the output elsewhere."
                )


def _standard_output() -> os.stat_result | None:
    """Return the file that standard output is sent to; None for a terminal, a pipe or a stream in memory."""
    try:
        found = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def check_output(name: str, path: str) -> None:
    """Raise FileError if the file of an option cannot be written."""
    if path == "-":
        raise FileError(f"{name} must be a file; got '-', and nothing is written to standard output. Name a file.")
    try:
        target = Path(os.path.realpath(path))
        _check_place(name, path, target)
        try_to_write(path)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{name} must be a file that can be written; {path!r}: {reason}. Name another.") from error


def _check_place(name: str, path: str, target: Path) -> None:
    """Raise FileError for a directory, or for a folder that is missing or cannot be written."""
    own = Path(path).parent
    folder = str(own if Path(os.path.realpath(own)) == target.parent else target.parent)
    if not path:
        raise FileError(f"{name} must be the name of a file; got ''. Name a file.")
    if target.is_dir():
        raise FileError(f"{name} must be a file; {path!r} is a directory. Name a file in it.")
    if target.parent.is_file():
        raise FileError(f"{name} must be in an existing folder; {folder!r} is a file. Name another folder.")
    if not target.parent.is_dir():
        raise FileError(f"{name} must be in an existing folder; there is no {folder!r}. Create it first.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{name} must be in a writable folder; {folder!r} is read-only. Name another folder.")


def check_folder(name: str, path: str) -> None:
    """Raise FileError if there is no such folder and it cannot be made, or if nothing can be written to it."""
    try:
        target = Path(os.path.realpath(path))
        there = next(folder for folder in (target, *target.parents) if _is_there(folder))
        if there.is_dir():
            try_to_write(there / "file")
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):  # a checkpoint can do without
            return
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"{name} must be a folder that can be written; {path!r}: {reason}. Name another folder."
        ) from error
    if not there.is_dir():
        what = "is a file" if there == target else f"is below {str(there)!r}, which is a file"
        raise FileError(f"{name} must be a folder; {path!r} {what}. Name another folder.")


def _is_there(path: Path) -> bool:
    """Return whether a path exists; a name that the file system does not allow is an OSError."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
