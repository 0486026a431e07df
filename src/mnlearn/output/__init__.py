"""Output: results in the words of the data."""

from mnlearn.output.learned import Learned, LearnedEdge
from mnlearn.output.plots import plot_landscape

__all__ = ["Learned", "LearnedEdge", "plot_landscape"]
