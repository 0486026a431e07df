"""Networks and distributions by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn.data import read
from mnlearn.data.writers import write_data
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import grid, path, write_graph
from mnlearn.simulate import DISTRIBUTIONS, NETWORKS, GibbsPlan, simulate


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_gives_data_and_its_graph(network: str) -> None:
    drawn = simulate(network, n_rows=20, seed=3)
    assert drawn.data.n_rows == 20
    assert drawn.data.names == drawn.truth.names
    assert drawn.data.n_variables == drawn.truth.graph.n_variables
    again = simulate(network, n_rows=20, seed=3)
    assert again.truth == drawn.truth
    for a, b in zip(drawn.data.columns, again.data.columns, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_distribution_fits_a_graph(distribution: str) -> None:
    drawn = simulate("grid:rows=3,columns=3", distribution, n_rows=50, seed=1)
    assert drawn.truth.graph == grid(3, 3)
    states = DISTRIBUTIONS[distribution].settings.get("states", 2)
    numbers = {0} if distribution in ("gaussian", "partial", "mixed") else set()
    assert set(drawn.data.cards) == numbers | ({states} if distribution not in ("gaussian", "partial") else set())
    assert drawn.notes.startswith("exact") or distribution in ("ordinal", "mixed")
    assert drawn.converged


def test_more_rows_of_a_seed_come_from_the_same_distribution() -> None:
    few, many = (simulate("tree:n=8", n_rows=rows, seed=5) for rows in (100, 40_000))
    assert few.truth == many.truth
    for one, other in zip(few.data.columns, many.data.columns, strict=True):
        share = float(np.mean(other.astype(float)))
        assert abs(float(np.mean(one.astype(float))) - share) < 5 * (share * (1 - share) / 100) ** 0.5 + 1e-9


def test_graph_files_keep_their_names(tmp_path: Path) -> None:
    file = tmp_path / "chain.graphml"
    write_graph(file, path(3), ["sleep", "mood", "work"])
    drawn = simulate(file, "odds:theta=3,signs=mixed", n_rows=10, seed=1)
    assert drawn.data.names == ("sleep", "mood", "work")
    assert drawn.truth.graph == path(3)


def test_the_law_of_the_parameters_has_a_name() -> None:
    alike, uniform = (
        simulate("path:n=4", f"odds:theta=2,law={law}", n_rows=2000, seed=1) for law in ("alike", "uniform")
    )
    assert alike.truth == uniform.truth
    ones = [
        np.mean([float(np.mean(column.astype(float))) for column in drawn.data.columns]) for drawn in (alike, uniform)
    ]
    assert abs(ones[0] - 0.5) < 0.05 < abs(ones[1] - 0.5)


def test_chains_speak_for_themselves() -> None:
    plan = GibbsPlan(chains=4, burn_in=10, thin=1)
    frozen = simulate("grid", "ising:coupling=3,law=equal", n_rows=400, seed=1, method="gibbs", plan=plan)
    assert not frozen.converged
    assert "NOT converged" in frozen.notes
    short = simulate("grid", n_rows=3, seed=1, method="gibbs", plan=plan)
    assert "too few rows to judge" in short.notes
    few = simulate("grid:rows=20,columns=20,periodic=true", "ising:coupling=0.1", n_rows=100, seed=1, method="gibbs")
    assert few.converged  # a hundred rows of 1200 statistics: chance raises no alarm


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"network": "ring"}, "network 'ring' does not exist"),
        ({"network": "path:m=3"}, "setting of path 'm' does not exist. Known: 'n'"),
        ({"network": "path:n=three"}, "n of path must be an integer; got 'three'"),
        ({"network": "path:n"}, r"settings of path must be written key=value, each once; got 'n' in 'path:n'"),
        ({"network": "path:n=3,n=4"}, "each once; got 'n=4'"),
        ({"network": "grid:periodic=maybe"}, "periodic of grid must be true or false; got 'maybe'"),
        ({"network": "nowhere.json"}, "there is no nowhere.json"),
        ({"distribution": "normal"}, "distribution 'normal' does not exist"),
        ({"distribution": "odds:theta=big"}, "theta of odds must be a number; got 'big'"),
        ({"network": "alarm.bif", "distribution": "odds"}, "distribution is for graphs; 'alarm.bif' has its own"),
        ({"n_rows": 0}, "n_rows must be a whole number, at least 1; got 0"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
    ],
)
def test_bad_input_is_refused_by_name(wish: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(**{"network": "path", "n_rows": 5, "seed": 1, **wish})


def test_an_unknown_network_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'path'"):
        simulate("pathh", n_rows=5, seed=1)


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("distribution", ["uniform:states=3", "gaussian"])
def test_written_data_are_read_back(tmp_path: Path, extension: str, distribution: str) -> None:
    drawn = simulate("path:n=4", distribution, n_rows=60, seed=2)
    file = tmp_path / f"rows{extension}"
    write_data(drawn.data, file)
    kind: Any = "continuous" if distribution == "gaussian" else "categorical"
    copy = read(file, types=dict.fromkeys(drawn.data.names, kind))
    assert copy.names == drawn.data.names
    assert copy.cards == drawn.data.cards
    for one, other in zip(copy.columns, drawn.data.columns, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [p.name for p in tmp_path.iterdir()] == [file.name]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    data = simulate("path:n=2", n_rows=4, seed=1).data
    with pytest.raises(InputError, match=r"path must end in .csv, .tsv, .parquet; got 'rows.xls'"):
        write_data(data, "rows.xls")
    with pytest.raises(InputError, match="path must be in an existing folder"):
        write_data(data, tmp_path / "nowhere" / "rows.csv")
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_data(data, tmp_path / "taken.csv")
