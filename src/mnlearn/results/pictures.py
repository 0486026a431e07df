"""Methods of a learned network that draw it and write its report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from mnlearn.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.analysis.groups import GroupComparison
    from mnlearn.analysis.intervals import Intervals
    from mnlearn.analysis.stability import Stability
    from mnlearn.results.learned import Learned
    from mnlearn.visual.figure_data import Groups, Labels, Layout, NodeSize


class Pictures:
    """Pictures and the report, as methods of `Learned`."""

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: str = "network",
        title: str | None = None,
        seed: int = 0,
        groups: Groups | None = None,
        labels: Labels | None = None,
        layout: Layout | None = None,
        node_size: NodeSize | None = None,
        threshold: float | None = None,
        same_layout_as: Learned | None = None,
        rings: Mapping[str, float] | bool | None = None,
        around: str | Iterable[str] | None = None,
        distance: int = 1,
    ) -> Figure:
        """Draw the network, and write the picture to a file if a path is given.

        Beyond 2,000 variables or 20,000 edges, the picture of the whole network is the degree distribution beside the
        hubs with their strongest neighbours; its titles say so.

        Parameters
        ----------
        path
            The file: .png, .svg or .pdf.
        kind
            network, heatmap, degrees, support, centralities, or stability for bootstrap frequencies.
        title
            Title of the picture; by default one line on the network.
        seed
            Seed of the layout.
        groups
            Groups of the variables, for colours, a legend and the order of the heat map: a mapping from variables to
            groups, one from groups to lists of variables, or a list. By default communities.
        labels
            Short labels of the variables: a mapping or a list. By default their names.
        layout
            ``"spring"`` (default: strong edges are short), ``"circle"``, ``"groups"`` (each group on a circle of its
            own), or coordinates: a mapping from variables to pairs, or an array of n rows.
        node_size
            A factor for all nodes, ``"degree"``, ``"strength"``, ``"closeness"`` or ``"betweenness"``, or a mapping
            from variables to sizes.
        threshold
            Edges with a smaller absolute weight are not drawn; the legend says how many.
        same_layout_as
            Another network over the same variables, whose layout is used.
        rings
            A share from 0 to 1 per variable, drawn as a ring around its node; True for predictability, which needs the
            data.
        around
            Draw only these variables and their surroundings.
        distance
            With `around`: 1 for the neighbours, 2 for their neighbours too, and so on. Beyond 300 variables, those with
            the best supported edges are drawn, and the title says how many are left out.

        Returns
        -------
        Figure
            A matplotlib figure; a notebook shows it.

        Raises
        ------
        UnknownNameError
            If the kind or a variable is unknown.
        InputError
            If a setting does not fit the variables or the kind.
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If matplotlib is not installed.
        """
        from mnlearn.visual.figure_data import Appearance
        from mnlearn.visual.network import draw, draw_around

        look = Appearance(
            groups=groups,
            labels=labels,
            layout=layout,
            node_size=node_size,
            threshold=threshold,
            same_layout_as=same_layout_as,
            rings=None if isinstance(rings, bool) else rings,
        )
        learned = cast("Learned", self)
        if rings is True and kind == "network":
            look = replace(look, rings=learned.predictability_shares(), ring_words="predictability")
        elif rings is True:
            look = replace(look, rings={})  # refused with the other settings of a network
        if around is not None:
            return draw_around(learned, path, around, distance, kind=kind, title=title, seed=seed, look=look)
        if distance != 1:
            raise InputError(f"distance is for pictures of surroundings; got {distance!r} without around. Add around.")
        return draw(learned, path, kind=kind, title=title, seed=seed, look=look)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        source: str | None = None,
        seed: int = 0,
        groups: Groups | None = None,
        predictability: bool = False,
        intervals: Intervals | None = None,
        stability: Stability | None = None,
        comparison: GroupComparison | None = None,
    ) -> None:
        """Write a report: one offline HTML file with the network, its tables and warnings.

        Parameters
        ----------
        path
            The file: .html.
        title
            Title of the page.
        source
            Name of the data in the command that repeats the run.
        seed
            Seed of the layout.
        groups
            Groups of the variables, as for `plot`: for colours, the legend and bridge centralities. By default
            communities.
        predictability
            Add the table of `predictability`, with its default folds.
        intervals
            The result of `intervals`: adds the interval of each weight to the table of edges, and a picture.
        stability
            The result of `stability`: adds the CS coefficients and a picture.
        comparison
            The result of `mnlearn.compare_groups` over the same variables: adds its tests, pairs and pictures.

        Raises
        ------
        InputError
            If a setting is invalid, or an analysis is one of another network.
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If jinja2 or bokeh is not installed.
        """
        from mnlearn.visual.report import write_report
        from mnlearn.visual.report_sections import Computed

        _check_analyses(intervals, stability, comparison)
        computed = Computed(intervals, stability, comparison)
        learned, words = cast("Learned", self), {"title": title, "source": source}
        write_report(learned, path, **words, seed=seed, groups=groups, predictability=predictability, computed=computed)


def _check_analyses(intervals: object, stability: object, comparison: object) -> None:
    """Raise InputError for objects of other types."""
    from mnlearn.analysis.groups import GroupComparison
    from mnlearn.analysis.intervals import Intervals
    from mnlearn.analysis.stability import Stability

    for argument, found, kind, source in (
        ("intervals", intervals, Intervals, "learned.intervals()"),
        ("stability", stability, Stability, "learned.stability()"),
        ("comparison", comparison, GroupComparison, "mnlearn.compare_groups()"),
    ):
        if found is not None and not isinstance(found, kind):
            raise InputError(
                f"{argument} must be what {source} returned; got {found!r:.80}. Leave it out, or pass that."
            )
