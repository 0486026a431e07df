"""Reading, discretizing, packing and writing tables."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import mnlearn as mn
from golden.engine import cases_of, encode, jobs
from golden.records import contents, learned
from golden.tables import columns_of, declared, numbers, states, survey
from mnlearn.data import Dataset, effective_rows, normal_scores, write_data

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
    """Pack rows, add some to those of a pack, and read both back."""
    with TemporaryDirectory() as folder:
        path, old, more = (Path(folder) / f"{name}.mnpack" for name in ("rows", "old", "more"))
        mn.pack(states(), path)
        mn.pack(survey(), old)
        mn.pack([old, survey()], more)
        return {
            "bytes": path.read_bytes(),
            "before": old.read_bytes(),
            "after": more.read_bytes(),
            "read": contents(mn.read(path)),
            "learned": learned(mn.learn(path, "mpl", n_jobs=jobs())),
            "appended": mn.read(more).n_rows,
        }


@case("file data")
def data_files() -> object:
    """Write data as text and read it back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(states(), path)
        return {"text": path.read_bytes(), "read": contents(mn.read(path))}


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------


def described(data: Dataset) -> dict[str, object]:
    """Return what a table means: kinds, levels, values where they are observed, weights of rows."""
    observed = [data.observed(name) for name in data.names]
    return {
        "names": data.names,
        "kinds": data.kinds,
        "cards": data.cards,
        "levels": data.levels,
        "columns": [
            column if known is None else np.where(known, column, 0)
            for column, known in zip(data.columns, observed, strict=True)
        ],
        "observed": observed,
        "repeats": data.repeats,
        "n_rows": data.n_rows,
    }


for _data in ("clinic", "answers", "ratings", "events", "sizes"):
    for _rows in ("gaps", "weights", "repeats"):
        case(f"read {_data} {_rows}", f"{_data} {_rows}")(lambda name: described(declared(name)))


@case("read declared text")
def read_declared_text() -> object:
    """Read rows of every kind from a text file, with levels in an order of their own and states that no row has."""
    rows, options = columns_of("clinic")
    levels = {**options["levels"], "ward": ["west", "south", "north", "east"]}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        cells = [["?" if value == "mild" else str(value) for value in column] for column in rows.values()]
        lines = [",".join(rows), *map(",".join, zip(*cells, strict=True))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        how: dict[str, Any] = {"types": options["types"], "levels": levels, "missing_values": ["?"]}
        return {
            "testwise": described(mn.read(path, **how, missing="testwise")),
            "drop rows": described(mn.read(path, **how, missing="drop_rows")),
            "some": described(mn.read(path, **how, missing="testwise", columns=["dose", "ward", "pain"])),
            "rest": described(mn.read(path, **how, missing="testwise", drop=["dose", "falls"])),
        }


@case("read declared frames")
def read_declared_frames() -> object:
    """Read the same columns as a dictionary, as an Arrow table and as records: all are equal."""
    rows, options = columns_of("clinic")
    records = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    found = [described(mn.read(source, **options)) for source in (rows, pa.table(rows), records)]
    return {"first": found[0], "equal": [encode(other) == encode(found[0]) for other in found[1:]]}


@case("read parts with gaps")
def read_parts() -> object:
    """Select columns, sample rows and drop unused states of tables with gaps and weights."""
    gaps, weights = declared("clinic gaps"), declared("answers weights")
    return {
        "selected": described(gaps.select(["pain", "dose", "ward"])),
        "sample": described(gaps.sample(40, seed=2)),
        "sample of repeats": described(declared("answers repeats").sample(40, seed=2)),
        "compact": described(weights.compact()),
        "effective": described(effective_rows(weights)),
        "scores": {name: gaps.level_scores(name) for name in ("pain", "mood")},
    }


@case("read gaps in numbers", close=True)
def read_gaps() -> object:
    """Count gaps and test whether they depend on other variables."""
    return {name: mn.missingness(declared(f"{name} gaps")) for name in ("clinic", "answers")}


@case("normal scores", close=True)
def normal_scores_of_rows() -> object:
    """Replace numbers by the normal scores of their ranks, with gaps and with weights."""
    found = {name: normal_scores(declared(name)) for name in ("sizes gaps", "sizes repeats")}
    return {name: [column[:20] for column in data.columns] for name, data in found.items()}


@case("discretize gaps")
def discretize_gaps() -> object:
    """Discretize the numbers of a table that also has other kinds, and gaps."""
    how: dict[str, Any] = {"columns": ["dose", "pressure"], "bins": 3}
    found = mn.discretize(declared("clinic gaps"), method="frequency", **how)
    return {**described(found), "cuts": found.cuts}


@case("file pack declared")
def packed_declared() -> object:
    """Pack tables of every kind with gaps, weights and repeats, and read them back."""
    found = {}
    with TemporaryDirectory() as folder:
        for name in ("clinic gaps", "answers repeats", "sizes gaps"):
            path = Path(folder) / f"{name}.mnpack"
            mn.pack(declared(name), path)
            found[name] = described(mn.read(path))
    return found
