"""Published figures beside ours."""

from __future__ import annotations

import csv
from dataclasses import replace
from math import isnan, nan, sqrt
from pathlib import Path

import pytest

from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.differences import normal_equivalent
from mnlearn_papers.experiment import Row
from mnlearn_papers.reproduction import (
    Comparison,
    Key,
    Published,
    Request,
    compare_published,
    figure,
    plot,
    with_steps,
    without_details,
)
from mnlearn_papers.summaries import as_written, read_comparisons, write_comparisons


def rows(distances: list[int]) -> list[Row]:
    return [Row("ring", 100, k, "mpl", distance, distance, 0, 0.5) for k, distance in enumerate(distances)]


def test_the_difference_is_in_its_own_standard_errors() -> None:
    line, *_ = compare_published(rows([10, 12, 14, 16] * 50), {Key("ring", 100, "mpl"): Published(12.0, 2.0, 100, 0)})
    assert (line.ours, line.n, line.published, line.seconds) == (13, 200, 12.0, 0.5)
    assert line.sd == pytest.approx(sqrt(5 * 200 / 199))
    assert line.standard_errors == pytest.approx(1 / sqrt(4 / 100 + line.sd**2 / 200), rel=0.03)
    assert line.visible == pytest.approx(3 * sqrt(4 / 100 + line.sd**2 / 200), rel=0.03)


def test_few_runs_need_a_larger_difference() -> None:
    published = {Key("ring", 100, "mpl"): Published(12.0, 2.0, 100, 0)}
    few, *_ = compare_published(rows([12, 14, 16]), published)
    error = sqrt(4 / 100 + 4 / 3)
    assert few.standard_errors == pytest.approx(
        normal_equivalent(2 / error, (0.04 + 4 / 3) ** 2 / (0.04**2 / 99 + 8 / 9))
    )
    assert few.standard_errors is not None
    assert few.visible is not None
    assert few.standard_errors < 1.3 < 2 / error
    assert few.visible > 6 * error


def test_equal_values_have_an_error_all_the_same() -> None:
    exact, *_ = compare_published(rows([1] * 9), {Key("ring", 100, "mpl"): Published(1.0, 0.0, 100)})
    assert (exact.sd, exact.standard_errors) == (0, 0)
    other, *_ = compare_published(rows([2] * 9), {Key("ring", 100, "mpl"): Published(1.0, 0.0, 100, 0)})
    assert other.standard_errors == pytest.approx(normal_equivalent(1 / sqrt(0.1 / 9), 8))  # one of ten differs by 1
    ratio = figure(Key("ring", 9, "ratio"), [1.0] * 4, Published(1.0, 0.0, 4, step=0.0), 0.1)
    assert (ratio.standard_errors, ratio.visible) == (0, 0)  # an exact number, met exactly
    never = figure(Key("ring", 9, "ratio"), [0.5] * 4, Published(1.0, 0.0, 4, step=0.0), 0.1)
    assert never.standard_errors is None


def test_the_rounding_of_the_paper_is_part_of_the_error() -> None:
    keys = [Key("ring", 100, "a"), Key("ring", 200, "a"), Key("ring", 100, "a tests")]
    means = dict(zip(keys, (20.0, 20.5, 425.0), strict=True))
    published = with_steps({key: Published(mean, 0.0, 1) for key, mean in means.items()})
    assert [line.step for line in published.values()] == [0.1, 0.1, 1.0]
    line = figure(keys[0], [20.1] * 1000, published[keys[0]], 0.1)
    assert line.standard_errors == pytest.approx(sqrt(12), rel=0.02)


def test_a_missing_deviation_is_that_of_the_other_side() -> None:
    key = Key("ring", 100, "mpl")
    once = figure(key, [14.0], Published(12.0, 2.0, 100, 0), 0.1)
    assert isnan(once.sd)
    assert once.standard_errors == pytest.approx(normal_equivalent(2 / sqrt(4 * 1.01), 99))
    untold = figure(key, [13.0, 15.0], Published(12.0, nan, 2, 0), 0.1)
    assert untold.standard_errors == pytest.approx(normal_equivalent(2 / sqrt(2), 1))
    assert figure(key, [14.0], Published(12.0, nan, 100), 0.1).standard_errors is None
    assert figure(key, [14.0], Published(12.0, 0.5, 1), 0.1).standard_errors is None  # an error, not a deviation
    unknown, *_ = compare_published(rows([1, 2]), {})
    assert (unknown.published, unknown.standard_errors, unknown.visible) == (None, None, None)


def test_details_of_a_distance_are_figures_of_their_own() -> None:
    found = [Row("ring", 100, k, "mpl", 3, k, 3 - k, 0.5, 4, 4) for k in range(4)]
    keys = [Key("ring", 100, f"mpl {detail}") for detail in ("false", "seconds")]
    lines = compare_published(found, {key: Published(2.0, 1.0, 100) for key in keys})
    assert {line.learner: line.ours for line in lines} == {
        "mpl": 3.0,
        "mpl false": 1.5,
        "mpl missing": 1.5,
        "mpl f1": pytest.approx((2 / 5 + 4 / 7 + 6 / 9 + 8 / 11) / 4),
        "mpl seconds": 0.5,
    }
    compared = {line.learner: line.standard_errors for line in lines}
    assert compared["mpl false"] is not None
    assert compared["mpl seconds"] is None  # of another machine
    assert [line.learner for line in without_details(lines)] == ["mpl", "mpl false", "mpl seconds"]
    alone = [line for line in lines if line.learner == "mpl f1"]
    assert without_details(alone) == alone  # a measure of its own, not the detail of a distance
    old = compare_published(rows([1, 2]), {})  # a journal without the number of true edges
    assert [line.learner for line in old] == ["mpl", "mpl false", "mpl missing", "mpl seconds"]


def test_figures_are_written_and_drawn(tmp_path: Path) -> None:
    lines = compare_published(rows([1, 2]), {Key("ring", 100, "mpl"): Published(1.0, 1.0, 100)})
    write_comparisons(lines, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        read, *_ = csv.DictReader(file)
    assert (read["source"], read["published"], float(read["ours"])) == ("ring", "1", 1.5)
    pytest.importorskip("matplotlib")
    plot(lines, REPRODUCTIONS["mpl-table1"], tmp_path / "t.png")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_written_figures_are_read_with_six_digits(tmp_path: Path) -> None:
    lines = compare_published(rows([1, 2, 2]), {Key("ring", 100, "mpl"): Published(1.0, 1.0, 100)})
    write_comparisons(lines, tmp_path / "t.csv")
    read = read_comparisons(tmp_path / "t.csv")
    assert [repr(line) for line in read] == [repr(as_written(line)) for line in lines]  # nan equals itself
    assert (read[0].ours, read[0].published, read[1].published) == (1.66667, 1.0, None)
    write_comparisons(read, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "t.csv").read_text()


@pytest.mark.parametrize("text", ["", "a,b\n", f"{','.join(Comparison._fields)}\nring,100,mpl,,,,3,,,\n"])
def test_files_without_figures_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FileError, match=r"figures must .*t\.csv"):
        read_comparisons(tmp_path / "t.csv")


def test_every_experiment_says_what_it_is() -> None:
    for name, item in REPRODUCTIONS.items():
        assert name.split("-")[0] in ("bjp", "gsimn", "ibmap", "mbs", "mpl")
        assert item.title
        assert item.repetitions >= 4
        assert list(item.sizes) == sorted(item.sizes)


def test_success_rates_come_in_the_same_form() -> None:
    request = Request(sizes=(250,), sources=("4",), methods=("bjp",), repetitions=2)
    (line,) = REPRODUCTIONS["bjp-table1"].measure(request)
    assert (line.source, line.n_rows, line.learner, line.published, line.n) == ("4", 250, "bjp", 0.0, 2)
    assert 0 <= line.ours <= 1
    with pytest.raises(UnknownNameError, match="source '7' does not exist"):
        REPRODUCTIONS["bjp-table1"].measure(Request(sources=("7",)))
    with pytest.raises(InputError, match="repetitions must be a whole number, at least 1; got 0"):
        REPRODUCTIONS["bjp-table1"].measure(Request(repetitions=0))


def test_recorded_figures_are_those_that_were_measured(tmp_path: Path) -> None:
    mpl = REPRODUCTIONS["mpl-table1"].measure
    assert mpl.recorded(tmp_path) == []
    request = Request(sizes=(100,), sources=("d=64",), out=tmp_path)
    one = mpl(replace(request, methods=("mpl",), repetitions=2))
    two = mpl(replace(request, methods=("pic",), repetitions=1))
    with (tmp_path / "mpl-table1.jsonl").open("a") as file:
        file.write('{"source": "half a line')  # of a run that goes on elsewhere
    assert sorted(mpl.recorded(tmp_path), key=lambda line: line.learner) == sorted(
        [*one, *two], key=lambda line: line.learner
    )
    assert (tmp_path / "mpl-table1.jsonl").read_text().endswith("half a line")
    figure6 = REPRODUCTIONS["gsimn-figure6"].measure
    ratios = figure6(Request(sizes=(8, 5), sources=("degree=2",), repetitions=2, out=tmp_path))
    assert figure6.recorded(tmp_path) == sorted(ratios, key=lambda line: line.n_rows)


def test_every_journal_has_one_name() -> None:
    names = [item.measure.name for item in REPRODUCTIONS.values()]
    assert {name for name in names if names.count(name) > 1} == {"gsimn-samples", "gsimn-networks", "mbs-table1"}
