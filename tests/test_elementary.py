"""Elementary functions of the core against mpmath, their bits, and that nothing else is used."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from mnlearn import numbers as _elementary
from mnlearn.numbers import add_logs_at, log_add_exp, logistic
from mnlearn.protocols import FloatArray

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "mnlearn"
LARGEST = np.finfo(np.float64).max

# The largest error of each function in units in the last place, as numbers/elementary.hpp states it.
BOUNDS = {
    "exp": 0.53,
    "expm1": 0.53,
    "log": 0.53,
    "log1p": 0.53,
    "log2": 0.53,
    "atanh": 0.53,
    "cbrt": 0.53,
    "erf": 0.80,
    "erfc": 0.80,
    "log_gamma": 0.65,
}
EXACT: dict[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "atanh": mpmath.atanh,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "log_gamma": mpmath.loggamma,
}


def spread(rng: np.random.Generator, low: float, high: float, n: int) -> FloatArray:
    """Positive numbers, even on a logarithmic scale."""
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def numbers(name: str, n: int, seed: int) -> FloatArray:
    """Numbers over the whole range of a function, many of them beside its zeros and where its method changes."""
    rng = np.random.default_rng(seed)
    small = spread(rng, 1e-300, 1.0, n)
    near_zero = np.concatenate([small, -small, rng.uniform(-1.0, 1.0, n), rng.uniform(-0.02, 0.02, n)])
    near_one = np.concatenate([1.0 + spread(rng, 1e-15, 0.2, n), 1.0 - spread(rng, 1e-15, 0.2, n)])
    wide = np.concatenate(
        [spread(rng, 1e-307, 1e305, n), spread(rng, 5e-324, 1e-300, n // 4), spread(rng, 0.4, 3.0, n)]
    )
    chosen = {
        "exp": [rng.uniform(-745.0, 709.7, n), near_zero],
        "expm1": [rng.uniform(-45.0, 709.7, n), near_zero],
        "log": [wide, near_one],
        "log1p": [wide, near_zero[near_zero > -1.0], -near_one[near_one < 1.0]],
        "log2": [wide, near_one],
        "atanh": [near_zero, near_one[near_one < 1.0], -near_one[near_one < 1.0]],
        "cbrt": [wide, -wide],
        "erf": [near_zero, rng.uniform(-6.5, 6.5, n)],
        "erfc": [near_zero, rng.uniform(-6.5, 27.3, n), rng.uniform(0.4, 2.2, n)],
        "log_gamma": [wide, near_one, near_one + 1.0, rng.uniform(0.0, 12.0, 2 * n), spread(rng, 1.0, 1e5, n)],
    }[name]
    return np.concatenate(chosen)


def errors(name: str, x: FloatArray) -> FloatArray:
    """The error of each value in units in the last place of the exact one; subnormal numbers have the unit 5e-324."""
    function: Callable[[FloatArray], FloatArray] = getattr(_elementary, name)
    found = []
    with mpmath.workprec(300):
        for number, value in zip(x.tolist(), function(x).tolist(), strict=True):
            exact = EXACT[name](mpmath.mpf(number))
            unit = mpmath.ldexp(1, max(mpmath.frexp(abs(exact))[1] - 53, -1074))
            ulps = float(abs(mpmath.mpf(value) - exact) / unit)
            found.append(ulps / 2 if 0 < abs(value) < 2.0**-1022 else ulps)  # of a subnormal number, 1 ulp is allowed
    return np.array(found)


@pytest.mark.parametrize("name", BOUNDS)
def test_errors_stay_within_the_stated_bound(name: str) -> None:
    x = numbers(name, 150, seed=1)
    wrong = errors(name, x)
    assert wrong.max() <= BOUNDS[name], x[wrong.argmax()]


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDS)
def test_errors_of_many_numbers_stay_within_the_stated_bound(name: str) -> None:
    x = numbers(name, 10_000, seed=2)
    wrong = errors(name, x)
    print(f"{name}: {wrong.max():.4f} ulp at {x[wrong.argmax()]!r}")
    assert wrong.max() <= BOUNDS[name], x[wrong.argmax()]


@pytest.mark.parametrize("name", BOUNDS)
def test_the_header_states_the_bound(name: str) -> None:
    header = (ROOT / "native" / "numbers" / "elementary.hpp").read_text(encoding="utf-8")
    line = re.search(rf"double {name}\(double x\);.*", header)
    assert line is not None
    assert f"{BOUNDS[name]:.2f} ulp" in line[0], line[0]


INF, NAN = math.inf, math.nan
EDGES: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (710.0, INF), (-746.0, 0.0), (INF, INF), (-INF, 0.0), (1.0, math.e)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (-INF, -1.0), (INF, INF), (-50.0, -1.0), (5e-324, 5e-324)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-1.5, NAN), (INF, INF), (5e-324, 5e-324)],
    "log2": [(float(2.0**k), float(k)) for k in range(-1074, 1024, 7)] + [(0.0, -INF), (-1.0, NAN), (INF, INF)],
    "atanh": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (5e-324, 5e-324)],
    "cbrt": [(27.0, 3.0), (-8.0, -2.0), (2.0**-1074, 2.0**-358), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (7.0, 1.0), (-INF, -1.0), (INF, 1.0)],
    "erfc": [(0.0, 1.0), (28.0, 0.0), (-7.0, 2.0), (-INF, 2.0), (INF, 0.0)],
    "log_gamma": [(1.0, 0.0), (2.0, 0.0), (3.0, math.log(2.0)), (0.0, INF), (-1.0, NAN), (INF, INF), (LARGEST, INF)],
}


@pytest.mark.parametrize("name", BOUNDS)
def test_edges(name: str) -> None:
    function: Callable[[float], float] = getattr(_elementary, name)
    for x, value in [*EDGES[name], (NAN, NAN)]:
        found = function(x)
        close = name == "cbrt" and x == 1e-321  # subnormal numbers have few digits
        assert (
            found == value
            or math.isnan(found) is math.isnan(value) is True
            or (close and abs(found / value - 1) < 1e-3)
        )
        assert math.copysign(1.0, found) == math.copysign(1.0, value) or math.isnan(value), (x, found)


def test_arrays_of_any_shape_and_type_give_the_values_of_numbers() -> None:
    x = np.arange(1, 25).reshape(2, 3, 4).transpose(2, 0, 1)
    found = _elementary.log(x)
    assert found.shape == x.shape
    assert found.ravel().tolist() == [_elementary.log(int(k)) for k in x.ravel()]
    assert _elementary.exp(np.zeros((0, 3))).shape == (0, 3)


def test_sums_of_exponentials_do_not_overflow() -> None:
    a, b = np.array([800.0, -INF, -INF, 0.0, INF]), np.array([800.0, 3.0, -INF, -900.0, INF])
    assert log_add_exp(a, b).tolist() == pytest.approx([800.0 + math.log(2.0), 3.0, -INF, 0.0, INF])
    sums, places, logs = np.array([0.0, 1.0, -INF]), np.array([0, 0, 1]), np.array([900.0, 900.0, -INF])
    add_logs_at(sums, places, logs)
    assert sums.tolist() == pytest.approx([900.0 + math.log(2.0), 1.0, -INF])
    assert logistic(np.array([-INF, 0.0, 800.0])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.filterwarnings("ignore:Descending")  # the order of coefficients, an option of new versions only
def test_constants_are_what_their_script_computes() -> None:
    folder = ROOT / "native" / "numbers"
    written = runpy.run_path(str(folder / "constants.py"))["header"]()
    assert written == (folder / "constants.hpp").read_text(encoding="utf-8")


def test_the_core_uses_no_function_of_the_c_library_but_exact_ones() -> None:
    """Square roots, absolute values, roundings and comparisons have the same bits everywhere."""
    functions = (
        "log|log2|log10|log1p|exp|exp2|expm1|erf|erfc|cbrt|pow|[lt]gamma|lgamma_r|hypot|fma|a?(sin|cos|tan)h?|atan2"
    )
    wrong = [
        f"{path.name}: {found[0]}"
        for path in sorted((ROOT / "native").rglob("*.?pp"))
        for found in re.finditer(rf"(?<!elementary)(std)?::({functions})[fl]?\(", path.read_text(encoding="utf-8"))
    ]
    assert not wrong


PRINTING = {"visual", "cli"}  # what they compute goes into pictures and pages, not into results


def foreign_functions(paths: Iterable[Path]) -> list[str]:
    """Return where Python files use an elementary function of NumPy or the C library, apart from examples."""
    functions = "log(2|10|1p)?|exp2?|expm1|logaddexp|lgamma|erfc?|cbrt|power|(arc|a)?(sin|cos|tan)h|hypot"
    numpy = re.compile(rf"\b(np|math)\.({functions})\b")
    imported = re.compile(rf"^\s*from math import (.*\b)?({functions})\b", re.MULTILINE)
    wrong = []
    for path in sorted(paths):
        text = path.read_text(encoding="utf-8")
        code = "\n".join(line for line in text.splitlines() if not re.match(r"\s*(>>>|\.\.\.) ", line))
        wrong += [f"{path.name}: {found[0]}" for rule in (numpy, imported) for found in rule.finditer(code)]
    return wrong


def test_python_uses_no_elementary_function_of_numpy_or_the_c_library() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in PRINTING]
    assert not foreign_functions(files)
