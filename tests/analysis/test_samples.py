"""Frequencies of edges over rows drawn anew, and stability selection."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.analysis import Resampling
from mnlearn.data import Dataset
from mnlearn.data.rows import resample, split
from mnlearn.results import Learned
from mnlearn.simulate import example

COLUMNS = example(300, seed=4).columns()
NUMBERS = {name: np.random.default_rng(k).normal(size=80) for k, name in enumerate("abc")}
NUMBERS["d"] = NUMBERS["a"] + NUMBERS["b"]


class Impatient:
    """A monitor that has had enough after so many samples."""

    def __init__(self, patience: int) -> None:
        self.heard: list[tuple[float, float | None]] = []
        self._patience = patience

    def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
        self.heard.append((done, total))

    def cancelled(self) -> bool:
        return len(self.heard) >= self._patience


def by_hand(data: Dataset, method: str, sampling: str, n_samples: int, seed: int) -> dict[Any, float]:
    """The obvious way: draw, learn, count, one after the other."""
    counts: Counter[Any] = Counter()
    n_draws = n_samples // 2 if sampling == "halves" else n_samples
    for child in np.random.SeedSequence(seed).spawn(n_draws):
        rng = np.random.default_rng(child)
        if sampling == "bootstrap":
            parts = [resample(data, rng)]
        elif sampling == "subsamples":
            parts = [data.sample(round(0.632 * data.n_rows), rng)]
        else:
            parts = list(split(data, data.n_rows // 2, rng))
        for part in parts:
            counts.update(mn.learn(part, method).graph.edges)
    return {edge: count / n_samples for edge, count in counts.items()}


@pytest.mark.parametrize("sampling", ["subsamples", "bootstrap", "halves"])
@pytest.mark.parametrize(("columns", "method"), [(COLUMNS, "gsimn"), (COLUMNS, "mpl"), (NUMBERS, "gsimn")])
def test_frequencies_are_those_of_a_plain_loop(columns: Any, method: str, sampling: Any) -> None:
    learned = mn.learn(columns, method)
    assert learned.data is not None
    found = learned.bootstrap(6, sampling=sampling, seed=3, n_jobs=1)
    assert found.frequencies == by_hand(learned.data, method, sampling, 6, 3)
    assert found.resampling is not None
    assert (found.resampling.asked, found.resampling.done) == (6, 6)
    assert found.resampling.mean_edges == pytest.approx(sum(found.frequencies.values()))
    assert found.graph == learned.graph


def test_any_number_of_jobs_gives_the_same() -> None:
    learned = mn.learn(COLUMNS, "mpl")
    one, two = (learned.bootstrap(8, seed=1, n_jobs=jobs) for jobs in (1, 2))
    assert one.frequencies == two.frequencies != learned.bootstrap(8, seed=2, n_jobs=1).frequencies


def test_repeats_count_as_rows() -> None:
    data = mn.read(COLUMNS).compact()
    found = mn.learn(data, "mpl").bootstrap(5, sampling="halves", n_jobs=1)
    assert found.resampling is not None
    assert found.resampling.done == 6  # halves come in pairs
    assert max((found.frequencies or {}).values()) == 1.0


def test_the_default_method_is_not_chosen_again_for_each_sample(caplog: pytest.LogCaptureFixture) -> None:
    learned = mn.learn(COLUMNS)
    with caplog.at_level("INFO", logger="mnlearn"):
        learned.bootstrap(3, n_jobs=1)
    assert caplog.messages == []


def test_stopped_resampling_has_the_samples_so_far() -> None:
    monitor = Impatient(4)
    found = mn.learn(COLUMNS, "mpl").bootstrap(50, n_jobs=1, monitor=monitor)
    assert found.resampling is not None
    assert (found.resampling.asked, found.resampling.done) == (50, 4)
    assert list(monitor.heard[-1]) == [4, 50]
    assert "4 samples of 50, stopped" in found.summary()
    with pytest.raises(mn.MnlearnError, match="cancelled before the first sample"):
        mn.learn(COLUMNS, "mpl").bootstrap(5, n_jobs=1, monitor=Impatient(0))


def test_stability_selection_keeps_what_is_often_there() -> None:
    found = mn.learn(COLUMNS, "gsimn").bootstrap(20, sampling="halves", n_jobs=1)
    chosen = found.stable(0.8)
    shares = found.frequencies or {}
    assert set(chosen.graph.edges) == {edge for edge, share in shares.items() if share >= 0.8}
    assert 0 < chosen.graph.n_edges < found.graph.n_edges + len(shares)
    assert all((edge.frequency or 0.0) >= 0.8 for edge in chosen.edge_list())
    assert "edges in at least 80% of them" in chosen.summary()
    assert chosen.resampling is not None
    q, p = chosen.resampling.mean_edges, 12 * 11 / 2
    assert chosen.resampling.expected_false(0.8) == pytest.approx(q**2 / p / 0.6)


def test_the_bound_holds_where_nothing_is_true() -> None:
    """Independent columns: every selected edge is false, and the bound is on their expected number."""
    falses, bounds = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        columns = {f"v{k}": rng.integers(0, 2, 200) for k in range(10)}
        found = mn.learn(columns, "gsmn", alpha=0.05).bootstrap(40, sampling="halves", seed=seed, n_jobs=1)
        assert found.resampling is not None
        falses.append(found.stable(0.7).graph.n_edges)
        bounds.append(found.resampling.expected_false(0.7))
    assert np.mean(falses) <= np.mean(bounds)


def test_frequencies_are_in_the_frame_the_document_and_networkx() -> None:
    found = mn.learn(COLUMNS, "mpl").bootstrap(4, n_jobs=1)
    frame = found.edges("pandas")
    assert frame["frequency"].tolist() == [edge.frequency for edge in found.edge_list()]
    document: Any = found.to_dict()
    assert document["frequency"] == frame["frequency"].tolist()
    assert len(document["frequencies"]) == len(found.frequencies or {})
    assert document["resampling"]["sampling"] == "subsamples"
    (_, _, numbers), *_ = found.to_networkx().edges(data=True)
    assert {"support", "frequency"} <= set(numbers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 1}, "n_samples must be a whole number, at least 2"),
        ({"seed": -1}, "seed must be a whole number, at least 0"),
        ({"sampling": "jackknife"}, "sampling 'jackknife' does not exist"),
        ({"n_jobs": 0}, "n_jobs must be a whole number"),
    ],
)
def test_bad_settings_are_refused(options: Any, message: str) -> None:
    with pytest.raises(mn.InputError, match=message):
        mn.learn(COLUMNS, "mpl").bootstrap(**options)


def test_what_is_missing_is_named() -> None:
    learned = mn.learn(COLUMNS, "mpl")
    with pytest.raises(mn.InputError, match=r"bootstrap needs the data.*with_data\(data\)"):
        replace(learned, data=None).bootstrap()
    with pytest.raises(mn.InputError, match="bootstrap needs a method and settings that this mnlearn knows"):
        Learned("mpl", learned.names, learned.result).bootstrap()
    with pytest.raises(mn.InputError, match="Resample first"):
        learned.stable()
    with pytest.raises(mn.InputError, match="threshold must be above 0 and at most 1"):
        replace(learned, frequencies={}).stable(0)
    record = Resampling("subsamples", 0, 5, 5, 3.0, 66)
    with pytest.raises(mn.InputError, match="sampling must be 'halves' for a bound"):
        record.expected_false(0.9)
    with pytest.raises(mn.InputError, match=r"threshold must be above 0\.5"):
        replace(record, sampling="halves").expected_false(0.5)
    with pytest.raises(mn.InputError, match="at least 4 rows"):
        mn.learn({"a": [0, 1, 1], "b": [1, 0, 1]}, "gsmn").bootstrap()


def test_pairs_that_only_the_samples_joined_keep_what_is_known_of_them() -> None:
    learned = mn.learn(COLUMNS, "sep", effort="standard", keep_pairs=True)
    absent = next((u, v) for u in range(9) for v in range(u + 1, 9) if not learned.graph.has_edge(u, v))
    shares = {**dict.fromkeys(learned.graph.edges, 0.5), absent: 0.9}
    chosen = replace(learned, frequencies=shares).stable(0.8)
    (edge,) = chosen.edge_list()
    assert learned.result.log_odds is not None
    assert edge.support == learned.result.log_odds[absent]
    assert edge.probability == chosen.probabilities()[absent]
