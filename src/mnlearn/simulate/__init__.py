"""Data whose network is known."""

from mnlearn.simulate.example import Example, example, example_network
from mnlearn.simulate.pairwise import PairwiseNetwork, sample_exact, state_probabilities

__all__ = ["Example", "PairwiseNetwork", "example", "example_network", "sample_exact", "state_probabilities"]
