"""Draw the packages of mnlearn and their imports: `python docs/architecture.py`.

The imports are read from the source files: those that run when a module is loaded. An arrow leads from a package to one
that it imports; arrows that follow from others are left out. A package stands above all that it imports. Modules at the
top level that nearly all others import are not shown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import fmean

DOCS = Path(__file__).resolve().parent
SOURCE = DOCS.parent / "src" / "mnlearn"
INSIDE = {"cli"}  # packages whose functions import what they need, so that every command starts fast
LEFT_OUT = {"__init__", "__main__", "_lazy", "errors", "files", "numbers"}
CORE = "_core"
ROW, BOX, GAP, LETTER, MARGIN, SWEEPS = 74, 30, 18, 8.2, 20, 24

Imports = dict[str, set[str]]


def pictures() -> dict[Path, str]:
    """Return the SVG text of the picture by the path of its file."""
    return {DOCS / "images" / "architecture.svg": draw(reduced(package_imports()))}


def package_imports() -> Imports:
    """Return the packages that each package imports when its modules are loaded."""
    packages: Imports = {CORE: set()}
    for path in sorted(SOURCE.rglob("*.py")):
        package = package_of(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        if package not in LEFT_OUT:
            packages.setdefault(package, set()).update(package_of(name) for name in imports(path, package in INSIDE))
    return {package: targets & packages.keys() - {package} for package, targets in packages.items()}


def package_of(module: str) -> str:
    """Return the box of a module: its package, or the module itself at the top level."""
    return module.split(".", maxsplit=1)[0]


def imports(path: Path, inside: bool) -> set[str]:
    """Return the modules of mnlearn, and names in them, that a file imports, inside of functions too if wanted."""
    found: set[str] = set()
    for node in _executed(ast.parse(path.read_text(encoding="utf-8")), inside):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("mnlearn.") for name in found if name.startswith("mnlearn.")}


def _executed(node: ast.AST, inside: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree without the blocks for type checkers, and without functions unless wanted."""
    yield node
    for child in ast.iter_child_nodes(node):
        for_types = isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"
        if not for_types and (inside or not isinstance(child, ast.FunctionDef)):
            yield from _executed(child, inside)


def reduced(found: Imports) -> Imports:
    """Return the imports without those that follow from others: a to c, where a to b and b to c."""
    below = {package: _reachable(found, package) for package in found}
    return {
        package: {target for target in targets if not any(target in below[other] for other in targets - {target})}
        for package, targets in found.items()
    }


def _reachable(found: Imports, start: str) -> set[str]:
    """Return all packages below one; raise ValueError where imports form a cycle."""
    seen: set[str] = set()
    waiting = list(found[start])
    while waiting:
        package = waiting.pop()
        if package == start:
            raise ValueError(f"imports between packages must not form a cycle; {start} imports itself by others.")
        if package not in seen:
            seen.add(package)
            waiting += found[package]
    return seen


def rows_of(found: Imports) -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows from bottom to top, and each arrow as the chain of points it passes through.

    An arrow over several rows passes through a point named "a>b@row" in each row between.
    """
    level: dict[str, int] = {}

    def height(package: str) -> int:
        if package not in level:
            level[package] = 1 + max((height(target) for target in found[package]), default=-1)
        return level[package]

    rows: list[list[str]] = [[] for _ in range(1 + max(map(height, sorted(found))))]
    for package in sorted(found):
        rows[level[package]].append(package)
    chains = []
    for package in sorted(found):
        for target in sorted(found[package]):
            points = [f"{package}>{target}@{row}" for row in range(level[package] - 1, level[target], -1)]
            chains.append([package, *points, target])
            for point in points:
                rows[int(point.rpartition("@")[2])].append(point)
    return rows, chains


def place(rows: list[list[str]], chains: list[list[str]]) -> dict[str, float]:
    """Return the horizontal position of every box and point: near its neighbours, none over another."""
    near: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for chain in chains:
        for upper, lower in pairwise(chain):
            near[upper].append(lower)
            near[lower].append(upper)
    x = {name: 160.0 * k for row in rows for k, name in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            wanted = {name: fmean([x[other] for other in near[name]] or [x[name]]) for name in row}
            row.sort(key=lambda name: (wanted[name], name))
            x |= _apart(row, wanted)
    left = min(x[name] - _width(name) / 2 for row in rows for name in row) - MARGIN
    return {name: position - left for name, position in x.items()}


def _apart(row: list[str], wanted: dict[str, float]) -> dict[str, float]:
    """Return positions near the wanted ones, in their order, at least a gap apart."""
    placed: dict[str, float] = {}
    end = float("-inf")
    for name in row:
        placed[name] = max(wanted[name], end + GAP + _width(name) / 2)
        end = placed[name] + _width(name) / 2
    shift = fmean(placed[name] - wanted[name] for name in row)
    return {name: position - shift for name, position in placed.items()}


def _width(name: str) -> float:
    return 4.0 if "@" in name else 24 + LETTER * len(_label(name))


def _label(name: str) -> str:
    return "native core (C++)" if name == CORE else name


def draw(found: Imports) -> str:
    """Return the picture as SVG."""
    rows, chains = rows_of(found)
    x = place(rows, chains)
    height = 2 * MARGIN + ROW * (len(rows) - 1) + BOX
    y = {name: height - MARGIN - BOX / 2 - ROW * k for k, row in enumerate(rows) for name in row}
    width = max(x[name] + _width(name) / 2 for name in x) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" font-family="sans-serif" '
        'font-size="14">',
        "<title>Packages of mnlearn; an arrow leads to a package that is imported</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#667788"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height}" rx="6" fill="#ffffff"/>',
        *(_arrow(chain, x, y) for chain in chains),
        *(_box(name, x[name], y[name]) for row in rows for name in row if "@" not in name),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arrow(chain: list[str], x: dict[str, float], y: dict[str, float]) -> str:
    """Return a smooth line through the points of a chain, with a head at its end."""
    path = f"M{x[chain[0]]:.0f} {y[chain[0]] + BOX / 2:.0f}"
    for upper, lower in pairwise(chain):
        start = y[upper] + (0 if "@" in upper else BOX / 2)
        end = y[lower] - (0 if "@" in lower else BOX / 2)
        middle = (start + end) / 2
        path += f" C{x[upper]:.0f} {middle:.0f} {x[lower]:.0f} {middle:.0f} {x[lower]:.0f} {end:.0f}"
    return f'<path d="{path}" fill="none" stroke="#8899aa" stroke-width="1.3" marker-end="url(#head)"/>'


def _box(name: str, x: float, y: float) -> str:
    """Return a labelled box."""
    width, fill = _width(name), "#f6e7cf" if name == CORE else "#e3edf5"
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - BOX / 2:.0f}" width="{width:.0f}" height="{BOX}" rx="5" fill="{fill}" '
        f'stroke="#55708a"/><text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="#1d2b36">'
        f"{escape(_label(name))}</text>"
    )


if __name__ == "__main__":
    for file, svg in pictures().items():
        file.write_text(svg, encoding="utf-8")
