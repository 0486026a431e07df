"""Write constants.hpp: the numbers that the elementary functions look up, each rounded once.

python native/numbers/constants.py [FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from mpmath import chebyfit, erfc, exp, ldexp, log, loggamma, mp, mpf, nint, pi, sqrt, zeta

mp.prec = 300
FIRST, EXP, LOG, OCTAVE = mpf(11) / 16, 64, 128, 8  # LOG: the intervals of a mantissa, from 11/16 to 11/8
GAMMA, GAMMA_TERMS = [1 + mpf(k) / 8 for k in range(13)], 16  # centres
ERFC_TERMS = 12


def double(x: mpf) -> float:
    """Return the nearest double."""
    return float(x)


def parts(x: mpf, step: int | None = None) -> tuple[float, float]:
    """Return two doubles whose sum is x; the first a multiple of 2^step, if given."""
    high = double(x) if step is None else double(ldexp(nint(ldexp(x, -step)), step))
    return high, double(x - mpf(high))


def reciprocal(k: int) -> mpf:
    """Return about 1 / m for the k-th interval of mantissas, in ten bits; 1 on both sides of m = 1."""
    below = 80  # intervals below 1 have the width 1/256, those above 1/128
    if k in (below - 1, below):
        return mpf(1)
    centre = FIRST + (k + mpf(1) / 2) / 256 if k < below else 1 + (k - below + mpf(1) / 2) / 128
    return nint(512 / centre) / 512


def scaled_tail(z: mpf) -> mpf:
    """Return exp(z²) erfc(z)."""
    return exp(z * z) * erfc(z)


def erfc_rows() -> Iterable[list[float]]:
    """Return polynomials of exp(z²) erfc(z) about the centre of each interval, eight to an octave, from 1/2 to 32."""
    for k in range(6 * OCTAVE):
        octave, part = divmod(k, OCTAVE)
        low = ldexp(1 + mpf(part) / OCTAVE, octave - 1)
        half = ldexp(mpf(1) / (2 * OCTAVE), octave - 1)
        centre = low + half
        found = chebyfit(lambda h, c=centre: scaled_tail(c + h), [-half, half], ERFC_TERMS)[::-1]
        yield [*parts(found[0]), *map(double, found[1:])]


def gamma_rows() -> Iterable[list[float]]:
    """Return Taylor's series of log Γ about 1, 9/8, ..., 5/2; the first two coefficients in two parts."""
    for c in GAMMA:
        first = parts(loggamma(c))
        second = parts(mp.psi(0, c))
        rest = [double((-1) ** n * zeta(n, c) / n) for n in range(2, GAMMA_TERMS)]
        yield [*first, *second, *rest]


def text(values: Iterable[float], indent: int = 4) -> str:
    """Return numbers in hexadecimal, as many to a line as fit."""
    lines, line = [], " " * indent
    for value in values:
        item = value.hex() + ", "
        if len(line) + len(item) > 119:
            lines.append(line.rstrip())
            line = " " * indent
        line += item
    return "\n".join([*lines, line.rstrip()])


def table(name: str, comment: str, rows: list[list[float]]) -> str:
    """Return a table of rows as C++."""
    body = "\n".join("    {\n" + text(row, 8) + "\n    }," for row in rows)
    if len(rows[0]) <= 3:
        body = "\n".join("    {" + ", ".join(v.hex() for v in row) + "}," for row in rows)
    return f"// {comment}\ninline constexpr double {name}[{len(rows)}][{len(rows[0])}] = {{\n{body}\n}};\n"


def number(name: str, value: float) -> str:
    """Return one constant as C++."""
    return f"inline constexpr double {name} = {value.hex()};\n"


def header() -> str:
    """Return the text of constants.hpp."""
    chosen = [reciprocal(k) for k in range(LOG)]
    two, root = log(2), log(2 * pi) / 2
    stirling = [mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 11)]
    slope = 2 / sqrt(pi)
    series = [(-1) ** n * slope / (mp.factorial(n) * (2 * n + 1)) for n in range(14)]
    series[0] -= 1
    written = [
        "// Written by constants.py: change that file, not this one.\n// clang-format off\n#pragma once\n",
        "namespace mnlearn::elementary {\n",
        number("kLogTwoTop", parts(two, -42)[0]) + number("kLogTwoRest", parts(two, -42)[1]),
        number("kStep", parts(two / EXP, -42)[0])
        + number("kStepRest", parts(two / EXP, -42)[1])
        + number("kSteps", double(EXP / two)),
        number("kPerLogTwo", parts(1 / two)[0]) + number("kPerLogTwoRest", parts(1 / two)[1]),
        number("kHalfLogTwoPi", parts(root)[0]) + number("kHalfLogTwoPiRest", parts(root)[1]),
        table("kPowers", "2^(k/64) in two parts.", [list(parts(2 ** (mpf(k) / EXP))) for k in range(EXP)]),
        table(
            "kLogs",
            "c near 1/m in ten bits for each interval of mantissas m, and −log(c) in two parts.",
            [[double(c), *parts(-log(c), -42)] for c in chosen],
        ),
        table(
            "kLogGamma",
            "log Γ about 1, 9/8, ..., 5/2: its value and slope in two parts each, then Taylor's further coefficients.",
            [list(row) for row in gamma_rows()],
        ),
        "// B(2k) / (2k (2k − 1)), k = 1, 2, ...: Stirling's series.\n"
        f"inline constexpr double kStirling[{len(stirling)}] = {{\n{text(map(double, stirling))}\n}};\n",
        "// erf(x) = x + x Σ c[n] x^2n.\n"
        f"inline constexpr double kErf[{len(series)}] = {{\n{text(map(double, series))}\n}};\n",
        table(
            "kScaledTail",
            "exp(z²) erfc(z) about the centre of each eighth of an octave, from 1/2: in two parts, then the rest.",
            [list(row) for row in erfc_rows()],
        ),
        "}  // namespace mnlearn::elementary\n",
    ]
    return "\n".join(written)


if __name__ == "__main__":
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("constants.hpp")
    to.write_text(header(), encoding="utf-8")
