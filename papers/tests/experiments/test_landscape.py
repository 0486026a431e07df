"""The landscape: every graph, its distance, its score; and the picture of it."""

from __future__ import annotations

import sys
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from contracts.test_impossible_scores import BySize
from mnlearn.errors import FileError, InputError, MissingDependencyError
from mnlearn.graphs import Graph, cycle, path
from mnlearn_papers.figures import plot_landscape
from mnlearn_papers.landscape import Landscape, Place, landscape, sample_landscape

from references.exhaustive import Plain, RandomLocal, RandomPairs, all_graphs


@pytest.mark.parametrize("score", [RandomLocal(4, 1), RandomPairs(4, 2), Plain(RandomLocal(4, 3))])
def test_every_graph_is_there_with_its_distance_and_its_score(score: Any) -> None:
    truth = cycle(4)
    seen = landscape(score, truth, marked={"learned": path(4)})
    expected = sorted((len(set(g.edges) ^ set(truth.edges)), score(g)) for g in all_graphs(4))
    found = sorted(zip(seen.distances.tolist(), seen.scores.tolist(), strict=True))
    assert [distance for distance, _ in found] == [distance for distance, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected])
    assert seen.marks["center"] == Place(0, score(truth))
    assert seen.marks["learned"] == Place(1, score(path(4)))
    best = max(all_graphs(4), key=score)
    assert seen.marks["best"] == Place(len(set(best.edges) ^ set(truth.edges)), score(best))
    assert set(seen.columns()) == {"distance", "score"}


def test_rings_say_it_in_five_numbers() -> None:
    score, truth = RandomLocal(4, 7), Graph(4, [(0, 3)])
    rings = landscape(score, truth).rings()
    assert [ring.graphs for ring in rings] == [1, 6, 15, 20, 15, 6, 1]
    for ring in rings:
        scores = [score(g) for g in all_graphs(4) if len(set(g.edges) ^ set(truth.edges)) == ring.distance]
        assert ring.lowest == pytest.approx(min(scores))
        assert ring.highest == pytest.approx(max(scores))
        assert ring.median == pytest.approx(np.median(scores))
        assert (ring.lower_quartile, ring.upper_quartile) == pytest.approx(tuple(np.quantile(scores, (0.25, 0.75))))


def test_without_a_center_distances_are_to_the_best() -> None:
    seen = landscape(RandomLocal(4, 5))
    assert seen.marks["center"] == seen.marks["best"]
    assert seen.distances[np.argmax(seen.scores)] == 0


def test_constraints_narrow_it() -> None:
    seen = landscape(RandomLocal(5, 5), Graph(5, [(3, 4)]), required=[(0, 1)], forbidden=[(1, 2), (3, 4)])
    assert len(seen.scores) == 2**7
    assert seen.distances.min() == 2  # the required edge and the forbidden one


def test_the_correlation_tells_how_smooth_it_is() -> None:
    class Slope:
        n_variables = 3

        def __call__(self, graph: Graph) -> float:
            return -3.0 * graph.n_edges

    assert landscape(Slope(), Graph(3)).correlation() == pytest.approx(-1)
    assert Landscape(np.array([0, 1]), np.zeros(2), {}).correlation() == 0


def test_graphs_of_other_variables_are_refused() -> None:
    with pytest.raises(InputError, match="center must be a graph on the 4 variables of the score; got 3"):
        landscape(RandomLocal(4, 1), Graph(3))
    with pytest.raises(InputError, match="learned must be a graph on the 4"):
        landscape(RandomLocal(4, 1), marked={"learned": Graph(5)})


def test_a_landscape_that_was_stopped_is_none() -> None:
    class Impatient:
        def progress(self, done: float, total: float | None, message: str = "") -> None: ...

        def cancelled(self) -> bool:
            return True

    with pytest.raises(InputError, match="the search was cancelled"):
        landscape(RandomLocal(4, 1), monitor=Impatient())


# ---- a sample of the graphs


def test_a_sample_has_graphs_at_every_distance_with_their_scores() -> None:
    score, truth = RandomLocal(4, 7), cycle(4)
    seen = sample_landscape(score, truth, seed=3, per_distance=200, marked={"learned": path(4)})
    everything = landscape(score, truth).rings()
    for ring, whole in zip(seen.rings(), everything, strict=True):
        assert ring.distance == whole.distance
        assert ring.graphs == (1 if ring.distance in (0, 6) else 200)
        assert ring.lowest == pytest.approx(whole.lowest)  # at most 20 graphs, so 200 draws hold each of them
        assert ring.highest == pytest.approx(whole.highest)
    assert seen.marks["center"] == Place(0, score(truth))
    assert seen.marks["learned"] == Place(1, score(path(4)))
    assert seen.marks["best"] == landscape(score, truth).marks["best"]


def test_one_seed_one_sample() -> None:
    one, same, other = (sample_landscape(RandomLocal(5, 1), path(5), seed, per_distance=3) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.scores, same.scores)
    assert (one.scores != other.scores).any()


def test_the_smallest_sample() -> None:
    assert sample_landscape(RandomLocal(2, 1), Graph(2), 1).distances.tolist() == [0, 1]


def test_samples_that_cannot_be_are_refused() -> None:
    class Impatient:
        def progress(self, done: float, total: float | None, message: str = "") -> None: ...

        def cancelled(self) -> bool:
            return True

    with pytest.raises(InputError, match="per_distance must be a whole number, at least 1; got 0"):
        sample_landscape(RandomLocal(4, 1), Graph(4), 1, per_distance=0)
    with pytest.raises(InputError, match="center must be a graph on the 4 variables of the score; got 3"):
        sample_landscape(RandomLocal(4, 1), Graph(3), 1)
    with pytest.raises(InputError, match="the sampling was cancelled"):
        sample_landscape(RandomLocal(4, 1), Graph(4), 1, monitor=Impatient())


# ---- the figure

SEEN = landscape(RandomLocal(4, 9), cycle(4), marked={"learned $x$ by <ib>": path(4)})


def test_the_figure_is_an_image_of_the_data(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    for name in ("a.png", "b.svg"):
        plot_landscape(tmp_path / name, SEEN.distances, SEEN.scores, marks=SEEN.marks, title="IB & $ 1")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.png", "b.svg"]
    pixels = image.imread(tmp_path / "a.png")
    assert pixels.ndim == 3
    assert min(pixels.shape[:2]) >= 400
    assert np.unique(pixels.reshape(-1, pixels.shape[2])[::7], axis=0).shape[0] > 20  # something is drawn
    ElementTree.parse(tmp_path / "b.svg")
    drawn = (tmp_path / "b.svg").read_text(encoding="utf-8")
    for text in ("Hamming distance", "learned $x$ by &lt;ib&gt;", "best", "IB &amp; $ 1"):
        assert text in drawn


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lists of one length, at least 1; got the shapes \(2,\) and \(3,\)"):
        plot_landscape(tmp_path / "a.png", np.arange(2), np.zeros(3))
    with pytest.raises(InputError, match="at least 1"):
        plot_landscape(tmp_path / "a.png", np.arange(0), np.zeros(0))
    with pytest.raises(FileError, match=r"path must end in \.png, \.svg, \.pdf; got"):
        plot_landscape(tmp_path / "a.txt", np.arange(2), np.zeros(2))
    with pytest.raises(FileError, match="cannot be written"):
        plot_landscape(tmp_path / "nowhere" / "a.png", np.arange(2), np.zeros(2))
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'mnlearn\[plot\]'"):
        plot_landscape(tmp_path / "a.png", np.arange(2), np.zeros(2))


def test_a_landscape_with_impossible_graphs() -> None:
    seen = landscape(BySize(lambda size: -inf if size == 2 else float(size)))
    assert seen.marks["best"].score == 12.0
    assert -1.0 <= seen.correlation() < 0.0
    assert all(not np.isnan(value) for ring in seen.rings() for value in ring)
