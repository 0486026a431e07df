"""Pictures, drawn without a screen: of a learned network (`draw`), of a score's landscape, of experiments."""

from mnlearn.output.plots._canvas import FORMATS, check_picture_path, save_figure
from mnlearn.output.plots.drawing import KINDS, draw
from mnlearn.output.plots.experiments import plot_experiment
from mnlearn.output.plots.landscape import plot_landscape

__all__ = ["FORMATS", "KINDS", "check_picture_path", "draw", "plot_experiment", "plot_landscape", "save_figure"]
