"""Bayesian networks from BIF files, the interchange format of network repositories. pyAgrum parses them.

pyAgrum's grammar of a word is narrower than the files in use (a state may be called `<5` or `Asy/Patch`), its
numbers are single precision, and it reports a table that is not there as a table of zeros. So words are
replaced by plain ones before and put back after, decimals are restored, and every table is checked.
"""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import FileError, InputError, require
from mnlearn.simulate.bayesian_network import BayesianNetwork

_WORD = re.compile(r"[^\s{}()\[\],;|\"]+")
_PROPERTY = re.compile(r"\bproperty\b[^;]*;")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?|//.*|/\*.*|.*\*/", re.DOTALL)


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
    MissingDependencyError
        If pyAgrum is not installed (``pip install 'mnlearn[inference]'``).

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
    file = Path(path)
    text, original = _plain_words(_text(file))
    parsed = _parse(_pyagrum(), text, file, original)
    try:
        return _network(parsed, original)
    except InputError as error:
        raise FileError(f"path must hold a complete network; {file}: {error}") from None


def _text(file: Path) -> str:
    """What the file says."""
    try:
        content = file.read_bytes()
        if file.suffix.lower() == ".gz":
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"path must be a sound gzip file; {file}: {error}. Fetch it again.") from error
    except OSError as error:
        raise FileError(f"path must be a file that can be read; {file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"path must be text in UTF-8; {file}: {error}. Is it a BIF file?") from error


def _plain_words(text: str) -> tuple[str, dict[str, str]]:
    """The text with a plain word for every unusual one, and what each stands for; properties say nothing of use."""
    stand_ins: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        word = match.group()
        return word if _PLAIN.fullmatch(word) else stand_ins.setdefault(word, f"mnlearn_word_{len(stand_ins)}")

    return _WORD.sub(plain, _PROPERTY.sub("", text)), stand_ins


def _pyagrum() -> ModuleType:
    """The parser. Its import warns of types that SWIG made; where warnings are errors, that ends the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return require("pyagrum", "inference")


def _parse(pyagrum: ModuleType, text: str, file: Path, stand_ins: dict[str, str]) -> Any:
    """pyAgrum's network of the text; its complaint with the words and the name of the file."""
    with TemporaryDirectory() as folder:
        plain = Path(folder, "network.bif")
        plain.write_text(text, encoding="utf-8")
        try:
            return pyagrum.loadBN(str(plain))
        except pyagrum.GumException as error:
            lines = [line.split(f"{plain}:")[-1] for line in str(error).splitlines() if f"{plain}:" in line]
            said = next((line for line in lines if " error " in line), str(error))
    for word, stand_in in reversed(stand_ins.items()):  # word_12 before word_1
        said = said.replace(stand_in, word)
    raise FileError(f"path must hold a complete network in BIF; {file}, line {said.strip()}. Is the file cut off?")


def _network(parsed: Any, stand_ins: dict[str, str]) -> BayesianNetwork:
    """Our record of pyAgrum's network."""
    original = {stand_in: word for word, stand_in in stand_ins.items()}
    variables = [parsed.variable(x) for x in sorted(parsed.nodes())]
    tables = [parsed.cpt(x) for x in sorted(parsed.nodes())]
    place = {variable.name(): x for x, variable in enumerate(variables)}
    return BayesianNetwork(
        names=tuple(original.get(name, name) for name in place),
        states=tuple(tuple(original.get(label, label) for label in v.labels()) for v in variables),
        parents=tuple(tuple(place[name] for name in table.names[1:]) for table in tables),
        tables=tuple(_decimals(_parents_in_order(table.toarray())) for table in tables),
    )


def _parents_in_order(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """pyAgrum's axes are the last parent first, the variable last."""
    return table.transpose(*reversed(range(table.ndim - 1)), table.ndim - 1)


def _decimals(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """What was written: the shortest decimal of each number in single precision, so 0.01 and not 0.0099999998."""
    single = table.astype(np.float32)
    return np.where(single == table, single.astype(np.str_).astype(np.float64), table)
