"""Lists of edges as data frames: of the kind that the data came in, or of the first kind that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from mnlearn.errors import MissingDependencyError, check_name

Frame: TypeAlias = Literal["pandas", "polars", "pyarrow"]


class LearnedEdge(NamedTuple):
    """One pair by name, with its support on the scale of the result.

    The probability is known where a method stands for one: separator evidence, and averages over all graphs. The
    log-odds of other scores rank the edges; most are far too sure of themselves to be turned into probabilities.
    The frequency is known once rows were resampled: in which share of the samples the pair was an edge.
    """

    u: str
    v: str
    support: float | None
    probability: float | None = None
    frequency: float | None = None


def kind_of_frame(data: object) -> Frame | None:
    """Which library the data are a frame of; None for files, dicts, arrays and other frames."""
    package = type(data).__module__.partition(".")[0]
    return next((kind for kind in get_args(Frame) if kind == package), None)


def edge_frame(
    edges: Sequence[LearnedEdge], kind: Frame | None, *, always: Sequence[str] = (), **more: Sequence[bool]
) -> Any:
    """A column each for the ends and the support, and for what else is known of any edge.

    An edge without support has a missing value there. The numbers in `always` have their columns in any case, so that
    code which reads them also works for a network without edges.
    """
    columns: dict[str, tuple[str, list[Any]]] = {
        "u": ("string", [edge.u for edge in edges]),
        "v": ("string", [edge.v for edge in edges]),
        "support": ("double", [edge.support for edge in edges]),
    }
    for name in ("probability", "frequency"):
        values = [getattr(edge, name) for edge in edges]
        if name in always or any(value is not None for value in values):
            columns[name] = ("double", values)
    columns |= {name: ("bool", list(values)) for name, values in more.items()}
    return frame_of(columns, kind)


def frame_of(columns: Mapping[str, tuple[str, list[Any]]], kind: Frame | None) -> Any:
    """The columns, each with its type (string, double or bool) and values, as a frame of this kind."""
    chosen = _first_installed() if kind is None else kind
    return _made(columns, chosen)


def _made(columns: Mapping[str, tuple[str, list[Any]]], kind: str) -> Any:
    """The same with the kind settled."""
    check_name("kind of data frame", kind, get_args(Frame))
    try:
        module = import_module(kind)
    except ImportError as error:
        raise MissingDependencyError(
            f"{kind} is needed for such a data frame and is not installed. Install it (pip install {kind}), or ask for "
            "another kind."
        ) from error
    if kind == "pandas":
        types = {"string": "object", "double": "float64", "bool": "bool"}
        return module.DataFrame({n: module.Series(v, dtype=types[t]) for n, (t, v) in columns.items()})
    if kind == "polars":
        types = {"string": module.String, "double": module.Float64, "bool": module.Boolean}
        return module.DataFrame([module.Series(n, v, dtype=types[t]) for n, (t, v) in columns.items()])
    kinds = {"string": module.string(), "double": module.float64(), "bool": module.bool_()}
    return module.table({n: module.array(v, type=kinds[t]) for n, (t, v) in columns.items()})


def _first_installed() -> str:
    """pandas, else polars, else pyarrow, which always is."""
    return next((kind for kind in ("pandas", "polars") if find_spec(kind) is not None), "pyarrow")
