"""The Markov blanket of one variable, as `mnlearn.blanket` returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from mnlearn.results.edges import SUPPORT_TITLES, Frame, frame_of, printable
from mnlearn.results.explain import words_of_test, words_of_transform


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
