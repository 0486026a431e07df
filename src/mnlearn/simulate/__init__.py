"""Data whose network is known."""

from mnlearn.simulate.bayesian_network import BayesianNetwork
from mnlearn.simulate.bif import read_bif
from mnlearn.simulate.example import Example, example, example_network
from mnlearn.simulate.pairwise import PairwiseNetwork, sample_exact, state_probabilities

__all__ = [
    "BayesianNetwork",
    "Example",
    "PairwiseNetwork",
    "example",
    "example_network",
    "read_bif",
    "sample_exact",
    "state_probabilities",
]
