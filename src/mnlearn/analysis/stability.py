"""Stability of centralities when cases are dropped, and its summary, the CS coefficient.

Epskamp, Borsboom & Fried, Behavior Research Methods 50 (2018), 195-212  [EBF18]: learn from fewer and fewer rows, and
correlate the centralities with those of all rows. The CS coefficient is the largest share of rows that can be dropped
such that the correlation is at least 0.7 in 95 % of the samples.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.analysis.samples import Draw, SampledWeights, check_sampling, sampled_weights
from mnlearn.errors import InputError, is_number
from mnlearn.evaluation.centrality import CENTRALITIES, centralities
from mnlearn.protocols import SILENT, FloatArray, Monitor
from mnlearn.results.edges import Frame, frame_of
from mnlearn.results.measures import group_labels, numbered_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned
    from mnlearn.visual.figure_data import Groups

DROPPED = tuple(k / 100 for k in range(10, 80, 5))  # shares of the rows
_CERTAIN = 0.95  # share of the samples
_SAME = 1e-9
_BLOCK = 200_000  # pairs of variables of the samples between two looks at the monitor


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Correlation of weights and centralities between samples and all rows; `Learned.stability` makes it.

    Attributes
    ----------
    learned
        The network.
    dropped
        Share of the rows that each sample leaves out.
    correlations
        For ``"weight"`` and each centrality, the correlation of each sample with all rows; NaN if the values of one of
        them are all equal.
    correlation
        The correlation that the CS coefficient asks for.
    relearn, seed, asked
        Whether each sample has its own structure; the seed; the number of samples requested.
    """

    learned: Learned
    dropped: FloatArray
    correlations: Mapping[str, FloatArray]
    correlation: float
    relearn: bool
    seed: int
    asked: int

    @property
    def done(self) -> int:
        """Number of samples; fewer than requested if the run was cancelled."""
        return len(self.dropped)

    @property
    def cs_coefficient(self) -> dict[str, float]:
        """CS coefficient of the weights and of each centrality.

        The largest share of the rows that can be dropped with a correlation of at least `correlation` in 95 % of the
        samples; 0 if there is none. At least 0.25 is needed to interpret a centrality, better 0.5  [EBF18].
        """
        found = {}
        for name, values in self.correlations.items():
            kept = [share for share in self._shares() if self._certain(values[self.dropped == share])]
            found[name] = max(kept, default=0.0)
        return found

    def _shares(self) -> list[float]:
        return sorted(set(self.dropped.tolist()))

    def _certain(self, values: FloatArray) -> bool:
        """Return whether enough samples reach the correlation; NaN does not."""
        return bool((values >= self.correlation).mean() >= _CERTAIN)

    def table(self, frame: Frame | None = None) -> Any:
        """Return the correlations at each share of dropped rows as a table.

        Columns ``measure``, ``dropped``, ``samples``, ``mean``, ``low`` and ``high``: the middle 95 % of the samples;
        missing values where no sample has a correlation. `frame` as for `Learned.edges`.
        """
        columns = ("measure", "dropped", "samples", "mean", "low", "high")
        rows: list[tuple[Any, ...]] = []
        for name, values in self.correlations.items():
            for share in self._shares():
                here = values[self.dropped == share]
                known = here[~np.isnan(here)]
                numbers = [known.mean(), *np.quantile(known, [0.025, 0.975])] if len(known) else [None] * 3
                rows.append((name, share, float(len(here)), *(None if n is None else float(n) for n in numbers)))
        by_column = zip(columns, zip(*rows, strict=True), strict=True)
        kinds = {name: ("string" if name == "measure" else "double", list(values)) for name, values in by_column}
        return frame_of(kinds, self.learned.frame if frame is None else frame)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Figure:
        """Draw the correlations over the share of rows kept, and write the picture to a file if a path is given.

        Parameters
        ----------
        path
            The file: .png, .svg or .pdf.
        title
            Title of the picture.
        """
        from mnlearn.visual.samples import draw_stability

        return draw_stability(self, path, title=title)

    def to_dict(self) -> dict[str, object]:
        """Return the stability as one document of plain values, as `mnlearn stability --json` prints it."""
        return {
            "samples": {"asked": self.asked, "done": self.done, "seed": self.seed},
            "correlation": self.correlation,
            "relearn": self.relearn,
            "cs_coefficient": self.cs_coefficient,
            "correlations": self.table("pyarrow").to_pylist(),
        }

    def __str__(self) -> str:
        """Return the kind of samples and the CS coefficients."""
        titles = {"weight": "weights of the edges", **CENTRALITIES}
        return "\n".join([self._headline(), *(f"{titles[name]}: {cs:.2f}" for name, cs in self.cs_coefficient.items())])

    def __repr__(self) -> str:
        return f"<Stability {self._headline()}>"

    def _headline(self) -> str:
        stopped = "" if self.done == self.asked else f" of {self.asked:,}, stopped"
        how = "each learned again" if self.relearn else "same structure"
        return f"CS coefficients (correlation {self.correlation:g}): {self.done:,} samples{stopped}, {how}"


def stability_of(
    learned: Learned,
    n_samples: int,
    *,
    correlation: float,
    relearn: bool,
    groups: Groups | None,
    seed: int,
    n_jobs: int | None = None,
    client: Any = None,
    monitor: Monitor = SILENT,
) -> Stability:
    """Return the stability of a network; see `Learned.stability`."""
    wanted = check_sampling(n_samples, seed, relearn)
    if wanted < len(DROPPED):
        raise InputError(
            f"n_samples must be at least {len(DROPPED)}, one for each share of dropped rows; got {wanted}. 1000 are "
            "usual."
        )
    if not is_number(correlation) or not 0 < correlation < 1:
        raise InputError(f"correlation must be a number between 0 and 1; got {correlation!r:.80}. 0.7 is usual.")
    numbers = numbered_groups(group_labels(learned, groups))
    seeds = np.random.SeedSequence(seed).spawn(wanted)
    # The shares take turns, so that a run that is cancelled has samples of all of them.
    draws = [Draw(one, 1.0 - DROPPED[k % len(DROPPED)]) for k, one in enumerate(seeds)]
    n = len(learned.names)

    def of_some(first: SampledWeights) -> object:
        return _correlations(first, n, numbers)

    how: dict[str, Any] = {"relearn": relearn, "n_jobs": n_jobs, "client": client, "monitor": monitor}
    found = sampled_weights(learned, "stability", draws, after=of_some, **how)
    correlations = _correlations(found, n, numbers, SILENT if monitor.cancelled() else monitor)
    dropped = np.array([DROPPED[k % len(DROPPED)] for k in range(len(correlations["weight"]))])
    return Stability(learned, dropped, correlations, correlation, relearn, seed, wanted)


def _correlations(found: SampledWeights, n: int, groups: Any, monitor: Monitor = SILENT) -> dict[str, FloatArray]:
    """Return the correlation of weights and of each centrality between samples and all rows, until cancelled."""
    whole = centralities(n, found.pairs, found.observed[None], groups)
    at_once = max(1, _BLOCK // n**2)
    parts: list[dict[str, FloatArray]] = []
    for k in range(0, len(found.samples), at_once):
        if parts and monitor.cancelled():
            break
        parts.append(centralities(n, found.pairs, found.samples[k : k + at_once], groups))
    sampled = {name: np.concatenate([part[name] for part in parts]) for name in CENTRALITIES}
    inside, done = found.observed != 0, len(sampled["strength"])
    table = {"weight": _correlation(found.samples[:done, inside], found.observed[inside])}
    return table | {name: _correlation(sampled[name], whole[name][0]) for name in CENTRALITIES}


def _correlation(samples: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the Pearson correlation of each row with the observed values; NaN if one of the two never changes."""
    if not observed.size:
        return np.full(len(samples), np.nan)
    rows, whole = samples - samples.mean(axis=1, keepdims=True), observed - observed.mean()
    lengths = np.sqrt((rows**2).sum(axis=1)), float(np.sqrt((whole**2).sum()))
    scale = np.abs(samples).max(axis=1) * np.sqrt(observed.size), float(np.abs(observed).max() * np.sqrt(observed.size))
    clear = (lengths[0] > _SAME * scale[0]) & (lengths[1] > _SAME * scale[1])
    found = np.divide(
        (rows * whole).sum(axis=1), lengths[0] * lengths[1], out=np.full(len(samples), np.nan), where=clear
    )
    return np.asarray(found)
