"""Pictures of two networks side by side, and of their difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from mnlearn.errors import FileError, InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import Result
from mnlearn.regression.weights import EdgeWeights, WeightMeasure
from mnlearn.results import Learned
from mnlearn.visual import plot_difference, plot_side_by_side
from mnlearn.visual.figure_data import SIGN_COLORS

NAMES = ("a", "b", "c", "d")


def network(
    values: dict[Edge, float], names: tuple[str, ...] = NAMES, measure: WeightMeasure = "partial correlation"
) -> Learned:
    weights = EdgeWeights(measure, values, (True,) * len(names))
    return Learned("pc", names, Result(Graph(len(names), values), None, {}, True, {}), saved_weights=weights)


FIRST = network({(0, 1): 0.4, (1, 2): 0.2, (2, 3): 0.3})
SECOND = network({(0, 2): -0.1, (2, 3): 0.1, (1, 3): 0.3}, ("d", "c", "b", "a"))  # d - b, b - a and c - a


def _words(figure: Any) -> set[str]:
    import matplotlib.text

    return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_side_by_side_has_one_layout_and_one_scale(tmp_path: Path) -> None:
    figure: Any = plot_side_by_side([FIRST, SECOND], tmp_path / "both.png", titles=["one", "two"])
    assert (tmp_path / "both.png").stat().st_size > 1000
    left, right = figure.axes
    written = [{text.get_text(): text.get_position() for text in axes.texts} for axes in (left, right)]
    assert written[0] == written[1]
    widths = [axes.collections[0].get_linewidths().max() for axes in (left, right)]
    assert widths[0] == pytest.approx(6.0)
    assert widths[1] == pytest.approx(0.5 + 5.5 * 0.3 / 0.4)
    assert {"one", "two", "negative", "wider: larger |partial correlation|, up to 0.4"} <= _words(figure)


def test_the_difference_has_signs_widths_and_marks() -> None:
    figure: Any = plot_difference(FIRST, SECOND, titles=["one", "two"])
    (axes,) = figure.axes
    lines, places = axes.collections[0], {text.get_text(): text.get_position() for text in axes.texts}
    at = np.array([places[name] for name in NAMES])
    found = {}
    for k, segment in enumerate(lines.get_segments()):
        ends = sorted(int(np.argmin(np.linalg.norm(at - point, axis=1))) for point in segment[[0, -1]])
        solid = lines.get_linestyles()[k][1] is None
        found[tuple(ends)] = (tuple(lines.get_colors()[k][:3]), lines.get_linewidths()[k], solid)
    blue, red = to_rgb(SIGN_COLORS[1]), to_rgb(SIGN_COLORS[-1])
    assert {edge: color for edge, (color, _, _) in found.items()} == {
        (0, 1): blue,
        (1, 2): blue,
        (2, 3): blue,
        (1, 3): blue,
        (0, 2): red,
    }
    assert max(found, key=lambda edge: found[edge][1]) in ((0, 1), (2, 3), (0, 2))
    assert not any(solid for edge, (_, _, solid) in found.items() if edge in ((1, 2), (2, 3), (1, 3), (0, 2)))
    assert found[0, 1][2]  # in both
    assert {"higher in one", "higher in two", "an edge in one only", "an edge in two only"} <= _words(figure)
    assert "one − two" in _words(figure)


def test_pairs_and_a_threshold_select_differences() -> None:
    figure: Any = plot_difference(FIRST, SECOND, threshold=0.25)
    assert len(figure.axes[0].collections[0].get_segments()) == 3
    assert "differences below 0.25 not drawn: 2" in _words(figure)
    chosen: Any = plot_difference(FIRST, SECOND, pairs=[("b", "a")])
    assert len(chosen.axes[0].collections[0].get_segments()) == 1
    with pytest.raises(InputError, match="pairs must have variables of the networks; got 'q'"):
        plot_difference(FIRST, SECOND, pairs=[("a", "q")])


def test_layouts_of_circles_are_shared_and_three_networks_fit() -> None:
    figure: Any = plot_side_by_side([FIRST, SECOND, FIRST, SECOND], layout="circle")
    assert len(figure.axes) == 6
    written = [{text.get_text(): text.get_position() for text in axes.texts} for axes in figure.axes[:4]]
    assert all(one == written[0] for one in written)


def test_networks_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    odds, bare = network({(0, 1): 1.0}, measure="log odds ratio"), Learned("pc", NAMES, FIRST.result)
    with pytest.raises(InputError, match="weights of one measure; got log odds ratio and partial correlation"):
        plot_difference(FIRST, odds)
    with pytest.raises(InputError, match="first and second must have weights"):
        plot_difference(bare, bare)
    with pytest.raises(InputError, match="the same variables; only one of two has 'd'"):
        plot_side_by_side([FIRST, network({}, ("a", "b", "c"))])
    with pytest.raises(InputError, match="networks must be at least 2; got 1"):
        plot_side_by_side([FIRST])
    with pytest.raises(InputError, match="networks must be learned networks; got int"):
        plot_side_by_side([FIRST, 3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="titles must be 2 strings"):
        plot_side_by_side([FIRST, SECOND], titles=["one"])
    with pytest.raises(FileError, match="path must end in"):
        plot_difference(FIRST, SECOND, tmp_path / "x.jpg")
