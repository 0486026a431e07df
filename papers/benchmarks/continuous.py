"""Speed on continuous data: CPU seconds of the learners as variables are added, as ratios to simple alternatives.

Run: python benchmarks/continuous.py [--sizes 50 100 200 500 1000 2000] [--methods pc lasso ...] [--most 30]

Data: 200 rows of a sparse Gaussian network with three neighbours per variable on average; from 500 variables on, 500
rows. One thread. A method is left out at the sizes where it would take more than `--most` seconds, judging by the size
before. The alternatives, on the same data in the same run:

- `pc`, `hhc-mn`: the same number of tests, each by one inverse of NumPy and one tail of SciPy;
- `pc` of causal-learn, where it is installed, up to 100 variables;
- `aracne`: correlations by NumPy, then every pair with all third variables;
- `lasso`: scikit-learn's LARS and BIC for each variable;
- `mbs`, `sep`: the same number of regressions, each by one solve of NumPy.

The single tests and regressions are timed on a sample.
"""

from __future__ import annotations

import argparse
import gc
import logging
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from continuous_accuracy import draw
from mnlearn.data import Dataset
from mnlearn.learning import learn
from mnlearn.protocols import FloatArray
from mnlearn.results import Learned

SIZES = (50, 100, 200, 500, 1000, 2000)
SAMPLE = 200  # tests or regressions that are timed one by one
GIVEN = 3  # their conditioning set: about the mean of the searches
PEER_UP_TO = 100  # variables: causal-learn takes 10 s for so many


class Alternative(NamedTuple):
    """Something to compare a method with, and its CPU seconds on the same data."""

    name: str
    seconds: float


def rows_for(n: int) -> int:
    """Number of rows at a size."""
    return 200 if n < 500 else 500


def best_seconds(work: Callable[[], Any], repeats: int = 15, enough: float = 1.0) -> tuple[float, Any]:
    """The least CPU time of some runs, fewer if they are long, and the last answer."""
    best, spent, answer = float("inf"), 0.0, None
    gc.collect()
    gc.freeze()  # objects of other libraries are not searched again
    for _ in range(repeats):
        began = process_time()
        answer = work()
        seconds = process_time() - began
        best, spent = min(best, seconds), spent + seconds
        if spent > enough:
            break
    return best, answer


def one_test(correlation: FloatArray, n_rows: int, rng: np.random.Generator) -> float:
    """CPU seconds of one Fisher z test by an inverse and a tail."""
    from scipy.special import log_ndtr

    questions = [rng.choice(len(correlation), 2 + GIVEN, replace=False) for _ in range(SAMPLE)]

    def work() -> None:
        for question in questions:
            precision = np.linalg.inv(correlation[np.ix_(question, question)])
            r = -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
            _ = np.log(2.0) + log_ndtr(-abs(np.arctanh(r)) * np.sqrt(n_rows - GIVEN - 3))

    return best_seconds(work)[0] / SAMPLE


def one_regression(correlation: FloatArray, rng: np.random.Generator) -> float:
    """CPU seconds of one residual variance by a solve."""
    questions = [rng.choice(len(correlation), 1 + GIVEN, replace=False) for _ in range(SAMPLE)]

    def work() -> None:
        for x, *z in questions:
            shared = correlation[z, x]
            _ = np.log(1.0 - shared @ np.linalg.solve(correlation[np.ix_(z, z)], shared))

    return best_seconds(work)[0] / SAMPLE


def plain_aracne(values: FloatArray) -> int:
    """The data-processing inequality for every pair of variables, without a test: how many pairs are left."""
    correlation = np.asarray(np.corrcoef(values.T))
    np.fill_diagonal(correlation, 0.0)
    information = -0.5 * np.log1p(-np.square(correlation))
    pairs = ((x, y) for x in range(len(information)) for y in range(x))
    return sum(information[x, y] >= np.minimum(information[x], information[y]).max() for x, y in pairs)


def lars(values: FloatArray) -> float:
    """CPU seconds of scikit-learn's LARS for every variable, from a sample of ten."""
    from sklearn.linear_model import LassoLarsIC

    n = int(values.shape[1])
    xs = range(0, n, max(1, n // 10))

    def work() -> None:
        for x in xs:
            LassoLarsIC(criterion="bic", max_iter=50, noise_variance=1.0).fit(np.delete(values, x, 1), values[:, x])

    return best_seconds(work, repeats=1)[0] * (n / len(xs))


def causal_learn(values: FloatArray) -> float:
    """CPU seconds of the PC of causal-learn."""
    pc: Any = import_module("causallearn.search.ConstraintBased.PC").pc
    return best_seconds(lambda: pc(values, 0.05, "fisherz", stable=True, show_progress=False), repeats=1)[0]


def alternatives(method: str, data: Dataset, learned: Learned) -> list[Alternative]:
    """Return the alternatives to a method, measured on the same data."""
    values, cost = np.column_stack(data.columns), learned.result.cost
    correlation, rng = np.asarray(np.corrcoef(values.T)), np.random.default_rng(0)
    if method in ("pc", "hhc-mn"):
        found = [Alternative("test by test", cost["asked"] * one_test(correlation, data.n_rows, rng))]
        if method == "pc" and data.n_variables <= PEER_UP_TO and find_spec("causallearn"):
            found.append(Alternative("causal-learn", causal_learn(values)))
        return found
    if method == "aracne":
        return [Alternative("NumPy", best_seconds(lambda: plain_aracne(values), repeats=1)[0])]
    if method == "lasso":
        return [Alternative("scikit-learn", lars(values))]
    n_regressions = cost["scored"] if method == "mbs" else cost["fits"]
    return [Alternative("solve by solve", n_regressions * one_regression(correlation, rng))]


METHODS = ("pc", "hhc-mn", "aracne", "lasso", "mbs", "sep")


def lines(sizes: Sequence[int], methods: Sequence[str], most: float) -> Any:
    """The table, line by line as it is measured."""
    yield "| method | n | N | CPU s | edges | alternative | its CPU s | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for method in methods:
        before: tuple[int, float] | None = None
        for n in sizes:
            if before is not None and before[1] * (n / before[0]) ** 2.5 > most:
                break
            _, data = draw("random", n, rows_for(n), 1001)
            seconds, learned = best_seconds(partial(learn, data, method, n_jobs=1))
            before = n, seconds
            for other in alternatives(method, data, learned):
                yield (
                    f"| `{method}` | {n} | {data.n_rows} | {seconds:.4f} | {learned.graph.n_edges} | {other.name} | "
                    f"{other.seconds:.3g} | {other.seconds / seconds:.1f} |"
                )


def main() -> None:
    """Read the sizes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--most", type=float, default=30.0, help="seconds that one run may be expected to take")
    chosen = parser.parse_args()
    logging.getLogger("mnlearn").setLevel(logging.ERROR)
    with threadpool_limits(1):
        for line in lines(chosen.sizes, chosen.methods, chosen.most):
            print(line, flush=True)


if __name__ == "__main__":
    main()
