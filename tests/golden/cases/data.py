"""Reading, discretizing, packing and writing tables."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of
from golden.records import contents, learned
from golden.tables import numbers, states, survey
from mnlearn.data import write_data

case = cases_of(__name__)

TEXT = "a;b;c;n\n1;red;0.5;2\n2;;1.5;1\n1;blue;?;3\n3;red;-2.25;1\n2;blue;4e-3;1\n1;red;7;2\n"
MISSING: dict[str, Any] = {
    "error": {"columns": ["a", "n"]},
    "drop rows": {"missing": "drop_rows", "missing_values": ["?"]},
    "category": {"missing": "category", "missing_values": ["?"], "columns": ["a", "b"]},
    "repeats": {"missing": "drop_rows", "missing_values": ["?"], "repeats": "n"},
    "types": {"missing": "drop_rows", "missing_values": ["?"], "types": {"a": "continuous"}},
    "levels": {"columns": ["a", "n"], "levels": {"a": [3, 2, 1, 0]}},
}


@case("read text")
def read_text() -> object:
    """Read a small file with every policy for missing values."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text(TEXT, encoding="utf-8")
        return {name: contents(mn.read(path, delimiter=";", **options)) for name, options in MISSING.items()}


@case("read objects")
def read_objects() -> object:
    """Read columns, codes, and columns with missing values."""
    columns = {"x": ["u", None, "v", "u"], "y": [1, 2, 2, 1], "t": [True, False, True, True]}
    return {
        "drop rows": contents(mn.read(columns, missing="drop_rows")),
        "category": contents(mn.read(columns, missing="category")),
        "survey": contents(mn.read(survey())),
        "selected": contents(mn.read(survey()).select(["stress", "fatigue"])),
        "compact": contents(mn.read(survey()).select(["stress", "fatigue"]).compact()),
        "sample": contents(mn.read(survey()).sample(50, seed=3)),
        "fingerprint": mn.read(survey()).fingerprint(),
        "overview": mn.overview(columns).as_dict(),
    }


@case("discretize")
def discretized() -> object:
    """Discretize continuous variables in every way."""
    return {
        "width": contents(mn.discretize(numbers(), method="width", bins=4)),
        "frequency": contents(mn.discretize(numbers(), method="frequency", bins=3)),
        "cuts": contents(mn.discretize(numbers(), cuts={"c0": [-1.0, 0.0, 1.0]}, columns=["c0"])),
        "default": contents(mn.discretize(numbers())),
    }


@case("file pack")
def packed_files() -> object:
    """Pack rows, append to a pack, and read both back."""
    with TemporaryDirectory() as folder:
        path, more = Path(folder) / "rows.mnpack", Path(folder) / "more.mnpack"
        mn.pack(states(), path)
        mn.pack(survey(), more)
        before = more.read_bytes()
        mn.pack(survey(), more, append=True)
        return {
            "bytes": path.read_bytes(),
            "before": before,
            "after": more.read_bytes(),
            "read": contents(mn.read(path)),
            "learned": learned(mn.learn(path, "mpl", n_jobs=1)),
            "appended": mn.read(more).n_rows,
        }


@case("file data")
def data_files() -> object:
    """Write data as text and read it back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(states(), path)
        return {"text": path.read_bytes(), "read": contents(mn.read(path))}
