"""All published experiments on one page: a table with a line for each, and every published figure in one picture.

The picture is text (SVG), needs no plotting library and is the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10, nan
from pathlib import Path
from typing import NamedTuple

from mnlearn.files import replacing, write_errors
from mnlearn_papers.agreement import agreement
from mnlearn_papers.campaign import Campaign, CellState
from mnlearn_papers.differences import LIMIT
from mnlearn_papers.learners_page import COLORS
from mnlearn_papers.page import fill_page
from mnlearn_papers.reproduction import Comparison, Reproduction

SIDE, LEFT, TOP, BOTTOM, LEGEND = 520, 70, 50, 56, 250
MOST_COLUMNS = 8  # of a table; with more, the quantities of a learner are on lines of their own

OVERVIEW_TABLE = """<!-- table overview
lines: source = experiment
column: figures = figures compared
column: near = within 3
column: chi_square = chi-square | digits 3
column: p | p 2
column: visible = visible difference | digits 2
column: relative = relative | percent 0
column: runs
column: seconds = CPU time | duration
cell: mean 0
-->
<!-- end -->
"""

HOW_TO_READ = """"Within 3" counts the figures within 3 standard errors of the published ones. Chi-square is over all of
them, with as many degrees of freedom; p is its probability if all agreed. A difference smaller than "visible", in the
unit of the table and relative to the published figure, could not be seen (medians). In the tables, `31.7 / 32.1 (+1.1)`
is the published figure, ours, and their difference in standard errors.
"""


def counted(lines: Iterable[Comparison], experiment: Reproduction) -> list[Comparison]:
    """Return the published figures that the overview counts: one reading of each, and no times."""
    return [
        line
        for line in lines
        if line.published is not None
        and not line.learner.endswith(" seconds")
        and experiment.alternatives.isdisjoint((line.source, line.learner, *line.learner.split(" ", 1)))
    ]


def overview_figures(
    known: Mapping[str, Reproduction], figures: Mapping[str, Sequence[Comparison]], costs: Iterable[Comparison]
) -> list[Comparison]:
    """Return the numbers of the table of all experiments, in the form of other figures.

    Parameters
    ----------
    known
        The experiments by name.
    figures
        Those of each experiment that has runs.
    costs
        The costs of the experiments, as `costs.as_figures` gives them.
    """
    spent = {(name, line.learner): line.ours for line in costs for name in line.source.split(" and ")}
    shown = {name: counted(lines, known[name]) for name, lines in figures.items()}
    shown["all"] = [line for lines in shown.values() for line in lines]
    found: list[Comparison] = []
    for name, mine in shown.items():
        result = agreement(mine)
        numbers = {
            "figures": result.figures if result else 0,
            "near": result.near if result else nan,
            "chi_square": result.chi_square if result else nan,
            "p": result.p if result else nan,
            "visible": result.visible if result and name != "all" else nan,  # in the unit of the table
            "relative": result.relative if result else nan,
            "runs": spent.get((name, "done"), nan),
            "seconds": spent.get((name, "seconds"), nan),
        }
        found += [Comparison(name, 0, key, None, float(value), nan, 1, None, nan) for key, value in numbers.items()]
    return found


def write_page(
    known: Mapping[str, Reproduction], figures: Mapping[str, Sequence[Comparison]], left: Campaign, folder: Path
) -> None:
    """Write `reproduction.md` and its picture `reproduction.svg` into a folder.

    Parameters
    ----------
    known
        The experiments by name.
    figures
        Those of each experiment that has runs, and "overview".
    left
        The cells and experiments that were not run, which the page names.
    folder
        The folder.
    """
    mine = {name: lines for name, lines in figures.items() if name in known}
    text = fill_page(_page(known, mine, left), lambda name: figures.get(name, ())).text
    for name, content in (("reproduction.md", text), ("reproduction.svg", draw_figures(known, mine))):
        with write_errors(folder / name), replacing(folder / name) as part:
            part.write_text(content, encoding="utf-8")


def unfinished_lines(cells: Iterable[CellState], shown: int | None = None) -> list[str]:
    """Return one line for each experiment that has cells with fewer data sets than the paper.

    Parameters
    ----------
    cells
        All cells.
    shown
        How many sources and methods are named; all by default.

    Examples
    --------
    >>> from mnlearn_papers.experiment import RunCell
    >>> done = {("d=64", 250): 100, ("d=64", 500): 5, ("d=128", 250): 2, ("d=128", 500): 2}
    >>> unfinished_lines(CellState("mpl-table1", RunCell(*place, "l1lr"), n, 100) for place, n in done.items())
    ['mpl-table1: 3 of 4 cells have 2 to 5 of 100 data sets: d=64 l1lr (500); d=128 l1lr']
    """
    by_name: dict[str, list[CellState]] = {}
    for state in cells:
        by_name.setdefault(state.experiment, []).append(state)
    lines = []
    for name, everything in by_name.items():
        several = [state for state in everything if state.done < state.of]
        if not several:
            continue
        fewest, most = min(state.done for state in several), max(state.done for state in several)
        done = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        places = _places(everything, several)
        more = [] if shown is None or len(places) <= shown else [f"and {len(places) - shown} more"]
        named = "" if len(several) == len(everything) else ": " + "; ".join([*places[:shown], *more])
        cells_of = f"{len(several)} of {len(everything)} cells"
        lines.append(f"{name}: {cells_of} have {done} of {several[0].of} data sets{named}")
    return lines


def _places(everything: Iterable[CellState], several: Iterable[CellState]) -> list[str]:
    """Return the sources and methods of some cells, with their sizes unless these are all."""
    total = Counter((state.cell.source, state.cell.method) for state in everything)
    sizes: dict[tuple[str, str], list[str]] = {}
    for state in several:
        sizes.setdefault((state.cell.source, state.cell.method), []).append(str(state.cell.n_rows))
    return [
        " ".join(place) + (f" ({', '.join(numbers)})" if len(numbers) < total[place] else "")
        for place, numbers in sizes.items()
    ]


def _page(known: Mapping[str, Reproduction], figures: Mapping[str, Sequence[Comparison]], left: Campaign) -> str:
    """Return the page with empty tables: the overview, the picture, what was not run, then every experiment."""
    parts = [
        "# Published experiments, run again\n",
        OVERVIEW_TABLE,
        "![Published figures and those of mnlearn](reproduction.svg)\n",
        HOW_TO_READ,
    ]
    missing = [f"- {name}: its data are missing" for name in left.without_data]
    missing += [f"- {item.experiment}: {item.source} cannot be run: {item.error}" for item in left.failed]
    missing += [f"- {line}" for line in unfinished_lines(left.cells)]
    if missing:
        parts.append("## Not complete\n\n" + "\n".join(missing) + "\n")
    for name, lines in figures.items():
        parts.append(f"## {name}\n\n{known[name].title}: {known[name].quantity}.\n")
        if any(line.standard_errors is not None for line in lines):
            parts.append(f"<!-- agreement {name} -->\n<!-- end -->\n")
        columns = {line.learner for line in lines}
        wide = len(columns) > MOST_COLUMNS and all(" " in learner for learner in columns)
        rows = f"source, n_rows = {known[name].axis}{', quantity' if wide else ''}, n = runs"
        parts.append(f"<!-- table {name}\nlines: {rows}\n-->\n<!-- end -->\n")
    return "\n".join(parts)


class _Point(NamedTuple):
    """One figure: the published number and ours, and whether the two are near."""

    published: float
    ours: float
    near: bool


def draw_figures(known: Mapping[str, Reproduction], figures: Mapping[str, Sequence[Comparison]]) -> str:
    """Return an SVG with every published figure against ours, both logarithmic, colored by paper.

    Parameters
    ----------
    known
        The experiments by name.
    figures
        Those of each experiment; figures of zero have no place on a logarithmic axis and are left out.
    """
    points = {name: _points(counted(lines, known[name])) for name, lines in figures.items()}
    papers = dict.fromkeys(_paper(known[name]) for name, several in points.items() if several)
    colors = {paper: COLORS[k % len(COLORS)] for k, paper in enumerate(papers)}
    numbers = [number for several in points.values() for point in several for number in point[:2]]
    low, high = (floor(log10(min(numbers))), ceil(log10(max(numbers)))) if numbers else (0, 1)
    high, width, height = max(high, low + 1), LEFT + SIDE + LEGEND, TOP + SIDE + BOTTOM
    title = "Published figures and those of mnlearn (both logarithmic)"

    def place(number: float) -> float:
        return SIDE * (log10(number) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        f'<text x="14" y="26" font-size="15" font-weight="bold" fill="#222222">{escape(title)}</text>',
        f'<g transform="translate({LEFT},{TOP})">',
        *_axes(low, high),
    ]
    for name, several in points.items():
        if several:
            parts += _marks(name, [(place(p.published), SIDE - place(p.ours), p.near) for p in several],
                            colors[_paper(known[name])])  # fmt: skip
    return "\n".join([*parts, *_legend(colors, known, figures), "</g>", "</svg>"]) + "\n"


def _legend(
    colors: Mapping[str, str], known: Mapping[str, Reproduction], figures: Mapping[str, Sequence[Comparison]]
) -> list[str]:
    """Return the papers with their colors and numbers of figures, and the meaning of the marks."""
    parts = []
    for k, (paper, color) in enumerate(colors.items()):
        y = 20 + 22 * k
        mine = [
            line for name in figures if _paper(known[name]) == paper for line in counted(figures[name], known[name])
        ]
        result = agreement(mine)
        near = f"{result.near} of {result.figures} within {LIMIT:g}" if result else f"{len(mine)}, none compared"
        parts.append(f'<circle cx="{SIDE + 20}" cy="{y - 4}" r="5" fill="{color}"/>')
        parts.append(f'<text x="{SIDE + 32}" y="{y}" fill="#333333">{escape(paper)}: {near}</text>')
    for k, text in enumerate(
        (f"dot: within {LIMIT:g} standard errors", "cross: beyond, or not compared", "zeros are not drawn")
    ):
        y = 34 + 22 * len(colors) + 20 * k
        parts.append(f'<text x="{SIDE + 14}" y="{y}" fill="#555555">{text}</text>')
    return parts


def _paper(experiment: Reproduction) -> str:
    """Return the citation key, the first word of the title."""
    return experiment.title.split()[0].rstrip(":")


def _points(lines: Iterable[Comparison]) -> list[_Point]:
    """Return the figures that are positive on both sides."""
    return [
        _Point(line.published, line.ours, line.standard_errors is not None and abs(line.standard_errors) <= LIMIT)
        for line in lines
        if line.published is not None and line.published > 0 and line.ours > 0
    ]


def _axes(low: int, high: int) -> list[str]:
    """Return a grid with a line for each power of ten, the diagonal, and the names of the axes."""
    parts = []
    for power in range(low, high + 1):
        at = SIDE * (power - low) / (high - low)
        parts += [
            f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{SIDE}" stroke="#dddddd"/>',
            f'<line x1="0" y1="{SIDE - at:.1f}" x2="{SIDE}" y2="{SIDE - at:.1f}" stroke="#dddddd"/>',
            f'<text x="{at:.1f}" y="{SIDE + 18}" text-anchor="middle" fill="#555555">{10.0**power:g}</text>',
            f'<text x="-8" y="{SIDE - at + 4:.1f}" text-anchor="end" fill="#555555">{10.0**power:g}</text>',
        ]
    return [
        *parts,
        f'<line x1="0" y1="{SIDE}" x2="{SIDE}" y2="0" stroke="#888888"/>',
        f'<text x="{SIDE / 2:g}" y="{SIDE + 40}" text-anchor="middle" fill="#333333">published</text>',
        f'<text transform="translate(-50,{SIDE / 2:g}) rotate(-90)" text-anchor="middle" fill="#333333">mnlearn</text>',
    ]


def _marks(name: str, points: Iterable[tuple[float, float, bool]], color: str) -> list[str]:
    """Return a dot for each figure that is near and a cross for each other; the name is shown under the mouse."""
    dots = [f"M{x:.1f} {y:.1f}h0" for x, y, near in points if near]
    crosses = [f"M{x - 2.5:.1f} {y - 2.5:.1f}l5 5m0-5l-5 5" for x, y, near in points if not near]
    look = f'fill="none" stroke="{color}" stroke-opacity="0.7"'
    parts = ["<g>", f"<title>{escape(name)}</title>"]
    if dots:
        parts.append(f'<path d="{"".join(dots)}" {look} stroke-width="5" stroke-linecap="round"/>')
    if crosses:
        parts.append(f'<path d="{"".join(crosses)}" {look} stroke-width="1.2"/>')
    return [*parts, "</g>"]
