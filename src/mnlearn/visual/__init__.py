"""Pictures without a screen: learned networks (`draw`), score landscapes, experiments, and the report."""

from mnlearn.visual.canvas import FORMATS, check_picture_path, save_figure
from mnlearn.visual.experiments import plot_experiment, plot_landscape
from mnlearn.visual.network import KINDS, draw

__all__ = ["FORMATS", "KINDS", "check_picture_path", "draw", "plot_experiment", "plot_landscape", "save_figure"]
