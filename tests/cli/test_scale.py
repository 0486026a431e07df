"""`mnlearn learn` on a cluster, with a memory limit, and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn.data import pack
from mnlearn.simulate import example


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    pack(example(1000, seed=5).columns(), tmp_path / "survey.mnpack")
    return tmp_path / "survey.mnpack"


def learned(run: Any, *words: object) -> Any:
    document = run("learn", *words, "--json").document()
    document["cost"].pop("seconds", None)
    return document


def test_workers_of_a_cluster(run: Any, packed: Path, client: Any) -> None:
    words = (packed, "--method", "mpl")
    assert learned(run, *words, "--cluster", client.scheduler.address) == learned(run, *words)


@pytest.mark.slow
def test_score_and_compare_on_a_cluster(run: Any, packed: Path, tmp_path: Path, client: Any) -> None:
    workers = ("--cluster", client.scheduler.address)
    run("learn", packed, "--method", "mpl", "--out", tmp_path / "net.edges.csv")
    score = ("score", packed, tmp_path / "net.edges.csv", "--score", "mpl", "--json")
    assert run(*score, *workers).document() == run(*score).document()
    compare = ("compare", packed, "--truth", tmp_path / "net.edges.csv", "--methods", "mpl,gsimn,aracne,l1lr", "--json")
    here, there = run(*compare).document(), run(*compare, *workers).document()
    for one, other in zip(here["methods"], there["methods"], strict=True):
        if one["method"] == "aracne":
            assert "it does not help this method, which reads all rows at once" in other["error"]
            continue
        assert [one[key] for key in ("edges", "hamming")] == [other[key] for key in ("edges", "hamming")]


def test_samples_are_resumed_from_a_checkpoint(run: Any, packed: Path, tmp_path: Path) -> None:
    words = (packed, "--method", "mpl", "--max-memory", "64M", "--bootstrap", 4, "--jobs", 1)
    expected = learned(run, *words)
    kept = (*words, "--checkpoint", tmp_path / "kept")
    assert learned(run, *kept) == expected
    assert learned(run, *kept, "--resume") == expected
    assert "--resume" in run("learn", *kept).refusal()
    assert "same data and settings" in run("learn", *kept, "--resume", "--method", "pic").refusal()
    assert "--checkpoint is for --bootstrap" in run("learn", packed, "--checkpoint", tmp_path / "new").refusal()


def test_bad_options_are_refused(run: Any, packed: Path, tmp_path: Path) -> None:
    assert "--cluster must be the address" in run("learn", packed, "--cluster", "nowhere").refusal()
    assert "--max-memory must be a size such as 500M" in run("learn", packed, "--max-memory", "much").refusal()
    assert "needs a checkpoint to continue from" in run("learn", packed, "--resume").refusal()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for words in (("learn", "no.csv", "--bootstrap", 5), ("screen", "no.csv")):
        refused = run(*words, "--checkpoint", tmp_path / "link").refusal()
        assert "--checkpoint must be a folder; " in refused
        assert "is a link that leads nowhere" in refused
