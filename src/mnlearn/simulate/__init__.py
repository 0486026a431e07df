"""Simulation: networks, distributions and samplers, so that data come with the true graph."""

from mnlearn.distributions.bayesian import BayesianNetwork
from mnlearn.distributions.bif import read_bif
from mnlearn.distributions.elimination import as_bayesian_network, log_partition
from mnlearn.distributions.factors import (
    Factor,
    FactorNetwork,
    PairwiseNetwork,
    agreement_factors,
    ising,
    random_pairwise_factors,
    sample_exact,
    state_probabilities,
    uniform_factors,
    with_log_odds,
)
from mnlearn.distributions.gaussian import GaussianNetwork, equal_partial_correlations, sparse_gaussian
from mnlearn.distributions.sampling import (
    Convergence,
    GibbsPlan,
    Sample,
    component_probabilities,
    judge_chains,
    sample,
    sample_gibbs,
)
from mnlearn.simulate.catalogue import (
    DISTRIBUTIONS,
    GAPS,
    NETWORKS,
    Example,
    Simulated,
    example,
    example_network,
    simulate,
)
from mnlearn.simulate.margins import Margin, dependent_gaps, random_gaps, random_thresholds, spread_margins
from mnlearn.simulate.markovian import sample_markovian
from mnlearn.simulate.mixed import LatentNetwork, MixedNetwork, latent_network, mixed_network, ordinal_field
from mnlearn.simulate.snps import Snps, snps

__all__ = [
    "DISTRIBUTIONS",
    "GAPS",
    "NETWORKS",
    "BayesianNetwork",
    "Convergence",
    "Example",
    "Factor",
    "FactorNetwork",
    "GaussianNetwork",
    "GibbsPlan",
    "LatentNetwork",
    "Margin",
    "MixedNetwork",
    "PairwiseNetwork",
    "Sample",
    "Simulated",
    "Snps",
    "agreement_factors",
    "as_bayesian_network",
    "component_probabilities",
    "dependent_gaps",
    "equal_partial_correlations",
    "example",
    "example_network",
    "ising",
    "judge_chains",
    "latent_network",
    "log_partition",
    "mixed_network",
    "ordinal_field",
    "random_gaps",
    "random_pairwise_factors",
    "random_thresholds",
    "read_bif",
    "sample",
    "sample_exact",
    "sample_gibbs",
    "sample_markovian",
    "simulate",
    "snps",
    "sparse_gaussian",
    "spread_margins",
    "state_probabilities",
    "uniform_factors",
    "with_log_odds",
]
