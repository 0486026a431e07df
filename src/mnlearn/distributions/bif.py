"""Reader of BIF files, the interchange format of Bayesian networks.

    network n { }
    variable x { type discrete [ 2 ] { yes, no }; }
    probability ( x | y ) { (low) 0.2, 0.8; (high) 0.7, 0.3; }

A file is a sequence of statements that end with `{`, `}` or `;`. Words are separated by white space and commas; a word
in double quotes may hold any character of one line. `property` statements are skipped.

pyAgrum reads such files in single precision, so that probabilities differ from those written in the eighth digit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import NoReturn

import numpy as np

from mnlearn.distributions.bayesian import BayesianNetwork
from mnlearn.errors import FileError, InputError, check_file, read_bytes, unknown_name, unreadable
from mnlearn.protocols import FloatArray

_MOST_BYTES = 64 << 20
_FREE_CELLS = 1_000_000  # of all tables, beyond ten for each number of the file

# All repetitions are possessive, so that no text is looked at twice.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"
_BLANK = re.compile(rf"(?:\s++|{_COMMENT})*+")
_CONTENT = re.compile(rf'(?:[^"/{{}};]++|"[^"\n]*+"|{_COMMENT}|/(?!\*))*+')
_PROPERTY = re.compile(rf'(?:\s++|{_COMMENT})*+property(?=[\s"])(?:[^;"]++|"[^"\n]*+"|")*+;')
_WORD = re.compile(rf'(?:[^\s,()\[\]|"/]++|/(?![/*]))++|[()\[\]|]|"[^"\n]*"|{_COMMENT}')
_NUMBERS = re.compile(r"[0-9.eE+\- ]*+")


def read_bif(path: str | PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from a BIF file, compressed by gzip or not.

    Parameters
    ----------
    path
        The file; a name that ends in ``.gz`` is decompressed.

    Returns
    -------
    BayesianNetwork
        Variables, states and parents in the order of the file; tables normalised.

    Raises
    ------
    FileError
        If there is no such file, it is cut off or not BIF, or a table is missing or does not sum to 1.

    Notes
    -----
    A distribution belongs to one configuration of the parents: ``(yes, low) 0.2, 0.8;``, where ``*`` stands for every
    state of a parent. ``default`` gives the distribution of all others. ``table`` lists the whole table, the last
    parent fastest and the variable itself slowest. A row with ``*`` may be followed by rows for some of its
    configurations.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "coin.bif")
    ...     _ = file.write_text(
    ...         "network coin { } variable c { type discrete [2] { h, t }; } probability ( c ) { table 0.5, 0.5; }"
    ...     )
    ...     read_bif(file)
    <BayesianNetwork: 1 variables, 0 arcs, 1 parameters>
    """
    file = check_file("path", path)
    blocks = _Blocks(_Statements(file, _text(file)))
    blocks.read()
    try:
        return blocks.network()
    except InputError as error:
        raise FileError(f"path must hold a complete network; {file}: {error}") from None


def _text(file: Path) -> str:
    """Return the content of the file as a string."""
    content = read_bytes("path", file)
    try:
        if file.suffix.lower() == ".gz":
            content = gzip.GzipFile(fileobj=BytesIO(content)).read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise FileError(
                f"path must hold at most {_MOST_BYTES >> 20} MB of text; {file} has more. Is it a BIF file?"
            )
        return content.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"path must be a sound gzip file; {file}: {error}. Fetch it again.") from error
    except MemoryError as error:
        raise unreadable("path", file, error) from error
    except UnicodeDecodeError as error:
        raise FileError(f"path must be text in UTF-8; {file}: {error}. Is it a BIF file?") from error


class _Statements:
    """Splits a file into statements: words, and the mark that ends them."""

    def __init__(self, file: Path, text: str) -> None:
        self._file, self._text = file, text
        self._start = self._end = 0  # of the last statement
        self._with_properties = "property" in text

    def next(self) -> tuple[list[str], str]:
        """Return the words of the next statement and its mark, one of `{`, `}` and `;`."""
        self._start = self._end
        end = _end_of(_CONTENT, self._text, self._start)
        mark = self._text[end : end + 1]
        if mark not in ("{", "}", ";"):
            self._start = end
            self._refuse_end(mark)
        self._end = end + 1
        return _words(self._text[self._start : end]), mark

    def next_in_block(self) -> tuple[list[str], str]:
        """Skip statements that say nothing, then return the next."""
        while True:
            while self._with_properties and (found := _PROPERTY.match(self._text, self._end)):
                self._end = found.end()
            words, mark = self.next()
            if words or mark != ";":
                return words, mark

    def at_end(self) -> bool:
        """Return whether nothing but comments follows."""
        return _end_of(_BLANK, self._text, self._end) == len(self._text)

    def _refuse_end(self, mark: str) -> NoReturn:
        """Raise FileError for a statement without an end."""
        if mark:
            kind = "quotation mark" if mark == '"' else "comment"
            self.refuse(f"a {kind} is not closed. Close it")
        self.refuse("the file ends inside a block. Is it cut off?")

    def refuse(self, problem: str) -> NoReturn:
        """Raise FileError with the line of the last statement."""
        line = self._text.count("\n", 0, _end_of(_BLANK, self._text, self._start)) + 1
        end = "" if problem.endswith("?") else "."
        raise FileError(f"path must hold a complete network in BIF; {self._file}, line {line}: {problem}{end}")


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return the end of what the pattern matches from here."""
    found = pattern.match(text, start)
    return start if found is None else found.end()


def _words(content: str) -> list[str]:
    """Return the words of a statement, among them brackets and bars."""
    if '"' in content or "/" in content:
        return [word for word in _WORD.findall(content) if not word.startswith(("//", "/*"))]
    for mark in "()[]|":  # ten times as fast as the pattern
        if mark in content:
            content = content.replace(mark, f" {mark} ")
    return content.replace(",", " ").split()


@dataclass
class _Variable:
    """A declared variable, and its distributions once they are read."""

    name: str
    states: dict[str, int]  # their codes
    parents: list[int] | None = None
    table: FloatArray | None = None


@dataclass
class _Rows:
    """Distributions of one variable by configuration of its parents, the last parent fastest."""

    card: int
    parent_states: Sequence[dict[str, int]]
    found: dict[int, list[float]] = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)  # configurations of rows without `*`
    default: list[float] | None = None

    @property
    def n_configurations(self) -> int:
        return prod(map(len, self.parent_states))


class _Blocks:
    """Reads the blocks of a file and collects their variables."""

    def __init__(self, statements: _Statements) -> None:
        self._statements = statements
        self._variables: list[_Variable] = []
        self._places: dict[str, int] = {}
        self._given = self._filled = 0  # numbers in the file, and cells of tables that have none

    def read(self) -> None:
        """Read all blocks."""
        readers = {"variable": self._read_variable, "probability": self._read_probability}
        words, mark = self._statements.next_in_block()
        if words[:1] != ["network"] or mark != "{":
            self._refuse("the file must begin with a block 'network NAME { }'. Is it a BIF file?")
        self._skip_to_end("network")
        while not self._statements.at_end():
            words, mark = self._statements.next()
            if not words and mark == ";":
                continue
            if not words or mark != "{" or words[0] not in readers:
                self._refuse(f"a block must begin here, with 'variable' or 'probability'; got {_shown(words, mark)}")
            readers[words[0]](words[1:])

    def network(self) -> BayesianNetwork:
        """Return the network; raise InputError if it is incomplete."""
        for one in self._variables:
            if one.table is None:
                raise InputError(f"every variable must have a probability block; {one.name!r} has none. Add it.")
        return BayesianNetwork(
            names=tuple(one.name for one in self._variables),
            states=tuple(tuple(one.states) for one in self._variables),
            parents=tuple(tuple(one.parents or ()) for one in self._variables),
            tables=tuple(one.table for one in self._variables if one.table is not None),
        )

    def _refuse(self, problem: str) -> NoReturn:
        self._statements.refuse(problem)

    def _skip_to_end(self, kind: str) -> None:
        """Read the end of a block, after properties only."""
        words, mark = self._statements.next_in_block()
        if words or mark != "}":
            self._refuse(f"'}}' must end the {kind} block here; got {_shown(words, mark)}")

    def _read_variable(self, words: Sequence[str]) -> None:
        """Read `variable NAME { type discrete [ 2 ] { yes, no }; }`."""
        if len(words) != 1:
            self._refuse(f"a variable must have one name; got {_shown(words)}. Put a name with blanks in quotes")
        name = _plain(words[0])
        if name in self._places:
            self._refuse(f"every variable must be declared once; {name!r} is declared again. Rename one of them")
        words, mark = self._statements.next_in_block()
        if words[:2] != ["type", "discrete"] or mark != "{":
            self._refuse(f"variable {name!r} needs 'type discrete [ NUMBER ] {{ STATES }};'; got {_shown(words, mark)}")
        states, mark = self._statements.next()
        labels = [_plain(word) for word in states]
        if mark != "}" or not labels or any(word in ("(", ")", "[", "]", "|") for word in states):
            self._refuse(f"the states of {name!r} must be words, at least one; got {_shown(states, mark)}")
        if words[2:] not in ([], ["[", str(len(labels)), "]"]):
            self._refuse(f"variable {name!r} must list the number of states that it announces; got {len(labels)}")
        codes = {label: code for code, label in enumerate(labels)}
        if len(codes) < len(labels):
            self._refuse(f"the states of {name!r} must differ; got {_shown(states)}. Rename one of them")
        self._skip_to_end("variable")
        self._places[name] = len(self._variables)
        self._variables.append(_Variable(name, codes))

    def _read_probability(self, words: Sequence[str]) -> None:
        """Read `probability ( x | y ) { ... }`."""
        if len(words) < 3 or (words[0], words[-1]) != ("(", ")"):
            self._refuse(f"a probability block must begin with '( NAME | PARENTS )'; got {_shown(words)}")
        x, *parents = [self._place(_plain(word)) for word in words[1:-1] if word != "|"] or [-1]
        if x < 0 or len({x, *parents}) <= len(parents):
            self._refuse(f"the variable and its parents must differ; got {_shown(words)}. Correct the names")
        variable = self._variables[x]
        if variable.table is not None:
            self._refuse(f"every variable must have one probability block; {variable.name!r} has another. Remove one")
        rows = _Rows(len(variable.states), [self._variables[y].states for y in parents])
        while True:
            words, mark = self._statements.next_in_block()
            if not words and mark == "}":
                break
            if mark != ";":
                self._refuse(f"';' must end a row of the table of {variable.name!r}; got {_shown(words, mark)}")
            self._read_row(variable.name, rows, words)
        variable.parents = parents
        shape = (*(len(states) for states in rows.parent_states), rows.card)
        variable.table = self._table(variable.name, rows).reshape(shape)

    def _place(self, name: str) -> int:
        """Return the index of a variable that is declared above."""
        if name not in self._places:
            known = unknown_name("variable", name, self._places)
            self._refuse(f"a name must be declared above by 'variable'. {str(known).removesuffix('.')}")
        return self._places[name]

    def _read_row(self, name: str, rows: _Rows, words: Sequence[str]) -> None:
        """Read `(yes, low) 0.2, 0.8`, `table 0.2, 0.8` or `default 0.2, 0.8`."""
        if words[0] == "(" and ")" in words:
            close = words.index(")")
            given = self._numbers(name, words[close + 1 :], rows.card)
            self._add(name, rows, words[1:close], given)
        elif words[0] == "table":
            count = rows.n_configurations
            given = self._numbers(name, words[1:], rows.card * count)
            for configuration in range(count):
                self._add_one(name, rows, configuration, given[configuration::count])
        elif words[0] == "default" and rows.default is None:
            rows.default = self._numbers(name, words[1:], rows.card)
        else:
            self._refuse(
                f"the table of {name!r} must have rows '(STATES) NUMBERS;', 'table NUMBERS;' or one "
                f"'default NUMBERS;'; got {_shown(words)}"
            )

    def _numbers(self, name: str, words: Sequence[str], count: int) -> list[float]:
        """Return the numbers of a row."""
        if len(words) != count:
            self._refuse(f"this row of {name!r} must have {count:,} numbers; got {len(words):,}. Correct the row")
        try:
            numbers = list(map(float, words)) if _NUMBERS.fullmatch(" ".join(words)) else []  # float() also takes nan
        except ValueError:
            numbers = []
        if len(numbers) < count:
            self._refuse(f"this row of {name!r} must hold numbers such as 0.25 or 1e-3; got {_shown(words)}")
        self._given += count
        return numbers

    def _add(self, name: str, rows: _Rows, words: Sequence[str], given: list[float]) -> None:
        """Add the distribution of a row with states."""
        if len(words) != len(rows.parent_states):
            self._refuse(
                f"this row of {name!r} must have one state for each of {len(rows.parent_states)} parents; got "
                f"{_shown(words)}. Put a state with blanks in quotes"
            )
        first, steps, width = 0, [], 1
        for word, states in zip(reversed(words), reversed(rows.parent_states), strict=True):
            label = _plain(word)
            if label in states:
                first += width * states[label]
            elif word == "*":
                steps.append(range(0, width * len(states), width))
            else:
                self._refuse(str(unknown_name("state", label, states)).removesuffix("."))
            width *= len(states)
        if not steps:
            self._add_one(name, rows, first, given)
            return
        self._fill((prod(map(len, steps)) - 1) * rows.card)
        rows.found.update((first + sum(step), given) for step in product(*steps))

    def _add_one(self, name: str, rows: _Rows, configuration: int, given: list[float]) -> None:
        """Add the distribution of one configuration."""
        if configuration in rows.exact:
            self._refuse(f"the table of {name!r} must have one row for each configuration; got two. Remove one")
        rows.exact.add(configuration)
        rows.found[configuration] = given

    def _fill(self, n_cells: int) -> None:
        """Count cells that get a number from a row of others; raise FileError if they are too many."""
        self._filled += n_cells
        if self._filled > _FREE_CELLS + 10 * self._given:
            self._refuse(
                f"the file must hold the numbers of its tables; it has {self._given:,} up to here for "
                f"{self._given + self._filled:,} cells. Give some variables fewer parents, or all numbers"
            )

    def _table(self, name: str, rows: _Rows) -> FloatArray:
        """Return the table, one row for each configuration."""
        absent = rows.n_configurations - len(rows.found)
        if absent and rows.default is None:
            self._refuse(f"the table of {name!r} must have a row for {self._first_absent(rows)}. Add it, or a default")
        self._fill(absent * rows.card)
        if not absent:
            return np.array([rows.found[configuration] for configuration in range(rows.n_configurations)])
        table = np.empty((rows.n_configurations, rows.card))
        table[:] = rows.default
        if rows.found:
            table[list(rows.found)] = list(rows.found.values())
        return table

    def _first_absent(self, rows: _Rows) -> str:
        """Return the states of the first configuration without a row, as a row names them."""
        configuration = next(k for k in range(len(rows.found) + 1) if k not in rows.found)
        labels: list[str] = []
        for states in reversed(rows.parent_states):
            configuration, code = divmod(configuration, len(states))
            labels.insert(0, list(states)[code])
        return f"({', '.join(labels)})" if labels else "its only distribution"


def _plain(word: str) -> str:
    """Return a word without its quotes."""
    return word[1:-1] if word.startswith('"') else word


def _shown(words: Sequence[str], mark: str = "") -> str:
    """Return the start of a statement for a message."""
    listed = [*words[:8], *(["..."] if len(words) > 8 else []), *([mark] if mark else [])]
    return repr(" ".join(listed))[:160] if listed else "nothing"
