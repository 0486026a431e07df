"""Rows drawn anew after a network was learned: what was said about it, and what Ctrl-C leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mnlearn.cli._progress import watched
from mnlearn.cli._wording import counted
from mnlearn.errors import InputError, MnlearnError, whole_number

if TYPE_CHECKING:
    from mnlearn.output import Learned


class Draws:
    """What was said about rows drawn anew, checked before anything is learned."""

    def __init__(
        self, n_samples: int | None, sampling: str | None = None, seed: int | None = None, stable: float | None = None
    ) -> None:
        self.n_samples = n_samples
        for option, value in (("--sampling", sampling), ("--bootstrap-seed", seed), ("--stable", stable)):
            if value is not None and n_samples is None:
                raise InputError(f"{option} is for --bootstrap; got {value} without it. Add --bootstrap 200.")
        if n_samples is not None:
            whole_number("--bootstrap", n_samples, least=2, way_out="200 are usual.")
        if seed is not None and seed < 0:
            raise InputError(f"--bootstrap-seed must not be negative; got {seed}. Leave it out for 0.")
        if stable is not None and not 0 < stable <= 1:
            raise InputError(f"--stable must be above 0 and at most 1; got {stable:g}. 0.9 is usual.")
        if sampling not in (None, "subsamples", "bootstrap", "halves"):
            raise InputError(f"--sampling must be subsamples, bootstrap or halves; got {sampling!r}.")
        self._how: dict[str, Any] = {"sampling": sampling or "subsamples", "seed": seed or 0}
        self._stable = stable

    def drawn(self, learned: Learned, jobs: int | None, client: Any = None) -> tuple[Learned, bool]:
        """The network with its frequencies, and whether Ctrl-C cut them short."""
        with watched() as monitor:
            try:
                found = learned.bootstrap(self.n_samples or 0, n_jobs=jobs, client=client, monitor=monitor, **self._how)
            except MnlearnError:
                if monitor.interrupted:  # before the first sample was done
                    return learned, True
                raise
        return (found if self._stable is None else found.stable(self._stable)), monitor.interrupted


def cut_short(learned: Learned, *, sampled: bool) -> str:
    """What Ctrl-C left undone: the search, or the samples after it."""
    if not learned.converged:
        return "this is the best network so far, not where the search would have ended"
    if learned.resampling is not None:
        samples = counted(learned.resampling.done, "sample")
        return f"the network is whole; its frequencies are those of the first {samples}"
    return "the network is whole" + (", but no sample was done, so there are no frequencies" if sampled else "")
