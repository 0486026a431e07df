"""Table 1 of [JAIR09], in small."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.errors import FileError
from mnlearn.evaluation.metrics import weighted_tests
from mnlearn.evaluation.subgraphs import sample_triplets
from mnlearn.independence import ChiSquare
from mnlearn.statistics import Counts
from mnlearn_papers import jair09 as uci
from mnlearn_papers.experiment import generator_of
from mnlearn_papers.measured import Measurement
from mnlearn_papers.reproduction import Key, Published, Request
from networks import DATA

needs_tables = pytest.mark.skipif(not (DATA / "uci").is_dir(), reason="needs the tables of MNLEARN_DATA")


def published() -> dict[Key, Published]:
    assert isinstance(uci.TABLE_1.measure, Measurement)
    return dict(uci.TABLE_1.measure.published)


def test_published_figures_are_those_of_the_paper() -> None:
    figures = published()
    assert len(figures) == 17 * 10 * 2
    assert figures[Key("crx", 10_000, "gsimn-seeded tests")][0] == 305
    assert figures[Key("nursery", 10_000, "gsmn* accuracy")][0] == 0.793
    assert sum(f.mean for k, f in figures.items() if k.learner == "gsmn*-without-propagation tests") == 26615
    assert len(uci.TABLES) == 19


@needs_tables
@pytest.mark.parametrize(
    ("name", "n", "n_rows"),
    [("ecoli", 9, 336), ("hepatitis", 20, 80), ("flag", 29, 194), ("bridges", 12, 70), ("crx", 16, 653),
     ("imports-85", 25, 193), ("dermatology", 35, 358), ("adult", 10, 32561), ("monks-1", 7, 556)],
)  # fmt: skip
def test_tables_are_of_the_published_size(name: str, n: int, n_rows: int) -> None:
    data = uci.prepared(str(DATA / "uci" / uci.TABLES[name].file), uci.TABLES[name])
    assert (data.n_variables, data.n_rows) == (n, n_rows)
    assert min(data.cards) > 0


@needs_tables
def test_tests_and_accuracy_are_what_they_say() -> None:
    lines = {
        m.learner: m for m in uci.TABLE_1.measure(Request(sizes=(200,), sources=("car",), repetitions=1, data=DATA))
    }
    rng = generator_of("gsimn-table1", "car", 200, 0)
    data = uci.prepared(str(DATA / "uci" / "car.csv"), uci.TABLES["car"])
    part = data.sample(1728 // 3, rng)
    triplets = sample_triplets(7, 200, seed=rng)
    for dof, suffix in uci.DOF.items():
        test, whole = (ChiSquare(Counts(rows), alpha=0.05, dof=dof) for rows in (part, data))
        result = GSMNStar(skip_marginal=False, keep_trace=True).learn(test)
        assert lines[f"gsmn* tests{suffix}"].ours == weighted_tests(result.trace or ())
        agreeing = [result.graph.separates(x, y, z) == whole(x, y, z).independent for x, y, z in triplets]
        assert lines[f"gsmn* accuracy{suffix}"].ours == sum(agreeing) / 200


@needs_tables
def test_reasoning_from_the_initial_outcomes_asks_least() -> None:
    lines = uci.TABLE_1.measure(Request(sizes=(50,), sources=("monks-1", "crx"), repetitions=2, data=DATA))
    for name in ("monks-1", "crx"):
        asked = {m.learner: m.ours for m in lines if m.source == name}
        assert asked["gsimn-seeded tests"] < asked["gsimn-line22 tests"] < asked["gsmn* tests"]
        assert asked["gsmn* tests"] < asked["gsmn*-without-propagation tests"]
    assert next(m for m in lines if m.learner == "gsimn-seeded tests").ours == 42  # as published: the initial tests


def test_without_data_the_error_says_where_to_put_them(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"data must be the folder that holds uci/\*\.csv; got none"):
        uci.TABLE_1.measure(Request())
    with pytest.raises(FileError, match=r"data must be the folder that holds uci/echocardiogram\.csv; .* does not"):
        uci.TABLE_1.measure(Request(data=tmp_path))
