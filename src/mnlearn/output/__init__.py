"""Output: results in the words of the data."""

from mnlearn.output.learned import Learned, LearnedEdge

__all__ = ["Learned", "LearnedEdge"]
