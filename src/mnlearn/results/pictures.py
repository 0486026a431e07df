"""Methods of a learned network that draw it and write its report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned


class Pictures:
    """Pictures and the report, as methods of `Learned`."""

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: str = "network",
        title: str | None = None,
        seed: int = 0,
    ) -> Figure:
        """Draw the network, and write the picture to a file if a path is given.

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

        Returns
        -------
        Figure
            A matplotlib figure; a notebook shows it.

        Raises
        ------
        UnknownNameError
            If the kind is unknown.
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If matplotlib is not installed.
        """
        from mnlearn.visual.network import draw

        return draw(cast("Learned", self), path, kind=kind, title=title, seed=seed)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        source: str | None = None,
        seed: int = 0,
        predictability: bool = False,
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
        predictability
            Add the table of `predictability`, with its default folds.

        Raises
        ------
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If jinja2 or bokeh is not installed.
        """
        from mnlearn.visual.report import write_report

        write_report(cast("Learned", self), path, title=title, source=source, seed=seed, predictability=predictability)
