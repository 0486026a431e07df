"""Latent Gaussian networks: margins as given, and the dependence of the latent variables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, erdos_renyi, grid, path
from mnlearn.simulate import GaussianNetwork, LatentNetwork, Margin, latent_network


def test_classes_have_the_shares_and_the_joint_of_the_cut_normal() -> None:
    margins = (Margin("ordinal", 3, skew=0.8), Margin("count", mean=1.0))
    network = LatentNetwork(GaussianNetwork(np.array([[2.0, -1.0], [-1.0, 2.0]])), margins)
    rows = 40_000
    codes, counts = network.sample(rows, seed=1)
    normal = multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 1.0]])
    for a in range(2):
        for k in range(3):
            high = [norm.ppf(margin.shares()[: n + 1].sum()) for margin, n in zip(margins, (a, k), strict=True)]
            share = float(normal.cdf(high))
            assert abs(float(np.mean((codes <= a) & (counts <= k))) - share) < 4 * (share * (1 - share) / rows) ** 0.5


def test_continuous_margins_are_the_latent_values_with_unit_variances() -> None:
    network = latent_network(grid(3, 3), [Margin("continuous")] * 9, seed=1)
    values = np.stack(network.sample(20_000, seed=2))
    latent = network.gaussian.covariance()
    scale = np.sqrt(np.diag(latent))
    np.testing.assert_allclose(np.corrcoef(values), latent / np.outer(scale, scale), atol=4 / 20_000**0.5)
    np.testing.assert_allclose(values.std(axis=1), 1.0, atol=4 / 40_000**0.5)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_the_graph_is_kept_and_the_diagonal_raised_only_where_needed(p: float) -> None:
    graph = erdos_renyi(12, p, 1)
    network = latent_network(graph, [Margin("ordinal", 5)] * 12, seed=4)
    assert network.graph == graph
    theta = network.gaussian.precision
    strengths = np.abs(theta[np.triu_indices(12, 1)])
    assert ((strengths == 0) | ((strengths >= 0.2) & (strengths <= 0.4))).all()
    lowest = np.linalg.eigvalsh(theta)[0]
    assert theta[0, 0] == 1.0 or lowest == pytest.approx(0.1)
    assert network.dataset(10, seed=1).kinds == ("ordinal",) * 12


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="ordinal, count or continuous; got 'nominal'"):
        latent_network(path(2), [Margin("nominal")] * 2, 1)
    with pytest.raises(InputError, match="one entry for each of 2 variables; got 1"):
        latent_network(path(2), [Margin("ordinal")], 1)
    with pytest.raises(InputError, match="0 < weakest <= strongest"):
        latent_network(Graph(2), [Margin("ordinal")] * 2, 1, weakest=0.0)
    with pytest.raises(InputError, match="gaussian must be"):
        LatentNetwork(path(2), (Margin("ordinal"),) * 2)  # type: ignore[arg-type]
