"""Result of a screen: the strongest partners of each variable by name, as a table, a sparse matrix or a network.

A saved screen is one binary file: the mark ``MNSCREEN``, the version and the length of the header (two 32-bit integers,
little-endian), a header in JSON, the arrays of `StrongestPartners` one after the other (64-bit integers, 32-bit
integers, 32-bit floats), and the CRC-32 of all bytes before it.

The Markov blanket of one variable, as `mnlearn.blanket` returns it.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mnlearn._lazy import cached
from mnlearn.errors import FileError, InputError, check_path, is_number, read_bytes, unknown_name, whole_number
from mnlearn.files import replacing, write_errors
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.results.edges import SUPPORT_TITLES, Frame, frame_of, printable
from mnlearn.results.explain import words_of_test, words_of_transform
from mnlearn.statistics.screens import ScreenRule, StrongestPartners

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MARK, VERSION = b"MNSCREEN", 1
_SIZES = struct.Struct("<II")  # version, length of the header
_SUM = struct.Struct("<I")
SHOWN = 5  # pairs in the summary


@dataclass(frozen=True, eq=False)
class Screened:
    """The strongest partners of each variable by marginal evidence.

    Attributes
    ----------
    names
        Names of the variables.
    partners
        The pairs that were kept, by index.
    rule
        Which pairs were kept.
    n_rows
        Number of rows.
    least
        Least evidence that a kept pair may have: the threshold, or the floor that follows from k.

    Examples
    --------
    >>> from mnlearn.learning import screen
    >>> survey = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "monday": [0, 1, 0, 1] * 20}
    >>> screened = screen(survey, k=1)
    >>> screened.strongest("rain")
    [('wet', 110.90354919433594)]
    """

    names: tuple[str, ...]
    partners: StrongestPartners
    rule: ScreenRule
    n_rows: int
    least: float

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_pairs(self) -> int:
        """Number of pairs that were kept."""
        return len(self.partners.partners) // 2

    @property
    def complete(self) -> bool:
        """False if the screen was cancelled before all pairs were looked at."""
        return self.partners.complete

    @cached
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def strongest(self, name: str) -> list[tuple[str, float]]:
        """Return the partners of a variable and their evidence, the strongest first."""
        if name not in self._places:
            raise unknown_name("variable", name, self.names)
        x = self._places[name]
        here = slice(self.partners.starts[x], self.partners.starts[x + 1])
        partners, evidence = self.partners.partners[here], self.partners.evidence[here]
        order = np.argsort(-evidence, kind="stable")
        return [(self.names[partners[k]], float(evidence[k])) for k in order]

    def pairs(self, frame: Frame | None = None, *, top: int | None = None) -> Any:
        """Return a table of the pairs, the strongest first; equal ones in the order of the variables.

        Parameters
        ----------
        frame
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the first that is installed.
        top
            Number of pairs; all by default.
        """
        u, v, evidence = self.ranked(top)
        names = np.array(self.names, dtype=object)
        return frame_of(
            {
                "u": ("string", names[u].tolist()),
                "v": ("string", names[v].tolist()),
                "evidence": ("double", evidence.astype(np.float64).tolist()),
            },
            frame,
        )

    def ranked(self, top: int | None = None) -> tuple[Any, Any, Any]:
        """Return both variables u < v and the evidence of each pair by index, the strongest first."""
        if top is not None:
            whole_number("top", top, least=1, hint="Leave it out for all pairs.")
        u, v, evidence = self.partners.pairs()
        order = np.argsort(-evidence, kind="stable")[:top]
        return u[order], v[order], evidence[order]

    def to_scipy(self) -> csr_array:
        """Return the evidence as a symmetric sparse matrix; pairs that were not kept are absent."""
        from scipy.sparse import csr_array

        lists = self.partners
        return csr_array(
            (lists.evidence.copy(), lists.partners.copy(), lists.starts.copy()), shape=(self.n_variables,) * 2
        )

    def candidates(self) -> Candidates:
        """Return the pairs as candidates of a search, by index."""
        return self.partners.candidates()

    def graph(self, threshold: float = 0.0) -> NamedGraph:
        """Return the relevance network: an edge for each kept pair whose evidence is at least the threshold."""
        if not is_number(threshold):
            raise InputError(f"threshold must be a number; got {threshold!r}. 0 keeps all pairs of the screen.")
        u, v, evidence = self.partners.pairs()
        strong = evidence >= threshold
        edges = list(zip(u[strong].tolist(), v[strong].tolist(), strict=True))
        numbers = {edge: {"evidence": float(e)} for edge, e in zip(edges, evidence[strong].tolist(), strict=True)}
        return NamedGraph(Graph(self.n_variables, edges), self.names, numbers)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the screen to a file, which `Screened.load` reads."""
        check_path("path", path)
        header = {
            "names": self.names,
            "rule": asdict(self.rule),
            "n_rows": self.n_rows,
            "least": self.least,
            "complete": self.complete,
            "entries": len(self.partners.partners),
        }
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        lists, checksum = self.partners, 0
        with write_errors(path), replacing(path) as part, part.open("wb") as file:
            for piece in (
                MARK + _SIZES.pack(VERSION, len(text)) + text,
                lists.starts.astype("<i8").tobytes(),
                lists.partners.astype("<i4").tobytes(),
                lists.evidence.astype("<f4").tobytes(),
            ):
                checksum = zlib.crc32(piece, checksum)
                file.write(piece)
            file.write(_SUM.pack(checksum))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Screened:
        """Read a screen that `save` has written.

        Raises
        ------
        FileError
            If the file cannot be read, is not a screen, is damaged, or was written by a newer version.
        """
        content = read_bytes("path", path)
        name = Path(os.fsdecode(path))
        if not content.startswith(MARK) or len(content) < len(MARK) + _SIZES.size + _SUM.size:
            raise FileError(f"path must be a screen, as Screened.save writes it; {name} is not one. Name another file.")
        version, length = _SIZES.unpack_from(content, len(MARK))
        if version > VERSION:
            raise FileError(
                f"path must be a screen of version {VERSION}; {name} has version {version}. Use a newer mnlearn."
            )
        if zlib.crc32(memoryview(content)[: -_SUM.size]) != _SUM.unpack_from(content, len(content) - _SUM.size)[0]:
            raise FileError(f"path must be an intact screen; the checksum of {name} differs. Screen the data again.")
        start = len(MARK) + _SIZES.size
        try:
            header = json.loads(content[start : start + length])
            return _screened(header, memoryview(content)[start + length : -_SUM.size])
        except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
            raise FileError(
                f"path must be a screen, as Screened.save writes it; {name} is not one ({error}). Screen the data "
                "again."
            ) from error

    def __repr__(self) -> str:
        kept = f"k={self.rule.k}" if self.rule.k is not None else f"threshold={self.rule.threshold:g}"
        partial = "" if self.complete else ", incomplete"
        pairs = f"{self.n_pairs:,} pair{'' if self.n_pairs == 1 else 's'}"
        return (
            f"<Screened {self.n_variables:,} variables, {self.n_rows:,} rows, {pairs} by {self.rule.statistic}, "
            f"{kept}{partial}>"
        )

    def __str__(self) -> str:
        u, v, evidence = self.ranked(SHOWN)
        strongest = [
            f"  {self.names[a]} - {self.names[b]}: {e:.6g}"
            for a, b, e in zip(u.tolist(), v.tolist(), evidence.tolist(), strict=True)
        ]
        return "\n".join([repr(self)[1:-1], *strongest])


def _screened(header: Mapping[str, Any], arrays: memoryview) -> Screened:
    """Return the screen of a file; raise ValueError unless its parts fit together."""
    names, entries, n_rows, least = (header[key] for key in ("names", "entries", "n_rows", "least"))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("the names are not a list of different strings")
    if not all(type(number) is int and number >= 0 for number in (entries, n_rows)) or not 0.0 <= least < inf:
        raise ValueError("a number of the header is out of its range")
    n = len(names)
    sizes = [8 * (n + 1), 4 * entries, 4 * entries]
    if len(arrays) != sum(sizes) or not isinstance(header["complete"], bool):
        raise ValueError("the header does not fit the arrays")
    starts = np.frombuffer(arrays[: sizes[0]], dtype="<i8").astype(np.int64)
    partners = np.frombuffer(arrays[sizes[0] : sizes[0] + sizes[1]], dtype="<i4").astype(np.int32)
    evidence = np.frombuffer(arrays[sizes[0] + sizes[1] :], dtype="<f4").astype(np.float32)
    listed = StrongestPartners(n, starts, partners, evidence, complete=header["complete"])
    listed.check()
    return Screened(tuple(names), listed, ScreenRule(**header["rule"]), n_rows, float(least))


class BlanketMember(NamedTuple):
    """One variable and its support as a member of the blanket, on the scale of the result; None if it is not known.

    The probability is known for the method sep.
    """

    name: str
    support: float | None
    probability: float | None = None


@dataclass(frozen=True, repr=False)
class Blanket:
    """The Markov blanket of a target: given its members, the target is independent of all other variables.

    Attributes
    ----------
    target
        The variable.
    members
        The members of the blanket, the best supported first.
    others
        Variables that were weighed against the members and are less likely than not to be one, the most likely first;
        empty for methods by tests.
    method
        Name of the method.
    n_variables, n_rows
        Size of the data; the target and repeats included.
    support_scale
        "log_odds" (larger is stronger) or "log_independence" (smaller is stronger).
    converged
        Whether the search ended by itself, not by a cancel.
    cost, settings
        Counts of scans and tests, and seconds; settings that repeat the run.
    frame
        Library of the data frame that the data came in, if any.
    """

    target: str
    members: tuple[BlanketMember, ...]
    method: str
    n_variables: int
    n_rows: int
    support_scale: str
    others: tuple[BlanketMember, ...] = ()
    converged: bool = True
    cost: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    frame: Frame | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members, the best supported first."""
        return tuple(member.name for member in self.members)

    @property
    def test(self) -> str | None:
        """The test with its level and rule for degrees of freedom, in words; None for the method sep."""
        return words_of_test(self.settings)

    def table(self, frame: Frame | None = None) -> Any:
        """Return the members and the others as a data frame or an Arrow table, the best supported first.

        Parameters
        ----------
        frame
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default as for `Learned.edges`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``name``, ``member``, ``support``, and ``probability`` for the method sep.

        Raises
        ------
        MissingDependencyError
            If that library is not installed.
        """
        listed = [*self.members, *self.others]
        columns: dict[str, tuple[str, list[Any]]] = {
            "name": ("string", [one.name for one in listed]),
            "member": ("bool", [True] * len(self.members) + [False] * len(self.others)),
            "support": ("double", [one.support for one in listed]),
        }
        if self.support_scale == "log_odds":
            columns["probability"] = ("double", [one.probability for one in listed])
        return frame_of(columns, self.frame if frame is None else frame)

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn blanket --json` prints."""
        return {
            "target": self.target,
            "method": self.method,
            "variables": self.n_variables,
            "rows": self.n_rows,
            "members": [member._asdict() for member in self.members],
            "others": [other._asdict() for other in self.others],
            "support_scale": self.support_scale,
            "converged": self.converged,
            "cost": dict(self.cost),
            "settings": dict(self.settings),
        }

    def headline(self) -> str:
        """Return one line: the target, the size of the blanket and of the data, and the method."""
        n = len(self.members)
        by = self.method if self.test is None else f"{self.method} with {self.test}"
        return (
            f"blanket of {printable(self.target)}: {n} of {self.n_variables - 1:,} variables, by {by} from "
            f"{self.n_rows:,} rows{words_of_transform(self.settings)}"
            f"{'' if self.converged else '; stopped before its end'}"
        )

    def __str__(self) -> str:
        """Return the headline and a table of the members."""
        rows = [_cells(member) for member in self.members]
        if not rows:
            return self.headline()
        rows.insert(0, self._headings())
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}".rstrip() for row in rows]
        return "\n".join([self.headline(), *lines])

    def __repr__(self) -> str:
        return f"<Blanket of {self.target!r}: {', '.join(map(repr, self.names)) or 'empty'}, by {self.method}>"

    def _repr_html_(self) -> str:
        """Return the headline and the members as HTML for a notebook."""
        cells = [_cells(member) for member in self.members]
        head, rows = _row("th", self._headings()), "".join(_row("td", row) for row in cells)
        table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>" if cells else ""
        return f"<div><p>{escape(self.headline())}</p>{table}</div>"

    def _headings(self) -> tuple[str, str, str]:
        return "member", SUPPORT_TITLES[self.support_scale], "probability" if self.support_scale == "log_odds" else ""


def _cells(member: BlanketMember) -> tuple[str, str, str]:
    """Return one row of the table as text."""
    support = "" if member.support is None else f"{member.support:.4g}"
    return printable(member.name), support, "" if member.probability is None else f"{member.probability:.3f}"


def _row(tag: str, cells: Sequence[str]) -> str:
    """Return one row of an HTML table."""
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
