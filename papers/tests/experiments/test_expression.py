"""Expression data: the integrator against steady states that can be written down."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn_papers.expression import ExpressionNetwork, random_expression_network

CASCADE = ExpressionNetwork(regulators=[(), (0,), (1,)], activates=[(), (True,), (False,)])


def written_down(network: ExpressionNetwork, constants: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without loops every gene follows from those before it: m = s f / d, p = t m / e."""
    rows, _, n = constants.shape
    m, p = np.zeros((rows, n)), np.zeros((rows, n))
    for i in range(n):
        f = np.ones(rows)
        for j, on in zip(network.regulators[i], network.activates[i], strict=True):
            g = p[:, j] ** network.hill / (network.threshold**network.hill + p[:, j] ** network.hill)
            f *= network.leak + (1 - network.leak) * (g if on else 1 - g)
        m[:, i] = constants[:, 0, i] * f / constants[:, 1, i]
        p[:, i] = constants[:, 2, i] * m[:, i] / constants[:, 3, i]
    return np.concatenate([m, p], axis=1)


def test_the_integrator_reaches_the_written_steady_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn_papers.expression._BLOCK", 8)  # two blocks
    network = random_expression_network(12, seed=3)
    rows = network.sample(12, seed=4, spread=0.5, proteins=True)
    constants = np.exp(0.5 * np.random.default_rng(4).standard_normal((12, 4, 12)))
    np.testing.assert_allclose(rows, written_down(network, constants), rtol=2e-4)


def test_small_amounts_come_to_rest_however_many_rows_are_integrated_together() -> None:
    seed = [crc32(b"mbs-table1/G50 log"), 400, 0]  # its first rows have amounts of 5e-5 beside those of 10
    rng = np.random.default_rng(seed)
    network = random_expression_network(50, rng, most_regulators=3)
    rows = network.sample(64, rng, proteins=True)
    assert rows.min() < 1e-4
    assert rows.max() > 5


def test_a_loop_comes_to_rest_where_its_equations_hold() -> None:
    loop = ExpressionNetwork(regulators=[(1,), (0,)], activates=[(True,), (False,)])
    (m0, m1, p0, p1) = loop.sample(1, seed=1, spread=0.0, proteins=True)[0]
    assert (p0, p1) == pytest.approx((m0, m1), rel=1e-4)
    assert m0 == pytest.approx(0.05 + 0.95 * p1**2 / (0.25 + p1**2), rel=1e-3)
    assert m1 == pytest.approx(0.05 + 0.95 * 0.25 / (0.25 + p0**2), rel=1e-3)


def test_only_regulators_are_perturbed_when_asked() -> None:
    star = ExpressionNetwork(regulators=[(), (0,), (0,)], activates=[(), (True,), (True,)])
    rows = star.sample(10, seed=2, perturb="regulators")
    assert np.ptp(rows[:, 0]) > 0.1
    np.testing.assert_allclose(rows[:, 1], rows[:, 2], rtol=1e-4)  # nothing but their regulator moves them
    every = star.sample(10, seed=2)
    assert np.abs(every[:, 1] / every[:, 2] - 1).max() > 0.1
    assert np.ptp(star.sample(3, seed=2, spread=0.0), axis=0).max() < 1e-4


def test_noise_is_a_factor_of_known_spread() -> None:
    clean = CASCADE.sample(64, seed=5, spread=0.0)
    noisy = CASCADE.sample(64, seed=5, spread=0.0, noise=0.2)
    logs = np.log(noisy / clean)
    assert logs.std() == pytest.approx(0.2, abs=4 * 0.2 / (2 * logs.size) ** 0.5)
    np.testing.assert_array_equal(noisy, CASCADE.sample(64, np.random.default_rng(5), spread=0.0, noise=0.2))


def test_graphs_of_messengers_and_of_all() -> None:
    assert CASCADE.graph().edges == ((0, 1), (1, 2))
    assert CASCADE.graph(proteins=True).edges == ((0, 3), (1, 3), (1, 4), (2, 4), (2, 5))
    network = random_expression_network(75, seed=1)
    assert network.graph(proteins=True).n_variables == 150
    assert all(j < i for i, js in enumerate(network.regulators) for j in js)
    assert all(1 <= len(js) <= 3 for js in network.regulators[1:])
    assert max(j for js in network.regulators for j in js) < round(75 * 0.25)
    assert network.regulators == random_expression_network(75, seed=1).regulators


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ExpressionNetwork(regulators=[(0,)], activates=[()]), "activates must have one entry"),
        (lambda: ExpressionNetwork(regulators=[], activates=[]), "there must be a gene"),
        (lambda: ExpressionNetwork(regulators=[(5,)], activates=[(True,)]), r"different genes 0..0; those of gene 0"),
        (
            lambda: ExpressionNetwork(regulators=[()], activates=[()], hill=0),
            "hill must be above 0 and at most 20",
        ),
        (lambda: CASCADE.sample(0, 1), "n_rows must be a whole number, at least 1"),
        (lambda: CASCADE.sample(5, 1, spread=-1), "spread must be a standard deviation, at least 0; got -1"),
        (lambda: CASCADE.sample(5, 1, perturb="some"), "perturb must be 'all' or 'regulators'"),  # type: ignore[arg-type]
        (lambda: random_expression_network(1, 1), "n_genes must be a whole number, at least 2"),
        (lambda: random_expression_network(5, 1, regulator_share=0), "regulator_share must be above 0"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_what_never_settles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn_papers.expression._TOLERANCES", (1e-8,))
    ring = ExpressionNetwork(
        regulators=[(2,), (0,), (1,)], activates=[(False,)] * 3, hill=8.0, threshold=0.5, leak=1e-6
    )
    with pytest.raises(InputError, match="regulators must let the amounts come to rest"):
        ring.sample(1, seed=1, spread=0.1)
