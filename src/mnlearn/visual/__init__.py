"""Pictures, drawn without a screen: of a learned network (`draw`), of a score's landscape, of experiments."""

from mnlearn.visual.canvas import FORMATS, check_picture_path, save_figure
from mnlearn.visual.experiments import plot_experiment, plot_landscape
from mnlearn.visual.network import KINDS, draw

__all__ = ["FORMATS", "KINDS", "check_picture_path", "draw", "plot_experiment", "plot_landscape", "save_figure"]
