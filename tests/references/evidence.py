"""The slow, obvious twin of local evidence: one row at a time, SciPy's optimiser, the whole Hessian."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import lgamma, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mnlearn.data.dataset import Dataset

from references import counts as reference

Matrix = NDArray[np.float64]
LARGE_SQUARE = 1.0  # of weights that may have a wide prior


def states(data: Dataset, v: int) -> list[int]:
    """The codes that occur."""
    return sorted({int(code) for code in data.columns[v]})


def full_table(data: Dataset, x: int, z: Sequence[int]) -> float:
    """F(x | z): a Dirichlet-multinomial with 1/2 in every cell of every observed configuration."""
    r, total = len(states(data, x)), 0.0
    for table in reference.strata(data, x, None, z).values():
        total += lgamma(r / 2) - lgamma(r / 2 + sum(table.values()))
        total += sum(lgamma(0.5 + count) - lgamma(0.5) for count in table.values())
    return total


def gift(data: Dataset, x: int) -> float:
    """By how much a Dirichlet prior nearer to uniform explains x better than Jeffreys' does; at least 0."""
    (table,) = reference.strata(data, x, None, ()).values()
    counts = [count for count in table.values() if count]
    n = sum(counts)
    nearer = [-n * log(len(counts))]
    for a in (2.0**k for k in range(15)):
        total = lgamma(a * len(counts)) - lgamma(a * len(counts) + n)
        nearer.append(total + sum(lgamma(a + count) - lgamma(a) for count in counts))
    return max(0.0, max(nearer) - full_table(data, x, ()))


def contrasts(r: int) -> Matrix:
    """Helmert contrasts: column k compares state k with those before it; orthonormal."""
    columns = [[1 / sqrt(k * (k + 1))] * k + [-k / sqrt(k * (k + 1))] + [0.0] * (r - k - 1) for k in range(1, r)]
    return np.array(columns).reshape(r - 1, r).T


def coded(data: Dataset, v: int) -> Matrix:
    """The contrasts of v in every row, repeats written out."""
    place = {code: k for k, code in enumerate(states(data, v))}
    rows = np.array([place[int(code)] for code in data.columns[v]], dtype=np.intp)
    return contrasts(len(place))[rows if data.repeats is None else np.repeat(rows, data.repeats)]


class Conditional:
    """The log-linear conditional of x: features of every row, the posterior mode, its Laplace evidence."""

    def __init__(self, data: Dataset, x: int, blocks: Sequence[Matrix]) -> None:
        self.of_state = contrasts(len(states(data, x)))
        self.seen = coded(data, x)
        self.features = np.hstack([np.ones((len(self.seen), 1)), *blocks])
        self.shape = (self.features.shape[1], self.of_state.shape[1])
        self.precision = np.ones(self.shape)
        self.precision[0] = 0.01
        start = np.zeros(self.shape).ravel()
        fit = minimize(self._loss, start, jac=True, hess=self.information, method="trust-exact")
        self.mode = minimize(self._loss, fit.x, jac=True, method="BFGS", options={"gtol": 1e-9}).x

    def probabilities(self, weights: Matrix) -> Matrix:
        """P(x = a) in every row."""
        scores = self.features @ weights.reshape(self.shape) @ self.of_state.T
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def log_posterior(self, weights: Matrix) -> float:
        """log likelihood + log prior, but for the constants of the prior."""
        expected = self.features @ weights.reshape(self.shape)
        scores = expected @ self.of_state.T
        largest = scores.max(axis=1)
        log_sums = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
        return float((expected * self.seen).sum() - log_sums.sum() - (self.precision.ravel() * weights**2).sum() / 2)

    def gradient(self, weights: Matrix) -> Matrix:
        """Of the log posterior."""
        surplus = self.seen - self.probabilities(weights) @ self.of_state
        return (self.features.T @ surplus).ravel() - self.precision.ravel() * weights

    def information(self, weights: Matrix) -> Matrix:
        """The negative Hessian of the log posterior, row by row."""
        size = weights.size
        total = np.diag(self.precision.ravel())
        for feature, p in zip(self.features, self.probabilities(weights), strict=True):
            mean = p @ self.of_state
            spread = (self.of_state.T * p) @ self.of_state - np.outer(mean, mean)
            total += np.kron(np.outer(feature, feature), spread).reshape(size, size)
        return total

    def log_evidence(self) -> float:
        """Laplace, but for the constants that k_x absorbs."""
        return self.log_posterior(self.mode) - float(np.linalg.slogdet(self.information(self.mode))[1]) / 2

    def _loss(self, weights: Matrix) -> tuple[float, Matrix]:
        return -self.log_posterior(weights), -self.gradient(weights)


def one_step(smaller: Conditional, larger: Conditional) -> float:
    """g' S⁻¹ g / 2 − ln det(S) / 2 of the features that the larger model has at its end."""
    weights = np.zeros(larger.shape)
    weights[: smaller.shape[0]] = smaller.mode.reshape(smaller.shape)
    old = smaller.mode.size
    information, gradient = larger.information(weights.ravel()), larger.gradient(weights.ravel())[old:]
    cross = information[old:, :old]
    schur = information[old:, old:] - cross @ np.linalg.solve(information[:old, :old], cross.T)
    return float(gradient @ np.linalg.solve(schur, gradient) / 2 - np.linalg.slogdet(schur)[1] / 2)


def pairwise(data: Dataset, x: int, z: Sequence[int], *, three_way: bool = False) -> float:
    """P(x | z), on request with three-way terms."""
    if len(states(data, x)) < 2:
        return 0.0
    offset = full_table(data, x, []) - Conditional(data, x, []).log_evidence()
    return fitted(data, x, z, three_way=three_way)[1] + offset


def widened(data: Dataset, x: int, blocks: Sequence[Matrix], first: int = 0) -> tuple[list[Matrix], float]:
    """The blocks, all that promise more than ln 2 times 4 if together they raise the evidence by that; what is paid.

    Weights of N(0, 1) of four times a block are weights of N(0, 16) of the block. Blocks before the first stay.
    """
    model = Conditional(data, x, blocks)
    covariance = np.linalg.inv(model.information(model.mode))
    starts = np.cumsum([1, *(block.shape[1] for block in blocks)]) * model.shape[1]
    mean = model.mode.copy()
    wide, untried = set[int](), {k for k in range(first, len(blocks)) if blocks[k].size}
    places = {k: slice(starts[k], starts[k + 1]) for k in untried}
    untried = {k for k in untried if (mean[places[k]] ** 2).mean() > LARGE_SQUARE}
    while untried:
        k = max(sorted(untried), key=lambda k: float((mean[places[k]] ** 2).mean()))
        untried.remove(k)
        mine = places[k]
        if (mean[mine] ** 2).mean() <= LARGE_SQUARE:
            break
        # The mean of N(w; 0, 16) / N(w; 0, 1) over the posterior; under the wide prior its precision is less by 15/16.
        left = np.eye(mean[mine].size) - 15 / 16 * covariance[mine, mine]
        promised = (15 / 16 * mean[mine] @ np.linalg.solve(left, mean[mine]) - np.linalg.slogdet(16 * left)[1]) / 2
        if promised > log(2):
            wide.add(k)
            precision = np.linalg.inv(covariance)
            linear = precision @ mean
            precision[mine, mine] -= 15 / 16 * np.eye(mean[mine].size)
            covariance = np.linalg.inv(precision)
            mean = covariance @ linear
    wider = [4 * block if k in wide else block for k, block in enumerate(blocks)]
    paid = len(wide) * log(2)
    if wide and Conditional(data, x, wider).log_evidence() > model.log_evidence() + paid:
        return wider, paid
    return list(blocks), 0.0


def fitted(data: Dataset, x: int, z: Sequence[int], *, three_way: bool) -> tuple[list[Matrix], float]:
    """The blocks of the model of x given z, and its evidence less what wide priors and three-way terms pay."""
    members = sorted(z)
    plain = [coded(data, v) for v in members]
    blocks, paid = widened(data, x, plain)
    model = Conditional(data, x, blocks)
    evidence = model.log_evidence()
    n_configurations = len(reference.strata(data, x, None, members))
    if not three_way or not 2 <= len(members) <= 8 or n_configurations <= 3:
        return blocks, evidence - paid
    cost = log(len(members) * (len(members) - 1) / 2) + 0.01
    open_pairs = list(combinations(range(len(members)), 2))
    for _ in range(8):
        gains: dict[tuple[int, int], tuple[float, Matrix]] = {}
        for i, j in open_pairs:
            block = products(plain[i], plain[j])
            if 0 < block.shape[1] * model.shape[1] <= 64:
                gains[i, j] = (one_step(model, Conditional(data, x, [*blocks, block])), block)
        best = max(gains, key=lambda pair: gains[pair][0], default=None)
        if best is None or gains[best][0] < cost:
            break
        larger = Conditional(data, x, [*blocks, gains[best][1]])
        if larger.log_evidence() <= evidence + cost:
            break
        blocks, model, evidence, paid = [*blocks, gains[best][1]], larger, larger.log_evidence(), paid + cost
        open_pairs.remove(best)
    blocks, more = widened(data, x, blocks, len(members))
    return blocks, Conditional(data, x, blocks).log_evidence() - paid - more


def products(a: Matrix, b: Matrix) -> Matrix:
    """√2 a ⊗ b in every row."""
    return np.asarray(sqrt(2) * np.einsum("ri,rj->rij", a, b).reshape(len(a), -1))


def hybrid(data: Dataset, x: int, z: Sequence[int], *, three_way: bool = False) -> float:
    """H = max(F, P), where F of a set that is not empty pays the gift."""
    table = full_table(data, x, z) - (gift(data, x) if z else 0.0)
    return max(table, pairwise(data, x, z, three_way=three_way))


def edge_evidence(data: Dataset, x: int, y: int, z: Sequence[int], **settings: Any) -> float:
    """ev(x, y | z)."""
    there = hybrid(data, x, [*z, y], **settings) - hybrid(data, x, z, **settings)
    back = hybrid(data, y, [*z, x], **settings) - hybrid(data, y, z, **settings)
    return (there + back) / 2


def log_integral(data: Dataset, x: int, y: int | None, steps: int = 57, reach: float = 7.0) -> float:
    """log ∫ likelihood × prior for a binary x given a binary y (or none), on a grid: no Laplace."""
    model = Conditional(data, x, [] if y is None else [coded(data, y)])
    scale = np.linalg.cholesky(np.linalg.inv(model.information(model.mode)))
    axis = np.linspace(-reach, reach, steps)
    points = np.stack(np.meshgrid(*[axis] * model.mode.size, indexing="ij"), axis=-1).reshape(-1, model.mode.size)
    heights = np.array([model.log_posterior(model.mode + scale @ point) for point in points])
    volume = (axis[1] - axis[0]) ** model.mode.size * abs(np.linalg.det(scale))
    prior = sum(log(precision) - log(2 * np.pi) for precision in model.precision.ravel()) / 2
    return float(np.logaddexp.reduce(heights) + log(volume) + prior)
