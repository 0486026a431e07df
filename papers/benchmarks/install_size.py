"""Installed size: the packages that mnlearn depends on, and what each extra adds to them.

    python benchmarks/install_size.py

Reads the requirements from pyproject.toml and the sizes of the files that each package installed into this environment,
without byte-compiled files. An extra counts what it adds to an installation without extras. Packages that are not
installed here are named. MB are 10^6 bytes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parents[2]


def installed_bytes(package: Distribution) -> int:
    """Return the size of the files of a package, without those that Python compiles."""
    files = (Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc")
    return sum(file.stat().st_size for file in files if file.exists())


def needed(requirements: Iterable[str]) -> dict[str, int | None]:
    """Return the size of every package that the requirements need, directly or not; None if it is not installed."""
    found: dict[str, int | None] = {}
    left = [Requirement(one) for one in requirements]
    while left:
        one = left.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found[name] = None
            continue
        found[name] = installed_bytes(package)
        left += [Requirement(line) for line in package.requires or ()]
    return found


def megabytes(sizes: Iterable[int | None]) -> float:
    return sum(size or 0 for size in sizes) / 1e6


def main() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = needed(project["dependencies"])
    own = sum(file.stat().st_size for file in (TOP / "src").rglob("*") if file.is_file() and file.suffix != ".pyc")
    print(f"{'package':<24}{'MB':>8}")
    for name, size in sorted(({"mnlearn": own} | core).items(), key=lambda item: -(item[1] or 0)):
        print(f"{name:<24}{'absent' if size is None else f'{size / 1e6:.1f}':>8}")
    print(f"{'all of these':<24}{megabytes([own, *core.values()]):>8.1f}\n")
    print(f"{'extra':<12}{'adds MB':>8}  packages")
    for extra, requirements in project["optional-dependencies"].items():
        if extra == "all":
            continue
        added = {name: size for name, size in needed(requirements).items() if name not in core}
        listed = (f"{name} {'absent' if size is None else f'{size / 1e6:.1f}'}" for name, size in added.items())
        print(f"{extra:<12}{megabytes(added.values()):>8.1f}  {', '.join(sorted(listed))}")


if __name__ == "__main__":
    main()
