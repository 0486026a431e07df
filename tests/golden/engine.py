"""Golden cases: results of the public interface that must keep their bits.

Every case is a function without arguments, in the module of `cases` that is named after a package of mnlearn.
`results/PACKAGE.json` holds what each of them returned when the file was written.
Integers, strings and graphs are compared exactly. Floats are compared bit for bit, arrays by their SHA-256.
What comes from a regression may differ by 1e-9, relative, and absolute near 0: the columns and fields of `CLOSE_FIELDS`
in every case, and all floats of a case marked `close`, which holds a fitted model, or numbers of LAPACK or of a solver
of another library. The name of a file that holds a digest of such numbers is compared without the digest.
Times, versions, digests and prose are not part of a result.

Cases hold the fields that `records.py` names, so that a new one changes no case but "columns of every output".

Write results again after a deliberate change (from the root of the repository, package importable), all of them or
those of the packages and cases that are named:

    PYTHONPATH=tests python -m golden --write [PACKAGE or CASE ...]
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

import mnlearn as mn

RESULTS = Path(__file__).with_name("results")
UNSTABLE = frozenset({"seconds", "learn_seconds", "sample_seconds", "fitness_seconds", "written_by", "digest"})
PROSE = frozenset({"choice", "notes"})
CLOSE = 1e-9
CLOSE_FIELDS = frozenset(
    {"weight", "weights", "strengths", "centrality", "centralities", "predictability", "intervals", "stability"}
    | {"statistics"}  # of the weights of groups
)


class Case(NamedTuple):
    """One golden case: its package, how to compute the result, and how exactly its floats repeat."""

    package: str
    compute: Callable[[], object]
    close: bool = False


CASES: dict[str, Case] = {}
Compute = TypeVar("Compute", bound=Callable[..., object])


class Cases(NamedTuple):
    """The cases of one package."""

    package: str

    def __call__(
        self, name: str, *arguments: object, close: bool = False, **settings: object
    ) -> Callable[[Compute], Compute]:
        """Register a function, with arguments, as a golden case."""

        def register(function: Compute) -> Compute:
            if name in CASES:
                raise ValueError(f"two cases named {name}")
            CASES[name] = Case(self.package, partial(function, *arguments, **settings), close)
            return function

        return register


def cases_of(module: str) -> Cases:
    """Return the cases of the package that a module is named after."""
    return Cases(module.rpartition(".")[2])


# --- Encoding -------------------------------------------------------------------------------------------------------


def encode(value: Any, *, close: bool = False) -> Any:
    """Return a result as JSON values: floats in hexadecimal, arrays as a digest or, if close, as numbers."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": sha256(value).hexdigest()}
    if isinstance(value, np.ndarray):
        return _array(value, close=close)
    plain = _plain(value)
    if isinstance(plain, Mapping):
        kept = {_key(key): item for key, item in plain.items() if key not in _left_out(plain)}
        return {key: encode(item, close=close or key in CLOSE_FIELDS) for key, item in sorted(kept.items())}
    return [encode(item, close=close) for item in plain] if isinstance(plain, list) else encode(plain, close=close)


def _plain(value: Any) -> Any:
    """Return a NumPy number as a number, a record or graph as a mapping, and any other collection as a list."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, mn.Graph):
        return {"n": value.n_variables, "edges": value.edges}
    if hasattr(value, "_asdict"):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return value
    return sorted(value) if isinstance(value, set | frozenset) else list(value)


def _left_out(value: Mapping[Any, object]) -> frozenset[str]:
    """Return the keys that no result promises; how far tests are counted ahead depends on the instruction set."""
    return UNSTABLE | PROSE | ({"scanned"} if "asked" in value else frozenset())


def _key(key: object) -> str:
    return key if isinstance(key, str) else ",".join(map(str, key)) if isinstance(key, tuple) else repr(key)


def _array(values: np.ndarray, *, close: bool) -> Any:
    if values.dtype == object or (close and values.dtype.kind == "f"):
        return encode(values.tolist(), close=close)
    whole = np.ascontiguousarray(values)
    digest = sha256(whole.tobytes()).hexdigest()
    return {"dtype": whole.dtype.str, "shape": list(whole.shape), "sha256": digest}


def jobs() -> int:
    """Return the number of threads or processes of each case: 1, or that of the variable MNLEARN_GOLDEN_JOBS."""
    return int(os.environ.get("MNLEARN_GOLDEN_JOBS", "1"))


def compute(name: str) -> Any:
    """Return the result of a case as JSON values."""
    chosen = CASES[name]
    return encode(chosen.compute(), close=chosen.close)


def differences(found: Any, golden: Any, *, close: bool = False, where: str = "result") -> list[str]:
    """Return where two encoded results differ, one line for each place; with close, floats may differ by 1e-9."""
    return _differences(found, golden, CLOSE if close else 0.0, where)


def _differences(found: Any, golden: Any, tolerance: float, where: str) -> list[str]:
    if isinstance(found, dict) and isinstance(golden, dict) and found.keys() == golden.keys():
        parts = [
            _differences(found[key], golden[key], CLOSE if key in CLOSE_FIELDS else tolerance, f"{where}.{key}")
            for key in golden
        ]
        return [line for part in parts for line in part]
    if isinstance(found, list) and isinstance(golden, list) and len(found) == len(golden):
        pairs = enumerate(zip(found, golden, strict=True))
        parts = [_differences(a, b, tolerance, f"{where}[{k}]") for k, (a, b) in pairs]
        return [line for part in parts for line in part]
    if found == golden or _nearly_equal(found, golden, tolerance):
        return []
    return [f"{where}: got {found!r}, golden is {golden!r}"]


def _nearly_equal(found: Any, golden: Any, tolerance: float) -> bool:
    """Whether two hexadecimal floats agree, relative and absolute."""
    try:
        return isclose(float.fromhex(found), float.fromhex(golden), rel_tol=tolerance, abs_tol=tolerance)
    except (TypeError, ValueError):
        return False


# --- Files of results -----------------------------------------------------------------------------------------------


def golden_results() -> dict[str, Any]:
    """Return the result of every case, from the files of all packages."""
    found: dict[str, Any] = {}
    for path in sorted(RESULTS.glob("*.json")):
        entries = json.loads(path.read_text(encoding="utf-8"))
        twice = sorted(found.keys() & entries.keys())
        if twice:
            raise ValueError(f"two results named {twice[0]}")
        found |= entries
    return found


def write_results(names: Iterable[str]) -> None:
    """Compute the named cases and write the files of their packages.

    A result that does not differ from the file stays as it is there. Results without a case leave these files.
    """
    chosen, golden = set(names), golden_results()
    for package in sorted({CASES[name].package for name in chosen}):
        inside = sorted(name for name in CASES if CASES[name].package == package)
        entries = {name: _newest(name, golden.get(name)) if name in chosen else golden.get(name) for name in inside}
        lines = [f"{json.dumps(name)}: {json.dumps(entries[name], sort_keys=True)}" for name in inside if entries[name]]
        RESULTS.joinpath(f"{package}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _newest(name: str, golden: Any) -> Any:
    """Return the result of a case, or that of the file if the two do not differ."""
    found = compute(name)
    return found if differences(found, golden, close=CASES[name].close) else golden
