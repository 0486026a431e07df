"""Pictures without a screen: learned networks (`draw`) and the report."""

from mnlearn.visual.canvas import FORMATS, check_picture_path, save_figure
from mnlearn.visual.comparison import plot_difference, plot_side_by_side
from mnlearn.visual.network import KINDS, draw

__all__ = [
    "FORMATS",
    "KINDS",
    "check_picture_path",
    "draw",
    "plot_difference",
    "plot_side_by_side",
    "save_figure",
]
