"""One cell of every published experiment, in half a minute, compared with a file.

`python -m mnlearn_papers.small FILE` computes the cells, prints them, and fails with the lines that differ from
the file; `--write` writes the file. It checks changes that must leave the experiments as they are. Times and memory
are left out; real numbers have six digits, since other processors may round the last bits otherwise. The searches of
`mbs-*` follow even the last bits of matrix products: a BLAS without fused multiplication has other figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from threadpoolctl import threadpool_limits

from mnlearn.errors import FileError
from mnlearn.files import replacing, write_errors
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.reproduction import Comparison, Reproduction, Request

_SMALLEST = ("gsimn-table1", "ibmap-onemax", "ibmap-royalroad", "ibmap-uci", "mbs-table1", "mbs-table2", "mbs-table3")
"""Experiments whose second size is slow, or more rows than a table has."""

_LEFT_OUT = "left out: needs --data"


def small_lines(known: Mapping[str, Reproduction], data: Path | None) -> Iterator[str]:
    """Yield a block of text for each experiment: the figures of its first source, on one data set.

    Parameters
    ----------
    known
        The experiments by name.
    data
        Folder of the data. Without it, experiments that need one are named and left out.
    """
    for name, chosen in known.items():
        if chosen.needs_data and data is None:
            yield f"{name}: {_LEFT_OUT}"
            continue
        source = chosen.measure.cells(data)[0].source
        size = chosen.sizes[0 if name in _SMALLEST or len(chosen.sizes) == 1 else 1]
        lines = chosen.measure(Request(sizes=(size,), sources=(source,), repetitions=1, data=data))
        yield _block(f"{name}, {source}, {size} {chosen.axis}:", lines)


def _block(title: str, lines: Iterable[Comparison]) -> str:
    """Return the figures of one cell, wrapped; times and memory are no figures here."""
    shown = [line for line in lines if not any(unit in line.learner for unit in ("seconds", "MiB"))]
    figures = "; ".join(f"{line.learner} {line.ours:.6g}" for line in shown)
    return fill(f"{title} {figures}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def differing_lines(found: Sequence[str], reference: Sequence[str]) -> list[str]:
    """Return the blocks that differ, ours after those of the reference; what was left out is not compared.

    Examples
    --------
    >>> differing_lines(["a: 1", "b: left out: needs --data", "c: 3"], ["a: 1", "b: 2", "c: 4"])
    ['- c: 4', '+ c: 3']
    """
    left_out = {_name(block) for block in found if block.endswith(_LEFT_OUT)}
    expected = {_name(block): block for block in reference}
    computed = {_name(block): block for block in found}
    different: list[str] = []
    for name in dict.fromkeys([*expected, *computed]):
        if name not in left_out and expected.get(name) != computed.get(name):
            different += [f"- {expected[name]}"] if name in expected else []
            different += [f"+ {computed[name]}"] if name in computed else []
    return different


def _name(block: str) -> str:
    """Return the name of the experiment of a block."""
    return block.partition(":")[0].partition(",")[0]


def blocks_of(text: str) -> list[str]:
    """Split a text into its blocks; further lines of a block are indented."""
    blocks: list[str] = []
    for line in text.splitlines():
        blocks.append(f"{blocks.pop()}\n{line}" if line.startswith(" ") else line)
    return blocks


def main(argv: Sequence[str] | None = None) -> int:
    """Print the cells and compare them with a file, or write it; return 1 if something differs."""
    parser = argparse.ArgumentParser(description="Compute one cell of every published experiment.")
    parser.add_argument("reference", type=Path, help="file of the expected figures")
    parser.add_argument("--write", action="store_true", help="write the file")
    parser.add_argument("--data", type=Path, help="folder of the data; left out without it: experiments that need it")
    given = parser.parse_args(argv)
    data = given.data if given.data is not None and given.data.is_dir() else None
    found = []
    with threadpool_limits(1):  # the last bits of matrix products depend on the number of threads
        for block in small_lines(REPRODUCTIONS, data):
            print(block, flush=True)
            found.append(block)
    if given.write:
        if data is None:
            raise FileError("--data must be the folder of the data to write all figures; got none. Add --data DIR.")
        with write_errors(given.reference), replacing(given.reference) as part:
            part.write_text("\n".join(found) + "\n", encoding="utf-8")
        return 0
    different = differing_lines(found, blocks_of(given.reference.read_text(encoding="utf-8")))
    if different:
        print(f"\nThese differ from {given.reference} (-):", *different, sep="\n", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
