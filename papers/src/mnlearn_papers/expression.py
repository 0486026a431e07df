"""Gene expression at steady state under perturbed kinetic constants: the setting of the experiments of [MBS09].

Each gene i has messenger m_i and protein p_i:

    dm_i/dt = s_i f_i(p) − d_i m_i          transcription, decay
    dp_i/dt = t_i m_i − e_i p_i             translation, decay

    f_i(p) = Π_j (b + (1 − b) g_ij(p_j)),   g = p^h / (k^h + p^h) for an activator, k^h / (k^h + p^h) for a repressor

over its regulators j; a gene without regulators has f = 1. One row is one steady state, reached after every kinetic
constant of the perturbed genes was multiplied by a factor of its own. That paper's generator is another program, whose
equations it does not print: the form above (mass action, Hill functions that act together by multiplication) is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, check_room, is_number, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import Seed, exp, rng_from
from mnlearn.protocols import BoolArray, FloatArray

_BLOCK = 64  # rows integrated together
_HORIZON = 80.0  # in units of the mean lifetime, then once more as long, and so on
_TOLERANCES = (1e-8, 1e-8, 1e-10, 1e-10, 1e-10, 1e-10)  # of each stretch: small amounts rest only as still as this
_SETTLED = 1e-5  # the relative change per unit of time below which a state is steady


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpressionNetwork:
    """Regulatory network with its unperturbed kinetic constants.

    Parameters
    ----------
    regulators
        For every gene the genes whose proteins regulate it.
    activates
        For every gene and regulator whether it activates (True) or represses.
    hill
        h, how steeply a regulator acts.
    threshold
        k, the amount of protein at which it acts half.
    leak
        b, what is transcribed when a regulator is fully against it.

    Examples
    --------
    >>> cascade = ExpressionNetwork(regulators=[(), (0,), (1,)], activates=[(), (True,), (False,)])
    >>> cascade.graph().edges
    ((0, 1), (1, 2))
    >>> cascade.sample(3, seed=1).shape
    (3, 3)
    """

    regulators: Sequence[Sequence[int]]
    activates: Sequence[Sequence[bool]]
    hill: float = 2.0
    threshold: float = 0.5
    leak: float = 0.05
    _arcs: tuple[NDArray[np.intp], NDArray[np.intp], BoolArray] = field(init=False, repr=False)  # from, to, activates

    def __post_init__(self) -> None:
        regulators = tuple(tuple(gene) for gene in self.regulators)
        activates = tuple(tuple(map(bool, gene)) for gene in self.activates)
        _check(regulators, activates)
        for name, most in (("hill", 20.0), ("threshold", 1e6), ("leak", 1.0)):
            value = getattr(self, name)
            if not (isfinite(value) and 0 < value <= most):
                raise InputError(f"{name} must be above 0 and at most {most:g}; got {value}.")
        object.__setattr__(self, "regulators", regulators)
        object.__setattr__(self, "activates", activates)
        sources = np.array([j for js in regulators for j in js], dtype=np.intp)
        targets = np.repeat(np.arange(len(regulators)), [len(js) for js in regulators])
        signs = np.array([on for gene in activates for on in gene], dtype=np.bool_)
        object.__setattr__(self, "_arcs", (sources, targets, signs))

    @property
    def n_genes(self) -> int:
        """How many genes there are."""
        return len(self.regulators)

    def graph(self, *, proteins: bool = False) -> Graph:
        """The true network without directions.

        Over messengers alone, regulator and target are joined. With proteins, variables n..2n−1, messenger and protein
        of a gene are joined, and the protein of a regulator with the messenger of its target.
        """
        n, arcs = self.n_genes, [(i, j) for i, js in enumerate(self.regulators) for j in js]
        if not proteins:
            return Graph(n, [(i, j) for i, j in arcs if i != j])
        return Graph(2 * n, [*((i, n + i) for i in range(n)), *((i, n + j) for i, j in arcs)])

    def sample(
        self,
        n_rows: int,
        seed: Seed,
        *,
        spread: float = 0.5,
        perturb: Literal["all", "regulators"] = "all",
        proteins: bool = False,
        noise: float = 0.0,
    ) -> FloatArray:
        """Steady states under perturbed kinetic constants.

        Parameters
        ----------
        n_rows
            Number of states, at least 1.
        seed
            An integer, or a generator to draw from.
        spread
            The standard deviation of the logarithm of the factors on s, d, t and e.
        perturb
            Which genes have their constants changed: all, or only those that regulate others (as in ECOLI2).
        proteins
            Whether proteins are measured as well, after the messengers.
        noise
            The standard deviation of the logarithm of a factor on every measured value.

        Raises
        ------
        InputError
            If the amounts do not come to rest, as in a network that oscillates.
        """
        rows = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row.")
        for name, value in (("spread", spread), ("noise", noise)):
            if not (isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a standard deviation, at least 0; got {value}.")
        if perturb not in ("all", "regulators"):
            raise InputError(f"perturb must be 'all' or 'regulators'; got {perturb!r}. Use one of the two.")
        rng, n = rng_from(seed), self.n_genes
        changed = np.ones(n, dtype=bool) if perturb == "all" else self._regulates()
        constants = exp(spread * rng.standard_normal((rows, 4, n)) * changed)
        blocks = [self._steady(constants[start : start + _BLOCK]) for start in range(0, rows, _BLOCK)]
        measured = np.concatenate(blocks)[:, : 2 * n if proteins else n]
        return np.asarray(measured * exp(noise * rng.standard_normal(measured.shape)) if noise else measured)

    def _regulates(self) -> BoolArray:
        """Which genes regulate another."""
        found = np.zeros(self.n_genes, dtype=bool)
        found[[j for i, js in enumerate(self.regulators) for j in js if i != j]] = True
        return found

    def _steady(self, constants: FloatArray) -> FloatArray:
        """Integrate until nothing moves: messengers, then proteins, one row per set of constants."""
        from scipy.integrate import solve_ivp

        shape = (len(constants), 2 * self.n_genes)

        def slope(_time: float, flat: FloatArray) -> FloatArray:
            return self._slopes(flat.reshape(shape), constants).ravel()

        state = np.ones(shape).ravel()
        for tolerance in _TOLERANCES:
            stretch = (0.0, _HORIZON)
            state = solve_ivp(slope, stretch, state, method="DOP853", rtol=tolerance, atol=tolerance / 1000).y[:, -1]
            if (np.abs(slope(0.0, state)) <= _SETTLED * np.maximum(state, 1e-6)).all():
                return np.asarray(state.reshape(shape))
        raise InputError(
            f"regulators must let the amounts come to rest; after {_HORIZON * len(_TOLERANCES):.0f} lifetimes they "
            f"still move. Take loops out, or make hill or spread smaller."
        )

    def _slopes(self, state: FloatArray, constants: FloatArray) -> FloatArray:
        """The right-hand sides, for every row at once."""
        n = self.n_genes
        messenger, protein = state[:, :n], state[:, n:]
        power = np.maximum(protein, 0.0) ** self.hill
        half = self.threshold**self.hill
        active = power / (half + power)
        regulator, target, on = self._arcs
        rate = np.ones_like(messenger)
        if len(target):
            acting = np.where(on, active[:, regulator], 1 - active[:, regulator])
            starts = np.flatnonzero(np.diff(target, prepend=-1))  # the arcs are sorted by target
            rate[:, target[starts]] = np.multiply.reduceat(self.leak + (1 - self.leak) * acting, starts, axis=1)
        transcription, decay, translation, loss = constants.transpose(1, 0, 2)
        return np.concatenate(
            [transcription * rate - decay * messenger, translation * messenger - loss * protein], axis=1
        )


def random_expression_network(
    n_genes: int, seed: Seed, *, regulator_share: float = 0.25, most_regulators: int = 3, repressed: float = 0.3
) -> ExpressionNetwork:
    """A regulatory network without loops, in which few genes regulate many.

    The first genes, a share of `regulator_share`, may regulate; each later gene, regulators among them, is regulated by
    one to `most_regulators` of those before it, drawn in proportion to one plus the number of targets they have.

    Parameters
    ----------
    n_genes
        At least 2. The networks G50 and G75 of [MBS09] have 50 and 75 genes; with proteins, 100 and 150 variables.
    seed
        An integer, or a generator to draw from.
    regulator_share
        Above 0, at most 1.
    most_regulators
        Of one gene, at least 1.
    repressed
        The probability that a regulation represses.

    Examples
    --------
    >>> random_expression_network(50, seed=1).graph(proteins=True).n_variables
    100
    """
    n = whole_number("n_genes", n_genes, least=2, hint="One gene regulates no other.")
    most = whole_number("most_regulators", most_regulators, least=1, hint="A gene has at least one regulator.")
    check_room("n_genes", 32.0 * n, f"{n:,} genes", "Use fewer genes.")
    shares = is_number(regulator_share) and is_number(repressed)
    if not (shares and 0 < regulator_share <= 1 and 0 <= repressed <= 1):
        raise InputError(
            f"regulator_share must be above 0 and at most 1, repressed from 0 to 1; got {regulator_share} and "
            f"{repressed}."
        )
    rng, n_regulators = rng_from(seed), max(1, round(n * regulator_share))
    targets = np.ones(n_regulators)
    regulators: list[tuple[int, ...]] = [()]
    for gene in range(1, n):
        weights = targets[: min(gene, n_regulators)]
        how_many = min(len(weights), 1 + int(rng.random() * most))
        chosen = rng.choice(len(weights), size=how_many, replace=False, p=weights / weights.sum())
        targets[chosen] += 1
        regulators.append(tuple(sorted(chosen.tolist())))
    activates = [tuple((rng.random(len(js)) >= repressed).tolist()) for js in regulators]
    return ExpressionNetwork(regulators=regulators, activates=activates)


def _check(regulators: Sequence[Sequence[int]], activates: Sequence[Sequence[bool]]) -> None:
    """As many signs as regulators, and every regulator a gene, named once."""
    n = len(regulators)
    if not n or [len(js) for js in regulators] != [len(signs) for signs in activates]:
        raise InputError("activates must have one entry for each regulator of each gene, and there must be a gene.")
    for i, js in enumerate(regulators):
        if len(set(js)) < len(js) or not all(0 <= j < n for j in js):
            raise InputError(f"regulators must be different genes 0..{n - 1}; those of gene {i} are {tuple(js)}.")
