"""Pictures of a learned network."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

import mnlearn.visual.canvas
from mnlearn.errors import FileError, InputError, MissingDependencyError, UnknownNameError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.regression.weights import EdgeWeights
from mnlearn.results import Learned
from mnlearn.visual import KINDS, draw
from mnlearn.visual.drawings import cell_colors, cell_size, enlarged_cells
from mnlearn.visual.figure_data import SIGN_COLORS, figure_data_of, measures, relative_strengths, shown_name
from profiles import few

GRAPH = Graph(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
ODDS = {(0, 1): 4.0, (1, 2): 0.5, (0, 2): 2.0, (2, 3): -1.0}
NAMES = ("$x^2$", "<b>bold</b>", "a & b", "two\nlines", "名前" * 30)


@pytest.fixture
def learned() -> Learned:
    found = Result(GRAPH, None, ODDS, True, {}, support_scale="log_odds", probabilistic=True)
    shares = {(0, 1): 1.0, (1, 2): 0.6, (0, 2): 0.8, (2, 3): 0.3, (3, 4): 0.2}
    return Learned("sep", ("a", "b", "c", "d", "e"), found, frequencies=shares)


@pytest.mark.parametrize(
    ("kind", "extension"), [*((kind, ".png") for kind in KINDS), ("network", ".svg"), ("network", ".pdf")]
)
def test_every_kind_in_every_format(learned: Learned, tmp_path: Path, kind: str, extension: str) -> None:
    path = tmp_path / f"picture{extension}"
    draw(learned, path, kind=kind)
    start = path.read_bytes()[:200]
    assert {".png": b"PNG", ".svg": b"<svg", ".pdf": b"%PDF"}[extension] in start or b"<?xml" in start
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if extension == ".png":
        pixels = matplotlib.image.imread(path)
        assert len(np.unique(pixels[..., :3].sum(axis=2).round(3))) > 10


def test_the_same_network_gives_the_same_file(learned: Learned, tmp_path: Path) -> None:
    draw(learned, tmp_path / "a.svg")
    draw(learned, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_characters_that_the_font_lacks_are_said_once(
    learned: Learned, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    draw(
        replace(learned, names=("名", "前", "名前", "b", "c")), tmp_path / "net.svg"
    )  # a warning would be an error here
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert said[0].startswith("the font of the picture lacks 名前: boxes stand there.")


@pytest.mark.parametrize("kind", few(KINDS, 2))
def test_any_name_is_text_and_nothing_else(learned: Learned, tmp_path: Path, kind: str) -> None:
    figure = draw(replace(learned, names=NAMES), tmp_path / "p.svg", kind=kind, title="$ & <i>")
    ET.parse(tmp_path / "p.svg")
    assert figure.axes


def _texts(figure: Any) -> set[str]:
    import matplotlib.text

    return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_names_and_a_legend_are_written(learned: Learned) -> None:
    texts = _texts(draw(learned))
    assert {"a", "b", "c", "d", "e"} <= texts
    assert "wider and darker: higher resampling frequency" in texts
    assert "sep: 4 edges among 5 variables" in texts


def test_wide_lines_are_the_sure_ones(learned: Learned) -> None:
    figure: Any = draw(learned)
    (lines,) = figure.axes[0].collections[:1]
    by_edge = dict(zip(drawn_edges(lines, learned), lines.get_linewidths(), strict=True))
    assert sorted(by_edge, key=by_edge.__getitem__) == [(2, 3), (1, 2), (0, 2), (0, 1)]


def drawn_edges(lines: Any, learned: Learned) -> list[tuple[int, int]]:
    """Return the edge of each line, by the nodes at its ends."""
    places = figure_data_of(learned).positions
    ends = [[int(np.argmin(np.linalg.norm(places - p, axis=1))) for p in one[[0, -1]]] for one in lines.get_segments()]
    return [(min(pair), max(pair)) for pair in ends]


def test_width_is_the_weight_colour_its_sign_and_opacity_the_probability(learned: Learned) -> None:
    import matplotlib.colors

    values = {(0, 1): 0.1, (1, 2): -0.4, (0, 2): 0.2, (2, 3): 0.3}
    weighted = replace(learned, saved_weights=EdgeWeights("partial correlation", values, (True,) * 5))
    figure: Any = draw(weighted)
    (lines,) = figure.axes[0].collections[:1]
    edges = drawn_edges(lines, weighted)
    widths = dict(zip(edges, lines.get_linewidths(), strict=True))
    assert sorted(widths, key=widths.__getitem__) == [(0, 1), (0, 2), (2, 3), (1, 2)]
    assert max(widths.values()) == pytest.approx(6.0)
    colors = dict(zip(edges, lines.get_colors(), strict=True))
    red = pytest.approx(matplotlib.colors.to_rgb(SIGN_COLORS[-1]))
    assert [edge for edge, color in colors.items() if color[:3] == red] == [(1, 2)]
    assert sorted(colors, key=lambda edge: colors[edge][3]) == [(2, 3), (1, 2), (0, 2), (0, 1)]  # by the odds
    words = _texts(figure)
    assert {"positive", "negative", "more opaque: higher probability"} <= words
    assert "wider: larger |partial correlation|, up to 0.4" in words


def test_an_outlier_does_not_make_all_other_edges_thin() -> None:
    values = {(0, k): 0.2 for k in range(1, 20)} | {(0, 20): 50.0}
    found = relative_strengths(EdgeWeights("log odds ratio", values, (True,) * 21))
    assert found[0, 20] == 1.0
    assert found[0, 1] == pytest.approx(0.5)
    assert relative_strengths(EdgeWeights("log odds ratio", {(0, 1): 0.0}, (True, True))) == {(0, 1): 0.0}


def test_a_notebook_shows_the_picture(learned: Learned) -> None:
    figure: Any = learned.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_cells_of_a_large_heat_map_are_larger_than_their_place() -> None:
    n = 500
    edges = {(0, 1): 1.0, (100, 400): 2.0}
    found = Learned("ib", tuple(map(str, range(n))), Result(Graph(n, edges), None, edges, True, {}))
    picture = figure_data_of(found)
    filled = (enlarged_cells(picture) != enlarged_cells(picture)[-1, -1]).any(axis=2)
    assert cell_size(n) == 3
    assert (cell_size(25), cell_size(220), cell_size(2000)) == (1, 1, 9)
    assert 2 * 2 * 4 <= filled.sum() <= 2 * 2 * 9  # at the border or side by side, a part of a cell is lost
    assert (filled == filled.T).all()


def test_colours_of_cells_tell_the_sign() -> None:
    import matplotlib.colors

    import mnlearn as mn

    rising = [0, 1] * 50
    table = {
        "up": rising,
        "same": [x ^ (k % 7 == 0) for k, x in enumerate(rising)],
        "word": ["a", "b", "c", "d", "d"] * 20,
    }
    table["down"] = [1 - x ^ (k % 9 == 0) for k, x in enumerate(rising)]
    data = mn.read(table)
    edges = {(0, 1): 9.0, (0, 3): 9.0, (0, 2): 9.0}
    found = Learned("ib", data.names, Result(Graph(4, edges), None, edges, True, {}, support_scale="log_odds"), data)
    cells = cell_colors(figure_data_of(found))
    for pair, sign in (((0, 1), 1), ((0, 3), -1), ((0, 2), 0)):
        away = {key: np.linalg.norm(cells[pair] - matplotlib.colors.to_rgb(SIGN_COLORS[key])) for key in SIGN_COLORS}
        assert min(away, key=away.__getitem__) == sign
        assert (cells[pair] == cells[pair[::-1]]).all()


def test_many_variables_are_thinned_out_not_written_over_each_other() -> None:
    n = 200
    edges = {(k // 3, k): 1.0 for k in range(1, n)}
    found = Result(Graph(n, edges), None, edges, True, {}, support_scale="log_odds")
    texts = _texts(draw(Learned("ib", tuple(f"variable_{k}" for k in range(n)), found)))
    written = sum(text.startswith("variable_") for text in texts)
    assert 30 < written < n


def test_measures_say_more_for_surer(learned: Learned) -> None:
    assert [m.key for m in measures(learned)] == ["frequency", "probability", "support"]
    by_test = replace(learned, result=Result(GRAPH, None, {(0, 1): -30.0, (1, 2): -5.0}, True, {}), frequencies=None)
    (measure,) = measures(by_test)
    assert measure.values[0, 1] == pytest.approx(30 / np.log(10))
    assert measure.relative(GRAPH.edges).tolist() == pytest.approx([1.0, 0.0, 5 / 27.5, 0.0])
    endless = replace(by_test, result=Result(GRAPH, None, {(0, 1): -np.inf, (1, 2): -5.0}, True, {}))
    assert np.isfinite(list(measures(endless)[0].values.values())).all()
    assert measures(replace(by_test, result=Result(GRAPH, None, {}, True, {}))) == []


def test_an_empty_graph_can_be_drawn(tmp_path: Path) -> None:
    empty = Learned("gsmn", ("a", "b", "c"), Result(Graph(3), None, {}, True, {}))
    for kind in ("network", "heatmap", "degrees", "centralities"):
        draw(empty, tmp_path / f"{kind}.png", kind=kind)
    with pytest.raises(InputError, match="needs edges with a support"):
        draw(empty, kind="support")
    with pytest.raises(InputError, match=r"needs frequencies under resampling.*bootstrap\(100\)"):
        draw(empty, kind="stability")


def test_what_cannot_be_drawn_is_refused_before_any_work(learned: Learned, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'netwrk' does not exist. Did you mean 'network'"):
        draw(learned, kind="netwrk")
    with pytest.raises(FileError, match=r"path must end in .png, .svg, .pdf; got '.*net.jpg'"):
        draw(learned, tmp_path / "net.jpg")
    with pytest.raises(FileError, match="cannot be written"):
        draw(learned, tmp_path / "nowhere" / "net.png")
    with pytest.raises(InputError, match="seed must be a whole number"):
        draw(learned, seed=-1)


def test_without_matplotlib_the_extra_is_named(learned: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str, extra: str) -> None:
        raise MissingDependencyError(f"{module} {extra}")

    monkeypatch.setattr(mnlearn.visual.canvas, "require", missing)
    with pytest.raises(MissingDependencyError, match="matplotlib plot"):
        draw(learned)


def test_a_full_disk_leaves_nothing(learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    def full(self: Figure, path: Path, **kwargs: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(FileError, match="No space left on device"):
        draw(learned, tmp_path / "net.png")
    assert list(tmp_path.iterdir()) == []


def test_names_in_pictures_are_short_and_on_one_line() -> None:
    assert shown_name("two\nlines\x1b[2J") == "two lines [2J"
    assert shown_name("x" * 100) == "x" * 27 + "…"
    assert shown_name("\u200b") == "(blank)"
