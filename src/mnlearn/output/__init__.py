"""Output: results in the words of the data."""

from mnlearn.output._frames import LearnedEdge
from mnlearn.output.difference import NetworkDifference
from mnlearn.output.learned import Learned
from mnlearn.output.plots import plot_experiment, plot_landscape

__all__ = ["Learned", "LearnedEdge", "NetworkDifference", "plot_experiment", "plot_landscape"]
