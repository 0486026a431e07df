"""The published experiments, each with its published figures beside ours."""

from mnlearn.evaluation.papers.catalogue import REPRODUCTIONS

__all__ = ["REPRODUCTIONS"]
