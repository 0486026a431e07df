"""Evidence for continuous variables: Bayes factors of blankets and edges with all coefficients integrated out.

The continuous counterpart of `evidence.py` for separator evidence. Zellner's
g-prior (in Bayesian Inference and Decision Techniques, 1986, 233-243  [Z86]) makes it closed: x regressed on
S, q = |S|, with flat priors of the constant and of log σ, and coefficients β ~ Normal(0, g σ² (S'S)⁻¹). Against no
neighbours, with ν = N − 1 degrees of freedom and the share 1 − R² of the variance of x that S leaves,

    log BF(x | S) = (ν − q)/2 · log(1 + g) − ν/2 · log(1 + g (1 − R²)),        g = τ² ν,

which is the evidence of a blanket. The evidence of an edge given a separator S is about one coefficient, those of S
having flat priors. Here the prior is the moment prior of Johnson & Rossell, JRSS B 72 (2010), 143-170  [JR10], the
g-prior times β²: an edge is not arbitrarily weak. With the partial correlation r and ν = N − 1 − |S|,

    ev(x, y | S) = (ν − 1)/2 · log(1 + g) − ν/2 · log(1 + g (1 − r²)) − log(1 + g) + log(1 + g ν r² / (1 + g (1 − r²))),

a function of r² alone: x and y may change places. Under the g-prior alone an absent edge is hard to tell from a very
weak one; each of thousands of pairs would keep a probability of some hundredths, and their sum, the number of edges
that separator evidence expects, would be far too large.

τ is the prior strength of edges: the most likely partial correlations are about ±√2 τ. A unit-information
prior has τ = 1; edges of sparse networks are weaker, and a wider prior only makes them harder to find
(docs/continuous.md has the measurement that chose τ). Blankets have one τ. Edges are a mixture of three strengths,
τ/2, τ and 2τ, with the shares w of all edges:

    ev(x, y | S) = log Σ_k w_k exp(ev_k(x, y | S)).

Separator evidence takes the shares from the data themselves (`fitted_to`, empirical Bayes), so that many weak edges
and few strong ones both have the prior that suits them. For given shares every number is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from typing import ClassVar, TypeAlias

import numpy as np

from mnlearn.errors import InputError, UnsuitableError, is_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Edge
from mnlearn.numbers import ABSOLUTE, exp, log, log1p
from mnlearn.protocols import SILENT, FloatArray, Indices, Monitor, PairEvidence, VarSet
from mnlearn.scores.local import Decomposed, Work, screened_pairs
from mnlearn.statistics.moments import EXPLAINED, Moments

USUAL_WIDTH = 0.2
STRENGTHS = (0.5, 1.0, 2.0)  # times the width
Shares: TypeAlias = tuple[float, float, float]
ONE_STRENGTH: Shares = (0.0, 1.0, 0.0)
PRIOR_EDGES = 10.0  # edges of the usual width that the shares count beside those of the data
ROUNDS, DECIMALS = 40, 4  # of the fit of the shares; coarse decimals hide rounding, so the column order cannot matter


@dataclass(frozen=True)
class GaussianEvidence(Decomposed):
    """log BF(x | S) of a Gaussian regression with a g-prior, and of single edges with a moment prior.

    Parameters
    ----------
    moments
        The covariance of the data.
    width
        τ, the prior strength of edges: about 1/√2 of their most likely partial correlation; positive.
    shares
        How many of the edges have half this strength, this strength, and twice this strength; the sum is 1.

    Raises
    ------
    InputError
        If the width is not positive, or the shares are not three numbers from 0 whose sum is 1.
    UnsuitableError
        If the statistics are not `Moments`.

    Notes
    -----
    A constant variable has the evidence of r = 0. With fewer than 3 degrees of freedom, and where S explains an end but
    for rounding, an edge has no evidence either way. Never NaN; finite also for copies.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> judge = GaussianEvidence(Moments.from_covariance(chain, n_rows=200))
    >>> judge.pairs([0, 0], [frozenset(), frozenset({1})], [[1, 2], [2]])[0].log_factor.round(1).tolist()
    [25.8, 4.9]
    """

    name: ClassVar[str] = "gaussian_evidence"
    moments: Moments
    _: KW_ONLY
    width: float = USUAL_WIDTH
    shares: Shares = ONE_STRENGTH
    work: Work = field(init=False, repr=False, compare=False, default_factory=Work)

    def __post_init__(self) -> None:
        if not hasattr(self.moments, "log_shares"):
            raise UnsuitableError(
                f"GaussianEvidence cannot judge by a {type(self.moments).__name__}. Use Moments(dataset) for "
                "continuous variables, and HybridEvidence for categorical ones."
            )
        if not (is_number(self.width) and self.width > 0):
            raise InputError(f"width must be a positive number; got {self.width!r}. The usual value is {USUAL_WIDTH}.")
        if not _are_shares(self.shares):
            raise InputError(
                f"shares must be three numbers from 0 whose sum is 1; got {self.shares!r}. Use {ONE_STRENGTH} for "
                "edges of one strength."
            )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    def with_three_way(self, use: bool) -> GaussianEvidence:  # noqa: ARG002 - Gaussian variables interact in pairs only
        """Return this judge with fresh counters; Gaussian variables have no three-way terms."""
        return replace(self)

    @property
    def prior(self) -> dict[str, float]:
        """The shares of weak and of strong edges by name, for the cost of a result."""
        return {"share_weak": self.shares[0], "share_strong": self.shares[2]}

    def with_prior(self, found: Mapping[str, float]) -> GaussianEvidence:
        """Return this judge with the shares of a result, where it has them."""
        if "share_weak" not in found:
            return self
        return replace(self, shares=_rounded(found["share_weak"], found["share_strong"]))

    def fitted_to(self, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> GaussianEvidence:
        """Return this judge with the shares that the data suggest, given a first blanket of each variable.

        Each pair of x and one of its y is an edge of strength k with the chance π w_k, π the share of edges among all
        pairs. Given the other members of the blanket of x its evidence is ev_k, and expectation maximisation finds w
        and π; π is at most twice that of the blankets. Ten edges of the usual strength count beside those of the data.
        The counters of work are shared with this judge.
        """
        parts, dofs, free = [], [], np.ones(self.n_variables, dtype=np.bool_)
        for x, (blanket, ys) in enumerate(zip(blankets, yss, strict=True)):
            free[:], free[[x, *blanket]] = True, False
            outside = np.asarray(ys)[free[ys]]
            parts.append(self.moments.partial_correlations(x, outside, blanket))
            parts.append(self.moments.member_correlations(x, blanket))
            dof = self.moments.n_rows - 1 - len(blanket)
            dofs += [dof, dof + 1]
        self.work.book(scans=2 * len(blankets), fits=sum(map(len, parts)), fallbacks=0)
        r, nu = np.concatenate(parts), np.repeat(np.array(dofs, dtype=np.float64), [len(part) for part in parts])
        factors = np.stack([log_factor(r, nu, self.width * strength) for strength in STRENGTHS])
        n_edges = len({frozenset((x, y)) for x, blanket in enumerate(blankets) for y in blanket})
        fitted = replace(self, shares=fitted_shares(factors, n_edges, self.n_variables))
        object.__setattr__(fitted, "work", self.work)
        return fitted

    @property
    def can_screen(self) -> bool:
        """Whether the statistics find the strongest partners by themselves."""
        return hasattr(self.moments, "screen")

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs that are among the k strongest of either variable by correlation."""
        return screened_pairs(self.moments, k, monitor)

    def local(self, x: int, blanket: VarSet) -> float:
        """Return the evidence of x with this blanket against the empty one."""
        return float(self.locals([x], [blanket])[0])

    def locals(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        """Return the evidence of each x with its blanket."""
        self.work.book(scans=0, fits=len(blankets), fallbacks=0)
        left = np.array([self._log_left(int(x), b) for x, b in zip(xs, blankets, strict=True)], dtype=np.float64)
        return self._local(left, np.array([len(b) for b in blankets], dtype=np.float64))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return the evidence with y added, for each y, in one scan."""
        self.work.book(scans=len(blankets), fits=sum(len(ys) for ys in yss), fallbacks=0)
        left = [self.moments.log_shares(int(x), ys, z)[:-1] for x, z, ys in zip(xs, blankets, yss, strict=True)]
        return _together(self._local, left, [len(blanket) + 1 for blanket in blankets])

    def estimates(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return `additions`, which is exact."""
        return self.additions(xs, blankets, yss)

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """Return the evidence without y for each member y, in ascending order, from one inverse."""
        self.work.book(scans=len(blankets), fits=sum(len(blanket) for blanket in blankets), fallbacks=0)
        found = []
        for x, blanket in zip(xs, blankets, strict=True):
            r = np.nan_to_num(self.moments.member_correlations(int(x), blanket))  # what others explain adds nothing
            without = self._log_left(int(x), blanket) - log1p(-r) - log1p(r)
            found.append(self._local(np.minimum(without, 0.0), len(blanket) - 1))
        return found

    def pairs(
        self,
        xs: Indices,
        separators: Sequence[VarSet],
        yss: Sequence[Indices],
        *,
        fit_above: float | FloatArray = -inf,  # noqa: ARG002 - all are exact
    ) -> list[PairEvidence]:
        """ev(x, y | S) of each x with its S, for each y."""
        self.work.book(scans=len(separators), fits=sum(len(ys) for ys in yss), fallbacks=0)
        r = [self.moments.partial_correlations(int(x), ys, z) for x, z, ys in zip(xs, separators, yss, strict=True)]
        dofs = [self.moments.n_rows - 1 - len(given) for given in separators]
        factors = _together(self._mixed, r, dofs)
        return [PairEvidence(factor, np.ones(len(factor), dtype=np.bool_)) for factor in factors]

    def best_pair(self, x: int, blanket: VarSet, candidates: Indices) -> tuple[Edge, float] | None:
        """Return the pair y < z of candidates that explains most of x, and the evidence with both.

        Only this finds two variables that predict x together but not alone. Of equals the pair is taken that explains
        more of x one by one; then the first.
        """
        ys = np.unique(np.asarray(candidates, dtype=np.int64))
        if len(ys) < 2:
            return None
        self.work.book(scans=1, fits=len(ys) * (len(ys) - 1) // 2, fallbacks=0)
        y, z, share = self.moments.best_pair(int(x), ys, blanket, rounding=ABSOLUTE)
        after = self._log_left(int(x), blanket) + log(max(1.0 - share, EXPLAINED))
        return (y, z), float(self._local(np.asarray(after), len(blanket) + 2))

    def _mixed(self, r: FloatArray, dof: FloatArray) -> FloatArray:
        """Return the evidence of edges whose strengths have these shares."""
        found = [
            log_factor(r, dof, self.width * strength) + log(share)
            for strength, share in zip(STRENGTHS, self.shares, strict=True)
            if share
        ]
        if len(found) == 1:
            return found[0]
        largest = np.maximum.reduce(found)
        return np.asarray(largest + log(sum(exp(one - largest) for one in found)))

    def _log_left(self, x: int, blanket: VarSet) -> float:
        """Return log(1 − R²) of x given the blanket."""
        return float(self.moments.log_shares(x, (), blanket)[0])

    def _local(self, log_left: FloatArray, size: FloatArray | float) -> FloatArray:
        """log BF(x | S) from log(1 − R²)."""
        nu = max(self.moments.n_rows - 1, 0)
        g = self.width**2 * nu
        return np.asarray(0.5 * (nu - size) * log(1.0 + g) - 0.5 * nu * log1p(g * exp(log_left)))


def log_factor(r: FloatArray, dof: FloatArray | int, width: float) -> FloatArray:
    """Return the evidence of an edge by its partial correlation; 0 for NaN and with too few degrees of freedom."""
    nu = np.maximum(dof, 3)
    g = width**2 * nu
    left = 1.0 + g * (1.0 - r) * (1.0 + r)
    log_g, square = log(1.0 + g), np.square(r)
    away = log1p(g * nu * square / left) - log_g
    gain = np.where(square < 0.5, log1p(-np.minimum(square, 0.5) * (g / (1.0 + g))), log(left / (1.0 + g)))
    found = away - 0.5 * (log_g + nu * gain)
    return np.asarray(np.where(np.isnan(r) | (np.asarray(dof) <= 2), 0.0, found))


def fitted_shares(log_factors: FloatArray, n_edges: int, n_variables: int) -> Shares:
    """Return the shares of edge strengths by expectation maximisation.

    Parameters
    ----------
    log_factors
        ev_k of each pair, once from either end: a row for each strength.
    n_edges
        Edges to start from; the expected number is at most twice as large, and at least 1.
    n_variables
        Number of variables.

    Examples
    --------
    >>> weak, usual, strong = np.array([[9.0, -3.0], [5.0, -4.0], [2.0, -5.0]]).repeat(100, axis=1)
    >>> fitted_shares(np.stack([weak, usual, strong]), n_edges=50, n_variables=20)
    (0.8315, 0.1685, 0.0)
    """
    n_pairs = n_variables * (n_variables - 1) / 2
    largest = log_factors.max(axis=0)
    doubtful = exp(log_factors[:, largest <= 0]).sum(axis=1)  # improbable pairs count to first order
    largest, log_factors = largest[largest > 0], log_factors[:, largest > 0]
    factors, absent = exp(log_factors - largest), exp(-largest)
    prior = PRIOR_EDGES * np.array(ONE_STRENGTH)
    shares, expected = np.full(len(STRENGTHS), 1.0 / len(STRENGTHS)), max(1.0, n_edges)
    for _ in range(ROUNDS):
        chance = min(expected / n_pairs, 0.5)
        odds = chance / (1.0 - chance)
        present = (shares[:, None] * factors).sum(axis=0)
        probable = (factors / (present + absent / odds)).sum(axis=1)
        edges = shares * (probable + odds * doubtful) / 2
        shares = (edges + prior) / (edges.sum() + PRIOR_EDGES)
        expected = min(max(1.0, edges.sum()), max(1.0, 2.0 * n_edges))
    return _rounded(shares[0], shares[2])


def _are_shares(found: object) -> bool:
    """Return whether these are as many numbers from 0 as there are strengths, with the sum 1."""
    if not isinstance(found, tuple) or len(found) != len(STRENGTHS):
        return False
    return all(is_number(share) and share >= 0 for share in found) and abs(sum(found) - 1) < 1e-9


def _rounded(weak: float, strong: float) -> Shares:
    """Return the shares with few decimals."""
    weak, strong = round(float(weak), DECIMALS), round(float(strong), DECIMALS)
    return weak, round(1.0 - weak - strong, DECIMALS), strong


def _together(
    compute: Callable[[FloatArray, FloatArray], FloatArray], parts: Sequence[FloatArray], numbers: Sequence[int]
) -> list[FloatArray]:
    """Compute a function of the values of each part and of its number, in one call for all parts."""
    if not parts:
        return []
    lengths = [len(part) for part in parts]
    found = compute(np.concatenate(parts), np.repeat(np.array(numbers, dtype=np.float64), lengths))
    return np.split(found, np.cumsum(lengths)[:-1])
