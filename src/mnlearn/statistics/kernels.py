"""Kernels: the scores of a table (x, y | z) that a scan computes while the table is in cache.

Each function checks its settings and returns a `Kernel` for `Counts.reduce` and any other `Statistics`. Also here:
log tails and speed probes of the native core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from mnlearn import _core
from mnlearn._core import fisher_tails as fisher_tails  # noqa: PLC0414 - for tests, which do not import the core
from mnlearn._core import log_chi2_tails as log_chi2_tails  # noqa: PLC0414 - as above
from mnlearn.errors import InputError, check_name, is_number
from mnlearn.numbers import log
from mnlearn.protocols.statistics import Kernel

DofRule: TypeAlias = Literal["adjusted", "observed", "all"]
_DOF_RULES: dict[str, float] = {"adjusted": 0.0, "observed": 1.0, "all": 2.0}


def chi2(dof: DofRule = "adjusted") -> Kernel:
    """Pearson's chi-square Σ (o − e)² / e and its degrees of freedom.

    Parameters
    ----------
    dof
        ``"adjusted"``: Σ over observed strata of (non-empty rows − 1)(non-empty columns − 1);
        ``"observed"``: (I − 1)(J − 1) × observed strata; ``"all"``: (I − 1)(J − 1) × all configurations of z.
    """
    return Kernel("chi2", ("statistic", "dof"), (_rule(dof),))


def g2(dof: DofRule = "adjusted") -> Kernel:
    """Likelihood ratio G² = 2 Σ o log(o / e) and its degrees of freedom; `dof` as in `chi2`.

    Tables of fewer than 131,072 rows are computed to 2e-16 (cells + 8) N log N, and a smaller G² is 0; larger ones are
    computed to the last digits. An exactly independent table gives 0.
    """
    return Kernel("g2", ("statistic", "dof"), (_rule(dof),))


def mi(dof: DofRule = "adjusted") -> Kernel:
    """Conditional mutual information in nats, G² / (2N), and the degrees of freedom; `dof` as in `chi2`."""
    return Kernel("mi", ("mutual_information", "dof"), (_rule(dof),))


def bayes(*, alpha: float = 1.0, beta: float = 1.0, gamma: float = 1.0, prior: float = 0.5) -> Kernel:
    """Log posterior of independence, log P(CI | D)  [BJP18, App. C].

    Parameters
    ----------
    alpha, beta, gamma
        Dirichlet priors of a cell of x, of y, and of the pair.
    prior
        P(M_CI), the prior probability of independence.
    """
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma)):
        _positive(name, value)
    if not (is_number(prior) and 0.0 < prior < 1.0):
        raise InputError(f"prior must lie between 0 and 1, both excluded; got {prior!r}. Use 0.5 if you do not know.")
    return Kernel("bayes", ("log_independent",), (float(alpha), float(beta), float(gamma), log(prior)))


def bayes_dependent(*, alpha: float = 1.0, beta: float = 1.0, gamma: float = 1.0, prior: float = 0.5) -> Kernel:
    """Log posterior of dependence, log(1 − P(CI | D)), right where `bayes` rounds to 0; settings as in `bayes`.

    Slower than `bayes`: one table at a time. Elsewhere ``log1mexp`` of that kernel gives the same number.
    """
    return Kernel(
        "bayes_dependent", ("log_dependent",), bayes(alpha=alpha, beta=beta, gamma=gamma, prior=prior).settings
    )


def dirichlet(prior_cell: float | None = None, *, sample_size: float | None = None) -> Kernel:
    """Dirichlet-multinomial log marginal likelihood of x given z + y  [MPL17, Eq. 6].

    Parameters
    ----------
    prior_cell
        The prior α of every cell; 1/2 (Jeffreys) by default.
    sample_size
        Instead: an equivalent sample size N′, spread over all cells of the declared table, α = N′ / (r q).
    """
    if prior_cell is not None and sample_size is not None:
        raise InputError("prior_cell and sample_size exclude each other; got both. Give one of them.")
    if sample_size is not None:
        return Kernel("dirichlet", ("log_score",), (_positive("sample_size", sample_size), 1.0))
    return Kernel(
        "dirichlet", ("log_score",), (_positive("prior_cell", 0.5 if prior_cell is None else prior_cell), 0.0)
    )


def entropy() -> Kernel:
    """Conditional entropy H(x | z + y) in nats; −N times it is the maximised log-likelihood of x."""
    return Kernel("entropy", ("entropy",))


def _rule(dof: str) -> float:
    check_name("dof rule", dof, _DOF_RULES)
    return _DOF_RULES[dof]


def _positive(name: str, value: float) -> float:
    if not (is_number(value) and value > 0):
        raise InputError(f"{name} must be a positive number; got {value!r}. The usual values are 0.5 and 1.")
    return float(value)


# Upper bounds of the processor, against which the speed of counting is measured.


PROBE_BITS = 8192  # counted by the core in one round


def supported_code_paths() -> list[str]:
    """Return the code paths this processor can run, fastest first."""
    return _core.levels()


def popcount_work(path: str, rounds: int, *, n_threads: int = 1) -> Callable[[], object]:
    """Return work that ANDs, counts and adds `rounds` times PROBE_BITS bits in registers, on each of the threads.

    No table is counted faster by these three steps; adding several words before counting them takes fewer.
    """
    return lambda: _core.probe_popcount(path, rounds, n_threads)


def load_work(path: str, n_rows: int) -> Callable[[], object]:
    """Return work that loads n_rows rows of 512 bits one after the other: no list of rows is added up faster.

    The rows begin at multiples of 64 bytes, as those of the core do: across two lines each load would count twice.
    """
    room = np.random.default_rng(0).integers(0, 2**63, n_rows * 8 + 8, dtype=np.uint64)
    first = -room.ctypes.data % 64 // 8
    rows = room[first : first + n_rows * 8]
    return lambda: _core.probe_loads(path, rows)
