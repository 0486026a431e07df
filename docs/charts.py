"""Draw the charts of the documentation from its tables and run files: `python docs/charts.py`.

A page marks a table with the comment `<!-- chart NAME -->` on the line before it; its chart is `docs/images/NAME.svg`.
The files are text, need no plotting library and are the same on every machine.
"""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
RUNS = DOCS / "reproduction" / "runs"
WIDTH, LEFT, RIGHT, STEP, TOP = 900, 400, 130, 30, 46
BLUE = "#2f6690"


class Bar(NamedTuple):
    """One bar: its label, its length as a share of the longest possible bar, the text at its end, its color."""

    label: str
    share: float
    text: str
    color: str


def pictures() -> dict[Path, str]:
    """Return the SVG text of every chart by the path of its file."""
    drawn = {DOCS / "images" / "speed.svg": speed(), DOCS / "accuracy" / "held-out-profile.svg": accuracy()}
    drawn[DOCS / "images" / "many-variables.svg"] = many_variables()
    if any(RUNS.glob("*.csv")):
        drawn[DOCS / "images" / "reproduction.svg"] = reproduction()
    return drawn


def speed() -> str:
    """Times faster than a simple alternative, on a logarithmic scale, from the first table of benchmarks.md."""
    rows = table("benchmarks.md", "speed")
    ratios = [_geometric_mean(row[2]) for row in rows]
    longest = math.log(max(ratios))
    bars = [
        Bar(f"{row[0]}, against {row[1]}", math.log(ratio) / longest, f"{row[2]}×", BLUE)
        for row, ratio in zip(rows, ratios, strict=True)
    ]
    return draw("Times faster than a simple alternative (logarithmic scale)", bars)


def many_variables() -> str:
    """CPU time of searches by the number of variables, on a logarithmic scale, from very_many_variables.md."""
    rows = table("very_many_variables.md", "many-variables")
    seconds = [float(row[2]) for row in rows]
    low, high = math.log(min(seconds) / 2), math.log(max(seconds))
    bars = [
        Bar(f"{row[0]}: {row[1]} variables", (math.log(time) - low) / (high - low), f"{row[2]} s", BLUE)
        for row, time in zip(rows, seconds, strict=True)
    ]
    return draw("CPU seconds of one core, 2,000 rows (logarithmic scale)", bars)


def reproduction() -> str:
    """Every published figure against that of mnlearn, from the summaries in reproduction/runs."""
    from mnlearn_papers.catalogue import REPRODUCTIONS
    from mnlearn_papers.reproduction_page import draw_figures
    from mnlearn_papers.summaries import all_figures

    return draw_figures(REPRODUCTIONS, all_figures(RUNS))


def accuracy() -> str:
    """Errors of every method relative to the best one over all cells, from accuracy/held-out.csv."""
    from mnlearn_papers.accuracy_page import read_errors
    from mnlearn_papers.accuracy_profile import draw_profiles

    return draw_profiles(read_errors(DOCS / "accuracy" / "held-out.csv"))


def table(page: str, name: str) -> list[list[str]]:
    """Return the cells of the table that a page marks with the name of a chart, without header and markup."""
    _, marker, after = (DOCS / page).read_text(encoding="utf-8").partition(f"<!-- chart {name} -->\n")
    if not marker:
        raise ValueError(f"{page} must mark a table with <!-- chart {name} -->; it has no such comment.")
    lines = after.lstrip("\n").split("\n\n", 1)[0].splitlines()[2:]
    return [[_plain(cell) for cell in line.strip().strip("|").split("|")] for line in lines]


def draw(title: str, bars: list[Bar]) -> str:
    """Return a horizontal bar chart as SVG."""
    height, scale = TOP + STEP * len(bars) + 14, WIDTH - LEFT - RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        f'<text x="14" y="26" font-size="15" font-weight="bold" fill="#222222">{escape(title)}</text>',
    ]
    for k, bar in enumerate(bars):
        y, length = TOP + STEP * k, max(3.0, scale * bar.share)
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end" fill="#333333">{escape(bar.label)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="20" rx="2" fill="{bar.color}"/>',
            f'<text x="{LEFT + length + 6:.1f}" y="{y + 15}" fill="#333333">{escape(bar.text)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _geometric_mean(text: str) -> float:
    """Return the middle of a range such as "55 to 67" on a logarithmic scale."""
    numbers = [float(number) for number in re.findall(r"[\d.]+", text.replace(",", ""))]
    return math.prod(numbers) ** (1 / len(numbers))


def _plain(cell: str) -> str:
    """Return the text of a Markdown cell without links, code marks and emphasis."""
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", cell).replace("`", "").replace("**", "").replace("\\", "").strip()


if __name__ == "__main__":
    for path, svg in pictures().items():
        path.write_text(svg, encoding="utf-8")
